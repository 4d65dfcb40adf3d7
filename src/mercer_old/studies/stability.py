"""`mercer.stability`: would other rows of the same kind give the same components?"""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import scipy
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from mercer_old.arrays import Array, Held, dense, to_numpy
from mercer_old.errors import BadData, are, counted, in_short, warn
from mercer_old.fits.gaps.columns import any_gaps
from mercer_old.fits.kernel.opening import is_precomputed
from mercer_old.fits.kernel.searching import sample_numbers
from mercer_old.models.kernel_model import KernelModel
from mercer_old.models.linear import LinearModel
from mercer_old.models.pca import PCA
from mercer_old.models.with_gaps import FillsGaps
from mercer_old.operators.centering import Centered
from mercer_old.operators.gram import RecomputedGram
from mercer_old.operators.held import HeldMatrix
from mercer_old.progress import Listener, working
from mercer_old.readings.chance import generator_from
from mercer_old.readings.origin import seen_from_mean
from mercer_old.readings.stability import (
    Deviations,
    Draws,
    aligned,
    directions,
    draw_components,
    groups_that_turn,
    turned,
)
from mercer_old.readings.tuning.comparing import about_sample
from mercer_old.solvers.pivoted import pivoted_cholesky
from mercer_old.sources.items import Items
from mercer_old.studies.stable import Stability, in_plain_words
from mercer_old.sums import row_squares
from mercer_old.symmetric import SymmetricOperator

__all__ = ["stability"]

_MOST_FEATURES = 400  # columns of the eigenproblem of a draw
_MOST_NUMBERS = 20_000_000  # of the features of all rows
_COPIES = 4  # of the features: as they are, around their mean, in another unit, weighted
_FEWEST_ROWS = 3
_LEVEL = 0.95
_ALL_SEEN, _SAME_VARIANCE = 0.999, 0.01  # shares of the variance, and of the largest: what is compared is the same


@dataclass(frozen=True)
class _Features:
    """Features whose PCA is that of the model, and the way from their axes to those of columns, if there is one."""

    values: Array  # n × q
    columns: Array | None = None  # q × d
    seen: float = 1.0


def stability(
    model: Any, X: Any, *, n_boot: int = 50, random_state: Any = None, progress: Listener = False
) -> Stability:
    """Draw rows again and again, and say which components stay where they are.

    Every draw takes as many rows as there are, with replacement; its components are compared with those of all rows:
    the principal angles between the subspaces of the first j, the scores of every row after the axes were turned to
    each other (Procrustes), and the entries of axes, with intervals of 95 % from their standard deviations. The first j
    components count as stable if nine of ten draws turn them by less than 20°; components between one such j and the
    next are to be read together.

    Draws are weights of rows, so nothing is copied: PCA of a few hundred features at most. Those are the columns; of
    more columns the scores on the leading components; of a kernel all there are up to 400 rows, and else what 400
    landmarks see (``seen`` tells how much). Of more rows than fit, as many are drawn by chance, and the answer is as
    sure as those can be.

    Parameters
    ----------
    model : PCA, IncrementalPCA or KernelPCA
        Fitted, or not: then a copy is fitted to X.
    X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
        The rows, or the items, of the fit.
    n_boot : int, default=50
        How many draws.
    random_state : int, Generator, RandomState or None, default=None
        Of the draws. None is a fixed seed.
    progress : bool or callable, default=False
        As of `KernelPCA`.

    Returns
    -------
    stability : Stability
        ``verdict``, ``angles``, ``variances``, ``scores`` and ``spread``, of linear models ``axes`` with ``axes_low``
        and ``axes_high``; print it.

    Examples
    --------
    >>> import numpy as np, mercer
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 6)) * [5, 2, 2, 1, 1, 1]
    >>> for part in mercer.stability(mercer.PCA(4), X).verdict.split("; "):
    ...     print(part)
    Component 1 is stable
    components 2 and 3 exchange places: read them as a plane
    component 4 is noise: other rows of the same kind would give another direction.
    """
    if not isinstance(n_boot, Integral) or isinstance(n_boot, bool) or n_boot < 2:
        raise ValueError(f"n_boot must be a whole number of at least 2; got {in_short(n_boot)}.")
    rng = generator_from(random_state)
    fitted = _fitted(model, X)
    items = fitted._new_items(X)
    if len(items) < _FEWEST_ROWS:
        raise BadData(f"Draws of {len(items)} rows say nothing: give at least {_FEWEST_ROWS}.")
    if isinstance(fitted, FillsGaps) and any_gaps(items):
        raise BadData(
            "stability draws complete rows again, and numbers are missing: fill them as they might have been, with "
            "model.impute(X, 1)[0], and ask PCA."
        )
    with working(progress, 1, "draws", threads=fitted._limits().threads) as on_pass:
        some = sample_numbers(len(items), _rows_within(fitted, items), rng)
        rows = items.load() if len(some) == len(items) else items[some]
        features = _linear(fitted, rows) if isinstance(fitted, LinearModel) else _by_kernel(fitted, rows, rng)
        rank = directions(features.values)
        k = _number(fitted, rank)
        draws = draw_components(features.values, k, int(n_boot), rng, on_pass)
        if len(some) == len(items):
            _tell_of_others(fitted, len(items), draws, features.seen)
        signs = _signs(fitted, rows, draws)
        return _record(draws, features, rank, signs, about_sample(len(items), len(some)))


# ---------------------------------------------------------------------- what comes in


