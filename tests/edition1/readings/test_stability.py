"""Draws of rows against fits of repeated rows, angles and turns against scipy's, and the rule for what is sure."""

import numpy as np
import pytest
from scipy.linalg import orthogonal_procrustes, subspace_angles
from sklearn.decomposition import PCA as SklearnPCA
from sklearn.decomposition import KernelPCA as SklearnKernelPCA

from mercer.kernels import RBF
from mercer_old.readings.stability import Deviations, Group, aligned, draw_components, groups_that_turn, turned

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 5)) * [5, 3, 2, 1, 0.5] + 10.0


def counts_of(draws, n, seed):
    rng = np.random.default_rng(seed)
    return [rng.multinomial(n, np.full(n, 1 / n)) for _ in range(draws)]


@pytest.mark.parametrize("unit", [1.0, 1e-120, 1e120])
def test_a_draw_is_pca_of_rows_repeated_as_often_as_they_were_drawn(unit):
    found = draw_components(unit * X, 3, 4, np.random.default_rng(7))
    for number, counts in enumerate(counts_of(4, 60, 7)):
        pca = SklearnPCA(3).fit(np.repeat(X, counts, axis=0))
        assert found.drawn_values[number] / unit / unit == pytest.approx(pca.explained_variance_, rel=1e-9)
        axes = found.drawn_axes[number]
        assert np.abs(pca.components_ @ axes) == pytest.approx(np.eye(3), abs=1e-9)
        assert (found.drawn_means[number] / unit + X.mean(axis=0)) == pytest.approx(pca.mean_)
    assert found.values / unit / unit == pytest.approx(SklearnPCA(3).fit(X).explained_variance_, rel=1e-9)


def test_a_draw_of_features_of_a_kernel_is_kernel_pca_of_repeated_rows():
    K = RBF(0.05).block(X, X)
    values, vectors = np.linalg.eigh(K)
    features = vectors * np.sqrt(np.maximum(values, 0.0))
    found = draw_components(features, 2, 3, np.random.default_rng(1))
    for number, counts in enumerate(counts_of(3, 60, 1)):
        theirs = SklearnKernelPCA(2, kernel="rbf", gamma=0.05).fit(np.repeat(X, counts, axis=0))
        assert found.drawn_values[number] * 59 == pytest.approx(theirs.eigenvalues_, rel=1e-8)
        scores = (found.features - found.drawn_means[number]) @ found.drawn_axes[number]
        expected = theirs.transform(X)
        assert np.abs(scores) == pytest.approx(np.abs(expected), abs=1e-7)


def test_angles_are_scipys_largest():
    found = draw_components(X, 4, 5, np.random.default_rng(2))
    angles = turned(found)
    for number in range(5):
        for j in range(1, 5):
            expected = np.degrees(subspace_angles(found.axes[:, :j], found.drawn_axes[number][:, :j])[0])
            assert angles[number, j - 1] == pytest.approx(expected, abs=1e-5)


def test_axes_are_turned_within_their_groups_as_procrustes_does():
    found = draw_components(X, 3, 5, np.random.default_rng(3))
    groups = [Group(1, 1, "axis"), Group(2, 3, "together")]
    for number, (near, mean) in enumerate(aligned(found, groups)):
        axes = found.drawn_axes[number]
        R, _ = orthogonal_procrustes(axes[:, 1:], found.axes[:, 1:])
        assert near[:, 1:] == pytest.approx(axes[:, 1:] @ R)
        assert near[:, 0] == pytest.approx(axes[:, 0] * np.sign(axes[:, 0] @ found.axes[:, 0]))
        assert mean == pytest.approx(found.drawn_means[number])


def test_deviations_are_numpys_also_far_from_zero():
    values = RNG.standard_normal((9, 4, 2)) + 1e8
    running = Deviations(values[0])
    for each in values:
        running.add(each)
    assert running.deviation == pytest.approx(np.std(values, axis=0, ddof=1), rel=1e-6)


def kinds(largest, rank):
    """Groups if nine of ten draws turn the first j components by less than this."""
    return [
        (group.first, group.last, group.kind)
        for group in groups_that_turn(np.tile(largest, (10, 1)).astype(float), rank)
    ]


@pytest.mark.parametrize(
    ("largest", "rank", "expected"),
    [
        ([5, 5, 5], 9, [(1, 1, "axis"), (2, 2, "axis"), (3, 3, "axis")]),
        ([60, 5, 50], 9, [(1, 2, "together"), (3, 3, "noise")]),
        ([5, 60, 70, 5, 50, 50], 9, [(1, 1, "axis"), (2, 4, "together"), (5, 6, "noise")]),
        ([50, 60, 70], 9, [(1, 3, "noise")]),
        ([50, 60, 0], 3, [(1, 3, "noise")]),  # all directions there are: nothing stands out
        ([5, 60, 0], 3, [(1, 1, "axis"), (2, 3, "rest")]),
        ([5, 5, 0], 3, [(1, 1, "axis"), (2, 2, "axis"), (3, 3, "axis")]),  # what is left is one direction
        ([0], 1, [(1, 1, "axis")]),
    ],
)
def test_what_is_sure_alone_together_or_not_at_all(largest, rank, expected):
    assert kinds(largest, rank) == expected


def test_one_draw_in_ten_may_turn_farther():
    angles = np.full((20, 1), 5.0)
    angles[:1] = 90.0
    assert groups_that_turn(angles, 9)[0].kind == "axis"
    angles[:4] = 90.0
    assert groups_that_turn(angles, 9)[0].kind == "noise"
