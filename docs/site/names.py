"""A page for every public name, which Sphinx fills from its docstring, and one page that lists them."""

import importlib
import inspect
import sys
from collections.abc import Iterator
from typing import Any

from docs.site.pages import ROOT

sys.path.append(str(ROOT / "tools"))
from reference import MODULES, sections

#: Modules that are read from beginning to end: the page, and its title.
WHOLE = {"mercer.textbook": "The textbook", "mercer.datasets": "Data sets"}


def public_names() -> dict[str, Any]:
    """Classes and functions by their full names, module after module."""
    found = {}
    for module in map(importlib.import_module, MODULES):
        for name in sorted(module.__all__, key=str.lower):
            if callable(getattr(module, name)):
                found[f"{module.__name__}.{name}"] = getattr(module, name)
    return found


def pages() -> dict[str, str]:
    found = {f"reference/names/{name}.rst": name_page(name, value) for name, value in public_names().items()}
    for module, title in WHOLE.items():
        found[f"reference/{module.rpartition('.')[2]}.rst"] = module_page(module, title)
    return found | {"reference/api.md": "\n".join(listed()) + "\n"}


def name_page(name: str, value: Any) -> str:
    short = name.removeprefix("mercer.")
    head = [short, "=" * len(short), ""]
    if not inspect.isclass(value):
        return "\n".join([*head, f".. autofunction:: {name}", ""])
    return "\n".join(
        [*head, f".. autoclass:: {name}", "", *(f"   .. automethod:: {each}" for each in methods(value)), ""]
    )


def methods(kind: type) -> list[str]:
    """Those of ours that have no underscore. What every kernel has is told once, at `Kernel`."""
    from mercer.kernels import Kernel

    told = dir(Kernel) if issubclass(kind, Kernel) and kind is not Kernel else []
    return [name for name in dir(kind) if not name.startswith("_") and name not in told and ours(getattr(kind, name))]


def ours(value: Any) -> bool:
    function = inspect.unwrap(value) if callable(value) else None
    return (
        inspect.isroutine(function)
        and (function.__module__ or "").startswith(("mercer.", "mercer_old."))
        and bool(function.__doc__)
    )


def module_page(module: str, title: str) -> str:
    return "\n".join([title, "=" * len(title), "", f".. automodule:: {module}", "   :members:", ""])


def listed() -> Iterator[str]:
    """Every name with the first sentence of what it says."""
    yield from ("# Public names", "")
    by_module: dict[str, list[str]] = {}
    for name in public_names():
        by_module.setdefault(name.rpartition(".")[0], []).append(name)
    for module, names in by_module.items():
        yield from (f"## {module}", "", "| | |", "|---|---|")
        for name in names:
            yield f"| [`{name.rpartition('.')[2]}`](names/{name}.rst) | {first_sentence(public_names()[name])} |"
        yield ""
    yield from ("```{toctree}", ":hidden:", "", *(f"names/{name}" for name in public_names()), "```")


def first_sentence(value: Any) -> str:
    paragraph = sections(value.__doc__ or "")["Summary"].partition("\n\n")[0]
    return " ".join(paragraph.split()).replace("|", "\\|").replace("``", "`")
