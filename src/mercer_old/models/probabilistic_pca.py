"""ProbabilisticPCA: the normal distribution behind PCA, by closed form; and for rows with gaps, by EM."""

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer_old.arrays import HERE, Array, Home
from mercer_old.errors import BadData
from mercer_old.fits.linear.folds import number_by_folds
from mercer_old.fits.linear.summing import OVERFLOW
from mercer_old.fits.linear.task import Axes
from mercer_old.fits.linear.units import squared_units
from mercer_old.fits.training import Training
from mercer_old.models.base import WEIGHTS_ON_REQUEST, all_or_nothing
from mercer_old.models.with_gaps import WithGaps, refuse_out_of_range
from mercer_old.rule_names import RULES_OF
from mercer_old.unpromised import Interval, RealNotInt, StrOptions, fits


class ProbabilisticPCA(WithGaps):
    """Probabilistic principal component analysis: a normal distribution with k directions of its own and equal noise.

    x = mean + Wz + ε with z ~ N(0, I) and ε ~ N(0, σ²I), so that x ~ N(mean, WWᵀ + σ²I) (Tipping and Bishop 1999). Of
    complete rows the most probable parameters follow from the spectrum λ of the covariance with 1/n, whichever way of
    `PCA` found it: σ² is the mean of the d − k variances that were left out, and W = V(Λ − σ²I)^½. Rows may have gaps:
    then they are found by expectation and maximisation, and the gaps can be filled.

    Parameters
    ----------
    n_components : int, float, str or None, default="cv"
        How many components. "cv": as many as tell best what was held out, of complete rows by the likelihood of rows in
        five folds, of rows with gaps by the error of numbers. Of complete rows also a share of the variance, a float in
        (0, 1), and all rules that `PCA` has, "mle" (Minka's evidence) and "bic" (Schwarz's criterion) among them. None:
        all, which leaves no noise of complete rows.
    whiten : bool, default=False
        Give z, of prior variance one, as scores, and not (Λ − σ²I)^½ z, which are in the units of the data.
    standardize : bool, default=False
        Divide every column by its standard deviation first. As the noise is the same for all columns, columns of
        different units want this.
    prior : {"normal", "ard", None}, default="normal"
        On the entries of W, for rows with gaps alone: "normal", of mean zero with one variance that is learned; "ard",
        with a variance for each factor, which switches off those that the rows do not bear out; None: maximum
        likelihood, which fits noise where numbers are few.
    held_out : float, default=0.01
        Share of the numbers, of rows with gaps, that is held out to measure the error of filled gaps, at least 1000
        numbers or a tenth of all. All numbers take part in the end. 0: none, unless ``n_components="cv"``.
    tol : float, default=0.0
        Where products are used, as in `PCA`. Of rows with gaps, what a pass has to gain, in nats for each number that
        is there; 0: 1e-5.
    max_iter : int, default=500
        Passes over rows with gaps, at most, of every climb: some numbers are held out of the first ones.
    svd_solver : {"auto", "full", "covariance_eigh", "qr", "gram", "krylov"}, default="auto"
        The way to the axes of complete rows, as in `PCA`.
    random_state : int, RandomState or None, default=None
        Of what is held out, and of the certificate's probes. None is a fixed seed.
    n_jobs : int, default=None
        Threads; None: as many as the machine has, as limited by the environment.
    memory_limit : int, str or None, default=None
        Bytes, or a text such as "2GB". None: half of the machine's or container's memory. Rows with gaps are held, six
        times over; of many in chunks of Dask, those of each chunk twice, by the worker of a cluster that works on it,
        and in this process only if there is no cluster.
    progress : bool or callable, default=False
        As in `PCA`.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The axes, largest variance first, each with its largest entry positive.
    explained_variance_ : ndarray of shape (n_components,)
        λ, the variance of rows along each axis, with 1/n (with weights 1/Σw), as maximum likelihood has it.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Its share of ``total_variance_``.
    total_variance_ : float
        Of all columns together.
    noise_variance_ : float
        σ². (``PCA.noise_variance_`` divides by n − 1, and by min(n, d) − k where rows are few.)
    loadings_ : ndarray of shape (n_features, n_components)
        W = V(Λ − σ²I)^½, of columns divided by ``scale_`` if there is one.
    loglike_ : float
        The log-likelihood of all numbers of the fit; of directions without variance nothing is said.
    mean_ : ndarray of shape (n_features,)
        Of the distribution; of complete rows, of the columns.
    scale_ : ndarray of shape (n_features,)
        Standard deviations of the columns (with n − 1), only if ``standardize``.
    singular_values_ : ndarray of shape (n_components,)
        √(nλ).
    reconstruction_error_ : float
        (d − k)σ²: mean squared distance of rows from the plane of the axes.
    n_missing_ : ndarray of shape (n_features,)
        How many numbers every column misses.
    n_iter_ : int
        Passes over rows with gaps, of the climb that led to the answer and of the one before, without some numbers;
        1 for complete ones.
    n_components_ : int
        How many components.
    n_samples_ : int
        How many rows.
    n_features_in_ : int
        How many columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, only if X has names that are texts.
    certificate_ : Certificate or FillingCertificate
        Of complete rows, what is proven about the axes; of rows with gaps, how the climb ended and how well numbers
        are told that were held out.
    plan_ : Plan
        What was done, and why.

    See Also
    --------
    PCA : The same axes, without a distribution.
    NoveltyDetector : Which rows are unlike those of the fit.

    Notes
    -----
    Scores are posterior means: those of `PCA`, each times 1 − σ²/λ, as part of it is noise; without noise they are the
    same. Gaps are taken as missing at random: whether a number is there may depend on others that are, not on itself.
    Where it does (incomes that the rich leave out), means and filled gaps are off by as much as those who answer differ
    from those who do not, and nothing in the data says so.

    References
    ----------
    Tipping and Bishop (1999), Probabilistic principal component analysis, JRSS B 61. Ilin and Raiko (2010), Practical
    approaches to principal component analysis in the presence of missing values, JMLR 11.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import ProbabilisticPCA
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 1)) @ [[2.0, 1.0, -1.0, 0.5]] + 0.1 * rng.normal(size=(200, 4))
    >>> X[3, 1] = np.nan
    >>> model = ProbabilisticPCA(1).fit(X)
    >>> bool(abs(model.impute(X)[3, 1] - X[3, 0] / 2) < 0.5)
    True
    """

    __metadata_request__fit: ClassVar[dict] = WEIGHTS_ON_REQUEST

    _parameter_constraints: ClassVar[dict] = {
        "n_components": [
            Interval(Integral, 0, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="neither"),
            StrOptions(set(RULES_OF["ppca"])),
            None,
        ],
        "whiten": ["boolean"],
        "standardize": ["boolean"],
        "prior": [StrOptions({"normal", "ard"}), None],
        "held_out": [Interval(Real, 0, 0.5, closed="both")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "svd_solver": [StrOptions({"auto", "full", "covariance_eigh", "qr", "gram", "krylov"})],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
        "memory_limit": [Interval(Real, 0, None, closed="neither"), str, None],
        "progress": ["boolean", callable],
    }

    def __init__(
        self,
        n_components: int | float | str | None = "cv",
        *,
        whiten: bool = False,
        standardize: bool = False,
        prior: str | None = "normal",
        held_out: float = 0.01,
        tol: float = 0.0,
        max_iter: int = 500,
        svd_solver: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        memory_limit: int | str | None = None,
        progress: Any = False,
    ) -> None:
        self.n_components = n_components
        self.whiten = whiten
        self.standardize = standardize
        self.prior = prior
        self.held_out = held_out
        self.tol = tol
        self.max_iter = max_iter
        self.svd_solver = svd_solver
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.progress = progress

    # ------------------------------------------------------------------ fitting

    @all_or_nothing
    @fits
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the distribution under which the rows of X are most probable.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
            The rows. What is NaN, masked, null, or an empty cell of a file is missing.
        y : Ignored
            Present for compatibility.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight 2 counts as that row twice; a row of weight 0 is left out.

        Returns
        -------
        self : ProbabilisticPCA
            The fitted model.
        """
        self._fit(X, sample_weight)
        return self

    def _number_asked(self, training: Training) -> int | float | str | None:
        if self.n_components != "cv":
            return self.n_components
        rows = training.items.as_rows()
        with self._within_limits():
            found = number_by_folds(rows, training.weights, self.standardize, self._limits(), self._rng())
        if found is None:
            self._stumble(rows)
            raise BadData(OVERFLOW)
        return found

    def _keep(self, found: Axes, home: Home = HERE) -> None:
        """With 1/n, and noise in all d − k directions that were left out."""
        refuse_out_of_range(found.total / found.weight, found.unit)
        super()._keep(replace(found, per_degree=1 / found.weight), home)
        k, d = len(found.values), len(found.mean)
        rest = found.rest / found.weight / (d - k) if d > k else 0.0
        self.noise_variance_ = squared_units(rest, found.unit)
        self.n_missing_, self.n_iter_ = home.bring(np.zeros(d, dtype=np.int64)), 1
        scale = 1.0 if found.scale is None else found.scale
        self.loglike_ = found.weight * _log_likelihood(
            found.values / found.weight,
            rest,
            d,
            float(np.log(np.broadcast_to(scale * found.unit, d)).sum()),
            found.unit,
        )

    @property
    def loadings_(self) -> Array:
        """W = V(Λ − σ²I)^½ (d×k): the covariance of every column with every score of prior variance one."""
        check_is_fitted(self)
        _, _, axes = self._variances()
        return axes.T * self._lengths()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.array_api_support = True
        tags.input_tags.sparse = self.svd_solver not in ("full", "qr", "gram")
        tags.input_tags.allow_nan = True
        return tags


def _log_likelihood(variances: Array, noise: float, d: int, scales: float, unit: float) -> float:
    """−½[Σ log 2πλ + (d − k)·log 2πσ² + d] − Σ log scale for each row; of directions without variance nothing."""
    every = np.append(variances, np.full(d - len(variances), noise))
    there = every > np.finfo(float).eps * every.max(initial=0.0)
    lost = (len(every) - there.sum()) * np.log(unit)  # of which nothing is said, in no unit
    return float(-(np.log(2 * np.pi * every[there]).sum() + there.sum()) / 2 - scales + lost)
