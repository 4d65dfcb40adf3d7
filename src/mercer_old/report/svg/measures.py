"""What all methods have of one measure: a lane for each, a dot with two standard errors to each side."""

from collections.abc import Mapping
from math import isfinite

from mercer_old.report.comparison.record import Figure, Measure
from mercer_old.report.svg.frame import Scale, picture, short, text

__all__ = ["chart"]

_WIDE, _NAMES, _END, _TOP, _LANE, _BOTTOM = 340, 124, 284, 4, 20, 20
_SURE = 2.0  # standard errors


def chart(measure: Measure, figures: Mapping[str, Figure | None]) -> str:
    """Of methods by their titles; one without a figure has a lane that says so."""
    known = [figure for figure in figures.values() if figure is not None]
    bottom = _TOP + _LANE * len(figures)
    scale = _scale(known, measure.chance)
    parts = [_ground(scale, bottom, measure.chance)]
    for lane, (title, figure) in enumerate(figures.items()):
        y = _TOP + _LANE * (lane + 0.5)
        parts.append(text(_NAMES - 10, y + 4, title, "name", "end"))
        parts.append(_mark(scale, figure, y))
    told = ", ".join(f"{title} {'not measured' if one is None else one.words}" for title, one in figures.items())
    return picture(_WIDE, bottom + _BOTTOM, measure.head, told, parts, "bars")


def _scale(known: list[Figure], chance: float | None) -> Scale:
    """Around all dots and lines; what chance has is in it where it is not far."""
    low = min((one.value - _SURE * (one.error or 0.0) for one in known), default=0.0)
    high = max((one.value + _SURE * (one.error or 0.0) for one in known), default=1.0)
    if chance is not None and low - chance < high - low:
        low = min(low, chance)
    room = 0.04 * (high - low) or 0.5 * abs(high) or 1.0
    return Scale(low - room, high + room, _NAMES, _END)


def _ground(scale: Scale, bottom: float, chance: float | None) -> str:
    parts = []
    for tick in scale.ticks(3):
        at = short(scale(tick))
        parts.append(f'<path class="grid" d="M{at} {_TOP}V{short(bottom)}"/>')
        parts.append(text(scale(tick), bottom + 14, f"{tick + 0.0:.4g}", "tick", "middle"))
    if chance is not None and scale.low <= chance <= scale.high:
        parts.append(f'<path class="bound" d="M{short(scale(chance))} {_TOP}V{short(bottom)}"/>')
    return "\n".join(parts)


def _mark(scale: Scale, figure: Figure | None, y: float) -> str:
    if figure is None or not isfinite(figure.value):
        return text(_NAMES, y + 4, "–", "tick")
    parts = []
    if figure.error:
        ends = [short(scale(figure.value + side * _SURE * figure.error)) for side in (-1, 1)]
        parts.append(f'<path class="whisker" d="M{ends[0]} {short(y)}H{ends[1]}"/>')
    kind = "point" if figure.best else "point hollow"
    parts.append(f'<circle class="{kind}" cx="{short(scale(figure.value))}" cy="{short(y)}" r="4.5"/>')
    parts.append(text(_WIDE - 2, y + 4, f"{figure.value:.3f}", "tick", "end"))
    return "\n".join(parts)
