"""The colours of points, once for the picture and for the script."""

from mercer_old.colours import COLOURS
from mercer_old.displays.palette import MOST_COLOURS, styles
from mercer_old.report.cloud.record import Column

__all__ = ["GREY", "LOOK", "PLAIN", "STILL", "colours_of"]

PLAIN, GREY = COLOURS[0], "#9aa3ad"  # of points that are all alike; of missing values, and of small categories
_TEN = [style.colour for style in styles(MOST_COLOURS)]
_FIRST = [colour for colour in _TEN if colour not in ("#94a4a2", "#717581")]  # which are too near to GREY

# Cividis, without the end that is lost on white, or on black; a still picture is seen on either.
_ON_LIGHT = ["#00224e", "#1a386f", "#434e6c", "#61656f", "#7d7c78", "#9b9476", "#bcae6c", "#dec958"]
_ON_DARK = ["#3f68b5", "#5d77a9", "#75879d", "#8c968f", "#a8a981", "#c7bd6e", "#e3d154", "#fee838"]
STILL = _ON_DARK[:-1]

#: What a script has to know.
LOOK = {
    "few": COLOURS,
    "ten": _TEN,
    "first": _FIRST,
    "ramp": {"light": _ON_LIGHT, "dark": _ON_DARK},
    "grey": GREY,
    "plain": PLAIN,
}


def colours_of(column: Column) -> list[str]:
    """Of the categories that have one of their own, in the order of codes."""
    for colours in (COLOURS, _TEN):
        if column.n_names <= len(colours):
            return colours[: column.n_names]
    return _FIRST
