"""How sure components are: the same components of many draws of the rows, and how far they turn.

A draw takes n of n rows with replacement (Efron's bootstrap). That is a weight of 0, 1, 2, … for every row, so no row
is copied: PCA of the features F of all rows, weighted, is an eigenproblem of their columns.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mercer_old.arrays import Array
from mercer_old.progress import OnPass
from mercer_old.solvers.dense import leading_eigenpairs
from mercer_old.squares import nearby_power_of_two

__all__ = [
    "OFTEN",
    "Deviations",
    "Draws",
    "Group",
    "aligned",
    "directions",
    "draw_components",
    "groups_that_turn",
    "turned",
]

SURE_ANGLE = 20.0  # degrees; two equal variances in a plane seem to differ by as much in about one sample of ten
OFTEN = 0.9  # of all draws
_ROUNDING = 1e-10  # of the largest deviation: less is none


@dataclass(frozen=True)
class Draws:
    """Variances and axes of all rows in the space of their features F (n×q), and those of every draw."""

    features: Array  # centred at their mean
    values: Array  # (k,)
    axes: Array  # (q, k)
    drawn_values: Array  # (draws × k)
    drawn_axes: Array  # (draws × q × k)
    drawn_means: Array  # (draws × q)

    @property
    def k(self) -> int:
        return len(self.values)


def directions(features: Array) -> int:
    """In how many directions rows vary by more than rounding."""
    F = features - features.mean(axis=0)
    F /= nearby_power_of_two(F)
    sizes = np.linalg.svd(F, compute_uv=False)
    return int(np.sum(sizes > _ROUNDING * float(sizes.max(initial=0.0))))


def draw_components(features: Array, k: int, draws: int, rng: np.random.Generator, on_pass: OnPass = None) -> Draws:
    """The leading k components of all rows, and of as many draws of them."""
    F = features - features.mean(axis=0)
    F -= F.mean(axis=0)
    unit = nearby_power_of_two(F)
    F, n = F / unit, len(F)
    values, axes = _components(F, np.ones(n), k)[:2]
    drawn = []
    for number in range(draws):
        drawn.append(_components(F, rng.multinomial(n, np.full(n, 1 / n)).astype(np.float64), k))
        if on_pass:
            on_pass((number + 1) / draws)
    drawn_values, drawn_axes, means = (np.array(part) for part in zip(*drawn, strict=True))
    return Draws(F * unit, values * unit**2, axes, drawn_values * unit**2, drawn_axes, means * unit)


def _components(F: Array, counts: Array, k: int) -> tuple[Array, Array, Array]:
    """Variances, axes and mean of rows that count so often."""
    mean = counts @ F / counts.sum()
    scatter = (F * counts[:, None]).T @ F - counts.sum() * np.outer(mean, mean)
    values, axes = leading_eigenpairs((scatter + scatter.T) / 2, k)
    return np.maximum(values[:k], 0.0) / (counts.sum() - 1), axes[:, :k], mean


def turned(draws: Draws) -> Array:
    """The largest principal angle, in degrees, between the first j axes of every draw and of all rows (draws × k).

    Its cosine is the smallest singular value of V₁:ⱼᵀW₁:ⱼ; by itself, j = 1 is the angle between two axes.
    """
    overlaps = np.einsum("qi,bqj->bij", draws.axes, draws.drawn_axes)
    cosines = [np.linalg.svd(overlaps[:, :j, :j], compute_uv=False)[:, -1] for j in range(1, draws.k + 1)]
    return np.degrees(np.arccos(np.clip(np.array(cosines).T, 0.0, 1.0)))


@dataclass(frozen=True)
class Group:
    """Components first to last, counted from 1, that are only sure together."""

    first: int
    last: int
    kind: str  # "axis", "together" (a plane, a space), "rest" (all that is left of the space) or "noise"

    @property
    def columns(self) -> slice:
        return slice(self.first - 1, self.last)

    @property
    def numbers(self) -> list[int]:
        return list(range(self.first, self.last + 1))


def groups_that_turn(angles: Array, rank: int) -> list[Group]:
    """Which components are sure by themselves, which together, and which not at all.

    The first j are sure if nine of ten draws turn them by less than 20°. Those between one such j and the next are sure
    as the space that they span. A space of all directions there are is always sure, and says nothing.
    """
    k = angles.shape[1]
    sure = np.quantile(angles, OFTEN, axis=0) < SURE_ANGLE
    groups, first = list[Group](), 1
    for j in range(1, k + 1):
        if j == rank:
            groups.append(Group(first, j, "axis" if j == first > 1 or rank == 1 else "rest" if first > 1 else "noise"))
            first = j + 1
        elif sure[j - 1]:
            groups.append(Group(first, j, "axis" if j == first else "together"))
            first = j + 1
    return [*groups, Group(first, k, "noise")] if first <= k else groups


def aligned(draws: Draws, groups: list[Group]) -> Iterator[tuple[Array, Array]]:
    """Axes and mean of every draw, turned within each group to lie as near as can be to those of all rows.

    W R with R = UVᵀ of the singular value decomposition UΣVᵀ of WᵀV: of one axis, a sign (Schönemann's Procrustes).
    """
    for axes, mean in zip(draws.drawn_axes, draws.drawn_means, strict=True):
        near = np.empty_like(axes)
        for group in groups:
            some = group.columns
            U, _, Vt = np.linalg.svd(axes[:, some].T @ draws.axes[:, some])
            near[:, some] = axes[:, some] @ (U @ Vt)
        yield near, mean


class Deviations:
    """Standard deviations of arrays that come one after the other."""

    def __init__(self, around: Array) -> None:
        self.around, self.count = around, 0
        self.total, self.squares = np.zeros_like(around), np.zeros_like(around)

    def add(self, values: Array) -> None:
        """Sums of differences to what they are about, so that little cancels."""
        off = values - self.around
        self.total += off
        self.squares += off**2
        self.count += 1

    @property
    def deviation(self) -> Array:
        """With 1/(count − 1)."""
        centred = self.squares - self.total**2 / self.count
        return np.asarray(np.sqrt(np.maximum(centred, 0.0) / (self.count - 1)))
