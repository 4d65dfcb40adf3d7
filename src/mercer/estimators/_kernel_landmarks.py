"""Kernel PCA by landmarks: which samples become landmarks, batches, and exact passes after them."""

from collections.abc import Callable
from contextlib import closing
from copy import copy
from dataclasses import fields, is_dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mercer.analysis.selection import Scree, choose_n_components
from mercer.certificates.nystrom import certify_nystrom
from mercer.certificates.residual import certify, direction_warnings
from mercer.data.conversion import list_of_objects
from mercer.data.dataset import ArrayDataset, Dataset
from mercer.data.validation import apply_sample_weight, as_dataset, check_sample_weight
from mercer.errors import DataError, MercerWarning, ParameterError, Remedy, warn, warn_each
from mercer.estimators._kernel_fit import (
    as_compared,
    build_gram,
    check_options,
    divided,
    multiplied,
    scale_warnings,
    without_structure,
    without_zero_weights,
)
from mercer.estimators._kernel_scores import LandmarkCentering
from mercer.kernels.base import Kernel
from mercer.kernels.dot import choose_origin
from mercer.linalg.completeness import N_PROBES
from mercer.linalg.eigen import apply_conventions, column_signs
from mercer.linalg.gram import Centered, KernelColumns, inverse_root
from mercer.linalg.krylov import GUARD
from mercer.linalg.landmarks import LandmarkFeatures, LandmarkState, Moments, accumulate_moments
from mercer.linalg.pivoted import pivoted_cholesky
from mercer.numerics.threads import working
from mercer.planning.plan import Plan
from mercer.planning.plan_kernel import plan_landmarks
from mercer.text import counted, short_repr

_ENOUGH = 1e-6  # fraction of the variance that landmarks may leave
_SAMPLE, _FEW = 256, 64  # samples that show where features are, and from which the variance is estimated
_INDEFINITE = 1e-9  # of k(x, x): what is left may be so much below zero by rounding
_WORSE = 1.5  # times what may be left: with less, landmarks that join widen the intervals more than they narrow them
_ROUNDED = 50  # units of rounding and landmarks: what is left below is rounding
Generator = Callable[[], np.random.Generator]


class Training(NamedTuple):
    """The samples of a fit or a batch."""

    data: Dataset  # of positive weight where they are in memory, scaled
    weights: NDArray | None
    given: Dataset  # all, as they were passed
    kept: NDArray | None  # indices of `data` among all; None: all

    def indices(self, numbers: NDArray) -> NDArray:
        """Indices among all samples."""
        return numbers if self.kept is None else self.kept[numbers]

    @property
    def n_positive(self) -> int:
        return len(self.data) if self.weights is None else int(np.count_nonzero(self.weights))


def training(data: Dataset, weights: NDArray | None, kernel: Kernel, given: Dataset, sample_weight: Any) -> Training:
    """With samples as the kernel takes them: numbers as floats, checked block by block."""
    kept = None if len(data) == len(given) else np.flatnonzero(check_sample_weight(sample_weight, len(given)))
    name = data.source.name
    if data.in_memory:
        data = ArrayDataset(as_compared(kernel, data.load(), name), data.kind, owns_samples=data.owns_samples)
    else:
        check = partial(_check_block, kernel, name)
        data = data.view(check, data.dtype if data.dtype.kind in "fO" else np.float64)
    return Training(data, weights, given, kept)


def _check_block(kernel: Kernel, name: str, block: Any, first_row: int) -> Any:
    return as_compared(kernel, block, name)


# ---------------------------------------------------------------------- fit


