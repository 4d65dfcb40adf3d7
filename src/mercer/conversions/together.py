"""Several files that belong together: all of them appear, or none.

No file system gives several files their names at once. So older files of a set give up their names, each by one step,
before the first new one has its own: whoever is killed in between leaves a set that lacks files, which can be seen, and
never one of old and new files, which could not. The older ones are beside it then, as ``.mercer-….older``.
"""

import secrets
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
        for path, content in contents.items():
            file = files.enter_context(whole_file(path))
            file.write(content)
            file.flush()
        if len(contents) > 1:  # one file takes the place of another in one step
            for path in contents:
                as_before.enter_context(_set_aside(path))


@contextmanager
def _set_aside(path: Path) -> Iterator[None]:
    """An older file has another name until all is done; on an error it has its own again, as nothing was written."""
    if path.exists() and not path.is_file():  # a pipe or a folder: nothing to keep
        yield
        return
    path = path.resolve()
    older = path.parent / f".mercer-{secrets.token_hex(8)}-{path.name[-40:]}.older"  # names have a longest length
    was_there = path.exists()
    try:
        if was_there:
            _rename(path, older)
        yield
    except BaseException:
        if older.exists():
            older.replace(path)
        elif not was_there:
            path.unlink(missing_ok=True)
        raise
    older.unlink(missing_ok=True)


def _rename(path: Path, older: Path) -> None:
    try:
        path.replace(older)
    except OSError as error:
        raise CannotWrite(path, error) from None
