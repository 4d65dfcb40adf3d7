"""Who is near: trees and tiles against all distances in extended precision, with ties and digits at stake."""

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose
from scipy.spatial import cKDTree

from mercer_old.spaces.nearest import by_tiles, by_tree, smallest, within_reach
from mercer_old.spaces.points import Points
from support import naive
from support.local import cloud
from support.strategies import seeds


def nasty(columns):
    """Rows that cost digits; the distances are taken from the rows as given, in extended precision."""
    rng = np.random.default_rng(columns)
    X = rng.normal(size=(150, columns))
    outlier, absurd, apart = X.copy(), X.copy(), X.copy()
    outlier[17], absurd[17] = 1e12, 1e22  # next to that, squares of all else hardly exist in single precision
    apart[:50] += 1e9
    return {
        "plain": X,
        "offset": np.round(X, 6) + 1e8,
        "clusters": X + 1e5 * rng.integers(0, 3, size=(150, 1)),
        "clusters, very far": apart,
        "one outlier": outlier,
        "one absurd outlier": absurd,
        "huge": X * 1e200,
        "tiny": X * 1e-200,
        "single, huge": (X * 1e30).astype(np.float32),
        "single, tiny": (X * 1e-30).astype(np.float32),
        "one long column": X * np.append(1e9, np.ones(columns - 1)),
    }


@pytest.mark.parametrize("columns", [3, 20])
@pytest.mark.parametrize("way", ["tree", "tiles"])
@pytest.mark.parametrize("name", nasty(3))
def test_neighbours_are_the_nearest_in_nasty_data(columns, way, name):
    X = nasty(columns)[name]
    D = naive.exact_distances(X)
    found = Points.of(X, way=way).nearest(6, 1)
    expected = naive.nearest(D, 6)
    lengths = np.take_along_axis(D, expected, 1).astype(float)
    assert_allclose(np.take_along_axis(D, found.indices, 1).astype(float), lengths, rtol=1e-5)
    assert_allclose(found.distances, lengths, rtol=1e-4)
    assert not np.any(found.indices == np.arange(150)[:, None])


@pytest.mark.parametrize("n", [40, 700])
@pytest.mark.parametrize("threads", [1, 2])
def test_trees_and_tiles_find_the_same(n, threads):
    X = cloud(n, 7)
    expected = naive.nearest(naive.exact_distances(X), 9)
    for found in (by_tree(cKDTree(X), 9, None, threads), by_tiles(X, 9, X, np.arange(n), threads)):
        assert np.array_equal(found.indices, expected)
    new = cloud(25, 7, 1)
    D = np.linalg.norm(new[:, None] - X, axis=2)
    for found in (by_tree(cKDTree(X), 9, new, threads), by_tiles(X, 9, new, None, threads)):
        assert np.array_equal(found.indices, np.argsort(D, axis=1)[:, :9])
        assert_allclose(found.distances, np.sort(D, axis=1)[:, :9])


@pytest.mark.parametrize("way", ["tree", "tiles"])
@pytest.mark.parametrize("k", [3, 12])
def test_equal_rows_are_neighbours_of_each_other_and_never_of_themselves(way, k):
    X = np.random.default_rng(0).integers(0, 3, size=(200, 3)).astype(float)  # 27 different rows, and many ties
    D = naive.exact_distances(X).astype(float)
    found = Points.of(X, way=way).nearest(k, 1)
    assert not np.any(found.indices == np.arange(200)[:, None])
    assert all(len(set(row)) == k for row in found.indices)
    assert_allclose(np.take_along_axis(D, found.indices, 1), np.take_along_axis(D, naive.nearest(D, k), 1), atol=1e-12)


@given(seeds)
def test_a_tournament_finds_the_smallest(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(20, 300)), int(rng.integers(1, 8))
    D = rng.integers(0, 30, size=(5, n)).astype(float)  # with many ties
    near, largest = smallest(D.copy(), k)
    assert all(len(set(row)) == k for row in near)
    expected = np.sort(D, axis=1)[:, :k]
    assert np.array_equal(np.sort(np.take_along_axis(D, near, 1), axis=1), expected)
    assert np.array_equal(largest, expected[:, -1])


@given(seeds)
def test_candidates_are_all_entries_within_reach_or_the_smallest_of_many_equals(seed):
    rng = np.random.default_rng(seed)
    n, k, values = int(rng.integers(20, 700)), int(rng.integers(1, 8)), int(rng.choice([3, 30, 10**6]))
    D = rng.integers(0, values, size=(6, n)).astype(float)
    near, there, reach = within_reach(D.copy(), k)
    for row, columns, counted, edge in zip(D, near, there, reach, strict=True):
        chosen = columns[counted]
        left_out = np.delete(row, chosen)
        assert len(set(chosen)) == len(chosen) >= k and row[chosen].max() <= edge
        assert np.array_equal(np.sort(row[chosen])[:k], np.sort(row)[:k])
        assert left_out.min(initial=np.inf) >= edge


def test_rows_of_many_equals_among_others_have_their_nearest():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(600, 20)), np.zeros((400, 20)), rng.integers(0, 2, size=(600, 20))])
    D = naive.exact_distances(X).astype(float)
    found = by_tiles(X, 7, X, np.arange(len(X)), 1)
    np.fill_diagonal(D, np.inf)
    assert_allclose(found.distances, np.sort(D, axis=1)[:, :7], atol=1e-12)
    assert_allclose(np.take_along_axis(D, found.indices, 1), found.distances, atol=1e-12)
    assert all(len(set(row)) == 7 for row in found.indices)
