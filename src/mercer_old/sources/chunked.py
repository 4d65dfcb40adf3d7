"""Rows that lie in chunks, here or on the workers of a cluster: work goes to them, not they to the work."""

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from typing import Any, Self

import numpy as np
from scipy import sparse

from mercer_old.arrays import Array, Held, Matrix
from mercer_old.engines.base import Engine, Handle
from mercer_old.errors import BadData, counted, in_short, listed
from mercer_old.inputs import with_gaps_as_nan
from mercer_old.progress import OnPass
from mercer_old.sources.frames import Columns, joined_columns
from mercer_old.sources.held import HeldRows, some_rows
from mercer_old.sources.items import Items, Rows, refuse_gaps_in

_KEPT = 0.25  # of a worker's memory, for rows that are kept for pass after pass


@dataclass(frozen=True)
class Chunks:
    """Where the chunks are, how many items each has, and who works on them."""

    engine: Engine
    handles: tuple[Handle, ...]
    counts: tuple[int, ...]
    opened: Callable[[Any, int], Any]  # what a handle stands for, and the number of its first item: checked items

    @property
    def starts(self) -> list[int]:
        """The number of the first item of each."""
        return [0, *accumulate(self.counts)][:-1]

    @property
    def slices(self) -> list[slice]:
        """The numbers of the items of each."""
        return [slice(a, a + count) for a, count in zip(self.starts, self.counts, strict=True)]

    def home(self, numbers: Array) -> Array:
        """The chunk in which each of these items lies."""
        return np.searchsorted(np.array(self.starts), numbers, side="right") - 1

    def dealt(self, values: Array | None) -> list[Array | None]:
        """A number (or row) for every item, cut as the chunks are."""
        if values is None:
            return [None] * len(self.counts)
        return [values[some] for some in self.slices]

    def map(self, work: Callable[..., Any], own: Sequence[Any] | None = None, *shared: Any) -> list[Handle]:
        """work(items of a chunk, its own, *shared), of every chunk; what is shared is sent once."""
        each = list(zip(self.starts, self.counts, own or [None] * len(self.counts), strict=True))
        sent = [self.engine.share(value) for value in shared]
        return self.engine.map(partial(_work_on, work, self.opened), self.handles, each, *sent)

    def summed(
        self,
        work: Callable[..., Any],
        merge: Callable[[Any, Any], Any],
        own: Sequence[Any] | None = None,
        *shared: Any,
        on_pass: OnPass = None,
    ) -> Any:
        """What work makes of all chunks, merged along a fixed tree."""
        return self.engine.reduce(merge, self.map(work, own, *shared), on_pass)

    def each(
        self, work: Callable[..., Any], own: Sequence[Any] | None = None, *shared: Any, on_pass: OnPass = None
    ) -> Iterator[Any]:
        """What work makes of every chunk, in order, brought here one after the other."""
        return self.engine.bring(self.map(work, own, *shared), on_pass)

    def seen(self, through: Callable[[Rows], Rows]) -> "Chunks":
        """The same chunks, of which each is seen through something."""
        return replace(self, opened=partial(_seen_through, through, self.opened))

    def checked(self, check: Callable[[Matrix, Array], None]) -> "Chunks":
        """The same chunks, each of which may be refused by its rows and their numbers."""
        return replace(self, opened=partial(_looked_over, check, self.opened))

    def kept(self) -> "Chunks":
        """The same chunks, opened once and kept where they are, for work that comes back again and again."""
        return self.remade(loaded, _as_held)

    def remade(
        self,
        work: Callable[..., Any],
        opened: Callable[[Any, int], Any],
        own: Sequence[Any] | None = None,
        *shared: Any,
    ) -> "Chunks":
        """What work makes of every chunk, made once and kept where it is made; `opened` is how it is seen from then on.

        Arrays, or tuples of them, are best: who works knows how much they weigh, and has them lie as in a loop.
        """
        handles = self.engine.keep(self.map(work, own, *shared), evenly=True)
        return replace(self, handles=tuple(handles), opened=opened)

    def seen_as(self, opened: Callable[[Any, int], Any]) -> "Chunks":
        """The same, opened in another way."""
        return replace(self, opened=opened)

    def beside(self, other: "Chunks") -> "Chunks":
        """The same chunks, each in a pair with what another has in its place."""
        pairs = tuple([mine, its] for mine, its in zip(self.handles, other.handles, strict=True))
        return replace(self, handles=pairs, opened=partial(_both, self.opened, other.opened))

    def recut(self, pieces: Sequence[slice], marked: Array | None = None) -> "Chunks":
        """The same items in these pieces, or those of them that `marked` marks: made and kept where the work is."""
        chosen = np.arange(sum(self.counts)) if marked is None else np.flatnonzero(marked)
        handles, own = [], []
        for piece in pieces:
            numbers = chosen[piece]
            first = int(np.searchsorted(self.starts, numbers[0], side="right")) - 1
            last = int(np.searchsorted(self.starts, numbers[-1], side="right")) - 1
            handles.append(list(self.handles[first : last + 1]))
            own.append((self.starts[first : last + 1], numbers))
        kept = self.engine.keep(self.engine.map(partial(_cut_out, self.opened), handles, own), evenly=True)
        counts = tuple(piece.stop - piece.start for piece in pieces)
        return replace(self, handles=tuple(kept), counts=counts, opened=_as_held)

    def load(self, marked: Array | None = None) -> Held:
        """All of them, or those that `marked` marks, in one array here."""
        own = None if marked is None else self.dealt(np.asarray(marked, dtype=bool))
        return stacked(list(self.each(loaded if marked is None else _taken, own)))


