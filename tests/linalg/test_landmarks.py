"""Nyström features, their moments, and sets of landmarks that grow."""

import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from mercer.data.dataset import ArrayDataset
from mercer.kernels.distance import RBF, PreparedEuclidean
from mercer.kernels.dot import Linear
from mercer.linalg import landmarks as module
from mercer.linalg.landmarks import LandmarkFeatures, LandmarkState, Moments, accumulate_moments
from mercer.numerics.threads import blas_threads

X = np.random.default_rng(0).normal(size=(500, 4))


def moments_of(features, rows, weights=None, n_threads=1):
    with blas_threads(1):
        return accumulate_moments(ArrayDataset(rows), weights, features, rows[-50:], n_threads)


def naive_moments(features, rows, weights=None):
    w = np.ones(len(rows)) if weights is None else weights
    Phi = np.linalg.solve(features.factor, features.kernel(features.samples, rows)).T
    mean = w @ Phi / w.sum()
    e = features.kernel.diag(rows) - (Phi**2).sum(axis=1)
    scatter = (w[:, None] * (Phi - mean)).T @ (Phi - mean)
    return mean, scatter, w @ features.kernel.diag(rows), w @ np.maximum(e, 0)


def state_of(features, moments, n):
    return LandmarkState(features, moments, n, n, np.arange(features.n_landmarks), features.n_landmarks)


# ---------------------------------------------------------------------- features


def test_features_reproduce_the_kernel_of_landmarks():
    features, order = LandmarkFeatures.from_samples(RBF(0.2), X[:30])
    Phi = features.transform(X[:30])
    assert_allclose(Phi @ Phi.T, RBF(0.2)(X[:30], X[:30]), atol=1e-12)
    assert_array_equal(features.samples, X[order])
    assert_allclose(features.transform(features.samples), features.factor, atol=1e-12)


def test_features_are_the_part_of_the_kernel_that_landmarks_see():
    features, _ = LandmarkFeatures.from_samples(RBF(0.2), X[:30])
    Phi, K = features.transform(X), RBF(0.2)(X, X)
    assert np.linalg.eigvalsh(K - Phi @ Phi.T)[0] > -1e-12


def test_duplicates_among_landmarks_are_left_out():
    features, order = LandmarkFeatures.from_samples(RBF(0.2), np.concatenate([X[:10], X[:10]]))
    assert features.n_landmarks == len(order) == 10


def test_a_kernel_that_is_zero_keeps_one_landmark():
    features, order = LandmarkFeatures.from_samples(Linear(), np.zeros((5, 4)))
    assert_array_equal(order, [0])
    assert_array_equal(features.transform(X), np.zeros((500, 1)))
    grown, joined = features.extend(X[:2])
    assert grown.n_landmarks == len(joined) == 2


def test_more_landmarks_leave_the_coordinates_of_fewer_as_they_are():
    features, _ = LandmarkFeatures.from_samples(RBF(0.2), X[:20])
    grown, order = features.extend(X[15:40])
    assert grown.n_landmarks == 20 + len(order) == 40
    assert_array_equal(grown.factor[:20, :20], features.factor)
    assert_allclose(grown.transform(X)[:, :20], features.transform(X), atol=1e-11)
    assert_allclose(grown.factor @ grown.factor.T, RBF(0.2)(grown.samples, grown.samples), atol=1e-13)


@pytest.mark.parametrize("gamma", [1.0, 0.05, 1e-3])
def test_error_bounds_of_the_factor_hold_and_are_narrow(gamma):
    features, _ = LandmarkFeatures.from_samples(RBF(gamma), X[:60])
    L, inverse = features.factor.astype(np.longdouble), features.inverse.astype(np.longdouble)
    K = RBF(gamma)(features.samples, features.samples)
    off = np.linalg.norm((L @ L.T - K).astype(float))
    assert off <= features.factor_error <= 1e-11
    rows = np.random.default_rng(1).normal(size=(40, 4))
    k = RBF(gamma)(rows, features.samples)
    exact = np.empty(k.shape, dtype=np.longdouble)  # by forward substitution
    for i in range(len(L)):
        exact[:, i] = (k[:, i] - exact[:, :i] @ L[i, :i]) / L[i, i]
    off = np.linalg.norm((features.transform(rows) - exact).astype(float), axis=1)
    assert np.all(off <= features.inverse_error * np.linalg.norm(exact.astype(float), axis=1))
    assert np.abs((inverse @ L - np.eye(len(L))).astype(float)).max() <= features.inverse_error


