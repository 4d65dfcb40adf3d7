"""What the command line prints: nothing that a terminal would obey, and no stream whose failure ends the work."""

import errno
import os
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

__all__ = [
    "MANNERS",
    "end_quietly",
    "forgiving",
    "hold_standard_streams",
    "plain",
    "put",
    "say",
    "say_warning",
    "silence",
]


@dataclass
class _Manners:
    """How the command that runs talks: settled before its work, and asked wherever something is said."""

    quiet: bool = False  # nothing but warnings and errors
    debug: bool = False  # errors with the lines that led to them
    warned: list[str] = field(default_factory=list)  # warnings that were said


MANNERS = _Manners()


def plain(text: object, keep: str = "") -> str:
    """The text with everything that cannot be printed written out: \\x1b instead of an escape."""
    return "".join(c if c.isprintable() or c in keep else _written_out(c) for c in str(text))


def _written_out(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def say(text: object, *, always: bool = False) -> None:
    """A line on standard error, if there is one: work goes on where nobody listens. Warnings are said `always`."""
    if sys.stderr is None or (MANNERS.quiet and not always):  # without one, print would take standard output
        return
    try:
        print(plain(text, keep="\n"), file=sys.stderr, flush=True)
    except (OSError, ValueError):  # a full disk, a reader that is gone, a closed stream
        silence(2)


def say_warning(text: str) -> None:
    """A warning as a line of its own, which is kept for who reads figures instead of lines."""
    MANNERS.warned.append(text)
    say(f"warning: {text}", always=True)


def put(text: object) -> None:
    """A line on standard output, which is what was asked for; whoever reads it may stop whenever they like."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, "Standard output is closed")
    try:
        print(plain(text, keep="\n"), flush=True)
    except BrokenPipeError:
        end_quietly()


def end_quietly() -> None:
    """Nobody reads standard output any more, so that nothing is left to do."""
    silence(1)
    raise SystemExit(0)


def silence(descriptor: int) -> None:
    """What is still in the buffers of this stream goes nowhere, without an error at the end of the process."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


def hold_standard_streams() -> None:
    """A closed stream leaves its number to the next file that is opened, which would then get what is printed."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError):  # none, or one that is no text
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # for terminals that know no ×


def forgiving(stream: Any) -> Any:
    """The same stream, which goes on when its terminal is gone."""
    return _Forgiving(stream)


class _Forgiving:
    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def write(self, text: str) -> int:
        with suppress(OSError):
            self.stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            self.stream.flush()
