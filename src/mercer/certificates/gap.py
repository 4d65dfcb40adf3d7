"""Certificates of the smallest eigenpairs: residuals against gaps.

An error that is small compared with the largest eigenvalue proves nothing close to zero, where eigenvalues of 10⁻¹¹
are separated by gaps of 10⁻¹¹. Let (θᵢ, uᵢ), i ≤ k, be Ritz pairs of M, smallest first, ρᵢ = ‖Muᵢ − θᵢuᵢ‖, ‖R‖² = Σρᵢ²,
and let all eigenvalues but the k smallest be at least b, with θₖ + ‖R‖ < b. Then

  value      λᵢ ≤ θᵢ (Cauchy); λᵢ ≥ θᵢ − ‖R‖, as k eigenvalues are that close to the θᵢ (Kahan) and all others exceed b
             λᵢ ≥ θᵢ − min(ρᵢ, ρᵢ²/δᵢ), where all other eigenvalues are at least δᵢ > ρᵢ from θᵢ (Kato and Temple)
  direction  sin∠ ≤ ρᵢ/δᵢ (Davis–Kahan); of the span of a cluster of equal eigenvalues √Σρᵢ² over its distance to others

Rounding in M moves an eigenvalue by at most 20u‖M‖₁, which is added to every statement. Without b, statements hold if
no eigenvalue was missed.
"""

from dataclasses import dataclass, field
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from mercer.certificates.certificate import ANGLE, Certificate, PairCertificate
from mercer.errors import MercerWarning, Remedy
from mercer.linalg.eigen import Eigenpairs
from mercer.linalg.shift_invert import bottom_floor, gaps
from mercer.storable import storable
from mercer.text import counted, listed, number

_CLUSTER = 10  # errors between eigenvalues up to which only the span of their directions is determined
_FRACTIONS = 0.5, 0.95, 1.0  # of the placed samples, for which residuals are reported


