"""Every statement of a certificate against the truth. Wrong is what is wrong by more than the truth's own error."""

from dataclasses import dataclass, field

import numpy as np

from attack.precise import DD
from attack.truth import U

KINDS = {
    "below": "eigenvalue below its interval",
    "above": "eigenvalue above its interval",
    "beyond": "an eigenvalue beyond the bound for all others",
    "angle": "direction farther off than claimed",
    "complete": "nothing was missed, it says, and something was",
    "few": "fewer components than asked for",
    "unwarned": "fewer components, and not a word",
    "words": "a warning that says the opposite of the truth",
    "residual": "residual larger than claimed",
    "own": "a reported value outside of its own interval",
    "total": "landmarks: total variance outside its interval",
    "explained": "landmarks: explained share outside its interval",
    "captured": "landmarks: less is seen than claimed",
    "nan": "not a number",
    "crash": "crash",
}
SINGLE = 2.0**-24
NEVER_WRONG = 1.0 + 1e-9  # of a claimed sine, which is computed in float64 itself


@dataclass(frozen=True)
class Violation:
    kind: str
    component: int
    excess: float  # in units of the matrix
    units: float  # the same in u‖A‖
    halves: float  # and in claimed half widths
    words: str

    def __str__(self):
        where = f" of component {self.component + 1}" if self.component >= 0 else ""
        size = f" by {self.units:.3g} u‖A‖, {self.halves:.3g} half widths" if self.units else ""
        return f"{self.kind}{where}{size}: {self.words}"


@dataclass
class Verdict:
    """What was checked, and what was wrong."""

    statements: dict[str, int] = field(default_factory=dict)
    violations: list[Violation] = field(default_factory=list)
    widths: list[float] = field(default_factory=list)  # of intervals, relative to the eigenvalue
    sines: list[float] = field(default_factory=list)  # claimed of directions
    used: float = 0.0  # the largest error of a reported value, as a part of what was claimed in that direction
    refused: str = ""

    def check(self, kind, wrong, component=-1, excess=0.0, norm=0.0, half=0.0, words=""):
        """One statement more."""
        self.statements[kind] = self.statements.get(kind, 0) + 1
        if wrong:
            units = float(excess / (U * norm)) if norm else 0.0
            halves = float(excess / half) if half > 0 else float("inf") if excess else 0.0
            self.violations.append(Violation(kind, component, float(excess), units, halves, words))


@dataclass(frozen=True)
class Claims:
    """What a certificate says, in the order and the scale of the truth: largest first."""

    values: np.ndarray  # as the model reports them
    lower: np.ndarray
    upper: np.ndarray
    angles: np.ndarray
    groups: list[tuple[int, int]]
    residuals: np.ndarray  # at most
    beyond: float
    n_complete: int
    rounding: float
    singular: bool = False  # residuals are those of singular pairs, 2σρ + ρ²

    @classmethod
    def of(cls, certificate, values, exponent, singular=False):
        """Of a Certificate."""
        c = certificate
        numbers = (values, c.lower, c.upper, c.residuals + c.noise, c.bound_beyond, c.rounding)
        with np.errstate(over="ignore", under="ignore"):
            values, lower, upper, residuals, beyond, rounding = (np.ldexp(x, exponent) for x in numbers)
        scalars = float(beyond), c.n_complete, float(rounding), singular
        return cls(values, lower, upper, c.angles, spans(c), residuals, *scalars)

    @classmethod
    def of_gaps(cls, certificate, exponent):
        """Of a GapCertificate, which speaks of the smallest: of the largest of −M.

        Where it says "at least zero" it means M before it was rounded; as it was assembled, up to its rounding.
        """
        c = certificate
        least, next_least = (np.where(x > 0, x, -c.rounding) for x in (c.lower, c.bound_beyond))
        numbers = (-c.values, -c.upper, -least, c.residuals + c.rounding, -next_least, c.rounding)
        values, lower, upper, residuals, beyond, rounding = (np.ldexp(x, exponent) for x in numbers)
        values = np.clip(values, lower, upper)  # what is below zero by rounding is not reported one by one
        return cls(values, lower, upper, c.angles, spans(c), residuals, float(beyond), c.n_complete, float(rounding))

    def finite(self):
        numbers = (self.values, self.lower, self.upper, self.angles, self.residuals, self.beyond)
        return not any(np.isnan(x).any() for x in numbers)


def spans(certificate):
    """Runs of components of which an angle is claimed: of clusters together, of others one by one."""
    clusters = getattr(certificate, "clusters", ())  # the gaps of the first edition have none
    joined = {i for start, stop in clusters for i in range(start, stop)}
    return sorted([*clusters, *((i, i + 1) for i in range(certificate.n_components) if i not in joined)])


