"""The look of every figure: two themes, colours that colour-blind people can tell apart, fields over the plane.

Figures are made without pyplot: no global state, no window system, so they draw anywhere.
"""

import io
from collections.abc import Callable
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from mercer_old.arrays import Array
from mercer_old.colours import BLUE, COLOURS, GREEN, GREY, MARKERS, ORANGE, PINK, RED, SKY

__all__ = [
    "BLUE", "COLOURS", "GREEN", "GREY", "MARKERS", "ORANGE", "PINK", "RED", "SKY",
    "as_png", "faint", "field", "grid_over", "ink", "panels", "paper", "ramp", "scatter", "without_axes",
]  # fmt: skip

DPI = 150
_SHARED: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": mpl.cycler(color=COLOURS),
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "figure.dpi": DPI,
}


def _theme(ink: str, paper: str, faint: str, diverging: str) -> dict[str, Any]:
    inked = ["text.color", "axes.labelcolor", "axes.titlecolor", "axes.edgecolor", "xtick.color", "ytick.color"]
    papers = ["figure.facecolor", "axes.facecolor", "savefig.facecolor"]
    return (
        _SHARED
        | dict.fromkeys(inked, ink)
        | dict.fromkeys(papers, paper)
        | {"grid.color": faint, "image.cmap": diverging}
    )


THEMES = {
    "light": _theme(ink="#1c2733", paper="#ffffff", faint="#d9dee4", diverging="RdBu_r"),
    "dark": _theme(ink="#e6e9ee", paper="#161b22", faint="#39424e", diverging="berlin"),
}


def ink() -> str:
    """The colour of text and lines in the theme being drawn."""
    return mpl.rcParams["text.color"]


def faint() -> str:
    """The colour of what should stay in the background."""
    return mpl.rcParams["grid.color"]


def paper() -> str:
    """The colour behind the drawing."""
    return mpl.rcParams["axes.facecolor"]


def ramp(*colours: str) -> LinearSegmentedColormap:
    """A colour map that runs through these colours; from `paper()` to `ink()` for pictures in grey."""
    return LinearSegmentedColormap.from_list("ramp", list(colours))


def panels(
    rows: int = 1, columns: int = 1, *, width: float = 9.0, height: float = 3.4, **kwargs: Any
) -> tuple[Figure, Any]:
    """A figure of rows × columns panels, and the panels: one, or an array like that of `pyplot.subplots`."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, **kwargs)


def scatter(ax: Axes, X: Array, groups: Array | None = None, labels: list[str] | None = None, **kwargs: Any) -> None:
    """Points of the plane; each group has its colour *and* its marker."""
    style = {"s": 18, "edgecolors": paper(), "linewidths": 0.4} | kwargs
    groups = np.zeros(len(X), dtype=int) if groups is None else groups
    for i, group in enumerate(np.unique(groups)):
        own = {"color": COLOURS[i % 7], "marker": MARKERS[i % 7], "label": labels[i] if labels else None}
        ax.scatter(*X[groups == group].T, **(own | style))


def field(ax: Axes, grid: Array, values: Array) -> Any:
    """A function over the plane as a filled contour, symmetric about 0, with the zero contour drawn out."""
    x, y = np.unique(grid[:, 0]), np.unique(grid[:, 1])
    V = values.reshape(len(y), len(x))
    top = np.abs(V).max() or 1.0
    filled = ax.contourf(x, y, V, levels=np.linspace(-top, top, 31))
    if V.min() < 0 < V.max():
        ax.contour(x, y, V, levels=[0.0], colors=[ink()], linewidths=1.4)
    ax.set(xlim=(x[0], x[-1]), ylim=(y[0], y[-1]), aspect="equal")
    return filled


def without_axes(ax: Axes) -> None:
    """Without ticks and frame: for panels in which only the shape matters."""
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)


def grid_over(X: Array, *, margin: float = 0.25, resolution: int = 60) -> Array:
    """The points of a grid over the plane around the points X, one a row."""
    low, high = X.min(axis=0), X.max(axis=0)
    pad = margin * (high - low).max()
    x, y = np.linspace(low - pad, high + pad, resolution).T
    return np.column_stack([g.ravel() for g in np.meshgrid(x, y)])


def as_png(draw: Callable[[], Figure], theme: str = "light") -> bytes:
    """The picture that `draw()` makes in one of the THEMES."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(THEMES[theme])
        picture = io.BytesIO()
        draw().savefig(picture, format="png", metadata={"Software": None})
    return picture.getvalue()
