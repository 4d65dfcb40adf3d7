"""Factor analysis by maximum likelihood: x ~ N(mean, WᵀW + Ψ) with one noise variance for each column.

For given noise variances the best loadings W follow from the leading eigenpairs (λᵢ, uᵢ) of Ψ^−½RΨ^−½, R the
correlations: row i of W is √(λᵢ − 1)₊·Ψ^½uᵢ (Lawley 1940). With t = log ψ the likelihood that remains is

    −(2/n)·log L − d·log 2π = F(t) = Σⱼ (tⱼ + 1/ψⱼ) − Σ_{i≤k} [(λᵢ − 1)₊ − log max(λᵢ, 1)],
    ∂F/∂tⱼ = (WᵀW + Ψ − R)ⱼⱼ/ψⱼ

(Jöreskog 1967), which L-BFGS minimizes. Everything is computed in units in which each column has variance one, so
the result does not depend on the units of X.
"""

from collections.abc import Callable
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from sklearn.utils.validation import check_is_fitted

from mercer.certificates.optimum import OptimumCertificate
from mercer.compat.sklearn_private import Interval, NotConvergedWarning, StrOptions
from mercer.contract import LinearMap
from mercer.data.dataset import Dataset
from mercer.errors import DataError, ParameterError, Remedy, warn
from mercer.estimators._base import COMMON_ATTRIBUTES, COMMON_CONSTRAINTS, fit_method
from mercer.estimators._linear import LinearEstimator, log_likelihood
from mercer.estimators._linear_solve import OVERFLOW, LinearProblem, accumulate_rows
from mercer.linalg.dense import leading_eigenpairs
from mercer.linalg.eigen import column_signs
from mercer.linalg.krylov import BlockKrylov
from mercer.linalg.operators import MatrixOperator
from mercer.linalg.scatter import ScatterDiagonal, ScatterMatrix
from mercer.numerics.optimize import Minimum, minimize
from mercer.numerics.rounding import TINY, power_of_two
from mercer.numerics.threads import blas_threads, working
from mercer.planning.plan import Plan
from mercer.planning.plan_linear import plan_factor_analysis
from mercer.storable import Stored
from mercer.text import counted, listed

_FLOOR = 1e-6  # of the variance of a column: no noise variance is smaller
_EM_STEPS = 2  # before L-BFGS; long where the noise variances are not known
_LAPACK_COLUMNS = 400  # up to which LAPACK is as fast as Krylov iterations from the last eigenvectors
_COLUMNS_PER_FACTOR = 10  # below which LAPACK computes all eigenvectors
_ROTATIONS, _ROTATION_GAIN = 500, 1e-10  # iterations of a rotation, and the relative gain that ends them


