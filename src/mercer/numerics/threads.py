"""Threads: our own for blocks of rows, and the limit of those of BLAS."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import cache
from threading import Lock
from typing import Any, TypeVar

import numpy as np

from mercer.progress import PassCounter, ProgressListener, reporting

_Item = TypeVar("_Item")
_Value = TypeVar("_Value")
_most_threads: ContextVar[int] = ContextVar("most_threads", default=10**6)
WORTH_A_THREAD = 20_000_000  # multiplications


class _BlasLimit:
    """One BLAS thread from the first entry to the last exit, counted under a lock.

    Larger counts in between.
    """

    def __init__(self) -> None:
        self.lock, self.depth = Lock(), 0
        self.before: tuple[int, ...] = ()

    @contextmanager
    def __call__(self, n_threads: int) -> Iterator[None]:
        pools = _blas_pools()
        with self.lock:
            if self.depth == 0:
                self.before = tuple(pool.num_threads for pool in pools)
            self.depth += 1
            inside = tuple(pool.num_threads for pool in pools)
            _set(pools, tuple(min(n_threads, most) for most in self.before))
        try:
            yield
        finally:
            with self.lock:
                self.depth -= 1
                _set(pools, inside if self.depth else self.before)


def _set(pools: list, counts: tuple[int, ...]) -> None:
    for pool, count in zip(pools, counts, strict=True):
        if pool.num_threads != count:
            pool.set_num_threads(count)
            getattr(pool, "clear_controlling_thread", lambda: None)()  # threadpoolctl 3.8 reserves it for its thread


@cache
def _blas_pools() -> list:
    """The BLAS libraries of this process. Listing them takes milliseconds, so it is done once."""
    import scipy.linalg.cython_blas  # noqa: F401  its BLAS must be loaded to be listed
    from threadpoolctl import ThreadpoolController

    return [pool for pool in ThreadpoolController().lib_controllers if pool.user_api == "blas"]


blas_threads = _BlasLimit()


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
    """function(item) for every item, in order of the items; the first error is raised."""
    items = list(items)
    if min(n_threads, _most_threads.get(), len(items)) <= 1:
        return [function(item) for item in items]
    with blas_threads(1):
        tasks = [
            _pool(min(n_threads, _most_threads.get())).submit(copy_context().run, function, item) for item in items
        ]
        try:
            return [task.result() for task in tasks]
        except BaseException:
            for task in tasks:
                task.cancel()
            raise


def threads_for(n_multiplications: float, n_threads: int) -> int:
    """All threads if the work is worth it, else one."""
    return n_threads if n_multiplications > WORTH_A_THREAD else 1


@cache
def _pool(n_threads: int) -> ThreadPoolExecutor:
    """Threads that stay: starting one costs as much as a small product."""
    return ThreadPoolExecutor(n_threads, thread_name_prefix="mercer")


if hasattr(os, "register_at_fork"):

    def _after_fork() -> Any:
        global blas_threads
        _pool.cache_clear()
        blas_threads.lock, blas_threads.depth = Lock(), 0

    os.register_at_fork(after_in_child=_after_fork)
