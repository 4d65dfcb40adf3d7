"""Slow twins of what the lectures do not have: the definitions, one loop for each sum."""

import numpy as np

# ---------------------------------------------------------------------------- kernels of a pair of rows


def chi_squared(x, y, gamma=1.0):
    return np.exp(-gamma * sum((a - b) ** 2 / (a + b) for a, b in zip(x, y, strict=True) if a + b > 0))


def additive_chi_squared(x, y):
    return sum(2 * a * b / (a + b) for a, b in zip(x, y, strict=True) if a + b > 0)


def histogram_intersection(x, y):
    return sum(min(a, b) for a, b in zip(x, y, strict=True))


def min_max(x, y):
    largest = sum(max(a, b) for a, b in zip(x, y, strict=True))
    return histogram_intersection(x, y) / largest if largest else 1.0


def tanimoto(x, y, packed=False):
    either = x @ x + y @ y - x @ y
    return x @ y / either if either else 1.0


def rational_quadratic(x, y, alpha=1.0, length_scale=1.0):
    return (1 + sum((a - b) ** 2 for a, b in zip(x, y, strict=True)) / (2 * alpha * length_scale**2)) ** -alpha


# ---------------------------------------------------------------------------- how well neighbourhoods are kept


def euclidean_distances(X):
    return np.array([[((x - y) ** 2).sum() ** 0.5 for y in X] for x in X])


def cosine_distances(X):
    """1 − cos, and 1 if a row is zero."""

    def distance(x, y):
        lengths = (x @ x) ** 0.5 * (y @ y) ** 0.5
        return 1 - x @ y / lengths if lengths else 1.0

    return np.array([[distance(x, y) for y in X] for x in X])


def neighbour_ranks(D):
    """r(i, j): which neighbour of i row j is, from 1 on; equal distances by index, and i itself is none (0)."""
    n = len(D)
    r = np.zeros((n, n), dtype=int)
    for i in range(n):
        others = sorted((D[i, j], j) for j in range(n) if j != i)
        for rank, (_, j) in enumerate(others, start=1):
            r[i, j] = rank
    return r


def trustworthiness(D_x, D_y, k):
    """1 − 2/(nk(2n − 3k − 1)) Σᵢ Σⱼ (r_X(i, j) − k) over j among the k nearest in Y that are not among those in X."""
    n, r_x, r_y = len(D_x), neighbour_ranks(D_x), neighbour_ranks(D_y)
    total = 0
    for i in range(n):
        for j in range(n):
            if i != j and r_y[i, j] <= k < r_x[i, j]:
                total += r_x[i, j] - k
    return 1 - 2 / (n * k * (2 * n - 3 * k - 1)) * total


def continuity(D_x, D_y, k):
    return trustworthiness(D_y, D_x, k)


def q_nx(D_x, D_y, k):
    """The share of the k nearest in X that are among the k nearest in Y."""
    n, r_x, r_y = len(D_x), neighbour_ranks(D_x), neighbour_ranks(D_y)
    return sum(1 <= r_x[i, j] <= k and 1 <= r_y[i, j] <= k for i in range(n) for j in range(n)) / (n * k)


# ---------------------------------------------------------------------------- locally linear methods


def nearest(D, k):
    """The k nearest others of every item by a matrix of distances; of equal ones those that come first."""
    return np.array([[j for _, j in sorted((D[i, j], j) for j in range(len(D)) if j != i)[:k]] for i in range(len(D))])


def exact_distances(X):
    """In extended precision, from differences: no offset and no outlier costs a digit that the rows have."""
    X = np.asarray(X, dtype=np.longdouble)
    return np.array([np.sqrt(((X - x) ** 2).sum(axis=1)) for x in X])


def gram_of(x, neighbours):
    return np.array([[(a - x) @ (b - x) for b in neighbours] for a in neighbours])


def lle_weights(x, neighbours, reg):
    """argmin wᵀ(G + reg·tr(G)·I)w with Σw = 1, by the equations of Lagrange: [[R, 1], [1ᵀ, 0]][w, λ] = [0, 1]."""
    k, G = len(neighbours), gram_of(x, neighbours)
    system = np.ones((k + 1, k + 1))
    system[:k, :k] = G + reg * np.trace(G) * np.eye(k)
    system[k, k] = 0.0
    return np.linalg.solve(system, np.append(np.zeros(k), 1.0))[:k]


def standard_matrix(x, neighbours, reg):
    """The square of z_x − Σⱼwⱼzⱼ, over the point itself and its neighbours."""
    b = np.append(1.0, -lle_weights(x, neighbours, reg))
    return np.outer(b, b)


def spill(x, neighbours, d):
    """ρ = Σ_{j>d}λⱼ/Σ_{j≤d}λⱼ of the neighbours as the point sees them."""
    values = np.linalg.svd(neighbours - x, compute_uv=False) ** 2
    return sum(values[d:]) / sum(values[:d])


