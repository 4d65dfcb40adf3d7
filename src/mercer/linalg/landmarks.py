"""The Nyström approximation of a kernel matrix: features from landmarks, and their moments over all samples.

With landmarks S and K_SS = LLᵀ, the features φ(x) = L⁻¹k(S, x) are the part of k that the landmarks see: E = K − ΦΦᵀ
is positive semi-definite, and its diagonal is known. Kernel PCA of ΦΦᵀ is PCA of the features, so one pass for
their moments is enough.

**Rounding.** Let the computed K_nS and K_SS be off by δ and LLᵀ by Δ from the true K_SS, and A = K_nS(LLᵀ)⁻¹. As
K − KₙₛAᵀ − AKₛₙ + AKₛₛAᵀ is positive semi-definite for the true matrices and any A,

    K − ΦΦᵀ + δAᵀ + Aδᵀ + AΔAᵀ  ⪰  0,

so rounding in entries and in the factor moves a statement by at most 2‖δ‖‖A‖ + ‖Δ‖‖A‖² (Frobenius norms): it
grows as landmarks come to depend on each other.

**Sums of kernel values.** Σφφᵀ = L⁻¹(Σkkᵀ)L⁻ᵀ needs half of the multiplications. Rounding |δᵢⱼ| ≤ γqᵢqⱼ of the sum,
q² its diagonal, becomes γ‖|L⁻¹|q‖², which is computed. Where it is small next to what the landmarks leave, kernel
values are added up; elsewhere, or if the kernel need not be positive semi-definite, features are.

**Landmarks that join later.** L grows by rows, so the features of a sample under fewer landmarks are the first
coordinates of those under more. The others, b, of samples that are gone are not known; they are taken to be zero, and
Σw‖b‖² ≤ Σw(k(x, x) − ‖φ(x)‖²) is kept as `stale`. `certificates/nystrom.py` makes intervals of it.
"""

import operator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack, solve_triangular

from mercer.data.dataset import Dataset, concatenate_samples
from mercer.kernels.base import Kernel, PreparedKernel
from mercer.linalg.dense import leading_eigenpairs
from mercer.linalg.gram import check_sums
from mercer.linalg.scatter import read_blocks
from mercer.numerics.blocking import block_rows, slices
from mercer.numerics.products import matmul, mirror_upper, row_squares
from mercer.numerics.rounding import TINY, UNIT, CompensatedSum, chain, gamma, norm, power_of_two
from mercer.numerics.threads import blas_threads_for_size, parallel, threads_for
from mercer.storable import storable

_ROWS, _SHORT, _STRIP, _PIECE = 2048, 256, 128, 256  # of a buffer, of one product, of a tile, of a thread's share
_SOLVE_SHORT = 64  # terms of one product with L⁻¹
_DEPENDENT = 50  # units of rounding and landmarks: a smaller pivot is rounding
_VISIBLE = 0.02  # of what the landmarks leave: rounding below it does not widen intervals
_THETAS = 4  # besides 1
_MOST_STRETCHED = 300  # eigenpairs from which intervals of grown sets of landmarks are made


