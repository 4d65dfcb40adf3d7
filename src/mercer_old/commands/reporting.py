"""What `mercer report` does: load a model, open the rows beside it, and write a page about both."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from mercer_old.commands.answers import Answer
from mercer_old.commands.around import as_bad_data, warnings_as_lines
from mercer_old.commands.kept import Kept
from mercer_old.commands.opening import Wanted
from mercer_old.commands.script import Script
from mercer_old.outlets import refuse_same_file
from mercer_old.report.templates import check_page
from mercer_old.report.writing import report_on
from mercer_old.terminal import plain, say

__all__ = ["Report", "place_for_page"]


@dataclass(frozen=True)
class Report:
    """Load, open, tell, draw, write."""

    file: str
    typed: Wanted | None  # the rows
    out: Path
    fills_stdout = False

    @cached_property
    def _kept(self) -> Kept:
        place_for_page(self.out, self.file, *([] if self.typed is None else [self.typed.data]))
        return Kept.of(self.file)

    def code(self) -> str:
        script, kept = Script(), self._kept
        if self.typed is None:
            model = script.set("model", script.call("load", kept.path))
            script.add(script.call(f"{model.text}.report", path=self.out).text)
        else:
            model, rows = kept.write(script, kept.wanted(self.typed), kept.columns, kept.kind)
            script.add(script.call(f"{model.text}.report", rows, path=self.out).text)
        return str(script)

    def run(self) -> Answer:
        kept = self._kept
        if self.typed is None:
            name = plain(kept.path)
            with warnings_as_lines(kept.path, name), as_bad_data(kept.path, name):
                report_on(kept.model, path=self.out, file=kept.path)
        else:
            known: dict[str, Any] = {"file": kept.path}
            if self.typed.data != "-":  # which nobody can name again
                known |= {"data": self.typed.data, "opening": _opening(kept, self.typed)}
            with kept.opened(kept.wanted(self.typed), kept.columns, kept.kind) as new:
                report_on(kept.model, new.items, path=self.out, name=new.name, **known)
        say(f"report: {plain(self.out)}")
        return Answer({"model": kept.path, "page": self.out})


def place_for_page(out: Path, *others: str) -> None:
    """Say before the work that no page can be written there, or that it would take the place of what is read."""
    check_page(out)
    for other in others:
        refuse_same_file(Path(other), out)


def _opening(kept: Kept, typed: Wanted) -> str:
    """The Python that has the model and its rows, as `model` and `X`."""
    script = Script()
    kept.write(script, kept.wanted(typed), kept.columns, kept.kind, "X")
    return f"import mercer\n{script}"
