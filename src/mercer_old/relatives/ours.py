"""Our own models as methods: asked of `mercer` by name, so that each loads what it needs when it is fitted."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mercer_old.errors import BadData
from mercer_old.relatives.base import Fitted, Method

__all__ = ["BY_NAME", "Ours"]


@dataclass(frozen=True)
class _Entry:
    """What is to be known of a model."""

    label: str
    model: str  # its name in mercer
    keeps: str
    assumes: str
    seeds_matter: bool = False
    places_new: bool = True
    goes_back: bool = True
    usual: dict[str, Any] = field(default_factory=dict)  # parameters that suit a comparison
    of_many: dict[str, Any] = field(default_factory=dict)  # and more of them, where rows are many


_MANY = 20_000  # rows, beyond which kernel PCA is by landmarks
_BOTH = "rows are a linear map of a few normal variables, and noise"
BY_NAME = {
    "pca": _Entry("PCA", "PCA", "as much variance as straight axes can", "what matters varies most, along lines"),
    "correlation-pca": _Entry(
        "correlation PCA",
        "PCA",
        "as much variance as straight axes can, of columns that were divided by their deviations",
        "all columns count the same, whatever their units, and what matters varies most, along lines",
        usual={"standardize": True},
    ),
    "kernel-pca": _Entry(
        "kernel PCA",
        "KernelPCA",
        "as much variance as axes of the kernel's feature space can: similar rows lie together",
        "the kernel and its bandwidth know who is alike",
        usual={"kernel": "rbf", "gamma": "median", "preimage": "auto"},
        of_many={"n_landmarks": 1000},
    ),
    "lle": _Entry(
        "LLE",
        "LocallyLinearEmbedding",
        "how each row lies between its neighbours; nothing of distances between far rows",
        "rows lie densely on one bent sheet",
        goes_back=False,
        usual={"n_neighbors": 12, "method": "modified"},
    ),
    "ppca": _Entry(
        "probabilistic PCA",
        "ProbabilisticPCA",
        "the plane of PCA, as expected values of a probability model",
        f"{_BOTH} of the same size in all columns",
    ),
    "factor-analysis": _Entry(
        "factor analysis",
        "FactorAnalysis",
        "what columns have in common; what only one column has counts as its noise",
        f"{_BOTH} of each column's own size",
    ),
    "gplvm": _Entry(
        "GPLVM",
        "GPLVM",
        "a smooth map from the picture to the rows: what lies together was alike, not the other way round",
        "columns are smooth random functions of a few hidden numbers",
        seeds_matter=True,
    ),
    "autoencoder": _Entry(
        "autoencoder",
        "Autoencoder",
        "what a network needs to build the rows again",
        "the training of a network finds a good map; it depends on where it starts",
        seeds_matter=True,
    ),
}


@dataclass(frozen=True)
class Ours(Method):
    """A model of this library.

    Parameters
    ----------
    name : str
        As `mercer.relatives.method` knows it.
    params : tuple of pairs
        Parameters of the model that are not the usual ones of a comparison.
    """

    name: str  # type: ignore[misc]
    params: tuple[tuple[str, Any], ...] = ()

    @property
    def _entry(self) -> _Entry:
        return BY_NAME[self.name]

    @property
    def label(self) -> str:  # type: ignore[override]
        return self._entry.label

    @property
    def keeps(self) -> str:  # type: ignore[override]
        return self._entry.keeps

    @property
    def assumes(self) -> str:  # type: ignore[override]
        return self._entry.assumes

    @property
    def seeds_matter(self) -> bool:  # type: ignore[override]
        return self._entry.seeds_matter

    @property
    def places_new(self) -> bool:
        return self._entry.places_new and self._has("transform")

    @property
    def goes_back(self) -> bool:
        return self._entry.goes_back and self._has("inverse_transform")

    def _has(self, name: str) -> bool:
        """What a model that is there can do."""
        return self.missing() is not None or hasattr(self._class(), name)

    @property
    def takes_gaps(self) -> bool:  # type: ignore[override]
        """What the model says of itself to scikit-learn."""
        if self.missing():
            return False
        from sklearn.utils import get_tags

        return bool(get_tags(self._class()()).input_tags.allow_nan)

    @property
    def settings(self) -> dict[str, Any]:
        return dict(self.params)

    def _class(self) -> Any:
        import mercer_old as mercer

        return getattr(mercer, self._entry.model)

    def missing(self) -> str | None:
        import mercer_old as mercer

        if self._entry.model in mercer.__all__:
            return None
        return f"This version of mercer has no {self._entry.model}. Try: pip install --upgrade mercer"

    def load(self) -> str:
        return str(self._class().__name__)

    def fit(self, X: Any, n_components: int = 2, random_state: int | None = 0, n_jobs: int | None = None) -> Fitted:
        by = self.load()
        model = self._model(np.shape(X), n_components, random_state, n_jobs)
        coordinates = np.asarray(model.fit_transform(X), dtype=np.float64)
        if coordinates.shape[1] < n_components:
            raise BadData(f"{self.label} finds {coordinates.shape[1]} of {n_components} coordinates in these rows.")
        return Fitted(
            coordinates,
            (lambda new: np.asarray(model.transform(new), dtype=np.float64)) if self.places_new else None,
            (lambda found: np.asarray(model.inverse_transform(found), dtype=np.float64)) if self.goes_back else None,
            by,
        )

    def _model(self, shape: tuple[int, ...], n_components: int, seed: int | None, n_jobs: int | None) -> Any:
        """With the parameters that it has; a neighbourhood is smaller than all rows."""
        kind = self._class()
        known = kind().get_params(deep=False)
        wanted = {"n_components": n_components, "random_state": seed, "n_jobs": n_jobs} | self._entry.usual
        if shape[0] > _MANY and "eigen_solver" not in self.settings:
            wanted |= self._entry.of_many
        if "n_neighbors" in wanted:
            wanted["n_neighbors"] = max(min(int(wanted["n_neighbors"]), shape[0] - 1), 1)
        wanted = {name: value for name, value in wanted.items() if name in known} | self.settings
        try:
            return kind(**wanted)
        except TypeError:
            unknown = next(name for name in self.settings if name not in known)
            raise ValueError(f"{kind.__name__} has no parameter {unknown!r}.") from None
