"""Principal axes by every way there is."""

from dataclasses import replace

import numpy as np

from mercer_old.arrays import Array
from mercer_old.blocks import cut
from mercer_old.certificates.residuals import Certificate, certify
from mercer_old.errors import NoRoom
from mercer_old.fits.linear.axes import (
    HiddenVariances,
    as_axes,
    column_scales,
    from_factor,
    from_matrix,
    from_square,
    number_of_axes,
    of_one_half,
)
from mercer_old.fits.linear.digits import DIGITS, SINGLE_DIGITS, about_digits, lost_digits
from mercer_old.fits.linear.summing import OutOfRange, find_scatter
from mercer_old.fits.linear.task import Axes, LinearTask
from mercer_old.fits.linear.units import with_units, without_units
from mercer_old.fits.spectrum import TooMany, grow_to_share
from mercer_old.operators.products import ScatterProducts
from mercer_old.plans.linear import COLUMN_ENTRIES, choose_linear_plan, rows_plan, triangle_plan
from mercer_old.plans.plan import Plan
from mercer_old.progress import OnPass, working
from mercer_old.rounding import gamma
from mercer_old.solvers.base import measured_anew, signs_by
from mercer_old.solvers.completeness import rule_out_missed
from mercer_old.sums import chain, product
from mercer_old.sweeps.lanes import squares_along
from mercer_old.sweeps.scatter import ENTRY, Scatter
from mercer_old.sweeps.spread import Spread
from mercer_old.sweeps.square import Square, add_square, mirror
from mercer_old.sweeps.triangle import Triangle
from mercer_old.threads import one_blas_thread

_TOO_FEW = "squares of the data leave the smallest variance too few digits."


def find_axes(task: LinearTask, plan: Plan) -> Axes:
    """The way the plan names; if too few digits are left at its end, or too many components are needed, another."""
    words, threads = "sweeps over the rows", task.limits.threads
    with np.errstate(divide="ignore"), working(task.progress, plan.passes, words, threads=threads) as on_pass:
        try:
            return _go(task, plan, on_pass)
        except OutOfRange:
            task = with_units(task)
            return without_units(_go(task, plan, on_pass), task)


def _go(task: LinearTask, plan: Plan, on_pass: OnPass) -> Axes:
    """The way of the plan; where a rule needs variances that squares hide, one without squares if it fits."""
    try:
        return _WAYS[plan.held](task, plan, on_pass)
    except HiddenVariances:
        better = _plan_without_squares(task)
        if task.problem.sparse or better.memory > task.limits.memory:
            return _WAYS[plan.held](replace(task, hidden=True), plan, on_pass)
        return _WAYS[better.held](task, better, on_pass)


def _plan_without_squares(task: LinearTask) -> Plan:
    """By the triangle, or the rows if they are fewer than columns."""
    return (triangle_plan if task.problem.d <= task.problem.n else rows_plan)(task.problem, task.limits, _TOO_FEW)


# ---------------------------------------------------------------------- by the scatter matrix


def _by_scatter(task: LinearTask, plan: Plan, on_pass: OnPass) -> Axes:
    """S summed up in one sweep."""
    return with_enough_digits(task, plan, on_pass)[0]


def with_enough_digits(
    task: LinearTask, plan: Plan, on_pass: OnPass, scatter: Square | None = None
) -> tuple[Axes, Square]:
    """The axes of S; anew in double precision, then without squares, where too many digits were lost."""
    scatter = find_scatter(task, Square, on_pass) if scatter is None else scatter
    found = from_square(task, plan, scatter)
    if scatter.precision > np.finfo(float).eps:
        if not lost_digits(found, SINGLE_DIGITS):
            return found, scatter
        scatter = find_scatter(task, Square, on_pass, exact=True)
        found = from_square(task, plan, scatter)
    return _without_squares_if_need_be(task, found, scatter, on_pass), scatter


# ---------------------------------------------------------------------- without squares


def _by_triangle(task: LinearTask, plan: Plan, on_pass: OnPass) -> Axes:
    """R of a QR factorisation, block after block, and its singular values."""
    scatter = find_scatter(task, Triangle, on_pass, exact=True)
    return from_factor(task, plan, scatter, scatter.R, scatter.slack)


def _by_rows(task: LinearTask, plan: Plan, on_pass: OnPass) -> Axes:
    """The centred rows in memory, and their singular values."""
    spread = find_scatter(task, Spread, on_pass, exact=True)
    centred = spread.centred(task.rows.load())
    if task.weights is not None:
        centred *= np.sqrt(task.weights)[:, None]
    slack = np.sqrt(spread.weight) * spread.doubt + gamma(ENTRY) * np.sqrt(spread.squares)
    return from_factor(task, plan, spread, centred, slack)


def _without_squares_if_need_be(task: LinearTask, found: Axes, scatter: Scatter, on_pass: OnPass) -> Axes:
    """The same axes, or those of the rows themselves where squares left too few digits of a variance that is there.

    What looks like zero is looked at once more along its axis, as rows of less than full rank are no trouble at all.
    """
    if not lost_digits(found, DIGITS):
        return found
    if not task.problem.sparse:
        with one_blas_thread():
            values, rest = squares_along(scatter, task.rows, found.axes, found.scale, task.weights, task.limits.threads)
        zero = (32 * np.finfo(float).eps) ** 2 * found.total  # to anybody
        there = np.any((found.values * DIGITS < found.certificate.rounding) & (values > zero))
        found = replace(found, rest=rest if len(found.values) < found.all else 0.0)
        if not there:
            return found
        plan = _plan_without_squares(task)
        if plan.memory <= task.limits.memory:
            return _WAYS[plan.held](task, plan, on_pass)
    return replace(found, warnings=[*found.warnings, *about_digits(found)])


