"""Principal axes of rows, by the route of a plan, with a certificate.

Every route ends in `principal_axes`. A route returns None if squares of the data are out of range; it is then repeated
with rows divided by powers of two. Squares that hide a small variance lead to a route without squares.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mercer.analysis.selection import Scree, choose_n_components
from mercer.budget import Budget
from mercer.certificates.residual import ResidualCertificate, certify, direction_warnings
from mercer.data.dataset import Dataset, scaled
from mercer.data.validation import count_repeated, raise_nonfinite
from mercer.errors import DataError, MemoryLimitError, MercerWarning
from mercer.linalg.completeness import exclude_missed
from mercer.linalg.dense import leading_eigenpairs, leading_singular_pairs
from mercer.linalg.eigen import Eigenpairs, column_signs, remeasure, rounding_floor, solve_fraction
from mercer.linalg.row_gram import axes_from_gram, gram_matrix
from mercer.linalg.scatter import (
    Scatter,
    ScatterDiagonal,
    ScatterMatrix,
    accumulate,
    deviation_errors,
    energy_along,
)
from mercer.linalg.scatter_operator import ScatterOperator
from mercer.linalg.scatter_qr import ScatterQR
from mercer.numerics.blocking import block_rows
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
    plan_small,
    products_plan,
    rows_plan,
)
from mercer.text import listed

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
    standardize: bool
    svd_solver: str
    tol: float
    rng: Callable[[], np.random.Generator]
    budget: Budget | None = None
    progress: Any = False
    feature_names: NDArray | None = None
    units: NDArray | None = None

    @property
    def by_rule(self) -> bool:
        """Whether a rule by name chooses the number of components."""
        return isinstance(self.n_components, str)

    @property
    def by_fraction(self) -> bool:
        """Whether a fraction of the variance does."""
        return not (self.n_components is None or self.by_rule or isinstance(self.n_components, Integral))

    @property
    def n_possible(self) -> int:
        return min(count_repeated(self.weights, len(self.data)), self.data.shape[1])

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
    def sizes(self) -> LinearSizes:
        data = self.data
        return LinearSizes(
            n_samples=len(data),
            n_features=data.shape[1],
            n_components=None if self.by_fraction or self.by_rule else self.n_solved,
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
    squares: NDArray
    is_constant: NDArray
    total_weight: float
    n_samples: int
    n_repeated: int
    scale: NDArray | None

    @classmethod
    def of(cls, scatter: Scatter, standardize: bool) -> "Moments":
        scale = scatter.standard_deviations if standardize else None
        counts = scatter.total_weight, scatter.n_samples, scatter.n_repeated
        return cls(scatter.mean, scatter.squares, scatter.is_constant, *counts, scale)

    @property
    def feature_squares(self) -> NDArray:
        """Sums of squares of the scaled columns, 0 for constant ones."""
        squares = np.where(self.is_constant, 0.0, self.squares)
        return squares if self.scale is None else squares / self.scale**2


class PrincipalAxes(NamedTuple):
    """What a fit stores: axes (k, d), eigenvalues (k,) of the scatter matrix and their sums, all divided by unit²."""

    axes: NDArray
    eigenvalues: NDArray
    total: float
    dropped: float
    n_possible: int
    moments: Moments
    feature_squares: NDArray
    certificate: Any  # ResidualCertificate, or SketchCertificate of IncrementalPCA
    plan: Plan
    unit: float = 1.0
    warnings: tuple[MercerWarning, ...] = ()

    @property
    def mean(self) -> NDArray:
        return self.moments.mean

    @property
    def scale(self) -> NDArray | None:
        return self.moments.scale

    @property
    def total_weight(self) -> float:
        return self.moments.total_weight

    @property
    def n_samples(self) -> int:
        return self.moments.n_samples

    def in_units(self, units: NDArray | None) -> "PrincipalAxes":
        """The same for rows that were divided by powers of two: one for all columns, or one each if standardized."""
        if units is None:
            return self
        scale = None if self.scale is None else self.scale * units
        moments = self.moments._replace(mean=self.mean * units, scale=scale)
        unit = float(units[0]) if scale is None else 1.0
        with np.errstate(over="ignore"):
            if not np.isfinite(self.total * unit * unit):
                raise DataError(OVERFLOW)
        return self._replace(moments=moments, unit=unit)

    def warned(self, warnings: list[MercerWarning]) -> "PrincipalAxes":
        """The same with more warnings."""
        return self._replace(warnings=(*self.warnings, *warnings))


def is_small(data: Dataset, svd_solver: str) -> bool:
    """Whether the data are a dense array for which any planning would cost more than the fit."""
    n, d = data.shape
    small = n <= SMALL_ROWS and n * d <= SMALL_ENTRIES
    return small and data.in_memory and data.nnz is None and svd_solver not in ("qr", "krylov")


# ---------------------------------------------------------------------- small arrays


def solve_small(X: NDArray, problem: LinearProblem) -> PrincipalAxes:
    """Principal axes of a small dense array: one product or LAPACK's SVD, no plan search, no threads."""
    plan = plan_small(problem.sizes)
    if X.dtype.kind != "f":
        X = X.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        found = _solve_small(X, problem, plan)
        if found is None:
            if not np.isfinite(X).all():
                raise_nonfinite(problem.data)
            problem = rescaled(problem)
            found = _solve_small(problem.data.load(), problem, plan)
    assert found is not None  # in these units all squares are in range
    return found.in_units(problem.units)


