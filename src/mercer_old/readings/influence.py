"""What drives a component: how its function f(x) changes with every column, in closed form.

A component of kernel PCA is a function fⱼ(x) = Σᵢ αᵢⱼk(x, xᵢ) but for a constant, so its gradient is
Σᵢ αᵢⱼ∂k(x, xᵢ)/∂x. Influence is its root mean square over rows, times the standard deviation of the column: by how much
a score moves where a column moves by one of its standard deviations, whatever its unit. Of a linear function, it is
|wᵢⱼ|·sᵢ at every row.

Rows of a cluster see little of what tells clusters apart, as a component is nearly level where they lie and changes
where no row is. So there is a second reading, between rows: along the chord from x to y a column adds
(yᵢ − xᵢ)·∫∂fⱼ/∂xᵢ to the change fⱼ(y) − fⱼ(x), and all columns together add up to it (integrated gradients). Its root
mean square over pairs, divided by √2, is |wᵢⱼ|·sᵢ of a linear function again.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial, reduce
from itertools import islice
from typing import Any

import numpy as np

from mercer_old.arrays import Array, Held, dense
from mercer_old.blocks import LANES, cut, rows_at_a_time
from mercer_old.kernels.base import Kernel, n_rows
from mercer_old.sums import inner
from mercer_old.threads import run

__all__ = ["ByAxes", "BySums", "Functions", "MeanSlopes", "along_chords", "axes_of_sums", "mean_slopes"]

FEW_NODES, MOST_NODES = 8, 128  # at which gradients are taken along a chord
ENOUGH = 0.01  # of the changes: what may be missed


class Functions(ABC):
    """Component functions, as many as there are components: how each changes with every column of a row."""

    @abstractmethod
    def gradients(self, Z: Held) -> Array:
        """∂fⱼ/∂z of every row z (m×k×d)."""

    @abstractmethod
    def at_a_time(self) -> int:
        """Rows whose gradients are made at once."""


@dataclass(frozen=True, eq=False)
class BySums(Functions):
    """fⱼ(z) = Σᵢ αᵢⱼk(z, xᵢ)."""

    kernel: Kernel
    rows: Held
    alpha: Array

    def gradients(self, Z: Held) -> Array:
        slopes, out = self.kernel.slopes(Z, self.rows), np.empty((n_rows(Z), self.alpha.shape[1], Z.shape[1]))
        for j, coefficients in enumerate(self.alpha.T):
            out[:, j] = slopes.pull(coefficients[None])
        return out

    def at_a_time(self) -> int:
        return min(1024, rows_at_a_time(4 * self.rows.shape[0], self.alpha.shape[1] * self.rows.shape[1]))


@dataclass(frozen=True, eq=False)
class ByAxes(Functions):
    """fⱼ(z) = wⱼᵀz: the same gradient at every row."""

    axes: Array  # d×k

    def gradients(self, Z: Held) -> Array:
        return np.broadcast_to(self.axes.T, (n_rows(Z), *self.axes.T.shape))

    def at_a_time(self) -> int:
        return rows_at_a_time(self.axes.size)


def axes_of_sums(rows: Held, alpha: Array) -> Array:
    """Xᵀα (d×k), of dense rows by way of their mean: a large one would cost digits, as the columns of α sum to zero."""
    if not isinstance(rows, np.ndarray):
        return dense(rows.T @ alpha)
    mean = rows.mean(axis=0, dtype=np.float64)
    return inner(rows - mean, alpha) + np.multiply.outer(mean, alpha.sum(axis=0))


@dataclass(frozen=True, eq=False)
class MeanSlopes:
    """Of gradients over rows, each d×k: their mean, the root of their mean square, and the share of rows uphill."""

    mean: Array
    size: Array
    rising: Array  # where it is level, half a row


def mean_slopes(
    functions: Functions,
    blocks: Iterable[Held],
    weights: Array | None = None,
    threads: int = 1,
    keep: Callable[[int, Array], None] | None = None,
) -> MeanSlopes:
    """Gradients over all rows of some blocks, summed up; `keep` is handed those of every piece, with its first row.

    Pieces are added up in their order, whoever made them: sums do not depend on threads.
    """
    if isinstance(functions, ByAxes) and keep is None:
        axes = functions.axes
        return MeanSlopes(axes, np.abs(axes), (np.sign(axes) + 1) / 2)
    pieces, sums, total = _pieces(blocks, functions.at_a_time(), weights), None, 0.0
    while group := list(islice(pieces, LANES)):
        parts: list[Any] = [None] * len(group)
        run(partial(_sum_up, functions, keep, group, parts), range(len(group)), threads)
        sums = reduce(np.add, parts if sums is None else [sums, *parts])
        total += sum(float(weight.sum()) for _, _, weight in group)
    assert sums is not None  # there is a row at least
    mean, squares, rising = sums / total
    return MeanSlopes(mean, np.sqrt(squares), rising)


_Piece = tuple[int, Held, Array]  # the number of its first row, its rows, and what they weigh


def _pieces(blocks: Iterable[Held], size: int, weights: Array | None) -> Iterator[_Piece]:
    start = 0
    for block in blocks:
        for some in cut(n_rows(block), size):
            first, count = start + some.start, some.stop - some.start
            yield first, block[some], np.ones(count) if weights is None else weights[first : first + count]
        start += n_rows(block)


def _sum_up(functions: Functions, keep: Any, group: list[_Piece], parts: list[Any], i: int) -> None:
    """Σwg, Σwg² and Σw over rows with g > 0 (d×k each) of a piece."""
    first, rows, weights = group[i]
    gradients = functions.gradients(rows)
    if keep is not None:
        keep(first, gradients)
    values = [gradients, gradients**2, (np.sign(gradients) + 1) / 2]
    parts[i] = np.array([np.einsum("i,ijk->kj", weights, value) for value in values])


# ---------------------------------------------------------------------- between rows


def along_chords(functions: Functions, A: Array, B: Array, changes: Array, threads: int = 1) -> tuple[Array, float]:
    """√(½·mean of squares) over pairs of what every column adds to f(b) − f(a) (d×k), and what all of them miss of it.

    By Gauss's rule along the chord, with twice as many nodes until they add up to the changes (p×k), or MOST_NODES are
    reached. What is missed is told as a share of the changes: the root mean square of the worst component.
    """
    nodes, missed = FEW_NODES, np.inf
    while True:
        squares, off = _chords_by(nodes, functions, A, B, changes, threads)
        size = np.sqrt(np.mean(changes**2, axis=0))
        missed = float(np.divide(off, size, out=np.zeros_like(off), where=size > 0).max(initial=0.0))
        if missed <= ENOUGH or nodes >= MOST_NODES:
            return np.sqrt(squares / 2), missed
        nodes *= 2


def _chords_by(nodes: int, functions: Functions, A: Array, B: Array, changes: Array, threads: int) -> tuple[Any, Any]:
    """Mean squares of what columns add (d×k), and the root mean square of what they miss of every change (k)."""
    pieces = cut(len(A), functions.at_a_time())
    parts: list[Any] = [None] * len(pieces)
    places, weights = np.polynomial.legendre.leggauss(nodes)

    def work(i: int) -> None:
        a, b = A[pieces[i]], B[pieces[i]]
        steps = zip((1 + places) / 2, weights / 2, strict=True)
        added = sum(weight * functions.gradients(a + t * (b - a)) for t, weight in steps) * (b - a)[:, None]
        missed = added.sum(axis=2) - changes[pieces[i]]
        parts[i] = np.einsum("ijk,ijk->kj", added, added), (missed**2).sum(axis=0)

    run(work, range(len(pieces)), threads)
    squares, missed = (sum(part[i] for part in parts) / len(A) for i in range(2))
    return squares, np.sqrt(missed)
