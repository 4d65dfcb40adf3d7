"""What a text table looks like: its separator, and whether its first line is a header."""

import csv
from dataclasses import dataclass
from pathlib import Path

from mercer.errors import BadData

SEPARATORS = (",", ";", "\t", "|")
HEAD = 1 << 20  # bytes in which the first line has to end


@dataclass(frozen=True)
class Dialect:
    delimiter: str
    skip: int  # lines before the first row: the header, and empty ones before it
    names: tuple[str, ...]  # the header's, or "0", "1", …


def sniff(path: Path) -> Dialect:
    """From the first line."""
    line, empty = first_line(path)
    counts = {mark: line.count(mark) for mark in SEPARATORS}
    delimiter = max(counts, key=lambda mark: counts[mark]) if any(counts.values()) else ","
    fields = next(csv.reader([line], delimiter=delimiter))
    header = not all(is_number(field) for field in fields)
    names = [field.strip() for field in fields] if header else [str(i) for i in range(len(fields))]
    return Dialect(delimiter, empty + 1 if header else 0, tuple(names))


def first_line(path: Path) -> tuple[str, int]:
    """The first line that is not empty, and how many are before it."""
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
    except FileNotFoundError:
        raise BadData(f"{path}: there is no such file.") from None
    except OSError as error:
        raise BadData(f"{path} cannot be read: {error.strerror}.") from None
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise BadData(f"{path} is UTF-16; save it as UTF-8.")
    try:
        text = head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="strict" if len(head) < HEAD else "ignore")
    except UnicodeDecodeError as error:
        number = head[: error.start].count(b"\n") + 1
        raise BadData(f"{path} is not UTF-8 (line {number}); save it as UTF-8.") from None
    for i, line in enumerate(text.splitlines()):
        if line.strip():
            return line, i
    raise BadData(f"{path} is empty: there is nothing to fit.")


def is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return not field.strip()  # an empty field is a missing number
    return True
