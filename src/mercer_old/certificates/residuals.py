"""The proof that goes with an answer: what is known for certain about each component, and what is not.

Let A have the found pairs (θᵢ, uᵢ), U their matrix, R = AU − UΘ, and B = (I − UUᵀ)A(I − UUᵀ) with ‖B‖ ≤ Λ. In the basis
[U, U⊥] the matrix A is [[Θ, E], [Eᵀ, B]] with ‖E‖ = ‖R‖, hence, for the i-th largest eigenvalue λᵢ of A:

  below      λᵢ ≥ θᵢ − ‖UᵀR‖ (Cauchy; UᵀR = 0 for exact Ritz values)
  above      λᵢ ≤ max(θᵢ, Λ) + ‖R‖ (Weyl), and for g = θᵢ − Λ > 0 even λᵢ ≤ θᵢ + 2‖R‖²/(g + √(g² + 4‖R‖²)) (Li and Li)
  each       |λᵢ − θᵢ| ≤ ρᵢ, where these intervals keep clear of each other and of Λ: k of them, k eigenvalues
  direction  sin∠(uᵢ, vᵢ) ≤ ρᵢ/δᵢ, δᵢ the distance of θᵢ to all other eigenvalues (Davis–Kahan)

Those with θᵢ > Λ are *complete*: no pair was missed among them. Below Λ the statements about directions hold if the
solver missed nothing.

All of that is said of the matrix that was multiplied, in exact arithmetic. Rounding in its entries, in its products and
in LAPACK move an eigenvalue by no more than their sum (Weyl): `noise`, which is added to every statement, here and
nowhere else. docs/design/rounding.md derives it.
"""

from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from mercer_old.arrays import Array
from mercer_old.certificates.base import Proof
from mercer_old.errors import counted, listed
from mercer_old.rounding import TINY, lengths
from mercer_old.solvers.base import Eigenpairs, rounding_floor

ANGLE = 0.05  # a direction less certain than this is called unresolved


@dataclass(frozen=True, eq=False)
class Certificate(Proof):
    """What is proven about a fit. Printed, it is a few English lines."""

    n_components: int
    tol: float
    residuals: Array = field(repr=False)  # ρᵢ
    lower: Array = field(repr=False)  # λᵢ ≥ lower
    upper: Array = field(repr=False)  # λᵢ ≤ upper
    angles: Array = field(repr=False)  # sin of the angle between computed and true direction is at most this
    clusters: tuple[tuple[int, int], ...]  # components i … j−1 whose directions are determined only up to rotation
    unresolved: tuple[int, ...]  # components whose direction is not determined to 0.05
    n_complete: int  # among the first so many, nothing was missed
    level: str  # how that is known
    bound_beyond: float  # Λ: no eigenvalue outside the found pairs exceeds it
    passes: int
    columns: int
    converged: bool

    rounding: float  # eigenvalues up to this are rounding noise
    noise: Array = field(repr=False)  # residuals up to this are

    @property
    def n_zero(self) -> int:
        """How many of the components have an eigenvalue that is zero to rounding."""
        return int(np.sum(self.lower <= self.rounding))

    @property
    def relative_residuals(self) -> Array:
        """ρᵢ/θᵢ, the quantity that `tol` bounds; 0 where the residual is rounding noise."""
        noise = (self.residuals <= self.noise) | (self.lower <= self.rounding)
        sizes = np.maximum(np.abs(self.lower), np.finfo(float).tiny)
        return np.divide(self.residuals, sizes, out=np.zeros(len(sizes)), where=~noise)

    @property
    def certified(self) -> bool:
        """Whether every residual met the rule."""
        return self.converged

    def with_zeros(self, zero: Array) -> "Certificate":
        """The same where these values are reported as zero, by convention: their intervals reach to it."""
        lower, upper = np.minimum(self.lower, 0.0), np.maximum(self.upper, 0.0)
        return replace(self, lower=np.where(zero, lower, self.lower), upper=np.where(zero, upper, self.upper))

    def squared(self) -> "Certificate":
        """The same about λ = σ², if this is about singular values σ: their intervals squared.

        A residual ρ of a singular pair becomes 2σρ + ρ²: what it means for λ.
        """
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

    def sentences(self) -> list[str]:
        return _sentences(self)


