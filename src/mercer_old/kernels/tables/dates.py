"""Columns of moments."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from mercer_old.arrays import Array
from mercer_old.errors import in_short
from mercer_old.kernels.base import Kernel
from mercer_old.kernels.tables.base import Column, require_rows
from mercer_old.kernels.tables.numbers import mean_and_scale, z_scores
from mercer_old.sources.cells import Cells, present

_DAY = np.timedelta64(1, "D")
_CYCLES = ("year", "week", "day")


@dataclass(frozen=True, repr=False)
class Date(Column):
    """Moments as numbers of days, standardised, and if asked for as places in their year, week or day (`cycles`).

    A cycle is two numbers, the cosine and the sine of the angle, so that December lies next to January.
    """

    cycles: Sequence[str] = ()
    kernel: Kernel | None = None
    mean: float | None = None
    scale: float | None = None
    means: Sequence[float] | None = None  # of the cosines and sines

    takes: ClassVar[tuple[str, ...]] = ("dates",)

    def __post_init__(self) -> None:
        require_rows(self.kernel, "Date")
        strange = [cycle for cycle in self.cycles if cycle not in _CYCLES]
        if isinstance(self.cycles, str) or strange:
            raise ValueError(f"cycles are some of {', '.join(_CYCLES)}; got {in_short(self.cycles)}.")

    def __hash__(self) -> int:
        return hash((tuple(self.cycles), self.kernel, self.mean, self.scale, tuple(self.means or ())))

    @property
    def is_learned(self) -> bool:
        return self.means is not None

    def learned(self, cells: Cells, weights: Array, name: Any) -> Self:
        there = present(cells)
        mean, scale = mean_and_scale(_days(cells[there]), weights[there], name)
        waves = _waves(cells[there], self.cycles)
        means = tuple((weights[there] @ waves / weights[there].sum()).tolist())
        return replace(self, mean=mean, scale=scale, means=means)

    def rows(self, cells: Cells) -> Array:
        line = z_scores(_days(cells), self.mean, self.scale)
        waves = _waves(cells, self.cycles) - np.array(self.means)
        waves[~present(cells)] = 0.0
        return np.column_stack([line, waves])

    @property
    def width(self) -> int:
        return 1 + 2 * len(self.cycles)


def _days(moments: Array) -> Array:
    """Days since 1970, NaN for gaps."""
    days = (moments - np.datetime64(0, "us")) / _DAY
    return np.asarray(days, dtype=np.float64)


def _waves(moments: Array, cycles: Sequence[str]) -> Array:
    """cos and sin of the angle in every cycle (n × 2·cycles)."""
    angles = [2 * np.pi * _phase(moments, cycle) for cycle in cycles]
    return np.column_stack([np.empty((len(moments), 0)), *(part(a) for a in angles for part in (np.cos, np.sin))])


def _phase(moments: Array, cycle: str) -> Array:
    """The share of the cycle that is over."""
    if cycle == "year":
        start = moments.astype("datetime64[Y]")
        return np.asarray((moments - start.astype(moments.dtype)) / ((start + 1) - start.astype("datetime64[D]")))
    days = _days(moments)
    return np.mod(days, 1.0) if cycle == "day" else np.mod(days + 3.0, 7.0) / 7.0  # 1970 began on a Thursday
