"""How long a plan takes: operations, counted, at a pace that a few timed tiles tell.

All times are shown and decide nothing. Whoever has to choose by cost takes the nominal pace, which is no measurement,
so that runs repeat.
"""

from dataclasses import dataclass
from typing import NamedTuple

from mercer_old.blocks import LANES
from mercer_old.plans.linear import LinearProblem
from mercer_old.plans.plan import Plan
from mercer_old.plans.sizes import Problem
from mercer_old.solvers.completeness import PROBES
from mercer_old.solvers.dense import Dense
from mercer_old.solvers.feature_side import Factored, FactoredKrylov
from mercer_old.solvers.krylov import GUARD, BlockKrylov
from mercer_old.solvers.landmarks import Landmarks
from mercer_old.solvers.warm import WarmKrylov, start_columns
from mercer_old.threads import WORTH_BLAS_THREADS

# In units of one addition or multiplication in a large product of double precision, as counted on one thread:
_VALUES, _VECTORS, _ALL_VECTORS = 3.6, 7.0, 9.5  # an eigenproblem: n³ for values, n²k for vectors; n³ with all of them
_SMALL_SIDE = 500.0  # n² of it: what LAPACK loses on small matrices
_SVD, _QR = 24.0, 8.0  # m·d·min(m, d) of singular values with vectors, and m·d² of a triangle
_TALL = 1.8  # products of tall and narrow matrices, which wait for memory
_SINGLE = 0.65  # products in single precision
_FEW_COLUMNS_COST = 8.0  # columns that a product with few of them costs on top
_READ, _MOVE = 40.0, 140.0  # a number read from memory in a product; read, moved to the mean and written
_SUMMED = 1.9  # squares of rows, which are summed up in short chains
_SWEPT = 1.6  # a sweep for landmarks: features, their errors, and sums in short chains
_SPARSE = 10.0  # an operation on a sparse number
_COUNTED = 600.0  # nanoseconds of a sparse feature that is counted in a text, twice
_MOVED = 1.0  # nanoseconds of a byte that goes to a worker, or comes from one
# Of processors:
START = 0.01  # seconds of any fit: checks, the certificate, words
_LAPACK_GAIN = 0.5  # what a further thread adds to LAPACK, of a thread


@dataclass(frozen=True)
class Pace:
    """Nanoseconds on one thread: nominal, until tiles are timed."""

    flop: float = 0.021  # an addition or multiplication in a large product
    fresh: float = 4.0  # a number of memory that is written for the first time
    double: float | None = None  # an entry of the kernel; None: by its nominal cost
    single: float | None = None  # the same in single precision, if it has that


NOMINAL = Pace()


class Work(NamedTuple):
    """Nanoseconds on one thread: of tiles that all threads share, of LAPACK where it has threads, and where not; and of
    tiles that the workers of a cluster share."""

    shared: float = 0.0
    lapack: float = 0.0
    alone: float = 0.0
    spread: float = 0.0

    @property
    def total(self) -> float:
        return sum(self)

    def plus(self, other: "Work") -> "Work":
        return Work(*(mine + its for mine, its in zip(self, other, strict=True)))

    def seconds(self, threads: int, workers: int = 0) -> float:
        """On so many threads here, and so many workers elsewhere."""
        lapack = self.lapack / (1 + _LAPACK_GAIN * (threads - 1))
        return START + 1e-9 * (self.shared / threads + lapack + self.alone + self.spread / max(workers, 1))


# ---------------------------------------------------------------------- kernel PCA


def kernel_work(plan: Plan, p: Problem, pace: Pace = NOMINAL) -> Work:
    """Of the fit of a kernel PCA."""
    k = p.n if p.k is None else min(p.k, p.n)
    double = p.entry_cost if pace.double is None else pace.double
    single = double if pace.single is None else pace.single
    held = Work(p.n * p.width * (pace.fresh if p.copied else 0.0), alone=plan.moved * _MOVED)
    if p.inverse:
        rows = plan.solver.count if isinstance(plan.solver, Landmarks) else p.n
        held = held.plus(Work(rows**2 * (double + pace.fresh), alone=rows**3 / 3 * 2 * pace.flop))
    if isinstance(plan.solver, Landmarks):
        return held.plus(_landmarks(plan.solver, p, k, pace, double, single))
    if isinstance(plan.solver, WarmKrylov):
        return held.plus(_warm(plan, plan.solver, p.n, k, pace, double, single))
    held = held.plus(_matrix(plan, p, pace, double))
    if isinstance(plan.solver, Dense):
        return held.plus(_dense(p.n, k, pace)).plus(Work(2 * p.n**2 * (pace.fresh + 2 * k * pace.flop)))
    if isinstance(plan.solver, Factored):
        D = p.n_features or 0
        sums = p.n * D * (6 * _MOVE + D + 8 * (k + _FEW_COLUMNS_COST)) * pace.flop
        return held.plus(Work(sums + 4 * p.n * k * pace.fresh)).plus(_dense(D, k, pace))
    steps, side = plan.solver, p.n
    if isinstance(steps, FactoredKrylov):
        steps, side = steps.steps, p.n_features or 0
    assert isinstance(steps, BlockKrylov)
    a_pass = _pass(plan, p, steps.block, pace, double)
    return held.plus(_passes(plan, a_pass * plan.passes)).plus(_basis(steps, plan.passes, side, k, pace))


