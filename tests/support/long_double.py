"""Singular values of centred rows in long double: more digits than any model has."""

import numpy as np
from scipy import sparse


def centred(X, weights=None):
    """√w(x − mean) in long double, moved twice: once is not enough for rows far from zero."""
    X = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.longdouble)
    w = np.ones(len(X), dtype=np.longdouble) if weights is None else np.asarray(weights, dtype=np.longdouble)
    for _ in range(2):
        X = X - w @ X / w.sum()
    return np.sqrt(w)[:, None] * X


def singular_values(A):
    """By Hestenes' one-sided Jacobi rotations in long double: down to its rounding, to their own last digits."""
    A = np.array(A.T if A.shape[0] < A.shape[1] else A, dtype=np.longdouble)
    eps, (d, turned) = np.finfo(A.dtype).eps, (A.shape[1], True)
    nothing = (eps * np.sqrt(np.sum(A**2))) ** 2
    while turned:
        turned = False
        for p, q in zip(*np.triu_indices(d, 1), strict=True):
            a, b, c = A[:, p] @ A[:, p], A[:, q] @ A[:, q], A[:, p] @ A[:, q]
            if min(a, b) > nothing and abs(c) > 8 * eps * np.sqrt(a * b):
                turned, slope = True, (b - a) / (2 * c)
                t = np.copysign(1, slope) / (abs(slope) + np.hypot(1, slope))
                A[:, [p, q]] = A[:, [p, q]] @ (np.array([[1, t], [-t, 1]], dtype=A.dtype) / np.hypot(1, t))
    return np.sort(np.sqrt(np.sum(A**2, axis=0)))[::-1]


def scatter_values(X, weights=None):
    """All eigenvalues of Σw(x − mean)(x − mean)ᵀ, as far as there are rows and columns for them."""
    return singular_values(centred(X, weights)) ** 2


def holds(certificate, true):
    """Whether the true eigenvalues, all of them, lie where the certificate says."""
    k, slack = certificate.n_components, 64 * float(np.finfo(np.longdouble).eps) * true[0]
    inside = np.all(certificate.lower <= true[:k] + slack) and np.all(true[:k] <= certificate.upper + slack)
    return bool(inside and np.all(true[k:] <= certificate.bound_beyond + slack))
