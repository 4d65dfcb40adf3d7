"""n-grams of strings, counted exactly: every n-gram has a number of its own, and no two share one.

An n-gram is an (n − 1)-gram and one more symbol. So n-grams are numbered level by level: the pair (number of the
shorter n-gram, symbol) is one integer, the distinct ones are sorted, and their places are the numbers of the next
level. Nothing is hashed, so nothing collides, and symbols may be any code points or whole words.

Strings are counted in pieces: a few million short ones, or one that is long, take little memory besides their n-grams.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mercer.budget import memory_in_context, require_memory
from mercer.compat.optional import import_optional
from mercer.data.conversion import as_strings
from mercer.errors import DataError
from mercer.kernels.base import FeatureMap

if TYPE_CHECKING:
    from mercer.kernels.strings.counting import CountingKernel

Strings = Sequence[Any] | NDArray
UNKNOWN = -1
_PIECE = 1 << 19  # features that are counted at once
_FEATURE_BYTES = 256  # of memory for each of them
COUNT_BYTES = 32  # of a count in a column while blocks of them are put together
_UNARY_BYTES = 72  # of a one in a column of `counts="min"`
_CHARACTER_BYTES = 12  # of a character while it is encoded
_TOKEN_BYTES = 72  # of a token in a list and as an object
_WINDOW_BYTES = 64  # of an n-gram that is counted
_MERGE_BYTES = 64  # of an n-gram while two vocabularies are merged
_WAITING_BYTES = 56  # of an n-gram and its counts while pieces wait for others


# --------------------------------------------------------------------------------------- strings as numbers


class EncodedStrings(NamedTuple):
    """String i is ``codes[offsets[i]:offsets[i + 1]]``; only n-grams that begin in its first `n_starts` count."""

    codes: NDArray
    offsets: NDArray
    n_starts: int | None = None


def check_strings(samples: Any, name: str = "X") -> NDArray:
    """Strings as an array of objects: all str or all bytes."""
    if isinstance(samples, np.ndarray) and samples.dtype == object and samples.ndim == 1:
        types = set(map(type, samples))
        if types <= {str} or types == {bytes}:
            return samples
    if isinstance(samples, (list, tuple)) and not samples:
        return np.empty(0, dtype=object)
    return as_strings(samples, name)


def check_same_type(strings: NDArray, other_is_bytes: bool | None, name: str = "X") -> bool | None:
    """Whether the strings are bytes (None: there are none); raise if the others were not of the same type."""
    if not len(strings):
        return other_is_bytes
    is_bytes = isinstance(strings[0], bytes)
    if other_is_bytes not in (None, is_bytes):
        types = ("bytes", "str") if is_bytes else ("str", "bytes")
        raise DataError(f"{name} has {types[0]}, and the other strings are {types[1]}. Decode the bytes first.")
    return is_bytes


def lengths_of(strings: Strings) -> NDArray:
    """Characters of every string."""
    return np.fromiter(map(len, strings), dtype=np.int64, count=len(strings))


def offsets_of(lengths: NDArray) -> NDArray:
    """Where parts of these lengths begin and end, one after the other."""
    return np.concatenate([[0], np.cumsum(lengths)])


def encode_characters(strings: Strings) -> EncodedStrings:
    """Code points of str, lone surrogates included; of bytes, the bytes."""
    if len(strings) and isinstance(strings[0], bytes):
        codes = np.frombuffer(b"".join(strings), dtype=np.uint8)
    else:
        codes = np.frombuffer("".join(strings).encode("utf-32-le", "surrogatepass"), dtype="<u4")
    return EncodedStrings(codes, offsets_of(lengths_of(strings)))


def tokenize(string: Any, analyzer: str) -> list[Any]:
    """Characters, graphemes or words of a string; of bytes, parts that are bytes."""
    if analyzer == "word":
        return list(string.split())
    if isinstance(string, bytes):
        if analyzer == "grapheme":
            return [part.encode("latin-1") for part in tokenize(string.decode("latin-1"), analyzer)]
        return [string[i : i + 1] for i in range(len(string))]
    if analyzer == "grapheme" and not (string.isascii() and "\r\n" not in string):
        return list(import_optional("regex", "strings", 'analyzer="grapheme"').findall(r"\X", string))
    return list(string)


def encode_tokens(strings: Strings, analyzer: str, token_ids: dict[Any, int]) -> EncodedStrings:
    """The numbers of all tokens; new ones are added to `token_ids` in the order in which they come."""
    require_memory(_TOKEN_BYTES * sum(map(len, strings)), "The tokens of a string")
    lists = [tokenize(string, analyzer) for string in strings]
    offsets = offsets_of(lengths_of(lists))
    ids = (token_ids.setdefault(token, len(token_ids)) for tokens in lists for token in tokens)
    return EncodedStrings(np.fromiter(ids, dtype=np.int64, count=int(offsets[-1])), offsets)


def split_strings(encoded: EncodedStrings) -> list[NDArray]:
    """The codes of every string."""
    return [encoded.codes[start:stop] for start, stop in pairwise(encoded.offsets.tolist())]


def window_starts(encoded: EncodedStrings, length: int) -> tuple[NDArray, NDArray]:
    """Where n-grams of this length begin, and in which string each of them is."""
    counts = np.maximum(np.diff(encoded.offsets) - length + 1, 0)
    if encoded.n_starts is not None:
        counts = np.minimum(counts, encoded.n_starts)
    starts = np.repeat(encoded.offsets[:-1] - (np.cumsum(counts) - counts), counts)
    starts += np.arange(len(starts))
    return starts, np.repeat(np.arange(len(counts)), counts)


# ------------------------------------------------------------------------------------------------- n-grams


class Vocabulary:
    """Distinct n-grams of up to some length.

    ``levels[0]`` has the sorted symbols, ``levels[m - 1]`` the sorted keys of the m-grams: number of the first m − 1
    symbols among the (m − 1)-grams, times the number of symbols, plus number of the last symbol.
    """

    def __init__(self, levels: Sequence[NDArray]) -> None:
        self.levels = tuple(levels)
        self.n_symbols = len(self.levels[0])
        self.sizes = [len(level) for level in self.levels]

    @classmethod
    def from_tuples(cls, symbols: NDArray, tuples: NDArray) -> tuple[Self, NDArray]:
        """n-grams that are given as places in `symbols`, one in each row, and the number of each."""
        ids, levels = tuples[:, 0], [symbols]
        for symbol in tuples.T[1:]:
            level, ids = _number(ids * len(symbols) + symbol, len(levels[-1]) * len(symbols))
            levels.append(level)
        return cls(levels), ids

    @classmethod
    def complete(cls, symbols: NDArray, length: int) -> Self:
        """All n-grams of these symbols."""
        return cls([symbols, *(np.arange(len(symbols) ** m) for m in range(2, length + 1))])

    def prefixes(self, level: int) -> tuple[NDArray, NDArray]:
        """For every n-gram of a level from 1 on, the number of the shorter n-gram and of the last symbol."""
        prefix, symbol = np.divmod(self.levels[level], max(self.n_symbols, 1))
        return prefix, symbol

    def spell(self, length: int) -> NDArray:
        """Places in the symbols of every n-gram of a length, one n-gram in each row."""
        spelled = np.empty((self.sizes[length - 1], length), dtype=np.int64)
        ids = np.arange(len(spelled))
        for level in range(length - 1, 0, -1):
            ids, spelled[:, level] = (part[ids] for part in self.prefixes(level))
        spelled[:, 0] = ids
        return spelled

    def merge(self, other: "Vocabulary") -> "Vocabulary":
        """All n-grams of both."""
        require_memory(_MERGE_BYTES * (sum(self.sizes) + sum(other.sizes)), "The distinct n-grams of the strings")
        merged = Vocabulary([_union(self.levels[0], other.levels[0])])
        places = [[find(merged.levels[0], part.levels[0])] for part in (self, other)]
        for level in range(1, len(self.levels)):
            keys = [part._keys_in(merged, level, at) for part, at in zip((self, other), places, strict=True)]
            merged = Vocabulary([*merged.levels, _union(*keys)])
            for at, key in zip(places, keys, strict=True):
                at.append(find(merged.levels[level], key))
        return merged

    def translate_to(self, other: "Vocabulary") -> list[NDArray]:
        """For every level, the number that each n-gram has in another vocabulary, or UNKNOWN."""
        places = [find(other.levels[0], self.levels[0])]
        for level in range(1, len(self.levels)):
            places.append(find(other.levels[level], self._keys_in(other, level, places)))
        return places

    def _keys_in(self, other: "Vocabulary", level: int, places: list[NDArray]) -> NDArray:
        """The n-grams of a level as keys of another vocabulary, UNKNOWN where it lacks a part."""
        prefix, symbol = self.prefixes(level)
        prefix, symbol = places[level - 1][prefix], places[0][symbol]
        return np.where((prefix < 0) | (symbol < 0), UNKNOWN, prefix * other.n_symbols + symbol)


def find(level: NDArray, keys: NDArray) -> NDArray:
    """The place of each key in a sorted level, or UNKNOWN."""
    if not len(level):
        return np.full(len(keys), UNKNOWN)
    place = np.minimum(np.searchsorted(level, keys), len(level) - 1)
    return np.where(level[place] == keys, place, UNKNOWN)


def _union(left: NDArray, right: NDArray) -> NDArray:
    """Distinct keys of two sorted levels: merging two runs is many times faster than `np.union1d`."""
    both = np.concatenate([left, right])
    both.sort(kind="stable")
    return both[np.concatenate([[True], both[1:] != both[:-1]])[: len(both)]]


def _number(keys: NDArray, below: int) -> tuple[NDArray, NDArray]:
    """The distinct keys, sorted, and the place of each among them: by a table where that is not much longer."""
    if below > 4 * len(keys) + 1000:
        distinct, ids = np.unique(keys, return_inverse=True)
        return distinct, ids.reshape(-1)
    present = np.zeros(below, dtype=bool)
    present[keys] = True
    return np.flatnonzero(present), (np.cumsum(present) - 1)[keys]


class NgramCounts(NamedTuple):
    """How often every n-gram of a vocabulary is in every string: a CSR array for each length that counts."""

    vocabulary: Vocabulary
    matrices: dict[int, Any]

    @property
    def size(self) -> int:
        return sum(self.vocabulary.sizes)

    def merge(self, other: "NgramCounts") -> "NgramCounts":
        """Sums of the counts of two parts of the same strings."""
        vocabulary, matrices = self.vocabulary.merge(other.vocabulary), {}
        places = [part.vocabulary.translate_to(vocabulary) for part in (self, other)]
        for length in self.matrices:
            shape = self.matrices[length].shape[0], vocabulary.sizes[length - 1]
            first, second = (
                sparse.csr_array((m.data, at[length - 1][m.indices], m.indptr), shape=shape)
                for m, at in zip((self.matrices[length], other.matrices[length]), places, strict=True)
            )
            matrices[length] = first + second
        return NgramCounts(vocabulary, matrices)


def count_ngrams(encoded: EncodedStrings, lengths: range) -> NgramCounts:
    """Counts of the symbols next to each other."""
    alphabet, symbols = _number(encoded.codes, int(encoded.codes.max(initial=0)) + 1)
    starts, rows = window_starts(encoded, 1)
    room = encoded.offsets[rows + 1] - starts
    levels, ids, matrices = [alphabet], symbols[starts], {}
    for length in range(1, lengths[-1] + 1):
        require_memory(8 * sum(map(len, levels)) + _WINDOW_BYTES * len(ids), "The n-grams of the strings")
        if length > 1:
            fits = room >= length
            if not fits.all():
                starts, rows, room, ids = starts[fits], rows[fits], room[fits], ids[fits]
            level, ids = _number(ids * len(alphabet) + symbols[starts + length - 1], len(levels[-1]) * len(alphabet))
            levels.append(level)
        if length in lengths:
            shape = len(encoded.offsets) - 1, len(levels[-1])
            matrices[length] = csr_from_triplets(rows, ids, np.ones(len(ids)), shape)
    return NgramCounts(Vocabulary(levels), matrices)


def csr_from_triplets(rows: NDArray, columns: NDArray, values: NDArray, shape: tuple[int, int]) -> Any:
    """A CSR array of values that are added up where they fall on each other."""
    matrix = sparse.coo_array((values, (rows, columns)), shape=shape).tocsr()
    matrix.sum_duplicates()
    return matrix


# --------------------------------------------------------------------------------------- columns of a fit


class NgramColumns(NamedTuple):
    """A vocabulary, and how many columns each n-gram has: more than one if ``counts="min"``."""

    vocabulary: Vocabulary
    widths: dict[int, NDArray]

    @classmethod
    def from_counts(cls, counted: NgramCounts, unary: bool) -> Self:
        widths = {length: np.ones(matrix.shape[1], dtype=np.int64) for length, matrix in counted.matrices.items()}
        if unary:
            for length, matrix in counted.matrices.items():
                np.maximum.at(widths[length], matrix.indices, matrix.data.astype(np.int64))
        return cls(counted.vocabulary, widths)

    @property
    def size(self) -> int:
        return sum(self.vocabulary.sizes)

    @property
    def n_columns(self) -> int:
        return int(sum(width.sum() for width in self.widths.values()))

    def merge(self, other: "NgramColumns") -> "NgramColumns":
        """The columns of both."""
        vocabulary = self.vocabulary.merge(other.vocabulary)
        widths = {length: np.ones(vocabulary.sizes[length - 1], dtype=np.int64) for length in self.widths}
        for part in (self, other):
            places = part.vocabulary.translate_to(vocabulary)
            for length, width in part.widths.items():
                at = places[length - 1]
                widths[length][at] = np.maximum(widths[length][at], width)
        return NgramColumns(vocabulary, widths)


class NgramFeatureMap(FeatureMap):
    """One column for every n-gram of the training strings. Unseen n-grams change only the norm of a string.

    A kernel may count in several ways (`columns`, in the order of `CountingKernel._count`).
    """

    sparse = True
    recomputable = False

    def __init__(
        self,
        kernel: "CountingKernel",
        columns: Sequence[NgramColumns],
        token_ids: dict[Any, int],
        longest: int,
        nnz: int,
        is_bytes: bool | None,
    ) -> None:
        self.kernel, self.columns, self.token_ids, self.nnz = kernel, tuple(columns), token_ids, nnz
        self.n_features = max(1, sum(part.n_columns for part in self.columns))  # zero, if there are no n-grams
        self.n_roundings = kernel.chain(longest) + 8
        self.is_bytes = is_bytes

    @classmethod
    def fit(cls, kernel: "CountingKernel", strings: Any) -> Self:
        """The columns of these strings."""
        strings = check_strings(strings)
        token_ids: dict[Any, int] = {}
        nnz = 0

        def found() -> Iterator[list[NgramColumns]]:
            nonlocal nnz
            for group in _groups(kernel, strings):
                counted = _count(kernel, strings[group], token_ids)
                matrices = [matrix for part in counted for matrix in part.matrices.values()]
                nnz += sum(int(m.data.sum()) if kernel.counts == "min" else m.nnz for m in matrices)
                yield [NgramColumns.from_counts(part, kernel.counts == "min") for part in counted]

        columns = _merge_all(found())
        longest = int(lengths_of(strings).max(initial=0))
        return cls(kernel, columns, token_ids, longest, nnz, check_same_type(strings, None))

    def transform(self, samples: Any) -> Any:
        known, squared_norms = self.count(samples)
        if self.kernel.normalize is True:
            known.data *= np.repeat(inverse_roots(squared_norms), np.diff(known.indptr))
        return known

    def count(self, strings: Any) -> tuple[Any, NDArray]:
        """Weighted counts in the columns of the fit, and the squared norm of every string with all its n-grams."""
        strings = check_strings(strings)
        check_same_type(strings, self.is_bytes)
        parts, nnz = [], 0
        for group in _groups(self.kernel, strings):
            parts.append(self._count_group(strings[group]))
            nnz += parts[-1][0].nnz
            require_memory(COUNT_BYTES * nnz, "The n-gram counts of the strings")
        known = parts[0][0] if len(parts) == 1 else sparse.vstack([part[0] for part in parts], format="csr")
        squared_norms = np.concatenate([part[1] for part in parts])
        check_norms(squared_norms, self.kernel)
        return known, squared_norms

    def get_feature_names_out(self) -> NDArray:
        """Every n-gram as it is read; the t-th column of one that is counted in unary is there t times or more."""
        tokens, names = {number: token for token, number in self.token_ids.items()}, list[str]()
        for i, part in enumerate(self.columns):
            for length, width in part.widths.items():
                spelled = part.vocabulary.levels[0][part.vocabulary.spell(length)].tolist()
                for symbols, times in zip(spelled, width.tolist(), strict=True):
                    name = self.kernel._spell(i, symbols, tokens)
                    names += [name, *(f"{name} ({t} times)" for t in range(2, times + 1))]
        return np.array(names or [""], dtype=object)

    def _count_group(self, strings: NDArray) -> tuple[Any, NDArray]:
        kernel, known = self.kernel, []
        squared_norms, unary = np.zeros(len(strings)), self.kernel.counts == "min"
        counted = _count(kernel, strings, dict(self.token_ids))  # a copy: words of new strings are not remembered
        if unary:
            n_ones = sum(matrix.data.sum() for part in counted for matrix in part.matrices.values())
            require_memory(_UNARY_BYTES * n_ones, "The n-gram counts of the strings")
        for part, columns in zip(counted, self.columns, strict=True):
            places = part.vocabulary.translate_to(columns.vocabulary)
            for length, matrix in part.matrices.items():
                if kernel.counts == "binary":
                    matrix.data[:] = 1.0
                weight, data = kernel._weight(length), matrix.data
                squared_norms += weight * _row_sums(matrix, data if unary else data**2)
                found = _in_columns(matrix, places[length - 1], columns.widths[length], unary)
                known.append(found if weight == 1.0 else found * np.sqrt(weight))
        whole = known[0] if len(known) == 1 else sparse.csr_array(sparse.hstack(known, format="csr"))
        whole.resize((len(strings), self.n_features))
        return whole, squared_norms


def check_norms(squared_norms: NDArray, kernel: "CountingKernel") -> None:
    """Raise for strings whose k(s, s) overflows."""
    if not np.isfinite(squared_norms).all():
        raise DataError(f"k(s, s) of a string overflows for {kernel!r}. Use a smaller length.")


def inverse_roots(squares: NDArray) -> NDArray:
    """1/√x, and 0 of 0."""
    return np.divide(1.0, np.sqrt(squares), out=np.zeros_like(squares), where=squares > 0)


def _groups(kernel: "CountingKernel", strings: NDArray) -> list[slice]:
    """Strings that are counted at once: those of few features together, one at least."""
    distinct, which = np.unique(lengths_of(strings), return_inverse=True)
    most = np.array([kernel._max_features(length) for length in distinct.tolist()], dtype=np.float64)
    most = most[which.reshape(-1)]
    total = np.cumsum(most)
    piece = _features_at_once()
    if not len(total) or total[-1] <= piece:
        return [slice(0, len(strings))]
    bounds = np.flatnonzero((np.diff(total // piece) > 0) | (most[:-1] > piece)) + 1
    return [slice(start, stop) for start, stop in pairwise([0, *bounds.tolist(), len(strings)])]


def _features_at_once() -> int:
    return max(1000, min(_PIECE, memory_in_context() // _FEATURE_BYTES))


def _count(kernel: "CountingKernel", strings: NDArray, token_ids: dict[Any, int]) -> list[NgramCounts]:
    """Counts of all strings, of a long one piece by piece."""
    require_memory(_CHARACTER_BYTES * sum(map(len, strings)), "The characters of a string")
    encoded = kernel._encode(strings, token_ids)
    n_symbols, window = len(encoded.codes), kernel._window
    work = kernel._max_features(n_symbols) + window * n_symbols / 8  # columns, and levels of the vocabulary
    n_starts = max(1000, int(_features_at_once() * n_symbols / max(work, 1)))
    if len(strings) > 1 or not window or n_symbols <= n_starts:
        return kernel._count(encoded)

    def pieces() -> Iterator[list[NgramCounts]]:
        for start in range(0, n_symbols, n_starts):
            codes = encoded.codes[start : start + n_starts + window - 1]
            yield kernel._count(EncodedStrings(codes, np.array([0, len(codes)]), n_starts))

    return _merge_all(pieces())


def _merge_all(found: Iterator[list[Any]]) -> list[Any]:
    """All parts of all pieces; pieces of similar size are merged first, so that large ones are merged seldom."""
    waiting: list[list[Any]] = []
    for piece in found:
        waiting.append(piece)
        require_memory(_WAITING_BYTES * sum(map(_size, waiting)), "The distinct n-grams of the strings")
        while len(waiting) > 1 and _size(waiting[-2]) <= 2 * _size(waiting[-1]):
            waiting[-2:] = [_merge(*waiting[-2:])]
    while len(waiting) > 1:
        waiting[-2:] = [_merge(*waiting[-2:])]
    return waiting[0]


def _merge(left: list[Any], right: list[Any]) -> list[Any]:
    return [a.merge(b) for a, b in zip(left, right, strict=True)]


def _size(piece: list[Any]) -> int:
    return sum(part.size for part in piece)


def _in_columns(counted: Any, places: NDArray, widths: NDArray, unary: bool) -> Any:
    """Counts in the columns of a fit; unary: ones in the first c columns, as min(a, b) = Σₜ[a ≥ t][b ≥ t]."""
    columns = places[counted.indices] if len(places) else counted.indices
    known = columns != UNKNOWN
    indptr, columns, data = offsets_of(known)[counted.indptr], columns[known], counted.data[known]
    if unary:
        times = np.minimum(data.astype(np.int64), widths[columns])
        first = offsets_of(widths)[columns]
        steps = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
        indptr, columns, data = offsets_of(times)[indptr], np.repeat(first, times) + steps, np.ones(int(times.sum()))
    shape = counted.shape[0], int(widths.sum())
    index = np.int32 if max(shape[1], len(data)) <= np.iinfo(np.int32).max else np.int64
    return sparse.csr_array((data, columns.astype(index), indptr.astype(index)), shape=shape)


def _row_sums(matrix: Any, data: NDArray) -> NDArray:
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return np.bincount(rows, data, matrix.shape[0])
