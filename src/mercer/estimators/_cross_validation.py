"""The number of components of probabilistic PCA under which held-out rows are most likely, from one pass."""

from functools import reduce
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mercer.budget import Budget, format_bytes
from mercer.data.dataset import Dataset
from mercer.data.validation import raise_nonfinite
from mercer.errors import DataError, MemoryLimitError, Remedy
from mercer.estimators._linear_solve import OVERFLOW
from mercer.linalg.scatter import ScatterMatrix, merged
from mercer.numerics.blocking import block_rows
from mercer.numerics.rounding import power_of_two
from mercer.numerics.threads import blas_threads, threads_for

_FOLDS = 5
_NO_VARIANCE = 1e-12  # of the largest variance: smaller ones are zero


def cross_validate(
    data: Dataset, weights: NDArray | None, standardize: bool, budget: Budget, rng: np.random.Generator
) -> int:
    """The number of components with the largest likelihood of held-out rows, at least 1, from one pass."""
    d = data.shape[1]
    needed = 8 * (4 * _FOLDS + 4) * d * d
    if needed > budget.memory:
        raise MemoryLimitError(
            f'n_components="cv" needs {format_bytes(needed)}, but the limit is {format_bytes(budget.memory)}.',
            needed=needed,
            limit=budget.memory,
            remedies=(Remedy("n_components", min(10, *data.shape)),),
        )
    first = _dense(next(iter(data.blocks(block_rows(d)))))
    with np.errstate(over="ignore", invalid="ignore"), blas_threads(threads_for(data.shape[0] * d * d, budget.threads)):
        unit = float(power_of_two(np.abs(first - first[0]).max()))
        seed = int(rng.integers(2**32))
        folds = data.reduce(_accumulate_folds, seed, unit, weights=weights, combine=_merge_folds)
        if not all(fold.is_finite for fold in folds):
            raise_nonfinite(data)
            raise DataError(OVERFLOW)
        folds = [fold for fold in folds if fold.total_weight > 0]
        if len(folds) < 2:
            return 1  # all rows are equal
        scale = reduce(merged, folds).standard_deviations if standardize else np.ones(d)
        total = np.zeros(d)
        for fold in folds:
            seen = reduce(merged, [other for other in folds if other is not fold])
            total += fold.total_weight * held_out_likelihood(seen, fold, scale)
    return max(1, int(np.argmax(total)))


def fold_of(rows: NDArray, seed: int) -> NDArray:
    """The fold of each row, equal for equal rows, so that no duplicate of a held-out row is seen."""
    return np.array([crc32(row.tobytes(), seed) % _FOLDS for row in rows + 0.0])  # −0 is 0


def _accumulate_folds(
    data: Dataset, weights: NDArray | None, seed: int, unit: float, progress: Any = None
) -> list[ScatterMatrix]:
    folds, start = [ScatterMatrix(data.shape[1]) for _ in range(_FOLDS)], 0
    for block in data.blocks(block_rows(data.shape[1])):
        rows = _dense(block).astype(np.float64, copy=False)
        w = np.ones(len(rows)) if weights is None else weights[start : start + len(rows)]
        home = np.where(w > 0, fold_of(rows, seed), -1)
        for i, fold in enumerate(folds):
            mine = home == i
            if mine.any():
                fold.add(rows[mine] / unit, None if weights is None else w[mine])
        start += len(rows)
    return folds


def _merge_folds(left: list[Any], right: list[Any]) -> list[Any]:
    return [merged(one, other) for one, other in zip(left, right, strict=True)]


def held_out_likelihood(seen: ScatterMatrix, held_out: ScatterMatrix, scale: NDArray) -> NDArray:
    """Mean log-likelihood of held-out rows for k = 0, …, d − 1; −∞ where a direction has no variance.

    −½[d log 2π + Σ_{i≤k}(log λᵢ + aᵢ/λᵢ) + (d − k) log v + (a − Σ_{i≤k} aᵢ)/v], with aᵢ the mean squares along the axes
    of the seen rows, a their sum, and v the mean of the d − k variances that are not kept.
    """
    d = len(scale)
    values, axes = np.linalg.eigh(seen.matrix(scale) / seen.total_weight)
    values, axes = np.maximum(values[::-1], 0.0), axes[:, ::-1]
    most = min(d, int(np.sum(values > _NO_VARIANCE * values[0])) + 1)
    along = np.einsum("ji,ji->i", axes, held_out.matrix(scale) @ axes) / held_out.total_weight
    along += ((held_out.mean - seen.mean) / scale @ axes) ** 2
    k = np.arange(most)
    rest = (values.sum() - np.append(0.0, np.cumsum(values))[:most]) / (d - k)
    outside = along.sum() - np.append(0.0, np.cumsum(along))[:most]
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = np.append(0.0, np.cumsum(np.log(values) + along / values))[:most]
        found = -(d * np.log(2 * np.pi) + inside + (d - k) * np.log(rest) + outside / rest) / 2
    found = np.where(np.isfinite(found) & (rest > _NO_VARIANCE * max(values[0], 1e-300)), found, -np.inf)
    return np.append(found, np.full(d - most, -np.inf))


def _dense(block: Any) -> NDArray:
    return block.toarray() if sparse.issparse(block) else block