def _matrix(plan: Plan, p: Problem, pace: Pace, double: float) -> Work:
    """Making what is held."""
    if plan.is_filled:
        entries = p.n**2 / 2 * double
        written = Work(p.n**2 * (pace.fresh + 4 * _READ * pace.flop))  # half of it across
        return written.plus(Work(entries) if plan.held == "gram" else Work(spread=entries))
    if plan.held == "features" and p.sparse_features:
        return Work(alone=_sparse_numbers(p) * _COUNTED)
    if plan.held == "features" and not p.free_features and p.n_features:
        return Work(p.n * p.n_features * pace.fresh)
    return Work()


def _pass(plan: Plan, p: Problem, columns: int, pace: Pace, double: float) -> float:
    """One product of the matrix with so many columns."""
    if plan.held in ("recomputed", "spread"):
        return _tiles(p.n, columns, pace, double)
    if plan.held == "features":
        if p.sparse or p.sparse_features:
            numbers, each = _sparse_numbers(p), 4 * (columns + _FEW_COLUMNS_COST) * _SPARSE
        else:
            numbers, each = p.n * (p.n_features or 0), 4 * (columns + _FEW_COLUMNS_COST)
        return numbers * (2 * (_MOVE + _READ) + each) * pace.flop
    return p.n**2 * (_READ + 2 * columns) * pace.flop


def _sparse_numbers(p: Problem) -> float:
    """Of sparse features: as many as were counted, else as is usual."""
    usual = 3 * p.n * p.width if p.sparse_features else 0.01 * p.n * (p.n_features or 0)
    return p.stored or usual


def _tiles(n: int, columns: float, pace: Pace, entry: float) -> float:
    """A pass over tiles that are evaluated and used twice."""
    return n**2 / 2 * (entry + (_READ + 4 * (columns + _FEW_COLUMNS_COST / 2)) * pace.flop)


def _passes(plan: Plan, time: float) -> Work:
    """Over the matrix, by whoever evaluates it."""
    return Work(spread=time) if plan.held == "spread" else Work(time)


def _basis(solver: BlockKrylov, passes: int, n: int, k: int, pace: Pace) -> Work:
    """Making a basis orthonormal and looking at its Ritz pairs."""
    columns = min(passes * solver.block, 5 * k + 200, n)
    rounds = max(1.0, passes * solver.block / columns)
    tall = rounds * n * (4 * columns**2 + 8 * columns * (k + GUARD)) * _TALL * pace.flop
    return Work(tall, alone=rounds * 2 * _ALL_VECTORS * columns**3 * pace.flop)


def _warm(plan: Plan, s: WarmKrylov, n: int, k: int, pace: Pace, double: float, single: float) -> Work:
    """A factor, its eigenvectors, rough passes and an exact one."""
    start = k + start_columns(k)
    factor = n * s.rank * (double + pace.fresh + 5 * s.rank * _TALL * pace.flop)
    rough = max(0, plan.passes - 1)
    first = min(rough, 1) * _tiles(n, start, pace, single)
    others = max(0, rough - 1) * _tiles(n, s.block, pace, single)
    exact = _tiles(n, start + s.block + PROBES, pace, double)
    small = Work(factor, alone=1.5 * _ALL_VECTORS * s.rank**3 * pace.flop)
    return small.plus(_passes(plan, first + others + exact))


def _landmarks(s: Landmarks, p: Problem, k: int, pace: Pace, double: float, single: float) -> Work:
    """Drawing them, one sweep, their eigenproblem, and exact passes."""
    r, n = s.count, p.n
    drawn = s.sample * r * (double + pace.fresh + r * _TALL * pace.flop)
    swept = _SWEPT * n * r * (single + double / 4 + 2 * r * _SINGLE * pace.flop)
    after = s.refine * _tiles(n, 2 * (k + start_columns(k)) + PROBES, pace, double)
    swept += n * r * (double + 2 * k * pace.flop) if s.refine else 0.0
    small = Work(drawn + swept, alone=(6 + (1 + s.refine) * _VALUES) * r**3 * pace.flop)
    return small.plus(Work(spread=after) if p.workers else Work(after))


