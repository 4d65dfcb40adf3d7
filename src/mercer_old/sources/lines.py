"""Texts in files, read into memory once: one text a line, or FASTA."""

import gzip
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from mercer_old.errors import BadData, NoRoom, listed, warn
from mercer_old.limits import bytes_in_words
from mercer_old.sources.stored import kind_by_its_start, readable, refuse_irregular
from mercer_old.terminal import plain

FASTA = (".fa", ".fasta", ".fna", ".faa", ".ffn", ".frn")
_SPARE = 8  # bytes of a list for each of its texts


class Named(NamedTuple):
    """Texts, and what to call each of them."""

    texts: list[str]
    names: list[str]


def ending(path: Path) -> str:
    """How its name ends, without a .gz after it."""
    return (path.with_suffix("") if path.suffix.lower() == ".gz" else path).suffix.lower()


def read_lines(path: Path, most: float = float("inf")) -> Named:
    """A text a line; an empty line is an empty text, and nothing is one after the last line end."""
    texts = [line for _, line in _within(_lines(path), path, most)]
    return Named(texts, texts)


def read_fasta(path: Path, most: float = float("inf")) -> Named:
    """A text a record: ">name and more" in a line of its own, and all lines up to the next such line."""
    texts, names, starts, parts = list[str](), list[str](), list[int](), list[str]()
    for number, line in _within(_lines(path), path, most):
        if line.startswith(">"):
            if names:
                texts.append("".join(parts))
            parts = []
            names.append((line[1:].split() or [""])[0])
            starts.append(number)
        elif not line.startswith(";") and line.strip():
            if not names:
                raise BadData(_before_any_header(path, number, line))
            if ">" in line:
                raise BadData(
                    f'{plain(path)}, line {number:,}: ">" stands within the letters, {_around(line)}. Is the end of '
                    "the line missing before it?"
                )
            parts.append("".join(line.split()))
    if not names:
        raise BadData(f'{plain(path)} has no records: a record of FASTA begins with a line such as ">name".')
    texts.append("".join(parts))
    _tell_of_empty(path, texts, names, starts)
    _tell_of_names(path, names, starts)
    return Named(texts, names)


def _before_any_header(path: Path, number: int, line: str) -> str:
    guess = " Is it FASTQ?" if line.startswith("@") else ""
    return f'{plain(path)}, line {number}: {line[:40]!r} stands before the first line that begins with ">".{guess}'


def _tell_of_empty(path: Path, texts: list[str], names: list[str], starts: list[int]) -> None:
    empty = [f"{name!r} (line {start})" for text, name, start in zip(texts, names, starts, strict=True) if not text]
    if empty:
        which = "records have" if len(empty) > 1 else "record has"
        warn(f"{plain(path)}: {len(empty):,} {which} no letters, so taken for empty: {listed(empty, 3)}.")


def _tell_of_names(path: Path, names: list[str], starts: list[int]) -> None:
    """Records that cannot be told apart by their names, which is what scores are written with."""
    lines = dict[str, list[int]]()
    for name, start in zip(names, starts, strict=True):
        lines.setdefault(name, []).append(start)
    if nameless := lines.pop("", []):
        which = "records have" if len(nameless) > 1 else "record has"
        warn(f'{plain(path)}: {len(nameless):,} {which} no name after ">", in line {listed(nameless, 3)}.')
    twice = [f"{name!r} (lines {listed(where, 3)})" for name, where in lines.items() if len(where) > 1]
    if twice:
        which = "names stand" if len(twice) > 1 else "name stands"
        warn(f"{plain(path)}: {len(twice):,} {which} for more than one record: {listed(twice, 3)}.")


def _around(line: str) -> str:
    """A few letters on both sides of what does not belong there."""
    place = line.index(">")
    return repr(line[max(0, place - 10) : place + 10])


def _within(lines: Iterator[tuple[int, str]], path: Path, most: float) -> Iterator[tuple[int, str]]:
    """The lines, as long as all of them fit: what a file unpacks to is not known before."""
    size = 0
    for number, line in lines:
        size += sys.getsizeof(line) + _SPARE
        if size > most:
            raise NoRoom(
                f"{plain(path)}: texts are held in memory, and line {number:,} is beyond the limit of "
                f"{bytes_in_words(most)}. Give a larger memory_limit, or fewer texts."
            )
        yield number, line


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Every line without its end (LF, CR LF or CR), with its number from 1 on."""
    _refuse_binary(path)
    with readable(path):
        try:
            with _opened(path, "rt", encoding="utf-8-sig") as file:
                for number, line in enumerate(file, 1):
                    if "\0" in line:
                        raise BadData(f"{plain(path)} is no text: there are NUL bytes in line {number:,}.")
                    yield number, line.removesuffix("\n")
        except UnicodeDecodeError:
            raise BadData(bad_bytes(path)) from None
        except zlib.error as error:
            raise OSError(f"it is damaged ({error})") from None


def _opened(path: Path, mode: str, **how: Any) -> Any:
    return gzip.open(path, mode, **how) if path.suffix.lower() == ".gz" else path.open(mode.replace("t", ""), **how)


def _refuse_binary(path: Path) -> None:
    with readable(path):
        refuse_irregular(path)
        packed = path.suffix.lower() == ".gz"
        kind = "" if packed else kind_by_its_start(path)
        if kind:
            raise BadData(f"{plain(path)} is no text: it is {kind}.")
        with _opened(path, "rb") as file:
            start = file.read(2)
    if start in (b"\xff\xfe", b"\xfe\xff"):
        raise BadData(f"{plain(path)} is UTF-16; save it as UTF-8.")


def bad_bytes(path: Path) -> str:
    """The first line that is no UTF-8, found by reading anew."""
    with _opened(path, "rb") as file:
        lines = (part for line in file for part in line.removesuffix(b"\n").removesuffix(b"\r").split(b"\r"))
        for number, line in enumerate(lines, 1):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                where = f"line {number:,} has {line[error.start :][:4]!r} at byte {error.start + 1:,}"
                return f"{plain(path)} is not UTF-8: {where}; save it as UTF-8."
    return f"{plain(path)} is not UTF-8; save it as UTF-8."