def certify(pairs: Eigenpairs, *, tol: float, bound: float, level: str, entries: float = 0.0) -> Certificate:
    """The certificate of these pairs, given Λ = bound on all eigenvalues outside them, and the noise of A's entries."""
    theta, rho = pairs.values, pairs.residuals
    n, k = pairs.vectors.shape
    floor = rounding_floor(n, max(pairs.size, np.abs(theta).max(initial=0.0)))
    noise = floor + pairs.product_noise + entries
    bound = bound + noise
    measured = pairs.residual_size if k else 0.0
    size, tilt = measured + noise, (min(pairs.tilt, measured) if 4 * k < n else measured) + noise
    gap = theta - bound
    quadratic = 2 * size * (size / (np.maximum(gap, 0) + np.hypot(np.maximum(gap, 0), 2 * size) + TINY))
    upper = np.where(gap > 0, theta + quadratic, max(bound, 0.0) + size) + tilt
    lower, upper = _each_by_itself(theta, rho + floor + pairs.column_noise + entries, theta - tilt, upper, bound)
    complete = k if pairs.complete else int(np.sum(np.logical_and.accumulate(gap > 0)))
    clusters = _clusters(theta, rho + noise)
    angles, unresolved = _angles(pairs, lower, upper, clusters, bound, complete, noise)
    rounding = 7 * floor + noise
    return Certificate(
        n_components=k,
        tol=tol,
        residuals=rho,
        lower=lower,
        upper=upper,
        angles=angles,
        clusters=tuple(c for c in clusters if c[1] - c[0] > 1),
        unresolved=unresolved,
        n_complete=complete,
        level=level,
        bound_beyond=bound,
        passes=pairs.passes,
        columns=pairs.columns,
        converged=bool(np.all(rho <= np.maximum(tol * np.abs(theta), rounding))),
        rounding=rounding,
        noise=np.full(k, rounding),
    )


def _each_by_itself(theta: Array, radius: Array, lower: Array, upper: Array, bound: float) -> tuple[Array, Array]:
    """Narrower intervals where every eigenvalue is known by its own residual.

    Within ρ of θ there is an eigenvalue. If the first m of these intervals are disjoint and whatever comes after them
    lies below, there are no more than m eigenvalues for them: the i-th is in the i-th.
    """
    low, high = theta - radius, theta + radius
    clear = np.append(low[:-1] > high[1:], True)[: len(theta)]
    closed = low > np.maximum(np.append(upper[1:], -np.inf)[: len(theta)], bound)
    ends = np.flatnonzero(np.logical_and.accumulate(np.append(True, clear[:-1])[: len(theta)]) & closed)
    own = np.arange(len(theta)) <= (ends[-1] if len(ends) else -1)
    return np.where(own, np.maximum(lower, low), lower), np.where(own, np.minimum(upper, high), upper)


def _clusters(theta: Array, rho: Array) -> list[tuple[int, int]]:
    """Runs of components whose eigenvalues are nearer to each other than ten residuals; single ones are runs of one."""
    edges = [0]
    for i in range(1, len(theta)):
        if theta[i - 1] - theta[i] >= 10 * max(rho[i - 1], rho[i]):
            edges.append(i)
    edges.append(len(theta))
    return list(pairwise(edges)) if len(theta) else []


