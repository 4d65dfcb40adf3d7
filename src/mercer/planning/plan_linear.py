"""The route of a linear fit.

A direct method (scatter or Gram matrix) costs what it costs; block Lanczos on products with the rows may be much
cheaper, or not converge for a long time. So the direct one is taken if it costs at most 15 passes, or half more than
block Lanczos is expected to take, or if many components are wanted. Otherwise block Lanczos starts, and the fit
changes over once its passes have cost as much as the direct method would. Sizes and the memory limit decide, never a
clock, so that plans repeat.
"""

from dataclasses import replace
from typing import NamedTuple

from mercer.budget import Budget
from mercer.errors import Remedy
from mercer.linalg.dense import Dense
from mercer.linalg.krylov import BlockKrylov
from mercer.linalg.row_gram import gram_flops
from mercer.linalg.scatter import accumulate_bytes, scatter_flops
from mercer.linalg.scatter_operator import product_flops
from mercer.planning.plan import IN_MEMORY_TOL, Plan, check_memory
from mercer.text import counted

SMALL_ENTRIES, SMALL_ROWS = 250_000, 5000  # up to which a dense array in memory is fitted without a plan search
_LAPACK_SIDE = 500  # rows and columns up to which LAPACK takes the rows, and their fewer ones a direct method
_MOST_SIDE = 5000  # side up to which all eigenvalues are computed for a fraction or a rule
_FEW_PASSES = 15  # that a direct method may cost
_BLOCK = 16  # columns of a pass
_READING, _CONVERTING = 50.0, 30.0  # operations that take as long as reading a byte, and as converting an integer
_STEP = 5e7  # and as the work of block Lanczos between two passes, at least
_ORTHOGONAL = 40.0  # operations per entry of its basis and column of a block
_PIECE_ENTRIES, _READ_ENTRIES = 1_000_000, 17_000_000  # that a thread multiplies at a time, that are read at once
_BUFFERS = 14_000_000  # bytes that the allocator keeps
_DENSE = Dense()
_SKETCH = (Remedy("sketch_size", 200),)


class LinearSizes(NamedTuple):
    """The sizes that decide."""

    n_samples: int
    n_features: int
    n_components: int | None  # None: not known beforehand
    n_possible: int
    by_rule: bool = False  # whether a rule by name needs all eigenvalues
    nnz: int | None = None
    in_memory: bool = True
    itemsize: int = 8
    small_integers: bool = False
    reading_bytes: int = 0
    n_threads: int = 1
    svd_solver: str = "auto"
    tol: float = 0.0

    @property
    def n_wanted(self) -> int:
        """Number of components that must be computed."""
        return self.n_possible if self.n_components is None else min(self.n_components, self.n_possible)

    @property
    def is_sparse(self) -> bool:
        return self.nnz is not None

    @property
    def n_bytes(self) -> float:
        """Bytes of the rows in memory."""
        return 12.0 * self.nnz if self.nnz is not None else float(self.n_samples) * self.n_features * self.itemsize

    @property
    def pass_bytes(self) -> int:
        """Memory of a pass that fills a matrix of the columns."""
        n, d = self.n_samples, self.n_features
        summed = accumulate_bytes(n, d, self.itemsize, self.is_sparse, self.in_memory, self.n_threads)
        return _BUFFERS + self.reading_bytes + summed

    @property
    def block_bytes(self) -> int:
        """Memory of rows as they are multiplied, and as they are read."""
        entries = self.n_samples * self.n_features if self.nnz is None else self.nnz
        read = 0 if self.in_memory else 2 * (16 if self.is_sparse else self.itemsize) * min(entries, _READ_ENTRIES)
        return _BUFFERS + self.reading_bytes + read + 24 * self.n_threads * min(entries, _PIECE_ENTRIES)

    @property
    def pass_flops(self) -> float:
        """Cost of one product with a block of vectors."""
        reading = 0.0 if self.in_memory else _READING * self.n_bytes
        if self.small_integers:
            reading += _CONVERTING * self.n_samples * self.n_features
        basis = self.n_features * (min(self.n_wanted, 100) + 10.0 * _BLOCK)
        own = _STEP + _ORTHOGONAL * _BLOCK * basis
        return product_flops(self.n_samples, self.n_features, _BLOCK, self.nnz) + reading + own


