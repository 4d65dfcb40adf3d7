"""The plan for rows with gaps: all of them in memory, and one way through them."""

from mercer.limits import Limits
from mercer.plans.plan import BUFFERS, Plan, within
from mercer.solvers.expectation import Expectation

__all__ = ["MOST_TRIED", "gaps_plan"]

MOST_TRIED = 100  # components, where their number is to be found

_COPIES = 6  # of the rows: as they are, moved, in the order of their patterns; the same with some numbers held out
_WORKED_ON = 30_000_000  # bytes that a thread holds


def gaps_plan(n: int, d: int, k: int | None, solver: Expectation, limits: Limits) -> Plan:
    """Rows of d numbers, some of them missing, and k components (None: to be found)."""
    most = min(n, d, MOST_TRIED) if k is None else k
    columns = 8 * d * (most + 1) ** 2 * (4 + limits.threads)
    start = 8 * 4 * min(n, d) ** 2  # principal axes of the rows, with means in their gaps
    plan = Plan(
        solver=solver,
        held="gapped",
        memory=8 * _COPIES * n * d + max(columns, start) + _WORKED_ON * limits.threads + BUFFERS,
        why="numbers are missing.",
        tol=solver.tol,
        passes=30,
    )
    return within(limits, plan, "Give a larger memory_limit, fewer rows, or fewer columns.")
