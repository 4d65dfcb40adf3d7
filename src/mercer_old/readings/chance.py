"""Where chance comes from, for readings that draw."""

from numbers import Integral
from typing import Any

import numpy as np

__all__ = ["generator_from"]


def generator_from(random_state: Any) -> np.random.Generator:
    """A generator from a whole number, a generator or scikit-learn's RandomState; None is a fixed seed: runs repeat."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    whole = isinstance(random_state, Integral) and not isinstance(random_state, bool)
    if random_state is not None and not (whole and random_state >= 0):
        raise ValueError(f"random_state has to be a whole number from 0 on, or a generator; got {random_state!r:.60}.")
    return np.random.default_rng(int(random_state or 0))
