"""Ways back from feature space, each against its formula, written out or solved by brute force."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from mercer.kernels import RBF, Linear, Matern, Polynomial, RationalQuadratic, Sigmoid
from mercer_old.readings.preimages import (
    Expansion,
    WaysBack,
    conformal_map,
    distances_reached,
    learn_ridge,
    leave_one_out,
)
from mercer_old.readings.preimages.descent import descend
from mercer_old.readings.preimages.fixed_point import fixed_points
from mercer_old.readings.preimages.neighbours import _convex, beside, by_average, nearest_rows, points_at, without_noise
from mercer_old.readings.preimages.radial import Radial
from mercer_old.readings.preimages.ways import PREIMAGES, is_linear, number_outside, usual_method

RADIAL = [RBF(0.3), RBF(1e-5), Matern(0.5, 2.0), Matern(1.5, 2.0), Matern(2.5, 1.0), RationalQuadratic(0.7, 2.0)]
ALL = [*RADIAL, Linear(), Polynomial(2, 0.5, 1.0), 3 * RBF(0.2), RBF(0.3) + Linear()]
by_name = pytest.mark.parametrize


def rows(n=40, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def expansion(kernel, X, k=5, seed=1):
    """Any coefficients will do: here random ones, with the mean of the rows."""
    alpha = np.random.default_rng(seed).normal(size=(len(X), k)) / len(X)
    return Expansion.of(kernel, X, alpha - alpha.mean(axis=0), np.full(len(X), 1 / len(X)))


def squared_by_hand(kernel, X, c, z):
    """‖Σcᵢφ(xᵢ) − φ(z)‖² term by term, in more digits."""
    all_rows = np.vstack([X, z])
    coefficients = np.append(c, -1.0).astype(np.longdouble)
    return coefficients @ kernel.block(all_rows, all_rows).astype(np.longdouble) @ coefficients


# ---------------------------------------------------------------------- where scores are


@by_name("kernel", ALL, ids=str)
def test_distances_in_feature_space_are_those_of_the_sum_written_out(kernel):
    X, Y, Z = rows(), rows(6, 5, seed=2), rows(6, seed=3)
    e = expansion(kernel, X)
    C = Y @ e.alpha.T + 1 / len(X)
    truth = np.sqrt([float(squared_by_hand(kernel, X, c, z)) for c, z in zip(C, Z, strict=True)])
    size = np.sqrt(np.abs(kernel.diag(np.vstack([X, Z]))).max()) * np.abs(C).sum(axis=1).max()
    assert_allclose(distances_reached(e, Z, Y), truth, rtol=1e-6, atol=1e-7 * size)
    to_rows = [[float(squared_by_hand(kernel, X, c, x)) for x in X] for c in C]
    assert_allclose(e.to_rows(Y), to_rows, rtol=1e-9, atol=1e-12 * size**2)


def test_queries_in_blocks_are_queries_one_by_one(monkeypatch):
    monkeypatch.setattr("mercer_old.readings.preimages.expansion._ENTRIES", 40 * 17)
    e, Y = expansion(RBF(0.3), rows()), rows(50, 5, seed=2) / 3
    assert len(e.blocks(50)) > 2
    ways = WaysBack(e)
    for method in ("fixed-point", "kwok-tsang", "local", "gradient", "ridge", "conformal"):
        together = ways.rows(Y, method)
        alone = np.vstack([ways.rows(y[None], method) for y in Y[::10]])
        assert_allclose(together[::10], alone, rtol=1e-6, atol=1e-8)


# ---------------------------------------------------------------------- kernels of a distance


@by_name("kernel", RADIAL, ids=str)
def test_a_distance_is_read_off_the_kernel(kernel):
    squared = np.array([[0.0, 1e-8, 1e-3, 0.1, 1.0, 7.0, 13.0]]) / kernel.scale
    exponents = -kernel.scale * squared
    kernel.shape(exponents, 1.0)
    found = Radial(kernel, rows()).squared_distances(-exponents)
    assert_allclose(found, squared, rtol=1e-5, atol=1e-14 / kernel.scale)


def test_only_functions_of_a_euclidean_distance_are_radial():
    assert Radial.of(2 * (3 * RBF(1.0)), rows()).factor == 6
    assert all(Radial.of(kernel, rows()) is None for kernel in [Linear(), RBF(1.0) + RBF(2.0), Polynomial(2)])


# ---------------------------------------------------------------------- fixed points


@by_name("kernel", RADIAL, ids=str)
def test_a_fixed_point_has_no_slope(kernel):
    """Against differences of the objective, unless the search ended in the kink of a row."""
    X, Y = rows(), rows(8, 5, seed=2)
    e, radial = expansion(kernel, X), Radial.of(kernel, X)
    C = e.coefficients(Y)
    Z, heights = fixed_points(radial, C, X[:8])
    assert_allclose(heights, e.objective(Z, C) - 1 + 2 * C.sum(axis=1), atol=1e-12 * np.abs(C).sum(axis=1).max())
    apart = np.linalg.norm(Z[:, None] - X, axis=2).min(axis=1)
    step, start = 1e-5 * radial.length, e.objective(X[:8], C)
    for j in range(3):
        move = step * np.eye(3)[j]
        slope = (e.objective(Z + move, C) - e.objective(Z - move, C)) / (2 * step)
        settled = (apart > 1e-3) & (np.abs(Z).max(axis=1) < 1e3)
        size = np.maximum(np.abs(C).sum(axis=1), 1) / radial.length
        assert np.all(np.abs(slope[settled]) < 1e-4 * size[settled])
    assert np.all(e.objective(Z, C) <= start + 1e-12 * np.abs(C).sum(axis=1))


def test_no_step_leads_farther_away_even_if_weights_cancel(monkeypatch):
    """Coefficients of both signs, whose weights nearly add up to nothing: the plain iteration would leap away."""
    X = rows(30)
    e, radial = expansion(RBF(2.0), X), Radial.of(RBF(2.0), X)
    C = 5 * rows(200, 30, seed=4)
    C -= C.mean(axis=1, keepdims=True)
    start, heights = np.repeat(X[:20], 10, axis=0), list[np.ndarray]()
    for steps in (0, 1, 2, 3, 5, 10, 100):
        monkeypatch.setattr("mercer_old.readings.preimages.fixed_point._STEPS", steps)
        heights.append(e.objective(fixed_points(radial, C, start)[0], C))
    assert all(np.all(b <= a + 1e-12) for a, b in pairwise(heights))
    assert np.mean(heights[-1] < heights[0] - 1e-3) > 0.9


def test_fixed_points_are_minima_that_an_optimiser_does_not_leave():
    X, Y = rows(), rows(5, 5, seed=2) / 2
    e = expansion(RBF(0.3), X)
    Z = WaysBack(e).rows(Y, "fixed-point")
    for y, z in zip(Y, Z, strict=True):
        c = e.coefficients(y[None])
        found = minimize(lambda p, c=c: e.objective(p[None], c)[0], z, method="BFGS", tol=1e-10)
        assert_allclose(found.x, z, atol=1e-4)


# ---------------------------------------------------------------------- gradients


@by_name("kernel", [RBF(0.3), Matern(1.5, 2.0), RationalQuadratic(0.7, 2.0), Polynomial(3, 0.3, 1.0)], ids=str)
def test_gradients_lead_to_a_minimum(kernel):
    X, Y = rows(), rows(6, 5, seed=2) / 2
    e = expansion(kernel, X)
    C = e.coefficients(Y)
    Z = descend(e, C, X[:6])
    slopes = kernel.diag_pull(Z) - 2 * kernel.pull(Z, X, C)
    at_start = kernel.diag_pull(X[:6]) - 2 * kernel.pull(X[:6], X, C)
    assert np.all(e.objective(Z, C) <= e.objective(X[:6], C))
    assert np.linalg.norm(slopes, axis=1).max() < 1e-2 * np.linalg.norm(at_start, axis=1).max()
    for c, z in zip(C, Z, strict=True):
        better = minimize(lambda p, c=c: e.objective(p[None], c[None])[0], z, method="BFGS", tol=1e-9)
        assert e.objective(z[None], c[None])[0] <= better.fun + 1e-5


def test_gradients_of_the_linear_kernel_end_in_the_plane():
    e, Y = expansion(Linear(), rows()), rows(6, 5, seed=2)
    ways = WaysBack(e)
    assert_allclose(ways.rows(Y, "gradient"), ways.rows(Y, "auto"), atol=1e-6)
    assert_allclose(ways.rows(Y, "auto"), e.coefficients(Y) @ rows(), atol=1e-13)


# ---------------------------------------------------------------------- neighbours


@by_name("offset", [0.0, 1e6])
def test_exact_distances_give_the_point_back(offset):
    around, truth = rows(60, 3).reshape(6, 10, 3) + offset, rows(6, 3, seed=2) + offset
    squared = np.sum((around - truth[:, None]) ** 2, axis=2)
    assert_allclose(points_at(around, squared), truth, atol=1e-12 * max(1, offset**2 * 1e-5))


def test_a_point_in_the_span_of_a_few_neighbours_comes_back_too():
    around = rows(5, 20)[None]
    truth = np.random.default_rng(2).dirichlet(np.ones(5)) @ around[0]
    found = points_at(around, np.sum((around - truth) ** 2, axis=2))
    assert_allclose(found[0], truth, atol=1e-10)


def test_a_point_beside_few_neighbours_is_shrunk_towards_their_mean_as_a_local_model_says():
    """By the formula: coordinates e/(e + qσ²) with σ² = what is left of ‖z − mean‖² over d − rank dimensions."""
    around, truth = rows(5, 20), 2 * rows(1, 20, seed=2)[0]
    squared = np.sum((around - truth) ** 2, axis=1)
    middle = around.mean(axis=0)
    _, s, Vt = np.linalg.svd(around - middle, full_matrices=False)
    along = Vt[:4] @ (truth - middle)
    noise = (np.sum((truth - middle) ** 2) - along @ along) / (20 - 4)
    expected = middle + Vt[:4].T @ (along * s[:4] ** 2 / (s[:4] ** 2 + 5 * noise))
    assert_allclose(points_at(around[None], squared[None])[0], expected, atol=1e-10)


def test_copies_among_neighbours_span_nothing_and_break_nothing():
    around = np.repeat(rows(2, 3), 3, axis=0)[None]
    squared = np.sum((around - rows(1, 3, seed=2)) ** 2, axis=2)
    assert np.isfinite(points_at(around, squared)).all()
    same = np.ones((1, 4, 3))
    assert_allclose(points_at(same, np.zeros((1, 4))), [[1.0, 1.0, 1.0]])


def test_the_nearest_are_the_first_of_a_sorted_row():
    squared = np.round(rows(20, 30) ** 2, 1)  # with ties
    places, found = nearest_rows(squared, 7)
    order = np.argsort(squared, axis=1, kind="stable")[:, :7]
    assert_allclose(found, np.take_along_axis(squared, order, axis=1))
    assert_allclose(np.take_along_axis(squared, places, axis=1), found)


@by_name("kind", ["all different", "ties", "side by side", "copies", "infinite", "gaps"])
def test_the_nearest_of_many_rows_are_those_that_sorting_finds(kind):
    squared = rows(20, 1003, seed=5) ** 2
    if kind == "ties":
        squared = np.argsort(squared, axis=1) // 4 / 1.0
    elif kind == "side by side":
        squared[:, 300:340] /= 1e3
    elif kind == "copies":
        squared[:, 100:900] = 0.0
    elif kind == "infinite":
        squared[:, 5:] = np.inf
    elif kind == "gaps":
        squared[3] = np.nan
    places, found = nearest_rows(squared, 7)
    order = np.argsort(squared, axis=1, kind="stable")[:, :7]
    assert_allclose(found, np.take_along_axis(squared, order, axis=1))
    assert_allclose(np.take_along_axis(squared, places, axis=1), found)
    if kind in ("all different", "ties", "side by side"):
        assert np.array_equal(places, order)


def test_no_rows_have_no_nearest_ones():
    assert [found.shape for found in nearest_rows(np.empty((0, 1000)), 7)] == [(0, 7), (0, 7)]


def test_an_average_lies_among_its_neighbours_and_is_a_row_where_p_is_its_image():
    X = rows(30)
    kernel, one_hot = RBF(0.5), np.zeros(30)
    one_hot[7] = 1.0
    e = Expansion.of(kernel, X, np.zeros((30, 1)), one_hot)
    squared = e.to_rows(np.zeros((1, 1)))
    near, apart = nearest_rows(squared, 8)
    assert near[0, 0] == 7
    assert_allclose(by_average(kernel, X, near, apart), X[[7]], atol=1e-8)
    mean = Expansion.of(kernel, X, np.zeros((30, 1)), np.full(30, 1 / 30))
    near, apart = nearest_rows(mean.to_rows(np.zeros((1, 1))), 8)
    found = by_average(kernel, X, near, apart)[0]
    assert np.all(found >= X[near[0]].min(axis=0)) and np.all(found <= X[near[0]].max(axis=0))


@by_name("spread", [1.0, 1e-3, 1e-6])
def test_the_weights_of_an_average_are_the_best_of_those_that_are_not_negative(spread):
    """By the conditions of Karush, Kuhn and Tucker: no neighbour that is left out would bring it nearer."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        A = rng.normal(size=(8, 8)) * spread ** np.linspace(0, 1, 8) + rng.normal(size=8)
        G = A @ A.T
        w = _convex(G)
        slopes = G @ w
        assert w.min() >= 0 and abs(w.sum() - 1) < 1e-12 and np.any(w == 0)
        assert np.all(slopes >= w @ G @ w - 1e-9 * G.max()) and abs(w @ slopes - slopes.min()) < 1e-9 * G.max()
    assert_allclose(_convex(np.zeros((3, 3))).sum(), 1)
    assert_allclose(_convex(np.full((3, 3), np.nan)), [1, 0, 0])


