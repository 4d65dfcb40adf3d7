"""What `mercer impute` does: rows with their gaps filled, block by block, with all that is written along."""

from dataclasses import dataclass
from pathlib import Path

from mercer_old.commands.answers import Answer
from mercer_old.commands.around import place_for
from mercer_old.commands.kept import Kept
from mercer_old.commands.opening import Wanted
from mercer_old.commands.script import Script
from mercer_old.errors import WrongUse, counted
from mercer_old.functions.rows_in_files import write_filled
from mercer_old.terminal import plain, say

__all__ = ["Fill"]


@dataclass(frozen=True)
class Fill:
    """Rows as they are, with what a model says where a number is missing, to `out` or standard output."""

    kept: Kept
    wanted: Wanted
    out: Path | None

    def __post_init__(self) -> None:
        if not hasattr(self.kept.model, "impute"):
            raise WrongUse(
                f"{plain(self.kept.path)} holds a {type(self.kept.model).__name__}, which says nothing of missing "
                "numbers: fit with --method ppca."
            )

    @property
    def fills_stdout(self) -> bool:
        return self.out in (None, Path("-"))

    def code(self) -> str:
        script = Script()
        model, rows = self.kept.write(script, self.wanted, self.kept.columns, "rows")
        script.add(script.call(f"{model.text}.impute_to", rows, None if self.fills_stdout else self.out).text)
        return str(script)

    def run(self) -> Answer:
        out, model = place_for(self.wanted.data, self.out), self.kept.model
        with self.kept.opened(self.wanted, self.kept.columns, "rows") as new:
            filled, rows = write_filled(model, new.items.as_rows(), out)
        every = len(new.items) * model.n_features_in_
        say(f"gaps: {filled:,} of {counted(every, 'number')} filled, in {rows:,} of {counted(len(new.items), 'row')}")
        if out is not None:
            say(f"rows: {plain(out)}")
        figures = {"model": self.kept.path, "data": new.name, "rows": len(new.items), "warnings": new.warnings}
        return Answer(figures | {"filled": filled, "rows_filled": rows, "out": out})
