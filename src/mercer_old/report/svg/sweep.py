"""Small pictures of rows for every bandwidth: groups are colours, points are strokes without length."""

from mercer_old.colours import COLOURS
from mercer_old.displays.palette import styles
from mercer_old.report.chapters.sweep import Step, Sweep
from mercer_old.report.svg.frame import picture

__all__ = ["colours_of_groups", "sweep_step"]

_WIDE, _HIGH, _MARGIN, _GRID = 1040, 760, 20, 1000  # whole numbers are as fine as a page shows


def sweep_step(sweep: Sweep, step: Step) -> str:
    """The rows by one γ."""
    up = (_HIGH - 2 * _MARGIN) / _GRID
    places = [(_MARGIN + x, round(_HIGH - _MARGIN - up * y)) for x, y in zip(step.x, step.y, strict=True)]
    colours = colours_of_groups(sweep)
    codes = sweep.codes or (0,) * len(places)
    parts = [f'<rect class="outline" x="1" y="1" width="{_WIDE - 2}" height="{_HIGH - 2}" rx="16"/>']
    for code in sorted(set(codes)):
        own = [place for place, other in zip(places, codes, strict=True) if other == code]
        path = "".join(f"M{x} {y}h0" for x, y in own)
        colour = colours[code] if 0 <= code < len(colours) else "currentColor"
        parts.append(f'<path class="dots cloud" style="stroke:{colour}" d="{path}"/>')
    return picture(_WIDE, _HIGH, "Rows in the plane of the first two components", step.words, parts, "sweep")


def colours_of_groups(sweep: Sweep) -> list[str]:
    """One for each, as in all other pictures; without groups, one for all."""
    return [style.colour for style in styles(len(sweep.groups))] if sweep.groups else [COLOURS[0]]
