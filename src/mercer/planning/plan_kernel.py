"""The route of kernel PCA. Sizes, costs of the kernel and the memory limit decide, never a clock."""

from typing import Any

from mercer.budget import Budget, format_bytes
from mercer.data.dataset import Dataset
from mercer.errors import Remedy
from mercer.kernels.base import Kernel
from mercer.linalg.dense import Dense
from mercer.linalg.gram import LANES
from mercer.linalg.krylov import Arpack, BlockKrylov
from mercer.planning.plan import IN_MEMORY_TOL, Plan, check_memory
from mercer.text import counted

SMALL_SAMPLES = 500  # up to which LAPACK takes the whole matrix
_ARPACK_SAMPLES = 2000  # up to which the matrix stays in the cache of one core, where ARPACK is fastest
_CHEAP_ENTRY = 5.0  # nanoseconds up to which recomputing an entry costs no more than reading it
_STORED_SAMPLES = 12_000
_BUFFERS = 14_000_000  # bytes that the allocator keeps
_DENSE = Dense()


def plan_kernel_pca(model: Any, data: Dataset, kernel: Kernel, budget: Budget, *, n_samples: int | None = None) -> Plan:
    """The first route that applies and fits into memory."""
    n = len(data) if n_samples is None else n_samples
    k = n if model.n_components is None else min(model.n_components, n)
    tol, solver = model.tol or IN_MEMORY_TOL, model.eigen_solver
    stored = "precomputed" if kernel.input_kind == "precomputed" else "stored"
    if n <= SMALL_SAMPLES and solver != "krylov":
        return Plan(stored, _DENSE, 8 * 6 * n * n, f"{counted(n, 'sample')}, a small matrix.", tol)
    matrix = 8 * n * n if stored == "stored" else 0
    if solver == "dense" or 10 * k > n:
        reason = "requested by eigen_solver." if solver == "dense" else f"{k:,} of {n:,} components."
        squares = 2 if 4 * k < n else 6
        plan = Plan(stored, _DENSE, _BUFFERS + matrix + 8 * squares * n * n, reason, tol, 1, 1.4 * n**3)
        return check_memory(plan, budget, _remedies(plan))
    passes = model.max_iter or 300
    if solver != "krylov" and n <= _ARPACK_SAMPLES:
        arpack = Arpack(tol, passes)
        memory = _BUFFERS + matrix + arpack.memory(n, k)
        return check_memory(
            Plan(
                stored,
                arpack,
                memory,
                f"{counted(n, 'sample')}.",
                tol,
                arpack.expected_passes(k),
                100.0 * n * n,
            ),
            budget,
        )
    return check_memory(_krylov_plan(n, k, stored, kernel.entry_cost(data), tol, passes, budget), budget)


def _krylov_plan(n: int, k: int, stored: str, cost: float, tol: float, passes: int, budget: Budget) -> Plan:
    """Block Lanczos on the stored matrix, or matrix-free where entries are cheap or too many."""
    krylov = BlockKrylov(tol, 8 if k <= 16 else 16, passes)
    basis, expected, size = _BUFFERS + krylov.memory(n, k), krylov.expected_passes(k), 8 * n * n
    flops = 2.0 * n * n * (krylov.block_size + 10) * expected
    if stored == "precomputed":
        return Plan(stored, krylov, basis, "the matrix is given.", tol, expected, flops)
    fits = 2 * size <= budget.memory
    if fits and cost > _CHEAP_ENTRY and (n <= _STORED_SAMPLES or cost > 4 * _CHEAP_ENTRY):
        return Plan(
            stored,
            krylov,
            basis + size,
            f"the kernel matrix takes {format_bytes(size)}.",
            tol,
            expected,
            flops,
        )
    lanes = 8 * n * (krylov.block_size + 16) * (LANES + 3)
    reason = f"the kernel matrix would take {format_bytes(size)}" + (", recomputing it is as fast." if fits else ".")
    return Plan("matrix-free", krylov, basis + lanes, reason, tol, expected, flops)


def _remedies(plan: Plan) -> tuple[Remedy, ...]:
    return (Remedy("memory_limit", format_bytes(plan.memory).replace(" ", "")), Remedy("n_components", 10))