def modified_matrix(x, neighbours, reg, eta):
    """Ŵ = [−1ᵀ; (1 − α)w1ᵀ + VH] times its transpose, with as many columns as there are directions to spare."""
    k = len(neighbours)
    values, vectors = np.linalg.eigh(gram_of(x, neighbours))
    values = np.maximum(values, 0.0)  # smallest first
    zero = k * np.finfo(float).eps * values[-1]
    spare = 0
    for s in range(1, k):
        if sum(values[:s]) < eta * sum(values[s:]) or values[s - 1] <= zero:
            spare = s
    V = vectors[:, : max(spare, 1)]
    s = V.shape[1]
    alpha = np.linalg.norm(V.T @ np.ones(k)) / s**0.5
    h = alpha * np.ones(s) - V.T @ np.ones(k)
    H = np.eye(s) - 2 * np.outer(h, h) / (h @ h) if h @ h > 1e-24 else np.eye(s)
    W = (1 - alpha) * np.outer(lle_weights(x, neighbours, reg), np.ones(s)) + V @ H
    hat = np.concatenate([-np.ones((1, s)), W])
    return hat @ hat.T


def tangent(neighbours, d):
    """The d leading left singular vectors of the neighbours around their mean."""
    return np.linalg.svd(neighbours - neighbours.mean(axis=0))[0][:, :d]


def ltsa_matrix(neighbours, d):
    """I − [1/√k, V][1/√k, V]ᵀ"""
    k = len(neighbours)
    basis = np.column_stack([np.ones(k) / k**0.5, tangent(neighbours, d)])
    return np.eye(k) - basis @ basis.T


def hessian_matrix(neighbours, d):
    """HHᵀ, H the products V_a∘V_b made orthonormal after 1 and V, one column at a time (Gram and Schmidt)."""
    V = tangent(neighbours, d)
    columns = [np.ones(len(V)), *V.T, *(V[:, a] * V[:, b] for a in range(d) for b in range(a, d))]
    done = []
    for column in columns:
        for _ in range(2):
            for q in done:
                column = column - (q @ column) * q
        done.append(column / np.linalg.norm(column))
    H = np.column_stack(done[1 + d :])
    return H @ H.T


def alignment(X, near, method, d, reg=1e-3):
    """M = Σᵢ SᵢᵀBᵢSᵢ, entry by entry."""
    M = np.zeros((len(X), len(X)))
    eta = np.median([spill(X[i], X[near[i]], d) for i in range(len(X))]) if method == "modified" else None
    for i, x in enumerate(X):
        around = X[near[i]]
        members, B = {
            "standard": lambda i=i, x=x, around=around: ([i, *near[i]], standard_matrix(x, around, reg)),
            "modified": lambda i=i, x=x, around=around: ([i, *near[i]], modified_matrix(x, around, reg, eta)),
            "ltsa": lambda i=i, around=around: (near[i], ltsa_matrix(around, d)),
            "hessian": lambda i=i, around=around: (near[i], hessian_matrix(around, d)),
        }[method]()
        for a, row in zip(members, B, strict=True):
            for b, value in zip(members, row, strict=True):
                M[a, b] += value
    return M


def bottom(M, k):
    """The k smallest eigenvalues of M and their vectors, without the constant one, which is lifted above all others."""
    values, vectors = np.linalg.eigh(M + (1 + np.trace(M)) / len(M))
    return values[:k], vectors[:, :k]


# ---------------------------------------------------------------------------- factor analysis


def gaussian_log_likelihood(X, mean, covariance):
    """Of every row: −½[d·log 2π + log|C| + (x − μ)ᵀC⁻¹(x − μ)]."""
    inverse, size = np.linalg.inv(covariance), np.linalg.slogdet(covariance)[1]
    return np.array([-0.5 * (len(mean) * np.log(2 * np.pi) + size + (x - mean) @ inverse @ (x - mean)) for x in X])


def factor_covariance(W, noise):
    return W.T @ W + np.diag(noise)


# ---------------------------------------------------------------------------- sketches


def frequent_directions(rows, size):
    """B and Δ of Frequent Directions: an SVD whenever 2ℓ rows have gathered and another one comes."""
    B, lost = np.zeros((0, rows.shape[1])), 0.0
    for row in rows:
        if len(B) == 2 * size:
            _, sigma, Vt = np.linalg.svd(B, full_matrices=False)
            squares = np.append(sigma**2, np.zeros(size + 1))
            lost += squares[size]
            B = np.sqrt(np.maximum(sigma[:size] ** 2 - squares[size], 0))[:, None] * Vt[:size]
        B = np.vstack([B, row])
    return B, lost