def _solve_small(X: NDArray, problem: LinearProblem, plan: Plan) -> PrincipalAxes | None:
    """The route of the plan; the rows themselves if squares hide a variance, None if squares are out of range."""
    n, ones = len(X), np.ones(len(X), dtype=X.dtype)
    guess = (ones @ X / n).astype(np.float64, copy=False)
    Y = X - guess
    left = ones @ Y / n  # what the guess is off by: rounding
    if plan.route == "scatter":
        short = SHORT if n <= _FEW_ROWS else _LONGER
        matrix = matmul(Y.T, Y, short=short)
        matrix -= n * np.multiply.outer(left, left)
        squares = matrix.diagonal().copy()
    else:
        Y -= left
        squares = np.einsum("ij,ij->j", Y, Y)
    checked = squares if problem.standardize else squares.sum()
    if problem.units is None and not (checked.min() >= _RANGE[0] and checked.max() <= _RANGE[1]):
        return None
    mean_errors = gamma(n + 4) * np.sqrt(np.maximum(squares, 0.0) / n + left * left)
    around = np.maximum(squares, 0.0) + n * left * left
    n_roundings = 16 + (chain(n, short) if plan.route == "scatter" else n)
    errors = gamma(n_roundings) * around  # and the mean, to second order, as centered rows sum to zero
    errors += n * mean_errors * (mean_errors + 2 * np.abs(left))
    is_constant = squares <= errors
    scale, scale_errors = None, np.zeros(1)
    if problem.standardize:
        scale = np.where(is_constant, 1.0, np.sqrt(np.maximum(squares, 0.0) / max(n - 1, 1)))
        scale_errors = np.where(is_constant, 0.0, deviation_errors(squares, errors) + 4 * UNIT)
    moments = Moments(guess + left, squares, is_constant, float(n), n, n, scale)
    if plan.route == "scatter":
        error = float(errors.sum())
        if scale is not None:
            matrix = matrix / scale / scale[:, None]
            error = float((errors / scale**2).sum()) + 2 * n * norm(scale_errors) * np.sqrt(len(scale))
        found = _axes_of_matrix(problem, plan, moments, matrix, float(matrix.trace()), error)
        if not needs_more_digits(problem, found):
            return found
        Y -= left
    mean_errors = np.sqrt(n) * mean_errors
    if scale is not None:
        Y /= scale
        mean_errors /= scale
    centered = CenteredRows(Y, mean_errors, moments, float(scale_errors.max()))
    if plan.route == "rows":
        return centered.axes(problem, plan)
    if plan.route == "gram":
        found = _axes_of_gram(problem, plan, moments, *centered.gram(), centered.back)
        if not needs_more_digits(problem, found):
            return found
    return _with_more_digits(problem, found, centered.energy, lambda exact: centered.axes(problem, exact))


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
        """YYᵀ and a bound on its error. That of the mean counts twice at most: the sums of rows are its multiples."""
        matrix = self.rows @ self.rows.T
        total, off = float(matrix.trace()), norm(self.mean_errors)
        rounding = (gamma(self.rows.shape[1] + 16) + 2 * self.scale_error) * total
        return matrix, rounding + off * (2 * np.sqrt(total) + off)

    def back(self, U: NDArray) -> tuple[NDArray, NDArray]:
        """YᵀU and bounds on the errors of its columns."""
        return self.rows.T @ U, gamma(len(U) + 4) * column_norms(U) * float(np.sqrt(np.vdot(self.rows, self.rows)))

    def energy(self, axes: NDArray, all_kept: bool) -> tuple[NDArray, float]:
        """Sums of squares along the axes, and outside them unless they are all."""
        scores = self.rows @ axes.T
        along = np.einsum("ij,ij->j", scores, scores)
        if all_kept:
            return along, 0.0
        outside = self.rows - scores @ axes
        return along, float(np.vdot(outside, outside))


