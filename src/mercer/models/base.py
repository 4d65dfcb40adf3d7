"""What all models share: limits, randomness, and rows in blocks."""

import re
import sys
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import wraps
from numbers import Integral
from typing import Any, TypeVar

import numpy as np
from sklearn.base import clone

from mercer.arrays import Array
from mercer.blocks import rows_at_a_time
from mercer.errors import BadData, counted, in_short, shortened
from mercer.limits import Limits, count_threads
from mercer.models.scores_in_files import WithScoresInFiles
from mercer.plans.plan import Plan
from mercer.sources.items import Items
from mercer.threads import one_blas_thread
from mercer.unpromised import validate_parameters

# A pipeline that was written for scikit-learn's classes, whose fits take no weights, hands its weights to others: they
# come here once `set_fit_request(sample_weight=True)` asks for them.
WEIGHTS_ON_REQUEST = {"sample_weight": False}

_Method = TypeVar("_Method", bound=Callable[..., Any])


def all_or_nothing(fit: _Method) -> _Method:
    """A fit that is refused or stopped leaves the model as it was, down to the last fitted name."""

    @wraps(fit)
    def whole(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return whole  # type: ignore[return-value]


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
        from mercer.drop_in.as_sklearn import as_sklearn

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
        text = re.sub(r"an instance of 'mercer\.models[\w.]*\.(\w+)'", r"a mercer.\1", text)
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
