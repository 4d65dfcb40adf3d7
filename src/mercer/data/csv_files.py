"""CSV and its relatives: detection of the format, and a reader that parses with Arrow."""

import codecs
import csv
import gzip
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from io import TextIOWrapper
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv as arrow_csv
from pyarrow import types

from mercer.budget import format_bytes
from mercer.data.arrow import NUMBER, TableReader, hint_for
from mercer.data.read_options import ReadOptions
from mercer.data.reading import check_regular, guess_format, stamp
from mercer.errors import DataError, MemoryLimitError, MercerWarning, Remedy, warn
from mercer.text import counted, listed, printable, short_repr

_DELIMITERS = (",", ";", "\t", "|")
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}  # in this order: the mark of UTF-32 begins like that of UTF-16
_COMPRESSED = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}
_BLOCK, _AHEAD = 1 << 20, 48  # bytes that are parsed at a time; blocks that Arrow reads ahead, even without threads
_HEAD = 16 << 20  # bytes in which the first line must end
_LINES = 20  # that detection looks at
_COLUMN_BYTES = 7_000  # that Arrow takes for a column with twelve spellings of missing values
_NULLS = ["", "NA", "na", "N/A", "NaN", "nan", "null", "NULL", "None", "?", "-", "."]
_MORE_NULLS = [*_NULLS, "n/a", "NAN", "-nan", "-NaN", "Null", "none", "NONE", "missing", "Missing", "--", "#N/A", "#NA"]
_FEW_COLUMNS = 2_000  # tables with more columns know the common spellings only
_MISSING = {text.lower() for text in _MORE_NULLS}
_INFINITY = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
_WITH_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?", re.ASCII)
_WITH_POINT = re.compile(r"[+-]?\d*\.\d+(?:[eE][+-]?\d+)?", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.ASCII)
_CODE = re.compile(r"0\d+|\+\d{8,}|\d{17,}", re.ASCII)  # 007, telephone numbers, more digits than float64 has
_QUOTED = r'"([^"]*(?:""[^"]*)*)"'
_LINE_END = re.compile(r"\r\n|\n|\r")
_CONVERSION = re.compile(
    r"In CSV column #(\d+): (?:Row #(\d+): )?CSV conversion error to [^:]+: invalid value '(.*)'", re.DOTALL
)
_LENGTH = re.compile(r"(?:Row #(\d+): )?Expected (\d+) columns, got (\d+)")


@dataclass(frozen=True)
class CsvFormat:
    """How a text file writes a table."""

    delimiter: str
    decimal: str
    encoding: str
    header: bool
    names: tuple[str, ...]
    skip_rows: int  # lines before the first row
    text_columns: frozenset[str]  # digits that are codes: zeros in front, or too many digits
    line_bytes: int  # longest of the first lines

    @property
    def notes(self) -> tuple[MercerWarning, ...]:
        """What was detected, with the option that corrects it."""
        found = [MercerWarning(f"Delimiter {self.delimiter!r}.", "note", [Remedy("delimiter", self.delimiter)])]
        if self.decimal == ",":
            found.append(MercerWarning("Decimal comma.", "note", [Remedy("decimal", ".")]))
        if not self.header:
            found.append(MercerWarning("The first line is a row.", "note", [Remedy("header", True)]))
        return tuple(found)


def detect_format(path: Path, options: ReadOptions, memory: int) -> CsvFormat:
    """Detect encoding, delimiter, decimal mark and header from the first lines, as far as options leave them open."""
    head, encoding = _read_head(path, options.encoding)
    first, before, n_lines, others = _first_lines(head, path)
    n_columns = max(first.count(mark) for mark in ([options.delimiter] if options.delimiter else _DELIMITERS)) + 1
    if n_columns * _COLUMN_BYTES > memory:  # before the line is taken apart
        raise MemoryLimitError(
            f"{printable(path)} has about {n_columns:,} columns. Parsing them as text takes "
            f"{format_bytes(n_columns * _COLUMN_BYTES)}, and the limit is {format_bytes(memory)}. Store the table as "
            "Parquet or .npy.",
            needed=n_columns * _COLUMN_BYTES,
            limit=memory,
        )
    delimiter = options.delimiter or _detect_delimiter([first, *others])
    rows = [[field.strip() for field in _split(line, delimiter)] for line in [first, *others]]
    decimal = options.decimal or _detect_decimal(rows, delimiter)
    header = options.header if options.header is not None else _detect_header(rows[0], decimal, path)
    names = tuple(rows[0]) if header else tuple(map(str, range(len(rows[0]))))
    body = rows[1:] if header else rows
    if header and len(body) > 1 and all(len(row) == len(names) + 1 and row[-1] != "" for row in body):
        names = names if names[0].startswith("#") else ("", *names)  # R leaves out the name of the row names
    codes = {j for row in body for j, field in enumerate(row) if _CODE.fullmatch(field)}
    text = frozenset(name for j, name in enumerate(names) if j in codes)
    longest = max(len(line.encode("utf-8", "replace")) for line in [first, *others])
    return CsvFormat(delimiter, decimal, encoding, header, names, before + n_lines if header else 0, text, longest)