@storable
@dataclass(frozen=True, eq=False)
class GapCertificate(PairCertificate):
    """Bounds on the smallest eigenvalues of the alignment matrix and their directions.

    An embedding is *certified* if residuals are small, no smaller eigenvalue was missed and all directions are
    determined. The numerical error is bounded then; `caveats` tell why an embedding may be meaningless all the same.

    Attributes
    ----------
    values : ndarray of shape (n_components,)
        Ritz values θ, smallest first, without that of the constant vector.
    residuals : ndarray of shape (n_components,)
        ‖Mu − θu‖.
    gaps : ndarray of shape (n_components,)
        Lower bounds on the distance of each eigenvalue to all others.
    lower, upper : ndarray of shape (n_components,)
        Intervals that contain the eigenvalues.
    angles : ndarray of shape (n_components,)
        Bounds on the sine of the angle between computed and exact direction, or between spans for clusters.
    clusters : tuple of (start, stop)
        Components start, …, stop − 1 are determined as a span, but not each direction: any rotation is as good.
    unresolved : tuple of int
        Components whose direction, or span, is not determined to 0.05.
    n_complete : int
        Number of leading components among which no eigenvalue was missed.
    evidence : str
        How that is known.
    bound_beyond : float
        Lower bound on all other eigenvalues; ∞ if all were computed.
    rounding : float
        Eigenvalues and gaps up to this are rounding.
    caveats : tuple of str
        Why the embedding may be meaningless: a disconnected neighbor graph, a collapsed embedding.
    tol : float
        Tolerance of residuals, relative to gaps.
    converged : bool
        Whether all residuals meet `tol`, or are rounding.
    n_passes, n_products : int
        Cost: passes with the inverse, columns that were solved for.
    """

    _shown: ClassVar = (
        "n_components", "tol", "converged", "values", "residuals", "gaps", "lower", "upper", "angles", "clusters",
        "unresolved", "n_zero", "n_complete", "evidence", "bound_beyond", "rounding", "caveats", "n_passes",
        "n_products",
    )  # fmt: skip

    tol: float
    values: NDArray = field(repr=False)
    residuals: NDArray = field(repr=False)
    gaps: NDArray = field(repr=False)
    lower: NDArray = field(repr=False)
    upper: NDArray = field(repr=False)
    angles: NDArray = field(repr=False)
    clusters: tuple[tuple[int, int], ...]
    n_complete: int
    evidence: str
    bound_beyond: float
    rounding: float
    converged: bool
    n_passes: int = 1
    n_products: int = 0
    caveats: tuple[str, ...] = ()

    @property
    def unresolved(self) -> tuple[int, ...]:  # type: ignore[override]
        return tuple(np.flatnonzero(self.angles > ANGLE).tolist())

    @property
    def n_zero(self) -> int:
        """Number of components whose eigenvalue is zero to working precision."""
        return int(np.sum(self.values <= self.rounding))

    @property
    def summary(self) -> str:
        text = "The alignment matrix is zero."
        if self.rounding:
            limit = f"residuals at most {self.tol:.0e} of the gaps or rounding"
            text = self._verdict(f"{limit}, no eigenvalue missed, directions known")
        return f"{text} Not meaningful: {self.caveats[0]}" if self.caveats else text

    def sentences(self) -> list[str]:
        lines = [self.summary, *self.caveats[1:]]
        if not self.n_components or not self.rounding:
            return lines
        ratios = np.divide(self.residuals, self.gaps, out=np.full(len(self.gaps), np.inf), where=self.gaps > 0)
        worst = int(np.argmax(ratios))
        limit = "within" if self.converged else "NOT within"
        detail = f"{ratios[worst]:.1e} of its gap" if ratios[worst] < 1 else f"{self.residuals[worst]:.1e}, no gap"
        lines.append(f"Residuals {limit} the tolerance {self.tol:.0e}: worst of component {worst + 1}, {detail}.")
        if self.n_zero:
            lines.append(f"{counted(self.n_zero, 'eigenvalue')} zero to working precision ({self.rounding:.1e}).")
        if self.n_complete < self.n_components:
            after = f" after component {self.n_complete}" if self.n_complete else ""
            lines.append(f"Completeness is not established{after}: smaller eigenvalues may have been missed.")
        elif np.isinf(self.bound_beyond):
            lines.append("No eigenvalue was missed: there are no others.")
        else:
            lines.append(
                f"No eigenvalue was missed: all others are at least {number(self.bound_beyond)} ({self.evidence})."
            )
        return [*lines, *self._about_directions()]

    def eigenvalue_warnings(self) -> list[MercerWarning]:
        """Warnings for an embedding of a connected graph whose directions are not determined."""
        found: list[MercerWarning] = []
        if self.angles.max(initial=0.0) <= ANGLE and not self.clusters:
            return found
        zeros = [i for i in range(self.n_zero) if i in self.unresolved or any(a <= i < b for a, b in self.clusters)]
        if zeros:
            open_span = any(i in self.unresolved for i in zeros)
            what = "and so are some that were not kept" if open_span else "so any rotation among them is as good"
            found.append(
                MercerWarning(
                    f"{len(zeros)} of {counted(self.n_components, 'coordinate')} have an eigenvalue of zero to working "
                    f"precision ({self.rounding:.1e}), {what}.",
                    "meaningless" if open_span else "caution",
                    (Remedy("n_neighbors", "auto"),) if open_span else (),
                )
            )
        others = [i + 1 for i in self.unresolved if i not in zeros]
        if others:
            found.append(
                MercerWarning(
                    f"The direction of coordinate {listed(others)} is not determined: its eigenvalue is close to the "
                    "next one. See certificate_. Another n_components may keep or leave out both."
                )
            )
        return found


def certify_gaps(pairs: Eigenpairs, *, tol: float) -> GapCertificate:
    """The certificate of the smallest pairs, with `pairs.bound` on all eigenvalues but the first of them."""
    theta, rho, k = pairs.values, pairs.residuals, len(pairs.values)
    noise, size = bottom_floor(pairs.norm), float(np.sqrt(np.sum(rho**2)))
    every = np.append(theta, pairs.next_values)
    slack = np.append(np.full(k, size), pairs.next_residuals) + noise
    complete = int(np.sum(theta + size + noise < pairs.bound))
    if complete < np.sum(theta - noise < pairs.bound):  # the bound does not tell which ones are below it
        complete = 0
    beyond = pairs.bound if complete == k else every[k] - slack[k] if len(every) > k else -np.inf
    above = np.append(theta[1:] - slack[1:k], beyond - noise)  # lower bounds on the following eigenvalue
    if 0 < complete < k:
        above[complete - 1] = pairs.bound - noise
    below = np.append(-np.inf, theta[:-1] + noise)  # upper bounds on the one before
    delta = np.maximum(np.minimum(above - theta, theta - below), 0.0)
    single = delta > rho
    spread = np.where(single, np.minimum(rho, rho**2 / np.where(single, delta, 1.0)), size)
    angles, clusters = _angles(theta, rho, noise, above, below)
    return GapCertificate(
        tol=tol,
        values=theta,
        residuals=rho,
        gaps=delta,
        lower=np.maximum(theta - spread - noise, 0.0),
        upper=np.maximum(theta, 0.0) + noise,
        angles=angles,
        clusters=clusters,
        n_complete=complete,
        evidence=pairs.evidence,
        bound_beyond=float(max(beyond - noise, 0.0)),
        rounding=noise,
        converged=bool((rho <= np.maximum(tol * gaps(every)[:k], noise)).all()),
        n_passes=pairs.n_passes,
        n_products=pairs.n_products,
    )


