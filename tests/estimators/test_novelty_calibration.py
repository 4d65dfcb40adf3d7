"""Conformal p-values: validity by simulation, outliers among the calibration rows, levels that change after the fit."""

import warnings
from copy import deepcopy

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

import mercer_old
from mercer.errors import DataError, MercerWarning, ParameterError
from mercer.estimators import PCA, FactorAnalysis, KernelPCA, NoveltyDetector, ProbabilisticPCA
from mercer.estimators.novelty import Calibration, find_outliers, with_rounding
from mercer.kernels.distance import RBF
from mercer_old.readings.novelty import Calibration as FirstCalibration

MODELS = {
    "pca": (PCA(2), "reconstruction"),
    "pca, both": (PCA(2), "t2q"),
    "rbf": (KernelPCA(3, kernel=RBF(0.3)), "reconstruction"),
    "rbf, t2": (KernelPCA(3, kernel=RBF(0.3)), "t2"),
    "rbf, projection": (KernelPCA(3, kernel=RBF(0.3)), "projection"),
}
quiet = pytest.mark.filterwarnings("ignore::mercer.errors.MercerWarning")


def heavy_tails(rng, n):
    """A mixture with heavy tails, to which no formula for normal rows applies."""
    return rng.standard_t(2.5, size=(n, 3)) + 6 * rng.integers(0, 2, size=(n, 1))


def factors(rng, n, outliers=0.0, d=10):
    """Three factors plus noise, with a fraction of outliers in all directions; rows and whether they are outliers."""
    loadings = np.random.default_rng(5).normal(size=(3, d))
    X = rng.normal(size=(n, 3)) @ loadings + 0.5 * rng.normal(size=(n, d))
    is_outlier = rng.uniform(size=n) < outliers
    X[is_outlier] += 2.5 * rng.normal(size=(int(is_outlier.sum()), d))
    return X, is_outlier


# ---------------------------------------------------------------------- p-values


@quiet
@pytest.mark.parametrize("name", ["pca", *(pytest.param(n, marks=pytest.mark.slow) for n in MODELS if n != "pca")])
def test_p_values_of_inliers_are_uniform(name):
    """Another fit, calibration and row each time: the number of p ≤ j/20 is binomial."""
    (model, statistic), rng, m, repeats = MODELS[name], np.random.default_rng(1), 19, 500
    found = np.empty(repeats)
    for i in range(repeats):
        detector = NoveltyDetector(model, statistic=statistic, calibration=m, random_state=i).fit(heavy_tails(rng, 39))
        found[i] = detector.p_values(heavy_tails(rng, 1))[0]
    for level in np.arange(1, 20) / 20:
        deviation = np.sqrt(repeats * level * (1 - level))
        assert abs(np.sum(found <= level + 1e-12) - repeats * level) <= 4 * deviation


@pytest.mark.parametrize("levels", [1, 2, 5, 1000])
def test_exchangeable_scores_with_ties_have_valid_p_values(levels):
    """Each of m + 1 scores is the new one in turn: the fraction with p ≤ α is at most α, exactly."""
    rng = np.random.default_rng(0)
    for m in (1, 9, 20, 37):
        scores = rng.integers(0, levels, size=m + 1) / 7
        p = [Calibration.fit(np.delete(scores, i)).p_values(scores[i : i + 1])[0] for i in range(m + 1)]
        for alpha in (0.05, 0.1, 0.3, 0.9):
            assert np.mean(np.array(p) <= alpha) <= alpha


