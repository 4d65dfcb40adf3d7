"""Factors turned so that each column loads on few of them: the likelihood does not change, the reading does."""

import numpy as np

from mercer_old.arrays import Array

_MOST, _GAIN = 500, 1e-10  # iterations, and the relative gain below which they end


def rotated(W: Array, method: str) -> Array:
    """QᵀW (k×d) for the orthogonal Q that makes a sum over its entries largest (Kaiser 1958).

    "quartimax": Σ l⁴; "varimax": Σᵢ [Σⱼ lᵢⱼ⁴ − (Σⱼ lᵢⱼ²)²/d], how unequal the squares within each factor are. Each step
    takes the Q nearest to the gradient, by its singular vectors.
    """
    L, gamma = W.T, 1.0 if method == "varimax" else 0.0
    if min(L.shape) < 2:
        return W
    Q, before = np.eye(L.shape[1]), 0.0
    for _ in range(_MOST):
        turned = L @ Q
        squares = (turned**2).sum(axis=0)
        left, strengths, right = np.linalg.svd(L.T @ (turned**3 - gamma / len(L) * turned * squares))
        Q = left @ right
        if strengths.sum() <= before * (1 + _GAIN):
            break
        before = float(strengths.sum())
    return np.ascontiguousarray((L @ Q).T)
