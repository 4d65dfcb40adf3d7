"""`mercer.stability`: populations whose components are known, copies of rows, every kind of model, and bad input."""

import tracemalloc
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import mercer
from mercer import PCA, IncrementalPCA, KernelPCA, LocallyLinearEmbedding
from mercer.datasets import VOC, three_clusters
from mercer.kernels import Spectrum
from mercer_old.errors import BadData, MercerWarning
from mercer_old.readings.stability import Group
from mercer_old.studies.stable import in_plain_words
from support.silence import quiet


def normal(deviations, n=200, seed=0):
    return np.random.default_rng(seed).standard_normal((n, len(deviations))) * deviations


def kinds(found):
    return [(group.first, group.last, group.kind) for group in found.groups]


# ---------------------------------------------------------------------- known populations


def test_spikes_are_stable_and_their_intervals_tight():
    found = mercer.stability(PCA(2), normal([8, 3, 1, 1, 1, 1]))
    assert kinds(found) == [(1, 1, "axis"), (2, 2, "axis")]
    assert found.verdict == "Components 1 and 2 are stable."
    assert found.n_stable == 2
    width = found.axes_high[0] - found.axes_low[0]
    # Anderson's limit: the entry along an axis of variance μ has variance λμ/(n(λ − μ)²), here λ = 64, μ = 1.
    assert width[2:] == pytest.approx(2 * 1.96 * np.sqrt(64 / (200 * 63**2)), rel=0.6)
    assert np.all((found.axes_low[0] <= found.axes[0]) & (found.axes[0] <= found.axes_high[0]))


def test_equal_variances_are_a_plane_and_its_axes_are_not_stable():
    found = mercer.stability(PCA(3), normal([6, 3, 3, 1, 1, 1, 1]))
    assert kinds(found) == [(1, 1, "axis"), (2, 3, "together")]
    assert "components 2 and 3 exchange places: read them as a plane" in found.verdict
    assert np.quantile(found.angles[:, 1], 0.9) > 20 > np.quantile(found.angles[:, 2], 0.9)


def test_noise_is_said_to_be_noise():
    for n, d, k in ((200, 20, 5), (40, 100, 3), (300, 3, 3)):
        found = mercer.stability(PCA(k), normal(np.ones(d), n))
        assert kinds(found) == [(1, k, "noise")]
        assert found.n_stable == 0
        assert found.verdict.startswith(f"Components 1–{k} are noise")


def test_three_clusters_are_a_plane_of_kernel_pca_and_six_directions_within_them():
    """Two components tell three clusters apart, and two more look inside each of them."""
    X, _ = three_clusters(100)
    found = mercer.stability(KernelPCA(8, kernel="rbf", gamma=10.0), X)
    assert kinds(found) == [(1, 2, "together"), (3, 8, "together")]


def test_an_isotropic_plane_seems_to_have_an_axis_about_once_in_ten_samples():
    """The gap of two equal variances is 2√(a² + b²) and what turns the axes is b, for normal a and b of one size.

    20° in nine of ten draws take a gap of 2·1.64/tan 40° = 3.9 deviations, which chance gives with a probability of
    exp(−1.95²/2) ≈ 0.15, before the gaps of draws vary as well.
    """
    wrong = sum(mercer.stability(PCA(1), normal([1, 1], 100, seed)).n_stable for seed in range(60))
    assert wrong <= 18  # of 60 with a chance of 0.15: more than 18 happens once in a thousand


def test_intervals_cover_the_true_axis():
    """Of 95 %, on 100 samples: the entries of the first axis beside its own, which is 1 at most."""
    covered = []
    for seed in range(100):
        found = mercer.stability(PCA(1), normal([4, 1, 1, 1], 120, seed), n_boot=40)
        low, high = found.axes_low[0, 1:], found.axes_high[0, 1:]
        covered.append((low <= 0) & (high >= 0))
    assert 0.9 <= np.mean(covered) <= 0.985


def test_spread_of_scores_is_that_of_fits_of_repeated_rows():
    X = normal([4, 2, 1], 40)
    found = mercer.stability(PCA(1), X, n_boot=20, random_state=5)
    rng, scores = np.random.default_rng(5), []
    reference = PCA(1).fit(X)
    for _ in range(20):
        counts = rng.multinomial(40, np.full(40, 1 / 40))
        drawn = PCA(1).fit(np.repeat(X, counts, axis=0))
        sign = np.sign(drawn.components_[0] @ reference.components_[0])
        scores.append(sign * drawn.transform(X))
    assert found.spread == pytest.approx(np.std(scores, axis=0, ddof=1), rel=1e-8)
    assert found.scores == pytest.approx(reference.transform(X))
    assert found.axes == pytest.approx(reference.components_)


# ---------------------------------------------------------------------- models and rows of all kinds


def test_the_linear_kernel_is_as_sure_as_pca():
    X = normal([5, 2, 1, 1], 80)
    by_columns, by_kernel = (mercer.stability(model, X, random_state=1) for model in (PCA(2), KernelPCA(2)))
    assert by_kernel.angles == pytest.approx(by_columns.angles, abs=1e-4)
    assert by_kernel.spread == pytest.approx(by_columns.spread, rel=1e-6)
    assert by_kernel.axes is None


