"""X as a validated dataset: scikit-learn's rules, and the location of the first value that cannot be used."""

from collections.abc import Callable
from copy import copy
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import check_non_negative, validate_data

from mercer.data.dataset import ArrayDataset, Dataset, Kind
from mercer.errors import DataError, MissingValuesError, Remedy, warn
from mercer.numerics.blocking import block_rows
from mercer.text import printable, short_repr, shorten

_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
_INDEX_NAMES = {"id", "index", "row", "rownames", "row_names", "row_id", "unnamed: 0", "rowname", "row.names"}
_WEIGHTS = 1e-290, 1e290  # range of positive weights whose sums and roots keep their digits


def as_dataset(
    X: Any,
    estimator: Any,
    *,
    reset: bool,
    kind: Kind = "vectors",
    allow_nan: bool = False,
    check_finite: bool = True,
) -> Dataset:
    """Return X as a validated dataset whose features match those of `estimator`.

    Arrays in memory follow scikit-learn's `validate_data`. Files are opened here and read later.
    `check_finite=False` is for algorithms whose sums reveal non-finite values anyway.
    """
    if isinstance(X, Path):
        from mercer.data.opening import open_dataset

        X = open_dataset(X, kind=kind, memory_limit=getattr(estimator, "memory_limit", None))
    if isinstance(X, Dataset):
        if X.kind != kind:
            raise DataError(f"{X.source.name} holds {X.kind}, but this model compares {kind}.", source=X.source.name)
        data = copy(X)
        data.allow_nan = allow_nan
        check_features(estimator, data, reset=reset)
    elif kind != "vectors":
        from mercer.data.conversion import CONVERTERS

        data = ArrayDataset(CONVERTERS[kind](X), kind)
        check_features(estimator, data, reset=reset)
    else:
        data = ArrayDataset(check_vectors(X, estimator, reset, allow_nan, check_finite))
        data.allow_nan = allow_nan
        names = getattr(estimator, "feature_names_in_", None)
        data.feature_names = None if names is None else tuple(names)
    if reset:
        _warn_about_columns(data, estimator)
    return data


def check_vectors(X: Any, estimator: Any, reset: bool, allow_nan: bool, check_finite: bool) -> Any:
    """Validate X with scikit-learn's rules."""
    if _is_plain(X, estimator, reset):
        if reset:
            estimator.n_features_in_ = X.shape[1]
        if check_finite and not _is_finite(X):
            raise_nonfinite(ArrayDataset(X), allow_nan)
        return X
    X = _check_supported(X)
    finite = "allow-nan" if allow_nan and check_finite else check_finite
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            matrix = validate_data(
                estimator, X, accept_sparse="csr", reset=reset, ensure_all_finite=finite, dtype=list(_FLOATS)
            )
    except (ValueError, TypeError, OverflowError) as error:
        raise _explain_rejection(error, X) from None
    if sparse.issparse(matrix) and not matrix.has_canonical_format:
        matrix = matrix.copy()  # never change the user's matrix
        matrix.sum_duplicates()
    return matrix


def _is_plain(X: Any, estimator: Any, reset: bool) -> bool:
    """Whether X is an ordinary float matrix that fits the estimator: nothing else is to be checked."""
    if type(X) is not np.ndarray or X.ndim != 2 or X.dtype not in _FLOATS or not X.size:
        return False
    return reset or (X.shape[1] == estimator.n_features_in_ and not hasattr(estimator, "feature_names_in_"))


def _is_finite(block: Any) -> bool:
    """Whether all entries are finite: by their sum, and entry by entry only if that is not finite."""
    values = block.data if sparse.issparse(block) else block
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(np.sum(values)) or np.isfinite(values).all())


