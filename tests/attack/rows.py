"""Hostile rows and weights, by name."""

import numpy as np
from scipy.linalg import hadamard

SPECTRA = ("geometric", "flat", "clustered", "deficient", "near zero")
WEIGHTS = ("counts", "wild", "tiny", "huge", "equal")


def with_spectrum(rng, n, d, kind):
    """n×d rows whose singular values are of this kind, around zero."""
    r = min(n - 1, d)
    if kind == "geometric":
        sigma = np.logspace(0, -rng.uniform(0.5, 12), r)
    elif kind == "flat":
        sigma = np.ones(r)
    elif kind == "clustered":
        sigma = np.repeat(rng.uniform(0.1, 1, r), 3)[:r] * (1 + 10.0 ** rng.uniform(-16, -8) * rng.normal(size=r))
    elif kind == "deficient":
        sigma = np.where(np.arange(r) < max(1, r // 2), rng.uniform(0.2, 1, r), 0.0)
    else:
        sigma = np.where(np.arange(r) < max(1, r // 2), rng.uniform(0.2, 1, r), 10.0 ** rng.uniform(-16, -6, r))
    left = np.linalg.qr(rng.normal(size=(n, r)) - 0.0)[0]
    left = np.linalg.qr(left - left.mean(axis=0))[0]
    right = np.linalg.qr(rng.normal(size=(d, r)))[0]
    return (left * np.sort(sigma)[::-1]) @ right.T * np.sqrt(n)


def some_weights(rng, n, kind):
    if kind == "counts":
        return rng.integers(1, 9, n).astype(float)
    if kind == "wild":
        return 10.0 ** rng.uniform(-8, 8, n)
    if kind == "tiny":
        return rng.uniform(0.5, 2, n) * 1e-120
    if kind == "huge":
        return rng.uniform(0.5, 2, n) * 1e100
    return np.full(n, float(rng.choice([1.0, 3.0, 0.1])))


def ordinary(rng, n, d):
    """Gaussian or uniform, with columns of different spread."""
    draw = rng.normal if rng.random() < 0.5 else rng.uniform
    return draw(size=(n, d)) * rng.uniform(0.5, 3, d)


def two_level(rng, n, d):
    """Columns of two values: 0/1, ±a, a/b, balanced or not."""
    low, high = [(0.0, 1.0), (-1.0, 1.0), (-1.0132, 1.0132), (0.1, 0.3), (0.0, 0.1), (1e6, 1e6 + 0.1)][rng.integers(6)]
    share = rng.choice([0.5, 0.1, 0.9])
    if rng.random() < 0.4:  # in blocks, as designs are written down
        X = np.arange(n)[:, None] * np.arange(1, d + 1) // max(1, n // 4) % 2 == 0
    else:
        X = rng.random((n, d)) < share
    return np.where(X, high, low)


def copies(rng, n, m, d):
    """n rows of which only m are distinct, and the number of the distinct one of each."""
    groups = np.concatenate([np.arange(m), rng.integers(0, m, n - m)])
    if rng.random() < 0.5:
        groups = np.sort(groups)
    return rng.normal(size=(m, d)) * 10.0 ** rng.uniform(-1, 1), groups


def design(n, d):
    """Columns of a Hadamard matrix but the first: ±1, orthogonal, of mean zero."""
    return hadamard(n).astype(float)[:, 1 : d + 1]
