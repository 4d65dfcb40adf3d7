"""Clusters read off components: those of the lectures, exact blocks, and one cluster that has none."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import pdist
from sklearn.metrics import adjusted_rand_score

from mercer import PCA, KernelPCA, LocallyLinearEmbedding, clusters
from mercer.datasets import VOC, family, rings, three_clusters
from mercer.kernels import Spectrum
from mercer_old.errors import BadData, MercerWarning
from mercer_old.readings.clustering import (
    assign,
    candidate,
    nearest_centres,
    shares_between,
    split_in_two,
    without_rounding,
)

rng = np.random.default_rng(0)
THREE, CLUSTER = three_clusters(30)


def model(X, gamma, k=8, **params):
    return KernelPCA(k, kernel="rbf", gamma=gamma, **params).fit(X)


# ---------------------------------------------------------------------------- what theory says of the measures


@pytest.mark.parametrize(
    ("values", "share"),
    [
        (np.cos(np.pi * (np.arange(100_000) + 0.5) / 100_000), 8 / np.pi**2),
        (np.linspace(0, 1, 100_001), 3 / 4),
        (rng.normal(size=400_000), 2 / np.pi),
        (np.repeat([3.0, 5.0], [10, 30]), 1.0),
    ],
    ids=["cosine", "uniform", "normal", "two values"],
)
def test_values_of_one_cluster_cannot_be_split_as_two(values, share):
    assert split_in_two(values + 100)[0] == pytest.approx(share, abs=2e-3)


def test_a_split_is_the_best_of_all():
    values = rng.normal(size=23)
    shares = [shares_between(values[:, None], (values > t).astype(int))[0] for t in np.sort(values)[:-1]]
    share, where = split_in_two(values)
    assert_allclose(share, max(shares))
    assert_allclose(shares_between(values[:, None], (values > where).astype(int))[0], share)


def test_a_fifth_of_a_cosine_lies_midway():
    values = np.cos(np.pi * (np.arange(2999) + 0.5) / 2999)[:, None]
    one = candidate(values, np.array([1.0, 0.1]), (0,), 0)
    assert_allclose(np.sort(one.centres[:, 0]), [-2 / np.pi, 2 / np.pi], atol=1e-3)
    third = 2 / np.pi / 3
    assert one.midway == pytest.approx(1 - 2 * np.arccos(third) / np.pi, abs=2e-3)


@pytest.mark.parametrize("sizes", [(10, 10), (30, 20, 10), (12, 11, 10, 9, 8)])
def test_blocks_of_ones_are_constants_on_blocks(sizes):
    """K of clusters that are a point each, and see nothing of each other: all that the lecture's reason asks for."""
    block = np.repeat(np.arange(len(sizes)), sizes)
    K = (block[:, None] == block).astype(float)
    found = clusters(KernelPCA(len(sizes) + 1, kernel="precomputed").fit(K), X=K)
    assert found.clear
    assert_array_equal(found.labels, block)
    assert_allclose(found.share, 1.0)
    assert found.midway == 0
    assert found.gap == np.inf
    assert_array_equal(found.sizes, sizes)


# ---------------------------------------------------------------------------- clusters that are there


def test_three_clusters_of_the_lecture():
    found = clusters(model(THREE, 10.0))
    assert_array_equal(found.labels, CLUSTER)
    assert (found.n_clusters, found.clear, found.components, found.warnings) == (3, True, (0, 1), [])
    assert found.gap > 4
    assert found.similarity[0] > 0.5 > 0.1 > found.similarity[1]
    assert "3 clusters, of 30, 30 and 30 rows." in str(found)


@pytest.mark.parametrize("gamma", [0.3, 0.5, 1.0, 2.0])
def test_rings_are_told_apart_by_one_component_wherever_it_comes(gamma):
    X, ring = rings(100)
    found = clusters(model(X, gamma))
    assert found.clear
    assert len(found.components) == 1
    assert adjusted_rand_score(found.labels, ring) == 1


def test_clusters_in_many_columns():
    centres = 6 * rng.normal(size=(5, 10))
    X = np.concatenate([rng.normal(size=(40, 10)) + centre for centre in centres])
    found = clusters(model(X, 0.05))
    assert found.clear
    assert adjusted_rand_score(found.labels, np.repeat(np.arange(5), 40)) == 1


