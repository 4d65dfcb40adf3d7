"""Pairs: the rows in the planes of all pairs of the first components."""

from functools import partial
from typing import Any, Self

import numpy as np

from mercer_old.displays.asking import check_components, prefix_of, scores_of, shares_of
from mercer_old.displays.base import Display
from mercer_old.displays.clouds import BEYOND, density_along, draw_cloud
from mercer_old.displays.palette import Groups
from mercer_old.displays.words import axis_label
from mercer_old.errors import BadData, counted

__all__ = ["PairsDisplay"]

_MOST = 12  # components: more panels are too small to be read


class PairsDisplay(Display):
    """Rows in the plane of every pair of components, with the densities of the groups along the diagonal.

    Parameters
    ----------
    scores : array-like of shape (n_samples, n_components)
        Those of the components that are shown.
    y : array-like of shape (n_samples,), default=None
        Labels, as of `ScoresDisplay`.
    labels : sequence of str, default=None
        Of the components.

    Attributes
    ----------
    scores : ndarray of shape (n_samples, n_components)
        As given.
    groups : Groups
        The labels, as they were understood.
    labels : list of str
        Of the components.
    ax_, figure_, notes_ : ndarray of Axes, Figure, list of str
        Where it was drawn, and what it says in words.
    """

    def __init__(self, scores: Any, *, y: Any = None, labels: Any = None) -> None:
        self.scores = np.asarray(scores, dtype=np.float64)
        if self.scores.ndim != 2 or not 2 <= self.scores.shape[1] <= _MOST:
            raise BadData(f"Pairs are of 2 to {_MOST} components; scores have the shape {self.scores.shape}.")
        k = self.scores.shape[1]
        self.groups = Groups.of(y, len(self.scores))
        self.labels = [f"component {j + 1}" for j in range(k)] if labels is None else list(labels)

    @classmethod
    def from_estimator(cls, model: Any, X: Any = None, y: Any = None, *, components: Any = None, **drawn: Any) -> Self:
        """Draw the pairs of components of a fitted model.

        Parameters
        ----------
        model : estimator
            A fitted one, as of `ScoresDisplay.from_estimator`.
        X : array-like, default=None
            The rows; None: those of the fit, where the model has kept them.
        y : array-like of shape (n_samples,), default=None
            Labels.
        components : sequence of int, default=None
            Which, counted from 0; None: the first four, or fewer.
        **drawn : dict
            Options of `plot`.

        Returns
        -------
        display : PairsDisplay
            The display, drawn.
        """
        scores, shares, prefix = scores_of(model, X), shares_of(model), prefix_of(model)
        if scores.shape[1] < 2:
            raise ValueError(f"Pairs take two components, and {counted(scores.shape[1], 'component')} was fitted.")
        which = range(min(4, scores.shape[1])) if components is None else components
        numbers = check_components(which, scores.shape[1])
        return cls(scores[:, numbers], y=y, labels=[axis_label(prefix, j, shares) for j in numbers]).plot(**drawn)

    def plot(
        self, ax: Any = None, *, theme: str | None = None, size: Any = None, points: dict[str, Any] | None = None
    ) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes or array of them, default=None
            Where: one that is cut into panels, or all panels; None makes a figure.
        theme : {"light", "dark"}, default=None
            The look; None: light, or that of `ax`.
        size : tuple of float, default=None
            Width and height in inches, of a figure that is made.
        points : dict, default=None
            Settings of the points for `matplotlib.axes.Axes.scatter`.

        Returns
        -------
        display : PairsDisplay
            Itself.
        """
        k = self.scores.shape[1]
        with self._many(ax, theme, size, (1.2 + 1.75 * k, 1.75 * k), (k, k)) as (panels, look):
            style = {"s": 9, "linewidths": 0.2} | (points or {})
            handles: list[Any] = []
            bar: Any = partial(self._colour_bar, None, look)  # one for all panels
            for i in range(k):
                for j in range(k):
                    one = panels[i, j]
                    if i == j:
                        self._draw_density(one, i)
                    else:
                        handles, names = draw_cloud(one, look, self.scores[:, [j, i]], self.groups, bar, **style)
                        bar = None
                    _trim(one, i, j, k, self.labels)
            self._share_reach(panels)
            if handles:
                self._legend(None, handles, names)
            self._say_above_all(look, self.groups.notes)
        return self

    def _share_reach(self, panels: Any) -> None:
        """The numbers at the edge hold for all panels of a line, densities included."""
        low, high = (end(axis=0) for end in (self.scores.min, self.scores.max))
        pad = np.where(high > low, BEYOND * (high - low), 1.0)
        for i, j in np.ndindex(panels.shape):
            panels[i, j].set_xlim(low[j] - pad[j], high[j] + pad[j])
            if i != j:
                panels[i, j].set_ylim(low[i] - pad[i], high[i] + pad[i])

    def _draw_density(self, ax: Any, i: int) -> None:
        for _, style, rows in self.groups:
            ax.fill_between(*density_along(self.scores[rows, i]), color=style.colour, alpha=0.35, lw=0)
        ax.set_ylim(0, None)


def _trim(ax: Any, i: int, j: int, k: int, labels: list[str]) -> None:
    """Labels and numbers at the left and at the bottom only; heights of densities have no number."""
    ax.tick_params(labelsize=7, labelbottom=i == k - 1, labelleft=j == 0 and i != j)
    if i == k - 1:
        ax.set_xlabel(labels[j], fontsize=8)
    if j == 0:
        ax.set_ylabel(labels[i], fontsize=8)
    if i == j:
        ax.set_yticks([])
