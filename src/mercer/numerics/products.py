"""Products of dense arrays: in short chains, for tall matrices on several threads, and of sparse rows.

BLAS adds up in an order of its own, so a product over m terms is known to γ_m. Taken over few terms at a time,
and the parts added up, it is known to γ of `chain(m)`.
"""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from mercer.numerics.blocking import slices
from mercer.numerics.rounding import SHORT
from mercer.numerics.threads import parallel, threads_for

_TILE = 256  # columns of a tile of YᵀY
_AT_ONCE = 300_000  # entries of short products that are stored side by side, so that BLAS is called once for all
_TALL_ROWS, _TALL_PIECES, _CAST_ROWS = 2048, 32, 1024


def is_small_integer(dtype: DTypeLike) -> bool:
    """Whether numbers of this type, and sums of their squares over some rows, are exact in float32."""
    dtype = np.dtype(dtype)
    return dtype.kind in "iub" and dtype.itemsize <= 2


def matmul(A: NDArray, B: NDArray, out: NDArray | None = None, short: int = SHORT) -> NDArray:
    """A @ B, over `short` terms at a time: known to γ of chain(A.shape[1], short)."""
    n_terms = A.shape[1]
    if n_terms <= short:
        return np.matmul(A, B, out=out)
    n_whole = n_terms // short
    whole = n_whole * short
    if n_whole * len(A) * B.shape[1] <= _AT_ONCE:
        left = A[:, :whole].reshape(len(A), n_whole, short).transpose(1, 0, 2)
        product = np.matmul(left, B[:whole].reshape(n_whole, short, -1)).sum(axis=0, out=out)
        if whole < n_terms:
            product += A[:, whole:] @ B[whole:]
        return np.asarray(product)
    product = np.matmul(A[:, :short], B[:short], out=out)
    part = np.empty_like(product)
    for piece in slices(n_terms, short)[1:]:
        product += np.matmul(A[:, piece], B[piece], out=part)
    return product


def add_upper_product(total: NDArray, Y: NDArray, n_threads: int) -> None:
    """total += YᵀY on and above the diagonal, tile by tile, so that no bit depends on the number of threads."""
    pieces = slices(len(total), _TILE)

    def add(tile: tuple[slice, slice]) -> None:
        total[tile] += Y[:, tile[0]].T @ Y[:, tile[1]]

    tiles = [(rows, columns) for i, rows in enumerate(pieces) for columns in pieces[i:]]
    parallel(add, tiles, threads_for(Y.size * len(total), n_threads))


def mirror_upper(matrix: NDArray) -> NDArray:
    """The matrix with its upper triangle copied to the lower one, in place."""
    for rows in slices(len(matrix), _TILE):
        tile = matrix[rows, rows]
        tile[...] = np.triu(tile) + np.triu(tile, 1).T
        matrix[rows.stop :, rows] = matrix[rows, rows.stop :].T
    return matrix


def column_sums(Y: NDArray, factors: NDArray | None = None, short: int = SHORT) -> NDArray:
    """Σ factor·y of every column, over `short` rows at a time."""
    m, d = Y.shape
    factors = np.ones(m, Y.dtype) if factors is None else factors
    whole = m // short * short
    sums = factors[whole:] @ Y[whole:]
    if whole:
        parts = np.matmul(factors[:whole].reshape(-1, 1, short), Y[:whole].reshape(-1, short, d))
        sums = sums + parts.sum(axis=(0, 1))
    return np.asarray(sums)


def column_squares(Y: NDArray, short: int = SHORT) -> NDArray:
    """Σy² of every column, over `short` rows at a time."""
    m, d = Y.shape
    whole = m // short * short
    squares = np.einsum("ij,ij->j", Y[whole:], Y[whole:])
    if whole:
        parts = Y[:whole].reshape(-1, short, d)
        squares = squares + np.einsum("pij,pij->pj", parts, parts).sum(axis=0)
    return np.asarray(squares)


def row_squares(X: NDArray, short: int = SHORT) -> NDArray:
    """Σx² of every row, over `short` columns at a time."""
    squares = np.zeros(len(X), dtype=X.dtype)
    for piece in slices(X.shape[1], short):
        squares += np.einsum("ij,ij->i", X[:, piece], X[:, piece])
    return squares


def tall_matmul(A: NDArray, B: NDArray, n_threads: int, dtype: DTypeLike = np.float64) -> NDArray:
    """A @ B of a tall and a small matrix. Rows are shared by threads, and cast to `dtype` a few at a time."""
    out = np.empty((len(A), B.shape[1]), dtype=dtype)

    def multiply(rows: slice) -> None:
        for first in range(rows.start, rows.stop, _CAST_ROWS):
            some = slice(first, min(first + _CAST_ROWS, rows.stop))
            np.matmul(A[some], B, out=out[some], casting="same_kind")

    parallel(multiply, _tall_pieces(len(A)), threads_for(A.size * B.shape[1], n_threads))
    return out


def tall_inner(A: NDArray, B: NDArray, n_threads: int) -> NDArray:
    """AᵀB of two tall matrices: pieces of rows in fixed order, so that no bit depends on the number of threads."""
    parts = parallel(
        lambda rows: matmul(A[rows].T, B[rows], short=512),
        _tall_pieces(len(A)),
        threads_for(A.size * B.shape[1], n_threads),
    )
    return np.asarray(np.sum(parts, axis=0))


def _tall_pieces(n: int) -> list[slice]:
    return slices(n, max(_TALL_ROWS, -(-n // _TALL_PIECES))) if n else [slice(0, 0)]


def row_slice(X: Any, rows: slice) -> Any:
    """Some rows of an array; those of a CSR array without copying its entries."""
    if not sparse.issparse(X):
        return X[rows]
    first, last = int(X.indptr[rows.start]), int(X.indptr[rows.stop])
    part = sparse.csr_array((rows.stop - rows.start, X.shape[1]), dtype=X.dtype)
    part.data, part.indices = X.data[first:last], X.indices[first:last]
    part.indptr = X.indptr[rows.start : rows.stop + 1] - X.indptr[rows.start]
    return part


def transposed(X: Any) -> Any:
    """Xᵀ. Of rows that `row_slice` returned, scipy would copy all entries."""
    if not sparse.issparse(X):
        return X.T
    flipped = sparse.csc_array(X.shape[::-1], dtype=X.dtype)
    flipped.data, flipped.indices, flipped.indptr = X.data, X.indices, X.indptr
    return flipped
