"""Tasks on the workers of the active Dask client, or one after the other in this process.

Workers may die at any moment. Every task can be repeated from the partition that it reads: what all tasks share is
the result of a task as well, because values that are merely scattered are lost with the worker that holds them.
"""

import pickle
import sys
from asyncio import run_coroutine_threadsafe
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import cloudpickle
import dask
import numpy as np
from dask.delayed import delayed

import mercer
from mercer.errors import ClusterError, MercerError
from mercer.numerics.threads import limit_threads
from mercer.text import listed

POLL = 2.0  # seconds between looks at the scheduler and its workers, while no result arrives
PATIENCE = 30  # looks in a row without a worker that can work, after which none is expected
LARGE_GRAPH = "1 GiB"  # of arguments from which Dask warns: ours are shared on purpose
_LOST = ("CommClosedError", "CancelledError", "FuturesCancelledError", "FutureCancelledError")


def active_client() -> Any:
    """The Dask client of this process, or None if `distributed` was not imported."""
    if "distributed" not in sys.modules:
        return None
    from distributed import default_client
    from distributed.threadpoolexecutor import thread_state

    if getattr(thread_state, "proceed", False):  # inside a task: a fit that waits for others occupies their slot
        return None
    try:
        client = default_client()  # type: ignore[no-untyped-call]
    except ValueError:
        return None
    if client.asynchronous:
        raise ClusterError(
            "The active Dask client is asynchronous, but a fit waits for its workers. Call it in a thread: "
            "await asyncio.to_thread(model.fit, X)."
        )
    if client.status == "connecting" and getattr(client, "_scheduler_identity", None):  # it was connected before
        raise ClusterError(f"{_scheduler_lost(client)} To work in this process, call client.close().")
    return client if client.status == "running" else None


class Sealed:
    """A value that travels as bytes and is opened inside the task.

    A message that a worker cannot unpickle ends that worker, and then the next one that receives it.
    """

    __slots__ = ("_content", "_value")

    def __init__(self, value: Any, content: bytes = b"") -> None:
        self._value, self._content = value, content

    def __reduce__(self) -> Any:
        return Sealed, (None, self._content or cloudpickle.dumps(self._value))

    def __sizeof__(self) -> int:
        """With the value: workers account for memory by this."""
        return object.__sizeof__(self) + (len(self._content) or int(dask.sizeof.sizeof(self._value)))

    def open(self) -> Any:
        if content := self._content:  # read once: another thread of the worker may be opening it as well
            try:
                self._value, self._content = pickle.loads(content), b""  # noqa: S301  made by this process
            except ImportError as error:
                raise ClusterError(
                    f"A worker cannot run this task: {error}. Install the same packages on all workers."
                ) from None
        return self._value


