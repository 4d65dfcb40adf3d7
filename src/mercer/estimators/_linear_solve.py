"""Principal axes of rows, by the route of a plan, with a certificate.

Every route ends in `principal_axes`. If squares of the data are out of range, rows are divided by powers of two.
Squares that hide a small variance lead to a route without squares.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mercer.analysis.columns import constant_text
from mercer.analysis.selection import Scree, choose_n_components
from mercer.budget import Budget, format_bytes
from mercer.certificates.residual import ResidualCertificate, certify, direction_warnings
from mercer.data.dataset import Dataset, scaled
from mercer.data.validation import count_repeated, raise_nonfinite
from mercer.errors import DataError, MemoryLimitError, MercerWarning, Remedy
from mercer.linalg.completeness import exclude_missed
from mercer.linalg.dense import leading_eigenpairs, leading_singular_pairs
from mercer.linalg.eigen import Eigenpairs, column_signs, remeasure, rounding_floor, solve_fraction
from mercer.linalg.row_gram import axes_from_gram, gram_matrix
from mercer.linalg.scatter import (
    Scatter,
    ScatterDiagonal,
    ScatterMatrix,
    accumulate,
    column_ranges,
    deviation_errors,
    energy_along,
)
from mercer.linalg.scatter_operator import ScatterOperator
from mercer.linalg.scatter_qr import ScatterQR
from mercer.numerics.products import is_small_integer, matmul
from mercer.numerics.rounding import SHORT, UNIT, chain, column_norms, gamma, norm, power_of_two
from mercer.numerics.threads import blas_threads, working
from mercer.planning.plan import Plan
from mercer.planning.plan_linear import (
    SMALL_ENTRIES,
    SMALL_ROWS,
    LinearSizes,
    direct_plan,
    exact_plan,
    plan_linear,
    plan_small,
    products_plan,
    rows_plan,
)
from mercer.text import counted

OVERFLOW = "The squares of the data overflow: the values are too large. Scale them down first."
_COUNTED = "all eigenvalues were computed or counted"
_FEW_DIGITS = "squares of the data leave a variance too few digits."
_DIGITS = 1e-6  # relative error of a variance from which another route is taken
_RANGE = 1e-150, 1e150  # sums of squares whose digits are complete
_ZERO = (32 * np.finfo(float).eps) ** 2  # of the total: energies up to this are zero
_TERMS = 1024  # features over which axes are multiplied at once
_FEW_ROWS, _LONGER = 2048, 192  # of small arrays; beyond these, products over so many rows are much faster
_LAPACK_THREADS = 400  # side of a matrix from which LAPACK uses all threads


class LinearProblem(NamedTuple):
    """Data and parameters of one fit. `budget` may be None for small arrays, `units` are powers of two."""

    data: Dataset
    weights: NDArray | None
    n_components: int | float | str | None
    rng: Callable[[], np.random.Generator]
    feature_names: NDArray | None = None
    progress: Any = False
    budget: Budget | None = None
    standardize: bool = False
    svd_solver: str = "auto"
    tol: float = 0.0
    units: NDArray | None = None

    @property
    def by_rule(self) -> bool:
        """Whether a rule by name chooses the number of components."""
        return isinstance(self.n_components, str)

    @property
    def by_spectrum(self) -> bool:
        """Whether a rule or a fraction of the variance does, so that eigenvalues must be known."""
        return not (self.n_components is None or isinstance(self.n_components, Integral))

    @property
    def n_counted(self) -> int:
        """Rows of positive weight, or those that integer weights stand for."""
        if self.weights is None:
            return len(self.data)
        return count_repeated(self.weights, int(np.count_nonzero(self.weights)))

    @property
    def n_possible(self) -> int:
        return min(self.n_counted, self.data.shape[1])

    @property
    def n_solved(self) -> int:
        """Number of eigenpairs to compute."""
        if isinstance(self.n_components, Integral):
            return int(self.n_components)
        fewer = self.svd_solver == "arpack" or (self.svd_solver == "auto" and self.data.is_sparse)
        return self.n_possible - (self.n_components is None and fewer)  # scikit-learn's rule

    @property
    def dtype(self) -> Any:
        """Type of the fitted attributes."""
        return np.float32 if self.data.dtype == np.float32 else np.float64

    @property
    def n_threads(self) -> int:
        return 1 if self.budget is None else self.budget.threads

    @property
    def is_small(self) -> bool:
        """Whether the data are a dense array for which any planning would cost more than the fit."""
        (n, d), data = self.data.shape, self.data
        small = n <= SMALL_ROWS and n * d <= SMALL_ENTRIES and self.weights is None
        return small and data.in_memory and data.nnz is None and self.svd_solver not in ("qr", "krylov")

    @property
    def sizes(self) -> LinearSizes:
        data = self.data
        return LinearSizes(
            n_samples=len(data),
            n_features=data.shape[1],
            n_components=None if self.by_spectrum else self.n_solved,
            n_possible=self.n_possible,
            by_rule=self.by_rule,
            nnz=data.nnz,
            in_memory=data.in_memory,
            itemsize=data.dtype.itemsize,
            small_integers=is_small_integer(data.dtype) and self.weights is None and not self.standardize,
            reading_bytes=data.reading_bytes,
            n_threads=self.n_threads,
            svd_solver=self.svd_solver,
            tol=self.tol,
        )


class Moments(NamedTuple):
    """Mean and sums of squares of the columns, in the units of the problem; `scale` divides them if standardized."""

    mean: NDArray
    feature_squares: NDArray  # of the scaled columns, 0 for constant ones
    is_constant: NDArray
    total_weight: float
    n_samples: int
    n_repeated: int
    scale: NDArray | None

    @classmethod
    def of(cls, scatter: Scatter, standardize: bool) -> "Moments":
        is_constant, scale = scatter.is_constant, scatter.standard_deviations if standardize else None
        squares = np.where(is_constant, 0.0, scatter.squares) / (1.0 if scale is None else scale**2)
        counts = scatter.total_weight, scatter.n_samples, scatter.n_repeated
        return cls(scatter.mean, squares, is_constant, *counts, scale)


class PrincipalAxes(NamedTuple):
    """What a fit stores: axes (k, d), eigenvalues (k,) of the scatter matrix and their sums, all divided by unit²."""

    axes: NDArray
    eigenvalues: NDArray
    total: float
    dropped: float
    n_possible: int
    moments: Moments
    certificate: Any  # ResidualCertificate, or SketchCertificate of IncrementalPCA
    plan: Plan
    warnings: tuple[MercerWarning, ...]
    units: NDArray | None  # of the problem
    unit: float = 1.0

    def in_data_units(self) -> "PrincipalAxes":
        """The same if rows were divided by powers of two: one for all columns, or one each if standardized."""
        if self.units is None:
            return self
        mean, scale = self.moments.mean * self.units, self.moments.scale
        if scale is not None:
            scale = np.where(self.moments.is_constant, 1.0, scale * self.units)
            return self._replace(moments=self.moments._replace(mean=mean, scale=scale))
        unit = float(self.units[0])
        with np.errstate(over="ignore"):
            if not np.isfinite(self.total * unit * unit):
                raise DataError(OVERFLOW)
        return self._replace(moments=self.moments._replace(mean=mean), unit=unit)

    def warned(self, warnings: list[MercerWarning]) -> "PrincipalAxes":
        """The same with more warnings."""
        return self._replace(warnings=(*self.warnings, *warnings))


def plan_problem(problem: LinearProblem, resources: Callable[[], Budget]) -> Plan:
    """The plan of a fit."""
    if problem.is_small:
        return plan_small(*problem.data.shape, problem.svd_solver, problem.tol)
    budget = resources()
    return plan_linear(problem._replace(budget=budget).sizes, budget)


def solve_problem(problem: LinearProblem, resources: Callable[[], Budget]) -> PrincipalAxes:
    """Principal axes of any data; `resources` is called where the memory or the number of threads matters."""
    if problem.is_small:
        return solve_small(problem, plan_small(*problem.data.shape, problem.svd_solver, problem.tol))
    budget = resources()
    problem = problem._replace(budget=budget)
    return solve_principal_axes(problem, plan_linear(problem.sizes, budget))


# ---------------------------------------------------------------------- small arrays


def solve_small(problem: LinearProblem, plan: Plan) -> PrincipalAxes:
    """Principal axes of a small dense array: one product or LAPACK's SVD, no plan search, no threads."""
    X = problem.data.load()
    if X.dtype.kind != "f":
        X = X.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        return _solve_small(X, problem, plan).in_data_units()


