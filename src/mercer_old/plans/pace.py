"""What a fit would do and take, said before it is done: the plan, with the time it may take on an idle machine."""

from collections.abc import Callable
from dataclasses import replace
from mmap import mmap
from time import get_clock_info, perf_counter, thread_time

import numpy as np
from numpy.typing import DTypeLike

from mercer_old.arrays import Array, Held
from mercer_old.kernels import Kernel
from mercer_old.limits import Limits
from mercer_old.operators.tiles import STRIP
from mercer_old.plans.kernel import choose_plan
from mercer_old.plans.linear import LinearProblem, choose_linear_plan
from mercer_old.plans.plan import Plan
from mercer_old.plans.seconds import NOMINAL, START, Pace, kernel_work, linear_work
from mercer_old.plans.sizes import Problem
from mercer_old.sources.items import Items
from mercer_old.sources.texts import Texts
from mercer_old.threads import one_blas_thread

_REPEATS, _PATIENCE = 5, 0.1  # of a tile, and seconds after which it is not timed again
_WIDEST = 100_000  # columns: a tile of wider rows takes too long to be timed
_CORNER, _PRODUCT = 32, 64  # rows of the first tile that is timed, and columns of the product
_PAGES = 2**23  # bytes of memory that are written for the first time
# Of this thread alone: what others do on a busy machine does not count.
_clock = thread_time if get_clock_info("thread_time").resolution < 1e-4 else perf_counter


def plan_ahead(problem: Problem, kernel: Kernel, items: Items, limits: Limits) -> Plan:
    """The plan for a kernel PCA, from timed tiles of these items; the time decides nothing."""
    plan = choose_plan(problem, limits)
    pace = _measured_pace()
    if plan.held in ("gram", "gathered", "recomputed", "spread", "landmarks") and items.width <= _WIDEST:
        sample = items[_to_be_timed(items)]
        with one_blas_thread(), np.errstate(all="ignore"):
            double = _entry(kernel, sample, np.float64)
            single = _entry(kernel, sample, np.float32) if kernel.has_single(0.0) else double
        if items.kind == "texts":  # others of which are longer, and dearer, than those that were timed
            double = single = double * problem.entry_cost / kernel.cost(Texts(sample))
        pace = replace(pace, double=double, single=single)
    return replace(plan, seconds=kernel_work(plan, problem, pace).seconds(limits.threads, problem.workers))


def linear_plan_ahead(problem: LinearProblem, limits: Limits) -> Plan:
    """The same for a PCA."""
    plan = choose_linear_plan(problem, limits)
    return replace(plan, seconds=linear_work(plan, problem, _measured_pace()).seconds(limits.threads))


def local_plan_ahead(plan: Plan) -> Plan:
    """The same for a locally linear embedding: nominal times by the pace of this machine, and what any fit takes."""
    scale = _measured_pace().flop / NOMINAL.flop
    return replace(plan, seconds=None if plan.seconds is None else START + scale * plan.seconds)


def _measured_pace() -> Pace:
    """How fast one thread of this machine multiplies, and writes to memory that it did not have before."""
    A, B = np.ones((STRIP, STRIP)), np.ones((STRIP, _PRODUCT))
    with one_blas_thread():
        product = _best(lambda: A @ B) / (2 * A.size * _PRODUCT)
    return Pace(flop=1e9 * product, fresh=1e9 * _best(_touch) / (_PAGES / 8))


def _touch() -> None:
    pages = mmap(-1, _PAGES)
    numbers = np.frombuffer(pages)
    numbers.fill(1.0)
    del numbers
    pages.close()


def _to_be_timed(items: Items) -> Array:
    """The first of them; of texts, those of middling lengths, as one that is very long would take all the time."""
    which = np.arange(min(len(items), STRIP))
    if items.kind == "texts":
        order = np.argsort([len(text) for text in items.load()], kind="stable")
        which = order[(len(order) - len(which)) // 2 :][: len(which)]
    return np.resize(which, STRIP)


def _entry(kernel: Kernel, rows: Held, dtype: DTypeLike) -> float:
    """Nanoseconds to evaluate one entry: in a tile, or in a corner of it if that takes long enough."""
    tiles, out, seconds, side = kernel.prepare(rows, rows, dtype=dtype), np.empty(STRIP**2, dtype=dtype), 0.0, 0
    for side in (_CORNER, STRIP):
        part, tile = slice(0, side), out[: side**2].reshape(side, side)
        seconds = _best(lambda part=part, tile=tile: tiles.fill(part, part, tile))  # type: ignore[misc]
        if seconds * (STRIP / side) ** 2 > _PATIENCE:
            break
    return 1e9 * seconds / side**2


def _best(work: Callable[[], object]) -> float:
    """Seconds of the fastest of a few runs."""
    times: list[float] = []
    while len(times) < _REPEATS and sum(times) < _PATIENCE:
        start = _clock()
        work()
        times.append(_clock() - start)
    return min(times)
