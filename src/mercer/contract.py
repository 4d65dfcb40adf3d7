"""The members of a fitted model that plotting, report, analysis, export and the command line may use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from mercer.budget import Budget
    from mercer.certificates.certificate import Certificate
    from mercer.data.dataset import Dataset, Kind
    from mercer.errors import MercerWarning
    from mercer.planning.plan import Plan


class Eigenspectrum(NamedTuple):
    """Eigenvalues of the decomposed matrix with their certified intervals, in the order of the components."""

    eigenvalues: NDArray
    lower: NDArray  # NaN where nothing is proven
    upper: NDArray
    variances: NDArray | None  # None: eigenvalues are not variances (LLE)
    total: float | None  # total variance
    complete: bool  # whether no positive eigenvalue was left out
    total_weight: float  # sum of the sample weights
    ddof: int  # variances = eigenvalues/(total_weight − ddof)
    feature_variances: NDArray | None  # after standardization, 0 for constant columns
    observed: NDArray | None = None  # fraction of observed values of each column, if values are missing
    bound_beyond: float | None = None  # these two are of the certificate
    unresolved: tuple[int, ...] = ()
    total_error: float = 0.0  # bound on the error of the sum of all eigenvalues

    def _ratio(self, values: NDArray, sign: int = 0) -> NDArray | None:
        if self.total is None:
            return None
        total = self.total * (self.total_weight - self.ddof) + sign * self.total_error
        return values / total if total > 0 else np.zeros_like(values)

    @property
    def ratio(self) -> NDArray | None:
        """Explained variance ratios."""
        return self._ratio(self.eigenvalues)

    @property
    def ratio_lower(self) -> NDArray | None:
        """Certified lower ends of the ratios."""
        return self._ratio(self.lower, 1)

    @property
    def ratio_upper(self) -> NDArray | None:
        """Certified upper ends of the ratios."""
        return self._ratio(self.upper, -1)


class LinearMap(NamedTuple):
    """scores = ((x − mean)/scale) @ encoder.T and x ≈ mean + scale·(scores @ decoder)."""

    mean: NDArray
    scale: NDArray
    axes: NDArray
    encoder: NDArray
    decoder: NDArray


class TrainingSet(NamedTuple):
    """Training samples that the model kept, in the units of X."""

    samples: Any
    indices: NDArray
    scores: NDArray | None
    weights: NDArray | None


class Projection(NamedTuple):
    """Scores without whitening, and squared distances `q` from the subspace of the kept components."""

    scores: NDArray
    q: NDArray | None
    kept: NDArray
    scores_error: NDArray | None = None
    q_error: NDArray | None = None


class KernelExpansion(NamedTuple):
    """The uncentered component functions f(z) = k(z, samples) @ coefficients with z = x/scale.

    The image of scores y is Σᵢ (coefficients·y + center)ᵢ φ(samplesᵢ).
    """

    kernel: Any
    samples: Any
    coefficients: NDArray
    center: NDArray
    scale: NDArray | None = None
    n_threads: int = 1

    def evaluate(self, rows: Any) -> NDArray:
        """f of samples in the units of X, one column for each component."""
        if self.scale is not None:
            rows = rows / self.scale
        return np.asarray(self.kernel(rows, self.samples) @ self.coefficients)


class FittedModel(Protocol):
    """A fitted estimator, besides scikit-learn's own members.

    A capability that a model lacks is a method that returns None or does not exist, never a question of its class.
    """

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
    def expansion(self) -> KernelExpansion | None: ...
