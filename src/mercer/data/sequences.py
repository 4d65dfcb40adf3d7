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


def read_lines(path: Path, options: ReadOptions, memory: int) -> Dataset:
    """Read one string per line, which is also its id. An empty line is an empty string; none follows the last one."""
    if options.case is not None:  # ids are strings of their own
        memory //= 2
    strings = [line for _, line in _lines(path, memory)]
    return _dataset(path, strings, strings, "text")


def read_fasta(path: Path, options: ReadOptions, memory: int) -> Dataset:
    """Read one string per record: a line ">name …", and all lines up to the next such line."""
    names: list[str] = []
    strings: list[str] = []
    parts: list[str] = []
    for number, line in _lines(path, memory):
        if line.startswith(">"):
            if names:
                strings.append("".join(parts))
            names.append((line[1:].split() or [""])[0])
            parts = []
        elif line.strip() and not line.startswith(";"):
            if not names or ">" in line:
                hint = "Is it FASTQ?" if line.startswith("@") else 'A record starts with a line ">name".'
                raise DataError(
                    f"{printable(path)}, line {number:,}: {short_repr(line, 40)} is not part of a record. {hint}",
                    source=path,
                    row=number,
                )
            parts.append("".join(line.split()))
    if not names:
        raise DataError(f'{printable(path)} has no records. A record starts with a line ">name".', source=path)
    strings.append("".join(parts))
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


def _lines(path: Path, memory: int) -> Iterator[tuple[int, str]]:
    """Every line without its end (LF, CR LF or CR), with its number from 1 on, as long as all of them fit."""
    size = number = 0
    longest = memory // 8  # characters; a character takes up to 4 bytes, twice while a line is put together
    with reading(path):
        check_regular(path)
        if form := guess_format(path):
            raise DataError(f"{printable(path)} is not a text file: it is {form}.", source=path)
        with _open_text(path) as file:
            try:
                for number, line in enumerate(iter(lambda: file.readline(longest), ""), 1):
                    size += sys.getsizeof(line) + 8
                    if "\0" in line:
                        raise DataError(f"{printable(path)} has NUL bytes in line {number:,}. Save it as UTF-8.")
                    if size > memory or len(line) == longest:
                        what = f"The first {counted(number, 'line')}" if size > memory else f"Line {number:,}"
                        raise MemoryLimitError(
                            f"{what} of {printable(path)} may take more than the limit of {format_bytes(memory)}.",
                            needed=size,
                            limit=memory,
                            remedies=[Remedy("memory_limit", format_bytes(10 * size))],
                        )
                    yield number, line.removesuffix("\n")
            except UnicodeDecodeError as error:
                raise DataError(
                    f"{printable(path)} is not UTF-8: {error.object[error.start :][:4]!r} after line {number:,}. Save "
                    "it as UTF-8.",
                    source=path,
                    row=number,
                ) from None
