"""What the cases are measured against where scikit-learn has no such call: the plain arithmetic of it, in numpy."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from scipy.linalg import eigh
from threadpoolctl import threadpool_limits


def sweep(X, threads, rows=4096):
    """XᵀX in the precision of X, block by block: no mean, no bounds. Each thread has a share of the rows and one BLAS
    thread: BLAS threads that wait for each other vary by a factor of ten next to other processes."""

    def part(start, stop):
        S = np.zeros((X.shape[1], X.shape[1]), X.dtype)
        for first in range(start, stop, rows):
            block = X[first : min(first + rows, stop)]
            S += block.T @ block
        return S

    edges = [len(X) * i // threads for i in range(threads + 1)]
    with threadpool_limits(1), ThreadPoolExecutor(threads) as pool:
        return sum(pool.map(part, edges[:-1], edges[1:]))


def gram_pca(X, k, columns=1024):
    """PCA of few rows of small integers: a Gram matrix of exact float32 blocks with sums in float64, its leading
    eigenvectors, and the axes."""
    n, d = X.shape
    G, block = np.zeros((n, n)), np.empty((columns, n), np.float32)
    for start in range(0, d, columns):
        part = block[: min(columns, d - start)]
        part[...] = X[:, start : start + columns].T
        G += part.T @ part
    mean = G.mean(axis=0)
    G -= mean
    G -= (mean - mean.mean())[:, None]
    values, U = eigh(G, subset_by_index=[n - k, n - 1])
    weights = np.ascontiguousarray((U / np.sqrt(values)).T, dtype=np.float32)
    axes = np.empty((k, d))
    for start in range(0, d, columns):
        axes[:, start : start + columns] = weights @ X[:, start : start + columns].astype(np.float32)
    axes -= (weights.sum(axis=1, dtype=np.float64) / n)[:, None] * np.einsum("ij->j", X, dtype=np.int64)
    return values[::-1], axes[::-1]


def kernel_pass(X, gamma, B, side=256):
    """K @ B for the RBF kernel without holding K: each tile above the diagonal is computed once and used twice."""
    Z = (X - X.mean(axis=0)) * np.sqrt(2 * gamma)
    half, one = -0.5 * np.einsum("ij,ij->i", Z, Z)[:, None], np.ones((len(Z), 1))
    left, right = np.hstack([Z, half, one]), np.ascontiguousarray(np.hstack([Z, one, half]).T)
    out, n = np.zeros_like(B), len(X)
    for i in range(0, n, side):
        rows = slice(i, min(i + side, n))
        for j in range(i, n, side):
            columns = slice(j, min(j + side, n))
            tile = left[rows] @ right[:, columns]
            np.exp(tile, out=tile)
            out[rows] += tile @ B[columns]
            if j > i:
                out[columns] += tile.T @ B[rows]
    return out


def em_step(X, W, noise):
    """One step of EM of probabilistic PCA with missing values (NaN): Tipping and Bishop's, for all rows at once."""
    n, d, k = len(X), *W.shape
    seen = ~np.isnan(X)
    mean = np.nanmean(X, axis=0)
    Y, mask = np.where(seen, X - mean, 0.0), seen.astype(float)
    pairs = (W[:, :, None] * W[:, None, :]).reshape(d, k * k)
    inverse = np.linalg.inv((mask @ pairs).reshape(n, k, k) + noise * np.eye(k))
    scores = np.einsum("nab,nb->na", inverse, Y @ W)
    second = noise * inverse + scores[:, :, None] * scores[:, None, :]
    sums = (mask.T @ second.reshape(n, k * k)).reshape(d, k, k)
    new = np.linalg.solve(sums, (Y.T @ scores)[:, :, None])[:, :, 0]
    residuals = np.where(seen, Y - scores @ new.T, 0.0)
    spread = np.einsum("nd,nd->", mask @ (new[:, :, None] * new[:, None, :]).reshape(d, k * k), _flat(noise * inverse))
    return new, (np.einsum("nd,nd->", residuals, residuals) + spread) / seen.sum()


def _flat(matrices):
    return matrices.reshape(len(matrices), -1)


def running_sums(count=20_000, repeats=50):
    """A running sum over a million float64 numbers: the unit of dynamic programs. Each addition waits for the one
    before, so that caches and vector units do not matter."""
    a, out = np.ones(count), np.empty(count)

    def run():
        for _ in range(repeats):
            np.cumsum(a, out=out)

    return run
