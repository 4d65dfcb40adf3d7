"""Terms of the proofs, one by one: problems on which a statement is false as soon as a term is left out."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import subspace_angles

from mercer_old.certificates.intervals import certify_landmarks
from mercer_old.certificates.residuals import certify
from mercer_old.operators.held import HeldMatrix
from mercer_old.plans.plan import Plan
from mercer_old.solvers import completeness, dense
from mercer_old.solvers.base import Eigenpairs
from mercer_old.solvers.completeness import explore, explore_by_products
from support.bottom import EPS, mixture

# ---------------------------------------------------------------------- the largest eigenpairs


def blurred(seed):
    """A matrix A, and pairs of a neighbour of it: every error that is allowed for, far larger than it ever is.

    The entries are off by a matrix of norm `entries`: all to one side, along a pair, or any. Every product is off by a
    column of length `rounding`. The vectors are off by some angle, or not at all, and the rest is bounded by just what
    it is.
    """
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 40))
    k = int(rng.integers(1, max(2, n // 2)))
    values = np.sort([rng.uniform(0, 1, n), 3.0 ** -np.arange(n), np.ceil(rng.uniform(0, 4, n)) / 4][seed % 3])[::-1]
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    entries, rounding, error = (float(rng.choice([0.0, some])) for some in (0.02, 0.01, 0.1))
    u = Q[:, [int(rng.integers(0, k + 1))]]
    any_way = rng.normal(size=(n, n))
    E = [np.eye(n), -np.eye(n), u @ u.T, -u @ u.T, any_way + any_way.T][seed % 5]
    A = Q * values @ Q.T
    near = A + entries * E / np.linalg.norm(E, 2)
    V = np.linalg.eigh(near)[1][:, ::-1][:, :k]
    V = np.linalg.qr(V + error * rng.normal(size=(n, k)) / np.sqrt(n))[0]
    P = [rng.normal(size=(n, k)), V, np.repeat(rng.normal(size=(n, 1)), k, axis=1)][seed % 4 % 3]
    products = near @ V + rounding * P / np.linalg.norm(P, axis=0)
    theta, Y = np.linalg.eigh((V.T @ products + products.T @ V) / 2)
    U, products = V @ Y[:, ::-1], products @ Y[:, ::-1]
    residuals = np.linalg.norm(products - U * theta[::-1], axis=0)
    outside = np.eye(n) - U @ U.T
    pairs = Eigenpairs(theta[::-1], U, residuals, products, product_rounding=rounding, turned=k, size=float(values[0]))
    bound = float(np.linalg.eigvalsh(outside @ near @ outside)[-1])
    return A, pairs, bound, entries


@pytest.mark.parametrize("some", range(8))
def test_certificates_hold_whatever_the_errors_they_allow_for_have_done(some):
    for seed in range(100 * some, 100 * some + 100):
        A, pairs, bound, entries = blurred(seed)
        c, k = certify(pairs, tol=1e-8, bound=bound, level="told", entries=entries), len(pairs)
        values, vectors = (part[..., ::-1] for part in np.linalg.eigh(A))
        assert np.all(c.lower <= values[:k] + 1e-13) and np.all(values[:k] <= c.upper + 1e-13), seed
        assert values[k] <= c.bound_beyond + 1e-13, seed
        for i in range(c.n_complete):
            inside = slice(*next(((a, b) for a, b in c.clusters if a <= i < b), (i, i + 1)))
            if c.angles[i] < 1:
                sine = np.sin(subspace_angles(pairs.vectors[:, inside], vectors[:, inside]).max())
                assert sine <= c.angles[i] + 1e-9, seed


def test_errors_of_products_that_all_point_one_way_add_up_when_they_are_turned():
    """Four products with unit vectors, each off by r = 0.01 along −e₁: their mean, times two, is off by 2r.

    So a vector of which each of the four has a half has θ = λ₁ − 2r, with a residual of nothing.
    """
    A, r = np.diag([4.0, 3.0, 2.0, 1.0, *np.zeros(20)]), 0.01
    turn = np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]]) / 2
    U = np.eye(24)[:, :4]
    products = A @ (U @ turn.T)
    products[0] -= r
    products = products @ turn
    theta = np.einsum("ij,ij->j", U, products)
    assert_allclose(theta, [4 - 2 * r, 3, 2, 1], rtol=1e-14)
    pairs = Eigenpairs(theta, U, np.zeros(4), products, product_rounding=r, turned=4, size=4.0)
    assert certify(pairs, tol=1e-8, bound=0.0, level="told").upper[0] >= 4


@pytest.mark.parametrize("which", [0, 1])
def test_angles_know_that_a_neighbour_may_be_nearer_than_it_seems(which):
    """Two eigenvalues 1 and 1 − g, and entries that are off by e = g/10, in the way that turns their vectors most.

    By ½·arcsin(2e/g), whose sine is 0.1005: more than e/g = 0.1, as the noise takes from the gap as well.
    """
    g = 0.5
    e = g / 10.0001
    near = np.diag([1.0, 1.0 - g, *np.linspace(-3, -4, 10)])
    a = e * 2 * e / g  # E = [[−a, b], [b, a]] of norm e turns by φ with sin 2φ = 2e/g if it narrows the gap by 2a
    b = np.sqrt(e**2 - a**2)
    A = near.copy()
    A[:2, :2] += [[-a, b], [b, a]]
    U = np.eye(12)[:, :2]
    pairs = Eigenpairs(np.array([1.0, 1.0 - g]), U, np.zeros(2), near @ U, size=4.0)
    c = certify(pairs, tol=1e-8, bound=-3.0, level="told", entries=e)
    true = np.linalg.eigh(A)[1][:, ::-1][:, which]
    sine = np.sqrt(1 - (true @ U[:, which]) ** 2)
    assert_allclose(sine, np.sin(np.arcsin(2 * e / g) / 2), rtol=1e-9)
    assert c.clusters == () and sine <= c.angles[which] < 0.13


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=6), st.integers(0, 63))
def test_what_is_reported_as_zero_lies_in_its_interval(middles, zeros):
    middles = np.sort(middles)[::-1]
    pairs = Eigenpairs(
        middles, np.eye(30)[:, : len(middles)], np.zeros(len(middles)), np.eye(30)[:, : len(middles)] * middles
    )
    zero = np.array([bool(zeros >> i & 1) for i in range(len(middles))])
    c = certify(pairs, tol=1e-8, bound=-2.0, level="told")
    told = c.with_zeros(zero)
    assert np.all(told.lower[zero] <= 0) and np.all(told.upper[zero] >= 0)
    assert np.all(told.lower <= c.lower) and np.all(told.upper >= c.upper)  # the truth is still inside
    assert np.array_equal(told.lower[~zero], c.lower[~zero]) and np.array_equal(told.upper[~zero], c.upper[~zero])


# ---------------------------------------------------------------------- what was missed: pivots, norms, counts


def held(values, seed=0):
    """A matrix with this spectrum in the clothes of a centred one, and its vectors."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.normal(size=(len(values), len(values))))[0]
    A = Q * values @ Q.T
    return HeldMatrix((A + A.T) / 2), Q


