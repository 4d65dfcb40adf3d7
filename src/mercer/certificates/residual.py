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
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mercer.certificates.certificate import Certificate
from mercer.errors import MercerWarning
from mercer.linalg.eigen import Eigenpairs, rounding_floor
from mercer.numerics.rounding import TINY, norm
from mercer.storable import storable
from mercer.text import counted, listed, number

ANGLE = 0.05  # a direction less certain than this is unresolved
_SEPARATED = 20  # errors between eigenvalues from which the short form may be used
_HUGE = float(np.finfo(float).max)


@storable
@dataclass(frozen=True, eq=False)
class ResidualCertificate(Certificate):
    """Bounds on eigenvalues and directions.

    Attributes
    ----------
    residuals : ndarray of shape (n_components,)
        ‖Auᵢ − θᵢuᵢ‖.
    lower, upper : ndarray of shape (n_components,)
        Intervals of the eigenvalues of the exact matrix.
    angles : ndarray of shape (n_components,)
        Bounds on the sine of the angle between computed and exact direction.
    clusters : tuple of (start, stop)
        Eigenvalue clusters: components whose span is determined, but not each direction.
    unresolved : tuple of int
        Components whose direction is not determined to 0.05.
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
    """

    n_components: int
    tol: float
    residuals: NDArray = field(repr=False)
    lower: NDArray = field(repr=False)
    upper: NDArray = field(repr=False)
    angles: NDArray = field(repr=False)
    clusters: tuple[tuple[int, int], ...]
    unresolved: tuple[int, ...]
    n_complete: int
    evidence: str
    bound_beyond: float
    n_passes: int
    n_products: int
    converged: bool
    rounding: float
    noise: NDArray = field(repr=False)

    @property
    def n_zero(self) -> int:
        """Number of components whose eigenvalue is zero to rounding."""
        return int(np.sum(self.lower <= self.rounding))

    @property
    def relative_residuals(self) -> NDArray:
        """Residuals relative to their eigenvalues, which `tol` bounds; 0 where the residual is rounding."""
        rounding = (self.residuals <= self.noise) | (self.lower <= self.rounding)
        sizes = np.maximum(np.abs(self.lower), TINY)
        return np.divide(self.residuals, sizes, out=np.zeros(len(sizes)), where=~rounding)

    def with_zeros(self, zero: NDArray) -> Self:
        """The same where these eigenvalues are reported as zero: their intervals reach to it."""
        if not zero.any():
            return self
        lower, upper = np.minimum(self.lower, 0.0), np.maximum(self.upper, 0.0)
        return replace(self, lower=np.where(zero, lower, self.lower), upper=np.where(zero, upper, self.upper))

    def squared(self) -> Self:
        """The certificate of λ = σ², if this is one of singular values σ."""
        sigma = np.maximum(self.lower, 0.0)
        return replace(
            self,
            tol=2 * self.tol,
            residuals=2 * sigma * self.residuals + self.residuals**2,
            lower=sigma**2,
            upper=self.upper**2,
            bound_beyond=self.bound_beyond**2,
            rounding=self.rounding**2,
            noise=2 * sigma * self.noise + self.noise**2,
        )

    def with_angles(self, factor: float = 1.0, more: float = 0.0) -> Self:
        """The same with larger bounds on the angles."""
        return replace(self, angles=np.minimum(factor * self.angles + more, 1.0))

    def times_unit_squared(self, unit: float) -> Self:
        """The certificate of unit²·λ; where that over- or underflows, what still holds."""
        if unit == 1:
            return self

        def below(values: Any) -> NDArray:
            scaled = _times_unit_squared(values, unit)
            return np.where(np.abs(scaled) < TINY, np.minimum(scaled, 0.0), np.clip(scaled, -_HUGE, _HUGE))

        def above(values: Any) -> NDArray:
            scaled = _times_unit_squared(values, unit)
            return np.where((scaled < TINY) & (np.asarray(values) > 0), TINY, scaled)

        return replace(
            self,
            residuals=above(self.residuals),
            lower=below(self.lower),
            upper=above(self.upper),
            bound_beyond=float(above(self.bound_beyond)),
            rounding=float(above(self.rounding)),
            noise=above(self.noise),
        )

    @property
    def summary(self) -> str:
        if not self.n_components:
            return "No components, nothing to certify."
        verdict = "certified" if self.certified else "NOT certified"
        return f"{counted(self.n_components, 'component')} {verdict}: relative residuals at most {self.tol:.0e}."

    def sentences(self) -> list[str]:
        if not self.n_components:
            return [self.summary]
        worst = int(np.argmax(self.relative_residuals))
        largest = self.relative_residuals[worst]
        detail = f"Largest: {largest:.1e}, component {worst + 1}." if largest else "All residuals are rounding."
        lines = [f"{self.summary} {detail}"]
        if self.n_zero:
            lines.append(f"{counted(self.n_zero, 'eigenvalue')} of them zero to rounding.")
        known = "Completeness is not established" if self.n_complete < self.n_components else "No eigenvalue was missed"
        after = f" after component {self.n_complete}" if 0 < self.n_complete < self.n_components else ""
        lines.append(f"{known}{after}: all others are at most {number(self.bound_beyond)} ({self.evidence}).")
        sure = [i for i in range(self.n_components) if i not in self.unresolved]
        if sure:
            where = max(sure, key=lambda i: self.angles[i])
            lines.append(f"Directions: sine of the error at most {self.angles[where]:.1e} (component {where + 1}).")
        lines += [
            f"Components {start + 1} to {stop} form an eigenvalue cluster: only their span is determined."
            for start, stop in self.clusters
            if start not in self.unresolved
        ]
        if self.unresolved:
            names = listed((i + 1 for i in self.unresolved), 10)
            lines.append(f"Not determined to {ANGLE}: the direction of component {names}.")
        lines.append(f"Cost: {counted(self.n_passes, 'pass')}, {counted(self.n_products, 'product')}.")
        return lines


