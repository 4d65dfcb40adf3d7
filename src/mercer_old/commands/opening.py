"""What is read, and how: rows of numbers, or texts for a kernel of texts."""

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import typer

from mercer_old.arrays import Array
from mercer_old.commands.arguments import OF_KERNELS, OPTION_OF
from mercer_old.engines.cluster import active_client
from mercer_old.errors import BadData, NoRoom, WrongUse, are, counted, in_short, joined, listed
from mercer_old.kernel_names import BY_NAME, OF_TABLES, OF_TEXTS, in_words
from mercer_old.kernels.base import kind_of_items
from mercer_old.kernels.resolve import as_said
from mercer_old.kernels.tables import TableKernel
from mercer_old.limits import bytes_in_words, parse_memory
from mercer_old.sources.beside import Column, is_of_numbers
from mercer_old.sources.files import open_rows, open_texts
from mercer_old.sources.frames import Table, open_table
from mercer_old.sources.items import Items, Rows
from mercer_old.sources.lines import FASTA, ending
from mercer_old.sources.text_columns import TABLES
from mercer_old.sources.texts import Texts
from mercer_old.terminal import plain, say, say_warning

_SLOTS = {"kpca": "kernel", "lle": "metric"}  # where a method has its kernel of texts
_OF_ROWS = "transpose", "decimal", "array", "layer", "obsm", "resize"  # options that texts have no use for
_KINDS_OF_NOTES: dict[str, Any] = {
    "columns": list,
    "drop": list,
    "keep": list,
    "header": bool,
    "transpose": bool,
    "table": bool,
}  # others are texts


