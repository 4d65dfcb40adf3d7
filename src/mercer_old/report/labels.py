"""Labels of rows: one list of them, or several by name, each with one for every row."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import count
from typing import Any

import numpy as np

from mercer_old.errors import BadData, counted, shortened
from mercer_old.readings.targets import is_missing

__all__ = ["Columns", "columns_of_labels", "groups_of", "told_apart"]

Columns = dict[str, Sequence[Any]]
_USUAL = "label"
_LONGEST = 150  # letters of a name
_MOST_GROUPS = 10  # that have a colour of their own in a small picture


def columns_of_labels(labels: Any, n: int) -> Columns:
    """By name; a list has the name "label", a series that of its own."""
    if labels is None:
        return {}
    if isinstance(labels, Mapping) or hasattr(labels, "columns"):
        names = list(labels) if isinstance(labels, Mapping) else list(labels.columns)
        return {own: _checked(labels[name], n, own) for own, name in zip(told_apart(names), names, strict=True)}
    name = getattr(labels, "name", None)
    return {str(name) if isinstance(name, str) and name else _USUAL: _checked(labels, n, "labels")}


def told_apart(names: Sequence[Any]) -> list[str]:
    """Names of columns, none of them endless, and each once."""
    found: dict[str, None] = {}
    for name in names:
        short = shortened(str(name), _LONGEST)
        others = (f"{short} ({i})" for i in count(len(found)))
        found[short if short not in found else next(other for other in others if other not in found)] = None
    return list(found)


def _checked(values: Any, n: int, name: str) -> Sequence[Any]:
    """One for every row, as Python has them; whole numbers stay whole, and what is missing is None."""
    if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
        what = shortened(repr(values), 60)
        raise BadData(f"labels are a list with one label for each of {counted(n, 'row')}; got {what}.")
    array = np.asarray(values, dtype=object)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.shape != (n,):
        raise BadData(
            f"{shortened(name, 40)} has to be one label for each of {counted(n, 'row')}; the shape is {array.shape}."
        )
    return [None if is_missing(each) or each == "" else _plain(each) for each in array.tolist()]


def _plain(value: Any) -> Any:
    return float(value) if isinstance(value, Decimal) else value


def groups_of(labels: Columns, some: Any) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Of the first labels, if they are classes: names of the largest, and which of them some rows are of; −1: none.

    Groups beyond the largest nine are told together, as the last one.
    """
    from mercer_old.displays.palette import Groups

    values = next(iter(labels.values()), None)
    if values is None:
        return (), ()
    found = Groups.of(values, len(values))
    if found.values is not None or not found.names:
        return (), ()
    sizes = np.bincount(found.codes[found.codes >= 0], minlength=len(found.names))
    if len(sizes) <= _MOST_GROUPS:
        return found.names, tuple(int(code) for code in found.codes[some])
    kept = np.sort(np.argsort(-sizes, kind="stable")[: _MOST_GROUPS - 1])
    number = np.full(len(sizes), _MOST_GROUPS - 1)
    number[kept] = np.arange(len(kept))
    names = (*(found.names[i] for i in kept), f"{len(sizes) - len(kept):,} others")
    codes = np.where(found.codes < 0, -1, number[np.maximum(found.codes, 0)])
    return names, tuple(int(code) for code in codes[some])
