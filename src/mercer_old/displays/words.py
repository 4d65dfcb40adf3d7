"""Words of a picture that come from data: nothing in them is obeyed, and none is endless."""

import textwrap
from collections.abc import Iterable
from typing import Any

import numpy as np

from mercer_old.arrays import Array
from mercer_old.errors import counted, shortened
from mercer_old.terminal import plain

__all__ = ["LONGEST", "about_names", "axis_label", "component_name", "part_of_hundred", "percent", "safe", "wrapped"]

LONGEST = 28  # letters of a name that are shown


def safe(text: object, most: int = LONGEST) -> str:
    """A name as matplotlib draws it letter by letter: dollars begin no formula, control characters are written out."""
    return shortened(plain(text), most).replace("$", r"\$")


def percent(share: float) -> str:
    """43.2 %, 0.52 %; nothing if it is not known."""
    return "" if not np.isfinite(share) else f"{100 * share:.1f} %" if share >= 0.01 else f"{100 * share:.2g} %"


def part_of_hundred(chance: float) -> str:
    """A probability that was asked for, with all its digits: 95 %, 99.9 %."""
    return f"{100 * chance:.10g} %"


def component_name(prefix: str, number: int) -> str:
    """As people count: PC1 is the first."""
    return f"{prefix}{number + 1}"


def axis_label(prefix: str, number: int, shares: Array | None) -> str:
    """With the share of the variance where there is one: PC1 (43.2 %)."""
    share = "" if shares is None else percent(float(shares[number]))
    return component_name(prefix, number) + (f" ({share})" if share else "")


def wrapped(sentences: Iterable[Any], letters: int) -> str:
    """Sentences below each other, each in lines of so many letters at most."""
    return "\n".join(textwrap.fill(str(sentence), max(letters, 20)) for sentence in sentences if sentence)


def about_names(left: int, total: int) -> str:
    """How many names found no room."""
    return f"{counted(left, 'name')} of {total:,} found no room." if left else ""