def test_an_average_of_a_wide_kernel_finds_a_row_among_its_neighbours():
    """Images of a wide kernel lie almost in a plane, as rows do: the average is nearly the row itself."""
    X = rows(60, 2)
    inner = np.flatnonzero(np.linalg.norm(X, axis=1) < 1)
    kernel = RBF(1e-4)
    e = Expansion.of(kernel, X, np.eye(60) - 1 / 60, np.full(60, 1 / 60))
    squared = e.to_rows(np.eye(60)[inner])  # p is the image of each of them
    squared[np.arange(len(inner)), inner] = np.inf  # which must be found from the others
    near, _ = nearest_rows(squared, 15)
    apart = np.array(
        [
            [float(squared_by_hand(kernel, X, np.eye(60)[i], X[j])) for j in js]
            for i, js in zip(inner, near, strict=True)
        ]
    )
    assert np.abs(by_average(kernel, X, near, apart) - X[inner]).max() < 0.05


# ---------------------------------------------------------------------- noise


def local_model(around, z, usual):
    """The formula, with an SVD: the coordinates inside of the span, and the part beside it."""
    q, d = around.shape
    middle = around.mean(axis=0)
    s, Vt = np.linalg.svd(around - middle, full_matrices=False)[1:]
    rank = int(np.sum(s > 1e-8 * s[0]))
    s, Vt = s[:rank], Vt[:rank]
    inside = Vt @ (z - middle)
    u = z - middle - Vt.T @ inside
    noise = max(u @ u - usual, 0) / (d - rank)
    return u @ u, middle + Vt.T @ (inside * s**2 / (s**2 + q * noise)) + u * min(1, usual / (u @ u))


