"""The certified way: eigenpairs of the centred kernel matrix, each with its residual."""

from dataclasses import replace
from numbers import Integral, Real

from mercer.errors import NoRoom, are, counted, warn
from mercer.fits.kernel.matrix import build_matrix
from mercer.fits.kernel.scale import company
from mercer.fits.kernel.task import Components, Task
from mercer.fits.spectrum import MatrixSpectrum, TooMany, find_spectrum
from mercer.fits.working import working
from mercer.operators.centering import Centered
from mercer.operators.projection import Centring, as_projection
from mercer.plans.kernel import certified_plan
from mercer.plans.plan import Plan
from mercer.solvers.feature_side import Factored


def find_certified(task: Task, plan: Plan) -> Components:
    """The leading components; where a share of the variance takes nearly all of them, by the plan for all."""
    try:
        return _find(task, plan)
    except TooMany:
        return _find_nearly_all(task)


def _find(task: Task, plan: Plan) -> Components:
    """The matrix lives in here alone: it is gone before an inverse is learned."""
    training, kernel = task.training, task.kernel
    with working(task.progress, plan.passes, "passes over the kernel matrix") as on_pass:
        matrix = build_matrix(plan, kernel, training.data, training.weights, task.limits.threads, on_pass, task.learned)
        spectrum = find_spectrum(
            plan,
            matrix,
            _wanted_components(task, plan),
            task.rng(),
            by_modulus=task.by_modulus,
            drop_zeros=task.drop_zeros,
            replan=lambda k: certified_plan(replace(task.problem, k=k), task.limits),
        )
        return as_components(task, matrix, spectrum)


def as_components(task: Task, matrix: Centered, spectrum: MatrixSpectrum) -> Components:
    """What a model keeps of a spectrum: the training rows as well, as new ones are compared with them."""
    rows = task.training.kept_data(task.copy)
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
        warnings=spectrum.warnings,
    )


def _find_nearly_all(task: Task) -> Components:
    """A share of the variance that takes so many components that all of them are found."""
    problem = replace(task.problem, k=None)
    try:
        return _find(replace(task, problem=problem), certified_plan(problem, task.limits))
    except NoRoom as error:
        many = f"n_components={task.asked} takes more than a tenth of the {problem.n:,} components there are."
        raise NoRoom(f"{many} {error}") from None


def _wanted_components(task: Task, plan: Plan) -> int | float:
    """The number of components, or the share of variance, to find."""
    asked, n = task.asked, len(task.training.items)
    if asked is None:
        return min(n, task.problem.n_features or n) if isinstance(plan.solver, Factored) else n
    if isinstance(asked, Real) and not isinstance(asked, Integral):
        return float(asked)
    if asked > n:
        warn(f"n_components={asked} is more than the {counted(n, 'row')}; {counted(n, 'component')} {are(n)} kept.")
    return min(int(asked), n)
