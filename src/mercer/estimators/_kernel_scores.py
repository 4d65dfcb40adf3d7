"""Scores of samples by a fitted kernel PCA: by the kernel, by exact features or by a given matrix."""

from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mercer.errors import DataError
from mercer.kernels.base import Kernel
from mercer.linalg.gram import Centering
from mercer.linalg.tiles import multiply_rows
from mercer.numerics.blocking import block_rows, slices
from mercer.numerics.threads import parallel, threads_for
from mercer.storable import storable

if TYPE_CHECKING:
    from mercer.linalg.feature_gram import FeatureGram

_SMALL = 250_000  # entries of k(X, X_fit_) that are evaluated in one call
_ROUNDING = 64 * float(np.finfo(float).eps)  # of a sum, relative to the sum of moduli
_FEATURE_ROWS = 2048  # samples whose features are computed at once


@storable
@dataclass(frozen=True, eq=False)
class LandmarkCentering:
    """What `transform` needs of a fit by landmarks S: scores are k(x, S)·alpha − offset, the mean is Σ sharesₛφ(s).

    `samples` are S as the kernel compares them, and `kernel` may have another origin than that of the model.
    """

    kernel: Kernel
    samples: Any
    alpha: NDArray
    offset: NDArray
    shares: NDArray
    mean: float  # squared length of the mean, as of `Centering`
    total_weight: float
    shift: ClassVar[float] = 0.0
    origin: ClassVar[None] = None  # `kernel` has it already
    by_features: ClassVar[bool] = False
    weights: ClassVar[None] = None


