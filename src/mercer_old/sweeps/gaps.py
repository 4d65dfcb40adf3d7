"""Rows with gaps, grouped by which numbers are missing, and what one pass over them sums up."""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Protocol

import numpy as np

from mercer_old.arrays import Array, weight_of
from mercer_old.sources.portions import Portions, Whole
from mercer_old.sweeps.factors import Factors, packed, unpacked
from mercer_old.threads import run

__all__ = ["FactorSums", "Gapped", "GappedRows", "Look", "leading_axes", "sweep_factors"]

_LONGEST = 512  # rows of one pattern that are looked at together
_PIECES = 2  # for each thread, of which sums are held at a time
_ENTRIES = 1_000_000  # of what is made of rows on the way: so many are held by a thread


class Gapped(Protocol):
    """What a fit asks of rows with gaps, which are moved to their centre: sums over them, wherever they are.

    `GappedRows` are in memory, `mercer.sweeps.chunked_gaps` are where their chunks lie.
    """

    def __len__(self) -> int: ...

    @property
    def width(self) -> int: ...

    @property
    def portions(self) -> Portions:
        """Of which each is `GappedRows`."""

    @property
    def weight(self) -> float: ...

    @property
    def counts(self) -> Array:
        """How many numbers every column has, by the weights of rows."""

    @property
    def sums(self) -> Array:
        """Of every column."""

    @property
    def total_squares(self) -> float: ...

    @property
    def patterns(self) -> int:
        """Of gaps that differ; or, from `MOST_PATTERNS` on, that there are no fewer."""

    def axes(self) -> tuple[Array, Array]:
        """Eigenvalues of XᵀX/Σw, largest first, and its eigenvectors in columns, X with zeros in its gaps."""

    def swept(self, factors: Factors, threads: int) -> "FactorSums":
        """What one pass sums up for some factors."""


