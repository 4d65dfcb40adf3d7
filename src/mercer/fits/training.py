"""The rows a model learns from: checked, weighted, and without those that do not count."""

from dataclasses import dataclass, replace
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import assert_all_finite, check_non_negative, validate_data

from mercer.arrays import Array, is_foreign, to_numpy
from mercer.errors import tell
from mercer.inputs import about_steps, table, told_where
from mercer.readings.columns import about_row_numbers
from mercer.sources.files import open_rows
from mercer.sources.rows import MappedRows, RowSource, copies_of

EXTREME = 1e-290, 1e290  # of weights: beyond them sums, or one over them, are no numbers


@dataclass(frozen=True)
class Training:
    """The rows of positive weight, and the way back to the rows as they were given."""

    rows: Any
    weights: Array | None = None  # None: all count the same
    kept: Array | None = None  # which of the given rows are left; None: all
    given: Any = None  # all of them, if some were left out
    own: bool = True  # whether the rows are an array of ours
    scale: Array | None = None  # that their columns were divided by
    notes: tuple[str, ...] = ()  # what a user should be told about them

    @property
    def count(self) -> int:
        """How many rows there are that count."""
        return self.rows.shape[0] if self.weights is None else int(np.sum(self.weights > 0))

    @property
    def copies(self) -> int:
        """How many rows there would be if those of weight two came twice; rows of other weights are counted."""
        return self.count if self.weights is None else copies_of(self.weights, self.count)

    def kept_rows(self, copy: bool) -> Any:
        """The rows for a model to keep, in an array that nobody else will change if `copy`."""
        return self.rows.copy() if copy and not self.own else self.rows

    @property
    def all_rows(self) -> Any:
        """The rows as they were given."""
        return self.rows if self.given is None else self.given

    def in_memory(self) -> "Training":
        """The same with all rows in an array, which is read from a file if need be."""
        if not isinstance(self.rows, RowSource):
            return self
        if self.weights is None or self.weights.all():
            return replace(self, rows=self.rows.load(), own=True)
        kept = self.weights > 0
        return replace(
            self, rows=self.rows.load(kept), weights=self.weights[kept], kept=kept, given=self.rows, own=True
        )


def check_rows(
    model: BaseEstimator,
    X: Any,
    *,
    reset: bool,
    square: bool = False,
    matrix: str = "kernel",
    mapped: bool = False,
    finite: bool = True,
) -> Any:
    """X in a form we compute with, by scikit-learn's rules; a matrix of items may be a scipy LinearOperator.

    A file is opened and looked over, and read later; a memory-mapped array too, if `mapped`. Who sums up the rows
    anyway sees what is not finite, and need not have it looked for (`finite`).
    """
    X = to_numpy(X) if is_foreign(X) else X
    if mapped and isinstance(X, np.memmap) and X.ndim == 2 and X.dtype.kind in "fiub" and all(X.shape):
        X = MappedRows(X)
    if isinstance(X, (Path, RowSource)):
        return check_source(model, X, reset=reset, square=matrix if square else "")
    if square and isinstance(X, LinearOperator):
        if np.issubdtype(X.dtype, np.complexfloating):
            raise ValueError("Complex data not supported: the LinearOperator has complex entries.")
        if reset:
            model.n_features_in_ = X.shape[1]
        elif X.shape[1] != model.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} features, but {type(model).__name__} is expecting {model.n_features_in_} features "
                "as input: one for each training item."
            )
    else:
        X = table(X)
        with told_where(X):
            X = numbers(validate_data(model, X, accept_sparse="csr", reset=reset, ensure_all_finite=finite))
        if reset and not square and (steps := about_steps(X)):
            tell(steps)
    if reset and not square:
        tell_of_row_numbers(model, X)
    if reset and square and X.shape[0] != X.shape[1]:
        raise ValueError(f"Precomputed {matrix} must be a square matrix. Input is a {X.shape[0]}x{X.shape[1]} matrix.")
    return X


