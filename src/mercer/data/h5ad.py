"""Single-cell data in .h5ad files: a dense or sparse matrix of cells and genes, and a copy of it with scores."""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from mercer.compat.optional import import_optional
from mercer.data.dataset import ArrayDataset, Dataset, Metadata, Source
from mercer.data.read_options import ReadOptions, check_known
from mercer.data.reading import changed, check_memory, check_regular, reading, stamp, unreadable
from mercer.data.validation import check_finite
from mercer.errors import DataError, MercerWarning, ParameterError, Remedy
from mercer.text import listed, printable, short_repr

_STRINGS = 1 << 16  # that are converted at a time
_CSC_COPIES = 3  # a matrix by columns, as it is converted
_PCA_KEYS = ("pca", "incremental_pca", "ppca")  # models whose scores are where scanpy has those of PCA


def open_h5ad(path: Path, options: ReadOptions, memory: int) -> Dataset:
    """Open X, a layer or a matrix in obsm. A matrix that is stored by columns is converted in memory."""
    check_regular(path)
    data = H5adDataset(path, options, memory)
    return data.by_rows() if data.stored_by_columns else data


class H5adDataset(Dataset):
    """A dense or CSR matrix of an .h5ad file, read in blocks."""

    _chosen: NDArray | None = None  # positions of the features; None: all columns
    _mask_name: str | None = None  # the column of var that chose them

    def __init__(self, path: Path, options: ReadOptions, memory: int) -> None:
        self.path, self.memory, self.source = path, memory, Source(printable(path), path)
        self._held = 0  # bytes of columns of obs and var
        self.place = f"layers/{options.layer}" if options.layer else f"obsm/{options.obsm}" if options.obsm else "X"
        with _h5py().File(path, "r") as file:
            matrix = self._find_matrix(file)
            encoding = str(matrix.attrs.get("encoding-type", "array")) if hasattr(matrix, "keys") else "array"
            if encoding not in ("array", "csr_matrix", "csc_matrix"):
                raise self._error(f"{self.place} is stored as {short_repr(encoding)}, not as a matrix")
            self.stored_by_columns, self._sparse = encoding == "csc_matrix", encoding != "array"
            parts = [self._inside(matrix, part) for part in ("data", "indices", "indptr")] if self._sparse else [matrix]
            if parts[0].dtype.kind not in "fiub" or any(part.ndim != 1 for part in parts if self._sparse):
                raise self._error(f"{self.place} has values of type {parts[0].dtype}, or parts that are not lists")
            full = tuple(map(int, np.atleast_1d(matrix.attrs["shape"]) if self._sparse else matrix.shape))
            n_samples = self._length(self._inside(file["obs"], self._index(file["obs"], "obs")))
            if len(full) != 2 or min(full) < 0 or full[0] != n_samples:
                raise self._error(f"{self.place} has the shape {full}, and obs has {n_samples:,} rows")
            self._n_stored = full[1]
            self._ends = self._read_ends(parts, full) if self._sparse else np.zeros(0, np.int64)
            if self.place.startswith("obsm/"):
                if options.columns is not None or options.drop or options.mask_var:
                    raise self._error(f"{self.place} has no column names to choose from")
            else:
                self._choose(file["var"], options)
            self.shape = full[0], full[1] if self._chosen is None else len(self._chosen)
            single = parts[0].dtype.kind == "f" and parts[0].dtype.itemsize <= 4
            self.dtype = np.dtype(np.float32 if single else np.float64)
            self.nbytes = self.shape[0] * self.shape[1] * self.dtype.itemsize
            if self._sparse:
                self.nnz = int(self._ends[-1])
                self.nbytes = self.nnz * (self.dtype.itemsize + 4) + 8 * (self.shape[0] + 1)
            chunks = sum(p.dtype.itemsize * int(np.prod(p.chunks)) for p in parts[:2] if p.chunks)
            self._check_memory(2 * chunks, f"a chunk of {self.place}")  # which is decompressed whole
            self.metadata = self._read_metadata(file["obs"], options)
            self.reading_bytes = 2 * chunks + self._ends.nbytes + self._held
        self._stamp = stamp(path)
        mask = self._mask_name if self._mask_name is not None and not options.drop else self._chosen
        params = {"layer": options.layer} if options.layer else {}
        self.h5ad = H5adUpdate(path, self.place.startswith("obsm/"), self._chosen, mask, params)

    def _error(self, reason: str) -> DataError:
        return unreadable(self.path, reason)

    # ------------------------------------------------------------------ elements of the file

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
        link = home.get(name, getlink=True) if name in home else None
        element = home[name] if isinstance(link, _h5py().HardLink) else None
        if element is None or (hasattr(element, "external") and (element.external or element.is_virtual)):
            raise self._error(f"{short_repr(name)} is missing or a link to another file")
        return element

    def _read_ends(self, parts: Sequence[Any], full: Sequence[int]) -> NDArray:
        """Where the rows of a CSR matrix end; scipy would not check this."""
        n_lines, n_entries = full[1 if self.stored_by_columns else 0], len(parts[0])
        fits = len(parts[2]) == n_lines + 1 and len(parts[1]) == n_entries and parts[2].dtype.kind in "iu"
        ends = self._read(parts[2]).astype(np.int64) if fits else np.full(1, -1)
        if ends[0] != 0 or ends[-1] != n_entries or (np.diff(ends) < 0).any():
            raise self._error(f"the parts of {self.place} do not fit together")
        return ends

    def _read(self, element: Any) -> Any:
        """A whole array of numbers, if it fits: a small file can claim a long one."""
        self._check_memory(element.size * element.dtype.itemsize, short_repr(str(element.name)))
        return element[...]

    def _read_strings(self, element: Any) -> Any:
        """A column of strings. As Python's strings they would take several times as much, so that few are at a time."""
        self._check_lengths(element)
        parts, size = [pa.array([], pa.string())], 0
        for start in range(0, len(element), _STRINGS):
            some = element[start : start + _STRINGS]
            texts = [v.decode("utf-8", "backslashreplace") if isinstance(v, bytes) else str(v) for v in some]
            parts.append(pa.array(texts, pa.string()))
            size += 2 * parts[-1].nbytes  # in parts, and as one
            self._check_memory(size, short_repr(str(element.name)))
        return pa.concat_arrays(parts)

    def _check_lengths(self, element: Any) -> None:
        """No string is longer than the file: HDF5 allocates what a damaged length claims."""
        offset = element.id.get_offset() if element.dtype.kind == "O" else None  # None: stored in chunks
        if offset is not None and element.size:
            stored = np.dtype([("length", "<u4"), ("address", "<u8"), ("index", "<u4")])
            lengths = np.fromfile(self.path, stored, element.size, offset=offset)["length"]
            if len(lengths) < element.size or int(lengths.max()) > self.path.stat().st_size:
                raise self._error(f"the strings of {short_repr(element.name)} are damaged")

    def _check_memory(self, needed: int, what: str) -> None:
        check_memory(f"{what} of {self.source.name}", self._held + needed, self.memory)

    # ------------------------------------------------------------------ features

    def _choose(self, var: Any, options: ReadOptions) -> None:
        """Names and positions of the features: `columns`, or those of `mask_var` without those of `drop`."""
        if options.columns is not None and options.mask_var:
            raise ParameterError("mask_var", options.mask_var, "None if columns are named")
        n = self._n_stored
        names = [str(name) for name in self._read_column(var, self._index(var, "var"), n).to_pylist()]
        unique = len(set(names)) == n
        if options.columns is not None or options.drop:
            if not unique:
                raise self._error("its column names are not unique, so columns and drop cannot be used")
            check_known([*(options.columns or ()), *options.drop], names, self.source.name)
        position, dropped = {name: j for j, name in enumerate(names)}, set(options.drop)
        if options.columns is not None:
            self._chosen = np.array([position[name] for name in options.columns if name not in dropped], dtype=np.intp)
        else:
            mask = self._read_mask(var, options.mask_var, n)
            if mask is not None or dropped:
                kept = np.ones(n, dtype=bool) if mask is None else mask
                kept[[position[name] for name in dropped]] = False
                self._chosen = np.flatnonzero(kept)
        if unique:
            self.feature_names = tuple(names if self._chosen is None else (names[j] for j in self._chosen))
        else:
            self._note("Column names are not unique. Columns go by their positions.")

    def _note(self, text: str, *remedies: Remedy) -> None:
        self.source = self.source._replace(notes=(*self.source.notes, MercerWarning(text, "note", remedies)))

    def _read_mask(self, var: Any, mask_var: str | bool | None, n_columns: int) -> NDArray | None:
        """As scanpy: "highly_variable" if present, unless mask_var is False."""
        column = mask_var if isinstance(mask_var, str) else "highly_variable"
        if mask_var is False or (mask_var is None and column not in var):
            return None
        check_known([column], list(var), f"var of {self.source.name}")
        values = self._read_column(var, column, n_columns)
        mask = np.array(values.fill_null(False)) if pa.types.is_boolean(values.type) else None
        if mask is None or not mask.any():
            reason = "not Boolean" if mask is None else "all False"
            text = f"Column {column!r} of var in {self.source.name} is {reason}, so it cannot select columns."
            raise DataError(text, source=self.source.name, remedies=[Remedy("mask_var", False)])
        self._mask_name = column
        self._note(f"{mask.sum():,} of {n_columns:,} columns, by {column!r}.", Remedy("mask_var", False))
        return mask

    # ------------------------------------------------------------------ columns of obs and var

    def _index(self, frame: Any, which: str) -> str:
        index = frame.attrs.get("_index")
        if index is None or str(index) not in frame:
            raise self._error(f"{which} has no index")
        return str(index)

    def _length(self, element: Any) -> int:
        """Rows of a column, which may be stored in two parts."""
        return len(self._inside(element, self._pair(element)[0]) if hasattr(element, "keys") else element)

    def _read_metadata(self, obs: Any, options: ReadOptions) -> Metadata:
        index, n_samples = self._index(obs, "obs"), self.shape[0]
        known = [name for name in obs if name != index]
        options = options.without_missing(known)
        given = [] if options.id is None else [options.id]
        check_known([*options.metadata, *given], known, f"obs of {self.source.name}")
        id_name = options.id or ("id" if index in ("_index", "index") else index)
        columns = {id_name: self._read_column(obs, options.id or index, n_samples)}
        if options.id is not None and len(columns[id_name].unique()) < n_samples:
            raise self._error(f"column {id_name!r} of obs has duplicates, so it cannot be the id")
        columns |= {name: self._read_column(obs, name, n_samples) for name in options.metadata}
        return Metadata(columns, id_name, options.label)

    def _read_column(self, frame: Any, name: str, n_rows: int) -> Any:
        """A column as an Arrow array: categories as their values, masked values as null."""
        element = self._inside(frame, name)
        length = self._length(element)
        column: Any = self._values(element) if length == n_rows else ()
        if len(column) != n_rows:
            raise self._error(f"column {name!r} has {length:,} values for {n_rows:,} rows")
        self._held += column.nbytes
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
            return self._read_strings(element) if element.dtype.kind in "OS" else pa.array(self._read(element))
        first, second = (self._inside(element, part) for part in self._pair(element))
        if hasattr(first, "keys") or hasattr(second, "keys"):
            raise self._error(f"{short_repr(element.name)} has parts that are not arrays")
        if "codes" not in element:
            if len(first) != len(second):
                raise self._error(f"{short_repr(element.name)} has {len(second):,} marks for {len(first):,} values")
            values, mask = self._values(first), self._read(second).astype(bool)
            return pa.array(values.to_pylist(), type=values.type, mask=mask)
        codes, categories = self._read(first).astype(np.int64), self._values(second)
        if len(codes) and not -1 <= codes.min() <= codes.max() < len(categories):
            raise self._error(f"{short_repr(element.name)} has codes without a category")
        return categories.take(pa.array(codes, mask=codes < 0))

    # ------------------------------------------------------------------ rows

    def blocks(self, size: int) -> Iterator[Any]:
        with reading(self.path), _h5py().File(self.path, "r") as file:
            if stamp(self.path) != self._stamp:
                raise changed(self.source.name)
            matrix = file[self.place]
            for start in range(0, len(self), size):
                stop = min(start + size, len(self))
                if self._sparse:
                    block = self._lines(matrix, start, stop, self._n_stored)
                else:
                    block = matrix[start:stop].astype(self.dtype, copy=False)
                block = block if self._chosen is None else block[:, self._chosen]
                check_finite(block, self, start)
                yield block

    def _lines(self, matrix: Any, start: int, stop: int, width: int) -> Any:
        """Rows of a CSR matrix, or columns of a CSC matrix, sorted and without duplicates."""
        first, last = self._ends[start], self._ends[stop]
        values, indices = matrix["data"][first:last].astype(self.dtype, copy=False), matrix["indices"][first:last]
        if len(indices) and not 0 <= indices.min() <= indices.max() < width:  # scipy would read outside the array
            raise self._error(f"{self.place} has entries outside of its {width:,} columns")
        block = sparse.csr_array((values, indices, self._ends[start : stop + 1] - first), shape=(stop - start, width))
        block.sum_duplicates()
        return block

    def by_rows(self) -> Dataset:
        """The same samples in memory, stored by rows."""
        self._check_memory(_CSC_COPIES * self.nbytes + self.reading_bytes, f"{self.place}, stored by columns,")
        with _h5py().File(self.path, "r") as file:
            columns = self._lines(file[self.place], 0, self._n_stored, self.shape[0])
        columns = columns if self._chosen is None else columns[self._chosen]
        data = ArrayDataset(
            columns.T.tocsr(),
            owns_samples=True,
            feature_names=self.feature_names,
            metadata=self.metadata,
            source=self.source,
        )
        data.h5ad = self.h5ad  # type: ignore[attr-defined]
        return data


