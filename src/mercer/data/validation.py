"""X as a validated dataset: scikit-learn's rules, and the location of the first value that cannot be used."""

import operator
import re
from collections.abc import Callable
from contextlib import suppress
from copy import copy
from functools import reduce
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from mercer.data.conversion import (
    ACCEPTS_MISSING,
    CONVERTERS,
    as_matrix,
    check_numbers,
    column_name,
    column_names,
    float_matrix,
)
from mercer.data.dataset import (
    SMALL_INTEGERS,
    ArrayDataset,
    Dataset,
    Kind,
    with_columns,
    with_floats,
    without_duplicates,
)
from mercer.errors import DataError, MercerError, MissingValuesError, Remedy, warn, warn_each
from mercer.numerics.blocking import block_rows
from mercer.text import counted, short_repr, shorten

_FEATURE_OPTIONS = {"columns", "mask_var"}  # notes with these remedies are about columns that were left out
_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
_KEPT = (*_FLOATS, *SMALL_INTEGERS, np.dtype(bool))
_WEIGHTS = 1e-290, 1e290  # range of positive weights whose sums and roots keep their digits
_THINGS = "row|sample|subject|patient|case|record|observation|obs|item|index"
_ID_NAME = re.compile(
    rf"(?i)#|idx|ids?|nr|no|({_THINGS})s?|({_THINGS})[ _.-]?(id|nr|no|num|number|names?|index)|unnamed: ?0"
    r"|.*[ _.-](id|idx)|(?-i:.*[a-z]ID)"
)
TIME_NAME = re.compile(r"(?i)t|x|.*(time|date|year|month|week|day|hour|min|sec|step|frame|epoch|age|lag|tick|cycle).*")
ROWS_THAT_COUNT = 20  # consecutive integers that are not a coincidence
_DIGITS = 1000.0  # units in the last place that rows should differ by at least


def as_dataset(
    X: Any,
    estimator: Any,
    *,
    reset: bool,
    kind: Kind = "vectors",
    allow_nan: bool = False,
    check_finite: bool = True,
    keep_integers: bool = True,
) -> Dataset:
    """Return X as a validated dataset whose features match those of `estimator`.

    Arrays in memory follow scikit-learn's `validate_data`. Files and streams are opened here and read later.

    Parameters
    ----------
    X : array-like, sparse matrix, frame, pathlib.Path, Dataset or stream
        Samples. Arrays of other libraries are read through DLPack.
    estimator : estimator
        Receives `n_features_in_` and `feature_names_in_`, or is compared with.
    reset : bool
        Whether this is a fit. If not, a frame or file may have its columns in another order: they are found by name.
    kind : str, default="vectors"
        What the samples are.
    allow_nan : bool, default=False
        Whether missing values are accepted.
    check_finite : bool, default=True
        False for algorithms whose sums reveal non-finite values.
    keep_integers : bool, default=True
        Whether integers of at most 16 bits stay integers, for algorithms that convert block by block.
    """
    if type(X) is not np.ndarray:
        X = _open(X, estimator, kind, reset)
    if isinstance(X, Dataset):
        if X.kind != kind:
            raise DataError(f"{X.source.name} has {X.kind}, but this model compares {kind}.", source=X.source.name)
        data = copy(X)
        data.allow_nan = allow_nan
        data = check_features(estimator, data, reset=reset)
        data = data if keep_integers else with_floats(data)
        if check_finite and data.in_memory and kind == "vectors" and not is_finite(data.load()):
            raise_nonfinite(data)
    elif kind == "vectors":
        data = ArrayDataset(check_vectors(X, estimator, reset, allow_nan, check_finite, keep_integers))
        data.allow_nan = allow_nan
        is_array = isinstance(X, np.ndarray)  # a matrix made from a frame may share its memory
        data.owns_samples = not np.may_share_memory(data.samples, X) if is_array else isinstance(X, (list, tuple))
        names = getattr(estimator, "feature_names_in_", None)
        data.feature_names = None if names is None else tuple(names)
        if reset:
            warn_about_precision(data)
    else:
        data = _convert(X, kind)
        if reset or kind != "table":  # a table kernel finds its columns by name, and reports missing ones
            data = check_features(estimator, data, reset=reset)
    if kind == "strings" and not reset:
        _check_same_strings(estimator, data)
    if reset:
        warn_each(note for note in data.source.notes if any(r.parameter in _FEATURE_OPTIONS for r in note.remedies))
    if reset and data.feature_names is not None and kind == "vectors":
        warn_about_columns(data)
    return data


