"""Rows by T² and Q: usual ones as points, novel ones as crosses, and the limit that tells them apart."""

from mercer_old.report.chapters.novelty import Novelty
from mercer_old.report.svg.frame import Plane, Scale, dots, picture, short, text

__all__ = ["novelty"]

_WIDE, _LEFT, _RIGHT, _TOP, _BOTTOM = 460, 58, 448, 26, 250
_WIDE_RANGE = 60.0  # times the median: beyond, logarithms


def novelty(record: Novelty) -> str:
    """Nothing where components leave nothing: all rows would lie on a line."""
    if max(record.q) <= 0:
        return ""
    plane = Plane(_scale(record.t2, _LEFT, _RIGHT, record.t2_limit), _scale(record.q, _BOTTOM, _TOP, record.q_limit))
    places = [
        (plane.x(max(x, plane.x.low)), plane.y(max(y, plane.y.low))) for x, y in zip(record.t2, record.q, strict=True)
    ]
    strange = set(record.strange)
    parts = [
        plane.axes("T², inside the space of the components", "Q, squared distance from it"),
        _limits(record, plane),
        dots((place for i, place in enumerate(places) if i not in strange), "usual"),
        _crosses([place for i, place in enumerate(places) if i in strange]),
    ]
    words = f"{record.count:,} of {record.rows:,} rows are called novel." if record.ranked[0].p is not None else ""
    return picture(_WIDE, _BOTTOM + 40, "Rows by T² and Q", words, parts, "novelty")


def _scale(values: tuple[float, ...], start: float, end: float, limit: float | None) -> Scale:
    ordered = sorted(values)
    middle, top = ordered[len(ordered) // 2], 1.05 * max(ordered[-1], limit or 0.0)
    if middle > 0 and top > _WIDE_RANGE * middle:
        low = max(min(value for value in ordered if value > 0), middle / 1e3)
        return Scale(low / 1.5, 1.5 * top, start, end, by_logarithm=True)
    return Scale(0.0, top or 1.0, start, end)


def _limits(record: Novelty, plane: Plane) -> str:
    parts = []
    if record.q_limit is not None and record.q_limit >= plane.y.low:
        at = plane.y(record.q_limit)
        parts.append(f'<path class="bound" d="M{_LEFT} {short(at)}H{_RIGHT}"/>')
        parts.append(text(_RIGHT, at - 5, "limit", "label", "end"))
    if record.t2_limit is not None and record.t2_limit >= plane.x.low:
        at = plane.x(record.t2_limit)
        parts.append(f'<path class="bound" d="M{short(at)} {_TOP}V{_BOTTOM}"/>')
        parts.append(text(at - 4, _TOP + 10, "limit", "label", "end"))
    return "".join(parts)


def _crosses(places: list[tuple[float, float]]) -> str:
    path = "".join(f"M{short(x - 3)} {short(y - 3)}l6 6m0-6l-6 6" for x, y in places)
    return f'<path class="novel" d="{path}"/>' if path else ""
