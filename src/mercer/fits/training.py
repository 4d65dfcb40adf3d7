"""The rows a model learns from: checked, weighted, and without those that do not count."""

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import check_non_negative

from mercer.arrays import Array, is_foreign, to_numpy
from mercer.errors import counted, warn
from mercer.inputs import table, told_where
from mercer.kernels import Kernel
from mercer.kernels.features import FeatureMap
from mercer.sources.held import Given, HeldRows, copies_of

_EXTREME = 1e-290, 1e290  # of weights: beyond them sums, or one over them, are no numbers


@dataclass(frozen=True)
class Training:
    """The rows of positive weight, and the way back to the rows as they were given."""

    items: Any  # Items
    weights: Array | None = None  # None: all count the same
    kept: Array | None = None  # which of the given ones are left; None: all
    given: Any = None  # all of them, if some were left out
    own: bool = True  # whether they are in an array of ours
    scale: Array | None = None  # that their columns were divided by
    notes: tuple[str, ...] = ()  # what a user should be told about them

    @property
    def count(self) -> int:
        """How many rows there are that count."""
        return len(self.items) if self.weights is None else int(np.sum(self.weights > 0))

    @property
    def copies(self) -> int:
        """How many rows there would be if those of weight two came twice; rows of other weights are counted."""
        return self.count if self.weights is None else copies_of(self.weights, self.count)

    @property
    def data(self) -> Any:
        """All that count in one array, for kernels to compare."""
        return self.items.load()

    def kept_data(self, copy: bool) -> Any:
        """The same for a model to keep, in an array that nobody else will change if `copy`."""
        return self.data.copy() if copy and not self.own else self.data

    @property
    def all_items(self) -> Any:
        """The items as they were given."""
        return self.items if self.given is None else self.given

    def learn_features(self, kernel: Kernel) -> FeatureMap | None:
        """The map to exact features, learned once; of items that are not in memory, when they are."""
        known = isinstance(self.items, Given) or not self.items.held
        return None if known else kernel.feature_map(self.data)

    def in_memory(self) -> "Training":
        """The same with all rows in an array, which is read from a file if need be."""
        if self.items.held:
            return self
        if self.weights is None or self.weights.all():
            return replace(self, items=HeldRows(self.items.load()), own=True)
        kept = self.weights > 0
        held = HeldRows(self.items.load(kept))
        return replace(self, items=held, weights=self.weights[kept], kept=kept, given=self.items, own=True)


def _check_weights(sample_weight: Any, n: int) -> Array:
    """One number for each of n rows, none below zero and not all of them zero; in scikit-learn's words."""
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n, sample_weight, dtype=np.float64)
    given = table(to_numpy(sample_weight) if is_foreign(sample_weight) else sample_weight, "sample_weight")
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


def weigh(items: Any, sample_weight: Any) -> Training:
    """Items of weight zero are left out, where they are in memory; of a matrix between items, their columns too."""
    if sample_weight is None:
        return Training(items, own=False)
    weights = _check_weights(sample_weight, len(items))
    kept = weights > 0
    if not items.held or kept.all():
        return Training(items, weights, own=not items.held)
    if isinstance(items, Given) and items.is_operator:
        raise ValueError(
            f"{np.sum(~kept)} of {len(kept)} sample weights are zero, and rows cannot be taken out of a "
            "LinearOperator; give the operator of the items that count."
        )
    return Training(type(items)(items.load(kept)), weights[kept], kept, items)


def per_degree_of_freedom(total_weight: float, n: int) -> float:
    """1/(Σw − 1): weights are counts."""
    if total_weight > 1:
        return 1 / (total_weight - 1)
    if n == 1:
        return 0.0
    warn(
        f"The sample weights sum to {total_weight:.3g}, but weights are counts (2 is the row twice): "
        "explained_variance_ is nan. Scale them up; explained_variance_ratio_ does not depend on their scale."
    )
    return float("nan")
