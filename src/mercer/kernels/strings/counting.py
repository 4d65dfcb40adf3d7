"""Kernels that count features of strings: n-grams, with open or exchanged symbols, or at a position."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product
from math import comb
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mercer.budget import require_memory
from mercer.data.dataset import Dataset, csr_rows
from mercer.errors import ParameterError
from mercer.kernels.base import ROUNDINGS, FeatureMap, Generator, Kernel, PreparedKernel, check_positive
from mercer.kernels.strings.ngrams import (
    EncodedStrings,
    NgramCounts,
    NgramFeatureMap,
    Strings,
    Vocabulary,
    check_strings,
    count_ngrams,
    csr_from_triplets,
    encode_characters,
    encode_tokens,
    inverse_roots,
    lengths_of,
)
from mercer.storable import storable
from mercer.text import short_repr

MAX_LENGTH = 100  # symbols of an n-gram
_MAX_NEIGHBORS = 5000  # features of one window
_DENSE = 0.1  # density from which products of dense arrays are faster
_EXACT = 2.0**53  # integers below are exact, and so are their sums and products
_LONG = 1000  # symbols from which strings have features many times
_USUAL_ALPHABET = 26  # symbols of an alphabet that is not known yet, for plans
_SMALLEST_WEIGHT = 1e-100  # squares of weights and products of counts do not over- or underflow
_POSITION = 1 << 21  # more than there are code points


class CountingKernel(Kernel):
    """k(s, t) = Σ_g w_g·c_g(s)·c_g(t) over features g, normalized; c_g(s) counts feature g in string s.

    `normalize` divides k, with a = k(s, s) and b = k(t, t), by √(ab) (True), (a + b)/2 ("dice"), a + b − k
    ("jaccard") or nothing (False). A string without features has k = 0, also with itself. A subclass writes `_count`
    and `_max_features`.
    """

    # Dice: k times 1/(a + b) = ∫ e^−xa e^−xb dx, a product of two kernels. Jaccard: Σ (k/(a + b))ⁿ over n ≥ 1, as
    # k ≤ (a + b)/2. Both are positive semi-definite, and neither is a product of sparse features.

    input_kind = "strings"
    psd = True
    normalize: bool | str
    counts = "product"
    integer_counts = True
    _window = 0  # symbols of the longest n-gram, if strings can be counted in pieces

    @abstractmethod
    def _count(self, encoded: EncodedStrings) -> list[NgramCounts]:
        """How often the features are in each string, in vocabularies of their own."""

    @abstractmethod
    def _max_features(self, length: int) -> int:
        """The most features that a string of so many symbols has."""

    def _encode(self, strings: Strings, token_ids: dict[Any, int]) -> EncodedStrings:
        return encode_characters(strings)

    def _weight(self, length: int) -> float:
        """w_g of features of so many symbols."""
        return 1.0

    def _spell(self, part: int, symbols: list[int], tokens: dict[int, Any]) -> str:
        """A feature of the given part of `_count` as it is read, from the codes of its symbols."""
        return "".join(map(chr, symbols))

    def validate(self, samples: Any, name: str = "X") -> None:
        check_strings(samples, name)

    def feature_map(self, samples: Any) -> FeatureMap | None:
        return self._features(check_strings(samples)) if isinstance(self.normalize, (bool, np.bool_)) else None

    def _features(self, strings: NDArray) -> NgramFeatureMap | None:
        """One column for every feature of these strings, if there are not too many."""
        return NgramFeatureMap.fit(self, strings)

    def prepare(self, Y: Any, *, shift: float | None = 0.0) -> PreparedKernel:
        strings = check_strings(Y)
        features = self._features(strings)
        if features is None:
            return self._prepare_pairs(strings, shift or 0.0)
        counted = features.count(strings)
        return PreparedCounts(features, counted, counted, shift or 0.0, _longest(strings))

    def _prepare_pairs(self, strings: NDArray, shift: float) -> PreparedKernel:
        """Without features, where `_features` finds too many."""
        raise NotImplementedError(f"{type(self).__name__} always has features.")

    def diag(self, X: Any) -> NDArray:
        return self._normalized_diag(self._squared_norms(check_strings(X)))

    def _squared_norms(self, strings: NDArray) -> NDArray:
        """k(s, s) of every string before normalization."""
        return NgramFeatureMap.fit(self, strings[:0]).count(strings)[1]

    def _normalized_diag(self, squared_norms: NDArray) -> NDArray:
        return squared_norms if self.normalize is False else (squared_norms > 0).astype(np.float64)

    def chain(self, length: int) -> int:
        """Roundings behind k of strings of so many symbols before normalization: none of integers."""
        most = self._max_features(length)
        return 0 if self.integer_counts and float(most) ** 2 < _EXACT else 3 * most + 4

    def n_roundings(self, longest: int) -> int:
        """k is divided by a root of a and of b, half a chain each, by their sum, or by a + b − k, of which at least a
        third of its moduli is left."""
        return (4 if self.normalize == "jaccard" else 2) * self.chain(longest) + ROUNDINGS

    def _spellable(self, n_symbols: int) -> float:
        """The most features that strings of so many different symbols have in all; by default, no bound."""
        return np.inf

    def entry_cost(self, data: Dataset) -> float:
        return 5.0 + 0.2 * self._mean_features(count_lengths(data), data)

    def sample_width(self, data: Dataset) -> int:
        lengths = count_lengths(data)
        return int(8 + mean_over(lengths, lambda length: length / 8) + self._mean_features(lengths, data) / 2)

    def _mean_features(self, lengths: "Counter[int]", data: Dataset | None = None) -> float:
        """Mean number of features of a string; long strings have the same features many times."""
        most = np.inf
        if data is not None and data.in_memory and max(lengths, default=0) > _LONG:
            most = self._spellable(len(find_symbols(data.load())))
        return mean_over(lengths, lambda length: min(self._max_features(length), most))


class PreparedCounts(PreparedKernel):
    """Tiles of the products of sparse counts, normalized, minus the shift."""

    def __init__(
        self,
        features: NgramFeatureMap,
        left: tuple[Any, NDArray],
        right: tuple[Any, NDArray],
        shift: float,
        longest: int,
    ) -> None:
        self.features, self.kernel, self.shift, self.longest = features, features.kernel, shift, longest
        (self.left, self.left_norms), (self.right, self.right_norms) = left, right
        self.shape = self.left.shape[0], self.right.shape[0]
        self.n_roundings = features.kernel.n_roundings(longest)

    @property
    def nbytes(self) -> int:
        stored = {id(m): m for m in (self.left, self.right)}.values()
        return sum(m.nbytes if isinstance(m, np.ndarray) else 12 * m.nnz for m in stored)

    @cached_property
    def diag(self) -> NDArray:
        return self.features.kernel._normalized_diag(self.right_norms) - self.shift

    @cached_property
    def left_magnitudes(self) -> NDArray:
        return self.features.kernel._normalized_diag(self.left_norms)

    @cached_property
    def _transposed(self) -> Any:
        """Features × samples, so that one product reads only the features that its rows have."""
        return self.right.T.tocsr()

    def fill(self, rows: slice, columns: slice, out: NDArray) -> None:
        left = self.left[rows] if rows.step not in (None, 1) else csr_rows(self.left, *rows.indices(self.shape[0])[:2])
        whole = columns.indices(self.shape[1]) == (0, self.shape[1], 1)
        if self._dense is not None:
            tile = (left.toarray() if _density(left) > _DENSE else left) @ self._dense[columns].T
        else:
            tile = (left @ (self._transposed if whole else self.right[columns].T)).toarray()
        normalize_tile(tile, self.left_norms[rows], self.right_norms[columns], self.features.kernel.normalize)
        np.subtract(tile, self.shift, out=out, casting="same_kind")

    @cached_property
    def _dense(self) -> NDArray | None:
        return self.right.toarray() if _density(self.right) > _DENSE else None

    def against(self, X: Any) -> PreparedKernel:
        strings = check_strings(X)
        left, longest = self.features.count(strings), max(self.longest, _longest(strings))
        return PreparedCounts(self.features, left, (self.right, self.right_norms), self.shift, longest)


def normalize_tile(tile: NDArray, a: NDArray, b: NDArray, normalize: bool | str) -> None:
    """Divide k by √(ab), (a + b)/2 or a + b − k in place; zeros stay zeros."""
    if normalize is True:
        tile *= inverse_roots(a)[:, None]
        tile *= inverse_roots(b)
    elif normalize in ("dice", "jaccard"):
        total = a[:, None] + b
        total = total / 2 if normalize == "dice" else total - tile
        np.divide(tile, total, out=tile, where=total > 0)


def _density(matrix: Any) -> float:
    return float(matrix.nnz / max(1, matrix.shape[0] * matrix.shape[1]))


def _longest(strings: NDArray) -> int:
    return int(lengths_of(strings).max(initial=0))


def count_lengths(data: Dataset) -> "Counter[int]":
    """How many strings there are of each length."""
    lengths: Counter[int] = data.reduce(_count_lengths)
    return lengths


def _count_lengths(data: Dataset, weights: Any, progress: Any = None) -> "Counter[int]":
    return Counter(map(len, data.load()))


def mean_over(lengths: "Counter[int]", function: Callable[[int], float]) -> float:
    """Mean of a function of the length over all strings."""
    return float(sum(count * function(length) for length, count in lengths.items()) / max(1, sum(lengths.values())))


def check_count(name: str, value: Any, least: int = 1, most: int = MAX_LENGTH) -> None:
    """Raise unless a parameter is an integer in a range."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not least <= int(value) <= most:
        raise ParameterError(name, value, f"an integer from {least} to {most}")


