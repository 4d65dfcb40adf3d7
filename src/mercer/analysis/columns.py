"""Columns whose unit dominates the summed variance, and constant ones."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mercer.text import joined, listed, short_repr

FEW_SAMPLES = 20  # show nothing about variances, nor about a scale
_SAMPLE, _SAMPLE_ENTRIES = 200, 4_000_000  # rows that variances are estimated from
_FEW, _FEW_OF = 3, 10  # columns at most, and one in so many at most; one alone always counts
_NEARLY_ALL, _FAR_ABOVE = 0.95, 50.0  # of the summed variance; times the mean variance of the other columns
_VARIES = 1e-12  # times its mean: a column that deviates less is constant


class DominatingColumns(NamedTuple):
    """Columns with nearly all of the summed variance."""

    columns: NDArray
    ratio: float  # of the summed variance
    n_others: int  # columns that were compared with, besides these


def dominating_columns(rows: Any) -> DominatingColumns | None:
    """The column, or the few, with nearly all of the summed variance.

    Squared distances add up over columns, and a column contributes twice its variance on average: those with nearly
    all of it decide alone which rows are near. Variances are those of a sample of the rows. Columns that count the rows
    would hide others, so they are left out at first.
    """
    if rows.shape[0] < FEW_SAMPLES:
        return None
    variances, counting = _sample_variances(rows)
    for left_out in [counting, np.zeros_like(counting)] if counting.any() else [counting]:
        seen = np.where(left_out, 0.0, variances)
        total, n_varying = float(seen.sum()), int(np.sum(seen > 0))
        order = np.argsort(-seen, kind="stable")
        for few in range(1, min(_FEW, max(1, n_varying // _FEW_OF), n_varying - 1) + 1):
            top = float(seen[order[:few]].sum())
            if top >= _NEARLY_ALL * total and top / few >= _FAR_ABOVE * (total - top) / (n_varying - few):
                return DominatingColumns(order[:few], top / total, rows.shape[1] - int(left_out.sum()) - few)
    return None


def dominating_text(rows: Any, names: Sequence[Any] | None) -> str:
    """Text of the warning about columns that dominate the variance; empty without such columns."""
    found = dominating_columns(rows)
    if found is None:
        return ""
    columns = [str(j) if names is None else short_repr(str(names[j])) for j in found.columns]
    subject = f"Column {columns[0]} has" if len(columns) == 1 else f"Columns {joined(columns)} have"
    return f"{subject} {found.ratio:.1%} of the summed variance of {found.n_others + len(columns)} columns."


def constant_text(is_constant: NDArray, names: Any) -> str:
    """Text of the warning about constant columns of standardized data."""
    columns = listed(
        str(j) if names is None else short_repr(str(names[j])) for j in np.flatnonzero(is_constant).tolist()
    )
    return f"{int(is_constant.sum())} of {len(is_constant)} columns are constant and were not scaled: {columns}."


def _sample_variances(rows: Any) -> tuple[NDArray, NDArray]:
    """Variances from a sample all over the rows, 0 for constant columns; and which columns count the rows."""
    n, d = rows.shape
    step = max(1, n // max(FEW_SAMPLES, min(_SAMPLE, _SAMPLE_ENTRIES // max(1, d))))
    sample = rows[::step]
    sample = sample.toarray() if sparse.issparse(sample) else np.asarray(sample)
    with np.errstate(over="ignore", invalid="ignore"):
        sample = sample.astype(np.float64, copy=False)
        first = sample[0]
        moved = sample - first
        means = moved.mean(axis=0)
        variances = np.einsum("ij,ij->j", moved, moved) / len(moved) - means**2
        varies = variances > (_VARIES * np.abs(first + means)) ** 2
        counting = moved[1] == step
        if counting.any():
            counting &= (np.diff(moved, axis=0) == step).all(axis=0)
    return np.where(varies & np.isfinite(variances), variances, 0.0), counting
