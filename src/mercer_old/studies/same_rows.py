"""The rows that all methods of a comparison see: numbers, from whatever came in."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from mercer_old.arrays import Array, dense, here
from mercer_old.errors import BadData, NoRoom, counted, in_short
from mercer_old.inputs import table, told_where
from mercer_old.kernels.tables import TableKernel
from mercer_old.limits import bytes_in_words, parse_memory
from mercer_old.readings.targets import are_classes, as_labels, is_missing
from mercer_old.sources.files import open_rows
from mercer_old.sources.frames import Table
from mercer_old.sources.items import Items, Rows

__all__ = ["Labels", "SameRows", "labels_for", "rows_for"]

FEWEST = 5
_COPIES = 4  # of the rows: here, in the file, in the child, and at work


@dataclass(frozen=True)
class SameRows:
    """Dense rows of numbers, and what was done to have them."""

    values: Array  # n × d, float64; NaN is a gap
    notes: tuple[str, ...] = ()

    @property
    def complete(self) -> Array:
        """Numbers of the rows without a gap."""
        return np.flatnonzero(~np.isnan(self.values).any(axis=1))

    @property
    def gaps(self) -> int:
        return int(np.isnan(self.values).sum())


def rows_for(X: Any, standardize: bool, memory_limit: int | str | None = None) -> SameRows:
    """Numbers as they are, or divided by the deviation of their column; of a mixed table the features of its kernel."""
    limit = parse_memory(memory_limit)
    if isinstance(X, Path):
        X = open_rows(X, memory_limit=memory_limit)
    if isinstance(X, Table) or _is_mixed(X):
        values, notes = _features(X)
    else:
        values, notes = _numbers(X, limit), ()
    _refuse_no_room(values.shape, limit)
    varying = _varying(values)
    if standardize:
        spread = np.ones(values.shape[1])
        spread[varying] = np.nanstd(values[:, varying], axis=0)  # that of equal numbers is rounding, not zero
        values = values / spread
    return SameRows(values, notes)


def _refuse_no_room(shape: tuple[int, ...], limit: int) -> None:
    need = 8 * _COPIES * shape[0] * shape[1]
    if need > limit:
        raise NoRoom(
            f"{shape[0]:,} rows of {shape[1]:,} numbers take {bytes_in_words(need)} to be compared, over the limit of "
            f"{bytes_in_words(limit)}: give fewer rows, or scores of PCA."
        )


def _numbers(X: Any, limit: int) -> Array:
    from sklearn.utils import check_array

    if isinstance(X, Rows):
        _refuse_no_room(X.shape, limit)  # before they are read
        return dense(X.load(), np.float64)
    if isinstance(X, Items):
        raise BadData(f"{X.label} has {X.kind}, and methods are compared on rows of numbers, or on mixed tables.")
    X = table(here(X))
    if sparse.issparse(X):
        need = 8 * _COPIES * X.shape[0] * X.shape[1]
        if need > limit:
            raise NoRoom(
                f"Most methods take no sparse rows, and dense ones of this size need {bytes_in_words(need)}, over the "
                f"limit of {bytes_in_words(limit)}: give scores of PCA instead."
            )
        X = X.toarray()
    with told_where(X):
        return check_array(X, dtype=np.float64, ensure_all_finite="allow-nan")


def _is_mixed(X: Any) -> bool:
    """A frame, or a dict of columns, with columns that are no numbers."""
    if isinstance(X, dict):
        return True
    kinds = getattr(X, "dtypes", None)
    if kinds is None or not hasattr(X, "columns"):
        return False
    return any(not str(kind).lower().startswith(("int", "uint", "float", "bool", "double")) for kind in list(kinds))


def _features(X: Any) -> tuple[Array, tuple[str, ...]]:
    """φ with φ(x)ᵀφ(y) = k(x, y) of `TableKernel.auto`: every column counts the same, and a gap is like nothing."""
    items = X if isinstance(X, Table) else Table(X)
    kernel = TableKernel.auto(items).resolved(items.load(), np.random.default_rng(0))
    found = kernel.features(items.load())
    if found is None:
        raise BadData("The kernel of this table has no features that methods could be given.")
    values = np.asarray(found.toarray() if sparse.issparse(found) else found, dtype=np.float64)
    columns = counted(len(kernel.get_params(deep=False)["columns"]), "column")
    return values, (
        f"{columns} of a table became {counted(values.shape[1], 'feature')} of TableKernel: each counts the same, and "
        "gaps are zeros.",
    )


def _varying(values: Array) -> Array:
    """Which columns say something, of rows that are enough."""
    n = len(values)
    if n < FEWEST:
        raise BadData(f"Methods are compared on at least {FEWEST} rows; X has {n}.")
    with np.errstate(invalid="ignore"):
        low, high = np.nanmin(values, axis=0, initial=np.inf), np.nanmax(values, axis=0, initial=-np.inf)
    if not (high > low).any():
        raise BadData("All rows are the same, so that there is nothing to show.")
    return high > low


# ---------------------------------------------------------------------- labels


@dataclass(frozen=True)
class Labels:
    """Classes of the rows, by number."""

    codes: Array  # −1: without a label
    names: list[str]
    given: Array

    @property
    def commonest(self) -> float:
        """The share of the commonest class: what a guess would hit."""
        known = self.codes[self.codes >= 0]
        return float(np.bincount(known).max() / len(known))


def labels_for(y: Any, n: int) -> tuple[Labels | None, str]:
    """Classes and what to know of them, or None and why labels are left out of the measures.

    Rows without a label are not judged, and have no vote.
    """
    given = np.asarray(y, dtype=object)  # numpy would write NaN among texts as one
    if given.ndim != 1 or len(given) != n:
        raise BadData(f"y has to be one label for each of {n:,} rows; its shape is {given.shape}.")
    there = np.array([not is_missing(label) for label in given.tolist()], dtype=bool)
    if not there.any():
        return None, "No row has a label, and hits are left out."
    known = as_labels(given[there])
    found, numbers = np.unique(known, return_inverse=True)
    names = found.tolist()
    without = n - len(known)
    none = f", and {counted(without, 'row')} none" if without else ""
    if len(names) == 1:
        who = f"All rows have the label {in_short(names[0])}"
        if without:
            who = f"{counted(len(known), 'row')} {_have(len(known))} the label {in_short(names[0])}{none}"
        return None, f"{who}, so that label hits would say nothing."
    if not are_classes(known) or len(names) > len(known) // 2:
        many = f"y has {len(names):,} different values in {counted(len(known), 'row')}{none}"
        return None, f"{many}: those are no classes, and hits are left out."
    codes = np.full(n, -1)
    codes[there] = numbers
    return Labels(codes, [str(name) for name in names], given), _about_others(without, n) if without else ""


def _about_others(without: int, n: int) -> str:
    return (
        f"{without:,} of {n:,} rows {_have(without)} no label: methods see them, and label hits neither judge them nor "
        "give them a vote."
    )


def _have(count: int) -> str:
    return "has" if count == 1 else "have"
