"""Kernel PCA by landmarks: with all rows as landmarks it is kernel PCA, and an exact pass makes it better."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA

import mercer
import mercer_old.plans.kernel
import mercer_old.sweeps.landmarks
from mercer import KernelPCA
from mercer.kernels import RBF, Laplacian, Linear, Matern, Polynomial
from mercer_old.errors import MercerWarning, NoRoom
from support.landmarks import BLOBS, NEW, centred, eigenvalues, landmark

# ---------------------------------------------------------------------- what it must equal


@pytest.mark.filterwarnings("ignore:All rows look nearly the same")
@pytest.mark.parametrize(
    "kernel", [RBF(0.02), RBF(1e-6), Matern(1.5, 3.0), Laplacian(0.05), Polynomial(2, 0.1, 1.0), RBF(0.05) + Linear()]
)
def test_with_every_row_a_landmark_it_is_certified_kernel_pca(kernel):
    by_landmarks, certified = (
        landmark(kernel=kernel, n_landmarks=400, tol=1e-14).fit(BLOBS),
        KernelPCA(5, kernel=kernel).fit(BLOBS),
    )
    top = certified.eigenvalues_[0]
    assert_allclose(by_landmarks.eigenvalues_, certified.eigenvalues_, atol=1e-9 * top)
    assert_allclose(by_landmarks.total_variance_, certified.total_variance_, rtol=1e-8)
    assert_allclose(by_landmarks.explained_variance_ratio_, certified.explained_variance_ratio_, atol=1e-8)
    scores, right = by_landmarks.transform(NEW), certified.transform(NEW)
    signs = np.sign(np.sum(scores * right, axis=0))
    assert_allclose(scores * signs, right, atol=1e-4 * np.abs(right).max())
    if len(by_landmarks.landmarks_) == len(BLOBS):  # else the largest score of a landmark is not that of all rows
        assert np.all(signs > 0)


@pytest.mark.parametrize("offset", [0.0, 100.0])
def test_with_the_linear_kernel_it_is_pca(offset):
    ours, theirs = landmark(3, kernel="linear", n_landmarks=50).fit(BLOBS + offset), PCA(3).fit(BLOBS + offset)
    assert_allclose(ours.explained_variance_, theirs.explained_variance_, rtol=1e-6)
    assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-6)
    assert_allclose(np.abs(ours.transform(NEW)), np.abs(theirs.transform(NEW)), atol=1e-5 * np.abs(NEW).max())
    assert len(ours.landmarks_) <= 5  # four columns and a constant: more rows add nothing


def test_the_factor_is_nystroems_approximation_centred_over_all_rows():
    kernel, chosen = RBF(0.05), np.arange(0, 400, 16)
    model = landmark(6, kernel=kernel, landmarks=chosen).fit(BLOBS)
    K_S, K_SS = kernel.block(BLOBS, BLOBS[chosen]), kernel.block(BLOBS[chosen], BLOBS[chosen])
    K_hat = K_S @ np.linalg.solve(K_SS, K_S.T)
    assert_allclose(model.eigenvalues_, eigenvalues(centred(K_hat))[:6], rtol=1e-9)
    scores = model.transform(BLOBS)
    assert_allclose(scores.T @ scores, np.diag(model.eigenvalues_), atol=1e-8)
    assert_allclose(scores.sum(axis=0), 0, atol=1e-8)
    assert_allclose(model.certificate_.left, np.trace(kernel.block(BLOBS, BLOBS) - K_hat), rtol=1e-8)


def test_scores_of_new_rows_are_those_of_training_rows():
    model = landmark(kernel="rbf", gamma=0.05, n_landmarks=40)
    scores = model.fit_transform(BLOBS)
    assert_allclose(model.transform(BLOBS), scores, atol=1e-12)
    assert_allclose(np.concatenate([model.transform(BLOBS[:7]), model.transform(BLOBS[7:])]), scores, atol=1e-12)
    assert np.ptp(model.component_functions(BLOBS) - scores, axis=0).max() < 1e-9
    assert not hasattr(model, "X_fit_") and not hasattr(model, "eigenvectors_")
    assert_array_equal(model.landmarks_, BLOBS[model.landmark_indices_])
    assert_array_equal(pickle.loads(pickle.dumps(model)).transform(NEW), model.transform(NEW))  # noqa: S301


def test_weights_are_counts():
    weights = np.random.default_rng(0).integers(0, 4, size=len(BLOBS))
    chosen = np.flatnonzero(weights)[::10]
    once = landmark(kernel="rbf", gamma=0.05, landmarks=BLOBS[chosen]).fit(BLOBS, sample_weight=weights)
    often = landmark(kernel="rbf", gamma=0.05, landmarks=BLOBS[chosen]).fit(np.repeat(BLOBS, weights, axis=0))
    for name in ("eigenvalues_", "explained_variance_", "explained_variance_ratio_", "total_variance_"):
        assert_allclose(getattr(once, name), getattr(often, name), rtol=1e-9)
    assert_allclose(once.certificate_.total, often.certificate_.total, rtol=1e-9)
    assert_allclose(once.transform(NEW), often.transform(NEW), atol=1e-8)
    drawn = landmark(kernel="rbf", gamma=0.05, n_landmarks=40).fit(BLOBS, sample_weight=weights)
    assert weights[drawn.landmark_indices_].all()
    assert_array_equal(drawn.landmarks_, BLOBS[drawn.landmark_indices_])
    assert drawn.fit_transform(BLOBS, sample_weight=weights).shape == (len(BLOBS), 5)


@pytest.mark.filterwarnings("ignore:.*landmarks were left out")
def test_sparse_rows_are_as_good_as_dense_ones():
    rows = np.where(np.random.default_rng(0).uniform(size=(300, 20)) < 0.2, 1.0, 0.0)
    for kernel in ("rbf", "linear", "poly", "cosine"):
        a = landmark(kernel=kernel, landmarks=np.arange(60)).fit(sparse.csr_array(rows))
        b = landmark(kernel=kernel, landmarks=np.arange(60)).fit(rows)
        assert_allclose(a.eigenvalues_, b.eigenvalues_, rtol=1e-8)
        assert_allclose(a.transform(sparse.csr_array(rows)), b.transform(rows), atol=1e-7)


# ---------------------------------------------------------------------- exact passes


@pytest.mark.filterwarnings("ignore:The direction of component")
@pytest.mark.parametrize("weighted", [False, True])
def test_an_exact_pass_makes_it_better_and_measures_residuals(weighted):
    kernel, weights = RBF(0.05), np.random.default_rng(0).uniform(0.5, 3, size=len(BLOBS)) if weighted else None
    true = eigenvalues(centred(kernel.block(BLOBS, BLOBS), weights))
    rough = landmark(6, kernel=kernel, n_landmarks=60).fit(BLOBS, sample_weight=weights)
    fine = landmark(6, kernel=kernel, n_landmarks=60, refine=1).fit(BLOBS, sample_weight=weights)
    finer = landmark(6, kernel=kernel, n_landmarks=60, refine=30).fit(BLOBS, sample_weight=weights)
    errors = [np.abs(model.eigenvalues_ - true[:6]).max() for model in (rough, fine, finer)]
    assert errors[1] < 0.1 * errors[0] and errors[2] < 1e-7 * true[0]
    for model in (fine, finer):
        c = model.certificate_
        assert np.all(c.lower <= true[:6] * (1 + 1e-12)) and np.all(true[:6] <= c.upper * (1 + 1e-12))
        assert_allclose(
            model.total_variance_ * (model.explained_variance_ratio_), model.explained_variance_, rtol=1e-12
        )
        if not weighted:
            assert_allclose(model.transform(BLOBS), model.fit_transform(BLOBS), atol=1e-7)
    assert fine.certificate_.passes == 1 and finer.certificate_.certified and len(fine.landmarks_) == 60


# ---------------------------------------------------------------------- unasked


def test_landmarks_come_with_a_warning_where_nothing_certified_fits():
    X = make_blobs(4000, 4, centers=5, random_state=0)[0]
    with pytest.raises(NoRoom, match="30 MB"):
        KernelPCA(5, kernel="rbf", memory_limit="30MB", n_jobs=2, eigen_solver="krylov").fit(X)
    with pytest.warns(MercerWarning, match="Landmarks are used instead"):
        model = KernelPCA(5, kernel="rbf", memory_limit="30MB", n_jobs=2).fit(X)
    assert model.plan_.streams and model.plan_.memory <= 30e6 and model.certificate_.explained[0] > 0


def test_one_exact_pass_where_a_few_would_take_too_long(monkeypatch):
    X = make_blobs(3000, 4, centers=5, random_state=0)[0]
    monkeypatch.setattr(mercer_old.plans.kernel, "_HELD", 100)
    monkeypatch.setattr(mercer_old.plans.kernel, "_BUDGET", 0.06)
    with pytest.warns(MercerWarning, match="so there is only one"):
        model = KernelPCA(5, kernel="rbf", gamma=0.05, n_jobs=1).fit(X)
    assert model.plan_.solver.refine == 1 and model.certificate_.passes == 1
    monkeypatch.setattr(mercer_old.plans.kernel, "_BUDGET", 0.001)
    with pytest.warns(MercerWarning, match="Give max_iter for exact passes"):
        model = KernelPCA(5, kernel="rbf", gamma=0.05, n_jobs=1).fit(X)
    assert model.plan_.streams
    exact = KernelPCA(5, kernel="rbf", gamma=0.05, n_jobs=1, max_iter=50).fit(X)
    assert exact.certificate_.certified and exact.plan_.held == "recomputed"


def test_plans_for_ten_million_rows_are_made_at_once():
    plan = mercer.plan(n_rows=10**7, n_features=50, n_components=20, memory_limit="2GB")
    assert plan.streams and plan.memory < 2e9 and plan.seconds > 0 and "Landmarks are used instead" in str(plan)
