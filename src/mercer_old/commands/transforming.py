"""What `mercer transform` does: load, read new rows as those of the fit were, write their scores."""

from dataclasses import dataclass
from pathlib import Path

from mercer_old.commands.answers import Answer
from mercer_old.commands.around import place_for, tell_of_bare_numbers
from mercer_old.commands.kept import Kept
from mercer_old.commands.opening import Wanted
from mercer_old.commands.script import Script
from mercer_old.errors import WrongUse, counted
from mercer_old.models.local_model import LocalModel
from mercer_old.terminal import plain, say

__all__ = ["Transform"]


@dataclass(frozen=True)
class Transform:
    """Scores of new rows, to `out` or standard output, block by block."""

    kept: Kept
    wanted: Wanted
    out: Path | None

    def __post_init__(self) -> None:
        if not hasattr(self.kept.model, "transform_to"):
            raise WrongUse(
                f"{plain(self.kept.path)} holds a {type(self.kept.model).__name__}, which has verdicts and no scores: "
                "mercer novelty asks for them."
            )

    @property
    def fills_stdout(self) -> bool:
        return self.out in (None, Path("-"))

    def code(self) -> str:
        script = Script()
        model, rows = self.kept.write(script, self.wanted, self.kept.columns, self.kept.kind)
        script.add(script.call(f"{model.text}.transform_to", rows, None if self.fills_stdout else self.out).text)
        return str(script)

    def run(self) -> Answer:
        out, model = place_for(self.wanted.data, self.out), self.kept.model
        with self.kept.opened(self.wanted, self.kept.columns, self.kept.kind) as new:
            before = len(new.warnings)
            model.transform_to(new.items, out)
            told = new.warnings[before:]
        if isinstance(model, LocalModel) and not told:
            rows = counted(len(new.items), "row")
            say(f"places: all {rows} are as near to rows of the fit as those are to their neighbours")
        if out is not None:
            say(f"scores: {plain(out)}")
        tell_of_bare_numbers(new.items, out)
        names = list(model.get_feature_names_out())
        figures = {"model": self.kept.path, "data": new.name, "rows": len(new.items), "names": names}
        return Answer(figures | {"scores": out})
