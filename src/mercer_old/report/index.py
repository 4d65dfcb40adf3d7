"""The page that leads to all others that `mercer demo` writes: the gallery, a report on real data, the playground."""

from collections.abc import Mapping
from html import escape

from mercer_old import __version__
from mercer_old.report.templates import page_file, template

__all__ = ["index_page"]


def index_page(pages: Mapping[str, str], claims: Mapping[str, bool], rows: int) -> str:
    """The page as text; `pages` has the addresses of the three by name, beside it."""
    return template("index.html").substitute(
        style=page_file("style.css"),
        version=escape(__version__),
        held=sum(map(bool, claims.values())),
        claims=len(claims),
        rows=f"{rows:,}",
        **{name: escape(address) for name, address in pages.items()},
    )
