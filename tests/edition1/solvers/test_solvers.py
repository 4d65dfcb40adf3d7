"""Solvers on spectra of every kind, and on those that are known in closed form."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.utils.validation import _check_psd_eigenvalues

from mercer.kernels import RBF
from mercer_old.fits.spectrum import find_spectrum
from mercer_old.operators.centering import Centered
from mercer_old.operators.features import FeatureGram
from mercer_old.operators.gram import HeldGram
from mercer_old.operators.held import HeldMatrix
from mercer_old.plans.plan import Plan
from mercer_old.solvers.base import clean_spectrum, rounding_floor, settle
from mercer_old.solvers.completeness import rule_out_missed
from mercer_old.solvers.feature_side import Factored, FactoredKrylov
from mercer_old.solvers.krylov import BlockKrylov
from support.matrices import Uncentred, every_spectrum, matrix_with
from support.registry import ALL_OPERATORS, ALL_SOLVERS


@pytest.mark.parametrize("solver", ALL_SOLVERS, ids=repr)
@pytest.mark.parametrize("name", ALL_OPERATORS)
def test_every_solver_solves_every_operator(solver, name):
    X = np.random.default_rng(0).normal(size=(60, 20)) * 0.8 ** np.arange(20)
    op = ALL_OPERATORS[name](X)
    true_values, true_vectors = np.linalg.eigh(op.dense())
    pairs = solver.solve(op, 4, np.random.default_rng(1))
    assert_allclose(pairs.values, true_values[::-1][:4], rtol=1e-10)
    assert_allclose(np.abs(np.sum(pairs.vectors * true_vectors[:, ::-1][:, :4], axis=0)), 1, atol=1e-9)
    assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(4), atol=1e-12)
    assert_allclose(pairs.products, op.matmat(pairs.vectors), atol=1e-10 * pairs.values[0])


@pytest.mark.parametrize("weights", [None, np.arange(1.0, 61.0)], ids=["plain", "weighted"])
@pytest.mark.parametrize("k", [4, 20, 35])
@pytest.mark.parametrize("hold", [lambda X: X, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("solver", [Factored(), FactoredKrylov(BlockKrylov(tol=1e-11, block=4))], ids=repr)
def test_the_feature_side_has_the_same_eigenpairs(solver, hold, k, weights):
    X = np.random.default_rng(0).normal(size=(60, 20)) * 0.8 ** np.arange(20)
    op = Centered(FeatureGram(hold(X)), weights)
    true_values, true_vectors = np.linalg.eigh(op.dense())
    pairs = solver.solve(op, k, np.random.default_rng(1))
    rank = min(k, 20)
    assert_allclose(pairs.values[:rank], true_values[::-1][:rank], rtol=1e-9)
    assert_allclose(pairs.values[rank:], 0, atol=1e-12)
    assert_allclose(np.abs(np.sum(pairs.vectors * true_vectors[:, ::-1][:, :k], axis=0))[:rank], 1, atol=1e-8)
    assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(k), atol=1e-10)
    assert_allclose(
        pairs.residuals,
        np.linalg.norm(op.dense() @ pairs.vectors - pairs.vectors * pairs.values, axis=0),
        atol=1e-10 * true_values[-1],
    )


@every_spectrum
@pytest.mark.parametrize("solver", ALL_SOLVERS, ids=repr)
def test_reported_residuals_are_true_and_meet_the_rule(spectrum, solver):
    rng = np.random.default_rng(2)
    A, values = matrix_with(spectrum, 80, rng)
    pairs = solver.solve(HeldMatrix(A), 12, rng)
    wide = np.longdouble(A) @ pairs.vectors - np.longdouble(pairs.vectors) * pairs.values
    true = np.sqrt(np.sum(wide**2, axis=0)).astype(float)  # squares of tiny numbers are numbers there
    noise = rounding_floor(80, np.abs(values).max())
    assert_allclose(pairs.residuals, true, atol=10 * noise)
    assert pairs.converged
    allowed = np.maximum(getattr(solver, "tol", 1e-8) * np.abs(pairs.values), 2 * noise)
    assert np.all(true <= allowed)
    assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(len(pairs)), atol=1e-11)


@every_spectrum
@pytest.mark.parametrize("k", [1, 5, 12])
def test_spectrum_found_is_that_of_lapack(spectrum, k):
    """The solver with the search for missed pairs behind it, as a model runs it."""
    rng = np.random.default_rng(3)
    A, values = matrix_with(spectrum, 120, rng)
    op = HeldMatrix(A)
    plan = Plan(BlockKrylov(block=4), "given", 0, "a test")
    pairs, _, _ = rule_out_missed(plan.solver, Uncentred(op), plan.solver.solve(op, k, rng), rng)
    assert_allclose(pairs.values, values[:k], rtol=1e-9, atol=1e-12 * np.abs(values).max())


@pytest.mark.parametrize(
    ("n", "block", "k"), [(20, 16, 5), (30, 8, 28), (6, 4, 3), (6, 16, 6), (2, 4, 1), (70, 16, 20)]
)
@pytest.mark.parametrize("spectrum", ["slow", "geometric"])
def test_small_matrices_are_solved_however_wide_the_block(n, block, k, spectrum):
    rng = np.random.default_rng(n)
    values = np.sort((1.0 + np.arange(n)) ** -0.5 if spectrum == "slow" else 0.7 ** np.arange(n))[::-1]
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    A = Q * values @ Q.T
    pairs = BlockKrylov(block=block).solve(HeldMatrix((A + A.T) / 2), k, rng)
    assert pairs.converged
    assert_allclose(pairs.values, values[:k], rtol=1e-10)


# ---------------------------------------------------------------------- closed forms


def test_points_on_a_circle_have_a_circulant_spectrum():
    """The eigenvalues are the discrete Fourier transform of one row, in pairs; the constant one is centred away."""
    n = 64
    angle = 2 * np.pi * np.arange(n) / n
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    row = np.exp(-0.8 * np.sum((X - X[0]) ** 2, axis=1))
    expected = np.sort(np.fft.fft(row).real[1:])[::-1]
    spectrum = find_spectrum(
        Plan(BlockKrylov(), "gram", 0, ""), Centered(HeldGram(RBF(0.8), X)), 8, np.random.default_rng(0)
    )
    assert_allclose(spectrum.values, expected[:8], rtol=1e-10)
    assert spectrum.certificate.clusters == ((0, 2), (2, 4), (4, 6), (6, 8))


def test_equidistant_points_have_one_eigenvalue():
    """K = (1 − a)I + a11ᵀ: all n − 1 centred eigenvalues are 1 − a."""
    n = 50
    spectrum = find_spectrum(
        Plan(BlockKrylov(block=4), "gram", 0, ""), Centered(HeldGram(RBF(0.3), np.eye(n))), 10, np.random.default_rng(0)
    )
    assert_allclose(spectrum.values, 1 - np.exp(-0.6), rtol=1e-10)
    assert spectrum.certificate.unresolved == tuple(range(10))  # ten axes out of an eigenspace of 49


def test_gaussian_data_under_a_gaussian_kernel_have_a_geometric_spectrum():
    """Uncentred, λᵢ/n → √(2a/A) Bⁱ with a = 1/4σ², b = γ, c = √(a² + 2ab), A = a + b + c, B = b/A."""
    X = np.random.default_rng(0).normal(size=(3000, 1))
    a, b = 0.25, 0.5
    A = a + b + np.sqrt(a * a + 2 * a * b)
    expected = np.sqrt(2 * a / A) * (b / A) ** np.arange(5)
    K = HeldGram(RBF(b), X, threads=2)
    values = BlockKrylov().solve(K, 5, np.random.default_rng(0)).values / 3000
    assert_allclose(values, expected, rtol=0.1)


# ---------------------------------------------------------------------- conventions


def test_settle_orders_signs_and_cleans():
    values, vectors = settle(np.array([1.0, -1e-13, 3.0]), np.array([[1.0, 0, -2], [-3.0, 1, 1]]))
    assert_allclose(values, [3, 1, 0])
    assert_allclose(vectors, [[2, -1, 0], [-1, 3, 1]])


@pytest.mark.parametrize("values", [[5.0, 4e-12], [5.0, -5e-5], [5.0, 1.0], [0.0, 0.0], [3e-200, 1e-200]])
def test_cleaning_is_that_of_scikit_learn(values):
    assert_allclose(clean_spectrum(np.array(values)), _check_psd_eigenvalues(np.array(values)))


@pytest.mark.parametrize("values", [[5.0, -1.0], [-5.0, -1.0]])
def test_negative_spectra_are_refused_with_scikit_learns_words(values):
    with pytest.raises(ValueError) as theirs:
        _check_psd_eigenvalues(np.array(values))
    with pytest.raises(ValueError) as ours:
        clean_spectrum(np.array(values))
    assert str(theirs.value) in str(ours.value)
