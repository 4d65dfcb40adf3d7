"""Every way from scores back to rows of numbers, and which one suits a kernel."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mercer.arrays import Array
from mercer.errors import in_short
from mercer.kernels import Linear
from mercer.kernels.algebra import Scaled
from mercer.kernels.base import Kernel, is_sparse
from mercer.limits import Limits
from mercer.readings.preimages.descent import descend
from mercer.readings.preimages.expansion import Expansion
from mercer.readings.preimages.fixed_point import fixed_points
from mercer.readings.preimages.learned import Learned, conformal_map, learn_ridge
from mercer.readings.preimages.neighbours import NEIGHBOURS, by_average, by_distances, nearest
from mercer.readings.preimages.radial import Radial
from mercer.threads import run

__all__ = ["METHODS", "WaysBack", "is_linear", "number_outside"]

METHODS = ("auto", "conformal", "fixed-point", "gradient", "kwok-tsang", "local", "ridge")
_TIMES, _DEVIATIONS = 2.0, 6.0  # that a score lies outside: of the largest known one, and of the standard deviation
_BYTES = 32  # for each entry of a matrix between rows that a regression works on


@dataclass(frozen=True, eq=False)
class WaysBack:
    """From scores to rows, by any method; what has to be learned first is learned once."""

    expansion: Expansion
    weights: Array | None = None  # of the rows; None: all count the same

    def rows(self, Y: Array, method: str, noisy: bool = False, limits: Limits | None = None) -> Array:
        """The pre-images of scores Y (m×d); `noisy`: the rows that they are of are to be cleaned."""
        limits = limits or Limits.of()
        found = usual_method(self.kernel, noisy) if method == "auto" else method
        self._refuse(found)
        if found == "linear":
            return self._in_the_plane(Y)
        if found in ("ridge", "conformal"):
            return self._learned(Y, found, limits)
        out = np.empty((len(Y), self.expansion.rows.shape[1]))

        def work(some: slice) -> None:
            out[some] = self._block(Y[some], found)

        blocks = self.expansion.blocks(len(Y), NEIGHBOURS * out.shape[1])
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            run(work, blocks, limits.threads)
        return out

    @property
    def kernel(self) -> Kernel:
        return self.expansion.kernel

    @cached_property
    def radial(self) -> Radial | None:
        return None if is_sparse(self.expansion.rows) else Radial.of(self.kernel, self.expansion.rows)

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

    def _block(self, Y: Array, method: str) -> Array:
        """Of some scores, by a method that looks at every one of them alone."""
        e = self.expansion
        squared = e.to_rows(Y)
        near, apart = nearest(squared, NEIGHBOURS)
        if method == "kwok-tsang":
            return self._by_distances(Y, near, apart)
        if method == "local":
            return by_average(self.kernel, e.rows, near, apart)
        C = e.coefficients(Y)
        if method == "fixed-point":
            assert self.radial is not None
            start = self._better(C, e.rows[near[:, 0]], self._by_distances(Y, near, apart))
            return fixed_points(self.radial, C, start)
        start = self._better(C, e.rows[near[:, 0]], by_average(self.kernel, e.rows, near, apart))
        return descend(e, C, start)

    def _by_distances(self, Y: Array, near: Array, apart: Array) -> Array:
        assert self.radial is not None
        e, top = self.expansion, self.radial.factor
        return by_distances(self.radial, near, apart, (e.squares(Y) + (e.shift - top)) / top)

    def _better(self, C: Array, some: Array, others: Array) -> Array:
        """Of two candidates for every query, the one that lies nearer in feature space; the first, if neither does."""
        nearer = self.expansion.objective(others, C) < self.expansion.objective(some, C)
        return np.where(nearer[:, None], others, some).astype(np.float64)

    def _refuse(self, method: str) -> None:
        """One sentence for a kernel, or rows, that a method has no use for."""
        kernel = in_short(self.kernel)
        if is_sparse(self.expansion.rows) and method != "linear":
            raise ValueError(
                f"The way back leads to dense rows, and the model was fitted to sparse ones: fit X.toarray(), or take "
                f"the linear kernel instead of {kernel}."
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


def usual_method(kernel: Kernel, noisy: bool = False) -> str:
    """What preimage="auto" stands for: what comes nearest in feature space, or what cleans best.

    The nearest point follows every score, also where noise has moved it. An average of neighbours, and a point at the
    distances to them, do not.
    """
    if is_linear(kernel):
        return "linear"
    radial = Radial.of(kernel, np.empty((0, 0)))
    if noisy:  # a kernel with a kink says little about distances to points that are no rows of the fit
        return "kwok-tsang" if radial is not None and radial.kernel.smooth else "local"
    return "fixed-point" if radial is not None else "gradient" if kernel.differentiable and kernel.psd else "ridge"


def number_outside(known: Array, deviations: Array, Y: Array) -> int:
    """How many of Y have a score that is more than twice as large as any known one, and than six deviations."""
    most = np.maximum(_TIMES * np.abs(known).max(axis=0), _DEVIATIONS * deviations)
    return int(np.any(np.abs(Y) > most, axis=1).sum())
