"""Associations of components with metadata: strength, p-values, and their adjustment for multiple tests.

For a column of numbers, the correlation r with the scores and Student's t = r√((n − 2)/(1 − r²)). For a column of
classes, η² = 1 − Σ within/Σ total and the F test of the analysis of variance.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from mercer.analysis.labels import are_classes, as_labels, is_missing
from mercer.errors import DataError, ParameterError
from mercer.results import Result
from mercer.text import counted, short_repr

ADJUSTMENTS = ("fdr", "holm", "none")
_SIGNIFICANT = 0.05


@dataclass(frozen=True, eq=False)
class Associations(Result):
    """Association of every component with every metadata column.

    Attributes
    ----------
    values : ndarray of shape (n_components, n_columns)
        Correlation r for numbers, η² for classes; nan where nothing varies.
    p_values, adjusted_p_values : ndarray of shape (n_components, n_columns)
        As computed, and adjusted for the number of tests.
    names : list of str
        Names of the metadata columns.
    of_classes : list of bool
        Whether a column has classes.
    n_used : list of int
        Number of rows with a value in each column.
    adjust : str
        How p-values were adjusted.
    """

    values: NDArray
    p_values: NDArray
    adjusted_p_values: NDArray
    names: list[str]
    of_classes: list[bool]
    n_used: list[int]
    adjust: str = "fdr"

    @property
    def summary(self) -> str:
        """Number of associations with an adjusted p-value of at most 0.05."""
        found = int(np.sum(self.adjusted_p_values <= _SIGNIFICANT))
        tested = counted(int(np.isfinite(self.p_values).sum()), "association")
        return f"{found:,} of {tested} have an adjusted p-value of at most {_SIGNIFICANT:g} ({self.adjust})."

    def columns(self) -> dict[str, Sequence[Any]]:
        """One row for each pair of component and column."""
        k, m = self.values.shape
        return {
            "component": np.repeat(np.arange(1, k + 1), m),
            "column": self.names * k,
            "measure": ["eta_squared" if classes else "r" for classes in self.of_classes] * k,
            "value": self.values.ravel(),
            "p_value": self.p_values.ravel(),
            "adjusted_p_value": self.adjusted_p_values.ravel(),
            "n_rows": self.n_used * k,
        }


def associations(scores: Any, metadata: Any, *, adjust: str = "fdr") -> Associations:
    """Associate components with columns that were not used by the fit.

    Parameters
    ----------
    scores : array-like of shape (n_samples, n_components)
        Scores, for example ``model.transform(X)``.
    metadata : DataFrame, mapping of names to columns, or array-like
        Columns of numbers or classes, one value for each row of `scores`. Missing values are left out.
    adjust : {"fdr", "holm", "none"}, default="fdr"
        Adjustment of the p-values for all pairs together.

    Returns
    -------
    result : Associations
        Strength and p-values.
    """
    if adjust not in ADJUSTMENTS:
        raise ParameterError("adjust", adjust, '"fdr", "holm" or "none"')
    columns, scores = _columns(metadata), _in_unit(check_array(scores, dtype=np.float64, input_name="scores"))
    found, of_classes, n_used = [], [], []
    for name, column in columns.items():
        if len(column) != len(scores):
            sizes = f"{counted(len(column), 'value')}, but scores has {counted(len(scores), 'row')}"
            raise DataError(f"Column {short_repr(name)} has {sizes}.", source="metadata", column=name)
        present = np.array([not is_missing(value) for value in column.tolist()], dtype=bool)
        labels = as_labels(column[present]) if present.any() else np.empty(0)
        of_classes.append(bool(len(labels)) and are_classes(labels))
        n_used.append(int(present.sum()))
        found.append((_anova if of_classes[-1] else _correlation)(scores[present], labels))
    values, p_values = (np.array([pair[i] for pair in found]).reshape(len(columns), -1).T for i in (0, 1))
    return Associations(values, p_values, adjust_p_values(p_values, adjust), list(columns), of_classes, n_used, adjust)


def adjust_p_values(p_values: NDArray, method: str = "fdr") -> NDArray:
    """Adjusted p-values of all tests together. NaN entries do not count as tests.

    "fdr" is the smallest false discovery rate at which Benjamini and Hochberg's procedure rejects a hypothesis, "holm"
    the smallest family-wise error rate of Holm's, "none" leaves them as they are.

    >>> adjust_p_values(np.array([0.01, 0.04, 0.03]), "holm").tolist()
    [0.03, 0.06, 0.06]
    """
    flat = p_values.ravel()
    tests = np.flatnonzero(np.isfinite(flat))
    if method == "none" or not len(tests):
        return p_values.copy()
    order, m = tests[np.argsort(flat[tests], kind="stable")], len(tests)
    rank, adjusted = np.arange(1, m + 1), np.full(flat.shape, np.nan)
    if method == "fdr":
        adjusted[order] = np.minimum.accumulate((flat[order] * m / rank)[::-1])[::-1]
    else:
        adjusted[order] = np.maximum.accumulate(flat[order] * (m - rank + 1))
    return np.minimum(adjusted, 1.0).reshape(p_values.shape)


def _columns(metadata: Any) -> dict[str, NDArray]:
    """Names and columns of a frame, a mapping or an array."""
    names = getattr(metadata, "columns", None)
    if isinstance(metadata, Mapping) or names is not None:
        names = list(metadata if names is None else names)
        if not names:
            raise DataError("metadata has no column.", source="metadata")
        texts = [str(name) for name in names]
        twice = next((text for i, text in enumerate(texts) if text in texts[:i]), None)
        if twice is not None:
            raise DataError(f"metadata has two columns of the name {short_repr(twice)}.", source="metadata")
        return {str(name): np.asarray(metadata[name], dtype=object) for name in names}
    array = np.asarray(metadata, dtype=object)
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2:
        raise DataError(f"metadata has the shape {array.shape}; it must have columns.", source="metadata")
    name = getattr(metadata, "name", None)
    if name is not None and array.shape[1] == 1:
        return {str(name): array[:, 0]}
    return {f"y{j}": array[:, j] for j in range(array.shape[1])}


def _in_unit(values: NDArray) -> NDArray:
    """Columns divided by their largest modulus, so that squares stay in range."""
    largest = np.abs(values).max(axis=0, initial=0.0)
    return np.asarray(values / np.where(largest > 0, largest, 1.0))


def _correlation(scores: NDArray, column: NDArray) -> tuple[NDArray, NDArray]:
    from scipy.stats import t as student

    none, column = np.full(scores.shape[1], np.nan), _in_unit(column.astype(np.float64))
    if len(column) < 3 or not np.ptp(column) > 0:
        return none, none
    centered, other = scores - scores.mean(axis=0), column - column.mean()
    size = np.linalg.norm(centered, axis=0) * np.linalg.norm(other)
    r = np.clip(np.divide(other @ centered, size, out=none.copy(), where=size > 0), -1, 1)
    with np.errstate(divide="ignore"):
        t = np.abs(r) * np.sqrt((len(column) - 2) / (1 - r**2))
    return r, 2 * student.sf(t, len(column) - 2)


def _anova(scores: NDArray, labels: NDArray) -> tuple[NDArray, NDArray]:
    from scipy.stats import f as fisher

    none, (classes, codes) = np.full(scores.shape[1], np.nan), np.unique(labels, return_inverse=True)
    n, g = len(labels), len(classes)
    if g < 2 or n <= g:
        return none, none
    counts = np.bincount(codes)
    means = np.stack([np.bincount(codes, scores[:, j]) / counts for j in range(scores.shape[1])], axis=1)
    within, total = ((scores - means[codes]) ** 2).sum(axis=0), ((scores - scores.mean(axis=0)) ** 2).sum(axis=0)
    eta = np.divide(total - within, total, out=none.copy(), where=total > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (eta / (g - 1)) / ((1 - eta) / (n - g))
    return eta, fisher.sf(ratio, g - 1, n - g)