class FactorAnalysis(LinearEstimator):
    """Factor analysis by maximum likelihood.

    Fits x ~ N(mean, WᵀW + Ψ): k factors that columns share and a diagonal Ψ of noise variances. PCA explains
    variances, factor analysis correlations: a column of high variance that is uncorrelated with the others does not
    form a factor. A drop-in replacement for `sklearn.decomposition.FactorAnalysis`, whose EM algorithm may stop far
    from the optimum.

    Parameters
    ----------
    n_components : int, default=None
        Number of factors. None: the number of columns.
    tol : float, default=1e-5
        Largest entry of the gradient of −(2/n)·log-likelihood with respect to log Ψ at which the search ends.
    copy : bool, default=True
        Ignored. X is never changed.
    max_iter : int, default=1000
        Maximum number of iterations.
    noise_variance_init : array-like of shape (n_features,), default=None
        Starting point of the noise variances. None: somewhat less than the part of each column that the other
        columns do not explain.
    svd_method : {"lapack", "randomized"}, default="randomized"
        Ignored.
    iterated_power : int, default=3
        Ignored.
    rotation : {"varimax", "quartimax"}, default=None
        Orthogonal rotation of the factors such that each column loads on few of them.
    random_state : int, RandomState or None, default=None
        Ignored. Nothing is random.
    n_jobs : int, default=None
        Number of threads. None: all processors.
    memory_limit : int, str or None, default=None
        Bytes, or a text such as "2GB". None: half of the memory of the machine or container.
    progress : bool or callable, default=False
        True: a progress bar. A function is called with a `Progress`.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Loadings W, strongest factor first. Before a rotation the entry of largest modulus of each factor is positive.
    noise_variance_ : ndarray of shape (n_features,)
        Noise variances Ψ. Zero for constant columns, otherwise at least 1e-6 of the variance of the column.
    loadings_ : ndarray of shape (n_features, n_components)
        Transpose of ``components_``.
    mean_ : ndarray of shape (n_features,)
        Per-feature empirical mean, estimated from the training set.
    loglike_ : list of float
        Log-likelihood of the training rows at the start and after each iteration.
    n_iter_ : int
        Number of iterations.
    n_components_, n_samples_, n_features_in_ : int
        Number of factors, of training rows, and of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features. Only if X has names that are strings.
    certificate_ : OptimumCertificate
        Start, end and remaining gradient of the search. The optimum is local: another start may end elsewhere.
    plan_ : Plan
        The route of the fit and its reason.
    fit_warnings_ : tuple of MercerWarning
        Warnings of the fit.

    See Also
    --------
    PCA : Components of largest variance.
    ProbabilisticPCA : The same model with one noise variance for all columns, in closed form.

    References
    ----------
    Jöreskog, K. G. (1967). Some contributions to maximum likelihood factor analysis. Psychometrika 32, 443–482.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.estimators import FactorAnalysis
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 1)) @ np.ones((1, 4)) + rng.normal(size=(500, 4)) * [0.1, 0.5, 1, 2]
    >>> FactorAnalysis(1).fit(X).noise_variance_.round(1)
    array([0. , 0.2, 1. , 4. ])
    """

    model_key = "fa"
    whiten = False
    noise_variance_: Any  # one for each column
    _stored_attributes = (
        *COMMON_ATTRIBUTES,
        Stored("components_", "float", "kd"),
        Stored("noise_variance_", "float", "d"),
        Stored("mean_", "float", "d"),
        Stored("loglike_", "numbers"),
        Stored("n_iter_", "count"),
    )
    _parameter_constraints: ClassVar[dict] = {
        "n_components": [Interval(Integral, 0, None, closed="left"), None],
        "tol": [Interval(Real, 0, None, closed="left")],
        "copy": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "noise_variance_init": ["array-like", None],
        "svd_method": [StrOptions({"lapack", "randomized"})],
        "iterated_power": [Interval(Integral, 0, None, closed="left")],
        "rotation": [StrOptions({"varimax", "quartimax"}), None],
        **COMMON_CONSTRAINTS,
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

    @fit_method
    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the model with X.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Dataset} of shape (n_samples, n_features)
            Training data, or a file. With more columns than rows it is loaded into memory.
        y : Ignored
            Present for API consistency.

        Returns
        -------
        self : FactorAnalysis
            The fitted estimator.
        """
        self._fit(self._open(X, reset=True, check_finite=False), None)
        return self

    def _fit(self, data: Dataset, sample_weight: Any) -> NDArray | None:
        if sample_weight is not None:
            raise ParameterError(
                "sample_weight", "given", "None", message="FactorAnalysis does not support sample_weight."
            )
        plan, start, k = self._plan(data, None), self._noise_start(data.shape[1]), self._n_factors(data)
        with working(self.progress, 2, "passes and iterations", self.resources().threads) as progress:
            columns = summarize_columns(self._problem(data), progress)
            profile = ProfileLikelihood(columns.correlations, min(k, int(columns.varying.sum())))
            if start is not None:
                start = np.log(start[columns.varying] / columns.variances[columns.varying])
            before, found = _maximize(profile, start, self.tol, self.max_iter, progress)
        self._store_factors(columns, profile, before, found, k)
        self.plan_ = plan
        return None

    def _plan(self, data: Dataset, sample_weight: Any) -> Plan:
        return plan_factor_analysis(self._problem(data).sizes, self.resources())

    def _problem(self, data: Dataset) -> LinearProblem:
        return self._linear_problem(data, None, self._n_factors(data), standardize=True, budget=self.resources())

    def _n_factors(self, data: Dataset) -> int:
        d = data.shape[1]
        if self.n_components is not None and self.n_components > d:
            requirement, remedies = f"at most {d}, the number of columns", [Remedy("n_components", d)]
            raise ParameterError("n_components", self.n_components, requirement, remedies=remedies)
        return d if self.n_components is None else int(self.n_components)

    def _noise_start(self, d: int) -> NDArray | None:
        if self.noise_variance_init is None:
            return None
        start = np.asarray(self.noise_variance_init, dtype=np.float64)
        if start.shape != (d,) or not (start > 0).all() or not np.isfinite(start).all():
            requirement = f"{d} positive, finite numbers, one for each column"
            span = f"values from {start.min(initial=np.inf):.3g} to {start.max(initial=-np.inf):.3g}"
            message = f"noise_variance_init must contain {requirement}, but has shape {start.shape} and {span}."
            raise ParameterError("noise_variance_init", start, requirement, message=message)
        return start

    def _store_factors(
        self, columns: "ColumnSummary", profile: "ProfileLikelihood", before: list[float], found: Minimum, k: int
    ) -> None:
        """Set the fitted attributes, and warn."""
        varying, variances = columns.varying, columns.variances[columns.varying]
        loadings, noise = np.zeros((k, len(varying))), np.zeros(len(varying))
        loadings[: profile.k, varying] = profile.loadings(found.x) * np.sqrt(variances)
        noise[varying] = np.exp(found.x) * variances
        self.components_ = loadings if self.rotation is None else rotate(loadings, self.rotation)
        self.noise_variance_, self.mean_, self.n_samples_ = noise, columns.mean, columns.n_samples
        self.n_components_, constant = k, (np.log(2 * np.pi) + np.log(variances)).sum()
        self.loglike_ = [float(-columns.n_samples / 2 * (constant + value)) for value in [*before, *found.values]]
        self.n_iter_ = len(self.loglike_) - 1
        at_floor = np.flatnonzero(varying)[found.x <= np.log(2 * _FLOOR)]
        held = f"{counted(len(at_floor), 'noise variance')} at the lower bound, where the likelihood still increases."
        self.certificate_ = OptimumCertificate(
            objective="Log-likelihood of the rows",
            start=self.loglike_[0],
            end=self.loglike_[-1],
            gradient=found.gradient_norm,
            tol=self.tol,
            n_iter=self.n_iter_,
            notes=(held,) if len(at_floor) else (),
        )
        names = [repr(name) for name in self.feature_names]
        if not varying.all():
            warn(f"Constant columns are left out: {listed(names[j] for j in np.flatnonzero(~varying))}.")
        if len(at_floor):
            warn(
                f"The noise variance of {len(at_floor)} of {len(varying)} columns is at its lower bound, {_FLOOR:g} of "
                f"the variance (Heywood case): {listed(names[j] for j in at_floor)}. Use fewer factors, or drop "
                "columns that others determine."
            )
        if not self.certificate_.converged:
            self._warn_about_convergence()

    def _warn_about_convergence(self) -> None:
        if self.n_iter_ >= self.max_iter:
            cause, remedy = f"Stopped after max_iter={self.max_iter}", Remedy("max_iter", 10 * self.max_iter)
        else:  # more iterations would not help
            cause = f"Rounding ended the search after {counted(self.n_iter_, 'iteration')}"
            remedy = Remedy("tol", float(f"{2 * self.certificate_.gradient:.0e}"))
        gradient = f"the largest entry of the gradient is {self.certificate_.gradient:.1g}, above tol={self.tol:g}"
        warn(f"{cause}: {gradient}.", remedies=[remedy], category=NotConvergedWarning)

    # ------------------------------------------------------------------ the contract

    @property
    def loadings_(self) -> NDArray:
        """Wᵀ, (n_features, n_components)."""
        check_is_fitted(self)
        return self.components_.T

    def _map(self, whiten: bool) -> LinearMap:
        """Posterior means (I + WΨ⁻¹Wᵀ)⁻¹WΨ⁻¹(x − mean), from the attributes as they are now."""
        check_is_fitted(self)
        root, U, s, axes = self._decompose()
        encoder = (U * (s / (1 + s * s))) @ axes * root
        return LinearMap(self.mean_, np.ones(len(self.mean_)), self.components_, encoder, self.components_)

    def spectrum(self) -> None:  # type: ignore[override]
        """Factor analysis has no spectrum."""

    def project(self, rows: Any, *, rounding: bool = False) -> None:  # type: ignore[override]
        """Factors are posterior means, not projections."""

    # ------------------------------------------------------------------ the normal distribution

    def get_covariance(self) -> NDArray:
        """Return WᵀW + Ψ.

        Returns
        -------
        covariance : ndarray of shape (n_features, n_features)
            Covariance of the columns under the model.
        """
        check_is_fitted(self)
        covariance = self.components_.T @ self.components_
        covariance.flat[:: len(covariance) + 1] += self.noise_variance_
        return covariance

    def get_precision(self) -> NDArray:
        """Return the inverse of `get_covariance`; zero for constant columns.

        Returns
        -------
        precision : ndarray of shape (n_features, n_features)
            Inverse of the covariance.
        """
        covariance = self.get_covariance()
        varying = np.flatnonzero(np.diag(covariance) > 0)
        roots = np.sqrt(np.diag(covariance)[varying])
        correlations = covariance[np.ix_(varying, varying)] / roots / roots[:, None]
        precision = np.zeros_like(covariance)
        inverse = linalg.cho_solve(linalg.cho_factor(correlations), np.eye(len(varying)))
        precision[np.ix_(varying, varying)] = (inverse + inverse.T) / 2 / roots / roots[:, None]
        return precision

    def _log_density(self) -> Callable[[Any], NDArray]:
        """The density of Ψ^−½(x − mean) ~ N(0, I + Vdiag(s²)Vᵀ); constant columns are left out."""
        root, _, s, axes = self._decompose()
        present = root > 0
        constant = 2 * np.log(root[present]).sum() - np.log1p(s * s).sum() - present.sum() * np.log(2 * np.pi)
        scale = np.divide(1.0, root, out=np.full(len(root), np.inf), where=present)
        arguments = {"axes": axes, "inverse": 1 / (1 + s * s), "outside": 1.0, "constant": constant}
        return partial(log_likelihood, mean=self.mean_, scale=scale, **arguments)

    def _decompose(self) -> tuple[NDArray, NDArray, NDArray, NDArray]:
        """Ψ^−½, zero for constant columns, and U, s, Vᵀ of WΨ^−½ = U diag(s)Vᵀ."""
        noise = np.asarray(self.noise_variance_, dtype=np.float64)
        root = np.divide(1.0, np.sqrt(noise), out=np.zeros(len(noise)), where=noise > 0)
        return root, *linalg.svd(self.components_ * root, full_matrices=False)

    def to_sklearn(self) -> Any:
        """Return a fitted `sklearn.decomposition.FactorAnalysis` with the same attributes.

        Returns
        -------
        estimator : sklearn.decomposition.FactorAnalysis
            An independent copy.
        """
        from mercer.compat.to_sklearn import to_sklearn_factor_analysis

        return to_sklearn_factor_analysis(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


# ---------------------------------------------------------------------- the data, in correlations


class ColumnSummary(NamedTuple):
    """Means and variances of the columns, and the correlations of those that vary."""

    n_samples: int
    mean: NDArray
    variances: NDArray  # divided by n, as maximum likelihood has it
    varying: NDArray
    correlations: "Correlations | RowCorrelations"


def summarize_columns(problem: LinearProblem, progress: Any) -> ColumnSummary:
    """One pass over the rows; with more columns than rows, the rows stay in memory."""
    n, d = problem.data.shape
    make: Any = ScatterDiagonal if d > n else ScatterMatrix
    problem, scatter = accumulate_rows(problem, make, progress)
    units = np.ones(d) if problem.units is None else problem.units
    varying = ~scatter.is_constant
    with np.errstate(over="ignore", under="ignore"):
        variances = np.where(varying, scatter.squares, 0.0) / n * units * units
    if not np.isfinite(variances).all():
        raise DataError(OVERFLOW)
    if (variances[varying] < TINY).any():
        raise DataError("The variances of the data underflow: the values are too small. Scale them up first.")
    roots, n_threads = np.sqrt(scatter.squares[varying]), problem.budget.threads if problem.budget else 1
    if d > n:
        rows = problem.data.load()
        centered = scatter.centered(rows.toarray() if sparse.issparse(rows) else rows)[:, varying]
        correlations: Any = RowCorrelations(centered / roots, n_threads)
    else:
        matrix = scatter.matrix(None)[np.ix_(varying, varying)] / roots / roots[:, None]
        np.fill_diagonal(matrix, 1.0)
        correlations = Correlations(matrix, n_threads)
    return ColumnSummary(n, scatter.mean * units, variances, varying, correlations)


class Correlations:
    """The correlation matrix R. Beyond a few hundred columns each search starts from the last eigenvectors."""

    def __init__(self, R: NDArray, n_threads: int = 1) -> None:
        self.R, self.n_features, self.n_threads = R, len(R), n_threads
        self._last: NDArray | None = None

    def leading(self, scale: NDArray, k: int) -> tuple[NDArray, NDArray]:
        """The k largest eigenvalues of DRD, D = diag(scale), with their vectors."""
        matrix = self.R * scale * scale[:, None]
        if self.n_features <= _LAPACK_COLUMNS or k * _COLUMNS_PER_FACTOR > self.n_features or not k:
            return _leading(matrix, k, self.n_threads)
        rng = np.random.default_rng(0)
        solver = BlockKrylov(tol=1e-7, block_size=int(np.clip(k, 8, 32)))
        with blas_threads(self.n_threads):
            pairs = solver.solve(MatrixOperator(matrix), k, lambda: rng, start=self._last)
        self._last = pairs.vectors
        return np.maximum(pairs.values, 0.0), pairs.vectors

    def unexplained(self) -> NDArray:
        """Part of each variance that the other columns do not explain, 1/(R⁻¹)ⱼⱼ; zero if R is singular."""
        try:
            inverse = linalg.cho_solve(linalg.cho_factor(self.R), np.eye(self.n_features))
        except np.linalg.LinAlgError:
            return np.zeros(self.n_features)
        return 1 / np.diag(inverse)


class RowCorrelations:
    """R = AᵀA for fewer rows A than columns: DAᵀAD has the eigenvalues of AD²Aᵀ."""

    def __init__(self, A: NDArray, n_threads: int = 1) -> None:
        self.A, self.n_features, self.n_threads = A, A.shape[1], n_threads

    def leading(self, scale: NDArray, k: int) -> tuple[NDArray, NDArray]:
        """The k largest eigenvalues of DRD, D = diag(scale), with their vectors; zero where there are none."""
        B = self.A * scale
        found = min(k, len(B))
        values, V = _leading(B @ B.T, found, self.n_threads)
        positive = values > len(B) * np.finfo(float).eps * values.max(initial=0.0)
        U = np.zeros((self.n_features, k))
        U[:, :found] = B.T @ (V * np.divide(1.0, np.sqrt(values), out=np.zeros(found), where=positive))
        return np.append(np.where(positive, values, 0.0), np.zeros(k - found)), U

    def unexplained(self) -> NDArray:
        """Zero: more columns than rows explain each other completely."""
        return np.zeros(self.n_features)


def _leading(matrix: NDArray, k: int, n_threads: int) -> tuple[NDArray, NDArray]:
    if not k:
        return np.zeros(0), np.zeros((len(matrix), 0))
    with blas_threads(n_threads if len(matrix) > _LAPACK_COLUMNS else 1):
        pairs = leading_eigenpairs(matrix, k)
    return np.maximum(pairs.values, 0.0), pairs.vectors


# ---------------------------------------------------------------------- the likelihood


class ProfileLikelihood:
    """F(t) and its gradient for k factors, t = log ψ in units of the variances."""

    def __init__(self, correlations: Correlations | RowCorrelations, k: int) -> None:
        self.correlations, self.k = correlations, k
        d = correlations.n_features
        self.bounds = np.full(d, np.log(_FLOOR)), np.zeros(d)  # beyond ψ = 1 the gradient is positive
        self._last: tuple[NDArray, NDArray, NDArray] | None = None

    def __call__(self, t: NDArray) -> tuple[float, NDArray]:
        excess, U = self._eigenpairs(t)
        inverse = np.exp(-t)
        value = t.sum() + inverse.sum() - (excess - np.log1p(excess)).sum()
        return float(value), 1 - inverse + (U * U) @ excess

    def loadings(self, t: NDArray) -> NDArray:
        """The best W (k, d)."""
        excess, U = self._eigenpairs(t)
        W = np.sqrt(excess) * U * np.exp(t / 2)[:, None]
        return np.ascontiguousarray((W * column_signs(W)).T)

    def start(self) -> NDArray:
        """Jöreskog's starting point; a half where the other columns explain everything."""
        left = self.correlations.unexplained()
        factor = 1 - min(self.k / (2 * max(len(left), 1)), 0.5)
        return np.clip(np.log(np.where(left > _FLOOR, factor * left, 0.5)), *self.bounds)

    def em_step(self, t: NDArray, gradient: NDArray) -> NDArray:
        """ψⱼ(1 − ∂F/∂tⱼ), what the best loadings leave of each variance: F does not increase."""
        return np.clip(t + np.log(np.maximum(1.0 - gradient, TINY)), *self.bounds)

    def _eigenpairs(self, t: NDArray) -> tuple[NDArray, NDArray]:
        """(λ − 1)₊ and the vectors, kept for the next call at the same point."""
        if self._last is None or not np.array_equal(self._last[0], t):
            values, U = self.correlations.leading(np.exp(-t / 2), self.k)
            self._last = t.copy(), np.maximum(values - 1.0, 0.0), U
        return self._last[1], self._last[2]


