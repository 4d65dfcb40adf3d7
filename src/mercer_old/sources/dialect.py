"""What a text table looks like: its encoding, separator and decimal mark, and whether its first line is a header."""

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from mercer_old.errors import BadData, in_short, listed, warn
from mercer_old.sources.encodings import encoding_of, look_through
from mercer_old.sources.stored import kind_by_its_start, open_bytes, readable
from mercer_old.terminal import plain

SEPARATORS = (",", ";", "\t", "|")
_NAMES_OF_MARKS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "bar": "|", "blank": " "}
_CHUNK, _HEAD = 1 << 20, 16 << 20  # bytes that are read at a time, and in which the first line has to end
_FIRST = 20  # lines that are looked at
# What stands for a missing number, in any case.
GAPS = {"", "na", "n/a", "nan", "-nan", "null", "none", "missing", "#n/a", "#na", "#n/a n/a", "?", "-", "--", "."}
NUMBER = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*", re.ASCII)
INFINITY = re.compile(r"\s*[+-]?inf(?:inity)?\s*", re.IGNORECASE)
_WITH_COMMA = re.compile(r"\s*[+-]?\d*,\d+(?:[eE][+-]?\d+)?\s*", re.ASCII)
_THOUSANDS = re.compile(r"\s*[+-]?[1-9]\d{0,2},\d{3}\s*", re.ASCII)
_WITH_POINT = re.compile(r"\s*[+-]?\d*\.\d+(?:[eE][+-]?\d+)?\s*", re.ASCII)
_WITHIN = r'[^"]*(?:""[^"]*)*'  # quotes, of which two stand for one: as runs, which take no memory for each letter
_QUOTED = re.compile(f'"{_WITHIN}"')
_LINE_END = re.compile(rb"\r\n|\n|\r")


@dataclass(frozen=True)
class Saying:
    """What its user says of a text file; None: look."""

    header: bool | None = None
    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None


@dataclass(frozen=True)
class Dialect:
    delimiter: str
    header: bool
    skip: int  # lines before the first row: the header, and empty ones before it
    names: tuple[str, ...]  # the header's, or "0", "1", …
    width: int  # bytes of the first lines
    quotes: int  # how many there are: lines may end between them
    encoding: str = "utf-8"
    decimal: str = "."
    codes: tuple[str, ...] = ()  # columns with whole numbers that have zeros in front, in the first lines

    @property
    def in_words(self) -> str:
        """In one line, with the option that says otherwise."""
        mark = {"\t": "tabs", ",": "commas", ";": "semicolons", "|": "bars", " ": "blanks"}.get(
            self.delimiter, repr(self.delimiter)
        )
        point = "comma" if self.decimal == "," else "point"
        first = "names columns (--no-header)" if self.header else "is a row (--header)"
        return (
            f"separated by {mark} (--delimiter), decimal {point} (--decimal), {self.encoding.upper()} (--encoding), "
            f"the first line {first}"
        )

    def as_number(self, field: str) -> str:
        """The field with a point for the decimal mark."""
        return field if self.decimal == "." else field.replace(".", " ").replace(",", ".")


def sniff(path: Path, said: Saying | None = None) -> Dialect:
    """From the first lines; who knows better says so."""
    said = said or Saying()
    _refuse_odd(said)
    if kind := kind_by_its_start(path):
        raise BadData(f"{plain(path)} is no text: it is {kind}.")
    with readable(path):
        encoding, quotes = look_through(path, said.encoding)
    head = _first_bytes(path, encoding)
    line, before, taken, width = _first_record(head, path)
    others = _LINE_END.split(head)[before + taken :]
    lines = [other.decode("utf-8", "replace") for other in others[: _FIRST + 1] if other.strip()][:_FIRST]
    delimiter = said.delimiter or _guess_delimiter(line, lines)
    rows = [[field.strip() for field in _split(each, delimiter)] for each in [line, *lines]]
    decimal = said.decimal or _guess_decimal(rows, delimiter)
    dialect = Dialect(delimiter, True, before + taken, tuple(rows[0]), width, quotes, encoding, decimal)
    if _guess_header(dialect, path) if said.header is None else said.header:
        return _with_codes(_with_row_names(dialect, rows), rows[1:])
    names = tuple(map(str, range(len(rows[0]))))
    return _with_codes(Dialect(delimiter, False, 0, names, width, quotes, encoding, decimal), rows)


def said_of_texts(header: bool | None, delimiter: str | None, decimal: str | None, encoding: str | None) -> Saying:
    """As people write it: "tab" is a tab, and "blank" a blank."""
    return Saying(header, None if delimiter is None else _NAMES_OF_MARKS.get(delimiter, delimiter), decimal, encoding)


def _refuse_odd(said: Saying) -> None:
    if said.delimiter is not None and (len(said.delimiter) != 1 or said.delimiter in '\r\n"' or said.delimiter > "~"):
        raise BadData(
            f"delimiter={in_short(said.delimiter)} is no mark between fields: give one character, tab or blank."
        )
    if said.decimal not in (None, ".", ","):
        raise BadData(f"decimal={in_short(said.decimal)} is no decimal mark: give . or ,.")
    if said.decimal == "," and said.delimiter == ",":
        raise BadData("delimiter=',' and decimal=',' cannot be told apart: one of them is another mark.")
    if said.encoding is not None:
        encoding_of(said.encoding)


