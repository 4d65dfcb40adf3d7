"""Numbers by which kernels are compared: effective rank, alignment with labels, agreement of subspaces."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from mercer_old.arrays import Array

__all__ = ["agreement", "centred", "effective_rank", "kernel_target_alignment"]

_NOTHING = 1e-10  # of the largest singular value: directions below are rounding


def effective_rank(squared_norm: float) -> float:
    """(tr A)²/‖A‖_F² from ‖A/tr A‖_F²: 1 if one eigenvalue has it all, n if all are equal, 0 if there is none."""
    return 1 / squared_norm if squared_norm > 0 else 0.0


def centred(K: Array) -> Array:
    """JKJ in an array of its own."""
    means = K.mean(axis=0)
    return K - means - means[:, None] + means.mean()


def kernel_target_alignment(K: Array, Y: Array) -> float:
    """⟨A, TTᵀ⟩/(‖A‖_F ‖TTᵀ‖_F) with A = JKJ and T = JY: centred alignment (Cortes, Mohri and Rostamizadeh 2012).

    Between −1 and 1, and not below 0 for a Mercer kernel; 0 where either does not vary. Y (n×c) has a column for every
    class, or for every target.
    """
    A, T = centred(K), Y - Y.mean(axis=0)
    size = float(np.linalg.norm(A) * np.linalg.norm(T.T @ T))
    return float(np.sum(T * (A @ T))) / size if size > 0 else 0.0


def agreement(scores: Sequence[Array]) -> float:
    """How much the subspaces that columns of scores span have in common, from 0 to 1: the mean over pairs of cos².

    cos² of the principal angles are the squared singular values of QᵀR, for orthonormal bases Q and R; a direction that
    one has and the other lacks counts as 0.
    """
    bases = [_basis(each) for each in scores]
    most = [max(Q.shape[1], R.shape[1]) for Q, R in combinations(bases, 2)]
    common = [float(np.sum((Q.T @ R) ** 2)) for Q, R in combinations(bases, 2)]
    shared = [got / count if count else 1.0 for got, count in zip(common, most, strict=True)]
    return float(np.mean(shared)) if shared else 1.0


def _basis(columns: Array) -> Array:
    """An orthonormal basis of what they span around their mean."""
    U, sizes, _ = np.linalg.svd(columns - columns.mean(axis=0), full_matrices=False)
    return U[:, sizes > _NOTHING * max(float(sizes.max(initial=0.0)), np.finfo(float).tiny)]