def fit_landmarks(model: Any, t: Training, kernel: Kernel, plan: Plan, rng: Generator) -> None:
    """Landmarks, one pass for the moments of their features, exact passes if wanted; sets every fitted attribute."""
    n_threads = model.resources().threads
    n_stages = (model.landmarks is None) + 1 + int(model.refine)
    with working(model.progress, n_stages, "choosing landmarks", n_threads) as progress:
        indices: NDArray | None
        pool = _pool(t, plan, rng) if model.landmarks is None else None
        sample = _few(t.data) if pool is None else _samples(t, pool)
        origin = choose_origin(kernel, sample) if kernel.input_kind == "vectors" else None
        moved = kernel if origin is None else kernel.with_origin(origin)
        if pool is not None:
            columns = KernelColumns(moved, sample, None if t.weights is None else t.weights[pool], None, n_threads)
            chosen = choose_landmarks(columns, plan.n_landmarks, model.tol or _ENOUGH, rng, n_threads, progress)
            samples, indices = sample[chosen], t.indices(pool[chosen])
        else:
            samples, indices = given_landmarks(model, t, kernel)
        if progress:
            progress.start("one pass over the samples")
        features, order = LandmarkFeatures.from_samples(moved, samples)
        few = sample if sample.shape[0] <= _SAMPLE else sample[_spread(sample.shape[0], _SAMPLE)]
        moments = accumulate_moments(t.data, t.weights, features, few, n_threads, progress)
        known = None if indices is None else indices[order]
        state = LandmarkState(features, moments, t.n_positive, len(t.given), known, features.n_landmarks)
        if model.landmarks is not None and len(order) < samples.shape[0]:
            left_out = samples.shape[0] - len(order)
            warn(
                f"{left_out:,} of the {samples.shape[0]:,} landmarks were left out: they are duplicates of others, or "
                "add nothing but rounding to them."
            )
        set_components(model, state, kernel, plan, t.data)
        if model.refine:
            if progress:
                progress.start("passes over the kernel matrix")
            _refine(model, t, state, kernel, origin, plan, rng, progress)


def _spread(n: int, count: int) -> NDArray:
    """Evenly spaced indices."""
    return np.linspace(0, n - 1, min(n, count)).astype(np.intp)


def _few(data: Dataset) -> Any:
    """A few samples: evenly spaced in memory, the first ones of a file."""
    if data.in_memory:
        return data.take(_spread(len(data), _SAMPLE))
    return next(iter(data.blocks(min(_SAMPLE, len(data)))))


# ---------------------------------------------------------------------- which samples


def _pool(t: Training, plan: Plan, rng: Generator) -> NDArray:
    """Indices of the samples of positive weight among which landmarks are chosen."""
    pool = np.arange(len(t.data)) if t.weights is None else np.flatnonzero(t.weights > 0)
    if plan.pool_size < len(pool):
        pool = np.sort(rng().choice(pool, plan.pool_size, replace=False))
    return pool


def _samples(t: Training, pool: NDArray) -> Any:
    return t.data.load() if len(pool) == len(t.data) else t.data.take(pool)


def choose_landmarks(
    K: KernelColumns, most: int, tol: float, rng: Generator, n_threads: int, progress: Any = None
) -> NDArray:
    """Samples drawn where the matrix is approximated worst, until a fraction of the *variance* is left.

    The trace before centering may be a multiple of the variance.
    """
    enough = tol * _variance_share(K)
    pivots = pivoted_cholesky(K, most, rng, tol=enough, n_threads=n_threads, progress=progress).pivots
    return pivots if len(pivots) else np.zeros(1, dtype=np.intp)  # a kernel that is zero everywhere


def _variance_share(K: KernelColumns) -> float:
    """The variance as a fraction of the trace, from a few samples."""
    some = _spread(K.n, _FEW)
    block = K.block(some, some)
    return max(1 - float(block.mean()) / max(float(block.diagonal().mean()), np.finfo(float).tiny), 0.0)


def given_landmarks(model: Any, t: Training, kernel: Kernel) -> tuple[Any, NDArray | None]:
    """The landmarks that the user passed: indices of samples if one-dimensional and integer, or samples."""
    given, data = model.landmarks, t.given
    if _are_indices(given):
        indices = np.asarray(list(given) if isinstance(given, range) else given)
        wrong = indices[(indices < 0) | (indices >= len(data))]
        if len(wrong):
            raise DataError(
                f"landmarks are indices of rows from 0 to {len(data) - 1:,}, and {wrong[0]} is not.", source="landmarks"
            )
        samples = data.take(indices)
    else:
        indices = None
        values = np.asarray(given) if data.kind == "vectors" and not sparse.issparse(given) else None
        if values is not None and (values.ndim != 2 or values.dtype.kind not in "fiub"):
            raise DataError(
                f"landmarks must be indices of rows, or rows of {counted(data.shape[1], 'column')} like X; got an "
                f"array of shape {values.shape} and type {values.dtype}.",
                source="landmarks",
            )
        checked = copy(model)
        if not hasattr(given, "columns"):
            vars(checked).pop("feature_names_in_", None)  # an array of landmarks needs no names
        samples = as_dataset(given, checked, reset=False, kind=data.kind).load()
    samples = as_compared(kernel, samples, "landmarks")
    if samples.shape[0] == 0:
        raise ParameterError("landmarks", "[]", "at least one row or index")
    if data.kind == "vectors" and t.data.dtype.kind == "f":
        samples = samples.astype(t.data.dtype, copy=False)
    return divided(samples, getattr(model, "scale_", None)), indices


