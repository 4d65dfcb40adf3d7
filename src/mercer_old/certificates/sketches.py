"""The proof that goes with a sketch: how far the truth can be from the few rows that stand for all.

Frequent Directions (sweeps/sketch.py) keeps B and Δ with BᵀB ⪯ S ⪯ BᵀB + Δ·I, all up to a rounding r. For the
eigenvalues λ of S and the singular values σ of B, by Weyl:

  each       σᵢ² − r ≤ λᵢ ≤ σᵢ² + Δ + r
  share      Σᵢ(σᵢ² − r)/tr S ≤ Σᵢλᵢ/tr S ≤ Σᵢ(σᵢ² + Δ + r)/tr S, where tr S is known, as it is summed up by itself
  direction  sin∠(uᵢ, vᵢ) ≤ h/(gᵢ − h), gᵢ the distance of σᵢ² to all other eigenvalues of BᵀB, h = Δ/2 + r
             (Davis and Kahan, for BᵀB + Δ/2·I, which S differs from by no more than h)

The middle of the first interval is reported: no other number is nearer to both of its ends.
"""

from dataclasses import dataclass, field

import numpy as np

from mercer_old.arrays import Array
from mercer_old.certificates.base import Proof
from mercer_old.certificates.residuals import ANGLE
from mercer_old.errors import counted, listed

_Interval = tuple[float, float]
_KNOWN = 0.1  # width of an interval, of its upper end, up to which an eigenvalue is called known


@dataclass(frozen=True, eq=False)
class SketchCertificate(Proof):
    """What is proven about a fit by a sketch of the rows. Printed, it is a few English lines."""

    n_components: int
    sketch_size: int
    lower: Array = field(repr=False)  # λᵢ ≥ lower
    upper: Array = field(repr=False)  # λᵢ ≤ upper
    angles: Array = field(repr=False)  # sin of the angle between computed and true direction is at most this
    total: _Interval  # of the sum of all eigenvalues
    explained: _Interval  # of the share of it that the first n_components eigenvalues have
    shrinkage: float  # Δ
    bound_beyond: float  # no other eigenvalue exceeds it
    rounding: float  # r

    @property
    def certified(self) -> bool:
        """Whether the sketch lost nothing but rounding: then the answer is that of all rows."""
        return self.shrinkage <= self.rounding

    @property
    def converged(self) -> bool:
        """Always: there is nothing that could have stopped early."""
        return True

    @property
    def unresolved(self) -> tuple[int, ...]:
        """Components whose direction is not determined to 0.05."""
        return tuple(int(i) for i in np.flatnonzero(self.angles > ANGLE))

    def sentences(self) -> list[str]:
        return _sentences(self)


def certify_sketch(
    values: Array,
    *,
    size: int,
    lost: float,
    off: Array,
    others: Array,
    angles: Array,
    total: _Interval,
    rounding: float,
) -> SketchCertificate:
    """From the first σ² = values, off by no more than `off`, with turns of `angles`, and all others of B."""
    lower = np.maximum(values - off - rounding, 0.0)
    upper = values + off + rounding + lost
    half = lost / 2 + rounding
    spectrum = np.concatenate([values, others])
    gaps = np.array([np.delete(np.abs(spectrum - value), i).min(initial=np.inf) for i, value in enumerate(values)])
    room = gaps - 2 * off - half
    turned = np.where(room > half, half / np.where(room > 0, room, 1.0), 1.0)
    high = float(others.max(initial=0.0)) + float(off.max(initial=0.0)) + rounding + lost
    return SketchCertificate(
        n_components=len(values),
        sketch_size=size,
        lower=lower,
        upper=upper,
        angles=np.minimum(turned + angles, 1.0),
        total=total,
        explained=(_share(float(lower.sum()), total[1]), _share(float(upper.sum()), total[0], 1.0)),
        shrinkage=lost,
        bound_beyond=high,
        rounding=rounding,
    )


def _share(part: float, whole: float, otherwise: float = 0.0) -> float:
    return float(np.clip(part / whole, 0.0, 1.0)) if whole > 0 else otherwise


def _sentences(c: SketchCertificate) -> list[str]:
    if not c.n_components:
        return ["No components: nothing to certify."]
    low, high = c.explained
    count = f"{counted(c.n_components, 'component')} from a sketch of size {c.sketch_size:,}"
    lines = [
        f"{count}: it lost nothing but rounding, so the answer is that of all rows."
        if c.certified
        else f"{count}: every eigenvalue lies in an interval of width {c.shrinkage:.4g}, all that the sketch lost.",
        f"Variance explained by the true first {c.n_components}: between {low:.2%} and {high:.2%}.",
        f"Eigenvalues: {_known(c)}; no other one exceeds {c.bound_beyond:.4g}.",
    ]
    sure = [i for i in range(c.n_components) if i not in c.unresolved]
    if sure:
        where = max(sure, key=lambda i: c.angles[i])
        lines.append(f"Directions: off by at most {c.angles[where]:.1e} (component {where + 1}).")
    if c.unresolved:
        names = listed((i + 1 for i in c.unresolved), 10)
        lines.append(f"Unresolved: the direction of component {names} is not determined to {ANGLE}.")
    if not c.certified:
        lines.append("Give a larger sketch_size for narrower intervals.")
    return lines


def _known(c: SketchCertificate) -> str:
    width = (c.upper - c.lower) / np.maximum(c.upper, np.finfo(float).tiny)
    sharp = int(np.sum(np.logical_and.accumulate(width <= _KNOWN)))
    if sharp:
        return f"known to {width[:sharp].max():.1e} of themselves among the first {sharp}"
    return f"none is known to 10 %, the first lies between {c.lower[0]:.4g} and {c.upper[0]:.4g}"


def about_sketched_directions(certificate: SketchCertificate, values: Array) -> list[str]:
    """Which components have a variance but, as far as the sketch can tell, no direction of their own."""
    unsettled = [i for i in certificate.unresolved if values[i] > 0]
    if not unsettled:
        return []
    names = listed(i + 1 for i in unsettled)
    return [
        f"The direction of component {names} is not determined by a sketch of size {certificate.sketch_size:,} (its "
        "eigenvalue is nearer to another one than what the sketch lost); see certificate_. A larger sketch_size may "
        "settle it."
    ]