def _angles(
    pairs: Eigenpairs,
    lower: Array,
    upper: Array,
    clusters: list[tuple[int, int]],
    bound: float,
    complete: int,
    noise: float,
) -> tuple[Array, tuple[int, ...]]:
    """Davis–Kahan, cluster by cluster: ‖R_C‖_F over the distance of the cluster to the rest of the spectrum."""
    theta, rho = pairs.values, pairs.residuals
    k = len(theta)
    angles = np.ones(k)
    unresolved: list[int] = []
    # The next eigenvalue after the last: as far as it was seen if the solver is trusted, as far as is proven if not.
    seen = float(pairs.beyond[0] + pairs.beyond_residuals[0]) if len(pairs.beyond) else 0.0
    last = min(bound, max(seen, 0.0) + noise) if len(pairs.beyond) and complete < k else bound
    for start, stop in clusters:
        above = lower[start - 1] - theta[start] if start else np.inf
        following = bound if start < complete else last
        if stop < k:
            following = upper[stop] if start < complete else theta[stop] + rho[stop] + noise
        distance = min(above, theta[stop - 1] - following)
        error = float(lengths(rho[start:stop, None])[0]) + noise * float(np.sqrt(stop - start))
        angles[start:stop] = min(1.0, error / distance) if distance > 0 else 1.0
        if angles[start] > ANGLE:
            unresolved.extend(range(start, stop))
    return angles, tuple(unresolved)


def _sentences(c: Certificate) -> list[str]:
    if not c.n_components:
        return ["No components: nothing to certify."]
    worst = int(np.argmax(c.relative_residuals))
    rule = f"each residual at most {c.tol:.0e} of its own eigenvalue, or rounding"
    count = counted(c.n_components, "component")
    largest = c.relative_residuals[worst]
    worst_is = f"(worst {largest:.1e}, component {worst + 1})" if largest else "(all down at rounding)"
    lines = [
        f"{count} certified: {rule} {worst_is}." if c.certified else f"{count} NOT certified: not {rule} {worst_is}."
    ]
    if c.n_zero:
        lines.append(f"{c.n_zero} of them ha{'s' if c.n_zero == 1 else 've'} an eigenvalue that is zero to rounding.")
    if c.n_complete == c.n_components:
        lines.append(f"Nothing was missed: no other eigenvalue exceeds {c.bound_beyond:.4g} ({c.level}).")
    elif c.n_complete:
        lines.append(
            f"Nothing was missed among the first {c.n_complete}: no other eigenvalue exceeds {c.bound_beyond:.4g} "
            f"({c.level}). For the rest completeness is not established."
        )
    else:
        lines.append(f"Completeness is not established: other eigenvalues may reach {c.bound_beyond:.4g} ({c.level}).")
    known = int(np.sum(c.lower[: c.n_complete] > c.rounding))  # of what is zero, nothing is known relative to itself
    if known:
        width = (c.upper - c.lower)[:known] / c.lower[:known]
        lines.append(f"Eigenvalues: known to {width.max():.1e} of themselves among the first {known}.")
    sure = [i for i in range(c.n_components) if i not in c.unresolved]
    if sure:
        where = max(sure, key=lambda i: c.angles[i])
        condition = "" if where < c.n_complete else ", if nothing was missed"
        lines.append(f"Directions: off by at most {c.angles[where]:.1e} (component {where + 1}){condition}.")
    lines += [
        f"Components {start + 1}–{stop} form a cluster: their span is determined, their axes only up to rotation."
        for start, stop in c.clusters
        if start not in c.unresolved
    ]
    if c.unresolved:
        names = listed((i + 1 for i in c.unresolved), 10)
        lines.append(f"Unresolved: the direction of component {names} is not determined by the data to {ANGLE}.")
    lines.append(f"Work: {counted(c.passes, 'pass')} over the matrix, {counted(c.columns, 'column')}.")
    return lines


def about_directions(certificate: Certificate, values: Array) -> list[str]:
    """Which components have a variance but no direction of their own."""
    unsettled = [i for i in certificate.unresolved if values[i] > 0]
    if not unsettled:
        return []
    names = listed(i + 1 for i in unsettled)
    return [
        f"The direction of component {names} is not determined by the data (its eigenvalue is nearly that of the "
        "next one, not kept, or its residual is too large); see certificate_. More components may settle it."
    ]
