"""Kernel PCA: scikit-learn's class, with explained variance and a proof."""

from contextlib import suppress
from numbers import Integral, Real
from typing import Any, ClassVar, Self

from mercer_old.arrays import Array
from mercer_old.fits.kernel.opening import asked_kernel, asked_solver, is_precomputed
from mercer_old.fits.lazily import fit_transform_lazily, lazy_on_collections
from mercer_old.kernels import NAMES, Kernel
from mercer_old.kernels.base import kind_of_items
from mercer_old.models.base import WEIGHTS_ON_REQUEST, all_or_nothing
from mercer_old.models.batches import WithBatches
from mercer_old.readings.preimages import PREIMAGES
from mercer_old.rule_names import RULES_OF
from mercer_old.unpromised import Interval, RealNotInt, StrOptions, fits


class KernelPCA(WithBatches):
    """Kernel principal component analysis, certified.

    Finds the leading eigenvectors of the centred kernel matrix, J K J v = η v, and with them coordinates
    y(x) = (k(x, ·) − means) v/√η for the training rows and for new ones. A drop-in for
    ``sklearn.decomposition.KernelPCA``: the same parameters, attributes and messages, and then some.

    Parameters
    ----------
    n_components : int, float, str or None, default=None
        How many components. A float in (0, 1): as many as explain this share of the total variance. Of the first 100,
        as many as a rule keeps: "elbow", "broken-stick" or "parallel" (see `mercer.suggest`). None: all with a non-zero
        eigenvalue.
    kernel : str, mercer.kernels.Kernel or callable, default="linear"
        "linear", "poly", "rbf", "sigmoid", "cosine" and "precomputed", as in scikit-learn, or another name of
        ``mercer.kernels.NAMES``; a kernel object such as ``RBF(gamma=2) + Linear()``, whose parameters a grid
        search reaches as ``kernel__gamma``; or a function of one pair of rows.
    gamma : float, "median", "cv" or None, default=None
        Of kernels by name that have one: "rbf", "poly", "sigmoid", …. None: 1/n_features, unless the kernel's class
        says otherwise. "median": one over the median squared distance of the rows, or over that of the distance that
        the kernel is made of. "cv": that of fifteen around it whose components lead back to rows with the least
        cross-validated error, on up to 1000 rows (`mercer.tune`).
    degree : float, default=3
        Of "poly".
    coef0 : float, default=1
        Of "poly" and "sigmoid".
    kernel_params : dict, default=None
        Keyword arguments of a callable kernel, or of a kernel of texts by name: ``kernel="spectrum"``,
        ``kernel_params={"n": 4}``.
    alpha : float, default=1.0
        Ridge of that inverse transform.
    fit_inverse_transform : bool, default=False
        Learn the way back from scores to inputs by kernel ridge regression, as scikit-learn does.
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
        for each component and 100 if that is more, up to 3000 and to what fits. Of `partial_fit`, from each batch.
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
    preimage : {"auto", "ridge", "fixed-point", "kwok-tsang", "gradient", "conformal", "local"} or None, default=None
        How `inverse_transform` and `denoise` find rows, without another fit. None: `inverse_transform` is
        scikit-learn's, and needs ``fit_inverse_transform=True``. "auto": exactly for the linear kernel, by guarded
        fixed points for kernels of a Euclidean distance, by gradients for others that have them, else by
        neighbours; to texts by a search.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        η of the centred kernel matrix, largest first.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        Unit eigenvectors, each with its largest entry positive. (By landmarks only, there are none, and no ``X_fit_``.)
    explained_variance_ : ndarray of shape (n_components,)
        `eigenvalues_`/(n − 1): with the linear kernel, that of PCA. With weights, divided by Σw − 1.
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
        γ as used by kernels that have one.
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
    n_samples_seen_ : int
        How many rows there were in all batches, only after `partial_fit` or `compress`.
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

    __metadata_request__fit: ClassVar[dict] = WEIGHTS_ON_REQUEST
    __metadata_request__partial_fit: ClassVar[dict] = WEIGHTS_ON_REQUEST

    _parameter_constraints: ClassVar[dict] = {
        "n_components": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="neither"),
            StrOptions(set(RULES_OF["kpca"])),
            None,
        ],
        "kernel": [StrOptions(set(NAMES)), Kernel, callable],
        "gamma": [Interval(Real, 0, None, closed="neither"), StrOptions({"median", "cv"}), None],
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
        "preimage": [StrOptions(set(PREIMAGES)), None],
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

    # ------------------------------------------------------------------ fitting

    @all_or_nothing
    @fits
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the leading components of the rows of X.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
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

    @fit_transform_lazily
    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Fit, and return the scores of the rows of X: the same as ``fit(X).transform(X)``, without its work.

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
        items, scores = self._fit_for_scores(X, sample_weight)
        scores = self._by_blocks(items) if scores is None else scores.astype(self._dtype, copy=True)
        return self._home().bring(scores)

    # ------------------------------------------------------------------ using

    @lazy_on_collections
    def transform(self, X: Any) -> Array:
        """The scores of the rows of X, with the training means removed: (k(x, ·) − means) v/√η.

        No matrix of all rows against all training rows is held: the kernel is evaluated in tiles. X may be a
        ``pathlib.Path`` or the result of `mercer.open_rows`, which are read block by block.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
            The rows; if ``kernel="precomputed"``, the kernel between them and the training items.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_components)
            In the precision of the rows of the fit.
        """
        home = self._home_of_new(X, "transform")
        return home.bring(self._by_blocks(self._new_items(X)))

    def component_functions(self, X: Any) -> Array:
        """The functions fᵢ(x) = k(x, ·)ᵀvᵢ/√ηᵢ without the training means, as on the slides that draw them as fields.

        They differ from ``transform`` by a constant for each component, which moves the zero contours.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        values : ndarray of shape (n_samples, n_components)
            Those of the functions.
        """
        home = self._home_of_new(X, "component_functions")
        values = self._by_blocks(
            self._new_items(X), lambda rows, threads: self._finish(self._projection.now(self).functions(rows, threads))
        )
        return home.bring(values)

    def check_params(self) -> None:
        """Raise ValueError for parameters that do not exist or contradict each other."""
        super().check_params()
        asked_solver(self)

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.pairwise = is_precomputed(self)
        tags.array_api_support = kind_of_items(self.kernel) in ("rows", "anything")
        with suppress(ValueError):  # of a kernel that does not exist, a fit will say so
            tags.input_tags.positive_only = asked_kernel(self).non_negative
        return tags
