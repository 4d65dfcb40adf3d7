"""`mercer.tune` and `gamma="cv"`: cases whose answer is known, what must not change it, and what it says."""

import re
import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import mercer
from mercer import KernelPCA
from mercer.datasets import VOC, family, rings
from mercer.kernels import RBF, ChiSquared, Laplacian, Linear, Matern, Polynomial, Spectrum
from mercer_old.errors import BadData, MercerWarning
from mercer_old.fits.kernel.searching import rows_within
from mercer_old.readings.tuning.comparing import compare_kernels
from support.silence import quiet


def plane(n=150, d=6, seed=0):
    """Two directions that matter, and a little noise in all others."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 2)) @ rng.standard_normal((2, d)) + 0.1 * rng.standard_normal((n, d))


def knot(n=200, noise=0.05, seed=0):
    """A closed curve that winds three times: its two largest directions do not tell the windings apart."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, n)
    curve = np.column_stack([np.cos(3 * angle), np.sin(3 * angle), 0.6 * np.cos(angle), 0.6 * np.sin(angle)])
    return curve + noise * rng.standard_normal((n, 4))


def row_of(found, name):
    """The best row of the table with this kernel."""
    rows = [row for row in found.table if row["kernel"] == name and not row["pruned"]]
    return min(rows, key=lambda row: row[found.criterion] * (1 if found.criterion == "error" else -1))


# ---------------------------------------------------------------------- known answers


def test_rows_in_a_plane_ask_for_the_linear_kernel():
    found = mercer.tune(plane(), n_components=2)
    assert found.kernel == Linear()
    assert found.gamma is None
    assert found.n_components == 2
    assert row_of(found, "linear")["error"] < 0.05


def test_rings_ask_for_a_bandwidth_between_their_width_and_their_distance():
    X, ring = rings(80)
    for found in (mercer.tune(X), mercer.tune(X, ring), mercer.tune(X, ring, scoring="accuracy", n_components=3)):
        chosen = next(row for row in found.table if row["chosen"])
        assert chosen["kernel"] != "linear"
        assert row_of(found, "rbf")[found.criterion] != row_of(found, "linear")[found.criterion]
    found = mercer.tune(X, ring, kernels=("linear", "rbf"))
    assert 0.1 < 1 / np.sqrt(2 * found.gamma) < 2.0
    assert row_of(found, "linear")["alignment"] < 0.05 < 0.4 < row_of(found, "rbf")["alignment"]


def test_a_knot_is_led_back_to_by_two_curved_components_and_not_by_straight_ones():
    """Of the two pairs of directions PCA keeps that of variance ½ + ½, and loses 0.36 of 1.36."""
    found = mercer.tune(knot(), kernels=("linear", "rbf"), n_components=2)
    assert row_of(found, "linear")["error"] == pytest.approx(0.36 / 1.36, abs=0.05)
    assert row_of(found, "rbf")["error"] < 0.7 * row_of(found, "linear")["error"]
    assert isinstance(found.kernel, RBF)


def test_numbers_to_predict_ask_for_the_kernel_that_they_are_made_with():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 3))
    y = X[:, 0] * X[:, 1]
    found = mercer.tune(X, y, kernels=("linear", "poly"), scoring="r2", n_components=9)
    assert found.kernel.degree == 2
    assert row_of(found, "poly")["score"] > 0.9 > 0.3 > row_of(found, "linear")["score"]
    assert isinstance(mercer.tune(X, y, kernels=("linear", "poly")).kernel, Polynomial)


def test_texts_are_compared_by_their_labels():
    names = [name for name in VOC if family(name) in ("simpson", "flanders", "bouvier", "lovejoy", "skinner", "wiggum")]
    found = mercer.tune(names, [family(name) for name in names], kernels=(Spectrum(1), Spectrum(4)), folds=3)
    assert found.kernel == Spectrum(4)
    assert found.estimator().fit(names).transform(names).shape == (len(names), found.n_components)


# ---------------------------------------------------------------------- what must not matter


