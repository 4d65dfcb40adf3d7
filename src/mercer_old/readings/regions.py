"""Where a group of points lies in the plane: two ellipses that mean different things, and a hull.

With n points of mean m and covariance S, and F the quantile of the F distribution of 2 and n − 2 degrees of freedom:

- concentration: (x − m)ᵀS⁻¹(x − m) ≤ 2(n² − 1)/(n(n − 2))·F holds for a new point of the group with this probability;
- confidence: (x − m)ᵀS⁻¹(x − m) ≤ 2(n − 1)/(n(n − 2))·F holds for the true centroid with it (Hotelling);
- hull: the smallest convex set with all points in it.

The ellipses are exact if the points are normally distributed; the hull assumes nothing.
"""

import numpy as np
import scipy

from mercer_old.arrays import Array
from mercer_old.errors import in_short, joined

__all__ = ["FEWEST", "REGIONS", "region"]

REGIONS = ("concentration", "confidence", "hull")
#: Points that a region takes: of three, an ellipse would be hundreds of deviations wide.
FEWEST = {"concentration": 4, "confidence": 4, "hull": 3}
_ROUNDING = 1e-12  # of the larger range: a smaller one is rounding
_FLAT = 1e-10  # times the larger variance: points on a line have no inside
_CORNERS = 181  # of an ellipse as it is drawn, the first again at the end


def region(points: Array, kind: str, level: float = 0.95) -> Array | None:
    """The outline of a region (c×2), its first corner again at the end; None of points that are too few, or on a line.

    >>> region(np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [0.5, 0.5]]), "hull").tolist()
    [[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [0.0, 0.0]]
    """
    if not isinstance(kind, str) or kind not in REGIONS:
        raise ValueError(f"ellipse must be {joined(REGIONS, 'or')}, or None; got {in_short(kind)}.")
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        raise ValueError(f"level is a probability between 0 and 1; got {in_short(level)}.")
    if len(points) < FEWEST[kind]:
        return None
    low, reach = points.min(axis=0), np.ptp(points, axis=0)
    if not reach.min() > _ROUNDING * reach.max():
        return None
    shares = (points - low) / reach  # of the ranges: the units of the axes change nothing
    values, vectors = np.linalg.eigh(np.cov(shares.T))
    if not values[0] > _FLAT * values[1]:
        return None
    if kind == "hull":
        return _hull(points, shares)
    radii = np.sqrt(values * _squared_radius(len(points), kind, level))
    angle = np.linspace(0, 2 * np.pi, _CORNERS)
    outline = shares.mean(axis=0) + np.column_stack([np.cos(angle), np.sin(angle)]) * radii @ vectors.T
    return np.asarray(low + reach * outline)


def _squared_radius(n: int, kind: str, level: float) -> float:
    quantile = float(scipy.stats.f.ppf(level, 2, n - 2)) * 2 * (n - 1) / (n * (n - 2))
    return quantile * (n + 1) if kind == "concentration" else quantile


def _hull(points: Array, shares: Array) -> Array | None:
    try:
        corners = scipy.spatial.ConvexHull(shares).vertices
    except scipy.spatial.QhullError:  # on a line but for rounding
        return None
    first = int(np.lexsort(points[corners].T[::-1])[0])  # from the lowest corner on, whatever order Qhull has
    corners = np.roll(corners, -first)
    return np.asarray(points[np.append(corners, corners[0])])
