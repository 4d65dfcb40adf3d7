"""The linear algebra behind the method, claim by claim (000 p. 10–35)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import expm

from mercer.textbook import (
    centre,
    centring_matrix,
    covariance_by_centring,
    covariance_by_moments,
    covariance_by_sum,
    function_of_matrix,
    spectral_decomposition,
)
from support.strategies import seeds, symmetric_matrices, tables


@given(symmetric_matrices())
def test_symmetric_matrix_is_u_lambda_u_transposed(A):  # p. 10
    values, U = spectral_decomposition(A)
    assert_allclose(U @ np.diag(values) @ U.T, A, atol=1e-12)


@given(symmetric_matrices())
def test_eigenvectors_are_orthonormal_both_ways(A):  # p. 11
    U = spectral_decomposition(A)[1]
    assert_allclose(U.T @ U, np.eye(len(A)), atol=1e-12)
    assert_allclose(U @ U.T, np.eye(len(A)), atol=1e-12)


@given(symmetric_matrices(), seeds)
def test_orthogonal_matrices_preserve_norms(A, seed):  # p. 12
    U, x = spectral_decomposition(A)[1], np.random.default_rng(seed).normal(size=len(A))
    assert_allclose(np.linalg.norm(U @ x), np.linalg.norm(x))


@given(symmetric_matrices())
def test_a_matrix_only_scales_its_eigenvectors(A):  # p. 13
    values, U = spectral_decomposition(A)
    assert_allclose(A @ U, U * values, atol=1e-12)


@given(symmetric_matrices())
def test_spectrum_comes_largest_first(A):  # p. 15
    assert np.all(np.diff(spectral_decomposition(A)[0]) <= 0)


@given(tables())
def test_both_products_are_symmetric_and_positive_semidefinite(X):  # p. 16, 17
    for A in (X @ X.T, X.T @ X):
        assert_allclose(A, A.T)
        assert spectral_decomposition(A)[0][-1] >= -1e-12 * np.abs(A).max() * len(A)


@given(tables())
def test_eigenvectors_of_one_product_give_those_of_the_other(X):  # p. 18
    X = X / np.abs(X).max()
    values, U = spectral_decomposition(X @ X.T)
    V = X.T @ U
    assert_allclose(X.T @ X @ V, V * values, atol=1e-11)
    values, V = spectral_decomposition(X.T @ X)
    U = X @ V
    assert_allclose(X @ X.T @ U, U * values, atol=1e-11)


@given(symmetric_matrices(), st.sampled_from([-4.0, 3.5]))
def test_inverse_shift_and_shifted_inverse_keep_the_eigenvectors(A, mu):  # p. 19
    values, U = spectral_decomposition(A)
    shifted = A + mu * np.eye(len(A))
    assert_allclose(np.linalg.inv(A) @ U, U / values, atol=1e-9)
    assert_allclose(shifted @ U, U * (values + mu), atol=1e-11)
    assert_allclose(np.linalg.inv(shifted) @ U, U / (values + mu), atol=1e-9)


@given(seeds, st.integers(1, 6), st.integers(0, 5))
def test_powers_come_from_powers_of_the_eigenvalues(seed, m, k):  # p. 25
    B = np.random.default_rng(seed).uniform(-1, 1, size=(m, m)) + np.diag(3.0 * np.arange(m))
    assert_allclose(function_of_matrix(B, lambda x: x**k), np.linalg.matrix_power(B, k), rtol=1e-8, atol=1e-6)


@given(seeds, st.integers(1, 5))
def test_exponential_comes_from_exponentials_of_the_eigenvalues(seed, m):  # p. 25
    B = np.random.default_rng(seed).uniform(-1, 1, size=(m, m)) + np.diag(np.arange(m) / 1.0)
    assert_allclose(function_of_matrix(B, np.exp), expm(B), rtol=1e-7, atol=1e-7)


@given(symmetric_matrices())
def test_inverse_comes_from_inverse_eigenvalues(A):  # p. 19, 25
    assert_allclose(function_of_matrix(A, lambda x: 1 / x), np.linalg.inv(A), atol=1e-9)


@given(symmetric_matrices())
def test_trace_is_the_sum_of_eigenvalues(A):  # p. 26
    assert_allclose(np.trace(A), spectral_decomposition(A)[0].sum(), atol=1e-12)


@given(symmetric_matrices())
def test_determinant_is_the_product_of_eigenvalues(A):  # p. 26
    assert_allclose(np.linalg.det(A), np.prod(spectral_decomposition(A)[0]), rtol=1e-9)


def test_quarter_turn_has_the_printed_complex_decomposition():  # p. 23
    U, Lambda = np.array([[1j, -1j], [1, 1]]), np.diag([1j, -1j])
    inverse = np.array([[-1j, 1], [1j, 1]]) / 2
    assert_allclose(U @ inverse, np.eye(2), atol=1e-15)
    assert_allclose(U @ Lambda @ inverse, [[0, -1], [1, 0]], atol=1e-15)
    assert_allclose(function_of_matrix([[0, -1], [1, 0]], lambda x: x**2), -np.eye(2), atol=1e-15)


def test_complex_matrices_are_matrices_too():  # p. 23: B ∈ C^{m×m}
    sigma_y = np.array([[0, -1j], [1j, 0]])
    assert_allclose(function_of_matrix(sigma_y, lambda x: x**2), np.eye(2), atol=1e-15)
    assert_allclose(function_of_matrix(sigma_y, np.exp), expm(sigma_y), atol=1e-12)


@given(tables())
def test_centring_matrix_removes_the_column_means(X):  # p. 28–30
    assert_allclose(centring_matrix(len(X)) @ X, centre(X), atol=1e-10 * np.abs(X).max())
    assert_allclose(centre(X).sum(axis=0), 0, atol=1e-12 * np.abs(X).sum())


class TestNineClaimsOnJ:
    """000 p. 31; the exercise of p. 32 asks for proofs, given in words in docs/lectures.md."""

    sizes = pytest.mark.parametrize("n", [1, 2, 3, 7, 40])

    @sizes
    def test_1_square(self, n):
        assert centring_matrix(n).shape == (n, n)

    @sizes
    def test_2_symmetric(self, n):
        assert_allclose(centring_matrix(n), centring_matrix(n).T)

    @sizes
    @pytest.mark.parametrize("k", [2, 3, 10])
    def test_3_idempotent(self, n, k):
        assert_allclose(np.linalg.matrix_power(centring_matrix(n), k), centring_matrix(n), atol=1e-14)

    @given(tables(columns=(1, 1)))
    def test_4_positive_semidefinite(self, y):
        quadratic_form = (y.T @ centring_matrix(len(y)) @ y).item()
        assert_allclose(quadratic_form, len(y) * np.var(y), rtol=1e-6, atol=1e-10 * np.abs(y).max() ** 2)
        assert quadratic_form >= -1e-10 * np.abs(y).max() ** 2

    @sizes
    def test_5_singular(self, n):
        assert np.linalg.matrix_rank(centring_matrix(n)) == n - 1
        assert_allclose(centring_matrix(n) @ np.ones(n), 0, atol=1e-14)

    @sizes
    def test_6_eigenvalues_are_not_negative(self, n):
        assert spectral_decomposition(centring_matrix(n))[0].min() > -1e-14

    @sizes
    def test_7_eigenvalues_are_zero_or_one(self, n):
        assert_allclose(spectral_decomposition(centring_matrix(n))[0], [1] * (n - 1) + [0], atol=1e-14)

    @given(tables(columns=(1, 1)))
    def test_8_orthogonal_projection(self, y):
        J = centring_matrix(len(y))
        inside, outside = J @ y, y - J @ y
        assert_allclose((inside.T @ outside).item(), 0, atol=1e-11 * (y**2).sum())
        assert_allclose(J @ inside, inside, atol=1e-13 * np.abs(y).max())

    @sizes
    def test_9_trace_is_n_minus_one(self, n):
        assert_allclose(np.trace(centring_matrix(n)), n - 1)


@given(tables())
def test_three_forms_of_the_covariance_agree(X):  # p. 33–35
    expected = np.cov(X.T, bias=True).reshape(X.shape[1], X.shape[1])
    rounding = 1e-13 * len(X) * np.abs(X).max() ** 2
    for form in (covariance_by_sum, covariance_by_centring, covariance_by_moments):
        assert_allclose(form(X), expected, atol=rounding)
    assert_allclose(centre(X).T @ centre(X) / len(X), expected, atol=rounding)  # p. 35