def _open(X: Any, estimator: Any, kind: Kind, reset: bool) -> Any:
    """Paths, streams and memory maps as datasets, arrays of other libraries as those of numpy, the rest as it is."""
    memory_limit = getattr(estimator, "memory_limit", None)
    if isinstance(X, Path):
        from mercer.data.opening import open_dataset

        data = open_dataset(X, kind=kind, memory_limit=memory_limit)
        names = None if reset else getattr(estimator, "feature_names_in_", None)
        if names is not None and data.feature_names is not None and {*names} != {*data.feature_names}:
            with suppress(MercerError):  # what is a feature was decided by the fit; without all of them, as opened
                data = open_dataset(X, kind=kind, memory_limit=memory_limit, columns=[str(name) for name in names])
        return data
    if isinstance(X, (Dataset, list, tuple)) or sparse.issparse(X):
        return X
    if isinstance(X, np.memmap) and kind == "vectors" and X.ndim == 2 and X.dtype.kind in "fiub" and X.size:
        from mercer.data.numpy_files import MemmapDataset

        return MemmapDataset(X)
    if hasattr(X, "__dlpack__") and not isinstance(X, np.ndarray):
        from mercer.compat.array_api import to_numpy

        return to_numpy(X)
    if kind == "vectors" and is_stream(X):
        from mercer.budget import parse_memory
        from mercer.data.streams import open_stream

        return open_stream(X, parse_memory(memory_limit))
    return X


def is_stream(X: Any) -> bool:
    """Whether X gives its rows batch by batch. Frames in memory do so, too, and have one of the other protocols."""
    if isinstance(X, type) or any(hasattr(X, name) for name in ("__array__", "__dataframe__", "__dlpack__")):
        return False
    return any(hasattr(X, name) for name in ("__arrow_c_stream__", "collect_schema", "to_arrow_table", "scanner"))


def _convert(X: Any, kind: Kind) -> Dataset:
    """Strings, series, tables and objects in memory."""
    data = ArrayDataset(CONVERTERS[kind](X), kind)
    if kind == "table":
        names = data.samples.names
        data.feature_names = tuple(names) if all(isinstance(name, str) for name in names) else None
    elif (name := column_name(X)) is not None:
        data.feature_names = (name,)
    return data


def _check_same_strings(estimator: Any, data: Dataset) -> None:
    """bytes and str have no character in common, whatever they spell."""
    known = getattr(estimator, "X_fit_", getattr(estimator, "landmarks_", None))
    if known is not None and len(known) and isinstance(known[0], bytes) != isinstance(data.take([0])[0], bytes):
        kinds = ("str", "bytes") if isinstance(known[0], bytes) else ("bytes", "str")
        text = f"{data.source.name} has {kinds[0]}, and the strings of the fit were {kinds[1]}. Decode the bytes first."
        raise DataError(text, source=data.source.name)


# ---------------------------------------------------------------------- numbers in memory


