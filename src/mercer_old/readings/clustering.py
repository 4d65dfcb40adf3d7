"""Clusters read off components (000 p. 76): who they are, and whether they are there.

If a kernel is narrow beside the gaps between c clusters and wide beside the gaps within, K is nearly block diagonal
with one block for each. Eigenvectors of such a matrix are nearly constant on blocks. Centred, c − 1 of them are left
that tell the blocks apart, with eigenvalues that stand above those of all that happens within a block. So three things
can be checked once rows are assigned in the space of c − 1 components:

- the gap, λ_{c−1}/λ_c;
- the share of a component's variance that lies between clusters: 1 if it is constant on each. Values that are spread
  evenly have 3/4 at best, those of a cosine along a line 8/π² = 0.81;
- the share of rows midway, more than half as far from their own centre as from the next: those of a cosine, a fifth.
"""

from dataclasses import dataclass

import numpy as np
import scipy

from mercer_old.arrays import Array
from mercer_old.errors import BadData, counted, joined

__all__ = [
    "Grouping",
    "assign",
    "candidate",
    "nearest_centres",
    "read_off",
    "shares_between",
    "split_in_two",
    "without_rounding",
]

CONSTANT = 0.85  # of a component's variance between clusters: above what any smooth function of one cluster has
CONSTANT_ALONE = 0.9  # of one component among several, any of which might look like it by chance
CERTAIN = 0.99  # so nearly constant that few rows will do
ABOVE = 1.5  # times the next eigenvalue
MIDWAY = 0.1  # share of rows midway: one cluster has more, so fewer have to be there, by more than chance
CHANCE = 0.05
FEWEST, SHARE_ALONE = 3, 0.05  # rows of a cluster, and their share
STARTS, STEPS = 10, 300  # of k-means: random starts, and steps at most
SAME = 1e-9  # of the deviation of the first component: scores of copies differ by less
NOTHING = 1e-12  # of the first eigenvalue: rounding


@dataclass(frozen=True, eq=False)
class Grouping:
    """A number of clusters in the space of some components, and what speaks for it."""

    components: tuple[int, ...]
    centres: Array  # c×(number of components)
    labels: Array
    sizes: Array  # rows of every cluster
    share: float  # of variance between clusters: that of the component with the least
    midway: float
    gap: float  # λ of the last of these components over that of the next one; nan if that is not known
    alone: bool  # whether each of the components splits the rows in two by itself: no gap is asked for then

    @property
    def clear(self) -> bool:
        """Whether clusters are there, beyond what one cluster would show."""
        n = int(self.sizes.sum())
        few = self.share >= CERTAIN or scipy.stats.binom.cdf(round(self.midway * n), n, MIDWAY) <= CHANCE
        above = self.share >= CONSTANT_ALONE if self.alone else self.share >= CONSTANT and not self.gap < ABOVE
        return bool(few and above and self.sizes.min() >= self._fewest())

    def _fewest(self) -> int:
        """Rows of a cluster; of components alone a share, as those of a narrow kernel may be about a few near rows."""
        return max(FEWEST, int(np.ceil(SHARE_ALONE * self.sizes.sum())) if self.alone else 0)

    def why(self) -> str:
        """What speaks for it."""
        which = f"component{'s' if len(self.components) > 1 else ''} {joined([str(j) for j in self.components])}"
        above = (
            " no other component has any variance," if np.isinf(self.gap) else f" {self.gap:.1f} times the next one,"
        )
        above = "" if self.alone or np.isnan(self.gap) else f" the eigenvalues stand out,{above}"
        return (
            f"They are {len(self.centres)} places in the space of {which}:{above} {self.share:.0%} of the variance "
            f"lies between clusters, and {self.midway:.1%} of the rows midway."
        )

    def against(self) -> list[str]:
        """What speaks against it, the weightiest first."""
        said = []
        if self.share < CONSTANT:
            said.append(
                f"Only {self.share:.0%} of the variance of a component lies between clusters: it is not nearly "
                "constant on each (a cosine along one cluster has 81 %)."
            )
        if self.midway > MIDWAY / 2:
            said.append(f"{self.midway:.0%} of the rows lie midway between two centres.")
        if not self.alone and self.gap < ABOVE:
            said.append(f"The eigenvalue of the last of the components is {self.gap:.2f} times the next: no gap.")
        if small := int(np.sum(self.sizes < self._fewest())):
            few = self._fewest()
            said.append(f"{counted(small, 'cluster')} of fewer than {few} rows: outliers rather than clusters.")
        return said or ["There are too few rows to tell them from chance."]


def without_rounding(scores: Array, eigenvalues: Array) -> Array:
    """Scores in which those of copies are the same: values of a component with no gap between them that is more than
    rounding become the least of them. Else the processor would say in how many places copies lie."""
    out, unit = np.empty_like(scores), _unit(eigenvalues)
    for j, column in enumerate(scores.T):
        order = np.argsort(column, kind="stable")
        values = column[order]
        new = np.append(True, np.diff(values) > unit)
        out[order, j] = values[new][np.cumsum(new) - 1]
    return out


def _unit(eigenvalues: Array) -> float:
    return max(SAME * float(np.sqrt(eigenvalues[0])), float(np.finfo(float).tiny))


