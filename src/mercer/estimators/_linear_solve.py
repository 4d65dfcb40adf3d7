"""Principal axes of rows, by the route of a plan, with a certificate."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mercer.analysis.selection import Scree, choose_n_components
from mercer.budget import Budget
from mercer.certificates.residual import ResidualCertificate, certify, direction_warnings
from mercer.data.dataset import Dataset, scaled
from mercer.data.validation import count_repeated, raise_nonfinite
from mercer.errors import DataError, MercerWarning
from mercer.linalg.dense import leading_eigenpairs, leading_singular_pairs
from mercer.linalg.eigen import Eigenpairs, column_signs, rounding_floor
from mercer.linalg.operators import MatrixOperator
from mercer.linalg.scatter import (
    Scatter,
    ScatterDiagonal,
    ScatterMatrix,
    accumulate,
    energy_along,
)
from mercer.numerics.blocking import block_rows
from mercer.numerics.products import short_product
from mercer.numerics.rounding import UNIT, chain, gamma, power_of_two
from mercer.numerics.threads import blas_threads, working
from mercer.planning.plan import Plan
from mercer.planning.plan_linear import SMALL_ENTRIES, SMALL_ROWS, LinearSizes, plan_small, rows_plan
from mercer.text import listed

OVERFLOW = "The squares of the data overflow: the values are too large. Scale them down first."
_COUNTED = "all eigenvalues were computed or counted"
_FEW_DIGITS = "squares of the data leave a variance too few digits."
_DIGITS = 1e-6  # relative error of a variance from which another route is taken
_RANGE = 1e-150, 1e150  # sums of squares whose digits are complete
_ZERO = (32 * np.finfo(float).eps) ** 2  # of the total: energies up to this are zero
_LAPACK_THREADS = 400  # side of a matrix from which LAPACK uses all threads


@dataclass(frozen=True)
class LinearProblem:
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
    def by_spectrum(self) -> bool:
        """Whether the number of components follows from all eigenvalues."""
        return isinstance(self.n_components, str) or (
            self.n_components is not None and not isinstance(self.n_components, Integral)
        )

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
    def sizes(self) -> LinearSizes:
        data = self.data
        return LinearSizes(
            n_samples=len(data),
            n_features=data.shape[1],
            n_components=None if self.by_spectrum else self.n_solved,
            n_possible=self.n_possible,
            is_sparse=data.is_sparse,
            in_memory=data.in_memory,
            itemsize=data.dtype.itemsize,
            reading_bytes=data.reading_bytes,
            svd_solver=self.svd_solver,
            tol=self.tol,
        )


@dataclass(frozen=True)
class Moments:
    """Mean and sums of squares of the columns, in the units of the problem."""

    mean: NDArray
    squares: NDArray
    is_constant: NDArray
    total_weight: float
    n_samples: int
    n_repeated: int

    @classmethod
    def of(cls, scatter: Scatter) -> "Moments":
        return cls(
            scatter.mean,
            scatter.squares,
            scatter.is_constant,
            scatter.total_weight,
            scatter.n_samples,
            scatter.n_repeated,
        )


@dataclass(frozen=True)
class PrincipalAxes:
    """What a fit stores.

    Axes (k, d), eigenvalues (k,) of the scatter matrix and their sums, all divided by unit².
    """

    axes: NDArray
    eigenvalues: NDArray
    total: float
    dropped: float
    n_possible: int
    mean: NDArray
    scale: NDArray | None
    total_weight: float
    n_samples: int
    feature_squares: NDArray
    certificate: ResidualCertificate
    plan: Plan
    unit: float = 1.0
    warnings: tuple[MercerWarning, ...] = ()

    def in_units(self, units: NDArray | None) -> "PrincipalAxes":
        """The same for rows that were divided by powers of two.

        One for all columns, or one each if standardized.
        """
        if units is None:
            return self
        mean = self.mean * units
        if self.scale is not None:
            return replace(self, mean=mean, scale=self.scale * units)
        unit = float(units[0])
        with np.errstate(over="ignore"):
            if not np.isfinite(self.total * unit * unit):
                raise DataError(OVERFLOW)
        return replace(self, mean=mean, unit=unit)


def is_small(data: Dataset) -> bool:
    """Whether the data are a dense array for which any planning would cost more than the fit."""
    n, d = data.shape
    return data.in_memory and not data.is_sparse and n <= SMALL_ROWS and n * d <= SMALL_ENTRIES


# ---------------------------------------------------------------------- small arrays


def solve_small(X: NDArray, problem: LinearProblem) -> PrincipalAxes:
    """Principal axes of a small dense array: one product or LAPACK's SVD, no plan search, no threads."""
    plan = plan_small(problem.sizes)
    with np.errstate(over="ignore", invalid="ignore"):
        found = _solve_small(X, problem, plan)
        if found is None:
            problem = replace(problem, units=_units_of(X, problem))
            found = _solve_small(X / problem.units, problem, plan)
    assert found is not None  # in these units all squares are in range
    return found.in_units(problem.units)


