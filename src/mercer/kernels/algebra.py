"""Sums, products and multiples of kernels."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mercer.data.dataset import Dataset
from mercer.errors import ParameterError
from mercer.kernels.base import (
    ConcatenatedMap,
    FeatureMap,
    FormulaMap,
    Generator,
    Gradient,
    Kernel,
    PreparedKernel,
    check_positive,
)
from mercer.numerics.rounding import UNIT
from mercer.numerics.rounding import gamma as rounding_bound
from mercer.storable import storable


@storable
@dataclass(frozen=True)
class Constant(Kernel):
    """Constant kernel, k(x, y) = value.

    Parameters
    ----------
    value : float, default=1.0
        Non-negative number.
    """

    input_kind = "any"
    psd = True
    value: float = 1.0

    def __post_init__(self) -> None:
        check_positive("value", self.value, zero=True)

    @property
    def max_value(self) -> float:  # type: ignore[override]
        return float(self.value)

    def __call__(self, X: Any, Y: Any) -> NDArray:
        return np.full((X.shape[0], Y.shape[0]), float(self.value))

    def diag(self, X: Any) -> NDArray:
        return np.full(X.shape[0], float(self.value))

    def entry_cost(self, data: Dataset) -> float:
        return 1.0

    def feature_map(self, samples: Any) -> FeatureMap:
        return FormulaMap(self._feature, 1)

    def _feature(self, X: Any) -> NDArray:
        return np.full((X.shape[0], 1), np.sqrt(self.value))

    def vjp(self, Z: Any, X: Any) -> Gradient:
        return lambda C: np.zeros(Z.shape)

    def diag_gradient(self, Z: Any) -> NDArray:
        return np.zeros(Z.shape)

    def __repr__(self) -> str:
        return f"Constant({_short(self.value)})"


class Composite(Kernel):
    """A kernel made of others, which are fields. A subclass writes how their values and errors are combined."""

    combine_roundings: float  # of `combine`, relative to `combine` of moduli

    @property
    def parts(self) -> tuple[Kernel, ...]:
        """The kernels that it is made of."""
        return tuple(getattr(self, name) for name in self._part_names)

    @property
    def _part_names(self) -> list[str]:
        return [part.name for part in fields(self) if isinstance(getattr(self, part.name), Kernel)]  # type: ignore[arg-type]

    def _with_parts(self, parts: Sequence[Kernel]) -> Self:
        return replace(self, **dict(zip(self._part_names, parts, strict=True)))  # type: ignore[type-var]

    @abstractmethod
    def combine(self, tiles: Sequence[Any], shifts: Sequence[float]) -> Any:
        """k − `combine_values(shifts)` from tiles minus their shifts; may reuse the first tile."""

    @abstractmethod
    def combine_values(self, values: Sequence[Any]) -> Any:
        """k, or a bound on |k|, from the values of the parts."""

    @abstractmethod
    def combine_errors(self, errors: Sequence[float], largest: Sequence[float]) -> float:
        """Bound on the error of k from those of the parts, whose computed moduli are at most `largest`."""

    def __post_init__(self) -> None:
        kinds = {part.input_kind for part in self.parts} - {"any"}
        if len(kinds) > 1:
            text = " and ".join(f"{part!r} ({part.input_kind})" for part in self.parts)
            raise ParameterError(
                "kernel", self, "", message=f"Kernels on different kinds of samples cannot be combined: {text}."
            )

    @property
    def input_kind(self) -> Any:  # type: ignore[override]
        return next((part.input_kind for part in self.parts if part.input_kind != "any"), "any")

    @property
    def psd(self) -> bool:  # type: ignore[override]
        return all(part.psd for part in self.parts)

    @property
    def non_negative(self) -> bool:  # type: ignore[override]
        return any(part.non_negative for part in self.parts)

    @property
    def decreasing(self) -> bool:  # type: ignore[override]
        return all(part.decreasing for part in self.parts)

    @property
    def max_value(self) -> float:  # type: ignore[override]
        values = [part.max_value for part in self.parts]
        return float(self.combine_values(values)) if all(values) else 0.0

    def prepare(self, Y: Any, *, shift: float | None = 0.0) -> "PreparedComposite":
        """Parts subtract shifts of their own, which keeps their digits."""
        own_shift = 0.0 if shift == 0.0 else None
        return PreparedComposite(self, [part.prepare(Y, shift=own_shift) for part in self.parts], shift)

    def diag(self, X: Any) -> NDArray:
        return np.asarray(self.combine_values([part.diag(X) for part in self.parts]))

    def resolve(self, data: Dataset, rng: Generator, weights: NDArray | None = None) -> Self:
        return self._with_parts([part.resolve(data, rng, weights) for part in self.parts])

    def validate(self, samples: Any, name: str = "X") -> None:
        for part in self.parts:
            part.validate(samples, name)

    def entry_cost(self, data: Dataset) -> float:
        return 2.0 + sum(part.entry_cost(data) for part in self.parts)

    def sample_width(self, data: Dataset) -> int:
        return sum(part.sample_width(data) for part in self.parts)


class PreparedComposite(PreparedKernel):
    """Tiles of the parts, combined."""

    kernel: Composite

    def __init__(self, kernel: Composite, parts: Sequence[PreparedKernel], shift: float | None) -> None:
        self.kernel, self.parts, self.shape = kernel, tuple(parts), parts[0].shape
        self._shifts = [part.shift for part in parts]
        combined = float(kernel.combine_values(self._shifts))
        self.shift = combined if shift is None else shift
        self._rest = self.shift - combined  # subtracted after the parts were combined

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in self.parts)

    def fill(self, rows: slice, columns: slice, out: NDArray) -> None:
        tiles = [np.empty(out.shape) for _ in self.parts]
        for part, tile in zip(self.parts, tiles, strict=True):
            part.fill(rows, columns, tile)
        np.subtract(self.kernel.combine(tiles, self._shifts), self._rest, out=out)

    def against(self, X: Any) -> "PreparedComposite":
        return PreparedComposite(self.kernel, [part.against(X) for part in self.parts], self.shift)

    @cached_property
    def diag(self) -> NDArray:
        return self.kernel.combine([part.diag.copy() for part in self.parts], self._shifts) - self._rest

    @cached_property
    def magnitudes(self) -> NDArray:
        return np.asarray(self.kernel.combine_values([part.magnitudes for part in self.parts]))

    @cached_property
    def left_magnitudes(self) -> NDArray:
        return np.asarray(self.kernel.combine_values([part.left_magnitudes for part in self.parts]))

    def likely_error(self) -> float:
        return self._combine_errors([part.likely_error() for part in self.parts]) + 2 * UNIT * abs(self._rest)

    def entry_error(self) -> float:
        bound = self._combine_errors([part.entry_error() for part in self.parts])
        return bound + self.relative_error * self._largest_combined + self._shift_error

    def matrix_error(self, weights: NDArray, row_sums: NDArray | None = None, products: NDArray | None = None) -> float:
        bound = self._combine_errors([part.matrix_error(weights) for part in self.parts])
        sizes = self.kernel.combine_values([part.magnitudes + abs(part.shift) for part in self.parts])
        total = float(weights.sum())
        size = min(self._largest_combined * total, float(weights @ sizes))
        return bound + self.relative_error * size + self._shift_error * total

    @property
    def n_roundings(self) -> float:  # type: ignore[override]
        return self.kernel.combine_roundings

    @property
    def largest_shifted(self) -> float:
        return self._largest_combined + abs(self._rest)

    @property
    def _largest_combined(self) -> float:
        """Bound on the sum of the moduli in `combine`."""
        sizes = [part.largest_shifted for part in self.parts]
        return float(self.kernel.combine(sizes, [abs(shift) for shift in self._shifts]))

    def _combine_errors(self, errors: Sequence[float]) -> float:
        return self.kernel.combine_errors(errors, [part.largest_entry + part.entry_error() for part in self.parts])

    @property
    def _shift_error(self) -> float:
        return rounding_bound(2) * abs(self._rest)


class LinearCombination(Composite):
    """factor·(k₁ + k₂ + …)."""

    factor: float
    combine_roundings = 2

    def combine(self, tiles: Sequence[Any], shifts: Sequence[float]) -> Any:
        total = tiles[0]
        for tile in tiles[1:]:
            total += tile
        if self.factor != 1.0:
            total *= self.factor
        return total

    def combine_values(self, values: Sequence[Any]) -> Any:
        return self.factor * sum(values)

    def combine_errors(self, errors: Sequence[float], largest: Sequence[float]) -> float:
        return self.factor * sum(errors)

    def with_origin(self, origin: NDArray) -> Kernel:
        moved = [part.with_origin(origin) for part in self.parts]
        return self._with_parts(moved) if any(a is not b for a, b in zip(moved, self.parts, strict=True)) else self

    def feature_map(self, samples: Any) -> FeatureMap | None:
        """The features of all parts; not for sums on sparse rows, which would lose their zeros."""
        maps = [part.feature_map(samples) for part in self.parts]
        known = [one for one in maps if one is not None]
        if len(known) < len(maps) or (len(maps) > 1 and sparse.issparse(samples)):
            return None
        return ConcatenatedMap(known, self.factor)

    def vjp(self, Z: Any, X: Any) -> Gradient | None:
        gradients = [part.vjp(Z, X) for part in self.parts]
        known = [one for one in gradients if one is not None]
        return None if len(known) < len(gradients) else lambda C: np.asarray(self.factor * sum(one(C) for one in known))

    def diag_gradient(self, Z: Any) -> NDArray:
        return np.asarray(self.factor * sum(part.diag_gradient(Z) for part in self.parts))


@storable
@dataclass(frozen=True, repr=False)
class Scaled(LinearCombination):
    """Multiple of a kernel, k(x, y) = factor·k₁(x, y).

    Parameters
    ----------
    factor : float
        Positive number.
    kernel : Kernel
        Kernel k₁.
    """

    factor: float
    kernel: Kernel

    def __post_init__(self) -> None:
        check_positive("factor", self.factor)

    def __repr__(self) -> str:
        return f"{_short(self.factor)} * {_in_brackets(self.kernel)}"


@storable
@dataclass(frozen=True, repr=False)
class Sum(LinearCombination):
    """Sum of two kernels, k(x, y) = k₁(x, y) + k₂(x, y).

    Parameters
    ----------
    left, right : Kernel
        Kernels k₁ and k₂ on the same kind of samples.
    """

    left: Kernel
    right: Kernel
    factor = 1.0

    def __repr__(self) -> str:
        return " + ".join(_short(k.value) if isinstance(k, Constant) else repr(k) for k in self.parts)


@storable
@dataclass(frozen=True, repr=False)
class Product(Composite):
    """Product of two kernels, k(x, y) = k₁(x, y)·k₂(x, y).

    Parameters
    ----------
    left, right : Kernel
        Kernels k₁ and k₂ on the same kind of samples.
    """

    left: Kernel
    right: Kernel
    combine_roundings = 12

    def combine(self, tiles: Sequence[Any], shifts: Sequence[float]) -> Any:
        """t₁t₂ + s₁t₂ + s₂t₁ = (s₁ + t₁)(s₂ + t₂) − s₁s₂ of tiles t and shifts s."""
        left, right = tiles
        out = left * right
        if shifts[0]:
            out += shifts[0] * right
        if shifts[1]:
            out += shifts[1] * left
        return out

    def combine_values(self, values: Sequence[Any]) -> Any:
        return values[0] * values[1]

    def combine_errors(self, errors: Sequence[float], largest: Sequence[float]) -> float:
        """|k₁|δ₂ + |k₂|δ₁ + δ₁δ₂."""
        return largest[0] * errors[1] + largest[1] * errors[0]

    def vjp(self, Z: Any, X: Any) -> Gradient | None:
        left, right = self.left.vjp(Z, X), self.right.vjp(Z, X)
        if left is None or right is None:
            return None
        K_left, K_right = self.left(Z, X), self.right(Z, X)
        return lambda C: left(C * K_right) + right(C * K_left)

    def diag_gradient(self, Z: Any) -> NDArray:
        left, right = self.left.diag_gradient(Z), self.right.diag_gradient(Z)
        return left * self.right.diag(Z)[:, None] + right * self.left.diag(Z)[:, None]

    def __repr__(self) -> str:
        return " * ".join(map(_in_brackets, self.parts))


def add(left: Any, right: Any) -> Any:
    """left + right, where one may be a non-negative number; 0 changes nothing, so that sum() works."""
    if isinstance(left, Kernel) and _is_number(right):
        return left if right == 0 else Sum(left, Constant(float(right)))
    if _is_number(left) and isinstance(right, Kernel):
        return right if left == 0 else Sum(Constant(float(left)), right)
    return Sum(left, right) if isinstance(left, Kernel) and isinstance(right, Kernel) else NotImplemented


def multiply(left: Any, right: Any) -> Any:
    """left·right, where one may be a positive number."""
    if isinstance(left, Kernel) and _is_number(right):
        return Scaled(float(right), left)
    if _is_number(left) and isinstance(right, Kernel):
        return Scaled(float(left), right)
    return Product(left, right) if isinstance(left, Kernel) and isinstance(right, Kernel) else NotImplemented


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _short(number: float) -> str:
    """The shortest text with all digits: 2, 0.1."""
    return repr(int(number)) if number == int(number) and abs(number) < 1e15 else repr(float(number))


def _in_brackets(kernel: Kernel) -> str:
    """The `repr` of a factor: sums need brackets."""
    return f"({kernel!r})" if isinstance(kernel, Sum) else repr(kernel)
