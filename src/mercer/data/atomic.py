"""Files that are complete or absent."""

import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from mercer.errors import OutputError
from mercer.text import printable


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn errors of the file system into one OutputError with the name of the file."""
    try:
        yield
    except OutputError:
        raise
    except OSError as error:
        raise OutputError(f"Cannot write {printable(path)}: {error.strerror or error}.", path=path) from error


@contextmanager
def atomic_path(path: Path, *, durable: bool = False) -> Iterator[Path]:
    """A temporary name next to `path`, which replaces it if the block ends without an error.

    Links are followed. A new file has the mode of the one that it replaces. With `durable`, it is on the disk before
    it has its name. Pipes and devices are written directly.
    """
    if is_special(path):
        yield path
        return
    path = path.resolve()
    with writing(path):
        handle, name = tempfile.mkstemp(prefix=".mercer-", suffix=".tmp", dir=path.parent)
        os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with writing(path):
            temporary.chmod(_mode(path))
            if durable:
                _sync(temporary)
            temporary.replace(path)
            if durable:
                with suppress(OSError):  # not on Windows
                    _sync(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def atomic_file(path: Path, *, durable: bool = False) -> Iterator[IO[bytes]]:
    """A binary file that appears when it is complete."""
    with atomic_path(path, durable=durable) as temporary:
        with writing(path):
            file = temporary.open("wb")
        with file:
            yield file


def write_files(contents: Mapping[Path, bytes]) -> None:
    """Write several files; each appears when it is complete."""
    for path, content in contents.items():
        with writing(path), atomic_file(path) as file:
            file.write(content)


def is_special(path: Path) -> bool:
    """Whether it exists and is not a regular file: a pipe, a terminal, /dev/null."""
    return path.exists() and not path.is_file()


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _mode(path: Path) -> int:
    """The mode of the file that is replaced, or that of a new file."""
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