def test_a_bound_by_counting_has_room_for_the_residual():
    """λ = 1, 0.5: a vector between 1 and −1 has θ = cos 2φ and ρ = sin 2φ; what is outside reaches no further than
    λ₂ + ρ, and where θ − ρ is not above λ₂, another eigenvalue may be the largest, and nothing is known."""
    values = np.array([1.0, 0.5, 0.1, -1.0, 0.0])
    op, Q = held(values)
    for turn in (0.01, 0.1, 0.2, 0.25, 0.3):
        pairs = replace(mixture(op, Q, turn), bound=0.5)
        U, A = pairs.vectors, op.dense()
        outside = np.eye(5) - U @ U.T
        bound = completeness.bound_by_pivots(pairs)
        assert np.linalg.eigvalsh(outside @ A @ outside)[-1] <= bound + 1e-14
        assert (bound == np.inf) == (pairs.values[0] - pairs.residuals[0] <= 0.5)
        if np.isfinite(bound):
            assert bound >= 0.5 + pairs.residuals[0] - 1e-14


class WithNorm:
    """‖A‖_F², known up to so much."""

    def __init__(self, A, error):
        self.A, self.error = A, error

    def squared_norm(self, unit):
        return float(np.sum((self.A / unit) ** 2)) - self.error, self.error


@given(st.integers(0, 10**6), st.sampled_from([0.0, 1e-3, 0.1]), st.sampled_from([0.0, 0.05]))
def test_a_bound_by_the_norm_holds_for_all_that_is_outside(seed, turn, error):
    rng = np.random.default_rng(seed)
    values = np.sort(rng.normal(size=6) * (np.arange(6) < 2 + 4 * (seed % 2)))[::-1]  # two alone leave nothing to spare
    op, Q = held(values, seed)
    pairs = mixture(op, Q, turn)
    U, A = pairs.vectors, op.dense()
    outside = np.eye(6) - U @ U.T
    bound = completeness.bound_by_norm(WithNorm(A, error), pairs)
    assert np.abs(np.linalg.eigvalsh(outside @ A @ outside)).max() <= bound + 1e-12
    left = np.sum(values**2) - pairs.values[0] ** 2 - 2 * pairs.residuals[0] ** 2
    unit = abs(pairs.values[0]) or 1.0
    assert bound**2 <= max(left, error * unit**2) + 1e-9  # and it is no larger than that


def test_a_bound_by_lapack_has_room_for_the_rounding_of_lapack_and_of_the_matrix_it_was_given():
    op, _ = held(np.linspace(1, 0, 80))
    plan = Plan(dense.Dense(), "given", 0, "a test")
    pairs = replace(plan.solver.solve(op, 3, np.random.default_rng(0)), product_rounding=0.01)
    _, bound, _ = completeness.rule_out_missed(plan.solver, op, pairs, np.random.default_rng(0))
    assert bound >= pairs.beyond[0] + 0.01 + 8 * EPS / 2


