"""Slow twins of what the lectures do not have: the definitions, one loop for each sum."""

import numpy as np

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
