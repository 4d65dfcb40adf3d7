"""Files under way: written under another name, locked while somebody writes them, and cleared away when nobody does.

A process that is killed leaves such a file behind. The system takes its lock away with it, so that whoever writes to
the same folder next can tell it from the file of a process that is at work.
"""

import os
import platform
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EINVAL, ENOTSUP
from hashlib import sha256
from pathlib import Path

__all__ = ["clear_abandoned", "keep", "keep_name", "locked", "new_part"]

# Locks may not be seen by other machines with the same folder: each clears away its own files alone.
_HERE = sha256(platform.node().encode("utf-8", "replace")).hexdigest()[:8]
_PART = re.compile(rf"\.mercer-{_HERE}-[0-9a-f]{{16}}\.part")


def new_part(folder: Path) -> Path:
    """A name that nothing has."""
    return folder / f".mercer-{_HERE}-{secrets.token_hex(8)}.part"


@contextmanager
def locked(handle: int, path: Path) -> Iterator[bool]:
    """A lock on a file that is open, which outlives its closing; whether the file still has its name.

    It has not if somebody has taken it for an abandoned one, between its making and its lock.
    """
    lock = os.dup(handle)
    try:
        _lock(lock)
        yield _is_at(lock, path)
    finally:
        os.close(lock)


def clear_abandoned(folder: Path) -> None:
    """Take files away that were left behind; what cannot be done is left to others."""
    with suppress(OSError), os.scandir(folder) as entries:
        for name in [entry.name for entry in entries if _PART.fullmatch(entry.name)]:
            with suppress(OSError):
                _clear_if_abandoned(folder / name)


def _clear_if_abandoned(path: Path) -> None:
    if not stat.S_ISREG(path.lstat().st_mode):
        return
    handle = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    try:
        if _lock(handle, wait=False):
            path.unlink()
    finally:
        os.close(handle)


def _lock(handle: int, wait: bool = True) -> bool:
    """Whether it is ours now; never where the system has no such locks, so that nothing is cleared away there."""
    try:
        import fcntl
    except ImportError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_at(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.lstat())
    except FileNotFoundError:
        return False


def keep(handle: int) -> None:
    """Wait until a file is on the disk, where the system can say so."""
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (EINVAL, ENOTSUP):
            raise


def keep_name(folder: Path) -> None:
    """The same for the name of a file, where folders can be opened."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
