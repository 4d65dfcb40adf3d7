"""Functions of ‖x − y‖²: the exponent from one matrix product, or from differences where that would cost digits."""

from abc import abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer_old.arrays import Array
from mercer_old.errors import BadData
from mercer_old.kernels.base import ROUNDINGS, Held, Kernel, Preparing, Products, Tiles, n_rows
from mercer_old.kernels.dot import as_float, dot, product_chain, squared_norms
from mercer_old.kernels.slopes import ByColumns, ByProducts, Slopes
from mercer_old.rounding import UNIT_SINGLE, gamma
from mercer_old.squares import Moved, differences, from_products, multiply

__all__ = ["DifferenceTiles", "DistanceTiles", "EuclideanKernel"]

_BLOCK_ROWS = 4096


class EuclideanKernel(Kernel):
    """k(x, y) = shape(−scale·‖x − y‖²). A subclass says `scale` and writes `shape`, which works in place."""

    top: ClassVar[float] = 1.0
    psd = True
    by_distance = True

    @property
    @abstractmethod
    def scale(self) -> float: ...

    @property
    def smooth(self) -> bool:
        """Whether k is flat at distance 0, so that rounding in a tiny squared distance does not show."""
        return True

    shape_roundings: ClassVar[int] = ROUNDINGS  # of k, or of k − 1 where that is evaluated

    FAR: ClassVar[float] = 1e3  # beyond this reach the exponent loses so many digits that differences are worth it

    def halves(self, X: Held, centre: Array | None = None) -> Array:
        """h = scale·‖x − centre‖² of every row, which the exponent is a difference of; of sparse rows scale·‖x‖².

        The centre is the mean unless another one is given.
        """
        if sparse.issparse(X):
            return self.scale * squared_norms(X)
        X, root = as_float(X), np.sqrt(self.scale)
        with np.errstate(over="ignore", invalid="ignore"):
            centre = X.mean(axis=0) if centre is None else centre
            halves = np.concatenate([Moved(some, centre, root).squares for some in _blocks(X)])
        if not np.isfinite(halves).all():
            raise BadData(
                "Squared distances of these rows times gamma are an overflow: scale the data down (StandardScaler), or "
                "give a smaller gamma."
            )
        return halves

    def reach(self, X: Held) -> float:
        """h of the row farthest out; ∞ if it is so far that differences are taken."""
        if not sparse.issparse(X) and not self.smooth:
            return 0.0
        far = float(self.halves(X).max(initial=0.0))
        return far if far <= self.FAR or sparse.issparse(X) else np.inf

    def rounding(self, X: Held, weights: Array | None = None, shift: float = 0.0, times: Products = None) -> float:
        """Of the exponent x = h + h' − zᵀz', whose moduli make no more than 2(h + h'), and of the shape.

        |δx| ≤ γ_c(h + h') and no shape is steeper than 1, so |δk| ≤ γ_c(h + h')k. By differences x is off by γ of
        itself, and x·|k'(x)| ≤ 0.4.
        """
        n, d = X.shape
        w = np.ones(n) if weights is None else weights
        halves = self.halves(X) if self.smooth or sparse.issparse(X) else np.full(n, np.inf)
        if halves.max(initial=0.0) > self.FAR and not sparse.issparse(X):
            return float((0.4 * gamma(d + 8) + gamma(self.shape_roundings)) * w.sum())
        exponent = gamma(_exponent_roundings(X))
        exact = self.exact_shift and shift == self.top  # entries of k − 1 are then known to themselves, not to 1
        # k ≤ 1, and ‖h + h'‖ over all pairs is at most 2W·rms(h).
        spread = 2 * float(np.sqrt((w @ halves**2) * w.sum()))
        plain = exponent * spread + gamma(self.shape_roundings) * (min(w.sum(), 2 * spread) if exact else w.sum())
        if times is None:
            return float(plain)
        # Schur's test: ‖SMS‖ ≤ max Σⱼ wⱼMᵢⱼ for a matrix without negative entries.
        sums, moments = times(np.column_stack([w, w * halves])).T
        shape = np.abs(w.sum() - sums) if exact else sums
        return float(
            min(plain, (exponent * (halves * sums + moments) + gamma(self.shape_roundings) * shape).max(initial=0.0))
        )

    def entry_rounding(self, X: Held, Y: Held, dtype: DTypeLike = np.float64) -> float:
        """The same for one entry of tiles between two sets of rows, which are moved to the mean of Y.

        In single precision, rounding errors of the exponent are taken to be of random sign: √ of as many, times 4.
        """
        sparse_rows = sparse.issparse(X) or sparse.issparse(Y)
        if not sparse_rows and (not self.smooth or max(self.reach(X), self.reach(Y)) > self.FAR):
            return 0.4 * gamma(X.shape[1] + 8) + gamma(self.shape_roundings)
        centre = None if sparse_rows else as_float(Y).mean(axis=0)
        far = float(self.halves(X, centre).max(initial=0.0) + self.halves(Y, centre).max(initial=0.0))
        terms = max(_exponent_roundings(X), _exponent_roundings(Y))
        if dtype == np.float32:
            return float(4 * np.sqrt(terms) * UNIT_SINGLE * far + self.shape_roundings * UNIT_SINGLE)
        return gamma(terms) * far + gamma(self.shape_roundings)

    def has_single(self, shift: float) -> bool:
        return self.smooth and (shift == 0.0 or self.exact_shift)

    def entry_cost(self, d: int) -> float:
        return 3.0 + (0.06 if self.smooth else 1.0) * d

    @abstractmethod
    def shape(self, minus_squares: Array, shift: float = 0.0) -> None: ...

    @abstractmethod
    def steepness(self, minus_squares: Array, shift: float = 0.0) -> None:
        """−dk/dx in place of −x = −scale·‖x − y‖²; of a kernel that is not smooth 0 at distance 0."""

    differentiable = True

    def slopes(self, Z: Held, X: Held) -> Slopes:
        """−2·scale·(−dk/dx)·(z − x): by a product of rows near their centre, or by differences where tiles are."""
        steepness = np.empty((n_rows(Z), n_rows(X)))
        tiles = _tiles(self, _Steepness(self), Z, X)
        tiles.fill(slice(None), slice(None), steepness)
        if isinstance(tiles, DifferenceTiles):
            steepness *= -2 * self.scale
            return ByColumns(as_float(Z), as_float(X), steepness, np.subtract)
        Z, X = as_float(Z), as_float(X)
        if not (sparse.issparse(Z) or sparse.issparse(X)):
            centre = X.mean(axis=0)
            Z, X = Z - centre, X - centre
        return ByProducts(Z, X, steepness, -steepness, 2 * self.scale)

    def diag_pull(self, Z: Held) -> Array:
        return np.zeros(Z.shape)

    def block(self, X: Held, Y: Held) -> Array:
        out = np.empty((n_rows(X), n_rows(Y)))
        self.prepare(X, Y).fill(slice(None), slice(None), out)
        return out

    def diag(self, X: Held) -> Array:
        return np.full(n_rows(X), self.top)

    def prepare(self, X: Held, Y: Held | None = None, shift: float = 0.0, dtype: DTypeLike = np.float64) -> Tiles:
        return _tiles(self, self, X, Y, shift, dtype)

    def prepares(self, X: Held) -> Preparing:
        """Around the mean of all of X, and by the way that its farthest row asks for: `rounding` counts on both."""
        if sparse.issparse(X) or not self.smooth:
            return self.prepare
        return partial(_tiles_around, self, as_float(X).mean(axis=0), float(self.halves(X).max(initial=0.0)))