def check_normalize(value: Any) -> None:
    if not isinstance(value, (bool, np.bool_)) and not (isinstance(value, str) and value in ("dice", "jaccard")):
        raise ParameterError("normalize", value, "True, False, 'dice' or 'jaccard'")


# -------------------------------------------------------------------------------------------------- n-grams


@storable
@dataclass(frozen=True)
class Spectrum(CountingKernel):
    """Spectrum kernel: n-grams of characters or words that two strings share.

    k(s, t) = Σ_g c_g(s)·c_g(t) over all n-grams g, divided by √(k(s, s)·k(t, t)). c_g(s) is the number of times that g
    occurs in s. A string without n-grams has k = 0 with all strings, itself included.

    Parameters
    ----------
    n : int, default=3
        Length of the n-grams.
    min_n : int, default=None
        If given, n-grams of all lengths from `min_n` to `n` are summed.
    analyzer : {"char", "grapheme", "word"}, default="char"
        What n-grams consist of: code points, grapheme clusters (a base with its marks, a flag, an emoji with its
        modifiers; needs the package regex) or words separated by white space.
    counts : {"product", "min", "binary"}, default="product"
        "min" sums min(c_g(s), c_g(t)) instead; "binary" counts the n-grams that both strings have.
    normalize : bool or {"dice", "jaccard"}, default=True
        What k is divided by: True √(k(s, s)·k(t, t)), "dice" (k(s, s) + k(t, t))/2, "jaccard"
        k(s, s) + k(t, t) − k(s, t), False nothing.
    weights : tuple of float, default=None
        Non-negative weight of each length from `min_n` to `n`. None: all weights are 1.

    Notes
    -----
    With ``counts="binary"``, "dice" and "jaccard" are the coefficients of Dice and Jaccard of two sets of n-grams, with
    "min" those of multisets. All are positive semi-definite, but have no exact sparse features.

    References
    ----------
    C. Leslie, E. Eskin, W. S. Noble: The spectrum kernel. Pacific Symposium on Biocomputing 7, 2002.

    Examples
    --------
    >>> from mercer.kernels.strings import Spectrum
    >>> Spectrum(2, normalize=False)(["bar", "bat"], ["bar", "car", "cat"])
    array([[2., 1., 0.],
           [1., 0., 1.]])
    >>> Spectrum(2, counts="binary", normalize="jaccard")(["banana"], ["bandana"]).round(3)
    array([[0.6]])
    """

    n: int = 3
    min_n: int | None = None
    analyzer: str = "char"
    counts: str = "product"
    normalize: bool | str = True
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        check_count("n", self.n)
        if self.min_n is not None:
            check_count("min_n", self.min_n, most=int(self.n))
        for name, known in (("analyzer", ("char", "grapheme", "word")), ("counts", ("product", "min", "binary"))):
            if not isinstance(getattr(self, name), str) or getattr(self, name) not in known:
                raise ParameterError(name, getattr(self, name), f"one of {', '.join(map(repr, known))}")
        check_normalize(self.normalize)
        if self.weights is not None:
            self._check_weights()

    def _check_weights(self) -> None:
        lengths, weights = self._lengths, self.weights
        if not isinstance(weights, tuple) or len(weights) != len(lengths):
            which = f"each length from {lengths[0]} to {lengths[-1]}" if len(lengths) > 1 else f"length {lengths[0]}"
            raise ParameterError("weights", weights, f"a tuple with a number for {which}")
        for i, weight in enumerate(weights):
            check_positive(f"weights[{i}]", weight, zero=True)
            if weight and not _SMALLEST_WEIGHT <= weight <= 1 / _SMALLEST_WEIGHT:
                raise ParameterError(f"weights[{i}]", weight, "0 or from 1e-100 to 1e100")
        if not any(weights):
            raise ParameterError("weights", weights, "positive for at least one length")

    @property
    def _lengths(self) -> range:
        return range(self.n if self.min_n is None else self.min_n, self.n + 1)

    @property
    def integer_counts(self) -> bool:  # type: ignore[override]
        return self.weights is None

    @property
    def _window(self) -> int:  # type: ignore[override]
        return int(self.n)

    def _weight(self, length: int) -> float:
        return 1.0 if self.weights is None else float(self.weights[length - self._lengths[0]])

    def _encode(self, strings: Strings, token_ids: dict[Any, int]) -> EncodedStrings:
        return (
            encode_characters(strings) if self.analyzer == "char" else encode_tokens(strings, self.analyzer, token_ids)
        )

    def _spell(self, part: int, symbols: list[int], tokens: dict[int, Any]) -> str:
        if self.analyzer == "char":
            return "".join(map(chr, symbols))
        parts = [tokens[number] for number in symbols]
        words = [token.decode("latin-1") if isinstance(token, bytes) else token for token in parts]
        return (" " if self.analyzer == "word" else "").join(words)

    def _count(self, encoded: EncodedStrings) -> list[NgramCounts]:
        return [count_ngrams(encoded, self._lengths)]

    def _max_features(self, length: int) -> int:
        return length * len(self._lengths)

    def _spellable(self, n_symbols: int) -> float:
        if self.analyzer != "char" or self.counts == "min":
            return np.inf
        return sum(float(n_symbols) ** length for length in self._lengths)


