"""What functions ask of a fitted model: whether it has components, its weights, names of columns, plain scores."""

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer_old.arrays import Array, Held
from mercer_old.errors import counted, in_short
from mercer_old.fits.gaps.columns import any_gaps
from mercer_old.models.kernel_model import KernelModel
from mercer_old.models.linear import LinearModel
from mercer_old.models.with_gaps import FillsGaps
from mercer_old.sources.held import HeldRows
from mercer_old.sources.items import Items

__all__ = ["complete_items", "names_of_columns", "plain_scores", "require_components", "seed_of", "weights_of_fit"]


def require_components(model: Any, what: str) -> None:
    """One sentence for models that are not fitted, or have no component functions."""
    check_is_fitted(model)
    if not isinstance(model, (KernelModel, LinearModel)):
        raise ValueError(
            f"{type(model).__name__} has no component functions: {what} of a fitted PCA or KernelPCA; of a pipeline, "
            "give its last step and the rows as that step sees them."
        )


def complete_items(model: KernelModel | LinearModel, X: Any) -> Items:
    """New items of a model; where numbers are missing and it knows of gaps, with what it says of them."""
    items = model._new_items(X)
    if not isinstance(model, FillsGaps) or not any_gaps(items):
        return items
    return HeldRows(model.impute(items)).named_as(items)


def names_of_columns(model: Any, d: int, given: Any, others: list[str] | None = None) -> list[str]:
    """Those given, those of columns that are not those of X, those that the model knows, or x0, x1, …"""
    names = given if given is not None else others
    names = getattr(model, "feature_names_in_", None) if names is None else names
    names = [f"x{j}" for j in range(d)] if names is None else [str(name) for name in names]
    if len(names) != d:
        raise ValueError(f"feature_names has {counted(len(names), 'name')}, but there are {counted(d, 'column')}.")
    return names


def plain_scores(model: KernelModel | LinearModel, rows: Held) -> Array:
    """As the component functions say, in double precision: not whitened."""
    threads = model._limits().threads
    linear = isinstance(model, LinearModel)
    scores = model._projected(rows, threads, False) if linear else model._scores(rows, threads)
    return np.asarray(scores, dtype=np.float64)


def weights_of_fit(model: Any) -> Array | None:
    """Of the rows that a fit of kernel PCA has kept."""
    centring = model._projection.centring
    weights: Array | None = None if centring is None else centring.weights
    return weights


def seed_of(random_state: Any) -> int:
    """A whole number from what scikit-learn calls a random state; None is a fixed one, so that runs repeat."""
    if random_state is None:
        return 0
    if isinstance(random_state, Integral) and not isinstance(random_state, bool) and int(random_state) >= 0:
        return int(random_state)
    draw = getattr(random_state, "randint", None) or getattr(random_state, "integers", None)
    if draw is None:
        raise ValueError(
            "random_state must be a whole number from 0 on, a numpy Generator or RandomState, or None; got "
            f"{in_short(random_state)}."
        )
    return int(draw(2**31 - 1))
