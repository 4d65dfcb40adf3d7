"""Autoencoder: gradients by differences, PCA as the optimum of linear networks, and the first edition."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.datasets import load_digits, load_iris, make_swiss_roll
from sklearn.exceptions import ConvergenceWarning

import mercer_old
from mercer.errors import DataError, MemoryLimitError, MercerWarning, MissingValuesError, ParameterError
from mercer.estimators import GPLVM, PCA, Autoencoder
from mercer.estimators.autoencoder import ACTIVATIONS, Network, pca_error

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:PCA reconstructs the rows better:mercer.errors.MercerWarning"),
]


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
    network = Network((3, *hidden, 2, *hidden[::-1], 3), len(hidden) + 1, activation)
    Y, weights = rng.normal(size=(7, 3)), network.random_weights(rng) + 0.1 * rng.normal(size=network.n_weights)
    expected = [
        network.loss_and_gradient(weights + e, Y, 0.01)[0] - network.loss_and_gradient(weights - e, Y, 0.01)[0]
        for e in 1e-6 * np.eye(network.n_weights)
    ]
    assert_allclose(network.loss_and_gradient(weights, Y, 0.01)[1], np.array(expected) / 2e-6, atol=1e-8)


def test_the_loss_is_half_the_mean_square_and_the_penalty_of_the_weights():
    rng = np.random.default_rng(0)
    network, Y = Network((3, 4, 2, 4, 3), 2, "tanh"), rng.normal(size=(7, 3))
    weights = network.random_weights(rng)
    error = np.mean((network.decode(weights, network.encode(weights, Y)) - Y) ** 2)
    assert network.error(weights, Y) == pytest.approx(error, rel=1e-12)
    squares = sum((W**2).sum() for W, _ in network.layers(weights))
    assert network.loss_and_gradient(weights, Y, 0.3)[0] == pytest.approx(error / 2 + 0.15 * squares, rel=1e-12)


@pytest.mark.parametrize("hidden", [(), (5,)])
def test_a_linear_network_is_pca(hidden):
    """No linear map through k numbers reconstructs better (Eckart and Young), and no local minimum is worse."""
    X, options = rows(), dict(activation="identity", alpha=0, validation_fraction=0, tol=1e-9, max_iter=2000)
    model, pca = Autoencoder(2, hidden_layer_sizes=hidden, **options).fit(X), PCA(2).fit(X)
    assert model.reconstruction_error_ == pytest.approx(pca.reconstruction_error_, rel=1e-6)
    assert model.pca_error_ == pytest.approx(pca.reconstruction_error_, rel=1e-9)
    assert_allclose(model.denoise(X), pca.denoise(X), atol=1e-3)


def test_no_linear_network_ends_below_pca():
    X = rows(n=40, d=60)
    assert pca_error(X - X.mean(axis=0), 3) == pytest.approx(PCA(3).fit(X).reconstruction_error_ / 60, rel=1e-9)
    for seed in range(3):
        model = Autoencoder(3, hidden_layer_sizes=4, activation="identity", max_iter=50, random_state=seed).fit(X)
        assert model.reconstruction_error_ >= model.pca_error_ * (1 - 1e-9)


DATA = {
    "iris": load_iris().data,
    "digits": load_digits().data[:300],
    "swiss roll": make_swiss_roll(300, random_state=0)[0],
}


@pytest.mark.parametrize("name", DATA)
def test_reconstruction_is_as_good_as_in_the_first_edition(name):
    X = DATA[name]
    ours = Autoencoder(2, max_iter=100, random_state=1).fit(X)
    theirs = mercer_old.Autoencoder(2, hidden=(50,), max_iter=100, random_state=1).fit(X)
    assert ours.reconstruction_error_ <= 1.05 * theirs.reconstruction_error_
    assert ours.pca_error_ == pytest.approx(theirs.pca_error_, rel=1e-9)
    assert_allclose(ours.loss_curve_[:10], theirs.loss_curve_[:10], rtol=1e-6)


def test_a_parabola_is_followed_where_pca_cannot():
    X, new = parabola(), parabola(seed=1)
    model = Autoencoder(1, hidden_layer_sizes=20, max_iter=200).fit(X)
    assert model.reconstruction_error_ < 0.05 * model.pca_error_
    assert ((model.denoise(new) - new) ** 2).sum(axis=1).mean() < 0.1 * model.pca_error_
    assert model.validation_error_ < 0.1 * model.pca_error_
    assert [W.shape for W in model.coefs_] == [(2, 20), (20, 1), (1, 20), (20, 2)]
    by_hand = (
        np.tanh((X - X.mean(axis=0)) / model._rows.scale @ model.coefs_[0] + model.intercepts_[0])
    ) @ model.coefs_[1]
    assert_allclose(model.transform(X), by_hand + model.intercepts_[1], rtol=1e-10, atol=1e-12)


def test_training_stops_when_held_out_rows_get_worse():
    X, new = (np.random.default_rng(seed).normal(size=(n, 10)) for seed, n in ((0, 40), (1, 200)))
    stopped = Autoencoder(2, alpha=0, n_init=1, max_iter=200).fit(X)
    assert stopped.n_iter_ < 200 and "the error of 4 held-out rows increased" in str(stopped.certificate_)
    assert not stopped.certificate_.certified
    whole = Autoencoder(2, alpha=0, n_init=1, max_iter=200, validation_fraction=0).fit(X)
    assert whole.validation_error_ is None
    errors = [((model.denoise(new) - new) ** 2).mean() for model in (stopped, whole)]
    assert errors[0] < errors[1] and stopped.reconstruction_error_ > whole.reconstruction_error_


def test_the_loss_never_increases_and_the_seed_decides():
    X = parabola(60)
    model = Autoencoder(1, n_init=1, max_iter=100).fit(X)
    assert all(after <= before for before, after in pairwise(model.loss_curve_))
    assert model.certificate_.start == model.loss_curve_[0] > model.certificate_.end
    one, same, other = (Autoencoder(1, max_iter=20, random_state=seed).fit_transform(X) for seed in (0, None, 1))
    assert np.array_equal(one, same) and not np.allclose(one, other)


def test_a_network_that_is_worse_than_pca_is_reported():
    X = load_iris().data
    with pytest.warns(MercerWarning, match=r"PCA reconstructs the rows better: its error is .* Try validation_frac"):
        model = Autoencoder(2, max_iter=40).fit(X)
    assert model.reconstruction_error_ > model.pca_error_
    with warnings.catch_warnings():
        warnings.simplefilter("error", MercerWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        Autoencoder(1, hidden_layer_sizes=20, max_iter=200).fit(parabola())


def test_rows_that_pca_reconstructs_exactly_are_compared_by_errors_and_not_by_their_ratio():
    X = np.repeat([[0.0, 0.0, 1.0], [3.0, 4.0, 1.0]], 10, axis=0)  # variance 6.25, all of it along one line
    with pytest.warns(MercerWarning, match=r"PCA reconstructs the rows better: its error is \S+, that of this network"):
        model = Autoencoder(1, hidden_layer_sizes=3, n_init=1, max_iter=2).fit(X)
    assert model.pca_error_ < 1e-12 < model.reconstruction_error_
    text = next(str(warning) for warning in model.fit_warnings_ if "PCA" in str(warning))
    assert f"{model.reconstruction_error_:.3g}" in text and "times as large" not in text
    with warnings.catch_warnings():  # both errors are rounding
        warnings.simplefilter("error", MercerWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        linear = Autoencoder(1, hidden_layer_sizes=(), activation="identity", alpha=0, validation_fraction=0, tol=0)
        assert linear.fit(X).reconstruction_error_ < 1e-5


def test_a_training_that_is_cut_short_is_reported_with_a_remedy():
    with pytest.warns(ConvergenceWarning, match="Training stopped after max_iter=2 iterations"):
        model = Autoencoder(1, max_iter=2, validation_fraction=0).fit(parabola())
    assert model.fit_warnings_[0].remedies == (("max_iter", 4),)


@pytest.mark.parametrize("change", [lambda X: 1e-140 * X, lambda X: 1e140 * X, lambda X: X + 1e6])
def test_units_and_offsets_do_not_matter(change):
    X = parabola(60)
    plain, other = (Autoencoder(1, max_iter=30).fit_transform(some) for some in (X, change(X)))
    assert_allclose(other, plain, atol=1e-2)


def test_standardized_columns_do_not_depend_on_units_and_constant_ones_are_reconstructed():
    X = np.column_stack([parabola(60), np.full(60, 7.0)])
    scales = np.array([1.0, 1000.0, 1.0])
    plain, other = (Autoencoder(1, standardize=True, max_iter=10).fit(X * scale) for scale in (1.0, scales))
    assert_allclose(other.transform(X * scales), plain.transform(X), atol=1e-6)
    assert np.isfinite(plain.denoise(X)).all()


@pytest.mark.parametrize("fraction", [0.9, 0.99])
def test_at_least_two_rows_are_trained_with(fraction):
    options = dict(hidden_layer_sizes=3, validation_fraction=fraction, alpha=0, n_init=1, max_iter=5, tol=1e3)
    model = Autoencoder(1, **options).fit(rows(20))
    assert model.loss_curve_[0] > 0.01 and np.isfinite(model.validation_error_)  # without rows the loss is zero


INVALID = {
    "components": (dict(n_components=3), parabola(), ParameterError, "n_components=3 must be at most n_features = 2"),
    "one row": ({}, parabola()[:1], DataError, "n_samples = 1"),
    "equal rows": ({}, np.ones((10, 3)), DataError, "All rows of X are equal"),
    "zero": (dict(hidden_layer_sizes=(3, 0)), parabola(), ParameterError, "tuple of positive integers"),
    "float": (dict(hidden_layer_sizes=(3, 2.5)), parabola(), ParameterError, "tuple of positive integers"),
    "activation": (dict(activation="swish"), parabola(), ParameterError, "activation"),
    "alpha": (dict(alpha=-1), parabola(), ParameterError, "alpha"),
    "missing": ({}, np.where(np.arange(30).reshape(10, 3) == 4, np.nan, 1.0), MissingValuesError, "ProbabilisticPCA"),
    "memory": (dict(memory_limit=1000), rows(), MemoryLimitError, "but the limit is 1 kB"),
}


@pytest.mark.parametrize(("params", "X", "error", "message"), INVALID.values(), ids=INVALID)
def test_invalid_input_is_rejected_with_one_message(params, X, error, message):
    with pytest.raises(error, match=message):
        Autoencoder(**params).fit(X)


# ---------------------------------------------------------------------- what GPLVM and Autoencoder share

MODELS = {
    "gplvm": GPLVM(2, max_iter=3, tol=1e3),
    "autoencoder": Autoencoder(2, hidden_layer_sizes=5, n_init=1, max_iter=3, tol=1e3),
}
each = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
X = np.random.default_rng(0).normal(size=(30, 4)) * [4, 3, 1, 1]


@each
def test_sparse_rows_that_do_not_fit_are_rejected_before_they_are_dense(model, monkeypatch):
    table = sparse.random_array((1000, 1000), density=1e-3, format="csr", rng=np.random.default_rng(0))
    monkeypatch.setattr(type(table), "toarray", lambda self: pytest.fail("The rows were made dense."))
    with pytest.raises(MemoryLimitError, match="but the limit is 1 MB"):
        type(model)(1, memory_limit="1MB").fit(table)


@each
def test_scores_are_written_to_files_as_they_are_in_memory(model, tmp_path):
    np.save(tmp_path / "rows.npy", X)
    model.fit(X)
    assert model.transform_to(tmp_path / "rows.npy", tmp_path / "scores.npy") == tmp_path / "scores.npy"
    assert_allclose(np.load(tmp_path / "scores.npy"), model.transform(X), rtol=1e-12)
    model.transform_to(X, tmp_path / "again.npy", method="fit_transform")
    assert_allclose(np.load(tmp_path / "again.npy"), model.transform(X), rtol=1e-12)
    model.transform_to(X, tmp_path / "denoised.csv", method="denoise")
    assert_allclose(np.loadtxt(tmp_path / "denoised.csv", delimiter=",", skiprows=1), model.denoise(X), rtol=1e-9)
    with pytest.raises(ParameterError, match="does not support sample_weight"):
        model.transform_to(X, tmp_path / "weighted.npy", method="fit_transform", sample_weight=np.ones(30))


@each
def test_stored_attributes_are_set_and_removed_by_the_next_fit(model):
    model.fit(X)
    names = {stored.name for stored in model._stored_attributes if not stored.optional}
    assert names <= set(vars(model)) and model.plan_.route == "in-memory" and "L-BFGS" in model.plan_.summary
    assert {"summary", "gradient", "n_iter"} <= set(model.certificate_.to_dict())
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((5, 4), np.nan))
    assert names <= set(vars(model))  # the earlier fit


@each
def test_a_fitted_model_keeps_its_coordinates_when_parameters_change(model):
    scores = model.fit(X).transform(X)
    try:
        model.set_params(n_components=3)
        assert model.inverse_transform(scores).shape == X.shape and len(model.get_feature_names_out()) == 2
        with pytest.raises(DataError, match="expects 2: one per component"):
            model.inverse_transform(np.zeros((2, 3)))
    finally:
        model.set_params(n_components=2)


@each
@pytest.mark.filterwarnings("ignore:Values of column:mercer.errors.MercerWarning")
def test_rows_far_from_zero_are_not_taken_for_equal(model):
    near = np.round(8 * X) / 8
    far = near + 2.0**45  # exact, but its mean is rounded to 1/256
    assert_allclose(model.fit(far).transform(far), model.fit(near).transform(near), atol=0.02)
    with pytest.raises(DataError, match="All rows of X are equal, at least to rounding"):
        model.fit(np.full((30, 4), 0.1) * (1 + 2e-16 * (X > 0)))


@each
@pytest.mark.parametrize("value", [1.6e18 / 3, -1e16 / 7])
def test_a_large_constant_column_changes_nothing(model, value):
    """The rounding of its mean is large next to the other columns."""
    wide = np.column_stack([X, np.full(30, value)])
    moved = model.fit(wide)._rows.transform(wide)
    assert np.abs(moved.mean(axis=0)).max() < 1e-14 and not moved[:, -1].any()


def test_rows_whose_scores_overflow_are_reported_with_their_index():
    model = GPLVM(2, max_iter=3, tol=1e3).fit(X)
    with pytest.raises(DataError, match="The scores of 1 row are not finite, first of row index 2"):
        model.transform(np.vstack([X[:2], np.full((1, 4), 1e200)]))
