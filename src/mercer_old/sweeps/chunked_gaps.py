"""Rows with gaps where their chunks lie: each is kept by who works on it, and sums are merged along a fixed tree."""

from dataclasses import dataclass
from functools import cached_property, partial
from hashlib import blake2b
from operator import add
from typing import Any

import numpy as np

from mercer_old.arrays import Array, weight_of
from mercer_old.sources.chunked import Chunks
from mercer_old.sources.portions import Portions, Whole
from mercer_old.sweeps.factors import Factors
from mercer_old.sweeps.gaps import FactorSums, Gapped, GappedRows, axes_of_square, sweep_factors

__all__ = ["MOST_PATTERNS", "ChunkedGaps", "added", "as_gapped", "gapped_in", "regular", "swept_or_none"]

MOST_PATTERNS = 100_000  # that are counted where rows lie in chunks: there may be as many as rows


def as_gapped(arrays: tuple[Array, ...], start: int) -> GappedRows:
    """How rows are opened of which the arrays were kept."""
    return GappedRows(*arrays)


def gapped_in(portions: Portions) -> Gapped:
    """For who asks for sums, and not for portions."""
    if isinstance(portions, Whole):
        found: GappedRows = portions.value
        return found
    assert isinstance(portions, Chunks)
    return ChunkedGaps(portions)


class ChunkedGaps:
    """Rows in chunks, each of which opens as `GappedRows`."""

    def __init__(self, portions: Chunks) -> None:
        self.portions = portions

    def __len__(self) -> int:
        return self._totals.rows

    @property
    def width(self) -> int:
        return len(self._totals.counts)

    @property
    def weight(self) -> float:
        return self._totals.weight

    @property
    def counts(self) -> Array:
        return self._totals.counts

    @property
    def sums(self) -> Array:
        return self._totals.sums

    @property
    def total_squares(self) -> float:
        return self._totals.squares

    @property
    def patterns(self) -> int:
        return min(len(self._totals.patterns), MOST_PATTERNS)

    def axes(self) -> tuple[Array, Array]:
        return axes_of_square(self.portions.summed(_square, add) / self.weight)

    def swept(self, factors: Factors, threads: int) -> FactorSums:
        work = partial(_swept, self.portions.engine.threads(threads))
        return regular(self.portions.summed(work, added, None, factors))

    @cached_property
    def _totals(self) -> "_Totals":
        found: _Totals = self.portions.summed(_totals, add)
        return found


@dataclass(frozen=True, eq=False)
class _Totals:
    """What does not change from pass to pass."""

    rows: int
    weight: float
    counts: Array
    sums: Array
    squares: float
    patterns: Array  # a number for each, which stands for it; no more of them than are counted

    def __sizeof__(self) -> int:
        return weight_of(self)

    def __add__(self, other: "_Totals") -> "_Totals":
        return _Totals(
            self.rows + other.rows,
            self.weight + other.weight,
            self.counts + other.counts,
            self.sums + other.sums,
            self.squares + other.squares,
            np.union1d(self.patterns, other.patterns)[:MOST_PATTERNS],
        )


def _totals(rows: GappedRows, own: None) -> _Totals:
    return _Totals(len(rows), rows.weight, rows.counts, rows.sums, rows.total_squares, _fingerprints(rows.masks))


def _fingerprints(masks: Array) -> Array:
    """Eight bytes for each pattern, the same in every process: two of them are the same by no accident."""
    distinct = {bits.tobytes() for bits in np.packbits(masks, axis=1)}
    found = sorted(blake2b(bits, digest_size=8).digest() for bits in distinct)
    return np.frombuffer(b"".join(found), dtype=">u8").astype(np.uint64)[:MOST_PATTERNS]


def _square(rows: GappedRows, own: None) -> Any:
    moved = rows.values * np.sqrt(rows.weights)[:, None]
    return moved.T @ moved


def _swept(threads: int, rows: GappedRows, own: None, factors: Factors) -> FactorSums | None:
    return swept_or_none(rows, factors, threads)


def swept_or_none(rows: GappedRows, factors: Factors, threads: int) -> FactorSums | None:
    """None where matrices are singular to rounding: work that fails has a cluster let go of all that it keeps, and who
    climbs goes on from another guess."""
    try:
        return sweep_factors(rows, factors, threads)
    except np.linalg.LinAlgError:
        return None


def regular(sums: FactorSums | None) -> FactorSums:
    """The sums; where there are none, the error that is raised in memory."""
    if sums is None:
        raise np.linalg.LinAlgError("Singular to rounding")
    return sums


def added(one: FactorSums | None, other: FactorSums | None) -> FactorSums | None:
    return None if one is None or other is None else one + other
