"""The one door in: whatever X is, beyond it there are items."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator
from sklearn.base import BaseEstimator
from sklearn.utils.validation import assert_all_finite, validate_data

from mercer_old.arrays import Matrix, here
from mercer_old.errors import BadData, warn, warn_each
from mercer_old.inputs import about_steps, table, told_where, with_gaps_as_nan
from mercer_old.limits import parse_memory
from mercer_old.sources.chunked_items import ChunkedItems
from mercer_old.sources.collections import is_collection, open_collection, open_items_of
from mercer_old.sources.files import open_rows
from mercer_old.sources.frames import Table
from mercer_old.sources.held import Given, HeldRows, MappedRows
from mercer_old.sources.items import Items, Rows
from mercer_old.sources.kinds import KINDS, OPENERS
from mercer_old.sources.row_numbers import about_row_numbers
from mercer_old.sources.streams import is_fleeting, is_stream, open_stream
from mercer_old.sources.things import Things, in_a_list, things_in


def file_of(X: Any) -> Path | None:
    """The file that X is, or is read from, if there is one."""
    path = X.path if isinstance(X, Items) else X
    return path if isinstance(path, Path) else None


def open_items(
    model: BaseEstimator,
    X: Any,
    *,
    reset: bool,
    square: bool = False,
    matrix: str = "kernel",
    mapped: bool = False,
    finite: bool = True,
    gaps: bool = False,
    kind: str = "rows",
    chunked: bool = False,
) -> Items:
    """The items of X, by scikit-learn's rules; a matrix between items may be a scipy LinearOperator.

    A file is opened and looked over, and read later; a memory-mapped array too, if `mapped`. Who sums up the rows
    anyway sees what is not finite, and need not have it looked for (`finite`). Where rows may have `gaps`, a number
    that is missing is NaN, whatever it was called. Texts and tables of Dask stay in chunks if `chunked`, and are
    brought here if not.
    """
    X = _open_chunks(model, X, kind, chunked) if is_collection(X) else here(X)
    if kind == "rows" and is_stream(X):
        X = open_stream(X, parse_memory(getattr(model, "memory_limit", None)), gaps=gaps)
    X = with_gaps_as_nan(X) if gaps else X
    if mapped and isinstance(X, np.memmap) and X.ndim == 2 and X.dtype.kind in "fiub" and all(X.shape):
        X = MappedRows(X)
    if kind == "anything" and not isinstance(X, Items):
        X = _as_things(model, X, reset)
    if isinstance(X, Items) and kind not in (X.kind, "anything") and X.kind != "anything":
        raise BadData(f"{X.label} has {_words_for(X.kind)}, and the kernel compares {_words_for(kind)}.")
    if kind in KINDS or (isinstance(X, Items) and not isinstance(X, Rows)):
        return _open_things(model, X, kind, reset=reset)
    if isinstance(X, (Path, Rows)):
        rows = _open_source(model, X, reset=reset, square=matrix if square else "")
        return rows.allowing_gaps() if gaps else rows
    if square and isinstance(X, LinearOperator):
        if np.issubdtype(X.dtype, np.complexfloating):
            raise ValueError("Complex data not supported: the LinearOperator has complex entries.")
        if reset:
            model.n_features_in_ = X.shape[1]
        elif X.shape[1] != model.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} features, but {type(model).__name__} is expecting {model.n_features_in_} features "
                "as input: one for each training item."
            )
    else:
        with _pointing_to_texts(model, X):
            X = table(X)
        with _pointing_to_texts(model, X), told_where(X, gaps=gaps):
            wanted = "allow-nan" if finite and gaps else finite
            X = validate_data(model, X, accept_sparse="csr", reset=reset, ensure_all_finite=wanted)
            X = _as_numbers(X, gaps)
        if reset and not square and (steps := about_steps(X)):
            warn(steps)
    if reset and not square:
        warn_each(about_row_numbers(HeldRows(X), getattr(model, "feature_names_in_", None)))
    if reset and square and X.shape[0] != X.shape[1]:
        raise ValueError(f"Precomputed {matrix} must be a square matrix. Input is a {X.shape[0]}x{X.shape[1]} matrix.")
    if square:
        return Given(X)
    return HeldRows(X).allowing_gaps() if gaps else HeldRows(X)


def read_once(model: BaseEstimator, X: Any, *, gaps: bool = False) -> Any:
    """X; of what can be read only once its rows, at which a fit may have to look again."""
    return open_stream(X, parse_memory(model.memory_limit), gaps=gaps) if is_fleeting(X) else X


def _open_chunks(model: BaseEstimator, X: Any, kind: str, chunked: bool) -> Items:
    if kind not in ("texts", "tables"):
        return open_collection(X)
    items = open_items_of(X, kind)
    return items if chunked else items.within(parse_memory(model.memory_limit))


def one_or_more(X: Any, kind: str) -> tuple[Any, bool]:
    """What holds several items, and whether X was a single one: a text, or a row."""
    X = here(X)
    one = not isinstance(X, (Items, Path)) and _is_one(X, kind)
    if not one or kind in ("texts", "things"):
        return [X] if one else X, one
    return X.to_frame().T if hasattr(X, "to_frame") else np.asarray(X)[None], True


def _is_one(X: Any, kind: str) -> bool:
    """A text, numbers in a row, or a thing that is no list; of items of other kinds, there are always several."""
    if kind == "things":
        return in_a_list(X) is None
    if kind == "texts":
        return isinstance(X, (str, bytes))
    try:
        cells = np.asarray(X) if kind in ("rows", "series", "tables") else np.empty((0, 0))
    except ValueError:  # series of several lengths
        return False
    return cells.ndim == 1 and not (kind == "series" and cells.dtype == object)


def _open_things(model: BaseEstimator, X: Any, kind: str, *, reset: bool) -> Items:
    """Things of a kind that a kernel takes: a table of one column, which may have a name, or of many."""
    if kind == "texts" and hasattr(X, "collect_schema") and hasattr(X, "collect"):
        X = X.collect()  # a lazy frame of polars
    if isinstance(X, Items):
        items = X
    elif isinstance(X, Path) and kind in OPENERS:
        items = OPENERS[kind](X, memory_limit=model.memory_limit)
    else:
        items = KINDS[kind](X)
    mixed = (
        items.names if isinstance(items, (Table, ChunkedItems)) else None
    )  # columns that are found by name, in any order
    if not reset:
        if mixed is None:
            _refuse_another_name(model, X)
            _refuse_other_letters(model, items)
        return items
    model.n_features_in_ = 1 if mixed is None else len(mixed)
    model.__dict__.pop("feature_names_in_", None)
    if (names := _names_of(X) if mixed is None else _texts_alone(mixed)) is not None:
        model.feature_names_in_ = names
    return items


def _as_things(model: BaseEstimator, X: Any, reset: bool) -> Any:
    """Things of any kind as items, tables as they are; new ones are what those of the fit were."""
    if reset:
        things = things_in(X)
        model._fitted_to_things = things is not None
    else:
        new = in_a_list(X) if getattr(model, "_fitted_to_things", False) else None
        things = Things(new) if new else None
    return X if things is None else things


def _names_of(X: Any) -> Any:
    """The name of the column of a frame, if it is a text, as scikit-learn has it; many columns are steps of series."""
    names = list(X.columns) if hasattr(X, "columns") and hasattr(X, "dtypes") else []
    return _texts_alone(names) if len(names) == 1 else None


def _texts_alone(names: list[Any]) -> Any:
    return np.array(names, dtype=object) if names and all(isinstance(name, str) for name in names) else None


def _refuse_other_letters(model: BaseEstimator, items: Items) -> None:
    """Bytes and str have no letter in common, whatever they spell."""
    known = getattr(model, "X_fit_", getattr(model, "landmarks_", None))
    if items.kind != "texts" or known is None or not len(known) or not len(items):
        return
    there, here = (type(some[0]).__name__ for some in (known, items.load()))
    if "bytes" in (there, here) and there != here:
        raise BadData(f"{items.label} has {here}, and the texts of the fit were {there}: decode the bytes first.")


def _refuse_another_name(model: BaseEstimator, X: Any) -> None:
    known, names = getattr(model, "feature_names_in_", None), _names_of(X)
    if known is not None and names is not None and list(known) != list(names):
        raise ValueError(
            "The feature names should match those that were passed during fit: the column is "
            f"{names[0]!r}, and {known[0]!r} was there."
        )


@contextmanager
def _pointing_to_texts(model: BaseEstimator, X: Any) -> Iterator[None]:
    """Who gives a column of texts to a kernel of rows may want one of texts."""
    try:
        yield
    except ValueError as error:
        name = next((name for name in ("kernel", "metric") if hasattr(model, name)), "")
        if name and _is_column_of_texts(X):
            raise BadData(f"{error} To compare texts as they are: {name}=mercer.kernels.Spectrum(3).") from None
        if name and _is_mixed(X):
            raise BadData(f"{error} To compare columns of all kinds: {name}=mercer.kernels.TableKernel().") from None
        raise


def _is_mixed(X: Any) -> bool:
    """Whether a frame has columns of texts beside others."""
    kinds = [str(kind) for kind in X.dtypes] if hasattr(X, "columns") and hasattr(X, "dtypes") else []
    return len(kinds) > 1 and any(kind in ("object", "str", "string", "category", "String") for kind in kinds)


def _is_column_of_texts(X: Any) -> bool:
    """By the first of them."""
    try:
        cells = np.asarray(X, dtype=object)
    except (ValueError, TypeError):
        return False
    column = cells.ndim == 1 or (cells.ndim == 2 and cells.shape[1] == 1)
    return column and cells.size > 0 and isinstance(cells.flat[0], (str, bytes))


def _words_for(kind: str) -> str:
    return {"rows": "rows of numbers"}.get(kind, kind)


def _open_source(model: BaseEstimator, X: Path | Rows, *, reset: bool, square: str) -> Rows:
    """The rows of a file, with its columns held against those of the fit."""
    rows = X if isinstance(X, Rows) else open_rows(X)
    if square:
        raise ValueError(f"{rows.label}: a precomputed {square} matrix is read with numpy.load, not given as a file.")
    names = None if rows.names is None else np.array(rows.names, dtype=object)
    name = type(model).__name__
    if reset:
        model.n_features_in_ = rows.shape[1]
        model.__dict__.pop("feature_names_in_", None)
        if names is not None:
            model.feature_names_in_ = names
        warn_each(about_row_numbers(rows, getattr(model, "feature_names_in_", None)))
        return rows
    if rows.shape[1] != model.n_features_in_:
        raise ValueError(
            f"{rows.label} has {rows.shape[1]} features, but {name} is expecting {model.n_features_in_} features as "
            "input."
        )
    refuse_other_names(getattr(model, "feature_names_in_", None), names, rows.label)
    return rows


def refuse_other_names(known: Any, names: Any, label: str = "X") -> None:
    """Of as many columns as the fit had, where both have names: the first that is another."""
    first = (
        None if known is None or names is None else next((i for i in range(len(names)) if known[i] != names[i]), None)
    )
    if first is not None:
        raise ValueError(
            "The feature names should match those that were passed during fit: column "
            f"{first} of {label} is {names[first]!r}, and {known[first]!r} was there."
        )


def _as_numbers(rows: Matrix, gaps: bool) -> Matrix:
    """Rows as scikit-learn left them, as numbers, with one entry for every cell."""
    if sparse.issparse(rows) and not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    if rows.dtype != object:
        return rows
    rows = rows.astype(np.float64)  # of a table with text or gaps, scikit-learn leaves a table of objects
    assert_all_finite(rows, input_name="X", allow_nan=gaps)
    return rows
