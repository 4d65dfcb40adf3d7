"""What rules look at, a scree of variances, and what they say, an opinion."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mercer_old.arrays import Array
from mercer_old.errors import counted

__all__ = ["Opinion", "Scree", "exceeding", "explains_all", "silent", "unknown"]

_WHOLE = 1e-6  # of a row: how far sums of weights may be off a whole number by rounding
_ALL_OF_IT = 1 - 1e-9  # of the total: what is left is rounding
_TIE = 1e-10  # of a limit: what exceeds it by less is equal
_NOTHING = 1e-13  # of the largest variance: what is smaller is rounding


@dataclass(frozen=True, eq=False)
class Scree:
    """Variances λ₁ ≥ λ₂ ≥ …, as far as they are known, and what else is known of the rows they come from.

    The unit does not matter, nor what squares were divided by: rules compare variances with each other.
    """

    values: Array
    total: float  # of all variances, known or not
    weight: float  # Σw: how many rows there are, one of weight two counting twice
    width: int  # columns, or features of a kernel: no more variances than these can be there
    columns: Array | None = None  # the variance of each column
    axes: Array | None = None  # k×d: the direction of each variance
    whole: bool = True  # whether all variances are known
    by_kernel: bool = False
    floor: float | None = None  # variances up to this are rounding; None: those below 1e-13 of the largest

    @property
    def freedom(self) -> float:
        """m = Σw − 1: degrees of freedom, as the mean is taken from the rows."""
        return self.weight - 1

    @property
    def varying(self) -> int:
        """d: the columns that vary, where that is known; those that do not change nothing."""
        return self.width if self.columns is None else int(np.sum(self.columns > _NOTHING**2 * self.columns.max()))

    @property
    def most(self) -> int:
        """How many variances there can be."""
        return max(0, min(int(self.freedom + _WHOLE), self.varying))

    @cached_property
    def positive(self) -> Array:
        """The variances that are more than rounding."""
        floor = _NOTHING * float(self.values.max(initial=0.0)) if self.floor is None else self.floor
        return self.values[self.values > floor]

    @property
    def filled(self) -> Array:
        """All that there can be, with zeros for those that are missing."""
        return np.append(self.positive, np.zeros(max(0, self.most - len(self.positive))))[: self.most]


@dataclass(frozen=True, eq=False)
class Opinion:
    """What one rule says: how many components, or why it says nothing."""

    rule: str
    k: int | None
    why: str
    at_least: bool = False  # whether the known variances end before the rule does
    limits: Array | None = None  # what each variance has to exceed, where the rule compares
    p_values: Array | None = None  # how often noise is as large, where the rule tests

    @property
    def answer(self) -> str:
        """The number for people: "4", "at least 10" or "–"."""
        return "–" if self.k is None else f"at least {self.k}" if self.at_least else str(self.k)


def explains_all(values: Array, total: float) -> bool:
    """Whether these variances are all there are, but for rounding."""
    return bool(values.sum() >= _ALL_OF_IT * total)


def silent(rule: str, why: str) -> Opinion:
    """A rule that says nothing, and why."""
    return Opinion(rule, None, why)


def exceeding(rule: str, scree: Scree, limits: Array, about: str) -> Opinion:
    """So many variances as exceed their limits, one after the other; what equals its limit, to rounding, does not."""
    known = scree.positive[: len(limits)]
    below = np.flatnonzero(~(known > (1 + _TIE) * limits[: len(known)]))
    k = int(below[0]) if len(below) else len(known)
    ends = not len(below) and not scree.whole
    why = _around(known, limits, k, about)
    return Opinion(rule, k, f"{why}; {unknown(scree)}" if ends else why, ends, limits)


def unknown(scree: Scree) -> str:
    """That there is more than is known."""
    return f"{len(scree.values):,} of {counted(scree.most, 'variance')} were fitted"


def _around(values: Array, limits: Array, k: int, about: str) -> str:
    """The last variance that is kept and the first that is not, as multiples of their limits."""
    near = [i for i in (k - 1, k) if 0 <= i < min(len(values), len(limits)) and limits[i] > 0]
    if not near:
        return f"all that vary exceed {about}"
    first, *others = (f"{values[i] / limits[i]:.3g} times" for i in near)
    return ", ".join([f"λ{near[0] + 1} is {first} {about}", *(f"λ{near[0] + 2} {other}" for other in others)])
