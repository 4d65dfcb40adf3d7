"""CSV and its relatives: detection of the format, and a reader that parses with Arrow."""

import codecs
import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import csv as arrow_csv
from pyarrow import types

from mercer.budget import format_bytes
from mercer.data.arrow import MISSING, NUMBER, TableReader, is_missing, is_numeric
from mercer.data.read_options import ReadOptions, check_unique
from mercer.data.reading import check_memory, check_regular, guess_format, unreadable
from mercer.errors import DataError, MercerWarning, Remedy, warn
from mercer.text import counted, listed, printable, short_repr

_DELIMITERS = (",", ";", "\t", "|")
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}  # in this order: the mark of UTF-32 begins like that of UTF-16
_COMPRESSED = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}
_BLOCK = 1 << 20  # bytes that are parsed at a time
_BLOCK_PER_COLUMN = 1000  # bytes; Arrow prepares each column for each block
_TIMES_BLOCK = 12  # memory for a block: the text, its fields, numbers and the rows made of them
_TIMES_RECORD, _QUOTE_BYTES = 3, 24  # memory for a record that goes on beyond its block, and for each quote in it
_HEAD = 16 << 20  # bytes in which the first line must end
_LINES = 20  # that detection looks at
_FIELDS = 1000  # of each line that decide whether blanks separate numbers
_COLUMN_BYTES = 7_000  # that Arrow takes for a column with twelve spellings of missing values
_FEW_COLUMNS, _FEW_SPELLINGS = 2_000, 12  # tables with more columns know the common missing values only
_INFINITY = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
_WITH_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?", re.ASCII)
_WITH_POINT = re.compile(r"[+-]?\d*\.\d+(?:[eE][+-]?\d+)?", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.ASCII)
_NO_DIGITS = r"[0-9][.,eE]|[.,][0-9]|[A-Za-z]{4}"  # decimals, true and false
_CODE = r"^\s*(0[0-9]+|\+[0-9]{8,}|[0-9]{17,})\s*$"  # 007, telephone numbers, more digits than float64 has
_QUOTED = r'"([^"]*(?:""[^"]*)*)"'
_UNEVEN = re.compile(rb'"|\A[\r\n]|\n[\r\n]|\r\r')  # there may be rows of several lines, or empty lines
_LINE_END = re.compile(r"\r\n|\n|\r")
_CONVERSION = re.compile(
    r"In CSV column #(\d+): (?:Row #(\d+): )?CSV conversion error to ([^:]+): invalid value '(.*)'", re.DOTALL
)
_LENGTH = re.compile(r"(?:Row #(\d+): )?Expected (\d+) columns, got (\d+)")


class CsvFormat(NamedTuple):
    """How a text file writes a table."""

    delimiter: str
    decimal: str
    encoding: str
    header: bool
    names: tuple[str, ...]
    skip_lines: int  # before the first row
    line_bytes: int  # longest of the first lines

    @property
    def notes(self) -> tuple[MercerWarning, ...]:
        """What was detected, with the option that corrects it."""
        found = (
            (True, f"Delimiter {self.delimiter!r}.", Remedy("delimiter", self.delimiter)),
            (self.decimal == ",", "Decimal comma.", Remedy("decimal", ".")),
            (self.encoding != "utf-8", f"Encoding {self.encoding}.", Remedy("encoding", "utf-8")),
            (not self.header, "The first line is a row.", Remedy("header", True)),
        )
        return tuple(MercerWarning(text, "note", [remedy]) for is_so, text, remedy in found if is_so)


