"""How work is cut: so many rows, tiles, neighbourhoods or sparse entries at a time.

Sizes depend on shapes alone, never on threads or the clock: the same rows are summed up in the same order everywhere.
"""

from itertools import pairwise
from typing import Any

__all__ = [
    "FEATURE_ROWS",
    "LANES",
    "MOST_FEATURES",
    "NARROW",
    "SPARSE_COLUMNS",
    "SPARSE_ENTRIES",
    "THREAD_ROWS",
    "cut",
    "hoods_at_a_time",
    "lane_rows",
    "rows_at_a_time",
    "share_out",
    "some_of",
    "sparse_rows",
    "steps",
    "tile_bytes",
    "tile_rows",
]

MOST_FEATURES = 5000  # of an explicit feature map: beyond it the D×D side costs more than it saves
_FEATURE_ENTRIES, FEATURE_ROWS = 8_000_000, 8192  # of features that are made block by block: held at a time, at most
THREAD_ROWS = 1024  # rows of such a block that one thread works on
# Rows that are summed up go to so many groups, for any number of threads: sums do not depend on who computed what.
LANES = 8
NARROW = 1000  # columns up to which every lane has a d×d matrix of its own; wider rows all go to one
SPARSE_ENTRIES = 500_000  # of sparse rows that are worked on at a time
SPARSE_COLUMNS = 16  # that sparse features are multiplied with at a time, as sums have a row for each feature
_COLUMN_TERMS = 128  # of a column of theirs, which are added up one after the other
_CACHED_ENTRIES = 160_000  # of few columns: twice as many rows stay at hand
_LANE_ENTRIES, _WIDE_ENTRIES, _LANE_ROWS = 1_000_000, 8_000_000, (16, 2048)  # of rows that a lane takes in at a time

_TILE_ENTRIES, _TILE_ROWS = 4_000_000, (16, 512)  # of distances held by a thread
_HOOD_ENTRIES, _HOOD_ROWS = (
    2_000_000,
    2048,
)  # of neighbours' coordinates or Gram matrices, and points, a thread works on


def cut(n: int, size: int) -> list[slice]:
    """0 … n in slices of nearly equal length, at most `size` long."""
    return share_out(n, max(1, -(-n // size)))


def share_out(n: int, pieces: int) -> list[slice]:
    """0 … n in so many slices of nearly equal length."""
    edges = [n * i // pieces for i in range(pieces + 1)]
    return [slice(a, b) for a, b in pairwise(edges)]


def steps(n: int, size: int, start: int = 0) -> list[slice]:
    """start … n in slices of exactly `size`, but for the last."""
    return [slice(first, min(first + size, n)) for first in range(start, n, size)]


def some_of(rows: Any, count: int) -> Any:
    """About so many rows from all over: every so many-th."""
    return rows[:: max(1, rows.shape[0] // count)]


def rows_at_a_time(*widths: int) -> int:
    """How many rows of features or data of these widths are held at a time."""
    return min(max(_FEATURE_ENTRIES // max(1, *widths), 64), FEATURE_ROWS)


def lane_rows(d: int, held: bool, narrow: bool = True) -> int:
    """How many rows a lane takes in at a time; fewer where they have to be read first."""
    least, most = _LANE_ROWS
    entries = (_LANE_ENTRIES if narrow else _WIDE_ENTRIES) // (1 if held else 5)
    return min(max(entries // d, least), max(most, min(_CACHED_ENTRIES // d, 2 * most)))


def hoods_at_a_time(neighbors: int, width: int) -> int:
    """How many neighbourhoods, of points of this width, a thread works on."""
    return min(max(_HOOD_ENTRIES // (neighbors * max(neighbors + 1, width)), 1), _HOOD_ROWS)


def tile_rows(n: int) -> int:
    """How many rows of distances to n points a thread holds."""
    least, most = _TILE_ROWS
    return min(max(_TILE_ENTRIES // n, least), most)


def tile_bytes(n: int, double: bool) -> int:
    """Bytes of such a tile, in double or single precision, with what is made of it on the way."""
    return tile_rows(n) * n * (28 if double else 6)


def sparse_rows(d: int, density: float) -> int:
    """How many sparse rows are added or multiplied at a time: no column should add up many more than COLUMN_TERMS."""
    density = max(density, 1e-9)
    return int(min(max(SPARSE_ENTRIES / (d * density), 64), max(_COLUMN_TERMS / density, 1024), 32_768))
