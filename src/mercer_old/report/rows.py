"""What rows that were given are called, and what stands in their columns: for who points at one of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from mercer_old.arrays import dense, here
from mercer_old.errors import shortened
from mercer_old.inputs import table
from mercer_old.report.labels import Columns, told_apart
from mercer_old.sources.frames import Table
from mercer_old.sources.items import Items, Rows

__all__ = ["columns_of_rows", "most_columns", "names_of_rows"]

_MOST_NUMBERS = 4_000_000  # of columns beside the scores that are looked at
_MOST_COLUMNS = 100
_LONGEST = 150  # letters of a name


def names_of_rows(X: Any, count: int) -> list[str] | None:
    """Of a file or the index of a frame, where they have any."""
    if isinstance(X, Items) and X.row_names is not None:
        return [shortened(str(name), _LONGEST) for name in X.row_names]
    index: Any = getattr(X, "index", None)  # of a frame; lists have a method of that name
    if getattr(getattr(index, "dtype", None), "kind", None) in ("O", "U") and len(index) == count:
        return [shortened(str(name), _LONGEST) for name in index]
    return None


def most_columns(count: int) -> int:
    """How many columns of so many rows a page looks at."""
    return min(_MOST_COLUMNS, _MOST_NUMBERS // max(count, 1))


def columns_of_rows(X: Any) -> Columns:
    """By name, the first of them: numbers, or cells of any kind; of sparse rows none."""
    if isinstance(X, Rows):
        return {} if X.sparse else _numbers(X.load(), X.names)
    if isinstance(X, Table | dict) or hasattr(X, "columns"):
        cells = (X if isinstance(X, Table) else Table(X)).load()
        found = dict(zip(told_apart(cells.names), map(list, zip(*cells, strict=True)), strict=True))
        return {name: found[name] for name in list(found)[: most_columns(len(cells))]}
    values = table(here(X))
    return {} if sparse.issparse(values) else _numbers(values, None)


def _numbers(values: Any, names: Sequence[str] | None) -> Columns:
    rows: Any = dense(values, np.float64)
    kept = min(rows.shape[1], most_columns(len(rows)))
    own = told_apart([f"x{j}" for j in range(kept)] if names is None else list(names)[:kept])
    return {name: rows[:, j] for j, name in enumerate(own)}
