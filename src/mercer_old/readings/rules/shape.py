"""Rules on the shape of a scree alone: the share, the elbow, the broken stick and Kaiser's."""

import numpy as np

from mercer_old.arrays import Array
from mercer_old.readings.columns import FEW_ROWS
from mercer_old.readings.components import fewest_for_share, shares
from mercer_old.readings.rules.scree import Opinion, Scree, exceeding, silent, unknown

__all__ = [
    "MOST_IN_ELBOW",
    "about_flat",
    "broken_stick",
    "elbow",
    "enough",
    "kaiser",
    "profile_likelihood",
    "stick_lengths",
]

MOST_IN_ELBOW = 100  # variances that an elbow is looked for in
_FEWEST_IN_ELBOW = 3
_FLAT = 5.0  # times 1/n: a kernel whose first component has no larger share sees no direction


def enough(scree: Scree, share: float = 0.9) -> Opinion:
    """The fewest components with at least this share of the variance: Σ_{i≤k} λᵢ ≥ share·Σλ.

    Needs the total and so many variances. As much as the share is enough, as in the lectures; scikit-learn's
    ``n_components=0.9`` asks for more than it, which differs in exact ties alone. It means nothing for a kernel so
    narrow that each row is a direction of its own: then k is a share of the rows.
    """
    k = fewest_for_share(scree.values, scree.total, share, more=False)
    kept = f"{float(shares(scree.values, scree.total)[:k].sum()):.1%} of the variance, and {share:.0%} is enough"
    if k is None:
        return Opinion("share", len(scree.positive), f"{kept}; {unknown(scree)}", at_least=True)
    return Opinion("share", k, kept)


def elbow(scree: Scree) -> Opinion:
    """Where a scree falls into two groups: the profile likelihood of Zhu and Ghodsi (2006).

    λ₁ … λ_q and λ_{q+1} … λ_p are two normal samples with their own means and one variance; the q of the largest
    likelihood wins, the smallest of equals. Needs variances alone, three at least and no more than the first 100 of
    those above zero, as more of a long tail move the elbow outward. It means nothing where a kernel is so narrow that
    λ₁/Σλ < 5/n: the scree is flat.
    """
    values = scree.positive[:MOST_IN_ELBOW]
    if len(values) < _FEWEST_IN_ELBOW:
        return silent("elbow", f"an elbow needs {_FEWEST_IN_ELBOW} variances above zero, and there are {len(values)}")
    if flat := about_flat(scree):
        return silent("elbow", flat)
    k = int(np.argmax(profile_likelihood(values))) + 1
    all_seen = scree.whole and len(values) == len(scree.positive)
    which = f"{len(values)} variances" if all_seen else f"the first {len(values)} of {scree.most:,} variances"
    ends = not scree.whole and k == len(values) - 1  # the group that follows may be one variance, or the first of many
    return Opinion("elbow", k, f"two groups among {which}", ends)


def profile_likelihood(values: Array) -> Array:
    """log L(q) for q = 1 … p − 1: −p/2·log(2πσ̂²) − p/2 with σ̂² = (Σ_{i≤q}(λᵢ − mean₁)² + Σ_{i>q}(λᵢ − mean₂)²)/p.

    Zhu and Ghodsi pool with p − 2 in place of p, which moves all of them by the same and the choice by nothing.
    """
    p, scaled = len(values), values / values[0]
    q = np.arange(1, p)
    within = np.empty(p - 1)
    for i in q:  # squares around their own mean: differences of sums of squares would lose the digits of small ones
        within[i - 1] = np.var(scaled[:i]) * i + np.var(scaled[i:]) * (p - i)
    floor = p * np.finfo(float).eps ** 2  # two levels and nothing else: all the likelihood there is
    return -p / 2 * (np.log(2 * np.pi * np.maximum(within, floor) / p) + 1)


def about_flat(scree: Scree) -> str:
    """What to say of a kernel that sees no direction; nothing for others."""
    first = float(scree.values[0]) / scree.total if scree.total > 0 and len(scree.values) else 0.0
    if not scree.by_kernel or scree.weight < FEW_ROWS or first >= _FLAT / scree.weight:
        return ""
    return f"the scree is flat: λ₁ is {first:.2g} of the variance, below 5/n, so the kernel is too narrow for elbows"


def broken_stick(scree: Scree) -> Opinion:
    """λᵢ/Σλ > (1/p)·Σ_{j=i}^{p} 1/j, one after the other: more than the i-th longest piece of a stick broken at random.

    Needs the total and p, how many variances there can be; an old rule of ecologists, without a model of noise, that
    keeps few. Equal is not more. It means nothing for flat screes of kernels.
    """
    if flat := about_flat(scree):
        return silent("broken-stick", flat)
    if scree.most < 1:
        return silent("broken-stick", "nothing varies")
    return exceeding("broken-stick", scree, stick_lengths(scree.most) * scree.total, "the stick's piece")


def stick_lengths(p: int) -> Array:
    """(1/p)·Σ_{j=i}^{p} 1/j for i = 1 … p, which sum to one."""
    return np.cumsum(1 / np.arange(p, 0, -1))[::-1] / p


def kaiser(scree: Scree) -> Opinion:
    """λᵢ > mean λ: above the average column, which is 1 for standardized columns (Guttman, Kaiser).

    Needs the total and the number of columns that vary. Equal is not above. Of pure noise it keeps about half, so it
    means little where columns are many, and nothing where they are more than rows: nearly all variances exceed the mean
    then. Of kernels it says nothing, as their features have no number.
    """
    if scree.by_kernel:
        return silent("kaiser", "the mean over columns: a kernel has none")
    if scree.varying < 1:
        return silent("kaiser", "nothing varies")
    if scree.freedom < scree.varying:
        return silent(
            "kaiser", f"with {scree.varying:,} columns and {scree.weight:,.6g} rows nearly all exceed the mean"
        )
    limits = np.full(scree.most, scree.total / scree.varying)
    return exceeding("kaiser", scree, limits, "the mean variance of a column")
