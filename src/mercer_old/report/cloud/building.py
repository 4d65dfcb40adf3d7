"""Scores, names and columns → a cloud: all points always, and of the rest what there is room for."""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from mercer_old.arrays import Array
from mercer_old.errors import BadData, WrongUse, counted, listed, shortened
from mercer_old.report.cloud.columns import as_column, as_texts
from mercer_old.report.cloud.packing import pack, pack_list, quantised
from mercer_old.report.cloud.record import Arrows, Axis, Cloud, Column, View

__all__ = ["cloud_of"]

_LEAST_ROOM, _MOST_ROOM, _ROOM_OF_A_ROW = 320_000, 7_000_000, 32  # bytes: pages that every mail takes
_ROOM_IN_A_VIEW, _MOST_OF_VIEWS = 12, 16_000_000  # bytes of a row, and of all maps side by side
_FIRST = 10  # rows that stand on the page as a table
_FIRST_COLUMNS = 8


def cloud_of(
    scores: Array,
    components: Sequence[str],
    *,
    ids: Sequence[str] | None = None,
    columns: Mapping[str, Sequence[Any]] | None = None,
    color: str | None = None,
    arrows: Arrows | None = None,
    views: Sequence[tuple[str, int, int]] = (),
    most_bytes: int | None = None,
) -> Cloud:
    """A cloud of points for a page.

    Parameters
    ----------
    scores : array of shape (n, k)
        Rows in the order of `ids` and `columns`. What is not finite has no place and is said.
    components : sequence of k names
    ids : sequence of n texts, optional
        What rows are called; by their numbers, from 0, otherwise.
    columns : mapping of names to n values each, optional
        Numbers, texts, truths or dates to colour by and to show.
    color : str, optional
        The column to colour by at first; the first one otherwise.
    arrows : Arrows, optional
        Columns of the data as directions.
    views : sequence of (name, component across, component upwards), optional
        Maps to show side by side at first, as of several methods whose components are given one after the other.
    most_bytes : int, optional
        Of the packed texts. By default 32 for a row, at least 320 kB and at most 7 MB, and 12 more for each view, at
        most 16 MB. Room is given to two components, the column to colour by, those of views, ids, columns and further
        components, in this order; `notes` say what has none.

    Returns
    -------
    Cloud
    """
    scores = np.asarray(scores, dtype=np.float64)
    columns = {str(name): values for name, values in (columns or {}).items()}
    _refuse(scores, components, ids, color, columns)
    count = len(scores)
    axes = [_axis(name, scores[:, i]) for i, name in enumerate(components)]
    axes += [_axis("", np.zeros(count))] * (len(axes) == 1)  # one component is drawn as a line
    every = {name: as_column(name, values, count) for name, values in columns.items()}
    first = color if color is not None else next(iter(every), None)
    room = _Room(_room(count, len(views)) if most_bytes is None else most_bytes)
    room.take(axes[0].codes, axes[1].codes)
    kept_columns = {name: every[name] for name in [first] if name is not None and room.fits(_size(every[name]))}
    seen = {i for _, x, y in views for i in (x, y)} | {0, 1}
    kept = {i: axis for i, axis in enumerate(axes) if i < 2 or (i in seen and room.fits(len(axis.codes)))}
    packed_ids = "" if ids is None else pack_list([str(name) for name in ids])
    kept_ids = packed_ids if room.fits(len(packed_ids)) else ""
    kept_columns |= {n: c for n, c in every.items() if n not in kept_columns and room.fits(_size(c))}
    kept |= {i: axis for i, axis in enumerate(axes) if i not in seen and room.fits(len(axis.codes))}
    kept_axes, place = [kept[i] for i in sorted(kept)], {i: number for number, i in enumerate(sorted(kept))}
    return Cloud(
        count=count,
        axes=tuple(kept_axes),
        ids=kept_ids,
        columns=tuple(column for name, column in every.items() if name in kept_columns),
        color=first if first in kept_columns else None,
        arrows=arrows,
        views=tuple(View(name, place[x], place[y]) for name, x, y in views if x in place and y in place),
        **_table(scores, components, ids, columns),
        notes=tuple(_notes(scores, axes, kept_axes, every, kept_columns, bool(packed_ids) and not kept_ids)),
    )