def _open_bytes(path: Path) -> Any:
    compression = _COMPRESSED.get(path.suffix.lower())
    if compression is None:
        return path.open("rb")
    return gzip.open(path) if compression == "gzip" else pa.input_stream(str(path), compression=compression)


def _read_head(path: Path, encoding: str | None) -> tuple[str, str]:
    """The first complete lines, and the encoding."""
    head = b""
    with _open_bytes(path) as file:
        while len(head) < _HEAD and (more := file.read(_BLOCK)):
            head += more
            if len(re.split(rb"\r\n|\n|\r", head.strip(), maxsplit=2)) > 2:
                break
    given = encoding
    if encoding is None:
        encoding = next((name for mark, name in _MARKS.items() if head.startswith(mark)), "utf-8")
    try:
        known = codecs.lookup(encoding)
        if not known._is_text_encoding:
            raise LookupError
    except (LookupError, ValueError):
        raise DataError(
            f"encoding={encoding!r} does not exist.", source=path, remedies=[Remedy("encoding", "utf-8")]
        ) from None
    encoding = "utf-8" if known.name == "utf-8-sig" else known.name
    decoder: Any = codecs.getincrementaldecoder(encoding)()  # incomplete characters at the end are left out
    try:
        text = decoder.decode(head)
    except UnicodeError as error:
        if given is not None or encoding != "utf-8":
            raise DataError(f"{printable(path)} is not {encoding.upper()}: {error}.", source=path) from None
        encoding, text = "latin-1", head.decode("latin-1")
    return text.removeprefix("\ufeff"), encoding


def _first_lines(head: str, path: Path) -> tuple[str, int, int, list[str]]:
    """The first record, lines before it, lines it takes, and the next records."""
    lines = _LINE_END.split(head)
    before = next((i for i, line in enumerate(lines) if line.strip()), None)
    if before is None:
        raise DataError(f"{printable(path)} is empty.", source=path)
    record, taken = lines[before], 1
    while record.count('"') % 2 and before + taken < min(len(lines), 100):  # a name continues in the next line
        record, taken = f"{record}\n{lines[before + taken]}", taken + 1
    if len(lines) == 1 and len(head) >= _HEAD // 4:
        raise DataError(
            f"The first line of {printable(path)} does not end within {len(head):,} characters.", source=path
        )
    if "\0" in record:
        raise DataError(f"{printable(path)} is not a text file: there are NUL bytes in its first line.", source=path)
    others = [line for line in lines[before + taken :][: _LINES + 1] if line.strip()][:_LINES]
    return record, before, taken, others


def _split(line: str, mark: str) -> list[str]:
    """The fields of a line; in quotes, two quotes stand for one."""
    if '"' not in line:
        return line.split(mark)
    mark = re.escape(mark)
    fields = re.findall(rf"{mark}(?:{_QUOTED}[^{mark}]*|([^{mark}]*))", f"{mark[-1]}{line}")
    return [other or quoted.replace('""', '"') for quoted, other in fields]


def _detect_delimiter(lines: list[str]) -> str:
    """The mark that makes most fields. A comma may be a decimal one if another mark separates as well."""
    for mark in _DELIMITERS[1:]:
        rows = [_split(line, mark) for line in lines]
        commas = [field.strip() for row in rows for field in row if "," in field]
        alike = len(rows[0]) > 1 and len({*map(len, rows)}) == 1
        if alike and commas and all(_WITH_COMMA.fullmatch(field) for field in commas):
            return mark
    likely = max(_DELIMITERS, key=lambda mark: len(_split(lines[0], mark)))
    return " " if len(_split(lines[0], likely)) == 1 and _is_split_by_blanks(lines) else likely


def _is_split_by_blanks(lines: list[str]) -> bool:
    """Numbers and quoted strings with single blanks between them, as write.table and savetxt write."""
    first, *rows = (re.sub(_QUOTED, "0", line.strip()).split(" ") for line in lines)
    if not rows or len({*map(len, rows)}) > 1 or not 1 < len(rows[0]) <= len(first) + 1:
        return False
    if not all(field and _is_number(field) for row in rows for field in row):
        return False
    grouped = all(len(field) == 3 and field.isdigit() for row in rows for field in row[1:])  # 1 234 is one number
    if len(rows[0]) == len(first) + 1:
        return all(line.startswith('"') for line in lines)
    return len(rows[0]) == len(first) and ('" "' in lines[0] or not grouped)


