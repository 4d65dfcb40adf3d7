"""Entries of the gallery → one self-contained page: no script, no request, pictures inline, every text escaped."""

import base64
import re
from html import escape

from mercer_old import __version__
from mercer_old.errors import counted
from mercer_old.look import DPI
from mercer_old.report.gallery import Entry
from mercer_old.report.templates import page_file, template


def gallery_page(entries: list[Entry]) -> str:
    """The page as text."""
    claims = [holds for entry in entries for holds in entry.claims.values()]
    return template("gallery.html").substitute(
        style=page_file("style.css"),
        version=escape(__version__),
        figures=counted(len(entries), "figure"),
        claims=len(claims),
        held=sum(map(bool, claims)),
        contents="\n".join(f'<li><a href="#{escape(e.name)}">{escape(e.title)}</a></li>' for e in entries),
        entries="\n".join(map(_figure, entries)),
    )


def _figure(entry: Entry) -> str:
    claims = "\n".join(
        f'<li class="{"held" if holds else "failed"}">{escape(sentence)}</li>'
        for sentence, holds in entry.claims.items()
    )
    return template("figure.html").substitute(
        name=escape(entry.name),
        number=escape(entry.number),
        title=escape(entry.title),
        slides=escape(entry.slides),
        caption=escape(entry.caption),
        formula=_formula(entry.formula),
        claims=claims,
        width=_width_in_rem(entry.pictures["light"]),
        light=_data_uri(entry.pictures["light"]),
        dark=_data_uri(entry.pictures["dark"]),
    )


def _width_in_rem(png: bytes) -> int:
    """How wide a picture must be for its smallest text to be read: 4.6 rem an inch. (Its header has the pixels.)"""
    return round(int.from_bytes(png[16:20], "big") / DPI * 4.6)


def _formula(text: str) -> str:
    """Escaped, with `_{i>k}` and `_new` lowered and `^{…}` raised."""
    lowered = re.sub(r"_(?:\{([^{}]*)\}|(\w+))", r"<sub>\1\2</sub>", escape(text))
    return re.sub(r"\^\{([^{}]*)\}", r"<sup>\1</sup>", lowered)


def _data_uri(png: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(png).decode('ascii')}"
