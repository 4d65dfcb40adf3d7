"""GPLVM: densities by definition, finite differences, probabilistic PCA in closed form, and the first edition."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.stats import multivariate_normal
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning

import mercer_old
from mercer.errors import DataError, MemoryLimitError, MercerWarning, MissingValuesError, ParameterError
from mercer.estimators import GPLVM, PCA
from mercer.estimators.gplvm import (
    Likelihood,
    Posterior,
    _State,
    fewer_columns,
    minimize_each,
    principal_coordinates,
)
from mercer.kernels.base import Pairwise
from mercer.kernels.distance import RBF, Matern, RationalQuadratic
from mercer.kernels.dot import Linear, Polynomial, Sigmoid
from mercer_old.fits.latent import Bound, Exact

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
KERNELS = [
    RBF(gamma=0.5),
    Linear(),
    Matern(nu=1.5),
    Matern(nu=2.5),
    RationalQuadratic(),
    RBF(gamma=0.3) + Linear(),
    Polynomial(gamma=1.0, degree=2, coef0=1.0),
]
SIGNAL, NOISE = 1.3, 0.4
each_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=repr)


def case(n=15, d=6, q=2, r=5):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)), rng.normal(size=(n, q)), rng.normal(size=(r, q))


def arc(n=80, noise=0.02, seed=0):
    """Half a turn of a screw: one coordinate, three columns."""
    rng = np.random.default_rng(seed)
    t = np.sort(rng.uniform(0, 3, n))
    return np.column_stack([np.cos(t), np.sin(t), 0.5 * t]) + noise * rng.normal(size=(n, 3)), t


def differences(function, X, step=1e-6):
    """The gradient by central differences."""
    out = np.empty(X.shape)
    for index in np.ndindex(X.shape):
        E = np.zeros(X.shape)
        E[index] = step
        out[index] = (function(X + E) - function(X - E)) / (2 * step)
    return out


def log_density(Y, K):
    return multivariate_normal(np.zeros(len(K)), K).logpdf(Y.T).sum()


# ---------------------------------------------------------------------- likelihoods


@each_kernel
def test_the_likelihood_is_the_density_of_the_columns(kernel):
    Y, T, _ = case()
    found = Likelihood(Y, 6, kernel).exact(T, SIGNAL, NOISE).value
    assert found == pytest.approx(-log_density(Y, SIGNAL * kernel(T, T) + NOISE * np.eye(15)), rel=1e-10)


@each_kernel
def test_the_bound_is_on_one_side_and_tight_with_all_coordinates(kernel):
    Y, T, U = case()
    likelihood = Likelihood(Y, 6, kernel)
    exact = likelihood.exact(T, SIGNAL, NOISE).value
    assert likelihood.bound(T, T, SIGNAL, NOISE).value == pytest.approx(exact, rel=1e-6)
    for inducing in (U, 3 * U, T[:3]):
        assert likelihood.bound(T, inducing, SIGNAL, NOISE).value >= exact * (1 - 1e-9)


def test_the_bound_is_that_of_titsias():
    Y, T, U = case()
    kernel, d = RBF(gamma=0.5), 6
    K_uf, K_uu = SIGNAL * kernel(U, T), SIGNAL * kernel(U, U)
    Q = K_uf.T @ np.linalg.solve(K_uu, K_uf)
    missed = d / (2 * NOISE) * (SIGNAL * 15 - np.trace(Q))
    expected = missed - log_density(Y, Q + NOISE * np.eye(15))
    assert Likelihood(Y, d, kernel).bound(T, U, SIGNAL, NOISE).value == pytest.approx(expected, rel=1e-6)


@each_kernel
def test_gradients_are_those_of_differences(kernel):
    Y, T, U = case()
    likelihood, near = Likelihood(Y, 6, kernel), {"rtol": 1e-5, "atol": 1e-5}
    exact, bound = likelihood.exact(T, SIGNAL, NOISE), likelihood.bound(T, U, SIGNAL, NOISE)
    assert_allclose(exact.coordinates, differences(lambda t: likelihood.exact(t, SIGNAL, NOISE).value, T), **near)
    assert_allclose(bound.coordinates, differences(lambda t: likelihood.bound(t, U, SIGNAL, NOISE).value, T), **near)
    assert_allclose(bound.inducing, differences(lambda u: likelihood.bound(T, u, SIGNAL, NOISE).value, U), **near)
    logs = np.log([SIGNAL, NOISE])
    by_exact = differences(lambda x: likelihood.exact(T, *np.exp(x)).value, logs)
    by_bound = differences(lambda x: likelihood.bound(T, U, *np.exp(x)).value, logs)
    assert_allclose([exact.log_signal, exact.log_noise], by_exact, **near)
    assert_allclose([bound.log_signal, bound.log_noise], by_bound, **near)


def test_values_and_gradients_are_those_of_the_first_edition():
    Y, T, U = case()
    theirs, ours = mercer_old.kernels.RBF(gamma=0.5), Likelihood(Y, 6, RBF(gamma=0.5))
    pairs = [
        (ours.exact(T, SIGNAL, NOISE), Exact(Y, 6, theirs)(T, SIGNAL, NOISE)),
        (ours.bound(T, U, SIGNAL, NOISE), Bound(Y, 6, theirs)(T, U, SIGNAL, NOISE)),
    ]
    for new, old in pairs:
        assert new.value == pytest.approx(old.value, rel=1e-12)
        assert_allclose(new.coordinates, old.places, rtol=1e-9, atol=1e-11)
        assert_allclose(new.inducing, old.landmarks, rtol=1e-9, atol=1e-11)
        assert_allclose([new.log_signal, new.log_noise], [old.log_signal, old.log_noise], rtol=1e-9)


def test_fewer_columns_have_the_same_products_and_the_start_is_pca():
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(7, 40))
    assert fewer_columns(Y).shape == (7, 7)
    assert_allclose(fewer_columns(Y) @ fewer_columns(Y).T, Y @ Y.T, atol=1e-12)
    for shape in [(50, 5), (12, 30)]:
        X = rng.normal(size=shape)
        scores = PCA(3, whiten=True).fit_transform(X) * np.sqrt(len(X) / (len(X) - 1))
        assert_allclose(np.abs(principal_coordinates(X - X.mean(axis=0), 3)), np.abs(scores), atol=1e-9)


# ---------------------------------------------------------------------- fits


def test_with_a_linear_kernel_it_is_probabilistic_pca_of_the_transposed_rows():
    """The optimum in closed form: YYᵀ/d keeps its leading eigenvalues, the others are replaced by their mean."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2)) @ rng.normal(size=(2, 40)) + 0.5 * rng.normal(size=(30, 40))
    start = rng.normal(size=(30, 2))
    model = GPLVM(2, kernel="linear", prior=0, n_landmarks=30, tol=1e-5, max_iter=2000, init=start).fit(X)
    Y = X - X.mean(axis=0)
    Y /= np.sqrt((Y**2).mean())
    values, vectors = np.linalg.eigh(Y @ Y.T / 40)
    noise = values[:-2].mean()
    best = -20 * (np.log(values[-2:]).sum() + 28 * np.log(noise) + 30 + 30 * np.log(2 * np.pi))
    assert model.log_probability_ == pytest.approx(best, rel=1e-9) and model.certificate_.certified
    assert model.noise_variance_ == pytest.approx(noise * (X - X.mean(axis=0)).var(), rel=1e-4)
    U = np.linalg.qr(model.embedding_)[0]
    assert np.linalg.norm(U.T @ vectors[:, -2:]) ** 2 == pytest.approx(2, abs=1e-6)


