"""The layout of safetensors, read and written: eight bytes of length, a JSON header, and raw numbers without gaps.

    8 bytes        N, the length of the header, little-endian
    N bytes        {"__metadata__": {"mercer": "…"}, "a": {"dtype": "F64", "shape": [3, 2], "data_offsets": [0, 48]}, …}
    the rest       tensors, one after the other, row by row

What a header claims is compared with the size of the file before anything is allocated.
"""

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from mercer_old.arrays import Array
from mercer_old.errors import BadModel, counted, in_short
from mercer_old.store.strict_json import as_json, from_json
from mercer_old.terminal import plain

__all__ = ["LONGEST_HEADER", "MOST_TENSORS", "Layout", "Tensor", "as_stored", "digests_of", "front_of", "pieces_of"]

METADATA, KEY = "__metadata__", "mercer"
LONGEST_HEADER = 2**21  # bytes: parsing JSON takes some twenty times its length
MOST_TENSORS = 4096
_MOST_AXES = 3
_ALIGNED = 64  # bytes: where tensors begin, so that they can be mapped
_PIECE = 2**24  # bytes that are read, hashed or written at once
_CODES = {
    "BOOL": "|b1",
    "U8": "|u1",
    "I8": "|i1",
    "U16": "<u2",
    "I16": "<i2",
    "F16": "<f2",
    "U32": "<u4",
    "I32": "<i4",
    "F32": "<f4",
    "U64": "<u8",
    "I64": "<i8",
    "F64": "<f8",
}
_CODE_OF = {np.dtype(dtype): code for code, dtype in _CODES.items()}


