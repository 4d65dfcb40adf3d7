"""Was an eigenvalue missed? The random start of a Krylov space, or random probes, bound everything that was not found.

**Start.** Let Ω be the Gaussian n x b start, Q a basis whose span contains it, H = QᵀAQ with pairs (θⱼ, yⱼ), R = AQ −
QH, pⱼ = ΩᵀQyⱼ. For every eigenpair (λ, v) of A, (λ − H)Qᵀv = Rᵀv, so

    Ωᵀv = Σⱼ pⱼ (Ryⱼ)ᵀv/(λ − θⱼ).                                                                   (1)

The left side is Gaussian: shorter than ε with a probability that falls like ε^b. Where the right side is shorter, A
has no eigenvalue λ: everywhere above the first Ritz values that have not converged, except close to converged ones.
An interval with r of these has at most r eigenvalues: of r + 1 eigenvectors, some unit combination v is orthogonal to
the r Ritz vectors. (1) holds for it without these r terms, up to the width of the interval; and Ωᵀv is at least as
long as the smallest singular value of an (r + 1) x b Gaussian matrix (Chen and Dongarra 2005; Halko, Martinsson and
Tropp 2011, proposition A.3).

**Probes.** Let P = I − UUᵀ and B = PAP. For Gaussian ω independent of U, ‖B‖ ≤ (10√(2/π)·max‖Bᵖω‖)^(1/p) but for a
probability of 10⁻¹⁰ with ten probes (Halko, Martinsson and Tropp, lemma 4.1). The products aₚ = Aᵖω do not depend on
U, so a solver can carry them along in its first passes. With AU = UΘ + R and eₚ = Bᵖω − Paₚ,

    Bᵖω = P(aₚ − R Uᵀaₚ₋₁) + B eₚ₋₁,   ‖eₚ‖ ≤ ‖R‖‖Uᵀaₚ₋₁‖ + ‖B‖‖eₚ₋₁‖,   e₀ = 0.

Where the spectrum falls so steeply that rounding in aₚ hides Bᵖω, fresh probes follow whose powers are deflated.
"""

from dataclasses import replace
from itertools import pairwise
from math import lgamma, log, pi
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mercer.linalg.eigen import Eigenpairs, Solver, deflate, rounding_floor
from mercer.linalg.operators import SymmetricOperator
from mercer.numerics.rounding import TINY, column_norms, norm

N_PROBES = 10
N_POWERS = 3
_FAILURE = 10.0**-N_PROBES  # probability that a bound does not hold
_MOST_ROUNDS = 5  # times that a missed eigenvalue may send the solver back
_LOG_FACTOR = float(np.log(10 * np.sqrt(2 / np.pi)))
_COUNTED = "all eigenvalues were computed or counted"
_BY_START = f"random start of the Krylov space, wrong once in {1 / _FAILURE:.0e} times"
_TERMS = 30  # of the series in powers of 1/3


def bound_by_start(
    start: NDArray, Q: NDArray, AQ: NDArray, H: NDArray, spectrum: tuple[NDArray, NDArray], k: int, product_error: float
) -> float:
    """A bound on all eigenvalues of A but the k largest, from the Gaussian start of a Krylov space; ∞ if there is none.

    It lies between the k-th and the next Ritz value, and requires that the first k have converged.
    """
    theta, Y = spectrum
    (n, m), b = Q.shape, start.shape[1]
    if not 0 < k < m or theta[k - 1] - theta[k] <= 1e-12 * abs(theta[0]):
        return np.inf
    X = Q.T @ start
    outside = norm(start - Q @ X)
    remainder = AQ - Q @ H
    sizes = column_norms(remainder)
    used = sizes > 1e-12 * max(abs(theta[0]), abs(theta[-1]))
    error = norm(sizes[~used]) + product_error * float(np.sqrt(m))
    if used.sum() > 4 * b or outside > 1e-3:  # a restart gave the start away
        return np.inf
    squares, V = np.linalg.eigh(remainder[:, used].T @ remainder[:, used])
    C = np.sqrt(np.maximum(squares, 0.0))[:, None] * (V.T @ Y[used])  # residuals of the Ritz pairs, in their span
    series = _Series(theta, X.T @ Y, C, k, error, outside)
    places = theta[k] + np.array([0.25, 0.5, 0.75]) * (theta[k - 1] - theta[k])
    return next((float(place) for place in places if series.excludes(float(place), n)), np.inf)


