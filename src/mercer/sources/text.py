"""What a text table looks like: its separator, and whether its first line is a header."""

import csv
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from mercer.errors import BadData, tell

SEPARATORS = (",", ";", "\t", "|")
HEAD = 16 << 20  # bytes in which the first line has to end
GAPS = {"", "na", "n/a", "nan", "null", "none", "#n/a", "?", "-"}


@dataclass(frozen=True)
class Dialect:
    delimiter: str
    header: bool
    skip: int  # lines before the first row: the header, and empty ones before it
    names: tuple[str, ...]  # the header's, or "0", "1", …
    width: int  # bytes of the first line


def sniff(path: Path, header: bool | None = None) -> Dialect:
    """From the first line; who knows better says whether it is a header."""
    line, empty = first_line(path)
    fields = {mark: next(csv.reader([line], delimiter=mark)) for mark in SEPARATORS}
    delimiter = max(SEPARATORS, key=lambda mark: len(fields[mark]))
    row = [field.strip() for field in fields[delimiter]]
    if header is None:
        header = not all(is_number(field) for field in row)
        if not header and looks_like_years(row):
            tell(
                f"The first line of {path} is taken as a row of numbers: {', '.join(row[:3])} … If they are the names "
                "of the columns, say so: mercer.open_rows(path, header=True), on the command line --header."
            )
    names = row if header else [str(i) for i in range(len(row))]
    return Dialect(delimiter, header, empty + 1 if header else 0, tuple(names), len(line.encode()))


def first_line(path: Path) -> tuple[str, int]:
    """The first line that is not empty, and how many are before it."""
    try:
        with path.open("rb") as file:
            head = file.read(1 << 20)
            while b"\n" not in head.lstrip() and len(head) < HEAD and (more := file.read(1 << 20)):
                head += more
    except FileNotFoundError:
        raise BadData(f"{path}: there is no such file.") from None
    except OSError as error:
        raise BadData(f"{path} cannot be read: {error.strerror}.") from None
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise BadData(f"{path} is UTF-16; save it as UTF-8.")
    for i, line in enumerate(head.removeprefix(b"\xef\xbb\xbf").split(b"\n")):
        if line.strip():
            try:
                return line.decode("utf-8").rstrip("\r"), i
            except UnicodeDecodeError:
                raise BadData(f"{path} is not UTF-8 (line {i + 1}); save it as UTF-8.") from None
    raise BadData(f"{path} is empty: there is nothing to fit.")


def is_number(field: str) -> bool:
    """Whether it is a number, or stands for a missing one."""
    try:
        float(field)
    except ValueError:
        return field.strip().lower() in GAPS
    return True


def looks_like_years(row: list[str]) -> bool:
    """Whole numbers, each one more than the last: names of columns more often than a row."""
    if len(row) < 2 or not all(field.isdigit() for field in row):
        return False
    return all(int(later) - int(earlier) == 1 for earlier, later in pairwise(row))
