"""Who made a component, and how well it shows a row or a column."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from mercer_old.arrays import Array, Held, dense, here
from mercer_old.blocks import rows_at_a_time
from mercer_old.errors import BadData, counted
from mercer_old.fits.kernel.opening import is_precomputed
from mercer_old.fits.scale import in_units
from mercer_old.functions.asking import (
    complete_items,
    names_of_columns,
    plain_scores,
    require_components,
    weights_of_fit,
)
from mercer_old.inputs import table, told_where
from mercer_old.models.kernel_model import KernelModel
from mercer_old.models.linear import LinearModel
from mercer_old.readings.contributions import (
    Contributions,
    column_contributions,
    correlations,
    row_contributions,
    squared_cosines,
)
from mercer_old.sources.held import HeldRows
from mercer_old.sources.items import Rows
from mercer_old.sums import row_squares
from mercer_old.sweeps.lanes import sweep_scatter
from mercer_old.sweeps.spread import Spread

__all__ = ["contributions"]


def contributions(model: Any, X: Any = None, *, supplementary: Any = None, feature_names: Any = None) -> Contributions:
    """Contributions of rows and columns to components, cos² of rows, and correlations of columns with scores.

    Row i contributes tᵢⱼ²/Σᵢtᵢⱼ² to component j, column c the square of its entry of axis j; cos² = tᵢⱼ²/‖x − mean‖² is
    the share of a row that a component shows. Whitening is left out, as it changes none of them.

    Parameters
    ----------
    model : KernelPCA, PCA or IncrementalPCA
        A fitted one.
    X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features), default=None
        The rows; of kernel PCA None is those of the fit, with their weights.
    supplementary : array-like of shape (n_samples,) or (n_samples, n_others), default=None
        Other columns of numbers for the same rows, which had no say in the fit: their correlations with the scores.
    feature_names : sequence of str, default=None
        Names of the columns; None: those that the model knows, or x0, x1, …

    Returns
    -------
    contributions : Contributions
        ``rows``, ``cos2``, ``columns``, ``correlations`` and ``supplementary``.

    Examples
    --------
    >>> from mercer import PCA, contributions
    >>> from mercer.datasets import us_arrests
    >>> X, names = us_arrests()
    >>> found = contributions(PCA(standardize=True).fit(X), X)
    >>> found.cos2.sum(axis=1).round(12).min().item(), found.rows.sum(axis=0).round(12).tolist()
    (1.0, [1.0, 1.0, 1.0, 1.0])
    """
    require_components(model, "contributions are")
    items, weights = _items(model, X)
    rows = _as_seen(model, items) if isinstance(items, Rows) and not _by_matrix(model) else None
    with model._within_limits():
        scores, lengths = _scores_and_lengths(model, items)
        other, others = _others(supplementary, len(scores))
        seen, beside = (_correlations(some, scores, weights, model) for some in (rows, other))
    axes = model._number("components_").T if isinstance(model, LinearModel) else None
    return Contributions(
        rows=row_contributions(scores, weights),
        cos2=None if lengths is None else squared_cosines(scores, lengths),
        columns=None if axes is None else column_contributions(axes),
        correlations=seen,
        supplementary=beside,
        names=[] if seen is None else names_of_columns(model, len(seen), feature_names),
        others=others,
        components=[str(name) for name in model.get_feature_names_out()],
    )


def _by_matrix(model: Any) -> bool:
    return isinstance(model, KernelModel) and is_precomputed(model)


def _as_seen(model: KernelModel | LinearModel, rows: Rows) -> Rows:
    """With columns divided as the model does it: squares of huge and tiny numbers are none. (Those of kernels are.)"""
    scale = model._number("scale_") if isinstance(model, LinearModel) and hasattr(model, "scale_") else None
    return in_units(rows, scale).as_rows()


def _items(model: KernelModel | LinearModel, X: Any) -> tuple[Any, Array | None]:
    """Rows of numbers, or whatever else is in memory, with the weights of the fit if they are those of the fit."""
    if X is not None:
        items = complete_items(model, X)
        return items if isinstance(items, Rows) else items.load(), None
    if isinstance(model, LinearModel) or not hasattr(model, "X_fit_"):
        kept = "rows" if isinstance(model, LinearModel) else "rows but landmarks"
        raise ValueError(f"{type(model).__name__} has kept no {kept}: give the rows as X.")
    if is_precomputed(model):
        raise ValueError("Give the kernel matrix that was fitted as X: a model does not say what it is made of.")
    held = here(model.X_fit_)
    rows = sparse.issparse(held) or (isinstance(held, np.ndarray) and held.ndim == 2)
    return HeldRows(held) if rows else held, weights_of_fit(model)


def _scores_and_lengths(model: KernelModel | LinearModel, items: Any) -> tuple[Array, Array | None]:
    """Scores (m×k), and ‖φ(x) − mean‖² where the model can tell."""
    blocks = items.blocks(rows_at_a_time(items.width)) if isinstance(items, Rows) else [items]
    scores, lengths = zip(*(_of_block(model, block) for block in blocks), strict=True)
    return np.concatenate(scores), None if lengths[0] is None else np.concatenate(lengths)


def _of_block(model: KernelModel | LinearModel, rows: Held) -> tuple[Array, Any]:
    if isinstance(model, LinearModel):
        return plain_scores(model, rows), row_squares((dense(rows, np.float64) - model._mean()) / model._scale())
    if _by_matrix(model):
        return plain_scores(model, rows), None
    scores, lengths = model._projection.now(model).scores_and_lengths(rows, model._limits().threads)
    return scores, lengths


def _correlations(rows: Rows | None, scores: Array, weights: Array | None, model: Any) -> Array | None:
    if rows is None:
        return None
    spread = sweep_scatter(Spread, rows, weights, model._limits().threads, exact=True)
    deviations = np.where(spread.constant, 0.0, np.sqrt(spread.squares / spread.weight))
    return correlations(rows.blocks(rows_at_a_time(rows.width)), spread.mean, deviations, scores, weights)


def _others(supplementary: Any, n: int) -> tuple[Rows | None, list[str]]:
    """Other columns of numbers, one row for each of X, and their names."""
    if supplementary is None:
        return None, []
    names = getattr(supplementary, "columns", None)
    names = [getattr(supplementary, "name", None)] if names is None else list(names)
    values = table(supplementary, "supplementary")
    values = np.asarray(values)[:, None] if np.ndim(values) == 1 else values
    with told_where(values):
        values = check_array(values, dtype=np.float64, input_name="supplementary")
    if len(values) != n:
        raise BadData(f"supplementary has {counted(len(values), 'row')}, and X {n:,}: one is needed for each.")
    unnamed = len(names) != values.shape[1] or any(name is None for name in names)
    return HeldRows(values), [f"y{j}" if unnamed else str(names[j]) for j in range(values.shape[1])]
