"""Fitted estimators as those of scikit-learn: helpers of `to_sklearn`."""

from collections.abc import Iterable
from inspect import signature
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

_LINEAR = (
    "components_",
    "explained_variance_",
    "explained_variance_ratio_",
    "singular_values_",
    "noise_variance_",
    "mean_",
    "n_components_",
)


def to_sklearn_pca(model: Any) -> Any:
    """`sklearn.decomposition.PCA` with the attributes of a fitted PCA, after a scaler if it was standardized."""
    from sklearn.decomposition import PCA

    check_is_fitted(model)
    rule = isinstance(model.n_components, str) and model.n_components != "mle"
    solver = "auto" if model.svd_solver in ("qr", "gram", "krylov") else model.svd_solver
    n_components = model.n_components_ if rule else model.n_components
    other = transplant(model, PCA, (*_LINEAR, "n_samples_"), n_components=n_components, svd_solver=solver)
    other._fit_svd_solver = model._fit_svd_solver
    return with_scaler(model, other)


def to_sklearn_incremental_pca(model: Any) -> Any:
    """`sklearn.decomposition.IncrementalPCA` with the attributes of a fitted one."""
    from sklearn.decomposition import IncrementalPCA

    check_is_fitted(model)
    return transplant(model, IncrementalPCA, (*_LINEAR, "var_", "n_samples_seen_", "batch_size_"))


def to_sklearn_factor_analysis(model: Any) -> Any:
    """`sklearn.decomposition.FactorAnalysis` with the attributes of a fitted one; zero noise becomes tiny."""
    from sklearn.decomposition import FactorAnalysis

    check_is_fitted(model)
    other = transplant(model, FactorAnalysis, ("components_", "noise_variance_", "mean_", "loglike_", "n_iter_"))
    other.noise_variance_ = np.maximum(other.noise_variance_, np.finfo(float).tiny)
    return other


def transplant(model: Any, target: type, attributes: Iterable[str], **parameters: Any) -> Any:
    """A scikit-learn estimator with the common parameters of the model and copies of its fitted attributes."""
    known = model.get_params(deep=False)
    common = {name: known[name] for name in signature(target).parameters if name in known}
    other = target(**(common | parameters))
    for name in (*attributes, "n_features_in_", "feature_names_in_"):
        if hasattr(model, name):
            value = getattr(model, name)
            setattr(other, name, value.copy() if isinstance(value, np.ndarray) else value)
    return other


def with_scaler(model: Any, other: Any) -> Any:
    """A pipeline that standardizes first, if the model did; else `other` itself."""
    if not hasattr(model, "scale_"):
        return other
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler(with_mean=False)  # the mean is subtracted in the units of the estimator
    scaler.scale_, scaler.mean_ = np.array(model.scale_, np.float64), None
    scaler.var_, scaler.n_samples_seen_ = scaler.scale_**2, model.n_samples_
    scaler.n_features_in_ = model.n_features_in_
    if hasattr(model, "feature_names_in_"):
        scaler.feature_names_in_ = model.feature_names_in_.copy()
        del other.feature_names_in_
    other.mean_ = np.asarray(other.mean_) / scaler.scale_
    return make_pipeline(scaler, other)
