"""`make reference`: docs/reference and docs/gallery.md, written from the code.

    python tools/reference.py

A test compares what it would write with what is there.
"""

import inspect
import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
NOTE = "Written from the code by `make reference`; do not edit."
MODULES = ("mercer", "mercer.kernels")  # whose names are public
LISTED = ("Parameters", "Attributes", "Returns", "Yields", "Raises")  # sections of docstrings that are lists
LATER = ("Examples", "Notes", "See Also", "References")


# ---------------------------------------------------------------------- docstrings in numpydoc's style


def sections(docstring: str) -> dict[str, str]:
    """The parts of a docstring; what stands before the first heading is its summary."""
    parts = re.split(r"^(\w[\w ]*)\n-+$", inspect.cleandoc(docstring), flags=re.M)
    named = zip(parts[1::2], parts[2::2], strict=True)
    return {"Summary": parts[0].strip(), **{name: text.strip("\n") for name, text in named}}


def as_markdown(docstring: str) -> Iterator[str]:
    for name, text in sections(docstring).items():
        if name == "Summary":
            yield from (_fenced(_plain(text)), "")
        elif name == "Examples":
            yield from ("```pycon", text.strip(), "```", "")
        elif name in LISTED:
            yield from (f"*{name}*", "", *_entries(text), "")
        elif name in LATER:
            yield from (f"*{name}*", "", _fenced(_plain(text)), "")


def _entries(text: str) -> Iterator[str]:
    """`name : type` with the indented lines below it, as an item of a list."""
    for entry in re.split(r"\n(?=\S)", text.strip()):
        first, _, rest = entry.partition("\n")
        name, _, kind = first.partition(" : ")
        said = " ".join(rest.split())
        head = f"`{name}`" if "`" not in name else name
        yield _plain(f"- {head}" + (f" : {kind}" if kind else "") + (f". {said}" if said else ""))


def _plain(text: str) -> str:
    return text.replace("``", "`")


def _fenced(text: str) -> str:
    """Paragraphs that are examples, as code."""
    parts = text.split("\n\n")
    return "\n\n".join(f"```pycon\n{part}\n```" if part.startswith(">>>") else part for part in parts)


# ---------------------------------------------------------------------- docs/reference/api.md


def signature(function: Any, name: str) -> str:
    """Names and defaults; types are in the lists below."""
    shown, starred = [], False
    for each in inspect.signature(function).parameters.values():
        if each.name == "self":
            continue
        if each.kind is each.KEYWORD_ONLY and not starred:
            shown.append("*")
        starred = starred or each.kind in (each.KEYWORD_ONLY, each.VAR_POSITIONAL)
        stars = "*" if each.kind is each.VAR_POSITIONAL else "**" if each.kind is each.VAR_KEYWORD else ""
        shown.append(f"{stars}{each.name}" + ("" if each.default is each.empty else f"={each.default!r}"))
    return f"{name}({', '.join(shown)})"


def methods(kind: type) -> Iterator[str]:
    """Those of ours that have no underscore, with the first paragraph of what they say."""
    for name in sorted(dir(kind)):
        function = inspect.unwrap(getattr(kind, name)) if callable(getattr(kind, name)) else None
        if (
            name.startswith("_")
            or not inspect.isfunction(function)
            or not function.__module__.startswith(("mercer.", "mercer_old."))
        ):
            continue
        summary = sections(function.__doc__ or "")["Summary"].partition("\n\n")[0]
        yield _plain(f"- `{signature(function, name)}`: {' '.join(summary.split())}")


def described(module: ModuleType, name: str) -> Iterator[str]:
    value = getattr(module, name)
    yield from (f"### {name}", "", "```text", signature(value, f"{module.__name__}.{name}"), "```", "")
    yield from as_markdown(value.__doc__ or "")
    if inspect.isclass(value) and (listed := list(methods(value))):
        yield from ("*Methods*", "", *listed, "")


def api() -> str:
    lines = ["# Public names", "", NOTE, ""]
    for module in map(import_module, MODULES):
        lines += [f"## {module.__name__}", "", _fenced(_plain((module.__doc__ or "").strip())), ""]
        for name in sorted(module.__all__, key=str.lower):
            if callable(getattr(module, name)):
                lines += described(module, name)
    return _page(lines)


# ---------------------------------------------------------------------- docs/reference/cli.md


def cli() -> str:
    import typer

    from mercer_old.cli import app

    group: Any = typer.main.get_command(app)
    lines = ["# The command line", "", NOTE, "", group.help, ""]
    for name, command in group.commands.items():
        lines += [f"## mercer {name}", "", inspect.cleandoc(command.help), "", "| | |", "|---|---|"]
        lines += [f"| {_names(each)} | {_cell(each.help)} |" for each in command.params if each.name != "help"]
        lines.append("")
    return _page([*lines, group.epilog])


def _names(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{parameter.name.upper()}`"
    return ", ".join(f"`{name}`" for name in [*parameter.opts, *parameter.secondary_opts])


def _cell(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|")


# ---------------------------------------------------------------------- docs/reference/errors.md


def errors() -> str:
    from mercer_old import errors as module

    lines = ["# Errors and warnings", "", NOTE, "", _plain(inspect.cleandoc(module.__doc__ or "")), ""]
    lines += ["All are in `mercer_old.errors`.", "", "| name | is also | exit code | means |", "|---|---|---|---|"]
    for name, kind in vars(module).items():
        if inspect.isclass(kind) and issubclass(kind, Exception) and kind.__module__ == module.__name__:
            code = str(getattr(kind, "exit_code", ""))
            also = ", ".join(f"`{base.__name__}`" for base in kind.__bases__)
            lines.append(f"| `{name}` | {also} | {code} | {_cell(kind.__doc__)} |")
    return _page(lines)


# ---------------------------------------------------------------------- docs/gallery.md


def gallery() -> str:
    from mercer_old.report.gallery import load, scripts

    lines = ["# Gallery", "", NOTE, "", GALLERY, "", "| | figure | slides | script |", "|---|---|---|---|"]
    for path in scripts():
        script = load(path)
        title = (script.__doc__ or "").strip().partition("\n")[0]
        lines.append(f"| {int(path.name[:2])} | {title} | {script.SLIDES} | [{path.stem}](../examples/{path.name}) |")
    return _page(lines)


GALLERY = """\
The figures of [the lectures](lectures.md), each a script of a page that computes, checks what it claims, and draws.
`make demo` draws all of them into one page that opens offline, beside a report and [the
playground](guide/playground.md), and `make docs` shows them here, with their claims."""


def _page(lines: Iterable[str]) -> str:
    return "\n".join(lines).rstrip("\n") + "\n"


PAGES = {
    "reference/api.md": api,
    "reference/cli.md": cli,
    "reference/errors.md": errors,
    "gallery.md": gallery,
}


def main() -> None:
    for name, write in PAGES.items():
        (DOCS / name).parent.mkdir(exist_ok=True)
        (DOCS / name).write_text(write(), encoding="utf-8")
        print(f"docs/{name}")


if __name__ == "__main__":
    main()
