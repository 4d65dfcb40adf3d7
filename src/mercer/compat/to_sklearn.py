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


def to_sklearn_kernel_pca(model: Any) -> Any:
    """`sklearn.decomposition.KernelPCA` with the attributes of a fitted one, after a scaler if it was standardized.

    With weights its ``eigenvectors_`` are √w times those of the model, so that its formula gives the same scores.
    """
    from scipy.sparse.linalg import LinearOperator
    from sklearn.decomposition import KernelPCA

    check_is_fitted(model)
    name = type(model.kernel_).__name__
    function = callable(model.kernel) and not hasattr(model.kernel, "with_params")
    if name not in _KERNELS and not function:
        raise ValueError(f"scikit-learn has no kernel {model.kernel_!r}. It has {', '.join(_KERNELS.values())}.")
    if isinstance(model.X_fit_, LinearOperator) or getattr(model, "_kept", None) is not None:
        raise ValueError("scikit-learn has no model of a LinearOperator, or of a kernel matrix with weights of zero.")
    centerer = kernel_centerer(model)
    parameters: dict[str, Any] = {"eigen_solver": "auto"}
    if model.eigen_solver in ("dense", "arpack", "randomized"):
        parameters["eigen_solver"] = model.eigen_solver
    if isinstance(model.n_components, (float, str)):
        parameters["n_components"] = model.n_components_
    if not function:
        gamma = {"gamma": float(model.gamma_)} if hasattr(model.kernel_, "gamma") else {"gamma": None}
        others = {
            other: getattr(model.kernel_, other) for other in ("degree", "coef0") if hasattr(model.kernel_, other)
        }
        parameters |= {"kernel": _KERNELS[name], **gamma, **others}
    names = ("eigenvalues_", "gamma_", "X_fit_", "dual_coef_", "X_transformed_fit_")
    other = transplant(model, KernelPCA, names, **parameters)
    vectors = np.asarray(model.eigenvectors_)
    if model._centering.weights is not None:
        vectors = model._centering.dual(model.eigenvalues_, vectors)[0] * np.sqrt(model.eigenvalues_)
    other.eigenvectors_, other._centerer = vectors, centerer
    return with_scaler(model, other)


_KERNELS = {
    "Linear": "linear",
    "Polynomial": "poly",
    "RBF": "rbf",
    "Sigmoid": "sigmoid",
    "Cosine": "cosine",
    "Precomputed": "precomputed",
}


def kernel_centerer(model: Any) -> Any:
    """scikit-learn's `KernelCenterer` with the means of the kernel matrix of the fit."""
    from sklearn.preprocessing import KernelCenterer

    check_is_fitted(model)
    centering = model._centering
    if centering.by_features:
        features = model.kernel_.feature_map(model.X_fit_).transform(model.X_fit_)
        center = features.T @ centering.shares
        means, mean = np.asarray(features @ center), float(center @ center)
    else:
        means, mean = centering.means + centering.shift, centering.mean + centering.shift
    if centering.origin is not None and not centering.by_features:
        origin = centering.origin[None]
        across, own = model.kernel_(model.X_fit_, origin)[:, 0], float(model.kernel_(origin, origin)[0, 0])
        means = means + across + (centering.shares @ across - own)
        mean += float(2 * (centering.shares @ across) - own)
    centerer = KernelCenterer()
    centerer.K_fit_rows_, centerer.K_fit_all_, centerer.n_features_in_ = means, mean, len(means)
    return centerer


def to_sklearn_lle(model: Any) -> Any:
    """`sklearn.manifold.LocallyLinearEmbedding` with the attributes of a fitted one, after a scaler if standardized."""
    from sklearn.manifold import LocallyLinearEmbedding

    attributes = "embedding_", "reconstruction_error_", "nbrs_"
    other = transplant(model, LocallyLinearEmbedding, attributes, n_neighbors=model.n_neighbors_)
    other._n_features_out = model.embedding_.shape[1]
    return with_scaler(model, other)


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
    for name in ("mean_", "dual_coef_"):  # in the units of X
        if hasattr(other, name):
            setattr(other, name, np.asarray(getattr(other, name)) / scaler.scale_)
    return make_pipeline(scaler, other)
