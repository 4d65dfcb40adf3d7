"""The proof that goes with landmarks: how far the truth can be from what they see.

K = ΦΦᵀ + E with E positive semi-definite, and only the diagonal of E is known. Centring keeps the order of matrices, so
for the eigenvalues λ of the centred K and λ̂ of the centred ΦΦᵀ, with e = tr(E):

  λ̂ᵢ ≤ λᵢ,   Σᵢ(λᵢ − λ̂ᵢ) ≤ e
  total   T − e₀ ≤ tr(PKP) ≤ T,   T = Σw·k(x, x) − Σw·‖mean φ‖²,   e₀ = (Σw√e_xx)²/Σw ≤ e

The second line bounds the variance there is, so the share explained has an interval too.
"""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from mercer.arrays import Array
from mercer.certificates.base import Proof
from mercer.errors import counted

_Interval = tuple[float, float]
_ROUNDED = 4.0  # times the rounding: what is left, with the rounding in it, if landmarks see everything


@dataclass(frozen=True, eq=False)
class IntervalCertificate(Proof):
    """What is proven about a fit by landmarks. Printed, it is a few English lines.

    It rests on the kernel being positive semi-definite: `standing` is "proven" if that is known, "if" if it is the
    user's word, and "void" if it was seen not to be.
    """

    n_components: int
    n_landmarks: int
    lower: Array = field(repr=False)  # λᵢ ≥ lower
    upper: Array = field(repr=False)  # λᵢ ≤ upper
    total: _Interval  # of the sum of all eigenvalues
    explained: _Interval  # of the share of it that the first n_components eigenvalues have
    captured: float  # share of it that all landmarks together see for certain
    left: float  # tr(E)
    rounding: float  # in all of these
    standing: str = "proven"

    #: No residual was measured: the interval is all there is.
    certified: ClassVar[bool] = False

    @property
    def converged(self) -> bool:
        """Whether anything can be said."""
        return self.standing != "void"

    def sentences(self) -> list[str]:
        return _sentences(self)


def certify_landmarks(
    values: Array, *, landmarks: int, seen: float, left: float, total: _Interval, rounding: float, standing: str
) -> IntervalCertificate:
    """The intervals of the first λ̂ = values, largest first, of which all together make `seen`."""
    if standing == "void":
        return IntervalCertificate(
            n_components=len(values),
            n_landmarks=landmarks,
            lower=np.zeros(len(values)),
            upper=np.full(len(values), np.inf),
            total=(0.0, np.inf),
            explained=(0.0, 1.0),
            captured=0.0,
            left=left,
            rounding=rounding,
            standing=standing,
        )
    left, bottom, top = left + rounding, max(total[0] - rounding, 0.0), max(total[1], 0.0) + rounding
    levels = [_water_level(values[: i + 1], left) for i in range(len(values))]
    upper = np.minimum(levels, top) if levels else values
    kept = float(values.sum())
    return IntervalCertificate(
        n_components=len(values),
        n_landmarks=landmarks,
        lower=np.maximum(values - rounding, 0.0),
        upper=upper + rounding,
        total=(bottom, top),
        explained=(_share(kept - rounding, top), _share(min(kept + left, top), bottom) if bottom > 0 else 1.0),
        captured=_share(seen - rounding, top),
        left=left,
        rounding=rounding,
        standing=standing,
    )


def _water_level(values: Array, amount: float) -> float:
    """The largest λ with Σⱼ max(λ − λ̂ⱼ, 0) ≤ amount over these j ≤ i: how high λᵢ can be.

    All of λ₁ … λᵢ are at least λᵢ, and together they exceed their λ̂ by no more than the amount.
    """
    depths = np.sort(values)
    filled = np.arange(1, len(depths) + 1)
    levels = (amount + np.cumsum(depths)) / filled  # if the lowest 1, 2, … of them are under water
    return float(levels.min())


def _share(part: float, whole: float) -> float:
    return float(np.clip(part / whole, 0.0, 1.0)) if whole > 0 else 0.0


def _sentences(c: IntervalCertificate) -> list[str]:
    if not c.n_components:
        return ["No components: nothing to certify."]
    low, high = c.explained
    count = f"{counted(c.n_components, 'component')} from {counted(c.n_landmarks, 'landmark')}"
    if c.standing == "void":
        return [f"{count}: NOTHING is proven about them, as the kernel is not positive semi-definite."]
    condition = "" if c.standing == "proven" else ", if the kernel is positive semi-definite"
    lines = [
        f"{count}: not certified one by one, but the truth lies in these intervals{condition}.",
        f"Variance explained by the true first {c.n_components}: between {low:.2%} and {high:.2%}; "
        f"the landmarks see {c.captured:.2%} of all variance for certain.",
    ]
    if c.captured < 0.1:
        lines.append("That is next to nothing: the data do not compress to so few landmarks (is gamma too large?).")
    width = (c.upper - c.lower) / np.maximum(c.upper, np.finfo(float).tiny)
    sharp = int(np.sum(np.logical_and.accumulate(width <= 0.1)))
    lines.append(
        f"Eigenvalues: known to {width[:sharp].max():.1e} of themselves among the first {sharp}."
        if sharp
        else f"Eigenvalues: none is known to 10 %; the first lies between {c.lower[0]:.4g} and {c.upper[0]:.4g}."
    )
    if c.left > _ROUNDED * c.rounding:  # otherwise there is nothing more to see
        lines.append("Give more n_landmarks for a narrower interval, or refine=1 for one exact pass with residuals.")
    return lines
