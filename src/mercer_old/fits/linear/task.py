"""What a linear fit is asked for, of what size it is, how many axes it takes, and what it finds."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from mercer_old.arrays import Array, single_or_double
from mercer_old.certificates.residuals import Certificate
from mercer_old.certificates.sketches import SketchCertificate
from mercer_old.limits import Limits
from mercer_old.plans.linear import LinearProblem
from mercer_old.plans.plan import Plan
from mercer_old.plans.share import number_to_plan_for
from mercer_old.progress import Listener
from mercer_old.sources.items import Rows


class LinearParameters(Protocol):
    """What a fit asks of its model."""

    @property
    def n_components(self) -> int | float | str | None: ...

    @property
    def svd_solver(self) -> str: ...

    @property
    def tol(self) -> float: ...


@dataclass(frozen=True)
class LinearTask:
    """Rows and sizes of one fit, with those parameters of the model that steer it."""

    rows: Rows
    weights: Array | None
    problem: LinearProblem
    limits: Limits
    rng: Callable[[], np.random.Generator]
    asked: (
        int | float | str | None
    )  # components: a number, a share of the variance, a rule by its name, or None for all
    standardize: bool = False
    names: Array | None = None  # of the columns
    progress: Listener = False
    look: Callable[[], object] = lambda: None  # for numbers that are not finite, with words for them
    hidden: bool = False  # whether a rule has to do without variances that squares leave no digit of
    units: Array | None = None  # powers of two that the columns were divided by, as their squares were no numbers

    @property
    def dtype(self) -> type[np.float32] | type[np.float64]:
        """Of what the model keeps."""
        return single_or_double(self.rows.dtype)


@dataclass(frozen=True)
class Axes:
    """All that a model keeps."""

    plan: Plan
    certificate: Certificate | SketchCertificate  # the latter of a sketch of the rows
    count: int  # rows
    weight: float
    per_degree: float  # 1/(Σw − 1): from eigenvalues to variances
    mean: Array
    squares: Array  # sums of squares of the columns around it
    spread: Array  # the same of columns divided by their scale, and nothing of those that do not vary
    scale: Array | None  # that columns were divided by
    values: Array  # eigenvalues of the scatter matrix
    axes: Array  # k×d, orthonormal rows
    total: float  # of all eigenvalues
    rest: float  # of those that were not kept
    all: int  # how many there can be
    unit: float = 1.0  # that rows were divided by: eigenvalues are to be multiplied by its square
    warnings: list[str] = field(default_factory=list)


def linear_problem(model: LinearParameters, n: int, d: int, rows: Rows | None = None, copies: int = 0) -> LinearProblem:
    """The sizes on which a plan is based; of rows that need not exist yet."""
    asked = model.n_components
    is_sparse = rows is not None and rows.sparse
    fewer = (is_sparse and model.svd_solver == "auto") or model.svd_solver == "arpack"  # by scikit-learn's rule
    k = number_to_plan_for(asked)
    return LinearProblem(
        n=n,
        d=d,
        copies=copies,
        k=min(max(n, copies), d) - 1 if asked is None and fewer else k,
        share=isinstance(asked, float),
        whole=isinstance(asked, str),
        sparse=is_sparse,
        density=1.0 if rows is None else rows.density,
        held=rows is None or rows.held,
        itemsize=8 if rows is None else rows.dtype.itemsize,
        reading=0 if rows is None else rows.overhead,
        solver=model.svd_solver,
        tol=model.tol,
    )
