"""Parts of the fit of kernel PCA: its input, its matrix, its components and its warnings."""

from collections.abc import Iterator
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from mercer.analysis.columns import FEW_SAMPLES, constant_text, dominating_text
from mercer.analysis.selection import Scree, choose_n_components
from mercer.certificates.residual import ResidualCertificate, direction_warnings
from mercer.compat.sklearn_private import InvalidParameter
from mercer.data.conversion import is_list_of_rows, list_of_objects
from mercer.data.dataset import ArrayDataset, Dataset, scaled
from mercer.errors import DataError, MemoryLimitError, MercerWarning, ParameterError, Remedy, note, warn
from mercer.kernels.base import FeatureMap, GammaMixin, Kernel
from mercer.kernels.dot import choose_origin
from mercer.linalg.dense import Dense
from mercer.linalg.eigen import Eigenpairs, clean_eigenvalues, solve_fraction
from mercer.linalg.gram import (
    Centered,
    GramMatrix,
    OperatorGram,
    PrecomputedGram,
    RecomputedGram,
    StoredGram,
)
from mercer.linalg.tiles import fill_symmetric
from mercer.numerics.blocking import slices
from mercer.numerics.rounding import UNIT
from mercer.numerics.threads import blas_threads_for_size
from mercer.planning.plan import Plan
from mercer.planning.plan_kernel import RULE_COMPONENTS, uses_landmarks
from mercer.text import counted, short_repr

_IDENTITY = 0.25  # median off-diagonal row sum up to which a matrix is close to the identity
_CONSTANT = 1e-3  # mean of 1 − k(x, y)/k(x, x) up to which it is close to constant
_FLAT = 1.01  # largest eigenvalue over their mean up to which no direction stands out
_SYMMETRIC, _SYMMETRIC_PRODUCTS = 1e-10, 1e-6  # asymmetry of a precomputed matrix that counts as rounding
_COMPARED, _SYMMETRIC_VALUES = 8, 1e-8  # samples that show whether a function is symmetric, and how closely
_PARALLEL_SAMPLES, _PERMUTATIONS = 1000, 19  # the largest of 19 is exceeded by noise in 1 of 20 cases

# ---------------------------------------------------------------------- input


def check_options(model: Any, kernel: Kernel) -> None:
    """Raise an error for parameters that contradict each other."""
    precomputed, landmarks = kernel.input_kind == "precomputed", uses_landmarks(model)
    if model.fit_inverse_transform and precomputed:
        raise ValueError("Cannot fit_inverse_transform with a precomputed kernel.")
    if model.standardize and (precomputed or kernel.input_kind not in ("vectors", "any")):
        what = "a precomputed matrix has none" if precomputed else f"{kernel.input_kind} have none"
        raise _contradiction("standardize", True, f"standardize=True divides columns of numbers, and {what}.")
    if isinstance(model.n_components, str) and model.n_components == "parallel" and precomputed:
        text = 'n_components="parallel" permutes columns, which a precomputed matrix does not have.'
        raise _contradiction("n_components", "parallel", text, Remedy("n_components", "elbow"))
    if not landmarks:
        return
    if model.n_landmarks is not None and model.landmarks is not None:
        raise _contradiction("landmarks", "…", "Pass n_landmarks or landmarks, not both.")
    if model.landmarks is not None and np.ndim(model.landmarks) == 0 and not hasattr(model.landmarks, "__len__"):
        raise ParameterError("landmarks", model.landmarks, "indices of rows, or rows")
    if model.eigen_solver in ("dense", "krylov"):
        text = f'Landmarks need eigen_solver="landmark" or "auto", not {model.eigen_solver!r}.'
        raise _contradiction("eigen_solver", model.eigen_solver, text, Remedy("eigen_solver", "landmark"))
    if precomputed:
        raise _contradiction(
            "eigen_solver",
            model.eigen_solver,
            "Landmarks are compared with all samples by a kernel, and a precomputed matrix has no samples. "
            "Pass the samples and a kernel object or function.",
        )


