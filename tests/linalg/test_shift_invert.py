"""The smallest eigenpairs of alignment matrices, against dense eigensolvers and exact arithmetic."""

import mpmath
import numpy as np
import pytest
from scipy import sparse

from mercer.certificates.gap import certify_gaps
from mercer.linalg import shift_invert
from mercer.linalg.alignment import alignment_matrix
from mercer.linalg.eigen import Eigenpairs
from mercer.linalg.neighbors import Points
from mercer.linalg.shift_invert import (
    DenseBottom,
    DenseFactor,
    ShiftInvert,
    SparseFactor,
    _ritz,
    bottom_floor,
    bound_by_inertia,
    count_negative_pivots,
    one_norm,
)
from mercer.numerics.random_state import lazy_generator
from support.local import METHODS, roll, sheet

SOLVERS = {"lapack": DenseBottom(), "sparse": ShiftInvert("sparse"), "dense": ShiftInvert("dense")}
every_solver = pytest.mark.parametrize("name", SOLVERS)


def alignment(X, k=10, method="standard", d=2, reg=1e-3):
    space = Points.from_rows(X)
    return alignment_matrix(space, space.nearest(k).indices, method, n_components=d, reg=reg, modified_tol=1e-12)


def with_spectrum(values, seed=0):
    """A positive semi-definite matrix with these eigenvalues, and 0 for the constant vector, in float64."""
    n = len(values) + 1
    Q = np.linalg.qr(np.column_stack([np.ones(n), np.random.default_rng(seed).normal(size=(n, n - 1))]))[0][:, 1:]
    M = (Q * values) @ Q.T
    return sparse.csc_array((M + M.T) / 2), Q


def true_eigenvalues(M, digits=40):
    """All eigenvalues of the matrix as it is stored, in multiple precision."""
    with mpmath.workdps(digits):
        values = mpmath.eigsy(mpmath.matrix(np.asarray(M.toarray()).tolist()), eigvals_only=True)
    return np.array([float(value) for value in values])


@every_solver
@pytest.mark.parametrize("method", METHODS)
def test_pairs_are_those_of_a_dense_eigensolver(name, method):
    M = alignment(sheet(225), 12, method)
    pairs = SOLVERS[name].solve(M, 3, lazy_generator(0))
    values, V = np.linalg.eigh(M.toarray() + 2 * one_norm(M) / 225)
    np.testing.assert_allclose(pairs.values, values[:3], atol=20 * bottom_floor(pairs.norm))
    overlap = np.linalg.svd(V[:, :3].T @ pairs.vectors)[1]
    assert overlap.min() > 1 - 1e-6
    np.testing.assert_allclose(pairs.vectors.sum(axis=0), 0, atol=1e-10)
    np.testing.assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(3), atol=1e-12)
    true = np.linalg.norm(M @ pairs.vectors - pairs.vectors * pairs.values, axis=0)
    np.testing.assert_allclose(pairs.residuals, true, atol=bottom_floor(pairs.norm))


@every_solver
def test_intervals_contain_the_eigenvalues_of_multiple_precision(name):
    M = alignment(sheet(36), 6)
    pairs = SOLVERS[name].solve(M, 3, lazy_generator(0))
    certificate = certify_gaps(pairs, tol=1e-6)
    true = true_eigenvalues(M)
    own = true[1:4]  # the smallest is that of the constant vector, but for rounding
    assert (certificate.lower <= own).all() and (own <= certificate.upper).all()
    assert certificate.certified and certificate.n_complete == 3
    assert certificate.bound_beyond <= true[4] + certificate.rounding


@every_solver
@pytest.mark.parametrize("smallest", [1e-3, 1e-8, 1e-12])
def test_tiny_eigenvalues_are_resolved_to_rounding(name, smallest):
    values = np.concatenate([smallest * np.array([1.0, 2.0, 5.0, 9.0]), np.linspace(0.1, 1.0, 95)])
    M, Q = with_spectrum(values)
    pairs = SOLVERS[name].solve(M, 2, lazy_generator(0))
    noise = bottom_floor(pairs.norm)
    np.testing.assert_allclose(pairs.values, values[:2], atol=noise, rtol=1e-6)
    certificate = certify_gaps(pairs, tol=1e-6)
    sines = np.sqrt(np.maximum(1 - np.einsum("ij,ij->j", Q[:, :2], pairs.vectors) ** 2, 0))
    assert (sines <= certificate.angles + 1e-7).all()
    assert certificate.n_complete == 2


