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
    "scatter": "the scatter matrix of the columns",
    "qr": "a triangular factor of the rows",
    "gram": "the products of all pairs of rows",
    "products": "products with the rows",
    "sketch": "a sketch of the rows",
    "missing": "rows with missing values",
    "stored": "the stored kernel matrix",
    "matrix-free": "the kernel matrix, recomputed in each pass",
    "distributed": "the kernel matrix, spread over workers",
    "features": "exact kernel features",
    "precomputed": "the precomputed matrix",
    "landmarks": "landmarks",
    "sparse": "the sparse alignment matrix",
    "dense": "the dense alignment matrix",
    "in-memory": "all rows in memory",
}


@storable
@dataclass(frozen=True)
class Plan:
    """What a fit will do.

    Attributes
    ----------
    route : str
        How the fit reaches its matrix. For PCA: "rows", "scatter", "qr", "gram" or "products".
    solver : Solver or None
        The eigensolver.
    memory : int
        Bytes that the fit allocates besides X.
    reason : str
        Why this route was chosen. If the fit changed its route, what it tried first.
    tol : float
        Tolerance of the relative residuals.
    n_passes : int
        Expected passes over the data.
    flops : float
        Estimated number of multiplications.
    warning : MercerWarning or None
        Reported by the fit.
    n_landmarks, pool_size : int
        Number of landmarks, and of samples that they are chosen from. 0: none.
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
        names = ("route", "memory", "reason", "tol", "n_passes", "flops", "n_landmarks", "pool_size", "approximate")
        solver = None if self.solver is None else self.solver.description
        warning = None if self.warning is None else str(self.warning)
        shown = {name: getattr(self, name) for name in names}
        return {"summary": self.summary, **shown, "solver": solver, "warning": warning}


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