def lent(engine: Engine, items: Held, pieces: Sequence[slice]) -> Chunks:
    """Items that are here, in pieces, each of which is sent once and kept where the work is."""
    handles = engine.keep(engine.map(_as_sent, [partial(_as_sent, items[piece]) for piece in pieces]), evenly=True)
    return Chunks(engine, tuple(handles), tuple(piece.stop - piece.start for piece in pieces), _as_held)


class InChunks(Items):
    """Items in chunks: sums over them are made where they lie, and a block that is asked for is brought here."""

    chunks: Chunks

    def __len__(self) -> int:
        return sum(self.chunks.counts)

    def blocks(self, size: int) -> Iterator[Held]:
        return _regroup(self.chunks.each(loaded), size)

    def __getitem__(self, indices: Array) -> Held:
        """Those with these numbers, each taken where it lies."""
        indices = np.asarray(indices)
        starts, home = np.array(self.chunks.starts), self.chunks.home(indices)
        asked = [i for i in np.unique(home).tolist() if self.chunks.counts[i]]
        own = [indices[home == i] - starts[i] for i in asked]
        # The first row of a chunk keeps its number: what is wrong with it is told by that.
        parts = self.chunks.engine.collect(self._some(asked, own))
        return in_order(stacked(parts), home) if parts else self._none()

    def _some(self, asked: list[int], own: list[Array]) -> list[Handle]:
        chunks, starts = self.chunks, self.chunks.starts
        work = partial(_work_on, _taken, chunks.opened)
        each = [(starts[i], chunks.counts[i], mine) for i, mine in zip(asked, own, strict=True)]
        return chunks.engine.map(work, [chunks.handles[i] for i in asked], each)

    def _none(self) -> Held:
        """What is taken if nothing is asked for."""
        return np.empty(0, dtype=object)

    def load(self, kept: Array | None = None) -> Held:
        return self.chunks.load(kept)