@every_solver
def test_no_eigenvalue_is_missed_among_many_small_ones(name):
    values = np.concatenate([1e-9 * np.arange(1.0, 21.0), np.linspace(0.5, 1.0, 180)])
    pairs = SOLVERS[name].solve(with_spectrum(values)[0], 10, lazy_generator(0))
    np.testing.assert_allclose(pairs.values, values[:10], atol=bottom_floor(pairs.norm))
    certificate = certify_gaps(pairs, tol=1e-6)
    assert certificate.n_complete == 10 and pairs.values[-1] < pairs.bound <= values[10] * (1 + 1e-3)


@pytest.mark.parametrize("factor", ["sparse", "dense"])
@pytest.mark.parametrize("gap", [1e-2, 1e-5])
def test_inertia_separates_what_probes_cannot(factor, gap):
    values = np.concatenate([1e-6 * np.array([1.0, 2.0, 2.0 * (1 + gap)]), np.linspace(0.5, 1.0, 97)])
    M, _ = with_spectrum(values)
    pairs = ShiftInvert(factor).solve(M, 2, lazy_generator(0))
    assert values[1] < pairs.bound <= values[2] * (1 + 1e-9)


@pytest.mark.parametrize("factor", ["sparse", "dense"])
def test_pivots_of_a_missed_eigenvalue_are_too_many(factor):
    """Of three small eigenvalues one is not among the Ritz values: no bound may come of that."""
    M, _ = with_spectrum(np.concatenate([[1e-3, 2e-3, 3e-3], np.linspace(0.5, 1.0, 57)]))
    norm, rng = one_norm(M), np.random.default_rng(0)
    found = np.linalg.eigh(np.asarray(M.toarray() if sparse.issparse(M) else M))[1]
    for chosen, holds in ([1, 2, 3], True), ([1, 2, 4], False), ([1, 3, 4], False):
        U = found[:, chosen]  # the first is constant
        ritz = _ritz(U, M @ U, 3)
        assert np.isfinite(bound_by_inertia(M, ritz, 2, norm, factor, rng)) == holds


def test_a_bound_is_never_above_the_next_eigenvalue():
    rng = np.random.default_rng(0)
    for seed in range(40):
        values = np.sort(10.0 ** rng.uniform(-9, 0, size=60))
        k = int(rng.integers(1, 6))
        M, _ = with_spectrum(values, seed)
        for solver in SOLVERS.values():
            pairs = solver.solve(M, k, lazy_generator(seed))
            noise = bottom_floor(pairs.norm)
            below = np.sum(pairs.values < pairs.bound - noise)
            if below:  # all eigenvalues but the first of them are at least the bound
                assert pairs.bound <= values[min(below, k)] * (1 + 1e-6) + noise, (seed, solver)


def test_equal_eigenvalues_at_the_cut_leave_completeness_open():
    values = np.concatenate([[1e-6, 2e-6, 2e-6], np.linspace(0.5, 1.0, 97)])
    pairs = ShiftInvert().solve(with_spectrum(values)[0], 2, lazy_generator(0))
    certificate = certify_gaps(pairs, tol=1e-6)
    assert certificate.n_complete == 1 and "completeness" in certificate.not_established
    assert certificate.unresolved == (1,)


@every_solver
def test_zero_matrix_and_all_eigenvalues(name):
    pairs = SOLVERS[name].solve(sparse.csc_array((30, 30)), 2, lazy_generator(0))
    np.testing.assert_array_equal(pairs.values, 0)
    M, _ = with_spectrum(np.linspace(1, 2, 7))
    pairs = SOLVERS[name].solve(M, 7, lazy_generator(0))
    np.testing.assert_allclose(pairs.values, np.linspace(1, 2, 7))
    assert np.isinf(pairs.bound)