def check_vectors(
    X: Any, estimator: Any, reset: bool, allow_nan: bool, check_finite: bool, keep_integers: bool = True
) -> Any:
    """Validate a matrix with scikit-learn's rules. An error has the location of the first unusable value."""
    if _is_plain(X, estimator, reset):
        if reset:
            estimator.n_features_in_ = X.shape[1]
            estimator.__dict__.pop("feature_names_in_", None)
        if check_finite and not is_finite(X):
            data = ArrayDataset(X)
            data.allow_nan = allow_nan
            raise_nonfinite(data)
        return X
    if type(X) is not np.ndarray or X.dtype.kind not in "fiub":
        X = as_matrix(X, estimator, allow_nan)
    X = X if reset else _in_order_of_fit(X, estimator)
    finite = "allow-nan" if allow_nan and check_finite else check_finite
    dtypes = list(_KEPT if keep_integers else _FLOATS)
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            matrix = validate_data(
                estimator, X, accept_sparse="csr", reset=reset, ensure_all_finite=finite, dtype=dtypes
            )
    except (ValueError, TypeError, OverflowError) as error:
        raise _explain_rejection(error, X, allow_nan) from None
    if reset and matrix.dtype == np.float64:
        _warn_about_large_integers(X)
    if matrix.dtype == bool:
        matrix = matrix.astype(np.uint8) if sparse.issparse(matrix) else matrix.view(np.uint8)
    return without_duplicates(matrix) if sparse.issparse(matrix) else matrix


def _is_plain(X: Any, estimator: Any, reset: bool) -> bool:
    """Whether X is an ordinary float matrix that fits the estimator: nothing else is to be checked."""
    if type(X) is not np.ndarray or X.ndim != 2 or X.dtype not in _FLOATS or not X.size:
        return False
    return reset or (X.shape[1] == estimator.n_features_in_ and not hasattr(estimator, "feature_names_in_"))


def _in_order_of_fit(X: Any, estimator: Any) -> Any:
    """A frame with the columns of the fit in another order, in that of the fit; anything else as it is."""
    known, names = getattr(estimator, "feature_names_in_", None), column_names(X)
    if known is None or names is None or names == list(known) or sorted(map(str, names)) != sorted(known):
        return X
    return X.select(list(known)) if hasattr(X, "select") else X[list(known)]


def _explain_rejection(error: Exception, X: Any, allow_nan: bool) -> Exception:
    """scikit-learn's error, with the location of the first unusable value."""
    text = str(error)
    if "feature names" in text:
        return error
    if "contains NaN" in text or "contains infinity" in text:
        text = text.split("\n")[0]
    text = re.sub(r" instead:\s*array=.*?\.\s*Reshape", f" instead, of shape {np.shape(X)}. Reshape", text, flags=re.S)
    text = shorten(" ".join(text.split()), 560)
    matrix = float_matrix(X)
    found = None if matrix is None else _find_nonfinite(ArrayDataset(matrix), None, allow_nan)
    if found is not None and found.n_found:
        names = column_names(X)
        column = str(found.column) if names is None else repr(names[found.column])
        return _nonfinite_error(text.rstrip("."), found, column, "X")
    return TypeError(text) if isinstance(error, TypeError) else DataError(text)


# ---------------------------------------------------------------------- finite values


def is_finite(block: Any) -> bool:
    """Whether all entries are finite: by their sum, and entry by entry only if that is not finite."""
    values = block.data if sparse.issparse(block) else block
    if values.dtype.kind != "f":
        return True
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(np.sum(values)) or np.isfinite(values).all())


class _Nonfinite(NamedTuple):
    """The first value that a model does not accept, how many there are, and the rows that were read."""

    row: int = 0
    column: int = 0
    value: float = 0.0
    n_found: int = 0
    n_rows: int = 0

    def followed_by(self, other: "_Nonfinite") -> "_Nonfinite":
        """Both, where the rows of `other` follow those of this one."""
        first = self if self.n_found else other._replace(row=self.n_rows + other.row)
        return first._replace(n_found=self.n_found + other.n_found, n_rows=self.n_rows + other.n_rows)


