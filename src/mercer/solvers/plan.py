"""Which way to take: a pure function of sizes and the budget, which gives its reason."""

from dataclasses import dataclass, replace

from mercer.errors import NoRoom
from mercer.limits import MOST_FEATURES, Limits, in_words
from mercer.solvers.base import Solver
from mercer.solvers.dense import Dense
from mercer.solvers.factored import Factored
from mercer.solvers.krylov import BlockKrylov

MOST_SPARSE_FEATURES = 2000
TINY = 64  # rows up to which a block solver has nothing to iterate on
SMALL = 500  # rows up to which LAPACK is as fast as anything
SMALL_BLOCK, LARGE_BLOCK = 8, 16  # columns a pass, for few and for many components
DEFAULT_TOL = 1e-8


@dataclass(frozen=True)
class Problem:
    """The sizes that decide. k = None asks for all components."""

    n: int
    k: int | None
    d: int = 0
    n_features: int | None = None  # of an exact feature map, if the kernel has one
    sparse: bool = False
    given: bool = False  # the matrix (or its products) came from the user: it costs nothing to hold
    eigen_solver: str = "auto"
    tol: float = 0.0
    max_passes: int | None = None


@dataclass(frozen=True)
class Plan:
    """What will be done, with what, and why."""

    solver: Solver
    held: str  # "gram" (filled in memory), "features" (ΦΦᵀ, not formed) or "given"
    memory: int  # bytes that fit allocates beyond X, at the peak
    why: str
    tol: float = DEFAULT_TOL

    def __str__(self) -> str:
        return f"{self.solver!r} on {_HELD[self.held]}, {in_words(self.memory)} at the peak: {self.why}"


_HELD = {"gram": "the Gram matrix in memory", "features": "explicit features", "given": "the matrix given"}


def choose_plan(problem: Problem, limits: Limits) -> Plan:
    """Sizes and the memory limit alone decide, no clock and no reading of free memory, so that runs repeat."""
    n, k = problem.n, problem.n if problem.k is None else min(problem.k, problem.n)
    held = _how_held(problem)
    matrix = {"given": 0, "gram": 8 * n * n, "features": _expanded(problem)}[held]
    dense = matrix + 4 * 8 * n * n  # the centred matrix, LAPACK's copy, its vectors and their products
    if problem.eigen_solver == "dense":
        plan = Plan(Dense(), held, dense, "asked for by eigen_solver")
    elif held == "features" and _narrow(problem) and (10 * k > (problem.n_features or 0) or _few(problem)):
        D = problem.n_features or 0
        why = f"the kernel has {D:,} exact features: a {D:,}×{D:,} problem"
        plan = Plan(Factored(), held, matrix + 8 * (4 * n * min(k, D) + 3 * D * D), why)
    elif n <= (TINY if problem.eigen_solver == "krylov" else SMALL):
        plan = Plan(Dense(), held, dense, f"{n:,} rows are few: LAPACK on the whole matrix")
    elif 10 * k > n and (problem.eigen_solver != "krylov" or 2 * k > n):
        plan = Plan(Dense(), held, dense, f"{k:,} of {n:,} components are so many that LAPACK is faster")
    else:
        solver = BlockKrylov(
            tol=problem.tol or DEFAULT_TOL,
            block=SMALL_BLOCK if k < 2 * SMALL_BLOCK else LARGE_BLOCK,
            max_passes=problem.max_passes or BlockKrylov.max_passes,
            threads=limits.threads,
        )
        why = {
            "given": "the matrix is there",
            "gram": f"K takes {in_words(8 * n * n)} and fits into {in_words(limits.memory)}",
            "features": f"{n:,}×{problem.n_features or 0:,} features are never multiplied out",
        }[held]
        plan = Plan(solver, held, matrix + solver.memory(n, k), why)
    return _within(limits, replace(plan, tol=problem.tol or DEFAULT_TOL))


def _how_held(problem: Problem) -> str:
    """Explicit features if they are narrow, or if they are the rows themselves and cost nothing."""
    if problem.given:
        return "given"
    free = problem.n_features == problem.d and (problem.sparse or problem.d > problem.n)
    return "features" if problem.n_features is not None and (free or _narrow(problem)) else "gram"


def _narrow(problem: Problem) -> bool:
    most = MOST_SPARSE_FEATURES if problem.sparse else MOST_FEATURES
    return problem.n_features is not None and problem.n_features <= min(problem.n, most)


def _few(problem: Problem) -> bool:
    """So few features that LAPACK on their D×D matrix takes no time."""
    return (problem.n_features or 0) <= SMALL


def _expanded(problem: Problem) -> int:
    """Bytes of features that are not the rows themselves."""
    return 0 if problem.n_features in (None, problem.d) else 8 * problem.n * (problem.n_features or 0)


def _within(limits: Limits, plan: Plan) -> Plan:
    if plan.memory > limits.memory:
        raise NoRoom(
            f"The fit needs {in_words(plan.memory)} ({plan.why}), over the limit of {in_words(limits.memory)}. "
            "Give a larger memory_limit, fewer rows, or (if all components were asked for) n_components."
        )
    return plan