def _solve_small(X: NDArray, problem: LinearProblem, plan: Plan) -> PrincipalAxes:
    """The route of the plan, or the rows themselves if squares hide a variance."""
    n, ones = len(X), np.ones(len(X), dtype=X.dtype)
    guess = (ones @ X / n).astype(np.float64, copy=False)
    Y = X - guess
    left = ones @ Y / n  # what the guess is off by: rounding
    if plan.route == "scatter":
        short = SHORT if n <= _FEW_ROWS else _LONGER
        matrix = matmul(Y.T, Y, short=short)
        matrix -= n * np.multiply.outer(left, left)
        squares, n_roundings = matrix.diagonal().copy(), 16 + chain(n, short)
    else:
        Y -= left
        squares, n_roundings = np.einsum("ij,ij->j", Y, Y), 16 + n
    least, most = (squares.min(), squares.max()) if problem.standardize else 2 * (squares.sum(),)
    if problem.units is None and not _RANGE[0] <= least <= most <= _RANGE[1]:
        if not np.isfinite(X).all():
            raise_nonfinite(problem.data)
        problem = rescaled(problem)
        return _solve_small(problem.data.load(), problem, plan)
    around = np.maximum(squares, 0.0) + n * left * left
    mean_errors = gamma(n + 4) * np.sqrt(around / n)
    errors = gamma(n_roundings) * around
    errors += n * mean_errors * (mean_errors + 2 * np.abs(left))  # to second order, as centered rows sum to zero
    is_constant = squares <= errors
    moments = Moments(guess + left, np.where(is_constant, 0.0, squares), is_constant, float(n), n, n, None)
    scale_errors = np.zeros(1)
    if problem.standardize:
        scale = np.where(is_constant, 1.0, np.sqrt(np.maximum(squares, 0.0) / max(n - 1, 1)))
        scale_errors = np.where(is_constant, 0.0, deviation_errors(squares, errors) + 4 * UNIT)
        moments = moments._replace(feature_squares=moments.feature_squares / scale**2, scale=scale)
    if plan.route == "scatter":
        error = float(errors.sum())
        if moments.scale is not None:
            matrix = matrix / scale / scale[:, None]
            error = float((errors / scale**2).sum()) + 2 * n * norm(scale_errors) * np.sqrt(len(scale))
        found = _axes_of_matrix(problem, plan, moments, matrix, float(matrix.trace()), error)
        if not needs_more_digits(problem, found):
            return found
        Y -= left
    mean_errors = np.sqrt(n) * mean_errors
    if moments.scale is not None:
        Y /= scale
        mean_errors /= scale
    centered = CenteredRows(Y, mean_errors, moments, float(scale_errors.max()))
    if plan.route == "rows":
        return centered.axes(problem, plan)
    if plan.route == "gram":
        found = _axes_of_gram(problem, plan, moments, *centered.gram(), centered.back)
        if not needs_more_digits(problem, found):
            return found
    sure = _remeasured(problem, found, centered.energy)
    return centered.axes(problem, rows_plan(problem.sizes, _FEW_DIGITS)) if sure is None else sure