def _times_unit_squared(values: Any, unit: float) -> NDArray:
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(values) * unit * unit


def certify(
    pairs: Eigenpairs, *, tol: float, bound: float, evidence: str, entry_error: float = 0.0
) -> ResidualCertificate:
    """The certificate of these pairs, given bounds on all other eigenvalues and on the error of A."""
    theta, rho = pairs.values, pairs.residuals
    n, k = pairs.vectors.shape
    floor = rounding_floor(n, max(pairs.norm, float(np.abs(theta).max(initial=0.0))))
    noise = floor + pairs.product_error * np.sqrt(max(pairs.n_combined, k)) + entry_error
    bound = bound + noise
    rounding = 7 * floor + noise
    found = _separated(theta, rho, noise, bound) or _general(pairs, floor, noise, bound, entry_error)
    return ResidualCertificate(
        n_components=k,
        tol=tol,
        residuals=rho,
        **found,
        evidence=evidence,
        bound_beyond=float(bound),
        n_passes=pairs.n_passes,
        n_products=pairs.n_products,
        converged=bool((rho <= np.maximum(tol * np.abs(theta), rounding)).all()),
        rounding=float(rounding),
        noise=np.full(k, rounding),
    )


def _separated(theta: NDArray, rho: NDArray, noise: float, bound: float) -> dict[str, Any] | None:
    """The short form, where every eigenvalue is more than 20 errors from the next one and from the bound."""
    k = len(theta)
    if not k:
        return None
    radius = rho + noise
    gaps = theta - np.append(theta[1:], bound)
    if not (gaps > _SEPARATED * (radius + np.append(radius[1:], 0.0))).all():
        return None
    distances = gaps.copy()
    distances[1:] = np.minimum(gaps[1:], gaps[:-1])
    angles = np.minimum(radius / (distances * (1 - 1 / _SEPARATED)), 1.0)
    unresolved = tuple(np.flatnonzero(angles > ANGLE).tolist()) if angles.max() > ANGLE else ()
    return {
        "lower": theta - radius,
        "upper": theta + radius,
        "angles": angles,
        "clusters": (),
        "unresolved": unresolved,
        "n_complete": k,
    }