def check_source(model: BaseEstimator, X: Path | RowSource, *, reset: bool, square: str) -> RowSource:
    """The rows of a file, with its columns held against those of the fit."""
    rows = X if isinstance(X, RowSource) else open_rows(X)
    if square:
        raise ValueError(f"{rows.label}: a precomputed {square} matrix is read with numpy.load, not given as a file.")
    names = None if rows.names is None else np.array(rows.names, dtype=object)
    name = type(model).__name__
    if reset:
        model.n_features_in_ = rows.shape[1]
        model.__dict__.pop("feature_names_in_", None)
        if names is not None:
            model.feature_names_in_ = names
        tell_of_row_numbers(model, rows)
        return rows
    if rows.shape[1] != model.n_features_in_:
        raise ValueError(
            f"{rows.label} has {rows.shape[1]} features, but {name} is expecting {model.n_features_in_} features as "
            "input."
        )
    known = getattr(model, "feature_names_in_", None)
    if known is not None and names is not None and list(known) != list(names):
        first = next(i for i in range(len(names)) if known[i] != names[i])
        raise ValueError(
            "The feature names should match those that were passed during fit: column "
            f"{first} of {rows.label} is {names[first]!r}, and {known[first]!r} was there."
        )
    return rows


def tell_of_row_numbers(model: BaseEstimator, rows: Any) -> None:
    """An index that became a column is taken for a feature silently, if nobody says so."""
    for message in about_row_numbers(rows, getattr(model, "feature_names_in_", None)):
        tell(message)


def numbers(rows: Any) -> Any:
    """Rows as scikit-learn left them, as numbers, with one entry for every cell."""
    if sparse.issparse(rows) and not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    if rows.dtype != object:
        return rows
    rows = rows.astype(np.float64)  # of a table with text or gaps, scikit-learn leaves a table of objects
    assert_all_finite(rows, input_name="X")
    return rows


def check_weights(sample_weight: Any, n: int) -> Array:
    """One number for each of n rows, none below zero and not all of them zero; in scikit-learn's words."""
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n, sample_weight, dtype=np.float64)
    given = table(to_numpy(sample_weight) if is_foreign(sample_weight) else sample_weight, "sample_weight")
    with told_where(given, "sample_weight"):
        weights: Array = check_array(given, ensure_2d=False, dtype=np.float64, order="C", input_name="sample_weight")
    if weights.ndim != 1:
        raise ValueError(
            f"Sample weights must be 1D array or scalar, got {weights.ndim}D array: one number for each of {n:,} rows."
        )
    if weights.shape != (n,):
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(n,)}!")
    if not weights.any():
        raise ValueError("Sample weights must contain at least one non-zero number; no row is left to fit.")
    check_non_negative(weights, "`sample_weight`")
    refuse_extreme(weights)
    return weights


def refuse_extreme(weights: Array) -> None:
    """Weights whose sums or roots are no numbers with all their digits."""
    least, most = float(weights[weights > 0].min()), float(weights.max())
    if not EXTREME[0] < least <= most < EXTREME[1]:
        raise ValueError(
            f"Sample weights from {least:.3g} to {most:.3g} are too far from 1 to be added up: scale them. (Only "
            "explained_variance_ depends on their scale; 2 is the row twice.)"
        )


def weigh(X: Any, sample_weight: Any, *, square: bool) -> Training:
    """Rows of weight zero are left out; of a square matrix of items, their columns too."""
    if sample_weight is None:
        return Training(X, own=False)
    weights = check_weights(sample_weight, X.shape[0])
    if isinstance(X, RowSource):
        return Training(X, weights)
    kept = weights > 0
    if kept.all():
        return Training(X, weights, own=False)
    if isinstance(X, LinearOperator):
        raise ValueError(
            f"{np.sum(~kept)} of {len(kept)} sample weights are zero, and rows cannot be taken out of a "
            "LinearOperator; give the operator of the items that count."
        )
    return Training(X[kept][:, kept] if square else X[kept], weights[kept], kept, X)