def plan_small(n: int, d: int, svd_solver: str = "auto", tol: float = 0.0) -> Plan:
    """The plan of n x d values in a small dense array in memory."""
    route, reason = _BY_NAME.get(svd_solver), "requested by svd_solver."
    if route is None:
        route, reason = "scatter" if n >= 10 * d else "gram" if d >= 10 * n else "rows", "a small matrix."
    side = min(n, d)
    memory, flops = 8 * (3 * n * d + 6 * side * side), float(n) * d * side
    return Plan(route, _DENSE, memory, reason, tol or IN_MEMORY_TOL, 1, flops)


def plan_linear(sizes: LinearSizes, budget: Budget) -> Plan:
    """The plan of a fit of any size."""
    route = _BY_NAME.get(sizes.svd_solver)
    if route is not None:
        return check_memory(_PLANS[route](sizes, "requested by svd_solver."), budget)
    plan = _choose(sizes, budget)
    if plan.memory > budget.memory and plan.route != "products" and not sizes.by_rule:
        spare = products_plan(sizes, f"{plan.route} would need more memory.", None)
        plan = spare if spare.memory <= budget.memory else plan
    return check_memory(plan, budget)


def _choose(sizes: LinearSizes, budget: Budget) -> Plan:
    n, d, k = sizes.n_samples, sizes.n_features, sizes.n_wanted
    if max(n, d) <= _LAPACK_SIDE and not sizes.is_sparse:
        return rows_plan(sizes, f"{n:,} x {d:,} values are few.")
    few = f"{counted(d, 'column')}, fewer than rows" if d <= n else f"{counted(n, 'row')}, fewer than columns"
    direct, cost = direct_plan(sizes, f"{few}."), sizes.pass_flops
    all_wanted = sizes.by_rule or 10 * k > sizes.n_possible
    if sizes.n_components is None and not sizes.by_rule:
        all_wanted = min(n, d) <= _MOST_SIDE
    most = max(_FEW_PASSES, 1.5 * BlockKrylov(block_size=_BLOCK).expected_passes(k))
    if all_wanted or min(n, d) <= _LAPACK_SIDE or direct.flops <= most * cost:
        return direct
    affordable = max(_FEW_PASSES, int(direct.flops / cost))
    cap = affordable if direct.memory <= budget.memory else None
    return products_plan(sizes, f"{k:,} of {counted(sizes.n_possible, 'component')}.", cap)


def direct_plan(sizes: LinearSizes, reason: str) -> Plan:
    """The matrix of the smaller side."""
    return (scatter_plan if sizes.n_features <= sizes.n_samples else gram_plan)(sizes, reason)


def exact_plan(sizes: LinearSizes, reason: str) -> Plan:
    """A route without squares: QR of the rows, or their SVD if they are fewer than columns."""
    return (qr_plan if sizes.n_features <= sizes.n_samples else rows_plan)(sizes, reason)


def scatter_plan(sizes: LinearSizes, reason: str) -> Plan:
    """The d x d scatter matrix, summed up in one pass."""
    n, d = sizes.n_samples, sizes.n_features
    memory = max(sizes.pass_bytes, _BUFFERS + 16 * d * d + _DENSE.memory(d, sizes.n_wanted))
    flops = scatter_flops(n, d, sizes.nnz, sizes.small_integers) + _DENSE.flops(d, sizes.n_wanted)
    return Plan("scatter", _DENSE, memory, reason, sizes.tol or IN_MEMORY_TOL, 1, flops)


