"""A component over the plane: colours for both sides that any paper shows through, and the line where it is zero."""

import base64

import numpy as np

from mercer.arrays import Array
from mercer.report.chapters.fields import Field, Fields
from mercer.report.cloud.png import indexed_png
from mercer.report.numbers import bytes_of
from mercer.report.svg.frame import Plane, Scale, dots, picture, short, text

__all__ = ["fields"]

_WIDE, _LEFT, _RIGHT, _TOP, _BOTTOM = 300, 44, 292, 26, 220
_ABOVE, _BELOW = (0, 114, 178), (213, 94, 0)


def fields(record: Fields) -> list[str]:
    """A picture for each component."""
    return [_of_one(record, field) for field in record.fields]


def _of_one(record: Fields, field: Field) -> str:
    plane = Plane(Scale(*record.x, _LEFT, _RIGHT), Scale(*record.y, _BOTTOM, _TOP))
    steps = bytes_of(field.values).reshape(record.side, record.side)
    parts = [
        f'<image x="{_LEFT}" y="{_TOP}" width="{_RIGHT - _LEFT}" height="{_BOTTOM - _TOP}" preserveAspectRatio="none" '
        f'href="data:image/png;base64,{base64.b64encode(indexed_png(steps[::-1], _PALETTE)).decode("ascii")}"/>',
        f'<path class="zero" d="{_zero_line(steps, record.side)}"/>',
        dots(((plane.x(x), plane.y(y)) for x, y in record.points), "rows"),
        plane.axes("", ""),
        text(0, 13, field.component, "title"),
        text(_RIGHT, _BOTTOM + 30, record.names[0], "name", "end"),
        text(_RIGHT, 13, f"up: {record.names[1]}", "name", "end"),
    ]
    words = f"From −{field.top:.3g} to {field.top:.3g} over {record.names[0]} and {record.names[1]}."
    return picture(_WIDE, _BOTTOM + 36, field.component, words, parts, "field")


def _tint(step: int) -> tuple[int, int, int, int]:
    """The farther from zero, the less paper is seen."""
    part = (step - 127.5) / 127.5
    return (*(_ABOVE if part > 0 else _BELOW), round(210 * abs(part) ** 0.8))


_PALETTE = [_tint(step) for step in range(256)]


def _zero_line(steps: Array, side: int) -> str:
    """By marching squares: in every cell whose corners differ in sign, the piece between its edges."""
    values = steps.astype(np.float64) - 127.5
    across, up = (_RIGHT - _LEFT) / side, (_BOTTOM - _TOP) / side
    pieces = []
    for i in range(side - 1):
        for j in range(side - 1):
            corners = (i, j), (i, j + 1), (i + 1, j + 1), (i + 1, j)
            ends = [_crossing(values, a, b) for a, b in zip(corners, (*corners[1:], corners[0]), strict=True)]
            places = [(_LEFT + across * (x + 0.5), _BOTTOM - up * (y + 0.5)) for y, x in filter(None, ends)]
            pieces += [
                f"M{short(a[0])} {short(a[1])}L{short(b[0])} {short(b[1])}"
                for a, b in zip(places[::2], places[1::2], strict=False)
            ]
    return "".join(pieces)


def _crossing(values: Array, a: tuple[int, int], b: tuple[int, int]) -> tuple[float, float] | None:
    """Where an edge of a cell is zero."""
    first, second = float(values[a]), float(values[b])
    if (first < 0) == (second < 0):
        return None
    part = first / (first - second)
    return a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1])
