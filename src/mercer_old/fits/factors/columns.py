"""Columns brought to mean zero and variance one, summed up for the eigenvectors that factor analysis asks for.

Its likelihood does not change with the units of columns but by a constant, so all the work is done in these units. What
is asked for again and again are the leading eigenpairs of DRD, for the matrix of correlations R and a diagonal D. With
no more columns than rows R is held; with more, the rows A themselves, R = AᵀA, and the smaller problem A D² Aᵀ.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mercer_old.arrays import Array, dense
from mercer_old.errors import BadData
from mercer_old.fits.linear.summing import OVERFLOW
from mercer_old.fits.linear.task import LinearTask
from mercer_old.fits.linear.units import find_scatter_in_range
from mercer_old.operators.held import HeldMatrix
from mercer_old.progress import OnPass
from mercer_old.rounding import TINY
from mercer_old.solvers.dense import leading_eigenpairs
from mercer_old.solvers.krylov import BlockKrylov
from mercer_old.sweeps.lanes import Maker
from mercer_old.sweeps.scatter import Scatter
from mercer_old.sweeps.spread import Spread
from mercer_old.sweeps.square import Square
from mercer_old.threads import blas_threads_for

_BY_LAPACK = 400  # columns up to which LAPACK is as fast as products from the last eigenvectors
_MANY = 10  # columns for each factor, or fewer: LAPACK again
_SMALL = "The squares of these rows are too small for numbers of 64 bits: give the rows in another unit."


class Correlations(ABC):
    """R, the correlations of columns that vary."""

    width: int

    @abstractmethod
    def leading(self, scale: Array, k: int) -> tuple[Array, Array]:
        """The k largest eigenvalues of DRD, D = diag(scale), with their vectors in columns."""

    @abstractmethod
    def unexplained(self) -> Array:
        """What the other columns leave of the variance of each, at least: 1/(R⁻¹)ⱼⱼ, or zero if R has no inverse."""


@dataclass(frozen=True)
class Columns:
    """What the rows say: of each column its mean and variance, and of those that vary the correlations."""

    count: int
    mean: Array
    variances: Array  # by the number of rows, as maximum likelihood has it
    varying: Array  # which of them vary
    correlations: Correlations = field(repr=False)

    @property
    def deviations(self) -> Array:
        """Of the columns that vary."""
        return np.sqrt(self.variances[self.varying])


def sum_up_columns(task: LinearTask, on_pass: OnPass) -> Columns:
    """One sweep over the rows, and all of them in memory if there are more columns than rows."""
    wide = task.problem.d > task.problem.n
    kind: Maker[Any] = Spread if wide else Square
    task, scatter = find_scatter_in_range(task, kind, on_pass, exact=True)
    units = np.ones(scatter.width) if task.units is None else task.units
    varying = ~scatter.constant
    with np.errstate(over="ignore", under="ignore"):  # the square of a unit need not be a number
        variances = np.where(varying, scatter.squares, 0.0) / scatter.weight * units * units
    if not np.isfinite(variances).all():
        raise BadData(OVERFLOW)
    if (variances[varying] < TINY).any():
        raise BadData(_SMALL)
    known = (_of_rows if wide else _of_square)(task, scatter, varying)
    return Columns(scatter.count, scatter.mean * units, variances, varying, known)


def _of_square(task: LinearTask, scatter: Scatter, varying: Array) -> "HeldCorrelations":
    lengths = np.sqrt(scatter.squares[varying])
    R = scatter.matrix[np.ix_(varying, varying)]  # type: ignore[attr-defined]
    R /= lengths[:, None]
    R /= lengths
    np.fill_diagonal(R, 1.0)
    return HeldCorrelations(R, task.limits.threads)


def _of_rows(task: LinearTask, scatter: Scatter, varying: Array) -> "RowCorrelations":
    A = scatter.centred(dense(task.rows.load()))[:, varying]
    A /= np.sqrt(scatter.squares[varying])
    return RowCorrelations(A)


class HeldCorrelations(Correlations):
    """R in memory; beyond a few hundred columns each search starts at the vectors that the last one has found."""

    def __init__(self, R: Array, threads: int = 1) -> None:
        self.R, self.width, self.threads = R, len(R), threads
        self.last: Array | None = None

    def leading(self, scale: Array, k: int) -> tuple[Array, Array]:
        M = self.R * scale
        M *= scale[:, None]
        if self.width <= _BY_LAPACK or _MANY * k > self.width or not k:
            return _by_lapack(M, k)
        solver = BlockKrylov(tol=1e-7, block=max(8, min(32, k)), threads=self.threads)
        start = self.last if self.last is not None and self.last.shape[1] == k else None
        pairs = solver.solve(HeldMatrix(M, self.threads), k, np.random.default_rng(0), start)
        self.last = pairs.vectors
        return pairs.values, pairs.vectors

    def unexplained(self) -> Array:
        try:
            L = np.linalg.cholesky(self.R)
        except np.linalg.LinAlgError:
            return np.zeros(self.width)
        inverse = np.linalg.solve(L, np.eye(self.width))
        return 1 / np.einsum("ij,ij->j", inverse, inverse)


class RowCorrelations(Correlations):
    """AᵀA of fewer rows than columns: DAᵀAD has the eigenvalues of AD²Aᵀ, and u = DAᵀv/√λ."""

    def __init__(self, A: Array) -> None:
        self.A, self.width = A, A.shape[1]

    def leading(self, scale: Array, k: int) -> tuple[Array, Array]:
        B = self.A * scale
        found = min(k, len(B))
        values, V = _by_lapack(B @ B.T, found)
        there = values > len(B) * np.finfo(float).eps * values.max(initial=0.0)
        values = np.where(there, values, 0.0)
        U = np.zeros((self.width, k))
        U[:, :found] = B.T @ (V / np.sqrt(np.where(there, values, 1.0)))
        return np.append(values, np.zeros(k - found)), U * np.append(there, np.zeros(k - found, dtype=bool))

    def unexplained(self) -> Array:
        return np.zeros(self.width)


def _by_lapack(M: Array, k: int) -> tuple[Array, Array]:
    if not k:
        return np.zeros(0), np.zeros((len(M), 0))
    with blas_threads_for(len(M) ** 3):
        values, vectors = leading_eigenpairs(M, k)
    return np.maximum(values[:k], 0.0), vectors[:, :k]
