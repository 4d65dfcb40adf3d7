"""The spectrum: every value on a scale of logarithms, what it is proven to lie within, and what no other exceeds."""

from collections.abc import Sequence

from mercer_old.report.facts import Component, Facts
from mercer_old.report.pieces import figure_of, text_of
from mercer_old.report.svg.frame import Plane, Scale, picture, round_steps, short, text

__all__ = ["spectrum"]

_WIDE, _LEFT, _RIGHT, _TOP, _HIGH = 440, 62, 426, 26, 190
_FAR = 1e4  # times the values: a bound farther away would leave them no room
_MOST = 100


def spectrum(facts: Facts) -> str:
    """Points with whiskers; hollow where directions are not determined."""
    shown = [each for each in facts.components[:_MOST] if each.value is not None]
    there = [each.value for each in shown if each.value is not None and each.value > 0]
    if len(shown) < 2 or not there:
        return ""
    bound = facts.beyond if facts.beyond and min(there) / _FAR < facts.beyond < _FAR * max(there) else None
    seen = [*there, *([] if bound is None else [bound])]
    plane = Plane(
        Scale(0.4, len(shown) + 0.6, _LEFT, _RIGHT),
        Scale(min(seen) / 1.7, 1.7 * max(seen), _TOP + _HIGH, _TOP, by_logarithm=True),
    )
    ticks = [tick for tick in round_steps(1, len(shown), 10) if tick == int(tick)]
    parts = [
        plane.axes("number of the component", f"{facts.value}, by logarithms", ticks),
        _bound(plane, bound, facts.value == "eigenvalue"),
        *_points(plane, shown, set(facts.unresolved), min(there)),
    ]
    words = f"From {figure_of(max(there))} to {figure_of(min(there))}."
    return picture(_WIDE, _TOP + _HIGH + 40, "Spectrum", words, parts, "spectrum")


def _bound(plane: Plane, bound: float | None, above: bool) -> str:
    if bound is None:
        return ""
    y, side = plane.y(bound), "above" if above else "below"
    words = text(plane.x.end, y - 5, f"all others are {side}", "label", "end")
    return f'<path class="bound" d="M{short(plane.x.start)} {short(y)}H{short(plane.x.end)}"/>{words}'


def _points(plane: Plane, shown: Sequence[Component], hollow: set[int], least: float) -> list[str]:
    """What is zero to rounding stands at the bottom."""
    parts = []
    for j, each in enumerate(shown):
        x, value = plane.x(j + 1), max(each.value or 0.0, least / 1.7)
        if each.lower is not None and each.upper is not None and each.upper - each.lower > 0.01 * value:
            low, high = (plane.y(min(max(end, plane.y.low), plane.y.high)) for end in (each.lower, each.upper))
            parts.append(f'<path class="whisker" d="M{short(x)} {short(low)}V{short(high)}m-3 0h6"/>')
        kind = "point hollow" if j in hollow else "point"
        words = f"<title>{text_of(each.name)}: {figure_of(each.value)}</title>"
        parts.append(f'<circle class="{kind}" cx="{short(x)}" cy="{short(plane.y(value))}" r="3.5">{words}</circle>')
    return parts
