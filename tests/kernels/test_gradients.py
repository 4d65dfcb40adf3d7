"""Gradients of kernels: against differences of their own values, and against sums in more digits."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from mercer.kernels import (
    RBF,
    AdditiveChiSquared,
    ChiSquared,
    Constant,
    Cosine,
    Edit,
    HistogramIntersection,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    MinMax,
    Pairwise,
    Polynomial,
    Precomputed,
    RationalQuadratic,
    Sigmoid,
    Spectrum,
    Tanimoto,
)
from support.registry import ALL_KERNELS, SPARSE_KERNELS, bits, for_each, non_negative_rows, rows

VECTORS = [(kernel, items) for kernel, items in ALL_KERNELS if items in (rows, non_negative_rows, bits)]
WITHOUT = (Pairwise, type(next(k for k, _ in ALL_KERNELS if type(k).__name__ == "Blockwise")))
SMOOTH = [(kernel, items) for kernel, items in VECTORS if not isinstance(kernel, WITHOUT)]
STEP = 1e-3


@dataclass(frozen=True)
class Cubes(Kernel):
    psd = True

    def block(self, X, Y):
        return X**3 @ (Y**3).T


def on_grid(items, n):
    """Rows whose numbers are whole 64ths …"""
    return np.round(64 * items(n)) / 64


def off_grid(items, n, seed):
    """… and others that lie in the midst between those, many steps from any kink, and from an edge of a domain."""
    return np.round(64 * items(n, seed)) / 64 + (0.5 if items is not rows else 0.0) + 1 / 128


def differences(f, Z):
    """∂f_q/∂z_q of a function of rows, by five points: off by h⁴f⁽⁵⁾/30, and by the rounding of f over h."""
    out = np.empty(Z.shape)
    for j in range(Z.shape[1]):
        step = np.zeros(Z.shape[1])
        step[j] = STEP
        out[:, j] = (8 * (f(Z + step) - f(Z - step)) - (f(Z + 2 * step) - f(Z - 2 * step))) / (12 * STEP)
    return out


def numbers(m, n):
    return np.random.default_rng(5).normal(size=(m, n))


@for_each(SMOOTH)
def test_sums_of_gradients_are_differences_of_sums(kernel, items):
    Z, X = off_grid(items, 6, 1), on_grid(items, 9)
    C = numbers(6, 9)
    expected = differences(lambda Z: (C * kernel.block(Z, X)).sum(axis=1), Z)
    size = np.abs(kernel.block(Z, X)).max() * np.abs(C).sum(axis=1).max()
    assert kernel.differentiable
    assert_allclose(kernel.pull(Z, X, C), expected, rtol=1e-8, atol=3e-11 * size)


@for_each(SMOOTH)
def test_gradients_of_the_diagonal_are_its_differences(kernel, items):
    Z = off_grid(items, 6, 1)
    size = np.abs(kernel.diag(Z)).max()
    assert_allclose(kernel.diag_pull(Z), differences(kernel.diag, Z), rtol=1e-8, atol=3e-11 * size)


@for_each(SMOOTH)
def test_one_row_of_coefficients_is_for_all_rows(kernel, items):
    """To the last bit: whole numbers times whole 64ths have the same sum in any order."""
    Z, X, c = off_grid(items, 4, 1), on_grid(items, 5), np.round(4 * numbers(1, 5))
    assert_array_equal(kernel.pull(Z, X, c), kernel.pull(Z, X, np.repeat(c, 4, axis=0)))


def test_every_kernel_of_rows_has_a_gradient_or_says_that_it_has_none():
    for kernel, items in ALL_KERNELS:
        assert kernel.differentiable == any(kernel is other for other, _ in SMOOTH), kernel
        if not kernel.differentiable:
            with pytest.raises(ValueError, match="no gradient"):
                kernel.pull(items(3), items(4, 1), np.ones((3, 4)))
            with pytest.raises(ValueError, match="no gradient"):
                kernel.diag_pull(items(3))


@for_each([(kernel, items) for kernel, items in SPARSE_KERNELS if kernel.differentiable])
def test_sparse_rows_have_the_gradients_of_dense_ones(kernel, items):
    Z, X, C = items(6, 1).astype(float), items(9).astype(float), numbers(6, 9)
    expected = kernel.pull(Z, X, C)
    for these, others in [
        (Z, sparse.csr_array(X)),
        (sparse.csr_array(Z), X),
        (sparse.csr_array(Z), sparse.csr_array(X)),
    ]:
        found = kernel.pull(these, others, C)
        assert isinstance(found, np.ndarray)
        assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    assert_allclose(kernel.diag_pull(sparse.csr_array(Z)), kernel.diag_pull(Z), rtol=1e-12)


@pytest.mark.parametrize(
    ("kernel", "slope"),
    [
        (RBF(0.3), lambda s: -0.3 * np.exp(-0.3 * s)),
        (RBF(1e-7), lambda s: -np.longdouble(1e-7) * np.exp(-np.longdouble(1e-7) * s)),
        (RBF(400.0), lambda s: -400 * np.exp(-400 * s)),
        (Matern(0.5, 2.0), lambda s: -np.exp(-np.sqrt(s) / 2) / (4 * np.sqrt(s))),
        (Matern(1.5, 2.0), lambda s: -3 * np.exp(-np.sqrt(3 * s) / 2) / 8),
        (RationalQuadratic(0.7, 2.0), lambda s: -((1 + s / np.longdouble(5.6)) ** np.longdouble(-1.7)) / 8),
    ],
)
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_rows_far_from_the_origin_lose_no_digits(kernel, slope, offset):
    """Against 2κ'(s)(z − x) in long double, where the rows as they are rounded are exact numbers."""
    Z, X, C = rows(5, 1) + offset, rows(40) + offset, numbers(5, 40)
    apart = Z[:, None].astype(np.longdouble) - X[None]
    each = 2 * slope((apart**2).sum(axis=2))[:, :, None] * apart
    expected, moduli = (C[:, :, None] * each).sum(axis=1), np.abs(C[:, :, None] * each).sum(axis=1)
    found = kernel.pull(Z, X, C)
    assert (np.abs(found - expected) <= 1e-12 * moduli.max(axis=1, keepdims=True)).all()


