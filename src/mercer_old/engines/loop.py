"""One chunk after the other, in this process."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from mercer_old.engines.base import Engine, Handle, tree
from mercer_old.progress import OnPass


class Loop(Engine):
    """A plain loop. A handle is a function without arguments that makes what it stands for."""

    def share(self, value: Any) -> Handle:
        return partial(_itself, value)

    def map(
        self, work: Callable[..., Any], chunks: Sequence[Handle], own: Sequence[Any] | None = None, *shared: Handle
    ) -> list[Handle]:
        each = [None] * len(chunks) if own is None else own
        return [partial(_made, work, chunk, mine, shared) for chunk, mine in zip(chunks, each, strict=True)]

    def reduce(self, merge: Callable[[Any, Any], Any], handles: Sequence[Handle], on_pass: OnPass = None) -> Any:
        told = [partial(_telling, handle, (i + 1) / len(handles), on_pass) for i, handle in enumerate(handles)]
        return tree(told, lambda one, other: partial(_itself, merge(one(), other())))()

    def bring(self, handles: Sequence[Handle], on_pass: OnPass = None) -> Iterator[Any]:
        for i, handle in enumerate(handles):
            yield _telling(handle, (i + 1) / len(handles), on_pass)

    def collect(self, handles: Sequence[Handle]) -> list[Any]:
        return list(self.bring(handles))

    def keep(self, handles: Sequence[Handle], evenly: bool = False) -> list[Handle]:
        return [partial(_itself, handle()) for handle in handles]

    def let_go(self) -> None:
        """Nobody else has anything."""

    def threads(self, asked: int) -> int:
        return asked


def _itself(value: Any) -> Any:
    return value


def _made(work: Callable[..., Any], chunk: Handle, own: Any, shared: Sequence[Handle]) -> Any:
    return work(_value_of(chunk), own, *[handle() for handle in shared])


def _value_of(chunk: Handle) -> Any:
    return [handle() for handle in chunk] if isinstance(chunk, list) else chunk()


def _telling(handle: Handle, share: float, on_pass: OnPass) -> Any:
    result = handle()
    if on_pass:
        on_pass(share)
    return result