@pytest.mark.parametrize("m", [1, 9, 10, 19, 20, 99, 100, 101])
def test_scores_above_the_threshold_are_those_with_p_at_most_alpha(m):
    rng = np.random.default_rng(m)
    for alpha in (0.01, 0.05, 0.1, 0.3, 1 / 3, 0.5, 0.7):
        calibration = Calibration.fit(rng.normal(size=m))
        new = np.concatenate([rng.normal(size=200), calibration.scores, [np.inf]])
        small = calibration.p_values(new) <= alpha * (1 + 1e-9)  # 0.3·10 is 3 in any arithmetic
        threshold = calibration.threshold(alpha)
        assert np.array_equal(new > threshold, small & np.isfinite(threshold))
        assert np.isfinite(threshold) == (m >= Calibration.n_required(alpha))
        assert threshold == FirstCalibration(calibration.scores).threshold(alpha)
    assert calibration.threshold(1 - 1e-13) == calibration.scores[0]


def test_scores_that_differ_by_rounding_are_ties_and_count_against_novelty():
    known = np.array([-3.0, 0.0, 1.0, 1e6])
    for factor in (1 - 1e-13, 1.0, 1 + 1e-13):
        assert list(Calibration.fit(with_rounding(known)).p_values(known * factor)) == [1.0, 0.8, 0.6, 0.4]
    known, error = np.array([1.0, 2.0, 4.0]), np.array([0.0, 1.5, 0.0])
    p = Calibration.fit(with_rounding(known, error)).p_values(np.array([0.5, 3.9, 4.0, 4.5, 5.1]))
    assert list(p) == [1, 0.75, 0.75, 0.5, 0.25]


@quiet
@pytest.mark.parametrize(("model", "statistic"), MODELS.values(), ids=MODELS)
def test_decisions_do_not_depend_on_other_rows(model, statistic):
    table = heavy_tails(np.random.default_rng(3), 150)
    detector = NoveltyDetector(model, statistic=statistic, max_contamination=0.05).fit(table)
    new = np.vstack([table[:50], 1e4 * table[:5]])
    alone = np.concatenate([detector.p_values(new[i : i + 1]) for i in range(len(new))])
    for order in (np.arange(len(new)), np.random.default_rng(4).permutation(len(new))):
        assert np.array_equal(detector.p_values(new[order]), alone[order])
        assert np.array_equal(detector.predict(new[order]) == -1, (alone <= detector.alpha * (1 + 1e-9))[order])


EXACT = {
    "one-hot": (KernelPCA(3, kernel="rbf"), "reconstruction", lambda r: np.eye(5)[r.integers(0, 5, 200)]),
    "all components": (PCA(), "reconstruction", lambda r: r.normal(size=(200, 4))),
    "duplicates": (PCA(standardize=True), "reconstruction", lambda r: np.repeat(r.normal(size=(20, 4)), 10, 0)),
    "linear": (KernelPCA(None, kernel="linear"), "reconstruction", lambda r: r.normal(size=(200, 4))),
    "linear, offset": (KernelPCA(None, kernel="linear"), "t2q", lambda r: 1e6 + r.normal(size=(200, 4))),
    "line": (KernelPCA(3, kernel="poly"), "reconstruction", lambda r: np.outer(r.normal(size=200), [1.0, 2.0, 3.0])),
}  # fmt: skip


@quiet
@pytest.mark.parametrize(("model", "statistic", "draw"), EXACT.values(), ids=EXACT)
def test_rounding_decides_nothing(model, statistic, draw):
    """Scores of the training distribution that are rounding: duplicates are ties, alone and in any order."""
    table = draw(np.random.default_rng(0))
    detector, new = NoveltyDetector(model, statistic=statistic).fit(table), table[:60]
    alone = np.concatenate([detector.p_values(new[i : i + 1]) for i in range(len(new))])
    assert np.array_equal(detector.p_values(new), alone)
    assert np.array_equal(detector.p_values(new[::-1])[::-1], alone)
    same = np.unique(new, axis=0, return_inverse=True)[1].ravel()
    assert all(np.ptp(alone[same == i]) == 0 for i in range(same.max() + 1))


# ---------------------------------------------------------------------- outliers among the calibration rows


