"""The autoencoder against differences, and PCA as what a linear one must reach."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from mercer import PCA, Autoencoder
from mercer_old.errors import NoRoom
from mercer_old.fits.networks import ACTIVATIONS, Network, principal_error

# Told in a test of its own.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def rows(n=200, d=6, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)) @ rng.normal(size=(2, d)) + 0.1 * rng.normal(size=(n, d)) + 3.0


def parabola(n=300, seed=0):
    rng = np.random.default_rng(seed)
    t = rng.uniform(-2, 2, size=(n, 1))
    return np.hstack([t, t**2]) + 0.01 * rng.normal(size=(n, 2))


@pytest.mark.parametrize("hidden", [(), (4,), (5, 3)])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_the_gradient_is_that_of_differences(activation, hidden):
    rng = np.random.default_rng(0)
    network, Y = Network.through(3, hidden, 2, activation), rng.normal(size=(7, 3))
    weights = network.first_weights(rng) + 0.1 * rng.normal(size=network.n_weights)
    gradient, step = network.loss(weights, Y, 0.01)[1], 1e-6
    differences = [
        (network.loss(weights + e, Y, 0.01)[0] - network.loss(weights - e, Y, 0.01)[0]) / (2 * step)
        for e in step * np.eye(network.n_weights)
    ]
    np.testing.assert_allclose(gradient, differences, atol=1e-8)


def test_the_error_is_the_mean_square_and_the_penalty_that_of_the_weights_alone():
    rng = np.random.default_rng(0)
    network, Y = Network.through(3, (4,), 2, "tanh"), rng.normal(size=(7, 3))
    weights = network.first_weights(rng)
    rebuilt = network.decode(weights, network.encode(weights, Y))
    error = np.mean((rebuilt - Y) ** 2)
    assert network.error(weights, Y) == pytest.approx(error, rel=1e-12)
    squares = sum((W**2).sum() for W, _ in network.layers(weights))
    assert network.loss(weights, Y, 0.3)[0] == pytest.approx(error / 2 + 0.15 * squares, rel=1e-12)


@pytest.mark.parametrize("hidden", [(), (5,)])
def test_without_activation_it_is_pca(hidden):
    """No linear map through k numbers rebuilds better (Eckart and Young), and no local minimum is worse."""
    X = rows()
    model = Autoencoder(
        2, hidden=hidden, activation="identity", alpha=0, validation_fraction=0, tol=1e-9, max_iter=2000
    ).fit(X)
    pca = PCA(2).fit(X)
    assert model.reconstruction_error_ == pytest.approx(pca.reconstruction_error_, rel=1e-6)
    assert model.pca_error_ == pytest.approx(pca.reconstruction_error_, rel=1e-9)
    rebuilt = model.inverse_transform(model.transform(X))
    np.testing.assert_allclose(rebuilt, pca.inverse_transform(pca.transform(X)), atol=1e-3)
    plane = np.linalg.qr((rebuilt[1:3] - rebuilt[0]).T)[0]
    assert np.linalg.norm(pca.components_ @ plane) ** 2 == pytest.approx(2, abs=1e-6)


def test_no_linear_network_ends_below_pca():
    X = rows(n=40, d=60)
    Y = X - X.mean(axis=0)
    assert principal_error(Y, 3) == pytest.approx(PCA(3).fit(X).reconstruction_error_ / 60, rel=1e-9)
    for seed in range(3):
        model = Autoencoder(3, hidden=(4,), activation="identity", max_iter=50, random_state=seed).fit(X)
        assert model.reconstruction_error_ >= model.pca_error_ * (1 - 1e-9)


def test_a_parabola_is_followed_where_pca_cannot():
    X, new = parabola(), parabola(seed=1)
    model = Autoencoder(1, hidden=20, max_iter=200).fit(X)
    assert model.reconstruction_error_ < 0.05 * model.pca_error_
    error = ((model.inverse_transform(model.transform(new)) - new) ** 2).sum(axis=1).mean()
    assert error < 0.1 * model.pca_error_
    assert model.validation_error_ < 0.1 * model.pca_error_


def test_training_stops_when_rows_that_were_held_out_get_worse():
    X = np.random.default_rng(0).normal(size=(40, 10))  # nothing to learn
    stopped = Autoencoder(2, alpha=0, n_init=1, max_iter=200).fit(X)
    assert stopped.n_iter_ < 200 and "training was stopped there" in str(stopped.certificate_)
    whole = Autoencoder(2, alpha=0, n_init=1, max_iter=200, validation_fraction=0).fit(X)
    assert whole.validation_error_ is None
    new = np.random.default_rng(1).normal(size=(200, 10))
    errors = [((m.inverse_transform(m.transform(new)) - new) ** 2).sum(axis=1).mean() for m in (stopped, whole)]
    assert errors[0] < errors[1] and stopped.reconstruction_error_ > whole.reconstruction_error_


def test_the_error_falls_with_every_iteration_and_is_told():
    model = Autoencoder(1, n_init=1, max_iter=100).fit(parabola())
    curve = model.loss_curve_
    assert all(after <= before for before, after in pairwise(curve))
    assert model.certificate_.start > model.certificate_.end
    assert "local optimum at best" in str(model.certificate_) and "30 rows that were held out" in str(
        model.certificate_
    )


def test_the_same_seed_gives_the_same_network_and_another_one_another():
    X = parabola(60)
    one, same, other = (Autoencoder(1, max_iter=20, random_state=s).fit_transform(X) for s in (0, None, 1))
    np.testing.assert_array_equal(one, same)
    assert not np.allclose(one, other)


@pytest.mark.parametrize("change", [lambda X: 1e-140 * X, lambda X: 1e140 * X, lambda X: X + 1e6])
def test_very_large_very_small_and_far_away_rows_are_right(change):
    X = parabola(60)
    plain, other = (Autoencoder(1, max_iter=30).fit_transform(some) for some in (X, change(X)))
    np.testing.assert_allclose(other, plain, atol=1e-2)


def test_rows_of_any_kind_are_the_same_rows(tmp_path):
    X = parabola(60)
    np.save(tmp_path / "rows.npy", X)
    plain = Autoencoder(1, max_iter=10).fit_transform(X)
    for other in (sparse.csr_array(X), tmp_path / "rows.npy", X.tolist()):
        np.testing.assert_allclose(Autoencoder(1, max_iter=10).fit_transform(other), plain, atol=1e-6)


def test_standardized_columns_make_units_vanish_and_constant_ones_do_no_harm():
    X = np.column_stack([parabola(60), np.full(60, 7.0)])
    model = Autoencoder(1, standardize=True, max_iter=10).fit(X * [1.0, 1000.0, 1.0])
    plain = Autoencoder(1, standardize=True, max_iter=10).fit(X)
    np.testing.assert_allclose(model.transform(X * [1.0, 1000.0, 1.0]), plain.transform(X), atol=1e-6)
    assert np.isfinite(plain.inverse_transform(plain.transform(X))).all()


@pytest.mark.parametrize(
    ("params", "X", "words"),
    [
        (dict(n_components=3), parabola(), "n_components=3 must be at most .* n_features = 2"),
        ({}, parabola()[:1], "n_samples = 1"),
        ({}, np.ones((10, 3)), "All rows are the same"),
        (dict(hidden=(3, 0)), parabola(), "sizes of layers"),
        (dict(hidden=(3, 2.5)), parabola(), "sizes of layers"),
        (dict(activation="swish"), parabola(), "activation"),
        (dict(alpha=-1), parabola(), "alpha"),
        ({}, np.where(np.arange(30).reshape(10, 3) == 4, np.nan, 1.0), "contains NaN.*ProbabilisticPCA"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(params, X, words):
    with pytest.raises(ValueError, match=words):
        Autoencoder(**params).fit(X)


def test_no_room_is_said():
    with pytest.raises(NoRoom, match="over the limit"):
        Autoencoder(memory_limit=1000).fit(rows())


def test_a_training_that_is_cut_short_is_told():
    with pytest.warns(ConvergenceWarning, match="took all 2 iterations"):
        Autoencoder(1, max_iter=2, validation_fraction=0).fit(parabola())
