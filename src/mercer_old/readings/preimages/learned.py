"""Maps from scores to rows that are learned from the rows of a fit: ridge regression, and conformal coordinates."""

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from mercer_old.arrays import Array
from mercer_old.kernels import RBF, Linear
from mercer_old.kernels.base import Kernel
from mercer_old.readings.preimage import apply_inverse, learn_inverse
from mercer_old.squares import differences

__all__ = ["Learned", "conformal_map", "learn_ridge", "leave_one_out", "spread_over", "turned"]

_LOOKED_AT, _LEARNED_FROM = 500, 3000  # rows from which a ridge is chosen, and a map learned, at most
_RIDGES = 10.0 ** np.arange(-8, 2)  # times the mean of k(y, y)
_WIDTHS = 0.03, 0.1, 0.3, 1.0, 3.0  # γ times the median squared distance of the scores


@dataclass(frozen=True, eq=False)
class Learned:
    """x̂ = mean + k(y − origin, scores) C."""

    kernel: Kernel
    scores: Array  # of the rows that it was learned from, less the origin
    origin: Array
    coefficients: Array
    mean: Array
    ridge: float

    def rows(self, Y: Array, threads: int = 1) -> Array:
        return apply_inverse(self.kernel, Y - self.origin, self.scores, self.coefficients, threads) + self.mean


def learn_ridge(
    scores: Array, X: Array, weights: Array | None = None, threads: int = 1, most: int = _LEARNED_FROM
) -> Learned:
    """Kernel ridge regression from scores to rows, with the kernel and the ridge that leave-one-out likes best.

    The kernel is one of scores, and has nothing to do with that of the fit: linear, or RBF of some widths. A ridge is
    noise over signal, so that one that was chosen from some rows does for all.
    """
    picked = spread_over(len(X), min(_LEARNED_FROM, most))
    scores, X = scores[picked], np.asarray(X[picked], dtype=np.float64)
    weights = None if weights is None else weights[picked]
    mean, origin = np.average(X, axis=0, weights=weights), np.average(scores, axis=0, weights=weights)
    scores = scores - origin
    few = spread_over(len(X), _LOOKED_AT)
    some_weights = None if weights is None else weights[few]
    kernel, ridge = _chosen(scores[few], X[few] - mean, some_weights)
    C = learn_inverse(kernel, scores, X - mean, ridge, weights, threads)
    return Learned(kernel, scores, origin, C, mean, ridge)


def _chosen(scores: Array, X: Array, weights: Array | None) -> tuple[Kernel, float]:
    best: tuple[float, Kernel, float] = (np.inf, Linear(), 1.0)
    X = turned(X)
    for kernel in _candidates(scores):
        K = kernel.block(scores, scores)
        unit = float(np.mean(np.diag(K)))
        if not unit > 0:
            continue
        errors = leave_one_out(K, X, unit * _RIDGES, weights)
        place = int(np.argmin(errors))
        if errors[place] < best[0]:
            best = errors[place], kernel, float(unit * _RIDGES[place])
    return best[1:]


def _candidates(scores: Array) -> list[Kernel]:
    apart = differences(scores, scores)[np.triu_indices(len(scores), 1)]
    apart = apart[apart > 0]
    if not len(apart):
        return [Linear()]
    median = float(np.median(apart))
    return [Linear(), *(RBF(gamma=width / median) for width in _WIDTHS)]


def spread_over(n: int, most: int) -> Array:
    """The numbers of so many of n rows, at most, from all over."""
    count = max(1, min(n, most))
    return np.arange(count) * n // count


def turned(X: Array) -> Array:
    """Rows with the same lengths and angles, in no more columns than there are rows: of errors, lengths alone count."""
    return X if len(X) >= X.shape[1] else linalg.qr(X.T, mode="r", check_finite=False)[0][: len(X)].T


def leave_one_out(K: Array, X: Array, ridges: Array, weights: Array | None = None) -> Array:
    """The mean of ‖xᵢ − x̂ᵢ‖² for every ridge, where x̂ᵢ is learned from all rows but the i-th: in closed form.

    With A = K + λW⁻¹ and C = A⁻¹X the error of row i is Cᵢ/(A⁻¹)ᵢᵢ; one eigendecomposition of W^½KW^½ does for all λ.
    """
    w = np.ones(len(X)) if weights is None else weights
    root = np.sqrt(w)
    values, U = linalg.eigh(root[:, None] * K * root, check_finite=False)
    values = np.maximum(values, 0.0)
    inner = U.T @ (root[:, None] * X)
    errors = np.empty(len(ridges))
    for i, ridge in enumerate(ridges):
        inverse = 1 / (values + ridge)
        C = root[:, None] * (U @ (inverse[:, None] * inner))
        e = C / (w * (U**2 @ inverse))[:, None]
        errors[i] = w @ np.einsum("ij,ij->i", e, e) / w.sum()
    return errors


def conformal_map(scores: Array, X: Array, weights: Array | None = None) -> tuple[Array, Array]:
    """B (k×d) and a row with x̂ = row + yB, by the coordinates in which scalar products are those of the rows.

    Honeine and Richard look for S with YSYᵀ ≈ XXᵀ, a ridge regression of scalar products: S = DDᵀ with D = (YᵀY +
    λI)⁻¹YᵀX. A point with the scores y should then have the scalar products YSy with the rows, and x̂ is the point
    that does, by least squares: (XᵀX + μI)⁻¹XᵀYSy. λ is that of the linear regression from scores to rows that
    leave-one-out likes best, μ the one with which the rows come back best.
    """
    picked = spread_over(len(X), _LEARNED_FROM)
    scores, X = scores[picked], np.asarray(X[picked], dtype=np.float64)
    w = np.ones(len(X)) if weights is None else weights[picked]
    mean, origin, root = np.average(X, axis=0, weights=w), np.average(scores, axis=0, weights=w), np.sqrt(w)[:, None]
    scores = scores - origin
    few = spread_over(len(X), _LOOKED_AT)
    K = scores[few] @ scores[few].T
    unit = max(float(np.mean(np.diag(K))), np.finfo(float).tiny)
    ridge = unit * _RIDGES[int(np.argmin(leave_one_out(K, X[few] - mean, unit * _RIDGES, w[few])))]
    Y, X = root * scores, root * (X - mean)
    D = linalg.solve(Y.T @ Y + ridge * np.eye(Y.shape[1]), Y.T @ X, assume_a="pos")
    values, Q = linalg.eigh(X.T @ X, check_finite=False)
    inner = D @ ((Y @ D).T @ X) @ Q  # y ↦ Qᵀ XᵀYSy
    maps = [inner / (np.maximum(values, 0.0) + mu) @ Q.T for mu in max(values[-1], np.finfo(float).tiny) * _RIDGES]
    errors = [np.sum((X - Y @ B) ** 2) for B in maps]
    best = maps[int(np.argmin(errors))]
    return best, mean - origin @ best
