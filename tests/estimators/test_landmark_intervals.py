"""Kernel PCA by landmarks: the exact eigenvalues lie in its intervals, and these are narrow."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mercer.errors import DataError, MercerWarning
from mercer.kernels.base import Blockwise
from mercer.kernels.distance import RBF, Laplacian, Matern
from mercer.kernels.dot import Cosine, Linear, Polynomial
from mercer.linalg.landmarks import accumulate_moments
from support.nystrom import assert_exact_values_in_intervals, centered, eigenvalues, landmark_pca

pytestmark = pytest.mark.filterwarnings("ignore::mercer.errors.MercerWarning")
KERNELS = [
    RBF(0.1),
    RBF(3.0),
    RBF(1e-4),
    Laplacian(0.3),
    Matern(0.5),
    Polynomial(degree=3, gamma=0.3, coef0=1.0),
    Linear(),
    Cosine(),
]


def scattered(seed, n=60):
    """Rows on several scales, with duplicates among them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * rng.choice([0.1, 1.0, 3.0], size=(n, 1))
    X[2 * n // 3 :] = X[: n - 2 * n // 3] if seed % 2 else X[2 * n // 3 :]
    return X


@given(
    seed=st.integers(0, 10**6),
    kernel=st.sampled_from(KERNELS),
    r=st.integers(1, 40),
    k=st.integers(1, 12),
    weighted=st.booleans(),
    offset=st.sampled_from([0.0, 10.0, 1e4]),
    scale=st.sampled_from([1.0, 1e-6]),
)
def test_exact_values_lie_in_the_intervals(seed, kernel, r, k, weighted, offset, scale):
    X = scale * (scattered(seed) + offset)
    weights = np.random.default_rng(seed).uniform(0.1, 5, size=60) if weighted else None
    model = landmark_pca(k, kernel=kernel, n_landmarks=r, random_state=seed).fit(X, sample_weight=weights)
    assert_exact_values_in_intervals(model, kernel.with_origin(X.mean(axis=0))(X, X), weights)


@given(
    seed=st.integers(0, 10**6),
    kernel=st.sampled_from([RBF(0.05), Polynomial(degree=2, gamma=0.3, coef0=1.0), Linear()]),
    near=st.sampled_from([1.0, 1e-2, 1e-4, 1e-6, 1e-7]),
    offset=st.sampled_from([0.0, 1e3, 1e6]),
)
def test_exact_values_lie_in_the_intervals_of_landmarks_that_are_nearly_equal(seed, kernel, near, offset):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 3))
    X[:15] = X[0] + near * rng.normal(size=(15, 3))
    X += offset
    model = landmark_pca(3, kernel=kernel, landmarks=np.arange(15)).fit(X)
    assert_exact_values_in_intervals(model, kernel.with_origin(X.mean(axis=0))(X, X))
    assert not np.isnan(model.explained_variance_ratio_).any()  # a Mercer kernel is never called anything else


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10**6), gamma=st.sampled_from([0.003, 0.03, 0.3]), r=st.sampled_from([20, 100, 300]))
def test_exact_values_lie_in_the_intervals_of_sums_of_kernel_values(seed, gamma, r):
    X = np.random.default_rng(seed).normal(size=(500, 5))
    model = landmark_pca(8, kernel=RBF(gamma), landmarks=np.arange(r)).fit(X)
    assert_exact_values_in_intervals(model, RBF(gamma)(X, X))


@pytest.mark.parametrize("n_landmarks", [3, 12])
def test_directions_are_as_near_as_the_certificate_says(n_landmarks):
    rng = np.random.default_rng(1)
    X = np.repeat(rng.normal(size=(4, 2)) * 5, [90, 60, 30, 20], axis=0) + 0.05 * rng.normal(size=(200, 2))
    model = landmark_pca(3, kernel=RBF(0.5), n_landmarks=n_landmarks).fit(X)
    exact = np.linalg.eigh(centered(RBF(0.5)(X, X)))[1][:, ::-1]
    Z = model.transform(X)
    cosines = np.abs(np.einsum("ij,ij->j", Z / np.linalg.norm(Z, axis=0), exact[:, :3]))
    assert np.all(np.sqrt(1 - np.minimum(cosines, 1) ** 2) <= model.certificate_.angles + 1e-7)
    assert (model.certificate_.angles < 0.3).any() == (n_landmarks == 12)


@pytest.mark.parametrize("rounding", [0.0, 1e-3])
def test_an_exact_pass_bounds_all_others_by_what_the_landmarks_leave(rounding, monkeypatch):
    """Rows (p, q, q) and landmarks that see (p, q): the second eigenvalue is twice what they show of it.

    Rounding may have taken its part of both.
    """
    p, q = 3 * np.tile([1.0, -1.0], 60), np.repeat([1.0, -1.0], 60)
    exact = 2 * float(q @ q)

    def rounded(*args):
        m = accumulate_moments(*args)
        lost = rounding * np.eye(2)
        return replace(m, scatter=m.scatter - lost, left=m.left - rounding, rounding=m.rounding + rounding)

    monkeypatch.setattr("mercer.estimators._kernel_landmarks.accumulate_moments", rounded)
    X = np.column_stack([p, q, q])
    model = landmark_pca(1, kernel="linear", landmarks=np.eye(2, 3), refine=1).fit(X)
    assert_allclose(model.eigenvalues_, [p @ p], rtol=1e-12)
    assert exact <= model.certificate_.bound_beyond * (1 + 1e-14)
    assert model.certificate_.bound_beyond <= exact + 2 * rounding + 1e-9