@by_name("usual", [0.0, 0.5, 20.0])
def test_noise_is_taken_off_as_a_local_model_says(usual):
    around, Z = rows(20 * 6, 20).reshape(6, 20, 20)[:, :5], rows(6, 20, seed=2)
    expected = [local_model(some, z, usual) for some, z in zip(around, Z, strict=True)]
    assert_allclose(beside(Z, around), [squared for squared, _ in expected], rtol=1e-9)
    assert_allclose(without_noise(Z, around, usual), [row for _, row in expected], atol=1e-10)


def test_rows_that_lie_as_rows_do_stay_where_they_are():
    around, Z = rows(120, 20).reshape(6, 20, 20)[:, :5], rows(6, 20, seed=2)
    assert_allclose(without_noise(Z, around, float(beside(Z, around).max()) * 1.01), Z, atol=1e-12)
    inside = np.einsum("j,ijk->ik", np.full(5, 0.2), around)  # in the span: nothing beside it
    assert_allclose(without_noise(inside, around, 0.0), inside, atol=1e-12)


def test_noise_around_a_plane_is_taken_off_better_than_by_the_plane_of_the_neighbours_alone():
    """Rows on a plane of 5 among 40 dimensions: with known noise the local model leaves less than projecting does."""
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(40, 5)))[0].T
    around = rng.normal(size=(200, 15, 5)) @ basis
    truth = rng.normal(size=(200, 5)) @ basis
    Z = truth + 0.7 * rng.normal(size=truth.shape)
    calm, projected = without_noise(Z, around, 0.0), Z @ basis.T @ basis
    assert np.sum((calm - truth) ** 2) < 0.9 * np.sum((projected - truth) ** 2)


