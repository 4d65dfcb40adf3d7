"""Matrices saved by numpy and scipy: .npy files read by position, memory maps, and .npz archives."""

import zipfile
from collections.abc import Iterator, Sequence
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mercer.data.dataset import ArrayDataset, Dataset, Metadata, Samples, Source, kept_dtype, without_duplicates
from mercer.data.read_options import ReadOptions
from mercer.data.reading import changed, check_memory, check_regular, guess_format, reading, stamp, unreadable
from mercer.data.validation import check_finite
from mercer.errors import DataError, MercerWarning, Remedy
from mercer.text import counted, listed, printable

_SPARSE = {"csr": ("data", "indices", "indptr"), "csc": ("data", "indices", "indptr"), "coo": ("data", "row", "col")}
_COPIES = 3  # of a sparse matrix: its parts, their values in the type that is kept, and the one in CSR format


_PICKLED = "it has Python objects (a pickle), which are never read"


class NpyDataset(Dataset):
    """A matrix in a .npy file. It is read, not mapped: mapped pages would count as memory of this process."""

    def __init__(self, path: Path, options: ReadOptions | None = None, memory: int = 0) -> None:
        self.path, self.source = path, Source(printable(path), path)
        check_regular(path)
        header = self._header()
        if header.ndim != 2:
            raise unreadable(path, f"it has an array of shape {header.shape}, and rows and columns are needed")
        if header.dtype.kind not in "fiub":
            raise unreadable(path, f"it has values of type {header.dtype}, and numbers are needed")
        self._stored, self._offset, self._by_rows = header.dtype, header.offset, bool(header.flags.c_contiguous)
        self.shape, self.dtype = header.shape, kept_dtype(header.dtype)
        self.nbytes = self.shape[0] * self.shape[1] * self.dtype.itemsize
        self._stamp = stamp(path)
        extra = path.stat().st_size - self._offset - header.nbytes
        if extra > 0:
            raise unreadable(path, f"{extra:,} bytes follow its {self.shape[0]:,} x {self.shape[1]:,} matrix")

    def _header(self) -> Any:
        """The matrix as a memory map, of which nothing but the header is read."""
        with reading(self.path), self.path.open("rb") as file:
            if file.read(6) != b"\x93NUMPY":
                raise unreadable(self.path, f"it is {guess_format(self.path) or 'not a .npy file, or empty'}")
        try:
            with np.errstate(over="ignore"):
                return np.lib.format.open_memmap(str(self.path), mode="r")
        except Exception as error:  # the header is a Python expression, which can be wrong in every way
            pickled = "Python objects" in str(error)
            raise unreadable(self.path, _PICKLED if pickled else "it is damaged or truncated") from error

    def blocks(self, size: int) -> Iterator[NDArray]:
        read = self._read_rows if self._by_rows else self._read_columns
        with reading(self.path), self.path.open("rb", buffering=0) as file:
            self._check_unchanged()
            for start in range(0, len(self), size):
                block = read(file, start, min(size, len(self) - start)).astype(self.dtype, copy=False)
                check_finite(block, self, start)
                yield block
            self._check_unchanged()

    def _check_unchanged(self) -> None:
        if stamp(self.path) != self._stamp:
            raise changed(self.source.name)

    def _read_rows(self, file: IO[bytes], start: int, n_rows: int) -> NDArray:
        return self._read(file, start * self.shape[1], n_rows * self.shape[1]).reshape(n_rows, -1)

    def _read_columns(self, file: IO[bytes], start: int, n_rows: int) -> NDArray:
        """Fortran order: a row is spread over the whole file, a piece of a column is not."""
        block = np.empty((n_rows, self.shape[1]), dtype=self._stored)
        for j in range(self.shape[1]):
            block[:, j] = self._read(file, j * self.shape[0] + start, n_rows)
        return block

    def _read(self, file: IO[bytes], first: int, count: int) -> NDArray:
        file.seek(self._offset + first * self._stored.itemsize)
        values = np.fromfile(file, dtype=self._stored, count=count)
        if len(values) < count:
            raise unreadable(self.path, f"it ends after {counted(first + len(values), 'value')}")
        return values


class MemmapDataset(Dataset):
    """A memory-mapped matrix of the user. Its blocks are read-only views."""

    def __init__(self, mapped: NDArray, source: Source | None = None) -> None:
        self.mapped, self.shape, self.dtype = mapped, (mapped.shape[0], mapped.shape[1]), kept_dtype(mapped.dtype)
        self.nbytes = mapped.size * self.dtype.itemsize
        self.source = source or Source()

    def blocks(self, size: int) -> Iterator[NDArray]:
        for start in range(0, len(self), size):
            block = np.asarray(self.mapped[start : start + size], dtype=self.dtype)
            block.flags.writeable = False
            check_finite(block, self, start)
            yield block

    def take(self, indices: Any) -> Samples:
        rows = np.array(self.mapped[self._check_indices(indices)], dtype=self.dtype)
        check_finite(rows, self, 0, lambda row: f"row index {indices[row]}")
        return rows


