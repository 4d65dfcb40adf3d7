"""The colours of points, once for the picture and for the script."""

from mercer.displays.palette import styles
from mercer.look import COLOURS
from mercer.report.cloud.record import Column

__all__ = ["LOOK", "colours_of"]

_TEN = [style.colour for style in styles(len(COLOURS) + 1)] + [style.colour for style in styles(10)][len(COLOURS) + 1 :]
_GREYS = ("#94a4a2", "#717581")  # too near to the colour of others

#: What a script has to know. Ramps are cividis, without the end that is lost on white, or on black.
LOOK = {
    "few": COLOURS,
    "ten": _TEN,
    "first": [colour for colour in _TEN if colour not in _GREYS],
    "ramp": {
        "light": ["#00224e", "#1a386f", "#434e6c", "#61656f", "#7d7c78", "#9b9476", "#bcae6c", "#dec958"],
        "dark": ["#3f68b5", "#5d77a9", "#75879d", "#8c968f", "#a8a981", "#c7bd6e", "#e3d154", "#fee838"],
    },
    "missing": "#9aa3ad",
    "others": "#9aa3ad",
    "plain": COLOURS[0],
}


def colours_of(column: Column) -> list[str]:
    """Of the categories that have one of their own, in the order of codes."""
    for colours in (COLOURS, _TEN):
        if column.n_names <= len(colours):
            return list(colours[: column.n_names])
    return list(LOOK["first"])
