"""Letters in a row at the same place of texts that are aligned."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer_old.kernels.texts.counted import CountingKernel, require_length, require_normalize
from mercer_old.kernels.texts.grams import Counted, Letters, count_windows

__all__ = ["WeightedDegree"]

_CODES = 1 << 21  # code points there can be, and more


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