def _solve_small(X: NDArray, problem: LinearProblem, plan: Plan) -> PrincipalAxes | None:
    """The route of the plan.

    The rows themselves if squares hide a variance; None if squares are out of range.
    """
    n, ones = len(X), np.ones(len(X), dtype=X.dtype)
    guess = (ones @ X / n).astype(np.float64, copy=False)
    Y = X - guess
    left = ones @ Y / n  # what the guess is off by: rounding
    if plan.route == "scatter":
        matrix = short_product(Y)
        matrix -= n * np.multiply.outer(left, left)
        squares = matrix.diagonal().copy()
    else:
        Y -= left
        squares = np.einsum("ij,ij->j", Y, Y)
    checked = squares if problem.standardize else squares.sum()
    if problem.units is None and not (checked.min() >= _RANGE[0] and checked.max() <= _RANGE[1]):
        return None
    mean_errors = gamma(n + 4) * np.sqrt(np.maximum(squares, 0.0) / n + left * left)
    is_constant = squares <= n * mean_errors**2 + gamma(chain(n) + 8) * n * left * left
    moments = Moments(guess + left, squares, is_constant, float(n), n, n)
    scale = np.where(is_constant, 1.0, np.sqrt(squares / max(n - 1, 1))) if problem.standardize else None
    if plan.route == "scatter":
        if scale is not None:
            matrix = matrix / scale / scale[:, None]
        total = float(matrix.trace())
        error = gamma(chain(n) + 16) * (total + n * float(left @ left)) + n * float(mean_errors @ mean_errors)
        found = _axes_of_matrix(problem, plan, moments, scale, matrix, total, error)
        if not digits_lost(found, _DIGITS):
            return found
        Y -= left
    if scale is not None:
        Y /= scale
    centered = CenteredRows(Y, np.sqrt(n) * mean_errors / (1.0 if scale is None else scale), moments, scale)
    if plan.route == "scatter":
        return _without_squares_if_needed(problem, plan, centered, found)
    return _SMALL_ROUTES[plan.route](problem, plan, centered)


def _units_of(X: NDArray, problem: LinearProblem) -> NDArray:
    """Powers of two near the largest distance from the first row; one for all columns unless standardized."""
    if not np.isfinite(X).all():
        raise_nonfinite(problem.data)
    peaks = np.abs(X / 2 - X[0] / 2).max(axis=0) * 2
    if not np.isfinite(peaks).all():
        peaks = np.abs(X).max(axis=0)
    return power_of_two(peaks.astype(np.float64) if problem.standardize else np.full(X.shape[1], float(peaks.max())))


@dataclass(frozen=True)
class CenteredRows:
    """Centered (and scaled, weighted) rows in memory.

    `mean_errors` bounds ‖δy‖ of each column by the error of the mean.
    """

    rows: NDArray
    mean_errors: NDArray
    moments: Moments
    scale: NDArray | None
    scale_error: float = 8 * UNIT

    def error(self, total: float) -> float:
        """Bound on ‖δY‖_F: the mean, and three roundings of each entry."""
        return float(np.sqrt(self.mean_errors @ self.mean_errors)) + (gamma(3) + self._scaling) * np.sqrt(total)

    def product_error(self, n_terms: int, total: float) -> float:
        """Bound on ‖δ(YYᵀ)‖.

        The error of the mean counts twice at most, as the sums of the rows are its multiples.
        """
        mean_error = float(np.sqrt(self.mean_errors @ self.mean_errors))
        return (gamma(n_terms + 16) + 2 * self._scaling) * total + mean_error * (2 * np.sqrt(total) + mean_error)

    @property
    def _scaling(self) -> float:
        return 0.0 if self.scale is None else self.scale_error