def _angles(
    theta: NDArray, rho: NDArray, noise: float, above: NDArray, below: NDArray
) -> tuple[NDArray, tuple[tuple[int, int], ...]]:
    """Davis–Kahan for each run of eigenvalues that are closer than ten errors, and the runs of more than one."""
    k = len(theta)
    apart = theta[1:] - theta[:-1] >= _CLUSTER * (np.maximum(rho[1:], rho[:-1]) + noise)
    edges = np.concatenate([[0], np.flatnonzero(apart) + 1, [k]]) if k else np.array([0])
    angles, clusters = np.ones(k), []
    for start, stop in pairwise(edges.tolist()):
        distance = min(above[stop - 1] - theta[stop - 1], theta[start] - below[start])
        error = float(np.sqrt(np.sum(rho[start:stop] ** 2))) + noise * float(np.sqrt(stop - start))
        if distance > 0:
            angles[start:stop] = min(error / distance, 1.0)
        if stop - start > 1:
            clusters.append((start, stop))
    return angles, tuple(clusters)


# ---------------------------------------------------------------------- landmarks


@storable
@dataclass(frozen=True, eq=False)
class PlacementCertificate(Certificate):
    """The certificate of embedded landmarks, and how well all other samples were placed between them.

    Nothing is proven about a placed sample, which has no eigenvalue problem of its own. What is measured instead:

    Attributes
    ----------
    landmarks : GapCertificate
        Of the eigenvectors of the landmarks.
    n_landmarks, n_placed, n_far : int
        Number of landmarks, of placed samples, and of those that are farther from the landmarks than these are from
        their own neighbors.
    residuals : ndarray of shape (3,)
        ‖x − Σⱼwⱼsⱼ‖ of placed samples, relative to the median distance of a landmark to its last neighbor: the median
        of the samples, the 95th percentile, the maximum.
    replacement_errors : ndarray of shape (n_components,)
        Root mean square distance of the landmarks from where the others would place them, relative to the spread. The
        others were fitted with it, so this does not measure the error on unseen samples.
    """

    _shown: ClassVar = ("n_landmarks", "n_placed", "n_far", "residuals", "replacement_errors")

    landmarks: GapCertificate
    n_landmarks: int
    n_placed: int
    residuals: NDArray = field(repr=False)
    replacement_errors: NDArray = field(repr=False)
    n_far: int = 0

    @property
    def converged(self) -> bool:  # type: ignore[override]
        return self.landmarks.converged

    @property
    def certified(self) -> bool:
        """Whether the eigenvectors of the landmarks are certified. Placed samples never are."""
        return self.landmarks.certified

    @property
    def caveats(self) -> tuple[str, ...]:
        """Reasons why the embedding of the landmarks may not be meaningful."""
        return self.landmarks.caveats

    @property
    def summary(self) -> str:
        return (
            f"{counted(self.n_landmarks, 'landmark')}: {self.landmarks.summary} Nothing is proven about the other "
            f"{counted(self.n_placed, 'row')}, placed between them."
        )

    def sentences(self) -> list[str]:
        median, most, worst = self.residuals
        lines = [
            self.summary,
            f"Measured: landmarks leave {median:.1%} of a placed row unexplained (median), {most:.1%} (95th "
            f"percentile), {worst:.1%} (maximum), relative to the distance of landmarks to their last neighbor.",
            f"A landmark that is placed by the others is off by {self.replacement_errors.max(initial=0.0):.1e} of the "
            "spread.",
        ]
        if self.n_far:
            lines.append(f"{counted(self.n_far, 'row')} far from all landmarks: there the embedding is a guess.")
        return [*lines, *self.landmarks.sentences()[1:]]


def certify_placement(
    landmarks: GapCertificate, radii: NDArray, residuals: NDArray, replacement_errors: NDArray, n_far: int
) -> PlacementCertificate:
    """From the distances of landmarks to their last neighbors and the residuals of placed samples, which it sorts."""
    usual, n_placed = float(np.median(radii)) or 1.0, len(residuals)
    found = np.quantile(residuals, _FRACTIONS, overwrite_input=True) / usual if n_placed else np.zeros(3)
    return PlacementCertificate(landmarks, len(radii), n_placed, found, replacement_errors, n_far)
