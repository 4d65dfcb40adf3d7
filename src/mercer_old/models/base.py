"""What all models share: limits, randomness, rows in blocks, and scores that go to files."""

import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import wraps
from numbers import Integral
from pathlib import Path
from typing import Any, TypeVar, overload

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from mercer_old.arrays import HERE, Array, Home, to_numpy
from mercer_old.blocks import rows_at_a_time
from mercer_old.engines import leaving_nothing_behind
from mercer_old.errors import BadData, counted, in_short, shortened
from mercer_old.fits.door import file_of
from mercer_old.limits import Limits, count_threads
from mercer_old.models.upstairs import WithRoomsAbove, WithRowsInFiles
from mercer_old.outlets import Annotations, outlet, refuse_no_copy, refuse_same_file, refuse_taken, refuse_unwritable
from mercer_old.plans.plan import Plan
from mercer_old.progress import Listener, reporting
from mercer_old.sources.items import Items
from mercer_old.threads import one_blas_thread
from mercer_old.unpromised import validate_parameters

# A pipeline that was written for scikit-learn's classes, whose fits take no weights, hands its weights to others: they
# come here once `set_fit_request(sample_weight=True)` asks for them.
WEIGHTS_ON_REQUEST = {"sample_weight": False}

_Method = TypeVar("_Method", bound=Callable[..., Any])


