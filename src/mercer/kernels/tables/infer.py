"""Which kind the columns of a table have, by what they contain: a rule that can be read, and printed."""

from typing import Any

import numpy as np

from mercer.data.table import Categories, Column, Table, UnusableColumn
from mercer.errors import DataError, MercerWarning
from mercer.kernels.strings import Spectrum
from mercer.kernels.tables.column_kinds import (
    Categorical,
    ColumnKind,
    Datetime,
    Numeric,
    Ordinal,
    Sets,
    String,
    column_type,
    is_present,
)
from mercer.text import counted

_FEW, _OFTEN = 12, 5  # distinct strings that are categories: so few, or such that occur so often on average
_NGRAM = 3  # characters by which other strings are compared
_MIN_ROWS = 10  # from which on a column can be said to count the rows
_MOST_CODES = 0.9  # fraction of strings with a digit from which on they are codes


def infer_columns(table: Table, name: str = "X") -> tuple[dict[Any, ColumnKind], list[MercerWarning]]:
    """A kind for every column that distinguishes rows, and a warning for every other one."""
    if len(table) == 1:
        raise DataError(f"{name} has one row, but columns are judged by how rows differ. At least two are needed.")
    columns: dict[Any, ColumnKind] = {}
    reasons: dict[Any, str] = {}
    for column_name, column in table.columns.items():
        if reason := _reason_to_skip(column):
            reasons[column_name] = reason
        else:
            columns[column_name] = _infer_kind(column)
    if not columns:
        found = "; ".join(f"{column_name!r} {reason}" for column_name, reason in reasons.items())
        raise DataError(f"No column of {name} distinguishes rows: {found}.")
    return columns, [MercerWarning(f"Column {n!r} {reason}. It is left out.") for n, reason in reasons.items()]


def _reason_to_skip(column: Column) -> str:
    """Why a column does not distinguish rows in a useful way; "" if it does."""
    if isinstance(column, UnusableColumn):
        return column.reason
    present: Any = column[is_present(column)]
    n_present = len(present)
    if not n_present:
        return "has no values"
    n_distinct = _count_distinct(present)
    if n_distinct == 1:
        return "has the same value in all rows" if n_present == len(column) else "has one value and missing values"
    if n_present < _MIN_ROWS or n_distinct < n_present:
        return ""
    kind = column_type(column)
    if kind == "numeric" and not isinstance(column, Categories):
        counts_rows = np.all(present == np.round(present)) and present.max() - present.min() == n_present - 1
        return "counts the rows" if counts_rows else ""
    if kind == "string" and _are_codes(present):
        return f"has a different code in each of {counted(n_present, 'row')}"
    return ""


def _count_distinct(present: Any) -> int:
    return len(np.unique(present.codes if isinstance(present, Categories) else present))


def _are_codes(present: Categories) -> bool:
    """Whether nearly all strings have a digit and none has a space: order numbers, addresses, checksums."""
    strings = [v.decode("latin-1") if isinstance(v, bytes) else v for v in present.values[present.codes]]
    n_digits = sum(any(character.isdigit() for character in string) for string in strings)
    return n_digits > _MOST_CODES * len(strings) and not any(" " in string.strip() for string in strings)


def _infer_kind(column: Any) -> ColumnKind:
    if not isinstance(column, Categories):
        return Datetime() if column_type(column) == "datetime" else Numeric()
    if column.declared:
        return Ordinal(tuple(column.values)) if column.ordered else Categorical()
    if column.type != "string":
        return Sets() if column.type == "set" else Categorical()
    present = column[is_present(column)]
    n_distinct = _count_distinct(present)
    few = n_distinct <= _FEW and 2 * n_distinct <= len(present)
    short = max(map(len, present.values[np.unique(present.codes)])) < _NGRAM  # codes of states: no n-grams to compare
    return Categorical() if few or short or _OFTEN * n_distinct <= len(present) else String(Spectrum(_NGRAM))
