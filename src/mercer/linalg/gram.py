"""Kernel matrices of n samples: stored, recomputed in each product or given; and their centered form.

Centering removes any constant, so a `GramMatrix` is K − shift·11ᵀ: of kernels close to their maximum, the
digits that centering leaves survive.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import DataError
from mercer.kernels.base import Kernel, PreparedKernel
from mercer.linalg.eigen import Eigenpairs
from mercer.linalg.operators import SymmetricOperator
from mercer.numerics.blocking import slices
from mercer.numerics.rounding import TINY, gamma
from mercer.numerics.threads import WORTH_A_THREAD, parallel, threads_for
from mercer.storable import storable

SMALL = 512  # samples up to which the whole matrix is evaluated in one call
LANES = 4  # sums of their own in a matrix-free product, for any number of threads
_STRIP = 64  # rows that are filled at once
_SLAB = 512  # rows that are multiplied at once
_TILE = 256
_UNPACKED = 1_000_000  # multiplications up to which BLAS takes a small product without copying its factors
_CHEAP_ENTRY = 64  # features up to which evaluating an entry twice costs less than mirroring it
_NO_SQUARES = 1e-280
_NOT_FINITE = "The kernel matrix has entries that are not finite: an overflow in the kernel. Scale the data down."

# -------------------------------------------------------------------------------------- loops over tiles


def fill_matrix(prepared: PreparedKernel, out: NDArray, n_threads: int, progress: Any = None) -> None:
    """All entries between the prepared samples, strip by strip."""
    strips = slices(len(out), _STRIP)
    everything = slice(None)
    groups = [strips[i : i + 16] for i in range(0, len(strips), 16)]

    def fill(group: list[slice]) -> None:
        for rows in group:
            prepared.fill(rows, everything, out[rows])

    for i in range(0, len(groups), 2 * n_threads):
        parallel(fill, groups[i : i + 2 * n_threads], n_threads)
        if progress:
            progress(min(1.0, groups[min(i + 2 * n_threads, len(groups)) - 1][-1].stop / len(out)))


def fill_symmetric(prepared: PreparedKernel, out: NDArray, n_threads: int, progress: Any = None) -> None:
    """The same for dear entries: each pair of samples is compared once."""
    strips = slices(len(out), _TILE)

    def fill(rows: slice) -> None:
        for columns in strips[rows.start // _TILE :]:
            tile = np.empty((rows.stop - rows.start, columns.stop - columns.start))
            prepared.fill(rows, columns, tile)
            out[columns, rows] = tile.T  # on the diagonal, the next line overwrites half of it
            out[rows, columns] = tile

    for i in range(0, len(strips), 2 * n_threads):
        parallel(fill, strips[i : i + 2 * n_threads], n_threads)
        if progress:
            progress(1 - (1 - min(1.0, (i + 2 * n_threads) / len(strips))) ** 2)


def tile_side(width: int) -> int:
    """Side of the tiles of a matrix-free product with so many columns."""
    return min(_TILE, max(32, int(np.sqrt(_UNPACKED / max(1, width))) // 8 * 8))


def multiply_symmetric(
    prepared: PreparedKernel, B: NDArray, n_threads: int, progress: Any = None, weights: NDArray | None = None
) -> tuple[NDArray, float]:
    """K B and, given weights, Σwᵢwⱼkᵢⱼ²: each tile is evaluated once, used twice and dropped.

    Entries have the precision of `prepared`, sums are float64. Four lanes of strips have sums of their own,
    so the bits do not depend on the number of threads.
    """
    n, width = B.shape
    side, dtype = tile_side(width), prepared.dtype
    strips = slices(n, side)
    B = np.ascontiguousarray(B, dtype=dtype)
    sums, norms = np.zeros((LANES, n, width)), np.zeros(LANES)

    def lane(number: int) -> None:
        room, total = np.empty((side, side), dtype=dtype), sums[number]
        for i in range(number, len(strips), LANES):
            rows = strips[i]
            own = np.zeros((rows.stop - rows.start, width))
            for j in range(i, len(strips)):
                columns = strips[j]
                tile = room[: rows.stop - rows.start, : columns.stop - columns.start]
                prepared.fill(rows, columns, tile)
                own += tile @ B[columns]
                if j > i:
                    total[columns] += tile.T @ B[rows]
                if weights is not None:
                    norms[number] += (1 if i == j else 2) * _weighted_squares(tile, weights[rows], weights[columns])
            total[rows] += own
            if progress and number == 0:
                progress(min(1.0, 1 - (1 - rows.stop / n) ** 2))

    parallel(lane, range(LANES), n_threads)
    return sums.sum(axis=0), float(norms.sum())


def _weighted_squares(tile: NDArray, rows: NDArray, columns: NDArray) -> float:
    """Σwᵢwⱼkᵢⱼ² of a tile that is still in the cache."""
    if rows[0] == 1 and (rows == 1).all() and (columns == 1).all():
        return float(np.vdot(tile, tile))
    return float(rows @ (tile * tile) @ columns)


def multiply_stored(K: NDArray, B: NDArray, n_threads: int) -> NDArray:
    """K B of a symmetric matrix, as (BᵀK)ᵀ, which is faster for few columns; `_SLAB` rows at a time."""
    n = len(K)
    Bt = np.ascontiguousarray(B.T)
    out = np.empty((B.shape[1], n))

    def some(columns: slice) -> None:
        part = out[:, columns]
        np.matmul(Bt[:, :_SLAB], K[:_SLAB, columns], out=part)
        for first in range(_SLAB, n, _SLAB):
            rows = slice(first, first + _SLAB)
            part += Bt[:, rows] @ K[rows, columns]

    if K.size * B.shape[1] <= WORTH_A_THREAD:
        some(slice(0, n))
    else:
        parallel(some, slices(n, max(_SLAB, -(-n // 4))), n_threads)
    return out.T


def multiply_rows(prepared: PreparedKernel, B: NDArray, n_threads: int) -> NDArray:
    """k(X, Y) B for samples X and Y that differ: scores of new samples."""
    m, n = prepared.shape
    out = np.empty((m, B.shape[1]))

    def some(rows: slice) -> None:
        tile = np.empty((rows.stop - rows.start, min(n, 4 * _TILE)))
        out[rows] = 0.0
        for columns in slices(n, 4 * _TILE):
            part = tile[:, : columns.stop - columns.start]
            prepared.fill(rows, columns, part)
            out[rows] += part @ B[columns]

    parallel(some, slices(m, _TILE), threads_for(m * n * 20, n_threads))
    return out


# -------------------------------------------------------------------------------------- kernel matrices


class GramMatrix(ABC):
    """K − shift·11ᵀ of n samples: what `Centered` needs of it."""

    n: int
    shift = 0.0
    psd = False  # whether K is known to be positive semi-definite
    products_are_cheap = True
    chain: int  # additions behind an entry of a product
    norm_chain: int  # additions behind `squared_norm`

    @abstractmethod
    def matmat(self, B: NDArray) -> NDArray:
        """(K − shift) @ B."""

    @abstractmethod
    def diag(self) -> NDArray:
        """Diagonal of K − shift."""

    def matrix(self) -> NDArray | None:
        """All entries as an array that belongs to this object, if there is one."""
        return None

    def error_columns(self, weights: NDArray) -> NDArray | None:
        """Columns that the first product should carry, for `entry_error`."""
        return None

    def squared_norm(self, weights: NDArray | None) -> float | None:
        """‖S(K − shift)S‖_F², known to γ of `norm_chain`, or None if it would cost a pass."""
        return None

    @abstractmethod
    def abs_norm(self, weights: NDArray, row_sums: NDArray) -> float:
        """Bound on ‖S|K − shift|S‖₂, S = diag(√w), given (K − shift)w. Valid after the first product."""

    def entry_error(self, weights: NDArray, row_sums: NDArray, products: NDArray | None) -> float:
        """Bound on ‖S δK S‖₂ from rounding in the entries, given products with w and with `error_columns`."""
        return 0.0

    def likely_error(self) -> float:
        """Rounding to expect in an entry, besides that of its size."""
        return 0.0

    @property
    def low_precision(self) -> "GramMatrix":
        return self


class _KernelGram(GramMatrix):
    """Of samples and a kernel."""

    def __init__(
        self, kernel: Kernel, X: Any, n_threads: int = 1, progress: Any = None, *, dtype: Any = np.float64
    ) -> None:
        self.kernel, self.X, self.n, self.psd = kernel, X, X.shape[0], kernel.psd
        self.n_threads, self.progress = n_threads, progress
        self.prepared = kernel.prepare(X, shift=None, dtype=dtype)
        self.shift = self.prepared.shift

    def diag(self) -> NDArray:
        return self.prepared.diag

    def error_columns(self, weights: NDArray) -> NDArray | None:
        return self.prepared.error_columns(weights)

    def entry_error(self, weights: NDArray, row_sums: NDArray, products: NDArray | None) -> float:
        return self.prepared.matrix_error(weights, row_sums, products)

    def likely_error(self) -> float:
        return self.prepared.likely_error()

    @property
    def _has_one_sign(self) -> bool:
        """Whether the entries of K − shift have one sign, so that row sums are sums of moduli."""
        return self.kernel.max_value > 0 and self.shift in (0.0, self.kernel.max_value)


class StoredGram(_KernelGram):
    """All entries in memory."""

    def __init__(self, kernel: Kernel, X: Any, n_threads: int = 1, progress: Any = None) -> None:
        super().__init__(kernel, X, n_threads, progress)
        self.values = np.empty((self.n, self.n))
        if self.n <= SMALL:
            self.prepared.fill(slice(None), slice(None), self.values)
        elif X.shape[1:] and X.shape[1] <= _CHEAP_ENTRY and kernel.max_value:
            fill_matrix(self.prepared, self.values, n_threads, progress)
        else:
            fill_symmetric(self.prepared, self.values, n_threads, progress)
        np.fill_diagonal(self.values, self.prepared.diag)
        self.chain, self.norm_chain = min(self.n, _SLAB) + -(-self.n // _SLAB), 2 * self.n

    def matrix(self) -> NDArray:
        return self.values

    def matmat(self, B: NDArray) -> NDArray:
        return multiply_stored(self.values, B, self.n_threads)

    def squared_norm(self, weights: NDArray | None) -> float | None:
        return _squared_norm(self.values, weights)

    def abs_norm(self, weights: NDArray, row_sums: NDArray) -> float:
        return _abs_norm(self.values, weights, row_sums, self._has_one_sign)


class RecomputedGram(_KernelGram):
    """No entry is stored: tiles are evaluated in each product. `low_precision` evaluates them in float32."""

    products_are_cheap = False

    def __init__(
        self,
        kernel: Kernel,
        X: Any,
        n_threads: int = 1,
        progress: Any = None,
        *,
        weights: NDArray | None = None,
        dtype: Any = np.float64,
    ) -> None:
        super().__init__(kernel, X, n_threads, progress, dtype=dtype)
        self.weights = np.ones(self.n) if weights is None else weights
        self.chain, self.norm_chain = _TILE + -(-self.n // 32) + LANES, _TILE * _TILE + self.n
        self._squares = 0.0

    def matmat(self, B: NDArray) -> NDArray:
        weights = None if self._squares else self.weights
        product, squares = multiply_symmetric(self.prepared, B, self.n_threads, self.progress, weights)
        self._squares = self._squares or squares
        return product

    def squared_norm(self, weights: NDArray | None) -> float | None:
        """Summed up in the first product."""
        return self._squares if _NO_SQUARES < self._squares < np.inf else None

    def abs_norm(self, weights: NDArray, row_sums: NDArray) -> float:
        if self._has_one_sign:
            return float(np.abs(row_sums).max(initial=0.0))
        return float(np.sqrt(self._squares)) * (1 + gamma(self.norm_chain))

    @cached_property
    def low_precision(self) -> GramMatrix:
        single = RecomputedGram(
            self.kernel, self.X, self.n_threads, self.progress, weights=self.weights, dtype=np.float32
        )
        return single if single.prepared.dtype == np.float32 and self.prepared.dtype != np.float32 else self


class PrecomputedGram(GramMatrix):
    """A matrix that the user computed. Entries may differ from their mirror images by `asymmetry`."""

    def __init__(self, K: NDArray, n_threads: int = 1, asymmetry: float = 0.0) -> None:
        self.values, self.n, self.n_threads, self.asymmetry = K, len(K), n_threads, asymmetry
        self.chain, self.norm_chain = min(self.n, _SLAB) + -(-self.n // _SLAB), 2 * self.n

    def matrix(self) -> NDArray:
        return self.values

    def matmat(self, B: NDArray) -> NDArray:
        return multiply_stored(self.values, B, self.n_threads)

    def diag(self) -> NDArray:
        return np.diagonal(self.values)

    def squared_norm(self, weights: NDArray | None) -> float | None:
        return _squared_norm(self.values, weights)

    def abs_norm(self, weights: NDArray, row_sums: NDArray) -> float:
        return _abs_norm(self.values, weights, row_sums, False)

    def entry_error(self, weights: NDArray, row_sums: NDArray, products: NDArray | None) -> float:
        return self.asymmetry * float(weights.sum())


def _squared_norm(K: NDArray, weights: NDArray | None) -> float | None:
    """Row by row, so that no sum is longer than n; None where squares over- or underflow."""
    rows = np.concatenate(
        [
            np.einsum("ij,ij->i", K[r], K[r]) if weights is None else (K[r] * K[r]) @ weights
            for r in slices(len(K), _TILE)
        ]
    )
    squares = float(rows.sum() if weights is None else rows @ weights)
    return squares if _NO_SQUARES < squares < np.inf else None


def _abs_norm(K: NDArray, weights: NDArray, row_sums: NDArray, one_sign: bool) -> float:
    """Schur's test: the largest row sum of moduli bounds the norm; with weights, max(|K|w)."""
    if one_sign:
        return float(np.abs(row_sums).max(initial=0.0))
    sums = np.concatenate([np.abs(K[rows]) @ weights for rows in slices(len(K), _TILE)])
    return float(sums.max(initial=0.0)) * (1 + gamma(len(K)))


