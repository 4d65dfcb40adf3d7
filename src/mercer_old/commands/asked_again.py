"""What commands ask a model that was kept, with the rows of its fit if they are needed."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import typer

from mercer_old.commands.arguments import RELATIVES
from mercer_old.commands.around import warnings_as_lines
from mercer_old.commands.asked import Asked, Opened
from mercer_old.commands.kept import Kept, is_model_file, refuse_options_of_fits
from mercer_old.commands.opening import Wanted
from mercer_old.commands.script import Piece, Script
from mercer_old.errors import WrongUse
from mercer_old.terminal import plain

__all__ = ["AskedAgain", "asked_of"]


@dataclass(frozen=True)
class AskedAgain:
    """As `Asked`, of a model that is fitted already."""

    kept: Kept
    wanted: Wanted | None  # the rows
    fitted = True

    @property
    def method(self) -> str:
        return self.kept.method

    @property
    def params(self) -> dict[str, Any]:
        """Those that say what is compared."""
        slot = "metric" if self.method == "lle" else "kernel"
        return {} if self.method in ("pca", "ppca") else {slot: getattr(self.kept.inner, f"{slot}_", None)}

    @contextmanager
    def opened(self) -> Iterator[Opened]:
        """The model, with its rows if a file of them was named."""
        if self.wanted is None:
            path, name = self.kept.path, plain(self.kept.path)
            try:
                with warnings_as_lines(path, name) as known:
                    yield Opened(self.kept.model, None, None, path, name, known)
            except ValueError as error:
                raise WrongUse(f"{error} The file of the rows goes after that of the model.") from None
            return
        with self.kept.opened(self.wanted, self.kept.columns, self.kept.kind) as new:
            yield Opened(self.kept.model, new.items, None, self.kept.path, new.name, new.warnings)

    def write(self, script: Script, usual: int | None = None) -> tuple[Piece, Piece, dict[str, Any]]:
        """Lines that load the model and open the rows."""
        if self.wanted is None:
            return Piece("None"), script.set("model", script.call("load", self.kept.path)), {}
        model, rows = self.kept.write(script, self.wanted, self.kept.columns, self.kept.kind)
        return rows, model, {}


def asked_of(
    context: typer.Context, data: str, rows: str | None, labels: str | None = None, *, needs: str = ""
) -> Asked | AskedAgain:
    """A fit that is asked for, or a model file with the rows of its fit, which `needs` says it cannot do without."""
    if not is_model_file(data):
        if rows is not None:
            raise WrongUse(f"{plain(rows)}: a second file goes with a model, and {plain(data)} is no .mercer file.")
        return Asked.typed(context, data, labels)
    refuse_options_of_fits(context, data)
    kept = Kept.of(data, context.params["memory"], context.params["jobs"])
    if hasattr(kept.model, "estimator_"):
        raise WrongUse(
            f"{plain(data)} holds a NoveltyDetector: mercer novelty asks it, and this asks PCA or KernelPCA."
        )
    if kept.method in RELATIVES:
        raise WrongUse(
            f"{plain(data)} holds a {type(kept.model).__name__}, whose scores are no components with variances: this "
            "asks PCA or KernelPCA."
        )
    if rows is None:
        if needs or labels is not None:
            why = needs or "--labels names a column of them"
            raise WrongUse(f"{plain(data)} has no rows, and {why}: name their file after the model.")
        return AskedAgain(kept, None)
    wanted = kept.wanted(Wanted.typed(context, rows))
    return AskedAgain(kept, wanted if labels is None else wanted.with_labels(labels))