@storable
@dataclass(frozen=True, eq=False)
class LandmarkFeatures:
    """φ(x) = L⁻¹k(S, x), with bounds on rounding."""

    kernel: Kernel  # all parameters resolved
    samples: Any  # S, in the order of the pivots
    factor: NDArray = field(repr=False)  # L (r × r)
    inverse: NDArray = field(repr=False)  # L⁻¹
    inverse_error: float  # bound on ‖φ̂ − φ‖/‖φ‖ from the inverse and the product with it
    factor_error: float  # bound on ‖LLᵀ − K_SS‖, rounding in the entries of K_SS included

    @classmethod
    def from_samples(cls, kernel: Kernel, samples: Any) -> tuple["LandmarkFeatures", NDArray]:
        """Features from samples of which some may depend on others; and the indices of those that are left."""
        K = kernel(samples, samples)
        check_sums(K)
        L, order = _pivoted_factor(K, _DEPENDENT * len(K) * np.finfo(float).eps * float(np.abs(K.diagonal()).max()))
        if not len(order):  # a kernel that is zero on these samples: one of them sees as little as all
            L, order = np.zeros((1, 1)), np.zeros(1, dtype=np.intp)
        return cls._from_factor(kernel, samples[order], K[np.ix_(order, order)], L), order

    @classmethod
    def _from_factor(cls, kernel: Kernel, samples: Any, K: NDArray, L: NDArray) -> "LandmarkFeatures":
        r = len(L)
        inverse = solve_triangular(L, np.eye(r), lower=True) if L.any() else np.zeros((r, r))
        measured = norm(matmul(inverse, L) - np.eye(r)) if L.any() else 0.0
        inverse_error = measured + gamma(chain(r) + r + 2) * norm(np.abs(inverse) @ np.abs(L))
        entry = kernel.prepare(samples).entry_error()
        factor_error = norm(matmul(L, L.T) - K) + gamma(chain(r)) * norm(L) ** 2 + r * entry
        return cls(kernel, samples, L, np.asfortranarray(inverse), inverse_error, factor_error)

    def extend(self, samples: Any) -> tuple["LandmarkFeatures", NDArray]:
        """With more landmarks, and the indices of those that join: L grows by the rows (M, N).

        MLᵀ = K_TS and NNᵀ = K_TT − MMᵀ, with pivots.
        """
        if not self.factor.any():
            fresh, order = self.from_samples(self.kernel, samples)
            return (fresh, order) if fresh.factor.any() else (self, order[:0])
        own, crossed = self.kernel(samples, samples), self.kernel(self.samples, samples)
        check_sums(own)
        check_sums(crossed)
        r = self.n_landmarks
        M = solve_triangular(self.factor, crossed, lower=True).T
        H = own - M @ M.T
        floor = _DEPENDENT * (r + len(own)) * np.finfo(float).eps * float(np.abs(own.diagonal()).max())
        N, order = _pivoted_factor(H, floor) if H.diagonal().max() > floor else (H, np.zeros(0, dtype=np.intp))
        if not len(order):
            return self, order
        L = np.block([[self.factor, np.zeros((r, len(order)))], [M[order], N]])
        both = concatenate_samples([self.samples, samples[order]])
        return self._from_factor(self.kernel, both, self.kernel(both, both), L), order

    @property
    def n_landmarks(self) -> int:
        return len(self.factor)

    @cached_property
    def prepared(self) -> PreparedKernel:
        """k(·, S), ready for tiles."""
        return self.kernel.prepare(self.samples)

    def transform(self, X: Any, n_threads: int = 1) -> NDArray:
        """Φ of some samples."""
        K = np.empty((X.shape[0], self.n_landmarks))
        fill_rows(self.prepared.against(X), slice(0, len(K)), K, n_threads)
        return self.solve(K, n_threads)

    def solve(self, K: NDArray, n_threads: int = 1) -> NDArray:
        """L⁻¹ times every row of K, in place."""
        with blas_threads_for_size(K.size * K.shape[1] / 2, n_threads):
            return np.asarray(blas.dtrmm(1.0, self.inverse, K.T, lower=1, overwrite_b=1).T)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "prepared"}


def _pivoted_factor(K: NDArray, floor: float) -> tuple[NDArray, NDArray]:
    """Cholesky factor with pivots above `floor`, and their order."""
    L, order, rank, _ = lapack.dpstrf(K, tol=floor, lower=1)
    return np.tril(L[:rank, :rank]), order[:rank].astype(np.intp) - 1


def fill_rows(prepared: PreparedKernel, rows: slice, out: NDArray, n_threads: int) -> None:
    """k(x, S) of some samples, by threads, strip by strip so that they stay in the cache."""

    def fill(piece: slice) -> None:
        for strip in slices(piece.stop - piece.start, _STRIP):
            first, last = piece.start + strip.start, piece.start + strip.stop
            prepared.fill(slice(rows.start + first, rows.start + last), slice(None), out[first:last])

    parallel(fill, slices(len(out), _PIECE), threads_for(20 * out.size, n_threads))


# ---------------------------------------------------------------------- moments


