"""GPLVM: rows as smooth functions of a few latent coordinates, by Gaussian processes.

For rows Y (n×d) and latent coordinates T (n×q, in units of the kernel's length scale) every column of Y is N(0, K) with
K = s·k(T, T) + vI, so that (Lawrence 2005)

    −log p(Y | T) = (d/2)·log|K| + ½·tr(K⁻¹YYᵀ) + (nd/2)·log 2π,
    G = ∂/∂K = ½(d·K⁻¹ − K⁻¹YYᵀK⁻¹).

With inducing points U and Q = K_fu K_uu⁻¹ K_uf, for any U (Titsias 2009),

    log p(Y | T) ≥ log N(Y | 0, Q + vI) − (d/2v)·tr(K_ff − Q),

in O(n·r²) for r inducing points. With k(x, y) = xᵀy the optimum is probabilistic PCA of the transposed rows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from mercer.certificates.optimum import OptimumCertificate
from mercer.compat.sklearn_private import Interval, NotConvergedWarning, StrOptions
from mercer.contract import TrainingSet
from mercer.data.dataset import ArrayDataset, Dataset
from mercer.errors import DataError, ParameterError, Remedy, warn
from mercer.estimators._base import COMMON_ATTRIBUTES, COMMON_CONSTRAINTS
from mercer.estimators._in_memory import LBFGS, InMemoryEstimator
from mercer.kernels.base import Kernel
from mercer.kernels.distance import RBF
from mercer.kernels.dot import Linear
from mercer.linalg.dense import leading_eigenpairs
from mercer.linalg.eigen import column_signs
from mercer.linalg.neighbors import Points
from mercer.numerics.blocking import slices
from mercer.numerics.optimize import Minimum, minimize
from mercer.numerics.rounding import TINY
from mercer.numerics.threads import blas_threads_for_size, working
from mercer.planning.plan import Plan
from mercer.storable import Stored, storable
from mercer.text import counted, short_repr

_EXACT_SAMPLES, _N_LANDMARKS = 600, 100  # rows up to which the likelihood is exact throughout; landmarks beyond
_POLISHED_SAMPLES, _POLISH = 2000, 100  # rows up to which exact iterations follow, and their number
_SIGNAL, _NOISE, _LENGTH = (1e-2, 10.0), (1e-5, 2.0), (0.02, 50.0)  # ranges of the search; rows have mean square one
_START_ITERATIONS = 100  # for signal, noise and length scale at the start
_LAST_STEPS, _STILL_GAINING = 10, 0.01  # iterations, and their part of the total gain that is worth a warning
_JITTER = 1e-8  # of the diagonal of K_uu, added to it
_ENTRIES = 4_000_000  # of arrays that the scores of new rows take at once
_LOG_2_PI = float(np.log(2 * np.pi))


class GPLVM(InMemoryEstimator):
    """Gaussian process latent variable model.

    Every column of X is one realization of a Gaussian process over unknown latent coordinates Z (n×k), plus noise:
    y ~ N(0, s·k(Z, Z) + vI). The coordinates of largest posterior density are found by L-BFGS, with the prior
    Z ~ N(0, I), starting from PCA. Where PCA maps coordinates to rows linearly, this map is smooth and non-linear. With
    ``kernel="linear"`` and ``prior=0`` it is probabilistic PCA.

    Parameters
    ----------
    n_components : int, default=2
        Number of latent coordinates.
    kernel : {"rbf", "linear"} or Kernel, default="rbf"
        Kernel on the latent coordinates, positive semi-definite and differentiable, at unit length scale. "rbf" is
        exp(−‖z − z′‖²/2).
    length_scale : float, default=None
        Length scale of the kernel. None: the one of largest likelihood at the start. It is not changed afterwards,
        see Notes.
    standardize : bool, default=False
        Divide every column by its standard deviation.
    n_landmarks : int, default=None
        Number of inducing points of the lower bound on the likelihood, in O(n·n_landmarks²). At least n_samples: the
        likelihood is exact, in O(n³). None: exact up to 600 rows, 100 beyond.
    polish : int or "auto", default="auto"
        Number of iterations with the exact likelihood that follow those with the bound. "auto": 100 up to 2,000 rows, 0
        beyond.
    prior : float, default=1.0
        Weight of log N(Z; 0, I). 0: no prior.
    init : {"pca"} or array-like of shape (n_samples, n_components), default="pca"
        Starting coordinates. PCA scores are scaled to variance one.
    tol : float, default=0.1
        Largest entry of the gradient of the log-probability at which the search ends.
    max_iter : int, default=300
        Maximum number of iterations, before polishing.
    random_state : int, RandomState or None, default=None
        Seed of the choice of inducing points at the start. None is a fixed seed.
    n_jobs : int, default=None
        Number of threads. None: all processors.
    memory_limit : int, str or None, default=None
        Bytes, or a text such as "2GB". None: half of the memory of the machine or container.
    progress : bool or callable, default=False
        True: a progress bar. A function is called with a `Progress`.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Latent coordinates of the training rows.
    kernel_ : Kernel
        The kernel at unit length scale.
    length_scale_ : float
        Length scale, in the units of the coordinates.
    signal_variance_, noise_variance_ : float
        s and v in the squared units of X; of standardized columns, relative to their variances.
    log_probability_ : float
        log p(X, Z) at the end, for rows of mean zero and mean square one: exact, or the lower bound.
    n_iter_ : int
        Number of iterations of all searches.
    n_components_ : int
        Number of latent coordinates.
    n_samples_ : int
        Number of training rows.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features. Only if X has names that are strings.
    certificate_ : OptimumCertificate
        Start, end and remaining gradient of the search. The optimum is local: another start may end elsewhere.
    plan_ : Plan
        Memory of the fit.
    fit_warnings_ : tuple of MercerWarning
        Warnings of the fit.

    See Also
    --------
    PCA : Linear, and a global optimum.
    KernelPCA : Non-linear from rows to scores; a global optimum.

    Notes
    -----
    The likelihood depends on the coordinates divided by the length scale only. If the length scale were free, both
    could shrink together and the prior would have no effect. So it is chosen once.

    `transform` returns its own coordinates for a row that equals a training row. For all others it searches a local
    optimum, from the coordinates of the nearest training row. `inverse_transform` returns expected rows: far from the
    training coordinates, a decreasing kernel gives the mean of the training rows.

    References
    ----------
    Lawrence (2005), Probabilistic non-linear principal component analysis with Gaussian process latent variable models.
    Titsias (2009), Variational learning of inducing variables in sparse Gaussian processes.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.estimators import GPLVM
    >>> t = np.linspace(0, 3, 60)
    >>> X = np.column_stack([np.cos(t), np.sin(t), t]) + 0.01 * np.random.default_rng(0).normal(size=(60, 3))
    >>> model = GPLVM(1).fit(X)
    >>> bool(abs(model.inverse_transform(model.embedding_) - X).mean() < 0.05)
    True
    """

    model_key = "gplvm"
    _stored_attributes = (
        *COMMON_ATTRIBUTES,
        Stored("embedding_", "float", "nk"),
        Stored("kernel_", "object"),
        Stored("length_scale_", "number"),
        Stored("signal_variance_", "number"),
        Stored("noise_variance_", "number"),
        Stored("log_probability_", "number"),
        Stored("n_iter_", "count"),
        Stored("_rows", "object"),
        Stored("_posterior", "object"),
        Stored("_space", "object"),
    )
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
        **COMMON_CONSTRAINTS,
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

    # ------------------------------------------------------------------ fit

    def _fit(self, data: Dataset, sample_weight: Any) -> NDArray | None:
        rng, n_threads = self._rng(), self.resources().threads
        kernel = self._kernel(rng)
        Y = self._training_rows(data, sample_weight)
        length_scale = None if self.length_scale is None else float(self.length_scale)
        likelihood = Likelihood(fewer_columns(Y), Y.shape[1], kernel, n_threads)
        search = _Search(likelihood, length_scale, float(self.prior), self.tol)
        n_landmarks, n_exact = self._sizes(len(Y))
        chosen = np.sort(rng().choice(len(Y), n_landmarks, replace=False)) if n_landmarks else np.arange(0)
        with working(self.progress, 2, "iterations", n_threads) as progress:
            start = search.start(self._starting_coordinates(Y), chosen)
            state, certificate, late_gain = search.run(start, self.max_iter, n_exact, progress)
            self._posterior = Posterior.fit(kernel, state, Y)
        unit = 1.0 if self.standardize else self._rows.variance
        self.embedding_, self.kernel_, self.length_scale_ = state.Z, kernel, state.length_scale
        self.signal_variance_, self.noise_variance_ = unit * state.signal, unit * state.noise
        self.certificate_, self.log_probability_ = certificate, certificate.end
        self.n_iter_, self._space = certificate.n_iter, Points.from_rows(Y)
        if not certificate.converged and late_gain > _STILL_GAINING:
            warn(
                f"The search stopped while the log-probability still increased: its last {_LAST_STEPS} iterations "
                f"brought {late_gain:.0%} of the total gain.",
                remedies=[Remedy("polish" if n_exact and n_landmarks else "max_iter", 2 * (n_exact or self.max_iter))],
                category=NotConvergedWarning,
            )
        return state.Z.copy()

    def _plan(self, data: Dataset, sample_weight: Any) -> Plan:
        n, d = data.shape
        r, n_exact = self._sizes(n)
        exact = 8 * n * n if n_exact or not r else 0  # eight n×n matrices, or twelve r×n ones
        memory = 8 * (4 * n * d + 50 * n * int(self.n_components) + max(exact, 12 * n * r))
        how = f"{counted(r, 'inducing point')}{', then the exact likelihood' if n_exact else ''}" if r else "exact"
        reason = f"the likelihood of {counted(n, 'row')} ({how})."
        return Plan("in-memory", LBFGS(), memory, reason, self.tol, 2 if r and n_exact else 1, n_landmarks=r)

    def _sizes(self, n: int) -> tuple[int, int]:
        """Numbers of inducing points (0: exact from the start) and of exact iterations after them."""
        wanted = self.n_landmarks
        if wanted is None:
            wanted = n if n <= _EXACT_SAMPLES else _N_LANDMARKS
        polish = _POLISH * (n <= _POLISHED_SAMPLES) if isinstance(self.polish, str) else int(self.polish)
        return (0, 0) if wanted >= n else (int(wanted), polish)

    def _kernel(self, rng: Callable[[], np.random.Generator]) -> Kernel:
        if isinstance(self.kernel, str):
            return {"rbf": RBF(gamma=0.5), "linear": Linear()}[self.kernel]
        origin = np.zeros((2, int(self.n_components)))
        kernel: Kernel = self.kernel
        if kernel.input_kind in ("vectors", "any") and kernel.psd:
            try:
                kernel = kernel.resolve(ArrayDataset(origin), rng)
            except DataError as error:
                message = f"{short_repr(kernel)} has a parameter that depends on coordinates before these are fitted."
                raise ParameterError("kernel", kernel, "", message=f"{message} Pass a number.") from error
            if kernel.vjp(origin, origin) is not None:
                return kernel
        message = (
            f"kernel={short_repr(kernel)} cannot be used: GPLVM needs a positive semi-definite kernel on vectors with "
            "a gradient, such as RBF, Matern or RationalQuadratic."
        )
        raise ParameterError("kernel", kernel, "a positive semi-definite, differentiable kernel", message=message)

    def _starting_coordinates(self, Y: NDArray) -> NDArray:
        if isinstance(self.init, str):
            return principal_coordinates(Y, self.n_components_)
        shape = len(Y), self.n_components_
        try:
            start = np.array(self.init, dtype=np.float64)
        except (TypeError, ValueError):
            start = np.empty(0)
        if start.shape != shape or not np.isfinite(start).all():
            message = f"init must be 'pca' or finite coordinates of shape {shape}, a row for each row of X."
            raise ParameterError("init", self.init, f"finite, of shape {shape}", message=message)
        return start

    # ------------------------------------------------------------------ scores and inverse

    def _encode(self, Y: NDArray, n_threads: int) -> NDArray:
        coordinates = np.empty((len(Y), self.n_components_))
        size = max(64, _ENTRIES // (Y.shape[1] + 8 * len(self._posterior.inputs)))
        with working(False, 1, "", n_threads):
            for some in slices(len(Y), size):
                queries = self._space.prepare(Y[some])
                found = self._space.nearest_to(queries, 1, n_threads)
                Z, new = self.embedding_[found.indices[:, 0]], ~self._space.equal(queries, found)[:, 0]
                if new.any():
                    Z[new] = self._posterior.most_probable(Y[some][new], Z[new], float(self.prior))
                coordinates[some] = Z
        return coordinates

    def _decode(self, scores: NDArray) -> NDArray:
        return self._posterior.mean(scores)

    def training_set(self) -> TrainingSet:
        """The training rows with their coordinates."""
        rows = self._rows.inverse_transform(self._space.to_input())
        return TrainingSet(rows, np.arange(self.n_samples_), self.embedding_, None)


# ---------------------------------------------------------------------- likelihoods


class Gradient(NamedTuple):
    """A function value, and its derivatives by coordinates, inducing points and the logarithms of s and v."""

    value: float
    coordinates: NDArray
    inducing: NDArray
    log_signal: float
    log_noise: float


@dataclass(frozen=True, eq=False)
class Likelihood:
    """−log p(Y | T): exact, or its upper bound for inducing points U. `Y` may have fewer columns with the same YYᵀ."""

    Y: NDArray
    n_features: int
    kernel: Kernel
    n_threads: int = 1

    def exact(self, T: NDArray, signal: float, noise: float) -> Gradient:
        """The value and its gradient, in O(n³)."""
        n, d = len(T), self.n_features
        K = signal * self.kernel(T, T)
        with blas_threads_for_size(n**3, self.n_threads):
            lower = cholesky(_add_to_diagonal(K, noise))
            weights = linalg.cho_solve((lower, True), self.Y, check_finite=False)
            value = d * np.log(np.diag(lower)).sum() + 0.5 * float(np.vdot(weights, self.Y)) + 0.5 * n * d * _LOG_2_PI
            G = linalg.lapack.dpotri(lower, lower=1, overwrite_c=1)[0]  # a third of what solving for all columns takes
            G = np.tril(G)
            G += np.tril(G, -1).T
            G *= 0.5 * d
            G -= 0.5 * (weights @ weights.T)
        by_coordinates = 2 * signal * self._vjp(T, T, G)
        none = np.zeros((0, T.shape[1]))
        return Gradient(float(value), by_coordinates, none, float(np.vdot(G, K)), noise * float(np.trace(G)))

    def bound(self, T: NDArray, U: NDArray, signal: float, noise: float) -> Gradient:
        """The upper bound and its gradient, in O(n·r²).

        With A = L⁻¹K_uf/√v, K_uu = LLᵀ and B = I + AAᵀ, |Q + vI| = vⁿ|B| and (Q + vI)⁻¹ = (I − AᵀB⁻¹A)/v (Woodbury).
        With H = ∂/∂Q, all that the gradient needs are VH and VHVᵀ for V = L⁻¹K_uf = √v·A.
        """
        d, (n, r), root = self.n_features, (len(T), len(U)), np.sqrt(noise)
        K_uu, K_uf = signal * self.kernel(U, U), signal * self.kernel(U, T)
        lower, A, factor = _inducing_factors(K_uu, K_uf, noise)
        own = signal * np.asarray(self.kernel.diag(T))
        AY, explained, total = A @ self.Y, float(np.vdot(A, A)), float(own.sum()) / noise
        along = _solve(factor, AY)
        value = 0.5 * n * d * (_LOG_2_PI + np.log(noise)) + d * np.log(np.diag(factor)).sum()
        value += 0.5 * (float(np.vdot(self.Y, self.Y)) - float(np.vdot(along, along))) / noise
        value += 0.5 * d * (total - explained)

        BA, BAY = (linalg.cho_solve((factor, True), side, check_finite=False) for side in (A, AY))
        rest = (self.Y - A.T @ BAY) / noise
        VH = (d * (BA - A) - BAY @ rest.T) / (2 * root)
        by_uf = 2 * _solve(lower, VH, "T")
        by_uu = -_solve(lower, _solve(lower, root * (VH @ A.T), "T").T, "T")
        by_uu = 0.5 * (by_uu + by_uu.T)
        inverse = float(np.trace(linalg.cho_solve((factor, True), np.eye(r), check_finite=False)))
        by_noise = 0.5 * (d * (n - r + inverse) / noise - float(np.vdot(rest, rest)))
        by_noise -= 0.5 * d * (total - explained) / noise

        by_diag = (0.5 * d / noise) * self.kernel.diag_gradient(T)
        by_coordinates = signal * (self._vjp(T, U, by_uf.T) + by_diag)
        by_inducing = signal * (self._vjp(U, T, by_uf) + 2 * self._vjp(U, U, by_uu))
        jitter = _JITTER * float(K_uu.diagonal().mean()) * float(np.trace(by_uu))
        by_signal = float(np.vdot(by_uf, K_uf)) + float(np.vdot(by_uu, K_uu)) + jitter
        by_signal += 0.5 * d * total
        return Gradient(float(value), by_coordinates, by_inducing, by_signal, noise * by_noise)

    def _vjp(self, Z: NDArray, X: NDArray, C: NDArray) -> NDArray:
        gradient = self.kernel.vjp(Z, X)
        assert gradient is not None  # checked before the fit
        return gradient(C)


def cholesky(K: NDArray) -> NDArray:
    """The lower factor, with no more added to the diagonal than is needed."""
    size = float(np.abs(K.diagonal()).max(initial=0.0))
    for jitter in (0.0, 1e-12, 1e-10, 1e-8, 1e-6):
        try:
            made = K if not jitter else _add_to_diagonal(K, jitter * size)
            return np.asarray(linalg.cholesky(made, lower=True, check_finite=False))
        except linalg.LinAlgError:
            continue
    raise linalg.LinAlgError("The kernel matrix of the latent coordinates is not positive definite.")


def _add_to_diagonal(K: NDArray, value: float) -> NDArray:
    K = K.copy()
    K.flat[:: len(K) + 1] += value
    return K


def _inducing_factors(K_uu: NDArray, K_uf: NDArray, noise: float) -> tuple[NDArray, NDArray, NDArray]:
    """L with K_uu = LLᵀ but for the jitter, A = L⁻¹K_uf/√v, and the lower factor of B = I + AAᵀ."""
    lower = cholesky(_add_to_diagonal(K_uu, _JITTER * float(K_uu.diagonal().mean())))
    A = _solve(lower, K_uf) / np.sqrt(noise)
    return lower, A, cholesky(_add_to_diagonal(A @ A.T, 1.0))


def _solve(lower: NDArray, side: NDArray, trans: str = "N") -> NDArray:
    return np.asarray(linalg.solve_triangular(lower, side, lower=True, trans=trans, check_finite=False))


# ---------------------------------------------------------------------- the search


class _State(NamedTuple):
    """A point of the search; no inducing points U where the likelihood is exact."""

    Z: NDArray
    U: NDArray
    signal: float
    noise: float
    length_scale: float

    def pack(self) -> NDArray:
        return np.concatenate([self.Z.ravel(), self.U.ravel(), np.log([self.signal, self.noise])])

    def unpack(self, x: NDArray) -> "_State":
        Z, U, logs = np.split(x, [self.Z.size, self.Z.size + self.U.size])
        signal, noise = (float(value) for value in np.exp(logs))
        return self._replace(Z=Z.reshape(self.Z.shape), U=U.reshape(self.U.shape), signal=signal, noise=noise)


@dataclass(frozen=True, eq=False)
class _Search:
    """The minimization of −log p(Y | Z) − prior·log N(Z; 0, I)."""

    likelihood: Likelihood
    length_scale: float | None
    prior: float
    tol: float

    def start(self, Z: NDArray, chosen: NDArray) -> _State:
        """Signal, noise and length scale of largest likelihood for the starting coordinates."""
        first = _State(Z, Z[chosen], 0.9, 0.3, self.length_scale or 1.0)

        def state_at(x: NDArray) -> _State:
            signal, noise, length_scale = (float(value) for value in np.exp(x))
            state = first._replace(signal=signal, noise=noise)
            return state if self.length_scale else state._replace(length_scale=length_scale)

        def function(x: NDArray) -> tuple[float, NDArray]:
            state = state_at(x)
            found = self._likelihood_at(state)
            stretched = float(np.vdot(found.coordinates, state.Z) + np.vdot(found.inducing, state.U))
            by_length = 0.0 if self.length_scale else -stretched / state.length_scale
            return found.value, np.array([found.log_signal, found.log_noise, by_length])

        low, high = np.log([_SIGNAL, _NOISE, _LENGTH]).T
        x = np.clip(np.log([first.signal, first.noise, 1.0]), low, high)
        return state_at(minimize(function, x, tol=self.tol, max_iter=_START_ITERATIONS, bounds=(low, high)).x)

    def run(
        self, start: _State, max_iter: int, n_exact: int, progress: Any
    ) -> tuple[_State, OptimumCertificate, float]:
        """The end of the search, and the part of the total gain that the last iterations brought.

        The bound is smoother than the likelihood: a search along it ends about as high as a hundred exact iterations
        from the same start, in a fraction of their time.
        """
        state, found = self._minimize(start, max_iter, progress)
        first, n_iter = found.values[0], found.n_iter
        if len(start.U) and n_exact:
            none = start.U[:0]
            first = self._objective(start._replace(U=none))[0]  # by the function that is minimized next
            state, found = self._minimize(state._replace(U=none), n_exact, progress)
            n_iter += found.n_iter
        values = found.values
        late = values[max(0, len(values) - 1 - _LAST_STEPS)] - values[-1]
        name = f", a lower bound by {counted(len(state.U), 'inducing point')}" if len(state.U) else ""
        certificate = OptimumCertificate(
            objective=f"Log-probability of rows and coordinates{name}",
            start=-first,
            end=-values[-1],
            gradient=found.gradient_norm,
            tol=self.tol,
            n_iter=n_iter,
            notes=("The noise variance is at its lower bound.",) if state.noise < 1.01 * _NOISE[0] else (),
            n_terms=len(state.Z) * self.likelihood.n_features,
        )
        return state, certificate, late / max(first - values[-1], TINY)

    def _minimize(self, start: _State, max_iter: int, progress: Any) -> tuple[_State, Minimum]:
        x = start.pack()
        low, high = np.full(len(x), -np.inf), np.full(len(x), np.inf)
        low[-2:], high[-2:] = np.log([_SIGNAL, _NOISE]).T
        options = {"tol": self.tol, "max_iter": max_iter, "bounds": (low, high), "progress": progress}
        found = minimize(lambda x: self._objective(start.unpack(x)), x, **options)
        return start.unpack(found.x), found

    def _objective(self, state: _State) -> tuple[float, NDArray]:
        """The value, and the gradient by the packed state."""
        found, Z = self._likelihood_at(state), state.Z
        value = found.value + self.prior * 0.5 * (float(np.vdot(Z, Z)) + Z.size * _LOG_2_PI)
        by_Z = found.coordinates / state.length_scale + self.prior * Z
        by_U = found.inducing / state.length_scale
        return value, np.concatenate([by_Z.ravel(), by_U.ravel(), [found.log_signal, found.log_noise]])

    def _likelihood_at(self, state: _State) -> Gradient:
        T, U = state.Z / state.length_scale, state.U / state.length_scale
        if len(U):
            return self.likelihood.bound(T, U, state.signal, state.noise)
        return self.likelihood.exact(T, state.signal, state.noise)


def principal_coordinates(Y: NDArray, k: int) -> NDArray:
    """Scores of centered rows along the leading components, scaled to variance one; zero without variance."""
    n, d = Y.shape
    if d <= n:
        pairs = leading_eigenpairs(Y.T @ Y, k)
        scores = Y @ pairs.vectors
    else:
        pairs = leading_eigenpairs(Y @ Y.T, k)
        scores = pairs.vectors * np.sqrt(np.maximum(pairs.values, 0.0))
    varies = pairs.values > 1e-14 * max(float(pairs.values[0]), TINY)
    deviations = np.sqrt(np.where(varies, pairs.values, 1.0) / n)
    scores = np.where(varies, scores / deviations, 0.0)
    return scores * column_signs(scores)


def fewer_columns(Y: NDArray) -> NDArray:
    """Rows with the same YYᵀ and at most as many columns as rows."""
    return Y if Y.shape[1] <= len(Y) else np.ascontiguousarray(np.asarray(np.linalg.qr(Y.T, mode="r")).T)


# ---------------------------------------------------------------------- new rows


@storable
@dataclass(frozen=True, eq=False)
class Posterior:
    """Mean m(z) = c(z)ᵀα and variance V(z) = s·k(z, z) + v − c(z)ᵀMc(z) of a new row, with c(z) = s·k(z, P).

    Exact: P are all coordinates, α = K⁻¹Y and M = K⁻¹. With inducing points, P are those, α is their mean and
    M = K_uu⁻¹ − (K_uu + K_uf K_fu/v)⁻¹.
    """

    kernel: Kernel
    inputs: NDArray  # P, in units of the length scale
    weights: NDArray  # α
    precision: NDArray  # M
    signal: float
    noise: float
    length_scale: float

    @classmethod
    def fit(cls, kernel: Kernel, state: _State, Y: NDArray) -> Self:
        """The posterior for the rows Y."""
        T, U, signal, noise = state.Z / state.length_scale, state.U / state.length_scale, state.signal, state.noise
        if not len(U):
            lower = cholesky(_add_to_diagonal(signal * kernel(T, T), noise))
            weights, precision = (linalg.cho_solve((lower, True), side) for side in (Y, np.eye(len(T))))
            return cls(kernel, T, weights, precision, signal, noise, state.length_scale)
        lower, A, factor = _inducing_factors(signal * kernel(U, U), signal * kernel(U, T), noise)
        weights = _solve(lower, linalg.cho_solve((factor, True), A @ Y) / np.sqrt(noise), "T")
        inner = np.eye(len(U)) - linalg.cho_solve((factor, True), np.eye(len(U)))
        precision = _solve(lower, _solve(lower, inner, "T").T, "T")
        return cls(kernel, U, weights, 0.5 * (precision + precision.T), signal, noise, state.length_scale)

    def mean(self, Z: NDArray) -> NDArray:
        """m(z) of all coordinates."""
        return self.signal * self.kernel(Z / self.length_scale, self.inputs) @ self.weights

    def loss(self, Z: NDArray, Y: NDArray, prior: float) -> tuple[NDArray, NDArray]:
        """h(z) = (d/2)·log V(z) + ‖y − m(z)‖²/(2V(z)) + prior·½‖z‖² of each row, and its gradient."""
        T, d = Z / self.length_scale, Y.shape[1]
        c = self.signal * self.kernel(T, self.inputs)
        cM = c @ self.precision
        most = self.signal * np.asarray(self.kernel.diag(T)) + self.noise
        variance = np.maximum(most - np.einsum("ij,ij->i", c, cM), 1e-12 * most)
        residuals = Y - c @ self.weights
        squares = np.einsum("ij,ij->i", residuals, residuals)
        values = 0.5 * (d * np.log(variance) + squares / variance + prior * np.einsum("ij,ij->i", Z, Z))
        by_variance = 0.5 * (d - squares / variance) / variance
        C = -(residuals / variance[:, None]) @ self.weights.T - 2 * by_variance[:, None] * cM
        vjp = self.kernel.vjp(T, self.inputs)
        assert vjp is not None
        gradient = vjp(C) + by_variance[:, None] * self.kernel.diag_gradient(T)
        return values, self.signal * gradient / self.length_scale + prior * Z

    def most_probable(self, Y: NDArray, start: NDArray, prior: float) -> NDArray:
        """Coordinates of new rows: where h is smallest near a start."""
        return minimize_each(lambda Z, some: self.loss(Z, Y[some], prior), start)


def minimize_each(
    function: Callable[[NDArray, NDArray], tuple[NDArray, NDArray]],
    start: NDArray,
    *,
    tol: float = 1e-5,
    max_iter: int = 100,
) -> NDArray:
    """Local minima of many small functions, one BFGS for each, in step: none depends on the others.

    `function` receives points and the indices of their functions, and returns values and gradients. A minimum whose
    value is not finite is NaN.
    """
    Z = np.array(start, dtype=np.float64)
    values, gradients = function(Z, np.arange(len(Z)))
    H, active = np.tile(np.eye(Z.shape[1]), (len(Z), 1, 1)), np.abs(gradients).max(axis=1, initial=0.0) > tol
    for _ in range(max_iter):
        some = np.flatnonzero(active)
        if not len(some):
            break
        steps = _directions(H, gradients, some)
        moved, new_values, new_gradients = _line_search(function, Z[some], values[some], gradients[some], steps, some)
        gains = values[some] - new_values
        _update_inverse_hessians(H, some, moved - Z[some], new_gradients - gradients[some])
        Z[some], values[some], gradients[some] = moved, new_values, new_gradients
        active[some] = (np.abs(new_gradients).max(axis=1) > tol) & (gains > 1e-13 * np.abs(new_values))
    Z[~np.isfinite(values)] = np.nan
    return Z


def _directions(H: NDArray, gradients: NDArray, some: NDArray) -> NDArray:
    """Descent directions of length one at most."""
    steps = -np.einsum("mij,mj->mi", H[some], gradients[some])
    uphill = np.einsum("mi,mi->m", steps, gradients[some]) >= 0
    H[some[uphill]] = np.eye(H.shape[1])
    steps[uphill] = -gradients[some[uphill]]
    lengths = np.sqrt(np.einsum("mi,mi->m", steps, steps))
    return np.asarray(steps / np.maximum(lengths, 1.0)[:, None])


def _line_search(
    function: Callable[[NDArray, NDArray], tuple[NDArray, NDArray]],
    Z: NDArray,
    values: NDArray,
    gradients: NDArray,
    steps: NDArray,
    indices: NDArray,
) -> tuple[NDArray, NDArray, NDArray]:
    """Steps are halved until each gains enough; where none does, nothing moves."""
    promised = 1e-4 * np.einsum("mi,mi->m", steps, gradients)
    found, new_values, new_gradients = Z.copy(), values.copy(), gradients.copy()
    waiting, size = np.arange(len(Z)), 1.0
    for _ in range(25):
        tried = Z[waiting] + size * steps[waiting]
        at, slopes = function(tried, indices[waiting])
        good = at <= values[waiting] + size * promised[waiting]
        done = waiting[good]
        found[done], new_values[done], new_gradients[done] = tried[good], at[good], slopes[good]
        waiting, size = waiting[~good], size / 2
        if not len(waiting):
            break
    return found, new_values, new_gradients


def _update_inverse_hessians(H: NDArray, some: NDArray, moved: NDArray, bent: NDArray) -> None:
    """BFGS updates where the curvature along the step is positive."""
    curvature = np.einsum("mi,mi->m", moved, bent)
    fine = curvature > 1e-12 * np.einsum("mi,mi->m", moved, moved)
    s, y, rho = moved[fine], bent[fine], 1 / curvature[fine]
    left = np.eye(H.shape[1]) - rho[:, None, None] * np.einsum("mi,mj->mij", s, y)
    H[some[fine]] = left @ H[some[fine]] @ left.transpose(0, 2, 1) + rho[:, None, None] * np.einsum("mi,mj->mij", s, s)
