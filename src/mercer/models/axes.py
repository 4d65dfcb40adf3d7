"""Principal axes by every way there is: from what a fit is asked for to what it finds."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mercer.errors import BadData, NoRoom
from mercer.limits import Limits
from mercer.models.spectrum import TooMany, about_directions, grow_to_share, rule_out_missed
from mercer.operators.held import Dilation, HeldMatrix
from mercer.operators.products import ScatterProducts
from mercer.operators.scatter import Scatter, Spread, Square, Triangle, sweep
from mercer.operators.tiles import cut
from mercer.progress import reporting
from mercer.readings.components import bic, components_for_share, minka_evidence
from mercer.solvers.base import Eigenpairs, rounding_floor, signs_by
from mercer.solvers.certificate import Certificate, certify
from mercer.solvers.dense import Dense
from mercer.solvers.linear_plan import (
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

DIGITS, SINGLE_DIGITS = 1e-6, 1e-3  # error of a kept variance, relative to itself, from which another way is taken
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
    threads = one_blas_thread() if task.problem.all <= FEW else nullcontext()
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
    why = f"squares of the data leave component {len(found.values)} too few digits."
    instead = triangle_plan(task.problem, task.limits, why)
    if lost(found, DIGITS) and not task.problem.sparse and instead.memory <= task.limits.memory:
        return by_triangle(task, instead, on_pass), scatter
    return replace(found, warnings=[*found.warnings, *about_digits(found)]), scatter


def about_digits(found: Axes) -> list[str]:
    """What is left where squares have to do: sparse rows, batches, and no memory for better."""
    if not lost(found, DIGITS):
        return []
    there = np.append(found.values, found.rest)
    digits = max(0, int(-np.log10(found.certificate.rounding / there[there > found.certificate.rounding].min())))
    return [
        f"Squares of the data leave the smallest variance only {digits} digits; PCA of dense rows, in memory or from a "
        'file, with svd_solver="qr" has them all.'
    ]


def from_square(task: LinearTask, plan: Plan, scatter: Square) -> Axes:
    """The eigenproblem of S, which is left as it is."""
    scale = column_scales(task, scatter)
    matrix = scatter.matrix if scale is None else scatter.matrix / np.multiply.outer(scale, scale)
    total = float(np.sum(scatter.squares if scale is None else scatter.squares / scale**2))
    noise = rounding_in(scatter, scale, total)
    k = number_of_axes(task, lambda: np.linalg.eigvalsh(matrix)[::-1], total, scatter.weight)
    pairs = Dense(psd=True).solve(HeldMatrix(matrix), min(k, len(matrix)), task.rng())
    certificate = certify(pairs, tol=plan.tol, bound=beyond(pairs, noise), level=COUNTED, entries=noise)
    return kept(task, plan, scatter, scale, pairs.values, pairs.vectors, total, certificate)


def rounding_in(scatter: Scatter, scale: Array | None, total: float) -> float:
    """How far rounding can move the eigenvalues of a scatter matrix: that of the sums, and of what was cancelled."""
    cancelled = scatter.cancelled if scale is None else scatter.cancelled / scale**2
    return 8 * scatter.rounding * (total + float(cancelled.sum()))


def lost(found: Axes, digits: float) -> bool:
    """Whether a kept variance, or their rest, is there at all but known to fewer digits than it should be."""
    noise, values = found.certificate.rounding, np.append(found.values, found.rest)
    single = digits == SINGLE_DIGITS  # of what single precision does not see, nothing is known
    return bool(np.any((values * digits < noise) & ((values > noise) | single)))


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
    total, noise = float(np.trace(gram)), rounding_in(spread, scale, float(np.trace(gram)))
    k = number_of_axes(task, lambda: np.linalg.eigvalsh(gram)[::-1], total, spread.weight)
    pairs = Dense(psd=True).solve(HeldMatrix(gram), k, task.rng())
    certificate = certify(pairs, tol=plan.tol, bound=beyond(pairs, noise), level=COUNTED, entries=noise)
    weights = pairs.vectors / np.sqrt(np.maximum(pairs.values, np.finfo(float).tiny))
    axes = np.concatenate([centred(columns).T @ weights for columns in pieces])
    found = kept(task, plan, spread, scale, pairs.values, orthonormal(axes, pairs.values > noise), total, certificate)
    why = f"squares of the data leave component {len(found.values)} too few digits."
    instead = rows_plan(task.problem, task.limits, why)
    return by_rows(task, instead, on_pass) if lost(found, DIGITS) and instead.memory <= task.limits.memory else found


def orthonormal(axes: Array, there: Array) -> Array:
    """Columns of unit length at right angles, in the same directions; where there is no variance, any will do."""
    fresh = np.random.default_rng(0).standard_normal(axes.shape)
    Q, R = np.linalg.qr(np.where(there, axes, fresh))
    return Q * np.where(np.diag(R) < 0, -1.0, 1.0)


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
    return kept(task, plan, spread, scale, pairs.values, pairs.vectors, op.trace, certificate)


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
    return bool(np.isfinite(scatter.offset).all() and np.isfinite(scatter.squares).all())


def column_scales(task: LinearTask, scatter: Scatter) -> Array | None:
    """The standard deviations, and 1 for columns that have none."""
    if not task.standardize:
        return None
    deviations = np.sqrt(scatter.squares / max(scatter.weight - 1, np.finfo(float).tiny))
    constant = deviations <= 4 * np.finfo(float).eps * np.abs(scatter.mean)
    constant |= scatter.squares <= 8 * np.finfo(float).eps * scatter.cancelled
    return np.where(constant, 1.0, deviations)


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
        warnings=[*about_columns(task, scatter), *about_directions(certificate, values)],
    )


def about_columns(task: LinearTask, scatter: Scatter) -> list[str]:
    if not task.standardize:
        return []
    scales: Any = column_scales(task, scatter)
    constant = np.flatnonzero(scales != np.sqrt(scatter.squares / max(scatter.weight - 1, np.finfo(float).tiny)))
    if not len(constant):
        return []
    names = [str(j) if task.names is None else repr(task.names[j]) for j in constant[:5]]
    some = ", ".join(names) + (" …" if len(constant) > 5 else "")
    return [
        f"{len(constant)} of {scatter.width} columns are constant ({some}) and cannot be scaled to variance one: "
        "they are left as they are and say nothing. Leave them out."
    ]
