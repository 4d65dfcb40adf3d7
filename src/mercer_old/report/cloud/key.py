"""What the colours of a still picture mean, in words."""

from html import escape

from mercer_old.errors import counted, shortened
from mercer_old.report.cloud.look import GREY, STILL, colours_of
from mercer_old.report.cloud.packing import unpack_list
from mercer_old.report.cloud.record import Cloud, Column
from mercer_old.terminal import plain

__all__ = ["key_of"]

_LONGEST = 60  # letters of a name


def key_of(cloud: Cloud) -> str:
    """A list with a dot for every colour; nothing where all points have one."""
    column = next((column for column in cloud.columns if column.name == cloud.color), None)
    if column is None:
        return ""
    lines = _categories(column) if column.kind == "category" else _numbers(column)
    return f'<ul class="map-key"><li><b><bdi>{_text(column.name)}</bdi></b></li>{"".join(lines)}</ul>'


def _categories(column: Column) -> list[str]:
    colours = colours_of(column)
    names = unpack_list(column.names)[: len(colours)]
    lines = [_line(colour, name) for colour, name in zip(colours, names, strict=True)]
    others = column.n_names - len(names)
    return lines + ([_line(GREY, counted(others, "other"))] if others else [])


def _numbers(column: Column) -> list[str]:
    ends = [(STILL[0], column.low), (STILL[-1], column.high)]
    return [_line(colour, f"{value:.4g}") for colour, value in ends[: 2 if column.high > column.low else 1]]


def _line(colour: str, name: str) -> str:
    return f'<li><span class="map-swatch" style="background:{colour}"></span> <bdi>{_text(name)}</bdi></li>'


def _text(value: object) -> str:
    return escape(shortened(plain(value), _LONGEST))
