"""How many letters have to be changed: the edit distance as a similarity, which is no Mercer kernel."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer_old.arrays import Array, Held
from mercer_old.kernels.base import Kernel, Tiles, require_positive
from mercer_old.kernels.texts.gaps import NONE, filled_up, pieces, refuse_long
from mercer_old.kernels.texts.grams import Letters, texts_of

__all__ = ["Edit"]


@dataclass(frozen=True)
class Edit(Kernel):
    """k(s, t) = exp(−γ·d(s, t)), d the edit distance of Levenshtein: the fewest letters to insert, delete or exchange.

    It is **not positive semi-definite**: there are texts whose matrix has negative eigenvalues (all words of a and b of
    up to three letters have one of −0.11 for γ = 0.2). Kernel PCA takes the positive ones and warns, locally linear
    embedding warns that its distances are none, and certificates say what is left. `Subsequence` and `Spectrum` are
    kernels that forgive misspellings as well.

    Parameters
    ----------
    gamma : float, default=0.2
        γ: what a letter costs.

    Examples
    --------
    >>> from mercer.kernels import Edit
    >>> Edit(gamma=1.0).block(["kitten"], ["kitten", "sitting", ""]).round(4)  # e⁰, e⁻³, e⁻⁶
    array([[1.    , 0.0498, 0.0025]])
    """

    gamma: float = 0.2

    def __post_init__(self) -> None:
        require_positive(self.gamma, "gamma")

    @property
    def takes(self) -> str:
        return "texts"

    def entry_cost(self, d: int) -> float:
        return 20.0 + 8.0 * d * d

    def block(self, X: Held, Y: Held) -> Array:
        tiles, out = self.prepare(X, Y), np.empty((len(X), len(Y)))
        tiles.fill(slice(None), slice(None), out)
        return out

    def diag(self, X: Held) -> Array:
        return np.ones(len(texts_of(X)))

    def prepare(self, X: Held, Y: Held | None = None, shift: float = 0.0, dtype: Any = np.float64) -> Tiles:
        some, others = texts_of(X), texts_of(X if Y is None else Y)
        refuse_long(self, 1, some, others)
        return _EditTiles(float(self.gamma), some, others, shift)


class _EditTiles(Tiles):
    """By the recursion over pairs of letters, for many pairs of texts at once."""

    def __init__(self, gamma: float, some: Sequence[Any], others: Sequence[Any], shift: float) -> None:
        self.gamma, self.shift = gamma, shift
        self.left = Letters.of(some).apart()
        self.right = self.left if others is some else Letters.of(others).apart()

    def fill(self, rows: slice, columns: slice, out: Array) -> None:
        tile = edit_distances(self.left[rows], self.right[columns])
        np.subtract(np.exp(-self.gamma * tile), self.shift, out=out, casting="same_kind")


def edit_distances(some: list[Array], others: list[Array]) -> Array:
    """d of every pair of texts, given as letters: those of similar lengths together."""
    out = np.zeros((len(some), len(others)))
    for left, right in pieces(some, others):
        S, T = filled_up([some[i] for i in left], NONE[0]), filled_up([others[j] for j in right], NONE[1])
        out[np.ix_(left, right)] = _distances(S, T, [len(some[i]) for i in left], [len(others[j]) for j in right])
    return out


def _distances(S: Array, T: Array, lengths: list[int], widths: list[int]) -> Array:
    """D(i, j) is the distance of the first i letters of s and the first j of t: a row of it after the other.

    D(i, j) = min over j' ≤ j of e(j') + j − j', where e(j) = min(D(i − 1, j) + 1, D(i − 1, j − 1) + [sᵢ ≠ tⱼ]).
    """
    steps = np.arange(T.shape[1] + 1, dtype=np.int64)
    D = np.broadcast_to(steps, (len(S), len(T), len(steps))).copy()
    found, columns = np.empty((len(S), len(T))), np.arange(len(T))
    for i in range(S.shape[1] + 1):
        ready = np.flatnonzero(np.equal(lengths, i))
        if len(ready):
            found[ready] = D[ready][:, columns, widths]
        if i < S.shape[1]:
            exchanged = D[..., :-1] + (S[:, None, i, None] != T)
            D += 1
            np.minimum(D[..., 1:], exchanged, out=D[..., 1:])
            D -= steps
            np.minimum.accumulate(D, axis=-1, out=D)
            D += steps
    return found