def _fitted(model: Any, X: Any) -> Any:
    """The model, or a copy of it that has seen X."""
    if not isinstance(model, (LinearModel, KernelModel)):
        raise ValueError(
            f"stability is of components: PCA, IncrementalPCA or KernelPCA; got {in_short(type(model).__name__)}."
        )
    try:
        check_is_fitted(model)
        return model
    except NotFittedError:
        return clone(model).fit(X)


def _rows_within(model: Any, items: Items) -> int:
    """So many rows that their features can be worked with inside the model's memory limit."""
    narrow = isinstance(model, LinearModel) and items.width <= _MOST_FEATURES
    features = items.width if narrow else _MOST_FEATURES
    within = model._limits().memory // (8 * _COPIES * features)
    return max(min(_MOST_NUMBERS // _MOST_FEATURES, within), _FEWEST_ROWS)


def _number(model: Any, rank: int) -> int:
    """As many components as the model has, and no more than there are directions."""
    asked = model.explained_variance_.shape[0]
    if asked < 1:
        raise BadData("The model has no component, as none was asked for, or found to be more than noise.")
    if rank < 1:
        raise BadData("All rows look the same, so there are no components to be sure of.")
    if asked > rank:
        some = counted(rank, "direction")
        warn(f"{asked} components are more than the {some} in which the rows vary; {rank} {are(rank)} looked at.")
    return min(asked, rank)


def _tell_of_others(model: Any, n: int, draws: Draws, seen: float) -> None:
    """That rows, or their weights, are not those of the fit, as its variances tell; landmarks have others anyway."""
    theirs = to_numpy(model.explained_variance_).astype(np.float64)[: draws.k]
    if isinstance(model, FillsGaps):  # whose variances are sums over n
        theirs = theirs * n / (n - 1)
    if getattr(getattr(model, "plan_", None), "approximate", False) or seen < _ALL_SEEN:
        return
    if not np.all(np.abs(theirs - draws.values) <= _SAME_VARIANCE * draws.values[0]):
        warn(
            "The variances of the model are not those of these rows, so it was fitted to others, or with weights: what "
            "is said is of these rows, each counted once."
        )


# ---------------------------------------------------------------------- features


def _linear(model: LinearModel, rows: Held) -> _Features:
    """The columns, as the model scales them; of many, the scores on the leading components of as many as it takes."""
    scale = getattr(model, "scale_", None)
    if rows.shape[1] <= _MOST_FEATURES:
        values = dense(rows, np.float64)
        return _Features(values if scale is None else values / to_numpy(scale), np.eye(rows.shape[1]))
    count = min(_MOST_FEATURES, rows.shape[0] - 1)
    wide = PCA(count, standardize=scale is not None).fit(rows)
    return _Features(wide.transform(rows), wide.components_, float(wide.explained_variance_ratio_.sum()))


def _by_kernel(model: KernelModel, rows: Held, rng: np.random.Generator) -> _Features:
    """F with FFᵀ = JKJ: all of it, or what landmarks see."""
    n, threads = rows.shape[0], model._limits().threads
    if is_precomputed(model) and not isinstance(rows, np.ndarray):
        raise BadData("A precomputed kernel is drawn from as an array: give K.toarray(), or the items and a kernel.")
    gram: SymmetricOperator = (
        HeldMatrix(np.asarray(rows, dtype=np.float64), threads)
        if is_precomputed(model)
        else RecomputedGram(model.kernel_, seen_from_mean(model.kernel_, rows), threads)
    )
    if n <= _MOST_FEATURES:
        values, vectors = np.linalg.eigh(Centered(gram).dense())
        there = values > 1e-12 * max(float(values[-1]), np.finfo(float).tiny)
        return _Features(vectors[:, there][:, ::-1] * np.sqrt(values[there][::-1]))
    factor = pivoted_cholesky(gram, _MOST_FEATURES, rng, threads=threads)
    F = factor.F - factor.F.mean(axis=0)
    variance = float(row_squares(F).sum())
    return _Features(F, seen=variance / (variance + factor.error))


def _signs(model: Any, rows: Held, draws: Draws) -> Array:
    """±1 that make the scores those of the model."""
    with np.errstate(invalid="ignore"):
        theirs = model._scores(rows, model._limits().threads)[:, : draws.k]
    return np.where(
        np.einsum("ij,ij->j", draws.features @ draws.axes, np.asarray(theirs, dtype=np.float64)) < 0, -1.0, 1.0
    )


# ---------------------------------------------------------------------- what is found


def _record(draws: Draws, features: _Features, rank: int, signs: Array, rows: str) -> Stability:
    angles = turned(draws)
    groups = groups_that_turn(angles, rank)
    scores = draws.features @ draws.axes
    off_scores = Deviations(scores)
    axes = None if features.columns is None else draws.axes.T @ features.columns
    off_axes = None if axes is None else Deviations(axes)
    for near, mean in aligned(draws, groups):
        off_scores.add((draws.features - mean) @ near)
        if off_axes is not None:
            off_axes.add(near.T @ features.columns)
    return Stability(
        verdict=in_plain_words(groups),
        groups=groups,
        angles=angles,
        variances=draws.values,
        variance_errors=np.std(draws.drawn_values, axis=0, ddof=1),
        scores=scores * signs,
        spread=off_scores.deviation,
        rows=rows,
        seen=features.seen,
        **_intervals(axes, off_axes, signs),
    )


def _intervals(axes: Array | None, off: Deviations | None, signs: Array) -> dict[str, Array]:
    """Of the entries of axes: so many standard deviations to both sides."""
    if axes is None or off is None:
        return {}
    reach, axes = float(scipy.stats.norm.ppf(0.5 + _LEVEL / 2)) * off.deviation, axes * signs[:, None]
    return {"axes": axes, "axes_low": axes - reach, "axes_high": axes + reach}