# ---------------------------------------------------------------------- learned ways


@by_name("weights", [None, np.random.default_rng(3).uniform(0.2, 3, size=25)])
def test_leave_one_out_in_closed_form_is_leaving_one_out(weights):
    Y, X = rows(25, 2), rows(25, 4, seed=1)
    K, w = RBF(0.4).block(Y, Y), np.ones(25) if weights is None else weights
    for ridge in (1e-3, 0.1, 10.0):
        errors = []
        for i in range(25):
            rest = np.arange(25) != i
            C = np.linalg.solve(K[np.ix_(rest, rest)] + ridge * np.diag(1 / w[rest]), X[rest])
            errors.append(np.sum((X[i] - K[i, rest] @ C) ** 2))
        found = leave_one_out(K, X, np.array([ridge]), weights)[0]
        assert_allclose(found, w @ errors / w.sum(), rtol=1e-9)


def test_a_row_of_weight_two_is_that_row_twice_to_a_ridge():
    Y, X, w = rows(20, 2), rows(20, 3, seed=1), np.repeat([1.0, 2.0], 10)
    twice = np.repeat(np.arange(20), w.astype(int))
    K, K2 = RBF(0.4).block(Y, Y), RBF(0.4).block(Y[twice], Y[twice])
    C = np.linalg.solve(K + 0.3 * np.diag(1 / w), X)
    C2 = np.linalg.solve(K2 + 0.3 * np.eye(30), X[twice])
    assert_allclose(K @ C, RBF(0.4).block(Y, Y[twice]) @ C2, atol=1e-10)


