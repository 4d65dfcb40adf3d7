"""Embeddings against the lectures, scikit-learn and sheets whose coordinates are known."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import spearmanr
from sklearn import manifold

from mercer import KernelPCA, LocallyLinearEmbedding, textbook
from mercer.datasets import spiral
from support import naive
from support.alike import assert_same_places
from support.local import cloud, every_method, flat, neighbours_of, roll, sheet
from support.silence import quiet, silently

# ---------------------------------------------------------------------- neighbourhoods against their slow twins


@pytest.mark.parametrize("method", ["standard", "modified"])
def test_the_ridge_reaches_both_methods_with_weights(method):
    X = cloud(50, 3)
    few, much = (LocallyLinearEmbedding(n_neighbors=8, method=method, reg=reg).fit(X) for reg in (1e-3, 1e-1))
    assert not np.allclose(np.abs(few.embedding_), np.abs(much.embedding_), atol=1e-3)
    near = naive.nearest(naive.exact_distances(X), 8)
    for model, reg in ((few, 1e-3), (much, 1e-1)):
        assert_same_places(model.embedding_, naive.bottom(naive.alignment(X, near, method, 2, reg), 2)[1])


@pytest.mark.parametrize("method", ["hessian", "ltsa"])
def test_the_ridge_does_not_reach_methods_without_weights(method):
    X = sheet()
    fits = [LocallyLinearEmbedding(n_neighbors=8, method=method, reg=reg).fit(X) for reg in (1e-3, 0.5)]
    assert np.array_equal(fits[0].embedding_, fits[1].embedding_)


@pytest.mark.parametrize("method", ["hessian", "ltsa"])
@quiet
def test_flat_data_come_back_up_to_an_affine_map(method):
    X, plane = flat(150)
    Y = LocallyLinearEmbedding(n_neighbors=10, method=method).fit_transform(X)
    basis = np.column_stack([np.ones(150), Y])
    assert_allclose(basis @ np.linalg.lstsq(basis, plane, rcond=None)[0], plane, atol=1e-8)


def test_hessian_is_not_the_tangent_space_alignment_of_scikit_learn():
    X, _ = roll(200)
    hessian, ltsa = (LocallyLinearEmbedding(n_neighbors=12, method=m).fit(X) for m in ("hessian", "ltsa"))
    theirs = manifold.LocallyLinearEmbedding(n_neighbors=12, method="ltsa", eigen_solver="dense").fit(X)
    assert_same_places(ltsa.embedding_, theirs.embedding_, atol=1e-4)
    assert not np.allclose(np.abs(hessian.embedding_), np.abs(theirs.embedding_), atol=1e-3)


@pytest.mark.parametrize("method", ["standard", "modified", "ltsa"])
@pytest.mark.parametrize("columns", [3, 15])
def test_embeddings_are_those_of_scikit_learn(method, columns):
    X = roll(250)[0] if columns == 3 else cloud(120, 15)
    params = dict(n_neighbors=10, n_components=2, method=method)
    model = LocallyLinearEmbedding(**params).fit(X)
    theirs = manifold.LocallyLinearEmbedding(**params, eigen_solver="dense").fit(X)
    assert_same_places(model.embedding_, theirs.embedding_, atol=1e-4)
    assert_allclose(model.reconstruction_error_, theirs.reconstruction_error_, rtol=1e-4, atol=1e-12)


def test_embeddings_are_those_of_the_lectures():
    X = cloud(60, 4)
    Z = textbook.lle_embedding(textbook.lle_weight_matrix(X, 6), 3)
    assert_same_places(LocallyLinearEmbedding(n_neighbors=6, n_components=3).fit_transform(X), Z, atol=1e-8)


# ---------------------------------------------------------------------- the lectures: LLE unrolls, kernel PCA not


@every_method
@quiet
def test_the_spiral_is_unrolled(method):
    X, place = spiral(300)
    y = LocallyLinearEmbedding(n_neighbors=12, n_components=1, method=method).fit_transform(X)[:, 0]
    expected = naive.bottom(naive.alignment(X, naive.nearest(naive.exact_distances(X), 12), method, 1), 1)[1]
    assert_same_places(y[:, None], expected)
    assert abs(spearmanr(y, place)[0]) > dict(modified=0.97, hessian=0.9999).get(method, 1 - 1e-9)


@every_method
def test_the_swiss_roll_is_unrolled(method):
    X, t = roll(2000)
    model = LocallyLinearEmbedding(**neighbours_of(method)).fit(X)
    assert model.certificate_.certified
    assert abs(spearmanr(model.embedding_[:, 0], t)[0]) >= 0.99


def test_kernel_pca_unrolls_no_swiss_roll_with_any_bandwidth():
    X, t = roll(500)
    for length in np.geomspace(0.5, 100, 8):
        Y = silently(lambda g=1 / (2 * length**2): KernelPCA(2, kernel="rbf", gamma=g).fit_transform(X))
        assert max(abs(spearmanr(column, t)[0]) for column in Y.T) < 0.99
