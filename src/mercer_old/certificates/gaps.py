"""The proof that goes with the smallest eigenpairs: residuals against gaps.

Next to zero, "small compared with the largest eigenvalue" says nothing: eigenvalues of 10⁻¹¹ are told apart by gaps of
10⁻¹¹. For a pair (θᵢ, uᵢ) with residual ρᵢ and distance δᵢ to every other eigenvalue, rounding ε = 20u‖M‖₁ included,

  value      θᵢ − min(ρᵢ, ρᵢ²/δᵢ) − ε ≤ λᵢ ≤ θᵢ + ε
  direction  sin∠(uᵢ, vᵢ) ≤ (ρᵢ + ε)/δᵢ (Davis–Kahan)

where the δᵢ hold if no pair was missed: if θᵢ + ρᵢ + ε is below a bound on all others, by random probes of the inverse
or a count of pivots.
"""

from dataclasses import dataclass, field

import numpy as np

from mercer_old.arrays import Array
from mercer_old.certificates.base import Proof
from mercer_old.certificates.residuals import ANGLE
from mercer_old.errors import counted, listed
from mercer_old.solvers.base import Eigenpairs
from mercer_old.solvers.shift_invert import bottom_floor, gaps

_SHOWN = 5  # parts that are spoken of one by one


@dataclass(frozen=True, eq=False)
class GapCertificate(Proof):
    """What is proven about an embedding. Printed, it is a few English lines."""

    n_components: int
    tol: float
    values: Array = field(repr=False)  # θᵢ, smallest first
    residuals: Array = field(repr=False)  # ρᵢ
    gaps: Array = field(repr=False)  # δᵢ, at least
    lower: Array = field(repr=False)  # λᵢ ≥ lower
    upper: Array = field(repr=False)  # λᵢ ≤ upper
    angles: Array = field(repr=False)  # sin of the angle between computed and true direction is at most this
    unresolved: tuple[int, ...]  # components whose direction is not determined to 0.05
    n_zero: int  # components whose eigenvalue is below working precision
    n_complete: int  # among the first so many, nothing was missed
    level: str  # how that is known
    bound_beyond: float  # no other eigenvalue is smaller
    rounding: float  # ε
    passes: int
    columns: int
    converged: bool

    @property
    def certified(self) -> bool:
        """Whether every residual met the rule."""
        return self.converged

    @property
    def relative_residuals(self) -> Array:
        """ρᵢ/δᵢ, the quantity that counts."""
        return np.where(self.gaps > 0, self.residuals / np.where(self.gaps > 0, self.gaps, 1.0), np.inf)

    def sentences(self) -> list[str]:
        return _sentences(self)


@dataclass(frozen=True)
class PartsCertificate:
    """One certificate for each part that was embedded on its own."""

    parts: tuple[GapCertificate, ...]
    sizes: tuple[int, ...]

    @property
    def converged(self) -> bool:
        return all(part.converged for part in self.parts)

    @property
    def certified(self) -> bool:
        """Whether every residual of every part met the rule."""
        return all(part.certified for part in self.parts)

    @property
    def passes(self) -> int:
        return sum(part.passes for part in self.parts)

    def sentences(self) -> list[str]:
        """What is proven, for people."""
        return str(self).splitlines()

    def __str__(self) -> str:
        """All parts, or of many the first ones."""
        shown = zip(self.sizes[:_SHOWN], self.parts, strict=False)
        lines = [f"Part {i} ({counted(size, 'row')}): {part}" for i, (size, part) in enumerate(shown, 1)]
        if len(self.parts) > _SHOWN:
            good = sum(part.certified for part in self.parts[_SHOWN:])
            lines.append(f"{good:,} of {len(self.parts) - _SHOWN:,} more parts are certified.")
        return "\n".join(lines)


