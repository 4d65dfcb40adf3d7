"""Kernel PCA by landmarks: the truth lies in its intervals, and with all rows as landmarks it is kernel PCA."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_swiss_roll
from sklearn.decomposition import PCA

import mercer.plans.kernel
import mercer.sweeps.landmarks
from mercer import KernelPCA
from mercer.certificates.intervals import water_level
from mercer.errors import BadData, MercerWarning, NoRoom
from mercer.kernels import RBF, Blockwise, Laplacian, Linear, Matern, Polynomial
from mercer.sources.held import HeldRows
from mercer.sources.items import Rows
from mercer.sweeps.landmarks import LandmarkMap, sweep_moments
from mercer.threads import one_blas_thread

BLOBS = make_blobs(400, 4, centers=5, random_state=0)[0]
ROLL = make_swiss_roll(300, random_state=1)[0] / 10
NEW = np.random.default_rng(9).normal(size=(50, 4)) * 5


def landmark(k=5, **params):
    return KernelPCA(k, eigen_solver="landmark", **params)


def centred(K, weights=None):
    """P S K S P by its formula."""
    root = np.ones(len(K)) if weights is None else np.sqrt(weights)
    s = root / np.linalg.norm(root)
    P = np.eye(len(K)) - np.outer(s, s)
    return P @ (root[:, None] * K * root) @ P


def eigenvalues(A):
    return np.maximum(np.linalg.eigvalsh(A)[::-1], 0.0)


# ---------------------------------------------------------------------------- what it must equal


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


# ---------------------------------------------------------------------------- what is proven


def assert_truth_in_interval(model, K, weights=None):
    true = eigenvalues(centred(K, weights))
    c, k = model.certificate_, len(model.eigenvalues_)
    slack = 1e-14 * max(true.sum(), np.trace(K))  # LAPACK's own rounding
    assert np.all(c.lower <= true[:k] + slack) and np.all(true[:k] <= c.upper + slack)
    assert c.total[0] - slack <= true.sum() <= c.total[1] + slack
    if true.sum() > slack:
        assert c.explained[0] - 1e-12 <= true[:k].sum() / true.sum() <= c.explained[1] + 1e-12
    assert c.captured <= 1 and c.explained[0] <= c.explained[1]


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


@pytest.mark.filterwarnings("ignore::mercer.errors.MercerWarning")
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
    monkeypatch.setattr(mercer.sweeps.landmarks, "WORTH_SINGLE", worth)
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
    monkeypatch.setattr(mercer.sweeps.landmarks, "WORTH_SINGLE", 0)
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
    monkeypatch.setattr(mercer.sweeps.landmarks, "WORTH_SINGLE", 0)
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
    monkeypatch.setattr(mercer.sweeps.landmarks, "WORTH_SINGLE", 0)
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
    level = water_level(values, amount)
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


# ---------------------------------------------------------------------------- exact passes


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


# ---------------------------------------------------------------------------- parameters


@pytest.mark.parametrize("params", [dict(n_landmarks=30), dict(landmarks=np.arange(30)), dict(refine=1)])
def test_who_speaks_of_landmarks_gets_them(params):
    assert KernelPCA(3, kernel="rbf", **params).fit(BLOBS).plan_.held == "landmarks"
    with pytest.raises(ValueError, match=f"{next(iter(params))} is for eigen_solver=\"landmark\"; .*'dense' has none"):
        KernelPCA(3, kernel="rbf", eigen_solver="dense", **params).fit(BLOBS)


@pytest.mark.filterwarnings("ignore:The .* landmarks see only")
def test_landmarks_may_be_given_as_numbers_or_as_rows():
    by_number = landmark(kernel="rbf", landmarks=[3, 50, 99, 200, 301, 7]).fit(BLOBS)
    by_row = landmark(kernel="rbf", landmarks=BLOBS[[3, 50, 99, 200, 301, 7]]).fit(BLOBS)
    assert_allclose(by_number.eigenvalues_, by_row.eigenvalues_, rtol=1e-12)
    assert sorted(by_number.landmark_indices_) == [3, 7, 50, 99, 200, 301] and not hasattr(by_row, "landmark_indices_")
    elsewhere = landmark(3, kernel="rbf", gamma=0.05, landmarks=NEW[:20]).fit(BLOBS)
    assert_truth_in_interval(elsewhere, RBF(0.05).block(BLOBS, BLOBS))


@pytest.mark.parametrize(
    ("landmarks", "words"),
    [
        ([0, 400], "numbers of rows from 0 to 399; 400 is none of them"),
        ([-1], "from 0 to 399; -1 is none"),
        ([0.5, 1.5], "whole numbers of rows, or rows; got float64"),
        (np.ones((3, 7)), r"rows of 4 columns like X; got an array of shape \(3, 7\)"),
        (np.full((3, 4), np.nan), "must be finite"),
        (np.empty((0, 4)), r"got an array of shape \(0, 4\)"),
        ([], r"got an array of shape \(0,\)"),
    ],
)
def test_landmarks_that_are_none_are_refused(landmarks, words):
    with pytest.raises(BadData, match=words):
        landmark(kernel="rbf", landmarks=landmarks).fit(BLOBS)


def test_parameters_that_contradict_each_other_are_refused():
    with pytest.raises(ValueError, match="n_landmarks or the landmarks themselves, not both"):
        landmark(n_landmarks=5, landmarks=[1, 2]).fit(BLOBS)
    with pytest.raises(ValueError, match="landmarks must be numbers of rows, or rows; got array"):
        landmark(landmarks=np.array(3)).fit(BLOBS)


def test_scores_keep_the_index_of_a_frame():
    frame = pd.DataFrame(BLOBS, columns=list("abcd"), index=np.arange(1000, 1400))
    scores = landmark(2, kernel="rbf", n_landmarks=20).set_output(transform="pandas").fit_transform(frame)
    assert list(scores.index[:2]) == [1000, 1001] and list(scores.columns) == ["kernelpca0", "kernelpca1"]


@pytest.mark.filterwarnings("ignore:The .* landmarks see only")
def test_copies_among_given_landmarks_are_left_out_and_told():
    with pytest.warns(MercerWarning, match="3 of the 8 landmarks were left out: they are copies"):
        model = landmark(2, kernel="rbf", landmarks=[0, 1, 2, 3, 4, 0, 1, 2]).fit(BLOBS)
    assert len(model.landmarks_) == 5


def test_landmarks_end_when_they_see_enough():
    few = landmark(3, kernel="rbf", gamma=1e-4, n_landmarks=300).fit(BLOBS)
    many = landmark(3, kernel="rbf", gamma=1e-4, n_landmarks=300, tol=1e-10).fit(BLOBS)
    assert len(few.landmarks_) < len(many.landmarks_) < 300
    for model, unseen in ((few, 1e-6), (many, 1e-10)):
        c = model.certificate_
        assert c.left - c.rounding <= 1.1 * unseen * c.total[1]
        assert_truth_in_interval(model, RBF(1e-4).block(BLOBS, BLOBS))


def test_more_landmarks_than_distinct_rows_are_not_taken():
    X = np.tile(BLOBS[:12], (20, 1))
    model = landmark(4, kernel="rbf", gamma=0.05, n_landmarks=100).fit(X)
    assert len(model.landmarks_) == 12 == model.certificate_.n_landmarks
    assert_allclose(model.eigenvalues_, KernelPCA(4, kernel="rbf", gamma=0.05).fit(X).eigenvalues_, rtol=1e-8)
    assert landmark(4, kernel="rbf", n_landmarks=10**6).fit(BLOBS[:30]).plan_.solver.count == 30


@pytest.mark.filterwarnings("ignore:The .* landmarks see only")
def test_more_components_than_landmarks_are_told():
    with pytest.warns(MercerWarning, match="n_components=9 is more than the 5 landmarks"):
        model = landmark(9, kernel="rbf", landmarks=np.arange(5)).fit(BLOBS)
    assert model.transform(NEW).shape == (50, 5)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("rows", [np.zeros((50, 3)), np.full((50, 3), 7.0)], ids=["zero", "seven"])
def test_equal_rows_are_told(kernel, rows):
    with pytest.warns(MercerWarning, match="All rows look the same"):
        model = landmark(1, kernel=kernel).fit(rows)
    assert (
        not model.eigenvalues_.any() and not model.transform(rows).any() and not model.explained_variance_ratio_.any()
    )


def test_one_row_is_a_fit_too():
    with pytest.warns(MercerWarning, match="All rows look the same"):
        model = landmark(1, kernel="rbf").fit(BLOBS[:1])
    assert model.eigenvalues_ == 0 and model.explained_variance_ == 0


def test_a_share_of_the_variance_is_reached_for_certain():
    model = landmark(0.9, kernel="rbf", gamma=0.05, n_landmarks=200).fit(BLOBS)
    k, true = len(model.eigenvalues_), eigenvalues(centred(RBF(0.05).block(BLOBS, BLOBS)))
    assert model.certificate_.explained[0] >= 0.9 - 1e-9 and true[:k].sum() / true.sum() >= 0.9
    assert true[: k - 1].sum() / true.sum() < 0.9
    with pytest.warns(MercerWarning, match="the landmarks see only .* Give more n_landmarks"):
        landmark(0.99, kernel="rbf", gamma=0.5, n_landmarks=20).fit(BLOBS)


def test_all_components_of_the_landmarks_can_be_had():
    model = landmark(None, kernel="rbf", gamma=0.05, n_landmarks=30).fit(BLOBS)
    assert 28 <= len(model.eigenvalues_) <= 30 and np.all(model.eigenvalues_ > 0)


def test_a_kernel_that_is_no_kernel_is_told():
    with pytest.warns(MercerWarning, match="not positive semi-definite"):
        model = landmark(2, kernel="sigmoid", gamma=0.5, coef0=-1.0, n_landmarks=20).fit(BLOBS)
    assert np.isnan(model.explained_variance_ratio_).all()
    assert model.certificate_.standing == "void" and "NOTHING is proven" in str(model.certificate_)
    assert not model.certificate_.converged and np.all(model.certificate_.upper == np.inf)


def test_what_is_proven_of_a_function_rests_on_the_word_of_its_author():
    model = landmark(3, kernel=Blockwise(RBF(0.05).block), n_landmarks=25).fit(BLOBS)
    assert model.certificate_.standing == "if" and "if the kernel is positive semi-definite" in str(model.certificate_)
    assert landmark(3, kernel=RBF(0.05), n_landmarks=25).fit(BLOBS).certificate_.standing == "proven"


def test_the_way_back_is_learned_on_the_landmarks():
    model = landmark(4, kernel="rbf", gamma=0.02, n_landmarks=150, fit_inverse_transform=True, alpha=1e-4)
    back = model.inverse_transform(model.fit_transform(BLOBS))
    assert model.dual_coef_.shape == (len(model.landmarks_), 4) and model.X_transformed_fit_.shape[1] == 4
    assert np.mean((back - BLOBS) ** 2) < 0.2 * np.mean((BLOBS - BLOBS.mean(axis=0)) ** 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MercerWarning)
        refined = clone(model).set_params(refine=1).fit(BLOBS)
    assert refined.dual_coef_.shape == (len(refined.landmarks_), 4)  # no n×n matrix for this either


def test_the_way_back_from_landmarks_reads_no_row_of_a_file_again(tmp_path, monkeypatch):
    rows = np.random.default_rng(0).normal(size=(80_000, 2)) @ np.ones((2, 60))
    np.save(tmp_path / "rows.npy", rows)
    model = landmark(3, kernel="rbf", gamma=1e-3, n_landmarks=50, fit_inverse_transform=True, memory_limit="36 MB")
    assert model.plan(tmp_path / "rows.npy").memory < rows.nbytes
    monkeypatch.setattr(Rows, "load", lambda *_: pytest.fail("all rows were loaded"))
    model.fit(tmp_path / "rows.npy")
    assert model.dual_coef_.shape == (len(model.landmarks_), 60)


def test_a_precomputed_matrix_is_refused_and_a_function_of_item_numbers_is_the_way_out():
    K = RBF(0.05).block(BLOBS, BLOBS)
    with pytest.raises(ValueError, match="takes rows and a kernel, not a precomputed matrix"):
        landmark(kernel="precomputed").fit(K)
    asked = []

    def columns(a, b):
        asked.append((len(a), len(b)))
        return K[np.ix_(a[:, 0].astype(int), b[:, 0].astype(int))]

    model = landmark(3, kernel=Blockwise(columns), n_landmarks=25).fit(np.arange(400)[:, None])
    assert_truth_in_interval(model, K)
    assert all(min(shape) <= 64 for shape in asked)  # never all of it


def test_a_refit_forgets_what_it_does_not_have():
    model = landmark(3, kernel="rbf").fit(BLOBS).set_params(eigen_solver="auto").fit(BLOBS)
    assert hasattr(model, "X_fit_") and not hasattr(model, "landmarks_") and not hasattr(model, "landmark_indices_")
    model.set_params(eigen_solver="landmark").fit(BLOBS)
    assert hasattr(model, "landmarks_") and not hasattr(model, "X_fit_") and not hasattr(model, "eigenvectors_")


def test_the_same_seed_gives_the_same_model_and_another_one_another():
    a, b, c = (landmark(3, kernel="rbf", n_landmarks=20, random_state=seed).fit(BLOBS) for seed in (1, 1, 2))
    assert_array_equal(a.transform(NEW), b.transform(NEW))
    assert set(a.landmark_indices_) != set(c.landmark_indices_)
    assert clone(a).get_params() == a.get_params()


def test_float32_rows_give_float32_scores():
    model = landmark(3, kernel="rbf", n_landmarks=20).fit(BLOBS.astype(np.float32))
    assert model.transform(BLOBS.astype(np.float32)).dtype == np.float32 and model.landmarks_.dtype == np.float32


def test_a_small_sample_to_choose_from_does(monkeypatch):
    monkeypatch.setattr(mercer.plans.kernel, "CHOSEN_FROM", 3)
    monkeypatch.setattr(mercer.plans.kernel, "CHOSEN_ENTRIES", 0)
    model = landmark(3, kernel="rbf", gamma=0.05, n_landmarks=30).fit(BLOBS)
    assert model.plan_.solver.sample == 90
    assert_array_equal(model.landmarks_, BLOBS[model.landmark_indices_])
    assert_truth_in_interval(model, RBF(0.05).block(BLOBS, BLOBS))


# ---------------------------------------------------------------------------- unasked


def test_landmarks_come_with_a_warning_where_nothing_certified_fits():
    X = make_blobs(4000, 4, centers=5, random_state=0)[0]
    with pytest.raises(NoRoom, match="30 MB"):
        KernelPCA(5, kernel="rbf", memory_limit="30MB", n_jobs=2, eigen_solver="krylov").fit(X)
    with pytest.warns(MercerWarning, match="Landmarks are used instead"):
        model = KernelPCA(5, kernel="rbf", memory_limit="30MB", n_jobs=2).fit(X)
    assert model.plan_.streams and model.plan_.memory <= 30e6 and model.certificate_.explained[0] > 0


def test_one_exact_pass_where_a_few_would_take_too_long(monkeypatch):
    X = make_blobs(3000, 4, centers=5, random_state=0)[0]
    monkeypatch.setattr(mercer.plans.kernel, "HELD", 100)
    monkeypatch.setattr(mercer.plans.kernel, "BUDGET", 0.06)
    with pytest.warns(MercerWarning, match="so there is only one"):
        model = KernelPCA(5, kernel="rbf", gamma=0.05, n_jobs=1).fit(X)
    assert model.plan_.solver.refine == 1 and model.certificate_.passes == 1
    monkeypatch.setattr(mercer.plans.kernel, "BUDGET", 0.001)
    with pytest.warns(MercerWarning, match="Give max_iter for exact passes"):
        model = KernelPCA(5, kernel="rbf", gamma=0.05, n_jobs=1).fit(X)
    assert model.plan_.streams
    exact = KernelPCA(5, kernel="rbf", gamma=0.05, n_jobs=1, max_iter=50).fit(X)
    assert exact.certificate_.certified and exact.plan_.held == "recomputed"


def test_plans_for_ten_million_rows_are_made_at_once():
    plan = mercer.plan(n_rows=10**7, n_features=50, n_components=20, memory_limit="2GB")
    assert plan.streams and plan.memory < 2e9 and plan.seconds > 0 and "Landmarks are used instead" in str(plan)


# ---------------------------------------------------------------------------- while it lasts


def test_progress_moves_while_landmarks_are_drawn_and_says_what_is_being_done():
    seen = []
    landmark(3, kernel="rbf", gamma=0.05, n_landmarks=200, refine=1, tol=1e-12, progress=seen.append).fit(BLOBS)
    shares, words = [state.share for state in seen], [state.words for state in seen]
    drawn = shares[: words.count("drawing landmarks")]
    assert len(drawn) > 3 and 0 < drawn[0] < 0.2 and drawn[-1] == pytest.approx(1 / 3)
    assert shares == sorted(shares) and shares[-1] == 1
    assert list(dict.fromkeys(words)) == [
        "drawing landmarks",
        "one sweep over the rows",
        "passes over the kernel matrix",
    ]


def test_landmarks_that_were_given_are_not_drawn():
    seen = []
    landmark(3, kernel="rbf", gamma=0.05, landmarks=np.arange(0, 400, 10), progress=seen.append).fit(BLOBS)
    assert {state.words for state in seen} == {"one sweep over the rows"} and seen[-1].share == 1


def test_what_stops_the_drawing_of_landmarks_stops_the_fit_and_leaves_blas_as_it_was():
    from threadpoolctl import threadpool_info

    before = [pool["num_threads"] for pool in threadpool_info()]

    def stop(state):
        assert state.words == "drawing landmarks"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        landmark(3, kernel="rbf", gamma=0.05, progress=stop).fit(BLOBS)
    assert [pool["num_threads"] for pool in threadpool_info()] == before


def test_more_landmarks_are_advised_only_where_they_would_see_more():
    rows = np.random.default_rng(0).normal(size=(120, 4))
    for kernel, count, advised in (("rbf", 30, True), ("rbf", 120, False), ("linear", 30, False)):
        model = KernelPCA(2, kernel=kernel, n_landmarks=count, eigen_solver="landmark").fit(rows)
        assert ("Give more n_landmarks" in str(model.certificate_)) == advised
