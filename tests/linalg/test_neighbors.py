"""Nearest neighbors and Gram matrices of neighborhoods, against exact distances and the first edition."""

import pickle
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from mercer.kernels.distance import RBF, Matern, RationalQuadratic
from mercer.kernels.dot import Linear
from mercer.linalg.neighbors import (
    DistanceMatrix,
    KernelSpace,
    Points,
    SparsePoints,
    group_duplicates,
    nearest_rows,
    neighbor_space,
)
from mercer.numerics.distances import candidates, smallest, unit_rows
from mercer_old.kernels import RBF as OldRBF
from mercer_old.spaces.by_kernel import KernelRows
from mercer_old.spaces.points import Points as OldPoints


def cloud(n=300, d=5, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def structured():
    """Rows that are hard on a search, by name."""
    rng = np.random.default_rng(7)
    grid = np.stack(np.meshgrid(*3 * [np.arange(7.0)]), axis=-1).reshape(-1, 3)
    return {
        "duplicates": np.repeat(rng.normal(size=(60, 20)), 4, axis=0),
        "grid": np.pad(grid, [(0, 0), (0, 17)]),
        "one-hot": np.eye(40)[rng.integers(40, size=250)],
        "offset": 1e8 + rng.normal(size=(250, 20)),
        "tiny": 1e-150 * rng.normal(size=(250, 20)),
        "huge": 1e150 * rng.normal(size=(250, 20)),
        "collinear": np.linspace(0, 1, 250)[:, None] * np.ones(20),
        "one far row": np.concatenate([rng.normal(size=(249, 20)), np.full((1, 20), 1e9)]),
    }


def exact_distances(X):
    """Sorted distances of every row to all others, from rational arithmetic on the rows as they are."""
    found = []
    for i, x in enumerate(X):
        squares = sorted(
            sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(x, y, strict=True)) for j, y in enumerate(X) if j != i
        )
        found.append([float(s) ** 0.5 for s in squares])
    return np.array(found)


SPACES = {
    "tree": lambda X: Points.from_rows(X, algorithm="kd_tree"),
    "tiles": lambda X: Points.from_rows(X, algorithm="brute"),
    "sparse": lambda X: SparsePoints.from_rows(sparse.csr_array(X)),
    "kernel": lambda X: KernelSpace(X, Linear()),
    "distances": lambda X: DistanceMatrix(cdist(X, X)),
}
every_space = pytest.mark.parametrize("name", SPACES)


@every_space
def test_neighbors_are_those_of_exact_distances(name):
    X = cloud(60, 3)
    found = SPACES[name](X).nearest(7)
    np.testing.assert_allclose(found.distances, exact_distances(X)[:, :7], rtol=1e-7)
    own = np.linalg.norm(X[:, None] - X[found.indices], axis=2)
    np.testing.assert_allclose(own, found.distances, rtol=1e-7)
    assert (found.indices != np.arange(60)[:, None]).all()
    assert found.indices.dtype == np.int32


@pytest.mark.parametrize("kind", structured())
@pytest.mark.parametrize("name", ["tree", "tiles"])
def test_points_are_exact_on_structured_rows(kind, name):
    X = structured()[kind]
    space = SPACES[name](X)
    found = space.nearest(6)
    expected = np.sort(cdist(space.samples, space.samples), axis=1)[:, 1:7] * space.scale
    np.testing.assert_allclose(found.distances, expected, rtol=1e-12, atol=0)
    own = np.sqrt(((space.samples[:, None] - space.samples[found.indices]) ** 2).sum(axis=2)) * space.scale
    np.testing.assert_allclose(own, found.distances, rtol=1e-12, atol=0)
    assert (found.indices != np.arange(len(X))[:, None]).all()
    assert all(len(set(row)) == 6 for row in found.indices.tolist())
    old = OldPoints.of(X, way="tree" if name == "tree" else "tiles").nearest(6, 1)
    np.testing.assert_allclose(found.distances, old.distances, rtol=1e-12)


