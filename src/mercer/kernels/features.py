"""Feature maps: φ with k(x, y) = φ(x)ᵀφ(y), learned once from the items of a fit and the same for all others."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from mercer.arrays import Held, Matrix


class FeatureMap(ABC):
    """What was learned from the items of a fit (a vocabulary, landmarks, or nothing at all), applied to any items."""

    @abstractmethod
    def features(self, X: Held) -> Matrix:
        """Φ (n×D) of some items in memory: a dense array or a CSR matrix."""

    @abstractmethod
    def n_features(self) -> int:
        """D."""

    def roundings(self) -> int:
        """How many roundings are behind an entry of `features`, relative to its own size."""
        return 0

    def stored(self) -> int:
        """Numbers of the sparse features of the fit that are not zero, if they were counted; else 0."""
        return 0


@dataclass(frozen=True)
class ByFormula(FeatureMap):
    """The features of a kernel that has nothing to learn."""

    kernel: Any
    columns: int
    behind: int  # roundings

    def features(self, X: Held) -> Matrix:
        return self.kernel.features(X)

    def n_features(self) -> int:
        return self.columns

    def roundings(self) -> int:
        return self.behind


@dataclass(frozen=True)
class Multiplied(FeatureMap):
    """√factor·φ(x): the features of factor·k."""

    map: FeatureMap
    factor: float

    def features(self, X: Held) -> Matrix:
        return self.map.features(X) * np.sqrt(self.factor)

    def n_features(self) -> int:
        return self.map.n_features()

    def roundings(self) -> int:
        return 3 + self.map.roundings()

    def stored(self) -> int:
        return self.map.stored()


@dataclass(frozen=True)
class Joined(FeatureMap):
    """(φ₁(x), φ₂(x)): the features of k₁ + k₂."""

    left: FeatureMap
    right: FeatureMap

    def features(self, X: Held) -> Matrix:
        parts = [self.left.features(X), self.right.features(X)]
        return sparse.hstack(parts, format="csr") if any(map(sparse.issparse, parts)) else np.hstack(parts)

    def n_features(self) -> int:
        return self.left.n_features() + self.right.n_features()

    def roundings(self) -> int:
        return max(self.left.roundings(), self.right.roundings())

    def stored(self) -> int:
        return self.left.stored() + self.right.stored()
