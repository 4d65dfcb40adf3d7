"""Certificates of Nyström approximations, against their formulas."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import brentq

from mercer.certificates.nystrom import certify_nystrom, water_levels
from mercer.data.dataset import ArrayDataset
from mercer.kernels.dot import Linear
from mercer.linalg.landmarks import LandmarkFeatures, LandmarkState, Moments, StretchedEnds, accumulate_moments

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


@pytest.mark.parametrize("sign", [1, -1])
def test_what_is_stale_mixes_with_what_is_known_of_the_same_landmark(sign):
    """Rows (10, ±0.1) are gone when a landmark shows the second column of others, (10, 1) — all times 1 and −1.

    The first eigenvalue is off by about the product of 1 and 0.1, ten times the square of what was not known.
    """
    half = np.tile([1.0, -1.0], 50)[:, None]
    before, after = half * [10.0, 0.1 * sign], half * [10.0, 1.0]
    features, _ = LandmarkFeatures.from_samples(Linear(), np.array([[1.0, 0.0]]))
    first = accumulate_moments(ArrayDataset(before), None, features, before[:10], 1)
    grown = LandmarkState(features, first, 100, 100, None, 1).extend(np.array([[0.0, 1.0]]), np.array([0]))
    grown = grown.add(accumulate_moments(ArrayDataset(after), None, grown.features, after[:10], 1), 100, 100)
    values, V = grown.eigenpairs(2)
    certificate = certify_nystrom(grown, values[:1], values[1:], grown.stretched_ends(values, V, 2), status="proven")
    exact = np.linalg.svd(np.concatenate([before, after]), compute_uv=False)[0] ** 2
    assert certificate.lower[0] <= exact <= certificate.upper[0]
    assert abs(exact - values[0]) > 4 * grown.stale


@pytest.mark.parametrize("stale", [0.0, 1e-9])
@pytest.mark.parametrize("sign", [1, -1])
def test_rounding_may_move_every_eigenvalue(sign, stale):
    """Rounding moved all of the scatter, and what is left, one way; what is left belongs to the first direction."""
    seen, rounding, left = np.arange(9.0, 1.0, -1), 1e-3, 2e-3
    exact = seen + left * (np.arange(8) == 0)
    S, roots = np.diag(seen + sign * rounding), float(np.sqrt(10 * left))
    moments = Moments(10.0, np.zeros(8), S, exact.sum(), left + sign * rounding, roots, 0.0, rounding / 10, rounding)
    features, _ = LandmarkFeatures.from_samples(Linear(), np.eye(8))
    rounded = LandmarkState(features, moments, 10, 10, None, 7 if stale else 8, stale, 0.0)
    values, V = rounded.eigenpairs(8)
    for k in (2, 7):
        ends = rounded.stretched_ends(values, V, k + 1)
        certificate = certify_nystrom(rounded, values[:k], values[k:], ends, status="proven")
        assert np.all(certificate.lower <= exact[:k])
        assert np.all(exact[:k] <= certificate.upper)
        assert exact[k] <= certificate.bound_beyond
        assert certificate.total[0] <= exact.sum() <= certificate.total[1]
        assert certificate.explained[0] <= exact[:k].sum() / exact.sum() <= certificate.explained[1]


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
