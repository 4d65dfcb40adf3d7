"""Threads over tiles, and one BLAS pool at a time.

numpy's and scipy's wheels bring a pool of BLAS threads each, which wait for each other at every small product: on a
busy machine that costs far more than the product. So BLAS gets one thread while we work, and our own threads share out
the large pieces. Two models fitted at once share that state, so the last one out restores it.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

WORTH_A_THREAD = 4_000_000  # multiplications: below, handing work over costs more than it saves

_lock = Lock()
_users = 0
_controller: ThreadpoolController | None = None
_limit: Any = None
_pool: ThreadPoolExecutor | None = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """BLAS calls run on the thread that makes them, for all threads of the process, until the last user has left."""
    global _users, _controller, _limit
    with _lock:
        _users += 1
        if _users == 1:
            _controller = _controller or ThreadpoolController()  # costs milliseconds: once a process
            _limit = _controller.limit(limits=1, user_api="blas")
            _limit.__enter__()
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                _limit.__exit__(None, None, None)


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
    return threads if multiplications > WORTH_A_THREAD else 1


def _helpers() -> ThreadPoolExecutor:
    """Threads that stay: starting one costs as much as a small product."""
    global _pool
    with _lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(max(1, (os.cpu_count() or 2) - 1), thread_name_prefix="mercer")
        return _pool


def _forget_helpers() -> None:
    """A forked child has none of its parent's threads, and must not inherit a lock in use."""
    global _pool, _lock, _users
    _pool, _lock = None, Lock()
    if _users:
        _users = 0
        _limit.__exit__(None, None, None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_helpers)
