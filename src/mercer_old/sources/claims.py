"""What reading a table will take, from what the file says of itself, before any of it is unpacked.

A page of Parquet or a batch of Arrow is unpacked whole, and a few kilobytes may unpack to gigabytes. Their sizes stand
in headers between the data, which readers do not show; the few fields that count are read here.
"""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_MAGIC = b"ARROW1"
_CARELESS = 1 << 26  # bytes that a page may claim, whatever its writer says of the column: not all count alike
_LONGEST_HEADER = 1 << 20  # bytes of the header of a page: with statistics it can be long


def largest_pages(path: Path, state: Any, columns: Sequence[str]) -> int:
    """Bytes of the largest page of each of these columns, all together, when they are unpacked."""
    largest, wanted = dict[str, int](), set(columns)
    with path.open("rb") as file:
        for i in range(state.num_row_groups):
            group = state.row_group(i)
            for j in range(group.num_columns):
                chunk = group.column(j)
                name = chunk.path_in_schema
                if name in wanted and chunk.num_values:
                    largest[name] = max(largest.get(name, 0), *_pages(file, chunk))
    return sum(largest.values())


def _pages(file: Any, chunk: Any) -> Iterator[int]:
    """Bytes of the pages of a column, unpacked."""
    start = chunk.data_page_offset
    if chunk.has_dictionary_page and chunk.dictionary_page_offset:
        start = min(start, chunk.dictionary_page_offset)
    end, yielded = start + chunk.total_compressed_size, 0
    yield 0
    while start < end and yielded < chunk.num_values + 1:
        unpacked, packed, length = _page_header(file, start)
        if unpacked > max(chunk.total_uncompressed_size, _CARELESS):
            raise ValueError(
                f"a page of column {chunk.path_in_schema!r} claims {unpacked:,} bytes, and all of the column "
                f"{chunk.total_uncompressed_size:,}"
            )
        yield unpacked
        start, yielded = start + length + packed, yielded + 1


def _page_header(file: Any, start: int) -> tuple[int, int, int]:
    """Bytes of a page unpacked and packed, and of its header."""
    length = 256
    while True:
        file.seek(start)
        data = file.read(length)
        try:
            fields, end = _Compact(data).struct()
            break
        except IndexError:
            if len(data) < length or length >= _LONGEST_HEADER:
                raise ValueError("a page of it has no header") from None
            length *= 8
    unpacked, packed = fields.get(2, -1), fields.get(3, -1)
    if unpacked < 0 or packed < 0:
        raise ValueError("the header of a page of it is damaged")
    return unpacked, packed, end


