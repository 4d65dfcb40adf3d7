"""KernelPCA against the textbook, PCA and scikit-learn: kernels, weights, shares, sparse rows and given matrices."""

import pickle
import threading
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.decomposition import PCA
from sklearn.decomposition import KernelPCA as Theirs
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from mercer import KernelPCA, textbook
from mercer.kernels import RBF, Blockwise, Laplacian, Linear, Matern
from mercer_old.errors import MercerWarning
from support.kernel import BLOBS, X, Y

rng = np.random.default_rng(0)
KERNELS = {
    "rbf": (dict(kernel="rbf", gamma=0.3), textbook.rbf_kernel(0.3)),
    "poly": (dict(kernel="poly", degree=2, gamma=0.5, coef0=1), textbook.polynomial_kernel(0.5, 1, 2)),
    "linear": (dict(kernel="linear"), textbook.linear_kernel),
    "function": (dict(kernel=textbook.rbf_kernel(0.3)), textbook.rbf_kernel(0.3)),
    "blocks": (dict(kernel=Blockwise(RBF(0.3).block)), textbook.rbf_kernel(0.3)),
    "object": (dict(kernel=RBF(0.3)), textbook.rbf_kernel(0.3)),
}


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("eigen_solver", ["auto", "dense", "krylov", "arpack", "randomized"])
def test_everything_is_the_textbooks(name, eigen_solver):
    params, kernel = KERNELS[name]
    K, K_new = textbook.gram_matrix(kernel, X), textbook.gram_matrix(kernel, Y, X)
    eta, V = textbook.kernel_pca(K, 3)
    model = KernelPCA(3, eigen_solver=eigen_solver, **params).fit(X)
    assert_allclose(model.eigenvalues_, eta, rtol=1e-9)
    signs = np.sign(np.sum(model.eigenvectors_ * V, axis=0))
    assert_allclose(model.eigenvectors_, signs * V * np.sqrt(eta), atol=1e-7)
    assert_allclose(model.transform(Y), signs * textbook.scores(K_new, K, V), atol=1e-7)
    functions = textbook.component_functions(K_new, V)
    assert_allclose(model.component_functions(Y), signs * functions, rtol=1e-6, atol=1e-6)
    assert_allclose(model.total_variance_, np.trace(textbook.centre_gram(K)) / 59)


@pytest.mark.parametrize("kernel", [Laplacian(), Matern(2.5), RBF("median"), 0.5 * RBF(1.0) + Linear() + 2.0])
def test_kernel_objects_and_their_sums_are_solved(kernel):
    model = KernelPCA(3, kernel=kernel).fit(X)
    eta = textbook.kernel_pca(model.kernel_.block(X, X), 3)[0]
    assert_allclose(model.eigenvalues_, eta, rtol=1e-9)


@pytest.mark.parametrize("params", [dict(kernel="rbf", gamma=0.01), dict(kernel="linear"), dict(kernel="cosine")])
@pytest.mark.parametrize("k", [3, 40])
def test_fit_transform_is_fit_then_transform(params, k):
    model = KernelPCA(k, **params)
    scores = model.fit_transform(BLOBS)
    assert_allclose(scores, model.transform(BLOBS), atol=1e-10 * np.abs(scores).max())
    in_pieces = np.concatenate([model.transform(BLOBS[i : i + 97]) for i in range(0, 700, 97)])
    assert_allclose(in_pieces, model.transform(BLOBS), atol=1e-10 * np.abs(scores).max())


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "sigmoid", "cosine"])
def test_numbers_and_signs_are_scikit_learns(kernel):
    data = load_digits().data[:600] / 16
    ours, theirs = KernelPCA(5, kernel=kernel), Theirs(5, kernel=kernel)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MercerWarning)  # the sigmoid kernel is not positive semi-definite
        a, b = ours.fit_transform(data), theirs.fit_transform(data)
    assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-8)
    assert_allclose(a, b, atol=1e-6 * np.abs(b).max())


def test_linear_kernel_has_the_explained_variance_of_pca():
    data = load_iris().data
    model, pca = KernelPCA(3).fit(data), PCA(3).fit(data)
    assert_allclose(model.explained_variance_, pca.explained_variance_, rtol=1e-10)
    assert_allclose(model.explained_variance_ratio_, pca.explained_variance_ratio_, rtol=1e-10)


def test_ratios_are_against_the_total_and_not_the_kept_part():
    model = KernelPCA(2, kernel="rbf", gamma=0.3).fit(X)
    everything = KernelPCA(kernel="rbf", gamma=0.3).fit(X)
    assert_allclose(everything.explained_variance_ratio_.sum(), 1)
    assert_allclose(model.explained_variance_ratio_, everything.explained_variance_ratio_[:2], rtol=1e-9)
    assert_allclose(model.total_variance_, everything.explained_variance_.sum(), rtol=1e-9)


