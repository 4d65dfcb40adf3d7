"""Certificates of the largest eigenpairs against LAPACK: bounds hold on every spectrum, even if a pair was missed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import subspace_angles
from sklearn.datasets import make_blobs, make_swiss_roll

from mercer.kernels import RBF
from mercer_old.certificates.residuals import certify
from mercer_old.fits.spectrum import find_spectrum
from mercer_old.operators.centering import Centered
from mercer_old.operators.gram import HeldGram, RecomputedGram
from mercer_old.operators.held import HeldMatrix
from mercer_old.plans.plan import Plan
from mercer_old.solvers.base import Eigenpairs
from mercer_old.solvers.completeness import bound_by_pivots, explore, explore_by_products, rule_out_missed
from mercer_old.solvers.krylov import BlockKrylov
from mercer_old.solvers.warm import WarmKrylov
from support.matrices import Uncentred, every_spectrum, matrix_with
from support.registry import ALL_SOLVERS
from support.together import check_each


def bounds_hold(A, values, certificate, pairs):
    """Every statement of the certificate, checked on the true spectrum."""
    k = certificate.n_components
    slack = 1e-13 * np.abs(values).max()
    assert np.all(certificate.lower <= values[:k] + slack)
    assert np.all(certificate.upper >= values[:k] - slack)
    if k < len(values) and certificate.n_complete == k:
        assert values[k] <= certificate.bound_beyond + certificate.residuals.max() + slack
    vectors = np.linalg.eigh(A)[1][:, ::-1]
    for i in range(certificate.n_complete):
        inside = next(((a, b) for a, b in certificate.clusters if a <= i < b), (i, i + 1))
        angle = np.sin(subspace_angles(pairs.vectors[:, slice(*inside)], vectors[:, slice(*inside)]).max())
        assert angle <= certificate.angles[i] + 1e-7


@every_spectrum
def test_certificate_holds_on_random_problems(spectrum):
    check_each(range(24), lambda trial: holds_on_a_random_problem(spectrum, trial), name="trial {}".format)


def holds_on_a_random_problem(spectrum, trial):
    rng = np.random.default_rng(100 + trial)
    n, k = int(rng.integers(40, 300 if trial % 4 == 0 else 90)), int(rng.integers(1, 20))
    A, values = matrix_with(spectrum, n, rng)
    tol = 10.0 ** -rng.integers(2, 9)
    plan = Plan(BlockKrylov(block=4, tol=tol), "given", 0, "a test")
    op = Uncentred(HeldMatrix(A))
    pairs, bound, level = rule_out_missed(plan.solver, op, plan.solver.solve(op, k, rng), rng)
    bounds_hold(A, values, certify(pairs, tol=tol, bound=bound, level=level), pairs)


@every_spectrum
def test_certificate_holds_when_a_pair_is_deliberately_missed(spectrum):
    check_each(range(12), lambda trial: holds_when_a_pair_is_missed(spectrum, trial), name="trial {}".format)


def holds_when_a_pair_is_missed(spectrum, trial):
    rng = np.random.default_rng(500 + trial)
    n, k = 60, int(rng.integers(1, 10))
    A, values = matrix_with(spectrum, n, rng)
    true_values, true_vectors = np.linalg.eigh(A)
    missed = int(rng.integers(0, k))
    kept = [i for i in range(k + 1) if i != missed]
    U = true_vectors[:, ::-1][:, kept]
    pairs = BlockKrylov().solve(HeldMatrix(A), k, rng)
    wrong = type(pairs)(
        values=true_values[::-1][kept],
        vectors=U,
        residuals=np.linalg.norm(A @ U - U * true_values[::-1][kept], axis=0),
        products=A @ U,
    )
    rest = explore(HeldMatrix(A), U, rng)
    assert rest.upper >= values[missed] * (1 - 1e-9) - 1e-300
    certificate = certify(wrong, tol=1e-8, bound=rest.upper, level="probes")
    bounds_hold(A, values, certificate, wrong)
    assert certificate.n_complete <= missed or values[missed] <= values[k] + 1e-12


def test_a_missed_pair_that_shows_itself_is_fetched():
    rng = np.random.default_rng(0)
    A, values = matrix_with("geometric", 80, rng)
    op = Uncentred(HeldMatrix(A))
    U = np.linalg.eigh(A)[1][:, ::-1][:, [0, 2, 3]]  # the second is missing
    plan = Plan(BlockKrylov(block=4), "given", 0, "a test")
    found = plan.solver.solve(op, 3, rng)
    wrong = type(found)(values=values[[0, 2, 3]], vectors=U, residuals=np.full(3, 1e-12), products=A @ U)
    pairs, _, _ = rule_out_missed(plan.solver, op, wrong, rng)
    assert_allclose(pairs.values, values[:3], rtol=1e-10)


def test_probes_bound_the_rest_from_both_sides():
    for seed in range(50):
        rng = np.random.default_rng(seed)
        A, values = matrix_with("algebraic", 70, rng)
        U = np.linalg.eigh(A)[1][:, ::-1][:, :5]
        rest = explore(HeldMatrix(A), U, rng)
        assert rest.seen <= values[5] * (1 + 1e-9)
        assert values[5] <= rest.upper <= 30 * values[5]


def test_bounds_know_of_eigenvalues_that_are_large_and_negative():
    values = np.concatenate([[1.0, 0.5], np.full(58, -1e6)])
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(60, 60)))[0]
    A = Q * values @ Q.T
    A = (A + A.T) / 2
    true = np.linalg.eigvalsh(A)[::-1]
    pairs = ALL_SOLVERS[0].solve(HeldMatrix(A), 2, np.random.default_rng(0))
    certificate = certify(pairs, tol=1e-8, bound=0.0, level="LAPACK counts eigenvalues")
    assert np.all(certificate.upper - certificate.lower > 1e-11)
    assert np.all(certificate.lower <= true[:2]) and np.all(true[:2] <= certificate.upper)


DATA = {
    "swiss roll": lambda: make_swiss_roll(600, random_state=0)[0],
    "clusters": lambda: make_blobs(600, 10, centers=8, random_state=0)[0],
}


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("factor", [0.25, 1.0, 4.0])
@pytest.mark.parametrize("k", [20, 50, 100])
def test_no_component_is_wrong_and_unreported(data, factor, k):
    """Angles against LAPACK over bandwidths: what is off by more than the bound is listed as unresolved."""
    X = DATA[data]()
    gamma = factor * RBF("median").resolved(X, np.random.default_rng(0)).gamma
    op = Centered(HeldGram(RBF(gamma), X))
    plan = Plan(BlockKrylov(tol=1e-8), "gram", 0, "a test")
    spectrum = find_spectrum(plan, op, k, np.random.default_rng(0))
    true = np.linalg.eigh(op.dense())[1][:, ::-1]
    certificate = spectrum.certificate
    for i in range(k):
        inside = next(((a, b) for a, b in certificate.clusters if a <= i < b), (i, i + 1))
        angle = np.sin(subspace_angles(spectrum.vectors[:, slice(*inside)], true[:, slice(*inside)]).max())
        assert angle <= certificate.angles[i] + 1e-7
        assert angle <= 0.05 or i in certificate.unresolved or spectrum.values[i] == 0


@pytest.mark.parametrize("trial", range(30))
def test_certificates_of_recomputed_matrices_hold(trial):
    """Rough passes, one exact pass, pivots' bound, probes that came along: every statement against LAPACK."""
    rng = np.random.default_rng(trial)
    n, d, k = int(rng.integers(80, 400)), int(rng.integers(1, 8)), int(rng.integers(1, 20))
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 5 * rng.integers(0, 3, size=(n, 1))
    gamma = float(rng.choice([0.1, 1, 10])) * RBF("median").resolved(X, rng).gamma
    weights = rng.integers(1, 4, size=n).astype(float) if trial % 3 == 0 else None
    op = Centered(RecomputedGram(RBF(gamma), X), weights)
    solver = WarmKrylov(tol=1e-4, block=8, rank=int(rng.integers(k + 5, 60)))
    spectrum = find_spectrum(Plan(solver, "recomputed", 0, "", tol=1e-4), op, k, rng)
    A = Centered(HeldGram(RBF(gamma), X), weights).dense()
    true, vectors = np.linalg.eigh(A)
    certificate, slack = spectrum.certificate, 1e-11 * true[-1]
    assert certificate.certified
    residuals = np.linalg.norm(A @ spectrum.vectors - spectrum.vectors * spectrum.values, axis=0)
    assert np.all(residuals <= np.maximum(1.01e-4 * spectrum.values, slack))
    assert np.all(certificate.lower <= true[::-1][:k] + slack) and np.all(true[::-1][:k] <= certificate.upper + slack)
    for i in range(certificate.n_complete):
        start, stop = next(((a, b) for a, b in certificate.clusters if a <= i < b), (i, i + 1))
        angle = np.sin(subspace_angles(spectrum.vectors[:, start:stop], vectors[:, ::-1][:, start:stop]).max())
        assert angle <= certificate.angles[i] + 1e-6


