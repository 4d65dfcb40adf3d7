"""Certificates of Nyström approximations, against their formulas."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import brentq

from mercer.certificates.nystrom import certify_nystrom, water_levels
from mercer.kernels.dot import Linear
from mercer.linalg.landmarks import LandmarkFeatures, LandmarkState, Moments, StretchedEnds

VALUES = np.array([5.0, 3.0])
OTHERS = np.array([1.0, 0.5])


def state(left=0.4, rounding=0.01, **changes):
    """Four coordinates with variances 5, 3, 1 and 0.5, and a mean of length 1 over 10 samples."""
    mean = np.array([1.0, 0, 0, 0])
    moments = Moments(10.0, mean, np.diag([5.0, 3, 1, 0.5]), 9.5 + 10 + left, left, 1.0, 0.0, rounding / 10, rounding)
    features, _ = LandmarkFeatures.from_samples(Linear(), np.eye(4))
    return replace(LandmarkState(features, moments, 10, 10, None, 4), **changes)


def certify(**changes):
    return certify_nystrom(state(**changes), VALUES, OTHERS, (), status="proven")


@given(
    values=st.lists(st.floats(0, 10), min_size=1, max_size=6).map(lambda v: np.sort(v)[::-1]),
    amount=st.floats(1e-3, 20),
)
def test_water_levels_solve_their_equation(values, amount):
    for i, level in enumerate(water_levels(values, amount)):
        first = values[: i + 1]
        root = brentq(lambda x, first=first: np.maximum(x - first, 0).sum() - amount, first[-1], first[0] + 2 * amount)
        assert_allclose(level, root, rtol=1e-9)


def test_intervals_of_one_fit():
    certificate = certify()
    assert_allclose(certificate.lower, [4.99, 2.99])
    assert_allclose(certificate.upper, [5.41 + 0.01, 3.41 + 0.01])  # left contains its rounding
    assert_allclose(certificate.bound_beyond, 1.41 + 0.01)
    assert_allclose(certificate.total, [9.9 - 0.1 - 0.01, 9.9 + 0.01])  # (Σ√e)²/Σw = 0.1
    assert_allclose(certificate.explained, [(8 - 0.02) / 9.91, (8 + 0.41 + 0.02) / 9.79])
    assert_allclose(certificate.captured, (9.5 - 0.01) / 9.91)
    half = 0.41 / 2 + 0.01
    assert_allclose(certificate.angles, [half / (2 - half)] * 2)
    assert certificate.n_complete == 2


def test_directions_that_what_is_left_could_turn():
    certificate = certify(left=3.0)
    assert_allclose(certificate.angles, 1)
    assert certificate.unresolved == (0, 1)
    assert "Not determined" in str(certificate)


def test_intervals_of_a_grown_set():
    ends = [
        StretchedEnds(0.5, np.array([4.0, 2.0, 0.5]), np.array([6.0, 4.0, 1.5])),
        StretchedEnds(1.0, np.array([3.0, 1.9, 0.0]), np.array([8.0, 5.0, 2.0])),
    ]
    grown = state(n_settled=2, stale=0.2, stale_roots=0.5)
    certificate = certify_nystrom(grown, VALUES, OTHERS, ends, status="proven")
    assert_allclose(certificate.lower, [4 - 0.2 - 0.01, 1.9 - 0.01])  # θ = 0.5, then θ = 1
    assert_allclose(certificate.upper, [6 + 0.41 + 0.4 + 0.015, 4 + 0.41 + 0.4 + 0.015])
    assert_allclose(certificate.bound_beyond, 1.5 + 0.41 + 0.4 + 0.015)
    assert_allclose(certificate.angles, 1)
    assert "may lie along them" in str(certificate)
    low, high = grown.variance
    assert_allclose(certificate.total, [low - 0.01, high + 0.01])
    assert_allclose(certificate.explained[0], (6 - 0.2 - 0.01 - 0.02) / certificate.total[1])


def test_the_status_of_the_kernel():
    invalid = certify_nystrom(state(), VALUES, OTHERS, (), status="invalid")
    assert not invalid.converged
    assert np.isinf(invalid.upper).all()
    assert "nothing is known" in str(invalid)
    assumed = certify_nystrom(state(), VALUES, OTHERS, (), status="assumed")
    assert "if the kernel is positive semi-definite" in assumed.summary
    assert assumed != invalid
    assert assumed == certify_nystrom(state(), VALUES, OTHERS, (), status="assumed")


@pytest.mark.parametrize(("left", "advice"), [(0.4, True), (0.0, False)])
def test_more_landmarks_are_recommended_only_where_they_would_see_more(left, advice):
    assert ("More n_landmarks" in str(certify(left=left))) == advice
