"""What factor analysis will do, and whether it fits: a pure function of the sizes."""

from dataclasses import replace

from mercer_old.errors import are, counted
from mercer_old.limits import Limits
from mercer_old.plans.linear import LinearProblem, scatter_plan
from mercer_old.plans.plan import BUFFERS, Plan, within
from mercer_old.solvers.dense import Dense

_ADVICE = "Give a larger memory_limit or fewer columns."


def choose_factor_plan(p: LinearProblem, limits: Limits) -> Plan:
    """Correlations from one sweep if there are no more columns than rows; else the rows themselves."""
    if p.d <= p.n:
        why = f"{counted(p.d, 'column')}: one sweep sums up their {p.d:,}×{p.d:,} products, whatever the noises are."
        plan = scatter_plan(replace(p, k=min(p.k or p.d, p.d)), limits, why)
        return within(limits, replace(plan, memory=plan.memory + 3 * 8 * p.d**2), _ADVICE)
    why = f"{counted(p.n, 'row')} {are(p.n)} fewer than {counted(p.d, 'column')}: they stay in memory."
    return within(limits, Plan(Dense(psd=True), "rows", BUFFERS + 8 * (5 * p.n * p.d + 5 * p.n**2), why), _ADVICE)