class ChunkedRows(InChunks, Rows):
    """Rows of numbers in chunks."""

    def __init__(
        self,
        chunks: Chunks,
        width: int,
        dtype: Any,
        *,
        names: tuple[str, ...] | None = None,
        label: str = "X",
        density: float | None = None,
    ) -> None:
        self.chunks, self.shape, self.dtype = chunks, (sum(chunks.counts), width), np.dtype(dtype)
        self.names, self.label = names, label
        self.sparse, self.density = density is not None, 1.0 if density is None else density

    @property
    def nbytes(self) -> int:
        if not self.sparse:
            return super().nbytes
        return round(self.density * self.shape[0] * self.shape[1]) * 16 + 8 * self.shape[0]

    def _none(self) -> Held:
        return sparse.csr_array((0, self.shape[1])) if self.sparse else np.empty((0, self.shape[1]), self.dtype)

    def for_passes(self) -> Self:
        """The same rows, opened once and kept by the workers, for pass after pass; if they have room, else as it is."""
        engine = self.chunks.engine
        if not engine.elsewhere or self.nbytes > _KEPT * (engine.room or 0) * engine.workers:  # no limit: who knows
            return self
        rows = copy(self)
        rows.chunks = self.chunks.kept()
        return rows

    def allowing_gaps(self) -> Self:
        rows = super().allowing_gaps()
        if not self.gaps:
            rows.chunks = replace(self.chunks, opened=partial(_with_gaps, self.chunks.opened))
        return rows


@dataclass(frozen=True)
class AsRows:
    """Makes rows of what a chunk holds, and refuses what the others would not have: by the number of the row."""

    width: int
    dtype: Any
    names: tuple[str, ...] | None = None
    label: str = "X"
    sparse: bool = False
    gaps: bool = False

    def __call__(self, chunk: Any, start: int) -> HeldRows:
        data = self._as_numbers(chunk, start)
        if data.ndim != 2 or data.shape[1] != self.width:
            raise BadData(
                f"{self.label}: the chunk from row {start} on has {self._columns(data)}, and the others have "
                f"{counted(self.width, 'column')}."
            )
        rows = HeldRows(data)
        rows.label, rows.names, rows.gaps = self.label, self.names, self.gaps
        if not sparse.issparse(data):
            refuse_gaps_in(data, self.label, self.names, start, self.gaps)
        elif not np.isfinite(data.data).all():
            refuse_gaps_in(data.toarray(), self.label, self.names, start, self.gaps)
        return rows

    def _as_numbers(self, chunk: Any, start: int) -> Matrix:
        chunk = chunk.to_scipy_sparse() if hasattr(chunk, "to_scipy_sparse") else chunk
        if self.sparse:
            found = sparse.csr_array(chunk, dtype=self.dtype)
            found.sum_duplicates()
            return found
        if sparse.issparse(chunk):
            chunk = chunk.toarray()
        data = np.asarray(with_gaps_as_nan(self._in_order(chunk, start)))
        try:
            if data.dtype.kind in "OUSMmc":
                data = with_gaps_as_nan(data).astype(np.float64) if data.dtype.kind == "O" else _refuse_kind(data)
            # What came over the network may begin at any byte; products of such numbers take twice as long.
            return np.require(data, dtype=self.dtype, requirements=["C", "A"])
        except (TypeError, ValueError) as error:
            raise BadData(
                f"{self.label}: the chunk from row {start} on holds something that is no number "
                f"({self._first_of_no_number(data, start) or ' '.join(str(error).split())[:80]})."
            ) from None

    def _in_order(self, chunk: Any, start: int) -> Any:
        """A frame with its columns as the others have them, by their names."""
        if self.names is None or not hasattr(chunk, "columns") or tuple(chunk.columns) == self.names:
            return chunk
        here = list(map(str, chunk.columns))
        if sorted(here) != sorted(self.names):
            more, gone = (
                listed([repr(name) for name in some if name not in others]) or "none"
                for some, others in ((here, self.names), (self.names, here))
            )
            raise BadData(
                f"{self.label}: the chunk from row {start} on has other columns than Dask was told: {more} instead of "
                f"{gone}."
            )
        return chunk[list(self.names)]

    def _first_of_no_number(self, data: Any, start: int) -> str:
        for row, column in np.ndindex(data.shape) if data.dtype == object and data.ndim == 2 else ():
            try:
                float(data[row, column])
            except (TypeError, ValueError):
                name = repr(self.names[column]) if self.names else str(column)
                return f"{in_short(data[row, column])} in row {start + row}, column {name}"
        return ""

    @staticmethod
    def _columns(data: Matrix) -> str:
        return counted(data.shape[1], "column") if data.ndim == 2 else f"{data.ndim} dimensions"


