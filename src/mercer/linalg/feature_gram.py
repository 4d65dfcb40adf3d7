"""K = ΦΦᵀ of exact features, dense or sparse, which is never formed; and its eigenproblem on the side of the features.

The mean row is subtracted from dense features before anything is multiplied. The centered matrix stays the same, and
features far from zero keep their digits.
"""

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mercer.data.dataset import ArrayDataset, Dataset
from mercer.kernels.base import FeatureMap
from mercer.linalg.completeness import exclude_missed
from mercer.linalg.dense import Dense, leading_eigenpairs
from mercer.linalg.eigen import Eigenpairs, rounding_floor
from mercer.linalg.gram import Centered, GramMatrix, check_sums
from mercer.linalg.krylov import BlockKrylov
from mercer.linalg.scatter import ScatterDiagonal, ScatterMatrix, accumulate
from mercer.linalg.scatter_operator import ScatterOperator
from mercer.numerics.blocking import LANES, lane_rows, slices, sparse_rows
from mercer.numerics.products import matmul, row_slice
from mercer.numerics.rounding import chain, gamma
from mercer.numerics.threads import blas_threads_for_size, parallel, threads_for
from mercer.storable import storable

_SHORT = 512  # terms of one product
_FEWEST_ROWS = 256  # of a piece
_SPARSE_COLUMNS = 8  # with which sparse features are multiplied at once: there may be millions of them


class RecomputedFeatures(Dataset):
    """The features of samples in memory, computed again whenever they are needed: only blocks of them are stored."""

    in_memory = True
    dtype = np.dtype(np.float64)

    def __init__(self, feature_map: FeatureMap, samples: Any) -> None:
        self.feature_map, self.samples = feature_map, samples
        self.shape = samples.shape[0], feature_map.n_features
        self.nbytes = 8 * self.shape[0] * self.shape[1]

    def __getitem__(self, rows: slice) -> NDArray:
        return np.asarray(self.feature_map.transform(self.samples[rows]))

    def blocks(self, size: int) -> Iterator[NDArray]:
        for rows in slices(len(self), size):
            yield self[rows]


