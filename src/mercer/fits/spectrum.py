"""From a centred matrix to a settled, certified spectrum."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import DTypeLike

from mercer.arrays import Array
from mercer.certificates.residuals import Certificate, certify
from mercer.errors import NoRoom, listed
from mercer.operators.centering import Centered
from mercer.plans.plan import Plan
from mercer.plans.share import FIRST_GUESS
from mercer.readings.components import components_for_share
from mercer.solvers.base import Eigenpairs, clean_spectrum, measured_anew, rounding_floor, settle
from mercer.solvers.completeness import PROBES, Rest, explore, explore_by_products, probes_in_words
from mercer.solvers.dense import Dense
from mercer.symmetric import Measured

_FLAT_ROWS = 20  # from so many on, equal eigenvalues mean something
ALL_THE_SAME = (
    "All rows look the same to this kernel, so there is no structure to find: the scores are zero. "
    "Is the data constant, or is gamma far too small for its scale?"
)
_MOST_ROUNDS = 5  # how often a missed eigenvalue may send the solver back


@dataclass(frozen=True)
class MatrixSpectrum:
    """Eigenvalues, vectors and scores of the training rows after all conventions, with their certificate."""

    values: Array
    vectors: Array
    scores: Array
    certificate: Certificate
    indefinite: bool
    plan: Plan
    warnings: list[str] = field(default_factory=list)


class TooMany(Exception):
    """A share of the variance takes so many components that another way is faster: the plan is to be made anew."""


def find_spectrum(
    plan: Plan,
    matrix: Centered,
    wanted: int | float,
    rng: np.random.Generator,
    *,
    by_modulus: bool = False,
    drop_zeros: bool = False,
    replan: Callable[[int], Plan] | None = None,
    start: Array | None = None,
    bound: float = np.inf,
) -> MatrixSpectrum:
    """The leading components: so many, or as many as explain a share of the trace.

    `replan` makes the plan for another number of components. `start` and `bound` are what is known beforehand: vectors
    near the answer, and an upper bound on the eigenvalue after the last that is wanted.
    """
    if isinstance(wanted, float):
        plan, pairs = grow_to_share(plan, matrix, wanted, rng, replan or (lambda k: plan))
    else:
        pairs = plan.solver.solve(matrix, wanted, rng, start)
        pairs = replace(pairs, bound=min(pairs.bound, bound))
    if by_modulus and len(pairs) and -pairs.lowest > pairs.values[-1]:
        clean_spectrum(np.append(pairs.values, pairs.lowest))  # as scikit-learn's randomized solver: it takes |λ|
    if drop_zeros and len(pairs):
        pairs = pairs.first(int(np.sum(pairs.values > max(matrix.floor, 1e-12 * pairs.values[0]))))
    pairs, bound, level = rule_out_missed(plan, matrix, pairs, rng)
    if matrix.at_hand:  # turned products are less certain than one more that costs little
        pairs = measured_anew(pairs, matrix)
    return _as_spectrum(
        plan, matrix, pairs, certify(pairs, tol=plan.tol, bound=bound, level=level, entries=matrix.noise)
    )


def _as_spectrum(plan: Plan, matrix: Centered, pairs: Eigenpairs, certificate: Certificate) -> MatrixSpectrum:
    """Order, signs and zeros by convention, and what a user should be told."""
    found = np.where(np.abs(pairs.values) <= matrix.floor, 0.0, pairs.values)
    by = None if matrix.root is None else pairs.vectors / matrix.root[:, None]
    values, vectors = settle(found, pairs.vectors, by=by)
    certificate = certificate.with_zeros(values == 0)
    signs = np.sign(np.sum(vectors * pairs.vectors, axis=0))
    indefinite = bool(pairs.lowest < -max(1e-5 * values.max(initial=0.0), 1e-10, matrix.floor))
    return MatrixSpectrum(
        values=values,
        vectors=vectors,
        scores=matrix.training_scores(values, pairs.products * signs),
        certificate=certificate,
        indefinite=indefinite,
        plan=plan,
        warnings=_about_spectrum(matrix, values, certificate, pairs, indefinite),
    )


def grow_to_share(
    plan: Plan,
    matrix: Measured,
    share: float,
    rng: np.random.Generator,
    replan: Callable[[int], Plan],
    more: bool = False,
    dtype: DTypeLike = np.float64,
) -> tuple[Plan, Eigenpairs]:
    """More and more components, each time from those at hand, until they explain the share; also the plan it took.

    `more`: more than the share, not just as much; as ratios of this dtype say.
    """
    k, start = _first_guess(plan, matrix), None
    while True:
        if k > _planned_for(plan, matrix.n):
            plan = _plan_for_share(plan, replan, k, share)
        pairs = plan.solver.solve(matrix, k, rng, start)
        if matrix.trace <= matrix.floor:
            return plan, pairs.first(1)  # nothing to explain
        enough = components_for_share(pairs.values, matrix.trace, share, more=more, dtype=dtype)
        if enough or k == matrix.n:
            return plan, pairs.first(enough or k)
        planned = _planned_for(plan, matrix.n)
        k, start = min(planned if k < planned else 2 * k, matrix.n), pairs.vectors


def _plan_for_share(plan: Plan, replan: Callable[[int], Plan], k: int, share: float) -> Plan:
    """The plan for k components, if it goes on with the matrix at hand and keeps to the memory limit."""
    try:
        grown = replan(k)
    except NoRoom as error:
        many = f"{share:.3g} of the variance takes some {k:,} components or more, and that does not fit."
        raise NoRoom(f"{many} {error}") from None
    if type(grown.solver) is not type(plan.solver) or grown.held != plan.held:
        raise TooMany
    return replace(grown, components=plan.components)


def _first_guess(plan: Plan, matrix: Measured) -> int:
    """How many components to begin with: as many as are likely to do, but more cost LAPACK little."""
    if isinstance(plan.solver, Dense):
        return _planned_for(plan, matrix.n)
    known = plan.components if plan.components and plan.components.rows else None
    return min(known.likely if known else FIRST_GUESS, matrix.n)


def _planned_for(plan: Plan, n: int) -> int:
    """So many components the plan has room for: the most that were foretold; all, where LAPACK finds all."""
    high = plan.components.high if plan.components and plan.components.rows else 0
    return n if isinstance(plan.solver, Dense) and not 0 < 4 * high < n else high


def rule_out_missed(
    plan: Plan, matrix: Measured, pairs: Eigenpairs, rng: np.random.Generator
) -> tuple[Eigenpairs, float, str]:
    """Λ, a bound on every eigenvalue outside the found pairs; a missed one that shows itself sends the solver back."""
    k = len(pairs)
    if pairs.complete:
        beyond = float(pairs.beyond[0]) if len(pairs.beyond) else 0.0
        formed = pairs.product_rounding  # a matrix made dense for LAPACK has means in it, which are such products
        return pairs, beyond + rounding_floor(matrix.n, pairs.size) + formed, "all eigenvalues were computed or counted"
    probing = 0
    for rounds in range(_MOST_ROUNDS + 1):
        rest, pairs = _look_beyond(matrix, pairs, rng)
        probing += rest.passes
        hidden = k and rest.seen > pairs.values[-1] + pairs.residuals[-1] + 1e-8 * abs(pairs.values[-1])
        if not hidden or not pairs.converged or rounds == _MOST_ROUNDS:
            break
        again = plan.solver.solve(matrix, k, rng, np.concatenate([pairs.vectors, rest.direction], axis=1))
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


def _about_spectrum(
    matrix: Centered, values: Array, certificate: Certificate, pairs: Eigenpairs, indefinite: bool
) -> list[str]:
    """What a user should be told about this answer."""
    said = []
    if matrix.n > 1 and not np.any(values > 0):
        said.append(ALL_THE_SAME)
    if matrix.n >= _FLAT_ROWS and 0 < values[:1].sum() * (matrix.n - 1) < 1.01 * matrix.trace and not indefinite:
        return [
            "No direction stands out to this kernel: all eigenvalues are nearly the same, as if every row were equally "
            "far from every other, and the components are arbitrary."
        ]
    if indefinite:
        said.append(
            f"The kernel matrix is not positive semi-definite: it has an eigenvalue of at most {pairs.lowest:.3g} "
            f"against a largest of {values[0]:.3g}. Explained variance ratios have no meaning here."
        )
    return said + about_directions(certificate, values)


def about_directions(certificate: Certificate, values: Array) -> list[str]:
    """Which components have a variance but no direction of their own."""
    unsettled = [i for i in certificate.unresolved if values[i] > 0]
    if not unsettled:
        return []
    names = listed(i + 1 for i in unsettled)
    return [
        f"The direction of component {names} is not determined by the data (its eigenvalue is nearly that of the "
        "next one, not kept, or its residual is too large); see certificate_. More components may settle it."
    ]
