"""A small autoencoder: rows squeezed through a few numbers and rebuilt, by a network in plain numpy."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

from sklearn.exceptions import ConvergenceWarning

from mercer_old.arrays import Array
from mercer_old.certificates.optima import LocalOptimum
from mercer_old.errors import in_short, warn
from mercer_old.fits.lazily import lazy_on_collections
from mercer_old.fits.networks import ACTIVATIONS, Lesson, Network, Trained, principal_error, train
from mercer_old.models.base import all_or_nothing
from mercer_old.models.in_memory import InMemoryModel
from mercer_old.progress import working
from mercer_old.unpromised import Interval, StrOptions, fits


class Autoencoder(InMemoryModel):
    """A network that rebuilds its rows from a few numbers each.

    x → code → x̂, both ways by layers of weighted sums and an activation between them; the weights are those of a small
    mean squared error, found by L-BFGS from a random start. With ``activation="identity"`` it is PCA, the long way
    round: the same plane and the same error. Otherwise it bends, and may follow the rows better; ``pca_error_`` says
    whether it did.

    Parameters
    ----------
    n_components : int, default=2
        Numbers that a row is squeezed through.
    hidden : int or tuple of int, default=(50,)
        Sizes of the layers on the way to the code; the way back mirrors them. ``()``: none.
    activation : {"tanh", "relu", "identity"}, default="tanh"
        Of the hidden layers; code and output have none.
    alpha : float, default=1e-5
        Weight decay: α/2 of all squared weights is added to half the error, of rows with mean square one.
    standardize : bool, default=False
        Divide every column by its standard deviation first: the error counts all columns alike.
    validation_fraction : float, default=0.1
        Share of the rows that is held out, if there are 20 or more: training stops when these are rebuilt no better for
        30 iterations, and the best weights are kept. 0: none.
    n_init : int, default=3
        Random starts, of which the best is kept: by the rows held out, or by all if there are none.
    tol : float, default=1e-5
        Largest entry of the gradient at which training ends.
    max_iter : int, default=500
        Iterations at most.
    random_state : int, RandomState or None, default=None
        Of the first weights and of the rows held out. None is a fixed seed.
    n_jobs : int, default=None
        Threads of BLAS, where products are large. None: as many as the machine has.
    memory_limit : int, str or None, default=None
        Bytes the fit may use beyond X, or a text such as "2GB"; None is half of the machine's.
    progress : bool or callable, default=False
        True shows a bar on a terminal; a function is called with a `mercer.progress.Progress`.

    Attributes
    ----------
    coefs_, intercepts_ : list of ndarray
        Weights and biases of the layers, of rows in their frame (mean zero, mean square one).
    reconstruction_error_ : float
        Mean squared distance of all rows of the fit from what is rebuilt of them, as of `PCA`; with `standardize`, in
        units of the columns' variances.
    pca_error_ : float
        The same of PCA with as many components.
    validation_error_ : float or None
        The same of the rows that were held out, if there are any.
    loss_curve_ : list of float
        Error and penalty of the training rows, at the start and after each iteration, of their mean square.
    n_iter_ : int
        Iterations up to the weights that were kept.
    n_samples_ : int
        How many rows.
    certificate_ : LocalOptimum
        Start, end and the gradient that is left; print it.
    n_features_in_ : int
        How many columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, only if X has names that are texts.

    See Also
    --------
    PCA : The best linear one, and proven to be.
    KernelPCA : Curved as well, and a global optimum.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Autoencoder
    >>> t = np.random.default_rng(0).uniform(-2, 2, size=(300, 1))
    >>> model = Autoencoder(1, hidden=(20,)).fit(np.hstack([t, t**2]))
    >>> bool(model.reconstruction_error_ < 0.1 * model.pca_error_)
    True
    """

    coefs_: list[Array]
    intercepts_: list[Array]
    reconstruction_error_: float
    pca_error_: float
    validation_error_: float | None
    loss_curve_: list[float]
    n_iter_: int
    n_samples_: int
    certificate_: LocalOptimum

    _parameter_constraints: ClassVar[dict] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "hidden": [Interval(Integral, 1, None, closed="left"), tuple, list],
        "activation": [StrOptions(set(ACTIVATIONS))],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "standardize": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
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
        hidden: Any = (50,),
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
        self.hidden = hidden
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

    # ------------------------------------------------------------------ fitting

    @all_or_nothing
    @fits
    def fit(self, X: Any, y: Any = None) -> Self:
        """Train the network to rebuild the rows of X.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
            The rows; they are held in memory, dense.
        y : Ignored
            Present for compatibility.

        Returns
        -------
        self : Autoencoder
            The fitted model.
        """
        hidden = self._hidden()
        Y = self._training_rows(X, self.standardize)
        network = Network.through(Y.shape[1], hidden, int(self.n_components), self.activation)
        needed = 8 * (3 * len(Y) * sum(network.sizes) + 50 * network.n_weights)
        self._refuse_no_room(needed, "Give a larger memory_limit, or smaller hidden layers.")
        with working(self.progress, int(self.n_init), "training", threads=self._limits().threads) as on_pass:
            self._keep(network, train(network, Y, self._rng(), self._lesson(), on_pass), Y)
        return self

    def _lesson(self) -> Lesson:
        return Lesson(
            alpha=float(self.alpha),
            share=float(self.validation_fraction),
            starts=int(self.n_init),
            tol=self.tol,
            max_iter=self.max_iter,
        )

    def _hidden(self) -> tuple[int, ...]:
        sizes = (self.hidden,) if isinstance(self.hidden, Integral) else tuple(self.hidden)
        if any(isinstance(size, bool) or not isinstance(size, Integral) or int(size) < 1 for size in sizes):
            raise ValueError(f"hidden={in_short(self.hidden)}: give the sizes of layers as positive whole numbers.")
        return tuple(int(size) for size in sizes)

    def _keep(self, network: Network, trained: Trained, Y: Array) -> None:
        """All fitted names, in one place."""
        self._know(network, trained.weights)
        self.n_samples_ = len(Y)
        unit = Y.shape[1] * (1.0 if self.standardize else self._frame.variance)  # from means of entries to rows
        self.reconstruction_error_ = unit * network.error(trained.weights, Y)
        self.pca_error_ = unit * principal_error(Y, int(self.n_components))
        self.validation_error_ = unit * min(trained.held_out) if trained.held_out else None
        self.loss_curve_, self.n_iter_ = trained.errors, trained.certificate.iterations
        self.certificate_ = trained.certificate
        if trained.certificate.iterations >= self.max_iter and not trained.certificate.converged:
            warn(
                f"Training took all {self.max_iter} iterations, and the gradient is {self.certificate_.gradient:.1g}, "
                f"above tol={self.tol:g}; give a larger max_iter or tol.",
                ConvergenceWarning,
            )

    def _know(self, network: Network, weights: Array) -> None:
        """The network, and the names of its weights, which are parts of one row."""
        layers = network.layers(weights)
        self.coefs_, self.intercepts_ = [W for W, _ in layers], [b for _, b in layers]
        self._network, self._weights = network, weights

    # ------------------------------------------------------------------ codes and back

    @lazy_on_collections
    def transform(self, X: Any) -> Array:
        """The codes of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        codes : ndarray of shape (n_samples, n_components)
            What comes out in the middle: no order, no scale, no right angles.
        """
        return self._transformed(X)

    def _scores(self, Y: Array) -> Array:
        return self._network.encode(self._weights, Y)

    def inverse_transform(self, X: Any) -> Array:
        """The rows that are rebuilt from codes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            The codes.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features)
            In the units of the rows of the fit.
        """
        codes = self._scores_given(X)
        return self._frame.outside(self._network.decode(self._weights, codes))