def _contradiction(parameter: str, value: Any, message: str, *remedies: Remedy) -> InvalidParameter:
    return InvalidParameter(parameter, value, "consistent with the others", message=message, remedies=remedies)


def kind_of(X: Any) -> str:
    """Kind of samples for a kernel that takes any: a list or column of objects that is no matrix has objects."""
    if isinstance(X, Dataset):
        return X.kind
    values = None if sparse.issparse(X) else list_of_objects(X)
    if not values or isinstance(values[0], (int, float, complex, np.number)) or is_list_of_rows(values):
        return "vectors"
    return "objects"


class OperatorDataset(ArrayDataset):
    """A kernel matrix that is known by its products, which need all rows at once."""

    kind = "precomputed"
    dtype = np.dtype(np.float64)

    def __init__(self, operator: LinearOperator) -> None:
        self.samples, self.shape = operator, operator.shape

    def blocks(self, size: int) -> Iterator[Any]:
        yield self.samples


def open_operator(model: Any, operator: LinearOperator, reset: bool) -> Dataset:
    """A kernel matrix that is known by its products: of all training samples, or between others and these."""
    if operator.dtype is not None and operator.dtype.kind == "c":
        raise DataError(f"Complex data not supported: the LinearOperator has type {operator.dtype}.")
    if reset:
        model.n_features_in_ = operator.shape[1]
        model.__dict__.pop("feature_names_in_", None)
    elif operator.shape[1] != model.n_features_in_:
        name = type(model).__name__
        raise DataError(
            f"X has {operator.shape[1]} features, but {name} is expecting {model.n_features_in_} features as input."
        )
    return OperatorDataset(operator)


def some_columns(K: Any, kept: NDArray) -> Any:
    """The columns of samples that were kept."""
    if not isinstance(K, LinearOperator):
        return K[:, kept]
    return K @ aslinearoperator(sparse.eye_array(len(kept), format="csc")[:, kept])


def check_square(shape: tuple[int, ...]) -> None:
    """Raise unless the kernel matrix of a fit is square."""
    if shape[0] != shape[1]:
        raise DataError(f"Precomputed kernel must be a square matrix. Input is a {shape[0]}x{shape[1]} matrix.")


def as_compared(kernel: Kernel, samples: Any, name: str = "X") -> Any:
    """Samples as the kernel takes them, numbers as floats, or an error."""
    if getattr(samples, "dtype", np.dtype(object)).kind in "iub":
        samples = samples.astype(np.float64)
    kernel.validate(samples, name)
    return samples


def divided(rows: Any, scale: NDArray | None) -> Any:
    """Rows in the units of standardized columns."""
    if scale is None:
        return rows
    return rows / scale if isinstance(rows, np.ndarray) else rows.multiply(1 / np.asarray(scale)).tocsr()


def multiplied(rows: Any, scale: NDArray | None) -> Any:
    """Standardized rows in the units of X."""
    if scale is None:
        return rows
    return rows * scale if isinstance(rows, np.ndarray) else rows.multiply(scale).tocsr()


def standardized(model: Any, data: Dataset, weights: NDArray | None, n_threads: int) -> Dataset:
    """The data with every column divided by its standard deviation; sets `scale_`. Nothing is subtracted."""
    from mercer.linalg.scatter import column_moments

    scatter = column_moments(data, weights, n_threads)
    if scatter.is_constant.any():
        warn(constant_text(scatter.is_constant, data.feature_names))
    model.scale_ = scatter.standard_deviations.astype(data.dtype if data.dtype.kind == "f" else np.float64)
    return scaled(data, np.asarray(model.scale_, dtype=np.float64))


def without_zero_weights(data: Dataset, weights: NDArray | None) -> tuple[Dataset, NDArray | None]:
    """The samples of positive weight, which are loaded if others are left out."""
    if weights is None or weights.all():
        return data, weights
    positive = weights > 0
    kept = ArrayDataset(data.load(positive), data.kind, owns_samples=True, source=data.source)
    kept.feature_names = data.feature_names
    return kept, weights[positive]


# ---------------------------------------------------------------------- the matrix


