"""What a model learns from: items, and rows of numbers, which most items are."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from mercer_old.arrays import Array, Held
from mercer_old.blocks import rows_at_a_time
from mercer_old.errors import BadData, counted
from mercer_old.outlets import Annotations, Labels


class Items(ABC):
    """n things that can be counted, cut into blocks, taken by their numbers and read again and again.

    What is taken out of them, all or some, is an array whose first axis counts: rows of numbers, a CSR matrix, or an
    array of objects. That is what kernels compare. They also know how many bytes they take in memory, and how wide one
    is while it is worked on.
    """

    label: str = "X"  # what to call them in a message
    kind: str = "anything"  # in the word of `Kernel.takes`
    row_names: Sequence[Any] | None = None  # what to call each of them where scores are written, if anything
    heading: str = ""  # of those names
    beside: Mapping[str, Sequence[Any]] = MappingProxyType({})  # columns that are no features and are written along
    notes: tuple[str, ...] = ()  # what was found out by looking at a file, each with the option that says otherwise
    path: Path | None = None  # of the file that is read
    annotations: Annotations | None = None  # of a .h5ad file: what is known of it before a fit
    overhead: int = 0  # bytes that reading takes beyond the blocks
    held: bool = False  # whether they are in memory anyway: blocks cost nothing then
    sparse: bool = False
    by_matrix: bool = False  # whether a matrix between them is all that is known of them
    is_operator: bool = False  # whether that matrix is known by its products alone
    chunks: Any = None  # `Chunks`, if they lie in several places: work that adds up goes there

    @property
    def brought(self) -> bool:
        """Whether they are in memory because they were brought here, from where they lie as well."""
        return self.held and self.chunks is not None

    def alone(self) -> Self:
        """The same, as if they lay nowhere else."""
        items = copy(self)
        items.chunks = None
        return items

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    @abstractmethod
    def width(self) -> int:
        """Numbers that one item takes while it is worked on."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes of all of them in memory."""

    @property
    @abstractmethod
    def dtype(self) -> Any:
        """Of what is taken out of them."""

    @abstractmethod
    def blocks(self, size: int) -> Iterator[Held]:
        """All items in order, in blocks of exactly `size` but for the last."""

    @abstractmethod
    def __getitem__(self, indices: Array) -> Held:
        """Those with these numbers, in this order."""

    @abstractmethod
    def load(self, kept: Array | None = None) -> Held:
        """All of them, or those that `kept` marks, in one array."""

    def in_memory(self, kept: Array | None = None) -> "Items":
        """All of them, or those that `kept` marks, as items that are held."""
        from mercer_old.sources.held import HeldItems

        items = HeldItems(self.load(kept), self.width)
        return items.named_as(self) if kept is None else items

    @property
    def at_hand(self) -> "Items":
        """All of them, or a sample in memory: what a kernel may look at before it compares any."""
        return self

    #: Of the items at hand; None: they are all of them.
    numbers: Array | None = None

    def look_closer(self, memory: float, rng: np.random.Generator) -> None:
        """Bring here what is to be at hand, where it is not: as much as fits into so many bytes."""
        return None

    def within(self, memory: float) -> "Items":
        """All of them in memory, or a sentence if they take more bytes."""
        return self.in_memory()

    def against(self, kept: Array) -> "Items":
        """New items, compared with those of the fit that `kept` marks: only a matrix between them has others in it."""
        return self

    def named_as(self, others: "Items") -> Self:
        """These, with the names that the same items have elsewhere: where scores are written they belong to them."""
        self.row_names, self.heading, self.beside = others.row_names, others.heading, others.beside
        self.path, self.annotations = others.path, others.annotations
        return self

    @property
    def written_along(self) -> Labels | None:
        """What stands before the scores of each item in a file: its name, its label, and what was kept."""
        named = {} if self.row_names is None else {self.heading: self.row_names}
        columns = {**named, **self.beside, **named}  # names first, and as they are if they are kept as well
        return Labels(columns, bool(named)) if columns else None

    def as_rows(self) -> "Rows":
        """The same, for who needs columns of numbers."""
        raise BadData(f"{self.label}: rows of numbers are needed here, and these items have no columns.")

    def blocks_ahead(self, size: int) -> Iterator[Held]:
        """The same, the next of which is read while the last is worked on."""
        blocks = self.blocks(size)
        if self.held:
            yield from blocks
            return
        with ThreadPoolExecutor(1, thread_name_prefix="mercer-reader") as reader:
            coming = reader.submit(next, blocks, None)
            while (block := coming.result()) is not None:
                coming = reader.submit(next, blocks, None)
                yield block


