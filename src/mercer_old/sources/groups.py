"""Parquet files for the workers of a cluster: runs of row groups, which whoever works on them reads by itself."""

import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np

from mercer_old.arrays import Array
from mercer_old.engines.base import Engine
from mercer_old.engines.cluster import Cluster, active_client
from mercer_old.errors import BadData, NoRoom, counted
from mercer_old.limits import bytes_in_words
from mercer_old.sources.chunked import AsRows, ChunkedRows, Chunks
from mercer_old.sources.collections import COPIES
from mercer_old.sources.folders import file_batches, refuse_gaps_of_files
from mercer_old.sources.held import HeldRows
from mercer_old.sources.items import Rows
from mercer_old.sources.stored import readable
from mercer_old.sources.tables import ParquetFile, ParquetRows, matrix_of
from mercer_old.terminal import plain

__all__ = ["GroupedRows", "in_chunks", "spread"]

_LEAST, _MOST = (
    64_000_000,
    128_000_000,
)  # bytes of a chunk in memory: enough to be worth a task, and no more than is easy
IDLE = 1 << 28  # bytes that a worker takes before it has read anything


@dataclass(frozen=True)
class _Run:
    """Row groups of one file that follow each other."""

    file: ParquetFile
    groups: tuple[int, ...]
    size: int  # bytes of the whole file, by which a worker knows it

    @property
    def rows(self) -> int:
        return sum(self.file.groups[i] for i in self.groups)

    @property
    def first(self) -> int:
        """The number of its first row in the file."""
        return sum(self.file.groups[: self.groups[0]])


@dataclass(frozen=True)
class _Read:
    """Rows as a worker has read them, and where they stand: file, first row there, how many."""

    rows: Array
    pieces: tuple[tuple[str, int, int], ...]


class _AsRead(AsRows):
    """What is missing is told by its file, and by its row there."""

    def __call__(self, chunk: _Read, start: int) -> HeldRows:
        refuse_gaps_of_files(chunk.rows, chunk.pieces, self.names, self.gaps)
        rows = HeldRows(chunk.rows)
        rows.label, rows.names, rows.gaps = self.label, self.names, self.gaps
        return rows


class GroupedRows(ChunkedRows):
    """Parquet in chunks: sums go to the workers, who read by themselves; blocks that are asked for are read here."""

    def __init__(self, chunks: Chunks, source: ParquetRows) -> None:
        super().__init__(chunks, source.shape[1], source.dtype, names=source.names, label=source.label)
        self.named_as(source)
        self.source, self.kinds = source, source.kinds
        self.notes, self.overhead = source.notes, source.overhead

    def blocks(self, size: int) -> Iterator[Array]:
        return self.source.blocks(size)

    def allowing_gaps(self) -> Self:
        rows = super().allowing_gaps()
        rows.source = self.source.allowing_gaps()
        return rows


def spread(rows: Rows) -> Rows:
    """Rows of Parquet in chunks for the workers whose client is active; as they are if there is none, or if few."""
    client = active_client() if isinstance(rows, ParquetRows) and rows.nbytes > _LEAST else None
    if client is None or not isinstance(rows, ParquetRows):
        return rows
    chunked = in_chunks(rows, Cluster(client))
    return chunked if len(chunked.chunks.counts) > 1 else rows


def in_chunks(rows: ParquetRows, engine: Engine) -> GroupedRows:
    """Chunks of whole row groups, which never take more room than a worker has."""
    row = rows.width * rows.dtype.itemsize
    room = None if engine.room is None else max(1, engine.room - IDLE)
    most = _MOST if room is None else min(_MOST, room // COPIES)
    runs = list(_runs(rows.files, row, most, room))
    chunks = list(_together(runs, row, most))
    opened = _AsRead(rows.width, rows.dtype, rows.names, rows.label)
    handles = tuple(partial(_read, chunk, rows.columns, rows.dtype) for chunk in chunks)
    return GroupedRows(Chunks(engine, handles, tuple(sum(run.rows for run in chunk) for chunk in chunks), opened), rows)


def _runs(files: Sequence[ParquetFile], row: int, most: int, room: int | None) -> Iterator[_Run]:
    """Groups of each file, one after the other, until they are enough for a chunk."""
    for file in files:
        here = ParquetFile(file.path.absolute(), file.groups, file.keys)  # workers may stand elsewhere
        size, waiting, rows = file.path.stat().st_size, list[int](), 0
        for i, count in enumerate(file.groups):
            _refuse_large(file, i, COPIES * count * row, room)
            if waiting and (rows + count) * row > most:
                yield _Run(here, tuple(waiting), size)
                waiting, rows = [], 0
            waiting, rows = [*waiting, i], rows + count
            if rows * row >= _LEAST:
                yield _Run(here, tuple(waiting), size)
                waiting, rows = [], 0
        if rows:
            yield _Run(here, tuple(waiting), size)


def _together(runs: Sequence[_Run], row: int, most: int) -> Iterator[tuple[_Run, ...]]:
    """Runs of small files in one chunk."""
    waiting, rows = list[_Run](), 0
    for run in runs:
        if waiting and ((rows + run.rows) * row > most or rows * row >= _LEAST):
            yield tuple(waiting)
            waiting, rows = [], 0
        waiting, rows = [*waiting, run], rows + run.rows
    yield tuple(waiting)


def _refuse_large(file: ParquetFile, group: int, needed: int, room: int | None) -> None:
    if room is None or needed <= room:
        return
    rows = file.groups[group]
    raise NoRoom(
        f"{file.label} has a row group of {counted(rows, 'row')}, the one with number {group}, which takes about "
        f"{bytes_in_words(needed)} while it is worked on, and a thread of a worker has {bytes_in_words(room)} left for "
        f"it: write it with row groups of at most {max(1, rows * room // needed):,} rows, or give workers more memory."
    )


def _read(runs: Sequence[_Run], columns: Sequence[str], dtype: Any) -> _Read:
    """The rows of a chunk, by whoever works on it."""
    out, done = np.empty((sum(run.rows for run in runs), len(columns)), dtype=dtype), 0
    for run in runs:
        end = done + run.rows
        with readable(run.file.path):
            _refuse_another(run)
            for batch in file_batches(run.file.path, columns, run.file.keys, run.groups):
                if done + batch.num_rows > end:
                    raise BadData(_changed(run.file.path))
                out[done : done + batch.num_rows] = matrix_of(batch, columns, dtype)
                done += batch.num_rows
        if done != end:
            raise BadData(_changed(run.file.path))
    return _Read(out, tuple((run.file.label, run.first, run.rows) for run in runs))


def _refuse_another(run: _Run) -> None:
    path = run.file.path
    if not path.exists():
        raise BadData(
            f"{plain(path)} is not on {platform.node() or 'the machine'} of a worker: workers read Parquet files by "
            "themselves, so that all machines need them under the same name, as on a disk that they share."
        )
    if path.stat().st_size != run.size:
        raise BadData(_changed(path))


def _changed(path: Path) -> str:
    return f"{plain(path)} has changed since it was opened; fit again when nothing writes to it."