# --------------------------------------------------------------------------- n-grams with open or other symbols


@storable
@dataclass(frozen=True)
class GappedKmer(CountingKernel):
    """Gapped k-mer kernel: windows of symbols, some of which are left open.

    k(s, t) = Σ_g c_g(s)·c_g(t) over all windows g of `length` characters with `wildcards` of them open, such as
    ``A??GT``, divided by √(k(s, s)·k(t, t)). c_g(s) is the number of places of s that g matches. A string of fewer than
    `length` characters has k = 0 with all strings, itself included.

    Parameters
    ----------
    length : int, default=6
        Characters of a window.
    wildcards : int, default=2
        How many of them are left open.
    normalize : bool or {"dice", "jaccard"}, default=True
        What k is divided by, as in `Spectrum`.

    Notes
    -----
    For windows that differ in h places, k has C(length − h, length − wildcards − h) terms, so
    k = Σ C(length − h, length − wildcards) over all pairs of windows of s and t.

    References
    ----------
    M. Ghandi, D. Lee, M. Mohammad-Noori, M. A. Beer: Enhanced regulatory sequence prediction using gapped k-mer
    features. PLoS Computational Biology 10, 2014.

    Examples
    --------
    >>> from mercer.kernels.strings import GappedKmer
    >>> GappedKmer(3, 1, normalize=False)(["ACG"], ["ACG", "ATG", "TTG"])
    array([[3., 1., 0.]])
    """

    length: int = 6
    wildcards: int = 2
    normalize: bool | str = True

    def __post_init__(self) -> None:
        check_count("length", self.length)
        check_count("wildcards", self.wildcards, 0, int(self.length) - 1)
        check_normalize(self.normalize)
        n_masks = comb(self.length, self.wildcards)
        if n_masks > _MAX_NEIGHBORS:
            raise ParameterError(
                "wildcards",
                self.wildcards,
                "smaller",
                message=f"{self.wildcards} of {self.length} characters can be left open in {n_masks:,} ways "
                f"(limit {_MAX_NEIGHBORS:,}). Use a smaller length, or fewer or more wildcards.",
            )

    @property
    def _window(self) -> int:  # type: ignore[override]
        return int(self.length)

    @property
    def _masks(self) -> list[tuple[int, ...]]:
        """The places that are compared, for each way to leave others open."""
        return list(combinations(range(self.length), self.length - self.wildcards))

    def _max_features(self, length: int) -> int:
        return max(0, length - self.length + 1) * comb(self.length, self.wildcards)

    def _spellable(self, n_symbols: int) -> float:
        return comb(self.length, self.wildcards) * float(n_symbols) ** (self.length - self.wildcards)

    def _count(self, encoded: EncodedStrings) -> list[NgramCounts]:
        windows = count_ngrams(encoded, range(self.length, self.length + 1))
        spelled, alphabet = windows.vocabulary.spell(self.length), windows.vocabulary.levels[0]
        return [count_through(windows.matrices[self.length], alphabet, spelled[:, mask]) for mask in self._masks]

    def _spell(self, part: int, symbols: list[int], tokens: dict[int, Any]) -> str:
        window = ["?"] * self.length
        for place, symbol in zip(self._masks[part], symbols, strict=True):
            window[place] = chr(symbol)
        return "".join(window)


