"""Eigenimages: the axes of PCA as pictures, where rows are pictures."""

from typing import Any, Self

import numpy as np

from mercer_old.displays.asking import check_components, prefix_of, require, shares_of
from mercer_old.displays.base import Display
from mercer_old.displays.pictures import check_shape
from mercer_old.displays.words import axis_label
from mercer_old.errors import BadData

__all__ = ["EigenimagesDisplay"]


class EigenimagesDisplay(Display):
    """Axes of PCA as pictures: a score adds so much of each to the mean.

    Parameters
    ----------
    axes : array-like of shape (n_components, n_pixels)
        Those that are shown.
    image_shape : tuple of int, default=None
        Height and width; None: a square.
    labels : sequence of str, default=None
        Of the components.
    mean : array-like of shape (n_pixels,), default=None
        The mean picture, drawn first.

    Attributes
    ----------
    axes, mean : ndarray
        As given.
    image_shape : tuple of int
        Height and width.
    labels : list of str
        Of the components.
    ax_, figure_, notes_ : ndarray of Axes, Figure, list of str
        Where it was drawn, and what it says in words.
    """

    def __init__(self, axes: Any, *, image_shape: Any = None, labels: Any = None, mean: Any = None) -> None:
        self.axes = np.asarray(axes, dtype=np.float64)
        if self.axes.ndim != 2 or 0 in self.axes.shape:
            raise BadData(f"axes are components × pixels; got an array of shape {self.axes.shape}.")
        k, d = self.axes.shape
        shape = check_shape(image_shape, d)
        if shape is None:
            raise ValueError(f"Rows of {d:,} columns are no square picture: give image_shape=(height, width).")
        self.image_shape, self.mean = shape, None if mean is None else np.asarray(mean, dtype=np.float64)
        self.labels = [f"component {j + 1}" for j in range(k)] if labels is None else list(labels)

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any = None, *, components: Any = None, image_shape: Any = None, **drawn: Any
    ) -> Self:
        """Draw the axes of a fitted PCA.

        Parameters
        ----------
        model : PCA or IncrementalPCA
            A fitted one, of rows that are pictures. Kernel PCA has no axes: see `PreimageDisplay`.
        X : Ignored
            Present for compatibility.
        components : sequence of int, default=None
            Which, counted from 0; None: the first eleven, or fewer.
        image_shape : tuple of int, default=None
            Height and width of the pictures; None: a square.
        **drawn : dict
            Options of `plot`.

        Returns
        -------
        display : EigenimagesDisplay
            The display, drawn.
        """
        require(model, cls.__name__, "PCA")
        axes = model._number("components_")
        numbers = check_components(range(min(11, len(axes))) if components is None else components, len(axes))
        labels = [axis_label(prefix_of(model), j, shares_of(model)) for j in numbers]
        return cls(axes[numbers], image_shape=image_shape, labels=labels, mean=model._mean()).plot(**drawn)

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
        display : EigenimagesDisplay
            Itself.
        """
        pictures = [*([] if self.mean is None else [("mean", self.mean)]), *zip(self.labels, self.axes, strict=True)]
        across = min(len(pictures), 6)
        rows = -(-len(pictures) // across)
        with self._many(ax, theme, size, (min(1.6 * across, 40), min(0.5 + 1.75 * rows, 40)), (rows, across)) as (
            panels,
            look,
        ):
            for number, one in enumerate(panels.flat):
                one.set_axis_off()
                if number >= len(pictures):
                    continue
                label, picture = pictures[number]
                top = float(np.abs(picture).max()) or 1.0
                how = {"cmap": "cividis"} if label == "mean" else {"cmap": look.diverging, "vmin": -top, "vmax": top}
                one.imshow(picture.reshape(self.image_shape), interpolation="nearest", **how)
                one.text(0.5, -0.04, label, transform=one.transAxes, ha="center", va="top", fontsize=8, color=look.ink)
        return self
