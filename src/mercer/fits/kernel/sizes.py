"""What is asked of a solver: the sizes, from a model's parameters and its rows."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse

from mercer.errors import tell
from mercer.fits.spectrum import FIRST_GUESS
from mercer.inputs import table
from mercer.kernels import Kernel, Precomputed
from mercer.plans.kernel import Problem
from mercer.plans.plan import Plan
from mercer.solvers.feature_side import Factored
from mercer.sources.rows import RowSource

SPARSE = 5  # times as dear as dense: an entry from sparse rows


def describe(model: Any, rows: Any, kernel: Kernel) -> Problem:
    """The sizes on which a plan is based."""
    asked, given, stored = model.n_components, isinstance(kernel, Precomputed), isinstance(rows, RowSource)
    copies, (n, d) = model.copy_X or model.standardize, rows.shape
    return Problem(
        n=n,
        d=d,
        k=None if asked is None else (int(asked) if isinstance(asked, Integral) else FIRST_GUESS),
        n_features=None if given else kernel.n_features(rows),
        free_features=kernel.features_are_rows,
        sparse=sparse.issparse(rows),
        given=given,
        copied=rows.dtype.itemsize * n * d if copies and not (given or stored or sparse.issparse(rows)) else 0,
        loaded=rows.dtype.itemsize * n * d if stored else 0,
        reading=rows.overhead if stored else 0,
        psd=kernel.mercer,
        entry_cost=kernel.entry_cost(d) * (SPARSE if sparse.issparse(rows) else 1),
        inverse=model.fit_inverse_transform,
        eigen_solver=which_solver(model),
        tol=model.tol,
        max_passes=model.max_iter,
        n_landmarks=model.n_landmarks if model.landmarks is None else max(1, np.shape(model.landmarks)[0]),
        refine=int(model.refine),
    )


def which_solver(model: Any) -> str:
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


def wanted_components(asked: int | float | None, rows: Any, kernel: Kernel, plan: Plan) -> int | float:
    """The number of components, or the share of variance, to find."""
    n = rows.shape[0]
    if asked is None:
        return min(n, kernel.n_features(rows) or n) if isinstance(plan.solver, Factored) else n
    if isinstance(asked, Real) and not isinstance(asked, Integral):
        return float(asked)
    if asked > n:
        tell(f"n_components={asked} is more than the {n} rows; {n} components are kept.")
    return min(int(asked), n)