@every_space
def test_gram_matrices_are_those_of_differences(name):
    X = cloud(50, 4) + 3
    space = SPACES[name](X)
    indices = space.nearest(5).indices
    Z = X[indices] - X[:, None]
    G = space.gram_at(space.samples[:50], indices) * space.scale**2
    np.testing.assert_allclose(G, Z @ Z.transpose(0, 2, 1), atol=1e-10)


@every_space
def test_queries_find_their_neighbors(name):
    X, new = cloud(80, 4), cloud(30, 4, seed=1)
    new[3] = X[17]
    space = SPACES[name](X)
    D = cdist(new, X)
    given = D if name == "distances" else sparse.csr_array(new) if name == "sparse" else new
    queries = space.prepare(given)
    found = space.nearest_to(queries, 4)
    np.testing.assert_allclose(found.distances, np.sort(D, axis=1)[:, :4], atol=1e-7)
    same = space.equal(queries, found)
    assert same[3, 0] and same.sum() == 1
    Z = X[found.indices] - new[:, None]
    np.testing.assert_allclose(
        space.gram_at(queries, found.indices) * space.scale**2, Z @ Z.transpose(0, 2, 1), atol=1e-10
    )


@every_space
def test_a_subset_is_the_space_of_its_samples(name):
    X = cloud(90, 3)
    some = np.arange(0, 90, 2)
    part, own = SPACES[name](X).take(some), SPACES[name](X[some])
    np.testing.assert_array_equal(part.nearest(5).indices, own.nearest(5).indices)
    to_subset = SPACES[name](X).distance_to(some)
    np.testing.assert_allclose(to_subset, cdist(X, X[some]).min(axis=1), atol=1e-7)


@every_space
def test_threads_do_not_change_a_bit(name):
    X = structured()["grid"][:200]
    one, two = SPACES[name](X).nearest(6, 1), SPACES[name](X).nearest(6, 2)
    np.testing.assert_array_equal(one.indices, two.indices)
    np.testing.assert_array_equal(one.distances, two.distances)


@every_space
def test_pickles_without_what_can_be_computed_again(name):
    X = cloud(40, 3)
    space = SPACES[name](X)
    before = space.nearest(3)
    again = pickle.loads(pickle.dumps(space))  # noqa: S301
    assert not any(attribute.startswith("_") for attribute in vars(again))
    np.testing.assert_array_equal(again.nearest(3).indices, before.indices)


def test_rbf_distances_agree_with_the_first_edition():
    X = cloud(120, 6)
    found = neighbor_space(X, RBF(gamma=0.3)).nearest(8)
    old = KernelRows.seen_by(OldRBF(gamma=0.3), X).nearest(8, 1)
    np.testing.assert_array_equal(found.indices, old.indices)
    np.testing.assert_allclose(found.distances, old.distances, rtol=1e-12)


@pytest.mark.parametrize("kernel", [RBF(gamma=1.0), Matern(nu=2.5), RationalQuadratic(), RBF(gamma=1.0) * Linear()])
def test_equal_rows_have_distance_zero_whatever_the_kernel_rounds(kernel):
    """An exponent of 400 has errors of 1e-13, so that equal rows would be 3e-7 apart."""
    X = 10 * cloud(120, 4)
    space = KernelSpace(np.concatenate([X, X]), kernel)
    found = space.nearest_to(X, 3)
    assert not found.distances[:, :2].any() and found.distances[:, 2].all()
    np.testing.assert_array_equal(np.sort(found.indices[:, :2], axis=1), np.arange(120)[:, None] + [0, 120])
    assert not space.nearest(2).distances[:, 0].any()


def test_cosine_takes_parallel_rows_for_equal():
    X = np.concatenate([cloud(40, 5), 3.7 * cloud(40, 5)])
    for space in (
        neighbor_space(X, "cosine", "brute"),
        neighbor_space(sparse.csr_array(X), "cosine"),
    ):
        found = space.nearest(1)
        np.testing.assert_array_equal(found.indices[:, 0], (np.arange(80) + 40) % 80)
        assert space.groups().max() == 39
        assert found.distances.max() == 0
        np.testing.assert_allclose(np.linalg.norm(unit_rows(X, 13), axis=1), 1)


