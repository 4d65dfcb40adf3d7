"""n-grams of texts, counted exactly: every gram has a number of its own, and no two share one.

A gram of m letters is a gram of m − 1 letters and one more letter. So grams are numbered level by level: the pair
(number of the shorter gram, letter) is one whole number, the distinct ones are sorted, and their places are the numbers
of the next level. Nothing is hashed, so nothing collides, and the letters may be any code points, or whole words.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

import numpy as np
from scipy import sparse

from mercer_old.arrays import Array, Held
from mercer_old.sources.texts import require_texts

UNKNOWN = -1


def ends_of(lengths: Sequence[int]) -> Array:
    """Where texts of these lengths begin and end, one after the other."""
    return np.concatenate([[0], np.cumsum(np.asarray(lengths, dtype=np.int64))])


def as_letters(text: str | bytes) -> str:
    """A text as letters; of bytes, each byte is one."""
    return text if isinstance(text, str) else text.decode("latin-1")


def _in_a_row(texts: Sequence[str | bytes]) -> str:
    """All letters; bytes are seldom, and nobody waits for them."""
    try:
        return "".join(texts)  # type: ignore[arg-type]
    except TypeError:
        return "".join(map(as_letters, texts))


@dataclass(frozen=True, eq=False)
class Letters:
    """Texts as numbers: all letters in a row, and where each text begins and ends."""

    codes: Array  # of letters
    ends: Array  # n + 1 places: text i is codes[ends[i] : ends[i + 1]]

    @classmethod
    def of(cls, texts: Sequence[str | bytes]) -> "Letters":
        """Code points of texts; of bytes, the bytes."""
        codes = np.frombuffer(_in_a_row(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        return cls(codes.astype(np.int64), ends_of([len(text) for text in texts]))

    @property
    def count(self) -> int:
        return len(self.ends) - 1

    def apart(self) -> list[Array]:
        """The letters of every text."""
        return [self.codes[a:b] for a, b in pairwise(self.ends.tolist())]

    def starts(self, length: int) -> tuple[Array, Array]:
        """Where grams of this length begin, and in which text each of them is."""
        counts = np.maximum(np.diff(self.ends) - length + 1, 0)
        before = np.cumsum(counts) - counts
        begin = np.repeat(self.ends[:-1] - before, counts)
        begin += np.arange(len(begin))
        return begin, np.repeat(np.arange(self.count), counts)


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
        alphabet, first = _numbered(letters.codes, int(letters.codes.max(initial=0)) + 1)
        levels, found = [_Level(alphabet)], [first]
        for length in range(2, longest + 1):
            begin, _ = letters.starts(length)
            keys = found[-1][begin] * len(alphabet) + first[begin + length - 1]
            distinct, numbers = _numbered(keys, len(levels[-1].keys) * len(alphabet))
            whole = np.full(len(letters.codes), UNKNOWN)
            whole[begin] = numbers
            levels.append(_Level(distinct))
            found.append(whole)
        return cls(tuple(levels)), found

    @classmethod
    def of_tuples(cls, alphabet: Array, tuples: Array) -> tuple["Vocabulary", Array]:
        """Grams that are given letter by letter (N×m places in the alphabet), and the number of each."""
        numbers, levels = tuples[:, 0], [_Level(alphabet)]
        for letter in tuples.T[1:]:
            keys = numbers * len(alphabet) + letter
            distinct, numbers = _numbered(keys, len(levels[-1].keys) * len(alphabet))
            levels.append(_Level(distinct))
        return cls(tuple(levels)), numbers

    @classmethod
    def complete(cls, alphabet: Array, length: int) -> "Vocabulary":
        """All grams there can be."""
        return cls((_Level(alphabet), *(_Level(np.arange(len(alphabet) ** m)) for m in range(2, length + 1))))

    def sizes(self) -> list[int]:
        return [len(level.keys) for level in self.levels]

    def spelled(self, length: int) -> Array:
        """The letters of every gram of a length (N×length places in the alphabet)."""
        letters, count = np.empty((self.sizes()[length - 1], length), dtype=np.int64), len(self.levels[0].keys)
        numbers = np.arange(len(letters))
        for place in range(length - 1, 0, -1):
            numbers, letters[:, place] = np.divmod(self.levels[place].keys[numbers], max(count, 1))
        letters[:, 0] = numbers
        return letters

    def joined(self, other: "Vocabulary") -> "Vocabulary":
        """All grams of both."""
        alphabet = np.union1d(self.levels[0].keys, other.levels[0].keys)
        joined = Vocabulary((_Level(alphabet),))
        for length in range(1, len(self.levels)):
            keys = [part._keys_in(joined, length) for part in (self, other)]
            joined = Vocabulary((*joined.levels, _Level(np.union1d(*keys))))
        return joined

    def _keys_in(self, other: "Vocabulary", length: int) -> Array:
        """The grams of a level as keys of another vocabulary, which has all shorter ones."""
        shorter, letter = np.divmod(self.levels[length].keys, max(len(self.levels[0].keys), 1))
        places = Vocabulary(self.levels[:length]).in_terms_of(other)
        return places[-1][shorter] * len(other.levels[0].keys) + places[0][letter]

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


def _numbered(keys: Array, below: int) -> tuple[Array, Array]:
    """The distinct keys, sorted, and the place of each among them: by a table where that is not much longer."""
    if below > 4 * len(keys) + 1000:
        distinct, numbers = np.unique(keys, return_inverse=True)
        return distinct, numbers.reshape(-1)
    there = np.zeros(below, dtype=bool)
    there[keys] = True
    return np.flatnonzero(there), (np.cumsum(there) - 1)[keys]


@dataclass(frozen=True, eq=False)
class Counted:
    """How often every gram of a vocabulary is in every text: a matrix (CSR) for each of the lengths that count."""

    vocabulary: Vocabulary
    lengths: dict[int, Any]


def count_windows(letters: Letters, lengths: range) -> Counted:
    """Grams are the letters in a row."""
    vocabulary, numbers = Vocabulary.of(letters, lengths[-1])
    sizes, matrices = vocabulary.sizes(), dict[int, Any]()
    for length in lengths:
        begin, texts = letters.starts(length)
        shape = letters.count, sizes[length - 1]
        matrices[length] = summed_up(texts, numbers[length - 1][begin], np.ones(len(begin)), shape)
    return Counted(vocabulary, matrices)


def summed_up(rows: Array, columns: Array, values: Array, shape: tuple[int, int]) -> Any:
    """A CSR matrix of values that are added up where they fall on each other."""
    matrix = sparse.coo_array((values, (rows, columns)), shape=shape).tocsr()
    matrix.sum_duplicates()
    return matrix


def texts_of(X: Held) -> Sequence[Any]:
    """The texts of items in memory, of items elsewhere or of a list."""
    if hasattr(X, "load"):
        return cast("Sequence[Any]", X.load())
    require_texts(X, "What is compared")
    return cast("Sequence[Any]", X)


def longest_of(X: Held) -> int:
    """Letters of the longest text."""
    return max((len(text) for text in texts_of(X)), default=0)