@storable
@dataclass(frozen=True)
class Mismatch(CountingKernel):
    """Mismatch kernel: n-grams that are equal up to a few exchanged characters.

    k(s, t) = Σ_g c_g(s)·c_g(t) over all n-grams g, divided by √(k(s, s)·k(t, t)). c_g(s) is the number of n-grams of s
    that become g if at most `m` of their characters are exchanged for others of the alphabet. A string of fewer than
    `n` characters has k = 0 with all strings, itself included.

    Parameters
    ----------
    n : int, default=3
        Length of the n-grams.
    m : int, default=1
        How many characters may be exchanged; less than `n`.
    alphabet : str, default=None
        Characters that others are exchanged for. None: those of the training strings. Characters outside the alphabet
        may be exchanged for one of it, but are never inserted.
    normalize : bool or {"dice", "jaccard"}, default=True
        What k is divided by, as in `Spectrum`.

    References
    ----------
    C. Leslie, E. Eskin, A. Cohen, J. Weston, W. S. Noble: Mismatch string kernels for discriminative protein
    classification. Bioinformatics 20, 2004.

    Examples
    --------
    >>> from mercer.kernels.strings import Mismatch
    >>> Mismatch(2, 1, alphabet="ACGT", normalize=False)(["AC"], ["AC", "AG", "GT"])
    array([[7., 4., 2.]])
    """

    n: int = 3
    m: int = 1
    alphabet: str | None = None
    normalize: bool | str = True

    def __post_init__(self) -> None:
        check_count("n", self.n)
        check_count("m", self.m, 0, int(self.n) - 1)
        check_normalize(self.normalize)
        alphabet: Any = self.alphabet
        if alphabet is None:
            return
        if not isinstance(alphabet, str) or not alphabet:
            raise ParameterError("alphabet", alphabet, "a string of all characters, or None")
        if self._n_neighbors > _MAX_NEIGHBORS:
            raise ParameterError(
                "m",
                self.m,
                "smaller",
                message=f"With {self.m} of {self.n} characters exchanged for any of {len(set(alphabet))}, an "
                f"n-gram becomes {self._n_neighbors:,} others (limit {_MAX_NEIGHBORS:,}). Use a smaller m or n, a "
                "smaller alphabet, or GappedKmer.",
            )

    def resolve(self, data: Dataset, rng: Generator, weights: NDArray | None = None) -> Self:
        if self.alphabet is not None:
            return self
        symbols = sorted(data.reduce(_find_symbols, combine=_union))
        return replace(self, alphabet="".join(map(chr, symbols or [ord(" ")])))

    @property
    def _window(self) -> int:  # type: ignore[override]
        return int(self.n)

    @property
    def _n_neighbors(self) -> int:
        others = _USUAL_ALPHABET if self.alphabet is None else len(set(self.alphabet))
        return sum(comb(self.n, j) * others**j for j in range(self.m + 1))

    def _max_features(self, length: int) -> int:
        return max(0, length - self.n + 1) * self._n_neighbors

    def _spellable(self, n_symbols: int) -> float:
        return float(n_symbols + len(set(self.alphabet or ""))) ** self.n

    def _count(self, encoded: EncodedStrings) -> list[NgramCounts]:
        if self.alphabet is None:
            raise ParameterError(
                "alphabet",
                None,
                "a string",
                message=f"{short_repr(self)} has no alphabet yet. Use alphabet='ACGT', or fit a model, which takes the "
                "characters of its strings.",
            )
        windows = count_ngrams(encoded, range(self.n, self.n + 1))
        known = np.array(sorted(set(map(ord, self.alphabet))), dtype=np.int64)
        own = windows.vocabulary.levels[0]
        symbols = np.union1d(own, known)
        ngrams = np.searchsorted(symbols, own)[windows.vocabulary.spell(self.n)]
        window_ids, spelled = _exchange(ngrams, np.searchsorted(symbols, known), self.m)
        return [count_through(windows.matrices[self.n], symbols, spelled, window_ids)]


