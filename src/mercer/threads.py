"""Threads over tiles, and one BLAS pool at a time.

numpy's and scipy's wheels bring a pool of BLAS threads each, which wait for each other at every small product: on a
busy machine that costs far more than the product. So BLAS gets one thread while we work, and our own threads share out
the large pieces. Two models fitted at once share that state, so the last one out restores it.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = Lock()
_users = 0
_controller: ThreadpoolController | None = None
_limit: Any = None


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
    """work(task) for every task, on so many threads. The first error stops the rest; Ctrl-C stops within a task."""
    tasks = list(tasks)
    threads = min(threads, len(tasks))
    if threads <= 1:
        for task in tasks:
            work(task)
        return
    with one_blas_thread(), ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(work, task) for task in tasks]
        try:
            for future in futures:
                future.result()
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
