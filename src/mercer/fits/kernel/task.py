"""What a fit is asked for, and what it finds: the two records that pass between a model and its ways to an answer."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.errors import tell
from mercer.fits.training import Training
from mercer.kernels import Kernel
from mercer.limits import Limits
from mercer.operators.projection import Centring
from mercer.plans.kernel import Problem
from mercer.plans.plan import Plan


@dataclass(frozen=True)
class Task:
    """Rows, kernel and sizes of one fit, with those parameters of the model that steer it."""

    training: Training
    kernel: Kernel
    problem: Problem
    limits: Limits
    rng: Callable[[], np.random.Generator]  # the same one, anew, at every call
    asked: int | float | None  # n_components
    landmarks: Any = None  # those given by the user, as indices or as rows
    by_modulus: bool = False  # take |λ|, as scikit-learn's randomized solver does
    drop_zeros: bool = False
    copy: bool = True  # whether rows that are kept have to be an array of our own
    progress: Any = False


@dataclass(frozen=True)
class Components:
    """All that a model keeps."""

    plan: Plan
    certificate: Any
    n: int  # training rows
    values: Array
    total: float  # of all eigenvalues, found or not
    total_weight: float
    projection: Any  # from new rows to scores
    centring: Centring | None = None  # for scores by other vectors, if there are vectors
    scores: Array | None = None  # of the training rows, if they were had along the way
    vectors: Array | None = None
    rows: Any = None  # the training rows, if new ones are compared with them
    landmarks: Any = None
    landmark_indices: Array | None = None
    indefinite: bool = False
    company: float | None = None  # of a typical row: its similarities to all others, against that to itself
    warnings: list[str] = field(default_factory=list)

    def per_degree_of_freedom(self) -> float:
        return per_degree_of_freedom(self.total_weight, self.n)

    @property
    def ratios(self) -> Array:
        """Each eigenvalue's share of the total."""
        if self.indefinite or self.total <= 0:
            return np.full(len(self.values), np.nan if self.indefinite else 0.0)
        return self.values / self.total


def per_degree_of_freedom(total_weight: float, n: int) -> float:
    """1/(Σw − 1): weights are counts."""
    if total_weight > 1:
        return 1 / (total_weight - 1)
    if n == 1:
        return 0.0
    tell(
        f"The sample weights sum to {total_weight:.3g}, but weights are counts (2 is the row twice): "
        "explained_variance_ is nan. Scale them up; explained_variance_ratio_ does not depend on their scale."
    )
    return float("nan")
