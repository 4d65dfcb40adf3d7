"""Rows as points, where new ones find their neighbours: of locally linear embedding and of GPLVM."""

from typing import Any

import numpy as np

from mercer_old.spaces.points import INFINITELY_FAR, Points
from mercer_old.store.reasons import Unusable

__all__ = ["as_points"]


def as_points(rows: Any, centre: Any, unit: float, directions: bool = False, way: str = "auto") -> Points:
    """The space, if points can be there."""
    if not isinstance(rows, np.ndarray) or rows.ndim != 2 or rows.dtype.kind != "f":
        raise Unusable("its points are no rows of numbers")
    if unit <= 0 or np.abs(rows).max(initial=0.0) > INFINITELY_FAR:
        raise Unusable("its points are farther away than points can be")
    return Points(rows, centre, unit, directions, way)