# ---------------------------------------------------------------------- by the Gram matrix


def _by_gram(task: LinearTask, plan: Plan, on_pass: OnPass) -> Axes:
    """XcXcᵀ u = λu gives the axes v = Xcᵀu/√λ: for rows fewer than columns."""
    spread = find_scatter(task, Spread, on_pass, exact=True)
    scale, X = column_scales(task, spread), task.rows.load()
    pieces = cut(X.shape[1], max(1, COLUMN_ENTRIES // X.shape[0]))
    root = None if task.weights is None else np.sqrt(task.weights)[:, None]

    def centred(columns: slice) -> Array:
        Y = spread.centred(X[:, columns], columns)
        Y /= 1.0 if scale is None else scale[columns]
        return Y if root is None else Y * root

    side = max(len(X), task.problem.wanted)
    gram = np.zeros((side, side))
    for columns in pieces:
        add_square(gram[: len(X), : len(X)], np.ascontiguousarray(centred(columns).T), task.limits.threads)
    mirror(gram)
    total = float(np.trace(gram))
    longest = chain(max(columns.stop - columns.start for columns in pieces)) + len(pieces) + ENTRY
    off = float(np.linalg.norm(spread.doubt if scale is None else spread.doubt / scale))  # what the mean is off by
    noise = gamma(longest) * total + spread.weight * off**2 + spread.noise_of_scaling(scale)
    found = from_matrix(task, plan, spread, scale, gram, total, noise)
    U, sigma = found.axes.T[: len(X)], np.sqrt(np.maximum(found.values, np.finfo(float).tiny))
    axes = np.empty((X.shape[1], len(sigma)))
    for columns in pieces:
        axes[columns] = product(centred(columns).T, U / sigma)
    axes = _orthonormal(axes, found.values > 0)
    # If u is off by ε/|λ − μ| towards the eigenvalue μ, then v = Xcᵀu/√λ is by √(μ/λ) of that: √2 of ε/δ at most,
    # as the distance δ to all others includes that to zero.
    assert isinstance(found.certificate, Certificate)
    certificate = of_one_half(found.certificate)
    found = replace(found, axes=np.ascontiguousarray((axes * signs_by(axes)).T), certificate=certificate)
    return _without_squares_if_need_be(task, found, spread, on_pass)


def _orthonormal(axes: Array, there: Array) -> Array:
    """Columns of unit length at right angles, in the same directions; where there is no variance, any will do."""
    if not there.all():
        axes[:, ~there] = np.random.default_rng(0).standard_normal((len(axes), int(np.sum(~there))))
    Q, R = np.linalg.qr(axes)
    Q *= np.where(np.diag(R) < 0, -1.0, 1.0)
    return Q


# ---------------------------------------------------------------------- by products


def _by_products(task: LinearTask, plan: Plan, on_pass: OnPass) -> Axes:
    """Block Krylov: every step is one sweep over the rows."""
    task = replace(task, rows=task.rows.for_passes())
    spread = find_scatter(task, Spread, on_pass, exact=True)
    scale = column_scales(task, spread)
    with one_blas_thread():
        op = ScatterProducts(task.rows, spread, scale, task.weights, task.limits.threads, on_pass)
        try:
            if isinstance(task.asked, float):
                plan, pairs = grow_to_share(
                    plan, op, task.asked, task.rng(), lambda k: _replanned(task, k), more=True, dtype=task.dtype
                )
            else:
                pairs = plan.solver.solve(op, number_of_axes(task), task.rng())
        except TooMany:
            return nearly_all(task, on_pass)
        pairs, bound, level = rule_out_missed(plan.solver, op, pairs, task.rng())
        if task.rows.held:  # products of their own are better known than those turned from others
            pairs = measured_anew(pairs, op)
        certificate = certify(pairs, tol=plan.tol, bound=bound, level=level, entries=op.noise)
    found = as_axes(task, plan, spread, scale, pairs.values, pairs.vectors, op.trace, certificate)
    return _without_squares_if_need_be(task, found, spread, on_pass)


def _replanned(task: LinearTask, k: int) -> Plan:
    """The plan for k components; another way, if those are so many that it is faster."""
    return choose_linear_plan(replace(task.problem, k=k, foretold=None), task.limits)


def nearly_all(task: LinearTask, on_pass: OnPass) -> Axes:
    problem = replace(task.problem, k=None, foretold=None)
    plan = choose_linear_plan(problem, task.limits)
    if plan.held == "products":
        many = f"n_components={task.asked} takes more than a tenth of the {problem.all:,} components there are"
        raise NoRoom(f"{many}, and all of them do not fit into the memory_limit. Ask for a smaller share.")
    return _WAYS[plan.held](replace(task, problem=problem), plan, on_pass)


_WAYS = {
    "scatter": _by_scatter,
    "triangle": _by_triangle,
    "rows": _by_rows,
    "gram": _by_gram,
    "products": _by_products,
}
