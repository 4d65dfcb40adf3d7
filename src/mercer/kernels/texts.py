"""Kernels of texts: what n-grams they have in common, through exact sparse features."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse

from mercer.arrays import Array, Held
from mercer.errors import in_short
from mercer.kernels.base import Kernel, Tiles, largest_entry, summed
from mercer.kernels.features import FeatureMap
from mercer.kernels.grams import UNKNOWN, Letters, Vocabulary, ends_of
from mercer.rounding import gamma

_LONGEST = 100  # letters of a gram
_COUNTS = ("product", "min", "once")
_BY = ("characters", "words")


@dataclass(frozen=True)
class Spectrum(Kernel):
    """k(s, t) = Σ_g c_g(s)·c_g(t) over all n-grams g, divided by √(k(s, s)k(t, t)); c_g(s) is how often g is in s.

    ``counts="min"`` sums min(c_g(s), c_g(t)) instead, ``counts="once"`` counts grams that both have. With `shortest`,
    grams of all lengths from `shortest` to `n` are summed up. ``by="words"``: grams of words instead of letters.
    A text without grams has nothing in common with any, itself included: k = 0.
    """

    n: int = 3
    shortest: int | None = None
    by: str = "characters"
    counts: str = "product"
    normalize: bool = True

    def __post_init__(self) -> None:
        for name in ("n", "shortest"):
            value = getattr(self, name)
            if name == "shortest" and value is None:
                continue
            whole = isinstance(value, Integral) and not isinstance(value, bool)
            if not whole or not 1 <= int(value) <= _LONGEST:
                raise ValueError(f"{name} must be a whole number from 1 to {_LONGEST}; got {in_short(value)}.")
        if self.shortest is not None and self.shortest > self.n:
            raise ValueError(f"shortest={self.shortest} is longer than n={self.n}.")
        for name, known in (("by", _BY), ("counts", _COUNTS)):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}; got {in_short(getattr(self, name))}.")

    @property
    def takes(self) -> str:
        return "texts"

    @property
    def sparse_features(self) -> bool:
        return True

    @property
    def psd(self) -> bool:
        return True  # an inner product of features

    @property
    def lengths(self) -> range:
        return range(self.n if self.shortest is None else self.shortest, self.n + 1)

    # ------------------------------------------------------------------ features

    def feature_map(self, X: Held) -> "_GramMap":
        return _GramMap.of(self, _texts_of(X))

    def features(self, X: Held) -> Any:
        return self.feature_map(X).features(X)

    def n_features(self, X: Held) -> int:
        return self.feature_map(X).n_features()

    def block(self, X: Held, Y: Held) -> Array:
        learned = self.feature_map(Y)
        return np.asarray((learned.features(X) @ learned.features(Y).T).toarray())

    def diag(self, X: Held) -> Array:
        return _GramMap.of(self, []).squares(_texts_of(X))

    def prepare(self, X: Held, Y: Held | None = None, shift: float = 0.0, dtype: Any = np.float64) -> Tiles:
        learned = self.feature_map(X if Y is None else Y)
        left = learned.features(X)
        return _SparseTiles(left, left if Y is None else learned.features(Y), shift)

    # ------------------------------------------------------------------ rounding

    def rounding(self, X: Held, weights: Array | None = None, shift: float = 0.0, times: Any = None) -> float:
        return gamma(self._chain(X)) * summed(self.sizes(X), weights) + gamma(1) * abs(shift) * summed(
            np.ones(len(X)), weights
        )

    def entry_rounding(self, X: Held, Y: Held, dtype: Any = np.float64) -> float:
        chain = max(self._chain(X), self._chain(Y))
        return gamma(chain) * largest_entry(self.sizes(X), self.sizes(Y))

    def _chain(self, X: Held) -> int:
        """Grams of the longest text are added up in a product, and in the squares that it is divided by."""
        longest = max((len(text) for text in _texts_of(X)), default=0) * len(self.lengths)
        return 2 * longest + 8

    def entry_cost(self, d: int) -> float:
        return 5.0 + 2.0 * d


@dataclass(frozen=True, eq=False)
class _GramMap(FeatureMap):
    """A column for every gram of the texts of a fit; grams that they did not have only make a text longer."""

    kernel: Spectrum
    words: dict[Any, int]  # numbers of words, if those are the letters
    vocabulary: Vocabulary
    most: tuple[Array, ...]  # of every gram, how often it was in a text: as many columns it has, where counts="min"
    longest: int  # grams of a text

    @classmethod
    def of(cls, kernel: Spectrum, texts: Sequence[Any]) -> "_GramMap":
        words = dict[Any, int]()
        letters = _letters(kernel, texts, words)
        vocabulary, numbers = Vocabulary.of(letters, kernel.n)
        most, longest = [], 0
        for length in kernel.lengths:
            counted = _counted(letters, numbers[length - 1], length, vocabulary.sizes()[length - 1])
            most.append(_largest(counted) if kernel.counts == "min" else np.ones(counted.shape[1], dtype=np.int64))
            longest += int(np.diff(counted.indptr).max(initial=0))
        return cls(kernel, words, vocabulary, tuple(most), longest)

    def n_features(self) -> int:
        return max(1, int(sum(most.sum() for most in self.most)))  # of texts without grams, one that is always zero

    def roundings(self) -> int:
        return self.longest + 4 if self.kernel.normalize else 1

    def features(self, X: Held) -> Any:
        texts = _texts_of(X)
        known, squares = self._known(texts)
        known.resize((len(texts), self.n_features()))
        if self.kernel.normalize:
            known = sparse.diags_array(_inverse_roots(squares)) @ known
        return sparse.csr_array(known)

    def squares(self, texts: Sequence[Any]) -> Array:
        """k(s, s) of every text."""
        squares = self._known(texts)[1]
        return (squares > 0).astype(np.float64) if self.kernel.normalize else squares

    def _known(self, texts: Sequence[Any]) -> tuple[Any, Array]:
        """What there is of the columns in every text, and the squared length with all other grams."""
        letters = _letters(self.kernel, texts, dict(self.words))
        own, numbers = Vocabulary.of(letters, self.kernel.n)
        places, parts, squares = own.in_terms_of(self.vocabulary), [], np.zeros(len(texts))
        for length, most in zip(self.kernel.lengths, self.most, strict=True):
            counted = _counted(letters, numbers[length - 1], length, own.sizes()[length - 1])
            if self.kernel.counts == "once":
                counted.data[:] = 1.0
            data = counted.data if self.kernel.counts == "min" else counted.data**2
            squares += np.bincount(np.repeat(np.arange(len(texts)), np.diff(counted.indptr)), data, len(texts))
            parts.append(_in_columns(counted, places[length - 1], most, self.kernel.counts == "min"))
        return sparse.hstack(parts, format="csr"), squares


class _SparseTiles(Tiles):
    """Tiles of ΦΨᵀ − shift from sparse features."""

    def __init__(self, left: Any, right: Any, shift: float) -> None:
        self.left, self.right, self.shift = left, right, shift

    def fill(self, rows: slice, columns: slice, out: Array) -> None:
        np.subtract((self.left[rows] @ self.right[columns].T).toarray(), self.shift, out=out, casting="same_kind")


def _texts_of(X: Held) -> Sequence[Any]:
    """The texts of items in memory, of items elsewhere or of a list."""
    return X.load() if hasattr(X, "load") else X


def _letters(kernel: Spectrum, texts: Sequence[Any], words: dict[Any, int]) -> Letters:
    """The letters of the texts, or their words, which are numbered as they come."""
    if kernel.by == "characters":
        return Letters.of(texts)
    split = [text.split() for text in texts]
    codes = [words.setdefault(word, len(words)) for text in split for word in text]
    return Letters(np.array(codes, dtype=np.int64), ends_of([len(text) for text in split]))


def _counted(letters: Letters, numbers: Array, length: int, count: int) -> Any:
    """How often every gram of a length is in every text (CSR)."""
    begin, texts = letters.starts(length)
    counted = sparse.coo_array((np.ones(len(begin)), (texts, numbers[begin])), shape=(letters.count, count)).tocsr()
    counted.sum_duplicates()
    return counted


def _largest(counted: Any) -> Array:
    """How often every gram is in a text, at most."""
    most = np.zeros(counted.shape[1], dtype=np.int64)
    np.maximum.at(most, counted.indices, counted.data.astype(np.int64))
    return most


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


def _inverse_roots(squares: Array) -> Array:
    return np.divide(1.0, np.sqrt(squares), out=np.zeros_like(squares), where=squares > 0)
