"""What kernels are compared by: the reconstruction of held-out rows, or the alignment with labels."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack, solve_triangular
from scipy.spatial.distance import cdist

from mercer.numerics.products import row_squares
from mercer.numerics.rounding import TINY, power_of_two

_PENALTIES = 10.0 ** np.arange(-8, 1)  # times the largest squared singular value of the features
_CENTERS, _BEND = 60, 2.0  # of a regression, and its gamma in units of one over the median squared distance


class Criterion(ABC):
    """What kernels are compared by: a loss for every fold that is left out."""

    name: str  # of its value, which is sign·loss
    sign = 1.0
    uses_scores = True  # or the kernel matrix only

    def __init__(self, fold: NDArray) -> None:
        self.fold, self.n_folds = fold, int(fold.max()) + 1

    @abstractmethod
    def losses_of_scores(self, scores: list[NDArray]) -> NDArray:
        """One loss for each fold, from the scores of all samples without it."""

    def losses(self, K: NDArray, scores: list[NDArray]) -> NDArray:
        """One loss for each fold."""
        return self.losses_of_scores(scores)

    def loss(self, K: NDArray, losses: NDArray) -> float:
        """The loss of a kernel."""
        return float(losses.mean())

    def standard_error(self, losses: NDArray) -> float:
        """Standard error of the loss."""
        return float(np.std(losses, ddof=1) / np.sqrt(self.n_folds))


class ReconstructionError(Criterion):
    """Squared error of held-out rows that are reconstructed from their scores, relative to that of their mean.

    A ridge regression on features of the scores is learned from the other rows. The error is in the units of the rows,
    so that kernels can be compared, while errors in the feature space of each kernel cannot.
    """

    name = "error"

    def __init__(self, rows: NDArray, fold: NDArray, rng: np.random.Generator) -> None:
        super().__init__(fold)
        rows = rows - rows.mean(axis=0)
        rows /= power_of_two(np.abs(rows).max())
        wide = rows.shape[1] > len(rows)  # a rotation changes no distance
        self.rows: NDArray = np.asarray(np.linalg.qr(rows.T, mode="r")).T if wide else rows
        self.centers = [rng.permutation(np.flatnonzero(fold != i))[:_CENTERS] for i in range(self.n_folds)]

    def losses_of_scores(self, scores: list[NDArray]) -> NDArray:
        return np.array([self._loss(i, fold_scores) for i, fold_scores in enumerate(scores)])

    def _loss(self, number: int, scores: NDArray) -> float:
        train, test = self.fold != number, self.fold == number
        features = RidgeFeatures.around(scores[self.centers[number]])
        ridge = leave_one_out_ridge(features.transform(scores[train]), self.rows[train])
        error = np.sum((self.rows[test] - ridge.predict(features.transform(scores[test]))) ** 2)
        of_mean = np.sum((self.rows[test] - self.rows[train].mean(axis=0)) ** 2)
        return float(error / of_mean) if of_mean > 0 else 0.0


class TargetAlignment(Criterion):
    """Minus the alignment of the centered kernel matrix with the targets; standard errors by the jackknife."""

    name, sign, uses_scores = "alignment", -1.0, False

    def __init__(self, targets: NDArray, fold: NDArray) -> None:
        super().__init__(fold)
        self.targets = targets

    def losses(self, K: NDArray, scores: list[NDArray]) -> NDArray:
        kept = [np.flatnonzero(self.fold != i) for i in range(self.n_folds)]
        return np.array([-target_alignment(K[np.ix_(some, some)], self.targets[some]) for some in kept])

    def losses_of_scores(self, scores: list[NDArray]) -> NDArray:
        """The loss of the linear kernel on the scores of the held-out samples."""
        held_out = [self.fold == i for i in range(self.n_folds)]
        parts = [(scores[i][some], self.targets[some]) for i, some in enumerate(held_out)]
        return np.array([-target_alignment(Y @ Y.T, targets) for Y, targets in parts])

    def loss(self, K: NDArray, losses: NDArray) -> float:
        return -target_alignment(K, self.targets)

    def standard_error(self, losses: NDArray) -> float:
        return float(np.sqrt((1 - 1 / self.n_folds) * np.sum((losses - losses.mean()) ** 2)))


def target_alignment(K: NDArray, targets: NDArray) -> float:
    """⟨A, TTᵀ⟩/(‖A‖‖TTᵀ‖) with A = JKJ and T = JY, from 0 to 1 for a Mercer kernel; 0 if A or T is zero.

    Centered alignment (Cortes, Mohri and Rostamizadeh 2012) with targets Y of shape (n, number of columns).
    """
    means, T = K.mean(axis=0), targets - targets.mean(axis=0)
    A = K - means
    A -= (means - means.mean())[:, None]
    norms = float(np.linalg.norm(A) * np.linalg.norm(T.T @ T))
    return float(np.sum(T * (A @ T))) / norms if norms > 0 else 0.0


@dataclass(frozen=True)
class RidgeFeatures:
    """Scores, and a Gaussian kernel around some of them: linear features alone would favor the linear kernel."""

    centers: NDArray
    unit: float
    gamma: float
    root: NDArray  # R with RRᵀ = k(centers, centers)⁻¹

    @classmethod
    def around(cls, centers: NDArray) -> "RidgeFeatures":
        """Features with the bandwidth of these scores."""
        squares = cdist(centers, centers, "sqeuclidean")
        typical = float(np.median(squares[squares > 0])) if squares.any() else 1.0
        L, pivots, rank, _ = lapack.dpstrf(np.exp(-_BEND / typical * squares), tol=1e-10, lower=1)
        root = solve_triangular(np.tril(L[:rank, :rank]), np.eye(rank), lower=True).T
        return cls(centers[pivots[:rank] - 1], float(np.sqrt(typical)), _BEND / typical, root)

    def transform(self, scores: NDArray) -> NDArray:
        """Features of scores."""
        near = np.exp(-self.gamma * cdist(scores, self.centers, "sqeuclidean"))
        return np.concatenate([scores / self.unit, near @ self.root], axis=1)


@dataclass(frozen=True)
class Ridge:
    """A ridge regression with an intercept, and its squared error on rows that are left out one at a time."""

    feature_means: NDArray
    mean: NDArray
    coefficients: NDArray
    penalty: float
    left_out_error: float

    def predict(self, features: NDArray) -> NDArray:
        """Rows for features."""
        return np.asarray(self.mean + (features - self.feature_means) @ self.coefficients)


def leave_one_out_ridge(F: NDArray, X: NDArray, penalties: NDArray = _PENALTIES) -> Ridge:
    """The ridge regression of X on F whose penalty has the least squared error on rows left out one at a time.

    That error is eᵢ/(1 − hᵢ) with the residual eᵢ of the regression on all rows and the leverage
    hᵢ = 1/n + Σⱼuᵢⱼ²gⱼ, gⱼ = sⱼ²/(sⱼ² + penalty), for centered features USVᵀ. With T = X − mean and C = UᵀT,
    ‖eᵢ‖² = ‖tᵢ‖² − 2Σⱼuᵢⱼgⱼ(TCᵀ)ᵢⱼ + (gu)ᵢᵀCCᵀ(gu)ᵢ, whatever the number of columns of X is.
    """
    feature_means, mean = F.mean(axis=0), X.mean(axis=0)
    U, s, Vt = np.linalg.svd(F - feature_means, full_matrices=False)
    T = X - mean
    C = U.T @ T
    CC, TC, norms = C @ C.T, T @ C.T, row_squares(T)
    best, least = 0.0, np.inf
    for penalty in penalties * max(float(s[:1].sum()) ** 2, TINY):
        Ug = U * (s**2 / (s**2 + penalty))
        squares = norms - 2 * np.einsum("ij,ij->i", Ug, TC) + np.einsum("ij,ij->i", Ug @ CC, Ug)
        rest = np.maximum(1 - 1 / len(F) - np.einsum("ij,ij->i", Ug, U), 1e-8)
        error = float(np.sum(np.maximum(squares, 0.0) / rest**2))
        if error < least:
            best, least = float(penalty), error
    return Ridge(feature_means, mean, Vt.T @ ((s / (s**2 + best))[:, None] * C), best, least)
