"""`mercer.tune`: which kernel, which bandwidth, how many components."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.metrics import get_scorer

from mercer_old.arrays import Array, Held, dense
from mercer_old.errors import BadData, in_short, joined, listed, warn_each
from mercer_old.fits.kernel.opening import open_training
from mercer_old.fits.kernel.searching import COMPONENTS, FOLDS, SAMPLE, dense_sample, rows_within, sample_numbers
from mercer_old.fits.training import Training
from mercer_old.kernels import Kernel
from mercer_old.kernels.base import kind_of_items, n_rows
from mercer_old.kernels.domain import without_negative
from mercer_old.models.kernel_pca import KernelPCA
from mercer_old.progress import Listener
from mercer_old.readings.chance import generator_from
from mercer_old.readings.columns import about_units
from mercer_old.readings.targets import are_classes, as_labels, as_targets
from mercer_old.readings.tuning.candidates import NAMED, USUAL
from mercer_old.readings.tuning.comparing import Comparison, JudgeOf, compare_kernels
from mercer_old.readings.tuning.judges import Alignment, Downstream
from mercer_old.readings.tuning.wording import doubts
from mercer_old.studies.tuned import Tuning, as_record

__all__ = ["tune"]


def tune(
    X: Any,
    y: Any = None,
    *,
    kernels: Sequence[Any] = USUAL,
    n_components: int | None = None,
    scoring: str | None = None,
    folds: int = FOLDS,
    subsample: int = SAMPLE,
    standardize: bool = False,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: Listener = False,
) -> Tuning:
    """Compare kernels and bandwidths on the same rows, and say which to take and why.

    Without labels by the way back: components of all folds but one, a ridge regression from their scores to rows, and
    ‖x − x̂‖² of the rows left out over their ‖x − mean‖². That is an error in the units of X, so that kernels can be
    compared, which their own errors cannot. With labels by centred alignment, ⟨JKJ, YYᵀ⟩/(‖JKJ‖‖JYYᵀJ‖), or with
    `scoring` by what a linear model predicts from the components. Of the candidates within a standard error of the
    best, those whose subspaces agree between folds as well as any come first, of these the kernel that is named first,
    of one kernel the best bandwidth.

    Parameters
    ----------
    X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
        The rows; or items of any kind that the kernels compare, if y is given.
    y : array-like of shape (n_samples,), default=None
        Labels, or numbers: texts, truth values and whole numbers of up to 20 values are classes.
    kernels : sequence of str and Kernel, default=("linear", "cosine", "poly", "rbf", "matern", "laplacian")
        Names, or kernels of `mercer.kernels`, from those you would rather take to others. A bandwidth that is left out
        (``RBF()``, but not that of a sum) is looked for: fifteen from 0.01 to 100 over the median distance; "poly" is
        of degrees 2 and 3.
    n_components : int, default=None
        By how many components kernels are compared. None: 10, and without labels no more than half the columns.
    scoring : str, default=None
        With y: a scorer of scikit-learn, such as "accuracy" or "r2".
    folds : int, default=5
        How many; equal rows are in the same.
    subsample : int, default=1000
        How many rows are looked at, drawn by chance if there are more.
    standardize : bool, default=False
        As of `KernelPCA`.
    random_state : int, Generator, RandomState or None, default=None
        Of the sample and the folds. None is a fixed seed.
    n_jobs : int, default=None
        Threads.
    progress : bool or callable, default=False
        As of `KernelPCA`: told of every candidate.

    Returns
    -------
    tuning : Tuning
        ``kernel``, ``gamma``, ``n_components`` (the fewest within a standard error of all that were asked for),
        ``reason``, ``table``, ``estimator()``, ``plot()``; print it.

    Examples
    --------
    >>> import mercer
    >>> from mercer.datasets import rings
    >>> X, ring = rings(100)
    >>> found = mercer.tune(X, ring, kernels=("linear", "rbf"))
    >>> type(found.kernel).__name__, found.estimator().fit(X).transform(X).shape
    ('RBF', (200, 1))
    """
    kernels = _checked_kernels(kernels)
    _refuse_numbers(n_components=n_components, folds=folds, subsample=subsample)
    first = kernels[0] if isinstance(kernels[0], Kernel) else NAMED[kernels[0]][0]
    model = KernelPCA(kernel=first, standardize=standardize, n_jobs=n_jobs)
    model.check_params()
    limits, rng = model._limits(), generator_from(random_state)
    training = _opened(model, X, kernels)
    rows, labels = _sampled(training, y, min(subsample, rows_within(limits.memory)), rng)
    judge_of, classes = _judge(labels, scoring)
    k = _number_to_compare(n_components, rows, labels is not None)
    compared = compare_kernels(
        rows, kernels, k, folds, rng, judge_of=judge_of, classes=classes, threads=limits.threads, progress=progress
    )
    names = getattr(model, "feature_names_in_", None)
    said = [*doubts(compared), *_about_rows(rows, names, kernels, standardize), *_about_linear(compared, rows)]
    warn_each(said)
    return as_record(compared, tuple(said), standardize, len(training.items), n_rows(rows))


# ---------------------------------------------------------------------- what comes in


def _checked_kernels(kernels: Any) -> list[Any]:
    """Names that are known and kernels, all of which compare the same kind of things."""
    if not isinstance(kernels, (str, Kernel, Sequence)):
        raise ValueError(f"kernels must be names or kernels; got {in_short(kernels)}.")
    listed_kernels = [kernels] if isinstance(kernels, (str, Kernel)) else list(kernels)
    if not listed_kernels:
        raise ValueError("kernels is empty: name at least one.")
    for each in listed_kernels:
        if not isinstance(each, Kernel) and not (isinstance(each, str) and each in NAMED):
            raise ValueError(f"kernels has {in_short(each)}; the names are {joined(USUAL)}, others as mercer.kernels.")
    kinds = sorted({kind_of_items(each) if isinstance(each, Kernel) else "rows" for each in listed_kernels})
    if len(kinds) > 1:
        raise ValueError(f"kernels compare {joined(kinds)}: kernels of one kind can be compared with each other.")
    return listed_kernels


def _refuse_numbers(**numbers: Any) -> None:
    for name, value in numbers.items():
        least = 1 if name == "n_components" else 2
        if value is None and name == "n_components":
            continue
        if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
            raise ValueError(f"{name} must be a whole number of at least {least}; got {in_short(value)}.")


def _opened(model: KernelPCA, X: Any, kernels: list[Any]) -> Training:
    """The items, admitted by every kernel."""
    training = open_training(model, X, None, model._limits(), look=True)
    for each in kernels:
        if isinstance(each, Kernel):
            each.admit(training.items, training.items.label)
            if each.non_negative:
                without_negative(training.items, each, model)
    return training


def _sampled(training: Training, y: Any, size: int, rng: np.random.Generator) -> tuple[Held, Array | None]:
    """Some items, and their labels."""
    items = training.items
    if y is None:
        if items.kind != "rows":
            raise BadData(
                f"Without labels kernels are compared by the way back to rows of numbers, and {items.label} has "
                f"{items.kind}: give y."
            )
        return dense_sample(items, size, rng), None
    labels = as_labels(y)
    if labels.ndim == 0 or len(labels) != len(items):
        raise ValueError(f"y has {labels.shape[0] if labels.ndim else 'no'} labels, and X has {len(items):,} rows.")
    some = sample_numbers(len(items), size, rng)
    return (dense(items[some], np.float64) if items.kind == "rows" else items[some]), labels[some]


def _judge(labels: Array | None, scoring: Any) -> tuple[JudgeOf | None, Array | None]:
    """Who compares, and the classes if labels are some."""
    if labels is None:
        if scoring is not None:
            raise ValueError(f"scoring={in_short(scoring)} compares with labels: give y.")
        return None, None
    if len(np.unique(labels, axis=0)) < 2:
        raise BadData("y is the same for all rows that were looked at: there is nothing to tell apart.")
    classes = are_classes(labels)
    if scoring is None:
        targets = as_targets(labels, classes)
        return lambda fold, rng: Alignment(targets, fold), labels if classes else None
    try:
        scorer = get_scorer(scoring)
    except (ValueError, TypeError):
        raise ValueError(
            f"scoring={in_short(scoring)} is no scorer of scikit-learn, such as 'accuracy' or 'r2'."
        ) from None
    if classes and (fewest := int(np.unique(labels, return_counts=True)[1].min())) < 2:
        raise BadData(f"A class of y has {fewest} row: to be learned and predicted it takes at least 2.")
    return lambda fold, rng: Downstream(labels, classes, fold, scorer), labels if classes else None


def _number_to_compare(asked: int | None, rows: Held, labelled: bool) -> int:
    """Without labels fewer than columns, which would lead back without error whatever the kernel."""
    if asked is not None:
        return int(asked)
    return COMPONENTS if labelled else max(1, min(COMPONENTS, rows.shape[1] // 2))


# ---------------------------------------------------------------------- what is said


def _about_rows(rows: Held, names: Any, kernels: list[Any], standardize: bool) -> list[str]:
    """Columns that say nothing, and one that says everything."""
    if not (isinstance(rows, np.ndarray) and rows.ndim == 2):
        return []
    same = np.flatnonzero((rows == rows[0]).all(axis=0))
    named = listed(str(j) if names is None else repr(names[j]) for j in same)
    which = f"Columns {named} are" if len(same) > 1 else f"Column {named} is"
    said = [f"{which} constant in the rows that were looked at: no use as a feature."] if len(same) else []
    return said + ([] if standardize else about_units(rows, names))


def _about_linear(compared: Comparison, rows: Held) -> list[str]:
    """Whether so many components are as good as the columns themselves."""
    if compared.judge.word != "error" or rows.shape[1] > compared.k:
        return []
    return [
        f"n_components={compared.k} is as many as there are columns, to which linear components lead back without "
        "error: compare kernels by fewer, or give y."
    ]
