"""From a scatter matrix, or a factor of it, to certified axes: signs and zeros by convention, and words."""

from dataclasses import replace

import numpy as np

from mercer_old.arrays import Array
from mercer_old.certificates.residuals import Certificate, about_directions, certify
from mercer_old.errors import BadData, NoRoom, listed
from mercer_old.fits.linear.task import Axes, LinearTask
from mercer_old.operators.held import Dilation, HeldMatrix
from mercer_old.plans.plan import Plan
from mercer_old.readings.rules.keeping import by_linear_rule, number_to_keep
from mercer_old.readings.rules.scree import Scree
from mercer_old.solvers.base import Eigenpairs, rounding_floor, signs_by
from mercer_old.solvers.completeness import rule_out_missed
from mercer_old.solvers.dense import Dense
from mercer_old.solvers.svd import Svd
from mercer_old.sources.weights import per_degree_of_freedom
from mercer_old.sweeps.scatter import Scatter
from mercer_old.sweeps.square import Square
from mercer_old.threads import blas_threads_for, one_blas_thread


class HiddenVariances(Exception):
    """A rule needs variances that squares of the rows leave no digit of, if they are there at all."""


_COUNTED = "all eigenvalues were computed or counted"


def from_square(task: LinearTask, plan: Plan, scatter: Square) -> Axes:
    """The eigenproblem of S, which is left as it is."""
    scale = column_scales(task, scatter)
    matrix = scatter.matrix
    if scale is not None:
        matrix = matrix / scale
        matrix /= scale[:, None]
    total = float(np.sum(scatter.squares if scale is None else scatter.squares / scale**2))
    noise = scatter.eigenvalue_noise(scale, total)
    return from_matrix(task, plan, scatter, scale, matrix, total, noise)


def from_matrix(
    task: LinearTask, plan: Plan, scatter: Scatter, scale: Array | None, matrix: Array, total: float, noise: float
) -> Axes:
    """The leading eigenvectors of S, or of a Gram matrix, by the solver of the plan."""
    with blas_threads_for(len(matrix) ** 3):
        op = HeldMatrix(matrix, task.limits.threads)
    if isinstance(plan.solver, Dense):
        by_rule = isinstance(task.asked, (str, float))  # on the very values that are kept
        pairs = plan.solver.solve(op, op.n if by_rule else min(number_of_axes(task), op.n), task.rng())
        if by_rule:
            axes = None if plan.held == "gram" else pairs.vectors.T
            scree = _scree(task, scatter, scale, pairs.values, total, axes, noise + rounding_floor(op.n, pairs.size))
            if isinstance(task.asked, str) and len(scree.positive) < scree.most and not task.hidden:
                raise HiddenVariances
            pairs = pairs.first(_number_by_rule(task, scree))
        bound, level = _bound_on_the_rest(pairs), _COUNTED
    else:
        with one_blas_thread():
            pairs = plan.solver.solve(op, number_of_axes(task), task.rng())
            pairs, bound, level = rule_out_missed(plan.solver, op, pairs, task.rng())
    certificate = certify(pairs, tol=plan.tol, bound=bound, level=level, entries=noise)
    return as_axes(task, plan, scatter, scale, pairs.values, pairs.vectors, total, certificate)


def from_factor(task: LinearTask, plan: Plan, scatter: Scatter, factor: Array, slack: Array) -> Axes:
    """From any matrix X with XᵀX = S, the columns of which are off by no more than `slack`."""
    scale = column_scales(task, scatter)
    if scale is not None:
        factor, slack = factor / scale, slack / scale + scatter.scale_off(scale) * np.sqrt(scatter.squares) / scale
    if len(factor) < task.problem.all:  # rows that stand for several: components beyond their number vary by nothing
        factor = np.concatenate([factor, np.zeros((task.problem.all - len(factor), factor.shape[1]))])
    size = float(np.linalg.norm(factor))
    most = min(factor.shape) if task.asked is None or isinstance(task.asked, (float, str)) else int(task.asked)
    pairs = Svd().solve(Dilation(factor), most, task.rng())
    noise = float(np.linalg.norm(slack))
    if isinstance(task.asked, (float, str)):
        axes, floor = np.sqrt(2) * pairs.vectors[len(factor) :].T, noise + rounding_floor(sum(factor.shape), size)
        scree = _scree(task, scatter, scale, pairs.values**2, size**2, axes, floor**2)
        pairs = pairs.first(_number_by_rule(task, scree))
    else:
        pairs = pairs.first(number_of_axes(task))
    certificate = certify(
        pairs, tol=plan.tol / 2, bound=_bound_on_the_rest(pairs), level=_COUNTED, entries=noise
    ).squared()
    certificate = of_one_half(certificate)
    axes, rest = np.sqrt(2) * pairs.vectors[len(factor) :], float(np.sum(pairs.beyond**2))
    return as_axes(task, plan, scatter, scale, pairs.values**2, axes, size**2, certificate, rest)


