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

from mercer.arrays import Array, Held
from mercer.blocks import steps
from mercer.errors import BadData, in_short
from mercer.kernels import gaps
from mercer.kernels.base import Tiles
from mercer.kernels.counted import (
    CountingKernel,
    FeaturesSeen,
    GramColumns,
    divide,
    longest_of,
    require_normalize,
    texts_of,
)
from mercer.kernels.grams import UNKNOWN, Counted, Letters, Vocabulary, summed_up
from mercer.kernels.texts import require_length

_SHORT = 2000  # subsequences of a text, up to which they are written out one by one
_FEW_KINDS = 5000  # different ones, up to which each is a column however long texts are
_STEPS = 3e10  # pairs of letters times lengths: beyond, one pair of texts takes minutes
_NODES = 1 << 19  # of subsequences that are followed through texts at a time


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
    Of short words (up to 23 letters for subsequences of 3) every subsequence is a column of exact sparse features, and
    so it is of any texts over few letters (ACGT up to 6 of them). Else k is evaluated pair by pair, in time
    `length`·|s|·|t|; a text so long that it would take minutes to compare it with itself is refused.

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

    def weight(self, length: int) -> float:
        """λ for each letter of both; where k is divided by its size, for those beyond the shortest, or all would be
        nothing if λ is tiny."""
        free = 0 if self.normalize is False else self.lengths[0]
        return float(self.decay) ** (2 * (length - free))

    @property
    def weights(self) -> dict[int, float]:
        return {q: self.weight(q) for q in self.lengths}

    def chain(self, length: int) -> int:
        written_out = 3 * self.most_in(length) + 8 if self.most_in(length) <= _SHORT else 0
        return max(written_out, gaps.longest_chain(length, self.length)) + 4

    def entry_cost(self, d: int) -> float:
        return 10.0 + 0.3 * self.most_in(d) if self.most_in(d) <= _SHORT else 5.0 * self.length * d * d

    # ------------------------------------------------------------------ every subsequence a column

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

    def seen(self, texts: Sequence[Any]) -> "_SubsequencesSeen | None":
        if all(self.most_in(len(text)) <= _SHORT for text in texts):
            return _SubsequencesSeen.of(self, texts)
        alphabet = np.unique(Letters.of(texts).codes)
        return _SubsequencesSeen.all_there_can_be(self, alphabet, texts)

    # ------------------------------------------------------------------ pair by pair

    def squares(self, texts: Sequence[Any]) -> Array:
        _refuse_long(self, texts, texts)
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
        _refuse_long(self, some, others)
        return _PairTiles(self, some, others, shift)


@dataclass(frozen=True, eq=False)
class _SubsequencesSeen(FeaturesSeen):
    """The same columns for texts so long that their subsequences cannot be written out: those are followed."""

    kernel: Subsequence

    @classmethod
    def all_there_can_be(cls, kernel: Subsequence, alphabet: Array, texts: Sequence[Any]) -> "_SubsequencesSeen | None":
        """A column for everything that these letters can spell, if that is not too much."""
        kinds = sum(float(len(alphabet)) ** q for q in kernel.lengths)
        if kinds > _FEW_KINDS:
            return None
        parts = tuple(GramColumns.all_of(Vocabulary.complete(alphabet, q), q) for q in kernel.lengths)
        return cls(kernel, {}, parts, kernel.chain(longest_of(texts)) + 8, len(texts) * int(kinds))

    def counted(self, texts: Sequence[Any]) -> tuple[Any, Array]:
        long = np.array([self.kernel.most_in(len(text)) > _SHORT for text in texts], dtype=bool)
        if not long.any():
            return super().counted(texts)
        order = np.argsort(long, kind="stable")
        short, others = ([texts[i] for i in np.flatnonzero(which).tolist()] for which in (~long, long))
        parts = [super().counted(short), *(self._followed(others[some]) for some in self._few(others))]
        known = sparse.vstack([part[0] for part in parts], format="csr")
        squares = np.concatenate([part[1] for part in parts])
        back = np.argsort(order)
        return known[back], squares[back]

    def _few(self, texts: list[Any]) -> list[slice]:
        return steps(len(texts), max(1, _NODES // self.n_features()))

    def _followed(self, texts: list[Any]) -> tuple[Any, Array]:
        alphabet = self.parts[0].vocabulary.levels[0]
        letters = [alphabet.find(text) for text in Letters.of(texts).apart()]
        S = gaps.filled_up(letters, UNKNOWN)
        weighed = []
        for q, part in zip(self.kernel.lengths, self.parts, strict=True):
            weighed.append(np.sqrt(self.kernel.weight(q)) * _follow(part.vocabulary, q, S, self.kernel.decay))
        known = np.hstack(weighed)
        squares = np.einsum("ij,ij->i", known, known)
        if strange := [i for i, text in enumerate(letters) if not self._complete or UNKNOWN in text]:
            squares[strange] = self.kernel.squares([texts[i] for i in strange])
        return sparse.csr_array(known), squares

    @property
    def _complete(self) -> bool:
        """Whether there is a column for everything that known letters spell."""
        spelled = zip(self.kernel.lengths, self.parts, strict=True)
        return all(part.vocabulary.sizes()[-1] == part.vocabulary.sizes()[0] ** q for q, part in spelled)


def _follow(vocabulary: Vocabulary, q: int, S: Array, decay: float) -> Array:
    """How much of every gram of q letters is in each text (a row of S), letter after letter: what there was of the gram
    without its last letter, faded by every letter since, becomes a part of it."""
    count = len(vocabulary.levels[0].keys)
    ends = [np.divmod(level.keys, max(count, 1)) for level in vocabulary.levels[1:q]]
    before, last = [None, *(e[0] for e in ends)], [np.arange(count), *(e[1] for e in ends)]
    faded = [np.zeros((len(S), len(letters))) for letters in last[:-1]]
    total = np.zeros((len(S), len(last[-1])))
    for letter in S.T:
        for m in range(q - 1, -1, -1):  # longer ones first: they go on from what there was before this letter
            here = (last[m] == letter[:, None]).astype(np.float64)
            if m:
                here *= faded[m - 1][:, before[m]]
            if m == q - 1:
                total += here
            else:
                faded[m] *= decay
                faded[m] += here
    return total


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


def _refuse_long(kernel: Subsequence, some: Sequence[Any], others: Sequence[Any]) -> None:
    a, b = longest_of(some), longest_of(others)
    if float(kernel.length) * a * b > _STEPS:
        raise BadData(
            f"A text of {max(a, b):,} letters is too long for {in_short(kernel)}: to compare it with one of "
            f"{min(a, b):,} takes {kernel.length * a * b:.1e} steps (limit {_STEPS:.0e}). Cut the texts, or take "
            "Spectrum, which counts letters in a row."
        )
