"""Principal component analysis: scikit-learn's class with certified errors, for arrays and files of any size."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

from numpy.typing import NDArray

from mercer.analysis.selection import RULES
from mercer.budget import Budget
from mercer.compat.array_api import ArrayNamespace
from mercer.compat.sklearn_private import Interval, RealNotInt, StrOptions
from mercer.data.dataset import Dataset
from mercer.data.validation import apply_sample_weight
from mercer.errors import ParameterError, warn
from mercer.estimators._base import COMMON_CONSTRAINTS, fit_method
from mercer.estimators._linear import LINEAR_ATTRIBUTES, LinearEstimator
from mercer.estimators._linear_solve import LinearProblem, plan_problem, solve_problem
from mercer.planning.plan import Plan
from mercer.storable import Stored

_SOLVERS = {"auto", "full", "covariance_eigh", "arpack", "randomized", "qr", "gram", "krylov"}


class PCA(LinearEstimator):
    """Principal component analysis (PCA) with bounds on the numerical error.

    Linear dimensionality reduction by the leading eigenvectors of the covariance matrix
    Σw(x − mean)(x − mean)ᵀ/(Σw − 1). A drop-in replacement for `sklearn.decomposition.PCA`: the same
    parameters, attributes and error messages. Data with a large mean keep their digits, and files are read
    block by block.

    Parameters
    ----------
    n_components : int, float, str or None, default=None
        Number of components. A float in (0, 1): the fewest components that explain more than this fraction of
        the variance. None: all. A rule by name: "parallel" (deflated parallel analysis), "marchenko-pastur",
        "gavish-donoho", "tracy-widom", "patterson", "mle" (Minka), "bic", "elbow", "broken-stick", "kaiser".
    copy : bool, default=True
        Ignored. X is never changed.
    whiten : bool, default=False
        Divide each score by its standard deviation.
    svd_solver : {"auto", "full", "covariance_eigh", "arpack", "randomized", "qr", "gram", "krylov"}, default="auto"
        "full": SVD of the centered rows. "covariance_eigh": eigenvectors of the scatter matrix. "qr": SVD of a
        triangular factor, from one pass without squares. "gram": eigenvectors of the products of all pairs of rows.
        "krylov": block Lanczos on products with the rows. "arpack" and "randomized" are accepted and treated like
        "auto", which decides by size; see ``plan_``.
    tol : float, default=0.0
        Tolerance of the relative residuals. 0: 1e-8.
    iterated_power : int or "auto", default="auto"
        Ignored.
    n_oversamples : int, default=10
        Ignored.
    power_iteration_normalizer : {"auto", "QR", "LU", "none"}, default="auto"
        Ignored.
    random_state : int, RandomState or None, default=None
        Seed of iterative solvers. None is a fixed seed.
    standardize : bool, default=False
        Divide each column by its standard deviation: PCA of the correlation matrix.
    n_jobs : int, default=None
        Number of threads. None: all processors.
    memory_limit : int, str or None, default=None
        Bytes, or a text such as "2GB". None: half of the memory of the machine or container.
    progress : bool or callable, default=False
        True: a progress bar. A function is called with a `Progress`; what it raises stops the fit.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Principal axes, sorted by decreasing variance. The entry of largest modulus of each axis is positive.
    explained_variance_ : ndarray of shape (n_components,)
        Variance of the scores, with Σw − 1 degrees of freedom.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Variance of the scores divided by ``total_variance_``.
    total_variance_ : float
        Sum of the variances of all columns.
    singular_values_ : ndarray of shape (n_components,)
        Singular values of the centered rows.
    mean_ : ndarray of shape (n_features,)
        Per-feature empirical mean, estimated from the training set.
    scale_ : ndarray of shape (n_features,)
        Per-feature standard deviation. Only if ``standardize=True``.
    loadings_ : ndarray of shape (n_features, n_components)
        Axes times standard deviations of the scores.
    noise_variance_ : float
        Mean of the variances of the components that were not kept.
    reconstruction_error_ : float
        Mean squared distance of the training rows from the subspace of the components.
    n_components_, n_samples_, n_features_in_ : int
        Number of components, of training rows with a positive weight, and of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features. Only if X has names that are strings.
    certificate_ : ResidualCertificate
        Bounds on the errors of eigenvalues and directions of the scatter matrix, whose eigenvalues are
        (Σw − 1)·``explained_variance_``.
    plan_ : Plan
        The route of the fit and its reason.
    fit_warnings_ : tuple of MercerWarning
        Warnings of the fit.

    See Also
    --------
    IncrementalPCA : The same from batches of rows.
    ProbabilisticPCA : The same for data with missing values.
    sklearn.decomposition.PCA : The class whose interface this one has.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.estimators import PCA
    >>> X = np.random.default_rng(0).normal(size=(1000, 3)) * [3, 2, 1] + 1e6
    >>> pca = PCA(n_components=2).fit(X)
    >>> pca.certificate_.certified
    True
    >>> pca.explained_variance_.round(1).tolist()
    [8.8, 4.1]
    """

    model_key = "pca"
    __metadata_request__fit: ClassVar[dict] = {"sample_weight": False}  # pipelines made for scikit-learn pass none
    _stored_attributes = (*LINEAR_ATTRIBUTES, Stored("_fit_svd_solver", "text"))
    _parameter_constraints: ClassVar[dict] = {
        "n_components": [
            Interval(Integral, 0, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="neither"),
            StrOptions(set(RULES)),
            None,
        ],
        "copy": ["boolean"],
        "whiten": ["boolean"],
        "svd_solver": [StrOptions(_SOLVERS)],
        "tol": [Interval(Real, 0, None, closed="left")],
        "iterated_power": [StrOptions({"auto"}), Interval(Integral, 0, None, closed="left")],
        "n_oversamples": [Interval(Integral, 1, None, closed="left")],
        "power_iteration_normalizer": [StrOptions({"auto", "QR", "LU", "none"})],
        "standardize": ["boolean"],
        **COMMON_CONSTRAINTS,
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

    @fit_method
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the model with X.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Dataset} of shape (n_samples, n_features)
            Training data, or a file.
        y : Ignored
            Present for API consistency.
        sample_weight : array-like of shape (n_samples,), default=None
            Number of times each row counts. A row of weight 2 is that row twice.

        Returns
        -------
        self : PCA
            The fitted estimator.
        """
        self._fit(self._open(X, reset=True), sample_weight)
        return self

    def to_sklearn(self) -> Any:
        """Return a fitted `sklearn.decomposition.PCA` with the same attributes.

        Returns
        -------
        estimator : sklearn.decomposition.PCA or sklearn.pipeline.Pipeline
            A pipeline that divides the columns first, if they were standardized.
        """
        from mercer.compat.to_sklearn import to_sklearn_pca

        return to_sklearn_pca(self)

    def _fit(self, data: Dataset, sample_weight: Any) -> NDArray | None:
        problem = self._problem(*apply_sample_weight(data, sample_weight))
        self._store(solve_problem(problem, self.resources), problem.dtype)
        return None

    def _plan(self, data: Dataset, sample_weight: Any) -> Plan:
        return plan_problem(self._problem(*apply_sample_weight(data, sample_weight)), self.resources)

    def _problem(self, data: Dataset, weights: NDArray | None, budget: Budget | None = None) -> LinearProblem:
        """The problem of this fit, after scikit-learn's checks of `n_components`."""
        given = {"standardize": self.standardize, "svd_solver": self.svd_solver, "tol": self.tol, "budget": budget}
        problem = self._linear_problem(data, weights, self.n_components, **given)
        self._fit_svd_solver = resolve_svd_solver(self, (problem.n_counted, data.shape[1]), data.is_sparse)
        return problem

    def _check_namespace(self, namespace: ArrayNamespace) -> None:
        """scikit-learn's restrictions, in its words. The fit itself runs in numpy and has none."""
        if self.svd_solver == "arpack":
            raise ParameterError(
                "svd_solver", "arpack", "another solver",
                message="PCA with svd_solver='arpack' is not supported for Array API inputs.",
            )  # fmt: skip
        if self.svd_solver == "randomized" and self.power_iteration_normalizer == "LU":
            raise ParameterError(
                "power_iteration_normalizer", "LU", "'QR'",
                message="Array API does not support LU factorization. Set `power_iteration_normalizer='QR'` instead.",
            )  # fmt: skip
        if self.svd_solver == "randomized" and self.power_iteration_normalizer == "auto":
            warn(
                "Array API does not support LU factorization, falling back to QR instead. Set "
                "`power_iteration_normalizer='QR'` explicitly to silence this warning."
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.array_api_support = self.svd_solver not in ("arpack", "randomized") or (
            self.svd_solver == "randomized" and self.power_iteration_normalizer == "QR"
        )
        tags.input_tags.sparse = self.svd_solver not in ("full", "randomized", "qr", "gram")
        return tags


def resolve_svd_solver(model: PCA, shape: tuple[int, int], is_sparse: bool) -> str:
    """The solver that scikit-learn would use, whose rules for `n_components` hold. The route is in ``plan_``."""
    k, solver, (n, d) = model.n_components, model.svd_solver, shape
    most, message = min(n, d), ""
    if is_sparse and solver in ("full", "randomized", "qr", "gram"):
        raise TypeError(
            f'PCA only support sparse inputs with the "arpack" and "covariance_eigh" solvers, while '
            f'"{solver}" was passed. svd_solver="auto" does too.'
        )
    if solver == "auto":
        solver = "arpack" if is_sparse else _default_solver(k, n, d)
    is_truncated = solver in ("arpack", "randomized", "krylov")
    if isinstance(k, str):
        if is_truncated:
            message = f"n_components={k!r} cannot be a string with svd_solver='{solver}'"
        elif k == "mle" and n < d:
            message = "n_components='mle' is only supported if n_samples >= n_features"
    elif isinstance(k, Integral) and not int(is_truncated) <= k <= most:
        message = f"n_components={k!r} must be between {int(is_truncated)} and min(n_samples, n_features)={most!r} "
        message += f"with svd_solver={solver!r}"
    elif solver == "arpack" and k == most and isinstance(k, Integral):
        message = f"n_components={k!r} must be strictly less than min(n_samples, n_features)={most!r} "
        message += f"with svd_solver='{solver}'"
    if message:
        raise ParameterError("n_components", k, f"a number up to {most}", message=message)
    return solver


def _default_solver(n_components: Any, n: int, d: int) -> str:
    if d <= 1000 and n >= 10 * d:
        return "covariance_eigh"
    if max(n, d) <= 500 or isinstance(n_components, str):
        return "full"
    return "randomized" if n_components is not None and 1 <= n_components < 0.8 * min(n, d) else "full"
