"""Pre-images: what rows look like all over the plane of two components."""

import copy
from typing import Any, Self

import numpy as np

from mercer_old.arrays import to_numpy
from mercer_old.displays.asking import check_components, prefix_of, require, scores_of, shares_of
from mercer_old.displays.base import Display
from mercer_old.displays.canvas import Look, part
from mercer_old.displays.palette import NUMBERS
from mercer_old.displays.pictures import check_shape, mosaic
from mercer_old.displays.words import axis_label
from mercer_old.errors import BadData, in_short
from mercer_old.models.kernel_model import KernelModel

__all__ = ["PreimageDisplay", "with_way_back"]

_WITHIN = (0.01, 0.99)  # quantiles of the scores between which the plane is


class PreimageDisplay(Display):
    """A plane of rows: for a grid of scores the row that has them, as a picture if rows are, else as a profile.

    Parameters
    ----------
    rows : array-like of shape (n_y * n_x, n_features)
        For every point of the grid, the lowest line first.
    x, y : array-like of shape (n_x,) and (n_y,)
        The scores of the grid.
    image_shape : tuple of int, default=None
        Height and width of pictures; None: a square from 8 × 8 on, else profiles.
    scores : array-like of shape (n_samples, 2), default=None
        Where the rows of the data lie, drawn faintly above.
    labels : tuple of str, default=("component 1", "component 2")
        Of the axes.

    Attributes
    ----------
    rows, x, y, scores : ndarray
        As given.
    image_shape : tuple of int or None
        As it was understood.
    ax_, figure_, notes_ : Axes, Figure, list of str
        Where it was drawn, and what it says in words.
    """

    def __init__(
        self, rows: Any, x: Any, y: Any, *, image_shape: Any = None, scores: Any = None,
        labels: tuple[str, str] = ("component 1", "component 2"),
    ) -> None:  # fmt: skip
        self.rows, self.x, self.y = (np.asarray(part, dtype=np.float64) for part in (rows, x, y))
        if self.rows.ndim != 2 or len(self.rows) != len(self.x) * len(self.y):
            raise BadData(f"rows are {len(self.y)} × {len(self.x)} of them; got an array of shape {self.rows.shape}.")
        self.image_shape = check_shape(image_shape, self.rows.shape[1])
        self.scores, self.labels = None if scores is None else np.asarray(scores, dtype=np.float64), list(labels)

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any = None,
        *,
        components: Any = (0, 1),
        image_shape: Any = None,
        side: int = 10,
        **drawn: Any,
    ) -> Self:
        """Draw the pre-images of a fitted model.

        Parameters
        ----------
        model : PCA, IncrementalPCA or KernelPCA
            A fitted one, of rows of numbers. Kernel PCA without a way back takes ``preimage="auto"``.
        X : array-like, default=None
            The rows, whose scores say where the plane is; of kernel PCA None is those of the fit.
        components : tuple of int, default=(0, 1)
            Which two, counted from 0; the scores of all others are 0.
        image_shape : tuple of int, default=None
            Height and width of pictures; None: a square from 8 × 8 on, else profiles.
        side : int, default=10
            Rows of the grid along either side.
        **drawn : dict
            Options of `plot`.

        Returns
        -------
        display : PreimageDisplay
            The display, drawn.
        """
        require(model, cls.__name__, "PCA", "KernelPCA")
        if isinstance(side, bool) or not isinstance(side, int) or not 2 <= side <= 60:
            raise ValueError(f"side is a whole number from 2 to 60; got {in_short(side)}.")
        scores = scores_of(model, X)
        two = check_components(components, scores.shape[1], 2)
        low, high = np.quantile(scores[:, two], _WITHIN, axis=0)
        x, y = np.linspace(low, high, side).T
        grid = np.zeros((side * side, scores.shape[1]))
        grid[:, two[0]], grid[:, two[1]] = np.tile(x, side), np.repeat(y, side)
        rows = to_numpy(with_way_back(model).inverse_transform(model._home().bring(grid)))
        if rows.ndim != 2 or rows.dtype.kind not in "fiub":
            raise BadData("Pre-images are drawn as rows of numbers, and this model leads back to other things.")
        labels = (
            axis_label(prefix_of(model), two[0], shares_of(model)),
            axis_label(prefix_of(model), two[1], shares_of(model)),
        )
        return cls(rows, x, y, image_shape=image_shape, scores=scores[:, two], labels=labels).plot(**drawn)

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
        display : PreimageDisplay
            Itself.
        """
        with self._one(ax, theme, size, (6.4, 6.4)) as (ax, look):
            steps = [(side[-1] - side[0]) / max(len(side) - 1, 1) or 1.0 for side in (self.x, self.y)]
            box = (
                self.x[0] - steps[0] / 2,
                self.x[-1] + steps[0] / 2,
                self.y[0] - steps[1] / 2,
                self.y[-1] + steps[1] / 2,
            )
            if self.image_shape is not None:
                self._draw_pictures(ax, box, self.image_shape)
            else:
                self._draw_profiles(ax, look, steps)
            if self.scores is not None:
                ax.scatter(
                    *self.scores[:: max(1, len(self.scores) // 2000)].T, s=3, color=look.ink, alpha=0.25, linewidths=0
                )
            ax.set(xlim=box[:2], ylim=box[2:], xlabel=self.labels[0], ylabel=self.labels[1])
            what = (
                "Pictures" if self.image_shape else "Profiles of all columns, each from its least to its largest value,"
            )
            self._say(ax, look, "", [f"{what} of the rows that have these scores, and 0 in all other components."])
        return self

    def _draw_pictures(self, ax: Any, box: tuple[float, ...], shape: tuple[int, int]) -> None:
        from_above = self.rows.reshape(len(self.y), len(self.x), -1)[::-1].reshape(len(self.rows), -1)
        low, high = np.quantile(self.rows, [0.001, 0.999])
        picture = np.ma.masked_invalid(mosaic(from_above, len(self.x), shape))
        ax.imshow(picture, cmap=NUMBERS, extent=box, vmin=low, vmax=high, aspect="auto", interpolation="nearest")

    def _draw_profiles(self, ax: Any, look: Look, steps: list[float]) -> None:
        """Every row as a small line: columns from left to right, values in units of their range on the plane."""
        from mercer_old.look import BLUE

        low, reach = self.rows.min(axis=0), np.ptp(self.rows, axis=0)
        parts = np.divide(self.rows - low, reach, out=np.full_like(self.rows, 0.5), where=reach > 0) - 0.5
        along = np.linspace(-0.42, 0.42, self.rows.shape[1]) if self.rows.shape[1] > 1 else np.zeros(1)
        middle = np.stack([np.tile(self.x, len(self.y)), np.repeat(self.y, len(self.x))], axis=1)
        lines = np.stack([middle[:, :1] + steps[0] * along, middle[:, 1:] + 0.8 * steps[1] * parts], axis=2)
        ax.add_collection(part("collections").LineCollection(lines, colors=[BLUE], linewidths=1.2))
        ax.scatter(*lines.reshape(-1, 2).T, s=4, color=BLUE, linewidths=0) if lines.shape[1] < 12 else None
        for side, draw in ((middle[:, 0] - steps[0] / 2, ax.axvline), (middle[:, 1] - steps[1] / 2, ax.axhline)):
            for edge in np.unique(side):
                draw(edge, color=look.faint, lw=0.5, zorder=0)


def with_way_back(model: Any) -> Any:
    """The model; kernel PCA that has no way back, with one that needs no other fit."""
    if isinstance(model, KernelModel) and model.preimage is None and not hasattr(model, "dual_coef_"):
        return copy.copy(model).set_params(preimage="auto")
    return model
