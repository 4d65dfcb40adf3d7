"""Subsequences as columns: of short texts they are written out, through long ones they are followed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from mercer_old.arrays import Array
from mercer_old.blocks import steps
from mercer_old.kernels.texts import gaps
from mercer_old.kernels.texts.columns import Counts, FeaturesSeen, GramColumns
from mercer_old.kernels.texts.grams import UNKNOWN, Letters, Vocabulary, longest_of

__all__ = ["SubsequencesSeen"]

_FEW_KINDS = 5000  # different ones, up to which each is a column however long texts are


_NODES = 1 << 19  # of subsequences that are followed through texts at a time


class Subsequences(Counts, Protocol):
    """What columns of subsequences ask of their kernel."""

    @property
    def lengths(self) -> range: ...
    @property
    def decay(self) -> float: ...
    def can_be_written(self, length: int) -> bool: ...
    def squares(self, texts: Sequence[Any]) -> Array: ...


@dataclass(frozen=True, eq=False)
class SubsequencesSeen(FeaturesSeen):
    """The same columns for texts so long that their subsequences cannot be written out: those are followed."""

    kernel: Subsequences

    @classmethod
    def all_there_can_be(cls, kernel: Subsequences, alphabet: Array, texts: Sequence[Any]) -> "SubsequencesSeen | None":
        """A column for everything that these letters can spell, if that is not too much."""
        kinds = cls.number_there_can_be(kernel, alphabet)
        if kinds is None:
            return None
        parts = tuple(GramColumns.all_of(Vocabulary.complete(alphabet, q), q) for q in kernel.lengths)
        return cls(kernel, {}, parts, kernel.chain(longest_of(texts)) + 8, len(texts) * kinds)

    @staticmethod
    def number_there_can_be(kernel: Subsequences, alphabet: Array) -> int | None:
        """How many columns these would be, if they are not too many."""
        kinds = sum(float(len(alphabet)) ** q for q in kernel.lengths)
        return int(kinds) if kinds <= _FEW_KINDS else None

    def counted(self, texts: Sequence[Any]) -> tuple[Any, Array]:
        long = np.array([not self.kernel.can_be_written(len(text)) for text in texts], dtype=bool)
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
        strange = [i for i, text in enumerate(letters) if not self._complete or UNKNOWN in text]
        theirs = self.kernel.squares([texts[i] for i in strange])  # first: it refuses those that would take too long
        S = gaps.filled_up(letters, UNKNOWN)
        weighed = []
        for q, part in zip(self.kernel.lengths, self.parts, strict=True):
            weighed.append(np.sqrt(self.kernel.weight(q)) * _follow(part.vocabulary, q, S, self.kernel.decay))
        known = np.hstack(weighed)
        squares = np.einsum("ij,ij->i", known, known)
        squares[strange] = theirs
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