def detect_format(path: Path, options: ReadOptions, memory: int) -> CsvFormat:
    """Detect encoding, delimiter, decimal mark and header from the first lines, as far as options leave them open."""
    head, encoding = _read_head(path, options.encoding)
    first, before, n_lines, others = _first_lines(head, path)
    n_columns = max(first.count(mark) for mark in ([options.delimiter] if options.delimiter else _DELIMITERS)) + 1
    _check_width(path, n_columns, memory)  # before the line is taken apart
    delimiter = options.delimiter or _detect_delimiter([first, *others])
    _check_width(path, first.count(delimiter) + 1, memory)
    rows = [[field.strip() for field in _split(line, delimiter)] for line in [first, *others]]
    decimal = options.decimal or _detect_decimal(rows, delimiter)
    header = options.header if options.header is not None else _detect_header(rows[0], decimal, path)
    names = tuple(rows[0]) if header else tuple(map(str, range(len(rows[0]))))
    body = rows[1:] if header else rows
    if header and len(body) > 1 and all(len(row) == len(names) + 1 and row[-1] != "" for row in body):
        names = names if names[0].startswith("#") else ("", *names)  # R leaves out the name of the row names
    longest = max(len(line.encode("utf-8", "replace")) for line in [first, *others])
    return CsvFormat(delimiter, decimal, encoding, header, names, before + n_lines if header else 0, longest)


