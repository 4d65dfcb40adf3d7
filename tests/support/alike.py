"""What is the same up to the signs that nobody can know."""

import numpy as np
from numpy.testing import assert_allclose


def assert_same_places(Y, Z, atol=1e-6):
    """The same columns up to sign."""
    assert Y.shape == Z.shape
    signs = np.sign(np.sum(Y * Z, axis=0))
    assert_allclose(Y, Z * signs, atol=atol * np.abs(Z).max())


def same_axes(U, V, atol=1e-7):
    """Directions, row by row, up to sign."""
    assert_allclose(np.abs(np.sum(U * V, axis=1)), 1, atol=atol)
