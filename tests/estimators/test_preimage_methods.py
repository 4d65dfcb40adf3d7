"""Parts of pre-images and denoising against their definitions, written out or solved by brute force."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_digits

from mercer.contract import KernelExpansion
from mercer.estimators import KernelPCA
from mercer.estimators._denoising import _noise_variance, best_average
from mercer.estimators._preimages import Geometry, RadialKernel, RidgeInverse, leave_one_out, locate, nearest
from mercer.kernels.distance import RBF, Matern, RationalQuadratic
from mercer.kernels.dot import Linear, Polynomial

RADIAL = [RBF(0.3), RBF(1e-5), Matern(0.5, 2.0), Matern(1.5, 2.0), Matern(2.5, 1.0), RationalQuadratic(0.7, 2.0)]


def rows(n=40, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


@pytest.mark.parametrize("kernel", [*RADIAL, Linear(), Polynomial(2, 0.5, 1.0), RBF(0.3) + Linear()], ids=repr)
@pytest.mark.parametrize("balanced", [True, False])
def test_distances_are_those_of_the_sum_written_out(kernel, balanced):
    X, Y, Z = rows() + 3, rows(6, 5, seed=2), rows(6, seed=3) + 3
    alpha = rows(40, 5, seed=1) / 40
    alpha -= alpha.mean(axis=0) * balanced
    geometry = Geometry(KernelExpansion(kernel, X, alpha, np.full(40, 1 / 40 if balanced else 0.03)))
    C = Y @ alpha.T + geometry.center
    for c, z, found in zip(C, Z, geometry.errors(Z, Y), strict=True):
        everything, coefficients = np.vstack([X, z]), np.append(c, -1.0).astype(np.longdouble)
        squared = coefficients @ kernel(everything, everything).astype(np.longdouble) @ coefficients
        size = np.abs(kernel(everything, everything)).max() * np.abs(coefficients).sum() ** 2
        assert abs(found**2 - float(squared)) < 1e-13 * float(size)
    truth = [[float(geometry.errors(x[None], y[None])[0] ** 2) for x in X] for y in Y]
    assert_allclose(geometry.squared_distances(Y), truth, rtol=1e-7, atol=1e-12 * np.abs(truth).max())


@pytest.mark.parametrize("kernel", RADIAL, ids=repr)
def test_distances_are_read_off_the_kernel(kernel):
    squared = np.array([[0.0, 1e-8, 1e-3, 0.1, 1.0, 7.0, 13.0]]) / kernel.scale
    values = -kernel.scale * squared
    kernel.profile(values, 1.0)
    found = RadialKernel.of(kernel, rows()).squared_distances_at(-values)
    assert_allclose(found, squared, rtol=1e-5, atol=1e-14 / kernel.scale)


def test_only_functions_of_the_euclidean_distance_are_radial():
    assert RadialKernel.of(2 * (3 * RBF(1.0)), rows()).factor == 6
    assert all(RadialKernel.of(kernel, rows()) is None for kernel in (Linear(), RBF(1.0) + RBF(2.0), Polynomial(2)))


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_exact_distances_locate_the_point(offset):
    points, truth = rows(60).reshape(6, 10, 3) + offset, rows(6, seed=2) + offset
    squared = np.sum((points - truth[:, None]) ** 2, axis=2)
    assert_allclose(locate(points, squared, np.ones((6, 10))), truth, atol=1e-12 * max(1, offset**2 * 1e-5))


def test_a_point_beside_few_neighbors_is_shrunk_as_a_local_model_says():
    points, truth = rows(5, 20), 2 * rows(1, 20, seed=2)[0]
    squared = np.sum((points - truth) ** 2, axis=1)
    mean = points.mean(axis=0)
    _, s, Vt = np.linalg.svd(points - mean, full_matrices=False)
    along = Vt[:4] @ (truth - mean)
    noise = (np.sum((truth - mean) ** 2) - along @ along) / (20 - 4)
    expected = mean + Vt[:4].T @ (along * s[:4] ** 2 / (s[:4] ** 2 + 5 * noise))
    assert_allclose(locate(points[None], squared[None], np.ones((1, 5)))[0], expected, atol=1e-10)


@pytest.mark.parametrize("n", [5, 30, 1003])
def test_the_nearest_are_the_first_of_a_sorted_row(n):
    squared = rows(20, n, seed=5) ** 2
    columns, values = nearest(squared, 7)
    order = np.argsort(squared, axis=1, kind="stable")[:, :7]
    assert np.array_equal(columns, order)
    assert_allclose(values, np.take_along_axis(squared, order, axis=1))
    tied = nearest(np.round(squared, 1), 7)[1]
    assert_allclose(tied, np.sort(np.round(squared, 1), axis=1)[:, :7])


@pytest.mark.parametrize("weights", [np.ones(25), np.random.default_rng(3).uniform(0.2, 3, size=25)])
def test_leave_one_out_in_closed_form_leaves_one_out(weights):
    Y, X = rows(25, 2), rows(25, 4, seed=1)
    K, penalties = RBF(0.5)(Y, Y), np.array([1e-3, 0.1, 3.0])
    truth = np.zeros(3)
    for p, penalty in enumerate(penalties):
        for i in range(25):
            others = np.arange(25) != i
            A = K[np.ix_(others, others)] + np.diag(penalty / weights[others])
            error = X[i] - K[i, others] @ np.linalg.solve(A, X[others])
            truth[p] += weights[i] * error @ error / weights.sum()
    assert_allclose(leave_one_out(K, X, penalties, weights), truth, rtol=1e-9)


@pytest.mark.parametrize("unit", [2.0**-560, 2.0**530])
def test_regressions_are_chosen_alike_for_rows_of_any_size(unit):
    """Squares of their errors over- or underflow."""
    Y, X = rows(40, 3), rows(40, 4, seed=1)
    plain, scaled = (RidgeInverse.fit(Y, factor * X, np.ones(40)) for factor in (1.0, unit))
    assert (scaled.kernel, scaled.penalty) == (plain.kernel, plain.penalty)
    assert_allclose(scaled.predict(Y) / unit, plain.predict(Y), rtol=1e-9)


def test_the_best_average_beats_all_others():
    rng = np.random.default_rng(0)
    others = rng.dirichlet(np.full(4, 0.5), size=3000)
    for _ in range(30):
        A, b = rng.normal(size=(6, 4)) + rng.normal(size=(6, 1)), rng.normal(size=6)
        P, t = A.T @ A, A.T @ b
        w = best_average(P, t)
        values = np.einsum("ij,jk,ik->i", others, P, others) - 2 * others @ t
        assert w.min() >= 0 and abs(w.sum() - 1) < 1e-9
        assert w @ P @ w - 2 * w @ t <= values.min() + 1e-9


@pytest.mark.filterwarnings("ignore:The direction of component", "ignore:All eigenvalues")
def test_noise_of_rows_and_of_the_fit_is_recognized():
    digits = load_digits().data / 16
    order, rng = np.random.default_rng(7).permutation(len(digits)), np.random.default_rng(8)
    train, new = digits[order[:600]], digits[order[600:800]]
    clean = KernelPCA(16, kernel="rbf", gamma=0.05).fit(train)._preimages().denoiser
    assert clean.own_level == -1 and np.mean(clean.levels(new) == -1) > 0.99
    for level in (5, 6, 7):
        sigma = clean.sigmas[level]
        found = clean.levels(new + sigma * rng.normal(size=new.shape))
        assert np.mean(np.abs(found - level) <= 1) > 0.85
    for sigma in (0.1, 0.25, 0.5):
        noisy = KernelPCA(16, kernel="rbf", gamma=0.05).fit(train + sigma * rng.normal(size=train.shape))
        assert_allclose(np.sqrt(noisy._preimages().denoiser.own_variance), sigma, rtol=0.1)
        assert noisy._preimages().denoiser.own_level >= 0
    blobs = KernelPCA(3, kernel="rbf", gamma=0.05).fit(rng.normal(size=(300, 12)))
    assert blobs._preimages().denoiser.own_variance == 0  # variances that are all equal are no noise


@pytest.mark.parametrize(("n", "d"), [(300, 12), (300, 40), (1000, 40)])
@pytest.mark.parametrize("sigma", [0.1, 0.5, 1.0])
def test_the_variance_of_noise_is_known_in_spite_of_the_spread_of_its_eigenvalues(n, d, sigma):
    """The smallest eigenvalues of noise lie far below σ²: down to σ²(1 − √(d/n))²."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 5)) @ rng.normal(size=(5, d)) + sigma * rng.normal(size=(n, d))
    variances = np.linalg.eigvalsh(np.cov(X.T, bias=True))
    assert_allclose(np.sqrt(_noise_variance(variances, n)), sigma, rtol=0.06)
    assert np.sqrt(variances[d // 8]) < 0.95 * sigma


def test_equal_weights_do_not_change_the_variance_of_noise():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3)) @ rng.normal(size=(3, 20)) + 0.3 * rng.normal(size=(400, 20))
    found = []
    for weights in (None, np.full(400, 2.0)):
        model = KernelPCA(5, kernel="rbf", gamma=0.02).fit(X, sample_weight=weights)
        found.append(model._preimages().denoiser.own_variance)
    assert_allclose(found[1], found[0], rtol=1e-9)
    assert_allclose(np.sqrt(found[0]), 0.3, rtol=0.06)
