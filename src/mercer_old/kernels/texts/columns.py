"""The columns of texts: one for every feature that those of a fit have, exact and sparse."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol, Self

import numpy as np
from scipy import sparse

from mercer_old.arrays import Array, Held
from mercer_old.kernels.features import FeatureMap
from mercer_old.kernels.texts.grams import UNKNOWN, Counted, Letters, Vocabulary, ends_of, longest_of, texts_of

_AT_ONCE = 2_000_000  # features of texts that are counted at a time, where the columns are known


class Counts(Protocol):
    """What columns ask of a kernel."""

    @property
    def normalize(self) -> Any: ...
    @property
    def counts(self) -> str: ...
    def letters(self, texts: Sequence[Any], words: dict[Any, int]) -> Letters: ...
    def count(self, letters: Letters) -> list[Counted]: ...
    def most_in(self, length: int) -> int: ...
    def weight(self, length: int) -> float: ...
    def spell(self, letters: list[int], words: dict[int, Any]) -> str | None: ...
    def chain(self, length: int) -> int: ...


@dataclass(frozen=True, eq=False)
class GramColumns:
    """A vocabulary, and how many columns each of its features has: more than one where counts="min"."""

    vocabulary: Vocabulary
    most: dict[int, Array]

    @classmethod
    def of(cls, kernel: Counts, part: Counted) -> "GramColumns":
        """As many as a feature is often in a text."""
        most = {length: np.ones(matrix.shape[1], dtype=np.int64) for length, matrix in part.lengths.items()}
        if kernel.counts == "min":
            for length, matrix in part.lengths.items():
                np.maximum.at(most[length], matrix.indices, matrix.data.astype(np.int64))
        return cls(part.vocabulary, most)

    @classmethod
    def all_of(cls, vocabulary: Vocabulary, length: int) -> "GramColumns":
        """One for each feature of a length."""
        return cls(vocabulary, {length: np.ones(vocabulary.sizes()[length - 1], dtype=np.int64)})

    def joined(self, other: "GramColumns") -> "GramColumns":
        """Those of both."""
        vocabulary = self.vocabulary.joined(other.vocabulary)
        most = {length: np.ones(vocabulary.sizes()[length - 1], dtype=np.int64) for length in self.most}
        for part in (self, other):
            places = part.vocabulary.in_terms_of(vocabulary)
            for length, columns in part.most.items():
                most[length][places[length - 1]] = np.maximum(most[length][places[length - 1]], columns)
        return GramColumns(vocabulary, most)


@dataclass(frozen=True, eq=False)
class FeaturesSeen(FeatureMap):
    """A column for every feature of the texts of a fit; those that they did not have only make a text longer."""

    kernel: Counts
    words: dict[Any, int]  # numbers of words, if those are the letters
    parts: tuple["GramColumns", ...]
    behind: int  # roundings
    entries: int  # of the features of the fit

    @classmethod
    def of(cls, kernel: Counts, texts: Sequence[Any]) -> Self:
        words, parts, entries = dict[Any, int](), list[GramColumns](), 0
        for some in _at_a_time(kernel, texts):
            counted = kernel.count(kernel.letters(texts[some], words))
            found = [GramColumns.of(kernel, part) for part in counted]
            parts = [a.joined(b) for a, b in zip(parts, found, strict=True)] if parts else found
            entries += sum(matrix.nnz for part in counted for matrix in part.lengths.values())
        return cls(kernel, words, tuple(parts), kernel.chain(longest_of(texts)) + 8, entries)

    def n_features(self) -> int:
        """Of texts without features, one that is always zero."""
        return max(1, int(sum(most.sum() for part in self.parts for most in part.most.values())))

    def roundings(self) -> int:
        return self.behind

    def stored(self) -> int:
        return self.entries

    def names(self) -> list[str] | None:
        """Every feature as it is read; the t-th column of one that is counted in unary is there t times or more."""
        words, names = {number: word for word, number in self.words.items()}, list[str]()
        for part in self.parts:
            for length, most in part.most.items():
                grams = part.vocabulary.levels[0].keys[part.vocabulary.spelled(length)].tolist()
                for letters, columns in zip(grams, most.tolist(), strict=True):
                    name = self.kernel.spell(letters, words)
                    if name is None:
                        return None
                    names += [name, *(f"{name} ({times} times)" for times in range(2, columns + 1))]
        return names or [""]

    def features(self, X: Held) -> Any:
        known, squares = self.counted(texts_of(X))
        if self.kernel.normalize is True:
            known.data *= np.repeat(inverse_roots(squares), np.diff(known.indptr))
        return known

    def counted(self, texts: Sequence[Any]) -> tuple[Any, Array]:
        """What there is of the columns in every text, and k(s, s) with all other features, before it is normalised."""
        parts = [self._counted(texts[some]) for some in _at_a_time(self.kernel, texts)]
        known = sparse.vstack([known for known, _ in parts], format="csr") if len(parts) > 1 else parts[0][0]
        return known, np.concatenate([squares for _, squares in parts])

    def _counted(self, texts: Sequence[Any]) -> tuple[Any, Array]:
        letters = self.kernel.letters(texts, dict(self.words))
        known, squares = [], np.zeros(len(texts))
        for part, columns in zip(self.kernel.count(letters), self.parts, strict=True):
            places = part.vocabulary.in_terms_of(columns.vocabulary)
            for length, matrix in part.lengths.items():
                if self.kernel.counts == "once":
                    matrix.data[:] = 1.0
                weight, unary = self.kernel.weight(length), self.kernel.counts == "min"
                squares += weight * _row_sums(matrix, matrix.data if unary else matrix.data**2)
                found = _in_columns(matrix, places[length - 1], columns.most[length], unary)
                known.append(found if weight == 1.0 else found * np.sqrt(weight))
        whole = known[0] if len(known) == 1 else sparse.csr_array(sparse.hstack(known, format="csr"))
        whole.resize((len(texts), self.n_features()))
        return whole, squares


def _at_a_time(kernel: Counts, texts: Sequence[Any]) -> list[slice]:
    """So many texts that their features fit into memory easily, one at least."""
    lengths, which = np.unique(np.array([len(text) for text in texts], dtype=np.int64), return_inverse=True)
    most = np.array([kernel.most_in(length) for length in lengths.tolist()], dtype=np.float64)
    total = np.cumsum(most[which.reshape(-1)])
    if not len(total) or total[-1] <= _AT_ONCE:
        return [slice(0, len(texts))]
    groups = np.flatnonzero(np.diff(total // _AT_ONCE)) + 1
    return [slice(a, b) for a, b in pairwise([0, *groups.tolist(), len(texts)])]


def _in_columns(counted: Any, places: Array, most: Array, unary: bool) -> Any:
    """Counts in the columns of a fit; unary: ones in the first c columns of a gram, as min(a, b) = Σₜ[a ≥ t][b ≥ t]."""
    columns = places[counted.indices] if len(places) else counted.indices
    known = columns != UNKNOWN
    ends, columns, data = ends_of(known)[counted.indptr], columns[known], counted.data[known]
    if unary:
        times = np.minimum(data.astype(np.int64), most[columns])
        first = np.concatenate([[0], np.cumsum(most)])[columns]
        steps = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
        ends, columns, data = ends_of(times)[ends], np.repeat(first, times) + steps, np.ones(int(times.sum()))
    shape = counted.shape[0], int(most.sum())
    small = np.int32 if max(shape[1], len(data)) <= np.iinfo(np.int32).max else np.int64
    return sparse.csr_array((data, columns.astype(small), ends.astype(small)), shape=shape)


def _row_sums(matrix: Any, data: Array) -> Array:
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return np.bincount(rows, data, matrix.shape[0])


def inverse_roots(squares: Array) -> Array:
    return np.divide(1.0, np.sqrt(squares), out=np.zeros_like(squares), where=squares > 0)
