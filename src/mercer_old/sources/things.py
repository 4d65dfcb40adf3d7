"""Things of any kind, in a list: what a function of the user's compares, where they are no table of numbers."""

from numbers import Number
from typing import Any

import numpy as np

from mercer_old.sources.held import HeldItems

__all__ = ["Things", "in_a_list", "things_in"]


class Things(HeldItems):
    """Graphs, molecules, sets, trees: objects that nobody but their kernel looks into."""

    kind = "things"


def things_in(X: Any) -> Things | None:
    """The things in a list, or in an array or a column of objects; None if numpy makes a table of numbers of it."""
    things = in_a_list(X)
    if not things or all(isinstance(thing, Number) for thing in things):
        return None
    return None if _are_rows(things) else Things(things)


def in_a_list(X: Any) -> list[Any] | None:
    """What is in a list, an array of one dimension or a column; None of anything else."""
    if isinstance(X, (list, tuple)):
        return list(X)
    if getattr(X, "ndim", 0) == 1 and isinstance(X, np.ndarray):
        return list(X)
    column = len(getattr(X, "shape", ())) == 1 and not hasattr(X, "columns") and hasattr(X, "to_list")
    return list(X.to_list()) if column else None


def _are_rows(things: list[Any]) -> bool:
    """Whether they are rows of a table: equally many numbers, or gaps between numbers, in each of them."""
    if not all(isinstance(thing, (list, tuple, np.ndarray)) for thing in things):
        return False
    try:
        cells = np.asarray(things)
    except ValueError:
        return False
    gaps = cells.dtype == object and all(cell is None or isinstance(cell, Number) for cell in cells.flat)
    return cells.ndim == 2 and (cells.dtype.kind in "biufc" or gaps)
