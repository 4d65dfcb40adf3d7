"""Matrices saved by numpy, read by position."""

from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from mercer.data.dataset import Dataset, Source
from mercer.errors import DataError
from mercer.text import counted, printable, shorten


class NpyDataset(Dataset):
    """A matrix in a .npy file. It is read, not mapped: mapped pages would count as memory of this process."""

    def __init__(self, path: Path) -> None:
        self.source = Source(printable(path), path)
        header = self._header()
        if header.ndim != 2:
            raise self._error(f"it holds an array of shape {header.shape}, and rows and columns are needed")
        if header.dtype.kind not in "fiub":
            raise self._error(f"it holds values of type {header.dtype}, and numbers are needed")
        self._stored, self._offset, self._by_rows = (
            header.dtype,
            header.offset,
            bool(header.flags.c_contiguous),
        )
        self.shape = header.shape
        single = header.dtype.kind == "f" and header.dtype.itemsize <= 4
        self.dtype = np.dtype(np.float32 if single else np.float64)
        self.nbytes = self.shape[0] * self.shape[1] * self.dtype.itemsize
        self._stamp = self._stat()
        extra = path.stat().st_size - self._offset - header.nbytes
        if extra > 0:
            raise self._error(f"{extra:,} bytes follow its {self.shape[0]:,} x {self.shape[1]:,} matrix")

    def _error(self, reason: str) -> DataError:
        return DataError(f"Cannot read {self.source.name}: {reason}.", source=self.source.name)

    def _stat(self) -> tuple[int, int, int]:
        stat = self.source.path.stat()  # type: ignore[union-attr]
        return stat.st_ino, stat.st_size, stat.st_mtime_ns

    def _header(self) -> Any:
        """The matrix as a memory map, of which nothing but the header is read."""
        try:
            return np.lib.format.open_memmap(str(self.source.path), mode="r")
        except FileNotFoundError:
            raise DataError(f"File not found: {self.source.name}.", source=self.source.name) from None
        except Exception as error:  # the header is a Python expression, which can be wrong in every way
            raise self._error(shorten(error)) from error

    def blocks(self, size: int) -> Iterator[NDArray]:
        if self._stat() != self._stamp:
            raise self._error("it changed since it was opened")
        read = self._read_rows if self._by_rows else self._read_columns
        assert self.source.path is not None
        with self.source.path.open("rb", buffering=0) as file:
            for start in range(0, len(self), size):
                yield read(file, start, min(size, len(self) - start)).astype(self.dtype, copy=False)
        if self._stat() != self._stamp:
            raise self._error("it changed while it was read")

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
            raise self._error(f"it ends after {counted(first + len(values), 'value')}")
        return values