def test_a_ridge_finds_a_curve_and_its_own_width():
    t = np.linspace(0, 3, 200)[:, None]
    X = np.column_stack([np.sin(2 * t), np.cos(2 * t), t]) + 1e3
    learned = learn_ridge(t, X)
    assert isinstance(learned.kernel, RBF)
    between = t[:-1] + 0.005
    truth = np.column_stack([np.sin(2 * between), np.cos(2 * between), between]) + 1e3
    assert np.abs(learned.rows(between) - truth).max() < 1e-2
    straight = learn_ridge(t, t @ np.array([[1.0, -2.0]]))
    assert_allclose(straight.rows(np.array([[5.0]])), [[5.0, -10.0]], rtol=1e-3)  # beyond the data: by the line


def test_conformal_coordinates_give_back_rows_whose_scalar_products_are_those_of_the_scores():
    X = rows(50, 4) @ np.diag([3.0, 2.0, 1.0, 0.5])
    X -= X.mean(axis=0)
    Q = np.linalg.qr(rows(4, 4, seed=2))[0]
    B, row = conformal_map(X @ Q + 3, X + 7)
    assert_allclose((X @ Q + 3) @ B + row, X + 7, atol=1e-4)


def test_conformal_coordinates_follow_their_formula():
    Y, X = rows(40, 3), rows(40, 5, seed=1)
    X -= X.mean(axis=0)
    Y -= Y.mean(axis=0)
    B, _ = conformal_map(Y, X)
    ridges = 10.0 ** np.arange(-8, 2)
    unit = np.mean(np.sum(Y**2, axis=1))
    ridge = unit * ridges[np.argmin(leave_one_out(Y @ Y.T, X, unit * ridges))]
    D = np.linalg.solve(Y.T @ Y + ridge * np.eye(3), Y.T @ X)
    top = np.linalg.norm(X, 2) ** 2
    maps = [D @ D.T @ Y.T @ X @ np.linalg.inv(X.T @ X + top * mu * np.eye(5)) for mu in ridges]
    assert min(np.abs(B - other).max() for other in maps) < 1e-9


