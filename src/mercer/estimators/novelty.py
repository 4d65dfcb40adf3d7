"""Novelty detection: conformal p-values of T², Q and related statistics of any model with components."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OutlierMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from mercer.analysis._models import complete_rows, measured_rows
from mercer.analysis.associations import adjust_p_values
from mercer.analysis.monitoring import (
    HUGE,
    VarianceSplit,
    measure_rows,
    monitoring_index,
    split_variance,
    t2_contributions,
)
from mercer.budget import Budget
from mercer.compat.array_api import ArrayNamespace, follow_namespace, to_numpy
from mercer.compat.sklearn_private import HasMethods, Interval, RealNotInt, StrOptions, parameter_checks
from mercer.contract import FittedModel
from mercer.data.dataset import ArrayDataset, Dataset
from mercer.data.validation import as_dataset
from mercer.errors import DataError, MercerWarning, ParameterError, Remedy, warn, warn_each
from mercer.estimators._base import fit_method
from mercer.estimators.kernel_pca import KernelPCA
from mercer.kernels.distance import EuclideanKernel, Laplacian
from mercer.kernels.dot import as_dense
from mercer.linalg.neighbors import Points
from mercer.numerics.random_state import as_generator
from mercer.numerics.rounding import TINY
from mercer.planning.plan import Plan, check_memory
from mercer.results import Result
from mercer.storable import Stored
from mercer.text import counted, listed

STATISTICS = ("reconstruction", "t2", "t2q", "projection")
_TIE = 1e-9  # relative difference of equal scores, and of p and α: rounding depends on the rows in the same block
_REFITS = 5  # until the rows that are left out do not change
_FENCE, _FAR_FENCE = 1.5, 3.0  # interquartile ranges above the third quartile (Tukey)
_BEYOND_FENCE = 0.0035  # of a normal distribution
_UNEXPECTED = 0.05  # probability of as many rows beyond the fence that is worth a warning
_FAR, _NEAR_CEILING = 1e100, 1e-6  # a coordinate of a far row; relative distance from its score that does not count
_EQUAL = 1e-9  # relative range of k(x, x) that is called constant


@dataclass(frozen=True, eq=False)
class Calibration:
    """Scores of rows that the model was not fitted to, ascending, and conformal p-values of new rows.

    If a new row is exchangeable with the calibration rows, its rank among them is uniform, whatever the score is (Vovk,
    Gammerman, Shafer 2005). Ties count against novelty.
    """

    scores: NDArray

    @classmethod
    def fit(cls, scores: NDArray, n_left_out: int = 0) -> Self:
        """Without the largest scores."""
        return cls(np.sort(scores)[: len(scores) - n_left_out])

    def p_values(self, scores: NDArray) -> NDArray:
        """(1 + #{sⱼ ≥ s})/(m + 1)."""
        m = len(self.scores)
        return (1 + m - np.searchsorted(self.scores, scores, side="left")) / (m + 1)

    def threshold(self, alpha: float) -> float:
        """The score above which p ≤ alpha; infinite if there are too few calibration rows."""
        m = len(self.scores)
        rank = min(int(alpha * (m + 1) * (1 + _TIE)), m)
        return float(self.scores[-rank]) if rank else np.inf

    @staticmethod
    def n_required(alpha: float) -> int:
        """Fewest rows for which p ≤ alpha is possible."""
        return int(np.ceil((1 - _TIE) / alpha)) - 1


@dataclass(frozen=True, eq=False)
class Score:
    """The novelty score of rows under a fitted model: large for novel rows."""

    model: FittedModel
    statistic: str
    split: VarianceSplit

    @classmethod
    def of(cls, model: FittedModel, statistic: str) -> Self:
        """The score, if the model has what it needs."""
        if statistic == "projection" and model.expansion() is None and model.linear_map() is None:
            message = 'statistic="projection" needs component functions, which a precomputed kernel does not have.'
            raise ParameterError("statistic", "projection", "another one", message=message)
        return cls(model, statistic, split_variance(model))

    def __call__(self, rows: Any) -> NDArray:
        """Scores of rows in memory."""
        if self.statistic == "projection":
            return -np.abs(self._component_functions(rows)).sum(axis=1)
        found = measure_rows(self.model, self.split, rows)
        return self._combine(found.t2, found.q)

    def rounding(self, rows: Any) -> NDArray:
        """Bounds on how much scores depend on the rows next to them."""
        if self.statistic == "projection":
            projection = self.model.project(rows, rounding=True)
            error = None if projection is None else projection.scores_error
            return np.zeros(rows.shape[0]) if error is None else error.sum(axis=1)
        found = measure_rows(self.model, self.split, rows, rounding=True)
        return self._combine(found.t2_error, found.q_error)

    def statistics(self, rows: Any) -> NDArray:
        """T² and Q."""
        found = measure_rows(self.model, self.split, rows)
        return np.column_stack([found.t2, self._require_q(found.q)])

    def linear_contributions(self, rows: Any) -> NDArray:
        """Terms of the score of a linear model, one for each column."""
        map: Any = self.model.linear_map()
        if self.statistic == "projection":
            raise ParameterError("statistic", self.statistic, '"reconstruction", "t2" or "t2q" for contributions')
        varies = self.split.variances > 0
        axes, variances = map.axes[varies], self.split.variances[varies]
        with np.errstate(over="ignore", invalid="ignore"):
            centered = (complete_rows(self.model, as_dense(rows)) - map.mean) / map.scale
            scores = centered @ axes.T
            found = self._combine(t2_contributions(centered, scores, axes, variances), (centered - scores @ axes) ** 2)
        return np.nan_to_num(found, nan=HUGE)

    def warnings(self) -> list[MercerWarning]:
        """A warning if the score of this model is meaningless."""
        if self.statistic in ("reconstruction", "t2q") and self._is_indefinite:
            text = "The kernel is not positive semi-definite, so Q is not a squared distance."
            return [MercerWarning(text, "meaningless", [Remedy("statistic", "t2")])]
        if self.statistic == "reconstruction" and not self.split.has_rest:
            text = "The components explain all of the variance, so the reconstruction error of inliers is rounding."
            return [MercerWarning(f"{text} Keep fewer components.", "meaningless", [Remedy("statistic", "t2")])]
        if self.statistic != "projection":
            return []
        growing = "so low values of the sum of projections need not be novel."
        text = f"The sum of projections of a linear model grows with the distance from the origin, {growing}"
        if (expansion := self.model.expansion()) is not None:
            own = np.asarray(expansion.kernel.diag(expansion.samples))
            if np.ptp(own) <= _EQUAL * np.abs(own).max(initial=0.0):
                return []
            text = f"k(x, x) of the training rows is between {own.min():.3g} and {own.max():.3g}, {growing}"
        return [MercerWarning(text, "caution", [Remedy("statistic", "reconstruction")])]

    def find_outliers(self, scores: NDArray, alpha: float) -> tuple[NDArray, bool]:
        """Which calibration scores look like outliers, and whether they are more, or farther, than expected.

        Logarithms of T² and Q are about symmetric. Kernels of the distance have the same score, the largest, for all
        rows far from the training rows, where the logarithm passes no fence. The logit passes it, but so do some
        inliers: it counts only if it finds as many outliers as leave no row to be called novel.
        """
        if self.statistic == "projection":
            return find_outliers(scores)
        logarithms, ceiling = np.log(np.maximum(scores, TINY)), self._score_far_away()
        if ceiling is not None:
            below = np.maximum(ceiling - scores, _NEAR_CEILING * ceiling)
            beyond, _ = find_outliers(logarithms - np.log(below))
            if beyond.mean() >= alpha:
                return beyond, True
        return find_outliers(logarithms)

    def _score_far_away(self) -> float | None:
        """The score of rows that resemble no training row; None for kernels that are not functions of the distance."""
        expansion = self.model.expansion()
        if expansion is None or not isinstance(expansion.kernel, (EuclideanKernel, Laplacian)):
            return None
        return float(self(np.full((1, expansion.samples.shape[1]), _FAR))[0])

    @property
    def _is_indefinite(self) -> bool:
        ratio = getattr(self.model, "explained_variance_ratio_", None)
        return ratio is not None and bool(np.isnan(to_numpy(ratio)).any())

    def _combine(self, t2: NDArray, q: NDArray | None) -> NDArray:
        """The statistic, or the bound on its error, for T² and Q or the bounds on theirs."""
        if self.statistic == "t2":
            return t2
        q = self._require_q(q)
        split = self.split
        return q if self.statistic == "reconstruction" else monitoring_index(t2, q, split.n_relevant, split.rest)

    def _require_q(self, q: NDArray | None) -> NDArray:
        if q is not None:
            return q
        name = self.statistic if self.statistic != "t2" else "reconstruction"
        message = f'statistic="{name}" needs k(x, x), which a precomputed kernel matrix does not have.'
        raise ParameterError("statistic", name, '"t2"', message=message, remedies=[Remedy("statistic", "t2")])

    def _component_functions(self, rows: Any) -> NDArray:
        """Uncentered component functions; of the linear kernel for a linear model."""
        map, expansion = self.model.linear_map(), self.model.expansion()
        if expansion is not None:
            return expansion.evaluate(rows)
        assert map is not None  # checked by `of`
        return np.asarray(rows @ (map.axes / map.scale).T)


def with_rounding(scores: NDArray, rounding: NDArray | float = 0.0) -> NDArray:
    """Scores plus their errors, or 1e-9 of themselves: what is at most as large is a tie."""
    sizes = np.maximum(np.abs(scores), np.median(np.abs(scores)))
    with np.errstate(over="ignore"):
        return np.minimum(scores + np.maximum(_TIE * sizes, 2 * np.asarray(rounding)), HUGE)


def most_left_out(n: int, max_contamination: float) -> int:
    """⌊max_contamination·n⌋, where rounding does not count."""
    return min(int(max_contamination * n * (1 + _TIE)), n - 1)


def find_outliers(values: NDArray) -> tuple[NDArray, bool]:
    """Which values are above Tukey's fence, and whether they are more, or farther, than a normal distribution has."""
    from scipy.stats import binom

    low, high = np.percentile(values, [25, 75])
    negligible = _TIE * float(np.abs(values).max())
    if not np.isfinite(high - low) or high - low <= negligible:  # most values are equal, or zero
        return np.zeros(len(values), dtype=bool), False
    beyond = values > high + _FENCE * (high - low)
    far = (values > high + _FAR_FENCE * (high - low)).any()
    probability = binom.sf(int(beyond.sum()) - 1, len(values), _BEYOND_FENCE)
    return beyond, bool(beyond.any() and (far or probability < _UNEXPECTED))


@dataclass(frozen=True, eq=False)
class Decisions(Result):
    """Decisions of a detector on rows.

    Attributes
    ----------
    scores : ndarray of shape (n_samples,)
        Novelty scores: the negative of `score_samples`.
    p_values : ndarray of shape (n_samples,)
        Conformal p-values.
    is_novel : ndarray of bool of shape (n_samples,)
        Whether a row is called novel.
    rule : str
        The rule by which it is.
    ids : list of str or None
        Names of the rows, if they have any.
    """

    scores: NDArray
    p_values: NDArray
    is_novel: NDArray
    rule: str
    ids: Sequence[str] | None = field(default=None)

    @property
    def summary(self) -> str:
        """Number of novel rows and the rule."""
        return f"{int(self.is_novel.sum()):,} of {counted(len(self.scores), 'row')} are novel ({self.rule})."

    def columns(self) -> dict[str, Sequence[Any]]:
        """One row for each row of X."""
        table: dict[str, Any] = {} if self.ids is None else {"id": self.ids}
        return table | {"novelty": self.scores, "p_value": self.p_values, "novel": self.is_novel}


class NoveltyDetector(OutlierMixin, BaseEstimator):
    """Novelty detection with conformal p-values, based on the components of a model.

    The rows of `fit` are split: a model is fitted to one part, and the other part, the calibration rows, gives the
    distribution of scores. The p-value of a new row is (1 + #{sⱼ ≥ s})/(m + 1) for m calibration scores s₁, …, sₘ. If
    the row is exchangeable with them, P(p ≤ α) ≤ α for every distribution, model and score. Decisions on a row do not
    depend on other rows.

    Parameters
    ----------
    estimator : PCA, IncrementalPCA, ProbabilisticPCA or KernelPCA, default=None
        The model, which is cloned unless `prefit`. None: ``KernelPCA(0.5, kernel="rbf", gamma="median",
        standardize=True, eigen_solver="landmark", n_landmarks=500)``.
    statistic : {"reconstruction", "t2", "t2q", "projection"}, default="reconstruction"
        Score of a row. "reconstruction": Q(x) = ‖φ(x) − mean‖² − Σ yᵢ(x)², the squared distance from the subspace of
        the components (Hoffmann 2007). "t2": T²(x) = Σ yᵢ(x)²/λᵢ with the variances λᵢ. "t2q": T²/k + Q/rest, each
        relative to its mean. "projection": −Σ |fᵢ(x)| of the uncentered component functions, for kernels that decrease
        with the distance.
    alpha : float, default=0.1
        Significance level of `predict`. It may be changed after the fit.
    calibration : float or int, default=0.25
        Fraction, or number, of the rows of `fit` that are calibration rows.
    max_contamination : float, default=0.0
        Largest fraction of the rows of `fit` that are outliers, below 0.5. The model is fitted again without this
        fraction of the training rows, those of largest T²/k + Q/rest, until they do not change. Calibration rows that
        look like outliers are left out, up to this fraction of them. See Notes for what is guaranteed.
    prefit : bool, default=False
        Whether `estimator` is fitted already, to other rows. Then all rows of `fit` are calibration rows.
    random_state : int, RandomState or None, default=None
        Seed of the split. None is a fixed seed.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    threshold_ : float
        Scores above it are novel; infinite if there are too few calibration rows for `alpha`. Follows `alpha`.
    offset_ : float
        ``-threshold_``: `decision_function` is ``score_samples - offset_``.
    false_alarm_bound_ : float
        Bound on the probability that a new inlier is called novel: `alpha`, or more if `max_contamination` permits to
        leave out calibration rows. See Notes.
    calibration_scores_ : ndarray of shape (n_calibration,)
        Scores of the calibration rows that are kept, ascending, each increased by its bound on rounding.
    calibration_outliers_ : ndarray of shape (n_outliers,)
        Row indices in X of calibration rows that look like outliers: scores above Tukey's fence, of log scores for T²
        and Q.
    n_left_out_ : int
        Number of calibration scores, the largest, that were left out because of `max_contamination`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features. Only if X has names that are strings.
    fit_warnings_ : tuple of MercerWarning
        Warnings of the fit, including those of the model.

    See Also
    --------
    KernelPCA : The default model.
    sklearn.ensemble.IsolationForest : Another outlier detector with the same methods.

    Notes
    -----
    The guarantee is about new rows that are exchangeable with the calibration rows; the training rows are not. Outliers
    among the calibration rows increase the p-values of all rows: fewer rows are called novel. They are reported by a
    warning, and left out if `max_contamination` permits it. If only outliers are left out, P(p ≤ α) ≤ α still holds for
    inliers. Whatever is left out, P(p ≤ α) ≤ (α(m − r + 1) + r)/(m + 1) < α + max_contamination, where r is the largest
    number of the m calibration rows that may be left out. For normal factors with 0 to 10% outliers and a
    max_contamination of 0.02 to 0.15, the rate was between 0 and 0.011 at α = 0.01.

    References
    ----------
    Hoffmann (2007), Kernel PCA for novelty detection. Vovk, Gammerman and Shafer (2005), Algorithmic learning in a
    random world. Bates, Candès, Lei, Romano and Sesia (2023), Testing for outliers with conformal p-values.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.estimators import PCA, NoveltyDetector
    >>> X = np.random.default_rng(0).normal(size=(400, 3))
    >>> detector = NoveltyDetector(PCA(2)).fit(X)
    >>> detector.predict([[0.1, 0.2, -0.3], [9.0, 9.0, 9.0]])
    array([ 1, -1])
    """

    _stored_attributes = (
        Stored("n_features_in_", "count"),
        Stored("feature_names_in_", "names", "d", optional=True),
        Stored("estimator_", "object"),
        Stored("calibration_scores_", "float", "m"),
        Stored("calibration_outliers_", "int", "r"),
        Stored("n_left_out_", "count"),
        Stored("fit_warnings_", "warnings"),
        Stored("_statistic", "text"),
        Stored("_most_left_out", "count"),
    )
    _parameter_constraints: ClassVar[dict] = {
        "estimator": [HasMethods(["fit", "project"]), None],
        "statistic": [StrOptions(set(STATISTICS))],
        "alpha": [Interval(RealNotInt, 0, 1, closed="neither")],
        "calibration": [Interval(RealNotInt, 0, 1, closed="neither"), Interval(Integral, 1, None, closed="left")],
        "max_contamination": [Interval(Real, 0, 0.5, closed="left")],  # of the rows, not of those that are called novel
        "prefit": ["boolean"],
        "random_state": ["random_state"],
    }
    fit_warnings_: tuple[MercerWarning, ...]

    def __init__(
        self,
        estimator: Any = None,
        *,
        statistic: str = "reconstruction",
        alpha: float = 0.1,
        calibration: float | int = 0.25,
        max_contamination: float = 0.0,
        prefit: bool = False,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.statistic = statistic
        self.alpha = alpha
        self.calibration = calibration
        self.max_contamination = max_contamination
        self.prefit = prefit
        self.random_state = random_state

    # ------------------------------------------------------------------ fit

    @fit_method
    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the model to some rows, and score the others for calibration.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Dataset} of shape (n_samples, n_features)
            Training data; what the kernel compares: rows, strings, series or a table. Files are read into memory.
        y : Ignored
            Present for API consistency.

        Returns
        -------
        self : NoveltyDetector
            The fitted detector.
        """
        self._statistic = self.statistic
        data, indices = self._open_for_prefit(X) if self.prefit else self._fit_model(X)
        score = self._score
        scores = self._by_blocks(data, score)
        scores = with_rounding(scores, self._by_blocks(data, score.rounding))  # a row has one p-value in every batch
        beyond, are_unexpected = score.find_outliers(scores, self.alpha)
        self.calibration_outliers_ = indices[beyond]
        self._most_left_out = most_left_out(len(scores), self.max_contamination)
        self.n_left_out_ = min(int(beyond.sum()), self._most_left_out)
        self.calibration_scores_ = Calibration.fit(scores, self.n_left_out_).scores
        self.fit_warnings_ = self.estimator_.fit_warnings_
        self._warn_about_calibration(are_unexpected)
        warn_each(score.warnings())
        return self

    def _open_for_prefit(self, X: Any) -> tuple[Dataset, NDArray]:
        """The calibration rows of a model that is fitted already."""
        if self.estimator is None:
            raise ParameterError("estimator", None, "a fitted model, because prefit=True")
        check_is_fitted(self.estimator)
        self.estimator_, self.n_features_in_ = self.estimator, self.estimator.n_features_in_
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(self.estimator, "feature_names_in_"):
            self.feature_names_in_ = self.estimator.feature_names_in_
        data = self._open(X, reset=False)
        return data, np.arange(len(data))

    def _fit_model(self, X: Any) -> tuple[Dataset, NDArray]:
        """Fit the model to the training rows; returns the calibration rows and their indices."""
        model = self._model()
        if get_tags(model).input_tags.pairwise:
            message = (
                "A precomputed kernel matrix compares all rows of a fit, so no rows can be held out. Fit the model "
                "first and pass it with prefit=True, and to fit the matrix between calibration and training rows."
            )
            raise ParameterError("estimator", model, "fitted already", message=message)
        data = self._open(X, reset=True)
        calibration = self._choose_calibration_rows(len(data))
        if not data.in_memory:
            reason = "training and calibration rows in memory."
            check_memory(
                Plan("in-memory", None, data.nbytes + data.reading_bytes, reason),
                Budget.from_params(self.memory_limit, 1),
            )
        indices = np.flatnonzero(~calibration)
        training, held_out = self._rows(data, indices), self._rows(data, np.flatnonzero(calibration))
        self._fit_without_outliers(model, training, most_left_out(len(training), self.max_contamination))
        return held_out, np.flatnonzero(calibration)

    def _fit_without_outliers(self, model: Any, training: Dataset, n_out: int) -> None:
        """Fit again without the rows of largest T²/k + Q/rest, until they do not change. Only the last fit warns.

        Outliers that a component points to have a small Q, but a large T².
        """
        if not n_out:
            self.estimator_ = clone(model).fit(training)
            return
        kept = np.arange(len(training))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MercerWarning)
            self.estimator_ = clone(model).fit(training)
            for _ in range(_REFITS):
                score = Score.of(self.estimator_, "t2q")
                score = score if not score.warnings() else self._score  # Q may be negative
                before, order = kept, np.argsort(self._by_blocks(training, score), kind="stable")
                kept = np.sort(order[: len(training) - n_out])
                if np.array_equal(kept, before):
                    break
                self.estimator_ = clone(model).fit(self._rows(training, kept))
        warn_each(self.estimator_.fit_warnings_)

    def _rows(self, data: Dataset, indices: NDArray) -> Dataset:
        """Some rows in memory, with the names of their features."""
        rows = ArrayDataset(data.take(indices), data.kind)
        rows.feature_names, rows.source, rows.allow_nan = data.feature_names, data.source, data.allow_nan
        return rows

    def _choose_calibration_rows(self, n: int) -> NDArray:
        """Which rows are for calibration, at random; at least two are left for the model."""
        if isinstance(self.calibration, Integral):
            m = int(self.calibration)
        else:
            m = min(max(1, round(self.calibration * n)), max(1, n - 2))
        if n - m < 2:
            raise DataError(
                f"n_samples={n} with {counted(m, 'calibration row')} leaves {max(n - m, 0)} for the model, which needs "
                "two. Pass more rows."
            )
        chosen = np.zeros(n, dtype=bool)
        chosen[as_generator(self.random_state).permutation(n)[:m]] = True
        return chosen

    def _warn_about_calibration(self, are_unexpected: bool) -> None:
        """Warn about too few calibration rows for `alpha`, and about outliers among them that were not left out."""
        kept, n_out = len(self.calibration_scores_), len(self.calibration_outliers_)
        if np.isinf(self.threshold_):
            required = Calibration.n_required(self.alpha)
            warn(
                f"alpha={self.alpha:g} needs at least {counted(required, 'calibration row')}, and there are {kept:,}: "
                "no row is called novel.",
                remedies=[Remedy("calibration", required), Remedy("alpha", float(f"{1.1 / (kept + 1):.2g}"))],
            )
        if are_unexpected and n_out > self.n_left_out_:
            left_out = f", of which max_contamination={self.max_contamination:g} leaves out {self.n_left_out_:,}"
            warn(
                f"{n_out:,} of {counted(kept + self.n_left_out_, 'calibration row')} look like outliers (row indices "
                f"{listed(self.calibration_outliers_)}){left_out if self.max_contamination else ''}. If they are, the "
                "p-values of all rows are too large and too few rows are called novel.",
                remedies=[self._contamination_remedy()],
            )

    def _contamination_remedy(self) -> Remedy:
        """The smallest max_contamination that leaves out all rows that look like outliers."""
        m = len(self.calibration_scores_) + self.n_left_out_
        return Remedy("max_contamination", min(float(np.ceil(1000 * len(self.calibration_outliers_) / m) / 1000), 0.49))

    # ------------------------------------------------------------------ decisions

    @property
    def _calibration(self) -> Calibration:
        check_is_fitted(self)
        return Calibration(to_numpy(self.calibration_scores_))

    @property
    def threshold_(self) -> float:
        """Scores above it are novel at level `alpha`."""
        calibration = self._calibration
        self._validate_params()
        return calibration.threshold(self.alpha)

    @property
    def false_alarm_bound_(self) -> float:
        """Bound on the probability that an inlier is called novel, whatever calibration rows were left out."""
        check_is_fitted(self)
        self._validate_params()
        m, r = len(self.calibration_scores_) + self.n_left_out_, self._most_left_out
        return float((self.alpha * (m - r + 1) + r) / (m + 1))

    @property
    def offset_(self) -> float:
        """The negative threshold."""
        return -self.threshold_

    @follow_namespace
    def score_samples(self, X: Any) -> NDArray:
        """Return the negative novelty score of each row: large values are inliers.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Dataset} of shape (n_samples, n_features)
            New data.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            −Q, −T², −(T²/k + Q/rest) or Σ |fᵢ|.
        """
        check_is_fitted(self)
        return -self._by_blocks(self._open(X, reset=False), self._score)

    @follow_namespace
    def decision_function(self, X: Any) -> NDArray:
        """Return ``score_samples(X) - offset_``: negative for outliers.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Dataset} of shape (n_samples, n_features)
            New data.

        Returns
        -------
        decisions : ndarray of shape (n_samples,)
            Shifted scores; infinite if there are too few calibration rows for `alpha`.
        """
        return self.score_samples(X) - self.offset_

    @follow_namespace
    def predict(self, X: Any) -> NDArray:
        """Return -1 for outliers, whose p-value is at most `alpha`, and 1 for inliers.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Dataset} of shape (n_samples, n_features)
            New data.

        Returns
        -------
        decisions : ndarray of shape (n_samples,)
            -1 or 1.
        """
        return np.where(self.decision_function(X) < 0, -1, 1)

    @follow_namespace
    def p_values(self, X: Any) -> NDArray:
        """Return the conformal p-value (1 + #{sⱼ ≥ s})/(m + 1) of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Dataset} of shape (n_samples, n_features)
            New data.

        Returns
        -------
        p_values : ndarray of shape (n_samples,)
            At least 1/(m + 1) for m calibration rows.
        """
        return self._calibration.p_values(-self.score_samples(X))

    @follow_namespace
    def select(self, X: Any, fdr: float = 0.1) -> NDArray:
        """Select novel rows such that the expected fraction of inliers among them is at most `fdr`.

        The procedure of Benjamini and Hochberg on the p-values of all rows of X. To select one row of N takes
        p ≤ fdr/N, hence about N/fdr calibration rows. If `max_contamination` leaves out calibration rows, the rate is
        guaranteed only if these are outliers.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Dataset} of shape (n_samples, n_features)
            New data.
        fdr : float, default=0.1
            False discovery rate, between 0 and 1.

        Returns
        -------
        selected : ndarray of bool of shape (n_samples,)
            True for rows that are called novel.
        """
        return self._selected(self.p_values(X), fdr)

    def decisions(self, X: Any, fdr: float | None = None) -> Decisions:
        """Return scores, p-values and decisions on the rows of X as a table, which can be written to a file.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Dataset} of shape (n_samples, n_features)
            New data.
        fdr : float, default=None
            Decide by `select` with this false discovery rate. None: by `alpha`.

        Returns
        -------
        decisions : Decisions
            One row for each row of X.
        """
        check_is_fitted(self)
        data = self._open(to_numpy(X), reset=False)
        scores = self._by_blocks(data, self._score)
        p_values = self._calibration.p_values(scores)
        if fdr is None:
            is_novel, rule = scores > self.threshold_, f"p ≤ alpha = {self.alpha:g}"
            if self._most_left_out:
                rule += f", false-alarm rate at most {self.false_alarm_bound_:.3g}"
        else:
            is_novel, rule = self._selected(p_values, fdr), f"false discovery rate {fdr:g}"
        return Decisions(scores, p_values, is_novel, rule, data.metadata.ids)

    def _selected(self, p_values: NDArray, fdr: float) -> NDArray:
        if isinstance(fdr, bool) or not isinstance(fdr, Real) or not 0 < float(fdr) < 1:
            raise ParameterError("fdr", fdr, "a number between 0 and 1")
        selected = adjust_p_values(p_values, "fdr") <= fdr * (1 + _TIE)
        if not selected.any():
            self._warn_about_selection(p_values, float(fdr))
        return selected

    def _warn_about_selection(self, p_values: NDArray, fdr: float) -> None:
        """Why nothing was selected, unless no row is novel."""
        m, n = len(self.calibration_scores_), len(p_values)
        smallest, remedies = 1 / (m + 1), list[Remedy]()
        n_lowest, needed = int(np.sum(p_values <= smallest * (1 + _TIE))), int(np.ceil(n * smallest / fdr * (1 - _TIE)))
        if n_out := len(self.calibration_outliers_) - self.n_left_out_:
            why = f"{n_out:,} of {counted(m, 'calibration row')} look like outliers, which increase all p-values. "
            remedies = [self._contamination_remedy()]
        elif smallest > fdr:
            why = f"No p-value of {counted(m, 'calibration row')} is below {smallest:.3g}. "
        elif 0 < n_lowest < needed:
            why = ""
        else:
            return
        warn(
            f"No row was selected with fdr={fdr:g}. {why}{counted(n_lowest, 'row')} of {n:,} exceed all calibration "
            f"scores (p = {smallest:.3g}), and {needed:,} are needed. Fit with more calibration rows.",
            remedies=remedies,
        )

    # ------------------------------------------------------------------ statistics

    @follow_namespace
    def statistics(self, X: Any) -> NDArray:
        """Return T² and Q of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Dataset} of shape (n_samples, n_features)
            New data.

        Returns
        -------
        statistics : ndarray of shape (n_samples, 2)
            T² and Q.
        """
        check_is_fitted(self)
        return self._by_blocks(self._open(X, reset=False), self._score.statistics)

    def limits(self) -> dict[str, Any]:
        """Return the limit of the detector in the plane of T² and Q.

        Returns
        -------
        limits : dict
            "t2" and "q": the limit of this statistic, or None. "line": (a, b, c) for a·T² + b·Q = c, or None.
        """
        limit, found = self.threshold_, dict[str, Any](t2=None, q=None, line=None)
        if self._statistic == "t2q":
            split = self._score.split
            found["line"] = 1 / max(split.n_relevant, 1), 1 / split.rest, limit
        elif self._statistic in ("t2", "reconstruction"):
            found["t2" if self._statistic == "t2" else "q"] = limit
        return found

    @follow_namespace
    def contributions(self, X: Any) -> NDArray:
        """Return the contribution of each column to the novelty score of each row.

        For linear models they add up to the score: squared residuals for Q, xⱼ·(WᵀΛ⁻¹y)ⱼ for T², which may be
        negative, and T²/k + Q/rest of both. For kernels, how much the score decreases if the value is replaced by that
        of the nearest inlier among the training rows (or landmarks): they do not add up to the score.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Dataset} of shape (n_samples, n_features)
            New rows of numbers.

        Returns
        -------
        contributions : ndarray of shape (n_samples, n_features)
            Large values belong to the columns that make a row novel.
        """
        check_is_fitted(self)
        data = self._open(X, reset=False)
        is_linear = self.estimator_.linear_map() is not None
        return self._by_blocks(data, self._score.linear_contributions if is_linear else self._explain_kernel())

    def _explain_kernel(self) -> Callable[[Any], NDArray]:
        """A function of rows: how much the score falls if a value is replaced by the nearest inlier's."""
        training, score, model = self.estimator_.training_set(), self._score, self.estimator_
        if training is None or model.input_kind != "vectors" or get_tags(model).input_tags.pairwise:
            kind = "a kernel matrix" if model.input_kind == "vectors" else model.input_kind
            raise DataError(f"Contributions need columns of numbers, but this model compares {kind}.")
        known = as_dense(training.samples)
        inliers = self._by_blocks(ArrayDataset(known), score) <= self.threshold_
        known = known[inliers] if inliers.any() else known
        expansion = model.expansion()
        scale = 1.0 if expansion is None or expansion.scale is None else expansion.scale
        space = Points.from_rows(known / scale)

        def explain(rows: Any) -> NDArray:
            rows = as_dense(rows)
            nearest = known[space.nearest_to(space.prepare(rows / scale), 1).indices[:, 0]]
            whole, found = score(rows), np.empty(rows.shape)
            for j in range(rows.shape[1]):
                replaced = rows.copy()
                replaced[:, j] = nearest[:, j]
                found[:, j] = whole - score(replaced)
            return found

        return explain

    @property
    def _score(self) -> Score:
        return Score.of(self.estimator_, self._statistic)

    def _by_blocks(self, data: Dataset, function: Callable[[Any], NDArray]) -> NDArray:
        return np.concatenate(list(data.map_blocks(function, size=measured_rows(self.estimator_, data))))

    # ------------------------------------------------------------------ helpers

    def _model(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        return KernelPCA(0.5, kernel="rbf", gamma="median", standardize=True, eigen_solver="landmark", n_landmarks=500)

    def _open(self, X: Any, *, reset: bool) -> Dataset:
        """X as the model compares it, validated against the fit."""
        model = self._model() if reset else self.estimator_
        return as_dataset(X, self, reset=reset, kind=model.input_kind, allow_nan=model.accepts_missing)

    @property
    def memory_limit(self) -> Any:
        """The limit of the model, for files that are opened here."""
        return getattr(self._model(), "memory_limit", None)

    def _validate_params(self) -> None:
        parameter_checks(type(self))(self)  # type: ignore[arg-type]

    def _check_namespace(self, namespace: ArrayNamespace) -> None:
        """Arrays of all libraries are accepted."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        own, inner = tags.input_tags, get_tags(self._model()).input_tags
        own.sparse, own.positive_only, own.allow_nan = inner.sparse, inner.positive_only, inner.allow_nan
        return tags