def judge(truth, claims, vectors, verdict, single=False):
    """All statements about eigenpairs; `vectors` (n×k) are those of the model, or None."""
    verdict.check("nan", not claims.finite(), words="a claim is not a number")
    if not claims.finite():
        return
    judge_values(truth, claims, verdict, single)
    judge_beyond(truth, claims, verdict)
    if vectors is not None and truth.vectors is not None and len(claims.values):
        judge_vectors(truth, claims, np.asarray(vectors, dtype=np.float64), verdict, single)
    known = (claims.lower > claims.rounding) & (np.arange(len(claims.lower)) < claims.n_complete)
    verdict.widths += list((claims.upper - claims.lower)[known] / claims.lower[known])
    verdict.sines += list(claims.angles[known])


def judge_values(truth, claims, verdict, single):
    every, norm = truth.padded, truth.norm
    for i in range(min(len(claims.values), len(every))):
        low, high, value = claims.lower[i], claims.upper[i], claims.values[i]
        half = (high - low) / 2
        short = float((low - every[i]).hi) - truth.error
        verdict.check("below", short > 0, i, short, norm, half, f"true {every.hi[i]:.17g} < lower {low:.17g}")
        over = float((every[i] - high).hi) - truth.error
        verdict.check("above", over > 0, i, over, norm, half, f"true {every.hi[i]:.17g} > upper {high:.17g}")
        error, allowed = float((every[i] - value).hi), high - value if every.hi[i] > value else value - low
        if not single and value > claims.rounding and allowed > max(truth.error, 8 * U * value):  # else it is rounded
            verdict.used = max(verdict.used, abs(error) / allowed)
        slack = (4 * SINGLE if single else 16 * U) * abs(value)
        out = max(low - value, value - high) - slack
        verdict.check("own", out > 0, i, out, norm, half, f"reported {value:.6g}, claimed [{low:.6g}, {high:.6g}]")


def judge_beyond(truth, claims, verdict):
    every, k = truth.padded, len(claims.values)
    if k < len(every):
        over = float((every[k] - claims.beyond).hi) - truth.error
        words = f"true {every.hi[k]:.6g}, claimed at most {claims.beyond:.6g}"
        half = claims.rounding
        verdict.check("beyond", over > 0, k, over, truth.norm, half, words)
        if claims.n_complete == k:
            verdict.check("complete", over > 0, k, over, truth.norm, half, words)
    for i in range(claims.n_complete):
        over = float((every[i] - claims.upper[i]).hi) - truth.error
        words = f"true {every.hi[i]:.6g} has no partner"
        # A neighbour that was left out moves all that follow up by a gap; a narrow interval alone is "above".
        missed = over > 0 and over > 1e-3 * abs(claims.upper[i]) + 1e3 * claims.rounding
        verdict.check("complete", missed, i, over, truth.norm, (claims.upper[i] - claims.lower[i]) / 2, words)


def judge_vectors(truth, claims, vectors, verdict, single):
    """Residuals by the spectral theorem, and angles to the true eigenspaces."""
    lengths = np.linalg.norm(vectors, axis=0)
    there = lengths > 0  # landmarks and constants have none
    X = DD(vectors / np.where(there, lengths, 1.0))  # rounded once, like the vectors themselves
    coefficients = truth.vectors.T @ X
    outside = X - truth.vectors @ coefficients
    rounded = SINGLE if single else 0.0
    judge_residuals(truth, claims, coefficients, outside, verdict, rounded, there)
    judge_angles(truth, claims, coefficients, outside, verdict, rounded)


def judge_residuals(truth, claims, coefficients, outside, verdict, rounded, there):
    measure = singular_residual if claims.singular else residual
    for i in np.flatnonzero(there[: len(claims.values)]):
        size = measure(truth, coefficients[:, i], float(np.linalg.norm(outside.hi[:, i])))
        over = size - claims.residuals[i] - 4 * truth.error - 8 * rounded * truth.norm
        words = f"true {size:.3g}, claimed at most {claims.residuals[i]:.3g}"
        verdict.check("residual", over > 0, i, over, truth.norm, claims.residuals[i], words)


def residual(truth, c, outside):
    """‖Au − θu‖ of the best θ, for u with coefficients c in the true vectors and a rest outside of them."""
    theta = (c * c * truth.values).sum()
    inner = ((truth.values - theta) * c).hi
    return float(np.hypot(np.linalg.norm(inner), abs(theta.hi) * outside))


def singular_residual(truth, c, outside):
    """2σρ + ρ², ρ² = ½Σcⱼ²(sⱼ² − σ²)²/(sⱼ² + σ²): a right vector's least residual over all left ones."""
    squares = np.maximum(truth.values.hi, 0.0)
    sigma2 = max(float((c * c * truth.values).sum()), 0.0)
    both = squares + sigma2
    terms = np.divide((squares - sigma2) ** 2, both, out=np.zeros_like(both), where=both > 0)
    rho = np.sqrt((np.sum(c.hi**2 * terms) + outside**2 * sigma2) / 2)
    return float(2 * np.sqrt(sigma2) * rho + rho**2)