def test_the_same_seed_gives_the_same_answer_and_a_place_or_a_unit_the_same_kernel():
    X = knot(120)
    kernels = ("linear", "rbf", "laplacian")
    found = mercer.tune(X, kernels=kernels, n_components=2, random_state=3)
    again = mercer.tune(X, kernels=kernels, n_components=2, random_state=3)
    assert found.table == again.table
    moved = mercer.tune(X + 1e5, kernels=kernels, n_components=2, random_state=3)
    scaled = mercer.tune(1e-4 * X, kernels=kernels, n_components=2, random_state=3)
    assert type(moved.kernel) is type(scaled.kernel) is type(found.kernel)
    power = 1 if isinstance(found.kernel, Laplacian) else 2
    assert moved.gamma == pytest.approx(found.gamma, rel=1e-4)
    assert scaled.gamma == pytest.approx(found.gamma * 1e4**power, rel=1e-9)


@quiet
def test_copies_of_rows_do_not_make_a_narrow_kernel_look_good():
    X = np.random.default_rng(0).standard_normal((60, 4))
    once = mercer.tune(X, kernels=("rbf",), n_components=2)
    thrice = mercer.tune(np.repeat(X, 3, axis=0), kernels=("rbf",), n_components=2)
    assert row_of(thrice, "rbf")["error"] > 0.8 * row_of(once, "rbf")["error"]
    assert row_of(once, "rbf")["error"] > 0.4  # two of four directions, all alike, cannot do better


def test_sparse_rows_frames_and_files_are_what_they_hold(tmp_path):
    X = plane(60)
    found = mercer.tune(X, kernels=("linear", "rbf"))
    np.save(tmp_path / "rows.npy", X)
    pd = pytest.importorskip("pandas")
    for same in (sparse.csr_array(X), tmp_path / "rows.npy", pd.DataFrame(X, columns=list("abcdef"))):
        again = mercer.tune(same, kernels=("linear", "rbf"))
        assert again.kernel == found.kernel
        errors = [[row["error"] or 0.0 for row in each.table] for each in (found, again)]
        assert errors[1] == pytest.approx(errors[0], rel=1e-6)


def test_standardized_rows_do_not_depend_on_units():
    X = plane(80)
    units = np.array([1.0, 1e3, 1e-3, 1.0, 10.0, 1.0])
    found = mercer.tune(X, kernels=("linear", "rbf"), standardize=True)
    other = mercer.tune(X * units, kernels=("linear", "rbf"), standardize=True)
    errors, others = ([row["error"] for row in each.table if not row["pruned"]] for each in (found, other))
    assert others == pytest.approx(errors, rel=1e-6)
    assert other.estimator().standardize


def test_only_a_sample_is_looked_at_and_passes_are_those_over_all_rows():
    X = np.random.default_rng(0).standard_normal((2000, 10)) * np.linspace(3, 0.3, 10)
    found = mercer.tune(X, subsample=200)
    assert found.rows == "200 of 2,000 rows"
    assert found.passes < 30
    whole = mercer.tune(X[:200])
    assert whole.passes > 30  # of 200 rows each pass is a hundredth of one over 2000


@pytest.mark.slow
def test_ten_thousand_rows_are_compared_in_under_thirty_passes():
    rng = np.random.default_rng(0)
    X = 2 * rng.standard_normal((10, 50))[rng.integers(10, size=10_000)] + rng.standard_normal((10_000, 50))
    assert mercer.tune(X).passes < 30


# ---------------------------------------------------------------------- the record


def test_the_record_is_a_table_a_reason_and_an_estimator():
    X, ring = rings(50)
    found = mercer.tune(X, ring, kernels=("linear", "rbf"))
    text = str(found)
    assert text.count("\n") == 1 + 15 + 1
    assert "<- chosen" in text and "against 0.0" in text and text.endswith(found.rows + text.rpartition(found.rows)[2])
    assert sum(row["chosen"] for row in found.table) == 1
    model = found.estimator(random_state=1)
    assert model.n_components == found.n_components and model.kernel == found.kernel and model.random_state == 1
    assert clone(model).fit(X).gamma_ == found.gamma


def test_the_picture_has_a_line_for_every_kernel():
    pytest.importorskip("matplotlib")
    X, ring = rings(40)
    ax = mercer.tune(X, ring, kernels=("linear", "rbf", "laplacian")).plot()
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert {"Linear()", "rbf", "laplacian"} <= set(labels)
    assert ax.get_xscale() == "log"


