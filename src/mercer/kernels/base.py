"""Kernels as immutable values, and their matrices tile by tile with bounds on rounding.

An author of a kernel writes `__call__`; families that gain from preparing samples once write `prepare`
instead. `get_kernel` turns what a user passes into a kernel, and `Kernel.resolve` sets the parameters that are
left to the data.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from importlib import import_module
from numbers import Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mercer.data.dataset import Dataset, Kind
from mercer.errors import DataError, ParameterError, Remedy
from mercer.kernels.names import ALIASES, KERNELS
from mercer.numerics.blocking import slices
from mercer.numerics.rounding import gamma as rounding_bound
from mercer.storable import storable
from mercer.text import joined, short_repr

ROUNDINGS = 16  # of a formula of a few steps, with exp or tanh good to 4 ulp
_NEARLY_CONSTANT = 0.9  # mean of k/max_value from which the maximum is subtracted before rounding
_SHIFT_SAMPLES, _MEDIAN_SAMPLES = 64, 1000
_DENSE_COLUMNS = 4096  # of sparse rows that are made dense at once
_SPARSE_COST = 5  # of a stored number of sparse rows, against one of dense rows
_LARGEST = float(np.finfo(float).max)
Generator = Callable[[], np.random.Generator]
Gradient = Callable[[NDArray], NDArray]


class Kernel(ABC):  # noqa: B024  __init_subclass__ checks what an author must write
    """A similarity k(x, y): a frozen dataclass whose fields are the parameters of the formula.

    A class writes ``__call__`` or ``prepare``; each is the other's default.

    Attributes
    ----------
    input_kind : str
        Kind of the samples; "any" if the kernel can compare all kinds.
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
    >>> from mercer.kernels.base import Kernel
    >>> @dataclass(frozen=True)
    ... class Cubes(Kernel):
    ...     psd = True  # without an annotation: not a parameter
    ...     def __call__(self, X, Y):
    ...         return X**3 @ (Y**3).T
    >>> 2 * Cubes()
    2 * Cubes()
    """

    input_kind: "Kind | Literal['any']" = "vectors"
    psd = False
    non_negative = False
    max_value = 0.0
    decreasing = False
    __array_ufunc__ = None  # numpy's numbers leave + and * to this class

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__call__ is Kernel.__call__ and cls.prepare is Kernel.prepare:
            raise TypeError(f"{cls.__name__} must define __call__(X, Y) or prepare(Y).")

    # ------------------------------------------------------------------ values

    def __call__(self, X: Any, Y: Any) -> NDArray:
        """Kernel matrix of shape (len(X), len(Y)), float64."""
        prepared = self.prepare(Y).against(X)
        out = np.empty(prepared.shape)
        prepared.fill(slice(None), slice(None), out)
        return out

    def diag(self, X: Any) -> NDArray:
        """k(x, x) of every sample."""
        if self.decreasing and self.max_value:
            return np.full(X.shape[0], self.max_value)
        return np.array([self(X[i : i + 1], X[i : i + 1])[0, 0] for i in range(X.shape[0])], dtype=np.float64)

    def prepare(self, Y: Any, *, shift: float | None = 0.0) -> "PreparedKernel":
        """k(Y, Y) − shift, ready for tiles. ``shift=None``: `max_value` if most are near it, else 0."""
        return PreparedKernel(self, Y, Y, shift)

    def resolve(self, data: Dataset, rng: Generator, weights: NDArray | None = None) -> Self:
        """Replace parameters that are left to the data (None, "median") by numbers."""
        return self

    def validate(self, samples: Any, name: str = "X") -> None:  # noqa: B027
        """Raise for samples that it cannot compare; may warn."""

    def feature_map(self, samples: Any) -> "FeatureMap | None":
        """Exact finite features, or None. Kernels on vectors read the shape of the samples only."""
        return None

    def with_origin(self, origin: NDArray) -> "Kernel":
        """The kernel of φ(x) − φ(origin), without cancellation; the kernel itself if it has no such formula.

        It differs by k(x, o) + k(o, y) − k(o, o), which centering removes. For samples far from zero and
        close to each other, it has the digits that centering would lose.
        """
        return self

    # ------------------------------------------------------------------ costs, for planning

    def entry_cost(self, data: Dataset) -> float:
        """Nominal nanoseconds of one entry, for planning; never measured."""
        return 20.0 + numbers_per_entry(data)

    def sample_width(self, data: Dataset) -> int:
        """Numbers of 8 bytes that a sample takes, and about a third of what is prepared of it."""
        return data.shape[1] if data.nnz is None else int(1.5 * data.nnz / max(1, len(data))) + 4

    # ------------------------------------------------------------------ gradients

    def vjp(self, Z: Any, X: Any) -> Gradient | None:
        """The function C → Σᵢ C[q, i]·∂k(z_q, xᵢ)/∂z_q, or None if there is no gradient.

        At a kink it is the mean of both sides; where k jumps it is 0.
        """
        return None

    def diag_gradient(self, Z: Any) -> NDArray:
        """∂k(z, z)/∂z of every sample."""
        if self.decreasing and self.vjp(Z[:1], Z[:1]) is not None:
            return np.zeros(Z.shape)
        raise ParameterError("kernel", self, "", message=f"{short_repr(self)} has no gradient.")

    # ------------------------------------------------------------------ algebra and parameters

    def __add__(self, other: Any) -> "Kernel":
        return _algebra().add(self, other)

    def __radd__(self, other: Any) -> "Kernel":
        return _algebra().add(other, self)

    def __mul__(self, other: Any) -> "Kernel":
        return _algebra().multiply(self, other)

    def __rmul__(self, other: Any) -> "Kernel":
        return _algebra().multiply(other, self)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters of the formula, as in scikit-learn; ``deep`` adds parameters of its parts, as left__gamma."""
        own = {part.name: getattr(self, part.name) for part in fields(self)}  # type: ignore[arg-type]
        params = dict(own)
        for name, part in own.items():
            if deep and isinstance(part, Kernel):
                params |= {f"{name}__{inner}": value for inner, value in part.get_params().items()}
        return params

    def with_params(self, **params: Any) -> Self:
        """A copy with other parameters; ``left__gamma=2`` changes a part."""
        own, changed = self.get_params(deep=False), dict[str, Any]()
        for name, value in params.items():
            head, _, rest = name.partition("__")
            if head not in own or (rest and not isinstance(changed.get(head, own[head]), Kernel)):
                known = ", ".join(self.get_params()) or "none"
                raise ValueError(f"Invalid parameter {name!r} for kernel {self!r}. Valid parameters are: {known}.")
            changed[head] = changed.get(head, own[head]).with_params(**{rest: value}) if rest else value
        return replace(self, **changed) if changed else self  # type: ignore[type-var]


