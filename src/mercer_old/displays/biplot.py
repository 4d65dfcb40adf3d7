"""Biplots: rows as points and columns as arrows in one plane, of PCA and, by gradients, of kernel PCA."""

from functools import partial
from typing import Any, Self

import numpy as np

from mercer_old.arrays import Array
from mercer_old.displays.asking import check_components, chosen, columns_of, prefix_of, require, scores_of, shares_of
from mercer_old.displays.base import Display
from mercer_old.displays.canvas import Look, part
from mercer_old.displays.circle import draw_arrows
from mercer_old.displays.clouds import draw_cloud, limits_around
from mercer_old.displays.palette import MOST_COLOURS, Groups, styles
from mercer_old.displays.scores import plane
from mercer_old.displays.words import axis_label, safe
from mercer_old.errors import BadData, counted, in_short
from mercer_old.functions.contributions import contributions
from mercer_old.functions.influence import influence
from mercer_old.models.linear import LinearModel

__all__ = ["SCALINGS", "BiplotDisplay"]

SCALINGS = ("distance", "correlation")
_REACH = 0.85  # of the way to the farthest row: how far the longest arrow goes
_FEW_ROWS = 3  # rows that a region of a kernel biplot needs to have arrows
_REGIONS = 4


class BiplotDisplay(Display):
    """Rows and columns in the plane of two components.

    With rows X = UΣVᵀ of mean zero, "distance" draws the scores UΣ, whose distances are those of the rows as far as the
    plane shows them, and the axes V as arrows. "correlation" draws scores of variance one, U√(n − 1), and the loadings
    VΣ/√(n − 1), whose angles are the correlations of columns as far as the plane shows them. Of kernel PCA, arrows are
    gradients: where a row's scores go if a column rises by one standard deviation, the mean over each region.

    Parameters
    ----------
    scores : array-like of shape (n_samples, 2)
        Where rows lie.
    arrows : array-like of shape (n_features, 2) or (n_regions, n_features, 2)
        Where columns lead.
    names : sequence of str, default=None
        Of the columns.
    y : array-like of shape (n_samples,), default=None
        Labels of the rows, as of `ScoresDisplay`.
    labels : tuple of str, default=("component 1", "component 2")
        Of the axes.
    scaling : {"distance", "correlation", "gradient"}, default="distance"
        What arrows are.
    places : array-like of shape (n_regions, 2), default=None
        Where the arrows of each region begin; None: at the origin.
    cos2 : array-like of shape (n_features,), default=None
        The share of every column that the plane shows.

    Attributes
    ----------
    scores, arrows, places, cos2 : ndarray
        As given.
    groups : Groups
        The labels, as they were understood.
    names, labels : list of str
        As given.
    scaling : str
        As given.
    shown_ : list of int
        The columns that are drawn, the longest arrow first.
    factor_ : float
        Arrows are drawn so many times as long as they are.
    ax_, figure_, notes_ : Axes, Figure, list of str
        Where it was drawn, and what it says in words.
    """

    shown_: list[int]
    factor_: float

    def __init__(
        self, scores: Any, arrows: Any, *, names: Any = None, y: Any = None,
        labels: tuple[str, str] = ("component 1", "component 2"), scaling: str = "distance", places: Any = None,
        cos2: Any = None,
    ) -> None:  # fmt: skip
        self.scores, self.arrows = plane(scores), np.asarray(arrows, dtype=np.float64)
        self.arrows = self.arrows[None] if self.arrows.ndim == 2 else self.arrows
        if self.arrows.ndim != 3 or self.arrows.shape[2] != 2:
            raise BadData(f"arrows have to be two numbers for each column; got an array of shape {np.shape(arrows)}.")
        p, d, _ = self.arrows.shape
        self.places = np.zeros((p, 2)) if places is None else plane(places, "places")
        self.names, self.labels, self.scaling = columns_of(None, d, names), list(labels), scaling
        self.groups = Groups.of(y, len(self.scores))
        self.cos2 = None if cos2 is None else np.asarray(cos2, dtype=np.float64)

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any = None, y: Any = None, *, components: Any = (0, 1), scaling: str = "distance",
        feature_names: Any = None, regions: int = _REGIONS, **drawn: Any,
    ) -> Self:  # fmt: skip
        """Draw the biplot of a fitted model.

        Parameters
        ----------
        model : PCA, IncrementalPCA or KernelPCA
            A fitted one.
        X : array-like, default=None
            The rows; of kernel PCA None is those of the fit.
        y : array-like of shape (n_samples,), default=None
            Labels of the rows.
        components : tuple of int, default=(0, 1)
            Which two, counted from 0.
        scaling : {"distance", "correlation"}, default="distance"
            Of PCA: whether distances of rows or angles of columns are true.
        feature_names : sequence of str, default=None
            Names of the columns; None: those that the model knows, or x0, x1, …
        regions : int, default=4
            Of kernel PCA: the picture is cut into so many stripes along either axis, and each cell has its arrows.
        **drawn : dict
            Options of `plot`.

        Returns
        -------
        display : BiplotDisplay
            The display, drawn.
        """
        require(model, cls.__name__, "PCA", "KernelPCA")
        if scaling not in SCALINGS:
            raise ValueError(f"scaling must be distance or correlation; got {in_short(scaling)}.")
        two = check_components(components, model._n_features_out, 2)
        read = _of_axes if isinstance(model, LinearModel) else _of_gradients
        values = read(model, X, two, scaling, feature_names, regions)
        shares, prefix = shares_of(model), prefix_of(model)
        labels = axis_label(prefix, two[0], shares), axis_label(prefix, two[1], shares)
        return cls(values.pop("scores"), values.pop("arrows"), y=y, labels=labels, **values).plot(**drawn)

    def plot(
        self, ax: Any = None, *, theme: str | None = None, size: Any = None, n: int | None = 10, features: Any = None,
        colour: str | None = None, legend: bool = True, points: dict[str, Any] | None = None,
        arrows: dict[str, Any] | None = None,
    ) -> Self:  # fmt: skip
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where; None makes a figure.
        theme : {"light", "dark"}, default=None
            The look; None: light, or that of `ax`.
        size : tuple of float, default=None
            Width and height in inches, of a figure that is made.
        n : int or None, default=10
            So many columns, those with the longest arrows; None: all. Of kernel PCA at most seven can be told apart.
        features : sequence of str, default=None
            Columns by name, instead of the longest.
        colour : str, default=None
            Of the arrows; "cos2": by the share of each column that the plane shows.
        legend : bool, default=True
            Whether to draw the legend of the groups.
        points : dict, default=None
            Settings of points for `matplotlib.axes.Axes.scatter`.
        arrows : dict, default=None
            Settings of arrows for `matplotlib.patches.FancyArrowPatch`.

        Returns
        -------
        display : BiplotDisplay
            Itself.
        """
        by_region = len(self.arrows) > 1
        strength = np.sqrt((self.arrows**2).sum(axis=2).mean(axis=0))
        self.shown_ = chosen(features, self.names, strength, min(n or 7, 7) if by_region and features is None else n)
        if by_region and len(self.shown_) > MOST_COLOURS:
            raise ValueError(
                f"Arrows of {MOST_COLOURS} columns can be told apart by their colours; got {len(self.shown_)} features."
            )
        self.factor_ = _factor(self.scores, self.arrows[:, self.shown_], by_region)
        with self._one(ax, theme, size, (7.2, 5.6)) as (ax, look):
            quiet = {"alpha": 0.7} | (points or {})
            bar = partial(self._colour_bar, ax, look, label="labels of rows", place="bottom") if legend else None
            handles, words = draw_cloud(ax, look, self.scores, self.groups, bar, **quiet)
            limits_around(ax, self.scores)
            tips, starts = self._tips()
            draw_arrows(ax, tips, self._colours(look, colour), starts, **(arrows or {}))
            ax.margins(0.1)
            ax.set(xlabel=self.labels[0], ylabel=self.labels[1])
            ax.set_aspect("equal", adjustable="datalim")
            if by_region:
                handles, words = self._named_in_legend(handles, words)
            else:
                self._second_axes(ax, look)
            if legend or by_region:
                self._legend(ax, handles, words, away=1.02 if by_region else 1.14)
            if colour == "cos2":
                shade = part("cm").ScalarMappable(part("colors").Normalize(0, 1), look.strength)
                self._colour_bar(ax, look, shade, "cos²", "bottom")
            names = [] if by_region else [self.names[i] for i in self.shown_]
            notes = [*self.groups.notes, *self._notes(colour), self._held_for(names)]
            self._say(ax, look, "", notes, top=0.0 if by_region else 18.0)
            if names:
                self._write_names(ax, look, tips, names, size=9, outwards=True)
        return self

    # ------------------------------------------------------------------ parts of it

    def _tips(self) -> tuple[Array, Array]:
        """Ends and beginnings of all arrows that are drawn."""
        shown = self.factor_ * self.arrows[:, self.shown_]
        starts = np.broadcast_to(self.places[:, None], shown.shape)
        return (starts + shown).reshape(-1, 2), starts.reshape(-1, 2)

    def _colours(self, look: Look, colour: str | None) -> list[Any]:
        from mercer_old.look import RED

        if colour == "cos2":
            if self.cos2 is None:
                raise ValueError(
                    'colour="cos2" takes the share of every column that the plane shows: give the rows as X.'
                )
            scale = part("").colormaps[look.strength]
            return [scale(float(np.clip(self.cos2[i], 0, 1))) for i in self.shown_]
        if len(self.arrows) > 1:
            return self._own_colours() * len(self.arrows)
        return [colour or RED] * len(self.shown_)

    def _own_colours(self) -> list[str]:
        """Of columns: those that groups of rows have left, and when these are used up, the same once more."""
        n = len(self.groups.names) or 1
        return [style.colour for style in styles(n + len(self.shown_))[n:]]

    def _second_axes(self, ax: Any, look: Look) -> None:
        """Numbers of the arrows above and at the right: those of the scores over the factor."""
        f = self.factor_
        for place in ("top", "right"):
            second = ax.secondary_xaxis if place == "top" else ax.secondary_yaxis
            axis = second(place, functions=(lambda v: v / f, lambda v: v * f))
            axis.tick_params(colors=look.ink, labelsize=7)
            axis.spines[:].set_color(look.faint)

    def _named_in_legend(self, handles: list, words: list) -> tuple[list, list]:
        line = part("lines").Line2D
        own = [line([], [], color=colour, lw=2) for colour in self._own_colours()]
        return [*own, *handles], [*(safe(self.names[i]) for i in self.shown_), *words]

    def _notes(self, colour: str | None) -> list[str]:
        d, shown = self.arrows.shape[1], len(self.shown_)
        what = {
            "distance": "the axes V, numbers above and at the right; distances of rows are true",
            "correlation": "the loadings, numbers above and at the right; cosines of their angles are correlations",
            "gradient": "where scores go if a column rises by one standard deviation",
        }.get(self.scaling, "columns")
        which = f"{shown} of {counted(d, 'column')}" if shown < d else counted(d, "column")
        shade = " Their colour is the share of a column that the plane shows." if colour == "cos2" else ""
        longer = "" if f"{self.factor_:.3g}" == "1" else f"; drawn {self.factor_:.3g} times as long"
        return [f"Arrows: {which}, {what}{longer}.{shade}"]


def _factor(scores: Array, arrows: Array, by_region: bool) -> float:
    """So that the longest arrow goes nearly as far as rows do, in a round number; of regions, less."""
    reach = np.linalg.norm(scores - (scores.mean(axis=0) if by_region else 0), axis=1).max(initial=0.0)
    longest = np.linalg.norm(arrows, axis=-1).max(initial=0.0)
    if not (reach > 0 and longest > 0):
        return 1.0
    factor = (_REACH if not by_region else 0.3) * reach / longest
    power = 10.0 ** np.floor(np.log10(factor))
    return float(max(step for step in (1.0, 1.5, 2.0, 3.0, 5.0, 7.0) if step * power <= factor * (1 + 1e-9)) * power)


def _of_axes(model: Any, X: Any, two: list[int], scaling: str, feature_names: Any, regions: int) -> dict[str, Any]:
    """Scores and arrows of PCA, as the scaling has them. Whitened scores have a variance of one already."""
    scores, deviations = scores_of(model, X)[:, two], np.sqrt(model._number("explained_variance_")[two])
    wanted, there = scaling == "correlation", np.where(deviations > 0, deviations, 1.0)
    if model.whiten != wanted:
        scores = scores / there if wanted else scores * deviations
    arrows = model.loadings_[:, two] if wanted else model._number("components_").T[:, two]
    found = contributions(model, X, feature_names=feature_names)
    cos2 = None if found.correlations is None else (np.nan_to_num(found.correlations[:, two]) ** 2).sum(axis=1)
    names = columns_of(model, len(arrows), feature_names)
    return {"scores": scores, "arrows": arrows, "names": names, "scaling": scaling, "cos2": cos2}


def _of_gradients(model: Any, X: Any, two: list[int], scaling: str, feature_names: Any, regions: int) -> dict[str, Any]:
    """Of kernel PCA; of texts, whose components are linear in their grams, one set of arrows."""
    if scaling != "distance":
        raise ValueError("Of kernel PCA the arrows are gradients, of which there is one scaling: leave it out.")
    of_texts = model.kernel_.takes == "texts"
    found = influence(model, X, feature_names, per_row=not of_texts)
    cells = found.arrows(two, 1 if of_texts else regions)
    enough = cells.counts >= min(_FEW_ROWS, cells.counts.max())
    scores = scores_of(model, X)[:, two]
    about = {"names": found.names, "scaling": "gradient", "places": cells.places[enough]}
    return {"scores": scores, "arrows": cells.arrows[enough], **about}
