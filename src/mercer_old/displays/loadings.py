"""Loadings: the columns that make each component, with their signs."""

from typing import Any, Self

import numpy as np

from mercer_old.arrays import Array
from mercer_old.displays.asking import check_components, chosen, columns_of, prefix_of, require, shares_of
from mercer_old.displays.base import Display
from mercer_old.displays.canvas import part
from mercer_old.displays.words import axis_label, safe
from mercer_old.errors import BadData, in_short
from mercer_old.functions.influence import influence
from mercer_old.models.linear import LinearModel

__all__ = ["LoadingsDisplay"]

_ACROSS = 4  # panels in a row


class LoadingsDisplay(Display):
    """For each component the columns with the largest loadings, as bars to the left or to the right.

    Of PCA, loadings are vⱼ√λⱼ; of kernel PCA, those of linear functions with the mean gradients (`mercer.influence`).

    Parameters
    ----------
    loadings : array-like of shape (n_features, n_components)
        Those of the components that are shown.
    names : sequence of str, default=None
        Of the columns; None: x0, x1, …
    labels : sequence of str, default=None
        Of the components.

    Attributes
    ----------
    loadings : ndarray of shape (n_features, n_components)
        As given.
    names, labels : list of str
        Of columns and components.
    shown_ : list of list of int
        The columns that are drawn for each component, the largest first.
    ax_, figure_, notes_ : ndarray of Axes, Figure, list of str
        Where it was drawn, and what it says in words.
    """

    shown_: list[list[int]]

    def __init__(self, loadings: Any, *, names: Any = None, labels: Any = None) -> None:
        self.loadings = np.asarray(loadings, dtype=np.float64)
        if self.loadings.ndim != 2 or 0 in self.loadings.shape:
            raise BadData(f"loadings are columns × components; got an array of shape {self.loadings.shape}.")
        d, k = self.loadings.shape
        self.names = columns_of(None, d, names)
        self.labels = [f"component {j + 1}" for j in range(k)] if labels is None else list(labels)

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any = None, *, components: Any = None, feature_names: Any = None, **drawn: Any
    ) -> Self:
        """Draw the loadings of a fitted model.

        Parameters
        ----------
        model : PCA, IncrementalPCA or KernelPCA
            A fitted one.
        X : array-like, default=None
            Rows, of kernel PCA: where gradients are taken. None: rows of the fit.
        components : sequence of int, default=None
            Which, counted from 0; None: the first four, or fewer. There may be as many as were fitted.
        feature_names : sequence of str, default=None
            Names of the columns; None: those that the model knows, or x0, x1, …
        **drawn : dict
            Options of `plot`.

        Returns
        -------
        display : LoadingsDisplay
            The display, drawn.
        """
        require(model, cls.__name__, "PCA", "KernelPCA")
        if isinstance(model, LinearModel):
            loadings, names = model.loadings_, None
        else:
            found = influence(model, X, feature_names)
            loadings, names = found.loadings, found.names
        k = loadings.shape[1]
        numbers = check_components(range(min(4, k)) if components is None else components, k)
        names = columns_of(model, len(loadings), feature_names) if names is None else names
        labels = [axis_label(prefix_of(model), j, shares_of(model)) for j in numbers]
        return cls(loadings[:, numbers], names=names, labels=labels).plot(**drawn)

    def plot(
        self, ax: Any = None, *, theme: str | None = None, size: Any = None, n: int | None = 10, cutoff: float = 0.0,
        features: Any = None,
    ) -> Self:  # fmt: skip
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes or array of them, default=None
            Where: one that is cut into panels, or all panels; None makes a figure.
        theme : {"light", "dark"}, default=None
            The look; None: light, or that of `ax`.
        size : tuple of float, default=None
            Width and height in inches, of a figure that is made.
        n : int or None, default=10
            Columns for each component, those with the largest |loading|; None: all.
        cutoff : float, default=0.0
            Columns whose |loading| is smaller are left out.
        features : sequence of str, default=None
            Columns by name, instead of the largest.

        Returns
        -------
        display : LoadingsDisplay
            Itself.
        """
        if isinstance(cutoff, bool) or not isinstance(cutoff, int | float) or not 0 <= cutoff < np.inf:
            raise ValueError(f"cutoff is a number from 0 on; got {in_short(cutoff)}.")
        k = self.loadings.shape[1]
        self.shown_ = [self._shown(j, features, n, cutoff) for j in range(k)]
        rows, across = -(-k // _ACROSS), min(k, _ACROSS)
        height = 0.9 + 0.2 * max(4, *(len(shown) for shown in self.shown_))
        usual = (min(1.0 + 2.9 * across, 40), min(rows * height, 40))
        with self._many(ax, theme, size, usual, (rows, across)) as (panels, look):
            reach = 1.08 * max(
                [float(np.abs(self.loadings[shown, j]).max(initial=0)) for j, shown in enumerate(self.shown_)]
            )
            for j, one in enumerate(panels.flat):
                if j >= k:
                    one.set_axis_off()
                    continue
                self._draw_bars(one, look, j, reach or 1.0, cutoff)
            panels.flat[0].set_xlabel("loading", fontsize=8)
            self._say_above_all(look, self._notes(n, cutoff, features))
        return self

    def _shown(self, j: int, features: Any, n: int | None, cutoff: float) -> list[int]:
        size = np.abs(self.loadings[:, j])
        return [i for i in chosen(features, self.names, size, n) if size[i] >= cutoff]

    def _draw_bars(self, ax: Any, look: Any, j: int, reach: float, cutoff: float) -> None:
        from mercer_old.look import BLUE, RED

        shown = self.shown_[j]
        values: Array = self.loadings[shown, j]
        ax.barh(np.arange(len(shown)), values, 0.72, color=[BLUE if value >= 0 else RED for value in values])
        ax.set_yticks(np.arange(len(shown)), [safe(self.names[i], 20) for i in shown], fontsize=8)
        ax.axvline(0, color=look.ink, lw=0.8)
        for edge in (-cutoff, cutoff) if cutoff else ():
            ax.axvline(edge, color=look.ink, lw=0.8, ls=":")
        ax.set(xlim=(-reach, reach), ylim=(max(len(shown), 1) - 0.4, -0.6))
        ax.set_title(self.labels[j], loc="right", fontsize=9, color=look.ink)
        ax.tick_params(axis="x", labelsize=7)
        ax.xaxis.set_major_locator(part("ticker").MaxNLocator(nbins=4, symmetric=True))

    def _notes(self, n: int | None, cutoff: float, features: Any) -> list[str]:
        d = len(self.loadings)
        beyond = f" of at least {cutoff:g}" if cutoff else ""
        if features is None and any(self.shown_) and n is not None and n < d:
            return [f"The {n} largest{beyond} of {d:,} loadings each; blue is positive, red negative."]
        if not any(self.shown_):
            return [f"No loading is{beyond or ' drawn'}."]
        return [f"Loadings{beyond}; blue is positive, red negative."]
