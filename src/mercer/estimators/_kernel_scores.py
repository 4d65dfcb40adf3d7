"""Scores of samples by a fitted kernel PCA."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.base import Kernel
from mercer.linalg.gram import Centering, multiply_rows

_SMALL = 250_000  # entries of k(X, X_fit_) that are evaluated in one call


class KernelScores:
    """y(x) = k(x, ·)α − αᵀμ. ``kernel=None``: X is the kernel between new and training samples."""

    def __init__(
        self,
        kernel: Kernel | None,
        samples: Any,
        centering: Centering,
        eigenvalues: NDArray,
        eigenvectors: NDArray,
    ) -> None:
        self.kernel, self.samples, self.centering = kernel, samples, centering
        self.alpha, self.offset = centering.dual(eigenvalues, eigenvectors)

    def scores(self, X: Any, n_threads: int = 1) -> NDArray:
        """Scores, with the mean of the training samples removed."""
        return self._products(X, self.alpha, n_threads) - self.offset

    def functions(self, X: Any, n_threads: int = 1) -> NDArray:
        """Σᵢαᵢk(x, xᵢ), without centering."""
        return self._products(X, self.alpha, n_threads) + self.centering.shift * self.alpha.sum(axis=0)

    def scores_and_norms(self, X: Any, n_threads: int = 1) -> tuple[NDArray, NDArray]:
        """Scores, and squared distances from the mean in the feature space."""
        shares, shift = self.centering.shares, self.centering.shift
        products = self._products(X, np.column_stack([self.alpha, shares]), n_threads)
        own = np.asarray(self.kernel.diag(X), dtype=np.float64) - shift  # type: ignore[union-attr]
        return products[:, :-1] - self.offset, own - 2 * products[:, -1] + self.centering.mean

    def _products(self, X: Any, B: NDArray, n_threads: int) -> NDArray:
        if self.kernel is None:
            return np.asarray(X @ B, dtype=np.float64)
        prepared = self.kernel.prepare(self.samples, shift=self.centering.shift).against(X)
        if prepared.shape[0] * prepared.shape[1] > _SMALL:
            return multiply_rows(prepared, B, n_threads)
        tile = np.empty(prepared.shape)
        prepared.fill(slice(None), slice(None), tile)
        return tile @ B
