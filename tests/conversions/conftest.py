"""Fixtures of this room: wine far from zero, digits, and a reader of tab-separated files that knows nothing."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine


@pytest.fixture(scope="session")
def wine():
    """Columns of very different means and spreads, as they come."""
    return load_wine().data


@pytest.fixture(scope="session")
def digits():
    return load_digits().data[:400]


def read_table(path, texts):
    """The heading, the first `texts` columns, and the numbers after them."""
    heading, *lines = [line.split("\t") for line in path.read_text().splitlines()]
    return heading, [line[:texts] for line in lines], np.array([line[texts:] for line in lines], dtype=float)