class _Series:
    """The right side of (1): the first k terms belong to converged Ritz pairs, the others to those below."""

    def __init__(self, theta: NDArray, P: NDArray, C: NDArray, k: int, error: float, outside: float) -> None:
        self.theta, self.P, self.C, self.k, self.error, self.outside = theta, P, C, k, error, outside
        self.p, self.c = column_norms(P), column_norms(C)

    def excludes(self, lowest: float, n: int) -> bool:
        """Whether no more than k eigenvalues are at least `lowest`."""
        b, largest = len(self.P), 1  # Ritz values in one interval
        while largest <= b - 4:
            epsilon = shortest_image(largest + 1, b, _FAILURE / (2 * b * n))  # any consecutive ones, any `largest`
            if self.outside > epsilon / 16 or self._below(lowest, epsilon / 4) > epsilon / 4:
                return False
            radii, runs = self._intervals(lowest, epsilon)
            if (self.theta[: self.k] - radii).min() <= lowest:
                return False
            found = max(stop - start for start, stop in runs)
            if found <= largest:
                return all(self._in_run(start, stop, radii) <= epsilon / 8 for start, stop in runs)
            largest = found
        return False

    def _intervals(self, lowest: float, epsilon: float) -> tuple[NDArray, list[tuple[int, int]]]:
        """Radii around the first k Ritz values outside of which their terms and rounding come to at most 9ε/16.

        Between two intervals these sums are convex, so they are largest at the ends.
        """
        k, theta, p = self.k, self.theta[: self.k], self.p[: self.k]
        radii = 4 * (self.c[:k] + self.error) * p / epsilon
        while True:
            runs = _runs(theta, radii)
            ends = [end for start, stop in runs for end in _ends(theta[start:stop], radii[start:stop])]
            distances = np.abs(np.array([lowest, *ends])[:, None] - theta)
            others = self.error * norm(self.p[k:] / (lowest - self.theta[k:]))
            rounding = self.error * np.sqrt(np.sum((p / distances) ** 2, axis=1)) + others
            if ((p * self.c[:k] / distances).sum(axis=1) + rounding <= 9 * epsilon / 16).all():
                return radii, runs
            if radii.max() > theta[-1] - lowest:
                return np.full(k, np.inf), runs
            radii = 2 * radii

    def _below(self, lowest: float, target: float) -> float:
        """The largest sum of the other terms for λ ≥ `lowest`, by Taylor series on intervals that double."""
        P, C = self.P[:, self.k :], self.C[:, self.k :]
        sizes, distances = self.p[self.k :] * self.c[self.k :], lowest - self.theta[self.k :]
        nearest, low, largest = float(distances.min()), 0.0, 0.0
        powers = np.arange(_TERMS)[:, None]
        while float((sizes / (distances + low)).sum()) > target and largest <= target:
            half = (nearest + low) / 2
            center = distances + low + half
            terms = (P * ((half / center) ** powers / center)[:, None]) @ C.T
            rest = 1.5 * 3.0**-_TERMS * float((sizes / center).sum())
            largest = max(largest, float(np.sqrt((terms**2).sum(axis=(1, 2))).sum()) + rest)
            low += nearest + low
        return largest

    def _in_run(self, start: int, stop: int, radii: NDArray) -> float:
        """What the width of an interval and rounding add, for combinations of its eigenvectors."""
        high, low = _ends(self.theta[start:stop], radii[start:stop])
        others = np.arange(len(self.theta)) < start
        others[stop:] = True
        scaled = self.P[:, others] / (self.theta[others] - (high + low) / 2)
        return float(np.linalg.norm(scaled, 2)) * ((high - low) / 2 * (1 + 1e-6) + self.error)


def _ends(values: NDArray, radii: NDArray) -> tuple[float, float]:
    """Ends of the union of intervals that overlap."""
    return float((values + radii).max()), float((values - radii).min())


