"""Around a command that reads and writes: the file, what is said of it, and what becomes of errors and warnings."""

import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mercer_old.commands.wording import in_options
from mercer_old.errors import BadData, MercerError, WrongUse
from mercer_old.outlets import refuse_same_file, refuse_unwritable
from mercer_old.terminal import plain, say, say_warning

_STARTS = {
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    b"\x93NUMPY": ".npy",
    b"PK\x03\x04": ".npz",
    b"\x89HDF": ".h5ad",
    b"\x1f\x8b": ".gz",
}  # how files begin, and how their names end


def place_for(data: str, out: Path | None) -> Path | None:
    """Where scores go, or None for standard output; said before the work if that cannot be."""
    out = None if out == Path("-") else out
    if (out is None and sys.stdout is None) or (data == "-" and sys.stdin is None):
        raise WrongUse("Standard input or output is closed; name files instead.")
    if out is not None:
        refuse_unwritable(out)
        refuse_same_file(Path(data), out)
    return out


def tell_of_bare_numbers(items: Any, out: Path | None) -> None:
    """Where names of rows are lost, as a file has no place for them."""
    kind = "" if out is None else out.suffix.lower()
    if kind == ".npy" and items.written_along:
        say(f"{plain(out)} has numbers alone; names of rows go to .npz, and all else to .csv or .parquet files.")
    if kind == ".npz" and items.beside:
        say(f"{plain(out)} has scores and names of rows; labels and kept columns go to .csv or .parquet files.")


@contextmanager
def as_bad_data(path: Path, name: str) -> Iterator[None]:
    """What scikit-learn's checks and the numbers themselves object to."""
    try:
        yield
    except MercerError as error:
        error.args = (_called(str(error), path, name),)
        raise
    except ValueError as error:
        raise BadData(_called(str(error), path, name)) from None


@contextmanager
def file_for(data: str, kind: str = ".csv") -> Iterator[tuple[Path, str]]:
    """The file and its name for people; standard input is copied into one first, as it can be read only once."""
    if data != "-":
        yield Path(data), plain(Path(data))
        return
    with tempfile.TemporaryDirectory(prefix="mercer-") as folder:
        copy = Path(folder) / f"standard-input{kind}"
        with copy.open("wb") as file:
            for piece in _standard_input():
                file.write(piece)
        yield _by_its_start(copy), "standard input"


def _by_its_start(copy: Path) -> Path:
    """What has no name is read as what it begins like: CSV, unless it is of a kind that shows."""
    with copy.open("rb") as file:
        start = file.read(8)
    kind = next((kind for mark, kind in _STARTS.items() if start.startswith(mark)), "")
    if kind == ".gz":
        kind = f"{copy.suffix}.gz"
    return copy.rename(copy.with_suffix(kind)) if kind else copy


def _called(message: str, path: Path, name: str) -> str:
    """A message in which the file has its name for people: nobody knows the copy of standard input."""
    if name == plain(path):
        return message
    if message.startswith(plain(path)):
        message = message.replace(plain(path), name.capitalize(), 1)
    return message.replace(plain(path), name)


def _standard_input() -> Iterator[bytes]:
    try:
        while piece := sys.stdin.buffer.read(1 << 20):
            yield piece
    except OSError as error:  # a folder, say
        raise BadData(f"Standard input cannot be read: {error.strerror}.") from None


@contextmanager
def warnings_as_lines(path: Path, name: str) -> Iterator[list[str]]:
    """Every warning as one line, but for those that are known already."""
    known = list[str]()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        if str(message) not in known:
            known.append(str(message))
            say_warning(in_options(_called(str(message), path, name)))

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        yield known