def test_outliers_among_the_calibration_rows_are_reported_and_stored():
    """The first edition selects nothing, and does not tell why."""
    rng = np.random.default_rng(0)
    X, is_outlier = factors(rng, 4000, 0.05)
    new, is_new = factors(rng, 20_000, 0.05)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first = mercer_old.NoveltyDetector(mercer_old.PCA(3)).fit(X)
        assert roc_auc_score(is_new, -first.score_samples(new)) > 0.95 and not first.select(new).any()
    with pytest.warns(
        MercerWarning, match=r"of 1,000 calibration rows look like outliers .* Try max_contamination=0.0"
    ):
        detector = NoveltyDetector(PCA(3)).fit(X)
    assert is_outlier[detector.calibration_outliers_].mean() > 0.95
    (found,) = detector.fit_warnings_
    assert found.severity == "caution" and found.remedies[0].parameter == "max_contamination"
    assert found.remedies[0].value >= len(detector.calibration_outliers_) / 1000
    with pytest.warns(MercerWarning, match=r"No row was selected with fdr=0.1. .* look like outliers"):
        assert not detector.select(new).any()


@pytest.mark.parametrize("contamination", [0.05, 0.1])
def test_contamination_finds_the_novel_rows_again(contamination):
    """At 5% outliers: most of the new ones are found, alpha holds, and the false discovery rate is near the level."""
    found = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, _ = factors(rng, 4000, 0.05)
        new, is_new = factors(rng, 10_000, 0.05)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            detector = NoveltyDetector(PCA(3), max_contamination=contamination, alpha=0.02, random_state=seed).fit(X)
        novel, selected = detector.predict(new) == -1, detector.select(new, fdr=0.1)
        false_rate = (selected & ~is_new).sum() / selected.sum()
        found.append((novel[is_new].mean(), novel[~is_new].mean(), selected[is_new].mean(), false_rate))
    detected, false_alarms, selected, false_rate = np.mean(found, axis=0)
    assert detected > 0.8 and selected > 0.7
    assert false_alarms <= 0.02 + 4 * np.sqrt(0.02 / 1000) and false_rate <= 0.15


@pytest.mark.parametrize("contamination", [0.02, 0.2])
def test_contamination_costs_little_if_there_are_no_outliers(contamination):
    rates = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        detector = NoveltyDetector(PCA(3), max_contamination=contamination, random_state=seed).fit(
            factors(rng, 2000)[0]
        )
        assert len(detector.calibration_scores_) + detector.n_left_out_ == 500 and detector.n_left_out_ <= 4
        rates.append(np.mean(detector.predict(factors(rng, 2000)[0]) == -1))
    assert np.mean(rates) == pytest.approx(0.1, abs=0.02)


@pytest.mark.parametrize("n_left_out", [0, 1, 5, 20])
def test_left_out_inliers_cost_at_most_what_the_notes_state(n_left_out):
    """Exchangeable scores, each the new one in turn, of which the largest others are left out."""
    m, rng = 60, np.random.default_rng(0)
    for levels in (3, 20, 10**6):
        scores = rng.integers(0, levels, size=m + 1).astype(float)
        kept = [Calibration.fit(np.delete(scores, i), n_left_out) for i in range(m + 1)]
        p = np.array([kept[i].p_values(scores[i : i + 1])[0] for i in range(m + 1)])
        for alpha in (0.02, 0.1, 0.3, 0.8):
            bound = (alpha * (m - n_left_out + 1) + n_left_out) / (m + 1)
            assert np.mean(p <= alpha) <= bound + 1e-12 < alpha + n_left_out / m + 1e-9


def test_the_fence_is_rarely_passed_by_normal_values_and_always_by_far_ones():
    rng = np.random.default_rng(0)
    counts = [find_outliers(rng.normal(size=1000)) for _ in range(200)]
    assert np.mean([beyond.mean() for beyond, _ in counts]) == pytest.approx(0.0035, abs=0.001)
    assert np.mean([unexpected for _, unexpected in counts]) < 0.06
    values = rng.normal(size=100)
    values[7] = 9.0
    beyond, unexpected = find_outliers(values)
    assert beyond[7] and unexpected
    assert not find_outliers(np.ones(50))[0].any() and not find_outliers(np.append(np.zeros(50), 1.0))[1]


