"""Back to texts: the nearest of those that are known, and from there by single edits as long as they lead nearer."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mercer_old.arrays import Array
from mercer_old.kernels.algebra import Scaled
from mercer_old.kernels.base import Kernel
from mercer_old.kernels.texts.graphemes import in_graphemes
from mercer_old.readings.preimages.expansion import Expansion
from mercer_old.readings.preimages.neighbours import nearest_rows

__all__ = ["nearest_items", "search_texts"]

_BEAM = 8  # texts that are edited in every round
_AROUND = 20  # of the nearest texts, whose letters are tried
_ROUNDS = 50
_GAIN = 1e-3  # of k(t, t) of the nearest text: what a round of edits has to bring, at least


def nearest_items(expansion: Expansion, Y: Array) -> Array:
    """The number of the item of the fit that is nearest to p(y) in feature space, for every y."""
    out = np.empty(len(Y), dtype=np.int64)
    for some in expansion.blocks(len(Y)):
        out[some] = _to_items(expansion, Y[some]).argmin(axis=1)
    return out


def search_texts(expansion: Expansion, Y: Array) -> Array:
    """A text for every y (m,), found among those of the fit and by beam search over insertions, deletions and
    substitutions of letters that the nearest of them have, none longer than these.

    Words that mean nothing can come nearer than any that is known, so an edit has to bring more than a little.
    """
    search, out = _Search(expansion), np.empty(len(Y), dtype=object)
    for some in expansion.blocks(len(Y)):
        near, squared = nearest_rows(_to_items(expansion, Y[some]), max(_BEAM, _AROUND))
        for query, (y, left) in enumerate(zip(Y[some], expansion.squares(Y[some]), strict=True)):
            known = [expansion.rows[place] for place in near[query]]
            out[some.start + query] = search.best(known, float(squared[query, 0]), float(left) + expansion.shift, y)
    return out


def _to_items(expansion: Expansion, Y: Array) -> Array:
    """‖p(y) − φ(t)‖² to every item, where a text without grams, whose image is zero, is taken to be as long as any."""
    own = expansion.own + expansion.shift
    return np.asarray(expansion.to_rows(Y) + np.where(own > 0, 0.0, own.max(initial=0.0)))


@dataclass(frozen=True, eq=False)
class _Search:
    """What all queries share: how far a text is from p(y), by the features of the fit if the kernel has some."""

    expansion: Expansion

    @cached_property
    def learned(self) -> Any:
        return self.expansion.kernel.feature_map(self.expansion.rows)

    @cached_property
    def axes(self) -> Array:
        """Φᵀ[α m]: where the components and the mean are among the features."""
        e = self.expansion
        return np.asarray(self.learned.features(e.rows).T @ np.column_stack([e.alpha, e.mean]))

    @cached_property
    def by(self) -> str:
        return _read_by(self.expansion.kernel)

    def heights(self, texts: Sequence[Any], y: Array) -> Array:
        """k(z, z) − 2⟨φ(z), p(y)⟩ of every text; infinite of those without grams, whose image is zero."""
        e, items = self.expansion, np.empty(len(texts), dtype=object)
        items[:] = texts
        own = np.asarray(e.kernel.diag(items), dtype=np.float64)
        if self.learned is None:
            products = e.kernel.block(items, e.rows) @ e.coefficients(y[None])[0]
        else:
            products = self.learned.features(items) @ (self.axes @ np.append(y, 1.0))
        return np.where(own > 0, own - 2 * products, np.inf)

    def best(self, known: list[Any], squared: float, square: float, y: Array) -> Any:
        """The text that comes nearest, starting from known ones: the first is as near as `squared`; square = ‖p‖²."""
        around = [_letters(text, self.by) for text in known[:_AROUND]]
        alphabet, longest = sorted({letter for text in around for letter in text}), max(map(len, around))
        beam, best, seen = known[:_BEAM], (squared, known[0]), set(known)
        gain = _GAIN * float(self.expansion.kernel.diag(self.expansion.rows[:1])[0])
        for _ in range(_ROUNDS if squared > gain else 0):
            edits = (new for text in beam for new in _edits(text, alphabet, self.by, longest))
            edited = [text for text in dict.fromkeys(edits) if text not in seen]
            if not edited:
                break
            seen.update(edited)
            found = self.heights(edited, y) + square
            order = np.argsort(found, kind="stable")[:_BEAM]
            beam = [edited[place] for place in order]
            if not found[order[0]] < best[0] - gain:
                break
            best = float(found[order[0]]), beam[0]
        return best[1]


def _read_by(kernel: Kernel) -> str:
    """What a kernel takes for a letter: characters, graphemes or words; the smallest of these if its parts differ."""
    if isinstance(kernel, Scaled):
        return _read_by(kernel.kernel)
    parts = [getattr(kernel, side) for side in ("left", "right") if hasattr(kernel, side)]
    return min(map(_read_by, parts)) if parts else getattr(kernel, "by", "characters")  # smaller, and earlier in ABC


def _letters(text: Any, by: str) -> list[Any]:
    """Of a text, or the bytes of one, its characters, graphemes or words."""
    if by == "words":
        return list(text.split())
    return in_graphemes(text) if by == "graphemes" else [text[i : i + 1] for i in range(len(text))]


def _edits(text: Any, alphabet: list[Any], by: str, longest: int) -> Iterator[Any]:
    """All texts that one letter less, or another one, or one more up to the longest, makes of it."""
    letters = _letters(text, by)
    room = len(letters) < longest
    blank, nothing = (" ", "") if isinstance(text, str) else (b" ", b"")
    glue: Any = blank if by == "words" else nothing
    for i in range(len(letters) + 1):
        before, after = letters[:i], letters[i:]
        for letter in alphabet:
            if room:
                yield glue.join([*before, letter, *after])
            if after and letter != after[0]:
                yield glue.join([*before, letter, *after[1:]])
        if after:
            yield glue.join([*before, *after[1:]])
