"""The certified way: eigenpairs of the centred kernel matrix, each with its residual."""

from collections.abc import Callable
from dataclasses import replace
from numbers import Integral, Real

import numpy as np

from mercer_old.arrays import Array
from mercer_old.certificates.residuals import about_directions
from mercer_old.errors import NoRoom, are, counted, warn
from mercer_old.fits.kernel.matrix import build_matrix
from mercer_old.fits.kernel.place import place
from mercer_old.fits.kernel.ruled import number_by_rule
from mercer_old.fits.kernel.scale import company
from mercer_old.fits.kernel.task import Components, Task
from mercer_old.fits.spectrum import MatrixSpectrum, TooMany, find_spectrum
from mercer_old.kernels import Kernel
from mercer_old.operators.projection import Centring, as_projection
from mercer_old.plans.kernel import certified_plan
from mercer_old.plans.plan import Plan
from mercer_old.progress import working
from mercer_old.solvers.feature_side import Factored

_FLAT_ROWS = 20  # from so many on, equal eigenvalues mean something


def find_certified(task: Task, plan: Plan) -> Components:
    """The leading components; where a share of the variance takes nearly all of them, by the plan for all."""
    try:
        return _find(task, plan)
    except TooMany:
        return _find_nearly_all(task)


def _find(task: Task, plan: Plan) -> Components:
    """The matrix lives in here alone: it is gone before an inverse is learned."""
    training, kernel, wanted, rule = task.training, task.kernel, _wanted_components(task, plan), _rule_of(task)
    with working(task.progress, *_long_work(plan)) as on_pass:
        matrix = build_matrix(plan, kernel, training, task.limits.threads, on_pass, task.learned, task.home)
        spectrum = find_spectrum(
            plan,
            matrix,
            wanted,
            task.rng(),
            by_modulus=task.by_modulus,
            drop_zeros=task.drop_zeros,
            replan=lambda k: place(certified_plan(replace(task.problem, k=k), task.limits), task),
            choose=rule,
        )
        return as_components(task, spectrum)


def _long_work(plan: Plan) -> tuple[int, str]:
    """What takes long, in words, and how often it is done: a matrix that is held is filled once."""
    return (1, "filling the kernel matrix") if plan.is_filled else (plan.passes, "passes over the kernel matrix")


def as_components(task: Task, spectrum: MatrixSpectrum) -> Components:
    """What a model keeps of a spectrum: the training rows as well, as new ones are compared with them."""
    warnings, matrix, rows = _about_spectrum(spectrum, task.kernel), spectrum.matrix, task.training.kept_data(task.copy)
    return Components(
        plan=spectrum.plan,
        certificate=spectrum.certificate,
        n=matrix.n,
        values=spectrum.values,
        total=matrix.trace,
        total_weight=matrix.total_weight,
        projection=as_projection(task.kernel, rows, matrix, spectrum.values, spectrum.vectors),
        centring=Centring.of(matrix),
        scores=spectrum.scores,
        vectors=spectrum.vectors,
        rows=rows,
        indefinite=spectrum.indefinite,
        company=company(task.kernel, matrix),
        warnings=warnings,
    )


def all_the_same(kernel: Kernel, n: int) -> str:
    """What is said of n items where there is no structure, and what it may be about."""
    if n == 1:
        one = {"rows": "row", "tables": "row", "texts": "text", "series": "series"}.get(kernel.takes, "item")
        return (
            f"There is one {one} alone to learn from, and components say how items differ: the scores are zero. Give "
            "at least two."
        )
    guess = "Is the data constant, or is gamma far too small for its scale?"
    if kernel.takes == "texts":
        guess = "Are the texts equal, or too short to have anything in common?"
    elif kernel.takes == "tables":
        guess = "Is every column the same in all rows?"
    return f"All rows look the same to this kernel, so there is no structure to find: the scores are zero. {guess}"


def _about_spectrum(spectrum: MatrixSpectrum, kernel: Kernel) -> list[str]:
    """What a user should be told about this answer."""
    matrix, values, said = spectrum.matrix, spectrum.values, list[str]()
    if not np.any(values > 0):
        said.append(all_the_same(kernel, matrix.n))
    flat = 0 < values[:1].sum() * (matrix.n - 1) < 1.01 * matrix.trace
    if matrix.n >= _FLAT_ROWS and flat and not spectrum.indefinite:
        return [
            "No direction stands out to this kernel: all eigenvalues are nearly the same, as if every row were "
            "equally far from every other, and the components are arbitrary."
        ]
    if spectrum.indefinite:
        said.append(
            f"The kernel matrix is not positive semi-definite: it has an eigenvalue of at most "
            f"{spectrum.pairs.lowest:.3g} against a largest of {values[0]:.3g}. Explained variance ratios have no "
            "meaning here."
        )
    return said + about_directions(spectrum.certificate, values)


def _find_nearly_all(task: Task) -> Components:
    """A share of the variance that takes so many components that all of them are found."""
    problem = replace(task.problem, k=None)
    if task.training.chunks is None:  # the items are here alone by now
        problem = replace(problem, chunks=None, lent=None)
    try:
        return _find(replace(task, problem=problem), place(certified_plan(problem, task.limits), task))
    except NoRoom as error:
        many = f"n_components={task.asked} takes more than a tenth of the {problem.n:,} components there are."
        raise NoRoom(f"{many} {error}") from None


def _rule_of(task: Task) -> Callable[[Array, float, float], int] | None:
    """What keeps as many of the eigenvalues as a rule says, if one was asked for."""
    if not isinstance(task.asked, str):
        return None
    return lambda values, trace, weight: number_by_rule(task, values, trace, weight)


def _wanted_components(task: Task, plan: Plan) -> int | float:
    """The number of components, or the share of variance, to find."""
    asked, n = task.asked, len(task.training.items)
    if asked is None:
        return min(n, task.problem.n_features or n) if isinstance(plan.solver, Factored) else n
    if isinstance(asked, str):
        return min(task.problem.k or n, n)
    if isinstance(asked, Real) and not isinstance(asked, Integral):
        return float(asked)
    if asked > n:
        warn(f"n_components={asked} is more than the {counted(n, 'row')}; {counted(n, 'component')} {are(n)} kept.")
    return min(int(asked), n)
