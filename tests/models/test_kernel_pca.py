"""KernelPCA as its users meet it: against the textbook and scikit-learn, with weights, shares, proofs and bad input."""

import pickle
import threading
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.linalg import subspace_angles
from scipy.sparse.linalg import aslinearoperator
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_blobs, make_swiss_roll
from sklearn.decomposition import PCA
from sklearn.decomposition import KernelPCA as Theirs
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from mercer import KernelPCA, textbook
from mercer.errors import BadData, MercerWarning, NoRoom
from mercer.kernels import RBF, Blockwise, Laplacian, Linear, Matern, Polynomial
from mercer.operators import tiles

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(60, 4)), rng.normal(size=(9, 4))
BLOBS = make_blobs(700, 6, centers=4, random_state=0)[0]

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


# ---------------------------------------------------------------------------- proof and plan


def test_certificate_is_printed_in_english():
    model = KernelPCA(4, kernel="rbf", gamma=0.01).fit(BLOBS)
    text = str(model.certificate_)
    assert "4 components certified: each residual at most 1e-08 of its own eigenvalue, or rounding" in text
    assert "Nothing was missed" in text and "passes over the matrix" in text
    assert model.certificate_.certified and np.all(model.certificate_.relative_residuals <= 1e-8)


@pytest.mark.parametrize("trial", range(80))
def test_certificate_bounds_hold_for_models(trial):
    """Every solver, with and without weights and shares, on data of many sizes: the bounds against LAPACK."""
    rng = np.random.default_rng(trial)
    n, d = int(rng.integers(5, 400)), int(rng.integers(1, 12))
    rows = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + rng.choice([0, 100]) * rng.normal(size=d)
    weights = rng.integers(1, 5, size=n).astype(float) if trial % 2 else None
    k = int(rng.integers(1, min(n - 1, 25) + 1)) if trial % 3 else float(rng.uniform(0.1, 0.95))
    kernel = RBF("median") if trial % 5 < 3 else [Linear(), Polynomial(2, 0.1)][trial % 2]
    model = KernelPCA(
        k, kernel=kernel, eigen_solver=["auto", "dense", "krylov"][trial % 4 % 3], tol=10.0 ** -(3 + trial % 6)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MercerWarning)
        model.fit(rows, sample_weight=weights)
    root = np.ones(n) if weights is None else np.sqrt(weights)
    P = np.eye(n) - np.outer(root, root) / (root @ root)
    true, vectors = np.linalg.eigh(P @ (root[:, None] * model.kernel_.block(rows, rows) * root) @ P)
    true, vectors = true[::-1], vectors[:, ::-1]
    certificate, kept = model.certificate_, len(model.eigenvalues_)
    slack = 1e-12 * root @ root * np.abs(model.kernel_.diag(rows)).max()
    assert certificate.certified
    assert np.all(certificate.lower <= true[:kept] + slack) and np.all(true[:kept] <= certificate.upper + slack)
    if certificate.n_complete == kept < n:
        assert true[kept] <= certificate.bound_beyond + certificate.residuals.max() + slack
    for i in range(certificate.n_complete):
        if true[i] > 1e4 * slack:
            start, stop = next(((a, b) for a, b in certificate.clusters if a <= i < b), (i, i + 1))
            angle = np.sin(subspace_angles(model.eigenvectors_[:, start:stop], vectors[:, start:stop]).max())
            assert angle <= certificate.angles[i] + 1e-6


def test_plan_is_told_before_and_after():
    model = KernelPCA(4, kernel="rbf", gamma=0.01)
    plan = model.plan(BLOBS)
    assert not hasattr(model, "eigenvalues_")
    assert str(replace(plan, seconds=None)) == str(model.fit(BLOBS).plan_)
    assert "K takes 3.92 MB" in str(plan)


