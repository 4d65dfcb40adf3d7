"""Rows of this room: wine, whose columns are far from zero and each other, and digits."""

import pytest
from sklearn.datasets import load_digits, load_wine


@pytest.fixture(scope="session")
def wine():
    """Columns of very different means and spreads, as they come."""
    return load_wine().data


@pytest.fixture(scope="session")
def digits():
    return load_digits().data[:400]
