"""The circle of correlations: how columns, and others that had no say in the fit, go with two components."""

from typing import Any, Self

import numpy as np

from mercer_old.arrays import Array
from mercer_old.displays.asking import check_components, chosen, columns_of, prefix_of, require, shares_of
from mercer_old.displays.base import Display
from mercer_old.displays.canvas import Look
from mercer_old.displays.words import axis_label, safe
from mercer_old.errors import BadData, counted, listed
from mercer_old.functions.contributions import contributions

__all__ = ["CircleDisplay", "draw_arrows"]


def draw_arrows(ax: Any, tips: Array, colours: Any, starts: Array | None = None, **style: Any) -> None:
    """Arrows, each from its start or from the origin to its tip; never cut, and the axes reach as far."""
    if not len(tips):
        return
    starts = np.zeros_like(tips) if starts is None else starts
    colours = [colours] * len(tips) if isinstance(colours, str | tuple) else colours
    how = {"arrowstyle": "-|>", "mutation_scale": 9, "lw": 1.4, "shrinkA": 0, "shrinkB": 0} | style
    for tip, start, colour in zip(tips, starts, colours, strict=True):
        ax.annotate("", tuple(tip), tuple(start), arrowprops=how | {"color": colour}, annotation_clip=False, zorder=3)
    ax.update_datalim(np.vstack([tips, starts]))
    ax.autoscale_view()


