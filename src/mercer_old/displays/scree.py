"""Scree: what every component has of the variance, and what every rule says of how many to keep."""

from textwrap import fill
from typing import Any, Self

import numpy as np

from mercer_old.arrays import Array
from mercer_old.displays.asking import check_count, prefix_of, require, shares_of
from mercer_old.displays.base import Display
from mercer_old.displays.spectrum import proven_intervals
from mercer_old.displays.words import percent
from mercer_old.errors import BadData, in_short
from mercer_old.readings.rules.suggestion import Suggestion
from mercer_old.studies.suggesting import suggest

__all__ = ["ScreeDisplay"]

_FEW = 60  # components that are drawn as bars; more are a line


class ScreeDisplay(Display):
    """The share of the variance of each component and of the first ones together, with every rule as a mark.

    Parameters
    ----------
    shares : array-like of shape (n_components,)
        Of the variance, the largest first: λⱼ/Σλ.
    lower, upper : array-like of shape (n_components,), default=None
        Between which the shares are proven to lie.
    suggestion : Suggestion, default=None
        What `mercer.suggest` says.
    prefix : str, default="PC"
        What components are called.

    Attributes
    ----------
    shares, cumulative : ndarray of shape (n_components,)
        Of each component, and of the first ones together.
    lower, upper : ndarray of shape (n_components,) or None
        As given.
    suggestion : Suggestion or None
        As given.
    ax_, figure_, notes_ : Axes, Figure, list of str
        Where it was drawn, and what it says in words.

    Examples
    --------
    >>> from mercer import PCA, ScreeDisplay
    >>> from mercer.datasets import us_arrests
    >>> X, names = us_arrests()
    >>> display = ScreeDisplay.from_estimator(PCA(standardize=True).fit(X), X)
    >>> display.cumulative.round(2).tolist()
    [0.62, 0.87, 0.96, 1.0]
    """

    def __init__(
        self,
        shares: Any,
        *,
        lower: Any = None,
        upper: Any = None,
        suggestion: Suggestion | None = None,
        prefix: str = "PC",
    ) -> None:
        self.shares = np.asarray(shares, dtype=np.float64)
        if self.shares.ndim != 1 or not len(self.shares) or not np.isfinite(self.shares).all():
            raise BadData(f"shares are a list of finite numbers, one for each component; got {in_short(shares)}.")
        self.cumulative = np.cumsum(self.shares)
        self.lower, self.upper = (None if end is None else np.asarray(end, dtype=np.float64) for end in (lower, upper))
        self.suggestion, self.prefix = suggestion, prefix

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any = None, y: Any = None, *, rules: bool = True, random_state: Any = None, **drawn: Any
    ) -> Self:
        """Draw the scree of a fitted model.

        Parameters
        ----------
        model : PCA, IncrementalPCA or KernelPCA
            A fitted one.
        X : array-like, default=None
            The rows of the fit, for rules that need them; see `mercer.suggest`.
        y : array-like of shape (n_samples,), default=None
            Labels, for the rule that needs them.
        rules : bool, default=True
            Whether to ask `mercer.suggest`, which has nothing to say of rows with gaps.
        random_state : int, Generator or None, default=None
            Of rules that draw.
        **drawn : dict
            Options of `plot`.

        Returns
        -------
        display : ScreeDisplay
            The display, drawn.
        """
        require(model, cls.__name__, "PCA", "KernelPCA")
        shares = shares_of(model)
        if shares is None or not np.isfinite(shares).all():
            raise BadData(
                "The kernel is not positive semi-definite here, so that shares of the variance have no meaning."
            )
        rules = rules and not np.any(getattr(model, "n_missing_", 0))
        said = suggest(model, X, y, random_state=random_state) if rules else None
        return cls(shares, **_proven(model, shares), suggestion=said, prefix=prefix_of(model)).plot(**drawn)

    def plot(
        self, ax: Any = None, *, theme: str | None = None, size: Any = None, most: int | None = None,
        cumulative: bool = True,
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
        most : int, default=None
            So many components are drawn, the first ones; None: all.
        cumulative : bool, default=True
            Whether to draw the sum of the first ones as well.

        Returns
        -------
        display : ScreeDisplay
            Itself.
        """
        check_count(most, "most", none="all")
        k = len(self.shares) if most is None else min(most, len(self.shares))
        with self._one(ax, theme, size, (8.2, 4.4)) as (ax, look):
            from mercer_old.look import BLUE, ORANGE

            places = np.arange(1, k + 1)
            if k <= _FEW:
                ax.bar(places, 100 * self.shares[:k], 0.72, color=BLUE, label="each")
            else:
                ax.fill_between(places, 100 * self.shares[:k], step="mid", color=BLUE, label="each")
            handles, names = [ax.get_legend_handles_labels()[0][0]], ["each component"]
            if self.lower is not None and self.upper is not None:
                self._draw_intervals(ax, look, k)
            if cumulative:
                line = ax.plot(places, 100 * self.cumulative[:k], "o-", color=ORANGE, ms=3.5, lw=1.4)[0]
                handles, names = [*handles, line], [*names, "the first ones together"]
            marks = self._draw_rules(ax, look, k)
            ax.set(xlabel=f"number of the component ({self.prefix.strip()})", ylabel="share of the variance (%)")
            ax.set(xlim=(0.3 if any(n == 0 for n in self._by_number()) else 0.4, k + 0.6), ylim=(0, None))
            ax.xaxis.set_major_locator(_whole_numbers())
            self._legend(ax, [*handles, *(mark for mark, _ in marks)], [*names, *(name for _, name in marks)])
            self._say(ax, look, "Scree", self._notes(k))
        return self

    # ------------------------------------------------------------------ parts of it

    def _draw_intervals(self, ax: Any, look: Any, k: int) -> None:
        assert self.lower is not None
        assert self.upper is not None
        low, high = np.minimum(self.lower, self.shares)[:k], np.maximum(np.minimum(self.upper, 1.0), self.shares)[:k]
        off = 100 * np.array([self.shares[:k] - low, high - self.shares[:k]])
        ax.errorbar(np.arange(1, k + 1), 100 * self.shares[:k], off, fmt="none", ecolor=look.ink, lw=1.2, capsize=2.5)

    def _by_number(self) -> dict[int, list[str]]:
        """Rules by the number that they say."""
        said: dict[int, list[str]] = {}
        for opinion in self.suggestion.opinions if self.suggestion is not None else ():
            if opinion.k is not None:
                said.setdefault(opinion.k, []).append(opinion.rule + (" (at least)" if opinion.at_least else ""))
        return dict(sorted(said.items()))

    def _draw_rules(self, ax: Any, look: Any, k: int) -> list[tuple[Any, str]]:
        """A line after the last component that rules keep, and beside it which."""
        from mercer_old.look import GREEN, GREY

        agreed, marks = None if self.suggestion is None else self.suggestion.k, []
        for number, rules in self._by_number().items():
            own = {"color": GREEN, "lw": 2.2} if number == agreed else {"color": GREY, "lw": 1.0, "ls": "--"}
            place = min(number, k) + 0.5
            mark, words = ax.axvline(place, zorder=0.5, **own), self._said_at(number, k)
            ax.annotate(
                words, (place, 1), (0, -2), xycoords=ax.get_xaxis_transform(),
                textcoords="offset points", ha="right" if "–" in words else "center", va="top", fontsize=8,
                color=look.ink, bbox={"fc": look.paper, "ec": "none", "pad": 1},
            )  # fmt: skip
            marks.append((mark, _listed(number, rules)))
        return marks

    def _said_at(self, number: int, k: int) -> str:
        """What stands above a mark; those of all components that are drawn, or more, are at one place."""
        last = [other for other in self._by_number() if other >= k]
        return str(number) if number < k or len(last) == 1 else f"{last[0]}–{last[-1]}"

    def _notes(self, k: int) -> list[str]:
        notes = [] if self.suggestion is None else [self.suggestion.consensus]
        if k < len(self.shares):
            kept = f"The first {k} of {len(self.shares)} components"
            notes.append(f"{kept}, with {percent(self.cumulative[k - 1])} of the variance.")
        return notes


def _listed(number: int, rules: list[str]) -> str:
    """All of them, in short lines of a legend."""
    return fill(f"{number}: {', '.join(rules)}", 30, subsequent_indent="   ")


def _whole_numbers() -> Any:
    from mercer_old.displays.canvas import part

    return part("ticker").MaxNLocator(integer=True, nbins=12)


def _proven(model: Any, shares: Array) -> dict[str, Any]:
    """The intervals of the certificate as shares: eigenvalues of the fit over their sum."""
    values, lower, upper = proven_intervals(model)
    there = np.flatnonzero((shares > 0) & (values > 0))
    if lower is None or upper is None or not len(there):
        return {"lower": None, "upper": None}
    whole = values[there[0]] / shares[there[0]]
    return {"lower": lower / whole, "upper": upper / whole}
