"""The contract of an accumulator, looped over all of them: any batches, any order, any tree, any number of threads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mercer_old.sources.held import HeldRows
from mercer_old.sweeps.lanes import origin_of, sweep_scatter
from mercer_old.sweeps.spread import Spread
from mercer_old.sweeps.square import Square
from mercer_old.sweeps.triangle import Triangle
from support.batches import all_rows, groups, rounding_of
from support.linear import U, few, very_few
from support.long_double import centred
from support.registry import ALL_SCATTERS
from support.strategies import seeds, tall_tables


def merged(kind, blocks, rng):
    """Each block to a fresh accumulator or to one that is there; then any two meet, until one is left."""
    trees = []
    for i in rng.permutation(len(blocks)):
        if not trees or rng.uniform() < 0.5:
            trees.append(kind(origin_of(blocks[i][0])))
        trees[int(rng.integers(len(trees)))].add(*blocks[i], exact=True)
    while len(trees) > 1:
        other = trees.pop(int(rng.integers(len(trees))))
        trees[int(rng.integers(len(trees)))].merge(other)
    return trees[0]


def matrix_of(scatter):
    """What it knows of S: all of it, or the diagonal."""
    if isinstance(scatter, Spread):
        return np.diag(scatter.squares)
    return scatter.matrix if isinstance(scatter, Square) else scatter.R.T @ scatter.R


@pytest.mark.parametrize("kind", ALL_SCATTERS)
@given(data=st.data(), seed=seeds)
@few
def test_any_batches_in_any_order_and_tree_sum_up_to_the_scatter_matrix(kind, data, seed):
    blocks = data.draw(groups(("float64", "float32", "csr") if kind is not Triangle else ("float64", "float32")))
    X, w = all_rows(blocks)
    C = centred(X, w)
    S = (C.T @ C).astype(float)
    scatter = merged(kind, blocks, np.random.default_rng(seed))
    assert scatter.count == len(X)
    assert_allclose(scatter.weight, w.sum(), rtol=1e-14)
    assert_allclose(scatter.mean, np.average(X, axis=0, weights=w), rtol=64 * U, atol=64 * U * np.abs(X).max())
    assert_allclose(scatter.squares, np.diag(S), rtol=1e-13, atol=rounding_of(blocks))
    expected = np.diag(np.diag(S)) if kind is Spread else S
    assert_allclose(matrix_of(scatter), expected, rtol=1e-13, atol=rounding_of(blocks))


@pytest.mark.parametrize("kind", ALL_SCATTERS)
@given(seeds, st.integers(1, 5))
@very_few
def test_sweeps_on_any_number_of_threads_sum_up_to_the_scatter_matrix(kind, seed, threads):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(int(rng.integers(1, 9000)), 3)) + 1e6
    w = rng.integers(0, 3, len(X)).astype(float)
    if not w.any():
        w[0] = 1.0
    scatter = sweep_scatter(kind, HeldRows(X), w, threads)
    C = centred(X, w)
    S = (C.T @ C).astype(float)
    expected = np.diag(np.diag(S)) if kind is Spread else S
    assert_allclose(matrix_of(scatter), expected, rtol=1e-12, atol=1e-12 * np.trace(S) + 1e-20)


@pytest.mark.parametrize("kind", ALL_SCATTERS)
@given(tall_tables, st.floats(0.05, 1.0))
@few
def test_forgetting_scales_weights_and_nothing_else(kind, X, share):
    scatter = kind(origin_of(X))
    scatter.add(X[:5])
    scatter.forget(share)
    scatter.add(X[5:])
    w = np.where(np.arange(len(X)) < 5, share, 1.0)
    C = centred(X, w)
    S = (C.T @ C).astype(float)
    assert_allclose(scatter.mean, np.average(X, axis=0, weights=w), atol=1e-12 * np.abs(X).max())
    assert_allclose(scatter.squares, np.diag(S), rtol=1e-9, atol=1e-12 * np.trace(S))
    if kind is not Spread:
        assert_allclose(matrix_of(scatter), S, atol=1e-12 * np.trace(S))
