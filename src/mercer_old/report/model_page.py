"""Facts of a fitted model → one self-contained page: one script known by its hash, no request, every text escaped."""

from mercer_old.report.cloud import map_section
from mercer_old.report.facts import Facts
from mercer_old.report.pieces import asked_about, notes, share_of, text_of
from mercer_old.report.sections import about_components, about_model, about_rows
from mercer_old.report.shell import page_of, tiles_of

__all__ = ["model_page"]


def model_page(facts: Facts) -> str:
    """The page as text."""
    return page_of(facts.title, _tiles(facts), _lead(facts), _sections(facts))


def _lead(facts: Facts) -> str:
    """What was found, and whether it is proven."""
    findings = "\n".join(f"<p>{text_of(finding)}</p>" for finding in facts.findings)
    mark = "held" if facts.certified else "planned" if facts.approximate else "failed"
    verdict = f'<span class="{mark}">{text_of(facts.verdict)}</span>{asked_about("certified")}'
    return f'{findings}\n<p class="verdict">{verdict}</p>'


def _sections(facts: Facts) -> dict[str, tuple[str, str]]:
    """In the order of the page: what there is to see, what it comes to, how sure it is, and all else."""
    return {
        "rows": ("The rows", _map(facts)),
        "components": ("The components", about_components.components(facts)),
        "columns": ("What they are made of", about_components.columns(facts)),
        "walk": ("A walk along each component", about_rows.walk(facts)),
        "sweep": ("If the bandwidth were another", about_rows.sweep(facts)),
        "novelty": ("The most unusual rows", about_rows.novelty(facts)),
        "proof": ("What is proven", about_model.proof(facts)),
        "sureness": ("Would other rows say the same?", about_components.sureness(facts)),
        "plan": ("How it was computed, and why", about_model.plan(facts)),
        "origin": ("Where it comes from", about_model.origin(facts)),
        "card": ("Model card", about_model.card(facts)),
        "next": ("What to do next", about_model.steps(facts)),
        "cite": ("How to cite", about_model.citation(facts)),
    }


def _map(facts: Facts) -> str:
    said = notes(facts.chapters.said_of("cloud"))
    cloud = facts.chapters.cloud
    if cloud is None:
        return f"{notes([_NO_ROWS])}{said}"
    title = f"{cloud.count:,} rows by {cloud.axes[0].name} and {cloud.axes[1].name or 'nothing else'}"
    return f"<p>Every point is a row.{asked_about('map')}</p>\n{map_section(cloud, title)}\n{said}"


_NO_ROWS = "No rows are shown: the model keeps none, and none were given. With them, as X or DATA, there is a map here."


def _tiles(facts: Facts) -> str:
    """The numbers that people look for first."""
    last = facts.components[-1] if facts.components else None
    whole = last is not None and len(facts.components) == facts.n_components
    return tiles_of(
        [
            ("rows", "" if facts.origin.rows is None else f"{facts.origin.rows:,}", None),
            ("column" if facts.origin.columns == 1 else "columns", f"{facts.origin.columns:,}", None),
            ("components", f"{facts.n_components:,}", None),
            ("of the variance", share_of(last.together) if whole and last else "", "share"),
            ("rules would keep", "" if facts.agreed is None else str(facts.agreed), "rules"),
            ("reconstruction error", "" if facts.error is None else f"{facts.error:.3g}", "reconstruction"),
        ]
    )