def _algebra() -> Any:
    return import_module("mercer.kernels.algebra")


class PreparedKernel:
    """k(X, Y) − shift between prepared samples, tile by tile, with bounds on the errors of entries.

    Immutable, picklable and shared by threads. This class serves any kernel that can be called; families
    override `fill` and the bounds. The values of a user's function are taken as exact but for `n_roundings`.
    Unless the kernel is positive semi-definite, the diagonal does not bound the other entries: bounds then hold
    for the tiles that were filled so far.
    """

    dtype = np.dtype(np.float64)  # of tiles
    n_roundings: float = ROUNDINGS
    _filled: Any = ()  # increasing moduli of entries of tiles; a list, as threads may append at once

    def __init__(self, kernel: Kernel, X: Any, Y: Any, shift: float | None = 0.0) -> None:
        self.kernel, self.X, self.Y, self._filled = kernel, X, Y, []
        self.shape = X.shape[0], Y.shape[0]
        self.shift = choose_shift(self) if shift is None else shift

    @property
    def nbytes(self) -> int:
        """Bytes of the prepared arrays, besides the samples themselves."""
        return 0

    def fill(self, rows: slice, columns: slice, out: NDArray) -> None:
        """Write a tile into `out`."""
        tile = _as_tile(self.kernel(self.X[rows], self.Y[columns]), self.kernel, out.shape)
        raise_nonfinite_values(tile, self.kernel, np.arange(self.shape[0])[rows], self.X)
        largest = 0.0 if self.kernel.psd else float(np.abs(tile).max(initial=0.0))
        if largest > self._largest_filled:
            self._filled.append(largest)
        np.subtract(tile, self.shift, out=out)

    def against(self, X: Any) -> "PreparedKernel":
        """k(X, Y) − shift for other X. Y is not prepared again."""
        return type(self)(self.kernel, X, self.Y, self.shift)

    @cached_property
    def diag(self) -> NDArray:
        """Diagonal of k(Y, Y) − shift."""
        return np.asarray(self.kernel.diag(self.Y), dtype=np.float64) - self.shift

    @property
    def _largest_filled(self) -> float:
        return max(self._filled, default=0.0)

    @property
    def magnitudes(self) -> NDArray:
        """s with |k(yᵢ, yⱼ)| ≤ √(sᵢsⱼ), before anything cancels; of a Mercer kernel the diagonal."""
        return np.maximum(np.abs(self.diag + self.shift), self._largest_filled)

    @property
    def left_magnitudes(self) -> NDArray:
        """The same for X."""
        return self.magnitudes if self.X is self.Y else np.maximum(np.abs(self._left_diag), self._largest_filled)

    @cached_property
    def _left_diag(self) -> NDArray:
        return np.asarray(self.kernel.diag(self.X), dtype=np.float64)

    @property
    def relative_error(self) -> float:
        """r with |δk(xᵢ, yⱼ)| ≤ r√(sᵢsⱼ) before the shift is subtracted."""
        return rounding_bound(self.n_roundings)

    def likely_error(self) -> float:
        """Rounding to expect in an entry besides that of its size, for stopping rules; not a bound."""
        return float(np.finfo(float).eps * abs(self.shift))

    def entry_error(self) -> float:
        """Bound on the error of any entry of k(X, Y) − shift."""
        return self.relative_error * self.largest_entry + self._shift_error

    def error_columns(self, weights: NDArray) -> NDArray | None:
        """Columns whose products with k(Y, Y) − shift sharpen `matrix_error`, for the first product."""
        return None

    def matrix_error(self, weights: NDArray, row_sums: NDArray | None = None, products: NDArray | None = None) -> float:
        """Bound on ‖S|δk|S‖₂, S = diag(√w): |δk| ≤ r√(sᵢsⱼ), hence rΣwᵢsᵢ.

        `row_sums` is (K − shift)w, `products` is (K − shift)·`error_columns`; without them the bound is wider.
        """
        return self.relative_error * float(weights @ self.magnitudes) + self._shift_error * float(weights.sum())

    @property
    def largest_entry(self) -> float:
        """Bound on |k(X, Y)|."""
        return float(np.sqrt(self.left_magnitudes.max(initial=0.0)) * np.sqrt(self.magnitudes.max(initial=0.0)))

    @property
    def largest_shifted(self) -> float:
        """Bound on |k(X, Y) − shift|."""
        return self.largest_entry + abs(self.shift)

    @property
    def _shift_error(self) -> float:
        """Rounding of the subtraction of the shift."""
        return rounding_bound(1) * abs(self.shift)


