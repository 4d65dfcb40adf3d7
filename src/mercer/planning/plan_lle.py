"""The route of locally linear embedding: which factorization, of all samples or of landmarks.

Sizes, the neighbor graph and the memory limit decide, never a clock. What a sparse factor costs depends on how the
graph can be cut: the widest level of a breadth-first search is about the size of its separators, so a factor of n
columns has about n·width entries and takes about 0.4·n·width² multiplications. (Measured on rolls, tori, normal samples
in 1 to 64 dimensions and digits, n = 1,000 to 8,000: 0.2 to 1.1 times the first, 0.02 to 0.5 times the second, except
for curves, where both are small. Clustered samples are overestimated most.)
"""

from dataclasses import dataclass, replace
from math import log
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order

from mercer.budget import Budget, format_bytes
from mercer.data.dataset import Dataset
from mercer.errors import MercerWarning, ParameterError, Remedy
from mercer.kernels.base import Kernel
from mercer.linalg.alignment import neighborhood_rows
from mercer.linalg.neighbors import NeighborSpace, tile_bytes
from mercer.linalg.shift_invert import DenseBottom, ShiftInvert
from mercer.numerics.blocking import block_rows
from mercer.planning.plan import Plan, check_memory
from mercer.text import counted

LARGE_SAMPLES = 20_000  # from which the graph of a sample shows first whether a full factor takes too long
SMALL_SAMPLES = 400  # up to which LAPACK takes the whole matrix
DEFAULT_TOL = 1e-6
TYPICAL_NEIGHBORS = 12  # of a plan with n_neighbors="auto"
_BUFFERS = 14_000_000  # bytes that the allocator keeps
_SPARSE_RATE, _DENSE_RATE = 3e9, 24e9  # nominal multiplications per second of SuperLU, and of Cholesky on a thread
_SPARSE_BIAS = 2.5  # the estimate for sparse factors is rather high
_MOST_ENTRIES = 2**32  # of L and U together: SuperLU counts each of them in 32 bits
_PATIENCE, _LANDMARK_PATIENCE = 600.0, 60.0  # nominal seconds for all samples, and for landmarks instead
_LANDMARKS = 20_000, 10_000, 5_000, 2_000, 1_000, 500
_POOL, _SMALLEST_POOL = 8, 2  # samples that a landmark is chosen from, and if memory is short
_PROBES = 500, 2000  # samples from which the width of a large graph is extrapolated
_PASSES = 7
_FEW = 8  # fraction of the samples in a level that makes a sparse factor worth it


@dataclass(frozen=True)
class LLEProblem:
    """The sizes that decide. `width` is None until something is known of the neighbor graph."""

    n: int
    n_features: int
    n_components: int
    n_neighbors: int
    eigen_solver: str = "auto"
    max_passes: int = 100
    tol: float = DEFAULT_TOL
    n_landmarks: int | None = None
    width: float | None = None
    row_entries: float = 0.0  # of M, if it is known
    reading: int = 0  # bytes of samples that have to be read first
    row_bytes: float = 0.0  # of a sample in the form that neighbors are searched in
    entry_cost: float = 0.0  # nominal nanoseconds of a distance where no tree helps; 0: vectors
    precomputed: bool = False

    @classmethod
    def from_params(cls, model: Any, data: Dataset, metric: Any) -> Self:
        """The sizes of a fit, after scikit-learn's checks of them."""
        n, d = data.shape
        k = model.n_neighbors
        if k == "auto":
            most = min(n, model.n_landmarks or n) - 1
            k = max(min(TYPICAL_NEIGHBORS, most), fewest_neighbors(model.method, model.n_components))
        kernel, given, is_sparse = isinstance(metric, Kernel), data.kind == "precomputed", data.nnz is not None
        check_sizes(model, n, d, int(k), metric in ("euclidean", "cosine"))
        read = 0 if data.in_memory and not (model.standardize and not is_sparse) else data.nbytes
        cost = metric.entry_cost(data) if kernel else 30.0 if is_sparse else float(given)
        return cls(
            n=n,
            n_features=d,
            n_components=int(model.n_components),
            n_neighbors=int(k),
            eigen_solver=model.eigen_solver,
            max_passes=model.max_iter,
            tol=float(model.tol or DEFAULT_TOL),
            n_landmarks=model.n_landmarks,
            reading=read,
            row_bytes=0.0 if given else data.nbytes / n if kernel or is_sparse else 8.0 * d,
            entry_cost=cost,
            precomputed=given,
        )

    def of_landmarks(self, count: int) -> Self:
        """The same for a part of the samples, which is copied."""
        width = None if self.width is None else self.width * (count / self.n) ** 0.5
        row_bytes = 8.0 * count if self.precomputed else self.row_bytes
        return replace(self, n=count, width=width, reading=0, row_bytes=row_bytes, n_landmarks=None)


