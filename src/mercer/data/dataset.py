"""Dataset: the handle that a fit passes around. One loop serves memory, files, streams and clusters."""

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mercer.errors import MercerWarning
from mercer.numerics.blocking import BLOCK_ROWS

Kind = Literal["vectors", "strings", "series", "table", "objects", "precomputed"]
Samples = Any  # NDArray, csr_array or Table: the first axis counts samples


@dataclass(frozen=True)
class Source:
    """Where samples come from: a name for messages, the path, and notes on what was detected."""

    name: str = "X"
    path: Path | None = None
    notes: tuple[MercerWarning, ...] = ()


@dataclass(frozen=True)
class Metadata:
    """Columns that describe samples and are not features. They are written in front of the scores."""

    columns: Mapping[str, Any] = field(default_factory=dict)
    id_name: str | None = None
    label_name: str | None = None

    @property
    def ids(self) -> list[str] | None:
        """Names of the samples: strings of a text file byte for byte, other values as text."""
        return (
            None
            if self.id_name is None
            else ["" if v is None else str(v) for v in _as_list(self.columns[self.id_name])]
        )

    def values(self, name: str) -> NDArray:
        """A column as integers, floats or objects with None, for colors, labels and weights."""
        values = _as_list(self.columns[name])
        for number in (int, float):
            try:
                return np.array([number(value) for value in values])
            except (TypeError, ValueError, OverflowError):
                continue
        return np.array(values, dtype=object)

    def take(self, indices: NDArray) -> "Metadata":
        """The metadata of some samples."""
        taken = {
            name: column.take(indices) if hasattr(column, "to_pylist") else np.asarray(column)[indices]
            for name, column in self.columns.items()
        }
        return Metadata(taken, self.id_name, self.label_name)


def _as_list(column: Any) -> list[Any]:
    return column.to_pylist() if hasattr(column, "to_pylist") else list(column)


_NO_METADATA, _X = Metadata(), Source()


class Dataset(ABC):
    """Samples that can be counted, read in blocks and taken by index, any number of times."""

    kind: Kind = "vectors"
    shape: tuple[int, int]
    dtype: np.dtype
    nnz: int | None = None
    nbytes: int
    in_memory = False
    owns_samples = True
    reading_bytes = 0
    allow_nan = False
    feature_names: tuple[str, ...] | None = None
    metadata = _NO_METADATA
    source = _X
    n_partitions = 1
    n_workers = 0

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def is_sparse(self) -> bool:
        return self.nnz is not None

    @abstractmethod
    def blocks(self, size: int) -> Iterator[Samples]:
        """All samples in order, in blocks of exactly `size` except for the last one."""

    def take(self, indices: NDArray) -> Samples:
        """The samples with these indices, in this order, in one pass that ends after the last of them."""
        indices = np.asarray(indices)
        order = np.argsort(indices, kind="stable")
        found, start = [], 0
        for block in self.blocks(BLOCK_ROWS):
            inside = indices[order][(indices[order] >= start) & (indices[order] < start + block.shape[0])]
            found.append(block[inside - start])
            start += block.shape[0]
            if len(indices) == 0 or start > indices.max():
                break
        samples = concatenate_samples(found)
        return samples[np.argsort(order, kind="stable")]

    def load(self, mask: NDArray | None = None) -> Samples:
        """All samples, or the masked ones, as one array."""
        if mask is not None:
            return self.take(np.flatnonzero(mask))
        return concatenate_samples(list(self.blocks(BLOCK_ROWS)))

    def reduce(
        self,
        func: Callable,
        *args: Any,
        weights: NDArray | None = None,
        combine: Callable[[Any, Any], Any] = operator.add,
        progress: Any = None,
    ) -> Any:
        """func(data, weights, *args, progress=) of each partition, combined. Here there is one partition."""
        return func(self, weights, *args, progress=progress)

    def map_blocks(self, func: Callable, *args: Any, size: int = BLOCK_ROWS, progress: Any = None) -> Iterator[Any]:
        """func(block, *args) for every block, in order."""
        n_done = 0
        for block in prefetch(self, size):
            yield func(block, *args)
            n_done += block.shape[0]
            if progress:
                progress(n_done / len(self))

    def view(self, transform: Callable[[Samples, int], Samples], dtype: Any = None) -> "Dataset":
        """The same samples with transform(block, first_row) applied to every block that is read."""
        return TransformedDataset(self, transform, dtype or self.dtype)

    def persist(self) -> AbstractContextManager["Dataset"]:
        """Before many passes: keep partitions in the memory of the workers. Here: nothing to do."""
        return nullcontext(self)


