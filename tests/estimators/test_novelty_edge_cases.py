"""Detectors on data that are no clouds: copies, dependent columns, offsets, rows from far away; and bad input."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from mercer import PCA, KernelPCA, LocallyLinearEmbedding, NoveltyDetector
from mercer.kernels import RBF
from mercer_old.errors import MercerWarning

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 4))
DETECTORS = {
    "usual": NoveltyDetector(),
    "pca": NoveltyDetector(PCA(2)),
    "pca, all components": NoveltyDetector(PCA(), statistic="t2q"),
    "pca, T²": NoveltyDetector(PCA(0.9, standardize=True), statistic="t2"),
    "rbf": NoveltyDetector(KernelPCA(3, kernel=RBF(0.2)), statistic="t2q"),
}
each = pytest.mark.parametrize("detector", DETECTORS.values(), ids=DETECTORS)
quiet = pytest.mark.filterwarnings("ignore::mercer_old.errors.MercerWarning")


@each
@quiet
def test_dependent_and_constant_columns_have_finite_scores(detector):
    """As of heart rates, where one column is the difference of two others and the smallest variance is rounding."""
    table = np.column_stack([X, X[:, 0] - X[:, 1], np.full(len(X), 7.0), X[:, 2]])
    detector.fit(table)
    off = table[:4] + np.array([0, 0, 0, 0, 9.0, 0, 0])  # no longer the difference
    for rows in (table, off):
        assert np.isfinite(detector.score_samples(rows)).all()
        assert np.isfinite(detector.contributions(rows)).all()


@quiet
def test_rows_that_leave_the_space_of_all_others_are_novel_though_it_has_all_components():
    table = np.column_stack([X, X[:, 0] - X[:, 1]])
    detector = NoveltyDetector(PCA(), statistic="t2q").fit(table)
    off = table[:20] + np.array([0, 0, 0, 0, 1e-3])
    assert (detector.predict(off) == -1).all()
    assert np.mean(detector.predict(table) == 1) > 0.8


@each
@quiet
def test_rows_that_are_all_the_same_are_usual_and_any_other_is_novel(detector):
    if detector.estimator is None:
        with pytest.raises(ValueError, match="needs two different rows"):
            detector.fit(np.ones((40, 3)))
        return
    detector.fit(np.ones((40, 3)))
    assert (detector.predict(np.ones((5, 3))) == 1).all()
    assert (detector.p_values(np.ones((5, 3))) == 1).all()
    if detector.statistic != "t2":
        assert detector.predict([[1.0, 1.0, 2.0]])[0] == -1


@each
def test_a_large_offset_changes_no_verdict(detector):
    """Of columns 10⁶ from zero, which leaves them ten digits."""
    here, there = (detector.fit(X + offset).p_values(X + offset) for offset in (0.0, 1e6))
    assert_allclose(here, there, atol=1e-12)


@each
@pytest.mark.parametrize("factor", [1e-100, 1e100])
def test_huge_and_tiny_units_change_no_verdict(detector, factor):
    estimator = detector.estimator
    if isinstance(estimator, KernelPCA):
        estimator = clone(estimator).set_params(kernel="rbf", gamma="median")  # others fit it as it is
    alike = NoveltyDetector(estimator, statistic=detector.statistic)
    assert_allclose(alike.fit(X).p_values(X), alike.fit(factor * X).p_values(factor * X), atol=1e-12)


@each
def test_rows_from_far_away_are_novel(detector):
    detector.fit(X)
    for far in (1e3, 1e8, 1e80):
        assert (detector.predict(far * X[:5]) == -1).all()
        assert np.isfinite(detector.score_samples(far * X[:5])).all()


def test_rows_whose_squares_overflow_are_novel_or_refused_in_a_sentence():
    assert (NoveltyDetector(PCA(2)).fit(X).predict(1e200 * X[:5]) == -1).all()
    with pytest.raises(ValueError, match="overflow"):
        NoveltyDetector(KernelPCA(2, kernel=RBF(1.0))).fit(X).predict(1e200 * X[:5])


@pytest.mark.parametrize(("kernel", "far"), [("linear", 1e160), ("poly", 1e100)])
@pytest.mark.parametrize("statistic", ["reconstruction", "t2", "t2q"])
def test_rows_whose_squares_overflow_in_feature_space_are_novel(kernel, far, statistic):
    detector = NoveltyDetector(KernelPCA(2, kernel=kernel), statistic=statistic).fit(X)
    assert (detector.predict(far * X[:5]) == -1).all()
    assert np.isfinite(detector.score_samples(far * X[:5])).all()


@pytest.mark.parametrize("statistic", ["reconstruction", "t2", "t2q"])
def test_contributions_of_rows_whose_squares_overflow_are_numbers(statistic):
    detector = NoveltyDetector(PCA(2), statistic=statistic).fit(X)
    assert np.isfinite(detector.contributions(1e200 * X[:3])).all()


def test_copies_of_rows_are_ties_and_count_against_novelty():
    table = np.repeat(X[:4], 25, axis=0)
    detector = NoveltyDetector(PCA(1)).fit(table)
    levels = np.unique(detector.p_values(table))
    assert len(levels) <= 4 and levels.max() == 1.0


# ---------------------------------------------------------------------- what is refused, and what is said


BAD = {
    "a gap": (NoveltyDetector(), np.where(np.arange(480).reshape(120, 4) == 7, np.nan, X), "NaN"),
    "one row": (NoveltyDetector(), X[:1], "n_samples=1 .*give more rows"),
    "two rows": (NoveltyDetector(PCA(1)), X[:2], "n_samples=2 .*give more rows"),
    "too many held out": (NoveltyDetector(calibration=119), X, "n_samples=120 with 119 rows held out"),
    "no model": (NoveltyDetector(LocallyLinearEmbedding()), X, "must be a mercer.PCA, a mercer.IncrementalPCA"),
    "no statistic": (NoveltyDetector(statistic="q"), X, "'statistic' parameter of NoveltyDetector must be a str among"),
    "alpha of one": (NoveltyDetector(alpha=1.0), X, "'alpha' parameter"),
    "alpha true": (NoveltyDetector(calibration=True), X, "'calibration' parameter .* cannot be True"),
    "half is trimmed": (NoveltyDetector(trim=0.5), X, "'trim' parameter"),
    "nothing fitted": (NoveltyDetector(prefit=True), X, "there is none: give one"),
    "a fitted model trimmed": (
        NoveltyDetector(PCA(2).fit(X), prefit=True, trim=0.1),
        X,
        "trim=0.1 fits the model once",
    ),
    "F of PCA": (NoveltyDetector(PCA(2), statistic="lecture"), X, "is for KernelPCA"),
    "texts": (NoveltyDetector(), ["a", "b", "c"], "."),
}


@pytest.mark.parametrize(("detector", "table", "what"), BAD.values(), ids=BAD)
def test_what_cannot_be_is_refused_in_one_sentence(detector, table, what):
    with pytest.raises(ValueError, match=what) as refused:
        detector.fit(table)
    assert "mercer_old.models" not in str(refused.value) and "\n" not in str(refused.value)
    with pytest.raises(NotFittedError):
        detector.predict(X)


def test_a_model_that_is_not_fitted_is_no_prefit():
    with pytest.raises(NotFittedError):
        NoveltyDetector(PCA(2), prefit=True).fit(X)


def test_other_columns_and_gaps_are_refused_in_new_rows():
    detector = NoveltyDetector(PCA(2)).fit(X)
    for ask in (detector.predict, detector.p_values, detector.select, detector.contributions, detector.statistics):
        with pytest.raises(ValueError, match="X has 3 features, but NoveltyDetector is expecting 4"):
            ask(X[:, :3])
        with pytest.raises(ValueError, match="NaN"):
            ask(np.full((2, 4), np.nan))


@pytest.mark.parametrize("fdr", [0, 1, 1.5, -0.1, True, "0.1", None, float("nan")])
def test_a_rate_that_is_none_is_refused(fdr):
    with pytest.raises(ValueError, match="fdr is a share between 0 and 1"):
        NoveltyDetector(PCA(2)).fit(X).select(X, fdr=fdr)


def test_too_few_calibration_rows_are_told_with_the_number_that_is_needed():
    with pytest.warns(MercerWarning, match="alpha=0.01 takes at least 99 calibration rows, and there are 30"):
        detector = NoveltyDetector(PCA(2), alpha=0.01).fit(X)
    assert (detector.predict(1e6 * X) == 1).all() and np.isinf(detector.threshold_)
    with pytest.warns(MercerWarning, match="nothing can be chosen with fdr=0.01"):
        assert not detector.select(1e6 * X, fdr=0.01).any()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        NoveltyDetector(PCA(2), alpha=0.01, calibration=99).fit(X)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_components_that_leave_nothing_are_told(dtype):
    with pytest.warns(MercerWarning, match="leave nothing of the rows"):
        NoveltyDetector(PCA()).fit(X.astype(dtype))


@pytest.mark.filterwarnings("ignore:The kernel matrix is not positive semi-definite")
@pytest.mark.parametrize("statistic", ["reconstruction", "t2q"])
def test_distances_by_what_is_no_mercer_kernel_are_told_to_mean_nothing(statistic):
    with pytest.warns(MercerWarning, match="nor has Q"):
        NoveltyDetector(KernelPCA(2, kernel="sigmoid"), statistic=statistic).fit(X)


def test_f_by_a_kernel_that_is_not_local_is_told():
    with pytest.warns(MercerWarning, match=r"k\(x, x\) of the rows .* low values need not be novel"):
        NoveltyDetector(KernelPCA(2, kernel="poly"), statistic="lecture").fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kernel in ("rbf", "laplacian", "cosine"):
            NoveltyDetector(KernelPCA(2, kernel=kernel), statistic="lecture").fit(X)


def test_single_precision_says_nearly_what_double_says():
    for estimator in (PCA(2), KernelPCA(3, kernel=RBF(0.2)), None):
        double = NoveltyDetector(estimator).fit(X).score_samples(X)
        single = NoveltyDetector(estimator).fit(X.astype(np.float32)).score_samples(X.astype(np.float32))
        assert_allclose(single, double, rtol=1e-4, atol=1e-5)


def test_components_that_somebody_has_cut_need_their_variances():
    model, other = PCA(2).fit(X), KernelPCA(3, kernel=RBF(0.2)).fit(X)
    model.components_ = model.components_[:1]
    other.eigenvalues_, other.eigenvectors_ = other.eigenvalues_[:2], other.eigenvectors_[:, :2]
    for cut in (model, other):
        with pytest.raises(ValueError, match=r"explained_variance_.*set both names"):
            NoveltyDetector(cut, prefit=True).fit(X)
    model.explained_variance_ = model.explained_variance_[:1]
    whole = NoveltyDetector(PCA(1).fit(X), prefit=True).fit(X).score_samples(X)
    assert_allclose(NoveltyDetector(model, prefit=True).fit(X).score_samples(X), whole, rtol=1e-8)


def test_parameters_that_are_set_after_the_fit_wait_for_the_next_one():
    detector = NoveltyDetector(PCA(2)).fit(X)
    before = detector.score_samples(X)
    detector.set_params(statistic="t2", estimator=KernelPCA(3, kernel="rbf"), alpha=0.5)
    assert np.array_equal(detector.score_samples(X), before)
    assert not np.array_equal(detector.fit(X).score_samples(X), before)


def test_a_fit_that_is_refused_leaves_the_detector_as_it_was():
    detector = NoveltyDetector(PCA(2)).fit(X)
    before = detector.predict(X)
    with pytest.raises(ValueError, match="NaN"):
        detector.fit(np.full((30, 4), np.nan))
    assert np.array_equal(detector.predict(X), before)