def choose_shift(prepared: PreparedKernel) -> float:
    """The largest value of the kernel if the entries of 64 samples are close to it, else 0.

    If k is close to its maximum, the subtraction keeps the digits that centering leaves; for a narrow kernel it
    would lose digits.
    """
    most, n = prepared.kernel.max_value, prepared.shape[1]
    prepared.shift = 0.0
    if not most or not n:
        return 0.0
    step = -(-n // _SHIFT_SAMPLES)
    some = slice(0, n, step)
    tile = np.empty((len(range(0, n, step)),) * 2)
    prepared.fill(some, some, tile)
    return most if tile.mean() > _NEARLY_CONSTANT * most else 0.0


# -------------------------------------------------------------------------------------- feature maps


class FeatureMap(ABC):
    """Exact features φ with k(x, y) = φ(x)·φ(y), of a kernel on samples that were seen in a fit."""

    n_features: int
    sparse: bool = False  # whether `transform` returns a CSR array
    identity: bool = False  # whether the features are the samples themselves
    recomputable: bool = True  # whether they are cheap enough to be computed again for every block
    n_roundings: float = ROUNDINGS  # behind the features of a sample, relative to their length and to what cancels
    nnz: int | None = None  # stored entries of the features of the training samples, if they are sparse

    @abstractmethod
    def transform(self, samples: Any) -> Any:
        """Features of the samples, dense or CSR, float64."""

    def cancelled_squares(self, samples: Any) -> NDArray | float:
        """Squared size of the terms that cancel in the features of each sample."""
        return 0.0

    def get_feature_names_out(self) -> NDArray:
        """Names of the features."""
        prefix = "x" if self.identity else "feature"
        return np.array([f"{prefix}{i}" for i in range(self.n_features)], dtype=object)


@dataclass(eq=False)
class FormulaMap(FeatureMap):
    """Features by a formula that has nothing to learn."""

    formula: Callable[[Any], Any]
    n_features: int
    n_roundings: float = ROUNDINGS
    identity: bool = False
    sparse: bool = False
    cancelled: Callable[[Any], NDArray | float] | None = None

    def transform(self, samples: Any) -> Any:
        return self.formula(samples)

    def cancelled_squares(self, samples: Any) -> NDArray | float:
        return 0.0 if self.cancelled is None else self.cancelled(samples)


class ConcatenatedMap(FeatureMap):
    """√factor·(φ₁(x), φ₂(x), …): the features of factor·(k₁ + k₂ + …)."""

    def __init__(self, parts: Sequence[FeatureMap], factor: float = 1.0) -> None:
        self.parts, self.factor = parts, factor
        self.n_features = sum(part.n_features for part in parts)
        self.n_roundings = 3 + max(part.n_roundings for part in parts)
        self.sparse = any(part.sparse for part in parts)
        self.recomputable = all(part.recomputable for part in parts)
        stored = [part.nnz for part in parts if part.nnz is not None]
        self.nnz = sum(stored) if self.sparse and len(stored) == len(parts) else None

    def transform(self, samples: Any) -> Any:
        blocks = [part.transform(samples) for part in self.parts]
        return (sparse.hstack(blocks, format="csr") if self.sparse else np.hstack(blocks)) * np.sqrt(self.factor)

    def cancelled_squares(self, samples: Any) -> NDArray | float:
        return self.factor * sum(part.cancelled_squares(samples) for part in self.parts)

    def get_feature_names_out(self) -> NDArray:
        return np.concatenate([part.get_feature_names_out() for part in self.parts])


# -------------------------------------------------------------------------------------- kernels with a gamma


class GammaMixin:
    """A kernel with a field `gamma`: a number, None (1/n_features) or "median" (1/median distance)."""

    gamma: Any

    def __post_init__(self) -> None:
        if self.gamma is not None and not (isinstance(self.gamma, str) and self.gamma == "median"):
            check_positive("gamma", self.gamma)

    @property
    def gamma_value(self) -> float:
        """γ as a number."""
        if self.gamma is None or isinstance(self.gamma, str):
            raise ParameterError(
                "gamma",
                self.gamma,
                "a number",
                message=f"{short_repr(self)} has no number for gamma until fit sets it from the data.",
                remedies=[Remedy("gamma", 1.0)],
            )
        return float(self.gamma)

    def default_gamma(self, n_features: int) -> float:
        """γ of None."""
        return 1.0 / n_features

    def distances(self, rows: NDArray) -> NDArray:
        """What γ multiplies, of all pairs of rows: a sum over the columns."""
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
        rows: Any = data.take(some)
        distances = np.sum([self.distances(block) for block in _dense_blocks(rows)], axis=0)
        distances = distances[distances > 0]
        if not len(distances):
            raise DataError('gamma="median" needs two different rows, but all distances between rows of X are zero.')
        found = 1.0 / float(np.median(distances))
        if not 0 < found < np.inf:
            raise DataError(
                f'gamma="median" is {found:g}: the rows of X are too {"near" if found else "far"} for a floating-point '
                f"number. Scale them {'up' if found else 'down'}, for example with StandardScaler."
            )
        return found


def _dense_blocks(rows: Any) -> list[NDArray]:
    """Dense rows as they are; sparse ones some columns at a time, without columns that are zero."""
    if not sparse.issparse(rows):
        return [np.asarray(rows, dtype=np.float64)]
    used = sparse.csc_array(rows)[:, np.unique(sparse.csr_array(rows).indices)]
    return [used[:, some].toarray().astype(np.float64) for some in slices(max(1, used.shape[1]), _DENSE_COLUMNS)]


# -------------------------------------------------------------------------------------- kernels that a user passes


@storable
@dataclass(frozen=True)
class Precomputed(Kernel):
    """X is the kernel matrix itself."""

    input_kind = "precomputed"

    def __call__(self, X: Any, Y: Any) -> NDArray:
        raise DataError("A precomputed kernel cannot compare samples: X is the kernel matrix.")


@dataclass(frozen=True, repr=False)
class _FunctionKernel(Kernel):
    """A function of the user; samples can be anything that it compares."""

    input_kind = "any"
    function: Callable[..., Any]
    params: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @abstractmethod
    def __call__(self, X: Any, Y: Any) -> NDArray: ...

    def __repr__(self) -> str:
        name = getattr(self.function, "__name__", type(self.function).__name__)
        return f"{type(self).__name__}({name}{f', {dict(self.params)!r}' if self.params else ''})"


@dataclass(frozen=True, repr=False)
class Pairwise(_FunctionKernel):
    """Kernel from a function of one pair of samples, ``function(x, y, **params)``, called for every entry.

    Parameters
    ----------
    function : callable
        Returns a number for two samples.
    params : dict, default={}
        Keyword arguments of the function.

    See Also
    --------
    Blockwise : Kernel from a function of two arrays, which is faster.
    """

    def __call__(self, X: Any, Y: Any) -> NDArray:
        return np.array([[self._value(x, y) for y in Y] for x in X], dtype=np.float64).reshape(X.shape[0], Y.shape[0])

    def _value(self, x: Any, y: Any) -> float:
        value = self.function(x, y, **self.params)
        if np.ndim(value) and np.size(value) != 1:
            raise DataError(
                f"The kernel function returned an array of shape {np.shape(value)} for one pair of samples; it must "
                "return one number. Pass a function of two arrays as Blockwise(function)."
            )
        return float(_as_numbers(value, self).item())

    def entry_cost(self, data: Dataset) -> float:
        return 2000.0


@dataclass(frozen=True, repr=False)
class Blockwise(_FunctionKernel):
    """Kernel from a function of two arrays, ``function(X, Y, **params)``, such as `sklearn.metrics.pairwise`.

    Parameters
    ----------
    function : callable
        Returns an array of shape (len(X), len(Y)).
    params : dict, default={}
        Keyword arguments of the function.

    See Also
    --------
    Pairwise : Kernel from a function of one pair of samples.
    """

    def __call__(self, X: Any, Y: Any) -> NDArray:
        return _as_tile(self.function(X, Y, **self.params), self, (X.shape[0], Y.shape[0]))


def get_kernel(
    kernel: Any,
    *,
    gamma: Any = None,
    degree: float = 3,
    coef0: float = 1,
    params: Mapping[str, Any] | None = None,
) -> Kernel:
    """The kernel for a name, a kernel object or a function of two samples.

    Kernels on vectors take gamma, degree and coef0. `params` are arguments of a function, or parameters of a
    named kernel on strings or tables; kernels on vectors ignore them, as in scikit-learn.
    """
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel):
        return Pairwise(kernel, dict(params or {}))
    named = KERNELS.get(ALIASES.get(kernel, kernel)) if isinstance(kernel, str) else None
    if named is None:
        raise ParameterError("kernel", kernel, f"one of {', '.join(KERNELS)}, a kernel object or a function")
    given: Mapping[str, Any] = {"gamma": gamma, "degree": degree, "coef0": coef0}
    if named.input_kind not in ("vectors", "precomputed"):
        given = params or {}
        unknown = sorted(set(given) - set(named.parameters))
        if unknown:
            known = joined(named.parameters, "or")
            raise ParameterError("kernel_params", dict(given), f"a dict of parameters of {kernel!r}: {known}")
    cls = getattr(import_module(f"mercer.kernels.{named.module}"), named.class_name)
    return cls(**{name: given[name] for name in named.parameters if name in given})