def test_too_little_memory_is_said_before_anything_is_allocated():
    with pytest.raises(NoRoom, match="over the limit of 1 MB") as error:
        KernelPCA(4, kernel="rbf", memory_limit="1MB").fit(BLOBS)
    assert isinstance(error.value, MemoryError)


def test_a_million_rows_with_a_linear_kernel_are_pca():
    data = np.random.default_rng(0).normal(size=(200_000, 5)) * [5, 4, 3, 2, 1]
    model = KernelPCA(2, memory_limit="500MB").fit(data)
    assert_allclose(model.explained_variance_, PCA(2).fit(data).explained_variance_, rtol=1e-9)


def test_transform_never_holds_the_matrix_between_all_rows(monkeypatch):
    model = KernelPCA(3, kernel="rbf", gamma=0.01).fit(BLOBS)
    largest = []
    original = tiles.apply

    def watching(prepared, m, n, B, out, threads):
        class Watched:
            def fill(self, rows, columns, tile):
                largest.append(tile.size)
                prepared.fill(rows, columns, tile)

        original(Watched(), m, n, B, out, threads)

    monkeypatch.setattr("mercer.operators.projection.apply", watching)
    monkeypatch.setattr(tiles, "TILE", 64)
    model.transform(BLOBS)
    assert len(largest) > 10 and max(largest) <= 64 * 4 * 64 < BLOBS.shape[0] ** 2


def test_a_cluster_cut_in_two_is_told():
    sides = np.repeat([[-3.0], [3.0]], 20, axis=0)
    corners = np.append(np.eye(40), sides, axis=1)  # two sides, and on each of them every direction is as good
    with pytest.warns(MercerWarning, match="is not determined by the data"):
        model = KernelPCA(3, kernel="rbf", gamma=1.0).fit(corners)
    assert model.certificate_.unresolved == (1, 2)


def test_max_iter_that_does_not_suffice_is_told():
    roll = make_swiss_roll(800, random_state=0)[0]
    with pytest.warns(ConvergenceWarning, match="stopped after"), warnings.catch_warnings():
        warnings.simplefilter("ignore", MercerWarning)
        warnings.simplefilter("always", ConvergenceWarning)
        model = KernelPCA(20, kernel="rbf", gamma=0.1, max_iter=2).fit(roll)
    assert "NOT certified" in str(model.certificate_)


