"""Was an eigenvalue missed? Random probes bound everything outside the computed pairs.

Let P = I − UUᵀ and B = PAP. For Gaussian ω independent of U, ‖B‖ ≤ (10√(2/π)·max‖Bᵖω‖)^(1/p) but for a
probability of 10⁻¹⁰ with ten probes (Halko, Martinsson and Tropp 2011, lemma 4.1). The products aₚ = Aᵖω do
not depend on U, so a solver carries them along in its first passes. With AU = UΘ + R and eₚ = Bᵖω − Paₚ,

    Bᵖω = P(aₚ − R Uᵀaₚ₋₁) + B eₚ₋₁,   ‖eₚ‖ ≤ ‖R‖‖Uᵀaₚ₋₁‖ + ‖B‖‖eₚ₋₁‖,   e₀ = 0.

Where the spectrum falls so steeply that rounding in aₚ hides Bᵖω, fresh probes follow whose powers are
deflated.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mercer.linalg.eigen import Eigenpairs, Solver, rounding_floor
from mercer.linalg.operators import SymmetricOperator
from mercer.numerics.rounding import TINY, column_norms

N_PROBES = 10
N_POWERS = 3
_FAILURE = 10.0**-N_PROBES  # probability that the bound of one power does not hold
_MOST_ROUNDS = 5  # times that a missed eigenvalue may send the solver back
_LOG_FACTOR = float(np.log(10 * np.sqrt(2 / np.pi)))


class Probes:
    """Ω and AΩ, A²Ω, A³Ω, each divided by its size; with `U`, the powers of B instead."""

    def __init__(self, A: SymmetricOperator, rng: np.random.Generator, U: NDArray | None = None) -> None:
        self.U = U
        columns = A.project(rng.standard_normal((A.n, N_PROBES)))
        self.columns = [columns if U is None else _deflate(columns, U)]
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
        products = products if self.U is None else _deflate(products, self.U)
        size = float(column_norms(products).max()) or 1.0
        self.columns.append(products / size)
        self.log_sizes.append(self.log_sizes[-1] + float(np.log(size)))


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
    steps = np.exp(np.diff(probes.log_sizes))
    bound, hidden, error = np.inf, False, 0.0
    chain = [_deflate(probes.columns[0], U)]
    for p, step in enumerate(steps, start=1):
        before = probes.columns[p - 1]
        inside = U.T @ before
        rounding = product_error * float(column_norms(before).max()) + rounding_floor(len(U), float(step))
        inherited = bound * error if error else 0.0
        chain.append(_deflate(probes.columns[p] - R @ (inside / step), U))
        size, unsure = float(column_norms(chain[-1]).max()), (rounding + inherited) / step
        log_power = _LOG_FACTOR + probes.log_sizes[p] + float(np.log(max(size + unsure, TINY)))
        if log_power / p < np.log(bound):
            bound, hidden = float(np.exp(log_power / p)), unsure > size
        error = unsure + residual * float(column_norms(inside).max(initial=0.0)) / step
    products = [column * step for column, step in zip(chain[1:], steps, strict=True)]
    seen, direction = _rayleigh_ritz(np.concatenate(chain[:-1], axis=1), np.concatenate(products, axis=1))
    return Outside(bound, seen, direction, hidden)


def _deflate(V: NDArray, U: NDArray) -> NDArray:
    """The part of V orthogonal to U; twice, as the first is off by rounding."""
    V = V - U @ (U.T @ V)
    return V - U @ (U.T @ V)


def _rayleigh_ritz(S: NDArray, BS: NDArray) -> tuple[float, NDArray]:
    """The largest Ritz value of B in the span of S, with its vector, from the products BS."""
    sizes = np.maximum(column_norms(S), TINY)
    S, BS = S / sizes, BS / sizes
    squares, V = np.linalg.eigh(S.T @ S)
    kept = squares > 1e-10 * squares[-1]
    T = V[:, kept] / np.sqrt(squares[kept])
    H = (S @ T).T @ (BS @ T)
    values, Y = np.linalg.eigh((H + H.T) / 2)
    return float(values[-1]), S @ (T @ Y[:, -1:])


def exclude_missed(solver: Solver, A: SymmetricOperator, pairs: Eigenpairs, rng: Any) -> tuple[Eigenpairs, float, str]:
    """Bound every eigenvalue outside the pairs. One that is seen to be missing sends the solver back."""
    k = len(pairs.values)
    if pairs.complete:
        following = float(pairs.next_values[0]) if len(pairs.next_values) else 0.0
        return (
            pairs,
            following + rounding_floor(A.n, pairs.norm) + pairs.product_error,
            "all eigenvalues were computed or counted",
        )
    for rounds in range(_MOST_ROUNDS + 1):
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
    """λ² ≤ ‖A‖_F² − Σθᵢ² + 2Σρᵢ² for every other eigenvalue. Sharp where the spectrum falls steeply."""
    unit = float(np.abs(pairs.values).max(initial=0.0)) or 1.0
    norm = A.squared_norm(unit)
    if norm is None:
        return np.inf
    left = norm[0] - float(np.sum((pairs.values / unit) ** 2)) + 2 * float(np.sum((pairs.residuals / unit) ** 2))
    return unit * float(np.sqrt(max(left, 0.0) + norm[1]))


def _with_probes(A: SymmetricOperator, pairs: Eigenpairs, rng: Any) -> tuple[Eigenpairs, Probes]:
    """The probes that the solver carried; powers that are missing are computed now."""
    probes = pairs.probes or Probes(A, rng())
    missing = N_POWERS - probes.n_powers
    for _ in range(missing):
        probes.add(A.matmat(probes.columns[-1]))
    n_products = pairs.n_products + missing * N_PROBES
    return replace(pairs, probes=probes, n_passes=pairs.n_passes + missing, n_products=n_products), probes
