"""The workers of a Dask cluster, by futures.

Only `waiting` and `local` know `distributed` as well, and `boxes` how it packs.

A worker that dies costs time alone: every task can be done again from where its rows come from, and what is shared
with all (`share`) is a task as well, because what is merely scattered would be gone with the workers that hold it.
"""

import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from weakref import WeakSet

import numpy as np

from mercer_old.arrays import dask
from mercer_old.engines.balance import moves
from mercer_old.engines.base import Engine, Handle, keeps_something, tree
from mercer_old.engines.boxes import Box, in_place, itself, made, merged, worked_on
from mercer_old.engines.waiting import Waiting
from mercer_old.errors import ClusterFailed, listed
from mercer_old.progress import OnPass

_LARGE = "1 GiB"  # of what is sent with a task before Dask warns of it: what is shared is sent on purpose


def active_client() -> Any:
    """Dask's client of this process, if there is one: who has made one has imported `distributed`."""
    if "distributed" not in sys.modules:
        return None
    from distributed import default_client
    from distributed.threadpoolexecutor import thread_state

    if getattr(thread_state, "proceed", False):  # a task of a worker: who waits here for others has their place
        return None
    try:
        client = default_client()  # type: ignore[no-untyped-call]
    except ValueError:
        return None
    if client.asynchronous:
        raise ClusterFailed(
            "The active client of Dask is asynchronous, and a fit waits for its workers: call it in a thread "
            "(await asyncio.to_thread(model.fit, X)), or give it a Client of its own."
        )
    if client.status == "connecting" and getattr(client, "_scheduler_identity", None):  # it was there once
        raise ClusterFailed(
            f"{Waiting(client).lost()} Without a cluster, chunks are worked on in this process: close the client then."
        )
    return client if client.status == "running" else None


