"""scikit-learn's own objects with what our models have found: for code that needs its classes, or runs without us."""

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator
from sklearn import decomposition, manifold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import KernelCenterer, StandardScaler
from sklearn.utils.validation import check_is_fitted

from mercer_old.arrays import Array, here, to_numpy
from mercer_old.fits.kernel.opening import is_precomputed
from mercer_old.kernels import RBF, Cosine, Kernel, Linear, Polynomial, Precomputed, Sigmoid

__all__ = ["as_sklearn", "centerer_of"]

_THEIR_SOLVERS = {"auto", "full", "covariance_eigh", "arpack", "randomized", "dense"}
_THEIR_KERNELS: dict[Any, str] = {
    Linear: "linear",
    Polynomial: "poly",
    RBF: "rbf",
    Sigmoid: "sigmoid",
    Cosine: "cosine",
    Precomputed: "precomputed",
}
_LINEAR = ["components_", "explained_variance_", "explained_variance_ratio_", "singular_values_", "noise_variance_"]
_LINEAR += ["n_components_", "mean_"]


def as_sklearn(model: Any) -> Any:
    """The fitted object; in a pipeline after a scaler, if columns were divided by their standard deviations."""
    check_is_fitted(model)
    makers = [_MAKERS[kind.__name__] for kind in type(model).__mro__ if kind.__name__ in _MAKERS]
    if not makers:
        raise _no_object(f"like {type(model).__name__}")
    theirs = makers[0](model)
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(model, name):
            setattr(theirs, name, getattr(model, name))
    return theirs if getattr(model, "scale_", None) is None else _after_scaler(model, theirs)


def _parameters(model: Any, theirs: type, **others: Any) -> dict[str, Any]:
    """Those that both have, but for values that scikit-learn does not know."""
    known = signature(theirs.__init__).parameters  # type: ignore[misc]
    params = {name: value for name, value in model.get_params(deep=False).items() if name in known}
    for name in ("svd_solver", "eigen_solver"):
        if params.get(name, "auto") not in _THEIR_SOLVERS:
            params[name] = "auto"
    return params | others


def _set_names(theirs: Any, model: Any, names: list[str]) -> Any:
    for name in names:
        if hasattr(model, name):
            setattr(theirs, name, getattr(model, name))
    return theirs


def _after_scaler(model: Any, theirs: Any) -> Pipeline:
    """x/scale first: the model's rows are divided ones."""
    scaler = StandardScaler(with_mean=False)
    scaler.scale_ = to_numpy(model.scale_).astype(np.float64)
    scaler.var_, scaler.mean_, scaler.n_samples_seen_ = scaler.scale_**2, None, 1
    scaler.n_features_in_ = model.n_features_in_
    if hasattr(theirs, "feature_names_in_"):
        scaler.feature_names_in_ = theirs.feature_names_in_
        del theirs.feature_names_in_
    for name in ("mean_", "dual_coef_"):  # of rows in their own units
        if hasattr(theirs, name):
            setattr(theirs, name, to_numpy(getattr(theirs, name)) / scaler.scale_)
    return make_pipeline(scaler, theirs)


# ---------------------------------------------------------------------- one for each model


def _pca(model: Any) -> Any:
    asked = model.n_components
    known = asked if asked is None or asked == "mle" or not isinstance(asked, str) else int(model.n_components_)
    theirs = decomposition.PCA(**_parameters(model, decomposition.PCA, n_components=known))
    theirs._fit_svd_solver = getattr(model, "_fit_svd_solver", "full")
    return _set_names(theirs, model, [*_LINEAR, "n_samples_"])


def _incremental_pca(model: Any) -> Any:
    theirs = decomposition.IncrementalPCA(**_parameters(model, decomposition.IncrementalPCA))
    return _set_names(theirs, model, [*_LINEAR, "var_", "n_samples_seen_", "batch_size_"])


def _probabilistic_pca(model: Any) -> Any:
    raise _no_object("of probabilistic PCA: its PCA has a likelihood, and scores that are not posterior means")


def _kernel_pca(model: Any) -> Any:
    """With weights, its ``eigenvectors_`` are √w times ours: so its formula for new rows gives our scores."""
    theirs = decomposition.KernelPCA(**_parameters(model, decomposition.KernelPCA, **_their_kernel(model)))
    centring = _centring_of(model)
    if is_precomputed(model) and (isinstance(model.X_fit_, LinearOperator) or model._kept_items is not None):
        raise _no_object("of a LinearOperator, or of a kernel matrix with weights of zero")
    for name in ("eigenvalues_", "gamma_", "X_fit_", "dual_coef_", "X_transformed_fit_"):
        if hasattr(model, name):  # as arrays of numpy: its kernel PCA takes no others
            setattr(theirs, name, here(getattr(model, name)))
    values, vectors = to_numpy(model.eigenvalues_), to_numpy(model.eigenvectors_)
    if centring.weights is not None:
        vectors = centring.dual(values, vectors)[0] * np.sqrt(values)
    theirs.eigenvectors_, theirs._centerer = vectors, centerer_of(model)
    return theirs


