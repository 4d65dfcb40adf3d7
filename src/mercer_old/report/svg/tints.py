"""Numbers around zero as a picture: a colour for either side, through which any paper is seen."""

import base64

from mercer_old.arrays import Array
from mercer_old.report.cloud.png import indexed_png
from mercer_old.report.svg.frame import short

__all__ = ["pixels"]

_ABOVE, _BELOW = (0, 114, 178), (213, 94, 0)
_DEEPEST = 215  # opacity, of 255


def pixels(steps: Array, x: float, y: float, width: float, height: float, smooth: bool = False) -> str:
    """Steps from 0 (below) over 127.5 (zero) to 255 (above), the first line at the top; smooth ones are roots."""
    png = base64.b64encode(indexed_png(steps, _OF_ROOTS if smooth else _PALETTE)).decode("ascii")
    place = f'x="{short(x)}" y="{short(y)}" width="{short(width)}" height="{short(height)}"'
    kind = "" if smooth else ' class="sharp"'
    return f'<image{kind} {place} preserveAspectRatio="none" href="data:image/png;base64,{png}"/>'


def _tint(step: int, power: float) -> tuple[int, int, int, int]:
    """The farther from zero, the less paper is seen."""
    part = (step - 127.5) / 127.5
    red, green, blue = _ABOVE if part > 0 else _BELOW
    return red, green, blue, round(_DEEPEST * abs(part) ** power)


_PALETTE = [_tint(step, 0.8) for step in range(256)]
_OF_ROOTS = [_tint(step, 1.6) for step in range(256)]
