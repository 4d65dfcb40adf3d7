"""What travels between here and workers, and what these do with it."""

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from mercer_old.arrays import dask
from mercer_old.engines.memory import memory_at_hand
from mercer_old.errors import ClusterFailed
from mercer_old.threads import one_blas_thread

__all__ = ["Box", "in_place", "itself", "made", "merged", "worked_on"]

_LINE = 16  # bytes: where memory that is asked for begins


class Box:
    """Something on its way to a worker. Dask does not look inside, and it is opened by the task that needs it.

    A message that a worker cannot read ends that worker, and the next one that it is sent to: so what may name a module
    that is not there travels as bytes.
    """

    __slots__ = ("_bytes", "_value")

    def __init__(self, value: Any) -> None:
        self._value, self._bytes = value, b""

    def __reduce__(self) -> Any:
        from distributed.protocol.pickle import dumps

        return _closed, (self._bytes or dumps(self._value),)  # type: ignore[no-untyped-call]

    def __sizeof__(self) -> int:
        """With what is inside: by this, workers keep to their memory."""
        return object.__sizeof__(self) + int(dask("sizeof").sizeof(self._bytes or self._value))

    def open(self) -> Any:
        from distributed.protocol.pickle import loads

        if content := self._bytes:  # read once: another task of this worker may be opening it as well
            try:
                self._value, self._bytes = loads(content), b""  # type: ignore[no-untyped-call]
            except ImportError as error:
                raise ClusterFailed(f"A worker cannot do this: {error}. Install it where the workers run.") from None
        return self._value


def _closed(content: bytes) -> Box:
    box = Box(None)
    box._bytes = content
    return box


def itself(box: Box) -> Box:
    """Closed, so that all workers open the same bytes: an array that came by itself from another lies elsewhere."""
    return box


# ---------------------------------------------------------------------- the tasks of workers


def worked_on(work: Box, chunk: Any, own: Box, *shared: Box) -> Any:
    with _as_in_a_loop():
        return work.open()(_aligned(chunk), own.open(), *[box.open() for box in shared])


def merged(merge: Box, one: Any, other: Any) -> Any:
    with _as_in_a_loop():
        return merge.open()(one, other)


def made(handle: Box) -> Any:
    return handle.open()()


@contextmanager
def _as_in_a_loop() -> Iterator[None]:
    """One thread of BLAS, memory at hand, and numpy quiet about what is told in words."""
    with one_blas_thread(1), memory_at_hand(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        yield


# ---------------------------------------------------------------------- where arrays lie


def _aligned(chunk: Any) -> Any:
    """Arrays that another worker sent begin at any byte, and numpy sums up such numbers in another order."""
    if type(chunk) in (list, tuple):
        return type(chunk)(map(_aligned, chunk))
    return np.require(chunk, requirements="A") if type(chunk) is np.ndarray else chunk  # others may have a mask


def in_place(value: Any) -> Any:
    """The same, every array at an address that memory of its own would have.

    What came over the network begins at any byte, by the length of what was said before it. numpy copies such arrays
    before it multiplies them, and another order in memory is another order of sums.
    """
    buffers: list[Any] = []
    known = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    raw = [buffer.raw() for buffer in buffers]
    if all(_lies_well(content) for content in raw):
        return value
    return pickle.loads(known, buffers=[bytearray(content) for content in raw])  # noqa: S301  made the line before


def _lies_well(content: memoryview) -> bool:
    return np.frombuffer(content, dtype=np.uint8).ctypes.data % _LINE == 0
