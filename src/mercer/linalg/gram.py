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
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from mercer.errors import DataError
from mercer.kernels.base import Kernel
from mercer.linalg.eigen import Eigenpairs
from mercer.linalg.operators import SymmetricOperator
from mercer.linalg.tiles import (
    SLAB,
    TILE,
    fill_matrix,
    fill_symmetric,
    multiply_stored,
    multiply_symmetric,
    squares_chain,
)
from mercer.numerics.blocking import LANES, slices
from mercer.numerics.products import row_slice
from mercer.numerics.rounding import TINY, column_norms, gamma, norm
from mercer.numerics.threads import parallel, threads_for
from mercer.storable import storable

SMALL = 512  # samples up to which the whole matrix is evaluated in one call
_CHEAP_ENTRY = 64  # features up to which evaluating an entry twice costs less than mirroring it
_NO_SQUARES = 1e-280
_COLUMNS = 4  # a multiple of which tiles are multiplied with
_UNIT_VECTORS = 64  # that a LinearOperator is multiplied with at once, for its diagonal
_NOT_FINITE = "The kernel matrix has entries that are not finite: an overflow in the kernel. Scale the data down."


def check_sums(sums: NDArray) -> None:
    """Raise an error if the sums of a kernel matrix show that it overflowed."""
    if not np.isfinite(sums.sum()):
        raise DataError(_NOT_FINITE)


# -------------------------------------------------------------------------------------- kernel matrices


class GramMatrix(ABC):
    """K − shift·11ᵀ of n samples: what `Centered` needs of it."""

    n: int
    shift = 0.0
    psd = False  # whether K is known to be positive semi-definite
    by_features = False  # whether it is the products of exact features
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

    def close(self) -> None:  # noqa: B027
        """Release what is needed for products only."""

    def likely_error(self, mean: float) -> float:
        """Rounding to expect in an entry, given the mean of all, for stopping rules. Proves nothing."""
        return float(4 * np.finfo(float).eps * (abs(mean) + np.abs(self.diag()).max(initial=0.0)))


class _KernelGram(GramMatrix):
    """Kernel matrix of samples."""

    def __init__(self, kernel: Kernel, X: Any, n_threads: int = 1, progress: Any = None) -> None:
        self.kernel, self.X, self.n, self.psd = kernel, X, X.shape[0], kernel.psd
        self.n_threads, self.progress = n_threads, progress
        self.prepared = kernel.prepare(X, shift=None)
        self.shift = self.prepared.shift
        # the entries of K − shift have one sign, so that row sums are sums of moduli
        self.has_one_sign = kernel.max_value > 0 and self.shift in (0.0, kernel.max_value)

    def diag(self) -> NDArray:
        return self.prepared.diag

    def error_columns(self, weights: NDArray) -> NDArray | None:
        return self.prepared.error_columns(weights)

    def entry_error(self, weights: NDArray, row_sums: NDArray, products: NDArray | None) -> float:
        return self.prepared.matrix_error(weights, row_sums, products)

    def likely_error(self, mean: float) -> float:
        return super().likely_error(mean) + self.prepared.likely_error()