class _Room:
    """So many bytes, of which what fits is taken."""

    def __init__(self, most: int) -> None:
        self.left = most

    def take(self, *texts: str) -> None:
        self.left -= sum(map(len, texts))

    def fits(self, size: int) -> bool:
        there = size <= self.left
        self.left -= size * there
        return there


def _room(count: int, views: int) -> int:
    beside = min(_ROOM_IN_A_VIEW * count * views, _MOST_OF_VIEWS)
    return min(max(_ROOM_OF_A_ROW * count, _LEAST_ROOM), _MOST_ROOM) + beside


def _size(column: Column) -> int:
    return len(column.codes) + len(column.names)


def _axis(name: str, values: Array) -> Axis:
    low, high, step, codes = quantised(values)
    return Axis(str(name), low, high, step, pack(codes))


def _refuse(
    scores: Array, components: Sequence[str], ids: Sequence[str] | None, color: str | None, columns: Mapping[str, Any]
) -> None:
    """In a sentence each, what cannot be shown."""
    if scores.ndim != 2 or not scores.size:
        raise BadData(f"A map needs scores of rows on components; these have the shape {scores.shape}.")
    n, k = scores.shape
    if len(components) != k:
        raise BadData(f"There are {counted(len(components), 'name')} for {counted(k, 'component')}: give one for each.")
    if ids is not None and len(ids) != n:
        raise BadData(f"There are {counted(len(ids), 'id')} for {counted(n, 'row')}: give one for each row.")
    if color is not None and color not in columns:
        known = listed(map(str, columns)) if columns else "there are no columns"
        raise WrongUse(f"There is no column {shortened(color, 60)!r} to colour by; try one of: {known}.")


def _notes(
    scores: Array,
    axes: list[Axis],
    kept_axes: list[Axis],
    columns: Mapping[str, Any],
    kept: Mapping[str, Any],
    no_ids: bool,
) -> list[str]:
    """What is not on the page, a sentence each."""
    notes = []
    nowhere = int((~np.isfinite(scores[:, :2])).any(axis=1).sum())
    if nowhere:
        words = "without finite scores on the first two components: no place on the map."
        notes.append(f"{counted(nowhere, 'row')} {words}")
    left_axes = [axis.name for axis in axes if not any(axis is other for other in kept_axes)]
    left_columns = [str(name) for name in columns if name not in kept]
    if left_axes:
        notes.append(f"Left out to keep the page small: the components {listed(left_axes)}.")
    if left_columns:
        notes.append(f"Left out to keep the page small: the columns {listed(left_columns)}.")
    if no_ids:
        notes.append("Left out to keep the page small: the names of rows, which go by their numbers here.")
    return notes


def _table(
    scores: Array, components: Sequence[str], ids: Sequence[str] | None, columns: Mapping[str, Sequence[Any]]
) -> dict[str, Any]:
    """The first rows as texts, for those who see no map."""
    some = dict(islice(columns.items(), _FIRST_COLUMNS))
    names = [str(name) for name in (range(min(_FIRST, len(scores))) if ids is None else ids[:_FIRST])]
    cells = [[f"{value:.4g}" for value in row[:_FIRST_COLUMNS]] for row in scores[:_FIRST]]
    beside = [as_texts(values[:_FIRST]) for values in some.values()]
    first = [
        (name, *row, *(column[i] for column in beside)) for i, (name, row) in enumerate(zip(names, cells, strict=True))
    ]
    return {"heads": ("row", *map(str, components[:_FIRST_COLUMNS]), *map(str, some)), "first": tuple(first)}