class CenteredRows(NamedTuple):
    """Centered (and scaled, weighted) rows in memory; `mean_errors` bounds ‖δy‖ of each column by that of the mean."""

    rows: NDArray
    mean_errors: NDArray
    moments: Moments
    scale_error: float  # relative, of the standard deviations that the columns are divided by

    def axes(self, problem: LinearProblem, plan: Plan) -> PrincipalAxes:
        """By LAPACK's SVD."""
        squares = float(np.vdot(self.rows, self.rows))
        error = norm(self.mean_errors) + (gamma(6) + self.scale_error) * np.sqrt(squares)
        return _axes_of_factor(problem, plan, self.moments, self.rows, error)

    def gram(self) -> tuple[NDArray, float]:
        """YYᵀ and a bound on its error. The error of the mean counts at most twice: row sums are multiples of it."""
        matrix = self.rows @ self.rows.T
        total, off = float(matrix.trace()), norm(self.mean_errors)
        rounding = (gamma(self.rows.shape[1] + 16) + 2 * self.scale_error) * total
        return matrix, rounding + off * (2 * np.sqrt(total) + off)

    def back(self, U: NDArray) -> tuple[NDArray, NDArray]:
        """YᵀU and bounds on the errors of its columns."""
        return self.rows.T @ U, gamma(len(U) + 4) * column_norms(U) * float(np.sqrt(np.vdot(self.rows, self.rows)))

    def energy(self, axes: NDArray) -> tuple[NDArray, float]:
        """Sums of squares along the axes, and outside them."""
        scores = self.rows @ axes.T
        outside = self.rows - scores @ axes
        return np.einsum("ij,ij->j", scores, scores), float(np.vdot(outside, outside))


