"""How well pictures show rows: several of them, measured on the same rows, each number with its uncertainty.

Ranks are exact, among all rows, for every row that is looked at; of many rows a sample is. The distances of X, which
are most of the work, are computed once for all pictures, a block of rows at a time: no n×n array is ever held.

Every measure is the mean of one number a row, and its error is the standard deviation of those over √rows: what other
rows of the same kind would change. It does not vanish when all rows are looked at. As all pictures are measured on the
same rows, whether two differ is told by the differences row by row (`difference`), which are surer than two errors.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from mercer_old.arrays import Array
from mercer_old.limits import count_threads
from mercer_old.readings.distances import RowDistances, distances_of
from mercer_old.readings.ranks import Sweep, ranks, smallest_in_order

__all__ = ["Measured", "difference", "label_hits", "measure_new_rows", "measure_pictures", "moved", "rebuilt"]

_COLUMNS = 1000  # distances of a row that are correlated, drawn from all of them


@dataclass(frozen=True, eq=False)
class Measured:
    """One number a row, or a run; the value is their mean, or their sum over that of what is below the line."""

    rows: Array
    total: Array | None = None  # what is below the line

    @property
    def value(self) -> float:
        return float(self.rows.mean() if self.total is None else self.rows.sum() / self.total.sum())

    @property
    def error(self) -> float:
        """One standard error; nan of a single number."""
        if len(self.rows) < 2:
            return float("nan")
        return float(self._off.std(ddof=1) / np.sqrt(len(self.rows)))

    @property
    def in_short(self) -> str:
        """0.931 ± 0.004; an error that is too small for three digits has four, or is none."""
        if not np.isfinite(self.error):
            return f"{self.value:.3f}"
        digits = 3 if self.error >= 0.0005 else 4 if self.error >= 0.00005 else 0
        return f"{self.value:.3f} ± {self.error:.{digits}f}"

    @property
    def _off(self) -> Array:
        """What each row adds to the value: of a ratio, to first order."""
        if self.total is None:
            return self.rows
        return (self.rows - self.value * self.total) / self.total.mean()


def difference(one: Measured, other: Measured) -> tuple[float, float]:
    """one − other and its standard error: from the differences row by row if both have the same rows."""
    gap = one.value - other.value
    if len(one.rows) == len(other.rows) >= 2:
        return gap, float((one._off - other._off).std(ddof=1) / np.sqrt(len(one.rows)))
    return gap, float(np.hypot(one.error, other.error))


# ---------------------------------------------------------------------- pictures of all rows


def measure_pictures(
    X: Array,
    pictures: Mapping[str, Array],
    rows: Array,
    *,
    n_neighbors: int,
    labels: Array | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
) -> dict[str, dict[str, Measured]]:
    """Of every picture: trustworthiness, continuity, LCMC and the rank correlation of distances, and with labels hits.

    With r_X, r_Y the ranks of row j among the neighbours of row i, N_X, N_Y its k nearest, c = 2/(k(2n − 3k − 1)):

      trustworthiness  1 − c·Σ_{j ∈ N_Y} max(0, r_X − k)
      continuity       1 − c·Σ_{j ∈ N_X} max(0, r_Y − k)
      lcmc             |N_X ∩ N_Y|/k − k/(n − 1), beyond what a random picture keeps
      distances        Spearman's correlation of the distances of row i to all others, in X and in Y
      label_hit        whether most of N_Y have the label of row i, which has no vote: k nearest neighbours, leaving out
                       the row that is judged; rows with the label −1 have none, are not judged, and have no vote
    """
    n, k = len(X), n_neighbors
    spaces = [distances_of(X, "euclidean"), *(distances_of(Y, "euclidean") for Y in pictures.values())]
    kinds = ("trustworthiness", "continuity", "lcmc", "distances", *(() if labels is None else ("label_hit",)))
    found = np.empty((len(pictures), len(kinds), len(rows)))
    penalty = 2 / (k * (2 * n - 3 * k - 1))

    def look(position: int, by_x: Array, *by_each: Array) -> None:
        near_x, i = smallest_in_order(by_x, k), int(rows[position])
        some = _others(i, n, np.random.default_rng([seed, i]))
        order_x = rankdata(by_x[some])
        for out, by_y in zip(found[:, :, position], by_each, strict=True):
            near_y = smallest_in_order(by_y, k)
            in_x, in_y = ranks(by_x, near_y), ranks(by_y, near_x)
            out[0] = 1 - penalty * np.maximum(in_x - k, 0).sum()
            out[1] = 1 - penalty * np.maximum(in_y - k, 0).sum()
            out[2] = np.count_nonzero(in_x <= k) / k - k / (n - 1)
            out[3] = _correlation(order_x, rankdata(by_y[some]))
            if labels is not None:
                out[4] = _vote(labels[near_y]) == labels[i]

    _sweep(spaces, rows, look, n_jobs)
    return {
        name: {kind: Measured(_judged(kind, values, rows, labels)) for kind, values in zip(kinds, each, strict=True)}
        for name, each in zip(pictures, found, strict=True)
    }


def label_hits(X: Array, rows: Array, labels: Array, n_neighbors: int, n_jobs: int | None = None) -> Measured:
    """Of all columns: what neighbours in the input say of labels, beside which pictures are to be seen."""
    found = np.empty(len(rows))

    def look(position: int, by_x: Array) -> None:
        found[position] = _vote(labels[smallest_in_order(by_x, n_neighbors)]) == labels[rows[position]]

    _sweep([distances_of(X, "euclidean")], rows, look, n_jobs)
    return Measured(_judged("label_hit", found, rows, labels))


def _judged(kind: str, values: Array, rows: Array, labels: Array | None) -> Array:
    """All numbers, and of hits those of rows that have a label."""
    return values if labels is None or kind != "label_hit" else values[labels[rows] >= 0]


def _others(i: int, n: int, rng: np.random.Generator) -> Array:
    """All rows but i, or so many of them."""
    if n - 1 <= 2 * _COLUMNS:
        return np.delete(np.arange(n), i)
    drawn = rng.choice(n - 1, _COLUMNS, replace=False)
    return drawn + (drawn >= i)


def _correlation(a: Array, b: Array) -> float:
    """Of ranks; 0 where all are the same, as nothing goes with anything then."""
    a, b = a - a.mean(), b - b.mean()
    size = np.sqrt((a @ a) * (b @ b))
    return float(a @ b / size) if size > 0 else 0.0


def _vote(near: Array) -> int:
    """The label of most; of several, that of the nearest; −2, which is nobody's, where no neighbour has one."""
    near = near[near >= 0]
    if not len(near):
        return -2
    counts = np.bincount(near)
    most = counts.max()
    return int(next(label for label in near if counts[label] == most))


