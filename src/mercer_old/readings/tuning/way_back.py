"""A quick way back from scores to rows: ridge regression on features of the scores, its penalty by leave-one-out."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack, solve_triangular

from mercer_old.arrays import Array
from mercer_old.squares import differences

__all__ = ["MOST_CENTRES", "Curved", "Ridge", "leave_one_out_ridge"]

PENALTIES = 10.0 ** np.arange(-8, 1)  # times the largest squared singular value of the features
MOST_CENTRES = 60  # scores that the curved part of the way back is drawn from
_NARROW = 2.0  # times 1/median squared distance of scores: how fast the way back can bend


@dataclass(frozen=True)
class Curved:
    """Features of scores y: y itself, in the unit of its spread, and L⁻¹k(C, y) of a Gaussian kernel around centres C.

    A straight way back is PCA's, and no kernel could be better than the linear one by it; this one can bend.
    """

    centres: Array
    unit: float
    gamma: float
    inverse: Array  # L⁻ᵀ

    @classmethod
    def around(cls, centres: Array) -> "Curved":
        squares = differences(centres, centres)
        some = squares[squares > 0]
        typical = float(np.median(some)) if len(some) else 1.0
        K = np.exp(-_NARROW / typical * squares)
        L, order, rank, _ = lapack.dpstrf(K, tol=1e-10, lower=1)
        kept = order[:rank] - 1
        inverse = solve_triangular(np.tril(L[:rank, :rank]), np.eye(rank), lower=True).T
        return cls(centres[kept], float(np.sqrt(typical)), _NARROW / typical, inverse)

    def __call__(self, scores: Array) -> Array:
        near = np.exp(-self.gamma * differences(scores, self.centres))
        return np.concatenate([scores / self.unit, near @ self.inverse], axis=1)


@dataclass(frozen=True)
class Ridge:
    """X̂ = mean + (F − means)·B with B = V(S² + λ)⁻¹SUᵀX of the centred features F = USVᵀ; the mean has no penalty."""

    means: Array
    mean: Array
    coefficients: Array
    penalty: float
    left_out: float  # Σ of the squared errors of every row by all others

    def __call__(self, features: Array) -> Array:
        return np.asarray(self.mean + (features - self.means) @ self.coefficients)


def leave_one_out_ridge(F: Array, X: Array, penalties: Array = PENALTIES) -> Ridge:
    """The ridge regression of X on F whose penalty has the least error on rows left out one at a time.

    That error is eᵢ/(1 − hᵢ) without fitting anew: eᵢ the residual of all rows together, hᵢ = 1/n + Σⱼ uᵢⱼ²gⱼ the
    leverage with gⱼ = sⱼ²/(sⱼ² + λ). Its squares cost no more for many columns of X than for one: with T = X − mean and
    C = UᵀT, ‖eᵢ‖² = ‖tᵢ‖² − 2Σⱼ uᵢⱼgⱼ(TCᵀ)ᵢⱼ + (gu)ᵢᵀCCᵀ(gu)ᵢ.
    """
    n, means, mean = len(F), F.mean(axis=0), X.mean(axis=0)
    U, s, Vt = np.linalg.svd(F - means, full_matrices=False)
    T = X - mean
    C = U.T @ T
    G, TC, own = C @ C.T, T @ C.T, np.einsum("ij,ij->i", T, T)
    best, left_out = 0.0, np.inf
    for penalty in penalties * max(float(s[:1].sum()) ** 2, np.finfo(float).tiny):
        Ug = U * (s**2 / (s**2 + penalty))
        squares = own - 2 * np.einsum("ij,ij->i", Ug, TC) + np.einsum("ij,ij->i", Ug @ G, Ug)
        room = np.maximum(1 - 1 / n - np.einsum("ij,ij->i", Ug, U), 1e-8)
        error = float(np.sum(np.maximum(squares, 0.0) / room**2))
        if error < left_out:
            best, left_out = float(penalty), error
    return Ridge(means, mean, Vt.T @ ((s / (s**2 + best))[:, None] * C), best, left_out)
