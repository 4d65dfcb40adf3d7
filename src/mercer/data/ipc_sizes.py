"""Sizes of the batches of an Arrow file, read from its metadata before anything is decompressed.

A few kilobytes may decompress to gigabytes. The sizes are in the messages of the file, which pyarrow does not show.
"""

import re
import struct
from collections.abc import Collection
from pathlib import Path
from typing import IO, Any, NamedTuple

import pyarrow as pa

from mercer.errors import DataError
from mercer.text import printable


class BatchSizes(NamedTuple):
    """What the batches of an Arrow file hold."""

    rows: list[int]  # of each batch
    buffers: list[list[int]]  # bytes of the buffers of each batch, as stored and decompressed
    dictionaries: int  # bytes of all dictionaries, which are read with any column

    def largest(self, schema: pa.Schema, columns: Collection[str]) -> int:
        """Bytes of some columns in the largest batch, and of all dictionaries."""
        names, wanted, first, known = set(columns), set[int](), 0, True
        for field in schema:
            count = _count_buffers(field.type)
            known = known and count is not None
            if field.name in names:
                wanted.update(range(first, first + (count or 0)))
            first += count or 0
        sizes = (sum(size for i, size in enumerate(batch) if i in wanted or not known) for batch in self.buffers)
        return max(sizes, default=0) + self.dictionaries


def read_sizes(path: Path) -> BatchSizes:
    """Read the sizes of all batches."""
    with path.open("rb") as file:
        try:
            file.seek(-10, 2)
            end = file.tell()
            length, magic = struct.unpack("<i6s", file.read(10))
            if magic != b"ARROW1" or not 0 < length <= end:
                raise IndexError
            file.seek(end - length)
            footer = _Flatbuffer(file.read(length))
            dictionaries, batches = footer.vector(2, 24), footer.vector(3, 24)
            held = sum(sum(_read_batch(file, footer, at, nested=True)[1]) for at in dictionaries)
            found = [_read_batch(file, footer, at) for at in batches]
        except (struct.error, IndexError, OverflowError, ValueError, OSError):  # locations outside of the file
            raise DataError(f"Cannot read {printable(path)}: its metadata are damaged.", source=path) from None
    return BatchSizes([rows for rows, _ in found], [buffers for _, buffers in found], held)


def _read_batch(file: IO[bytes], footer: "_Flatbuffer", at: int, nested: bool = False) -> tuple[int, list[int]]:
    """Rows of a batch, and the bytes of its buffers."""
    offset, length = struct.unpack_from("<qi", footer.data, at)
    file.seek(offset)
    message = file.read(max(length, 0))
    batch = _Flatbuffer(message[8 if message[:4] == b"\xff" * 4 else 4 :]).table(2)
    batch = batch.table(1) if nested else batch  # of a dictionary
    places = [struct.unpack_from("<qq", batch.data, at) for at in batch.vector(2, 16)]
    if not batch.place(3):  # not compressed
        return batch.number(0), [max(size, 0) for _, size in places]
    return batch.number(0), [_read_size(file, offset + length + at, size) for at, size in places]


def _read_size(file: IO[bytes], start: int, size: int) -> int:
    """Bytes of a buffer that begins with its decompressed length; -1 means that it is stored as it is."""
    if size < 8:
        return 0
    file.seek(start)
    (claimed,) = struct.unpack("<q", file.read(8))
    return size if claimed < 0 else size + claimed


def _count_buffers(kind: pa.DataType) -> int | None:
    """Buffers of a column; None if pyarrow counts them in another way than the format, or each batch has its own."""
    if kind == pa.null():
        return 0
    if re.search("null|view|union|run_end", str(kind)):  # also inside lists and structures
        return None
    return len(pa.nulls(0, kind).buffers())


class _Flatbuffer:
    """A table of a flatbuffer: the format of Arrow's metadata. Fields are numbered as in its schema."""

    def __init__(self, data: bytes, at: int | None = None) -> None:
        self.data = data
        self.at = self._read("<I", 0) if at is None else at
        self._fields = self.at - self._read("<i", self.at)

    def _read(self, form: str, at: int) -> Any:
        if at < 0:
            raise IndexError
        return struct.unpack_from(form, self.data, at)[0]

    def place(self, field: int) -> int:
        """Where a field is; 0 if it was left out."""
        slot = 4 + 2 * field
        distance = self._read("<H", self._fields + slot) if slot < self._read("<H", self._fields) else 0
        return self.at + distance if distance else 0

    def number(self, field: int) -> int:
        at = self.place(field)
        return int(self._read("<q", at)) if at else 0

    def table(self, field: int) -> "_Flatbuffer":
        at = self.place(field)
        return _Flatbuffer(self.data, at + self._read("<I", at) if at else -1)

    def vector(self, field: int, size: int) -> range:
        """Where the entries of a list are."""
        at = self.place(field)
        if not at:
            return range(0)
        start = at + self._read("<I", at)
        count = self._read("<I", start)
        if count * size > len(self.data):
            raise IndexError
        return range(start + 4, start + 4 + count * size, size)