class ArrayDataset(Dataset):
    """Samples in memory: an array, a CSR array, or anything that can be sliced."""

    in_memory = True

    def __init__(self, samples: Samples, kind: Kind = "vectors", *, owns_samples: bool = False) -> None:
        self.samples, self.kind, self.owns_samples = samples, kind, owns_samples
        self.shape = samples.shape if getattr(samples, "ndim", 1) == 2 else (len(samples), 1)
        self.dtype = samples.dtype
        self.nnz = samples.nnz if sparse.issparse(samples) else None

    @property
    def nbytes(self) -> int:  # type: ignore[override]
        if self.nnz is not None:
            return sum(part.nbytes for part in (self.samples.data, self.samples.indices, self.samples.indptr))
        return int(self.samples.nbytes)

    def blocks(self, size: int) -> Iterator[Samples]:
        for start in range(0, len(self), size):
            yield self.samples[start : start + size]

    def take(self, indices: NDArray) -> Samples:
        return self.samples[indices]

    def load(self, mask: NDArray | None = None) -> Samples:
        return self.samples if mask is None else self.samples[mask]


class TransformedDataset(Dataset):
    """A dataset whose blocks go through a function: scaling, checks."""

    def __init__(self, base: Dataset, transform: Callable[[Samples, int], Samples], dtype: Any) -> None:
        self.base, self.transform = base, transform
        self.kind, self.shape, self.nnz, self.dtype = base.kind, base.shape, base.nnz, np.dtype(dtype)
        self.nbytes, self.reading_bytes = base.nbytes, base.reading_bytes
        self.feature_names, self.metadata, self.source = base.feature_names, base.metadata, base.source
        self.allow_nan = base.allow_nan

    def blocks(self, size: int) -> Iterator[Samples]:
        start = 0
        for block in self.base.blocks(size):
            yield self.transform(block, start)
            start += block.shape[0]


def scaled(data: Dataset, divisors: NDArray) -> Dataset:
    """A view of the data with every column divided; precision and sparsity are kept."""
    return data.view(partial(_divide, divisors))


def _divide(divisors: NDArray, block: Samples, first_row: int) -> Samples:
    if sparse.issparse(block):
        return sparse.csr_array(block.multiply(1 / divisors))
    return (block / divisors).astype(block.dtype, copy=False)


def prefetch(data: Dataset, size: int) -> Iterator[Samples]:
    """Blocks of the data, the next one read ahead by a thread unless all are in memory."""
    if data.in_memory or len(data) <= size:
        yield from data.blocks(size)
        return
    blocks = data.blocks(size)
    with ThreadPoolExecutor(1) as reader:
        coming = reader.submit(next, blocks, None)
        try:
            while (block := coming.result()) is not None:
                coming = reader.submit(next, blocks, None)
                yield block
        finally:
            coming.result()
            blocks.close()  # type: ignore[attr-defined]


def regroup(pieces: Iterable[NDArray], size: int) -> Iterator[NDArray]:
    """The same rows in blocks of exactly `size`, except for the last one."""
    waiting: list[NDArray] = []
    count = 0
    for piece in pieces:
        while count + len(piece) >= size:
            head = piece[: size - count]
            yield np.concatenate([*waiting, head]) if waiting else head
            piece, waiting, count = piece[len(head) :], [], 0
        if len(piece):
            waiting.append(piece)
            count += len(piece)
    if waiting:
        yield np.concatenate(waiting)


def concatenate_samples(parts: list[Samples]) -> Samples:
    """Parts as one array."""
    if len(parts) == 1:
        return parts[0]
    return sparse.vstack(parts, format="csr") if sparse.issparse(parts[0]) else np.concatenate(parts)
