"""What `mercer inverse` and `mercer denoise` do: rows of scores, or of noisy rows, block by block."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mercer.arrays import Array, dense
from mercer.blocks import rows_at_a_time
from mercer.commands.answers import Answer
from mercer.commands.around import place_for
from mercer.commands.kept import Kept
from mercer.commands.opening import Wanted
from mercer.commands.script import Script
from mercer.errors import WrongUse, counted
from mercer.models.linear import LinearModel
from mercer.outlets import Labels, outlet
from mercer.sources.held import as_read
from mercer.sources.items import Items, Rows
from mercer.terminal import plain, say

__all__ = ["GoBack", "columns_of", "write_back"]


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
        if self.error and not self.noisy and isinstance(model, LinearModel):
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
        out = None if self.fills_stdout else script.call("Path", self.out, module="pathlib")
        given = (model, rows, out, self.error, self.noisy)
        script.add(script.call("write_back", *given, module="mercer.commands.going_back").text)
        return str(script)

    def run(self) -> Answer:
        out, model = place_for(self.wanted.data, self.out), self.kept.model
        with self.kept.opened(self.wanted, self._names, self._kind) as new:
            errors = write_back(model, new.items, out, self.error, self.noisy)
        if out is not None:
            say(f"{'texts' if self.kept.kind == 'texts' else 'rows'}: {plain(out)}")
        figures = {"model": self.kept.path, "data": new.name, "rows": len(new.items), "warnings": new.warnings}
        if self.error:
            middle, rows = np.median(errors), counted(len(errors), "row")
            say(f"error: {middle:.3g} at the median of {rows}, at most {max(errors):.3g}")
            figures |= {"median_error": np.median(errors), "largest_error": max(errors)}
        return Answer(figures | {"out": out})


def write_back(model: Any, items: Items, out: Path | None, error: bool, noisy: bool) -> Array:
    """Write the rows that scores stand for, or rows without noise, with what is written along; their errors."""
    found, all_errors = _found(model, items, error, noisy), list[Array]()
    along = {} if items.written_along is None else dict(items.written_along.columns)
    if _gives_texts(model):
        texts = list(found)
        along |= {"text": [text for some, _ in texts for text in some]}
        found = ((np.empty((len(some), 0)), errors) for some, errors in texts)
    names = [*columns_of(model), *(["error"] if error else [])]
    labels = Labels(along, items.row_names is not None) if along else None
    with outlet(out, names, len(items), np.float64, labels) as write:
        for rows, errors in found:
            write(np.column_stack([rows, errors]) if error else rows)
            all_errors.append(errors)
    return np.concatenate(all_errors)


def _found(model: Any, items: Items, error: bool, noisy: bool) -> Iterator[tuple[Any, Array]]:
    """Block after block of rows, or texts, and how far each is from what it stands for."""
    back = model.denoise if noisy else model.inverse_transform
    for block in items.blocks(rows_at_a_time(items.width)):
        given = _with_names(block, items) if noisy and isinstance(items, Rows) else block
        if error and not isinstance(model, LinearModel):
            yield back(given, return_error=True)
            continue
        rows = back(given)
        yield rows, np.linalg.norm(dense(block) - rows, axis=1) if error else np.zeros(len(rows))


def _with_names(block: Any, rows: Rows) -> Rows:
    """Some rows as their file calls their columns, so that the model knows them."""
    return as_read(block, None, rows.label, names=rows.names)


def _gives_texts(model: Any) -> bool:
    return getattr(getattr(model, "kernel_", None), "takes", "") == "texts"


def columns_of(model: Any) -> Sequence[str]:
    """As the file of the fit called them."""
    if _gives_texts(model):
        return []
    names = getattr(model, "feature_names_in_", None)
    return [f"x{j}" for j in range(model.n_features_in_)] if names is None else [str(name) for name in names]
