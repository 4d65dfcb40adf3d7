"""From a centred matrix to a settled, certified spectrum."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import DTypeLike

from mercer_old.arrays import Array
from mercer_old.certificates.residuals import Certificate, certify
from mercer_old.errors import NoRoom
from mercer_old.operators.centering import Centered
from mercer_old.plans.plan import Plan
from mercer_old.plans.share import FIRST_GUESS
from mercer_old.readings.components import fewest_for_share
from mercer_old.solvers.base import Eigenpairs, clean_spectrum, measured_anew, settle_pairs
from mercer_old.solvers.completeness import rule_out_missed
from mercer_old.solvers.dense import Dense
from mercer_old.symmetric import Measured


@dataclass(frozen=True)
class MatrixSpectrum:
    """Eigenvalues, vectors and scores of the training rows after all conventions, with their certificate."""

    matrix: Centered
    pairs: Eigenpairs
    certificate: Certificate
    plan: Plan

    @property
    def values(self) -> Array:
        return self.pairs.values

    @property
    def vectors(self) -> Array:
        return self.pairs.vectors

    @property
    def scores(self) -> Array:
        """Of the training rows."""
        return self.matrix.training_scores(self.pairs.values, self.pairs.products)

    @property
    def indefinite(self) -> bool:
        """Whether an eigenvalue is below zero by more than rounding."""
        return bool(self.pairs.lowest < -max(1e-5 * self.values.max(initial=0.0), 1e-10, self.matrix.floor))


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
    choose: Callable[[Array, float, float], int] | None = None,
) -> MatrixSpectrum:
    """The leading components: so many, or as many as explain a share of the trace.

    `replan` makes the plan for another number of components. `start` and `bound` are what is known beforehand: vectors
    near the answer, and an upper bound on the eigenvalue after the last that is wanted. `choose` says how many of those
    that were found are kept, from their eigenvalues, the trace and the weight of all rows.
    """
    if isinstance(wanted, float):
        plan, pairs = grow_to_share(plan, matrix, wanted, rng, replan or (lambda k: plan))
    else:
        pairs = plan.solver.solve(matrix, wanted, rng, start)
        pairs = replace(pairs, bound=min(pairs.bound, bound))
    if choose is not None:
        pairs = pairs.first(choose(pairs.values, matrix.trace, matrix.total_weight))
    if by_modulus and len(pairs) and -pairs.lowest > pairs.values[-1]:
        clean_spectrum(np.append(pairs.values, pairs.lowest))  # as scikit-learn's randomized solver: it takes |λ|
    if drop_zeros and len(pairs):
        pairs = pairs.first(int(np.sum(pairs.values > max(matrix.floor, 1e-12 * pairs.values[0]))))
    pairs, bound, level = rule_out_missed(plan.solver, matrix, pairs, rng)
    if matrix.at_hand:  # turned products are less certain than one more that costs little
        pairs = measured_anew(pairs, matrix)
    certificate = certify(pairs, tol=plan.tol, bound=bound, level=level, entries=matrix.noise)
    pairs = settle_pairs(pairs, matrix.floor, matrix.root)
    return MatrixSpectrum(matrix, pairs, certificate.with_zeros(pairs.values == 0), plan)


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
        enough = fewest_for_share(pairs.values, matrix.trace, share, more=more, dtype=dtype)
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
