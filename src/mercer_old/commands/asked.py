"""A fit that is asked for: a file, a method and the parameters of its model, as they were typed."""

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from mercer_old import kernel_names
from mercer_old.arrays import Array
from mercer_old.commands.arguments import METHODS, kernel_parameters, model_parameters
from mercer_old.commands.around import as_bad_data, file_for, warnings_as_lines
from mercer_old.commands.opening import Wanted, in_short_words, is_of_tables, is_of_texts
from mercer_old.commands.script import Piece, Script
from mercer_old.commands.typed import number_of_components
from mercer_old.errors import WrongUse
from mercer_old.models.autoencoder import Autoencoder
from mercer_old.models.factor_analysis import FactorAnalysis
from mercer_old.models.gplvm import GPLVM
from mercer_old.models.kernel_pca import KernelPCA
from mercer_old.models.lle import LocallyLinearEmbedding
from mercer_old.models.pca import PCA
from mercer_old.models.probabilistic_pca import ProbabilisticPCA
from mercer_old.sources.items import Items
from mercer_old.sources.row_numbers import about_index, about_steps_of_one, counting, first_rows, is_index
from mercer_old.terminal import say, say_warning

__all__ = [
    "Asked",
    "Opened",
    "kind_that_is_asked_for",
    "made_model",
    "refuse_standard_input",
    "write_file",
    "write_opening",
]

_METRICS = ("euclidean", "cosine", *kernel_names.OF_TEXTS, *kernel_names.OF_TABLES)
_MODELS: dict[str, Callable[..., Any]] = {
    "kpca": KernelPCA,
    "pca": PCA,
    "ppca": ProbabilisticPCA,
    "lle": LocallyLinearEmbedding,
    "fa": FactorAnalysis,
    "gplvm": GPLVM,
    "autoencoder": Autoencoder,
}


@dataclass(frozen=True)
class Opened:
    """A model, and what it is to be fitted to, or was."""

    model: Any
    items: Any  # of one that is fitted already, None if no file was named
    weight: Array | None
    path: Path  # that of a copy, where standard input is read
    name: str  # for people
    known: list[str]  # warnings that need not be said again

    def at_most(self, usual: int) -> int:
        """So many components, or as many as there can be."""
        by_columns = self.items.kind == "rows" and not isinstance(self.model, KernelPCA)
        return min(usual, len(self.items), self.items.width if by_columns else usual)


@dataclass(frozen=True)
class Asked:
    """Which rows, and which model of them."""

    wanted: Wanted
    method: str
    params: dict[str, Any]
    fitted = False

    @classmethod
    def typed(
        cls, context: typer.Context, data: str, labels: str | None = None, known: tuple[str, ...] = METHODS
    ) -> "Asked":
        """From the options of a command that knows these methods; a column of labels is kept, and no feature."""
        method = context.params["method"]
        params = model_parameters(method, context, known)
        if "components" in context.params:
            params["n_components"] = number_of_components(context.params["components"], method)
            if method == "ppca" and params["n_components"] is None:
                params["n_components"] = "cv"
        wanted = Wanted.typed(context, data)
        if labels is not None:
            wanted = wanted.with_labels(labels)
        return cls(wanted, method, wanted.with_kernel(method, params, kernel_parameters(context)))

    @contextmanager
    def opened(self) -> Iterator[Opened]:
        """The file, with what is to be said of it; errors and warnings call it by its name."""
        model, texts = made_model(self.method, self.params), is_of_texts(self.params)
        data = self.wanted.data
        if data == "-" and sys.stdin is None:
            raise WrongUse("Standard input is closed; name a file instead.")
        copy = self.wanted.kind_of_copy if texts else ".csv"
        with file_for(data, copy) as (path, name), warnings_as_lines(path, name) as known, as_bad_data(path, name):
            items, weight = self.wanted.open(path, model, texts)
            items = items.as_rows().allowing_gaps() if self.method == "ppca" else items
            say(f"{name}: {in_short_words(items)}")
            known += _tell_of_row_numbers(items)
            yield Opened(model, items, weight, path, name, known)

    def write(self, script: Script, usual: int | None = None, name: str = "") -> tuple[Piece, Piece, dict[str, Any]]:
        """Lines that open the rows and make the model: their names, and the weights as an argument of a fit."""
        rows, params = write_opening(script, self.wanted, self.params, name), dict(self.params)
        if is_of_tables(params):
            slot = "kernel" if self.method == "kpca" else "metric"
            script.named("TableKernel", "mercer.kernels")
            params[slot] = Piece(f"TableKernel.auto({rows.text})")
        elif self.method == "kpca":
            params.setdefault("kernel", "rbf")
        if params.get("n_components") is None:
            params.pop("n_components", None)
            if usual is not None:
                params = {"n_components": self._at_most(usual, rows)} | params
        model = script.set("model", script.call(_MODELS[self.method].__name__, **params))
        weight = {}
        if self.wanted.weights is not None:
            weight = {"sample_weight": script.set("weights", _written_weights(script, self.wanted))}
        return rows, model, weight

    def _at_most(self, usual: int, rows: Piece) -> Piece:
        """As `Opened.at_most`."""
        by_columns = self.method != "kpca" and not (is_of_texts(self.params) or is_of_tables(self.params))
        return Piece(f"min({usual}, {f'*{rows.text}.shape' if by_columns else f'len({rows.text})'})")


