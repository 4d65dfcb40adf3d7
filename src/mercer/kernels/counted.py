"""Kernels that count: what features two texts have in common, each a column of its own in an exact sparse matrix."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from mercer.arrays import Array, Held
from mercer.errors import in_short
from mercer.kernels.base import ROUNDINGS, Kernel, Tiles, after_shift, largest_entry, summed
from mercer.kernels.features import FeatureMap
from mercer.kernels.grams import UNKNOWN, Counted, Letters, Vocabulary
from mercer.rounding import gamma

NORMALIZE = (True, False, "dice", "jaccard")
_AT_ONCE = 2_000_000  # features of texts that are counted at a time, where the columns are known
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

    def evaluated(self, some: Sequence[Any], others: Sequence[Any], shift: float) -> Tiles:
        """Tiles without features, where `seen` says that these are too many."""
        raise NotImplementedError

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
        out = np.empty((len(X), len(Y)))
        self.prepare(X, Y).fill(slice(None), slice(None), out)
        return out

    def diag(self, X: Held) -> Array:
        squares = self.squares(texts_of(X))
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
        return 5.0 + 2.0 * self.most_in(d)


@dataclass(frozen=True, eq=False)
class GramColumns:
    """A vocabulary, and how many columns each of its features has: more than one where counts="min"."""

    vocabulary: Vocabulary
    most: dict[int, Array]

    @classmethod
    def of(cls, kernel: CountingKernel, part: Counted) -> "GramColumns":
        """As many as a feature is often in a text."""
        most = {length: np.ones(matrix.shape[1], dtype=np.int64) for length, matrix in part.lengths.items()}
        if kernel.counts == "min":
            for length, matrix in part.lengths.items():
                np.maximum.at(most[length], matrix.indices, matrix.data.astype(np.int64))
        return cls(part.vocabulary, most)

    @classmethod
    def all_of(cls, vocabulary: Vocabulary, length: int) -> "GramColumns":
        """One for each feature of a length."""
        return cls(vocabulary, {length: np.ones(vocabulary.sizes()[length - 1], dtype=np.int64)})

    def joined(self, other: "GramColumns") -> "GramColumns":
        """Those of both."""
        vocabulary = self.vocabulary.joined(other.vocabulary)
        most = {length: np.ones(vocabulary.sizes()[length - 1], dtype=np.int64) for length in self.most}
        for part in (self, other):
            places = part.vocabulary.in_terms_of(vocabulary)
            for length, columns in part.most.items():
                most[length][places[length - 1]] = np.maximum(most[length][places[length - 1]], columns)
        return GramColumns(vocabulary, most)


@dataclass(frozen=True, eq=False)
class FeaturesSeen(FeatureMap):
    """A column for every feature of the texts of a fit; those that they did not have only make a text longer."""

    kernel: CountingKernel
    words: dict[Any, int]  # numbers of words, if those are the letters
    parts: tuple["GramColumns", ...]
    behind: int  # roundings
    entries: int  # of the features of the fit

    @classmethod
    def of(cls, kernel: CountingKernel, texts: Sequence[Any]) -> Self:
        words, parts, entries = dict[Any, int](), list[GramColumns](), 0
        for some in _at_a_time(kernel, texts):
            counted = kernel.count(kernel.letters(texts[some], words))
            found = [GramColumns.of(kernel, part) for part in counted]
            parts = [a.joined(b) for a, b in zip(parts, found, strict=True)] if parts else found
            entries += sum(matrix.nnz for part in counted for matrix in part.lengths.values())
        return cls(kernel, words, tuple(parts), kernel.chain(longest_of(texts)) + 8, entries)

    def n_features(self) -> int:
        """Of texts without features, one that is always zero."""
        return max(1, int(sum(most.sum() for part in self.parts for most in part.most.values())))

    def roundings(self) -> int:
        return self.behind

    def stored(self) -> int:
        return self.entries

    def features(self, X: Held) -> Any:
        known, squares = self.counted(texts_of(X))
        if self.kernel.normalize is True:
            known.data *= np.repeat(_inverse_roots(squares), np.diff(known.indptr))
        return known

    def counted(self, texts: Sequence[Any]) -> tuple[Any, Array]:
        """What there is of the columns in every text, and k(s, s) with all other features, before it is normalised."""
        parts = [self._counted(texts[some]) for some in _at_a_time(self.kernel, texts)]
        known = sparse.vstack([known for known, _ in parts], format="csr") if len(parts) > 1 else parts[0][0]
        return known, np.concatenate([squares for _, squares in parts])

    def _counted(self, texts: Sequence[Any]) -> tuple[Any, Array]:
        letters = self.kernel.letters(texts, dict(self.words))
        known, squares = [], np.zeros(len(texts))
        for part, columns in zip(self.kernel.count(letters), self.parts, strict=True):
            places = part.vocabulary.in_terms_of(columns.vocabulary)
            for length, matrix in part.lengths.items():
                if self.kernel.counts == "once":
                    matrix.data[:] = 1.0
                weight, unary = self.kernel.weight(length), self.kernel.counts == "min"
                squares += weight * _row_sums(matrix, matrix.data if unary else matrix.data**2)
                found = _in_columns(matrix, places[length - 1], columns.most[length], unary)
                known.append(found if weight == 1.0 else found * np.sqrt(weight))
        whole = sparse.csr_array(sparse.hstack(known, format="csr"))
        whole.resize((len(texts), self.n_features()))
        return whole, squares


class CountedTiles(Tiles):
    """Tiles of ΦΨᵀ from sparse features, divided as the kernel says, less the shift."""

    def __init__(self, normalize: Any, left: tuple[Any, Array], right: tuple[Any, Array], shift: float) -> None:
        self.normalize, self.shift = normalize, shift
        (self.left, self.a), (self.right, self.b) = left, right

    def fill(self, rows: slice, columns: slice, out: Array) -> None:
        tile = (self.left[rows] @ self.right[columns].T).toarray()
        divide(tile, self.a[rows], self.b[columns], self.normalize)
        np.subtract(tile, self.shift, out=out, casting="same_kind")


def divide(tile: Array, a: Array, b: Array, normalize: Any) -> None:
    """k by √(ab), (a + b)/2 or a + b − k, in place; what is nothing stays nothing."""
    if normalize is True:
        tile *= _inverse_roots(a)[:, None]
        tile *= _inverse_roots(b)
    elif normalize in ("dice", "jaccard"):
        whole = a[:, None] + b
        whole = whole / 2 if normalize == "dice" else whole - tile
        np.divide(tile, whole, out=tile, where=whole > 0)


def require_normalize(value: Any) -> None:
    if not any(value is known or (isinstance(value, str) and value == known) for known in NORMALIZE):
        raise ValueError(f"normalize must be True, False, 'dice' or 'jaccard'; got {in_short(value)}.")


def texts_of(X: Held) -> Sequence[Any]:
    """The texts of items in memory, of items elsewhere or of a list."""
    texts: Sequence[Any] = X.load() if hasattr(X, "load") else X
    return texts


def longest_of(X: Held) -> int:
    """Letters of the longest text."""
    return max((len(text) for text in texts_of(X)), default=0)


def _at_a_time(kernel: CountingKernel, texts: Sequence[Any]) -> list[slice]:
    """So many texts that their features fit into memory easily, one at least."""
    total = np.cumsum([kernel.most_in(len(text)) for text in texts], dtype=np.float64)
    if not len(total) or total[-1] <= _AT_ONCE:
        return [slice(0, len(texts))]
    groups = np.flatnonzero(np.diff(total // _AT_ONCE)) + 1
    return [slice(a, b) for a, b in pairwise([0, *groups.tolist(), len(texts)])]


def _in_columns(counted: Any, places: Array, most: Array, unary: bool) -> Any:
    """Counts in the columns of a fit; unary: ones in the first c columns of a gram, as min(a, b) = Σₜ[a ≥ t][b ≥ t]."""
    rows = np.repeat(np.arange(counted.shape[0]), np.diff(counted.indptr))
    columns = places[counted.indices] if len(places) else counted.indices
    known = columns != UNKNOWN
    rows, columns, data = rows[known], columns[known], counted.data[known]
    if unary:
        times = np.minimum(data.astype(np.int64), most[columns])
        first = np.concatenate([[0], np.cumsum(most)])[columns]
        steps = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
        rows, columns, data = np.repeat(rows, times), np.repeat(first, times) + steps, np.ones(int(times.sum()))
    return sparse.csr_array((data, (rows, columns)), shape=(counted.shape[0], int(most.sum())))


def _row_sums(matrix: Any, data: Array) -> Array:
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return np.bincount(rows, data, matrix.shape[0])


def _inverse_roots(squares: Array) -> Array:
    return np.divide(1.0, np.sqrt(squares), out=np.zeros_like(squares), where=squares > 0)
