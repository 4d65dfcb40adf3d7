"""Sums, products and multiples of kernels, and the number that stands among them."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from mercer_old.arrays import Array
from mercer_old.kernels.base import (
    Compared,
    Held,
    Kernel,
    Preparing,
    Products,
    Tiles,
    after_shift,
    is_sparse,
    largest_entry,
    n_rows,
    require_positive,
    summed,
)
from mercer_old.kernels.features import FeatureMap, Joined, Multiplied
from mercer_old.kernels.slopes import Level, Slopes, Together
from mercer_old.rounding import gamma
from mercer_old.sources.items import Items

__all__ = ["Constant", "Product", "Scaled", "Sum", "as_kernel"]


@dataclass(frozen=True)
class Constant(Kernel):
    """k(x, y) = value."""

    value: float = 1.0

    def __post_init__(self) -> None:
        require_positive(self.value, "value", zero=True)

    @property
    def takes(self) -> str:
        return "anything"

    def block(self, X: Held, Y: Held) -> Array:
        return np.full((n_rows(X), n_rows(Y)), self.value)

    def diag(self, X: Held) -> Array:
        return np.full(n_rows(X), self.value)

    psd = True
    differentiable = True

    def slopes(self, Z: Held, X: Held) -> Slopes:
        return Level(Z)

    def diag_pull(self, Z: Held) -> Array:
        return np.zeros(Z.shape)

    def features(self, X: Held) -> Array:
        return np.full((n_rows(X), 1), np.sqrt(self.value))

    def n_features(self, X: Held) -> int:
        return 1


@dataclass(frozen=True, eq=False)
class _ComparedParts(Compared):
    """Of a kernel that is made of others, each of which has prepared its own."""

    kernel: "Scaled | _Pair"
    parts: tuple[Compared, ...]

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in self.parts)

    def block(self, X: Held) -> Array:
        return self.kernel.composed(*(part.block(X) for part in self.parts))


class _ComposedTiles(Tiles):
    """The same of tiles, less the shift."""

    def __init__(self, kernel: "Scaled | _Pair", parts: Sequence[Tiles], shift: float) -> None:
        self.kernel, self.parts, self.shift = kernel, parts, shift

    def fill(self, rows: slice, columns: slice, out: Array) -> None:
        found = [np.empty(out.shape) for _ in self.parts]
        for part, tile in zip(self.parts, found, strict=True):
            part.fill(rows, columns, tile)
        np.subtract(self.kernel.composed(*found), self.shift, out=out, casting="same_kind")


def _composed_tiles(
    kernel: "Scaled | _Pair",
    ways: Sequence[Preparing],
    X: Held,
    Y: Held | None = None,
    shift: float = 0.0,
    dtype: DTypeLike = np.float64,
) -> Tiles:
    """Of parts that are prepared in these ways; in float64, as their sum or product would lose digits of float32."""
    return _ComposedTiles(kernel, [way(X, Y) for way in ways], shift)


@dataclass(frozen=True)
class Scaled(Kernel):
    """k(x, y) = factor · k₁(x, y)."""

    factor: float
    kernel: Kernel

    def __post_init__(self) -> None:
        require_positive(self.factor, "factor")

    def entry_cost(self, d: int) -> float:
        return 2.0 + self.kernel.entry_cost(d)

    def cost(self, items: Items) -> float:
        return 2.0 + self.kernel.cost(items)

    def working(self, items: Items) -> int:
        return self.kernel.working(items)

    def compact(self, X: Held) -> Held:
        return self.kernel.compact(X)

    def block(self, X: Held, Y: Held) -> Array:
        return self.composed(self.kernel.block(X, Y))

    def composed(self, block: Array) -> Array:
        return self.factor * block

    def compared_with(self, Y: Held) -> Compared:
        return _ComparedParts(self, Y, (self.kernel.compared_with(Y),))

    def prepare(self, X: Held, Y: Held | None = None, shift: float = 0.0, dtype: DTypeLike = np.float64) -> Tiles:
        return _composed_tiles(self, [self.kernel.prepare], X, Y, shift)

    def prepares(self, X: Held) -> Preparing:
        return partial(_composed_tiles, self, [self.kernel.prepares(X)])

    def diag(self, X: Held) -> Array:
        return self.factor * self.kernel.diag(X)

    @property
    def differentiable(self) -> bool:
        return self.kernel.differentiable

    def slopes(self, Z: Held, X: Held) -> Slopes:
        return Together((self.kernel.slopes(Z, X), self.factor))

    def diag_pull(self, Z: Held) -> Array:
        return self.factor * self.kernel.diag_pull(Z)

    def sizes(self, X: Held) -> Array:
        return self.factor * self.kernel.sizes(X)

    @property
    def psd(self) -> bool:
        return self.kernel.psd

    @property
    def takes(self) -> str:
        return self.kernel.takes

    @property
    def sparse_features(self) -> bool:
        return self.kernel.sparse_features

    @property
    def by_distance(self) -> bool:
        return self.kernel.by_distance

    @property
    def non_negative(self) -> bool:
        return self.kernel.non_negative

    def rounding(self, X: Held, weights: Array | None = None, shift: float = 0.0, times: Products = None) -> float:
        inner = self.kernel.rounding(X, weights) + gamma(1) * summed(self.kernel.sizes(X), weights)
        return self.factor * inner + after_shift(X, weights, shift)

    def entry_rounding(self, X: Held, Y: Held, dtype: DTypeLike = np.float64) -> float:
        return self.factor * self.kernel.entry_rounding(X, Y) + super().entry_rounding(X, Y)

    def feature_map(self, X: Held) -> FeatureMap | None:
        inner = self.kernel.feature_map(X)
        return None if inner is None else Multiplied(inner, self.factor)

    def features(self, X: Held) -> Any:
        learned = self.feature_map(X)
        return None if learned is None else learned.features(X)

    def n_features(self, X: Held) -> int | None:
        return self.kernel.n_features(X)

    def resolved(self, X: Held, rng: np.random.Generator) -> Kernel:
        return Scaled(self.factor, self.kernel.resolved(X, rng))

    def resolved_by(self, X: Held, rng: np.random.Generator, weights: Array | None) -> Kernel:
        return Scaled(self.factor, self.kernel.resolved_by(X, rng, weights))

    def admit(self, X: Any, label: str = "X") -> None:
        self.kernel.admit(X, label)

    def __repr__(self) -> str:
        return f"{_short(self.factor)} * {_in_brackets(self.kernel)}"


@dataclass(frozen=True)
class _Pair(Kernel):
    left: Kernel
    right: Kernel

    @abstractmethod
    def composed(self, left: Array, right: Array) -> Array:
        """A block from those of the two."""

    def block(self, X: Held, Y: Held) -> Array:
        return self.composed(self.left.block(X, Y), self.right.block(X, Y))

    def compared_with(self, Y: Held) -> Compared:
        return _ComparedParts(self, Y, (self.left.compared_with(Y), self.right.compared_with(Y)))

    def prepare(self, X: Held, Y: Held | None = None, shift: float = 0.0, dtype: DTypeLike = np.float64) -> Tiles:
        return _composed_tiles(self, [self.left.prepare, self.right.prepare], X, Y, shift)

    def prepares(self, X: Held) -> Preparing:
        return partial(_composed_tiles, self, [self.left.prepares(X), self.right.prepares(X)])

    def __post_init__(self) -> None:
        if len({self.left.takes, self.right.takes} - {"anything"}) > 1:
            raise ValueError(
                f"{self.left!r} compares {self.left.takes} and {self.right!r} {self.right.takes}: kernels are "
                "added and multiplied where they compare the same items."
            )

    @property
    def takes(self) -> str:
        return self.right.takes if self.left.takes == "anything" else self.left.takes

    @property
    def sparse_features(self) -> bool:
        return self.left.sparse_features or self.right.sparse_features

    def entry_cost(self, d: int) -> float:
        return 2.0 + self.left.entry_cost(d) + self.right.entry_cost(d)

    def cost(self, items: Items) -> float:
        return 2.0 + self.left.cost(items) + self.right.cost(items)

    def working(self, items: Items) -> int:
        return self.left.working(items) + self.right.working(items)

    @property
    def psd(self) -> bool:
        return self.left.psd and self.right.psd

    @property
    def differentiable(self) -> bool:
        return self.left.differentiable and self.right.differentiable

    @property
    def by_distance(self) -> bool:
        return self.left.by_distance and self.right.by_distance

    @property
    def non_negative(self) -> bool:
        return self.left.non_negative or self.right.non_negative

    def resolved(self, X: Held, rng: np.random.Generator) -> Kernel:
        return type(self)(self.left.resolved(X, rng), self.right.resolved(X, rng))

    def resolved_by(self, X: Held, rng: np.random.Generator, weights: Array | None) -> Kernel:
        return type(self)(self.left.resolved_by(X, rng, weights), self.right.resolved_by(X, rng, weights))

    def admit(self, X: Any, label: str = "X") -> None:
        self.left.admit(X, label)
        self.right.admit(X, label)


@dataclass(frozen=True, repr=False)
class Sum(_Pair):
    """k(x, y) = k₁(x, y) + k₂(x, y)."""

    def composed(self, left: Array, right: Array) -> Array:
        return left + right

    def diag(self, X: Held) -> Array:
        return self.left.diag(X) + self.right.diag(X)

    def slopes(self, Z: Held, X: Held) -> Slopes:
        return Together((self.left.slopes(Z, X), 1.0), (self.right.slopes(Z, X), 1.0))

    def diag_pull(self, Z: Held) -> Array:
        return self.left.diag_pull(Z) + self.right.diag_pull(Z)

    def sizes(self, X: Held) -> Array:
        return self.left.sizes(X) + self.right.sizes(X)

    def rounding(self, X: Held, weights: Array | None = None, shift: float = 0.0, times: Products = None) -> float:
        parts = self.left.rounding(X, weights) + self.right.rounding(X, weights)
        return parts + gamma(1) * summed(self.sizes(X), weights) + after_shift(X, weights, shift)

    def entry_rounding(self, X: Held, Y: Held, dtype: DTypeLike = np.float64) -> float:
        return self.left.entry_rounding(X, Y) + self.right.entry_rounding(X, Y) + super().entry_rounding(X, Y)

    def feature_map(self, X: Held) -> FeatureMap | None:
        left, right = self.left.feature_map(X), self.right.feature_map(X)
        return None if left is None or right is None or is_sparse(X) else Joined(left, right)

    def features(self, X: Held) -> Any:
        learned = self.feature_map(X)
        return None if learned is None else learned.features(X)

    def n_features(self, X: Held) -> int | None:
        parts = self.left.n_features(X), self.right.n_features(X)
        return None if None in parts or is_sparse(X) else sum(parts)  # type: ignore[arg-type]

    def __repr__(self) -> str:
        return " + ".join(_short(k.value) if isinstance(k, Constant) else repr(k) for k in (self.left, self.right))


@dataclass(frozen=True, repr=False)
class Product(_Pair):
    """k(x, y) = k₁(x, y) · k₂(x, y)."""

    def composed(self, left: Array, right: Array) -> Array:
        return left * right

    def diag(self, X: Held) -> Array:
        return self.left.diag(X) * self.right.diag(X)

    def slopes(self, Z: Held, X: Held) -> Slopes:
        """Each by that of its factors, times the other."""
        left, right = self.left.slopes(Z, X), self.right.slopes(Z, X)
        return Together((left, self.right.block(Z, X)), (right, self.left.block(Z, X)))

    def diag_pull(self, Z: Held) -> Array:
        left, right = self.left.diag_pull(Z), self.right.diag_pull(Z)
        return left * self.right.diag(Z)[:, None] + right * self.left.diag(Z)[:, None]

    def sizes(self, X: Held) -> Array:
        return self.left.sizes(X) * self.right.sizes(X)

    def rounding(self, X: Held, weights: Array | None = None, shift: float = 0.0, times: Products = None) -> float:
        """|k₁|δ₂ + |k₂|δ₁, where |k(x, y)| ≤ max k(x, x) of a Mercer kernel."""
        left, right = self.left.sizes(X), self.right.sizes(X)
        parts = left.max(initial=0.0) * self.right.rounding(X, weights)
        parts += right.max(initial=0.0) * self.left.rounding(X, weights)
        return float(parts) + gamma(2) * summed(left * right, weights) + after_shift(X, weights, shift)

    def entry_rounding(self, X: Held, Y: Held, dtype: DTypeLike = np.float64) -> float:
        left = largest_entry(self.left.sizes(X), self.left.sizes(Y))
        right = largest_entry(self.right.sizes(X), self.right.sizes(Y))
        parts = left * self.right.entry_rounding(X, Y) + right * self.left.entry_rounding(X, Y)
        return parts + super().entry_rounding(X, Y)

    def __repr__(self) -> str:
        return f"{_in_brackets(self.left)} * {_in_brackets(self.right)}"


def _short(number: float) -> str:
    """With all its digits, and as few as that takes: 2, 0.1."""
    return repr(int(number)) if number == int(number) and abs(number) < 1e15 else repr(float(number))


def _in_brackets(kernel: Kernel) -> str:
    """As a factor: a sum needs brackets."""
    return f"({kernel!r})" if isinstance(kernel, Sum) else repr(kernel)


def as_kernel(other: Any) -> Kernel:
    if isinstance(other, Kernel):
        return other
    if isinstance(other, Real):
        return Constant(float(other))
    raise TypeError(f"A kernel can be combined with a kernel or a number, not with {other!r}.")
