"""Colours that colour-blind people can tell apart, and groups of rows: each has a colour and a marker of its own."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer_old.arrays import Array
from mercer_old.colours import COLOURS, MARKERS
from mercer_old.errors import BadData, counted
from mercer_old.readings.targets import are_classes, as_labels, is_missing

__all__ = ["MOST_COLOURS", "NUMBERS", "Groups", "Style", "styles"]

NUMBERS = "cividis"  # colour map of numbers
_MOST = 30  # groups that have a style of their own; legends of more are not read
# Petroff's ten colours (2021), by a survey of what people tell apart and like.
MOST_COLOURS = 10
_TEN = ("#3f90da", "#ffa90e", "#bd1f01", "#94a4a2", "#832db6", "#a96b59", "#e76300", "#b9ac70", "#717581", "#92dadd")


@dataclass(frozen=True)
class Style:
    colour: str
    marker: str


def styles(n: int) -> list[Style]:
    """Okabe and Ito's colours up to seven groups, Petroff's up to ten; beyond, pairs of colour and marker.

    Seven markers and ten colours have no common divisor, so that pairs repeat after seventy only.
    """
    colours = COLOURS if n <= len(COLOURS) else _TEN
    return [Style(colours[i % len(colours)], MARKERS[i % len(MARKERS)]) for i in range(n)]


@dataclass(frozen=True, eq=False)
class Groups:
    """Rows by their labels: classes, numbers, or all alike. Rows without a label are told apart from all."""

    names: tuple[str, ...]  # of classes
    codes: Array  # (n,) number of the class; −1: without a label
    values: Array | None = None  # (n,) of labels that are numbers; nan: without one
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, y: Any, n: int) -> "Groups":
        if y is None:
            return cls((), np.zeros(n, dtype=np.int64))
        labels = np.asarray(y, dtype=object).reshape(-1) if np.ndim(y) == 1 else np.asarray(y, dtype=object)
        if labels.shape[:1] != (n,) or labels.size != n:
            raise BadData(f"y has to be one label for each of {counted(n, 'row')}; it has the shape {labels.shape}.")
        labels = labels.reshape(-1)
        there = np.array([not is_missing(label) for label in labels.tolist()], dtype=bool)
        known = as_labels(labels[there]) if there.any() else np.empty(0, dtype=str)
        gaps = [f"{counted(int((~there).sum()), 'row')} without a label."] if not there.all() else []
        if len(known) and not are_classes(known):
            values = np.full(n, np.nan)
            values[there] = known.astype(np.float64)
            return cls((), np.where(there, 0, -1), values, tuple(gaps))
        return cls._of_classes(known, there, gaps)

    @classmethod
    def _of_classes(cls, known: Array, there: Array, notes: list[str]) -> "Groups":
        different, inverse, sizes = np.unique(known, return_inverse=True, return_counts=True)
        names, codes = [str(name) for name in different.tolist()], inverse.reshape(-1)
        if len(names) > _MOST:
            kept = np.sort(np.argsort(-sizes, kind="stable")[: _MOST - 1])
            number = np.full(len(names), _MOST - 1)
            number[kept] = np.arange(_MOST - 1)
            notes = [*notes, f"The {_MOST - 1} largest of {len(names):,} groups have a colour of their own."]
            names, codes = [*(names[i] for i in kept), f"{len(names) - _MOST + 1:,} others"], number[codes]
        out = np.full(len(there), -1)
        out[there] = codes
        return cls(tuple(names), out, None, tuple(notes))

    @property
    def alike(self) -> bool:
        """Whether rows belong to no classes."""
        return not self.names

    def __iter__(self) -> Iterator[tuple[str, Style, Array]]:
        """The name, the style and the rows of every class; of rows that are all alike, one without a name."""
        names = self.names or ("",)
        for i, (name, style) in enumerate(zip(names, styles(len(names)), strict=True)):
            yield name, style, np.flatnonzero(self.codes == i)

    @property
    def unlabelled(self) -> Array:
        return np.flatnonzero(self.codes < 0)
