"""Parts of the fit of kernel PCA: its matrix, its components and its warnings."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.certificates.residual import ResidualCertificate, direction_warnings
from mercer.errors import DataError, MercerWarning, Remedy, warn
from mercer.kernels.base import GammaMixin, Kernel
from mercer.linalg.eigen import Eigenpairs, clean_eigenvalues
from mercer.linalg.gram import Centered, GramMatrix, PrecomputedGram, RecomputedGram, StoredGram
from mercer.numerics.blocking import slices
from mercer.numerics.rounding import UNIT
from mercer.planning.plan import Plan

_FEW_SAMPLES = 20  # below which nothing is said about the scale
_IDENTITY = 0.25  # median off-diagonal row sum up to which a matrix is close to the identity
_CONSTANT = 1e-3  # mean of 1 − k(x, y)/k(x, x) up to which it is close to constant
_SYMMETRIC = 1e-10  # asymmetry of a precomputed matrix that counts as rounding


def build_gram(
    plan: Plan, kernel: Kernel, X: Any, weights: NDArray | None, n_threads: int, progress: Any
) -> GramMatrix:
    """The kernel matrix as the plan says."""
    if plan.route == "precomputed":
        K, asymmetry = symmetric_part(X)
        return PrecomputedGram(K, n_threads, asymmetry)
    if plan.route == "matrix-free":
        return RecomputedGram(kernel, X, n_threads, progress, weights=weights)
    return StoredGram(kernel, X, n_threads, progress)


def symmetric_part(K: NDArray) -> tuple[NDArray, float]:
    """K itself and its asymmetry if that is rounding; else (K + Kᵀ)/2, with a warning."""
    K = K.astype(np.float64, copy=False)
    pieces = slices(len(K), 256)
    difference = max(float(np.abs(K[rows] - K[:, rows].T).max()) for rows in pieces)
    largest = max(float(np.abs(K[rows]).max()) for rows in pieces)
    if difference <= _SYMMETRIC * largest:
        return K, difference
    warn(
        f"The precomputed kernel matrix is not symmetric: entries differ by up to {difference:.3g}. (K + Kᵀ)/2 is used."
    )
    return (K + K.T) / 2, UNIT * largest


def check_precomputed(K: Any, n_expected: int | None = None) -> None:
    """Raise unless the kernel matrix is square."""
    if n_expected is None and K.shape[0] != K.shape[1]:
        raise DataError(f"Precomputed kernel must be a square matrix. Input is a {K.shape[0]}x{K.shape[1]} matrix.")


def find_components(model: Any, A: Centered, plan: Plan, rng: Any) -> Eigenpairs:
    """The leading pairs, without zero eigenvalues if that is wanted."""
    k = A.n if model.n_components is None else min(model.n_components, A.n)
    pairs = plan.solver.solve(A, k, rng)
    if model.eigen_solver == "randomized" and len(pairs.values) and -pairs.lowest > pairs.values[-1]:
        clean_eigenvalues(np.append(pairs.values, pairs.lowest))  # scikit-learn's randomized solver looks at |λ|
    if (model.remove_zero_eig or model.n_components is None) and len(pairs.values):
        pairs = pairs.first(int(np.sum(pairs.values > max(A.floor, 1e-12 * pairs.values[0]))))
    return pairs


def is_indefinite(pairs: Eigenpairs, A: Centered) -> bool:
    """Whether an eigenvalue is negative by more than rounding."""
    return bool(pairs.lowest < -max(1e-5 * float(pairs.values.max(initial=0.0)), 1e-10, A.floor))


def fit_warnings(
    model: Any, A: Centered, kernel: Kernel, pairs: Eigenpairs, certificate: ResidualCertificate
) -> list[MercerWarning]:
    """One warning about the scale of the kernel if there is reason for it, else those about directions."""
    if kernel.decreasing and A.n >= _FEW_SAMPLES and (pairs.values > 0).any():
        scale = _identity_warning(model, A, kernel) or _constant_warning(model, A, kernel)
        if scale is not None:
            return [scale]
    return direction_warnings(certificate)


def _identity_warning(model: Any, A: Centered, kernel: Kernel) -> MercerWarning | None:
    """Of a matrix close to the identity: its components are arbitrary."""
    own = kernel.max_value or 1.0
    weights = 1.0 if A.weights is None else A.weights / A.weights.mean()
    row_sum = float(np.median(A.n * (A.means + A.gram.shift) / own - weights))
    if row_sum >= _IDENTITY:
        return None
    size = f"{row_sum:.2g}" if row_sum > 1e-3 else "below 0.001"
    return MercerWarning(
        f"The kernel matrix is close to the identity (median off-diagonal row sum {size}), so the "
        "components are not meaningful.",
        "meaningless",
        _scale_remedies(model, kernel),
    )


def _constant_warning(model: Any, A: Centered, kernel: Kernel) -> MercerWarning | None:
    """Of a matrix close to constant: its components are those of a linear method."""
    spread = A.trace / A.total_weight / (kernel.max_value or 1.0)
    if spread >= _CONSTANT:
        return None
    return MercerWarning(
        f"The kernel is nearly constant on these data (mean similarity 1 − {spread:.1g}), so the "
        "components are close to those of PCA.",
        "caution",
        _scale_remedies(model, kernel),
    )


def _scale_remedies(model: Any, kernel: Kernel) -> list[Remedy]:
    """What changes the scale of the kernel."""
    if isinstance(kernel, GammaMixin) and model.gamma != "median" and isinstance(model.kernel, str):
        return [Remedy("gamma", "median")]
    return []