def moved_to_mean(
    plan: Plan, kernel: Kernel, X: Any, feature_map: FeatureMap | None
) -> tuple[NDArray | None, Kernel, FeatureMap | None]:
    """The mean row if rows are far from zero, and the kernel and its features with the origin there."""
    loses_mean_anyway = plan.route == "features" and feature_map is not None and feature_map.identity
    if kernel.input_kind != "vectors" or loses_mean_anyway:
        return None, kernel, feature_map
    origin = choose_origin(kernel, X)
    if origin is None:
        return None, kernel, feature_map
    moved = kernel.with_origin(origin)
    return origin, moved, moved.feature_map(X) if plan.route == "features" else feature_map


def build_gram(
    plan: Plan,
    kernel: Kernel,
    X: Any,
    feature_map: FeatureMap | None,
    weights: NDArray | None,
    n_threads: int,
    progress: Any,
    data: Dataset,
) -> GramMatrix:
    """The kernel matrix as the plan says; `data` is where X comes from."""
    if plan.route == "features":
        from mercer.linalg.feature_gram import FeatureGram, FeatureSolver

        assert feature_map is not None
        few_passes = isinstance(plan.solver, FeatureSolver) and isinstance(plan.solver.inner, Dense)
        return FeatureGram(feature_map, X, weights, n_threads, progress, recompute=few_passes)
    if plan.route == "precomputed":
        if isinstance(X, LinearOperator):
            return OperatorGram(_symmetric_operator(X))
        K, asymmetry = symmetric_part(X)
        return PrecomputedGram(K, n_threads, asymmetry)
    _check_symmetric(kernel, X)
    if plan.route == "distributed":
        from mercer.cluster import DistributedGram

        return DistributedGram(kernel, X, data, n_threads, progress, weights=weights)  # type: ignore[arg-type]
    if plan.route == "matrix-free":
        return RecomputedGram(kernel, X, n_threads, progress, weights=weights)
    return StoredGram(kernel, X, n_threads, progress)