@storable
@dataclass(frozen=True, eq=False)
class Moments:
    """Sums over samples of weight w. With e = k(x, x) − ‖φ(x)‖², what the landmarks leave."""

    weight: float  # Σw
    mean: NDArray = field(repr=False)  # Σwφ/Σw
    scatter: NDArray = field(repr=False)  # Σw(φ − mean)(φ − mean)ᵀ
    diagonal: float  # Σw·k(x, x)
    left: float  # Σw·e
    roots: float  # bound on Σw·√e
    least: float  # smallest e/k(x, x): clearly negative only if the kernel is not positive semi-definite
    floor: float  # what rounding is likely to do to an eigenvalue or to `left`
    rounding: float  # bound on that

    def __add__(self, other: "Moments") -> "Moments":
        """Moments of the samples of both (Chan's rule)."""
        weight = self.weight + other.weight
        if not other.weight or not self.weight:
            return self if self.weight else other
        step = other.mean - self.mean
        row = np.sqrt(self.weight) * np.sqrt(other.weight / weight) * step
        diagonal = self.diagonal + other.diagonal
        return Moments(
            weight,
            self.mean + (other.weight / weight) * step,
            self.scatter + other.scatter + np.outer(row, row),
            diagonal,
            self.left + other.left,
            self.roots + other.roots,
            min(self.least, other.least),
            self.floor + other.floor,
            self.rounding + other.rounding + 16 * UNIT * diagonal,
        )

    def times(self, factor: float) -> "Moments":
        """For weights that are so many times as large."""
        names = ("weight", "scatter", "diagonal", "left", "roots", "floor", "rounding")
        return replace(self, **{name: factor * getattr(self, name) for name in names})

    def padded(self, n_landmarks: int) -> "Moments":
        """Over features with more coordinates, which are zero as far as is known."""
        more = (0, n_landmarks - len(self.mean))
        return replace(self, mean=np.pad(self.mean, more), scatter=np.pad(self.scatter, more))

    @property
    def variance(self) -> tuple[float, float]:
        """An interval for the sum of all eigenvalues of the centered kernel matrix, rounding aside."""
        most = self.diagonal - self.weight * float(self.mean @ self.mean)
        return most - self.roots * (self.roots / self.weight), most


def accumulate_moments(
    data: Dataset,
    weights: NDArray | None,
    features: LandmarkFeatures,
    sample: Any,
    n_threads: int,
    progress: Any = None,
) -> Moments:
    """The moments of all samples, in one pass: equal bits on any number of threads.

    A few samples show where the features are, and whether sums of kernel values are accurate enough; if the sums
    themselves show that they are not, the pass is repeated with features.
    """
    run = partial(data.reduce, _accumulate, features, weights=weights, combine=operator.add, progress=progress)
    plan = _SumPlan.from_sample(features, sample)
    moments: Moments = run(plan, n_threads)
    if plan.kernel_values and not moments.rounding <= 2 * _VISIBLE * moments.left:
        moments = run(_SumPlan(plan.origin, False), n_threads, progress=None)
    return moments


class _SumPlan(NamedTuple):
    """A point near the mean of k(S, x), and whether kernel values are added up instead of features."""

    origin: NDArray
    kernel_values: bool

    @classmethod
    def from_sample(cls, features: LandmarkFeatures, sample: Any) -> "_SumPlan":
        K = np.empty((sample.shape[0], features.n_landmarks))
        fill_rows(features.prepared.against(sample), slice(0, len(K)), K, 1)
        origin = K.mean(axis=0)
        if not features.kernel.psd:
            return cls(origin, False)
        sizes = np.abs(features.inverse) @ np.sqrt(np.mean((K - origin) ** 2, axis=0))
        moved = norm(np.abs(features.inverse) @ np.abs(origin))
        diagonal = np.asarray(features.kernel.diag(sample), dtype=np.float64)
        left = float(np.mean(np.maximum(diagonal - row_squares(features.solve(K)), 0.0)))
        solve = chain(len(origin), _SOLVE_SHORT)
        of_squares = gamma(_sum_chain(len(K) * _ROWS) + 2 * solve) * float(sizes @ sizes)
        rounding = 1.2 * of_squares + 2 * gamma(solve) * moved * float(np.sqrt(diagonal.mean()))
        return cls(origin, rounding <= _VISIBLE * left)


def _sum_chain(n: int) -> int:
    """Roundings behind an entry of the sum of n products."""
    return min(n, _SHORT) + 8192 // _SHORT + 12


