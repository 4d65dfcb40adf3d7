"""Kernels as another array library evaluates them, on its own device: the same formulas, through the array API.

Rows are prepared by numpy, once, in the same tiles that are filled in main memory: centred, scaled, or of length one.
What is left of a formula is a product or a sum of differences, and a shape, which has a twin here.
"""

from collections.abc import Callable
from typing import Any

from mercer_old.arrays import Array, Held, Home
from mercer_old.kernels.base import Kernel
from mercer_old.kernels.distance import RBF, Laplacian, Matern, RationalQuadratic
from mercer_old.kernels.dot import Cosine, DotTiles, Linear, Polynomial, Sigmoid, as_float, product_chain
from mercer_old.kernels.euclidean import DifferenceTiles, DistanceTiles

__all__ = ["TilesElsewhere", "has_formula", "longer_sums"]

Foreign = Any  # an array of the other library


class TilesElsewhere:
    """k(X, Y) − shift of dense rows, some rows of X at a time, as arrays of `home`."""

    def __init__(self, kernel: Kernel, X: Held, Y: Held | None, shift: float, home: Home) -> None:
        self.kernel, self.shift, self.library = kernel, float(shift), home.library
        self._similarities, left, right = _way(kernel, X, Y, shift)
        self._left, self._right = home.bring(left), home.bring(right)

    def rows(self, some: slice) -> Foreign:
        """The entries of some rows."""
        values = self._similarities(self.library, self._left[some, :], self._right)
        return _SHAPES[type(self.kernel)](self.kernel, self.library, values, self.shift)


def has_formula(kernel: Kernel) -> bool:
    """Whether it is one of those below; a kernel that was derived from them may have changed its own."""
    return type(kernel) in _SHAPES


def longer_sums(X: Held) -> float:
    """How many times the bound on the rounding of entries is larger if sums over columns are taken in any order.

    A scalar product of d terms in one chain is known to γ_d, and every bound on an entry is no more than linear in the
    length of its chain. Twice that, as nobody has looked at how the library computes its exponentials.
    """
    return 2 * max(1.0, (X.shape[1] + 8) / product_chain(X))


# ---------------------------------------------------------------------- from rows to one number a pair


def _way(kernel: Kernel, X: Held, Y: Held | None, shift: float) -> tuple[Callable[..., Foreign], Array, Array]:
    """What is computed of prepared rows, and those rows: as the tiles of the kernel would."""
    if isinstance(kernel, Laplacian):
        X = as_float(X)
        return _minus_differences(float(kernel.known_gamma), abs), X, X if Y is None else as_float(Y)
    tiles = kernel.prepare(X, Y, shift=shift)
    if isinstance(tiles, DistanceTiles):
        return _minus_half_squares, tiles.left, tiles.right
    if isinstance(tiles, DifferenceTiles):
        return _minus_differences(float(tiles.factor), lambda gap: gap * gap), tiles.X, tiles.Y
    assert isinstance(tiles, DotTiles), "of dense rows, there are no others"
    return _products, tiles.X, tiles.Y


def _products(xp: Any, left: Foreign, right: Foreign) -> Foreign:
    return left @ right.T


def _minus_half_squares(xp: Any, left: Foreign, right: Foreign) -> Foreign:
    """[z, −h, 1]·[w, 1, −h']ᵀ, which rounding must not make positive."""
    values = left @ right.T
    return xp.where(values > 0, xp.zeros_like(values), values)


def _minus_differences(factor: float, size: Callable[[Foreign], Foreign]) -> Callable[..., Foreign]:
    """−factor·Σⱼ size(xⱼ − yⱼ), column after column: nothing cancels, and no more is held than a few tiles."""

    def values(xp: Any, left: Foreign, right: Foreign) -> Foreign:
        total = xp.zeros((left.shape[0], right.shape[0]), dtype=left.dtype, device=left.device)
        for j in range(left.shape[1]):
            total = total + size(left[:, j, None] - right[None, :, j])
        return -factor * total

    return values


# ---------------------------------------------------------------------- the shapes, with numbers of Python alone


def _as_it_is(kernel: Kernel, xp: Any, products: Foreign, shift: float) -> Foreign:
    return products - shift if shift else products


def _power(kernel: Polynomial, xp: Any, products: Foreign, shift: float) -> Foreign:
    base = float(kernel.known_gamma) * products + float(kernel.coef0)
    if kernel.degree != int(kernel.degree) or kernel.degree == 0:
        return base ** float(kernel.degree)
    values = base
    for bit in f"{int(kernel.degree):b}"[1:]:  # from the highest: x → x², and times x where the bit is set
        values = values * values
        values = values * base if bit == "1" else values
    return values


def _sigmoid(kernel: Sigmoid, xp: Any, products: Foreign, shift: float) -> Foreign:
    return xp.tanh(float(kernel.known_gamma) * products + float(kernel.coef0))


def _exponential(kernel: Kernel, xp: Any, exponents: Foreign, shift: float) -> Foreign:
    """e^x − shift; without cancellation where that is e^x − 1."""
    if shift == 1.0:
        return xp.expm1(exponents)
    return _as_it_is(kernel, xp, xp.exp(exponents), shift)


def _plain_exponential(kernel: Kernel, xp: Any, exponents: Foreign, shift: float) -> Foreign:
    return _as_it_is(kernel, xp, xp.exp(exponents), shift)


def _matern(kernel: Matern, xp: Any, minus_squares: Foreign, shift: float) -> Foreign:
    r = xp.sqrt(-minus_squares)
    values = xp.exp(-r)
    if kernel.nu == 1.5:
        values = values * (1 + r)
    elif kernel.nu == 2.5:
        values = values * (1 + r + r * r / 3)
    return _as_it_is(kernel, xp, values, shift)


def _rational_quadratic(kernel: RationalQuadratic, xp: Any, minus_squares: Foreign, shift: float) -> Foreign:
    alpha = float(kernel.alpha)
    return _exponential(kernel, xp, -alpha * xp.log1p(minus_squares / -alpha), shift)


_SHAPES: dict[type[Kernel], Callable[..., Foreign]] = {
    Linear: _as_it_is,
    Cosine: _as_it_is,
    Polynomial: _power,
    Sigmoid: _sigmoid,
    RBF: _exponential,
    Matern: _matern,
    RationalQuadratic: _rational_quadratic,
    Laplacian: _plain_exponential,
}