def _detect_decimal(rows: list[list[str]], delimiter: str) -> str:
    """A comma if some number cannot be a thousands group, and no number has a point."""
    fields = [field for row in rows for field in row] if delimiter != "," else []
    commas = [field for field in fields if _WITH_COMMA.fullmatch(field)]
    sure = any(not _THOUSANDS.fullmatch(field) for field in commas)
    return "," if sure and not any(_WITH_POINT.fullmatch(field) for field in fields) else "."


def _detect_header(first: list[str], decimal: str, path: Path) -> bool:
    """The first line is a header unless all fields are numbers or missing."""
    fields = [field.replace(",", ".") if decimal == "," else field for field in first]
    header = not all(_is_number(field) or field.lower() in _MISSING for field in fields)
    numbers = [field for field in fields if NUMBER.fullmatch(field)]
    years = (
        len(numbers) > 1
        and all(f.isdigit() for f in numbers)
        and all(int(b) - int(a) == 1 for a, b in pairwise(numbers))
    )
    if years and not header:
        warn(
            f"The first line of {printable(path)} is read as a row: {listed(first, 3)}.",
            remedies=[Remedy("header", True)],
        )
    if header and numbers and not years:
        warn(
            f"The first line of {printable(path)} is read as column names, and some are numbers: {listed(first, 3)}.",
            remedies=[Remedy("header", False)],
        )
    return header


def _is_number(field: str) -> bool:
    return bool(NUMBER.fullmatch(field) or _INFINITY.fullmatch(field) or field.lower() in _MISSING)


class _Checks:
    """Counts quotes and checks UTF-8 while Arrow reads the file for the first time."""

    def __init__(self, encoding: str) -> None:
        self.n_quotes = 0
        self.decoder: Any = codecs.getincrementaldecoder("utf-8")() if encoding == "utf-8" else None

    def __call__(self, data: Any) -> Any:
        data = bytes(data)
        self.n_quotes += data.count(b'"')
        if self.decoder is not None and (not data.isascii() or self.decoder.getstate()[0]):
            self.decoder.decode(data)  # raises UnicodeDecodeError
        return data


