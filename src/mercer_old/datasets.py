"""The examples of the lectures as data: small, seeded, offline.

Every generator takes `seed` (an integer or a `numpy.random.Generator`) and returns arrays with samples as rows.
Where points have a known class or place, it comes second: `X, ring = rings()`.
"""

import numpy as np

from mercer_old.arrays import Array

__all__ = [
    "cities",
    "correlated_cloud",
    "family",
    "moons",
    "rings",
    "spiral",
    "three_clusters",
    "three_layers",
    "unequal_gaussian",
    "us_arrests",
]

Seed = int | np.random.Generator

#: The 35 names of 000 p. 79, family name first.
# fmt: off
VOC = [
    "bouvier patty", "bouvier selma", "brockman kent", "burns charles montgomery", "carlson carl", "chalmers gary",
    "flanders ned", "flanders rod", "flanders todd", "frink prof. john", "gumbel barney", "hibbert dr. julius",
    "krabappel edna", "leonard lenny", "lovejoy helen", "lovejoy timothy", "mann otto", "moleman hans",
    "muntz nelson", "nahasapeemapetilon apu", "prince martin", "riviera dr. nick", "simpson bart", "simpson homer",
    "simpson lisa", "simpson maggie", "simpson marge", "skinner agnes", "skinner seymour", "smithers waylon",
    "syslack moe", "van houten luann", "van houten milhouse", "wiggum clancy", "wiggum ralph",
]
# fmt: on

#: The three names of 000 p. 79 that come later, "out of vocabulary".
OOV = ["flanders maude", "simpson abe", "van houten kirk"]


def family(name: str) -> str:
    """The family name: the first word, or the first two after "van"."""
    first, *others = name.split()
    return " ".join([first, *others[:1]]) if first == "van" else first


def correlated_cloud(n: int = 200, *, seed: Seed = 0) -> Array:
    """A tilted elliptical cloud in the plane: where x₁ is high, x₂ tends to be (000 p. 7)."""
    tilt = np.deg2rad(35)
    axes = np.array([[np.cos(tilt), np.sin(tilt)], [-np.sin(tilt), np.cos(tilt)]])
    return _rng(seed).normal(size=(n, 2)) * [1.0, 0.3] @ axes


def three_layers(n: int = 100, *, seed: Seed = 0) -> tuple[Array, Array]:
    """Three flat discs stacked in space along (1, 1, 1): every coordinate plane sees them overlap (000 p. 8)."""
    rng = _rng(seed)
    layer = np.repeat(np.arange(3), n)
    radius, angle = 1.8 * np.sqrt(rng.uniform(size=3 * n)), rng.uniform(0, 2 * np.pi, size=3 * n)
    height = 1.6 * (layer - 1) + 0.1 * rng.normal(size=3 * n)
    flat = np.column_stack([radius * np.cos(angle), radius * np.sin(angle), height])
    axes = np.array([[1, -1, 0], [1, 1, -2], [1, 1, 1]]) / np.sqrt([[2], [6], [3]])
    return flat @ axes, layer


def moons(n: int = 60, noise: float = 0.08, *, seed: Seed = 0) -> tuple[Array, Array]:
    """Two interleaved crescents of n points each (for 000 p. 75 and 78)."""
    rng = _rng(seed)
    angle = np.pi * (np.arange(n) + 0.5) / n
    upper = np.column_stack([np.cos(angle) - 0.5, np.sin(angle) - 0.25])
    X = np.concatenate([upper, -upper])
    return X + noise * rng.normal(size=X.shape), np.repeat([0, 1], n)


def three_clusters(n: int = 30, *, seed: Seed = 0) -> tuple[Array, Array]:
    """Three Gaussian clusters, σ = 0.1, around (−0.5, −0.2), (0, 0.6) and (0.5, 0) (for 001, "artificial data").

    The slide prints eigenvalues only; with k(x, y) = exp(−‖x − y‖²/0.1) these clusters have eigenvalues like them.
    """
    centres = np.array([[-0.5, -0.2], [0.0, 0.6], [0.5, 0.0]])
    cluster = np.repeat(np.arange(3), n)
    return centres[cluster] + 0.1 * _rng(seed).normal(size=(3 * n, 2)), cluster


