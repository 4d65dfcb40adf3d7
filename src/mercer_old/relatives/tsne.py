"""t-SNE by openTSNE, or by scikit-learn where that is not installed."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from threadpoolctl import threadpool_limits

from mercer_old.arrays import Array
from mercer_old.errors import in_short
from mercer_old.limits import count_threads
from mercer_old.relatives.base import Fitted, Method, first_installed, library, rows_of
from mercer_old.relatives.front import STARTS, check_denoise, cleaned, start

__all__ = ["TSNE"]

_PLACED_BY = 5.0  # perplexity by which openTSNE places new rows, where there are enough
_EXACT = 3  # coordinates from which nothing but all pairs will do in scikit-learn


@dataclass(frozen=True)
class TSNE(Method):
    """t-distributed stochastic neighbour embedding, from a start that knows the data.

    Parameters
    ----------
    perplexity : float, default=30
        How many neighbours count, smoothly; less where there are fewer than 90 rows.
    init : {"pca", "kernel-pca", "random"}, default="pca"
        Where it starts: our scores, scaled down.
    denoise : int, str, model or None, default=None
        Which scores it sees instead of the rows: so many components of PCA, fifty of "pca" or "kernel-pca", or those of
        a model such as ``PCA(50, standardize=True)``.
    n_iter : int, default=500
        Steps after the 250 of early exaggeration.

    Examples
    --------
    >>> from mercer.relatives import TSNE
    >>> TSNE(denoise=50).title
    't-SNE (denoise=50)'
    """

    perplexity: float = 30.0
    init: str = "pca"
    denoise: Any = None
    n_iter: int = 500

    name: ClassVar[str] = "t-sne"
    label: ClassVar[str] = "t-SNE"
    keeps: ClassVar[str] = "who is near whom; not how far groups are, nor how wide"
    assumes: ClassVar[str] = "the nearest rows by distance mean something, and perplexity is about their number"
    seeds_matter: ClassVar[bool] = True
    goes_back = False

    def __post_init__(self) -> None:
        check_denoise(self.denoise)
        if self.init not in (*STARTS, "random"):
            raise ValueError(f"init must be 'pca', 'kernel-pca' or 'random'; got {in_short(self.init)}.")
        if not self.perplexity > 0:
            raise ValueError(f"perplexity must be positive; got {in_short(self.perplexity)}.")

    @property
    def places_new(self) -> bool:
        """scikit-learn's cannot."""
        return first_installed("openTSNE") is not None

    def missing(self) -> str | None:
        return None

    def load(self) -> str:
        found = first_installed("openTSNE")
        library(found or "sklearn.manifold")
        return found or "scikit-learn"

    def fit(self, X: Any, n_components: int = 2, random_state: int | None = 0, n_jobs: int | None = None) -> Fitted:
        X, by = rows_of(X, fewest=4), self.load()
        clean = cleaned(X, self.denoise)
        first = start(clean.rows, self.init, n_components, small=True)
        perplexity = min(self.perplexity, (len(X) - 1) / 3)
        settings = {
            "n_components": n_components,
            "perplexity": perplexity,
            "random_state": random_state,
            "n_jobs": count_threads(n_jobs),
        }
        if by != "openTSNE":
            return Fitted(self._by_sklearn(clean.rows, first, settings), by=by)
        model = library("openTSNE").TSNE(n_iter=self.n_iter, initialization=first, **settings)
        found = model.fit(np.ascontiguousarray(clean.rows))
        coordinates = np.array(found)

        def transform(new: Any) -> Array:
            """openTSNE moves its own embedding to the middle while it places rows: they are moved back with it."""
            placed = np.array(found.transform(clean(new), perplexity=min(_PLACED_BY, perplexity)))
            return placed - (np.array(found) - coordinates).mean(axis=0)

        return Fitted(coordinates, transform, by=by)

    def _by_sklearn(self, rows: Array, first: Any, settings: dict[str, Any]) -> Array:
        settings = settings | {"method": "exact"} if settings["n_components"] > _EXACT else settings
        model = library("sklearn.manifold").TSNE(init=first, max_iter=250 + self.n_iter, **settings)
        with threadpool_limits(settings["n_jobs"], user_api="openmp"):  # it would take all there are
            return np.asarray(model.fit_transform(rows), dtype=np.float64)
