"""The files of `page/`: style and templates, in which every $name is replaced; and where a page may be written."""

from importlib import resources
from pathlib import Path
from string import Template

from mercer_old.errors import WrongUse
from mercer_old.outlets import make_place
from mercer_old.terminal import plain

__all__ = ["check_page", "page_file", "template"]


def check_page(path: str | Path, what: str = "a report") -> Path:
    """Say before the work that no page can be written there."""
    path = Path(path)
    if path.suffix.lower() not in (".html", ".htm"):
        raise WrongUse(f"{plain(path)}: {what} is a page, whose name ends in .html.")
    return make_place(path)


def template(name: str) -> Template:
    return Template(page_file(name))


def page_file(name: str) -> str:
    return resources.files("mercer_old.report").joinpath("page", name).read_text(encoding="utf-8")