def judge_angles(truth, claims, coefficients, outside, verdict, rounded):
    values, count = truth.values.hi, len(truth.values)
    for start, stop in claims.groups:
        claimed = float(claims.angles[start])
        if claimed >= 1 or stop > count or not paired(truth, claims, start, stop):
            continue
        first, last = widened(values, start, stop, 100 * truth.error)
        gap = min(values[first - 1] - values[first] if first else np.inf, values[last - 1] - following(truth, last))
        own = 4 * truth.error / gap if gap > 0 else 1.0
        if own > max(0.1 * claimed, 1e-12):
            continue
        others = np.concatenate([coefficients.hi[:first, start:stop], coefficients.hi[last:, start:stop]])
        sine = float(np.linalg.norm(np.concatenate([others, outside.hi[:, start:stop]]), 2))
        over = sine - claimed * NEVER_WRONG - own - 4 * rounded * np.sqrt(stop - start)
        words = f"true sine {sine:.3g}, claimed at most {claimed:.3g}"
        verdict.check("angle", over > 0, start, over, 1.0, claimed, words)


def paired(truth, claims, start, stop):
    """Directions beyond those proven complete are claimed only if nothing was missed."""
    if stop <= claims.n_complete:
        return True
    k = min(len(claims.values), len(truth.values))
    reach = 10 * claims.residuals[:k] + truth.error
    return bool(np.all(np.abs(truth.values.hi[:k] - claims.values[:k]) <= reach))


def widened(values, start, stop, tie):
    """The run of true eigenvalues that cannot be told from those of the group."""
    while start > 0 and values[start - 1] - values[start] <= tie:
        start -= 1
    while stop < len(values) and values[stop - 1] - values[stop] <= tie:
        stop += 1
    return start, stop


def following(truth, last):
    """The eigenvalue after the group; where vectors are not known, that is zero."""
    if last < len(truth.values):
        return truth.values.hi[last]
    return 0.0 if truth.size > len(truth.values) else -np.inf


def judge_landmarks(truth, certificate, values, captured, verdict, single=False):
    """All statements of an IntervalCertificate; `captured` is the true share that the landmarks see, or None."""
    c, e = certificate, truth.exponent
    lower, upper, values = np.ldexp(c.lower, e), np.ldexp(c.upper, e), np.ldexp(values, e)
    bad = any(np.isnan(x).any() for x in (lower, upper, values, c.total, c.explained, c.captured))
    verdict.check("nan", bad, words="a claim is not a number")
    if bad:
        return
    claims = Claims(values, lower, upper, np.ones(len(values)), [], values, np.inf, 0, float(np.ldexp(c.rounding, e)))
    judge_values(truth, claims, verdict, single)
    verdict.widths += list(((upper - lower) / upper)[upper > 0])
    total, slack = truth.total, truth.error * truth.size
    low, high = np.ldexp(c.total[0], e), np.ldexp(c.total[1], e)
    out = max(float((low - total).hi), float((total - high).hi)) - slack
    words = f"true {float(total):.17g}, claimed [{low:.17g}, {high:.17g}]"
    verdict.check("total", out > 0, -1, out, truth.norm, (high - low) / 2, words)
    if float(total) > 1e3 * slack:
        share = truth.padded[: len(values)].sum() / total
        own = 4 * slack / float(total) + 4 * U  # shares are quotients of float64
        out = max(float((c.explained[0] - share).hi), float((share - c.explained[1]).hi)) - own
        words = f"true {float(share):.17g}, claimed {c.explained}"
        verdict.check("explained", out > 0, -1, out, 1.0, (c.explained[1] - c.explained[0]) / 2, words)
        if captured is not None:
            out = c.captured - captured - own - 1e-12
            verdict.check("captured", out > 0, -1, out, 1.0, 1.0, f"true {captured:.6g}, claimed {c.captured:.6g}")


def judge_landmark_directions(truth, certificate, vectors, verdict):
    """Bounds on all other eigenvalues and on directions, which the second edition states for landmarks, too."""
    c, e, k = certificate, truth.exponent, certificate.n_components
    numbers = (np.ldexp(x, e) for x in (c.lower, c.upper, c.bound_beyond, c.rounding))
    lower, upper, beyond, rounding = numbers
    whatever, groups = np.full(k, np.inf), [(i, i + 1) for i in range(k)]  # directions are claimed without residuals
    claims = Claims(upper, lower, upper, c.angles, groups, whatever, float(beyond), c.n_complete, float(rounding))
    judge_beyond(truth, claims, verdict)
    lengths = np.linalg.norm(vectors, axis=0)
    X = DD(np.asarray(vectors / np.where(lengths > 0, lengths, 1.0), dtype=np.float64))
    coefficients = truth.vectors.T @ X
    rounded = SINGLE if vectors.dtype == np.float32 else 0.0
    judge_angles(truth, claims, coefficients, X - truth.vectors @ coefficients, verdict, rounded)
