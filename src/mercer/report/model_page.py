"""Facts and pictures of a fitted model → one self-contained page: no script, no request, every text escaped."""

from collections.abc import Iterable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from html import escape

from mercer import __version__
from mercer.displays.words import percent
from mercer.errors import shortened
from mercer.report.facts import Component, Facts
from mercer.report.pictures import Picture
from mercer.report.templates import page_file, template
from mercer.terminal import plain

__all__ = ["model_page"]

_TITLES = {
    "scores": "Rows in the plane of the first two components",
    "novelty": "How novel rows are",
    "scree": "Shares of the variance",
    "spectrum": "Eigenvalues",
    "loadings": "Loadings of columns",
    "biplot": "Rows and columns in one plane",
}
_OF_VALUES = ("scree", "spectrum")
_LONGEST_NAME = 150  # letters of a column
_APART = 1e-4  # of a value: what its figures show
_MEANT = "In Python, model is the model, X the rows of its fit, and new other rows."


def model_page(facts: Facts, pictures: Sequence[Picture]) -> str:
    """The page as text."""
    first, *others = pictures
    values = [picture for picture in others if picture.kind in _OF_VALUES]
    columns = [picture for picture in others if picture.kind not in _OF_VALUES]
    sections = {
        "picture": ("The picture to look at first", _picture(first)),
        "proof": ("What is proven", _list(facts.certificate)),
        "components": ("The components", _components(facts) + _consensus(facts) + _pictures(values)),
        "columns": ("What they are made of", _pictures(columns) + _drivers(facts)),
        "plan": ("How it was computed, and why", _plan(facts)),
        "origin": ("Where it comes from", _origin(facts)),
        "next": ("What to do next", _steps(facts)),
    }
    there = {name: (title, body) for name, (title, body) in sections.items() if body}
    return template("report.html").substitute(
        style=page_file("style.css"),
        title=_text(facts.title),
        findings="\n".join(f"<p>{_text(finding)}</p>" for finding in facts.findings),
        mark="held" if facts.certified else "planned" if facts.approximate else "failed",
        verdict=_text(facts.verdict),
        contents="\n".join(f'<li><a href="#{name}">{_text(title)}</a></li>' for name, (title, _) in there.items()),
        sections="\n".join(_section(name, title, body) for name, (title, body) in there.items()),
        version=_text(__version__),
    )


# ---------------------------------------------------------------------- parts of it


def _components(facts: Facts) -> str:
    known = any(component.share is not None for component in facts.components)
    proven = any(component.lower is not None for component in facts.components)
    head = ["component", facts.value, *(["share", "together"] * known), *(["proven to lie within"] * proven)]
    rows = [
        [
            component.name,
            _figure(component.value),
            *([_share(component.share), _share(component.together)] * known),
            *([_proven(component)] * proven),
        ]
        for component in facts.components
    ]
    more = facts.n_components - len(facts.components)
    return _table(head, rows) + (f"<p>And {more:,} more.</p>" if more > 0 else "")


def _consensus(facts: Facts) -> str:
    """What rules say of how many to keep."""
    if facts.consensus is None:
        return ""
    answer = f"<p><b>How many to keep?</b> {_text(facts.consensus)}</p>"
    if not facts.rules:
        return answer
    rules = _table(["rule", "keep", "why"], [[rule.name, rule.answer, rule.why] for rule in facts.rules], words=True)
    return f"{answer}\n<details><summary>By every rule</summary>{rules}</details>"


def _drivers(facts: Facts) -> str:
    if not facts.drivers:
        return ""
    rows = [[d.component, shortened(d.column, _LONGEST_NAME), _figure(d.loading)] for d in facts.drivers]
    table = _table(["component", "column", "loading"], rows)
    return f"<details><summary>The largest loadings in numbers</summary>{table}</details>"


def _plan(facts: Facts) -> str:
    """The plan, and the parameters that are not as usual."""
    said = {"model": facts.model, "kernel": facts.kernel or "", "how": facts.how, "why": facts.why}
    return _pairs(said | {f"{name} =": value for name, value in facts.parameters.items()})


