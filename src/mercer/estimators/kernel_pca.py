"""Kernel principal component analysis: scikit-learn's class with certified errors and explained variance."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import partial, update_wrapper
from numbers import Integral, Real
from types import MethodType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from mercer.certificates.residual import ResidualCertificate, certify
from mercer.compat.sklearn_private import Interval, NotConvergedWarning, RealNotInt, StrOptions
from mercer.contract import Eigenspectrum, KernelExpansion, Projection, TrainingSet
from mercer.data.conversion import check_numbers
from mercer.data.dataset import ArrayDataset, Dataset, Kind
from mercer.data.validation import apply_sample_weight, check_sample_weight, is_finite, raise_nonfinite
from mercer.errors import DataError, ParameterError, Remedy, warn, warn_each
from mercer.estimators._base import COMMON_ATTRIBUTES, COMMON_CONSTRAINTS, Estimator, fit_method
from mercer.estimators._kernel_fit import (
    Samples,
    as_compared,
    build_gram,
    check_options,
    check_square,
    divided,
    find_components,
    fit_warnings,
    is_indefinite,
    kind_of,
    learn_inverse,
    moved_to_mean,
    multiplied,
    open_operator,
    some_columns,
    standardized,
    without_zero_weights,
)
from mercer.estimators._kernel_scores import KernelScores, LandmarkCentering
from mercer.estimators._preimages import Preimages, find_preimages, outside_warning
from mercer.kernels.base import FeatureMap, GammaMixin, Kernel, Precomputed, get_kernel
from mercer.kernels.names import ALIASES, KERNELS
from mercer.linalg.completeness import exclude_missed
from mercer.linalg.eigen import Eigenpairs, apply_conventions, remeasure
from mercer.linalg.gram import Centered
from mercer.linalg.tiles import multiply_rows
from mercer.numerics.random_state import lazy_generator
from mercer.numerics.rounding import UNIT, UNIT_SINGLE
from mercer.numerics.threads import working
from mercer.planning.plan import Plan
from mercer.planning.plan_kernel import SMALL_SAMPLES, plan_kernel_pca, uses_landmarks
from mercer.storable import Stored

_SOLVERS = {"auto", "dense", "krylov", "landmark", "arpack", "randomized"}
_RULES = {"elbow", "broken-stick", "parallel"}
_MADE_OF = "X_fit_", "kernel_", "gamma_", "eigenvalues_", "eigenvectors_", "_centering"  # what methods prepare
_PREIMAGES = {"auto", "ridge", "fixed-point", "kwok-tsang"}


class available_in_batches:
    """`partial_fit` of a model that can take batches; for others, hasattr is False and the error has a reason."""

    def __init__(self, method: Callable[..., Any]) -> None:
        self.method = method
        update_wrapper(self, method)  # type: ignore[arg-type]

    def __get__(self, model: "KernelPCA | None", owner: type) -> Any:
        if model is not None:
            model._check_batches()
            return MethodType(self.method, model)
        return self.method


class KernelPCA(Estimator):
    """Kernel principal component analysis with bounds on the numerical error.

    Non-linear dimensionality reduction by the leading eigenvectors v of the centered kernel matrix, JKJv =
    λv. The score of a sample x is (k(x, ·) − means)·v/√λ. A drop-in replacement for
    `sklearn.decomposition.KernelPCA`: the same parameters, attributes and error messages.

    Parameters
    ----------
    n_components : int, float, {"elbow", "broken-stick", "parallel"} or None, default=None
        Number of components. A float between 0 and 1: as many as explain this fraction of the variance. A rule
        chooses among the first 100. None: all with a non-zero eigenvalue.
    kernel : str, Kernel or callable, default="linear"
        Name of a kernel ("linear", "poly", "rbf", "sigmoid", "cosine", "precomputed", …), a `mercer.kernels`
        object, or a function of two samples.
    gamma : float, "median", "cv" or None, default=None
        Parameter of named kernels that have one. None: 1/n_features. "median": one over the median distance of
        the rows, in the sense of the kernel. "cv": the value whose components reconstruct held-out rows best
        (see Notes). Kernel objects have a gamma of their own.
    degree : float, default=3
        Degree of "poly".
    coef0 : float, default=1
        Constant of "poly" and "sigmoid".
    kernel_params : dict, default=None
        Keyword arguments of a callable kernel, or parameters of a named kernel on strings or tables.
    alpha : float, default=1.0
        Ridge penalty of the learned inverse transform.
    fit_inverse_transform : bool, default=False
        Learn the inverse transform by kernel ridge regression, as scikit-learn does.
    eigen_solver : {"auto", "dense", "krylov", "landmark", "arpack", "randomized"}, default="auto"
        "dense": LAPACK. "krylov": block Lanczos. "landmark": the Nyström approximation, for any number of rows.
        "arpack" and "randomized" are accepted and treated like "auto", which decides by size; see ``plan_``.
    tol : float, default=0
        Tolerance of the residuals, relative to their eigenvalues. 0: 1e-8. By landmarks, the fraction of the
        variance that they may miss; 0: 1e-6.
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
    n_landmarks : int, default=None
        Maximum number of landmarks. None: 1,000 (2,000 with `refine`), or more for many components.
    landmarks : {array-like, sparse matrix}, default=None
        The landmarks: indices of rows if one-dimensional, otherwise rows. None: chosen by randomly pivoted
        Cholesky.
    refine : int, default=0
        Number of exact passes over the kernel matrix after the landmarks.
    standardize : bool, default=False
        Divide every column by its standard deviation: the kernel is k(x/scale_, y/scale_). Nothing is
        subtracted.
    preimage : {"auto", "ridge", "fixed-point", "kwok-tsang"} or None, default=None
        Method of `inverse_transform` and `denoise`. None: kernel ridge regression, which
        ``fit_inverse_transform=True`` learns. The others need no training.

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
    X_fit_ : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Training samples with a positive weight, divided by ``scale_`` if standardized.
    scale_ : ndarray of shape (n_features,)
        Standard deviations of the columns, 1 for constant ones. Only if ``standardize=True``.
    dual_coef_ : ndarray of shape (n_samples, n_features)
        Coefficients of the inverse transform. Only if ``fit_inverse_transform=True``.
    X_transformed_fit_ : ndarray of shape (n_samples, n_components)
        Scores that the inverse transform was learned from. Only if ``fit_inverse_transform=True``.
    landmarks_ : {ndarray, sparse matrix} of shape (n_landmarks, n_features)
        The landmarks, in the units of X. Only for fits by landmarks, which have no ``X_fit_`` and no
        ``eigenvectors_`` unless ``refine`` was set.
    landmark_indices_ : ndarray of shape (n_landmarks,) or None
        Indices of the landmarks among all samples; None if they were passed as samples.
    n_samples_seen_ : int
        Number of samples of positive weight in all batches. Only for fits by landmarks.
    n_components_ : int
        Number of components.
    n_samples_ : int
        Number of training samples with a positive weight.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features. Only if X has names that are strings.
    certificate_ : Certificate
        Bounds on the errors of eigenvalues and directions, and whether an eigenvalue was missed.
    plan_ : Plan
        The route of the fit and its reason.
    fit_warnings_ : tuple of MercerWarning
        Warnings of the fit.

    See Also
    --------
    PCA : Linear dimensionality reduction, from the rows themselves.
    sklearn.decomposition.KernelPCA : The class whose interface this one has.

    Notes
    -----
    Up to 500 samples, LAPACK takes the whole matrix. Beyond, block Lanczos multiplies with the kernel matrix,
    which is recomputed tile by tile in each pass if its entries are cheap. Kernels with few exact features, such
    as the linear one, are solved on the side of the features. Cost: about ten passes of n²/2 kernel evaluations
    and n² multiplications for each column.

    ``gamma="cv"`` compares 15 values, from 0.01 to 100 over the median distance, by 5-fold cross-validation on at most
    1,000 rows. If there are more, rows are drawn with probabilities proportional to `sample_weight`; otherwise each row
    of positive weight counts once. Rows are reconstructed from `n_components` scores, or from 10 if that is not an
    integer.

    References
    ----------
    Schölkopf, Smola and Müller (1998), Nonlinear component analysis as a kernel eigenvalue problem.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.estimators import KernelPCA
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
        Stored("eigenvectors_", "float", "nk", optional=True),
        Stored("explained_variance_", "float", "k", finite=False),
        Stored("explained_variance_ratio_", "float", "k", finite=False),
        Stored("total_variance_", "number", finite=False),
        Stored("kernel_", "object"),
        Stored("gamma_", "number"),
        Stored("X_fit_", "object", optional=True),
        Stored("scale_", "positive", "d", optional=True),
        Stored("dual_coef_", "float", "rd", optional=True),
        Stored("X_transformed_fit_", "float", "rk", optional=True),
        Stored("_centering", "object", optional=True),
        Stored("_kept", "bool", "m", optional=True),
        Stored("landmarks_", "object", optional=True),
        Stored("landmark_indices_", "int", "r", optional=True),
        Stored("n_samples_seen_", "count", optional=True),
        Stored("_landmark_state", "object", optional=True),
        Stored("_dtype", "text", optional=True),
        Stored("_kind", "text"),
    )
    _parameter_constraints: ClassVar[dict] = {
        "n_components": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="neither"),
            StrOptions(_RULES),
            None,
        ],
        "kernel": [StrOptions({*KERNELS, *ALIASES}), Kernel, callable],
        "gamma": [Interval(Real, 0, None, closed="neither"), StrOptions({"median", "cv"}), None],
        "degree": [Interval(Real, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "kernel_params": [dict, None],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "fit_inverse_transform": ["boolean"],
        "eigen_solver": [StrOptions(_SOLVERS)],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "iterated_power": [Interval(Integral, 0, None, closed="left"), StrOptions({"auto"})],
        "remove_zero_eig": ["boolean"],
        "copy_X": ["boolean"],
        "n_landmarks": [Interval(Integral, 1, None, closed="left"), None],
        "landmarks": ["array-like", "sparse matrix", None],
        "refine": ["boolean", Interval(Integral, 0, None, closed="left")],
        "standardize": ["boolean"],
        "preimage": [StrOptions(_PREIMAGES), None],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        n_components: int | float | str | None = None,
        *,
        kernel: Any = "linear",
        gamma: float | str | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        alpha: float = 1.0,
        fit_inverse_transform: bool = False,
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
        n_landmarks: int | None = None,
        landmarks: Any = None,
        refine: int = 0,
        standardize: bool = False,
        preimage: str | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
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
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.refine = refine
        self.standardize = standardize
        self.preimage = preimage

    # ------------------------------------------------------------------ fit

    @fit_method
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the model with X.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Dataset} of shape (n_samples, n_features)
            Training data; what the kernel compares: rows, strings, series, a table or objects. The kernel matrix,
            which may be sparse or a scipy LinearOperator, if ``kernel="precomputed"``.
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

    @available_in_batches
    @fit_method
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add a batch of samples, by landmarks: kernel PCA of all samples so far.

        It continues a fit by landmarks, or begins a new one. Landmarks join where the batch is approximated worse than
        the samples before it, until there are `n_landmarks` of them in all; those passed as `landmarks` stay as they
        are. The kernel is that of the first batch, ``gamma="median"`` included.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Dataset} of shape (n_samples, n_features)
            The batch, of one sample or more.
        y : Ignored
            Present for API consistency.
        sample_weight : array-like of shape (n_samples,), default=None
            As in `fit`.

        Returns
        -------
        self : KernelPCA
            The model with one batch more.

        Notes
        -----
        Coordinates of earlier samples along landmarks that join are not known. They are taken to be zero, and
        ``certificate_`` allows for them, so ``eigenvalues_`` lie within their intervals but need not be the lower ends.
        A cluster that appears when all `n_landmarks` are used is not resolved; the certificate shows what is left.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer.estimators import KernelPCA
        >>> X = np.random.default_rng(0).normal(size=(300, 3))
        >>> model = KernelPCA(2, kernel="rbf", gamma=0.5)
        >>> for batch in (X[:100], X[100:200], X[200:]):
        ...     model = model.partial_fit(batch)
        >>> model.n_samples_seen_
        300
        """
        from mercer.estimators._kernel_landmarks import fit_batch

        fit_batch(self, X, sample_weight, self._rng())
        return self

    def _fit(self, data: Dataset, sample_weight: Any) -> NDArray | None:
        """Find the components; returns the scores of the training samples unless some have weight zero."""
        given, rng = data, lazy_generator(self.random_state)
        data, weights, kernel, feature_map = self._prepare(data, sample_weight, rng, search=True)
        plan = plan_kernel_pca(self, data, kernel, feature_map)
        if plan.warning is not None:
            warn(plan.warning)
        if plan.route == "landmarks":
            from mercer.estimators._kernel_landmarks import fit_landmarks, training

            fit_landmarks(self, training(data, weights, kernel, given, sample_weight), kernel, plan, rng)
            return None

        distributed, (data, weights) = data, without_zero_weights(data, weights)
        X = data.load() if data.kind == "precomputed" else as_compared(kernel, data.load(), data.source.name)
        origin, moved, feature_map = moved_to_mean(plan, kernel, X, feature_map)
        budget = self.resources() if len(data) > SMALL_SAMPLES else None
        n_threads, memory = (1, 2**62) if budget is None else (budget.threads, budget.memory)
        with (
            working(self.progress, plan.n_passes, "products with the kernel matrix", n_threads) as progress,
            closing(build_gram(plan, moved, X, feature_map, weights, n_threads, progress, distributed)) as gram,
        ):
            A = Centered(gram, weights)
            samples = Samples(moved, X, data.dtype, 0 if feature_map is None else feature_map.n_features, rng)
            pairs = find_components(self, A, plan, samples, memory)
            pairs, bound, evidence = exclude_missed(plan.solver, A, pairs, rng)
            if A.products_are_cheap:
                pairs = remeasure(pairs, A)
            certificate = certify(pairs, tol=plan.tol, bound=bound, evidence=evidence, entry_error=A.entry_error)
            pairs = apply_conventions(pairs, floor=A.floor, root=A.root)

        self._set_exact(data, X, kernel, plan, A, pairs, certificate, origin)
        if feature_map is not None and gram.by_features and not feature_map.identity:
            features = gram.of_samples(self.X_fit_)  # type: ignore[attr-defined]
            self._remember("features", lambda: features)
        scores = A.training_scores(pairs)
        warn_each(fit_warnings(self, A, kernel, X, pairs, self.certificate_))
        del A, gram
        dtype = self.eigenvalues_.dtype
        if self.fit_inverse_transform:
            self._learn_inverse(scores, X, weights, dtype)
        return scores.astype(dtype, copy=False) if len(data) == len(given) else None

    def _set_exact(
        self,
        data: Dataset,
        X: Any,
        kernel: Kernel,
        plan: Plan,
        A: Centered,
        pairs: Eigenpairs,
        certificate: ResidualCertificate,
        origin: NDArray | None,
    ) -> None:
        """The attributes of components of all samples."""
        dtype = np.float32 if data.dtype == np.float32 else np.float64
        stored_unit = UNIT_SINGLE if dtype == np.float32 else UNIT
        self.certificate_ = certificate.with_zeros(pairs.values == 0).for_attributes(1.0, stored_unit)
        self.plan_, self.kernel_, self.gamma_ = plan, kernel, self._gamma(kernel, data.shape[1])
        self._set_spectrum(pairs.values, A.n, A.trace, A.total_weight, is_indefinite(pairs, A), dtype)
        self.eigenvectors_ = pairs.vectors.astype(dtype, copy=False)
        copied = self.copy_X and not data.owns_samples and data.kind != "precomputed"
        self.X_fit_ = X.copy() if copied and hasattr(X, "copy") else X
        self._centering = replace(A.centering(), origin=origin)
        if not certificate.converged and not plan.approximate:
            text = f"The solver stopped after {certificate.n_passes} passes. {certificate.summary}"
            warn(text, category=NotConvergedWarning, remedies=[Remedy("max_iter", 2 * certificate.n_passes)])

    def _prepare(
        self, data: Dataset, sample_weight: Any, rng: Callable[[], np.random.Generator], *, search: bool = False
    ) -> tuple[Dataset, NDArray | None, Kernel, FeatureMap | None]:
        """Samples of positive weight, scaled if that is wanted; their weights, kernel and features.

        Without `search`, gamma="cv" is None, for plans.
        """
        kernel = self._kernel()
        check_options(self, kernel)
        if kernel.input_kind != "precomputed":
            data, weights = apply_sample_weight(data, sample_weight)
        else:
            data, weights = self._apply_matrix_weight(data, sample_weight)
        if self.standardize:
            data = standardized(self, data, weights, self.resources().threads)
        kernel = self._resolve(kernel, data, weights, rng) if search else kernel.resolve(data, rng, weights)
        if uses_landmarks(self) or kernel.input_kind == "precomputed":
            return data, weights, kernel, None
        by_shape = data.kind == "vectors" and not data.in_memory and not data.is_sparse
        return data, weights, kernel, kernel.feature_map(data if by_shape else data.load())

    def _check_batches(self) -> None:
        """Raise for models without `partial_fit`."""
        from mercer.estimators._kernel_landmarks import check_batches

        check_batches(self)

    def _plan(self, data: Dataset, sample_weight: Any) -> Plan:
        data, _, kernel, feature_map = self._prepare(data, sample_weight, lazy_generator(self.random_state))
        return plan_kernel_pca(self, data, kernel, feature_map)

    @property
    def input_kind(self) -> Kind:  # type: ignore[override]
        """What the kernel compares; "objects" for a function that was fitted to objects."""
        kind = self._kernel_kind
        if kind == "precomputed":
            return "vectors"
        return getattr(self, "_kind", "vectors") if kind == "any" else kind

    @property
    def _kernel_kind(self) -> Any:
        if isinstance(self.kernel, str):
            known = KERNELS.get(ALIASES.get(self.kernel, self.kernel))
            return "vectors" if known is None else known.input_kind  # other names are rejected by fit
        return getattr(self.kernel, "input_kind", "any")

    def _open(self, X: Any, *, reset: bool, check_finite: bool = True) -> Dataset:
        kind = self._kernel_kind
        if reset:
            self._remembered: dict[str, Any] = {}
            self._kind = kind_of(X) if kind == "any" else kind
        if kind != "precomputed":
            return super()._open(X, reset=reset, check_finite=check_finite)
        data: Dataset
        if isinstance(X, LinearOperator):
            data = open_operator(self, X, reset)
        else:
            data = ArrayDataset(super()._open(X, reset=reset, check_finite=False).load(), "precomputed")
            if check_finite and not is_finite(data.load()):
                raise_nonfinite(data)
        if reset:
            check_square(data.shape)
        return data

    def _apply_matrix_weight(self, data: Dataset, sample_weight: Any) -> tuple[Dataset, NDArray | None]:
        """Of a kernel matrix, rows and columns of weight zero are left out."""
        if sample_weight is None:
            return data, None
        weights = check_sample_weight(sample_weight, len(data))
        if weights.all():
            return data, weights
        kept = weights > 0
        K = data.load()
        if isinstance(K, LinearOperator):
            raise DataError(
                "Weights of zero leave out rows of the kernel matrix, which a LinearOperator does not have. Pass the "
                "operator of the other rows."
            )
        self._kept = kept
        return ArrayDataset(K[kept][:, kept], "precomputed"), weights[kept]

    def _set_spectrum(
        self, values: NDArray, n_samples: int, trace: float, total_weight: float, indefinite: bool, dtype: Any
    ) -> None:
        """Eigenvalues, variances and their ratios."""
        degrees = total_weight - 1
        if degrees <= 0 and n_samples > 1:
            warn(
                f"The weights sum to {total_weight:g}, and variances divide by their sum minus one, so they are nan. "
                "Weights are counts of rows."
            )
        per_degree = 1 / degrees if degrees > 0 else np.nan
        ratio = values / trace if trace > 0 else np.zeros(len(values))
        self.n_components_, self.n_samples_ = len(values), n_samples
        with np.errstate(over="ignore"):
            self.eigenvalues_ = values.astype(dtype, copy=False)
            self.explained_variance_ = (values * per_degree).astype(dtype, copy=False)
        self.explained_variance_ratio_ = (np.full(len(values), np.nan) if indefinite else ratio).astype(
            dtype, copy=False
        )
        self.total_variance_ = max(trace, 0.0) * per_degree
        if dtype == np.float32 and not np.isfinite(self.eigenvalues_).all():
            raise DataError(
                f"The largest eigenvalue is {values[0]:.3g}, which float32 cannot represent. Scale the data down, or "
                "pass X.astype(np.float64)."
            )

    def _learn_inverse(self, scores: NDArray, X: Any, weights: NDArray | None, dtype: Any) -> None:
        """scikit-learn's inverse: ridge regression with the kernel of the fit between scores."""
        if self.input_kind != "vectors":
            raise ParameterError(
                "fit_inverse_transform",
                True,
                "False",
                message=f"fit_inverse_transform=True finds rows of numbers, and X has {self.input_kind}.",
                remedies=[Remedy("preimage", "auto")],
            )
        if not isinstance(X, np.ndarray):
            raise NotImplementedError("Inverse transform not implemented for sparse matrices!")
        coefficients = learn_inverse(self.kernel_, scores, X, self.alpha, weights, self.resources().threads)
        if self.standardize:
            coefficients *= self.scale_
        self.X_transformed_fit_ = scores.astype(dtype, copy=False)
        self.dual_coef_ = coefficients.astype(dtype, copy=False)

    # ------------------------------------------------------------------ kernel

    @property
    def _is_precomputed(self) -> bool:
        return bool(self._kernel_kind == "precomputed")

    def _kernel(self) -> Kernel:
        """The requested kernel; what is left to the data is open."""
        gamma = None if self.gamma == "cv" else self.gamma
        return get_kernel(self.kernel, gamma=gamma, degree=self.degree, coef0=self.coef0, params=self.kernel_params)

    def _resolve(
        self, kernel: Kernel, data: Dataset, weights: NDArray | None, rng: Callable[[], np.random.Generator]
    ) -> Kernel:
        """The kernel with numbers for all parameters; gamma="cv" is searched for."""
        if self.gamma == "cv" and isinstance(self.kernel, str) and isinstance(kernel, GammaMixin):
            from mercer.analysis.tuning import search_bandwidth

            kernel = search_bandwidth(kernel, data, weights, self.n_components, rng(), self.resources(), self.progress)
        return kernel.resolve(data, rng, weights)

    def _gamma(self, kernel: Kernel, n_features: int) -> float:
        """γ of the kernel; of a kernel without one, what it would have been."""
        if isinstance(kernel, GammaMixin):
            return float(kernel.gamma)
        return 1.0 / n_features if self.gamma is None or isinstance(self.gamma, str) else float(self.gamma)

    def _current_kernel(self) -> Kernel:
        """The kernel of the fit, with γ as it is now."""
        kernel = self.kernel_
        if isinstance(kernel, GammaMixin) and kernel.gamma != self.gamma_:
            return replace(kernel, gamma=float(self.gamma_))  # type: ignore[type-var]
        return kernel

    # ------------------------------------------------------------------ scores

    def _scorer(self) -> KernelScores:
        """From the fitted attributes as they are now, so that changes to them take effect."""
        if isinstance(self._centering, LandmarkCentering):
            return KernelScores.from_landmarks(self._centering, self._centering.kernel)
        kernel = None if self._is_precomputed else self._current_kernel()
        features = self._features() if self._centering.by_features else None
        values, vectors = np.asarray(self.eigenvalues_), np.asarray(self.eigenvectors_)
        return KernelScores(kernel, self.X_fit_, self._centering, values, vectors, features)

    @property
    def _samples(self) -> Any:
        """Samples that the model kept, as the kernel compares them: all, or the landmarks."""
        return self._centering.samples if isinstance(self._centering, LandmarkCentering) else self.X_fit_

    def _features(self) -> Any:
        """Exact features of the training samples."""
        from mercer.linalg.feature_gram import FeatureGram

        def make() -> FeatureGram:
            kernel, origin = self._current_kernel(), self._centering.origin
            feature_map = (kernel if origin is None else kernel.with_origin(origin)).feature_map(self.X_fit_)
            assert feature_map is not None
            return FeatureGram(feature_map, self.X_fit_, self._centering.weights, recompute=True)

        return self._remember("features", make)

    def _remember(self, name: str, make: Callable[[], Any]) -> Any:
        """What `make` returns, kept until a fitted attribute is another object."""
        made_of = [vars(self).get(attribute) for attribute in _MADE_OF]
        remembered = self.__dict__.setdefault("_remembered", {})
        known = remembered.get(name)
        if known is None or any(old is not new for old, new in zip(known[0], made_of, strict=True)):
            remembered[name] = known = made_of, make()
        return known[1]

    def __getstate__(self) -> Any:
        """Without what can be computed again."""
        return super().__getstate__() | {"_remembered": {}}

    def _block_scores(self) -> Callable[[Any, int], NDArray]:
        """The scores of a block, with what was prepared once for all blocks."""
        prepared = partial(_score_block, self._scorer(), getattr(self, "scale_", None), getattr(self, "_kept", None))
        return partial(prepared, self.eigenvalues_.dtype == np.float32)

    def _scores(self, rows: Any, n_threads: int) -> NDArray:
        return self._block_scores()(rows, n_threads)

    def _score_dtype(self, data: Any) -> Any:
        single = data.dtype == np.float32 and self.eigenvalues_.dtype == np.float32
        return np.float32 if single else np.float64

    def component_functions(self, X: Any) -> NDArray:
        """Evaluate the components as functions of a sample, without centering.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Dataset} of shape (n_samples, n_features)
            Points at which they are evaluated.

        Returns
        -------
        values : ndarray of shape (n_samples, n_components)
            Σᵢ αᵢ k(x, xᵢ), which differs from the scores by a constant for each component.
        """
        data, scorer, n_threads = self.open(X), self._scorer(), self.resources().threads
        blocks = data.map_blocks(lambda block: scorer.functions(self._as_fitted(block), n_threads))
        return np.concatenate(list(blocks)).astype(self.eigenvalues_.dtype, copy=False)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the fraction of the variance of X that the components explain, in the feature space.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Dataset} of shape (n_samples, n_features)
            Samples, best those that were held out.
        y : Ignored
            Present for API consistency.

        Returns
        -------
        fraction : float
            Σ scores² / Σ ‖φ(x) − mean‖² with the mean of the training samples. For those of an exact fit, the sum of
            ``explained_variance_ratio_``. nan if the kernel matrix is indefinite.
        """
        data, scorer, n_threads = self.open(X), self._scorer(), self.resources().threads
        explained = total = 0.0
        for block in data.map_blocks(self._as_fitted):
            scores, norms = scorer.scores_and_norms(block, n_threads)
            explained, total = explained + float(np.vdot(scores, scores)), total + float(norms.sum())
        if np.isnan(self.explained_variance_ratio_).any():
            return float("nan")
        return explained / max(total, explained) if explained > 0 else 0.0

    def _as_fitted(self, rows: Any) -> Any:
        """Samples as the kernel of the fit compares them."""
        return _as_in_fit(self.kernel_, getattr(self, "scale_", None), getattr(self, "_kept", None), rows)

    # ------------------------------------------------------------------ inverse

    def inverse_transform(self, X: Any, return_error: bool = False) -> Any:
        """Return samples whose images are near the points of the feature space with these scores.

        Without `preimage`, this is scikit-learn's kernel ridge regression, to the same numbers. Any other method needs
        no training, and may be set after the fit.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Scores.
        return_error : bool, default=False
            Also return the distances in the feature space between images and points.

        Returns
        -------
        samples : ndarray of shape (n_samples, n_features) or (n_samples,)
            In the units of the rows of the fit. Strings for a model of strings, found by a search from those of the
            fit; for tables, series and other objects, those of the fit that are nearest.
        errors : ndarray of shape (n_samples,)
            ‖p − φ(z)‖ of every sample z, with p = Σᵢcᵢφ(xᵢ) the point with the scores. Only if ``return_error=True``.

        Examples
        --------
        >>> from mercer.datasets import rings
        >>> from mercer.estimators import KernelPCA
        >>> X, ring = rings(60)
        >>> model = KernelPCA(20, kernel="rbf", gamma=0.5, preimage="auto").fit(X)
        >>> rows, errors = model.inverse_transform(model.transform(X[:3]), return_error=True)
        >>> bool(abs(rows - X[:3]).max() < 0.02)
        True
        """
        check_is_fitted(self)
        learned = self.fit_inverse_transform and hasattr(self, "dual_coef_")
        if self.preimage is None and not learned:
            raise NotFittedError(
                "The fit_inverse_transform parameter was not set to True when instantiating and hence the inverse "
                'transform is not available. Set preimage="auto", which needs no other fit.'
            )
        check_numbers(X, "X")
        scores = check_array(X, input_name="X", dtype=np.float64)
        expected = self._n_features_out if self.preimage is not None else self.X_transformed_fit_.shape[1]
        if scores.shape[1] != expected:
            raise DataError(
                f"X has {scores.shape[1]} features, but inverse_transform expects {expected}: one per component."
            )
        if self.preimage is None:
            rows = self._invert_by_dual(scores)
            if not return_error:
                return rows
            seen = np.asarray(self._as_fitted(rows), dtype=np.float64)
            return rows, self._preimages().geometry.errors(seen, scores)
        preimages = self._preimages()
        warn_each([outside_warning(self, preimages, scores)])
        return find_preimages(self, preimages, scores, return_error)

    def denoise(self, X: Any, return_error: bool = False) -> Any:
        """Return the rows of X without their noise, as far as the components and the rows of the fit show it.

        For a function of the Euclidean distance and ``preimage`` None or "auto", each row shows the level of its noise
        by its distance from the components. A regression from scores to rows is learned at that level, and averaged
        with the position relative to the nearest rows of the fit. In all other cases this is
        ``inverse_transform(transform(X))``; strings and objects become those of the fit that are nearest.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Dataset} of shape (n_samples, n_features)
            Rows, or what else the kernel compares.
        return_error : bool, default=False
            Also return the distances in the feature space between the images of the result and the projections of X.

        Returns
        -------
        samples : ndarray of shape (n_samples, n_features) or (n_samples,)
            In the units of the rows of the fit.
        errors : ndarray of shape (n_samples,)
            Only if ``return_error=True``.

        Notes
        -----
        Measured with an RBF kernel on 300 held-out digits with white noise, pixels from 0 to 1, against scikit-learn's
        inverse transform with the ridge that was best on these digits. For models of 1,200 clean digits, the squared
        error is 0.71 to 0.78 times as large with σ = 0.25 and 0.5, and 0.85 to 1.06 times with σ = 0.1 and 0.15. For
        models of digits with the same noise, it is 0.90 to 0.98 times as large up to σ = 0.25, and 1.05 to 1.09 times
        with σ = 0.5 (benchmarks/readings/denoising_grid.md). Nothing follows for noise that is not white.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer.datasets import rings
        >>> from mercer.estimators import KernelPCA
        >>> X, ring = rings(60)
        >>> model = KernelPCA(8, kernel="rbf", gamma=0.5).fit(X)
        >>> noisy = X + 0.2 * np.random.default_rng(0).normal(size=X.shape)
        >>> bool(((model.denoise(noisy) - X) ** 2).sum() < ((noisy - X) ** 2).sum())
        True
        """
        data = self.open(X)
        preimages = self._preimages()
        scorer, n_threads = self._scorer(), self.resources().threads
        found = [
            find_preimages(self, preimages, scorer.scores(rows, n_threads), True, rows)
            for rows in data.map_blocks(self._as_fitted)
        ]
        samples, errors = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return (samples, errors) if return_error else samples

    def _invert_by_dual(self, scores: NDArray) -> NDArray:
        """scikit-learn's inverse: the kernel between scores and those of the fit, times `dual_coef_`."""
        known = np.asarray(self.X_transformed_fit_, dtype=np.float64)
        prepared = self._current_kernel().prepare(known).against(scores)
        rows = multiply_rows(prepared, np.asarray(self.dual_coef_, dtype=np.float64), self.resources().threads)
        return rows.astype(self.eigenvalues_.dtype, copy=False)

    def _preimages(self) -> Preimages:
        """What the methods learn."""
        expansion = self.expansion()
        if expansion is None:
            raise DataError(
                "Pre-images are samples, and a precomputed kernel matrix has none. Pass samples and a kernel."
            )
        return self._remember("preimages", lambda: Preimages(expansion, self._centering.weights, self.resources()))

    # ------------------------------------------------------------------ neighbors

    def kneighbors(
        self, X: Any = None, n_neighbors: int = 5, *, space: str = "components", return_distance: bool = True
    ) -> Any:
        """Find the training samples nearest to X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features), default=None
            Queries. None: the training samples, which are not their own neighbors.
        n_neighbors : int, default=5
            Number of neighbors, at most that of the training samples.
        space : {"components", "kernel"}, default="components"
            "components": distances between scores. "kernel": √(k(x, x) + k(t, t) − 2k(x, t)), the distance in the
            whole feature space.
        return_distance : bool, default=True
            Whether to return the distances.

        Returns
        -------
        distances : ndarray of shape (n_queries, n_neighbors)
            Nearest first. Only if ``return_distance=True``.
        indices : ndarray of shape (n_queries, n_neighbors)
            Indices of the training samples, as they were passed to `fit`.
        """
        check_is_fitted(self)
        if space not in ("components", "kernel"):
            raise ParameterError("space", space, "'components' or 'kernel'")
        if not isinstance(n_neighbors, Integral) or isinstance(n_neighbors, bool) or n_neighbors < 1:
            raise ParameterError("n_neighbors", n_neighbors, "a positive integer")
        if self._is_precomputed:
            raise DataError("kneighbors compares samples, and a precomputed kernel matrix has none.")
        places, n_threads = self._search_space(space), self.resources().threads
        most = places.n - (X is None)
        if n_neighbors > most:
            raise ParameterError("n_neighbors", n_neighbors, f"at most {most}, the number of other training samples")
        if X is None:
            found = places.nearest(n_neighbors, n_threads)
        else:
            rows = self._as_fitted(self.open(X).load())
            queries = rows if space == "kernel" else self._scorer().scores(rows, n_threads)
            found = places.nearest_to(places.prepare(queries), n_neighbors, n_threads)
        training = self.training_set()
        indices = training.indices[found.indices]
        return (found.distances, indices) if return_distance else indices

    def _search_space(self, space: str) -> Any:
        """Where neighbors are searched."""
        from mercer.linalg.neighbors import KernelSpace, Points

        samples = self._samples
        if space == "kernel":
            return self._remember(space, lambda: KernelSpace(samples, self._current_kernel()))
        return self._remember(space, lambda: Points.from_rows(self._scorer().scores(samples, self.resources().threads)))

    # ------------------------------------------------------------------ contract

    def spectrum(self) -> Eigenspectrum:
        """Eigenvalues with their intervals."""
        values = np.asarray(self.eigenvalues_, dtype=np.float64)
        weight = self._centering.total_weight
        trace = self.total_variance_ * (weight - 1)
        return Eigenspectrum(
            eigenvalues=values,
            lower=self.certificate_.lower,
            upper=self.certificate_.upper,
            variances=np.asarray(self.explained_variance_, dtype=np.float64),
            total=self.total_variance_,
            complete=bool(values.sum() >= (1 - 1e-9) * trace),
            total_weight=weight,
            ddof=1,
            feature_variances=None,
            bound_beyond=self.certificate_.bound_beyond,
            unresolved=self.certificate_.unresolved,
        )

    def training_set(self) -> TrainingSet:
        """The training samples in the units of X."""
        if isinstance(self._centering, LandmarkCentering):
            known = self.landmark_indices_
            return TrainingSet(self.landmarks_, np.arange(len(self._samples)) if known is None else known, None, None)
        kept, samples = getattr(self, "_kept", None), multiplied(self.X_fit_, getattr(self, "scale_", None))
        indices = np.arange(self.n_samples_) if kept is None else np.flatnonzero(kept)
        return TrainingSet(samples, indices, None, self._centering.weights)

    def project(self, rows: Any, *, rounding: bool = False) -> Projection:
        """Scores and squared distances from the subspace of the components, in the feature space."""
        scorer, n_threads, rows = self._scorer(), self.resources().threads, self._as_fitted(rows)
        if self._is_precomputed:  # there is no k(x, x)
            kept = np.asarray(self.eigenvalues_) > 0
            return Projection(scorer.scores(rows, n_threads)[:, kept], None, kept)
        scores, norms = scorer.scores_and_norms(rows, n_threads)
        with np.errstate(over="ignore", invalid="ignore"):
            q = np.maximum(norms - np.einsum("ij,ij->i", scores, scores), 0.0)
        kept = np.asarray(self.eigenvalues_) > 0
        if not rounding:
            return Projection(scores[:, kept], q, kept)
        scores_error, norms_error = scorer.rounding(rows, n_threads)
        scores_error = scores_error[:, kept]
        q_error = norms_error + np.einsum("ij,ij->i", 2 * np.abs(scores[:, kept]) + scores_error, scores_error)
        return Projection(scores[:, kept], q, kept, scores_error, q_error)

    def expansion(self) -> KernelExpansion | None:
        """The component functions as sums over training samples; None for a precomputed kernel."""
        if self._is_precomputed:
            return None
        scale, n_threads = getattr(self, "scale_", None), self.resources().threads
        if isinstance(self._centering, LandmarkCentering):
            c = self._centering
            return KernelExpansion(c.kernel, c.samples, c.alpha, c.shares, scale, n_threads)
        alpha = self._centering.dual(np.asarray(self.eigenvalues_), np.asarray(self.eigenvectors_))[0]
        return KernelExpansion(self._current_kernel(), self.X_fit_, alpha, self._centering.shares, scale, n_threads)

    # ------------------------------------------------------------------ scikit-learn

    def to_sklearn(self) -> Any:
        """Return a fitted `sklearn.decomposition.KernelPCA` with the same scores.

        Returns
        -------
        estimator : sklearn.decomposition.KernelPCA or sklearn.pipeline.Pipeline
            A pipeline that divides the columns first, if they were standardized.
        """
        from mercer.compat.to_sklearn import to_sklearn_kernel_pca

        return to_sklearn_kernel_pca(self)

    @property
    def _centerer(self) -> Any:
        """scikit-learn's private name, which PyOD reads."""
        from mercer.compat.to_sklearn import kernel_centerer

        return kernel_centerer(self)

    def _get_kernel(self, X: Any, Y: Any = None) -> NDArray:
        """Another one: the kernel between rows in the units of X, or of `X_fit_`, which is scaled already."""
        if self._is_precomputed:
            return np.asarray(X)
        X, Y = (rows if rows is self.X_fit_ else self._as_fitted(rows) for rows in (X, X if Y is None else Y))
        return self._current_kernel()(X, Y)

    @property
    def _n_features_out(self) -> int:
        check_is_fitted(self)
        return int(self.eigenvalues_.shape[0])

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``kernel__gamma`` replaces the kernel by a copy with another gamma.

        Parameters
        ----------
        **params : dict
            Names and values.

        Returns
        -------
        self : KernelPCA
            The estimator.
        """
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
        tags.input_tags.sparse = not self.fit_inverse_transform
        known = not isinstance(self.kernel, str) or self.kernel in {*KERNELS, *ALIASES}
        kind = self._kernel_kind if known else "vectors"
        tags.input_tags.pairwise = kind == "precomputed"
        tags.array_api_support = kind in ("vectors", "any")
        if known:
            tags.input_tags.positive_only = self._kernel().non_negative
        return tags


def _as_in_fit(kernel: Kernel, scale: NDArray | None, kept: NDArray | None, rows: Any) -> Any:
    """Samples as the kernel of a fit compares them; of a kernel matrix, the columns of samples with a weight."""
    if isinstance(kernel, Precomputed):
        return rows if kept is None else some_columns(rows, kept)
    return divided(as_compared(kernel, rows), scale)


def _score_block(
    scorer: KernelScores, scale: NDArray | None, kept: NDArray | None, single: bool, rows: Any, n_threads: int
) -> NDArray:
    """Scores of a block of samples in memory."""
    dtype = np.float32 if single and getattr(rows, "dtype", None) == np.float32 else np.float64
    rows = _as_in_fit(scorer.kernel or Precomputed(), scale, kept, rows)
    return scorer.scores(rows, n_threads).astype(dtype, copy=False)
