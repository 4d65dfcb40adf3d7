"""What `mercer convert` does: load a model, open the rows that it needs, write files, and say what is in them."""

from contextlib import ExitStack
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import typer

from mercer.commands.around import as_bad_data, file_for, warnings_as_lines
from mercer.commands.opening import Wanted, in_short_words
from mercer.conversions.convert import convert
from mercer.errors import WrongUse
from mercer.kernels.base import kind_of_items
from mercer.sources.frames import open_table
from mercer.sources.items import Items
from mercer.store.files import opened
from mercer.terminal import plain, say


def convert_file(path: Path, data: str | None, out: Path, context: typer.Context, asked: dict[str, Any]) -> None:
    """The model of a file, and perhaps the rows of another, as files whose names begin as `out` does."""
    if out.exists() and path.exists() and out.samefile(path):
        raise WrongUse(f"{plain(out)} is the file of the model; write to another one.")
    with opened(path) as file:
        model, notes = file.model(), file.header["notes"]
    typed = Wanted.typed(context, data or "")
    if data is None:
        _refuse_alone(typed)
        say(str(convert(model, out, **asked)))
        return
    wanted = _as_noted(typed, Wanted.from_notes(notes, data))
    with ExitStack() as around:
        known = around.enter_context(file_for(data, wanted.kind_of_copy if _kind(model) == "texts" else ".csv"))
        around.enter_context(warnings_as_lines(*known))
        around.enter_context(as_bad_data(*known))
        items = _items(wanted, known[0], model)
        say(f"{known[1]}: {in_short_words(items)}")
        say(str(convert(model, out, X=items, ids=_ids(items), **asked)))


def _as_noted(typed: Wanted, noted: Wanted) -> Wanted:
    """As the file of the fit was read, but for what was typed."""
    usual = {field.name: field.default for field in fields(Wanted)}
    said = {name: getattr(typed, name) for name in usual if getattr(typed, name) not in (usual[name], [], ())}
    return replace(noted, **said)


def _refuse_alone(typed: Wanted) -> None:
    """Options about a file of rows, without one."""
    for name in typed.as_notes():
        raise WrongUse(f"--{name.replace('_', '-')} is about a file of rows, and none is named: give DATA.")


def _kind(model: Any) -> str:
    """What the model compares."""
    return str(kind_of_items(getattr(model, "kernel", getattr(model, "metric", None))))


def _items(wanted: Wanted, path: Path, model: Any) -> Items:
    if _kind(model) == "tables":  # by the kernel of the fit, and not by one that is guessed from this file
        return open_table(path, model.memory_limit).only(wanted.columns, wanted.drop)
    return wanted.open(path, model, _kind(model) == "texts")[0]


def _ids(items: Items) -> list[str] | None:
    """The names of rows, if they have any."""
    if items.row_names is None:
        return None
    return [one if isinstance(one, str) else bytes(one).decode("latin-1") for one in items.row_names]
