"""The proof that goes with landmarks: how far the truth can be from what they see.

K = ΦΦᵀ + E with E positive semi-definite, and only the diagonal of E is known. Centring keeps the order of matrices, so
for the eigenvalues λ of the centred K and λ̂ of the centred ΦΦᵀ, with e = tr(E):

  λ̂ᵢ ≤ λᵢ,   Σᵢ(λᵢ − λ̂ᵢ) ≤ e
  total   T − e₀ ≤ tr(PKP) ≤ T,   T = Σw·k(x, x) − Σw·‖mean φ‖²,   e₀ = (Σw√e_xx)²/Σw ≤ e

The second line bounds the variance there is, so the share explained has an interval too.

Landmarks that join later know less of the rows before them. Let A be the coordinates that are known of every row, and
B = B̃ + Δ the others, where B̃ has zeros for the rows that came before, and Σw‖Δ‖² = β ≤ ρ, what was left of them then
(`stale`; it is a part of e). As 0 ⪯ (√θ·B̃ ∓ Δ/√θ)(√θ·B̃ ∓ Δ/√θ)ᵀ, Cauchy and Schwarz for the unknown mixed part,

  AAᵀ + (1 − θ)B̃B̃ᵀ − (1/θ − 1)ΔΔᵀ  ⪯  ΦΦᵀ  ⪯  AAᵀ + (1 + θ)B̃B̃ᵀ + (1 + 1/θ)ΔΔᵀ   for every 0 < θ ≤ 1,

and tr(E) ≤ e − β. So with the eigenvalues λ⁻ and λ⁺ of the known ends (`Stretched`; centred, as before)

  λᵢ ≥ λ⁻ᵢ − (1/θ − 1)ρ,   λᵢ is no higher than an amount e + ρ/θ of water stands over λ⁺₁ … λ⁺ᵢ,

the same for sums, and the best of several θ is taken for each. θ = 1 is the block A alone, whose eigenvalues lie below.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from mercer_old.arrays import Array
from mercer_old.certificates.base import Proof
from mercer_old.errors import counted

_Interval = tuple[float, float]
_ANGLES = 4  # θ that are tried beside 1: two eigenproblems each
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
    stale: float = 0.0  # the part ρ of tr(E) that may lie along landmarks that joined after its rows had come

    #: No residual was measured: the interval is all there is.
    certified: ClassVar[bool] = False

    @property
    def converged(self) -> bool:
        """Whether anything can be said."""
        return self.standing != "void"

    def sentences(self) -> list[str]:
        return _sentences(self)


@dataclass(frozen=True, eq=False)
class Stretched:
    """Eigenvalues of AAᵀ + (1 ± θ)B̃B̃ᵀ, centred, as many as there are components, largest first."""

    theta: float
    below: Array
    above: Array


def angles(values: Array, stale: float) -> Array:
    """A few θ that are worth trying: about √(ρ/λ), the best for an eigenvalue λ, and 1."""
    largest, smallest = float(values.max(initial=0.0)), float(values.min(initial=0.0))
    ends = np.clip([np.sqrt(stale / max(value, stale)) for value in (largest, smallest)], 1e-8, 0.5)
    return np.append(np.unique(np.geomspace(ends[0], ends[1], _ANGLES)), 1.0)


def certify_landmarks(
    values: Array,
    *,
    landmarks: int,
    seen: float,
    left: float,
    total: _Interval,
    rounding: float,
    standing: str,
    stale: float = 0.0,
    stretched: Sequence[Stretched] = (),
) -> IntervalCertificate:
    """The intervals of the first λ̂ = values, largest first, of which the landmarks together see `seen`."""
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
            stale=stale,
        )
    left, bottom, top = left + rounding, max(total[0] - rounding, 0.0), max(total[1], 0.0) + rounding
    bounds = _grown(stretched, left, stale, rounding) if stale else _fixed(values, left, rounding)
    fewest, most = bounds.sums
    return IntervalCertificate(
        n_components=len(values),
        n_landmarks=landmarks,
        lower=np.maximum(bounds.lower, 0.0),
        upper=np.minimum(bounds.upper, top + rounding),
        total=(bottom, top),
        explained=(_share(fewest, top), _share(min(most, top), bottom) if bottom > 0 else 1.0),
        captured=_share(seen - rounding, top),
        left=left,
        rounding=rounding,
        standing=standing,
        stale=stale,
    )


@dataclass(frozen=True, eq=False)
class _Bounds:
    """Of every eigenvalue, and of the sum of all of them."""

    lower: Array
    upper: Array
    sums: _Interval


def _fixed(values: Array, left: float, rounding: float) -> _Bounds:
    """All rows know all coordinates; `left` has its rounding in it."""
    kept = float(values.sum())
    return _Bounds(values - rounding, _water_levels(values, left) + rounding, (kept - rounding, kept + left))


def _grown(stretched: Sequence[Stretched], left: float, stale: float, rounding: float) -> _Bounds:
    """The best of several θ, for every eigenvalue and for their sum; rounding of the later part is stretched too."""
    each = list[_Bounds]()
    for one in stretched:
        less, more = (1 / one.theta - 1) * stale + rounding, left + stale / one.theta
        upper = _water_levels(one.above, more) + (1 + one.theta) * rounding
        sums = float(one.below.sum()) - less, float(one.above.sum()) + more + rounding
        each.append(_Bounds(one.below - less, upper, sums))
    return _Bounds(
        np.max([one.lower for one in each], axis=0),
        np.min([one.upper for one in each], axis=0),
        (max(one.sums[0] for one in each), min(one.sums[1] for one in each)),
    )


def _water_levels(values: Array, amount: float) -> Array:
    return np.array([_water_level(values[: i + 1], amount) for i in range(len(values))])


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
    if c.stale > _ROUNDED * c.rounding:
        lines.append(
            f"Landmarks joined after rows had come: {_share(c.stale, c.total[1]):.2%} of the variance, of these rows, "
            "was not seen and may lie along them; the intervals allow for it. Fit all rows at once for narrower ones."
        )
    elif c.left > _ROUNDED * c.rounding:  # otherwise there is nothing more to see
        lines.append("Give more n_landmarks for a narrower interval, or refine=1 for one exact pass with residuals.")
    return lines
