"""What is proven about an answer, in numbers and in a few English lines.

`residuals` certifies the largest eigenpairs, `gaps` the smallest, `intervals` what landmarks see, `sketches` what a few
rows keep of all, `placed` an embedding of landmarks with all rows between them; `filling` tells how a fit to rows with
missing numbers ended, and `optima` how flat it is where a descent has ended, and what that does not prove. `base` is
what all of them have in common. A certificate asks nobody anything: it is made of measured pairs and of bounds that are
handed to it. Each module begins with the theorem it stands on.
"""

from mercer_old.certificates.filling import FillingCertificate
from mercer_old.certificates.gaps import GapCertificate, PartsCertificate, about_eigenvalues, certify_gaps
from mercer_old.certificates.intervals import IntervalCertificate, certify_landmarks
from mercer_old.certificates.optima import LocalOptimum
from mercer_old.certificates.placed import PlacedCertificate, certify_placed
from mercer_old.certificates.residuals import ANGLE, Certificate, about_directions, certify
from mercer_old.certificates.sketches import SketchCertificate, about_sketched_directions, certify_sketch

__all__ = [
    "ANGLE",
    "Certificate",
    "FillingCertificate",
    "GapCertificate",
    "IntervalCertificate",
    "LocalOptimum",
    "PartsCertificate",
    "PlacedCertificate",
    "SketchCertificate",
    "about_directions",
    "about_eigenvalues",
    "about_sketched_directions",
    "certify",
    "certify_gaps",
    "certify_landmarks",
    "certify_placed",
    "certify_sketch",
]
