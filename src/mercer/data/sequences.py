"""Strings in files, read into memory: one per line, or FASTA."""

import bz2
import gzip
import io
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mercer.budget import format_bytes
from mercer.compat.optional import import_optional
from mercer.data.dataset import ArrayDataset, Dataset, Metadata, Source, object_array
from mercer.data.read_options import ReadOptions
from mercer.data.reading import check_regular, guess_format, reading
from mercer.errors import DataError, MemoryLimitError, Remedy, warn
from mercer.text import counted, listed, printable, short_repr

_PIECE = 1 << 16  # characters of a line that are read at once


def read_lines(path: Path, options: ReadOptions, memory: int) -> Dataset:
    """Read one string per line, which is also its id. An empty line is an empty string; none follows the last one."""
    file, strings = _TextFile(path, memory if options.case is None else memory // 2), []  # else ids are other strings
    for line in file.lines():
        strings.append(line)
        file.hold(line)
    return _dataset(path, strings, strings, "text")


def read_fasta(path: Path, options: ReadOptions, memory: int) -> Dataset:
    """Read one string per record: a line ">name …", and all lines up to the next such line."""
    file = _TextFile(path, memory)
    names: list[str] = []
    strings: list[str] = []
    record, width = bytearray(), 1  # its lines, and bytes of a character: lines as strings would take twice as much

    def finish() -> None:
        strings.append(record.decode())
        file.hold(strings[-1])
        record.clear()

    for line in file.lines():
        if line.startswith(">"):
            if names:
                finish()
            names.append((line[1:].split() or [""])[0])
            file.hold(names[-1])
        elif line.strip() and not line.startswith(";"):
            if not names or ">" in line:
                hint = "Is it FASTQ?" if line.startswith("@") else 'A record starts with a line ">name".'
                text = f"{printable(path)}, line {file.number:,}: {short_repr(line, 40)} is not part of a record."
                raise DataError(f"{text} {hint}", source=path, row=file.number)
            record += "".join(line.split()).encode()
            width = width if line.isascii() else 4
            file.check_memory((1 + width) * len(record))
    if not names:
        raise DataError(f'{printable(path)} has no records. A record starts with a line ">name".', source=path)
    finish()
    empty = [name for name, string in zip(names, strings, strict=True) if not string]
    twice = [name or "without a name" for name, count in Counter(names).items() if count > 1 or not name]
    for what, found in (("empty records", empty), ("names of several records, or records without a name", twice)):
        if found:
            warn(f"{printable(path)} has {what}: {listed(map(repr, found), 3)}.")
    return _dataset(path, strings, names, "name")


def _dataset(path: Path, strings: list[str], ids: list[str], id_name: str) -> Dataset:
    if not strings:
        raise DataError(f"Found array with 0 sample(s): {printable(path)} has no strings.", source=path)
    return ArrayDataset(
        object_array(strings),
        "strings",
        owns_samples=True,
        metadata=Metadata({id_name: ids}, id_name),
        source=Source(printable(path), path),
    )


def _open_text(path: Path) -> Any:
    suffix = path.suffix.lower()
    if suffix == ".zst":
        stream = import_optional("pyarrow", "io", f"Reading {printable(path)}").input_stream(path, compression="zstd")
        return io.TextIOWrapper(stream, encoding="utf-8-sig")
    opened: Any = {".gz": gzip.open, ".bz2": bz2.open}.get(suffix, open)
    return opened(path, "rt", encoding="utf-8-sig")


class _TextFile:
    """Lines of a file, and the memory that the strings made of them take."""

    def __init__(self, path: Path, memory: int) -> None:
        self.path, self.memory, self.held, self.number = path, memory, 0, 0

    def hold(self, string: str) -> None:
        """Charge a string that stays in memory."""
        self.held += sys.getsizeof(string) + 8
        if self.held > self.memory:
            self.check_memory()

    def check_memory(self, needed: int = 0) -> None:
        """Raise an error if what is held and `needed` bytes more exceed the limit."""
        needed += self.held
        if needed > self.memory:
            what = f"The first {counted(self.number, 'line')} of {printable(self.path)}"
            raise MemoryLimitError(
                f"{what} may take more than the limit of {format_bytes(self.memory)}.",
                needed=needed,
                limit=self.memory,
                remedies=[Remedy("memory_limit", format_bytes(10 * needed))],
            )

    def lines(self) -> Iterator[str]:
        """Every line without its end: LF, CR LF or CR."""
        with reading(self.path):
            check_regular(self.path)
            if form := guess_format(self.path):
                raise DataError(f"{printable(self.path)} is not a text file: it is {form}.", source=self.path)
            with _open_text(self.path) as file:
                try:
                    while line := file.readline(_PIECE):
                        self.number += 1
                        line = line if len(line) < _PIECE else self._complete(line, file)
                        if "\0" in line:
                            text = f"{printable(self.path)} has NUL bytes in line {self.number:,}. Save it as UTF-8."
                            raise DataError(text, source=self.path)
                        yield line.removesuffix("\n")
                except UnicodeDecodeError as error:
                    where = f"{error.object[error.start :][:4]!r} after line {self.number:,}"
                    text = f"{printable(self.path)} is not UTF-8: {where}. Save it as UTF-8."
                    raise DataError(text, source=self.path, row=self.number) from None

    def _complete(self, piece: str, file: Any) -> str:
        """A line, as long as its pieces and the line that they are put together to fit."""
        pieces, size, width = [piece], sys.getsizeof(piece), 1 if piece.isascii() else 4
        while piece and not piece.endswith("\n"):
            piece = file.readline(_PIECE)
            pieces.append(piece)
            size, width = size + sys.getsizeof(piece), width if piece.isascii() else 4
            self.check_memory(size + width * _PIECE * len(pieces))
        return "".join(pieces)
