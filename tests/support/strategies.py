"""Random data for the identities: of many shapes, scales and places, reproducible from the drawn seed."""

import numpy as np
from hypothesis import strategies as st

seeds = st.integers(0, 2**32 - 1)


@st.composite
def tables(draw, rows=(2, 12), columns=(1, 6)):
    """A data table: samples as rows, correlated columns, some scale and some offset."""
    n, d = draw(st.integers(*rows)), draw(st.integers(*columns))
    rng = np.random.default_rng(draw(seeds))
    scale = 10.0 ** draw(st.integers(-3, 3))
    offset = draw(st.sampled_from([0.0, 1.0, 100.0]))
    return scale * (rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + offset * rng.normal(size=d))


tall_tables = tables(rows=(8, 20), columns=(2, 5))
wide_tables = tables(rows=(3, 6), columns=(7, 12))


@st.composite
def symmetric_matrices(draw, sizes=(1, 8)):
    """A symmetric matrix with spectrum in ±[0.1, 3]: invertible and well away from overflow."""
    m = draw(st.integers(*sizes))
    rng = np.random.default_rng(draw(seeds))
    Q = np.linalg.qr(rng.normal(size=(m, m)))[0]
    return Q * (rng.uniform(0.1, 3, size=m) * rng.choice([-1, 1], size=m)) @ Q.T


def unit_vectors(d, seed, count):
    """`count` random directions of R^d as rows."""
    U = np.random.default_rng(seed).normal(size=(count, d))
    return U / np.linalg.norm(U, axis=1, keepdims=True)
