"""Landmarks: who speaks of them gets them, as many as there are, and is told what they do not see."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import mercer_old.plans.kernel
import mercer_old.sweeps.landmarks
from mercer import KernelPCA
from mercer.kernels import RBF, Blockwise
from mercer_old.errors import BadData, MercerWarning
from mercer_old.sources.items import Rows
from support.landmarks import BLOBS, NEW, assert_truth_in_interval, centred, eigenvalues, landmark

# ---------------------------------------------------------------------- parameters


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
    with pytest.warns(MercerWarning, match="one row alone to learn from"):
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
    monkeypatch.setattr(mercer_old.plans.kernel, "_CHOSEN_FROM", 3)
    monkeypatch.setattr(mercer_old.plans.kernel, "_CHOSEN_ENTRIES", 0)
    model = landmark(3, kernel="rbf", gamma=0.05, n_landmarks=30).fit(BLOBS)
    assert model.plan_.solver.sample == 90
    assert_array_equal(model.landmarks_, BLOBS[model.landmark_indices_])
    assert_truth_in_interval(model, RBF(0.05).block(BLOBS, BLOBS))


# ---------------------------------------------------------------------- while it lasts


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
