"""Scores of all rows by the components of all but one fold, for every fold: subspaces warm-started from each other."""

from dataclasses import dataclass, field

import numpy as np

from mercer_old.arrays import Array
from mercer_old.operators.centering import Centered
from mercer_old.operators.held import HeldMatrix
from mercer_old.readings.tuning.criteria import effective_rank
from mercer_old.solvers.dense import leading_eigenpairs
from mercer_old.solvers.krylov import GUARD, BlockKrylov

__all__ = ["FoldScores", "cut_into_folds"]

_MOST_PASSES = 8  # of one fold: from a warm start, more tell apart what the criterion cannot
_FEW = 300  # rows up to which LAPACK finds some eigenpairs as fast as products do
_NOTHING = 1e-10  # of the largest eigenvalue: components below are rounding


def cut_into_folds(groups: Array, folds: int, rng: np.random.Generator, classes: Array | None = None) -> Array:
    """The fold of every row by chance: equal rows (of one group) in the same, as even as can be, in every class."""
    _, first, group = np.unique(groups, return_index=True, return_inverse=True)
    order = rng.permutation(len(first))
    if classes is not None:
        order = order[np.argsort(np.unique(classes, return_inverse=True)[1].ravel()[first][order], kind="stable")]
    fold = np.empty(len(first), dtype=int)
    fold[order] = np.arange(len(first)) % folds
    return fold[group.ravel()]


@dataclass
class FoldScores:
    """Kernel PCA without each of the folds, on one matrix after the other.

    A fold that is left out is a row weight of zero, so no part of the matrix is copied. The scores of one fold, for all
    rows, are where the search for the next one starts, and those of one matrix for the next.
    """

    fold: Array
    k: int
    rng: np.random.Generator
    tol: float = 1e-3  # residuals, relative to the eigenvalue: what is left of another fold's start is less than that
    threads: int = 1
    products: int = 0  # with the whole matrix
    start: Array | None = field(default=None, repr=False)

    def effective_rank(self, K: Array) -> float:
        matrix = Centered(HeldMatrix(K, self.threads))
        self.products += 1
        squares = matrix.squared_norm(matrix.trace) if matrix.trace > 0 else None
        return 0.0 if squares is None else effective_rank(squares[0])

    def of(self, K: Array) -> list[Array]:
        """The scores (n×k) of all rows by the components of all but one fold, for every fold."""
        held = HeldMatrix(K, self.threads)
        return [self._without(held, number) for number in range(int(self.fold.max()) + 1)]

    def _without(self, held: HeldMatrix, number: int) -> Array:
        matrix = Centered(held, (self.fold != number).astype(np.float64))
        values, vectors = self._leading(matrix)
        values = np.where(values > _NOTHING * max(float(values[0]), 0.0), values, 0.0)
        alpha, offset = matrix.dual(values, vectors)
        scores = np.asarray(held.matmat(alpha) - offset)
        self.products += 1
        self.start = scores if (values > 0).any() else None
        return scores

    def _leading(self, matrix: Centered) -> tuple[Array, Array]:
        k = min(self.k, matrix.n)
        if matrix.n <= _FEW:
            self.products += 1
            values, vectors = leading_eigenpairs(matrix.dense(), k)
            return values[:k], vectors[:, :k]
        start = None if self.start is None else matrix.scale_rows(self.start)
        solver = BlockKrylov(self.tol, k + GUARD, _MOST_PASSES, self.threads)
        found = solver.solve(matrix, k, self.rng, start)
        self.products += found.passes
        return found.values, found.vectors