class Swallowed(HeldMatrix):
    """A matrix that is 0.01·I, whose products are lost in their rounding."""

    product_rounding = 0.01

    def matmat(self, B):
        return np.zeros_like(B)


def test_probes_have_room_for_the_rounding_of_products():
    """All that is left is 0.01, and every product with it is rounded to nothing: the bound says it may be there."""
    op, U, rng = Swallowed(0.01 * np.eye(40)), np.eye(40)[:, :2], np.random.default_rng(0)
    assert explore(op, U, rng).upper >= 0.01
    probes = rng.normal(size=(40, 10))
    came_along = explore_by_products(U, 0.01 * U, probes, np.zeros((40, 10)), rounding=op.product_rounding)
    assert came_along.upper >= 0.01


def test_of_fewer_pairs_the_others_are_beyond_and_a_bound_after_the_last_is_forgotten():
    op, Q = held(np.linspace(1, 0, 6))
    pairs = Eigenpairs(np.array([1.0, 0.8, 0.6]), Q[:, :3], np.full(3, 1e-9), op.matmat(Q[:, :3]), bound=0.4)
    assert pairs.first(3).bound == 0.4
    fewer = pairs.first(2)
    assert fewer.bound == np.inf and fewer.beyond[0] == 0.6 and fewer.beyond_residuals[0] == 1e-9 and len(fewer) == 2


def test_lapack_that_returns_fewer_pairs_than_asked_is_not_believed(monkeypatch):
    """One of the two largest gets lost, as in clusters of equal eigenvalues."""
    op, _ = held(np.append([1.0, 0.9, 0.8], np.linspace(0.5, 0, 97)))
    assert_allclose(dense.Dense().solve(op, 2, np.random.default_rng(0)).beyond, [0.8], rtol=1e-12)
    lossy = lambda A, k: tuple(part[..., 1:] for part in some(A, k))  # noqa: E731
    some = dense._some_of_the_largest
    monkeypatch.setattr(dense, "_some_of_the_largest", lossy)
    pairs = dense.Dense().solve(op, 2, np.random.default_rng(0))
    assert_allclose(pairs.values, [1.0, 0.9], rtol=1e-12)
    assert_allclose(pairs.beyond, [0.8], rtol=1e-12)
    assert pairs.complete
    monkeypatch.setattr(dense, "leading_eigenpairs", lossy)
    assert not dense.Dense().solve(op, 2, np.random.default_rng(0)).complete


# ---------------------------------------------------------------------- landmarks


ROUNDING = 0.05  # far more than there ever is, so that every term shows


def intervals(values, left, total):
    return certify_landmarks(
        values, landmarks=9, seen=float(values.sum()), left=left, total=total, rounding=ROUNDING, standing="proven"
    )


@given(
    seen=st.lists(st.floats(0, 10), min_size=1, max_size=5),
    left=st.floats(0, 3),
    off=st.floats(-ROUNDING, ROUNDING),
    more=st.floats(-ROUNDING, ROUNDING),
    where=st.integers(0, 4),
)
def test_intervals_of_landmarks_hold_for_all_that_rounding_may_hide(seen, left, off, more, where):
    """Every sum that went into them is known up to rounding: whatever the true ones are, the truth lies inside.

    The true λ̂ differ by `off` at one place, tr(E) by `more`; all of tr(E) is spent to lift the first i eigenvalues to
    one level, or not at all: so the λᵢ are as large, or as small, as they can be.
    """
    values = np.sort(seen)[::-1].copy()
    true = values.copy()
    true[where % len(true)] += off
    true, spent = np.sort(np.maximum(true, 0.0))[::-1], max(left + more, 0.0)
    total = float(values.sum() + left)
    certificate = intervals(values, left, (total, total))
    for i in range(len(true)):
        lifted = true.copy()
        lifted[: i + 1] = np.maximum(true[: i + 1], level_of(true[: i + 1], spent))
        for answer in (true, lifted):
            assert np.all(certificate.lower <= answer + 1e-12) and np.all(answer <= certificate.upper + 1e-12)


def level_of(depths, amount):
    """By bisection: the level at which Σ max(level − depth, 0) is the amount."""
    low, high = depths.min(), depths.max() + amount + 1
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(middle - depths, 0).sum() <= amount else (low, middle)
    return low


def test_each_bound_of_landmarks_has_room_for_rounding_in_each_of_its_parts():
    """λ̂₁ = 4 may be 4 ± r, tr(E) = 1 may be 1 + r, all variance 6 … 7 may be 6 − r … 7 + r."""
    r = ROUNDING
    c = intervals(np.array([4.0]), 1.0, (6.0, 7.0))
    assert c.upper[0] >= 4 + r + 1 + r and c.lower[0] <= 4 - r and c.left >= 1 + r
    assert c.total[0] <= 6 - r and c.total[1] >= 7 + r
    assert c.explained[0] <= (4 - r) / (7 + r) and c.explained[1] >= (4 + 1 + r) / (6 - r)
    assert c.captured <= (4 - r) / (7 + r)
    assert intervals(np.array([4.0]), 100.0, (6.0, 7.0)).upper[0] >= 7 + r  # no more than there is, known up to r