def fewest_neighbors(method: str, n_components: int) -> int:
    """The fewest neighbors with which a method is defined."""
    d = n_components
    return {"hessian": d * (d + 3) // 2 + 1, "modified": d, "ltsa": d + 2}.get(method, 1)


def check_sizes(model: Any, n: int, n_features: int, k: int, are_vectors: bool) -> None:
    """Raise for sizes that are impossible, in scikit-learn's words where it has them."""
    d, method, landmarks = int(model.n_components), model.method, model.n_landmarks
    least, sizes = fewest_neighbors(method, d), f"n_neighbors={k}, n_components={d}"
    too_few = {
        "hessian": "for method='hessian', n_neighbors must be greater than [n_components * (n_components + 3) / 2]: "
        f"{sizes}",
        "modified": f"modified LLE requires n_neighbors >= n_components: {sizes}",
    }
    if are_vectors and d > n_features:
        text = "output dimension must be less than or equal to input dimension"
        message = f"{text}: n_components={d}, n_features={n_features}"
        raise ParameterError("n_components", d, f"at most {n_features}", message=message)
    if k >= n:
        message = f"Expected n_neighbors < n_samples, but n_samples = {n}, n_neighbors = {k}"
        raise ParameterError("n_neighbors", k, f"less than {n}", message=message)
    if d >= n:
        raise ParameterError("n_components", d, f"less than n_samples={n}")
    if landmarks is not None and landmarks <= max(k, d):
        raise ParameterError("n_landmarks", landmarks, f"more than n_neighbors={k} and n_components={d}")
    if k < least:
        requirement = f"at least {least} for method={method!r} with n_components={d}"
        raise ParameterError("n_neighbors", k, requirement, message=too_few.get(method, ""))


# ---------------------------------------------------------------------- the neighbor graph


def graph_width(M: Any, start: int = 0) -> float:
    """The widest level of a breadth-first search from a peripheral sample, in a component of at least half of them."""
    graph = sparse.csr_array((M.data, M.indices, M.indptr), shape=M.shape)  # symmetric: columns are rows
    for _ in range(2):
        order, before = breadth_first_order(graph, start, directed=True)
        place = np.empty(M.shape[0], dtype=np.intp)
        place[order] = np.arange(len(order))
        parents, widest, low, high = place[before[order[1:]]], 0, 0, 1
        while low < high:  # samples of a level lie side by side in the order, and so do their parents
            widest = max(widest, high - low)
            low, high = high, 1 + int(np.searchsorted(parents, high))
        if 2 * len(order) < M.shape[0]:  # a small component
            labels = sparse.csgraph.connected_components(graph, directed=False)[1]
            start = int(np.argmax(labels == np.argmax(np.bincount(labels))))
            continue
        if _FEW * widest < len(order):
            break
        start = int(order[-1])  # a level around a sample in the middle is up to twice as wide
    return float(widest)


def estimate_width(space: NeighborSpace, k: int, rng: np.random.Generator) -> float:
    """The width for all samples, as a power of their number, from random subsets of 500 and 2,000."""
    found = []
    for count in _PROBES:
        indices = space.take(np.sort(rng.choice(space.n, count, replace=False))).nearest(k).indices
        found.append(graph_width(_two_steps(indices)))
    growth = min(max(log(found[1] / found[0]) / log(_PROBES[1] / _PROBES[0]), 0.0), 1.0)
    return min(found[1] * (space.n / _PROBES[1]) ** growth, float(space.n))


def _two_steps(indices: NDArray) -> Any:
    """The pattern of M: samples with a common neighbor."""
    n, k = indices.shape
    members = np.column_stack([np.arange(n), indices]).ravel()
    graph = sparse.csr_array((np.ones(len(members)), members, np.arange(0, n * (k + 1) + 1, k + 1)), shape=(n, n))
    return sparse.csr_array(graph.T @ graph)


# ---------------------------------------------------------------------- the plan


def plan_lle(problem: LLEProblem, budget: Budget, *, embed_all: bool = False) -> Plan:
    """The plan for all samples, or for landmarks: requested, or with a warning where all would not fit.

    `embed_all`: no landmarks, as all samples are embedded already but for their eigenvectors.
    """
    p = problem
    if not embed_all and p.n_landmarks is not None and p.n_landmarks < p.n:
        plan = _landmark_plan(p, budget, p.n_landmarks, "requested by n_landmarks.")
        return check_memory(plan, budget, (Remedy("memory_limit", _size(plan.memory)),))
    plans = _plans(p, budget)
    if plans[0].memory <= budget.memory and (embed_all or _seconds(p, plans[0], budget) <= _PATIENCE):
        return plans[0]
    fitting = [plan for plan in plans if plan.memory <= budget.memory]
    smallest = min(plans, key=lambda plan: plan.memory)
    if not embed_all and p.eigen_solver == "auto" and p.n_landmarks is None:
        reason = f"an embedding of all {p.n:,} rows "
        if fitting:
            reason += f"would take about {_seconds(p, fitting[0], budget) / 60:,.0f} minutes"
        else:
            reason += f"needs {format_bytes(smallest.memory)}, but the limit is {format_bytes(budget.memory)}"
        if affordable := _affordable_landmarks(p, budget, reason):
            return affordable
    return fitting[0] if fitting else check_memory(smallest, budget, _remedies(p, smallest, budget))


def _affordable_landmarks(p: LLEProblem, budget: Budget, reason: str) -> Plan | None:
    """As many landmarks as memory and a minute suffice for, with a warning."""
    least = max(4 * p.n_neighbors, p.n_components + 2)
    for count in (count for count in _LANDMARKS if least <= count <= p.n // 2):
        few, plan = p.of_landmarks(count), _landmark_plan(p, budget, count, f"{reason}.")
        quick = _seconds(few, _plans(few, budget)[0], budget) <= _LANDMARK_PATIENCE
        if quick and plan.memory <= budget.memory:
            text = f"{count:,} landmarks are embedded and all other rows placed between them, as {reason}."
            return replace(
                plan, warning=MercerWarning(f"{text} See certificate_.", remedies=(Remedy("n_landmarks", count),))
            )
    return None


def _plans(p: LLEProblem, budget: Budget) -> list[Plan]:
    """The plans for all samples, the best first."""
    if p.n <= SMALL_SAMPLES and p.eigen_solver != "arpack":
        return [_plan(p, budget, "dense", f"{counted(p.n, 'sample')}, a small matrix.", DenseBottom())]
    width = _width(p)
    known = "" if p.width else "if the samples lie on a surface, "
    reason = f"{known}a sparse factor has about {min(width, p.n):,.0f} entries in a column."
    if p.eigen_solver in ("arpack", "dense"):
        factor = "sparse" if p.eigen_solver == "arpack" else "dense"
        return [_plan(p, budget, factor, f"requested by eigen_solver; {reason}")]
    sparse_plan, dense_plan = _plan(p, budget, "sparse", reason), _plan(p, budget, "dense", reason)
    if _seconds(p, sparse_plan, budget) > _SPARSE_BIAS * _seconds(p, dense_plan, budget):
        return [dense_plan, sparse_plan]
    return [sparse_plan, dense_plan]


def _plan(p: LLEProblem, budget: Budget, factor: str, reason: str, solver: Any = None) -> Plan:
    flops = 0.4 * p.n * _width(p) ** 2 if factor == "sparse" else p.n**3 / 3
    return Plan(
        factor,
        solver or ShiftInvert(factor, p.tol, p.max_passes, budget.threads),
        int(min(_memory(p, budget, factor), 2**62)),
        reason,
        p.tol,
        1 if solver else _PASSES,
        flops,
    )


def _width(p: LLEProblem) -> float:
    """The width of the graph, or of a surface until it is known."""
    return p.width or min(2.5 * (p.n * max(p.n_neighbors, 4) / TYPICAL_NEIGHBORS) ** 0.5, float(p.n))


def _seconds(p: LLEProblem, plan: Plan, budget: Budget) -> float:
    """Nominal seconds of the factorization and of the search for neighbors."""
    rate = _SPARSE_RATE if plan.route == "sparse" else _DENSE_RATE * budget.threads
    cost = p.entry_cost + 3 if p.entry_cost else 0.0 if p.n_features <= 8 else 1.5 + 0.04 * p.n_features
    return plan.flops / rate + 1e-9 * cost * p.n**2 / budget.threads


def _memory(p: LLEProblem, budget: Budget, factor: str) -> float:
    """Bytes at the peak: while neighborhoods are looked at, or while the matrix is factored and solved with."""
    n, k = p.n, p.n_neighbors
    gram_width = 1 if p.entry_cost else p.n_features
    block = 24 * min(n, neighborhood_rows(k, gram_width)) * k * max(k + 1, gram_width)
    searching = budget.threads * tile_bytes(n, not p.entry_cost) + (0 if p.entry_cost else 4 * n * p.n_features)
    row = p.row_entries or 3.0 * k
    aligning = budget.threads * block + 36 * n * row
    if factor == "sparse":
        entries = 1.2 * n * min(_width(p), n) + 2 * n * row
        factored = 12.5 * entries if entries < _MOST_ENTRIES else float("inf")
    else:
        factored = 8.0 * n * n * (6 if n <= SMALL_SAMPLES else 1)
    solving = 24 * n * row + factored + 8 * n * (16 * p.n_components + 100)
    return _BUFFERS + p.reading + p.row_bytes * n + 12 * n * k + max(searching, aligning, solving)


def _landmark_plan(p: LLEProblem, budget: Budget, count: int, reason: str) -> Plan:
    """Landmarks from as large a pool as there is room for, and all other samples placed block by block."""
    few = p.of_landmarks(count)
    inner = min(_plans(few, budget), key=lambda plan: (plan.memory > budget.memory, _seconds(few, plan, budget)))
    sizes = [size * count for size in range(_POOL, _SMALLEST_POOL, -1)]
    fitting = (size for size in sizes if _choosing(p, size) <= budget.memory)
    pool = min(p.n, next(fitting, _SMALLEST_POOL * count))
    rows = min(p.n, block_rows(count if p.precomputed else p.n_features))
    placing = rows * (3 * (8 * count if p.precomputed else p.row_bytes) + 32 * p.n_neighbors + 24 * p.n_components)
    tile = budget.threads * tile_bytes(count, not p.entry_cost)
    memory = max(_choosing(p, pool), inner.memory, _BUFFERS + few.row_bytes * count + placing + tile)
    return replace(
        inner,
        route="landmarks",
        memory=int(memory + 8 * p.n * (p.n_components + 3)),
        reason=reason,
        n_landmarks=count,
        pool_size=p.n if p.precomputed else pool,
    )


def _choosing(p: LLEProblem, pool: int) -> float:
    """Bytes of the pool of samples; distances that were passed take none."""
    return _BUFFERS + (0.0 if p.precomputed else 2 * p.row_bytes * min(pool, p.n)) + 40 * p.n


def _size(size: float) -> str:
    return format_bytes(size).replace(" ", "")


def _remedies(p: LLEProblem, plan: Plan, budget: Budget) -> tuple[Remedy, ...]:
    """A larger limit, or as many landmarks as fit."""
    found = [Remedy("memory_limit", _size(plan.memory))]
    possible = (count for count in _LANDMARKS if max(p.n_neighbors, p.n_components) < count < p.n)
    count = next((c for c in possible if _landmark_plan(p, budget, c, "").memory <= budget.memory), None)
    return tuple(found) if count is None else (*found, Remedy("n_landmarks", count))
