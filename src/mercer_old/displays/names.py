"""Names beside points that do not cover each other: one after the other, each at the first place with room."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer_old.arrays import Array
from mercer_old.displays.canvas import renderer_of
from mercer_old.displays.words import safe

__all__ = ["place_names"]

_MOST = 400  # names that are tried: of more, none could be read
# Where a name stands, seen from its point: dx, dy, and which of its sides is there.
_PLACES = [
    (1, 0, "left", "center"), (-1, 0, "right", "center"), (0, 1, "center", "bottom"), (0, -1, "center", "top"),
    (1, 1, "left", "bottom"), (1, -1, "left", "top"), (-1, 1, "right", "bottom"), (-1, -1, "right", "top"),
]  # fmt: skip
_TRIES = [(reach, place) for reach in (4.0, 11.0, 20.0) for place in _PLACES]  # points away, nearest first


def place_names(
    ax: Any, points: Array, names: Sequence[str], *, colour: Any, size: float = 8.0, taken: Array | None = None,
    outwards: bool = False,
) -> tuple[list[Any], int]:  # fmt: skip
    """Write names in their order, the most important first; the texts, and how many found no room.

    A place is free if it lies inside the figure and covers no name, number, legend or scale of colours, and, if it can
    be helped, no point of `taken`. `outwards`: names of arrows stand beyond their tips.
    """
    figure = ax.get_figure(root=True)
    figure.draw_without_rendering()  # the layout decides where points are
    unit = figure.dpi / 72
    spots = ax.transData.transform(np.asarray(points, dtype=np.float64).reshape(-1, 2))
    others = spots if taken is None else ax.transData.transform(taken)
    heart = ax.transData.transform((0.0, 0.0)) if outwards else None
    page = figure.bbox.bounds[2:]
    renderer = renderer_of(figure)
    boxes, texts = _taken_boxes(ax, renderer), []
    for (x, y), spot, name in list(zip(points, spots, names, strict=True))[:_MOST]:
        text = ax.annotate(
            safe(name), (x, y), xytext=(0, 0), textcoords="offset points", fontsize=size, color=colour, zorder=5,
            annotation_clip=False,
        )  # fmt: skip
        text.set_in_layout(False)  # or the layout would move the axes once more, and names with it
        extent = text.get_window_extent(renderer)
        found = _first_free(spot, (extent.width, extent.height), boxes, others, page, unit, heart)
        if found is None:
            text.remove()
            continue
        (dx, dy, side, edge), box = found
        text.xyann = (dx, dy)
        text.set(horizontalalignment=side, verticalalignment=edge)
        boxes = np.vstack([boxes, box])
        texts.append(text)
    return texts, len(names) - len(texts)


def _taken_boxes(ax: Any, renderer: Any) -> Array:
    """Where names would cover what is written already: notes, numbers and labels of axes, the legend, other axes."""
    others = [one for one in ax.get_figure(root=True).axes if one is not ax]
    parts = [ax.xaxis, ax.yaxis, ax.get_legend(), *ax.child_axes, *others]
    boxes = [one.get_tightbbox(renderer) for one in parts if one is not None]
    boxes += [text.get_window_extent(renderer) for text in ax.texts if text.get_text()]
    return np.array([box.extents for box in boxes if box is not None], dtype=np.float64).reshape(-1, 4)


def _first_free(
    spot: Array, size: tuple[float, float], boxes: Array, others: Array, page: Any, unit: float, heart: Array | None
) -> tuple[tuple[float, float, str, str], Array] | None:
    """The first place that covers nothing; else the first that covers points but no names."""
    second = None
    for reach, (dx, dy, side, edge) in _in_order(spot, heart):
        box = _box(spot, reach * unit, (dx, dy, side, edge), size)
        inside = box[0] >= 0 and box[1] >= 0 and box[2] <= page[0] and box[3] <= page[1]
        if not inside or _overlaps(box, boxes):
            continue
        place = (dx * reach, dy * reach, side, edge), box
        if not _covers(box, others):
            return place
        second = second or place
    return second


def _in_order(spot: Array, heart: Array | None) -> Any:
    """The tries; of arrows those first that lead away from where they begin."""
    if heart is None:
        return _TRIES
    away = (spot - heart) / (np.linalg.norm(spot - heart) or 1.0)
    return sorted(
        _TRIES, key=lambda one: (one[0], -(one[1][0] * away[0] + one[1][1] * away[1]) / np.hypot(*one[1][:2]))
    )


def _box(spot: Array, reach: float, place: tuple[int, int, str, str], size: tuple[float, float]) -> Array:
    dx, dy, side, edge = place
    x, y = spot[0] + dx * reach, spot[1] + dy * reach
    left = {"left": x, "center": x - size[0] / 2, "right": x - size[0]}[side]
    low = {"bottom": y, "center": y - size[1] / 2, "top": y - size[1]}[edge]
    return np.array([left, low, left + size[0], low + size[1]])


def _overlaps(box: Array, boxes: Array) -> bool:
    apart = (boxes[:, 0] >= box[2]) | (boxes[:, 2] <= box[0]) | (boxes[:, 1] >= box[3]) | (boxes[:, 3] <= box[1])
    return bool(len(boxes)) and not bool(apart.all())


def _covers(box: Array, points: Array) -> bool:
    inside = (points[:, 0] > box[0]) & (points[:, 0] < box[2]) & (points[:, 1] > box[1]) & (points[:, 1] < box[3])
    return bool(inside.any())
