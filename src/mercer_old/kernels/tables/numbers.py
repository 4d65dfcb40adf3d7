"""Columns of numbers."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from mercer_old.arrays import Array
from mercer_old.errors import BadData
from mercer_old.kernels.base import Kernel, require_finite, require_positive
from mercer_old.kernels.tables.base import Column, require_rows
from mercer_old.sources.cells import Cells, present

__all__ = ["Numeric", "mean_and_scale", "z_scores"]


@dataclass(frozen=True, repr=False)
class Numeric(Column):
    """Numbers, z = (x − mean)/scale, compared by zz', or by a kernel of rows such as ``RBF(gamma=0.5)``.

    The mean and the standard deviation are those of the fit, unless they are given.
    """

    kernel: Kernel | None = None
    mean: float | None = None
    scale: float | None = None

    takes: ClassVar[tuple[str, ...]] = ("numbers",)

    def __post_init__(self) -> None:
        require_rows(self.kernel, "Numeric")
        if self.mean is not None:
            require_finite(self.mean, "mean")
        if self.scale is not None:
            require_positive(self.scale, "scale", zero=True)

    @property
    def is_learned(self) -> bool:
        return self.mean is not None and self.scale is not None

    def learned(self, cells: Cells, weights: Array, name: Any) -> Self:
        mean, scale = mean_and_scale(cells[present(cells)], weights[present(cells)], name)
        return replace(
            self, mean=mean if self.mean is None else self.mean, scale=scale if self.scale is None else self.scale
        )

    def rows(self, cells: Cells) -> Array:
        return z_scores(np.asarray(cells, dtype=np.float64), self.mean, self.scale)[:, None]


def z_scores(values: Array, mean: float | None, scale: float | None) -> Array:
    """(x − mean)/scale, 0 for gaps and in a column of equal numbers."""
    assert mean is not None and scale is not None
    out = values - mean
    out = np.divide(out, scale, out=np.zeros_like(out), where=scale > 0)
    out[np.isnan(values)] = 0.0
    return out


def mean_and_scale(values: Array, weights: Array, name: Any) -> tuple[float, float]:
    """Of some numbers that count by their weights: mean and standard deviation, exactly 0 where all are the same."""
    values = values.astype(np.float64)
    if values.min() == values.max():
        return float(values[0]), 0.0
    shares = weights / weights.sum()
    with np.errstate(over="ignore"):
        mean = float(values[0] + shares @ (values - values[0]))
        away = values - mean
    peak = float(np.abs(away).max())
    if not np.isfinite(peak):
        raise BadData(
            f"Column {name!r} has numbers so large that they cannot be subtracted; divide it by a power of 10."
        )
    return mean, peak * float(np.sqrt(shares @ (away / peak) ** 2))
