"""Series: lists of arrays of any length, as items whose kernel aligns them step by step."""

from collections.abc import Mapping, Set
from pathlib import Path
from typing import Any

import numpy as np

from mercer_old.arrays import Array
from mercer_old.errors import BadData, in_short
from mercer_old.sources.held import HeldItems

__all__ = ["Series"]


class Series(HeldItems):
    """Series in memory, each an array of so many steps, with the same number of values at every step."""

    kind = "series"

    def __init__(self, X: Any, label: str = "X") -> None:
        series = [_steps_of(one, i, label) for i, one in enumerate(_in_a_list(X, label))]
        if not series:
            raise BadData(f"Found array with 0 sample(s): {label} has no series.")
        _refuse_other_widths(series, label)
        self.label = label
        super().__init__(series, width=max(1, sum(one.size for one in series) // len(series)))

    @property
    def nbytes(self) -> int:
        return sum(int(one.nbytes) + 8 for one in self.items)


def _in_a_list(X: Any, label: str) -> list[Any]:
    """The series in a list, in an array of objects, or along the first axis of an array of numbers."""
    if isinstance(X, (str, bytes, Path)):
        raise BadData(
            f"{label} is {in_short(str(X))}: series are not read from files, as each may have a length of its own. "
            "Read them first, and give a list of arrays."
        )
    if isinstance(X, (Mapping, Set)):
        raise BadData(
            f"{label} is a {type(X).__name__}, not a list of series: give a list of arrays, list(X.values())."
        )
    if not hasattr(X, "__iter__"):
        raise BadData(f"{label} is {in_short(X)}, and no list of series: give a list of arrays.")
    if hasattr(X, "columns"):  # a table: a series in every row
        X = np.asarray(X)
    if isinstance(X, np.ndarray) and X.dtype != object and X.ndim == 1:
        raise BadData(
            f"{label} is one series of {len(X):,} numbers; give a list of series, or an array with one in every row."
        )
    return list(X)


def _steps_of(one: Any, number: int, label: str) -> Array:
    """A series as a table of float64: a row for every step."""
    try:
        steps = np.ascontiguousarray(one, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadData(f"{label}: item {number} is {in_short(one)}, which is no series of numbers.") from None
    steps = steps[:, None] if steps.ndim == 1 and np.ndim(one) == 1 else steps
    if steps.ndim != 2 or np.ndim(one) == 0:
        raise BadData(
            f"{label}: item {number} has {np.ndim(one)} dimensions; a series has one, its steps, or two, steps and "
            "values."
        )
    if not steps.size:
        raise BadData(f"{label}: item {number} is an empty series; leave it out.")
    if not np.isfinite(steps).all():
        step = int(np.flatnonzero(~np.isfinite(steps).all(axis=1))[0])
        what = "a missing value (NaN)" if np.isnan(steps[step]).any() else "an infinite value"
        raise BadData(
            f"{label}: item {number} has {what} at step {step} of {len(steps):,}. Leave it out or fill it in; series "
            "of unequal lengths come as a list of arrays, not filled up to one length."
        )
    return steps


def _refuse_other_widths(series: list[Array], label: str) -> None:
    width = series[0].shape[1]
    for number, one in enumerate(series):
        if one.shape[1] != width:
            raise BadData(
                f"{label}: item {number} has {one.shape[1]} values at a step and item 0 has {width}; all series must "
                "have as many."
            )