class CircleDisplay(Display):
    """Correlations of columns with the scores of two components, in a circle of radius one that is always round.

    A column whose arrow reaches the circle is shown wholly by the two components: the squared length of an arrow is the
    share of the column's variance that they explain, if scores are uncorrelated.

    Parameters
    ----------
    correlations : array-like of shape (n_features, 2)
        Of every column with the two scores.
    names : sequence of str, default=None
        Of the columns.
    supplementary : array-like of shape (n_others, 2), default=None
        The same for other columns, which had no say in the fit: dashed, in another colour.
    others : sequence of str, default=None
        Their names.
    labels : tuple of str, default=("component 1", "component 2")
        Of the axes.

    Attributes
    ----------
    correlations, supplementary : ndarray
        As given.
    names, others, labels : list of str
        As given.
    shown_ : list of int
        The columns that are drawn, the longest arrow first.
    ax_, figure_, notes_ : Axes, Figure, list of str
        Where it was drawn, and what it says in words.
    """

    shown_: list[int]

    def __init__(
        self, correlations: Any, *, names: Any = None, supplementary: Any = None, others: Any = None,
        labels: tuple[str, str] = ("component 1", "component 2"),
    ) -> None:  # fmt: skip
        self.correlations = _pairs(correlations, "correlations")
        self.supplementary = np.empty((0, 2)) if supplementary is None else _pairs(supplementary, "supplementary")
        self.names = columns_of(None, len(self.correlations), names)
        self.others = columns_of(None, len(self.supplementary), others)
        self.labels = list(labels)

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any = None, *, components: Any = (0, 1), supplementary: Any = None,
        feature_names: Any = None, **drawn: Any,
    ) -> Self:  # fmt: skip
        """Draw the circle of correlations of a fitted model.

        Parameters
        ----------
        model : PCA, IncrementalPCA or KernelPCA
            A fitted one.
        X : array-like, default=None
            The rows; of kernel PCA None is those of the fit.
        components : tuple of int, default=(0, 1)
            Which two, counted from 0.
        supplementary : array-like of shape (n_samples, n_others), default=None
            Other columns of numbers for the same rows, which had no say in the fit.
        feature_names : sequence of str, default=None
            Names of the columns; None: those that the model knows, or x0, x1, …
        **drawn : dict
            Options of `plot`.

        Returns
        -------
        display : CircleDisplay
            The display, drawn.
        """
        require(model, cls.__name__, "PCA", "KernelPCA")
        found = contributions(model, X, supplementary=supplementary, feature_names=feature_names)
        if found.correlations is None:
            raise BadData("These items have no columns of numbers, so that none is correlated with a component.")
        two = check_components(components, found.correlations.shape[1], 2)
        beside = None if found.supplementary is None else found.supplementary[:, two]
        labels = (
            axis_label(prefix_of(model), two[0], shares_of(model)),
            axis_label(prefix_of(model), two[1], shares_of(model)),
        )
        values: dict[str, Any] = {
            "names": found.names,
            "supplementary": beside,
            "others": found.others or None,
            "labels": labels,
        }
        return cls(found.correlations[:, two], **values).plot(**drawn)

    def plot(
        self, ax: Any = None, *, theme: str | None = None, size: Any = None, n: int | None = 30, features: Any = None
    ) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where; None makes a figure.
        theme : {"light", "dark"}, default=None
            The look; None: light, or that of `ax`.
        size : tuple of float, default=None
            Width and height in inches, of a figure that is made.
        n : int or None, default=30
            So many columns, those with the longest arrows; None: all. Supplementary ones are always drawn.
        features : sequence of str, default=None
            Columns by name, instead of the longest.

        Returns
        -------
        display : CircleDisplay
            Itself.
        """
        lengths = np.linalg.norm(np.nan_to_num(self.correlations), axis=1)
        varying: Array = np.asarray(np.isfinite(self.correlations).all(axis=1))
        self.shown_ = [i for i in chosen(features, self.names, lengths, n) if varying[i]]
        with self._one(ax, theme, size, (5.8, 5.8)) as (ax, look):
            self._draw_circle(ax, look)
            tips, names = self._draw_columns(ax)
            notes = [*self._about_columns(features), self._held_for(names)]
            if len(self.supplementary):
                notes.append("Dashed: supplementary columns, which had no say in the fit.")
            self._say(ax, look, "", notes)
            if names:
                self._write_names(ax, look, tips, names, outwards=True)
        return self

    def _about_columns(self, features: Any) -> list[str]:
        """How many of the columns are drawn, and which cannot be."""
        d, shown = len(self.correlations), len(self.shown_)
        kept = "" if shown == d or not shown else f"{shown} of {counted(d, 'column')}, the longest arrows."
        if features is not None and kept:
            kept = f"{shown} of {counted(d, 'column')}."
        both = zip([*self.names, *self.others], np.vstack([self.correlations, self.supplementary]), strict=True)
        still = [safe(name) for name, row in both if not np.isfinite(row).all()]
        return [kept, f"Without an arrow, as nothing varies: {listed(still)}." if still else ""]

    def _draw_circle(self, ax: Any, look: Look) -> None:
        angle = np.linspace(0, 2 * np.pi, 241)
        ax.plot(np.cos(angle), np.sin(angle), color=look.ink, lw=1.0, alpha=0.7)
        for line in (ax.axhline, ax.axvline):
            line(0, color=look.faint, lw=0.8, zorder=0)
        ax.set(xlim=(-1.15, 1.15), ylim=(-1.15, 1.15), aspect="equal", adjustable="box")
        ax.set(xlabel=self.labels[0], ylabel=self.labels[1], xticks=[-1, -0.5, 0, 0.5, 1], yticks=[-1, -0.5, 0, 0.5, 1])

    def _draw_columns(self, ax: Any) -> tuple[Array, list[str]]:
        """Tips of all arrows, and their names."""
        from mercer_old.look import BLUE, ORANGE

        there = np.flatnonzero(np.isfinite(self.supplementary).all(axis=1))
        tips, beside = self.correlations[self.shown_], self.supplementary[there]
        draw_arrows(ax, tips, BLUE)
        draw_arrows(ax, beside, ORANGE, ls="--")
        ax.set(xlim=(-1.15, 1.15), ylim=(-1.15, 1.15))
        return np.vstack([tips, beside]), [*(self.names[i] for i in self.shown_), *(self.others[i] for i in there)]


def _pairs(values: Any, what: str) -> Array:
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != 2 or np.nanmax(np.abs(values), initial=0.0) > 1 + 1e-6:
        raise BadData(f"{what} have to be two columns of numbers between −1 and 1; got {values.shape}.")
    return values
