"""What comes in as a table of numbers, and one sentence with the place of what is none.

Rows and columns are counted from 0, as numpy does: messages say "row index". (Lines of a file are counted from 1.)
"""

import datetime
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from numbers import Number
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from mercer_old.errors import BadData, counted, in_short, listed, shortened

__all__ = ["about_steps", "refuse_diagonal", "table", "told_where", "with_gaps_as_nan"]

_ARRAYS = ("__array__", "__array_interface__", "__dlpack__", "__dataframe__", "__arrow_c_stream__")
_FRAMES = ("columns", "column_names", "dtypes", "__dataframe__")
# How the types of columns of dates and times begin, in pandas, polars and Arrow.
_TEMPORAL = re.compile(r"date|time|duration|period|interval|month", re.IGNORECASE)
_MOMENTS = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
_AS_NUMBERS = "Leave them out, or turn them into numbers first, such as days since the first."
_LONGEST = 560  # characters of a message
_ENOUGH = 1000  # steps of rounding that rows should differ by, at least
_SOME, _ENTRIES = 1000, 10**6  # rows, and numbers, that are looked at for it


def table(X: Any, label: str = "X") -> Any:
    """X, if it may be a table of numbers; lists as arrays, and without a mask that hides nothing."""
    _refuse_other_things(X, label)
    if isinstance(X, np.ma.MaskedArray):
        _refuse_hidden(X, label)
        X = X.data
    if not (isinstance(X, np.ndarray) or sparse.issparse(X) or any(hasattr(X, name) for name in _FRAMES)):
        X = _as_array(X, label)
    _refuse_complex(X, label)
    _refuse_moments(X, label)
    _refuse_texts(X, label)
    return X


def with_gaps_as_nan(X: Any) -> Any:
    """A masked array, or objects with None or NA among them, with NaN for what is missing; anything else as it is."""
    if isinstance(X, np.ma.MaskedArray) and X.dtype.kind in "fiub":
        kind = np.float32 if X.dtype == np.float32 else np.float64
        return np.where(np.ma.getmaskarray(X), np.nan, X.data).astype(kind)
    if isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 2:
        return np.array([[np.nan if _is_gap(value) else value for value in row] for row in X], object).reshape(X.shape)
    if hasattr(X, "notna") and hasattr(X, "dtypes") and any(str(kind) == "object" for kind in np.atleast_1d(X.dtypes)):
        return X.where(X.notna(), np.nan)
    if not isinstance(X, list) or not any(isinstance(row, (list, tuple)) and any(map(_is_gap, row)) for row in X):
        return X
    return [[np.nan if _is_gap(value) else value for value in row] for row in X]


