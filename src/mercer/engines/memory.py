"""Memory that a worker keeps at hand while it works.

Dask has workers give back whatever is free at once (`MALLOC_TRIM_THRESHOLD_`), as what they seem to hold decides whom
they are sent work to. Every temporary array is then given anew by the system, page by page, which takes as long as the
product that is put there. While work goes on, a worker keeps as much as any other process would, and at its end gives
it back.
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
_AT_HAND = {_TRIM: 64 << 20, _MMAP: 32 << 20}  # bytes: where a process of 64 bits ends up by itself
_NOTHING_LARGE = 128 << 10  # bytes from which the system is asked for each array, where somebody said when to trim

_lock = Lock()
_working = 0  # pieces of work that are under way in this process


@contextmanager
def memory_at_hand() -> Iterator[None]:
    """What is free stays here until the last one that works is done."""
    if _given_back_at() is None:
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
            _set({_TRIM: _given_back_at() or 0, _MMAP: _NOTHING_LARGE})
            _libc().malloc_trim(0)


def _set(values: dict[int, int]) -> None:
    for setting, value in values.items():
        _libc().mallopt(setting, value)


@cache
def _given_back_at() -> int | None:
    """Free bytes from which memory is given back, where somebody has said so and it can be changed."""
    said = os.environ.get("MALLOC_TRIM_THRESHOLD_", "")
    changeable = said.isdigit() and all(hasattr(_libc(), name) for name in ("mallopt", "malloc_trim"))
    return int(said) if changeable else None


@cache
def _libc() -> Any:
    return ctypes.CDLL(None) if os.name == "posix" else None