# ---------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("params", "data", "error", "words"),
    [
        (dict(), np.where(np.arange(240).reshape(60, 4) == 7, np.nan, X), ValueError, "contains NaN"),
        (dict(), np.where(np.arange(240).reshape(60, 4) == 7, np.inf, X), ValueError, "infinity"),
        (dict(), X.astype(complex), ValueError, "Complex data not supported"),
        (dict(), np.array([["a", 1], ["c", 2]], dtype=object), ValueError, "could not convert string to float"),
        (
            dict(),
            np.array([[1, "2"], [2, "c"]], dtype=object),
            ValueError,
            "Column 1 holds text, first 'c' at row index 1",
        ),
        (dict(), np.where(X > 1, np.nan, X), ValueError, f"{np.sum(X > 1)} values are not finite, first at row index"),
        (dict(), pd.DataFrame(X, columns=list("abcd")).mask(X[1, 1] == X), ValueError, "row index 1, column 'b'"),
        (dict(), np.empty((0, 3)), ValueError, "0 sample"),
        (dict(), np.empty((3, 0)), ValueError, "0 feature"),
        (dict(), X[0], ValueError, "Expected 2D array"),
        (dict(n_components=0), X, ValueError, "'n_components' parameter"),
        (dict(n_components=-2), X, ValueError, "'n_components' parameter"),
        (dict(n_components=1.5), X, ValueError, "'n_components' parameter"),
        (dict(kernel="rbf", gamma=0), X, ValueError, "'gamma' parameter"),
        (dict(kernel="rbf", gamma=-1.0), X, ValueError, "'gamma' parameter"),
        (dict(kernel="gauss"), X, ValueError, "'kernel' parameter"),
        (dict(memory_limit="much"), X, ValueError, 'write bytes or a text such as "2GB"'),
        (dict(memory_limit="0GB"), X, ValueError, "is no amount of memory"),
        (dict(memory_limit="1.2.3GB"), X, ValueError, 'write bytes or a text such as "2GB"'),
        (dict(memory_limit="9" * 400), X, ValueError, 'write bytes or a text such as "2GB"'),
        (dict(memory_limit=float("inf")), X, ValueError, "memory_limit"),
        (dict(), 1e200 * X, BadData, "not finite"),
        (dict(kernel=lambda x, y: float("nan")), X, BadData, "values that are not finite, first for row index 0"),
        (dict(kernel=lambda x, y: x), X, ValueError, "array of shape (4,) for one pair of rows"),
        (dict(kernel="rbf"), 1e200 * X, BadData, "an overflow"),
        (dict(kernel="poly"), 1e150 * X, BadData, "an overflow"),
        (dict(kernel="precomputed"), X, ValueError, "must be a square matrix. Input is a 60x4 matrix"),
        (dict(kernel="precomputed", n_components=50), -np.eye(60), ValueError, "significant negative eigenvalues"),
        (dict(fit_inverse_transform=True), sparse.csr_array(X), NotImplementedError, "not implemented for sparse"),
    ],
)
def test_bad_input_gets_one_sentence(params, data, error, words):
    with pytest.raises(error) as answer, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        KernelPCA(**params).fit(data)
    assert words in str(answer.value)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (-np.ones(60), "Negative values in data passed to `sample_weight`"),
        (np.zeros(60), "at least one non-zero number; no row is left"),
        (np.ones(59), r"sample_weight.shape == \(59,\), expected \(60,\)"),
        (np.full(60, np.nan), "sample_weight contains NaN"),
    ],
)
def test_bad_weights_are_refused(weights, words):
    with pytest.raises(ValueError, match=words):
        KernelPCA(2).fit(X, sample_weight=weights)


@pytest.mark.parametrize(
    "data", [np.ones((30, 3)), np.full((30, 3), 0.1), np.full((600, 3), 1e8), 1e-200 * np.ones((20, 2))]
)
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "cosine", "sigmoid"])
def test_constant_data_give_zeros_and_a_word(data, kernel):
    with pytest.warns(MercerWarning, match="All rows look the same to this kernel"), warnings.catch_warnings():
        warnings.simplefilter("always")
        scores = KernelPCA(2, kernel=kernel).fit_transform(data)
    assert np.array_equal(scores, np.zeros((len(data), 2)))


def test_underflow_is_told():
    with pytest.warns(MercerWarning, match="gamma far too small for its scale"):
        KernelPCA(2, kernel="rbf").fit(1e-200 * X)


def test_tiny_data_are_right_where_float64_allows():
    with pytest.warns(MercerWarning, match="All rows look nearly the same"):
        small = KernelPCA(3, kernel="rbf").fit(1e-9 * X)  # k = 1 − 2.5e-19‖x − y‖²: below the last digit of 1
    linear = KernelPCA(3).fit(X)
    assert_allclose(small.eigenvalues_ / small.eigenvalues_[0], linear.eigenvalues_ / linear.eigenvalues_[0], rtol=1e-6)


def test_one_row_and_more_components_than_rows_are_told():
    with pytest.warns(MercerWarning, match="n_components=7 is more than the 5 rows; 5 components are kept"):
        model = KernelPCA(7, kernel="rbf").fit(X[:5])
    assert model.transform(X).shape == (60, 5)
    assert KernelPCA(1).fit_transform(X[:1]).shape == (1, 1)