def _check_symmetric(kernel: Kernel, X: Any) -> None:
    """Raise an error if a kernel that is not known to be one differs from its transpose, judged by a few samples."""
    if kernel.psd:
        return
    some = X[:: max(1, X.shape[0] // _COMPARED)][:_COMPARED]
    tile = kernel(some, some)
    difference, largest = float(np.abs(tile - tile.T).max()), float(np.abs(tile).max())
    if difference > _SYMMETRIC_VALUES * largest:
        raise DataError(
            f"{short_repr(kernel)} is not symmetric: k(x, y) and k(y, x) differ by up to {difference:.3g}. "
            "Check it with mercer.kernels.check_kernel."
        )


def symmetric_part(K: Any) -> tuple[Any, float]:
    """K itself and its asymmetry if that is rounding; else (K + Kᵀ)/2, with a warning."""
    K = K.astype(np.float64, copy=False)
    pieces = [slice(None)] if sparse.issparse(K) else slices(len(K), 256)
    difference = max(float(abs(K[rows] - K[:, rows].T).max()) for rows in pieces)
    largest = max(float(abs(K[rows]).max()) for rows in pieces)
    if difference <= _SYMMETRIC * largest:
        return K, difference
    warn(
        f"The precomputed kernel matrix is not symmetric: entries differ by up to {difference:.3g}. (K + Kᵀ)/2 is used."
    )
    return (K + K.T) / 2, UNIT * largest


def _symmetric_operator(operator: LinearOperator) -> LinearOperator:
    """The operator if xᵀAy = yᵀAx for two random vectors; products have no symmetric part."""
    x, y = np.random.default_rng(0).standard_normal((2, operator.shape[0], 1))
    Ax, Ay = operator.matmat(x), operator.matmat(y)
    size = float(np.linalg.norm(Ax) * np.linalg.norm(y) + np.linalg.norm(Ay) * np.linalg.norm(x))
    if not np.isfinite(Ax.sum() + Ay.sum()):
        raise DataError("The LinearOperator returned values that are not finite. Check its matvec.")
    difference = abs(float((x.T @ Ay)[0, 0] - (y.T @ Ax)[0, 0]))
    if difference > _SYMMETRIC_PRODUCTS * size:
        raise DataError(
            f"The LinearOperator is not symmetric: xᵀAy and yᵀAx differ by {difference:.3g} for random x and y. "
            "Check its matvec."
        )
    return operator


# ---------------------------------------------------------------------- components


class Samples(NamedTuple):
    """What the search for the number of components needs to know of the fit."""

    kernel: Kernel
    X: Any
    dtype: Any
    n_features: int  # of the exact feature map, 0 if there is none
    rng: Any


def find_components(model: Any, A: Centered, plan: Plan, samples: Samples, memory: int) -> Eigenpairs:
    """The leading pairs: a number, a fraction of the variance or a rule; without zero eigenvalues if that is wanted."""
    asked, rng = model.n_components, samples.rng
    if isinstance(asked, str) or asked is None or isinstance(asked, Integral):
        k = A.n if asked is None else RULE_COMPONENTS if isinstance(asked, str) else int(asked)
        if asked is None and plan.route == "features" and not isinstance(plan.solver, Dense):
            k = samples.n_features
        elif isinstance(asked, Integral) and k > A.n:
            warn(f"n_components={asked} exceeds the number of samples, {A.n:,}, and was reduced to it.")
        pairs = plan.solver.solve(A, min(k, A.n), rng)
    else:
        pairs = _solve_fraction(model, A, plan, samples, memory)
    if model.eigen_solver == "randomized" and len(pairs.values) and -pairs.lowest > pairs.values[-1]:
        clean_eigenvalues(np.append(pairs.values, pairs.lowest))  # scikit-learn's randomized solver looks at |λ|
    if asked is not None and not isinstance(asked, Integral):
        pairs = pairs.first(_choose(model, A, pairs, samples))
    if (model.remove_zero_eig or asked is None) and len(pairs.values):
        pairs = pairs.first(int(np.sum(pairs.values > max(A.floor, 1e-12 * pairs.values[0]))))
    return pairs


def _solve_fraction(model: Any, A: Centered, plan: Plan, samples: Samples, memory: int) -> Eigenpairs:
    """Ten pairs, then twice as many each time; LAPACK on the same matrix if they are more than a tenth of all."""
    n = A.n
    if not hasattr(plan.solver, "max_passes"):  # LAPACK, or the side of the features
        k = n if isinstance(plan.solver, Dense) else min(n, samples.n_features)
        return plan.solver.solve(A, k, samples.rng)

    def check(k: int) -> None:
        needed = plan.memory - plan.solver.memory(n, min(10, n)) + plan.solver.memory(n, k)
        _check_fraction_memory(model.n_components, needed, memory, k // 2)

    most = max(10, n // 10)
    pairs = solve_fraction(plan.solver, A, model.n_components, samples.rng, check, most)
    if not pairs.converged or float(pairs.values.sum()) > model.n_components * A.trace:
        return pairs
    _check_fraction_memory(model.n_components, plan.memory + 8 * 9 * n * n, memory, len(pairs.values))
    return Dense().solve(A, n, samples.rng)


def _check_fraction_memory(fraction: float, needed: int, limit: int, enough_for: int) -> None:
    if needed > limit:
        raise MemoryLimitError(
            f"n_components={fraction} needs more than {counted(enough_for, 'component')}, and more of them exceed the "
            "memory limit.",
            needed=needed,
            limit=limit,
            remedies=[Remedy("n_components", enough_for), Remedy("memory_limit", f"{needed / 1e9:.2g}GB")],
        )


def _choose(model: Any, A: Centered, pairs: Eigenpairs, samples: Samples) -> int:
    """The number of components for a fraction or a rule, at least one."""
    if model.n_components == "parallel":
        k = _parallel(samples, A.weights)
    else:
        complete = bool(np.maximum(pairs.values, 0.0).sum() >= (1 - 1e-9) * A.trace)
        weight, size = A.total_weight, samples.n_features or A.n
        scree = Scree(pairs.values, A.trace, weight, size, error=A.floor, complete=complete, kernel=True)
        k = choose_n_components(model.n_components, scree, samples.dtype, strict=False)
    if k < 1:
        warn(f"No component exceeds noise by n_components={model.n_components!r}. The first one is kept.")
    return max(1, k)


def _parallel(samples: Samples, weights: NDArray | None) -> int:
    """Leading eigenvalues above those of the same columns, each permuted by itself (Jørgensen and Hansen 2012).

    Both sides are exact eigenvalues of the same number of samples, up to 1,000.
    """
    kernel, X = samples.kernel, samples.X
    reason = "sample_weight was given" if weights is not None else ""
    if kernel.input_kind not in ("vectors", "any") or X.ndim != 2 or X.shape[1] < 2:
        reason = "there are fewer than two columns of numbers"
    if reason:
        text = f'n_components="parallel" permutes the columns of equally weighted rows, but {reason}.'
        raise _contradiction("n_components", "parallel", text, Remedy("n_components", "elbow"))
    rng, n = samples.rng(), X.shape[0]
    if n > _PARALLEL_SAMPLES:
        X = X[np.sort(rng.choice(n, _PARALLEL_SAMPLES, replace=False))]
    rows = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
    kernel = kernel.with_origin(rows.mean(axis=0))
    values = _spectrum(kernel, rows)
    limits = np.max([_spectrum(kernel, rng.permuted(rows, axis=0)) for _ in range(_PERMUTATIONS)], axis=0)
    below = np.flatnonzero(values <= limits * (1 + 1e-10))
    return int(below[0]) if len(below) else len(values)


def _spectrum(kernel: Kernel, rows: NDArray) -> NDArray:
    """All eigenvalues of the centered kernel matrix of few samples, largest first."""
    K = kernel(rows, rows)
    K -= K.mean(axis=0)
    K -= K.mean(axis=1)[:, None]
    return np.linalg.eigvalsh(K)[::-1]


# ---------------------------------------------------------------------- inverse by kernel ridge regression


def learn_inverse(
    kernel: Kernel, scores: NDArray, rows: NDArray, alpha: float, weights: NDArray | None, n_threads: int
) -> NDArray:
    """(K + αW⁻¹)⁻¹ X with the kernel K between training scores, as scikit-learn's inverse transform."""
    n = len(scores)
    ridge = alpha if weights is None else alpha / weights
    prepared, K = kernel.prepare(scores), np.empty((n, n))

    def fill() -> None:
        fill_symmetric(prepared, K, n_threads)
        np.fill_diagonal(K, prepared.diag + ridge)

    fill()
    rows = np.asarray(rows, dtype=np.float64)
    with blas_threads_for_size(float(n) ** 3, n_threads):
        try:  # the transpose is the same matrix in the order of LAPACK, so nothing is copied
            factor = linalg.cho_factor(K.T, lower=True, overwrite_a=True, check_finite=False)
            return np.asarray(linalg.cho_solve(factor, rows, check_finite=False))
        except linalg.LinAlgError:
            fill()  # Cholesky destroyed it
            return np.asarray(linalg.solve(K, rows, assume_a="sym", overwrite_a=True))


# ---------------------------------------------------------------------- warnings


def is_indefinite(pairs: Eigenpairs, A: Centered) -> bool:
    """Whether an eigenvalue is negative by more than rounding."""
    return bool(pairs.lowest < -max(1e-5 * float(pairs.values.max(initial=0.0)), 1e-10, A.floor))


def fit_warnings(
    model: Any, A: Centered, kernel: Kernel, X: Any, pairs: Eigenpairs, certificate: ResidualCertificate
) -> list[MercerWarning]:
    """What the user should know about the spectrum and the scale of the data."""
    indefinite = is_indefinite(pairs, A)
    if not (pairs.values > 0).any():
        return [without_structure(kernel, A.n, pairs.lowest if indefinite else 0.0)]
    of_scale, replaces = list[MercerWarning](), False
    if kernel.decreasing and A.n >= FEW_SAMPLES:
        own, row_sum = kernel.max_value or float(np.max(A.gram.diag())) + A.gram.shift, np.inf
        if not A.gram.by_features:
            relative = 1.0 if A.weights is None else A.weights / A.weights.mean()
            row_sum = float(np.partition(A.n * (A.means + A.gram.shift) / own - relative, A.n // 2)[A.n // 2])
        of_scale, replaces = scale_warnings(model, kernel, X, A.n, row_sum, A.trace / A.total_weight / own)
    if replaces:
        return of_scale
    if A.n >= FEW_SAMPLES and not indefinite and float(pairs.values[0]) * (A.n - 1) < _FLAT * A.trace:
        text = "All eigenvalues are nearly equal: no direction stands out, so the components are not meaningful."
        return [MercerWarning(text, "meaningless", _scale_remedies(model, kernel))]
    found = direction_warnings(certificate) if certificate.converged else []
    if indefinite:
        text = (
            f"The kernel matrix is not positive semi-definite: it has an eigenvalue of at most {pairs.lowest:.3g}, and "
            f"the largest is {pairs.values[0]:.3g}. Explained variance ratios are nan."
        )
        if kernel.input_kind == "precomputed":
            note(text)  # Isomap's matrices are, always
        else:
            found.insert(0, MercerWarning(text))
    return found + of_scale


def scale_warnings(
    model: Any, kernel: Kernel, X: Any, n: int, row_sum: float, spread: float
) -> tuple[list[MercerWarning], bool]:
    """Warnings about the scale of the data, and whether they replace all others.

    `row_sum` is the median off-diagonal sum of a row of the kernel matrix, `spread` the mean of 1 − k(x, y), both
    relative to k(x, x).
    """
    if n < FEW_SAMPLES or not kernel.decreasing:
        return [], False
    unit = ""
    if not model.standardize and kernel.input_kind == "vectors":
        unit = dominating_text(X, getattr(model, "feature_names_in_", None))
    if row_sum < _IDENTITY:
        size = f"{row_sum:.2g}" if row_sum > 1e-3 else "below 0.001"
        text = (
            f"The kernel matrix is close to the identity (median off-diagonal row sum {size}), so the "
            f"components are not meaningful. {unit}"
        )
        return [MercerWarning(text.strip(), "meaningless", _scale_remedies(model, kernel))], True
    if spread < _CONSTANT:
        linear = "PCA" if getattr(kernel, "smooth_at_zero", True) else "classical scaling of its distances"
        text = (
            f"The kernel is nearly constant on these data (mean similarity 1 − {spread:.1g}), so the "
            f"components are close to those of {linear}."
        )
        return [MercerWarning(text, "caution", _scale_remedies(model, kernel))], True
    if unit:
        text = f"{unit} Its scale decides which rows are near." if unit.startswith("Column ") else unit
        return [MercerWarning(text, "caution", [Remedy("standardize", True)])], False
    return [], False


def without_structure(kernel: Kernel, n: int, lowest: float = 0.0) -> MercerWarning:
    """All eigenvalues are zero, or negative down to `lowest`."""
    if n == 1:
        return MercerWarning("There is only one sample, so all scores are zero. Pass at least two.", "meaningless")
    if lowest < 0:
        text = (
            "The kernel matrix has no positive eigenvalue once it is centered, so all scores are zero. It has one of at"
            f" most {lowest:.3g}. Check that it contains similarities, not distances."
        )
        return MercerWarning(text, "meaningless")
    kinds = {
        "strings": "Are the strings equal, or too short to have anything in common?",
        "table": "Are all rows equal?",
    }
    guess = kinds.get(kernel.input_kind, "Are all rows equal, or is gamma far too small?")
    text = f"All samples are equal to this kernel, so all eigenvalues and scores are zero. {guess}"
    return MercerWarning(text, "meaningless")


def _scale_remedies(model: Any, kernel: Kernel) -> list[Remedy]:
    """What changes the scale of the kernel."""
    found = []
    if not model.standardize and kernel.input_kind == "vectors":
        found.append(Remedy("standardize", True))
    if isinstance(kernel, GammaMixin) and isinstance(model.kernel, str) and model.gamma != "median":
        found.append(Remedy("gamma", "median"))
    return found
