"""KernelPCA: the kernel, the items that new ones are compared with, and what components are made of."""

from typing import Any

import numpy as np

from mercer_old.arrays import Array
from mercer_old.drop_in.current import Current
from mercer_old.fits.kernel.opening import is_precomputed
from mercer_old.models.kernel_pca import KernelPCA
from mercer_old.operators.projection import ByFeatures, ByKernel, Centring
from mercer_old.store.facts import count, integers, items, kernel, number, numbers, scales, truths, word
from mercer_old.store.reasons import Unusable
from mercer_old.store.schemas.base import DTYPES, Facts, Schema, dtype_named, has_all, set_fitted, taken

__all__ = ["KERNEL_PCA"]

_FITTED = (
    kernel("kernel"),
    number("gamma"),
    count("n_features_in"),
    numbers("eigenvalues", "k"),
    numbers("eigenvectors", "n k", optional=True),
    numbers("explained_variance", "k"),
    numbers("explained_variance_ratio", "k", finite=False),  # of kernels that are not positive semi-definite
    number("total_variance"),
    items("X_fit", "n", "d", optional=True),
    scales("scale", "d", optional=True),
    items("landmarks", "m", "d", optional=True),
    integers("landmark_indices", "m", optional=True),
    count("n_samples_seen", optional=True),  # of rows that came in batches
    numbers("dual_coef", "r d", optional=True),
    numbers("X_transformed_fit", "r k", optional=True),
)
_FACTS = (
    *_FITTED,
    word("dtype", *DTYPES),
    truths("kept_items", "N", optional=True),  # those of weight zero are not
    numbers("training_scores", "n k", optional=True),
    # How the kernel matrix was centred; nothing of it by landmarks.
    word("held", "features", "kernel", "matrix", optional=True),
    numbers("means", "n", optional=True),
    numbers("weights", "n", optional=True),
    number("shift", optional=True),
    # By exact features: scores are (φ(x) − origin)·axes − offset.
    numbers("feature_origin", "f", optional=True),
    numbers("feature_axes", "f k", optional=True),
    numbers("feature_mean", "f", optional=True),
    # By landmarks: scores are k(x, S)·coefficients − offset.
    items("landmarks_seen", "m", "d", optional=True),  # divided by the scale, if there is one
    numbers("coefficients", "m k", optional=True),
    numbers("mean_coefficients", "m", optional=True),
    number("squared_mean", optional=True),
    numbers("offset", "k", optional=True),
)


def _take(model: KernelPCA) -> Facts:
    current: Current = model._projection
    now, centring = current.now(model), current.centring
    found = taken(model, [fact.name for fact in _FITTED]) | {"dtype": dtype_named(model)}
    found["kept_items"] = model._kept_items
    if not _is_storable(found["X_fit"]):  # a matrix that is known by its products alone
        del found["X_fit"]
    if centring is None:
        seen = now.rows if found["scale"] is not None else None
        return found | {
            "landmarks_seen": seen,
            "coefficients": now.alpha,
            "mean_coefficients": now.mean,
            "squared_mean": now.square,
            "offset": now.offset,
        }
    if current.is_as_fitted(model):
        found["training_scores"] = model._training
    found |= {"held": centring.held, "means": centring.means, "weights": centring.weights, "shift": centring.shift}
    if isinstance(now, ByFeatures):
        of_features = {"feature_origin": now.origin, "feature_axes": now.axes, "feature_mean": now.mean}
        found |= of_features | {"offset": now.offset}
    return found


def _is_storable(rows: Any) -> bool:
    """Whether its entries are at hand."""
    return rows is None or (hasattr(rows, "dtype") and not hasattr(rows, "matvec"))


def _give(model: KernelPCA, found: Facts) -> None:
    set_fitted(model, found, [fact.name for fact in _FITTED])
    model._dtype, model._kept_items = np.dtype(found["dtype"]).type, found["kept_items"]
    _refuse_widths(model)
    has_all(found, ("dual_coef", "X_transformed_fit"))
    if found["held"] is None:
        rows = found["landmarks"] if found["landmarks_seen"] is None else found["landmarks_seen"]
        model._projection = Current.of(model, _by_landmarks(model, rows, found), None)
        return
    centring = _centring(found)
    model._projection = Current.of(model, _by_training(model, centring, found), centring, found["training_scores"])


def _by_landmarks(model: KernelPCA, rows: Any, found: Facts) -> ByKernel:
    alpha, offset, mean = _all(found, "coefficients", "offset", "mean_coefficients")
    if found["landmarks"] is None or found["squared_mean"] is None:
        raise Unusable("it has neither landmarks nor training rows")
    return ByKernel(model.kernel_, rows, alpha, offset, 0.0, mean=mean, square=found["squared_mean"])


def _by_training(model: KernelPCA, centring: Centring, found: Facts) -> Any:
    (vectors,) = _all(found, "eigenvectors")
    rows = found["X_fit"]
    if rows is None and centring.held != "matrix":
        raise Unusable("X_fit is missing")
    current = Current(None, centring, {})
    if centring.held != "features":
        return centring.projection(current.kernel(model), rows, found["eigenvalues"], vectors)
    origin, axes, offset, mean = _all(found, "feature_origin", "feature_axes", "offset", "feature_mean")
    learned = current.kernel(model).feature_map(rows)
    if learned is None or learned.n_features() != len(origin):
        raise Unusable("the features of its kernel are not as many as it says")
    return ByFeatures(learned, origin, axes, offset, mean)


def _centring(found: Facts) -> Centring:
    means, weights, shift = found["means"], found["weights"], found["shift"]
    if means is None or shift is None:
        raise Unusable("the means of its kernel matrix are missing")
    total = float(len(means) if weights is None else weights.sum())
    mean = float(means.mean() if weights is None else weights @ means / total)
    return Centring(found["held"], means, mean, weights, shift)


def _all(found: Facts, *names: str) -> list[Array]:
    for name in names:
        if found[name] is None:
            raise Unusable(f"{name} is missing")
    return [found[name] for name in names]


def _refuse_widths(model: KernelPCA) -> None:
    """Rows are as wide as the columns that a model takes; a matrix has a column for every item."""
    d = model.n_features_in_
    by_matrix = is_precomputed(model)
    kept = model._kept_items
    if kept is not None and by_matrix and len(kept) != d:
        raise Unusable(f"kept_items are {len(kept):,}, and n_features_in is {d:,}")
    for name in () if by_matrix else ("X_fit_", "landmarks_"):
        rows = getattr(model, name, None)
        if rows is not None and len(rows.shape) == 2 and rows.shape[1] != d:
            raise Unusable(f"{name} has {rows.shape[1]:,} columns, and n_features_in is {d:,}")


KERNEL_PCA = Schema(KernelPCA, _FACTS, _take, _give)
