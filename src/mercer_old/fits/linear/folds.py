"""The number of components under which rows that were held out are most probable: cross-validated likelihood.

Of every fold, sums of squares around its own mean are kept, which are put together as Chan, Golub and LeVeque do
(sweeps/scatter.py): the scatter S of the other folds has axes V and variances λ, and the mean log-likelihood of rows
held out under k components,

  −½[d·log 2π + Σ_{i≤k} (log λᵢ + aᵢ/λᵢ) + (d − k)·log v + (a − Σ_{i≤k} aᵢ)/v],

asks no more of them than the mean squares aᵢ along the axes, a altogether; v is the mean of the d − k other variances.
So one sweep is enough for all k.
"""

from dataclasses import dataclass
from zlib import crc32

import numpy as np

from mercer_old.arrays import Array, dense
from mercer_old.blocks import rows_at_a_time
from mercer_old.errors import NoRoom
from mercer_old.limits import Limits, bytes_in_words
from mercer_old.sources.items import Rows
from mercer_old.threads import blas_threads_for

__all__ = ["FOLDS", "folds_of", "likelihood_held_out", "number_by_folds"]

FOLDS = 5
_MERGED, _OF_WORKER = 4, 0.5  # times the sums of all folds, where they are merged, and the share of memory for them
_NOTHING = 1e-12  # of the largest variance: what is below is none


@dataclass(eq=False)
class Fold:
    """Weight, mean and squares of some rows."""

    weight: float
    mean: Array
    squares: Array  # d×d, around the mean

    @classmethod
    def of(cls, rows: Array, weights: Array) -> "Fold":
        total = float(weights.sum())
        mean = weights @ rows / total if total > 0 else np.zeros(rows.shape[1])
        moved = (rows - mean) * np.sqrt(weights)[:, None]
        return cls(total, mean, moved.T @ moved)

    def __add__(self, other: "Fold") -> "Fold":
        total = self.weight + other.weight
        if total <= 0:
            return self
        gap = other.mean - self.mean
        squares = self.squares + other.squares + self.weight * other.weight / total * np.outer(gap, gap)
        return Fold(total, self.mean + other.weight / total * gap, squares)


def number_by_folds(
    rows: Rows, weights: Array | None, standardize: bool, limits: Limits, rng: np.random.Generator
) -> int | None:
    """The number of components of the greatest likelihood, at least one; None if a number is missing or infinite."""
    d = rows.width
    need = 8 * (FOLDS + 4) * d * d
    if need > limits.memory:
        raise NoRoom(
            f'n_components="cv" needs {bytes_in_words(need)} for the products of {d:,} columns in {FOLDS} folds, over '
            f"the limit of {bytes_in_words(limits.memory)}. Give a number of components."
        )
    folds = _summed(rows, weights, rng)
    if folds is None or not all(np.isfinite(fold.squares).all() for fold in folds):
        return None
    folds = [fold for fold in folds if fold.weight > 0]
    if len(folds) < 2:
        return 1  # all rows are the same
    if standardize:
        whole = _together(folds)
        deviations = np.sqrt(np.diag(whole.squares) / whole.weight)
        scale = np.where(deviations > 0, deviations, 1.0)
        folds = [Fold(f.weight, f.mean / scale, f.squares / np.multiply.outer(scale, scale)) for f in folds]
    totals = sum(
        fold.weight * likelihood_held_out(_together([other for other in folds if other is not fold]), fold)
        for fold in folds
    )
    return max(1, int(np.argmax(totals)))


def _summed(rows: Rows, weights: Array | None, rng: np.random.Generator) -> list[Fold] | None:
    """One sweep: over chunks where they lie, if who works there has room for the sums."""
    seed, (n, d), chunks = int(rng.integers(2**32)), rows.shape, rows.chunks
    with np.errstate(over="ignore", invalid="ignore"):
        if chunks is None or 8 * _MERGED * FOLDS * d * d > _OF_WORKER * (chunks.engine.room or np.inf):
            with blas_threads_for(n * d * d):
                return _folds_in(rows, weights, seed)
        (place,) = chunks.engine.collect(chunks.map(_place_of_chunk)[:1])
        found: list[Fold] | None = chunks.summed(_folds_in, _all_added, chunks.dealt(weights), seed, place)
        return found


_Place = tuple[Array, float]  # where rows are moved to, and the unit that they are divided by


def _folds_in(rows: Rows, weights: Array | None, seed: int, place: _Place | None = None) -> list[Fold] | None:
    """Of rows around their first, or around a place for all; None at the first number that is missing."""
    d, start = rows.width, 0
    folds = [Fold(0.0, np.zeros(d), np.zeros((d, d))) for _ in range(FOLDS)]
    for block in rows.blocks(rows_at_a_time(d)):
        block, here = dense(block, np.float64), slice(start, start + block.shape[0])
        if np.isnan(block).any():
            return None
        home, (origin, unit) = folds_of(block, seed), place or _place_of(block)
        place, block = (origin, unit), (block - origin) / unit
        counts = np.ones(len(block)) if weights is None else weights[here]
        for number in range(len(folds)):
            mine = home == number
            if mine.any():
                folds[number] = folds[number] + Fold.of(block[mine], counts[mine])
        start = here.stop
    return folds


def _place_of(block: Array) -> _Place:
    return block[0].copy(), _power_of_two(float(np.abs(block - block[0]).max()))


def _place_of_chunk(rows: Rows, own: None) -> _Place:
    return _place_of(dense(rows.load(), np.float64))


def _all_added(some: list[Fold] | None, others: list[Fold] | None) -> list[Fold] | None:
    if some is None or others is None:
        return None
    return [one + other for one, other in zip(some, others, strict=True)]


def folds_of(rows: Array, seed: int) -> Array:
    """The fold of every row, by lot, and the same for rows that are equal: no copy of a row is held out of itself."""
    return np.array([crc32((row + 0.0).tobytes(), seed) % FOLDS for row in rows])


def _power_of_two(size: float) -> float:
    """A unit in which squares are numbers; k does not depend on it."""
    return float(np.ldexp(1.0, int(np.frexp(size)[1]))) if 0 < size < np.inf else 1.0


def _together(folds: list[Fold]) -> Fold:
    total, *others = folds
    for fold in others:
        total = total + fold
    return total


def likelihood_held_out(seen: Fold, held_out: Fold) -> Array:
    """The mean log-likelihood of rows held out, for k = 0 … d − 1; −∞ where a direction has no variance."""
    d = len(seen.mean)
    with blas_threads_for(d**3):
        values, axes = np.linalg.eigh(seen.squares / seen.weight)
    values, axes = np.maximum(values[::-1], 0.0), axes[:, ::-1]
    most = min(d, int(np.sum(values > _NOTHING * values[0])) + 1)
    gap = held_out.mean - seen.mean
    along = np.einsum("ji,jk,ki->i", axes, held_out.squares, axes) / held_out.weight + (gap @ axes) ** 2
    k = np.arange(most)
    rest = (values.sum() - np.append(0.0, np.cumsum(values))[:most]) / (d - k)
    beyond = along.sum() - np.append(0.0, np.cumsum(along))[:most]
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = np.append(0.0, np.cumsum(np.log(values) + along / values))[:most]
        found = -(d * np.log(2 * np.pi) + inside + (d - k) * np.log(rest) + beyond / rest) / 2
    found = np.where(np.isfinite(found) & (rest > _NOTHING * max(values[0], 1e-300)), found, -np.inf)
    return np.append(found, np.full(d - most, -np.inf))
