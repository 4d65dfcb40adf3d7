"""From a centred matrix to a settled, certified spectrum."""

from contextlib import nullcontext
from dataclasses import dataclass, field, replace

import numpy as np

from mercer.operators.centering import Centered
from mercer.solvers.base import Eigenpairs, clean_spectrum, rounding_floor, settle
from mercer.solvers.certificate import Certificate, certify
from mercer.solvers.completeness import FAILURE, PASSES, PROBES, explore
from mercer.solvers.dense import Dense
from mercer.solvers.factored import Factored
from mercer.solvers.krylov import BlockKrylov
from mercer.solvers.plan import DEFAULT_TOL, Plan
from mercer.symmetric import Array
from mercer.threads import one_blas_thread

FIRST_GUESS = 10  # components to begin with when a share of the variance is asked for
MOST_ROUNDS = 5  # how often a missed eigenvalue may send the solver back


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues, vectors and scores of the training rows after all conventions, with their certificate."""

    values: Array
    vectors: Array
    scores: Array
    certificate: Certificate
    indefinite: bool
    warnings: list[str] = field(default_factory=list)


def find_spectrum(
    plan: Plan, matrix: Centered, wanted: int | float, rng: np.random.Generator, by_modulus: bool = False
) -> Spectrum:
    """The leading components: so many, or as many as explain a share of the trace."""
    with one_blas_thread() if isinstance(plan.solver, BlockKrylov) else nullcontext():
        return _find_spectrum(plan, matrix, wanted, rng, by_modulus)


def _find_spectrum(
    plan: Plan, matrix: Centered, wanted: int | float, rng: np.random.Generator, by_modulus: bool
) -> Spectrum:
    pairs = (
        grow_to_share(plan, matrix, wanted, rng)
        if isinstance(wanted, float)
        else plan.solver.solve(matrix, wanted, rng)
    )
    pairs, bound, level = rule_out_missed(plan, matrix, pairs, rng)
    certificate = certify(pairs, tol=getattr(plan.solver, "tol", DEFAULT_TOL), bound=bound, level=level)
    top = max(float(pairs.values[0]), 0.0) if len(pairs) else 0.0
    if by_modulus and len(pairs) and -pairs.lowest > pairs.values[-1]:
        clean_spectrum(np.append(pairs.values, pairs.lowest))  # as scikit-learn's randomized solver: it takes |λ|
    indefinite = bool(pairs.lowest < -max(1e-5 * top, 1e-10))
    noise = noise_level(matrix)
    found = np.where(np.abs(pairs.values) <= noise, 0.0, pairs.values)
    values, vectors = settle(
        found, pairs.vectors, by=None if matrix.root is None else pairs.vectors / matrix.root[:, None]
    )
    signs = np.sign(np.sum(vectors * pairs.vectors, axis=0))
    return Spectrum(
        values=values,
        vectors=vectors,
        scores=matrix.training_scores(values, pairs.products * signs),
        certificate=certificate,
        indefinite=indefinite,
        warnings=list(observations(matrix, values, certificate, pairs, indefinite)),
    )


def grow_to_share(plan: Plan, matrix: Centered, share: float, rng: np.random.Generator) -> Eigenpairs:
    """More and more components, each time from those at hand, until they explain the share."""
    k, start, solver = min(FIRST_GUESS, matrix.n), None, plan.solver
    while True:
        pairs = solver.solve(matrix, k, rng, start)
        explained = np.cumsum(np.maximum(pairs.values, 0.0)) / max(matrix.trace, np.finfo(float).tiny)
        reached = np.flatnonzero(explained >= share - 1e-12)
        if len(reached) or k == matrix.n:
            return first(pairs, int(reached[0]) + 1 if len(reached) else k)
        k, start = min(2 * k, matrix.n), pairs.vectors
        if 10 * k > matrix.n:  # so many that LAPACK is faster: all of them at once
            k, solver = matrix.n, Dense() if not isinstance(solver, Factored) else solver


def first(pairs: Eigenpairs, k: int) -> Eigenpairs:
    """The first k of them; the rest shows what lies beyond."""
    return replace(
        pairs,
        values=pairs.values[:k],
        vectors=pairs.vectors[:, :k],
        residuals=pairs.residuals[:k],
        products=pairs.products[:, :k],
        beyond=np.append(pairs.values[k:], pairs.beyond),
        beyond_residuals=np.append(pairs.residuals[k:], pairs.beyond_residuals),
    )


def rule_out_missed(
    plan: Plan, matrix: Centered, pairs: Eigenpairs, rng: np.random.Generator
) -> tuple[Eigenpairs, float, str]:
    """Λ, a bound on every eigenvalue outside the found pairs; a missed one that shows itself sends the solver back."""
    k = len(pairs)
    if pairs.complete:
        beyond = float(pairs.beyond[0]) if len(pairs.beyond) else 0.0
        return (
            pairs,
            beyond + rounding_floor(matrix.n, np.abs(pairs.values).max(initial=0.0)),
            "eigenvalues counted by LAPACK",
        )
    for _ in range(MOST_ROUNDS):
        rest = explore(matrix, pairs.vectors, rng, enough=float(pairs.values[-1]))
        slack = pairs.residuals.max(initial=0.0) + 1e-8 * abs(pairs.values[-1])
        if rest.seen <= pairs.values[-1] + slack:
            break
        start = np.concatenate([pairs.vectors, rest.direction], axis=1)
        again = plan.solver.solve(matrix, k, rng, start)
        pairs = replace(again, columns=again.columns + pairs.columns, passes=again.passes + pairs.passes)
    bound, level = rest.upper, f"{PROBES} random probes, {PASSES} passes, wrong once in {1 / FAILURE:.0e} times"
    squares = matrix.squared_norm() if bound >= pairs.values[-1] else None  # it reads the whole matrix once more
    if squares is not None:
        left = squares - np.sum(pairs.values**2) - 2 * np.sum(pairs.residuals**2)
        by_norm = float(np.sqrt(max(left, 0.0) + 50 * np.finfo(float).eps * np.sqrt(matrix.n) * squares))
        if by_norm < bound:
            bound, level = by_norm, "sum of all squared eigenvalues"
    return pairs, bound, level


def noise_level(matrix: Centered) -> float:
    """Eigenvalues up to this are rounding in the entries of K: what is constant to the kernel stays constant."""
    if hasattr(
        matrix.base, "origin"
    ):  # features, moved to their mean: only the rounding of the data themselves is left
        return 16 * np.finfo(float).eps ** 2 * float(np.sum(matrix.base.diag()))
    size = abs(matrix.mean) + float(np.abs(matrix.base.shifted_diag()).max(initial=0.0))
    return 4 * np.finfo(float).eps * matrix.n * size


def observations(
    matrix: Centered, values: Array, certificate: Certificate, pairs: Eigenpairs, indefinite: bool
) -> "list[str]":
    """What a user should be told about this answer."""
    said = []
    if matrix.n > 1 and not np.any(values > 0):
        said.append(
            "All rows look the same to this kernel, so there is no structure to find: the scores are zero. "
            "Is the data constant, or is gamma far too small for its scale?"
        )
    if indefinite:
        said.append(
            f"The kernel matrix is not positive semi-definite: it has an eigenvalue of at most {pairs.lowest:.3g} "
            f"against a largest of {values[0]:.3g}. Explained variance ratios have no meaning here."
        )
    resolved = [i for i in certificate.unresolved if values[i] > 0]
    if resolved and np.any(values > 0):
        names = ", ".join(str(i + 1) for i in resolved[:5]) + (" …" if len(resolved) > 5 else "")
        said.append(
            f"The direction of component {names} is not determined by the data (its eigenvalue is nearly that of the "
            "next one, not kept, or its residual is too large); see certificate_. More components may settle it."
        )
    return said