@contextmanager
def told_where(X: Any, label: str = "", gaps: bool = False) -> Iterator[None]:
    """What scikit-learn refuses, in one sentence, with the place of what is wrong: not NaN, if there may be `gaps`."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # of sums that look for what is not finite
            yield
    except (ValueError, TypeError, OverflowError) as error:
        if "feature names" in str(error):
            raise  # scikit-learn's own words, which say it all
        kind = TypeError if isinstance(error, TypeError) else BadData
        words = _in_one_line(str(error), X)
        which = f"{label}: " if label and label not in words else ""
        wrong = _what_is_wrong_with(X, gaps)
        stop = "." * (bool(wrong) and words[-1:] not in ".:;!?")
        raise kind(shortened(f"{which}{words}{stop} {wrong}".strip(), _LONGEST)) from None


def _in_one_line(text: str, X: Any) -> str:
    """A message without line breaks, printed arrays, and advice that is not for here."""
    if "contains NaN" in text or "contains infinity" in text:
        text = text.split("\n")[0]
    text = re.sub(
        r" instead:\s*array=.*?\.\s*Reshape", f" instead: its shape is {np.shape(X)}. Reshape", text, flags=re.S
    )
    return " ".join(text.split())


# ---------------------------------------------------------------------- no table at all


def _refuse_other_things(X: Any, label: str) -> None:
    """Objects that numpy would take apart piece by piece, for minutes, before it gives up."""
    if isinstance(X, str):
        short = X[:60]
        raise BadData(f"{label} is a text, {short!r}. If it is the name of a file, give pathlib.Path({short!r}).")
    if X is None:
        raise BadData(f"{label} is None; a table of rows and columns is needed.")
    if hasattr(X, "X") and hasattr(X, "obs") and not hasattr(X, "columns"):
        raise TypeError(
            f"{label} is {_a_or_an(type(X).__name__)} object, which holds several tables: give the one that is meant, "
            'such as adata.X or adata.obsm["X_pca"].'
        )
    if isinstance(X, LinearOperator):
        raise TypeError(f"{label} is a LinearOperator, whose rows cannot be read; only a kernel matrix may be one.")
    known = isinstance(X, (np.ndarray, Number, np.generic, memoryview)) or sparse.issparse(X)
    known = known or (isinstance(X, Sequence) and not isinstance(X, (bytes, bytearray)))
    if isinstance(X, type) or not (known or any(hasattr(X, name) for name in _ARRAYS)):
        raise TypeError(
            f"{label} is {_a_or_an(type(X).__name__)}, not a table of numbers: give an array, a list of rows, a "
            "dataframe, a sparse matrix, or the pathlib.Path of a file."
        )
    if isinstance(X, np.ndarray) and X.dtype.names:
        raise BadData(
            f"{label} is a structured array with the fields {listed(map(repr, X.dtype.names))}: make columns of them "
            "with numpy.lib.recfunctions.structured_to_unstructured."
        )


def _a_or_an(name: str) -> str:
    return f"a{'n' * (name[0] in 'aeiouAEIOU')} {name}"


def _refuse_hidden(X: Any, label: str) -> None:
    """Entries behind a mask are not there; numbers that are must not stand in for them."""
    hidden = np.argwhere(np.ma.getmaskarray(X))
    if len(hidden):
        where = ", column ".join(map(str, hidden[0]))
        raise BadData(
            f"{label} is a masked array that hides {len(hidden):,} of its {X.size:,} entries, the first at row index "
            f"{where}: fill them in, or leave out those rows."
        )


def _as_array(X: Any, label: str) -> Any:
    """A list of rows, or anything like an array, as one; which rows differ in length, if numpy cannot make it."""
    if isinstance(X, Sequence) and len(X) and not isinstance(X[0], (str, bytes)) and X[0] is not None:
        _refuse_other_things(X[0], f"row index 0 of {label}")  # numpy would take it apart
    try:
        return np.asarray(X)
    except ValueError:
        other = next((i for i, row in enumerate(X) if not _same_length(row, X[0])), None)
        if other is None:
            raise BadData(f"{label} is a list of rows, and they are not all lists of numbers.") from None
        raise BadData(
            f"{label} is ragged: row index 0 has {_entries(X[0])} and row index {other} has {_entries(X[other])}; all "
            "rows need the same number of entries."
        ) from None


def _same_length(one: Any, other: Any) -> bool:
    return hasattr(one, "__len__") and hasattr(other, "__len__") and len(one) == len(other)


def _entries(row: Any) -> str:
    if not hasattr(row, "__len__"):
        return f"one ({in_short(row)})"
    return f"{len(row)} entr{'y' if len(row) == 1 else 'ies'}"


# ---------------------------------------------------------------------- dates, times and texts


def _refuse_texts(X: Any, label: str) -> None:
    """Arrays of texts, and of nothing at all: scikit-learn's words for them say neither where nor what to do."""
    if isinstance(X, np.ndarray) and X.dtype.kind in "US":
        how = _what_is_wrong_with(X) or "They are numbers written as text: convert them with X.astype(float)."
        raise BadData(f"{label} is an array of texts, and dtype='numeric' is not compatible with them. {how}")
    if hasattr(X, "columns") and np.shape(X)[1:] == (0,):
        raise BadData(f"Found array with 0 feature(s) (shape={np.shape(X)}) while a minimum of 1 is required.")


def _refuse_complex(X: Any, label: str) -> None:
    """scikit-learn prints the numbers after its words."""
    bad = [f"column {in_short(name)}" for name, kind in _columns_of(X) if str(kind).startswith("complex")]
    if bad or getattr(getattr(X, "dtype", None), "kind", "") == "c":
        where = listed(bad) if bad else label
        raise BadData(
            f"Complex data not supported: complex numbers in {where}. Give their real and imaginary parts as columns."
        )


def _refuse_moments(X: Any, label: str) -> None:
    """Dates and durations, which numpy would count in days or nanoseconds without a word."""
    bad = [f"{name!r} ({kind})" for name, kind in _columns_of(X) if _TEMPORAL.match(str(kind))]
    if bad:
        raise TypeError(f"{label} has columns of dates or times, which are no numbers: {listed(bad)}. {_AS_NUMBERS}")
    if not isinstance(X, np.ndarray):
        return
    if X.dtype.kind in "mM":
        what = "dates" if X.dtype.kind == "M" else "durations"
        raise TypeError(f"{label} holds {what} ({X.dtype}), which are no numbers. {_AS_NUMBERS}")
    if X.dtype.kind == "O" and X.ndim == 2 and any(issubclass(kind, _MOMENTS) for kind in {type(v) for v in X.flat}):
        raise TypeError(f"{label} holds dates or times. {_what_is_wrong_with(X)}")


def _columns_of(X: Any) -> list[tuple[Any, Any]]:
    """Names and types of the columns of a dataframe or an Arrow table; none of anything else."""
    if hasattr(X, "columns") and hasattr(X, "dtypes") and not isinstance(X, np.ndarray):
        return list(zip(X.columns, X.dtypes, strict=False))
    if hasattr(X, "column_names") and hasattr(X, "schema"):
        return list(zip(X.column_names, X.schema.types, strict=False))
    return []


# ---------------------------------------------------------------------- numbers that are there, but say little


