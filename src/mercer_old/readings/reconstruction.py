"""What is left of rows if the first components are kept: the error against how many."""

import numpy as np

from mercer_old.arrays import Array

__all__ = ["errors_by_count"]


def errors_by_count(scores: Array, residuals: Array) -> Array:
    """Mean of ‖x − x̂ₖ‖² for k = 0 … K, from scores tᵢⱼ and what all K leave, Qᵢ: mean(Qᵢ + Σⱼ₌ₖ₊₁ tᵢⱼ²).

    Nothing cancels in it, as squares are added from the last component on.

    >>> errors_by_count(np.array([[3.0, 1.0], [-3.0, 1.0]]), np.array([0.5, 0.5])).tolist()
    [10.5, 1.5, 0.5]
    """
    squares = np.append(np.mean(scores**2, axis=0), np.mean(residuals))
    return np.cumsum(squares[::-1])[::-1]
