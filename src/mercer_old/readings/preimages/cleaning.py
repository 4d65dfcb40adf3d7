"""Rows without their noise, learned from rows of the fit to which noise was added: how much, each new row says."""

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from mercer_old.arrays import Array
from mercer_old.kernels import RBF, Linear
from mercer_old.kernels.base import Kernel
from mercer_old.operators.tiles import apply
from mercer_old.readings.preimages.expansion import Expansion, distances_reached
from mercer_old.readings.preimages.learned import leave_one_out, spread_over, turned
from mercer_old.squares import differences

__all__ = ["Cleaner", "Levels", "held_out_share", "learn_cleaner", "scores_of"]

_LOOKED_AT, _LEARNED_FROM = 500, 3000  # rows from which a ridge is chosen, and a map learned, at most
_SOME = 300  # rows that say how far from the components rows lie, at every level
_LEVELS = 2.0 ** (np.arange(-6, 4) / 2)  # of noise, times the deviation of a column in the mean
_READ = 0.9  # of rows with noise of a level on them, whose distance says so, or one level more or less
_RIDGES = 10.0 ** np.arange(-4.0, 1.5, 0.5)  # times the mean of k(y, y)
_WIDTHS = 0.3, 1.0, 3.0  # γ times the median squared distance of the scores
_KNOTS = 65  # of the rising line of a column


def scores_of(expansion: Expansion, rows: Array, threads: int = 1) -> Array:
    """Where any rows lie along the components: (k(x, ·) − shift)α − αᵀKm."""
    out, e = np.empty((len(rows), expansion.alpha.shape[1])), expansion
    apply(e.kernel.prepare(rows, e.rows, shift=e.shift), len(rows), e.n, e.alpha, out, threads)
    return out - e.alpha.T @ e.means


@dataclass(frozen=True, eq=False)
class Levels:
    """How far rows of the fit lie from the components, ‖φ(x) − p‖, with noise of every level on them.

    One row has as many numbers to tell its noise by as it has columns: in few dimensions its distance says little, and
    levels that rows of the fit do not tell are not told of others.
    """

    sigmas: Array
    medians: Array  # of the distance, at every level
    most: float  # of rows as they are
    readable: Array

    @classmethod
    def of(cls, expansion: Expansion) -> "Levels":
        rows = np.asarray(expansion.rows[spread_over(expansion.n, _SOME)], dtype=np.float64)
        sigmas = _LEVELS * np.sqrt(np.mean(np.var(expansion.rows, axis=0, dtype=np.float64)))
        found = np.array([_distances(expansion, rows + sigma * _noise(rows)) for sigma in sigmas])
        medians, most = np.median(found, axis=1), float(_distances(expansion, rows).max())
        told = cls(sigmas, medians, most, np.ones(len(sigmas), dtype=bool)).among(found.ravel()).reshape(found.shape)
        near = (told >= 0) & (np.abs(told - np.arange(len(sigmas))[:, None]) <= 1)
        return cls(sigmas, medians, most, near.mean(axis=1) >= _READ)

    def among(self, distances: Array) -> Array:
        """The number of the level of every row by its own distance; −1 where none can be told.

        That is: of rows no farther away than rows are, and at levels that are not readable.
        """
        nearest = np.abs(distances[:, None] - self.medians).argmin(axis=1)
        return np.where((distances > self.most) & self.readable[nearest], nearest, -1)


def _distances(expansion: Expansion, rows: Array) -> Array:
    return distances_reached(expansion, rows, scores_of(expansion, rows))


def _noise(rows: Array) -> Array:
    """The same for every level, so that levels differ by nothing else."""
    return np.random.default_rng(0).normal(size=rows.shape)


