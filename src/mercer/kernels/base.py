"""Kernels as immutable values, and their matrices tile by tile with bounds on rounding.

An author of a kernel writes `__call__`; families that gain from preparing samples once write `prepare`
instead.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from importlib import import_module
from numbers import Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from mercer.data.dataset import Dataset, Kind
from mercer.errors import DataError, ParameterError
from mercer.kernels.names import KERNELS
from mercer.numerics.rounding import gamma as rounding_bound
from mercer.storable import storable
from mercer.text import short_repr

ROUNDINGS = 16  # of a formula of a few steps, with exp or tanh good to 4 ulp
_NEARLY_CONSTANT = 0.9  # mean of k/max_value from which the maximum is subtracted before rounding
_SHIFT_SAMPLES = 64
_MEDIAN_SAMPLES = 1000
Generator = Callable[[], np.random.Generator]


class Kernel(ABC):  # noqa: B024  __init_subclass__ checks what an author must write
    """A similarity k(x, y): a frozen dataclass whose fields are the parameters of the formula.

    A class writes ``__call__`` or ``prepare``; each is the other's default.

    Attributes
    ----------
    input_kind : str
        Kind of the samples, or "any".
    psd : bool
        Whether every kernel matrix is known to be positive semi-definite.
    non_negative : bool
        Whether it takes non-negative numbers only.
    max_value : float
        Largest value, if it is known and k ≥ 0; 0: unknown.
    decreasing : bool
        Whether k falls with a distance, from one k(x, x) for all x, and stays non-negative.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from mercer.kernels import Kernel
    >>> @dataclass(frozen=True)
    ... class Cubes(Kernel):
    ...     psd = True  # without an annotation: not a parameter
    ...     def __call__(self, X, Y):
    ...         return X**3 @ (Y**3).T
    """

    input_kind: "Kind | Literal['any']" = "vectors"
    psd = False
    non_negative = False
    max_value = 0.0
    decreasing = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__call__ is Kernel.__call__ and cls.prepare is Kernel.prepare:
            raise TypeError(f"{cls.__name__} must define __call__(X, Y) or prepare(Y).")

    def __call__(self, X: Any, Y: Any) -> NDArray:
        """Kernel matrix of shape (len(X), len(Y)), float64."""
        prepared = self.prepare(Y).against(X)
        out = np.empty(prepared.shape)
        prepared.fill(slice(None), slice(None), out)
        return out

    def diag(self, X: Any) -> NDArray:
        """k(x, x) of every sample."""
        return np.array([self(X[i : i + 1], X[i : i + 1])[0, 0] for i in range(len(X))])

    def prepare(self, Y: Any, *, shift: float | None = 0.0, dtype: Any = np.float64) -> "PreparedKernel":
        """k(Y, Y) − shift, ready for tiles. ``shift=None``: `max_value` if most are near it, else 0."""
        return PreparedKernel(self, Y, Y, shift)

    def resolve(self, data: Dataset, rng: Generator, weights: NDArray | None = None) -> Self:
        """Replace parameters that are left to the data (None, "median") by numbers."""
        return self

    def validate(self, samples: Any, name: str = "X") -> None:  # noqa: B027
        """Raise for samples that it cannot compare; may warn."""

    def entry_cost(self, data: Dataset) -> float:
        """Nominal nanoseconds of one entry, for planning; never measured."""
        return 20.0 + data.shape[1]

    def sample_width(self, data: Dataset) -> int:
        """Numbers of 8 bytes that a sample takes, and about a third of what is prepared of it."""
        return data.shape[1]

    def feature_map(self, samples: Any) -> "FeatureMap | None":
        """Exact finite features, or None. Kernels on vectors read the shape of the samples only."""
        return None

    def vjp(self, Z: Any, X: Any) -> Callable[[NDArray], NDArray] | None:
        """The function C → Σᵢ C[q, i]·∂k(z_q, xᵢ)/∂z_q, or None: there is no gradient."""
        return None

    def diag_gradient(self, Z: Any) -> NDArray:
        """∂k(z, z)/∂z of every sample."""
        raise NotImplementedError(f"{type(self).__name__} has no gradient.")

    def __add__(self, other: Any) -> "Kernel":
        from mercer.kernels.algebra import add

        return add(self, other)

    def __radd__(self, other: Any) -> "Kernel":
        from mercer.kernels.algebra import add

        return add(other, self)

    def __mul__(self, other: Any) -> "Kernel":
        from mercer.kernels.algebra import multiply

        return multiply(self, other)

    def __rmul__(self, other: Any) -> "Kernel":
        from mercer.kernels.algebra import multiply

        return multiply(other, self)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters of the formula, as in scikit-learn."""
        return {part.name: getattr(self, part.name) for part in fields(self)}  # type: ignore[arg-type]

    def with_params(self, **params: Any) -> Self:
        """A copy with other parameters."""
        unknown = set(params) - set(self.get_params())
        if unknown:
            known = ", ".join(self.get_params()) or "none"
            raise ValueError(f"Invalid parameter {min(unknown)!r} for kernel {self!r}. Valid parameters are: {known}.")
        return replace(self, **params)  # type: ignore[type-var]