@pytest.mark.parametrize("share", [0.3, 0.9, 0.999])
@pytest.mark.parametrize(
    "params", [dict(kernel="rbf", gamma=0.002), dict(kernel="rbf", gamma=1.0), dict(kernel="linear")]
)
def test_a_share_takes_the_fewest_components_that_reach_it(share, params):
    model = KernelPCA(share, **params).fit(BLOBS)
    eta = np.linalg.eigvalsh(textbook.centre_gram(model.kernel_.block(BLOBS, BLOBS)))[::-1]
    assert len(model.eigenvalues_) == textbook.components_for_share(np.maximum(eta, 0), share)
    assert_allclose(model.eigenvalues_, eta[: len(model.eigenvalues_)], rtol=1e-8)


@pytest.mark.parametrize(
    "params", [dict(kernel="rbf", gamma=0.3), dict(kernel="linear"), dict(kernel="poly", degree=2)]
)
@pytest.mark.parametrize("eigen_solver", ["auto", "krylov"])
def test_weight_two_is_the_row_twice_and_weight_zero_is_no_row(params, eigen_solver):
    weights = rng.integers(0, 4, size=60)
    repeated = np.repeat(np.arange(60), weights)
    model = KernelPCA(3, eigen_solver=eigen_solver, **params).fit(X, sample_weight=weights)
    plain = KernelPCA(3, eigen_solver=eigen_solver, **params).fit(X[repeated])
    assert_allclose(model.eigenvalues_, plain.eigenvalues_, rtol=1e-9)
    assert_allclose(model.explained_variance_, plain.explained_variance_, rtol=1e-9)
    assert_allclose(model.explained_variance_ratio_, plain.explained_variance_ratio_, rtol=1e-9)
    assert_allclose(model.transform(Y), plain.transform(Y), atol=1e-7)
    scores = clone(model).fit_transform(X, sample_weight=weights)
    assert scores.shape == (60, 3)
    assert_allclose(scores, model.transform(X), atol=1e-9)


def test_weighted_inverse_is_that_of_repeated_rows():
    weights = rng.integers(1, 4, size=60)
    params = dict(kernel="rbf", gamma=0.3, fit_inverse_transform=True, alpha=0.1)
    model = KernelPCA(3, **params).fit(X, sample_weight=weights)
    plain = KernelPCA(3, **params).fit(np.repeat(X, weights, axis=0))
    Z = plain.transform(Y)
    assert_allclose(model.inverse_transform(Z), plain.inverse_transform(Z), atol=1e-6)


def test_inverse_is_scikit_learns_and_the_textbooks():
    params = dict(kernel="rbf", gamma=0.3, fit_inverse_transform=True, alpha=0.1)
    ours, theirs = KernelPCA(3, **params), Theirs(3, **params)
    Z = ours.fit_transform(X)
    assert_allclose(ours.inverse_transform(Z), theirs.fit(X).inverse_transform(theirs.transform(X)), atol=1e-7)
    expected = textbook.preimage_by_ridge(textbook.rbf_kernel(0.3), Z, X, Z[:5], ridge=0.1)
    assert_allclose(ours.inverse_transform(Z[:5]), expected, atol=1e-8)


def test_the_same_data_give_the_same_answer_and_seeds_only_rounding():
    params = dict(kernel="rbf", gamma=0.01)
    first = KernelPCA(5, **params).fit_transform(BLOBS)
    assert np.array_equal(first, KernelPCA(5, **params).fit_transform(BLOBS))
    assert_allclose(first, KernelPCA(5, random_state=7, **params).fit_transform(BLOBS), atol=1e-6)
    assert_allclose(first, KernelPCA(5, n_jobs=1, **params).fit_transform(BLOBS), atol=1e-9)


def test_rows_and_features_may_be_turned_moved_and_permuted():
    model = KernelPCA(3, kernel="rbf", gamma=0.3).fit(X)
    order = rng.permutation(60)
    assert_allclose(KernelPCA(3, kernel="rbf", gamma=0.3).fit(X[order]).eigenvalues_, model.eigenvalues_, rtol=1e-10)
    Q = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    moved = KernelPCA(3, kernel="rbf", gamma=0.3).fit(X @ Q + 1e4)
    assert_allclose(moved.eigenvalues_, model.eigenvalues_, rtol=1e-7)


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e6, 1e8])
def test_data_with_a_large_mean_are_right(offset):
    data = rng.normal(size=(1000, 6)) * [6, 5, 4, 3, 2, 1]
    here = (data + offset) - offset  # what float64 keeps of the data at that offset
    expected = np.linalg.eigvalsh(np.cov(here.T))[::-1]
    model = KernelPCA(6).fit(data + offset)
    assert_allclose(model.explained_variance_, expected, rtol=1e-8)
    assert_allclose(model.transform(data + offset), model.fit_transform(data + offset), atol=1e-6)


