"""GPLVM against the density it stands on, probabilistic PCA, differences, and itself by landmarks."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from mercer import GPLVM, PCA
from mercer.kernels import RBF, Linear, Matern, Pairwise, Polynomial, RationalQuadratic, Sigmoid
from mercer_old.errors import NoRoom
from mercer_old.fits.latent import Bound, Exact, Predictor
from mercer_old.fits.latent.placing import descend_each
from mercer_old.fits.latent.search import Point
from mercer_old.fits.latent.start import principal_places, with_fewer_columns
from support.naive import gaussian_log_likelihood

# Told in a test of its own.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

KERNELS = [
    RBF(gamma=0.5), Linear(), Matern(nu=1.5), Matern(nu=2.5), RationalQuadratic(), RBF(gamma=0.3) + Linear(),
    Polynomial(gamma=1.0, degree=2, coef0=1.0),
]  # fmt: skip
SIGNAL, NOISE = 1.3, 0.4


def case(n=15, d=6, q=2, r=5):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)), rng.normal(size=(n, q)), rng.normal(size=(r, q))


def arc(n=80, noise=0.02, seed=0):
    """Half a turn of a screw: one coordinate, three columns."""
    rng = np.random.default_rng(seed)
    t = np.sort(rng.uniform(0, 3, n))
    return np.column_stack([np.cos(t), np.sin(t), 0.5 * t]) + noise * rng.normal(size=(n, 3)), t


def slope(function, X, steps=1e-6):
    """By differences, entry by entry."""
    out = np.empty(X.shape)
    for index in np.ndindex(X.shape):
        E = np.zeros(X.shape)
        E[index] = steps
        out[index] = (function(X + E) - function(X - E)) / (2 * steps)
    return out


# ---------------------------------------------------------------------- likelihoods


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_the_likelihood_is_that_of_columns_of_a_gaussian(kernel):
    Y, T, _ = case()
    K = SIGNAL * kernel.block(T, T) + NOISE * np.eye(len(T))
    density = gaussian_log_likelihood(Y.T, np.zeros(len(T)), K).sum()
    exact = Exact(Y, Y.shape[1], kernel)
    assert exact(T, SIGNAL, NOISE).value == pytest.approx(-density, rel=1e-11)
    assert exact.value(T, SIGNAL, NOISE) == pytest.approx(-density, rel=1e-11)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_the_bound_is_below_for_any_landmarks_and_touches_with_all_places(kernel):
    Y, T, U = case()
    exact, bound = Exact(Y, 6, kernel).value(T, SIGNAL, NOISE), Bound(Y, 6, kernel)
    assert bound(T, T, SIGNAL, NOISE).value == pytest.approx(exact, rel=1e-6)
    for landmarks in (U, 3 * U, T[:3]):
        assert bound(T, landmarks, SIGNAL, NOISE).value >= exact * (1 - 1e-9)


def test_the_bound_is_that_of_titsias_by_the_definition():
    Y, T, U = case()
    kernel, d = RBF(gamma=0.5), 6
    K_uf, K_uu = SIGNAL * kernel.block(U, T), SIGNAL * kernel.block(U, U)
    Q = K_uf.T @ np.linalg.solve(K_uu, K_uf)
    density = gaussian_log_likelihood(Y.T, np.zeros(15), Q + NOISE * np.eye(15)).sum()
    unseen = d / (2 * NOISE) * (SIGNAL * 15 - np.trace(Q))
    assert Bound(Y, d, kernel)(T, U, SIGNAL, NOISE).value == pytest.approx(unseen - density, rel=1e-6)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_gradients_are_those_of_differences(kernel):
    Y, T, U = case()
    exact, bound = Exact(Y, 6, kernel), Bound(Y, 6, kernel)
    g, b = exact(T, SIGNAL, NOISE), bound(T, U, SIGNAL, NOISE)
    near = {"rtol": 1e-5, "atol": 1e-5}
    np.testing.assert_allclose(g.places, slope(lambda t: exact.value(t, SIGNAL, NOISE), T), **near)
    np.testing.assert_allclose(b.places, slope(lambda t: bound(t, U, SIGNAL, NOISE).value, T), **near)
    np.testing.assert_allclose(b.landmarks, slope(lambda u: bound(T, u, SIGNAL, NOISE).value, U), **near)
    logs = np.log([SIGNAL, NOISE])
    by_exact = slope(lambda x: exact.value(T, *np.exp(x)), logs)
    by_bound = slope(lambda x: bound(T, U, *np.exp(x)).value, logs)
    np.testing.assert_allclose([g.log_signal, g.log_noise], by_exact, **near)
    np.testing.assert_allclose([b.log_signal, b.log_noise], by_bound, **near)


def test_rows_with_fewer_columns_have_the_same_products():
    Y = np.random.default_rng(0).normal(size=(7, 40))
    fewer = with_fewer_columns(Y)
    assert fewer.shape == (7, 7)
    np.testing.assert_allclose(fewer @ fewer.T, Y @ Y.T, atol=1e-12)


def test_the_start_is_pca_scaled_to_variance_one():
    rng = np.random.default_rng(0)
    for shape in [(50, 5), (12, 30)]:
        X = rng.normal(size=shape)
        scores = PCA(3, whiten=True).fit_transform(X)
        Z = principal_places(X - X.mean(axis=0), 3)
        np.testing.assert_allclose(np.abs(Z), np.abs(scores) * np.sqrt(len(X) / (len(X) - 1)), atol=1e-9)


# ---------------------------------------------------------------------- probabilistic PCA


def test_with_a_linear_kernel_it_is_probabilistic_pca_with_rows_and_columns_exchanged():
    """Its optimum is known: YYᵀ/d = Σλuuᵀ keeps the leading λ, the others are evened out."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2)) @ rng.normal(size=(2, 40)) + 0.5 * rng.normal(size=(30, 40))
    model = GPLVM(2, kernel="linear", prior=0, n_landmarks=30, tol=1e-5, max_iter=2000, init=rng.normal(size=(30, 2)))
    model.fit(X)
    Y = X - X.mean(axis=0)
    Y /= np.sqrt((Y**2).mean())
    values, vectors = np.linalg.eigh(Y @ Y.T / 40)
    noise = values[:-2].mean()
    best = -20 * (np.log(values[-2:]).sum() + 28 * np.log(noise) + 30 + 30 * np.log(2 * np.pi))
    assert model.log_probability_ == pytest.approx(best, rel=1e-9)
    assert model.noise_variance_ == pytest.approx(noise * (X - X.mean(axis=0)).var(), rel=1e-4)
    U = np.linalg.qr(model.embedding_)[0]
    assert np.linalg.norm(U.T @ vectors[:, -2:]) ** 2 == pytest.approx(2, abs=1e-6)