class PreparedKernel:
    """k(X, Y) − shift between prepared samples, tile by tile, and how far entries can be off. Shared by
    threads.

    This class serves any kernel that can be called. It takes the values of a user's function as exact but for
    `n_roundings`; families override `fill` and the bounds.
    """

    dtype = np.dtype(np.float64)
    n_roundings: float = ROUNDINGS

    def __init__(self, kernel: Kernel, X: Any, Y: Any, shift: float | None = 0.0) -> None:
        self.kernel, self.X, self.Y = kernel, X, Y
        self.shape = X.shape[0], Y.shape[0]
        self.shift = choose_shift(self) if shift is None else shift

    @property
    def nbytes(self) -> int:
        """Bytes of what was prepared, besides the samples themselves."""
        return 0

    def fill(self, rows: slice, columns: slice, out: NDArray) -> None:
        """Write a tile into `out`."""
        np.subtract(self.kernel(self.X[rows], self.Y[columns]), self.shift, out=out)

    def against(self, X: Any) -> "PreparedKernel":
        """k(X, Y) − shift for other X. What was prepared of Y is not prepared again."""
        return PreparedKernel(self.kernel, X, self.Y, self.shift)

    @cached_property
    def diag(self) -> NDArray:
        """Diagonal of k(Y, Y) − shift."""
        return np.asarray(self.kernel.diag(self.Y), dtype=np.float64) - self.shift

    @cached_property
    def magnitudes(self) -> NDArray:
        """s with |k(yᵢ, yⱼ)| ≤ √(sᵢsⱼ), before anything cancels; of a Mercer kernel the diagonal."""
        return np.abs(self.diag + self.shift)

    def likely_error(self) -> float:
        """Rounding to expect in an entry besides that of its size, for stopping rules. Proves nothing."""
        return float(np.finfo(float).eps * abs(self.shift))

    def entry_error(self) -> float:
        """Bound on the error of any entry of k(Y, Y)."""
        return rounding_bound(self.n_roundings) * float(self.magnitudes.max(initial=0.0)) + self._shift_error

    def error_columns(self, weights: NDArray) -> NDArray | None:
        """Columns whose products with k(Y, Y) − shift sharpen `matrix_error`, for the first product."""
        return None

    def matrix_error(self, weights: NDArray, row_sums: NDArray, products: NDArray | None) -> float:
        """Bound on ‖S δK S‖₂, S = diag(√w): |δk| ≤ γ√(sᵢsⱼ), hence γΣwᵢsᵢ.

        `row_sums` is (K − shift)w, `products` what came of `error_columns`.
        """
        bound = rounding_bound(self.n_roundings) * float(weights @ self.magnitudes)
        return bound + self._shift_error * float(weights.sum())

    @property
    def _shift_error(self) -> float:
        """Of a shift that is subtracted after an entry was rounded."""
        return rounding_bound(1) * abs(self.shift)


class FeatureMap(ABC):
    """Exact features φ with k(x, y) = φ(x)·φ(y), of a kernel on samples that were seen in a fit."""

    n_features: int
    sparse = False  # whether `transform` returns a CSR array
    identity = False  # whether the features are the samples themselves
    recomputable = True  # whether they are cheap enough to be computed again for every block
    n_roundings: float = ROUNDINGS
    nnz: int | None = None  # stored entries of the features of the training samples, if they are sparse

    @abstractmethod
    def transform(self, samples: Any) -> Any:
        """Features of the samples, dense or CSR, float64."""

    @abstractmethod
    def get_feature_names_out(self) -> NDArray:
        """Names of the features."""