def test_features_can_be_pickled():
    features, _ = LandmarkFeatures.from_samples(RBF(0.2), X[:20])
    before = features.transform(X)
    assert_array_equal(pickle.loads(pickle.dumps(features)).transform(X), before)  # noqa: S301


# ---------------------------------------------------------------------- moments


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("gamma", "n_landmarks"), [(0.5, 60), (0.01, 30)])
def test_moments_are_those_of_the_features(gamma, n_landmarks, weighted):
    weights = np.random.default_rng(0).uniform(0, 3, size=500) if weighted else None
    features, _ = LandmarkFeatures.from_samples(RBF(gamma), X[:n_landmarks])
    moments = moments_of(features, X, weights)
    mean, scatter, diagonal, left = naive_moments(features, X, weights)
    assert_allclose(moments.mean, mean, atol=1e-9)
    assert np.linalg.norm(moments.scatter - scatter, 2) <= moments.rounding
    assert abs(moments.left - left) <= moments.rounding
    assert_allclose(moments.diagonal, diagonal, rtol=1e-14)
    assert moments.rounding <= max(0.04 * left, 1e-8 * diagonal)
    assert moments.roots**2 <= 1.001 * moments.weight * (left + moments.rounding)


def test_sums_of_kernel_values_are_taken_where_landmarks_leave_much():
    for gamma, n_landmarks, expected in [(0.5, 60, True), (1e-4, 60, False)]:
        features, _ = LandmarkFeatures.from_samples(RBF(gamma), X[:n_landmarks])
        assert module._SumPlan.from_sample(features, X[-50:]).kernel_values == expected


def test_sums_are_repeated_with_features_if_the_sample_misled():
    """The first rows are far from all landmarks, the others are landmarks, of which nothing is left."""
    features, _ = LandmarkFeatures.from_samples(RBF(0.05), X[:200])
    far = X[:50] + 100
    assert module._SumPlan.from_sample(features, far).kernel_values
    moments = accumulate_moments(ArrayDataset(X[:200]), None, features, far, 1)
    assert moments.rounding <= 1e-6 * moments.diagonal


def test_both_kinds_of_sums_agree_within_their_rounding():
    features, _ = LandmarkFeatures.from_samples(RBF(0.1), X[:100])
    found = []
    for kernel_values in (False, True):
        plan = module._SumPlan(RBF(0.1)(X, features.samples).mean(axis=0), kernel_values)
        found.append(module._accumulate(ArrayDataset(X), None, features, plan, 1))
    by_features, by_values = found
    difference = np.linalg.norm(by_features.scatter - by_values.scatter, 2)
    assert difference <= by_features.rounding + by_values.rounding
    assert abs(by_features.left - by_values.left) <= by_features.rounding + by_values.rounding
    assert by_values.roots >= by_features.roots


@pytest.mark.parametrize(("gamma", "weighted"), [(0.05, False), (0.5, True)])
def test_rounding_covers_errors_of_entries(gamma, weighted, monkeypatch):
    """Errors of one size and the signs of A = ΦL⁻¹ change Σ‖φ‖² by 2Σ|δ||A|, to first order."""
    w = np.random.default_rng(0).uniform(0.5, 2, size=500) if weighted else np.ones(500)
    features, _ = LandmarkFeatures.from_samples(RBF(gamma), X[:60])
    A = features.transform(X) @ features.inverse
    monkeypatch.setattr(PreparedEuclidean, "entry_error", lambda self: 1e-6)
    moments = moments_of(features, X, w if weighted else None)
    assert moments.rounding >= 1e-6 * (2 * w @ np.abs(A).sum(axis=1) + w.sum())
    norm_A = np.sqrt(w @ (A**2).sum(axis=1))
    assert moments.rounding <= 1.1e-6 * (2 * np.sqrt(60 * w.sum()) * norm_A + w.sum())


class WithErrors:
    """Scalar products of rows with errors of one size: of k(x, s) away from zero, of k(s, s) and k(x, x) down."""

    psd = True

    def __init__(self, error, rows=None, columns=None):
        self.error, self.rows, self.columns = error, rows, columns

    def __call__(self, X, Y):  # of landmarks
        return X @ Y.T - self.error

    def diag(self, X):
        return (X**2).sum(axis=1) - self.error

    def prepare(self, Y):
        return WithErrors(self.error, Y, Y)

    def against(self, X):
        return WithErrors(self.error, X, self.columns)

    def entry_error(self):
        return self.error

    def fill(self, rows, columns, out):
        K = self.rows[rows] @ self.columns.T
        out[...] = K + self.error * np.sign(K)


