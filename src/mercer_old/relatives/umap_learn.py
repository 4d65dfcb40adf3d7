"""UMAP by umap-learn."""

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mercer_old.errors import in_short
from mercer_old.relatives.base import Fitted, Method, first_installed, install_line, library, rows_of
from mercer_old.relatives.front import STARTS, check_denoise, cleaned, start

__all__ = ["UMAP"]


@dataclass(frozen=True)
class UMAP(Method):
    """Uniform manifold approximation and projection. A seed makes it run in one thread, as it repeats only there.

    Parameters
    ----------
    n_neighbors : int, default=15
        How many neighbours count; less where there are fewer rows.
    min_dist : float, default=0.1
        How near rows may lie in the picture.
    init : {"spectral", "pca", "kernel-pca", "random"}, default="spectral"
        Where it starts: its own graph, our scores, or anywhere.
    denoise : int, str, model or None, default=None
        Which scores it sees instead of the rows, as of `TSNE`.

    Examples
    --------
    >>> from mercer.relatives import UMAP
    >>> UMAP(init="pca").title
    "UMAP (init='pca')"
    """

    n_neighbors: int = 15
    min_dist: float = 0.1
    init: str = "spectral"
    denoise: Any = None

    name: ClassVar[str] = "umap"
    label: ClassVar[str] = "UMAP"
    keeps: ClassVar[str] = "who is near whom, as a graph of neighbours; not how far groups are, nor how dense"
    assumes: ClassVar[str] = "rows lie evenly on a manifold once distances are measured from place to place"
    seeds_matter: ClassVar[bool] = True
    places_new = True
    goes_back = False  # its own way back takes minutes for hundreds of rows, and is not asked for

    def __post_init__(self) -> None:
        check_denoise(self.denoise)
        if self.init not in (*STARTS, "random", "spectral"):
            raise ValueError(f"init must be 'spectral', 'pca', 'kernel-pca' or 'random'; got {in_short(self.init)}.")
        if not self.n_neighbors >= 2:
            raise ValueError(f"n_neighbors must be at least 2; got {in_short(self.n_neighbors)}.")

    def missing(self) -> str | None:
        return None if first_installed("umap") else install_line("UMAP", "umap-learn")

    def load(self) -> str:
        with warnings.catch_warnings(action="ignore"):  # of tensorflow, which it can do without
            library("umap")
        return "umap-learn"

    def fit(self, X: Any, n_components: int = 2, random_state: int | None = 0, n_jobs: int | None = None) -> Fitted:
        X, by = rows_of(X, fewest=4), self.load()
        clean = cleaned(X, self.denoise)
        model = library("umap").UMAP(
            n_neighbors=min(self.n_neighbors, len(X) - 1),
            n_components=n_components,
            min_dist=self.min_dist,
            init=start(clean.rows, self.init, n_components),
            random_state=random_state,
            n_jobs=1,
        )
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*force_all_finite.*")  # a name that scikit-learn has changed
            found = np.asarray(model.fit_transform(clean.rows), dtype=np.float64)
        return Fitted(found, lambda new: np.asarray(model.transform(clean(new)), dtype=np.float64), by=by)
