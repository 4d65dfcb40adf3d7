"""Which way to take: a pure function of sizes and the budget, which gives its reason."""

from dataclasses import dataclass, replace
from math import isqrt

from mercer.errors import NoRoom
from mercer.limits import MOST_FEATURES, Limits, in_words
from mercer.solvers.base import Solver
from mercer.solvers.dense import Dense
from mercer.solvers.factored import Factored
from mercer.solvers.krylov import BlockKrylov
from mercer.solvers.warm import WarmKrylov

MOST_SPARSE_FEATURES = 2000
TINY = 64  # rows up to which a block solver has nothing to iterate on
SMALL = 500  # rows up to which LAPACK is as fast as anything
HELD = 12_000  # rows up to which holding K is faster than evaluating it anew, whatever the memory
DEAR = 15.0  # nanoseconds: entries that cost more are held if they fit
SMALL_BLOCK, LARGE_BLOCK = 8, 16  # columns a pass over a held matrix, for few and for many components
HELD_TOL, RECOMPUTED_TOL = 1e-8, 1e-4
BUDGET = 600.0  # nominal seconds that all passes may take before one exact pass has to do
WARM_PASSES = 4  # what a warm start usually takes
FEWEST_PIVOTS = 50
BUFFERS, TILES = 14_000_000, 5_000_000  # bytes of what the allocator keeps, and of the tiles a thread works on
FEATURE_ROWS = 8192  # rows of features a thread works on


@dataclass(frozen=True)
class Problem:
    """The sizes that decide. k = None asks for all components."""

    n: int
    k: int | None
    d: int = 0
    n_features: int | None = None  # of an exact feature map, if the kernel has one
    free_features: bool = True  # whether features of the width of the rows are the rows themselves
    copied: int = 0  # bytes of X that the model keeps a copy of
    sparse: bool = False
    given: bool = False  # the matrix (or its products) came from the user: it costs nothing to hold
    psd: bool = True  # whether the kernel is known to be positive semi-definite
    entry_cost: float = 5.0  # nominal nanoseconds to evaluate an entry
    inverse: bool = False  # whether the way back is learned too, which takes an n×n matrix
    eigen_solver: str = "auto"
    tol: float = 0.0
    max_passes: int | None = None


@dataclass(frozen=True)
class Plan:
    """What will be done, with what, and why."""

    solver: Solver
    held: str  # "gram" (filled in memory), "recomputed", "features" (ΦΦᵀ, not formed) or "given"
    memory: int  # bytes that fit allocates beyond X, at the peak
    why: str
    tol: float = HELD_TOL
    passes: int = 1  # over the matrix, about
    seconds: float | None = None  # expected, from one timed tile; shown, and decides nothing
    warning: str = ""

    def __str__(self) -> str:
        time = "" if self.seconds is None else f", about {seconds_in_words(self.seconds)}"
        how = f"{self.solver!r} on {_HELD[self.held]}, about {self.passes} pass{'es' if self.passes > 1 else ''}"
        return f"{how}{time}, {in_words(self.memory)} at the peak: {self.why}" + (
            f" {self.warning}" if self.warning else ""
        )


_HELD = {
    "gram": "the Gram matrix in memory",
    "recomputed": "the Gram matrix evaluated anew in each pass",
    "features": "explicit features",
    "given": "the matrix given",
}


def choose_plan(problem: Problem, limits: Limits) -> Plan:
    """Sizes and the memory limit alone decide, no clock and no reading of free memory, so that runs repeat."""
    for way in (_dense_if_asked, _feature_side, _small_or_nearly_all, _features, _held, _recomputed):
        plan = way(problem, limits)
        if plan is not None:
            return _within(limits, plan, problem)
    raise AssertionError("the last way takes everything")


# ---------------------------------------------------------------------- the ways, in the order they are tried


def _dense_if_asked(p: Problem, limits: Limits) -> Plan | None:
    return _dense(p, "it was asked for by eigen_solver.") if p.eigen_solver == "dense" else None


