"""Several files that belong together: all of them appear, or none.

No file system gives several files their names at once. So older files of a set give up their names, each by one step,
before the first new one has its own: whoever is killed in between leaves a set that lacks files, which can be seen, and
never one of old and new files, which could not. The older ones are beside it then, as ``.mercer-….older``.
"""

import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from mercer_old.errors import CannotWrite
from mercer_old.outlets import whole_file

__all__ = ["write_together"]


def write_together(contents: Mapping[Path, bytes]) -> None:
    """All contents are written under other names first, and all names are given at the end.

    Where one cannot be written, even then, all others are as they were before.
    """
    with ExitStack() as set_aside, ExitStack() as files:
        for path, content in contents.items():
            file = files.enter_context(whole_file(path))
            file.write(content)
            file.flush()
        if len(contents) > 1:  # one file takes the place of another in one step
            set_aside.enter_context(_set_aside(contents))


@contextmanager
def _set_aside(paths: Iterable[Path]) -> Iterator[None]:
    """Older files have other names until all is done; on an error they have their own again, as nothing was written.

    When all is done, nothing goes back any more: what cannot be taken away then stays beside the new files.
    """
    own = [path.resolve() for path in paths if path.is_file() or not path.exists()]  # else a pipe or a folder
    older = {path: _name_beside(path) for path in own if path.exists()}
    try:
        for path, beside in older.items():
            _rename(path, beside)
        yield
    except BaseException:
        for path in own:
            _put_back(path, older.get(path))
        raise
    for beside in older.values():
        with suppress(OSError):
            beside.unlink()


def _name_beside(path: Path) -> Path:
    return path.parent / f".mercer-{secrets.token_hex(8)}-{path.name[-40:]}.older"  # names have a longest length


def _put_back(path: Path, beside: Path | None) -> None:
    if beside is None:
        path.unlink(missing_ok=True)
    elif beside.exists():
        beside.replace(path)


def _rename(path: Path, older: Path) -> None:
    try:
        path.replace(older)
    except OSError as error:
        raise CannotWrite(path, error) from None
