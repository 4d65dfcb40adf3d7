"""Matrices that send constants to zero, with a spectrum of one's choice besides."""

import numpy as np
import pytest
from scipy import sparse

from mercer_old.operators.held import HeldMatrix
from mercer_old.solvers.base import Eigenpairs
from support.registry import BOTTOM_SOLVERS as SOLVERS

EPS = np.finfo(float).eps
FACTORS = pytest.mark.parametrize("factor", ["sparse", "dense"])
every_solver = pytest.mark.parametrize("solver", SOLVERS)


def with_spectrum(values, seed=0):
    """A matrix that sends 1 to zero and has these eigenvalues besides, and their vectors."""
    n, rng = len(values) + 1, np.random.default_rng(seed)
    Q = np.linalg.qr(np.column_stack([np.ones(n), rng.normal(size=(n, n - 1))]))[0][:, 1:]
    M = Q * values @ Q.T
    return sparse.csc_array((M + M.T) / 2), Q


def truth(M):
    """All eigenvalues but that of 1, and their vectors."""
    M = M.toarray()
    values, vectors = np.linalg.eigh(M + 3 * np.abs(M).sum(axis=0).max() / len(M))
    return values[:-1], vectors[:, :-1]


def held_with(values, seed=0):
    """The matrix of `with_spectrum`, and its eigenvectors."""
    M, Q = with_spectrum(values, seed)
    return HeldMatrix(M), Q


def mixture(op, Q, turn):
    """The pair of a vector between the first and the last but one eigenvector."""
    u = np.cos(turn) * Q[:, :1] + np.sin(turn) * Q[:, -2:-1]
    theta, products = (u.T @ op.matmat(u))[0], op.matmat(u)
    return Eigenpairs(theta, u, np.linalg.norm(products - u * theta, axis=0), products, size=1.0)
