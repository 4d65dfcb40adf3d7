"""The examples of the playground: points of `mercer.datasets` with fixed seeds, and what to begin with."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil, log10
from typing import Any

import numpy as np

from mercer_old import datasets
from mercer_old.arrays import Array, dense, here
from mercer_old.errors import BadData, counted
from mercer_old.inputs import table
from mercer_old.sources.items import Items

__all__ = ["MOST_POINTS", "Preset", "own_points", "presets"]

MOST_POINTS, MOST_CLASSES = 300, 7  # as many as the page follows at sight, and as many colours as can be told apart
_FAR, _NEAR = 1e6, 1e-6  # coordinates that sliders and links reach
_ROOM = 1.3  # how much farther than the points the plane reaches, so that there is room to drag them
_USUAL = {
    "kernel": "rbf", "gamma": 1.0, "degree": 3, "coef0": 1.0, "standardise": False, "neighbours": 12, "reg": 1e-3,
}  # fmt: skip


@dataclass(frozen=True)
class Preset:
    """Points of the plane with what is to be seen on them."""

    name: str
    title: str
    hint: str
    points: Array  # n×2
    classes: Array  # (n,), from 0 on
    backdrop: str = "none"  # the function behind the points, by the page's names: pca1, f1 … f8, sum
    params: Mapping[str, Any] = field(default_factory=dict)
    shown: Mapping[str, bool] = field(default_factory=dict)  # beside the axes: feet (projections), graph

    def record(self) -> dict[str, Any]:
        """As the page's script reads it; coordinates have so many decimals that a link can hold them all."""
        low, high = self.points.min(axis=0, initial=np.inf), self.points.max(axis=0, initial=-np.inf)
        if not len(self.points):
            low, high = np.full(2, -1.0), np.full(2, 1.0)
        half = _ROOM / 2 * float((high - low).max()) or float(np.abs(low).max()) or 1.0
        decimals = 6 - ceil(log10(half))
        middle = (low + high) / 2
        return {
            "name": self.name,
            "title": self.title,
            "hint": self.hint,
            "points": [[round(float(x), decimals) for x in point] for point in self.points],
            "classes": [int(label) for label in self.classes],
            "decimals": decimals,
            "view": {"x": float(middle[0]), "y": float(middle[1]), "half": half},
            "params": _USUAL | dict(self.params),
            "shown": dict(self.shown),
            "backdrop": self.backdrop,
        }


def presets() -> list[Preset]:
    """The lectures' examples in the order of the page."""
    return [
        _three_clusters(), _rings(), _rings_by_squares(), _moons(), _outlier(), _spiral(), _correlated(), _cities(),
        *_unequal(), _linear(), _blank(),
    ]  # fmt: skip


def own_points(X: Any, labels: Any = None) -> Preset:
    """Points that somebody brought, checked."""
    points = dense(X.load() if isinstance(X, Items) else table(here(X)), np.float64)
    if points.ndim != 2 or points.shape[1] != 2:
        raise BadData(
            f"The playground takes points of the plane, n×2; got the shape {points.shape}. Choose two columns."
        )
    if not 1 <= len(points) <= MOST_POINTS:
        raise BadData(f"The playground takes 1 to {MOST_POINTS} points; got {len(points):,}. Give some of them.")
    if not np.isfinite(points).all():
        row = int(np.argmax(~np.isfinite(points).all(axis=1)))
        raise BadData(f"Points have two finite coordinates; row index {row} has {points[row].tolist()}.")
    size, spread = float(np.abs(points).max()), float(np.ptp(points, axis=0).max())
    if size > _FAR or 0 < spread < 1 / _FAR or 0 < spread < _NEAR * size:
        raise BadData(
            f"Coordinates of up to {size:.3g} with a spread of {spread:.3g} cannot be dragged: give them between "
            f"{1 / _FAR:g} and {_FAR:g}, and move their mean to zero if it is far larger than their spread."
        )
    classes = np.zeros(len(points), dtype=int) if labels is None else _classes(labels, len(points))
    variance = float(points.var(axis=0).sum())
    gamma = float(f"{1 / variance:.2g}") if variance > 0 else 1.0
    return Preset(
        "own",
        "Your points",
        "Your points. Drag one, and see which of the methods minds.",
        points,
        classes,
        params={"gamma": gamma, "neighbours": max(1, min(12, len(points) - 1))},
    )


def _classes(labels: Any, n: int) -> Array:
    labels = np.asarray(labels)
    if labels.shape != (n,):
        raise BadData(f"There are {counted(n, 'point')}, but labels of shape {labels.shape}: give one for each.")
    names, classes = np.unique(labels.astype(str), return_inverse=True)
    if len(names) > MOST_CLASSES:
        raise BadData(f"There are {len(names):,} different labels, and {MOST_CLASSES} colours: give fewer classes.")
    return classes


