"""Locally linear methods: a small matrix B for each neighborhood, and M = Σᵢ SᵢᵀBᵢSᵢ of all of them.

G (b, k, k) holds Gram matrices of k neighbors as a sample sees them, see `linalg.neighbors`. Each method derives a
positive semi-definite matrix B from G; an embedding z is good where zᵀBz is small over the neighbors. All B send
constants to zero. Blocks of neighborhoods depend on shapes only, so M does not depend on the number of threads.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mercer.linalg.neighbors import NeighborSpace
from mercer.numerics.blocking import slices
from mercer.numerics.rounding import TINY
from mercer.numerics.threads import in_rounds

_EPS = float(np.finfo(float).eps)
_BLOCK_ENTRIES, _FEWEST_SAMPLES = 250_000, 8  # of coordinates or Gram matrices that stay in the cache
_BLOCKS_PER_ROUND = 16  # before progress is reported and patches are added up
_NO_WEIGHT = 1e-8  # sum of a null vector that is orthogonal to 1 but for rounding


# ---------------------------------------------------------------------- weights


def local_weights(G: NDArray, reg: float) -> NDArray:
    """w (b, k) that minimizes ‖x − Σⱼwⱼηⱼ‖² with Σⱼwⱼ = 1: (G + reg·tr(G)·I)w ∝ 1.

    Weights are equal where all neighbors equal the sample, or where w cannot be normalized: without regularization, if
    1 is not in the range of G.
    """
    k, trace = G.shape[1], np.einsum("ijj->i", G)
    ridge = G.copy()
    ridge[:, np.arange(k), np.arange(k)] += np.where(trace > 0, reg * trace, 1.0)[:, None]
    try:
        w = np.linalg.solve(ridge, np.ones((len(G), k, 1)))[..., 0]
    except np.linalg.LinAlgError:  # reg = 0, and one of them is singular
        w = _limit_weights(ridge)
    total = w.sum(axis=1, keepdims=True)
    usable = np.isfinite(total) & (np.abs(total) > 1e-12 * np.abs(w).sum(axis=1, keepdims=True))
    return np.where(usable, w / np.where(usable, total, 1.0), 1.0 / k)


def _limit_weights(G: NDArray) -> NDArray:
    """The limit for a vanishing ridge: null vectors of G cost nothing, so they get all the weight if they have any."""
    values, V = np.linalg.eigh(G)
    zero = G.shape[1] * _EPS * values[:, -1:]
    sums = V.sum(axis=1)
    sums[(values <= zero) & (np.abs(sums) < _NO_WEIGHT)] = 0.0
    return (V @ (sums / np.maximum(values, np.maximum(zero, TINY)))[:, :, None])[..., 0]


def reconstruction_residuals(G: NDArray, w: NDArray) -> NDArray:
    """‖x − Σⱼwⱼηⱼ‖ = √(wᵀGw) of every sample."""
    return np.sqrt(np.maximum(np.einsum("ij,ij->i", (w[:, None] @ G)[:, 0], w), 0.0))


# ---------------------------------------------------------------------- local matrices


def _tangents(G: NDArray, d: int) -> NDArray:
    """Orthonormal (b, k, d): directions in which the neighbors spread most around their mean, orthogonal to 1.

    1 is sent to the other end of the spectrum, so that it is not taken for a direction where neighbors have fewer
    than d of them.
    """
    G = G - G.mean(axis=1, keepdims=True)
    G -= G.mean(axis=2, keepdims=True)
    G -= np.einsum("ijj->i", G)[:, None, None] / G.shape[1] + TINY
    return np.linalg.eigh(G)[1][:, :, ::-1][:, :, :d]


def ltsa_matrices(G: NDArray, d: int) -> NDArray:
    """Local tangent space alignment: I − 11ᵀ/k − VVᵀ, V the tangents."""
    V = _tangents(G, d)
    return np.eye(G.shape[1]) - 1.0 / G.shape[1] - V @ V.transpose(0, 2, 1)


def hessian_matrices(G: NDArray, d: int) -> NDArray:
    """Hessian eigenmaps: HHᵀ, where Hᵀz are the second derivatives of z by least squares over the tangent space.

    H holds the last d(d + 1)/2 columns of Q in the reduced QR factorization of [1, V, products of columns of V]. With
    the full Q it would be LTSA.
    """
    V = _tangents(G, d)
    a, b = np.triu_indices(d)
    basis = np.concatenate([np.ones((*G.shape[:2], 1)), V, V[:, :, a] * V[:, :, b]], axis=2)
    H = np.linalg.qr(basis)[0][:, :, 1 + d :]
    return H @ H.transpose(0, 2, 1)


def modified_matrices(G: NDArray, reg: float, eta: float, tol: float) -> NDArray:
    """Modified LLE: (b, k + 1, k + 1), the sample itself first, ŴŴᵀ with Ŵ = [−1ᵀ; W], W = (1 − α)w1ᵀ + VH.

    V (k, s) holds the eigenvectors of the s smallest eigenvalues of G, α = ‖Vᵀ1‖/√s, and the reflection H turns Vᵀ1
    into α1, so that the columns of W sum to one. Reflections shorter than `tol` are the identity.
    """
    values, V = np.linalg.eigh(G)
    w = local_weights(G, reg)
    spare = _spare_directions(np.maximum(values[:, ::-1], 0.0), eta)
    b, k = w.shape
    B = np.empty((b, k + 1, k + 1))
    for s in np.unique(spare):
        some = spare == s
        W = _several_weights(V[some, :, :s], w[some], tol)
        W = np.concatenate([np.full((len(W), 1, s), -1.0), W], axis=1)
        B[some] = W @ W.transpose(0, 2, 1)
    return B


def _several_weights(V: NDArray, w: NDArray, tol: float) -> NDArray:
    sums = V.sum(axis=1)
    alpha = np.linalg.norm(sums, axis=1, keepdims=True) / np.sqrt(V.shape[2])
    h = alpha - sums
    length = np.linalg.norm(h, axis=1, keepdims=True)
    h = np.where(length < tol, 0.0, h / np.where(length > 0, length, 1.0))
    return V - 2 * (V @ h[:, :, None]) * h[:, None, :] + ((1 - alpha) * w)[:, :, None]


def _spare_directions(values: NDArray, eta: float) -> NDArray:
    """Number of the smallest eigenvalues (b, k; largest first) that sum to less than η of the others; at least one.

    Those that are zero to rounding always count. If the number of samples is odd, η is the ratio of one of them, and
    rounding must not decide about that one.
    """
    cumulated = np.cumsum(values, axis=1)
    rest = cumulated[:, -1:] - cumulated[:, :-1]
    zero = values[:, 1:] <= values.shape[1] * _EPS * values[:, :1]
    return np.maximum(1, np.sum((rest < (1 - 1e-9) * eta * cumulated[:, :-1]) | zero, axis=1))


def outside_ratios(G: NDArray, d: int) -> NDArray:
    """Σ_{j>d}λⱼ/Σ_{j≤d}λⱼ of every neighborhood: how far it is from d-dimensional."""
    values = np.maximum(np.linalg.eigvalsh(G)[:, ::-1], 0.0)
    inside, outside = values[:, :d].sum(axis=1), values[:, d:].sum(axis=1)
    return np.where(inside > 0, outside / np.where(inside > 0, inside, 1.0), 0.0)


# ---------------------------------------------------------------------- the matrix of all


def alignment_matrix(
    space: NeighborSpace,
    indices: NDArray,
    method: str,
    *,
    n_components: int,
    reg: float,
    modified_tol: float,
    dense: bool = False,
    n_threads: int = 1,
    progress: Any = None,
) -> Any:
    """M (n, n) of the neighbors (n, k) by "standard", "modified", "hessian" or "ltsa": exactly symmetric.

    CSC with sorted indices, or an array if `dense`.
    """
    n = len(indices)
    if method == "standard":
        weights = _over_blocks(space, indices, lambda rows, G: local_weights(G, reg), n_threads, progress)
        return _standard_matrix(np.concatenate(list(weights)), indices, dense)
    members = indices
    if method == "modified":
        ratios = map_neighborhoods(space, indices, partial(outside_ratios, d=n_components), n_threads)
        local: Callable = partial(modified_matrices, reg=reg, eta=float(np.median(ratios)), tol=modified_tol)
        members = np.column_stack([np.arange(n, dtype=indices.dtype), indices])
    else:
        local = partial(ltsa_matrices if method == "ltsa" else hessian_matrices, d=n_components)
    q = members.shape[1]

    def patch(rows: slice, G: NDArray) -> Any:
        """Sums of SᵢᵀBᵢSᵢ over a block."""
        where = members[rows]
        entries = np.repeat(where, q, axis=1).ravel(), np.tile(where, (1, q)).ravel()
        return sparse.coo_array((local(G).ravel(), entries), shape=(n, n)).tocsr()

    M = _pairwise_sum(_over_blocks(space, indices, patch, n_threads, progress), n)
    M = sparse.csc_array((M + M.T) / 2)
    M.sort_indices()
    return M.toarray() if dense else M


def _standard_matrix(w: NDArray, indices: NDArray, dense: bool) -> Any:
    """(I − W)ᵀ(I − W). Entries (i, j) and (j, i) are sums of the same products in the same order."""
    n, k = indices.shape
    if dense:
        rest = np.eye(n)
        rest[np.arange(n)[:, None], indices] -= w  # neighbors of a sample are distinct, and never itself
        M = rest.T @ rest
        return (M + M.T) / 2
    values, columns = np.empty((n, k + 1)), np.empty((n, k + 1), dtype=np.int32)
    values[:, 0], columns[:, 0], values[:, 1:], columns[:, 1:] = 1.0, np.arange(n), -w, indices
    parts = values.ravel(), columns.ravel(), np.arange(0, n * (k + 1) + 1, k + 1, dtype=np.int32)
    rest = sparse.csr_array(parts, shape=(n, n))
    rows = rest.T.tocsr() @ rest
    M = sparse.csc_array((rows.data, rows.indices, rows.indptr), shape=(n, n))  # symmetric: rows are columns
    M.sort_indices()
    return M


def map_neighborhoods(
    space: NeighborSpace,
    indices: NDArray,
    function: Callable[[NDArray], NDArray],
    n_threads: int = 1,
) -> NDArray:
    """function(G) of all neighborhoods, block by block."""
    return np.concatenate(list(_over_blocks(space, indices, lambda rows, G: function(G), n_threads, None)))


def neighborhood_rows(k: int, width: int) -> int:
    """Neighborhoods that a thread works on at once."""
    return max(_BLOCK_ENTRIES // (k * max(k + 1, width)), _FEWEST_SAMPLES)


def _over_blocks(
    space: NeighborSpace, indices: NDArray, function: Callable[[slice, NDArray], Any], n_threads: int, progress: Any
) -> Iterator[Any]:
    """function(rows, G) of all neighborhoods, block by block, with reports on the way."""
    blocks = slices(len(indices), neighborhood_rows(indices.shape[1], space.width))

    def work(rows: slice) -> Any:
        return function(rows, space.gram_at(space.samples[rows], indices[rows]))

    return in_rounds(work, blocks, n_threads, _BLOCKS_PER_ROUND, progress)


def _pairwise_sum(parts: Iterable[Any], n: int) -> Any:
    """Their sum, always of two sums of equally many, so that an entry is rounded a few times only."""
    waiting: list[tuple[int, Any]] = []
    for part in parts:
        level, total = 0, part
        while waiting and waiting[-1][0] == level:
            level, total = level + 1, waiting.pop()[1] + total
        waiting.append((level, total))
    total = sparse.csr_array((n, n))
    for _, part in reversed(waiting):
        total = total + part
    return total
