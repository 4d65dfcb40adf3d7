"""Texts, and rows of tables, in chunks of Dask: columns of frames, frames and bags."""

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer_old.arrays import Array, Held
from mercer_old.engines.base import Engine
from mercer_old.errors import BadData, NoRoom, counted, in_short, listed, warn
from mercer_old.limits import bytes_in_words
from mercer_old.sources.cells import kind_of, present
from mercer_old.sources.chunked import Chunks, InChunks, loaded
from mercer_old.sources.frames import Table
from mercer_old.sources.items import Items
from mercer_old.sources.texts import Texts

_KINDS: dict[str, Any] = {"texts": Texts, "tables": Table}
_OF_MEMORY = 8  # part of the memory limit that a sample of a table may take, from which its kernel learns
_FEW = 2000  # texts that tell what comparing them costs


class ChunkedItems(InChunks):
    """Texts or rows of tables that lie in chunks."""

    dtype = np.dtype(object)
    _known: Items  # once somebody looked closer

    def __init__(self, chunks: Chunks, kind: str, width: int, nbytes: int, names: list[Any] | None, label: str) -> None:
        self.chunks, self.kind, self.label, self.names = chunks, kind, label, names
        self._width, self._nbytes = width, nbytes

    @property
    def width(self) -> int:
        return self._width

    @property
    def nbytes(self) -> int:
        return self._nbytes

    def in_memory(self, kept: Array | None = None) -> Items:
        return self._held(self.load(kept))

    @property
    def at_hand(self) -> Items:
        return self._known

    def look_closer(self, memory: float, rng: np.random.Generator) -> None:
        """All rows of a table if they fit, else a sample of them; a few texts."""
        is_table = self.kind == "tables"
        if is_table and 2 * self.nbytes <= memory:
            self._known = self.in_memory()
        else:
            most = int(memory / _OF_MEMORY / max(self.nbytes / len(self), 1)) if is_table else _FEW
            self.numbers = np.sort(rng.choice(len(self), size=min(len(self), max(1, most)), replace=False))
            self._known = self._held(self[self.numbers])
        self.overhead = 2 * self._known.nbytes
        if is_table and self.numbers is not None:
            warn(
                "What the kernel learns of the columns (categories, means, variances) is from a sample of "
                f"{len(self.numbers):,} of {len(self):,} rows of {self.label}, as all of them take "
                f"{bytes_in_words(self.nbytes)}: a category that is not in it counts as missing."
            )

    def within(self, memory: float) -> Items:
        """All of them, brought here; or a sentence, if there is no room for them."""
        self._refuse_many(memory)
        return self.in_memory()

    def _refuse_many(self, memory: float) -> None:
        if 2 * self.nbytes > memory:
            raise NoRoom(
                f"{self.label} has {counted(len(self), 'item')} in chunks, which take {bytes_in_words(self.nbytes)}, "
                f"too much for the limit of {bytes_in_words(memory)} if they are brought here: KernelPCA with "
                "n_landmarks looks at them where they lie."
            )

    def here_and_there(self, memory: float) -> Items:
        """The same, brought here; workers of a cluster keep theirs, each read once, for who has work for them."""
        self._refuse_many(memory)
        if not self.chunks.engine.elsewhere:
            return self.in_memory()
        there = copy(self)
        there.chunks = self.chunks.remade(loaded, AsItems(self.kind, self.label))
        held = there.in_memory()
        held.chunks = there.chunks
        return held

    def _held(self, data: Held) -> Items:
        items: Items = _KINDS[self.kind](data, self.label)
        return items


@dataclass(frozen=True)
class AsItems:
    """Makes items of what a chunk holds."""

    kind: str
    label: str = "X"

    def __call__(self, chunk: Any, start: int) -> Items:
        items: Items = _KINDS[self.kind](_whole(chunk), self.label)
        return items


@dataclass(frozen=True)
class _Look:
    """What a chunk holds, in numbers."""

    count: int
    nbytes: int = 0
    width: int = 0
    letters: str = ""  # of texts: str or bytes
    columns: tuple[tuple[Any, str, bool, Any], ...] = ()  # name, kind of cells, whether any is there, order


def open_chunked_items(engine: Engine, handles: list[Any], kind: str, label: str = "X") -> ChunkedItems:
    """Items of a kind that a kernel takes, all looked at once where they lie; empty chunks are passed over."""
    own = [(kind, label, i) for i in range(len(handles))]
    looks: list[_Look] = engine.collect(engine.map(_looked_at, handles, own))
    there = [i for i, look in enumerate(looks) if look.count]
    if not there:
        raise BadData(f"Found array with 0 sample(s): all {counted(len(looks), 'chunk')} of {label} are empty.")
    some = [looks[i] for i in there]
    _refuse_both_letters({look.letters: i for look, i in zip(some, there, strict=True)}, label)
    names = _columns_of_all(some, there, label)
    counts = tuple(look.count for look in some)
    chunks = Chunks(engine, tuple(handles[i] for i in there), counts, AsItems(kind, label))
    width = -(-sum(look.width * look.count for look in some) // sum(counts))
    return ChunkedItems(chunks, kind, width, sum(look.nbytes for look in some), names or None, label)


def _looked_at(chunk: Any, own: tuple[str, str, int]) -> _Look:
    kind, label, number = own
    chunk = _whole(chunk)
    if not len(chunk):
        return _Look(0)
    items = AsItems(kind, f"{label}, chunk {number} (its items counted from 0)")(chunk, 0)
    if not isinstance(items, Table):
        return _Look(len(items), items.nbytes, items.width, "bytes" if isinstance(items.load()[0], bytes) else "str")
    table = items.columns
    columns = [
        (name, kind_of(cells), bool(present(cells).any()) or kind_of(cells) == "odd", table.orders.get(name))
        for name, cells in table.cells.items()
    ]
    return _Look(len(items), items.nbytes, items.width, columns=tuple(columns))


def _whole(chunk: Any) -> Any:
    """A partition of a bag may be read only once."""
    return chunk if hasattr(chunk, "__len__") else list(chunk)


def _refuse_both_letters(letters: dict[str, int], label: str) -> None:
    if len(letters) > 1:
        raise BadData(f"{label} has bytes in chunk {letters['bytes']} and str in chunk {letters['str']}: decode them.")


def _columns_of_all(looks: list[_Look], numbers: list[int], label: str) -> list[Any]:
    """Their names; refused where chunks have other columns, other kinds of cells or another order of categories."""
    found, orders, first = dict[Any, str](), dict[Any, Any](), [name for name, *_ in looks[0].columns]
    for look, number in zip(looks, numbers, strict=True):
        names = [name for name, *_ in look.columns]
        if names != first:
            raise BadData(
                f"{label}: chunk {number} has the columns {listed(map(repr, names))}, and others have "
                f"{listed(map(repr, first))}."
            )
        for name, kind, there, order in look.columns:
            if orders.setdefault(name, order) != order:
                raise BadData(
                    f"{label}: column {in_short(name)} has its categories in another order in chunk {number}."
                )
            if there and found.setdefault(name, kind) != kind:
                raise BadData(
                    f"{label}: column {in_short(name)} holds {kind} in chunk {number}, and {found[name]} in others."
                )
    return first