def _are_indices(given: Any) -> bool:
    if isinstance(given, range):
        return True
    if sparse.issparse(given) or hasattr(given, "columns"):
        return False
    values = given if isinstance(given, np.ndarray) else list_of_objects(given)
    if values is None:
        values = np.asarray(given)
    if isinstance(values, np.ndarray):
        return values.ndim == 1 and values.size > 0 and values.dtype.kind in "iu"
    return bool(values) and all(isinstance(value, Integral) and not isinstance(value, bool) for value in values)


# ---------------------------------------------------------------------- from moments to components


def set_components(model: Any, state: LandmarkState, kernel: Kernel, plan: Plan, data: Dataset) -> None:
    """PCA of the features, as functions of new samples: y(x) = k(x, S)·L⁻ᵀV − Vᵀ·mean."""
    m, features, asked = state.moments, state.features, model.n_components
    r, (_, most) = features.n_landmarks, state.variance
    dtype = np.dtype(getattr(model, "_dtype", "float32" if data.dtype == np.float32 else "float64"))
    wanted = min(r, int(asked) + GUARD + N_PROBES) if isinstance(asked, Integral) else r
    values, V = state.eigenpairs(wanted)
    k = _count_components(model, state, values, most, dtype)
    indefinite = not kernel.psd and _is_indefinite(m, features.kernel, data)
    kept = np.where(values[:k] > m.floor, values[:k], 0.0)
    certificate = certify_nystrom(
        state,
        kept,
        values[k:],
        () if indefinite else state.stretched_ends(values, V, k + 1),
        status="invalid" if indefinite else "proven" if kernel.psd else "assumed",
    )
    V = V[:, :k] * column_signs((features.factor - m.mean) @ V[:, :k]) * (kept > 0)
    model.plan_, model.certificate_ = plan, certificate.for_attributes(dtype)
    model.kernel_, model.gamma_ = kernel, model._gamma(kernel, data.shape[1])
    model._set_spectrum(kept, state.n_samples, max(most, 0.0), m.weight, indefinite, dtype)
    model.landmarks_ = multiplied(features.samples, getattr(model, "scale_", None))
    model.landmark_indices_ = state.indices
    model._centering = LandmarkCentering(
        kernel=features.kernel,
        samples=features.samples,
        alpha=features.inverse.T @ V,
        offset=m.mean @ V,
        shares=features.inverse.T @ m.mean,
        mean=float(m.mean @ m.mean),
        total_weight=m.weight,
    )
    model._landmark_state, model._dtype, model.n_samples_seen_ = state, dtype.name, state.n_samples
    warn_each(_warnings(model, state, kernel, kept, most, indefinite))
    if model.fit_inverse_transform:
        scores = model._scorer().scores(features.samples, model.resources().threads)
        model._learn_inverse(scores, features.samples, None, dtype)


def _is_indefinite(m: Moments, kernel: Kernel, data: Dataset) -> bool:
    """Whether the landmarks leave less than nothing, or entries differ from zero and the diagonal does not."""
    if m.diagonal == 0:
        few = _few(data)
        return bool(np.any(kernel(few, few)))
    return m.least < -min(max(_INDEFINITE, 100 * m.floor / max(m.diagonal, 1e-300)), 0.5)


def _count_components(model: Any, state: LandmarkState, values: NDArray, most: float, dtype: Any) -> int:
    """The number, the fraction against the most that the variance can be, or a rule."""
    m, asked = state.moments, model.n_components
    if isinstance(asked, Integral) and int(asked) > len(values):
        warn(
            f"n_components={asked} exceeds the {counted(len(values), 'landmark')} that differ: all components are kept."
        )
    if asked == "parallel":
        raise ParameterError(
            "n_components",
            asked,
            "a number or another rule for landmarks",
            message='n_components="parallel" permutes columns and compares all rows exactly, without landmarks.',
            remedies=[Remedy("n_components", "elbow")],
        )
    total = max(most, 0.0) if most > m.floor else 0.0
    complete = bool(values.sum() >= (1 - 1e-9) * total)
    scree = Scree(values, total, m.weight, state.features.n_landmarks, error=m.floor, complete=complete, kernel=True)
    k = max(1, choose_n_components(asked, scree, dtype, strict=False))
    if model.remove_zero_eig or asked is None:
        k = min(k, max(1, int(np.sum(values > max(m.floor, 1e-12 * values[0])))))
    if isinstance(asked, float) and k == len(values) and total > 0:
        seen = float(values.sum()) / total
        if seen < asked - 1e-12:
            warn(
                f"n_components={asked} of the variance was requested, but the landmarks see only {seen:.3g} of it. All "
                f"{k} components are kept.",
                remedies=[Remedy("n_landmarks", 2 * state.features.n_landmarks)],
            )
    return k


