"""A fit that is asked for: a file, a method and the parameters of its model, as they were typed."""

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from mercer import kernel_names
from mercer.arrays import Array
from mercer.commands.arguments import kernel_parameters, model_parameters, number_of_components
from mercer.commands.around import as_bad_data, file_for, warnings_as_lines
from mercer.commands.opening import Wanted, in_short_words, is_of_tables, is_of_texts
from mercer.commands.script import Piece, Script
from mercer.errors import WrongUse
from mercer.models.kernel_pca import KernelPCA
from mercer.models.lle import LocallyLinearEmbedding
from mercer.models.pca import PCA
from mercer.sources.items import Items
from mercer.sources.row_numbers import about_index, about_steps_of_one, counting, first_rows, is_index
from mercer.terminal import say

__all__ = ["Asked", "Opened", "made_model", "wanted_in"]

_METRICS = ("euclidean", "cosine", *kernel_names.OF_TEXTS, *kernel_names.OF_TABLES)
_MODELS: dict[str, Callable[..., Any]] = {"kpca": KernelPCA, "pca": PCA, "lle": LocallyLinearEmbedding}


@dataclass(frozen=True)
class Opened:
    """A model that is not fitted yet, and what it is to be fitted to."""

    model: Any
    items: Items
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

    @classmethod
    def in_context(cls, context: typer.Context, data: str, beside: str | None = None) -> "Asked":
        """From what was typed; `beside` is a column that is no feature."""
        method = context.params["method"]
        params = model_parameters(method, context)
        if "components" in context.params:
            params["n_components"] = number_of_components(context.params["components"], method)
        wanted = wanted_in(context, data, beside)
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
            say(f"{name}: {in_short_words(items)}")
            known += _tell_of_row_numbers(items)
            yield Opened(model, items, weight, path, name, known)

    def write(self, script: Script, usual: int | None = None) -> tuple[Piece, Piece, dict[str, Piece]]:
        """Lines that open the rows and make the model: their names, and the weights as an argument of a fit."""
        rows, params = write_opening(script, self.wanted, self.params), dict(self.params)
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
        model = script.set("model", script.call(_MODELS[self.method].__name__, **params))  # type: ignore[attr-defined]
        weight = {}
        if self.wanted.weights is not None:
            column = script.call("open_rows", self.wanted.data, columns=[self.wanted.weights], **_header(self.wanted))
            weight = {"sample_weight": script.set("weights", Piece(f"{column.text}.load()[:, 0]"))}
        return rows, model, weight

    def _at_most(self, usual: int, rows: Piece) -> Piece:
        """As `Opened.at_most`."""
        by_columns = self.method != "kpca" and not (is_of_texts(self.params) or is_of_tables(self.params))
        return Piece(f"min({usual}, {f'*{rows.text}.shape' if by_columns else f'len({rows.text})'})")


def wanted_in(context: typer.Context, data: str, beside: str | None = None) -> Wanted:
    """The file and the part of it that was typed."""
    typed = context.params
    names = None if typed.get("columns") is None else [name.strip() for name in typed["columns"].split(",")]
    drop = [*(typed.get("drop") or [])]
    if beside is not None and typed.get("text") is None and names is None:
        drop.append(beside)
    return Wanted(data, names, drop, typed.get("weights"), typed.get("header"), typed.get("text"), typed.get("case"))


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
        say(f"warning: {said[-1].removesuffix('.')}{drop}", always=True)
    return said


# ---------------------------------------------------------------------- in Python


def _header(wanted: Wanted) -> dict[str, Any]:
    return {} if wanted.header is None else {"header": wanted.header}


def write_opening(script: Script, wanted: Wanted, params: dict[str, Any], name: str = "") -> Piece:
    """A line that opens what is wanted: rows, texts or a table."""
    if wanted.data == "-":
        raise WrongUse("--show-code is for files, as Python would have to read standard input twice: name one.")
    memory = params.get("memory_limit")
    limit = {} if memory is None else {"memory_limit": memory}
    if is_of_texts(params):
        how = _header(wanted) | ({} if wanted.case is None else {"case": wanted.case}) | limit
        columns = [] if wanted.text is None else [wanted.text]
        return script.set(name or "texts", script.call("open_texts", wanted.data, *columns, **how))
    beside = [] if wanted.weights is None else [wanted.weights]
    drop = [*wanted.drop, *beside]
    if is_of_tables(params):
        memories = [] if memory is None else [memory]
        table = script.call("open_table", Piece(f"Path({wanted.data!r})"), *memories, module="mercer.sources.frames")
        script.named("Path", "pathlib")
        part = f".only({wanted.columns!r}, {drop!r})" if wanted.columns or drop else ""
        return script.set(name or "table", Piece(table.text + part))
    how = {"columns": wanted.columns, "drop": drop, "header": wanted.header}
    said = {key: value for key, value in how.items() if value not in (None, [])}
    return script.set(name or "rows", script.call("open_rows", wanted.data, **said))
