"""Laws of random matrices against published values, closed forms and simulation."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer.analysis.eigenvalue_laws import (
    johnstone_scaling,
    marchenko_pastur_edge,
    marchenko_pastur_median,
    noise_edge,
    tracy_widom_quantile,
    tracy_widom_survival,
)


@pytest.mark.parametrize(("probability", "quantile"), [(0.90, 0.4501433), (0.95, 0.9793168), (0.99, 2.0234469)])
def test_tracy_widom_quantiles_match_published_tables(probability, quantile):
    assert_allclose(tracy_widom_quantile(probability), quantile, atol=2e-5)


def test_tracy_widom_tail_keeps_relative_accuracy():
    """1 − F₁(s) ~ exp(−2/3·s^1.5)/(4√π·s^0.75) for large s (Tracy and Widom 1996)."""
    s = np.array([20.0, 40.0, 80.0])
    asymptotic = np.exp(-2 / 3 * s**1.5) / (4 * np.sqrt(np.pi) * s**0.75)
    assert_allclose([tracy_widom_survival(x) for x in s], asymptotic, rtol=0.02)


@pytest.mark.parametrize("s", [-20.0, -12.0, 1e3])
def test_tracy_widom_survival_is_a_probability(s):
    p = tracy_widom_survival(s)
    assert 0 <= p <= 1
    assert np.copysign(1, p) == 1  # no negative zero


@pytest.mark.parametrize("ratio", [0.01, 0.3, 1.0])
def test_marchenko_pastur_median_splits_the_law(ratio):
    rng, n = np.random.default_rng(0), 600
    X = rng.standard_normal((n, max(2, int(ratio * n))))
    values = np.linalg.svd(X, compute_uv=False) ** 2 / n
    assert_allclose(np.median(values), marchenko_pastur_median(X.shape[1] / n), rtol=0.05)


@pytest.mark.parametrize(("d", "m"), [(10, 100), (60, 300), (50, 20)])
def test_equal_columns_have_the_edge_and_spread_of_white_noise(d, m):
    edge, spread = noise_edge(np.full(d, 2.0), m)
    ratio = d / m
    assert_allclose(edge, 2 * marchenko_pastur_edge(ratio), rtol=1e-12)
    assert_allclose(spread, 2 * (1 + ratio**0.5) * (1 + ratio**-0.5) ** (1 / 3) * m ** (-2 / 3), rtol=1e-10)


def test_edge_and_spread_describe_the_largest_variance_of_unequal_noise():
    rng = np.random.default_rng(0)
    t = np.exp(rng.normal(size=80) * 0.5)
    edge, spread = noise_edge(t, 199)
    X = rng.standard_normal((200, 200, 80)) * np.sqrt(t)
    X -= X.mean(axis=1, keepdims=True)
    largest = np.linalg.svd(X, compute_uv=False)[:, 0] ** 2 / 199
    assert abs(np.mean((largest - edge) / spread) - (-1.2065)) < 0.4  # the mean of TW₁
    assert np.mean(largest > edge + tracy_widom_quantile(0.95) * spread) < 0.08


def test_constant_columns_do_not_move_the_edge():
    t = np.array([1.0, 2.0, 3.0])
    assert noise_edge(np.append(t, [0, 0]), 50) == noise_edge(t, 50)
    assert noise_edge(np.zeros(3), 50) == (0.0, 0.0)


def test_johnstone_scaling_is_symmetric_in_the_sides():
    assert johnstone_scaling(30, 200) == johnstone_scaling(200, 30)
