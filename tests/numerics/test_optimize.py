"""Minimization within bounds, with its history."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import rosen, rosen_der

from mercer.numerics.optimize import minimize


def rosenbrock(x):
    return float(rosen(x)), rosen_der(x)


def test_minimum_and_history():
    found = minimize(rosenbrock, np.zeros(5), tol=1e-8, max_iter=200)
    assert_allclose(found.x, np.ones(5), atol=1e-6)
    assert found.values[0] == rosen(np.zeros(5))
    assert found.n_iter == len(found.values) - 1
    assert np.all(np.diff(found.values) <= 0)
    assert found.gradient_norm <= 1e-6


def test_gradient_is_zero_at_an_active_bound():
    low, high = np.full(3, -1.0), np.full(3, 0.5)
    found = minimize(rosenbrock, np.zeros(3), tol=1e-9, max_iter=200, bounds=(low, high))
    assert np.all((found.x >= low) & (found.x <= high))
    assert_array_equal(found.gradient[found.x == high], 0)
    assert found.gradient_norm < 1e-5 < np.abs(rosen_der(found.x)).max()


def test_a_short_step_does_not_end_it():
    """From zero, scipy's L-BFGS-B alone ends at 0.874 with a projected gradient of 0.33."""
    found = minimize(rosenbrock, np.zeros(3), tol=1e-9, max_iter=200, bounds=(np.full(3, -1.0), np.full(3, 0.5)))
    assert_allclose(found.values[-1], 0.806930693069307, rtol=1e-14)


def test_each_point_is_evaluated_once_at_the_start():
    points = []

    def function(x):
        points.append(tuple(x))
        return rosenbrock(x)

    minimize(function, np.zeros(2), tol=1e-8, max_iter=3)
    assert points.count((0.0, 0.0)) == 1


def test_callback_ends_it_and_progress_is_reported():
    seen, done = [], []

    def stop(x):
        seen.append(x.copy())
        return len(seen) == 2

    found = minimize(rosenbrock, np.zeros(4), tol=1e-12, max_iter=50, callback=stop, progress=done.append)
    assert found.n_iter == 2
    assert_allclose(done, [0.02, 0.04])
    assert_array_equal(found.x, seen[-1])


@pytest.mark.parametrize("max_iter", [1, 4])
def test_iterations_are_limited(max_iter):
    assert minimize(rosenbrock, np.zeros(4), tol=1e-12, max_iter=max_iter).n_iter == max_iter


def test_nothing_to_minimize():
    found = minimize(lambda x: (3.0, x), np.zeros(0), tol=1e-8, max_iter=5)
    assert found.values == [3.0] and found.n_iter == 0
