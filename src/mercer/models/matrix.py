"""The kernel matrix in the form a plan names, with words for matrices that are none."""

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from mercer.errors import BadData, MercerWarning
from mercer.kernels import Kernel
from mercer.operators.centering import Centered
from mercer.operators.features import FeatureGram
from mercer.operators.gram import HeldGram
from mercer.operators.held import BlackBox, HeldMatrix
from mercer.operators.tiles import TILE, cut
from mercer.solvers.plan import Plan
from mercer.symmetric import Array, SymmetricOperator


def build_matrix(plan: Plan, kernel: Kernel, rows: Any, weights: Array | None, threads: int) -> Centered:
    """The centred kernel matrix of the rows, held as the plan says."""
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is told in words
        matrix = Centered(_hold(plan, kernel, rows, threads), weights)
        refuse_non_finite(matrix.means, kernel)
    return matrix


def _hold(plan: Plan, kernel: Kernel, rows: Any, threads: int) -> SymmetricOperator:
    if plan.held == "features":
        return FeatureGram(kernel.features(rows), threads)
    if plan.held == "given" and isinstance(rows, LinearOperator):
        return BlackBox(rows)
    if plan.held == "given":
        return HeldMatrix(symmetric_part(rows), threads)
    return HeldGram(kernel, rows, threads)


def symmetric_part(K: Any) -> Any:
    """K itself if it is symmetric; else (K + Kᵀ)/2 with a warning that says how far it was from it."""
    K = K.astype(np.float64, copy=False)
    pieces = [slice(None)] if sparse.issparse(K) else cut(K.shape[0], TILE)  # by tiles: no second matrix is made
    difference = max(float(abs(K[rows] - K[:, rows].T).max()) for rows in pieces)
    if difference <= 1e-10 * max(float(abs(K[rows]).max()) for rows in pieces):
        return K
    warnings.warn(
        f"The precomputed kernel matrix is not symmetric (entries differ by up to {difference:.3g}); "
        "its symmetric part (K + Kᵀ)/2 is used.",
        MercerWarning,
        stacklevel=6,
    )
    return (K + K.T) / 2


def refuse_non_finite(values: Array, kernel: Kernel) -> None:
    """One sentence for a kernel that left the numbers behind: values (n, …) of so many rows."""
    bad = np.flatnonzero(~np.isfinite(values).reshape(len(values), -1).all(axis=1))
    if not len(bad):
        return
    raise BadData(
        f"The kernel {kernel!r} gave values that are not finite, first for row {bad[0]} "
        f"({len(bad)} of {len(values)} rows): an overflow, or a kernel function that returns nan. Scale the data down "
        "(StandardScaler) or check the function with mercer.kernels.check_kernel."
    )