@pytest.mark.parametrize("size", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("kernel_values", [False, True])
@pytest.mark.parametrize("weight", [None, 4.0])
def test_rounding_covers_errors_of_entries_that_add_up(weight, kernel_values, size):
    """ΦΦᵀ exceeds K by no more than the rounding, and its trace with what is left is as much less at most.

    One landmark shows the first of two columns, ±1 and ±0.3. A small landmark multiplies errors of k(x, s) and k(s, s);
    for a large one those of k(x, x) are more.
    """
    rows, weights = np.tile([[1.0, 0.3], [-1.0, 0.3], [1.0, -0.3], [-1.0, -0.3]], (50, 1)), None
    total = 200.0
    if weight is not None:
        weights, total = np.full(200, weight), 200.0 * weight
    features, _ = LandmarkFeatures.from_samples(WithErrors(1e-6), np.array([[size, 0.0]]))
    plan = module._SumPlan(np.zeros(1), kernel_values)
    moments = module._accumulate(ArrayDataset(rows), weights, features, plan, 1)
    seen = float(moments.scatter[0, 0])
    assert total < seen <= total + moments.rounding
    assert 1.09 * total <= seen + moments.left + moments.rounding


def test_rounding_covers_the_error_of_the_factor():
    features, _ = LandmarkFeatures.from_samples(RBF(0.05), X[:60])
    A = features.transform(X) @ features.inverse
    moments = moments_of(replace(features, factor_error=1e-6), X)
    largest = np.linalg.norm(A, 2) ** 2  # of AΔAᵀ with ‖Δ‖ = 1e-6
    assert 1e-6 * largest <= moments.rounding <= 1.1e-6 * (A**2).sum()


def test_rounding_covers_the_error_of_the_inverse():
    features, _ = LandmarkFeatures.from_samples(RBF(0.05), X[:60])
    moments = moments_of(replace(features, inverse_error=1e-6), X)
    assert 2e-6 * (features.transform(X) ** 2).sum() <= moments.rounding <= 2.2e-6 * moments.diagonal


def test_rounding_covers_the_additions_of_many_batches():
    """Tenths add up to less or more than their number; nothing else is rounded."""
    one = Moments(1.0, np.zeros(1), np.array([[0.1]]), 0.1, 0.0, 0.0, 0.0, 0.0, 0.0)
    both, most = one, 0.0
    for count in range(2, 200):
        both = both + one
        exact = Fraction(0.1) * count
        off = max(abs(Fraction(float(found)) - exact) for found in (both.scatter[0, 0], both.diagonal))
        assert off <= both.rounding
        most = max(most, float(off / exact))
    assert most > 20 * module.UNIT


@pytest.mark.parametrize("gamma", [0.5, 1e-3])
def test_any_number_of_threads_gives_the_same_bits(gamma):
    rows = np.tile(X, (40, 1))
    features, _ = LandmarkFeatures.from_samples(RBF(gamma), X[:80])
    one, two = moments_of(features, rows, None, 1), moments_of(features, rows, None, 2)
    assert_array_equal(one.scatter, two.scatter)
    assert_array_equal(one.mean, two.mean)
    assert (one.left, one.diagonal, one.roots, one.rounding) == (two.left, two.diagonal, two.roots, two.rounding)


@pytest.mark.parametrize("weighted", [False, True])
def test_moments_of_batches_are_those_of_all_rows(weighted):
    weights = np.random.default_rng(0).uniform(0.1, 3, size=500) if weighted else None
    features, _ = LandmarkFeatures.from_samples(RBF(0.5), X[:40])
    whole = moments_of(features, X, weights)
    parts = [
        moments_of(features, X[some], None if weights is None else weights[some])
        for some in (slice(0, 3), slice(3, 200), slice(200, 500))
    ]
    summed = parts[0] + parts[1] + parts[2]
    assert_allclose(summed.mean, whole.mean, atol=1e-12)
    assert_allclose(summed.scatter, whole.scatter, atol=1e-10)
    assert_allclose([summed.left, summed.diagonal, summed.weight], [whole.left, whole.diagonal, whole.weight])
    assert summed.least == min(part.least for part in parts)
    assert summed.rounding >= sum(part.rounding for part in parts)


def test_the_interval_of_the_variance_is_that_of_the_unseen_mean():
    """T − (Σw√e)²/Σw ≤ variance ≤ T, with equality at the lower end if all rows leave the same."""
    moments = Moments(4.0, np.array([0.5]), np.eye(1), 10.0, 2.0, 4 * np.sqrt(0.5), 0.1, 0.0, 0.0)
    assert moments.variance == (pytest.approx(10 - 1 - 2), 10 - 1)


# ---------------------------------------------------------------------- growing


def grown_state(kernel=RBF(0.3), first=200, more=15, tail=0):  # noqa: B008  kernels are immutable
    """Landmarks among the first rows, then more among the others."""
    features, _ = LandmarkFeatures.from_samples(kernel, X[:20])
    state = state_of(features, moments_of(features, X[:first]), first)
    state = state.extend(X[first : first + more], np.arange(first, first + more))
    batch = moments_of(state.features, X[first:])
    return state.add(batch, 500 - first, 500 - first)


def test_what_was_left_before_landmarks_joined_is_stale():
    features, _ = LandmarkFeatures.from_samples(RBF(0.3), X[:20])
    state = state_of(features, moments_of(features, X[:200]), 200)
    grown = state.extend(X[200:210], np.arange(200, 210))
    assert (grown.n_settled, grown.features.n_landmarks) == (20, 30)
    assert grown.stale == state.moments.left + state.moments.rounding
    assert_array_equal(grown.moments.scatter[20:], 0)
    assert_array_equal(np.sort(grown.indices[20:]), np.arange(200, 210))
    again = grown.extend(X[300:305], np.arange(5))
    assert again.n_settled == 20
    assert grown.extend(X[:3], np.arange(3)) is grown  # nothing new


def test_coordinates_of_rows_that_are_gone_are_no_longer_than_what_was_left_of_them():
    state = grown_state()
    later = state.features.transform(X[:200])[:, state.n_settled :]
    assert np.sum(later**2) <= state.stale
    assert np.linalg.norm(later, axis=1).sum() <= state.stale_roots


def test_what_rounding_hid_of_rows_that_are_gone_is_stale():
    """All rows have a second coordinate of the same length, and rounding hid it: nothing seemed to be left of them."""
    a = np.random.default_rng(0).normal(size=50)
    rows = np.column_stack([a, np.full(50, 1e-3)])
    features, _ = LandmarkFeatures.from_samples(Linear(), np.array([[1.0, 0.0]]))
    hidden = float((rows[:, 1] ** 2).sum())
    moments = Moments(50.0, a.mean(keepdims=True), np.array([[50 * a.var()]]), float(a @ a), 0.0, 0.0, 0.0, 0.0, hidden)
    state = state_of(features, moments, 50).extend(np.array([[0.0, 1.0]]), np.array([50]))
    later = state.features.transform(rows)[:, 1]
    assert np.sum(later**2) <= state.stale * (1 + 1e-12)
    assert np.abs(later).sum() <= state.stale_roots * (1 + 1e-12)


def test_the_variance_of_a_grown_set_contains_that_of_the_kernel():
    for kernel in (RBF(0.3), RBF(1.0), RBF(0.02)):
        state = grown_state(kernel)
        K = kernel(X, X)
        exact = np.trace(K) - K.sum() / len(K)
        low, high = state.variance
        assert low - state.moments.rounding <= exact <= high + state.moments.rounding


@given(seed=st.integers(0, 10**6), size=st.floats(0, 1))
def test_the_variance_holds_for_any_coordinates_that_stale_rows_may_have(seed, size):
    """Rows in R³ with coordinates a (known of all), b (known of the second half) and c (never known)."""
    rng = np.random.default_rng(seed)
    F = rng.normal(size=(40, 3)) * [1.0, size, 1 - size] + rng.normal(size=3)
    stale = F[:20].copy()
    known = F.copy()
    known[:20, 1] = 0
    known[:, 2] = 0
    e = (F**2).sum(axis=1) - (known**2).sum(axis=1)
    mean = known.mean(axis=0)[:2]
    scatter = (known[:, :2] - mean).T @ (known[:, :2] - mean)
    roots = np.linalg.norm(stale[:, 1:], axis=1).sum()
    moments = Moments(40.0, mean, scatter, (F**2).sum(), e.sum(), np.sqrt(e).sum(), 0.0, 0.0, 0.0)
    features, _ = LandmarkFeatures.from_samples(Linear(), np.eye(2))
    state = LandmarkState(features, moments, 40, 40, None, 1, float((stale[:, 1:] ** 2).sum()), float(roots))
    exact = ((F - F.mean(axis=0)) ** 2).sum()
    low, high = state.variance
    assert low - 1e-9 <= exact <= high + 1e-9
    centered = F - F.mean(axis=0)
    assert state.seen <= (centered[:, :2] ** 2).sum() + 1e-9


def test_the_variance_that_is_seen_is_sharp_where_nothing_is_stale():
    features, _ = LandmarkFeatures.from_samples(RBF(0.3), X[:20])
    state = state_of(features, moments_of(features, X), 500)
    assert_allclose(state.seen, np.trace(state.moments.scatter))
    b = replace(state, n_settled=19, stale=float(state.moments.scatter[19, 19]) / 4)
    expected = np.trace(state.moments.scatter) - 0.75 * state.moments.scatter[19, 19]
    assert_allclose(b.seen, expected)  # (1 − 1/2)² of the last coordinate


@given(seed=st.integers(0, 10**6), n_later=st.integers(1, 4), size=st.sampled_from([0.03, 0.3, 1.0]))
def test_the_ends_hold_for_any_coordinates_that_rows_may_have(seed, n_later, size):
    """ΦΦᵀ lies between the known ends and what Δ may add, for every θ."""
    rng = np.random.default_rng(seed)
    r = 6
    F = rng.normal(size=(30, r)) * 0.7 ** np.arange(r)
    F[:15, r - n_later :] *= size
    Delta = np.zeros_like(F)
    Delta[:15, r - n_later :] = F[:15, r - n_later :]
    known = F - Delta
    stale = float((Delta**2).sum())
    center = lambda A: A - A.mean(axis=0)  # noqa: E731
    scatter = center(known).T @ center(known)
    exact = np.linalg.svd(center(F), compute_uv=False) ** 2
    moments = Moments(30.0, known.mean(axis=0), scatter, 0.0, stale, 0.0, 0.0, 0.0, 0.0)
    features, _ = LandmarkFeatures.from_samples(Linear(), np.eye(r))
    state = LandmarkState(features, moments, 30, 30, None, r - n_later, stale)
    for wanted in (r, 4):
        values, V = state.eigenpairs(wanted)
        for end in state.stretched_ends(values, V, 4):
            assert np.all(exact[:4] >= end.below - (1 / end.theta - 1) * stale - 1e-9)
            assert np.all(exact[:4] <= end.above + (1 + 1 / end.theta) * stale + 1e-9)


@pytest.mark.parametrize("gamma", [0.05, 1.0])
@pytest.mark.parametrize("wanted", [6, 20, 35])
def test_bounds_from_few_eigenpairs_contain_the_ends(gamma, wanted):
    state = grown_state(RBF(gamma))
    S, r = state.moments.scatter, state.features.n_landmarks
    values, V = state.eigenpairs(wanted)
    for end in state.stretched_ends(values, V, 5):
        exact = []
        for factor in (1 - end.theta, 1 + end.theta):
            f = np.where(np.arange(r) < state.n_settled, 1.0, np.sqrt(factor))
            exact.append(np.linalg.eigvalsh(f[:, None] * S * f)[::-1][:5])
        assert np.all(end.below <= exact[0] + 1e-9)
        assert np.all(exact[1] <= end.above + 1e-9)
        if wanted >= r:  # nothing is lost then
            assert_allclose(end.below, exact[0], atol=1e-8)
            assert_allclose(end.above, exact[1], atol=1e-8)


def test_stale_rows_may_cancel_the_mean():
    """Coordinates −1 of 20 stale rows and 1 of 20 others: the mean is 0, and 0.5 as far as is known."""
    moments = Moments(40.0, np.array([0.0, 0.5]), np.diag([0.0, 10.0]), 40.0, 20.0, 20.0, 0.0, 0.0, 0.0)
    features, _ = LandmarkFeatures.from_samples(Linear(), np.eye(2))
    state = LandmarkState(features, moments, 40, 40, None, 1, 20.0, 20.0)
    assert state.variance[1] == pytest.approx(40.0)
