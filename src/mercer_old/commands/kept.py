"""A model from a file, and other files read as that of its fit was."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import typer

from mercer_old.commands.arguments import OF_KERNELS, PARAMETERS
from mercer_old.commands.around import as_bad_data, file_for, warnings_as_lines
from mercer_old.commands.asked import kind_that_is_asked_for, refuse_standard_input, write_file
from mercer_old.commands.opening import Wanted, in_short_words, tell_of_reading
from mercer_old.commands.script import Piece, Script
from mercer_old.errors import BadData, WrongUse, are, counted, listed
from mercer_old.kernels.base import kind_of_items
from mercer_old.models.autoencoder import Autoencoder
from mercer_old.models.factor_analysis import FactorAnalysis
from mercer_old.models.gplvm import GPLVM
from mercer_old.models.kernel_pca import KernelPCA
from mercer_old.models.linear import LinearModel
from mercer_old.models.local_model import LocalModel
from mercer_old.models.with_gaps import FillsGaps
from mercer_old.outlets import refuse_place, refuse_same_file
from mercer_old.sources.frames import Table
from mercer_old.sources.items import Items, Rows
from mercer_old.store.files import load, save
from mercer_old.store.headers import inspect
from mercer_old.terminal import plain, say

__all__ = [
    "Kept",
    "NewItems",
    "is_model_file",
    "keep_model",
    "noted",
    "notes_of",
    "place_for_model",
    "refuse_options_of_fits",
]

ENDING = ".mercer"
_ALWAYS = ("--memory", "--jobs", "--seed")  # of a fit, and of everything else too
_METHODS: tuple[tuple[type, str], ...] = (
    (FillsGaps, "ppca"),
    (KernelPCA, "kpca"),
    (LinearModel, "pca"),
    (LocalModel, "lle"),
    (FactorAnalysis, "fa"),
    (GPLVM, "gplvm"),
    (Autoencoder, "autoencoder"),
)
_OF_DETECTORS = ("--statistic", "--alpha", "--calibration", "--trim")


def is_model_file(path: str) -> bool:
    """By its name."""
    return Path(path).suffix.lower() == ENDING


def noted(items: Items, reading: dict[str, Any]) -> dict[str, Any]:
    """How the file of a fit was read, to be saved with its model: with the names of rows that were found by looking."""
    tabular = items.kind != "texts" and (isinstance(items, Table) or hasattr(items, "kinds"))
    named = items.row_names is not None and tabular
    return ({"id": items.heading} if named else {}) | reading


def notes_of(wanted: Wanted, params: dict[str, Any]) -> dict[str, Any]:
    """What a fit to that file, with these parameters of a model, would note."""
    with warnings.catch_warnings(action="ignore"):  # the fit will tell
        items = wanted.read(Path(wanted.data), kind_that_is_asked_for(params), params.get("memory_limit"))
    return noted(items, wanted.as_notes())


def place_for_model(data: str, path: Path) -> None:
    """Say before the work that a model cannot be kept there."""
    if not is_model_file(str(path)):
        raise WrongUse(f"--save {plain(path)}: files of models end in {ENDING}.")
    refuse_place(path)
    refuse_same_file(Path(data), path)


def keep_model(model: Any, path: Path, notes: dict[str, Any]) -> Path:
    """In a file; that a bar was shown on this terminal is no property of a model."""
    getattr(model, "estimator_", model).set_params(progress=False)
    return save(model, path, notes)


def refuse_options_of_fits(context: typer.Context, path: str) -> None:
    """What was settled when the model was fitted cannot be said again."""
    settled = {*PARAMETERS, *OF_KERNELS, *_OF_DETECTORS, "--method", "--components", "--weights"} - {*_ALWAYS}
    for option in context.command.params:
        source = context.get_parameter_source(str(option.name))
        if option.opts[0] in settled and source is not None and source.name == "COMMANDLINE":
            raise WrongUse(f"{option.opts[0]} was settled by the fit whose model {plain(path)} holds; leave it out.")


@dataclass(frozen=True)
class NewItems:
    """What another file holds, with the model that is to look at it."""

    items: Items
    name: str  # of the file, for people
    warnings: list[str]  # that were told


@dataclass(frozen=True)
class Kept:
    """A fitted model, and how the file of its fit was read."""

    path: Path
    model: Any
    reading: dict[str, Any]

    @classmethod
    def of(cls, path: str, memory: str | None = None, jobs: int | None = None) -> "Kept":
        """Loaded, with limits of today."""
        if path == "-":
            raise WrongUse("A model is read from a file, not from standard input: name one.")
        if not is_model_file(path) and Path(path).is_file():
            raise BadData(f"{plain(path)} is no model file, which ends in {ENDING}; the model goes before the data.")
        model, notes = load(path), inspect(path)["notes"]
        inner = getattr(model, "estimator_", model)
        limits = {"memory_limit": memory, "n_jobs": jobs}
        inner.set_params(progress=True, **{name: value for name, value in limits.items() if value is not None})
        return cls(Path(path), model, notes)

    @property
    def inner(self) -> Any:
        """The model of components: of a detector, its own."""
        return getattr(self.model, "estimator_", self.model)

    @property
    def method(self) -> str:
        """As `mercer fit --method` calls it."""
        return next(method for kind, method in _METHODS if isinstance(self.inner, kind))

    @property
    def kind(self) -> str:
        """What it compares: rows, texts or tables."""
        kernel = getattr(self.inner, "kernel_", None) if self.method == "kpca" else getattr(self.inner, "metric", None)
        kind = kind_of_items(kernel)
        return kind if kind in ("texts", "tables") else "rows"

    @property
    def columns(self) -> list[str] | None:
        """The columns of the fit, by name, if they had any."""
        if self.kind == "tables":
            kernel = self.inner.kernel_ if self.method == "kpca" else self.inner.metric
            return [str(name) for name in kernel.columns]
        names = getattr(self.model, "feature_names_in_", None)
        return None if names is None or self.kind != "rows" else [str(name) for name in names]

    def wanted(self, typed: Wanted, of_scores: bool = False) -> Wanted:
        """Another file, read as that of the fit, unless something else was typed; of scores, what was written along."""
        self._refuse_typed(typed, "rows" if of_scores else self.kind)
        known = Wanted.from_notes(self.reading, typed.data)
        noted = Wanted(typed.data, id=known.id, label=known.label, keep=known.keep) if of_scores else known
        return replace(noted, weights=None, **{name: getattr(typed, name) for name in typed.as_notes()})

    def _refuse_typed(self, typed: Wanted, kind: str) -> None:
        """What is read is settled by the model: another choice of columns would be lost without a word."""
        of_texts = {"--text": typed.text, "--case": typed.case}
        of_columns = {"--columns": typed.columns, "--drop": typed.drop}
        for option, value in (of_columns if kind == "texts" else of_texts).items():
            if value:
                raise WrongUse(f"{option} says nothing to a model of {kind}, as {plain(self.path)} holds one.")
        mine = self.columns
        if mine is None:
            return
        if typed.columns is not None and set(typed.columns) != set(mine):
            raise BadData(f"--columns are those of the model, {listed(map(repr, mine))}, and no others: leave it out.")
        needed = [column for column in typed.drop if column in mine]
        if needed:
            raise BadData(f"--drop: the model needs the column {listed(map(repr, needed))}.")

    @contextmanager
    def opened(self, wanted: Wanted, columns: Sequence[str] | None, kind: str) -> Iterator[NewItems]:
        """The file, with these columns in this order; errors and warnings call it by its name."""
        copy = wanted.kind_of_copy if kind == "texts" else ".csv"
        with (
            file_for(wanted.data, copy) as (path, name),
            warnings_as_lines(path, name) as told,
            as_bad_data(path, name),
        ):
            settled, items = self.settled(wanted, path, columns, kind, name)
            items = items.as_rows().allowing_gaps() if self.method == "ppca" else items
            tell_of_reading(items)
            _tell(settled, wanted, items, columns, name)
            say(f"{name}: {in_short_words(items)}")
            yield NewItems(items, name, told)

    def settled(
        self, wanted: Wanted, path: Path, columns: Sequence[str] | None, kind: str, name: str
    ) -> tuple[Wanted, Items]:
        """What is to be read of a file so that it has the columns of the model, by name if both have names."""
        memory = self.inner.memory_limit
        if kind == "texts":
            wanted = wanted.only_texts()
            return wanted, wanted.read(path, kind, memory)
        by_name = replace(wanted, columns=columns, drop=() if columns is not None else wanted.drop)
        try:
            items = by_name.read(path, kind, memory)
        except BadData:
            there = _columns_in(wanted, path, kind, memory)
            if columns is None or there is None or self._typed_in_vain(wanted, there):
                raise
            by_name = _by_place(wanted) if not there else _with_what_is_there(by_name, there, columns, name)
            items = by_name.read(path, kind, memory)
        if isinstance(items, Rows):
            width = getattr(self.model, "n_features_in_", items.width) if columns is None else len(columns)
            _refuse_other_rows(items, columns, width, name)
        return by_name, items

    def _typed_in_vain(self, wanted: Wanted, there: Sequence[str]) -> bool:
        """Whether a column that is not there was typed; one that was at the fit may be gone."""
        noted = _beside(Wanted.from_notes(self.reading, wanted.data))
        return any(column not in {*there, *noted} for column in _beside(wanted))

    def write(
        self, script: Script, wanted: Wanted, columns: Sequence[str] | None, kind: str, name: str = ""
    ) -> tuple[Piece, Piece]:
        """Lines that load the model and open the file: their names."""
        model = script.set("model", script.call("load", self.path))
        refuse_standard_input(wanted)
        settled, _ = self.settled(wanted, Path(wanted.data), columns, kind, plain(wanted.data))
        return model, write_file(script, settled, kind, name)


def _columns_in(wanted: Wanted, path: Path, kind: str, memory: Any) -> list[str] | None:
    """The names of all columns of a file; none if they have no names, None if it cannot be read at all."""
    try:
        items: Any = wanted.look(path, kind, memory)
    except BadData:
        return None
    names = items.names
    return [str(name) for name in getattr(items, "kinds", names)] if names is not None else []


def _by_place(wanted: Wanted) -> Wanted:
    return replace(wanted, columns=None, drop=(), id=None, label=None, keep=())


def _with_what_is_there(wanted: Wanted, there: Sequence[str], columns: Sequence[str], name: str) -> Wanted:
    """The same without columns that were written along at the fit, and are gone; those of the model must be there."""
    missing = [column for column in columns if column not in set(there)]
    more = [column for column in there if column not in {*columns, *_beside(wanted)}]
    if missing:
        also = f" It has {listed(map(repr, more))}, which the model does not know." if more else ""
        raise BadData(
            f"{name} lacks {counted(len(missing), 'column')} of the model: {listed(map(repr, missing))}.{also} Rename "
            "or add what is missing."
        )
    lost = {column for column in _beside(wanted) if column not in set(there)}
    return replace(
        wanted,
        id=None if wanted.id in lost else wanted.id,
        label=None if wanted.label in lost else wanted.label,
        keep=[column for column in wanted.keep if column not in lost],
    )


def _tell(settled: Wanted, wanted: Wanted, items: Any, columns: Sequence[str] | None, name: str) -> None:
    """What differs from the file of the fit, and what was done about it."""
    lost = [column for column in _beside(wanted) if column not in _beside(settled)]
    if lost and items.kind != "texts":
        say(f"{name}: there is no {listed(map(repr, lost))}, as there was at the fit, to be written along")
    if columns is None or items.kind == "texts":
        return
    if getattr(items, "names", None) is None:
        say(f"{name}: it has no names of columns, which are taken by their places")
        return
    there = [str(column) for column in getattr(items, "kinds", columns)]
    named = () if items.row_names is None else (items.heading,)
    more = [column for column in there if column not in {*columns, *_beside(settled), *wanted.drop, *named}]
    if more:
        say(f"{name}: {listed(map(repr, more))} {are(len(more))} left out, as the model does not know {_them(more)}")
    if [column for column in there if column in set(columns)] != list(columns):
        say(f"{name}: columns are put into the order of the model")


def _beside(wanted: Wanted) -> list[str]:
    return [column for column in (wanted.id, wanted.label, *wanted.keep) if column is not None]


def _them(names: Sequence[str]) -> str:
    return "it" if len(names) == 1 else "them"


def _refuse_other_rows(rows: Rows, columns: Sequence[str] | None, width: int, name: str) -> None:
    """Where columns are known by their places alone, there have to be as many."""
    if rows.width != width:
        raise BadData(
            f"{name} has {counted(rows.width, 'column')}, and the model {width:,}: without names on both sides, "
            "columns are taken by their places."
        )
    if columns is not None and rows.names is not None and [str(each) for each in rows.names] != list(columns):
        raise BadData(f"The columns of {name} are not those of the model in its order: {listed(columns)}.")
