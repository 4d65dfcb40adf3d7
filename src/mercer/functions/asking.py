"""What functions ask of a fitted model: whether it has components, its weights, names of columns, plain scores."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array, Held
from mercer.errors import counted
from mercer.models.kernel_model import KernelModel
from mercer.models.linear import LinearModel

__all__ = ["names_of_columns", "plain_scores", "require_components", "weights_of_fit"]


def require_components(model: Any, what: str) -> None:
    """One sentence for models that are not fitted, or have no component functions."""
    check_is_fitted(model)
    if not isinstance(model, (KernelModel, LinearModel)):
        raise ValueError(
            f"{type(model).__name__} has no component functions: {what} of a fitted PCA or KernelPCA; of a pipeline, "
            "give its last step and the rows as that step sees them."
        )


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
