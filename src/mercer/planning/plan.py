"""Plan: what a fit will do, with how much memory, and why."""

from dataclasses import dataclass
from typing import Any

from mercer.budget import Budget, format_bytes
from mercer.errors import MemoryLimitError, MercerWarning, Remedy
from mercer.storable import storable
from mercer.text import counted

IN_MEMORY_TOL = 1e-8  # of residuals, where a product costs little
_ROUTES = {
    "rows": "the centered rows",
    "scatter": "the scatter matrix of the columns, summed up in one pass",
    "gram": "the products of all pairs of rows",
}


@storable
@dataclass(frozen=True)
class Plan:
    """What a fit will do.

    Attributes
    ----------
    route : str
        How the fit reaches its matrix: "rows", "scatter" or "gram".
    solver : Solver or None
        The eigensolver.
    memory : int
        Bytes that the fit allocates besides X.
    reason : str
        Why this route was chosen.
    tol : float
        Tolerance of the relative residuals.
    n_passes : int
        Expected passes over the data.
    flops : float
        Estimated number of multiplications.
    warning : MercerWarning or None
        Reported by the fit.
    """

    route: str
    solver: Any = None
    memory: int = 0
    reason: str = ""
    tol: float = IN_MEMORY_TOL
    n_passes: int = 1
    flops: float = 0.0
    warning: MercerWarning | None = None
    n_landmarks: int = 0
    pool_size: int = 0

    @property
    def approximate(self) -> bool:
        """Whether the result is an approximation by design."""
        return self.route in ("landmarks", "sketch")

    @property
    def summary(self) -> str:
        """One line."""
        solver = "LAPACK" if self.solver is None else self.solver.description
        passes = counted(self.n_passes, "pass")
        return f"{solver} on {_ROUTES[self.route]}, about {passes}, {format_bytes(self.memory)}: {self.reason}"

    def __str__(self) -> str:
        return self.summary if self.warning is None else f"{self.summary}\n{self.warning}"

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain Python objects."""
        names = ("route", "memory", "reason", "tol", "n_passes", "flops")
        return {"summary": self.summary, **{name: getattr(self, name) for name in names}}


def check_memory(plan: Plan, budget: Budget, remedies: tuple[Remedy, ...] = ()) -> Plan:
    """The plan if it fits into the budget, else MemoryLimitError."""
    if plan.memory <= budget.memory:
        return plan
    needed, limit = format_bytes(plan.memory), format_bytes(budget.memory)
    raise MemoryLimitError(
        f"The fit needs {needed} ({plan.reason.rstrip('.')}), but the limit is {limit}.",
        needed=plan.memory,
        limit=budget.memory,
        remedies=remedies or (Remedy("memory_limit", needed.replace(" ", "")),),
    )
