"""The smallest eigenpairs of a positive semi-definite matrix M with M1 = 0, by shift and invert.

The eigenvalues that matter in locally linear methods are 10⁻⁸ to 10⁻¹³ times the largest, so products with M do not
separate them. Those of A = (M + σI)⁻¹ are far apart. σ > 0 is tiny and makes the matrix positive definite. Constants
are projected out of every vector and never picked from a result: in a disconnected graph, no null vector that a solver
finds is constant.

**Nothing was missed.** Let U hold orthonormal Ritz vectors of M with values θ, and β ≥ ‖A‖ on the complement of the
first j of them. UᵀAU is at least diag(1/(θ + σ)), as the inverse is operator convex. For any μ between β and
1/(θⱼ + σ), UᵀAU − μ is positive for these j vectors and its Schur complement in A − μ is negative, whatever the
coupling is. So exactly j eigenvalues of A exceed μ, and all but the j smallest of M are at least 1/β − σ. β comes from
random probes of the complement of all Ritz vectors, joined with the products of those after the j-th. Where
eigenvalues are too close for that, the negative pivots of M − μI = LDLᵀ are counted (Sylvester's law of inertia).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.linalg import blas, lapack
from scipy.sparse.linalg import SuperLU, splu

from mercer.errors import MercerError
from mercer.linalg.eigen import Eigenpairs, Generator, deflate
from mercer.numerics.blocking import slices
from mercer.numerics.rounding import TINY, column_norms
from mercer.numerics.threads import blas_threads, blas_threads_for_size, parallel
from mercer.storable import storable

_SHIFT = 1e-12  # σ, relative to ‖M‖₁
_GUARDS, _GUARDED = 4, 3  # pairs after the last one wanted, and one more for every three: what follows is bounded
_MOST_BLOCKS = 30  # of the basis before a restart
_PROBES, _POWERS = 10, 6
_FAILURE = f"wrong once in {10.0 ** (_PROBES - 1):.0e} times"
_COUNTED = "negative pivots were counted; the error of the factorization is measured, not bounded"
_PANEL = 384  # columns of a dense factor that are found at a time
_ORDER = "MMD_AT_PLUS_A"  # 2.6 times faster here than SuperLU's default
_COLUMNS = 4  # that a thread solves for at once, whatever their number: threads do not change a bit
_DENORMAL = 1e-100  # entries of a dense factor below this are zero: they fade to numbers that are slow
_ERROR_FACTOR = 8  # times that the error of a factorization may be what random columns show


def one_norm(M: Any) -> float:
    """‖M‖₁, which bounds ‖M‖₂ of a symmetric matrix."""
    return float(np.max(abs(M).sum(axis=0), initial=0.0))


def bottom_floor(norm: float) -> float:
    """Eigenvalues and gaps up to this are rounding: 20u‖M‖₁."""
    return float(10 * np.finfo(float).eps * norm)


def gaps(values: NDArray, following: float = np.inf) -> NDArray:
    """Distance of each value (ascending) to the nearest other one; `following` comes after the last."""
    steps = np.diff(values, append=following)
    return np.minimum(steps, np.append(np.inf, steps[:-1]))


def _without_mean(B: NDArray) -> NDArray:
    return B - B.mean(axis=0)


def _ritz(Q: NDArray, MQ: NDArray, count: int) -> Eigenpairs:
    """The smallest Ritz pairs of M in the span of Q."""
    H = Q.T @ MQ
    values, Y = np.linalg.eigh((H + H.T) / 2)
    values, Y = values[:count], np.ascontiguousarray(Y[:, :count])
    return Eigenpairs.measured(values, _without_mean(Q @ Y), MQ @ Y, count)


@storable
@dataclass(frozen=True)
class DenseBottom:
    """LAPACK on the whole matrix, with 1 sent to the other end of its spectrum, and a step of inverse iteration."""

    description = "LAPACK"

    def solve(self, M: Any, k: int, rng: Generator, *, start: Any = None, progress: Any = None) -> Eigenpairs:
        """The k smallest eigenvalues but that of constants, with their vectors."""
        M = M.toarray() if sparse.issparse(M) else M
        n, norm = len(M), one_norm(M)
        wanted = min(k + 1, n - 1)
        with blas_threads_for_size(float(n) ** 3, 1):
            values, vectors = _some_eigenpairs(M + (2 * norm or 1.0) / n, wanted)
        # LAPACK's rounding is relative to the largest eigenvalue
        V = _without_mean(DenseFactor(M, _SHIFT * norm or 1.0).solve(vectors))
        Q = np.linalg.qr(V / column_norms(V))[0]
        bound = max(float(values[k]) - bottom_floor(norm), 0.0) if wanted > k else np.inf
        if progress:
            progress(1.0)
        pairs = _ritz(Q, M @ Q, wanted).first(k)
        return replace(pairs, norm=norm, bound=bound, evidence="LAPACK counts eigenvalues", n_products=n)


def _some_eigenpairs(A: NDArray, count: int) -> tuple[NDArray, NDArray]:
    """The smallest eigenpairs by LAPACK, which may return fewer than requested by index; then all are computed."""
    try:
        values, V = linalg.eigh(A, subset_by_index=(0, count - 1), driver="evr", check_finite=False)
    except linalg.LinAlgError:
        values, V = np.empty(0), A
    return (values, V) if len(values) == count else tuple(part[..., :count] for part in np.linalg.eigh(A))


@storable
@dataclass(frozen=True)
class ShiftInvert:
    """Block Krylov on (M + σI)⁻¹ by a "sparse" or "dense" factorization, with Rayleigh–Ritz on M itself.

    It stops when every residual is at most `tol` times the gap around its eigenvalue, or is rounding and hardly falls
    any more, or after `max_passes` passes.
    """

    factor: str = "sparse"
    tol: float = 1e-6
    max_passes: int = field(default=100, repr=False)
    n_threads: int = field(default=1, repr=False)

    @property
    def description(self) -> str:
        return f"inverse iteration by a {self.factor} factor (residuals of {self.tol:g} of gaps)"

    def solve(self, M: Any, k: int, rng: Generator, *, start: Any = None, progress: Any = None) -> Eigenpairs:
        """The k smallest eigenvalues but that of constants, with their vectors."""
        norm = one_norm(M)
        shift = _SHIFT * norm or 1.0
        if self.factor == "sparse":
            inverse: _Factor = SparseFactor(M, shift, self.n_threads)
        else:
            inverse = DenseFactor(M, shift, self.n_threads, progress)
        ritz = self._find(M, inverse, k, norm, rng())
        bound, evidence, n_more = bound_by_probes(inverse, ritz, k, rng())
        if bound <= ritz.values[k - 1] + ritz.residuals[k - 1]:
            del inverse  # its factor gives room to another one
            counted = bound_by_inertia(M, ritz, k, norm, self.factor, rng())
            bound, evidence = max((bound, evidence), (counted, _COUNTED))
        if progress:
            progress(1.0)
        n_passes, n_products = ritz.n_passes + n_more, ritz.n_products + n_more * _PROBES
        ritz = replace(ritz.first(k), norm=norm, bound=bound, evidence=evidence)
        return replace(ritz, n_passes=n_passes, n_products=n_products)

    def _find(self, M: Any, inverse: "_Factor", k: int, norm: float, rng: np.random.Generator) -> Eigenpairs:
        """Ritz pairs in the Krylov space, the wanted ones and some more."""
        n = M.shape[0]
        block, wanted = min(max(k + 2, _COLUMNS), n - 1), min(k + _GUARDS + k // _GUARDED, n - 1)
        floor, before = max(bottom_floor(norm), TINY), np.inf
        Q, MQ = np.empty((n, 0)), np.empty((n, 0))
        W, n_passes, n_products = rng.standard_normal((n, block)), 0, 0
        while True:
            n_passes, n_products = n_passes + 1, n_products + W.shape[1]
            W = _orthonormal(inverse.matmat(W), Q, n - 1)
            Q, MQ = np.column_stack([Q, W]), np.column_stack([MQ, M @ W])
            done = n_passes >= self.max_passes or Q.shape[1] >= n - 1
            if Q.shape[1] < wanted and W.shape[1] and not done:
                continue
            ritz = _ritz(Q, MQ, wanted)
            residuals, allowed = ritz.residuals[:k], self.tol * gaps(ritz.values)[:k]
            worst = float((residuals / np.maximum(allowed, floor)).max())
            if done or (residuals <= np.maximum(allowed, floor / 8)).all() or (worst <= 1 and worst > before / 2):
                return replace(ritz, n_passes=n_passes, n_products=n_products)
            before = worst
            if not W.shape[1]:
                W = rng.standard_normal((n, block))
            elif Q.shape[1] + block > max(_MOST_BLOCKS * block, 2 * wanted):
                Q, MQ = ritz.vectors, ritz.products
                W = (MQ - Q * ritz.values)[:, :block]


def _orthonormal(W: NDArray, Q: NDArray, most: int) -> NDArray:
    """An orthonormal basis of what W adds to Q; directions that are rounding are left out."""
    W = W / np.maximum(column_norms(W), TINY)
    W = W - Q @ (Q.T @ W)
    W, R, _ = linalg.qr(W, mode="economic", pivoting=True, check_finite=False)
    sizes = np.abs(np.diagonal(R))
    W = W[:, : min(int(np.sum(sizes > 1e-14)), most - Q.shape[1])]
    W = _without_mean(W - Q @ (Q.T @ W))
    return np.linalg.qr(W)[0]


# ---------------------------------------------------------------------- nothing was missed


def bound_by_probes(inverse: "_Factor", ritz: Eigenpairs, k: int, rng: np.random.Generator) -> tuple[float, str, int]:
    """A lower bound on all eigenvalues of M but the first of `ritz`, how it is known, and the number of passes.

    With B = (I − UUᵀ)A(I − UUᵀ), ‖B‖ ≤ (10√(2/π)·max‖Bᵖω‖)^(1/p) but for a probability of 10⁻¹⁰ (ten Gaussian columns;
    Halko, Martinsson and Tropp 2011, lemma 4.1). Higher powers follow only while they help.
    """
    U = ritz.vectors
    if U.shape[1] >= inverse.n - 1:
        return np.inf, "all eigenvalues were computed", 0
    alpha = 1 / (np.maximum(ritz.values, 0.0) + inverse.shift)
    W = deflate(_without_mean(rng.standard_normal((inverse.n, _PROBES))), U)
    products = inverse.matmat(np.column_stack([W, U]))
    W, AU = products[:, :_PROBES], products[:, _PROBES:]
    log_size, beta, bound = 0.0, np.inf, -np.inf
    for power in range(1, _POWERS + 1):
        W = deflate(W, U)
        size = float(column_norms(W).max())
        if not size > 0:
            beta = 0.0
        else:
            W, log_size = W / size, log_size + float(np.log(size))
            beta = min(beta, float(np.exp((np.log(10 * np.sqrt(2 / np.pi)) + log_size) / power)))
        bound = max(bound, _bound_from(beta, U, AU, alpha, k, inverse.shift))
        if bound > ritz.values[k - 1] + ritz.residuals[k - 1] or beta == 0 or beta < alpha[-1] / 2:
            break
        if power < _POWERS:
            W = inverse.matmat(W)
    return bound, f"{_PROBES} random probes of the inverse, power {power}, {_FAILURE}", power + 1


def _bound_from(beta: float, U: NDArray, AU: NDArray, alpha: NDArray, k: int, shift: float) -> float:
    """1/β − σ, with β for the complement of the first j ≤ k vectors, of the largest j for which that excludes others.

    Outside of these vectors, A is [[G, Fᵀ], [F, B]] with G among the vectors after the j-th.
    """
    inside = U.T @ AU
    coupling = column_norms(deflate(AU, U))
    for j in range(min(k, len(alpha)), 0, -1):
        among = float(np.linalg.norm(inside[j:, j:], 2)) if j < len(alpha) else 0.0
        total = max(beta, among) + float(np.sqrt(np.sum(coupling[j:] ** 2)))
        if total < alpha[j - 1]:
            return 1 / total - shift if total > 0 else np.inf
    return -np.inf


def bound_by_inertia(M: Any, ritz: Eigenpairs, k: int, norm: float, factor: str, rng: np.random.Generator) -> float:
    """A bound on all eigenvalues but the k smallest, by the negative pivots of M − μI; −∞ if there is none.

    μ lies halfway to the next Ritz value. It expects k + 1 negative pivots, as the constant vector has one of them, and
    subtracts the error of the factorization.
    """
    following = ritz.values[k] - ritz.residuals[k] if len(ritz.values) > k else np.inf
    mu = float(ritz.values[k - 1] + ritz.residuals[k - 1] + following) / 2
    if not np.isfinite(mu) or following - mu <= bottom_floor(norm):
        return -np.inf
    negative, error = count_negative_pivots(M, mu, factor, rng)
    return mu - error if negative == k + 1 else -np.inf


# ---------------------------------------------------------------------- factorizations


class _Factor(ABC):
    """A factorization of M + σI."""

    n: int
    shift: float

    @abstractmethod
    def solve(self, B: NDArray) -> NDArray:
        """(M + σI)⁻¹B."""

    def matmat(self, B: NDArray) -> NDArray:
        """P(M + σI)⁻¹PB, where P subtracts means."""
        return _without_mean(self.solve(_without_mean(B)))


def _symmetric_lu(M: Any, shift: float) -> SuperLU:
    """SuperLU of M + shift·I with pivots on the diagonal."""
    A = sparse.csc_array(M, copy=True)
    A.setdiag(M.diagonal() + shift)
    return splu(A, permc_spec=_ORDER, diag_pivot_thresh=0.0, options={"SymmetricMode": True})


class SparseFactor(_Factor):
    """LU without pivoting, which a positive definite matrix does not need."""

    def __init__(self, M: Any, shift: float, n_threads: int = 1) -> None:
        self.n, self.shift, self.n_threads = M.shape[0], shift, n_threads
        self.lu = _symmetric_lu(M, shift)

    def solve(self, B: NDArray) -> NDArray:
        out = np.empty(B.shape, order="F")

        def work(columns: slice) -> None:
            out[:, columns] = self.lu.solve(np.asfortranarray(B[:, columns]))

        parallel(work, slices(B.shape[1], _COLUMNS), self.n_threads)
        return out


class DenseFactor(_Factor):
    """Cholesky in one n × n array, panel by panel: threads share the rows, and an interrupt is noticed."""

    def __init__(self, M: Any, shift: float, n_threads: int = 1, progress: Any = None) -> None:
        A = M.toarray(order="C") if sparse.issparse(M) else np.array(M, dtype=np.float64, order="C")
        self.n, self.shift, self.L = len(A), shift, A
        A.flat[:: self.n + 1] += shift
        panels = slices(self.n, _PANEL)
        with blas_threads(1):
            for i, columns in enumerate(panels):
                self._factor_panel(columns, panels[i:], n_threads)
                if progress:
                    progress((columns.stop / self.n) ** 3 * 0.999)

    def _factor_panel(self, columns: slice, below: list[slice], n_threads: int) -> None:
        """Subtract what earlier columns explain, factor the block on the diagonal, divide the rows below by it."""
        A, j = self.L, columns.start

        def update(rows: slice) -> None:
            A[rows, columns] -= A[rows, :j] @ A[columns, :j].T

        def divide(rows: slice) -> None:
            found = blas.dtrsm(1.0, corner, A[rows, columns].T, lower=1).T
            A[rows, columns] = np.where(np.abs(found) < _DENORMAL, 0.0, found)

        if j:
            parallel(update, below, n_threads)
        corner, failed = lapack.dpotrf(A[columns, columns], lower=1, clean=1)
        if failed:
            raise MercerError("The alignment matrix is not positive semi-definite to working precision.")
        A[columns, columns] = corner
        parallel(divide, below[1:], n_threads)

    def solve(self, B: NDArray) -> NDArray:
        """LLᵀX = B, panel by panel: LAPACK is several times slower for a few columns."""
        L, X = self.L, np.array(B, dtype=np.float64, order="C")
        panels = slices(len(L), _PANEL)
        for p in panels:
            X[p] = blas.dtrsm(1.0, L[p, p], X[p] - L[p, : p.start] @ X[: p.start], lower=1)
        for p in reversed(panels):
            X[p] = blas.dtrsm(1.0, L[p, p], X[p] - L[p.stop :, p].T @ X[p.stop :], lower=1, trans_a=1)
        return X


def count_negative_pivots(M: Any, mu: float, factor: str, rng: np.random.Generator) -> tuple[int, float]:
    """Negative pivots of M − μI and the error of that factorization; −1 if it does not tell.

    The count is exact for a matrix that differs from M − μI by no more than the error.
    """
    n = M.shape[0]
    if factor == "sparse":
        try:
            lu = _symmetric_lu(M, -mu)
        except RuntimeError:  # a pivot is zero
            return -1, np.inf
        if not np.array_equal(lu.perm_r, lu.perm_c):  # a pivot is off the diagonal
            return -1, np.inf
        probes = rng.standard_normal((n, _PROBES))
        solved = lu.solve(probes)  # without pivoting the error may be large, and random columns show it
        errors = column_norms(probes - M @ solved + mu * solved) / column_norms(solved)
        return int(np.sum(lu.U.diagonal() < 0)), float(_ERROR_FACTOR * errors.max())
    A = M.toarray(order="F") if sparse.issparse(M) else np.array(M, dtype=np.float64, order="F")
    A.flat[:: n + 1] -= mu
    A, pivots, failed = lapack.dsytrf(A, lower=1, overwrite_a=1)
    if failed:
        return -1, np.inf
    pairs = pivots < 0  # blocks of two rows, which have a pivot of each sign
    negative = int(np.sum(np.diagonal(A)[~pairs] < 0)) + int(pairs.sum()) // 2
    return negative, n * float(np.finfo(float).eps) * (one_norm(M) + abs(mu))
