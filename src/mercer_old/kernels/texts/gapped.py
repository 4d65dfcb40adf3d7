"""Letters in a row, some of which are left open."""

from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from mercer_old.arrays import Array
from mercer_old.kernels.texts.counted import CountingKernel, require_length, require_normalize
from mercer_old.kernels.texts.grams import Counted, Letters, Vocabulary, count_windows, summed_up

__all__ = ["MOST_OF_A_WINDOW", "GappedKmer", "count_through"]

MOST_OF_A_WINDOW = 5000  # features of one window


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
        if self._kinds > MOST_OF_A_WINDOW:
            raise ValueError(
                f"{self.wildcards} of {self.length} letters can be left open in {self._kinds:,} ways "
                f"(limit {MOST_OF_A_WINDOW:,}); take a shorter length, or fewer or more wildcards."
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
        return [count_through(windows.lengths[self.length], alphabet, spelled[:, mask]) for mask in masks]


def count_through(windows: Any, alphabet: Array, spelled: Array, numbers: Array | None = None) -> Counted:
    """How often every gram is in every text, by how often the windows are that become it: window `numbers[i]` becomes
    `spelled[i]`, window i if there are no numbers."""
    vocabulary, grams = Vocabulary.of_tuples(alphabet, spelled)
    numbers = np.arange(len(spelled)) if numbers is None else numbers
    becomes = summed_up(numbers, grams, np.ones(len(grams)), (windows.shape[1], vocabulary.sizes()[-1]))
    counted = windows @ becomes
    counted.sort_indices()
    return Counted(vocabulary, {spelled.shape[1]: counted})
