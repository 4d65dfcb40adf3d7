"""Single-cell data in .h5ad files: a matrix of cells by genes, dense or sparse, with names and columns beside it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from mercer_old.arrays import Array, Held, hdf5
from mercer_old.errors import BadData, NoRoom, in_short, listed
from mercer_old.limits import bytes_in_words
from mercer_old.outlets import Annotations
from mercer_old.sources.beside import refuse_doubles
from mercer_old.sources.h5_frames import cells_of, count_in, names_in, refuse_elsewhere, whole
from mercer_old.sources.held import as_read
from mercer_old.sources.items import Rows
from mercer_old.sources.roles import Asked, refuse_unknown
from mercer_old.sources.stored import FileRows, float_type, readable

__all__ = ["open_h5ad"]


def open_h5ad(path: Path, asked: Asked, layer: str | None, obsm: str | None) -> Rows:
    """The rows of X, of a layer or of a matrix in obsm; those stored by columns are turned round in memory."""
    if layer is not None and obsm is not None:
        raise BadData("layer and obsm name two matrices, and one is read: leave one of them out.")
    place = "X" if layer is None and obsm is None else f"layers/{layer}" if obsm is None else f"obsm/{obsm}"
    rows = H5adRows(path, asked, place)
    return rows.turned(asked.most) if rows.by_columns else rows


class H5adRows(FileRows):
    """A dense or sparse matrix of HDF5, read block by block; sparse blocks stay sparse."""

    def __init__(self, path: Path, asked: Asked, place: str) -> None:
        super().__init__(path)
        self.place = place
        with readable(path), self._opened() as store:
            matrix = _element(store, place, self.label)
            self.encoding = _encoding_of(matrix, self.label, place)
            self.sparse, self.by_columns = self.encoding != "array", self.encoding == "csc_matrix"
            full = tuple(map(int, np.atleast_1d(matrix.attrs["shape"]) if self.sparse else matrix.shape))
            self._refuse_shape(store, matrix, full, asked.most)
            values = matrix["data"] if self.sparse else matrix
            self.dtype = float_type([values.dtype])
            self._choose_columns(store, asked, full)
            self.shape = full[0], full[1] if self.chosen is None else len(self.chosen)
            self._weigh(matrix, full, asked.most)
            self._name_rows(store["obs"], asked)
        params = {"layer": place.removeprefix("layers/")} if place.startswith("layers/") else {}
        used = None if place.startswith("obsm/") else np.arange(full[1]) if self.chosen is None else self.chosen
        self.annotations = Annotations(path, used=used, params=params)

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        with hdf5().File(self.path, "r") as store:
            yield store

    def _refuse_shape(self, store: Any, matrix: Any, full: tuple[int, ...], most: float) -> None:
        """What is stored has to be as long as it says."""
        if len(full) != 2:
            raise BadData(f"{self.label}: {self.place} has the shape {full}; rows and columns are needed.")
        n, lines = count_in(store["obs"], self.label, "obs"), full[1] if self.by_columns else full[0]
        if n != full[0]:
            raise BadData(f"{self.label} is damaged: {self.place} has {full[0]:,} rows, and obs {n:,}.")
        if not self.sparse:
            return
        nnz, fits = len(matrix["data"]), len(matrix["indptr"]) == lines + 1
        ends = whole(matrix["indptr"], self.label, most) if fits else np.zeros(1)
        right = fits and ends[0] == 0 and ends[-1] == nnz == len(matrix["indices"])
        if not right or (np.diff(ends.astype(np.int64)) < 0).any():
            raise BadData(f"{self.label} is damaged: the parts of {self.place} do not fit together.")
        self.ends = ends.astype(np.int64)

    def _choose_columns(self, store: Any, asked: Asked, full: tuple[int, ...]) -> None:
        """By names of genes; those that are not all different cannot choose."""
        self.chosen: Array | None = None
        names = None if self.place.startswith("obsm/") else names_in(store["var"], self.label, "var", asked.most)
        if names is not None and len(names) != full[1]:
            raise BadData(f"{self.label} is damaged: {self.place} has {full[1]:,} columns, and var {len(names):,}.")
        if names is not None and len(set(names)) < len(names):
            self.notes += ("names of columns are not all different: columns go by their numbers",)
            names = None
        if asked.columns is not None or asked.drop:
            if names is None:
                raise BadData(f"{self.label}: {self.place} has no names of columns to choose by.")
            refuse_unknown([*(asked.columns or ()), *asked.drop], names, self.label)
            number = {name: j for j, name in enumerate(names)}
            kept = [name for name in (asked.columns or names) if name not in set(asked.drop)]
            self.chosen, names = np.array([number[name] for name in kept], dtype=np.intp), kept
        self.names = None if names is None else tuple(names)

    def _weigh(self, matrix: Any, full: tuple[int, ...], most: float) -> None:
        """What reading takes: a chunk is unpacked whole."""
        parts = [matrix[part] for part in ("data", "indices")] if self.sparse else [matrix]
        chunks = sum(part.dtype.itemsize * int(np.prod(part.chunks)) for part in parts if part.chunks)
        if chunks > most:
            raise NoRoom(f"{self.label}: a chunk of {self.place} takes {bytes_in_words(chunks)}, over the limit.")
        self.overhead = 2 * chunks + (self.ends.nbytes if self.sparse else 0)
        if self.sparse:
            self.density = len(matrix["data"]) / max(1, full[0] * full[1])

    def _name_rows(self, obs: Any, asked: Asked) -> None:
        known = [name for name in obs if name != obs.attrs.get("_index")]
        refuse_unknown([*asked.beside, *([] if asked.id is None else [asked.id])], known, f"obs of {self.label}")
        index = str(obs.attrs["_index"])
        self.heading = asked.id or ("id" if index in ("_index", "index") else index)
        self.row_names = cells_of(obs, asked.id or index, len(self), self.label, asked.most)
        if asked.id is not None:
            refuse_doubles(self.row_names, asked.id, self.label)
        self.beside = {name: cells_of(obs, name, len(self), self.label, asked.most) for name in asked.beside}

    @property
    def nbytes(self) -> int:
        """Of all numbers in memory: of sparse ones those that are not zero, with their places."""
        if not self.sparse:
            return super().nbytes
        return int(self.ends[-1]) * (int(self.dtype.itemsize) + 4) + 8 * (len(self) + 1)

    def blocks(self, size: int) -> Iterator[Held]:
        if not self.sparse:
            yield from super().blocks(size)
            return
        self._refuse_change()
        with readable(self.path), self._opened() as store:
            for start in range(0, len(self), size):
                yield self._some(store[self.place], start, min(start + size, len(self)))

    def _pieces(self, size: int) -> Iterator[Array]:
        with self._opened() as store:
            for start in range(0, len(self), size):
                block = store[self.place][start : start + size].astype(self.dtype, copy=False)
                yield block if self.chosen is None else block[:, self.chosen]

    def _some(self, matrix: Any, start: int, stop: int) -> Any:
        """Rows of a CSR matrix, sorted and without doubles; of a matrix by columns, its columns."""
        first, last = self.ends[start], self.ends[stop]
        width = len(self) if self.by_columns else int(matrix.attrs["shape"][1])
        data, indices = matrix["data"][first:last].astype(self.dtype, copy=False), matrix["indices"][first:last]
        if len(indices) and not (indices.min() >= 0 and indices.max() < width):
            raise BadData(f"{self.label} is damaged: {self.place} has entries outside of its {width:,} columns.")
        if not np.isfinite(data).all():
            self._refuse_entry(data, indices, start, first)
        block = sparse.csr_array((data, indices, self.ends[start : stop + 1] - first), shape=(stop - start, width))
        block.sum_duplicates()
        return block if self.chosen is None or self.by_columns else block[:, self.chosen]

    def _refuse_entry(self, data: Array, indices: Array, start: int, first: int) -> None:
        """One sentence for a missing or infinite entry, with its place."""
        place = int(np.flatnonzero(~np.isfinite(data))[0])
        line = int(np.searchsorted(self.ends, first + place, side="right")) - 1
        row, column = (int(indices[place]), line) if self.by_columns else (line, int(indices[place]))
        what = "a missing value (NaN)" if np.isnan(data[place]) else f"an infinite value ({data[place]})"
        raise BadData(f"{self.label} contains {what}: row {row}, column {column} (counted from 0) of {self.place}.")

    def __getitem__(self, indices: Array) -> Held:
        if not self.sparse:
            return super().__getitem__(indices)
        order = np.argsort(indices, kind="stable")
        sorted_ones, found, start = np.asarray(indices)[order], [], 0
        for block in self.blocks(1 << 13):
            here = sorted_ones[(sorted_ones >= start) & (sorted_ones < start + block.shape[0])]
            found.append(block[here - start])
            start += block.shape[0]
        return sparse.vstack(found, format="csr")[np.argsort(order, kind="stable")]

    def load(self, kept: Array | None = None) -> Held:
        if not self.sparse:
            return super().load(kept)
        whole = sparse.vstack(list(self.blocks(1 << 13)), format="csr")
        return whole if kept is None else whole[kept]

    def turned(self, most: float) -> Rows:
        """A matrix that is stored by columns, by rows, in memory."""
        if 3 * self.nbytes + self.overhead > most:
            need, limit = bytes_in_words(3 * self.nbytes + self.overhead), bytes_in_words(most)
            raise NoRoom(
                f"{self.label}: {self.place} is stored by columns, and to turn it round takes {need}, over the limit "
                f"of {limit}. Give a larger memory_limit, or store it by rows (csr_matrix)."
            )
        with readable(self.path), self._opened() as store:
            columns = self._some(store[self.place], 0, len(self.ends) - 1)
        matrix = (columns if self.chosen is None else columns[self.chosen]).T.tocsr()
        rows = as_read(matrix, self.path, self.label, names=self.names, notes=self.notes)
        return rows.named_as(self)


def _element(store: Any, place: str, label: str) -> Any:
    """X, a layer or a matrix of obsm; others are told."""
    folder, _, name = place.rpartition("/")
    for part in ("obs", "var"):
        if part not in store or not hasattr(store[part], "keys"):
            raise BadData(f"{label} has no {part} as anndata has written it since 0.7: read and write it anew.")
    home = store.get(folder) if folder else store
    if home is None or name not in home:
        known = [] if home is None else [each for each in home if each not in ("obs", "var", "uns")]
        what = {"": "matrix", "layers": "layer", "obsm": "matrix in obsm"}[folder]
        raise BadData(f"{label} has no {what} {name!r}; it has {listed(map(repr, known), 20) or 'none'}.")
    refuse_elsewhere(home, name, label)
    return home[name]


def _encoding_of(matrix: Any, label: str, place: str) -> str:
    """How it is stored: "array", "csr_matrix" or "csc_matrix"."""
    said = str(matrix.attrs.get("encoding-type", "array"))
    kind = said if hasattr(matrix, "keys") else "array"
    if kind not in ("array", "csr_matrix", "csc_matrix"):
        raise BadData(f"{label}: {place} is stored as {in_short(kind)}; a dense or sparse matrix is needed.")
    if kind != "array":
        for part in ("data", "indices", "indptr"):
            if part not in matrix:
                raise BadData(f"{label} is damaged: {place} has no {part}.")
            refuse_elsewhere(matrix, part, label)
            if getattr(matrix[part], "ndim", 0) != 1:
                raise BadData(f"{label} is damaged: {part} of {place} is no list.")
    values = matrix if kind == "array" else matrix["data"]
    if values.dtype.kind not in "fiub":
        raise BadData(f"{label}: {place} holds {values.dtype} values; numbers are needed.")
    return kind
