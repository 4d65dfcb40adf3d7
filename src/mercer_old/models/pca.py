"""PCA: scikit-learn's class, right at any mean, from memory or from files, with a proof.

`AtOnce` is what it shares with ProbabilisticPCA: rows that are looked at all at once, and how a fit of them goes.
"""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

from mercer_old.arrays import Array, Home, single_or_double
from mercer_old.drop_in.svd_solvers import refuse_foreign, resolve_svd_solver
from mercer_old.fits.door import open_items, read_once
from mercer_old.fits.foretold import with_linear_share
from mercer_old.fits.lazily import fit_transform_lazily
from mercer_old.fits.linear.task import LinearTask, linear_problem
from mercer_old.fits.linear.ways import find_axes
from mercer_old.fits.training import Training, weigh
from mercer_old.models.base import WEIGHTS_ON_REQUEST, all_or_nothing
from mercer_old.models.linear import LinearModel
from mercer_old.plans.linear import choose_linear_plan
from mercer_old.plans.pace import linear_plan_ahead
from mercer_old.plans.plan import Plan
from mercer_old.rule_names import RULES_OF
from mercer_old.sources.items import Items
from mercer_old.unpromised import Interval, RealNotInt, StrOptions, fits


@dataclass(frozen=True)
class _Asked:
    """What a fit asks of its model, where the number of components may have been found by then."""

    n_components: int | float | str | None
    svd_solver: str
    tol: float


