"""Subsequences that two texts share, with gaps: letters in the same order, not always next to each other."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import comb
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse

from mercer_old.arrays import Array, Held
from mercer_old.errors import BadData, in_short
from mercer_old.kernels.base import Tiles
from mercer_old.kernels.texts import gaps
from mercer_old.kernels.texts.counted import CountingKernel, divide, per_feature, require_length, require_normalize
from mercer_old.kernels.texts.followed import SubsequencesSeen
from mercer_old.kernels.texts.grams import Counted, Letters, Vocabulary, summed_up, texts_of
from mercer_old.sources.items import Items

__all__ = ["Subsequence"]

_SHORT = 2000  # subsequences of a text, on average over all, up to which they are written out one by one
_MOST_WRITTEN = 200_000  # of a single text, which may be longer than others


@dataclass(frozen=True)
class Subsequence(CountingKernel):
    """k(s, t) = Σ λ^(|i| + |j|) over all subsequences s[i] = t[j] of `length` letters, divided by √(k(s, s)k(t, t)).

    |i| is what a subsequence spans from its first letter to its last, so that every letter it leaves out costs a factor
    λ (Lodhi et al. 2002). A text of fewer letters has nothing in common with any, itself included: k = 0.

    Parameters
    ----------
    length : int, default=3
        Letters of a subsequence.
    decay : float, default=0.5
        λ, above 0 and at most 1: near 0 only letters in a row count (`Spectrum`), at 1 gaps cost nothing.
    up_to : bool, default=False
        Whether subsequences of 1, 2, …, `length` letters are all summed up.
    normalize : bool or {"dice", "jaccard"}, default=True
        What k is divided by, as in `Spectrum`.

    Notes
    -----
    Of short words (23 letters on average for subsequences of 3, and 107 at most) every subsequence is a column of exact
    sparse features, and so it is of any texts over few letters (ACGT up to 6 of them). Else k is evaluated pair by
    pair, in time `length`·|s|·|t|; a text so long that it would take minutes to compare it with itself is refused.

    Examples
    --------
    >>> from mercer.kernels import Subsequence
    >>> k = Subsequence(2, decay=0.5).block(["cat"], ["car", "cart", "bat"])
    >>> k.round(4)  # 1/(2 + λ²) for the first
    array([[0.4444, 0.574 , 0.4444]])
    """

    length: int = 3
    decay: float = 0.5
    up_to: bool = False
    normalize: bool | str = True

    def __post_init__(self) -> None:
        require_length(self.length, "length")
        if not isinstance(self.decay, Real) or isinstance(self.decay, bool) or not 0 < self.decay <= 1:
            raise ValueError(f"decay must be a number above 0, and at most 1; got {in_short(self.decay)}.")
        if not isinstance(self.up_to, (bool, np.bool_)):
            raise ValueError(f"up_to must be True or False; got {in_short(self.up_to)}.")
        require_normalize(self.normalize)

    @property
    def lengths(self) -> range:
        return range(1 if self.up_to else self.length, self.length + 1)

    @property
    def whole(self) -> bool:
        return False

    def most_in(self, length: int) -> int:
        return sum(comb(length, q) for q in self.lengths)

    def can_be_written(self, length: int) -> bool:
        """Whether the subsequences of one text of so many letters are few enough to be written out."""
        return self.most_in(length) <= _MOST_WRITTEN

    def _written(self, texts: Sequence[Any]) -> float | None:
        """How many a text has on average, if those of all are written out: a few longer ones do no harm."""
        kinds, times = np.unique([len(text) for text in texts], return_counts=True)
        most = [self.most_in(length) for length in kinds.tolist()]
        if max(most) > _MOST_WRITTEN:
            return None
        mean = float(times @ np.array(most)) / len(texts)
        return mean if mean <= _SHORT else None

    def weight(self, length: int) -> float:
        """λ for each letter of both; where k is divided by its size, for those beyond the shortest, or all would be
        nothing if λ is tiny."""
        free = 0 if self.normalize is False else self.lengths[0]
        return float(self.decay) ** (2 * (length - free))

    @property
    def weights(self) -> dict[int, float]:
        return {q: self.weight(q) for q in self.lengths}

    def chain(self, length: int) -> int:
        written_out = 3 * self.most_in(length) + 8 if self.can_be_written(length) else 0
        return max(written_out, gaps.longest_chain(length, self.length)) + 4

    def entry_cost(self, d: int) -> float:
        return super().entry_cost(d) if self.most_in(d) <= _SHORT else gaps.pair_cost(d) * self.length

    def cost(self, items: Items) -> float:
        """As they will be compared: by their columns, or pair by pair, which a few long ones among short ones decide.
        The product of two lengths is on average that of two average ones."""
        texts = texts_of(items)
        columns = self._written(texts)
        if columns is None:
            columns = SubsequencesSeen.number_there_can_be(self, np.unique(Letters.of(texts).codes))
        return gaps.pair_cost(items.width) * self.length if columns is None else per_feature(columns)

    # ------------------------------------------------------------------ every subsequence a column

    def spell(self, letters: list[int], words: dict[int, Any]) -> str:
        return "".join(map(chr, letters))

    def count(self, letters: Letters) -> list[Counted]:
        """Every subsequence written out: of texts of the same length, by the same places."""
        alphabet, codes = np.unique(letters.codes, return_inverse=True)
        return [self._count(alphabet, codes.reshape(-1), letters.ends, q) for q in self.lengths]

    def _count(self, alphabet: Array, codes: Array, ends: Array, q: int) -> Counted:
        lengths, parts = np.diff(ends), []
        for length in np.unique(lengths[lengths >= q]).tolist():
            texts = np.flatnonzero(lengths == length)
            places, left_out = _places(length, q)
            letters = codes[ends[texts][:, None] + np.arange(length)][:, places].reshape(-1, q)
            values = np.tile(float(self.decay) ** left_out, len(texts))
            parts.append((np.repeat(texts, len(places)), letters, values))
        if not parts:
            return Counted(Vocabulary.of_tuples(alphabet, np.empty((0, q), dtype=np.int64))[0], {q: _nothing(ends)})
        rows, letters, values = (np.concatenate(column) for column in zip(*parts, strict=True))
        vocabulary, numbers = Vocabulary.of_tuples(alphabet, letters)
        return Counted(vocabulary, {q: summed_up(rows, numbers, values, (len(lengths), vocabulary.sizes()[-1]))})

    def seen(self, texts: Sequence[Any]) -> "SubsequencesSeen | None":
        if not len(texts) or self._written(texts) is not None:
            return SubsequencesSeen.of(self, texts)
        alphabet = np.unique(Letters.of(texts).codes)
        return SubsequencesSeen.all_there_can_be(self, alphabet, texts)

    # ------------------------------------------------------------------ pair by pair

    def squares(self, texts: Sequence[Any]) -> Array:
        gaps.refuse_long(self, self.length, texts, texts)
        with np.errstate(over="ignore", invalid="ignore"):
            squares = gaps.alike_itself(Letters.of(texts).apart(), self.decay, self.weights)
        if not np.isfinite(squares).all():
            raise BadData(f"A text has more subsequences than a number can count for {self!r}; take a smaller length.")
        return squares

    def diag(self, X: Held) -> Array:
        if self.normalize is False:
            return super().diag(X)
        return np.array([len(text) >= self.lengths[0] for text in texts_of(X)], dtype=np.float64)

    def evaluated(self, some: Sequence[Any], others: Sequence[Any], shift: float) -> Tiles:
        gaps.refuse_long(self, self.length, some, others)
        return _PairTiles(self, some, others, shift)


class _PairTiles(Tiles):
    """By the recursion, for every pair of texts."""

    def __init__(self, kernel: Subsequence, some: Sequence[Any], others: Sequence[Any], shift: float) -> None:
        self.kernel, self.shift = kernel, shift
        self.left = Letters.of(some).apart()
        self.right = self.left if others is some else Letters.of(others).apart()
        if kernel.normalize is not False:
            self.a = kernel.squares(some)
            self.b = self.a if others is some else kernel.squares(others)

    def fill(self, rows: slice, columns: slice, out: Array) -> None:
        tile = gaps.alike(self.left[rows], self.right[columns], self.kernel.decay, self.kernel.weights)
        if self.kernel.normalize is not False:
            divide(tile, self.a[rows], self.b[columns], self.kernel.normalize)
        np.subtract(tile, self.shift, out=out, casting="same_kind")


@lru_cache(maxsize=64)
def _places(length: int, q: int) -> tuple[Array, Array]:
    """Where q of so many letters can be, and how many they leave out in between."""
    places = np.array(list(combinations(range(length), q)), dtype=np.int64)
    return places, places[:, -1] - places[:, 0] + 1 - q


def _nothing(ends: Array) -> Any:
    return sparse.csr_array((len(ends) - 1, 0))
