"""Which factorisation an embedding takes: a pure function of sizes, of the budget and of how a small piece fills in."""

from dataclasses import dataclass, replace

from mercer.blocks import hoods_at_a_time, tile_bytes, tile_rows
from mercer.limits import Limits
from mercer.plans.fill import Fill, surface
from mercer.plans.plan import BUFFERS, Plan, within
from mercer.solvers.shift_invert import BottomSolver, DenseBottom, ShiftInvert

LAPACK_ITEMS = 300  # items up to which LAPACK takes the whole matrix
_SPARSE_RATE, _DENSE_RATE = 3e9, 24e9  # multiplications a second by SuperLU, and by Cholesky on a thread: nominal
_PASSES = 10  # with the inverse, about
_MOST_ENTRIES = 2**32  # of L and U together: SuperLU counts each of them in 32 bits


@dataclass(frozen=True)
class LocalProblem:
    """The sizes that decide."""

    n: int
    d: int
    k: int  # components
    neighbors: int
    fill: Fill | None = None  # None: nothing is known, and a surface is assumed
    eigen_solver: str = "auto"
    tol: float = 1e-6
    max_passes: int = 100
    loaded: int = 0  # bytes of X that have to be read first
    kept: int = 0  # bytes of the rows in the form that is worked with
    entry_cost: float = 0.0  # nominal nanoseconds of a distance, if it comes from a kernel or is given; 0: of points


def choose_local_plan(p: LocalProblem, limits: Limits) -> Plan:
    """Sizes, the fill and the memory limit decide; no clock, so that runs repeat."""
    fill = p.fill or surface(p.n, p.neighbors)
    if p.n <= _few(p):
        return _within(p, fill, limits, [_plan(p, fill, limits, "lapack", f"{p.n:,} rows are few: LAPACK.")])
    dense_first = _factor_seconds(p, fill, limits, "dense") < _factor_seconds(p, fill, limits, "sparse")
    share = fill.entries / p.n**2
    thin = f"a sparse factor has about {fill.entries / p.n:,.0f} entries a row, {share:.1%} of all."
    asked = f'eigen_solver="{p.eigen_solver}" was asked for; {thin}'
    ways = {
        "arpack": [_plan(p, fill, limits, "sparse", asked)],
        "dense": [_plan(p, fill, limits, "dense", asked)],
    }.get(p.eigen_solver)
    if ways is None:
        assumed = "" if p.fill else "if the neighbourhoods lie on a surface, "
        ways = [
            _plan(p, fill, limits, "sparse", f"{assumed}{thin}"),
            _plan(p, fill, limits, "dense", f"{thin} A dense one {'is faster' if dense_first else 'needs less room'}."),
        ]
        if dense_first:
            ways.reverse()
    return _within(p, fill, limits, ways)


def _solver(p: LocalProblem, threads: int, factor: str) -> BottomSolver:
    if factor == "lapack":
        return DenseBottom()
    return ShiftInvert(factor, p.tol, max_passes=p.max_passes, threads=threads, few=_few(p))


def _few(p: LocalProblem) -> int:
    """Items up to which LAPACK takes the whole matrix, unless a sparse factorisation was asked for."""
    return 0 if p.eigen_solver == "arpack" else LAPACK_ITEMS


def _plan(p: LocalProblem, fill: Fill, limits: Limits, factor: str, why: str) -> Plan:
    solving = {"lapack": 0.0, "sparse": 70e-9 * fill.entries, "dense": 100e-9 * p.n**2}[factor]
    seconds = _factor_seconds(p, fill, limits, factor) + solving
    return Plan(
        _solver(p, limits.threads, factor),
        "neighborhoods",
        int(min(_memory(p, fill, limits, factor), 2**62)),
        why,
        p.tol,
        passes=1 if factor == "lapack" else _PASSES,
        seconds=seconds + 2e-6 * p.n * p.neighbors + _search_seconds(p, limits),
    )


def _factor_seconds(p: LocalProblem, fill: Fill, limits: Limits, factor: str) -> float:
    """Of the factorisation alone, by nominal rates."""
    dense = p.n**3 / _DENSE_RATE
    return {"lapack": 10 * dense, "sparse": fill.work / _SPARSE_RATE, "dense": dense / 3 / limits.threads}[factor]


def _search_seconds(p: LocalProblem, limits: Limits) -> float:
    """Of all distances; few columns go through a tree. A kernel is asked for neighbours' products as well."""
    if p.entry_cost:
        return p.n * (p.n * (p.entry_cost + 3) / limits.threads + 40_000 + 8 * p.entry_cost * p.neighbors**2) * 1e-9
    return 0.0 if p.d <= 8 else p.n**2 * (1.5 + 0.04 * p.d) * 1e-9 / limits.threads


def _memory(p: LocalProblem, fill: Fill, limits: Limits, factor: str) -> float:
    """Bytes at the peak: while neighbourhoods are looked at, or while the matrix is factored and solved with."""
    width = 1 if p.entry_cost else p.d
    block = 8 * 3 * min(p.n, hoods_at_a_time(p.neighbors, width)) * p.neighbors * max(p.neighbors + 1, width)
    searching = 16 * p.n * p.neighbors + limits.threads * tile_bytes(p.n, p.entry_cost > 0)
    if not p.entry_cost:
        candidates = 8 * tile_rows(p.n) * (p.neighbors + 4) * p.d
        searching += 4 * p.n * p.d + limits.threads * candidates
    aligning = limits.threads * block + 36 * p.n * fill.row
    factored = {
        "lapack": 8 * 6 * p.n**2,
        "sparse": 12.5 * fill.entries if fill.entries < _MOST_ENTRIES else float("inf"),
        "dense": 8 * p.n**2,
    }[factor]
    basis = 8 * p.n * (8 * p.k + 70)
    solving = 24 * p.n * fill.row + factored + basis
    return BUFFERS + p.loaded + p.kept + 12 * p.n * p.neighbors + max(searching, aligning, solving)


def _within(p: LocalProblem, fill: Fill, limits: Limits, ways: list[Plan]) -> Plan:
    """The first way that fits, or a refusal with the number of rows that would."""
    for plan in ways:
        if plan.memory <= limits.memory:
            return plan
    least = min(ways, key=lambda plan: plan.memory)
    rows = _rows_that_fit(p, fill, limits)
    advice = (
        f"About {rows:,} rows would fit: fit a sample of them and transform the rest, give fewer n_neighbors, or a "
        "larger memory_limit."
        if rows > p.neighbors + 1
        else "Hardly anything fits into that: give a larger memory_limit."
    )
    return within(limits, least, advice)


def _rows_that_fit(p: LocalProblem, fill: Fill, limits: Limits) -> int:
    """How many rows of such data would fit, rounded down to one digit."""
    factors = {"arpack": ["sparse"], "dense": ["dense"]}.get(p.eigen_solver, ["sparse", "dense"])

    def fits(n: int) -> bool:
        share = n / p.n
        fewer = replace(fill, entries=min(fill.entries * share**fill.growth, float(n) ** 2))
        smaller = replace(p, n=n, loaded=int(p.loaded * share), kept=int(p.kept * share))
        return any(_memory(smaller, fewer, limits, factor) <= limits.memory for factor in factors)

    low, high = 0, p.n
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    digit = 10 ** max(len(str(low)) - 1, 0)
    return low // digit * digit