@dataclass(frozen=True)
class _Steepness:
    """What tiles ask of a kernel, of its slope."""

    kernel: EuclideanKernel

    @property
    def scale(self) -> float:
        return self.kernel.scale

    def shape(self, minus_squares: Array, shift: float = 0.0) -> None:
        self.kernel.steepness(minus_squares)


def _tiles(
    kernel: EuclideanKernel,
    shaped: EuclideanKernel | _Steepness,
    X: Held,
    Y: Held | None,
    shift: float = 0.0,
    dtype: DTypeLike = np.float64,
) -> Tiles:
    """Tiles of this shape, by the way that keeps the digits of the kernel."""
    if sparse.issparse(X) or (Y is not None and sparse.issparse(Y)):
        return _SparseDistanceTiles(shaped, X, X if Y is None else Y, shift)
    if not kernel.smooth or max(kernel.reach(X), 0.0 if Y is None else kernel.reach(Y)) > kernel.FAR:
        return DifferenceTiles(shaped, X, X if Y is None else Y, shift)
    return DistanceTiles(shaped, X, X if Y is None else Y, shift, dtype)


def _tiles_around(
    kernel: EuclideanKernel,
    centre: Array,
    farthest: float,
    X: Array,
    Y: Array | None = None,
    shift: float = 0.0,
    dtype: DTypeLike = np.float64,
) -> Tiles:
    """Tiles of dense rows whose centre, and the largest h, are those of more rows than these."""
    Y = X if Y is None else Y
    if farthest > kernel.FAR:
        return DifferenceTiles(kernel, X, Y, shift)
    dtype = dtype if farthest <= DistanceTiles.FAR else np.float64
    return DistanceTiles(kernel, X, Y, shift, dtype, centre)