@pytest.mark.parametrize("name", ["sparse", "dense"])
def test_a_stopped_solver_does_not_claim_to_have_converged(name):
    M = alignment(roll(800)[0], 12)
    pairs = ShiftInvert(name, max_passes=1).solve(M, 2, lazy_generator(0))
    assert not certify_gaps(pairs, tol=1e-6).converged


@pytest.mark.parametrize("name", ["sparse", "dense"])
def test_threads_do_not_change_a_bit(name):
    M = alignment(roll(900)[0], 12)
    one = ShiftInvert(name, n_threads=1).solve(M, 2, lazy_generator(0))
    two = ShiftInvert(name, n_threads=2).solve(M, 2, lazy_generator(0))
    np.testing.assert_array_equal(one.vectors, two.vectors)
    assert one.bound == two.bound


@pytest.mark.parametrize("Factor", [SparseFactor, DenseFactor])
@pytest.mark.parametrize("n", [30, 900])
def test_factors_solve_to_rounding(Factor, n):
    M = alignment(roll(n)[0], 8)
    shift = 1e-3
    B = np.random.default_rng(0).normal(size=(n, 7))
    X = Factor(M, shift).solve(B)
    np.testing.assert_allclose(M @ X + shift * X, B, atol=1e-10)


def test_the_inverse_is_symmetric_and_without_constants():
    M = alignment(roll(300)[0], 8)
    inverse = SparseFactor(M, 1e-6)
    B = np.random.default_rng(0).normal(size=(300, 5)) + 3
    np.testing.assert_allclose(inverse.matmat(B).sum(axis=0), 0, atol=1e-8)
    inner = (B - B.mean(axis=0)).T @ inverse.matmat(B)
    np.testing.assert_allclose(inner, inner.T, rtol=1e-6)


@pytest.mark.parametrize("factor", ["sparse", "dense"])
def test_negative_pivots_count_eigenvalues(factor):
    values = np.linspace(0.01, 1.0, 79)
    M, _ = with_spectrum(values)
    for count in (0, 3, 40):
        mu = 0.005 if count == 0 else float(values[count - 1 : count + 1].mean())
        negative, error = count_negative_pivots(M, mu, factor, np.random.default_rng(0))
        assert negative == count + 1 and error < 1e-6  # and that of the constant vector


def test_a_bound_by_inertia_allows_for_the_error_of_the_factorization(monkeypatch):
    """Pivots of M + error·I are counted: the third eigenvalue is below μ, and above that matrix's."""
    M, error = np.diag([0.0, 0.1, 0.45, 1.0, 2.0]), 0.15
    exact_count = shift_invert.count_negative_pivots

    def of_another_matrix(M, mu, factor, rng):
        return exact_count(M + error * np.eye(5), mu, factor, rng)[0], error

    monkeypatch.setattr(shift_invert, "count_negative_pivots", of_another_matrix)
    U = np.eye(5)[:, [1, 3]]
    ritz = Eigenpairs(np.array([0.1, 1.0]), U, np.zeros(2), M @ U)
    bound = bound_by_inertia(M, ritz, 1, 2.0, "dense", np.random.default_rng(0))
    assert 0.1 < bound <= 0.45


def test_probes_that_hardly_meet_the_smallest_eigenvalue_leave_room_for_it():
    """All ten have 0.13 along its vector, as happens once in five billion times; the bound holds all the same."""
    n = 12
    Q = np.linalg.qr(np.column_stack([np.ones(n), np.eye(n)[:, : n - 1]]))[0][:, 1:]  # orthogonal to constants
    M = (Q * np.append([1e-6, 1e-3], np.ones(n - 3))) @ Q.T

    class Unlucky:
        def standard_normal(self, shape):
            return 0.13 * Q[:, 1:2] * np.ones((1, shape[1]))

    U = Q[:, :1]
    ritz = Eigenpairs(np.array([1e-6]), U, np.zeros(1), M @ U)
    bound, _, _ = shift_invert.bound_by_probes(DenseFactor(M, 1e-12), ritz, 1, Unlucky())
    assert bound <= 1e-3
