"""Sums in short chains, and sums that keep what rounding takes from them.

An entry of a product over m rows is known to γ_m of the moduli, in whatever order BLAS adds them up. So products are
taken over few rows at a time, and added up: γ_m becomes γ of `chain(m)`. Sums of many such products (blocks, lanes,
batches) keep the remainder of every addition (Knuth's TwoSum): they are known to u, however many there are.
docs/design/rounding.md has the derivation.
"""

from math import prod
from threading import local
from typing import Any

import numpy as np

from mercer_old.arrays import Array, weight_of
from mercer_old.blas import add_products, add_squares
from mercer_old.blocks import steps

__all__ = [
    "LESS_SHORT",
    "LONG",
    "SHORT",
    "RunningSum",
    "chain",
    "column_squares",
    "cross",
    "inner",
    "product",
    "row_squares",
    "sum_chain",
    "two_sum",
    "weighted_sum",
]

SHORT = 64  # terms of a product that BLAS may add up as it likes …
LESS_SHORT = 256  # … and where it would lose time with so few
_TERMS_AT_ONCE = 16  # terms of a sum that are added up at once
LONG = 2048  # terms of which the products over SHORT are added up one after the other; beyond, two by two
_STRIP = 4096  # entries of a sum that are added to at once: what is made on the way stays in the nearest cache
_of_thread = local()
_TOGETHER = 60_000  # entries of products that are held side by side: BLAS is called once for all of them


