"""How rows scatter around their mean: one accumulator, whether rows come all at once, from a file or batch by batch.

Every block is moved to its own mean before anything is squared, so a large mean costs no digits. Blocks, lanes and
batches meet by Chan's rule: two groups of weights W₁ and W₂ whose means differ by Δ scatter, taken together, like the
two of them and one more row, √(W₁W₂/(W₁ + W₂))·Δ. That row is all there is to it, whatever is kept of the scatter.

The mean is kept as the number nearest to it and what is left (origin + offset), wherever rows drift to, so differences
Δ are as exact as the rows are. Everything carries how far off it can be: `noise` is a vector e with
|δSᵢⱼ| ≤ √(eᵢeⱼ), so that ‖δS‖ ≤ Σe, and errors add up (Cauchy and Schwarz); docs/design/rounding.md derives each term.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from mercer_old.arrays import Array, Matrix, weight_of
from mercer_old.blocks import NARROW
from mercer_old.rounding import UNIT, UNIT_SINGLE, gamma
from mercer_old.sources.weights import copies_of
from mercer_old.sums import chain, cross, sum_chain, two_sum, weighted_sum

MOST_OFF = 64  # corrections that are put off
ENTRY = 8  # roundings of an entry: x − c, √w, their product, twice, and what is done with the sum
RANGE = 1e-150, 1e150  # of sums of squares that nothing was lost of, and whose squares are numbers
_KEPT = {
    name.lstrip("_"): name
    for name in (
        "origin",
        "offset",
        "noise",
        "own_noise",
        "doubt",
        "count",
        "copies",
        "weight",
        "_more_weight",
        "precision",
        "unsure",
    )
}  # facts, and where they are


class Scatter(ABC):
    """Rows of weight w: how many, Σw, their mean, and what a subclass keeps of S = Σw(x − mean)(x − mean)ᵀ."""

    narrow: ClassVar[int] = NARROW  # columns up to which there is one for every lane

    def __init__(self, origin: Array) -> None:
        self.origin = np.array(origin, dtype=np.float64)
        self.count, self.weight, self.offset = 0, 0.0, np.zeros(len(self.origin))
        self.copies = 0  # rows, each as often as its weight says, if weights are whole numbers
        self.precision = 0.0  # the coarsest precision that was used
        self.noise = np.zeros(len(self.origin))  # of S: |δSᵢⱼ| ≤ √(eᵢeⱼ)
        self.own_noise = np.zeros(len(self.origin))  # of its diagonal, which sparse rows leave better known
        self.doubt = np.zeros(len(self.origin))  # how far off the mean can be
        self.unsure = 0.0  # how far off the weight can be, relative to it
        self._more_weight = 0.0  # that rounding took from it
        self.room: Array = np.empty((0, 0))  # in which rows are worked on

    def __sizeof__(self) -> int:
        return weight_of(self)

    @property
    def width(self) -> int:
        return len(self.origin)

    @property
    def mean(self) -> Array:
        return self.origin + self.offset

    def centred(self, rows: Array, columns: slice = slice(None)) -> Array:
        """x − mean of some rows, or some of their columns; in two steps, as a large mean would be rounded."""
        moved = np.subtract(rows, self.origin[columns], dtype=np.float64)
        moved -= self.offset[columns]
        return moved

    def add(self, rows: Matrix, weights: Array | None = None, threads: int = 1, exact: bool = False) -> None:
        """One more block; `exact` computes in float64 whatever the rows are."""
        if weights is not None and not weights.all():
            rows, weights = rows[weights > 0], weights[weights > 0]
        if not rows.shape[0]:
            return
        self.count += rows.shape[0]
        self.copies += rows.shape[0] if weights is None else copies_of(weights, rows.shape[0])
        if sparse.issparse(rows):
            self._add_sparse_rows(sparse.csr_array(rows, dtype=np.float64), weights)
        else:
            self._add_dense_rows(rows, weights, threads, exact)

    def _add_dense_rows(self, rows: Array, weights: Array | None, threads: int, exact: bool) -> None:
        root = None if weights is None else np.sqrt(weights)
        weight, unsure = _weight_of(rows, weights)
        Y, guess, left = self._moved(rows, root, weight, exact)
        unit = UNIT if Y.dtype == np.float64 else UNIT_SINGLE
        self.precision = max(self.precision, 2 * unit)
        squares = self._add(Y, root, weight, left, threads)
        off = np.sqrt(weight) * np.abs(left)
        off_by = gamma(sum_chain(len(Y)) + ENTRY, unit) * np.sqrt(squares) + (unsure + gamma(ENTRY)) * off
        noise = gamma(chain(len(Y)) + ENTRY, unit) * squares
        noise += gamma(MOST_OFF + ENTRY) * off**2 + cross(off, off_by) + off_by**2
        self.noise += noise
        self.own_noise += noise
        self._add_row(self._meet(weight, guess, left, off_by / np.sqrt(weight), unsure))

    def _add_sparse_rows(self, X: Matrix, weights: Array | None) -> None:
        """Sparse rows stay where they are, so their mean is subtracted from squares; on the diagonal, before them."""
        counts = np.ones(X.nnz) if weights is None else np.repeat(weights, np.diff(X.indptr))
        weight, unsure = _weight_of(X, weights)

        def sums(of: Array) -> Array:
            return np.bincount(X.indices, of, self.width)

        terms = gamma(int(np.bincount(X.indices, minlength=1).max()) + ENTRY)  # every column adds up what it has
        zeros = weight - sums(counts)
        mean = sums(counts * X.data) / weight
        moved = X.data - mean[X.indices]
        left = (sums(counts * moved) - zeros * mean) / weight
        around = sums(counts * moved**2) + np.maximum(zeros, 0.0) * mean**2
        size, off = np.sqrt(weight) * np.abs(mean), np.sqrt(weight) * np.abs(left)
        miscounted = 0.0 if weights is None else terms + unsure  # of the weights of zeros
        off_by = terms * np.sqrt(around) + (gamma(ENTRY) + miscounted) * size
        own = terms * around + miscounted * size**2 + _cross_alone(off, off_by)
        whole = terms * sums(counts * X.data**2) + cross(size, off_by) + off_by**2 + gamma(ENTRY) * size**2
        self.precision = max(self.precision, 2 * UNIT)
        self.noise += np.maximum(own, whole)
        self.own_noise += own
        self._add_row(self._meet(weight, mean, left, off_by / np.sqrt(weight), unsure))
        if weights is not None:
            X = sparse.csr_array((np.sqrt(counts) * X.data, X.indices, X.indptr), shape=X.shape)
        self._add_sparse(X, np.sqrt(weight) * (mean + left), np.maximum(around - off**2, 0.0))

    def merge(self, other: Self) -> None:
        """All rows of another one, of the same kind."""
        if not other.weight:
            return
        self._add_row(self._meet(other.weight, other.origin, other.offset, other.doubt, other.unsure))
        self.count += other.count
        self.copies += other.copies
        self.noise = self.noise + other.noise
        self.own_noise = self.own_noise + other.own_noise
        self.precision = max(self.precision, other.precision)
        self._merge(other)

    @property
    def finite(self) -> bool:
        """Whether its sums are numbers."""
        with np.errstate(over="ignore", invalid="ignore"):
            return bool(np.isfinite(self.offset).all() and np.isfinite(self.squares).all())

    def in_range(self, every: bool = False) -> bool:
        """Whether no squares were lost, as too large or too small: of the sum of all, or of every column."""
        squares = self.squares if every else np.sum(self.squares)
        return self.finite and not bool(np.any((squares < RANGE[0]) | (squares > RANGE[1])))

    @property
    def deviations(self) -> Array:
        """The standard deviations of the columns, and 1 for those that have none."""
        degrees = self.weight - 1 if self.weight > 1 else self.weight
        return np.where(self.constant, 1.0, np.sqrt(self.squares / degrees))

    def eigenvalue_noise(self, scale: Array | None, total: float) -> float:
        """How far rounding can move the eigenvalues of S, its columns divided: as its sums say, and that division."""
        noise = self.noise if scale is None else self.noise / scale**2
        return float(noise.sum()) + self.noise_of_scaling(scale) + 4 * UNIT * total

    def noise_of_scaling(self, scale: Array | None) -> float:
        """What dividing the columns by their deviations adds: those are as far off as their squares are.

        |cᵢⱼ|(ηᵢ + ηⱼ) with |cᵢⱼ| ≤ √(cᵢᵢcⱼⱼ), η the relative error of a deviation.
        """
        if scale is None:
            return 0.0
        return float(cross(self.scale_off(scale) * self._scaled(scale), self._scaled(scale)).sum())

    def scale_off(self, scale: Array) -> Array:
        """η of every column; of those that are left as they are, none."""
        squares = np.maximum(self.squares, np.finfo(float).tiny)
        return np.where(self.constant, 0.0, self.own_noise / squares / 2 + 4 * UNIT)

    @property
    def constant(self) -> Array:
        """Which columns vary by no more than rounding does."""
        return self.squares <= self.own_noise + self.weight * self.doubt**2

    def squares_in(self, scale: Array | None) -> Array:
        """Sums of squares of the columns divided by their scale; nothing of those that do not vary."""
        squares = np.where(self.constant, 0.0, self.squares)
        return squares if scale is None else squares / scale**2

    def _scaled(self, scale: Array) -> Array:
        return np.sqrt(self.squares) / scale

    def forget(self, share: float) -> None:
        """Let all rows so far count only this share of what they did."""
        if share == 1:
            return
        self.weight *= share
        self._more_weight *= share
        self.unsure += UNIT
        self.noise = share * self.noise + 2 * UNIT * self.squares
        self.own_noise = share * self.own_noise + 2 * UNIT * self.squares
        self._scale(share)

    def in_other_units(self, factor: float) -> None:
        """Of the same rows times a power of two."""
        self.origin, self.offset, self.doubt = factor * self.origin, factor * self.offset, factor * self.doubt
        self.noise, self.own_noise = factor * (factor * self.noise), factor * (factor * self.own_noise)
        self._change_unit(factor)

    def facts(self) -> dict[str, Any]:
        """All that it knows, by names that last: arrays and numbers from which another goes on to the same bits."""
        return {name: getattr(self, _KEPT[name]) for name in _KEPT}

    def learn(self, facts: Mapping[str, Any]) -> None:
        """Go on from there."""
        for name, attribute in _KEPT.items():
            setattr(self, attribute, facts[name])

    def trim(self) -> None:
        """Give back the room in which rows were worked on."""
        self.room = np.empty((0, 0))

    def _meet(self, weight: float, place: Array, left: Array, doubt: Array, unsure: float) -> Array:
        """Take in a group of rows whose mean is place + left: the row that makes up for the difference of the means."""
        if not self.weight:
            self.origin, self.offset = two_sum(place, left)
            self.weight, self.doubt, self.unsure = weight, doubt, unsure
            return np.zeros(self.width)
        total, more = two_sum(self.weight, weight)
        share = weight / total
        difference = ((place - self.origin) + left) - self.offset
        factor = np.sqrt(self.weight) * np.sqrt(share)
        gap, longer = factor * difference, np.abs(difference) + np.abs(left) + np.abs(self.offset)
        wrong = factor * (self.doubt + doubt + 4 * UNIT * longer) + (self.unsure + unsure + 6 * UNIT) * np.abs(gap)
        self._wrong_gap(gap, wrong)
        step = share * difference
        self.doubt = (1 - share) * self.doubt + share * doubt
        self.doubt += (self.unsure + unsure + 8 * UNIT) * np.abs(step) + 4 * UNIT * (np.abs(left) + np.abs(self.offset))
        self.unsure = (1 - share) * self.unsure + share * unsure + UNIT**2
        self.origin, self.offset = two_sum(self.origin, self.offset + step)
        self.weight, self._more_weight = two_sum(total, self._more_weight + more)
        return gap

    def _wrong_gap(self, gap: Array, wrong: Array) -> None:
        """The noise of gap·gapᵀ if gap is so wrong."""
        noise = cross(np.abs(gap), wrong) + wrong**2 + gamma(MOST_OFF + ENTRY) * gap**2
        self.noise = self.noise + noise
        self.own_noise = self.own_noise + noise

    def _moved(self, rows: Array, root: Array | None, weight: float, exact: bool) -> tuple[Array, Array, Array]:
        """√w(x − guess) of every row; also the guess, and what it is off the mean.

        The guess is the mean to the precision of the rows: where they are far from zero, that is off by some digits.
        """
        single = rows.dtype == np.float32 and not exact
        dtype = np.float32 if single else np.float64
        if self.room.dtype != dtype or self.room.shape[0] < len(rows):
            self.room = np.empty((len(rows), self.width), dtype=dtype)
        root = np.ones(len(rows), dtype=dtype) if root is None else root.astype(dtype)
        guess = (root**2 @ rows / dtype(weight)).astype(dtype)
        Y = np.subtract(rows, guess, out=self.room[: len(rows)], dtype=dtype)
        if weight != len(rows) or (root != 1).any():
            Y *= root[:, None]
        return Y, guess.astype(np.float64), weighted_sum(root, Y) / weight

    @abstractmethod
    def _add(self, Y: Array, root: Array | None, weight: float, left: Array, threads: int) -> Array:
        """Take in YᵀY − weight·left·leftᵀ; returns the diagonal of YᵀY."""

    @abstractmethod
    def _add_row(self, row: Array) -> None:
        """Take in row·rowᵀ."""

    @abstractmethod
    def _add_sparse(self, X: Matrix, mean: Array, squares: Array) -> None:
        """Take in XᵀX − mean·meanᵀ, the diagonal of which is known better."""

    @abstractmethod
    def _merge(self, other: Self) -> None:
        """Take in what another one keeps."""

    @abstractmethod
    def _scale(self, factor: float) -> None:
        """Multiply S."""

    def _change_unit(self, factor: float) -> None:
        """Multiply S by the square of a power of two, which need not be a number."""
        self._scale(factor)
        self._scale(factor)

    @property
    @abstractmethod
    def squares(self) -> Array:
        """The diagonal of S (d,): every column's sum of squares around its mean."""


def _weight_of(rows: Matrix, weights: Array | None) -> tuple[float, float]:
    """Σw, and how far off it can be, relative to it: whole rows are counted."""
    if weights is None:
        return float(rows.shape[0]), 0.0
    return float(weighted_sum(np.ones(len(weights)), weights[:, None])[0]), gamma(sum_chain(len(weights)))


def _cross_alone(a: Array, b: Array) -> Array:
    """What a column is off by if a² was subtracted from its squares and a is off by b."""
    return 2 * a * b + b**2