def made_model(method: str, params: dict[str, Any]) -> Any:
    """The model, with parameters that it can have."""
    if params.get("kernel") == "precomputed":
        raise WrongUse(f"--kernel precomputed: a file holds rows; the kernels are {kernel_names.in_words()}.")
    usual = {"kernel": "rbf"} if method == "kpca" else {}
    model = _MODELS[method](progress=True, **usual | params)
    if method == "lle" and params.get("metric") == "precomputed":
        raise WrongUse(f"--metric precomputed: a file holds rows; the metrics are {kernel_names.in_words(_METRICS)}.")
    try:
        _check(model)
    except ValueError as error:
        raise WrongUse(str(error)) from None
    return model


def _check(model: Any) -> None:
    """The parameters; a number of components that is left out follows from the data."""
    left_out = model.n_components is None
    if left_out:
        model.n_components = 1
    model.check_params()
    if left_out:
        model.n_components = None


def _tell_of_row_numbers(items: Items) -> list[str]:
    """Every column that counts rows, with the option that leaves it out; what the models would say of it otherwise."""
    if items.kind != "rows":
        return []
    rows = items.as_rows()
    said, block = list[str](), first_rows(rows)
    for j in counting(block):
        name = j if rows.names is None else rows.names[j]
        said.append(about_index(name) if is_index(block[0, j], name) else about_steps_of_one(name))
        drop = "." if rows.names is None else f": --drop {shlex.quote(rows.names[j])}"
        say_warning(f"{said[-1].removesuffix('.')}{drop}")
    return said


# ---------------------------------------------------------------------- in Python


def _about_text(wanted: Wanted) -> dict[str, Any]:
    """How a text file is read, whichever part of it."""
    ways = ("header", "delimiter", "decimal", "encoding", "format")
    return {name: value for name, value in wanted.as_notes().items() if name in ways}


def _written_weights(script: Script, wanted: Wanted) -> Piece:
    """The column of weights: one of numbers, or of obs of a .h5ad file."""
    name = wanted.weights
    if wanted.is_of_cells(Path(wanted.data)):
        return Piece(f"list({script.call('open_rows', wanted.data, keep=name).text}.beside[{name!r}])")
    column = script.call("open_rows", wanted.data, columns=[name], **_about_text(wanted))
    return Piece(f"{column.text}.load()[:, 0]")


def refuse_standard_input(wanted: Wanted) -> None:
    if wanted.data == "-":
        raise WrongUse("--show-code is for files, as Python would have to read standard input twice: name one.")


def kind_that_is_asked_for(params: dict[str, Any]) -> str:
    """What a model with these parameters compares: texts, tables or rows."""
    return "texts" if is_of_texts(params) else "tables" if is_of_tables(params) else "rows"


def write_opening(script: Script, wanted: Wanted, params: dict[str, Any], name: str = "") -> Piece:
    """A line that opens what a model with these parameters is fitted to."""
    return write_file(script, wanted, kind_that_is_asked_for(params), name, params.get("memory_limit"))


def write_file(script: Script, wanted: Wanted, kind: str, name: str = "", memory: Any = None) -> Piece:
    """A line that opens what is wanted: rows, texts or a table."""
    refuse_standard_input(wanted)
    how = wanted.as_notes() | ({} if memory is None else {"memory_limit": memory})
    _, text, _ = how.pop("weights", None), how.pop("text", None), how.pop("table", None)
    if kind == "texts":
        column = {} if text is None else {"column": text}
        return script.set(name or "texts", script.call("open_texts", wanted.data, **column | how))
    weights = wanted.weights_among_features(Path(wanted.data))
    if weights:
        how["drop"] = [*how.get("drop", []), *weights]
    if kind == "tables":
        return script.set(name or "table", script.call("open_table", wanted.data, **how))
    return script.set(name or "rows", script.call("open_rows", wanted.data, **how))