def test_probes_that_came_along_bound_the_rest():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        A, values = matrix_with("algebraic", 70, rng)
        U = np.linalg.eigh(A)[1][:, ::-1][:, :5]
        probes = rng.normal(size=(70, 10))
        rest = explore_by_products(U, A @ U, probes, A @ probes)
        assert rest.seen <= values[5] * (1 + 1e-9) and values[5] <= rest.upper <= 100 * values[5]


def test_the_pivots_bound_says_nothing_about_a_pair_that_was_missed():
    """Weyl bounds the eigenvalue after the k-th largest, not what is outside of the found ones."""
    values = np.array([10.0, 8, 6, 5, 1, 0.5, 0.1, 0])
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(8, 8)))[0]
    A = Q * values @ Q.T
    right, wrong = ([0, 1, 2], [0, 2, 3])
    for found in (right, wrong):
        pairs = Eigenpairs(values[found], Q[:, found], np.zeros(3), A @ Q[:, found], bound=5.01)
        assert bound_by_pivots(pairs) == (np.inf if found is wrong else pytest.approx(5.01))
        assert pairs.first(2).bound == np.inf


def test_a_direction_next_to_an_unfound_eigenvalue_is_not_called_sure():
    values = np.concatenate([[5.2, 5.05], np.linspace(1, 0.1, 28)])
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(30, 30)))[0]
    A = Q * values @ Q.T
    tilted = np.cos(0.05) * Q[:, [0]] + np.sin(0.05) * Q[:, [1]]
    U = np.concatenate([tilted, Q[:, [2]]], axis=1)
    theta = np.sum(U * (A @ U), axis=0)
    pairs = Eigenpairs(theta, U, np.linalg.norm(A @ U - U * theta, axis=0), A @ U)
    P = np.eye(30) - U @ U.T
    certificate = certify(pairs, tol=1e-2, bound=float(np.linalg.eigvalsh(P @ A @ P)[-1]), level="known")
    for i in range(certificate.n_complete):
        assert certificate.angles[i] >= np.sin(0.05) - 1e-9


@pytest.mark.parametrize("share", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("gamma", [1e-3, 1e-2])
def test_the_bound_of_a_share_holds_for_what_is_left_out(share, gamma):
    X = make_swiss_roll(450, random_state=0)[0]
    op = Centered(RecomputedGram(RBF(gamma), X))
    plan = Plan(WarmKrylov(tol=1e-4, block=8, rank=100), "recomputed", 0, "", tol=1e-4)
    spectrum = find_spectrum(plan, op, share, np.random.default_rng(0))
    true = np.linalg.eigvalsh(Centered(HeldGram(RBF(gamma), X)).dense())[::-1]
    kept = len(spectrum.values)
    assert true[:kept].sum() >= share * true.sum() > true[: kept - 1].sum()
    assert true[kept] <= spectrum.certificate.bound_beyond * (1 + 1e-9) + 1e-9