def _from_rows(problem: LinearProblem, plan: Plan, centered: CenteredRows) -> PrincipalAxes:
    """LAPACK's SVD: nothing is squared, so small variances keep their digits."""
    Y = centered.rows
    if len(Y) < problem.n_possible:  # rows that stand for several: further components have no variance
        Y = np.concatenate([Y, np.zeros((problem.n_possible - len(Y), Y.shape[1]))])
    pairs = leading_singular_pairs(Y, problem.n_solved)
    total = float(np.sum(pairs.values**2) + np.sum(pairs.next_values**2))
    error = centered.error(total)
    if problem.by_spectrum:
        scree = _scree(problem, centered.moments, pairs.values**2, total, error**2)
        pairs = pairs.first(choose_n_components(problem.n_components, scree, problem.data.dtype))
    certificate = _certify(pairs, plan, error, tol=plan.tol / 2).squared().with_angles(np.sqrt(2))
    axes, dropped = np.sqrt(2) * pairs.vectors[len(Y) :], float(np.sum(pairs.next_values**2))
    moments, scale = centered.moments, centered.scale
    return principal_axes(problem, plan, moments, scale, pairs.values**2, axes, total, certificate, dropped)


def _from_gram(problem: LinearProblem, plan: Plan, centered: CenteredRows) -> PrincipalAxes:
    """Eigenvectors u of YYᵀ give the axes Yᵀu/√λ: for fewer rows than columns."""
    Y = centered.rows
    matrix = Y @ Y.T
    total = float(matrix.trace())
    error = centered.product_error(Y.shape[1], total)
    pairs = leading_eigenpairs(matrix, min(problem.n_solved, len(Y)))
    pairs = _chosen(problem, centered.moments, pairs, total, error)
    certificate = _certify(pairs, plan, error).with_angles(np.sqrt(2))
    axes = Y.T @ (pairs.vectors / np.sqrt(np.maximum(pairs.values, np.finfo(float).tiny)))
    axes = _orthonormal(axes, certificate.lower > 0)
    found = principal_axes(problem, plan, centered.moments, centered.scale, pairs.values, axes, total, certificate)
    return _without_squares_if_needed(problem, plan, centered, found) if digits_lost(found, _DIGITS) else found


_SMALL_ROUTES = {"rows": _from_rows, "gram": _from_gram}


def _without_squares_if_needed(
    problem: LinearProblem, plan: Plan, centered: CenteredRows, found: PrincipalAxes
) -> PrincipalAxes:
    """The same axes if the variances without digits are zero, else those of LAPACK's SVD."""
    unsure = _unsure(found)
    scores = centered.rows @ found.axes[unsure].T
    if np.any(np.einsum("ij,ij->j", scores, scores) > _ZERO * found.total):
        return _from_rows(problem, replace(plan, route="rows", reason=_FEW_DIGITS), centered)
    if len(found.axes) >= found.n_possible:
        return found
    outside = centered.rows - (centered.rows @ found.axes.T) @ found.axes
    return replace(found, dropped=float(np.vdot(outside, outside)))


# ---------------------------------------------------------------------- any size


def solve_principal_axes(problem: LinearProblem, plan: Plan) -> PrincipalAxes:
    """Principal axes by the route of the plan; repeated in another unit if squares over- or underflow."""
    route = _ROUTES[plan.route]
    with working(problem.progress, plan.n_passes, "passes over the rows", _threads(problem)) as progress:
        found = route(problem, plan, progress)
        if found is None:
            problem = _rescaled(problem)
            found = route(problem, plan, progress)
    assert found is not None  # in these units all squares are in range
    return found.in_units(problem.units)


def _threads(problem: LinearProblem) -> int:
    return 1 if problem.budget is None else problem.budget.threads


def _solve_scatter(problem: LinearProblem, plan: Plan, progress: Any) -> PrincipalAxes | None:
    """Eigenvectors of the d x d scatter matrix, summed up in one pass."""
    scatter = _accumulate(problem, ScatterMatrix, progress)
    if scatter is None:
        return None
    found = axes_of_scatter(problem, plan, scatter)
    if not digits_lost(found, _DIGITS):
        return found
    if problem.data.is_sparse:
        return replace(found, warnings=(*found.warnings, *_digit_warnings(found)))
    along, outside = energy_along(
        scatter, problem.data, problem.weights, found.axes, found.scale, _threads(problem), progress
    )
    found = replace(found, dropped=outside if len(found.axes) < found.n_possible else 0.0)
    if not np.any(along[_unsure(found)] > _ZERO * found.total):
        return found
    exact = rows_plan(problem.sizes, _FEW_DIGITS)
    if problem.budget is None or exact.memory > problem.budget.memory:
        return replace(found, warnings=(*found.warnings, *_digit_warnings(found)))
    return _solve_rows(problem, exact, progress)