class FeatureGram(GramMatrix):
    """ΨΨᵀ with Ψ = Φ − 1·originᵀ; `origin` is the mean row of dense features, and 0 for sparse ones.

    Features that are the samples themselves are not copied; others are computed once, or in every product if the map
    says that this is cheap and `recompute` allows it.
    """

    psd = True
    by_features = True
    data: Dataset

    def __init__(
        self,
        feature_map: FeatureMap,
        samples: Any,
        weights: NDArray | None = None,
        n_threads: int = 1,
        progress: Any = None,
        *,
        recompute: bool = False,
    ) -> None:
        self.feature_map, self.n_threads, self.progress = feature_map, n_threads, progress
        if recompute and feature_map.recomputable and not (feature_map.identity or feature_map.sparse):
            self.data = RecomputedFeatures(feature_map, samples)
        else:
            self.data = ArrayDataset(samples if feature_map.identity else feature_map.transform(samples))
        self._cancelled = feature_map.cancelled_squares(samples)
        self.n, self.width = self.data.shape
        self.is_sparse, density = self.data.is_sparse, (self.data.nnz or 0) / max(1, self.n * self.width)
        size = sparse_rows(self.width, density) if self.is_sparse else lane_rows(self.width)
        self._pieces = slices(self.n, min(size, max(_FEWEST_ROWS, -(-self.n // (2 * LANES)))))
        self.origin = np.zeros(self.width)
        if not self.is_sparse:  # to rounding; what is left of the mean, centering removes
            shares = np.full(self.n, 1 / self.n) if weights is None else weights / weights.sum()
            self.origin = self._sums(shares[:, None])[:, 0]

    def of_samples(self, samples: Any) -> Self:
        """The same, for a copy of the samples and after the fit, without a report of progress."""
        made = copy(self)
        made.progress = None
        if isinstance(self.data, RecomputedFeatures):
            made.data = RecomputedFeatures(self.feature_map, samples)
        return made

    def _rows(self, rows: slice) -> Any:
        """Some rows of Ψ in float64."""
        if isinstance(self.data, RecomputedFeatures):
            return self.data[rows] - self.origin
        block = row_slice(self.data.load(), rows)
        return block.astype(np.float64, copy=False) if self.is_sparse else np.subtract(block, self.origin)

    def matmat(self, B: NDArray) -> NDArray:
        product = np.empty((self.n, B.shape[1]))
        for some in self._columns(B):
            product[:, some] = self.times(self._sums(B[:, some]))
        if self.progress:
            self.progress(1.0)
        return product

    def _columns(self, B: NDArray) -> list[slice]:
        """Columns that are multiplied at once."""
        return slices(B.shape[1], _SPARSE_COLUMNS if self.is_sparse else max(1, B.shape[1]))

    def times(self, W: NDArray) -> NDArray:
        """Ψ W."""
        out = np.empty((self.n, W.shape[1]))

        def multiply(rows: slice) -> None:
            block = self._rows(rows)
            out[rows] = block @ W if self.is_sparse else matmul(block, W, short=_SHORT)

        parallel(multiply, self._pieces, threads_for(self._flops(W.shape[1]), self.n_threads))
        return out

    def transposed_times(self, B: NDArray) -> NDArray:
        """Ψᵀ B."""
        out = np.empty((self.width, B.shape[1]))
        for some in self._columns(B):
            out[:, some] = self._sums(B[:, some])
        return out

    def _sums(self, B: NDArray) -> NDArray:
        """The same, by pieces of rows in lanes."""
        B = np.ascontiguousarray(B)
        lanes = [self._pieces[i::LANES] for i in range(min(LANES, len(self._pieces)))]

        def add(pieces: list[slice]) -> NDArray:
            total = np.zeros((self.width, B.shape[1]))
            for rows in pieces:
                block = self._rows(rows)
                total += block.T @ B[rows] if self.is_sparse else matmul(block.T, B[rows], short=_SHORT)
            return total

        return np.asarray(sum(parallel(add, lanes, threads_for(self._flops(B.shape[1]), self.n_threads))))

    def _flops(self, width: int) -> float:
        return 2.0 * width * (10 * self.data.nnz if self.data.nnz is not None else self.n * self.width)

    def matrix(self) -> NDArray:
        """ΨΨᵀ, where LAPACK is to have all of it."""
        features = self._rows(slice(0, self.n))
        if self.is_sparse:
            return np.asarray((features @ features.T).toarray())
        return matmul(features, features.T, short=_SHORT)

    def diag(self) -> NDArray:
        return self._squares

    @cached_property
    def _squares(self) -> NDArray:
        """‖ψ‖² of every sample."""
        parts = []
        for rows in self._pieces:
            block = self._rows(rows)
            squares = block.multiply(block).sum(axis=1) if self.is_sparse else np.einsum("ij,ij->i", block, block)
            parts.append(np.asarray(squares).ravel())
        return np.concatenate(parts)

    @cached_property
    def chain(self) -> int:  # type: ignore[override]
        """Roundings of the sums over samples and over features, and of the mean, which is subtracted twice."""
        added = -(-len(self._pieces) // LANES) + LANES
        if not self.is_sparse:
            return chain(self._pieces[0].stop, _SHORT) + added + chain(self.width, _SHORT) + 6
        counts = np.diff(self.data.load().indptr)
        return int(counts.max(initial=0)) + min(self._pieces[0].stop, self.n) + added + 6

    def abs_norm(self, weights: NDArray, row_sums: NDArray) -> float:
        """‖S|Ψ||Ψ|ᵀS‖₂ ≤ ‖SΨ‖_F²."""
        return float(weights @ self.diag()) * (1 + gamma(self.n + self.width))

    def entry_error(self, weights: NDArray, row_sums: NDArray, products: NDArray | None) -> float:
        """Error by rounded features: their singular values change by at most ‖SδΦ‖_F, by sizes before centering."""
        if not self.feature_map.n_roundings:
            return 0.0
        sizes = self.diag() + self.origin @ self.origin + self._cancelled
        off = gamma(self.feature_map.n_roundings) * float(np.sqrt(2 * weights @ sizes))
        return off * (2 * float(np.sqrt(weights @ self.diag())) + off)

    def likely_error(self, mean: float) -> float:
        """No entry is formed. What is left is rounding in the features, if their mean was subtracted."""
        eps = float(np.finfo(float).eps)
        size = float(np.mean(self.diag())) + float(self.origin @ self.origin)
        of_features = (16 * eps) ** 2 * float(np.mean(self._cancelled))
        return 16 * eps * (1.0 if self.is_sparse else eps) * size + of_features


@storable
@dataclass(frozen=True)
class FeatureSolver:
    """Eigenpairs of ΨΨᵀ from the D x D matrix ΨᵀΨ = VΛVᵀ, as U = ΨVΛ^(-1/2). They are measured as those of ΨΨᵀ."""

    inner: Dense | BlockKrylov

    @property
    def description(self) -> str:
        return self.inner.description

    def solve(self, A: Centered, k: int, rng: Any, *, start: Any = None, progress: Any = None) -> Eigenpairs:
        """The k largest eigenvalues with their vectors. `start` is not used: there is nothing to continue."""
        gram = A.gram
        assert isinstance(gram, FeatureGram)
        side, rest = self._solve_side(gram, A.weights, k, rng)
        kept = int(np.sum(side.values > np.finfo(float).eps * gram.width * max(side.norm, 0.0)))
        U = A.project(A.times_root(gram.times(np.ascontiguousarray(side.vectors[:, :kept]))))
        U = np.linalg.qr(U)[0] if kept else U  # vectors of small eigenvalues are orthogonal to others only to rounding
        if kept < k:
            U = _completed(U, A, k, rng)
        products = A.matmat(U)
        following = np.maximum(np.append(side.values[kept:], side.next_values), 0.0)
        residuals = np.append(side.residuals[kept:], side.next_residuals)
        none = np.zeros(0 if len(following) else 1)
        return replace(
            Eigenpairs.measured(np.einsum("ij,ij->j", U, products), U, products, k),
            next_values=np.append(following, none),
            next_residuals=np.append(residuals, none),
            norm=side.norm,
            lowest=0.0,
            converged=side.converged,
            complete=side.complete,
            bound=rest + A.product_error,
            evidence=side.evidence,
            product_error=A.product_error,
            n_passes=side.n_passes + 2,
            n_products=side.n_products + k,
        )

    def _solve_side(self, gram: FeatureGram, weights: NDArray | None, k: int, rng: Any) -> tuple[Eigenpairs, float]:
        """Eigenpairs of ΨᵀΨ, and a bound on what no pair has: ‖QΨ‖² for Q = I − UUᵀ.

        QΨ = QΨVVᵀ + QΨV⊥V⊥ᵀ, so ‖QΨ‖² ≤ ‖QΨV‖² + ‖ΨV⊥‖². For kept columns of V the first term is rounding.
        """
        wanted = min(k, gram.width)
        if isinstance(self.inner, Dense):
            matrix = np.asarray(accumulate(gram.data, weights, ScatterMatrix, gram.n_threads).matrix())
            check_sums(matrix)
            with blas_threads_for_size(float(len(matrix)) ** 3, gram.n_threads):
                return leading_eigenpairs(matrix, wanted), np.inf
        diagonal = accumulate(gram.data, weights, ScatterDiagonal, gram.n_threads)
        side = ScatterOperator(gram.data, weights, diagonal, None, gram.n_threads, gram.progress)
        check_sums(side.squares)
        pairs = self.inner.solve(side, wanted, rng)
        pairs, bound, evidence = exclude_missed(self.inner, side, pairs, rng)
        small = pairs.values <= np.finfo(float).eps * gram.width * max(pairs.norm, 0.0)
        lost = float(np.sum(np.abs(pairs.values[small]) + pairs.residuals[small] + pairs.product_error))
        rounding = rounding_floor(gram.n, pairs.norm) + rounding_floor(gram.width, pairs.norm) + side.entry_error
        return replace(pairs, complete=False, evidence=evidence), bound + lost + rounding

    def memory(self, n: int, k: int) -> int:
        """Bytes of the vectors; those of the D x D side are counted by the plan."""
        return 8 * n * (6 * k + 4)

    def flops(self, n: int, k: int) -> float:
        """Cost of the vectors."""
        return 4.0 * n * k * k


def _completed(U: NDArray, A: Centered, k: int, rng: Any) -> NDArray:
    """U with orthonormal columns up to k: data with fewer directions than components have eigenvalues of zero."""
    more = A.project(rng().standard_normal((A.n, k - U.shape[1])))
    for _ in range(2):
        more -= U @ (U.T @ more)
        more = np.linalg.qr(more)[0]
    return np.concatenate([U, more], axis=1)