class AtOnce(LinearModel):
    """A linear model that is fitted to all rows at once, by one of the ways to principal axes."""

    n_components: int | float | str | None
    svd_solver: str
    tol: float
    standardize: bool
    n_samples_: int

    @fit_transform_lazily
    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Fit, and return the scores of the rows of X as ``fit(X).transform(X)`` does.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
            The rows.
        y : Ignored
            Present for compatibility.
        sample_weight : array-like of shape (n_samples,), default=None
            As of `fit`.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_components)
            One row for each row of X, also for those of weight zero.
        """
        scores = self._by_blocks(self._fit_for_scores(X, sample_weight)[0])
        return self._home().bring(scores)

    @all_or_nothing
    @fits
    def _fit_for_scores(self, X: Any, sample_weight: Any) -> tuple[Items, None]:
        return self._fit(X, sample_weight), None

    def _fit(self, X: Any, sample_weight: Any) -> Items:
        """From rows to fitted names; returns the rows as they were given, checked."""
        home, X = self._home_of(X), read_once(self, X)
        task, given = self._task(X, sample_weight)
        found = find_axes(task, choose_linear_plan(task.problem, task.limits))
        self.n_samples_ = task.problem.n
        self._keep(found, home)
        return given

    def _task(self, X: Any, sample_weight: Any) -> tuple[LinearTask, Items]:
        training = weigh(self._training_items(X), sample_weight)
        if training.kept is not None:  # rows that are left out are scored all the same
            self._look_at_left_out(X)
        rows = training.items.as_rows()
        self._dtype = single_or_double(rows.dtype)
        asked = _Asked(self._number_asked(training), self.svd_solver, self.tol)
        self._fit_svd_solver = resolve_svd_solver(asked, (training.copies, rows.width), rows.sparse)
        problem, limits = linear_problem(asked, training.count, rows.width, rows, training.copies), self._limits()
        if isinstance(asked.n_components, float):
            problem = with_linear_share(
                problem, rows, training.weights, asked.n_components, limits, self._rng(), self.standardize
            )
        task = LinearTask(
            rows=rows,
            weights=training.weights,
            problem=problem,
            limits=limits,
            rng=self._rng,
            asked=asked.n_components,
            standardize=self.standardize,
            names=getattr(self, "feature_names_in_", None),
            progress=self.progress,
            look=lambda: self._look(X),
        )
        return task, training.all_items

    def _training_items(self, X: Any) -> Items:
        """The items of a fit: whoever sums them up sees what is not finite."""
        return open_items(self, X, reset=True, mapped=True, finite=False)

    def _look(self, X: Any) -> None:
        """For numbers that are not finite, with words for them."""
        open_items(self, X, reset=False)

    def _look_at_left_out(self, X: Any) -> None:
        """The same, of rows that do not count."""
        self._look(X)

    def _number_asked(self, training: Training) -> int | float | str | None:
        """How many components: a number, a share, a rule that looks at variances, or None for all of them."""
        return self.n_components

    def _home_of(self, X: Any) -> Home:
        """Where the rows are at home."""
        return Home.of(X)

    def _plan(self, X: Any, sample_weight: Any) -> Plan:
        task, _ = self._task(X, sample_weight)
        return linear_plan_ahead(task.problem, task.limits)


class PCA(AtOnce):
    """Principal component analysis, certified.

    Finds the orthonormal axes along which the rows vary most: the leading eigenvectors of the covariance matrix
    C = Σw(x − mean)(x − mean)ᵀ/(Σw − 1). A drop-in for ``sklearn.decomposition.PCA``: the same parameters, attributes
    and messages, and then some. Data with a large mean are right, files larger than memory are a normal case.

    Parameters
    ----------
    n_components : int, float, str or None, default=None
        How many components. A float in (0, 1): the fewest that explain more than this share of the variance, by every
        solver. A rule by its name, on all variances, a row of weight 2 counting twice: "parallel" and
        "deflated-parallel" (more than independent columns have), "marchenko-pastur", "gavish-donoho", "tracy-widom" and
        "patterson" (more than white noise has), "mle" (Minka's evidence), "bic" (Schwarz's criterion), "elbow",
        "broken-stick" or "kaiser"; `mercer.suggest` tells what each of them says. None: all.
    copy : bool, default=True
        Accepted for compatibility: X is never changed, and never copied as a whole.
    whiten : bool, default=False
        Divide every score by its standard deviation.
    svd_solver : {"auto", "full", "covariance_eigh", "arpack", "randomized", "qr", "gram", "krylov"}, default="auto"
        "full": LAPACK's SVD of the centred rows; "covariance_eigh": eigenvectors of the covariance, from one sweep;
        "qr": the SVD of a triangle from one sweep, slower than that and without squares; "gram": the n×n side;
        "krylov": products with the rows alone. "arpack" and "randomized" are accepted and served as "auto" is, which
        decides by the sizes and says why in ``plan_``.
    tol : float, default=0.0
        Bound on each component's residual, relative to its own eigenvalue, where products are used; 0: 1e-6.
    iterated_power : int or "auto", default="auto"
        Accepted for compatibility and not used.
    n_oversamples : int, default=10
        Accepted for compatibility and not used.
    power_iteration_normalizer : {"auto", "QR", "LU", "none"}, default="auto"
        Accepted for compatibility and not used.
    random_state : int, RandomState or None, default=None
        Of the start of "krylov" and of the certificate's probes. None is a fixed seed.
    standardize : bool, default=False
        Divide every column by its standard deviation first: PCA of the correlation matrix.
    n_jobs : int, default=None
        Threads, those of LAPACK among them; small fits take one. None: as many as the machine has, as limited by
        the environment.
    memory_limit : int, str or None, default=None
        Bytes, or a text such as "2GB". None: half of the machine's or container's memory.
    progress : bool or callable, default=False
        True shows a bar on stderr if that is a terminal; a function is called with a `mercer.progress.Progress` as the
        rows are read, and what it raises stops the fit.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The axes, most variance first, each with its largest entry positive.
    explained_variance_ : ndarray of shape (n_components,)
        The variance of every score, with n − 1 degrees of freedom; with weights Σw − 1.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Its share of ``total_variance_``.
    total_variance_ : float
        The variance of all columns together.
    singular_values_ : ndarray of shape (n_components,)
        Of the centred (and scaled) rows.
    mean_ : ndarray of shape (n_features,)
        Of the columns.
    scale_ : ndarray of shape (n_features,)
        Their standard deviations, only if ``standardize``.
    loadings_ : ndarray of shape (n_features, n_components)
        Axes times standard deviations.
    noise_variance_ : float
        The mean of the variances that were left out.
    reconstruction_error_ : float
        Mean squared distance of the rows (scaled, if ``standardize``) from what is left of them: (n − 1)/n times the
        sum of the variances that were left out.
    n_components_ : int
        How many components.
    n_samples_ : int
        How many rows.
    n_features_in_ : int
        How many columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, only if X has names that are texts.
    certificate_ : Certificate
        What is proven about the answer, on eigenvalues of the scatter matrix, (n − 1)·``explained_variance_``.
    plan_ : Plan
        What was done, and why.

    See Also
    --------
    IncrementalPCA : The same from batches of rows.
    KernelPCA : Components that are not straight.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import PCA
    >>> X = np.random.default_rng(0).normal(size=(1000, 3)) * [3, 2, 1] + 1e6
    >>> model = PCA(2).fit(X)
    >>> bool(model.certificate_.certified)
    True
    >>> model.explained_variance_.round(1).tolist()
    [8.8, 4.1]
    """

    __metadata_request__fit: ClassVar[dict] = WEIGHTS_ON_REQUEST

    _parameter_constraints: ClassVar[dict] = {
        "n_components": [
            Interval(Integral, 0, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="neither"),
            StrOptions(set(RULES_OF["pca"])),
            None,
        ],
        "copy": ["boolean"],
        "whiten": ["boolean"],
        "svd_solver": [StrOptions({"auto", "full", "covariance_eigh", "arpack", "randomized", "qr", "gram", "krylov"})],
        "tol": [Interval(Real, 0, None, closed="left")],
        "iterated_power": [StrOptions({"auto"}), Interval(Integral, 0, None, closed="left")],
        "n_oversamples": [Interval(Integral, 1, None, closed="left")],
        "power_iteration_normalizer": [StrOptions({"auto", "QR", "LU", "none"})],
        "random_state": ["random_state"],
        "standardize": ["boolean"],
        "n_jobs": [None, Integral],
        "memory_limit": [Interval(Real, 0, None, closed="neither"), str, None],
        "progress": ["boolean", callable],
    }

    def __init__(
        self,
        n_components: int | float | str | None = None,
        *,
        copy: bool = True,
        whiten: bool = False,
        svd_solver: str = "auto",
        tol: float = 0.0,
        iterated_power: int | str = "auto",
        n_oversamples: int = 10,
        power_iteration_normalizer: str = "auto",
        random_state: Any = None,
        standardize: bool = False,
        n_jobs: int | None = None,
        memory_limit: int | str | None = None,
        progress: Any = False,
    ) -> None:
        self.n_components = n_components
        self.copy = copy
        self.whiten = whiten
        self.svd_solver = svd_solver
        self.tol = tol
        self.iterated_power = iterated_power
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state
        self.standardize = standardize
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.progress = progress

    # ------------------------------------------------------------------ fitting

    @all_or_nothing
    @fits
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the principal axes of the rows of X.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
            The rows; a file of rows, or what `mercer.open_rows` made of one.
        y : Ignored
            Present for compatibility.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight 2 counts as that row twice; a row of weight 0 is left out.

        Returns
        -------
        self : PCA
            The fitted model.
        """
        self._fit(X, sample_weight)
        return self

    def _home_of(self, X: Any) -> Home:
        home = super()._home_of(X)
        if home.foreign:
            refuse_foreign(self)
        return home

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.array_api_support = self.svd_solver not in ("arpack", "randomized") or (
            self.svd_solver == "randomized" and self.power_iteration_normalizer == "QR"
        )
        tags.input_tags.sparse = self.svd_solver not in ("full", "randomized", "qr", "gram")
        return tags