def _find_symbols(data: Dataset, weights: Any, progress: Any = None) -> set[int]:
    return find_symbols(data.load())


def find_symbols(strings: Strings) -> set[int]:
    """Codes of all characters."""
    found: set[Any] = set().union(*strings)
    return {symbol if isinstance(symbol, int) else ord(symbol) for symbol in found}


def _union(left: set[int], right: set[int]) -> set[int]:
    return left | right


def _exchange(ngrams: NDArray, symbols: NDArray, most: int) -> tuple[NDArray, NDArray]:
    """All that every n-gram becomes with at most so many symbols exchanged for others, and which n-gram it was."""
    ids, spelled = [np.arange(len(ngrams))], [ngrams]
    for count in range(1, most + 1):
        choices = np.array(list(product(symbols.tolist(), repeat=count)), dtype=np.int64)
        for places in map(list, combinations(range(ngrams.shape[1]), count)):
            which = np.repeat(np.arange(len(ngrams)), len(choices))
            exchanged = np.tile(choices, (len(ngrams), 1))
            differs = (exchanged != ngrams[which][:, places]).all(axis=1)
            became = ngrams[which[differs]]
            became[:, places] = exchanged[differs]
            ids.append(which[differs])
            spelled.append(became)
    return np.concatenate(ids), np.concatenate(spelled)


