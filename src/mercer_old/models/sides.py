"""The two sides of a new row, for any fitted model: inside the space of the kept components, and outside of it."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer_old.arrays import Array, dense, to_numpy
from mercer_old.blocks import THREAD_ROWS, cut
from mercer_old.errors import BadData
from mercer_old.fits.gaps.reading import Reading
from mercer_old.fits.kernel.opening import is_precomputed
from mercer_old.kernels.check import refuse_non_finite
from mercer_old.models.kernel_model import KernelModel
from mercer_old.models.linear import LinearModel
from mercer_old.models.with_gaps import FillsGaps
from mercer_old.readings.novelty import (
    hotelling_t2,
    monitoring_index,
    rounding_of_residuals,
    rounding_of_t2,
    share_of_rounding,
    squared_residuals,
    sum_of_projections,
    t2_contributions,
    variance_left,
    with_variance,
)
from mercer_old.spaces.points import Points
from mercer_old.sums import row_squares
from mercer_old.sweeps.factors import Factors
from mercer_old.threads import run

__all__ = ["Sides", "sides_of", "variances_of"]

_EQUAL = 1e-9  # numbers that differ by this share are the same but for rounding
_MOST = np.finfo(float).max  # farther than squares reach is as far as can be
Explain = Callable[[Any, int], Array]  # contributions of the columns of some rows, on so many threads


@dataclass(frozen=True, eq=False)
class Sides(ABC):
    """Scores y inside, Q outside, and what variance there is on either side; rows are as the model sees them."""

    variances: Array  # along the components
    rest: float  # outside of them
    leaves: bool  # whether that is more than rounding

    @abstractmethod
    def inside(self, rows: Any, threads: int) -> Array:
        """The scores of some rows in memory, of components that vary."""

    @abstractmethod
    def both(self, rows: Any, threads: int) -> tuple[Array, Array]:
        """The same, and Q."""

    @abstractmethod
    def functions(self, rows: Any, threads: int) -> Array:
        """The uncentred component functions."""

    @abstractmethod
    def explainer(self, statistic: str, threshold: float) -> Explain:
        """What tells the contributions of columns to this statistic, of which usual rows have up to a threshold."""

    def statistics(self, rows: Any, threads: int) -> Array:
        """T² and Q."""
        scores, q = self.both(rows, threads)
        return np.column_stack([hotelling_t2(scores, self.variances), q])

    def novelty(self, statistic: str, rows: Any, threads: int) -> Array:
        """The statistic of this name, the higher the more novel."""
        if statistic == "lecture":
            return -sum_of_projections(self.functions(rows, threads))
        if statistic == "t2":
            return hotelling_t2(self.inside(rows, threads), self.variances)
        t2, q = self.statistics(rows, threads).T
        return q if statistic == "reconstruction" else self.index(t2, q)

    @abstractmethod
    def rounding(self, statistic: str, rows: Any, threads: int) -> Array:
        """How far the statistic of every row may be off, or differ beside other rows."""

    def doubt(self, statistic: str) -> str:
        """What a user should know of this statistic of this model; mostly nothing."""
        if statistic != "reconstruction" or self.leaves:
            return ""
        return (
            "The components leave nothing of the rows of the fit, so that the reconstruction error of rows like them "
            'is rounding: keep fewer components, or take statistic="t2".'
        )

    def index(self, t2: Array, q: Array) -> Array:
        return monitoring_index(t2, q, int(np.sum(self.variances > 0)), self.rest)


def sides_of(model: Any) -> Sides:
    """Those of a fitted model."""
    return _of_axes(model) if isinstance(model, LinearModel) else _of_kernel(model)


def variances_of(model: KernelModel | LinearModel) -> Array:
    """Along the components, in double precision; somebody may have cut one array and not the other."""
    variances, k = to_numpy(model.explained_variance_).astype(np.float64), model._n_features_out
    if len(variances) != k:
        others = "components_" if isinstance(model, LinearModel) else "eigenvalues_"
        raise BadData(f"There are {k} {others} and {len(variances)} entries of explained_variance_: set both names.")
    return variances


# ---------------------------------------------------------------------- PCA


def _of_axes(model: LinearModel) -> "_ByAxes":
    variances, axes = variances_of(model), model._number("components_")
    how_well = model.n_features_in_, to_numpy(model.explained_variance_).dtype
    there = with_variance(variances, *how_well)
    rest, leaves = variance_left(float(model.total_variance_), variances[there], *how_well)
    factors = model._factors() if isinstance(model, FillsGaps) else None
    return _ByAxes(variances[there], rest, leaves, axes[there], model._mean(), model._scales(), factors)


@dataclass(frozen=True, eq=False)
class _ByAxes(Sides):
    """Of z = (x − mean)/scale: y along the axes, and Q = ‖z − Wᵀy‖², in which nothing cancels.

    Numbers that are missing are what factors say of them, where a model has any.
    """

    axes: Array
    mean: Array
    scale: Array
    factors: Factors | None = None

    def inside(self, rows: Any, threads: int) -> Array:
        return self.both(rows, threads)[0]

    def both(self, rows: Any, threads: int) -> tuple[Array, Array]:
        scores, q = np.empty((rows.shape[0], len(self.axes))), np.empty(rows.shape[0])

        def work(some: slice) -> None:
            moved, scores[some], left = self._apart(rows[some])
            squares, unsure = row_squares(left), share_of_rounding(len(self.mean)) ** 2 * row_squares(moved)
            q[some] = np.where(squares <= np.minimum(unsure, _MOST), 0.0, squares)

        with np.errstate(over="ignore", invalid="ignore"):
            run(work, cut(rows.shape[0], THREAD_ROWS), threads)
        return np.nan_to_num(scores, nan=_MOST), np.nan_to_num(q, nan=_MOST)

    def rounding(self, statistic: str, rows: Any, threads: int) -> Array:
        """A sum of products is off by roundings of ‖z‖, and so is every entry of z − Wᵀy."""
        scores, q = self.both(rows, threads)
        with np.errstate(over="ignore"):
            off = share_of_rounding(len(self.mean)) * np.sqrt(row_squares(scores) + q)
        t2 = rounding_of_t2(scores, self.variances, np.broadcast_to(off[:, None], scores.shape))
        if statistic == "t2":
            return t2
        q = rounding_of_residuals(np.sqrt(q)[:, None], off[:, None], np.zeros_like(off))
        return q if statistic == "reconstruction" else self.index(t2, q)

    def functions(self, rows: Any, threads: int) -> Array:
        raise ValueError(
            'statistic="lecture" is for KernelPCA: F is low away from the data only if the kernel is local, and '
            "PCA has none."
        )

    def explainer(self, statistic: str, threshold: float) -> Explain:
        def explain(rows: Any, threads: int) -> Array:
            with np.errstate(over="ignore", invalid="ignore"):
                return np.nan_to_num(self._explained(statistic, rows), nan=_MOST)

        return explain

    def _explained(self, statistic: str, rows: Any) -> Array:
        moved, scores, left = self._apart(rows)
        if statistic == "reconstruction":
            return np.asarray(left**2)
        t2 = t2_contributions(moved, scores, self.axes, self.variances)
        return t2 if statistic == "t2" else self.index(t2, left**2)

    def _apart(self, rows: Any) -> tuple[Array, Array, Array]:
        """Rows from the mean, their scores, and what is left."""
        moved = (dense(rows, np.float64) - self.mean) / self.scale
        if self.factors is not None and (gaps := np.isnan(moved)).any():
            moved = np.where(gaps, Reading.of(self.factors, moved).told(), moved)
        scores = moved @ self.axes.T
        return moved, scores, moved - scores @ self.axes


# ---------------------------------------------------------------------- kernel PCA


def _of_kernel(model: KernelModel) -> "_ByKernel":
    variances = variances_of(model)
    rest, leaves = variance_left(float(model.total_variance_), variances)
    return _ByKernel(np.where(with_variance(variances), variances, 0.0), rest, leaves, model)


@dataclass(frozen=True, eq=False)
class _ByKernel(Sides):
    """In the space of the features: Q = ‖φ(x) − mean‖² − Σ yᵢ²."""

    model: KernelModel

    def inside(self, rows: Any, threads: int) -> Array:
        return self._finite(self.model._projection.now(self.model).scores(rows, threads))

    def both(self, rows: Any, threads: int) -> tuple[Array, Array]:
        scores, lengths = self.model._projection.now(self.model).scores_and_lengths(rows, threads)
        return self._finite(scores), squared_residuals(lengths, scores)

    def functions(self, rows: Any, threads: int) -> Array:
        return self._finite(self.model._projection.now(self.model).functions(rows, threads))

    def rounding(self, statistic: str, rows: Any, threads: int) -> Array:
        off, lengths_off = self.model._projection.now(self.model).rounding(rows, threads)
        if statistic == "lecture":
            return off.sum(axis=1)
        scores = self.inside(rows, threads)
        t2 = rounding_of_t2(scores, self.variances, off)
        if statistic == "t2":
            return t2
        q = rounding_of_residuals(scores, off, lengths_off)
        return q if statistic == "reconstruction" else self.index(t2, q)

    def doubt(self, statistic: str) -> str:
        """F is low away from the data only if every φ(x) is equally long: then none has more to project than others."""
        if np.isnan(to_numpy(self.model.explained_variance_ratio_)).any() and statistic in ("reconstruction", "t2q"):
            return (
                "The kernel is not positive semi-definite, so that no distance from the space of the components has a "
                'meaning, nor has Q: take statistic="t2", or another kernel.'
            )
        if statistic != "lecture" or is_precomputed(self.model):
            return super().doubt(statistic)
        own = np.asarray(self.model.kernel_.diag(self.model._known_items()[0]))
        if np.ptp(own) <= _EQUAL * np.abs(own).max(initial=0.0):
            return ""
        return (
            f"k(x, x) of the rows of the fit is between {own.min():.3g} and {own.max():.3g}: F, which is low away from "
            "the data by a kernel like rbf, grows with it, and low values need not be novel."
        )

    def _finite(self, values: Array) -> Array:
        refuse_non_finite(values, self.model.kernel_)
        return values

    def explainer(self, statistic: str, threshold: float) -> Explain:
        """By replacing one column after the other by that of the nearest usual row that the model keeps."""
        model = self.model
        if model.kernel_.takes != "rows" or is_precomputed(model):
            what = "items by a matrix" if is_precomputed(model) else model.kernel_.takes
            raise BadData(f"Contributions are those of columns of numbers, and this model compares {what}.")
        known = dense(model._known_items()[0], np.float64)
        usual = self.novelty(statistic, known, 1) <= threshold
        known = known[usual] if usual.any() else known
        space = Points.of(known)

        def explain(rows: Any, threads: int) -> Array:
            rows = dense(rows, np.float64)
            nearest = space.nearest_to(space.prepare(rows), 1, threads).indices[:, 0]
            references = known[nearest]
            out, whole = np.empty(rows.shape), self.novelty(statistic, rows, threads)
            for j in range(rows.shape[1]):
                replaced = rows.copy()
                replaced[:, j] = references[:, j]
                out[:, j] = whole - self.novelty(statistic, replaced, threads)
            return out

        return explain
