"""What rounding can do: the constants and the two rules that every bound is made of.

docs/design/rounding.md derives each use. A sum of m products, in any order, is known to γ_m of the sum of their moduli
(Higham, Accuracy and Stability of Numerical Algorithms, §3.1); whoever sums knows m, so whoever sums says it.
"""

from typing import Any

import numpy as np

__all__ = ["SUM_ROUNDINGS", "TINY", "UNIT", "UNIT_SINGLE", "frobenius", "gamma", "lengths"]

UNIT = 2.0**-53  # u: a result of float64 arithmetic is off by no more than this share of itself
UNIT_SINGLE = 2.0**-24
SUM_ROUNDINGS = 64  # of numpy's pairwise sums over any number of terms, with what is done to the terms before
TINY = float(np.finfo(float).tiny)


def gamma(terms: float, unit: float = UNIT) -> float:
    """γ_m = mu/(1 − mu): how far a chain of m roundings can be off, relative to the moduli it went through."""
    return terms * unit / (1 - terms * unit) if terms * unit < 0.5 else np.inf


def lengths(V: Any) -> Any:
    """‖v‖ of every column, also where squares of its entries are no numbers: peak·‖v/peak‖."""
    peaks = np.abs(V).max(axis=0, initial=0.0)
    safe = np.where((peaks > 0) & np.isfinite(peaks), peaks, 1.0)
    return safe * np.linalg.norm(V / safe, axis=0)


def frobenius(V: Any) -> float:
    """‖V‖_F of a whole array, by the same rule."""
    flat = np.asarray(V).reshape(-1)
    peak = float(np.abs(flat).max(initial=0.0))
    return float(lengths(flat[:, None])[0]) if peak and np.isfinite(peak) else peak
