"""The number of components that a share of the variance takes, before the fit: from spectra of a few of the rows."""

from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from mercer.errors import NoRoom
from mercer.kernels import Kernel, Precomputed
from mercer.limits import Limits, rows_at_a_time
from mercer.models.training import Training
from mercer.solvers.plan import SMALL, Problem, choose_plan
from mercer.solvers.seconds import eigenvalue_work, kernel_work
from mercer.solvers.share import Share, components_of, foretell
from mercer.symmetric import Array
from mercer.threads import one_blas_thread

FEWEST, MOST = 128, 1024  # rows of a sample
SHARE_OF_FIT = 0.01  # of the fit's nominal time: a larger sample than the smallest may take so much
NARROW = 1.3  # a range from low to high·this needs no larger sample


def with_share(
    problem: Problem, kernel: Kernel, training: Training, asked: Any, limits: Limits, rng: np.random.Generator
) -> Problem:
    """The problem of a plan for this share of the variance; as it is if a number of components was asked for."""
    if asked is None or isinstance(asked, Integral):
        return problem
    share = float(asked)
    if problem.n <= SMALL and problem.eigen_solver != "krylov":
        return replace(problem, k=None)  # LAPACK finds all of them
    unknown = replace(problem, share=Share(share, 1, problem.k or 1, problem.n))
    if isinstance(training.rows, LinearOperator):
        return unknown
    most = min(problem.n - 1, problem.n_features or problem.n)
    sample = _sample(kernel, training.rows, training.weights, limits, rng)
    size, found = FEWEST if len(sample) >= FEWEST else max(4, len(sample) // 4 * 4), None
    while size <= len(sample) and _worth(found, size, problem, limits):
        K = sample.block(size)
        if not np.isfinite(K).all():
            return unknown  # the fit says in words what is wrong
        with one_blas_thread():
            counts = [_mean_count(K, size // parts, share) for parts in (4, 2, 1)]
        found = foretell(share, (counts[0], counts[1], counts[2]), size, problem.n, most)
        size *= 2
    return unknown if found is None else replace(problem, k=found.high, share=found)


class _Sample:
    """Some rows, with their kernel matrix or parts of it."""

    def __init__(self, kernel: Kernel, rows: Any, indices: Array) -> None:
        self.kernel, self.indices, self.given = kernel, indices, isinstance(kernel, Precomputed)
        self.rows = rows[indices]

    def __len__(self) -> int:
        return len(self.indices)

    def block(self, size: int) -> Array:
        """The kernel matrix of the first of them."""
        some = self.rows[:size]
        with np.errstate(all="ignore"):
            block: Any = some[:, self.indices[:size]] if self.given else self.kernel.block(some, some)
        return np.asarray(block.toarray() if sparse.issparse(block) else block, dtype=np.float64)


def _sample(kernel: Kernel, rows: Any, weights: Array | None, limits: Limits, rng: np.random.Generator) -> _Sample:
    """Rows drawn by their weights; no more than there is room for, and no more than a quarter of all."""
    n, d = rows.shape
    room = int((limits.memory / 8 / 32) ** 0.5)  # K, what is made of it, and LAPACK's copy: an eighth of the limit
    count = max(4, min(MOST, n // 4, room, rows_at_a_time(d)))
    if weights is None:
        return _Sample(kernel, rows, rng.choice(n, size=count, replace=False))
    chances = weights / weights.max()
    count = min(count, int(np.sum(chances > 0)))
    return _Sample(kernel, rows, rng.choice(n, size=count, replace=False, p=chances / chances.sum()))


def _worth(found: Share | None, size: int, problem: Problem, limits: Limits) -> bool:
    """Whether a sample of this size may be looked at: the first always, others if they are cheap against the fit."""
    if found is None:
        return True
    if found.high <= NARROW * found.low + 2:
        return False
    least = replace(problem, k=found.low)
    try:
        fit = kernel_work(choose_plan(least, limits), least).total
    except NoRoom:
        return False
    return 1.4 * eigenvalue_work(size).total + problem.entry_cost * size**2 <= SHARE_OF_FIT * fit


def _mean_count(K: Array, size: int, share: float) -> float:
    """Of parts of this size, how many components each takes, on average."""
    starts = range(0, len(K) - size + 1, size)
    return float(np.mean([components_of(K[i : i + size, i : i + size], share) for i in starts]))