# ---------------------------------------------------------------------- linear PCA


def linear_work(plan: Plan, p: LinearProblem, pace: Pace = NOMINAL) -> Work:
    """Of the fit of a PCA."""
    numbers = p.n * p.d * (p.density if p.sparse else 1.0)
    read = numbers * (_MOVE * pace.flop + (0.0 if p.held else pace.fresh))
    return _LINEAR[plan.held](plan, p, pace).plus(Work(read))


def _scatter(plan: Plan, p: LinearProblem, pace: Pace) -> Work:
    products = p.n * (p.d * p.density) ** 2 * _SPARSE if p.sparse else _SUMMED * p.n * p.d**2
    return Work((products + LANES * p.d**2 * _READ) * pace.flop).plus(_solved(plan, p, p.d, pace))


def _gram(plan: Plan, p: LinearProblem, pace: Pace) -> Work:
    back = p.d * (4 * p.n * p.wanted + 2 * p.wanted**2) + 2 * _MOVE * p.n * p.d
    return Work((_SUMMED * p.n**2 * p.d + back) * pace.flop).plus(_solved(plan, p, p.n, pace))


def _solved(plan: Plan, p: LinearProblem, n: int, pace: Pace) -> Work:
    """The n×n eigenproblem; of a share, values first."""
    if isinstance(plan.solver, BlockKrylov):
        passes = plan.solver.usual_passes(p.wanted)
        a_pass = n**2 * (_READ + 2 * plan.solver.block) * pace.flop
        return Work(a_pass * passes).plus(_basis(plan.solver, passes, n, p.wanted, pace))
    counted = eigenvalue_work(n, pace) if p.share or p.whole else Work()
    return _dense(n, p.wanted, pace).plus(counted)


def _triangle(plan: Plan, p: LinearProblem, pace: Pace) -> Work:
    return Work(_QR * p.n * p.d**2 * pace.flop).plus(_lapack(_SVD * p.d**3 * pace.flop, p.d**3))


def _rows(plan: Plan, p: LinearProblem, pace: Pace) -> Work:
    size = p.n * p.d * p.all
    return Work(p.n * p.d * pace.fresh).plus(_lapack(_SVD * size * pace.flop, size))


def _products(plan: Plan, p: LinearProblem, pace: Pace) -> Work:
    assert isinstance(plan.solver, BlockKrylov)
    numbers, columns = p.n * p.d * (p.density if p.sparse else 1.0), plan.solver.block
    a_pass = numbers * (_MOVE + 4 * (columns + _FEW_COLUMNS_COST) * (_SPARSE if p.sparse else 1.0)) * pace.flop
    return Work(a_pass * plan.passes).plus(_basis(plan.solver, plan.passes, p.d, p.wanted, pace))


def _sketch(plan: Plan, p: LinearProblem, pace: Pace) -> Work:
    """Every ℓ rows, 2ℓ of them are multiplied with each other and turned: some 6ℓ products for each number."""
    ends = p.d * (2 * p.sketch) ** 2
    turned = p.n * p.d * (_MOVE + 12 * p.sketch) * pace.flop
    return Work(turned).plus(_lapack(_SVD * ends * pace.flop, ends))


_LINEAR = {
    "scatter": _scatter,
    "gram": _gram,
    "triangle": _triangle,
    "rows": _rows,
    "products": _products,
    "sketch": _sketch,
}


# ---------------------------------------------------------------------- shared


def eigenvalue_work(n: int, pace: Pace = NOMINAL) -> Work:
    """LAPACK's eigenvalues of an n×n matrix, without vectors."""
    return _lapack((_VALUES * n**3 + _SMALL_SIDE * n**2) * pace.flop, n**3)


def _dense(n: int, k: int, pace: Pace) -> Work:
    """LAPACK's eigenpairs of an n×n matrix: some of them, or all."""
    some = 4 * k < n
    vectors = _VALUES * n**3 + _VECTORS * n**2 * k if some else _ALL_VECTORS * n**3
    return _lapack((vectors + _SMALL_SIDE * n**2) * pace.flop, n**3)


def _lapack(time: float, multiplications: float) -> Work:
    """Small problems have one thread."""
    return Work(lapack=time) if multiplications >= WORTH_BLAS_THREADS else Work(alone=time)
