"""What models have in common that hold all rows in memory and search by gradients."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from mercer_old.arrays import Array, dense
from mercer_old.errors import BadData, NoRoom
from mercer_old.fits.door import open_items
from mercer_old.fits.frame import Frame, frame_of
from mercer_old.fits.refusals import pointing_to_gaps
from mercer_old.inputs import table, told_where
from mercer_old.limits import Limits, bytes_in_words
from mercer_old.models.base import RebuildsRows, WithScoresInFiles, check_parameters, generator_of, refuse_infinite
from mercer_old.sources.items import Items, Rows


class InMemoryModel(RebuildsRows, WithScoresInFiles):
    """A scikit-learn transformer with `memory_limit`, `n_jobs`, `random_state`, and a frame that rows are seen in."""

    n_components: int
    random_state: Any
    memory_limit: Any
    n_jobs: Any
    n_features_in_: int
    feature_names_in_: Array
    _frame: Frame
    _width: int  # of the scores of the fit
    _dtype: Any = np.float64  # of scores

    def check_params(self) -> None:
        """Raise ValueError for parameters that do not exist or contradict each other."""
        self._validate_params()
        self._limits()

    def _validate_params(self) -> None:
        check_parameters(self)

    def _limits(self) -> Limits:
        return Limits.of(self.memory_limit, self.n_jobs)

    def _rng(self) -> np.random.Generator:
        return generator_of(self.random_state)

    def _training_rows(self, X: Any, standardize: bool) -> Array:
        """The rows of a fit in their frame, which is kept."""
        with pointing_to_gaps():
            items = open_items(self, X, reset=True).as_rows()
            self._refuse_no_room(3 * 8 * len(items) * items.width, "Give a larger memory_limit, or fewer rows.")
            rows = dense(items.load(), np.float64)
        n, d = rows.shape
        name, k = type(self).__name__, int(self.n_components)
        if n < 2:
            raise ValueError(f"{name} needs at least two rows, and there is one: n_samples = {n}.")
        if k > d or k >= n:
            raise ValueError(
                f"n_components={k} must be at most the number of columns and less than that of rows: n_features = {d}, "
                f"n_samples = {n}."
            )
        self._frame, self._width = frame_of(rows, standardize), k
        Y = self._frame.inside(rows)
        if not np.abs(Y).max() > 1e-12 * max(1.0, float(np.abs(rows / self._frame.scale).max())):
            raise BadData(f"All rows are the same, and {name} has nothing to learn from them.")
        return Y

    @abstractmethod
    def _scores(self, Y: Array) -> Array:
        """The scores of rows in the frame of the fit."""

    def _transformed(self, X: Any) -> Array:
        """The scores of new rows."""
        ((_, scores),) = self._scored(self._new_items(X))
        return scores

    def _new_items(self, X: Any) -> Rows:
        check_is_fitted(self)
        with pointing_to_gaps():
            return open_items(self, X, reset=False).as_rows()

    def _scored(self, items: Items) -> Iterator[tuple[int, Array]]:
        """All at once."""
        with pointing_to_gaps():
            rows = items.load()
        with np.errstate(over="ignore", invalid="ignore"):  # which is refused with the row
            scores = self._scores(self._frame.inside(rows))
        refuse_infinite(scores, 0)
        yield 0, scores

    def _fit_for_scores(self, X: Any, sample_weight: Any) -> tuple[Items, Array | None]:
        if sample_weight is not None:
            raise ValueError(f"{type(self).__name__} has no weights of rows; leave out sample_weight.")
        self.fit(X)
        return self._new_items(X), None

    def _dtype_of_scores(self, items: Any) -> Any:
        return self._dtype

    def _scores_given(self, X: Any) -> Array:
        """What an inverse transform is given."""
        check_is_fitted(self)
        X = table(X)
        with told_where(X):
            scores = check_array(X, input_name="X", dtype=np.float64)
        if scores.shape[1] != self._n_features_out:
            raise ValueError(
                f"X has {scores.shape[1]} features, but the inverse transform is expecting {self._n_features_out}: one "
                "for each component."
            )
        return scores

    def _refuse_no_room(self, needed: int, advice: str) -> None:
        limit = self._limits().memory
        if needed > limit:
            raise NoRoom(f"The fit needs {bytes_in_words(needed)}, over the limit of {bytes_in_words(limit)}. {advice}")

    @property
    def _n_features_out(self) -> int:
        check_is_fitted(self)
        return self._width

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