class Rows(Items):
    """n rows of d numbers, from the first to the last, a block at a time.

    A file is opened anew by every sweep: nothing stays open, and nothing but a block is ever held.
    """

    kind = "rows"
    shape: tuple[int, int]
    dtype: Any = np.dtype(np.float64)
    names: tuple[str, ...] | None = None  # of the columns, if they have any
    density: float = 1.0  # share of the numbers that are not zero
    gaps: bool = False  # whether numbers may be missing: they are NaN then

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def width(self) -> int:
        return self.shape[1]

    @property
    def nbytes(self) -> int:
        return int(self.dtype.itemsize) * self.shape[0] * self.shape[1]

    def __getitem__(self, indices: Array) -> Array:
        """The rows with these numbers, in this order; in one sweep."""
        indices = np.asarray(indices)
        if indices.dtype.kind not in "iu" or indices.ndim != 1:
            raise TypeError(f"{self.label}: rows are taken by an array of whole numbers.")
        if len(indices) and not (indices.min() >= 0 and indices.max() < self.shape[0]):
            raise IndexError(f"{self.label} has rows 0 to {self.shape[0] - 1:,}.")
        out, start = np.empty((len(indices), self.shape[1]), dtype=self.dtype), 0
        last = indices.max(initial=-1)
        for block in self.blocks(rows_at_a_time(self.shape[1])):
            if start > last:
                break
            here = np.flatnonzero((indices >= start) & (indices < start + len(block)))
            out[here] = block[indices[here] - start]
            start += len(block)
        return out

    def load(self, kept: Array | None = None) -> Array:
        """All rows, or those that `kept` marks, in one array."""
        count = self.shape[0] if kept is None else int(np.sum(kept))
        out, start, done = np.empty((count, self.shape[1]), dtype=self.dtype), 0, 0
        for block in self.blocks(rows_at_a_time(self.shape[1])):
            rows = block if kept is None else block[kept[start : start + len(block)]]
            out[done : done + len(rows)] = rows
            start, done = start + len(block), done + len(rows)
        return out

    def in_memory(self, kept: Array | None = None) -> "Rows":
        from mercer_old.sources.held import HeldRows

        rows = HeldRows(self.load(kept))
        return rows.named_as(self) if kept is None else rows

    def as_rows(self) -> "Rows":
        return self

    def allowing_gaps(self) -> Self:
        """The same rows, for who can do without some of their numbers."""
        some = copy(self)
        some.gaps = True
        return some

    def for_passes(self) -> Self:
        """The same rows, for who comes back to them in pass after pass."""
        return self

    def checked(self, blocks: Iterable[Array]) -> Iterator[Array]:
        """The blocks as they come, refused at the first number that is none."""
        start = 0
        for block in blocks:
            self._refuse_gaps(block, start)
            yield block
            start += len(block)

    def _refuse_gaps(self, block: Array, start: int) -> None:
        refuse_gaps_in(block, self.label, self.names, start, self.gaps)


def regroup(pieces: Iterable[Array], size: int) -> Iterator[Array]:
    """The same rows in blocks of exactly `size`, so that an answer does not depend on how a file was cut."""
    waiting: list[Array] = []
    count = 0
    for piece in pieces:
        waiting.append(piece)
        count += len(piece)
        if count >= size:
            rows = waiting[0] if len(waiting) == 1 else np.concatenate(waiting)
            whole = count - count % size
            for start in range(0, whole, size):
                yield rows[start : start + size]
            waiting, count = [rows[whole:]], count - whole
    if count:
        yield waiting[0] if len(waiting) == 1 else np.concatenate(waiting)


def all_finite(block: Array) -> bool:
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(block.sum()) or np.isfinite(block).all())  # the first is faster, nearly always enough


def refuse_gaps_in(
    block: Array, label: str, names: tuple[str, ...] | None, start: int = 0, welcome: bool = False
) -> None:
    """One sentence for a missing or infinite value: which file, row and column. Gaps may be welcome."""
    if all_finite(block):
        return
    bad = np.argwhere(np.isinf(block) if welcome else ~np.isfinite(block))
    if not len(bad):
        return
    row, column = bad[0]
    value = block[row, column]
    what = "a missing value (NaN)" if np.isnan(value) else f"an infinite value ({value})"
    name = repr(names[column]) if names else str(column)
    count = f"{len(bad):,} such values" if len(bad) > 1 else "one such value"
    raise BadData(
        f"{label} contains {what}: row {start + row}, column {name} (counted from 0; {count} in the block of "
        f"{counted(len(block), 'row')} from row {start} on). Leave out or fill in those rows first (SimpleImputer)."
    )
