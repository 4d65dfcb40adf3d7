"""Certificates of fits that maximize a function which is not concave: a local optimum is the most they can state.

A gradient of zero, or a step that gains nothing, is necessary for an optimum and not sufficient for a global one. So
the first sentence states whether the iteration converged, and that another start may end elsewhere.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Self

from mercer.certificates.certificate import Certificate
from mercer.storable import storable
from mercer.text import counted

_STRICT = 1e-3  # largest gradient of a point that is called an optimum, whatever the tolerance
_STRICT_GAIN = 1e-4  # the same of the last EM step, in nats per observed value
_ELSEWHERE = "another starting point may end at a better one"
_PRIORS = {"normal": "a normal prior", "ard": "a normal prior for each factor", "": "maximum likelihood"}


@storable
@dataclass(frozen=True, eq=False)
class OptimumCertificate(Certificate):
    """Start and end of a minimization or maximization, and the gradient at the end.

    Attributes
    ----------
    objective : str
        Name of the function.
    start, end : float
        Its values.
    gradient : float
        Largest entry of the gradient, over the variables that no bound stops.
    tol : float
        Tolerance of the gradient.
    n_iter : int
        Number of iterations.
    notes : tuple of str
        Further statements.
    n_terms : int
        Number of values whose log-likelihoods the objective adds up, 1 for a mean: gradients are judged relative to it.
    """

    objective: str
    start: float
    end: float
    gradient: float
    tol: float
    n_iter: int
    notes: tuple[str, ...] = ()
    n_terms: int = 1

    @property
    def converged(self) -> bool:  # type: ignore[override]
        """Whether the gradient is within the tolerance."""
        return self.gradient <= self.tol

    @property
    def certified(self) -> bool:
        """Whether the search came to rest: at a small gradient, and at no bound of a variable."""
        return self.gradient <= min(self.tol, _STRICT * self.n_terms) and not self.notes

    @property
    def summary(self) -> str:
        after = f"after {counted(self.n_iter, 'iteration')} the largest entry of the gradient is {self.gradient:.1g}"
        if self.converged and self.gradient > _STRICT * self.n_terms:
            return f"Optimum not established: {after}; the tolerance of {self.tol:g} is too large."
        if self.converged:
            return f"Local optimum at best: {after} (tolerance {self.tol:g}); {_ELSEWHERE}."
        return f"Optimum not reached: {after}, above the tolerance of {self.tol:g}."

    def sentences(self) -> list[str]:
        values = f"{self.objective}: {_digits(self.start)} at the start, {_digits(self.end)} at the end."
        return [self.summary, values, *self.notes]


def _digits(value: float) -> str:
    return f"{value:,.1f}" if abs(value) >= 1e5 else f"{value:.7g}"


@storable
@dataclass(frozen=True, eq=False)
class MissingDataCertificate(Certificate):
    """End of the EM algorithm for data with missing values, and the error of predicted values that were held out.

    Attributes
    ----------
    n_samples, n_features, n_missing, n_incomplete, n_empty, n_patterns : int
        Rows, columns, missing values, rows with missing values, rows without any observed value (they are left out),
        and distinct sets of observed columns.
    prior : {"normal", "ard", ""}
        Prior of the loadings; "": maximum likelihood.
    n_iter : int
        Passes over the rows.
    gain : float
        Increase of the objective by the last EM step, in nats per observed value.
    converged : bool
        Whether EM came to rest. False if it was stopped by `max_iter` or by the validation error.
    stopped_early : bool
        Whether EM was stopped because the validation error increased.
    n_validation : int
        Number of observed values that were held out and predicted.
    validation_error : float
        Their root mean squared error divided by that of the column means.
    tried, errors : tuple
        Numbers of components that were compared, and the validation error of each.
    """

    n_samples: int
    n_features: int
    n_missing: int
    n_incomplete: int
    n_empty: int
    n_patterns: int
    prior: str
    n_iter: int
    gain: float
    converged: bool
    stopped_early: bool
    n_validation: int = 0
    validation_error: float = math.nan
    tried: tuple[int, ...] = ()
    errors: tuple[float, ...] = ()
    rounding: ClassVar[float] = 0.0  # EM bounds no eigenvalue

    @property
    def certified(self) -> bool:
        """Whether EM came to rest, at a step that hardly gained anything."""
        return self.converged and self.gain <= _STRICT_GAIN

    @property
    def summary(self) -> str:
        passes = counted(self.n_iter, "pass")
        if self.stopped_early:
            return f"Optimum not reached: EM stopped early after {passes}, when the validation error increased."
        gain = f"; the last step gained {self.gain:.1e} nats per observed value" if math.isfinite(self.gain) else ""
        if not self.converged:
            return f"Optimum not reached: EM was stopped after {passes}{gain}."
        if not self.certified:
            return f"Optimum not established: EM ended after {passes}{gain}; the tolerance is too large."
        return f"Local optimum at best: EM converged after {passes}{gain}; {_ELSEWHERE}."

    def for_attributes(self, unit: float, stored_unit: float) -> Self:
        """The certificate itself: it contains no eigenvalues."""
        return self

    def sentences(self) -> list[str]:
        total = self.n_samples * self.n_features
        found = [
            self.summary,
            f"{self.n_missing:,} of {total:,} values are missing ({100 * self.n_missing / total:.3g}%), in "
            f"{self.n_incomplete:,} of {counted(self.n_samples, 'row')}, with {counted(self.n_patterns, 'pattern')}.",
            f"Objective: {_PRIORS[self.prior]}. It did not decrease in any step that was kept.",
        ]
        if self.n_empty:
            found.append(f"{counted(self.n_empty, 'row')} without any observed value did not enter the fit.")
        if self.n_validation:
            best = f", the best of {self.tried[0]} to {self.tried[-1]} components" if len(self.tried) > 1 else ""
            found.append(
                f"Validation RMSE on {counted(self.n_validation, 'held-out value')}: {self.validation_error:.3g} times "
                f"that of column-mean imputation{best}."
            )
        return [*found, "Values are assumed to be missing at random: not because of what they would have been."]