def rings(
    n: int = 100, radii: tuple[float, ...] = (1.0, 3.0), noise: float = 0.1, *, seed: Seed = 0
) -> tuple[Array, Array]:
    """Nested circles of n points each, even in angle, with radial noise (003, 004 fig. 8)."""
    rng = _rng(seed)
    ring = np.repeat(np.arange(len(radii)), n)
    angle = np.tile(2 * np.pi * np.arange(n) / n, len(radii))
    radius = np.asarray(radii)[ring] + noise * rng.normal(size=len(ring))
    return radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]), ring


def spiral(n: int = 200, turns: float = 2.0, noise: float = 0.0, *, seed: Seed = 0) -> tuple[Array, Array]:
    """An Archimedean spiral, points even along its *length*; second the place along it, from 0 to 1 (003).

    Even in angle would crowd the inner turn, so that neighbours there reach across.
    """
    angle = np.linspace(np.pi / 2, np.pi / 2 + 2 * np.pi * turns, 20_000)
    fine = angle[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    length = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(fine, axis=0), axis=1))])
    place = np.linspace(0, 1, n)
    X = np.column_stack([np.interp(place * length[-1], length, column) for column in fine.T])
    return X + noise * _rng(seed).normal(size=X.shape), place


def unequal_gaussian(n: int = 500, *, seed: Seed = 0) -> Array:
    """N(0, [[25, 4], [4, 1]]): one feature has 25 times the variance of the other (004 exercise 5)."""
    return _rng(seed).multivariate_normal([0, 0], [[25, 4], [4, 1]], size=n)


def cities(n: int = 100, *, seed: Seed = 0) -> Array:
    """Population and advertising spending of made-up cities whose loadings are 004's, 0.839 and 0.544 (fig. 2–3).

    The figure's own data are not printed; these have its loadings exactly, a similar place and a similar spread.
    """
    scores = _rng(seed).normal(size=(n, 2))
    scores -= scores.mean(axis=0)
    scores = scores @ np.linalg.inv(np.linalg.cholesky(scores.T @ scores / n)).T  # covariance exactly I
    loadings = np.array([0.839, 0.544]) / np.hypot(0.839, 0.544)
    return scores * [13.0, 2.2] @ [loadings, [-loadings[1], loadings[0]]] + [40.0, 20.0]


def us_arrests() -> tuple[Array, list[str]]:
    """Arrests per 100 000 and urban share in the 50 US states of 1973, and the names of the 4 columns (004 fig. 5).

    From McNeil, Interactive Data Analysis, 1977; the data behind the scree plot the notes take from
    An Introduction to Statistical Learning.
    """
    return np.array(_ARRESTS.split(), dtype=float).reshape(50, 4), ["Murder", "Assault", "UrbanPop", "Rape"]


def _rng(seed: Seed) -> np.random.Generator:
    return np.random.default_rng(seed)


_ARRESTS = """
13.2 236 58 21.2  10.0 263 48 44.5   8.1 294 80 31.0   8.8 190 50 19.5   9.0 276 91 40.6
 7.9 204 78 38.7   3.3 110 77 11.1   5.9 238 72 15.8  15.4 335 80 31.9  17.4 211 60 25.8
 5.3  46 83 20.2   2.6 120 54 14.2  10.4 249 83 24.0   7.2 113 65 21.0   2.2  56 57 11.3
 6.0 115 66 18.0   9.7 109 52 16.3  15.4 249 66 22.2   2.1  83 51  7.8  11.3 300 67 27.8
 4.4 149 85 16.3  12.1 255 74 35.1   2.7  72 66 14.9  16.1 259 44 17.1   9.0 178 70 28.2
 6.0 109 53 16.4   4.3 102 62 16.5  12.2 252 81 46.0   2.1  57 56  9.5   7.4 159 89 18.8
11.4 285 70 32.1  11.1 254 86 26.1  13.0 337 45 16.1   0.8  45 44  7.3   7.3 120 75 21.4
 6.6 151 68 20.0   4.9 159 67 29.3   6.3 106 72 14.9   3.4 174 87  8.3  14.4 279 48 22.5
 3.8  86 45 12.8  13.2 188 59 26.9  12.7 201 80 25.5   3.2 120 80 22.9   2.2  48 32 11.2
 8.5 156 63 20.7   4.0 145 73 26.2   5.7  81 39  9.3   2.6  53 66 10.8   6.8 161 60 15.6
"""
