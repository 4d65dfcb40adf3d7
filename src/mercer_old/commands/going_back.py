"""What `mercer inverse` and `mercer denoise` do: rows of scores, or of noisy rows, block by block."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mercer_old.commands.answers import Answer
from mercer_old.commands.around import place_for
from mercer_old.commands.kept import Kept
from mercer_old.commands.opening import Wanted
from mercer_old.commands.script import Script
from mercer_old.errors import WrongUse, counted
from mercer_old.functions.rows_in_files import write_back
from mercer_old.models.kernel_pca import KernelPCA
from mercer_old.terminal import plain, say

__all__ = ["GoBack"]


@dataclass(frozen=True)
class GoBack:
    """Rows that scores stand for, or rows without noise, to `out` or standard output."""

    kept: Kept
    wanted: Wanted
    out: Path | None
    error: bool
    noisy: bool

    def __post_init__(self) -> None:
        model = self.kept.model
        if not hasattr(model, "inverse_transform"):
            raise WrongUse(
                f"{plain(self.kept.path)} holds a {type(model).__name__}, which has no way back from scores to rows; "
                "PCA and KernelPCA have one."
            )
        if self.kept.kind == "tables":
            raise WrongUse("The way back from scores to rows of a mixed table leads to Python objects: ask in Python.")
        if self.error and not self.noisy and not isinstance(model, KernelPCA):
            raise WrongUse("--error is for kernel PCA: rows of PCA have the scores that they are made from.")
        if getattr(model, "preimage", "") is None:
            model.set_params(preimage="auto")

    @property
    def fills_stdout(self) -> bool:
        return self.out in (None, Path("-"))

    @property
    def _names(self) -> list[str] | None:
        """What the columns that are read are called."""
        return self.kept.columns if self.noisy else [str(name) for name in self.kept.model.get_feature_names_out()]

    @property
    def _kind(self) -> str:
        return self.kept.kind if self.noisy else "rows"

    def code(self) -> str:
        script = Script()
        model, rows = self.kept.write(script, self.wanted, self._names, self._kind)
        if getattr(self.kept.model, "preimage", None) == "auto":
            script.add(f'{model.text}.set_params(preimage="auto")')
        method = f"{model.text}.{'denoise_to' if self.noisy else 'inverse_transform_to'}"
        given: dict[str, Any] = {"with_error": True} if self.error else {}
        script.add(script.call(method, rows, None if self.fills_stdout else self.out, **given).text)
        return str(script)

    def run(self) -> Answer:
        out, model = place_for(self.wanted.data, self.out), self.kept.model
        with self.kept.opened(self.wanted, self._names, self._kind) as new:
            errors = write_back(model, new.items, out, self.error, self.noisy)
        if out is not None:
            say(f"{'texts' if self.kept.kind == 'texts' else 'rows'}: {plain(out)}")
        figures = {"model": self.kept.path, "data": new.name, "rows": len(new.items)}
        if self.error:
            middle, rows = np.median(errors), counted(len(errors), "row")
            say(f"error: {middle:.3g} at the median of {rows}, at most {max(errors):.3g}")
            figures |= {"median_error": np.median(errors), "largest_error": max(errors)}
        return Answer(figures | {"out": out})