# ---------------------------------------------------------------------- any size


def solve_principal_axes(problem: LinearProblem, plan: Plan) -> PrincipalAxes:
    """Principal axes by the route of the plan; repeated in another unit if squares over- or underflow."""
    route = _ROUTES[plan.route]
    with (
        problem.data.persist() as data,
        working(problem.progress, plan.n_passes, "passes over the rows", problem.n_threads) as progress,
    ):
        problem = problem._replace(data=data)
        found = route(problem, plan, progress)
        if found is None:
            problem = rescaled(problem)
            found = route(problem, plan, progress)
    assert found is not None  # in these units all squares are in range
    return found.in_units(problem.units)


def _solve_scatter(problem: LinearProblem, plan: Plan, progress: Any) -> PrincipalAxes | None:
    """Eigenvectors of the d x d scatter matrix, summed up in one pass."""
    scatter = accumulate_rows(problem, ScatterMatrix, progress)
    if scatter is None:
        return None
    return _checked(problem, axes_of_scatter(problem, plan, scatter), scatter, progress)


def _solve_qr(problem: LinearProblem, plan: Plan, progress: Any) -> PrincipalAxes | None:
    """The SVD of a triangular factor of the centered rows, from one pass."""
    scatter = accumulate_rows(problem, ScatterQR, progress)
    return None if scatter is None else axes_of_qr(problem, plan, scatter)


def _solve_rows(problem: LinearProblem, plan: Plan, progress: Any) -> PrincipalAxes | None:
    """LAPACK's SVD of the centered rows in memory."""
    scatter = accumulate_rows(problem, ScatterDiagonal, progress)
    if scatter is None:
        return None
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


def _solve_gram(problem: LinearProblem, plan: Plan, progress: Any) -> PrincipalAxes | None:
    """Eigenvectors of the n x n products of all pairs of centered rows."""
    scatter = accumulate_rows(problem, ScatterDiagonal, progress)
    if scatter is None:
        return None
    moments = Moments.of(scatter, problem.standardize)
    of_rows = problem.data, problem.weights, scatter, moments.scale
    room = None if problem.budget is None else max(problem.budget.memory - plan.memory, 0)
    matrix, error = gram_matrix(*of_rows, problem.n_threads, progress, room)

    back = partial(axes_from_gram, *of_rows, n_threads=problem.n_threads, progress=progress)
    with blas_threads(problem.n_threads if len(matrix) >= _LAPACK_THREADS else 1):
        found = _axes_of_gram(problem, plan, moments, matrix, error, back)
    return _checked(problem, found, scatter, progress)


def _solve_products(problem: LinearProblem, plan: Plan, progress: Any) -> PrincipalAxes | None:
    """Block Lanczos: every step is one pass over the rows. A direct route takes over once it would cost no more."""
    scatter = accumulate_rows(problem, ScatterDiagonal, progress)
    if scatter is None:
        return None
    moments = Moments.of(scatter, problem.standardize)
    operator = ScatterOperator(problem.data, problem.weights, scatter, moments.scale, problem.n_threads, progress)
    pairs, direct = _pairs_of_products(problem, plan, operator, moments), _affordable_direct_plan(problem)
    if pairs is not None and (pairs.converged or direct is None):
        pairs, bound, evidence = exclude_missed(plan.solver, operator, pairs, problem.rng)
        known = partial(certify, tol=plan.tol, bound=bound, evidence=evidence, entry_error=operator.entry_error)
        certificate = known(pairs)
        if certificate.not_established == ("directions",) and problem.data.in_memory:
            pairs = remeasure(pairs, operator)
            certificate = known(pairs)
        worth_more = direct is not None and direct.flops <= 10 * pairs.n_passes * problem.sizes.pass_flops
        if certificate.n_complete == len(pairs.values) or not worth_more:
            found = principal_axes(problem, plan, moments, pairs.values, pairs.vectors, operator.trace, certificate)
            return _checked(problem, found, scatter, progress)
    assert direct is not None
    both = replace(direct, memory=max(direct.memory, plan.memory))
    return _ROUTES[direct.route](problem, both, progress)


