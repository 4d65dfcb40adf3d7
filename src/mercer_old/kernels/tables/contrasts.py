"""Categories as few numbers: a basis of what can be said of them, with as many entries as a tree is deep."""

from functools import lru_cache
from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["contrasts", "pairwise_chain"]

_PIECE = 18  # roundings of a sum of 128 numbers, which numpy adds in eight lanes


@lru_cache(maxsize=256)  # asked for by every block of rows
def contrasts(counts: tuple[float, ...]) -> Any:
    """H (m×(m−1), CSR, and a row of zeros below) with h(a)ᵀh(b) = δ_ab/p_a − 1, p = counts/total.

    Every inner node of a balanced tree over the categories is a column: a number for all categories on its left, one of
    the other sign for those on its right, and zero elsewhere. Weighted by p, columns have mean 0, variance 1, and are
    uncorrelated; with the constant they are a basis, so that Σ h(a)h(b) = δ_ab/p_a − 1. A category has ⌈log₂ m⌉
    entries, where its indicator, centred, has m. Counts are positive, so nothing cancels.
    """
    each = np.array(counts, dtype=np.float64)
    total, columns = float(each.sum()), []
    waiting = [(0, len(counts))]
    while waiting:
        first, last = waiting.pop()
        if last - first < 2:
            continue
        middle = (first + last) // 2
        left, right = each[first:middle].sum(), each[middle:last].sum()
        values = np.empty(last - first)
        values[: middle - first] = np.sqrt(total * right / (left * (left + right)))
        values[middle - first :] = -np.sqrt(total * left / (right * (left + right)))
        columns.append((first, values))
        waiting += [(middle, last), (first, middle)]
    if not columns:
        return sparse.csr_array((len(counts) + 1, 1))
    lengths = [len(values) for _, values in columns]
    rows = np.concatenate([np.arange(first, first + len(values)) for first, values in columns])
    data = np.concatenate([values for _, values in columns])
    numbers = np.repeat(np.arange(len(columns)), lengths)
    return sparse.csr_array((data, (rows, numbers)), shape=(len(counts) + 1, len(columns)))


def pairwise_chain(m: int) -> int:
    """Roundings behind a sum of m positive numbers by numpy: in pieces, which are added two by two."""
    return min(m, _PIECE + m.bit_length())