def choose_shift(prepared: PreparedKernel) -> float:
    """The largest value of the kernel if the entries of 64 samples are close to it, else 0.

    Of k = max − tiny the subtraction keeps the digits that centering leaves. Of a narrow kernel it would lose
    them.
    """
    most = prepared.kernel.max_value
    if not most:
        return 0.0
    prepared.shift = 0.0
    n = prepared.shape[1]
    step = max(1, -(-n // _SHIFT_SAMPLES))
    some = slice(0, n, step)
    tile = np.empty((len(range(0, n, step)),) * 2)
    prepared.fill(some, some, tile)
    return most if tile.mean() > _NEARLY_CONSTANT * most else 0.0


class GammaMixin:
    """A kernel with a field `gamma`: a number, None (1/n_features) or "median" (1/median distance)."""

    gamma: Any

    def __post_init__(self) -> None:
        if self.gamma is not None and not (isinstance(self.gamma, str) and self.gamma == "median"):
            check_positive("gamma", self.gamma)

    def default_gamma(self, n_features: int) -> float:
        """γ of None."""
        return 1.0 / n_features

    def distances(self, rows: NDArray) -> NDArray:
        """What γ multiplies, of all pairs of rows."""
        from scipy.spatial.distance import pdist

        return pdist(rows, "sqeuclidean")

    def resolve(self, data: Dataset, rng: Generator, weights: NDArray | None = None) -> Self:
        if self.gamma is None:
            return replace(self, gamma=self.default_gamma(data.shape[1]))  # type: ignore[type-var]
        if self.gamma == "median":
            return replace(self, gamma=self._median_gamma(data, rng))  # type: ignore[type-var]
        return self

    def _median_gamma(self, data: Dataset, rng: Generator) -> float:
        """One over the median of the positive distances, of at most 1,000 samples."""
        n = len(data)
        some = np.sort(rng().choice(n, _MEDIAN_SAMPLES, replace=False)) if n > _MEDIAN_SAMPLES else np.arange(n)
        distances = self.distances(np.asarray(data.take(some), dtype=np.float64))
        distances = distances[distances > 0]
        if not len(distances):
            raise DataError('gamma="median" needs two different rows, but all rows of X are equal.')
        found = float(1.0 / np.median(distances))
        if not 0 < found < np.inf:
            raise DataError(f'gamma="median" is {found:g}: the rows are too {"near" if found else "far"}. Scale them.')
        return found


@storable
@dataclass(frozen=True)
class Precomputed(Kernel):
    """X is the kernel matrix itself."""

    input_kind = "precomputed"

    def __call__(self, X: Any, Y: Any) -> NDArray:
        raise DataError("A precomputed kernel cannot compare samples: X is the kernel matrix.")


@dataclass(frozen=True)
class Pairwise(Kernel):
    """A function of one pair of samples, ``function(x, y, **params)``. It is called for every entry."""

    function: Callable
    params: dict = field(default_factory=dict)

    def __call__(self, X: Any, Y: Any) -> NDArray:
        return np.array([[self._value(x, y) for y in Y] for x in X]).reshape(len(X), len(Y))

    def _value(self, x: Any, y: Any) -> float:
        value = self.function(x, y, **self.params)
        if np.size(value) != 1:
            raise DataError(
                f"The kernel function returned an array of shape {np.shape(value)} for one pair of samples."
            )
        try:
            return float(np.asarray(value, dtype=np.float64).item())
        except (TypeError, ValueError, OverflowError):
            raise DataError(f"The kernel function returned {short_repr(value)}, which is not a number.") from None

    def entry_cost(self, data: Dataset) -> float:
        return 2000.0

    def __hash__(self) -> int:
        return hash(self.function)


def get_kernel(
    kernel: Any,
    *,
    gamma: Any = None,
    degree: float = 3,
    coef0: float = 1,
    params: dict[str, Any] | None = None,
) -> Kernel:
    """The kernel for a name, an object or a function of two samples. What is left to the data stays open."""
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel):
        return Pairwise(kernel, dict(params or {}))
    named = KERNELS.get(kernel) if isinstance(kernel, str) else None
    if named is None:
        raise ParameterError("kernel", kernel, f"one of {', '.join(KERNELS)}, a kernel object or a function")
    given = {"gamma": gamma, "degree": degree, "coef0": coef0}
    cls = getattr(import_module(f"mercer.kernels.{named.module}"), named.class_name)
    return cls(**{name: given[name] for name in named.parameters})


def check_positive(name: str, value: Any, *, zero: bool = False) -> None:
    """Raise unless the value is a positive finite number (or zero)."""
    number = isinstance(value, Real) and not isinstance(value, bool) and abs(float(value)) < float("inf")
    if not number or value < 0 or (value == 0 and not zero):
        raise ParameterError(name, value, f"a {'non-negative' if zero else 'positive'} number")
