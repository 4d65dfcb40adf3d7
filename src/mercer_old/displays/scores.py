"""Scores: the rows in the plane of two components."""

from functools import partial
from typing import Any, Self

import numpy as np

from mercer_old.arrays import Array
from mercer_old.displays.asking import check_components, names_of_rows, prefix_of, scores_of, shares_of
from mercer_old.displays.base import Display
from mercer_old.displays.clouds import (
    MANY,
    draw_cloud,
    draw_densities,
    draw_regions,
    limits_around,
    meaning_of,
)
from mercer_old.displays.palette import Groups
from mercer_old.displays.words import axis_label
from mercer_old.errors import BadData, counted

__all__ = ["ScoresDisplay", "plane"]


def plane(points: Any, what: str = "scores") -> Array:
    """Points of a plane: two columns of finite numbers."""
    points = np.asarray(points, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 2:
        raise BadData(f"{what} have to be two columns of numbers; got an array of shape {points.shape}.")
    if not np.isfinite(points).all():
        raise BadData(
            f"{what} have {counted(int((~np.isfinite(points)).any(axis=1).sum()), 'row')} that are not finite."
        )
    return points


class ScoresDisplay(Display):
    """Rows in the plane of two components, with the share of each component in its label.

    Parameters
    ----------
    scores : array-like of shape (n_samples, 2)
        Where rows lie.
    y : array-like of shape (n_samples,), default=None
        Labels: classes get a colour and a marker each, numbers a scale of colours. Missing ones are drawn hollow.
    new : array-like of shape (n_new, 2), default=None
        Where rows lie that were not in the fit; they are drawn apart.
    names : sequence of str, default=None
        Of the rows, written beside them where there is room, the first ones first.
    labels : tuple of str, default=("component 1", "component 2")
        Of the axes.

    Attributes
    ----------
    scores, new : ndarray
        As given.
    groups : Groups
        The labels, as they were understood.
    names, labels : list of str
        As given.
    ax_, figure_, notes_ : Axes, Figure, list of str
        Where it was drawn, and what it says in words.

    Examples
    --------
    >>> from mercer import PCA, ScoresDisplay
    >>> from mercer.datasets import us_arrests
    >>> X, columns = us_arrests()
    >>> display = ScoresDisplay.from_estimator(PCA(standardize=True).fit(X), X, components=(0, 2))
    >>> display.ax_.get_xlabel(), display.ax_.get_ylabel()
    ('PC1 (62.0 %)', 'PC3 (8.9 %)')
    """

    def __init__(
        self, scores: Any, *, y: Any = None, new: Any = None, names: Any = None,
        labels: tuple[str, str] = ("component 1", "component 2"),
    ) -> None:  # fmt: skip
        self.scores = plane(scores)
        self.groups = Groups.of(y, len(self.scores))
        self.new = None if new is None else plane(new, "new")
        self.names, self.labels = names_of_rows(names, len(self.scores)), list(labels)

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any = None, y: Any = None, *, components: Any = (0, 1), new: Any = None, names: Any = None,
        **drawn: Any,
    ) -> Self:  # fmt: skip
        """Draw the scores of a fitted model.

        Parameters
        ----------
        model : estimator
            A fitted one of ours, of scikit-learn, or a pipeline that ends with one.
        X : array-like, default=None
            The rows; None: those of the fit, where the model has kept them.
        y : array-like of shape (n_samples,), default=None
            Labels.
        components : tuple of int, default=(0, 1)
            Which two, counted from 0.
        new : array-like, default=None
            Rows that were not in the fit, drawn apart.
        names : sequence of str, default=None
            Of the rows.
        **drawn : dict
            Options of `plot`.

        Returns
        -------
        display : ScoresDisplay
            The display, drawn.
        """
        scores, shares, prefix = scores_of(model, X), shares_of(model), prefix_of(model)
        two = check_components(components, scores.shape[1], 2)
        labels = axis_label(prefix, two[0], shares), axis_label(prefix, two[1], shares)
        other = None if new is None else scores_of(model, new)[:, two]
        return cls(scores[:, two], y=y, new=other, names=names, labels=labels).plot(**drawn)

    def plot(
        self, ax: Any = None, *, theme: str | None = None, size: Any = None, ellipse: Any = None, level: float = 0.95,
        marginals: bool = False, legend: bool = True, points: dict[str, Any] | None = None,
    ) -> Self:  # fmt: skip
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where; None makes a figure.
        theme : {"light", "dark"}, default=None
            The look; None: light, or that of `ax`.
        size : tuple of float, default=None
            Width and height in inches, of a figure that is made.
        ellipse : {"concentration", "confidence", "hull"} or None, default=None
            Around every group, or around all rows: where new rows of it are expected, where its centroid is, or all of
            its rows. Exact for groups that are normally distributed (a hull for all).
        level : float, default=0.95
            The probability of an ellipse.
        marginals : bool, default=False
            Whether to draw the densities of the groups along both axes.
        legend : bool, default=True
            Whether to draw the legend of the groups.
        points : dict, default=None
            Settings of the points for `matplotlib.axes.Axes.scatter`, such as ``{"s": 40}``.

        Returns
        -------
        display : ScoresDisplay
            Itself.
        """
        with self._one(ax, theme, size, (6.8, 4.8)) as (ax, look):
            bar = partial(self._colour_bar, ax, look)
            handles, words = draw_cloud(ax, look, self.scores, self.groups, bar if legend else None, **(points or {}))
            if self.new is not None:
                mark = ax.scatter(
                    *self.new.T, marker="*", s=90, color=look.ink, edgecolors=look.paper, lw=0.6, zorder=4
                )
                handles, words = [*handles, mark], [*words, "new"]
            notes = [*self.groups.notes, "" if len(self.scores) <= MANY else _dense(len(self.scores), self.groups)]
            if ellipse:
                without = draw_regions(ax, self.scores, self.groups, ellipse, level, look)
                notes += [meaning_of(ellipse, level), *without]
            limits_around(ax, self.scores)
            ax.set(xlabel=self.labels[0], ylabel=self.labels[1])
            if marginals:
                draw_densities(ax, look, self.scores, self.groups)
            if legend:
                self._legend(
                    ax, handles, words, away=1.16 if marginals else 1.2 if self.groups.values is not None else 1.02
                )
            notes.append(self._held_for(self.names or ()))
            self._say(ax, look, "", notes, top=0.14 * ax.bbox.height / ax.figure.dpi * 72 if marginals else 0.0)
            if self.names:
                self._write_names(ax, look, self.scores, self.names, taken=self.scores[:5000])
        return self


def _dense(n: int, groups: Groups) -> str:
    """What an image of points shows."""
    which = "; its colour is that of the largest group there" if groups.names else ""
    which = "; the numbers y are not shown" if groups.values is not None else which
    return f"{n:,} rows: the strength of a pixel is the logarithm of how many lie there{which}."
