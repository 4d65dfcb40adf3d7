"""PCA and its relatives: axes, variances and the mean; and the sums that batches are added to."""

from typing import Any

import numpy as np

from mercer_old.models.incremental_pca import IncrementalPCA
from mercer_old.models.linear import Exact
from mercer_old.models.pca import PCA
from mercer_old.models.probabilistic_pca import ProbabilisticPCA
from mercer_old.store.facts import count, integers, number, numbers, scales, word
from mercer_old.store.reasons import Unusable
from mercer_old.store.schemas.base import DTYPES, Facts, Schema, dtype_named, has_all, set_fitted, taken
from mercer_old.sweeps.sketch import Sketch
from mercer_old.sweeps.square import Square

__all__ = ["INCREMENTAL_PCA", "PCA_SCHEMA", "PROBABILISTIC_PCA"]


def _solved(optional: bool) -> tuple[Any, ...]:
    """What follows from the axes."""
    return (
        numbers("components", "k d", optional),
        numbers("explained_variance", "k", optional),
        numbers("explained_variance_ratio", "k", optional, finite=False),
        numbers("singular_values", "k", optional),
        number("noise_variance", optional),
        number("total_variance", optional),
        number("reconstruction_error", optional),
    )


_COMMON = (
    count("n_features_in", "d"),
    numbers("mean", "d"),
    word("dtype", *DTYPES),
    numbers("exact_mean", "d", optional=True),  # in double precision, whatever the rows are
    numbers("column_variances", "d", optional=True),
    number("total_weight", optional=True),
)
_PCA = (
    *_solved(optional=False),
    *_COMMON,
    count("n_components", "k"),
    scales("scale", "d", optional=True),
    count("n_samples", optional=True),
    word("svd_solver", optional=True),
)
_PROBABILISTIC = (*_PCA, integers("n_missing", "d"), number("loglike"), count("n_iter"))
_MEANS = (
    *(numbers(name, "d", optional=True) for name in ("origin", "offset", "noise", "own_noise", "doubt")),
    *(number(name, optional=True) for name in ("weight", "more_weight", "precision", "unsure")),
    *(count(name, optional=True) for name in ("count", "copies")),
)
_SQUARE = (
    numbers("sums", "d d", optional=True),
    numbers("sums_left", "d d", optional=True),
    numbers("more", "a d", optional=True),
    numbers("less", "b d", optional=True),
)
_SKETCH = (
    numbers("sketch", "s d", optional=True),
    count("sketch_size", optional=True),
    number("shrinkage", optional=True),
    number("sketch_rounding", optional=True),
    numbers("spread", "d", optional=True),
    numbers("spread_left", "d", optional=True),
)
_SUMS = (*_MEANS, *_SQUARE, *_SKETCH)
_INCREMENTAL = (
    *_solved(optional=True),
    *_COMMON,
    count("n_components"),  # that were asked for; few rows have fewer
    numbers("var", "d", finite=False),  # in single precision it may overflow
    count("n_samples_seen"),
    count("batch_size", optional=True),
    number("unit"),
    *_SUMS,
)
_NOT_FITTED_NAMES = {"dtype", "exact_mean", "column_variances", "total_weight", "svd_solver", "unit"}


def _fitted(facts: tuple[Any, ...]) -> list[str]:
    sums = {fact.name for fact in _SUMS}
    return [fact.name for fact in facts if fact.name not in _NOT_FITTED_NAMES | sums]


def _take(model: Any, facts: tuple[Any, ...]) -> Facts:
    exact: Exact | None = model._exact
    return taken(model, _fitted(facts)) | {
        "dtype": dtype_named(model),
        "exact_mean": None if exact is None else exact.mean,
        "column_variances": None if exact is None else exact.columns,
        "total_weight": None if exact is None else exact.weight,
    }


def _give(model: Any, found: Facts, facts: tuple[Any, ...]) -> None:
    set_fitted(model, found, _fitted(facts))
    model._dtype = np.dtype(found["dtype"]).type
    if found["exact_mean"] is not None:
        model._exact = Exact(found["exact_mean"], found["column_variances"], found["total_weight"] or 0.0)


def _take_pca(model: PCA) -> Facts:
    return _take(model, _PCA) | {"svd_solver": getattr(model, "_fit_svd_solver", None)}


def _give_pca(model: PCA, found: Facts) -> None:
    _give(model, found, _PCA)
    if found["svd_solver"] is not None:
        model._fit_svd_solver = found["svd_solver"]


def _take_probabilistic(model: ProbabilisticPCA) -> Facts:
    return _take(model, _PROBABILISTIC) | {"svd_solver": getattr(model, "_fit_svd_solver", None)}


def _give_probabilistic(model: ProbabilisticPCA, found: Facts) -> None:
    _give(model, found, _PROBABILISTIC)
    if found["svd_solver"] is not None:
        model._fit_svd_solver = found["svd_solver"]


def _take_incremental(model: IncrementalPCA) -> Facts:
    sums = {} if model._scatter is None else model._scatter.facts()
    return _take(model, _INCREMENTAL) | {"unit": model._unit} | sums


def _give_incremental(model: IncrementalPCA, found: Facts) -> None:
    _give(model, found, _INCREMENTAL)
    model._unit = found["unit"]
    kept = _SQUARE if found["sketch"] is None else _SKETCH
    has_sums = has_all(found, [fact.name for fact in (*_MEANS, *kept)])
    if not has_all(found, [fact.name for fact in _solved(optional=True)]) and not has_sums:
        raise Unusable("it has neither components nor the sums that they are found from")
    if has_sums:
        model._scatter = Square(found["origin"]) if kept is _SQUARE else _empty_sketch(found)
        model._scatter.learn(found)


def _empty_sketch(found: Facts) -> Sketch:
    rows, size = len(found["sketch"]), found["sketch_size"]
    if rows > 2 * size or min(found["shrinkage"], found["sketch_rounding"]) < 0:
        raise Unusable(f"its sketch of size {size} has {rows} rows, or has lost less than nothing")
    return Sketch(found["origin"], size)


PCA_SCHEMA = Schema(PCA, _PCA, _take_pca, _give_pca)
INCREMENTAL_PCA = Schema(IncrementalPCA, _INCREMENTAL, _take_incremental, _give_incremental)
PROBABILISTIC_PCA = Schema(ProbabilisticPCA, _PROBABILISTIC, _take_probabilistic, _give_probabilistic)
