"""What all pages about data have in common: head, tiles, contents, sections, words that explain, one script."""

from collections.abc import Iterable, Mapping

from mercer_old import __version__
from mercer_old.report.pieces import asked_about, glossary_of, section, text_of
from mercer_old.report.scripts import page_script
from mercer_old.report.templates import page_file, template

__all__ = ["Sections", "page_of", "tiles_of"]

Sections = Mapping[str, tuple[str, str]]  # by name: title and body; without a body there is none
_STYLES = "style.css", "report.css", "map.css"


def page_of(title: str, tiles: str, lead: str, sections: Sections) -> str:
    """The page as text; `tiles` and `lead` are HTML, as the bodies of sections are."""
    there = {name: (heading, body) for name, (heading, body) in sections.items() if body}
    content = "\n".join(section(name, heading, body) for name, (heading, body) in there.items())
    script = page_script("shared", "map", "story")
    return template("report.html").substitute(
        policy=script.policy,
        script=script.text,
        style="\n".join(map(page_file, _STYLES)),
        title=text_of(title),
        tiles=tiles,
        lead=lead,
        contents="\n".join(f'<li><a href="#{name}">{text_of(told)}</a></li>' for name, (told, _) in there.items()),
        sections=content,
        words=glossary_of(tiles + lead + content),
        version=text_of(__version__),
    )


def tiles_of(said: Iterable[tuple[str, str, str | None]]) -> str:
    """The numbers that people look for first: names, figures, and terms that explain them."""
    return "\n".join(
        f"<div><dd>{text_of(figure)}</dd><dt>{text_of(name)}{asked_about(term)}</dt></div>"
        for name, figure, term in said
        if figure
    )
