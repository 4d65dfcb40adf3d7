"""Novelty: every row inside the space of the components (T²) and beside it (Q), with calibrated limits."""

from typing import Any, Self

import numpy as np

from mercer_old.displays.asking import names_of_rows, require
from mercer_old.displays.base import Display
from mercer_old.displays.words import part_of_hundred
from mercer_old.errors import BadData, counted
from mercer_old.models.sides import sides_of
from mercer_old.readings.novelty import Calibration

__all__ = ["NoveltyDisplay"]

_WIDE = 60.0  # times the median: beyond, axes are logarithmic far from zero


class NoveltyDisplay(Display):
    """Rows by T² (how far from the mean inside the space of the components) and Q (how far from that space).

    Parameters
    ----------
    t2, q : array-like of shape (n_samples,)
        Both statistics of every row.
    novel : array-like of bool of shape (n_samples,), default=None
        Which rows are called novel.
    t2_limit, q_limit : float, default=None
        Calibrated limits, where there are any.
    slope : tuple of float, default=None
        (a, b, c) of a limit a·T² + b·Q = c, of a detector that takes both together.
    names : sequence of str, default=None
        Of the rows; those of novel ones are written.
    about : str, default=""
        What the limits mean.

    Attributes
    ----------
    t2, q, novel : ndarray of shape (n_samples,)
        As given.
    t2_limit, q_limit, slope : float or None
        As given.
    ax_, figure_, notes_ : Axes, Figure, list of str
        Where it was drawn, and what it says in words.
    """

    def __init__(
        self, t2: Any, q: Any, *, novel: Any = None, t2_limit: float | None = None, q_limit: float | None = None,
        slope: tuple[float, float, float] | None = None, names: Any = None, about: str = "",
    ) -> None:  # fmt: skip
        self.t2, self.q = np.asarray(t2, dtype=np.float64), np.asarray(q, dtype=np.float64)
        if self.t2.ndim != 1 or self.t2.shape != self.q.shape or not len(self.t2):
            raise BadData(f"T² and Q are one number each for every row; got {self.t2.shape} and {self.q.shape}.")
        self.novel = np.zeros(len(self.t2), dtype=bool) if novel is None else np.asarray(novel, dtype=bool)
        self.t2_limit, self.q_limit, self.slope, self.about = t2_limit, q_limit, slope, about
        self.names = names_of_rows(names, len(self.t2))

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any = None, *, calibration: Any = None, names: Any = None, **drawn: Any
    ) -> Self:
        """Draw rows as a fitted detector sees them.

        Parameters
        ----------
        model : NoveltyDetector
            A fitted one. Its own limit is that of its statistic.
        X : array-like
            The rows to look at.
        calibration : array-like, default=None
            Rows that the model has not seen and that are usual: both limits are calibrated by them, each at half of
            ``model.alpha``, so that no more than ``alpha`` of usual rows exceed either.
        names : sequence of str, default=None
            Of the rows.
        **drawn : dict
            Options of `plot`.

        Returns
        -------
        display : NoveltyDisplay
            The display, drawn.
        """
        require(model, cls.__name__, "NoveltyDetector")
        if X is None:
            raise ValueError("A detector keeps no rows: give those to look at as X.")
        t2, q = model.statistics(X).T
        if calibration is None:
            return cls(t2, q, novel=model.predict(X) < 0, names=names, **_own_limit(model)).plot(**drawn)
        known, half = model.statistics(calibration).T, model.alpha / 2
        limits = [Calibration.of(one).threshold(half) for one in known]
        novel = (t2 > limits[0]) | (q > limits[1])
        by = counted(len(known[0]), "calibration row")
        about = f"Limits by {by}: of usual rows, {part_of_hundred(model.alpha)} at most exceed either."
        return cls(t2, q, novel=novel, t2_limit=limits[0], q_limit=limits[1], names=names, about=about).plot(**drawn)

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
        display : NoveltyDisplay
            Itself.
        """
        with self._one(ax, theme, size, (6.6, 4.8)) as (ax, look):
            from mercer_old.look import BLUE, RED

            style = {"edgecolors": look.paper, "linewidths": 0.4}
            usual = ax.scatter(self.t2[~self.novel], self.q[~self.novel], s=18, color=BLUE, alpha=0.8, **style)
            strange = ax.scatter(self.t2[self.novel], self.q[self.novel], s=42, color=RED, marker="X", **style)
            self._draw_limits(ax, look)
            _scale(ax, self.t2, self.q)
            ax.set(xlabel="T², inside the space of the components", ylabel="Q, squared distance from it")
            self._legend(ax, [usual, strange], ["usual", f"novel ({int(self.novel.sum()):,})"])
            rows = np.flatnonzero(self.novel if self.names is not None else np.zeros(0))
            rows = rows[np.argsort(-self.q[rows], kind="stable")]
            self._say(ax, look, "", [self.about, self._held_for(rows.tolist())])
            if self.names is not None and len(rows):
                points, names = np.column_stack([self.t2, self.q])[rows], [self.names[i] for i in rows]
                self._write_names(ax, look, points, names)
        return self

    def _draw_limits(self, ax: Any, look: Any) -> None:
        how = {"color": look.ink, "ls": "--", "lw": 1.2}
        if self.t2_limit is not None and np.isfinite(self.t2_limit):
            ax.axvline(self.t2_limit, **how)
        if self.q_limit is not None and np.isfinite(self.q_limit):
            ax.axhline(self.q_limit, **how)
        if self.slope is not None and np.isfinite(self.slope[2]):
            a, b, c = self.slope
            t2 = np.linspace(0, c / a, 200)
            ax.plot(t2, (c - a * t2) / b, **how)


def _own_limit(model: Any) -> dict[str, Any]:
    """The limit of the detector's own statistic, as a line of the plane."""
    statistic, limit = model._statistic, model.threshold_
    about = f"The limit is that of the detector: of usual rows, {part_of_hundred(model.alpha)} at most exceed it."
    if not np.isfinite(limit):
        return {"about": f"No limit: too few calibration rows for alpha={model.alpha:g}."}
    if statistic == "reconstruction":
        return {"q_limit": limit, "about": about}
    if statistic == "t2":
        return {"t2_limit": limit, "about": about}
    if statistic == "lecture":
        return {"about": "Rows are called novel by the sum of projections, which is no line of this plane."}
    sides = sides_of(model.estimator_)
    return {"slope": (1 / max(int(np.sum(sides.variances > 0)), 1), 1 / sides.rest, limit), "about": about}


def _scale(ax: Any, t2: Any, q: Any) -> None:
    """From zero on; by logarithms beyond the median where a few rows are very far out."""
    for values, which in ((t2, "x"), (q, "y")):
        middle = float(np.median(values))
        if middle > 0 and values.max() > _WIDE * middle:
            getattr(ax, f"set_{which}scale")("symlog", linthresh=middle)
        getattr(ax, f"set_{which}lim")(0, None)
