"""Was an eigenvalue missed? What random probes say about the rest of the spectrum.

U holds the pairs found. B = (I − UUᵀ)A(I − UUᵀ) is what A does to everything else, and no missed eigenvalue exceeds
‖B‖. Fresh Gaussian probes, independent of U, bound it from above; the Krylov space they span shows what can be seen.
"""

from dataclasses import dataclass, replace

import numpy as np

from mercer_old.arrays import Array
from mercer_old.errors import counted
from mercer_old.rounding import TINY, lengths
from mercer_old.solvers.base import Eigenpairs, Solver, rounding_floor
from mercer_old.symmetric import Measured, SymmetricOperator

PROBES, _PASSES = 10, 3
_OPTIMISM = 2.0  # the bound of three passes is hardly ever nearer than this factor to what the probes have seen
_FAILURE = 10.0**-PROBES  # chance that the bound of one pass is wrong
_MOST_ROUNDS = 5  # how often a missed eigenvalue may send the solver back


@dataclass(frozen=True)
class Rest:
    """The spectrum outside the found pairs: ‖B‖ ≤ `upper` (but for FAILURE), and B has an eigenvalue ≥ `seen`."""

    upper: float
    seen: float
    direction: Array  # n×1, the Rayleigh quotient of which is `seen`
    passes: int


def probes_in_words(passes: int) -> str:
    """How sure the bound is after so many passes, each of which might have been the wrong one."""
    return f"{PROBES} random probes, {counted(passes, 'pass')}, wrong once in {1 / (passes * _FAILURE):.0e} times"


def explore(
    op: SymmetricOperator, U: Array, rng: np.random.Generator, enough: float | None = None, known: float = 0.0
) -> Rest:
    """Three passes with ten probes each; fewer once the bound is below `enough`, or cannot get there.

    `known` is an eigenvalue that is already known to be left, or less.

    ‖B‖ ≤ (10√(2/π)·max‖Bᵖω‖)^(1/p) for p = 1, 2, 3, each but for 10⁻¹⁰ (Halko, Martinsson and Tropp 2011, lemma 4.1).
    A product is off by no more than `product_rounding` of its column's length, and a column by what it inherits: `off`.
    """

    def deflate(V: Array) -> Array:
        V = op.project(V)
        for _ in range(2):
            V = V - U @ (U.T @ V)
        return V

    chain, products = [deflate(rng.standard_normal((op.n, PROBES)))], list[Array]()
    log_size, off, upper, seen, direction = 0.0, 0.0, np.inf, 0.0, chain[0][:, :1]
    while len(products) < _PASSES:
        products.append(deflate(op.matmat(chain[-1])))
        size = float(lengths(products[-1]).max())
        rounding = op.product_rounding * float(lengths(chain[-1]).max()) + (upper * off if off else 0.0)
        upper = min(upper, _bound(log_size, size + rounding, len(products)))
        if size == 0.0:  # nothing is left, but for rounding
            break
        seen, direction = _rayleigh_ritz(np.concatenate(chain, axis=1), np.concatenate(products, axis=1))
        chain.append(products[-1] / size)
        log_size, off = log_size + np.log(size), rounding / size
        if enough is not None and (upper < enough or (len(products) > 1 and _OPTIMISM * max(seen, known) > enough)):
            break
    return Rest(upper, seen, direction, len(products))


def explore_by_products(U: Array, AU: Array, probes: Array, products: Array, rounding: float = 0.0) -> Rest:
    """The first pass of `explore` from products that are already there: BΩ = (I − UUᵀ)(AΩ − AU·UᵀΩ).

    A product with a unit vector is off by no more than `rounding`.
    """

    def deflate(V: Array) -> Array:
        for _ in range(2):
            V = V - U @ (U.T @ V)
        return V

    V = deflate(products - AU @ (U.T @ probes))
    size = float(lengths(V).max()) + 2 * rounding * float(lengths(probes).max())
    seen, direction = _rayleigh_ritz(deflate(probes), V)
    return Rest(_bound(0.0, size, 1), seen, direction, 1)


def _bound(log_before: float, size: float, passes: int) -> float:
    """(10√(2/π)·max‖Bᵖω‖)^(1/p), by logarithms, as powers of large and small numbers are none."""
    if size == 0.0:
        return 0.0
    return float(np.exp((np.log(10 * np.sqrt(2 / np.pi)) + log_before + np.log(size)) / passes))


