"""Clusters for the duration of a `with` block: local workers, or a connection to a running cluster."""

import logging
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing import resource_tracker
from tempfile import TemporaryDirectory
from typing import Any

from mercer.cluster.executor import is_lost
from mercer.compat.optional import import_optional
from mercer.errors import ClusterError, MemoryLimitError, ParameterError
from mercer.text import shorten

WORKER_MEMORY = 400_000_000  # bytes that a worker needs to import the package and hold some partitions
_START_SECONDS = 120
_LOCAL: dict[str, Any] = {  # one thread each; nothing is reachable from other machines
    "processes": True,
    "threads_per_worker": 1,
    "host": "127.0.0.1",
    "dashboard_address": "127.0.0.1:0",
    "silence_logs": logging.CRITICAL,
    "scheduler_kwargs": {"dashboard": False},
}


@contextmanager
def start_workers(n_workers: int, memory: int) -> Iterator[None]:
    """Start worker processes on this machine, with an active client, and end them with the block.

    Parameters
    ----------
    n_workers : int
        Number of processes, with one thread each.
    memory : int
        Bytes that all of them together may use; at least 400 MB for each.
    """
    if n_workers < 1:
        raise ParameterError("n_workers", n_workers, "at least 1")
    if memory < n_workers * WORKER_MEMORY:
        raise MemoryLimitError(
            f"{n_workers} workers need at least {n_workers * WORKER_MEMORY / 1e9:.1f} GB, 400 MB each, more than the "
            f"limit of {memory / 1e9:.1f} GB. Start at most {max(1, memory // WORKER_MEMORY)}.",
            needed=n_workers * WORKER_MEMORY,
            limit=memory,
        )
    distributed: Any = import_optional("distributed", "dask", "Work on a cluster")
    with ExitStack() as stack:
        stack.enter_context(_silenced())
        # Dask spills here; a folder of its own does not outlive a worker that is killed.
        folder = stack.enter_context(TemporaryDirectory(prefix="mercer-workers-", ignore_cleanup_errors=True))
        try:
            with _sigint_blocked():
                cluster = stack.enter_context(
                    distributed.LocalCluster(
                        n_workers=n_workers, memory_limit=memory // n_workers, local_directory=folder, **_LOCAL
                    )
                )
            client = stack.enter_context(distributed.Client(cluster))
            client.wait_for_workers(n_workers, timeout=_START_SECONDS)
        except (OSError, RuntimeError) as error:
            raise ClusterError(f"Workers cannot be started on this machine: {_short(error)}.") from None
        yield


@contextmanager
def connect(address: str) -> Iterator[None]:
    """Connect an active client to a running cluster for the duration of the block.

    Parameters
    ----------
    address : str
        Address of the scheduler, such as "tcp://10.0.0.1:8786".
    """
    distributed: Any = import_optional("distributed", "dask", "Work on a cluster")
    with ExitStack() as stack:
        stack.enter_context(_silenced())
        try:
            distributed.comm.get_address_host_port(address)  # first: a client with a wrong address is never closed
            stack.enter_context(distributed.Client(address))
        except ValueError as error:
            raise ParameterError(
                "address",
                address,
                "an address",
                message=f"{address!r} is not an address of a scheduler: {_short(error)}.",
            ) from None
        except Exception as error:
            if not is_lost(error):
                raise
            raise ClusterError(
                f"The cluster at {address} does not answer ({_short(error)}). Check that `dask scheduler` runs there "
                "and reports this address."
            ) from None
        yield


@contextmanager
def _sigint_blocked() -> Iterator[None]:
    """Threads and processes that start here ignore Ctrl-C, which a terminal sends to all: this process ends them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # it would unblock the signal when it starts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _silenced() -> Iterator[None]:
    """No log of Dask: errors are reported by exceptions."""
    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in ("distributed", "tornado")]
    levels = {logger: logger.level for logger in map(logging.getLogger, names)}
    for logger in levels:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in levels.items():
            logger.setLevel(level)


def _short(error: Exception) -> str:
    return shorten(" ".join(str(error).split()), 150).rstrip(".") or type(error).__name__
