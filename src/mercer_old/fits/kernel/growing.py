"""Kernel PCA of rows that come in batches: landmarks join where a batch is seen worse than the rows before it.

What of a batch the landmarks so far leave, k(x, x) − ‖φ(x)‖², is the diagonal of a positive semi-definite matrix. Where
it is markedly more than that of the rows before, landmarks are drawn by it as at a fit, until the batch is seen as
well, or less than `tol` of the variance is left. `sweeps/growing.py` says what becomes of the sums, and
`certificates/intervals.py` what of the proof.
"""

from dataclasses import fields, is_dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from mercer_old.arrays import Array, Held
from mercer_old.errors import counted, in_short
from mercer_old.fits.kernel.landmarks import from_stream
from mercer_old.fits.kernel.opening import asked_kernel, asked_solver, describe, is_precomputed
from mercer_old.fits.kernel.task import Components, Parameters, Task
from mercer_old.fits.training import Training
from mercer_old.kernels import Kernel
from mercer_old.kernels.base import kind_of_items
from mercer_old.limits import Limits
from mercer_old.operators.centering import Weighted
from mercer_old.operators.gram import RecomputedGram
from mercer_old.operators.residual import Residual
from mercer_old.plans.kernel import choose_plan
from mercer_old.plans.plan import Plan
from mercer_old.progress import OnPass, saying, working
from mercer_old.solvers.landmarks import Landmarks
from mercer_old.solvers.pivoted import pivoted_cholesky
from mercer_old.sweeps.growing import Stream
from mercer_old.sweeps.landmarks import sweep_moments
from mercer_old.symmetric import SymmetricOperator

_ENOUGH = 1e-6  # share of the variance that may be left, as at a fit
_MOST_JOINING = 1000  # landmarks from one batch, if nobody said how many
_ROUNDED = 50  # times the unit roundoff and the number of landmarks: what is left below that is rounding
_WORSE = 1.5  # times what may be left: with less, landmarks that join widen the interval more than they narrow it
_SAMPLE = 64  # rows from which the variance of a batch is guessed


def refuse_exact(model: Parameters) -> None:
    """A model that was asked to compare all rows exactly, and so does not take batches of them."""
    if is_precomputed(model):
        raise ValueError(
            "partial_fit takes rows and a kernel: of a precomputed matrix, the entries between batches are missing."
        )
    kind = kind_of_items(model.kernel)
    if kind not in ("rows", "anything"):
        raise ValueError(f"partial_fit takes rows of numbers; a kernel of {kind} is fitted to all of them at once.")
    if model.eigen_solver in ("dense", "krylov"):
        raise ValueError(
            f"partial_fit goes by landmarks, and eigen_solver={model.eigen_solver!r} by all rows at once: take "
            '"auto" or "landmark".'
        )


def refuse_batches(model: Parameters) -> None:
    """What cannot be had from rows that come and go, in one sentence each."""
    asked_solver(model)  # refuses what contradicts itself
    if model.refine:
        raise ValueError("refine asks for passes over all rows, and partial_fit sees each of them once: take refine=0.")
    if model.standardize:
        raise ValueError(
            "standardize divides by the spread of all rows, which is not known from a batch: divide the columns "
            "yourself and take standardize=False."
        )
    if model.n_components == "parallel":
        raise ValueError(
            'n_components="parallel" shuffles all rows, and partial_fit sees each of them once: give a number.'
        )


def refuse_another_kernel(model: Parameters, kernel: Kernel) -> None:
    """Sums over features of one kernel do not go on with another, set since."""
    asked = asked_kernel(model)
    if not _may_be(asked, kernel):
        raise ValueError(
            f"partial_fit goes on with {in_short(kernel)}, the kernel of the rows before, and the parameters say "
            f"{in_short(asked)} now: set them back, or begin with a new model."
        )


def _may_be(asked: Any, found: Any) -> bool:
    """Whether a kernel is one that was asked for: what was left to the data may be any number."""
    if asked is None or isinstance(asked, str):
        return True
    if isinstance(asked, tuple):
        return isinstance(found, tuple) and len(asked) == len(found) and all(map(_may_be, asked, found))
    if isinstance(asked, Kernel) and is_dataclass(asked):
        pairs = ((getattr(asked, each.name), getattr(found, each.name, None)) for each in fields(asked))
        return type(asked) is type(found) and all(_may_be(*pair) for pair in pairs)
    return not isinstance(asked, (Real, Kernel)) or bool(asked == found)


def task_of_first(task: Task) -> Task:
    """That of a fit, by landmarks, whatever else would fit."""
    if task.training.items.kind != "rows":
        raise ValueError("partial_fit takes rows of numbers; X has things of another kind, which are fitted at once.")
    return replace(task, problem=replace(task.problem, eigen_solver="landmark"))


