"""Scores of new points from a fitted spectrum: by the kernel against the training rows, or by explicit features."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mercer_old.arrays import Array, Held, Home, Matrix
from mercer_old.blocks import FEATURE_ROWS, THREAD_ROWS, cut, rows_at_a_time
from mercer_old.errors import BadData
from mercer_old.kernels.base import Kernel, is_sparse
from mercer_old.kernels.features import FeatureMap
from mercer_old.operators.centering import Centered
from mercer_old.operators.elsewhere import can_go_to, products_elsewhere
from mercer_old.operators.features import FeatureGram
from mercer_old.operators.gram import Gram
from mercer_old.operators.tiles import apply
from mercer_old.sources.held import width_of
from mercer_old.symmetric import SymmetricOperator
from mercer_old.threads import run

_ROUNDING = 64 * np.finfo(float).eps  # of a sum, beside the sum of its moduli: BLAS has its own order for every batch
_FEW_TRAINING_ROWS = 5000  # training rows up to which preparing the new ones is a part of the work that shows


class Projection(ABC):
    """From new items in memory to numbers, as many for each as there are components."""

    @abstractmethod
    def scores(self, X: Held, threads: int) -> Array:
        """Where they lie along every component."""

    @abstractmethod
    def functions(self, X: Held, threads: int) -> Array:
        """The component functions at these items: the scores before their mean is taken off."""

    @abstractmethod
    def scores_and_lengths(self, X: Held, threads: int) -> tuple[Array, Array]:
        """The scores, and ‖φ(x) − mean‖²: how far x is from the mean in all directions, of which scores are some."""

    @abstractmethod
    def rounding(self, X: Held, threads: int) -> tuple[Array, Array]:
        """How far either may be off, or differ beside other items: of each score (m×k), and of ‖φ(x) − mean‖² (m)."""


@dataclass(frozen=True)
class ByKernel(Projection):
    """y(x) = (k(x, ·) − shift) α − offset, in tiles: no m×n matrix is held.

    The mean of the features is Σ cᵢφ(xᵢ) over the rows, so that ‖φ(x) − mean‖² = k(x, x) − 2k(x, ·)c + ‖mean‖²; a shift
    of k changes no such sum.
    """

    kernel: Kernel
    rows: Held
    alpha: Array
    offset: Array
    shift: float
    mean: Array  # c
    square: float  # ‖mean‖² − shift
    home: Home | None = None  # where the kernel is evaluated, if not here; not kept with a model, as no module can be

    def scores(self, X: Held, threads: int) -> Array:
        return self._products(X, self.alpha, threads) - self.offset

    def functions(self, X: Held, threads: int) -> Array:
        return self._products(X, self.alpha, threads) + self.shift * self.alpha.sum(axis=0)

    def scores_and_lengths(self, X: Held, threads: int) -> tuple[Array, Array]:
        products = self._products(X, np.column_stack([self.alpha, self.mean]), threads)
        own = np.asarray(self.kernel.diag(X), dtype=np.float64) - self.shift
        return products[:, :-1] - self.offset, own - 2 * products[:, -1] + self.square

    def rounding(self, X: Held, threads: int) -> tuple[Array, Array]:
        """By Σ|αᵢ| times how large k(x, xᵢ) − shift is: in the mean, and at most ½(k(x, x) + k(xᵢ, xᵢ)) without one."""
        own, others = (np.abs(np.asarray(self.kernel.diag(items)) - self.shift) for items in (X, self.rows))
        size = own + others.mean() + np.abs(self._products(X, self.mean[:, None], threads)[:, 0])
        of_lengths = size * (1 + 2 * np.abs(self.mean).sum()) + abs(self.square)
        return _ROUNDING * np.multiply.outer(size, np.abs(self.alpha).sum(axis=0)), _ROUNDING * of_lengths

    def _products(self, X: Held, B: Array, threads: int) -> Array:
        if self.home is not None and can_go_to(self.home, self.kernel) and not (is_sparse(X) or is_sparse(self.rows)):
            return products_elsewhere(self.kernel, X, self.rows, self.shift, B, self.home)
        out, fitted = np.empty((X.shape[0], B.shape[1])), self.kernel.compact(self.rows)

        def block(some: slice, threads: int = 1) -> None:
            tiles = self.kernel.prepare(X[some], fitted, shift=self.shift)
            apply(tiles, some.stop - some.start, self.rows.shape[0], B, out[some], threads)

        size = rows_at_a_time(8 * width_of(X))  # prepared rows are copies, so never of all of them
        with np.errstate(over="ignore", invalid="ignore"):
            if (
                self.rows.shape[0] <= _FEW_TRAINING_ROWS
            ):  # preparing takes time then: every thread does it for rows of its own
                run(block, cut(X.shape[0], min(size, 4 * THREAD_ROWS)), threads)
            else:
                for some in cut(X.shape[0], size):
                    block(some, threads)
        return out


@dataclass(frozen=True)
class ByMatrix(Projection):
    """The same when X is already the kernel between new and training items."""

    alpha: Array
    offset: Array

    def scores(self, X: Held, threads: int) -> Array:
        return self.functions(X, threads) - self.offset

    def functions(self, X: Held, threads: int) -> Array:
        return np.asarray(X @ self.alpha)

    def scores_and_lengths(self, X: Held, threads: int) -> tuple[Array, Array]:
        raise BadData(
            "How far items are from the mean takes k(x, x) of each, which a precomputed matrix between them and the "
            "training items does not have: give the kernel as a function."
        )

    def rounding(self, X: Held, threads: int) -> tuple[Array, Array]:
        sizes = np.asarray(abs(X) @ np.abs(self.alpha))
        return _ROUNDING * sizes, np.full(len(sizes), np.nan)


@dataclass(frozen=True)
class ByFeatures(Projection):
    """y(x) = (φ(x) − origin) W − offset with W = Ψᵀα (D×k): no training row is looked at again."""

    map: FeatureMap
    origin: Array
    axes: Array
    offset: Array
    mean: Array  # of the features, from the origin

    def scores(self, X: Held, threads: int) -> Array:
        return self._by_blocks(X, lambda features: self._from_origin(features) - self.offset)

    def functions(self, X: Held, threads: int) -> Array:
        return self._by_blocks(X, lambda features: features @ self.axes)

    def scores_and_lengths(self, X: Held, threads: int) -> tuple[Array, Array]:
        lengths = list[Array]()

        def scores(features: Matrix) -> Array:
            lengths.append(self._lengths(features))
            return self._from_origin(features) - self.offset

        return self._by_blocks(X, scores), np.concatenate(lengths)

    def rounding(self, X: Held, threads: int) -> tuple[Array, Array]:
        """From the origin: ‖φ(x) − origin‖² ≤ 2‖φ(x) − mean‖² + 2‖mean − origin‖²."""
        sizes = 2 * np.abs(self.scores_and_lengths(X, threads)[1]) + 2 * (self.mean @ self.mean)
        return _ROUNDING * np.multiply.outer(np.sqrt(sizes), np.linalg.norm(self.axes, axis=0)), _ROUNDING * sizes

    def _lengths(self, features: Matrix) -> Array:
        mean = self.origin + self.mean
        if isinstance(features, np.ndarray):
            moved = features - mean
            return np.einsum("ij,ij->i", moved, moved)
        own = np.asarray(features.multiply(features).sum(axis=1)).ravel()
        return np.asarray(own - 2 * (features @ mean) + mean @ mean)

    def _from_origin(self, features: Matrix) -> Array:
        if isinstance(features, np.ndarray):  # subtract first: a large mean would cancel afterwards
            return (features - self.origin) @ self.axes
        return np.asarray(features @ self.axes) - self.origin @ self.axes

    def _by_blocks(self, X: Held, values: Callable[[Matrix], Array]) -> Array:
        """Expanded features are wider than rows: only so many at a time."""
        out = np.empty((X.shape[0], self.axes.shape[1]))
        for rows in cut(X.shape[0], FEATURE_ROWS):
            out[rows] = values(self.map.features(X[rows]))
        return out


def as_projection(kernel: Kernel, rows: Held, matrix: Centered, values: Array, vectors: Array) -> Projection:
    """The way from new points to scores that fits how the matrix was held."""
    base = matrix.base
    if isinstance(base, FeatureGram):
        assert base.map is not None
        alpha, offset = matrix.dual(values, vectors)
        sums = base.transposed_times(np.column_stack([alpha, matrix.shares]), moved=True)
        return ByFeatures(base.map, base.origin, sums[:, :-1], offset, sums[:, -1])
    return _by_matrix_or_kernel(isinstance(base, Gram), kernel, rows, matrix, values, vectors)


def _by_matrix_or_kernel(
    by_kernel: bool, kernel: Kernel, rows: Held, matrix: Centered, values: Array, vectors: Array
) -> Projection:
    alpha, offset = matrix.dual(values, vectors)
    if not by_kernel:
        return ByMatrix(alpha, offset)
    return ByKernel(kernel, rows, alpha, offset, matrix.base.shift, matrix.shares, matrix.mean)


@dataclass(frozen=True, eq=False)
class Centring:
    """What is left of a centred matrix that is gone: enough for the scores of new points by any vectors."""

    held: str  # "features", "kernel" or "matrix"
    means: Array  # those of the matrix, shifted as it was
    mean: float
    weights: Array | None
    shift: float = 0.0

    @classmethod
    def of(cls, matrix: Centered) -> "Centring":
        base = matrix.base
        held = "features" if isinstance(base, FeatureGram) else "kernel" if isinstance(base, Gram) else "matrix"
        return cls(held, matrix.means, matrix.mean, matrix.weights, matrix.base.shift)

    def projection(self, kernel: Kernel, rows: Held, values: Array, vectors: Array) -> Projection:
        """As `as_projection` makes it of the matrix."""
        if self.held == "features":
            learned = kernel.feature_map(rows)
            assert learned is not None
            base = FeatureGram(learned.features(rows), learned=learned)
            return as_projection(kernel, rows, self._matrix(base), values, vectors)
        gone = self._matrix(_Gone(len(self.means), self.shift))
        return _by_matrix_or_kernel(self.held == "kernel", kernel, rows, gone, values, vectors)

    def dual(self, values: Array, vectors: Array) -> tuple[Array, Array]:
        """α and αᵀμ, as `Centered.dual` has them."""
        return self._matrix(_Gone(len(self.means))).dual(values, vectors)

    @property
    def shares(self) -> Array:
        """w/Σw, by which the mean of the features is a sum of those of the rows."""
        return self._matrix(_Gone(len(self.means))).shares

    def _matrix(self, base: SymmetricOperator) -> Centered:
        matrix = Centered(base, self.weights)
        matrix.means = self.means
        return matrix


class _Gone(SymmetricOperator):
    """A matrix of which nothing is left but its size."""

    def __init__(self, n: int, shift: float = 0.0) -> None:
        self.n, self.shift = n, shift

    def matmat(self, B: Array) -> Array:
        raise NotImplementedError("The matrix was not kept.")

    def diag(self) -> Array:
        raise NotImplementedError("The matrix was not kept.")
