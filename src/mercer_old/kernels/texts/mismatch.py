"""Letters in a row, some of which may be exchanged for others."""

from dataclasses import dataclass, replace
from itertools import combinations, product
from math import comb
from typing import Any

import numpy as np

from mercer_old.arrays import Array, Held
from mercer_old.errors import in_short
from mercer_old.kernels.base import Kernel
from mercer_old.kernels.texts.counted import CountingKernel, require_length, require_normalize
from mercer_old.kernels.texts.gapped import MOST_OF_A_WINDOW, count_through
from mercer_old.kernels.texts.grams import Counted, Letters, count_windows, texts_of

__all__ = ["Mismatch"]

_USUAL = 26  # letters of an alphabet that is not known yet, for plans


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
        if self._neighbours > MOST_OF_A_WINDOW:
            raise ValueError(
                f"With {self.m} of {self.n} letters exchanged for any of {len(set(self.alphabet))}, a gram becomes "
                f"{self._neighbours:,} others (limit {MOST_OF_A_WINDOW:,}); take a smaller m or n, a smaller alphabet, "
                "or GappedKmer."
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

    def spell(self, letters: list[int], words: dict[int, Any]) -> str:
        return "".join(map(chr, letters))

    def count(self, letters: Letters) -> list[Counted]:
        """By distinct grams: each is added to all that it becomes."""
        windows = count_windows(letters, range(self.n, self.n + 1))
        known = Letters.of(["".join(sorted(set(self._known)))]).codes
        own = windows.vocabulary.levels[0].keys
        alphabet = np.union1d(own, known)
        grams = np.searchsorted(alphabet, own)[windows.vocabulary.spelled(self.n)]
        numbers, spelled = _exchanged(grams, np.searchsorted(alphabet, known), self.m)
        return [count_through(windows.lengths[self.n], alphabet, spelled, numbers)]


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
