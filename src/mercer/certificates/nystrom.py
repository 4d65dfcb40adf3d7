"""The certificate of a Nyström approximation: how far the kernel matrix can be from what landmarks see of it.

K = ΦΦᵀ + E with E positive semi-definite, and only its trace is known. Centering keeps the order of matrices, so for
the eigenvalues λ of the centered K and λ̂ of the centered ΦΦᵀ, and e = tr(E):

  each       λ̂ᵢ ≤ λᵢ, and Σᵢ(λᵢ − λ̂ᵢ) ≤ e: λᵢ is at most the level that e reaches if it fills up λ̂₁ … λ̂ᵢ
  total      T − e₀ ≤ Σλ ≤ T with T = Σw·k(x, x) − Σw·‖mean φ‖² and e₀ = (Σw√e_xx)²/Σw ≤ e
  direction  sin∠(uᵢ, vᵢ) ≤ h/(g − h), g the distance of λ̂ᵢ to the other λ̂ and h = e/2, by which the matrix differs
             from ΦΦᵀ + e/2·I (Davis–Kahan)

**Landmarks that join later** know less of the samples before them. Let A be the coordinates that are known of every
sample, and B = B̃ + Δ the others, where B̃ is zero for the samples that came before, and Σw‖Δ‖² = β ≤ ρ, what was left
of them then (`stale`; it is a part of e). As 0 ⪯ (√θ·B̃ ∓ Δ/√θ)(√θ·B̃ ∓ Δ/√θ)ᵀ bounds the mixed part,

  AAᵀ + (1 − θ)B̃B̃ᵀ − (1/θ − 1)ΔΔᵀ  ⪯  ΦΦᵀ  ⪯  AAᵀ + (1 + θ)B̃B̃ᵀ + (1 + 1/θ)ΔΔᵀ   for every 0 < θ ≤ 1,

and tr(E) ≤ e − β. So with the eigenvalues λ⁻ and λ⁺ of the known ends, centered,

  λᵢ ≥ λ⁻ᵢ − (1/θ − 1)ρ,   λᵢ is at most the level that e + ρ/θ reaches over λ⁺₁ … λ⁺ᵢ,

the same for sums, and the best of several θ is taken for each.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from mercer.certificates.certificate import ANGLE, NARROW, IntervalCertificate
from mercer.linalg.landmarks import LandmarkState, StretchedEnds
from mercer.numerics.rounding import UNIT_SINGLE
from mercer.storable import storable
from mercer.text import counted, listed, number

Status = Literal["proven", "assumed", "invalid"]
_STORED = 4  # roundings between an eigenvalue and any attribute that shows it
_ROUNDED = 4.0  # times the rounding: what is left, with the rounding in it, if landmarks see everything


@storable
@dataclass(frozen=True, eq=False)
class NystromCertificate(IntervalCertificate):
    """Intervals for the eigenvalues and directions of a kernel matrix that was compared with landmarks only.

    It rests on the kernel being positive semi-definite. No residual was measured, so the components are never called
    certified: the intervals are all that is known.

    Attributes
    ----------
    n_landmarks : int
        Number of landmarks.
    lower, upper : ndarray of shape (n_components,)
        Intervals of the eigenvalues of the exact centered kernel matrix.
    angles : ndarray of shape (n_components,)
        Bounds on the sine of the angle between computed and exact eigenvector.
    total, explained : tuple of float
        Intervals of the sum of all eigenvalues, and of the fraction of it in the first n_components.
    captured : float
        Fraction of the variance that all landmarks together see for certain.
    left : float
        Trace of what they do not see, rounding included.
    bound_beyond : float
        Bound on all other eigenvalues.
    rounding : float
        Bound on rounding, which all intervals contain.
    status : {"proven", "assumed", "invalid"}
        Whether the kernel is known to be positive semi-definite, taken to be, or seen not to be.
    stale : float
        Part of the trace that may lie along landmarks that joined after its samples.
    """

    n_landmarks: int
    lower: NDArray = field(repr=False)
    upper: NDArray = field(repr=False)
    angles: NDArray = field(repr=False)
    total: tuple[float, float]
    explained: tuple[float, float]
    captured: float
    left: float
    bound_beyond: float
    rounding: float
    status: Status = "proven"
    stale: float = 0.0
    n_passes: int = 1
    certified: ClassVar[bool] = False
    unresolved_reason: ClassVar[str] = "the landmarks leave more than the distance to another eigenvalue"

    @property
    def converged(self) -> bool:  # type: ignore[override]
        """Whether anything is known."""
        return self.status != "invalid"

    @property
    def summary(self) -> str:
        if not self.n_components:
            return "No components, nothing to certify."
        which = f"{counted(self.n_components, 'component')} from {counted(self.n_landmarks, 'landmark')}, NOT certified"
        if self.status == "invalid":
            return f"{which}: the kernel is not positive semi-definite, so nothing is known about them."
        condition = "" if self.status == "proven" else " if the kernel is positive semi-definite"
        return f"{which}: eigenvalues are known up to intervals{condition}."

    def sentences(self) -> list[str]:
        if not self.n_components or self.status == "invalid":
            return [self.summary]
        low, high = self.explained
        lines = [
            self.summary,
            f"Explained variance ratio of the exact leading {self.n_components}: {low:.2%} to {high:.2%}; "
            f"the landmarks see at least {self.captured:.2%} of the variance.",
        ]
        if self.captured < NARROW:
            lines.append("The data do not compress to so few landmarks. Is gamma too large?")
        lines.append(f"Eigenvalues: {self._known()}; all others are at most {number(self.bound_beyond)}.")
        if self.unresolved:
            lines.append(f"Not determined to {ANGLE}: the direction of component {self._names(self.unresolved)}.")
        if self.stale > _ROUNDED * self.rounding:
            lines.append(
                f"Landmarks joined after other rows: {_ratio(self.stale, self.total[1]):.2%} of the variance, that of "
                "these rows, may lie along them. A fit to all rows at once has narrower intervals."
            )
        elif self.left > _ROUNDED * self.rounding:
            lines.append("More n_landmarks narrow the intervals; refine=1 measures residuals in one exact pass.")
        return lines

    def for_attributes(self, dtype: np.dtype) -> Self:
        """The certificate of eigenvalues and vectors that are stored in this type."""
        if dtype != np.float32:
            return self
        off, (low, high) = _STORED * UNIT_SINGLE, self.explained
        return replace(
            self,
            lower=self.lower * (1 - off),
            upper=self.upper * (1 + off),
            angles=np.minimum(self.angles + off, 1.0),
            explained=(low * (1 - off), min(high * (1 + off), 1.0)),
        )

    def _names(self, components: tuple[int, ...]) -> str:
        return listed((i + 1 for i in components), 10)


class _Bounds(NamedTuple):
    """Bounds on every eigenvalue, the one after the last included, and on the sum without that one."""

    lower: NDArray
    upper: NDArray
    total: tuple[float, float]


def certify_nystrom(
    state: LandmarkState, values: NDArray, others: NDArray, ends: Sequence[StretchedEnds], *, status: Status
) -> NystromCertificate:
    """The certificate of λ̂ = `values`, given the eigenvalues after them as far as they are known.

    `ends` are those of one eigenvalue more than there are values, where landmarks joined later.
    """
    m, k = state.moments, len(values)
    left, rounding = m.left + m.rounding, m.rounding
    n_landmarks, stale = state.features.n_landmarks, state.stale
    if status == "invalid":
        nothing, unbounded = np.zeros(k), np.full(k, np.inf)
        return NystromCertificate(
            n_landmarks, nothing, unbounded, np.ones(k), (0.0, np.inf), (0.0, 1.0), 0.0, left, np.inf, rounding, status
        )
    low, high = state.variance
    bottom, top = max(low - rounding, 0.0), max(high, 0.0) + rounding
    next_value = others[:1] if len(others) else np.zeros(1)
    bounds = _grown(ends, k, left, stale, rounding) if stale else _settled(values, next_value, left, rounding)
    upper = np.minimum(bounds.upper, top + rounding)
    fewest, most = bounds.total
    return NystromCertificate(
        n_landmarks=n_landmarks,
        lower=np.maximum(bounds.lower, 0.0),
        upper=upper[:k],
        angles=np.ones(k) if stale else _angles(values, others, left / 2 + rounding),
        total=(bottom, top),
        explained=(_ratio(fewest, top), _ratio(min(most, top), bottom) if bottom > 0 else 1.0),
        captured=_ratio(state.seen - rounding, top),
        left=left,
        bound_beyond=float(upper[k]),
        rounding=rounding,
        status=status,
        stale=stale,
    )


def _settled(values: NDArray, next_value: NDArray, left: float, rounding: float) -> _Bounds:
    """All samples know all coordinates; `left` contains its rounding."""
    kept = float(values.sum())
    upper = water_levels(np.append(values, next_value), left) + rounding
    return _Bounds(values - rounding, upper, (kept - rounding * len(values), kept + left + rounding * len(values)))


def _grown(ends: Sequence[StretchedEnds], k: int, left: float, stale: float, rounding: float) -> _Bounds:
    """The best θ for every eigenvalue and for their sum. Rounding of later coordinates is stretched, too."""
    each = list[_Bounds]()
    for end in ends:
        less, more = (1 / end.theta - 1) * stale + rounding, left + stale / end.theta
        upper = water_levels(end.above, more) + (1 + end.theta) * rounding
        below, above = float(end.below[:k].sum()), float(end.above[:k].sum())
        each.append(
            _Bounds(end.below[:k] - less, upper, (below - less - k * rounding, above + more + 2 * k * rounding))
        )
    lower = np.max([one.lower for one in each], axis=0)
    upper = np.min([one.upper for one in each], axis=0)
    return _Bounds(lower, upper, (max(one.total[0] for one in each), min(one.total[1] for one in each)))


def water_levels(values: NDArray, amount: float) -> NDArray:
    """For each i, the largest λ with Σⱼ≤ᵢ max(λ − λ̂ⱼ, 0) ≤ amount: λ₁ … λᵢ exceed their λ̂ by no more than it."""
    levels = np.empty(len(values))
    for i in range(len(values)):
        depths = values[i::-1]  # rising
        filled = (amount + np.cumsum(depths)) / np.arange(1, i + 2)  # if the lowest 1, 2, … are under water
        levels[i] = filled.min()
    return levels


def _angles(values: NDArray, others: NDArray, half: float) -> NDArray:
    """Davis–Kahan for each direction. Eigenvalues that were not computed lie below those that were, or are zero."""
    spectrum = np.concatenate([values, others if len(others) else np.zeros(1)])
    gaps = np.full(len(values), np.inf)
    gaps[1:] = spectrum[: len(values) - 1] - values[1:]
    gaps = np.minimum(gaps, values - spectrum[1 : len(values) + 1])
    room = gaps - half
    return np.minimum(np.divide(half, room, out=np.ones(len(values)), where=room > half), 1.0)


def _ratio(part: float, whole: float) -> float:
    return float(np.clip(part / whole, 0.0, 1.0)) if whole > 0 else 0.0
