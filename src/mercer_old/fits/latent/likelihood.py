"""The probability of rows whose columns are independent draws of one Gaussian process over latent places.

Y (n×d) given places T (n×q, in units of the kernel's length): every column is N(0, K), K = s·k(T, T) + vI, so that

    −log p(Y | T) = (d/2)·log|K| + ½·tr(K⁻¹YYᵀ) + (nd/2)·log 2π,
    G = ∂/∂K = ½(d·K⁻¹ − K⁻¹YYᵀK⁻¹)

(Lawrence 2005). All else is the chain rule: ∂/∂T = 2s·Σ G·∂k, by the kernel's own slopes. With k(x, y) = xᵀy the best
places are the leading eigenvectors of YYᵀ: probabilistic PCA, with rows and columns exchanged.
"""

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from mercer_old.arrays import Array
from mercer_old.kernels.base import Kernel
from mercer_old.threads import blas_threads_for

LOG_2_PI = float(np.log(2 * np.pi))


@dataclass(frozen=True)
class Gradient:
    """A value, and how it changes."""

    value: float
    places: Array  # n×q
    landmarks: Array  # r×q, and none of an exact likelihood
    log_signal: float
    log_noise: float


class Exact:
    """−log p(Y | T), in O(n³)."""

    def __init__(self, Y: Array, columns: int, kernel: Kernel) -> None:
        self.Y, self.d, self.kernel = Y, columns, kernel

    def __call__(self, T: Array, signal: float, noise: float) -> Gradient:
        n = len(T)
        K = signal * self.kernel.block(T, T)
        lower, weights = self._solved(K, noise)
        value = self.d * np.log(np.diag(lower)).sum() + 0.5 * np.sum(weights * self.Y) + 0.5 * n * self.d * LOG_2_PI
        G = _inverse(lower)
        G *= 0.5 * self.d
        G -= 0.5 * (weights @ weights.T)
        pulled = 2 * signal * self.kernel.pull(T, T, G)
        return Gradient(
            float(value), pulled, np.zeros((0, T.shape[1])), float(np.vdot(G, K)), noise * float(np.trace(G))
        )

    def value(self, T: Array, signal: float, noise: float) -> float:
        """Without its gradient: a third of the work."""
        lower, weights = self._solved(signal * self.kernel.block(T, T), noise)
        logs = np.log(np.diag(lower)).sum()
        return float(self.d * logs + 0.5 * np.sum(weights * self.Y) + 0.5 * len(T) * self.d * LOG_2_PI)

    def _solved(self, K: Array, noise: float) -> tuple[Array, Array]:
        """The Cholesky factor of K + noise·I, and its inverse times Y."""
        with blas_threads_for(len(K) ** 3):
            lower = cholesky(with_diagonal(K, noise))
        return lower, linalg.cho_solve((lower, True), self.Y, check_finite=False)


def with_diagonal(K: Array, more: float) -> Array:
    """K + more·I, in an array of its own."""
    K = np.array(K, dtype=np.float64)
    K.flat[:: len(K) + 1] += more
    return K


def cholesky(K: Array) -> Array:
    """The lower factor, with no more on the diagonal than it takes: K is used up."""
    size = float(np.abs(K.diagonal()).max(initial=0.0))
    for more in (0.0, 1e-12, 1e-10, 1e-8, 1e-6):
        try:
            return np.asarray(linalg.cholesky(with_diagonal(K, more * size), lower=True, check_finite=False))
        except linalg.LinAlgError:
            continue
    raise linalg.LinAlgError("The kernel matrix of the places is not positive definite.")


def _inverse(lower: Array) -> Array:
    """(LLᵀ)⁻¹ by LAPACK's potri, which takes a third of what solving for all columns does."""
    with blas_threads_for(len(lower) ** 3):
        inverse, _ = linalg.lapack.dpotri(lower, lower=1)
    inverse = np.tril(inverse)
    inverse += np.tril(inverse, -1).T
    return inverse
