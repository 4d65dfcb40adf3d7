"""Certificates from residuals.

Let A have the computed pairs (θᵢ, uᵢ), U their matrix, R = AU − UΘ, and B = (I − UUᵀ)A(I − UUᵀ) with
‖B‖ ≤ Λ. In the basis [U, U⊥] the matrix A is [[Θ, E], [Eᵀ, B]] with ‖E‖ = ‖R‖. For the i-th largest
eigenvalue λᵢ of A:

  below      λᵢ ≥ θᵢ − ‖UᵀR‖ (Cauchy; UᵀR = 0 for exact Ritz values)
  above      λᵢ ≤ max(θᵢ, Λ) + ‖R‖ (Weyl)
             λᵢ ≤ θᵢ + 2‖R‖²/(g + √(g² + 4‖R‖²)) for g = θᵢ − Λ > 0 (Li and Li)
  each       |λᵢ − θᵢ| ≤ ρᵢ, where these intervals keep clear of each other and of Λ: k of them
  direction  sin∠(uᵢ, vᵢ) ≤ ρᵢ/δᵢ, δᵢ the distance of θᵢ to all other eigenvalues (Davis–Kahan)

Those with θᵢ > Λ are *complete*: no pair was missed among them. All of this holds for the matrix that was
multiplied, in exact arithmetic. Rounding in its entries, its products and LAPACK moves an eigenvalue by no
more than their sum (Weyl), which is added to every statement here and nowhere else.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from mercer.certificates.certificate import ANGLE, PairCertificate
from mercer.errors import MercerWarning
from mercer.linalg.eigen import Eigenpairs, rounding_floor
from mercer.numerics.rounding import TINY, UNIT, norm
from mercer.storable import storable
from mercer.text import counted, listed, number

_SEPARATED = 50  # errors between eigenvalues from which nothing but these errors matters
_CLUSTER = 10  # errors between eigenvalues up to which only the span of their directions is known
_STORED = 4  # roundings between an eigenvalue and any attribute that shows it
_HUGE = float(np.finfo(float).max)


class _Bounds(NamedTuple):
    """What follows from the measured pairs, in their own unit."""

    lower: NDArray
    upper: NDArray
    angles: NDArray
    clusters: tuple[tuple[int, int], ...]
    n_complete: int


@storable
@dataclass(frozen=True, eq=False)
class ResidualCertificate(PairCertificate):
    """Bounds on the eigenvalues and directions of a symmetric matrix, from the residuals of computed pairs.

    A result is *certified* if three things are established. It then has a bounded numerical error; whether the
    components are meaningful is another question.

    * Residuals: ‖Au − θu‖ is at most `tol` times the eigenvalue of each component, or rounding.
    * Completeness: no larger eigenvalue was missed, so component i belongs to the i-th largest eigenvalue.
    * Directions: each is known to 0.05 (sine of the angle). Two cases need less. Components with equal
      eigenvalues have no directions of their own: it is enough that the span of all of them is known, see
      `clusters`. Components without variance have none at all. But a direction whose eigenvalue equals one that
      was not kept is not determined, and a result with such a component is not certified.

    Attributes
    ----------
    residuals : ndarray of shape (n_components,)
        ‖Auᵢ − θᵢuᵢ‖.
    lower, upper : ndarray of shape (n_components,)
        Intervals that contain both the eigenvalues of the exact matrix and the fitted attributes as stored.
    angles : ndarray of shape (n_components,)
        Bounds on the sine of the angle between computed and exact direction, or between spans for clusters. For
        components after `n_complete` they hold if no eigenvalue was missed.
    clusters : tuple of (start, stop)
        Eigenvalue clusters: components start, …, stop − 1 are determined as a span, but not each direction.
    unresolved : tuple of int
        Components with variance whose direction is not determined to 0.05.
    n_complete : int
        Number of leading components among which no eigenvalue was missed.
    evidence : str
        How completeness is known.
    bound_beyond : float
        Bound on all eigenvalues outside the computed ones.
    rounding : float
        Eigenvalues up to this may be rounding.
    noise : ndarray of shape (n_components,)
        Residuals up to this are rounding.
    tol : float
        Tolerance of the relative residuals.
    converged : bool
        Whether all residuals meet `tol`.
    n_passes, n_products : int
        Cost: passes over the matrix, columns it was multiplied with.
    """

    unresolved_reason: ClassVar = "another eigenvalue is too close"
    _shown: ClassVar = (
        "n_components", "tol", "converged", "residuals", "lower", "upper", "angles", "clusters", "unresolved",
        "n_complete", "evidence", "bound_beyond", "rounding", "n_passes", "n_products",
    )  # fmt: skip

    tol: float
    values: NDArray = field(repr=False)  # as measured: singular values if `singular`
    measured: NDArray = field(repr=False)  # residuals of these
    error: float  # what rounding adds to a statement about all pairs
    own_error: float  # and about one of them
    floor: float
    bound: float
    evidence: str
    complete: bool
    n_passes: int = 1
    n_products: int = 0
    converged: bool = True
    residual_norm: float = 0.0
    ritz_error: float = 0.0
    next_value: float = np.inf  # of the next pair, if the solver is trusted
    singular: bool = False
    unit: float = 1.0  # eigenvalues are unit² times the measured ones
    angle_factor: float = 1.0  # of directions that follow from the eigenvectors of the matrix
    angle_error: Any = 0.0
    stored_unit: float = UNIT  # rounding of the attributes that were stored
    zeros: tuple[int, ...] = ()  # components whose eigenvalue is reported as zero
    axis_error: Any = field(default=0.0, repr=False)  # rounding of axes that follow from these vectors

    @cached_property
    def is_separated(self) -> bool:
        """Whether every eigenvalue is many errors from the next one and from the bound, so all is established."""
        theta = self.values
        if not len(theta):
            return True
        gap = float(theta[-1]) - self.bound
        if len(theta) > 1:
            gap = min(gap, float((theta[:-1] - theta[1:]).min()))
        return gap > _SEPARATED * (float(self.measured.max()) + self.error)

    @cached_property
    def _bounds(self) -> _Bounds:
        theta, size, below = self.values, self.residual_norm + self.error, self.ritz_error + self.error
        if not len(theta):
            return _Bounds(theta, theta, theta, (), 0)
        gap = theta - self.bound
        positive = np.maximum(gap, 0)
        quadratic = 2 * size * (size / (positive + np.hypot(positive, 2 * size) + TINY))
        upper = np.where(gap > 0, theta + quadratic, max(self.bound, 0.0) + size) + below
        lower, upper = _own_intervals(theta, self.measured + self.own_error, theta - below, upper, self.bound)
        n_complete = int(np.sum(np.logical_and.accumulate(gap > 0)))
        if self.complete or (self.bound <= 2 * self._rounding and (lower[n_complete:] <= 0).all()):
            n_complete = len(theta)  # also if all others are zero, like the last of these
        edges = _cluster_edges(theta, self.measured + self.error)
        angles = _angles(self, lower, upper, edges, n_complete)
        clusters = tuple((int(start), int(stop)) for start, stop in pairwise(edges) if stop - start > 1)
        return _Bounds(lower, upper, angles, clusters, n_complete)

    # ------------------------------------------------------------------ in the unit of the eigenvalues

    @cached_property
    def lower(self) -> NDArray:
        values = self._squared(np.maximum(self._bounds.lower, 0.0)) if self.singular else self._bounds.lower
        values = self._below(values - _STORED * self.stored_unit * np.abs(values))
        values[list(self.zeros)] = np.minimum(values[list(self.zeros)], 0.0)
        return values

    @cached_property
    def upper(self) -> NDArray:
        values = self._squared(self._bounds.upper)
        return self._above(np.maximum(values + _STORED * self.stored_unit * np.abs(values), 0.0))

    @cached_property
    def angles(self) -> NDArray:  # type: ignore[override]
        return np.minimum(self.angle_factor * self._bounds.angles + self.angle_error + _STORED * self.stored_unit, 1.0)

    @property
    def clusters(self) -> tuple[tuple[int, int], ...]:  # type: ignore[override]
        return self._bounds.clusters

    @property
    def n_complete(self) -> int:  # type: ignore[override]
        return self._bounds.n_complete

    @cached_property
    def unresolved(self) -> tuple[int, ...]:  # type: ignore[override]
        if self.is_separated and self.angle_factor == 1:
            return ()  # no direction was computed from these, which would have errors of its own
        return tuple(np.flatnonzero((self.angles > ANGLE) & ~self.is_zero).tolist())

    @cached_property
    def is_zero(self) -> NDArray:
        """Components whose eigenvalue cannot be distinguished from zero; it is reported as zero."""
        if self.is_separated and not self.zeros:
            return np.zeros(self.n_components, dtype=bool)
        return self.lower <= 0

    @property
    def bound_beyond(self) -> float:
        return float(self._above(self._squared(np.array(self.bound))))

    @property
    def _rounding(self) -> float:
        return 7 * self.floor + self.error

    @property
    def rounding(self) -> float:
        return float(self._above(self._squared(np.array(self._rounding))))

    @property
    def residuals(self) -> NDArray:
        return self._above(self._residuals(self.measured) + self.axis_error)

    @property
    def noise(self) -> NDArray:
        return self._above(self._residuals(np.full(self.n_components, self._rounding)) + self.axis_error)

    def trace_error(self, total: float) -> float:
        """Bound on the error of the sum of all eigenvalues, in the unit of the eigenvalues."""
        error = self.error * self.unit
        return error * (2 * float(np.sqrt(total)) + error) if self.singular else error * self.unit

    def _residuals(self, measured: NDArray) -> NDArray:
        """Residuals ρ of singular values as those of eigenvalues, 2σρ + ρ²."""
        return measured * (2 * np.maximum(self._bounds.lower, 0.0) + measured) if self.singular else measured

    def _squared(self, values: NDArray) -> NDArray:
        return values**2 if self.singular else values

    def _below(self, values: NDArray) -> NDArray:
        """unit²·values; where this over- or underflows, a number that is still a lower bound."""
        if self.unit == 1:
            return values
        with np.errstate(over="ignore", under="ignore"):
            scaled = values * self.unit * self.unit
        return np.where(np.abs(scaled) < TINY, np.minimum(scaled, 0.0), np.clip(scaled, -_HUGE, _HUGE))

    def _above(self, values: NDArray) -> NDArray:
        """The same for an upper bound."""
        if self.unit == 1:
            return values
        with np.errstate(over="ignore", under="ignore"):
            scaled = values * self.unit * self.unit
        return np.where((scaled < TINY) & (values > 0), TINY, scaled)

    # ------------------------------------------------------------------ what a fit stores

    def with_zeros(self, zero: NDArray) -> Self:
        """The certificate of a fit that reports these eigenvalues as zero: their intervals reach to it."""
        return replace(self, zeros=tuple(np.flatnonzero(zero).tolist())) if np.any(zero) else self

    def for_attributes(self, unit: float, stored_unit: float) -> Self:
        """The certificate for eigenvalues times unit², and attributes that are rounded to `stored_unit`."""
        if unit == self.unit and stored_unit == self.stored_unit:  # nearly always
            return self
        return replace(self, unit=unit, stored_unit=stored_unit)

    # ------------------------------------------------------------------ texts

    @property
    def n_zero(self) -> int:
        """Number of components whose eigenvalue is zero to rounding."""
        return int(np.sum(self.lower <= self.rounding))

    @property
    def relative_residuals(self) -> NDArray:
        """Residuals relative to their eigenvalues, which `tol` bounds; 0 where the residual is rounding."""
        residuals = self.residuals
        rounding = (residuals <= self.noise) | (self.lower <= self.rounding)
        sizes = np.maximum(np.abs(self.lower), TINY)
        return np.divide(residuals, sizes, out=np.zeros(len(sizes)), where=~rounding)

    @property
    def summary(self) -> str:
        return self._verdict(f"residuals at most {self.tol:.0e} of the eigenvalues, none missed, directions known")

    def sentences(self) -> list[str]:
        if not self.n_components:
            return [self.summary]
        relative = self.relative_residuals
        worst, limit = int(np.argmax(relative)), "within" if self.converged else "NOT within"
        detail = f"largest {relative[worst]:.1e} of component {worst + 1}" if relative[worst] else "all are rounding"
        lines = [self.summary, f"Relative residuals {limit} the tolerance {self.tol:.0e}: {detail}."]
        if self.n_zero:
            lines.append(f"{counted(self.n_zero, 'eigenvalue')} of them zero to rounding.")
        known = "Completeness is not established" if self.n_complete < self.n_components else "No eigenvalue was missed"
        after = f" after component {self.n_complete}" if 0 < self.n_complete < self.n_components else ""
        lines.append(f"{known}{after}: all others are at most {number(self.bound_beyond)} ({self.evidence}).")
        return [*lines, *self._about_directions(self.is_zero)]


def certify(
    pairs: Eigenpairs,
    *,
    tol: float,
    bound: float,
    evidence: str,
    entry_error: float = 0.0,
    singular: bool = False,
    angle_factor: float = 1.0,
) -> ResidualCertificate:
    """The certificate of these pairs, given bounds on all other eigenvalues and on the error of A.

    `singular`: the values are singular values σ, and the certificate is about σ² and its tolerance.
    """
    theta, rho = pairs.values, pairs.residuals
    (n, k), size = pairs.vectors.shape, norm(rho)
    floor = rounding_floor(n, max(pairs.norm, abs(float(theta[0])) if k else 0.0))
    error = floor + pairs.product_error * float(np.sqrt(max(pairs.n_combined, k))) + entry_error
    allowed = np.maximum((tol / 2 if singular else tol) * np.abs(theta), 7 * floor + error)
    trusted = pairs.next_values[:1] + pairs.next_residuals[:1]  # how far the solver got
    certificate = ResidualCertificate(
        tol=tol,
        values=theta,
        measured=rho,
        error=error,
        own_error=floor + pairs.product_error * float(np.sqrt(pairs.n_combined)) + entry_error,
        floor=floor,
        bound=float(bound) + error,
        evidence=evidence,
        complete=pairs.complete,
        n_passes=pairs.n_passes,
        n_products=pairs.n_products,
        converged=bool((rho <= allowed).all()),
        residual_norm=size,
        ritz_error=size,
        next_value=float(trusted[0]) if len(trusted) else np.inf,
        singular=singular,
        angle_factor=angle_factor,
    )
    if pairs.complete or certificate.is_separated:
        return certificate  # residuals of LAPACK are rounding: sharper norms of them would not be noticed
    measured = pairs.residual_norm
    tilt = min(pairs.ritz_error, measured) if 4 * k < n else measured
    return replace(certificate, residual_norm=measured, ritz_error=tilt)


def _own_intervals(
    theta: NDArray, radius: NDArray, lower: NDArray, upper: NDArray, bound: float
) -> tuple[NDArray, NDArray]:
    """Narrower intervals where every eigenvalue is known by its own residual.

    Within ρ of θ there is an eigenvalue. If the first m of these intervals are disjoint and everything after
    them lies below, there are no more than m eigenvalues for them: the i-th is in the i-th.
    """
    k = len(theta)
    low, high = theta - radius, theta + radius
    clear = np.append(low[:-1] > high[1:], True)[:k]
    closed = low > np.maximum(np.append(upper[1:], -np.inf)[:k], bound)
    ends = np.flatnonzero(np.logical_and.accumulate(np.append(True, clear[:-1])[:k]) & closed)
    own = np.arange(k) <= (ends[-1] if len(ends) else -1)
    return np.where(own, np.maximum(lower, low), lower), np.where(own, np.minimum(upper, high), upper)


def _cluster_edges(theta: NDArray, radius: NDArray) -> NDArray:
    """Edges of runs of components whose eigenvalues are closer than ten errors; single ones are runs of one."""
    apart = theta[:-1] - theta[1:] >= _CLUSTER * np.maximum(radius[:-1], radius[1:])
    return np.concatenate([[0], np.flatnonzero(apart) + 1, [len(theta)]])


def _angles(c: ResidualCertificate, lower: NDArray, upper: NDArray, edges: NDArray, n_complete: int) -> NDArray:
    """Davis–Kahan for each cluster: ‖R_C‖_F over the distance of the cluster to the rest of the spectrum."""
    theta, rho, k = c.values, c.measured, len(c.values)
    starts, stops = edges[:-1], edges[1:]
    last = c.bound if n_complete == k else min(c.bound, max(c.next_value, 0.0) + c.error)
    above = np.append(np.inf, lower)[starts] - theta[starts]
    known = starts < n_complete
    following = np.where(
        known, np.append(upper, c.bound)[stops], np.append(theta + rho + c.error, last)[stops]
    )  # of eigenvalues after `n_complete`, if none was missed
    distances = np.minimum(above, theta[stops - 1] - following)
    peak = float(rho.max()) or 1.0
    errors = peak * np.sqrt(np.add.reduceat((rho / peak) ** 2, starts)) + c.error * np.sqrt(stops - starts)
    angles = np.divide(errors, distances, out=np.ones(len(starts)), where=distances > 0)
    return np.repeat(np.minimum(angles, 1.0), stops - starts)


def direction_warnings(certificate: Any) -> list[MercerWarning]:
    """A warning for components that have a variance but no determined direction."""
    if not certificate.unresolved:
        return []
    names, several = listed(i + 1 for i in certificate.unresolved), len(certificate.unresolved) > 1
    subject = f"directions of components {names} are" if several else f"direction of component {names} is"
    text = f"The {subject} not determined: {certificate.unresolved_reason}. See certificate_."
    return [MercerWarning(text, remedies=certificate.remedies)]
