"""Feature maps: φ with k(x, y) = φ(x)ᵀφ(y), learned once from the items of a fit and the same for all others."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from mercer_old.arrays import Array, Held, Matrix
from mercer_old.blocks import FEATURE_ROWS, steps
from mercer_old.sources.items import Rows

__all__ = ["ByFormula", "FeatureMap", "Joined", "Multiplied"]


class FeatureMap(ABC):
    """What was learned from the items of a fit (a vocabulary, landmarks, or nothing at all), applied to any items."""

    cheap: bool = False  # whether features are dense, and made nearly as fast as they are read: they need not be held

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

    def names(self) -> list[str] | None:
        """What people call the features, if they have names."""
        return None


class MadeFeatures(Rows):
    """The features of items in memory, made anew whenever they are asked for: only blocks of them are ever held.

    Every block is an array of its own, which may be overwritten.
    """

    def __init__(self, learned: FeatureMap, X: Any) -> None:
        self.learned, self.X, self.shape = learned, X, (X.shape[0], learned.n_features())

    def blocks(self, size: int) -> Iterator[Array]:
        for some in steps(self.shape[0], size):
            yield self[some]

    def blocks_ahead(self, size: int) -> Iterator[Array]:
        return self.blocks(size)  # nothing to wait for: the next would only take room

    def __getitem__(self, indices: Any) -> Array:
        return np.asarray(self.learned.features(self.X[indices]))

    def mean(self) -> Array:
        """The mean row."""
        total = sum((block.sum(axis=0) for block in self.blocks(FEATURE_ROWS)), np.zeros(self.shape[1]))
        return total / self.shape[0]


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

    def names(self) -> list[str] | None:
        return self.map.names()


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

    def names(self) -> list[str] | None:
        left, right = self.left.names(), self.right.names()
        return None if left is None or right is None else left + right