@dataclass(frozen=True, eq=False)
class GappedRows:
    """Rows in the order of their patterns: 0 stands for what is missing. Rows of one pattern share one k×k inverse."""

    values: Array  # n×d
    masks: Array  # g×d: whether there is a number
    starts: Array  # g + 1: where the rows of every pattern begin
    weights: Array  # n
    order: Array  # n: the number of each row as it was given

    @classmethod
    def of(cls, rows: Array, weights: Array | None = None) -> "GappedRows":
        """From rows where NaN is a gap."""
        there = ~np.isnan(rows)
        bits = np.packbits(there, axis=1)
        keys = np.ascontiguousarray(bits).view([("", bits.dtype, bits.shape[1])]).reshape(-1)
        _, which = np.unique(keys, return_inverse=True)
        order = np.argsort(which.reshape(-1), kind="stable")
        starts = _cut_long(np.flatnonzero(np.diff(which.reshape(-1)[order], prepend=-1)), len(rows))
        values = np.where(there, rows, 0.0)[order]
        weights = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=np.float64)
        return cls(values, there[order[starts[:-1]]], starts, weights[order], order)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def width(self) -> int:
        return int(self.values.shape[1])

    @cached_property
    def pattern_weights(self) -> Array:
        """Of all rows of each pattern together."""
        return np.add.reduceat(self.weights, self.starts[:-1])

    @cached_property
    def counts(self) -> Array:
        """How many numbers every column has, by the weights of rows."""
        return np.asarray(self.pattern_weights @ self.masks)

    @cached_property
    def sums(self) -> Array:
        """Of every column."""
        return np.asarray(self.weights @ self.values)

    @cached_property
    def total_squares(self) -> float:
        return float(self.weights @ np.einsum("ij,ij->i", self.values, self.values))

    @property
    def weight(self) -> float:
        return float(self.weights.sum())

    @property
    def patterns(self) -> int:
        return len(np.unique(self.masks, axis=0))

    @property
    def portions(self) -> Whole:
        return Whole(self)

    @property
    def arrays(self) -> tuple[Array, ...]:
        """All that they are made of."""
        return self.values, self.masks, self.starts, self.weights, self.order

    def axes(self) -> tuple[Array, Array]:
        return leading_axes(self.values * np.sqrt(self.weights / self.weight)[:, None])

    def swept(self, factors: Factors, threads: int) -> "FactorSums":
        return sweep_factors(self, factors, threads)

    def given(self) -> tuple[Array, Array]:
        """The rows in the order in which they were given, NaN in their gaps, and their weights."""
        there = np.repeat(self.masks, np.diff(self.starts), axis=0)
        return self.back(np.where(there, self.values, np.nan)), self.back(self.weights)

    def pieces(self, k: int) -> list[slice]:
        """Patterns, as many at a time as a thread works on with k factors."""
        most = max(1, _ENTRIES // (self.width + 3 * k * (k + 1)))
        edges, first = [0], 0
        for i in range(1, len(self.starts)):
            if self.starts[i] - self.starts[first] > most and i - 1 > first:
                first = i - 1
                edges.append(first)
        edges.append(len(self.masks))
        return [slice(a, b) for a, b in pairwise(edges)]

    def span(self, patterns: slice) -> slice:
        """The rows of these patterns."""
        return slice(int(self.starts[patterns.start]), int(self.starts[patterns.stop]))

    def back(self, of_rows: Array) -> Array:
        """What belongs to rows in this order, in the order in which they were given."""
        out = np.empty_like(of_rows)
        out[self.order] = of_rows
        return out


def _cut_long(starts: Array, n: int) -> Array:
    """Where patterns begin, those with very many rows cut into several."""
    ends = np.append(starts, n)[1:]
    pieces = [np.arange(a, b, _LONGEST) for a, b in zip(starts, ends, strict=True)]
    return np.append(np.concatenate(pieces), n) if len(pieces) else np.array([n])


def leading_axes(rows: Array) -> tuple[Array, Array]:
    """Eigenvalues of XᵀX, largest first, and its eigenvectors in columns; by X itself where there are fewer rows."""
    if len(rows) < rows.shape[1]:
        _, roots, axes = np.linalg.svd(rows, full_matrices=False)
        return roots**2, axes.T
    return axes_of_square(rows.T @ rows)


def axes_of_square(square: Array) -> tuple[Array, Array]:
    """The same of XᵀX itself."""
    values, axes = np.linalg.eigh(square)
    return np.maximum(values[::-1], 0.0), axes[:, ::-1]


class Look:
    """What factors are like in some of the rows: their means and covariances, and how probable each row is."""

    def __init__(self, rows: GappedRows, factors: Factors, patterns: slice) -> None:
        span = rows.span(patterns)
        self.values, self.weights = rows.values[span], rows.weights[span]
        self.masks = rows.masks[patterns].astype(np.float64)
        self.starts = rows.starts[patterns.start : patterns.stop + 1] - span.start
        self.which = np.repeat(np.arange(len(self.masks)), np.diff(self.starts))
        self.factors = factors
        self.covariances, self.sizes = factors.covariances(self.masks)
        self.pulls = factors.pulls(self.values, self.masks, self.which)
        self.means = self.times(self.covariances, self.pulls)

    def of_rows(self, of_patterns: Array) -> Array:
        """What belongs to patterns, once for each of their rows."""
        return of_patterns if len(self.masks) == len(self.values) else of_patterns[self.which]

    def times(self, matrices: Array, vectors: Array) -> Array:
        """The matrix of its pattern times what belongs to every row (…×n×k): of one pattern, with no copies."""
        if len(self.masks) == 1:
            return np.asarray(vectors @ matrices[0].T)
        return np.asarray(np.matmul(self.of_rows(matrices), vectors[..., None])[..., 0])

    @property
    def log_density(self) -> Array:
        """log p(x_O) of every row; 0 where nothing is there."""
        noise = self.factors.noise
        constant = self.masks.sum(axis=1) * np.log(2 * np.pi * noise) + self.sizes
        distances = self.factors.squares(self.values, self.masks, self.which) / noise
        distances -= np.einsum("ij,ij->i", self.pulls, self.means)
        return -(self.of_rows(constant) + distances) / 2

    def sums(self) -> "FactorSums":
        """Of these rows."""
        weighted = self.means * self.weights[:, None]
        squares = self._squares(weighted)
        squares += np.add.reduceat(self.weights, self.starts[:-1])[:, None] * packed(self.covariances)
        firsts = np.add.reduceat(weighted, self.starts[:-1], axis=0)
        return FactorSums(
            likelihood=float(self.weights @ self.log_density),
            seconds=self.masks.T @ squares,
            firsts=self.masks.T @ firsts,
            crosses=self.values.T @ weighted,
            latent=squares.sum(axis=0),
        )

    def _squares(self, weighted: Array) -> Array:
        """Σ w⟨z⟩⟨z⟩ᵀ over the rows of every pattern, packed."""
        if len(self.masks) == 1:
            return packed(weighted.T @ self.means)[None]
        rows, columns = np.triu_indices(self.factors.k)
        return np.asarray(np.add.reduceat(weighted[:, rows] * self.means[:, columns], self.starts[:-1], axis=0))


@dataclass(frozen=True, eq=False)
class FactorSums:
    """Over the rows that have column j, sums of ⟨zzᵀ⟩ and ⟨z⟩; of x_j⟨z⟩; over all rows, of ⟨zzᵀ⟩ and log p(x_O)."""

    likelihood: float
    seconds: Array  # d×k(k + 1)/2, packed
    firsts: Array  # d×k
    crosses: Array  # d×k
    latent: Array  # k(k + 1)/2, packed

    def __sizeof__(self) -> int:
        return weight_of(self)

    def __add__(self, other: "FactorSums") -> "FactorSums":
        return FactorSums(
            self.likelihood + other.likelihood,
            self.seconds + other.seconds,
            self.firsts + other.firsts,
            self.crosses + other.crosses,
            self.latent + other.latent,
        )

    def squares(self, k: int) -> Array:
        """d×k×k."""
        return unpacked(self.seconds, k)

    def latent_square(self, k: int) -> Array:
        return unpacked(self.latent[None], k)[0]


def sweep_factors(rows: GappedRows, factors: Factors, threads: int) -> FactorSums:
    """One pass over all rows, the same to the last bit on any number of threads.

    Sums of a piece are as large as d matrices k×k: those of a few pieces are held at a time, and added in their order.
    """
    pieces, total = rows.pieces(factors.k), None
    for first in range(0, len(pieces), _PIECES * threads):
        some = pieces[first : first + _PIECES * threads]
        found: list[FactorSums | None] = [None] * len(some)

        def work(i: int, some: list[slice] = some, found: list[FactorSums | None] = found) -> None:
            found[i] = Look(rows, factors, some[i]).sums()

        run(work, range(len(some)), threads)
        for sums in found:
            assert sums is not None
            total = sums if total is None else total + sums
    assert total is not None
    return total
