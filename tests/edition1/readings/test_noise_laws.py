"""The laws of noise: Marchenko's and Pastur's, and Tracy's and Widom's, against tables, other formulas and draws."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad, solve_ivp
from scipy.optimize import minimize_scalar
from scipy.special import airy
from scipy.stats import binom, kstest

from mercer_old.readings.rules.marchenko_pastur import marchenko_pastur_edge, marchenko_pastur_median, noise_edge
from mercer_old.readings.rules.noise import optimal_threshold
from mercer_old.readings.rules.tracy_widom import johnstone, tracy_widom_quantile, tracy_widom_survival

# Johnstone (2001), table 1, and Bejan (2005): F₁(s) is this share.
PUBLISHED = {
    0.01: -3.90, 0.05: -3.18, 0.10: -2.78, 0.30: -1.91, 0.50: -1.27, 0.70: -0.59, 0.90: 0.4501, 0.95: 0.9793,
    0.99: 2.0234, 0.995: 2.4223, 0.999: 3.2722,
}  # fmt: skip


@pytest.mark.parametrize(("share", "quantile"), PUBLISHED.items())
def test_quantiles_of_tracy_and_widom_are_the_published_ones(share, quantile):
    digits = len(str(quantile).partition(".")[2])
    assert abs(tracy_widom_quantile(share) - quantile) <= 0.51 * 10.0**-digits


def test_moments_of_tracy_and_widom_are_the_published_ones():
    """Bornemann (2010): mean −1.2065335745820, variance 1.6077810345810."""
    s, w = np.polynomial.legendre.leggauss(120)
    s, w = 10 * s, 10 * w  # from −10 to 10; beyond them there is nothing
    above = np.array([tracy_widom_survival(x) for x in s])
    mean = -10 + w @ above
    assert_allclose(mean, -1.2065335745820, atol=1e-9)
    second = 100 + 2 * w @ (s * above)  # E s² = a² + ∫ 2s·P(> s) ds from a = −10
    assert_allclose(second - mean**2, 1.6077810345810, atol=1e-8)


def by_painleve(s):
    """F₁(s) = exp(−½∫ₛ^∞ q + (x − s)q² dx), q″ = sq + 2q³ with q → Ai (Tracy and Widom 1996)."""

    def slopes(x, state):
        q, slope, _, by_square = state[:4]
        return [slope, x * q + 2 * q**3, -q, -(q**2), -by_square]

    start, (value, slope) = 7.0, airy(7.0)[:2]
    tail = quad(lambda x: airy(x)[0], start, 30)[0]
    squares = quad(lambda x: airy(x)[0] ** 2, start, 30)[0]
    moments = quad(lambda x: (x - start) * airy(x)[0] ** 2, start, 30)[0]
    path = solve_ivp(
        slopes, (start, s), [value, slope, tail, squares, moments], rtol=1e-12, atol=1e-20, method="DOP853"
    )
    _, _, by_q, _, by_square = path.y[:, -1]
    return np.exp(-(by_q + by_square) / 2)


@pytest.mark.parametrize("s", [-4.0, -2.5, -1.0, 0.0, 1.5, 3.0])
def test_the_determinant_is_the_solution_of_painleve(s):
    assert_allclose(1 - tracy_widom_survival(s), by_painleve(s), rtol=1e-7)


@pytest.mark.parametrize("s", [8.0, 20.0, 60.0])
def test_far_tails_keep_their_digits(s):
    """1 − F₁(s) = ½∫ₛ^∞ Ai − …, of which the next term is its square."""
    scale = np.exp(2 / 3 * s**1.5)
    first = quad(lambda x: airy(x)[0] / 2 * scale, s, s + 20, epsabs=0, epsrel=1e-12)[0] / scale
    assert_allclose(tracy_widom_survival(s), first, rtol=1e-9)


def test_no_number_is_too_far_out():
    assert tracy_widom_survival(-1e6) == 1.0
    assert tracy_widom_survival(1e6) == 0.0


def largest(rng, n, d):
    X = rng.standard_normal((n, d))
    return np.linalg.eigvalsh(X.T @ X)[-1]


def test_the_largest_eigenvalue_of_noise_follows_tracy_and_widom():
    rng, n, d = np.random.default_rng(0), 120, 40
    centre, scale = johnstone(n, d)
    draws = [(largest(rng, n, d) - centre) / scale for _ in range(300)]
    grid = np.linspace(-6, 6, 121)
    below = [1 - tracy_widom_survival(x) for x in grid]
    assert kstest(draws, lambda s: np.interp(s, grid, below)).pvalue > 1e-3
    high = int(np.sum(np.array(draws) > tracy_widom_quantile(0.95)))
    assert binom.sf(high - 1, 300, 0.05) > 1e-4 and binom.cdf(high, 300, 0.05) > 1e-4


def test_centre_and_scale_do_not_depend_on_which_side_is_called_rows():
    assert johnstone(30, 80) == johnstone(80, 30)


@pytest.mark.parametrize("ratio", [1e-4, 0.1, 0.5, 0.99, 1.0])
def test_half_of_the_law_lies_below_the_median(ratio):
    low, high, middle = (1 - ratio**0.5) ** 2, marchenko_pastur_edge(ratio), marchenko_pastur_median(ratio)
    density = lambda x: np.sqrt(max((high - x) * (x - low), 0.0)) / (2 * np.pi * ratio * x)  # noqa: E731
    assert_allclose(quad(density, middle, high, epsabs=1e-11)[0], 0.5, atol=1e-8)


def test_gavish_and_donohos_constants():
    """4/√3 for a known noise, 2.858 for an unknown one, both of a square; and their cubic within 0.02."""
    assert_allclose(optimal_threshold(1.0), 4 / np.sqrt(3), rtol=1e-14)
    assert abs(optimal_threshold(1.0) / np.sqrt(marchenko_pastur_median(1.0)) - 2.858) < 1e-3
    for b in np.linspace(0.01, 1, 25):
        exact = optimal_threshold(b) / np.sqrt(marchenko_pastur_median(b))
        assert abs(exact - (0.56 * b**3 - 0.95 * b**2 + 1.82 * b + 1.43)) < 0.02


@pytest.mark.parametrize("ratio", [1e-3, 0.3, 1.0, 7.0, 1e3])
@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_equal_columns_have_the_edge_of_marchenko_and_pastur_exactly(ratio, size):
    assert_allclose(noise_edge(np.full(60, size), 60 / ratio), size * (1 + np.sqrt(ratio)) ** 2, rtol=1e-13)


@pytest.mark.parametrize("seed", range(6))
def test_the_edge_of_unequal_columns_is_a_minimum(seed):
    """1/u + γ·mean(t/(1 − tu)) is convex between 0 and 1/max t, and the edge is its smallest value (Silverstein)."""
    rng = np.random.default_rng(seed)
    t, freedom = rng.gamma(0.5, size=int(rng.integers(2, 200))) + 1e-3, float(rng.integers(2, 500))
    end = 1 / t.max()
    low = minimize_scalar(
        lambda u: 1 / u + np.sum(t / (1 - t * u)) / freedom, bounds=(0, end), method="bounded", options={"xatol": 1e-13}
    ).fun
    assert_allclose(noise_edge(t, freedom), low, rtol=1e-8)
    assert_allclose(noise_edge(np.append(t, np.zeros(50)), freedom), low, rtol=1e-8)


def test_noise_of_unequal_columns_ends_at_its_edge():
    rng, n, t = np.random.default_rng(1), 1000, np.geomspace(0.2, 4, 300)
    edge = noise_edge(t, n)
    found = [
        np.linalg.eigvalsh(X.T @ X / n)[-1] for X in (rng.standard_normal((n, 300)) * np.sqrt(t) for _ in range(5))
    ]
    assert_allclose(found, edge, rtol=0.06)
    white = t.mean() * marchenko_pastur_edge(0.3)
    assert min(found) > 1.3 * white  # which equal noise would not reach


def test_nothing_that_varies_has_no_edge():
    assert noise_edge(np.zeros(4), 10.0) == 0.0
    assert noise_edge(np.empty(0), 10.0) == 0.0
