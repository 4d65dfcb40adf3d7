"""The kernel matrix in the form a plan names, with words for matrices that are none."""

import warnings
from typing import Any

import numpy as np

from mercer.errors import BadData, MercerWarning
from mercer.kernels import Kernel
from mercer.operators.features import FeatureGram
from mercer.operators.gram import HeldGram
from mercer.operators.held import HeldMatrix
from mercer.solvers.plan import Plan
from mercer.symmetric import Array, SymmetricOperator


def build_matrix(plan: Plan, kernel: Kernel, rows: Any, threads: int) -> SymmetricOperator:
    if plan.held == "features":
        with np.errstate(over="ignore", invalid="ignore"):
            features = FeatureGram(kernel.features(rows))
            refuse_non_finite(features.diag()[:, None], kernel)
        return features
    if plan.held == "given":
        return HeldMatrix(symmetric_part(rows), threads)
    gram = HeldGram(kernel, rows, threads)
    refuse_non_finite(gram.values, kernel)
    return gram


def symmetric_part(K: Any) -> Any:
    """K itself if it is symmetric; else (K + Kᵀ)/2 with a warning that says how far it was from it."""
    difference = abs(K - K.T).max()
    if difference <= 1e-10 * abs(K).max():
        return K.astype(np.float64, copy=False)
    warnings.warn(
        f"The precomputed kernel matrix is not symmetric (entries differ by up to {difference:.3g}); "
        "its symmetric part (K + Kᵀ)/2 is used.",
        MercerWarning,
        stacklevel=6,
    )
    return (K + K.T).astype(np.float64) / 2


def refuse_non_finite(values: Array, kernel: Kernel) -> None:
    """One sentence for a kernel that left the numbers behind."""
    sums = values @ np.ones(values.shape[1])
    if np.isfinite(sums).all():
        return
    bad = np.flatnonzero(~np.isfinite(values).all(axis=1))
    raise BadData(
        f"The kernel {kernel!r} gave values that are not finite, first for row {int(bad[0]) if len(bad) else 0} "
        f"({len(bad)} of {len(values)} rows): an overflow, or a kernel function that returns nan. Scale the data down "
        "(StandardScaler) or check the function with mercer.kernels.check_kernel."
    )
