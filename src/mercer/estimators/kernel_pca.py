"""Kernel principal component analysis: scikit-learn's class with certified errors and explained variance."""

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from mercer.certificates.residual import certify
from mercer.compat.sklearn_private import Interval, StrOptions
from mercer.contract import Eigenspectrum, Projection, TrainingSet
from mercer.data.dataset import ArrayDataset, Dataset
from mercer.data.validation import apply_sample_weight, check_sample_weight
from mercer.errors import DataError, MercerWarning, warn, warn_each
from mercer.estimators._base import COMMON_ATTRIBUTES, COMMON_CONSTRAINTS, Estimator, fit_method
from mercer.estimators._kernel_fit import (
    build_gram,
    check_precomputed,
    find_components,
    fit_warnings,
    is_indefinite,
)
from mercer.estimators._kernel_scores import KernelScores
from mercer.kernels.base import GammaMixin, Kernel, Precomputed, get_kernel
from mercer.kernels.names import KERNELS
from mercer.linalg.completeness import exclude_missed
from mercer.linalg.eigen import apply_conventions, remeasure
from mercer.linalg.gram import Centered
from mercer.numerics.random_state import lazy_generator
from mercer.numerics.threads import working
from mercer.planning.plan import Plan
from mercer.planning.plan_kernel import SMALL_SAMPLES, plan_kernel_pca
from mercer.storable import Stored

_SOLVERS = {"auto", "dense", "krylov", "arpack", "randomized"}


class NotConverged(MercerWarning, ConvergenceWarning):
    """The solver stopped before every component met the tolerance."""