def test_progress_is_told_of_every_candidate():
    seen = []
    mercer.tune(plane(40), kernels=("linear", "rbf"), progress=lambda state: seen.append(state.share))
    assert len(seen) == 16
    assert seen == sorted(seen)
    assert seen[-1] == pytest.approx(1.0)


# ---------------------------------------------------------------------- what speaks against it


def test_noise_is_flat():
    X = np.random.default_rng(1).standard_normal((60, 12))
    with pytest.warns(MercerWarning, match="the data do not say"):
        mercer.tune(X, kernels=(Linear(), RBF(1e-3), RBF(1e-2)), n_components=1)


def test_the_end_of_the_grid_is_told():
    with pytest.warns(MercerWarning, match="widest that was tried"):
        mercer.tune(np.random.default_rng(0).standard_normal((80, 5)), kernels=("rbf",), n_components=4)


def test_constant_columns_and_units_are_told():
    X = np.column_stack([plane(60), np.full(60, 7.0)])
    with pytest.warns(MercerWarning, match="Column 6 is constant"):
        mercer.tune(X, kernels=("linear",), n_components=2)
    X = plane(60) * [1e3, 1, 1, 1, 1, 1]
    with pytest.warns(MercerWarning, match="Column 0 has"):
        mercer.tune(X, kernels=("linear", "rbf"), n_components=2)


def test_as_many_components_as_columns_compare_nothing():
    with pytest.warns(MercerWarning, match="n_components=2 is as many as there are columns"):
        found = mercer.tune(rings(30)[0], kernels=("linear", "rbf"), n_components=2)
    assert found.kernel == Linear()


X = plane(30)
BAD = [
    (dict(kernels=()), "empty"),
    (dict(kernels=("linear", "wavelet")), "wavelet"),
    (dict(kernels=3), "kernels must be names or kernels"),
    (dict(y=np.array(["a", None, "b"] * 10, dtype=object)), "10 labels that are missing"),
    (dict(y=np.arange(30) == 0, scoring="accuracy"), "A class of y has 1 row"),
    (dict(kernels=(Linear(), Spectrum(3))), "rows and texts"),
    (dict(folds=1), "folds must be a whole number of at least 2"),
    (dict(folds=31), "folds=31 takes as many different rows, and there are 30"),
    (dict(subsample=2.5), "subsample must be a whole number"),
    (dict(n_components=0), "n_components must be a whole number of at least 1"),
    (dict(y=np.zeros(30)), "y is the same for all rows"),
    (dict(y=np.zeros(29)), "y has 29 labels, and X has 30 rows"),
    (dict(y=3), "y has no labels"),
    (dict(y=np.append(np.arange(29.0), np.nan)), "1 label that is missing or not finite"),
    (dict(scoring="accuracy"), "give y"),
    (dict(y=np.arange(30) % 2, scoring="beauty"), "no scorer"),
    (dict(kernels=(ChiSquared(),)), "egative"),
]


@pytest.mark.parametrize(("asked", "words"), BAD, ids=[words for _, words in BAD])
def test_what_cannot_be_done_is_one_sentence(asked, words):
    with pytest.raises(ValueError, match=words) as told:
        mercer.tune(X, **asked)
    assert "\n" not in str(told.value)


def test_rows_that_cannot_be_compared_are_told():
    with pytest.raises(BadData, match="folds=2 takes as many different rows, and there is 1"):
        mercer.tune(np.ones((30, 3)), kernels=("rbf",), folds=2)
    with pytest.raises(BadData, match="give y"):
        mercer.tune(VOC, kernels=(Spectrum(3),))
    with pytest.raises(ValueError, match="NaN"):
        mercer.tune(np.full((30, 2), np.nan))


# ---------------------------------------------------------------------- gamma="cv"