def test_indefinite_matrices_are_solved_where_they_can_be_and_told():
    values = np.concatenate([[9.0, 5, 2], np.full(57, -0.5)])
    Q = np.linalg.qr(np.column_stack([np.ones(60), rng.normal(size=(60, 59))]))[0]
    K = Q * np.roll(values, 1) @ Q.T
    with pytest.warns(MercerWarning, match="not positive semi-definite: it has an eigenvalue of at most -0.5"):
        model = KernelPCA(3, kernel="precomputed").fit((K + K.T) / 2)
    assert_allclose(model.eigenvalues_, [9, 5, 2], rtol=1e-9)
    assert np.isnan(model.explained_variance_ratio_).all()


def test_an_asymmetric_matrix_is_used_and_told():
    K = RBF(0.3).block(X, X)
    K[0, 1] += 1e-6
    with pytest.warns(MercerWarning, match="not symmetric .entries differ by up to 1e-06"):
        KernelPCA(2, kernel="precomputed").fit(K)


def test_polynomial_of_many_features_is_held_as_a_matrix():
    data = rng.normal(size=(100, 60))
    model = KernelPCA(3, kernel=Polynomial(degree=3, gamma=0.1)).fit(data)
    assert model.plan_.held == "gram"


# ---------------------------------------------------------------------------- corners


def test_a_constant_in_the_matrix_does_not_spoil_the_certificate():
    values = np.concatenate([[9.0, 5, 2, 0.2], np.zeros(56)])
    Q = np.linalg.qr(np.column_stack([np.ones(600), rng.normal(size=(600, 60))]))[0][:, 1:]
    A = Q * values @ Q.T
    for offset in (0.0, 1e3, 5.4e5, 1e7):
        model = KernelPCA(3, kernel="precomputed", tol=1e-5).fit((A + A.T) / 2 + offset)
        assert model.certificate_.bound_beyond >= 0.2 * (1 - 1e-6)
        assert np.all(model.certificate_.upper >= [9 - 1e-6, 5 - 1e-6, 2 - 1e-6])


@pytest.mark.parametrize(
    "params", [dict(kernel="rbf"), dict(n_components=6), dict(n_components=6, eigen_solver="dense")]
)
def test_zero_eigenvalues_are_named_and_not_divided_by(params):
    certificate = KernelPCA(**params).fit(X).certificate_
    assert certificate.certified and certificate.relative_residuals.max() < 1e-8
    assert certificate.n_complete == certificate.n_components
    kept = len(KernelPCA(**params).fit(X).eigenvalues_)
    assert certificate.n_components == kept  # dropped components are not counted


def test_small_features_are_kept_as_scikit_learn_keeps_them():
    data = rng.normal(size=(400, 30)) * np.concatenate([[1.0], np.full(29, 3e-6)])
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", MercerWarning
        )  # rounding leaves directions of 1e-12 undetermined, which is told
        ours = KernelPCA().fit(data)
    assert len(ours.eigenvalues_) == len(Theirs(eigen_solver="dense").fit(data).eigenvalues_) == 30


def test_an_indefinite_matrix_is_noticed_by_lapacks_subset_too():
    values = np.concatenate([[9.0, 5, 2], np.full(297, -0.5)])
    Q = np.linalg.qr(np.column_stack([np.ones(300), rng.normal(size=(300, 299))]))[0]
    K = Q * np.roll(values, 1) @ Q.T
    with pytest.warns(MercerWarning, match="not positive semi-definite"):
        model = KernelPCA(3, kernel="precomputed").fit((K + K.T) / 2)
    assert np.isnan(model.explained_variance_ratio_).all()


def test_items_of_weight_zero_are_left_out_of_a_precomputed_matrix():
    weights = np.ones(60)
    weights[[3, 17]] = 0
    K = RBF(0.3).block(X, X)
    model = KernelPCA(3, kernel="precomputed")
    scores = model.fit_transform(K, sample_weight=weights)
    expected = KernelPCA(3, kernel="rbf", gamma=0.3).fit(X, sample_weight=weights).transform(X)
    assert_allclose(scores, expected, atol=1e-8)


