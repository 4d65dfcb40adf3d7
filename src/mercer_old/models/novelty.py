"""Novelty detection: how far a row is from what a fitted model has seen, and with what right one may say so."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from mercer_old.arrays import Array
from mercer_old.errors import BadData, are, counted, in_short, warn, warn_each
from mercer_old.fits.door import open_items
from mercer_old.fits.kernel.opening import is_precomputed
from mercer_old.kernels.base import kind_of_items
from mercer_old.models.base import all_or_nothing, check_parameters, generator_of
from mercer_old.models.incremental_pca import IncrementalPCA
from mercer_old.models.kernel_pca import KernelPCA
from mercer_old.models.pca import PCA
from mercer_old.models.probabilistic_pca import ProbabilisticPCA
from mercer_old.models.sides import sides_of
from mercer_old.models.upstairs import WithRoomsAbove, WithVerdictsInFiles
from mercer_old.readings.novelty import Calibration, benjamini_hochberg
from mercer_old.sources.items import Items
from mercer_old.unpromised import Interval, RealNotInt, StrOptions, fits

STATISTICS = ("reconstruction", "t2", "t2q", "lecture")


class NoveltyDetector(WithVerdictsInFiles, WithRoomsAbove, OutlierMixin, BaseEstimator):
    """Tell rows that are unlike those of the fit, by what the components of a model leave of them.

    The rows of `fit` are split: a model is fitted to one part, and the scores of the other part, the calibration rows,
    say what scores are usual. A new row's p-value is (1 + #{sⱼ ≥ s})/(m + 1) over the m calibration scores: if the row
    comes from where they come from, it is at most α with a probability of at most α, whatever the data, the model and
    the score are. Nothing that is fitted changes afterwards, and a row's verdict does not depend on the others.

    Parameters
    ----------
    estimator : PCA, IncrementalPCA, ProbabilisticPCA or KernelPCA, default=None
        The model; it is cloned, unless `prefit`. Rows of ProbabilisticPCA may have gaps. None: ``KernelPCA(0.5,
        kernel="rbf", gamma="median", standardize=True, eigen_solver="landmark", n_landmarks=500)``.
    statistic : {"reconstruction", "t2", "t2q", "lecture"}, default="reconstruction"
        "reconstruction": Q(x) = ‖φ(x) − mean‖² − Σ yᵢ(x)², the squared distance from the space of the components
        (Hoffmann 2007; of PCA, that of (x − mean)/scale). "t2": T²(x) = Σ yᵢ(x)²/λᵢ with the variances λᵢ, inside that
        space; of a kernel that falls with the distance it is low out of reach of all rows. "t2q": T²/k + Q/rest, both
        in units of their averages. "lecture": −F(x), F(x) = Σ |fᵢ(x)| of the uncentred component functions, which is
        low away from the data if the kernel is local.
    alpha : float, default=0.1
        Share of false alarms among usual rows that `predict` may raise.
    calibration : float or int, default=0.25
        Share, or number, of the rows of `fit` that are held out for calibration.
    trim : float, default=0.0
        Share of the rows the model is fitted to that may be outliers themselves: so many of the most novel ones are
        left out, and the model is fitted once more.
    prefit : bool, default=False
        Whether `estimator` is fitted already, to other rows: all rows of `fit` are calibration rows then.
    random_state : int, RandomState or None, default=None
        Of the split. None is a fixed seed: the same rows give the same answer.

    Attributes
    ----------
    estimator_ : PCA, IncrementalPCA, ProbabilisticPCA or KernelPCA
        The fitted model.
    threshold_ : float
        Scores above it are novel; infinite if there are too few calibration rows for `alpha`.
    offset_ : float
        −``threshold_``: what `decision_function` takes off `score_samples`.
    calibration_scores_ : ndarray of shape (n_calibration,)
        Those of the calibration rows, ascending, each with room for rounding (1e-9 of itself, or as far as it is off).
    n_features_in_ : int
        How many columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, only if X has names that are texts.

    See Also
    --------
    KernelPCA : The model behind it.
    PCA : With it, contributions of columns are exact.

    Notes
    -----
    The promise is about new rows that are exchangeable with the calibration rows. Outliers among the latter make
    p-values larger: fewer rows are called novel, never more. Rows of the fit that the model has seen are none of them:
    Q of theirs is lower than that of new rows, and T² by a narrow kernel higher, so ``fit(X).predict(X)`` promises
    nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import NoveltyDetector
    >>> X = np.random.default_rng(0).normal(size=(400, 3))
    >>> detector = NoveltyDetector().fit(X)
    >>> detector.predict([[0.1, 0.2, -0.3], [9.0, 9.0, 9.0]])
    array([ 1, -1])
    """

    _parameter_constraints: ClassVar[dict] = {
        "estimator": [PCA, IncrementalPCA, ProbabilisticPCA, KernelPCA, None],
        "statistic": [StrOptions(set(STATISTICS))],
        "alpha": [Interval(RealNotInt, 0, 1, closed="neither")],
        "calibration": [Interval(RealNotInt, 0, 1, closed="neither"), Interval(Integral, 1, None, closed="left")],
        "trim": [Interval(Real, 0, 0.5, closed="left")],
        "prefit": ["boolean"],
        "random_state": ["random_state"],
    }

    estimator_: Any
    threshold_: float
    offset_: float
    calibration_scores_: Array
    n_features_in_: int
    feature_names_in_: Array
    _calibration: Calibration
    _statistic: str  # that of the fit, whatever the parameter is now

    def __init__(
        self,
        estimator: Any = None,
        *,
        statistic: str = "reconstruction",
        alpha: float = 0.1,
        calibration: float | int = 0.25,
        trim: float = 0.0,
        prefit: bool = False,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.statistic = statistic
        self.alpha = alpha
        self.calibration = calibration
        self.trim = trim
        self.prefit = prefit
        self.random_state = random_state

    # ------------------------------------------------------------------ fitting

    @all_or_nothing
    @fits
    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the model to some rows, and hold the scores of the others ready.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
            The rows, or whatever the model's kernel compares: texts, tables, series. Those of a file are read into
            memory.
        y : Ignored
            Present for compatibility.

        Returns
        -------
        self : NoveltyDetector
            The fitted detector.
        """
        self._statistic = self.statistic
        items = self._open_for_fitted(X) if self.prefit else self._fit_some(X)
        scores, sides = self._novelty(items), sides_of(self.estimator_)
        rounding = self._by_blocks(items, lambda rows, threads: sides.rounding(self.statistic, rows, threads))
        self._calibration = Calibration.of(scores, rounding)
        self.calibration_scores_ = self._calibration.sorted
        self.threshold_ = self._calibration.threshold(self.alpha)
        self.offset_ = -self.threshold_
        self._tell(len(scores))
        return self

    def _open_for_fitted(self, X: Any) -> Items:
        """The calibration rows of a model that is fitted already."""
        if self.estimator is None:
            raise ValueError("prefit=True says that the estimator is fitted, but there is none: give one.")
        if self.trim:
            raise ValueError(
                f"trim={self.trim:g} fits the model once more, and prefit=True says that it stays as it is."
            )
        check_is_fitted(self.estimator)
        self.estimator_, self.n_features_in_ = self.estimator, self.estimator.n_features_in_
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(self.estimator, "feature_names_in_"):
            self.feature_names_in_ = self.estimator.feature_names_in_
        return self._open(X, reset=False)

    def _fit_some(self, X: Any) -> Items:
        """Fit the model to the rows that are not held out; those that are."""
        if _is_of_matrix(self._asked()):
            raise ValueError(
                "A precomputed kernel matrix is between all rows of a fit, of which some are held out here: fit the "
                "model first, and give it with prefit=True and the matrix between calibration and training rows."
            )
        items = self._open(X, reset=True)
        held_out = self._held_out(len(items))
        training = items.in_memory(~held_out)
        self.estimator_ = clone(self._asked()).fit(training)
        if drop := int(self.trim * len(training)):
            kept = np.ones(len(training), dtype=bool)
            kept[np.argsort(self._novelty(training), kind="stable")[-drop:]] = False
            self.estimator_ = clone(self._asked()).fit(training.in_memory(kept))
        return items.in_memory(held_out)

    def _asked(self) -> Any:
        return usual_estimator() if self.estimator is None else self.estimator

    def _held_out(self, n: int) -> Array:
        """Which rows are for calibration: drawn by lot, and never so many that nothing can be learned."""
        share = not isinstance(self.calibration, Integral)
        m = min(max(1, round(self.calibration * n)), max(1, n - 2)) if share else int(self.calibration)
        if n - m < 2:
            raise BadData(
                f"n_samples={n} with {counted(m, 'row')} held out for calibration leaves {max(n - m, 0)} to learn "
                "from, and two are needed: give more rows."
            )
        held_out = np.zeros(n, dtype=bool)
        held_out[generator_of(self.random_state).permutation(n)[:m]] = True
        return held_out

    def _tell(self, m: int) -> None:
        """What a user should know about the thresholds."""
        if np.isinf(self.threshold_):
            fewest = Calibration.fewest(self.alpha)
            warn(
                f"alpha={self.alpha:g} takes at least {counted(fewest, 'calibration row')}, and there "
                f"{are(m)} {m}: no row will be called novel. Give more rows, or a larger alpha."
            )
        warn_each([sides_of(self.estimator_).doubt(self.statistic)])

    # ------------------------------------------------------------------ using

    def score_samples(self, X: Any) -> Array:
        """How usual every row is, the higher the more: minus the score of novelty.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            Minus Q, T², T²/k + Q/rest or −F.
        """
        check_is_fitted(self)
        return -self._novelty(self._open(X, reset=False))

    def decision_function(self, X: Any) -> Array:
        """The same from the threshold on: negative for rows that are novel.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        decisions : ndarray of shape (n_samples,)
            As ``score_samples(X) − offset_``.
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> Array:
        """Tell novel rows from usual ones: those whose p-value is at most `alpha`.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        verdicts : ndarray of shape (n_samples,)
            The number −1 for rows that are novel, and 1 for others.
        """
        return np.where(self.decision_function(X) < 0, -1, 1)

    def p_values(self, X: Any) -> Array:
        """How often a usual row would be as novel as this one: (1 + #{sⱼ ≥ s})/(m + 1) over m calibration scores.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        p_values : ndarray of shape (n_samples,)
            Small ones are novel; none is below 1/(m + 1).
        """
        return self._calibration.p_values(-self.score_samples(X))

    def select(self, X: Any, fdr: float = 0.1) -> Array:
        """Choose rows to call novel, so that of those chosen no more than a share `fdr` is expected to be usual.

        By Benjamini and Hochberg's rule on the p-values of all rows of X together. To choose one row among N takes
        p ≤ fdr/N, and so at least N/fdr calibration rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
            The rows.
        fdr : float, default=0.1
            The false discovery rate, between 0 and 1.

        Returns
        -------
        chosen : ndarray of shape (n_samples,)
            True for rows that are called novel.
        """
        if isinstance(fdr, bool) or not isinstance(fdr, Real) or not 0 < fdr < 1:
            raise ValueError(f"fdr is a share between 0 and 1; got {in_short(fdr)}.")
        return self._chosen(self.p_values(X), float(fdr))

    def statistics(self, X: Any) -> Array:
        """T² and Q of every row: how far it is from the mean inside the space of the components, and how far from it.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        statistics : ndarray of shape (n_samples, 2)
            One column for T², one for Q.
        """
        check_is_fitted(self)
        sides = sides_of(self.estimator_)
        return self._by_blocks(self._open(X, reset=False), lambda rows, threads: sides.statistics(rows, threads))

    def contributions(self, X: Any) -> Array:
        """What every column has to do with the novelty of every row.

        Of PCA, they add up to the score: squared residuals for Q, x_j·(WᵀΛ⁻¹y)_j with x from the mean for T², which
        may be negative, and their sum for T²/k + Q/rest. Of kernels, by how much the score falls if the cell is
        replaced by that of the nearest usual row that the model keeps (a training row, or a landmark): they need not
        add up to anything.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
            The rows, of numbers.

        Returns
        -------
        contributions : ndarray of shape (n_samples, n_features)
            Large ones say why a row is novel.
        """
        check_is_fitted(self)
        sides = sides_of(self.estimator_)
        explain = sides.explainer(self._statistic, self.threshold_)
        return self._by_blocks(self._open(X, reset=False), explain)

    # ------------------------------------------------------------------ from the inside

    @property
    def memory_limit(self) -> Any:
        """That of the model, for files that are opened here."""
        return self._asked().memory_limit

    def _open(self, X: Any, reset: bool) -> Items:
        """The items of X, as the model compares them."""
        model = self._asked() if reset else self.estimator_
        kind, gaps = kind_of_items(getattr(model, "kernel", None)), isinstance(model, ProbabilisticPCA)
        return open_items(self, X, reset=reset, square=_is_of_matrix(model), gaps=gaps, kind=kind)

    def _novelty(self, items: Items) -> Array:
        """Scores, the higher the more novel."""
        sides = sides_of(self.estimator_)
        return self._by_blocks(items, lambda rows, threads: sides.novelty(self._statistic, rows, threads))

    def _chosen(self, p_values: Array, fdr: float) -> Array:
        """By Benjamini and Hochberg's rule, with a word where it cannot choose any."""
        m = len(self.calibration_scores_)
        if 1 / (m + 1) > fdr:
            warn(
                f"No p-value of {counted(m, 'calibration row')} is below {1 / (m + 1):.3g}, so that nothing can be "
                f"chosen with fdr={fdr:g}. Give more rows."
            )
        return benjamini_hochberg(p_values, fdr)

    def _by_blocks(self, items: Items, function: Any) -> Array:
        model = self.estimator_
        new = model._new_items(items.load() if items.by_matrix else items)
        blocks = model._scored(new, function, whole=False)
        return np.concatenate([block for _, block in blocks])

    def _validate_params(self) -> None:
        check_parameters(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        own, inner = tags.input_tags, get_tags(self._asked()).input_tags
        own.sparse, own.positive_only, own.allow_nan = inner.sparse, inner.positive_only, inner.allow_nan
        return tags


def _is_of_matrix(model: Any) -> bool:
    return isinstance(model, KernelPCA) and is_precomputed(model)


def usual_estimator() -> KernelPCA:
    """The model that a detector takes if it is given none."""
    return KernelPCA(0.5, kernel="rbf", gamma="median", standardize=True, eigen_solver="landmark", n_landmarks=500)
