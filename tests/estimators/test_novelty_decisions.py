"""What the detector promises: false alarms and discoveries as asked for, verdicts that depend on nothing else."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer import PCA, KernelPCA, NoveltyDetector
from mercer.kernels import RBF

rng = np.random.default_rng(0)
REPETITIONS = 500
MODELS = {
    "pca": (PCA(2), "reconstruction"),
    "pca, both": (PCA(2), "t2q"),
    "rbf": (KernelPCA(3, kernel=RBF(0.3)), "reconstruction"),
    "rbf, T²": (KernelPCA(3, kernel=RBF(0.3)), "t2"),
    "rbf, F": (KernelPCA(3, kernel=RBF(0.3)), "lecture"),
    "usual": (None, "reconstruction"),
}


def draw(rng, n):
    """Rows of a mixture with heavy tails: nothing that a formula for normal rows would fit."""
    return rng.standard_t(2.5, size=(n, 3)) + 6 * rng.integers(0, 2, size=(n, 1))


@pytest.mark.parametrize(
    "model", ["pca", *(pytest.param(name, marks=pytest.mark.slow) for name in MODELS if name != "pca")]
)
def test_p_values_of_usual_rows_are_uniform_over_500_repetitions(model):
    """A row, a fit and a calibration of its own each time: p ≤ j/20 in a binomial number of them."""
    (estimator, statistic), rng, m = MODELS[model], np.random.default_rng(1), 19
    found = np.empty(REPETITIONS)
    for i in range(REPETITIONS):
        detector = NoveltyDetector(estimator, statistic=statistic, calibration=m, random_state=i).fit(draw(rng, 39))
        found[i] = detector.p_values(draw(rng, 1))[0]
    for share in np.arange(1, 20) / 20:
        expected, deviation = REPETITIONS * share, np.sqrt(REPETITIONS * share * (1 - share))
        assert abs(np.sum(found <= share + 1e-12) - expected) <= 4 * deviation


def test_false_discoveries_are_kept_below_the_rate_over_500_repetitions():
    """40 usual rows and 10 that are not: their share among those chosen is at most fdr·40/50 on average."""
    rng, rate = np.random.default_rng(2), 0.2
    shares, chosen_novel = np.empty(REPETITIONS), np.empty(REPETITIONS)
    for i in range(REPETITIONS):
        train, new = rng.normal(size=(240, 3)), rng.normal(size=(50, 3))
        new[:10] += 5.0
        chosen = NoveltyDetector(PCA(1), calibration=200, random_state=i).fit(train).select(new, fdr=rate)
        shares[i] = chosen[10:].sum() / max(chosen.sum(), 1)
        chosen_novel[i] = chosen[:10].mean()
    assert shares.mean() <= rate * 0.8 + 4 * shares.std() / np.sqrt(REPETITIONS)
    assert shares.mean() > rate * 0.3  # it is no empty promise
    assert chosen_novel.mean() > 0.9


@pytest.mark.parametrize(("estimator", "statistic"), MODELS.values(), ids=MODELS)
def test_a_verdict_does_not_depend_on_the_rows_beside_it(estimator, statistic):
    """Not even for calibration rows, which are ties with themselves, nor beside rows from far away."""
    table = draw(np.random.default_rng(3), 150)
    detector = NoveltyDetector(estimator, statistic=statistic).fit(table)
    new = np.vstack([table[:50], 1e4 * table[:5]])

    def one_by_one(ask):
        return np.concatenate([ask(new[i : i + 1]) for i in range(len(new))])

    alone = one_by_one(detector.p_values), one_by_one(detector.predict)
    for order in (np.arange(len(new)), np.random.default_rng(4).permutation(len(new))):
        assert np.array_equal(detector.p_values(new[order]), alone[0][order])
        assert np.array_equal(detector.predict(new[order]), alone[1][order])
    assert_allclose(detector.score_samples(new), one_by_one(detector.score_samples), rtol=1e-9, atol=1e-12)


STRUCTURED = {
    "one-hot, median": (
        KernelPCA(3, kernel="rbf", gamma="median"),
        "reconstruction",
        np.eye(5)[rng.integers(0, 5, 200)],
    ),
    "one-hot, landmarks": (
        KernelPCA(3, kernel="rbf", n_landmarks=4),
        "reconstruction",
        np.eye(5)[rng.integers(0, 5, 200)],
    ),
    "nothing is left": (PCA(), "reconstruction", rng.normal(size=(200, 4))),
    "nothing is left of copies": (PCA(standardize=True), "reconstruction", np.repeat(rng.normal(size=(20, 4)), 10, 0)),
    "two levels, wide": (
        KernelPCA(3, kernel="rbf", gamma=1e-8, n_landmarks=10),
        "t2",
        1.0 * rng.integers(0, 2, (200, 4)),
    ),
    "linear, all": (KernelPCA(None, kernel="linear"), "reconstruction", rng.normal(size=(200, 4))),
    "linear, both": (KernelPCA(None, kernel="linear"), "t2q", 1e6 + rng.normal(size=(200, 4))),
    "one direction": (KernelPCA(3, kernel="poly"), "reconstruction", np.outer(rng.normal(size=200), [1.0, 2.0, 3.0])),
}


@pytest.mark.filterwarnings("ignore::mercer_old.errors.MercerWarning")
@pytest.mark.parametrize(("estimator", "statistic", "table"), STRUCTURED.values(), ids=STRUCTURED)
def test_rounding_decides_no_verdict(estimator, statistic, table):
    """Where all that a score has is rounding: copies are ties, and rows of the source are no more novel alone."""
    detector = NoveltyDetector(estimator, statistic=statistic).fit(table)
    new = table[:60]
    alone = np.concatenate([detector.p_values(new[i : i + 1]) for i in range(len(new))])
    assert np.array_equal(detector.p_values(new), alone)
    assert np.array_equal(detector.p_values(new[::-1])[::-1], alone)
    copies = np.unique(new, axis=0, return_inverse=True)[1]
    assert all(np.ptp(alone[copies == i]) == 0 for i in range(copies.max() + 1))


def test_verdicts_are_frozen_at_the_fit():
    table = draw(np.random.default_rng(5), 100)
    detector = NoveltyDetector(PCA(2)).fit(table)
    before, threshold = detector.predict(table), detector.threshold_
    for new in (table[:3], 100 + table, -table):
        detector.predict(new), detector.select(new), detector.p_values(new), detector.contributions(new)
    assert np.array_equal(detector.predict(table), before) and detector.threshold_ == threshold


@pytest.mark.parametrize("alpha", [0.02, 0.1, 0.5])
def test_predict_and_p_values_and_decisions_agree(alpha):
    table = draw(np.random.default_rng(6), 300)
    detector = NoveltyDetector(alpha=alpha).fit(table)
    novel = detector.predict(table) == -1
    assert np.array_equal(novel, detector.p_values(table) <= alpha + 1e-12)
    assert np.array_equal(novel, detector.decision_function(table) < 0)
    assert novel.any() and not novel.all()
    assert_allclose(detector.decision_function(table), detector.score_samples(table) - detector.offset_)


def test_the_same_seed_gives_the_same_answer_and_another_one_another():
    table = draw(np.random.default_rng(7), 80)
    first, again, other = (NoveltyDetector(PCA(2), random_state=seed).fit(table) for seed in (1, 1, 2))
    assert np.array_equal(first.score_samples(table), again.score_samples(table))
    assert not np.array_equal(first.score_samples(table), other.score_samples(table))
    assert np.array_equal(
        NoveltyDetector(PCA(2)).fit(table).predict(table), NoveltyDetector(PCA(2)).fit(table).predict(table)
    )


def test_so_many_rows_are_held_out_as_was_asked_for():
    table = draw(np.random.default_rng(8), 100)
    for calibration, m in ((0.5, 50), (0.25, 25), (30, 30), (98, 98), (0.999, 98)):
        assert len(NoveltyDetector(PCA(1), statistic="t2", calibration=calibration).fit(table).calibration_scores_) == m


def test_one_refit_without_the_most_novel_rows_forgets_a_clump_of_them():
    """A few of the training rows in one place take a component of their own, unless they are left out."""
    rng = np.random.default_rng(9)
    usual, clump = rng.normal(size=(300, 6)), np.full(6, 6.0) + 0.1 * rng.normal(size=(15, 6))
    clump[:, ::2] *= -1
    table = np.vstack([usual, clump])
    kept, left_out = (NoveltyDetector(PCA(2), statistic="t2q", trim=trim).fit(table) for trim in (0.0, 0.2))
    axis = np.array([-1, 1] * 3) / np.sqrt(6)
    along = [np.linalg.norm(model.estimator_.components_ @ axis) for model in (kept, left_out)]
    assert along[0] > 0.95 and along[1] < 0.9


def test_a_fitted_model_is_calibrated_and_left_as_it_is():
    model = PCA(2).fit(draw(np.random.default_rng(10), 60))
    axes, rows = model.components_.copy(), draw(np.random.default_rng(11), 40)
    detector = NoveltyDetector(model, prefit=True).fit(rows)
    assert detector.estimator_ is model and len(detector.calibration_scores_) == 40
    assert np.array_equal(model.components_, axes)
    assert_allclose(np.sort(-detector.score_samples(rows)), detector.calibration_scores_, rtol=2e-9, atol=1e-8)
