"""X in memory as a matrix, strings, series, a table or objects: what can be used, and what is wrong with the rest."""

import datetime
import re
from collections.abc import Callable, Mapping, Sequence, Set
from numbers import Number, Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mercer.data.dataset import object_array
from mercer.errors import DataError, MissingValuesError
from mercer.text import counted, listed, short_repr

ACCEPTS_MISSING = "ProbabilisticPCA accepts missing values."
_ARRAYS = ("__array__", "__array_interface__", "__dlpack__", "__dataframe__", "__arrow_c_stream__")
_TEMPORAL = re.compile(r"date|time|duration|period|interval|month", re.IGNORECASE)  # types of pandas, polars, Arrow
_TEXT = re.compile(r"object|str|large_str|utf8|categor|enum|dictionary", re.IGNORECASE)
_NAMED = 5  # columns that a message names
_MOMENTS = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)


def as_matrix(X: Any, estimator: Any, allow_nan: bool) -> Any:
    """X, if scikit-learn can make a matrix of numbers of it: a list as an array, missing values as NaN.

    Rejects what numpy would convert silently, such as dates, or take apart for minutes.
    """
    _check_type(X, "X")
    X = _missing_to_nan(X) if allow_nan else X
    if isinstance(X, np.ma.MaskedArray):
        X = _without_mask(X)
    names = column_names(X)
    if names == []:
        raise DataError(f"Found array with 0 feature(s) (shape={X.shape}) while a minimum of 1 is required.")
    if names is None and not isinstance(X, np.ndarray) and not sparse.issparse(X):
        X = _as_array(X)
    if getattr(getattr(X, "dtype", None), "kind", "") == "c" or any("complex" in str(k) for k in _column_types(X)):
        raise DataError("Complex data not supported. Pass real and imaginary parts as columns.")
    if names is not None:
        _check_numeric(X, names, estimator)
    elif isinstance(X, np.ndarray) and X.dtype.kind in "USOmMT" and X.ndim in (1, 2):
        _check_numeric(X if X.ndim == 2 else X[:, None], None, estimator)
    return X


def column_names(X: Any) -> list[Any] | None:
    """Names of the columns of a frame or Arrow table; None for anything else."""
    names = getattr(X, "column_names", getattr(X, "columns", None))
    return None if names is None or isinstance(X, np.ndarray) or callable(names) else list(names)


def _check_type(X: Any, name: str) -> None:
    if isinstance(X, str):
        raise DataError(f"{name} is a string, {short_repr(X)}. For a file, pass pathlib.Path({short_repr(X)}).")
    if X is None:
        raise DataError(f"{name} is None. A matrix of rows and columns is needed.")
    if hasattr(X, "X") and hasattr(X, "obs") and not hasattr(X, "columns"):
        raise DataError(f"{name} is an {type(X).__name__} object. Pass one of its matrices, such as adata.X.")
    if isinstance(X, np.ndarray) and X.dtype.names:
        text = f"{name} is a structured array with fields {listed(map(repr, X.dtype.names))}."
        raise DataError(f"{text} Convert it with numpy.lib.recfunctions.structured_to_unstructured.")
    known = isinstance(X, (np.ndarray, Number, np.generic, memoryview, Sequence)) or sparse.issparse(X)
    known = known and not isinstance(X, (bytes, bytearray))
    if isinstance(X, type) or not (known or any(hasattr(X, method) for method in _ARRAYS)):
        accepted = "an array, a list of rows, a frame, a sparse matrix or pathlib.Path(…) of a file"
        raise TypeError(f"{name} is of type {type(X).__name__}. Pass {accepted}.")


def check_numbers(X: Any, name: str) -> None:
    """Raise for what numpy would take for numbers: strings, dates, and values that a mask hides."""
    if sparse.issparse(X):
        return
    if isinstance(X, np.ma.MaskedArray):
        _without_mask(X, name)
    values = np.atleast_1d(np.asarray(X) if hasattr(X, "dtype") else np.asarray(X, dtype=object))
    if values.dtype.kind not in "OUSmM":
        return
    row = _first_non_number(values.ravel())
    if row is not None:
        value, row = values.flat[row], row // max(1, values[:1].size)
        text = f"{name} has {_type_of(value)}, first {short_repr(value)} at row index {row}. Pass numbers."
        raise DataError(text, source=name, row=row, value=value)


