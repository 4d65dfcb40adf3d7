"""A page about a fitted model, from the first question to the file."""

from pathlib import Path
from typing import Any

from mercer.errors import WrongUse
from mercer.models.kernel_pca import KernelPCA
from mercer.models.linear import LinearModel
from mercer.models.local_model import LocalModel
from mercer.models.novelty import NoveltyDetector
from mercer.outlets import write_whole
from mercer.readings.rules.suggestion import Suggestion
from mercer.report.facts import facts_of
from mercer.report.model_page import model_page
from mercer.report.origin import Origin, origin_of
from mercer.report.pictures import pictures_of
from mercer.report.templates import check_page
from mercer.sources.files import open_rows
from mercer.studies.suggesting import suggest

__all__ = ["write_report"]


def write_report(model: Any, path: str | Path, X: Any = None, y: Any = None, **known: Any) -> Path:
    """Tell, draw and write; `known` is what `origin_of` takes."""
    page = check_page(path)
    _refuse_unknown(model)
    X = open_rows(X) if isinstance(X, Path) else X
    origin = origin_of(model, X, **known)
    said, why_not = _asked_rules(model, X, y, origin)
    facts = facts_of(model, origin, said, why_not)
    content = model_page(facts, pictures_of(model, X, y, said))
    write_whole(page, content.encode("utf-8", "backslashreplace"))
    return page


def _refuse_unknown(model: Any) -> None:
    """What has no components with eigenvalues, and no neighbours, has no page that would tell of it."""
    if not isinstance(model, LinearModel | KernelPCA | LocalModel | NoveltyDetector):
        raise WrongUse(
            f"There is no page about {type(model).__name__}: its certificate_ is what is known of it, and "
            "mercer.compare writes a page with its picture."
        )


def _asked_rules(model: Any, X: Any, y: Any, origin: Origin) -> tuple[Suggestion | None, str]:
    """What rules say of how many components to keep, or why they are not asked; rows other than those of the fit are
    none of their business."""
    if not isinstance(model, LinearModel | KernelPCA):
        return None, ""
    same = origin.drawn == origin.rows
    try:
        return suggest(model, X if same else None, y if same else None), ""
    except ValueError as error:
        return None, str(error)
