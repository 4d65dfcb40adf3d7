"""Removing noise from rows by pre-images, at a level that each row shows by itself."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from mercer.estimators._preimages import RidgeInverse, spread

if TYPE_CHECKING:
    from mercer.estimators._preimages import Preimages

_LEVELS = 2.0 ** (np.arange(-6, 4) / 2)  # standard deviations of noise, relative to that of a column in the mean
_LEVEL_ROWS = 300  # whose distances show how noise of a level looks
_READABLE = 0.9  # fraction of them that must show their level, or the next one
_USUAL = 1.25  # times the most that a row of the fit shows: rows with more are noisy
_MOST_COLUMNS = 1000  # in which noise is looked for
_FLAT_PART, _FLAT, _LOW = 0.25, 2.0, 0.75  # so many eigenvalues differ by such a factor, and are below the mean
_LEAST_PART = 0.1  # of the noise that is left in directions without signal
_PROBE = 0.1  # standard deviations of noise: a step of differences


class Denoiser:
    """Removes noise from rows, whose level each row shows by itself.

    White noise shows where rows of the fit vary least: in the half of their principal axes with the smallest variances.
    The median of the squared coordinates there is compared with that of rows of the fit with noise of ten levels. For
    the level of a row, a ridge regression from noisy scores to rows is learned and averaged with other estimates; the
    weights have the least squared error on rows that the regressions did not see.

    Noise in the rows of the fit makes the smallest variances nearly equal. Other rows are then taken to be as noisy at
    least. As these rows are targets of the regression, too, Stein's unbiased estimate takes the place of the squared
    error: ‖x − x̂‖² + 2σ²·div x̂, up to a constant.
    """

    def __init__(self, inverse: "Preimages") -> None:
        self.inverse, rows, weights = inverse, inverse.learning_rows, inverse.learning_weights
        self.some = spread(len(rows), _LEVEL_ROWS)
        self.columns = spread(rows.shape[1], _MOST_COLUMNS)
        self.mean = np.average(rows[:, self.columns], axis=0, weights=weights)
        root = np.sqrt(weights / weights.sum())[:, None] * (rows[:, self.columns] - self.mean)
        variances, axes = linalg.eigh(root.T @ root)
        variances = np.maximum(variances, 0.0)
        self.axes = axes[:, : max(1, len(variances) // 2)]
        self.sigmas = _LEVELS * np.sqrt(variances.mean())
        shown = np.array([self.noise(noisy(rows[self.some], sigma)) for sigma in self.sigmas])
        self.medians = np.median(shown, axis=1)
        found = np.abs(shown[:, :, None] - self.medians).argmin(axis=2)
        near = np.abs(found - np.arange(len(self.sigmas))[:, None]) <= 1
        self.readable = near.mean(axis=1) >= _READABLE
        self.usual = max(_USUAL * float(self.noise(rows).max()), float(self.medians[0]) / 2)
        n_effective = float(weights.sum() ** 2 / (weights**2).sum())
        self.own_variance, self.own_level = _noise_variance(variances, n_effective), -1
        if self.own_variance > 0:
            self.own_level = int(np.abs(np.log(self.sigmas**2 / (2 * self.own_variance))).argmin())
        self._blends: dict[int, tuple[NDArray, RidgeInverse]] = {}

    def noise(self, rows: NDArray) -> NDArray:
        """The root of the median squared coordinate along the axes of least variance."""
        moved = np.asarray(rows[:, self.columns], dtype=np.float64) - self.mean
        return np.sqrt(np.median((moved @ self.axes) ** 2, axis=1))

    def levels(self, rows: NDArray) -> NDArray:
        """The level of noise of each row; −1: none, or none that can be read."""
        shown = self.noise(rows)
        found = np.abs(shown[:, None] - self.medians).argmin(axis=1)
        return np.maximum(np.where((shown > self.usual) & self.readable[found], found, -1), self.own_level)

    def denoise(self, Y: NDArray, level: int) -> NDArray:
        """Rows for the scores of rows with noise of a level."""
        if level not in self._blends:
            self._blends[level] = self._blend(level)
        weights, ridge = self._blends[level]
        inverse, n_threads = self.inverse, self.inverse.geometry.n_threads
        out = weights[3] * np.broadcast_to(inverse.ridge.mean, (len(Y), len(inverse.ridge.mean)))
        out = out + weights[0] * inverse.ridge.predict(Y, n_threads) + weights[1] * ridge.predict(Y, n_threads)
        return out + weights[2] * inverse.by_distances(Y)

    def _blend(self, level: int) -> tuple[NDArray, RidgeInverse]:
        """The regression for a level of noise, and the weights of both regressions and both other methods."""
        inverse, sigma, rows = self.inverse, self.sigmas[level], self.inverse.learning_rows
        geometry, row_weights, n_threads = inverse.geometry, inverse.learning_weights, inverse.geometry.n_threads
        scores = geometry.scores_of(noisy(rows, sigma))
        learned = [inverse.ridge, RidgeInverse.fit(scores, rows, row_weights, n_threads)]
        some = self.some[self.some < len(rows) - len(rows) // 2] if len(rows) < 2 * len(self.some) else self.some
        others = np.setdiff1d(np.arange(len(rows)), some)
        if not len(others):
            return np.array([0.0, 1.0, 0.0, 0.0]), learned[1]
        held_out = [
            RidgeInverse.fit(Y[others], rows[others], row_weights[others], n_threads, like=ridge)
            for Y, ridge in zip((geometry.scores[inverse.learning], scores), learned, strict=True)
        ]
        own = inverse.learning[some]

        def predict(Y: NDArray) -> NDArray:
            by_ridge = [ridge.predict(Y, n_threads) for ridge in held_out]
            return np.array(
                [*by_ridge, inverse.by_distances(Y, own), np.broadcast_to(inverse.ridge.mean, by_ridge[0].shape)]
            )

        if level == self.own_level:
            sigma, scores = 0.0, geometry.scores[inverse.learning]
        w, found = row_weights[some], predict(scores[some])
        products = np.einsum("i,aij,bij->ab", w, found, found)
        targets = np.einsum("i,aij,ij->a", w, found, rows[some])
        if self.own_level >= 0:
            probes = np.random.default_rng(1).standard_normal(rows[some].shape)
            step = _PROBE * np.sqrt(self.own_variance)
            moved = [geometry.scores_of(noisy(rows, sigma)[some] + sign * step * probes) for sign in (1, -1)]
            slopes = (predict(moved[0]) - predict(moved[1])) / (2 * step)
            targets -= self.own_variance * np.einsum("i,aij,ij->a", w, slopes, probes)
        return best_average(products, targets), learned[1]


def noisy(rows: NDArray, sigma: float) -> NDArray:
    """Rows with the same noise for every level, so that levels differ by nothing else."""
    return rows + sigma * np.random.default_rng(0).standard_normal(rows.shape)


def _noise_variance(variances: NDArray, n_rows: float) -> float:
    """σ² of white noise, from eigenvalues of the covariance of which the smallest are nearly equal; 0: none shows.

    Eigenvalues of noise in m directions spread up to σ²(1 + √(m/n))² (Marchenko and Pastur), and their mean is
    σ²(1 − (d − m)/n), as the other d − m directions follow the noise, too. m grows while the next one is not larger.
    """
    d = len(variances)
    m = int(_FLAT_PART * d)
    if m < 3 or variances[m] > _FLAT * variances[0] or variances[m] > _LOW * variances.mean():
        return 0.0
    while m < d and variances[m] <= variances[:m].mean() * (1 + np.sqrt((m + 1) / n_rows)) ** 2:
        m += 1
    return float(variances[:m].mean() / max(1 - (d - m) / n_rows, _LEAST_PART))


def best_average(products: NDArray, targets: NDArray) -> NDArray:
    """The w ≥ 0 with Σw = 1 of least wᵀPw − 2wᵀt, by the conditions of every set of positive weights."""
    n, best = len(targets), (np.inf, np.full(len(targets), 1 / len(targets)))
    for mask in range(1, 2**n):
        kept = [i for i in range(n) if mask >> i & 1]
        system = np.ones((len(kept) + 1, len(kept) + 1))
        system[:-1, :-1], system[-1, -1] = products[np.ix_(kept, kept)], 0.0
        weights = np.zeros(n)
        weights[kept] = np.linalg.lstsq(system, np.append(targets[kept], 1.0), rcond=None)[0][:-1]
        value = float(weights @ products @ weights - 2 * weights @ targets)
        if weights.min() >= 0 and value < best[0]:
            best = value, weights
    return best[1]
