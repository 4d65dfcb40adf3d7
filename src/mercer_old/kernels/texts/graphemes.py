"""Letters as readers count them: a base with its marks, a flag, a family of emoji is one.

Unicode's full rules (UAX #29) need tables that the standard library does not have. This is the short form: marks,
joiners, modifiers and tags belong to what stands before them, unless that is a control; so do a symbol after a
zero-width joiner, the second of two regional indicators, parts of a Hangul syllable after others, and LF after CR.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any
from unicodedata import category

import numpy as np

from mercer_old.arrays import Array
from mercer_old.kernels.texts.grams import Letters

__all__ = ["as_text", "graphemes", "in_graphemes"]

_JOINER = 0x200D
_OTHERS = (_JOINER, 0x200C, 0x0E33, 0x0EB3)  # the other joiner, and the vowel am of Thai and Lao
_MODIFIERS, _TAGS = (0x1F3FB, 0x1F3FF), (0xE0020, 0xE007F)
_REGIONAL = (0x1F1E6, 0x1F1FF)
_LEADING = ((0x1100, 0x115F), (0xA960, 0xA97C))
_VOWELS = ((0x1160, 0x11A7), (0xD7B0, 0xD7C6))
_FINALS = ((0x11A8, 0x11FF), (0xD7CB, 0xD7FB))
_SYLLABLES = (0xAC00, 0xD7A3)
_FIRST = 0x110000  # number of the first cluster that is more than a code point


def graphemes(texts: Sequence[Any], known: dict[Any, int]) -> Letters:
    """The clusters of the texts: a code point alone is its own number, others are numbered as they come."""
    letters = Letters.of(texts)
    first = ~_joined(letters)
    begin = np.flatnonzero(first)
    codes = letters.codes[begin]
    sizes = np.diff(np.append(begin, len(first)))
    for i in np.flatnonzero(sizes > 1).tolist():
        cluster = letters.codes[begin[i] : begin[i] + sizes[i]].tobytes()
        codes[i] = known.setdefault(cluster, _FIRST + len(known))
    return Letters(codes, np.searchsorted(begin, letters.ends))


def in_graphemes(text: Any) -> list[Any]:
    """The clusters of one text, in their order."""
    begin = np.flatnonzero(~_joined(Letters.of([text]))).tolist()
    return [text[a:b] for a, b in pairwise([*begin, len(text)])]


def as_text(cluster: bytes) -> str:
    """A cluster that was numbered, as it is read."""
    return "".join(map(chr, np.frombuffer(cluster, dtype=np.int64).tolist()))


def _joined(letters: Letters) -> Array:
    """Which code points belong to the one before them, in the same text."""
    codes = letters.codes
    before = np.concatenate([[0], codes[:-1]])
    joined = _is(codes, _extends) & ~_is(before, lambda code: category(code) == "Cc")
    joined |= (before == _JOINER) & _is(codes, lambda code: category(code) == "So")
    joined |= (codes == 10) & (before == 13)
    syllable = _within(before, *_LEADING, *_VOWELS, *_FINALS, _SYLLABLES)
    joined |= syllable & _within(codes, *_VOWELS, *_FINALS)
    joined |= _within(before, *_LEADING) & _within(codes, *_LEADING, _SYLLABLES)
    joined[letters.ends[:-1][letters.ends[:-1] < len(codes)]] = False
    joined |= _second_of_two(codes, letters.ends)
    return joined


def _extends(letter: str) -> bool:
    """Marks and what else has no place of its own."""
    code = ord(letter)
    among = any(low <= code <= high for low, high in (_MODIFIERS, _TAGS))
    return category(letter).startswith("M") or among or code in _OTHERS


def _is(codes: Array, what: Callable[[str], bool]) -> Array:
    """Which code points are so: each of them is asked once."""
    distinct, places = np.unique(codes, return_inverse=True)
    return np.array([what(chr(code)) for code in distinct.tolist()], dtype=bool)[places.reshape(-1)]


def _second_of_two(codes: Array, ends: Array) -> Array:
    """Of regional indicators in a row, every other one: two are a flag."""
    regional = _within(codes, _REGIONAL)
    where = np.arange(len(codes))
    starts = np.zeros(len(codes), dtype=bool)
    starts[ends[:-1][ends[:-1] < len(codes)]] = True
    begin = regional & (starts | ~np.concatenate([[False], regional[:-1]]))
    since = where - np.maximum.accumulate(np.where(begin, where, 0))
    return regional & (since % 2 == 1)


def _within(codes: Array, *ranges: tuple[int, int]) -> Array:
    return np.logical_or.reduce([(codes >= low) & (codes <= high) for low, high in ranges])
