"""What a fit would do and take, said before it is done."""

from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from mercer.kernels import Kernel
from mercer.limits import Limits
from mercer.operators.tiles import STRIP
from mercer.solvers.plan import Plan, Problem, choose_plan
from mercer.solvers.warm import WarmKrylov
from mercer.threads import one_blas_thread

REPEATS = 3


def plan_ahead(problem: Problem, kernel: Kernel, sample: Any, limits: Limits) -> Plan:
    """The plan with the time it may take, from one timed tile of these rows; the time decides nothing."""
    plan = choose_plan(problem, limits)
    if plan.held not in ("gram", "recomputed") or problem.n <= STRIP:
        return plan
    return replace(plan, seconds=expected_seconds(plan, problem, kernel, sample, limits.threads))


def expected_seconds(plan: Plan, problem: Problem, kernel: Kernel, sample: Any, threads: int) -> float:
    """Filling or evaluating, multiplying, and the small factorisations, each by its measured pace."""
    n, k = problem.n, problem.n if problem.k is None else min(problem.k, problem.n)
    block = getattr(plan.solver, "block", 16)
    rows = sample[np.arange(STRIP) % sample.shape[0]]
    with one_blas_thread(), np.errstate(all="ignore"):
        double = _entry(kernel, rows, np.float64)
        product = _flop(block)
        if not isinstance(plan.solver, WarmKrylov):
            evaluations = plan.passes if plan.held == "recomputed" else 1
            work = evaluations * n**2 / 2 * double + plan.passes * 2 * n**2 * block * product
            return float((work if plan.tol else 0) + 10 * n * k**2 * product) / threads
        single = _entry(kernel, rows, np.float32)
    rough, factor = plan.passes - 1, 6 * n * plan.solver.rank**2
    entries = n**2 / 2 * (rough * single + double)
    return float(entries + (2 * n**2 * block * plan.passes + factor) * product) / threads


def _entry(kernel: Kernel, rows: Any, dtype: Any) -> float:
    """Seconds to evaluate one entry."""
    tiles, out = kernel.prepare(rows, rows, dtype=dtype), np.empty((STRIP, STRIP), dtype=dtype)
    return _best(lambda: tiles.fill(slice(0, STRIP), slice(0, STRIP), out)) / STRIP**2


def _flop(columns: int) -> float:
    """Seconds of one multiplication and addition pair's half, in products with so many columns."""
    A, B = np.ones((STRIP, STRIP)), np.ones((STRIP, columns))
    return _best(lambda: A @ B) / (2 * STRIP**2 * columns)


def _best(work: Any) -> float:
    times = []
    for _ in range(REPEATS):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return min(times)


def plan(
    n_rows: int,
    n_features: int,
    n_components: int | float | None = 10,
    *,
    kernel: Any = "rbf",
    memory_limit: int | str | None = None,
    n_jobs: int | None = None,
    **params: Any,
) -> Plan:
    """What kernel PCA of so many rows would do: which solver, with how much memory, in what time, and why.

    Parameters
    ----------
    n_rows, n_features : int
        The shape of the data, which need not exist yet.
    n_components : int, float or None, default=10
        As in `KernelPCA`.
    kernel : str, mercer.kernels.Kernel or callable, default="rbf"
        As in `KernelPCA`.
    memory_limit, n_jobs
        As in `KernelPCA`.
    **params
        Any other parameter of `KernelPCA`.

    Returns
    -------
    plan : Plan
        Print it.

    Examples
    --------
    >>> import mercer
    >>> plan = mercer.plan(n_rows=80_000, n_features=30, n_components=20, memory_limit="2GB")
    >>> plan.held, plan.memory < 2e9
    ('recomputed', True)
    """
    from mercer.models.kernel_pca import KernelPCA

    for name, value in (("n_rows", n_rows), ("n_features", n_features)):
        if int(value) != value or value < 1:
            raise ValueError(f"{name} must be a whole number of at least 1; got {value!r}.")
    model = KernelPCA(n_components, kernel=kernel, memory_limit=memory_limit, n_jobs=n_jobs, **params)
    return model._plan_for(int(n_rows), int(n_features))
