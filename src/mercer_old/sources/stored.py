"""Rows that lie in a file: opened anew for every sweep, checked as they are read, and every way they disappoint."""

import gzip
import zlib
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from mercer_old.arrays import Array, arrow
from mercer_old.errors import BadData, MissingPart, NoRoom, counted
from mercer_old.sources.items import Rows, regroup
from mercer_old.terminal import plain

_LONGEST = 300  # characters of a reader's own words
_MAGIC = {
    b"PAR1": "a Parquet file (.parquet)",
    b"ARROW1": "an Arrow file (.arrow)",
    b"\xff\xff\xff\xff": "an Arrow stream; save it as an Arrow file",
    b"FEA1": "a Feather file of version 1; save it anew",
    b"\x93NUMPY": "an array of numpy (.npy)",
    b"PK\x03\x04": "a zip archive, such as .npz and .xlsx are",
    b"\x1f\x8b": "compressed by gzip; unpack it first",
    b"\x28\xb5\x2f\xfd": "compressed by zstd; unpack it first",
    b"BZh": "compressed by bzip2; unpack it first",
    b"\xfd7zXZ": "compressed by xz; unpack it first",
    b"\x89HDF": "an HDF5 file",
    b"SQLite format 3": "a database of SQLite",
    b"%PDF": "a PDF",
    b"\x80\x04": "a pickle, which is never read",
    b"\x80\x05": "a pickle, which is never read",
}  # how files of some kinds begin


class FileRows(Rows):
    """A file that is opened anew for every sweep, and must not change in between."""

    path: Path

    def __init__(self, path: Path) -> None:
        self.path, self.label = path, plain(path)
        self.fingerprint = self._state()

    def blocks(self, size: int) -> Iterator[Array]:
        self._refuse_change()
        count = 0
        with readable(self.path):
            for block in self.checked(regroup(self._pieces(size), size)):
                count += len(block)
                yield block
        if count != self.shape[0]:
            raise BadData(
                f"{self.label} has {counted(count, 'row')} now, not {self.shape[0]:,}: it changed while it was read."
            )
        self._refuse_change()

    def _state(self) -> Any:
        """What changes when it is written to."""
        return fingerprint(self.path)

    def _refuse_change(self) -> None:
        if self._state() != self.fingerprint:
            raise BadData(f"{self.label} has changed since it was opened; fit again when nothing writes to it.")

    @abstractmethod
    def _pieces(self, size: int) -> Iterator[Array]:
        """All rows in pieces of any length."""


def fingerprint(path: Path) -> tuple[int, int, int]:
    """What changes when a file is written to or replaced."""
    with readable(path):
        refuse_irregular(path)
        state = path.stat()
    return state.st_ino, state.st_size, state.st_mtime_ns


def open_bytes(path: Path) -> Any:
    """The bytes of a file; what is packed (.gz) is unpacked on the way."""
    return gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb")


def for_arrow(path: Path) -> Any:
    """The same for Arrow, which knows what is packed by small letters alone."""
    packed = path.suffix.lower() == ".gz"
    return arrow("lib").input_stream(str(path), compression="gzip") if packed else path


def refuse_irregular(path: Path) -> None:
    """A pipe can be read only once, and opening it again waits for ever."""
    if path.exists() and not path.is_file():
        what = "a folder" if path.is_dir() else "no regular file (a pipe is read as standard input: mercer fit -)"
        raise BadData(f"{plain(path)} is {what}.")


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Every way a file can disappoint, in one sentence with its name."""
    try:
        yield
    except (BadData, NoRoom, MissingPart):
        raise
    except FileNotFoundError:
        raise BadData(f"{plain(path)}: there is no such file (any more).") from None
    except PermissionError as error:
        raise BadData(f"{plain(path)} cannot be read: {error.strerror}.") from None
    except MemoryError as error:
        raise NoRoom(f"{plain(path)}: out of memory while reading ({error_in_short(error)}).") from None
    except Exception as error:
        if not _is_disappointment(error):
            raise
        kind = kind_by_its_start(path)
        guess = f"It is {kind}." if kind else "Is it damaged, truncated, or of another kind?"
        raise BadData(f"{plain(path)} cannot be read: {error_in_short(error)}. {guess}") from None


def _is_disappointment(error: Exception) -> bool:
    """What readers raise for files: Python's and numpy's errors, and all of Arrow's, whatever they derive from."""
    usual = (OSError, ValueError, EOFError, OverflowError, KeyError, RecursionError, zlib.error)
    return isinstance(error, usual) or any(kind.__name__ == "ArrowException" for kind in type(error).__mro__)


def error_in_short(error: Exception) -> str:
    """What a reader says, in one line without the bytes it stumbled over."""
    words = plain(" ".join(str(error).split())).rstrip(".")
    return words if len(words) <= _LONGEST else words[:_LONGEST] + " …"


def kind_by_its_start(path: Path) -> str:
    """What a file is that begins like this; nothing if unknown, or if its name says so anyway."""
    try:
        with path.open("rb") as file:
            start = file.read(16)
    except OSError:
        return ""
    kind = next((kind for magic, kind in _MAGIC.items() if start.startswith(magic)), "")
    suffix = path.suffix.lower()
    known = {".feather": "(.arrow)", ".gz": "by gzip", ".npz": ".npz", ".h5ad": "HDF5"}.get(suffix, f"({suffix})")
    return "" if suffix and known in kind else kind


def float_type(types: Sequence[Any]) -> np.dtype[Any]:
    """float32 if every column is that narrow, else float64."""
    single = all(np.dtype(kind).kind == "f" and np.dtype(kind).itemsize <= 4 for kind in types)
    return np.dtype(np.float32 if types and single else np.float64)