# ---------------------------------------------------------------------- what it finds


def error_of(model, X, scores):
    return np.sqrt(((model.inverse_transform(scores) - X) ** 2).mean())


def test_a_curve_is_followed_in_its_order_and_rebuilt():
    X, t = arc()
    model, pca = GPLVM(1).fit(X), PCA(1).fit(X)
    ranks = model.embedding_[:, 0].argsort().argsort()
    assert abs(np.corrcoef(ranks, t.argsort().argsort())[0, 1]) > 0.99
    assert error_of(model, X, model.embedding_) < 0.03 < 0.1 < error_of(pca, X, pca.transform(X))
    assert model.noise_variance_ == pytest.approx(0.02**2, rel=0.5)


def test_landmarks_and_some_exact_steps_end_about_as_high_as_exact_steps_alone():
    from sklearn.datasets import load_digits

    X = load_digits().data[:100]
    landmarks = GPLVM(2, n_landmarks=50, max_iter=100).fit(X)
    exact = GPLVM(2, max_iter=100, length_scale=landmarks.length_scale_).fit(X)
    gain = exact.log_probability_ - exact.certificate_.start
    assert landmarks.log_probability_ > exact.log_probability_ - 0.05 * gain
    assert "at the start" in str(landmarks.certificate_) and "local optimum at best" in str(landmarks.certificate_)


