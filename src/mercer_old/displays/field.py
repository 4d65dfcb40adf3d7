"""Fields: components as functions over a plane of two columns."""

from typing import Any, Self

import numpy as np

from mercer_old.arrays import Array, dense, here
from mercer_old.displays.asking import check_components, check_count, columns_of, prefix_of, require, shares_of
from mercer_old.displays.base import Display
from mercer_old.displays.words import axis_label, safe
from mercer_old.errors import BadData, WrongUse, counted, in_short
from mercer_old.fits.kernel.opening import is_precomputed
from mercer_old.functions.asking import complete_items, plain_scores
from mercer_old.models.linear import LinearModel

__all__ = ["FieldDisplay", "component_fields"]

_ACROSS = 4
_AT_ONCE = 2_000_000  # numbers of rows of the plane


class FieldDisplay(Display):
    """Component functions over a plane: where each is positive, where it is negative, and the line where it is zero.

    Parameters
    ----------
    x, y : array-like of shape (n_x,) and (n_y,)
        Where the functions are known.
    values : array-like of shape (n_components, n_y, n_x)
        Of each component there.
    points : array-like of shape (n_samples, 2), default=None
        Rows, drawn above.
    names : tuple of str, default=("x0", "x1")
        Of the two columns.
    labels : sequence of str, default=None
        Of the components.
    about : str, default=""
        What the plane is.

    Attributes
    ----------
    x, y, values, points : ndarray
        As given.
    names, labels : list of str
        As given.
    ax_, figure_, notes_ : ndarray of Axes, Figure, list of str
        Where it was drawn, and what it says in words.
    """

    def __init__(
        self, x: Any, y: Any, values: Any, *, points: Any = None, names: Any = ("x0", "x1"), labels: Any = None,
        about: str = "",
    ) -> None:  # fmt: skip
        self.x, self.y, self.values = (np.asarray(part, dtype=np.float64) for part in (x, y, values))
        if self.values.shape[1:] != (len(self.y), len(self.x)) or 0 in self.values.shape:
            raise BadData(f"values are components × {len(self.y)} × {len(self.x)}; got {self.values.shape}.")
        self.points = np.empty((0, 2)) if points is None else np.asarray(points, dtype=np.float64)
        self.names, self.about = list(names), about
        self.labels = [f"component {j + 1}" for j in range(len(self.values))] if labels is None else list(labels)

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any = None, *, components: Any = None, features: Any = None, resolution: int = 80,
        feature_names: Any = None, **drawn: Any,
    ) -> Self:  # fmt: skip
        """Draw the component functions of a fitted model.

        Parameters
        ----------
        model : PCA, IncrementalPCA or KernelPCA
            A fitted one, of rows of numbers.
        X : array-like
            The rows, which say where the plane is; of kernel PCA None is those of the fit.
        components : sequence of int, default=None
            Which, counted from 0; None: the first four, or fewer.
        features : tuple of str or int, default=None
            The two columns of the plane; None: the first two. All others stay at their medians.
        resolution : int, default=80
            Points along either side.
        feature_names : sequence of str, default=None
            Names of the columns; None: those that the model knows, or x0, x1, …
        **drawn : dict
            Options of `plot`.

        Returns
        -------
        display : FieldDisplay
            The display, drawn.
        """
        require(model, cls.__name__, "PCA", "KernelPCA")
        check_count(resolution, "resolution", 2)
        rows = _rows(model, X)
        names = columns_of(model, rows.shape[1], feature_names)
        two = _two(features, names)
        numbers = check_components(
            range(min(4, model._n_features_out)) if components is None else components, model._n_features_out
        )
        x, y, field = component_fields(model, rows, two, numbers, resolution)
        others = rows.shape[1] - 2
        about = f"{counted(others, 'other column')} at the median." if others else ""
        labels = [axis_label(prefix_of(model), j, shares_of(model)) for j in numbers]
        return cls(x, y, field, points=rows[:, two], names=[names[j] for j in two], labels=labels, about=about).plot(
            **drawn
        )

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
        display : FieldDisplay
            Itself.
        """
        k = len(self.values)
        rows, across = -(-k // _ACROSS), min(k, _ACROSS)
        with self._many(ax, theme, size, (0.8 + 3.0 * across, 0.6 + 2.8 * rows), (rows, across)) as (panels, look):
            for j, one in enumerate(panels.flat):
                if j >= k:
                    one.set_axis_off()
                    continue
                top = float(np.abs(self.values[j]).max()) or 1.0
                levels = np.linspace(-top, top, 31)
                one.contourf(self.x, self.y, self.values[j], levels=levels, cmap=look.diverging)
                if self.values[j].min() < 0 < self.values[j].max():
                    one.contour(self.x, self.y, self.values[j], levels=[0.0], colors=[look.ink], linewidths=1.2)
                some = self.points[:: max(1, len(self.points) // 2000)]
                one.scatter(*some.T, s=5, color=look.ink, alpha=0.6, linewidths=0)
                one.set(xlim=self.x[[0, -1]], ylim=self.y[[0, -1]])
                one.set_xlabel(safe(self.names[0]), fontsize=8)
                if j % across == 0:
                    one.set_ylabel(safe(self.names[1]), fontsize=8)
                one.set_title(self.labels[j], loc="right", fontsize=9, color=look.ink)
            line = "The line is where a component is zero."
            self._say_above_all(look, [f"{line} {self.about}".strip()])
        return self


def component_fields(
    model: Any, rows: Array, two: list[int], numbers: list[int], resolution: int
) -> tuple[Array, Array, Array]:
    """Places along both columns around these rows, and components over the plane of them (k×n_y×n_x): all other
    columns are at their medians."""
    x, y = (_reach(rows[:, j], resolution) for j in two)
    values = _over_plane(model, np.median(rows, axis=0), two, x, y)[..., numbers]
    return x, y, np.moveaxis(values, 2, 0)


def _rows(model: Any, X: Any) -> Array:
    """In the units of X."""
    if X is None and not hasattr(model, "X_fit_"):
        raise ValueError(f"{type(model).__name__} keeps no rows, which say where the plane is: give them as X.")
    items = None if X is None else complete_items(model, X)
    if items is not None and items.kind != "rows":
        raise BadData("Fields are over a plane of two columns of numbers, and these items have none.")
    rows = np.asarray(here(model.X_fit_) if items is None else dense(items.load(), np.float64))
    if rows.ndim != 2 or rows.shape[1] < 2 or rows.dtype.kind not in "fiub" or _of_matrix(model):
        raise BadData("Fields are over a plane: two columns of numbers are needed at least.")
    return rows if isinstance(model, LinearModel) else rows * here(getattr(model, "scale_", 1.0))


def _of_matrix(model: Any) -> bool:
    return not isinstance(model, LinearModel) and is_precomputed(model)


def _over_plane(model: Any, middle: Array, two: list[int], x: Array, y: Array) -> Array:
    """Scores (n_y×n_x×k), a few lines of the plane at once: rows of many columns fill no memory."""
    few = max(1, _AT_ONCE // (len(x) * len(middle)))
    parts = []
    for lines in (y[first : first + few] for first in range(0, len(y), few)):
        grid = np.tile(middle, (len(lines) * len(x), 1))
        grid[:, two[0]], grid[:, two[1]] = np.tile(x, len(lines)), np.repeat(lines, len(x))
        parts.append(plain_scores(model, _as_seen(model, grid)))
    return np.concatenate(parts).reshape(len(y), len(x), -1)


def _as_seen(model: Any, rows: Array) -> Array:
    """As kernels compare them, with columns divided; PCA divides by itself."""
    return rows if isinstance(model, LinearModel) else rows / here(getattr(model, "scale_", 1.0))


def _two(features: Any, names: list[str]) -> list[int]:
    wanted = (0, 1) if features is None else tuple(features)
    missing = [name for name in wanted if isinstance(name, str) and name not in names]
    if missing:
        raise WrongUse(f"There is no column {in_short(missing[0])}; there are {in_short(names, 200)}.")
    two = [names.index(one) if isinstance(one, str) else one for one in wanted]
    return check_components(two, len(names), 2)


def _reach(column: Array, resolution: int) -> Array:
    low, high = float(column.min()), float(column.max())
    pad = 0.15 * (high - low) or 1.0
    return np.linspace(low - pad, high + pad, resolution)
