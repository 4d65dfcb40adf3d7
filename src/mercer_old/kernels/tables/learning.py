"""What a fit learns of a column: its parameters, and its variance in feature space."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from mercer_old.arrays import Array
from mercer_old.errors import BadData, listed
from mercer_old.kernels.tables.base import Column
from mercer_old.kernels.tables.parts import Part
from mercer_old.kernels.tables.things import Text
from mercer_old.sources.cells import present
from mercer_old.sources.frames import Columns

__all__ = ["about_constant", "cells_of", "learned_column"]

_SAMPLE = 2000  # rows from which the variance of a kernel without exact features is taken
_NOTHING = 1e-13  # of a mean square: a variance that is rounding


def cells_of(X: Columns, name: Any, label: str = "X") -> Any:
    if name not in X.cells:
        raise BadData(f"{label} has no column {name!r}; it has {listed(map(repr, X.names), 20)}.")
    return X.cells[name]


def learned_column(
    kind: Column, name: Any, X: Columns, weights: Array, rng: np.random.Generator
) -> tuple[Column, float]:
    """A column with numbers in it, and its variance in feature space."""
    cells = cells_of(X, name)
    kind.check(cells, name, "X")
    if not present(cells).any():
        raise BadData(f"Column {name!r} has no value in any of the {len(X):,} rows: leave it out.")
    kind = kind.learned(cells, weights, name)
    rows = kind.rows(cells)
    kind = kind.resolved(rows, rng)
    there = kind.there(cells)
    part = Part(kind.compared_by, 1.0, rows, None if there.all() else ~there, 0)
    return kind, _variance(part, weights, rng)


def about_constant(variances: Mapping[Any, float], columns: Mapping[Any, Column]) -> list[str]:
    """Columns that say nothing: those of equal cells, and texts that have nothing in common with any, or all."""
    nothing = [name for name, variance in variances.items() if variance == 0]
    texts = [name for name in nothing if isinstance(columns[name], Text)]
    said = [
        f"All texts of column {name!r} look the same to {columns[name].compared_by!r}, so that it counts for nothing: "
        "they are equal, or too short. Category() compares whole texts."
        for name in texts
    ]
    return said + _about_equal([name for name in nothing if name not in texts])


def _about_equal(same: list[Any]) -> list[str]:
    if not same:
        return []
    names, one = listed(map(repr, same)), len(same) == 1
    what = f"Column {names} is" if one else f"Columns {names} are"
    return [f"{what} the same in all rows, and count{'s' * one} for nothing."]


def _variance(part: Part, weights: Array, rng: np.random.Generator) -> float:
    """Σw(k(x, x) − mean k)/Σw: by exact features if there are some, else from a sample of rows."""
    shares = weights / weights.sum()
    learned = part.kernel.feature_map(part.rows)
    if learned is not None:
        features = part.features(learned)
        mean = np.asarray(features.T @ shares).ravel()
        squares = features.multiply(features).sum(axis=1) if sparse.issparse(features) else np.sum(features**2, axis=1)
        size = float(shares @ np.asarray(squares).ravel())
        spread = size - float(mean @ mean)
    else:
        n = len(shares)
        some = np.sort(rng.choice(n, size=_SAMPLE, replace=False)) if n > _SAMPLE else np.arange(n)
        K = part.kernel.block(part.rows[some], part.rows[some])
        if part.gone is not None:
            K[part.gone[some]] = 0.0
            K[:, part.gone[some]] = 0.0
        shares = shares[some] / shares[some].sum()
        size = float(shares @ np.diag(K))
        spread = size - float(shares @ K @ shares)
    return spread if spread > _NOTHING * size else 0.0
