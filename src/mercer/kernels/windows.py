"""Letters in a row, compared with tolerance: some left open, some exchanged, or at the same place alone."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from math import comb
from typing import Any

import numpy as np

from mercer.arrays import Array, Held
from mercer.errors import in_short
from mercer.kernels.base import Kernel
from mercer.kernels.counted import CountingKernel, require_normalize, texts_of
from mercer.kernels.grams import Counted, Letters, Vocabulary, count_windows, summed_up
from mercer.kernels.texts import require_length

_MOST = 5000  # features of one window
_USUAL = 26  # letters of an alphabet that is not known yet, for plans
_CODES = 1 << 21  # code points there can be, and more


@dataclass(frozen=True)
class GappedKmer(CountingKernel):
    """k(s, t) = Σ_g c_g(s)·c_g(t) over all windows g of l letters with w of them left open, such as `A??GT`, divided by
    √(k(s, s)k(t, t)); c_g(s) is how often g fits in s.

    So k = Σ C(l − h, l − w) over all pairs of windows of s and of t, h the places where two of them differ. A text of
    fewer than l letters has nothing in common with any, itself included: k = 0.

    Parameters
    ----------
    length : int, default=6
        l, the letters of a window.
    wildcards : int, default=2
        w, how many of them are left open.
    normalize : bool or {"dice", "jaccard"}, default=True
        What k is divided by, as in `Spectrum`.

    Examples
    --------
    >>> from mercer.kernels import GappedKmer
    >>> GappedKmer(3, 1, normalize=False).block(["ACG"], ["ACG", "ATG", "TTG"])
    array([[3., 1., 0.]])
    """

    length: int = 6
    wildcards: int = 2
    normalize: bool | str = True

    def __post_init__(self) -> None:
        require_length(self.length, "length")
        require_length(self.wildcards, "wildcards", 0, int(self.length) - 1)
        require_normalize(self.normalize)
        if self._kinds > _MOST:
            raise ValueError(
                f"{self.wildcards} of {self.length} letters can be left open in {self._kinds:,} ways "
                f"(limit {_MOST:,}); take a shorter length, or fewer or more wildcards."
            )

    @property
    def _kinds(self) -> int:
        return comb(self.length, self.wildcards)

    def most_in(self, length: int) -> int:
        return max(0, length - self.length + 1) * self._kinds

    def count(self, letters: Letters) -> list[Counted]:
        """By distinct windows: those that look the same through a mask are added up."""
        windows = count_windows(letters, range(self.length, self.length + 1))
        spelled, alphabet = windows.vocabulary.spelled(self.length), windows.vocabulary.levels[0].keys
        masks = combinations(range(self.length), self.length - self.wildcards)
        return [_through(windows.lengths[self.length], alphabet, spelled[:, mask]) for mask in masks]


@dataclass(frozen=True)
class Mismatch(CountingKernel):
    """k(s, t) = Σ_g c_g(s)·c_g(t) over all n-grams g, divided by √(k(s, s)k(t, t)); c_g(s) is how many n-grams of s
    become g if at most m of their letters are exchanged for others of the alphabet.

    A letter that is not in the alphabet may be exchanged for one of it, and none is exchanged for it: it is only like
    itself. A text of fewer than n letters has nothing in common with any, itself included: k = 0.

    Parameters
    ----------
    n : int, default=3
        Letters of a gram.
    m : int, default=1
        How many of them may be exchanged, less than n.
    alphabet : str, default=None
        The letters that others are exchanged for. None: those of the texts that a model is fitted on.
    normalize : bool or {"dice", "jaccard"}, default=True
        What k is divided by, as in `Spectrum`.

    Examples
    --------
    >>> from mercer.kernels import Mismatch
    >>> Mismatch(2, 1, alphabet="ACGT", normalize=False).block(["AC"], ["AC", "AG", "GT"])
    array([[7., 4., 2.]])
    """

    n: int = 3
    m: int = 1
    alphabet: str | None = None
    normalize: bool | str = True

    def __post_init__(self) -> None:
        require_length(self.n, "n")
        require_length(self.m, "m", 0, int(self.n) - 1)
        require_normalize(self.normalize)
        if self.alphabet is None:
            return
        if not isinstance(self.alphabet, str) or not self.alphabet:
            raise ValueError(f"alphabet must be a text that has every letter, or None; got {in_short(self.alphabet)}.")
        if self._neighbours > _MOST:
            raise ValueError(
                f"With {self.m} of {self.n} letters exchanged for any of {len(set(self.alphabet))}, a gram becomes "
                f"{self._neighbours:,} others (limit {_MOST:,}); take a smaller m or n, a smaller alphabet, or "
                "GappedKmer."
            )

    def resolved(self, X: Held, rng: np.random.Generator) -> Kernel:
        if self.alphabet is not None:
            return self
        letters = np.unique(Letters.of(texts_of(X)).codes).tolist()
        return replace(self, alphabet="".join(map(chr, letters)) or " ")

    @property
    def _known(self) -> str:
        if self.alphabet is None:
            raise ValueError(
                f"{self!r} has no alphabet yet: give one, alphabet='ACGT', or fit a model, which takes the letters of "
                "its texts."
            )
        return self.alphabet

    @property
    def _neighbours(self) -> int:
        others = _USUAL if self.alphabet is None else len(set(self.alphabet))  # for letters that are not in it, all
        return sum(comb(self.n, j) * others**j for j in range(self.m + 1))

    def most_in(self, length: int) -> int:
        return max(0, length - self.n + 1) * self._neighbours

    def count(self, letters: Letters) -> list[Counted]:
        """By distinct grams: each is added to all that it becomes."""
        windows = count_windows(letters, range(self.n, self.n + 1))
        known = Letters.of(["".join(sorted(set(self._known)))]).codes
        own = windows.vocabulary.levels[0].keys
        alphabet = np.union1d(own, known)
        grams = np.searchsorted(alphabet, own)[windows.vocabulary.spelled(self.n)]
        numbers, spelled = _exchanged(grams, np.searchsorted(alphabet, known), self.m)
        return [_through(windows.lengths[self.n], alphabet, spelled, numbers)]


@dataclass(frozen=True)
class WeightedDegree(CountingKernel):
    """k(s, t) = Σ_d β_d·(places i where s and t have the same d letters from i on), d = 1 … n, divided by
    √(k(s, s)k(t, t)), with β_d = 2(n − d + 1)/(n(n + 1)).

    For texts that are aligned, such as reads around a splice site: what is alike elsewhere does not count. Of texts of
    different lengths, places are counted from the first letter. The empty text has nothing in common with any: k = 0.

    Parameters
    ----------
    n : int, default=3
        Letters that are compared from every place on, at most.
    normalize : bool or {"dice", "jaccard"}, default=True
        What k is divided by, as in `Spectrum`.

    Examples
    --------
    >>> from mercer.kernels import WeightedDegree
    >>> WeightedDegree(2, normalize=False).block(["ACGT"], ["ACGT", "ACTT", "CGTA"]).round(3)
    array([[3.667, 2.333, 0.   ]])
    """

    n: int = 3
    normalize: bool | str = True

    def __post_init__(self) -> None:
        require_length(self.n, "n")
        require_normalize(self.normalize)

    @property
    def whole(self) -> bool:
        return False

    def weight(self, length: int) -> float:
        return 2 * (self.n - length + 1) / (self.n * (self.n + 1))

    def most_in(self, length: int) -> int:
        return length * self.n

    def letters(self, texts: Sequence[Any], words: dict[Any, int]) -> Letters:
        """The same letter at another place is another letter."""
        letters = Letters.of(texts)
        places = np.arange(len(letters.codes)) - np.repeat(letters.ends[:-1], np.diff(letters.ends))
        return Letters(letters.codes + _CODES * places, letters.ends)

    def count(self, letters: Letters) -> list[Counted]:
        return [count_windows(letters, range(1, self.n + 1))]


def _through(windows: Any, alphabet: Array, spelled: Array, numbers: Array | None = None) -> Counted:
    """How often every gram is in every text, by how often the windows are that become it: window `numbers[i]` becomes
    `spelled[i]`, window i if there are no numbers."""
    vocabulary, grams = Vocabulary.of_tuples(alphabet, spelled)
    numbers = np.arange(len(spelled)) if numbers is None else numbers
    becomes = summed_up(numbers, grams, np.ones(len(grams)), (windows.shape[1], vocabulary.sizes()[-1]))
    counted = windows @ becomes
    counted.sort_indices()
    return Counted(vocabulary, {spelled.shape[1]: counted})


def _exchanged(grams: Array, letters: Array, most: int) -> tuple[Array, Array]:
    """All that every gram becomes with at most so many letters exchanged for others, and which gram it was."""
    numbers, spelled = [np.arange(len(grams))], [grams]
    for count in range(1, most + 1):
        choices = np.array(list(product(letters.tolist(), repeat=count)), dtype=np.int64)
        for places in map(list, combinations(range(grams.shape[1]), count)):
            number = np.repeat(np.arange(len(grams)), len(choices))
            changed = np.tile(choices, (len(grams), 1))
            new = (changed != grams[number][:, places]).all(axis=1)
            became = grams[number[new]]
            became[:, places] = changed[new]
            numbers.append(number[new])
            spelled.append(became)
    return np.concatenate(numbers), np.concatenate(spelled)
