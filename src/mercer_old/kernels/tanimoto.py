"""What two rows share of what either has: Tanimoto's similarity, of fingerprints and of any rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer_old.arrays import Array
from mercer_old.blocks import rows_at_a_time, some_of, steps
from mercer_old.errors import BadData
from mercer_old.kernels.base import ROUNDINGS, Held, Kernel, Tiles, n_rows
from mercer_old.kernels.counts import (
    WholeProducts,
    compact,
    few,
    filled_cells,
    in_one_matrix,
    of_dense,
    share_of_either,
    whole_squares,
)
from mercer_old.kernels.dot import as_float, dot, product_chain, squared_norms
from mercer_old.kernels.slopes import ByProducts, Slopes
from mercer_old.sources.items import Items

_ORDINARY = 1e-70, 1e70  # of the largest number of a row: squares, and products of them, are numbers with all digits
_SMALLEST = 2.0**-480  # of that of the largest row
_LOOKED_AT = 1000  # rows from which a plan guesses what all are like


@dataclass(frozen=True)
class Tanimoto(Kernel):
    """k(x, y) = xᵀy/(‖x‖² + ‖y‖² − xᵀy), 1 if both rows are zero; of rows of 0 and 1, Jaccard's similarity.

    Real rows of any sign are welcome; `MinMax` is another formula for those that are not 0 and 1. Bits and counts are
    compared without rounding, and fast if most of them are zero, dense or sparse.

    Parameters
    ----------
    packed : bool, default=False
        Rows are bytes with eight bits each, as ``np.packbits(bits, axis=1)`` makes them. Sparse rows are never packed.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Tanimoto
    >>> bits = np.array([[1, 1, 0, 0], [0, 1, 1, 0]])
    >>> Tanimoto().block(bits, bits)  # one bit in common, of three
    array([[1.        , 0.33333333],
           [0.33333333, 1.        ]])
    >>> Tanimoto(packed=True).block(np.packbits(bits, axis=1), np.packbits(bits, axis=1))
    array([[1.        , 0.33333333],
           [0.33333333, 1.        ]])
    """

    packed: bool = False
    psd = True

    # s/(a − s) = Σ (s/a)ⁿ over n ≥ 1, a = ‖x‖² + ‖y‖² ≥ 2|s|: powers of s = xᵀy and of 1/a = ∫ e^−t‖x‖² e^−t‖y‖² dt.

    def __post_init__(self) -> None:
        if not isinstance(self.packed, bool | np.bool_):
            raise ValueError(f"packed must be True or False; got {self.packed!r}.")

    def entry_cost(self, d: int) -> float:
        return 6.0 + 0.06 * d

    def block(self, X: Held, Y: Held) -> Array:
        out = np.empty((n_rows(X), n_rows(Y)))
        self.prepare(X, Y).fill(slice(None), slice(None), out)
        return out

    def diag(self, X: Held) -> Array:
        return np.ones(n_rows(X))

    @property
    def differentiable(self) -> bool:
        return not self.packed

    def slopes(self, Z: Held, X: Held) -> Slopes:
        """(a·x − 2s·z)/(a − s)² with s = zᵀx and a = ‖z‖² + ‖x‖²; 0 where both are zero, and k jumps."""
        if self.packed:
            raise self._no_gradient()
        Z, X = as_float(Z), as_float(X)
        unit = _common_unit(np.concatenate([_row_peaks(Z), _row_peaks(X)]))
        Z, X = (Z, X) if unit == 1.0 else (Z * unit, X * unit)
        common = dot(Z, X)
        both = squared_norms(Z)[:, None] + squared_norms(X)
        either = both - common
        square = np.divide(1.0, either, out=np.zeros_like(either), where=either > 0) ** 2
        return ByProducts(Z, X, both * square, -2.0 * common * square, unit)

    def diag_pull(self, Z: Held) -> Array:
        if self.packed:
            raise self._no_gradient()
        return np.zeros(Z.shape)

    def roundings(self, X: Held) -> float:
        """Of xᵀy once, as |xᵀy| ≤ a/2 and a − xᵀy ≥ a/2; of a − xᵀy three times, as a + |xᵀy| ≤ 3(a − xᵀy).

        Of small whole numbers, both are exact.
        """
        exact = self._is_packed(X) or whole_squares(X) is not None
        return ROUNDINGS if exact else 4 * product_chain(X) + ROUNDINGS

    def entry_rounding(self, X: Held, Y: Held, dtype: DTypeLike = np.float64) -> float:
        return max(super().entry_rounding(X, X), super().entry_rounding(Y, Y))

    def prepare(self, X: Held, Y: Held | None = None, shift: float = 0.0, dtype: DTypeLike = np.float64) -> Tiles:
        X, Y = self._unpacked(X), None if Y is None else self._unpacked(Y)
        x2 = whole_squares(X)
        y2 = x2 if Y is None or x2 is None else whole_squares(Y)
        if x2 is not None and y2 is not None:
            X, Y = compact(X), None if Y is None else compact(Y)
            return _WholeTiles(WholeProducts(X, X if Y is None else Y), x2, y2, shift)
        X, Y = as_float(X), None if Y is None else as_float(Y)
        unit = _common_unit(_row_peaks(X) if Y is None else np.concatenate([_row_peaks(X), _row_peaks(Y)]))
        X = X if unit == 1.0 else X * unit
        return _TanimotoTiles(X, X if Y is None else Y if unit == 1.0 else Y * unit, shift)

    # ------------------------------------------------------------------ fingerprints

    def compact(self, X: Held) -> Held:
        bits = self._unpacked(X)
        if self._is_packed(X) and not sparse.issparse(bits):
            return X  # with so many bits set, eight to a byte
        return bits if whole_squares(bits) is None else compact(bits)

    def _is_packed(self, X: Held) -> bool:
        return bool(self.packed) and not sparse.issparse(X)

    def _unpacked(self, X: Held) -> Held:
        """Rows of bits: those that are set if they are few, else a byte for each."""
        if not self._is_packed(X):
            return X
        if few(np.unpackbits(_bytes(some_of(X, _LOOKED_AT)), axis=1)):
            pieces = steps(len(X), rows_at_a_time(8 * X.shape[1]))
            return in_one_matrix([of_dense(np.unpackbits(_bytes(X[some]), axis=1)) for some in pieces], 8 * X.shape[1])
        return np.unpackbits(_bytes(X), axis=1)

    def cost(self, items: Items) -> float:
        some = self._look_at(items)
        return super().cost(items) if some is None else 6.0 + min(0.2 * filled_cells(some), 0.03 * some.shape[1])

    def working(self, items: Items) -> int:
        """Bits are never made numbers of eight bytes, all at once."""
        if self._look_at(items) is None or items.sparse:
            return super().working(items)
        return items.width // 3 + 4 if self.packed else -(-items.width * items.dtype.itemsize // 8) + 4

    def _look_at(self, items: Items) -> Any:
        """Some rows of small whole numbers, if they are; None of others, and of those that are not in memory."""
        if not items.held:
            return None
        some = items.load()
        some = self._unpacked(some if items.sparse else some_of(some, _LOOKED_AT))
        return None if whole_squares(some) is None else some


def _bytes(X: Array) -> Array:
    if X.dtype == np.uint8:
        return X
    if X.size and not (X.min() >= 0 and X.max() <= 255 and np.array_equal(X, np.rint(X))):
        raise BadData(
            "Tanimoto(packed=True) compares rows of bytes, whole numbers from 0 to 255 with eight bits each as "
            f"np.packbits makes them; the numbers here go from {X.min():.6g} to {X.max():.6g}."
        )
    return X.astype(np.uint8)


class _WholeTiles(Tiles):
    """One exact product a tile, and the squared lengths of the rows."""

    def __init__(self, products: WholeProducts, x2: Array, y2: Array, shift: float) -> None:
        self.products, self.x2, self.y2, self.shift = products, x2, y2, shift

    def fill(self, rows: slice, columns: slice, out: Array) -> None:
        self.products.fill(rows, columns, out)
        share_of_either(out, self.x2[rows], self.y2[columns], self.shift)


class _TanimotoTiles(Tiles):
    """One matrix product a tile, and the squared lengths of the rows."""

    def __init__(self, X: Held, Y: Held, shift: float) -> None:
        self.X, self.Y, self.shift = X, Y, shift
        self.x2 = squared_norms(X)
        self.y2 = self.x2 if Y is X else squared_norms(Y)

    def fill(self, rows: slice, columns: slice, out: Array) -> None:
        tile = dot(self.X[rows], self.Y[columns])
        share_of_either(tile, self.x2[rows], self.y2[columns], self.shift)
        out[...] = tile


def _row_peaks(X: Held) -> Array:
    """The largest modulus of every row."""
    if not sparse.issparse(X):
        return np.asarray(np.abs(X).max(axis=1, initial=0.0))
    return np.asarray(abs(X).max(axis=1).toarray(), dtype=np.float64).ravel()


def _common_unit(peaks: Array) -> float:
    """A power of two that all rows are multiplied by, which changes no similarity: 1 for ordinary rows."""
    there = peaks[peaks > 0]
    if not len(there) or (there.min() > _ORDINARY[0] and there.max() < _ORDINARY[1]):
        return 1.0
    if there.min() < _SMALLEST * there.max():
        raise BadData(
            f"Tanimoto compares squared lengths, and rows whose largest numbers go from {there.min():.2g} to "
            f"{there.max():.2g} have none that can be added up. Leave out the smallest, or take MinMax or Cosine."
        )
    return float(2.0 ** -np.frexp(there.max())[1])
