"""The base class of models that hold all rows in memory and are fitted by gradients: GPLVM and Autoencoder."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from mercer.data.conversion import check_numbers
from mercer.data.dataset import Dataset
from mercer.errors import DataError, ParameterError
from mercer.estimators._base import Estimator, fit_method
from mercer.numerics.rounding import TINY, UNIT, power_of_two
from mercer.planning.plan import check_memory
from mercer.storable import storable

_TOO_FAR = "The rows are so large that their differences overflow. Scale them down."


@storable
@dataclass(frozen=True)
class LBFGS:
    """The solver of a plan that minimizes a function of the rows."""

    description = "L-BFGS"


@storable
@dataclass(frozen=True, eq=False)
class StandardizedRows:
    """y = (x − mean)/scale. The scale is the same for all columns, or the standard deviation of each."""

    mean: NDArray
    scale: NDArray

    @classmethod
    def fit(cls, rows: NDArray, standardize: bool) -> Self:
        """Mean and size of the rows; constant columns have the size 1."""
        unit = power_of_two(np.abs(rows).max(initial=0.0))
        mean = (rows / unit).mean(axis=0) * unit
        with np.errstate(over="ignore", invalid="ignore"):
            moved = rows - mean
            unit = power_of_two(np.abs(moved).max(initial=0.0))
            moved /= unit
        if not np.isfinite(moved).all():
            raise DataError(_TOO_FAR)
        off = moved.mean(axis=0)  # rounding of a mean that is large next to the spread of other columns
        mean += off * unit
        moved -= off
        squares = np.einsum("ij,ij->j", moved, moved) / len(rows)
        squares[squares <= (8 * UNIT * np.abs(mean) / unit) ** 2] = 0.0  # equal numbers and their rounded mean
        if not squares.any():
            raise DataError("All rows of X are equal, at least to rounding: there is nothing to fit.")
        sizes = np.sqrt(squares if standardize else np.full(len(squares), squares.mean())) * unit
        return cls(mean, np.where(sizes > 0, sizes, 1.0))

    @property
    def variance(self) -> float:
        """Square of the common scale."""
        with np.errstate(over="ignore", under="ignore"):
            square = float(np.square(self.scale[0]))
        if not TINY <= square < np.inf:
            raise DataError(f"The variance of rows of size {self.scale[0]:.1g} is out of range. Use another unit.")
        return square

    def transform(self, rows: Any) -> NDArray:
        """y of rows, dense."""
        rows = rows.toarray() if sparse.issparse(rows) else rows
        with np.errstate(over="ignore", invalid="ignore"):
            moved = np.asarray((rows - self.mean) / self.scale)
        if not np.isfinite(moved).all():
            raise DataError(_TOO_FAR)
        return moved

    def inverse_transform(self, moved: NDArray) -> NDArray:
        """x of y."""
        return moved * self.scale + self.mean


class InMemoryEstimator(Estimator):
    """A model of standardized rows. `_fit` of a subclass starts with `_training_rows`."""

    n_components: int
    n_components_: int
    standardize: bool
    _rows: StandardizedRows

    def _encode(self, Y: NDArray, n_threads: int) -> NDArray:
        """Scores of standardized rows."""
        raise NotImplementedError

    def _decode(self, scores: NDArray) -> NDArray:
        """Standardized rows of scores."""
        raise NotImplementedError

    @fit_method
    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the model with X.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Dataset} of shape (n_samples, n_features)
            Training data, or a file. All rows are held in memory, dense.
        y : Ignored
            Present for API consistency.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._fit(self._open(X, reset=True), None)
        return self

    def inverse_transform(self, X: Any) -> NDArray:
        """Return the rows that the model expects for some scores.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Scores.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features)
            Rows in the units of the training rows.
        """
        check_is_fitted(self)
        check_numbers(X, "X")
        scores = check_array(X, input_name="X", dtype=np.float64)
        if scores.shape[1] != self.n_components_:
            expected = f"but inverse_transform expects {self.n_components_}: one per component."
            raise DataError(f"X has {scores.shape[1]} features, {expected}")
        return self._rows.inverse_transform(self._decode(scores))

    def _training_rows(self, data: Dataset, sample_weight: Any) -> NDArray:
        """The rows of a fit, standardized; sets `plan_` and the sizes."""
        name, (n, d), k = type(self).__name__, data.shape, int(self.n_components)
        if sample_weight is not None:
            message = f"{name} does not support sample_weight."
            raise ParameterError("sample_weight", "given", "None", message=message)
        if n < 2:
            raise DataError(f"{name} needs at least two rows, but X has n_samples = {n}.")
        if k > d or k >= n:
            requirement = f"at most n_features = {d} and less than n_samples = {n}"
            raise ParameterError("n_components", k, requirement)
        self.plan_ = check_memory(self._plan(data, None), self.resources())
        rows = data.load()
        rows = np.asarray(rows.toarray() if sparse.issparse(rows) else rows, dtype=np.float64)
        self._rows, self.n_samples_, self.n_components_ = StandardizedRows.fit(rows, self.standardize), n, k
        return self._rows.transform(rows)

    def _scores(self, rows: Any, n_threads: int) -> NDArray:
        with np.errstate(over="ignore", invalid="ignore"):  # scores that overflow are reported with their row
            return self._encode(self._rows.transform(rows), n_threads)

    @property
    def _n_features_out(self) -> int:
        check_is_fitted(self)
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
