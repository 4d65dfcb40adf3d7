"""Rows rebuilt from their scores, by models of which this is neither a projection nor a search for pre-images."""

from abc import abstractmethod
from typing import Any

from mercer.arrays import Array
from mercer.models.upstairs import WithRowsInFiles


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
