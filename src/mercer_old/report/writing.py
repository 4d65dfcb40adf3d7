"""A page about a fitted model: as a text, and as a file that appears when it is complete."""

from pathlib import Path
from typing import Any

from mercer_old.outlets import write_whole
from mercer_old.report.gathering import gathered
from mercer_old.report.model_page import model_page
from mercer_old.report.templates import check_page

__all__ = ["report_on"]


def report_on(model: Any, X: Any = None, labels: Any = None, path: str | Path | None = None, **known: Any) -> str:
    """Ask, tell, and write where a path is given; `known` is what `gathered` takes."""
    place = None if path is None else check_page(path)
    page = model_page(gathered(model, X, labels, **known))
    if place is not None:
        write_whole(place, page.encode("utf-8", "backslashreplace"))
    return page