def _feature_side(p: Problem, limits: Limits) -> Plan | None:
    """The D×D side: D so small that LAPACK takes no time, or so many components that nothing else pays."""
    D, k = p.n_features or 0, _wanted(p)
    if p.given or not _narrow(p) or not (10 * k > D or D <= SMALL):
        return None
    memory = _matrix(p, "features", limits) + 8 * (4 * p.n * min(k, D) + 3 * D * D)
    why = f"the kernel has {D:,} exact features: a {D:,}×{D:,} problem."
    return Plan(Factored(), "features", memory, why, p.tol or HELD_TOL, passes=2)


def _small_or_nearly_all(p: Problem, limits: Limits) -> Plan | None:
    k, krylov = _wanted(p), p.eigen_solver == "krylov"
    if p.n <= (TINY if krylov else SMALL):
        rows = f"{p.n:,} rows are" if p.n > 1 else "one row is"
        return _dense(p, f"{rows} few: LAPACK on the whole matrix.")
    if 10 * k <= p.n:
        return None
    plan = _dense(p, f"{k:,} of {p.n:,} components are so many that LAPACK is faster.")
    return None if 2 * k <= p.n and (krylov or plan.memory > limits.memory) else plan


def _features(p: Problem, limits: Limits) -> Plan | None:
    if p.given or not (_narrow(p) or _no_wider_than_rows(p)):
        return None
    return _cold(p, limits, "features", f"{p.n:,}×{p.n_features or 0:,} features are never multiplied out.")


def _held(p: Problem, limits: Limits) -> Plan | None:
    if p.given:
        return _cold(p, limits, "given", "the matrix is there.")
    size = 8 * p.n**2
    fits = 2 * size <= limits.memory or (p.n <= HELD and _cold(p, limits, "gram", "").memory <= limits.memory)
    worth = p.n <= HELD or 0 < p.tol < 1e-6 or p.entry_cost > DEAR or p.sparse
    if not (fits and worth):
        return None
    return _cold(p, limits, "gram", f"K takes {in_words(size)} and fits into {in_words(limits.memory)}.")


def _recomputed(p: Problem, limits: Limits) -> Plan:
    """K evaluated anew in every pass; the fewer passes, the better."""
    size = f"K would take {in_words(8 * p.n**2)}"
    if not p.psd:
        why = f"{size}; the kernel is not known to be positive semi-definite, so there is no warm start."
        return _cold(p, limits, "recomputed", why)
    a_pass = nominal_pass(p, limits)
    short = WARM_PASSES * a_pass <= BUDGET or p.max_passes is not None
    rank = _rank(p, longer=not short)
    solver = WarmKrylov(
        tol=p.tol or RECOMPUTED_TOL,
        block=_warm_block(p),
        rank=rank,
        max_passes=(p.max_passes or WarmKrylov.max_passes) if short else 1,
        threads=limits.threads,
    )
    solver = _fitted(solver, p, limits)
    memory = _matrix(p, "recomputed", limits) + solver.memory(p.n, _wanted(p))
    why = (
        f"{size}, against a limit of {in_words(limits.memory)}."
        if 16 * p.n**2 > limits.memory
        else (f"{size}; evaluating it a few times is faster than filling it once.")
    )
    if short:
        return Plan(solver, "recomputed", memory, why, solver.tol, WARM_PASSES)
    warning = (
        f"A pass takes about {seconds_in_words(a_pass)}, so there is only one: components are as good as "
        f"{solver.rank:,} pivots make them, and the certificate says how good. Give max_iter for more passes."
    )
    return Plan(solver, "recomputed", memory, why, solver.tol, 1, warning=warning)


# ---------------------------------------------------------------------- sizes


def _dense(p: Problem, why: str) -> Plan:
    """The matrix, the centred matrix and LAPACK's copy; with all vectors, those, their products and LAPACK's work."""
    held = "given" if p.given else "features" if _narrow(p) or _no_wider_than_rows(p) else "gram"
    squares = 2 if 4 * _wanted(p) < p.n and p.n > TINY else 6
    return Plan(Dense(), held, _matrix(p, held) + 8 * squares * p.n**2, why, p.tol or HELD_TOL)


def _cold(p: Problem, limits: Limits, held: str, why: str) -> Plan:
    k = _wanted(p)
    solver = BlockKrylov(
        tol=p.tol or (RECOMPUTED_TOL if held == "recomputed" else HELD_TOL),
        block=32 if held == "recomputed" else SMALL_BLOCK if k < 2 * SMALL_BLOCK else LARGE_BLOCK,
        max_passes=p.max_passes or BlockKrylov.max_passes,
        threads=limits.threads,
    )
    passes = min(12, solver.max_passes)
    return Plan(solver, held, _matrix(p, held, limits) + solver.memory(p.n, k), why, solver.tol, passes)