def _exponent_roundings(X: Held) -> int:
    """c with |δx| ≤ γ_c(h + h'): the product counts twice, as its moduli are up to 2(h + h'), and so do h and h'."""
    return 3 * product_chain(X) + 24


def _blocks(X: Array) -> list[Array]:
    """Some rows after the other, so that what is made of them stays small."""
    return [X[first : first + _BLOCK_ROWS] for first in range(0, max(len(X), 1), _BLOCK_ROWS)]


class DistanceTiles(Tiles):
    """The exponent from one matrix product: [z, −h, 1]·[w, 1, −h']ᵀ = −½‖z − w‖² with h = ½‖z‖².

    Rows are moved to their mean first, so that the squares cancel as little as possible, and scaled by √(2·scale).
    In float32 the exponent is off by about 2⁻²⁴·(‖z‖ + ‖w‖)²: too much if a row is far out, so then the product stays
    in float64.
    """

    FAR = 10.0  # largest ½‖z‖² = scale·‖x − mean‖² for a product in float32

    def __init__(
        self,
        kernel: EuclideanKernel | _Steepness,
        X: Array,
        Y: Array,
        shift: float,
        dtype: DTypeLike = np.float64,
        centre: Array | None = None,
    ) -> None:
        centre = as_float(Y).mean(axis=0) if centre is None else centre  # Y: the training rows, if they differ
        unit = np.sqrt(2 * kernel.scale)
        Z = Moved(as_float(X), centre, unit)
        W = Z if Y is X else Moved(as_float(Y), centre, unit)
        farthest = max(Z.squares.max(initial=0.0), W.squares.max(initial=0.0)) / 2
        dtype = dtype if farthest <= self.FAR else np.float64
        # Two arrays even for X against itself: numpy would send X @ X.T to a slower routine.
        self.left = Z.left().astype(dtype, copy=False)
        self.right = W.right().astype(dtype, copy=False)
        self.kernel, self.shift = kernel, shift

    def fill(self, rows: slice, columns: slice, out: Array) -> None:
        multiply(self.left[rows], self.right[columns], out)
        np.minimum(out, 0.0, out=out)
        self.kernel.shape(out, self.shift)


class DifferenceTiles(Tiles):
    """Distances from differences, without cancellation: slower, for kernels with a kink at distance 0."""

    def __init__(self, kernel: EuclideanKernel | _Steepness, X: Array, Y: Array, shift: float) -> None:
        self.kernel, self.shift = kernel, shift
        # By a power of two, which is exact: squares of huge and tiny numbers are none.
        unit = 2.0 ** np.round(np.log2(np.sqrt(kernel.scale)))
        self.factor = kernel.scale / unit / unit
        X, Y = as_float(X), as_float(Y)
        self.X = X if unit == 1.0 else unit * X
        self.Y = self.X if Y is X else Y if unit == 1.0 else unit * Y

    def fill(self, rows: slice, columns: slice, out: Array) -> None:
        np.multiply(differences(self.X[rows], self.Y[columns]), -self.factor, out=out, casting="same_kind")
        self.kernel.shape(out, self.shift)


class _SparseDistanceTiles(Tiles):
    """The same for CSR rows, which cannot be moved to their mean without filling up."""

    def __init__(self, kernel: EuclideanKernel | _Steepness, X: Held, Y: Held, shift: float) -> None:
        self.kernel, self.shift = kernel, shift
        self.X, self.Y = X, Y
        self.x2, self.y2 = squared_norms(X), squared_norms(Y)

    def fill(self, rows: slice, columns: slice, out: Array) -> None:
        tile = np.empty(out.shape)  # in float64 always: squares that far from their mean cancel
        dot(self.X[rows], self.Y[columns], tile)
        from_products(tile, self.x2[rows], self.y2[columns], times=-1.0)
        tile *= self.kernel.scale
        np.minimum(tile, 0.0, out=out, casting="same_kind")
        self.kernel.shape(out, self.shift)
