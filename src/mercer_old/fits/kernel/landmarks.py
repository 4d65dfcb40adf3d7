"""The way by landmarks: PCA of what some rows see of all the others, for any number of rows."""

from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer_old.arrays import Array, Held, Matrix
from mercer_old.certificates.intervals import Stretched, angles, certify_landmarks
from mercer_old.errors import BadData, counted, warn
from mercer_old.fits.kernel.certified import all_the_same, as_components
from mercer_old.fits.kernel.matrix import build_matrix
from mercer_old.fits.kernel.pivots import spread_landmarks
from mercer_old.fits.kernel.ruled import number_by_rule
from mercer_old.fits.kernel.task import Components, Task
from mercer_old.fits.scale import in_units_of_input
from mercer_old.fits.spectrum import find_spectrum
from mercer_old.inputs import table
from mercer_old.kernels.domain import refuse_negative
from mercer_old.operators.centering import Weighted, inverse_root
from mercer_old.operators.gram import RecomputedGram
from mercer_old.operators.projection import ByKernel
from mercer_old.plans.plan import Plan
from mercer_old.progress import OnPass, saying, working
from mercer_old.readings.components import fewest_for_share, shares
from mercer_old.readings.rules.keeping import number_to_keep
from mercer_old.solvers.base import signs_by
from mercer_old.solvers.dense import leading_eigenpairs
from mercer_old.solvers.landmarks import Landmarks
from mercer_old.solvers.warm import start_columns
from mercer_old.sources.held import by_columns
from mercer_old.sources.items import Items
from mercer_old.sources.kinds import KINDS
from mercer_old.sources.things import Things, in_a_list
from mercer_old.sweeps.growing import Stream
from mercer_old.sweeps.landmarks import LandmarkMap, Moments, sweep_moments
from mercer_old.symmetric import SymmetricOperator

_MOST_SHARPENED = 300  # components whose intervals are made narrower where landmarks joined later
_INDEFINITE = 1e-9  # of k(x, x): what is left of it may be so much below zero by rounding


def find_by_landmarks(task: Task, plan: Plan) -> Components:
    """Landmarks, one sweep for the moments of their features, and the eigenproblem of their side."""
    source, settings, rng = task.training.items, plan.solver, task.rng()
    assert isinstance(settings, Landmarks)
    with working(task.progress, _stages(task, settings), "drawing landmarks") as on_pass:
        rows, indices = _choose_rows(task, settings, source, rng, on_pass)
        saying(on_pass, "one sweep over the rows")
        features, order = LandmarkMap.of(task.kernel, rows)
        moments = sweep_moments(features, source, task.training.weights, settings.threads, on_pass)
        numbers = None if indices is None else indices[order]
        training = task.training
        stream = Stream.of(features, moments, len(source), len(training.all_items), numbers)
        answer = from_stream(task, plan, stream)
        if settings.refine:
            saying(on_pass, "passes over the kernel matrix")
            answer = _refined(task, plan, features, moments, answer, rng, on_pass)
        warnings = [*answer.warnings, *_about_landmarks(task, features, rows.shape[0])]
        return replace(answer, landmarks=features.rows, landmark_indices=numbers, warnings=warnings)


def _stages(task: Task, settings: Landmarks) -> int:
    """Drawing landmarks that nobody gave, one sweep, and exact passes."""
    return (task.landmarks is None) + 1 + settings.refine


# ---------------------------------------------------------------------- which rows


def _choose_rows(
    task: Task, settings: Landmarks, source: Items, rng: np.random.Generator, on_pass: OnPass = None
) -> tuple[Held, Array | None]:
    """The landmarks, and their numbers among the rows as they were given."""
    training = task.training
    if task.landmarks is not None:
        chosen, numbers = _given_landmarks(task.landmarks, training.all_items, training.scale)
        if task.kernel.non_negative and numbers is None:
            refuse_negative(in_units_of_input(chosen, training.scale), task.kernel, "landmarks")
        return chosen, numbers
    n, weights = len(source), training.weights
    if settings.spread and source.chunks is not None:
        return spread_landmarks(task.kernel, source, weights, settings, rng, on_pass)
    some = np.arange(n) if weights is None else np.flatnonzero(weights > 0)
    if settings.sample < len(some):
        some = some[np.sort(rng.choice(len(some), size=settings.sample, replace=False))]
    sample = source.load() if len(some) == n else source[some]
    op: SymmetricOperator = RecomputedGram(task.kernel, sample, settings.threads)
    if weights is not None:
        op = Weighted(op, np.sqrt(weights[some]))
    pivots = settings.choose(op, rng, on_pass)
    if not len(pivots):  # a kernel that is zero everywhere: any row sees as much as any other
        pivots = np.zeros(1, dtype=int)
    chosen = some[pivots]
    return sample[pivots], chosen if training.kept is None else np.flatnonzero(training.kept)[chosen]


