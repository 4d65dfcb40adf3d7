"""Single-cell data in .h5ad files: a dense or sparse matrix of cells and genes, with their metadata."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from mercer.budget import format_bytes
from mercer.compat.optional import import_optional
from mercer.data.dataset import ArrayDataset, Dataset, Kind, Metadata, Source
from mercer.data.read_options import ReadOptions, check_known
from mercer.data.reading import check_regular, reading, stamp
from mercer.data.validation import check_finite
from mercer.errors import DataError, MemoryLimitError, MercerWarning, Remedy
from mercer.text import listed, printable, short_repr

_STRING_BYTES = 60  # of a Python string
_CSC_COPIES = 3  # a matrix by columns, as it is turned


def open_h5ad(path: Path, options: ReadOptions, kind: Kind, memory: int) -> Dataset:
    """Open X, a layer or a matrix in obsm. A matrix that is stored by columns is turned in memory."""
    if kind != "vectors":
        raise DataError(f"{printable(path)} holds vectors, not {kind}.", source=path)
    check_regular(path)
    data = H5adDataset(path, options, memory)
    return data.turned(memory) if data.by_columns else data


class H5adDataset(Dataset):
    """A dense or CSR matrix of an .h5ad file, read in blocks."""

    def __init__(self, path: Path, options: ReadOptions, memory: int) -> None:
        self.name, self.path, self.memory = printable(path), path, memory
        self.place = f"layers/{options.layer}" if options.layer else f"obsm/{options.obsm}" if options.obsm else "X"
        with self._open() as file:
            matrix = self._find_matrix(file)
            encoding = str(matrix.attrs.get("encoding-type", "array")) if hasattr(matrix, "keys") else "array"
            if encoding not in ("array", "csr_matrix", "csc_matrix"):
                raise self._error(f"{self.place} is stored as {short_repr(encoding)}, not as a matrix")
            self.by_columns, self._sparse = encoding == "csc_matrix", encoding != "array"
            parts = self._parts(matrix)
            if parts[0].dtype.kind not in "fiub":
                raise self._error(f"{self.place} holds values of type {parts[0].dtype}")
            full = tuple(map(int, np.atleast_1d(matrix.attrs["shape"]) if self._sparse else matrix.shape))
            n_samples = self._length(file["obs"], "obs")
            if len(full) != 2 or min(full) < 0 or full[0] != n_samples:
                raise self._error(f"{self.place} has the shape {full}, and obs has {n_samples:,} rows")
            self._n_stored, self._ends = (
                full[1],
                self._read_ends(matrix, full) if self._sparse else np.zeros(0, np.int64),
            )
            names, self._chosen, notes = self._choose(file, options, full[1])
            self.feature_names = None if names is None else tuple(names)
            self.shape = full[0], full[1] if self._chosen is None else len(self._chosen)
            single = parts[0].dtype.kind == "f" and parts[0].dtype.itemsize <= 4
            self.dtype = np.dtype(np.float32 if single else np.float64)
            self._measure(parts)
            self.metadata = self._read_metadata(file["obs"], options)
        self.source, self._stamp = Source(self.name, path, notes), stamp(path)

    def _error(self, reason: str) -> DataError:
        return DataError(f"Cannot read {self.name}: {reason}.", source=self.name)

    def _open(self) -> Any:
        return import_optional("h5py", "io", "An .h5ad file").File(self.path, "r")

    def _find_matrix(self, file: Any) -> Any:
        for part in ("obs", "var"):
            if part not in file or not hasattr(file[part], "keys"):
                raise self._error(f"there is no {part} as anndata writes it since version 0.7")
        folder, _, name = self.place.rpartition("/")
        home = file.get(folder) if folder else file
        if home is None or name not in home:
            known = [] if home is None else [each for each in home if each not in ("obs", "var", "uns")]
            raise self._error(f"there is no {self.place}; {folder or 'the file'} has {listed(known, 20) or 'nothing'}")
        return self._inside(home, name)

    def _inside(self, home: Any, name: str) -> Any:
        """An element of this file; links to other files and virtual datasets are not followed."""
        h5py = import_optional("h5py", "io")
        link = home.get(name, getlink=True) if name in home else None
        element = home[name] if isinstance(link, h5py.HardLink) else None
        if element is None or (hasattr(element, "external") and (element.external or element.is_virtual)):
            raise self._error(f"{short_repr(name)} is missing or a link to another file")
        return element

    def _parts(self, matrix: Any) -> list[Any]:
        if not self._sparse:
            return [matrix]
        parts = [self._inside(matrix, part) for part in ("data", "indices", "indptr")]
        if any(getattr(part, "ndim", 0) != 1 for part in parts):
            raise self._error(f"the parts of {self.place} are not one-dimensional")
        return parts[:2]

    def _read_ends(self, matrix: Any, full: Sequence[int]) -> NDArray:
        n_lines, n_entries = full[1 if self.by_columns else 0], len(matrix["data"])
        fits = len(matrix["indptr"]) == n_lines + 1 and len(matrix["indices"]) == n_entries
        ends = self._read(matrix["indptr"]).astype(np.int64) if fits else np.full(1, -1)
        if ends[0] != 0 or ends[-1] != n_entries or (np.diff(ends) < 0).any():
            raise self._error(f"the parts of {self.place} do not fit together")
        return ends

    def _read(self, element: Any) -> Any:
        """A whole array, if it fits: a small file can claim a long one."""
        needed = element.size * max(element.dtype.itemsize, _STRING_BYTES if element.dtype.kind in "OS" else 0)
        self._check_memory(needed, str(element.name))
        return element[...]

    def _check_memory(self, needed: int, what: str) -> None:
        if needed > self.memory:
            raise MemoryLimitError(
                f"{short_repr(what)} of {self.name} takes {format_bytes(needed)}, and the limit is "
                f"{format_bytes(self.memory)}.",
                needed=needed,
                limit=self.memory,
            )

    def _choose(self, file: Any, options: ReadOptions, n_columns: int) -> tuple[Any, NDArray | None, tuple]:
        """Names and positions of the features, by `columns`, `drop` and `mask_var`."""
        notes: tuple[MercerWarning, ...] = ()
        if self.place.startswith("obsm/"):
            if options.columns is not None or options.drop:
                raise self._error(f"{self.place} has no column names to choose from")
            return None, None, notes
        var = file["var"]
        names = [str(name) for name in self._read_column(var, self._index(var, "var"), n_columns)]
        unique = len(set(names)) == n_columns
        if options.columns is None and not options.drop:
            mask = self._read_mask(var, options.mask_var, n_columns)
            if mask is None:
                return names if unique else None, None, notes  # duplicates: columns by position
            column = options.mask_var or "highly_variable"
            notes = (
                MercerWarning(
                    f"{mask.sum():,} of {n_columns:,} columns, by {column!r}.", "note", [Remedy("mask_var", False)]
                ),
            )
            chosen = np.flatnonzero(mask)
            return [names[j] for j in chosen] if unique else None, chosen, notes
        if not unique:
            raise self._error("column names are not unique, so columns and drop cannot be used")
        check_known([*(options.columns or ()), *options.drop], names, self.name)
        position, dropped = {name: j for j, name in enumerate(names)}, set(options.drop)
        kept = [name for name in (options.columns or names) if name not in dropped]
        return kept, np.array([position[name] for name in kept], dtype=np.intp), notes

    def _read_mask(self, var: Any, mask_var: str | bool | None, n_columns: int) -> NDArray | None:
        """As scanpy: "highly_variable" if present, unless mask_var is False."""
        if mask_var is False or (mask_var in (None, True) and "highly_variable" not in var):
            if mask_var is True:
                raise self._error("var has no column 'highly_variable'")
            return None
        column = mask_var if isinstance(mask_var, str) else "highly_variable"
        check_known([column], list(var), f"var of {self.name}")
        values = self._read_column(var, column, n_columns)
        if not pa.types.is_boolean(values.type):
            raise self._error(f"column {column!r} of var is not Boolean")
        mask = np.asarray(values.fill_null(False))
        if not mask.any():
            raise self._error(f"column {column!r} of var selects no columns")
        return mask

    def _measure(self, parts: list[Any]) -> None:
        """Memory for reading: a chunk is decompressed whole."""
        chunks = sum(part.dtype.itemsize * int(np.prod(part.chunks)) for part in parts if part.chunks)
        self._check_memory(2 * chunks, f"A chunk of {self.place}")
        self.reading_bytes = 2 * chunks + self._ends.nbytes
        if self._sparse:
            self.nnz = int(self._ends[-1])
            self.nbytes = self.nnz * (self.dtype.itemsize + 4) + 8 * (self.shape[0] + 1)
        else:
            self.nbytes = self.shape[0] * self.shape[1] * self.dtype.itemsize

    def _index(self, frame: Any, which: str) -> str:
        index = frame.attrs.get("_index")
        if index is None or str(index) not in frame:
            raise self._error(f"{which} has no index")
        return str(index)

    def _length(self, frame: Any, which: str) -> int:
        element = self._inside(frame, self._index(frame, which))
        return len(element[self._pair(element)[0]] if hasattr(element, "keys") else element)

    def _read_metadata(self, obs: Any, options: ReadOptions) -> Metadata:
        index, n_samples = self._index(obs, "obs"), self.shape[0]
        known = [name for name in obs if name != index]
        label, keep = options.label, options.keep
        if options.optional_metadata:
            label, keep = (label if label in known else None), tuple(name for name in keep if name in known)
        kept = dict.fromkeys([*([] if label is None else [label]), *keep])
        check_known([*kept, *([] if options.id is None else [options.id])], known, f"obs of {self.name}")
        id_name = options.id or ("id" if index in ("_index", "index") else index)
        columns = {id_name: self._read_column(obs, options.id or index, n_samples)}
        columns |= {name: self._read_column(obs, name, n_samples) for name in kept}
        return Metadata(columns, id_name, label)

    def _read_column(self, frame: Any, name: str, n_rows: int) -> Any:
        """A column as an Arrow array: categories as their values, masked values as null."""
        element = self._inside(frame, name)
        column = self._values(element)
        if len(column) != n_rows:
            raise self._error(f"column {name!r} has {len(column):,} values for {n_rows:,} rows")
        return column

    def _pair(self, element: Any) -> tuple[str, str]:
        pair = ("codes", "categories") if "codes" in element else ("values", "mask")
        if any(part not in element for part in pair):
            kind = short_repr(element.attrs.get("encoding-type", ""))
            raise self._error(f"{short_repr(element.name)} is stored as {kind}, which is not supported")
        return pair

    def _values(self, element: Any) -> Any:
        if not hasattr(element, "keys"):
            if getattr(element, "ndim", 0) != 1:
                raise self._error(f"{short_repr(element.name)} is not a column")
            values = self._read(element)
            if element.dtype.kind not in "OS":
                return pa.array(values)
            return pa.array([v.decode("utf-8", "backslashreplace") if isinstance(v, bytes) else str(v) for v in values])
        first, second = self._pair(element)
        other = self._inside(element, second)
        if first == "values":
            values, mask = self._values(self._inside(element, first)), self._read(other).astype(bool)
            return pa.array(values.to_pylist(), type=values.type, mask=mask)
        codes, categories = self._read(self._inside(element, first)).astype(np.int64), self._values(other)
        if len(codes) and not -1 <= codes.min() <= codes.max() < len(categories):
            raise self._error(f"{short_repr(element.name)} has codes without a category")
        return categories.take(pa.array(codes, mask=codes < 0))

    def blocks(self, size: int) -> Iterator[Any]:
        with reading(self.path), self._open() as file:
            if stamp(self.path) != self._stamp:
                raise self._error("it has changed since it was opened")
            matrix = file[self.place]
            for start in range(0, len(self), size):
                stop = min(start + size, len(self))
                block = (
                    self._lines(matrix, start, stop, self._n_stored)
                    if self._sparse
                    else self._rows(matrix, start, stop)
                )
                block = block if self._chosen is None else block[:, self._chosen]
                check_finite(block, self, start)
                yield block

    def _rows(self, matrix: Any, start: int, stop: int) -> NDArray:
        return matrix[start:stop].astype(self.dtype, copy=False)

    def _lines(self, matrix: Any, start: int, stop: int, width: int) -> Any:
        """Lines of a CSR matrix, or columns of a CSC matrix, sorted and without duplicates."""
        first, last = self._ends[start], self._ends[stop]
        values, indices = matrix["data"][first:last].astype(self.dtype, copy=False), matrix["indices"][first:last]
        if len(indices) and not 0 <= indices.min() <= indices.max() < width:  # scipy would read outside the array
            raise self._error(f"{self.place} has entries outside of its {width:,} columns")
        block = sparse.csr_array((values, indices, self._ends[start : stop + 1] - first), shape=(stop - start, width))
        block.sum_duplicates()
        return block

    def turned(self, memory: int) -> Dataset:
        """The same samples in memory, stored by rows."""
        self._check_memory(_CSC_COPIES * self.nbytes + self.reading_bytes, f"{self.place}, stored by columns,")
        with reading(self.path), self._open() as file:
            columns = self._lines(file[self.place], 0, self._n_stored, self.shape[0])
        columns = columns if self._chosen is None else columns[self._chosen]
        data = ArrayDataset(columns.T.tocsr(), owns_samples=True)
        data.feature_names, data.metadata, data.source = self.feature_names, self.metadata, self.source
        check_finite(data.samples, data, 0)
        return data
