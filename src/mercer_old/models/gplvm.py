"""GPLVM: rows as smooth functions of a few unknown coordinates."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mercer_old.arrays import Array
from mercer_old.blocks import rows_at_a_time, steps
from mercer_old.certificates.optima import LocalOptimum
from mercer_old.errors import in_short, warn
from mercer_old.fits.latent import LatentTask, Places, Predictor, find_places, place_rows
from mercer_old.fits.latent.start import principal_places, with_fewer_columns
from mercer_old.fits.lazily import fit_transform_lazily, lazy_on_collections
from mercer_old.kernels import RBF, Kernel, Linear
from mercer_old.models.base import all_or_nothing
from mercer_old.models.in_memory import InMemoryModel
from mercer_old.progress import working
from mercer_old.sources.items import Items
from mercer_old.spaces.points import Points
from mercer_old.unpromised import Interval, StrOptions, fits

_EXACT, _LANDMARKS = 600, 100  # rows up to which the likelihood is exact throughout, and landmarks beyond
_POLISHED = 2000  # rows up to which exact iterations follow those by landmarks
_POLISH = 100  # of them
_STILL = 0.01  # share of all gains in the last ten iterations from which a user is told


class GPLVM(InMemoryModel):
    """Gaussian process latent variable model: places from which the rows follow smoothly.

    Every column is a draw of one Gaussian process over unknown places Z (n×k), plus noise: y ~ N(0, s·k(Z, Z) + vI).
    Those places are sought that are most probable, Z ~ N(0, I) beforehand, from PCA's as a start (Lawrence 2005). Where
    PCA maps places to rows by a plane, this maps them by a curved sheet; with ``kernel="linear"`` and ``prior=0`` it
    is probabilistic PCA. Each column keeps its distance from the mean, so columns of other units want `standardize`.

    Parameters
    ----------
    n_components : int, default=2
        How many coordinates.
    kernel : {"rbf", "linear"} or Kernel, default="rbf"
        How alike rows are by their places: a kernel with a gradient, positive semi-definite, at its unit length.
        "rbf" is exp(−‖z − z'‖²/2).
    length_scale : float, default=None
        Places are divided by it before the kernel compares them; the smaller, the more the sheet bends. None: that of
        the greatest likelihood at the start. It stays where it is while places move, see Notes.
    standardize : bool, default=False
        Divide every column by its standard deviation first.
    n_landmarks : int, default=None
        Landmarks by which the likelihood is bounded from below, in O(n·n_landmarks²); as many as rows: it is exact, in
        O(n³). None: exact up to 600 rows, and 100 landmarks beyond.
    polish : int or "auto", default="auto"
        Iterations with the exact likelihood after those by landmarks. "auto": 100 up to 2 000 rows, and none beyond.
    prior : float, default=1.0
        Weight of log N(Z; 0, I); 0 leaves it out.
    init : {"pca"} or array-like of shape (n_samples, n_components), default="pca"
        Where places start; those of PCA are scaled to variance one.
    tol : float, default=0.1
        Largest entry of the gradient of the log-probability at which the search ends.
    max_iter : int, default=300
        Iterations at most, before polishing.
    random_state : int, RandomState or None, default=None
        Of the choice of landmarks at the start. None is a fixed seed.
    n_jobs : int, default=None
        Threads, those of LAPACK among them. None: as many as the machine has.
    memory_limit : int, str or None, default=None
        Bytes the fit may use beyond X, or a text such as "2GB"; None is half of the machine's.
    progress : bool or callable, default=False
        True shows a bar on a terminal; a function is called with a `mercer.progress.Progress`.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The places.
    kernel_ : Kernel
        The kernel, at unit length.
    length_scale_ : float
        Its length, in the units of the places.
    signal_variance_, noise_variance_ : float
        s and v, in the units of X squared (of standardized columns: of their variances).
    log_probability_ : float
        log p(X, Z) at the end, of rows in their frame (mean zero, mean square one): exact, or the bound by landmarks.
    n_iter_ : int
        Iterations of all searches.
    certificate_ : LocalOptimum
        Start, end and the gradient that is left; print it.
    n_features_in_ : int
        How many columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, only if X has names that are texts.

    See Also
    --------
    PCA : A plane instead of a sheet, and a global optimum.
    KernelPCA : Curved from rows to scores, not back; a global optimum as well.

    Notes
    -----
    Were the length free, places and length could shrink together: the rows would not see it, and a prior on places
    would say nothing. So the length is set once, and the prior keeps places from drifting apart.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import GPLVM
    >>> t = np.linspace(0, 3, 60)
    >>> X = np.column_stack([np.cos(t), np.sin(t), t]) + 0.01 * np.random.default_rng(0).normal(size=(60, 3))
    >>> model = GPLVM(1).fit(X)
    >>> bool(abs(model.inverse_transform(model.embedding_) - X).mean() < 0.05)
    True
    """

    embedding_: Array
    kernel_: Kernel
    length_scale_: float
    signal_variance_: float
    noise_variance_: float
    log_probability_: float
    n_iter_: int
    certificate_: LocalOptimum

    _parameter_constraints: ClassVar[dict] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "kernel": [StrOptions({"rbf", "linear"}), Kernel],
        "length_scale": [Interval(Real, 0, None, closed="neither"), None],
        "standardize": ["boolean"],
        "n_landmarks": [Interval(Integral, 1, None, closed="left"), None],
        "polish": [Interval(Integral, 0, None, closed="left"), StrOptions({"auto"})],
        "prior": [Interval(Real, 0, None, closed="left")],
        "init": [StrOptions({"pca"}), "array-like"],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
        "memory_limit": [Interval(Real, 0, None, closed="neither"), str, None],
        "progress": ["boolean", callable],
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel: Any = "rbf",
        length_scale: float | None = None,
        standardize: bool = False,
        n_landmarks: int | None = None,
        polish: int | str = "auto",
        prior: float = 1.0,
        init: Any = "pca",
        tol: float = 0.1,
        max_iter: int = 300,
        random_state: Any = None,
        n_jobs: int | None = None,
        memory_limit: int | str | None = None,
        progress: Any = False,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.length_scale = length_scale
        self.standardize = standardize
        self.n_landmarks = n_landmarks
        self.polish = polish
        self.prior = prior
        self.init = init
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.progress = progress

    # ------------------------------------------------------------------ fitting

    @all_or_nothing
    @fits
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find places for the rows of X.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
            The rows; they are held in memory, dense.
        y : Ignored
            Present for compatibility.

        Returns
        -------
        self : GPLVM
            The fitted model.
        """
        kernel = self._kernel()
        Y = self._training_rows(X, self.standardize)
        task = self._task(Y, kernel)
        self._refuse_no_room(_memory(task), "Give a larger memory_limit, fewer n_landmarks or polish=0.")
        with working(self.progress, 2, "places", threads=self._limits().threads) as on_pass:
            found = find_places(task, on_pass)
            self._keep(Y, kernel, found)
        return self

    @fit_transform_lazily
    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Fit, and return ``embedding_``.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
            The rows.
        y : Ignored
            Present for compatibility.

        Returns
        -------
        places : ndarray of shape (n_samples, n_components)
            A copy of ``embedding_``.
        """
        return self.fit(X).embedding_.copy()

    def _fit_for_scores(self, X: Any, sample_weight: Any) -> tuple[Items, Array | None]:
        items, _ = super()._fit_for_scores(X, sample_weight)
        return items, self.embedding_

    def _kernel(self) -> Kernel:
        if isinstance(self.kernel, str):
            return {"rbf": RBF(gamma=0.5), "linear": Linear()}[self.kernel]
        kernel: Kernel = self.kernel.resolved(np.zeros((2, int(self.n_components))), self._rng())
        refuse_kernel(kernel)
        return kernel

    def _task(self, Y: Array, kernel: Kernel) -> LatentTask:
        n = len(Y)
        polish = (_POLISH if n <= _POLISHED else 0) if self.polish == "auto" else int(self.polish)
        return LatentTask(
            Y=with_fewer_columns(Y),
            columns=Y.shape[1],
            start=self._start(Y),
            kernel=kernel,
            landmarks=self._landmarks(n),
            length=None if self.length_scale is None else float(self.length_scale),
            prior=float(self.prior),
            tol=self.tol,
            max_iter=self.max_iter,
            polish=polish,
            rng=self._rng,
        )

    def _landmarks(self, n: int) -> int:
        if self.n_landmarks is None:
            return n if n <= _EXACT else _LANDMARKS
        return min(int(self.n_landmarks), n)

    def _start(self, Y: Array) -> Array:
        if isinstance(self.init, str):
            return principal_places(Y, int(self.n_components))
        start = np.array(self.init, dtype=np.float64)
        if start.shape != (len(Y), self.n_components) or not np.isfinite(start).all():
            raise ValueError(
                f"init has the shape {start.shape}; a finite place for every row is needed: "
                f"({len(Y)}, {self.n_components})."
            )
        return start

    def _keep(self, Y: Array, kernel: Kernel, found: Places) -> None:
        """All fitted names, in one place."""
        at, unit = found.at, 1.0 if self.standardize else self._frame.variance
        self.embedding_, self.kernel_, self.length_scale_ = at.Z, kernel, at.length
        self.signal_variance_, self.noise_variance_ = unit * at.signal, unit * at.noise
        self.certificate_, self.n_iter_ = found.certificate, found.certificate.iterations
        self.log_probability_ = found.certificate.end
        self._predictor, self._space = Predictor.of(kernel, at, Y), Points.of(Y)
        if not found.certificate.converged and found.gained > _STILL:
            warn(
                f"The search ended while it still gained: its last ten iterations brought {found.gained:.0%} of all; "
                "give a larger max_iter or polish.",
                ConvergenceWarning,
            )

    # ------------------------------------------------------------------ places and back

    @lazy_on_collections
    def transform(self, X: Any) -> Array:
        """Place rows where they are most probable, starting from the place of the nearest row of the fit.

        A row that equals one of the fit gets its place. All others are searched for: a local optimum each.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        places : ndarray of shape (n_samples, n_components)
            In the coordinates of ``embedding_``.
        """
        return self._transformed(X)

    def _scores(self, Y: Array) -> Array:
        places = np.empty((len(Y), self.embedding_.shape[1]))
        size = rows_at_a_time(Y.shape[1] + 8 * len(self._predictor.inputs))
        with working(False, 1, "", threads=self._limits().threads):
            for some in steps(len(Y), size):
                places[some] = self._placed(Y[some])
        return places

    def _placed(self, Y: Array) -> Array:
        new = self._space.prepare(Y)
        near = self._space.nearest_to(new, 1, self._limits().threads)
        places, equal = self.embedding_[near.indices[:, 0]], self._space.equal(new, near)[:, 0]
        if not equal.all():
            places[~equal] = place_rows(self._predictor, Y[~equal], places[~equal], float(self.prior))
        return places

    def inverse_transform(self, X: Any) -> Array:
        """The expected rows at these places.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            The places.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features)
            Far from all places of the fit, the mean of its rows (by a kernel that falls with the distance).
        """
        Z = self._scores_given(X)
        return self._frame.outside(self._predictor.mean(Z))


def refuse_kernel(kernel: Kernel) -> None:
    """Places are searched for along gradients."""
    if not (kernel.differentiable and kernel.psd and kernel.takes in ("rows", "anything")):
        raise ValueError(
            f"kernel={in_short(kernel)}: GPLVM needs a positive semi-definite kernel of rows with a gradient, such as "
            "RBF, Matern or RationalQuadratic."
        )


def _memory(task: LatentTask) -> int:
    """Bytes: of exact likelihoods eight n×n matrices, of bounds twelve r×n ones."""
    n, r = len(task.start), task.landmarks
    exact = 8 * n * n if task.exact or task.polish else 0
    return 8 * (4 * n * task.columns + 50 * task.start.size + max(exact, 0 if task.exact else 12 * n * r))
