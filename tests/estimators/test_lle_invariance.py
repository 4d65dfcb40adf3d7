"""What cannot change an embedding: where rows lie, their order, threads, seeds and other fits."""

from threading import Thread

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer import LocallyLinearEmbedding, textbook
from support.alike import assert_same_places
from support.local import cloud, every_method, roll, sheet


@every_method
@pytest.mark.parametrize("columns", [3, 12])
def test_moved_turned_and_scaled_rows_have_the_same_embedding(method, columns):
    X = sheet(100, columns, 1)
    Q = np.linalg.qr(cloud(columns, columns, 2))[0]
    params = dict(n_neighbors=9, method=method)
    model = LocallyLinearEmbedding(**params).fit(X)
    for other in (X @ Q, X + 1e3, X * 1e-9, X * 1e12, -X, 3.7 * X @ Q + 11.0):
        moved = LocallyLinearEmbedding(**params).fit(other)
        assert_same_places(moved.embedding_, model.embedding_, atol=1e-5)
        assert_allclose(moved.reconstruction_error_, model.reconstruction_error_, rtol=1e-6)


@every_method
def test_the_order_of_rows_does_not_matter(method):
    X, order = sheet(100, 4, 1), np.random.default_rng(0).permutation(100)
    params = dict(n_neighbors=9, method=method)
    model, mixed = LocallyLinearEmbedding(**params).fit(X), LocallyLinearEmbedding(**params).fit(X[order])
    assert_same_places(mixed.embedding_, model.embedding_[order])
    assert_allclose(mixed.residuals_, model.residuals_[order], atol=1e-10)


def test_residuals_grow_with_the_data_and_are_those_of_the_lectures():
    X = cloud(50, 6)
    W = textbook.lle_weight_matrix(X, 5)
    for scale in (1.0, 1e5, 1e-150):
        model = LocallyLinearEmbedding(n_neighbors=5).fit(scale * X)
        assert_allclose(model.residuals_, scale * np.linalg.norm(X - W @ X, axis=1), rtol=1e-8)


@pytest.mark.parametrize("eigen_solver", ["arpack", "dense"])
def test_threads_do_not_change_a_single_bit(eigen_solver):
    X, _ = roll(700)
    fits = [LocallyLinearEmbedding(n_neighbors=12, eigen_solver=eigen_solver, n_jobs=jobs).fit(X) for jobs in (1, 2)]
    assert np.array_equal(fits[0].embedding_, fits[1].embedding_)
    assert fits[0].certificate_ == fits[1].certificate_
    wide = cloud(700, 20)
    fits = [LocallyLinearEmbedding(n_neighbors=12, n_jobs=jobs).fit(wide) for jobs in (1, 2)]
    assert np.array_equal(fits[0].embedding_, fits[1].embedding_)
    assert np.array_equal(fits[0].transform(cloud(30, 20, 1)), fits[1].transform(cloud(30, 20, 1)))


def test_the_same_seed_gives_the_same_answer_and_other_seeds_nearly_so():
    X, _ = roll(500)
    fits = [LocallyLinearEmbedding(n_neighbors=12, random_state=seed).fit(X) for seed in (None, None, 3, 3, 4)]
    assert np.array_equal(fits[0].embedding_, fits[1].embedding_)
    assert np.array_equal(fits[2].embedding_, fits[3].embedding_)
    assert_same_places(fits[4].embedding_, fits[0].embedding_)
    rs = LocallyLinearEmbedding(n_neighbors=12, random_state=np.random.RandomState(0)).fit(X)
    assert_same_places(rs.embedding_, fits[0].embedding_)


def test_two_models_fitted_at_once_agree_with_those_fitted_alone():
    rolls = [roll(500, seed)[0] for seed in (0, 1)]
    alone = [LocallyLinearEmbedding(n_neighbors=12).fit(X).embedding_ for X in rolls]
    models = [LocallyLinearEmbedding(n_neighbors=12) for _ in rolls]
    threads = [Thread(target=model.fit, args=(X,)) for model, X in zip(models, rolls, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for model, expected in zip(models, alone, strict=True):
        assert np.array_equal(model.embedding_, expected)
