"""A comparison of methods → one self-contained page: no script, no request, pictures inline, every text escaped."""

import base64
from html import escape
from pathlib import Path
from typing import Any

from mercer import __version__
from mercer.outlets import write_whole
from mercer.report.templates import check_page, page_file, template

__all__ = ["comparison_page", "write_comparison"]

_REM = 4.6  # of an inch of a picture, for its smallest text to be read


def write_comparison(found: Any, path: str | Path, data: str = "") -> Path:
    """The page as a file, which appears when it is complete, or not at all."""
    page = check_page(path, "a comparison")
    write_whole(page, comparison_page(found, data).encode("utf-8", "backslashreplace"))
    return page


def comparison_page(found: Any, data: str = "") -> str:
    """The page of what `mercer.compare` found.

    Parameters
    ----------
    found : Comparison
        With at least one method that was done.
    data : str, default=""
        What the rows are called.
    """
    drawn = {theme: found.plot(theme=theme) for theme in ("light", "dark")}
    light, dark = (base64.b64encode(one._repr_png_()).decode("ascii") for one in drawn.values())
    return template("comparison.html").substitute(
        style=page_file("style.css"),
        version=escape(__version__),
        data=escape(data or "the rows"),
        about=escape(found.about),
        notes="\n".join(f"<p>{escape(note)}</p>" for note in found.notes),
        advice="\n".join(f"<li>{escape(sentence)}</li>" for sentence in found.advice),
        table=_table(*found.cells()),
        meanings=_meanings(found.meanings),
        failures="\n".join(_failure(line) for line in found.lines if line.reason),
        warnings="\n".join(_warnings(line) for line in found.lines if line.warnings),
        methods="\n".join(_method(line) for line in found.lines),
        width=round(_REM * drawn["light"].figure_.get_figwidth()),
        light=light,
        dark=dark,
    )


def _table(heads: list[str], body: list[list[str]]) -> str:
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in heads)
    rows = "\n".join(f"<tr>{_row(row)}</tr>" for row in body)
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>"


def _row(row: list[str]) -> str:
    first, *others = row
    cells = "".join(f"<td>{_with_error(cell)}</td>" for cell in others)
    return f'<th scope="row">{escape(first)}</th>{cells}'


def _with_error(cell: str) -> str:
    value, mark, error = cell.partition(" ± ")
    return escape(value) + (f'<span class="error">±&nbsp;{escape(error)}</span>' if mark else "")


def _meanings(meanings: dict[str, str]) -> str:
    return "\n".join(f"<dt>{escape(head)}</dt><dd>{escape(phrase)}</dd>" for head, phrase in meanings.items())


def _failure(line: Any) -> str:
    return f'<li class="failed">{escape(line.title)}: {escape(line.reason)}</li>'


def _warnings(line: Any) -> str:
    return "\n".join(f"<li>{escape(line.title)} warned: {escape(text)}</li>" for text in line.warnings)


def _method(line: Any) -> str:
    by = f" <span class='by'>{escape(line.by)}</span>" if line.by else ""
    words = f"It keeps {line.keeps}. It assumes that {line.assumes}."
    return f"<dt>{escape(line.title)}{by}</dt><dd>{escape(words)}</dd>"
