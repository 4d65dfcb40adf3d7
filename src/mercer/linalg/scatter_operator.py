"""The scatter matrix known by its products: S·B in one pass over the rows, which may be in a file."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mercer.data.dataset import Dataset
from mercer.linalg.operators import SymmetricOperator
from mercer.linalg.scatter import Scatter, read_blocks
from mercer.numerics.blocking import LANES, slices
from mercer.numerics.products import matmul, row_slice, transposed
from mercer.numerics.rounding import UNIT, CompensatedSum, chain, gamma
from mercer.numerics.threads import parallel, threads_for

FAR_MEAN = 1e4  # mean²/variance from which dense rows are centered before the product, not after it
_TERMS = 1024  # columns over which a row is multiplied at once
_DENSE_ENTRIES, _SPARSE_ROWS = 524_288, 4096  # of a piece that a thread multiplies at once
_PIECES = 4 * LANES  # pieces that are read at once
_ENTRY = 12  # roundings besides the sums: scale, origin, weights, mean, and the last sum
_CACHED_FEATURES = 5000  # columns up to which a block of rows stays in the cache
_DENSE_COST, _SPARSE_COST = 3.3, 15.0  # flops of a large matrix product that take as long as an entry times a column


class _Rows(NamedTuple):
    """What a product needs to know about the rows: y = √w(x − origin), centered on `rest` afterwards."""

    origin: NDArray | None
    rest: NDArray
    rows_at_once: int


class ScatterOperator(SymmetricOperator):
    """D⁻¹SD⁻¹ with S = Σw(x − mean)(x − mean)ᵀ and D = diag(scale).

    Sparse rows are not centered: the mean is subtracted from the products. Nor are dense rows, unless their
    mean is so large that this would cost digits.

    Parameters
    ----------
    data : Dataset
        The rows.
    weights : ndarray of shape (n_samples,) or None
        Their weights.
    scatter : Scatter
        Mean and squares of the same rows.
    scale : ndarray of shape (n_features,) or None, default=None
        Divisors of the columns.
    n_threads : int, default=1
        Number of threads. Results have equal bits for any number.
    progress : callable or None, default=None
        Called with the completed fraction of a pass.
    """

    psd = True
    products_are_cheap = False

    def __init__(
        self,
        data: Dataset,
        weights: NDArray | None,
        scatter: Scatter,
        scale: NDArray | None = None,
        n_threads: int = 1,
        progress: Any = None,
    ) -> None:
        self.data, self.weights, self.n_threads, self.progress = data, weights, n_threads, progress
        self.n = data.shape[1]
        self.scale = np.ones(self.n) if scale is None else scale
        self.squares = scatter.squares / self.scale**2
        mean, weight = scatter.mean, scatter.total_weight
        far = not data.is_sparse and bool(np.any(weight * mean**2 > FAR_MEAN * scatter.squares))
        rest = (scatter.mean_high - mean) + scatter.mean_low if far else mean
        size = _SPARSE_ROWS if data.is_sparse else min(max(_DENSE_ENTRIES // self.n, 16), 8192)
        self._rows = _Rows(mean if far else None, rest, size)
        mean_error = scatter.mean_error + UNIT * np.abs(rest)
        self._mean_error = float(np.sqrt(weight) * np.linalg.norm(mean_error / self.scale))
        self._mean_size = float(np.sqrt(weight) * np.linalg.norm(rest / self.scale))
        self._scaling_error = scatter.scaling_error(scale)
        longest = chain(self.n, _TERMS) if not data.is_sparse else max(chain(self.n, _TERMS), _longest_row(data))
        self._chain = longest + min(size, len(data)) + _PIECES // LANES + _ENTRY

    def matmat(self, B: NDArray) -> NDArray:
        inner = np.ascontiguousarray(B / self.scale[:, None])
        total = self.data.reduce(
            _products, self._rows, inner, self.n_threads, weights=self.weights, combine=_added, progress=self.progress
        )
        return np.asarray(total.value() / self.scale[:, None])

    @property
    def trace(self) -> float:
        return float(self.squares.sum())

    @property
    def product_error(self) -> float:
        """γ of the longest chain times ‖|X|ᵀ|X||b|‖ ≤ ‖X‖_F², where the mean that is subtracted counts like X."""
        return float(gamma(self._chain) * (np.sqrt(self.trace + self._mean_size**2) + self._mean_size) ** 2)

    @property
    def entry_error(self) -> float:
        """Bound on the distance to the true matrix.

        Rows centered on a wrong mean scatter more by W·δδᵀ; standard deviations count to first order.
        """
        return self._mean_error**2 + self._scaling_error

    @property
    def floor(self) -> float:
        return 8 * UNIT * (self.trace + self._mean_size**2)


def product_flops(n_samples: int, n_features: int, width: int, nnz: int | None = None) -> float:
    """Cost of S·B for `width` columns, in flops of a large matrix product that take as long."""
    if nnz is not None:
        return _SPARSE_COST * nnz * (width + 10)
    slowdown = 1.3 if n_features <= _CACHED_FEATURES else 2.0  # blocks of long rows have few of them
    return slowdown * _DENSE_COST * n_samples * n_features * (width + 8)


def _longest_row(data: Dataset) -> int:
    """Entries of the longest sparse row, if that is known without reading a file."""
    return int(np.diff(data.load().indptr).max(initial=0)) if data.in_memory else data.shape[1]


def _added(one: CompensatedSum, other: CompensatedSum) -> CompensatedSum:
    both = CompensatedSum(one.high.shape)
    both.add_sum(one)
    both.add_sum(other)
    return both


def _products(
    data: Dataset, weights: NDArray | None, rows: _Rows, B: NDArray, n_threads: int, progress: Any = None
) -> CompensatedSum:
    """Σw y(yᵀB), centered: pieces of rows in lanes, which are added up in order."""
    total, start, shift = CompensatedSum(B.shape), 0, matmul(rows.rest[None], B, short=_TERMS)

    def add_pieces(pieces: list[slice]) -> NDArray:
        sums, scores = np.zeros(B.shape), np.zeros(B.shape[1])
        for piece in pieces:
            Y = row_slice(block, piece)
            if not data.is_sparse:
                Y = Y.astype(np.float64, copy=False) if rows.origin is None else np.subtract(Y, rows.origin)
            C = Y @ B if data.is_sparse else matmul(Y, B, short=_TERMS)
            C -= shift
            if own is not None:
                C *= own[piece, None]
            sums += transposed(Y) @ C
            scores += C.sum(axis=0)
        sums -= np.multiply.outer(rows.rest, scores)
        return sums

    for block in read_blocks(data, _PIECES * rows.rows_at_once):
        if sparse.issparse(block) and block.dtype != np.float64:
            block = sparse.csr_array(block, dtype=np.float64)
        own = None if weights is None else weights[start : start + block.shape[0]]
        pieces = slices(block.shape[0], rows.rows_at_once)
        lanes = [pieces[i::LANES] for i in range(min(LANES, len(pieces)))]
        for part in parallel(add_pieces, lanes, threads_for(block.shape[0] * B.size, n_threads)):
            total.add(part)
        start += block.shape[0]
        if progress:
            progress(start / len(data))
    return total