class KernelPCA(Estimator):
    """Kernel principal component analysis with bounds on the numerical error.

    Non-linear dimensionality reduction by the leading eigenvectors v of the centered kernel matrix, JKJv =
    λv. The score of a sample x is (k(x, ·) − means)·v/√λ. A drop-in replacement for
    `sklearn.decomposition.KernelPCA`: the same parameters, attributes and error messages.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of components. None: all with a non-zero eigenvalue.
    kernel : {"linear", "poly", "rbf", "precomputed"}, Kernel or callable, default="linear"
        Name of a kernel, a `mercer.kernels` object, or a function of two rows.
    gamma : float, "median" or None, default=None
        Parameter of "rbf" and "poly". None: 1/n_features. "median": one over the median squared distance of
        the rows.
    degree : float, default=3
        Degree of "poly".
    coef0 : float, default=1
        Constant of "poly".
    kernel_params : dict, default=None
        Keyword arguments of a callable kernel.
    eigen_solver : {"auto", "dense", "krylov", "arpack", "randomized"}, default="auto"
        "dense": LAPACK. "krylov": block Lanczos. "arpack" and "randomized" are accepted and treated like
        "auto", which decides by size; see ``plan_``.
    tol : float, default=0
        Tolerance of the residuals, relative to their eigenvalues. 0: 1e-8.
    max_iter : int, default=None
        Maximum number of passes of the solver over the kernel matrix. The search for missed eigenvalues may
        add some.
    iterated_power : int or "auto", default="auto"
        Ignored.
    remove_zero_eig : bool, default=False
        Drop components with eigenvalue zero.
    random_state : int, RandomState or None, default=None
        Seed of the solver and of the probes of the certificate. None is a fixed seed.
    copy_X : bool, default=True
        Keep a copy of X instead of X itself. A precomputed matrix is never copied.
    n_jobs : int, default=None
        Number of threads. None: all processors.
    memory_limit : int, str or None, default=None
        Bytes, or a text such as "2GB". None: half of the memory of the machine or container.
    progress : bool or callable, default=False
        True: a progress bar. A function is called with a `Progress`; what it raises stops the fit.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the centered kernel matrix, largest first.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        Unit eigenvectors. The entry of largest modulus of each is positive.
    explained_variance_ : ndarray of shape (n_components,)
        ``eigenvalues_``/(Σw − 1); with the linear kernel, that of PCA.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Explained variance divided by ``total_variance_``; nan if the kernel matrix is indefinite.
    total_variance_ : float
        Trace of the centered kernel matrix divided by Σw − 1.
    kernel_ : Kernel
        The kernel with all parameters resolved.
    gamma_ : float
        Value of gamma that the kernel used.
    X_fit_ : ndarray of shape (n_samples, n_features)
        Training rows with a positive weight.
    n_components_ : int
        Number of components.
    n_samples_ : int
        Number of training rows with a positive weight.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features. Only if X has names that are strings.
    certificate_ : ResidualCertificate
        Bounds on the errors of eigenvalues and directions, and whether an eigenvalue was missed.
    plan_ : Plan
        The route of the fit and its reason.
    fit_warnings_ : tuple of MercerWarning
        Warnings of the fit.

    See Also
    --------
    sklearn.decomposition.KernelPCA : The class whose interface this one has.

    References
    ----------
    Schölkopf, Smola and Müller (1998), Nonlinear component analysis as a kernel eigenvalue problem.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelPCA
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> model = KernelPCA(2, kernel="rbf", gamma="median").fit(X)
    >>> model.certificate_.certified
    True
    """

    model_key = "kernel_pca"
    __metadata_request__fit: ClassVar[dict] = {"sample_weight": False}
    _stored_attributes = (
        *COMMON_ATTRIBUTES,
        Stored("eigenvalues_", "float", "k"),
        Stored("eigenvectors_", "float", "nk"),
        Stored("explained_variance_", "float", "k", finite=False),
        Stored("explained_variance_ratio_", "float", "k", finite=False),
        Stored("total_variance_", "number", finite=False),
        Stored("kernel_", "object"),
        Stored("gamma_", "number"),
        Stored("X_fit_", "float", "nd"),
        Stored("_centering", "object"),
        Stored("_kept", "bool", "m", optional=True),
    )
    _parameter_constraints: ClassVar[dict] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "kernel": [StrOptions(set(KERNELS)), Kernel, callable],
        "gamma": [Interval(Real, 0, None, closed="neither"), StrOptions({"median"}), None],
        "degree": [Interval(Real, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "kernel_params": [dict, None],
        "eigen_solver": [StrOptions(_SOLVERS)],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "iterated_power": [Interval(Integral, 0, None, closed="left"), StrOptions({"auto"})],
        "remove_zero_eig": ["boolean"],
        "copy_X": ["boolean"],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Any = "linear",
        gamma: float | str | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        eigen_solver: str = "auto",
        tol: float = 0,
        max_iter: int | None = None,
        iterated_power: int | str = "auto",
        remove_zero_eig: bool = False,
        random_state: Any = None,
        copy_X: bool = True,
        n_jobs: int | None = None,
        memory_limit: int | str | None = None,
        progress: Any = False,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.iterated_power = iterated_power
        self.remove_zero_eig = remove_zero_eig
        self.random_state = random_state
        self.copy_X = copy_X
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.progress = progress

    # ------------------------------------------------------------------ fit

    @fit_method
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the model with X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data; the kernel matrix if ``kernel="precomputed"``.
        y : Ignored
            Present for API consistency.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight 2 counts as that row twice. Rows of weight 0 are left out.

        Returns
        -------
        self : KernelPCA
            The fitted model.
        """
        self._fit(self._open(X, reset=True), sample_weight)
        return self

    def _fit(self, data: Dataset, sample_weight: Any) -> NDArray | None:
        """Find the components; returns the scores of the training rows unless some have weight zero."""
        budget, n_given = self.resources(), len(data)
        data, weights = self._apply_sample_weight(data, sample_weight)
        rng = lazy_generator(self.random_state)
        kernel = self._kernel().resolve(data, rng, weights)
        plan = plan_kernel_pca(self, data, kernel, budget)

        X = data.load()
        n_threads = 1 if len(data) <= SMALL_SAMPLES else budget.threads
        with working(self.progress, plan.n_passes, "products with the kernel matrix", n_threads) as progress:
            A = Centered(build_gram(plan, kernel, X, weights, n_threads, progress), weights)
            pairs = find_components(self, A, plan, rng)
            pairs, bound, evidence = exclude_missed(plan.solver, A, pairs, rng)
            if A.products_are_cheap:
                pairs = remeasure(pairs, A)
            certificate = certify(pairs, tol=plan.tol, bound=bound, evidence=evidence, entry_error=A.entry_error)
            pairs = apply_conventions(pairs, floor=A.floor, root=A.root)

        self.plan_, self.certificate_ = plan, certificate.with_zeros(pairs.values == 0)
        self.kernel_, self.gamma_ = kernel, self._gamma(kernel, data.shape[1])
        self._set_spectrum(pairs.values, A, is_indefinite(pairs, A), data.dtype)
        self.eigenvectors_ = pairs.vectors.astype(data.dtype, copy=False)
        copied = self.copy_X and not data.owns_samples and plan.route != "precomputed"
        self.X_fit_ = X.copy() if copied else X
        self._centering = A.centering()
        if not certificate.converged:
            warn(
                f"The solver stopped after {certificate.n_passes} passes. {certificate.summary}",
                category=NotConverged,
            )
        warn_each(fit_warnings(self, A, kernel, pairs, self.certificate_))
        return A.training_scores(pairs).astype(data.dtype, copy=False) if len(data) == n_given else None

    def _plan(self, data: Dataset, sample_weight: Any) -> Plan:
        data, weights = self._apply_sample_weight(data, sample_weight)
        kernel = self._kernel().resolve(data, lazy_generator(self.random_state), weights)
        return plan_kernel_pca(self, data, kernel, self.resources())

    def _open(self, X: Any, *, reset: bool, check_finite: bool = True) -> Dataset:
        data = super()._open(X, reset=reset)
        if data.is_sparse:
            raise DataError("Sparse input is not supported by this slice: pass X.toarray().")
        if self._is_precomputed:
            if reset:
                check_precomputed(data)
            data = ArrayDataset(data.load(), "precomputed")
        return data

    def _apply_sample_weight(self, data: Dataset, sample_weight: Any) -> tuple[Dataset, NDArray | None]:
        """Rows of weight zero are left out; of a kernel matrix, their columns as well."""
        if sample_weight is None or not self._is_precomputed:
            return apply_sample_weight(data, sample_weight)
        weights = check_sample_weight(sample_weight, len(data))
        if weights.all():
            return data, weights
        self._kept = weights > 0
        return ArrayDataset(data.load()[np.ix_(self._kept, self._kept)], "precomputed"), weights[self._kept]

    def _set_spectrum(self, values: NDArray, A: Centered, indefinite: bool, dtype: Any) -> None:
        """Eigenvalues, variances and their ratios."""
        degrees = A.total_weight - 1
        if degrees <= 0:
            warn(f"The weights sum up to {A.total_weight:g}, so there are no variances: they are nan.")
        per_degree = 1 / degrees if degrees > 0 else np.nan
        ratio = values / A.trace if A.trace > 0 else np.zeros(len(values))
        self.n_components_, self.n_samples_ = len(values), A.n
        self.eigenvalues_ = values.astype(dtype, copy=False)
        self.explained_variance_ = (values * per_degree).astype(dtype, copy=False)
        self.explained_variance_ratio_ = (np.full(len(values), np.nan) if indefinite else ratio).astype(
            dtype, copy=False
        )
        self.total_variance_ = max(A.trace, 0.0) * per_degree

    # ------------------------------------------------------------------ kernel

    @property
    def _is_precomputed(self) -> bool:
        return isinstance(self.kernel, Precomputed) or (isinstance(self.kernel, str) and self.kernel == "precomputed")

    def _kernel(self) -> Kernel:
        """The kernel that was asked for; what is left to the data is open."""
        return get_kernel(
            self.kernel, gamma=self.gamma, degree=self.degree, coef0=self.coef0, params=self.kernel_params
        )

    def _gamma(self, kernel: Kernel, n_features: int) -> float:
        """γ of the kernel; of a kernel without one, what it would have been."""
        if isinstance(kernel, GammaMixin):
            return float(kernel.gamma)
        return 1.0 / n_features if not isinstance(self.gamma, Real) else float(self.gamma)

    # ------------------------------------------------------------------ scores

    def _scorer(self) -> KernelScores:
        """From the fitted attributes as they are now, so that changes to them take effect."""
        kernel = None if self._is_precomputed else self.kernel_
        if isinstance(kernel, GammaMixin) and kernel.gamma != self.gamma_:
            kernel = replace(kernel, gamma=self.gamma_)
        return KernelScores(kernel, self.X_fit_, self._centering, self.eigenvalues_, self.eigenvectors_)

    def _samples(self, rows: Any) -> Any:
        """Without columns of samples that had weight zero, for a precomputed kernel."""
        kept = getattr(self, "_kept", None)
        return rows if kept is None else rows[:, kept]

    def _scores(self, rows: Any, n_threads: int) -> NDArray:
        return self._scorer().scores(self._samples(rows), n_threads).astype(self._score_dtype(rows), copy=False)

    def _score_dtype(self, data: Any) -> Any:
        single = data.dtype == np.float32 and self.eigenvectors_.dtype == np.float32
        return np.float32 if single else np.float64

    def component_functions(self, X: Any) -> NDArray:
        """Evaluate the components as functions of a sample, without centering.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points at which they are evaluated.

        Returns
        -------
        values : ndarray of shape (n_samples, n_components)
            Σᵢ αᵢ k(x, xᵢ), which differs from the scores by a constant for each component.
        """
        data = self.open(X)
        return self._scorer().functions(self._samples(data.load()), self.resources().threads)

    # ------------------------------------------------------------------ contract

    def spectrum(self) -> Eigenspectrum:
        """Eigenvalues with their intervals."""
        weight = self.n_samples_ if self._centering.weights is None else float(self._centering.weights.sum())
        return Eigenspectrum(
            eigenvalues=np.asarray(self.eigenvalues_, dtype=np.float64),
            lower=self.certificate_.lower,
            upper=self.certificate_.upper,
            variances=np.asarray(self.explained_variance_, dtype=np.float64),
            total=self.total_variance_,
            complete=False,
            total_weight=weight,
            ddof=1,
            feature_variances=None,
            bound_beyond=self.certificate_.bound_beyond,
            unresolved=self.certificate_.unresolved,
        )

    def linear_map(self) -> None:
        """None: the scores are not linear in X."""

    def training_set(self) -> TrainingSet:
        """The training rows with their scores."""
        indices = np.arange(self.n_samples_) if getattr(self, "_kept", None) is None else np.flatnonzero(self._kept)
        return TrainingSet(self.X_fit_, indices, None, self._centering.weights)

    def project(self, rows: Any, *, rounding: bool = False) -> Projection:
        """Scores and squared distances from the subspace of the components, in the feature space."""
        if self._is_precomputed:
            raise DataError("Distances need k(x, x), which a precomputed kernel matrix does not have.")
        scores, norms = self._scorer().scores_and_norms(rows, self.resources().threads)
        kept = np.asarray(self.eigenvalues_) > 0
        return Projection(scores, np.maximum(norms - np.einsum("ij,ij->i", scores, scores), 0.0), kept)

    # ------------------------------------------------------------------ scikit-learn

    @property
    def _n_features_out(self) -> int:
        check_is_fitted(self)
        return int(self.eigenvalues_.shape[0])

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``kernel__gamma`` replaces the kernel by a copy with another gamma."""
        nested = {name[8:]: value for name, value in params.items() if name.startswith("kernel__")}
        super().set_params(**{name: value for name, value in params.items() if not name.startswith("kernel__")})
        if nested:
            if not isinstance(self.kernel, Kernel):
                raise ValueError(
                    f"Invalid parameter 'kernel__{min(nested)}': kernel={self.kernel!r} has no parameters."
                )
            self.kernel = self.kernel.with_params(**nested)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.pairwise = self._is_precomputed
        return tags
