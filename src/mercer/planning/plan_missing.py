"""The plan of a fit to rows with missing values: EM over rows in memory."""

from dataclasses import dataclass

from mercer.budget import Budget
from mercer.planning.plan import Plan, check_memory
from mercer.storable import storable

_COPIES = 6  # of the rows: as given, centered, sorted by pattern, and the last two without the held-out values
_WORKSPACE, _BUFFERS = 30_000_000, 14_000_000  # bytes of each thread, and of the allocator
_PASSES = 30


@storable
@dataclass(frozen=True)
class ExpectationMaximization:
    """EM with SQUAREM steps."""

    prior: str
    max_iter: int

    @property
    def description(self) -> str:
        return f"EM ({self.prior} prior)" if self.prior else "EM (maximum likelihood)"


def plan_missing(
    n_samples: int, n_features: int, n_components: int, solver: ExpectationMaximization, tol: float, budget: Budget
) -> Plan:
    """The plan for this number of components, or the largest number that is tried."""
    n, d = n_samples, n_features
    statistics = 8 * d * (n_components + 1) ** 2 * (4 + budget.threads)
    start = 32 * min(n, d) ** 2
    memory = 8 * _COPIES * n * d + max(statistics, start) + _WORKSPACE * budget.threads + _BUFFERS
    flops = float(_PASSES * n * d * (n_components + 1) ** 2)
    return check_memory(Plan("missing", solver, memory, "values are missing.", tol, _PASSES, flops), budget)
