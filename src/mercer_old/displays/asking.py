"""What displays ask of a model: its kind, its scores, the shares of its components, the names of its columns."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer_old.arrays import Array, to_numpy
from mercer_old.errors import BadData, WrongUse, counted, in_short
from mercer_old.functions.asking import names_of_columns
from mercer_old.models.kernel_model import KernelModel
from mercer_old.models.linear import LinearModel
from mercer_old.models.local_model import LocalModel
from mercer_old.models.novelty import NoveltyDetector

__all__ = [
    "check_components",
    "check_count",
    "chosen",
    "columns_of",
    "for_inner",
    "names_of_rows",
    "prefix_of",
    "require",
    "scores_of",
    "shares_of",
    "under",
]

_KINDS: dict[str, type] = {
    "PCA": LinearModel,
    "KernelPCA": KernelModel,
    "LocallyLinearEmbedding": LocalModel,
    "NoveltyDetector": NoveltyDetector,
}


def under(model: Any) -> Any:
    """The model with components: the last step of a pipeline, that of a detector, or itself."""
    steps = getattr(model, "steps", None)
    return under(steps[-1][1]) if steps else getattr(model, "estimator_", model)


def require(model: Any, display: str, *kinds: str) -> Any:
    """The model, if it is fitted and of these kinds; else one sentence that says which have such a display."""
    if hasattr(model, "steps"):
        raise ValueError(
            f"{display} reads one model: give the last step of the pipeline, and the rows as it sees them."
        )
    if not isinstance(model, tuple(_KINDS[kind] for kind in kinds)):
        have = " or a ".join(kinds).replace("PCA or a KernelPCA", "PCA, IncrementalPCA or KernelPCA")
        name = type(model).__name__
        raise WrongUse(f"{name} has nothing to show in a {display}: that is of a fitted {have}.")
    check_is_fitted(model)
    return model


def scores_of(model: Any, X: Any = None) -> Array:
    """Of these rows; None: of the rows of the fit, where a model has kept them."""
    inner = under(model)
    check_is_fitted(inner)
    if X is not None:
        return _as_scores(model.estimator_ if isinstance(model, NoveltyDetector) else model, for_inner(model, X))
    if isinstance(inner, LocalModel):
        return np.asarray(inner.embedding_, dtype=np.float64)
    if isinstance(inner, KernelModel) and hasattr(inner, "X_fit_"):
        return np.asarray(inner._known_scores(inner.X_fit_), dtype=np.float64)
    kept = "has kept landmarks alone" if isinstance(inner, KernelModel) else "keeps no rows"
    raise ValueError(f"{type(inner).__name__} {kept}: give the rows as X.")


def _as_scores(model: Any, X: Any) -> Array:
    if not hasattr(model, "transform"):
        raise ValueError(f"{type(model).__name__} gives no scores: it has no transform.")
    return np.asarray(to_numpy(model.transform(X)), dtype=np.float64)


def for_inner(model: Any, X: Any) -> Any:
    """Rows as the model with components takes them: a detector knows their names, and its model does not."""
    if not isinstance(model, NoveltyDetector):
        return X
    items = model._open(X, reset=False)
    return items.load() if items.by_matrix else items


def shares_of(model: Any) -> Array | None:
    """Of the variance, of every component; None where there are none, as of locally linear embedding."""
    shares = getattr(under(model), "explained_variance_ratio_", None)
    return None if shares is None else np.asarray(to_numpy(shares), dtype=np.float64)


def prefix_of(model: Any) -> str:
    """What components are called: PC1, kernel PC1, LLE 1."""
    inner = under(model)
    if isinstance(inner, KernelModel) or type(inner).__name__ == "KernelPCA":
        return "kernel PC"
    return "LLE " if isinstance(inner, LocalModel) else "PC" if hasattr(inner, "components_") else "component "


def check_count(value: Any, name: str, least: int = 1, none: str = "") -> None:
    """A whole number; `none` says what None means, where it means something."""
    if value is None and none:
        return
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        other = f", or None for {none}" if none else ""
        raise ValueError(f"{name} must be a whole number of at least {least}{other}; got {in_short(value)}.")


def check_components(components: Any, k: int, how_many: int | None = None) -> list[int]:
    """Numbers of components, counted from 0, that there are."""
    numbers = list(components) if isinstance(components, Sequence | np.ndarray) else [components]
    fitted = f"{counted(k, 'component')} {'was' if k == 1 else 'were'} fitted"
    if how_many is not None and k < how_many:
        raise ValueError(f"This display takes {counted(how_many, 'component')}, and {fitted}.")
    if not numbers:
        raise ValueError(f"components is empty: name one at least, as {fitted}.")
    wrong = [j for j in numbers if isinstance(j, bool) or not isinstance(j, int | np.integer) or not 0 <= j < k]
    if wrong:
        raise ValueError(f"components are whole numbers from 0 to {k - 1}, as {fitted}; got {in_short(wrong[0])}.")
    if how_many is not None and len(numbers) != how_many:
        raise ValueError(f"This display takes {counted(how_many, 'component')}; got {in_short(components)}.")
    return [int(j) for j in numbers]


def names_of_rows(names: Any, n: int) -> list[str] | None:
    """One for each row, as texts."""
    if names is None:
        return None
    names = [str(name) for name in names]
    if len(names) != n:
        raise BadData(f"names has {counted(len(names), 'name')}, and there are {counted(n, 'row')}.")
    return names


def columns_of(model: Any, d: int, feature_names: Any) -> list[str]:
    """Names of columns: those given, those that the model knows, or x0, x1, …"""
    return names_of_columns(model, d, feature_names)


def chosen(wanted: Any, names: Sequence[str], strength: Array, n: int | None) -> list[int]:
    """Columns that were named, or the n strongest, the strongest first."""
    if wanted is None:
        check_count(n, "n", none="all")
        return [int(i) for i in np.argsort(-np.nan_to_num(strength), kind="stable")[:n]]
    wanted = list(wanted) if isinstance(wanted, Iterable) and not isinstance(wanted, str) else [wanted]
    missing = [name for name in wanted if name not in names]
    if missing:
        raise WrongUse(f"There is no column {in_short(missing[0])}; there are {in_short(list(names), 200)}.")
    return [list(names).index(name) for name in wanted]
