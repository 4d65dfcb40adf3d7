"""A kernel matrix whose tiles are evaluated by the workers of a cluster in each product."""

from itertools import combinations_with_replacement
from math import isqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mercer.cluster.dask_dataset import IDLE_BYTES, DaskDataset
from mercer.kernels.base import Kernel, PreparedKernel
from mercer.linalg.gram import RecomputedGram
from mercer.linalg.tiles import multiply_strip, squares_chain, tile_side
from mercer.numerics.blocking import slices

_TASK_ROWS = 1024  # there is about one task for so many rows
_COPIES = 3  # of samples and factors in a worker while they arrive: the message, its bytes, the arrays
_COLUMNS = 32  # of factors
_TASK_BYTES = 50_000_000  # of tiles, and what the allocator keeps


class DistributedGram(RecomputedGram):
    """Kernel matrix of samples that is not stored: the workers evaluate its tiles in each product.

    Every worker holds all samples as the kernel prepares them; a task is a pair of row ranges. Ranges depend on the
    number of samples only, so neither chunks nor the number of workers change a product.

    Parameters
    ----------
    kernel : Kernel
        A positive semi-definite kernel: bounds of others depend on tiles that were evaluated in this process.
    X : array, CSR array or Table
        All samples.
    data : DaskDataset
        Where the samples came from; its workers are used.
    """

    def __init__(
        self,
        kernel: Kernel,
        X: Any,
        data: DaskDataset,
        n_threads: int = 1,
        progress: Any = None,
        *,
        weights: NDArray | None = None,
    ) -> None:
        super().__init__(kernel, X, n_threads, progress, weights=weights)
        sent = data.nbytes + self.prepared.nbytes + 8 * self.n * _COLUMNS
        needed = _COPIES * sent + _TASK_BYTES + IDLE_BYTES
        data.check_worker_memory(needed, f"A kernel matrix of {self.n:,} samples")
        n_ranges = max(1, isqrt(2 * self.n // _TASK_ROWS))
        self._pairs = list(combinations_with_replacement(slices(self.n, -(-self.n // n_ranges)), 2))
        self._n_levels = (len(self._pairs) - 1).bit_length()  # of the tree in which workers add results
        self.chain += self._n_levels
        self._executor = data.executor
        self._shared: Any = None

    def matmat(self, B: NDArray) -> NDArray:
        executor, weights = self._executor, None if self._squares else self.weights
        if self._shared is None:
            self._shared = executor.share(self.prepared)
        with executor.shared(_Factors(np.ascontiguousarray(B), weights)) as factors:
            tasks = [executor.task(_multiply_pair, *pair, self._shared, factors) for pair in self._pairs]
            product = executor.reduce(_add, tasks, self.progress)
        if weights is not None:
            self._squares, self.norm_chain = product.squares, squares_chain(self.n, B.shape[1]) + self._n_levels
        return np.concatenate([product.rows[start] for start in sorted(product.rows)])

    def close(self) -> None:
        """Remove the samples from the workers."""
        if self._shared is not None:
            self._executor.release([self._shared])
            self._shared = None


class _Factors(NamedTuple):
    """What the matrix is multiplied with, and weights of the squares of its entries, if they are wanted."""

    B: NDArray
    weights: NDArray | None


class _Product(NamedTuple):
    """Sums for ranges of rows, by their first row, and squares of entries."""

    rows: dict[int, NDArray]
    squares: float


def _multiply_pair(one: slice, other: slice, prepared: PreparedKernel, factors: _Factors) -> _Product:
    """What the entries between two ranges of rows, and their mirror images, give in the product."""
    B, weights = factors
    B = B.astype(prepared.dtype, copy=False)
    side = tile_side(B.shape[1])
    room, total = np.empty((side, side), dtype=prepared.dtype), np.zeros(B.shape)  # pages that stay zero take no memory
    squares = 0.0
    for rows in _strips(one, side):
        columns = [strip for strip in _strips(other, side) if strip.start >= rows.start]
        squares += multiply_strip(prepared, B, rows, columns, room, total, weights)
    return _Product({some.start: total[some].copy() for some in (one, other)}, squares)


def _strips(some: slice, side: int) -> list[slice]:
    return [slice(some.start + s.start, some.start + s.stop) for s in slices(some.stop - some.start, side)]


def _add(one: _Product, other: _Product) -> _Product:
    """The sum of two products; neither changes, as Dask may add them twice."""
    rows = one.rows | other.rows
    for start in one.rows.keys() & other.rows.keys():
        rows[start] = one.rows[start] + other.rows[start]
    return _Product(rows, one.squares + other.squares)
