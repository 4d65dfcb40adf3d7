"""Autoencoder: a small network that reconstructs rows from a few numbers each, in numpy."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mercer.certificates.optimum import OptimumCertificate
from mercer.compat.sklearn_private import Interval, NotConvergedWarning, StrOptions
from mercer.data.dataset import Dataset
from mercer.errors import ParameterError, Remedy, warn
from mercer.estimators._base import COMMON_ATTRIBUTES, COMMON_CONSTRAINTS
from mercer.estimators._in_memory import LBFGS, InMemoryEstimator
from mercer.linalg.dense import leading_eigenpairs
from mercer.numerics.optimize import minimize
from mercer.numerics.threads import blas_threads, working
from mercer.planning.plan import Plan
from mercer.storable import Stored, storable
from mercer.text import counted

_PATIENCE = 30  # iterations in which the validation error has to improve
_FEWEST_SAMPLES = 20  # from which some are held out
_WORSE, _NEGLIGIBLE = 1.01, 1e-6  # times the error of PCA, and more of the variance, that is worth a warning
_FEWEST_TRAINING = 2  # rows that are left, whatever `validation_fraction` is

#: An activation, and its derivative as a function of its value.
ACTIVATIONS: dict[str, tuple[Callable[[NDArray], NDArray], Callable[[NDArray], NDArray]]] = {
    "tanh": (np.tanh, lambda y: 1 - y * y),
    "relu": (lambda x: np.maximum(x, 0.0), lambda y: (y > 0).astype(np.float64)),
    "identity": (lambda x: x, np.ones_like),
}


class _Trained(NamedTuple):
    weights: NDArray
    losses: list[float]
    validation_errors: list[float]
    certificate: OptimumCertificate


class Autoencoder(InMemoryEstimator):
    """Dimensionality reduction by a network that reconstructs its input from a few numbers.

    The encoder maps a row x to its code, the decoder maps the code to a row x̂. Both have hidden layers with an
    activation; code and output are linear. The weights minimize the mean squared error by L-BFGS from random starts.
    With ``activation="identity"`` the optimum is PCA. Another network is better than PCA if its
    ``reconstruction_error_`` is below ``pca_error_``.

    Parameters
    ----------
    n_components : int, default=2
        Number of units of the code layer.
    hidden_layer_sizes : int or tuple of int, default=(50,)
        Sizes of the hidden layers of the encoder. The decoder mirrors them. ``()``: none.
    activation : {"tanh", "relu", "identity"}, default="tanh"
        Activation of the hidden layers.
    alpha : float, default=1e-5
        Strength of the L2 penalty: α/2 times the sum of squared weights is added to half the error of the
        standardized rows.
    standardize : bool, default=False
        Divide every column by its standard deviation.
    validation_fraction : float, default=0.1
        Fraction of rows that is held out if there are at least 20. Training stops when their error has not improved
        for 30 iterations, and the best weights are kept. 0: no early stopping.
    n_init : int, default=3
        Number of random starts. The one with the smallest validation error is kept, or with the smallest training
        error if no rows are held out.
    tol : float, default=1e-5
        Largest entry of the gradient at which training ends.
    max_iter : int, default=500
        Maximum number of iterations of each start.
    random_state : int, RandomState or None, default=None
        Seed of the starting weights and of the rows that are held out. None is a fixed seed.
    n_jobs : int, default=None
        Number of threads. None: all processors.
    memory_limit : int, str or None, default=None
        Bytes, or a text such as "2GB". None: half of the memory of the machine or container.
    progress : bool or callable, default=False
        True: a progress bar. A function is called with a `Progress`.

    Attributes
    ----------
    coefs_, intercepts_ : list of ndarray
        Weights and biases of the layers, for rows of mean zero and mean square one.
    reconstruction_error_ : float
        Mean squared distance of the training rows, held-out ones included, from their reconstructions; in units of
        the variances if standardized.
    pca_error_ : float
        The same for PCA with as many components.
    validation_error_ : float or None
        The same for the rows that were held out. None: no rows were.
    loss_curve_ : list of float
        Error and penalty of the training rows relative to their mean square, at the start and after each iteration.
    n_iter_ : int
        Number of iterations up to the weights that were kept.
    n_components_ : int
        Number of units of the code layer.
    n_samples_ : int
        Number of training rows.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features. Only if X has names that are strings.
    certificate_ : OptimumCertificate
        Start, end and remaining gradient of the training. The optimum is local: another start may end elsewhere.
    plan_ : Plan
        Memory of the fit.
    fit_warnings_ : tuple of MercerWarning
        Warnings of the fit.

    See Also
    --------
    PCA : The best linear reconstruction, a global optimum.
    KernelPCA : Non-linear as well, and a global optimum.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.estimators import Autoencoder
    >>> t = np.random.default_rng(0).uniform(-2, 2, size=(300, 1))
    >>> model = Autoencoder(1, hidden_layer_sizes=(20,)).fit(np.hstack([t, t**2]))
    >>> bool(model.reconstruction_error_ < 0.1 * model.pca_error_)
    True
    """

    model_key = "autoencoder"
    _stored_attributes = (
        *COMMON_ATTRIBUTES,
        Stored("_rows", "object"),
        Stored("_network", "object"),
        Stored("_weights", "float", "w"),
        Stored("reconstruction_error_", "number"),
        Stored("pca_error_", "number"),
        Stored("validation_error_", "number", optional=True),
        Stored("loss_curve_", "numbers"),
        Stored("n_iter_", "count"),
    )
    _parameter_constraints: ClassVar[dict] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "hidden_layer_sizes": [Interval(Integral, 1, None, closed="left"), tuple, list],
        "activation": [StrOptions(set(ACTIVATIONS))],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "standardize": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        hidden_layer_sizes: Any = (50,),
        activation: str = "tanh",
        alpha: float = 1e-5,
        standardize: bool = False,
        validation_fraction: float = 0.1,
        n_init: int = 3,
        tol: float = 1e-5,
        max_iter: int = 500,
        random_state: Any = None,
        n_jobs: int | None = None,
        memory_limit: int | str | None = None,
        progress: Any = False,
    ) -> None:
        self.n_components = n_components
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.alpha = alpha
        self.standardize = standardize
        self.validation_fraction = validation_fraction
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.progress = progress

    def _fit(self, data: Dataset, sample_weight: Any) -> NDArray | None:
        Y = self._training_rows(data, sample_weight)
        network, rng, n_threads = self._layers(Y.shape[1]), self._rng()(), self.resources().threads
        training, held_out = self._split(Y, rng)
        with working(self.progress, int(self.n_init), "iterations", n_threads) as progress, blas_threads(n_threads):
            starts = [network.random_weights(rng) for _ in range(self.n_init)]
            trained = [self._train(network, start, training, held_out, progress) for start in starts]
        found = min(trained, key=lambda one: min(one.validation_errors or one.losses))
        self._network, self._weights = network, found.weights
        self.loss_curve_, self.certificate_ = found.losses, found.certificate
        self.n_iter_ = found.certificate.n_iter
        unit = Y.shape[1] * (1.0 if self.standardize else self._rows.variance)  # from entries to rows
        self.reconstruction_error_ = unit * network.error(found.weights, Y)
        self.pca_error_ = unit * pca_error(Y, self.n_components_)
        self.validation_error_ = unit * min(found.validation_errors) if found.validation_errors else None
        if self.n_iter_ >= self.max_iter and not self.certificate_.converged:
            warn(
                f"Training stopped after max_iter={self.max_iter} iterations with a gradient of "
                f"{self.certificate_.gradient:.1g}, above tol={self.tol:g}.",
                remedies=[Remedy("max_iter", 2 * self.max_iter)],
                category=NotConvergedWarning,
            )
        if self.reconstruction_error_ > _WORSE * self.pca_error_ + _NEGLIGIBLE * unit:
            remedies = [Remedy("validation_fraction", 0.0)] if self.certificate_.notes else []
            errors = f"its error is {self.pca_error_:.3g}, that of this network {self.reconstruction_error_:.3g}"
            warn(f"PCA reconstructs the rows better: {errors}.", remedies=remedies)
        return None

    def _split(self, Y: NDArray, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
        """Training rows and those that are held out, none of few rows."""
        n_held_out = round(self.validation_fraction * len(Y)) if len(Y) >= _FEWEST_SAMPLES else 0
        n_held_out = min(n_held_out, len(Y) - _FEWEST_TRAINING)
        order = rng.permutation(len(Y))
        return Y[order[n_held_out:]], Y[order[:n_held_out]]

    def _train(self, network: "Network", start: NDArray, rows: NDArray, held_out: NDArray, progress: Any) -> "_Trained":
        """From random weights to a small gradient, or to the smallest validation error."""
        errors, best = list[float](), start

        def loss(weights: NDArray) -> tuple[float, NDArray]:
            return network.loss_and_gradient(weights, rows, self.alpha)

        def stop(weights: NDArray) -> bool:
            nonlocal best
            if not len(held_out):
                return False
            errors.append(network.error(weights, held_out))
            if errors[-1] < min(errors[:-1], default=np.inf):
                best = weights.copy()
            return len(errors) - 1 - int(np.argmin(errors)) >= _PATIENCE

        stop(start)
        found = minimize(loss, start, tol=self.tol, max_iter=self.max_iter, progress=progress, callback=stop)
        n_iter, weights, gradient, notes = found.n_iter, found.x, found.gradient_norm, list[str]()
        if errors and (kept := int(np.argmin(errors))) < found.n_iter:
            n_iter, weights, gradient = kept, best, float(np.abs(loss(best)[1]).max())
            notes = [f"Training stopped early: the error of {counted(len(held_out), 'held-out row')} increased."]
        losses = [2 * value for value in found.values]
        certificate = OptimumCertificate(
            objective="Error and penalty of the training rows",
            start=losses[0],
            end=losses[n_iter],
            gradient=gradient,
            tol=self.tol,
            n_iter=n_iter,
            notes=tuple(notes),
        )
        return _Trained(weights, losses, errors, certificate)

    def _plan(self, data: Dataset, sample_weight: Any) -> Plan:
        n, d = data.shape
        network = self._layers(d)
        memory = 8 * (3 * n * d + 3 * n * sum(network.sizes) + 50 * network.n_weights)
        reason = f"a network with {counted(network.n_weights, 'weight')} and {counted(n, 'row')}."
        return Plan("in-memory", LBFGS(), memory, reason, self.tol, int(self.n_init))

    def _layers(self, d: int) -> "Network":
        """The shape of the network."""
        given = self.hidden_layer_sizes
        sizes = (given,) if isinstance(given, Integral) else tuple(given)
        if any(isinstance(size, bool) or not isinstance(size, Integral) or int(size) < 1 for size in sizes):
            raise ParameterError("hidden_layer_sizes", given, "an integer or a tuple of positive integers")
        hidden = tuple(int(size) for size in sizes)
        return Network((d, *hidden, int(self.n_components), *hidden[::-1], d), len(hidden) + 1, self.activation)

    def _encode(self, Y: NDArray, n_threads: int) -> NDArray:
        return self._network.encode(self._weights, Y)

    def _decode(self, scores: NDArray) -> NDArray:
        return self._network.decode(self._weights, scores)

    @property
    def coefs_(self) -> list[NDArray]:
        """Weights of the layers."""
        return [W for W, _ in self._network.layers(self._weights)]

    @property
    def intercepts_(self) -> list[NDArray]:
        """Biases of the layers."""
        return [b for _, b in self._network.layers(self._weights)]


@storable
@dataclass(frozen=True)
class Network:
    """Layers of sizes d, h, …, k, …, h, d: y_{l+1} = a(y_l W_l + b_l), without activation a at the code and the end.

    The loss is E = ‖Ŷ − Y‖²/(2nd) + (α/2)·Σ‖W_l‖². Its gradient starts at the last layer (Rumelhart, Hinton and
    Williams 1986): with δ = ∂E/∂(y_l W_l + b_l), ∂E/∂W_l = y_lᵀδ + αW_l, ∂E/∂b_l = Σδ, and δ of the layer before is
    (δW_lᵀ)·a′.
    """

    sizes: tuple[int, ...]
    code_layer: int
    activation: str

    @property
    def n_weights(self) -> int:
        return sum((a + 1) * b for a, b in pairwise(self.sizes))

    def random_weights(self, rng: np.random.Generator) -> NDArray:
        """All weights as one vector, uniform in ±√(6/(a + b)) for layers of a and b units (Glorot and Bengio 2010)."""
        parts = []
        for a, b in pairwise(self.sizes):
            reach = np.sqrt(6 / (a + b))
            parts += [rng.uniform(-reach, reach, a * b), np.zeros(b)]
        return np.concatenate(parts)

    def layers(self, weights: NDArray) -> list[tuple[NDArray, NDArray]]:
        """W and b of every layer, as views."""
        found, at = [], 0
        for a, b in pairwise(self.sizes):
            found.append((weights[at : at + a * b].reshape(a, b), weights[at + a * b : at + (a + 1) * b]))
            at += (a + 1) * b
        return found

    def encode(self, weights: NDArray, Y: NDArray) -> NDArray:
        """Codes of rows."""
        return self._forward(self.layers(weights)[: self.code_layer], Y, 0)[-1]

    def decode(self, weights: NDArray, codes: NDArray) -> NDArray:
        """Rows of codes."""
        return self._forward(self.layers(weights)[self.code_layer :], codes, self.code_layer)[-1]

    def error(self, weights: NDArray, Y: NDArray) -> float:
        """‖Ŷ − Y‖²/(nd)."""
        return float(np.mean((self._forward(self.layers(weights), Y, 0)[-1] - Y) ** 2))

    def loss_and_gradient(self, weights: NDArray, Y: NDArray, alpha: float) -> tuple[float, NDArray]:
        """E and its gradient."""
        layers = self.layers(weights)
        values = self._forward(layers, Y, 0)
        delta = values[-1] - Y
        penalty = sum(float(np.vdot(W, W)) for W, _ in layers)
        loss = 0.5 * (float(np.vdot(delta, delta)) / Y.size + alpha * penalty)
        gradient = np.empty_like(weights)
        delta /= Y.size
        for layer, (dW, db) in reversed([*enumerate(self.layers(gradient), start=1)]):
            W = layers[layer - 1][0]
            np.matmul(values[layer - 1].T, delta, out=dW)
            dW += alpha * W
            np.sum(delta, axis=0, out=db)
            if layer > 1:
                delta = delta @ W.T
                if self._is_hidden(layer - 1):
                    delta *= ACTIVATIONS[self.activation][1](values[layer - 1])
        return loss, gradient

    def _forward(self, layers: list[tuple[NDArray, NDArray]], Y: NDArray, first: int) -> list[NDArray]:
        """The rows, and what every layer makes of them."""
        values = [Y]
        for layer, (W, b) in enumerate(layers, start=first + 1):
            inner = values[-1] @ W
            inner += b
            values.append(ACTIVATIONS[self.activation][0](inner) if self._is_hidden(layer) else inner)
        return values

    def _is_hidden(self, layer: int) -> bool:
        return layer not in (self.code_layer, len(self.sizes) - 1)


def pca_error(Y: NDArray, k: int) -> float:
    """The error ‖Ŷ − Y‖²/(nd) of PCA on centered rows."""
    gram = Y.T @ Y if Y.shape[1] <= len(Y) else Y @ Y.T
    total = float(np.trace(gram))
    return max(total - float(leading_eigenpairs(gram, k).values.sum()), 0.0) / Y.size