def _accumulate(
    data: Dataset,
    weights: NDArray | None,
    features: LandmarkFeatures,
    plan: _SumPlan,
    n_threads: int,
    progress: Any = None,
) -> Moments:
    """The moments of one partition. Weights of any size are scaled to about one, by a power of two."""
    unit = 1.0 if weights is None else float(power_of_two(weights.mean()))
    sums = _Sums(features, plan)
    start, n = 0, len(data)
    for block in read_blocks(data, min(block_rows(data.shape[1]), 8192)):
        stop = start + block.shape[0]
        sums.add(block, None if weights is None else weights[start:stop] / unit, n_threads)
        start = stop
        if progress:
            progress(start / n)
    return sums.moments(n).times(unit)


class _Sums:
    """Sums of ψψᵀ, ψ, k(x, x), e and √e; ψ is φ(x) or k(S, x), from an origin near its mean."""

    def __init__(self, features: LandmarkFeatures, plan: _SumPlan) -> None:
        r = features.n_landmarks
        self.features, self.kernel_values = features, plan.kernel_values
        self.origin = plan.origin if plan.kernel_values else features.solve(plan.origin[None, :].copy())[0]
        self.square, self.scalars = CompensatedSum((r + 1, r + 1)), CompensatedSum((4,))  # the last row is Σwψ
        self.least, self.entry_error = np.inf, 0.0

    def add(self, block: Any, weights: NDArray | None, n_threads: int) -> None:
        if weights is not None and not weights.all():
            block, weights = block[weights > 0], weights[weights > 0]
        n, r = block.shape[0], len(self.origin)
        if not n:
            return
        prepared = self.features.prepared.against(block)
        self.entry_error = max(self.entry_error, prepared.entry_error())
        diagonal = np.asarray(self.features.kernel.diag(block), dtype=np.float64)
        buffer, features = np.empty((min(n, _ROWS), r + 1)), np.empty((0 if self.kernel_values else min(n, _ROWS), r))
        square, left = np.zeros((r + 1, r + 1), order="F"), np.zeros(n)
        for rows in slices(n, _ROWS):
            rows_and_root = buffer[: rows.stop - rows.start]
            Psi, root = rows_and_root[:, :r], rows_and_root[:, r]
            root[:] = 1.0 if weights is None else np.sqrt(weights[rows])
            if self.kernel_values:
                fill_rows(prepared, rows, Psi, n_threads)
                Psi -= self.origin
            else:
                Phi = features[: len(Psi)]
                fill_rows(prepared, rows, Phi, n_threads)
                Phi = self.features.solve(Phi, n_threads)
                left[rows] = diagonal[rows] - row_squares(Phi)
                np.subtract(Phi, self.origin, out=Psi)
            if weights is not None:
                Psi *= root[:, None]
            with blas_threads_for_size(Psi.size * r / 2, n_threads):
                for some in slices(len(Psi), _SHORT):
                    square = blas.dsyrk(1.0, rows_and_root[some].T, beta=1.0, c=square, overwrite_c=1, lower=1)
        self.square.add(square.T)
        w = np.ones(n) if weights is None else weights
        self.least = min(self.least, float((left / np.maximum(np.abs(diagonal), TINY)).min()))
        left = np.maximum(left, 0.0)
        self.scalars.add(np.array([w.sum(), (w * diagonal).sum(), (w * left).sum(), (w * np.sqrt(left)).sum()]))

    def moments(self, n: int) -> Moments:
        """Means and scatter of the features, with a bound on what rounding did."""
        sums, f = self.square.value(), self.features
        check_sums(sums)
        square, total = mirror_upper(np.ascontiguousarray(sums[:-1, :-1])), sums[:-1, -1].copy()
        weight, diagonal, left, roots = map(float, self.scalars.value())
        if not weight:
            return Moments(0.0, np.zeros(len(total)), square, 0.0, 0.0, 0.0, np.inf, 0.0, 0.0)
        sizes, steps = np.sqrt(np.maximum(square.diagonal(), 0.0)), np.abs(total) / np.sqrt(weight)
        mean = self.origin + total / weight
        square = square - np.outer(total, total / weight)
        solve, moved = 0, 0.0
        if self.kernel_values:
            solve, size = chain(len(total), _SOLVE_SHORT), np.abs(f.inverse)
            sizes, steps, moved = size @ sizes, size @ steps, norm(size @ np.abs(mean))
            mean = matmul(f.inverse, mean[:, None], short=_SOLVE_SHORT)[:, 0]
            square = matmul(f.inverse, matmul(square, f.inverse.T, short=_SOLVE_SHORT), short=_SOLVE_SHORT)
            square = (square + square.T) / 2
        of_sums = gamma(_sum_chain(n) + 2 * solve)
        of_squares = of_sums * (norm(sizes) ** 2 + 2 * norm(sizes) * norm(steps) + norm(steps) ** 2)
        mean_error = of_sums * norm(sizes) / np.sqrt(weight) + gamma(solve + 4) * (moved + norm(mean))
        if self.kernel_values:
            left = max(diagonal - float(square.trace()) - weight * float(mean @ mean), 0.0)
            roots = float(np.sqrt(weight * left))
        sums_error = of_squares + weight * mean_error * (2 * np.sqrt(diagonal / weight) + mean_error)
        m = Moments(weight, mean, square, diagonal, left, roots, self.least, 0.0, 0.0)
        return self._with_rounding(m, sums_error, n)

    def _with_rounding(self, m: Moments, sums: float, n: int) -> Moments:
        """Rounding of sums, of features, of entries and of the factor; see the top of the module."""
        f, r = self.features, len(m.mean)
        inverse_squares = float(np.vdot(f.inverse, f.inverse))
        second = m.scatter + m.weight * np.outer(m.mean, m.mean)
        squares = max(float(np.sum(f.inverse * (second @ f.inverse))), 0.0) + sums * inverse_squares  # ‖A‖²
        computed = (gamma(_sum_chain(n) + chain(r)) + 2 * f.inverse_error) * m.diagonal
        entries = self.entry_error * (2 * np.sqrt(r * m.weight * squares) + m.weight)
        factor = f.factor_error * squares
        likely = 2 * UNIT * (8 * m.diagonal + 2 * np.sqrt(r * squares / m.weight) * m.diagonal)
        likely += 2 * UNIT * r * m.diagonal / m.weight * squares
        underflow = m.weight * r * TINY
        rounding = max(sums + computed + entries + factor, likely) + underflow
        return replace(m, floor=float(likely + underflow), rounding=float(rounding))