def test_weights_that_are_no_counts_are_told():
    with pytest.warns(MercerWarning, match="weights are counts"):
        model = KernelPCA(2, kernel="rbf").fit(X, sample_weight=np.full(60, 1 / 60))
    assert np.isnan(model.explained_variance_).all()
    plain = KernelPCA(2, kernel="rbf").fit(X)
    assert_allclose(model.explained_variance_ratio_, plain.explained_variance_ratio_, rtol=1e-9)


@pytest.mark.parametrize("eigen_solver", ["krylov", "dense"])
def test_weights_are_repetitions_for_every_solver(eigen_solver):
    weights = rng.integers(1, 3, size=700)
    model = KernelPCA(3, kernel="rbf", gamma=0.01, eigen_solver=eigen_solver).fit(BLOBS, sample_weight=weights)
    plain = KernelPCA(3, kernel="rbf", gamma=0.01).fit(np.repeat(BLOBS, weights, axis=0))
    assert eigen_solver != "krylov" or type(model.plan_.solver).__name__ == "BlockKrylov"
    assert_allclose(model.eigenvalues_, plain.eigenvalues_, rtol=1e-9)
    assert_allclose(model.transform(BLOBS[:9]), plain.transform(BLOBS[:9]), atol=1e-7)


def test_a_share_of_nothing_is_one_component_and_a_word():
    with pytest.warns(MercerWarning, match="All rows look the same"):
        assert KernelPCA(0.9, kernel="rbf").fit(np.ones((600, 3))).eigenvalues_.shape == (1,)


def test_a_share_that_takes_many_components_is_planned_anew():
    model = KernelPCA(0.999, kernel="rbf", gamma=1.0).fit(BLOBS)
    assert type(model.plan_.solver).__name__ == "Dense"
    with pytest.raises(NoRoom, match="10 MB"):
        KernelPCA(0.999, kernel="rbf", gamma=1.0, memory_limit="10MB").fit(BLOBS)


def test_all_components_come_even_if_the_passes_do_not_suffice():
    with pytest.warns(ConvergenceWarning, match="The solver stopped after"), warnings.catch_warnings():
        warnings.simplefilter("ignore", MercerWarning)
        warnings.simplefilter("always", ConvergenceWarning)
        model = KernelPCA(40, kernel="rbf", gamma=0.01, max_iter=1).fit(BLOBS)
    assert len(model.eigenvalues_) == 40


def test_sparse_constant_rows_are_told():
    with pytest.warns(MercerWarning, match="All rows look the same"):
        KernelPCA(2).fit(sparse.csr_array(np.full((30, 3), 0.1)))


def test_inverse_transform_checks_its_input_and_belongs_to_the_last_fit():
    model = KernelPCA(3, kernel="rbf", fit_inverse_transform=True).fit(X)
    with pytest.raises(ValueError, match="contains NaN"):
        model.inverse_transform(np.full((2, 3), np.nan))
    with pytest.raises(ValueError, match="X has 2 features, but the inverse transform of KernelPCA is expecting 3"):
        model.inverse_transform(np.ones((2, 2)))
    assert not hasattr(model.set_params(fit_inverse_transform=False).fit(X), "dual_coef_")


def test_warnings_point_at_the_users_line():
    for fit in (lambda model: model.fit(np.ones((9, 2))), lambda model: model.fit_transform(np.ones((9, 2)))):
        with pytest.warns(MercerWarning) as told:
            fit(KernelPCA(2, kernel="rbf"))
        assert {warning.filename for warning in told} == {__file__}


def test_a_plan_leaves_a_fitted_model_alone():
    model = KernelPCA(2, kernel="rbf").fit(X)
    before = model.transform(Y)
    model.plan(np.ones((30, 7)))
    assert_allclose(model.transform(Y), before)
    K = RBF(0.3).block(X, X)
    assert KernelPCA(2, kernel="precomputed").plan(aslinearoperator(K)).held == "given"


