"""What `mercer compare` does: rows and labels of a file, the comparison, its table on standard output, and its page."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mercer_old.commands.answers import Answer
from mercer_old.commands.around import as_bad_data, file_for, place_for, warnings_as_lines
from mercer_old.commands.asked import write_file
from mercer_old.commands.labels import column_beside, labels_of
from mercer_old.commands.opening import Wanted, in_short_words, tell_of_reading
from mercer_old.commands.script import Script
from mercer_old.commands.wording import in_options
from mercer_old.errors import BadData, WrongUse, joined
from mercer_old.outlets import refuse_same_file
from mercer_old.relatives.registry import METHODS, method
from mercer_old.report.comparison.writing import report_on_comparison
from mercer_old.report.templates import check_page
from mercer_old.studies.comparison import compare
from mercer_old.terminal import plain, say

__all__ = ["Compare"]

_USUAL: dict[str, Any] = {
    "methods": None, "n_components": 2, "standardize": False, "repeats": 3, "sample": None, "budget": 300.0,
    "random_state": None, "apart": True, "memory_limit": None, "n_jobs": None,
}  # fmt: skip


@dataclass(frozen=True)
class Compare:
    """Read, compare, print, and write the page."""

    wanted: Wanted
    asked: dict[str, Any]
    out: Path | None = None
    fills_stdout = False

    def __post_init__(self) -> None:
        asked = self.asked
        for name in asked["methods"] or ():
            try:
                method(name)
            except ValueError:
                known = joined(list(METHODS))
                raise WrongUse(f"--methods {plain(name)}: there is no such method; there are {known}.") from None
        if asked["repeats"] < 0:
            raise WrongUse(f"--repeats {asked['repeats']} is no number of fits; 0 is none.")
        if asked["sample"] is not None and asked["sample"] < 2:
            raise WrongUse(f"--sample {asked['sample']} is too few: give at least 2.")
        if not asked["budget"] > 0:
            raise WrongUse(f"--budget {asked['budget']:g} is no number of seconds.")
        if asked["random_state"] is not None and asked["random_state"] < 0:
            raise WrongUse(f"--seed must be a whole number from 0 on; got {asked['random_state']}.")
        if asked["n_jobs"] == 0:
            raise WrongUse("--jobs 0 is no number of threads; give 1, 2, … or -1 for all.")

    @property
    def _kind(self) -> str:
        return "tables" if self.wanted.table else "rows"

    def code(self) -> str:
        script = Script()
        rows = write_file(script, self.wanted, self._kind)
        y = [] if self.wanted.label is None else [script.set("labels", column_beside(rows, self.wanted.label))]
        told = {name: value for name, value in self.asked.items() if value != _USUAL[name]}
        found = script.set("found", script.call("compare", rows, *y, **told))
        script.add(f"print({found.text})")
        if self.out is not None:
            script.add(script.call(f"{found.text}.report", rows, path=self.out).text)
        return str(script)

    def run(self) -> Answer:
        wanted = self.wanted
        place_for(wanted.data, None)
        if self.out is not None:
            _refuse_place(self.out, wanted.data)
        with file_for(wanted.data) as (path, name), warnings_as_lines(path, name), as_bad_data(path, name):
            reading = replace(wanted, table=False) if wanted.table else wanted
            items = reading.read(path, self._kind, self.asked["memory_limit"])
            tell_of_reading(items)
            y = None if wanted.label is None else labels_of(items, wanted.label, with_gaps=True)
            say(f"{name}: {in_short_words(items)}")
            found = compare(items, y, progress=True, **self.asked)
            if self.out is not None and found.coordinates:  # while there are rows to read
                report_on_comparison(found, items, path=self.out, name=Path(name).name)
        for line in found.lines:
            for text in line.warnings:
                say(f"warning: {line.title}: {text}", always=True)
        if not found.coordinates:
            raise BadData(f"No method could be fitted. {found.lines[0].title}: {found.lines[0].reason}")
        if self.out is not None:
            say(f"page: {plain(self.out)}")
        return Answer(found.to_dict() | {"page": self.out}, in_options(str(found)))


def _refuse_place(page: Path, data: str) -> None:
    """Before the work, not after it."""
    refuse_same_file(Path(data), check_page(page, "a comparison"))