def _h5py() -> Any:
    return import_optional("h5py", "io", "An .h5ad file")


# ---------------------------------------------------------------------- a copy of the file with scores


class H5adUpdate(NamedTuple):
    """What is written to a copy of the file that samples were read from, where scanpy has it."""

    path: Path
    in_obsm: bool  # the features were not genes
    used: NDArray | None  # positions of the genes that were features; None: all
    mask: Any  # the column of var that chose them, or their positions; None: all
    params: Mapping[str, Any]
    key: str = ""
    loadings: NDArray | None = None
    variances: Mapping[str, NDArray] = {}

    def with_model(self, model: Any) -> "H5adUpdate":
        """The update with the loadings and variances of a fitted model; those of linear models are scanpy's "pca"."""
        key = "pca" if model.model_key in _PCA_KEYS else model.model_key
        if not (hasattr(model, "components_") and hasattr(model, "explained_variance_ratio_")):
            return self._replace(key=key)
        variances = {"variance": model.explained_variance_, "variance_ratio": model.explained_variance_ratio_}
        return self._replace(key=key, loadings=model.components_.T, variances=variances)


@contextmanager
def write_scores(update: H5adUpdate, target: Path, shape: tuple[int, int], dtype: Any) -> Iterator[Callable]:
    """Copy the file to `target`, add loadings and variances, and yield a function that takes the next scores."""
    shutil.copyfile(update.path, target)
    with _h5py().File(target, "r+") as file:
        n_genes = len(file["var"][file["var"].attrs["_index"]])
        if update.variances:
            params = {"zero_center": True, "use_highly_variable": isinstance(update.mask, str), **update.params}
            if isinstance(update.mask, str):  # as scanpy: the name of a column, or a mask
                params["mask_var"] = update.mask
            elif update.mask is not None:
                params["mask_var"] = np.isin(np.arange(n_genes), update.mask)
            _remove(file, "varm/PCs")  # of an earlier fit
            _write(file, f"uns/{update.key}", {"params": params, **update.variances})
        if update.loadings is not None and not update.in_obsm:
            loadings = update.loadings
            if update.used is not None:
                loadings = np.zeros((n_genes, loadings.shape[1]))
                loadings[update.used] = update.loadings
            _write(file, "varm/PCs", loadings)
        scores, start = _write(file, f"obsm/X_{update.key}", None, shape=shape, dtype=dtype), 0

        def write(rows: NDArray) -> None:
            nonlocal start
            scores[start : start + len(rows)] = rows
            start += len(rows)

        yield write


