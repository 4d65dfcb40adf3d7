"""Clouds of points in the plane: as points with a style for each group, or as an image where there are too many."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy

from mercer_old.arrays import Array
from mercer_old.displays.canvas import Look, part
from mercer_old.displays.palette import NUMBERS, Groups, Style
from mercer_old.displays.words import part_of_hundred, safe
from mercer_old.errors import listed
from mercer_old.readings.regions import FEWEST, region

__all__ = [
    "BEYOND", "MANY", "density_along", "draw_cloud", "draw_densities", "draw_regions", "limits_around", "meaning_of",
]  # fmt: skip

MANY = 200_000  # points: beyond, an image of their density is drawn
_PATHS = 10_000  # points that are drawn one by one in .svg and .pdf: more would be megabytes
_PIXELS = 320  # of a side of that image
BEYOND = 1 / 8  # of the range: how far densities are drawn on either side
_SAMPLE = 4000  # points that a density along one axis is taken of


def draw_cloud(
    ax: Any, look: Look, points: Array, groups: Groups, bar: Callable[[Any], None] | None = None, **given: Any
) -> tuple[list, list]:
    """Handles and names for a legend; of numbers, `bar` is called with what the colours are of."""
    if len(points) > MANY:
        return _draw_image(ax, look, points, groups)
    n = len(points)
    usual = {
        "s": 26 if n < 300 else 14 if n < 3000 else 5,
        "edgecolors": look.paper,
        "linewidths": 0.4 if n < 3000 else 0,
        "rasterized": n > _PATHS,
    }
    handles: list[Any] = []
    names: list[str] = []
    style = usual | {"alpha": 0.9 if n < 3000 else 0.6} | given
    if groups.values is not None:
        there, edged = np.isfinite(groups.values), style | {"edgecolors": look.ink, "linewidths": 0.25} | given
        shown = ax.scatter(*points[there].T, c=groups.values[there], cmap=NUMBERS, **edged)
        bar(shown) if bar else None
    else:
        for name, own, rows in groups:
            handle = ax.scatter(*points[rows].T, color=own.colour, marker=own.marker, **style)
            if name:
                handles, names = [*handles, handle], [*names, safe(name)]
    if len(groups.unlabelled):
        hollow = {"facecolors": "none", "edgecolors": look.ink, "alpha": 0.4, "linewidths": 0.8}
        handles.append(ax.scatter(*points[groups.unlabelled].T, **(style | hollow)))
        names.append("without a label")
    return handles, names


def _draw_image(ax: Any, look: Look, points: Array, groups: Groups) -> tuple[list, list]:
    """How many points every pixel has, on a scale of logarithms; of groups, in the colour of the largest there."""
    low, high = points.min(axis=0), points.max(axis=0)
    bins = [np.linspace(low[i], high[i] if high[i] > low[i] else low[i] + 1, _PIXELS + 1) for i in (0, 1)]
    extent = (*bins[0][[0, -1]], *bins[1][[0, -1]])
    how = {"origin": "lower", "extent": extent, "aspect": "auto", "interpolation": "nearest"}
    shown = _layers(groups, len(points))
    counts = np.array([np.histogram2d(points[rows, 0], points[rows, 1], bins)[0].T for _, _, rows in shown])
    depth = np.log1p(counts.sum(axis=0))
    if groups.alike:
        image = ax.imshow(np.ma.masked_equal(depth, 0), cmap=NUMBERS, **how)
        image.set_label("density")
        return [], []
    colours = np.array([part("colors").to_rgb(own.colour) for _, own, _ in shown])
    picture = np.concatenate([colours[counts.argmax(axis=0)], (0.25 + 0.75 * depth / depth.max())[..., None]], axis=2)
    picture[depth == 0] = 0.0
    ax.imshow(picture, **how)
    patch = part("patches").Patch
    return [patch(color=own.colour) for _, own, _ in shown], [safe(name) for name, _, _ in shown]


def _layers(groups: Groups, n: int) -> list[tuple[str, Style, Array]]:
    """The groups of an image, and rows without a label among them."""
    from mercer_old.look import GREY

    if groups.alike:
        return [("", Style(GREY, "o"), np.arange(n))]
    rest = [("without a label", Style(GREY, "o"), groups.unlabelled)] if len(groups.unlabelled) else []
    return [*groups, *rest]


def draw_regions(ax: Any, points: Array, groups: Groups, kind: Any, level: float, look: Look) -> list[str]:
    """A region around every group, or around all points; what to say of groups that have too few, or lie on a line."""
    left_out, of_all = [], groups.alike
    for name, style, rows in _layers(groups, len(points)) if of_all else groups:
        outline = region(points[rows], kind, level)
        if outline is None:
            left_out.append(safe(name) or "all rows")
            continue
        colour = look.ink if of_all else style.colour
        ax.fill(*outline.T, facecolor=colour, alpha=0.10, edgecolor="none", zorder=0.8)
        ax.plot(*outline.T, color=colour, lw=1.3, zorder=0.9)
    if not left_out:
        return []
    few = f"Without {_MEANT[kind]}, having fewer than {FEWEST[kind]} points or all on a line"
    return [f"{few}: {listed(left_out)}."]


_MEANT = {"concentration": "an ellipse", "confidence": "an ellipse", "hull": "a hull"}


def meaning_of(kind: str, level: float) -> str:
    """What a region is, in words: the two ellipses are often taken for each other."""
    share = part_of_hundred(level)
    return {
        "concentration": f"Ellipses of concentration: where {share} of new rows of a group are expected.",
        "confidence": f"Ellipses of confidence: where the centroid of a group is, at {share}.",
        "hull": "Hulls: all rows of a group lie inside.",
    }[kind]


def density_along(values: Array) -> tuple[Array, Array]:
    """Places along an axis and the density there; none of values that are too few, or all the same.

    It is computed in units of the range, so that its squares are numbers in any unit.
    """
    some = values[:: max(1, len(values) // _SAMPLE)]
    low, reach = some.min(initial=np.inf), float(np.ptp(some)) if len(some) else 0.0
    if len(some) < 3 or not reach > 1e-9 * np.abs(some).max():
        return np.empty(0), np.empty(0)
    at = np.linspace(-BEYOND, 1 + BEYOND, 120)
    return low + reach * at, scipy.stats.gaussian_kde((some - low) / reach)(at) / reach


def draw_densities(ax: Any, look: Look, points: Array, groups: Groups) -> None:
    """Marginal densities of the groups, above and at the right of the axes."""
    above, beside = ax.inset_axes((0, 1.01, 1, 0.13), sharex=ax), ax.inset_axes((1.01, 0, 0.13, 1), sharey=ax)
    for panel in (above, beside):
        panel.set_axis_off()
    for _, style, rows in groups:
        for i, panel in enumerate((above, beside)):
            fill = panel.fill_between if i == 0 else panel.fill_betweenx
            fill(*density_along(points[rows, i]), color=style.colour, alpha=0.35, lw=0)
    above.set_ylim(0, None)
    beside.set_xlim(0, None)


def limits_around(ax: Any, points: Array, margin: float = 0.06) -> None:
    """The axes reach as far as these points do, wherever they were."""
    if len(points):
        ax.update_datalim(points)
        ax.margins(margin)
        ax.autoscale_view()
