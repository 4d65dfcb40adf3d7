"""The contract of a space, looped over all of them: the same neighbours and the same matrices."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from mercer.kernels import RBF, Cosine, Linear
from mercer.spaces.by_kernel import KernelRows
from mercer.spaces.given import Distances
from mercer.spaces.points import Points
from support import naive
from support.local import M_of, cloud, every_method


def same_sets(near, other):
    return np.array_equal(np.sort(near, axis=1), np.sort(other, axis=1))


# ---------------------------------------------------------------------- neighbourhoods against their slow twins


@every_method
@pytest.mark.parametrize("columns", [4, 20])
def test_the_matrix_is_the_same_from_coordinates_a_kernel_and_distances(method, columns):
    X = cloud(40, columns, 3)
    near = naive.nearest(naive.exact_distances(X), 9)
    expected = M_of(Points.of(X), near, method, 2)
    for space in (
        KernelRows.seen_by(Linear(), X),
        KernelRows.seen_by(Linear(), sparse.csr_array(X)),
        Distances(naive.euclidean_distances(X)),
    ):
        assert_allclose(M_of(space, near, method, 2), expected, atol=1e-7)


# ---------------------------------------------------------------------- who is near


@pytest.mark.parametrize("columns", [3, 20])
def test_all_spaces_find_the_same(columns):
    X = cloud(80, columns)
    expected = naive.nearest(naive.exact_distances(X), 7)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    for space, rows in [
        (Points.of(X), X),
        (KernelRows.seen_by(Linear(), X), X),
        (KernelRows.seen_by(Linear(), sparse.csr_array(X)), X),
        (KernelRows.seen_by(RBF(gamma=0.1), X), X),
        (Distances(naive.euclidean_distances(X)), X),
        (Points.of(X, unit=True), unit),
        (KernelRows.seen_by(Cosine(), X), unit),
    ]:
        expected = naive.nearest(naive.exact_distances(rows), 7)
        for threads in (1, 2):
            assert same_sets(space.nearest(7, threads).indices, expected)


def test_whole_numbers_are_good_distances():
    """Counts, such as edit distances, often come in small integers, whose squares do not fit there."""
    X = np.random.default_rng(0).permutation(200)[:60]
    D = np.abs(X[:, None] - X)
    for dtype in (np.uint8, np.int16, np.int32, np.float32):
        found = Distances(D.astype(dtype)).nearest(4, 1)
        assert_allclose(found.distances, np.sort(D + 1000 * np.eye(60, dtype=int), axis=1)[:, :4])
