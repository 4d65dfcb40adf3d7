"""Threads: our own for blocks of rows, and the limit of those of BLAS.

The BLAS libraries of numpy and scipy have a pool of threads each, which wait for each other at every small
product: next to other busy processes that costs far more than the product. So BLAS gets one thread while
mercer works, our threads share the large pieces, and only calls that are large by themselves get more.

The number of BLAS threads belongs to the whole process. Every thread of Python states how many it wants; the
innermost request of each counts, the smallest of these is applied, and the last one to leave restores what was
there before.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar, copy_context
from functools import cache
from threading import Lock, get_ident
from typing import Any, TypeVar

import numpy as np

from mercer.progress import PassCounter, ProgressListener, reporting

_Item = TypeVar("_Item")
_Value = TypeVar("_Value")
_most_threads: ContextVar[int] = ContextVar("most_threads", default=10**6)
WORTH_A_THREAD = 4_000_000  # multiplications: below, handing work over costs more than it saves
WORTH_BLAS_THREADS = 1000**3  # multiplications of one LAPACK call from which threads of BLAS save time


class _BlasLimit:
    """The requests of all threads, and what BLAS had before the first of them."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.requests: dict[object, tuple[int, int]] = {}  # thread and count, in the order they came
        self.before: list[int] = []

    def enter(self, entry: object, n_threads: int) -> None:
        with self.lock:
            if not self.requests:
                self.before = [library.num_threads for library in _blas_libraries()]
            self.requests[entry] = get_ident(), n_threads
            self.apply()

    def leave(self, entry: object) -> None:
        with self.lock:
            self.requests.pop(entry, None)
            self.apply()

    def apply(self) -> None:
        innermost = dict(self.requests.values())
        most = min(innermost.values(), default=10**6)
        for library, before in zip(_blas_libraries(), self.before, strict=False):
            if library.num_threads != min(most, before):
                library.set_num_threads(min(most, before))
                getattr(library, "clear_controlling_thread", lambda: None)()  # reserved for a thread since 3.8

    def after_fork(self) -> None:
        """A child has none of the other threads, and must not inherit a lock in use."""
        self.lock, inherited = Lock(), self.requests
        self.requests = {entry: request for entry, request in inherited.items() if request[0] == get_ident()}
        if inherited:
            self.apply()


@cache
def _blas_libraries() -> list[Any]:
    """The BLAS libraries of this process. Listing them takes milliseconds, so it is done once."""
    import scipy.linalg.cython_blas  # noqa: F401  its BLAS must be loaded to be listed
    from threadpoolctl import ThreadpoolController

    return [library for library in ThreadpoolController().lib_controllers if library.user_api == "blas"]


_limit = _BlasLimit()


@contextmanager
def blas_threads(n_threads: int) -> Iterator[None]:
    """At most so many threads of BLAS, for the whole process."""
    entry = object()
    try:
        _limit.enter(entry, n_threads)
        yield
    finally:
        try:
            _limit.leave(entry)
        except BaseException:  # an interrupt at this very moment
            _limit.leave(entry)
            raise


def blas_threads_for_size(n_multiplications: float, n_threads: int) -> AbstractContextManager[None]:
    """`blas_threads` for one call of LAPACK: all if it is large, one if it is not, unchanged if it is small."""
    if n_multiplications < WORTH_A_THREAD:
        return nullcontext()
    return blas_threads(min(n_threads, _most_threads.get()) if n_multiplications >= WORTH_BLAS_THREADS else 1)


@contextmanager
def limit_threads(n_threads: int) -> Iterator[None]:
    """Limit BLAS and `parallel` in this context, as workers of a cluster do."""
    token = _most_threads.set(n_threads)
    try:
        with blas_threads(n_threads):
            yield
    finally:
        _most_threads.reset(token)


@contextmanager
def working(progress: ProgressListener, n_passes: int, text: str, n_threads: int) -> Iterator[PassCounter | None]:
    """Long work: a counter for the listener, one BLAS thread, and overflows that are reported later."""
    with (
        np.errstate(over="ignore", invalid="ignore"),
        blas_threads(1),
        reporting(progress, n_passes, text) as counter,
    ):
        yield counter


def parallel(function: Callable[[_Item], _Value], items: Iterable[_Item], n_threads: int) -> list[_Value]:
    """function(item) for every item, in order of the items, on so many threads, the caller's among them.

    The first error stops the others and is raised. Helper threads run in a copy of the caller's context, which
    numpy's errstate is part of.
    """
    items = list(items)
    n_threads = min(n_threads, _most_threads.get(), len(items))
    if n_threads <= 1:
        return [function(item) for item in items]
    values: list[Any] = [None] * len(items)
    errors: list[BaseException] = []
    waiting, lock = iter(range(len(items))), Lock()

    def share() -> None:
        try:
            while not errors:
                with lock:
                    i = next(waiting, None)
                if i is None:
                    return
                values[i] = function(items[i])
        except BaseException as error:  # an interrupt reaches the caller's thread and stops the helpers
            errors.append(error)

    with blas_threads(1):
        helpers = [_pool(os.getpid()).submit(copy_context().run, share) for _ in range(n_threads - 1)]
        share()
        for helper in helpers:
            if not helper.cancel():  # one that did not get a thread is not waited for
                helper.result()
    if errors:
        raise errors[0]
    return values


def in_rounds(
    function: Callable[[_Item], _Value], items: Sequence[_Item], n_threads: int, size: int, progress: Any = None
) -> Iterator[_Value]:
    """function(item) for every item, by threads, `size` items at a time, with reports on the way."""
    for first in range(0, len(items), size):
        yield from parallel(function, items[first : first + size], n_threads)
        if progress:
            progress(min(1.0, (first + size) / len(items)))


def threads_for(n_multiplications: float, n_threads: int) -> int:
    """All threads if the work is worth it, else one."""
    return n_threads if n_multiplications > WORTH_A_THREAD else 1


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """Threads that stay, since starting one costs as much as a small product. A forked child has its own."""
    return ThreadPoolExecutor(max(1, (os.cpu_count() or 2) - 1), thread_name_prefix="mercer")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_limit.after_fork)
