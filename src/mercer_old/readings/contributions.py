"""Who made a component, and how well it shows a row or a column: contributions, squared cosines, correlations.

With scores tᵢⱼ of rows of weight wᵢ, axes vⱼ and lengths ‖φ(xᵢ) − mean‖:

- row i contributes wᵢtᵢⱼ²/Σᵢwᵢtᵢⱼ² to component j, and column c the square of its entry of vⱼ: each sum up to 1;
- cos²ᵢⱼ = tᵢⱼ²/‖φ(xᵢ) − mean‖² is the share of row i that component j shows; over all components they sum up to 1;
- the correlation of a column with the scores is its loading, if columns are standardised; squared, the share of the
  column that the component shows.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from mercer_old.arrays import Array, Held, dense
from mercer_old.errors import counted, in_short
from mercer_old.sums import inner

__all__ = ["Contributions", "column_contributions", "correlations", "row_contributions", "squared_cosines"]


def row_contributions(scores: Array, weights: Array | None = None) -> Array:
    """wt²/Σwt² (m×k); of a component without variance 0."""
    squares = scores**2 if weights is None else weights[:, None] * scores**2
    return _of_sums(squares, squares.sum(axis=0))


def column_contributions(axes: Array) -> Array:
    """v² of every axis (d×k): of columns as the axes see them, standardised or not."""
    return np.asarray(axes**2)


def squared_cosines(scores: Array, lengths: Array) -> Array:
    """t²/‖φ(x) − mean‖² (m×k); 0 of a row at the mean, which has no direction."""
    return _of_sums(scores**2, lengths[:, None])


def correlations(
    blocks: Iterable[Held], means: Array, deviations: Array, scores: Array, weights: Array | None = None
) -> Array:
    """Of every column with every score (d×k), from one sweep; nan of what is constant.

    `means` and `deviations` are those of the columns, √(Σw(x − mean)²/Σw). Dense rows are moved to their mean first, as
    a large one would cost digits; of sparse rows it drops out, as the scores are moved to theirs.
    """
    w = np.full(len(scores), 1 / len(scores)) if weights is None else weights / weights.sum()
    moved, start = scores - w @ scores, 0
    size = deviations[:, None] * np.sqrt(w @ moved**2)
    moved = w[:, None] * moved
    products = np.zeros(size.shape)
    for block in blocks:
        some = moved[start : start + block.shape[0]]
        products += inner(block - means, some) if isinstance(block, np.ndarray) else dense(block.T @ some)
        start += block.shape[0]
    return np.divide(products, size, out=np.full_like(products, np.nan), where=size > 0)


def _of_sums(parts: Array, wholes: Array) -> Array:
    return np.divide(parts, wholes, out=np.zeros_like(parts), where=wholes > 0)


@dataclass(frozen=True, eq=False)
class Contributions:
    """Who made the components, and how well they show rows and columns.

    Attributes
    ----------
    rows : ndarray of shape (n_rows, n_components)
        The share of every row in the variance of every component: each column sums up to 1.
    cos2 : ndarray of shape (n_rows, n_components) or None
        The share of every row, seen from the mean, that each component shows; over all components there are they sum
        up to 1. None of a precomputed kernel matrix, which does not tell how far an item is from the mean.
    columns : ndarray of shape (n_features, n_components) or None
        The share of every column in each axis, of PCA: each sums up to 1. None of kernel PCA: see `mercer.influence`.
    correlations : ndarray of shape (n_features, n_components) or None
        Of columns with scores over these rows; nan of constant columns. Their squares are the shares of the columns
        that components show. None of items without columns.
    supplementary : ndarray of shape (n_others, n_components) or None
        The same for other columns, which had no say in the fit.
    names, others : list of str
        Of the columns, and of the other columns.
    components : list of str
        Of the scores.
    """

    rows: Array
    cos2: Array | None
    columns: Array | None
    correlations: Array | None
    supplementary: Array | None
    names: list[str]
    others: list[str]
    components: list[str]

    def top_rows(self, component: int = 0, n: int = 10) -> Array:
        """The numbers of the rows that contribute most to a component, first the one with the most.

        Parameters
        ----------
        component : int, default=0
            Which, counted from 0.
        n : int, default=10
            How many; fewer if there are no more.

        Returns
        -------
        numbers : ndarray of shape (n,)
            Of rows, counted from 0.
        """
        k = self.rows.shape[1]
        if isinstance(component, bool) or not isinstance(component, int | np.integer) or not 0 <= component < k:
            raise ValueError(
                f"component must be a whole number from 0 to {k - 1}, as {counted(k, 'component')} were fitted; got "
                f"{in_short(component)}."
            )
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 0:
            raise ValueError(f"n must be a whole number of at least 0; got {in_short(n)}.")
        return np.argsort(-self.rows[:, component], kind="stable")[:n]

    def __str__(self) -> str:
        """For each component the rows that contribute most, and the columns it is correlated with."""
        lines = [f"Contributions of {counted(len(self.rows), 'row')}."]
        for j, name in enumerate(self.components):
            top = ", ".join(f"{i} ({self.rows[i, j]:.1%})" for i in self.top_rows(j, 3))
            lines.append(f"{name}: rows {top}{self._correlated(j)}")
        return "\n".join(lines)

    def _correlated(self, j: int) -> str:
        known = [(self.correlations, self.names), (self.supplementary, self.others)]
        pairs = [(name, values[i, j]) for values, names in known if values is not None for i, name in enumerate(names)]
        pairs = sorted((pair for pair in pairs if np.isfinite(pair[1])), key=lambda pair: -abs(pair[1]))
        told = ", ".join(f"{name} {value:+.2f}" for name, value in pairs[:4])
        return f"; correlated with {told}" if told else ""
