"""The plan for rows with gaps: all of them in memory, and one way through them."""

from mercer.limits import Limits
from mercer.plans.plan import BUFFERS, Plan, within
from mercer.solvers.expectation import Expectation

__all__ = ["gaps_plan"]

_COPIES = 6  # of the rows: as they are, moved, in the order of their patterns; the same with some numbers held out
_WORKED_ON = 30_000_000  # bytes that a thread holds


def gaps_plan(n: int, d: int, k: int | None, solver: Expectation, limits: Limits) -> Plan:
    """Rows of d numbers, some of them missing, and k components (None: to be found)."""
    most = min(n, d) if k is None else k
    columns = 8 * d * (most + 1) ** 2 * 4
    plan = Plan(
        solver=solver,
        held="gapped",
        memory=8 * _COPIES * n * d + columns + _WORKED_ON * limits.threads + BUFFERS,
        why="numbers are missing.",
        tol=solver.tol,
        passes=30,
    )
    return within(limits, plan, "Give a larger memory_limit, fewer rows, or fewer columns.")
