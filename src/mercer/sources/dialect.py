"""What a text table looks like: its separator, its quotes, and whether its first line is a header."""

import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from mercer.errors import BadData, listed, warn
from mercer.sources.stored import kind_by_its_start, readable
from mercer.terminal import plain

SEPARATORS = (",", ";", "\t", "|")
_CHUNK, _HEAD = 1 << 20, 16 << 20  # bytes that are read at a time, and in which the first line has to end
# What stands for a missing number, in any case.
GAPS = {"", "na", "n/a", "nan", "-nan", "null", "none", "missing", "#n/a", "#na", "#n/a n/a", "?", "-", "--", "."}
NUMBER = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*", re.ASCII)
INFINITY = re.compile(r"\s*[+-]?inf(?:inity)?\s*", re.IGNORECASE)
_LINE_END = re.compile(rb"\r\n|\n|\r")


@dataclass(frozen=True)
class Dialect:
    delimiter: str
    header: bool
    skip: int  # lines before the first row: the header, and empty ones before it
    names: tuple[str, ...]  # the header's, or "0", "1", …
    width: int  # bytes of the first lines
    quotes: int  # how many there are: lines may end between them


def sniff(path: Path, header: bool | None = None) -> Dialect:
    """From the first line; who knows better says whether it is a header."""
    line, before, taken, width = _first_record(path)
    fields = {mark: _split(line, mark) for mark in SEPARATORS}
    delimiter = max(SEPARATORS, key=lambda mark: len(fields[mark]))
    row = [field.strip() for field in fields[delimiter]]
    if header is None:
        header = _guess_header(row, path)
    names = row if header else [str(i) for i in range(len(row))]
    return Dialect(delimiter, header, before + taken if header else 0, tuple(names), width, _count_quotes(path))


def _guess_header(row: list[str], path: Path) -> bool:
    """Names, if not all are numbers or gaps; said where it may be the other way round."""
    numbers = [field for field in row if NUMBER.fullmatch(field)]
    header = not all(_is_number(field) for field in row)
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


def _split(line: str, mark: str) -> list[str]:
    """Its fields: in quotes, where two stand for one, or up to the next mark. (The csv module has a longest field.)"""
    if '"' not in line:
        return line.split(mark)
    mark = re.escape(mark)
    fields = re.findall(rf'{mark}(?:"((?:[^"]|"")*)"[^{mark}]*|([^{mark}]*))', f"{mark[-1]}{line}")
    return [other or quoted.replace('""', '"') for quoted, other in fields]


def _first_record(path: Path) -> tuple[str, int, int, int]:
    """The first line that is not empty, how many are before it, how many it takes, and bytes of the longest so far."""
    head = _first_bytes(path)
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
    try:
        return record.decode("utf-8"), before, taken, max(map(len, lines[: before + taken + 1]))
    except UnicodeDecodeError:
        raise BadData(f"{plain(path)} is not UTF-8 (line {before + 1}); save it as UTF-8.") from None


def _first_bytes(path: Path) -> bytes:
    """Until the second line has ended, without a mark of UTF-8."""
    if kind := kind_by_its_start(path):
        raise BadData(f"{plain(path)} is no text: it is {kind}.")
    head = b""
    with readable(path), path.open("rb") as file:
        while len(head) < _HEAD and (more := file.read(_CHUNK)):
            head += more
            if len(_LINE_END.split(head.strip(), 2)) > 2:
                break
    if head[:2] in (b"\xff\xfe", b"\xfe\xff") or _has_every_other_byte_zero(head):
        raise BadData(f"{plain(path)} is UTF-16; save it as UTF-8.")
    return head.removeprefix(b"\xef\xbb\xbf")


def _has_every_other_byte_zero(head: bytes) -> bool:
    """As UTF-16 has where letters are Latin, with or without its mark."""
    zeros = [part.count(0) for part in (head[::2], head[1::2])]
    return max(zeros) > len(head) // 4 and min(zeros) == 0


def _count_quotes(path: Path) -> int:
    with readable(path), path.open("rb") as file:
        return sum(piece.count(b'"') for piece in iter(lambda: file.read(_CHUNK), b""))


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
