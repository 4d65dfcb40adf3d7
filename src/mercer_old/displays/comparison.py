"""A comparison: the pictures of all methods side by side."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Self

import numpy as np
from scipy.stats import rankdata

from mercer_old.displays.base import Display
from mercer_old.displays.clouds import draw_cloud, limits_around
from mercer_old.displays.palette import Groups
from mercer_old.displays.words import safe
from mercer_old.errors import BadData

__all__ = ["ComparisonDisplay"]

_COLUMNS = 4  # of panels
_SIDE = 2.45  # inches of a panel


def _size(n: int) -> float:
    """Of a point, in a panel that is small."""
    return 14.0 if n < 200 else 9.0 if n < 1000 else 5.0 if n < 3000 else 2.0


class ComparisonDisplay(Display):
    """Pictures of the same rows, one a method, with a line of numbers below each title.

    Axes have no numbers: most methods leave turns, sizes and signs open.

    Parameters
    ----------
    pictures : dict of array-like of shape (n_samples, n_components)
        Coordinates by title; the first two are drawn, and of a single one its order.
    y : array-like of shape (n_samples,), default=None
        Labels of the rows, as of `ScoresDisplay`.
    numbers : dict of str, default=None
        By title, what to say below it.

    Attributes
    ----------
    pictures : dict of ndarray
        As given.
    groups : Groups
        The labels, as they were understood.
    ax_, figure_, notes_ : Axes, Figure, list of str
        Where it was drawn, and what it says in words.
    """

    def __init__(self, pictures: Mapping[str, Any], *, y: Any = None, numbers: Mapping[str, str] | None = None) -> None:
        self.pictures = {title: np.asarray(points, dtype=np.float64) for title, points in pictures.items()}
        if not self.pictures:
            raise BadData("No method has a picture to show: see the reasons in the table.")
        self.groups = Groups.of(y, len(next(iter(self.pictures.values()))))
        self.numbers = dict(numbers or {})

    @classmethod
    def from_comparison(cls, found: Any, y: Any = None) -> Self:
        """What `mercer.compare` found, with trustworthiness, and label hits where there are labels.

        Parameters
        ----------
        found : Comparison
            It.
        y : array-like of shape (n_samples,), default=None
            Labels; None: those of the comparison.

        Returns
        -------
        display : ComparisonDisplay
            To be drawn by `plot`.
        """
        words = {"trustworthiness": "trust", "label_hit": "labels", "distances": "distances"}
        numbers = {
            line.title: ", ".join(
                f"{word} {line.measures[name].value:.2f}" for name, word in words.items() if name in line.measures
            )
            for line in found.lines
        }
        return cls(found.coordinates, y=found.labels if y is None else y, numbers=numbers)

    def plot(self, ax: Any = None, *, theme: str | None = None, size: Any = None) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes or array of them, default=None
            Where: one that is cut into panels, or all panels; None makes a figure.
        theme : {"light", "dark"}, default=None
            The look; None: light, or that of `ax`.
        size : tuple of float, default=None
            Width and height in inches, of a figure that is made.

        Returns
        -------
        display : ComparisonDisplay
            Itself.
        """
        lines = -(-len(self.pictures) // _COLUMNS)
        columns = -(-len(self.pictures) // lines)
        usual = 1.1 + _SIDE * columns, 0.2 + (_SIDE + 0.4) * lines
        with self._many(ax, theme, size, usual, (lines, columns)) as (panels, look):
            handles: list[Any] = []
            names: list[str] = []
            bar: Any = partial(self._colour_bar, None, look)  # one for all panels
            for one, (title, points) in zip(panels.flat, self.pictures.items(), strict=False):
                plane = points[:, :2] if points.shape[1] > 1 else np.column_stack([points, rankdata(points[:, 0])])
                handles, names = draw_cloud(one, look, plane, self.groups, bar, s=_size(len(plane)))
                bar = None
                limits_around(one, plane)
                one.set(xticks=[], yticks=[], box_aspect=1)
                one.set_title(f"{safe(title)}\n{self.numbers.get(title, '')}", fontsize=8.5, loc="left", color=look.ink)
            for empty in list(panels.flat)[len(self.pictures) :]:
                empty.set_axis_off()
            if handles:
                self._legend(None, handles, names)
            self._say_above_all(look, self.groups.notes)
        return self
