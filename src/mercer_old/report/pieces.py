"""Pieces of a page: texts that no browser obeys, tables, pairs, code, sections, and words that explain a number."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from html import escape

from mercer_old.displays.words import percent
from mercer_old.report.glossary import GLOSSARY
from mercer_old.terminal import plain

__all__ = [
    "asked_about", "code", "figure_of", "glossary_of", "interval_of", "listing", "notes", "pairs", "section",
    "share_of", "table", "text_of",
]  # fmt: skip

_APART = 1e-4  # of a value: what its figures show


def text_of(value: object) -> str:
    """What a reader sees and no browser obeys: neither as HTML, nor as a sign that turns the line around."""
    return escape(plain(value))


def section(name: str, title: str, body: str, kind: str = "") -> str:
    classes = f' class="{kind}"' if kind else ""
    return f'<article id="{name}"{classes}>\n<h2>{text_of(title)}</h2>\n{body}\n</article>'


def listing(sentences: Iterable[str]) -> str:
    return "<ul>\n" + "\n".join(f"<li>{text_of(sentence)}</li>" for sentence in sentences) + "\n</ul>"


def notes(sentences: Iterable[str]) -> str:
    return "\n".join(f'<p class="note">{text_of(sentence)}</p>' for sentence in sentences if sentence)


def table(
    head: Sequence[str], rows: Iterable[Sequence[str]], words: bool = False, about: Mapping[str, str] | None = None
) -> str:
    """`about` has, by the heading of a column, the term that explains it."""
    asked = about or {}
    first = "".join(f'<th scope="col">{text_of(cell)}{asked_about(asked.get(cell))}</th>' for cell in head)
    body = "\n".join("<tr>" + "".join(f"<td>{text_of(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    kind = "words" if words else "figures"
    whole = f"<thead><tr>{first}</tr></thead>\n<tbody>\n{body}\n</tbody>"
    label = text_of(f"table of {', '.join(filter(None, head))}, scrolls sideways on a small screen")
    inner = f'<table class="{kind}">\n{whole}\n</table>'
    return f'<div class="wide" tabindex="0" role="group" aria-label="{label}">{inner}</div>'


def pairs(said: Mapping[str, str], about: Mapping[str, str] | None = None) -> str:
    asked = about or {}
    rows = "\n".join(
        f"<dt>{text_of(name)}{asked_about(asked.get(name))}</dt><dd>{text_of(value)}</dd>"
        for name, value in said.items()
        if value
    )
    return f"<dl>\n{rows}\n</dl>"


def code(kind: str, lines: str) -> str:
    return (
        f'<pre class="{kind}" aria-label="{kind}" role="group" tabindex="0"><code>'
        f"{escape(plain(lines, keep=chr(10)))}</code></pre>"
    )


def asked_about(term: str | None) -> str:
    """A button that shows what a word means; it needs no script."""
    if term is None:
        return ""
    name = GLOSSARY[term][0]
    return (
        f' <button type="button" class="why" popovertarget="word-{term}" '
        f'aria-label="What is {text_of(name)}?">?</button>'
    )


def glossary_of(body: str) -> str:
    """What all words mean that a page asks about, each shown by its button, and all of them on paper."""
    asked = [term for term in GLOSSARY if f'popovertarget="word-{term}"' in body]
    return "\n".join(
        f'<div popover class="word" id="word-{term}"><h3>{text_of(GLOSSARY[term][0].capitalize())}</h3>\n'
        f"<p>{text_of(GLOSSARY[term][1])}</p></div>"
        for term in asked
    )


# ---------------------------------------------------------------------- numbers


def figure_of(value: float | None) -> str:
    """With five digits; a large whole number has all of its own."""
    if value is None:
        return ""
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e7 else f"{value:.5g}"


def share_of(value: float | None) -> str:
    return "" if value is None else percent(value)


def interval_of(value: float | None, lower: float | None, upper: float | None) -> str:
    """Both ends, or how far the value may be off where figures do not tell them apart: rounded so that it is true."""
    if value is None or lower is None or upper is None:
        return ""
    off = max(upper - value, value - lower)
    if off > _APART * abs(value):
        return f"{_rounded(lower, 5, ROUND_FLOOR)} to {_rounded(upper, 5, ROUND_CEILING)}"
    return f"{_rounded(off, 1, ROUND_CEILING)} of it"


def _rounded(value: float, digits: int, way: str) -> str:
    return f"{float(Context(prec=digits, rounding=way).create_decimal(value)):.{digits}g}"