def _rayleigh_ritz(S: Array, BS: Array) -> tuple[float, Array]:
    """The largest Ritz value of B in the span of S, with its vector, from the products BS that are already there."""
    sizes = np.maximum(lengths(S), TINY)
    S, BS = S / sizes, BS / sizes
    squares, V = np.linalg.eigh(S.T @ S)
    T = V[:, squares > 1e-10 * squares[-1]]
    T = T / np.sqrt(squares[squares > 1e-10 * squares[-1]])
    H = (S @ T).T @ (BS @ T)
    values, Y = np.linalg.eigh((H + H.T) / 2)
    return float(values[-1]), S @ (T @ Y[:, -1:])


def rule_out_missed(
    solver: Solver, matrix: Measured, pairs: Eigenpairs, rng: np.random.Generator
) -> tuple[Eigenpairs, float, str]:
    """Λ, a bound on every eigenvalue outside the found pairs; a missed one that shows itself sends the solver back."""
    k = len(pairs)
    if pairs.complete:
        beyond = float(pairs.beyond[0]) if len(pairs.beyond) else 0.0
        formed = pairs.product_rounding  # a matrix made dense for LAPACK has means in it, which are such products
        return pairs, beyond + rounding_floor(matrix.n, pairs.size) + formed, "all eigenvalues were computed or counted"
    if np.isfinite(pairs.rest):
        return pairs, pairs.rest, pairs.level
    probing = 0
    for rounds in range(_MOST_ROUNDS + 1):
        rest, pairs = _look_beyond(matrix, pairs, rng)
        probing += rest.passes
        hidden = k and rest.seen > pairs.values[-1] + pairs.residuals[-1] + 1e-8 * abs(pairs.values[-1])
        if not hidden or not pairs.converged or rounds == _MOST_ROUNDS:
            break
        again = solver.solve(matrix, k, rng, np.concatenate([pairs.vectors, rest.direction], axis=1))
        passes, columns = again.passes + pairs.passes, again.columns + pairs.columns
        pairs = replace(again, bound=pairs.bound, passes=passes, columns=columns)
    bounds = {probes_in_words(probing): rest.upper, "what the pivots leave of the trace": bound_by_pivots(pairs)}
    if k and min(bounds.values()) >= pairs.values[-1]:  # it may read the whole matrix once more
        bounds["sum of all squared eigenvalues"] = bound_by_norm(matrix, pairs)
    level = min(bounds, key=lambda words: bounds[words])
    return pairs, bounds[level], level


def _look_beyond(matrix: Measured, pairs: Eigenpairs, rng: np.random.Generator) -> tuple[Rest, Eigenpairs]:
    """What probes say about the rest of the spectrum: those the solver brought along, else fresh ones."""
    if pairs.probes is not None and pairs.probed is not None:
        noise = pairs.product_noise
        return explore_by_products(pairs.vectors, pairs.products, pairs.probes, pairs.probed, noise), pairs
    enough = float(pairs.values[-1]) if len(pairs) else None
    rest = explore(matrix, pairs.vectors, rng, enough, known=float(pairs.beyond.max(initial=0.0)))
    return rest, replace(pairs, passes=pairs.passes + rest.passes, columns=pairs.columns + rest.passes * PROBES)


def bound_by_pivots(pairs: Eigenpairs) -> float:
    """From λ_{k+1}(A) ≤ β to what is outside the found pairs: β + ‖R‖, if they are the k largest beyond doubt.

    k eigenvalues of A lie within ‖R‖ of the θᵢ. If all of those exceed β they are the k largest, and nothing else can
    be larger than β + ‖R‖. If not, an unfound eigenvalue may be among the k largest, and β says nothing about it.
    """
    size = pairs.residual_size
    sure = len(pairs) and pairs.values[-1] - size > pairs.bound
    return pairs.bound + size if sure else float("inf")


def bound_by_norm(matrix: Measured, pairs: Eigenpairs) -> float:
    """λ² ≤ ‖A‖_F² − Σθᵢ² for every other eigenvalue, if the norm can be had."""
    unit = float(np.abs(pairs.values).max(initial=0.0)) or 1.0
    norm = matrix.squared_norm(unit)
    if norm is None:
        return float("inf")
    left = norm[0] - np.sum((pairs.values / unit) ** 2) - 2 * np.sum((pairs.residuals / unit) ** 2)
    return unit * float(np.sqrt(max(left, 0.0) + norm[1]))
