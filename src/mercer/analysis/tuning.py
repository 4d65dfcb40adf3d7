"""Choose a kernel, its bandwidth and the number of components by cross-validation: `tune` and gamma="cv"."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isqrt
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mercer.analysis.columns import dominating_text
from mercer.analysis.kernel_criteria import Criterion, ReconstructionError, TargetAlignment
from mercer.analysis.kernel_search import (
    NAMED_KERNELS,
    Candidate,
    PairwiseDistances,
    SearchResult,
    Trial,
    search_kernels,
    split_folds,
)
from mercer.analysis.labels import are_classes, as_labels, one_hot
from mercer.budget import Budget, format_bytes
from mercer.data.dataset import Dataset, scaled
from mercer.errors import DataError, MemoryLimitError, MercerWarning, ParameterError, Remedy, warn_each
from mercer.kernels.base import Kernel
from mercer.linalg.neighbors import group_duplicates
from mercer.numerics.random_state import as_generator
from mercer.progress import ProgressListener
from mercer.results import Result
from mercer.text import counted, joined, listed, short_repr, shorten

MAX_SAMPLES, N_FOLDS, N_COMPONENTS = 1000, 5, 10
_FEWEST = 50  # rows that a search needs, if there are more
_MATRICES, _COPIES = 8, 6  # arrays of n × n and n × d numbers at the peak of a search
_SMALLEST, _LARGEST = 1e-140, 1e140  # deviations from the mean whose squares are numbers
_CRITERIA = {"error": "cross-validated reconstruction error", "alignment": "alignment with the labels"}


@dataclass(frozen=True, eq=False)
class Tuning(Result):
    """Kernels and bandwidths that were compared, and the choice.

    Attributes
    ----------
    kernel : Kernel
        The chosen kernel with all parameters set.
    gamma : float or None
        Its gamma; None if it has none.
    n_components : int
        The smallest number of components within one standard error of the best number.
    criterion : {"error", "alignment"}
        What decided: the reconstruction error of held-out rows, or the alignment with the labels.
    by_n_components : dict
        The criterion of the chosen kernel by numbers of components, as the mean over the folds.
    n_samples, n_compared : int
        Number of rows of X, and of those that were used.
    warnings : tuple of MercerWarning
        What limits the choice.
    """

    kernel: Kernel
    gamma: float | None
    n_components: int
    criterion: str
    by_n_components: dict[int, float]
    n_samples: int
    n_compared: int
    standardize: bool
    search: SearchResult = field(repr=False)
    warnings: tuple[MercerWarning, ...] = ()

    @property
    def summary(self) -> str:
        """The chosen kernel with its criterion, and those of the others."""
        chosen, best, n_rivals = self.search.chosen, self.search.best, len(self.search.within_one_se)
        text = f"{_kernel_text(chosen.candidate)}: {_CRITERIA[self.criterion]} {self._value(chosen)}"
        others = [f"{self._value(trial)} for {name}" for name, trial in self._best_by_name().items()]
        text += f", against {joined(others)}." if others else "."
        if chosen is not best:
            rivals = f"{n_rivals} candidates are within one standard error of the best, {_kernel_text(best.candidate)}"
            text += f" {rivals}; of those, the first kernel that is as stable was chosen."
        used = "all" if self.n_compared == self.n_samples else f"{self.n_compared:,} of"
        return f"{text} Compared on {used} {counted(self.n_samples, 'row')}."

    def columns(self) -> dict[str, Sequence[Any]]:
        """One row for each candidate; nan where it was skipped or has no such value."""
        trials, sign = self.search.trials, _sign(self.criterion)
        return {
            "kernel": [trial.candidate.name for trial in trials],
            "gamma": [_or_nan(trial.candidate.gamma) for trial in trials],
            self.criterion: [np.nan if trial.skipped else sign * trial.loss for trial in trials],
            "standard_error": [np.nan if trial.skipped else trial.standard_error for trial in trials],
            "stability": [_or_nan(trial.stability) for trial in trials],
            "effective_rank": [trial.effective_rank for trial in trials],
            "skipped": [trial.skipped for trial in trials],
            "chosen": [trial is self.search.chosen for trial in trials],
        }

    def to_estimator(self, **params: Any) -> Any:
        """Return an unfitted `KernelPCA` with the chosen kernel and number of components.

        Parameters
        ----------
        **params : dict
            Other parameters of the estimator.

        Returns
        -------
        estimator : KernelPCA
            Not fitted yet.
        """
        from mercer.estimators.kernel_pca import KernelPCA

        chosen: dict[str, Any] = {
            "n_components": self.n_components,
            "kernel": self.kernel,
            "standardize": self.standardize,
        }
        return KernelPCA(**(chosen | params))

    def _value(self, trial: Trial) -> str:
        return f"{_sign(self.criterion) * trial.loss:.3g} ± {trial.standard_error:.2g}"

    def _best_by_name(self) -> dict[str, Trial]:
        """The best trial of every kernel but the chosen one."""
        best: dict[str, Trial] = {}
        for trial in self.search.trials:
            name = trial.candidate.name
            if not trial.skipped and (name not in best or trial.loss < best[name].loss):
                best[name] = trial
        best.pop(self.search.chosen.candidate.name)
        return best


def tune(
    X: Any,
    y: Any = None,
    *,
    kernels: Any = tuple(NAMED_KERNELS),
    n_components: int | None = None,
    cv: int = N_FOLDS,
    max_samples: int = MAX_SAMPLES,
    standardize: bool = False,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: ProgressListener = False,
) -> Tuning:
    """Compare kernels and bandwidths for kernel PCA by cross-validation.

    Without labels, the criterion is the squared error of held-out rows that a ridge regression reconstructs from their
    scores, relative to the squared error of the mean. With labels, it is the centered alignment of the kernel matrix
    with them.

    Parameters
    ----------
    X : {array-like, sparse matrix, pathlib.Path, Dataset} of shape (n_samples, n_features)
        Rows; with labels, samples of any kind that the kernels compare.
    y : array-like of shape (n_samples,), default=None
        Labels. Strings, Booleans and integers of up to 20 values are classes, others are numbers.
    kernels : sequence of str and Kernel, default=("linear", "cosine", "poly", "rbf", "matern", "laplacian")
        Names or kernel objects, in order of preference. For a gamma that is None, and for a length scale that is the
        default, 15 bandwidths are compared, from 0.01 to 100 over the median distance. "poly" has the degrees 2 and 3.
    n_components : int, default=None
        Number of components that kernels are compared by. None: 10, without labels at most half of the columns.
    cv : int, default=5
        Number of folds. Duplicate rows are in the same fold.
    max_samples : int, default=1000
        Maximum number of rows that are used. If there are more, a random sample is drawn.
    standardize : bool, default=False
        Divide every column by its standard deviation, as `KernelPCA` does.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the sample and the folds. None is a fixed seed.
    n_jobs : int, default=None
        Number of threads. None: all processors.
    progress : bool or callable, default=False
        As in `KernelPCA`; reports every candidate.

    Returns
    -------
    result : Tuning
        The chosen kernel, all candidates, and `to_estimator`.

    Notes
    -----
    Of the candidates within one standard error of the best, those are kept whose subspaces agree between folds as well
    as any. The kernel that comes first in `kernels` is chosen, with its best bandwidth. Bandwidths whose kernel matrix
    has an effective rank below 2 or above a fifth of the rows are skipped.

    To choose by the accuracy of a classifier on the scores, use
    ``GridSearchCV(make_pipeline(KernelPCA(10), LogisticRegression()), ...)``.

    Examples
    --------
    >>> from mercer.analysis.tuning import tune
    >>> from mercer.datasets import rings
    >>> X, ring = rings(100)
    >>> result = tune(X, ring, kernels=("linear", "rbf"))
    >>> type(result.kernel).__name__
    'RBF'
    """
    from mercer.estimators.kernel_pca import KernelPCA

    kernels = _check_kernels(kernels)
    _check_integers(cv=(cv, 2), max_samples=(max_samples, 2), n_components=(n_components or 1, 1))
    first = kernels[0] if isinstance(kernels[0], Kernel) else NAMED_KERNELS[kernels[0]][0]
    model, rng = KernelPCA(kernel=first, standardize=standardize, n_jobs=n_jobs), as_generator(random_state)
    model._validate_params()
    budget, data = model.resources(), model._open(X, reset=True)
    labels = _check_labels(y, data)
    names, source = data.feature_names, data.source.name
    data = _divided(data, budget.threads) if standardize else data
    indices = draw_samples(data, None, max_samples, budget.memory, rng)
    samples = take_samples(data, indices)
    for kernel in kernels:
        if isinstance(kernel, Kernel):
            kernel.validate(samples, source)

    distances = PairwiseDistances(samples, data.kind, budget.threads)
    some_labels = None if labels is None else labels[indices]
    k = n_components or (N_COMPONENTS if y is not None else max(1, min(N_COMPONENTS, data.shape[1] // 2)))
    result, criterion = _compare(distances, kernels, k, cv, rng, labels=some_labels, progress=progress)
    warnings = search_warnings(result, criterion)
    if data.kind == "vectors":
        warnings += _column_warnings(samples, names, standardize, None if y is not None else k)
    warn_each(warnings)
    chosen = result.chosen.candidate
    means = (criterion.sign * result.losses.mean(axis=1)).tolist()
    by_number = dict(zip(result.numbers, means, strict=True))
    choice = chosen.kernel, chosen.gamma, result.n_components, criterion.name, by_number
    return Tuning(*choice, len(data), len(indices), standardize, result, tuple(warnings))


def search_bandwidth(
    kernel: Kernel,
    data: Dataset,
    weights: NDArray | None,
    n_components: Any,
    rng: np.random.Generator,
    budget: Budget,
    progress: ProgressListener = False,
) -> Kernel:
    """The kernel with the gamma whose components reconstruct held-out rows best; issues warnings about the search."""
    remedy = Remedy("gamma", "median")
    samples = take_samples(data, draw_samples(data, weights, MAX_SAMPLES, budget.memory, rng, remedy))
    k = int(n_components) if isinstance(n_components, Integral) else N_COMPONENTS
    distances = PairwiseDistances(samples, data.kind, budget.threads)
    kernels = [kernel.with_params(gamma=None)]
    result, criterion = _compare(distances, kernels, k, N_FOLDS, rng, remedy=remedy, progress=progress)
    warn_each(search_warnings(result, criterion))
    return result.chosen.candidate.kernel


def _compare(
    distances: PairwiseDistances,
    kernels: Sequence[str | Kernel],
    n_components: int,
    cv: int,
    rng: np.random.Generator,
    *,
    labels: NDArray | None = None,
    remedy: Remedy | None = None,
    progress: ProgressListener = False,
) -> tuple[SearchResult, Criterion]:
    """Compare kernels by the alignment with labels, or by the reconstruction of the samples."""
    samples, groups = distances.samples, group_duplicates(distances.samples)
    n_different = len(np.unique(groups))
    if n_different < cv:
        remedies = [remedy or Remedy("cv", n_different)] if n_different > 1 else []
        text = f"Cross-validation with {cv} folds needs at least {cv} different rows, and X has {n_different:,}."
        raise DataError(text, remedies=remedies)
    if distances.kind == "vectors":
        _check_magnitudes(samples)
    criterion: Criterion
    if labels is None:
        fold = split_folds(groups, cv, rng)
        criterion = ReconstructionError(samples, fold, rng)
    else:
        if len(np.unique(labels, axis=0)) < 2:
            raise DataError("y is the same for all rows that are compared.", source="y")
        classes = labels if are_classes(labels) else None
        targets = labels.reshape(len(labels), -1).astype(np.float64) if classes is None else one_hot(labels)
        criterion = TargetAlignment(targets, split_folds(groups, cv, rng, classes))
    return search_kernels(distances, kernels, n_components, criterion, rng, progress), criterion


def _check_magnitudes(rows: NDArray) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        largest = float(np.abs(rows - rows.mean(axis=0)).max())
    if not _SMALLEST <= largest <= _LARGEST:
        what, which = ("underflow", "up") if largest < _SMALLEST else ("overflow", "down")
        raise DataError(
            f"Rows deviate from their mean by up to {largest:.3g}, so that squares {what}. Scale X {which}."
        )


def draw_samples(
    data: Dataset,
    weights: NDArray | None,
    most: int,
    memory: int,
    rng: np.random.Generator,
    remedy: Remedy | None = None,
) -> NDArray:
    """Indices of at most so many rows as the memory allows; if there are more, those of large weight are likelier."""
    positive = np.arange(len(data)) if weights is None else np.flatnonzero(weights > 0)
    width = _COPIES * (data.shape[1] if data.kind == "vectors" else 1)
    fitting = (isqrt(width**2 + _MATRICES * memory // 2) - width) // (2 * _MATRICES)  # 8m(8m + width) ≤ memory
    if fitting < min(len(positive), most, _FEWEST):
        m = min(len(positive), most, _FEWEST)
        needed = 8 * m * (_MATRICES * m + width)
        raise MemoryLimitError(
            f"A search with {m} rows needs {format_bytes(needed)}, more than the limit of {format_bytes(memory)}.",
            needed=needed,
            limit=memory,
            remedies=[remedy] if remedy else (),
        )
    size = min(most, fitting)
    if len(positive) <= size:
        return positive
    shares = None if weights is None else weights[positive] / weights[positive].sum()
    return np.sort(rng.choice(positive, size=size, replace=False, p=shares))


def take_samples(data: Dataset, indices: NDArray) -> Any:
    """Some samples; rows of numbers as a dense array of float64."""
    samples: Any = data.load() if data.in_memory and len(indices) == len(data) else data.take(indices)
    if data.kind != "vectors":
        return samples
    return np.asarray(samples.toarray() if sparse.issparse(samples) else samples, dtype=np.float64)


def search_warnings(result: SearchResult, criterion: Criterion) -> list[MercerWarning]:
    """What limits the choice."""
    found, chosen = [], result.chosen.candidate
    if result.is_flat:
        what = "bandwidths" if len({trial.candidate.name for trial in result.trials}) == 1 else "kernels"
        text = f"All {what} that were compared are within two standard errors of the best"
        found.append(f"{text} {_CRITERIA[criterion.name]}: the data do not show which is better.")
    if criterion.name == "error" and result.best.loss >= 1:
        error = f"relative {_CRITERIA['error']} {result.best.loss:.3g}"
        found.append(f"No kernel reconstructs held-out rows better than their mean does ({error}).")
    elif chosen.is_at_edge and not result.is_flat:
        which = "smallest" if (chosen.factor or 1.0) < 1 else "largest"
        found.append(f"The best gamma of {chosen.name}, {chosen.gamma:.3g}, is the {which} that was compared.")
    return [MercerWarning(text) for text in found]


def _column_warnings(rows: NDArray, names: Any, standardize: bool, n_components: int | None) -> list[MercerWarning]:
    """Constant columns, one that dominates, and too few for a comparison by so many components."""
    found = list[MercerWarning]()
    constant = np.flatnonzero((rows == rows[0]).all(axis=0))
    if len(constant):
        text = listed(str(j) if names is None else repr(names[j]) for j in constant)
        found.append(MercerWarning(f"Columns without variance in the rows that are compared: {text}."))
    if not standardize and (text := dominating_text(rows, names)):
        found.append(MercerWarning(text, remedies=[Remedy("standardize", True)]))
    if n_components is not None and n_components >= rows.shape[1]:
        text = f"n_components={n_components} is not less than the number of columns, so linear components lose nothing."
        found.append(MercerWarning(text, remedies=[Remedy("n_components", max(1, rows.shape[1] // 2))]))
    return found


def _check_integers(**parameters: tuple[Any, int]) -> None:
    for name, (value, least) in parameters.items():
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < least:
            raise ParameterError(name, value, f"an integer of at least {least}")


def _check_kernels(kernels: Any) -> list[str | Kernel]:
    """Known names and kernel objects that compare samples of the same kind."""
    requirement = f"a kernel object or one of {', '.join(NAMED_KERNELS)}, or a sequence of these"
    kernels = [kernels] if isinstance(kernels, (str, Kernel)) else kernels
    if not isinstance(kernels, Sequence) or not kernels:
        raise ParameterError("kernels", kernels, requirement)
    for kernel in kernels:
        if not isinstance(kernel, Kernel) and not (isinstance(kernel, str) and kernel in NAMED_KERNELS):
            message = f"kernels contains {short_repr(kernel)}; it must be {requirement}."
            raise ParameterError("kernels", kernel, requirement, message=message)
    kinds = {kernel.input_kind if isinstance(kernel, Kernel) else "vectors" for kernel in kernels}
    if "precomputed" in kinds or len(kinds - {"any"}) > 1:
        message = f"kernels compare {joined(sorted(kinds))}; all must compare samples of one kind."
        raise ParameterError("kernels", kernels, "kernels that compare the same samples", message=message)
    return list(kernels)


def _check_labels(y: Any, data: Dataset) -> NDArray | None:
    if y is None:
        if data.kind != "vectors":
            text = f"{data.source.name} has {data.kind}, and without labels, kernels are compared by how well rows of"
            raise DataError(f"{text} numbers are reconstructed. Pass y.", source=data.source.name)
        return None
    labels = as_labels(y)
    if labels.ndim == 0 or len(labels) != len(data):
        n_labels = len(labels) if labels.ndim else 0
        raise DataError(f"y has {counted(n_labels, 'label')}, but X has {counted(len(data), 'row')}.", source="y")
    return labels


def _divided(data: Dataset, n_threads: int) -> Dataset:
    """The data with every column divided by its standard deviation."""
    from mercer.linalg.scatter import column_moments

    if data.kind != "vectors":
        raise ParameterError("standardize", True, f"False for {data.kind}")
    return scaled(data, column_moments(data, None, n_threads).standard_deviations)


def _kernel_text(candidate: Candidate) -> str:
    """The kernel with three digits of its parameters."""
    text = re.sub(r"\d+\.\d+(e[+-]?\d+)?", lambda number: f"{float(number[0]):.3g}", repr(candidate.kernel))
    return shorten(text, 80)


def _sign(criterion: str) -> float:
    return -1.0 if criterion == "alignment" else 1.0


def _or_nan(value: float | None) -> float:
    return np.nan if value is None else value
