"""n-grams of texts, counted exactly: every gram has a number of its own, and no two share one.

A gram of m letters is a gram of m − 1 letters and one more letter. So grams are numbered level by level: the pair
(number of the shorter gram, letter) is one whole number, the distinct ones are sorted, and their places are the numbers
of the next level. Nothing is hashed, so nothing collides, and the letters may be any code points, or whole words.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mercer.arrays import Array

UNKNOWN = -1


def ends_of(lengths: Sequence[int]) -> Array:
    """Where texts of these lengths begin and end, one after the other."""
    return np.concatenate([[0], np.cumsum(np.asarray(lengths, dtype=np.int64))])


@dataclass(frozen=True, eq=False)
class Letters:
    """Texts as numbers: all letters in a row, and where each text begins and ends."""

    codes: Array  # of letters
    ends: Array  # n + 1 places: text i is codes[ends[i] : ends[i + 1]]

    @classmethod
    def of(cls, texts: Sequence[str | bytes]) -> "Letters":
        """Code points of texts; of bytes, the bytes."""
        plain = [text if isinstance(text, str) else text.decode("latin-1") for text in texts]
        lengths = [len(text) for text in plain]
        codes = np.frombuffer("".join(plain).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        return cls(codes.astype(np.int64), ends_of(lengths))

    @property
    def count(self) -> int:
        return len(self.ends) - 1

    def starts(self, length: int) -> tuple[Array, Array]:
        """Where grams of this length begin, and in which text each of them is."""
        texts = np.repeat(np.arange(self.count), np.diff(self.ends))
        begin = np.arange(len(self.codes))
        inside = begin + length <= self.ends[texts + 1]
        return begin[inside], texts[inside]


@dataclass(frozen=True, eq=False)
class _Level:
    """The distinct grams of one length, sorted: each is a shorter gram and a letter, as one number."""

    keys: Array

    def find(self, keys: Array) -> Array:
        """The number of each gram, or UNKNOWN."""
        if not len(self.keys):
            return np.full(len(keys), UNKNOWN)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[place] == keys, place, UNKNOWN)


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """All grams of some texts, up to a length; level 0 has the letters."""

    levels: tuple[_Level, ...]

    @classmethod
    def of(cls, letters: Letters, longest: int) -> tuple["Vocabulary", list[Array]]:
        """Also the number of the gram of every length that begins at every letter (where there is room for it)."""
        alphabet, numbers = np.unique(letters.codes, return_inverse=True)
        first, levels, found = numbers.reshape(-1), [_Level(alphabet)], [numbers.reshape(-1)]
        for length in range(2, longest + 1):
            begin, _ = letters.starts(length)
            keys = found[-1][begin] * len(alphabet) + first[begin + length - 1]
            distinct, numbers = np.unique(keys, return_inverse=True)
            whole = np.full(len(letters.codes), UNKNOWN)
            whole[begin] = numbers.reshape(-1)
            levels.append(_Level(distinct))
            found.append(whole)
        return cls(tuple(levels)), found

    def sizes(self) -> list[int]:
        return [len(level.keys) for level in self.levels]

    def in_terms_of(self, other: "Vocabulary") -> list[Array]:
        """For every level, the number that each gram of this vocabulary has in the other one, or UNKNOWN."""
        letters = other.levels[0].find(self.levels[0].keys)
        found, mine, its = [letters], len(self.levels[0].keys), len(other.levels[0].keys)
        for level, known in zip(self.levels[1:], other.levels[1:], strict=True):
            shorter, letter = np.divmod(level.keys, max(mine, 1))
            shorter, letter = found[-1][shorter], letters[letter]
            there = (shorter != UNKNOWN) & (letter != UNKNOWN)
            found.append(np.where(there, known.find(np.where(there, shorter * its + letter, UNKNOWN)), UNKNOWN))
        return found
