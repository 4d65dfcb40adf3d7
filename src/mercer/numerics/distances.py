"""Squared Euclidean distances between rows, and which of them are smallest.

‖q − p‖² of all pairs comes from one matrix product, which cancels where rows are close. So a product only selects a
few candidates for each row, which are measured by differences. A bound on the rounding of the product shows whether
another row could be as near. Rows are moved to medians first and divided by powers of two, so that large offsets cost
no digits and squares neither over- nor underflow.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.numerics.products import row_squares
from mercer.numerics.rounding import TINY, power_of_two

_MEDIAN_ROWS = 1000
_SPARE = 8  # candidates beyond those requested that a row may have; rows with more are handled alone
_GROUP = 16  # columns of which the smallest entry is taken first


def column_medians(rows: NDArray) -> NDArray:
    """Medians of the columns, from up to 1,000 rows. One far row does not move them, and integers stay integers."""
    some = rows[:: max(1, len(rows) // _MEDIAN_ROWS)].astype(np.float64)
    some.sort(axis=0)
    half = len(some) // 2
    return some[half] if len(some) % 2 else (some[half - 1] + some[half]) / 2


def largest_modulus(rows: NDArray) -> float:
    """max |x|, and 0 for an empty array."""
    return max(float(rows.max(initial=0)), -float(rows.min(initial=0)))


def center_and_scale(rows: NDArray) -> tuple[NDArray, NDArray, float]:
    """Rows z with x = scale·(z + center) and |z| < 1, rounded only by the subtraction of the center."""
    scale = float(power_of_two(largest_modulus(rows)))
    moved = np.divide(rows, scale, dtype=np.float64)
    center = column_medians(moved)
    moved -= center
    finer = float(power_of_two(largest_modulus(moved)))
    moved /= finer
    return moved, center / finer, scale * finer


def unit_rows(rows: NDArray, digits: int) -> NDArray:
    """Rows divided by their lengths and rounded, so that parallel rows are equal; zero rows stay."""
    top = np.maximum(rows.max(axis=1), -rows.min(axis=1).astype(np.float64))  # squares could over- or underflow
    rows = np.divide(rows, np.where(top > 0, top, 1.0)[:, None], dtype=np.float64)
    lengths = np.sqrt(row_squares(rows))
    rows /= np.where(lengths > 0, lengths, 1.0)[:, None]
    return np.round(rows, digits, out=rows)


def squared_differences_to(Q: NDArray, P: NDArray, near: NDArray) -> NDArray:
    """‖q − p‖² by differences, for every row q of Q and its own rows p of P, given by their indices (m, k)."""
    between = P.take(near, axis=0)  # faster than P[near]
    between -= Q[:, None]
    return np.vecdot(between, between)


class Screen:
    """‖p‖² − 2qᵀp, which orders the rows p by their distance from q, in float32 or float64."""

    def __init__(self, P: NDArray, dtype: Any) -> None:
        self.dtype = dtype
        self.columns = np.empty((P.shape[1] + 1, len(P)), dtype=dtype)
        self.columns[:-1], self.columns[-1] = P.T, row_squares(P)

    def products(self, Q: NDArray) -> NDArray:
        """A tile: one row for each row of Q."""
        left = np.ones((len(Q), len(self.columns)), dtype=self.dtype)
        np.multiply(Q, -2, out=left[:, :-1], casting="same_kind")
        return left @ self.columns

    def own_at_least(self, Q: NDArray, radius: NDArray) -> NDArray:
        """What to add to an entry to get at most ‖q − p‖², for every p within the radius of q.

        A sum of d + 1 products of rounded numbers is off by at most (d + 8)u(2‖q‖‖p‖ + ‖p‖²) ≤ (d + 8)u(‖q‖ + ‖p‖)²,
        and ‖p‖ ≤ ‖q‖ + radius. ‖p‖², ‖q‖² and the square of the radius were summed in float64.
        """
        squares, d = row_squares(Q), Q.shape[1] + 8
        units = np.finfo(self.dtype).eps / 2 + np.finfo(float).eps
        rounding = d * units * (2 * np.sqrt(squares) + radius) ** 2
        return squares - rounding - d * float(np.finfo(self.dtype).tiny)


def candidates(D: NDArray, k: int) -> tuple[NDArray, NDArray, NDArray]:
    """Columns among which the k smallest entries of every row are, a mask, and a bound below all other entries.

    Columns are grouped, and at least k entries are within the k-th smallest of the minima of the groups. Few more
    entries are, so that two sweeps find them all. Rows with many equal entries get the k smallest alone.
    """
    n_rows, n = D.shape
    reach = np.partition(_minima(D, k), k - 1, axis=1)[:, k - 1]
    row, column = np.divmod(np.flatnonzero(reach[:, None] >= D), n)
    counts = np.bincount(row, minlength=n_rows)
    width = int(min(counts.max(), k + _SPARE))
    place = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    first = place < width
    near = np.zeros((n_rows, width), dtype=np.intp)
    near[row[first], place[first]] = column[first]
    crowded = np.flatnonzero(counts > k + _SPARE)
    if len(crowded):
        some = D[crowded]
        near[crowded, :k] = kept = smallest(some, k)
        reach[crowded], counts[crowded] = np.take_along_axis(some, kept, 1).max(axis=1), k
    return near, np.arange(width) < counts[:, None], reach


def smallest(D: NDArray, k: int) -> NDArray:
    """Columns of the k smallest entries of every row, in no order.

    Each is in one of the k groups whose minima are smallest, or in none if it is left over.
    """
    n_rows, n = D.shape
    m = n // _GROUP
    if m < 2 * k:
        return np.argpartition(D, min(k, n) - 1, axis=1)[:, :k]
    groups = np.argpartition(_minima(D, k), k - 1, axis=1)[:, :k]
    left_over = np.broadcast_to(np.arange(m * _GROUP, n), (n_rows, n - m * _GROUP))
    columns = np.concatenate([(groups[:, :, None] + m * np.arange(_GROUP)).reshape(n_rows, -1), left_over], axis=1)
    some = np.argpartition(np.take_along_axis(D, columns, 1), k - 1, axis=1)[:, :k]
    return np.take_along_axis(columns, some, 1)


def _minima(D: NDArray, k: int) -> NDArray:
    """The smallest entry of every group of columns; all entries if there are few groups."""
    m = D.shape[1] // _GROUP
    return D if m < 2 * k else D[:, : m * _GROUP].reshape(len(D), _GROUP, m).min(axis=1)


def kernel_squares(products: NDArray, own_rows: NDArray, own_columns: NDArray) -> NDArray:
    """‖φ(x) − φ(y)‖² = k(x, x) + k(y, y) − 2k(x, y), in place of k(x, y); what is rounding of equal samples is 0."""
    products *= -2.0
    products += own_rows[:, None]
    products += own_columns
    eps = 16 * np.finfo(float).eps
    sizes = np.abs(own_columns)
    if products.min(initial=np.inf) < eps * max(float(sizes.max(initial=0.0)), TINY):
        products[products < eps * (np.abs(own_rows)[:, None] + sizes)] = 0.0
    return products
