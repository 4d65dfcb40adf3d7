"""The examples are what the notes say they are, and the same on every call."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer import datasets
from mercer.datasets import OOV, VOC, family

GENERATORS = [
    datasets.correlated_cloud,
    datasets.three_layers,
    datasets.moons,
    datasets.three_clusters,
    datasets.rings,
    datasets.spiral,
    datasets.unequal_gaussian,
    datasets.cities,
]


def points(data):
    return data[0] if isinstance(data, tuple) else data


@pytest.mark.parametrize("generate", GENERATORS, ids=lambda f: f.__name__)
def test_same_seed_same_data(generate):
    noisy = {"noise": 0.1} if generate is datasets.spiral else {}
    assert np.array_equal(points(generate(20, seed=7, **noisy)), points(generate(20, seed=7, **noisy)))
    assert not np.array_equal(points(generate(20, seed=7, **noisy)), points(generate(20, seed=8, **noisy)))
    from_generator = points(generate(20, seed=np.random.default_rng(7), **noisy))
    assert np.array_equal(from_generator, points(generate(20, seed=7, **noisy)))


def test_vocabulary_is_that_of_the_slide():
    assert (len(VOC), len(OOV)) == (35, 3)
    assert sorted(VOC) == VOC and not set(VOC) & set(OOV)
    assert [family(name) for name in OOV] == ["flanders", "simpson", "van houten"]
    assert sum(family(name) == "simpson" for name in VOC) == 5
    assert family("hibbert dr. julius") == "hibbert"


def test_correlated_cloud_is_correlated():
    X = datasets.correlated_cloud(5000)
    assert np.corrcoef(X.T)[0, 1] > 0.7


def test_layers_overlap_in_every_coordinate_but_not_along_the_diagonal():
    X, layer = datasets.three_layers()
    along = X @ np.ones(3) / np.sqrt(3)
    assert max(along[layer == 0]) < min(along[layer == 1]) and max(along[layer == 1]) < min(along[layer == 2])
    for column in X.T:
        assert column[layer == 0].max() > column[layer == 1].min()


def test_clusters_have_their_centres_and_their_width():
    X, cluster = datasets.three_clusters(2000)
    centres = [X[cluster == i].mean(axis=0) for i in range(3)]
    assert_allclose(centres, [[-0.5, -0.2], [0, 0.6], [0.5, 0]], atol=0.01)
    assert_allclose([X[cluster == i].std(axis=0) for i in range(3)], 0.1, atol=0.01)


def test_rings_have_their_radii():
    X, ring = datasets.rings(radii=(1, 2, 5), noise=0.0)
    assert_allclose(np.linalg.norm(X, axis=1), np.array([1, 2, 5])[ring])


def test_spiral_is_even_along_its_length():
    X, place = datasets.spiral(300)
    steps = np.linalg.norm(np.diff(X, axis=0), axis=1)
    assert steps.max() / steps.min() < 1.02
    assert (place[0], place[-1]) == (0, 1)


def test_unequal_gaussian_has_the_covariance_of_the_exercise():
    assert_allclose(np.cov(datasets.unequal_gaussian(50_000).T), [[25, 4], [4, 1]], rtol=0.03)


def test_cities_have_the_loadings_of_the_notes_exactly():
    values, U = np.linalg.eigh(np.cov(datasets.cities().T))
    assert_allclose(np.abs(U[:, 1]), [0.839, 0.544], atol=1e-4)
    assert values[0] < 0.05 * values[1]


def test_us_arrests_have_their_published_means():
    X, names = datasets.us_arrests()
    assert X.shape == (50, 4) and names == ["Murder", "Assault", "UrbanPop", "Rape"]
    assert_allclose(X.mean(axis=0), [7.788, 170.76, 65.54, 21.232])
    assert_allclose(X.var(axis=0, ddof=1), [18.97, 6945.17, 209.52, 87.73], atol=0.01)