# -------------------------------------------------------------------------------------- centering


@storable
@dataclass(frozen=True, eq=False)
class Centering:
    """What `transform` needs of a centered kernel matrix: μ = (K − shift)w/Σw, the weights, and the shift."""

    means: NDArray
    weights: NDArray | None
    shift: float

    @property
    def shares(self) -> NDArray:
        """w/Σw: the part of every sample in the mean."""
        if self.weights is None:
            return np.full(len(self.means), 1 / len(self.means))
        return self.weights / self.weights.sum()

    @property
    def mean(self) -> float:
        """Mean entry of the kernel matrix after the shift."""
        return float(self.shares @ self.means)

    def dual(self, values: NDArray, vectors: NDArray) -> tuple[NDArray, NDArray]:
        """α (n × k) and αᵀμ: scores of x are k(x, ·)α − αᵀμ, as every column of α sums up to 0.

        Eigenvectors of small eigenvalues are orthogonal to √w only to λ₁/λᵢ roundings, so they are projected
        first.
        """
        alpha = project(np.asarray(vectors, dtype=np.float64), self.weights) * inverse_root(values)
        if self.weights is not None:
            alpha *= np.sqrt(self.weights)[:, None]
        return alpha, alpha.T @ self.means


class Centered(SymmetricOperator):
    """P S (K − shift) S P with S = diag(√w), P = I − ssᵀ and s = √w/‖√w‖; without weights, S = I.

    A sample of weight w counts as w equal samples. The means of K come with the first product, or with
    `to_dense`.
    """

    def __init__(self, gram: GramMatrix, weights: NDArray | None = None) -> None:
        self.gram, self.n, self.weights = gram, gram.n, weights
        self.root = None if weights is None else np.sqrt(weights)
        self._w = np.ones(gram.n) if weights is None else weights
        self.total_weight = float(gram.n if weights is None else weights.sum())
        self.products_are_cheap, self.psd = gram.products_are_cheap, gram.psd
        self._row_sums: NDArray | None = None
        self._error_products: NDArray | None = None
        self._dense_error = 0.0

    @property
    def dimension(self) -> int:
        return self.n - 1

    def project(self, B: NDArray) -> NDArray:
        return project(B, self.weights)

    def matmat(self, B: NDArray) -> NDArray:
        inner = self._scale(self.project(B))
        if self._row_sums is None:
            more = self.gram.error_columns(self._w)
            columns = [inner, self._w[:, None]] if more is None else [inner, self._w[:, None], more]
            product = self.gram.matmat(np.concatenate(columns, axis=1))
            self._keep_sums(product[:, B.shape[1] :])
            product = product[:, : B.shape[1]]
        else:
            product = self.gram.matmat(inner)
        return self.project(self._scale(product))

    def _keep_sums(self, products: NDArray) -> None:
        self._row_sums = np.ascontiguousarray(products[:, 0])
        self._error_products = products[:, 1:] if products.shape[1] > 1 else None
        if not np.isfinite(self._row_sums.sum()):
            raise DataError(_NOT_FINITE)

    def to_dense(self) -> NDArray:
        """K − μ1ᵀ − 1μᵀ + m of the symmetric part of the stored matrix."""
        K = self.gram.matrix()
        if K is None:
            return super().to_dense()
        if self._row_sums is None:
            more = self.gram.error_columns(self._w)
            self._keep_sums(K @ (self._w[:, None] if more is None else np.column_stack([self._w, more])))
        means = self.means - 0.5 * self.mean
        A = K + K.T
        A *= 0.5
        A -= means
        A -= means[:, None]
        if self.root is not None:
            A *= np.multiply.outer(self.root, self.root)
        self._dense_error = gamma(self.n + 1) * float(np.sqrt(np.vdot(A, A)))
        return A

    @cached_property
    def means(self) -> NDArray:
        """μ = (K − shift)w/Σw."""
        if self._row_sums is None:
            self.matmat(np.zeros((self.n, 0)))
        return self._row_sums / self.total_weight  # type: ignore[operator, return-value]

    @cached_property
    def mean(self) -> float:
        """m = wᵀμ/Σw."""
        return float(self._w @ self.means) / self.total_weight

    @cached_property
    def trace(self) -> float:
        """Σw(k(x, x) − 2μ + m), the total variance times Σw."""
        return float(self._w @ (self.gram.diag() - 2 * self.means + self.mean))

    @cached_property
    def floor(self) -> float:
        eps = float(np.finfo(float).eps)
        size = abs(self.mean) + float(np.abs(self.gram.diag()).max(initial=0.0))
        return max(self.total_weight * (4 * eps * size + self.gram.likely_error()), self._underflow)

    @property
    def _underflow(self) -> float:
        """Sums of numbers without digits."""
        return 1e5 * TINY * max(1.0, float(self._w.max()))

    @property
    def product_error(self) -> float:
        """Of a product by `gram` with two centerings; after `to_dense`, of that matrix and its product."""
        chain = 3 * self.n + 24 if self._dense_error else self.gram.chain + 16
        return gamma(chain) * self._abs_norm + self._dense_error

    @cached_property
    def _abs_norm(self) -> float:
        self.means  # noqa: B018  the first product
        return self.gram.abs_norm(self._w, self._row_sums)  # type: ignore[arg-type]

    @cached_property
    def entry_error(self) -> float:
        self.means  # noqa: B018
        return self.gram.entry_error(self._w, self._row_sums, self._error_products) + self._underflow  # type: ignore[arg-type]

    @cached_property
    def low_precision(self) -> SymmetricOperator:
        single = self.gram.low_precision
        return self if single is self.gram else Centered(single, self.weights)

    def squared_norm(self, unit: float) -> tuple[float, float] | None:
        """‖PAP‖_F² = ‖A‖_F² − 2‖As‖² + (sᵀAs)² of A = S(K − shift)S/unit, and a bound on its error."""
        squares = self.gram.squared_norm(self.weights)
        if squares is None:
            return None
        squares, means = squares / unit / unit, self.means / unit
        crossed = 2 * self.total_weight * float(self._w @ means**2)
        constant = (self.total_weight * self.mean / unit) ** 2
        error = gamma(self.n + self.gram.norm_chain + 4 * self.gram.chain + 16) * (squares + crossed + constant)
        return max(0.0, squares - crossed + constant), error

    def _scale(self, B: NDArray) -> NDArray:
        return B if self.root is None else self.root[:, None] * B

    def centering(self) -> Centering:
        """What is left of the matrix after the fit."""
        return Centering(self.means, self.weights, self.gram.shift)

    def training_scores(self, pairs: Eigenpairs) -> NDArray:
        """AU/√λ: what the formula for new samples gives for the training samples."""
        scores = pairs.products * inverse_root(pairs.values)
        return scores if self.root is None else scores / self.root[:, None]


def project(B: NDArray, weights: NDArray | None) -> NDArray:
    """B minus its mean, or minus its part along √w; twice, as the first sum has n roundings."""
    if weights is None:
        B = B - B.sum(axis=0) / len(B)
        B -= B.sum(axis=0) / len(B)
        return B
    null = np.sqrt(weights / weights.sum())
    B = B - np.multiply.outer(null, null @ B)
    B -= np.multiply.outer(null, null @ B)
    return B


def inverse_root(values: NDArray) -> NDArray:
    """1/√λ, and 0 for λ = 0."""
    values = np.asarray(values, dtype=np.float64)
    return np.divide(1.0, np.sqrt(values), out=np.zeros_like(values), where=values > 0)