def test_a_fitted_model_and_one_that_is_not_say_the_same_and_stay_as_they_are():
    X = normal([5, 2, 1], 50)
    model = KernelPCA(2, kernel="rbf", gamma=0.02)
    before = mercer.stability(model, X)
    assert not hasattr(model, "eigenvalues_")
    after = mercer.stability(model.fit(X), X)
    assert np.array_equal(before.angles, after.angles)
    assert after.scores == pytest.approx(model.transform(X), abs=1e-8)
    assert not np.array_equal(after.angles, mercer.stability(model, X, random_state=1).angles)


@pytest.mark.parametrize(
    "model",
    [
        PCA(2),
        IncrementalPCA(2),
        PCA(2, whiten=True),
        PCA(2, standardize=True),
        KernelPCA(2, kernel="rbf", n_landmarks=20),
    ],
    ids=repr,
)
def test_every_model_of_components_has_an_answer(model):
    found = mercer.stability(model, normal([5, 2, 1, 1], 90), n_boot=10)
    assert found.angles.shape == (10, 2)
    assert found.spread.shape == (90, 2)


def test_more_columns_than_can_be_drawn_from_are_turned_first():
    X = normal(np.append([30, 20], np.ones(450)), 60)
    wide = mercer.stability(PCA(2), X, n_boot=10)
    assert wide.axes.shape == (2, 452)
    assert np.abs(wide.axes) == pytest.approx(np.abs(PCA(2).fit(X).components_), abs=1e-8)
    assert kinds(wide) == [(1, 1, "axis"), (2, 2, "axis")]


def test_many_rows_are_seen_by_landmarks_as_they_are():
    X, _ = three_clusters(200)
    model = KernelPCA(2, kernel="rbf", gamma=1.0)
    found = mercer.stability(model, X, n_boot=10)
    assert found.seen > 0.999
    assert found.variances == pytest.approx(model.fit(X).explained_variance_, rel=1e-6)


def test_texts_precomputed_matrices_sparse_rows_and_files(tmp_path):
    assert mercer.stability(KernelPCA(3, kernel=Spectrum(2)), VOC, n_boot=5).spread.shape == (35, 3)
    X = normal([5, 2, 1], 40)
    np.save(tmp_path / "x.npy", X)
    plain = mercer.stability(PCA(2), X, n_boot=5)
    assert np.array_equal(mercer.stability(PCA(2), tmp_path / "x.npy", n_boot=5).angles, plain.angles)
    assert mercer.stability(PCA(2), sparse.csr_array(X), n_boot=5).angles == pytest.approx(plain.angles, abs=1e-5)
    given = mercer.stability(KernelPCA(2, kernel="precomputed"), X @ X.T, n_boot=5)
    assert given.angles == pytest.approx(mercer.stability(KernelPCA(2), X, n_boot=5).angles, abs=1e-4)


def test_copies_of_rows_make_it_look_surer_by_the_root_of_their_number():
    """A draw of 4n rows from n, each four times there: moments of draws have a quarter of the variance they had."""
    X = normal([4, 1, 1], 60)
    once, four = (mercer.stability(PCA(1), rows, n_boot=200) for rows in (X, np.repeat(X, 4, axis=0)))
    width = np.mean(once.axes_high - once.axes_low) / np.mean(four.axes_high - four.axes_low)
    assert width == pytest.approx(2.0, rel=0.25)


def test_place_and_unit_do_not_matter():
    X = normal([5, 2, 1], 50)
    plain = mercer.stability(PCA(2), X, n_boot=5)
    for other in (X + 1e6, 1e-150 * X, 1e150 * X):
        assert mercer.stability(PCA(2), other, n_boot=5).angles == pytest.approx(plain.angles, abs=1e-4)


def test_fewer_directions_than_components_are_told():
    rows = np.repeat(normal([3, 1], 4), 3, axis=0)  # in a plane
    with pytest.warns(
        MercerWarning, match=r"3 components are more than the 2 directions in which the rows vary; 2 are looked at"
    ):
        found = mercer.stability(KernelPCA(3, kernel="linear").fit(rows), rows)
    assert found.angles.shape[1] == 2


def test_a_direction_that_is_left_is_as_sure_as_the_others():
    found = mercer.stability(PCA(2), np.outer(normal([1], 40)[:, 0], [1.0, 2.0, 3.0]) + normal([0, 0.1, 0], 40, 1))
    assert kinds(found) == [(1, 1, "axis"), (2, 2, "axis")]


def test_progress_is_told():
    seen = []
    mercer.stability(PCA(1), normal([2, 1], 20), n_boot=4, progress=lambda state: seen.append(state.share))
    assert seen == pytest.approx([0.25, 0.5, 0.75, 1.0])


# ---------------------------------------------------------------------- words