# ---------------------------------------------------------------------- any size


def solve_principal_axes(problem: LinearProblem, plan: Plan) -> PrincipalAxes:
    """Principal axes by the route of the plan."""
    with (
        problem.data.persist() as data,
        working(problem.progress, plan.n_passes, "passes over the rows", problem.n_threads) as progress,
    ):
        return _ROUTES[plan.route](problem._replace(data=data), plan, progress).in_data_units()


def _solve_scatter(problem: LinearProblem, plan: Plan, progress: Any) -> PrincipalAxes:
    """Eigenvectors of the d x d scatter matrix, summed up in one pass."""
    problem, scatter = accumulate_rows(problem, ScatterMatrix, progress)
    return _checked(problem, axes_of_scatter(problem, plan, scatter), scatter, progress)


def axes_of_scatter(problem: LinearProblem, plan: Plan, scatter: ScatterMatrix) -> PrincipalAxes:
    """Certified eigenpairs of S, its columns divided by their standard deviations if requested."""
    moments = Moments.of(scatter, problem.standardize)
    scale = moments.scale
    matrix, total, error = scatter.matrix(scale), scatter.total(scale), scatter.eigenvalue_error(scale)
    with _lapack_threads(problem, len(matrix)):
        return _axes_of_matrix(problem, plan, moments, matrix, total, error)


def _solve_qr(problem: LinearProblem, plan: Plan, progress: Any) -> PrincipalAxes:
    """The SVD of a triangular factor of the centered rows, from one pass."""
    problem, scatter = accumulate_rows(problem, ScatterQR, progress)
    moments = Moments.of(scatter, problem.standardize)
    factor, errors = scatter.factor, scatter.column_error
    if moments.scale is not None:
        factor = factor / moments.scale
        errors = errors / moments.scale + scatter.scale_error(moments.scale) * np.sqrt(moments.feature_squares)
    with _lapack_threads(problem, len(factor)):
        return _axes_of_factor(problem, plan, moments, factor, norm(errors))


def _solve_rows(problem: LinearProblem, plan: Plan, progress: Any) -> PrincipalAxes:
    """LAPACK's SVD of the centered rows in memory."""
    problem, scatter = accumulate_rows(problem, ScatterDiagonal, progress)
    rows, moments = problem.data.load(), Moments.of(scatter, problem.standardize)
    Y = scatter.centered(rows.toarray() if sparse.issparse(rows) else rows)
    if problem.weights is not None:
        Y *= np.sqrt(problem.weights)[:, None]
    mean_errors = np.sqrt(scatter.total_weight) * scatter.mean_error
    if moments.scale is not None:
        Y /= moments.scale
        mean_errors = mean_errors / moments.scale
    scale_error = float(scatter.scale_error(moments.scale).max())
    with blas_threads(problem.n_threads):
        return CenteredRows(Y, mean_errors, moments, scale_error).axes(problem, plan)


