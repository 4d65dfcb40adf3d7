"""Components: how large they are, how many to keep, what they are made of, and how sure that is."""

from mercer_old.report.facts import Facts
from mercer_old.report.pieces import asked_about, figure_of, interval_of, notes, share_of, table, text_of
from mercer_old.report.svg.bars import bars
from mercer_old.report.svg.field import fields
from mercer_old.report.svg.scree import scree
from mercer_old.report.svg.spectrum import spectrum

__all__ = ["columns", "components", "sureness"]

_SCREE = {
    False: ("Shares of the variance", "share"),
    True: ("Shares of the variance, and how many components every rule would keep", "rules"),
}
_IN_TABLE = 12  # components that are seen without asking


def components(facts: Facts) -> str:
    """Pictures, what rules say, and the numbers."""
    drawn = [
        _figure(scree(facts), *_SCREE[bool(facts.rules)]),
        _figure(spectrum(facts), "The spectrum", "spectrum"),
    ]
    pictures = "\n".join(filter(None, drawn))
    return f'<div class="figures-grid">{pictures}</div>\n{_consensus(facts)}\n{_table(facts)}'


def _figure(drawn: str, caption: str, term: str) -> str:
    if not drawn:
        return ""
    return f"<figure><figcaption>{text_of(caption)}{asked_about(term)}</figcaption>\n{drawn}</figure>"


def _table(facts: Facts) -> str:
    known = any(component.share is not None for component in facts.components)
    proven = any(component.lower is not None for component in facts.components)
    head = ["component", facts.value, *(["share", "together"] * known), *(["proven to lie within"] * proven)]
    rows = [
        [
            each.name,
            figure_of(each.value),
            *([share_of(each.share), share_of(each.together)] * known),
            *([interval_of(each.value, each.lower, each.upper)] * proven),
        ]
        for each in facts.components
    ]
    about = {facts.value: facts.value, "share": "share", "together": "together", "proven to lie within": "proven"}
    first, rest = table(head, rows[:_IN_TABLE], about=about), rows[_IN_TABLE:]
    if rest:
        first += f"<details><summary>{len(rest)} more components</summary>{table(head, rest)}</details>"
    more = facts.n_components - len(facts.components)
    return first + (f"<p>And {more:,} more.</p>" if more > 0 else "")


def _consensus(facts: Facts) -> str:
    """What rules say of how many to keep."""
    if facts.consensus is None:
        return ""
    answer = f"<p><b>How many to keep?</b> {text_of(facts.consensus)}{asked_about('rules')}</p>"
    if not facts.rules:
        return answer
    rules = table(["rule", "keep", "why"], [[rule.name, rule.answer, rule.why] for rule in facts.rules], words=True)
    return f"{answer}\n<details><summary>By every rule</summary>{rules}</details>"


def columns(facts: Facts) -> str:
    """Bars for the largest columns, and fields over two of them."""
    record, plane = facts.chapters.columns, facts.chapters.fields
    parts = []
    if record is not None and record.made:
        more = f" The largest of {record.count:,} columns." if record.count > len(record.made[0].columns) else ""
        parts.append(f"<p>{text_of(record.about + more)}{asked_about(record.kind)}</p>")
        parts.append(f'<div class="bars-grid">{"".join(bars(record))}</div>')
    if plane is not None:
        shown = "" if len(plane.points) == plane.rows else f" Points are {len(plane.points):,} of {plane.rows:,} rows."
        words = f"The same as fields over both columns; the line is where a component is zero.{shown}"
        parts.append(f"<p>{text_of(words)}{asked_about('field')}</p>")
        parts.append(f'<div class="bars-grid">{"".join(fields(plane))}</div>')
    parts.append(notes([*facts.chapters.said_of("columns"), *facts.chapters.said_of("fields")]))
    return "\n".join(filter(None, parts))


def sureness(facts: Facts) -> str:
    """What draws of rows say."""
    record, said = facts.chapters.sureness, notes(facts.chapters.said_of("sureness"))
    if record is None:
        return said
    seen = "" if record.seen > 0.9995 else f", by features that see {share_of(record.seen)} of the variance"
    drawn = f"By {record.draws} draws of {record.rows}{seen}."
    rows = [[t.component, f"{t.median:.0f}°", f"{t.often:.0f}°", t.words] for t in record.turns]
    head = ["first components up to", "turn by, median", "nine of ten draws below", "verdict"]
    body = table(head, rows, about={"turn by, median": "stability"})
    return f"<p><b>{text_of(record.verdict)}</b> {text_of(drawn)}{asked_about('stability')}</p>\n{body}\n{said}"
