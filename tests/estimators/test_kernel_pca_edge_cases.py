"""Corners of KernelPCA: zeros, shares of nothing, weights that are no counts, clusters far apart."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator
from sklearn.decomposition import KernelPCA as Theirs
from sklearn.exceptions import ConvergenceWarning

from mercer import KernelPCA, textbook
from mercer.kernels import RBF
from mercer_old.errors import BadData, MercerWarning
from support.kernel import BLOBS, X
from support.matrices import indefinite_matrix

rng = np.random.default_rng(0)


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
    with pytest.warns(MercerWarning, match="not positive semi-definite"):
        model = KernelPCA(3, kernel="precomputed").fit(indefinite_matrix(300, rng))
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


def test_cosine_does_not_care_for_scale():
    plain = KernelPCA(2, kernel="cosine").fit(X).eigenvalues_
    for scale in (1e200, 1e-200):
        assert_allclose(KernelPCA(2, kernel="cosine").fit(scale * X).eigenvalues_, plain, rtol=1e-10)


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
