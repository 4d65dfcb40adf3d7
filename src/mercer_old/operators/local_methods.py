"""What each neighbourhood asks of an embedding: four locally linear methods, a block of neighbourhoods at a time.

G (b×k×k) is the Gram matrix of the k neighbours as a point sees them. Every method makes a positive semi-definite
matrix B of it, and an embedding z is good where zᵀBz is small over the neighbours (and the point itself). All B vanish
on constants.
"""

from dataclasses import dataclass

import numpy as np

from mercer_old.arrays import Array


def weights(G: Array, reg: float) -> Array:
    """w (b×k) that minimises ‖x − Σⱼwⱼηⱼ‖² with Σⱼwⱼ = 1: (G + reg·tr(G)·I)w ∝ 1.

    With more neighbours than dimensions G is singular, and `reg` chooses among the many best w. Where all neighbours
    are the point itself, every w is as good and all get the same weight.
    """
    ridge = _regularised(G, reg)
    ones = np.ones((*G.shape[:2], 1))
    try:
        w = np.linalg.solve(ridge, ones)[..., 0]
    except np.linalg.LinAlgError:  # without a ridge, a singular one among them spoils all
        w = _singular_weights(ridge)
    return _normalised(w)


def _singular_weights(G: Array) -> Array:
    """The limit for a vanishing ridge: what G sends to zero costs nothing, so it gets all the weight if it has any."""
    values, V = np.linalg.eigh(G)
    k = G.shape[1]
    zero = k * np.finfo(float).eps * values[:, -1:]
    sums = V.sum(axis=1)
    sums[(values <= zero) & (np.abs(sums) < 1e-8)] = 0.0
    return (V @ (sums / np.maximum(values, np.maximum(zero, np.finfo(float).tiny)))[:, :, None])[..., 0]


def _regularised(G: Array, reg: float) -> Array:
    trace = np.trace(G, axis1=1, axis2=2)
    k = G.shape[1]
    ridge = G.copy()
    ridge[:, np.arange(k), np.arange(k)] += np.where(trace > 0, reg * trace, 1.0)[:, None]
    return ridge


def _normalised(w: Array) -> Array:
    """With sum one; a solution that cannot be scaled so (no ridge, and 1 outside the range of G) becomes the mean."""
    total = w.sum(axis=1, keepdims=True)
    usable = np.isfinite(total) & (np.abs(total) > 1e-12 * np.abs(w).sum(axis=1, keepdims=True))
    return np.where(usable, w / np.where(usable, total, 1.0), 1.0 / w.shape[1])


def residuals(G: Array, w: Array) -> Array:
    """‖x − Σⱼwⱼηⱼ‖ = √(wᵀGw) (b,): how far a point is from what its neighbours say."""
    return np.sqrt(np.maximum(np.einsum("ij,ij->i", (w[:, None] @ G)[:, 0], w), 0.0))


# ---------------------------------------------------------------------- tangent space alignment


def ltsa(G: Array, d: int) -> Array:
    """B = I − 11ᵀ/k − VVᵀ, V the d directions in which the neighbours spread most: what is not affine there costs."""
    k = G.shape[1]
    V = _tangents(G, d)
    return np.eye(k) - 1.0 / k - V @ V.transpose(0, 2, 1)


def _tangents(G: Array, d: int) -> Array:
    """The d leading left singular vectors (b×k×d) of the neighbours around their mean, all orthogonal to 1.

    1 is sent to the other end of the spectrum, so that it is never taken for a direction where the neighbours have
    fewer than d of them.
    """
    G = G - G.mean(axis=1, keepdims=True)
    G -= G.mean(axis=2, keepdims=True)
    G -= np.trace(G, axis1=1, axis2=2)[:, None, None] / G.shape[1] + np.finfo(float).tiny
    return np.linalg.eigh(G)[1][:, :, ::-1][:, :, :d]


# ---------------------------------------------------------------------- Hessian eigenmaps


def hessian(G: Array, d: int) -> Array:
    """B = HHᵀ, HᵀZ the second derivatives of z by least squares over the tangent space.

    H holds the last d(d + 1)/2 columns of Q in the reduced QR of [1, V, products V_a∘V_b]: the quadratic part of a
    polynomial of degree two, without what 1 and V explain.
    """
    V = _tangents(G, d)
    a, b = np.triu_indices(d)
    basis = np.concatenate([np.ones((*G.shape[:2], 1)), V, V[:, :, a] * V[:, :, b]], axis=2)
    H = np.linalg.qr(basis)[0][:, :, 1 + d :]
    return H @ H.transpose(0, 2, 1)


# ---------------------------------------------------------------------- modified LLE


@dataclass(frozen=True)
class Modified:
    """MLLE: several weight vectors for each point, as many as its neighbourhood has directions to spare."""

    eta: float  # the median of what lies outside of d directions, relative to what lies inside
    reg: float
    tol: float

    def __call__(self, G: Array) -> Array:
        """B (b×(k+1)×(k+1)), the point itself first: ŴŴᵀ with Ŵ = [−1ᵀ; W], W = (1 − α)w1ᵀ + VH (k×s).

        V holds the s smallest eigenvectors of G, α = ‖Vᵀ1‖/√s, and the reflection H turns Vᵀ1 into α1, so that every
        column of W sums to one.
        """
        values, V = np.linalg.eigh(G)
        values = np.maximum(values[:, ::-1], 0.0)  # largest first
        w = weights(G, self.reg)
        spare = _spare_directions(values, self.eta)
        b, k = w.shape
        B = np.empty((b, k + 1, k + 1))
        for s in np.unique(spare):
            some = spare == s
            W = np.concatenate([np.full((some.sum(), 1, s), -1.0), self._weights(V[some, :, :s], w[some])], axis=1)
            B[some] = W @ W.transpose(0, 2, 1)
        return B

    def _weights(self, V: Array, w: Array) -> Array:
        sums = V.sum(axis=1)  # Vᵀ1
        alpha = np.linalg.norm(sums, axis=1, keepdims=True) / np.sqrt(V.shape[2])
        h = alpha - sums
        length = np.linalg.norm(h, axis=1, keepdims=True)
        h = np.where(length < self.tol, 0.0, h / np.where(length > 0, length, 1.0))
        reflected = V - 2 * (V @ h[:, :, None]) * h[:, None, :]
        return reflected + ((1 - alpha) * w)[:, :, None]


def spill(G: Array, d: int) -> Array:
    """Σ_{j>d}λⱼ/Σ_{j≤d}λⱼ of every neighbourhood (b,): how far it is from d-dimensional."""
    values = np.maximum(np.linalg.eigvalsh(G)[:, ::-1], 0.0)
    inside, outside = values[:, :d].sum(axis=1), values[:, d:].sum(axis=1)
    return np.where(inside > 0, outside / np.where(inside > 0, inside, 1.0), 0.0)


def _spare_directions(values: Array, eta: float) -> Array:
    """How many of the smallest eigenvalues (largest first, b×k) hold together less than η of the rest; at least one.

    Those that are zero to rounding always count. η is the share of one of the points if their number is odd, and for
    that one rounding must not decide.
    """
    k = values.shape[1]
    so_far = np.cumsum(values, axis=1)
    rest = so_far[:, -1:] - so_far[:, :-1]
    zero = values[:, 1:] <= k * np.finfo(float).eps * values[:, :1]
    return np.maximum(1, np.sum((rest < (1 - 1e-9) * eta * so_far[:, :-1]) | zero, axis=1))
