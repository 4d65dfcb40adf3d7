"""The page of a comparison: as a text, and as a file that appears when it is complete."""

from pathlib import Path
from typing import Any

from mercer_old.outlets import write_whole
from mercer_old.report.comparison.gathering import gathered
from mercer_old.report.comparison.page import comparison_page
from mercer_old.report.templates import check_page
from mercer_old.studies.compared import Comparison

__all__ = ["report_on_comparison"]


def report_on_comparison(
    found: Comparison, X: Any = None, labels: Any = None, path: str | Path | None = None, name: str | None = None
) -> str:
    """Ask, tell, and write where a path is given."""
    place = None if path is None else check_page(path, "a comparison")
    page = comparison_page(gathered(found, X, labels, name))
    if place is not None:
        write_whole(place, page.encode("utf-8", "backslashreplace"))
    return page
