"""Principal axes by every way there is: from what a fit is asked for to what it finds."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mercer.errors import BadData, NoRoom
from mercer.limits import LANE_ROWS, Limits
from mercer.models.spectrum import TooMany, about_directions, grow_to_share, rule_out_missed
from mercer.operators.held import Dilation, HeldMatrix
from mercer.operators.products import ScatterProducts
from mercer.operators.scatter import Scatter, Spread, Square, Triangle, squares_along, sweep
from mercer.operators.tiles import cut
from mercer.progress import reporting
from mercer.readings.components import bic, components_for_share, minka_evidence
from mercer.solvers.base import Eigenpairs, rounding_floor, signs_by
from mercer.solvers.certificate import Certificate, certify
from mercer.solvers.dense import Dense
from mercer.solvers.krylov import BlockKrylov
from mercer.solvers.linear_plan import (
    MANY,
    PRODUCTS_FROM,
    LinearProblem,
    choose_linear_plan,
    rows_plan,
    triangle_plan,
)
from mercer.solvers.plan import Plan
from mercer.solvers.svd import Svd
from mercer.sources.rows import RowSource
from mercer.symmetric import Array
from mercer.threads import one_blas_thread

DIGITS, SINGLE_DIGITS = 1e-6, 1e-2  # error of a variance, relative to itself, from which another way is taken
TOO_FEW = "squares of the data leave the smallest variance too few digits."
FEW = 300  # rows or columns up to which threads of LAPACK only wait for each other
COUNTED = "LAPACK counts them"
COLUMNS = 2_000_000  # entries of centred columns at a time
OVERFLOW = "The squares of the data are no numbers any more: the values are far too large. Scale them down first."


@dataclass(frozen=True)
class LinearTask:
    """Rows and sizes of one fit, with those parameters of the model that steer it."""

    rows: RowSource
    weights: Array | None
    problem: LinearProblem
    limits: Limits
    rng: Callable[[], np.random.Generator]
    asked: Any  # components: a number, a share of the variance, "mle", "bic", or None for all
    standardize: bool = False
    names: Any = None  # of the columns
    progress: Any = False
    look: Callable[[], Any] = lambda: None  # for numbers that are not finite, with words for them


@dataclass(frozen=True)
class Axes:
    """All that a model keeps."""

    plan: Plan
    certificate: Certificate
    count: int  # rows
    weight: float
    mean: Array
    squares: Array  # sums of squares of the columns around it
    scale: Array | None  # that columns were divided by
    values: Array  # eigenvalues of the scatter matrix
    axes: Array  # k×d, orthonormal rows
    total: float  # of all eigenvalues
    rest: float  # of those that were not kept
    all: int  # how many there can be
    warnings: list[str] = field(default_factory=list)


def find_axes(task: LinearTask, plan: Plan) -> Axes:
    """The way the plan names; if too few digits are left at its end, or too many components are needed, another."""
    quiet = np.errstate(over="ignore", invalid="ignore", divide="ignore")  # what overflows is told in words
    alone = task.problem.all <= FEW or task.limits.threads == 1
    threads = one_blas_thread() if alone else nullcontext()  # LAPACK shares its work out itself, where that pays
    with quiet, threads, reporting(task.progress, plan.passes, "sweeps over the rows") as on_pass:
        return _WAYS[plan.held](task, plan, on_pass)


# ---------------------------------------------------------------------- by the scatter matrix


def by_scatter(task: LinearTask, plan: Plan, on_pass: Any) -> Axes:
    """S summed up in one sweep."""
    return with_enough_digits(task, plan, summed(task, Square, on_pass), on_pass)[0]


def with_enough_digits(task: LinearTask, plan: Plan, scatter: Square, on_pass: Any) -> tuple[Axes, Square]:
    """The axes of S; anew in double precision, then without squares, where too many digits were lost."""
    found = from_square(task, plan, scatter)
    if scatter.rounding > np.finfo(float).eps:
        if not lost(found, SINGLE_DIGITS):
            return found, scatter
        scatter = summed(task, Square, on_pass, exact=True)
        found = from_square(task, plan, scatter)
    return without_squares_if_need_be(task, found, scatter, on_pass), scatter


def from_square(task: LinearTask, plan: Plan, scatter: Square) -> Axes:
    """The eigenproblem of S, which is left as it is."""
    scale = column_scales(task, scatter)
    matrix = scatter.matrix
    if scale is not None:
        matrix = matrix / scale
        matrix /= scale[:, None]
    total = float(np.sum(scatter.squares if scale is None else scatter.squares / scale**2))
    noise = rounding_in(scatter, scale, total)
    return from_matrix(task, plan, scatter, scale, matrix, total, noise)


def from_matrix(
    task: LinearTask, plan: Plan, scatter: Scatter, scale: Array | None, matrix: Array, total: float, noise: float
) -> Axes:
    """The leading eigenvectors of S, or of a Gram matrix: by LAPACK, or by products if there are few of many."""
    k = number_of_axes(task, lambda: np.linalg.eigvalsh(matrix)[::-1], total, scatter.weight)
    op: Any = HeldMatrix(matrix, task.limits.threads)
    if few_of_many(k, op.n):
        with one_blas_thread():
            solver = BlockKrylov(tol=plan.tol, threads=task.limits.threads)
            pairs, bound, level = rule_out_missed(
                replace(plan, solver=solver), op, solver.solve(op, k, task.rng()), task.rng()
            )
            bound += noise
    else:
        pairs = Dense(psd=True).solve(op, min(k, op.n), task.rng())
        bound, level = beyond(pairs, noise), COUNTED
    certificate = certify(pairs, tol=plan.tol, bound=bound, level=level, entries=noise)
    return kept(task, plan, scatter, scale, pairs.values, pairs.vectors, total, certificate)


def few_of_many(k: int, n: int) -> bool:
    return n > PRODUCTS_FROM and MANY * k < n


def rounding_in(scatter: Scatter, scale: Array | None, total: float) -> float:
    """How far rounding can move the eigenvalues of a scatter matrix: that of the sums, and of what was cancelled.

    Sums in single precision are over so many rows that their errors, if not of random sign, add up.
    """
    cancelled = scatter.cancelled if scale is None else scatter.cancelled / scale**2
    terms = 8 if scatter.rounding <= np.finfo(float).eps else np.sqrt(LANE_ROWS[1])
    return float(terms * scatter.rounding * (total + float(cancelled.sum())))


# ---------------------------------------------------------------------- without squares


def by_triangle(task: LinearTask, plan: Plan, on_pass: Any) -> Axes:
    """R of a QR factorisation, block after block, and its singular values."""
    scatter = summed(task, Triangle, on_pass, exact=True)
    return from_factor(task, plan, scatter, scatter.R)


def by_rows(task: LinearTask, plan: Plan, on_pass: Any) -> Axes:
    """The centred rows in memory, and their singular values."""
    spread = summed(task, Spread, on_pass, exact=True)
    centred = spread.centred(task.rows.load())
    if task.weights is not None:
        centred *= np.sqrt(task.weights)[:, None]
    return from_factor(task, plan, spread, centred)


def from_factor(task: LinearTask, plan: Plan, scatter: Scatter, factor: Array) -> Axes:
    """From any matrix X with XᵀX = S."""
    scale = column_scales(task, scatter)
    factor = factor if scale is None else factor / scale
    size = float(np.linalg.norm(factor))
    most = min(factor.shape) if task.asked is None or isinstance(task.asked, (float, str)) else int(task.asked)
    pairs = Svd().solve(Dilation(factor), most, task.rng())
    k = number_of_axes(task, lambda: pairs.values**2, size**2, scatter.weight)
    pairs = pairs.first(k)
    noise = 8 * float(np.finfo(float).eps) * size
    certificate = certify(pairs, tol=plan.tol / 2, bound=beyond(pairs, noise), level=COUNTED, entries=noise).squared()
    axes, rest = np.sqrt(2) * pairs.vectors[len(factor) :], float(np.sum(pairs.beyond**2))
    return kept(task, plan, scatter, scale, pairs.values**2, axes, size**2, certificate, rest)


# ---------------------------------------------------------------------- by the Gram matrix


def by_gram(task: LinearTask, plan: Plan, on_pass: Any) -> Axes:
    """XcXcᵀ u = λu gives the axes v = Xcᵀu/√λ: for rows fewer than columns."""
    spread = summed(task, Spread, on_pass, exact=True)
    scale, X = column_scales(task, spread), task.rows.load()
    pieces = cut(X.shape[1], max(1, COLUMNS // X.shape[0]))
    root = None if task.weights is None else np.sqrt(task.weights)[:, None]

    def centred(columns: slice) -> Array:
        Y = spread.centred(X[:, columns], columns)
        Y /= 1.0 if scale is None else scale[columns]
        return Y if root is None else Y * root

    gram = np.zeros((len(X), len(X)))
    for columns in pieces:
        Y = centred(columns)
        gram += Y @ Y.T
    total = float(np.trace(gram))
    found = from_matrix(task, plan, spread, scale, gram, total, rounding_in(spread, scale, total))
    U, sigma = found.axes.T, np.sqrt(np.maximum(found.values, np.finfo(float).tiny))
    axes = np.empty((X.shape[1], len(sigma)))
    for columns in pieces:
        axes[columns] = centred(columns).T @ (U / sigma)
    axes = orthonormal(axes, found.values > 0)
    found = replace(found, axes=np.ascontiguousarray((axes * signs_by(axes)).T))
    return without_squares_if_need_be(task, found, spread, on_pass)


def orthonormal(axes: Array, there: Array) -> Array:
    """Columns of unit length at right angles, in the same directions; where there is no variance, any will do."""
    if not there.all():
        axes[:, ~there] = np.random.default_rng(0).standard_normal((len(axes), int(np.sum(~there))))
    Q, R = np.linalg.qr(axes)
    Q *= np.where(np.diag(R) < 0, -1.0, 1.0)
    return Q


# ---------------------------------------------------------------------- by products


def by_products(task: LinearTask, plan: Plan, on_pass: Any) -> Axes:
    """Block Krylov: every step is one sweep over the rows."""
    spread = summed(task, Spread, on_pass, exact=True)
    scale = column_scales(task, spread)
    with one_blas_thread():
        op: Any = ScatterProducts(task.rows, spread, scale, task.weights, task.limits.threads, on_pass)
        try:
            if isinstance(task.asked, float):
                plan, pairs = grow_to_share(plan, op, task.asked, task.rng(), lambda k: replanned(task, k), strict=True)
            else:
                pairs = plan.solver.solve(op, number_of_axes(task, None, op.trace, spread.weight), task.rng())
        except TooMany:
            return nearly_all(task, on_pass)
        pairs, bound, level = rule_out_missed(plan, op, pairs, task.rng())
        certificate = certify(pairs, tol=plan.tol, bound=bound, level=level, entries=op.noise)
    found = kept(task, plan, spread, scale, pairs.values, pairs.vectors, op.trace, certificate)
    return without_squares_if_need_be(task, found, spread, on_pass)


def replanned(task: LinearTask, k: int) -> Plan:
    """The plan for k components; another way, if those are so many that it is faster."""
    return choose_linear_plan(replace(task.problem, k=k), task.limits)


def nearly_all(task: LinearTask, on_pass: Any) -> Axes:
    problem = replace(task.problem, k=None)
    plan = choose_linear_plan(problem, task.limits)
    if plan.held == "products":
        many = f"n_components={task.asked} takes more than a tenth of the {problem.all:,} components there are"
        raise NoRoom(f"{many}, and all of them do not fit into the memory_limit. Ask for a smaller share.")
    return _WAYS[plan.held](replace(task, problem=problem), plan, on_pass)


_WAYS = {
    "scatter": by_scatter,
    "triangle": by_triangle,
    "rows": by_rows,
    "gram": by_gram,
    "products": by_products,
}


# ---------------------------------------------------------------------- digits


def without_squares_if_need_be(task: LinearTask, found: Axes, scatter: Scatter, on_pass: Any) -> Axes:
    """The same axes, or those of the rows themselves where squares left too few digits of a variance that is there.

    What looks like zero is looked at once more along its axis, as rows of less than full rank are no trouble at all.
    """
    if not lost(found, DIGITS):
        return found
    if not task.problem.sparse:
        with one_blas_thread():
            values, rest = squares_along(scatter, task.rows, found.axes, found.scale, task.weights, task.limits.threads)
        zero = (32 * np.finfo(float).eps) ** 2 * found.total  # to anybody
        there = np.any((found.values * DIGITS < found.certificate.rounding) & (values > zero))
        found = replace(found, rest=rest if len(found.values) < found.all else 0.0)
        if not there:
            return found
        plan = (triangle_plan if task.problem.d <= task.problem.n else rows_plan)(task.problem, task.limits, TOO_FEW)
        if plan.memory <= task.limits.memory:
            return _WAYS[plan.held](task, plan, on_pass)
    return replace(found, warnings=[*found.warnings, *about_digits(found)])


def lost(found: Axes, digits: float) -> bool:
    """Whether a kept variance, or the sum of the others, is known to fewer digits than it should be."""
    values = found.values if len(found.values) == found.all else np.append(found.values, found.rest)
    return bool(np.any(values * digits < found.certificate.rounding))


def about_digits(found: Axes) -> list[str]:
    """What is left where squares have to do: of sparse rows, of batches, and where there is no memory for better.

    Of what cannot be told from zero the certificate speaks, unless that is nearly all there is.
    """
    noise, values = found.certificate.rounding, np.append(found.values, found.rest)
    there = values[values > noise]
    if DIGITS * found.total > noise and not np.any(DIGITS * there < noise):
        return []
    digits = max(0, int(-np.log10(noise / there.min()))) if len(there) else 0
    return [
        f"Squares of the data leave the smallest variance only {digits} digits; PCA of dense rows, in memory or from a "
        'file, with svd_solver="qr" has them all.'
    ]


# ---------------------------------------------------------------------- what they share


def summed(task: LinearTask, kind: type[Scatter], on_pass: Any, exact: bool = False) -> Any:
    """How all rows scatter; with words for data that cannot be summed up."""
    with one_blas_thread():
        scatter = sweep(kind, task.rows, task.weights, task.limits.threads, on_pass, exact)
        if not finite(scatter) and scatter.rounding > np.finfo(float).eps:
            scatter = sweep(kind, task.rows, task.weights, task.limits.threads, on_pass, exact=True)
    if not finite(scatter):
        task.look()
    refuse_overflow(scatter)
    return scatter


def refuse_overflow(scatter: Scatter) -> None:
    if not finite(scatter):
        raise BadData(OVERFLOW)


def finite(scatter: Scatter) -> bool:
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(scatter.offset).all() and np.isfinite(scatter.squares).all())


def column_scales(task: LinearTask, scatter: Scatter) -> Array | None:
    """The standard deviations, and 1 for columns that have none."""
    if not task.standardize:
        return None
    degrees = scatter.weight - 1 if scatter.weight > 1 else scatter.weight
    return np.where(is_constant(scatter), 1.0, np.sqrt(scatter.squares / degrees))


def is_constant(scatter: Scatter) -> Array:
    """Which columns vary by no more than rounding does."""
    eps = np.finfo(float).eps
    return scatter.squares <= 8 * eps * scatter.cancelled + scatter.weight * (4 * eps * scatter.mean) ** 2


def number_of_axes(task: LinearTask, spectrum: Callable[[], Array] | None, total: float, n: float) -> int:
    """How many to find: as said, or by a rule on the whole spectrum."""
    asked, most = task.asked, task.problem.all
    if asked is None:
        return most if task.problem.k is None else task.problem.k
    if not isinstance(asked, (str, float)):
        return int(asked)
    if spectrum is None:
        raise NoRoom(f"n_components={asked!r} needs all {most:,} variances, and that does not fit.")
    values = np.maximum(spectrum()[:most], 0.0)
    if isinstance(asked, float):
        return components_for_share(values, total, asked) or most
    if values[0] <= 0:
        return 1
    return int(np.argmax(minka_evidence(values, n)) if asked == "mle" else np.argmin(bic(values, n, task.problem.d)))


def beyond(pairs: Eigenpairs, noise: float) -> float:
    """A bound on what was not kept, where LAPACK found all there is."""
    return float(pairs.beyond.max(initial=0.0)) + rounding_floor(pairs.vectors.shape[0], pairs.size) + noise


def kept(
    task: LinearTask,
    plan: Plan,
    scatter: Scatter,
    scale: Array | None,
    values: Array,
    vectors: Array,
    total: float,
    certificate: Certificate,
    rest: float | None = None,
) -> Axes:
    """Signs and zeros by convention, and what a user should be told; the rest is what is left if nobody knows it."""
    values = np.where(values <= certificate.rounding, 0.0, values)
    every = min(scatter.count, scatter.width)
    rest = max(total - float(values.sum()), 0.0) if rest is None else rest
    return Axes(
        plan=plan,
        certificate=certificate,
        count=scatter.count,
        weight=scatter.weight,
        mean=scatter.mean,
        squares=scatter.squares,
        scale=scale,
        values=values,
        axes=np.ascontiguousarray((vectors * signs_by(vectors)).T),
        total=total,
        rest=rest if len(values) < every else 0.0,
        all=every,
        warnings=[*about_columns(task, scatter, total, certificate.rounding), *about_directions(certificate, values)],
    )


def about_columns(task: LinearTask, scatter: Scatter, total: float, noise: float) -> list[str]:
    """What is there to be said about columns that do not vary."""
    if total <= noise:
        return [
            "All rows are the same, so there is no direction in which they vary: all variances and scores are zero. "
            "(Or they differ by so little that its square is not a number any more: scale them up.)"
        ]
    constant = np.flatnonzero(is_constant(scatter))
    if not task.standardize or not len(constant):
        return []
    names = [str(j) if task.names is None else repr(task.names[j]) for j in constant[:5]]
    some = ", ".join(names) + (" …" if len(constant) > 5 else "")
    return [
        f"{len(constant)} of {scatter.width} columns are constant ({some}) and cannot be scaled to variance one: "
        "they are left as they are and say nothing. Leave them out."
    ]