def _without_mask(X: Any, name: str = "X") -> NDArray:
    """The values of a masked array; those that it hides are never used."""
    hidden = np.argwhere(np.ma.getmaskarray(X))
    if not len(hidden):
        return X.data
    row, *rest = map(int, hidden[0])
    where = f"row index {row}{''.join(f', column {j}' for j in rest)}"
    text = f"{name} is a masked array with {counted(len(hidden), 'masked value')}, first at {where}."
    text = f"{text} {ACCEPTS_MISSING}" if name == "X" else text
    raise MissingValuesError(text, source=name, row=row, column="".join(map(str, rest)) or None)


def _missing_to_nan(X: Any) -> Any:
    """NaN for what a mask hides, and for None and NA among objects."""
    if isinstance(X, np.ma.MaskedArray) and X.dtype.kind in "fiub":
        values = X.data.astype(np.float32 if X.dtype == np.float32 else np.float64)
        values[np.ma.getmaskarray(X)] = np.nan
        return values
    if hasattr(X, "notna") and any(str(kind) == "object" for kind in _column_types(X)):
        return X.where(X.notna(), np.nan)
    if isinstance(X, list) and any(isinstance(row, (list, tuple)) and any(map(is_missing, row)) for row in X):
        return [[np.nan if is_missing(value) else value for value in row] for row in X]
    if isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 2:
        return np.array([[np.nan if is_missing(value) else value for value in row] for row in X], object)
    return X


def _as_array(X: Any) -> Any:
    """A list of rows as an array, or an error with the first row of another length."""
    if isinstance(X, Sequence) and len(X) and isinstance(X[0], (str, bytes)):
        return np.array(X, dtype=object)  # an array of strings would take the longest of them for each
    if isinstance(X, Sequence) and len(X) and X[0] is not None:
        _check_type(X[0], "Row index 0 of X")  # numpy would take it apart
    try:
        return np.asarray(X)
    except ValueError:
        lengths = [len(row) if hasattr(row, "__len__") else 0 for row in X]
        other = next((i for i, length in enumerate(lengths) if length != lengths[0]), None)
        if other is None:
            raise DataError("X is a list whose rows are not lists of numbers.") from None
        text = f"X is ragged: row index 0 has {lengths[0]} values and row index {other} has {lengths[other]}."
        raise DataError(text, row=other) from None


def _column_types(X: Any) -> list[Any]:
    if hasattr(X, "schema") and hasattr(X, "column_names"):
        return list(X.schema.types)
    return list(X.dtypes) if hasattr(X, "dtypes") and hasattr(X, "columns") else []


def _check_numeric(X: Any, names: list[Any] | None, estimator: Any) -> None:
    """Raise an error that names the columns with strings, dates or other objects, and a model that accepts them."""
    types = [str(X.dtype)] * X.shape[1] if names is None else [str(kind) for kind in _column_types(X)]
    found: dict[str, tuple[str, int | None, Any]] = {}  # column: reason, first row, value
    for j, kind in enumerate(types):
        column = str(j) if names is None else repr(names[j])
        if _TEMPORAL.match(kind):
            found[column] = kind, None, None
        elif names is None or _TEXT.match(kind):
            values = _column_values(X, j)
            if (row := _first_non_number(values)) is not None:
                value = values[row].item() if isinstance(values[row], (np.str_, np.bytes_)) else values[row]
                found[column] = f"{_type_of(value)}, first {short_repr(value)} at row index {row}", row, value
    if not found:
        return
    column, (_, row, value) = next(iter(found.items()))
    nouns = ("Columns", "are", "them") if len(found) > 1 else ("Column", "is", "it")
    reasons = listed(f"{name} ({reason})" for name, (reason, *_) in found.items())
    message = f"{nouns[0]} {reasons} of X {nouns[1]} not numeric. {_advice(X, found, names, nouns[2], estimator)}"
    if names is None and not isinstance(value, (str, bytes, Number, type(None), *_MOMENTS)):
        raise TypeError(f"{message} The argument must be a string or a real number.")  # as scikit-learn
    raise DataError(message, row=row, column=column, value=value)