def count_through(windows: Any, symbols: NDArray, tuples: NDArray, window_ids: NDArray | None = None) -> NgramCounts:
    """Counts of n-grams that windows become: window ``window_ids[i]`` becomes ``tuples[i]``; by default window i."""
    vocabulary, ngrams = Vocabulary.from_tuples(symbols, tuples)
    window_ids = np.arange(len(tuples)) if window_ids is None else window_ids
    becomes = csr_from_triplets(window_ids, ngrams, np.ones(len(ngrams)), (windows.shape[1], vocabulary.sizes[-1]))
    counted = sparse.csr_array(windows @ becomes)
    counted.sort_indices()
    return NgramCounts(vocabulary, {tuples.shape[1]: counted})


# ------------------------------------------------------------------------------------- n-grams at a position


@storable
@dataclass(frozen=True)
class WeightedDegree(CountingKernel):
    """Weighted degree kernel: equal substrings at the same positions of aligned strings.

    k(s, t) = Σ_d β_d·(positions i where s and t have the same d characters from i on), d = 1 … `degree`, divided by
    √(k(s, s)·k(t, t)), with β_d = 2(degree − d + 1)/(degree·(degree + 1)). Positions are counted from the first
    character. The empty string has k = 0 with all strings, itself included.

    Parameters
    ----------
    degree : int, default=3
        Length of the longest substrings that are compared.
    normalize : bool or {"dice", "jaccard"}, default=True
        What k is divided by, as in `Spectrum`.

    References
    ----------
    G. Rätsch, S. Sonnenburg: Accurate splice site detection for Caenorhabditis elegans. Kernel Methods in
    Computational Biology, MIT Press, 2004.

    Examples
    --------
    >>> from mercer.kernels.strings import WeightedDegree
    >>> WeightedDegree(2, normalize=False)(["ACGT"], ["ACGT", "ACTT", "CGTA"]).round(3)
    array([[3.667, 2.333, 0.   ]])
    """

    degree: int = 3
    normalize: bool | str = True
    integer_counts = False

    def __post_init__(self) -> None:
        check_count("degree", self.degree)
        check_normalize(self.normalize)

    @property
    def _window(self) -> int:  # type: ignore[override]
        return int(self.degree)

    def _weight(self, length: int) -> float:
        return 2 * (self.degree - length + 1) / (self.degree * (self.degree + 1))

    def _max_features(self, length: int) -> int:
        return length * self.degree

    def _encode(self, strings: Strings, token_ids: dict[Any, int]) -> EncodedStrings:
        require_memory(40 * sum(map(len, strings)), "The positions of a string")
        encoded = encode_characters(strings)  # the same character at another position is another symbol
        positions = np.arange(len(encoded.codes)) - np.repeat(encoded.offsets[:-1], np.diff(encoded.offsets))
        return EncodedStrings(encoded.codes + _POSITION * positions, encoded.offsets)

    def _count(self, encoded: EncodedStrings) -> list[NgramCounts]:
        return [count_ngrams(encoded, range(1, self.degree + 1))]

    def _spell(self, part: int, symbols: list[int], tokens: dict[int, Any]) -> str:
        return f"{''.join(chr(symbol % _POSITION) for symbol in symbols)} at {symbols[0] // _POSITION}"
