"""The scree: shares of the variance with what is proven of them, their sum, and below what every rule would keep."""

from collections.abc import Sequence

from mercer_old.displays.words import percent
from mercer_old.report.facts import Component, Facts, Rule
from mercer_old.report.pieces import text_of
from mercer_old.report.svg.frame import Plane, Scale, picture, round_steps, short, text

__all__ = ["scree"]

_WIDE, _LEFT, _RIGHT, _TOP, _HIGH = 440, 112, 426, 26, 170
_LANE = 15  # between rules
_MOST = 40  # components that are drawn


def scree(facts: Facts) -> str:
    """Bars, whiskers, the sum of the first ones; a lane for every rule that says a number."""
    shown = [each for each in facts.components[:_MOST] if each.share is not None]
    if not shown or len(shown) < min(len(facts.components), _MOST):
        return ""
    rules = [rule for rule in facts.rules if rule.k is not None]
    top = max(*(each.together or 0.0 for each in shown), 1e-3)
    plane = Plane(Scale(0.4, len(shown) + 0.6, _LEFT, _RIGHT), Scale(0, min(1.0, 1.04 * top) * 100, _TOP + _HIGH, _TOP))
    height = _TOP + _HIGH + 40 + (_LANE * len(rules) + 18 if rules else 0)
    parts = [
        plane.axes("number of components" if not rules else "", "share of the variance, %", _whole(len(shown))),
        *_bars(plane, shown),
        _sum_of_first(plane, shown),
        *_lanes(plane, rules, facts.agreed, len(shown)),
    ]
    words = f"The first has {percent(shown[0].share or 0)}, {len(shown)} have {percent(top)}. {facts.consensus or ''}"
    return picture(_WIDE, height, "Scree", words, parts, "scree")


def _whole(count: int) -> list[float]:
    return [tick for tick in round_steps(1, count, 10) if tick == int(tick) and tick >= 1] or [1.0]


def _bars(plane: Plane, shown: Sequence[Component]) -> list[str]:
    """Each component, and between which shares it is proven to lie."""
    width, zero = 0.72 * (plane.x(2) - plane.x(1)), plane.y(0)
    parts = []
    for number, each in enumerate(shown, 1):
        at, middle = plane.y(100 * (each.share or 0.0)), plane.x(number)
        together = "" if each.together is None else f", together {percent(each.together)}"
        words = f"<title>{text_of(each.name)}: {percent(each.share or 0.0)}{together}</title>"
        parts.append(
            f'<rect class="bar" x="{short(middle - width / 2)}" y="{short(at)}" width="{short(width)}" '
            f'height="{short(max(zero - at, 0.5))}">{words}</rect>'
        )
        if (ends := each.proven_shares) is not None and 100 * (ends[1] - ends[0]) > 0.2:
            low, high = (short(plane.y(100 * min(max(end, 0.0), 1.0))) for end in ends)
            whisker = f"M{short(middle)} {low}V{high}m-3 0h6M{short(middle - 3)} {low}h6"
            parts.append(f'<path class="whisker" d="{whisker}"/>')
    return parts


def _sum_of_first(plane: Plane, shown: Sequence[Component]) -> str:
    places = [(plane.x(number), plane.y(100 * (each.together or 0.0))) for number, each in enumerate(shown, 1)]
    line = "L".join(f"{short(x)} {short(y)}" for x, y in places)
    ends = "".join(f"M{short(x)} {short(y)}h0" for x, y in places)
    x, y = places[-1]
    named = text(x, max(y - 7, 12), "together", "label", "end") if len(places) > 1 else ""
    return f'<path class="sum" d="M{line}"/><path class="dots sum-ends" d="{ends}"/>{named}'


def _lanes(plane: Plane, rules: Sequence[Rule], agreed: int | None, most: int) -> list[str]:
    """A dot for what each rule would keep; what is beyond the picture stands at its end, with its number."""
    if not rules:
        return []
    first = plane.y.start + 34
    bottom = first + _LANE * (len(rules) - 1) + 6
    parts = []
    if agreed is not None and agreed <= most:
        at = plane.x(max(agreed, 0.55))
        side = "end" if at > plane.x.end - 50 else "start" if at < plane.x.start + 50 else "middle"
        parts.append(f'<path class="agreed" d="M{short(at)} {short(_TOP)}V{short(bottom)}"/>')
        parts.append(text(at, bottom + 14, f"consensus: {agreed}", "label agreed-word", side))
    for lane, rule in enumerate(rules):
        y, k = first + _LANE * lane, int(rule.k or 0)
        x = plane.x(min(max(k, 0.55), most + 0.4))
        kind = "rule heard" if rule.heard else "rule"
        parts.append(text(plane.x.start - 12, y + 4, rule.name, "tick", "end"))
        parts.append(f'<path class="grid" d="M{short(plane.x.start)} {short(y)}H{short(plane.x.end)}"/>')
        parts.append(f'<circle class="{kind}" cx="{short(x)}" cy="{short(y)}" r="4"/>')
        words = rule.answer.replace("at least ", "≥ ")
        ahead = x < plane.x.end - 40
        parts.append(text(x + 8 if ahead else x - 8, y + 4, words, "tick", "start" if ahead else "end"))
    return parts