@dataclass(frozen=True, eq=False)
class Cleaner:
    """x̂ⱼ = lineⱼ(mean + k(y − origin, scores) C)ⱼ: a ridge regression, and a line that only rises for every column."""

    kernel: Kernel
    scores: Array
    origin: Array
    coefficients: Array
    mean: Array
    knots: Array  # of the lines (_KNOTS×d), and their heights
    heights: Array
    held_out: Array  # rows of the fit as they were found from the others, and which
    picked: Array
    noisy_scores: Array

    def rows(self, Y: Array) -> Array:
        found = self.kernel.block(Y - self.origin, self.scores) @ self.coefficients + self.mean
        return _along(found, self.knots, self.heights)


def learn_cleaner(
    expansion: Expansion, sigma: float, weights: Array | None = None, threads: int = 1, most: int = _LEARNED_FROM
) -> Cleaner:
    """From the scores of rows with noise to the rows without: kernel and ridge are those that leave-one-out likes best.

    The rows as found from all others, eᵢ = Cᵢ/(A⁻¹)ᵢᵢ away from what they are, also teach the lines: the mean of a
    column, given what the regression says of it, as a function that only rises (isotonic regression). So numbers stay
    between the smallest and the largest of their column.
    """
    picked = spread_over(expansion.n, min(_LEARNED_FROM, most))
    X = np.asarray(expansion.rows[picked], dtype=np.float64)
    w = np.ones(len(X)) if weights is None else weights[picked]
    noisy = scores_of(expansion, X + sigma * _noise(X), threads)
    mean, origin = np.average(X, axis=0, weights=w), np.average(noisy, axis=0, weights=w)
    Y, few = noisy - origin, spread_over(len(X), _LOOKED_AT)
    kernel, ridge = _chosen(Y[few], X[few] - mean, w[few])
    A = kernel.block(Y, Y)
    A[np.diag_indices(len(A))] += ridge / w
    inverse = linalg.inv(A, overwrite_a=True, check_finite=False)
    C = inverse @ (X - mean)
    held_out = X - C / np.diag(inverse)[:, None]
    knots, heights = _lines(held_out, X, w)
    return Cleaner(kernel, Y, origin, C, mean, knots, heights, _along(held_out, knots, heights), picked, noisy)


def _chosen(Y: Array, X: Array, w: Array) -> tuple[Kernel, float]:
    apart = differences(Y, Y)[np.triu_indices(len(Y), 1)]
    apart = apart[apart > 0]
    median = float(np.median(apart)) if len(apart) else 1.0
    best: tuple[float, Kernel, float] = (np.inf, Linear(), 1.0)
    X = turned(X)
    for kernel in (2 / median * Linear() + RBF(gamma=width / median) for width in _WIDTHS):
        K = kernel.block(Y, Y)
        ridges = float(np.mean(np.diag(K))) * _RIDGES
        errors = leave_one_out(K, X, ridges, w)
        place = int(np.argmin(errors))
        if errors[place] < best[0]:
            best = float(errors[place]), kernel, float(ridges[place])
    return best[1:]


def _lines(found: Array, X: Array, w: Array) -> tuple[Array, Array]:
    """Of every column, heights at knots that have as many rows between them."""
    from sklearn.isotonic import isotonic_regression  # which loads scipy.stats

    places = spread_over(len(X), _KNOTS)
    places[-1] = len(X) - 1
    order = np.argsort(found, axis=0, kind="stable")
    knots = np.take_along_axis(found, order[places], axis=0)
    heights = np.empty_like(knots)
    for j in range(X.shape[1]):
        heights[:, j] = isotonic_regression(X[order[:, j], j], sample_weight=w[order[:, j]])[places]
    return knots, heights


def _along(found: Array, knots: Array, heights: Array) -> Array:
    return np.column_stack([np.interp(*column) for column in zip(found.T, knots.T, heights.T, strict=True)])


def held_out_share(truth: Array, one: Array, other: Array) -> float:
    """s in [0, 1] with the least Σ‖x − s·one − (1 − s)·other‖²."""
    apart = one - other
    square = float(np.sum(apart**2))
    return float(np.clip(np.sum(apart * (truth - other)) / square, 0.0, 1.0)) if square > 0 else 1.0