# -------------------------------------------------------------------------------------- checks


def check_positive(name: str, value: Any, *, zero: bool = False) -> None:
    """Raise unless the value is a positive finite number (or zero)."""
    if not _is_finite(value) or value < 0 or (value == 0 and not zero):
        raise ParameterError(name, value, f"a {'non-negative' if zero else 'positive'} number")


def check_finite(name: str, value: Any) -> None:
    """Raise unless the value is a finite number."""
    if not _is_finite(value):
        raise ParameterError(name, value, "a finite number")


def _is_finite(value: Any) -> bool:
    number = isinstance(value, Real) and not isinstance(value, bool)
    value = value.item() if isinstance(value, np.generic) else value  # a bound would overflow in float32
    return number and bool(-_LARGEST <= value <= _LARGEST)  # an integer may be too large for float()


def _as_numbers(values: Any, kernel: Kernel) -> NDArray:
    """What a kernel returned, as float64."""
    try:
        found = np.asarray(values.toarray() if sparse.issparse(values) else values)
        if found.dtype.kind == "c":
            raise TypeError  # numpy would drop the imaginary parts
        return found.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError):
        raise DataError(f"{short_repr(kernel)} returned {short_repr(values)}, which is not a real number.") from None


def _as_tile(values: Any, kernel: Kernel, shape: tuple[int, ...]) -> NDArray:
    """What a kernel returned for two arrays of samples, as float64."""
    tile = _as_numbers(values, kernel)
    if tile.shape != shape:
        hint = " Pass a function of one pair of samples as Pairwise(function)." if isinstance(kernel, Blockwise) else ""
        raise DataError(
            f"{short_repr(kernel)} returned an array of shape {tile.shape} for {shape[0]} and {shape[1]} samples; it "
            f"must return {shape}.{hint}"
        )
    return tile


def raise_nonfinite_values(values: NDArray, kernel: Any, rows: NDArray, samples: Any) -> None:
    """Raise for values of a kernel, one row for each of `rows`, if any is not finite."""
    if np.isfinite(values).all():
        return
    bad = np.flatnonzero(~np.isfinite(values).reshape(len(values), -1).all(axis=1))
    row = values[bad[0]].ravel()
    value = float(row[~np.isfinite(row)][0])
    text = f"{short_repr(kernel)} returned {value:g} for row {rows[bad[0]]} ({len(bad):,} of {len(values):,} rows)."
    if getattr(samples, "dtype", None) == np.float32:
        text += " X is float32, which overflows at 3e38. Try X.astype(np.float64)."
    elif isinstance(kernel, _FunctionKernel):
        text += " Check the function with mercer.kernels.check_kernel."
    else:
        text += " The formula overflows: scale the data down, for example with StandardScaler."
    raise DataError(text, row=int(rows[bad[0]]), value=value)


def numbers_per_entry(data: Dataset) -> float:
    """Numbers that are read for one entry; one of sparse rows counts as five."""
    return data.shape[1] if data.nnz is None else _SPARSE_COST * data.nnz / max(1, len(data))
