"""New rows: placed as in the lectures, told where they are far, and never mixed up."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn import manifold
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from mercer import LocallyLinearEmbedding, textbook
from mercer.kernels import RBF, Linear
from mercer_old.errors import MercerWarning
from support import naive
from support.alike import assert_same_places
from support.local import cloud, every_method, roll, sheet
from support.silence import quiet


@every_method
@pytest.mark.parametrize("columns", [3, 15])
def test_training_rows_get_their_own_places(method, columns):
    X = sheet(100, columns)
    model = LocallyLinearEmbedding(n_neighbors=9, method=method)
    Y = model.fit_transform(X)
    assert np.array_equal(model.transform(X), Y) and np.array_equal(Y, model.embedding_)
    mixed = np.random.default_rng(0).permutation(100)
    assert np.array_equal(model.transform(X[mixed]), Y[mixed])


@pytest.mark.parametrize("columns", [3, 15])
@quiet
def test_new_rows_go_where_the_lectures_put_them(columns):
    X, new = cloud(70, columns), cloud(30, columns, 1)
    model = LocallyLinearEmbedding(n_neighbors=9).fit(X)
    placed = model.place(new)
    expected = np.array([textbook.lle_new_point(x, X, model.embedding_, 9) for x in new])
    assert_allclose(placed.embedding, expected, atol=1e-10)
    assert_allclose(model.transform(new), expected, atol=1e-10)
    one_by_one = np.concatenate([model.transform(x[None]) for x in new])
    assert_allclose(one_by_one, expected, atol=1e-10)
    D = np.linalg.norm(new[:, None] - X, axis=2)
    assert_allclose(placed.nearest, D.min(axis=1))
    reach = np.sort(naive.euclidean_distances(X), axis=1)[:, 9]
    around = np.argsort(D, axis=1)[:, :9]
    assert np.array_equal(placed.far, D.min(axis=1) > 1.25 * reach[around].max(axis=1))
    for x, residual in zip(new, placed.residuals, strict=True):
        near = textbook.nearest_neighbours(x, X, 9)
        assert_allclose(residual, np.linalg.norm(x - textbook.lle_weights(x, X[near]) @ X[near]), rtol=1e-6, atol=1e-9)


def test_new_rows_are_placed_as_by_scikit_learn():
    X, _ = roll(250)
    new = X[::5] + 0.05
    model = LocallyLinearEmbedding(n_neighbors=10).fit(X)
    theirs = manifold.LocallyLinearEmbedding(n_neighbors=10, eigen_solver="dense").fit(X)
    assert_same_places(model.transform(new), theirs.transform(new), atol=1e-4)


@pytest.mark.parametrize(
    ("params", "hold"),
    [
        (dict(metric=Linear()), np.asarray),
        (dict(), sparse.csr_array),
        (dict(metric="cosine"), np.asarray),
        (dict(metric=RBF(gamma=0.05)), np.asarray),
    ],
    ids=["linear kernel", "sparse", "cosine", "rbf"],
)
@quiet
def test_new_rows_in_other_spaces(params, hold):
    X, new = cloud(60, 4), cloud(10, 4, 1)
    model = LocallyLinearEmbedding(n_neighbors=8, **params).fit(hold(X))
    assert_allclose(model.transform(hold(X)), model.embedding_, atol=1e-12)
    if params.get("metric") == "cosine":
        X, new = (Z / np.linalg.norm(Z, axis=1, keepdims=True) for Z in (X, new))
    if not isinstance(params.get("metric"), RBF):
        expected = np.array([textbook.lle_new_point(x, X, model.embedding_, 8) for x in new])
        assert_allclose(model.transform(hold(new)), expected, atol=1e-6)


def test_new_items_by_their_distances():
    X, new = cloud(60, 4), cloud(10, 4, 1)
    model = LocallyLinearEmbedding(n_neighbors=8, metric="precomputed").fit(naive.euclidean_distances(X))
    expected = np.array([textbook.lle_new_point(x, X, model.embedding_, 8) for x in new])
    placed = model.place(np.linalg.norm(new[:, None] - X, axis=2))
    assert_allclose(placed.embedding, expected, atol=1e-7)
    assert np.array_equal(model.transform(naive.euclidean_distances(X)), model.embedding_)


def test_sparse_new_rows_for_dense_training_rows_and_the_other_way_round():
    X, new = cloud(60, 4), cloud(60, 4) + 0.01
    dense, thin = (
        LocallyLinearEmbedding(n_neighbors=8).fit(X),
        LocallyLinearEmbedding(n_neighbors=8).fit(sparse.csr_array(X)),
    )
    assert_allclose(thin.transform(new), thin.transform(sparse.csr_array(new)), atol=1e-9)
    assert_allclose(dense.transform(sparse.csr_array(new)), dense.transform(new), atol=1e-9)


def test_far_rows_are_told():
    X = cloud(70, 3)
    model = LocallyLinearEmbedding(n_neighbors=9).fit(X)
    new = np.concatenate([X[:3] + 0.01, [[100.0, 0, 0], [0, 5000.0, 0]]])
    with pytest.warns(MercerWarning, match=r"2 of 5 rows are farther .*row index 4 is 5e\+03 away"):
        Y = model.transform(new)
    assert np.isfinite(Y).all()
    assert np.array_equal(model.place(new).far, [False, False, False, True, True])


@pytest.mark.parametrize("columns", [3, 20])
@pytest.mark.parametrize("size", [1e15, 1e60, 1e200])
def test_absurdly_far_rows_are_told_too(columns, size):
    """Either placed as a guess, with a warning, or refused in words; no crash, and no warning of numpy's."""
    model = LocallyLinearEmbedding(n_neighbors=9).fit(cloud(70, columns))
    with pytest.warns(MercerWarning, match="1 of 2 rows are farther"):
        Y = model.transform(np.array([np.full(columns, size), np.zeros(columns)]))
    assert np.isfinite(Y).all()