def _given_landmarks(landmarks: Any, items: Items, scale: Array | None) -> tuple[Held, Array | None]:
    """Those of the user: numbers of items if one-dimensional, or items; rows are two-dimensional, in the units of X."""
    n = len(items)
    if items.kind in KINDS and not _are_numbers(landmarks):
        return KINDS[items.kind](landmarks, "landmarks").load(), None
    if items.kind == "things" and (things := in_a_list(landmarks)) and not _are_numbers(landmarks):
        return Things(things).load(), None
    if sparse.issparse(landmarks) and landmarks.shape[1] == items.width:
        return _like_rows(landmarks.tocsr(), items.as_rows().dtype, scale), None
    landmarks = np.asarray(table(landmarks, "landmarks"))
    if landmarks.ndim == 1 and landmarks.size:
        if landmarks.dtype.kind not in "iu":
            raise BadData(f"landmarks must be whole numbers of rows, or rows; got {landmarks.dtype} values.")
        wrong = landmarks[(landmarks < 0) | (landmarks >= n)]
        if len(wrong):
            raise BadData(f"landmarks are numbers of rows from 0 to {n - 1:,}; {wrong[0]} is none of them.")
        return items[landmarks], landmarks
    rows = items.as_rows()
    d = rows.width
    if landmarks.ndim != 2 or landmarks.shape[1] != d or not len(landmarks):
        raise BadData(
            f"landmarks must be numbers of rows (one-dimensional) or rows of {counted(d, 'column')} like X; got an "
            f"array of shape {landmarks.shape}."
        )
    if landmarks.dtype.kind not in "fiub" or not np.isfinite(landmarks).all():
        raise BadData("landmarks must be finite numbers.")
    return _like_rows(landmarks, rows.dtype, scale), None


def _are_numbers(landmarks: Any) -> bool:
    """Whether they are whole numbers, which stand for items."""
    listed = list(landmarks) if isinstance(landmarks, range) else in_a_list(landmarks)
    return bool(listed) and all(isinstance(one, Integral) for one in listed or ())


def _like_rows(landmarks: Matrix, dtype: DTypeLike, scale: Array | None) -> Matrix:
    landmarks = landmarks.astype(dtype, copy=False)
    return landmarks if scale is None else by_columns(np.divide, landmarks, scale)


def _about_landmarks(task: Task, features: LandmarkMap, asked: int) -> list[str]:
    """What a user who named landmarks should be told."""
    if task.landmarks is None or features.count == asked:
        return []
    return [
        f"{asked - features.count} of the {asked} landmarks were left out: they are copies of others, or add nothing "
        "to them but rounding."
    ]


# ---------------------------------------------------------------------- from moments to components


def from_stream(task: Task, plan: Plan, stream: Stream) -> Components:
    """PCA of the features, as functions of new rows: y(x) = k(x, S) G − g₀ with G = L⁻ᵀV and g₀ = Vᵀ·mean."""
    features, moments = stream.features, stream.moments
    (least, most), scatter = stream.variance, moments.scatter
    values, V = _seen_components(scatter, _how_far(task, features))
    k = _how_many(task, values, most, moments)
    if task.drop_zeros:
        k = min(k, max(1, int(np.sum(values > max(moments.floor, 1e-12 * values[0])))))
    indefinite = _seen_indefinite(task, moments)
    stretched = _stretched(stream, values, V, k) if stream.stale and not indefinite else ()
    V = V[:, :k] * signs_by((features.own - moments.mean) @ V[:, :k])
    kept = np.where(values[:k] > moments.floor, values[:k], 0.0)
    certificate = certify_landmarks(
        kept,
        landmarks=features.count,
        seen=stream.seen,
        left=moments.left,
        total=(least, most),
        rounding=moments.rounding,
        standing="void" if indefinite else "proven" if task.kernel.psd else "if",
        stale=stream.stale,
        stretched=stretched,
    )
    V = V * (kept > 0)  # what is zero has scores zero
    return Components(
        plan=plan,
        certificate=certificate,
        n=stream.count,
        values=kept,
        total=max(most, 0.0),
        total_weight=moments.weight,
        projection=_seen_projection(task, features, moments, V),
        landmarks=features.rows,
        landmark_indices=stream.indices,
        stream=stream,
        indefinite=indefinite,
        warnings=_about_what_is_seen(task, stream.count, kept, values, most, indefinite),
    )


