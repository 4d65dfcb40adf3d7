"""The budget: how much memory and how many threads, parsed once and passed down explicitly."""

import os
import re
from dataclasses import dataclass
from functools import cache
from numbers import Integral
from pathlib import Path

MOST_FEATURES = 5000  # of an explicit feature map: beyond it the D×D side costs more than it saves
FEATURE_ENTRIES, FEATURE_ROWS = 8_000_000, 8192  # of features that are made block by block: held at a time, at most
PIECE = 1024  # rows of such a block that one thread works on
# Rows that are summed up go to so many groups, for any number of threads: sums do not depend on who computed what.
LANES = 8
NARROW = 1000  # columns up to which every lane has a d×d matrix of its own; wider rows all go to one
SPARSE_ENTRIES = 500_000  # of sparse rows that are worked on at a time
COLUMN_TERMS = 128  # of a column of theirs, which are added up one after the other
CACHED_ENTRIES = 160_000  # of few columns: twice as many rows stay at hand
LANE_ENTRIES, WIDE_ENTRIES, LANE_ROWS = 1_000_000, 8_000_000, (16, 2048)  # of rows that a lane takes in at a time

TILE_ENTRIES, TILE_ROWS = 4_000_000, (16, 512)  # of distances held by a thread
HOOD_ENTRIES, HOOD_ROWS = 2_000_000, 2048  # of neighbours' coordinates or Gram matrices, and points, a thread works on

MOST_THREADS = 64  # or as many as the machine has: more of them only take memory

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
        return total_memory() // 2
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


def rows_at_a_time(*widths: int) -> int:
    """How many rows of features or data of these widths are held at a time."""
    return min(max(FEATURE_ENTRIES // max(*widths, 1, 1), 64), FEATURE_ROWS)


def lane_rows(d: int, held: bool, narrow: bool = True) -> int:
    """How many rows a lane takes in at a time; fewer where they have to be read first."""
    least, most = LANE_ROWS
    entries = (LANE_ENTRIES if narrow else WIDE_ENTRIES) // (1 if held else 5)
    return min(max(entries // d, least), max(most, min(CACHED_ENTRIES // d, 2 * most)))


def hoods_at_a_time(neighbors: int, width: int) -> int:
    """How many neighbourhoods, of points of this width, a thread works on."""
    return min(max(HOOD_ENTRIES // (neighbors * max(neighbors + 1, width)), 1), HOOD_ROWS)


def tile_rows(n: int) -> int:
    """How many rows of distances to n points a thread holds."""
    least, most = TILE_ROWS
    return min(max(TILE_ENTRIES // n, least), most)


def tile_bytes(n: int, double: bool) -> int:
    """Bytes of such a tile, in double or single precision, with what is made of it on the way."""
    return tile_rows(n) * n * (28 if double else 6)


def sparse_rows(d: int, density: float) -> int:
    """How many sparse rows are added or multiplied at a time: no column should add up many more than COLUMN_TERMS."""
    density = max(density, 1e-9)
    return int(min(max(SPARSE_ENTRIES / (d * density), 64), max(COLUMN_TERMS / density, 1024), 32_768))


@cache
def total_memory() -> int:
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
    return min(max(1, joblib.effective_n_jobs(threads)), max(MOST_THREADS, os.cpu_count() or 1))


def in_words(size: float) -> str:
    """A number of bytes for people: "51.2 GB"."""
    for unit in ("B", "kB", "MB", "GB"):
        if abs(size) < 999.5:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"