def _warnings(
    model: Any, state: LandmarkState, kernel: Kernel, kept: NDArray, most: float, indefinite: bool
) -> list[MercerWarning]:
    """What the user should know about the spectrum and the scale of the data."""
    if indefinite:
        text = "The kernel is not positive semi-definite, so neither intervals nor explained variance ratios are known."
        return [MercerWarning(text, remedies=[Remedy("eigen_solver", "krylov")])]
    if not (kept > 0).any():
        return [without_structure(kernel, state.n_samples)]
    m, f = state.moments, state.features
    own = np.asarray(f.kernel.diag(f.samples), dtype=np.float64)
    own = np.where(own > 0, own, 1.0)
    row_sums = state.n_samples * (f.factor @ m.mean) / own - (0.0 if state.indices is None else 1.0)
    spread = most / m.weight / float(own.max())
    return scale_warnings(model, kernel, f.samples, state.n_samples, float(np.median(row_sums)), spread)[0]


# ---------------------------------------------------------------------- exact passes


def _refine(
    model: Any,
    t: Training,
    state: LandmarkState,
    kernel: Kernel,
    origin: NDArray | None,
    plan: Plan,
    rng: Generator,
    progress: Any,
) -> None:
    """Exact passes over the matrix, from the scores by landmarks; new samples are compared with all others then.

    For positive semi-definite kernels, λₖ₊₁ ≤ λ̂ₖ₊₁ + left bounds what was missed, rounding aside.
    """
    data, weights = without_zero_weights(t.data, t.weights)
    X, n_threads, m = data.load(), model.resources().threads, state.moments
    route = "distributed" if t.data.n_workers and kernel.psd else "matrix-free"
    k = len(model.eigenvalues_)
    values, V = state.eigenpairs(min(state.features.n_landmarks, k + GUARD))
    f = state.features
    start = model._scorer().with_coefficients(f.inverse.T @ V, m.mean @ V).scores(X, n_threads)
    with closing(
        build_gram(replace(plan, route=route), f.kernel, X, None, weights, n_threads, progress, t.data)
    ) as gram:
        A = Centered(gram, weights)
        pairs = plan.solver.solve(A, k, rng, start=A.times_root(start * inverse_root(values)))
    bound = (float(values[k]) if k < len(values) else 0.0) + m.left + 2 * m.rounding if kernel.psd else np.inf
    evidence = "what the landmarks leave" if kernel.psd else "not known for this kernel"
    certificate = certify(pairs, tol=plan.tol, bound=bound, evidence=evidence, entry_error=A.entry_error)
    pairs = apply_conventions(pairs, floor=A.floor, root=A.root)
    del model._landmark_state  # sums over features say less than the exact pass
    model._set_exact(data, X, kernel, plan, A, pairs, certificate, origin)
    warn_each(direction_warnings(certificate))


# ---------------------------------------------------------------------- batches


def fit_batch(model: Any, X: Any, sample_weight: Any, rng: Generator) -> None:
    """Components of all samples so far and a batch."""
    _check_batch_parameters(model)
    state: LandmarkState | None = vars(model).get("_landmark_state")
    given = model._open(X, reset=state is None)
    data, weights = apply_sample_weight(given, sample_weight)
    if state is None:
        kernel = model._kernel()
        check_options(model, kernel)
        kernel = model._resolve(kernel, data, weights, rng)
        t = training(data, weights, kernel, given, sample_weight)
        fit_landmarks(model, t, kernel, plan_landmarks(model, data, kernel, "rows come in batches."), rng)
        return
    kernel, n_known = model.kernel_, state.features.n_landmarks
    _check_same_kernel(model, kernel)
    t = training(data, weights, kernel, given, sample_weight)
    plan = plan_landmarks(model, data, kernel, "rows come in batches.", n_samples=max(len(data), state.n_samples))
    most = 0 if model.landmarks is not None else plan.n_landmarks - n_known
    n_threads = model.resources().threads
    with working(model.progress, 2, "looking for landmarks that join", n_threads) as progress:
        sample = None
        if most > 0:
            state, sample = _with_joining(model, t, state, plan, min(most, len(data)), rng, n_threads, progress)
        few = _few(t.data) if sample is None or sample.shape[0] < 2 else sample[_spread(sample.shape[0], _SAMPLE)]
        moments = accumulate_moments(t.data, t.weights, state.features, few, n_threads, progress)
        state = state.add(moments, t.n_positive, len(given))
        set_components(model, state, kernel, plan, t.data)