def _advice(X: Any, found: Any, names: list[Any] | None, them: str, estimator: Any) -> str:
    if X.shape[1] == 1 and isinstance(next(iter(found.values()))[2], (str, bytes)):
        option = "metric" if hasattr(estimator, "metric") else "kernel"
        model = "" if hasattr(estimator, option) else "mercer.KernelPCA with "
        return f"To compare strings, use {model}{option}=mercer.kernels.Spectrum(3)."
    if names is None:
        return f"Leave {them} out, or encode {them} as numbers."
    with_code = f" with X.drop({'columns=' if hasattr(X, 'iloc') else ''}[{', '.join(found)}])"
    if len(found) > _NAMED:
        with_code = ' with X.select_dtypes("number")' if hasattr(X, "iloc") else ""
    return (
        f"Leave {them} out{with_code}, or use mercer.KernelPCA(kernel=mercer.kernels.TableKernel()), which compares "
        "columns of all types."
    )


def _column_values(X: Any, j: int) -> NDArray:
    if isinstance(X, np.ndarray):
        return X[:, j]
    column = X.iloc[:, j] if hasattr(X, "iloc") else X.column(j) if hasattr(X, "column") else X[X.columns[j]]
    return np.asarray(column, dtype=object)


def _first_non_number(values: NDArray) -> int | None:
    """The first entry that is neither a number nor missing."""
    for i, value in enumerate(values):
        if not _is_number(value) and not is_missing(value):
            return i
    return None


def _is_number(value: Any) -> bool:
    """Whether a value is a number in the range of float64. Strings of digits may be codes, such as 007."""
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return not isinstance(value, (str, bytes, *_MOMENTS))


def _type_of(value: Any) -> str:
    if isinstance(value, (str, bytes)):
        return "strings"
    if isinstance(value, _MOMENTS):
        return f"dates or times of type {type(value).__name__}"
    return "a number too large for float64" if isinstance(value, Real) else f"values of type {type(value).__name__}"


