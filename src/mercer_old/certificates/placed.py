"""What goes with an embedding by landmarks: the proof of their own eigenvectors, and how well other rows were placed.

The landmarks are embedded exactly, and `landmarks` is the proof of that. A row that is placed between them has no
eigenvalue problem of its own, so nothing is proven about its place; what is measured instead:

  residuals  ‖x − Σⱼwⱼsⱼ‖ of placed rows, over the usual distance of a landmark to the last of its own neighbours:
             how much of a row its landmarks do not explain
  returned   √(mean (zᵢ − Σⱼwᵢⱼzⱼ)²)/spread over the landmarks i, a number for each coordinate: where a landmark would
             go if it were placed by the others, against where it was fitted. The others were fitted with it, so this
             is no test by rows that a fit has not seen: by "standard" it is √λ, all that the fit made small
"""

from dataclasses import dataclass, field

import numpy as np

from mercer_old.arrays import Array
from mercer_old.certificates.base import Proof
from mercer_old.certificates.gaps import GapCertificate, PartsCertificate
from mercer_old.errors import counted

SHARES = 0.5, 0.95, 1.0  # of the placed rows, for which residuals are told


@dataclass(frozen=True, eq=False)
class PlacedCertificate(Proof):
    """What is proven about the landmarks, and measured of all other rows. Printed, it is a few English lines."""

    landmarks: GapCertificate | PartsCertificate
    n_landmarks: int
    n_placed: int
    residuals: Array = field(repr=False)  # of the placed rows: the median, that of 95 in 100, the largest
    returned: Array = field(repr=False)  # of the landmarks, for each coordinate
    n_far: int  # placed rows that are farther from the landmarks than those are from their own neighbours

    @property
    def converged(self) -> bool:
        return self.landmarks.converged

    @property
    def certified(self) -> bool:
        """Whether every residual of the landmarks' own eigenvectors met the rule; placed rows have none."""
        return self.landmarks.certified

    @property
    def passes(self) -> int:
        return self.landmarks.passes

    def sentences(self) -> list[str]:
        median, most, worst = self.residuals
        lines = [
            f"{counted(self.n_landmarks, 'landmark')} embedded; nothing is proven about the other "
            f"{counted(self.n_placed, 'row')}, which {'were' if self.n_placed != 1 else 'was'} placed between them.",
            f"Measured: landmarks leave {median:.1%} of a placed row unexplained (half of the rows), {most:.1%} (95 in "
            f"100), {worst:.1%} (all), against the distance at which landmarks have their last neighbour.",
            f"A landmark that is placed by the others, which were fitted with it, is off by "
            f"{self.returned.max(initial=0.0):.1e} of the spread.",
        ]
        if self.n_far:
            lines.append(f"{counted(self.n_far, 'row')} lie far from all landmarks: there the embedding is a guess.")
        return [*lines, *str(self.landmarks).splitlines()]


def certify_placed(
    landmarks: GapCertificate | PartsCertificate, radii: Array, residuals: Array, returned: Array, n_far: int
) -> PlacedCertificate:
    """From distances of landmarks to their last neighbours, and distances of placed rows from what these explain.

    `residuals` are sorted in part where they are: there may be many of them, and nobody else wants them.
    """
    usual, n_placed = float(np.median(radii)) or 1.0, len(residuals)
    shares = np.quantile(residuals, SHARES, overwrite_input=True) / usual if n_placed else np.zeros(len(SHARES))
    return PlacedCertificate(landmarks, len(radii), n_placed, shares, returned, n_far)