def _affordable_direct_plan(problem: LinearProblem) -> Plan | None:
    """The plan that may take over from block Lanczos."""
    tried = "block Lanczos on products with the rows took too many passes, or may have missed components."
    plan = direct_plan(problem.sizes, tried)
    fits = problem.budget is None or plan.memory <= problem.budget.memory
    return plan if fits and problem.svd_solver != "krylov" else None


def _pairs_of_products(
    problem: LinearProblem, plan: Plan, operator: ScatterOperator, moments: Moments
) -> Eigenpairs | None:
    """The pairs to keep; None if a fraction of the variance takes so many that a direct route is faster."""
    if not problem.by_fraction:
        return plan.solver.solve(operator, problem.n_solved, problem.rng)

    def check(k: int) -> None:
        needed, limit = products_plan(problem.sizes._replace(n_components=k), "").memory, problem.budget
        if limit is not None and needed > limit.memory:
            raise MemoryLimitError(
                f"n_components={problem.n_components} takes more than {k // 2} components, which need more memory "
                "than the limit.",
                needed=needed,
                limit=limit.memory,
            )

    fraction, direct = float(problem.n_components or 0), _affordable_direct_plan(problem)
    pairs = solve_fraction(
        plan.solver, operator, fraction, problem.rng, check, None if direct is None else operator.n // 10
    )
    if direct is not None and not pairs.values.sum() > fraction * operator.trace:
        return None
    scree = _scree(problem, moments, pairs.values, operator.trace, 0.0, None)
    return pairs.first(choose_n_components(problem.n_components, scree, problem.dtype))


_ROUTES: dict[str, Callable[[LinearProblem, Plan, Any], PrincipalAxes | None]] = {
    "rows": _solve_rows,
    "scatter": _solve_scatter,
    "qr": _solve_qr,
    "gram": _solve_gram,
    "products": _solve_products,
}


def accumulate_rows(problem: LinearProblem, make: Any, progress: Any) -> Any:
    """The scatter of all rows, or None if their squares are out of range."""
    scatter = accumulate(problem.data, problem.weights, make, problem.n_threads, progress)
    if not scatter.is_finite:
        raise_nonfinite(problem.data)
    if problem.units is None and not scatter.in_range(each_column=problem.standardize):
        return None
    if not scatter.is_finite:
        raise DataError(OVERFLOW)
    return scatter


def rescaled(problem: LinearProblem) -> LinearProblem:
    """The problem with rows divided by powers of two near their largest distance from the first row."""
    low, high, first = problem.data.reduce(_column_ranges, combine=_wider)
    peaks = np.maximum(high - first, first - low)
    if not (peaks.any() and np.isfinite(peaks).all()):
        peaks = np.maximum(np.abs(low), np.abs(high))
    heaviest = 1.0 if problem.weights is None else float(np.sqrt(problem.weights.max()))
    units = power_of_two((peaks if problem.standardize else np.full_like(peaks, peaks.max())) * heaviest)
    return problem._replace(data=scaled(problem.data, units, np.float64), units=units)


def _column_ranges(data: Dataset, weights: Any, progress: Any = None) -> tuple:
    """Smallest and largest value of each column, and the first row (zero for sparse rows)."""
    low, high, first = np.full(data.shape[1], np.inf), np.full(data.shape[1], -np.inf), None
    for block in data.blocks(block_rows(data.shape[1])):
        dense = (block.toarray() if sparse.issparse(block) else block).astype(np.float64, copy=False)
        first = (0 * dense[0] if data.is_sparse else dense[0]) if first is None else first
        low, high = np.minimum(low, dense.min(axis=0)), np.maximum(high, dense.max(axis=0))
    return low, high, first