class CsvReader(TableReader):
    """A text table, parsed again in every pass. The first pass counts rows and reads ids and metadata."""

    def __init__(self, path: Path, options: ReadOptions, memory: int) -> None:
        check_regular(path)
        if kind := guess_format(path):
            raise DataError(f"Cannot read {printable(path)}: it is {kind}.", source=path)
        self.name, self.path, self.memory = printable(path), path, memory
        self.format = detect_format(path, options, memory)
        if self.format.encoding == "latin-1" and options.encoding is None:
            self._warn_about_latin()
        self._given_encoding = options.encoding
        fitting = memory // (4 * _AHEAD)  # a quarter of the limit is for blocks that Arrow reads ahead
        self._block = max(1 << 16, min(_BLOCK, fitting), 4 * self.format.line_bytes)
        self.schema = self._infer_schema(options.header)
        self.notes = self.format.notes
        self._num_rows: int | None = None

    @property
    def num_rows(self) -> int:  # type: ignore[override]
        if self._num_rows is None:
            for _ in self.complete_batches([self.format.names[0]]):
                pass
        assert self._num_rows is not None
        return self._num_rows

    def _infer_schema(self, header: bool | None) -> pa.Schema:
        """Types from the first block. Values of another type that come later are errors with their row."""
        try:
            with self._open({name: pa.string() for name in self.format.text_columns}, all_columns=True) as reader:
                schema = reader.schema
        except (pa.ArrowInvalid, UnicodeDecodeError) as error:
            if "Empty CSV" in str(error) or "Could not skip" in str(error):
                raise DataError(f"{self.name} has a header and no rows.", source=self.name) from None
            raise explain_csv_error(error, self) from None
        binary = [field.name for field in schema if types.is_binary(field.type)]
        return pa.schema([(f.name, pa.string() if f.name in binary else f.type) for f in schema])

    def reading_bytes(self, columns: Sequence[str]) -> int:
        return _AHEAD * self._block + _COLUMN_BYTES * len(self.format.names)

    def fingerprint(self) -> object:
        return stamp(self.path)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        kinds = {name: self.schema.field(name).type for name in columns}
        number = {name: kind for name, kind in kinds.items() if self.is_numeric(kind) and not types.is_boolean(kind)}
        return self._read({name: pa.float64() if name in number else kind for name, kind in kinds.items()})

    def text_batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        return self._read(dict.fromkeys(columns, pa.string()))

    def complete_batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """As text_batches. The first complete pass counts rows and checks quotes and encoding."""
        checks, n_rows = _Checks(self.format.encoding) if self._num_rows is None else None, 0
        for batch in self._read(dict.fromkeys(columns, pa.string()), checks):
            n_rows += batch.num_rows
            yield batch
        if checks is not None and checks.n_quotes % 2:
            self._check_quotes()
        self._num_rows = n_rows

    def _read(self, kinds: dict[str, pa.DataType], checks: _Checks | None = None) -> Iterator[pa.RecordBatch]:
        try:
            with self._open(kinds, checks) as reader:
                yield from reader
        except (pa.ArrowInvalid, UnicodeDecodeError) as error:
            raise explain_csv_error(error, self) from None

    def read_columns(
        self, names: Sequence[str], budget: int, optional: Sequence[str] = ()
    ) -> dict[str, pa.ChunkedArray]:
        """Whole columns as strings. A byte that is not UTF-8 anywhere in the file makes it Latin-1."""
        try:
            found = super().read_columns(names, budget, optional)
            self.num_rows  # noqa: B018 - the first pass, unless the columns were it
        except DataError as error:
            if not isinstance(error.__cause__ or error.__context__, UnicodeDecodeError) and "UTF8" not in str(error):
                raise
            if self._given_encoding or self.format.encoding != "utf-8":
                raise
            self._warn_about_latin()
            self.format = replace(self.format, encoding="latin-1")
            return self.read_columns(names, budget, optional)
        return found

    def _warn_about_latin(self) -> None:
        warn(f"{self.name} is not UTF-8 and is read as Latin-1.", remedies=[Remedy("encoding", "cp1252")])

    def _check_quotes(self) -> None:
        """An open quote swallows all rows that follow, without an error in Arrow. It makes their number odd."""
        encoding = "utf-8-sig" if self.format.encoding == "utf-8" else self.format.encoding
        csv.field_size_limit(1 << 30)
        with TextIOWrapper(_open_bytes(self.path), encoding, errors="replace", newline="") as file:
            reader = csv.reader(file, delimiter=self.format.delimiter, strict=True)
            try:
                for _ in reader:
                    pass
            except csv.Error as error:
                raise DataError(
                    f"{self.name}, line {reader.line_num}: {error}. A quote is not closed.", source=self.name
                ) from None

    def as_number(self, cell: str) -> str:
        return cell if self.format.decimal == "." else cell.replace(".", " ").replace(",", ".")

    def is_missing(self, cell: str) -> bool:
        return cell.strip().lower() in _MISSING

    def are_codes(self, column: str) -> bool:
        return column in self.format.text_columns

    def _open(self, kinds: dict[str, pa.DataType], checks: _Checks | None = None, all_columns: bool = False) -> Any:
        compression = _COMPRESSED.get(self.path.suffix.lower())
        source: Any = pa.input_stream(str(self.path), compression=compression) if compression else str(self.path)
        if checks is not None:
            source = source if compression else pa.input_stream(str(self.path), compression=None)
            source = pa.TransformInputStream(source, checks)
        return arrow_csv.open_csv(
            source,
            read_options=arrow_csv.ReadOptions(
                column_names=list(self.format.names),
                skip_rows=self.format.skip_rows,
                block_size=self._block,
                use_threads=False,
                encoding="utf8" if self.format.encoding == "utf-8" else self.format.encoding,
            ),
            parse_options=arrow_csv.ParseOptions(delimiter=self.format.delimiter, newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(
                column_types=kinds,
                include_columns=[] if all_columns else list(kinds),
                null_values=_MORE_NULLS if len(self.format.names) <= _FEW_COLUMNS else _NULLS,
                strings_can_be_null=False,
                decimal_point=self.format.decimal,
            ),
        )


def explain_csv_error(error: Exception, reader: CsvReader) -> DataError:
    """Arrow's error with the row, the column and what is expected there."""
    text = str(error)
    if match := _CONVERSION.search(text):
        j, row, value = int(match[1]), match[2], match[3]
        name = reader.format.names[j] if j < len(reader.format.names) else str(j)
        at = None if row is None else int(row) - 1 - reader.format.skip_rows
        where = "" if at is None else f" in {reader.locate(at)}"
        return DataError(
            f"Column {short_repr(name)} of {reader.name} has the value {short_repr(value, 40)}{where}, which is not a "
            f"number.{hint_for(value)}",
            source=reader.name,
            row=at,
            column=name,
            value=value,
            remedies=[Remedy("drop", [name])],
        )
    if match := _LENGTH.search(text):
        at = None if match[1] is None else int(match[1]) - 1 - reader.format.skip_rows
        where = "A row" if at is None else reader.locate(at).capitalize()
        return DataError(
            f"{where} of {reader.name} has {counted(int(match[3]), 'field')}, and the first line has {int(match[2])} "
            f"(delimiter {reader.format.delimiter!r}).",
            source=reader.name,
            row=at,
        )
    made = DataError(f"Cannot read {reader.name}: {short_repr(text, 200)}.", source=reader.name)
    made.__cause__ = error
    return made