class _Compact:
    """Thrift's compact protocol, in which Parquet writes its headers: whole numbers are kept, the rest is skipped."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def struct(self, depth: int = 0) -> tuple[dict[int, int], int]:
        """The whole numbers of a structure by the numbers of their fields, and where it ends."""
        if depth > 8:
            raise ValueError("the header of a page of it is damaged")
        fields, number = dict[int, int](), 0
        while kind := self._byte():
            number = number + (kind >> 4) if kind >> 4 else _signed(self._varint())
            value = self._value(kind & 15, depth)
            if value is not None:
                fields[number] = value
        return fields, self.at

    def _value(self, kind: int, depth: int) -> int | None:
        if kind in (4, 5, 6):
            return _signed(self._varint())
        if kind in (3, 7):
            self.at += 1 if kind == 3 else 8
        elif kind == 8:
            length = self._varint()
            self.at += length
        elif kind == 12:
            self.struct(depth + 1)
        elif kind not in (1, 2):  # true and false stand in the kind itself; lists and maps do not occur
            raise ValueError("the header of a page of it is damaged")
        return None

    def _varint(self) -> int:
        value, shift = 0, 0
        while (byte := self._byte()) & 128:
            value, shift = value | (byte & 127) << shift, shift + 7
            if shift > 63:
                raise ValueError("the header of a page of it is damaged")
        return value | byte << shift

    def _byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]


def _signed(value: int) -> int:
    return (value >> 1) ^ -(value & 1)


@dataclass(frozen=True)
class _Batches:
    """What the batches of an Arrow file hold."""

    rows: int
    largest: int  # bytes of the columns that are read, of the largest batch, unpacked
    dictionaries: int  # bytes of all of them, unpacked; they are read whatever is asked for


def claimed_batches(path: Path, schema: Any, columns: Sequence[str]) -> _Batches:
    """From the metadata in front of every batch."""
    with path.open("rb") as file:
        try:
            dictionaries, blocks = _blocks(file)
            wanted = _buffers(schema, columns)
            held = sum(sum(_batch(file, block, inner=True)[1]) for block in dictionaries)
            sizes = [_batch(file, block) for block in blocks]
        except (struct.error, IndexError, OverflowError, OSError):  # places that no file has
            raise ValueError("what it says of its batches is damaged") from None
    largest = max(
        (sum(each for i, each in enumerate(buffers) if wanted is None or i in wanted) for _, buffers in sizes),
        default=0,
    )
    return _Batches(sum(rows for rows, _ in sizes), largest, held)


def _blocks(file: Any) -> list[list[tuple[int, int]]]:
    """Where dictionaries and batches lie: offset and length of their metadata, from the end of the file."""
    file.seek(-10, 2)
    end = file.tell()
    length, magic = struct.unpack("<i6s", file.read(10))
    if magic != _MAGIC or not 0 < length <= end:
        raise ValueError("it does not end as an Arrow file does")
    file.seek(end - length)
    footer = _Table.root(file.read(length))
    return [[struct.unpack_from("<qi", footer.data, at) for at in footer.vector(field, 24)] for field in (2, 3)]


def _batch(file: Any, block: tuple[int, int], inner: bool = False) -> tuple[int, list[int]]:
    """Rows of a batch, and bytes of its buffers when they are unpacked."""
    offset, length = block
    file.seek(max(offset, 0))
    data = file.read(max(length, 0))
    start = 8 if data[:4] == b"\xff\xff\xff\xff" else 4
    batch = _Table.root(data[start:]).table(2)
    batch = batch.table(1) if inner else batch
    body, compressed = offset + length, batch.has(3)
    buffers = [struct.unpack_from("<qq", batch.data, at) for at in batch.vector(2, 16)]
    return batch.number(0), [_unpacked(file, body + at, size) if compressed else size for at, size in buffers]


def _unpacked(file: Any, start: int, size: int) -> int:
    """A compressed buffer begins with its length; −1 says that it is stored as it is."""
    if size < 8:
        return 0
    file.seek(max(start, 0))
    claimed = struct.unpack("<q", file.read(8))[0]
    return size if claimed < 0 else claimed


def _buffers(schema: Any, columns: Sequence[str]) -> set[int] | None:
    """The numbers of the buffers of these columns; None where one of another kind stands before them."""
    wanted, at, names = set[int](), 0, set(columns)
    for field in schema:
        if (count := _count(field.type)) is None:
            return None
        if field.name in names:
            wanted.update(range(at, at + count))
        at += count
    return wanted


def _count(kind: Any) -> int | None:
    """Of how many buffers a column of this kind consists; None if that is not known here."""
    name = str(kind).partition("[")[0].partition("(")[0].partition("<")[0]
    known = {"null": 0, "string": 3, "binary": 3, "large_string": 3, "large_binary": 3, "dictionary": 2}
    if name in known or kind.num_fields:
        return known.get(name)
    return 2 if _is_fixed(kind) else None


def _is_fixed(kind: Any) -> bool:
    try:
        return bool(kind.bit_width)
    except ValueError:
        return False


class _Table:
    """A table of a flatbuffer, in which Arrow writes its metadata."""

    def __init__(self, data: bytes, at: int) -> None:
        self.data, self.at = data, at
        self.fields = at - self._read("<i", at)

    @classmethod
    def root(cls, data: bytes) -> "_Table":
        return cls(data, struct.unpack_from("<I", data, 0)[0])

    def _read(self, form: str, at: int) -> int:
        if at < 0:
            raise IndexError
        return int(struct.unpack_from(form, self.data, at)[0])

    def _place(self, field: int) -> int:
        """Where a field lies; 0 if it was left out."""
        slot = 4 + 2 * field
        inside = slot < self._read("<H", self.fields)
        distance = self._read("<H", self.fields + slot) if inside else 0
        return self.at + distance if distance else 0

    def has(self, field: int) -> bool:
        return bool(self._place(field))

    def number(self, field: int) -> int:
        at = self._place(field)
        return self._read("<q", at) if at else 0

    def table(self, field: int) -> "_Table":
        at = self._place(field)
        if not at:
            raise IndexError
        return _Table(self.data, at + self._read("<I", at))

    def vector(self, field: int, size: int) -> range:
        """Where the entries of a list lie."""
        at = self._place(field)
        if not at:
            return range(0)
        at += self._read("<I", at)
        count = self._read("<I", at)
        if count * size > len(self.data):
            raise IndexError
        return range(at + 4, at + 4 + count * size, size)
