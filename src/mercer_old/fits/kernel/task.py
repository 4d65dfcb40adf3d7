"""What a fit of a kernel is asked for, and what it finds: two records."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from mercer_old.arrays import HERE, Array, Held, Home, single_or_double
from mercer_old.certificates.intervals import IntervalCertificate
from mercer_old.certificates.residuals import Certificate
from mercer_old.fits.training import Training
from mercer_old.kernels import Kernel
from mercer_old.kernels.features import FeatureMap
from mercer_old.limits import Limits
from mercer_old.operators.projection import Centring, Projection
from mercer_old.plans.plan import Plan
from mercer_old.plans.sizes import Problem
from mercer_old.progress import Listener
from mercer_old.readings.components import shares
from mercer_old.sources.weights import per_degree_of_freedom
from mercer_old.sweeps.growing import Stream


class Parameters(Protocol):
    """What a fit asks of its model: parameters by their names, and where chance comes from."""

    n_components: int | float | str | None
    kernel: Any  # a name, a Kernel or a function of two rows
    gamma: float | str | None
    degree: float
    coef0: float
    kernel_params: dict[str, Any] | None
    eigen_solver: str
    tol: float
    max_iter: int | None
    n_landmarks: int | None
    landmarks: ArrayLike | None  # or a sparse matrix
    refine: int
    standardize: bool
    fit_inverse_transform: bool
    remove_zero_eig: bool
    copy_X: bool
    progress: Listener

    def _rng(self) -> np.random.Generator: ...


@dataclass(frozen=True)
class Task:
    """Rows, kernel and sizes of one fit, with those parameters of the model that steer it."""

    training: Training
    kernel: Kernel
    problem: Problem
    limits: Limits
    gamma: float  # of the kernel, or what it would have been
    rng: Callable[[], np.random.Generator]  # the same one, anew, at every call
    asked: int | float | str | None  # n_components
    landmarks: ArrayLike | None = None  # those given by the user, as indices or as rows
    by_modulus: bool = False  # take |λ|, as scikit-learn's randomized solver does
    drop_zeros: bool = False
    copy: bool = True  # whether rows that are kept have to be an array of our own
    progress: Listener = False
    learned: FeatureMap | None = None  # the map to exact features, if the items were at hand to learn it from
    home: Home = HERE  # of the items as they were given: what a model keeps goes there

    @property
    def dtype(self) -> type[np.float32] | type[np.float64]:
        """Of what the model keeps."""
        return single_or_double(self.training.items.dtype)


@dataclass(frozen=True)
class Components:
    """All that a model keeps."""

    plan: Plan
    certificate: Certificate | IntervalCertificate  # the latter of landmarks
    n: int  # training rows
    values: Array
    total: float  # of all eigenvalues, found or not
    total_weight: float
    projection: Projection  # from new rows to scores
    centring: Centring | None = None  # for scores by other vectors, if there are vectors
    scores: Array | None = None  # of the training rows, if they were had along the way
    vectors: Array | None = None
    rows: Held = None  # the training rows, if new ones are compared with them
    landmarks: Held = None
    landmark_indices: Array | None = None
    stream: Stream | None = None  # by landmarks alone: what `partial_fit` goes on from
    indefinite: bool = False
    company: float | None = None  # of a typical row: its similarities to all others, against that to itself
    warnings: list[str] = field(default_factory=list)

    def per_degree_of_freedom(self) -> float:
        return per_degree_of_freedom(self.total_weight, self.n)

    @property
    def ratios(self) -> Array:
        """Each eigenvalue's share of the total."""
        return np.full(len(self.values), np.nan) if self.indefinite else shares(self.values, self.total)