def _accumulate(problem: LinearProblem, make: Any, progress: Any) -> Any:
    """The scatter of all rows, or None if their squares are out of range."""
    scatter = accumulate(problem.data, problem.weights, make, _threads(problem), progress)
    if not scatter.is_finite:
        raise_nonfinite(problem.data)
    if problem.units is None and not scatter.in_range(each_column=problem.standardize):
        return None
    if not scatter.is_finite:
        raise DataError(OVERFLOW)
    return scatter


def axes_of_scatter(problem: LinearProblem, plan: Plan, scatter: ScatterMatrix) -> PrincipalAxes:
    """Certified eigenpairs of S, its columns divided by their standard deviations if requested."""
    scale = scatter.standard_deviations if problem.standardize else None
    matrix, total, error = scatter.matrix(scale), scatter.total(scale), scatter.eigenvalue_error(scale)
    with blas_threads(_threads(problem) if len(matrix) >= _LAPACK_THREADS else 1):
        return _axes_of_matrix(problem, plan, Moments.of(scatter), scale, matrix, total, error)


def _solve_rows(problem: LinearProblem, plan: Plan, progress: Any) -> PrincipalAxes | None:
    """LAPACK's SVD of the centered rows in memory."""
    centered = _center(problem, progress)
    if centered is None:
        return None
    with blas_threads(_threads(problem)):
        return _from_rows(problem, plan, centered)


def _solve_gram(problem: LinearProblem, plan: Plan, progress: Any) -> PrincipalAxes | None:
    """Eigenvectors of the n x n products of all pairs of centered rows."""
    centered = _center(problem, progress)
    if centered is None:
        return None
    with blas_threads(_threads(problem)):
        return _from_gram(problem, plan, centered)


_ROUTES = {"rows": _solve_rows, "scatter": _solve_scatter, "gram": _solve_gram}


def _center(problem: LinearProblem, progress: Any) -> CenteredRows | None:
    """All rows centered in memory, times the roots of their weights; None if squares are out of range."""
    scatter = _accumulate(problem, ScatterDiagonal, progress)
    if scatter is None:
        return None
    rows = problem.data.load()
    Y = scatter.centered(rows.toarray() if sparse.issparse(rows) else rows)
    if problem.weights is not None:
        Y *= np.sqrt(problem.weights)[:, None]
    scale, mean_errors = None, np.sqrt(scatter.total_weight) * scatter.mean_error
    if problem.standardize:
        scale = scatter.standard_deviations
        Y /= scale
        mean_errors = mean_errors / scale
    return CenteredRows(Y, mean_errors, Moments.of(scatter), scale, float(scatter.scale_error(scale).max()))


def _rescaled(problem: LinearProblem) -> LinearProblem:
    """The problem with rows divided by powers of two near their largest distance from the first row."""
    low, high, first = problem.data.reduce(_column_ranges, combine=_wider)
    peaks = np.maximum(high - first, first - low)
    if not (peaks.any() and np.isfinite(peaks).all()):
        peaks = np.maximum(np.abs(low), np.abs(high))
    heaviest = 1.0 if problem.weights is None else float(np.sqrt(problem.weights.max()))
    units = power_of_two((peaks if problem.standardize else np.full_like(peaks, peaks.max())) * heaviest)
    return replace(problem, data=scaled(problem.data, units), units=units)


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


# ---------------------------------------------------------------------- from eigenpairs to axes


def _axes_of_matrix(
    problem: LinearProblem,
    plan: Plan,
    moments: Moments,
    scale: NDArray | None,
    matrix: NDArray,
    total: float,
    error: float,
) -> PrincipalAxes:
    """Certified eigenpairs of a scatter matrix whose eigenvalues are known to `error`."""
    pairs = plan.solver.solve(MatrixOperator(matrix), problem.n_solved, problem.rng)
    pairs = _chosen(problem, moments, pairs, total, error)
    certificate = _certify(pairs, plan, error)
    return principal_axes(problem, plan, moments, scale, pairs.values, pairs.vectors, total, certificate)


def _chosen(problem: LinearProblem, moments: Moments, pairs: Eigenpairs, total: float, error: float) -> Eigenpairs:
    """The pairs to keep; a fraction or a rule needs all eigenvalues."""
    if not problem.by_spectrum:
        return pairs
    scree = _scree(problem, moments, pairs.values, total, error)
    return pairs.first(choose_n_components(problem.n_components, scree, problem.data.dtype))


