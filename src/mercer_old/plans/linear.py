"""Which way linear PCA takes: a pure function of sizes and the budget, which gives its reason."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from mercer_old.blocks import LANES, MOST_FEATURES, NARROW, SPARSE_ENTRIES, lane_rows
from mercer_old.errors import NoRoom, are, counted
from mercer_old.limits import Limits, bytes_in_words
from mercer_old.plans.plan import BUFFERS, HELD_TOL, Plan, within
from mercer_old.plans.share import Share
from mercer_old.solvers.base import Solver
from mercer_old.solvers.dense import Dense
from mercer_old.solvers.krylov import BlockKrylov
from mercer_old.solvers.svd import Svd

LAPACK_SIDE = 500  # rows and columns up to which LAPACK takes the rows themselves: no digit is lost, and no time
_PRODUCTS_FROM = 1500  # columns, or rows if those are fewer, from which few components are found by products
_MANY = 20  # columns for each component, or fewer: so many components that products do not pay
_WIDE_SPARSE, _DENSE_ENOUGH = 3000, 0.01  # columns and density up to and from which sparse rows are squared
_PRODUCTS_TOL = 1e-6
_BLOCK = 16  # columns a sweep
_FOR_ALL = "Give a larger memory_limit, fewer n_components or fewer columns."
_FOR_SKETCHES = "Give a larger memory_limit or a smaller sketch_size."
COLUMN_ENTRIES = 2_000_000  # of centred columns at a time


@dataclass(frozen=True)
class LinearProblem:
    """The sizes that decide. k = None asks for all components."""

    n: int
    d: int
    k: int | None
    share: bool = False  # whether k is but a guess, and a share of the variance decides
    whole: bool = False  # whether the rest of the spectrum has to be known too
    sparse: bool = False
    density: float = 1.0
    held: bool = True  # rows are in memory
    itemsize: int = 8
    reading: int = 0  # bytes that reading them takes, beyond the blocks
    solver: str = "auto"
    tol: float = 0.0
    foretold: Share | None = None  # how many components a share is expected to take: k is then the upper end
    copies: int = 0  # rows, each as often as its weight says, if weights are whole numbers
    sketch: int = 0  # rows that are to stand for all of them; 0 if none are

    @property
    def all(self) -> int:
        """How many components there can be."""
        return min(max(self.n, self.copies), self.d)

    @property
    def wanted(self) -> int:
        return self.all if self.k is None or self.whole else min(self.k, self.all)


def choose_linear_plan(p: LinearProblem, limits: Limits) -> Plan:
    """Sizes, what was asked for and the memory limit decide; no clock, so that runs repeat.

    For a share of the variance, the plan is that for the most components it is expected to take, if that fits.
    """
    if not p.foretold:
        return _choose(p, limits)
    share = p.foretold
    for k in dict.fromkeys((share.high, share.likely, share.low)) if share.rows else ():
        try:
            return replace(_choose(replace(p, k=k), limits), components=share)
        except NoRoom:
            continue
    return replace(_choose(p, limits), components=share)


def _choose(p: LinearProblem, limits: Limits) -> Plan:
    """For a number of components."""
    if p.sketch:
        return _within(limits, sketch_plan(p, f"sketch_size={p.sketch:,} was asked for."), _FOR_SKETCHES)
    asked = _BY_NAME.get(p.solver)
    if asked:
        return _within(limits, asked(p, limits, f'svd_solver="{p.solver}" was asked for.'))
    first = next(plan for way in _WAYS if (plan := way(p, limits)) is not None)
    if first.memory <= limits.memory:
        return first
    spare = [way(p, limits, f"the fastest way would need {bytes_in_words(first.memory)}.") for way in _spare(p)]
    plan = next((plan for plan in spare if plan.memory <= limits.memory), first)
    return _within(limits, plan)


# ---------------------------------------------------------------------- the ways, in the order they are tried


def _tiny(p: LinearProblem, limits: Limits) -> Plan | None:
    if p.sparse or max(p.n, p.d) > LAPACK_SIDE:
        return None
    return rows_plan(p, limits, f"{p.n:,}×{p.d:,} numbers are few: LAPACK on the rows themselves.")


def _sparse(p: LinearProblem, limits: Limits) -> Plan | None:
    if not p.sparse:
        return None
    squared = p.d <= _WIDE_SPARSE and p.density >= _DENSE_ENOUGH
    if p.d <= LAPACK_SIDE or squared or 2 * p.wanted > p.all:
        return scatter_plan(p, limits, f"{counted(p.d, 'column')} {are(p.d)} few: their products are summed up.")
    return _products_plan(p, limits, "sparse rows are multiplied, never made dense.")


def _tall(p: LinearProblem, limits: Limits) -> Plan | None:
    """d×d numbers from one sweep."""
    if p.d > min(p.n, MOST_FEATURES) or (p.held and p.d > _PRODUCTS_FROM and _MANY * p.wanted < p.d):
        return None
    return scatter_plan(p, limits, f"{counted(p.d, 'column')}: one sweep sums up their {p.d:,}×{p.d:,} products.")


def _wide(p: LinearProblem, limits: Limits) -> Plan | None:
    """n×n numbers: the Gram matrix of few but wide rows."""
    if p.n > min(p.d, MOST_FEATURES) or (p.n > _PRODUCTS_FROM and _MANY * p.wanted < p.n):
        return None
    if 2 * p.wanted > p.n:
        return rows_plan(p, limits, f"nearly all of {counted(p.n, 'component')}: LAPACK on the rows themselves.")
    return _gram_plan(
        p, limits, f"{counted(p.n, 'row')} {are(p.n)} fewer than {counted(p.d, 'column')}: a {p.n:,}×{p.n:,} problem."
    )


def _nearly_all(p: LinearProblem, limits: Limits) -> Plan | None:
    if 10 * p.wanted <= p.all:
        return None
    way = scatter_plan if p.d <= p.n else rows_plan
    return way(p, limits, f"{p.wanted:,} of {p.all:,} components are so many that LAPACK is faster.")


def _large(p: LinearProblem, limits: Limits) -> Plan:
    return _products_plan(p, limits, f"{p.wanted:,} of {p.all:,} components: a few sweeps of products find them.")


_WAYS = _tiny, _sparse, _tall, _wide, _nearly_all, _large


def _spare(p: LinearProblem) -> list[Callable[[LinearProblem, Limits, str], Plan]]:
    """What may still fit."""
    return [scatter_plan, _products_plan] if p.d <= p.n or p.sparse else [_products_plan]


# ---------------------------------------------------------------------- the plans themselves


def scatter_plan(p: LinearProblem, limits: Limits, why: str) -> Plan:
    lanes = (LANES if p.d <= NARROW else 1) * 16 * p.d**2  # the sums, and what rounding took from them
    products = (24 if p.sparse else 8) * (limits.threads if p.d <= NARROW else 1) * p.d**2  # sparse: entry by entry
    summed = lanes + _blocks(p) + (products if p.sparse or p.d <= NARROW else 0)
    solved = 8 * p.d**2 * (5 if 4 * p.wanted < p.d and not p.share else 8)
    return Plan(
        _solver(p, p.d, limits), "scatter", BUFFERS + p.reading + int(max(summed, solved)), why, p.tol or HELD_TOL
    )


def refuse_too_wide(p: LinearProblem, limits: Limits) -> None:
    """Batches whose scatter matrix, or sketch, has no room; said before the first is taken in."""
    if p.sketch:
        choose_linear_plan(p, limits)
        return
    needed = scatter_plan(p, limits, "").memory
    if needed > limits.memory:
        raise NoRoom(
            f"Batches are added to a {p.d:,}×{p.d:,} scatter matrix, which takes {bytes_in_words(needed)} with its "
            f"eigenvectors, over the limit of {bytes_in_words(limits.memory)}. Give a larger memory_limit or fewer "
            "columns, or sketch_size=100, which keeps a few rows for all; fit(X) without forgetting finds the "
            "components of any number of columns by sweeps over the rows."
        )


def sketch_plan(p: LinearProblem, why: str) -> Plan:
    """Twice as many rows as asked for, of all batches and of one; then their singular vectors."""
    m = 2 * p.sketch
    rows = 8 * m * p.d
    work = 2 * 8 * min(max(p.n, 1), lane_rows(p.d, True, narrow=False)) * p.d  # as they are centred
    summed = 3 * rows + work + 24 * m**2 + (0 if p.held else 2 * _blocks(p))
    return Plan(Svd(), "sketch", BUFFERS + p.reading + int(max(summed, rows + _decomposed(m, p.d, p.wanted))), why)


def triangle_plan(p: LinearProblem, limits: Limits, why: str) -> Plan:
    narrow = p.d <= NARROW
    lanes = (LANES if narrow else 1) * 8 * p.d**2
    copies = (limits.threads if narrow else 1) * 2 * 8 * p.d * min(p.n, lane_rows(p.d, p.held, narrow))
    summed = lanes + _blocks(replace(p, itemsize=8)) + copies
    memory = BUFFERS + p.reading + max(summed, _decomposed(p.d, p.d, _pairs(p)))
    return Plan(Svd(), "triangle", int(memory), why, p.tol or HELD_TOL)


def rows_plan(p: LinearProblem, limits: Limits, why: str) -> Plan:
    memory = BUFFERS + _loaded(p) + _decomposed(p.n, p.d, _pairs(p))
    if not p.held and p.d <= p.n and max(p.n, p.d) > LAPACK_SIDE:
        return triangle_plan(p, limits, why)
    if memory > limits.memory and p.d <= p.n and not p.sparse:
        return triangle_plan(p, limits, why)
    return Plan(Svd(), "rows", memory, why, p.tol or HELD_TOL)


def _gram_plan(p: LinearProblem, limits: Limits, why: str) -> Plan:
    memory = BUFFERS + _loaded(p) + 8 * (p.n**2 * (4 if 4 * p.wanted < p.n else 7) + 3 * COLUMN_ENTRIES)
    memory += 8 * 4 * p.d * p.wanted
    return Plan(_solver(p, p.n, limits), "gram", memory, why, p.tol or HELD_TOL)


def _products_plan(p: LinearProblem, limits: Limits, why: str) -> Plan:
    solver = BlockKrylov(tol=p.tol or _PRODUCTS_TOL, block=_BLOCK, threads=limits.threads)
    rows = LANES * lane_rows(p.d, p.held) * p.d * 8  # for their means, and as they are read
    rows = _blocks(p) if p.sparse else min(rows, 8 * p.n * p.d) * (1 if p.held else 2)
    sums = 8 * p.d * _BLOCK * (LANES + 2) + rows
    memory = BUFFERS + p.reading + solver.memory(p.d, p.wanted) + sums
    return Plan(solver, "products", memory, why, solver.tol, solver.usual_passes(p.wanted))


_BY_NAME: dict[str, Callable[[LinearProblem, Limits, str], Plan]] = {
    "full": rows_plan,
    "covariance_eigh": scatter_plan,
    "qr": triangle_plan,
    "gram": _gram_plan,
    "krylov": _products_plan,
}


def _solver(p: LinearProblem, n: int, limits: Limits) -> Solver:
    """Of an n×n matrix: LAPACK, or products with it if few of many components are wanted."""
    if n <= _PRODUCTS_FROM or _MANY * p.wanted >= n or p.share:
        return Dense(psd=True)
    return BlockKrylov(tol=p.tol or HELD_TOL, threads=limits.threads)


def _pairs(p: LinearProblem) -> int:
    """How many singular vectors are looked at: all, where the number follows from the values."""
    return p.all if p.k is None or p.whole or p.share else p.wanted


def _decomposed(m: int, d: int, k: int) -> int:
    """Bytes of a matrix m×d, of LAPACK's copy, factors and work, and of k pairs with their products and residuals."""
    return 8 * (4 * m * d + 6 * min(m, d) ** 2 + 3 * (m + d) * k)


def _loaded(p: LinearProblem) -> int:
    """Bytes of rows that have to be read from a file first, and stay."""
    return 0 if p.held else p.n * p.d * p.itemsize + p.reading


def _blocks(p: LinearProblem) -> int:
    """Bytes of the rows that are worked on; of those that are read, two blocks and what reading leaves behind."""
    if p.sparse:
        return 48 * SPARSE_ENTRIES
    narrow = p.d <= NARROW
    rows = min(p.n, (LANES if narrow else 1) * lane_rows(p.d, p.held, narrow))
    return rows * p.d * (max(p.itemsize, 4) + (0 if p.held else 3 * p.itemsize))


def _within(limits: Limits, plan: Plan, advice: str = _FOR_ALL) -> Plan:
    return within(limits, plan, advice)
