"""The route of a linear fit. Sizes and the memory limit decide, never a clock, so that plans repeat."""

from dataclasses import dataclass

from mercer.budget import Budget
from mercer.linalg.dense import Dense
from mercer.numerics.blocking import LANES, NARROW, SPARSE_ENTRIES, lane_rows
from mercer.planning.plan import IN_MEMORY_TOL, Plan, check_memory
from mercer.text import counted

SMALL_ENTRIES, SMALL_ROWS = (
    250_000,
    5000,
)  # up to which a dense array in memory is fitted without a plan search
_LAPACK_SIDE = 500  # rows and columns up to which LAPACK takes the rows themselves
_BUFFERS = 14_000_000  # bytes that the allocator keeps
_DENSE = Dense()


@dataclass(frozen=True)
class LinearSizes:
    """The sizes that decide."""

    n_samples: int
    n_features: int
    n_components: int | None  # None: not known beforehand, or all
    n_possible: int
    is_sparse: bool = False
    in_memory: bool = True
    itemsize: int = 8
    reading_bytes: int = 0
    svd_solver: str = "auto"
    tol: float = 0.0

    @property
    def n_wanted(self) -> int:
        """Number of components that must be computed."""
        return self.n_possible if self.n_components is None else min(self.n_components, self.n_possible)


def plan_small(sizes: LinearSizes) -> Plan:
    """The plan of a small dense array in memory."""
    n, d = sizes.n_samples, sizes.n_features
    route = _BY_NAME.get(sizes.svd_solver)
    reason = "requested by svd_solver."
    if route is None:
        route = "scatter" if n >= 10 * d else "gram" if d >= 10 * n else "rows"
        reason = "a small matrix."
    side = min(n, d)
    return Plan(route, _DENSE, 8 * (3 * n * d + 6 * side * side), reason, sizes.tol or IN_MEMORY_TOL)


def plan_linear(sizes: LinearSizes, budget: Budget) -> Plan:
    """The plan of a fit of any size."""
    plan = _choose(sizes)
    if plan.memory > budget.memory and plan.route != "scatter":
        spare = _scatter_plan(sizes, f"the route {plan.route!r} would need more memory.")
        plan = spare if spare.memory <= budget.memory else plan
    return check_memory(plan, budget)


def _choose(sizes: LinearSizes) -> Plan:
    n, d = sizes.n_samples, sizes.n_features
    route = _BY_NAME.get(sizes.svd_solver)
    if route is not None:
        return _PLANS[route](sizes, "requested by svd_solver.")
    if sizes.is_sparse:
        return _scatter_plan(sizes, "sparse rows are multiplied, never made dense.")
    if max(n, d) <= _LAPACK_SIDE:
        return rows_plan(sizes, f"{n:,} x {d:,} values are few.")
    if d <= n:
        return _scatter_plan(sizes, f"{counted(d, 'column')}, fewer than rows.")
    return _gram_plan(sizes, f"{counted(n, 'row')}, fewer than {counted(d, 'column')}.")


def _scatter_plan(sizes: LinearSizes, reason: str) -> Plan:
    n, d = sizes.n_samples, sizes.n_features
    lanes = (LANES if d <= NARROW else 1) * 24 * d * d
    rows = min(n, LANES * lane_rows(d)) * d * 8
    read = 0 if sizes.in_memory else 2 * min(n, LANES * lane_rows(d)) * d * sizes.itemsize
    blocks = 48 * SPARSE_ENTRIES if sizes.is_sparse else rows + read
    memory = _BUFFERS + sizes.reading_bytes + max(lanes + blocks, 64 * d * d)
    return Plan("scatter", _DENSE, memory, reason, sizes.tol or IN_MEMORY_TOL, 1, n * d * d + 2.0 * d**3)


def rows_plan(sizes: LinearSizes, reason: str) -> Plan:
    """LAPACK's SVD of the centered rows."""
    n, d = sizes.n_samples, sizes.n_features
    side = min(n, d)
    memory = _BUFFERS + _loaded(sizes) + 8 * (4 * n * d + 6 * side * side + 3 * (n + d) * sizes.n_wanted)
    return Plan("rows", _DENSE, memory, reason, sizes.tol or IN_MEMORY_TOL, 1, 6.0 * n * d * side)


def _gram_plan(sizes: LinearSizes, reason: str) -> Plan:
    n, d = sizes.n_samples, sizes.n_features
    memory = _BUFFERS + _loaded(sizes) + 8 * (n * d + 8 * n * n + 4 * d * sizes.n_wanted)
    return Plan("gram", _DENSE, memory, reason, sizes.tol or IN_MEMORY_TOL, 1, float(n) * n * d + 2.0 * n**3)


def _loaded(sizes: LinearSizes) -> int:
    """Bytes of rows that are read from a file and stay in memory."""
    return 0 if sizes.in_memory else sizes.n_samples * sizes.n_features * sizes.itemsize + sizes.reading_bytes


_PLANS = {"rows": rows_plan, "scatter": _scatter_plan, "gram": _gram_plan}
_BY_NAME = {"full": "rows", "qr": "rows", "covariance_eigh": "scatter", "gram": "gram"}
