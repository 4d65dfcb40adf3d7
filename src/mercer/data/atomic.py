"""Files that are complete or absent."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mercer.errors import OutputError
from mercer.text import printable


@contextmanager
def atomic_path(path: Path, *, durable: bool = False) -> Iterator[Path]:
    """A temporary name next to `path`, which replaces it if the block ends without an error."""
    path = path.resolve()  # follow links
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
        os.close(handle)
    except OSError as error:
        raise OutputError(f"Cannot write {printable(path)}: {error.strerror}.", path=path) from error
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(_mode(path))
        if durable:
            with temporary.open("rb") as file:
                os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()


def _mode(path: Path) -> int:
    """The mode of the file that is replaced, or that of a new file."""
    try:
        return path.stat().st_mode & 0o777
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