def test_without_polish_the_end_is_a_bound_and_says_so():
    X, _ = arc()
    model = GPLVM(1, n_landmarks=10, polish=0).fit(X)
    assert "a lower bound on it by 10 landmarks" in str(model.certificate_)
    Y = (X - X.mean(axis=0)) / np.sqrt(X.var(axis=0).mean())
    unit = X.var(axis=0).mean()
    exact = Exact(Y, 3, RBF(gamma=0.5)).value(
        model.embedding_ / model.length_scale_, model.signal_variance_ / unit, model.noise_variance_ / unit
    )
    prior = 0.5 * ((model.embedding_**2).sum() + 80 * np.log(2 * np.pi))
    assert model.log_probability_ <= -exact - prior + 1e-6
    assert error_of(model, X, model.embedding_) < 0.05


# ---------------------------------------------------------------------- new rows


def test_new_rows_go_between_their_neighbours_and_old_ones_where_they_are():
    (X, t), (new, s) = arc(), arc(seed=1)
    for polish in ("auto", 0):
        model = GPLVM(1, n_landmarks=20, polish=polish).fit(X)
        np.testing.assert_array_equal(model.transform(X), model.embedding_)
        places = model.transform(new)[:, 0]
        expected = np.interp(s, t, model.embedding_[:, 0])
        assert np.abs(places - expected).max() < 0.1 * np.ptp(model.embedding_)
        assert error_of(model, new, places[:, None]) < 0.04


def test_the_loss_of_new_rows_has_the_gradient_of_differences_and_no_place_nearby_is_better():
    Y, T, U = case()
    Z, new = U[:4], Y[:4] + 0.1
    for landmarks in (U, U[:0]):
        predictor = Predictor.of(RBF(gamma=0.5), Point(0.7 * T, 0.7 * landmarks, SIGNAL, NOISE, 0.7), Y)
        differences = slope(lambda z, p=predictor: p.loss(z, new, 1.0)[0].sum(), Z)
        np.testing.assert_allclose(predictor.loss(Z, new, 1.0)[1], differences, atol=1e-6)
    found = descend_each(lambda z, some: predictor.loss(z, new[some], 1.0), Z)
    best = predictor.loss(found, new, 1.0)[0]
    assert (best < predictor.loss(Z, new, 1.0)[0]).all()
    for step in 0.01 * np.random.default_rng(0).normal(size=(20, 4, 2)):
        assert (predictor.loss(found + step, new, 1.0)[0] >= best - 1e-9).all()


def test_an_exact_prediction_is_the_conditional_mean_and_variance_of_the_joint_gaussian():
    Y, T, U = case()
    predictor = Predictor.of(RBF(gamma=0.5), Point(T, U[:0], SIGNAL, NOISE, 1.0), Y)
    both = np.concatenate([T, U])
    K = SIGNAL * RBF(gamma=0.5).block(both, both) + NOISE * np.eye(20)
    mean = K[15:, :15] @ np.linalg.solve(K[:15, :15], Y)
    np.testing.assert_allclose(predictor.mean(U), mean, atol=1e-10)
    variance = np.diag(K[15:, 15:] - K[15:, :15] @ np.linalg.solve(K[:15, :15], K[:15, 15:]))
    loss = 3 * np.log(variance) + ((Y[:5] - mean) ** 2).sum(axis=1) / (2 * variance)
    np.testing.assert_allclose(predictor.loss(U, Y[:5], 0.0)[0], loss, rtol=1e-8)


def test_many_small_functions_are_descended_each_to_its_own_least():
    """Rosenbrock's valleys, moved and stretched."""
    rng = np.random.default_rng(0)
    goals, sizes = rng.normal(size=(50, 2)), rng.uniform(0.1, 20, 50)

    def function(Z, some):
        x, y = (Z - goals[some] + 1).T
        a, b = 1 - x, y - x**2
        values = sizes[some] * (a**2 + 10 * b**2)
        return values, sizes[some][:, None] * np.column_stack([-2 * a - 40 * x * b, 20 * b])

    np.testing.assert_allclose(descend_each(function, goals - 0.5), goals, atol=1e-4)


# ---------------------------------------------------------------------- what must not matter, and edges


@pytest.mark.parametrize(
    "change", [lambda X: 1e-140 * X, lambda X: 1e140 * X, lambda X: X + 1e6], ids=["small", "large", "far"]
)
def test_very_large_very_small_and_far_away_rows_are_right(change):
    X, _ = arc()
    plain, other = GPLVM(1, max_iter=20).fit(X), GPLVM(1, max_iter=20).fit(change(X))
    np.testing.assert_allclose(other.embedding_, plain.embedding_, atol=1e-3)