def shortest_image(rows: int, columns: int, failure: float) -> float:
    """ε such that a Gaussian matrix has its smallest singular value below ε with at most this probability."""
    if rows == 1:
        return float(np.exp(log(2) / 2 + (log(failure) + lgamma(columns / 2 + 1)) / columns))
    more = columns - rows + 1
    return float(np.exp((log(failure) + log(2 * pi * more) / 2) / more - 1 - log(columns) / 2 + log(more)))


def _runs(values: NDArray, radii: NDArray) -> list[tuple[int, int]]:
    """Runs of values, largest first, whose intervals overlap."""
    lowest = np.minimum.accumulate(values - radii)
    apart = np.flatnonzero(lowest[:-1] > np.maximum.accumulate((values + radii)[::-1])[::-1][1:]) + 1
    edges = [0, *apart.tolist(), len(values)]
    return list(pairwise(edges))


# ---------------------------------------------------------------------- by random probes


class Probes:
    """Ω and AΩ, A²Ω, A³Ω, each divided by its size; with `U`, the powers of B instead."""

    def __init__(self, A: SymmetricOperator, rng: np.random.Generator, U: NDArray | None = None) -> None:
        self.U = U
        columns = A.project(rng.standard_normal((A.n, N_PROBES)))
        self.columns = [columns if U is None else deflate(columns, U)]
        self.log_sizes = [0.0]  # of Aᵖω = exp(log_size)·column

    @property
    def n_powers(self) -> int:
        return len(self.columns) - 1

    @property
    def wanted(self) -> bool:
        """Whether one more power is worth a product."""
        return self.n_powers < N_POWERS

    def multiply(self, A: SymmetricOperator, W: NDArray) -> NDArray:
        """A W, and on the way the next power of the probes."""
        if not self.wanted:
            return A.matmat(W)
        both = A.matmat(np.concatenate([W, self.columns[-1]], axis=1))
        self.add(both[:, W.shape[1] :])
        return both[:, : W.shape[1]]

    def add(self, products: NDArray) -> None:
        """The next power: A times the last columns."""
        products = products if self.U is None else deflate(products, self.U)
        size = float(column_norms(products).max()) or 1.0
        self.columns.append(products / size)
        self.log_sizes.append(self.log_sizes[-1] + float(np.log(size)))

    @property
    def steps(self) -> NDArray:
        """A times one of the columns, divided by the next one."""
        return np.exp(np.diff(self.log_sizes))


class Outside(NamedTuple):
    """‖B‖ ≤ `bound` but for chance; `seen` is a Ritz value of B and `direction` its vector."""

    bound: float
    seen: float
    direction: NDArray
    hidden_by_rounding: bool


def probe_outside(pairs: Eigenpairs, probes: Probes, product_error: float) -> Outside:
    """What the probes show of the spectrum outside the pairs."""
    U, R = pairs.vectors, pairs.products - pairs.vectors * pairs.values
    residual = pairs.residual_norm + pairs.product_error * np.sqrt(max(pairs.n_combined, U.shape[1]))
    bound, hidden, error = np.inf, False, 0.0
    chain = [deflate(probes.columns[0], U)]
    for p, step in enumerate(probes.steps, start=1):
        before = probes.columns[p - 1]
        inside = U.T @ before
        rounding = product_error * float(column_norms(before).max()) + rounding_floor(len(U), float(step))
        inherited = bound * error if error else 0.0
        chain.append(deflate(probes.columns[p] - R @ (inside / step), U))
        size, unsure = float(column_norms(chain[-1]).max()), (rounding + inherited) / step
        log_power = _LOG_FACTOR + probes.log_sizes[p] + float(np.log(max(size + unsure, TINY)))
        if log_power / p < np.log(bound):
            bound, hidden = float(np.exp(log_power / p)), unsure > size
        error = unsure + residual * float(column_norms(inside).max(initial=0.0)) / step
    _, seen, direction = _ritz(chain[:-1], chain[1:], probes.steps)
    return Outside(bound, seen, direction, hidden)