def _find_in_block(block: Any, allow_nan: bool) -> _Nonfinite:
    if is_finite(block):
        return _Nonfinite(n_rows=block.shape[0])
    values = block.data if sparse.issparse(block) else block
    wrong = np.isinf(values) if allow_nan else ~np.isfinite(values)
    if sparse.issparse(block):
        entries = block.tocoo()
        rows, columns, values = entries.row[wrong], entries.col[wrong], values[wrong]
    else:
        rows, columns = np.nonzero(wrong)
        values = values[wrong]
    if not len(rows):
        return _Nonfinite(n_rows=block.shape[0])
    return _Nonfinite(int(rows[0]), int(columns[0]), float(values[0]), len(rows), block.shape[0])


def _find_nonfinite(data: Dataset, weights: Any, allow_nan: bool, progress: Any = None) -> _Nonfinite:
    blocks = data.blocks(block_rows(data.shape[1]))
    return reduce(_Nonfinite.followed_by, (_find_in_block(block, allow_nan) for block in blocks), _Nonfinite())


def check_finite(block: Any, data: Dataset, first_row: int, locate: Callable[[int], str] | None = None) -> None:
    """Raise an error with the location of the first value of a block that the model does not accept."""
    if is_finite(block):
        return
    found = _find_in_block(block, data.allow_nan)
    if found.n_found:
        row, column, source = first_row + found.row, _feature(data, found.column), data.source.name
        what = "a missing value" if np.isnan(found.value) else "an infinite value"
        where = locate(row) if locate else f"row index {row}"
        raise _error_for(found.value, f"{source} contains {what} in {where}, column {column}.", source, row, column)


def raise_nonfinite(data: Dataset) -> None:
    """Raise an error with the location of the first value that the model does not accept, if there is one.

    Reads the data once.
    """
    found = data.reduce(_find_nonfinite, data.allow_nan, combine=_Nonfinite.followed_by)
    if found.n_found:
        what = "NaN" if np.isnan(found.value) else "infinity or a value too large for float64"
        name = data.source.name
        remedy = "Compute the entry of this pair of samples." if data.kind == "precomputed" else ACCEPTS_MISSING
        raise _nonfinite_error(f"Input {name} contains {what}", found, _feature(data, found.column), name, remedy)


def _nonfinite_error(
    text: str, found: _Nonfinite, column: str, source: str, remedy: str = ACCEPTS_MISSING
) -> DataError:
    many = "One value is" if found.n_found == 1 else f"{found.n_found:,} values are"
    text = f"{text}. {many} not finite, first at row index {found.row}, column {column}."
    return _error_for(found.value, text, source, found.row, column, remedy)


def _error_for(value: float, text: str, source: str, row: int, column: str, remedy: str = ACCEPTS_MISSING) -> DataError:
    """The error for a value; `remedy` is that of a missing one."""
    if np.isnan(value):
        text = f"{text} {remedy}"
        return MissingValuesError(text, source=source, row=row, column=column, value=value)
    return DataError(text, source=source, row=row, column=column, value=value)


def _feature(data: Dataset, column: int) -> str:
    return str(column) if data.feature_names is None else repr(data.feature_names[column])


def has_missing(data: Dataset) -> bool:
    """Whether there are missing values. Reads the data once, or until the first of them."""
    return bool(data.reduce(_find_missing, combine=operator.or_))


def _find_missing(data: Dataset, weights: Any, progress: Any = None) -> bool:
    for block in data.blocks(block_rows(data.shape[1])):
        values = block.data if sparse.issparse(block) else block
        if not is_finite(block) and np.isnan(values).any():
            return True
    return False


# ---------------------------------------------------------------------- features and weights


def check_features(estimator: Any, data: Dataset, *, reset: bool) -> Dataset:
    """The data, with features as those of the fit: by name if both have names. `reset` stores them."""
    n_features, names = data.shape[1], data.feature_names
    if reset:
        estimator.n_features_in_ = n_features
        estimator.__dict__.pop("feature_names_in_", None)
        if names is not None:
            estimator.feature_names_in_ = np.array(names, dtype=object)
        return data
    fitted = getattr(estimator, "feature_names_in_", None)
    if fitted is not None and names is not None and list(fitted) != list(names):
        unseen, missing = sorted({*names} - {*fitted}), sorted({*fitted} - {*names})
        if unseen or missing:
            raise DataError(_other_names(unseen, missing), source=data.source.name, column=(unseen or missing)[0])
        position = {name: j for j, name in enumerate(names)}
        return with_columns(data, np.array([position[name] for name in fitted]))
    if n_features != estimator.n_features_in_:
        expected = f"{type(estimator).__name__} is expecting {estimator.n_features_in_} features as input"
        raise DataError(f"{data.source.name} has {n_features} features, but {expected}.", source=data.source.name)
    return data


