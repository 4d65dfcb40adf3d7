"""Kernel PCA by landmarks, and the eigenvalues that its intervals have to contain."""

import numpy as np

from mercer.estimators.kernel_pca import KernelPCA


def landmark_pca(k=5, **params):
    return KernelPCA(k, eigen_solver="landmark", **params)


def centered(K, weights=None):
    """P S K S P by its formula."""
    root = np.ones(len(K)) if weights is None else np.sqrt(weights)
    s = root / np.linalg.norm(root)
    P = np.eye(len(K)) - np.outer(s, s)
    return P @ (root[:, None] * K * root) @ P


def eigenvalues(A):
    return np.maximum(np.linalg.eigvalsh(A)[::-1], 0.0)


def assert_exact_values_in_intervals(model, K, weights=None):
    exact = eigenvalues(centered(K, weights))
    certificate, k = model.certificate_, len(model.eigenvalues_)
    slack = 1e-14 * max(exact.sum(), np.trace(K))  # LAPACK's own rounding
    assert np.all(certificate.lower <= exact[:k] + slack)
    assert np.all(exact[:k] <= certificate.upper + slack)
    assert (exact[k] if k < len(exact) else 0.0) <= certificate.bound_beyond + slack
    assert certificate.total[0] - slack <= exact.sum() <= certificate.total[1] + slack
    if exact.sum() > slack:
        ratio = exact[:k].sum() / exact.sum()
        assert certificate.explained[0] - 1e-12 <= ratio <= certificate.explained[1] + 1e-12
    assert certificate.captured <= 1
    assert certificate.explained[0] <= certificate.explained[1]
