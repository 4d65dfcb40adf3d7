"""The base class of all estimators: files in and out, all-or-nothing fits, the contract of a fitted model."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from functools import partial, wraps
from inspect import signature
from numbers import Integral, Real
from pathlib import Path
from types import FunctionType
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer.budget import Budget, limit_memory
from mercer.compat.array_api import (
    NUMPY,
    ArrayNamespace,
    check_namespace,
    follow_namespace,
    has_foreign,
    in_numpy,
    is_foreign,
    move_fitted,
)
from mercer.compat.optional import is_dask_collection
from mercer.compat.sklearn_private import Interval, parameter_checks
from mercer.data.dataset import ArrayDataset, Dataset, Kind
from mercer.data.validation import as_dataset
from mercer.errors import DataError, MercerWarning, ParameterError, collect_warnings, unique
from mercer.numerics.blocking import block_rows
from mercer.numerics.random_state import lazy_generator
from mercer.planning.plan import Plan
from mercer.progress import reporting
from mercer.storable import Stored
from mercer.text import counted, listed

_Method = TypeVar("_Method", bound=Callable[..., Any])

COMMON_CONSTRAINTS: dict[str, list] = {
    "random_state": ["random_state"],
    "n_jobs": [None, Integral],
    "memory_limit": [Interval(Real, 0, None, closed="neither"), str, None],
    "progress": ["boolean", callable],
}
COMMON_ATTRIBUTES = (
    Stored("n_features_in_", "count"),
    Stored("feature_names_in_", "names", "d", optional=True),
    Stored("n_samples_", "count"),
    Stored("n_components_", "count"),
    Stored("plan_", "object"),
    Stored("certificate_", "object"),
    Stored("fit_warnings_", "warnings"),
)
_FOLLOW_NAMESPACE = ("transform", "inverse_transform", "denoise", "impute", "score", "score_samples", "get_covariance",
                     "get_precision", "component_functions", "transform_to")  # fmt: skip
_LAZY = ("transform", "inverse_transform", "impute")
_WRITABLE = ("transform", "fit_transform", "inverse_transform", "denoise", "impute")


def fit_method(function: _Method) -> _Method:
    """Validate the parameters, run, and restore the previous state of the estimator if anything is raised."""

    @wraps(function)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        previous = self.__dict__.copy()
        X = args[0] if args else kwargs.get("X")
        namespace = ArrayNamespace.of(X) if is_foreign(X) else NUMPY
        try:
            self._validate_params()
            memory_limit = getattr(self, "memory_limit", None)
            limit = nullcontext() if memory_limit is None else limit_memory(memory_limit)
            with collect_warnings() as found, limit:
                if namespace is not NUMPY:
                    self._check_namespace(namespace)
                if function.__name__ == "partial_fit" and hasattr(self, "n_features_in_"):
                    namespace = check_namespace(self, X, "partial_fit")
                if has_foreign(self):
                    self.__dict__.update(vars(in_numpy(self)))
                result = function(self, *args, **kwargs)
                if namespace is not NUMPY:
                    move_fitted(self, namespace)
                    result = namespace.asarray(result)
            self.fit_warnings_ = unique([*getattr(self, "fit_warnings_", ()), *found])  # partial_fit adds
            return result
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(previous)
            raise

    return wrapper  # type: ignore[return-value]


def lazy_on_dask(method: _Method) -> _Method:
    """A method of X that returns a Dask array for a Dask collection, without computing anything."""

    @wraps(method)
    def wrapper(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        if not is_dask_collection(X):
            return method(self, X, *args, **kwargs)
        from mercer.cluster import lazy_transform

        options = signature(method).bind(self, X, *args, **kwargs).arguments
        return lazy_transform(self, X, method.__name__, **dict(list(options.items())[2:]))

    return wrapper  # type: ignore[return-value]


class Estimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A transformer with `memory_limit`, `n_jobs`, `random_state` and `progress`."""

    model_key: ClassVar[str]
    input_kind: Kind = "vectors"
    accepts_missing = False
    checks_finite_itself = False  # whether the algorithm notices values that are not finite
    fit_warnings_: tuple[MercerWarning, ...]
    accepts_integers = False  # whether the algorithm converts blocks of small integers itself
    _stored_attributes: ClassVar[tuple[Stored, ...]]
    _parameter_constraints: ClassVar[dict]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Methods return arrays of the library of the fit, and Dask arrays for Dask collections."""
        for name in _FOLLOW_NAMESPACE:
            if isinstance(method := cls.__dict__.get(name), FunctionType):
                method = follow_namespace(method)
                setattr(cls, name, lazy_on_dask(method) if name in _LAZY else method)
        super().__init_subclass__(**kwargs)

    # ------------------------------------------------------------------ a subclass writes

    def _fit(self, data: Dataset, sample_weight: Any) -> NDArray | None:
        """Set every fitted attribute; returns the training scores if the fit has them."""
        raise NotImplementedError

    def _plan(self, data: Dataset, sample_weight: Any) -> Plan:
        """The plan of `_fit`."""
        raise NotImplementedError

    def _scores(self, rows: Any, n_threads: int) -> NDArray:
        """Scores of samples in memory."""
        raise NotImplementedError

    def _block_scores(self) -> Callable[[Any, int], NDArray]:
        """The function of a block that `iter_scores` maps; a subclass may prepare something once for all blocks."""
        return self._scores

    def _score_dtype(self, data: Dataset) -> Any:
        """Type of the scores of these data."""
        return np.float64

    def _check_namespace(self, namespace: ArrayNamespace) -> None:
        """Raise an error for parameters that do not go with arrays of another library."""

    # ------------------------------------------------------------------ methods of all estimators

    @fit_method
    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> NDArray:
        """Fit the model with X and return the scores of its rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Dataset} of shape (n_samples, n_features)
            Training data.
        y : Ignored
            Present for API consistency.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, see `fit`. Rows of weight zero are transformed, but not used by the fit.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_components)
            Same as ``fit(X).transform(X)``.
        """
        data = self._open(X, reset=True)
        scores = self._fit(data, sample_weight)
        if is_dask_collection(X):
            from mercer.cluster import lazy_fit_transform

            return lazy_fit_transform(self, X, scores)
        return self._transform_data(data) if scores is None else scores

    @lazy_on_dask
    @follow_namespace
    def transform(self, X: Any) -> NDArray:
        """Return the scores of the rows of X.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Dataset} of shape (n_samples, n_features)
            New data. Files are read block by block.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_components)
            Coordinates of the rows along the components.
        """
        with limit_memory(self.memory_limit):
            return self._transform_data(self.open(X))

    @available_if(lambda self: hasattr(self, "inverse_transform"))
    @follow_namespace
    def denoise(self, X: Any) -> NDArray:
        """Return the rows of X as the model reconstructs them: ``inverse_transform(transform(X))``.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Dataset} of shape (n_samples, n_features)
            New data.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features)
            Reconstructed rows.
        """
        return self.inverse_transform(self.transform(X))

    def plan(self, X: Any, sample_weight: Any = None) -> Plan:
        """Return what ``fit(X)`` would do, without doing it.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Dataset} of shape (n_samples, n_features)
            Training data.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        plan : Plan
            Route, memory and reason.
        """
        self._validate_params()
        model = clone(self)
        return model._plan(model._open(X, reset=True, check_finite=False), sample_weight)

    @follow_namespace
    def transform_to(
        self,
        X: Any,
        path: str | Path | None,
        *,
        method: str = "transform",
        sample_weight: Any = None,
        **options: Any,
    ) -> Path | None:
        """Write the result of a method to a file, block by block.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Dataset}
            Data, or scores for ``method="inverse_transform"``.
        path : path or None
            A .npy, .npz, .csv, .tsv, .parquet, .arrow or .feather file; text files may end in .gz. For scores of an
            .h5ad file also an .h5ad file: a copy with the scores. It appears when it is complete. None: CSV on
            standard output.
        method : {"transform", "fit_transform", "inverse_transform", "denoise", "impute"}, default="transform"
            What is written, if the estimator has it.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, for ``method="fit_transform"``.
        **options
            Passed to the method.

        Returns
        -------
        path : pathlib.Path or None
            The file.
        """
        from mercer.data.writers import check_output, write_blocks

        available = [name for name in _WRITABLE if hasattr(self, name)]
        if method not in available:
            raise ParameterError("method", method, f"one of {listed(map(repr, available))}")
        target, scores = None if path is None else Path(path), None
        rows_are_written = method in ("inverse_transform", "denoise", "impute")
        unused = [*options] if not rows_are_written else [*({"return_std", "n_imputations"} & {*options})]
        if sample_weight is not None and method != "fit_transform":
            unused.append("sample_weight")
        if unused:
            raise ParameterError(unused[0], options.get(unused[0]), f"left out for method={method!r}")
        if rows_are_written and target is not None and target.suffix == ".h5ad":
            raise ParameterError("path", str(target), f"a file of rows for method={method!r}, such as .npy or .csv")
        if method == "fit_transform":
            data = clone(self)._open(X, reset=True, check_finite=False)
            prefix = type(self).__name__.lower()
            check_output(target, data, [f"{prefix}{j}" for j in range(min(data.shape))])  # before the work
            scores = self._fit_opened(data, sample_weight)
            data = self.open(data)
        elif method == "inverse_transform":
            check_is_fitted(self)
            data = self._open_scores(X)
        else:
            data = self.open(X)
        columns = self.feature_names if rows_are_written else list(self.get_feature_names_out())
        check_output(target, data, columns)
        blocks: Iterator[tuple[int, NDArray]]
        if scores is not None:
            blocks = iter([(0, scores)])
        elif not rows_are_written:
            blocks = self.iter_scores(data)
        else:
            apply = partial(_apply_to_block, getattr(self, method), method != "inverse_transform", options)
            blocks = numbered(data.map_blocks(apply, size=block_rows(data.shape[1])))
        dtype, h5ad = self._score_dtype(data), data.h5ad.with_model(self) if hasattr(data, "h5ad") else None
        with reporting(self.progress, 1, "rows written") as progress:
            write_blocks(blocks, target, columns, len(data), dtype, data.metadata, progress, h5ad)
        return target

    @fit_method
    def _fit_opened(self, data: Dataset, sample_weight: Any) -> NDArray | None:
        return self._fit(self._open(data, reset=True), sample_weight)

    def _open_scores(self, X: Any) -> Dataset:
        """Scores as a dataset: they have columns of their own."""
        return as_dataset(X, clone(self), reset=True)

    # ------------------------------------------------------------------ the contract (contract.py)

    def spectrum(self) -> Any:
        """Eigenvalues with their intervals; None if the model has none."""
        return None

    def linear_map(self) -> Any:
        """The affine map from rows to scores; None if scores are not linear."""
        return None

    def training_set(self) -> Any:
        """The training samples with their scores; None if they are not kept."""
        return None

    def project(self, rows: Any, *, rounding: bool = False) -> Any:
        """Scores and squared distances from the subspace of the components; None if scores are not projections."""
        return None

    def expansion(self) -> Any:
        """The component functions as sums over training samples; None if they are not sums of a kernel."""
        return None

    @property
    def feature_names(self) -> list[str]:
        """Names of the features, x0, x1, … if they have none."""
        names = getattr(self, "feature_names_in_", None)
        return [f"x{j}" for j in range(self.n_features_in_)] if names is None else [str(name) for name in names]

    def open(self, X: Any) -> Dataset:
        """X as a dataset, validated against the fit; files stay on disk."""
        check_is_fitted(self)
        return self._open(X, reset=False)

    def iter_scores(self, data: Dataset, *, whiten: bool | None = None) -> Iterator[tuple[int, NDArray]]:
        """The first row and the scores of each block."""
        n_threads = 1 if len(data) * data.shape[1] < 1_000_000 else self.resources().threads
        size = len(data) if data.in_memory else block_rows(data.shape[1])
        for start, scores in numbered(data.map_blocks(self._block_scores(), n_threads, size=size)):
            check_scores(scores, start)
            yield start, scores

    def resources(self) -> Budget:
        """`memory_limit` and `n_jobs` as bytes and threads."""
        return Budget.from_params(self.memory_limit, self.n_jobs)

    # ------------------------------------------------------------------ helpers of subclasses

    def _open(self, X: Any, *, reset: bool, check_finite: bool = True) -> Dataset:
        """X as a validated dataset. `reset` is for fits: it removes the fitted attributes of an earlier one."""
        check_finite = check_finite and not (reset and self.checks_finite_itself)
        if reset and hasattr(self, "n_features_in_"):
            for stored in self._stored_attributes:
                self.__dict__.pop(stored.name, None)
        if not isinstance(X, np.ndarray) and is_dask_collection(X):
            from mercer.cluster import open_collection

            X = open_collection(X, self.input_kind)
        return as_dataset(
            X,
            self,
            reset=reset,
            kind="vectors" if self.input_kind == "precomputed" else self.input_kind,
            allow_nan=self.accepts_missing,
            check_finite=check_finite,
            keep_integers=self.accepts_integers,
        )

    def _transform_data(self, data: Dataset) -> NDArray:
        out = None
        for start, scores in self.iter_scores(data):
            if len(scores) == len(data):
                return scores
            if out is None:
                out = np.empty((len(data), scores.shape[1]), dtype=scores.dtype)
            out[start : start + len(scores)] = scores
        assert out is not None  # there is at least one row
        return out

    def _validate_params(self) -> None:
        parameter_checks(type(self))(self)  # type: ignore[arg-type]
        if self.memory_limit is not None or self.n_jobs == 0:  # what the constraints cannot express
            self.resources()

    def _rng(self) -> Callable[[], np.random.Generator]:
        """The generator of a fit, made when it is first used. Call this once: a second one repeats its numbers."""
        return lazy_generator(self.random_state)


def _apply_to_block(method: Callable[..., NDArray], is_rows: bool, options: dict[str, Any], block: Any) -> NDArray:
    """The method of a block that was checked already: as a dataset, rows need no feature names."""
    return method(ArrayDataset(block) if is_rows else block, **options)


def numbered(blocks: Iterable[NDArray]) -> Iterator[tuple[int, NDArray]]:
    """Each block with the number of its first row."""
    start = 0
    for block in blocks:
        yield start, block
        start += len(block)


def check_scores(scores: NDArray, start: int) -> None:
    """Raise for scores that are not finite. One sum decides, which may overflow itself."""
    with np.errstate(all="ignore"):
        if np.isfinite(scores.sum()):
            return
    bad = np.flatnonzero(~np.isfinite(scores).all(axis=1))
    if len(bad):
        raise DataError(
            f"The scores of {counted(len(bad), 'row')} are not finite, first of row index {start + bad[0]}: "
            "an overflow. Rescale the data and fit again.",
            row=int(start + bad[0]),
        )
