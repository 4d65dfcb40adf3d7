"""What a fit of a kernel is asked for, of what size it is, and what it finds."""

from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any

import numpy as np

from mercer.arrays import Array, Held
from mercer.errors import warn
from mercer.fits.training import Training, per_degree_of_freedom
from mercer.inputs import table
from mercer.kernels import Kernel, Precomputed
from mercer.limits import Limits
from mercer.operators.projection import Centring, Projection
from mercer.plans.kernel import Problem
from mercer.plans.plan import Plan
from mercer.plans.share import number_to_plan_for
from mercer.readings.components import shares
from mercer.solvers.feature_side import Factored
from mercer.sources.items import Items

SPARSE = 5  # times as dear as dense: an entry from sparse rows


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
    certificate: Any  # Certificate, or IntervalCertificate of landmarks
    n: int  # training rows
    values: Array
    total: float  # of all eigenvalues, found or not
    total_weight: float
    projection: Projection  # from new rows to scores
    centring: Centring | None = None  # for scores by other vectors, if there are vectors
    scores: Array | None = None  # of the training rows, if they were had along the way
    vectors: Array | None = None
    rows: Held = None  # the training rows, if new ones are compared with them
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
        return np.full(len(self.values), np.nan) if self.indefinite else shares(self.values, self.total)


# ---------------------------------------------------------------------- sizes, from a model's parameters and its rows


def describe(model: Any, items: Items, kernel: Kernel) -> Problem:
    """The sizes on which a plan is based."""
    asked, given = model.n_components, isinstance(kernel, Precomputed)
    copies = (model.copy_X or model.standardize) and items.held and not (given or items.sparse)
    return Problem(
        n=len(items),
        width=items.width,
        k=number_to_plan_for(asked),
        n_features=None if given else kernel.n_features(items),
        free_features=kernel.features_are_rows,
        sparse=items.sparse,
        given=given,
        copied=items.nbytes if copies else 0,
        loaded=0 if items.held else items.nbytes,
        reading=items.overhead,
        psd=kernel.psd,
        entry_cost=kernel.entry_cost(items.width) * (SPARSE if items.sparse else 1),
        inverse=model.fit_inverse_transform,
        eigen_solver=asked_solver(model),
        tol=model.tol,
        max_passes=model.max_iter,
        n_landmarks=model.n_landmarks if model.landmarks is None else max(1, np.shape(model.landmarks)[0]),
        refine=int(model.refine),
    )


def asked_solver(model: Any) -> str:
    """The solver that was asked for: who says something about landmarks wants them."""
    said = [name for name in ("n_landmarks", "landmarks", "refine") if getattr(model, name) is not None]
    said = [name for name in said if name != "refine" or model.refine]
    if {"n_landmarks", "landmarks"} <= set(said):
        raise ValueError("Give n_landmarks or the landmarks themselves, not both.")
    if model.landmarks is not None and table(model.landmarks, "landmarks").ndim == 0:
        raise ValueError(f"landmarks must be numbers of rows, or rows; got {model.landmarks!r}.")
    if said and model.eigen_solver in ("dense", "krylov"):
        raise ValueError(f'{said[0]} is for eigen_solver="landmark"; eigen_solver={model.eigen_solver!r} has none.')
    return "landmark" if said else str(model.eigen_solver)


def wanted_components(asked: int | float | None, items: Items, kernel: Kernel, plan: Plan) -> int | float:
    """The number of components, or the share of variance, to find."""
    n = len(items)
    if asked is None:
        return min(n, kernel.n_features(items) or n) if isinstance(plan.solver, Factored) else n
    if isinstance(asked, Real) and not isinstance(asked, Integral):
        return float(asked)
    if asked > n:
        warn(f"n_components={asked} is more than the {n} rows; {n} components are kept.")
    return min(int(asked), n)