def test_the_model_is_fitted_again_without_outliers():
    """A clump of training rows takes a component of its own, unless it is left out."""
    rng = np.random.default_rng(9)
    inliers, clump = rng.normal(size=(300, 6)), np.full(6, 6.0) + 0.1 * rng.normal(size=(15, 6))
    clump[:, ::2] *= -1
    table, axis = np.vstack([inliers, clump]), np.array([-1, 1] * 3) / np.sqrt(6)
    along = []
    for contamination in (0.0, 0.2):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            detector = NoveltyDetector(PCA(2), statistic="t2q", max_contamination=contamination).fit(table)
        along.append(np.linalg.norm(detector.estimator_.components_ @ axis))
    assert along[0] > 0.95 and along[1] < 0.9


@pytest.mark.parametrize("statistic", ["reconstruction", "t2", "t2q"])
def test_outliers_that_a_component_points_to_are_left_out_of_the_model(statistic):
    """They have a small Q as long as the model was fitted to them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)) * [3, 2, 1, 1]
    X[:6] += [0, 0, 25, 25]
    detector = NoveltyDetector(PCA(2), statistic=statistic, max_contamination=0.05, calibration=0.4).fit(X)
    leading = np.abs(detector.estimator_.components_[:, 2:])
    assert leading.max() < 0.3  # 1 is the direction of the outliers
    found = detector.predict(np.array([[0.0, 0, 25, 25]]) + rng.normal(size=(20, 4)))
    assert (found == -1).all() or statistic == "t2"  # which does not look outside of the components


def test_only_the_last_of_several_fits_warns():
    X = np.random.default_rng(0).normal(size=(400, 4)) * [1, 1, 1, 1e4]
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        model = KernelPCA(2, kernel="rbf", gamma="median")
        detector = NoveltyDetector(model, max_contamination=0.1).fit(X)
    shown = [str(warning.message) for warning in found]
    assert sum(text.startswith("Column 3 has 100.0% of the summed variance") for text in shown) == 1
    assert sorted(shown) == sorted(map(str, detector.fit_warnings_))


def test_few_of_many_outliers_left_out_are_reported():
    X, _ = factors(np.random.default_rng(1), 2000, 0.1)
    with pytest.warns(MercerWarning, match=r"of which max_contamination=0.01 leaves out 5\. If they are"):
        detector = NoveltyDetector(PCA(3), max_contamination=0.01).fit(X)
    assert detector.n_left_out_ == 5 and len(detector.calibration_scores_) == 495


def test_the_bound_on_false_alarms_is_stated_and_follows_alpha():
    X, _ = factors(np.random.default_rng(1), 400)
    plain, robust = NoveltyDetector(PCA(3)).fit(X), NoveltyDetector(PCA(3), max_contamination=0.05).fit(X)
    assert plain.false_alarm_bound_ == pytest.approx(0.1) and plain.decisions(X[:3]).rule == "p ≤ alpha = 0.1"
    assert robust.false_alarm_bound_ == pytest.approx((0.1 * 96 + 5) / 101, rel=1e-12)
    assert robust.decisions(X[:3]).rule == "p ≤ alpha = 0.1, false-alarm rate at most 0.145"
    robust.set_params(alpha=0.2, max_contamination=0.4)  # the fit decided how many rows may be left out
    assert robust.false_alarm_bound_ == pytest.approx((0.2 * 96 + 5) / 101, rel=1e-12)
    with pytest.raises(ParameterError, match=r"'alpha' .* in the range \(0\.0, 1\.0\)\. Got 2\.0"):
        _ = robust.set_params(alpha=2.0).false_alarm_bound_


def test_scores_of_any_size_have_outliers():
    """The fence is relative: sums of small projections have outliers, and rounding of equal sums is none."""
    scores = -np.random.default_rng(0).uniform(0.9, 1.0, size=200)
    scores[:3] = 0.0
    for size in (1e-15, 1.0, 1e200):
        beyond, unexpected = find_outliers(size * scores)
        assert unexpected and np.array_equal(np.flatnonzero(beyond), [0, 1, 2])
    equal = -1e-3 * (1 + 1e-13 * np.random.default_rng(0).normal(size=200))
    assert not find_outliers(equal)[0].any() and not find_outliers(np.log(-equal))[0].any()


@pytest.mark.parametrize("d", [2, 5, 20])
def test_outliers_are_reported_where_far_rows_have_equal_scores(d):
    """A kernel of the distance gives all far rows the largest score, which no logarithm sets apart."""
    for seed in range(3):
        table = np.random.default_rng(seed).normal(size=(400, d))
        table[:80] *= 20
        with pytest.warns(MercerWarning, match="calibration rows look like outliers"):
            detector = NoveltyDetector(random_state=0).fit(table)
        assert (detector.predict(table[:80]) == 1).mean() > 0.8
        assert set(detector.calibration_outliers_) <= set(range(80))
        robust = NoveltyDetector(max_contamination=0.25, random_state=0).fit(table)
        assert (robust.predict(table[:80]) == -1).mean() > 0.9
        assert (robust.predict(table[80:]) == -1).mean() <= robust.false_alarm_bound_


def test_rows_of_a_normal_distribution_are_rarely_reported_by_a_kernel_of_the_distance():
    n_warned = 0
    for seed in range(20):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always", MercerWarning)
            NoveltyDetector(random_state=0).fit(np.random.default_rng(seed).normal(size=(400, 5)))
        n_warned += any("look like outliers" in str(one.message) for one in found)
    assert n_warned <= 2


# ---------------------------------------------------------------------- levels


@pytest.mark.parametrize("copy", [lambda d: d, deepcopy], ids=["same", "copied"])
def test_alpha_can_be_changed_after_the_fit(copy):
    """The first edition keeps the threshold of the fit."""
    X, _ = factors(np.random.default_rng(0), 800)
    new, _ = factors(np.random.default_rng(1), 400, 0.1)
    first = mercer_old.NoveltyDetector(mercer_old.PCA(3), alpha=0.01).fit(X)
    before = first.predict(new)
    assert np.array_equal(first.set_params(alpha=0.3).predict(new), before)
    detector = copy(NoveltyDetector(PCA(3), alpha=0.01).fit(X))
    for alpha in (0.3, 0.05, 0.01):
        detector.alpha = alpha
        fresh = NoveltyDetector(PCA(3), alpha=alpha).fit(X)
        assert np.array_equal(detector.predict(new), fresh.predict(new)) and detector.threshold_ == fresh.threshold_
        assert np.array_equal(detector.predict(new) == -1, detector.p_values(new) <= alpha * (1 + 1e-9))
        assert np.array_equal(detector.decisions(new).is_novel, detector.predict(new) == -1)
        assert detector.offset_ == -detector.threshold_ == detector.limits()["q"] * -1
    detector.alpha = 1.5
    with pytest.raises(ParameterError, match="'alpha' parameter of NoveltyDetector must be a float in the range"):
        detector.predict(new)


def test_too_few_calibration_rows_are_reported_with_the_number_that_is_needed():
    X, _ = factors(np.random.default_rng(0), 120)
    with pytest.warns(MercerWarning, match="alpha=0.01 needs at least 99 calibration rows, and there are 30"):
        detector = NoveltyDetector(PCA(2), alpha=0.01).fit(X)
    assert (detector.predict(1e6 * X) == 1).all() and np.isinf(detector.threshold_)
    remedy = {remedy.parameter: remedy.value for remedy in detector.fit_warnings_[0].remedies}
    assert np.isfinite(detector.set_params(alpha=remedy["alpha"]).threshold_)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(NoveltyDetector(PCA(2), alpha=0.01, calibration=remedy["calibration"]).fit(X).threshold_)


def test_a_selection_that_needs_more_calibration_rows_is_reported():
    X, _ = factors(np.random.default_rng(0), 120)
    detector = NoveltyDetector(PCA(2), calibration=30).fit(X)
    with pytest.warns(MercerWarning, match=r"No p-value of 30 calibration rows is below 0.0323"):
        assert not detector.select(1e6 * X, fdr=0.01).any()
    new = np.vstack([X[:100], 1e6 * X[:2]])
    with pytest.warns(MercerWarning, match=r"of 102 exceed all calibration scores \(p = 0.0323\), and 33 are needed"):
        assert not detector.select(new, fdr=0.1).any()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not NoveltyDetector(PCA(2), calibration=60).fit(X).select(np.tile(X.mean(axis=0), (5, 1))).any()


def test_false_discoveries_stay_below_the_rate():
    """40 inliers and 10 novel rows: the expected fraction of inliers among the selected is at most fdr·40/50."""
    rng, rate, repeats = np.random.default_rng(2), 0.2, 300
    false, detected = np.empty(repeats), np.empty(repeats)
    for i in range(repeats):
        train, new = rng.normal(size=(240, 3)), rng.normal(size=(50, 3))
        new[:10] += 5.0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            selected = NoveltyDetector(PCA(1), calibration=200, random_state=i).fit(train).select(new, fdr=rate)
        false[i], detected[i] = selected[10:].sum() / max(selected.sum(), 1), selected[:10].mean()
    assert rate * 0.3 < false.mean() <= rate * 0.8 + 4 * false.std() / np.sqrt(repeats)
    assert detected.mean() > 0.9


# ---------------------------------------------------------------------- parameters and errors


def test_calibration_rows_are_as_many_as_requested():
    X, _ = factors(np.random.default_rng(8), 100)
    for calibration, m in ((0.5, 50), (0.25, 25), (30, 30), (97, 97), (0.999, 98)):
        detector = NoveltyDetector(PCA(1), statistic="t2", calibration=calibration)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert len(detector.fit(X).calibration_scores_) == m


def test_a_fitted_model_is_calibrated_and_does_not_change():
    model = PCA(2).fit(factors(np.random.default_rng(10), 60)[0])
    axes, rows = model.components_.copy(), factors(np.random.default_rng(11), 40)[0]
    detector = NoveltyDetector(model, prefit=True).fit(rows)
    assert detector.estimator_ is model and np.array_equal(model.components_, axes)
    assert_allclose(np.sort(-detector.score_samples(rows)), detector.calibration_scores_, rtol=2e-9, atol=1e-8)
    with pytest.raises(NotFittedError):
        NoveltyDetector(PCA(2), prefit=True).fit(rows)


def test_warnings_of_the_model_are_those_of_the_detector():
    X = np.column_stack([factors(np.random.default_rng(0), 200)[0], np.full(200, 3.0)])
    with pytest.warns(MercerWarning):
        detector = NoveltyDetector(KernelPCA(3, kernel="sigmoid"), statistic="t2").fit(X)
    assert detector.estimator_.fit_warnings_ and set(detector.estimator_.fit_warnings_) <= set(detector.fit_warnings_)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not detector.set_params(estimator=PCA(2)).fit(X[:, :3]).fit_warnings_


@quiet
def test_parameters_other_than_alpha_wait_for_the_next_fit():
    X, _ = factors(np.random.default_rng(0), 120)
    detector = NoveltyDetector(PCA(2)).fit(X)
    before = detector.score_samples(X)
    detector.set_params(statistic="t2", estimator=KernelPCA(3, kernel="rbf"))
    assert np.array_equal(detector.score_samples(X), before)
    assert not np.array_equal(detector.fit(X).score_samples(X), before)


X = np.random.default_rng(0).normal(size=(120, 4))
INVALID = {
    "missing value": (NoveltyDetector(PCA(2)), np.where(np.arange(480).reshape(120, 4) == 7, np.nan, X), "NaN"),
    "one row": (NoveltyDetector(PCA(1)), X[:1], "n_samples=1 .*Pass more rows"),
    "two rows": (NoveltyDetector(PCA(1)), X[:2], "n_samples=2 .*Pass more rows"),
    "calibration": (NoveltyDetector(PCA(1), calibration=119), X, "n_samples=120 with 119 calibration rows leaves 1"),
    "no components": (NoveltyDetector(FactorAnalysis(1)), X, "FactorAnalysis has no distances"),
    "estimator": (NoveltyDetector(StandardScaler()), X, "'estimator' parameter .* 'fit' and 'project'"),
    "statistic": (NoveltyDetector(PCA(1), statistic="q"), X, "'statistic' parameter .* must be a str among"),
    "alpha": (NoveltyDetector(PCA(1), alpha=1.0), X, "'alpha' parameter"),
    "max_contamination": (NoveltyDetector(PCA(1), max_contamination=0.5), X, "'max_contamination' parameter"),
    "boolean": (NoveltyDetector(PCA(1), calibration=True), X, "'calibration' parameter .* cannot be True"),
    "nothing fitted": (NoveltyDetector(prefit=True), X, "estimator=None must be a fitted model"),
    "matrix": (NoveltyDetector(KernelPCA(kernel="precomputed")), X @ X.T, "pass it with prefit=True"),
}


@pytest.mark.parametrize(("detector", "table", "message"), INVALID.values(), ids=INVALID)
def test_invalid_input_is_rejected_with_one_message(detector, table, message):
    detector = clone(detector)
    with pytest.raises(ValueError, match=message):
        detector.fit(table)
    with pytest.raises(NotFittedError):
        detector.predict(X)
    assert not hasattr(detector, "threshold_") and not hasattr(detector, "offset_")


def test_new_rows_are_validated_against_the_fit():
    detector = NoveltyDetector(PCA(2)).fit(X)
    for method in (detector.predict, detector.p_values, detector.select, detector.contributions, detector.decisions):
        with pytest.raises(DataError, match="X has 3 features, but NoveltyDetector is expecting 4"):
            method(X[:, :3])
        with pytest.raises(ValueError, match="NaN"):
            method(np.full((2, 4), np.nan))
    assert NoveltyDetector(ProbabilisticPCA(2)).fit(X).predict(np.array([[np.nan, 0.1, 0.2, -0.1]])).tolist() == [1]
    for fdr in (0, 1, -0.1, True, "0.1", float("nan")):
        with pytest.raises(ParameterError, match=r"fdr=.* must be a number between 0 and 1"):
            detector.select(X, fdr=fdr)


def test_a_fit_that_fails_leaves_the_detector_as_it_was():
    detector = NoveltyDetector(PCA(2)).fit(X)
    before = detector.predict(X)
    with pytest.raises(ValueError, match="NaN"):
        detector.fit(np.full((30, 4), np.nan))
    assert np.array_equal(detector.predict(X), before)


def test_conventions_of_scikit_learn_hold():
    detector = NoveltyDetector(PCA(2))
    decisions = detector.fit_predict(X)
    assert decisions.dtype.kind == "i" and np.array_equal(np.unique(decisions), [-1, 1])
    assert np.array_equal(detector.fit(X).predict(X), decisions)
    function, scores = detector.decision_function(X), detector.score_samples(X)
    assert np.array_equal(np.where(function >= 0, 1, -1), decisions)
    assert_allclose(scores - detector.offset_, function)
    assert repr(clone(detector)) == repr(detector)