@pytest.mark.parametrize("params", [{}, {"standardize": True}, {"n_landmarks": 30}, {"n_landmarks": 30, "polish": 0}])
def test_fits_are_those_of_the_first_edition(params):
    """After a few iterations: later, rounding takes two searches to two local optima."""
    X = load_iris().data[::2]
    ours, theirs = (cls(2, max_iter=15, **params).fit(X) for cls in (GPLVM, mercer_old.GPLVM))
    if "polish" in params or "n_landmarks" not in params:
        assert_allclose(ours.embedding_, theirs.embedding_, atol=0.01)  # rounding grows in the search for the start
        assert_allclose(ours.noise_variance_, theirs.noise_variance_, rtol=0.01)
    gain = theirs.log_probability_ - theirs.certificate_.start
    assert ours.log_probability_ >= theirs.log_probability_ - 0.02 * gain


def test_digits_end_as_high_as_in_the_first_edition():
    X = load_digits().data[:150]
    ours, theirs = (cls(2, max_iter=60).fit(X) for cls in (GPLVM, mercer_old.GPLVM))
    gain = theirs.log_probability_ - theirs.certificate_.start
    assert ours.log_probability_ >= theirs.log_probability_ - 0.01 * gain


def error_of(model, X, scores):
    return np.sqrt(((model.inverse_transform(scores) - X) ** 2).mean())