class KernelScores:
    """y(x) = k(x, ·)α − αᵀμ.

    Parameters
    ----------
    kernel : Kernel or None
        The kernel of the fit, which is moved to the origin of `centering` if that has one. None: X is the kernel
        between new and training samples.
    samples : array, CSR array or Table
        The training samples.
    centering : Centering
        Means and weights of the fit.
    eigenvalues, eigenvectors : ndarray of shape (k,) and (n, k)
        The components.
    features : FeatureGram or None
        Exact features of the training samples, if the fit used them.
    """

    def __init__(
        self,
        kernel: Kernel | None,
        samples: Any,
        centering: Centering,
        eigenvalues: NDArray,
        eigenvectors: NDArray,
        features: "FeatureGram | None" = None,
    ) -> None:
        if eigenvectors.shape != (len(centering.means), len(eigenvalues)):
            raise DataError(
                f"eigenvectors_ has shape {eigenvectors.shape}, but there are {len(centering.means)} training samples "
                f"and {len(eigenvalues)} eigenvalues_. Set both attributes."
            )
        self.samples, self.features = samples, features
        self.centering: Centering | LandmarkCentering = centering
        self.kernel, self._plain_kernel = kernel, kernel
        if kernel is not None and centering.origin is not None:
            self.kernel = kernel.with_origin(centering.origin)
        self.alpha, self.offset = centering.dual(eigenvalues, eigenvectors)

    @classmethod
    def from_landmarks(cls, centering: LandmarkCentering, kernel: Kernel) -> Self:
        """Scores by landmarks."""
        made = cls.__new__(cls)
        made.kernel = made._plain_kernel = kernel
        made.samples, made.centering, made.features = centering.samples, centering, None
        made.alpha, made.offset = centering.alpha, centering.offset
        return made

    def with_coefficients(self, alpha: NDArray, offset: NDArray) -> Self:
        """Other functions of the same samples."""
        made = copy(self)
        made.alpha, made.offset = alpha, offset
        return made

    def scores(self, X: Any, n_threads: int = 1) -> NDArray:
        """Scores, with the mean of the training samples removed."""
        if self.features is not None:
            return self._by_features(X, self._axes, n_threads) - self.offset
        return self._products(X, self.alpha, n_threads) - self.offset

    def functions(self, X: Any, n_threads: int = 1) -> NDArray:
        """Σᵢαᵢk(x, xᵢ), without centering."""
        if self.features is not None:
            return self._by_features(X, self._axes, n_threads) + self.features.origin @ self._axes + self._moved_by
        return self._products(X, self.alpha, n_threads) + self.centering.shift * self.alpha.sum(axis=0) + self._moved_by

    @property
    def _moved_by(self) -> NDArray | float:
        """Σᵢαᵢk(xᵢ, origin): what the functions of the moved kernel lack, as Σαᵢ = 0."""
        if self._plain_kernel is None or self.centering.origin is None:
            return 0.0
        return self._plain_kernel(self.centering.origin[None], self.samples)[0] @ self.alpha

    def scores_and_norms(self, X: Any, n_threads: int = 1) -> tuple[NDArray, NDArray]:
        """Scores, and squared distances from the mean in the feature space."""
        if self.kernel is None:
            raise DataError(
                "Distances need k(x, x), which a precomputed kernel matrix does not have. Pass samples and a kernel."
            )
        shares, shift = self.centering.shares, self.centering.shift
        if self.features is not None:
            return self.scores(X, n_threads), self._feature_norms(X)
        products = self._products(X, np.column_stack([self.alpha, shares]), n_threads)
        own = np.asarray(self.kernel.diag(X), dtype=np.float64) - shift
        return products[:, :-1] - self.offset, own - 2 * products[:, -1] + self.centering.mean

    def rounding(self, X: Any, n_threads: int = 1) -> tuple[NDArray, NDArray]:
        """Bounds on the errors of scores and squared distances: sums in another order differ by as much.

        |k(x, xᵢ) − shift| counts as ½(k(x, x) + k(xᵢ, xᵢ)) in the mean; by features, ‖φ(x) − origin‖² as twice the
        squared distances from and to the mean, and what cancels in φ(x).
        """
        assert self.kernel is not None
        if self.features is not None:
            sizes = 2 * np.abs(self._feature_norms(X)) + 2 * float(self._mean_feature @ self._mean_feature)
            sizes += self.features.feature_map.cancelled_squares(X)
            lengths = np.sqrt(np.einsum("ij,ij->j", self._axes, self._axes))
            return _ROUNDING * np.multiply.outer(np.sqrt(sizes), lengths), _ROUNDING * sizes
        shares, shift = self.centering.shares, self.centering.shift
        own = np.abs(np.asarray(self.kernel.diag(X)) - shift)
        others = np.abs(np.asarray(self.kernel.diag(self.samples)) - shift)
        sizes = own + others.mean() + np.abs(self._products(X, shares[:, None], n_threads)[:, 0])
        scores_error = _ROUNDING * np.multiply.outer(sizes, np.abs(self.alpha).sum(axis=0))
        return scores_error, _ROUNDING * (3 * sizes + abs(self.centering.mean))

    # ------------------------------------------------------------------ by the kernel

    @cached_property
    def _prepared(self) -> Any:
        assert self.kernel is not None
        return self.kernel.prepare(self.samples, shift=self.centering.shift)

    def _products(self, X: Any, B: NDArray, n_threads: int) -> NDArray:
        if self.kernel is None:
            return np.asarray(X @ B, dtype=np.float64)
        m, n = X.shape[0], self.samples.shape[0]
        with np.errstate(over="ignore", invalid="ignore"):
            if m * n <= _SMALL:
                tile = np.empty((m, n))
                self._prepared.against(X).fill(slice(None), slice(None), tile)
                return tile @ B
            out = np.empty((m, B.shape[1]))
            for rows in slices(m, block_rows(X.shape[1] if len(X.shape) == 2 else 1)):  # prepared rows are copies
                out[rows] = multiply_rows(self._prepared.against(X[rows]), B, n_threads)
        return out

    # ------------------------------------------------------------------ by features

    @cached_property
    def _axes(self) -> NDArray:
        """Ψᵀα: scores are (φ(x) − origin)·axes − offset."""
        assert self.features is not None
        return self.features.transposed_times(self.alpha)

    @cached_property
    def _mean_feature(self) -> NDArray:
        """The mean of the training features, from the origin."""
        assert self.features is not None
        return self.features.transposed_times(self.centering.shares[:, None])[:, 0]

    def _by_features(self, X: Any, axes: NDArray, n_threads: int) -> NDArray:
        """(φ(x) − origin)·axes. A large mean would cancel afterwards, so it is subtracted first from dense features."""
        assert self.features is not None
        features, out = self.features, np.empty((X.shape[0], axes.shape[1]))

        def multiply(rows: slice) -> None:
            block = features.feature_map.transform(X[rows])
            out[rows] = block @ axes if sparse.issparse(block) else np.subtract(block, features.origin) @ axes

        parallel(multiply, slices(len(out), _FEATURE_ROWS), threads_for(out.size * features.width, n_threads))
        return out

    def _feature_norms(self, X: Any) -> NDArray:
        """‖φ(x) − mean‖²."""
        assert self.features is not None
        mean, norms = self.features.origin + self._mean_feature, np.empty(X.shape[0])
        for rows in slices(len(norms), _FEATURE_ROWS):
            block = self.features.feature_map.transform(X[rows])
            if sparse.issparse(block):
                squares = np.asarray(block.multiply(block).sum(axis=1)).ravel()
                norms[rows] = squares - 2 * (block @ mean) + mean @ mean
            else:
                moved = block - mean
                norms[rows] = np.einsum("ij,ij->i", moved, moved)
        return norms
