"""The members of a fitted model that plotting, report, analysis, export and the command line may use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from mercer.budget import Budget
    from mercer.certificates.certificate import Certificate
    from mercer.data.dataset import Dataset, Kind
    from mercer.errors import MercerWarning
    from mercer.planning.plan import Plan


@dataclass(frozen=True)
class Eigenspectrum:
    """Eigenvalues of the decomposed matrix with their certified intervals, in the order of the components."""

    eigenvalues: NDArray
    lower: NDArray
    upper: NDArray
    variances: NDArray | None
    total: float | None
    complete: bool
    total_weight: float
    ddof: int
    feature_variances: NDArray | None
    observed: NDArray | None = None
    bound_beyond: float | None = None
    unresolved: tuple[int, ...] = ()

    def _ratio(self, values: NDArray) -> NDArray | None:
        if self.total is None:
            return None
        total = self.total * (self.total_weight - self.ddof)
        return values / total if total > 0 else np.zeros_like(values)

    @property
    def ratio(self) -> NDArray | None:
        """Explained variance ratios."""
        return self._ratio(self.eigenvalues)

    @property
    def ratio_lower(self) -> NDArray | None:
        return self._ratio(self.lower)

    @property
    def ratio_upper(self) -> NDArray | None:
        return self._ratio(self.upper)


@dataclass(frozen=True)
class LinearMap:
    """scores = ((x − mean)/scale) @ encoder.T and x ≈ mean + scale·(scores @ decoder)."""

    mean: NDArray
    scale: NDArray
    axes: NDArray
    encoder: NDArray
    decoder: NDArray


@dataclass(frozen=True)
class TrainingSet:
    """Training samples that the model kept, in the units of X."""

    samples: Any
    indices: NDArray
    scores: NDArray | None
    weights: NDArray | None


@dataclass(frozen=True)
class Projection:
    """Scores without whitening, and squared distances `q` from the subspace of the kept components."""

    scores: NDArray
    q: NDArray | None
    kept: NDArray
    scores_error: NDArray | None = None
    q_error: NDArray | None = None


class FittedModel(Protocol):
    """A fitted estimator, besides scikit-learn's own members."""

    model_key: ClassVar[str]
    input_kind: Kind
    accepts_missing: bool
    n_samples_: int
    n_components_: int
    n_features_in_: int
    certificate_: Certificate
    plan_: Plan
    fit_warnings_: tuple[MercerWarning, ...]

    @property
    def feature_names(self) -> list[str]: ...
    def open(self, X: Any) -> Dataset: ...
    def iter_scores(self, data: Dataset, *, whiten: bool | None = None) -> Iterator[tuple[int, NDArray]]: ...
    def resources(self) -> Budget: ...
    def spectrum(self) -> Eigenspectrum | None: ...
    def linear_map(self) -> LinearMap | None: ...
    def training_set(self) -> TrainingSet | None: ...
    def project(self, rows: Any, *, rounding: bool = False) -> Projection | None: ...
