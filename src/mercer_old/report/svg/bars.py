"""What a component is made of: a bar for each of its largest columns."""

from mercer_old.report.chapters.columns import Column, Columns, Made
from mercer_old.report.numbers import bytes_of
from mercer_old.report.svg.frame import picture, short, text
from mercer_old.report.svg.tints import pixels

__all__ = ["bars"]

_WIDE, _NAMES, _END, _TOP, _LANE = 340, 150, 290, 24, 20
_PIXELS = 76  # of the width of rows that are pictures
_RISES, _FALLS = 0.95, 0.05  # share of the rows, from which on a score is said to rise or fall with a column


def bars(columns: Columns) -> list[str]:
    """A picture for each component, all on one scale."""
    top = max((abs(each.value) for made in columns.made for each in made.columns), default=0.0)
    top = max(top, *(each.between or 0.0 for made in columns.made for each in made.columns), 1e-300)
    return [_of_one(made, top, columns) for made in columns.made if made.columns]


def _of_one(made: Made, top: float, columns: Columns) -> str:
    """Loadings go to both sides of zero; influence has a size, and a sign where it is the same at nearly all rows."""
    signed = columns.kind == "loading"
    zero = (_NAMES + _END) / 2 + 4 if signed else _NAMES + 4
    reach = (_END - zero) / top
    parts = [text(0, 13, made.component, "title")]
    bottom = _TOP + _LANE * len(made.columns)
    for lane, each in enumerate(made.columns):
        y = _TOP + _LANE * lane
        length = reach * abs(each.value)
        left = zero - length if signed and each.value < 0 else zero
        kind = _kind(each, signed)
        parts.append(text(_NAMES - 8, y + 13, _seen(each.name), "name", "end"))
        place = f'x="{short(left)}" y="{short(y + 3)}" width="{short(max(length, 0.6))}" height="13"'
        parts.append(f'<rect class="bar {kind}" {place}/>')
        if each.between is not None:
            at = short(zero + reach * each.between)
            parts.append(f'<path class="between" d="M{short(zero)} {short(y + 9.5)}H{at}"/>')
        parts.append(text(_WIDE - 2, y + 13, _words(each, signed), "tick", "end"))
    parts.append(f'<path class="axis" d="M{short(zero)} {_TOP}V{short(bottom)}"/>')
    parts.append(_pixels(made, columns))
    words = ", ".join(f"{each.name} {_words(each, signed)}" for each in made.columns)
    return picture(_WIDE, bottom + 4, made.component, words, parts, "bars")


def _pixels(made: Made, columns: Columns) -> str:
    """All columns at their places, of rows that are pictures, beside the bars."""
    if not made.pixels:
        return ""
    steps = bytes_of(made.pixels).reshape(columns.shape)
    return pixels(steps, 0, _TOP + 2, _PIXELS, _PIXELS * columns.shape[0] / columns.shape[1])


def _seen(name: str) -> str:
    """A gram may begin or end with a space, which would not be seen."""
    return name if name == name.strip() and name else repr(name)


def _kind(each: Column, signed: bool) -> str:
    if signed:
        return "falls" if each.value < 0 else "rises"
    sign = _sign(each)
    return {"+": "rises", "−": "falls"}.get(sign, "both")


def _sign(each: Column) -> str:
    if each.rising is None:
        return ""
    return "+" if each.rising > _RISES else "−" if each.rising < _FALLS else "±"


def _words(each: Column, signed: bool) -> str:
    figure = f"{abs(each.value):#.2g}".removesuffix(".")
    return ("−" if each.value < 0 else "+") + figure if signed else _sign(each) + figure
