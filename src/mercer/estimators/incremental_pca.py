"""Principal component analysis of batches of rows, exact whatever the batches are."""

from copy import deepcopy
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metadata_routing import UNUSED

from mercer.certificates.sketch import certify_sketch
from mercer.compat.sklearn_private import Interval
from mercer.data.dataset import ArrayDataset, Dataset
from mercer.data.validation import apply_sample_weight
from mercer.errors import DataError, MemoryLimitError, ParameterError, Remedy, collect_warnings, unique
from mercer.estimators._base import COMMON_CONSTRAINTS, fit_method
from mercer.estimators._linear import LINEAR_ATTRIBUTES, LinearEstimator, cast_if_representable
from mercer.estimators._linear_solve import (
    OVERFLOW,
    LinearProblem,
    Moments,
    PrincipalAxes,
    accumulate_rows,
    axes_of_scatter,
    digit_warnings,
    needs_more_digits,
    principal_axes,
    solve_principal_axes,
)
from mercer.linalg.dense import leading_singular_pairs
from mercer.linalg.eigen import rounding_floor
from mercer.linalg.scatter import ScatterMatrix, common_unit, merge_overflows
from mercer.linalg.scatter_sketch import ScatterSketch
from mercer.numerics.rounding import UNIT
from mercer.numerics.threads import working
from mercer.planning.plan import Plan
from mercer.planning.plan_linear import plan_batches, plan_linear
from mercer.progress import reporting
from mercer.storable import Stored
from mercer.text import counted

_MOST_FEATURES = 5000  # up to which `fit` keeps the scatter matrix, so that batches can follow
_SOLVED = {
    "components_", "explained_variance_", "explained_variance_ratio_", "singular_values_", "total_variance_",
    "noise_variance_", "reconstruction_error_", "certificate_", "plan_", "_eigenvalues", "_feature_squares",
    "_total_weight", "_n_possible",
}  # attributes that are computed from the sums when they are first read  # fmt: skip


