"""Neighbourhoods: who describes whom in locally linear embedding, drawn as a graph."""

from functools import partial
from typing import Any, Self

import numpy as np

from mercer_old.displays.asking import check_components, prefix_of, require
from mercer_old.displays.base import Display
from mercer_old.displays.canvas import part
from mercer_old.displays.clouds import draw_cloud, limits_around
from mercer_old.displays.palette import NUMBERS, Groups
from mercer_old.displays.scores import plane
from mercer_old.displays.words import axis_label
from mercer_old.errors import BadData, counted

__all__ = ["NeighborhoodDisplay"]

_MOST = 60_000  # edges that are drawn


class NeighborhoodDisplay(Display):
    """Rows in the plane, each with lines to its neighbours; lines are coloured by how far neighbours are in the input.

    Long lines between places far apart are neighbours that the embedding tears from each other, or a shortcut.

    Parameters
    ----------
    places : array-like of shape (n_samples, 2)
        Where rows lie.
    neighbors : array-like of int of shape (n_samples, n_neighbors)
        Numbers of the neighbours of every row.
    distances : array-like of shape (n_samples, n_neighbors), default=None
        How far they are in the input.
    y : array-like of shape (n_samples,), default=None
        Labels of the rows, as of `ScoresDisplay`.
    labels : tuple of str, default=("component 1", "component 2")
        Of the axes.
    about : str, default=""
        What to say of the graph.

    Attributes
    ----------
    places, neighbors, distances : ndarray
        As given.
    groups : Groups
        The labels, as they were understood.
    ax_, figure_, notes_ : Axes, Figure, list of str
        Where it was drawn, and what it says in words.
    """

    def __init__(
        self, places: Any, neighbors: Any, *, distances: Any = None, y: Any = None,
        labels: tuple[str, str] = ("component 1", "component 2"), about: str = "",
    ) -> None:  # fmt: skip
        self.places, self.neighbors = plane(places, "places"), np.asarray(neighbors)
        n = len(self.places)
        if (
            self.neighbors.ndim != 2
            or len(self.neighbors) != n
            or not (0 <= self.neighbors.min(initial=0) <= self.neighbors.max(initial=0) < n)
        ):
            raise BadData(f"neighbors are numbers of rows from 0 to {n - 1}, in a line for each row.")
        self.distances = None if distances is None else np.asarray(distances, dtype=np.float64)
        self.groups, self.labels, self.about = Groups.of(y, n), list(labels), about

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any = None, y: Any = None, *, components: Any = (0, 1), places: Any = None, **drawn: Any
    ) -> Self:
        """Draw the graph of a fitted locally linear embedding.

        Parameters
        ----------
        model : LocallyLinearEmbedding
            A fitted one.
        X : Ignored
            Present for compatibility: the graph is that of the fit.
        y : array-like of shape (n_samples,), default=None
            Labels; None: the parts of the graph, if there are several.
        components : tuple of int, default=(0, 1)
            Which two coordinates, counted from 0.
        places : array-like of shape (n_samples, 2), default=None
            Where to draw rows instead, such as two columns of the input.
        **drawn : dict
            Options of `plot`.

        Returns
        -------
        display : NeighborhoodDisplay
            The display, drawn.
        """
        require(model, cls.__name__, "LocallyLinearEmbedding")
        hoods = model._hoods
        y = model.part_labels_ if y is None and model.n_parts_ > 1 else y
        labels = "", ""
        if places is None:
            two = check_components(components, model.embedding_.shape[1], 2)
            places = np.asarray(model.embedding_, dtype=np.float64)[:, two]
            labels = axis_label(prefix_of(model), two[0], None), axis_label(prefix_of(model), two[1], None)
        whose = " of the landmarks" if "landmark_indices_" in vars(model) else ""
        graph = f"{counted(model.n_parts_, 'part')}, {hoods.indices.shape[1]} neighbours each"
        values = {
            "distances": hoods.distances,
            "y": None if y is None else model._of_items(y),
        }
        return cls(
            model._of_items(places), hoods.indices, labels=labels, about=f"The graph{whose} has {graph}.", **values
        ).plot(**drawn)

    def plot(self, ax: Any = None, *, theme: str | None = None, size: Any = None, legend: bool = True) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where; None makes a figure.
        theme : {"light", "dark"}, default=None
            The look; None: light, or that of `ax`.
        size : tuple of float, default=None
            Width and height in inches, of a figure that is made.
        legend : bool, default=True
            Whether to draw the legend of the groups.

        Returns
        -------
        display : NeighborhoodDisplay
            Itself.
        """
        n, k = self.neighbors.shape
        rows = np.arange(n)[:: max(1, -(-n * k // _MOST))]
        with self._one(ax, theme, size, (6.8, 4.8)) as (ax, look):
            ends = np.stack(
                [np.repeat(self.places[rows], k, axis=0), self.places[self.neighbors[rows].ravel()]], axis=1
            )
            shade: dict[str, Any] = {"colors": [look.faint]}  # a colour of its own would outdo those of distances
            if self.distances is not None:
                shade = {"array": self.distances[rows].ravel(), "cmap": NUMBERS}
            lines = part("collections").LineCollection(ends, linewidths=0.7, alpha=0.7, zorder=1, **shade)
            ax.add_collection(lines)
            if self.distances is not None:
                self._colour_bar(ax, look, lines, "distance of neighbours in the input", "bottom")
            bar = partial(self._colour_bar, ax, look, label="labels of rows") if legend else None
            handles, names = draw_cloud(ax, look, self.places, self.groups, bar, s=12)
            limits_around(ax, self.places)
            ax.set(xlabel=self.labels[0], ylabel=self.labels[1])
            if legend:
                self._legend(ax, handles, names, away=1.02 if self.groups.values is None else 1.2)
            few = f"Lines of {len(rows):,} of {n:,} rows." if len(rows) < n else ""
            self._say(ax, look, "", [self.about, few, *self.groups.notes])
        return self