def _block_bytes(n_columns: int, memory: int) -> int:
    """Bytes that are parsed at a time."""
    return max(1 << 12, min(max(_BLOCK, _BLOCK_PER_COLUMN * n_columns), memory // 64))


def _check_width(path: Path, n_columns: int, memory: int) -> None:
    needed = n_columns * _COLUMN_BYTES + _TIMES_BLOCK * _block_bytes(n_columns, memory)
    what = f"{counted(n_columns, 'column')} of text in {printable(path)}"
    check_memory(what, needed, memory, " Store the table as Parquet or .npy.")


def _open_bytes(path: Path) -> Any:
    compression = _COMPRESSED.get(path.suffix.lower())
    return pa.input_stream(str(path), compression=compression) if compression else path.open("rb", buffering=0)


def _read_head(path: Path, encoding: str | None) -> tuple[str, str]:
    """The first complete lines, and the encoding."""
    head = b""
    with _open_bytes(path) as file:
        while len(head) < _HEAD and (more := file.read(_BLOCK)):
            head += more
            if len(re.split(rb"\r\n|\n|\r", head.strip(), maxsplit=2)) > 2:
                head = head[: max(head.rfind(b"\n"), head.rfind(b"\r")) + 1]  # the last line may be incomplete
                break
    if encoding is None:
        encoding = next((name for mark, name in _MARKS.items() if head.startswith(mark)), "utf-8")
        even, odd = head[:1000:2].count(0), head[1:1000:2].count(0)  # in UTF-16, half of the bytes of Latin letters
        if encoding == "utf-8" and max(even, odd) > len(head[:1000]) // 4 and not min(even, odd):
            remedies = [Remedy("encoding", "utf-16-le" if odd else "utf-16-be")]
            raise DataError(f"{printable(path)} has NUL bytes, as UTF-16 has.", source=path, remedies=remedies)
    try:
        known = codecs.lookup(encoding)
        if not known._is_text_encoding:
            raise LookupError
    except (LookupError, ValueError):
        remedies = [Remedy("encoding", "utf-8")]
        raise DataError(f"encoding={encoding!r} is not known.", source=path, remedies=remedies) from None
    encoding = {"utf-8-sig": "utf-8", "iso8859-1": "latin-1"}.get(known.name, known.name)
    decoder: Any = codecs.getincrementaldecoder(encoding)()  # incomplete characters at the end are left out
    return decoder.decode(head).removeprefix("\ufeff"), encoding


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
        text = f"The first line of {printable(path)} does not end within {len(head):,} characters."
        raise DataError(text, source=path)
    if "\0" in record:
        raise DataError(f"{printable(path)} has NUL bytes in its first line: it is not text.", source=path)
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
    first, *others = (re.sub(_QUOTED, "0", line.strip()) for line in lines)
    n_first, widths = first.count(" ") + 1, {line.count(" ") + 1 for line in others}
    if len(widths) != 1 or not 1 < (width := widths.pop()) <= n_first + 1:
        return False
    rows = [line.split(" ", _FIELDS)[:_FIELDS] for line in others]
    if not all(field and _is_number(field) for row in rows for field in row):
        return False
    grouped = all(len(field) == 3 and field.isdigit() for row in rows for field in row[1:])  # 1 234 is one number
    if width == n_first + 1:
        return all(line.startswith('"') for line in lines)
    return width == n_first and ('" "' in lines[0] or not grouped)


def _detect_decimal(rows: list[list[str]], delimiter: str) -> str:
    """A comma if some number cannot be a thousands group, and no number has a point."""
    fields = [field for row in rows for field in row] if delimiter != "," else []
    commas = [field for field in fields if _WITH_COMMA.fullmatch(field)]
    sure = any(not _THOUSANDS.fullmatch(field) for field in commas)
    return "," if sure and not any(_WITH_POINT.fullmatch(field) for field in fields) else "."


def _detect_header(first: list[str], decimal: str, path: Path) -> bool:
    """The first line is a header unless all fields are numbers or missing."""
    fields = [field.replace(",", ".") if decimal == "," else field for field in first]
    header = not all(_is_number(field) for field in fields)
    numbers = [field for field in fields if NUMBER.fullmatch(field)]
    integers = [int(field) for field in numbers if field.isdigit()]
    years = len(integers) == len(numbers) > 1 and all(b - a == 1 for a, b in pairwise(integers))
    about = f"The first line of {printable(path)} is read as"
    if years and not header:
        warn(f"{about} a row: {listed(first, 3)}.", remedies=[Remedy("header", True)])
    if header and numbers and not years:
        warn(f"{about} column names, and some are numbers: {listed(first, 3)}.", remedies=[Remedy("header", False)])
    return header


def _is_number(field: str) -> bool:
    return bool(NUMBER.fullmatch(field) or _INFINITY.fullmatch(field) or is_missing(field))


class CsvReader(TableReader):
    """A text table, parsed again in every pass.

    Complete records are cut out here and parsed by Arrow block by block in the calling thread. Arrow's own reader of
    streams reads 48 blocks ahead, and a Python callback in its threads can end or block the process at exit.
    """

    is_text = True
    path: Path

    def __init__(self, path: Path, options: ReadOptions, memory: int) -> None:
        check_regular(path)
        if kind := guess_format(path):
            raise unreadable(path, f"it is {kind}")
        self.name, self.path, self.memory = printable(path), path, memory
        try:
            self._prepare(options)
        except UnicodeError as error:
            if options.encoding is not None or not isinstance(error, UnicodeDecodeError) or error.encoding != "utf-8":
                text = f"{self.name} is not valid {getattr(error, 'encoding', '')}: {getattr(error, 'reason', error)}."
                remedies = [Remedy("encoding", "latin-1")] if options.encoding else []
                raise DataError(text, source=path, remedies=remedies) from None
            warn(f"{self.name} is not UTF-8 and is read as Latin-1.", remedies=[Remedy("encoding", "cp1252")])
            self._prepare(replace(options, encoding="latin-1"))
        self.notes, self.has_names, self.decimal = self.format.notes, self.format.header, self.format.decimal

    def _prepare(self, options: ReadOptions) -> None:
        """Detect the format and the types of the columns, and scan the file once.

        Types are those of the first block: values of another type that come later are errors. The scan counts rows,
        checks quotes and encoding, and finds columns of digits that are codes.
        """
        self.format = detect_format(self.path, options, self.memory)
        names = self.format.names
        check_unique(names, self.name)
        self._block = max(_block_bytes(len(names), self.memory), 4 * self.format.line_bytes)
        mark = self.format.delimiter.encode()
        self._quoted = re.compile(rb'(?:\A|[\r\n%s])"(?:[^"]++|"")*+("?)' % re.escape(mark))
        self._before_quotes = list(b'\r\n"' + mark)
        self._n_lines, self._exact, self._scanning = self.format.skip_lines, True, True  # one line for each row so far
        first = next(self._records(), b"")
        if not first.strip():
            raise DataError(f"{self.name} has a header and no rows.", source=self.name)
        stored = self._parse(first, None, 0).schema
        kinds = {field.name: pa.string() if types.is_binary(field.type) else field.type for field in stored}
        digits = [name for name, kind in kinds.items() if is_numeric(kind) and name not in (options.columns or ())]
        if digits:
            texts = self._parse(first, dict.fromkeys(digits, pa.string()), 0)
            digits = [n for n in digits if not pc.any(pc.match_substring_regex(texts.column(n), _NO_DIGITS)).as_py()]
        self.num_rows, codes = 0, dict[str, str]()
        for batch in self._read(dict.fromkeys(digits or names[:1], pa.string())):
            self.num_rows += batch.num_rows
            for name in digits:
                if name not in codes and (code := _first_code(batch.column(name))):
                    codes[name] = code
        self._scanning, self.codes = False, codes
        self.schema = pa.schema(list((kinds | dict.fromkeys(codes, pa.string())).items()))

    def reading_bytes(self, columns: Sequence[str]) -> int:
        return _TIMES_BLOCK * self._block + _COLUMN_BYTES * len(self.format.names)

    def locate(self, row: int) -> str:
        line = f"line {self.format.skip_lines + row + 1} (" if self._exact else ""
        return f"{line}row index {row}{')' if line else ''}"

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        kinds = {name: self.schema.field(name).type for name in columns}
        number = {name for name, kind in kinds.items() if self.is_numeric(name) and not types.is_boolean(kind)}
        return self._read({name: pa.float64() if name in number else kind for name, kind in kinds.items()})

    def text_batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        return self._read(dict.fromkeys(columns, pa.string()))

    def _read(self, kinds: dict[str, pa.DataType]) -> Iterator[pa.RecordBatch]:
        n_rows = 0
        for records in self._records():
            batch = self._parse(records, kinds, n_rows)
            if self._scanning:
                n_lines = _count_lines(records) + (not records.endswith((b"\n", b"\r")))
                self._exact = self._exact and batch.num_rows == n_lines
                self._n_lines += n_lines
            n_rows += batch.num_rows
            yield batch

    def _records(self) -> Iterator[bytes]:
        """Complete records, about a block at a time, as UTF-8 and without the header."""
        encoding, skip, rest, more = self.format.encoding, self.format.skip_lines, b"", True
        decoder: Any = None if encoding == "utf-8" else codecs.getincrementaldecoder(encoding)()
        start = True
        with _open_bytes(self.path) as file:
            while more:
                data = file.read(max(self._block, len(rest)))
                more = bool(data)
                data = decoder.decode(data, not more).encode() if decoder else data
                data = data.removeprefix(codecs.BOM_UTF8) if start else rest + data
                end, quote = self._complete(data, more)
                records, rest, start = data[:end], data[end:], False
                if quote is not None:
                    line = (0 if skip else self._n_lines) + _count_lines(data[: quote + 1]) + 1
                    text = _shown(data[quote + 1 :][:40].strip())
                    raise DataError(f"A quote in line {line:,} of {self.name} is not closed: {text}.", source=self.name)
                if len(rest) > max(self.memory // 8, self._block):
                    what = f"a record of {self.name} that starts with {_shown(rest[:60])} and does not end within"
                    hint = " Is a quote not closed?"
                    check_memory(f"{what} {format_bytes(len(rest))}", 8 * len(rest), self.memory, hint)
                if self._scanning and decoder is None and not records.isascii():
                    records.decode()
                if skip:
                    *header, records = re.split(rb"\r\n|\n|\r", records, maxsplit=skip)
                    skip -= len(header)
                if records.strip(b"\r\n"):
                    yield records

    def _complete(self, data: bytes, more: bool) -> tuple[int, int | None]:
        """Length of the complete records of `data`, and where a quote is opened that nothing closes."""
        starts, stops = self._quoted_fields(data)
        if not more:
            is_open = len(stops) > 0 and stops[-1] > len(data)
            return len(data), int(starts[-1]) if is_open else None
        for mark, end in ((b"\n", len(data)), (b"\r", len(data) - 1)):  # the last CR may belong to a CR LF
            while (place := data.rfind(mark, 0, end)) >= 0:
                field = int(np.searchsorted(starts, place)) - 1
                if field < 0 or stops[field] <= place:
                    return place + 1, None
                end = int(starts[field])
        return 0, None

    def _quoted_fields(self, data: bytes) -> tuple[NDArray, NDArray]:
        """Where quoted fields start and stop: behind the end of `data` if it is not closed."""
        if b'"' not in data:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        n_quotes = data.count(b'"')
        needed = _TIMES_RECORD * len(data) + _QUOTE_BYTES * n_quotes
        check_memory(f"a record of {self.name} with {n_quotes:,} quotes", needed, self.memory)
        characters = np.frombuffer(data, np.uint8)
        quotes = np.flatnonzero(characters == ord('"'))
        starts, stops = quotes[::2], quotes[1::2] + 1
        if not np.isin(characters[starts[starts > 0] - 1], self._before_quotes).all():  # some are part of a text
            edges, is_closed = array("q"), True
            for match in self._quoted.finditer(data):
                edges.extend(match.span())
                is_closed = bool(match[1])
            starts, stops = np.array(edges, dtype=np.int64).reshape(-1, 2).T
            if not is_closed:
                stops[-1] += 1
            return starts, stops
        return starts, stops if len(starts) == len(stops) else np.append(stops, len(data) + 1)

    def _parse(self, records: bytes, kinds: dict[str, pa.DataType] | None, first_row: int) -> pa.RecordBatch:
        """Records as one batch; `kinds` None: all columns, their types inferred."""
        names = self.format.names
        try:
            with arrow_csv.open_csv(
                pa.BufferReader(records),
                read_options=arrow_csv.ReadOptions(column_names=names, block_size=len(records) + 1, use_threads=False),
                parse_options=arrow_csv.ParseOptions(delimiter=self.format.delimiter, newlines_in_values=True),
                convert_options=arrow_csv.ConvertOptions(
                    column_types=kinds,
                    include_columns=list(kinds or ()),
                    null_values=list(MISSING if len(names) <= _FEW_COLUMNS else MISSING[:_FEW_SPELLINGS]),
                    strings_can_be_null=False,
                    decimal_point=self.format.decimal,
                ),
            ) as reader:
                return reader.read_next_batch()
        except pa.ArrowInvalid as error:
            self._exact = self._exact and not (self._scanning and _UNEVEN.search(records))
            raise explain_csv_error(error, self, first_row) from None


def _shown(data: bytes) -> str:
    return short_repr(data.decode("utf-8", "replace"))


def _count_lines(data: bytes) -> int:
    return data.count(b"\n") or data.count(b"\r")


def _first_code(column: pa.StringArray) -> str | None:
    """The first cell with zeros in front, or with too many digits for a number."""
    _, offsets, data = column.buffers()
    if data is None or not data.size:
        return None
    ends = np.frombuffer(offsets, np.int32)[column.offset :][: len(column) + 1]
    lengths = np.diff(ends)
    first = np.frombuffer(data, np.uint8)[np.minimum(ends[:-1], data.size - 1)]
    likely = np.flatnonzero(((first <= ord("0")) & (first != ord("-")) & (lengths > 1)) | (lengths >= 17))
    if not len(likely):
        return None
    cells = column.take(pa.array(likely))
    found = cells.filter(pc.match_substring_regex(cells, _CODE))
    return found[0].as_py() if len(found) else None


def explain_csv_error(error: Exception, reader: CsvReader, first_row: int) -> DataError:
    """Arrow's error with the row, the column and what is expected there."""
    text = str(error)
    if match := _CONVERSION.search(text):
        j, kind, value = int(match[1]), match[3], match[4]
        row = None if match[2] is None else first_row + int(match[2]) - 1
        name = reader.format.names[j] if j < len(reader.format.names) else str(j)
        where = "" if row is None else f" in {reader.locate(row)}"
        hint, remedies = reader.hint_for(value)
        expected = f"a number.{hint}" if kind == "double" else f"of type {kind}."
        found = f"Column {short_repr(name)} of {reader.name} has the value {short_repr(value, 40)}{where}"
        return DataError(
            f"{found}, which is not {expected}",
            source=reader.name,
            row=row,
            column=name,
            value=value,
            remedies=[*remedies, Remedy("drop", [name])],
        )
    if match := _LENGTH.search(text):
        row = None if match[1] is None else first_row + int(match[1]) - 1
        where = "A row" if row is None else reader.locate(row).capitalize()
        fields = f"{counted(int(match[3]), 'field')}, and the first line has {int(match[2])}"
        text = f"{where} of {reader.name} has {fields} (delimiter {reader.format.delimiter!r})."
        return DataError(f"{text} Put text that contains the delimiter in quotes.", source=reader.name, row=row)
    return DataError(f"Cannot read {reader.name}: {short_repr(text, 200)}.", source=reader.name)