def _scree(problem: LinearProblem, moments: Moments, values: NDArray, total: float, error: float) -> Scree:
    return Scree(
        values=np.maximum(values[: problem.n_possible], 0.0),
        total=total,
        total_weight=moments.total_weight,
        n_features=len(moments.mean),
        feature_squares=np.where(moments.is_constant, 0.0, moments.squares),
        error=error,
    )


def _certify(pairs: Eigenpairs, plan: Plan, error: float, tol: float | None = None) -> ResidualCertificate:
    """The certificate where LAPACK computed everything: the next eigenvalue bounds all others."""
    bound = float(pairs.next_values.max(initial=0.0)) + rounding_floor(len(pairs.vectors), pairs.norm)
    return certify(pairs, tol=plan.tol if tol is None else tol, bound=bound, evidence=_COUNTED, entry_error=error)


def _orthonormal(axes: NDArray, kept: NDArray) -> NDArray:
    """Orthonormal columns in the same directions, by one Newton step where that is enough.

    Zeros where not kept.
    """
    axes[:, ~kept] = 0.0
    inner = axes.T @ axes
    inner[~kept, ~kept] = 1.0
    deviation = float(np.abs(inner - np.eye(len(inner))).max(initial=0.0))
    if deviation < 1e-7:
        return axes if deviation < 8 * UNIT else axes @ (1.5 * np.eye(len(inner)) - 0.5 * inner)
    axes[:, kept], R = np.linalg.qr(axes[:, kept])
    axes[:, kept] *= np.where(np.diag(R) < 0, -1.0, 1.0)
    return axes


def principal_axes(
    problem: LinearProblem,
    plan: Plan,
    moments: Moments,
    scale: NDArray | None,
    values: NDArray,
    vectors: NDArray,
    total: float,
    certificate: ResidualCertificate,
    dropped: float | None = None,
) -> PrincipalAxes:
    """Signs and zeros by convention, and warnings.

    `dropped` is the sum of the other eigenvalues if it is known.
    """
    zero = certificate.lower <= 0
    values = np.where(zero, 0.0, values)
    n_possible = min(moments.n_repeated, len(moments.mean))
    if dropped is None:
        dropped = max(total - float(values.sum()), 0.0)
    squares = np.where(moments.is_constant, 0.0, moments.squares)
    return PrincipalAxes(
        axes=np.ascontiguousarray((vectors * column_signs(vectors)).T),
        eigenvalues=values,
        total=total,
        dropped=dropped if len(values) < n_possible else 0.0,
        n_possible=n_possible,
        mean=moments.mean,
        scale=scale,
        total_weight=moments.total_weight,
        n_samples=moments.n_samples,
        feature_squares=squares if scale is None else squares / scale**2,
        certificate=certificate.with_zeros(zero),
        plan=plan,
        warnings=(*_column_warnings(problem, moments), *direction_warnings(certificate, values)),
    )


def digits_lost(found: PrincipalAxes, tolerance: float) -> bool:
    """Whether a kept variance, or the sum of the others, has a relative error above the tolerance."""
    values = found.eigenvalues
    smallest = float(values.min(initial=np.inf))
    if len(values) < found.n_possible:
        smallest = min(smallest, found.dropped)
    return smallest * tolerance < found.certificate.rounding


def _unsure(found: PrincipalAxes) -> NDArray:
    """Components whose variance has fewer digits than it should: zero, or hidden by squares."""
    return np.flatnonzero(found.eigenvalues * _DIGITS < found.certificate.rounding)


def _digit_warnings(found: PrincipalAxes) -> list[MercerWarning]:
    """A warning if a variance that is there has few digits."""
    rounding, values = found.certificate.rounding, np.append(found.eigenvalues, found.dropped)
    there = values[values > rounding]
    if found.total * _DIGITS > rounding and not np.any(there * _DIGITS < rounding):
        return []
    digits = max(0, int(-np.log10(rounding / there.min()))) if len(there) else 0
    return [MercerWarning(f"Squares of the data leave the smallest variance only {digits} correct digits.")]


def _column_warnings(problem: LinearProblem, moments: Moments) -> list[MercerWarning]:
    constant = moments.is_constant
    if not constant.any():
        return []
    if constant.all():
        return [MercerWarning("All rows are equal, so all variances and scores are zero.", "meaningless")]
    if not problem.standardize:
        return []
    names = problem.feature_names
    columns = listed(str(j) if names is None else repr(names[j]) for j in np.flatnonzero(constant))
    return [
        MercerWarning(f"{int(constant.sum())} of {len(constant)} columns are constant and were not scaled: {columns}.")
    ]
