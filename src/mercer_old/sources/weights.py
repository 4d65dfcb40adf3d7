"""Weights of items, which are counts: 2 is the item twice."""

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import check_non_negative

from mercer_old.arrays import Array, here
from mercer_old.errors import counted
from mercer_old.inputs import table, told_where

_EXTREME = 1e-290, 1e290  # of weights: beyond them sums, or one over them, are no numbers


def check_weights(sample_weight: Any, n: int) -> Array:
    """One number for each of n rows, none below zero and not all of them zero; in scikit-learn's words."""
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n, sample_weight, dtype=np.float64)
    given = table(here(sample_weight), "sample_weight")
    with told_where(given, "sample_weight"):
        weights: Array = check_array(given, ensure_2d=False, dtype=np.float64, order="C", input_name="sample_weight")
    if weights.ndim != 1:
        raise ValueError(
            f"Sample weights must be 1D array or scalar, got {weights.ndim}D array: one number for each of "
            f"{counted(n, 'row')}."
        )
    if weights.shape != (n,):
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(n,)}!")
    if not weights.any():
        raise ValueError("Sample weights must contain at least one non-zero number; no row is left to fit.")
    check_non_negative(weights, "`sample_weight`")
    _refuse_extreme(weights)
    return weights


def _refuse_extreme(weights: Array) -> None:
    """Weights whose sums or roots are no numbers with all their digits."""
    least, most = float(weights[weights > 0].min()), float(weights.max())
    if not _EXTREME[0] < least <= most < _EXTREME[1]:
        raise ValueError(
            f"Sample weights from {least:.3g} to {most:.3g} are too far from 1 to be added up: scale them. (Only "
            "explained_variance_ depends on their scale; 2 is the row twice.)"
        )


def per_degree_of_freedom(total_weight: float, n: int) -> float:
    """1/(Σw − 1): weights are counts."""
    return 1 / (total_weight - 1) if total_weight > 1 else 0.0 if n == 1 else float("nan")


def about_total_weight(total_weight: float, n: int) -> str:
    """What to say of weights that leave no degree of freedom."""
    if total_weight > 1 or n == 1:
        return ""
    return (
        f"The sample weights sum to {total_weight:.3g}, but weights are counts (2 is the row twice): "
        "explained_variance_ is nan. Scale them up; explained_variance_ratio_ does not depend on their scale."
    )


def copies_of(weights: Array, count: int) -> int:
    """How many rows there would be if those of weight two came twice; of weights that are no counts, `count`."""
    return int(weights.sum()) if np.array_equal(weights, np.floor(weights)) and weights.sum() < 2**53 else count