def test_float32_stays_float32_and_is_as_good_as_its_rows():
    single = BLOBS.astype(np.float32)
    model = KernelPCA(4, kernel="rbf", gamma=0.01, fit_inverse_transform=True)
    scores = model.fit_transform(single)
    assert scores.dtype == model.transform(single).dtype == model.inverse_transform(scores).dtype == np.float32
    double = KernelPCA(4, kernel="rbf", gamma=0.01).fit(single.astype(float))
    assert_allclose(model.eigenvalues_, double.eigenvalues_, rtol=1e-9)


@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csr_matrix, sparse.csc_matrix])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "cosine", "sigmoid"])
def test_sparse_rows_give_the_same_as_dense_ones(container, kernel):
    dense = np.where(np.abs(BLOBS) > 6, BLOBS / 10, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MercerWarning)
        a = KernelPCA(4, kernel=kernel).fit(container(dense))
        b = KernelPCA(4, kernel=kernel).fit(dense)
    assert_allclose(a.eigenvalues_, b.eigenvalues_, rtol=1e-8, atol=1e-10)
    assert_allclose(a.transform(container(dense)), b.transform(dense), atol=1e-6)


def test_wide_sparse_text_like_data_stay_sparse():
    counts = np.random.default_rng(0).random((900, 4000))
    words = sparse.csr_array(np.where(counts < 0.01, counts, 0))
    model = KernelPCA(5, kernel="cosine").fit(words)
    assert "never multiplied out" in model.plan_.why
    eta = np.linalg.eigvalsh(textbook.centre_gram(model.kernel_.block(words, words)))[::-1]
    assert_allclose(model.eigenvalues_, eta[:5], rtol=1e-8)


def test_precomputed_matrices_are_solved_and_transform_takes_rows_against_training_items():
    K = RBF(0.3).block(X, X)
    a, b = KernelPCA(3, kernel="precomputed").fit(K), KernelPCA(3, kernel="rbf", gamma=0.3).fit(X)
    assert_allclose(a.eigenvalues_, b.eigenvalues_, rtol=1e-10)
    assert_allclose(a.transform(RBF(0.3).block(Y, X)), b.transform(Y), atol=1e-8)


def test_a_scipy_operator_is_as_good_as_its_matrix():
    K, K_new = RBF(0.01).block(BLOBS, BLOBS), RBF(0.01).block(Y @ np.eye(4, 6), BLOBS)
    weights = 1 + np.arange(700) % 3
    for given in (None, weights):
        a = KernelPCA(3, kernel="precomputed").fit(aslinearoperator(K), sample_weight=given)
        b = KernelPCA(3, kernel="precomputed").fit(K, sample_weight=given)
        assert_allclose(a.eigenvalues_, b.eigenvalues_, rtol=1e-10)
        assert_allclose(a.explained_variance_ratio_, b.explained_variance_ratio_, rtol=1e-10)
        assert_allclose(a.transform(aslinearoperator(K_new)), b.transform(K_new), atol=1e-8)
    with pytest.raises(ValueError, match="is expecting 700 features"):
        a.transform(aslinearoperator(K_new[:, :5]))
    with pytest.raises(ValueError, match="must be a square matrix"):
        a.fit(aslinearoperator(K_new))
    with pytest.raises(ValueError, match="cannot be taken out of a LinearOperator"):
        a.fit(aslinearoperator(K), sample_weight=weights - 1)
    some = KernelPCA(3, kernel="precomputed").fit(K, sample_weight=weights - 1)  # new items may come as an operator
    assert_allclose(some.transform(aslinearoperator(K_new)), some.transform(K_new), atol=1e-12)


def test_grid_search_reaches_into_kernel_objects():
    data, target = load_iris(return_X_y=True)
    search = GridSearchCV(
        make_pipeline(KernelPCA(3, kernel=RBF(1.0) + Linear()), SVC()),
        {"kernelpca__kernel__left__gamma": [0.01, 10.0], "kernelpca__n_components": [1, 3]},
    ).fit(data, target)
    assert search.best_score_ > 0.9
    kernel = RBF(1.0)
    model = KernelPCA(kernel=kernel).set_params(kernel__gamma=3.0)
    assert (model.kernel.gamma, kernel.gamma) == (3.0, 1.0)
    with pytest.raises(ValueError, match="has no parameters of its own"):
        KernelPCA(kernel="rbf").set_params(kernel__gamma=1.0)


def test_fitted_models_can_be_pickled_and_cloned():
    model = KernelPCA(3, kernel=RBF(0.3)).fit(X)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301
    assert np.array_equal(again.transform(Y), model.transform(Y))
    assert clone(model).get_params() == model.get_params()


def test_two_models_fitted_at_once_both_finish_and_agree():
    results = {}

    def fit(name):
        results[name] = KernelPCA(4, kernel="rbf", gamma=0.01).fit_transform(BLOBS)

    workers = [threading.Thread(target=fit, args=(i,)) for i in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for i in range(1, 4):
        assert_allclose(results[i], results[0], atol=1e-9)
