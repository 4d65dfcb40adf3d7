"""How a file is read, and which of its columns are features, ids and metadata."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Self

from mercer.data.dataset import Kind, Metadata
from mercer.errors import DataError, MercerWarning, ParameterError, Remedy, UsageError, warn
from mercer.text import counted, listed, short_repr

if TYPE_CHECKING:
    from mercer.data.arrow import TableReader

TEXT_TABLES = ("csv",)
TABLES = ("csv", "parquet", "arrow")
_APPLIES_TO = {
    **dict.fromkeys(("header", "delimiter", "decimal", "encoding"), TEXT_TABLES),
    **dict.fromkeys(("columns", "drop", "id", "label", "keep"), (*TABLES, "h5ad")),
    **dict.fromkeys(("layer", "obsm", "mask_var"), ("h5ad",)),
    "text": TABLES,
    "array": ("npz",),
    "resize": ("images",),
    "case": (*TABLES, "lines", "fasta"),
}  # option: formats that it is for; others are for all
_NAMED_DELIMITERS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "bar": "|", "blank": " "}
_ID_NAME = re.compile(r"(?i)id|ids|index|row|row.?names?|row.?(nr|no|num|number|id)|sample|.*[ _.-]id|.*[a-z]ID|obs|")
_INDEX_LEVEL = re.compile(r"__index_level_\d+__")
_UNNAMED = ("", "Unnamed: 0")


@dataclass(frozen=True)
class ReadOptions:
    """How a file is read. The command line saves it with models, so that new files are read alike.

    The fields are the options of `open_dataset`, which documents them. Types are checked, because a model file is
    not trusted.
    """

    columns: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()
    text: str | None = None
    id: str | None = None
    label: str | None = None
    keep: tuple[str, ...] = ()
    transpose: bool = False
    header: bool | None = None
    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    format: str | None = None
    array: str | None = None
    layer: str | None = None
    obsm: str | None = None
    mask_var: str | bool | None = None
    resize: str | None = None
    case: str | None = None
    optional_metadata: bool = False

    @classmethod
    def from_user(cls, options: Mapping[str, Any]) -> Self:
        """Check names and types. A single name is accepted where names are expected."""
        known = [field.name for field in fields(cls)]
        for name in options:
            if name not in known:
                near = get_close_matches(name, known, 1)
                hint = f" Did you mean {near[0]}?" if near else ""
                raise UsageError(f"open_dataset has no option {short_repr(name)}.{hint}")
        checked = {name: _check_option(name, value) for name, value in options.items()}
        made = cls(**checked)
        if made.decimal is not None and made.decimal == made.delimiter:
            raise ParameterError("decimal", made.decimal, "different from the delimiter")
        if made.layer is not None and made.obsm is not None:
            raise ParameterError("obsm", made.obsm, "None if layer is given: one matrix is read")
        return made

    @property
    def metadata(self) -> tuple[str, ...]:
        """Columns that are written in front of scores, each once, the label first."""
        return tuple(dict.fromkeys([*([] if self.label is None else [self.label]), *self.keep]))

    def check_for(self, form: str, name: str) -> None:
        """Raise an error for options that do not apply to files of a format."""
        for field in fields(self):
            applies = _APPLIES_TO.get(field.name)
            if applies and form not in applies and getattr(self, field.name) != field.default:
                raise UsageError(f"{field.name} does not apply to {name}, which is read as {form}.")


def _check_option(name: str, value: Any) -> Any:
    if name in ("columns", "drop", "keep"):
        if value is None and name == "columns":
            return None
        names = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, Iterable) else (None,)
        if not all(isinstance(each, str) for each in names):
            raise ParameterError(name, value, "a list of column names")
        return names
    if name in ("transpose", "optional_metadata") or (name == "header" and value is not None):
        if not isinstance(value, bool):
            raise ParameterError(name, value, "True or False")
        return value
    if value is None or (name == "mask_var" and isinstance(value, bool)):
        return value
    if not isinstance(value, str):
        raise ParameterError(name, value, "a string or None")
    if name == "delimiter":
        value = _NAMED_DELIMITERS.get(value, value)
        if len(value) != 1 or value in '\r\n"' or value > "~":
            raise ParameterError(name, value, 'one character, "tab" or "blank"')
    if name == "decimal" and value not in (".", ","):
        raise ParameterError(name, value, '"." or ","')
    return value


@dataclass(frozen=True)
class Roles:
    """What the columns of a table are used for."""

    features: tuple[str, ...]
    metadata: Metadata
    notes: tuple[MercerWarning, ...] = ()


def assign_roles(reader: "TableReader", options: ReadOptions, kind: Kind, memory: int) -> Roles:
    """Decide what each column is, and read ids and metadata in one pass.

    Explicit options come first. Then the index that R or pandas wrote, else the first column of strings that are
    all different, is the id; integer columns that identify rows are not features; other columns that are not
    numeric are left out with a warning. Names in `columns` override each guess.
    """
    names, types = reader.schema.names, dict(zip(reader.schema.names, reader.schema.types, strict=True))
    options = check_names(names, options, reader.name)
    chosen = options.columns is not None or (kind == "strings" and options.text is not None)
    features = _candidates(names, options, kind)
    index = next((n for n in (_pandas_index(reader.schema), _unnamed_index(names)) if n in features), None)
    index = None if chosen else index
    others = [n for n in features if n != index and not reader.is_numeric(types[n])] if kind == "vectors" else []
    if others:
        wrong = others if chosen else reader.find_misspelled_numbers(others)
        if wrong or len(others) == len(features) - (index is not None):
            raise not_numeric_error(reader, wrong or others, none_left=not wrong)
    strings = [n for n in features if reader.is_string(types[n]) and n != index][:1]
    strings = strings if kind == "vectors" or (kind == "table" and len(features) > 1) else []
    integers = [n for n in features if n != index and reader.is_integer(types[n]) and _ID_NAME.fullmatch(n)]
    if len(integers) == len(features) - len(others) - (index is not None):
        integers = []  # something must remain
    guesses = [] if chosen or kind == "strings" else [*([index] if index is not None else strings), *integers]
    wanted = [*options.metadata, *([] if options.id is None else [options.id])]
    found = reader.read_columns(list(dict.fromkeys([*wanted, *guesses])), memory // 2, optional=guesses)

    notes = list(reader.notes)
    distinct = [n for n in guesses if n in found and _is_distinct(found[n])]
    id_name = options.id
    if id_name is not None:
        _check_ids(found[id_name], id_name, reader.name)
    elif distinct and (index is None or distinct[0] == index):
        id_name = distinct[0]
        notes.append(_note(f"Ids from column {short_repr(id_name)}.", "id", id_name))
    elif index is not None:
        warn(f"Column {short_repr(index)} of {reader.name} is an index with duplicates. It is left out.")
    rows = [n for n in integers if n in distinct and n != id_name]
    if rows:
        notes.append(_note(f"{_columns(rows)} identify rows and are not features.", "columns", [*rows, "…"]))
    left_out = [n for n in others if n != id_name]
    if left_out:
        about = listed(f"{short_repr(n)} ({types[n]})" for n in left_out)
        warn(
            f"{_columns(left_out, about)} of {reader.name} {'is' if len(left_out) == 1 else 'are'} not numeric and "
            "left out.",
            remedies=[Remedy("drop", left_out[:5]), Remedy("keep", left_out[:5])],
        )
    unused = {id_name, index, *rows, *left_out} - (set(options.columns or ()) if chosen else set())
    features = [n for n in features if n not in unused]
    if not features:
        raise DataError(f"{reader.name} has no columns left that are features.", source=reader.name)
    kept = dict.fromkeys([*([] if id_name is None else [id_name]), *options.metadata])
    return Roles(tuple(features), Metadata({n: found[n] for n in kept}, id_name, options.label), tuple(notes))


def _candidates(names: Sequence[str], options: ReadOptions, kind: Kind) -> list[str]:
    if kind == "strings" and options.text is not None:
        return [options.text]
    if options.columns is not None:  # a label among them is a feature as well: of a model that was fitted with it
        return [n for n in options.columns if n not in options.drop]
    used = {*options.drop, *options.metadata, options.id}
    return [n for n in names if n not in used and not _INDEX_LEVEL.fullmatch(n)]


def check_names(names: Sequence[str], options: ReadOptions, name: str) -> ReadOptions:
    """Check the names in the options against those of the table. Optional metadata that is missing is removed."""
    twice = [n for n, count in Counter(names).items() if count > 1]
    if twice:
        raise DataError(f"{name} has more than one column named {listed(map(repr, twice))}.", source=name)
    known = set(names)
    if options.optional_metadata:
        label = options.label if options.label in known else None
        options = replace(options, label=label, keep=tuple(n for n in options.keep if n in known))
    given = [*(options.columns or ()), *options.drop, *options.metadata]
    check_known([*given, *(n for n in (options.id, options.text) if n is not None)], names, name)
    repeated = [n for n, count in Counter(options.columns or ()).items() if count > 1]
    if repeated:
        raise ParameterError("columns", options.columns, f"different names; {repeated[0]!r} is repeated")
    if options.id is not None and options.id in (options.columns or ()):
        raise ParameterError("id", options.id, "a column that is not in columns")
    if options.columns is None and "" in names[1:] and "" not in {*options.drop, *options.metadata, options.id}:
        raise DataError(
            f"{name} has a column without a name that is not the first one.",
            source=name,
            remedies=[Remedy("drop", [""])],
        )
    return options


def check_known(given: Iterable[str], names: Sequence[str], name: str) -> None:
    """Raise an error for the first name that does not exist, with close matches."""
    known = set(names)
    unknown = [n for n in given if n not in known]
    if not unknown:
        return
    some = [str(n) for n in names[:10_000]]
    equal = [n for n in some if n.lower() == unknown[0].lower()]
    near = list(dict.fromkeys([*equal, *get_close_matches(unknown[0], some, 3)]))
    hint = f" Did you mean {listed(map(repr, near))}?" if near else ""
    has = listed(map(short_repr, names), 20) or "none"
    raise DataError(f"{name} has no column {listed(map(repr, unknown))}. Columns: {has}.{hint}", source=name)


def not_numeric_error(reader: "TableReader", columns: Sequence[str], none_left: bool = False) -> DataError:
    """The error for columns that are not numeric, with the first cell that is not a number."""
    types = dict(zip(reader.schema.names, reader.schema.types, strict=True))
    about = listed(f"{short_repr(n)} ({types[n]})" for n in columns)
    row, value, hint = reader.first_text(columns[0])
    where = "" if row is None else f" The first such value is {short_repr(value, 40)} in {reader.locate(row)}.{hint}"
    what = "has no numeric columns:" if none_left else "has columns that are not numeric:"
    return DataError(
        f"{reader.name} {what} {about}.{where}",
        source=reader.name,
        row=row,
        column=columns[0],
        value=value,
        remedies=() if none_left else [Remedy("drop", list(columns[:5]))],
    )


def _check_ids(column: Any, name: str, source: str) -> None:
    missing = column.null_count + sum(value == "" for value in column.to_pylist())
    if missing:
        raise DataError(
            f"Column {name!r} of {source} cannot be the id: {counted(missing, 'value')} missing.", source=source
        )
    if not _is_distinct(column):
        first = next(value for value, count in Counter(column.to_pylist()).items() if count > 1)
        raise DataError(
            f"Column {name!r} of {source} cannot be the id: {short_repr(first)} occurs more than once.", source=source
        )


def _is_distinct(column: Any) -> bool:
    """Whether all values are present and different; the first thousand usually show that they are not."""
    head = column.slice(0, 1000)
    if column.null_count or len(head.unique()) < len(head):
        return False
    return len(column.unique()) == len(column)


def _note(text: str, option: str, value: object) -> MercerWarning:
    return MercerWarning(text, "note", [Remedy(option, value)])


def _columns(names: Sequence[str], about: str = "") -> str:
    return f"Column{'s' * (len(names) > 1)} {about or listed(map(short_repr, names))}"


def _unnamed_index(names: Sequence[str]) -> str | None:
    return names[0] if names and names[0] in _UNNAMED else None


def _pandas_index(schema: Any) -> str | None:
    """The column that was the index of a pandas frame, according to the metadata of the file."""
    try:
        indices = json.loads((schema.metadata or {}).get(b"pandas", b"{}")).get("index_columns", [])
    except (ValueError, AttributeError, RecursionError):
        return None
    first = indices[0] if isinstance(indices, list) and len(indices) == 1 else None
    return first if isinstance(first, str) and first in schema.names else None