def _three_clusters() -> Preset:
    return Preset(
        "clusters",
        "Three clusters (Minnesota)",
        "With k(x, y) = exp(−‖x − y‖²/0.1), γ = 10, the first two functions tell the three clusters apart, and the "
        "later ones cut through each of them. Drag a point from one cluster to another.",
        *datasets.three_clusters(30, seed=0),
        backdrop="f1",
        params={"gamma": 10.0},
    )


def _rings() -> Preset:
    return Preset(
        "rings",
        "Rings (Edinburgh, fig. 8)",
        "PCA only turns the rings. With a bandwidth between the gaps within a ring and the distance between the rings, "
        "the first function has one sign on the inner ring and the other on the outer one. Move γ and see when.",
        *datasets.rings(100, (1.0, 3.0), seed=1),
        backdrop="f1",
        params={"gamma": 0.5},
    )


def _rings_by_squares() -> Preset:
    return Preset(
        "squares",
        "Rings by squares (polynomial kernel)",
        "A kernel of degree 2 contains x₁² + x₂², so one of its five components, the fifth, is the radius: its zero "
        "line is a circle. With degree 1 it is gone.",
        *datasets.rings(60, (1.0, 3.0), seed=1),
        backdrop="f5",
        params={"kernel": "poly", "degree": 2, "gamma": 0.5, "coef0": 1.0},
    )


def _moons() -> Preset:
    return Preset(
        "moons",
        "Moons (Bonn, p. 75)",
        "The first function tells the two crescents apart, the later ones cut along them: clusters can be read off the "
        "signs.",
        *datasets.moons(50, noise=0.05, seed=0),
        backdrop="f1",
        params={"gamma": 12.5},
    )


def _outlier() -> Preset:
    points, _ = datasets.moons(50, noise=0.05, seed=0)
    return Preset(
        "outlier",
        "An outlier and F(x) (Bonn, p. 78)",
        "F(x) = Σ|fᵢ(x)| is large on the data and falls to zero away from it: the stray point has by far the lowest "
        "F. Drag it towards the moons.",
        np.vstack([points, [1.1, 0.8]]),
        np.append(np.zeros(len(points), dtype=int), 1),
        backdrop="sum",
        params={"gamma": float(f"{1 / (2 * 0.3**2):.3g}")},
    )


def _spiral() -> Preset:
    points, place = datasets.spiral(300, 2)
    return Preset(
        "spiral",
        "The spiral (12 neighbours)",
        "Colour is the place along the spiral. The first coordinate of LLE runs through it from end to end; no "
        "bandwidth of kernel PCA brings the colours into order. Take 40 neighbours, and the graph jumps across.",
        points,
        np.minimum((6 * place).astype(int), 5),
        params={"gamma": 0.02, "neighbours": 12},
        shown={"axes": False, "graph": True},
    )


def _correlated() -> Preset:
    points = datasets.correlated_cloud(120, seed=0)
    return Preset(
        "pair",
        "A correlated pair (Bonn, p. 7)",
        "The first axis is the direction of largest spread, and the one with the least squared distances at once: the "
        "grey lines. Drag one point far away and see the axis follow.",
        points,
        np.zeros(len(points), dtype=int),
        backdrop="pca1",
        params={"gamma": 0.5},
        shown={"feet": True},
    )


def _cities() -> Preset:
    points = datasets.cities(100, seed=0)
    return Preset(
        "cities",
        "Cities (Edinburgh, fig. 2)",
        "Population and spending of 100 cities: the first axis lies along (0.839, 0.544), as in the notes.",
        points,
        np.zeros(len(points), dtype=int),
        params={"gamma": 0.003},
        shown={"feet": True},
    )


def _unequal() -> list[Preset]:
    points = datasets.unequal_gaussian(300, seed=0)
    classes = np.zeros(len(points), dtype=int)
    return [
        Preset(
            "raw",
            "N(0, [[25, 4], [4, 1]]) as measured",
            "x₁ has 25 times the variance of x₂, perhaps only for its unit: the first axis runs nearly along it and "
            "seems to hold all there is. Tick “standardise”.",
            points,
            classes,
            params={"gamma": 0.05},
        ),
        Preset(
            "standardised",
            "N(0, [[25, 4], [4, 1]]) standardised",
            "Both columns have variance one now, so their correlation decides: the first axis weighs them equally, "
            "and a tenth of the variance is left to the second.",
            points,
            classes,
            params={"gamma": 0.5, "standardise": True},
        ),
    ]


def _linear() -> Preset:
    points, classes = datasets.three_clusters(25, seed=3)
    return Preset(
        "linear",
        "The linear kernel is PCA",
        "With k(x, y) = xᵀy kernel PCA is PCA: the same scores, and two components that have all the variance.",
        points,
        classes,
        backdrop="f1",
        params={"kernel": "linear", "gamma": 5.0},
    )


def _blank() -> Preset:
    return Preset(
        "blank",
        "A blank plane",
        "Choose “Add”, and draw points of your own; hold the button to draw many.",
        np.empty((0, 2)),
        np.empty(0, dtype=int),
        backdrop="f1",
        params={"gamma": 5.0, "neighbours": 8},
    )
