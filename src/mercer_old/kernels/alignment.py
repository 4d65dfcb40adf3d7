"""How well two series can be aligned: sums over all alignments, for many pairs at once.

An alignment of series of m and n steps is a path from (0, 0) to (m − 1, n − 1) that goes on in one of them or in both.
Sums over paths are found cell by cell: M(i, j) = κ(i, j)·(M(i − 1, j) + M(i, j − 1) + M(i − 1, j − 1)). Cells with the
same i + j do not need each other, so a whole anti-diagonal, of many pairs, is one step.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mercer_old.arrays import Array

__all__ = ["Local", "log_sums_of_all", "log_sums_of_each"]

# Weights of cells are multiplied by θ^(i + j + 2), with θ a little below √2 − 1 and of few bits: θ² + 2θ < 1, so that
# sums over paths never exceed 1, whatever κ ≤ 1 is, and θ is never rounded.
_THETA = 53 / 128
_LOG_THETA = float(np.log(_THETA))
# An underflow is off by less than 2⁻¹⁰⁷⁴, and enters the sum with a weight of at most 1: all of them together are
# nothing beside sums of this much. Smaller ones are found by their logarithms.
_SAFE = 1e-280
_ENTRIES = 1 << 16  # of an anti-diagonal of all pairs that are worked on at once: it stays in a core's cache


@dataclass(frozen=True)
class Local:
    """κ of two steps: ωg/(2 − ωg) with g = exp(−rate‖x − y‖²), and ω = 1 − |i − j|/band, none below zero."""

    rate: float
    band: int | None = None

    def joins(self, m: Array, n: Array) -> Array:
        """Whether series of these lengths have any alignment."""
        return np.abs(m - n) < (np.inf if self.band is None else self.band)

    def exponents(self, X: Array, Y: Array, lags: Array) -> Array:
        """log ωg, of steps X and Y (…×c×d)."""
        out = np.zeros(np.broadcast_shapes(X.shape, Y.shape)[:-1])
        for value in range(X.shape[-1]):
            apart = X[..., value] - Y[..., value]
            out -= np.multiply(apart, apart, out=apart)
        out *= self.rate
        if self.band is not None:
            out += np.log1p(-lags / self.band)
        return out


class Padded:
    """Series of unequal lengths in one array. What is filled up lies beyond the last cell of every shorter one."""

    def __init__(self, series: Sequence[Array]) -> None:
        self.lengths = np.array([len(one) for one in series])
        self.values = np.zeros((len(series), self.lengths.max(), series[0].shape[1]))
        for place, one in zip(self.values, series, strict=True):
            place[: len(one)] = one


def log_sums_of_all(X: Sequence[Array], Y: Sequence[Array], local: Local, same: bool = False) -> Array:
    """log Σ over alignments of Πκ, of every series of X with every one of Y; −∞ where there is none.

    If they are the `same` series, what lies below the diagonal is what lies above it.
    """
    out, by_x, by_y = np.empty((len(X), len(Y))), _alike(X), _alike(Y)
    for a, rows in enumerate(by_x):
        for columns in by_y[a:] if same else by_y:
            x, y = Padded([X[i] for i in rows]), Padded([Y[j] for j in columns])
            sums, ends = _Grid(x, y, True).sums(local), x.lengths[:, None] + y.lengths
            tile = _logarithms(sums, ends)
            lost = np.argwhere((sums < _SAFE) & local.joins(x.lengths[:, None], y.lengths))
            if len(lost):
                pairs = [(X[rows[i]], Y[columns[j]]) for i, j in lost]
                tile[tuple(lost.T)] = np.concatenate([_by_logarithms(some, local) for some in _some(pairs)])
            out[np.ix_(rows, columns)] = tile
            if same and columns is not by_y[a]:
                out[np.ix_(columns, rows)] = tile.T
    return out


def log_sums_of_each(X: Sequence[Array], local: Local) -> Array:
    """The same of every series with itself."""
    out = np.empty(len(X))
    for rows in _alike(X, squared=False):
        x = Padded([X[i] for i in rows])
        sums = _Grid(x, x, False).sums(local)
        some = _logarithms(sums, 2 * x.lengths)
        if (lost := np.flatnonzero(sums < _SAFE)).size:
            some[lost] = _by_logarithms([(X[rows[i]], X[rows[i]]) for i in lost], local)
        out[rows] = some
    return out


def _logarithms(sums: Array, ends: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(sums) - _LOG_THETA * ends)


def _by_logarithms(pairs: Sequence[tuple[Array, Array]], local: Local) -> Array:
    return _Grid(Padded([x for x, _ in pairs]), Padded([y for _, y in pairs]), False).log_sums(local)


def _alike(series: Sequence[Array], squared: bool = True) -> list[Array]:
    """Numbers of series of similar lengths, as many as are worked on at once (or as their pairs)."""
    lengths = np.array([len(one) for one in series])
    room = _ENTRIES // int(lengths.max(initial=1))
    size = max(1, int(np.sqrt(room)) if squared else room)
    order = np.argsort(lengths, kind="stable")
    return [order[start : start + size] for start in range(0, len(order), size)]


def _some(pairs: list[tuple[Array, Array]]) -> Iterator[list[tuple[Array, Array]]]:
    """As many pairs as are worked on at once."""
    size = max(1, _ENTRIES // max(len(x) for x, _ in pairs))
    yield from (pairs[start : start + size] for start in range(0, len(pairs), size))


class _Grid:
    """The cells of many pairs: of all series of x with all of y, or of each with the one that has its number."""

    def __init__(self, x: Padded, y: Padded, crossed: bool) -> None:
        across, down = (np.s_[:, None], np.s_[None]) if crossed else (np.s_[:], np.s_[:])
        self.x, self.y = x.values[across], y.values[:, ::-1][down]  # backwards: along an anti-diagonal j falls
        self.m, self.n = x.values.shape[1], y.values.shape[1]
        self.last, other = np.broadcast_arrays(x.lengths[across], y.lengths[down])  # cells with one to spare before
        self.ends = self.last + other - 2

    def sums(self, local: Local) -> Array:
        """θ^(m + n) times the sums themselves."""

        def step(exponents: Array, up: Array, left: Array, both: Array) -> Array:
            g = np.exp(exponents, out=exponents)
            total = up + left
            total *= _THETA
            total += _THETA**2 * both
            total *= g
            total /= np.subtract(2.0, g, out=g)
            return total

        return self._over_cells(local, 0.0, 1.0, step)

    def log_sums(self, local: Local) -> Array:
        """Logarithms all the way."""

        def step(exponents: Array, up: Array, left: Array, both: Array) -> Array:
            top = np.maximum(np.maximum(up, left), both)
            top[np.isneginf(top)] = 0.0
            with np.errstate(divide="ignore"):
                total = np.log(np.exp(up - top) + np.exp(left - top) + np.exp(both - top))
            total += top
            total += exponents
            total -= np.log(2.0 - np.exp(exponents))
            return np.asarray(total)

        return self._over_cells(local, -np.inf, 0.0, step)

    def _over_cells(self, local: Local, nothing: float, start: float, step: Callable[..., Array]) -> Array:
        """What `step` makes of the three cells before, from the first cell to the last of every pair.

        `nothing` lies outside of the grid. Three anti-diagonals are held, with a cell to spare at either end.
        """
        before, last, now = np.full((3, *self.ends.shape, self.m + 2), nothing)
        before[..., 0] = start
        out = np.full(self.ends.shape, nothing)
        for a, cells, lags in self._anti_diagonals(local.band):
            here = slice(cells.start + 1, cells.stop + 1)
            along = slice(self.n - 1 - a + cells.start, self.n - 1 - a + cells.stop)
            with np.errstate(over="ignore"):
                exponents = local.exponents(self.x[..., cells, :], self.y[..., along, :], lags)
            now[..., here] = step(exponents, last[..., here], last[..., cells], before[..., cells])
            now[..., cells.start] = now[..., cells.stop + 1] = nothing
            done = np.nonzero((self.ends == a) & (self.last > cells.start) & (self.last <= cells.stop))
            out[done] = now[(*done, self.last[done])]
            before, last, now = last, now, before
        return out

    def _anti_diagonals(self, band: int | None) -> Iterator[tuple[int, slice, Array]]:
        """a = i + j, the range of i, within the band, and |i − j| of every cell."""
        for a in range(self.m + self.n - 1):
            first, last = max(0, a - self.n + 1), min(self.m - 1, a)
            if band is not None:
                first, last = max(first, (a - band) // 2 + 1), min(last, (a + band - 1) // 2)
            first = min(first, self.m)
            yield a, slice(first, max(first, last + 1)), np.abs(2 * np.arange(first, max(first, last + 1)) - a)
