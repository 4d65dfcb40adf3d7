"""The nearest rows in feature space: pre-images by the distances to them (Kwok and Tsang), as their average, and what
they tell about noise.
"""

import numpy as np
import scipy

from mercer_old.arrays import Array, Held
from mercer_old.kernels.base import Kernel
from mercer_old.readings.preimages.radial import Radial

__all__ = ["NEIGHBOURS", "beside", "by_average", "by_distances", "nearest_rows", "without_noise"]

NEIGHBOURS = 15
_GROUPS, _WIDE, _CROWDED = 8, 4, 4  # groups of columns for every neighbour; columns that make one; most candidates
_RANK = 1e-10  # of the largest eigenvalue of the neighbours' Gram matrix: below it, they span nothing
_LEAST = 1e-6  # of k(x, x), that a neighbour is taken to have in common with a pre-image
_FAINT = 1e-3  # of the k of the nearest: a neighbour with less says nothing
_SOFT = 1e-3, 1e-12  # of the nearest squared distance and of the mean one, added to those to all neighbours


def nearest_rows(squared: Array, count: int) -> tuple[Array, Array]:
    """The places (m×count) of the smallest numbers of every row, smallest first, and these.

    Where columns are in groups, `count` of the groups have a minimum up to the count-th smallest minimum: so the
    `count` smallest numbers of all are no larger than that, and hardly any others are.
    """
    m, n = squared.shape
    count = min(count, n)
    wide = n // (_GROUPS * count)
    if wide < _WIDE or not m:
        return _in_order(squared, np.argpartition(squared, count - 1, axis=1)[:, :count])
    minima = squared[:, : n - n % wide].reshape(m, wide, n // wide).min(axis=1)  # neighbours may lie side by side
    bound = np.partition(minima, count - 1, axis=1)[:, count - 1]
    row, place = np.nonzero(squared <= bound[:, None])
    found = np.bincount(row, minlength=m)
    if found.min() < count or found.max() > _CROWDED * count:  # NaN, or copies of one another
        return _in_order(squared, np.argpartition(squared, count - 1, axis=1)[:, :count])
    within = np.arange(len(row)) - np.repeat(np.cumsum(found) - found, found)
    places = np.zeros((m, found.max()), dtype=np.intp)
    values = np.full(places.shape, np.inf)
    places[row, within], values[row, within] = place, squared[row, place]
    order = np.argsort(values, axis=1, kind="stable")[:, :count]
    return np.take_along_axis(places, order, axis=1), np.take_along_axis(values, order, axis=1)


def _in_order(squared: Array, places: Array) -> tuple[Array, Array]:
    places.sort(axis=1)  # of equals, the first comes first
    found = np.take_along_axis(squared, places, axis=1)
    order = np.argsort(found, axis=1, kind="stable")
    return np.take_along_axis(places, order, axis=1), np.take_along_axis(found, order, axis=1)


# ---------------------------------------------------------------------- Kwok and Tsang


def by_distances(radial: Radial, near: Array, squared: Array, excess: Array) -> Array:
    """The points at the distances from their neighbours that their images have from p (m×d).

    All images lie on a sphere, ‖φ(z)‖² = k(0), and p mostly below it, by `excess` = ‖p‖²/k(0) − 1. So the image that
    is looked for is taken to lie in the direction of p: k(z, xᵢ) = √k(0)·⟨p, φ(xᵢ)⟩/‖p‖, with ⟨p, φ(xᵢ)⟩ from
    ‖p − φ(xᵢ)‖² (`squared`). That gives the squared distance to every neighbour in input space, and these a point. The
    less k, the less it says about the distance, so a neighbour counts by k².
    """
    above = np.maximum(excess, _LEAST - 1)[:, None]
    longer = above / (np.sqrt(1 + above) + 1)  # ‖p‖/√k(0) − 1, with all digits that it has
    drop = (longer - (above - squared / radial.factor) / 2) / (1 + longer)
    drop = np.clip(drop, 0.0, 1 - _LEAST)
    share = (1 - drop) / (1 - drop).max(axis=1, keepdims=True)
    return points_at(radial.rows[near], radial.squared_distances(drop), np.where(share < _FAINT, 0.0, share**2))


def points_at(around: Array, squared: Array, weights: Array | None = None) -> Array:
    """The point of every neighbourhood (m×q×d) that has these squared distances (m×q) to its q points.

    With x̄ their mean and A = the points less x̄, ‖z − xᵢ‖² = sᵢ says A(z − x̄) = b, bᵢ = ½(gᵢ − ḡ − (sᵢ − s̄)) with
    gᵢ = ‖Aᵢ‖²: a least squares problem. ‖z − x̄‖² = s̄ − ḡ is known as well, and what the span of A does not explain of
    it, spread over the d − r dimensions beside the span, is the variance σ² with which points lie beside the data.
    As much noise lies inside of the span, where the points have variances eⱼ/q: every coordinate is multiplied by
    eⱼ/(eⱼ + qσ²), which is the best linear guess. Exact distances to points that span all dimensions leave σ² = 0.
    With weights, all means are weighted, and q is their sum.
    """
    m, _, d = around.shape
    w = np.ones(squared.shape) if weights is None else weights
    total = w.sum(axis=1)
    middle = np.einsum("ij,ijk->ik", w, around, dtype=np.float64) / total[:, None]
    A = around - middle[:, None]
    G = A @ A.transpose(0, 2, 1)
    own = np.einsum("ijj->ij", G).copy()
    radius = np.sum(w * (squared - own), axis=1) / total  # ‖z − x̄‖²
    root = np.sqrt(w)
    G *= root[:, :, None] * root[:, None]
    values, U = np.linalg.eigh(G)
    spans = values > _RANK * np.maximum(values[:, -1:], np.finfo(float).tiny)
    along = np.einsum("ijk,ij->ik", U, root * (own - squared + radius[:, None]) / 2)
    inverse = np.divide(1.0, values, out=np.zeros_like(values), where=spans)
    left = np.maximum(radius - np.sum(along**2 * inverse, axis=1), 0.0)
    beside = np.maximum(d - spans.sum(axis=1), 0)
    noise = total * np.divide(left, beside, out=np.zeros(m), where=beside > 0)
    shrunk = np.divide(1.0, values + noise[:, None], out=np.zeros_like(values), where=spans)
    z = np.einsum("ij,ijk->ik", root * np.einsum("ijk,ik->ij", U, along * shrunk), A)
    return middle + _within(z, np.sum(w * squared, axis=1) / total)


def _within(z: Array, most: Array) -> Array:
    """No longer than √most: ‖z − x̄‖² ≤ s̄ for any point, and more is rounding, or distances that contradict."""
    lengths = np.einsum("ij,ij->i", z, z)
    return z * np.sqrt(np.divide(most, lengths, out=np.ones_like(lengths), where=lengths > most))[:, None]


# ---------------------------------------------------------------------- averages


def by_average(kernel: Kernel, rows: Held, near: Array, squared: Array) -> Array:
    """Σwᵢxᵢ of the neighbours with the weights for which Σwᵢφ(xᵢ) comes nearest to p (m×d), none of them negative.

    Gᵢⱼ = ⟨φ(xᵢ) − p, φ(xⱼ) − p⟩ = kᵢⱼ + (gᵢ − kᵢᵢ + gⱼ − kⱼⱼ)/2 with gᵢ = ‖φ(xᵢ) − p‖². The weights have the least
    wᵀ(G + εI)w, as of locally linear embedding, but none below zero: an average lies among its points, for any kernel.
    """
    out = np.empty((len(near), rows.shape[1]))
    for query, (places, g) in enumerate(zip(near, squared, strict=True)):
        some = rows[places]
        K = kernel.block(some, some)
        half = (g - np.diag(K)) / 2
        G = K + half[:, None] + half
        G[np.diag_indices(len(G))] += _SOFT[0] * g.min() + _SOFT[1] * max(g.mean(), np.finfo(float).tiny)
        out[query] = _convex(G) @ some
    return out


def _convex(G: Array) -> Array:
    """The w ≥ 0 with Σw = 1 of the least wᵀGw; the nearest alone, where G has no numbers.

    With RᵀR = G, least squares that draw Ru to zero and Σu to one, u ≥ 0, find a multiple of w: of all u with the same
    sum, those in its direction are shortest.
    """
    if not np.isfinite(G).all():
        return np.eye(len(G))[0]
    values, U = np.linalg.eigh(G)
    top = max(values[-1], np.finfo(float).tiny)
    root = (U * np.sqrt(np.maximum(values / top, 0.0))).T
    u = scipy.optimize.nnls(np.vstack([root, np.ones(len(G))]), np.append(np.zeros(len(G)), 1.0))[0]
    return np.asarray(u / u.sum())


# ---------------------------------------------------------------------- noise


def without_noise(Z: Array, around: Array, usual: float) -> Array:
    """Rows Z (m×d) without what neighbours (m×q×d) do not have: rows of the fit lie beside theirs by √usual.

    With x̄ and the variances eⱼ/q of the neighbours along the directions that they span, z − x̄ is a part inside of the
    span and a part u beside it. What ‖u‖² exceeds the usual by is taken for noise, of variance σ² in each of the
    dimensions beside the span, and inside of it as well. The best linear guess multiplies u by usual/‖u‖², and the
    coordinates inside by eⱼ/(eⱼ + qσ²). A row that lies as rows do stays where it is.
    """
    q, d = around.shape[1:]
    middle, A, values, U, spans = _spanned(around)
    moved = Z - middle
    along = np.einsum("ijk,ij->ik", U, np.einsum("ijk,ik->ij", A, moved))
    inside = _combined(along * np.divide(1.0, values, out=np.zeros_like(values), where=spans), U, A)
    u = moved - inside
    squared = np.einsum("ij,ij->i", u, u)
    more = np.maximum(squared - usual, 0.0)
    noise = q * more / np.maximum(d - spans.sum(axis=1), 1)
    calm = _combined(along * np.divide(1.0, values + noise[:, None], out=np.zeros_like(values), where=spans), U, A)
    return np.asarray(middle + calm + u * np.divide(usual, squared, out=np.ones_like(squared), where=more > 0)[:, None])


def beside(rows: Array, around: Array) -> Array:
    """‖u‖² of every row (m×d): how far it lies beside the span of its neighbours (m×q×d)."""
    middle, A, values, U, spans = _spanned(around)
    along = np.einsum("ijk,ij->ik", U, np.einsum("ijk,ik->ij", A, rows - middle))
    inside = np.sum(along**2 * np.divide(1.0, values, out=np.zeros_like(values), where=spans), axis=1)
    return np.maximum(np.sum((rows - middle) ** 2, axis=1) - inside, 0.0)


def _spanned(around: Array) -> tuple[Array, Array, Array, Array, Array]:
    """Mean, points less the mean, and eigenvalues and vectors of their Gram matrix, of every neighbourhood."""
    middle = around.mean(axis=1, dtype=np.float64)
    A = around - middle[:, None]
    values, U = np.linalg.eigh(A @ A.transpose(0, 2, 1))
    return middle, A, values, U, values > _RANK * np.maximum(values[:, -1:], np.finfo(float).tiny)


def _combined(weights: Array, U: Array, A: Array) -> Array:
    """Aᵀ U weights of every neighbourhood."""
    return np.asarray(np.einsum("ij,ijk->ik", np.einsum("ijk,ik->ij", U, weights), A))
