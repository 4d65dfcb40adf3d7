"""Kernel PCA by landmarks, and the eigenvalues that its intervals have to hold."""

import numpy as np
from sklearn.datasets import make_blobs, make_swiss_roll

from mercer import KernelPCA

BLOBS = make_blobs(400, 4, centers=5, random_state=0)[0]
ROLL = make_swiss_roll(300, random_state=1)[0] / 10
NEW = np.random.default_rng(9).normal(size=(50, 4)) * 5


def landmark(k=5, **params):
    return KernelPCA(k, eigen_solver="landmark", **params)


def centred(K, weights=None):
    """P S K S P by its formula."""
    root = np.ones(len(K)) if weights is None else np.sqrt(weights)
    s = root / np.linalg.norm(root)
    P = np.eye(len(K)) - np.outer(s, s)
    return P @ (root[:, None] * K * root) @ P


def eigenvalues(A):
    return np.maximum(np.linalg.eigvalsh(A)[::-1], 0.0)


def assert_truth_in_interval(model, K, weights=None):
    true = eigenvalues(centred(K, weights))
    c, k = model.certificate_, len(model.eigenvalues_)
    slack = 1e-14 * max(true.sum(), np.trace(K))  # LAPACK's own rounding
    assert np.all(c.lower <= true[:k] + slack) and np.all(true[:k] <= c.upper + slack)
    assert c.total[0] - slack <= true.sum() <= c.total[1] + slack
    if true.sum() > slack:
        assert c.explained[0] - 1e-12 <= true[:k].sum() / true.sum() <= c.explained[1] + 1e-12
    assert c.captured <= 1 and c.explained[0] <= c.explained[1]
