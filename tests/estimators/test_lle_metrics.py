"""Embeddings of rows, kernels, angles and given distances: the same points, however they are told."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.neighbors import NearestNeighbors

from mercer import LocallyLinearEmbedding, locally_linear_embedding
from mercer.datasets import VOC
from mercer.kernels import (
    GappedKmer,
    Linear,
    Mismatch,
    Sigmoid,
    Spectrum,
    Subsequence,
    TableKernel,
    WeightedDegree,
)
from mercer_old.errors import BadData, MercerWarning
from mercer_old.kernel_names import OF_TEXTS
from support import naive
from support.alike import assert_same_places
from support.local import cloud, every_method, neighbours_of, roll
from support.silence import quiet

# ---------------------------------------------------------------------- who is near


@pytest.mark.parametrize(("scale", "dtype"), [(1e200, float), (1e-200, float), (1e30, np.float32), (1e-30, np.float32)])
def test_distances_may_be_huge_or_tiny(scale, dtype):
    X = cloud(60, 5)
    D = naive.euclidean_distances(X)
    expected = LocallyLinearEmbedding(n_neighbors=8, metric="precomputed").fit_transform(D)
    scaled = LocallyLinearEmbedding(n_neighbors=8, metric="precomputed").fit_transform((D * scale).astype(dtype))
    assert_same_places(scaled, expected, atol=1e-3)


def test_sparse_rows_with_a_large_column_are_not_taken_for_equal():
    """Seconds since 1970, next to small numbers."""
    X = np.column_stack([cloud(120, 6), 1.7e9 + np.random.default_rng(1).uniform(size=120)])
    dense = LocallyLinearEmbedding(n_neighbors=8).fit(X)
    thin = LocallyLinearEmbedding(n_neighbors=8).fit(sparse.csr_array(X))
    assert_same_places(thin.embedding_, dense.embedding_, atol=1e-3)


def test_cosine_does_not_see_the_length_of_rows():
    X = cloud(80, 4)
    lengths = 10.0 ** np.random.default_rng(1).uniform(-200, 200, size=(80, 1))
    params = dict(n_neighbors=8, metric="cosine")
    expected = LocallyLinearEmbedding(**params).fit_transform(X)
    assert_same_places(LocallyLinearEmbedding(**params).fit_transform(X * lengths), expected)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    assert_same_places(LocallyLinearEmbedding(n_neighbors=8).fit_transform(unit), expected)
    assert_same_places(LocallyLinearEmbedding(**params).fit_transform(sparse.csr_array(X)), expected)


@every_method
def test_spaces_give_the_same_embedding(method):
    X, _ = roll(150)
    params = neighbours_of(method)
    expected = LocallyLinearEmbedding(**params).fit_transform(X)
    for model, given_X in [
        (LocallyLinearEmbedding(**params, metric="precomputed"), naive.euclidean_distances(X)),
        (LocallyLinearEmbedding(**params, metric=Linear()), X),
        (LocallyLinearEmbedding(**params), sparse.csr_array(X)),
        (LocallyLinearEmbedding(**params), sparse.csc_array(X)),
        (LocallyLinearEmbedding(**params, neighbors_algorithm="brute"), X),
        (LocallyLinearEmbedding(**params, neighbors_algorithm="ball_tree"), X),
    ]:
        assert_same_places(model.fit_transform(given_X), expected, atol=1e-4)


# ---------------------------------------------------------------------- new rows


@quiet
def test_the_function_takes_the_metric_of_a_search():
    X = cloud(80, 3)
    expected = locally_linear_embedding(X, n_neighbors=8, n_components=2)[0]
    search = NearestNeighbors(metric="precomputed").fit(naive.euclidean_distances(X))
    assert_same_places(locally_linear_embedding(search, n_neighbors=8, n_components=2)[0], expected, atol=1e-6)
    by_angle = locally_linear_embedding(NearestNeighbors(metric="cosine").fit(X), n_neighbors=8, n_components=2)[0]
    assert_same_places(by_angle, locally_linear_embedding(X, n_neighbors=8, n_components=2, metric="cosine")[0])
    with pytest.raises(ValueError, match="metric='manhattan' is not supported"):
        locally_linear_embedding(NearestNeighbors(metric="manhattan").fit(X), n_neighbors=8, n_components=2)


def test_kernels_that_are_none_are_told():
    with pytest.warns(MercerWarning, match="is not positive semi-definite"):
        model = LocallyLinearEmbedding(n_neighbors=8, metric=Sigmoid(gamma=1.0, coef0=-1.0)).fit(cloud(80, 3) / 3)
    assert np.array_equal(model.transform(cloud(80, 3) / 3), model.embedding_)


@quiet
@pytest.mark.parametrize("hold", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_parallel_rows_are_equal_to_the_cosine(hold):
    X = np.abs(cloud(40, 3)) + 0.1
    many = np.concatenate([X, *(X[:3] * scale for scale in np.linspace(0.1, 7.3, 11))])
    with pytest.warns(MercerWarning, match="The 40 distinct rows were embedded"):
        model = LocallyLinearEmbedding(n_neighbors=6, metric="cosine").fit(hold(many))
    assert np.array_equal(model.embedding_[40:43], model.embedding_[:3])


def test_distances_that_are_not_symmetric_are_told():
    D = naive.euclidean_distances(cloud(40))
    D[3, 17] += 0.25
    with pytest.warns(MercerWarning, match=r"not symmetric, by up to 0\.25"):
        LocallyLinearEmbedding(metric="precomputed", n_neighbors=7).fit(D)


def test_negative_new_distances_are_refused():
    D = naive.euclidean_distances(cloud(30))
    model = LocallyLinearEmbedding(metric="precomputed", n_neighbors=7).fit(D)
    with pytest.raises(ValueError, match="distances cannot be negative"):
        model.transform(-D)


# ---------------------------------------------------------------------- bad input


def test_overflowing_kernels_are_told():
    with np.errstate(all="ignore"), pytest.raises(BadData, match="not finite: an overflow"):
        LocallyLinearEmbedding(metric=Linear()).fit(cloud(20) * 1e200)


@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        ("spectrum", Spectrum()),
        ("subsequence", Subsequence()),
        ("gapped_kmer", GappedKmer()),
        ("mismatch", Mismatch()),
        ("weighted_degree", WeightedDegree()),
    ],
)
def test_kernels_of_texts_have_the_names_that_kernel_pca_knows(name, kernel):
    assert name in OF_TEXTS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about so few names
        by_name = LocallyLinearEmbedding(n_neighbors=12, metric=name).fit(VOC)
        twin = LocallyLinearEmbedding(n_neighbors=12, metric=kernel).fit(VOC)
        assert_allclose(by_name.transform(["mia flanders"]), twin.transform(["mia flanders"]))
    assert_allclose(by_name.embedding_, twin.embedding_)
    assert by_name.plan_ == twin.plan_ and by_name.metric == name
    assert clone(by_name).get_params()["metric"] == name


def test_every_name_of_a_kernel_of_texts_is_tried_here():
    assert set(OF_TEXTS) == {"spectrum", "subsequence", "gapped_kmer", "mismatch", "weighted_degree"}


def test_whole_tables_have_a_name_too():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60), "c": rng.choice(list("xy"), 60)})
    by_name = LocallyLinearEmbedding(n_neighbors=12, metric="table").fit(table)
    twin = LocallyLinearEmbedding(n_neighbors=12, metric=TableKernel.auto(table)).fit(table)
    assert_allclose(by_name.embedding_, twin.embedding_)
