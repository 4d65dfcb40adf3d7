"""The Gram matrix YYᵀ of centered rows, for fewer rows than columns, and the axes Yᵀu that follow from it.

Y = √w(x − mean)/scale. Products of small integers are exact in float32 over few columns at a time, and centered
afterwards. Other rows are centered first, unless sparse products cost less.

A mean that is off by δ moves all rows alike: eigenvalues and axes are those of S + W·δδᵀ. So its error counts to
second order, although it moves YYᵀ itself to first order.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mercer.data.dataset import Dataset, prefetch
from mercer.linalg.scatter import Scatter
from mercer.numerics.blocking import slices
from mercer.numerics.products import add_upper_product, is_small_integer, matmul, mirror_upper, row_slice
from mercer.numerics.rounding import UNIT, chain, gamma, norm
from mercer.numerics.threads import parallel, threads_for

_STRIP = 1024  # columns that are multiplied at once
_PIECE_ENTRIES, _SPARSE_ROWS = 2_000_000, 512
_ENTRY = 16  # roundings of two entries, and what is done with their products
_EXACT, _EXACT_SUMS = 2**24, 2**53  # top²·columns of float32 products, top²·columns·rows of their sums that are exact


def gram_matrix(
    data: Dataset,
    weights: NDArray | None,
    scatter: Scatter,
    scale: NDArray | None,
    n_threads: int,
    progress: Any = None,
    max_bytes: int | None = None,
) -> tuple[NDArray, float]:
    """YYᵀ (n x n, exactly symmetric), and a bound on the error of eigenvalues and axes that follow from it.

    Rows are loaded, unless they are dense and in a file that needs more than `max_bytes` as float64. Then they are
    read in pairs of blocks, in one pass for each block.
    """
    n, d = data.shape
    divisors = 1.0 if scale is None else scale
    shift = norm((scatter.mean_error + UNIT * np.abs(scatter.mean)) / divisors)
    known = scatter.total_weight * shift**2 + scatter.scaling_error(scale)
    center = _centering(weights, scatter, scale)
    error = gamma(chain(d, _STRIP) + _ENTRY) * scatter.total(scale)
    if data.nnz is not None and _sparse_flops(n, d, data.nnz) < _dense_flops(n, d):
        gram, error = _sparse_gram(data.load(), weights, scatter.mean / divisors, scale, n_threads)
    elif not (data.in_memory or data.is_sparse) and max_bytes is not None and 8 * n * d > max_bytes:
        gram = _gram_by_pairs(data, center, max_bytes, n_threads, progress)
    elif (exact := _exact_columns(X := data.load(), weights, scale)) is not None:
        gram, error = _integer_gram(X, *exact, n_threads, progress)
    else:
        gram, X = np.zeros((n, n)), sparse.csc_array(X) if data.is_sparse else X
        for columns in slices(d, _STRIP):
            add_upper_product(gram, np.ascontiguousarray(center(X[:, columns], 0, columns).T), n_threads)
            if progress:
                progress(columns.stop / d)
    return mirror_upper(gram), error + known


def gram_flops(n_samples: int, n_features: int, nnz: int | None = None, small_integers: bool = False) -> float:
    """Cost of `gram_matrix`, in flops of a large matrix product that take as long."""
    dense = _dense_flops(n_samples, n_features)
    if nnz is not None:
        return min(dense, _sparse_flops(n_samples, n_features, nnz))
    return dense / 2 if small_integers else dense


def _dense_flops(n_samples: int, n_features: int) -> float:
    return 1.3 * n_samples**2 * n_features


def _sparse_flops(n_samples: int, n_features: int, nnz: int) -> float:
    return 73.0 * nnz**2 / max(1, n_features) + 50.0 * n_samples**2


def axes_from_gram(
    data: Dataset,
    weights: NDArray | None,
    scatter: Scatter,
    scale: NDArray | None,
    U: NDArray,
    n_threads: int,
    progress: Any = None,
) -> tuple[NDArray, NDArray]:
    """YᵀU (d x k), and bounds on the norms of the errors of its columns."""
    n, d = data.shape
    axes: NDArray = np.zeros((d, U.shape[1]))
    center, start = _centering(weights, scatter, scale), 0

    def add(columns: slice) -> None:
        Y = center(block[:, columns], start, columns)
        axes[columns] += Y.T @ U[start : start + len(Y)]

    for rows in prefetch(data, n if data.in_memory else max(16, 4 * _PIECE_ENTRIES // d)):
        block = sparse.csc_array(rows) if sparse.issparse(rows) else rows
        pieces = slices(d, max(16, _PIECE_ENTRIES // rows.shape[0]))
        parallel(add, pieces, threads_for(rows.shape[0] * axes.size, n_threads))
        start += rows.shape[0]
        if progress:
            progress(start / n)
    shift = np.sqrt(scatter.total_weight) * norm(scatter.mean_error / (1.0 if scale is None else scale))
    unsure = gamma(n + _ENTRY) + float(scatter.scale_error(scale).max(initial=0.0))
    return axes, (unsure * np.sqrt(scatter.total(scale)) + shift) * np.sqrt(np.einsum("ij,ij->j", U, U))


def _centering(weights: NDArray | None, scatter: Scatter, scale: NDArray | None) -> Callable[..., NDArray]:
    """A function from some columns of some rows, the first of which has a number, to √w(x − mean)/scale."""
    roots = None if weights is None else np.sqrt(weights)

    def center(rows: Any, first: int, columns: slice = slice(None)) -> NDArray:
        Y = scatter.centered(rows.toarray() if sparse.issparse(rows) else rows, columns)
        if scale is not None:
            Y /= scale[columns]
        if roots is not None:
            Y *= roots[first : first + len(Y), None]
        return Y

    return center


def _exact_columns(X: NDArray, weights: NDArray | None, scale: NDArray | None) -> tuple[int, int] | None:
    """The middle of small integers, and over how many columns their products are exact in float32; or None."""
    if weights is not None or scale is not None or sparse.issparse(X) or not is_small_integer(X.dtype):
        return None
    low, high = int(X.min()), int(X.max())
    middle = (low + high + 1) // 2
    square = max(high - middle, middle - low, 1) ** 2
    return (middle, _EXACT // square) if 64 * square <= _EXACT and X.size * square <= _EXACT_SUMS else None


def _integer_gram(X: NDArray, middle: int, n_columns: int, n_threads: int, progress: Any) -> tuple[NDArray, float]:
    """Exact products around the middle of all values. Centering on both sides rounds a few times."""
    n, d = X.shape
    gram = np.zeros((n, n))
    for columns in slices(d, min(_STRIP, n_columns)):
        strip = X[:, columns].T.astype(np.float32, order="C")
        strip -= np.float32(middle)
        add_upper_product(gram, strip, n_threads)
        if progress:
            progress(columns.stop / d)
    error = gamma(64) * norm(mirror_upper(gram))
    means = gram.sum(axis=0) / n
    gram -= means
    gram -= (means - means.mean())[:, None]
    return gram, error


def _sparse_gram(
    X: Any, weights: NDArray | None, mean: NDArray, scale: NDArray | None, n_threads: int
) -> tuple[NDArray, float]:
    """XXᵀ, centered afterwards: (x − m)ᵀ(y − m) = xᵀy − mᵀx − mᵀy + mᵀm."""
    X = sparse.csr_array(X, dtype=np.float64)
    if scale is not None:
        X = sparse.csr_array((X.data / scale[X.indices], X.indices, X.indptr), shape=X.shape)
    turned = X.T.tocsr()
    n_threads = threads_for(X.nnz**2 / X.shape[1], n_threads)
    pieces = slices(X.shape[0], _SPARSE_ROWS)
    gram = np.concatenate(parallel(lambda rows: (row_slice(X, rows) @ turned).toarray(), pieces, n_threads))
    along = X @ mean - np.sum(mean * mean) / 2
    gram -= along
    gram -= along[:, None]
    longest = int(np.diff(X.indptr).max(initial=0))
    size = norm(X.data) + np.sqrt(X.shape[0]) * norm(mean)
    error = gamma(longest + 64 + _ENTRY) * size**2
    if weights is not None:
        gram *= np.sqrt(weights)
        gram *= np.sqrt(weights)[:, None]
        error *= float(weights.max())
    return gram, error


def _gram_by_pairs(data: Dataset, center: Callable, max_bytes: int, n_threads: int, progress: Any) -> NDArray:
    """Each block of rows times those from it on, so that two blocks are in memory."""
    n, d = data.shape
    n_rows = max(16, int(max_bytes // (4 * 8 * d)))
    gram, blocks = np.zeros((n, n)), slices(n, n_rows)
    for i, rows in enumerate(blocks):
        held = np.empty((0, d))
        for columns, block in zip(blocks, prefetch(data, n_rows), strict=True):
            if columns.start >= rows.start:
                Y = center(block, columns.start)
                held = held if len(held) else Y
                _set_product(gram[rows, columns], held, Y, n_threads)
        if progress:
            progress((i + 1) / len(blocks))
    return gram


def _set_product(out: NDArray, A: NDArray, B: NDArray, n_threads: int) -> None:
    """out = ABᵀ, in pieces that threads share."""

    def multiply(piece: slice) -> None:
        matmul(A[piece], B.T, out=out[piece], short=_STRIP)

    parallel(multiply, slices(len(A), 256), threads_for(A.size * len(B), n_threads))
