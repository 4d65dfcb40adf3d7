"""Threads over tiles, and how many of BLAS.

numpy's and scipy's wheels bring a pool of BLAS threads each, which wait for each other at every small product: beside
other busy processes that costs far more than the product (an eigenproblem of 700 rows took 6 s on two threads and
0.1 s on one). So BLAS gets one thread while we work, our own threads share out the large pieces, and only calls that
are large by themselves get more.

The number of BLAS threads belongs to the whole process. So there is one book of who wants how many: the innermost wish
of every thread counts, the smallest of them is granted, and the last one out restores what was there before, unless
somebody else has changed it meanwhile.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from threading import Lock, get_ident
from typing import Any

from threadpoolctl import ThreadpoolController

__all__ = ["WORTH_BLAS_THREADS", "blas_threads_for", "one_blas_thread", "run", "threads_for"]

_WORTH_A_THREAD = 4_000_000  # multiplications: below, handing work over costs more than it saves
# Multiplications of one LAPACK call (n³ for n rows) from which its threads save time: measured idle on two cores they
# gain nothing up to 700 rows, a fifth at 1000 to 1500, and half the time at 2000.
WORTH_BLAS_THREADS = 2000**3

_lock = Lock()
_wishes: dict[object, tuple[int, int]] = {}  # thread and number of every one that is inside, in the order they came
_allowed: ContextVar[int] = ContextVar("allowed", default=os.cpu_count() or 1)
_pools: "list[_Pool] | None" = None
_helping: ThreadPoolExecutor | None = None


# ---------------------------------------------------------------------- BLAS


@contextmanager
def one_blas_thread(allowed: int | None = None) -> Iterator[None]:
    """BLAS calls run on the thread that makes them, for all threads of the process, until the last user has left.

    Calls inside that say how large they are by `blas_threads_for` get `allowed` threads, if they are large enough.
    """
    before = _allowed.get()
    _allowed.set(before if allowed is None else allowed)
    try:
        with _at_most(1):
            yield
    finally:
        _allowed.set(before)


@contextmanager
def blas_threads_for(multiplications: float) -> Iterator[None]:
    """As many BLAS threads as are allowed if the work is worth it, else one."""
    with _at_most(_allowed.get() if multiplications >= WORTH_BLAS_THREADS else 1):
        yield


@contextmanager
def _at_most(count: int) -> Iterator[None]:
    """An entry in the book while the caller is inside; whatever is raised, and wherever, nothing is left behind."""
    entry = object()
    try:
        with _lock:
            _wishes[entry] = (get_ident(), count)
            _settle()
        yield
    finally:
        try:
            _leave(entry)
        except BaseException:  # Ctrl-C at just this moment
            _leave(entry)
            raise


def _leave(entry: object) -> None:
    with _lock:
        _wishes.pop(entry, None)
        _settle()


def _settle() -> None:
    """Grant what the book says."""
    global _pools
    if _pools is None:  # looking for the libraries costs milliseconds: once a process
        import scipy.linalg.cython_blas  # noqa: F401  numpy's and scipy's have to be there to be found

        _pools = [_Pool(library) for library in ThreadpoolController().lib_controllers if library.user_api == "blas"]
    innermost = dict(_wishes.values())
    for pool in _pools:
        pool.settle(innermost)


class _Pool:
    """The threads of one BLAS library: how many there were before we came, and how many we left it."""

    def __init__(self, library: Any) -> None:
        self.library = library
        self.of_each_thread = getattr(library, "threading_layer", None) == "openmp"
        self.known: dict[int, tuple[int, int]] = {}  # before and left, of a thread or (0) of the process

    def settle(self, wishes: dict[int, int]) -> None:
        """The smallest wish of all threads, or of this one if it has a number of its own; without any, as before."""
        me = get_ident() if self.of_each_thread else 0
        wish = wishes.get(me) if me else min(wishes.values(), default=None)
        if wish is None and me not in self.known:
            return
        now = self.library.num_threads
        before, left = self.known.get(me, (now, now))
        if wish is not None:
            before = before if now == left else max(before, now)  # somebody else has given back what he had taken
            self.known[me] = before, self._set(min(wish, before), now)
            return
        if now == left:  # else somebody else has the last word
            self._set(before, now)
        del self.known[me]

    def _set(self, count: int, now: int) -> int:
        """What it is then: while a thread is in a `threadpool_limits` of its own, threadpoolctl heeds no other."""
        if count == now:
            return now
        self.library.set_num_threads(count)
        # Since 3.8 threadpoolctl lets nobody but the thread that set a number change it again, but the last one out
        # need not be the first one in.
        getattr(self.library, "clear_controlling_thread", lambda: None)()
        return int(self.library.num_threads)


# ---------------------------------------------------------------------- our own


def run(work: Callable[[Any], None], tasks: Iterable[Any], threads: int) -> None:
    """work(task) for every task, on so many threads, the caller's among them. The first error stops the rest."""
    tasks = list(tasks)
    if min(threads, len(tasks)) <= 1:
        for task in tasks:
            work(task)
        return
    waiting = iter(tasks)
    failures: list[BaseException] = []

    def share() -> None:
        try:
            with one_blas_thread():
                while not failures:
                    with _lock:
                        task = next(waiting, waiting)
                    if task is waiting:
                        return
                    work(task)
        except BaseException as error:  # Ctrl-C reaches the caller's thread here, and stops the others within a task
            failures.append(error)

    with one_blas_thread():
        # In a copy of the caller's context: numpy's errstate is part of it.
        helpers = [_helpers().submit(copy_context().run, share) for _ in range(min(threads, len(tasks)) - 1)]
        share()
        for helper in helpers:
            if not helper.cancel():  # one that never got a thread is not waited for
                helper.result()
    if failures:
        raise failures[0]


def threads_for(multiplications: int, threads: int) -> int:
    """All of them if the work is worth it, else one."""
    return threads if multiplications > _WORTH_A_THREAD else 1


def _helpers() -> ThreadPoolExecutor:
    """Threads that stay: starting one costs as much as a small product."""
    global _helping
    with _lock:
        if _helping is None:
            _helping = ThreadPoolExecutor(max(1, (os.cpu_count() or 2) - 1), thread_name_prefix="mercer")
        return _helping


def _alone() -> None:
    """A forked child has none of its parent's other threads, nor their wishes, and must not inherit a lock in use."""
    global _helping, _lock
    _helping, _lock = None, Lock()
    for entry, (thread, _) in list(_wishes.items()):
        if thread != get_ident():
            del _wishes[entry]
    if _pools is not None:
        _settle()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_alone)