def _ritz(columns: list[NDArray], products: list[NDArray], steps: NDArray) -> tuple[float, float, NDArray]:
    """The smallest and the largest Ritz value of B in the span of S, with the vector of the largest; BS is step·P."""
    S, BS = (
        np.concatenate(columns, axis=1),
        np.concatenate([P * step for P, step in zip(products, steps, strict=True)], axis=1),
    )
    sizes = np.maximum(column_norms(S), TINY)
    S, BS = S / sizes, BS / sizes
    squares, V = np.linalg.eigh(S.T @ S)
    kept = squares > 1e-10 * squares[-1]
    T = V[:, kept] / np.sqrt(squares[kept])
    H = (S @ T).T @ (BS @ T)
    values, Y = np.linalg.eigh((H + H.T) / 2)
    return float(values[0]), float(values[-1]), S @ (T @ Y[:, -1:])


def exclude_missed(solver: Solver, A: SymmetricOperator, pairs: Eigenpairs, rng: Any) -> tuple[Eigenpairs, float, str]:
    """Bound every eigenvalue outside the pairs. One that is seen to be missing sends the solver back."""
    k = len(pairs.values)
    if pairs.complete:
        following = float(pairs.next_values[0]) if len(pairs.next_values) else 0.0
        return pairs, following + rounding_floor(A.n, pairs.norm) + pairs.product_error, _COUNTED
    for rounds in range(_MOST_ROUNDS + 1):
        if k and pairs.bound < pairs.values[-1]:
            return pairs, pairs.bound, pairs.evidence or _BY_START
        pairs, probes = _with_probes(A, pairs, rng)
        found = probe_outside(pairs, probes, A.product_error)
        if found.hidden_by_rounding and k and min(found.bound, bound_by_norm(A, pairs)) >= pairs.values[-1]:
            pairs, probes = _with_probes(A, replace(pairs, probes=Probes(A, rng(), pairs.vectors)), rng)
            deflated = probe_outside(pairs, probes, A.product_error)
            found = deflated if deflated.bound < found.bound else found
        missed = k and found.seen > pairs.values[-1] + pairs.residuals[-1] + 1e-8 * abs(pairs.values[-1])
        if not missed or not pairs.converged or rounds == _MOST_ROUNDS:
            break
        start = np.concatenate([pairs.vectors, found.direction], axis=1)
        again = solver.solve(A, k, rng, start=start)
        pairs = replace(again, n_passes=again.n_passes + pairs.n_passes, n_products=again.n_products + pairs.n_products)
    powers = (rounds + 1) * N_POWERS
    if k and found.bound >= pairs.values[-1]:
        by_norm = bound_by_norm(A, pairs)
        if by_norm < found.bound:
            return pairs, by_norm, "sum of all squared eigenvalues"
    chance = f"wrong once in {1 / (2 * powers * _FAILURE):.0e} times"
    return pairs, found.bound, f"{N_PROBES} random probes, powers up to {N_POWERS}, {chance}"


def bound_by_norm(A: SymmetricOperator, pairs: Eigenpairs) -> float:
    """λ² ≤ ‖A‖_F² − Σθᵢ² for every other eigenvalue of A, and for those of B. Sharp where the spectrum falls steeply.

    Ritz values that are not negative are at most the eigenvalues of their rank, and ‖A‖_F² ≥ Σθᵢ² + ‖B‖_F².
    """
    unit = float(np.abs(pairs.values).max(initial=0.0)) or 1.0
    norm = A.squared_norm(unit)
    if norm is None:
        return np.inf
    left = norm[0] - float(np.sum((pairs.values / unit) ** 2))
    return unit * float(np.sqrt(max(left, 0.0) + norm[1]))


def _with_probes(A: SymmetricOperator, pairs: Eigenpairs, rng: Any) -> tuple[Eigenpairs, Probes]:
    """The probes that the solver carried; powers that are missing are computed now."""
    probes = pairs.probes or Probes(A, rng(), pairs.vectors)
    missing = N_POWERS - probes.n_powers
    for _ in range(missing):
        probes.add(A.matmat(probes.columns[-1]))
    n_products = pairs.n_products + missing * N_PROBES
    return replace(pairs, probes=probes, n_passes=pairs.n_passes + missing, n_products=n_products), probes
