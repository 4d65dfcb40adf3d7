"""A matrix saved by numpy."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from mercer_old.arrays import Array
from mercer_old.errors import BadData, counted
from mercer_old.sources.stored import FileRows, float_type, kind_by_its_start, readable

_DAMAGED = "its header is damaged, or it is truncated"


class NpyRows(FileRows):
    """A matrix saved by numpy. Read by position, not mapped: a mapped file would count as our memory."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        matrix = self._mapped()
        if matrix.ndim != 2:
            raise BadData(f"{self.label} holds an array of shape {matrix.shape}; rows and columns are needed.")
        if matrix.dtype.kind not in "fiub":
            raise BadData(f"{self.label} holds {matrix.dtype} values; numbers are needed.")
        self.stored, self.offset, self.by_rows = matrix.dtype, matrix.offset, bool(matrix.flags.c_contiguous)
        self.shape, self.dtype = matrix.shape, float_type([matrix.dtype])
        more = path.stat().st_size - self.offset - matrix.nbytes
        if more > 0:
            raise BadData(
                f"{self.label} goes on for {more:,} bytes after the {self.shape[0]:,}×{self.shape[1]:,} matrix that it "
                "begins with: is it damaged, or are there several arrays in it? Save them apart."
            )

    def _mapped(self) -> Any:
        """The matrix where it lies, of which nothing is read: its header says what it is."""
        with readable(self.path):
            with self.path.open("rb") as file:
                if file.read(6) != b"\x93NUMPY":
                    kind = kind_by_its_start(self.path)
                    self._refuse(f"it is {kind}" if kind else "not saved by numpy, or truncated")
            try:
                with np.errstate(over="ignore"):
                    return np.lib.format.open_memmap(self.path, mode="r")
            except OSError:
                raise
            except Exception as error:  # its header is a Python expression, which can be wrong in every way
                objects = "Python objects" in str(error)
                self._refuse("it holds Python objects (a pickle), which are never read" if objects else _DAMAGED)

    def _refuse(self, why: str) -> NoReturn:
        raise BadData(f"{self.label} cannot be read as a matrix of numbers: {why}.") from None

    def _pieces(self, size: int) -> Iterator[Array]:
        with self.path.open("rb") as file:
            for start in range(0, self.shape[0], size):
                rows = min(size, self.shape[0] - start)
                read = self._rows if self.by_rows else self._columns
                yield read(file, start, rows).astype(self.dtype, copy=False)

    def _rows(self, file: Any, start: int, rows: int) -> Array:
        return self._read(file, start * self.shape[1], rows * self.shape[1]).reshape(rows, -1)

    def _columns(self, file: Any, start: int, rows: int) -> Array:
        """Fortran order: a row is spread over the whole file, a piece of a column is not."""
        out = np.empty((rows, self.shape[1]), dtype=self.stored)
        for j in range(self.shape[1]):
            out[:, j] = self._read(file, j * self.shape[0] + start, rows)
        return out

    def _read(self, file: Any, first: int, count: int) -> Array:
        file.seek(self.offset + first * self.stored.itemsize)
        values = np.fromfile(file, dtype=self.stored, count=count)
        if len(values) < count:
            raise BadData(f"{self.label} ends after {counted(first + len(values), 'value')}: it is truncated.")
        return values
