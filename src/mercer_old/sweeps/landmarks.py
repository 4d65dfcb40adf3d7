"""What a few rows, the landmarks, see of all others: a feature map, and its moments from one sweep over the rows."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import DTypeLike
from scipy.linalg import lapack, solve_triangular

from mercer_old.arrays import Array, Held
from mercer_old.blocks import THREAD_ROWS, cut, rows_at_a_time
from mercer_old.kernels.base import Kernel
from mercer_old.kernels.check import refuse_non_finite
from mercer_old.kernels.features import FeatureMap
from mercer_old.progress import OnPass
from mercer_old.rounding import SUM_ROUNDINGS, UNIT, UNIT_SINGLE, frobenius, gamma
from mercer_old.sources.items import Items
from mercer_old.sweeps.square import COLUMNS, add_square
from mercer_old.symmetric import UNDERFLOW
from mercer_old.threads import run

_DISTINCT = 1e-5  # what a landmark adds, against the mean of the diagonal: with less, single precision is noise
_WORTH_SINGLE = 20_000_000  # entries: with fewer, single precision saves no time worth the digits
_SINGLE_SCALE = 1e-8, 1e8  # of k(x, x)
_ROW_SUMS = ("diagonal", "left", "roots")  # of `Moments`


@dataclass(frozen=True)
class LandmarkMap(FeatureMap):
    """φ(x) = L⁻¹k(S, x) with K_SS = LLᵀ, so that φ(x)ᵀφ(y) = k(x, S)K_SS⁻¹k(S, y): the part of k that S can see.

    On rows, Φ = K_nS L⁻ᵀ, and K − ΦΦᵀ is positive semi-definite: ΦΦᵀ is never more than the truth.
    """

    kernel: Kernel
    rows: Held  # S, in the order of the pivots
    inverse: Array  # L⁻ᵀ (r×r), upper triangular
    own: Array  # L (r×r): the features of the landmarks themselves
    diagonal: float  # mean of k(s, s)
    inexact: float = (
        0.0  # how far features can be off, relative to their length, by the inverse and the product with it
    )

    @classmethod
    def of(cls, kernel: Kernel, rows: Held) -> tuple["LandmarkMap", Array]:
        """From rows of which some may depend on others; also which of them are left, most telling first."""
        K = kernel.block(rows, rows)
        refuse_non_finite(K, kernel)
        floor = 50 * len(K) * np.finfo(float).eps * np.abs(np.diag(K)).max()  # below it a pivot is rounding
        L, order, rank, _ = lapack.dpstrf(K, tol=floor, lower=1)
        if not rank:  # a kernel that is zero on these rows: one of them sees as little as all
            return cls(kernel, rows[:1], np.zeros((1, 1)), np.zeros((1, 1)), 0.0), np.zeros(1, dtype=int)
        order, L = order[:rank] - 1, np.tril(L[:rank, :rank])
        inverse = np.ascontiguousarray(solve_triangular(L, np.eye(rank), lower=True).T)
        return cls(kernel, rows[order], inverse, L, float(np.mean(np.diag(K))), how_inexact(inverse, L)), order

    @property
    def count(self) -> int:
        return len(self.own)

    def n_features(self) -> int:
        return self.count

    def single(self, n: int) -> bool:
        """Whether float32 will do: where there is much to do and every landmark adds more than its rounding."""
        least = float(np.min(np.diag(self.own)) ** 2)
        small, large = _SINGLE_SCALE
        in_reach = small <= self.diagonal <= large  # far from where float32 ends, squares of sums included
        return n * self.count >= _WORTH_SINGLE and least >= _DISTINCT * self.diagonal and in_reach

    def rounded(self, dtype: DTypeLike) -> "LandmarkMap":
        """The same map, for features of this precision. The solve that led to the inverse was in float64."""
        return replace(self, inverse=self.inverse.astype(dtype, copy=False))

    def features(self, X: Held) -> Array:
        """Φ of some rows, in the precision of the map."""
        dtype = self.inverse.dtype
        K = np.empty((X.shape[0], self.count), dtype=dtype if self.kernel.has_single(0.0) else np.float64)
        self.kernel.prepare(X, self.rows, dtype=K.dtype).fill(slice(None), slice(None), K)
        K, out = K.astype(dtype, copy=False), np.empty(K.shape, dtype=dtype)
        for columns in cut(self.count, COLUMNS):  # a triangle: half of the product is known to be zero
            np.matmul(K[:, : columns.stop], self.inverse[: columns.stop, columns], out=out[:, columns])
        return out


@dataclass(frozen=True)
class Moments:
    """Sums over rows of weight w, with ψ = φ(x) − origin and e = k(x, x) − ‖φ(x)‖², what the landmarks do not see."""

    origin: Array
    weight: float  # Σw
    total: Array  # Σwψ (r,)
    square: Array  # Σwψψᵀ (r×r)
    diagonal: float  # Σw·k(x, x)
    left: float  # Σw·e
    roots: float  # Σw·√e
    least: float  # the smallest e/k(x, x): clearly negative only if the kernel is not positive semi-definite
    floor: float  # what rounding is likely to do to eigenvalues and to `left` …
    rounding: float  # … and what it can do

    @property
    def mean(self) -> Array:
        """Σwφ/Σw."""
        return self.origin + self.total / self.weight

    @property
    def scatter(self) -> Array:
        """Σw(φ − mean)(φ − mean)ᵀ."""
        return self.square - np.outer(self.total, self.total / self.weight)

    @property
    def variance(self) -> tuple[float, float]:
        """An interval for tr(PSKSP), the sum of all eigenvalues of the centred matrix."""
        most = self.diagonal - self.weight * float(self.mean @ self.mean)
        return most - self.roots * (self.roots / self.weight), most

    def moved_to(self, origin: Array) -> "Moments":
        """The same sums from another origin, nearby."""
        by = origin - self.origin
        crossed = np.outer(self.total, by)
        square = self.square - crossed - crossed.T + self.weight * np.outer(by, by)
        return replace(self, origin=origin, total=self.total - self.weight * by, square=square)

    def in_units_of(self, weight: float) -> "Moments":
        """The same for weights that are so many times as large."""
        grown = ("weight", "total", "square", "diagonal", "left", "roots", "floor", "rounding")
        return replace(self, **{name: weight * getattr(self, name) for name in grown})


def sweep_moments(
    features: LandmarkMap,
    rows: Items,
    weights: Array | None,
    threads: int,
    on_pass: OnPass = None,
    origin: Array | None = None,
) -> Moments:
    """The moments of all rows of a source, block by block, from an origin among the features (None: the landmarks').

    Threads share the rows of a block while its features are made, and the tiles of the r×r sum afterwards: whoever
    computes what, the sums are the same to the last bit. Rows that lie in chunks are summed up where they lie.
    """
    n, size = len(rows), rows_at_a_time(features.count, rows.width)
    dtype = np.float32 if features.single(n) else np.float64
    unit = 1.0 if weights is None else float(weights.mean())  # weights of any size are sums of about n
    features, asked = features.rounded(dtype), origin
    origin = (features.features(features.rows).mean(axis=0) if asked is None else asked.astype(dtype)).astype(float)
    weights, chunks = None if weights is None else weights / unit, rows.chunks
    if chunks is None:
        moments, entry = _sum_moments(rows, weights, features, origin, threads, on_pass)
    else:
        work = partial(_moments_of_chunk, chunks.engine.threads(threads))
        own = chunks.dealt(weights)
        moments, entry = chunks.summed(work, _merged, own, features, origin, on_pass=on_pass)
    moments = moments if asked is None else moments.moved_to(asked)
    more = 0 if chunks is None else len(chunks.counts)
    chain = THREAD_ROWS + -(-n // THREAD_ROWS) + -(-n // size) + more + SUM_ROUNDINGS
    return _with_rounding(moments, features, dtype, entry, chain).in_units_of(unit)


def _moments_of_chunk(
    threads: int, rows: Items, weights: Array | None, features: LandmarkMap, origin: Array
) -> tuple[Moments, float]:
    return _sum_moments(rows, weights, features, origin, threads)


def _merged(one: tuple[Moments, float], other: tuple[Moments, float]) -> tuple[Moments, float]:
    """Of the rows of both."""
    (a, entry), (b, its_entry) = one, other
    summed = {name: getattr(a, name) + getattr(b, name) for name in ("weight", "total", "square", *_ROW_SUMS)}
    return replace(a, **summed, least=min(a.least, b.least)), max(entry, its_entry)


def _sum_moments(
    rows: Items, weights: Array | None, features: LandmarkMap, origin: Array, threads: int, on_pass: OnPass = None
) -> tuple[Moments, float]:
    """Before anybody looks at what rounding did; also the largest error of an entry k(x, y)."""
    n, r, size, dtype = len(rows), features.count, rows_at_a_time(features.count, rows.width), features.inverse.dtype
    total, square, sums, least, entry, start = np.zeros(r), np.zeros((r, r)), np.zeros(4), np.inf, 0.0, 0
    buffer = np.empty((min(size, n), r), dtype=dtype)
    for block in rows.blocks(size):
        stop = start + block.shape[0]
        w = np.ones(stop - start) if weights is None else weights[start:stop]
        Psi = buffer[: stop - start]
        whole, rest = _fill_moved(Psi, features, block, origin, threads)
        least = min(least, float(np.min(rest / np.maximum(np.abs(whole), np.finfo(float).tiny))))
        np.maximum(rest, 0.0, out=rest)
        entry = max(entry, features.kernel.entry_rounding(block, features.rows, dtype))
        sums += w.sum(), (w * whole).sum(), (w * rest).sum(), (w * np.sqrt(rest)).sum()
        root: Array = np.sqrt(w).astype(dtype)
        if weights is not None:
            Psi *= root[:, None]
        for some in cut(len(Psi), THREAD_ROWS):  # short sums first
            total += root[some] @ Psi[some]
            add_square(square, Psi[some], threads)
        start = stop
        if on_pass:
            on_pass(start / n)
    mirror = np.triu_indices(r, 1)
    square[mirror[::-1]] = square[mirror]
    weight, diagonal, left, roots = map(float, sums)
    return Moments(origin, weight, total, square, diagonal, left, roots, least, 0.0, 0.0), entry


def how_inexact(inverse: Array, L: Array) -> float:
    """φ̂ = X·k with X ≈ L⁻¹ and k = Lφ is off by (XL − I)φ, which is measured, and by the rounding of both products."""
    X = inverse.T
    off = frobenius(X @ L - np.eye(len(L)))
    return off + 2 * gamma(len(L) + 2) * frobenius(np.abs(X) @ np.abs(L))


def _with_rounding(moments: Moments, features: LandmarkMap, dtype: DTypeLike, entry: float, chain: int) -> Moments:
    """How far rounding moves eigenvalues and `left`: from the largest error of an entry k(x, y), and of sums over rows.

    ‖φ(x)‖² = k(S, x)ᵀα with α = K_SS⁻¹k(S, x). Errors δ in k(S, x) and Δ in K_SS change it by 2αᵀδ − αᵀΔα, so what
    counts is Σw‖α‖² = tr(L⁻ᵀ M L⁻¹) with M = Σwφφᵀ: it grows as landmarks come to depend on each other. Δ has the
    errors of the entries and of Cholesky.
    """
    r, W, diagonal = features.count, moments.weight, moments.diagonal
    crossed = np.outer(moments.origin, moments.total)
    M = moments.square + crossed + crossed.T + W * np.outer(moments.origin, moments.origin)
    alphas = max(float(np.sum((features.inverse.astype(np.float64) @ M) * features.inverse)), 0.0)
    # In single precision errors are taken to be of random sign: m of them are off by √m, with room of 4.
    double = dtype == np.float64
    unit = 0.0 if double else 4 * np.sqrt(THREAD_ROWS + r) * UNIT_SINGLE
    entries = 2 * entry * np.sqrt((r if double else 1) * W * alphas)
    sums = 2 * (gamma(chain + r) + unit + features.inexact) * diagonal + entry * W
    exact = features.kernel.entry_rounding(features.rows, features.rows)  # K_SS is in double precision always
    cholesky = (r * exact + gamma(r + 1) * frobenius(features.own) ** 2) * alphas
    eps = 2 * (UNIT if double else UNIT_SINGLE)
    likely = eps * (8 * diagonal + 2 * np.sqrt(alphas / W * (r if double else 1)) * diagonal)
    likely += 2 * UNIT * r * diagonal / W * alphas
    underflow = W * r * UNDERFLOW
    rounding = max(sums + entries + cholesky, likely) + underflow
    return replace(moments, floor=float(likely + underflow), rounding=float(rounding))


def _fill_moved(out: Array, features: LandmarkMap, X: Held, origin: Array, threads: int) -> tuple[Array, Array]:
    """φ(x) − origin of every row into `out`; also k(x, x) and what is left of it."""
    diagonal = np.asarray(features.kernel.diag(X), dtype=np.float64)
    left, moved = diagonal.copy(), origin.astype(out.dtype)

    def work(piece: slice) -> None:
        Phi = features.features(X[piece])
        left[piece] -= np.einsum("ij,ij->i", Phi, Phi)
        np.subtract(Phi, moved, out=out[piece])

    run(work, cut(len(out), THREAD_ROWS), threads)
    return diagonal, left
