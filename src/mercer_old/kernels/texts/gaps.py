"""Subsequences of two texts, weighed by their gaps: the recursion over pairs of letters, for many pairs at once.

m_q(i, j) is the weight of all pairs of equal subsequences of q letters that end at sᵢ and tⱼ, where every letter left
out costs a factor λ:

    m₁(i, j) = [sᵢ = tⱼ],   m_q(i, j) = [sᵢ = tⱼ]·Σ λ^(i − 1 − i' + j − 1 − j') m_{q−1}(i', j')  over i' < i, j' < j.

The sum over j' is a product with a small matrix, or a filter along a long text; that over i' is carried on from letter
to letter of s. All terms are positive, so nothing cancels: the recursion with −λ² that textbooks have would.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mercer_old.arrays import Array
from mercer_old.errors import BadData, in_short
from mercer_old.kernels.texts.grams import longest_of

__all__ = ["NONE", "alike", "alike_itself", "filled_up", "longest_chain", "pair_cost", "pieces", "refuse_long"]

_BY_PRODUCT = 120  # letters up to which a product with a matrix is faster than a filter
_CELLS = 1 << 15  # pairs of a letter and a text's letters that are worked on at once: they stay in a core's cache
_FEW = 8  # letters that a text may be filled up with, however short it is
_STEPS = 3e10  # pairs of letters, as often as they are met: beyond, one pair of texts takes minutes
NONE = -1, -2  # what short texts are filled up with: it equals nothing


def alike(some: list[Array], others: list[Array], decay: float, weights: dict[int, float]) -> Array:
    """Σ_q w_q Σ_ij m_q(i, j) of every pair of texts, given as letters: those of similar lengths together."""
    out = np.zeros((len(some), len(others)))
    for left, right in pieces(some, others):
        S, T = filled_up([some[i] for i in left], NONE[0]), filled_up([others[j] for j in right], NONE[1])
        out[np.ix_(left, right)] = _recursion(S[:, None], T[None], decay, weights)
    return out


def alike_itself(texts: list[Array], decay: float, weights: dict[int, float]) -> Array:
    """The same of every text and itself."""
    out = np.zeros(len(texts))
    order = np.argsort([len(text) for text in texts], kind="stable")
    for some in _in_turn(order, texts, _CELLS // 8):
        S = filled_up([texts[i] for i in some], NONE[0])
        out[some] = _recursion(S, np.where(S < 0, NONE[1], S), decay, weights)
    return out


def longest_chain(length: int, most: int) -> int:
    """Roundings behind such a sum over texts of so many letters, for subsequences of at most so many."""
    return most * (4 * length + 8) + 2 * length + 8


def pair_cost(length: int) -> float:
    """Nominal nanoseconds to compare two texts of so many letters, for each letter of a subsequence."""
    return (3.0 if length <= _BY_PRODUCT else 6.0) * length * length


def _recursion(S: Array, T: Array, decay: float, weights: dict[int, float]) -> Array:
    """S (…×a) against T (…×b): the last axis has the letters, all others are pairs."""
    a, b, longest = S.shape[-1], T.shape[-1], max(weights)
    shape = (*np.broadcast_shapes(S.shape[:-1], T.shape[:-1]), b)
    total = {length: np.zeros(shape) for length in weights}
    carried = [np.zeros(shape) for _ in range(longest - 1)]
    along = _along(b, decay)
    for i in range(a):
        same = np.equal(S[..., i, None], T).astype(np.float64)
        ends = same
        for length in range(1, longest + 1):
            if length in total:
                total[length] += ends
            if length < longest:
                before = carried[length - 1]
                longer = same * before
                before *= decay
                before += along(ends)
                ends = longer
    return np.asarray(sum(weight * total[length].sum(axis=-1) for length, weight in weights.items()))


def _along(b: int, decay: float) -> Any:
    """x ↦ Σ λ^(j − 1 − j')·x_j' over j' < j, along the last axis."""
    if b <= _BY_PRODUCT:
        gaps = np.arange(b) - 1 - np.arange(b)[:, None]
        matrix = np.where(gaps >= 0, float(decay) ** np.maximum(gaps, 0), 0.0)
        return lambda x: x @ matrix

    from scipy.signal import lfilter  # takes longer to import than most kernels to evaluate

    def filtered(x: Array) -> Array:
        out = np.zeros_like(x)
        out[..., 1:] = lfilter([1.0], [1.0, -decay], x[..., :-1], axis=-1)
        return out

    return filtered


def pieces(some: list[Array], others: list[Array]) -> Iterator[tuple[Array, Array]]:
    """Texts of similar lengths, some against others, so few that what is worked on stays in a core's cache."""
    rows, columns = (np.argsort([len(text) for text in side], kind="stable") for side in (some, others))
    for right in _in_turn(columns, others, 128):
        widest = max(len(others[right[-1]]), 1)
        for left in _in_turn(rows, some, max(1, _CELLS // (len(right) * widest))):
            yield left, right


def _in_turn(order: Array, texts: list[Array], most: int) -> list[Array]:
    """Texts by their length, at most so many at a time, none much longer than the first of them, to which length all
    are filled up, and no more letters of them than are worked on at once."""
    lengths = np.array([len(texts[i]) for i in order], dtype=np.int64)
    parts, begin = [], 0
    while begin < len(order):
        similar = int(np.searchsorted(lengths, 2 * lengths[begin] + _FEW, side="right"))
        end = min(begin + most, similar)
        while end > begin + 1 and (end - begin) * lengths[end - 1] > _CELLS:
            end = begin + (end - begin) // 2
        parts.append(order[begin:end])
        begin = end
    return parts


def filled_up(texts: list[Array], with_what: int) -> Array:
    """Texts as the rows of one matrix."""
    matrix = np.full((len(texts), max(map(len, texts), default=0)), with_what, dtype=np.int64)
    for row, text in zip(matrix, texts, strict=True):
        row[: len(text)] = text
    return matrix


def refuse_long(kernel: Any, lengths: int, some: Sequence[Any], others: Sequence[Any]) -> None:
    """One sentence for a pair of texts that would take minutes; `lengths` is how often a pair of letters is met."""
    a, b = longest_of(some), longest_of(others)
    if float(lengths) * a * b > _STEPS:
        raise BadData(
            f"A text of {max(a, b):,} letters is too long for {in_short(kernel, 120)}: to compare it with one of "
            f"{min(a, b):,} takes {lengths * a * b:.1e} steps (limit {_STEPS:.0e}). Cut the texts, or take "
            "Spectrum, which counts letters in a row."
        )
