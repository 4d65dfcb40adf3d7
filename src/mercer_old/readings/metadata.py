"""What components have to do with columns that had no say in the fit: strength, p-values, and how many were asked.

Of numbers, the correlation r of scores and column, with the p-value of Student's t = r√((n − 2)/(1 − r²)). Of classes,
η² = 1 − Σ within/Σ total, the share of the variance of the scores that the classes explain, with that of the analysis
of variance. Many pairs are looked at, so that some look strong by chance: p-values are adjusted.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from mercer_old.arrays import Array
from mercer_old.errors import BadData, counted, in_short
from mercer_old.readings.targets import are_classes, as_labels, is_missing

__all__ = ["Associations", "adjusted", "associations"]

ADJUSTMENTS = ("fdr", "holm", "none")


@dataclass(frozen=True, eq=False)
class Associations:
    """Of every component with every column of metadata.

    Attributes
    ----------
    values : ndarray of shape (n_components, n_columns)
        r of columns of numbers, η² of columns of classes; nan where nothing varies.
    p_values, adjusted_p : ndarray of shape (n_components, n_columns)
        As they are, and adjusted for all that were looked at.
    names : list of str
        Of the columns.
    of_classes : list of bool
        Whether a column is of classes, so that its numbers are η².
    used : list of int
        Rows that have a value, of every column.
    adjust : str
        How p-values were adjusted.
    """

    values: Array
    p_values: Array
    adjusted_p: Array
    names: list[str]
    of_classes: list[bool]
    used: list[int]
    adjust: str = "fdr"


def associations(scores: Array, metadata: Any, adjust: str = "fdr") -> Associations:
    """Of scores (n×k) with columns: a frame, a dict of columns, or an array of one column or several."""
    if adjust not in ADJUSTMENTS:
        raise ValueError(f"adjust must be fdr, holm or none; got {in_short(adjust)}.")
    columns, scores = _columns(metadata), _near_one(scores)
    found, of_classes, used = [], [], []
    for name, column in columns.items():
        if len(column) != len(scores):
            raise BadData(
                f"Column {name!r:.60} has {counted(len(column), 'value')}, and there are {len(scores):,} rows."
            )
        there = np.array([not is_missing(value) for value in column.tolist()], dtype=bool)
        labels = as_labels(column[there]) if there.any() else np.empty(0)
        of_classes.append(are_classes(labels) if len(labels) else False)
        used.append(int(there.sum()))
        found.append(_of_classes(scores[there], labels) if of_classes[-1] else _of_numbers(scores[there], labels))
    values, p_values = (np.array([pair[i] for pair in found]).reshape(len(columns), -1).T for i in (0, 1))
    return Associations(values, p_values, adjusted(p_values, adjust), list(columns), of_classes, used, adjust)


def _columns(metadata: Any) -> dict[str, Array]:
    names = getattr(metadata, "columns", None)
    if isinstance(metadata, Mapping) or names is not None:
        names = [*(metadata if names is None else names)]
        if not names:
            raise BadData("metadata has no column.")
        if twice := next((name for i, name in enumerate(names) if str(name) in map(str, names[:i])), None):
            raise BadData(f"metadata has two columns of the name {in_short(twice)}.")
        return {str(name): np.asarray(metadata[name], dtype=object) for name in names}
    array = np.asarray(metadata, dtype=object)
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2:
        raise BadData(f"metadata has to be columns; got an array of shape {array.shape}.")
    name = getattr(metadata, "name", None)
    return {
        str(name) if name is not None and array.shape[1] == 1 else f"y{j}": array[:, j] for j in range(array.shape[1])
    }


def _near_one(values: Array) -> Array:
    """In units in which squares are numbers; strength and p-values have none."""
    largest = np.abs(values).max(axis=0, initial=0.0)
    return np.asarray(values / np.where(largest > 0, largest, 1.0))


def _of_numbers(scores: Array, column: Array) -> tuple[Array, Array]:
    nothing, column = np.full(scores.shape[1], np.nan), _near_one(column.astype(np.float64))
    if len(column) < 3 or not np.ptp(column) > 0:
        return nothing, nothing
    moved, other = scores - scores.mean(axis=0), column - column.mean()
    size = np.linalg.norm(moved, axis=0) * np.linalg.norm(other)
    r = np.clip(np.divide(other @ moved, size, out=nothing.copy(), where=size > 0), -1, 1)
    with np.errstate(divide="ignore"):
        t = np.abs(r) * np.sqrt((len(column) - 2) / (1 - r**2))
    return r, 2 * scipy.stats.t.sf(t, len(column) - 2)


def _of_classes(scores: Array, labels: Array) -> tuple[Array, Array]:
    nothing = np.full(scores.shape[1], np.nan)
    different, codes = np.unique(labels, return_inverse=True)
    n, g = len(labels), len(different)
    if g < 2 or n <= g:
        return nothing, nothing
    counts = np.bincount(codes)
    means = np.stack([np.bincount(codes, scores[:, j]) / counts for j in range(scores.shape[1])], axis=1)
    within, total = ((scores - means[codes]) ** 2).sum(axis=0), ((scores - scores.mean(axis=0)) ** 2).sum(axis=0)
    eta = np.divide(total - within, total, out=nothing.copy(), where=total > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (eta / (g - 1)) / ((1 - eta) / (n - g))
    return eta, scipy.stats.f.sf(ratio, g - 1, n - g)


def adjusted(p_values: Array, how: str = "fdr") -> Array:
    """Of all p-values together: by Benjamini and Hochberg ("fdr"), by Holm ("holm"), or as they are.

    >>> adjusted(np.array([0.01, 0.04, 0.03]), "holm").tolist()
    [0.03, 0.06, 0.06]
    """
    flat = p_values.ravel()
    there = np.flatnonzero(np.isfinite(flat))
    if how == "none" or not len(there):
        return p_values.copy()
    order, m = there[np.argsort(flat[there], kind="stable")], len(there)
    rank = np.arange(1, m + 1)
    out = np.full(flat.shape, np.nan)
    if how == "fdr":
        out[order] = np.minimum.accumulate((flat[order] * m / rank)[::-1])[::-1]
    else:
        out[order] = np.maximum.accumulate(flat[order] * (m - rank + 1))
    return np.minimum(out, 1.0).reshape(p_values.shape)