def of_one_half(certificate: Certificate) -> Certificate:
    """Directions of v where u, or [u; v]/√2, was measured: off by up to √2 of it."""
    return replace(certificate, angles=np.minimum(np.sqrt(2) * certificate.angles, 1.0))


def _bound_on_the_rest(pairs: Eigenpairs) -> float:
    """A bound on what was not kept, where LAPACK found all there is."""
    return float(pairs.beyond.max(initial=0.0)) + rounding_floor(pairs.vectors.shape[0], pairs.size)


def number_of_axes(task: LinearTask) -> int:
    """How many to find, where that was said; a rule needs the whole spectrum."""
    asked, most = task.asked, task.problem.all
    if asked is None:
        return most if task.problem.k is None else task.problem.k
    if not isinstance(asked, (str, float)):
        return int(asked)
    raise NoRoom(f"n_components={asked!r} needs all {most:,} variances, and that does not fit.")


def _scree(
    task: LinearTask,
    scatter: Scatter,
    scale: Array | None,
    spectrum: Array,
    total: float,
    axes: Array | None,
    floor: float,
) -> Scree:
    """What a rule looks at; the axes, one a row, where they are those of columns. Up to `floor`, all is rounding."""
    return Scree(
        values=np.maximum(spectrum[: task.problem.all], 0.0),
        total=total,
        weight=scatter.weight,
        width=task.problem.d,
        columns=scatter.squares_in(scale),
        axes=axes,
        floor=floor,
    )


def _number_by_rule(task: LinearTask, scree: Scree) -> int:
    """By a share or a rule on the whole spectrum."""
    if task.asked == "deflated-parallel" and scree.axes is None:
        raise BadData(
            'n_components="deflated-parallel" needs the axes of all components, which svd_solver="gram" does not '
            "have: leave svd_solver out."
        )
    if isinstance(task.asked, str) and not len(scree.positive):
        return 1  # where nothing varies, rounding may
    return number_to_keep(
        task.asked, scree.values, scree.total, by_rule=lambda name: by_linear_rule(name, scree), dtype=task.dtype
    )


def column_scales(task: LinearTask, scatter: Scatter) -> Array | None:
    """What columns are divided by, if that was asked for."""
    return scatter.deviations if task.standardize else None


def as_axes(
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
    values = np.where(certificate.lower <= 0, 0.0, values)
    warnings = [*_about_columns(task, scatter), *_about_none(task, values), *about_directions(certificate, values)]
    every = min(scatter.copies, scatter.width)
    rest = max(total - float(values.sum()), 0.0) if rest is None else rest
    return Axes(
        plan=plan,
        certificate=certificate,
        count=scatter.count,
        weight=scatter.weight,
        per_degree=per_degree_of_freedom(scatter.weight, scatter.count),
        mean=scatter.mean,
        squares=scatter.squares,
        spread=scatter.squares_in(scale),
        scale=scale,
        values=values,
        axes=np.ascontiguousarray((vectors * signs_by(vectors)).T),
        total=total,
        rest=rest if len(values) < every else 0.0,
        all=every,
        warnings=warnings,
    )


def _about_columns(task: LinearTask, scatter: Scatter) -> list[str]:
    """What is there to be said about columns that do not vary."""
    if scatter.constant.all():
        return [
            "All rows are the same, so there is no direction in which they vary: all variances and scores are zero. "
            "(Or they differ by so little that its square is not a number any more: scale them up.)"
        ]
    return about_constant(scatter, task.names) if task.standardize else []


def _about_none(task: LinearTask, values: Array) -> list[str]:
    """What is there to be said where a rule keeps nothing."""
    if len(values) or not isinstance(task.asked, str):
        return []
    return [f"No component is more than noise by n_components={task.asked!r}: none is kept, and scores have no column."]


def about_constant(scatter: Scatter, column_names: Array | None) -> list[str]:
    """Which columns could not be standardized."""
    constant = np.flatnonzero(scatter.constant)
    if not len(constant):
        return []
    some = listed(str(j) if column_names is None else repr(column_names[j]) for j in constant)
    return [
        f"{len(constant)} of {scatter.width} columns are constant ({some}) and cannot be scaled to variance one: "
        "they are left as they are and say nothing. Leave them out."
    ]
