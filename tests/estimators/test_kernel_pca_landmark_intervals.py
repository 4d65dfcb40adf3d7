"""Kernel PCA by landmarks: the truth lies in its intervals."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import mercer_old.plans.kernel
import mercer_old.sweeps.landmarks
from mercer.kernels import RBF, Laplacian, Linear, Matern, Polynomial
from mercer_old.certificates.intervals import _water_level
from mercer_old.errors import BadData, MercerWarning
from mercer_old.sources.held import HeldRows
from mercer_old.sweeps.landmarks import LandmarkMap, sweep_moments
from mercer_old.threads import one_blas_thread
from support.landmarks import BLOBS, assert_truth_in_interval, landmark


@given(
    seed=st.integers(0, 10**6),
    kernel=st.sampled_from(
        [RBF(0.1), RBF(3.0), RBF(1e-4), Laplacian(0.3), Matern(0.5), Polynomial(3, 0.3, 1.0), Linear()]
    ),
    r=st.integers(1, 40),
    k=st.integers(1, 12),
    weighted=st.booleans(),
    offset=st.sampled_from([0.0, 10.0]),
)
def test_the_truth_lies_in_the_intervals(seed, kernel, r, k, weighted, offset):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3)) * rng.choice([0.1, 1.0, 3.0], size=(60, 1)) + offset
    X[40:] = X[:20] if seed % 2 else X[40:]  # duplicates
    weights = rng.uniform(0.1, 5, size=60) if weighted else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MercerWarning)
        model = landmark(k, kernel=kernel, n_landmarks=r, random_state=seed).fit(X, sample_weight=weights)
    assert_truth_in_interval(model, kernel.block(X, X), weights)


@pytest.mark.filterwarnings("ignore::mercer_old.errors.MercerWarning")
@given(
    seed=st.integers(0, 10**6),
    kernel=st.sampled_from([RBF(0.05), Polynomial(2, 0.3, 1.0), Polynomial(3, 0.3, 1.0), Linear()]),
    near=st.sampled_from([1.0, 1e-2, 1e-4, 1e-6, 1e-7]),
    offset=st.sampled_from([0.0, 1e3, 1e6]),
)
def test_the_truth_lies_in_the_intervals_of_landmarks_that_are_nearly_the_same(seed, kernel, near, offset):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 3))
    X[:15] = X[0] + near * rng.normal(size=(15, 3))
    X += offset
    model = landmark(3, kernel=kernel, landmarks=np.arange(15)).fit(X)
    assert_truth_in_interval(model, kernel.block(X, X))
    assert not np.isnan(model.explained_variance_ratio_).any()  # a Mercer kernel is never called anything else


@pytest.mark.parametrize("unit", [1e-50, 1e-20, 1e80, 1e280])
@pytest.mark.parametrize("worth", [0, 10**9], ids=["single", "double"])
def test_weights_of_any_size_only_scale_the_answer(monkeypatch, unit, worth):
    monkeypatch.setattr(mercer_old.sweeps.landmarks, "_WORTH_SINGLE", worth)
    weights = np.random.default_rng(0).uniform(0.5, 2, size=len(BLOBS))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MercerWarning)  # weights that sum to less than 1 are no counts
        usual, scaled = (
            landmark(4, kernel="rbf", gamma=0.3, landmarks=np.arange(30)).fit(BLOBS, sample_weight=w)
            for w in (weights, unit * weights)
        )
    assert_allclose(scaled.eigenvalues_, unit * usual.eigenvalues_, rtol=1e-6)
    assert_allclose(scaled.certificate_.upper, unit * usual.certificate_.upper, rtol=1e-6)
    assert_allclose(scaled.certificate_.explained, usual.certificate_.explained, rtol=1e-6)


@pytest.mark.parametrize("scale", [1e-25, 1e7, 1e20])
def test_rows_of_any_size_are_fitted_whatever_the_precision(monkeypatch, scale):
    monkeypatch.setattr(mercer_old.sweeps.landmarks, "_WORTH_SINGLE", 0)
    model = landmark(3, kernel="linear", landmarks=np.arange(3)).fit(scale * BLOBS)
    usual = landmark(3, kernel="linear", landmarks=np.arange(3)).fit(BLOBS)
    assert_allclose(model.eigenvalues_, scale**2 * usual.eigenvalues_, rtol=1e-4)


def test_an_overflow_is_one_sentence():
    with pytest.raises(BadData, match="gave values that are not finite"):
        landmark(2, kernel="linear", n_landmarks=20).fit(1e160 * BLOBS)


@pytest.mark.filterwarnings("ignore:.*landmarks were left out")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("gamma", [0.003, 0.03, 0.3])
def test_single_precision_stays_inside_the_intervals(monkeypatch, gamma, weighted):
    monkeypatch.setattr(mercer_old.sweeps.landmarks, "_WORTH_SINGLE", 0)
    weights = np.random.default_rng(0).uniform(0.5, 3, size=len(BLOBS)) if weighted else None
    kernel = RBF(gamma)
    for r in (5, 20, 100, 300):
        features, _ = LandmarkMap.of(kernel, BLOBS[:r])
        model = landmark(8, kernel=kernel, landmarks=np.arange(r)).fit(BLOBS, sample_weight=weights) if r > 8 else None
        moments = sweep_moments(features, HeldRows(BLOBS), weights, 2)
        if features.single(len(BLOBS)):
            assert moments.rounding > 1e-7 * moments.diagonal
        if model is not None:
            assert_truth_in_interval(model, kernel.block(BLOBS, BLOBS), weights)


def test_single_precision_is_for_landmarks_that_differ(monkeypatch):
    monkeypatch.setattr(mercer_old.sweeps.landmarks, "_WORTH_SINGLE", 0)
    apart, together = LandmarkMap.of(RBF(0.3), BLOBS[:50])[0], LandmarkMap.of(RBF(1e-5), BLOBS[:50])[0]
    assert apart.single(400) and not together.single(400)


def test_any_number_of_threads_gives_the_same_bits():
    features, _ = LandmarkMap.of(RBF(0.05), BLOBS[:80])
    rows = HeldRows(np.tile(BLOBS, (30, 1)))
    with one_blas_thread():  # as in every fit
        one, two = sweep_moments(features, rows, None, 1), sweep_moments(features, rows, None, 2)
    assert_array_equal(one.square, two.square)
    assert_array_equal(one.total, two.total)
    assert (one.left, one.diagonal, one.roots) == (two.left, two.diagonal, two.roots)


@given(values=st.lists(st.floats(0, 10), min_size=1, max_size=6), amount=st.floats(0, 20))
def test_the_water_level_is_as_high_as_the_amount_allows(values, amount):
    values = np.sort(values)[::-1]
    level = _water_level(values, amount)
    assert np.maximum(level - values, 0).sum() <= amount + 1e-9
    assert np.maximum(level + 1e-6 - values, 0).sum() > amount - 1e-9


def test_incompressible_data_are_said_to_be_so():
    X = np.random.default_rng(0).normal(size=(400, 20))
    with pytest.warns(
        MercerWarning, match="Every row is alone to this kernel: the 30 landmarks see 7.* than themselves"
    ):
        model = landmark(5, kernel="rbf", gamma=5.0, n_landmarks=30).fit(X)
    assert_truth_in_interval(model, RBF(5.0).block(X, X))
    assert model.certificate_.captured < 0.1 and "next to nothing" in str(model.certificate_)
    assert model.explained_variance_ratio_.sum() < 0.05


def test_the_certificate_speaks():
    model = landmark(3, kernel="rbf", gamma=0.05, n_landmarks=100).fit(BLOBS)
    text = str(model.certificate_)
    assert "3 components from 100 landmarks" in text and "refine=1" in text and "known to" in text
    assert not model.certificate_.certified
    same = landmark(3, kernel="rbf", gamma=0.05, n_landmarks=100).fit(BLOBS).certificate_
    other = landmark(3, kernel="rbf", gamma=0.05, n_landmarks=90).fit(BLOBS).certificate_
    assert same == model.certificate_ and hash(same) == hash(model.certificate_) and other != same
