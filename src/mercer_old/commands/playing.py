"""What `mercer playground` does: read points if a file was named, and write the page."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mercer_old.commands.answers import Answer
from mercer_old.commands.around import as_bad_data, file_for, place_for, warnings_as_lines
from mercer_old.commands.asked import write_file
from mercer_old.commands.labels import column_beside, labels_of
from mercer_old.commands.opening import Wanted, tell_of_reading
from mercer_old.commands.script import Script
from mercer_old.outlets import refuse_same_file
from mercer_old.report.playground import playground
from mercer_old.report.templates import check_page
from mercer_old.terminal import plain, say

__all__ = ["Play"]


@dataclass(frozen=True)
class Play:
    """Read, check, write."""

    wanted: Wanted | None  # the points
    out: Path
    fills_stdout = False

    def code(self) -> str:
        script, given = Script(), list[Any]()
        if self.wanted is not None:
            rows = write_file(script, self.wanted, "rows")
            given = [rows] if self.wanted.label is None else [rows, column_beside(rows, self.wanted.label)]
        script.add(script.call("playground", *given, path=self.out).text)
        return str(script)

    def run(self) -> Answer:
        page = check_page(self.out, "a playground")
        self._write()
        say(f"playground: {plain(page)}")
        return Answer({"page": page})

    def _write(self) -> None:
        wanted = self.wanted
        if wanted is None:
            playground(path=self.out)
            return
        place_for(wanted.data, None)
        refuse_same_file(Path(wanted.data), self.out)
        with file_for(wanted.data) as (path, name), warnings_as_lines(path, name), as_bad_data(path, name):
            items = wanted.read(path, "rows", None)
            tell_of_reading(items)
            labels = None if wanted.label is None else labels_of(items, wanted.label)
            playground(items, labels, path=self.out)
