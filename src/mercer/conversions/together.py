"""Several files that belong together: all of them appear, or none."""

import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from mercer.errors import CannotWrite
from mercer.outlets import whole_file

__all__ = ["write_together"]


def write_together(contents: Mapping[Path, bytes]) -> None:
    """All are complete under other names before the first one gets its own.

    Where one cannot be written, even then, all others are as they were before.
    """
    with ExitStack() as as_before, ExitStack() as files:
        for path in contents:
            as_before.enter_context(_as_before_on_error(path))
        for path, content in contents.items():
            files.enter_context(whole_file(path)).write(content)


@contextmanager
def _as_before_on_error(path: Path) -> Iterator[None]:
    """An older file is kept under another name until all is done, and one that was not there is taken away again."""
    if path.exists() and not path.is_file():  # a pipe or a folder: nothing to keep
        yield
        return
    path = path.resolve()
    older = path.parent / f".mercer-{secrets.token_hex(8)}.older"
    try:
        if path.exists():
            _copy(path, older)
        yield
    except BaseException:
        if older.exists():
            older.replace(path)
        else:
            path.unlink(missing_ok=True)
        raise
    finally:
        older.unlink(missing_ok=True)


def _copy(path: Path, older: Path) -> None:
    try:
        shutil.copy2(path, older)
    except OSError as error:
        raise CannotWrite(path, error) from None