def test_families_of_names():
    """Seven families of two to five names, and all who are alone in theirs."""
    families = np.array([family(name) for name in VOC])
    with pytest.warns(MercerWarning, match="do not show 8 clusters clearly"):
        found = clusters(KernelPCA(20, kernel=Spectrum(3)).fit(VOC), 8)
    several = [name for name in np.unique(families) if np.sum(families == name) > 1]
    labels = [set(found.labels[families == name]) for name in several]
    assert len(several) == len(set.union(*labels)) == sum(map(len, labels)) == 7
    assert found.predict(["simpson abe"]) == found.labels[VOC.index("simpson bart")]
    assert not found.clear


def test_copies_are_one_place():
    places = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])
    fitted = model(np.repeat(places, 10, axis=0), 1.0, 4)
    found = clusters(fitted)
    assert found.clear
    assert_array_equal(found.labels, np.repeat([0, 1, 2], 10))
    with pytest.raises(BadData, match="only 3 places"):
        clusters(fitted, 4)


def test_new_rows_go_to_the_nearest_cluster():
    found = clusters(model(THREE, 10.0))
    assert_array_equal(found.predict(THREE), found.labels)
    new, cluster = three_clusters(50, seed=9)
    assert np.mean(found.predict(new) == cluster) > 0.97
    assert_array_equal(clusters(model(THREE, 10.0), X=new).labels, found.predict(new))


def test_landmarks_and_many_rows_find_the_same_clusters():
    X, cluster = three_clusters(2000)
    fitted = model(X, 10.0, 5, n_landmarks=60)
    with pytest.raises(ValueError, match="has not kept the rows"):
        clusters(fitted)
    found = clusters(fitted, X=X)
    assert found.clear
    assert len(found.labels) == 6000
    assert adjusted_rand_score(found.labels, cluster) > 0.99


def test_the_order_of_rows_and_the_seed_do_not_matter():
    order = rng.permutation(90)
    found, turned = clusters(model(THREE, 10.0)), clusters(model(THREE[order], 10.0), random_state=7)
    assert adjusted_rand_score(found.labels[order], turned.labels) == 1
    assert_array_equal(clusters(model(THREE, 10.0), random_state=np.random.RandomState(0)).labels, found.labels)


def test_of_pca_scores_that_are_not_whitened_are_taken():
    X = np.concatenate([rng.normal(size=(60, 3)), rng.normal(size=(60, 3)) + np.array([20, 0, 0])])
    plain, white = (clusters(PCA(3, whiten=whiten).fit(X), X=X) for whiten in (False, True))
    assert plain.clear
    assert plain.n_clusters == 2
    assert_array_equal(plain.labels, np.repeat([0, 1], 60))
    assert_array_equal(plain.labels, white.labels)
    assert plain.similarity is None


# ---------------------------------------------------------------------------- one cluster


@pytest.mark.parametrize("gamma", [0.3, 1.0, 5.0])
@pytest.mark.parametrize(
    "make",
    [
        lambda rng: rng.normal(size=(200, 2)),
        lambda rng: rng.normal(size=(200, 10)) / 2,
        lambda rng: rng.random((200, 2)) * 3,
        lambda rng: np.column_stack([5 * rng.random(200), 0.01 * rng.normal(size=200)]),
    ],
    ids=["blob", "ten columns", "square", "line"],
)
@pytest.mark.filterwarnings("ignore::mercer_old.errors.MercerWarning")
def test_one_cluster_has_none(make, gamma):
    found = clusters(model(make(np.random.default_rng(1)), gamma))
    assert (found.n_clusters, found.clear) == (1, False)
    assert not found.labels.any()
    assert "Another width of the kernel" in str(found)
    assert_array_equal(found.predict(make(np.random.default_rng(2))), 0)


def one_cluster_of_every_kind(n, rng):
    def along(most):
        angle = most * rng.random(n)
        return np.column_stack([np.cos(angle), np.sin(angle)])

    normal = [rng.normal(size=(n, d)) for d in (1, 2, 5, 20)]
    even = [rng.random((n, 1)), rng.random((n, 2)), along(2 * np.pi), along(3.0)]
    skewed = [rng.exponential(size=(n, 2)), rng.lognormal(size=(n, 2))]
    return [*normal, *even, *skewed, rng.standard_t(3, size=(n, 2)), rng.standard_cauchy(size=(n, 2))]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mercer_old.errors.MercerWarning")
@pytest.mark.parametrize(("n", "most"), [(30, 0.09), (100, 0.04), (300, 0.03)])
def test_clusters_are_seldom_found_where_there_are_none(n, most):
    """The rates of the guide (6 %, 2.0 % and 1.5 %), with room for what 600 samples tell of them: three deviations."""
    rng, found = np.random.default_rng(1), []
    for _ in range(10):
        for X in one_cluster_of_every_kind(n, rng):
            median = np.median(pdist(X, "sqeuclidean"))
            found += [clusters(model(X, width / median)).n_clusters > 1 for width in (0.3, 1, 3, 10, 40)]
    assert len(found) == 600
    assert np.mean(found) < most


