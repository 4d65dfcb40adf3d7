"""How a file is read, and which of its columns are features, ids and metadata."""

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from mercer.data.dataset import Kind, Metadata
from mercer.data.validation import TIME_NAME, looks_like_id
from mercer.errors import DataError, MercerWarning, ParameterError, Remedy, UsageError, warn
from mercer.text import listed, short_repr

if TYPE_CHECKING:
    from mercer.data.arrow import TableReader

TABLES = ("csv", "parquet", "arrow")
_APPLIES_TO = {
    **dict.fromkeys(("header", "delimiter", "decimal", "encoding"), ("csv",)),
    **dict.fromkeys(("columns", "drop", "id", "label", "keep"), (*TABLES, "h5ad")),
    **dict.fromkeys(("layer", "obsm", "mask_var"), ("h5ad",)),
    "text": TABLES,
    "array": ("npz",),
    "resize": ("images",),
    "case": (*TABLES, "lines", "fasta"),
}  # option: formats that it is for; others are for all
_NAMED_DELIMITERS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "bar": "|", "blank": " "}
_ID_NAME = re.compile(r"(?i)ids?|row.?(names?|id)|(sample|subject|patient|case).?id|.*[ _.-]id|(?-i:.*[a-z]ID)|")
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
        defaults = {field.name: field.default for field in fields(cls)}
        checked: dict[str, Any] = {}
        for name, value in options.items():
            if name not in defaults:
                near = get_close_matches(str(name), defaults, 1)
                hint = f" Did you mean {near[0]}?" if near else ""
                raise UsageError(f"open_dataset has no option {short_repr(name)}.{hint}")
            checked[name] = value if value is defaults[name] else _check_option(name, value)
        made = cls(**checked)
        repeated = [name for name, count in Counter(made.columns or ()).items() if count > 1]
        if repeated:
            raise ParameterError("columns", made.columns, f"different names; {repeated[0]!r} is repeated")
        if made.decimal is not None and made.decimal == made.delimiter:
            raise ParameterError("decimal", made.decimal, "different from the delimiter")
        if made.layer is not None and made.obsm is not None:
            raise ParameterError("obsm", made.obsm, "None if layer is given: one matrix is read")
        return made

    @property
    def metadata(self) -> tuple[str, ...]:
        """Columns that are written in front of scores, each once, the label first."""
        return tuple(dict.fromkeys(name for name in (self.label, *self.keep) if name is not None))

    @property
    def named(self) -> set[str]:
        """Columns that are features, ids or metadata because their names are given."""
        return {name for name in (*(self.columns or ()), *self.metadata, self.id, self.text) if name is not None}

    def without_missing(self, known: Collection[str]) -> Self:
        """Optional metadata that are not among the known columns are removed."""
        if not self.optional_metadata:
            return self
        label = self.label if self.label in known else None
        return replace(self, label=label, keep=tuple(name for name in self.keep if name in known))

    def check_for(self, form: str, name: str) -> None:
        """Raise an error for options that do not apply to files of a format."""
        for field in fields(self):
            applies = _APPLIES_TO.get(field.name)
            if applies and form not in applies and getattr(self, field.name) != field.default:
                raise UsageError(f"{field.name} does not apply to {name}, which is read as {form}.")


_NAMES = ("columns", "drop", "keep")
_TESTS: dict[str, tuple[Callable[[Any], bool], str]] = {
    **dict.fromkeys(_NAMES, (lambda names: all(isinstance(name, str) for name in names), "a list of column names")),
    **dict.fromkeys(
        ("transpose", "header", "optional_metadata"), (lambda value: isinstance(value, bool), "True or False")
    ),
    "mask_var": (lambda value: isinstance(value, (bool, str)), "the name of a column, False or None"),
    "delimiter": (
        lambda mark: isinstance(mark, str) and len(mark) == 1 and mark not in '\r\n"' and mark <= "~",
        'one character, "tab" or "blank"',
    ),
    "decimal": (lambda value: value in (".", ","), '"." or ","'),
    "case": (lambda value: value in ("upper", "lower"), '"upper" or "lower"'),
}  # other options are strings


def _check_option(name: str, value: Any) -> Any:
    if name in _NAMES:
        value = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else (value,)
    elif name == "delimiter" and isinstance(value, str):
        value = _NAMED_DELIMITERS.get(value, value)
    test, requirement = _TESTS.get(name, (lambda value: isinstance(value, str), "a string or None"))
    if not test(value):
        raise ParameterError(name, value, requirement)
    return value


