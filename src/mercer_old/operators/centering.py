"""JKJ, never formed: centring around the mean of the features, with weights if rows count differently."""

from functools import cached_property

import numpy as np

from mercer_old.arrays import Array
from mercer_old.kernels.check import refuse_non_finite
from mercer_old.operators.features import FeatureGram
from mercer_old.rounding import SUM_ROUNDINGS, gamma
from mercer_old.symmetric import Measured, SymmetricOperator


class Centered(Measured):
    """P S K S P with S = diag(√w) and P = I − ssᵀ, s = √w/‖√w‖; without weights S = I and P = J.

    Row i of weight wᵢ counts as wᵢ equal rows: the non-zero eigenvalues are those of the matrix with repeated rows, and
    the eigenvector entries of the copies are √wᵢ times smaller. `null` is the vector s that the matrix sends to zero.
    """

    def __init__(self, base: SymmetricOperator, weights: Array | None = None) -> None:
        self.base, self.n = base, base.n
        self.weights = weights
        self.root = None if weights is None else np.sqrt(weights)
        self.total_weight = float(base.n if weights is None else weights.sum())
        self.null = (np.ones(self.n) if self.root is None else self.root) / np.sqrt(self.total_weight)

    @property
    def at_hand(self) -> bool:  # type: ignore[override]
        return self.base.at_hand

    @property
    def coarse(self) -> float:  # type: ignore[override]
        return self.base.coarse

    @cached_property
    def floor(self) -> float:
        """Eigenvalues up to this are likely to be rounding: what is constant to the kernel stays constant."""
        return max(self.total_weight * self.base.shifted_floor(self.mean), self._underflow)

    @property
    def _underflow(self) -> float:
        """Numbers without digits, times weights."""
        return self.base.underflow * (1.0 if self.weights is None else max(1.0, float(self.weights.max())))

    @cached_property
    def noise(self) -> float:
        """How far rounding in the entries of K can move an eigenvalue (‖SδKS‖, Weyl)."""
        return self.base.entry_rounding(self.weights) + self._underflow

    @cached_property
    def product_rounding(self) -> float:
        """Of the products, with two centrings and scalings."""
        moduli = self.base.shifted_moduli(self.weights, self.total_weight * self.means)
        return 0.0 if moduli is None else gamma(self.base.shifted_chain + 16) * moduli

    @cached_property
    def rough(self) -> "Centered":
        return self if self.base.rough is self.base else Centered(self.base.rough, self.weights)

    @property
    def uncentred(self) -> SymmetricOperator:
        return self.base if self.root is None else Weighted(self.base, self.root)

    def matmat(self, B: Array) -> Array:
        inner = self.scale_rows(self.project(B))
        if "means" in self.__dict__:
            product = self.base.shifted_matmat(inner)
        else:  # the first product brings them along: a pass of their own might cost as much as ours
            both = self.base.shifted_matmat(np.concatenate([inner, self._counts], axis=1))
            product, self.means = both[:, :-1], self._finite_means(both[:, -1])
        return self.project(self.scale_rows(product))

    @property
    def dimension(self) -> int:
        return self.n - 1

    def project(self, B: Array) -> Array:
        """P B: the part of every column that is orthogonal to the null vector.

        Twice, as the first mean is a sum of n terms and off by as many roundings; what it leaves is small.
        """
        if self.root is None:
            B = B - B.mean(axis=0)
            B -= B.mean(axis=0)
            return B
        B = B - np.multiply.outer(self.null, self.null @ B)
        B -= np.multiply.outer(self.null, self.null @ B)
        return B

    def diag(self) -> Array:
        """wᵢ (K_ii − 2μᵢ + m)."""
        values = self.base.shifted_diag() - 2 * self.means + self.mean
        return values if self.weights is None else self.weights * values

    def columns(self, indices: Array) -> Array:
        K = np.array(self.base.shifted_columns(indices))  # one copy, worked on in place
        K -= self.means[:, None]
        K -= self.means[indices] - self.mean
        if self.root is not None:
            K *= self.root[:, None]
            K *= self.root[indices]
        return K

    @cached_property
    def means(self) -> Array:
        """μ = Kw/Σw, of the shifted K: the mean similarity of every row to the training rows."""
        return self._finite_means(self.base.shifted_matmat(self._counts)[:, 0])

    @property
    def _counts(self) -> Array:
        return np.ones((self.n, 1)) if self.weights is None else self.weights[:, None]

    @property
    def shares(self) -> Array:
        """w/Σw: what every row is of the mean."""
        return self._counts[:, 0] / self.total_weight

    def _finite_means(self, sums: Array) -> Array:
        refuse_non_finite(sums, self.base.kernel)
        return sums / self.total_weight

    @cached_property
    def mean(self) -> float:
        """m = wᵀμ/Σw."""
        mean = self.means.mean() if self.weights is None else self.weights @ self.means / self.total_weight
        return float(mean)

    @cached_property
    def trace(self) -> float:
        """The total variance times Σw: tr(PSKSP) = Σ wᵢ(K_ii − 2μᵢ + m)."""
        return float(self.diag().sum())

    def squared_norm(self, unit: float) -> tuple[float, float] | None:
        """‖PAP‖_F² = ‖A‖_F² − 2‖As‖² + (sᵀAs)² of A = SKS/unit, and a bound on its rounding error."""
        norm = self.base.shifted_norm(self.weights)
        if norm is None:
            return None
        means = self.means / unit
        lengths = means @ means if self.weights is None else self.weights @ means**2
        crossed = 2 * self.total_weight * float(lengths)
        squares, constant = (norm / unit) ** 2, (self.total_weight * self.mean / unit) ** 2
        error = gamma(self.n + 4 * self.base.shifted_chain + SUM_ROUNDINGS) * (squares + crossed + constant)
        return max(0.0, squares - crossed + constant), error

    def feature_scatter(self) -> Array:
        return self._features.scatter(self.weights)

    def feature_products(self) -> Measured:
        return self._features.products(self.weights)

    def from_features(self, V: Array) -> Array:
        return self.project(self.scale_rows(self._features.times(V, moved=True)))

    def to_features(self, U: Array) -> Array:
        return self._features.transposed_times(self.scale_rows(self.project(U)), moved=True)

    @property
    def _features(self) -> FeatureGram:
        assert isinstance(self.base, FeatureGram), "a plan for the side of the features has features"
        return self.base

    def dual(self, values: Array, vectors: Array) -> tuple[Array, Array]:
        """α (n×k) and αᵀμ (k,): the scores of any point x are k(x, ·)α − αᵀμ, as α is orthogonal to 1.

        The vectors of small eigenvalues are so only to λ₁/λᵢ roundings, so they are made so first. A zero eigenvalue
        gives zero scores.
        """
        alpha = self.scale_rows(self.project(vectors) * inverse_root(values))
        return alpha, alpha.T @ self.means

    def training_scores(self, values: Array, products: Array) -> Array:
        """A U/√λ: what the formula for new points gives for the training rows, one row of each weight."""
        scores = products * inverse_root(values)
        return scores if self.root is None else scores / self.root[:, None]

    def scale_rows(self, B: Array) -> Array:
        """S B."""
        return B if self.root is None else self.root[:, None] * B


class Weighted(SymmetricOperator):
    """S K S with S = diag(√w): where rows count differently, before centring."""

    def __init__(self, base: SymmetricOperator, root: Array) -> None:
        self.base, self.n, self.root = base, base.n, root

    def matmat(self, B: Array) -> Array:
        return self.root[:, None] * self.base.matmat(self.root[:, None] * B)

    def diag(self) -> Array:
        return self.root**2 * self.base.diag()

    def columns(self, indices: Array) -> Array:
        return self.root[:, None] * self.base.columns(indices) * self.root[indices]

    def block(self, rows: Array, columns: Array) -> Array:
        return self.root[rows][:, None] * self.base.block(rows, columns) * self.root[columns]


def inverse_root(values: Array) -> Array:
    """1/√λ, and 0 for what is zero."""
    return np.divide(1.0, np.sqrt(values), out=np.zeros_like(values), where=values > 0)
