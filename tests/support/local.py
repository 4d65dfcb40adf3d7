"""Points on sheets, rolls and planes, and the matrices of locally linear embedding between them."""

import numpy as np
import pytest
from sklearn.datasets import make_swiss_roll

from mercer_old.operators.alignment import align

METHODS = ["standard", "modified", "hessian", "ltsa"]
every_method = pytest.mark.parametrize("method", METHODS)


def cloud(n=60, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def sheet(n=100, columns=3, seed=0):
    """A bent square of points, nearly a grid: every one of them is a neighbour of others."""
    rng, side = np.random.default_rng(seed), round(n**0.5)
    flat = (np.stack(np.meshgrid(*2 * [np.arange(side)]), axis=2).reshape(-1, 2) + rng.uniform(size=(n, 2)) / 2) / side
    bent = 0.5 * np.sin(flat @ rng.normal(size=(2, columns)) * 2 + rng.uniform(size=columns))
    return bent + flat @ np.linalg.qr(rng.normal(size=(columns, 2)))[0].T


def roll(n=500, seed=0):
    return make_swiss_roll(n, random_state=seed)


def neighbours_of(method):
    return dict(n_neighbors=12 if method == "standard" else 14, method=method)


def M_of(space, near, method, d, reg=1e-3, threads=1):
    return align(space, near, method, n_components=d, reg=reg, modified_tol=1e-12, threads=threads).toarray()


def flat(n=80, seed=0):
    """A square turned into space, and its two coordinates."""
    rng = np.random.default_rng(seed)
    plane = rng.uniform(size=(n, 2))
    return plane @ np.linalg.qr(rng.normal(size=(5, 2)))[0].T + 3.0, plane


def apart(sizes=(49, 36), gap=1000.0, d=3):
    return np.concatenate([sheet(size, d, i) + gap * i for i, size in enumerate(sizes)])