def _wider(left: tuple, right: tuple) -> tuple:
    return np.minimum(left[0], right[0]), np.maximum(left[1], right[1]), left[2]


# ---------------------------------------------------------------------- from matrices to axes


def axes_of_scatter(problem: LinearProblem, plan: Plan, scatter: ScatterMatrix) -> PrincipalAxes:
    """Certified eigenpairs of S, its columns divided by their standard deviations if requested."""
    moments = Moments.of(scatter, problem.standardize)
    scale = moments.scale
    matrix, total, error = scatter.matrix(scale), scatter.total(scale), scatter.eigenvalue_error(scale)
    with blas_threads(problem.n_threads if len(matrix) >= _LAPACK_THREADS else 1):
        return _axes_of_matrix(problem, plan, moments, matrix, total, error)


def axes_of_qr(problem: LinearProblem, plan: Plan, scatter: ScatterQR) -> PrincipalAxes:
    """Certified singular pairs of a triangular factor of the rows."""
    moments = Moments.of(scatter, problem.standardize)
    factor, errors = scatter.factor, scatter.column_error
    if moments.scale is not None:
        factor = factor / moments.scale
        errors = errors / moments.scale + scatter.scale_error(moments.scale) * np.sqrt(moments.feature_squares)
    with blas_threads(problem.n_threads if len(factor) >= _LAPACK_THREADS else 1):
        return _axes_of_factor(problem, plan, moments, factor, norm(errors))


def _axes_of_matrix(
    problem: LinearProblem, plan: Plan, moments: Moments, matrix: NDArray, total: float, error: float
) -> PrincipalAxes:
    """Certified eigenpairs of a scatter matrix whose eigenvalues are known to `error`."""
    pairs = _chosen(problem, moments, leading_eigenpairs(matrix, problem.n_solved), total, error, with_axes=True)
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
    pairs = _chosen(problem, moments, leading_eigenpairs(matrix, problem.n_solved), total, error)
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
    if problem.by_rule or problem.by_fraction:
        axes = np.sqrt(2) * pairs.vectors[len(factor) :].T
        floor = error + rounding_floor(sum(factor.shape), pairs.norm)
        scree = _scree(problem, moments, pairs.values**2, total, floor**2, axes)
        pairs = pairs.first(choose_n_components(problem.n_components, scree, problem.dtype))
    certificate = _certify(pairs, plan, error, angle_factor=np.sqrt(2), singular=True)
    axes, dropped = np.sqrt(2) * pairs.vectors[len(factor) :], float(np.sum(pairs.next_values**2))
    return principal_axes(problem, plan, moments, pairs.values**2, axes, total, certificate, dropped)


def _chosen(
    problem: LinearProblem, moments: Moments, pairs: Eigenpairs, total: float, error: float, with_axes: bool = False
) -> Eigenpairs:
    """The pairs to keep; a fraction or a rule needs all eigenvalues."""
    if not (problem.by_rule or problem.by_fraction):
        return pairs
    floor = error + rounding_floor(len(pairs.vectors), pairs.norm)
    scree = _scree(problem, moments, pairs.values, total, floor, pairs.vectors.T if with_axes else None)
    return pairs.first(choose_n_components(problem.n_components, scree, problem.dtype))


def _scree(
    problem: LinearProblem, moments: Moments, values: NDArray, total: float, error: float, axes: NDArray | None
) -> Scree:
    return Scree(
        values=np.maximum(values[: problem.n_possible], 0.0),
        total=total,
        total_weight=moments.total_weight,
        n_features=len(moments.mean),
        feature_squares=moments.feature_squares,
        axes=axes,
        error=error,
    )


def _certify(pairs: Eigenpairs, plan: Plan, error: float, **options: Any) -> ResidualCertificate:
    """The certificate where LAPACK computed everything: the next eigenvalue bounds all others."""
    bound = float(pairs.next_values.max(initial=0.0)) + rounding_floor(len(pairs.vectors), pairs.norm)
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
        feature_squares=moments.feature_squares,
        certificate=certificate,
        plan=plan,
        warnings=(*_column_warnings(problem, moments), *_none_kept(problem, values), *direction_warnings(certificate)),
    )


