"""Back to input space: the pre-image learned by kernel ridge regression (Bakır, Weston and Schölkopf)."""

from typing import Any

import numpy as np
from scipy import linalg

from mercer_old.arrays import Array
from mercer_old.operators.tiles import apply, fill_symmetric
from mercer_old.threads import blas_threads_for


def learn_inverse(
    kernel: Any, scores: Array, X: Array, alpha: float, weights: Array | None = None, threads: int = 1
) -> Array:
    """C (n×d) = (K + αW⁻¹)⁻¹X with K the kernel between training scores: X̂ = k(y, scores) C.

    K is filled, factorised and forgotten in one n×n array.
    """
    n = len(scores)
    ridge = np.full(n, float(alpha)) if weights is None else alpha / weights
    K = np.empty((n, n))

    def fill() -> None:
        fill_symmetric(kernel.prepare(scores), K, threads)
        K[np.diag_indices(n)] = kernel.diag(scores) + ridge

    fill()
    try:
        # K is symmetric, so its transpose is the same matrix in the order LAPACK works in without a copy.
        with blas_threads_for(n**3):
            factor = linalg.cho_factor(K.T, lower=True, overwrite_a=True, check_finite=False)
            return linalg.cho_solve(factor, np.asarray(X, dtype=np.float64), check_finite=False)
    except linalg.LinAlgError:
        fill()  # the attempt has used it up
        with blas_threads_for(n**3):
            return linalg.solve(K, np.asarray(X, dtype=np.float64), assume_a="sym", overwrite_a=True)


def apply_inverse(kernel: Any, scores: Array, training_scores: Array, coefficients: Array, threads: int = 1) -> Array:
    """X̂ (m×d) of new scores, by tiles."""
    out = np.empty((len(scores), coefficients.shape[1]))
    tiles = kernel.prepare(scores, training_scores)
    apply(tiles, len(scores), len(training_scores), coefficients, out, threads)
    return out