def certify_gaps(pairs: Eigenpairs, *, tol: float) -> GapCertificate:
    """The certificate of these pairs."""
    theta, rho, k = pairs.values, pairs.residuals, len(pairs.values)
    noise = bottom_floor(pairs.size)
    every = np.append(theta, pairs.beyond)
    slack = np.append(rho, pairs.beyond_residuals) + noise
    complete = int(np.sum(np.logical_and.accumulate(theta + rho + noise < pairs.bound)))
    # A neighbour may be nearer by its own error; what was not found is no smaller than the bound.
    following = np.append(every[1:] - slack[1:], np.inf)
    following[:complete] = np.minimum(following[:complete], pairs.bound)
    to_next = following - every
    to_previous = np.append(np.inf, (every - slack)[1:] - every[:-1])
    delta = np.maximum(np.minimum(to_next, to_previous), 0.0)[:k]
    angles = np.where(delta > 0, np.minimum(1.0, (rho + noise) / np.where(delta > 0, delta, 1.0)), 1.0)
    spread = np.minimum(rho, rho * angles)
    return GapCertificate(
        n_components=k,
        tol=tol,
        values=theta,
        residuals=rho,
        gaps=delta,
        lower=np.maximum(theta - spread - noise, 0.0),
        upper=np.maximum(theta, 0.0) + noise,
        angles=angles,
        unresolved=tuple(int(i) for i in np.flatnonzero(angles > ANGLE)),
        n_zero=int(np.sum(theta <= noise)),
        n_complete=complete,
        level=pairs.level,
        bound_beyond=float(max(min(pairs.bound, (every - slack)[k] if len(every) > k else np.inf), 0.0)),
        rounding=noise,
        passes=pairs.passes,
        columns=pairs.columns,
        converged=bool(np.all(rho <= np.maximum(tol * gaps(every, np.inf)[:k], noise))),
    )


def _sentences(c: GapCertificate) -> list[str]:
    if not c.n_components:
        return ["No components: nothing to certify."]
    if not c.rounding:
        return [f"Nothing to certify: M is zero ({c.level})."]
    count = counted(c.n_components, "component")
    rule = f"each residual at most {c.tol:.0e} of the gap around its eigenvalue, or rounding ({c.rounding:.1e})"
    worst = int(np.argmax(c.relative_residuals))
    largest = c.relative_residuals[worst]
    measured = f"(worst {largest:.1e} of its gap, component {worst + 1})"
    if largest >= 1:
        measured = "(of equal eigenvalues, only the common span is determined)"
    lines = [f"{count} {'certified:' if c.certified else 'NOT certified: not'} {rule} {measured}."]
    if c.n_zero:
        lines.append(
            f"{c.n_zero} of them {'have eigenvalues' if c.n_zero > 1 else 'has an eigenvalue'} below working precision "
            f"({c.rounding:.1e}): zero, as far as double precision can tell."
        )
    if c.n_complete == c.n_components and np.isinf(c.bound_beyond):
        lines.append("Nothing was missed: there are no other eigenvalues.")
    elif c.n_complete == c.n_components:
        lines.append(f"Nothing was missed: no other eigenvalue is below {c.bound_beyond:.4g} ({c.level}).")
    else:
        first = f"Nothing was missed among the first {c.n_complete}, but c" if c.n_complete else "C"
        lines.append(
            f"{first}ompleteness is not established{' for the rest' if c.n_complete else ''}: other eigenvalues may be "
            f"as small as {c.bound_beyond:.4g} ({c.level})."
        )
    sure = [i for i in range(c.n_components) if i not in c.unresolved]
    if sure:
        where = max(sure, key=lambda i: c.angles[i])
        condition = "" if where < c.n_complete else ", if nothing was missed"
        lines.append(f"Directions: off by at most {c.angles[where]:.1e} (component {where + 1}){condition}.")
    if c.unresolved:
        names = listed((i + 1 for i in c.unresolved), 10)
        lines.append(f"Unresolved: the direction of component {names} is not determined to {ANGLE}.")
    lines.append(f"Work: {counted(c.passes, 'pass')}, {counted(c.columns, 'column')}.")
    return lines


def about_eigenvalues(certificate: GapCertificate) -> list[str]:
    """What a user should be told about the eigenvalues of a graph that hangs together."""
    c, said = certificate, list[str]()
    zeros = [i for i in c.unresolved if i < c.n_zero]
    if zeros:
        have = "have eigenvalues" if len(zeros) > 1 else "has an eigenvalue"
        zero = f"{len(zeros)} of {c.n_components} coordinates {have} below working precision ({c.rounding:.1e})"
        following = c.lower[c.n_zero] if c.n_zero < c.n_components else c.bound_beyond
        if c.rounding < ANGLE * (following - c.values[zeros[-1]]):
            said.append(f"{zero}: what they span is determined, but any rotation among them is as good.")
        elif following > c.rounding:
            said.append(f"{zero}: any rotation among them is as good, and small eigenvalues next to them are mixed in.")
        else:
            said.append(
                f"{zero}, and so have some that were not kept: any rotation among all of them is as good. Are there "
                "pieces that hardly hang together? More n_neighbors, a larger reg or fewer rows may help."
            )
    others = [i for i in c.unresolved if i >= c.n_zero]
    if others:
        names = listed(i + 1 for i in others)
        said.append(
            f"The direction of coordinate {names} is not determined: an eigenvalue next to its own is nearly the same; "
            "see certificate_. Another n_components may keep or leave out both."
        )
    return said
