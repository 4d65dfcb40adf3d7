"""How many components a share of the variance takes, foretold from samples of the rows.

Of m rows, k(m) components explain the share. k grows with m like m^a, and the power a falls by about the same ratio q
with every doubling of m: k is bounded by what all rows there could be would take. k(m/4), k(m/2) and k(m) tell a and q.
"""

from dataclasses import dataclass
from math import ceil, log2
from numbers import Integral

import numpy as np

from mercer_old.arrays import Array
from mercer_old.errors import counted

# From 36 spectra (digits, blobs, rolls, noise; shares of 0.5, 0.9 and 0.99), three samples of each: with 512 rows all
# true numbers lay within this range, with 128 and 256 rows all but one in thirty.
_FASTER, _SLOWER = 4.0, 0.5  # powers of q: how much faster, or more slowly, the growth may end than it seems to
_LEAST, _MOST = 0.3, 0.9  # a q below the first, or above the second, is not believed
_NOISE = 0.07  # of k: what one sample differs from another

FIRST_GUESS = 10  # components to begin with when a share of the variance is asked for


def number_to_plan_for(asked: int | float | str | None) -> int | None:
    """Components: as many as were asked for, a first guess for a share of the variance, None for all of them."""
    return (
        int(asked) if isinstance(asked, Integral) else None if asked is None or isinstance(asked, str) else FIRST_GUESS
    )


@dataclass(frozen=True)
class Share:
    """A share of the variance, with the number of components that it is expected to take."""

    share: float
    low: int
    likely: int
    high: int
    rows: int = 0  # of the sample that foretells it; 0: nobody knows

    def __str__(self) -> str:
        if not self.rows:
            return f"How many of {self.high:,} components {self.share:g} of the variance takes is not known beforehand"
        exact = f"about {counted(self.low, 'component')}"
        some = exact if self.low == self.high else f"{self.low:,} to {counted(self.high, 'component')}"
        return f"{self.share:g} of the variance takes {some}, by samples of up to {counted(self.rows, 'row')}"


def components_explaining(matrix: Array, share: float) -> float:
    """How many of the largest eigenvalues of a small matrix explain this share of its centred trace; between two
    numbers, in proportion. Of a matrix whose eigenvalues would be no numbers, shares are those of a smaller one."""
    matrix = np.ldexp(matrix, -int(np.frexp(np.abs(matrix).max(initial=0.0))[1]))  # by a power of two, which is exact
    A = matrix - matrix.mean(axis=0)
    A -= A.mean(axis=1)[:, None]
    values = np.maximum(np.linalg.eigvalsh((A + A.T) / 2)[::-1], 0.0)
    total = float(np.trace(A))
    if not total > 0:
        return 1.0
    reached = np.append(0.0, np.cumsum(values) / total)
    return max(1.0, float(np.interp(share, reached, np.arange(len(reached)))))


def foretell_share(share: float, counts: tuple[float, float, float], m: int, n: int, most: int) -> Share:
    """Of n rows with no more than `most` components, from what m/4, m/2 and m of them take."""
    quarter, half, whole = counts
    before, now = _power(quarter, half), _power(half, whole)
    q = min(now / before, 1.0) if before > 0 else 1.0
    doublings = log2(n / m)
    low, likely, high = (
        whole * 2 ** _grown(now, ratio, doublings) for ratio in (min(q, _MOST) ** _FASTER, q, max(q, _LEAST) ** _SLOWER)
    )
    least = min(max(int(low * (1 - _NOISE)) - 1, 1), most)
    return Share(
        share, least, min(max(ceil(likely), least), most), min(max(ceil(high * (1 + _NOISE)) + 1, least), most), m
    )


def _power(few: float, many: float) -> float:
    """a in k ∝ m^a, from one doubling of m."""
    return min(max(log2(many / few), 0.0), 1.0)


def _grown(power: float, ratio: float, doublings: float) -> float:
    """Powers of two that k gains in so many doublings of m, each with a power that is smaller than the last."""
    gained = 0.0
    while doublings > 0:
        power *= ratio
        gained += power * min(doublings, 1.0)
        doublings -= 1
    return gained