# ---------------------------------------------------------------------- a set of landmarks that grows


class StretchedEnds(NamedTuple):
    """Bounds on the eigenvalues of AAᵀ + (1 − θ)B̃B̃ᵀ from below and of AAᵀ + (1 + θ)B̃B̃ᵀ from above, centered."""

    theta: float
    below: NDArray
    above: NDArray


@storable
@dataclass(frozen=True, eq=False)
class LandmarkState:
    """The landmarks, the moments of all samples so far, and bounds on what these do not contain."""

    features: LandmarkFeatures
    moments: Moments
    n_samples: int  # of positive weight
    n_given: int  # of any weight
    indices: NDArray | None  # of the landmarks among all samples; None if they were passed as samples
    n_settled: int  # leading coordinates that are known of every sample
    stale: float = 0.0  # Σw·e over the samples whose later coordinates are not known, rounding included
    stale_roots: float = 0.0  # and Σw·√e

    def extend(self, samples: Any, indices: NDArray) -> "LandmarkState":
        """With more landmarks, as far as they add anything; what is left of the samples so far is stale then."""
        features, order = self.features.extend(samples)
        if not len(order):
            return self
        kept = features.n_landmarks - len(order)
        m = self.moments
        if kept < len(m.mean):  # landmarks on which the kernel is zero were replaced
            m = replace(m, mean=m.mean[:kept], scatter=m.scatter[:kept, :kept])
        known = None if self.indices is None else np.append(self.indices[:kept], indices[order])
        return replace(
            self,
            features=features,
            moments=m.padded(features.n_landmarks),
            indices=known,
            n_settled=min(self.n_settled, kept),
            stale=m.left + m.rounding,
            stale_roots=m.roots + float(np.sqrt(m.weight * m.rounding)),
        )

    def add(self, moments: Moments, n_samples: int, n_given: int) -> "LandmarkState":
        """With another batch."""
        both = self.moments + moments
        return replace(self, moments=both, n_samples=self.n_samples + n_samples, n_given=self.n_given + n_given)

    @property
    def variance(self) -> tuple[float, float]:
        """An interval for the sum of all eigenvalues, Σw·k(x, x) − Σw·‖mean‖², rounding aside.

        The mean has coordinates a that are known of all samples, and b that are off by Δ, at most d = Σ√e/Σw over stale
        samples. Δ and what is outside of the coordinates are together at most s = Σ√e/Σw over all samples long, so
        a² + (|b| − d)₊² ≤ ‖mean‖² ≤ a² + b² + 2|b|d + s².
        """
        m = self.moments
        if not self.stale:
            return m.variance
        known, later = float(m.mean[: self.n_settled] @ m.mean[: self.n_settled]), norm(m.mean[self.n_settled :])
        off, outside = self.stale_roots / m.weight, m.roots / m.weight
        fewest = known + max(later - off, 0.0) ** 2
        most = known + later**2 + 2 * later * off + outside**2
        return m.diagonal - m.weight * most, m.diagonal - m.weight * fewest

    @property
    def seen(self) -> float:
        """Variance that the landmarks see for certain: ‖JB‖ ≥ ‖JB̃‖ − √stale along coordinates not known of all."""
        variances = self.moments.scatter.diagonal()
        later = max(float(variances[self.n_settled :].sum()), 0.0)
        return float(variances[: self.n_settled].sum()) + max(np.sqrt(later) - np.sqrt(self.stale), 0.0) ** 2

    def eigenpairs(self, k: int) -> tuple[NDArray, NDArray]:
        """The k largest eigenvalues of the scatter, none below zero, with their vectors."""
        pairs = leading_eigenpairs(self.moments.scatter, min(k, self.features.n_landmarks))
        return np.maximum(pairs.values, 0.0), pairs.vectors

    def stretched_ends(self, values: NDArray, V: NDArray, k: int) -> list[StretchedEnds]:
        """Between which the first k eigenvalues lie, for a few θ, from eigenpairs S = VΛVᵀ of the scatter.

        Let Vₗ be the rows of V that belong to later coordinates, P = Λ^½VₗᵀVₗΛ^½, and λ the last of Λ. From above,
        ΦΦᵀ + θB̃B̃ᵀ ⪯ U(Λ + 2θP)Uᵀ + (λ + 2θ‖B̃‖²)(I − UUᵀ) with U = ΦVΛ^(−½), without the factors 2 and the rest if all
        pairs are there. From below, any subspace gives Ritz values; and (1 ± θ)ΦΦᵀ bounds both.
        """
        if not self.stale:
            return []
        S, n_settled = self.moments.scatter, self.n_settled
        norm_later = float(np.abs(S[n_settled:, n_settled:]).sum(axis=1).max(initial=0.0))
        V, few = V[:, :_MOST_STRETCHED], values[:_MOST_STRETCHED]
        scaled = V[n_settled:] * np.sqrt(few)
        P = scaled.T @ scaled
        settled = V.copy()
        settled[n_settled:] = 0.0
        W = np.linalg.qr(np.hstack([V, settled]))[0]
        first = np.pad(values[:k], (0, max(0, k - len(values))))
        complete, ends = V.shape[1] == len(V), []
        for theta in _thetas(values[:k], self.stale):
            rest = 0.0 if complete else float(few[-1]) + 2 * theta * norm_later
            above = np.linalg.eigvalsh(np.diag(few) + (1 if complete else 2) * theta * P)
            above = np.sort(np.append(above, np.full(k, rest)))[::-1][:k]
            factors = np.ones(len(S))
            factors[n_settled:] = np.sqrt(1 - theta)
            scaled_W = factors[:, None] * W
            below = np.linalg.eigvalsh(scaled_W.T @ S @ scaled_W)[::-1][:k]
            below = np.pad(np.maximum(below, 0.0), (0, k - len(below)))
            below, above = np.maximum(below, (1 - theta) * first), np.minimum(above, (1 + theta) * first)
            ends.append(StretchedEnds(theta, below, above))
        return ends


def _thetas(values: NDArray, stale: float) -> list[float]:
    """Worth trying: about √(stale/λ), the best one for an eigenvalue λ, and 1."""
    if not len(values):
        return [1.0]
    ends = [np.sqrt(stale / max(float(value), stale)) for value in (values.max(), values.min())]
    low, high = np.clip(ends, 1e-8, 0.5)
    return [*map(float, np.unique(np.geomspace(low, high, _THETAS))), 1.0]
