"""The rows a model learns from: checked, weighted, and without those that do not count."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_sample_weight, validate_data

from mercer.symmetric import Array


@dataclass(frozen=True)
class Training:
    """The rows of positive weight, and the way back to the rows as they were given."""

    rows: Any
    weights: Array | None = None  # None: all count the same
    kept: Array | None = None  # which of the given rows are left; None: all
    given: Any = None  # all of them, if some were left out


def check_rows(model: BaseEstimator, X: Any, *, reset: bool, copy: bool = False, square: bool = False) -> Any:
    """X in a form we compute with, by scikit-learn's rules; a matrix of items may be a scipy LinearOperator."""
    if square and isinstance(X, LinearOperator):
        if reset:
            model.n_features_in_ = X.shape[1]
        elif X.shape[1] != model.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} features, but {type(model).__name__} is expecting {model.n_features_in_} features "
                "as input: one for each training item."
            )
    else:
        X = validate_data(model, X, accept_sparse="csr", copy=copy, reset=reset)
    if reset and square and X.shape[0] != X.shape[1]:
        raise ValueError(f"Precomputed kernel must be a square matrix. Input is a {X.shape[0]}x{X.shape[1]} matrix.")
    return X


def weigh(X: Any, sample_weight: Any, *, square: bool) -> Training:
    """Rows of weight zero are left out; of a square matrix of items, their columns too."""
    if sample_weight is None:
        return Training(X)
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    kept = weights > 0
    if not kept.any():
        raise ValueError("All sample weights are zero, so no row is left to fit.")
    if kept.all():
        return Training(X, weights)
    if isinstance(X, LinearOperator):
        raise ValueError(
            f"{np.sum(~kept)} of {len(kept)} sample weights are zero, and rows cannot be taken out of a "
            "LinearOperator; give the operator of the items that count."
        )
    return Training(X[kept][:, kept] if square else X[kept], weights[kept], kept, X)
