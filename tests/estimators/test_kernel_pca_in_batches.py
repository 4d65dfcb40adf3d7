"""Kernel PCA of samples that come in batches."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_digits

from mercer.errors import MercerWarning
from mercer.estimators.kernel_pca import KernelPCA
from mercer.kernels.distance import RBF, Laplacian
from mercer.kernels.dot import Linear, Polynomial
from support.nystrom import assert_exact_values_in_intervals

pytestmark = pytest.mark.filterwarnings("ignore::mercer.errors.MercerWarning")
KERNELS = [RBF(0.1), RBF(3.0), RBF(1e-4), Laplacian(0.3), Polynomial(degree=3, gamma=0.3, coef0=1.0), Linear()]
X = np.random.default_rng(1).normal(size=(300, 4))


def in_batches(model, rows, cuts, weights=None):
    for some in np.split(np.arange(rows.shape[0]), cuts):
        if len(some):
            model.partial_fit(rows[some], sample_weight=None if weights is None else weights[some])
    return model


@settings(deadline=None)
@given(
    seed=st.integers(0, 10**6),
    kernel=st.sampled_from(KERNELS),
    r=st.integers(1, 30),
    k=st.integers(1, 8),
    cuts=st.lists(st.integers(1, 59), max_size=6).map(sorted),
    weighted=st.booleans(),
    offset=st.sampled_from([0.0, 10.0]),
    drift=st.sampled_from([0.0, 0.1]),
)
def test_exact_values_lie_in_the_intervals_however_rows_are_cut(seed, kernel, r, k, cuts, weighted, offset, drift):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(60, 3)) * rng.choice([0.1, 1.0, 3.0], size=(60, 1)) + offset
    rows += drift * np.arange(60)[:, None]
    rows[40:] = rows[:20] if seed % 2 else rows[40:]
    weights = rng.uniform(0.1, 5, size=60) if weighted else None
    model = in_batches(KernelPCA(k, kernel=kernel, n_landmarks=r, random_state=seed), rows, cuts, weights)
    assert len(model.landmarks_) <= r
    assert_exact_values_in_intervals(model, kernel.with_origin(rows.mean(axis=0))(rows, rows), weights)


def test_one_row_at_a_time():
    model = in_batches(KernelPCA(2, kernel=RBF(0.1)), X[:25], np.arange(1, 25))
    assert_exact_values_in_intervals(model, RBF(0.1)(X[:25], X[:25]))
    assert model.n_samples_seen_ == 25


@pytest.mark.parametrize("first", [100, 200])
def test_a_cluster_that_comes_late_is_seen_and_intervals_hold(first):
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(size=(first, 3)), 20 + rng.normal(size=(100, 3))])
    model = in_batches(KernelPCA(4, kernel=RBF(0.05), n_landmarks=200, tol=1e-2), rows, [first])
    state = model._landmark_state
    assert state.n_settled < state.features.n_landmarks
    assert state.stale > 0
    assert (model.landmark_indices_ >= first).any()
    assert_exact_values_in_intervals(model, RBF(0.05)(rows, rows))
    certificate = model.certificate_
    assert (certificate.upper[0] - certificate.lower[0]) < 0.5 * certificate.upper[0]
    assert "Landmarks joined after other rows" in str(certificate)


def test_intervals_of_digits_that_come_by_class():
    digits, target = load_digits(return_X_y=True)
    order = np.argsort(target[:600], kind="stable")
    rows = digits[:600][order] / 16
    model = in_batches(KernelPCA(6, kernel=RBF(0.1), n_landmarks=200, tol=0.05), rows, np.arange(60, 600, 60))
    assert model._landmark_state.n_settled < len(model.landmarks_)
    assert_exact_values_in_intervals(model, RBF(0.1)(rows, rows))
    certificate = model.certificate_
    simple = (np.sqrt(model.eigenvalues_) + np.sqrt(certificate.left)) ** 2  # |√λ̂ − √λ| ≤ √left
    assert np.all(certificate.upper < simple)


def test_landmarks_that_stay_give_the_result_of_one_fit():
    params = {"kernel": RBF(0.1), "landmarks": X[:30]}
    batches, whole = in_batches(KernelPCA(3, **params), X, [50, 120]), KernelPCA(3, **params).fit(X)
    assert_allclose(batches.eigenvalues_, whole.eigenvalues_, rtol=1e-10)
    assert_allclose(batches.certificate_.upper, whole.certificate_.upper, rtol=1e-8)
    assert_allclose(batches.transform(X[:5]), whole.transform(X[:5]), atol=1e-9)
    assert batches.certificate_.stale == 0


def test_n_landmarks_bounds_the_total():
    drifting = X + np.arange(300)[:, None] / 20
    model = in_batches(KernelPCA(3, kernel=RBF(0.5), n_landmarks=40), drifting, np.arange(20, 300, 20))
    assert len(model.landmarks_) == 40
    assert_exact_values_in_intervals(model, RBF(0.5)(drifting, drifting))


def test_more_of_the_same_rows_add_no_landmarks():
    model = KernelPCA(3, kernel=RBF(0.1), n_landmarks=200, tol=1e-3).partial_fit(X[:, :2])
    before = len(model.landmarks_)
    model.partial_fit(np.random.default_rng(3).normal(size=(300, 2)))
    assert len(model.landmarks_) <= 1.1 * before


def test_partial_fit_continues_a_fit():
    model = KernelPCA(3, kernel=RBF(0.1), n_landmarks=30).fit(X[:100])
    first = model.landmarks_.copy()
    model.partial_fit(X[100:])
    assert_array_equal(model.landmarks_[: len(first)], first)
    assert (model.n_samples_, model.n_samples_seen_) == (300, 300)
    assert_exact_values_in_intervals(model, RBF(0.1)(X, X))


def test_weights_are_counts():
    counts = np.random.default_rng(0).integers(0, 3, size=300)
    params = {"kernel": RBF(0.1), "landmarks": X[:20]}
    weighted = in_batches(KernelPCA(3, **params), X, [100], counts)
    repeated = in_batches(KernelPCA(3, **params), np.repeat(X, counts, axis=0), [100])
    assert_allclose(weighted.eigenvalues_, repeated.eigenvalues_, rtol=1e-10)
    assert weighted.n_samples_seen_ == np.count_nonzero(counts)


def test_indices_count_all_rows():
    weights = np.ones(300)
    weights[::3] = 0
    model = in_batches(KernelPCA(2, kernel=RBF(0.5), n_landmarks=150, tol=0.1), X, [20, 60], weights)
    assert (model.landmark_indices_ >= 20).any()
    assert_array_equal(X[model.landmark_indices_], model.landmarks_)


def test_sparse_rows_and_files(tmp_path):
    np.save(tmp_path / "more.npy", X[100:])
    params = {"kernel": RBF(0.1), "landmarks": X[:20]}
    dense = in_batches(KernelPCA(2, **params), X, [100])
    by_file = KernelPCA(2, **params).fit(X[:100]).partial_fit(tmp_path / "more.npy")
    assert_allclose(by_file.eigenvalues_, dense.eigenvalues_, rtol=1e-10)
    rows = sparse.csr_array(X)
    found = in_batches(KernelPCA(2, kernel=RBF(0.1), n_landmarks=100, tol=0.1), rows, [30])
    assert_exact_values_in_intervals(found, RBF(0.1)(X, X))


def test_the_kernel_of_the_first_batch_stays():
    model = KernelPCA(2, kernel="rbf", gamma="median", n_landmarks=20).partial_fit(X[:100])
    gamma = model.gamma_
    assert model.partial_fit(10 * X[100:]).gamma_ == gamma
    with pytest.raises(ValueError, match=r"continues with RBF.*Set them back"):
        model.set_params(gamma=3.0).partial_fit(X)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"eigen_solver": "dense"}, "compares all samples"),
        ({"eigen_solver": "krylov"}, "compares all samples"),
        ({"kernel": "precomputed"}, "no entries between batches"),
    ],
)
def test_models_without_partial_fit(params, message):
    model = KernelPCA(2, **params)
    assert not hasattr(model, "partial_fit")
    with pytest.raises(AttributeError, match=message):
        model.partial_fit(X)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(X)


def test_an_exact_fit_cannot_be_continued():
    model = KernelPCA(2, kernel="rbf")
    assert hasattr(model, "partial_fit")
    model.fit(X)
    assert not hasattr(model, "partial_fit")
    with pytest.raises(ValueError, match="compared all samples exactly"):
        model.partial_fit(X)


@pytest.mark.parametrize("params", [{"refine": 1}, {"standardize": True}, {"n_components": "parallel"}])
def test_options_that_need_all_rows(params):
    with pytest.raises(ValueError, match=next(iter(params))):
        KernelPCA(**{"n_components": 2, "kernel": "rbf", **params}).partial_fit(X)


def test_a_batch_that_is_refused_leaves_the_model_as_it_was():
    model = KernelPCA(2, kernel=RBF(0.1), n_landmarks=20).partial_fit(X[:100])
    before = model.transform(X)
    for bad in (X[:, :2], np.full((5, 4), np.nan)):
        with pytest.raises(ValueError):
            model.partial_fit(bad)
    assert_array_equal(model.transform(X), before)
    assert model.n_samples_seen_ == 100


def test_warnings_of_later_batches_are_of_all_rows():
    model = KernelPCA(2, kernel=RBF(0.1))
    with pytest.warns(MercerWarning, match="only one sample"):
        model.partial_fit(X[:1])
    model.partial_fit(X[1:])
    assert model.eigenvalues_[0] > 0


def test_a_kernel_that_was_zero_before():
    model = KernelPCA(2, kernel="linear", n_landmarks=5)
    rows = np.concatenate([np.zeros((10, 3)), np.random.default_rng(0).normal(size=(40, 3))])
    in_batches(model, rows, [10])
    assert_exact_values_in_intervals(model, rows @ rows.T)
    assert model.eigenvalues_[0] > 1
