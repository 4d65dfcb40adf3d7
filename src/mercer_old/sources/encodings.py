"""How the bytes of a text file spell its letters, and what the whole file holds: found out in one sweep."""

import codecs
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mercer_old.errors import BadData, in_short, warn
from mercer_old.sources.stored import open_bytes
from mercer_old.terminal import plain

__all__ = ["encoding_of", "look_through", "unpacked"]

_CHUNK = 1 << 20  # bytes that are read at a time
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}  # in this order: one of them begins like another
_FEW, _TIMES = 1 << 30, 200  # bytes that any packed file may unpack to, and how many times its size larger ones may


def encoding_of(name: str) -> str:
    """The name by which Python knows an encoding; what is no text is refused."""
    try:
        found = codecs.lookup(name)
    except (LookupError, ValueError):
        raise BadData(f"encoding={in_short(name)}: there is no such encoding; try utf-8, utf-16 or latin-1.") from None
    if not found._is_text_encoding:
        raise BadData(f"encoding={in_short(name)} is no encoding of texts; try utf-8, utf-16 or latin-1.")
    return "utf-8" if found.name == "utf-8-sig" else "latin-1" if found.name == "iso8859-1" else found.name


def look_through(path: Path, said: str | None) -> tuple[str, int]:
    """The encoding, and how many quotes there are; bytes that are no UTF-8 are taken for Latin-1, which is told."""
    encoding = encoding_of(said) if said else _by_its_start(path)
    try:
        return encoding, _count_quotes(path, encoding)
    except UnicodeError as error:
        if said or encoding != "utf-8":
            words = f"{plain(path)} is not {encoding.upper()}: {getattr(error, 'reason', error)}"
            raise BadData(
                f"{words}. Say what it is: mercer.open_rows(path, encoding=…), on the command line --encoding."
            ) from None
    warn(
        f"{plain(path)} is not UTF-8, and is read as Latin-1. If letters come out wrong, say what it is: "
        "mercer.open_rows(path, encoding=…), on the command line --encoding."
    )
    return "latin-1", _count_quotes(path, "latin-1")


def unpacked(path: Path) -> Iterator[bytes]:
    """All bytes, piece by piece; those of a packed file as long as it does not swell beyond all measure."""
    total, packed = 0, path.suffix.lower() == ".gz"
    most = max(_FEW, _TIMES * path.stat().st_size)
    with open_bytes(path) as file:
        while piece := file.read(_CHUNK):
            total += len(piece)
            if packed and total > most:
                raise BadData(
                    f"{plain(path)} has {path.stat().st_size:,} bytes and unpacks to more than {most:,}: no table "
                    "does that. If it is meant, unpack it first."
                )
            yield piece


def _by_its_start(path: Path) -> str:
    with open_bytes(path) as file:
        head = file.read(1 << 12)
    marked = next((name for mark, name in _MARKS.items() if head.startswith(mark)), "")
    if marked:
        return marked
    even, odd = head[::2].count(0), head[1::2].count(0)  # of Latin letters UTF-16 has every other byte zero
    if max(even, odd) > len(head) // 4 and min(even, odd) == 0:
        return "utf-16-le" if odd else "utf-16-be"
    return "utf-8"


def _count_quotes(path: Path, encoding: str) -> int:
    """In one sweep, in which whatever is not of this encoding raises."""
    if encoding == "latin-1":
        return sum(piece.count(b'"') for piece in unpacked(path))
    decoder: Any = codecs.getincrementaldecoder(encoding)()
    quotes = sum(decoder.decode(piece).count('"') for piece in unpacked(path))
    decoder.decode(b"", final=True)
    return quotes
