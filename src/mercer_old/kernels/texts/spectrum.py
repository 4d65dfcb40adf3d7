"""The spectrum of a text: its n-grams, of letters or of words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer_old.errors import in_short
from mercer_old.kernels.base import require_positive
from mercer_old.kernels.texts.counted import CountingKernel, require_length, require_normalize
from mercer_old.kernels.texts.grams import Counted, Letters, as_letters, count_windows, ends_of
from mercer_old.kernels.texts.graphemes import as_text, graphemes

__all__ = ["Spectrum"]

_COUNTS = ("product", "min", "once")
_BY = ("characters", "graphemes", "words")


@dataclass(frozen=True)
class Spectrum(CountingKernel):
    """k(s, t) = Σ_g c_g(s)·c_g(t) over all n-grams g, divided by √(k(s, s)k(t, t)); c_g(s) is how often g is in s.

    A text without grams has nothing in common with any, itself included: k = 0.

    Parameters
    ----------
    n : int, default=3
        Letters of a gram.
    shortest : int, default=None
        Grams of all lengths from `shortest` to `n` are summed up.
    by : {"characters", "graphemes", "words"}, default="characters"
        What a gram is made of: code points, what readers see as one letter (a base with its marks, a flag, an emoji
        with its modifiers), or words, which white space separates.
    counts : {"product", "min", "once"}, default="product"
        "min" sums min(c_g(s), c_g(t)) instead, "once" counts grams that both have, however often.
    normalize : bool or {"dice", "jaccard"}, default=True
        What k is divided by: True √(k(s, s)k(t, t)), "dice" (k(s, s) + k(t, t))/2, "jaccard"
        k(s, s) + k(t, t) − k(s, t), False nothing. With ``counts="once"`` these are the coefficients of Dice and
        Jaccard of two sets of grams, with "min" those of multisets (Ruzicka's or MinMax), with "product" Tanimoto's.
        All are positive semi-definite; "dice" and "jaccard" have no exact sparse features.
    weights : tuple of float, default=None
        A weight from 0 on for each length from `shortest` to `n`; None: all count the same.

    Examples
    --------
    >>> from mercer.kernels import Spectrum
    >>> Spectrum(2, normalize=False).block(["bar", "bat"], ["bar", "car", "cat"])
    array([[2., 1., 0.],
           [1., 0., 1.]])
    >>> Spectrum(2, counts="once", normalize="jaccard").block(["banana"], ["bandana"]).round(3)
    array([[0.6]])
    """

    n: int = 3
    shortest: int | None = None
    by: str = "characters"
    counts: str = "product"  # type: ignore[misc]
    normalize: bool | str = True
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        require_length(self.n, "n")
        if self.shortest is not None:
            require_length(self.shortest, "shortest")
            if self.shortest > self.n:
                raise ValueError(f"shortest={self.shortest} is longer than n={self.n}.")
        for name, known in (("by", _BY), ("counts", _COUNTS)):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}; got {in_short(getattr(self, name))}.")
        require_normalize(self.normalize)
        if self.weights is not None:
            _require_weights(self.weights, self.lengths)

    @property
    def lengths(self) -> range:
        return range(self.n if self.shortest is None else self.shortest, self.n + 1)

    @property
    def whole(self) -> bool:
        return self.weights is None

    def weight(self, length: int) -> float:
        return 1.0 if self.weights is None else float(self.weights[length - self.lengths[0]])

    def letters(self, texts: Sequence[Any], words: dict[Any, int]) -> Letters:
        if self.by == "characters":
            return Letters.of(texts)
        return graphemes(texts, words) if self.by == "graphemes" else _words(texts, words)

    def spell(self, letters: list[int], words: dict[int, Any]) -> str:
        if self.by == "words":
            return " ".join(words[number] for number in letters)
        return "".join(chr(code) if code not in words else as_text(words[code]) for code in letters)

    def count(self, letters: Letters) -> list[Counted]:
        return [count_windows(letters, self.lengths)]

    def most_in(self, length: int) -> int:
        return length * len(self.lengths)


def _words(texts: Sequence[Any], words: dict[Any, int]) -> Letters:
    """The words of the texts, which are numbered as they come."""
    split = [as_letters(text).split() for text in texts]
    codes = [words.setdefault(word, len(words)) for text in split for word in text]
    return Letters(np.array(codes, dtype=np.int64), ends_of([len(text) for text in split]))


def _require_weights(weights: Any, lengths: range) -> None:
    if not isinstance(weights, tuple) or len(weights) != len(lengths):
        which = f"each length from {lengths[0]} to {lengths[-1]}" if len(lengths) > 1 else f"the length {lengths[0]}"
        raise ValueError(f"weights must be a tuple with a number for {which}; got {in_short(weights)}.")
    for weight in weights:
        require_positive(weight, "every one of weights", zero=True)
    if not any(weights):
        raise ValueError("weights are all zero; one at least must count.")