def test_cosine_does_not_care_for_scale():
    plain = KernelPCA(2, kernel="cosine").fit(X).eigenvalues_
    for scale in (1e200, 1e-200):
        assert_allclose(KernelPCA(2, kernel="cosine").fit(scale * X).eigenvalues_, plain, rtol=1e-10)


def test_certificates_can_be_compared():
    first, again, other = (KernelPCA(k, kernel="rbf").fit(BLOBS).certificate_ for k in (3, 3, 4))
    assert first == again and hash(first) == hash(again) and first != other and first != "certified"


def test_operators_that_are_no_kernel_matrices_are_refused():
    with pytest.raises(ValueError, match="Complex data not supported"):
        KernelPCA(2, kernel="precomputed").fit(aslinearoperator(np.eye(9) * 1j))
    with pytest.raises(BadData, match="not symmetric"):
        KernelPCA(2, kernel="precomputed").fit(aslinearoperator(np.triu(np.ones((9, 9)))))


@pytest.mark.parametrize("distance", [1e4, 1e6, 1e7])
def test_clusters_far_apart_keep_their_digits(distance):
    """Squares of distances to the mean would cancel: the entries are taken from differences."""
    data = rng.normal(size=(120, 2))
    data[60:] += distance
    model = KernelPCA(6, kernel="rbf", gamma=0.5).fit(data)
    halves = [RBF(0.5).block(half, half) for half in (data[:60], data[60:] - distance)]
    K = np.zeros((120, 120))
    K[:60, :60], K[60:, 60:] = halves
    eta = np.linalg.eigvalsh(textbook.centre_gram(K))[::-1][:6]
    assert_allclose(model.eigenvalues_, eta, rtol=1e-9 * distance / 1e4)


@pytest.mark.parametrize("kernel", [Matern(2.5, 1e7), Matern(1.5, 3e4), Laplacian(1e-12), RBF(1e-8), 1.0 * RBF(1e-8)])
@pytest.mark.parametrize("limit", [None, "40MB"])
def test_what_is_rounding_in_a_very_wide_kernel_is_not_certified_as_more(kernel, limit):
    """Every interval holds, and what is lost in 1 − k is called zero."""
    data = make_swiss_roll(2500 if limit else 520, random_state=0)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MercerWarning)
        model = KernelPCA(6, kernel=kernel, memory_limit=limit).fit(data)
    assert model.certificate_.passes < 40
    if limit:
        return
    eta = wide_spectrum(kernel, data)[:6]
    slack = 1e-11 * eta[0]
    assert np.all(model.certificate_.lower <= eta + slack) and np.all(eta <= model.certificate_.upper + slack)


def wide_spectrum(kernel, data):
    """Eigenvalues of J(K − 11ᵀ)J with K − 1 from its series, which has no cancellation."""
    if isinstance(kernel, Laplacian):
        distance = np.abs(data[:, None] - data[None]).sum(axis=2)
        K = np.expm1(-kernel.gamma * distance)
    elif isinstance(kernel, Matern):
        r = np.sqrt(((data[:, None] - data[None]) ** 2).sum(axis=2)) * np.sqrt(2 * kernel.nu) / kernel.length_scale
        # (1 + r)e^−r − 1 = −r²/2 + r³/3 − r⁴/8 … and (1 + r + r²/3)e^−r − 1 = −r²/6 + r⁴/24 …
        K = -(r**2) / 2 + r**3 / 3 - r**4 / 8 if kernel.nu == 1.5 else -(r**2) / 6 + r**4 / 24
    else:
        K = np.expm1(-1e-8 * ((data[:, None] - data[None]) ** 2).sum(axis=2))
    return np.linalg.eigvalsh(textbook.centre_gram(K))[::-1]
