"""Memory that a worker keeps at hand while it works.

Dask has workers give back at once what is free (`MALLOC_TRIM_THRESHOLD_`), as it judges by what they seem to hold. The
system then gives every temporary array anew, page by page, which takes as long as the product that is put there. While
work goes on, a worker keeps some megabytes of what is free, as any other process does, and at its end gives them back.
"""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

__all__ = ["memory_at_hand"]

_TRIM, _MMAP = -1, -3  # which setting of `mallopt` is meant
_AT_HAND = {_TRIM: 16 << 20, _MMAP: 4 << 20}  # bytes: what is larger, such as rows that are kept, goes back at once
_LARGE = 128 << 10  # bytes from which the system is asked for each array by itself, unless somebody said otherwise

_lock = Lock()
_working = 0  # pieces of work that are under way in this process


@contextmanager
def memory_at_hand() -> Iterator[None]:
    """What is free stays here until the last one that works is done."""
    if _as_told() is None:
        yield
        return
    _count(1)
    try:
        yield
    finally:
        _count(-1)


def _count(more: int) -> None:
    global _working
    with _lock:
        before, _working = _working, _working + more
        if before == 0:
            _set(_AT_HAND)
        elif _working == 0:
            _set(_as_told() or {})
            _libc().malloc_trim(0)


def _set(values: dict[int, int]) -> None:
    for setting, value in values.items():
        _libc().mallopt(setting, value)


@cache
def _as_told() -> dict[int, int] | None:
    """The settings that this process was started with; None if nobody said when to give back, or they are for ever."""
    trim, large = (os.environ.get(f"MALLOC_{name}_THRESHOLD_", "") for name in ("TRIM", "MMAP"))
    if not trim.isdigit() or not all(hasattr(_libc(), name) for name in ("mallopt", "malloc_trim")):
        return None
    return {_TRIM: int(trim), _MMAP: int(large) if large.isdigit() else _LARGE}


@cache
def _libc() -> Any:
    return ctypes.CDLL(None) if os.name == "posix" else None
