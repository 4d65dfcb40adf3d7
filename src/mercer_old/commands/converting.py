"""What `mercer convert` does: load a model, open the rows that it needs, write files, and say what is in them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mercer_old.commands.answers import Answer
from mercer_old.commands.kept import Kept
from mercer_old.commands.opening import Wanted
from mercer_old.commands.script import Piece, Script
from mercer_old.conversions.convert import Conversion, convert
from mercer_old.errors import WrongUse
from mercer_old.sources.items import Items
from mercer_old.terminal import plain, say

__all__ = ["Convert", "refuse_alone"]


@dataclass(frozen=True)
class Convert:
    """The model of a file, and perhaps the rows of another, as files whose names begin as `out` does."""

    kept: Kept
    typed: Wanted | None  # the rows
    out: Path
    asked: dict[str, Any]
    fills_stdout = False

    def __post_init__(self) -> None:
        if self.out.exists() and self.kept.path.exists() and self.out.samefile(self.kept.path):
            raise WrongUse(f"{plain(self.out)} is the file of the model; write to another one.")

    def code(self) -> str:
        script = Script()
        given = {name: value for name, value in self.asked.items() if value not in (None, False)}
        if self.typed is None:
            model = script.set("model", script.call("load", self.kept.path))
        else:
            wanted = self.kept.wanted(self.typed)
            model, rows = self.kept.write(script, wanted, self.kept.columns, self.kept.kind)
            given |= {"X": rows, "ids": Piece(f"{rows.text}.row_names")}
        script.add(f"print({script.call('convert', model, self.out, **given).text})")
        return str(script)

    def run(self) -> Answer:
        if self.typed is None:
            return self._told(convert(self.kept.model, self.out, **self.asked))
        with self.kept.opened(self.kept.wanted(self.typed), self.kept.columns, self.kept.kind) as new:
            ids = _names_of_rows(new.items)
            return self._told(convert(self.kept.model, self.out, X=new.items, ids=ids, **self.asked))

    def _told(self, found: Conversion) -> Answer:
        say(str(found))
        return Answer({"model": self.kept.path, "files": found.paths, "in_words": found.words})


def refuse_alone(typed: Wanted) -> None:
    """Options about a file of rows, without one."""
    for name in typed.as_notes():
        raise WrongUse(f"--{name.replace('_', '-')} is about a file of rows, and none is named: give DATA.")


def _names_of_rows(items: Items) -> list[str] | None:
    """As texts, if they have any."""
    if items.row_names is None:
        return None
    return [one if isinstance(one, str) else bytes(one).decode("latin-1") for one in items.row_names]