def check_finite(block: Any, data: Dataset, first_row: int, locate: Callable[[int], str] | None = None) -> None:
    """Raise an error with the location of the first value of a block that the model does not accept."""
    if _is_finite(block):
        return
    if sparse.issparse(block):
        block = block.tocoo()
        wrong = np.isinf(block.data) if data.allow_nan else ~np.isfinite(block.data)
        places = np.column_stack([block.row[wrong], block.col[wrong]])
        values = block.data[wrong]
    else:
        places = np.argwhere(np.isinf(block) if data.allow_nan else ~np.isfinite(block))
        values = block[tuple(places.T)]
    if not len(places):
        return
    (row, column), value = map(int, places[0]), float(values[0])
    name = str(column) if data.feature_names is None else repr(data.feature_names[column])
    where = locate(first_row + row) if locate else f"row index {first_row + row}"
    kind, what = (MissingValuesError, "a missing value") if np.isnan(value) else (DataError, "an infinite value")
    raise kind(
        f"{data.source.name} contains {what} in {where}, column {name}.",
        source=data.source.name,
        row=first_row + row,
        column=name,
        value=value,
    )


def _check_supported(X: Any) -> Any:
    """Reject what numpy would convert silently or take apart for minutes."""
    if isinstance(X, str):
        raise DataError(f"X is a string, {X[:60]!r}. For a file, pass pathlib.Path({X[:60]!r}).")
    if X is None:
        raise DataError("X is None. A matrix of rows and columns is needed.")
    if isinstance(X, np.ma.MaskedArray):
        hidden = np.argwhere(np.ma.getmaskarray(X))
        if len(hidden):
            row, column = hidden[0]
            raise MissingValuesError(
                f"X is a masked array with {len(hidden):,} masked entries, first at row index {row}, column {column}.",
                row=int(row),
                column=str(column),
            )
        return X.data
    if isinstance(X, np.ndarray) and X.dtype.kind in "mM":
        raise TypeError(
            f"X holds dates or durations ({X.dtype}), which are not numeric. Convert them to numbers first."
        )
    return X


def _explain_rejection(error: Exception, X: Any) -> Exception:
    """scikit-learn's error with the location of the first unusable value."""
    text = str(error)
    if "feature names" in text:
        return error
    if "contains NaN" in text or "contains infinity" in text:
        text = text.split("\n")[0]
    text = " ".join(text.split())
    where = _first_nonfinite(X)
    if where is None:
        return TypeError(text) if isinstance(error, TypeError) else DataError(shorten(text, 560))
    row, column, value, count = where
    return _nonfinite_error(text.rstrip("."), row, column, value, count, "X")


def _first_nonfinite(X: Any) -> tuple[int, str, float, int] | None:
    try:
        values = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    except (ValueError, TypeError, OverflowError):
        return None
    bad = np.argwhere(~np.isfinite(values)) if values.ndim == 2 else np.empty((0, 2), int)
    if not len(bad):
        return None
    row, column = map(int, bad[0])
    names = list(X.columns) if hasattr(X, "columns") else None
    return row, str(column) if names is None else repr(names[column]), float(values[row, column]), len(bad)


def _nonfinite_error(text: str, row: int, column: str, value: float, count: int, source: str) -> DataError:
    many = "One value is" if count == 1 else f"{count:,} values are"
    kind = MissingValuesError if np.isnan(value) else DataError
    message = f"{text}. {many} not finite, first at row index {row}, column {column}."
    return kind(message, source=source, row=row, column=column, value=value)


def raise_nonfinite(data: Dataset, allow_nan: bool = False) -> None:
    """Raise an error with the location of the first non-finite value, if there is one.

    Reads the data once.
    """
    _, first, count = data.reduce(_find_nonfinite, allow_nan, combine=_earlier)
    if first is None:
        return
    row, column, value = first
    name = str(column) if data.feature_names is None else repr(data.feature_names[column])
    what = "NaN" if np.isnan(value) else "infinity or a value too large for float64"
    raise _nonfinite_error(f"Input {data.source.name} contains {what}", row, name, value, count, data.source.name)


_Found = tuple[int, tuple[int, int, float] | None, int]  # rows, first non-finite value (row, column, value), number


