"""What a fit would do and take, said before it is done."""

import os
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from mercer.kernels import Kernel
from mercer.limits import Limits
from mercer.operators.tiles import STRIP
from mercer.solvers.dense import Dense
from mercer.solvers.krylov import BlockKrylov
from mercer.solvers.landmarks import Landmarks
from mercer.solvers.plan import Plan, Problem, choose_plan
from mercer.solvers.warm import WarmKrylov
from mercer.threads import one_blas_thread

REPEATS = 3
WIDEST = 100_000  # columns: a tile of wider rows takes too long to be timed


def plan_ahead(problem: Problem, kernel: Kernel, rows: Any, limits: Limits) -> Plan:
    """The plan with the time it may take, from one timed tile of these rows; the time decides nothing."""
    plan = choose_plan(problem, limits)
    if plan.held not in ("gram", "recomputed", "landmarks") or problem.n <= STRIP or rows.shape[1] > WIDEST:
        return plan
    sample = rows[np.arange(STRIP) % rows.shape[0]]
    with one_blas_thread(), np.errstate(all="ignore"):
        return replace(plan, seconds=expected_seconds(plan, problem, kernel, sample, limits.threads))


def expected_seconds(plan: Plan, problem: Problem, kernel: Kernel, sample: Any, threads: int) -> float:
    """Filling or evaluating, multiplying, and factorisations, each by its measured pace."""
    n, k = problem.n, problem.n if problem.k is None else min(problem.k, problem.n)
    double, half = _entry(kernel, sample, np.float64), n**2 / 2
    threads = min(threads, os.cpu_count() or 1)
    inverse = half * double + n**3 / 3 * _flop(64) if problem.inverse else 0.0
    if isinstance(plan.solver, Dense):
        work = half * double + (4 / 3 if 4 * k < n else 9) * n**3 * _flop(64)
    elif isinstance(plan.solver, Landmarks):
        r, single = plan.solver.count, _entry(kernel, sample, np.float32) if kernel.has_single(0.0) else double
        chosen = plan.solver.sample * r * (double + r * _flop(64))
        swept = n * r * (single + double + 1.3 * r * _flop(256))  # half of the products are in single precision
        work = chosen + swept + plan.solver.refine * half * (double + 4 * 32 * _flop(32))
    elif isinstance(plan.solver, WarmKrylov):
        rough, columns = plan.passes - 1, plan.solver.block
        single = _entry(kernel, sample, np.float32) if kernel.has_single(0.0) else double
        flops = 4 * half * columns * plan.passes + 6 * n * plan.solver.rank**2
        work = half * (rough * single + double) + flops * _flop(columns)
    else:
        evaluations = plan.passes if plan.held == "recomputed" else 1
        columns = plan.solver.block if isinstance(plan.solver, BlockKrylov) else 16
        work = evaluations * half * double + (4 * half * columns * plan.passes + 10 * n * k**2) * _flop(columns)
    return float(work + inverse) / threads


def _entry(kernel: Kernel, rows: Any, dtype: Any) -> float:
    """Seconds to evaluate one entry."""
    tiles, out = kernel.prepare(rows, rows, dtype=dtype), np.empty((STRIP, STRIP), dtype=dtype)
    return _best(lambda: tiles.fill(slice(0, STRIP), slice(0, STRIP), out)) / STRIP**2


def _flop(columns: int) -> float:
    """Seconds of one operation (a multiplication or an addition) in products with so many columns."""
    A, B = np.ones((STRIP, STRIP)), np.ones((STRIP, columns))
    return _best(lambda: A @ B) / (2 * STRIP**2 * columns)


def _best(work: Any) -> float:
    times = []
    for _ in range(REPEATS):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return min(times)