def task_of_more(model: Parameters, training: Training, kernel: Kernel, gamma: float, limits: Limits) -> Task:
    """Another batch, for the kernel as it was found."""
    problem = describe(model, training.items, kernel)
    return Task(
        training,
        kernel,
        replace(problem, eigen_solver="landmark", inverse=False),
        limits,
        gamma=gamma,
        rng=model._rng,
        asked=model.n_components,
        landmarks=model.landmarks,
        drop_zeros=model.remove_zero_eig or model.n_components is None,
        progress=model.progress,
    )


def plan_for_more(task: Task, stream: Stream) -> Plan:
    """Room for all landmarks there are and those that may join; refused if there is none."""
    there, batch = stream.features.count, task.problem.n
    joining = 0 if task.landmarks is not None else min(task.problem.n_landmarks or _MOST_JOINING, batch)
    problem = replace(task.problem, n=max(batch, there + joining), n_landmarks=there + joining)
    plan = choose_plan(problem, task.limits)
    return replace(plan, why=f"{counted(there, 'landmark')} had been found, and {joining} more may join.")


def find_with_more(task: Task, plan: Plan, stream: Stream) -> Components:
    """Components of all rows so far and a batch."""
    settings, training = plan.solver, task.training
    assert isinstance(settings, Landmarks)
    with working(task.progress, 2, "looking for landmarks to join") as on_pass:
        if settings.count > stream.features.count:
            stream = stream.with_landmarks(*_joining(task, settings, stream, on_pass))
        saying(on_pass, "one sweep over the rows")
        batch = sweep_moments(
            stream.features, training.items, training.weights, settings.threads, on_pass, stream.moments.origin
        )
        stream = stream.with_rows(batch, len(training.items), len(training.all_items))
        return from_stream(task, plan, stream)


def find_with_fewer(task: Task, plan: Plan, stream: Stream, most: int) -> tuple[Components, float]:
    """Components of the same rows by fewer landmarks, and the share of Σ‖φ‖² that is lost."""
    fewer, lost = stream.with_fewer(most)
    whole = max(stream.moments.diagonal, np.finfo(float).tiny)
    return from_stream(task, plan, fewer), lost / whole


# ---------------------------------------------------------------------- which rows join


def _joining(task: Task, settings: Landmarks, stream: Stream, on_pass: OnPass) -> tuple[Held, Array]:
    """Rows of the batch that the landmarks see worst, and their numbers in it."""
    training, rng, features = task.training, task.rng(), stream.features
    n, weights = len(training.items), training.weights
    some = np.arange(n) if weights is None else np.flatnonzero(weights > 0)
    if settings.sample < len(some):
        some = some[np.sort(rng.choice(len(some), size=settings.sample, replace=False))]
    sample = training.items.load() if len(some) == n else training.items[some]
    gram: SymmetricOperator = RecomputedGram(task.kernel, sample, settings.threads)
    op: SymmetricOperator = Residual(gram, features.features(sample))
    if weights is not None:
        root = np.sqrt(weights[some])
        gram, op = Weighted(gram, root), Weighted(op, root)
    left, whole = float(np.maximum(op.diag(), 0.0).sum()), float(gram.diag().sum())
    weight = float(len(some) if weights is None else weights[some].sum())
    enough = max(
        weight * _as_well_as_before(settings, stream, gram, whole / weight, left / weight),
        _ROUNDED * settings.count * np.finfo(float).eps * whole,
    )
    pivots = np.zeros(0, dtype=int)
    if left > _WORSE * enough:
        most = settings.count - features.count
        pivots = pivoted_cholesky(op, most, rng, tol=enough / left, threads=settings.threads, on_pass=on_pass).pivots
    numbers = some[pivots]
    return sample[pivots], numbers if training.kept is None else np.flatnonzero(training.kept)[numbers]


def _as_well_as_before(
    settings: Landmarks, stream: Stream, gram: SymmetricOperator, diagonal: float, left: float
) -> float:
    """What may be left of a row: the share of the variance that was left before, or `tol`, of that of rows now.

    The variance now is at least that before, that within the batch, and what the landmarks do not see of it.
    """
    moments, tiny = stream.moments, np.finfo(float).tiny
    some = np.linspace(0, gram.n - 1, min(gram.n, _SAMPLE)).astype(int)
    K = gram.block(some, some)
    spread = max(1 - float(K.mean()) / max(float(np.mean(np.diag(K))), tiny), 0.0)
    before = max(moments.variance[1], 0.0)
    share = min(moments.left / max(before, tiny), 1.0) if before > moments.rounding else 0.0
    return max(share, settings.tol or _ENOUGH) * max(spread * diagonal, before / moments.weight, left)
