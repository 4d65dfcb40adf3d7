"""Where a text table goes wrong: the line, the column, the text that stands there, and what to do about it."""

import csv
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from io import TextIOWrapper
from itertools import islice
from math import isfinite
from pathlib import Path

from mercer_old.errors import counted, shortened
from mercer_old.sources.dialect import INFINITY, NUMBER, Dialect, is_empty_field
from mercer_old.sources.stored import open_bytes

_LONGEST = 40  # characters of a value that are shown
_LONGEST_LINE = 1 << 24  # characters, if the first ones are not as long
_LEAVE_OUT = "Leave it out (mercer.open_rows(path, drop=[…]), on the command line --drop NAME), or correct the value."
_FILL_IN = "Leave out or fill in such rows first (SimpleImputer)."
_COMMA = "A decimal comma? Write a point, or say so (--decimal ,)."
_HINTS = (
    (NUMBER.pattern, "A decimal point among decimal commas? Write one of them, or say which (--decimal)."),
    (r"0+,\d+", _COMMA),
    (
        r"\d{1,3},\d{3}",
        "A decimal comma? Write a point, or say so (--decimal ,). Thousands set apart? Write the digits alone.",
    ),
    (r"\d{1,3}([ ,.']\d{3})+", "Thousands are set apart: write the digits alone."),
    (r"\d*,\d+", _COMMA),
    (
        r"[\d.eE+-]+([ \t]+[\d.eE+-]+)+",
        "Separated by blanks? Say so (--delimiter blank), if there is one between two numbers.",
    ),
    (r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}.*", "A date? Write a number instead, such as days, or leave the column out."),
    (r"[$€£]?[\d.,]+\s*(%|€|\$|£|[a-zA-Z]{1,3})?", "Write the number without its unit."),
    (r"(?i:true|false|yes|no)", "Write 1 and 0."),
    (r".*\0.*", "There are NUL bytes: is it UTF-16, or damaged? Save it as UTF-8."),
    (r".*[\udc80-\udcff].*", "It is not UTF-8; save it as UTF-8."),
)  # what a text looks like that should have been a number, and what to say


_UNIT = re.compile(r"[-+\d.,]+(\s*[a-zA-Z]+)")


@dataclass(frozen=True)
class Fault:
    """One of: a field that is no number, a line of another length, a line that cannot be read at all."""

    line: int
    row: int
    column: str = ""
    text: str = ""
    reason: str = ""  # of a line

    @property
    def place(self) -> str:
        return f"line {self.line} (row {self.row}, counted from 0)"

    @property
    def value(self) -> str:
        return repr(shortened(self.text, _LONGEST))

    def told(self, label: str) -> str:
        """In one sentence."""
        if self.reason:
            return f"{label}, {self.place}: {self.reason}"
        place = f"{self.place}, column {self.column}"
        if is_empty_field(self.text):
            return f"{label} contains a missing value ({self.value}): {place}. {_FILL_IN}"
        if INFINITY.fullmatch(self.text) or (NUMBER.fullmatch(self.text) and not isfinite(float(self.text))):
            return f"{label} contains an infinite value ({self.value}): {place}. {_FILL_IN}"
        return f"{label}, {place}: {self.value} is no number. {self.hint or _LEAVE_OUT}"

    @property
    def hint(self) -> str:
        """What the text looks like, and what to do then."""
        number = self.text.strip().removeprefix("-").removeprefix("+")
        return next((words for form, words in _HINTS if re.fullmatch(form, number, re.DOTALL)), "")


def look_like_numbers(texts: Sequence[str]) -> bool:
    """Whether texts are numbers that are written in another way, which someone should correct: by the first of them.

    Letters behind a number are a unit if all texts have the same, and there are two of them or a blank before:
    12 kg and 12mm are numbers, and 1A, 2B or 1A, 2A are names.
    """
    hint = Fault(0, 0, text=texts[0]).hint
    if not hint or hint.startswith(("A date", "Write 1 and 0", "It is not UTF-8", "There are NUL")):
        return False
    units = {_UNIT.fullmatch(text.strip()) for text in texts}
    letters = {None if unit is None else unit[1].strip() for unit in units}
    first = _UNIT.fullmatch(texts[0].strip())
    return first is None or (len(letters) == 1 and len(first[1]) > 1)


def first_fault(
    path: Path, dialect: Dialect, columns: Collection[str], booleans: Collection[str] = (), gaps: bool = True
) -> Fault | None:
    """The first thing in these columns that is no finite number, or the first line of another length.

    Read slowly, by Python, once a fast reader has found that there is one. None: nothing was found.
    """
    numbers = {name: j for j, name in enumerate(dialect.names)}
    places = {name: numbers[name] for name in columns}
    row, line = -1, dialect.skip
    try:
        for row, (line, fields) in enumerate(_records(path, dialect)):
            if len(fields) != len(dialect.names):
                return Fault(line, row, reason=_wrong_length(len(fields), dialect))
            for name, j in places.items():
                usable = _is_finite_number(dialect.as_number(fields[j])) or (
                    name in booleans and _is_boolean(fields[j])
                )
                if not usable and (gaps or not is_empty_field(fields[j])):
                    return Fault(line, row, repr(name) if dialect.header else str(j), fields[j])
    except csv.Error as error:
        return Fault(line + 1, row + 1, reason=f"{error}; is a quote left open?")
    return None


def _is_finite_number(field: str) -> bool:
    return bool(NUMBER.fullmatch(field)) and isfinite(float(field))


def _records(path: Path, dialect: Dialect) -> Iterator[tuple[int, list[str]]]:
    """Every row as its fields, with the number of its first line; empty lines are none."""
    encoding = "utf-8-sig" if dialect.encoding == "utf-8" else dialect.encoding
    with TextIOWrapper(open_bytes(path), encoding, errors="surrogateescape", newline="") as file:
        lines = _lines(file, max(_LONGEST_LINE, 4 * dialect.width))
        next(islice(lines, dialect.skip, dialect.skip), None)
        reader = csv.reader(lines, delimiter=dialect.delimiter, strict=True)
        line = dialect.skip + 1
        for fields in reader:
            if fields:
                yield line, fields
            line = dialect.skip + reader.line_num + 1


def _lines(file: TextIOWrapper, most: int) -> Iterator[str]:
    """Line after line; one without an end, as a packed file may have, would fill the memory."""
    while line := file.readline(most):
        if len(line) == most and line[-1] not in "\r\n":
            raise csv.Error(f"it does not end within {most:,} characters")
        yield line


def _is_boolean(field: str) -> bool:
    return field.strip().lower() in ("true", "false", "0", "1")


def _wrong_length(count: int, dialect: Dialect) -> str:
    return (
        f"{counted(count, 'field')}, where the first line has {len(dialect.names):,} (separated by "
        f"{dialect.delimiter!r}). Is a separator missing or too many, or text with one in it not in quotes?"
    )
