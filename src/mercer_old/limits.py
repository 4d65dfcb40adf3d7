"""The budget: how much memory and how many threads, parsed once and passed down explicitly."""

import os
import re
from dataclasses import dataclass
from functools import cache
from numbers import Integral
from pathlib import Path

__all__ = ["Limits", "bytes_in_words", "count_threads", "parse_memory"]

_MOST_THREADS = 64  # or as many as the machine has: more of them only take memory

_UNITS = {
    "": 1,
    "B": 1,
    "K": 2**10,
    "M": 2**20,
    "G": 2**30,
    "T": 2**40,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
}


@dataclass(frozen=True)
class Limits:
    """What a computation may use: `memory` in bytes, `threads` for tiles."""

    memory: int
    threads: int

    @classmethod
    def of(cls, memory: float | str | None = None, threads: int | None = None) -> "Limits":
        """From what users say: bytes, "2GB" or None (half of the machine); a thread count as joblib understands it."""
        return cls(parse_memory(memory), count_threads(threads))


def parse_memory(memory: float | str | None) -> int:
    """Bytes from a number, a text such as "500 MB" or "2GiB", or None: half of what the machine or container has."""
    if memory is None:
        return _total_memory() // 2
    if isinstance(memory, str):
        number = r"[0-9]{1,20}(?:\.[0-9]{1,20})?(?:e[0-9]{1,2})?"
        parts = re.fullmatch(rf"\s*({number})\s*([KMGT]?)(i?)(B?)\s*", memory, re.IGNORECASE)
        if not parts:
            raise ValueError(f'memory_limit={memory!r} is not a size; write bytes or a text such as "2GB" or "500MiB".')
        number, unit, binary, byte = parts.groups()
        size = float(number) * _UNITS[unit.upper() + ("" if binary or not unit else byte.upper())]
    else:
        size = memory
    if isinstance(memory, bool) or not 0 < size < float("inf"):
        raise ValueError(f"memory_limit={memory!r} is no amount of memory; it must be positive and finite.")
    return int(size)


@cache
def _total_memory() -> int:
    """Bytes of the machine, or of the container if that has less. The total, not what is free: runs repeat."""
    sizes = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")] if hasattr(os, "sysconf") else [8 * 2**30]
    for file in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            sizes.append(int(Path(file).read_text()))
        except (OSError, ValueError):  # not Linux, another cgroup version, or "max"
            continue
    return min(sizes)


def count_threads(threads: int | None) -> int:
    """None: the machine's, as limited by the environment and by joblib's nesting; −1: all; −2: all but one."""
    import joblib

    if threads is not None and (isinstance(threads, bool) or not isinstance(threads, Integral) or threads == 0):
        raise ValueError(f"n_jobs={threads!r} is no number of threads; give 1, 2, …, −1 for all, or None.")
    if threads is None:
        said = [os.environ.get(name, "") for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")]
        return max(1, min([joblib.effective_n_jobs(-1), *(int(number) for number in said if number.isdigit())]))
    return min(max(1, joblib.effective_n_jobs(threads)), max(_MOST_THREADS, os.cpu_count() or 1))


def bytes_in_words(size: float) -> str:
    """A number of bytes for people: "51.2 GB"."""
    for unit in ("B", "kB", "MB", "GB"):
        if abs(size) < 999.5:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"