def _general(pairs: Eigenpairs, floor: float, noise: float, bound: float, entry_error: float) -> dict[str, Any]:
    """Intervals and angles where eigenvalues may be close to each other or to the bound."""
    theta, rho = pairs.values, pairs.residuals
    n, k = pairs.vectors.shape
    measured = pairs.residual_norm if k else 0.0
    size = measured + noise
    below = (min(pairs.ritz_error, measured) if 4 * k < n else measured) + noise
    gap = theta - bound
    positive = np.maximum(gap, 0)
    quadratic = 2 * size * (size / (positive + np.hypot(positive, 2 * size) + TINY))
    upper = np.where(gap > 0, theta + quadratic, max(bound, 0.0) + size) + below
    column_error = pairs.product_error * np.sqrt(pairs.n_combined)
    lower, upper = _own_intervals(theta, rho + floor + column_error + entry_error, theta - below, upper, bound)
    n_complete = k if pairs.complete else int(np.sum(np.logical_and.accumulate(gap > 0)))
    clusters = _clusters(theta, rho + noise)
    angles, unresolved = _angles(pairs, lower, upper, clusters, bound, n_complete, noise)
    return {
        "lower": lower,
        "upper": upper,
        "angles": angles,
        "clusters": tuple(cluster for cluster in clusters if cluster[1] - cluster[0] > 1),
        "unresolved": unresolved,
        "n_complete": n_complete,
    }


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


def _clusters(theta: NDArray, radius: NDArray) -> list[tuple[int, int]]:
    """Runs of components whose eigenvalues are closer than ten errors; single ones are runs of one."""
    k = len(theta)
    apart = theta[:-1] - theta[1:] >= 10 * np.maximum(radius[:-1], radius[1:])
    return list(pairwise([0, *(np.flatnonzero(apart) + 1).tolist(), k])) if k else []


def _angles(
    pairs: Eigenpairs,
    lower: NDArray,
    upper: NDArray,
    clusters: list[tuple[int, int]],
    bound: float,
    n_complete: int,
    noise: float,
) -> tuple[NDArray, tuple[int, ...]]:
    """Davis–Kahan for each cluster: ‖R_C‖_F over the distance of the cluster to the rest of the spectrum."""
    theta, rho = pairs.values, pairs.residuals
    k = len(theta)
    angles = np.ones(k)
    unresolved: list[int] = []
    last = bound
    if len(pairs.next_values) and n_complete < k:  # as far as the solver got, if it is trusted
        last = min(bound, max(float(pairs.next_values[0] + pairs.next_residuals[0]), 0.0) + noise)
    for start, stop in clusters:
        above = lower[start - 1] - theta[start] if start else np.inf
        following = bound if start < n_complete else last
        if stop < k:
            following = upper[stop] if start < n_complete else theta[stop] + rho[stop] + noise
        distance = min(above, theta[stop - 1] - following)
        error = norm(rho[start:stop]) + noise * float(np.sqrt(stop - start))
        angles[start:stop] = min(1.0, error / distance) if distance > 0 else 1.0
        if angles[start] > ANGLE:
            unresolved.extend(range(start, stop))
    return angles, tuple(unresolved)


def direction_warnings(certificate: ResidualCertificate, eigenvalues: NDArray) -> list[MercerWarning]:
    """A warning for components that have a variance but no determined direction."""
    unresolved = [i + 1 for i in certificate.unresolved if eigenvalues[i] > 0]
    if not unresolved:
        return []
    return [
        MercerWarning(
            f"The direction of component {listed(unresolved)} is not determined by the data: its eigenvalue "
            "is close to the next one, which was not kept. See certificate_."
        )
    ]
