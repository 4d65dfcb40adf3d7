"""Clusters for as long as a command takes: some that it starts on this machine, or one that it only connects to."""

import logging
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing import resource_tracker
from tempfile import TemporaryDirectory
from typing import Any

from mercer_old.arrays import dask
from mercer_old.engines.waiting import is_loss
from mercer_old.errors import ClusterFailed, MissingPart, WrongUse
from mercer_old.terminal import plain

__all__ = ["OF_LOCAL_WORKERS", "connected", "local_workers"]

# One thread each: numbers are worked on by as many processes. Nobody but this machine can reach them.
# Dask listens for a browser in any case: where nothing else is.
OF_LOCAL_WORKERS: dict[str, Any] = {"threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
_STARTING = 120  # seconds that workers may take to begin
_NO_PAGES = {"dashboard": False}


@contextmanager
def local_workers(workers: int, memory: int) -> Iterator[None]:
    """So many processes with so many bytes each, and an active client of theirs; gone at the end, however it comes."""
    distributed = _distributed()
    with ExitStack() as stack:
        stack.enter_context(_silent())
        # What does not fit is put there; without a folder of its own it would outlive us.
        folder = stack.enter_context(TemporaryDirectory(prefix="mercer-workers-", ignore_cleanup_errors=True))
        try:
            with _deaf():
                cluster = distributed.LocalCluster(
                    n_workers=workers,
                    processes=True,
                    memory_limit=memory,
                    local_directory=folder,
                    silence_logs=logging.CRITICAL,
                    scheduler_kwargs=_NO_PAGES,
                    **OF_LOCAL_WORKERS,
                )
                stack.enter_context(cluster)
            client = stack.enter_context(distributed.Client(cluster))
            client.wait_for_workers(workers, timeout=_STARTING)
        except (OSError, RuntimeError) as error:
            raise ClusterFailed(f"Workers cannot be started on this machine: {_in_short(error)}.") from None
        yield


@contextmanager
def connected(address: str) -> Iterator[None]:
    """An active client of a cluster that others have started, and will end."""
    distributed = _distributed()
    with ExitStack() as stack:
        stack.enter_context(_silent())
        try:
            stack.enter_context(distributed.Client(address))
        except ValueError as error:
            raise WrongUse(f"{plain(address)} is no address of a scheduler: {_in_short(error)}.") from None
        except Exception as error:
            if not is_loss(error):
                raise
            raise ClusterFailed(
                f"The cluster at {plain(address)} does not answer ({_in_short(error)}): is its scheduler running there "
                "(dask scheduler), and is this the address that it says?"
            ) from None
        yield


def _distributed() -> Any:
    dask("config")
    try:
        import distributed
    except ModuleNotFoundError as missing:
        raise MissingPart("Work on a cluster", missing.name or "distributed", "dask") from None
    return distributed


@contextmanager
def _deaf() -> Iterator[None]:
    """Threads and processes that begin here do not hear Ctrl-C, as a terminal tells all: we end them. We hear it after.

    What is blocked is so in the children as well, from their first moment on.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # which takes all blocks away when it begins
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _silent() -> Iterator[None]:
    """Dask logs what it does and what it loses; people are told what counts in our own words."""
    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in ("distributed", "tornado")]
    levels = {logger: logger.level for logger in map(logging.getLogger, names)}  # some have levels of their own
    for logger in levels:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in levels.items():
            logger.setLevel(level)


def _in_short(error: Exception) -> str:
    return plain(" ".join(str(error).split())[:150]).rstrip(".") or type(error).__name__