def test_rows_of_any_kind_are_the_same_rows(tmp_path):
    X, _ = arc()
    np.save(tmp_path / "rows.npy", X)
    plain = GPLVM(1, max_iter=20).fit(X)
    for other in (sparse.csr_array(X), tmp_path / "rows.npy", X.tolist()):
        np.testing.assert_allclose(GPLVM(1, max_iter=20).fit_transform(other), plain.embedding_, atol=1e-6)


def test_copies_of_rows_share_a_place_and_wide_rows_are_no_trouble():
    X, _ = arc(n=30)
    model = GPLVM(1).fit(np.concatenate([X, X]))
    np.testing.assert_allclose(model.transform(X), model.embedding_[:30], atol=1e-12)
    wide = np.concatenate([X, 0.01 * np.random.default_rng(0).normal(size=(30, 60))], axis=1)
    assert np.isfinite(GPLVM(2).fit_transform(wide)).all()


def test_standardized_columns_make_units_vanish():
    X, _ = arc()
    other = GPLVM(1, standardize=True, max_iter=20).fit(X * [1.0, 1000.0, 0.01])
    plain = GPLVM(1, standardize=True, max_iter=20).fit(X)
    np.testing.assert_allclose(other.embedding_, plain.embedding_, atol=1e-4)


@pytest.mark.parametrize(
    ("params", "rows", "words"),
    [
        (dict(n_components=4), arc()[0], "n_components=4 must be at most .* n_features = 3"),
        ({}, arc()[0][:1], "n_samples = 1"),
        ({}, np.ones((10, 3)), "All rows are the same"),
        ({}, np.full((10, 3), 0.1), "All rows are the same"),
        (dict(init=np.zeros((3, 2))), arc()[0], r"shape \(3, 2\); a finite place for every row"),
        (dict(kernel=Sigmoid()), arc()[0], "positive semi-definite kernel of rows with a gradient"),
        (dict(kernel=Pairwise(lambda x, y: 1.0)), arc()[0], "with a gradient"),
        (dict(n_landmarks=0), arc()[0], "n_landmarks"),
        ({}, np.where(np.arange(30).reshape(10, 3) == 4, np.nan, 1.0), "contains NaN.*ProbabilisticPCA"),
        ({}, 1e308 * np.array([[1.0, -1, 1], [-1, 1, -1], [1, 1, 1]]), "no variance that is a number"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(params, rows, words):
    with pytest.raises(ValueError, match=words):
        GPLVM(**params).fit(rows)


def test_no_room_and_scores_of_another_width_are_said():
    X, _ = arc()
    with pytest.raises(NoRoom, match="over the limit"):
        GPLVM(1, memory_limit=1000).fit(X)
    model = GPLVM(1, max_iter=5).fit(X)
    with pytest.raises(ValueError, match="expecting 1: one for each component"):
        model.inverse_transform(np.zeros((2, 3)))


@pytest.mark.parametrize("params", [dict(n_landmarks=300), dict(n_landmarks=50, polish=0)], ids=["exact", "landmarks"])
def test_a_fit_takes_no_more_memory_than_its_limit(params):
    X = np.random.default_rng(0).normal(size=(300, 10))
    needed = 8 * (4 * 3000 + 50 * 600 + (8 * 300**2 if "polish" not in params else 12 * 300 * 50))
    with pytest.raises(NoRoom):
        GPLVM(2, max_iter=1, memory_limit=needed - 1, **params).fit(X)
    model = GPLVM(2, max_iter=1, memory_limit=needed, **params).fit(X[:60])  # what is loaded on the way is loaded
    tracemalloc.start()
    try:
        model.fit(X)
        assert tracemalloc.get_traced_memory()[1] < needed + X.nbytes
    finally:
        tracemalloc.stop()


def test_a_search_that_is_cut_short_is_told():
    with pytest.warns(ConvergenceWarning, match="still gained"):
        GPLVM(1, max_iter=2, n_landmarks=80).fit(arc()[0])
