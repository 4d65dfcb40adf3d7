"""What drives components, as people read it: columns by their influence, and arrows for a biplot."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mercer_old.arrays import Array
from mercer_old.errors import counted, in_short

__all__ = ["Arrows", "Influence", "Influential", "arrows_by_region"]


class Arrows(NamedTuple):
    """A picture of scores cut into cells, and the mean arrows of each with a row in it."""

    places: Array  # p×2: where its rows lie on average
    arrows: Array  # p×d×2: for every column, where a score goes
    counts: Array  # p: rows


class Influential(NamedTuple):
    """A column, and what it does to a component."""

    name: str
    influence: float
    share: float
    rising: float


@dataclass(frozen=True, eq=False)
class Influence:
    """How much every column moves every score.

    Attributes
    ----------
    values : ndarray of shape (n_features, n_components)
        √mean (∂f/∂x)² over the rows, times the standard deviation of the column: by how much the score moves where the
        column moves by one standard deviation.
    between : ndarray of shape (n_features, n_components)
        What the column adds to the difference of two rows' scores, along the straight line between them: the root mean
        square over pairs of rows, divided by √2. It sees what tells groups apart, where no row is; of a linear kernel
        it is the same as `values`.
    mean : ndarray of shape (n_features, n_components)
        The mean of ∂f/∂x, times that deviation: with a sign, and small where a component rises here and falls there.
    rising : ndarray of shape (n_features, n_components)
        The share of rows at which the score rises with the column: 1 of a function that always does, 0 of one that
        always falls. Where it does neither, a row counts half.
    loadings : ndarray of shape (n_features, n_components)
        The loadings of the linear functions with the mean gradients: those of PCA, if the kernel is linear.
    names : list of str
        Of the columns.
    components : list of str
        Of the scores.
    deviations : ndarray of shape (n_features,)
        The standard deviations of the columns, in the units of X.
    n_rows : int
        Rows over which means were taken; 0 if the gradient is known to be the same everywhere.
    missed : float
        What all columns together miss of the differences of scores, as a share of them: of the worst component. Above
        0.05 the functions bend too often along a line for `between` to be trusted.
    noun : str
        What a row is called: "row", or "text".
    gradients : ndarray of shape (n_rows, n_components, n_features) or None
        ∂f/∂x at every row, in the units of X, if ``per_row=True`` asked for them.
    scores : ndarray of shape (n_rows, n_components) or None
        Where these rows lie.
    """

    values: Array
    between: Array
    mean: Array
    rising: Array
    loadings: Array
    names: list[str]
    components: list[str]
    deviations: Array
    n_rows: int
    missed: float = 0.0
    noun: str = "row"
    gradients: Array | None = None
    scores: Array | None = None

    @property
    def shares(self) -> Array:
        """Each column's share of the squared influence on a component (`values`); of standardised columns and a linear
        kernel, their contributions."""
        return _shares(self.values)

    def top(self, component: int = 0, n: int = 10, by: str = "rows") -> list[Influential]:
        """The columns with the most influence on a component, the most influential first.

        Parameters
        ----------
        component : int, default=0
            Which, counted from 0.
        n : int, default=10
            How many columns; fewer if there are no more.
        by : {"rows", "pairs"}, default="rows"
            By `values`, at the rows, or by `between`, from row to row.

        Returns
        -------
        columns : list of Influential
            The name of each, its influence, its share of the squared influence, and the share of rows at which the
            score rises with it.
        """
        j = self._place(component)
        if by not in ("rows", "pairs"):
            raise ValueError(f"by must be rows or pairs; got {in_short(by)}.")
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 0:
            raise ValueError(f"n must be a whole number of at least 0; got {in_short(n)}.")
        values = self.values if by == "rows" else self.between
        order = np.argsort(-values[:, j], kind="stable")[:n]
        numbers = zip(order, values[order, j], _shares(values)[order, j], self.rising[order, j], strict=True)
        return [Influential(self.names[i], float(v), float(s), float(r)) for i, v, s, r in numbers]

    def table(self) -> dict[str, list[Any]]:
        """All of it in columns, a line for each column of X and each component: what any frame takes.

        Returns
        -------
        columns : dict of lists
            "feature", "component", "influence", "between", "mean" and "rising".
        """
        d, k = self.values.shape
        columns = {"influence": self.values, "between": self.between, "mean": self.mean, "rising": self.rising}
        return {
            "feature": [name for name in self.names for _ in range(k)],
            "component": self.components * d,
            **{name: array.ravel().tolist() for name, array in columns.items()},
        }

    def arrows(self, components: Sequence[int] = (0, 1), regions: int = 1) -> Arrows:
        """Arrows for a biplot: where scores go if a column rises by one standard deviation.

        Of a linear kernel they are the same everywhere; of others each region of the picture has its own, the mean over
        its rows.

        Parameters
        ----------
        components : sequence of int, default=(0, 1)
            The components that are the axes of the picture.
        regions : int, default=1
            So many stripes along each of them, and a cell for every pair with a row in it. More than one needs
            ``influence(…, per_row=True)``.

        Returns
        -------
        arrows : Arrows
            Places, arrows (one for each column of X) and how many rows each cell has.
        """
        places = [self._place(component) for component in components]
        if self.gradients is None or self.scores is None:
            if regions != 1:
                raise ValueError("Arrows by region take the gradient of every row: ask for influence(…, per_row=True).")
            nowhere = np.zeros((1, len(places)))
            return Arrows(nowhere, self.mean[None][:, :, places], np.array([self.n_rows]))
        return arrows_by_region(self.scores[:, places], self.gradients[:, places] * self.deviations, regions)

    def _place(self, component: int) -> int:
        k = self.values.shape[1]
        if isinstance(component, bool) or not isinstance(component, int | np.integer) or not 0 <= component < k:
            raise ValueError(
                f"component must be a whole number from 0 to {k - 1}, as {counted(k, 'component')} were fitted; got "
                f"{in_short(component)}."
            )
        return int(component)

    def __str__(self) -> str:
        """Two lines for each component, with its most influential columns; one if the gradient is the same everywhere.

        The sign before a number: + where the score rises with the column at nearly all rows, − where it falls, ± else.
        """
        over = f" over {counted(self.n_rows, self.noun)}" if self.n_rows else ""
        lines = [f"Influence{over}: the score per standard deviation of a column."]
        linear = np.array_equal(self.values, self.between)
        for j, name in enumerate(self.components):
            lines.append(f"{name}: {self._told(j, 'rows')}")
            if not linear:
                lines.append(f"{' ' * len(name)}  between rows {self._told(j, 'pairs')}")
        if self.missed > 0.05:
            lines.append(
                f"Between rows, columns miss {self.missed:.0%} of the differences of scores: do not trust them."
            )
        return "\n".join(lines)

    def _told(self, j: int, by: str) -> str:
        told = self.top(j, 5, by)
        signs = [_sign(one.rising) if by == "rows" else "" for one in told]
        return ", ".join(f"{_read(one.name)} {sign}{one.influence:.3g}" for one, sign in zip(told, signs, strict=True))


def _read(name: str) -> str:
    """A gram may begin or end with a space, which would not be seen."""
    return name if name == name.strip() and name else repr(name)


def _sign(rising: float) -> str:
    return "+" if rising > 0.95 else "−" if rising < 0.05 else "±"


def _shares(values: Array) -> Array:
    """Of squares, in every column."""
    squares = values**2
    total = squares.sum(axis=0)
    return np.divide(squares, total, out=np.zeros_like(squares), where=total > 0)


def arrows_by_region(scores: Array, gradients: Array, regions: int) -> Arrows:
    """Means over cells of a picture: scores are m×2, gradients m×2×d. Each axis is cut into stripes of one width."""
    if isinstance(regions, bool) or not isinstance(regions, int | np.integer) or regions < 1:
        raise ValueError(f"regions must be a whole number of at least 1; got {in_short(regions)}.")
    least, width = scores.min(axis=0), np.ptp(scores, axis=0)
    part = np.divide(scores - least, width, out=np.zeros_like(scores), where=width > 0)
    stripes = np.minimum((part * regions).astype(np.int64), regions - 1)
    _, cell = np.unique(stripes, axis=0, return_inverse=True)
    cell, counts = cell.reshape(-1), np.bincount(cell.reshape(-1))
    order = np.argsort(cell, kind="stable")
    starts = np.cumsum(counts) - counts
    places = np.add.reduceat(scores[order], starts, axis=0) / counts[:, None]
    arrows = np.add.reduceat(gradients[order], starts, axis=0) / counts[:, None, None]
    return Arrows(places, arrows.transpose(0, 2, 1), counts)