def test_single_precision_stays_single():
    X = cloud(70, 4).astype(np.float32)
    model = LocallyLinearEmbedding(n_neighbors=9).fit(X)
    assert model.embedding_.dtype == model.transform(X).dtype == model.place(X).embedding.dtype == np.float32
    assert np.array_equal(model.transform(X), model.embedding_)
    double = LocallyLinearEmbedding(n_neighbors=9).fit(X.astype(float))
    assert double.embedding_.dtype == np.float64
    assert_same_places(model.embedding_.astype(float), double.embedding_, atol=1e-5)


@pytest.mark.parametrize(
    ("new", "message"),
    [
        (np.zeros((2, 5)), "X has 5 features, but LocallyLinearEmbedding is expecting 4 features"),
        (np.full((2, 4), np.nan), "NaN"),
        (np.array([[1.0, np.inf, 0, 0]]), "infinity"),
        (np.zeros(4), "1D array|Expected 2D"),
        (np.empty((0, 4)), "0 sample"),
        ([["a", "b", "c", "d"]], "holds text"),
    ],
    ids=["columns", "nan", "inf", "one-dimensional", "no rows", "text"],
)
def test_bad_new_rows_get_one_clear_sentence(new, message):
    model = LocallyLinearEmbedding(n_neighbors=9).fit(cloud(70, 4))
    for use in (model.transform, model.place):
        with pytest.raises(ValueError, match=message):
            use(new)


def test_an_unfitted_model_says_so():
    for use in ("transform", "place"):
        with pytest.raises(NotFittedError):
            getattr(LocallyLinearEmbedding(), use)(cloud(5, 3))
    with pytest.raises(NotFittedError):
        _ = LocallyLinearEmbedding().residuals_


@quiet
def test_training_rows_may_be_changed_afterwards():
    for params, hold in [({}, np.asarray), (dict(metric=Linear()), np.asarray), ({}, sparse.csr_array)]:
        X = hold(cloud(50, 3))
        model = LocallyLinearEmbedding(n_neighbors=7, **params).fit(X)
        expected = model.transform(cloud(50, 3))
        X *= 0
        assert_allclose(model.transform(cloud(50, 3)), expected, atol=1e-9)


def test_distances_to_equal_items_that_were_taken_for_one_are_not_looked_at():
    X = cloud(120, 3)
    X = np.concatenate([X, np.repeat(X[:4], 12, axis=0)])
    D = naive.euclidean_distances(X)
    model = LocallyLinearEmbedding(n_neighbors=6, metric="precomputed")
    with pytest.warns(MercerWarning, match="The 120 distinct rows were embedded"):
        model.fit(D)
    assert np.array_equal(model.transform(D), model.embedding_)
    new = cloud(7, 3, 5)
    with pytest.warns(MercerWarning, match="distinct rows"):
        expected = LocallyLinearEmbedding(n_neighbors=6).fit(X).place(new)
    placed = model.place(np.linalg.norm(new[:, None] - X, axis=2))
    assert_same_places(placed.embedding, expected.embedding, atol=1e-6)


def test_a_model_of_sparse_rows_takes_files_too(tmp_path):
    X, new = cloud(90, 4), cloud(20, 4, 1)
    np.save(tmp_path / "new.npy", new)
    model = LocallyLinearEmbedding(n_neighbors=8).fit(sparse.csr_array(X))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MercerWarning)
        assert_allclose(model.transform(tmp_path / "new.npy"), model.transform(new), atol=1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_parts_that_were_embedded_apart_are_not_mixed_afterwards(metric):
    """A new row in the middle of two squares goes to one of them, and looks at no row of the other."""
    u = np.random.default_rng(0).uniform(size=(200, 2))
    X = np.concatenate([u[:100], u[100:] + np.array([2.5, 0])])
    new = np.array([[1.7, 0.5], [0.4, 0.4], [2.9, 0.6], [1.8, 0.2]])
    given, asked = X, new
    if metric == "precomputed":
        given, asked = naive.euclidean_distances(X), np.linalg.norm(new[:, None] - X, axis=2)
    with pytest.warns(MercerWarning, match="Each was embedded on its own"):
        model = LocallyLinearEmbedding(n_neighbors=8, on_disconnected="separate", metric=metric).fit(given)
    placed = model.place(asked)
    for x, z in zip(new, placed.embedding, strict=True):
        part = model.part_labels_ == model.part_labels_[np.linalg.norm(X - x, axis=1).argmin()]
        assert_allclose(z, textbook.lle_new_point(x, X[part], model.embedding_[part], 8), atol=1e-7)
    with pytest.warns(MercerWarning, match="Each was embedded"):
        assert np.array_equal(clone(model).fit(given).transform(given), model.embedding_)


def test_far_rows_of_a_file_are_told_once_with_their_numbers(tmp_path):
    X = cloud(70, 3)
    new = np.tile(X, (300, 1))
    new[20_000] += 1e4
    np.save(tmp_path / "new.npy", new)
    with pytest.warns(MercerWarning) as told:
        LocallyLinearEmbedding(n_neighbors=9).fit(X).transform(tmp_path / "new.npy")
    assert (
        len(told) == 1 and "1 of 21,000 rows" in str(told[0].message) and "row index 20000 is" in str(told[0].message)
    )
