"""Helpers of analyses that read a fitted model through `mercer.contract`."""

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from mercer.analysis.monitoring import measure_rows, split_variance
from mercer.contract import FittedModel
from mercer.data.dataset import Dataset
from mercer.errors import ParameterError


def fitted_model(model: Any, needs: str = "") -> FittedModel:
    """The model itself, that of a detector, or the last step of a pipeline.

    Rows that are analyzed must be those that this model was fitted to. `needs` names a method of the contract that
    must not return None.
    """
    if hasattr(model, "steps"):
        model = model.steps[-1][1]
    check_is_fitted(model)
    model = getattr(model, "estimator_", model)
    if not hasattr(model, "model_key") or (needs and getattr(model, needs)() is None):
        what = {"spectrum": "eigenvalues", "linear_map": "loadings", "expansion": "component functions"}
        missing = f"has no {what.get(needs, needs)}" if needs and hasattr(model, "model_key") else "is not supported"
        message = f"{type(model).__name__} {missing}. Use a fitted PCA, ProbabilisticPCA or KernelPCA."
        raise ParameterError("model", model, "a fitted PCA, ProbabilisticPCA or KernelPCA", message=message)
    return cast(FittedModel, model)


def complete_rows(model: FittedModel, rows: Any) -> Any:
    """The rows; where values are missing and the model accepts that, with their expectation."""
    if not model.accepts_missing or not np.isnan(rows).any():
        return rows
    return cast(Any, model).impute(rows)


def distances(model: FittedModel, X: Any) -> tuple[NDArray, NDArray | None]:
    """T² and Q of the rows of X."""
    data, split = model.open(X), split_variance(model)
    found = list(data.map_blocks(lambda rows: measure_rows(model, split, rows), size=measured_rows(model, data)))
    t2 = np.concatenate([block.t2 for block in found])
    return t2, None if found[0].q is None else np.concatenate([cast(NDArray, block.q) for block in found])


def measured_rows(model: FittedModel, data: Dataset) -> int:
    """Rows that are projected at once, so that what they are compared with fits into memory."""
    training = model.training_set()
    n_compared = 0 if training is None else training.samples.shape[0]
    return int(min(max(4_000_000 // max(data.shape[1], n_compared, 1), 64), 4096))