@dataclass(frozen=True)
class Tensor:
    """Where an array is in a file, and what it is; `start` counts from the beginning of the file."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    start: int
    nbytes: int


@dataclass(frozen=True)
class Layout:
    """A model file as its header lays it out, checked against the size of the file."""

    path: Path
    front: bytes  # length and header, as they are in the file
    text: str  # ours, of the metadata
    tensors: dict[str, Tensor]

    @classmethod
    def of(cls, path: Path, file: BinaryIO) -> "Layout":
        size = os.fstat(file.fileno()).st_size
        prefix = file.read(8)
        length = int.from_bytes(prefix, "little")
        if len(prefix) < 8 or not 2 <= length <= size - 8:
            raise no_model(path, f"it has {counted(size, 'byte')}, and its header would take {length:,}")
        if length > LONGEST_HEADER:
            raise no_model(path, f"its header would take {length:,} bytes, and the most is {LONGEST_HEADER:,}")
        raw = file.read(length)
        header = from_json(raw, path)
        if not isinstance(header, dict) or not raw.startswith(b"{"):
            raise no_model(path, "its header is no JSON object")
        text = _text_of(header.pop(METADATA, None), path)
        return cls(path, prefix + raw, text, _tensors(header, 8 + length, size, path))

    def read(self, tensor: Tensor, file: BinaryIO, by_columns: bool = False) -> tuple[Array, str]:
        """An array of its own, read once, with its hash; `by_columns` has it lie in memory column by column."""
        out = np.empty(tensor.shape, dtype=tensor.dtype, order="F" if by_columns else "C")
        file.seek(tensor.start)
        if by_columns and len(tensor.shape) > 1 and out.size:
            return out, self._read_by_rows(tensor, file, out)
        return out, self._hashed_while_read(tensor, file, _bytes_of(out))

    def _hashed_while_read(self, tensor: Tensor, file: BinaryIO, view: memoryview) -> str:
        """One piece is hashed while the next one is read: both let other threads run."""
        if tensor.nbytes <= _PIECE:  # less work than a thread is
            self._fill(view, tensor, file)
            return hashlib.sha256(view).hexdigest()
        digest, waiting = hashlib.sha256(), None
        with ThreadPoolExecutor(1) as hasher:
            for start in range(0, tensor.nbytes, _PIECE):
                piece = view[start : start + _PIECE]
                self._fill(piece, tensor, file)
                if waiting is not None:
                    waiting.result()
                waiting = hasher.submit(digest.update, piece)
        return digest.hexdigest()

    def _fill(self, view: memoryview, tensor: Tensor, file: BinaryIO) -> None:
        """The next bytes of the file; a read may bring fewer than were asked for."""
        done = 0
        while done < len(view):
            read = file.readinto(view[done:])  # type: ignore[attr-defined]
            if not read:
                raise no_model(self.path, f"it ends within the tensor {in_short(tensor.name)}")
            done += read

    def _read_by_rows(self, tensor: Tensor, file: BinaryIO, out: Array) -> str:
        digest = hashlib.sha256()
        for rows in _row_blocks(tensor.shape, tensor.dtype.itemsize):
            block = np.empty(out[rows].shape, dtype=tensor.dtype)
            self._fill(_bytes_of(block), tensor, file)
            digest.update(block.data)
            out[rows] = block
        return digest.hexdigest()


def no_model(path: Path, why: str) -> BadModel:
    """What is wrong with a file, in one sentence that says what to do."""
    return BadModel(
        f"{plain(path)} is no model file that can be used: {why}. Take a copy that is whole, or save again."
    )


def _text_of(metadata: Any, path: Path) -> str:
    if not isinstance(metadata, dict) or list(metadata) != [KEY] or not isinstance(metadata[KEY], str):
        raise no_model(path, "its metadata are not those of a model of mercer")
    return str(metadata[KEY])


def _tensors(header: dict[str, Any], first: int, size: int, path: Path) -> dict[str, Tensor]:
    """Tensors that lie one after the other, from the header to the end of the file."""
    if len(header) > MOST_TENSORS:
        raise no_model(path, f"it claims {len(header):,} tensors, and the most are {MOST_TENSORS:,}")
    found = [_tensor(name, entry, first, path) for name, entry in header.items()]
    found.sort(key=lambda tensor: (tensor.start, tensor.nbytes))
    end = first
    for tensor in found:
        if tensor.start != end:
            raise no_model(path, f"the tensor {in_short(tensor.name)} does not begin where the one before it ends")
        end += tensor.nbytes
    if end != size:
        raise no_model(path, f"its tensors take {end - first:,} bytes, and there are {max(size - first, 0):,}")
    return {tensor.name: tensor for tensor in found}


def _tensor(name: str, entry: Any, first: int, path: Path) -> Tensor:
    wrong = no_model(path, f"what it says of the tensor {in_short(name)} makes no sense")
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise wrong
    code, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(code, str) or code not in _CODES or not _are_sizes(shape) or not _are_sizes(offsets):
        raise wrong
    if len(shape) > _MOST_AXES or len(offsets) != 2:
        raise wrong
    dtype = np.dtype(_CODES[code])
    nbytes = prod(shape) * dtype.itemsize
    if offsets[1] - offsets[0] != nbytes:
        raise no_model(
            path,
            f"the tensor {in_short(name)} of shape {tuple(shape)} takes {nbytes:,} bytes, and has "
            f"{offsets[1] - offsets[0]:,}",
        )
    return Tensor(name, dtype, tuple(shape), first + offsets[0], nbytes)


def _are_sizes(values: Any) -> bool:
    return isinstance(values, list) and all(type(value) is int and 0 <= value < 2**60 for value in values)


# ---------------------------------------------------------------------- writing


def as_stored(array: Array) -> Array:
    """An array whose numbers have a place in the format; no copy where they have one already."""
    array = np.asarray(array)
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


def has_place(dtype: np.dtype[Any]) -> bool:
    """Whether the format knows numbers of this kind."""
    return dtype.newbyteorder("<") in _CODE_OF


def pieces_of(array: Array) -> Iterator[memoryview]:
    """The bytes of an array row by row, some at a time, however it lies in memory."""
    if array.flags.c_contiguous:
        view = _bytes_of(array)
        for start in range(0, len(view), _PIECE):
            yield view[start : start + _PIECE]
        return
    for rows in _row_blocks(array.shape, array.dtype.itemsize):
        yield _bytes_of(np.ascontiguousarray(array[rows]))


def _bytes_of(array: Array) -> memoryview:
    """Those of an array that lies row by row."""
    return array.reshape(-1).view(np.uint8).data


def _row_blocks(shape: tuple[int, ...], itemsize: int) -> Iterator[slice]:
    size = max(1, _PIECE // max(1, prod(shape[1:]) * itemsize))
    for start in range(0, shape[0], size):
        yield slice(start, start + size)


def digests_of(tensors: Mapping[str, Array], write: Callable[[memoryview], Any] | None = None) -> dict[str, str]:
    """The hashes of their bytes, row by row; each piece is written while it is hashed: both let other threads run."""
    digests = {name: hashlib.sha256() for name in tensors}
    with ThreadPoolExecutor(1) as hasher:
        for name, array in tensors.items():
            for piece in pieces_of(array):
                hashed = hasher.submit(digests[name].update, piece)
                if write is not None:
                    write(piece)
                hashed.result()
    return {name: digest.hexdigest() for name, digest in digests.items()}


def in_order(tensors: Mapping[str, Array]) -> dict[str, Array]:
    """Widest numbers first, so that each tensor is aligned; then by name, so that the same fit is the same file."""
    names = sorted(tensors, key=lambda name: (-tensors[name].dtype.itemsize, name))
    return {name: tensors[name] for name in names}


def front_of(
    tensors: Mapping[str, Array], text: Callable[[str], str], none: str, refuse: Callable[[int], None]
) -> bytes:
    """Length and header of tensors in order. `text(digest)` is ours, with the hash of all this in it; `none` is what
    stands for the hash while it is computed, and as long."""
    entries, end = dict[str, Any](), 0
    for name, array in tensors.items():
        place = {"dtype": _CODE_OF[array.dtype], "shape": list(array.shape), "data_offsets": [end, end + array.nbytes]}
        entries[name], end = place, end + array.nbytes

    def front(digest: str) -> bytes:
        raw = as_json({METADATA: {KEY: text(digest)}} | entries).encode("ascii")
        refuse(len(raw))
        raw += b" " * (-(8 + len(raw)) % _ALIGNED)
        return len(raw).to_bytes(8, "little") + raw

    return front(hashlib.sha256(front(none)).hexdigest())