@pytest.mark.parametrize("polish", ["auto", 0])
def test_a_curve_is_recovered_and_new_rows_go_between_their_neighbors(polish):
    (X, t), (new, s) = arc(), arc(seed=1)
    model, pca = GPLVM(1, n_landmarks=20, polish=polish).fit(X), PCA(1).fit(X)
    ranks = model.embedding_[:, 0].argsort().argsort()
    assert abs(np.corrcoef(ranks, t.argsort().argsort())[0, 1]) > 0.99
    assert error_of(model, X, model.embedding_) < 0.03 < 0.1 < error_of(pca, X, pca.transform(X))
    assert np.array_equal(model.transform(X), model.embedding_)
    found = model.transform(new)
    assert np.abs(found[:, 0] - np.interp(s, t, model.embedding_[:, 0])).max() < 0.1 * np.ptp(model.embedding_)
    assert error_of(model, new, found) < 0.04
    assert_allclose(found[3:4], model.transform(new[3:4]), atol=1e-5)  # whatever rows are next to it
    assert np.array_equal(model.fit_transform(X), model.embedding_)


def test_without_polish_the_end_is_a_lower_bound_and_the_certificate_names_it():
    X, _ = arc()
    model = GPLVM(1, n_landmarks=10, polish=0).fit(X)
    assert "a lower bound by 10 inducing points" in str(model.certificate_) and model.plan_.n_landmarks == 10
    unit = X.var(axis=0).mean()
    T, signal, noise = (
        model.embedding_ / model.length_scale_,
        model.signal_variance_ / unit,
        model.noise_variance_ / unit,
    )
    exact = Likelihood((X - X.mean(axis=0)) / np.sqrt(unit), 3, RBF(gamma=0.5)).exact(T, signal, noise).value
    prior = 0.5 * ((model.embedding_**2).sum() + 80 * np.log(2 * np.pi))
    assert model.log_probability_ <= -exact - prior + 1e-6


# ---------------------------------------------------------------------- new rows


def test_the_posterior_is_the_conditional_normal_distribution():
    Y, T, U = case()
    posterior = Posterior.fit(RBF(gamma=0.5), _State(T, U[:0], SIGNAL, NOISE, 1.0), Y)
    both = np.concatenate([T, U])
    K = SIGNAL * RBF(gamma=0.5)(both, both) + NOISE * np.eye(20)
    mean = K[15:, :15] @ np.linalg.solve(K[:15, :15], Y)
    variance = np.diag(K[15:, 15:] - K[15:, :15] @ np.linalg.solve(K[:15, :15], K[:15, 15:]))
    assert_allclose(posterior.mean(U), mean, atol=1e-10)
    expected = 3 * np.log(variance) + ((Y[:5] - mean) ** 2).sum(axis=1) / (2 * variance)
    assert_allclose(posterior.loss(U, Y[:5], 0.0)[0], expected, rtol=1e-8)


@pytest.mark.parametrize("n_inducing", [0, 5])
def test_the_loss_of_new_rows_has_the_gradient_of_differences_and_is_minimized(n_inducing):
    Y, T, U = case()
    Z, new = U[:4], Y[:4] + 0.1
    posterior = Posterior.fit(RBF(gamma=0.5), _State(0.7 * T, 0.7 * U[:n_inducing], SIGNAL, NOISE, 0.7), Y)
    expected = differences(lambda z: posterior.loss(z, new, 1.0)[0].sum(), Z)
    assert_allclose(posterior.loss(Z, new, 1.0)[1], expected, atol=1e-6)
    found = posterior.most_probable(new, Z, 1.0)
    best = posterior.loss(found, new, 1.0)[0]
    assert (best < posterior.loss(Z, new, 1.0)[0]).all()
    for step in 0.01 * np.random.default_rng(0).normal(size=(20, 4, 2)):
        assert (posterior.loss(found + step, new, 1.0)[0] >= best - 1e-9).all()


def test_many_functions_are_minimized_each_by_itself():
    """Rosenbrock's valleys, moved and stretched; one is not finite."""
    rng = np.random.default_rng(0)
    goals, sizes = rng.normal(size=(50, 2)), rng.uniform(0.1, 20, 50)

    def function(Z, some):
        x, y = (Z - goals[some] + 1).T
        a, b = 1 - x, y - x**2
        values = sizes[some] * (a**2 + 10 * b**2)
        return values, sizes[some][:, None] * np.column_stack([-2 * a - 40 * x * b, 20 * b])

    assert_allclose(minimize_each(function, goals - 0.5), goals, atol=1e-4)
    sizes[7] = np.inf
    with np.errstate(invalid="ignore"):
        found = minimize_each(function, goals - 0.5)
    assert np.isnan(found[7]).all() and np.isfinite(np.delete(found, 7, axis=0)).all()


# ---------------------------------------------------------------------- invariance, limits, errors


@pytest.mark.parametrize(
    "change", [lambda X: 1e-140 * X, lambda X: 1e140 * X, lambda X: X + 1e6], ids=["small", "large", "offset"]
)
def test_units_and_offsets_do_not_matter(change):
    X, _ = arc()
    plain, other = GPLVM(1, max_iter=20).fit(X), GPLVM(1, max_iter=20).fit(change(X))
    assert_allclose(other.embedding_, plain.embedding_, atol=1e-3)
    assert_allclose(other.transform(change(X + 0.01)), plain.transform(X + 0.01), atol=1e-2)