def all_or_nothing(fit: _Method) -> _Method:
    """A fit that is refused or stopped leaves the model as it was, and nothing of its rows with a cluster's workers."""

    @wraps(fit)
    def whole(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        try:
            with leaving_nothing_behind():
                return fit(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return whole  # type: ignore[return-value]


_KEYS = {"IncrementalPCA": "pca", "LocallyLinearEmbedding": "lle"}  # of scores in .h5ad files, where not the name


class WithScoresInFiles(WithRoomsAbove, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):
    """A scikit-learn transformer that writes what it says of rows to a file."""

    progress: Listener

    @abstractmethod
    def _new_items(self, X: Any) -> Items:
        """The items of X, checked against those of the fit."""

    @abstractmethod
    def _scored(self, items: Items) -> Iterator[tuple[int, Array]]:
        """Block after block of scores, each with the number of its first row."""

    @abstractmethod
    def _fit_for_scores(self, X: Any, sample_weight: Any) -> tuple[Items, Array | None]:
        """Fit, with all checks; what it returns are the items to score, and their scores if they are there already."""

    @abstractmethod
    def _dtype_of_scores(self, items: Any) -> Any:
        """Of numbers that are written."""

    def _home(self) -> Home:
        """Where the fitted arrays are at home, and the rows of the fit were."""
        return HERE

    def _home_of_new(self, X: Any, method: str) -> Home:
        """Where new rows are at home: with the same library, and on the same device, as those of the fit. Those of
        files have no home of their own."""
        check_is_fitted(self)
        home, fitted = Home.of(X), self._home()
        if isinstance(X, (Items, Path)):
            return fitted
        if home != fitted:
            raise ValueError(
                f"Inputs passed to {type(self).__name__}.{method}() must use the same namespace and the same device as "
                f"those passed to fit(): {home} here, {fitted} there."
            )
        return home

    @overload
    def transform_to(self, X: Any, path: str | Path) -> Path: ...
    @overload
    def transform_to(self, X: Any, path: None) -> None: ...
    def transform_to(self, X: Any, path: str | Path | None) -> Path | None:
        """Write the scores of the rows of X to a file, block by block: for more of them than fit into memory.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows}
            The rows.
        path : path or None
            A .npy, .csv, .parquet, .arrow or .feather file. It appears when it is complete, or not at all. None:
            standard output, as CSV.

        Returns
        -------
        path : pathlib.Path or None
            Where they are.
        """
        self._write(path, self._new_items(X))
        return None if path is None else Path(path)

    def fit_transform_to(self, X: Any, path: str | Path | None, sample_weight: Any = None) -> Path | None:
        """Fit, and write the scores of the rows of X to a file as `transform_to` does.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows}
            The rows.
        path : path or None
            A file; None: standard output, as CSV.
        sample_weight : array-like of shape (n_samples,), default=None
            As of `fit`.

        Returns
        -------
        path : pathlib.Path or None
            Where they are.
        """
        if path is not None:
            refuse_unwritable(Path(path))
            refuse_same_file(file_of(X), Path(path))
        if isinstance(X, Items):
            refuse_taken(X.written_along, [f"{type(self).__name__.lower()}{j}" for j in range(min(X.width, len(X)))])
            if path is not None:
                refuse_no_copy(X.annotations, Path(path))
        self._write(path, *self._fit_for_scores(X, sample_weight))
        return None if path is None else Path(path)

    def _write(self, path: str | Path | None, items: Items, scores: Array | None = None) -> None:
        """The scores of items, to a file or (None) as CSV to standard output, with the names that items have."""
        labels = items.written_along
        told = None if items.annotations is None else self._annotated(items.annotations)
        where, n_rows = None if path is None else Path(path), len(items)
        if where is not None:
            refuse_same_file(items.path, where)
        with (
            outlet(where, self.get_feature_names_out(), n_rows, self._dtype_of_scores(items), labels, told) as sink,
            reporting(self.progress, 1, "rows scored") as on_pass,
        ):
            for start, block in self._scored(items) if scores is None else [(0, scores)]:
                sink(block)
                if on_pass:
                    on_pass((start + len(block)) / n_rows)

    def _annotated(self, known: Annotations) -> Annotations:
        """What a .h5ad file is told beside the scores: of axes their loadings and variances, where scanpy has them."""
        told = replace(known, key=_KEYS.get(type(self).__name__, type(self).__name__.lower()))
        if not (hasattr(self, "components_") and hasattr(self, "explained_variance_")):
            return told
        return replace(
            told,
            loadings=to_numpy(self.components_).T,
            variances={
                "variance": to_numpy(self.explained_variance_),
                "variance_ratio": to_numpy(self.explained_variance_ratio_),
            },
            params={"zero_center": True, "use_highly_variable": False, **known.params},
        )


class RebuildsRows(WithRowsInFiles):
    """A model whose scores say what it expects of the rows."""

    @abstractmethod
    def transform(self, X: Any) -> Array:
        """The scores of rows."""

    @abstractmethod
    def inverse_transform(self, X: Any) -> Array:
        """The rows that scores stand for."""

    def denoise(self, X: Any) -> Array:
        """The rows of X as the model rebuilds them: ``inverse_transform(transform(X))``.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features)
            What it expects, without noise.
        """
        return self.inverse_transform(self.transform(X))


class Model(WithScoresInFiles):
    """A scikit-learn transformer with `memory_limit`, `n_jobs` and `random_state`."""

    _dtype: Any  # of scores

    @abstractmethod
    def _scores(self, rows: Any, threads: int) -> Array:
        """The scores of some rows in memory."""

    def _by_blocks(self, items: Items, function: Callable[[Any, int], Array] | None = None) -> Array:
        """The scores of all items (or another function of them, with as many columns) in one array."""
        out = np.empty((len(items), len(self.get_feature_names_out())), dtype=self._dtype_of_scores(items))
        for start, scores in self._scored(items, function):
            out[start : start + len(scores)] = scores
        return out

    def _scored(
        self, items: Items, function: Callable[[Any, int], Array] | None = None, whole: bool = True
    ) -> Iterator[tuple[int, Array]]:
        """Block after block of scores, each with the number of its first row; `whole`: those in memory all at once."""
        threads, start = self._limits().threads, 0
        for block in [items.load()] if whole and items.held else items.blocks(rows_at_a_time(items.width)):
            with one_blas_thread(threads):
                scores = (function or self._scores)(block, threads)
            if function is None:
                refuse_infinite(scores, start)
            yield start, scores
            start += block.shape[0]

    def _dtype_of_scores(self, items: Any) -> Any:
        return self._dtype

    def plan(self, X: Any, sample_weight: Any = None) -> Plan:
        """Tell what `fit(X)` would do, in what time, and why, without doing it.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
            The rows.
        sample_weight : array-like of shape (n_samples,), default=None
            As of `fit`.

        Returns
        -------
        plan : Plan
            The way, its memory and its time; print it.
        """
        self.check_params()
        return clone(self)._plan(X, sample_weight)  # a fitted model stays as it is

    @abstractmethod
    def _plan(self, X: Any, sample_weight: Any) -> Plan:
        """The plan of a fit, by a model that may be changed on the way."""

    def to_sklearn(self) -> Any:
        """Return scikit-learn's own fitted object with the same scores: for code that needs its classes.

        A model with a ``scale_`` becomes a pipeline of a StandardScaler and the object. What is new here (the
        certificate, the plan, weights of later fits) stays behind.

        Returns
        -------
        estimator : estimator or Pipeline of scikit-learn
            It gives the same scores.

        Raises
        ------
        ValueError
            If scikit-learn has no such model: by landmarks, with kernels or metrics that it does not know.
        """
        from mercer_old.drop_in.as_sklearn import as_sklearn

        return as_sklearn(self)

    def check_params(self) -> None:
        """Raise ValueError for parameters that do not exist or contradict each other."""
        self._validate_params()
        self._limits()

    def _validate_params(self) -> None:
        check_parameters(self)

    def _limits(self) -> Limits:
        return Limits.of(self.memory_limit, self.n_jobs)

    def _within_limits(self) -> AbstractContextManager[None]:
        """BLAS and LAPACK on one thread, and on no more than `n_jobs` where they are called for something large."""
        return one_blas_thread(count_threads(self.n_jobs))

    def _rng(self) -> np.random.Generator:
        return generator_of(self.random_state)


def check_parameters(model: Any) -> None:
    """By scikit-learn's rules, which take True for 1; here a truth value is no number."""
    try:
        validate_parameters(model)
    except ValueError as error:
        text = re.sub(r" at 0x[0-9a-f]+", "", " ".join(str(error).split()))
        text = re.sub(r"an instance of 'mercer_old\.models[\w.]*\.(\w+)'", r"a mercer.\1", text)
        raise type(error)(shortened(text, 500)) from None
    for name, allowed in model._parameter_constraints.items():
        value = getattr(model, name)
        if isinstance(value, (bool, np.bool_)) and "boolean" not in allowed:
            raise ValueError(f"The {name!r} parameter of {type(model).__name__} cannot be {value}: give a number.")
        if isinstance(value, Integral) and abs(int(value)) > sys.float_info.max:
            raise ValueError(f"The {name!r} parameter of {type(model).__name__} is too large: {in_short(value)}.")


def generator_of(random_state: Any) -> np.random.Generator:
    """A generator from whatever random_state is; None is a fixed seed, so that runs repeat."""
    return np.random.default_rng(
        int(random_state or 0)
        if random_state is None or isinstance(random_state, Integral)
        else random_state.randint(2**31 - 1)
    )


def refuse_infinite(scores: Array, start: int) -> None:
    """One sentence instead of scores that are none. A sum is one glance without a copy; it may overflow itself."""
    with np.errstate(all="ignore"):
        if np.isfinite(scores.sum()):
            return
    bad = np.flatnonzero(~np.isfinite(scores).reshape(len(scores), -1).all(axis=1))
    if len(bad):
        raise BadData(
            f"The scores of {counted(len(bad), 'row')} are not finite, first of row index {start + bad[0]}: an "
            "overflow, as these rows or the numbers of the model are huge. Scale the data down (StandardScaler) and "
            "fit again."
        )
