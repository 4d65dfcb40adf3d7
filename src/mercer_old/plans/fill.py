"""How a sparse factor of the neighbourhoods fills in: measured on small pieces, and foretold for all items."""

from dataclasses import dataclass
from math import log

import numpy as np
from scipy import sparse

from mercer_old.arrays import Matrix
from mercer_old.solvers.factorisations import measure_fill
from mercer_old.spaces.base import Space, graph_of

_SMALL_PIECE, _LARGE_PIECE = 500, 2000  # items of two pieces whose factors foretell that of the whole …
_SHARES = 8, 3  # … or n divided by this, if that is less
_PLACES = 2  # to look at
_SURFACE, _SURFACE_WORK = 1.4, 1.65  # powers of n: entries that grow more slowly are those of a surface; its work
_PER_LOG = 0.35  # what a surface's factor gains a row, from one power of e to the next

_Piece = tuple[int, float, float]  # items, entries of their factor, and its work


@dataclass(frozen=True)
class Fill:
    """What a sparse factor of n items will hold and cost, foretold from two small pieces: entries ∝ n^growth."""

    entries: float  # of L and U together
    work: float  # Σ over columns of (entries of the column of L)²
    growth: float
    row: float  # entries of M in a row


def probe_fill(space: Space, k: int, rng: np.random.Generator) -> Fill:
    """How a sparse factor fills in, from the neighbourhoods of small pieces: two places, and more of the worse."""
    n = space.n
    small = min(max(min(_SMALL_PIECE, n // _SHARES[0]), k + 2), n)
    large = min(max(min(_LARGE_PIECE, n // _SHARES[1]), 2 * small), n)
    if small == large:  # nearly all are neighbours
        return Fill(entries=n**2, work=n**3 / 3, growth=2.0, row=n)
    places = [int(item) for item in rng.integers(n, size=_PLACES)]
    first = [(small, *measure_fill(_piece(space, item, small, k))) for item in places]
    worse = max(range(_PLACES), key=lambda i: first[i][2])
    pattern = _piece(space, places[worse], large, k)
    return _foretell_fill(n, first[worse], (large, *measure_fill(pattern)), pattern.nnz / large)


def _piece(space: Space, item: int, size: int, k: int) -> Matrix:
    """Where M would have entries if there were but some items around one: pairs with a common neighbour."""
    indices = space.patch(item, size).nearest(k, 1).indices
    reach = sparse.csr_array(graph_of(indices) + sparse.eye_array(size, dtype=np.int8, format="csr"), dtype=np.float64)
    return sparse.csc_array(reach.T @ reach)


def _foretell_fill(n: int, small: _Piece, large: _Piece, row: float) -> Fill:
    """The factor of n items, from those of two pieces.

    On a surface, entries grow as n·log n and the work as n^1.5; in more dimensions as powers of n up to the second and
    third, which the two pieces tell.
    """
    (a, entries_a, work_a), (b, entries_b, work_b) = small, large
    growth = min(log(entries_b / entries_a) / log(b / a), 2.0)
    more = min(max(log(work_b / work_a) / log(b / a), _SURFACE_WORK), 3.0)
    flat = growth < _SURFACE
    entries = entries_b * (n / b * (1 + _PER_LOG * log(n / b)) if flat else (n / b) ** growth)
    return Fill(min(entries, float(n) ** 2), min(work_b * (n / b) ** more, n**3 / 3), 1.2 if flat else growth, row)


def surface(n: int, neighbors: int) -> Fill:
    """What neighbourhoods on a surface have shown (swiss rolls of 2 000 to 100 000 points)."""
    row = 3.0 * neighbors
    per_row = max(5.5 + 1.9 * log(n / 10_000), 1.0) if n > 1000 else 2.0
    return Fill(min(n * row * per_row, n**2), 1.4e8 * (n / 10_000) ** 1.7 * (neighbors / 12) ** 2, 1.2, row)
