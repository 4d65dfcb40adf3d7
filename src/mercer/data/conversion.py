"""X in memory as strings, series, a table or objects."""

from collections.abc import Callable, Mapping, Set
from numbers import Number
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mercer.data.table import as_table
from mercer.errors import DataError
from mercer.text import counted, listed, short_repr


def as_strings(X: Any, name: str = "X") -> NDArray:
    """Strings in a list, an array, a column of a frame or a frame of one column, as an array of objects."""
    if isinstance(X, (str, bytes)):
        raise DataError(
            f"{name} is one string, {short_repr(X)}. Pass a list of strings, or pathlib.Path(…) for a file."
        )
    if isinstance(X, (Mapping, Set)):
        raise DataError(f"{name} is a {type(X).__name__}. Pass a list of strings.")
    if sparse.issparse(X) or getattr(getattr(X, "dtype", None), "kind", "O") in "biufcmM":
        raise DataError(f"{name} is numeric (shape {np.shape(X)}), and this kernel compares strings.")
    values = _one_column(X, name)
    if not values:
        raise DataError(f"Found array with 0 sample(s): {name} has no strings.")
    wrong = [i for i, value in enumerate(values) if not isinstance(value, (str, bytes))]
    if wrong:
        first = values[wrong[0]]
        missing = first is None or first != first or type(first).__name__ == "NAType"
        what = "missing" if missing else f"{short_repr(first)}, which is not a string"
        raise DataError(
            f"{name}: item {wrong[0]} is {what} ({len(wrong):,} of {counted(len(values), 'item')} are not strings).",
            row=wrong[0],
        )
    mixed = next((i for i, v in enumerate(values) if isinstance(v, bytes) != isinstance(values[0], bytes)), None)
    if mixed is not None:
        raise DataError(f"{name}: items 0 and {mixed} are str and bytes. Decode the bytes first.", row=mixed)
    return _objects(values)


def _one_column(X: Any, name: str) -> list[Any]:
    columns = getattr(X, "column_names", getattr(X, "columns", None))
    if columns is not None or getattr(X, "ndim", 1) == 2:
        n_columns = np.shape(X)[1]
        if n_columns != 1:
            which = "" if columns is None else f" ({listed(columns)})"
            raise DataError(f"{name} has {n_columns} columns{which}, and strings are one column.")
        return X.column(0).to_pylist() if hasattr(X, "column_names") else list(np.asarray(X, dtype=object)[:, 0])
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(X, method):
            return list(getattr(X, method)())
    try:
        return list(X)
    except TypeError:
        raise DataError(f"{name} is {short_repr(X)}. Pass a list of strings.") from None


def as_series(X: Any, name: str = "X") -> NDArray:
    """Series in a list of arrays, or along the first axis of an array, as float64 matrices (steps, values)."""
    if isinstance(X, (str, bytes, Path, Mapping, Set)) or not hasattr(X, "__iter__"):
        raise DataError(f"{name} is {short_repr(X)}. Pass a list of arrays, one for each series.")
    X = np.asarray(X) if hasattr(X, "columns") else X
    if isinstance(X, np.ndarray) and X.dtype != object and X.ndim == 1:
        raise DataError(f"{name} is one series of {len(X):,} numbers. Pass a list of series.")
    series = [_as_steps(one, i, name) for i, one in enumerate(X)]
    if not series:
        raise DataError(f"Found array with 0 sample(s): {name} has no series.")
    for i, one in enumerate(series):
        if one.shape[1] != series[0].shape[1]:
            raise DataError(
                f"{name}: item {i} has {one.shape[1]} values at each step, and item 0 has {series[0].shape[1]}."
            )
    return _objects(series)


def _as_steps(one: Any, i: int, name: str) -> NDArray:
    try:
        steps = np.ascontiguousarray(one, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name}: item {i} is {short_repr(one)}, which is not a series of numbers.", row=i) from None
    n_axes = np.ndim(one)
    if n_axes not in (1, 2) or not steps.size:
        raise DataError(
            f"{name}: item {i} has the shape {np.shape(one)}. A series has steps, or steps and values.", row=i
        )
    steps = steps.reshape(len(steps), -1)
    if not np.isfinite(steps).all():
        step = int(np.flatnonzero(~np.isfinite(steps).all(axis=1))[0])
        raise DataError(f"{name}: item {i} has a missing or infinite value at step {step}. Do not pad series.", row=i)
    return steps


def as_objects(X: Any, name: str = "X") -> NDArray:
    """Objects in a list, or in an array or column of objects, for a kernel of the user."""
    if isinstance(X, (list, tuple)) or (isinstance(X, np.ndarray) and X.ndim == 1):
        return _objects(list(X))
    if len(getattr(X, "shape", ())) == 1 and hasattr(X, "to_list"):
        return _objects(X.to_list())
    raise DataError(f"{name} is {short_repr(X)}. Pass a list of objects.")


def is_list_of_rows(values: list[Any]) -> bool:
    """Whether a list is a matrix: equally many numbers, or missing values among them, in each entry."""
    if not all(isinstance(value, (list, tuple, np.ndarray)) for value in values):
        return False
    try:
        cells = np.asarray(values)
    except ValueError:
        return False
    numeric = cells.dtype.kind in "biufc" or all(cell is None or isinstance(cell, Number) for cell in cells.flat)
    return cells.ndim == 2 and numeric


def _objects(values: list[Any]) -> NDArray:
    """One by one: arrays of equal shape would become one array."""
    made = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        made[i] = value
    return made


CONVERTERS: dict[str, Callable[..., Any]] = {
    "strings": as_strings,
    "series": as_series,
    "table": as_table,
    "objects": as_objects,
}