def test_a_row_near_a_kink_is_on_its_side_of_it():
    X = np.array([[0.3, -0.7]])
    Z = X + np.array([[3e-12, -4e-12]])
    exact = (Z - X)[0] / np.linalg.norm(Z - X)
    assert_allclose(Matern(0.5).pull(Z, X, np.ones((1, 1)))[0], -exact, rtol=1e-9)
    assert_allclose(Laplacian(2.0).pull(Z, X, np.ones((1, 1))), [[-2.0, 2.0]], rtol=1e-9)


@pytest.mark.parametrize("kernel", [Laplacian(2.0), Matern(0.5), HistogramIntersection(), MinMax()])
def test_at_a_kink_the_slope_is_the_mean_of_both_sides(kernel):
    X = np.array([[0.25, 0.75]])
    one = np.ones((1, 1))
    for j in range(2):
        step = 2.0**-20 * np.eye(2)[j]
        beside = (kernel.pull(X + step, X, one) + kernel.pull(X - step, X, one)) / 2
        assert_allclose(kernel.pull(X, X, one)[0, j], beside[0, j], atol=1e-5)


@pytest.mark.parametrize("kernel", [ChiSquared(0.5), AdditiveChiSquared(), HistogramIntersection(), MinMax()])
def test_counts_of_zero_have_the_slope_to_the_right(kernel):
    Z, X = np.array([[0.0, 2.0, 0.0]]), np.array([[0.0, 1.0, 3.0], [2.0, 0.0, 0.0]])
    C, step = np.array([[1.5, -0.5]]), 2.0**-20
    right = [((kernel.block(Z + step * np.eye(3)[j], X) - kernel.block(Z, X)) @ C.T).item() / step for j in range(3)]
    assert_allclose(kernel.pull(Z, X, C)[0], right, atol=1e-5)


def test_rows_of_zeros_have_no_direction_to_turn():
    Z, X, one = np.zeros((1, 3)), np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]), np.ones((1, 2))
    assert_array_equal(Cosine().pull(Z, X, one), np.zeros((1, 3)))
    assert_array_equal(Tanimoto().pull(Z, X[1:], one[:, :1]), np.zeros((1, 3)))
    assert_array_equal(MinMax().pull(Z, X[1:], one[:, :1]), np.zeros((1, 3)))


@pytest.mark.parametrize("size", [1e-160, 1e160])
def test_kernels_of_ratios_have_gradients_in_any_unit(size):
    """k(sz, sx) = k(z, x), so its gradient is 1/s of that."""
    Z, X, C = np.abs(rows(4, 1)), np.abs(rows(5)), numbers(4, 5)
    for kernel in [Cosine(), Tanimoto()]:
        assert_allclose(size * kernel.pull(size * Z, size * X, C), kernel.pull(Z, X, C), rtol=1e-9)


def test_a_sigmoid_that_is_nearly_one_keeps_the_digits_of_its_slope():
    Z = X = np.array([[np.sqrt(18.0)]])
    exact = 1 / np.cosh(np.longdouble(18.0)) ** 2 * np.sqrt(np.longdouble(18.0))
    assert_allclose(Sigmoid(1.0, 0.0).pull(Z, X, np.ones((1, 1))).item(), float(exact), rtol=1e-12)


def test_the_linear_kernel_pulls_along_the_rows():
    Z, X, C = rows(3, 1), rows(5), numbers(3, 5)
    assert_allclose(Linear().pull(Z, X, C), C @ X, rtol=1e-13)
    assert_allclose(Linear().diag_pull(Z), 2 * Z, rtol=1e-13)


@pytest.mark.parametrize(
    "kernel",
    [
        Polynomial(degree=0.5),
        Tanimoto(packed=True),
        Precomputed(),
        Spectrum(2),
        Edit(0.3),
        2 * RBF(1.0) + Pairwise(np.dot),
    ],
)
def test_kernels_without_a_gradient_say_so_in_one_sentence(kernel):
    assert not kernel.differentiable
    with pytest.raises(ValueError, match="has no gradient") as error:
        kernel.pull(np.ones((2, 2)), np.ones((3, 2)), np.ones((2, 3)))
    assert "\n" not in str(error.value)


def test_powers_zero_and_one_are_constant_and_linear():
    Z, X, C = rows(3, 1), rows(5), numbers(3, 5)
    assert_array_equal(Polynomial(degree=0, gamma=1.0).pull(Z, X, C), np.zeros((3, 4)))
    assert_allclose(Polynomial(degree=1, gamma=2.0).pull(Z, X, C), 2 * C @ X, rtol=1e-13)
    assert_array_equal(Constant(3.0).pull(Z, X, C), np.zeros((3, 4)))


def test_negative_counts_are_refused():
    with pytest.raises(ValueError, match="negative number"):
        ChiSquared(1.0).pull(-np.ones((1, 2)), np.ones((1, 2)), np.ones((1, 1)))


def test_a_kernel_of_an_author_has_no_gradient_until_it_is_written():
    with pytest.raises(ValueError, match=r"Cubes\(\) has no gradient"):
        Cubes().diag_pull(np.ones((1, 2)))