class Cluster(Engine):
    """A handle is a Delayed, a Future, or a function without arguments that makes what it stands for."""

    elsewhere = True

    def __init__(self, client: Any) -> None:
        self.client, self.waiting = client, Waiting(client)
        self.kept: WeakSet[Any] = WeakSet()  # what others hold here, and what was shared
        self._agree = False  # whether workers were asked for their versions, which they are before the first work
        workers = self.waiting.workers()
        if not workers:
            address = self.waiting.address
            raise ClusterFailed(
                f"The cluster at {address} has no workers: start some (dask worker {address}, "
                "cluster.scale(2)), and wait for them with client.wait_for_workers(1)."
            )
        self.workers = sum(int(worker["nthreads"]) for worker in workers.values())
        limits = [worker["memory_limit"] // max(1, worker["nthreads"]) for worker in workers.values()]
        self.room = min((limit for limit in limits if limit), default=None)

    def refuse_other_versions(self) -> None:
        """Once: who works has to know the same functions, and round in the same way."""
        if not self._agree:
            _refuse_other_versions(self.client)
            self._agree = True

    def share(self, value: Any) -> Handle:
        self.refuse_other_versions()
        with _sending():
            shared = self.client.submit(itself, Box(value), pure=False)
        self.kept.add(shared)
        keeps_something(self)
        return shared

    def map(
        self, work: Callable[..., Any], chunks: Sequence[Handle], own: Sequence[Any] | None = None, *shared: Handle
    ) -> list[Handle]:
        each = [None] * len(chunks) if own is None else own
        on_worker = dask("delayed").delayed(worked_on, pure=False)
        return [
            on_worker(Box(work), _later(chunk), Box(mine), *shared) for chunk, mine in zip(chunks, each, strict=True)
        ]

    def reduce(self, merge: Callable[[Any, Any], Any], handles: Sequence[Handle], on_pass: OnPass = None) -> Any:
        if len(handles) == 1:
            return next(self.bring(handles, on_pass))
        merging = dask("delayed").delayed(merged, pure=False)
        root, given = tree(list(handles), lambda one, other: merging(Box(merge), one, other)), set(map(id, handles))
        with self._watching() as begin:
            whole, *leaves = begin([root, *handles])
            for done, leaf in enumerate(self.waiting.as_they_come(leaves), 1):
                if id(leaf) not in given:  # what is kept stays
                    leaf.release()  # who needs it still has it
                if on_pass:
                    on_pass(done / len(handles))
            return self.waiting.result(whole)

    def bring(self, handles: Sequence[Handle], on_pass: OnPass = None) -> Iterator[Any]:
        ahead = 2 * self.workers  # results that may wait here
        with self._watching() as begin:
            begun = deque(begin(handles[:ahead]))
            for i in range(len(handles)):
                future = begun.popleft()
                result = self.waiting.result(future)
                if future is not handles[i]:  # what is kept stays
                    future.release()
                begun.extend(begin(handles[i + ahead : i + ahead + 1]))
                if on_pass:
                    on_pass((i + 1) / len(handles))
                yield result

    def collect(self, handles: Sequence[Handle]) -> list[Any]:
        with self._watching() as begin:
            begun = begin(handles)
            for _ in self.waiting.as_they_come(begun):
                pass
            results = self.waiting.fetched(begun)
            for future, handle in zip(begun, handles, strict=True):
                if future is not handle:  # what is kept stays
                    future.release()
            return [in_place(result) for result in results]

    def keep(self, handles: Sequence[Handle], evenly: bool = False) -> list[Handle]:
        with self._watching() as begin:
            kept = begin(handles)  # under way: who asks for them waits, and is told what goes wrong
            if evenly and self.workers > 1:
                kept = self._evened(kept)
            self.kept.update(kept)
        keeps_something(self)
        return kept

    def let_go(self) -> None:
        for future in list(self.kept):
            future.release()

    def threads(self, asked: int) -> int:
        return 1  # a worker has as many tasks at once as it has threads

    def _evened(self, kept: list[Any]) -> list[Any]:
        """The same, some of them copied to workers that have less to do: work goes to where they are."""
        for _ in self.waiting.as_they_come(kept):
            pass
        keys = [future.key for future in kept]
        holders, sizes = self.waiting.told(lambda: (self.client.who_has(kept), self.client.nbytes(keys, summary=False)))
        first = [next(iter(holders.get(key, ())), None) for key in keys]
        threads = {address: int(worker["nthreads"]) for address, worker in self.waiting.workers().items()}
        for i, worker in moves(first, [sizes[key] for key in keys], threads).items():
            where = {"workers": [worker], "allow_other_workers": True}
            kept[i] = self.client.submit(in_place, kept[i], pure=False, **where)
            self.kept.add(kept[i])
        return kept

    def _watching(self) -> "_Watched":
        return _Watched(self)


class _Watched:
    """Tasks under way, which stop if whoever waits for them does: Ctrl-C leaves nothing behind on the cluster."""

    def __init__(self, engine: Cluster) -> None:
        self.engine = engine
        self.begun: list[Any] = []  # not what was kept before

    def __enter__(self) -> Callable[[Sequence[Handle]], list[Any]]:
        return self.begin

    def begin(self, handles: Sequence[Handle]) -> list[Any]:
        """Futures of all of them."""
        client = self.engine.client
        if client.status != "running":
            raise ClusterFailed(self.engine.waiting.lost())
        self.engine.refuse_other_versions()
        later = [_later(handle) for handle in handles]
        with _sending():
            begun = client.compute([handle for handle in later if not _is_future(handle)], optimize_graph=False)
        self.begun += begun
        fresh = iter(begun)
        return [handle if _is_future(handle) else next(fresh) for handle in later]

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if error is not None:  # client.cancel of what is released already ends the scheduler of 2026.8
            for future in self.begun:
                future.release()
            if kind is not GeneratorExit:  # who has seen enough of some goes on with others
                self.engine.let_go()


def _later(handle: Handle) -> Any:
    """What Dask can put into a graph."""
    if isinstance(handle, list):
        return [_later(one) for one in handle]
    if _is_future(handle) or hasattr(handle, "__dask_graph__"):
        return handle
    return dask("delayed").delayed(made, pure=False)(Box(handle))


def _is_future(handle: Handle) -> bool:
    from distributed import Future

    return isinstance(handle, Future)  # a Delayed has whatever attribute one asks for


def _sending() -> Any:
    return dask("config").set({"distributed.admin.large-graph-warning-threshold": _LARGE})


def _versions() -> dict[str, str]:
    import mercer_old as mercer

    return {"mercer": mercer.__version__, "numpy": np.__version__}


def _refuse_other_versions(client: Any) -> None:
    ours = _versions()
    answers = client.run(_versions, on_error="return")
    for answer in answers.values():
        if isinstance(answer, ModuleNotFoundError):
            raise ClusterFailed(
                f"A worker has no {answer.name or 'mercer'}: install mercer {ours['mercer']} where the workers run."
            )
    theirs = {worker: answer for worker, answer in answers.items() if isinstance(answer, dict)}  # some may just die
    other = [
        f"{name} {found[name]} on {worker}"
        for worker, found in theirs.items()
        for name in ours
        if found[name] != ours[name]
    ]
    if other:
        here = ", ".join(f"{name} {version}" for name, version in ours.items())
        raise ClusterFailed(
            f"Workers have other versions than this process ({here}): {listed(other, 3)}. Install the same."
        )
