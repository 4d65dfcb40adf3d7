"""Long work says how far it is: to a callback, or to a bar on stderr if that is a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer_old.errors import MissingPart
from mercer_old.terminal import MANNERS, forgiving
from mercer_old.threads import one_blas_thread

__all__ = ["Listener", "OnPass", "PassCounter", "Progress", "reporting", "saying", "track", "working"]

Listener = bool | Callable[["Progress"], object]  # what users give: a bar, or not, or a function that is told
OnPass = Callable[[float], None] | None  # what long work calls with the share of it, or of a pass, that is done


@dataclass(frozen=True)
class Progress:
    """Where a fit is: passes over the matrix done, how many it is expected to take, and how much of this one."""

    done: int
    expected: int
    fraction: float
    share: float  # of the whole, from 0 to 1; it waits when there are more passes than expected, and never goes back
    words: str = ""  # what is being done


class PassCounter:
    """Turns the fractions of passes that an operator reports into `Progress`."""

    def __init__(self, expected: int, words: str, report: Callable[[Progress], object]) -> None:
        self.expected, self.words, self.report, self.done, self.share = expected, words, report, 0, 0.0

    def __call__(self, fraction: float) -> None:
        self.share = max(self.share, (self.done + fraction) / max(self.expected, self.done + 1))
        self.report(Progress(self.done, self.expected, fraction, self.share, self.words))
        if fraction >= 1:
            self.done += 1


@contextmanager
def reporting(progress: Listener, expected: int, words: str) -> Iterator[PassCounter | None]:
    """What an operator is to call with the fraction of a pass: None, a user's function or a bar."""
    if callable(progress):
        yield PassCounter(expected, words, progress)
    elif progress and _on_terminal():
        with _bar(words) as show:
            yield PassCounter(expected, words, lambda state: show(state.share, state.words))
    else:
        yield None


def saying(on_pass: PassCounter | None, words: str) -> PassCounter | None:
    """The same counter, which calls what comes next by these words."""
    if on_pass:
        on_pass.words = words
    return on_pass


def track(items: list[Any], words: str) -> Iterator[Any]:
    """The items one after the other, with a bar if stderr is a terminal."""
    if not _on_terminal():
        yield from items
        return
    with _bar(words) as show:
        for i, item in enumerate(items):
            show(i / len(items), words)
            yield item


def _on_terminal() -> bool:
    try:
        return not MANNERS.quiet and sys.stderr is not None and sys.stderr.isatty()
    except ValueError:  # it is closed
        return False


@contextmanager
def _bar(words: str) -> Iterator[Callable[[float, str], None]]:
    try:
        from rich.console import Console
        from rich.progress import Progress as Bar
    except ModuleNotFoundError as missing:
        raise MissingPart("A progress bar", missing.name or "rich", "app") from None
    with Bar(console=Console(file=forgiving(sys.stderr)), transient=True) as bar:
        task = bar.add_task(words, total=1.0)
        yield lambda share, now: bar.update(task, completed=share, description=now)


@contextmanager
def working(progress: Listener, passes: int, words: str, *, threads: int | None = None) -> Iterator[PassCounter | None]:
    """Long work in so many passes; gives what is to be called with the share of one that is done, if anybody listens.

    numpy is quiet meanwhile, as what overflows is told in words. With `threads`, BLAS and LAPACK keep to one thread,
    and to so many where they are called for something large.
    """
    with ExitStack() as stack:
        stack.enter_context(np.errstate(over="ignore", invalid="ignore"))
        if threads is not None:
            stack.enter_context(one_blas_thread(threads))
        yield stack.enter_context(reporting(progress, passes, words))
