"""Fields: the first components as functions over the plane of the two columns that there are."""

from dataclasses import dataclass

import numpy as np

from mercer_old.arrays import Array
from mercer_old.displays.field import component_fields
from mercer_old.models.kernel_pca import KernelPCA
from mercer_old.models.linear import LinearModel
from mercer_old.report.chapters.subject import Subject
from mercer_old.report.numbers import in_bytes, plain_numbers

__all__ = ["Field", "Fields", "fields_of"]

_COMPONENTS = 4
_SIDE = 48  # places along either side
_POINTS = 400


@dataclass(frozen=True)
class Field:
    """A component over the plane."""

    component: str  # with its share
    top: float  # the largest modulus
    roots: str  # of values from −top to top, with their signs, in 256 steps, line by line from below: fine near zero


@dataclass(frozen=True)
class Fields:
    """The plane, some rows in it, and the components over it."""

    names: tuple[str, ...]  # of both columns
    x: tuple[float, ...]  # first and last place
    y: tuple[float, ...]
    side: int
    points: tuple[tuple[float, ...], ...]
    rows: int  # that there are, of which the points are a sample
    fields: tuple[Field, ...]


def fields_of(subject: Subject) -> Fields | None:
    """None unless rows are points of a plane."""
    inner = subject.inner
    if not (isinstance(inner, LinearModel | KernelPCA) and subject.of_numbers and inner.n_features_in_ == 2):
        return None
    if getattr(inner, "n_missing_", np.zeros(1)).any():
        return None
    rows = subject.rows()
    numbers = list(range(min(_COMPONENTS, inner._n_features_out)))
    x, y, values = component_fields(inner, rows, [0, 1], numbers, _SIDE)
    tops = [float(np.abs(value).max()) or 1.0 for value in values]
    return Fields(
        names=tuple(subject.names[:2]),
        x=plain_numbers(x[[0, -1]]),
        y=plain_numbers(y[[0, -1]]),
        side=_SIDE,
        points=tuple(map(plain_numbers, rows[subject.sample(_POINTS)])),
        rows=len(rows),
        fields=tuple(
            Field(subject.axis(j), tops[j], in_bytes(_signed_roots(values[j] / tops[j]), -1.0, 1.0)) for j in numbers
        ),
    )


def _signed_roots(values: Array) -> Array:
    return np.sign(values) * np.sqrt(np.abs(values))