def test_standardized_columns_do_not_depend_on_their_units():
    X, _ = arc()
    plain, other = (GPLVM(1, standardize=True, max_iter=20).fit(X * scale) for scale in (1.0, [1.0, 1000.0, 0.01]))
    assert_allclose(other.embedding_, plain.embedding_, atol=1e-4)


def test_duplicates_share_their_coordinates_and_wide_rows_are_accepted():
    X, _ = arc(n=30)
    model = GPLVM(1).fit(np.concatenate([X, X]))
    assert_allclose(model.transform(X), model.embedding_[:30], atol=1e-12)
    wide = np.concatenate([X, 0.01 * np.random.default_rng(0).normal(size=(30, 60))], axis=1)
    assert np.isfinite(GPLVM(2).fit_transform(wide)).all()


def test_arrays_files_and_sparse_rows_are_the_same(tmp_path):
    X, _ = arc()
    np.save(tmp_path / "rows.npy", X)
    plain = GPLVM(1, max_iter=20).fit(X)
    for other in (sparse.csr_array(X), tmp_path / "rows.npy", X.tolist()):
        assert_allclose(GPLVM(1, max_iter=20).fit_transform(other), plain.embedding_, atol=1e-6)
    assert plain.training_set().samples.shape == X.shape
    assert_allclose(plain.training_set().samples, X, atol=1e-12)


INVALID = {
    "components": (dict(n_components=4), arc()[0], ParameterError, "n_components=4 must be at most n_features = 3"),
    "one row": ({}, arc()[0][:1], DataError, "n_samples = 1"),
    "equal rows": ({}, np.full((10, 3), 0.1), DataError, "All rows of X are equal"),
    "init": (dict(init=np.zeros((3, 2))), arc()[0], ParameterError, "init must be 'pca' or finite coord"),
    "init of words": (dict(init=[["a", "b"]]), arc()[0], ParameterError, "init must be 'pca' or finite coordinates"),
    "ragged init": (dict(init=[[1.0, 2.0], [3.0]]), arc()[0], ParameterError, "init must be 'pca' or finite coord"),
    "median": (dict(kernel=RBF("median")), arc()[0], ParameterError, "depends on coordinates before these are fitted"),
    "indefinite": (dict(kernel=Sigmoid()), arc()[0], ParameterError, "positive semi-definite kernel on vectors with"),
    "no gradient": (dict(kernel=Pairwise(lambda x, y: 1.0)), arc()[0], ParameterError, "a gradient"),
    "missing": ({}, np.where(np.arange(30).reshape(10, 3) == 4, np.nan, 1.0), MissingValuesError, "ProbabilisticPCA"),
    "overflow": ({}, 1e308 * np.array([[1.0, -1, 1], [-1, 1, -1], [1, 1, 1]]), DataError, "out of range|overflow"),
}


@pytest.mark.parametrize(("params", "rows", "error", "message"), INVALID.values(), ids=INVALID)
def test_invalid_input_is_rejected_with_one_message(params, rows, error, message):
    with pytest.raises(error, match=message):
        GPLVM(**params).fit(rows)
    if "n_landmarks" not in params:
        with pytest.raises(ParameterError, match="n_landmarks"):
            GPLVM(n_landmarks=0).fit(arc()[0])


@pytest.mark.parametrize("params", [dict(n_landmarks=300), dict(n_landmarks=50, polish=0)], ids=["exact", "inducing"])
def test_a_fit_takes_no_more_memory_than_its_plan(params):
    X = np.random.default_rng(0).normal(size=(300, 10))
    needed = GPLVM(2, **params).plan(X).memory
    with pytest.raises(MemoryLimitError, match=f"{'exact' if 'polish' not in params else '50 inducing points'}"):
        GPLVM(2, max_iter=1, memory_limit=needed - 1, **params).fit(X)
    model = GPLVM(2, max_iter=1, memory_limit=needed, **params).fit(X[:60])  # imports are done
    tracemalloc.start()
    try:
        model.fit(X)
        assert tracemalloc.get_traced_memory()[1] < needed + X.nbytes
    finally:
        tracemalloc.stop()


def test_a_search_that_is_cut_short_is_reported_with_a_remedy():
    with pytest.warns(ConvergenceWarning, match="still increased"):
        model = GPLVM(1, max_iter=2).fit(arc()[0])
    (found,) = model.fit_warnings_
    assert isinstance(found, MercerWarning) and found.remedies[0] == ("max_iter", 4)
    assert not model.certificate_.converged and "not reached" in model.certificate_.summary