def read_npz(path: Path, options: ReadOptions, memory: int) -> Dataset:
    """Read the only matrix of a .npz archive, the one named by `array`, or a matrix of `scipy.sparse.save_npz`.

    Arrays called `ids` and `columns`, as scores are written, are the names of rows and columns.
    """
    source = Source(printable(path), path)
    with reading(path):
        check_regular(path)
        with zipfile.ZipFile(path) as archive:
            reader = _NpzReader(archive, path, memory)
            if "format" in reader.headers and options.array is None:
                return ArrayDataset(reader.read_sparse(), owns_samples=True, source=source)
            name = reader.choose(options.array)
            matrix = reader.read(name)
            columns, ids = reader.names("columns", matrix.shape[1]), reader.names("ids", matrix.shape[0])
            heading = (reader.names("heading", 1) or ["id"])[0]
    if len(reader.headers) > 1:
        source = source._replace(notes=(MercerWarning(f"Array {name!r}.", "note", [Remedy("array", name)]),))
    return ArrayDataset(
        np.ascontiguousarray(matrix, dtype=kept_dtype(matrix.dtype)),
        owns_samples=True,
        feature_names=tuple(columns) if columns and len({*columns}) == len(columns) else None,
        metadata=Metadata({heading: ids}, heading) if ids else Metadata(),
        source=source,
    )


class _NpzReader:
    """Arrays of an archive. Nothing is unpickled, and sizes are checked before anything is read."""

    def __init__(self, archive: zipfile.ZipFile, path: Path, memory: int) -> None:
        self.archive, self.path, self.memory = archive, path, memory
        members = [name for name in archive.namelist() if name.endswith(".npy")]
        self.headers = {name.removesuffix(".npy"): self._header(name) for name in members}

    def _header(self, member: str) -> tuple[tuple[int, ...], np.dtype]:
        """Shape and type of an array, of which nothing else is read."""
        with self.archive.open(member) as file:
            try:
                version = np.lib.format.read_magic(file)
                read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
                shape, _, dtype = read(file)
            except (zipfile.BadZipFile, MemoryError):
                raise
            except Exception as error:  # a Python expression, which can be wrong in every way
                raise unreadable(self.path, f"the header of {member!r} is damaged") from error
        return shape, dtype

    def choose(self, array: str | None) -> str:
        """The matrix to read."""
        if array is not None:
            self.check_memory([array], 2)
            shape, dtype = self.headers[array]
            if not dtype.hasobject and (len(shape) != 2 or dtype.kind not in "fiub"):
                reason = f"{array!r} has shape {shape} and type {dtype}, and a matrix of numbers is needed"
                raise unreadable(self.path, reason)
            return array
        matrices = [n for n, (shape, dtype) in self.headers.items() if len(shape) == 2 and dtype.kind in "fiub"]
        if len(matrices) != 1:
            remedies = [Remedy("array", name) for name in matrices[:3]]
            which = f"several matrices: {listed(map(repr, matrices), 10)}" if matrices else "no matrix of numbers"
            raise DataError(f"{printable(self.path)} has {which}.", source=self.path, remedies=remedies)
        return matrices[0]

    def read(self, name: str) -> NDArray:
        """An array, if it fits and is as long as its header claims."""
        self.check_memory([name], 2)
        shape, dtype = self.headers[name]
        if dtype.hasobject:
            raise unreadable(self.path, f"{name!r}: {_PICKLED}")
        size = prod(shape) * dtype.itemsize
        if size > self.archive.getinfo(f"{name}.npy").file_size:
            raise unreadable(self.path, f"{name!r} claims {size:,} bytes and has fewer")
        with self.archive.open(f"{name}.npy") as file:
            return np.lib.format.read_array(file, allow_pickle=False)

    def check_memory(self, names: Sequence[str], copies: int) -> None:
        """Raise an error if copies of these arrays exceed the limit, in their own type or in the one that is kept."""
        for name in names:
            if name not in self.headers:
                known = listed(map(repr, self.headers), 20) or "none"
                raise unreadable(self.path, f"there is no array {name!r}, only {known}")
        headers = [self.headers[name] for name in names]
        needed = copies * sum(prod(shape) * max(dtype.itemsize, kept_dtype(dtype).itemsize) for shape, dtype in headers)
        check_memory(f"{listed(map(repr, names))} of {printable(self.path)}", needed, self.memory)

    def names(self, name: str, length: int) -> list[str] | None:
        """Names in an array of this length, if there is one."""
        shape, dtype = self.headers.get(name, ((), np.dtype(float)))
        if dtype.kind not in "UiuS" or shape not in ((length,), *([()] if length == 1 else [])):
            return None
        return [str(one) for one in np.atleast_1d(self.read(name))]

    def read_sparse(self) -> sparse.csr_array:
        """A matrix as `scipy.sparse.save_npz` writes it; scipy would not check its indices."""
        form = self.read("format")
        name = str(form.astype("U").item()) if form.ndim == 0 and form.dtype.kind in "US" else ""
        if name not in _SPARSE:
            reason = f"a sparse matrix of format {name!r} is not supported: save it with matrix.tocsr()"
            raise unreadable(self.path, reason)
        self.check_memory(_SPARSE[name], _COPIES)
        values, first, second = (self.read(part) for part in _SPARSE[name])
        shape = tuple(self.read("shape").tolist())
        if len(shape) != 2 or values.dtype.kind not in "fiub" or any(p.dtype.kind not in "iu" for p in (first, second)):
            raise unreadable(self.path, "the parts of its sparse matrix do not fit together")
        kept = kept_dtype(values.dtype)
        if name == "coo":  # its conversion adds up duplicates
            kept = kept if kept.kind == "f" else np.dtype(np.float64)
            return sparse.coo_array((values.astype(kept), (first, second)), shape).tocsr()
        build = sparse.csr_array if name == "csr" else sparse.csc_array
        matrix = build((values.astype(kept, copy=False), first, second), shape)
        matrix.check_format(full_check=True)
        return without_duplicates(matrix.tocsr())