def test_clusters_that_are_asked_for_and_not_there_are_made_and_doubted():
    with pytest.warns(MercerWarning, match="do not show 3 clusters clearly"):
        found = clusters(model(rng.normal(size=(200, 2)), 1.0), 3)
    assert found.n_clusters == 3
    assert not found.clear
    assert found.warnings


def test_an_outlier_is_no_cluster():
    X = np.concatenate([rng.normal(size=(100, 2)) / 2, [[50.0, 50.0]]])
    found = clusters(model(X, 0.2))
    assert found.n_clusters == 1


def test_one_cluster_may_be_asked_for():
    found = clusters(model(THREE, 10.0), 1)
    assert found.n_clusters == 1
    assert not found.labels.any()


@pytest.mark.filterwarnings("ignore::mercer_old.errors.MercerWarning")
def test_rows_that_are_all_the_same_and_one_row_are_one_cluster():
    assert clusters(model(np.ones((9, 2)), 1.0, 2)).n_clusters == 1
    assert clusters(model(np.ones((1, 2)), 1.0, 1)).n_clusters == 1


def test_rows_in_fewer_places_than_the_components_could_tell_apart():
    """Of a model of three clusters: one row again and again, two rows, and copies of two."""
    fitted = model(THREE, 10.0)
    assert clusters(fitted, X=np.repeat(THREE[:1], 20, axis=0)).n_clusters == 1
    assert clusters(fitted, X=THREE[[0, 40]]).n_clusters == 1  # too few to tell
    found = clusters(fitted, X=np.repeat(THREE[[0, 40]], 10, axis=0))
    assert_array_equal(found.labels, np.repeat([0, 1], 10))
    assert clusters(PCA().fit(THREE[:2]), X=THREE[:2]).n_clusters == 1


def test_scores_of_copies_are_one_place_whatever_rounding_makes_of_them():
    places = rng.normal(size=(3, 2))
    scores = np.repeat(places, 20, axis=0)
    off = without_rounding(scores * (1 + 1e-13 * rng.normal(size=scores.shape)), np.array([1.0, 0.5]))
    assert len(np.unique(off, axis=0)) == 3
    assert_allclose(off, scores, rtol=1e-12)
    apart = rng.normal(size=(50, 2))
    assert_array_equal(without_rounding(apart, np.array([1.0, 0.5])), apart)


def test_any_seed_will_do():
    fitted = model(THREE, 10.0)
    for seed in (2**32 - 1, 2**40, np.random.default_rng(0), np.random.RandomState(0)):
        assert_array_equal(clusters(fitted, random_state=seed).labels, CLUSTER)


# ---------------------------------------------------------------------------- bad input


def cut(fitted, **names):
    for name, value in names.items():
        setattr(fitted, name, value)
    return fitted


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: clusters(model(THREE, 10.0, 2), 4), "takes 3 components, and 2 were fitted"),
        (lambda: clusters(model(THREE, 10.0), 0), "at least 1"),
        (lambda: clusters(model(THREE, 10.0), 2.0), "whole number"),
        (lambda: clusters(model(THREE, 10.0), random_state=-1), "random_state must be"),
        (lambda: clusters(model(THREE, 10.0), X=np.full((3, 2), np.nan)), "NaN"),
        (lambda: clusters(model(THREE, 10.0), 5, X=THREE[:4]), "more than the 4 rows"),
        (lambda: clusters(LocallyLinearEmbedding(n_neighbors=8).fit(THREE)), "no component functions"),
        (lambda: clusters(PCA(2).fit(THREE)), "has not kept the rows"),
        (lambda: clusters(model(THREE, 10.0), 5, X=np.repeat(THREE[:2], 9, axis=0)), "5 clusters .* only 2 places"),
        (lambda: clusters(cut(PCA(2).fit(THREE), components_=np.eye(2)[:1]), X=THREE), "set both names"),
    ],
)
@pytest.mark.filterwarnings("ignore::mercer_old.errors.MercerWarning")
def test_what_cannot_be_read_is_said_in_one_sentence(make, message):
    with pytest.raises(ValueError, match=message) as error:
        make()
    assert "\n" not in str(error.value)


def test_centres_are_means_and_labels_the_nearest():
    scores = rng.normal(size=(50, 2))
    labels, centres = assign(scores, 4, 0)
    assert_array_equal(nearest_centres(scores, centres), labels)
    assert_allclose(centres, [scores[labels == j].mean(axis=0) for j in range(4)])
    assert labels[0] == 0
