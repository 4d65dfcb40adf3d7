"""What two rows share of what either has: Tanimoto's similarity, of fingerprints and of any rows."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer.arrays import Array
from mercer.errors import BadData
from mercer.kernels.base import ROUNDINGS, Held, Kernel, Tiles, n_rows
from mercer.kernels.dot import as_float, dot, product_chain, squared_norms

_ORDINARY = 1e-70, 1e70  # of the largest number of a row: squares, and products of them, are numbers with all digits
_SMALLEST = 2.0**-480  # of that of the largest row


@dataclass(frozen=True)
class Tanimoto(Kernel):
    """k(x, y) = xᵀy/(‖x‖² + ‖y‖² − xᵀy), 1 if both rows are zero; of rows of 0 and 1, Jaccard's similarity.

    Real rows of any sign are welcome; `MinMax` is another formula for those that are not 0 and 1.
    """

    psd = True

    # s/(a − s) = Σ (s/a)ⁿ over n ≥ 1, a = ‖x‖² + ‖y‖² ≥ 2|s|: powers of s = xᵀy and of 1/a = ∫ e^−t‖x‖² e^−t‖y‖² dt.

    def entry_cost(self, d: int) -> float:
        return 6.0 + 0.06 * d

    def block(self, X: Held, Y: Held) -> Array:
        out = np.empty((n_rows(X), n_rows(Y)))
        self.prepare(X, Y).fill(slice(None), slice(None), out)
        return out

    def diag(self, X: Held) -> Array:
        return np.ones(n_rows(X))

    def roundings(self, X: Held) -> float:
        """Of xᵀy once, as |xᵀy| ≤ a/2 and a − xᵀy ≥ a/2; of a − xᵀy three times, as a + |xᵀy| ≤ 3(a − xᵀy)."""
        return 4 * product_chain(X) + ROUNDINGS

    def prepare(self, X: Held, Y: Held | None = None, shift: float = 0.0, dtype: DTypeLike = np.float64) -> Tiles:
        X, Y = as_float(X), None if Y is None else as_float(Y)
        unit = _common_unit(_row_peaks(X) if Y is None else np.concatenate([_row_peaks(X), _row_peaks(Y)]))
        X = X if unit == 1.0 else X * unit
        return _TanimotoTiles(X, X if Y is None else Y if unit == 1.0 else Y * unit, shift)


class _TanimotoTiles(Tiles):
    """One matrix product a tile, and the squared lengths of the rows."""

    def __init__(self, X: Held, Y: Held, shift: float) -> None:
        self.X, self.Y, self.shift = X, Y, shift
        self.x2 = squared_norms(X)
        self.y2 = self.x2 if Y is X else squared_norms(Y)

    def fill(self, rows: slice, columns: slice, out: Array) -> None:
        tile = dot(self.X[rows], self.Y[columns])
        either = self.x2[rows][:, None] + self.y2[columns]
        either -= tile
        empty = either == 0.0
        np.divide(tile, either, out=tile, where=~empty)
        tile[empty] = 1.0
        np.subtract(tile, self.shift, out=out)


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