def read_off(scores: Array, eigenvalues: Array, most: int, seed: int) -> list[Grouping]:
    """All that is worth looking at, the best first: leading components with a gap, and single ones that stand out."""
    k, steps = scores.shape[1], np.round(scores / _unit(eigenvalues))
    leading = [tuple(range(j)) for j in range(1, min(k, most)) if _gap(eigenvalues, j - 1) >= ABOVE]
    alone = tuple(j for j in range(k) if split_in_two(steps[:, j])[0] >= CONSTANT_ALONE)
    alone = alone[: len(np.unique(steps, axis=0)) - 1]  # copies may lie in fewer places
    found = [
        candidate(scores, eigenvalues, some, seed, alone=some is alone)
        for some in [*leading, alone]
        if some and len(np.unique(steps[:, some], axis=0)) > len(some)
    ]
    return sorted(found, key=lambda one: (not one.clear, one.alone, -one.share if one.alone else -one.gap))


def candidate(
    scores: Array, eigenvalues: Array, components: tuple[int, ...], seed: int, alone: bool = False
) -> Grouping:
    """Rows assigned to one more cluster than there are components, and what speaks for that."""
    some, n = scores[:, components], len(components) + 1
    labels, centres = assign(some, n, seed)
    return Grouping(
        components=components,
        centres=centres,
        labels=labels,
        sizes=np.bincount(labels, minlength=n),
        share=float(shares_between(some, labels).min()),
        midway=float(np.mean(_is_midway(some, centres))),
        gap=_gap(eigenvalues, max(components)),
        alone=alone,
    )


def _gap(eigenvalues: Array, j: int) -> float:
    """λⱼ over the next one: nan if that is not known, ∞ if it is nothing beside λⱼ, 1 of what is nothing itself."""
    if j + 1 >= len(eigenvalues):
        return float("nan")
    this, after = float(eigenvalues[j]), float(eigenvalues[j + 1])
    nothing = NOTHING * float(eigenvalues[0])
    return 1.0 if this <= nothing else float("inf") if after <= nothing else this / after


def assign(scores: Array, n: int, seed: int) -> tuple[Array, Array]:
    """Labels and centres of n clusters: k-means from rows that differ most, or from random starts if those win.

    Rows that differ most are the pivots of a QR of the constant function and the components, each of length one: of
    eigenvectors that are constant on blocks, one of every block. Clusters are numbered by their first row.
    """
    from sklearn.cluster import kmeans_plusplus  # slow to import, and asked for by no fit

    lengths = np.linalg.norm(scores, axis=0)
    units = np.divide(scores, lengths, out=np.zeros_like(scores), where=lengths > 0)
    functions = np.column_stack([np.full(len(scores), 1 / np.sqrt(len(scores))), units])
    pivots = scipy.linalg.qr(functions.T, mode="r", pivoting=True)[1][:n]
    starts = [scores[pivots], *(kmeans_plusplus(scores, n, random_state=(seed + i) % 2**32)[0] for i in range(STARTS))]
    labels, centres, _ = min((_k_means(scores, start) for start in starts), key=lambda found: found[2])
    _, first = np.unique(labels, return_index=True)
    if len(first) < n:
        raise BadData(f"{n} clusters were asked for, and the components have only {len(first)} places for the rows.")
    order = np.argsort(first)
    return np.argsort(order)[labels], centres[order]


def _k_means(scores: Array, centres: Array) -> tuple[Array, Array, float]:
    """Lloyd's steps until no row changes its cluster: labels, centres and the sum of squares around them.

    Here and not by scikit-learn's class, whose threads take longer to meet than a step of so few numbers does.
    """
    labels = nearest_centres(scores, centres)
    for _ in range(STEPS):
        sizes = np.bincount(labels, minlength=len(centres))[:, None]
        sums = np.stack([np.bincount(labels, column, len(centres)) for column in scores.T], axis=1)
        centres = np.divide(sums, sizes, out=centres.copy(), where=sizes > 0)
        before, labels = labels, nearest_centres(scores, centres)
        if np.array_equal(before, labels):
            break
    return labels, centres, float(((scores - centres[labels]) ** 2).sum())


def nearest_centres(scores: Array, centres: Array) -> Array:
    """The number of the nearest centre of every row."""
    return np.argmin(_distances(scores, centres), axis=1)


def _distances(scores: Array, centres: Array) -> Array:
    return np.stack([np.linalg.norm(scores - centre, axis=1) for centre in centres], axis=1)


def _is_midway(scores: Array, centres: Array) -> Array:
    own, other = np.sort(_distances(scores, centres), axis=1)[:, :2].T
    return np.asarray(own > other / 2)


def shares_between(scores: Array, labels: Array) -> Array:
    """Of every component the share of its variance that lies between clusters; of one without variance 0."""
    moved, sizes = scores - scores.mean(axis=0), np.bincount(labels)
    sums = np.stack([np.bincount(labels, column) for column in moved.T], axis=1)
    between = np.divide(sums**2, sizes[:, None], out=np.zeros_like(sums), where=sizes[:, None] > 0).sum(axis=0)
    total = (moved**2).sum(axis=0)
    return np.divide(between, total, out=np.zeros_like(total), where=total > 0)


def split_in_two(values: Array) -> tuple[float, float]:
    """The largest share of variance that lies between two groups of values, and where they are parted."""
    ordered = np.sort(values - values.mean())
    n, sums = len(ordered), np.cumsum(ordered)[:-1]
    total = float(ordered @ ordered)
    if n < 2 or not total > 0:
        return 0.0, float(values.mean())
    first = np.arange(1, n)
    shares = sums**2 * (1 / first + 1 / (n - first)) / total
    best = int(np.argmax(shares))
    return float(shares[best]), float((ordered[best] + ordered[best + 1]) / 2 + values.mean())
