"""Every way from scores back to rows of numbers, and which one suits a kernel."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mercer_old.arrays import Array, Held
from mercer_old.errors import BadData, in_short
from mercer_old.kernels import Linear
from mercer_old.kernels.algebra import Scaled
from mercer_old.kernels.base import Kernel, is_sparse
from mercer_old.limits import Limits
from mercer_old.readings.preimages.cleaning import Cleaner, Levels, held_out_share, learn_cleaner
from mercer_old.readings.preimages.descent import descend
from mercer_old.readings.preimages.expansion import Expansion
from mercer_old.readings.preimages.fixed_point import fixed_points
from mercer_old.readings.preimages.learned import Learned, conformal_map, learn_ridge, spread_over
from mercer_old.readings.preimages.neighbours import (
    NEIGHBOURS,
    beside,
    by_average,
    by_distances,
    nearest_rows,
    without_noise,
)
from mercer_old.readings.preimages.radial import Radial
from mercer_old.threads import run

__all__ = ["PREIMAGES", "WaysBack", "are_numbered", "is_linear", "number_outside"]

PREIMAGES = ("auto", "conformal", "fixed-point", "gradient", "kwok-tsang", "local", "ridge")
_TIMES, _DEVIATIONS = 2.0, 6.0  # that a score lies outside: of the largest known one, and of the standard deviation
_SOME = 300  # rows of the fit from which is learned how rows lie beside their neighbours
_ARRAYS = 10  # of numbers between queries and rows that a thread holds
_BYTES = 32  # for each entry of a matrix between rows that a regression works on


@dataclass(frozen=True, eq=False)
class WaysBack:
    """From scores to rows, by any method; what has to be learned first is learned once."""

    expansion: Expansion
    weights: Array | None = None  # of the rows; None: all count the same

    def rows(self, Y: Array, method: str, noisy: Array | None = None, limits: Limits | None = None) -> Array:
        """The pre-images of scores Y (m×d); `noisy`: how far from p each row was, by which "auto" takes off noise."""
        limits = limits or Limits.of()
        found = usual_method(self.kernel) if method == "auto" else method
        self._refuse(found)
        if found == "linear":
            return self._in_the_plane(Y)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            try:
                noisy = noisy if method == "auto" else None
                rows = self._found(Y, found, False, limits) if noisy is None else self._calm(Y, found, noisy, limits)
                far = not (np.isfinite(self.expansion.squares(Y)).all() and np.isfinite(rows).all())
            except np.linalg.LinAlgError:  # of numbers that are not finite
                far = True
        if far:
            raise BadData(
                "The way back met an overflow: scores of X, or rows of the fit, have squares that are too large. Give "
                "scores like those of the fit, or scale the data down (StandardScaler)."
            )
        return np.maximum(rows, 0.0) if self.kernel.non_negative else rows

    def _found(self, Y: Array, method: str, noisy: bool, limits: Limits) -> Array:
        known = self._learned(Y, method, limits) if method in ("ridge", "conformal") else None
        usual = self.usual if noisy else None
        return known if known is not None and usual is None else self._by_blocks(Y, method, known, usual, limits)

    def _calm(self, Y: Array, method: str, noisy: Array, limits: Limits) -> Array:
        """Rows no farther away than rows of the fit by the method; others by what is learned for their level."""
        if self.radial is None or not noisy.any():
            return self._found(Y, method, True, limits)
        out, levels = np.empty((len(Y), self.expansion.rows.shape[1])), self.levels.among(noisy)
        for level in np.unique(levels):
            there = np.flatnonzero(levels == level)
            some = Y[there]
            out[there] = self._found(some, method, True, limits) if level < 0 else self._cleaned(some, level, limits)
        return out

    def _cleaned(self, Y: Array, level: int, limits: Limits) -> Array:
        """A regression from noisy scores, and neighbours, each by a share."""
        if level not in self._cleaners:
            most = int(np.sqrt(limits.memory / _BYTES))
            cleaner = learn_cleaner(self.expansion, self.levels.sigmas[level], self.weights, limits.threads, most)
            self._cleaners[level] = cleaner, self._share(cleaner)
        cleaner, share = self._cleaners[level]
        learned = np.vstack([cleaner.rows(Y[some]) for some in self.expansion.blocks(len(Y), len(cleaner.scores))])
        return share * learned + (1 - share) * self._by_blocks(Y, "kwok-tsang", None, None, limits)

    def _share(self, cleaner: Cleaner) -> float:
        """Of the regression, by some rows of the fit that neither has seen."""
        e, some = self.expansion, spread_over(len(cleaner.picked), _SOME)
        own, Y = cleaner.picked[some], cleaner.noisy_scores[some]
        squared = e.to_rows(Y)
        squared[np.arange(len(own)), own] = np.inf
        near, apart = nearest_rows(squared, min(NEIGHBOURS, max(e.n - 1, 1)))
        return held_out_share(e.rows[own], cleaner.held_out[some], self._by_distances(Y, near, apart))

    @cached_property
    def levels(self) -> Levels:
        return Levels.of(self.expansion)

    @cached_property
    def _cleaners(self) -> dict[int, tuple[Cleaner, float]]:
        return {}

    def _by_blocks(self, Y: Array, method: str, known: Array | None, usual: float | None, limits: Limits) -> Array:
        """Some scores after the other, with their neighbours: found by a method, unless known, and without noise."""
        e = self.expansion
        out = np.empty((len(Y), e.rows.shape[1]))

        def work(some: slice) -> None:
            near, apart = nearest_rows(e.to_rows(Y[some]), NEIGHBOURS)
            rows = self._block(Y[some], method, near, apart) if known is None else known[some]
            out[some] = rows if usual is None else without_noise(rows, e.rows[near], usual)

        entries = limits.memory // (_ARRAYS * 8 * limits.threads)
        run(work, e.blocks(len(Y), NEIGHBOURS * out.shape[1], entries), limits.threads)
        return out

    @property
    def kernel(self) -> Kernel:
        return self.expansion.kernel

    @cached_property
    def radial(self) -> Radial | None:
        return None if is_sparse(self.expansion.rows) else Radial.of(self.kernel, self.expansion.rows)

    @cached_property
    def usual(self) -> float:
        """How far rows of the fit lie beside the span of their neighbours, squared: the median of some of them."""
        e = self.expansion
        some = np.arange(min(_SOME, e.n)) * e.n // min(_SOME, e.n)
        squared = e.to_rows(e.scores[some])
        squared[np.arange(len(some)), some] = np.inf  # nobody is a neighbour of his own
        near = nearest_rows(squared, min(NEIGHBOURS, max(e.n - 1, 1)))[0]
        return float(np.median(beside(np.asarray(e.rows[some], dtype=np.float64), e.rows[near])))

    @cached_property
    def _maps(self) -> dict[str, Learned]:
        return {}

    @cached_property
    def conformal(self) -> tuple[Array, Array]:
        return conformal_map(self.expansion.scores, self.expansion.rows, self.weights)

    def _in_the_plane(self, Y: Array) -> Array:
        """Σcᵢxᵢ: of a linear kernel, p is the image of a row."""
        e = self.expansion
        middle = np.asarray(e.rows.mean(axis=0, dtype=np.float64)).ravel()
        about = e.rows.astype(np.float64) if is_sparse(e.rows) else e.rows - middle
        if is_sparse(e.rows):
            return np.asarray(Y @ (about.T @ e.alpha).T + about.T @ e.mean)
        axes, sums = about.T @ e.alpha, e.alpha.sum(axis=0)
        return np.asarray(Y @ axes.T + (Y @ sums + e.mean.sum())[:, None] * middle + about.T @ e.mean)

    def _learned(self, Y: Array, method: str, limits: Limits) -> Array:
        if method == "ridge":
            if "ridge" not in self._maps:
                e, most = self.expansion, int(np.sqrt(limits.memory / _BYTES))
                self._maps["ridge"] = learn_ridge(e.scores, e.rows, self.weights, limits.threads, most)
            return self._maps["ridge"].rows(Y, limits.threads)
        B, mean = self.conformal
        return np.asarray(Y @ B + mean)

    def _block(self, Y: Array, method: str, near: Array, apart: Array) -> Array:
        """Of some scores, by a method that looks at every one of them alone."""
        e = self.expansion
        if method == "kwok-tsang":
            return self._by_distances(Y, near, apart)
        if method == "local":
            return by_average(self.kernel, e.rows, near, apart)
        C = e.coefficients(Y)
        return self._fixed_points(Y, C, near, apart) if method == "fixed-point" else self._descend(Y, C, near, apart)

    def _fixed_points(self, Y: Array, C: Array, near: Array, apart: Array) -> Array:
        """From the points at the distances of neighbours, and from the nearest row where that ends lower."""
        assert self.radial is not None
        e, top = self.expansion, self.radial.factor
        Z, heights = fixed_points(self.radial, C, self._by_distances(Y, near, apart))
        of_nearest = (apart[:, 0] - e.squares(Y) - e.shift) / top - 1 + 2 * C.sum(axis=1)
        again = np.flatnonzero(of_nearest < heights)
        if len(again):
            Z[again] = fixed_points(self.radial, C[again], e.rows[near[again, 0]])[0]
        return Z

    def _descend(self, Y: Array, C: Array, near: Array, apart: Array) -> Array:
        """From the nearest row or an average of neighbours, whichever is lower."""
        e = self.expansion
        average = by_average(self.kernel, e.rows, near, apart)
        lower = e.objective(average, C) + e.squares(Y) < apart[:, 0]
        return descend(e, C, np.where(lower[:, None], average, e.rows[near[:, 0]]))

    def _by_distances(self, Y: Array, near: Array, apart: Array) -> Array:
        assert self.radial is not None
        e, top = self.expansion, self.radial.factor
        return by_distances(self.radial, near, apart, (e.squares(Y) + (e.shift - top)) / top)

    def _refuse(self, method: str) -> None:
        """One sentence for a kernel, or rows, that a method has no use for."""
        kernel = in_short(self.kernel)
        instead = 'preimage="auto"' if is_linear(self.kernel) else f"the linear kernel instead of {kernel}"
        if is_sparse(self.expansion.rows) and method != "linear":
            raise ValueError(
                f"The way back leads to dense rows, and the model was fitted to sparse ones: fit X.toarray(), or take "
                f"{instead}."
            )
        if method in ("fixed-point", "kwok-tsang") and self.radial is None:
            raise ValueError(
                f"preimage={method!r} reads Euclidean distances off the kernel, and {kernel} is no function of them: "
                "take RBF, Matern or RationalQuadratic, or preimage='auto'."
            )
        if method == "gradient" and not self.kernel.differentiable:
            raise ValueError(
                f"preimage='gradient' follows the gradient of the kernel, and {kernel} has none: take 'ridge' or "
                "'local'."
            )


def is_linear(kernel: Kernel) -> bool:
    """Whether φ(x) is x, or a multiple of it: every point of feature space is then the image of a row."""
    while isinstance(kernel, Scaled):
        kernel = kernel.kernel
    return isinstance(kernel, Linear)


def are_numbered(kernel: Kernel, rows: Held) -> bool:
    """Whether rows are no more than the numbers of items, to a function that knows these: an average means nothing."""
    if kernel.takes != "anything" or is_sparse(rows) or rows.shape[1] != 1:
        return False
    numbers = np.asarray(rows).ravel()
    whole = bool(np.all((numbers >= 0) & (numbers == np.floor(numbers))))
    return whole and len(np.unique(numbers)) == len(numbers)


def usual_method(kernel: Kernel) -> str:
    """What preimage="auto" stands for: what comes nearest in feature space, where a search for that can end."""
    if is_linear(kernel):
        return "linear"
    radial = Radial.of(kernel, np.empty((0, 0))) is not None
    return "fixed-point" if radial else "gradient" if kernel.differentiable and kernel.psd else "ridge"


def number_outside(known: Array, deviations: Array, Y: Array) -> int:
    """How many of Y have a score that is more than twice as large as any known one, and than six deviations."""
    most = np.maximum(_TIMES * np.abs(known).max(axis=0), _DEVIATIONS * deviations)
    return int(np.any(np.abs(Y) > most, axis=1).sum())