# ---------------------------------------------------------------------- choosing


def test_every_method_but_auto_has_its_own_way():
    e, Y = expansion(RBF(0.3), rows()), rows(4, 5, seed=2) / 2
    ways = WaysBack(e)
    found = {method: ways.rows(Y, method) for method in PREIMAGES}
    assert_allclose(found["auto"], found["fixed-point"])
    assert_allclose(ways.rows(Y, "local", noisy=np.full(len(Y), np.inf)), found["local"])
    others = [found[method] for method in PREIMAGES if method not in ("auto", "gradient")]
    assert all(np.abs(a - b).max() > 1e-6 for i, a in enumerate(others) for b in others[:i])


def test_noise_is_taken_off_only_where_nothing_else_was_asked_for():
    X, Y = rows(60, 30), rows(4, 5, seed=2)
    X[:, 3:] *= 0.01
    ways = WaysBack(expansion(RBF(0.3), X))
    near = nearest_rows(ways.expansion.to_rows(Y), 15)[0]
    found = without_noise(ways.rows(Y, "fixed-point"), X[near], ways.usual)
    assert_allclose(ways.rows(Y, "auto", noisy=np.zeros(len(Y))), found, atol=1e-12)
    assert_allclose(ways.rows(Y, "fixed-point", noisy=np.full(len(Y), np.inf)), ways.rows(Y, "auto"), atol=1e-12)


def test_the_usual_method_depends_on_what_a_kernel_can_do():
    assert is_linear(2 * Linear()) and not is_linear(RBF(1.0))
    usual = [(RBF(1.0), "fixed-point"), (Polynomial(2), "gradient"), (RBF(1.0) + RBF(2.0), "gradient")]
    assert all(usual_method(kernel) == name for kernel, name in usual)
    assert usual_method(3 * Matern(1.5)) == "fixed-point" and usual_method(Sigmoid(0.1, 0.0)) == "ridge"


def test_scores_beyond_those_of_the_fit_are_counted():
    known, deviations = np.array([[0.5, -1.0], [-1.0, 0.2]]), np.array([0.1, 0.5])
    Y = np.array([[0.5, 0.0], [1.9, 2.9], [2.1, 0.0], [0.0, -3.1], [-2.5, 9.0]])
    assert number_outside(known, deviations, Y) == 3  # beyond 2·1 in the first, 6·0.5 in the second
