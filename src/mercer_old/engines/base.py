"""The contract of whoever works on chunks: three verbs, and two ways to have what comes of them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from mercer_old.progress import OnPass

Handle = Any  # of something that is elsewhere, or not made yet: who made it knows what it is
_Thing = TypeVar("_Thing")


class Engine(ABC):
    """Who works on chunks. Work is a pure function: whoever does it, and however often, the result is the same."""

    elsewhere: bool = False  # whether others do the work, and not this process
    workers: int = 1  # that work at once
    room: int | None = None  # bytes of memory that each of them has, if anybody said

    @abstractmethod
    def share(self, value: Any) -> Handle:
        """Something that all work asks for: sent once, and not once a task."""

    @abstractmethod
    def map(
        self, work: Callable[..., Any], chunks: Sequence[Handle], own: Sequence[Any] | None = None, *shared: Handle
    ) -> list[Handle]:
        """work(chunk, its own, *shared) of every chunk, or list of chunks. Nothing is done before somebody asks."""

    @abstractmethod
    def reduce(self, merge: Callable[[Any, Any], Any], handles: Sequence[Handle], on_pass: OnPass = None) -> Any:
        """All results in one, merged two by two along `tree`. `merge` changes neither of its arguments."""

    @abstractmethod
    def bring(self, handles: Sequence[Handle], on_pass: OnPass = None) -> Iterator[Any]:
        """The results themselves, in order, one after the other: few of them wait here."""

    @abstractmethod
    def collect(self, handles: Sequence[Handle]) -> list[Any]:
        """All results at once, which is sooner than one after the other: for such as are small."""

    @abstractmethod
    def keep(self, handles: Sequence[Handle], evenly: bool = False) -> list[Handle]:
        """The same results, made once and kept where they are made, for who asks for them again and again.

        They may still be under way: what goes wrong is told at the latest to who asks. As work will go to them,
        `evenly` has those that have more than others of what they are made of leave some to them.
        """

    @abstractmethod
    def let_go(self) -> None:
        """Of all that is kept or shared: for who stops on the way, as a traceback may hold it for ever."""

    @abstractmethod
    def threads(self, asked: int) -> int:
        """Threads that one piece of work may take, if so many were asked for."""


_used: ContextVar[list[Engine] | None] = ContextVar("engines that others keep something for", default=None)


def keeps_something(engine: Engine) -> None:
    """Others keep something for it, which is let go if whoever asked stops on the way."""
    engines = _used.get()
    if engines is not None and engine not in engines:
        engines.append(engine)


@contextmanager
def leaving_nothing_behind() -> Iterator[None]:
    """Whoever stops in here, wherever that is: workers keep nothing any longer for the engines that were used in here.

    That is all that such an engine has them keep, also for another fit to the same opened rows.
    """
    engines: list[Engine] = []
    token = _used.set(engines)
    try:
        yield
    except BaseException:
        for engine in engines:
            engine.let_go()
        raise
    finally:
        _used.reset(token)
    for engine in engines:  # they go on for whoever is around this
        keeps_something(engine)


def tree(results: Sequence[_Thing], merge: Callable[[_Thing, _Thing], _Thing]) -> _Thing:
    """All of them in one: halves first, so that its shape depends on their number alone."""
    if len(results) == 1:
        return results[0]
    half = (len(results) + 1) // 2
    return merge(tree(results[:half], merge), tree(results[half:], merge))