def _other_names(unseen: list[str], missing: list[str]) -> str:
    """In scikit-learn's words."""
    text = "The feature names should match those that were passed during fit.\n"
    for words, names in (("unseen at fit time", unseen), ("seen at fit time, yet now missing", missing)):
        if names:
            text += f"Feature names {words}:\n" + "".join(f"- {name}\n" for name in names[:5])
            text += "- ...\n" if len(names) > 5 else ""
    return text


def check_sample_weight(sample_weight: Any, n_samples: int) -> NDArray:
    """One non-negative weight for each row, not all of them zero."""
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n_samples, sample_weight, dtype=np.float64)
    elif hasattr(sample_weight, "__dlpack__") and not isinstance(sample_weight, np.ndarray):
        from mercer.compat.array_api import to_numpy

        sample_weight = to_numpy(sample_weight)
    check_numbers(sample_weight, "sample_weight")
    weights = check_array(sample_weight, ensure_2d=False, dtype=np.float64, order="C", ensure_all_finite=False)
    wrong = np.flatnonzero(~((weights >= 0) & (weights < np.inf)))
    if len(wrong):
        raise _weight_error(weights.flat[wrong[0]], int(wrong[0]))
    positive, problem = weights[weights > 0], ""
    if weights.ndim != 1:
        problem = f"Sample weights must be 1D array or scalar, got {weights.ndim}D array."
    elif weights.shape != (n_samples,):
        problem = f"sample_weight.shape == {weights.shape}, expected {(n_samples,)}!"
    elif not len(positive):
        problem = "Sample weights must contain at least one non-zero number."
    elif not _WEIGHTS[0] < positive.min() <= positive.max() < _WEIGHTS[1]:
        span = f"{positive.min():.3g} to {positive.max():.3g}"
        problem = f"Sample weights from {span} are too far from 1. Divide them by a constant."
    if problem:
        raise DataError(problem, source="sample_weight")
    return weights


def _weight_error(value: float, row: int) -> DataError:
    """In scikit-learn's words, with the row."""
    text = "Negative values in data passed to `sample_weight`"
    if not np.isfinite(value):
        text = f"Input sample_weight contains {'NaN' if np.isnan(value) else 'infinity'}"
    return DataError(f"{text}: {value:g} at row index {row}.", source="sample_weight", row=row, value=float(value))


def apply_sample_weight(data: Dataset, sample_weight: Any) -> tuple[Dataset, NDArray | None]:
    """The data and their weights. In memory, rows of weight zero are left out after they were checked."""
    if sample_weight is None:
        return data, None
    weights = check_sample_weight(sample_weight, len(data))
    if not isinstance(data, ArrayDataset) or weights.all():
        return data, weights
    if data.kind == "vectors" and not is_finite(data.load()):
        raise_nonfinite(data)
    positive = weights > 0
    kept = data.with_samples(data.load(positive))
    if data.metadata.columns:
        kept.metadata = data.metadata.take(np.flatnonzero(positive))
    return kept, weights[positive]


def count_repeated(weights: NDArray | None, n_samples: int) -> int:
    """Rows that integer weights stand for; `n_samples` if the weights are not integers."""
    if weights is None or not np.array_equal(weights, np.floor(weights)) or weights.sum() >= 2**53:
        return n_samples
    return int(weights.sum())


# ---------------------------------------------------------------------- warnings


