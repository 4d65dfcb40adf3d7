"""The files of `page/`: style and templates, in which every $name is replaced."""

from importlib import resources
from string import Template

__all__ = ["page_file", "template"]


def template(name: str) -> Template:
    return Template(page_file(name))


def page_file(name: str) -> str:
    return resources.files("mercer.report").joinpath("page", name).read_text(encoding="utf-8")
