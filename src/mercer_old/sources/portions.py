"""Rows in one portion, in memory, or in chunks: who sums over them need not know which."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

__all__ = ["Portions", "Whole", "as_it_is"]


class Portions(Protocol):
    """What is asked of all portions: `Chunks` are several of them, `Whole` is one."""

    def summed(
        self, work: Callable[..., Any], merge: Callable[[Any, Any], Any], own: Sequence[Any] | None = None, *shared: Any
    ) -> Any:
        """What work(portion, its own, *shared) makes of all of them, merged."""

    def remade(
        self,
        work: Callable[..., Any],
        opened: Callable[[Any, int], Any],
        own: Sequence[Any] | None = None,
        *shared: Any,
    ) -> "Portions":
        """What work makes of each, kept where it is made, and seen through `opened`."""

    def seen_as(self, opened: Callable[[Any, int], Any]) -> "Portions":
        """The same, opened in another way."""

    def beside(self, other: Any) -> "Portions":
        """Each in a pair with what another, cut in the same way, has in its place."""


def as_it_is(kept: Any, start: int) -> Any:
    """How a portion is opened that is what it was made to be."""
    return kept


@dataclass(frozen=True, eq=False)
class Whole:
    """All in one portion, here: nothing is merged."""

    kept: Any
    opened: Callable[[Any, int], Any] = as_it_is

    @property
    def value(self) -> Any:
        return self.opened(self.kept, 0)

    def summed(
        self, work: Callable[..., Any], merge: Callable[[Any, Any], Any], own: Sequence[Any] | None = None, *shared: Any
    ) -> Any:
        return work(self.value, own[0] if own else None, *shared)

    def remade(
        self,
        work: Callable[..., Any],
        opened: Callable[[Any, int], Any],
        own: Sequence[Any] | None = None,
        *shared: Any,
    ) -> "Whole":
        return Whole(work(self.value, own[0] if own else None, *shared), opened)

    def seen_as(self, opened: Callable[[Any, int], Any]) -> "Whole":
        return replace(self, opened=opened)

    def beside(self, other: Any) -> "Whole":
        return Whole((self.value, other.value))
