"""Rows with an offset and columns of unequal size, and kernels by their names in scikit-learn."""

import numpy as np


def sample(n=60, d=5, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * [5, 3, 2, 1, 0.5] + 3.0


NEW = sample(20, seed=1)
KERNELS = [
    {"kernel": "rbf", "gamma": 0.1},
    {"kernel": "poly", "degree": 2},
    {"kernel": "linear"},
    {"kernel": "sigmoid", "gamma": 0.001},
    {"kernel": "cosine"},
]