def test_intervals_stay_narrow_for_many_kernel_entries():
    """70 distinct rows, each 5,000 times: the landmarks leave nothing, so the intervals are rounding."""
    rng = np.random.default_rng(0)
    S = rng.normal(size=(70, 6))
    counts = np.full(70, 5000)
    model = landmark_pca(5, kernel=RBF(0.1), landmarks=S).fit(np.repeat(S, counts, axis=0))
    exact = eigenvalues(centered(RBF(0.1)(S, S), counts.astype(float)))[:5]
    certificate = model.certificate_
    assert np.all((certificate.lower <= exact) & (exact <= certificate.upper))
    assert np.all(certificate.upper - certificate.lower <= 1e-7 * exact)


def test_sums_of_kernel_values_widen_intervals_by_a_few_percent():
    """Where landmarks leave much, rounding may be larger, but never a large part of what they leave."""
    X = np.random.default_rng(0).normal(size=(3000, 10))
    certificate = landmark_pca(5, kernel=RBF(0.05), n_landmarks=300).fit(X).certificate_
    assert certificate.rounding <= 0.05 * certificate.left


@pytest.mark.parametrize("unit", [1e-50, 1e-20, 1e80, 1e280])
def test_weights_of_any_size_only_scale_the_result(unit):
    X = scattered(0, 200)
    weights = np.random.default_rng(0).uniform(0.5, 2, size=len(X))
    usual, scaled = (
        landmark_pca(4, kernel=RBF(0.3), landmarks=np.arange(30)).fit(X, sample_weight=w)
        for w in (weights, unit * weights)
    )
    assert_allclose(scaled.eigenvalues_, unit * usual.eigenvalues_, rtol=1e-9)
    assert_allclose(scaled.certificate_.upper, unit * usual.certificate_.upper, rtol=1e-6)
    assert_allclose(scaled.certificate_.explained, usual.certificate_.explained, rtol=1e-6)


@pytest.mark.parametrize("scale", [1e-60, 1e-25, 1e7, 1e60])
def test_rows_of_any_size(scale):
    X = scattered(0)
    model, usual = (landmark_pca(3, kernel="linear", landmarks=np.arange(5)).fit(s * X) for s in (scale, 1.0))
    assert_allclose(model.eigenvalues_, scale**2 * usual.eigenvalues_, rtol=1e-9)


def test_an_overflow_is_reported():
    with pytest.raises(DataError, match="overflow"):
        landmark_pca(2, kernel="linear", n_landmarks=20).fit(1e160 * scattered(0))


def test_data_that_do_not_compress():
    X = np.random.default_rng(0).normal(size=(300, 5))
    certificate = landmark_pca(2, kernel=RBF(1e3), n_landmarks=10).fit(X).certificate_
    assert certificate.captured < 0.1
    assert "do not compress" in str(certificate)
    assert not certificate.certified
    assert certificate.converged


def test_summary_and_dict():
    certificate = landmark_pca(2, kernel=RBF(0.1), n_landmarks=10).fit(scattered(0)).certificate_
    assert "NOT certified" in certificate.summary
    assert str(certificate).startswith(certificate.summary)
    assert certificate.to_dict()["n_landmarks"] == certificate.n_landmarks


def test_a_kernel_that_is_not_positive_semi_definite_has_no_intervals():
    with pytest.warns(MercerWarning, match="not positive semi-definite"):
        model = landmark_pca(2, kernel="sigmoid", gamma=1.0, coef0=-1.0, n_landmarks=8).fit(scattered(2))
    assert model.certificate_.status == "invalid"
    assert np.isnan(model.explained_variance_ratio_).all()


def test_distances_are_not_taken_for_a_kernel_of_equal_samples():
    """k(x, x) = 0 for all x: the landmarks see nothing and leave nothing."""
    distances = Blockwise(lambda A, B: np.linalg.norm(A[:, None] - B, axis=2))
    with pytest.warns(MercerWarning, match="not positive semi-definite"):
        model = landmark_pca(2, kernel=distances, n_landmarks=8).fit(scattered(0))
    assert model.certificate_.status == "invalid"


def test_a_function_is_taken_to_be_positive_semi_definite():
    def similarity(x, y):
        return float(np.exp(-np.abs(x - y).sum()))

    model = landmark_pca(2, kernel=similarity, n_landmarks=15).fit(scattered(0))
    assert model.certificate_.status == "assumed"
    assert "if the kernel is positive semi-definite" in model.certificate_.summary