class Roles(NamedTuple):
    """What the columns of a table are used for."""

    features: tuple[str, ...]
    metadata: Metadata
    notes: tuple[MercerWarning, ...] = ()


def assign_roles(reader: "TableReader", options: ReadOptions, kind: Kind) -> Roles:
    """Decide what each column is, and read ids and metadata in one pass.

    Explicit options come first. Then the index that R or pandas wrote, else the first column of strings that are
    all different, is the id; integer columns that identify or count rows are not features; other columns that are
    not numeric are left out with a warning. Names in `columns` override each guess.
    """
    options = check_names(reader.schema.names, options, reader.name)
    index = _find_index(reader.schema, options)
    candidates = [n for n in _candidates(reader.schema.names, options, kind) if n != index]
    others = _check_numeric(reader, candidates, options) if kind == "vectors" else []
    counters, strings = [], []
    if options.columns is None and kind in ("vectors", "table"):
        counters = _find_counters(reader, candidates, n_features=len(candidates) - len(others))
        if options.id is None and (kind == "vectors" or len(candidates) > 1):  # never the only column of a table
            strings = [n for n in candidates if reader.is_string(n)][:1]
    guesses = [*(strings if index is None else [index]), *counters]
    given = [] if options.id is None else [options.id]
    names = [*options.metadata, *given, *guesses]
    found = reader.read_columns(names, reader.memory // 2, guesses, [*given, *guesses])

    distinct = [n for n in guesses if n in found and not _id_defect(found[n])]
    counters = [n for n in counters if n in distinct or n not in found or _ID_NAME.fullmatch(n)]
    id_name = _choose_id(reader, options, index, found, distinct)
    notes = *reader.notes, *_notes_on_ids(options, id_name, counters)
    left_out = [n for n in others if n != id_name]
    if left_out:
        verb = "is" if len(left_out) == 1 else "are"
        text = f"{_columns(_described(reader, left_out))} of {reader.name} {verb} not numeric and left out."
        warn(text, remedies=[Remedy("drop", left_out[:5]), Remedy("keep", left_out[:5])])

    none = {id_name, *counters, *others} - {*(options.columns or ())}
    features = tuple(n for n in candidates if n not in none)
    if not features:
        raise DataError(f"{reader.name} has no columns left that are features.", source=reader.name)
    kept = dict.fromkeys(n for n in (id_name, *options.metadata) if n is not None)
    return Roles(features, Metadata({n: found[n] for n in kept}, id_name, options.label), notes)


def _notes_on_ids(options: ReadOptions, id_name: str | None, counters: Sequence[str]) -> Iterator[MercerWarning]:
    """What was taken for an id, and which other columns identify rows, with the options that decide otherwise."""
    if id_name is not None and id_name != options.id:
        remedies = [Remedy("id", id_name)]
        if id_name in counters:  # a column of numbers, which might be a feature
            remedies.append(Remedy("columns", [id_name, "…"]))
        yield MercerWarning(f"Ids from column {short_repr(id_name)}.", "note", remedies)
    unused = [n for n in counters if n != id_name]
    if unused:
        verbs = "identifies rows and is not a feature" if len(unused) == 1 else "identify rows and are not features"
        remedies = [Remedy("drop", unused[:5]), Remedy("columns", [*unused[:5], "…"])]
        yield MercerWarning(f"{_columns(map(short_repr, unused))} {verbs}.", "note", remedies)


def _choose_id(
    reader: "TableReader", options: ReadOptions, index: str | None, found: Mapping[str, Any], distinct: Sequence[str]
) -> str | None:
    """The column that was named, which must be distinct; else the index, strings or integers that are."""
    if options.id is not None:
        if defect := _id_defect(found[options.id]):
            text = f"Column {short_repr(options.id)} of {reader.name} cannot be the id: {defect}."
            raise DataError(text, source=reader.name, column=options.id, remedies=[Remedy("keep", [options.id])])
        return options.id
    if index is None or index in distinct:
        return distinct[0] if distinct else None
    reason = "is an index with duplicates" if index in found else "is an index that exceeds half of the memory limit"
    warn(f"Column {short_repr(index)} of {reader.name} {reason}. It is left out.")
    return None


def _candidates(names: Sequence[str], options: ReadOptions, kind: Kind) -> list[str]:
    """The columns that may be features: in the order of `columns`, else in that of the file."""
    if kind == "strings" and options.text is not None:
        return [options.text]
    if options.columns is not None:  # a label among them is a feature as well: of a model that was fitted with it
        return [n for n in options.columns if n not in options.drop]
    used = {*options.drop, *options.metadata, options.id}
    return [n for n in names if n not in used and not _INDEX_LEVEL.fullmatch(n)]


def _find_index(schema: Any, options: ReadOptions) -> str | None:
    """The column that pandas or R wrote as the names of rows, unless it is used for something else."""
    try:
        indices = json.loads((schema.metadata or {}).get(b"pandas", b"{}")).get("index_columns", [])
    except (ValueError, AttributeError, RecursionError):
        indices = []
    index = indices[0] if isinstance(indices, list) and len(indices) == 1 else None
    if not isinstance(index, str) or index not in schema.names:
        index = schema.names[0] if schema.names and schema.names[0] in _UNNAMED else None
    return None if options.id is not None or index in {*options.drop, *options.named} else index


def _find_counters(reader: "TableReader", candidates: Sequence[str], n_features: int) -> list[str]:
    """Integer columns that are named like ids or count rows; none if no feature would remain."""
    integers = [n for n in candidates if reader.is_integer(n)]
    named = [n for n in integers if _ID_NAME.fullmatch(n) or looks_like_id(n)]
    counting = reader.find_counting([n for n in integers if n not in named and not TIME_NAME.fullmatch(n)])
    found = [n for n in integers if n in {*named, *counting}]
    return found if len(found) < n_features else []


def _check_numeric(reader: "TableReader", candidates: Sequence[str], options: ReadOptions) -> list[str]:
    """The columns that are not numeric. An error if they were meant to be, or if no others are left."""
    others = [n for n in candidates if not reader.is_numeric(n)]
    if options.columns is not None:
        wrong = others
    else:
        wrong = reader.find_misspelled_numbers([n for n in others if not _ID_NAME.fullmatch(n)])
    if wrong or (others and len(others) == len(candidates)):
        raise _not_numeric_error(reader, wrong or others, none_left=not wrong)
    return others


def _not_numeric_error(reader: "TableReader", columns: Sequence[str], none_left: bool) -> DataError:
    """The error for columns that are not numeric, with the first cell that is not a number."""
    row, value = reader.first_text(columns[0])
    codes = [n for n in columns if n in reader.codes]
    hint, remedies = ("", ()) if codes else reader.hint_for(value)
    where = "" if row is None else f" The first such value is {short_repr(value, 40)} in {reader.locate(row)}.{hint}"
    what = "has no numeric columns:" if none_left else "has columns that are not numeric:"
    more = [Remedy("columns", codes[:5])] if codes else [] if none_left else [Remedy("drop", list(columns[:5]))]
    return DataError(
        f"{reader.name} {what} {listed(_described(reader, columns))}.{where}",
        source=reader.name,
        row=row,
        column=columns[0],
        value=value or None,
        remedies=[*remedies, *more],
    )


def _described(reader: "TableReader", columns: Sequence[str]) -> list[str]:
    return [f"{short_repr(n)} ({reader.describe(n)})" for n in columns]


def _columns(names: Iterable[str]) -> str:
    names = list(names)
    return f"Column{'s' * (len(names) > 1)} {listed(names)}"


def _id_defect(column: Any) -> str:
    """Why a column cannot be the id; "" if its values are present and all different."""
    head = column.slice(0, 1000)  # these usually show it
    some = head if len(head.unique()) < len(head) else column
    if len(some.unique()) < len(some):
        counts = some.value_counts()
        value = counts.field(0)[int(counts.field(1).to_numpy().argmax())].as_py()
        return f"{short_repr(value)} occurs more than once" if value not in (None, "") else "values are missing"
    missing = column.null_count or ("string" in str(column.type) and column.index("").as_py() >= 0)
    return "a value is missing" if missing else ""


def check_names(names: Sequence[str], options: ReadOptions, name: str) -> ReadOptions:
    """Check the names in the options against those of the table. Optional metadata that is missing is removed."""
    check_unique(names, name)
    options = options.without_missing(set(names))
    check_known([*options.drop, *options.named], names, name)
    if options.id is not None and options.id in (options.columns or ()):
        raise ParameterError("id", options.id, "a column that is not in columns")
    if options.columns is None and "" in names[1:] and "" not in {*options.drop, *options.named}:
        text = f"{name} has a column without a name that is not the first one."
        raise DataError(text, source=name, remedies=[Remedy("drop", [""])])
    return options


def check_unique(names: Sequence[str], name: str) -> None:
    """Raise an error for names that occur more than once."""
    twice = [n for n, count in Counter(names).items() if count > 1]
    if twice:
        raise DataError(f"{name} has more than one column named {listed(map(short_repr, twice))}.", source=name)


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