def _sweep(spaces: list[RowDistances], rows: Array, look: Callable[..., None], n_jobs: int | None) -> None:
    Sweep(tuple(spaces), rows, count_threads(n_jobs)).over(look)


# ---------------------------------------------------------------------- rows that were not in the fit


def measure_new_rows(
    X: Array, pictures: Mapping[str, Array], kept: Array, rows: Array, *, n_neighbors: int, n_jobs: int | None = None
) -> dict[str, Measured]:
    """Trustworthiness of where new rows were placed: their neighbours among the rows of the fit.

    In pictures, rows that are `kept` lie where the fit has them, and `rows`, which are not, where they were placed.
    With m kept rows, the formula is that of n = m + 1: the new row joins them alone.
    """
    k, n = n_neighbors, len(kept) + 1
    penalty = 2 / (k * (2 * n - 3 * k - 1))
    found = np.empty((len(pictures), len(rows)))

    def look(position: int, by_x: Array, *by_each: Array) -> None:
        own = by_x[kept]
        for number, by_y in enumerate(by_each):
            in_x = ranks(own, smallest_in_order(by_y[kept], k))
            found[number, position] = 1 - penalty * np.maximum(in_x - k, 0).sum()

    spaces = [distances_of(X, "euclidean"), *(distances_of(Y, "euclidean") for Y in pictures.values())]
    _sweep(spaces, rows, look, n_jobs)
    return {name: Measured(values) for name, values in zip(pictures, found, strict=True)}


def rebuilt(squares: Array, rows: Array, fitted: Array) -> Measured:
    """Σ‖x − x̂‖²/Σ‖x − mean‖² over rows, with the mean of the rows of the fit: the share of them that is lost."""
    return Measured(squares, np.square(rows - fitted.mean(axis=0)).sum(axis=1))


# ---------------------------------------------------------------------- two runs


def moved(one: Array, other: Array) -> tuple[float, Callable[[Array], Array]]:
    """How far two pictures of the same rows differ once one is moved, turned and scaled onto the other; and how.

    With both centred and of length one, 1 − (Σσ)² over the singular values σ of their product: 0 for the same shape, 1
    for nothing in common (Procrustes). The function takes points of the second picture to the first.
    """
    middle, other_middle = one.mean(axis=0), other.mean(axis=0)
    a, b = one - middle, other - other_middle
    size, other_size = float(np.linalg.norm(a)), float(np.linalg.norm(b))
    if size == 0 or other_size == 0:
        return float(size != other_size), lambda points: np.broadcast_to(middle, points.shape)
    left, values, right = np.linalg.svd(b.T @ a / (size * other_size))
    turn, common = left @ right, float(values.sum())
    off = max(0.0, 1.0 - common**2)
    return off, lambda points: (points - other_middle) @ turn * (common * size / other_size) + middle
