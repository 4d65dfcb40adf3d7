"""Subsequences with gaps that strings share: as columns, where there are few enough, else pair by pair.

Three ways give the same numbers. The subsequences of a short string are enumerated. Those of a long string that are
columns of the fit are followed through it: a filter carries the weight of each shorter subsequence to the next symbol.
If there are too many columns, pairs of strings are compared by the recursion

    m₁(i, j) = [sᵢ = tⱼ],   m_q(i, j) = [sᵢ = tⱼ]·Σ λ^(i − 1 − i' + j − 1 − j') m_{q−1}(i', j')  over i' < i, j' < j,

where m_q(i, j) is the weight of all pairs of equal subsequences of q symbols that end at sᵢ and tⱼ. All terms are
positive, so nothing cancels; the recursion with −λ² in textbooks cancels.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import comb
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mercer.budget import memory_in_context, require_memory
from mercer.data.dataset import Dataset
from mercer.errors import DataError, ParameterError
from mercer.kernels.base import Kernel, PreparedKernel
from mercer.kernels.strings.counting import (
    CountingKernel,
    check_count,
    check_normalize,
    count_lengths,
    find_symbols,
    mean_over,
    normalize_tile,
)
from mercer.kernels.strings.ngrams import (
    COUNT_BYTES,
    UNKNOWN,
    EncodedStrings,
    NgramColumns,
    NgramCounts,
    NgramFeatureMap,
    Strings,
    Vocabulary,
    check_norms,
    check_same_type,
    check_strings,
    csr_from_triplets,
    encode_characters,
    find,
    lengths_of,
    split_strings,
)
from mercer.storable import storable
from mercer.text import short_repr

_MEAN_ENUMERATED = 2000  # subsequences of a string, on average, up to which they are enumerated
_MAX_ENUMERATED = 200_000  # of a single string
_MAX_COMPLETE = 20_000  # columns of all subsequences that an alphabet can spell
_ENUMERATE_COST, _FOLLOW_COST = 120.0, 12.0  # nanoseconds of a subsequence, and of a prefix and symbol
_FOLLOWED = 1 << 18  # prefixes and symbols that are followed at once
_FOLLOWED_BYTES = 32  # of a character while strings are encoded
_CELLS = 1 << 15  # pairs of symbols that are compared at once: they stay in the cache of a core
_BY_PRODUCT = 120  # symbols up to which a product with a matrix is faster than a filter
_ALWAYS_PADDED = 8  # symbols that a string may be padded by, however short it is
_SMALLEST = 1e-280  # value of one adjacent subsequence
_MAX_STEPS = 3e10  # for one pair of strings or one string: minutes
_PADDING = -1, -2  # of left and right strings: equal to nothing


@storable
@dataclass(frozen=True)
class Subsequence(CountingKernel):
    """String subsequence kernel: common subsequences, weighted by their gaps.

    k(s, t) = Σ λ^(|i| + |j|) over all subsequences s[i] = t[j] of `length` characters, divided by √(k(s, s)·k(t, t)).
    |i| is the distance from the first to the last character of a subsequence, both included, so every character that
    it leaves out costs a factor λ. A shorter string has k = 0 with all strings, itself included.

    Parameters
    ----------
    length : int, default=3
        Characters of a subsequence.
    decay : float, default=0.5
        λ, above 0 and at most 1. Close to 0, only adjacent characters count (`Spectrum`); at 1, gaps cost nothing.
    min_length : int, default=None
        If given, subsequences of all lengths from `min_length` to `length` are summed.
    normalize : bool or {"dice", "jaccard"}, default=True
        What k is divided by, as in `Spectrum`.

    Notes
    -----
    The kernel has exact sparse features if strings are short (23 characters on average for ``length=3``, and at most
    107) or have few different characters (DNA up to
    ``length=7``, proteins up to ``length=3``). Else pairs of strings are compared, in time
    ``length``·|s|·|t|. A string that would take minutes is rejected.

    References
    ----------
    H. Lodhi, C. Saunders, J. Shawe-Taylor, N. Cristianini, C. Watkins: Text classification using string kernels.
    Journal of Machine Learning Research 2, 2002.

    Examples
    --------
    >>> from mercer.kernels.strings import Subsequence
    >>> Subsequence(2, decay=0.5)(["cat"], ["car", "cart", "bat"]).round(4)  # the first is 1/(2 + λ²)
    array([[0.4444, 0.574 , 0.4444]])
    """

    length: int = 3
    decay: float = 0.5
    min_length: int | None = None
    normalize: bool | str = True
    integer_counts = False

    def __post_init__(self) -> None:
        check_count("length", self.length)
        if self.min_length is not None:
            check_count("min_length", self.min_length, most=int(self.length))
        if not isinstance(self.decay, Real) or isinstance(self.decay, bool) or not 0 < self.decay <= 1:
            raise ParameterError("decay", self.decay, "a number above 0 and at most 1")
        check_normalize(self.normalize)
        if self.normalize is False and float(self.decay) ** (2 * self.lengths[0]) < _SMALLEST:
            raise ParameterError("decay", self.decay, "larger without normalization, or all values underflow")

    @property
    def lengths(self) -> range:
        return range(self.length if self.min_length is None else self.min_length, self.length + 1)

    def _max_features(self, length: int) -> int:
        return sum(comb(length, q) for q in self.lengths)

    def _weight(self, length: int) -> float:
        """λ for each symbol of both; after normalization for those beyond the shortest, or a tiny λ underflows."""
        free = 0 if self.normalize is False else self.lengths[0]
        return float(self.decay) ** (2 * (length - free))

    @property
    def weights(self) -> dict[int, float]:
        return {q: self._weight(q) for q in self.lengths}

    def chain(self, length: int) -> int:
        most = self._max_features(length)
        enumerated = 3 * most + 8 if most <= _MAX_ENUMERATED else 0
        return max(enumerated, self.length * (4 * length + 8) + 2 * length + 8) + 4

    def entry_cost(self, data: Dataset) -> float:
        lengths = count_lengths(data)
        mean = mean_over(lengths, float)
        pair = self.length * (3.0 if mean <= _BY_PRODUCT else 6.0) * mean * mean  # also if one string decides the mean
        if _can_be_enumerated(self, lengths):
            return 5.0 + 0.2 * self._mean_features(lengths)
        complete = _complete_size(self, _alphabet(data.load())) if data.in_memory else None
        return pair if complete is None else 5.0 + 0.2 * complete

    def sample_width(self, data: Dataset) -> int:
        """Codes of the characters, and features if there are any."""
        lengths = count_lengths(data)
        width = 8 + mean_over(lengths, float)
        if _can_be_enumerated(self, lengths):
            return int(width + self._mean_features(lengths, data) / 2)
        complete = _complete_size(self, _alphabet(data.load())) if data.in_memory else None
        return int(width + (complete or 0))

    def _spellable(self, n_symbols: int) -> float:
        return sum(float(n_symbols) ** q for q in self.lengths)

    def _features(self, strings: NDArray) -> NgramFeatureMap | None:
        """The columns that cost least: those of the enumerated subsequences, all there can be, or none."""
        if not len(strings):
            return SubsequenceFeatureMap.fit(self, strings)
        lengths, alphabet = Counter(map(len, strings)), _alphabet(strings)
        enumerable = _can_be_enumerated(self, lengths)
        complete = _complete_size(self, alphabet)
        if complete is not None and COUNT_BYTES * complete * len(strings) <= memory_in_context():
            enumerating = _ENUMERATE_COST * self._mean_features(lengths) * len(strings)
            if not enumerable or _follow_cost(self, len(alphabet)) * sum(map(len, strings)) < enumerating:
                return SubsequenceFeatureMap.complete(self, alphabet, strings)
        return SubsequenceFeatureMap.fit(self, strings) if enumerable else None

    def _count(self, encoded: EncodedStrings) -> list[NgramCounts]:
        """All subsequences, those of strings of the same length by the same places."""
        alphabet, codes = np.unique(encoded.codes, return_inverse=True)
        return [self._enumerate(alphabet, codes.reshape(-1), encoded.offsets, q) for q in self.lengths]

    def _enumerate(self, alphabet: NDArray, codes: NDArray, offsets: NDArray, q: int) -> NgramCounts:
        lengths = np.diff(offsets)
        rows, tuples, values = [np.empty(0, np.int64)], [np.empty((0, q), np.int64)], [np.empty(0)]
        for length in np.unique(lengths[lengths >= q]).tolist():
            same = np.flatnonzero(lengths == length)
            places, left_out = _places(length, q)
            tuples.append(codes[offsets[same][:, None] + np.arange(length)][:, places].reshape(-1, q))
            rows.append(np.repeat(same, len(places)))
            values.append(np.tile(float(self.decay) ** left_out, len(same)))
        vocabulary, ids = Vocabulary.from_tuples(alphabet, np.concatenate(tuples))
        shape = len(lengths), vocabulary.sizes[-1]
        return NgramCounts(vocabulary, {q: csr_from_triplets(np.concatenate(rows), ids, np.concatenate(values), shape)})

    def _squared_norms(self, strings: NDArray) -> NDArray:
        check_length(self, self.length, strings, strings)
        with np.errstate(over="ignore", invalid="ignore"):
            squared_norms = self_sums(split_strings(encode_characters(strings)), self.decay, self.weights)
        check_norms(squared_norms, self)
        return squared_norms

    def diag(self, X: Any) -> NDArray:
        if self.normalize is False:
            return super().diag(X)
        return (lengths_of(check_strings(X)) >= self.lengths[0]).astype(np.float64)

    def _prepare_pairs(self, strings: NDArray, shift: float) -> PreparedKernel:
        return PreparedPairs(self, strings, strings, shift)


def _alphabet(strings: NDArray) -> NDArray:
    """Sorted codes of all characters."""
    return np.array(sorted(find_symbols(strings)), dtype=np.int64)


def _can_be_enumerated(kernel: Subsequence, lengths: "Counter[int]") -> bool:
    """Whether the subsequences of all strings can be written out; a few longer ones do no harm."""
    most = kernel._max_features(max(lengths, default=0))
    return most <= _MAX_ENUMERATED and kernel._mean_features(lengths) <= _MEAN_ENUMERATED


def _complete_size(kernel: Subsequence, alphabet: NDArray) -> int | None:
    """How many subsequences an alphabet can spell, if they are few."""
    size = kernel._spellable(len(alphabet))
    return int(size) if size <= _MAX_COMPLETE else None


def _follow_cost(kernel: Subsequence, n_symbols: int) -> float:
    """Nanoseconds for each symbol of a string that all subsequences are followed through."""
    return _FOLLOW_COST * sum(float(n_symbols) ** m for q in kernel.lengths for m in range(1, q)) + 2 * _FOLLOW_COST


@lru_cache(maxsize=64)
def _places(length: int, q: int) -> tuple[NDArray, NDArray]:
    """Where q of so many symbols can be, and how many they leave out in between."""
    places = np.array(list(combinations(range(length), q)), dtype=np.int64)
    return places, places[:, -1] - places[:, 0] + 1 - q


# ------------------------------------------------------------------------------------------------ as columns


class SubsequenceFeatureMap(NgramFeatureMap):
    """Columns of subsequences. In each string they are counted in the cheaper way: enumerated or followed."""

    kernel: Subsequence

    @classmethod
    def complete(cls, kernel: Subsequence, alphabet: NDArray, strings: NDArray) -> "SubsequenceFeatureMap":
        """A column for everything that an alphabet can spell."""
        columns = []
        for q in kernel.lengths:
            vocabulary = Vocabulary.complete(alphabet, q)
            columns.append(NgramColumns(vocabulary, {q: np.ones(vocabulary.sizes[-1], dtype=np.int64)}))
        lengths = lengths_of(strings)
        n_columns = sum(part.n_columns for part in columns)
        most = {length: min(n_columns, kernel._max_features(length)) for length in set(lengths.tolist())}
        nnz = sum(most[length] for length in lengths.tolist())
        return cls(kernel, columns, {}, int(lengths.max(initial=0)), nnz, check_same_type(strings, None))

    def count(self, strings: Any) -> tuple[Any, NDArray]:
        strings = check_strings(strings)
        check_same_type(strings, self.is_bytes)
        follow = self._to_follow(lengths_of(strings))
        if not follow.any():
            return super().count(strings)
        order = np.argsort(follow, kind="stable")
        n_enumerated = len(strings) - int(follow.sum())
        parts = [super().count(strings[order[:n_enumerated]])] if n_enumerated else []
        parts.append(self._follow_all(strings[order[n_enumerated:]]))
        back = np.argsort(order)
        known = sparse.vstack([part[0] for part in parts], format="csr")[back]
        return known, np.concatenate([part[1] for part in parts])[back]

    @property
    def _is_complete(self) -> bool:
        """Whether there is a column for everything that known symbols spell."""
        spelled = zip(self.kernel.lengths, self.columns, strict=True)
        return all(part.vocabulary.sizes[-1] == part.vocabulary.n_symbols**q for q, part in spelled)

    def _to_follow(self, lengths: NDArray) -> NDArray:
        """Strings that can be followed in less time than it takes to enumerate their subsequences."""
        n_prefixes = sum(sum(part.vocabulary.sizes[:-1]) for part in self.columns)
        distinct, which = np.unique(lengths, return_inverse=True)
        follow = []
        for length in distinct.tolist():
            most = self.kernel._max_features(length)
            following = _FOLLOW_COST * (n_prefixes + 2) * length
            if not self._is_complete:
                following += 6.0 * self.kernel.length * length**2
            follow.append(most > _MAX_ENUMERATED or following < _ENUMERATE_COST * most)
        return np.array(follow, dtype=bool)[which.reshape(-1)]

    def _follow_all(self, strings: NDArray) -> tuple[Any, NDArray]:
        kernel, alphabet = self.kernel, self.columns[0].vocabulary.levels[0]
        n_prefixes = max([1, *(size for part in self.columns for size in part.vocabulary.sizes[:-1])])
        check_length(kernel, n_prefixes, strings, ["."])
        require_memory(_FOLLOWED_BYTES * sum(map(len, strings)), "The characters of the strings")
        places = [find(alphabet, codes) for codes in split_strings(encode_characters(strings))]
        by_pairs = [i for i, symbols in enumerate(places) if not self._is_complete or UNKNOWN in symbols]
        norms_by_pairs = kernel._squared_norms(strings[by_pairs])  # first: it rejects strings that take minutes
        order, found, squared_norms, nnz = np.argsort(lengths_of(places), kind="stable"), [], np.zeros(len(places)), 0
        for batch in _batches(order, places, len(places), max(1, _FOLLOWED // self.n_features)):
            symbols = _pad([places[i] for i in batch], UNKNOWN)
            known = np.zeros((len(batch), self.n_features))
            first = 0
            for q, part in zip(kernel.lengths, self.columns, strict=True):
                columns = slice(first, first + part.n_columns)
                known[:, columns] = np.sqrt(kernel._weight(q)) * follow(part.vocabulary, symbols, kernel.decay)
                first = columns.stop
            squared_norms[batch] = np.einsum("ij,ij->i", known, known)
            found.append(sparse.csr_array(known))
            nnz += found[-1].nnz
            require_memory(COUNT_BYTES * nnz, "The subsequence counts of the strings")
        squared_norms[by_pairs] = norms_by_pairs
        check_norms(squared_norms, kernel)
        return sparse.vstack(found, format="csr")[np.argsort(order)], squared_norms


def follow(vocabulary: Vocabulary, symbols: NDArray, decay: float) -> NDArray:
    """The weight of every longest n-gram of a vocabulary, as subsequence of each string (a row of `symbols`).

    A filter along the string carries what there was of the n-gram without its last symbol.
    """
    from scipy.signal import lfilter  # slow to import

    total = np.zeros((len(symbols), vocabulary.sizes[-1]))
    n_levels = len(vocabulary.levels)
    states = [np.zeros((len(symbols), size, 1)) for size in vocabulary.sizes[:-1]]
    step = max(64, _FOLLOWED // (len(symbols) * max([1, *vocabulary.sizes[:-1]])))
    letters = np.arange(vocabulary.n_symbols)
    for start in range(0, symbols.shape[1], step):
        here = (symbols[:, None, start : start + step] == letters[:, None]).astype(np.float64)
        ends = carried = here
        for level in range(1, n_levels):
            if level > 1:
                prefix, symbol = vocabulary.prefixes(level - 1)
                ends = carried[:, prefix] * here[:, symbol]
            before = states[level - 1]
            filtered, _ = lfilter([1.0], [1.0, -decay], ends, axis=-1, zi=decay * before)
            carried = np.concatenate([before, filtered[..., :-1]], axis=-1)
            states[level - 1] = filtered[..., -1:]
        if n_levels == 1:
            total += here.sum(axis=-1)
        else:
            prefix, symbol = vocabulary.prefixes(n_levels - 1)
            total += (carried @ here.transpose(0, 2, 1))[:, prefix, symbol]
    return total


# ---------------------------------------------------------------------------------------------- pair by pair


class PreparedPairs(PreparedKernel):
    """Tiles by the recursion over pairs of symbols."""

    def __init__(self, kernel: Subsequence, X: NDArray, Y: NDArray, shift: float, right: "PreparedPairs | None" = None):
        check_length(kernel, kernel.length, X, Y)
        self.kernel: Kernel = kernel
        self.string_kernel, self.X, self.Y, self.shift = kernel, X, Y, shift
        self.shape = len(X), len(Y)
        self.right: list[NDArray] = right.right if right else split_strings(encode_characters(Y))
        self.left = self.right if X is Y else split_strings(encode_characters(X))
        self.n_roundings = kernel.n_roundings(max(map(len, (*self.left, *self.right)), default=0))
        self.left_norms = self.right_norms = np.zeros(0)
        if kernel.normalize is not False:
            self.right_norms = right.right_norms if right else kernel._squared_norms(Y)
            self.left_norms = self.right_norms if X is Y else kernel._squared_norms(X)

    def fill(self, rows: slice, columns: slice, out: NDArray) -> None:
        kernel = self.string_kernel
        tile = pair_sums(self.left[rows], self.right[columns], kernel.decay, kernel.weights)
        normalize_tile(tile, self.left_norms[rows], self.right_norms[columns], kernel.normalize)
        np.subtract(tile, self.shift, out=out, casting="same_kind")

    def against(self, X: Any) -> PreparedKernel:
        strings = check_strings(X)
        if len(self.Y):
            check_same_type(strings, isinstance(self.Y[0], bytes))
        return PreparedPairs(self.string_kernel, strings, self.Y, self.shift, self)


def pair_sums(left: Sequence[NDArray], right: Sequence[NDArray], decay: float, weights: dict[int, float]) -> NDArray:
    """Σ_q w_q Σ_ij m_q(i, j) of all pairs of strings, given as codes: those of similar lengths together."""
    out = np.zeros((len(left), len(right)))
    for rows, columns in _pair_batches(left, right):
        S, T = _pad([left[i] for i in rows], _PADDING[0]), _pad([right[j] for j in columns], _PADDING[1])
        out[np.ix_(rows, columns)] = _recursion(S[:, None], T[None], decay, weights)
    return out


def self_sums(strings: Sequence[NDArray], decay: float, weights: dict[int, float]) -> NDArray:
    """The same of every string and itself."""
    out = np.zeros(len(strings))
    order = np.argsort(lengths_of(strings), kind="stable")
    for batch in _batches(order, strings, _CELLS // 8, _CELLS):
        S = _pad([strings[i] for i in batch], _PADDING[0])
        out[batch] = _recursion(S, np.where(S < 0, _PADDING[1], S), decay, weights)
    return out


def _recursion(S: NDArray, T: NDArray, decay: float, weights: dict[int, float]) -> NDArray:
    """S (… × a) against T (… × b): symbols are on the last axis, pairs of strings on the others.

    The sum over j' is a filter along T; the sum over i' is carried on from symbol to symbol of S.
    """
    a, b, longest = S.shape[-1], T.shape[-1], max(weights)
    shape = (*np.broadcast_shapes(S.shape[:-1], T.shape[:-1]), b)
    total = {q: np.zeros(shape) for q in weights}
    carried = [np.zeros(shape) for _ in range(longest - 1)]
    along = _filter_along(b, decay)
    for i in range(a):
        ends = same = np.equal(S[..., i, None], T).astype(np.float64)
        for q in range(1, longest + 1):
            if q in total:
                total[q] += ends
            if q < longest:
                before = carried[q - 1]
                longer = same * before
                before *= decay
                before += along(ends)
                ends = longer
    sums = [weight * total[q].sum(axis=-1) for q, weight in weights.items()]
    return np.asarray(sum(sums[1:], sums[0]))


def _filter_along(b: int, decay: float) -> Callable[[NDArray], NDArray]:
    """x ↦ Σ λ^(j − 1 − j')·x_j' over j' < j, along the last axis of b entries."""
    if b <= _BY_PRODUCT:
        gaps = np.arange(b) - 1 - np.arange(b)[:, None]
        matrix = np.where(gaps >= 0, float(decay) ** np.maximum(gaps, 0), 0.0)
        return lambda x: x @ matrix

    from scipy.signal import lfilter

    def filtered(x: NDArray) -> NDArray:
        out = np.zeros_like(x)
        out[..., 1:] = lfilter([1.0], [1.0, -decay], x[..., :-1], axis=-1)
        return out

    return filtered


def _pair_batches(left: Sequence[NDArray], right: Sequence[NDArray]) -> Iterator[tuple[NDArray, NDArray]]:
    rows, columns = (np.argsort(lengths_of(side), kind="stable") for side in (left, right))
    for some in _batches(columns, right, 128, _CELLS):
        widest = max(len(right[some[-1]]), 1)
        for others in _batches(rows, left, max(1, _CELLS // (len(some) * widest)), _CELLS):
            yield others, some


def _batches(order: NDArray, strings: Sequence[NDArray], most: int, cells: int) -> Iterator[NDArray]:
    """Strings by length: at most so many, and so many symbols, at once; none much longer than the shortest of them."""
    lengths = lengths_of([strings[i] for i in order])
    start = 0
    while start < len(order):
        similar = int(np.searchsorted(lengths, 2 * lengths[start] + _ALWAYS_PADDED, side="right"))
        stop = min(start + most, similar)
        while stop > start + 1 and (stop - start) * lengths[stop - 1] > cells:
            stop = start + (stop - start) // 2
        yield order[start:stop]
        start = stop


def _pad(strings: Sequence[NDArray], padding: int) -> NDArray:
    """Strings as rows of one matrix."""
    matrix = np.full((len(strings), max(map(len, strings), default=0)), padding, dtype=np.int64)
    for row, string in zip(matrix, strings, strict=True):
        row[: len(string)] = string
    return matrix


def check_length(kernel: Kernel, steps_per_pair: float, left: Strings, right: Strings) -> None:
    """Raise if one pair of strings takes minutes; `steps_per_pair` is the work for one pair of their symbols."""
    a, b = (max(map(len, side), default=0) for side in (left, right))
    steps = float(steps_per_pair) * a * b
    if steps > _MAX_STEPS:
        raise DataError(
            f"A string of {max(a, b):,} characters is too long for {short_repr(kernel, 120)}: it takes {steps:.1e} "
            f"steps (limit {_MAX_STEPS:.0e}). Cut the strings, or use Spectrum, which counts adjacent characters."
        )
