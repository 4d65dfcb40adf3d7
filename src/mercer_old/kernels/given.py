"""Similarities that come from the user: a matrix, or a function of a pair or of two blocks of rows."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mercer_old.arrays import Array
from mercer_old.errors import counted, in_short
from mercer_old.kernels.base import Held, Kernel, n_rows


@dataclass(frozen=True)
class Precomputed(Kernel):
    """The data are the kernel matrix: k(i, j) = K_ij. To `transform`, the kernel between new and training items."""

    def block(self, X: Held, Y: Held) -> Array:
        raise TypeError("A precomputed kernel matrix has no formula to evaluate on new rows.")


@dataclass(frozen=True, repr=False)
class _OfFunction(Kernel):
    function: Callable[..., Any]
    params: dict[str, Any] = field(default_factory=dict)

    @property
    def takes(self) -> str:
        return "anything"

    def __repr__(self) -> str:
        """By the function's name: an address would be another one in every run."""
        name = getattr(self.function, "__name__", type(self.function).__name__)
        return f"{type(self).__name__}({name}{', ' + repr(self.params) if self.params else ''})"


@dataclass(frozen=True, repr=False)
class Pairwise(_OfFunction):
    """k(x, y) = `function(x, y, **params)`, called once a pair of rows. Slow: see Blockwise."""

    def entry_cost(self, d: int) -> float:
        return 2000.0

    def block(self, X: Held, Y: Held) -> Array:
        m, n = n_rows(X), n_rows(Y)
        tile = np.empty((m, n))
        for i in range(m):
            for j in range(n):
                tile[i, j] = self._value(X[i], Y[j])
        return tile

    def _value(self, x: Any, y: Any) -> float:
        value = self.function(x, y, **self.params)
        if np.ndim(value) and np.size(value) != 1:
            raise ValueError(
                f"The kernel function returned an array of shape {np.shape(value)} for one pair of rows; it must "
                "return one number. A function of two blocks of rows is given as mercer.kernels.Blockwise(function)."
            )
        return float(_numbers_of(value).item())


@dataclass(frozen=True, repr=False)
class Blockwise(_OfFunction):
    """K(X, Y) = `function(X, Y, **params)`, called on blocks of rows and returning a len(X)×len(Y) array."""

    def block(self, X: Held, Y: Held) -> Array:
        tile = _numbers_of(self.function(X, Y, **self.params))
        if tile.shape != (n_rows(X), n_rows(Y)):
            raise ValueError(
                f"The kernel function returned shape {tile.shape} for blocks of {n_rows(X)} and "
                f"{counted(n_rows(Y), 'row')}; it must return ({n_rows(X)}, {n_rows(Y)}). A function of one "
                "pair of rows is given as it is."
            )
        return tile


def _numbers_of(value: Any) -> Array:
    """What a user's function returned, as numbers."""
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"The kernel function returned {in_short(value)}, which is no number.") from None