def is_missing(value: Any) -> bool:
    """Whether a Python object stands for a missing value: None, NaN, NA or NaT."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and bool(value != value)


def float_matrix(X: Any) -> Any:
    """X as float64 with NaN for what is missing, to find the values that are not finite; None if that fails."""
    if sparse.issparse(X):
        return sparse.csr_array(X) if X.ndim == 2 and X.dtype.kind == "f" else None
    errors = (ValueError, TypeError, OverflowError)
    try:
        matrix = np.asarray(X, dtype=np.float64)
    except errors:
        try:
            matrix = _missing_to_nan(np.asarray(X, dtype=object)).astype(np.float64)
        except errors:
            return None
    return matrix if matrix.ndim == 2 else None


# ---------------------------------------------------------------------- strings, series, objects


def as_strings(X: Any, name: str = "X") -> NDArray:
    """Strings in a list, an array, a column of a frame or a frame of one column, as an array of objects."""
    if isinstance(X, (str, bytes)):
        text = f"{name} is one string, {short_repr(X)}. Pass a list of strings, or pathlib.Path(…) for a file."
        raise DataError(text)
    if isinstance(X, (Mapping, Set)):
        text = f"{name} is a {type(X).__name__}. Pass a list of strings, such as list(X.values()) or sorted(X)."
        raise DataError(text)
    is_numeric = getattr(X, "ndim", 1) == 2 and getattr(getattr(X, "dtype", None), "kind", "O") in "biufcmM"
    if sparse.issparse(X) or is_numeric:
        raise DataError(f"{name} is a matrix of numbers of shape {np.shape(X)}, but this kernel compares strings.")
    values = _one_column(X, name)
    if not values:
        raise DataError(f"Found array with 0 sample(s): {name} has no strings.")
    wrong = [i for i, value in enumerate(values) if not isinstance(value, (str, bytes))]
    if wrong:
        first = values[wrong[0]]
        what = 'missing. Leave it out, or fill in ""' if is_missing(first) else f"{short_repr(first)}, not a string"
        text = f"{name}: {len(wrong):,} of {counted(len(values), 'item')} are not strings. Item {wrong[0]} is {what}."
        raise DataError(text, row=wrong[0], value=first)
    other = next((i for i, value in enumerate(values) if isinstance(value, bytes) != isinstance(values[0], bytes)), 0)
    if other:
        raise DataError(f"{name}: items 0 and {other} are str and bytes. Decode the bytes first.", row=other)
    return object_array(values)


def _one_column(X: Any, name: str) -> list[Any]:
    names = column_names(X)
    if names is not None or getattr(X, "ndim", 1) == 2:
        n_columns = len(names) if names is not None else np.shape(X)[1]
        if n_columns != 1:
            which = "" if names is None else f" ({listed(names)})"
            raise DataError(f"{name} has {n_columns} columns{which}, and strings are one column.")
        return X.column(0).to_pylist() if hasattr(X, "to_pylist") else list(np.asarray(X, dtype=object)[:, 0])
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(X, method):
            return list(getattr(X, method)())
    try:
        return list(X)
    except TypeError:
        raise DataError(f"{name} is {short_repr(X)}. Pass a list of strings.") from None


def column_name(X: Any) -> str | None:
    """The name of the only column of a frame, if it is a string."""
    names = column_names(X)
    return names[0] if names is not None and len(names) == 1 and isinstance(names[0], str) else None


def as_series(X: Any, name: str = "X") -> NDArray:
    """Series in a list of arrays, or along the first axis of an array, as float64 matrices (steps, values)."""
    if isinstance(X, (str, bytes, Path, Mapping, Set)) or not hasattr(X, "__iter__"):
        raise DataError(f"{name} is {short_repr(X)}. Pass a list of arrays, one for each series.")
    X = np.asarray(X) if column_names(X) is not None else X
    if isinstance(X, np.ndarray) and X.dtype != object and X.ndim == 1:
        raise DataError(f"{name} is one series of {len(X):,} numbers. Pass a list of series.")
    series = [_as_steps(one, i, name) for i, one in enumerate(X)]
    if not series:
        raise DataError(f"Found array with 0 sample(s): {name} has no series.")
    other = next((i for i, one in enumerate(series) if one.shape[1] != series[0].shape[1]), None)
    if other is not None:
        sizes = f"{series[other].shape[1]} values at each step, and item 0 has {series[0].shape[1]}"
        raise DataError(f"{name}: item {other} has {sizes}.", row=other)
    return object_array(series)


def _as_steps(one: Any, i: int, name: str) -> NDArray:
    try:
        steps = np.ascontiguousarray(one, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name}: item {i} is {short_repr(one)}, which is not a series of numbers.", row=i) from None
    if np.ndim(one) not in (1, 2) or not steps.size:
        text = f"{name}: item {i} has the shape {np.shape(one)}. A series has steps, or steps and values."
        raise DataError(text, row=i)
    steps = steps.reshape(len(steps), -1)
    if not np.isfinite(steps).all():
        step = int(np.flatnonzero(~np.isfinite(steps).all(axis=1))[0])
        raise DataError(f"{name}: item {i} has a missing or infinite value at step {step}. Do not pad series.", row=i)
    return steps


def as_objects(X: Any, name: str = "X") -> NDArray:
    """Objects in a list, or in an array or column of objects, for a kernel of the user."""
    if (values := list_of_objects(X)) is None:
        raise DataError(f"{name} is {short_repr(X)}. Pass a list of objects.")
    if not values:
        raise DataError(f"Found array with 0 sample(s): {name} has no objects.")
    return object_array(values)


def list_of_objects(X: Any) -> list[Any] | None:
    """What is in a list, a one-dimensional array or a column; None for anything else."""
    if isinstance(X, (list, tuple)) or (isinstance(X, np.ndarray) and X.ndim == 1):
        return list(X)
    is_column = len(getattr(X, "shape", ())) == 1 and column_names(X) is None and hasattr(X, "to_list")
    return list(X.to_list()) if is_column else None


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


def _as_table(X: Any, name: str = "X") -> Any:
    from mercer.data.table import as_table

    return as_table(X, name)


CONVERTERS: dict[str, Callable[..., Any]] = {
    "strings": as_strings,
    "series": as_series,
    "table": _as_table,
    "objects": as_objects,
}
