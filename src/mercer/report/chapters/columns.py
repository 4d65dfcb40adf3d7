"""What components are made of: loadings of columns, or by which columns a kernel's components are moved."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.arrays import Array, to_numpy
from mercer.errors import counted
from mercer.functions.influence import has_drivers, influence
from mercer.models.linear import LinearModel
from mercer.report.chapters.subject import Subject
from mercer.report.numbers import plain_numbers
from mercer.sources.held import HeldRows

__all__ = ["Column", "Columns", "Made", "columns_of"]

_COMPONENTS = 4
_MOST = 8  # columns of each
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


@dataclass(frozen=True)
class Columns:
    """Of the first components."""

    kind: str  # "loading" or "influence"
    about: str
    count: int  # columns that there are
    made: tuple[Made, ...]
    arrows: tuple[str, ...] = ()  # names of columns, largest first, and where they lead: for the map
    leading: tuple[tuple[float, ...], ...] = ()  # of each of them, along the first components


def columns_of(subject: Subject) -> Columns | None:
    """None of models that have neither axes nor gradients."""
    if isinstance(subject.inner, LinearModel):
        return _by_loadings(subject)
    return _by_gradients(subject) if has_drivers(subject.inner) else None


def _by_loadings(subject: Subject) -> Columns:
    loadings = np.asarray(to_numpy(subject.inner.loadings_), dtype=np.float64)  # d × k
    names, k = subject.names, min(_COMPONENTS, loadings.shape[1])
    made = tuple(
        Made(subject.name(j), tuple(Column(names[i], float(loadings[i, j])) for i in _largest(loadings[:, j])))
        for j in range(k)
    )
    divided = hasattr(subject.inner, "scale_")
    unit = "correlations of columns and components" if divided else "in the unit of each column"
    return Columns("loading", f"Loadings, {unit}.", len(names), made, **_arrows(names, loadings))


def _by_gradients(subject: Subject) -> Columns:
    kept = hasattr(subject.inner, "X_fit_") or not subject.of_numbers
    found = influence(subject.inner, None if kept else HeldRows(subject.rows(subject.sample(_ROWS))))
    k = min(_COMPONENTS, found.values.shape[1])
    linear = np.array_equal(found.values, found.between)
    made = tuple(
        Made(
            subject.name(j),
            tuple(
                Column(
                    found.names[i],
                    float(found.values[i, j]),
                    None if linear else float(found.between[i, j]),
                    float(found.rising[i, j]),
                )
                for i in _largest(found.values[:, j])
            ),
        )
        for j in range(k)
    )
    over = f" over {counted(found.n_rows, found.noun)}" if found.n_rows else ""
    doubt = f" Between rows, columns miss {found.missed:.0%} of the differences of scores." if found.missed > 0.05 else ""
    about = f"Influence: by how much the score moves with one standard deviation of a column{over}.{doubt}"
    return Columns("influence", about, len(found.names), made, **_arrows(found.names, found.mean))


def _largest(values: Array) -> Array:
    """Numbers of the largest that are numbers."""
    there = np.flatnonzero(np.isfinite(values))
    return there[np.argsort(-np.abs(values[there]), kind="stable")[:_MOST]]


def _arrows(names: list[str], leading: Array) -> dict[str, Any]:
    """Of columns that lead farthest along any two of the first components."""
    first = np.nan_to_num(leading[:, :_COMPONENTS])
    order = np.argsort(-np.square(first[:, :2]).sum(axis=1), kind="stable")[: 2 * _MOST]
    return {"arrows": tuple(names[i] for i in order), "leading": tuple(plain_numbers(first[i]) for i in order)}
