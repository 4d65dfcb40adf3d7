"""The number of components that a share of the variance takes, before the fit: from spectra of a few of the rows."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from mercer_old.arrays import Array, Held, dense
from mercer_old.blocks import MOST_FEATURES, rows_at_a_time
from mercer_old.errors import NoRoom
from mercer_old.fits.training import Training
from mercer_old.kernels import Kernel, Precomputed
from mercer_old.limits import Limits
from mercer_old.plans.kernel import LAPACK_ROWS, choose_plan
from mercer_old.plans.linear import LAPACK_SIDE, LinearProblem, choose_linear_plan
from mercer_old.plans.seconds import Work, eigenvalue_work, kernel_work, linear_work
from mercer_old.plans.share import Share, components_explaining, foretell_share
from mercer_old.plans.sizes import Problem
from mercer_old.sources.items import Items, Rows
from mercer_old.threads import one_blas_thread

_FEWEST, _MOST = 128, 1024  # rows of a sample
_SHARE_OF_FIT = 0.01  # of the fit's nominal time: a larger sample than the smallest may take so much
_NARROW_RANGE = 1.3  # a range from low to high·this needs no larger sample


def with_share(
    problem: Problem, kernel: Kernel, training: Training, asked: float, limits: Limits, rng: np.random.Generator
) -> Problem:
    """The problem of a plan for this share of the variance."""
    if problem.n <= LAPACK_ROWS and problem.eigen_solver != "krylov":
        return replace(problem, k=None)  # LAPACK finds all of them
    items, share, found = training.items, float(asked), None
    if not items.is_operator:
        indices = drawn(len(items), items.width, training.weights, limits, rng)
        found = _look(
            _Kernel(kernel, items, indices, problem.entry_cost),
            share,
            problem.n,
            min(problem.n - 1, problem.n_features or problem.n),
            lambda k: kernel_work(choose_plan(p := replace(problem, k=k), limits), p),
        )
    if found is None:
        return replace(problem, share=Share(share, 1, problem.k or 1, problem.n))
    return replace(problem, k=found.high, share=found)


def with_linear_share(
    problem: LinearProblem,
    rows: Rows,
    weights: Array | None,
    asked: float,
    limits: Limits,
    rng: np.random.Generator,
    standardize: bool = False,
) -> LinearProblem:
    """The same for linear PCA. Files of few columns are not read for it: they are summed up in any case."""
    if max(problem.n, problem.d) <= LAPACK_SIDE:
        return problem
    unknown = Share(float(asked), 1, problem.k or 1, problem.all)
    if not problem.held and problem.d <= MOST_FEATURES:
        return replace(problem, k=None, foretold=unknown)
    found = _look(
        _Products(rows, drawn(len(rows), rows.width, weights, limits, rng), standardize),
        unknown.share,
        problem.n,
        problem.all,
        lambda k: linear_work(choose_linear_plan(p := replace(problem, k=k), limits), p),
    )
    return replace(problem, foretold=unknown) if found is None else replace(problem, k=found.high, foretold=found)


# ---------------------------------------------------------------------- looking


def drawn(n: int, width: int, weights: Array | None, limits: Limits, rng: np.random.Generator) -> Array:
    """Numbers of items, by their weights; no more than there is room for, and no more than a quarter of all."""
    room = int((limits.memory / 8 / 32) ** 0.5)  # K, what is made of it, and LAPACK's copy: an eighth of the limit
    count = max(4, min(_MOST, n // 4, room, rows_at_a_time(width)))
    if weights is None:
        return rng.choice(n, size=min(count, n), replace=False)
    chances = weights / weights.max()
    count = min(count, int(np.sum(chances > 0)))
    return rng.choice(n, size=count, replace=False, p=chances / chances.sum())


def _look(sample: "_Sample", share: float, n: int, most: int, fit: Callable[[int], Work]) -> Share | None:
    """What the sample foretells for n rows; None if its numbers are none, of which the fit tells in words.

    It is looked at in part, and then in larger parts as long as that is cheap against the fit.
    """
    size, found = _FEWEST if len(sample) >= _FEWEST else len(sample) // 4 * 4, None
    while 4 <= size <= len(sample) and (found is None or _worth(found, size, sample.entry_cost, fit)):
        with one_blas_thread(), np.errstate(all="ignore"):
            K = sample.block(size)
            if not np.isfinite(K).all():
                return None
            quarter, half, whole = (_mean_count(K, size // parts, share) for parts in (4, 2, 1))
        found = foretell_share(share, (quarter, half, whole), size, n, most)
        size *= 2
    return found


def _worth(found: Share, size: int, entry_cost: float, fit: Callable[[int], Work]) -> bool:
    """Whether a larger sample tells more, for little."""
    if found.high <= _NARROW_RANGE * found.low + 2:
        return False
    try:
        cost = fit(found.low).total
    except NoRoom:
        return False
    return 1.4 * eigenvalue_work(size).total + entry_cost * size**2 <= _SHARE_OF_FIT * cost


def _mean_count(K: Array, size: int, share: float) -> float:
    """Of parts of this size, how many components each takes, on average."""
    starts = range(0, len(K) - size + 1, size)
    return float(np.mean([components_explaining(K[i : i + size, i : i + size], share) for i in starts]))


class _Sample(ABC):
    """Some rows, and the matrix of the first of them."""

    entry_cost: float  # nominal nanoseconds
    rows: Held

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    @abstractmethod
    def block(self, size: int) -> Array:
        """The matrix of the first so many."""


class _Kernel(_Sample):
    def __init__(self, kernel: Kernel, items: Items, indices: Array, entry_cost: float) -> None:
        self.kernel, self.indices, self.rows = kernel, indices, items[indices]
        self.given = isinstance(kernel, Precomputed)
        self.entry_cost = 1.0 if self.given else entry_cost

    def block(self, size: int) -> Array:
        some = self.rows[:size]
        block = some[:, self.indices[:size]] if self.given else self.kernel.block(some, some)
        return dense(block, np.float64)


class _Products(_Sample):
    """Of the rows themselves, moved to their mean and in units of their columns' deviations, if that is asked for."""

    def __init__(self, rows: Rows, indices: Array, standardize: bool) -> None:
        some = dense(rows[indices], np.float64)
        with np.errstate(all="ignore"):
            some = some - some.mean(axis=0)
            deviations = some.std(axis=0)
            self.rows = some / np.where(deviations > 0, deviations, 1.0) if standardize else some
        self.entry_cost = 0.05 * rows.shape[1]

    def block(self, size: int) -> Array:
        return np.asarray(self.rows[:size] @ self.rows[:size].T)