def test_rows_that_products_cannot_tell_apart_are_searched_by_differences():
    """With float32 products, rows around 1 that differ by 1e-9 are all equal: only differences order them."""
    X = np.concatenate([1 + 1e-9 * cloud(100, 20), -1 + 1e-9 * cloud(100, 20, seed=1)])
    found = nearest_rows(X, X, 5, np.arange(200))
    expected = np.sort(cdist(X, X), axis=1)[:, 1:6]
    np.testing.assert_allclose(found.distances, expected, rtol=1e-6)
    np.testing.assert_array_equal(nearest_rows(X, X, 5, np.arange(200), dtype=np.float64).indices, found.indices)


@pytest.mark.parametrize("n", [20, 500])
@pytest.mark.parametrize("k", [1, 7, 19])
def test_candidates_and_smallest_entries_are_complete(n, k):
    D = np.random.default_rng(n + k).integers(0, 400, size=(40, n)).astype(float)
    D[3] = 1.0
    expected = np.sort(D, axis=1)[:, :k]
    columns = smallest(D, k)
    np.testing.assert_array_equal(np.sort(np.take_along_axis(D, columns, 1), axis=1), expected)
    near, counts, reach = candidates(D, k)
    values = np.sort(np.where(counts, np.take_along_axis(D, near, 1), np.inf), axis=1)[:, :k]
    np.testing.assert_array_equal(values, expected)
    left_out = np.ones(D.shape, dtype=bool)
    for row in range(len(D)):
        left_out[row, near[row][counts[row]]] = False
    assert (np.where(left_out, D, np.inf).min(axis=1) >= reach).all()


def test_new_rows_that_are_far_away_do_not_overflow():
    space = Points.from_rows(cloud(50, 9), algorithm="brute")
    found = space.nearest_to(space.prepare(np.array([[1e300] * 9, [0.0] * 9])), 3)
    assert np.isfinite(found.distances).all() and found.distances[0, 0] > 1e90


def test_integer_distances_are_squared_in_float64():
    D = np.abs(np.subtract.outer(np.arange(30), np.arange(30))) * 10**9
    space = DistanceMatrix(D)
    found = space.nearest(2)
    np.testing.assert_array_equal(found.distances[5], [1e9, 1e9])
    G = space.gram_at(space.samples[5:6], np.array([[4, 6]])) * space.scale**2
    np.testing.assert_allclose(G[0], [[1e18, -1e18], [-1e18, 1e18]])


def test_duplicates_have_equal_numbers():
    X = np.array([[0.0, 1.0], [-0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    for rows in (X, sparse.csr_array(X)):
        groups = group_duplicates(rows)
        assert groups[0] == groups[1] == groups[3] != groups[2] and set(groups.tolist()) == {0, 1}
    strings = np.array(["a", "b", "a", ""], dtype=object)
    assert group_duplicates(strings).tolist() == [0, 1, 0, 2]
    arrays = np.empty(3, dtype=object)
    arrays[:] = [np.array([0.0]), np.array([-0.0]), np.array([0.0, 0.0])]
    assert group_duplicates(arrays).tolist() == [0, 0, 1]


def test_a_filled_sparse_column_is_moved_by_its_median():
    rng = np.random.default_rng(0)
    X = np.where(rng.uniform(size=(100, 12)) < 0.1, rng.normal(size=(100, 12)), 0.0)
    X[:, 0] = 1e8 + rng.normal(size=100)
    found = SparsePoints.from_rows(sparse.csr_array(X)).nearest(4)
    np.testing.assert_allclose(found.distances, np.sort(cdist(X, X), axis=1)[:, 1:5], rtol=1e-6)
    np.testing.assert_allclose(SparsePoints.from_rows(sparse.csr_array(X)).to_input().toarray(), X, rtol=1e-12)
