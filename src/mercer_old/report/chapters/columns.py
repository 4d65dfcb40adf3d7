"""What components are made of: loadings of columns, or by which columns a kernel's components are moved."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer_old.arrays import Array, to_numpy
from mercer_old.displays.pictures import check_shape
from mercer_old.errors import counted
from mercer_old.functions.influence import has_drivers, influence
from mercer_old.models.linear import LinearModel
from mercer_old.report.chapters.subject import Subject
from mercer_old.report.numbers import in_bytes, plain_numbers
from mercer_old.sources.held import HeldRows

__all__ = ["Column", "Columns", "Made", "columns_of"]

_COMPONENTS = 4
_MOST = 8  # columns of each
_MOST_PIXELS = 4096
_ROWS = 2000  # at which gradients are taken, where the fit has kept landmarks alone


@dataclass(frozen=True)
class Column:
    """What a column does to a component."""

    name: str
    value: float  # a loading, with its sign, or an influence
    between: float | None = None  # the influence from row to row
    rising: float | None = None  # share of the rows at which the score rises with it


@dataclass(frozen=True)
class Made:
    """A component with its largest columns, the largest first."""

    component: str
    columns: tuple[Column, ...]
    pixels: str = ""  # of rows that are pictures: all columns with their signs, from −top to top in 256 steps


@dataclass(frozen=True)
class Columns:
    """Of the first components."""

    kind: str  # "loading" or "influence"
    about: str
    count: int  # columns that there are
    made: tuple[Made, ...]
    shape: tuple[int, ...] = ()  # height and width of rows that are pictures
    arrows: tuple[str, ...] = ()  # names of columns, largest first, and where they lead: for the map
    leading: tuple[tuple[float, ...], ...] = ()  # of each of them, along the first components


def columns_of(subject: Subject) -> Columns | None:
    """None of models that have neither axes nor gradients."""
    if isinstance(subject.inner, LinearModel):
        return _by_loadings(subject)
    return _by_gradients(subject) if has_drivers(subject.inner) else None


def _by_loadings(subject: Subject) -> Columns:
    loadings = np.asarray(to_numpy(subject.inner.loadings_), dtype=np.float64)  # d × k
    names = subject.names

    def column(i: int, j: int) -> Column:
        return Column(names[i], float(loadings[i, j]))

    unit = (
        "correlations of columns and components" if hasattr(subject.inner, "scale_") else "in the unit of each column"
    )
    about = f"Loadings, {unit}."
    return Columns(
        "loading", about, len(names), **_made(subject, loadings, loadings, column), **_arrows(names, loadings)
    )


def _by_gradients(subject: Subject) -> Columns:
    kept = hasattr(subject.inner, "X_fit_") or not subject.of_numbers
    found = influence(subject.inner, None if kept else HeldRows(subject.rows(subject.sample(_ROWS))))
    linear = np.array_equal(found.values, found.between)

    def column(i: int, j: int) -> Column:
        between = None if linear else float(found.between[i, j])
        return Column(found.names[i], float(found.values[i, j]), between, float(found.rising[i, j]))

    over = f" over {counted(found.n_rows, found.noun)}" if found.n_rows else ""
    doubt = (
        f" Between rows, columns miss {found.missed:.0%} of the differences of scores." if found.missed > 0.05 else ""
    )
    about = f"Influence: by how much the score moves with one standard deviation of a column{over}.{doubt}"
    made = _made(subject, found.values, found.mean, column)
    return Columns("influence", about, len(found.names), **made, **_arrows(found.names, found.mean))


def _made(subject: Subject, sizes: Array, signed: Array, column: Callable[[int, int], Column]) -> dict[str, Any]:
    """The largest columns of the first components; of rows that are pictures, all of them as one."""
    shape = check_shape(None, len(sizes)) if subject.of_numbers else None
    made = []
    for j in range(min(_COMPONENTS, sizes.shape[1])):
        top = float(np.abs(np.nan_to_num(signed[:, j])).max(initial=0.0)) or 1.0
        pixels = in_bytes(signed[:, j], -top, top) if shape and len(sizes) <= _MOST_PIXELS else ""
        made.append(Made(subject.name(j), tuple(column(i, j) for i in _largest(sizes[:, j])), pixels))
    return {"made": tuple(made), "shape": shape if shape and made and made[0].pixels else ()}


def _largest(values: Array) -> list[int]:
    """Numbers of the largest that are numbers."""
    there = np.flatnonzero(np.isfinite(values))
    return [int(i) for i in there[np.argsort(-np.abs(values[there]), kind="stable")[:_MOST]]]


def _arrows(names: list[str], leading: Array) -> dict[str, Any]:
    """Of columns that lead farthest along any two of the first components."""
    first = np.nan_to_num(leading[:, :_COMPONENTS])
    order = np.argsort(-np.square(first[:, :2]).sum(axis=1), kind="stable")[: 2 * _MOST]
    return {"arrows": tuple(names[i] for i in order), "leading": tuple(plain_numbers(first[i]) for i in order)}