def about_steps(X: Any) -> str:
    """Where a large constant has left the numbers few digits, by some of the rows; nothing if they have enough."""
    if not isinstance(X, np.ndarray) or X.dtype.kind not in "fiu" or 0 in X.shape:
        return ""
    some = X[:: max(1, len(X) // max(2, min(_SOME, _ENTRIES // X.shape[1])))]
    kind = X.dtype.type if X.dtype.kind == "f" else np.float64  # whole numbers become these
    low, high = some.min(axis=0).astype(kind), some.max(axis=0).astype(kind)
    with np.errstate(over="ignore", invalid="ignore"):
        spreads, sizes = high - low, np.maximum(np.abs(low), np.abs(high))
        if not spreads.max() < _ENOUGH * np.spacing(sizes.max()):  # nearly always
            return ""
    exact = (sizes <= 2**53) if X.dtype.kind != "f" else np.zeros(len(sizes), dtype=bool)
    steps = np.where((spreads > 0) & ~exact, np.spacing(sizes), 0)
    j, spread = int(np.argmax(steps)), float(spreads.max())
    if not spread < _ENOUGH * float(steps[j]):
        return ""
    digits = max(0, int(np.log10(spread / float(steps[j]))))
    return (
        f"Numbers of column {j} are around {float(sizes[j]):.3g}, where {np.dtype(kind)} has steps of "
        f"{float(steps[j]):.2g}, and rows differ by {spread:.2g} at most: what tells them apart has about "
        f"{counted(digits, 'digit')}. Subtract the constant part where the numbers come from."
    )


def refuse_diagonal(matrix: Any) -> None:
    """An item is at distance zero from itself, up to rounding; a matrix of similarities says otherwise."""
    own, largest = np.diagonal(matrix), float(matrix.max())
    if own.max() > 1e-6 * largest:
        i = int(own.argmax())
        raise BadData(
            f"The distance of an item to itself has to be zero, and that of row index {i} is {own[i]:.3g}, against a "
            f"largest of {largest:.3g}. Are these similarities? Turn them into distances first."
        )


# ---------------------------------------------------------------------- where


def _what_is_wrong_with(X: Any, gaps: bool = False) -> str:
    """Where the values are that cannot be used: how many, and the first row and column; nothing if none is found."""
    names = list(getattr(X, "column_names", getattr(X, "columns", ()))) or None
    usable = (lambda numbers: ~np.isinf(numbers)) if gaps else np.isfinite
    if sparse.issparse(X):
        if X.ndim != 2:
            return ""
        X = sparse.coo_array(X)
        bad = ~usable(X.data) if X.dtype.kind == "f" else np.zeros(X.nnz, dtype=bool)
        first = np.lexsort((X.col[bad], X.row[bad]))[:1]
        return _not_finite(int(bad.sum()), X.row[bad][first], X.col[bad][first], names)
    cells = np.asarray(X) if 1 <= np.ndim(X) <= 2 else np.empty((0, 0))
    cells = cells[:, None] if cells.ndim == 1 else cells
    for j in range(cells.shape[1]) if cells.dtype.kind in "OUS" else ():
        if (i := _first_other(cells[:, j])) is not None:
            value = cells[i, j]
            value = value.item() if isinstance(value, (np.str_, np.bytes_)) else value
            shown = f" {in_short(value)}" if isinstance(value, (str, bytes)) else ""
            return (
                f"Column {_column_name(names, j)} holds {_words_for(value)}, first{shown} at row index {i}: "
                "leave it out, or encode it as numbers."
            )
    if cells.dtype.kind == "O":
        cells = np.array([[np.nan if _is_gap(value) else float(value) for value in row] for row in cells])
    rows, columns = np.nonzero(~usable(cells)) if cells.dtype.kind == "f" else (np.empty(0), np.empty(0))
    return _not_finite(len(rows), rows, columns, names)


def _not_finite(count: int, rows: Any, columns: Any, names: list[Any] | None) -> str:
    if not count:
        return ""
    many = f"{count:,} values are" if count > 1 else "One value is"
    return f"{many} not finite, first at row index {rows[0]}, column {_column_name(names, columns[0])}."


def _first_other(column: Any) -> int | None:
    """The first entry that is no number, and no gap."""
    for i, value in enumerate(column):
        try:
            float(value)
        except (TypeError, ValueError, OverflowError):
            if not _is_gap(value):
                return i
        else:
            if isinstance(value, _MOMENTS):
                return i
    return None


def _words_for(value: Any) -> str:
    """What an entry is that is no number."""
    kind = type(value)
    if isinstance(value, (str, bytes)):
        return "text"
    if isinstance(value, complex):
        return "complex numbers"
    if isinstance(value, _MOMENTS):
        return f"dates or times ({kind.__name__})"
    if isinstance(value, Number):
        return "a number too large for a float"
    return f"entries of type {kind.__name__}"


def _is_gap(value: Any) -> bool:
    """None, and what pandas has for it."""
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _column_name(names: list[Any] | None, j: int) -> str:
    return str(j) if names is None else in_short(names[j])