def _with_joining(
    model: Any, t: Training, state: LandmarkState, plan: Plan, most: int, rng: Generator, n_threads: int, progress: Any
) -> tuple[LandmarkState, Any]:
    """Landmarks join if the batch leaves clearly more than the samples before; also the samples that were looked at."""
    pool, features = _pool(t, plan, rng), state.features
    sample = _samples(t, pool)
    weights = None if t.weights is None else t.weights[pool]
    gram = KernelColumns(features.kernel, sample, weights, None, n_threads)
    F = features.transform(sample, n_threads)
    F = F if gram.root is None else F * gram.root[:, None]
    rest = KernelColumns(features.kernel, sample, weights, F, n_threads)
    weight = float(len(pool) if weights is None else weights.sum())
    if not weight:
        return state, sample
    left, whole = float(np.maximum(rest.diag(), 0.0).sum()), float(gram.diag().sum())
    allowed = weight * _as_before(model, state, gram, whole / weight, left / weight)
    allowed = max(allowed, _ROUNDED * plan.n_landmarks * float(np.finfo(float).eps) * whole)
    if left > _WORSE * allowed:
        found = pivoted_cholesky(rest, most, rng, tol=allowed / left, n_threads=n_threads, progress=progress).pivots
        state = state.extend(sample[found], state.n_given + t.indices(pool[found])) if len(found) else state
    return state, sample


def _as_before(model: Any, state: LandmarkState, K: KernelColumns, diagonal: float, left: float) -> float:
    """What may be left of a sample: of the variance of samples now, the fraction that was left before, or `tol`.

    The variance now is at least that before, that within the batch, and what the landmarks leave of it.
    """
    m = state.moments
    before = max(m.variance[1], 0.0)
    share = min(m.left / max(before, 1e-300), 1.0) if before > m.rounding else 0.0
    return max(share, model.tol or _ENOUGH) * max(_variance_share(K) * diagonal, before / m.weight, left)


def check_batches(model: Any) -> None:
    """Raise for a model that does not take batches, before its parameters are looked at."""
    if model._kernel_kind == "precomputed":
        raise NotInBatchesError(
            "partial_fit takes samples and a kernel: a precomputed matrix has no entries between batches."
        )
    if model.eigen_solver in ("dense", "krylov"):
        raise NotInBatchesError(
            f"partial_fit needs landmarks, and eigen_solver={model.eigen_solver!r} compares all samples. Try "
            'eigen_solver="auto".'
        )
    if "eigenvalues_" in vars(model) and "_landmark_state" not in vars(model):
        why = "the model was loaded from a file, which does not contain the sums over its samples"
        why = why if hasattr(model, "landmarks_") else "this fit compared all samples exactly"
        raise NotInBatchesError(f"partial_fit continues a fit by landmarks, but {why}. Begin with a new model.")


class NotInBatchesError(AttributeError, ValueError):
    """The model does not have `partial_fit`, so hasattr is False."""


def _check_batch_parameters(model: Any) -> None:
    """Raise for what needs all samples at once."""
    if model.refine:
        text = "refine needs passes over all samples, and partial_fit reads each of them once."
        raise ParameterError("refine", model.refine, "0", message=text, remedies=[Remedy("refine", 0)])
    if model.standardize:
        text = "standardize divides by the standard deviations of all rows, which a batch does not show. Scale X first."
        remedies = [Remedy("standardize", False)]
        raise ParameterError("standardize", True, "False", message=text, remedies=remedies)


def _check_same_kernel(model: Any, fitted: Kernel) -> None:
    requested = model._kernel()
    if not _may_be(requested, fitted):
        text = (
            f"partial_fit continues with {short_repr(fitted)}, but the parameters now request {short_repr(requested)}. "
            "Set them back, or begin with a new model."
        )
        raise ParameterError("kernel", model.kernel, "that of the batches before", message=text)


def _may_be(requested: Any, found: Any) -> bool:
    """Whether a kernel is the one that was requested: what is left to the data may be any number."""
    if requested is None or isinstance(requested, str):
        return True
    if isinstance(requested, tuple):
        return isinstance(found, tuple) and len(requested) == len(found) and all(map(_may_be, requested, found))
    if isinstance(requested, Kernel) and is_dataclass(requested):
        pairs = ((getattr(requested, each.name), getattr(found, each.name, None)) for each in fields(requested))
        return type(requested) is type(found) and all(_may_be(*pair) for pair in pairs)
    return bool(requested == found)
