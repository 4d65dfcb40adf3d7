"""Symmetric matrices with spectra of every kind."""

import numpy as np
import pytest

from mercer_old.operators.centering import Centered

SPECTRA = {
    "geometric": lambda n, rng: 0.7 ** np.arange(n),
    "algebraic": lambda n, rng: 1.0 / (1 + np.arange(n)),
    "slow": lambda n, rng: (1.0 + np.arange(n)) ** -0.5,
    "ten equal": lambda n, rng: np.concatenate([np.full(10, 1.0), 0.5 * 0.9 ** np.arange(n - 10)]),
    "thirty equal": lambda n, rng: np.concatenate([np.full(30, 1.0), 0.5 * 0.9 ** np.arange(n - 30)]),
    "k inside a cluster": lambda n, rng: np.concatenate(
        [0.8 ** np.arange(5), np.full(12, 0.2), 0.1 * 0.8 ** np.arange(n - 17)]
    ),
    "rank 6": lambda n, rng: np.concatenate([[6.0, 5, 4, 3, 2, 1], np.zeros(n - 6)]),
    "identity plus noise": lambda n, rng: 1 + 1e-3 * rng.normal(size=n),
    "identity": lambda n, rng: np.ones(n),
    "zero": lambda n, rng: np.zeros(n),
    "indefinite": lambda n, rng: np.concatenate([0.8 ** np.arange(n // 2), -0.7 * 0.8 ** np.arange(n - n // 2)]),
    "large": lambda n, rng: 1e150 * 0.8 ** np.arange(n),
    "tiny": lambda n, rng: 1e-150 * 0.8 ** np.arange(n),
}
every_spectrum = pytest.mark.parametrize("spectrum", SPECTRA)


def matrix_with(spectrum, n, rng):
    """A symmetric matrix with these eigenvalues and random eigenvectors; also its eigenvalues, largest first."""
    values = np.sort(SPECTRA[spectrum](n, rng))[::-1]
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    A = Q * values @ Q.T
    return (A + A.T) / 2, values


def indefinite_matrix(n, rng):
    """A matrix with the eigenvalues 9, 5 and 2, and −0.5 for all others, of which constants are one."""
    values = np.concatenate([[-0.5, 9, 5, 2], np.full(n - 4, -0.5)])
    Q = np.linalg.qr(np.column_stack([np.ones(n), rng.normal(size=(n, n - 1))]))[0]
    K = Q * values @ Q.T
    return (K + K.T) / 2


class Uncentred(Centered):
    """A matrix as it is, in the clothes of a centred one."""

    def __init__(self, base):
        super().__init__(base)
        self.trace = float(base.diag().sum())

    def matmat(self, B):
        return self.base.matmat(B)

    dimension = property(lambda self: self.n)

    def project(self, B):
        return B.copy()

    def columns(self, indices):
        return self.base.columns(indices)

    def squared_norm(self, unit):
        return self.base.squared_norm(unit)
