"""Factor analysis: a few shared factors, and for each column a noise of its own."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from mercer_old.arrays import Array, dense, single_or_double
from mercer_old.certificates.optima import LocalOptimum
from mercer_old.errors import warn, warn_each
from mercer_old.fits.door import open_items
from mercer_old.fits.factors import Columns, FactorNormal, Factors, find_factors, rotated, sum_up_columns
from mercer_old.fits.factors.search import about_floor
from mercer_old.fits.lazily import lazy_on_collections
from mercer_old.fits.linear.task import LinearTask
from mercer_old.fits.refusals import pointing_to_gaps, refuse_too_many
from mercer_old.inputs import table, told_where
from mercer_old.models.base import Model, RebuildsRows, all_or_nothing
from mercer_old.plans.factors import choose_factor_plan
from mercer_old.plans.linear import LinearProblem
from mercer_old.plans.plan import Plan
from mercer_old.progress import working
from mercer_old.sources.items import Items
from mercer_old.unpromised import Interval, StrOptions, fits


class FactorAnalysis(RebuildsRows, Model):
    """Factor analysis by maximum likelihood, to the top of it.

    x ~ N(mean, WᵀW + Ψ): k factors that columns share (W, k×d), and a diagonal Ψ of noises, one for each column. PCA
    explains variances, factor analysis correlations: a column of its own, however loud, ends in Ψ. Multiplying a column
    by a number multiplies its loadings by it, and changes nothing else.

    For a given Ψ the best W follows from the leading eigenvectors of Ψ^−½CΨ^−½, with the covariance C of one sweep; the
    likelihood that remains is a function of log Ψ with a simple gradient, (WᵀW + Ψ − C)ⱼⱼ/ψⱼ, and L-BFGS takes it to
    its top (Jöreskog 1967). A drop-in for ``sklearn.decomposition.FactorAnalysis``, whose EM takes small steps and may
    stop far from there.

    Parameters
    ----------
    n_components : int, default=None
        How many factors; None: as many as columns.
    tol : float, default=1e-5
        Largest entry of the gradient of −(2/n)·log-likelihood in log Ψ at which the search ends.
    copy : bool, default=True
        Accepted for compatibility: X is never changed.
    max_iter : int, default=1000
        Iterations at most.
    noise_variance_init : array-like of shape (n_features,), default=None
        Where the search starts; None: a little less than what the other columns leave of each.
    svd_method : {"lapack", "randomized"}, default="randomized"
        Accepted for compatibility and not used.
    iterated_power : int, default=3
        Accepted for compatibility and not used.
    rotation : {"varimax", "quartimax"}, default=None
        Turn the factors so that each column loads on few of them.
    random_state : int, RandomState or None, default=None
        Accepted for compatibility and not used: nothing is random.
    n_jobs : int, default=None
        Threads. None: as many as the machine has, as limited by the environment.
    memory_limit : int, str or None, default=None
        Bytes the fit may use beyond X, or a text such as "2GB"; None is half of the machine's.
    progress : bool or callable, default=False
        True shows a bar on a terminal; a function is called with a `mercer.progress.Progress`.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The loadings W, by falling strength; the largest entry of each factor is positive (before a rotation).
    noise_variance_ : ndarray of shape (n_features,)
        Ψ. Of columns that do not vary it is zero, and the model says nothing of them. It is held at 1e-6 of the
        variance or above, which is told where it matters (Heywood's case).
    mean_ : ndarray of shape (n_features,)
        Mean of each column.
    loglike_ : list of float, one more than steps
        Log-likelihood of all rows, at the start and after each iteration.
    n_iter_ : int
        Iterations of the search.
    n_samples_ : int
        How many rows.
    certificate_ : LocalOptimum
        Start, end and the gradient that is left; print it.
    plan_ : Plan
        What was done, and why.
    n_features_in_ : int
        How many columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, only if X has names that are texts.

    See Also
    --------
    PCA : The same noise for all columns, in closed form.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import FactorAnalysis
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 1)) @ np.ones((1, 4)) + rng.normal(size=(500, 4)) * [0.1, 0.5, 1, 2]
    >>> FactorAnalysis(1).fit(X).noise_variance_.round(1)
    array([0. , 0.2, 1. , 4. ])
    """

    components_: Array
    noise_variance_: Array
    mean_: Array
    loglike_: list[float]
    n_iter_: int
    n_samples_: int
    certificate_: LocalOptimum
    plan_: Plan
    n_features_in_: int
    feature_names_in_: Array

    _parameter_constraints: ClassVar[dict] = {
        "n_components": [Interval(Integral, 0, None, closed="left"), None],
        "tol": [Interval(Real, 0, None, closed="left")],
        "copy": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "noise_variance_init": ["array-like", None],
        "svd_method": [StrOptions({"lapack", "randomized"})],
        "iterated_power": [Interval(Integral, 0, None, closed="left")],
        "rotation": [StrOptions({"varimax", "quartimax"}), None],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
        "memory_limit": [Interval(Real, 0, None, closed="neither"), str, None],
        "progress": ["boolean", callable],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        tol: float = 1e-5,
        copy: bool = True,
        max_iter: int = 1000,
        noise_variance_init: Any = None,
        svd_method: str = "randomized",
        iterated_power: int = 3,
        rotation: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        memory_limit: int | str | None = None,
        progress: Any = False,
    ) -> None:
        self.n_components = n_components
        self.tol = tol
        self.copy = copy
        self.max_iter = max_iter
        self.noise_variance_init = noise_variance_init
        self.svd_method = svd_method
        self.iterated_power = iterated_power
        self.rotation = rotation
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.progress = progress

    # ------------------------------------------------------------------ fitting

    @all_or_nothing
    @fits
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find noises and loadings of the greatest likelihood.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
            The rows; a file of rows, or what `mercer.open_rows` made of one. They are read once; with more columns than
            rows they are held in memory, dense.
        y : Ignored
            Present for compatibility.

        Returns
        -------
        self : FactorAnalysis
            The fitted model.
        """
        self._fit(X)
        return self

    @all_or_nothing
    @fits
    def _fit_for_scores(self, X: Any, sample_weight: Any) -> tuple[Items, None]:
        if sample_weight is not None:
            raise ValueError("Factor analysis has no weights of rows; leave out sample_weight.")
        return self._fit(X), None

    def _fit(self, X: Any) -> Items:
        """From rows to fitted names; returns the rows, checked."""
        items, task = self._task(X)
        plan, start = choose_factor_plan(task.problem, task.limits), self._start(task.problem.d)
        with working(self.progress, 2, "sweep and iterations", threads=task.limits.threads) as on_pass:
            columns = sum_up_columns(task, on_pass)
            found = find_factors(columns, self._number(task.problem.d), self.tol, self.max_iter, start, on_pass)
        self._keep(columns, found, plan)
        return items

    def _task(self, X: Any) -> tuple[Items, LinearTask]:
        with pointing_to_gaps():
            items = open_items(self, X, reset=True, mapped=True)
        rows, limits = items.as_rows(), self._limits()
        self._dtype = single_or_double(rows.dtype)
        problem = LinearProblem(
            n=len(rows),
            d=rows.width,
            k=self._number(rows.width),
            sparse=rows.sparse,
            density=rows.density,
            held=rows.held,
            itemsize=rows.dtype.itemsize,
            reading=rows.overhead,
        )
        task = LinearTask(
            rows, None, problem, limits, self._rng, problem.k, standardize=True, look=lambda: self._new_items(X)
        )
        return items, task

    def _number(self, d: int) -> int:
        k = d if self.n_components is None else int(self.n_components)
        refuse_too_many(k, d, "column")
        return k

    def _start(self, d: int) -> Array | None:
        if self.noise_variance_init is None:
            return None
        start = np.asarray(self.noise_variance_init, dtype=np.float64)
        if start.shape != (d,):
            raise ValueError(
                f"noise_variance_init has the shape {start.shape}, and one number for each of {d} columns is needed."
            )
        if not (start > 0).all() or not np.isfinite(start).all():
            raise ValueError("noise_variance_init holds variances: they must be positive and finite.")
        return start

    def _keep(self, columns: Columns, found: Factors, plan: Plan) -> None:
        """All fitted names, in one place."""
        loadings = found.loadings
        self.components_ = loadings if self.rotation is None else rotated(loadings, self.rotation)
        self.noise_variance_, self.mean_, self.n_samples_ = found.noise, columns.mean, columns.count
        self.loglike_, self.n_iter_ = found.likelihoods, found.certificate.iterations
        self.certificate_, self.plan_ = found.certificate, plan
        names = getattr(self, "feature_names_in_", None)
        warn_each([*_about_constant(columns), *about_floor(found, names)])
        if not found.certificate.converged:
            warn(
                f"The search ended with a gradient of {found.certificate.gradient:.1g} after "
                f"{self.n_iter_} iterations, above tol={self.tol:g}; give a larger max_iter or tol.",
                ConvergenceWarning,
            )

    def _plan(self, X: Any, sample_weight: Any) -> Plan:
        _, task = self._task(X)
        return choose_factor_plan(task.problem, task.limits)

    # ------------------------------------------------------------------ scores and back

    @lazy_on_collections
    def transform(self, X: Any) -> Array:
        """The expected factors of every row: (I + WΨ⁻¹Wᵀ)⁻¹WΨ⁻¹(x − mean).

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        factors : ndarray of shape (n_samples, n_components)
            Shrunk towards zero, the more the less the columns say.
        """
        return self._by_blocks(self._new_items(X))

    def inverse_transform(self, X: Any) -> Array:
        """The expected rows with these factors: mean + Wᵀz.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            The factors.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features)
            Without noise.
        """
        check_is_fitted(self)
        X = table(X)
        with told_where(X):
            factors = check_array(X, input_name="X", dtype=[np.float64, np.float32], ensure_min_features=0)
        if factors.shape[1] != len(self.components_):
            raise ValueError(
                f"X has {factors.shape[1]} features, but the inverse transform is expecting {len(self.components_)}: "
                "one for each component."
            )
        return factors @ self.components_ + self.mean_

    def _new_items(self, X: Any) -> Items:
        check_is_fitted(self)
        with pointing_to_gaps():
            return open_items(self, X, reset=False, mapped=True)

    def _scores(self, rows: Any, threads: int) -> Array:
        axes = self._normal().axes
        with np.errstate(over="ignore", invalid="ignore"):  # which is refused with the row
            if sparse.issparse(rows):
                return rows @ axes.T - axes @ self.mean_
            return (rows - self.mean_) @ axes.T

    def _normal(self) -> FactorNormal:
        """As the fitted names are now."""
        check_is_fitted(self)
        return FactorNormal(self.components_, self.noise_variance_, self.mean_)

    def _dtype_of_scores(self, items: Any) -> Any:
        return np.float32 if items.dtype == np.float32 and self._dtype == np.float32 else np.float64

    # ------------------------------------------------------------------ the normal distribution that fits

    def get_covariance(self) -> Array:
        """WᵀW + Ψ.

        Returns
        -------
        covariance : ndarray of shape (n_features, n_features)
            Of the columns.
        """
        return self._normal().covariance

    def get_precision(self) -> Array:
        """The inverse of `get_covariance`: Ψ⁻¹ − Ψ⁻¹Wᵀ(I + WΨ⁻¹Wᵀ)⁻¹WΨ⁻¹; zero for columns that do not vary.

        Returns
        -------
        precision : ndarray of shape (n_features, n_features)
            Its inverse.
        """
        return self._normal().precision

    def score_samples(self, X: Any) -> Array:
        """The log-likelihood of every row: −½[d·log 2π + log|C| + (x − mean)ᵀC⁻¹(x − mean)], C = WᵀW + Ψ.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        likelihoods : ndarray of shape (n_samples,)
            Their logarithms; columns that did not vary count for nothing.
        """
        items, normal = self._new_items(X), self._normal()
        blocks = self._scored(items, lambda block, threads: normal.log_density(dense(block, np.float64)), whole=False)
        return np.concatenate([densities for _, densities in blocks])

    def score(self, X: Any, y: Any = None) -> float:
        """The mean log-likelihood of the rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
            The rows.
        y : Ignored
            Present for compatibility.

        Returns
        -------
        likelihood : float
            The mean of `score_samples`.
        """
        return float(np.mean(self.score_samples(X)))

    # ------------------------------------------------------------------ scikit-learn's ways

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _about_constant(columns: Columns) -> list[str]:
    still = len(columns.mean) - int(columns.varying.sum())
    if not still:
        return []
    return [f"{still} of {len(columns.mean)} columns do not vary; factor analysis says nothing of them."]
