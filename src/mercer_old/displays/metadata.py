"""Components and metadata: which columns that had no say in the fit go with which component."""

from typing import Any, Self

import numpy as np

from mercer_old.displays.asking import check_components, prefix_of, scores_of, shares_of
from mercer_old.displays.base import Display
from mercer_old.displays.words import axis_label, safe
from mercer_old.errors import listed
from mercer_old.readings.metadata import Associations, associations

__all__ = ["MetadataDisplay"]

_HOW = {"fdr": "by Benjamini and Hochberg", "holm": "by Holm", "none": "not at all"}
_STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))


class MetadataDisplay(Display):
    """A table of colours: r (numbers) or η² (classes) of every component with every column of metadata, with stars.

    Parameters
    ----------
    found : Associations
        What `mercer.readings.metadata.associations` says of scores and columns.
    labels : sequence of str, default=None
        Of the components.

    Attributes
    ----------
    values, p_values, adjusted_p : ndarray of shape (n_components, n_columns)
        r or η², and p-values as they are and adjusted for all pairs.
    stars : ndarray of str of shape (n_components, n_columns)
        Of adjusted p-values: `*` below 0.05, `**` below 0.01, `***` below 0.001.
    names, labels : list of str
        Of columns and components.
    ax_, figure_, notes_ : Axes, Figure, list of str
        Where it was drawn, and what it says in words.
    """

    def __init__(self, found: Associations, *, labels: Any = None) -> None:
        self.found = found
        self.values, self.p_values, self.adjusted_p = found.values, found.p_values, found.adjusted_p
        self.names, k = found.names, len(found.values)
        self.labels = [f"component {j + 1}" for j in range(k)] if labels is None else list(labels)
        self.stars = np.array([[_stars(p) for p in row] for row in self.adjusted_p.tolist()], dtype=object)

    @classmethod
    def from_predictions(cls, *values: Any, **options: Any) -> Self:
        """Draw what scores have to do with columns.

        Parameters
        ----------
        *values : array-like
            Scores of shape (n_samples, n_components), and metadata: a frame, a dict of columns or an array.
        **options : dict
            ``adjust``, ``labels``, and options of `plot`.

        Returns
        -------
        display : MetadataDisplay
            The display, drawn.
        """
        scores, metadata = values
        found = associations(np.asarray(scores, dtype=np.float64), metadata, options.pop("adjust", "fdr"))
        return super().from_predictions(found, **options)

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any = None,
        metadata: Any = None,
        *,
        components: Any = None,
        adjust: str = "fdr",
        **drawn: Any,
    ) -> Self:
        """Draw what the components of a fitted model have to do with columns.

        Parameters
        ----------
        model : estimator
            A fitted one, as of `ScoresDisplay.from_estimator`.
        X : array-like, default=None
            The rows; None: those of the fit, where the model has kept them.
        metadata : frame, dict of columns or array-like
            Columns for the same rows, of numbers or classes; gaps are left out, column by column.
        components : sequence of int, default=None
            Which, counted from 0; None: the first ten, or fewer.
        adjust : {"fdr", "holm", "none"}, default="fdr"
            How p-values are adjusted for the number of pairs that are looked at.
        **drawn : dict
            Options of `plot`.

        Returns
        -------
        display : MetadataDisplay
            The display, drawn.
        """
        if metadata is None:
            raise ValueError("metadata is missing: give columns for the rows, as a frame, a dict or an array.")
        scores = scores_of(model, X)
        k = scores.shape[1]
        numbers = check_components(range(min(10, k)) if components is None else components, k)
        found = associations(scores[:, numbers], metadata, adjust)
        return cls(found, labels=[axis_label(prefix_of(model), j, shares_of(model)) for j in numbers]).plot(**drawn)

    def plot(self, ax: Any = None, *, theme: str | None = None, size: Any = None) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where; None makes a figure.
        theme : {"light", "dark"}, default=None
            The look; None: light, or that of `ax`.
        size : tuple of float, default=None
            Width and height in inches, of a figure that is made.

        Returns
        -------
        display : MetadataDisplay
            Itself.
        """
        k, m = self.values.shape
        with self._one(ax, theme, size, (min(2.6 + 0.95 * max(m, 3), 40), min(1.9 + 0.36 * k, 40))) as (ax, look):
            shown = ax.imshow(np.ma.masked_invalid(self.values), cmap=look.diverging, vmin=-1, vmax=1, aspect="auto")
            ax.set_xticks(
                range(m),
                [self._heading(j) for j in range(m)],
                fontsize=8,
                rotation=35 if m > 4 else 0,
                ha="right" if m > 4 else "center",
            )
            ax.set_yticks(range(k), self.labels, fontsize=8)
            ax.spines[:].set_visible(False)
            ax.tick_params(length=0)
            self._write_numbers(ax, shown)
            self._colour_bar(ax, look, shown)
            self._say(ax, look, "", self._notes())
        return self

    def _heading(self, j: int) -> str:
        return f"{safe(self.names[j], 20)} ({'η²' if self.found.of_classes[j] else 'r'})"

    def _write_numbers(self, ax: Any, shown: Any) -> None:
        """In black or white, whichever is read on the colour below."""
        for (i, j), value in np.ndenumerate(self.values):
            if not np.isfinite(value):
                continue
            red, green, blue, _ = shown.cmap(shown.norm(value))
            light = 0.299 * red + 0.587 * green + 0.114 * blue > 0.5
            text = f"{round(value, 2) + 0.0:.2f}{self.stars[i, j]}"
            ax.text(j, i, text, ha="center", va="center", fontsize=8, color="black" if light else "white")

    def _notes(self) -> list[str]:
        pairs = int(np.isfinite(self.p_values).sum())
        how = f"p of {pairs:,} pairs adjusted {_HOW[self.found.adjust]}: * below 0.05, ** 0.01, *** 0.001."
        silent = [safe(name) for j, name in enumerate(self.names) if not np.isfinite(self.values[:, j]).any()]
        why = "no two values, or of classes no two rows in one"
        return [how, f"Nothing is known of {listed(silent)}: {why}." if silent else ""]


def _stars(p: float) -> str:
    return next((stars for level, stars in _STARS if p < level), "")
