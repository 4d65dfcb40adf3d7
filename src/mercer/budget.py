"""Memory and threads that a computation may use."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from numbers import Integral, Real
from pathlib import Path
from typing import Self

from mercer.errors import MemoryLimitError, ParameterError, Remedy

_MOST_THREADS = 64
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_DECIMAL_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_limit: ContextVar[float | str | None] = ContextVar("memory_limit", default=None)


@dataclass(frozen=True)
class Budget:
    """`memory` in bytes and a number of `threads`."""

    memory: int
    threads: int

    @classmethod
    def from_params(cls, memory_limit: float | str | None, n_jobs: int | None) -> Self:
        """The budget that the parameters `memory_limit` and `n_jobs` stand for."""
        return cls(parse_memory(memory_limit), count_threads(n_jobs))


def parse_memory(memory_limit: float | str | None) -> int:
    """Bytes of a number or of a text such as "500 MB" or "2GiB". None is half of the machine or container."""
    if memory_limit is None:
        return _total_memory() // 2
    size: float = -1.0
    if isinstance(memory_limit, str):
        number = r"[0-9]{1,20}(?:\.[0-9]{1,20})?(?:e[0-9]{1,2})?"
        match = re.fullmatch(rf"\s*({number})\s*([KMGT]?)(i?)(B?)\s*", memory_limit, re.IGNORECASE)
        if match:
            amount, unit, binary, byte = match.groups()
            size = float(amount) * (_DECIMAL_UNITS if byte and not binary else _UNITS)[unit.upper()]
    elif isinstance(memory_limit, Real) and not isinstance(memory_limit, bool):
        size = float(memory_limit)
    if not 1 <= size < float("inf"):
        raise ParameterError("memory_limit", memory_limit, 'a positive number of bytes or a text such as "2GB"')
    return int(size)


@cache
def _total_memory() -> int:
    """Total bytes of the machine or of its container; never the free memory, so that plans repeat."""
    sizes = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")] if hasattr(os, "sysconf") else [8 * 2**30]
    for file in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            sizes.append(int(Path(file).read_text()))
        except (OSError, ValueError):  # not Linux, another cgroup version, or "max"
            continue
    return min(sizes)


@contextmanager
def limit_memory(memory_limit: float | str | None) -> Iterator[None]:
    """Apply a `memory_limit` to what runs in this context without a budget of its own, such as kernels."""
    token = _limit.set(memory_limit)
    try:
        yield
    finally:
        _limit.reset(token)


def memory_in_context() -> int:
    """Bytes of the limit that `limit_memory` applies here, or of the default."""
    return parse_memory(_limit.get())


def require_memory(needed: float, what: str, remedies: tuple[Remedy, ...] = ()) -> None:
    """Raise if `what` (a plural) is about to take more than the limit of this context."""
    limit = memory_in_context()
    if needed > limit:
        raise MemoryLimitError(
            f"{what} take {format_bytes(needed)}, more than the limit of {format_bytes(limit)}.",
            needed=int(needed),
            limit=limit,
            remedies=(*remedies, Remedy("memory_limit", format_bytes(1.1 * needed).replace(" ", ""))),
        )


def count_threads(n_jobs: int | None) -> int:
    """Threads for `n_jobs`. None: the processors, as limited by thread variables and by joblib's nesting."""
    import joblib

    if n_jobs is None:
        limits = [os.environ.get(name, "") for name in _THREAD_VARIABLES]
        return max(1, min([joblib.effective_n_jobs(-1), *(int(limit) for limit in limits if limit.isdigit())]))
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise ParameterError("n_jobs", n_jobs, "a number of threads: 1, 2, …, -1 for all processors, or None")
    return min(max(1, joblib.effective_n_jobs(n_jobs)), max(_MOST_THREADS, os.cpu_count() or 1))


def format_bytes(size: float) -> str:
    """A number of bytes for people: "51.2 GB"."""
    for unit in ("B", "kB", "MB", "GB"):
        if abs(size) < 999.5:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"
