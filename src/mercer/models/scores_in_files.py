"""Scores that go to files: for more of them than fit into memory, or for whoever wants them there."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, overload

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from mercer.arrays import Array, to_numpy
from mercer.fits.door import file_of
from mercer.models.upstairs import WithRoomsAbove
from mercer.outlets import Annotations, outlet, refuse_no_copy, refuse_same_file, refuse_taken, refuse_unwritable
from mercer.progress import Listener, reporting
from mercer.sources.items import Items

_KEYS = {"IncrementalPCA": "pca", "LocallyLinearEmbedding": "lle"}  # of scores in .h5ad files, where not the name


class WithScoresInFiles(WithRoomsAbove, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):  # type: ignore[misc]
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