def test_the_record_prints_a_line_for_every_component_and_the_verdict():
    lines = str(mercer.stability(PCA(3), normal([6, 3, 3, 1, 1]))).splitlines()
    assert len(lines) == 1 + 3 + 1
    assert lines[1].endswith("stable") and lines[2].endswith("stable together")
    assert lines[-1].endswith("(50 draws of 200 rows.)")


def test_verdicts_are_sentences():
    groups = [Group(1, 1, "axis"), Group(2, 4, "together"), Group(5, 5, "axis"), Group(6, 6, "noise")]
    assert in_plain_words(groups) == (
        "Components 1 and 5 are stable; components 2–4 turn into each other: read them as one space of 3 dimensions; "
        "component 6 is noise: other rows of the same kind would give another direction."
    )
    assert in_plain_words([Group(1, 1, "axis"), Group(2, 3, "rest")]).endswith(
        "; components 2 and 3 fill up what is left of the space, and no direction in it stands out."
    )


# ---------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("model", "rows", "asked", "words"),
    [
        (PCA(1), normal([2, 1], 20), {"n_boot": 1}, "n_boot must be a whole number of at least 2"),
        (PCA(1), normal([2, 1], 20), {"n_boot": True}, "n_boot must be a whole number of at least 2"),
        (PCA(1), normal([2, 1], 20), {"random_state": "x"}, "random_state"),
        (PCA(1), normal([2, 1], 2), {}, "give at least 3"),
        (PCA(1), np.full((5, 2), np.nan), {}, "NaN"),
        (LocallyLinearEmbedding(), normal([2, 1], 20), {}, "PCA, IncrementalPCA or KernelPCA"),
        ("PCA", normal([2, 1], 20), {}, "got 'str'"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(model, rows, asked, words):
    with pytest.raises(ValueError, match=words) as told:
        mercer.stability(model, rows, **asked)
    assert "\n" not in str(told.value)


@quiet
def test_rows_that_are_all_the_same_are_told():
    for model in (PCA(1), KernelPCA(1, kernel="rbf")):
        with pytest.raises(BadData, match="All rows look the same"):
            mercer.stability(model, np.ones((9, 2)))


def test_rows_of_another_width_are_refused():
    with pytest.raises(ValueError, match="features"):
        mercer.stability(PCA(1).fit(normal([2, 1], 20)), normal([2, 1, 1], 20))
    with pytest.raises((BadData, ValueError), match="toarray"):
        K = normal([2, 1], 10) @ normal([2, 1], 10).T
        mercer.stability(KernelPCA(1, kernel="precomputed"), sparse.csr_array(K))


FITS = [PCA(2), PCA(2, standardize=True), IncrementalPCA(2, batch_size=30), KernelPCA(2, kernel="rbf", gamma=0.05)]


@pytest.mark.parametrize("model", FITS, ids=repr)
def test_a_model_of_other_rows_or_with_weights_is_told(model):
    rows = np.random.default_rng(3).standard_normal((60, 5)) * [5, 3, 1, 1, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error", MercerWarning)
        mercer.stability(clone(model).fit(rows), rows, n_boot=3)
    with pytest.warns(MercerWarning, match="fitted to others, or with weights"):
        mercer.stability(clone(model).fit(rows + rows[::-1]), rows, n_boot=3)
    if not isinstance(model, IncrementalPCA):
        weighted = clone(model).fit(rows, sample_weight=np.arange(60) % 3)
        with pytest.warns(MercerWarning, match="fitted to others, or with weights"):
            mercer.stability(weighted, rows, n_boot=3)


@pytest.mark.parametrize("offset", [1e6, 1e9])
def test_the_linear_kernel_bears_rows_far_from_zero(offset):
    far = np.random.default_rng(3).standard_normal((60, 4)) * [5, 3, 1, 1] + offset
    near = far - offset  # exact
    found = mercer.stability(KernelPCA(2), far, n_boot=3)
    assert found.variances == pytest.approx(np.linalg.svd(near - near.mean(axis=0))[1][:2] ** 2 / 59, rel=1e-9)


@pytest.mark.parametrize("model", [PCA(0), PCA("parallel")], ids=repr)
@quiet
def test_a_model_without_components_is_told(model):
    with pytest.raises(BadData, match="has no component"):
        mercer.stability(model, np.random.default_rng(3).standard_normal((60, 5)), n_boot=3)


def test_chance_comes_from_a_seed_or_a_generator():
    rows = normal([3, 1, 1], 40)
    states = (7, np.random.default_rng(7), np.random.default_rng(8))
    first, same, other = (mercer.stability(PCA(1), rows, n_boot=3, random_state=state).angles for state in states)
    assert np.array_equal(first, same) and not np.array_equal(first, other)


def test_rows_beyond_the_memory_limit_are_drawn_by_chance_and_told():
    rows = normal([5, 3, *[1] * 48], 2000)
    model = PCA(2).fit(rows).set_params(memory_limit="320kB")
    tracemalloc.start()
    found = mercer.stability(model, rows, n_boot=5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.rows == "200 of 2,000 rows" and found.scores.shape == (200, 2)
    assert found.verdict == "Components 1 and 2 are stable."
    assert peak < 2 * 320_000 < rows.nbytes
