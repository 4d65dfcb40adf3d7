"""Errors of readers, and what changes when a file is written to."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mercer.errors import DataError, MemoryLimitError, MercerError
from mercer.text import printable, shorten

_MAGIC = {
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"\xff\xff\xff\xff": "an Arrow stream, not an Arrow file",
    b"FEA1": "a Feather file of version 1",
    b"\x93NUMPY": "a .npy file",
    b"PK\x03\x04": "a zip archive (.npz, .xlsx)",
    b"\x1f\x8b": "compressed with gzip",
    b"\x28\xb5\x2f\xfd": "compressed with zstd",
    b"BZh": "compressed with bzip2",
    b"\xfd7zXZ": "compressed with xz",
    b"\x89HDF": "an HDF5 file",
    b"SQLite format 3": "an SQLite database",
    b"%PDF": "a PDF",
    b"\x80\x04": "a pickle, which is never read",
    b"\x80\x05": "a pickle, which is never read",
}
_EXPECTED = {
    ".parquet": b"PAR1",
    ".pq": b"PAR1",
    ".arrow": b"ARROW1",
    ".feather": b"ARROW1",
    ".npy": b"\x93NUMPY",
    ".npz": b"PK\x03\x04",
    ".gz": b"\x1f\x8b",
    ".h5ad": b"\x89HDF",
    ".zst": b"\x28\xb5\x2f\xfd",
    ".bz2": b"BZh",
}


@contextmanager
def reading(path: Path | str) -> Iterator[None]:
    """Turn whatever a reader raises into one DataError with the file and, if its first bytes tell, its format."""
    try:
        yield
    except (MercerError, Warning, KeyboardInterrupt, GeneratorExit):  # warnings may be errors
        raise
    except FileNotFoundError:
        raise DataError(f"File not found: {printable(path)}.", source=path) from None
    except MemoryError as error:
        raise MemoryLimitError(f"Out of memory while reading {printable(path)}.") from error
    except Exception as error:  # h5py raises RuntimeError, Arrow its own classes
        reason = shorten(" ".join(str(error).split()).rstrip("."), 300)
        kind = guess_format(path)
        raise DataError(
            f"Cannot read {printable(path)}: {reason}.{f' It is {kind}.' if kind else ''}", source=path
        ) from error


def guess_format(path: Path | str) -> str:
    """What a file is according to its first bytes; "" if unknown or as its name says."""
    try:
        with Path(path).open("rb") as file:
            start = file.read(16)
    except (OSError, ValueError):
        return ""
    if start.startswith(_EXPECTED.get(Path(path).suffix.lower(), b"\0none")):
        return ""
    return next((kind for magic, kind in _MAGIC.items() if start.startswith(magic)), "")


def stamp(path: Path) -> tuple[int, int, int]:
    """What changes when a file is written to or replaced."""
    state = path.stat()
    return state.st_ino, state.st_size, state.st_mtime_ns


def check_regular(path: Path) -> None:
    """A pipe or a device can be read only once, or without end."""
    if path.exists() and not path.is_file():
        what = "a folder" if path.is_dir() else "not a regular file"
        raise DataError(f"Cannot read {printable(path)}: it is {what}.", source=path)