def _their_kernel(model: Any) -> dict[str, Any]:
    """The parameters by which scikit-learn knows the kernel."""
    number = {"n_components": model.eigenvalues_.shape[0]} if isinstance(model.n_components, (float, str)) else {}
    if callable(model.kernel) and not isinstance(model.kernel, Kernel):
        return number
    name, kernel = _THEIR_KERNELS.get(type(model.kernel_)), model.kernel_
    if name is None:
        raise _no_object(f"with the kernel {kernel!r}: its kernels are {', '.join(sorted(_THEIR_KERNELS.values()))}")
    gamma = {} if name in ("linear", "cosine", "precomputed") else {"gamma": float(model.gamma_)}
    others = {name: getattr(kernel, name) for name in ("degree", "coef0") if hasattr(kernel, name)}
    return number | {"kernel": name} | gamma | others


def _locally_linear(model: Any) -> Any:
    """Its transform is ours but for rows that equal a training row, which keep their places here alone."""
    hoods = model._hoods
    if model.metric != "euclidean" or hoods.space.is_sparse:
        raise _no_object(
            f"of sparse rows, or with metric={model.metric!r}: it takes dense rows and Euclidean distances"
        )
    if "landmark_indices_" in vars(model):
        raise _no_object("by landmarks: its embedding has all rows, or none of those that were placed")
    if model._apart is not None:
        raise _no_object("of parts that were embedded one by one: it would mix them")
    if hoods.copies is not None:
        raise _no_object("of rows that are given more often than they have neighbours: it would take each for its own")
    known = _parameters(model, manifold.LocallyLinearEmbedding, n_neighbors=model.n_neighbors_)
    theirs = manifold.LocallyLinearEmbedding(**known)
    theirs._n_features_out = model.embedding_.shape[1]
    return _set_names(theirs, model, ["embedding_", "reconstruction_error_", "nbrs_"])


def _factor_analysis(model: Any) -> Any:
    """It has no formula for columns that do not vary: they get a noise of their own there, as large as another's."""
    theirs = decomposition.FactorAnalysis(**_parameters(model, decomposition.FactorAnalysis))
    _set_names(theirs, model, ["components_", "mean_", "loglike_", "n_iter_"])
    noise = model.noise_variance_
    theirs.noise_variance_ = np.where(noise > 0, noise, noise.max(initial=0.0) or 1.0)
    return theirs


_MAKERS: dict[str, Callable[[Any], Any]] = {
    "PCA": _pca,
    "IncrementalPCA": _incremental_pca,
    "ProbabilisticPCA": _probabilistic_pca,
    "KernelPCA": _kernel_pca,
    "LocallyLinearEmbedding": _locally_linear,
    "FactorAnalysis": _factor_analysis,
}


def _no_object(of_what: str) -> ValueError:
    return ValueError(f"scikit-learn has no model {of_what}.")


# ---------------------------------------------------------------------- the centring of a kernel


def _centring_of(model: Any) -> Any:
    centring = model._projection.centring
    if centring is None:
        raise _no_object('by landmarks; eigen_solver="krylov" or "dense" finds one that it has')
    return centring


def centerer_of(model: Any) -> KernelCenterer:
    """scikit-learn's, with the means of the kernel matrix of the training rows."""
    check_is_fitted(model)
    means, mean = _true_means(model)
    centerer = KernelCenterer()
    centerer.K_fit_rows_, centerer.K_fit_all_, centerer.n_features_in_ = means, mean, len(means)
    return centerer


def _true_means(model: Any) -> tuple[Array, float]:
    """μ = Kw/Σw and m = wᵀμ/Σw; a fit knows those of a matrix that was shifted, or of features moved to their mean."""
    centring = _centring_of(model)
    if centring.held != "features":
        return centring.means + centring.shift, centring.mean + centring.shift
    features = model.kernel_.features(here(model.X_fit_))
    weights = np.ones(features.shape[0]) if centring.weights is None else centring.weights
    centre = features.T @ weights / weights.sum()
    return features @ centre, float(centre @ centre)
