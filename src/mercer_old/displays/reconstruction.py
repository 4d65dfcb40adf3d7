"""Reconstruction: what is left of rows if the first k components are kept, against k."""

from typing import Any, Self

import numpy as np

from mercer_old.arrays import Array, to_numpy
from mercer_old.displays.asking import prefix_of, require
from mercer_old.displays.base import Display
from mercer_old.displays.canvas import part
from mercer_old.displays.words import safe
from mercer_old.errors import BadData, in_short
from mercer_old.models.sides import sides_of
from mercer_old.readings.reconstruction import errors_by_count

__all__ = ["ReconstructionDisplay"]


class ReconstructionDisplay(Display):
    """The share of the squared distances from the mean that the first k components leave, of sets of rows.

    Parameters
    ----------
    errors : dict of str to array-like of shape (n_components + 1,)
        For each set of rows the mean squared error with 0, 1, 2, … components.
    prefix : str, default="PC"
        What components are called.

    Attributes
    ----------
    errors : dict of str to ndarray
        As given.
    shares : dict of str to ndarray
        The same over the error with none.
    ax_, figure_, notes_ : Axes, Figure, list of str
        Where it was drawn, and what it says in words.
    """

    def __init__(self, errors: Any, *, prefix: str = "PC") -> None:
        sets = errors if isinstance(errors, dict) else {"rows": errors}
        self.errors = {str(name): np.asarray(values, dtype=np.float64) for name, values in sets.items()}
        if not self.errors or any(values.ndim != 1 or not len(values) for values in self.errors.values()):
            raise BadData(f"errors are a list of numbers for each set of rows; got {in_short(errors)}.")
        self.shares = {name: values / (values[0] or 1.0) for name, values in self.errors.items()}
        self.prefix = prefix

    @classmethod
    def from_estimator(cls, model: Any, X: Any = None, *, new: Any = None, **drawn: Any) -> Self:
        """Draw the error of reconstruction of a fitted model.

        Parameters
        ----------
        model : PCA, IncrementalPCA or KernelPCA
            A fitted one. Of kernel PCA, errors are those of feature space.
        X : array-like, default=None
            The rows of the fit; None: by the variances of the model.
        new : array-like, default=None
            Rows that were held out: what they lose more is what was fitted to chance.
        **drawn : dict
            Options of `plot`.

        Returns
        -------
        display : ReconstructionDisplay
            The display, drawn.
        """
        require(model, cls.__name__, "PCA", "KernelPCA")
        errors = {"rows of the fit": _of_variances(model) if X is None else _of_rows(model, X)}
        if new is not None:
            errors["rows held out"] = _of_rows(model, new)
        return cls(errors, prefix=prefix_of(model)).plot(**drawn)

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
        display : ReconstructionDisplay
            Itself.
        """
        from mercer_old.displays.palette import styles

        with self._one(ax, theme, size, (6.8, 4.2)) as (ax, look):
            lines = []
            for (_, values), style in zip(self.shares.items(), styles(len(self.shares)), strict=True):
                how = {"color": style.colour, "marker": style.marker, "ms": 4 if len(values) < 80 else 0}
                lines += ax.plot(np.arange(len(values)), 100 * values, **how)
            ax.set(
                xlabel=f"components kept ({self.prefix.strip()})",
                ylabel="left of the squared distance from the mean (%)",
            )
            ax.set_ylim(0, None)
            ax.xaxis.set_major_locator(part("ticker").MaxNLocator(integer=True, nbins=12))
            self._legend(ax, lines, [safe(name) for name in self.shares])
            last = {name: values[-1] for name, values in self.shares.items()}
            self._say(
                ax,
                look,
                "",
                [", ".join(f"{safe(name)}: {share:.1%} left at the end" for name, share in last.items()) + "."],
            )
        return self


def _of_variances(model: Any) -> Array:
    """Of the rows of the fit: what the variances leave of the total."""
    variances = np.asarray(to_numpy(model.explained_variance_), dtype=np.float64)
    rest = max(float(model.total_variance_) - float(variances.sum()), 0.0)
    return errors_by_count(np.sqrt(np.maximum(variances, 0.0))[None], np.array([rest]))


def _of_rows(model: Any, X: Any) -> Array:
    """Of any rows, by their scores and what all components leave."""
    sides = sides_of(model)
    blocks = model._scored(
        model._new_items(X), lambda rows, threads: np.column_stack(sides.both(rows, threads)), whole=False
    )
    both = np.concatenate([block for _, block in blocks])
    return errors_by_count(both[:, :-1], both[:, -1])