class Executor:
    """Runs tasks on the workers of a client, or in this process if there is none.

    Parameters
    ----------
    client : distributed.Client or None, default=None
        Its cluster must have workers, with the versions of this process.

    Attributes
    ----------
    n_workers : int
        Threads of all workers; 0 in this process.
    worker_memory : int or None
        Smallest memory per thread of a worker, if it is limited.
    """

    def __init__(self, client: Any = None) -> None:
        self.client, self.n_workers, self.worker_memory = client, 0, None
        if client is None:
            return
        workers = self._workers()
        if not workers:
            address = _address(client)
            raise ClusterError(
                f"The cluster at {address} has no workers. Start some, for example with `dask worker {address}`, and "
                "call client.wait_for_workers(1)."
            )
        self.n_workers = sum(int(worker["nthreads"]) for worker in workers.values())
        limits = [worker["memory_limit"] // max(1, worker["nthreads"]) for worker in workers.values()]
        self.worker_memory = min((int(limit) for limit in limits if limit), default=None)
        _check_versions(client)

    # ------------------------------------------------------------------ tasks

    def task(self, func: Callable[..., Any], *args: Any) -> Any:
        """func(*args) as a delayed object; shared values among the arguments are opened before the call."""
        return delayed_run(Sealed(func), *args)

    @contextmanager
    def shared(self, value: Any) -> Iterator[Any]:
        """A value that many tasks use, sent once and released at the end, also if an exception is kept."""
        handle = self.share(value)
        try:
            yield handle
        finally:
            self.release([handle])

    def share(self, value: Any) -> Any:
        """A handle of a value, until `release`."""
        if self.client is None:
            return Sealed(value)
        with self._connected(), _large_graphs():
            return self.client.submit(_identity, Sealed(value), pure=False)

    def persist(self, tasks: Sequence[Any]) -> list[Any]:
        """Start the tasks; their results stay with the workers until `release`."""
        return self._start(tasks)

    def release(self, handles: Iterable[Any]) -> None:
        """Remove results from the workers. `client.cancel` of a released future would end the scheduler."""
        for handle in handles:
            if hasattr(handle, "release"):
                handle.release()

    # ------------------------------------------------------------------ results

    def reduce(self, combine: Callable[[Any, Any], Any], tasks: Sequence[Any], progress: Any = None) -> Any:
        """The results combined in pairs; which ones depends on the number of tasks only."""
        if self.client is None:
            return pairwise(self.iterate(tasks, progress), combine)
        sealed = Sealed(combine)
        root = pairwise(tasks, lambda one, other: delayed_run(sealed, one, other))
        if len(tasks) == 1 or not progress:
            (result,) = self.gather([root])
        else:
            with self._started([root, *tasks]) as (future, *leaves):
                for n_done, leaf in enumerate(leaves, 1):
                    self._wait(leaf)
                    if leaf.status in ("error", "cancelled"):
                        break  # so does the root, which reports it
                    leaf.release()  # what still needs it keeps it
                    progress(n_done / len(tasks))
                (result,) = self._fetch([future])
        if progress and len(tasks) == 1:
            progress(1.0)
        return result

    def iterate(self, tasks: Sequence[Any], progress: Any = None) -> Iterator[Any]:
        """The results in order. At most two for each thread of a worker wait."""
        if self.client is None:
            for i, task in enumerate(tasks):
                yield task.compute(scheduler=_local_scheduler())
                if progress:
                    progress((i + 1) / len(tasks))
            return
        ahead = 2 * self.n_workers
        waiting: deque[Any] = deque()
        try:
            waiting.extend(self._start(tasks[:ahead]))
            for i in range(len(tasks)):
                (result,) = self._fetch([waiting[0]])
                waiting.popleft().release()
                waiting.extend(self._start(tasks[i + ahead : i + ahead + 1]))
                if progress:
                    progress((i + 1) / len(tasks))
                yield result
        finally:
            self.release(waiting)

    def gather(self, tasks: Sequence[Any]) -> list[Any]:
        """All results."""
        if self.client is None:
            return list(self.iterate(tasks))
        with self._started(tasks) as futures:
            return self._fetch(futures)

    # ------------------------------------------------------------------ waiting for a cluster

    @contextmanager
    def _started(self, tasks: Sequence[Any]) -> Iterator[list[Any]]:
        """Futures of tasks, which stop if the caller stops waiting for them."""
        futures = self._start(tasks)
        try:
            yield futures
        finally:
            self.release(futures)

    def _start(self, tasks: Sequence[Any]) -> list[Any]:
        with self._connected(), _large_graphs():
            return list(self.client.compute(list(tasks), optimize_graph=False))

    def _fetch(self, futures: Sequence[Any]) -> list[Any]:
        """Results of futures, in this process. Those whose worker dies meanwhile are computed again."""
        for future in futures:  # an unfinished one that is released while it is gathered leaves errors on stderr
            self._wait(future)
            if future.status in ("error", "cancelled"):
                break
        with self._connected(futures):
            gathering = self.client.gather(list(futures), asynchronous=True)
            answer = run_coroutine_threadsafe(gathering, self.client.loop.asyncio_loop)
            try:
                self._wait(answer)
                return list(answer.result())
            finally:
                answer.cancel()  # if we stop waiting; nothing happens to a result

    def _wait(self, future: Any) -> None:
        """Until a future is done. Raise if the scheduler is lost, or no worker has been able to work for a minute."""
        n_idle = 0
        while True:
            with self._connected():
                try:
                    future.exception(timeout=POLL)
                    return
                except TimeoutError:
                    workers = self._workers()
            n_idle = 0 if any(map(_can_work, workers.values())) else n_idle + 1
            if n_idle >= PATIENCE:
                state = "paused for lack of memory" if workers else "gone, and none has come back"
                raise ClusterError(
                    f"All workers of the cluster at {_address(self.client)} are {state}. See their logs. If they run "
                    "out of memory, use smaller chunks or workers with more memory."
                )

    @contextmanager
    def _connected(self, futures: Sequence[Any] = ()) -> Iterator[None]:
        """Errors of the connection in one message; errors of a task as they are."""
        if self.client.status != "running":
            raise ClusterError(_scheduler_lost(self.client))
        try:
            yield
        except Exception as error:
            if type(error).__name__ == "KilledWorker":
                raise ClusterError(
                    "Several workers died while they ran the same task, most likely for lack of memory. Use smaller "
                    "chunks, X.rechunk(…), or workers with more memory."
                ) from None
            of_task = any(future.status == "error" for future in futures)
            if isinstance(error, MercerError) or of_task or not is_lost(error):
                raise
            raise ClusterError(_scheduler_lost(self.client)) from None

    def _workers(self) -> dict[str, Any]:
        return dict(self.client.scheduler_info(n_workers=-1).get("workers", {}))


def _can_work(worker: dict[str, Any]) -> bool:
    """Whether a worker may start tasks, or is at one: those with little memory left are paused."""
    return worker["status"] == "running" or worker["metrics"].get("task_counts", {}).get("executing", 0) > 0


def is_lost(error: Exception) -> bool:
    """Whether an error is one of the connection."""
    return isinstance(error, OSError) or type(error).__name__ in _LOST


def pairwise(values: Iterable[Any], combine: Callable[[Any, Any], Any]) -> Any:
    """Neighbors combined along a balanced tree; at most log2(n) results wait for another one of their size."""
    waiting: list[tuple[int, Any]] = []
    for value in values:
        level = 0
        while waiting and waiting[-1][0] == level:
            level, value = level + 1, combine(waiting.pop()[1], value)
        waiting.append((level, value))
    result = waiting.pop()[1]
    while waiting:
        result = combine(waiting.pop()[1], result)
    return result


def delayed_run(func: Any, *args: Any) -> Any:
    """func(*args) as a delayed object, where a `Sealed` stands for what is in it."""
    return delayed(_run, pure=False)(func, *args)


def _identity(value: Any) -> Any:
    return value


def _run(func: Sealed, *args: Any) -> Any:
    """What a worker executes: threads of BLAS and numpy's error state belong to the thread of the task."""
    with limit_threads(1), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return func.open()(*[arg.open() if isinstance(arg, Sealed) else arg for arg in args])


def _local_scheduler() -> str | None:
    """The scheduler that Dask was configured for, else none: thread pools do not survive a fork."""
    configured = dask.config.get("scheduler", None)
    return "synchronous" if configured in (None, "dask.distributed", "distributed") else None


def _large_graphs() -> Any:
    return dask.config.set({"distributed.admin.large-graph-warning-threshold": LARGE_GRAPH})


def _address(client: Any) -> str:
    return str(getattr(client.scheduler, "address", "an unknown address"))  # a closed client has none


def _scheduler_lost(client: Any) -> str:
    if client.status == "running":
        return (
            f"The work on the cluster at {_address(client)} was cancelled: its scheduler was lost, or data that were "
            "only scattered were lost with their worker. Fit again."
        )
    return f"The scheduler of the cluster at {_address(client)} does not answer. Restart it and fit again."


def _versions() -> dict[str, str]:
    return {"mercer": mercer.__version__, "numpy": np.__version__}


def _check_versions(client: Any) -> None:
    """Raise unless the workers have the packages of this process; a worker that dies now is not asked."""
    ours, others = _versions(), []
    for worker, found in client.run(_versions, on_error="return").items():
        if isinstance(found, ModuleNotFoundError):
            raise ClusterError(f"A worker has no module {found.name}. Install mercer {ours['mercer']} on all workers.")
        if isinstance(found, dict):
            others += [f"{name} {found[name]} on {worker}" for name in ours if found[name] != ours[name]]
    if others:
        here = ", ".join(f"{name} {version}" for name, version in ours.items())
        raise ClusterError(
            f"Workers have other versions than this process ({here}): {listed(others, 3)}. Install the same versions."
        )
