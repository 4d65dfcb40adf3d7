"""Kernels that count: what features two texts have in common, each a column of its own in an exact sparse matrix."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from mercer_old.arrays import Array, Held, dense
from mercer_old.errors import in_short
from mercer_old.kernels.base import ROUNDINGS, Compared, Kernel, Tiles, after_shift, largest_entry, summed
from mercer_old.kernels.features import FeatureMap
from mercer_old.kernels.texts.columns import FeaturesSeen, inverse_roots
from mercer_old.kernels.texts.grams import Counted, Letters, longest_of, texts_of
from mercer_old.rounding import gamma
from mercer_old.sources.held import bytes_of

LONGEST = 100  # letters of a gram
NORMALIZE = (True, False, "dice", "jaccard")
_DENSE = 0.1  # share of numbers that are not zero from which products of dense arrays are faster
_WHOLE = 2.0**53  # whole numbers below are exact, and so are their sums and products


class CountingKernel(Kernel):
    """k(s, t) = Σ_g w_g·c_g(s)·c_g(t), where c_g(s) says how often g is in s. A subclass writes `count` and `most_in`.

    `normalize` says what it is divided by, with k for k(s, t), a for k(s, s) and b for k(t, t): True √(ab), "dice"
    (a + b)/2, "jaccard" a + b − k; False nothing. A text without features has nothing in common with any, itself
    included: k = 0.
    """

    # Dice: k times 1/(a + b) = ∫ e^−xa e^−xb dx, a product of two kernels. Jaccard: Σ (k/(a + b))ⁿ over n ≥ 1, as
    # k ≤ (a + b)/2. Both are positive semi-definite, and neither is a product of sparse features.

    normalize: Any
    counts: ClassVar[str] = "product"  # or "min", "once": a kernel may have it as a parameter

    # ------------------------------------------------------------------ what a subclass says

    @abstractmethod
    def count(self, letters: Letters) -> list[Counted]:
        """How often the features of some texts are in each of them, by vocabularies of their own."""

    @abstractmethod
    def most_in(self, length: int) -> int:
        """How many features a text of so many letters has, at most."""

    def letters(self, texts: Sequence[Any], words: dict[Any, int]) -> Letters:
        """What texts are made of; `words` numbers what is no letter."""
        return Letters.of(texts)

    def spell(self, letters: list[int], words: dict[int, Any]) -> str | None:
        """A feature as it is read, from the numbers of its letters; None if it is no run of letters."""
        return None

    def evaluated(self, some: Sequence[Any], others: Sequence[Any], shift: float) -> Tiles:
        """Tiles without features, where `seen` says that these are too many."""
        raise NotImplementedError(f"{type(self).__name__} has features, however many texts there are.")

    def weight(self, length: int) -> float:
        """w_g of features of so many letters."""
        return 1.0

    @property
    def whole(self) -> bool:
        """Whether features are counted in whole numbers."""
        return True

    # ------------------------------------------------------------------ what follows

    @property
    def takes(self) -> str:
        return "texts"

    @property
    def sparse_features(self) -> bool:
        return self.normalize in (True, False)

    @property
    def psd(self) -> bool:
        return True

    def seen(self, texts: Sequence[Any]) -> "FeaturesSeen | None":
        """A column for every feature of these texts, if they are not too many."""
        return FeaturesSeen.of(self, texts)

    def feature_map(self, X: Held) -> FeatureMap | None:
        return self.seen(texts_of(X)) if self.sparse_features else None

    def features(self, X: Held) -> Any:
        learned = self.feature_map(X)
        return None if learned is None else learned.features(X)

    def n_features(self, X: Held) -> int | None:
        learned = self.feature_map(X)
        return None if learned is None else learned.n_features()

    def block(self, X: Held, Y: Held) -> Array:
        tiles, out = self.prepare(X, Y), np.empty((len(X), len(Y)))
        tiles.fill(slice(None), slice(None), out)
        return out

    def diag(self, X: Held) -> Array:
        return self.normalised(self.squares(texts_of(X)))

    def normalised(self, squares: Array) -> Array:
        """k(s, s) divided by itself, where there is any."""
        return squares if self.normalize is False else (squares > 0).astype(np.float64)

    def squares(self, texts: Sequence[Any]) -> Array:
        """k(s, s) of every text, before it is normalised."""
        return FeaturesSeen.of(self, []).counted(texts)[1]

    def prepare(self, X: Held, Y: Held | None = None, shift: float = 0.0, dtype: Any = np.float64) -> Tiles:
        learned = self.seen(texts_of(X if Y is None else Y))
        if learned is None:
            return self.evaluated(texts_of(X), texts_of(X if Y is None else Y), shift)
        left = learned.counted(texts_of(X))
        return CountedTiles(self.normalize, left, left if Y is None else learned.counted(texts_of(Y)), shift)

    def compared_with(self, Y: Held) -> Compared:
        learned = self.seen(texts_of(Y))
        if learned is None:
            return super().compared_with(Y)
        known, squares = learned.counted(texts_of(Y))
        having = known.T.tocsr() if _density(known) <= _DENSE else known.toarray().T
        return _Indexed(self, Y, learned, having, squares)

    # ------------------------------------------------------------------ rounding

    def chain(self, length: int) -> int:
        """Roundings behind k of texts of so many letters, before it is divided, and behind a feature: none of whole
        numbers, else as many as texts have features."""
        most = self.most_in(length)
        return 0 if self.whole and float(most) ** 2 < _WHOLE else 3 * most + 4

    def roundings(self, X: Held) -> float:
        """k is divided by a root of a and of b (each counts half), by their sum, or by a + b − k, of which at least a
        third of its moduli is left."""
        return (4 if self.normalize == "jaccard" else 2) * self.chain(longest_of(X)) + ROUNDINGS

    def rounding(self, X: Held, weights: Array | None = None, shift: float = 0.0, times: Any = None) -> float:
        return gamma(self.roundings(X)) * summed(self.sizes(X), weights) + after_shift(X, weights, shift)

    def entry_rounding(self, X: Held, Y: Held, dtype: Any = np.float64) -> float:
        chain = max(self.roundings(X), self.roundings(Y))
        return gamma(chain) * largest_entry(self.sizes(X), self.sizes(Y))

    def entry_cost(self, d: int) -> float:
        return per_feature(self.most_in(d))


@dataclass(frozen=True, eq=False)
class _Indexed(Compared):
    """Texts by their features, as an index of a book has it: one comparison reads the entries of its own features."""

    kernel: CountingKernel
    learned: FeaturesSeen
    having: Any  # which texts have a feature, and how often: a row for every feature (D×n), dense or CSR
    squares: Array  # k(t, t) before it is normalised

    @property
    def nbytes(self) -> int:
        return bytes_of(self.having) + int(self.squares.nbytes)

    def diag(self) -> Array:
        return self.kernel.normalised(self.squares)

    def block(self, X: Held) -> Array:
        counted, squares = self.learned.counted(texts_of(X))
        found = dense(counted @ self.having)
        divide(found, squares, self.squares, self.kernel.normalize)
        return found


class CountedTiles(Tiles):
    """Tiles of ΦΨᵀ from sparse features, divided as the kernel says, less the shift."""

    def __init__(self, normalize: Any, left: tuple[Any, Array], right: tuple[Any, Array], shift: float) -> None:
        self.normalize, self.shift = normalize, shift
        (self.left, self.a), (self.right, self.b) = left, right
        if min(_density(self.left), _density(self.right)) > _DENSE:
            self.left, self.right = self.left.toarray(), self.right.toarray()

    def fill(self, rows: slice, columns: slice, out: Array) -> None:
        tile = dense(self.left[rows] @ self.right[columns].T)
        divide(tile, self.a[rows], self.b[columns], self.normalize)
        np.subtract(tile, self.shift, out=out, casting="same_kind")


def per_feature(count: float) -> float:
    """Nominal nanoseconds of a product of texts that have so many features each."""
    return 5.0 + 0.2 * count


def _density(matrix: Any) -> float:
    return float(matrix.nnz / max(1, matrix.shape[0] * matrix.shape[1]))


def divide(tile: Array, a: Array, b: Array, normalize: Any) -> None:
    """k by √(ab), (a + b)/2 or a + b − k, in place; what is nothing stays nothing."""
    if normalize is True:
        tile *= inverse_roots(a)[:, None]
        tile *= inverse_roots(b)
    elif normalize in ("dice", "jaccard"):
        whole = a[:, None] + b
        whole = whole / 2 if normalize == "dice" else whole - tile
        np.divide(tile, whole, out=tile, where=whole > 0)


def require_normalize(value: Any) -> None:
    if not any(value is known or (isinstance(value, str) and value == known) for known in NORMALIZE):
        raise ValueError(f"normalize must be True, False, 'dice' or 'jaccard'; got {in_short(value)}.")


def require_length(value: Any, name: str, least: int = 1, most: int = LONGEST) -> None:
    """One sentence for a number of letters that is none."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not least <= int(value) <= most:
        raise ValueError(f"{name} must be a whole number from {least} to {most}; got {in_short(value)}.")
