"""Solvers for the smallest eigenpairs, on spectra of every kind."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.linalg import block_diag, subspace_angles

from mercer_old.certificates.gaps import certify_gaps
from mercer_old.operators.held import HeldMatrix
from mercer_old.solvers.shift_invert import DenseBottom, ShiftInvert
from support.bottom import EPS, every_solver, truth, with_spectrum
from support.registry import BOTTOM_SOLVERS as SOLVERS

SPECTRA = {
    "geometric": np.logspace(-12, 0, 59),
    "three zeros": np.append(np.zeros(3), np.logspace(-10, 0, 56)),
    "six equal": np.append(np.full(6, 1e-8), np.logspace(-6, 0, 53)),
    "pairs": np.repeat(np.logspace(-11, 0, 30), 2)[:59],
    "cut through a cluster": np.concatenate([[1e-9, 2e-9], np.full(10, 1e-7), np.logspace(-5, 0, 47)]),
    "nearly equal": 1e-6 * (1 + 1e-9 * np.arange(59)) + np.append(np.zeros(20), np.ones(39)),
    "identity": np.ones(59),
    "zero": np.zeros(59),
    "far above rounding": np.linspace(0.1, 1, 59),
    "below rounding": np.append([1e-17, 3e-17], np.logspace(-8, 0, 57)),
    "large": 1e8 * np.logspace(-12, 0, 59),
    "small": 1e-8 * np.logspace(-12, 0, 59),
}


@every_solver
@pytest.mark.parametrize(
    ("name", "k"), [(name, k) for name in SPECTRA for k in (1, 3)] + [(name, 50) for name in list(SPECTRA)[:4]]
)
def test_the_smallest_eigenpairs_are_found(solver, name, k):
    M = with_spectrum(SPECTRA[name], 0)[0]
    values, vectors = truth(M)
    size = abs(M).sum(axis=0).max()
    pairs = SOLVERS[solver].solve(HeldMatrix(M), k, np.random.default_rng(0))
    U = pairs.vectors
    assert_allclose(pairs.values, values[:k], atol=20 * EPS * size)
    assert_allclose(U.T @ U, np.eye(k), atol=1e-12)
    assert_allclose(U.sum(axis=0), 0, atol=1e-12)
    assert_allclose(np.linalg.norm(M @ U - U * pairs.values, axis=0), pairs.residuals, atol=20 * EPS * size)
    assert pairs.residuals.max() <= 100 * EPS * size + 1e-6 * values[k]
    gap = values[k] - values[k - 1]
    if gap > 1e4 * EPS * size:
        assert np.sin(subspace_angles(U, vectors[:, :k])[0]) < 1e-4 + 100 * EPS * size / gap
    certificate = certify_gaps(pairs, tol=1e-6)
    assert certificate.converged
    sure = np.abs(values[:k] - certificate.rounding) > 10 * EPS * size
    assert certificate.n_zero >= np.sum((values[:k] < certificate.rounding) & sure)
    assert certificate.n_zero <= np.sum((values[:k] < certificate.rounding) | ~sure)


@every_solver
@pytest.mark.parametrize("n", [3, 4, 5, 12])
def test_all_eigenpairs_but_the_constant_one(solver, n):
    for seed in range(3):
        M = with_spectrum(np.logspace(-9, 0, n - 1), seed)[0]
        for k in (1, n - 1):
            pairs = SOLVERS[solver].solve(HeldMatrix(M), k, np.random.default_rng(0))
            assert_allclose(pairs.values, truth(M)[0][:k], atol=40 * EPS)
            assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(k), atol=1e-12)
            assert_allclose(pairs.vectors.sum(axis=0), 0, atol=1e-12)


@every_solver
@pytest.mark.parametrize("sizes", [(20, 20), (30, 7, 7, 4)], ids=str)
def test_blocks_that_do_not_touch_have_a_large_null_space_without_the_constant_vector(solver, sizes):
    blocks = [with_spectrum(np.logspace(-3, 0, size - 1), size)[0].toarray() for size in sizes]
    M, parts = sparse.csc_array(block_diag(*blocks)), len(sizes)
    pairs = SOLVERS[solver].solve(HeldMatrix(M), parts + 1, np.random.default_rng(0))
    label = np.repeat(np.arange(parts), sizes)
    assert_allclose(pairs.values[: parts - 1], 0, atol=1e-14)
    assert_allclose(pairs.values[parts - 1 :], 1e-3, rtol=1e-8)
    for part in range(parts):  # what tells parts apart is constant on each of them
        assert_allclose(np.ptp(pairs.vectors[label == part, : parts - 1], axis=0), 0, atol=1e-9)
    assert_allclose(pairs.vectors.sum(axis=0), 0, atol=1e-12)
    assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(parts + 1), atol=1e-12)
    certificate = certify_gaps(pairs, tol=1e-6)
    assert certificate.n_zero == parts - 1


def test_a_dense_factorisation_says_how_far_it_is_and_the_solver_holds_settings_alone(monkeypatch):
    monkeypatch.setattr("mercer_old.solvers.factorisations._PANEL", 20)
    M, seen, solver = with_spectrum(np.logspace(-6, 0, 59), 0)[0], [], ShiftInvert("dense")
    solver.solve(HeldMatrix(M), 2, np.random.default_rng(0), on_pass=seen.append)
    assert seen == sorted(seen) and len(seen) >= 3 and seen[-1] == 1.0
    assert solver == ShiftInvert("dense")


def test_a_part_of_few_items_goes_to_lapack_unless_asked_otherwise():
    assert ShiftInvert("dense", few=300).for_items(300) == DenseBottom()
    assert ShiftInvert("dense", few=300).for_items(301) == ShiftInvert("dense", few=300)
    assert ShiftInvert("sparse").for_items(5) == ShiftInvert("sparse")
    assert DenseBottom().for_items(10**6) == DenseBottom()