def _stretched(stream: Stream, values: Array, V: Array, k: int) -> list[Stretched]:
    """Where landmarks joined later: bounds on the ends between which the truth lies, for a few θ.

    From the eigenpairs S = VΛVᵀ of the scatter that are at hand, and no others. Between rows, with U = ΦVΛ^(−½), the
    upper end is ΦΦᵀ + θB̃B̃ᵀ ⪯ U(Λ + 2θP)Uᵀ + (λ + 2θ‖B̃‖²)(I − UUᵀ), where λ is the last of Λ, P = UᵀB̃B̃ᵀU = Λ^½VₗᵀVₗΛ^½
    and Vₗ are the rows of V that are later coordinates. The lower end lies above what any subspace sees of it. And both
    lie between 1 − θ and 1 + θ times ΦΦᵀ.
    """
    later = stream.moments.scatter[stream.settled :, stream.settled :]
    norm = float(np.abs(later).sum(axis=1).max(initial=0.0))
    V, few = V[:, :_MOST_SHARPENED], values[:_MOST_SHARPENED]
    of_later = V[stream.settled :] * np.sqrt(few)
    part = of_later.T @ of_later
    alone = V.copy()
    alone[stream.settled :] = 0.0
    W = np.linalg.qr(np.hstack([V, alone]))[0]
    whole, found = V.shape[1] == len(V), []
    for theta in map(float, angles(values[:k], stream.stale)):
        rest = 0.0 if whole else float(few[-1]) + 2 * theta * norm
        above = np.linalg.eigvalsh(np.diag(few) + (1 if whole else 2) * theta * part)
        above = np.sort(np.append(above, np.full(k, rest)))[::-1][:k]
        below = np.linalg.eigvalsh(W.T @ stream.stretched(1 - theta) @ W)[::-1][:k]
        below = np.pad(np.maximum(below, 0.0), (0, k - len(below)))
        found.append(
            Stretched(theta, np.maximum(below, (1 - theta) * values[:k]), np.minimum(above, (1 + theta) * values[:k]))
        )
    return found


def _seen_projection(task: Task, features: LandmarkMap, moments: Moments, V: Array) -> ByKernel:
    """y(x) = k(x, S) G − g₀; the mean of what is seen is Σ cₛφ(s) with c = L⁻ᵀ·mean, and as long as its features."""
    mean, to_rows = moments.mean, features.inverse
    return ByKernel(
        task.kernel, features.rows, to_rows @ V, mean @ V, 0.0, mean=to_rows @ mean, square=float(mean @ mean)
    )


def _seen_components(scatter: Array, k: int) -> tuple[Array, Array]:
    """The k largest variances that the landmarks see, none below zero, with their directions."""
    values, V = leading_eigenpairs(scatter, k)
    return np.maximum(values[:k], 0.0), V[:, :k]


def _seen_indefinite(task: Task, moments: Moments) -> bool:
    """Whether more than rounding was left below zero: no kernel does that which is one."""
    rounding = 100 * moments.floor / max(moments.diagonal, np.finfo(float).tiny)
    return not task.kernel.psd and moments.least < -min(max(_INDEFINITE, rounding), 0.5)


def _how_far(task: Task, features: LandmarkMap) -> int:
    """So many eigenvalues are looked at: a share, or all, may take any number."""
    if not isinstance(task.asked, Integral):
        return features.count
    return min(features.count, int(task.asked) + start_columns(int(task.asked)) + 1)


def _how_many(task: Task, values: Array, total: float, moments: Moments) -> int:
    """As many as were asked for, as explain the share or as a rule says: λ̂ against the most the total can be."""
    asked = task.asked
    if isinstance(asked, str):
        return number_by_rule(task, values, max(total, 0.0), moments.weight)
    if isinstance(asked, Integral) and asked > len(values):
        some = counted(len(values), "landmark")
        warn(f"n_components={asked} is more than the {some} that tell rows apart; all are kept.")
    return number_to_keep(asked, values, total if total > moments.floor else 0.0, more=False)


def _about_what_is_seen(task: Task, n: int, kept: Array, values: Array, total: float, indefinite: bool) -> list[str]:
    """What a user should be told about this answer."""
    if indefinite:
        return [
            "The kernel is not positive semi-definite, so neither the landmarks' intervals nor explained variance "
            'ratios mean anything; use eigen_solver="krylov".'
        ]
    if not np.any(kept > 0):
        return [all_the_same(task.kernel, n)]
    if isinstance(task.asked, float) and fewest_for_share(values, total, task.asked, more=False) is None:
        seen = float(shares(values, total).sum())
        return [
            f"n_components={task.asked} of the variance was asked for, but the landmarks see only {seen:.3g} of it; "
            f"all {len(kept)} components of theirs are kept. Give more n_landmarks."
        ]
    return []


# ---------------------------------------------------------------------- exact passes


def _refined(
    task: Task,
    plan: Plan,
    features: LandmarkMap,
    moments: Moments,
    answer: Components,
    rng: np.random.Generator,
    on_pass: OnPass,
) -> Components:
    """The same components after exact passes over the true matrix, with residuals; new rows are compared with all."""
    training, settings, k = task.training, plan.solver, len(answer.values)
    assert isinstance(settings, Landmarks)
    values, V = _seen_components(moments.scatter, min(features.count, k + start_columns(k)))
    held = "recomputed" if training.chunks is None else "spread"
    matrix = build_matrix(replace(plan, held=held), task.kernel, training, settings.threads, on_pass)
    scores = _seen_projection(task, features, moments, V).scores(training.data, settings.threads)
    beyond = float(values[k]) if k < len(values) else 0.0
    spectrum = find_spectrum(
        plan,
        matrix,
        k,
        rng,
        start=matrix.scale_rows(scores * inverse_root(values)),
        bound=beyond + moments.left + 2 * moments.rounding if task.kernel.psd else np.inf,
    )
    found = as_components(task, spectrum)
    return replace(found, warnings=[*answer.warnings, *found.warnings])
