"""Independent components: our PCA whitens, python-picard turns, or scikit-learn's FastICA where it is not installed."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mercer_old.arrays import Array
from mercer_old.models.pca import PCA
from mercer_old.relatives.base import Fitted, Method, first_installed, library, rows_of

__all__ = ["ICA"]


@dataclass(frozen=True)
class ICA(Method):
    """S = Z Wᵀ with Z the whitened scores of PCA and W a rotation that makes the columns of S as independent as can be.

    Parameters
    ----------
    max_iter : int, default=500
        Most steps.
    tol : float, default=1e-7
        Of Picard, the largest entry of the gradient at which it stops; of FastICA the change of W.
    """

    max_iter: int = 500
    tol: float = 1e-7

    name: ClassVar[str] = "ica"
    label: ClassVar[str] = "ICA"
    keeps: ClassVar[str] = "the plane of PCA, turned and scaled so that its axes are as independent as can be"
    assumes: ClassVar[str] = "rows are sums of independent sources, at most one of them normally distributed"
    seeds_matter: ClassVar[bool] = True
    places_new = True
    goes_back = True

    def missing(self) -> str | None:
        return None

    def load(self) -> str:
        found = first_installed("picard", "sklearn")
        library("picard" if found == "picard" else "sklearn.decomposition")
        return "python-picard" if found == "picard" else "scikit-learn"

    def fit(self, X: Any, n_components: int = 2, random_state: int | None = 0, n_jobs: int | None = None) -> Fitted:
        X = rows_of(X)
        by = self.load()
        pca = PCA(n_components, whiten=True, n_jobs=n_jobs)
        whitened = np.asarray(pca.fit_transform(X), dtype=np.float64)
        turn = (self._by_picard if by == "python-picard" else self._by_fastica)(whitened, random_state)
        turn_back = np.linalg.inv(turn)
        return Fitted(
            whitened @ turn.T,
            lambda new: np.asarray(pca.transform(new)) @ turn.T,
            lambda found: np.asarray(pca.inverse_transform(np.asarray(found) @ turn_back.T)),
            by,
        )

    def _by_picard(self, whitened: Array, seed: int | None) -> Array:
        found = library("picard").picard(
            whitened.T, whiten=False, centering=False, max_iter=self.max_iter, tol=self.tol, random_state=seed
        )
        return np.asarray(found[1], dtype=np.float64)

    def _by_fastica(self, whitened: Array, seed: int | None) -> Array:
        model = library("sklearn.decomposition").FastICA(
            whiten=False, max_iter=self.max_iter, tol=max(self.tol, 1e-6), random_state=seed
        )
        return np.asarray(model.fit(whitened).components_, dtype=np.float64)
