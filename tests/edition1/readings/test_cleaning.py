"""Noise that a row shows by itself, and what rows of the fit with noise on them teach about it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.isotonic import IsotonicRegression

from mercer import KernelPCA
from mercer.datasets import rings
from mercer.kernels import RBF
from mercer_old.readings.preimages.cleaning import Levels, _along, _lines, held_out_share, learn_cleaner, scores_of


def plane(n=200, d=40, seed=0):
    """Rows on a curved sheet among d dimensions."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(-1, 1, size=(n, 3))
    return np.tanh(np.column_stack([t, t**2]) @ np.random.default_rng(9).normal(size=(6, d)))


def fitted(rows, k=8, **params):
    return KernelPCA(k, kernel=RBF(0.02), **params).fit(rows)


def test_scores_of_rows_are_those_that_the_model_has():
    model, new = fitted(plane()), plane(20, seed=1)
    assert_allclose(scores_of(model._expansion(), new), model.transform(new), atol=1e-10)


@pytest.mark.parametrize("landmarks", [None, 60])
def test_a_row_tells_its_noise_by_itself_in_many_dimensions(landmarks):
    model, new = fitted(plane(), n_landmarks=landmarks), plane(100, seed=1)
    levels = Levels.of(model._expansion())
    for i in np.flatnonzero(levels.readable):
        noisy = new + levels.sigmas[i] * np.random.default_rng(2).normal(size=new.shape)
        told = levels.among(model._beside(model._new_items(noisy)))
        assert np.mean(np.abs(told - i) <= 1) > 0.8
    assert levels.readable.sum() >= 3


def test_in_two_dimensions_no_level_is_told():
    model = KernelPCA(12, kernel="rbf", gamma=0.5).fit(rings(200)[0])
    assert not Levels.of(model._expansion()).readable.any()


def test_rows_held_out_in_closed_form_are_rows_left_out():
    model, X = fitted(plane(60)), plane(60)
    cleaner = learn_cleaner(model._expansion(), 0.3)
    Y, K = cleaner.scores, cleaner.kernel.block(cleaner.scores, cleaner.scores)
    ridge = np.mean(((X - cleaner.mean) - K @ cleaner.coefficients) / cleaner.coefficients)
    found = []
    for i in range(60):
        rest = np.arange(60) != i
        A = K[np.ix_(rest, rest)] + ridge * np.eye(59)
        found.append(K[i, rest] @ np.linalg.solve(A, X[rest] - cleaner.mean) + cleaner.mean)
    assert len(Y) == 60
    assert_allclose(_along(np.array(found), cleaner.knots, cleaner.heights), cleaner.held_out, atol=1e-6)


def test_a_map_with_weights_is_the_minimum_of_weighted_errors():
    """W(X − mean − KC) = ridge·C with one ridge for all, and weighted means."""
    model, X, w = fitted(plane(60)), plane(60), np.random.default_rng(3).uniform(0.2, 3, size=60)
    cleaner = learn_cleaner(model._expansion(), 0.3, w)
    assert_allclose(cleaner.mean, np.average(X, axis=0, weights=w))
    assert_allclose(np.average(cleaner.scores, axis=0, weights=w), 0, atol=1e-12)
    K = cleaner.kernel.block(cleaner.scores, cleaner.scores)
    left = w[:, None] * (X - cleaner.mean - K @ cleaner.coefficients)
    ridge = np.sum(left * cleaner.coefficients) / np.sum(cleaner.coefficients**2)
    assert ridge > 0
    assert_allclose(left, ridge * cleaner.coefficients, atol=1e-9 * np.abs(left).max())
    plain = learn_cleaner(model._expansion(), 0.3)
    assert np.abs(plain.coefficients - cleaner.coefficients).max() > 1e-3 * np.abs(plain.coefficients).max()


def test_lines_rise_and_are_those_of_isotonic_regression_at_their_knots():
    rng = np.random.default_rng(0)
    found, w = rng.normal(size=(300, 3)), rng.uniform(0.5, 2, size=300)
    X = np.tanh(found) + 0.3 * rng.normal(size=found.shape)
    knots, heights = _lines(found, X, w)
    assert np.all(np.diff(knots, axis=0) >= 0) and np.all(np.diff(heights, axis=0) >= 0)
    for j in range(3):
        twin = IsotonicRegression().fit(found[:, j], X[:, j], sample_weight=w).predict(knots[:, j])
        assert_allclose(heights[:, j], twin, atol=1e-9)


def test_the_share_is_the_best_of_a_fine_grid():
    truth, one, other = np.random.default_rng(0).normal(size=(3, 30, 4))
    grid = np.linspace(0, 1, 2001)
    errors = [np.sum((truth - s * one - (1 - s) * other) ** 2) for s in grid]
    assert abs(held_out_share(truth, one, other) - grid[np.argmin(errors)]) < 1e-3
    assert held_out_share(one, one, other) == 1 and held_out_share(truth, one, one) == 1


def test_a_noisy_row_is_cleaned_alike_alone_and_in_company_and_better_than_by_other_ways():
    model, clean = fitted(plane(400), k=20), plane(60, seed=1)
    noisy = clean + 0.4 * np.random.default_rng(2).normal(size=clean.shape)
    found = model.denoise(noisy)
    assert model._kept_ways[0]._cleaners  # which did it
    assert_allclose(np.vstack([model.denoise(row[None]) for row in noisy[:5]]), found[:5], atol=1e-8)

    def error(rows):
        return np.mean(np.sum((rows - clean) ** 2, axis=1))

    others = [error(model.set_params(preimage=way).denoise(noisy)) for way in ("fixed-point", "ridge")]
    assert error(found) < 0.9 * min(others)
