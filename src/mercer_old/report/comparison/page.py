"""Facts of a comparison → one self-contained page: one script known by its hash, no request, every text escaped."""

from mercer_old.report.cloud import map_section
from mercer_old.report.comparison.numbers import charts, numbers
from mercer_old.report.comparison.record import Compared, Method
from mercer_old.report.pieces import asked_about, listing, notes, pairs, text_of
from mercer_old.report.shell import Sections, page_of, tiles_of

__all__ = ["comparison_page"]


def comparison_page(facts: Compared) -> str:
    """The page as text."""
    return page_of(facts.title, _tiles(facts), _lead(facts), _sections(facts))


def _tiles(facts: Compared) -> str:
    done = sum(method.done for method in facts.methods)
    failed = len(facts.methods) - done
    said = [("rows", f"{facts.rows:,}", None), ("columns", f"{facts.columns:,}", None)]
    return tiles_of([*said, ("methods", str(done), None), ("without an answer", str(failed) if failed else "", None)])


def _lead(facts: Compared) -> str:
    """What is on the page, and the first of what follows from it."""
    same = "Every method had the same rows, and whether two differ was told row by row."
    said = f"<p>{text_of(facts.about)}{asked_about('standard-error')} {same}</p>"
    return f"{said}\n{notes(facts.notes)}"


def _sections(facts: Compared) -> Sections:
    return {
        "advice": ("What follows", listing(facts.advice) if facts.advice else ""),
        "maps": ("The same rows, seen by each", _maps(facts)),
        "kept": ("What each keeps", charts(facts)),
        "numbers": ("What was measured", numbers(facts)),
        "methods": ("What each is after, and what it takes for granted", _methods(facts.methods)),
        "how": ("How it was asked", pairs(facts.settings)),
    }


def _maps(facts: Compared) -> str:
    if facts.cloud is None:
        return notes(["No method has an answer: what was measured says why."])
    words = "Rows that are chosen or pointed at in one map are so in all, and colours are the same."
    section = map_section(facts.cloud, f"{facts.rows:,} rows as {len(facts.cloud.views)} methods see them")
    return f"<p>{words}{asked_about('linked')}</p>\n{section}"


def _methods(methods: tuple[Method, ...]) -> str:
    return "<dl>\n" + "\n".join(map(_method, methods)) + "\n</dl>"


def _method(method: Method) -> str:
    by = f' <span class="by">by {text_of(method.by)}</span>' if method.by else ""
    words = f"It keeps {method.keeps}. It assumes that {method.assumes}."
    return f"<dt>{text_of(method.title)}{by}</dt><dd>{text_of(words)}</dd>"
