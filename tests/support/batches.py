"""Rows in batches of every kind, at any place, with weights or without."""

import numpy as np
from hypothesis import strategies as st
from scipy import sparse

from support.linear import U
from support.long_double import centred
from support.strategies import seeds


@st.composite
def groups(draw, kinds=("float64", "float32", "csr")):
    """Rows in blocks of every kind, at any place, with weights or without: what a stream may bring."""
    rng = np.random.default_rng(draw(seeds))
    d, count = draw(st.integers(1, 5)), draw(st.integers(1, 8))
    offset, scale = draw(st.sampled_from([0.0, 1.0, 1e4, 1e8])), 10.0 ** draw(st.integers(-2, 2))
    weighted = draw(st.booleans())
    mix, place = rng.normal(size=(d, d)), offset * rng.normal(size=d)
    blocks = []
    for _ in range(count):
        rows = scale * rng.normal(size=(int(rng.integers(1, 30)), d)) @ mix + place
        kind = draw(st.sampled_from(kinds))
        rows = rows.astype(np.float32) if kind == "float32" else sparse.csr_array(rows) if kind == "csr" else rows
        blocks.append((rows, rng.uniform(0.1, 5, rows.shape[0]) if weighted else None))
    return blocks


def all_rows(blocks):
    """Every row in float64, as it was stored, and its weight."""
    rows = [np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=float) for X, _ in blocks]
    weights = [np.ones(X.shape[0]) if w is None else w for X, w in blocks]
    return np.concatenate(rows), np.concatenate(weights)


def rounding_of(blocks):
    """Σw‖x − mean‖² times a few units of rounding; sparse rows are squared where they are, and means add up there."""
    X, w = all_rows(blocks)
    around = np.sum(centred(X, w) ** 2)
    if any(sparse.issparse(rows) for rows, _ in blocks):
        around = around + np.sum(w[:, None] * X**2)
    return 64 * U * float(around) + len(X) * (64 * U * float(np.abs(X).max())) ** 2