def looks_like_id(name: object) -> bool:
    """Whether a column of this name may identify rows: id, index, row, sample, patient_id, customerID, …"""
    return _ID_NAME.fullmatch(str(name).strip()) is not None


def warn_about_columns(data: Dataset) -> None:
    """Warn about columns that identify or count rows.

    These are columns named like an identifier whose values are integers that are all different; and, in memory,
    columns that are 0, 1, 2, … or 1, 2, 3, … in 20 or more rows, unless their name is one of a time axis. A column
    of years, or any other integers, is left alone.
    """
    names = data.feature_names or ()
    named = [j for j, name in enumerate(names) if looks_like_id(name)]
    if data.is_sparse or len(data) < 3 or (not named and not data.in_memory):
        return
    rows = data.load() if data.in_memory else next(iter(data.blocks(1000)))
    counting: list[int] = []
    if data.in_memory and len(rows) >= ROWS_THAT_COUNT:
        first, second = rows[0].astype(np.float64), rows[1].astype(np.float64)
        likely = np.flatnonzero(((first == 0) | (first == 1)) & (second - first == 1))
        candidates = [int(j) for j in likely if not TIME_NAME.fullmatch(str(names[j]))]
        counting = [j for j in candidates if is_counting(rows[:, j])]
    for j in sorted({*counting, *(j for j in named if _are_distinct_integers(rows[:, j]))}):
        what = "counts the rows" if j in counting else "identifies rows: its values are integers, all different"
        in_file = data.source.path is not None
        remedy = "" if in_file else " Drop the column before the fit."
        text = f"Column {short_repr(names[j])} {what}. As a feature it distorts the components.{remedy}"
        warn(text, remedies=[Remedy("drop", [names[j]])] if in_file else [])


def is_counting(column: NDArray) -> bool:
    """Whether the values are 0, 1, 2, … or 1, 2, 3, …"""
    values = column.astype(np.float64)
    return values[0] in (0, 1) and bool((np.diff(values) == 1).all())


def _are_distinct_integers(column: NDArray) -> bool:
    values = column.astype(np.float64)
    return bool((values == np.floor(values)).all()) and len(np.unique(values)) == len(values)


def _warn_about_large_integers(X: Any) -> None:
    """Warn if float64 rounds the integers of an array."""
    if not (isinstance(X, np.ndarray) and X.dtype.kind in "iu" and X.dtype.itemsize == 8):
        return
    largest = max(int(X.max()), -int(X.min()))
    if largest > 2**53:
        warn(f"X holds integers up to {largest:.3g}, which float64 rounds beyond 2**53. Subtract a constant first.")


def warn_about_precision(data: ArrayDataset) -> None:
    """Warn if a large constant has left the values few digits, judged by up to 1,000 rows."""
    X = data.samples
    if data.nnz is not None or X.dtype.kind != "f":
        return
    some = X[:: max(1, len(X) // max(2, min(1000, 10**6 // X.shape[1])))]
    eps = 2.0**-52 if X.dtype == np.float64 else 2.0**-23
    with np.errstate(over="ignore", invalid="ignore"):
        size = max(float(some.max()), -float(some.min()))
        if not np.abs(some[0] - some[-1]).max() < _DIGITS * eps * size:  # nearly always
            return
        spreads, sizes = np.ptp(some, axis=0).astype(np.float64), np.abs(some).max(axis=0)
        steps = np.where((spreads > 0) & ~(some == np.floor(some)).all(axis=0), np.spacing(sizes), 0)
    j, spread = int(np.argmax(steps)), float(spreads.max())
    if spread < _DIGITS * float(steps[j]) and np.isfinite(size):
        digits = max(0, int(np.log10(spread / float(steps[j]))))
        warn(
            f"Values of column {_feature(data, j)} are around {float(sizes[j]):.3g}, where {X.dtype} has steps of "
            f"{float(steps[j]):.2g}, and rows differ by at most {spread:.2g}: about {counted(digits, 'digit')} are "
            "left. Subtract the constant part where the values are computed."
        )
