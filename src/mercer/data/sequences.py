"""Strings in files, read into memory: one per line, or FASTA."""

import gzip
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from mercer.budget import format_bytes
from mercer.data.dataset import ArrayDataset, Dataset, Kind, Metadata, Source, object_array
from mercer.data.read_options import ReadOptions
from mercer.data.reading import check_regular, guess_format, reading
from mercer.errors import DataError, MemoryLimitError, ParameterError, warn
from mercer.text import counted, listed, printable, short_repr

FASTA = (".fa", ".fasta", ".fna", ".faa", ".ffn", ".frn")


def read_lines(path: Path, options: ReadOptions, kind: Kind, memory: int) -> Dataset:
    """Read one string per line. An empty line is an empty string; none follows the last line end."""
    strings = [line for _, line in _lines(path, kind, memory)]
    return _dataset(path, strings, strings, "text", options.case)


def read_fasta(path: Path, options: ReadOptions, kind: Kind, memory: int) -> Dataset:
    """Read one string per record: a line ">name …", and all lines up to the next such line."""
    names: list[str] = []
    parts: list[list[str]] = []
    for number, line in _lines(path, kind, memory):
        if line.startswith(">"):
            names.append((line[1:].split() or [""])[0])
            parts.append([])
        elif line.strip() and not line.startswith(";"):
            if not names or ">" in line:
                hint = "Is it FASTQ?" if line.startswith("@") else 'A record starts with a line ">name".'
                raise DataError(
                    f"{printable(path)}, line {number:,}: {short_repr(line, 40)} is not part of a record. {hint}",
                    source=path,
                    row=number,
                )
            parts[-1].append("".join(line.split()))
    if not names:
        raise DataError(f'{printable(path)} has no records. A record starts with a line ">name".', source=path)
    strings = ["".join(part) for part in parts]
    empty = [name for name, string in zip(names, strings, strict=True) if not string]
    twice = [name or "without a name" for name, count in Counter(names).items() if count > 1 or not name]
    for what, found in (("empty records", empty), ("names of several records, or records without a name", twice)):
        if found:
            warn(f"{printable(path)} has {what}: {listed(map(repr, found), 3)}.")
    return _dataset(path, strings, names, "name", options.case)


def _dataset(path: Path, strings: list[str], ids: list[str], id_name: str, case: str | None) -> Dataset:
    if not strings:
        raise DataError(f"Found array with 0 sample(s): {printable(path)} has no strings.", source=path)
    if case not in (None, "upper", "lower"):
        raise ParameterError("case", case, "'upper', 'lower' or None")
    turned = strings if case is None else [getattr(string, case)() for string in strings]
    data = ArrayDataset(object_array(turned), "strings", owns_samples=True)
    data.source, data.metadata = Source(printable(path), path), Metadata({id_name: ids}, id_name)
    return data


def _lines(path: Path, kind: Kind, memory: int) -> Iterator[tuple[int, str]]:
    """Every line without its end (LF, CR LF or CR), with its number from 1 on, as long as all of them fit."""
    if kind != "strings":
        raise DataError(f"{printable(path)} has strings, but this model compares {kind}.", source=path)
    packed, size, number = path.suffix.lower() == ".gz", 0, 0
    with reading(path):
        check_regular(path)
        if form := "" if packed else guess_format(path):
            raise DataError(f"{printable(path)} is not a text file: it is {form}.", source=path)
        with gzip.open(path, "rt", encoding="utf-8-sig") if packed else path.open(encoding="utf-8-sig") as file:
            try:
                for number, line in enumerate(file, 1):
                    size += sys.getsizeof(line) + 8
                    if "\0" in line:
                        raise DataError(f"{printable(path)} has NUL bytes in line {number:,}. Save it as UTF-8.")
                    if size > memory:
                        raise MemoryLimitError(
                            f"The first {counted(number, 'line')} of {printable(path)} take more than the limit of "
                            f"{format_bytes(memory)}.",
                            needed=size,
                            limit=memory,
                        )
                    yield number, line.removesuffix("\n")
            except UnicodeDecodeError as error:
                raise DataError(
                    f"{printable(path)} is not UTF-8: {error.object[error.start :][:4]!r} after line {number:,}. Save "
                    "it as UTF-8.",
                    source=path,
                    row=number,
                ) from None
