"""What rows of a file bring along to their picture: labels for colours, names for points."""

from decimal import Decimal
from inspect import signature
from typing import Any

from mercer_old.errors import WrongUse
from mercer_old.sources.beside import is_of_numbers
from mercer_old.sources.cells import as_cells, things_of
from mercer_old.sources.items import Items

__all__ = ["MOST_NAMES", "NAMED", "brought_along", "first_label", "has_names"]

MOST_NAMES = 60  # of rows, that are drawn unasked: more of them cover the points
NAMED = ("scores", "novelty")  # displays in which every row can have a name


def brought_along(
    kind: str, labelled: bool, takes: Any, X: Any, y: Any, options: dict[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """Labels and options of a display: those given, or else what stands beside the rows.

    ``names=True`` draws names of rows however many there are, ``names=False`` none.
    """
    asked, options = options.get("names"), dict(options)
    if isinstance(asked, bool):
        del options["names"]
    if not isinstance(X, Items):
        if asked is True:
            raise WrongUse("names=True draws the names that rows of a file have; give a list of names.")
        return y, options
    if y is None and kind == "metadata":
        y = {name: _labels(X, name) for name in X.beside} or None
    elif y is None and labelled:
        y = first_label(X)
    if "names" not in options and "names" in signature(takes).parameters and has_names(X):
        of_rows = options.get("of") == "rows"  # of which only the largest are drawn
        few = len(X) <= MOST_NAMES if asked is None else asked
        if of_rows or (kind in NAMED and few):
            options["names"] = [str(name) for name in X.row_names or ()]
    return y, options


def first_label(X: Any) -> list[Any] | None:
    """The labels beside rows of a file, if there are any: those of its first column there."""
    return _labels(X, next(iter(X.beside))) if isinstance(X, Items) and X.beside else None


def has_names(X: Any) -> bool:
    return isinstance(X, Items) and X.row_names is not None


def _labels(items: Items, column: str) -> list[Any]:
    """Of a column beside the rows; what is empty is no label, and whole numbers stay whole."""
    if is_of_numbers(items.beside[column]):
        return [float(cell) if isinstance(cell, Decimal) else cell for cell in items.beside[column]]
    return [None if label == "" else label for label in things_of(as_cells(list(items.beside[column])))]
