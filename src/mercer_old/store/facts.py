"""What a stored fact may be: kinds and shapes, of which every letter is the same number throughout a model."""

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite, isnan
from typing import Any

import numpy as np
from scipy import sparse

from mercer_old.errors import in_short, joined
from mercer_old.kernels.base import Kernel
from mercer_old.store.reasons import Unusable

__all__ = [
    "Fact",
    "Sizes",
    "count",
    "flag",
    "integers",
    "items",
    "kernel",
    "number",
    "numbers",
    "scales",
    "truths",
    "word",
]

Sizes = dict[str, int]  # k, n, d, … as they have come up
_MOST = 2**63  # what numpy takes for a whole number
_Check = Callable[[Any, Sizes], str]  # what is wrong with a value; nothing if nothing is


@dataclass(frozen=True)
class Fact:
    """A named value of a model file."""

    name: str
    check: _Check
    optional: bool = False

    def checked(self, value: Any, sizes: Sizes) -> Any:
        """The value, or one sentence."""
        if value is None and self.optional:
            return None
        wrong = "is missing" if value is None else self.check(value, sizes)
        if wrong:
            raise Unusable(f"{self.name} {wrong}")
        return value


def _shape(value: Any, letters: str, sizes: Sizes) -> str:
    """Whether a shape is as it is elsewhere; letters that come up for the first time are learned."""
    names = letters.split()
    if len(value.shape) != len(names):
        return f"has the shape {value.shape}, and {joined(names)} are expected"
    for letter, size in zip(names, value.shape, strict=True):
        if sizes.setdefault(letter, int(size)) != size:
            return f"has the shape {tuple(value.shape)}, and {letter} is {sizes[letter]:,} elsewhere"
    return ""


def _array(kinds: str, letters: str, below: str = "") -> _Check:
    def check(value: Any, sizes: Sizes) -> str:
        if not isinstance(value, np.ndarray) or value.dtype.kind not in kinds or value.dtype == np.float16:
            return "is no array of numbers of the right kind"
        wrong = _shape(value, letters, sizes)
        most = sizes.get(below, 0)
        if not wrong and below and value.size and not 0 <= int(value.min()) <= int(value.max()) < most:
            return f"is beyond the {most:,} there are"
        return wrong

    return check


def _not_finite(values: Any) -> str:
    """What is wrong with numbers that are none. A sum is one glance without a copy; it may overflow itself."""
    with np.errstate(all="ignore"):
        there = np.isfinite(values.sum()) or bool(np.isfinite(values).all())
    return "" if there else "has numbers that are not finite"


def numbers(name: str, letters: str, optional: bool = False, finite: bool = True) -> Fact:
    """An array of float32 or float64."""
    shaped = _array("f", letters)

    def check(value: Any, sizes: Sizes) -> str:
        return shaped(value, sizes) or (_not_finite(value) if finite else "")

    return Fact(name, check, optional)


def scales(name: str, letters: str, optional: bool = False) -> Fact:
    """Numbers to divide by."""
    finite = numbers(name, letters).check

    def check(value: Any, sizes: Sizes) -> str:
        return finite(value, sizes) or ("" if (value > 0).all() else "has numbers that cannot be divided by")

    return Fact(name, check, optional)


def integers(name: str, letters: str, optional: bool = False, below: str = "") -> Fact:
    """An array of whole numbers, from 0 to below the size that a letter stands for."""
    return Fact(name, _array("iu", letters, below), optional)


def truths(name: str, letters: str, optional: bool = False) -> Fact:
    return Fact(name, _array("b", letters), optional)


def count(name: str, letter: str = "", optional: bool = False) -> Fact:
    """A whole number, which a letter may stand for."""

    def check(value: Any, sizes: Sizes) -> str:
        if type(value) is not int or not 0 <= value < _MOST:
            return f"is {in_short(value)} and no count"
        known = sizes.setdefault(letter, value) if letter else value
        return "" if known == value else f"is {value:,}, and {known:,} elsewhere"

    return Fact(name, check, optional)


def number(name: str, optional: bool = False, finite: bool = True) -> Fact:
    """A number of moderate size; without an end, only where that is said."""

    def check(value: Any, sizes: Sizes) -> str:
        moderate = (type(value) is int and abs(value) < _MOST) or (type(value) is float and not isnan(value))
        there = moderate and (not finite or isfinite(value))
        return "" if there else f"is {in_short(value)} and no number that it could be"

    return Fact(name, check, optional)


def flag(name: str, optional: bool = False) -> Fact:
    def check(value: Any, sizes: Sizes) -> str:
        return "" if type(value) is bool else f"is {in_short(value)} and neither true nor false"

    return Fact(name, check, optional)


def word(name: str, *options: str, optional: bool = False) -> Fact:
    """A text; one of some, if they are given."""

    def check(value: Any, sizes: Sizes) -> str:
        known = isinstance(value, str) and (not options or value in options)
        return "" if known else f"is {in_short(value)}"

    return Fact(name, check, optional)


def kernel(name: str, optional: bool = False) -> Fact:
    def check(value: Any, sizes: Sizes) -> str:
        return "" if isinstance(value, Kernel) else f"is {in_short(value)} and no kernel"

    return Fact(name, check, optional)


def items(name: str, many: str, wide: str, optional: bool = False) -> Fact:
    """Rows of numbers, dense or sparse, of so many columns; or texts, series or rows of a table."""
    dense = _array("biuf", f"{many} {wide}")

    def check(value: Any, sizes: Sizes) -> str:
        if sparse.issparse(value):
            return _shape(value, f"{many} {wide}", sizes) or _not_finite(value.data)
        if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
            return dense(value, sizes) or _not_finite(value)
        shape = getattr(value, "shape", None)
        return _shape(value, many, sizes) if shape is not None and len(shape) == 1 else "holds no items"

    return Fact(name, check, optional)