def _maximize(
    profile: ProfileLikelihood, start: NDArray | None, tol: float, max_iter: int, progress: Any
) -> tuple[list[float], Minimum]:
    """A few EM steps, then L-BFGS; the values of F before L-BFGS, and its minimum."""
    t = profile.start() if start is None else np.clip(start, *profile.bounds)
    before = []
    for _ in range(min(_EM_STEPS, max_iter - 1)):
        value, gradient = profile(t)
        before.append(value)
        t = profile.em_step(t, gradient)
    found = minimize(profile, t, tol=tol, max_iter=max_iter - len(before), bounds=profile.bounds, progress=progress)
    return before, found


def rotate(W: NDArray, method: str) -> NDArray:
    """QᵀW for the orthogonal Q that maximizes the varimax or quartimax criterion (Kaiser 1958)."""
    L, weight = W.T, 1.0 if method == "varimax" else 0.0
    if min(L.shape) < 2 or not L.any():
        return W
    unit = power_of_two(np.abs(L).max())  # third powers do not over- or underflow
    L = L / unit
    Q, best = np.eye(L.shape[1]), 0.0
    for _ in range(_ROTATIONS):
        rotated = L @ Q
        squares = (rotated**2).sum(axis=0)
        left, gains, right = np.linalg.svd(L.T @ (rotated**3 - weight / len(L) * rotated * squares))
        Q = left @ right
        if gains.sum() <= best * (1 + _ROTATION_GAIN):
            break
        best = float(gains.sum())
    return np.ascontiguousarray((L @ Q).T) * unit
