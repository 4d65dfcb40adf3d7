"""Waiting for the workers of a Dask cluster, of whom any may die at any moment, and the scheduler too.

What was done and went with its worker is made again by another, and waited for; where nobody is left to wait for, that
is one sentence.
"""

from asyncio import run_coroutine_threadsafe
from collections.abc import Callable, Iterator, Sequence
from queue import Empty, SimpleQueue
from typing import Any

from mercer_old.engines.boxes import in_place
from mercer_old.errors import ClusterFailed, MercerError

_GLANCE = 2.0  # seconds between looks at who is still there, while nothing comes
_PATIENCE = 30  # glances without a single worker, which may be on its way back
_LOSSES = "CommClosedError", "CancelledError", "FuturesCancelledError", "FutureCancelledError"


class Waiting:
    """For futures of one client."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.address = str(getattr(client.scheduler, "address", "?"))  # a client that is closed has none any more

    def workers(self) -> dict[str, Any]:
        return dict(self.client.scheduler_info(n_workers=-1).get("workers", {}))

    def as_they_come(self, futures: Sequence[Any]) -> Iterator[Any]:
        """Each when it is done; the first that failed is told."""
        done: SimpleQueue[Any] = SimpleQueue()
        for future in futures:  # one note each: to wait for any of them anew every time takes as long as all together
            future.add_done_callback(done.put)
        for _ in futures:
            future = self._next(done)
            if self._end_of(future) != "finished":
                self._tell(future)
            yield future

    def _end_of(self, future: Any) -> str:
        """How it ended. What went with a worker after it was done is waited for: another makes it anew."""
        absent = 0
        while (status := str(future.status)) in ("lost", "pending"):
            if not self.told(lambda: _done_at_a_glance(future)):
                absent = self._looks_without_workers(absent)
        return status

    def result(self, future: Any) -> Any:
        """What it holds, once it is done."""
        for _ in self.as_they_come([future]):
            pass
        return in_place(self.fetched([future])[0])

    def fetched(self, futures: Sequence[Any]) -> list[Any]:
        """What these hold, which are done, brought here: who held it may be gone since, and nobody there to make it."""
        answer, done = self._asked_for(futures), SimpleQueue[Any]()
        answer.add_done_callback(done.put)
        try:
            self._next(done)
            for future in futures:  # made again, it may have failed: that is told as of any other
                if future.status in ("error", "cancelled"):
                    self._tell(future)
            results: list[Any] = self.told(answer.result)
        finally:
            answer.cancel()  # if we stop waiting; nothing happens to what is done
        return results

    def _asked_for(self, futures: Sequence[Any]) -> Any:
        """A promise of what they hold, which can be waited for by glances."""
        fetching = self.client.gather(list(futures), asynchronous=True)
        try:
            return run_coroutine_threadsafe(fetching, self.client.loop.asyncio_loop)
        except RuntimeError:  # who closes a client closes its loop
            fetching.close()
            raise ClusterFailed(self.lost()) from None

    def told(self, ask: Callable[[], Any]) -> Any:
        """What the cluster answers; in one sentence, if it does not any more."""
        try:
            return ask()
        except Exception as error:
            if isinstance(error, MercerError) or not is_loss(error):
                raise
            raise ClusterFailed(self.lost()) from None

    def _next(self, done: "SimpleQueue[Any]") -> Any:
        """The next that is done; or a sentence, where nobody is left to do it."""
        absent = 0
        while True:
            try:
                return done.get(timeout=_GLANCE)
            except Empty:
                absent = self._looks_without_workers(absent)

    def _looks_without_workers(self, before: int) -> int:
        """How often in a row nobody was seen, after one more look; or a sentence, where there is nobody to wait for."""
        if self.client.status != "running":
            raise ClusterFailed(self.lost()) from None
        absent = 0 if self.told(self.workers) else before + 1
        if absent >= _PATIENCE:
            raise ClusterFailed(
                f"All workers of the cluster at {self.address} are gone, and none has come back: see their logs. "
                "Out of memory? Smaller chunks take less."
            ) from None
        return absent

    def lost(self) -> str:
        """What is told of work that will not end any more."""
        if self.client.status == "running":
            return (
                f"Work on the cluster at {self.address} was cancelled: its scheduler is gone, somebody stopped it, "
                "or data that only lay on a worker (client.scatter) went with it. Fit again."
            )
        return f"The scheduler of the cluster at {self.address} does not answer any more: start it anew, fit again."

    def _tell(self, future: Any) -> None:
        """What went wrong, in one sentence; our own errors as they are."""
        if future.status == "cancelled":
            raise ClusterFailed(self.lost())
        error = future.exception()
        if isinstance(error, MercerError):
            raise error
        if type(error).__name__ == "KilledWorker":
            raise ClusterFailed(
                "Workers died again and again of the same work, most likely for want of memory: give smaller chunks "
                "(X.rechunk), or workers with more memory."
            ) from None
        raise error


def _done_at_a_glance(future: Any) -> bool:
    try:
        future.exception(timeout=_GLANCE)  # by its own client: `distributed.wait` asks whichever is the default
    except TimeoutError:
        return False
    return True


def is_loss(error: Exception) -> bool:
    """Whether it is about the connection, whatever it derives from."""
    return isinstance(error, OSError) or type(error).__name__ in _LOSSES