def _wanted(p: Problem) -> int:
    return p.n if p.k is None else min(p.k, p.n)


def _matrix(p: Problem, held: str, limits: Limits | None = None) -> int:
    """Bytes of the matrix as it is held, with the rows kept and prepared for it."""
    threads = limits.threads if limits else 1
    prepared = 0 if p.sparse else 8 * p.n * (3 * p.d + 6)
    return (
        p.copied
        + {
            "given": 0,
            "gram": 8 * p.n**2 + prepared,
            # rows in double and in single precision
            "recomputed": BUFFERS + threads * TILES + prepared + 8 * p.n * (p.d + 2),
            "features": _feature_bytes(p, threads),
        }[held]
    )


def _feature_bytes(p: Problem, threads: int) -> int:
    """Of features that are not the rows themselves, with what making them takes, and of blocks moved to the mean."""
    D = p.n_features or 0
    made = 0 if p.free_features and p.d == D else 8 * p.n * D * (1 if p.d == D else 3)
    return made + (0 if p.sparse else 8 * D * min(p.n, FEATURE_ROWS * threads))


def _narrow(p: Problem) -> bool:
    most = MOST_SPARSE_FEATURES if p.sparse else MOST_FEATURES
    return p.n_features is not None and p.n_features <= min(p.n, most)


def _no_wider_than_rows(p: Problem) -> bool:
    """Features that are the rows, or the rows scaled, cost little where K would cost more."""
    return p.n_features is not None and p.n_features == p.d and (p.sparse or p.d > p.n)


def nominal_pass(p: Problem, limits: Limits) -> float:
    """Seconds of a pass by fixed costs: an entry evaluated, and used for some 32 columns twice."""
    return p.n**2 / 2 * (p.entry_cost + 3.0) * 1e-9 / limits.threads


def _warm_block(p: Problem) -> int:
    return max(8, min(32, _wanted(p)))


def _rank(p: Problem, longer: bool) -> int:
    """So many pivots that they cost about as much as a fraction of a pass."""
    rank = max(8 * _wanted(p) + 100, min(isqrt(32 * p.n) // 2, 700))
    return min(max(rank, 2000) if longer else rank, 3000, p.n // 4)


def _fitted(solver: WarmKrylov, p: Problem, limits: Limits) -> WarmKrylov:
    """With a smaller basis, then fewer pivots, then narrower blocks, where memory is short."""
    k, room = _wanted(p), limits.memory - _matrix(p, "recomputed", limits)
    while solver.memory(p.n, k) > room and solver.blocks > 4:
        solver = replace(solver, blocks=solver.blocks - 1)
    while solver.memory(p.n, k) > room and solver.rank > max(FEWEST_PIVOTS, k + 10):
        solver = replace(solver, rank=max(FEWEST_PIVOTS, k + 10, int(solver.rank * 0.8)))
    while solver.memory(p.n, k) > room and solver.block > 4:
        solver = replace(solver, block=solver.block // 2)
    return solver


def _within(limits: Limits, plan: Plan, p: Problem) -> Plan:
    inverse = p.copied + 8 * p.n * (p.n + 3 * p.d + 3 * _wanted(p)) if p.inverse else 0
    memory = max(plan.memory, inverse)
    if memory > limits.memory:
        what = "and the inverse transform " if p.inverse and memory > plan.memory else ""
        why, most = plan.why.rstrip("."), in_words(limits.memory)
        raise NoRoom(
            f"The fit {what}needs {in_words(memory)} ({why}), over the limit of {most}. "
            "Give a larger memory_limit, fewer rows, or (if many or all components were asked for) fewer n_components."
        )
    return replace(plan, memory=memory)


def seconds_in_words(seconds: float) -> str:
    """A time for people: "40 s", "3 min", "2.5 h"."""
    for unit, size in (("s", 1), ("min", 60), ("h", 3600)):
        if seconds < 99.5 * size or unit == "h":
            break
    return f"{seconds / size:.2g} {unit}" if seconds < 99.5 * size else f"{seconds / size:,.0f} {unit}"