def _find_nonfinite(data: Dataset, weights: Any, allow_nan: bool, progress: Any = None) -> _Found:
    start, first, count = 0, None, 0
    for block in data.blocks(block_rows(data.shape[1])):
        if not _is_finite(block):
            dense = block.toarray() if sparse.issparse(block) else block
            bad = np.argwhere(np.isinf(dense) if allow_nan else ~np.isfinite(dense))
            count += len(bad)
            if first is None and len(bad):
                row, column = map(int, bad[0])
                first = start + row, column, float(dense[row, column])
        start += block.shape[0]
    return start, first, count


def _earlier(left: _Found, right: _Found) -> _Found:
    """Both, where the rows of `right` follow those of `left`."""
    (n_left, first, count), (n_right, second, more) = left, right
    if first is None and second is not None:
        first = n_left + second[0], second[1], second[2]
    return n_left + n_right, first, count + more


def check_features(estimator: Any, data: Dataset, *, reset: bool) -> None:
    """Number and names of the features against those of the fit; `reset` stores them."""
    n_features, names = data.shape[1], data.feature_names
    if reset:
        estimator.n_features_in_ = n_features
        if names is not None:
            estimator.feature_names_in_ = np.array(names, dtype=object)
        return
    if n_features != estimator.n_features_in_:
        raise DataError(
            f"{data.source.name} has {n_features} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input.",
            source=data.source.name,
        )
    known = getattr(estimator, "feature_names_in_", None)
    if known is None or names is None:
        return
    first = next((i for i in range(n_features) if known[i] != names[i]), None)
    if first is not None:
        raise DataError(
            "The feature names should match those that were passed during fit: column "
            f"{first} of {printable(data.source.name)} is {names[first]!r}, not {known[first]!r}.",
            source=data.source.name,
        )


def check_sample_weight(sample_weight: Any, n_samples: int) -> NDArray:
    """One non-negative weight for each row, not all of them zero."""
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n_samples, sample_weight, dtype=np.float64)
    weights = check_array(sample_weight, ensure_2d=False, dtype=np.float64, order="C", input_name="sample_weight")
    if weights.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar")
    if weights.shape != (n_samples,):
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(n_samples,)}!")
    if not weights.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    check_non_negative(weights, "`sample_weight`")
    least, most = float(weights[weights > 0].min()), float(weights.max())
    if not _WEIGHTS[0] < least <= most < _WEIGHTS[1]:
        raise ValueError(f"Sample weights from {least:.3g} to {most:.3g} are too far from 1. Scale them.")
    return weights


def apply_sample_weight(data: Dataset, sample_weight: Any) -> tuple[Dataset, NDArray | None]:
    """The data and their weights. In memory, rows of weight zero are left out after they were checked."""
    if sample_weight is None:
        return data, None
    weights = check_sample_weight(sample_weight, len(data))
    if not data.in_memory or weights.all():
        return data, weights
    if not _is_finite(data.load()):
        raise_nonfinite(data, data.allow_nan)
    kept = copy(data)
    ArrayDataset.__init__(kept, data.load(weights > 0))  # type: ignore[arg-type]
    return kept, weights[weights > 0]


def count_repeated(weights: NDArray | None, n_samples: int) -> int:
    """Rows that integer weights stand for; `n_samples` if the weights are not integers."""
    if weights is None or not np.array_equal(weights, np.floor(weights)) or weights.sum() >= 2**53:
        return n_samples
    return int(weights.sum())


def _warn_about_columns(data: Dataset, estimator: Any) -> None:
    """Warn about columns that only count rows."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is None or len(data) < 3:
        return
    for j, name in enumerate(names):
        if str(name).strip().lower() not in _INDEX_NAMES:
            continue
        block = next(iter(data.blocks(1000)))
        column = np.asarray(block[:, [j]].todense() if sparse.issparse(block) else block[:, [j]], float).ravel()
        if np.all(np.diff(column) == 1):
            warn(
                f"Column {short_repr(name)} counts rows. It is not a feature.",
                remedies=[Remedy("drop", [str(name)])],
            )