def _origin(facts: Facts) -> str:
    origin = facts.origin
    rows = "" if origin.rows is None else f"{origin.rows:,}"
    drawn = "" if origin.drawn in (None, origin.rows) else f"{origin.drawn:,}"
    drawn = f"{origin.drawn:,}, other ones than those of the fit, or of other weights" if origin.others else drawn
    said = {
        "data": origin.data or origin.name,
        "rows of the fit": rows,
        "rows drawn": drawn,
        "columns": f"{origin.columns:,}",
        "names of columns": origin.names,
        f"sha256 of the {origin.hashed}": origin.sha256 or "",
        "model file": origin.file or "",
        "versions": ", ".join(f"{name} {version}" for name, version in origin.versions.items()),
    }
    return _pairs(said)


def _steps(facts: Facts) -> str:
    parts = [f"<p>{_text(_MEANT)}</p>"]
    parts += [
        f"<h3>{_text(step.words)}</h3>\n{_code('python', step.python)}"
        + (f"\n{_code('terminal', step.command)}" if step.command else "")
        for step in facts.steps
    ]
    return "\n".join(parts)


def _pictures(pictures: Iterable[Picture]) -> str:
    return "\n".join(map(_picture, pictures))


def _picture(picture: Picture) -> str:
    """In the theme of whoever looks; a picture that there is none of says why."""
    title, notes = _TITLES.get(picture.kind, picture.kind), " ".join(picture.notes)
    if not picture.images:
        return f"<p><b>{_text(title)}:</b> not drawn. {_text(notes)}</p>"
    return template("picture.html").substitute(
        title=_text(title),
        alt=_text(f"{title}. {notes}".strip()),
        width=picture.width,
        light=picture.uri("light"),
        dark=picture.uri("dark"),
    )


# ---------------------------------------------------------------------- pieces


def _section(name: str, title: str, body: str) -> str:
    return f'<article id="{name}">\n<h2>{_text(title)}</h2>\n{body}\n</article>'


def _text(value: object) -> str:
    """What a reader sees and no browser obeys: neither as HTML, nor as a sign that turns the line around."""
    return escape(plain(value))


def _list(sentences: Iterable[str]) -> str:
    return "<ul>\n" + "\n".join(f"<li>{_text(sentence)}</li>" for sentence in sentences) + "\n</ul>"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], words: bool = False) -> str:
    first = "".join(f'<th scope="col">{_text(cell)}</th>' for cell in head)
    body = "\n".join("<tr>" + "".join(f"<td>{_text(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    kind = "words" if words else "figures"
    table = f"<thead><tr>{first}</tr></thead>\n<tbody>\n{body}\n</tbody>"
    return f'<div class="wide" tabindex="0"><table class="{kind}">\n{table}\n</table></div>'


def _pairs(said: dict[str, str]) -> str:
    rows = "\n".join(f"<dt>{_text(name)}</dt><dd>{_text(value)}</dd>" for name, value in said.items() if value)
    return f"<dl>\n{rows}\n</dl>"


def _code(kind: str, lines: str) -> str:
    return (
        f'<pre class="{kind}" aria-label="{kind}" tabindex="0"><code>{escape(plain(lines, keep=chr(10)))}</code></pre>'
    )


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.5g}"


def _share(value: float | None) -> str:
    return "" if value is None else percent(value)


def _proven(component: Component) -> str:
    """Both ends, or how far the value may be off where figures do not tell them apart: rounded so that it is true."""
    value, lower, upper = component.value, component.lower, component.upper
    if value is None or lower is None or upper is None:
        return ""
    off = max(upper - value, value - lower)
    if off > _APART * abs(value):
        return f"{_rounded(lower, 5, ROUND_FLOOR)} to {_rounded(upper, 5, ROUND_CEILING)}"
    return f"{_rounded(off, 1, ROUND_CEILING)} of it"


def _rounded(value: float, digits: int, way: str) -> str:
    return f"{float(Context(prec=digits, rounding=way).create_decimal(value)):.{digits}g}"
