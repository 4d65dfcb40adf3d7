"""Landmarks among all rows that lie in chunks: what is left of the matrix, and its factor, stay where the rows are.

Chunks send the sums of what is left of their diagonals; proposals are drawn here, and the few proposed rows come with
their rows of the factor. Which of them are accepted is decided here, and those are shared: every chunk adds columns to
its part of the factor. So the law is that of `solvers.pivoted`, to the last draw, and nothing as long as the rows are
many is ever sent.

What a chunk has is made by tasks, each from the one before: rows that are lost with a worker are read again, and their
part of the factor is made again.
"""

from functools import partial
from typing import Any

import numpy as np

from mercer_old.arrays import Array, Held
from mercer_old.engines import Handle
from mercer_old.kernels.base import Kernel
from mercer_old.operators.tiles import fill_rows
from mercer_old.progress import OnPass
from mercer_old.solvers.landmarks import Landmarks, few_of
from mercer_old.solvers.pivoted import Proposed, Rest, draw_pivots, drawn_at, new_columns, what_is_left
from mercer_old.sources.chunked import Chunks, in_order, stacked
from mercer_old.sources.items import Items


def spread_landmarks(
    kernel: Kernel,
    source: Items,
    weights: Array | None,
    settings: Landmarks,
    rng: np.random.Generator,
    on_pass: OnPass = None,
) -> tuple[Held, Array]:
    """Landmarks drawn among all rows of the chunks, and their numbers; the first that counts, if all rows are zero."""
    counting = np.arange(len(source)) if weights is None else np.flatnonzero(weights > 0)
    some = counting[few_of(len(counting))]
    rows = source[some]
    rest = SpreadRest(kernel, source.chunks, weights, settings.threads)
    enough = settings.enough(_between(kernel, rows, None if weights is None else np.sqrt(weights[some])))
    pivots = draw_pivots(rest, min(settings.count, len(counting)), rng, tol=enough, on_pass=on_pass)
    return (rest.chosen, pivots) if len(pivots) else (rows[:1], some[:1])


class SpreadRest(Rest):
    """What pivots have left of SKS with S = diag(√w), of rows in chunks.

    A chunk has a list of results: its rows, √w and d, and after every round new columns of its F, and d anew.
    """

    def __init__(self, kernel: Kernel, chunks: Chunks, weights: Array | None, threads: int = 1) -> None:
        self.kernel, self.engine, self.n = kernel, chunks.engine, sum(chunks.counts)
        self.starts, self.threads = np.array(chunks.starts), chunks.engine.threads(threads)
        self._shared_kernel = self.engine.share(kernel)
        begun = self.engine.keep(chunks.map(_begun, chunks.dealt(weights), kernel), evenly=True)
        self._held: list[list[Handle]] = [[handle] for handle in begun]
        self._taken: list[Held] = []
        self.sums = np.zeros(len(begun))
        self._sum_up(range(len(begun)))

    @property
    def chosen(self) -> Held:
        """The pivots themselves, in order."""
        return stacked(self._taken)

    def propose(self, shares: Array) -> Proposed:
        """By the chunk's share of Σd, and the row's share of its chunk: together the law d/Σd."""
        sums = shares * self.total
        home = drawn_at(self.sums, sums)
        within = sums - np.append(0.0, np.cumsum(self.sums))[home]
        hit = np.unique(home).tolist()
        own = [within[home == i] for i in hit]
        found = self.engine.collect(self.engine.map(_drawn, [self._held[i] for i in hit], own))
        spots, left, root, F, rows = (in_order(stacked(list(parts)), home) for parts in zip(*found, strict=True))
        self._proposed = home, spots, root, F, rows
        return Proposed(self.starts[home] + spots, left, _between(self.kernel, rows, root) - F @ F.T)

    def take(self, proposed: Proposed, accepted: Array, L: Array) -> None:
        home, spots, root, F, rows = self._proposed
        left = np.maximum(np.diag(proposed.H), 0.0)  # else rounding proposes them for ever
        changed = range(len(self._held)) if len(accepted) else np.unique(home).tolist()
        joined = np.zeros(len(home), dtype=bool)
        joined[accepted] = True
        own = [(spots[at], left[at], joined[at]) for at in (home == i for i in changed)]
        pivots = self.engine.share((rows[accepted], root[accepted], F[accepted], L))
        work = partial(_grown, self.threads)
        grown = self.engine.map(work, [self._held[i] for i in changed], own, self._shared_kernel, pivots)
        for i, handle in zip(changed, self.engine.keep(grown), strict=True):
            self._held[i].append(handle)
        self._sum_up(changed)
        if len(accepted):
            self._taken.append(rows[accepted])

    def _sum_up(self, changed: Any) -> None:
        last = [self._held[i][-1] for i in changed]
        self.sums[list(changed)] = self.engine.collect(self.engine.map(_sum_left, last))
        self.total = float(self.sums.sum())


def _between(kernel: Kernel, rows: Held, root: Array | None) -> Array:
    K = np.asarray(kernel.block(rows, rows))
    return K if root is None else root[:, None] * K * root


# ---------------------------------------------------------------------- where the rows are


def _begun(items: Items, weights: Array | None, kernel: Kernel) -> tuple[Held, Array, Array]:
    """Rows, the roots of their weights, and d, which ends every result."""
    rows = items.load()
    w = np.ones(len(items)) if weights is None else weights
    return rows, np.sqrt(w), np.maximum(w * np.asarray(kernel.diag(rows), dtype=np.float64), 0.0)


def _sum_left(last: tuple[Any, ...], own: None) -> float:
    return float(last[-1].sum())


def _drawn(held: list[Any], sums: Array) -> tuple[Array, Array, Array, Array, Held]:
    """The rows at which the running sum of d passes these sums: where in the chunk, d, √w, F and themselves."""
    (rows, root, _), left = held[0], held[-1][-1]
    spots = drawn_at(left, sums)
    F = [new[spots] for new, _ in held[1:]]
    return spots, left[spots], root[spots], np.hstack([np.empty((len(spots), 0)), *F]), rows[spots]


def _grown(
    threads: int,
    held: list[Any],
    own: tuple[Array, Array, Array],
    kernel: Kernel,
    pivots: tuple[Held, Array, Array, Array],
) -> tuple[Array, Array]:
    """New columns of the chunk's F, and d; that of proposed rows as it was found, and 0 of those that were accepted."""
    (rows, root, _), (spots, found, joined), (S, root_S, F_S, L) = held[0], own, pivots
    left = held[-1][-1].copy()
    left[spots] = found
    if not len(L):
        return np.empty((len(left), 0)), left
    K = np.empty((len(left), len(L)))
    fill_rows(kernel.prepare(rows, S), K, threads)
    K *= root[:, None]
    K *= root_S
    new = new_columns(K, [part for part, _ in held[1:]], F_S, L, threads)
    left = what_is_left(left, new)
    left[spots[joined]] = 0.0
    return new, left