def _remove(file: Any, path: str) -> tuple[Any, str]:
    """Remove an element; return its group, made if it is missing, and its name. Nothing is written through links."""
    *folders, name = path.split("/")
    home = file
    for part in folders:
        link = home.get(part, getlink=True)
        if link is not None and not (isinstance(link, _h5py().HardLink) and hasattr(home[part], "keys")):
            raise DataError(f"{part!r} of the .h5ad file is a link, or not a group. Nothing can be written to it.")
        home = home.require_group(part)
        if "encoding-type" not in home.attrs:
            home.attrs["encoding-type"], home.attrs["encoding-version"] = "dict", "0.1.0"
    if home.get(name, getlink=True) is not None:
        del home[name]
    return home, name


def _write(file: Any, path: str, value: Any, **content: Any) -> Any:
    """Write an element, in place of an earlier one, with the attributes by which anndata recognizes it."""
    home, name = _remove(file, path)
    if isinstance(value, Mapping):
        for key, part in value.items():
            _write(file, f"{path}/{key}", part)
        return None
    made = home.create_dataset(name, **(content or {"data": value}))
    kind = "string" if isinstance(value, str) else "numeric-scalar" if np.ndim(made) == 0 else "array"
    made.attrs["encoding-type"], made.attrs["encoding-version"] = kind, "0.2.0"
    return made
