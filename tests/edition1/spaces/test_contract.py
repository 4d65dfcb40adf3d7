"""The contract of a space, looped over all of them: who is near, as whom they are seen, parts, and new rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from mercer_old.spaces.given import Distances
from support import naive
from support.local import M_of, cloud, every_method
from support.registry import ALL_SPACES, directions

every_space = pytest.mark.parametrize("name", ALL_SPACES)
every_width = pytest.mark.parametrize("columns", [3, 20])


def same_sets(near, other):
    return np.array_equal(np.sort(near, axis=1), np.sort(other, axis=1))


def distances_between(P, Q):
    return np.linalg.norm(P[:, None] - Q, axis=2)


def grams(places, near, centres):
    """G_jl = ⟨η_j − x, η_l − x⟩ by its definition."""
    return np.array([(places[some] - x) @ (places[some] - x).T for some, x in zip(near, centres, strict=True)])


@every_space
@every_width
@pytest.mark.parametrize("threads", [1, 2])
def test_the_nearest_are_those_of_the_places(name, columns, threads):
    make, _, places_of = ALL_SPACES[name]
    X = cloud(80, columns)
    D = naive.exact_distances(places_of(X))
    found = make(X).nearest(7, threads)
    expected = naive.nearest(D, 7)
    assert same_sets(found.indices, expected)
    assert_allclose(np.sort(found.distances, axis=1), np.take_along_axis(D, expected, 1).astype(float), rtol=1e-6)


@every_space
@every_width
def test_neighbours_are_seen_as_from_their_places(name, columns):
    make, _, places_of = ALL_SPACES[name]
    X, items = cloud(40, columns, 3), np.array([0, 39, 17])
    space, places = make(X), places_of(X)
    near = naive.nearest(naive.exact_distances(places), 6)[items]
    expected = grams(places, near, places[items])
    assert_allclose(space.gram(items, near) * space.scale**2, expected, atol=1e-9 * np.abs(expected).max())


@every_space
def test_new_rows_are_seen_as_from_their_places(name):
    make, as_new, places_of = ALL_SPACES[name]
    X, new = cloud(40, 5, 3), cloud(9, 5, 4)
    space, places = make(X), places_of(np.concatenate([X, new]))
    D = distances_between(places[40:], places[:40])
    prepared = space.prepare(as_new(new, X))
    found = space.nearest_to(prepared, 6, 1)
    expected = np.argsort(D, axis=1)[:, :6]
    assert same_sets(found.indices, expected)
    assert_allclose(np.sort(found.distances, axis=1), np.sort(D, axis=1)[:, :6], rtol=1e-6)
    assert not space.equal(prepared, found).any()
    G = grams(places, expected, places[40:])
    assert_allclose(space.gram_at(prepared, expected) * space.scale**2, G, atol=1e-9 * np.abs(G).max())


@every_space
def test_training_rows_that_come_again_equal_themselves(name):
    make, as_new, _ = ALL_SPACES[name]
    X = cloud(30, 4)
    space = make(X)
    prepared = space.prepare(as_new(X[[3, 20]], X))
    found = space.nearest_to(prepared, 4, 1)
    assert np.array_equal(found.indices[:, 0], [3, 20])
    assert np.array_equal(space.equal(prepared, found), np.eye(4, dtype=bool)[[0, 0]])


@every_space
def test_a_part_is_the_space_of_its_items(name):
    make, as_new, places_of = ALL_SPACES[name]
    X, new = cloud(50, 4), cloud(5, 4, 1)
    items = np.random.default_rng(0).permutation(50)[:20]
    whole = make(X)
    part, places = whole.take(items), places_of(np.concatenate([X, new]))
    assert part.n == 20
    assert same_sets(part.nearest(5, 1).indices, naive.nearest(naive.exact_distances(places[items]), 5))
    prepared = part.for_part(whole.prepare(as_new(new, X)))
    D = distances_between(places[50:], places[items])
    assert same_sets(part.nearest_to(prepared, 5, 1).indices, np.argsort(D, axis=1)[:, :5])


@every_space
def test_a_patch_is_an_item_with_those_around_it(name):
    make, _, places_of = ALL_SPACES[name]
    X = cloud(50, 4)
    D = naive.exact_distances(places_of(X)).astype(float)
    assert np.array_equal(np.argsort(make(X).distances_from(7)), np.argsort(D[7]))
    around = np.sort(np.argsort(D[7])[:12])
    assert make(X).patch(7, 12).n == 12
    inside = naive.nearest(D[np.ix_(around, around)], 3)
    assert same_sets(make(X).patch(7, 12).nearest(3, 1).indices, inside)


@every_space
def test_equal_items_share_a_number(name):
    make, _, _ = ALL_SPACES[name]
    which = np.array([0, 1, 2, 1, 3, 0, 1])
    groups = make(cloud(4, 3)[which]).groups()
    assert np.array_equal(groups[:, None] == groups, which[:, None] == which)
    assert set(groups) == set(range(4))


@every_space
def test_a_space_gives_back_what_it_was_given(name):
    """Rows or distances; of length one where only directions count."""
    make, as_new, _ = ALL_SPACES[name]
    X = cloud(30, 5) + 3.0
    space = make(X)
    expected = directions(X) if name.startswith("directions") else as_new(X, X)
    assert space.n == 30
    assert_allclose(dense(space.as_given()), dense(expected), atol=1e-14)


def dense(rows):
    return rows.toarray() if sparse.issparse(rows) else rows


@every_method
@every_width
@pytest.mark.parametrize("name", [name for name in ALL_SPACES if ALL_SPACES[name][2] is np.asarray])
def test_the_matrix_is_the_same_from_coordinates_a_kernel_and_distances(method, columns, name):
    X = cloud(40, columns + 1, 3)
    near = naive.nearest(naive.exact_distances(X), 9)
    expected = naive.alignment(X, near, method, 2)
    assert_allclose(M_of(ALL_SPACES[name][0](X), near, method, 2), expected, atol=1e-7)


def test_whole_numbers_are_good_distances():
    """Counts, such as edit distances, often come in small integers, whose squares do not fit there."""
    X = np.random.default_rng(0).permutation(200)[:60]
    D = np.abs(X[:, None] - X)
    for dtype in (np.uint8, np.int16, np.int32, np.float32):
        found = Distances(D.astype(dtype)).nearest(4, 1)
        assert_allclose(found.distances, np.sort(D + 1000 * np.eye(60, dtype=int), axis=1)[:, :4])