# ---------------------------------------------------------------------- digits


def needs_more_digits(problem: LinearProblem, found: PrincipalAxes) -> bool:
    """Whether squares hide a kept variance, the sum of the others, or a variance that a rule should see."""
    values = found.eigenvalues
    smallest = float(values.min(initial=np.inf))
    if len(values) < found.n_possible:
        smallest = min(smallest, found.dropped)
    if smallest * _DIGITS < found.certificate.rounding:
        n_unsure = int(np.sum(values * _DIGITS < found.certificate.rounding))
        if len(values) < found.n_possible or n_unsure > int(found.moments.is_constant.sum()):
            return True  # there are more than those of constant columns
    return problem.by_rule and found.certificate.bound_beyond < 4 * found.certificate.rounding < found.dropped


def _checked(problem: LinearProblem, found: PrincipalAxes, scatter: Scatter, progress: Any) -> PrincipalAxes:
    """The axes, or those of a route without squares if squares hide a variance and memory allows it."""
    if not needs_more_digits(problem, found):
        return found
    data, weights, scale = problem.data, problem.weights, found.moments.scale
    if data.is_sparse:
        return found.warned(digit_warnings(found))

    def energy(axes: NDArray, all_kept: bool) -> tuple[NDArray, float]:
        return energy_along(scatter, data, weights, axes, scale, problem.n_threads, progress)

    def exactly(plan: Plan) -> PrincipalAxes:
        if problem.budget is not None and plan.memory > problem.budget.memory:
            return found.warned(digit_warnings(found))
        exact = _ROUTES[plan.route](problem, plan, progress)
        assert exact is not None  # squares were in range before
        return exact

    return _with_more_digits(problem, found, energy, exactly)


def _with_more_digits(
    problem: LinearProblem,
    found: PrincipalAxes,
    energy: Callable[[NDArray, bool], tuple[NDArray, float]],
    exactly: Callable[[Plan], PrincipalAxes],
) -> PrincipalAxes:
    """The same axes if the variances without digits are zero, else those of a route without squares."""
    unsure = np.flatnonzero(found.eigenvalues * _DIGITS < found.certificate.rounding)
    all_kept = len(found.axes) >= found.n_possible
    along, outside = energy(found.axes[unsure] if all_kept else found.axes, all_kept)
    hidden = np.any((along if all_kept else along[unsure]) > _ZERO * found.total)
    if hidden or (problem.by_rule and not all_kept and outside > _ZERO * found.total):
        return exactly((rows_plan if problem.budget is None else exact_plan)(problem.sizes, _FEW_DIGITS))
    return found if all_kept else found._replace(dropped=outside)


# ---------------------------------------------------------------------- warnings


def digit_warnings(found: PrincipalAxes) -> list[MercerWarning]:
    """A warning if a variance that is there has few digits."""
    rounding, values = found.certificate.rounding, np.append(found.eigenvalues, found.dropped)
    there = values[values > rounding]
    if found.total * _DIGITS > rounding and not np.any(there * _DIGITS < rounding):
        return []
    digits = max(0, int(-np.log10(rounding / there.min()))) if len(there) else 0
    return [MercerWarning(f"Squares of the data leave the smallest variance only {digits} correct digits.")]


def _none_kept(problem: LinearProblem, values: NDArray) -> list[MercerWarning]:
    if len(values) or not problem.by_rule:
        return []
    text = f"No component exceeds noise by n_components={problem.n_components!r}, so none is kept."
    return [MercerWarning(text, "meaningless")]


def _column_warnings(problem: LinearProblem, moments: Moments) -> list[MercerWarning]:
    constant = moments.is_constant
    if not constant.any():
        return []
    if constant.all():
        return [
            MercerWarning("The rows are equal but for rounding, so all variances and scores are zero.", "meaningless")
        ]
    if not problem.standardize:
        return []
    names = problem.feature_names
    columns = listed(str(j) if names is None else repr(names[j]) for j in np.flatnonzero(constant))
    return [
        MercerWarning(f"{int(constant.sum())} of {len(constant)} columns are constant and were not scaled: {columns}.")
    ]