@dataclass(frozen=True)
class Wanted:
    """A file, which part of it, and how it is read: all that a saved model has to know to read the next one alike."""

    data: str
    columns: Sequence[str] | None = None
    drop: Sequence[str] = ()
    weights: str | None = None
    header: bool | None = None
    text: str | None = None  # the column of texts
    case: str | None = None
    id: str | None = None  # the column that names rows
    label: str | None = None  # written along, for colours and statistics
    keep: Sequence[str] = ()  # written along as they are
    transpose: bool = False
    table: bool = False  # whether columns of all kinds are compared
    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    format: str | None = None
    array: str | None = None  # of a .npz file
    layer: str | None = None  # of a .h5ad file, instead of X
    obsm: str | None = None  # the same
    resize: str | None = None  # of images

    @classmethod
    def typed(cls, context: typer.Context, data: str, **more: Any) -> "Wanted":
        """From the options of a command, and what it knows better."""
        names = {field.name for field in fields(cls)} - {"data"}
        said = {name: value for name, value in context.params.items() if name in names and value is not None} | more
        if isinstance(said.get("columns"), str):
            said["columns"] = [name.strip() for name in said["columns"].split(",")]
        return cls(data, **said)._without_labels()

    @classmethod
    def typed_with(cls, context: typer.Context, data: str | None) -> "Wanted | None":
        """The same of a file that may be left out; with it, nothing can be said of its columns."""
        wanted = cls.typed(context, data or "")
        if data:
            return wanted
        for name in wanted.as_notes():
            option = next(each.opts[0] for each in context.command.params if each.name == name)
            raise WrongUse(f"{option} says how DATA is read, and there is none: name the file.")
        return None

    def _without_labels(self) -> "Wanted":
        """A column that is named among the features and as a label is no feature of a fit; reading tells."""
        if self.columns is None:
            return self
        features = [name for name in self.columns if name not in (self.label, *self.keep)]
        if not features:
            raise WrongUse("--columns has no feature left: a column that --label or --keep names is none. Name others.")
        return replace(self, columns=features)

    def as_notes(self) -> dict[str, Any]:
        """All but the file, as JSON can hold it; what is as usual is left out."""
        said = {field.name: (getattr(self, field.name), field.default) for field in fields(self)[1:]}
        notes = {name: value for name, (value, usual) in said.items() if value not in (usual, [], ())}
        return {name: list(value) if isinstance(value, (list, tuple)) else value for name, value in notes.items()}

    @classmethod
    def from_notes(cls, notes: Mapping[str, Any], data: str) -> "Wanted":
        """Another file, read as the one of the notes; whatever else notes hold is left alone."""
        said = {field.name: notes[field.name] for field in fields(cls)[1:] if notes.get(field.name) is not None}
        for name, value in said.items():
            kind = _KINDS_OF_NOTES.get(name, str)
            if not isinstance(value, kind) or (kind is list and not all(isinstance(one, str) for one in value)):
                raise BadData(f"The notes say {name}={in_short(value)}, which is no way to read a file.")
        return cls(data, **said)

    def with_labels(self, column: str) -> "Wanted":
        """The same, where a column is held to compare rows by, and is no feature."""
        return replace(self, keep=[*self.keep, column])._without_labels()

    def rows(self, path: Path, memory: int | str | None = None) -> Rows:
        """The rows of numbers of the file, or of its copy."""
        drop = [*self.drop, *self.weights_among_features(path)]
        rows = open_rows(path, self.columns, drop, self.header, memory_limit=memory, **self._how, **self._beside)
        if self.table:
            raise WrongUse("--table is for commands that fit kernels of tables; this one compares rows of numbers.")
        return rows

    def is_of_cells(self, path: Path) -> bool:
        """Whether columns that are no features stand apart from those that are, as in obs of .h5ad files."""
        return (ending(path) if self.format is None else f".{self.format.lower()}") == ".h5ad"

    def weights_among_features(self, path: Path) -> list[str]:
        """The column of weights, where it would be a feature of the file, or of its copy."""
        return [] if self.weights is None or self.is_of_cells(path) else [self.weights]

    @property
    def _how(self) -> dict[str, Any]:
        """How the file is read, as `open_rows` takes it."""
        names = "transpose", "delimiter", "decimal", "encoding", "format", "array", "layer", "obsm", "resize"
        return {name: getattr(self, name) for name in names}

    @property
    def _beside(self) -> dict[str, Any]:
        """Columns that are no features."""
        return {"id": self.id, "label": self.label, "keep": self.keep}

    def with_kernel(self, method: str, params: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
        """Parameters of the model, among them the kernel of texts; a file that has nothing but texts asks for one."""
        params = self._with_table(method, params)
        only_texts = self.text is not None or self.case is not None or ending(Path(self.data)) in FASTA
        params = with_kernel_of_texts(method, params, options, plain(self.data) if only_texts else "")
        if is_of_texts(params):
            self._refuse_rows_options(params)
        if is_of_tables(params) and (self.header is False or params.get("standardize")):
            why = "whose columns need names" if self.header is False else "whose kernel brings columns to one scale"
            raise WrongUse(f"--{'no-header' if self.header is False else 'standardize'} is not for tables, {why}.")
        return params

    def _with_table(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """--table is another way to say --kernel table, or --metric table."""
        slot = _SLOTS.get(method)
        if not self.table:
            return params
        if slot is None or params.get(slot, "table") != "table":
            said = f"--method {method}" if slot is None else f"--{slot} {plain(params[slot])}"
            raise WrongUse(f"--table and {said} contradict each other: kpca and lle have a kernel of tables.")
        return params | {slot: "table"}

    def _refuse_rows_options(self, params: dict[str, Any]) -> None:
        if self.case not in (None, "upper", "lower"):
            raise WrongUse(f"--case {plain(self.case)} is neither upper nor lower.")
        said = {"--columns": self.columns, "--drop": self.drop, "--standardize": params.get("standardize")}
        said |= {f"--{name}": getattr(self, name) for name in _OF_ROWS}
        for option, value in said.items():
            if value:
                raise WrongUse(f"{option} is for rows of numbers, and texts are one column: name it with --text.")
        names = "weights", "text", "header", "id", "label", "keep", "delimiter", "encoding"
        for option, value in {f"--{name}": getattr(self, name) for name in names}.items():
            if value not in (None, (), []) and not self._is_table:
                raise WrongUse(f"{option} is about columns, and {plain(self.data)} has one text a line, or a record.")

    @property
    def _is_table(self) -> bool:
        """Whether texts are in a column of it; standard input is a table if one is named."""
        kind = ending(Path(self.data)) if self.format is None else f".{self.format}"
        return kind in TABLES or (self.data == "-" and self.text is not None)

    @property
    def kind_of_copy(self) -> str:
        """How the name of a copy of standard input should end, if texts are read from it."""
        return ".csv" if self._is_table else ".txt"

    def _open_table(self, path: Path, model: Any) -> Items:
        """The table, and to the model the kernel that its columns ask for."""
        items = self.read(path, "tables", model.memory_limit)
        kernel = TableKernel.auto(items)
        said = [f"{plain(name)} {type(kind).__name__}" for name, kind in (kernel.columns or {}).items()]
        say(f"columns: {listed(said, len(said))}")
        setattr(model, next(slot for slot in _SLOTS.values() if hasattr(model, slot)), kernel)
        return items

    def open(self, path: Path, model: Any, texts: bool) -> tuple[Items, Array | None]:
        """The items, and the weight of each; what was found out on the way is told."""
        items, weight = self._open(path, model, texts)
        tell_of_reading(items)
        return items, weight

    def _open(self, path: Path, model: Any, texts: bool) -> tuple[Items, Array | None]:
        weight = None if self.weights is None else self._weight_of_rows(path, model.memory_limit)
        if any(kind_of_items(getattr(model, slot, None)) == "tables" for slot in _SLOTS.values()):
            return self._open_table(path, model), weight
        return self.read(path, "texts" if texts else "rows", model.memory_limit), weight

    def read(self, path: Path, kind: str, memory: int | str | None) -> Items:
        """What the file holds, or its copy: rows, texts or tables."""
        if kind == "rows":
            return self.rows(path, memory)
        names = ["header", "delimiter", "encoding", "format", "case" if kind == "texts" else "decimal"]
        how = {name: getattr(self, name) for name in names} | self._beside
        if kind == "texts":
            return open_texts(path, self.text, memory_limit=memory, **how)
        drop = [*self.drop, *self.weights_among_features(path)]
        return open_table(path, memory, columns=self.columns, drop=drop, **how)

    def only_texts(self) -> "Wanted":
        """The same without what is said of columns, if the file has none."""
        columns = {"text": None, "header": None, "id": None, "label": None, "keep": (), "delimiter": None}
        return self if self._is_table else replace(self, **columns | {"encoding": None})  # type: ignore[arg-type]

    def look(self, path: Path, kind: str, memory: int | str | None) -> Items:
        """All columns that the file has, whichever are wanted, without a word."""
        if kind == "tables":
            return replace(self, columns=None, drop=(), id=None, label=None, keep=()).read(path, kind, memory)
        with warnings.catch_warnings(action="ignore"):
            return open_rows(path, header=self.header, memory_limit=memory, **self._how)

    def _weight_of_rows(self, path: Path, memory: int | str | None) -> Array:
        if self.transpose:
            raise WrongUse("--weights names a column, and with --transpose columns are rows.")
        name = str(self.weights)
        if self.is_of_cells(path):
            return _as_weights(open_rows(path, keep=name, memory_limit=memory, **self._how), name)
        column = open_rows(path, name, (), self.header, memory_limit=memory, **self._how)
        return _weights(column, memory)


def tell_of_reading(items: Items) -> None:
    """What was found out by looking at a file, with the options that say otherwise, and texts that need care."""
    for note in items.notes:
        say(f"reading: {note}")
    if active_client() is not None:
        say(f"workers: {_share_of_workers(items)}")
    features = set(getattr(items, "names", None) or ())
    numbers = [repr(name) for name, column in items.beside.items() if is_of_numbers(column) and name not in features]
    if numbers:
        say(f"reading: {listed(numbers)} {are(len(numbers))} written along (--label, --keep), and so no feature")
    named = {} if items.row_names is None else {items.heading: items.row_names}
    for heading, column in {**named, **items.beside}.items():
        formulas = column.formulas() if isinstance(column, Column) else []
        if formulas:
            say_warning(
                f"Column {heading!r} is written along as it is, and a spreadsheet would take "
                f"{counted(len(formulas), 'text')} of it for formulas: {listed(map(repr, formulas), 3)}."
            )


def _share_of_workers(items: Items) -> str:
    """What those of a cluster do, and what is done here."""
    if items.chunks is None:
        return "they read large Parquet by themselves; this is read here; exact kernel PCA may send it to them"
    return f"they read {counted(len(items.chunks.counts), 'chunk')} of whole row groups by themselves"


def is_of_tables(params: dict[str, Any]) -> bool:
    """Whether the kernel, or the metric, compares rows of mixed tables."""
    return any(kind_of_items(params.get(slot)) == "tables" for slot in _SLOTS.values())


def is_of_texts(params: dict[str, Any]) -> bool:
    """Whether the kernel, or the metric, compares texts."""
    return any(kind_of_items(params.get(slot)) == "texts" for slot in _SLOTS.values())


def with_kernel_of_texts(
    method: str, params: dict[str, Any], options: dict[str, Any], texts: str = ""
) -> dict[str, Any]:
    """The parameters with a kernel of texts in its place, if one was named, or if `texts`, a file, asks for one."""
    slot = _SLOTS.get(method)
    name = params.get(slot, "spectrum" if texts else None) if slot else None
    if name in (*OF_TEXTS, *OF_TABLES) and not (texts and name in OF_TABLES):
        _refuse_options_of_rows(f"--{slot} {name}", params)
        return params | {str(slot): _made(f"--{slot} {name}", name, options)}
    known = f"the kernels of texts are {in_words(OF_TEXTS)}" if len(OF_TEXTS) > 1 else f"{OF_TEXTS[0]} compares texts"
    if texts and not slot:
        raise WrongUse(f"{texts} has texts, which --method {method} does not compare: kpca and lle do.")
    if texts:
        kind = "whole tables" if name in OF_TABLES else "rows of numbers"
        raise WrongUse(f"{texts} has texts, and --{slot} {plain(name)} compares {kind}: {known}.")
    if options:
        raise WrongUse(f"{next(iter(options))} is for kernels of texts: {known}.")
    return params


def _refuse_options_of_rows(said: str, params: dict[str, Any]) -> None:
    of_rows = {parameter for entry in BY_NAME.values() if entry.compares == "rows" for parameter in entry.takes}
    for name in params:
        if name in of_rows:
            raise WrongUse(f"{OPTION_OF[name]} is for kernels of rows, not for {said}.")


def _made(said: str, name: str, options: dict[str, Any]) -> Any:
    """The kernel, with the options that it takes."""
    takes = BY_NAME[name].takes
    for option in options:
        if OF_KERNELS[option] not in takes:
            own = joined([own for own, parameter in OF_KERNELS.items() if parameter in takes])
            raise WrongUse(f"{option} is not for {said}, {f'whose options are {own}' if own else 'which has none'}.")
    try:
        return as_said(name, params={OF_KERNELS[option]: value for option, value in options.items()})
    except ValueError as error:
        raise WrongUse(f"{said}: {_in_options_of_kernels(str(error))}") from None


def _in_options_of_kernels(message: str) -> str:
    """What a kernel says of its parameters, as they are typed: options, yes and no."""
    for option, parameter in OF_KERNELS.items():
        message = re.sub(rf"(?<![\w-]){parameter}(?= must be|=)", option, message)
    return message.replace("True, False, 'dice'", "yes, no, 'dice'")


def in_short_words(items: Items) -> str:
    """How many there are, and how wide."""
    if items.kind == "rows":
        return f"{counted(len(items), 'row')}, {counted(items.width, 'column')}"
    if isinstance(items, Table):
        return f"{counted(len(items), 'row')}, {counted(len(items.names), 'column')} of all kinds"
    assert isinstance(items, Texts)
    if len(items) == 1:
        return f"1 text of {counted(items.letters, 'letter')}"
    mean = f"{items.letters / len(items):,.1f}".removesuffix(".0")
    return f"{counted(len(items), 'text')}, {mean} letter{'s' * (mean != '1')} each on average"


def _as_weights(rows: Rows, name: str) -> Array:
    """A column beside the rows as numbers; a gap is none."""
    column = rows.beside[name]
    if not is_of_numbers(column):
        raise BadData(f"--weights: column {name!r} of obs of {rows.label} has no numbers.")
    return np.array([np.nan if cell is None else cell for cell in column], dtype=np.float64)


def _weights(column: Rows, memory: int | str | None) -> Array:
    """The column of weights, which is held: not beyond the limit, whatever a file claims."""
    need, limit = 16 * column.shape[0] + column.overhead, parse_memory(memory)
    if need > limit:
        raise NoRoom(
            f"{column.shape[0]:,} weights need {bytes_in_words(need)} to be read, over the limit of "
            f"{bytes_in_words(limit)}. "
            "Give a larger memory_limit."
        )
    return column.load()[:, 0]
