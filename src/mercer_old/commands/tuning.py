"""What `mercer tune` does: rows and labels of a file, the comparison, and its table on standard output."""

import shlex
from dataclasses import dataclass
from typing import Any

from mercer_old.commands.answers import Answer
from mercer_old.commands.arguments import OPTION_OF
from mercer_old.commands.around import as_bad_data, file_for, place_for, warnings_as_lines
from mercer_old.commands.asked import write_opening
from mercer_old.commands.labels import column_beside, labels_of
from mercer_old.commands.opening import Wanted, in_short_words, tell_of_reading
from mercer_old.commands.script import Script
from mercer_old.commands.wording import in_options
from mercer_old.errors import WrongUse
from mercer_old.readings.tuning.candidates import NAMED
from mercer_old.studies.tuned import Tuning
from mercer_old.studies.tuning import tune
from mercer_old.terminal import plain, say

__all__ = ["Tune"]


@dataclass(frozen=True)
class Tune:
    """Read, compare, print."""

    wanted: Wanted
    labels: str | None
    asked: dict[str, Any]
    fills_stdout = False

    def __post_init__(self) -> None:
        asked = self.asked
        if asked["scoring"] is not None and self.labels is None:
            raise WrongUse("--scoring compares with labels: name their column with --labels.")
        for name in asked.get("kernels", ()):
            if name not in NAMED:
                raise WrongUse(
                    f"--kernels {plain(name)}: there is no such kernel to compare; known are {', '.join(NAMED)}."
                )
        for name in ("folds", "subsample"):
            if asked[name] < 2:
                raise WrongUse(f"{OPTION_OF[name]} {asked[name]} is too few: give at least 2.")
        if asked["random_state"] is not None and asked["random_state"] < 0:
            raise WrongUse(f"--seed must be a whole number from 0 on; got {asked['random_state']}.")
        if asked["n_jobs"] == 0:
            raise WrongUse("--jobs 0 is no number of threads; give 1, 2, … or -1 for all.")

    @property
    def _features(self) -> Wanted:
        return self.wanted if self.labels is None else self.wanted.with_labels(self.labels)

    def code(self) -> str:
        script = Script()
        rows = write_opening(script, self._features, {})
        y = []
        if self.labels is not None:
            y = [script.set("labels", column_beside(rows, self.labels))]
        script.add(f"print({script.call('tune', rows, *y, **self.asked).text})")
        return str(script)

    def run(self) -> Answer:
        wanted = self.wanted
        place_for(wanted.data, None)
        with file_for(wanted.data) as (path, name), warnings_as_lines(path, name), as_bad_data(path, name):
            rows = self._features.rows(path)
            tell_of_reading(rows)
            y = None if self.labels is None else labels_of(rows, self.labels)
            say(f"{name}: {in_short_words(rows)}")
            found = tune(rows, y, progress=True, **self.asked)
        next_command = None if wanted.data == "-" else _next_command(wanted.data, self.labels, found)
        if next_command:
            say(f"Try: {next_command}")
        return Answer(_figures(found) | {"try": next_command}, in_options(str(found)))


def _figures(found: Tuning) -> dict[str, Any]:
    return {
        "kernel": repr(found.kernel),
        "gamma": found.gamma,
        "n_components": found.n_components,
        "criterion": found.criterion,
        "reason": found.reason,
        "warnings": found.warnings,
        "passes": found.passes,
        "table": [{name: value for name, value in row.items() if name != "in_words"} for row in found.table],
        "by_components": found.by_components,
    }


def _next_command(data: str, labels: str | None, found: Tuning) -> str:
    """The fit that the choice asks for, if the command line has its kernel."""
    chosen = next(row for row in found.table if row["chosen"])
    words = ["mercer", "fit", shlex.quote(data), "--kernel", chosen["kernel"], "-d", str(found.n_components)]
    words += [] if found.gamma is None else ["--gamma", f"{found.gamma:.6g}"]
    words += ["--degree", str(found.kernel.get_params()["degree"])] if chosen["kernel"] == "poly" else []
    words += ["--standardize"] if found.standardize else []
    words += [] if labels is None else ["--drop", shlex.quote(labels)]
    if chosen["kernel"] == "matern":
        return f"KernelPCA({found.n_components}, kernel={chosen['in_words']}) in Python."
    return " ".join(words)