class _InMemory(GramMatrix):
    """All entries in memory, dense or sparse."""

    values: Any
    n_threads: int
    is_sparse = False
    has_one_sign = False

    @property
    def chain(self) -> int:  # type: ignore[override]
        if self.is_sparse:
            return 1 + int(np.diff(self.values.indptr).max(initial=0))
        return min(self.n, SLAB) + -(-self.n // SLAB)

    @property
    def norm_chain(self) -> int:  # type: ignore[override]
        return 2 * self.n

    def matrix(self) -> NDArray:
        return self.values.toarray() if self.is_sparse else self.values

    def matmat(self, B: NDArray) -> NDArray:
        if not self.is_sparse:
            return multiply_stored(self.values, B, self.n_threads)
        pieces = slices(self.n, max(TILE, -(-self.n // LANES)))
        n_threads = threads_for(self.values.nnz * B.shape[1] * 10, self.n_threads)
        return np.concatenate(parallel(lambda rows: row_slice(self.values, rows) @ B, pieces, n_threads))

    def squared_norm(self, weights: NDArray | None) -> float | None:
        """Row by row, so that no sum is longer than n; None where squares over- or underflow."""
        w, K = np.ones(self.n) if weights is None else weights, self.values
        if self.is_sparse:
            squares = float(K.multiply(K) @ w @ w)
        elif weights is None:
            squares = float(sum(np.einsum("ij,ij->i", K[r], K[r]).sum() for r in slices(self.n, TILE)))
        else:
            squares = float(sum(w[r] @ ((K[r] * K[r]) @ w) for r in slices(self.n, TILE)))
        return squares if _NO_SQUARES < squares < np.inf else None

    def abs_norm(self, weights: NDArray, row_sums: NDArray) -> float:
        """Schur's test: the largest row sum of moduli bounds the norm; with weights, max(|K|w)."""
        if self.has_one_sign:
            return float(np.abs(row_sums).max(initial=0.0))
        if self.is_sparse:
            sums = abs(self.values) @ weights
        else:
            sums = np.concatenate([np.abs(self.values[rows]) @ weights for rows in slices(self.n, TILE)])
        return float(sums.max(initial=0.0)) * (1 + gamma(self.n))


class StoredGram(_InMemory, _KernelGram):
    """Kernel matrix of samples with all entries in memory."""

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


class PrecomputedGram(_InMemory):
    """A dense or sparse matrix of the user. Entries may differ from their mirror images by `asymmetry`."""

    def __init__(self, K: Any, n_threads: int = 1, asymmetry: float = 0.0) -> None:
        self.values, self.n, self.n_threads, self.asymmetry = K, K.shape[0], n_threads, asymmetry
        self.is_sparse = sparse.issparse(K)

    def diag(self) -> NDArray:
        return np.asarray(self.values.diagonal())

    def entry_error(self, weights: NDArray, row_sums: NDArray, products: NDArray | None) -> float:
        return self.asymmetry * float(weights.sum())


class RecomputedGram(_KernelGram):
    """Kernel matrix of samples that is not stored: its tiles are evaluated in each product."""

    products_are_cheap = False

    def __init__(
        self, kernel: Kernel, X: Any, n_threads: int = 1, progress: Any = None, *, weights: NDArray | None = None
    ) -> None:
        super().__init__(kernel, X, n_threads, progress)
        self.weights = np.ones(self.n) if weights is None else weights
        self.chain = TILE + -(-self.n // 32) + LANES
        self._squares = 0.0

    def matrix(self) -> NDArray:
        """All entries, in an array that is filled now: for LAPACK, after Krylov steps were not enough."""
        values = np.empty((self.n, self.n))
        fill_matrix(self.prepared, values, self.n_threads, self.progress)
        np.fill_diagonal(values, self.prepared.diag)
        return values

    def matmat(self, B: NDArray) -> NDArray:
        weights, width = None if self._squares else self.weights, B.shape[1]
        B = np.pad(B, ((0, 0), (0, -width % _COLUMNS)))  # BLAS is slower for 14 columns than for 16
        product, squares = multiply_symmetric(self.prepared, B, self.n_threads, self.progress, weights)
        if weights is not None:
            self._squares, self.norm_chain = squares, squares_chain(self.n, B.shape[1])
        return product[:, :width]

    def squared_norm(self, weights: NDArray | None) -> float | None:
        """Summed up in the first product."""
        return self._squares if _NO_SQUARES < self._squares < np.inf else None

    def abs_norm(self, weights: NDArray, row_sums: NDArray) -> float:
        squares = self.squared_norm(weights)
        if self.has_one_sign:
            return float(np.abs(row_sums).max(initial=0.0))
        if squares is not None:
            return float(np.sqrt(squares)) * (1 + gamma(self.norm_chain))
        return float(weights @ (self.prepared.magnitudes + abs(self.shift)))


class OperatorGram(GramMatrix):
    """A scipy LinearOperator. Its products count as sums of n terms of a positive semi-definite matrix."""

    products_are_cheap = False

    def __init__(self, operator: LinearOperator) -> None:
        self.operator, self.n = operator, operator.shape[0]
        self.chain = self.norm_chain = self.n

    def matmat(self, B: NDArray) -> NDArray:
        return np.asarray(self.operator.matmat(np.ascontiguousarray(B)), dtype=np.float64)

    def diag(self) -> NDArray:
        return self._diagonal

    @cached_property
    def _diagonal(self) -> NDArray:
        """From products with unit vectors."""
        parts = []
        for some in slices(self.n, _UNIT_VECTORS):
            units = np.eye(self.n, some.stop - some.start, -some.start)
            parts.append(self.matmat(units)[some].diagonal())
        return np.concatenate(parts)

    def abs_norm(self, weights: NDArray, row_sums: NDArray) -> float:
        return float(weights @ np.abs(self.diag()))


class KernelColumns:
    """Columns and blocks of SKS − FFᵀ, which are evaluated when they are needed: for pivoted Cholesky.

    S = diag(√w); without weights S = I, without F (n x r) nothing is subtracted.
    """

    def __init__(
        self, kernel: Kernel, X: Any, weights: NDArray | None = None, F: NDArray | None = None, n_threads: int = 1
    ) -> None:
        self.kernel, self.X, self.n, self.F, self.n_threads = kernel, X, X.shape[0], F, n_threads
        self.root = None if weights is None else np.sqrt(weights)
        self.prepared = kernel.prepare(X)

    def diag(self) -> NDArray:
        diagonal = self.prepared.diag if self.root is None else self.prepared.diag * self.root**2
        return diagonal if self.F is None else diagonal - np.einsum("ij,ij->i", self.F, self.F)

    def columns(self, indices: NDArray) -> NDArray:
        """Some columns, in Fortran order."""
        some = self.prepared.against(self.X[indices])
        out = np.empty((len(indices), self.n))

        def fill(piece: slice) -> None:
            tile = np.empty((len(indices), piece.stop - piece.start))
            some.fill(slice(None), piece, tile)
            out[:, piece] = tile

        parallel(fill, slices(self.n, 4 * TILE), threads_for(out.size * 20, self.n_threads))
        return self._finished(out.T, slice(None), indices)

    def block(self, rows: NDArray, columns: NDArray) -> NDArray:
        """Some rows of some columns."""
        return self._finished(self.kernel(self.X[rows], self.X[columns]), rows, columns)

    def _finished(self, K: NDArray, rows: Any, columns: NDArray) -> NDArray:
        if self.root is not None:
            K *= self.root[rows][:, None]
            K *= self.root[columns]
        return K if self.F is None else K - self.F[rows] @ self.F[columns].T


# -------------------------------------------------------------------------------------- centering


@storable
@dataclass(frozen=True, eq=False)
class Centering:
    """What `transform` needs of a centered kernel matrix: μ = (K − shift)w/Σw, the weights, and the shift.

    By features, K − shift stands for the products of features from which their mean was subtracted. With an
    origin, K is the matrix of `Kernel.with_origin`.
    """

    means: NDArray
    weights: NDArray | None
    shift: float
    by_features: bool = False
    origin: NDArray | None = None

    @property
    def shares(self) -> NDArray:
        """w/Σw: the part of every sample in the mean."""
        if self.weights is None:
            return np.full(len(self.means), 1 / len(self.means))
        return self.weights / self.weights.sum()

    @property
    def total_weight(self) -> float:
        """Σw."""
        return float(len(self.means) if self.weights is None else self.weights.sum())

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
        inner = self.times_root(self.project(B))
        if self._row_sums is None:
            product = self.gram.matmat(np.concatenate([inner, self._first_columns()], axis=1))
            self._keep_sums(product[:, B.shape[1] :])
            product = product[:, : B.shape[1]]
        else:
            product = self.gram.matmat(inner)
        return self.project(self.times_root(product))

    def _first_columns(self) -> NDArray:
        """The weights, and columns for the error of entries: the first product carries them."""
        more = self.gram.error_columns(self._w)
        return self._w[:, None] if more is None else np.column_stack([self._w, more])

    def _keep_sums(self, products: NDArray) -> None:
        self._row_sums = np.ascontiguousarray(products[:, 0])
        self._error_products = products[:, 1:] if products.shape[1] > 1 else None
        check_sums(self._row_sums)

    def to_dense(self) -> NDArray:
        """K − μ1ᵀ − 1μᵀ + m of the symmetric part of the stored matrix."""
        K = self.gram.matrix()
        if K is None:
            return super().to_dense()
        if self._row_sums is None:
            self._keep_sums(K @ self._first_columns())
        means = self.means - 0.5 * self.mean
        A = K + K.T
        A *= 0.5
        A -= means
        A -= means[:, None]
        if self.root is not None:
            A *= np.multiply.outer(self.root, self.root)
        self._dense_error = gamma(self.n + 1) * norm(column_norms(A))
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
        return max(self.total_weight * self.gram.likely_error(self.mean), self._underflow)

    @property
    def _underflow(self) -> float:
        """Sums of numbers without digits."""
        return 1e5 * TINY * max(1.0, float(self._w.max()))

    @property
    def product_error(self) -> float:
        """Error of a product by `gram` with two centerings; after `to_dense`, of the dense matrix and its product."""
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

    def times_root(self, B: NDArray) -> NDArray:
        """S B."""
        return B if self.root is None else self.root[:, None] * B

    def centering(self) -> Centering:
        """What is left of the matrix after the fit."""
        return Centering(self.means, self.weights, self.gram.shift, self.gram.by_features)

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