def plan_batches(sizes: LinearSizes, budget: Budget, sketch_size: int = 0) -> Plan:
    """Batches that are added to a scatter matrix, or to a sketch of it."""
    if not sketch_size:
        return check_memory(scatter_plan(sizes, "batches are added without loss."), budget, _SKETCH)
    memory = sizes.block_bytes + 8 * 12 * sketch_size * sizes.n_features
    flops = 8.0 * sizes.n_samples * sizes.n_features * sketch_size
    plan = Plan("sketch", _DENSE, memory, f"a sketch of {2 * sketch_size:,} rows.", IN_MEMORY_TOL, 1, flops)
    return check_memory(plan, budget)


def plan_factor_analysis(sizes: LinearSizes, budget: Budget) -> Plan:
    """Correlations from one pass if there are at most as many columns as rows, else the rows themselves."""
    n, d = sizes.n_samples, sizes.n_features
    if d <= n:
        plan = scatter_plan(sizes, f"correlations of {counted(d, 'column')}, from one pass.")
        return check_memory(replace(plan, memory=plan.memory + 24 * d * d), budget)
    memory = _BUFFERS + _loaded(sizes) + 8 * (5 * n * d + 5 * n * n)
    plan = rows_plan(sizes, f"{counted(n, 'row')}, fewer than {counted(d, 'column')}.")
    return check_memory(replace(plan, memory=memory), budget)


def qr_plan(sizes: LinearSizes, reason: str) -> Plan:
    """The SVD of a triangular factor, from one pass."""
    n, d, k = sizes.n_samples, sizes.n_features, sizes.n_wanted
    memory = max(sizes.pass_bytes, _BUFFERS + 8 * (10 * d * d + 6 * d * k))
    return Plan("qr", _DENSE, memory, reason, sizes.tol or IN_MEMORY_TOL, 1, 4.0 * n * d * d)


def rows_plan(sizes: LinearSizes, reason: str) -> Plan:
    """LAPACK's SVD of the centered rows."""
    n, d = sizes.n_samples, sizes.n_features
    side = min(n, d)
    memory = _BUFFERS + _loaded(sizes) + 8 * (4 * n * d + 6 * side * side + 3 * (n + d) * sizes.n_wanted)
    return Plan("rows", _DENSE, memory, reason, sizes.tol or IN_MEMORY_TOL, 1, 6.0 * n * d * side)


def gram_plan(sizes: LinearSizes, reason: str) -> Plan:
    """The n x n products of all pairs of rows."""
    n, d, k = sizes.n_samples, sizes.n_features, sizes.n_wanted
    loaded = int(sizes.n_bytes) if sizes.is_sparse and not sizes.in_memory else 0  # dense ones if there is room
    memory = sizes.block_bytes + loaded + 16 * n * n + _DENSE.memory(n, k) + 8 * 4 * d * k
    flops = gram_flops(n, d, sizes.nnz, sizes.small_integers) + _DENSE.flops(n, k)
    return Plan("gram", _DENSE, memory, reason, sizes.tol or IN_MEMORY_TOL, 3, flops)


def products_plan(sizes: LinearSizes, reason: str, max_passes: int | None = None) -> Plan:
    """Block Lanczos on products with the rows; `max_passes` is what a direct method would cost, if there is one."""
    tol = sizes.tol or IN_MEMORY_TOL
    solver = BlockKrylov(tol, _BLOCK) if max_passes is None else BlockKrylov(tol, _BLOCK, max_passes)
    k = min(sizes.n_wanted, 10) if sizes.n_components is None else sizes.n_wanted
    memory = sizes.block_bytes + solver.memory(sizes.n_features, k)
    passes = solver.expected_passes(k)
    return Plan("products", solver, memory, reason, tol, passes + 1, passes * sizes.pass_flops)


def _loaded(sizes: LinearSizes) -> int:
    """Bytes of rows that are read from a file and stay in memory."""
    return 0 if sizes.in_memory else int(sizes.n_bytes) + sizes.reading_bytes


_PLANS = {"rows": rows_plan, "scatter": scatter_plan, "qr": exact_plan, "gram": gram_plan, "products": products_plan}
_BY_NAME = {"full": "rows", "qr": "qr", "covariance_eigh": "scatter", "gram": "gram", "krylov": "products"}
