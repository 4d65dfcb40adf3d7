"""The certificate of a sketch: how far the scatter matrix can be from the rows that represent it.

Frequent Directions keeps rows B and a number Δ with BᵀB − rI ⪯ S ⪯ BᵀB + (Δ + r)I, r a bound on rounding. For the
eigenvalues λ of S and the singular values σ of B, computed with an error of at most e in σ² and in the residuals of
the directions:

  each       σᵢ² − e − r ≤ λᵢ ≤ σᵢ² + Δ + e + r (Weyl)
  direction  sin∠(uᵢ, vᵢ) ≤ (h + e)/(gᵢ − h − e), gᵢ the distance of σᵢ² to the other squared singular values and
             h = Δ/2 + r, by which S differs from BᵀB + Δ/2·I (Davis–Kahan)

The middle of each interval is reported.
"""

from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from mercer.certificates.certificate import ANGLE, IntervalCertificate
from mercer.errors import Remedy
from mercer.numerics.rounding import TINY
from mercer.storable import storable
from mercer.text import counted, listed, number


@storable
@dataclass(frozen=True, eq=False)
class SketchCertificate(IntervalCertificate):
    """Intervals for eigenvalues and directions of a scatter matrix that was not kept.

    Attributes
    ----------
    sketch_size : int
        Number of rows of the sketch after it has been shrunk.
    lower, upper : ndarray of shape (n_components,)
        Intervals of the eigenvalues of the exact scatter matrix.
    angles : ndarray of shape (n_components,)
        Bounds on the sine of the angle between computed and exact direction.
    explained : tuple of float
        Interval of the explained variance ratio of the exact leading components together.
    shrinkage : float
        What the sketch lost: Δ, the width of the intervals but for rounding.
    bound_beyond : float
        Bound on all other eigenvalues.
    rounding : float
        Eigenvalues up to this may be rounding.
    total_error : float
        Bound on the error of the sum of all eigenvalues.
    """

    sketch_size: int
    lower: NDArray = field(repr=False)
    upper: NDArray = field(repr=False)
    angles: NDArray = field(repr=False)
    explained: tuple[float, float]
    shrinkage: float
    bound_beyond: float
    rounding: float
    total_error: float = 0.0
    n_passes: int = 1
    converged: bool = True  # nothing is iterated
    is_separated: ClassVar[bool] = False
    unresolved_reason: ClassVar[str] = "the sketch lost more than the distance to another eigenvalue"

    @property
    def certified(self) -> bool:
        """Whether the sketch lost nothing but rounding, so that the result is that of all rows."""
        return self.shrinkage <= self.rounding and not self.unresolved

    @property
    def remedies(self) -> tuple[Remedy, ...]:
        """A sketch of twice as many rows."""
        return (Remedy("sketch_size", 2 * self.sketch_size),)

    @property
    def is_zero(self) -> NDArray:
        """Components whose eigenvalue cannot be distinguished from zero."""
        return self.lower <= 0

    def for_attributes(self, unit: float, stored_unit: float) -> Self:
        """The certificate of unit²·λ, with room for the rounding of the fitted attributes."""
        squares = unit * unit  # may underflow: intervals are widened by the smallest number
        return replace(
            self,
            lower=np.maximum(self.lower * unit * unit * (1 - 4 * stored_unit) - TINY, 0.0),
            upper=self.upper * unit * unit * (1 + 4 * stored_unit) + TINY,
            angles=np.minimum(self.angles + 4 * stored_unit, 1.0),
            shrinkage=self.shrinkage * squares,
            bound_beyond=self.bound_beyond * squares,
            rounding=self.rounding * squares + 2 * TINY,
            total_error=self.total_error * squares,
        )

    def trace_error(self, total: float) -> float:
        """Bound on the error of the sum of all eigenvalues."""
        return self.total_error

    @property
    def summary(self) -> str:
        if not self.n_components:
            return "No components, nothing to certify."
        which = f"{counted(self.n_components, 'component')} from a sketch of {self.sketch_size:,} rows"
        if self.certified:
            return f"{which}, certified: the sketch lost nothing but rounding."
        if self.shrinkage <= self.rounding:
            return f"{which}, NOT certified: directions are not established."
        return f"{which}, NOT certified: eigenvalues are known up to intervals of width {number(self.shrinkage)}."

    def sentences(self) -> list[str]:
        if not self.n_components:
            return [self.summary]
        low, high = self.explained
        lines = [
            self.summary,
            f"Explained variance ratio of the exact leading {self.n_components}: {low:.2%} to {high:.2%}.",
            f"Eigenvalues: {self._known()}; all others are at most {number(self.bound_beyond)}.",
        ]
        resolved = [i for i in range(self.n_components) if i not in self.unresolved]
        if resolved:
            worst = max(resolved, key=lambda i: self.angles[i])
            lines.append(f"Directions: sine of the error at most {self.angles[worst]:.1e} (component {worst + 1}).")
        if self.unresolved:
            lines.append(f"Not determined to {ANGLE}: component {listed((i + 1 for i in self.unresolved), 10)}.")
        if self.shrinkage > self.rounding:
            lines.append("A larger sketch_size narrows the intervals.")
        return lines


def certify_sketch(
    values: NDArray,
    others: NDArray,
    *,
    error: float,
    sketch_size: int,
    shrinkage: float,
    rounding: float,
    total: float,
    total_error: float,
) -> SketchCertificate:
    """The certificate of σ² = `values`, given all other squared singular values and the error e of both."""
    lower = np.maximum(values - error - rounding, 0.0)
    upper = values + shrinkage + error + rounding
    half = shrinkage / 2 + rounding + error
    spectrum = np.append(values, others)
    gaps = np.array([np.delete(np.abs(spectrum - value), i).min(initial=np.inf) for i, value in enumerate(values)])
    room = gaps - half
    angles = np.divide(half, room, out=np.ones(len(values)), where=room > half)
    parts = np.array([lower.sum(), upper.sum()])
    wholes = np.array([total + total_error, total - total_error])
    explained = np.clip(np.divide(parts, wholes, out=np.array([0.0, 1.0]), where=wholes > 0), 0.0, 1.0)
    return SketchCertificate(
        sketch_size=sketch_size,
        lower=lower,
        upper=upper,
        angles=np.minimum(angles, 1.0),
        explained=(float(explained[0]), float(explained[1])),
        shrinkage=shrinkage,
        bound_beyond=float(others.max(initial=0.0)) + shrinkage + error + rounding,
        rounding=rounding + error,
        total_error=total_error,
    )