def test_a_fit_by_cv_takes_the_bandwidth_that_tune_finds():
    X = knot()
    found = mercer.tune(X, kernels=(RBF(),), n_components=2)
    model = KernelPCA(2, kernel="rbf", gamma="cv").fit(X)
    assert model.gamma_ == pytest.approx(found.gamma)
    assert model.kernel_ == RBF(model.gamma_)
    assert model.gamma == "cv"
    assert KernelPCA(2, kernel="rbf", gamma=model.gamma_).fit(X).score(X) == pytest.approx(model.score(X))


@pytest.mark.parametrize(
    "how", [{}, {"n_landmarks": 40}, {"standardize": True}, {"fit_inverse_transform": True}], ids=repr
)
def test_it_does_so_however_it_is_fitted(how):
    X = knot(120)
    model = KernelPCA(2, kernel="rbf", gamma="cv", **how).fit(X)
    again = KernelPCA(2, kernel="rbf", gamma=model.gamma_, **how).fit(X)
    assert np.abs(model.transform(X)) == pytest.approx(np.abs(again.transform(X)), abs=1e-8)
    assert model.gamma_ > 2 * KernelPCA(2, kernel="rbf", gamma="median", **how).fit(X).gamma_


@quiet
def test_other_kernels_with_a_gamma_have_one_and_those_without_do_not_care():
    X = knot(80)
    for kernel in ("laplacian", "poly", "sigmoid"):
        model = KernelPCA(2, kernel=kernel, gamma="cv", degree=2).fit(X)
        assert model.kernel_.gamma == model.gamma_
    assert KernelPCA(2, kernel="linear", gamma="cv").fit(X).kernel_ == Linear()
    assert KernelPCA(2, kernel=Matern(), gamma="cv").fit(X).kernel_ == Matern()


def test_the_sample_is_as_large_as_the_memory_limit_allows():
    rows = knot(400)
    tracemalloc.start()
    compare_kernels(rows, [RBF(1.0), Laplacian(1.0), Polynomial(2, 1.0)], 2, 5, np.random.default_rng(0))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert rows_within(peak) <= 400  # so what is allowed for 400 rows is at least what they take
    assert rows_within(10**6) == 125
    model = KernelPCA(2, kernel="rbf", gamma="cv", memory_limit="6MB").fit(rows)
    assert model.gamma_ > KernelPCA(2, kernel="rbf", gamma="median").fit(rows).gamma_


def test_a_search_in_a_fit_is_told_of():
    seen = []
    KernelPCA(2, kernel="rbf", gamma="cv", progress=seen.append).fit(knot(60))
    assert [state.words for state in seen].count("kernels compared") == 15


def test_rows_of_weight_zero_have_no_say():
    X, junk = knot(100), 50 * np.random.default_rng(1).standard_normal((20, 4))
    weights = np.repeat([1.0, 0.0], [100, 20])
    model = KernelPCA(2, kernel="rbf", gamma="cv").fit(np.vstack([X, junk]), sample_weight=weights)
    assert model.gamma_ == pytest.approx(KernelPCA(2, kernel="rbf", gamma="cv").fit(X).gamma_)


def test_a_plan_does_not_search():
    X = knot(60)
    assert KernelPCA(2, kernel="rbf", gamma="cv").plan(X).held == KernelPCA(2, kernel="rbf").plan(X).held
    assert mercer.plan(1000, 4, 2, gamma="cv").memory > 0
    with pytest.raises(BadData, match="folds=5 takes as many different rows, and there are 3"):
        KernelPCA(1, kernel="rbf", gamma="cv").fit(X[:3])
    KernelPCA(1, kernel="rbf", gamma="cv").plan(X[:3])


def test_chance_comes_from_a_seed_or_a_generator():
    rows = np.random.default_rng(0).standard_normal((40, 3)) * [3, 1, 1]
    tables = [
        mercer.tune(rows, kernels="linear", random_state=state).table
        for state in (7, np.random.default_rng(7), np.random.default_rng(8))
    ]
    assert tables[0] == tables[1] != tables[2]


def test_scores_of_any_unit_are_told_with_their_digits():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((40, 3)) * [3, 1, 1]
    y = 1e-9 * (rows[:, 0] + rng.standard_normal(40))
    found = mercer.tune(rows, y, kernels="linear", scoring="neg_mean_squared_error")
    assert re.search(r"score -\d\.\d+e-1[789] ± ", found.reason)