def _guess_delimiter(line: str, lines: list[str]) -> str:
    """The mark that makes most fields; a comma may be a decimal one if another mark separates as well."""
    counts = {mark: len(_split(line, mark)) for mark in SEPARATORS}
    for mark in SEPARATORS[1:]:
        rows = [_split(each, mark) for each in [line, *lines]]
        fields = [field for row in rows for field in row if "," in field]
        alike = len(rows[0]) > 1 and all(len(row) == len(rows[0]) for row in rows)
        if alike and fields and all(_WITH_COMMA.fullmatch(field) for field in fields):
            return mark
    likely = max(SEPARATORS, key=lambda mark: counts[mark])
    return " " if counts[likely] == 1 and _is_of_blanks(line, lines) else likely


def _is_of_blanks(line: str, lines: list[str]) -> bool:
    """As write.table of R has it: texts in quotes, a blank between them. Without quotes 1 234 may be one number."""
    header, *rows = (_QUOTED.sub("0", each).split(" ") for each in [line, *lines])
    named = len(header) + 1 if all(each.startswith('"') for each in lines) else len(header)  # names of rows
    alike = bool(rows) and 1 < len(rows[0]) in (len(header), named) and len({*map(len, rows)}) == 1
    fields = [field for row in [header, *rows] for field in row]
    return alike and set(header) == {"0"} and all(field and _is_number(field) for field in fields)


def _guess_decimal(rows: list[list[str]], delimiter: str) -> str:
    """A comma, if numbers have commas, none has a point, and they are not thousands that are set apart."""
    if delimiter == ",":
        return "."
    fields = [field for row in rows for field in row]
    commas = [field for field in fields if _WITH_COMMA.fullmatch(field)]
    sure = any(not _THOUSANDS.fullmatch(field) for field in commas)
    return "," if sure and not any(_WITH_POINT.fullmatch(field) for field in fields) else "."


def _guess_header(dialect: Dialect, path: Path) -> bool:
    """Names, if not all are numbers or gaps; said where it may be the other way round."""
    row = dialect.names
    numbers = [field for field in row if NUMBER.fullmatch(dialect.as_number(field))]
    header = not all(_is_number(dialect.as_number(field)) or is_empty_field(field) for field in row)
    years = _looks_like_years(numbers)
    if not header and years:
        warn(
            f"The first line of {plain(path)} is taken as a row of numbers: {listed(row, 3)}. If they are the "
            "names of the columns, say so: mercer.open_rows(path, header=True), on the command line --header."
        )
    if header and numbers and not years:
        warn(
            f"The first line of {plain(path)} is taken as names of columns, although some are numbers: "
            f"{listed(map(repr, row))}. If it is a row, say so: mercer.open_rows(path, header=False), on the command "
            "line --no-header."
        )
    return header


def _with_row_names(dialect: Dialect, rows: list[list[str]]) -> Dialect:
    """R leaves out the name of the column of row names: every line has one field more than the header."""
    header, *others = rows
    more = len(others) > 1 and all(len(row) == len(header) + 1 and row[-1] != "" for row in others)
    if not more or header[0].startswith("#"):
        return dialect
    return replace(dialect, names=("", *header))


def _with_codes(dialect: Dialect, rows: list[list[str]]) -> Dialect:
    """007 is a name more often than a number."""
    found = {j for row in rows for j, field in enumerate(row) if len(field) > 1 and field[0] == "0" and field.isdigit()}
    return replace(dialect, codes=tuple(name for j, name in enumerate(dialect.names) if j in found))


def _split(line: str, mark: str) -> list[str]:
    """Its fields: in quotes, where two stand for one, or up to the next mark. (The csv module has a longest field.)"""
    if '"' not in line:
        return line.split(mark)
    mark = re.escape(mark)
    fields = re.findall(rf'{mark}(?:"({_WITHIN})"[^{mark}]*|([^{mark}]*))', f"{mark[-1]}{line}")
    return [other or quoted.replace('""', '"') for quoted, other in fields]


def _first_record(head: bytes, path: Path) -> tuple[str, int, int, int]:
    """The first line that is not empty, how many are before it, how many it takes, and bytes of the longest so far."""
    lines = _LINE_END.split(head)
    before = next((i for i, line in enumerate(lines) if line.strip()), None)
    if before is None:
        raise BadData(f"{plain(path)} is empty: there is nothing to fit.")
    record, taken = lines[before], 1
    while record.count(b'"') % 2 and before + taken < min(len(lines), 100):  # a name goes on in the next line
        record, taken = record + b"\n" + lines[before + taken], taken + 1
    if len(lines) == 1 and len(head) >= _HEAD:
        raise BadData(f"The first line of {plain(path)} does not end within {_HEAD:,} bytes: is it a table?")
    if b"\0" in record:
        raise BadData(f"{plain(path)} is no text: there are NUL bytes in its first line.")
    return record.decode("utf-8", "replace"), before, taken, max(map(len, lines[: before + taken + 1]))


def _first_bytes(path: Path, encoding: str) -> bytes:
    """Until the second line has ended, as UTF-8, without a mark of it."""
    head = b""
    with readable(path), open_bytes(path) as file:
        while len(head) < _HEAD and (more := file.read(_CHUNK)):
            head += more
            if len(_LINE_END.split(head.strip(), 2)) > 2:
                break
    if encoding != "utf-8":
        return head.decode(encoding, "ignore").removeprefix("\ufeff").encode("utf-8", "replace")
    return head.removeprefix(b"\xef\xbb\xbf")


def _is_number(field: str) -> bool:
    """Whether it is a number, or stands for a missing one."""
    return bool(NUMBER.fullmatch(field) or INFINITY.fullmatch(field)) or is_empty_field(field)


def is_empty_field(field: str) -> bool:
    return field.strip().lower() in GAPS


def _looks_like_years(row: list[str]) -> bool:
    """Whole numbers, each one more than the last: names of columns more often than a row."""
    if len(row) < 2 or not all(field.isdigit() for field in row):
        return False
    return all(int(later) - int(earlier) == 1 for earlier, later in pairwise(row))