class IncrementalPCA(LinearEstimator):
    """Principal component analysis of batches of rows.

    Keeps the number of rows, their mean and their d×d scatter matrix, to which batches are added with their rounding
    errors compensated (16·d² bytes: 1 MB for 256 columns, 400 MB for 5,000). A drop-in replacement for
    `sklearn.decomposition.IncrementalPCA`, which keeps k axes and drops the rest of every batch: here the result is
    that of `PCA` on all rows at once, for any order and number of batches.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of components. None: the number of rows of the first batch or of columns, whichever is smaller.
    whiten : bool, default=False
        Divide each score by its standard deviation.
    copy : bool, default=True
        Ignored. X is never changed.
    batch_size : int or None, default=None
        Number of rows after which `fit` applies `forgetting_factor`. The result does not depend on it otherwise.
        None: five times the number of columns.
    forgetting_factor : float, default=1.0
        Factor on the weight of all earlier rows before each batch. 0.9: a batch that is ten batches old counts a
        third. 1: nothing is forgotten.
    n_jobs : int, default=None
        Number of threads. None: all processors.
    memory_limit : int, str or None, default=None
        Bytes, or a text such as "2GB". None: half of the memory of the machine or container.
    progress : bool or callable, default=False
        True: a progress bar. A function is called with a `Progress`.
    sketch_size : int or None, default=None
        Number of rows of a sketch that replaces the d×d matrix, for streams with very many columns. At least the
        number of components, better several times as many. None: the matrix.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Principal axes, sorted by decreasing variance. After `partial_fit`, this and the attributes that follow from it
        are computed when they are first read.
    explained_variance_ : ndarray of shape (n_components,)
        Variance of the scores.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Variance of the scores divided by ``total_variance_``.
    singular_values_ : ndarray of shape (n_components,)
        Singular values of the centered rows.
    noise_variance_ : float
        Mean of the variances of the components that were not kept.
    total_variance_ : float
        Sum of the variances of all columns.
    reconstruction_error_ : float
        Mean squared distance of the training rows from the subspace of the components.
    loadings_ : ndarray of shape (n_features, n_components)
        Axes times standard deviations of the scores.
    certificate_ : ResidualCertificate or SketchCertificate
        Bounds on the errors of eigenvalues and directions.
    plan_ : Plan
        The route of the fit and its reason.
    mean_ : ndarray of shape (n_features,)
        Per-feature empirical mean of all rows so far.
    var_ : ndarray of shape (n_features,)
        Per-feature empirical variance of all rows so far, divided by n.
    n_samples_seen_ : int
        Number of rows so far.
    batch_size_ : int
        Number of rows in a batch of `fit`.
    n_components_, n_features_in_ : int
        Number of components, and of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features. Only if X has names that are strings.
    fit_warnings_ : tuple of MercerWarning
        Warnings of all batches, and of the components when they are computed.

    See Also
    --------
    PCA : The same from all rows at once.

    Notes
    -----
    For more than 5,000 columns `fit` takes the route of `PCA` and keeps no scatter matrix. `partial_fit` raises
    `MemoryLimitError` if the matrix exceeds `memory_limit`.

    With ``sketch_size=l``, Frequent Directions (Ghashami et al. 2016) keeps rows B, at most 2l of them, with
    BᵀB ⪯ S ⪯ BᵀB + Δ·I for the scatter matrix S. Each eigenvalue lies in [σᵢ²(B), σᵢ²(B) + Δ], and the middle is
    reported. Δ is in ``certificate_`` and at most (λₖ₊₁ + λₖ₊₂ + …)/(l + 1 − k) for every k ≤ l. It is zero for up to
    2l rows. ``mean_``, ``var_`` and ``total_variance_`` are exact.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.estimators import PCA, IncrementalPCA
    >>> X = np.random.default_rng(0).normal(size=(1000, 5))
    >>> model = IncrementalPCA(2)
    >>> for batch in np.array_split(X, 7):
    ...     model = model.partial_fit(batch)
    >>> np.allclose(model.explained_variance_, PCA(2).fit(X).explained_variance_, rtol=1e-14)
    True
    """

    model_key = "incremental_pca"
    _scatter: Any
    random_state = None  # of the certificate's probes: a fixed seed
    __metadata_request__fit: ClassVar[dict] = {"sample_weight": False}
    __metadata_request__partial_fit: ClassVar[dict] = {"sample_weight": False, "check_input": UNUSED}
    _stored_attributes = (
        *LINEAR_ATTRIBUTES,
        Stored("n_samples_seen_", "count"),
        Stored("var_", "float", "d"),
        Stored("batch_size_", "count", optional=True),
        Stored("_scatter", "object", optional=True),
        Stored("_unit", "number"),
        Stored("_dtype", "text"),
    )
    _parameter_constraints: ClassVar[dict] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "whiten": ["boolean"],
        "copy": ["boolean"],
        "batch_size": [Interval(Integral, 1, None, closed="left"), None],
        "forgetting_factor": [Interval(Real, 0, 1, closed="right")],
        "sketch_size": [Interval(Integral, 1, None, closed="left"), None],
        **{name: COMMON_CONSTRAINTS[name] for name in ("n_jobs", "memory_limit", "progress")},
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        whiten: bool = False,
        copy: bool = True,
        batch_size: int | None = None,
        forgetting_factor: float = 1.0,
        n_jobs: int | None = None,
        memory_limit: int | str | None = None,
        progress: Any = False,
        sketch_size: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.whiten = whiten
        self.copy = copy
        self.batch_size = batch_size
        self.forgetting_factor = forgetting_factor
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.progress = progress
        self.sketch_size = sketch_size

    @fit_method
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the model with X, after removing all earlier rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Dataset} of shape (n_samples, n_features)
            Training data, or a file.
        y : Ignored
            Present for API consistency.
        sample_weight : array-like of shape (n_samples,), default=None
            Number of times each row counts.

        Returns
        -------
        self : IncrementalPCA
            The fitted estimator.
        """
        self._fit(self._open(X, reset=True, check_finite=False), sample_weight)
        return self

    def _fit(self, data: Dataset, sample_weight: Any) -> NDArray | None:
        problem, plan = self._first_problem(data, sample_weight)
        self.batch_size_ = self.batch_size or 5 * data.shape[1]
        if self.forgetting_factor < 1:
            self._add_in_batches(problem)
        elif self.sketch_size or plan.route == "scatter":
            with working(self.progress, 1, "passes over the rows", self.resources().threads) as progress:
                self._add(problem, progress)
        else:
            found = solve_principal_axes(problem, plan)
            self.n_samples_seen_ = found.moments.n_samples
            self._scatter, self._unit = None, found.unit
            variances = found.moments.feature_squares / found.moments.total_weight * found.unit * found.unit
            self.var_ = cast_if_representable(variances, self._dtype)
            self._store(found, self._dtype)
            return None
        found = self._solve()
        if needs_more_digits(problem, found):
            if self.sketch_size or self.forgetting_factor < 1:
                found = found.warned(digit_warnings(found))
            else:
                found = solve_principal_axes(problem, plan)  # unlike batches, these rows can be read again
        self._store(found._replace(plan=plan), self._dtype)
        return None

    @fit_method
    def partial_fit(self, X: Any, y: Any = None, check_input: bool = True, sample_weight: Any = None) -> Self:
        """Add a batch of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Dataset} of shape (n_samples, n_features)
            The batch. The first one needs at least `n_components` rows.
        y : Ignored
            Present for API consistency.
        check_input : bool, default=True
            Ignored. Rows are always checked.
        sample_weight : array-like of shape (n_samples,), default=None
            Number of times each row counts.

        Returns
        -------
        self : IncrementalPCA
            The estimator with one batch more.
        """
        if not hasattr(self, "n_samples_seen_"):
            first = self._open(X, reset=True, check_finite=False)
            problem, _ = self._first_problem(first, sample_weight, in_batches=True)
        else:
            self._check_continuation()
            data, weights = apply_sample_weight(self._open(X, reset=False, check_finite=False), sample_weight)
            self._check_n_components(len(data), self.n_components_)
            problem = self._problem(data, weights)
        self._add(problem, None)
        return self

    def _plan(self, data: Dataset, sample_weight: Any) -> Plan:
        return self._first_problem(data, sample_weight)[1]

    # ------------------------------------------------------------------ batches

    def _first_problem(self, data: Dataset, sample_weight: Any, in_batches: bool = False) -> tuple[LinearProblem, Plan]:
        """The first rows as a problem, and its plan. Batches need the sums, however many columns there are."""
        data, weights = apply_sample_weight(data, sample_weight)
        self._dtype = "float32" if data.dtype == np.float32 else "float64"
        problem = self._problem(data, weights)
        self.n_components_ = self._check_n_components(problem.n_counted, None)
        problem = problem._replace(n_components=self.n_components_)
        in_batches = in_batches or self.forgetting_factor < 1 or self.sketch_size is not None
        if in_batches or data.shape[1] <= _MOST_FEATURES:
            return problem, plan_batches(problem.sizes, self.resources(), self.sketch_size or 0)
        return problem, plan_linear(problem.sizes, self.resources())

    def _problem(self, data: Dataset, weights: NDArray | None) -> LinearProblem:
        k = getattr(self, "n_components_", self.n_components)
        return self._linear_problem(data, weights, k, budget=self.resources())

    def _check_n_components(self, n: int, previous: int | None) -> int:
        """The number of components by scikit-learn's rules, and no more than the sketch has rows."""
        k, d, size, message = self.n_components, self.n_features_in_, self.sketch_size, ""
        if k is None:
            return previous or min(n, d, size or d)
        if k > d:
            message = f"n_components={k!r} invalid for n_features={d}, need more rows than columns for "
            message += "IncrementalPCA processing"
        elif size is not None and k > size:
            message = f"n_components={k} needs sketch_size={k} or more, but it is {size}."
        elif previous is None and k > n:
            message = f"n_components={k} must be less or equal to the batch number of samples {n} for the first "
            message += "partial_fit call."
        elif previous is not None and k != previous:
            message = f"Number of input features has changed from {previous} to {k} between calls to partial_fit! "
            message += "Try setting n_components to a fixed value."
        if message:
            raise ParameterError("n_components", k, "compatible with the batch", message=message)
        return int(k)

    def _check_continuation(self) -> None:
        """Raise if a batch cannot be added to what earlier calls kept."""
        if self._scatter is None:
            raise MemoryLimitError(
                f"fit kept no scatter matrix for {counted(self.n_features_in_, 'column')}, so batches cannot be "
                "added. Use partial_fit from the first batch on."
            )
        size = self._scatter.size if isinstance(self._scatter, ScatterSketch) else None
        if size != self.sketch_size:
            message = f"sketch_size has changed from {size} to {self.sketch_size} between calls to partial_fit."
            remedies = [Remedy("sketch_size", size)]
            raise ParameterError("sketch_size", self.sketch_size, f"{size}", message=message, remedies=remedies)

    def _add_in_batches(self, problem: LinearProblem) -> None:
        """Batch after batch, as `partial_fit` would."""
        start, data = 0, problem.data
        with reporting(self.progress, 1, "rows") as progress:
            for block in data.blocks(self.batch_size_):
                stop = start + block.shape[0]
                weights = None if problem.weights is None else problem.weights[start:stop]
                self._add(problem._replace(data=ArrayDataset(block), weights=weights), None)
                start = stop
                if progress:
                    progress(start / len(data))

    def _add(self, problem: LinearProblem, progress: Any) -> None:
        """Add the rows of a problem. Every check comes before `_scatter` changes in place."""
        make: Any = ScatterMatrix if not self.sketch_size else partial(ScatterSketch, size=self.sketch_size)
        with np.errstate(over="ignore", invalid="ignore"):
            problem, batch = accumulate_rows(problem, make, progress)
            unit = 1.0 if problem.units is None else float(problem.units[0])
            if not np.isfinite(batch.squares.sum() * unit * unit):
                raise DataError(OVERFLOW)
            scatter = getattr(self, "_scatter", None)
            if scatter is None:
                scatter = batch
            else:
                if merge_overflows(scatter, self._unit, batch, unit):
                    raise DataError(OVERFLOW)
                unit = common_unit(scatter, self._unit, batch, unit)
                scatter.forget(self.forgetting_factor)
                scatter.merge(batch)
        self._scatter, self._unit = scatter, unit
        for name in _SOLVED:
            self.__dict__.pop(name, None)
        self.n_samples_seen_ = self.n_samples_ = scatter.n_samples
        self._mean64 = scatter.mean * unit
        self.mean_ = cast_if_representable(self._mean64, self._dtype)
        self.var_ = cast_if_representable(scatter.squares / scatter.total_weight * unit * unit, self._dtype)

    def _solve(self) -> PrincipalAxes:
        """Principal axes of all rows so far."""
        scatter = self._scatter
        placeholder = np.broadcast_to(np.float64(0.0), (scatter.n_repeated, scatter.n_features))
        problem = self._problem(ArrayDataset(placeholder), None)
        units = None if self._unit == 1 else np.full(scatter.n_features, self._unit)
        problem = problem._replace(n_components=min(self.n_components_, scatter.n_repeated), units=units)
        plan = plan_batches(problem.sizes, self.resources(), self.sketch_size or 0)
        solve: Any = axes_of_sketch if isinstance(scatter, ScatterSketch) else axes_of_scatter
        return solve(problem, plan, scatter).in_data_units()

    def __getattr__(self, name: str) -> Any:
        """Compute the attributes that follow from the sums when one of them is first read."""
        if name not in _SOLVED or self.__dict__.get("_scatter") is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        found = self._solve()
        assigned = {name: self.__dict__[name] for name in ("mean_", *_SOLVED) if name in self.__dict__}
        with collect_warnings() as warnings:
            self._store(found.warned(digit_warnings(found)), self._dtype)
        self.fit_warnings_ = unique([*self.fit_warnings_, *warnings])
        self.__dict__ |= assigned  # what the user has set stays
        return self.__dict__[name]

    def __copy__(self) -> Self:
        """A copy with sums of its own, since `partial_fit` changes them in place."""
        copied = type(self).__new__(type(self))
        copied.__dict__.update(self.__dict__)
        if "_scatter" in copied.__dict__:
            copied._scatter = deepcopy(self._scatter)
        return copied

    def __sklearn_is_fitted__(self) -> bool:
        return "n_samples_seen_" in vars(self) or "components_" in vars(self)

    def to_sklearn(self) -> Any:
        """Return a fitted `sklearn.decomposition.IncrementalPCA` with the same attributes.

        Returns
        -------
        estimator : sklearn.decomposition.IncrementalPCA
            An independent copy.
        """
        from mercer.compat.to_sklearn import to_sklearn_incremental_pca

        return to_sklearn_incremental_pca(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def axes_of_sketch(problem: LinearProblem, plan: Plan, sketch: ScatterSketch) -> PrincipalAxes:
    """Leading singular vectors of a sketch B; eigenvalues are the middles of the intervals [σ², σ² + Δ]."""
    rows = np.zeros((max(problem.n_solved, len(sketch.rows)), sketch.n_features))  # zero rows: no variance
    rows[: len(sketch.rows)] = sketch.rows
    pairs = leading_singular_pairs(rows, problem.n_solved)
    off = pairs.residual_norm + rounding_floor(sum(rows.shape), pairs.norm)  # of singular values and vectors
    values, others, total = pairs.values**2, pairs.next_values**2, float(sketch.squares.sum())
    certificate = certify_sketch(
        values,
        np.append(others, 0.0) if len(rows) < sketch.n_features else others,
        error=off * (2 * pairs.norm + off),
        sketch_size=sketch.size,
        shrinkage=sketch.shrinkage,
        rounding=sketch.sketch_error,
        total=total,
        total_error=float(sketch.diagonal_error.sum()) + 8 * UNIT * total,
    )
    axes = np.sqrt(2) * pairs.vectors[len(rows) :]
    middles = values + sketch.shrinkage / 2
    return principal_axes(problem, plan, Moments.of(sketch, False), middles, axes, total, certificate)
