"""Scores of novelty, conformal p-values and discoveries, each against its definition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import false_discovery_control

from mercer_old.readings.novelty import (
    Calibration,
    benjamini_hochberg,
    hotelling_t2,
    monitoring_index,
    rounding_of_residuals,
    rounding_of_t2,
    squared_residuals,
    sum_of_projections,
    t2_contributions,
    variance_left,
    with_variance,
)

rng = np.random.default_rng(0)


def test_t2_is_the_distance_of_mahalanobis():
    X, new = rng.normal(size=(50, 4)) @ rng.normal(size=(4, 4)), rng.normal(size=(9, 4))
    variances, axes = np.linalg.eigh(np.cov(X.T))
    moved = new - X.mean(axis=0)
    truth = np.einsum("ij,jk,ik->i", moved, np.linalg.inv(np.cov(X.T)), moved)
    assert_allclose(hotelling_t2(moved @ axes, variances), truth, rtol=1e-9)


def test_contributions_to_t2_add_up_to_it():
    moved, axes = rng.normal(size=(6, 5)), np.linalg.qr(rng.normal(size=(5, 3)))[0].T
    variances, scores = np.array([3.0, 1.0, 0.0]), moved @ axes.T
    added = t2_contributions(moved, scores, axes, variances).sum(axis=1)
    assert_allclose(added, hotelling_t2(scores, variances), rtol=1e-12)


def test_squares_that_overflow_are_as_large_as_can_be():
    most = np.finfo(float).max
    assert hotelling_t2(np.array([[1e200]]), np.array([1.0]))[0] == most
    assert monitoring_index(np.array([most]), np.array([most]), 1, 1.0)[0] == most


def test_residuals_are_never_below_zero():
    assert list(squared_residuals(np.array([5.0, 1.0]), np.array([[1.0, 1.0], [1.0, 1e-9]]))) == [3.0, 0.0]


def test_the_index_counts_either_statistic_in_units_of_its_average():
    assert monitoring_index(np.array([6.0]), np.array([1.0]), 3, 0.5)[0] == 4.0


def test_f_is_the_sum_of_the_moduli():
    assert list(sum_of_projections(np.array([[1.0, -2.0], [0.0, 0.5]]))) == [3.0, 0.5]


def test_variances_of_rounding_are_none():
    variances = np.array([4.0, 1e-3, 4e-15, 0.0])
    assert list(with_variance(variances, 10)) == [True, True, False, False]
    assert list(with_variance(np.zeros(2))) == [False, False]


def test_what_is_left_is_at_least_rounding_and_says_so():
    assert variance_left(3.0, np.array([1.5])) == (1.5, True)
    left, more = variance_left(3.0, np.array([2.0, 1.0]))
    assert 0 < left < 1e-12 and not more
    assert variance_left(0.0, np.array([0.0])) == (1.0, False)


# ---------------------------------------------------------------------- p-values and thresholds


@pytest.mark.parametrize("ties", [False, True])
def test_p_values_count_calibration_scores_that_are_no_lower(ties):
    known, new = rng.normal(size=37), rng.normal(size=50)
    if ties:
        known, new = np.round(known), np.round(new)
    truth = [(1 + np.sum(known >= score)) / 38 for score in new]
    assert_allclose(Calibration.of(known).p_values(new), truth, rtol=0)


@pytest.mark.parametrize("levels", [1, 2, 5, 1000])
def test_of_exchangeable_rows_no_more_than_alpha_are_novel_however_many_are_tied(levels):
    """Each of m + 1 scores is the new one in turn: that is all that exchangeable means."""
    for m in (1, 9, 20, 37):
        scores = rng.integers(0, levels, size=m + 1) / 7
        p = [Calibration.of(np.delete(scores, i)).p_values(scores[i : i + 1])[0] for i in range(m + 1)]
        for alpha in (0.05, 0.1, 0.3, 0.9):
            assert np.mean(np.array(p) <= alpha) <= alpha


def test_scores_that_differ_by_rounding_are_ties():
    known = np.array([-3.0, 0.0, 1.0, 1e6])
    for factor in (1 - 1e-13, 1.0, 1 + 1e-13):
        assert list(Calibration.of(known).p_values(known * factor)) == [1.0, 0.8, 0.6, 0.4]


def test_scores_that_may_be_off_by_more_are_ties_as_well():
    known = np.array([1.0, 2.0, 4.0])
    off = np.array([0.0, 1.5, 0.0])
    assert list(Calibration.of(known, off).p_values(np.array([0.5, 3.9, 4.0, 4.5, 5.1]))) == [1, 0.75, 0.75, 0.5, 0.25]


def test_no_share_of_false_alarms_takes_more_rows_than_there_are():
    for m in (1, 5):
        calibration = Calibration.of(np.arange(1.0, m + 1))
        assert calibration.threshold(1 - 1e-13) == calibration.sorted[0]


def test_rounding_of_statistics_is_the_most_that_they_change():
    """Of scores that are moved by ±δ in every way."""
    scores, off, variances = rng.normal(size=(5, 3)), 0.1 * rng.uniform(size=(5, 3)), np.array([3.0, 0.5, 0.0])
    lengths, lengths_off = (scores**2).sum(axis=1) + 4.0, rng.uniform(size=5)
    signs = np.array(np.meshgrid(*3 * [[-1, 1]])).reshape(3, -1).T
    t2 = [np.abs(hotelling_t2(scores + s * off, variances) - hotelling_t2(scores, variances)) for s in signs]
    assert_allclose(np.max(t2, axis=0), rounding_of_t2(scores, variances, off), rtol=1e-9)
    q = [np.abs(squared_residuals(lengths + t * lengths_off, scores + s * off) - 4.0) for s in signs for t in (-1, 1)]
    assert_allclose(np.max(q, axis=0), rounding_of_residuals(scores, off, lengths_off), rtol=1e-9)


def test_residuals_of_squares_that_overflow_are_as_large_as_can_be():
    scores = np.array([[1e160], [1.0], [1.0]])
    most = np.finfo(float).max
    assert squared_residuals(np.array([np.inf, np.inf, np.nan]), scores).tolist() == [most, most, most]


@pytest.mark.parametrize("m", [1, 9, 10, 19, 20, 99, 100, 101])
def test_scores_above_the_threshold_are_those_whose_p_is_at_most_alpha(m):
    for alpha in (0.01, 0.05, 0.1, 0.3, 1 / 3, 0.5, 0.7):
        calibration = Calibration.of(rng.normal(size=m))
        new = np.concatenate([rng.normal(size=200), calibration.sorted, [np.inf]])
        small = calibration.p_values(new) <= alpha * (1 + 1e-12)  # 0.3·10 is 3
        assert np.array_equal(new > calibration.threshold(alpha), small & np.isfinite(calibration.threshold(alpha)))
        assert np.isfinite(calibration.threshold(alpha)) == (m >= calibration.fewest(alpha))


@pytest.mark.parametrize("fdr", [0.01, 0.1, 0.5])
def test_discoveries_are_those_of_benjamini_and_hochberg(fdr):
    """By scipy, whose adjusted p-values are compared with the rate."""
    for n in (1, 2, 17, 60):
        for power in (1, 3, 8):
            p = rng.uniform(size=n) ** power
            assert np.array_equal(benjamini_hochberg(p, fdr), false_discovery_control(p) <= fdr)


def test_equal_p_values_are_discovered_together_and_none_where_none_is_small():
    assert benjamini_hochberg(np.array([0.05, 0.05, 0.9]), 0.1).tolist() == [True, True, False]
    assert not benjamini_hochberg(np.array([0.2, 0.3]), 0.1).any()
    assert benjamini_hochberg(np.array([]), 0.1).shape == (0,)