def _solve_gram(problem: LinearProblem, plan: Plan, progress: Any) -> PrincipalAxes:
    """Eigenvectors of the n x n products of all pairs of centered rows."""
    problem, scatter = accumulate_rows(problem, ScatterDiagonal, progress)
    moments = Moments.of(scatter, problem.standardize)
    of_rows = problem.data, problem.weights, scatter, moments.scale
    room = None if problem.budget is None else max(problem.budget.memory - plan.memory, 0)
    matrix, error = gram_matrix(*of_rows, problem.n_threads, progress, room)
    back = partial(axes_from_gram, *of_rows, n_threads=problem.n_threads, progress=progress)
    with _lapack_threads(problem, len(matrix)):
        found = _axes_of_gram(problem, plan, moments, matrix, error, back)
    return _checked(problem, found, scatter, progress)


def _lapack_threads(problem: LinearProblem, side: int) -> Any:
    """The threads that LAPACK takes for a matrix of this side."""
    return blas_threads(problem.n_threads if side >= _LAPACK_THREADS else 1)


def _solve_products(problem: LinearProblem, plan: Plan, progress: Any) -> PrincipalAxes:
    """Block Lanczos: every step is one pass over the rows. A direct route takes over once it would cost no more."""
    problem, scatter = accumulate_rows(problem, ScatterDiagonal, progress)
    moments = Moments.of(scatter, problem.standardize)
    operator = ScatterOperator(problem.data, problem.weights, scatter, moments.scale, problem.n_threads, progress)
    tried = "block Lanczos on products with the rows took too many passes, or may have missed components."
    direct = direct_plan(problem.sizes, tried)
    fits = problem.budget is None or direct.memory <= problem.budget.memory
    may_change = fits and problem.svd_solver != "krylov"
    pairs = _pairs_of_products(problem, plan, operator, moments, operator.n // 10 if may_change else None)
    if pairs is not None and (pairs.converged or not may_change):
        pairs, bound, evidence = exclude_missed(plan.solver, operator, pairs, problem.rng)
        known = partial(certify, tol=plan.tol, bound=bound, evidence=evidence, entry_error=operator.entry_error)
        certificate = known(pairs)
        if certificate.not_established == ("directions",) and problem.data.in_memory:
            pairs = remeasure(pairs, operator)
            certificate = known(pairs)
        worth_more = may_change and direct.flops <= 10 * pairs.n_passes * problem.sizes.pass_flops
        if certificate.n_complete == len(pairs.values) or not worth_more:
            found = principal_axes(problem, plan, moments, pairs.values, pairs.vectors, operator.trace, certificate)
            return _checked(problem, found, scatter, progress)
    both = replace(direct, memory=max(direct.memory, plan.memory))
    return _ROUTES[direct.route](problem, both, progress)


def _pairs_of_products(
    problem: LinearProblem, plan: Plan, operator: ScatterOperator, moments: Moments, most: int | None
) -> Eigenpairs | None:
    """The pairs to keep; None if a fraction of the variance takes more than `most`: a direct route is faster then."""
    if not problem.by_spectrum:
        return plan.solver.solve(operator, problem.n_solved, problem.rng)
    fraction, check = float(problem.n_components or 0), partial(_check_products_memory, problem)
    pairs = solve_fraction(plan.solver, operator, fraction, problem.rng, check, most)
    if most is not None and not pairs.values.sum() > fraction * operator.trace:
        return None
    return _chosen(problem, moments, pairs, pairs.values, operator.trace, operator.entry_error, pairs.vectors.T)


def _check_products_memory(problem: LinearProblem, k: int) -> None:
    needed = products_plan(problem.sizes._replace(n_components=k), "").memory
    if problem.budget is not None and needed > problem.budget.memory:
        raise MemoryLimitError(
            f"n_components={problem.n_components} takes more than {k // 2} components, which need more memory "
            "than the limit.",
            needed=needed,
            limit=problem.budget.memory,
        )


_ROUTES: dict[str, Callable[[LinearProblem, Plan, Any], PrincipalAxes]] = {
    "rows": _solve_rows,
    "scatter": _solve_scatter,
    "qr": _solve_qr,
    "gram": _solve_gram,
    "products": _solve_products,
}


def accumulate_rows(problem: LinearProblem, make: Any, progress: Any) -> tuple[LinearProblem, Any]:
    """The scatter of all rows, and the problem: in other units if squares over- or underflow."""
    scatter = accumulate(problem.data, problem.weights, make, problem.n_threads, progress)
    if not scatter.is_finite:
        raise_nonfinite(problem.data)
    if problem.units is None and not scatter.in_range(each_column=problem.standardize):
        return accumulate_rows(rescaled(problem), make, progress)
    if not scatter.is_finite:
        raise DataError(OVERFLOW)
    return problem, scatter


def rescaled(problem: LinearProblem) -> LinearProblem:
    """The problem with rows divided by powers of two near their largest distance from the first row."""
    low, high, first = column_ranges(problem.data)
    peaks = np.maximum(high - first, first - low)
    if not (peaks.any() and np.isfinite(peaks).all()):
        peaks = np.maximum(np.abs(low), np.abs(high))
    heaviest = 1.0 if problem.weights is None else float(np.sqrt(problem.weights.max()))
    units = power_of_two((peaks if problem.standardize else np.full_like(peaks, peaks.max())) * heaviest)
    return problem._replace(data=scaled(problem.data, units, np.float64), units=units)


# ---------------------------------------------------------------------- from matrices to axes


def _axes_of_matrix(
    problem: LinearProblem, plan: Plan, moments: Moments, matrix: NDArray, total: float, error: float
) -> PrincipalAxes:
    """Certified eigenpairs of a scatter matrix whose eigenvalues are known to `error`."""
    pairs = leading_eigenpairs(matrix, problem.n_solved)
    if problem.by_spectrum:
        pairs = _chosen(problem, moments, pairs, pairs.values, total, error + _floor(pairs), pairs.vectors.T)
    return principal_axes(problem, plan, moments, pairs.values, pairs.vectors, total, _certify(pairs, plan, error))


def _axes_of_gram(
    problem: LinearProblem,
    plan: Plan,
    moments: Moments,
    matrix: NDArray,
    error: float,
    back: Callable[[NDArray], tuple[NDArray, NDArray]],
) -> PrincipalAxes:
    """Eigenvectors u of YYᵀ give the axes Yᵀu/√λ; `back` returns Yᵀu and bounds on the errors of its columns.

    If u is off by ε/|λ − μ| towards the eigenvalue μ, then v = Yᵀu/√λ is by √(μ/λ) of that: √2 of ε/δ at most, as
    the distance δ to all others includes that to zero.
    """
    n, total = len(matrix), float(matrix.trace())
    if problem.n_solved > n:  # rows that stand for several: further components have no variance
        matrix = np.pad(matrix, (0, problem.n_solved - n))
    pairs = leading_eigenpairs(matrix, problem.n_solved)
    if problem.by_spectrum:
        pairs = _chosen(problem, moments, pairs, pairs.values, total, error + _floor(pairs), None)
    certificate = _certify(pairs, plan, error, angle_factor=np.sqrt(2))
    kept = ~certificate.is_zero
    roots = np.sqrt(np.where(kept, pairs.values, np.inf))
    axes, errors = back(pairs.vectors[:n] / roots)
    axes, moved, unsure = _orthonormal(axes, kept)
    certificate = replace(
        certificate,
        angle_error=2 * errors + unsure,
        axis_error=pairs.values * (moved + 2 * errors) + pairs.norm * (unsure + rounding_floor(n, 1.0)),
    )
    return principal_axes(problem, plan, moments, pairs.values, axes, total, certificate)


def _orthonormal(axes: NDArray, kept: NDArray) -> tuple[NDArray, NDArray, float]:
    """Orthonormal columns, zeros where not kept; by how much each was moved, and how well that was measured.

    Every axis is freed from those before it, which have more variance. A residual r of u leaves Yᵀu/√λ with a residual
    of √(μ/λ)·r along the axis of μ > λ; without that part no more than r is left. Axes of large variances stay where
    they are. One triangular step is enough for columns that are nearly orthonormal.
    """
    axes[:, ~kept] = 0.0
    k = len(kept)
    inner = matmul(axes.T, axes, short=_TERMS)
    inner[~kept, ~kept] = 1.0
    deviations = np.triu(inner) - np.eye(k)
    moved, unsure = column_norms(deviations), gamma(chain(len(axes), _TERMS)) * float(np.sqrt(k))
    if moved.max(initial=0.0) < 1e-8:
        deviations[np.diag_indices(k)] /= 2
        return axes - axes @ deviations, moved, unsure
    axes[:, kept], R = np.linalg.qr(axes[:, kept])
    axes[:, kept] *= np.where(np.diag(R) < 0, -1.0, 1.0)
    return axes, moved, unsure


def _axes_of_factor(
    problem: LinearProblem, plan: Plan, moments: Moments, factor: NDArray, error: float
) -> PrincipalAxes:
    """From Y with YᵀY = S, known to ‖δY‖ ≤ error, by LAPACK's SVD: nothing is squared."""
    if len(factor) < problem.n_possible:  # rows that stand for several: further components have no variance
        factor = np.concatenate([factor, np.zeros((problem.n_possible - len(factor), factor.shape[1]))])
    pairs = leading_singular_pairs(factor, problem.n_solved)
    total = float(np.sum(pairs.values**2) + np.sum(pairs.next_values**2))
    if problem.by_spectrum:
        axes, floor = np.sqrt(2) * pairs.vectors[len(factor) :].T, error + _floor(pairs)
        pairs = _chosen(problem, moments, pairs, pairs.values**2, total, floor**2, axes)
    certificate = _certify(pairs, plan, error, angle_factor=np.sqrt(2), singular=True)
    axes, dropped = np.sqrt(2) * pairs.vectors[len(factor) :], float(np.sum(pairs.next_values**2))
    return principal_axes(problem, plan, moments, pairs.values**2, axes, total, certificate, dropped)


def _floor(pairs: Eigenpairs) -> float:
    return rounding_floor(len(pairs.vectors), pairs.norm)


def _chosen(
    problem: LinearProblem,
    moments: Moments,
    pairs: Eigenpairs,
    values: NDArray,
    total: float,
    error: float,
    axes: NDArray | None,
) -> Eigenpairs:
    """The pairs that a fraction or a rule keeps, given their eigenvalues."""
    scree = Scree(
        values=np.maximum(values[: problem.n_possible], 0.0),
        total=total,
        total_weight=moments.total_weight,
        n_features=len(moments.mean),
        feature_squares=moments.feature_squares,
        axes=axes,
        error=error,
    )
    return pairs.first(choose_n_components(problem.n_components, scree, problem.dtype))


def _certify(pairs: Eigenpairs, plan: Plan, error: float, **options: Any) -> ResidualCertificate:
    """The certificate where LAPACK computed everything: the next eigenvalue bounds all others."""
    bound = float(pairs.next_values.max(initial=0.0)) + _floor(pairs)
    return certify(pairs, tol=plan.tol, bound=bound, evidence=_COUNTED, entry_error=error, **options)


def principal_axes(
    problem: LinearProblem,
    plan: Plan,
    moments: Moments,
    values: NDArray,
    vectors: NDArray,
    total: float,
    certificate: Any,
    dropped: float | None = None,
) -> PrincipalAxes:
    """Signs and zeros by convention, and warnings; `dropped` is the sum of the other eigenvalues if it is known."""
    if not certificate.is_separated:
        values = np.where(certificate.is_zero, 0.0, values)
    n_possible = min(moments.n_repeated, len(moments.mean))
    if dropped is None:
        dropped = max(total - float(values.sum()), 0.0)
    return PrincipalAxes(
        axes=np.ascontiguousarray((vectors * column_signs(vectors)).T),
        eigenvalues=values,
        total=total,
        dropped=dropped if len(values) < n_possible else 0.0,
        n_possible=n_possible,
        moments=moments,
        certificate=certificate,
        plan=plan,
        warnings=(*_warnings(problem, moments, len(values)), *direction_warnings(certificate)),
        units=problem.units,
    )


# ---------------------------------------------------------------------- digits


def needs_more_digits(problem: LinearProblem, found: PrincipalAxes) -> bool:
    """Whether squares hide a kept variance, the sum of the others, or a variance that a rule should see."""
    values, rounding = found.eigenvalues, found.certificate.rounding
    smallest = float(values[-1]) if len(values) else np.inf
    if len(values) < found.n_possible:
        smallest = min(smallest, found.dropped)
    if smallest * _DIGITS < rounding:
        n_unsure = int(np.sum(values * _DIGITS < rounding))
        if len(values) < found.n_possible or n_unsure > int(found.moments.is_constant.sum()):
            return True  # more than the constant columns explain
    return problem.by_rule and found.certificate.bound_beyond < 4 * rounding < found.dropped


def _checked(problem: LinearProblem, found: PrincipalAxes, scatter: Scatter, progress: Any) -> PrincipalAxes:
    """The axes; if squares hide a variance and memory allows it, the result of a route without squares."""
    if not needs_more_digits(problem, found):
        return found
    if not problem.data.is_sparse:

        def energy(axes: NDArray) -> tuple[NDArray, float]:
            scale = found.moments.scale
            return energy_along(scatter, problem.data, problem.weights, axes, scale, problem.n_threads, progress)

        sure = _remeasured(problem, found, energy)
        if sure is not None:
            return sure
        plan = exact_plan(problem.sizes, _FEW_DIGITS)
        if problem.budget is None or plan.memory <= problem.budget.memory:
            return _ROUTES[plan.route](problem, plan, progress)
        return found.warned(digit_warnings(found, Remedy("memory_limit", format_bytes(1.1 * plan.memory))))
    return found.warned(digit_warnings(found))


def _remeasured(
    problem: LinearProblem, found: PrincipalAxes, energy: Callable[[NDArray], tuple[NDArray, float]]
) -> PrincipalAxes | None:
    """The same axes if the variances without digits are zero; None if squares hide a variance."""
    unsure = np.flatnonzero(found.eigenvalues * _DIGITS < found.certificate.rounding)
    all_kept = len(found.axes) >= found.n_possible
    along, outside = energy(found.axes[unsure] if all_kept else found.axes)
    hidden = np.any((along if all_kept else along[unsure]) > _ZERO * found.total)
    if hidden or (problem.by_rule and not all_kept and outside > _ZERO * found.total):
        return None
    return found if all_kept else found._replace(dropped=outside)


# ---------------------------------------------------------------------- warnings


def digit_warnings(found: PrincipalAxes, *remedies: Remedy) -> list[MercerWarning]:
    """A warning if a positive variance has few digits. Without a remedy, rows were sparse or came in batches."""
    rounding, values = found.certificate.rounding, np.append(found.eigenvalues, found.dropped)
    positive = values[values > rounding]
    if found.total * _DIGITS > rounding and not np.any(positive * _DIGITS < rounding):
        return []
    digits = max(0, int(-np.log10(rounding / positive.min()))) if len(positive) else 0
    text = f"Squares of the data leave the smallest variance only {counted(digits, 'correct digit')}."
    if not remedies:
        text += " PCA of all rows in one dense array does not need squares."
    return [MercerWarning(text, remedies=remedies)]


def _warnings(problem: LinearProblem, moments: Moments, n_kept: int) -> list[MercerWarning]:
    """Warnings about constant columns, and about a rule that keeps no component."""
    constant, found = moments.is_constant, []
    if constant.all():
        text = "The rows are equal but for rounding, so all variances and scores are zero."
        found.append(MercerWarning(text, "meaningless"))
    elif problem.standardize and constant.any():
        found.append(MercerWarning(constant_text(constant, problem.feature_names)))
    if problem.by_rule and not n_kept:
        text = f"No component exceeds noise by n_components={problem.n_components!r}, so none is kept."
        found.append(MercerWarning(text, "meaningless"))
    return found
