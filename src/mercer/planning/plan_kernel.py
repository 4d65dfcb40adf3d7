"""The route of kernel PCA.

Options are tried in order; the first one that applies and fits into the memory limit is the plan. Sizes, nominal costs
of the kernel and the limit decide, never a clock or the free memory, so that plans repeat.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Self

from scipy.sparse.linalg import LinearOperator

from mercer.budget import Budget, format_bytes
from mercer.data.dataset import Dataset
from mercer.errors import MemoryLimitError, MercerWarning, Remedy
from mercer.kernels.base import FeatureMap, Kernel
from mercer.linalg.dense import Dense
from mercer.linalg.krylov import BlockKrylov
from mercer.numerics.blocking import BLOCK_ROWS, LANES, lane_rows
from mercer.planning.plan import IN_MEMORY_TOL, Plan, check_memory
from mercer.text import counted

SMALL_SAMPLES = 500  # up to which LAPACK takes the whole matrix
RULE_COMPONENTS = 100  # components that a rule for their number looks at
FIRST_COMPONENTS = 10  # that are computed first for a fraction of the variance
_CACHED_SAMPLES = 2000  # up to which the matrix stays in the cache of one core
_CHEAP_ENTRY, _DEAR_ENTRY = 5.0, 20.0  # nanoseconds: recomputed at the cost of reading; stored at any size that fits
_STORED_SAMPLES = 12_000
_DENSE_SPARSE_FEATURES = 1500  # up to which LAPACK is as fast as passes that may not prove that nothing was missed
_MOST_FEATURES, _MOST_SPARSE_FEATURES = 5000, 2000  # side of a matrix of features
_BUFFERS = 14_000_000  # bytes that the allocator keeps
_RECOMPUTED_BLOCK = 12  # columns of a pass that evaluates entries, which cost as much as ten columns
_TILES = 4_000_000  # bytes of tiles for each thread
_PASSES_SECONDS = 600.0  # nominal time of all passes from which landmarks replace them
_PRODUCT_COST = 3.0  # nominal nanoseconds for the products with an entry
_FEW_PASSES = 9
_DISTRIBUTED_SECONDS = 0.5  # nominal time of a pass from which workers evaluate it: their tasks start in 0.05 s
_LANDMARKS, _MOST_LANDMARKS, _FEWEST_LANDMARKS, _REFINED_LANDMARKS = 1000, 3000, 50, 2000
_POOL = 8  # samples for each landmark to choose it from, at least
_MOST_POOL, _POOL_ENTRIES = 100_000, 4_000_000
_DENSE = Dense()


@dataclass(frozen=True)
class FeatureSizes:
    """Sizes of exact features that replace the kernel matrix."""

    n_features: int
    sparse: bool
    narrow: bool  # whether the matrix of the features is smaller than K and fits
    recomputed: bool  # block by block, where a few passes are enough
    stored_bytes: int  # of features that are computed once, and of blocks whose mean is subtracted
    sums_bytes: int  # of products of transposed sparse features with a block of columns
    flops: float  # of a product with one column

    @classmethod
    def of(cls, feature_map: FeatureMap, n: int, width: int, nnz: int, is_sparse: bool, n_threads: int) -> Self | None:
        """The sizes for a feature map; None if the kernel matrix costs less. `nnz` counts entries of the samples."""
        D, sparse = feature_map.n_features, feature_map.sparse
        narrow = 0 < D <= min(n, _MOST_SPARSE_FEATURES if sparse else _MOST_FEATURES)
        cost_nothing = feature_map.identity and (is_sparse or n < D)  # and K would cost more
        sums_bytes = 8 * D * (8 * (LANES + 2) + 4) if sparse else 0
        if not (narrow or cost_nothing or sparse):
            return None
        if sparse:
            stored_bytes = 0 if is_sparse else 24 * (feature_map.nnz or nnz or 3 * n * width)
        else:
            stored_bytes = 2 * 8 * n_threads * D * min(n, lane_rows(D)) + (0 if feature_map.identity else 3 * 8 * n * D)
        flops = 10.0 * (nnz or 3 * n * width) if sparse else 2.0 * n * D
        return cls(D, sparse, narrow, feature_map.recomputable and not sparse, stored_bytes, sums_bytes, flops)


@dataclass(frozen=True)
class KernelSizes:
    """The sizes that decide."""

    n: int
    k: int | None  # None: all components
    wanted: int  # their number
    width: int  # numbers of a sample, see `Kernel.sample_width`
    entry_cost: float
    psd: bool
    matrix_route: str  # "stored" or "precomputed"
    matrix_bytes: int  # of the matrix, if it is stored, and of what is needed to fill it
    is_operator: bool
    sparse: bool  # whether samples are sparse rows
    features: FeatureSizes | None
    copied: int  # bytes of samples that the model copies or reads
    prepared: int  # bytes of samples as the kernel prepares them
    inverse: bool
    eigen_solver: str
    tol: float
    max_iter: int | None
    landmarks: bool  # whether landmarks are requested
    n_landmarks: int | None
    refine: int
    n_threads: int
    n_workers: int  # threads of a cluster

    @property
    def wide_features(self) -> bool:
        """Whether products with sparse features take more memory than K."""
        return self.features is not None and 8 * self.n * self.n < self.features.sums_bytes

    @property
    def pass_seconds(self) -> float:
        """Nominal time of a pass that evaluates every entry."""
        return self.pass_cost / max(self.n_threads, self.n_workers)

    @property
    def pass_cost(self) -> float:
        """The same for one thread."""
        return self.n**2 / 2 * (self.entry_cost + _PRODUCT_COST) * 1e-9

    @property
    def may_approximate(self) -> bool:
        """Whether landmarks may be used without being requested."""
        exact = self.tol > 0 or self.max_iter is not None or self.eigen_solver in ("dense", "krylov")
        return self.psd and self.k is not None and 4 * self.wanted <= self.n and not exact and not self.is_precomputed

    @property
    def is_precomputed(self) -> bool:
        return self.matrix_route == "precomputed"


def plan_kernel_pca(
    model: Any,
    data: Dataset,
    kernel: Kernel,
    feature_map: FeatureMap | None,
    n_samples: int | None = None,
) -> Plan:
    """The first option that applies and fits.

    `n_samples` replaces the number of samples for plans of data that do not exist yet.
    """
    n = len(data) if n_samples is None else n_samples
    landmarks = uses_landmarks(model)
    plain = feature_map is None and not landmarks and kernel.input_kind != "precomputed"
    if plain and n <= SMALL_SAMPLES and model.eigen_solver != "krylov" and model.memory_limit is None:
        reason = f"{counted(n, 'sample')}, a small matrix."
        return Plan("stored", _DENSE, 8 * 6 * n * n, reason, model.tol or IN_MEMORY_TOL)
    budget = model.resources()
    sizes = _sizes(model, data, kernel, feature_map, n, landmarks, budget)
    smallest: Plan | None = None
    if landmarks or model.eigen_solver == "dense":
        options = _REQUESTED
    else:
        options = _MATRIX if sizes.features is None else _FEATURES
    for option in options:
        plan = option(sizes, budget)
        if plan is None:
            continue
        if sizes.inverse:
            plan = _with_inverse(plan, sizes)
        if plan.memory <= budget.memory:
            return plan
        smallest = plan if smallest is None or plan.memory < smallest.memory else smallest
    assert smallest is not None  # the last option always applies
    return _instead(smallest, sizes, budget)


def plan_landmarks(model: Any, data: Dataset, kernel: Kernel, reason: str, n_samples: int | None = None) -> Plan:
    """Landmarks, whatever else would fit: for samples that come in batches."""
    budget, n = model.resources(), len(data) if n_samples is None else n_samples
    sizes = _sizes(model, data, kernel, None, n, True, budget)
    plan = _landmarks(sizes, budget, reason)
    if sizes.inverse:
        plan = _with_inverse(plan, sizes)
    return check_memory(plan, budget, (Remedy("n_landmarks", max(1, plan.n_landmarks // 2)),))


def uses_landmarks(model: Any) -> bool:
    """Whether the parameters request landmarks."""
    given = model.n_landmarks is not None or model.landmarks is not None or model.refine
    return bool(given) or model.eigen_solver == "landmark"


def _sizes(
    model: Any, data: Dataset, kernel: Kernel, feature_map: FeatureMap | None, n: int, landmarks: bool, budget: Budget
) -> KernelSizes:
    precomputed, given = kernel.input_kind == "precomputed", model.landmarks
    if given is not None:
        given = max(1, given.shape[0] if hasattr(given, "shape") else len(given))
    k = model.n_components
    if isinstance(k, str) or not (k is None or isinstance(k, Integral)):
        k = RULE_COMPONENTS if isinstance(k, str) else FIRST_COMPONENTS
    width = 0 if precomputed else kernel.sample_width(data)
    grown = n / max(1, len(data))  # for plans of more data than there are
    copies = not precomputed and (model.copy_X or model.standardize or not data.in_memory)
    copied, prepared = int(data.nbytes * grown) if copies else 0, 8 * n * (3 * width + 6)
    nnz, threads, features = int((data.nnz or 0) * grown), budget.threads, None
    if feature_map is not None:
        features = FeatureSizes.of(feature_map, n, width, nnz, data.is_sparse, threads)
    return KernelSizes(
        n=n,
        k=k,
        wanted=n if k is None else min(int(k), n),
        width=width,
        entry_cost=0.0 if precomputed else kernel.entry_cost(data),
        psd=kernel.psd,
        matrix_route="precomputed" if precomputed else "stored",
        matrix_bytes=0 if precomputed else copied + 8 * n * n + prepared,
        is_operator=precomputed and isinstance(data.load(), LinearOperator),
        sparse=data.is_sparse,
        features=features,
        copied=copied,
        prepared=prepared,
        inverse=model.fit_inverse_transform,
        eigen_solver=model.eigen_solver,
        tol=model.tol,
        max_iter=model.max_iter,
        landmarks=landmarks,
        n_landmarks=model.n_landmarks if given is None else given,
        refine=int(model.refine),
        n_threads=threads,
        n_workers=data.n_workers if kernel.psd else 0,
    )


def _with_inverse(plan: Plan, s: KernelSizes) -> Plan:
    """An inverse is learned from another n x n matrix, after that of the fit is gone."""
    rows = plan.n_landmarks or s.n
    return replace(plan, memory=max(plan.memory, s.copied + 8 * rows * (rows + 3 * s.width + 3 * min(s.wanted, rows))))


def _instead(plan: Plan, s: KernelSizes, budget: Budget) -> Plan:
    """Landmarks where no exact method fits, if they may be used; else an error."""
    remedies = [Remedy("memory_limit", format_bytes(1.05 * plan.memory).replace(" ", ""))]
    if not s.landmarks and s.k is None:
        remedies.append(Remedy("n_components", 10))
    try:
        return check_memory(plan, budget, tuple(remedies))
    except MemoryLimitError as error:
        other = _landmarks(s, budget, "no exact method fits into memory.") if s.may_approximate else plan
        if other.memory > budget.memory:
            raise
        return replace(other, warning=MercerWarning(f"{error.message} Landmarks are used instead; see certificate_."))


# ---------------------------------------------------------------------- options


def _requested_landmarks(s: KernelSizes, budget: Budget) -> Plan | None:
    return _landmarks(s, budget, "requested.") if s.landmarks else None


def _requested_dense(s: KernelSizes, budget: Budget) -> Plan | None:
    return _dense(s, "requested by eigen_solver.")


def _feature_side(s: KernelSizes, budget: Budget) -> Plan | None:
    """LAPACK on the D x D side: D is small, or so many components are wanted that nothing else pays."""
    features, k = s.features, s.wanted
    if features is None or not features.narrow:
        return None
    few = _DENSE_SPARSE_FEATURES if features.sparse else SMALL_SAMPLES
    if 10 * k <= features.n_features and features.n_features > few:
        return None
    from mercer.linalg.feature_gram import FeatureSolver

    D, solver, rows = features.n_features, FeatureSolver(_DENSE), features.stored_bytes
    if features.recomputed:
        rows = 6 * 8 * s.n_threads * D * min(s.n, max(BLOCK_ROWS, lane_rows(D)))
    memory = _BUFFERS + s.copied + rows + solver.memory(s.n, min(k, D)) + 8 * 12 * D * D
    reason = f"the kernel has {counted(D, 'exact feature')}."
    return Plan("features", solver, memory, reason, s.tol or IN_MEMORY_TOL, 2, 1.3 * s.n * D * D + _DENSE.flops(D, k))


def _lapack(s: KernelSizes, budget: Budget) -> Plan | None:
    """LAPACK on the whole matrix."""
    k, krylov = s.wanted, s.eigen_solver == "krylov"
    if s.n <= (64 if krylov else SMALL_SAMPLES):
        return _dense(s, f"{counted(s.n, 'sample')}, a small matrix.")
    if 10 * k <= s.n or (krylov and 2 * k <= s.n):
        return None
    return _dense(s, f"{k:,} of {s.n:,} components.")


def _features(s: KernelSizes, budget: Budget) -> Plan | None:
    """Block Lanczos on products with the features, which are never multiplied out."""
    features = s.features
    if features is None or s.wide_features:
        return None
    D, k, krylov = features.n_features, s.wanted, _krylov(s)
    reason = f"{s.n:,} x {D:,} features are never multiplied out."
    if features.sparse and not s.sparse and s.n >= 2 * D:  # columns of sparse rows may be far from zero
        from mercer.linalg.feature_gram import FeatureSolver

        solver: Any = FeatureSolver(krylov)
        memory = krylov.memory(D, min(k, D)) + 8 * 20 * D * krylov.block_size + solver.memory(s.n, k)
        reason += f" The basis has {D:,} rows instead of {s.n:,}."
    else:
        solver, memory = krylov, krylov.memory(s.n, k) + features.sums_bytes
    memory += _BUFFERS + s.copied + features.stored_bytes
    passes = krylov.expected_passes(k)
    flops = 2 * features.flops * (krylov.block_size + 10) * passes
    return Plan("features", solver, memory, reason, krylov.tol, passes, flops)


def _in_cache(s: KernelSizes, budget: Budget) -> Plan | None:
    """Block Lanczos on the matrix in memory while it stays in the cache."""
    if s.n > _CACHED_SAMPLES or s.eigen_solver == "krylov" or s.is_operator:
        return None
    return _krylov_plan(s, s.matrix_route, s.matrix_bytes, f"{s.n:,} samples.")


def _stored(s: KernelSizes, budget: Budget) -> Plan | None:
    """Block Lanczos on the matrix in memory: it is given, or its entries cost more than reading them."""
    size = 8 * s.n * s.n
    if not s.is_precomputed:
        fits = 2 * size <= budget.memory
        worth = s.entry_cost > _CHEAP_ENTRY and (s.n <= _STORED_SAMPLES or s.entry_cost > _DEAR_ENTRY or s.sparse)
        if not (fits and worth):
            return None
    reason = "the matrix is given." if s.is_precomputed else f"the kernel matrix takes {format_bytes(size)}."
    return _krylov_plan(s, s.matrix_route, s.matrix_bytes, reason)


def _one_exact_pass(s: KernelSizes, budget: Budget) -> Plan | None:
    """Landmarks, and one pass over the true matrix for residuals, where a few passes would take too long."""
    if not s.may_approximate or not s.pass_seconds <= _PASSES_SECONDS < _FEW_PASSES * s.pass_seconds:
        return None
    reason = f"a pass over the kernel matrix takes about {s.pass_seconds:,.0f} s."
    warning = MercerWarning(
        "The components come from landmarks and one pass over the kernel matrix; see certificate_.",
        remedies=[Remedy("max_iter", 100)],
    )
    return replace(_landmarks(replace(s, refine=1), budget, reason), warning=warning)


def _landmarks_alone(s: KernelSizes, budget: Budget) -> Plan | None:
    """Landmarks where even one pass would take too long."""
    if not s.may_approximate or s.pass_seconds <= _PASSES_SECONDS:
        return None
    reason = f"a pass over the kernel matrix would take about {s.pass_seconds:,.0f} s."
    warning = MercerWarning("The components come from landmarks; see certificate_.", remedies=[Remedy("max_iter", 100)])
    return replace(_landmarks(s, budget, reason), warning=warning)


def _matrix_free(s: KernelSizes, budget: Budget) -> Plan | None:
    """Block Lanczos that evaluates the entries in each pass, on workers if there are any and it is worth it."""
    size = 8 * s.n * s.n
    fits = 2 * size <= budget.memory
    reason = f"the kernel matrix would take {format_bytes(size)}" + (", recomputing it is as fast." if fits else ".")
    width = _krylov(s, _RECOMPUTED_BLOCK).block_size + 16
    recomputed = s.copied + s.prepared + s.n_threads * _TILES + 8 * s.n * width * (LANES + 3)
    if s.n_workers and s.pass_cost >= _DISTRIBUTED_SECONDS:
        sent = 2 * (s.copied + s.prepared)  # as bytes, and in a message
        return _krylov_plan(s, "distributed", recomputed + sent, f"{reason} {counted(s.n_workers, 'worker')}.")
    return _krylov_plan(s, "matrix-free", recomputed, reason)


_Option = Callable[[KernelSizes, Budget], Plan | None]
_REQUESTED: tuple[_Option, ...] = (_requested_landmarks, _requested_dense)
_LARGE: tuple[_Option, ...] = (_in_cache, _stored, _one_exact_pass, _landmarks_alone, _matrix_free)
_MATRIX: tuple[_Option, ...] = (_lapack, *_LARGE)
_FEATURES: tuple[_Option, ...] = (_feature_side, _lapack, _features, *_LARGE)


# ---------------------------------------------------------------------- plans


def _dense(s: KernelSizes, reason: str) -> Plan:
    route, making = s.matrix_route, s.matrix_bytes
    if s.features is not None and not s.wide_features:
        route, making = "features", s.copied + s.features.stored_bytes + 8 * s.n * s.n
    squares = 8 * s.n * s.n  # the centered matrix, in addition to what LAPACK takes
    memory = _BUFFERS + making + squares + _DENSE.memory(s.n, s.wanted)
    return Plan(route, _DENSE, memory, reason, s.tol or IN_MEMORY_TOL, 1, _DENSE.flops(s.n, s.wanted))


def _krylov(s: KernelSizes, size: int = 8) -> BlockKrylov:
    size = size if s.wanted <= 16 else 16
    return BlockKrylov(s.tol or IN_MEMORY_TOL, size, s.max_iter or BlockKrylov.max_passes)


def _krylov_plan(s: KernelSizes, route: str, making: int, reason: str) -> Plan:
    krylov = _krylov(s, _RECOMPUTED_BLOCK if route in ("matrix-free", "distributed") else 8)
    passes = krylov.expected_passes(s.wanted)
    memory = _BUFFERS + making + krylov.memory(s.n, s.wanted)
    flops = 2.0 * s.n * s.n * (krylov.block_size + 10) * passes
    return Plan(route, krylov, memory, reason, krylov.tol, passes, flops)


def _landmarks(s: KernelSizes, budget: Budget, reason: str) -> Plan:
    """As many landmarks as are usual or requested, chosen from as many samples as there is memory for."""
    k = s.wanted if s.k is not None else _LANDMARKS
    usual = max(8 * k + 100, _REFINED_LANDMARKS if s.refine else _LANDMARKS)
    count = min(s.n_landmarks or min(max(usual, k + 1), max(_MOST_LANDMARKS, k + 1)), s.n)
    pool = min(s.n, max(_POOL * count, min(_POOL_ENTRIES // count, _MOST_POOL)))

    def memory(count: int, pool: int) -> int:
        block = min(s.n, BLOCK_ROWS)
        choosing = 8 * pool * (count + 2 * s.width + 80)
        summing = 8 * (6 * count * count + block * (2 * count + 3 * s.width) * (1 + s.n_threads))
        exact = s.copied + s.prepared + _krylov(s).memory(s.n, min(s.wanted, count)) if s.refine else 0
        return _BUFFERS + max(choosing + summing, exact)

    while memory(count, pool) > budget.memory and pool > 2 * count:
        pool = max(2 * count, int(0.8 * pool))
    fewest = max(_FEWEST_LANDMARKS, k + 1)
    while memory(count, pool) > budget.memory and s.n_landmarks is None and count > fewest:
        count = max(fewest, int(0.8 * count))
        pool = min(s.n, 2 * count)
    solver: Any = replace(_krylov(s), max_passes=s.refine) if s.refine else _DENSE
    flops = 2.0 * s.n * count * (count + s.width) + 10.0 * count**3
    tol = s.tol or IN_MEMORY_TOL
    return Plan("landmarks", solver, memory(count, pool), reason, tol, max(1, s.refine), flops, None, count, pool)
