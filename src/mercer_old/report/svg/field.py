"""A component over the plane: colours for both sides that any paper shows through, and the line where it is zero."""

import numpy as np

from mercer_old.arrays import Array
from mercer_old.report.chapters.fields import Field, Fields
from mercer_old.report.numbers import bytes_of
from mercer_old.report.svg.frame import Plane, Scale, dots, picture, short, text
from mercer_old.report.svg.tints import pixels

__all__ = ["fields"]

_WIDE, _LEFT, _RIGHT, _TOP, _BOTTOM = 300, 44, 292, 26, 220


def fields(record: Fields) -> list[str]:
    """A picture for each component."""
    return [_of_one(record, field) for field in record.fields]


def _of_one(record: Fields, field: Field) -> str:
    plane = Plane(Scale(record.x[0], record.x[1], _LEFT, _RIGHT), Scale(record.y[0], record.y[1], _BOTTOM, _TOP))
    roots = bytes_of(field.roots).reshape(record.side, record.side)
    parts = [
        pixels(roots[::-1], _LEFT, _TOP, _RIGHT - _LEFT, _BOTTOM - _TOP, smooth=True),
        f'<path class="zero" d="{_zero_line(roots, record.side)}"/>',
        dots(((plane.x(x), plane.y(y)) for x, y in record.points), "rows"),
        plane.axes("", ""),
        text(0, 13, field.component, "title"),
        text(_RIGHT, _BOTTOM + 30, record.names[0], "name", "end"),
        text(_RIGHT, 13, f"up: {record.names[1]}", "name", "end"),
    ]
    words = f"From −{field.top:.3g} to {field.top:.3g} over {record.names[0]} and {record.names[1]}."
    return picture(_WIDE, _BOTTOM + 36, field.component, words, parts, "field")


def _zero_line(steps: Array, side: int) -> str:
    """By marching squares: in every cell whose corners differ in sign, the piece between its edges."""
    roots = steps.astype(np.float64) - 127.5
    values = np.sign(roots) * roots**2
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