def chain(terms: int, short: int = SHORT) -> int:
    """The most additions behind an entry of a sum or product over so many terms, as they are taken here."""
    some = min(terms, LONG)
    return min(some, short) + -(-some // short) + _halvings(terms)


def _halvings(terms: int) -> int:
    return max(-(-terms // LONG) - 1, 0).bit_length()


def _half(terms: int) -> int:
    """Where to cut more than LONG terms in two."""
    return LONG << (_halvings(terms) - 1)


def product(A: Any, B: Any, out: Array | None = None, short: int = SHORT) -> Array:
    """A B of dense arrays in short chains."""
    terms = A.shape[1]
    if terms > LONG:
        half = _half(terms)
        out = product(A[:, :half], B[:half], out, short)
        out += product(A[:, half:], B[half:], None, short)
        return out
    if terms <= short:
        return np.asarray(np.matmul(A, B, out=out))
    count = terms // short
    if count * A.shape[0] * B.shape[1] <= _TOGETHER:
        return _side_by_side(A, B, short, out)
    out = np.matmul(A[:, :short], B[:short], out=out)
    part = np.empty_like(out)
    for first in range(short, terms, short):
        out += np.matmul(A[:, first : first + short], B[first : first + short], out=part)
    return np.asarray(out)


def _side_by_side(A: Any, B: Any, short: int, out: Array | None = None) -> Array:
    """A B of up to LONG terms: all products of short chains in one call, and their sum."""
    count = A.shape[1] // short
    whole = count * short
    left = A[:, :whole].reshape(A.shape[0], count, short).transpose(1, 0, 2)
    parts = _at_hand((count, A.shape[0], B.shape[1]), np.result_type(A, B))
    total = np.matmul(left, B[:whole].reshape(count, short, B.shape[1]), out=parts).sum(axis=0, out=out)
    total += A[:, whole:] @ B[whole:]
    return np.asarray(total)


def _at_hand(shape: tuple[int, ...], dtype: Any) -> Array:
    """Room of this thread's own, which lasts until it is asked for again.

    Workers of a cluster give memory back as soon as it is free, and to be given it anew takes as long as the product.
    """
    needed = prod(shape) * np.dtype(dtype).itemsize
    room = getattr(_of_thread, "room", None)
    if room is None or room.size < needed:
        room = _of_thread.room = np.empty(needed, dtype=np.uint8)
    return np.asarray(room[:needed].view(dtype).reshape(shape))


def inner(A: Array, B: Array) -> Array:
    """AᵀB of two tall arrays in short chains; of AᵀA, what is on and above the diagonal.

    BLAS adds to what is there, so that no part is written and read again.
    """
    if len(A) > LONG:
        half = _half(len(A))
        upper, lower = A[:half], A[half:]
        out = inner(upper, upper if A is B else B[:half])
        out += inner(lower, lower if A is B else B[half:])
        return out
    if len(A) // SHORT * A.shape[1] * B.shape[1] <= 5 * _TOGETHER:  # where calls cost more than sums do
        return _side_by_side(A.T, B, SHORT)
    out = np.zeros((A.shape[1], B.shape[1]), dtype=A.dtype)
    if A is B:
        add_squares(out, A, SHORT)
    else:
        add_products(out, A, B, SHORT)
    return out


def weighted_sum(weights: Array, rows: Array) -> Array:
    """Σ w·row: few at a time, then two by two."""
    count = len(rows) // _TERMS_AT_ONCE
    whole = count * _TERMS_AT_ONCE
    parts = (
        weights[:whole].reshape(count, 1, _TERMS_AT_ONCE) @ rows[:whole].reshape(count, _TERMS_AT_ONCE, rows.shape[1])
    )[:, 0]
    while len(parts) > 1:
        half, odd = len(parts) // 2, parts[len(parts) - len(parts) % 2 :]
        parts = np.concatenate([parts[:half] + parts[half : 2 * half], odd])
    rest = weights[whole:] @ rows[whole:]
    return np.asarray(parts[0] + rest if count else rest)


def sum_chain(terms: int) -> int:
    """The most additions behind such a sum."""
    return _TERMS_AT_ONCE + (terms // _TERMS_AT_ONCE).bit_length() + 1


def row_squares(X: Array, short: int = LESS_SHORT) -> Array:
    """Σx² of every row in short chains, however the array lies in memory."""
    if X.shape[1] > LONG:
        half = _half(X.shape[1])
        return np.asarray(row_squares(X[:, :half], short) + row_squares(X[:, half:], short))
    out = np.zeros(len(X), dtype=X.dtype)
    for first in range(0, X.shape[1], short):
        some = X[:, first : first + short]
        out += np.einsum("ij,ij->i", some, some)
    return out


def column_squares(Y: Array) -> Array:
    """Σy² of every column in short chains."""
    if len(Y) > LONG:
        return column_squares(Y[: _half(len(Y))]) + column_squares(Y[_half(len(Y)) :])
    whole = len(Y) // SHORT * SHORT
    parts = Y[:whole].reshape(-1, SHORT, Y.shape[1])
    squares = np.einsum("pij,pij->pj", parts, parts).sum(axis=0) if whole else 0.0
    return squares + np.einsum("ij,ij->j", Y[whole:], Y[whole:])


def two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """a + b as it is rounded, and what that took away: exactly (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


class RunningSum:
    """A sum of arrays of one shape that is known to u, however many there were: high + low."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.high, self.low = np.zeros(shape), np.zeros(shape)

    def __sizeof__(self) -> int:
        return weight_of(self)

    def add(self, part: Any, where: Any = ...) -> None:
        high, low = self.high[where], self.low[where]
        part = np.broadcast_to(part, high.shape)
        if not np.may_share_memory(high, self.high):  # entries by their numbers, which were copied
            self.high[where], rest = two_sum(high, part)
            self.low[where] += rest
            return
        for some in steps(len(high), max(1, _STRIP * len(high) // max(1, high.size))):
            high[some], rest = two_sum(high[some], part[some])
            low[some] += rest

    def add_sum(self, other: "RunningSum", where: Any = ...) -> None:
        self.add(other.high[where], where)
        self.low[where] += other.low[where]

    def scale(self, factor: float) -> None:
        self.high *= factor
        self.low *= factor

    def settle(self, where: Any = ...) -> Array:
        """The sum, rounded once, in the array that goes on accumulating."""
        self.high[where], self.low[where] = two_sum(self.high[where], self.low[where])
        return self.high


def cross(a: Array, b: Array) -> Array:
    """e with aᵢbⱼ + aⱼbᵢ ≤ √(eᵢeⱼ) for all i and j, and as small a sum as can be: 2‖a‖‖b‖.

    By Cauchy and Schwarz for (a√t, b/√t) and (b/√t, a√t); t makes both as long.
    """
    long, wide = float(np.sqrt(a @ a)), float(np.sqrt(b @ b))
    if not long or not wide:
        return np.zeros(len(a))
    return a**2 * (wide / long) + b**2 * (long / wide)
