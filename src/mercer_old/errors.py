"""Every exception of the package. A message says what, the numbers, and what to try.

The command line turns them into exit codes: 0 done, 1 a defect of ours, 2 wrong use or a missing part,
3 bad data, 4 not verified, 5 no room (memory, disk, permission), 6 a cluster that failed, 129 hung up,
130 interrupted, 143 terminated.
"""

import re
import sys
import warnings
from collections.abc import Iterable, Sequence

from mercer_old.terminal import plain

__all__ = [
    "INTERRUPTED",
    "NO_ROOM",
    "WRONG_USE",
    "BadData",
    "BadModel",
    "CannotWrite",
    "ClaimsFailed",
    "ClusterFailed",
    "MercerError",
    "MercerWarning",
    "MissingPart",
    "NoRoom",
    "NotVerified",
    "WrongUse",
    "are",
    "counted",
    "in_short",
    "joined",
    "listed",
    "shortened",
    "warn",
    "warn_each",
]


_DEFECT, WRONG_USE, _BAD_DATA, _NOT_VERIFIED, NO_ROOM, _NO_CLUSTER, INTERRUPTED = 1, 2, 3, 4, 5, 6, 130


class MercerError(Exception):
    """What went wrong, in one sentence for people; `exit_code` is the same for scripts."""

    exit_code = _DEFECT


class WrongUse(MercerError):
    """Something was asked for that does not exist."""

    exit_code = WRONG_USE


class MissingPart(MercerError):
    """An optional dependency is not installed."""

    exit_code = WRONG_USE

    def __init__(self, what: str, package: str, extra: str) -> None:
        super().__init__(f'{what} needs {package}, which is not installed. Try: pip install "mercer[{extra}]"')


class CannotWrite(MercerError):
    """A file or folder could not be written."""

    exit_code = NO_ROOM

    def __init__(self, path: object, error: OSError) -> None:
        super().__init__(
            f"Cannot write {plain(path)}: {error.strerror or error}. Try another folder (--out on the command line)."
        )


class ClaimsFailed(MercerError):
    """A figure was drawn, but something it claims did not hold."""

    exit_code = _NOT_VERIFIED


class NotVerified(MercerError):
    """An answer was given, but it is not as good as was asked for."""

    exit_code = _NOT_VERIFIED


class NoRoom(MercerError, MemoryError):
    """The work does not fit into the memory limit; said before anything is allocated."""

    exit_code = NO_ROOM


class ClusterFailed(MercerError, RuntimeError):
    """A cluster has no workers, other versions, or does not answer any more."""

    exit_code = _NO_CLUSTER


class BadData(MercerError, ValueError):
    """The data cannot be used as they are."""

    exit_code = _BAD_DATA


class BadModel(BadData):
    """A model file is damaged, or holds something that is no model."""


def listed(items: Iterable[object], most: int = 5, total: int | None = None) -> str:
    """A few of them, and how many more there are: "a, b, c and 19,997 more"; `total` where not all are at hand."""
    items = list(items)
    shown = [str(item) for item in items[:most]]
    more = (len(items) if total is None else total) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")


def joined(words: Sequence[str], last: str = "and") -> str:
    """All of them: "a, b and c"."""
    return f" {last} ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def counted(number: int, noun: str) -> str:
    """A number and its noun: "1 row", "2,000 rows", "0 passes"."""
    plural = noun + ("es" if noun.endswith("s") else "s")
    return f"{number:,} {noun if number == 1 else plural}"


def are(number: int) -> str:
    """The verb after so many."""
    return "is" if number == 1 else "are"


def in_short(value: object, most: int = 60) -> str:
    """A value as it is written in Python, without line breaks and addresses, and cut if it is long."""
    return shortened(re.sub(r" at 0x[0-9a-fA-F]+", "", " ".join(repr(value).split())), most)


def shortened(text: str, most: int) -> str:
    """A text, cut if it is long."""
    return text if len(text) <= most else f"{text[:most]}…"


def warn(message: str, category: type[Warning] | None = None) -> None:
    """Warn, pointing at the line of the user's that led here: the first one outside of us and scikit-learn."""
    depth, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in ("mercer", "mercer_old", "sklearn"):
        depth, frame = depth + 1, frame.f_back
    warnings.warn(message, category or MercerWarning, stacklevel=depth + 1)


def warn_each(messages: Iterable[str]) -> None:
    """The same for each; what is empty says nothing."""
    for message in filter(None, messages):
        warn(message)


class MercerWarning(UserWarning):
    """Something a user should know about an answer that was given all the same."""
