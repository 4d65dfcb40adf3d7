"""What `mercer stability` does: open, fit, draw rows again and again, print how far the components turn."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer_old.commands.answers import Answer
from mercer_old.commands.asked import Asked
from mercer_old.commands.asked_again import AskedAgain
from mercer_old.commands.scales import tell_of_columns
from mercer_old.commands.script import Script
from mercer_old.commands.wording import in_options
from mercer_old.errors import WrongUse
from mercer_old.readings.stability import OFTEN
from mercer_old.studies.stability import stability
from mercer_old.studies.stable import Stability

__all__ = ["Sureness"]

_USUAL = 5  # components, if nothing is said


@dataclass(frozen=True)
class Sureness:
    """The table of components with its verdict, to standard output."""

    asked: Asked | AskedAgain
    draws: int
    seed: int | None
    fills_stdout = False

    def code(self) -> str:
        script = Script()
        rows, model, _ = self.asked.write(script, _USUAL)
        seed: dict[str, Any] = {} if self.seed is None else {"random_state": self.seed}
        fitted = model if self.asked.fitted else script.call(f"{model.text}.fit", rows)
        script.add(f"print({script.call('stability', fitted, rows, n_boot=self.draws, **seed).text})")
        return str(script)

    def run(self) -> Answer:
        if self.asked.method == "lle":
            raise WrongUse("--method lle: draws of rows change who is a neighbour of whom; pca and kpca can be drawn.")
        if self.draws < 2:
            raise WrongUse(f"--draws {self.draws} is too few: give at least 2.")
        with self.asked.opened() as opened:
            model, items = opened.model, opened.items
            if not self.asked.fitted:
                if model.n_components is None:
                    model.n_components = opened.at_most(_USUAL)
                tell_of_columns(items, model)
                model.fit(items)
            found = stability(model, items, n_boot=self.draws, random_state=self.seed, progress=True)
        return Answer(_figures(found), in_options(str(found)))


def _figures(found: Stability) -> dict[str, Any]:
    """A line for each component, and of linear models the intervals of its entries."""
    often = np.quantile(found.angles, OFTEN, axis=0)
    kind = {number: group.kind for group in found.groups for number in group.numbers}
    lines = [
        {
            "component": j + 1,
            "variance": found.variances[j],
            "standard_error": found.variance_errors[j],
            "median_angle": np.median(found.angles[:, j]),
            "often_below": often[j],
            "kind": kind[j + 1],
        }
        for j in range(len(found.variances))
    ]
    whole = {"verdict": found.verdict, "n_stable": found.n_stable, "draws": found.draws, "rows": found.rows}
    axes = {"axes": found.axes, "axes_low": found.axes_low, "axes_high": found.axes_high}
    return whole | {"seen": found.seen, "components": lines} | axes