def _refuse_kind(data: Array) -> Any:
    raise TypeError(f"values of type {data.dtype}")


def _with_gaps(opened: Any, chunk: Any, start: int) -> Items:
    return replace(opened, gaps=True)(chunk, start)


def _work_on(work: Callable[..., Any], opened: Callable[[Any, int], Items], chunk: Any, own: Any, *shared: Any) -> Any:
    start, count, mine = own
    items = opened(chunk, start)
    if isinstance(items, Items) and len(items) != count:
        raise BadData(
            f"{items.label}: the chunk from row {start} on has {counted(len(items), 'row')}, and Dask was told "
            f"{count:,}: X.compute_chunk_sizes() counts them."
        )
    return work(items, mine, *shared)


def _seen_through(through: Callable[[Rows], Rows], opened: Callable[[Any, int], Rows], chunk: Any, start: int) -> Rows:
    return HeldRows(through(opened(chunk, start)).load())


def _looked_over(
    check: Callable[[Matrix, Array], None], opened: Callable[[Any, int], Rows], chunk: Any, start: int
) -> Rows:
    rows = opened(chunk, start)
    check(rows.load(), np.arange(start, start + len(rows)))
    return rows


def _both(opened: Callable[[Any, int], Any], others: Callable[[Any, int], Any], pair: Any, start: int) -> Any:
    return opened(pair[0], start), others(pair[1], start)


def _as_held(data: Held, start: int) -> HeldRows:
    return HeldRows(data)


def _as_sent(items: Held, own: None = None) -> Held:
    return items


def loaded(rows: Items, own: None = None) -> Held:
    return rows.load()


def _taken(rows: Items, own: Array) -> Held:
    return rows.load()[own]


def _cut_out(opened: Callable[[Any, int], Items], chunks: list[Any], own: tuple[list[int], Array]) -> Held:
    """Items with these numbers, from neighbouring chunks that start at these."""
    starts, numbers = own
    parts = []
    for chunk, start in zip(chunks, starts, strict=True):
        data = opened(chunk, start).load()
        parts.append(data[numbers[(numbers >= start) & (numbers < start + data.shape[0])] - start])
    return stacked(parts)


def stacked(parts: list[Held]) -> Held:
    """One under the other."""
    if sparse.issparse(parts[0]):
        return sparse.csr_array(sparse.vstack(parts, format="csr"))
    if len(parts) == 1:
        return parts[0]
    return joined_columns(parts) if isinstance(parts[0], Columns) else np.concatenate(parts)


def in_order(taken: Held, home: Array) -> Held:
    """Items taken chunk by chunk, in the order in which they were asked for: the first of `home` lies in that chunk."""
    return taken[np.argsort(np.argsort(home, kind="stable"), kind="stable")]


def _regroup(pieces: Iterator[Held], size: int) -> Iterator[Held]:
    """The same items in blocks of exactly `size`, so that an answer does not depend on chunks."""
    waiting: list[Held] = []
    count = 0
    for piece in pieces:
        waiting.append(piece)
        count += piece.shape[0]
        if count >= size:
            rows = stacked(waiting)
            whole = count - count % size
            for start in range(0, whole, size):
                yield _between(rows, start, start + size)
            waiting, count = [_between(rows, whole, rows.shape[0])], count - whole
    if count:
        yield stacked(waiting)


def _between(rows: Held, start: int, stop: int) -> Held:
    return some_rows(rows, start, stop) if sparse.issparse(rows) else rows[start:stop]
