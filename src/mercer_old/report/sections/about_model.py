"""The model itself: what is proven of it, how it was computed, where it comes from, and what to do with it."""

from mercer_old.report.facts import Facts
from mercer_old.report.pieces import asked_about, code, listing, pairs, text_of

__all__ = ["card", "citation", "origin", "plan", "proof", "steps"]

_MEANT = "In Python, model is the model, X the rows of its fit, and new other rows."


def proof(facts: Facts) -> str:
    """The certificate, a sentence each."""
    return f"<p>{text_of(facts.verdict)}{asked_about('certified')}</p>\n{listing(facts.certificate)}"


def plan(facts: Facts) -> str:
    """The plan, and the parameters that are not as usual."""
    said = {"model": facts.model, "kernel": facts.kernel or "", "how": facts.how, "why": facts.why}
    return pairs(said | {f"{name} =": value for name, value in facts.parameters.items()}, {"how": "plan"})


def origin(facts: Facts) -> str:
    origin = facts.origin
    rows = "" if origin.rows is None else f"{origin.rows:,}"
    drawn = "" if origin.drawn in (None, origin.rows) else f"{origin.drawn:,}"
    drawn = f"{origin.drawn:,}, other ones than those of the fit, or of other weights" if origin.others else drawn
    hashed = f"sha256 of the {origin.hashed}"
    said = {
        "data": origin.data or origin.name,
        "rows of the fit": rows,
        "rows drawn": drawn,
        "columns": f"{origin.columns:,}",
        "names of columns": origin.names,
        hashed: origin.sha256 or "",
        "model file": origin.file or "",
        "versions": ", ".join(f"{name} {version}" for name, version in origin.versions.items()),
    }
    return pairs(said, {hashed: "sha256"})


def card(facts: Facts) -> str:
    """For who gets the model without a word."""
    return pairs({line.name: line.words for line in facts.card})


def steps(facts: Facts) -> str:
    parts = [f"<p>{text_of(_MEANT)}</p>"]
    parts += [
        f"<h3>{text_of(step.words)}</h3>\n{code('python', step.python)}"
        + (f"\n{code('terminal', step.command)}" if step.command else "")
        for step in facts.steps
    ]
    return "\n".join(parts)


def citation(facts: Facts) -> str:
    """The library, as BibTeX too, and the papers behind the method."""
    cited = facts.citation
    return f"<p>{text_of(cited.words)}</p>\n{listing(cited.papers)}\n{code('bibtex', cited.bibtex)}"
