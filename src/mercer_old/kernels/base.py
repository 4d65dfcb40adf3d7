"""What a kernel is: a frozen value with one formula, which can be printed, compared, added and multiplied."""

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer_old.arrays import Array
from mercer_old.arrays import Held as Held
from mercer_old.errors import in_short
from mercer_old.kernel_names import BY_NAME
from mercer_old.kernels.features import ByFormula, FeatureMap
from mercer_old.kernels.slopes import Slopes
from mercer_old.rounding import gamma
from mercer_old.sources.items import Items

__all__ = [
    "ROUNDINGS",
    "Compared",
    "Kernel",
    "Preparing",
    "Products",
    "Tiles",
    "after_shift",
    "is_sparse",
    "kind_of_items",
    "largest_entry",
    "n_rows",
    "require_finite",
    "require_positive",
    "summed",
]

_LARGEST = sys.float_info.max
Products = Callable[[Array], Array] | None  # gives K times columns, where that costs little
Preparing = Callable[..., "Tiles"]
_SPARSE = 5  # times as dear as dense: an entry from sparse rows
ROUNDINGS = 16  # of a formula that is evaluated in a few steps, with exp or tanh good to 4 ulp


class Kernel(ABC):
    """A similarity k(x, y). Subclasses are frozen dataclasses whose fields are the parameters of the formula.

    An author writes `block`, and says `psd = True` if that is proven:

    >>> from dataclasses import dataclass
    >>> from mercer.kernels import Kernel
    >>> @dataclass(frozen=True)
    ... class Cubes(Kernel):
    ...     psd = True  # without an annotation: it is no parameter
    ...     def block(self, X, Y):
    ...         return X**3 @ (Y**3).T
    >>> 2 * Cubes()
    2 * Cubes()

    All else has a default that holds for any formula. Overriding it makes a kernel faster, or its certificates true to
    the digits that its own sums lose: by default a block is taken at its word, but for a few roundings.
    """

    # ------------------------------------------------------------------ what an author says

    @abstractmethod
    def block(self, X: Held, Y: Held) -> Array:
        """The matrix k(x, y) of all rows x of X and y of Y, in float64."""

    @property
    def psd(self) -> bool:
        """Whether every Gram matrix is known to be positive semi-definite."""
        return False

    def resolved(self, X: Held, rng: np.random.Generator) -> "Kernel":
        """The kernel with every parameter that was left to the data (None, "median") as a number."""
        return self

    def resolved_by(self, X: Held, rng: np.random.Generator, weights: Array | None) -> "Kernel":
        """The same from items that count by their weights, which few kernels look at."""
        return self.resolved(X, rng)

    def admit(self, X: Any, label: str = "X") -> None:
        """Refuse items that it has no formula for, and warn of some that it has not learned enough about."""
        return None

    @property
    def non_negative(self) -> bool:
        """Whether it compares rows without negative numbers alone: models refuse others, with their place."""
        return False

    # ------------------------------------------------------------------ what makes it faster

    def diag(self, X: Held) -> Array:
        """k(x, x) of every row of X."""
        return np.array([self.block(X[i : i + 1], X[i : i + 1])[0, 0] for i in range(n_rows(X))])

    def prepare(self, X: Held, Y: Held | None = None, shift: float = 0.0, dtype: DTypeLike = np.float64) -> "Tiles":
        """Tiles of k(X, Y) − shift; of k(X, X) without Y. In float32 if asked, where that costs no digits of theirs.

        Families override it where preparing the rows once makes tiles cheap.
        """
        return _BlockTiles(self, X, X if Y is None else Y, shift)

    def prepares(self, X: Held) -> "Preparing":
        """What prepares tiles of parts of X as `prepare` does of all of X: (some rows, others or None, shift, dtype).

        It goes to whoever has the parts. Families override it where preparing asks for more than the rows of a tile.
        """
        return self.prepare

    def compared_with(self, Y: Held) -> "Compared":
        """k(·, Y), for who asks for it again and again: what there is to prepare of Y is prepared once."""
        return Compared(self, Y)

    def has_single(self, shift: float) -> bool:
        """Whether tiles of k − shift are cheaper in float32 and have nearly all of its digits."""
        return False

    def entry_cost(self, d: int) -> float:
        """Nominal nanoseconds to evaluate k for rows of d numbers, for plans; a fixed figure, not a measurement."""
        return 20.0 + d

    def cost(self, items: Items) -> float:
        """The same of these items: numbers of sparse rows are dearer, and zeros free, unless a kernel knows better."""
        if items.sparse:
            return _SPARSE * self.entry_cost(int(getattr(items, "density", 1.0) * items.width))
        return self.entry_cost(items.width)

    def working(self, items: Items) -> int:
        """Numbers of eight bytes that one of these items takes in memory, and a third of what is prepared of it."""
        return int(1.5 * getattr(items, "density", 1.0) * items.width) + 4 if items.sparse else items.width

    def compact(self, X: Held) -> Held:
        """The same rows in the form that tiles are made of fastest, for who asks for many with them."""
        return X

    @property
    def takes(self) -> str:
        """What is compared: "rows" of numbers, "texts", "tables", "series", or "anything" (by a user's function)."""
        return "rows"

    @property
    def sparse_features(self) -> bool:
        """Whether `features(X)` is sparse, whatever X is."""
        return False

    #: Whether `features(X)` is X itself.
    features_are_rows: ClassVar[bool] = False

    def features(self, X: Held) -> Any:
        """φ(X) with φ(x)ᵀφ(y) = k(x, y) exactly, dense or CSR, or None if there is no such map of moderate size."""
        return None

    def n_features(self, X: Held) -> int | None:
        """The number of columns of `features(X)`, without computing them."""
        return None

    def feature_map(self, X: Held) -> FeatureMap | None:
        """The map to these features, learned from X if there is anything to learn; None without exact features."""
        columns = self.n_features(X)
        return None if columns is None else ByFormula(self, columns, self.feature_roundings(X))

    # ------------------------------------------------------------------ how it changes with a row

    @property
    def differentiable(self) -> bool:
        """Whether k(z, x) has a gradient in z, at least almost everywhere: `slopes` and `diag_pull` are then there."""
        return False

    def slopes(self, Z: Held, X: Held) -> Slopes:
        """∂k(z, x)/∂z of all rows z of Z and x of X, for weighted sums over x. See `mercer.kernels.slopes`."""
        raise self._no_gradient()

    def pull(self, Z: Held, X: Held, C: Array) -> Array:
        """Σᵢ C[q, i]·∂k(z_q, xᵢ)/∂z_q of every row z_q of Z (m×d): how Σᵢ cᵢk(z, xᵢ) changes with z. C is m×n."""
        return self.slopes(Z, X).pull(C)

    def diag_pull(self, Z: Held) -> Array:
        """∂k(z, z)/∂z of every row of Z (m×d)."""
        raise self._no_gradient()

    def _no_gradient(self) -> ValueError:
        if self.takes not in ("rows", "anything"):
            return ValueError(f"{in_short(self)} has no gradient: it compares {self.takes}, and not rows of numbers.")
        return ValueError(f"{in_short(self)} has no gradient in a row. RBF, Linear or Polynomial have one.")

    # ------------------------------------------------------------------ what is known of its values, and how well

    @property
    def by_distance(self) -> bool:
        """Whether k falls with the distance of x and y, from one k(x, x) for all x, and never below zero."""
        return False

    #: Largest value of k, if it is known and k never below zero: centring may subtract it first (see `choose_shift`).
    top: ClassVar[float] = 0.0

    #: Whether tiles of k − shift keep their digits however small they are, or are rounded before the shift.
    exact_shift: ClassVar[bool] = False

    def reach(self, X: Held) -> float:
        """The largest number that cancels in the evaluation of an entry, 0 if there is none."""
        return 0.0

    def sizes(self, X: Held) -> Array:
        """sᵢ with |k(xᵢ, xⱼ)| ≤ √(sᵢsⱼ): of a Mercer kernel the diagonal."""
        return np.abs(self.diag(X))

    def roundings(self, X: Held) -> float:
        """How many roundings are behind an entry, relative to √(sᵢsⱼ): as many as its sums have terms, and some."""
        return ROUNDINGS

    def rounding(self, X: Held, weights: Array | None = None, shift: float = 0.0, times: Products = None) -> float:
        """How far the entries of tiles of k(X, X) − shift can be off, all together: a bound on ‖SδKS‖, S = diag(√w).

        `times` gives products of K, where they cost little: sums over its rows make the bound sharper. A function of
        the user's is what it returns, but for a few roundings. docs/design/rounding.md has the others.
        """
        return gamma(self.roundings(X)) * summed(self.sizes(X), weights)

    def entry_rounding(self, X: Held, Y: Held, dtype: DTypeLike = np.float64) -> float:
        """How far any one entry of tiles of k(X, Y) can be off."""
        return gamma(self.roundings(X)) * largest_entry(self.sizes(X), self.sizes(Y))

    def feature_roundings(self, X: Held) -> int:
        """How many roundings are behind an entry of `features(X)`, relative to its own size."""
        return 0

    # ------------------------------------------------------------------ algebra, which stands on this module

    def __add__(self, other: "Kernel | float") -> "Kernel":
        from mercer_old.kernels.algebra import Sum, as_kernel

        return Sum(self, as_kernel(other))

    def __radd__(self, other: float) -> "Kernel":
        from mercer_old.kernels.algebra import Sum, as_kernel

        return Sum(as_kernel(other), self)

    def __mul__(self, other: "Kernel | float") -> "Kernel":
        from mercer_old.kernels.algebra import Product, Scaled, as_kernel

        return Scaled(float(other), self) if isinstance(other, Real) else Product(self, as_kernel(other))

    def __rmul__(self, other: float) -> "Kernel":
        from mercer_old.kernels.algebra import Scaled

        return Scaled(float(other), self)

    # ------------------------------------------------------------------ scikit-learn's grid search: kernel__gamma

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters of the formula; with `deep` those of the parts as well, as `left__gamma`."""
        own: dict[str, Any] = {part.name: getattr(self, part.name) for part in fields(self)}  # type: ignore[arg-type]
        if deep:
            for name, part in list(own.items()):
                if isinstance(part, Kernel):
                    own |= {f"{name}__{inner}": value for inner, value in part.get_params().items()}
        return own

    def with_params(self, **params: Any) -> "Kernel":
        """A changed copy; `left__gamma=2` changes a part. Kernels are values, nothing is changed in place."""
        changed: dict[str, Any] = {}
        for name, value in params.items():
            head, _, rest = name.partition("__")
            if head not in self.get_params(deep=False):
                known = ", ".join(self.get_params(deep=False)) or "none"
                raise ValueError(f"Invalid parameter {head!r} for kernel {self!r}. Valid parameters are: {known}.")
            part = changed.get(head, getattr(self, head))
            changed[head] = part.with_params(**{rest: value}) if rest else value
        return replace(self, **changed)  # type: ignore[type-var]


@dataclass(frozen=True, eq=False)
class Compared:
    """Blocks k(X, Y) of any X with one Y."""

    kernel: Kernel
    rows: Held  # Y

    @property
    def nbytes(self) -> int:
        """Of what is prepared."""
        return 0

    def diag(self) -> Array:
        """k(y, y) of every row of Y."""
        return self.kernel.diag(self.rows)

    def block(self, X: Held) -> Array:
        return self.kernel.block(X, self.rows)


class Tiles(ABC):
    """Fills tiles of a kernel matrix between two prepared sets of rows. Threads share one and bring their own `out`."""

    @abstractmethod
    def fill(self, rows: slice, columns: slice, out: Array) -> None:
        """Write the tile into `out`."""


class _BlockTiles(Tiles):
    """The generic way: by `kernel.block`."""

    def __init__(self, kernel: Kernel, X: Held, Y: Held, shift: float) -> None:
        self.kernel, self.X, self.Y, self.shift = kernel, X, Y, shift

    def fill(self, rows: slice, columns: slice, out: Array) -> None:
        np.subtract(self.kernel.block(self.X[rows], self.Y[columns]), self.shift, out=out)


def summed(values: Array, weights: Array | None) -> float:
    """Σ wᵢvᵢ: of k(x, x) it bounds ‖SKS‖_F, as |k(x, y)|² ≤ k(x, x)k(y, y)."""
    return float(values.sum() if weights is None else weights @ values)


def largest_entry(x: Array, y: Array) -> float:
    """√(max k(x, x)·max k(y, y)), which no |k(x, y)| of a Mercer kernel exceeds."""
    return float(np.sqrt(x.max(initial=0.0)) * np.sqrt(y.max(initial=0.0)))


def after_shift(X: Held, weights: Array | None, shift: float) -> float:
    """What rounding does to entries from which a shift is subtracted after they were rounded."""
    return gamma(1) * abs(shift) * summed(np.ones(n_rows(X)), weights)


def n_rows(X: Held) -> int:
    return X.shape[0] if hasattr(X, "shape") else len(X)


def kind_of_items(kernel: Any) -> str:
    """What is compared, in the word of `Kernel.takes`: by a function anything, by a name that is no kernel's rows."""
    if isinstance(kernel, Kernel):
        return kernel.takes
    named = BY_NAME.get(kernel) if isinstance(kernel, str) else None
    return "anything" if callable(kernel) else "rows" if named is None else named.compares


def is_sparse(X: Any) -> bool:
    """Of a matrix, or of items that say so themselves."""
    return sparse.issparse(X) or getattr(X, "sparse", False) is True


def require_positive(value: Any, name: str, zero: bool = False) -> None:
    """One sentence for a parameter of a formula that must be positive."""
    if not (_is_finite(value) and value >= 0 and (zero or value > 0)):
        raise ValueError(f"{name} must be a {'non-negative' if zero else 'positive'} number; got {in_short(value)}.")


def require_finite(value: Any, name: str) -> None:
    if not _is_finite(value):
        raise ValueError(f"{name} must be a finite number; got {in_short(value)}.")


def _is_finite(value: Any) -> bool:
    """Whether it is a number that a float can hold; a truth value is none."""
    number: Any = value  # a whole number may be too large for float()
    return isinstance(value, Real) and not isinstance(value, bool) and bool(-_LARGEST <= number <= _LARGEST)
