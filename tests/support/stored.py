"""Rows to be stored in files, and a model for them."""

import numpy as np

from mercer import KernelPCA

X = np.random.default_rng(0).normal(size=(2000, 4)) * [1, 2, 3, 4]


def landmark(**params):
    return KernelPCA(3, kernel="rbf", eigen_solver="landmark", n_landmarks=50, **params)
