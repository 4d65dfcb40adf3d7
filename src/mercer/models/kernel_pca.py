"""Kernel PCA: scikit-learn's class, with explained variance and a proof."""

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from mercer.errors import tell
from mercer.inputs import table, told_where
from mercer.kernels import Kernel, Precomputed, resolve_kernel
from mercer.models.ahead import plan_ahead
from mercer.models.base import WEIGHTS_ON_REQUEST, Model, all_or_nothing
from mercer.models.by_landmarks import find_by_landmarks
from mercer.models.certified import find_certified
from mercer.models.components import Components, Task
from mercer.models.current import Current
from mercer.models.foretold import with_share
from mercer.models.problem import describe, which_solver
from mercer.models.scale import divided, in_units, in_units_of_input, refuse_matrix, sense_of_scale, standardized
from mercer.models.training import Training, check_rows, weigh
from mercer.operators.centering import refuse_non_finite
from mercer.readings.preimage import apply_inverse, learn_inverse
from mercer.solvers.certificate import Certificate
from mercer.solvers.interval import IntervalCertificate
from mercer.solvers.plan import Plan, choose_plan
from mercer.symmetric import Array
from mercer.unpromised import Interval, RealNotInt, StrOptions, fits


class KernelPCA(Model):
    """Kernel principal component analysis, certified.

    Finds the leading eigenvectors of the centred kernel matrix, J K J v = η v, and with them coordinates
    y(x) = (k(x, ·) − means) v/√η for the training rows and for new ones. A drop-in for
    ``sklearn.decomposition.KernelPCA``: the same parameters, attributes and messages, and then some.

    Parameters
    ----------
    n_components : int, float or None, default=None
        How many components. A float in (0, 1): as many as explain this share of the total variance. None: all with a
        non-zero eigenvalue.
    kernel : str, mercer.kernels.Kernel or callable, default="linear"
        "linear", "poly", "rbf", "sigmoid", "cosine", "precomputed"; a kernel object such as
        ``RBF(gamma=2) + Linear()``, whose parameters a grid search reaches as ``kernel__gamma``; or a function of one
        pair of rows.
    gamma : float, "median" or None, default=None
        Of "rbf", "poly" and "sigmoid". None: 1/n_features. "median": one over the median squared distance of the rows.
    degree : float, default=3
        Of "poly".
    coef0 : float, default=1
        Of "poly" and "sigmoid".
    kernel_params : dict, default=None
        Keyword arguments of a callable kernel.
    alpha : float, default=1.0
        Ridge of the inverse transform.
    fit_inverse_transform : bool, default=False
        Learn the way back from scores to inputs by kernel ridge regression.
    eigen_solver : {"auto", "dense", "krylov", "landmark", "arpack", "randomized"}, default="auto"
        "landmark" is PCA of what some rows see of all others: for any number of rows, with intervals instead of
        residuals. "auto" takes it if `n_landmarks`, `landmarks` or `refine` are given, and with a
        warning where nothing certified fits. "arpack" and "randomized" are accepted
        and served as "auto" is: the certificate says how accurate the answer is.
    tol : float, default=0
        Bound on each component's residual, relative to its own eigenvalue. 0: our default, 1e-8, or 1e-4 where the
        kernel matrix is evaluated anew in each pass. Of landmarks: the share of the variance that they may leave
        unseen; 0: 1e-6.
    max_iter : int, default=None
        Most passes of the solver over the matrix, to which the search for missed eigenvalues may add up to three; when
        they do not suffice, a ConvergenceWarning says so.
    iterated_power : int or "auto", default="auto"
        Accepted for compatibility and not used.
    remove_zero_eig : bool, default=False
        Drop components with eigenvalue zero.
    random_state : int, RandomState or None, default=None
        Of the solver's start and of the certificate's probes. None is a fixed seed: the same data give the same answer.
    copy_X : bool, default=True
        Keep a copy of X rather than X itself; of a precomputed matrix, there is no copy.
    n_jobs : int, default=None
        Threads, those of LAPACK among them; small fits take one. None: as many as the machine has, as limited by
        the environment.
    memory_limit : int, str or None, default=None
        Bytes, or a text such as "2GB". None: half of the machine's or container's memory.
    progress : bool or callable, default=False
        Where the matrix is evaluated anew in each pass, or landmarks are drawn: True shows a bar on stderr if that is a
        terminal; a function is called with a `mercer.progress.Progress` after every strip of rows and every few
        landmarks, and what it raises stops the fit.
    n_landmarks : int, default=None
        How many landmarks, at most: fewer once they leave less than `tol` unseen. None: 1000 (2000 if `refine`), or 8
        for each component and 100 if that is more, up to 3000 and to what fits.
    landmarks : {array-like, sparse matrix}, default=None
        The landmarks themselves: numbers of rows if one-dimensional, rows if two-dimensional. None: drawn one after the
        other where the rest of the kernel matrix is seen worst (randomly pivoted Cholesky), from all rows or a large
        sample of them.
    refine : int, default=0
        How many exact passes over the kernel matrix follow the landmarks; they measure residuals, and new rows are
        compared with all training rows then.
    standardize : bool, default=False
        Divide every column by its standard deviation first, so that its unit does not matter:
        ``k(x/scale_, y/scale_)``. Nothing is subtracted. ``gamma="median"`` is that of the divided rows; `landmarks`
        are given in the units of X.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        η of the centred kernel matrix, largest first.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        Unit eigenvectors, each with its largest entry positive. (By landmarks only, there are none, and no ``X_fit_``.)
    explained_variance_ : ndarray of shape (n_components,)
        eigenvalues_/(n − 1): with the linear kernel, that of PCA. With weights, divided by Σw − 1.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Share of ``total_variance_``; nan if the kernel turned out not to be positive semi-definite.
    total_variance_ : float
        tr(J K J)/(n − 1): the variance of all components, kept or not. By landmarks, an upper bound; an interval
        for n − 1 times it is ``certificate_.total``.
    certificate_ : Certificate or IntervalCertificate
        What is proven about the answer; print it.
    plan_ : Plan
        What was done, and why.
    kernel_ : Kernel
        The kernel with all parameters resolved.
    gamma_ : float
        γ as used by "rbf", "poly" and "sigmoid".
    X_fit_ : {ndarray, sparse matrix} of shape (n_samples, n_features)
        The training rows (only those of positive weight), divided by ``scale_`` if ``standardize``.
    scale_ : ndarray of shape (n_features,)
        What columns were divided by, only if ``standardize``: s = √(Σw(x − mean)²/(Σw − 1)), and 1 for constant ones.
    landmarks_ : {ndarray, sparse matrix} of shape (n_landmarks, n_features)
        The landmarks (only by landmarks) in the units of X, most telling first, without those that repeat others.
    landmark_indices_ : ndarray of shape (n_landmarks,)
        Their numbers among the rows, only if they were not given as rows.
    dual_coef_ : ndarray of shape (n_samples, n_features)
        The inverse transform, only if it was learned; by landmarks, from the landmarks.
    X_transformed_fit_ : ndarray of shape (n_samples, n_components)
        The scores that it was learned from, only if it was.
    n_features_in_ : int
        How many columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, only if X has names that are texts.

    See Also
    --------
    PCA : That of the linear kernel, from the rows themselves.
    LocallyLinearEmbedding : Where a graph of neighbours knows what is near.

    Examples
    --------
    >>> from mercer import KernelPCA
    >>> from mercer.datasets import rings
    >>> X, ring = rings(60)
    >>> model = KernelPCA(2, kernel="rbf", gamma=0.5).fit(X)
    >>> bool(model.certificate_.certified)
    True
    """

    eigenvalues_: Array
    eigenvectors_: Array
    explained_variance_: Array
    explained_variance_ratio_: Array
    total_variance_: float
    certificate_: Certificate | IntervalCertificate
    plan_: Plan
    kernel_: Kernel
    gamma_: float
    X_fit_: Any
    scale_: Array
    landmarks_: Any
    landmark_indices_: Array
    dual_coef_: Array
    X_transformed_fit_: Array
    n_features_in_: int
    feature_names_in_: Array

    __metadata_request__fit: ClassVar[dict] = WEIGHTS_ON_REQUEST

    _parameter_constraints: ClassVar[dict] = {
        "n_components": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="neither"),
            None,
        ],
        "kernel": [StrOptions({"linear", "poly", "rbf", "sigmoid", "cosine", "precomputed"}), Kernel, callable],
        "gamma": [Interval(Real, 0, None, closed="neither"), StrOptions({"median"}), None],
        "degree": [Interval(Real, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "kernel_params": [dict, None],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "fit_inverse_transform": ["boolean"],
        "eigen_solver": [StrOptions({"auto", "dense", "krylov", "landmark", "arpack", "randomized"})],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "iterated_power": [Interval(Integral, 0, None, closed="left"), StrOptions({"auto"})],
        "remove_zero_eig": ["boolean"],
        "random_state": ["random_state"],
        "copy_X": ["boolean"],
        "n_jobs": [None, Integral],
        "memory_limit": [Interval(Real, 0, None, closed="neither"), str, None],
        "progress": ["boolean", callable],
        "n_landmarks": [Interval(Integral, 1, None, closed="left"), None],
        "landmarks": ["array-like", "sparse matrix", None],
        "refine": ["boolean", Interval(Integral, 0, None, closed="left")],
        "standardize": ["boolean"],
    }

    def __init__(
        self,
        n_components: int | float | None = None,
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

    # ------------------------------------------------------------------ fitting

    @all_or_nothing
    @fits
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the leading components of the rows of X.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, RowSource} of shape (n_samples, n_features)
            The rows; a file of rows, or what `mercer.open_rows` made of one; the kernel matrix itself if
            ``kernel="precomputed"``, which may be a scipy LinearOperator.
        y : Ignored
            Present for compatibility.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight 2 counts as that row twice; a row of weight 0 is left out.

        Returns
        -------
        self : KernelPCA
            The fitted model.
        """
        self._fit(X, sample_weight)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Fit, and return the scores of the rows of X: the same as ``fit(X).transform(X)``, without its work.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, RowSource} of shape (n_samples, n_features)
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
        rows, scores = self._fit_for_scores(X, sample_weight)
        return self._by_blocks(rows) if scores is None else scores.astype(self._dtype, copy=True)

    @all_or_nothing
    @fits
    def _fit_for_scores(self, X: Any, sample_weight: Any) -> tuple[Any, Array | None]:
        rows = self._fit(X, sample_weight)
        if rows is None and self._training is not None:
            return self._training, self._training
        return self._of_items_that_count(rows), None

    def _fit(self, X: Any, sample_weight: Any) -> Any:
        """From rows to fitted names; what it returns are the rows to score, if they are not those that were fitted."""
        with self._within_limits():
            task = self._task(X, sample_weight)
            plan = choose_plan(task.problem, task.limits)
            if not plan.streams:
                task = replace(task, training=task.training.in_memory())
            found = find_by_landmarks(task, plan) if plan.held == "landmarks" else find_certified(task, plan)
            warnings = sense_of_scale(found, task.kernel, self, getattr(self, "feature_names_in_", None))
            self._keep(replace(found, warnings=warnings), task.training)
            if self.fit_inverse_transform:
                self._learn_inverse(task, found)
        return task.training.given if self._training is not None else task.training.all_rows

    def _task(self, X: Any, sample_weight: Any, look: bool = True) -> Task:
        share = self.n_components is not None and not isinstance(self.n_components, Integral)  # its plan needs a scale
        training, limits = self._open(X, sample_weight, look=look or share), self._limits()
        kernel = self._resolve_kernel(training.rows)
        problem = describe(self, training.rows, kernel)
        return Task(
            training,
            kernel,
            with_share(problem, kernel, training, self.n_components, limits, self._rng()),
            limits,
            rng=self._rng,
            asked=self.n_components,
            landmarks=self.landmarks,
            by_modulus=self.eigen_solver == "randomized",
            drop_zeros=self.remove_zero_eig or self.n_components is None,
            copy=self.copy_X and not self._precomputed(),
            progress=self.progress,
        )

    def _open(self, X: Any, sample_weight: Any = None, look: bool = True) -> Training:
        """The rows, checked; their columns are looked at for a scale, unless it does not matter which."""
        if self._precomputed():
            refuse_matrix(self.standardize, "kernel")
        if self.fit_inverse_transform and self._precomputed():
            raise ValueError("Cannot fit_inverse_transform with a precomputed kernel.")
        if which_solver(self) == "landmark" and self._precomputed():
            raise ValueError(
                'eigen_solver="landmark" asks for a few columns of the kernel matrix, so it takes rows and a kernel, '
                "not a precomputed matrix. A matrix that is too large to be computed is given as numbers of items, "
                "np.arange(n)[:, None], and mercer.kernels.Blockwise(function), which is asked for those columns alone."
            )
        X = check_rows(self, X, reset=True, square=self._precomputed())
        if self.fit_inverse_transform and sparse.issparse(X):
            raise NotImplementedError("Inverse transform not implemented for sparse matrices!")
        training = weigh(X, sample_weight, square=self._precomputed())
        self._kept_items, self._dtype = training.kept, np.float32 if X.dtype == np.float32 else np.float64
        if not self.standardize:
            return training
        names = getattr(self, "feature_names_in_", None)
        return standardized(training, names, self._limits().threads) if look else divided(training, np.ones(X.shape[1]))

    def _resolve_kernel(self, rows: Any) -> Kernel:
        kernel = resolve_kernel(
            self.kernel,
            rows,
            self._rng(),
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            params=self.kernel_params,
        )
        default: Any = 1.0 / rows.shape[1] if self.gamma in (None, "median") else self.gamma
        self.kernel_, self.gamma_ = kernel, getattr(kernel, "gamma", default)
        return kernel

    def _keep(self, found: Components, training: Training) -> None:
        """All fitted names, in one place; those that this fit does not have are forgotten."""
        per_degree, scale = found.per_degree_of_freedom(), training.scale
        names = {
            "plan_": found.plan,
            "certificate_": found.certificate,
            "eigenvalues_": found.values,
            "eigenvectors_": found.vectors,
            "total_variance_": found.total * per_degree,
            "explained_variance_": found.values * per_degree,
            "explained_variance_ratio_": found.ratios,
            "X_fit_": found.rows,
            "scale_": None if scale is None else scale.astype(self._dtype),
            "landmarks_": in_units_of_input(found.landmarks, scale),
            "landmark_indices_": found.landmark_indices,
            "dual_coef_": None,
            "X_transformed_fit_": None,
        }
        for name, value in names.items():
            self.__dict__.pop(name, None)
            if value is not None:
                setattr(self, name, value)
        self._projection, self._training = Current.of(self, found.projection, found.centring), found.scores
        for message in filter(None, [found.plan.notice, *training.notes, *found.warnings]):
            tell(message)
        if not found.certificate.converged and not found.plan.approximate:
            tell(
                f"The solver stopped after {found.certificate.passes} passes before every component met the "
                "tolerance; see certificate_. Give a larger max_iter or tol.",
                ConvergenceWarning,
            )

    def _learn_inverse(self, task: Task, found: Components) -> None:
        """The way back from scores to rows: to those that were fitted, or to the landmarks, in the units of X."""
        rows, weights, threads = task.training.rows, task.training.weights, task.limits.threads
        scores: Any = self._training
        if found.landmarks is not None:
            rows, weights, scores = found.landmarks, None, found.projection.scores(found.landmarks, threads)
        coefficients = learn_inverse(self.kernel_, scores, rows, self.alpha, weights, threads)
        if task.training.scale is not None:
            coefficients *= task.training.scale
        self.X_transformed_fit_, self.dual_coef_ = scores.astype(self._dtype), coefficients.astype(self._dtype)

    # ------------------------------------------------------------------ using

    def transform(self, X: Any) -> Array:
        """The scores of the rows of X, with the training means removed: (k(x, ·) − means) v/√η.

        No matrix of all rows against all training rows is held: the kernel is evaluated in tiles. X may be a
        ``pathlib.Path`` or the result of `mercer.open_rows`, which are read block by block.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, RowSource} of shape (n_samples, n_features)
            The rows; if ``kernel="precomputed"``, the kernel between them and the training items.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_components)
            In the precision of the rows of the fit.
        """
        return self._by_blocks(self._new_rows(X))

    def component_functions(self, X: Any) -> Array:
        """The functions fᵢ(x) = k(x, ·)ᵀvᵢ/√ηᵢ without the training means, as on the slides that draw them as fields.

        They differ from ``transform`` by a constant for each component, which moves the zero contours.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, RowSource} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        values : ndarray of shape (n_samples, n_components)
            Those of the functions.
        """
        return self._by_blocks(
            self._new_rows(X), lambda rows, threads: self._finish(self._projection.now(self).functions(rows, threads))
        )

    def inverse_transform(self, X: Any) -> Array:
        """The rows whose scores are near those of X, by the learned kernel ridge regression.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Scores.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features)
            In the units of the rows of the fit.
        """
        if not self.fit_inverse_transform:
            raise NotFittedError(
                "The fit_inverse_transform parameter was not set to True when instantiating and hence the inverse "
                "transform is not available."
            )
        check_is_fitted(self)
        X = table(X)
        with told_where(X):
            scores = check_array(X, input_name="X", dtype=np.float64)
        expected = self.X_transformed_fit_.shape[1]
        if scores.shape[1] != expected:
            raise ValueError(
                f"X has {scores.shape[1]} features, but the inverse transform of KernelPCA is expecting {expected}: "
                "one for each component."
            )
        with self._within_limits():
            out = apply_inverse(
                self.kernel_,
                scores,
                np.asarray(self.X_transformed_fit_, dtype=np.float64),
                np.asarray(self.dual_coef_, dtype=np.float64),
                self._limits().threads,
            )
        return out.astype(self._dtype, copy=False)

    def _plan(self, X: Any, sample_weight: Any) -> Plan:
        task = self._task(X, sample_weight, look=False)
        return plan_ahead(task.problem, task.kernel, task.training.rows, task.limits)

    def _scores(self, rows: Any, threads: int) -> Array:
        return self._finish(self._projection.now(self).scores(rows, threads))

    def check_params(self) -> None:
        """Raise ValueError for parameters that do not exist or contradict each other."""
        super().check_params()
        which_solver(self)

    def _new_rows(self, X: Any) -> Any:
        """The checked rows."""
        check_is_fitted(self)
        rows = check_rows(self, X, reset=False, square=self._precomputed())
        return self._of_items_that_count(in_units(rows, getattr(self, "scale_", None)))

    def _of_items_that_count(self, rows: Any) -> Any:
        """Of a kernel matrix, the columns of items with a weight; rows of data as they are."""
        return rows[:, self._kept_items] if self._precomputed() and self._kept_items is not None else rows

    def _finish(self, scores: Array) -> Array:
        refuse_non_finite(scores, self.kernel_)
        return scores.astype(self._dtype, copy=False)

    # ------------------------------------------------------------------ scikit-learn's ways

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``kernel__gamma=2`` replaces a kernel object by a changed copy.

        Parameters
        ----------
        **params : dict
            Names and values.

        Returns
        -------
        self : KernelPCA
            The model.
        """
        inner = {name[8:]: value for name, value in params.items() if name.startswith("kernel__")}
        super().set_params(**{name: value for name, value in params.items() if not name.startswith("kernel__")})
        if inner:
            if not isinstance(self.kernel, Kernel):
                raise ValueError(
                    f"kernel={self.kernel!r} has no parameters of its own to set; use a mercer.kernels object."
                )
            self.kernel = self.kernel.with_params(**inner)
        return self

    @property
    def _centerer(self) -> Any:
        """scikit-learn's private name; PyOD reads it."""
        from mercer.models.as_sklearn import centerer_of

        return centerer_of(self)

    def _get_kernel(self, X: Any, Y: Any = None) -> Array:
        """Another one: the kernel between rows."""
        return np.asarray(X) if self._precomputed() else self.kernel_.block(X, X if Y is None else Y)

    def _precomputed(self) -> bool:
        return isinstance(self.kernel, Precomputed) or (isinstance(self.kernel, str) and self.kernel == "precomputed")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.pairwise = self._precomputed()
        return tags

    @property
    def _n_features_out(self) -> int:
        return self.eigenvalues_.shape[0]
