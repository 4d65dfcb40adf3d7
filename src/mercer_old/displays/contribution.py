"""Contributions and cos²: who made the components, and how well they show rows and columns."""

from typing import Any, Self

import numpy as np

from mercer_old.arrays import Array, to_numpy
from mercer_old.displays.asking import check_components, chosen, names_of_rows, prefix_of, require
from mercer_old.displays.base import Display
from mercer_old.displays.words import component_name, safe
from mercer_old.errors import BadData, counted, in_short, joined
from mercer_old.functions.contributions import contributions

__all__ = ["OF", "ContributionDisplay"]

KINDS, OF = ("contribution", "cos2"), ("features", "rows")


class ContributionDisplay(Display):
    """Bars of contributions, or of cos², of rows or columns to components, the largest first.

    The line is what each would have if all contributed alike. Over several components, contributions are weighted by
    the variances: Σⱼλⱼcᵢⱼ/Σⱼλⱼ; cos² add up.

    Parameters
    ----------
    values : array-like of shape (n,)
        Of every row or column.
    names : sequence of str, default=None
        Of them; None: their numbers.
    kind : {"contribution", "cos2"}, default="contribution"
        What they are.
    of : {"features", "rows"}, default="features"
        Whose.
    components : str, default="the components"
        To which.

    Attributes
    ----------
    values : ndarray of shape (n,)
        As given.
    expected : float or None
        1/n of contributions.
    names : list of str
        As given.
    order_ : ndarray of int
        Those that are drawn, the largest first.
    ax_, figure_, notes_ : Axes, Figure, list of str
        Where it was drawn, and what it says in words.
    """

    order_: Array

    def __init__(
        self, values: Any, *, names: Any = None, kind: str = "contribution", of: str = "features",
        components: str = "the components",
    ) -> None:  # fmt: skip
        _check(kind, of)
        self.values = np.asarray(values, dtype=np.float64)
        if self.values.ndim != 1 or not len(self.values):
            raise BadData(f"values are one number for each of the {of}; got an array of shape {self.values.shape}.")
        n, letter = len(self.values), "x" if of == "features" else ""
        self.names = names_of_rows(names, n) or [f"{letter}{i}" for i in range(n)]
        self.kind, self.of, self.components = kind, of, components
        self.expected = 1 / n if kind == "contribution" else None

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any = None, *, kind: str = "contribution", of: str = "features", components: Any = (0,),
        names: Any = None, **drawn: Any,
    ) -> Self:  # fmt: skip
        """Draw the contributions of a fitted model, or its cos².

        Parameters
        ----------
        model : PCA, IncrementalPCA or KernelPCA
            A fitted one. Contributions of columns are those of PCA alone; of kernel PCA see `LoadingsDisplay`.
        X : array-like, default=None
            The rows; of kernel PCA None is those of the fit.
        kind : {"contribution", "cos2"}, default="contribution"
            Who made the components, or how well they show each.
        of : {"features", "rows"}, default="features"
            Whose.
        components : int or sequence of int, default=(0,)
            Which, counted from 0; of several, together.
        names : sequence of str, default=None
            Of the columns, or of the rows.
        **drawn : dict
            Options of `plot`.

        Returns
        -------
        display : ContributionDisplay
            The display, drawn.
        """
        require(model, cls.__name__, "PCA", "KernelPCA")
        _check(kind, of)
        found = contributions(model, X, feature_names=names if of == "features" else None)
        numbers = check_components(components, found.rows.shape[1])
        table = _table(found, kind, of)
        variances = np.asarray(to_numpy(model.explained_variance_), dtype=np.float64)[numbers]
        values = np.nan_to_num(table[:, numbers]).sum(axis=1)
        if kind == "contribution":
            values = table[:, numbers] @ variances / (variances.sum() or 1.0)
        words = joined([component_name(prefix_of(model), j) for j in numbers])
        names = found.names or None if of == "features" else names
        return cls(values, names=names, kind=kind, of=of, components=words).plot(**drawn)

    def plot(self, ax: Any = None, *, theme: str | None = None, size: Any = None, n: int | None = 20) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where; None makes a figure.
        theme : {"light", "dark"}, default=None
            The look; None: light, or that of `ax`.
        size : tuple of float, default=None
            Width and height in inches, of a figure that is made.
        n : int or None, default=20
            So many bars, the largest; None: all.

        Returns
        -------
        display : ContributionDisplay
            Itself.
        """
        self.order_ = np.array(chosen(None, self.names, self.values, n), dtype=np.int64)
        bars = len(self.order_)
        with self._one(ax, theme, size, (6.4, min(1.3 + 0.2 * bars, 40))) as (ax, look):
            from mercer_old.look import BLUE, ORANGE

            unit = 100 if self.kind == "contribution" else 1
            ax.barh(np.arange(bars), unit * self.values[self.order_], 0.72, color=BLUE)
            ax.set_yticks(np.arange(bars), [safe(self.names[i]) for i in self.order_], fontsize=8)
            ax.set(ylim=(bars - 0.4, -0.6), xlabel=self._label())
            notes = [f"The {bars} largest of {len(self.values):,} {self.of}."] if bars < len(self.values) else []
            if self.expected is not None:
                ax.axvline(unit * self.expected, color=ORANGE, ls="--", lw=1.6)
                notes.append(
                    f"Dashed: {self.expected:.2%}, if all {counted(len(self.values), self.of[:-1])} contributed alike."
                )
            self._say(ax, look, "", notes)
        return self

    def _label(self) -> str:
        if self.kind == "contribution":
            return f"contribution to {self.components} (%)"
        return f"cos²: share that {self.components} show" + ("s" if " and " not in self.components else "")


def _check(kind: Any, of: Any) -> None:
    if kind not in KINDS:
        raise ValueError(f"kind must be contribution or cos2; got {in_short(kind)}.")
    if of not in OF:
        raise ValueError(f"of must be features or rows; got {in_short(of)}.")


def _table(found: Any, kind: str, of: str) -> Array:
    """The table of contributions that was asked for, or why there is none."""
    if of == "rows":
        table = found.rows if kind == "contribution" else found.cos2
        why = "A precomputed kernel matrix does not tell how far an item is from the mean, so that no cos² is known."
    else:
        table = found.columns if kind == "contribution" else _squared(found.correlations)
        why = 'Columns contribute to the axes of PCA; of kernel PCA ask LoadingsDisplay, or of="rows".'
        why = why if kind == "contribution" else "These items have no columns of numbers."
    if table is None:
        raise ValueError(why)
    return np.asarray(table)


def _squared(correlations: Array | None) -> Array | None:
    return None if correlations is None else correlations**2
