"""Errors of readers, and what changes when a file is written to."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from mercer.budget import format_bytes
from mercer.errors import DataError, MemoryLimitError, MercerError, Remedy
from mercer.text import printable, shorten

_MAGIC: tuple[tuple[bytes, str, tuple[str, ...]], ...] = (
    (b"PAR1\x15", "a Parquet file", (".parquet", ".pq")),
    (b"ARROW1\0\0", "an Arrow file", (".arrow", ".feather")),
    (b"\xff\xff\xff\xff", "an Arrow stream, not an Arrow file", ()),
    (b"FEA1\0", "a Feather file of version 1", ()),
    (b"\x93NUMPY", "a .npy file", (".npy",)),
    (b"PK\x03\x04", "a zip archive (.npz, .xlsx)", (".npz",)),
    (b"\x1f\x8b", "compressed with gzip", (".gz",)),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd", (".zst",)),
    (b"BZh91AY&SY", "compressed with bzip2", (".bz2",)),
    (b"\xfd7zXZ", "compressed with xz", ()),
    (b"\x89HDF", "an HDF5 file", (".h5ad",)),
    (b"SQLite format 3\0", "an SQLite database", ()),
    (b"%PDF-", "a PDF", ()),
    (b"\x80\x04", "a pickle, which is never read", ()),
    (b"\x80\x05", "a pickle, which is never read", ()),
)  # first bytes, as long as no text table begins with them, and extensions for which they are expected
IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".pgm", ".ppm")


@contextmanager
def reading(path: Path | str) -> Iterator[None]:
    """Turn whatever a reader raises into one DataError with the file and, if its first bytes tell, its format."""
    try:
        yield
    except (MercerError, Warning):  # warnings may be errors
        raise
    except FileNotFoundError:
        raise DataError(f"File not found: {printable(path)}.", source=path) from None
    except MemoryError as error:
        raise MemoryLimitError(f"Out of memory while reading {printable(path)}.") from error
    except Exception as error:  # h5py raises RuntimeError, Arrow its own classes
        reason = shorten(" ".join(str(error).split()).rstrip("."), 300)
        kind = guess_format(path)
        raise unreadable(path, f"{reason}. It is {kind}" if kind else reason) from error


def check_memory(what: str, needed: int, limit: int, hint: str = "", remedies: Sequence[Remedy] = ()) -> None:
    """Raise an error, before anything is read, if it takes more memory than the limit."""
    if needed > limit:
        raise MemoryLimitError(
            f"Reading {what} may take {format_bytes(needed)}, and the limit is {format_bytes(limit)}.{hint}",
            needed=needed,
            limit=limit,
            remedies=[Remedy("memory_limit", format_bytes(1.5 * needed)), *remedies],
        )


def unreadable(path: Path | str, reason: str) -> DataError:
    """The error for a file that cannot be used."""
    return DataError(f"Cannot read {printable(path)}: {reason}.", source=path)


def changed(name: str) -> DataError:
    """The error for a file that was written to since it was opened."""
    return DataError(f"{name} has changed since it was opened.", source=name)


def guess_format(path: Path | str) -> str:
    """What a file is according to its first bytes; "" if unknown or as its name says."""
    try:
        with Path(path).open("rb") as file:
            start = file.read(16)
    except (OSError, ValueError):
        return ""
    found = ((kind, suffixes) for magic, kind, suffixes in _MAGIC if start.startswith(magic))
    kind, suffixes = next(found, ("", ()))
    return "" if Path(path).suffix.lower() in suffixes else kind


def stamp(path: Path) -> tuple[int, int, int]:
    """What changes when a file is written to or replaced."""
    state = path.stat()
    return state.st_ino, state.st_size, state.st_mtime_ns


def check_regular(path: Path) -> None:
    """A pipe or a device can be read only once, or without end."""
    if path.exists() and not path.is_file():
        what = "a folder" if path.is_dir() else "not a regular file"
        raise DataError(f"Cannot read {printable(path)}: it is {what}.", source=path)
