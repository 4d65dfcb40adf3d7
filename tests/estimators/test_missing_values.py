"""Probabilistic PCA with missing values: against general optimizers, naive EM and conditional distributions."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.datasets import load_wine

import mercer_old
from mercer import textbook
from mercer.certificates.optimum import MissingDataCertificate, OptimumCertificate
from mercer.errors import DataError, MemoryLimitError, MercerWarning, MissingValuesError, ParameterError
from mercer.estimators import ProbabilisticPCA, _missing_data
from mercer.estimators._missing_data import (
    FactorModel,
    PatternRows,
    em_step,
    expected_statistics,
    hold_out,
    initial_state,
    maximize,
)

EXACT = {"prior": None, "validation_fraction": 0.0, "tol": 1e-13, "max_iter": 5000}  # maximum likelihood, to the end
SAME = ("noise_variance_", "log_likelihood_", "explained_variance_", "mean_", "total_variance_")
PRIORS = ["normal", "ard", None]
quiet = pytest.mark.filterwarnings("ignore::mercer.errors.MercerWarning")


def table(n=60, d=5, k=2, noise=0.5, fraction=0.2, seed=0):
    """Rows of a factor model, complete and with missing values; no row is empty."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, k)) @ (2 * rng.normal(size=(k, d))) + noise * rng.normal(size=(n, d)) + rng.normal(size=d)
    missing = rng.random(X.shape) < fraction
    missing[np.arange(n), rng.integers(0, d, n)] = False
    return X, np.where(missing, np.nan, X)


FULL, HOLES = table()


def conditional(model, x):
    """Mean and covariance of the missing values of a row, by textbook formulas on the covariance matrix."""
    m, o, C = np.isnan(x), ~np.isnan(x), np.asarray(model.get_covariance(), np.float64)
    weights = np.linalg.solve(C[np.ix_(o, o)], C[np.ix_(o, m)])
    return model.mean_[m] + (x[o] - model.mean_[o]) @ weights, C[np.ix_(m, m)] - C[np.ix_(m, o)] @ weights


def same(one, other, rtol=1e-6):
    for name in SAME:
        assert_allclose(getattr(one, name), getattr(other, name), rtol=rtol, atol=rtol, err_msg=name)


# ---------------------------------------------------------------------- maximum likelihood and EM


@pytest.mark.parametrize("seed", [0, 1])
def test_likelihood_matches_a_general_optimizer(seed):
    _, X = table(n=25, d=4, k=1, seed=seed)
    model = ProbabilisticPCA(1, **EXACT).fit(X)

    def negative(p):
        return -textbook.ppca_log_likelihood_of_observed(X, p[:4], p[4:8, None], np.exp(p[-1])).sum()

    start = np.concatenate([model.mean_, model.loadings_.ravel(), [np.log(model.noise_variance_)]])
    for distance in (0.0, 0.5):
        moved = start + distance * np.random.default_rng(seed).normal(size=len(start))
        assert_allclose(-minimize(negative, moved, method="BFGS", tol=1e-7).fun, model.log_likelihood_, rtol=1e-7)


def test_naive_em_stays_at_the_result():
    model = ProbabilisticPCA(2, **EXACT).fit(HOLES)
    mean, W, noise = textbook.ppca_em(HOLES, 2, 1, start=(model.mean_, model.loadings_, model.noise_variance_))
    assert_allclose(noise, model.noise_variance_, rtol=1e-6)
    assert_allclose(mean, model.mean_, atol=1e-6)
    assert_allclose(W @ W.T, model.loadings_ @ model.loadings_.T, atol=1e-5)
    found = textbook.ppca_log_likelihood_of_observed(HOLES, *textbook.ppca_em(HOLES, 2, 60)).sum()
    assert found <= model.log_likelihood_ < found + 0.1


@quiet
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("k", [1, 2, "cv"])
def test_first_edition_reaches_the_same_likelihood(k, prior):
    for standardize in (False, True):
        old = mercer_old.ProbabilisticPCA(k, prior=prior, standardize=standardize).fit(HOLES)
        new = ProbabilisticPCA(k, prior=prior, standardize=standardize).fit(HOLES)
        assert_allclose(new.log_likelihood_, old.loglike_, rtol=1e-7)
        assert_allclose(new.impute(HOLES), old.impute(HOLES), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("k", [1, 4])
def test_objective_never_decreases(k, prior):
    for seed in range(3):
        _, X = table(n=30, fraction=0.4, seed=seed)
        rows = PatternRows.from_array(X - np.nanmean(X, axis=0), np.random.default_rng(seed).integers(1, 4, 30) * 1.0)
        found = maximize(rows, initial_state(rows, k, prior), tol=1e-8, max_iter=100, n_threads=1)
        values = np.array(found.objectives)
        assert np.all(np.diff(values) >= -1e-9 * np.abs(values[1:])) and len(values) > 3


@pytest.mark.parametrize("prior", PRIORS)
def test_interrupted_em_returns_its_best_state(prior):
    _, X = table(fraction=0.4, seed=1)
    rows = PatternRows.from_array(X - np.nanmean(X, axis=0))
    for max_iter in range(3, 16):
        found = maximize(rows, initial_state(rows, 3, prior), tol=-np.inf, max_iter=max_iter, n_threads=1)
        objective = em_step(rows, found.state, 1)[1]
        assert objective >= max(found.objectives) - 1e-9 * abs(objective) and not found.converged


def test_objective_with_a_prior_is_a_lower_bound_on_the_evidence():
    X = np.random.default_rng(0).normal(size=(12, 2)) * [2, 1]
    X[3, 1] = X[5, 0] = np.nan
    X -= np.nanmean(X, axis=0)
    rows = PatternRows.from_array(X)
    found = maximize(rows, initial_state(rows, 1, "normal"), tol=1e-12, max_iter=2000, n_threads=1)
    model, alpha, grid = found.state.model, found.state.alpha[0], np.linspace(-6, 6, 33)
    W = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    logs = [
        textbook.ppca_log_likelihood_of_observed(X, model.mean, w[:, None], model.noise).sum() - alpha * w @ w / 2
        for w in W
    ]
    evidence = logsumexp(logs) + 2 * np.log(grid[1] - grid[0]) + np.log(alpha / (2 * np.pi))
    assert evidence - 5 < found.objectives[-1] <= evidence


# ---------------------------------------------------------------------- distributions of rows


@pytest.mark.parametrize("standardize", [False, True])
def test_density_of_observed_values(standardize):
    model = ProbabilisticPCA(2, standardize=standardize).fit(HOLES)
    C = model.get_covariance()
    for x, density in zip(HOLES, model.score_samples(HOLES), strict=True):
        o = ~np.isnan(x)
        assert_allclose(density, multivariate_normal(model.mean_[o], C[np.ix_(o, o)]).logpdf(x[o]), rtol=1e-9)
    assert_allclose(model.score_samples(HOLES).sum(), model.log_likelihood_, rtol=1e-9)


@pytest.mark.parametrize("standardize", [False, True])
def test_imputed_values_are_conditional_means(standardize):
    model = ProbabilisticPCA(2, standardize=standardize).fit(HOLES)
    imputed, std = model.impute(HOLES, return_std=True)
    for x, row, deviation in zip(HOLES, imputed, std, strict=True):
        m = np.isnan(x)
        mean, covariance = conditional(model, x)
        assert_allclose(row[m], mean, rtol=1e-8, atol=1e-10)
        assert np.all(deviation[m] > np.sqrt(np.diag(covariance)))  # plus the uncertainty of the parameters
        assert_array_equal(row[~m], x[~m])
        assert not deviation[~m].any()


@pytest.mark.parametrize("whiten", [False, True])
def test_posterior_matches_the_joint_distribution(whiten):
    model = ProbabilisticPCA(2, whiten=whiten).fit(HOLES)
    means, covariances = model.posterior(HOLES)
    assert_array_equal(model.transform(HOLES), means)
    W, noise = model.loadings_, model.noise_variance_
    units = np.ones(2) if whiten else np.linalg.norm(W, axis=0)
    for x, mean, covariance in zip(HOLES, means, covariances, strict=True):
        o = ~np.isnan(x)
        C = W[o] @ W[o].T + noise * np.eye(o.sum())
        assert_allclose(mean, W[o].T @ np.linalg.solve(C, x[o] - model.mean_[o]) * units, atol=1e-9)
        rest = np.eye(2) - W[o].T @ np.linalg.solve(C, W[o])
        assert_allclose(covariance, rest * np.outer(units, units), atol=1e-9)


def test_empty_rows_have_the_prior():
    model, empty = ProbabilisticPCA(2, whiten=True).fit(HOLES), np.full((2, 5), np.nan)
    mean, covariance = model.posterior(empty)
    assert not mean.any() and not model.score_samples(empty).any()
    assert_array_equal(covariance, np.broadcast_to(np.eye(2), (2, 2, 2)))
    with pytest.warns(MercerWarning, match="2 rows without any observed value"):
        assert_allclose(model.impute(empty), np.broadcast_to(model.mean_, (2, 5)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("k", [2, None])
def test_complete_rows_do_not_depend_on_the_batch(k, dtype):
    model, batch = ProbabilisticPCA(k).fit(FULL.astype(dtype)), FULL.astype(dtype)
    batch[:30, 1] = np.nan
    for method in (model.transform, model.score_samples):
        assert_array_equal(method(batch)[30:], method(FULL.astype(dtype))[30:])
    assert model.transform(batch).dtype == dtype
    assert_array_equal(model.impute(batch)[30:], batch[30:])


def test_without_noise_missing_values_follow_from_the_covariance():
    """A noise of 1e-12 in its place leaves four digits, as in the first edition."""
    model = ProbabilisticPCA(None).fit(FULL)
    assert model.noise_variance_ == 0
    imputed, C = model.impute(HOLES), model.get_covariance()
    for x, row, density in zip(HOLES, imputed, model.score_samples(HOLES), strict=True):
        m, o = np.isnan(x), ~np.isnan(x)
        assert_allclose(row[m], conditional(model, x)[0], rtol=1e-10, atol=1e-10)
        assert_allclose(density, multivariate_normal(model.mean_[o], C[np.ix_(o, o)]).logpdf(x[o]), rtol=1e-9)
    assert np.isfinite(model.impute(HOLES, 3)).all()


@quiet
@pytest.mark.parametrize("noise", [0.0, 1e-6, 1e-4])
def test_little_noise_keeps_the_density_in_the_plane(noise):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 2)) @ rng.normal(size=(2, 5)) + 1
    X = X + noise * rng.normal(size=X.shape)
    model, holes = ProbabilisticPCA(2).fit(X), X.copy()
    holes[:20, 1] = holes[5:25, 3] = np.nan
    C = model.get_covariance()
    for x, density in zip(holes, model.score_samples(holes), strict=True):
        o = ~np.isnan(x)
        values, vectors = np.linalg.eigh(C[np.ix_(o, o)])
        kept = values > 1e-10 * values[-1] if noise == 0 else values > 0
        squares = ((vectors.T @ (x[o] - model.mean_[o])) ** 2)[kept] / values[kept]
        error = ((1 + squares) * 20 * np.finfo(float).eps * values[-1] / values[kept]).sum()
        expected = -(np.log(2 * np.pi * values[kept]) + squares).sum() / 2
        assert_allclose(density, expected, atol=error + 1e-7)


# ---------------------------------------------------------------------- uncertainty of imputed values


def coverage(n, n_repeats, **parameters):
    """Fraction of intervals of ±1.96 standard deviations that contain the missing value."""
    inside = []
    for seed in range(n_repeats):
        X, holes = table(n=n, d=6, k=2, fraction=0.15, seed=seed)
        missing = np.isnan(holes)
        imputed, std = ProbabilisticPCA(2, **parameters).fit(holes).impute(holes, return_std=True)
        inside.extend((np.abs(imputed - X) <= 1.96 * std)[missing])
    return np.mean(inside), len(inside)


@quiet
@pytest.mark.parametrize(("n", "n_repeats"), [(12, 60), (30, 30), (100, 10)])
def test_intervals_cover_imputed_values(n, n_repeats):
    covered, count = coverage(n, n_repeats)
    assert abs(covered - 0.95) < 3 * np.sqrt(0.05 * 0.95 / count) + 0.01


@quiet
@pytest.mark.parametrize("k", [0, 2])
def test_complete_rows_are_imputed_as_they_are(k, tmp_path):
    model, X = ProbabilisticPCA(k).fit(HOLES), np.nan_to_num(HOLES)
    imputed, std = model.impute(X, return_std=True)
    assert_array_equal(imputed, X)
    assert not std.any()
    assert_array_equal(model.impute(X, 3), np.stack([X] * 3))
    assert_array_equal(np.load(model.transform_to(X, tmp_path / "rows.npy", method="impute")), X)


def test_random_imputations_have_the_standard_deviations():
    model = ProbabilisticPCA(2, standardize=True).fit(HOLES)
    missing = np.isnan(HOLES)
    imputed, std = model.impute(HOLES, return_std=True)
    drawn = model.impute(HOLES, 2000, random_state=0)
    assert drawn.shape == (2000, *HOLES.shape)
    assert_array_equal(drawn[7][~missing], HOLES[~missing])
    assert np.abs((drawn.mean(axis=0) - imputed)[missing] / std[missing]).max() < 0.12
    assert_allclose((drawn.std(axis=0)[missing] / std[missing]), 1, atol=0.1)
    assert_array_equal(model.impute(HOLES, 2, random_state=3), model.impute(HOLES, 2, random_state=3))


def test_random_imputations_of_many_rows_are_conditional_draws():
    """With 4,000 training rows the parameters are known, and only the conditional distribution is left."""
    full, _ = table(n=4000)
    model = ProbabilisticPCA(2, standardize=True).fit(full)
    x = np.array([np.nan, full[0, 1], np.nan, np.nan, full[0, 4]])
    drawn = model.impute(np.stack([x, x]), 4000, random_state=0)[:, :, [0, 2, 3]]
    mean, covariance = conditional(model, x)
    scale = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    for row in (0, 1):
        assert np.abs(drawn[:, row].mean(axis=0) - mean).max() < 6 * np.sqrt(covariance.max() / 4000) + 0.05
        assert np.abs((np.cov(drawn[:, row].T) - covariance) / scale).max() < 6 * np.sqrt(2 / 4000) + 0.02
    between = np.cov(drawn[:, 0].T, drawn[:, 1].T)[:3, 3:]
    assert np.abs(between / scale).max() < 6 / np.sqrt(4000) + 0.02


def test_imputations_share_their_parameters():
    """With 12 training rows, errors of the parameters make draws of one imputation alike between equal rows."""
    full, _ = table(n=12)
    x = np.array([[np.nan, *full[0, 1:]]] * 2)
    drawn = ProbabilisticPCA(2).fit(full).impute(x, 3000, random_state=0)[:, :, 0]
    assert np.corrcoef(drawn.T)[0, 1] > 0.1


# ---------------------------------------------------------------------- invariances


@pytest.mark.parametrize("prior", PRIORS)
def test_order_of_rows_does_not_matter(prior):
    order, params = np.random.default_rng(0).permutation(len(HOLES)), EXACT | {"prior": prior, "tol": 1e-10}
    same(ProbabilisticPCA(2, **params).fit(HOLES), ProbabilisticPCA(2, **params).fit(HOLES[order]))


@pytest.mark.parametrize("prior", ["normal", None])
def test_integer_weights_are_duplicates(prior):
    weights, params = np.random.default_rng(0).integers(0, 4, len(HOLES)), EXACT | {"prior": prior, "tol": 1e-10}
    weighted = ProbabilisticPCA(2, **params).fit(HOLES, sample_weight=weights)
    same(weighted, ProbabilisticPCA(2, **params).fit(np.repeat(HOLES, weights, axis=0)))
    assert weighted.n_samples_ == np.sum(weights > 0)


@pytest.mark.parametrize(("scale", "offset"), [(1.0, 1e6), (1e-150, 0.0), (1e150, 0.0), (1e3, -1e5)])
def test_units_and_offsets(scale, offset):
    plain, other = ProbabilisticPCA(2).fit(HOLES), ProbabilisticPCA(2).fit(HOLES * scale + offset)
    assert_allclose(other.impute(HOLES * scale + offset), plain.impute(HOLES) * scale + offset, rtol=1e-5)
    n_observed = np.sum(~np.isnan(HOLES))
    assert_allclose(other.log_likelihood_, plain.log_likelihood_ - n_observed * np.log(scale), rtol=1e-5)


@pytest.mark.parametrize("scale", [1e-300, 1e160])
def test_variances_out_of_range_raise_unless_standardized(scale):
    with pytest.raises(DataError):
        ProbabilisticPCA(2).fit(HOLES * scale)
    other, plain = (ProbabilisticPCA(2, standardize=True).fit(HOLES * unit) for unit in (scale, 1.0))
    assert_allclose(other.impute(HOLES * scale) / scale, plain.impute(HOLES), rtol=1e-5)


def test_units_of_columns():
    units = np.array([1e-3, 1, 1e3, 1e6, 10.0])
    plain, other = (ProbabilisticPCA(2, standardize=True).fit(X) for X in (HOLES, HOLES * units))
    assert_allclose(other.impute(HOLES * units), plain.impute(HOLES) * units, rtol=1e-6)
    with pytest.warns(MercerWarning) as caught:
        ProbabilisticPCA(2).fit(HOLES * units)
    assert caught[0].message.remedies[0].parameter == "standardize"


def test_threads_do_not_change_a_bit(monkeypatch):
    monkeypatch.setattr(_missing_data, "_ENTRIES", 20_000)
    _, X = table(n=1500, d=12, k=4, seed=3)
    one, two = (ProbabilisticPCA(4, n_jobs=n).fit(X) for n in (1, 2))
    assert_array_equal(one.components_, two.components_)
    assert one.log_likelihood_ == two.log_likelihood_


def test_pieces_change_nothing_but_rounding(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 12))
    X[rng.random(X.shape) < 0.2] = np.nan
    X[:600] = np.where(np.isnan(X[0]), np.nan, np.nan_to_num(X[:600]))  # one pattern with more rows than one piece
    model = FactorModel(rng.normal(size=(12, 4)), 1.0, rng.normal(size=12))
    rows = PatternRows.from_array(X)
    whole = expected_statistics(rows, model, 1)
    monkeypatch.setattr(_missing_data, "_ENTRIES", 1)
    assert len(rows.pieces(4)) > 50
    for found, expected in zip(expected_statistics(rows, model, 2), whole, strict=True):
        assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_many_patterns_take_little_memory(monkeypatch):
    monkeypatch.setattr(_missing_data, "_ENTRIES", 20_000)
    rng = np.random.default_rng(0)
    X = np.where(rng.random((1500, 40)) < 0.2, np.nan, rng.normal(size=(1500, 40)))
    rows, model = PatternRows.from_array(X), FactorModel(rng.normal(size=(40, 30)), 1.0, np.zeros(40))
    for work in (lambda: expected_statistics(rows, model, 1), lambda: model.scores(rows)):
        tracemalloc.start()
        work()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 8 * len(X) * model.k**2 / 2  # far from a matrix for each row


# ---------------------------------------------------------------------- certificates and warnings


def test_interrupted_em_is_not_certified():
    with pytest.warns(MercerWarning) as caught:
        model = ProbabilisticPCA(2, max_iter=3, tol=1e-12, validation_fraction=0).fit(HOLES)
    assert caught[0].message.remedies[0].parameter == "max_iter"
    certificate = model.certificate_
    assert not certificate.certified and not certificate.converged and not certificate.stopped_early
    assert str(certificate).startswith("Optimum not reached") and certificate.summary.startswith("Optimum not reached")
    first_pass = ProbabilisticPCA(1, max_iter=1, validation_fraction=0)
    with pytest.warns(MercerWarning):
        assert "inf" not in str(first_pass.fit(HOLES).certificate_)


def test_converged_em_states_a_local_optimum_first():
    model = ProbabilisticPCA(2).fit(HOLES)
    certificate = model.certificate_
    assert certificate.certified and str(certificate).startswith("Local optimum at best")
    assert certificate.n_missing == np.isnan(HOLES).sum() == model.n_missing_.sum()
    assert certificate.n_incomplete == np.isnan(HOLES).any(axis=1).sum()
    assert certificate.to_dict()["n_patterns"] == len(np.unique(np.isnan(HOLES), axis=0))
    assert certificate == ProbabilisticPCA(2).fit(HOLES).certificate_


def test_a_large_tolerance_is_not_certified():
    certificate = ProbabilisticPCA(2, tol=0.5).fit(HOLES).certificate_
    assert certificate.converged and not certificate.certified
    assert certificate.summary.startswith("Optimum not established")


def test_early_stopping_is_not_certified():
    """Maximum likelihood with many components and few values overfits, as the held-out values show."""
    X = load_wine().data[::4]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.3, np.nan, X)
    model = ProbabilisticPCA(8, prior=None, validation_fraction=0.1).fit(holes)
    certificate = model.certificate_
    assert certificate.stopped_early and not certificate.certified
    assert str(certificate).startswith("Optimum not reached: EM stopped early")


def test_no_noise_left_warns_and_names_the_cause():
    X = np.random.default_rng(0).normal(size=(40, 1)) * np.arange(1.0, 6.0)
    X[::3, 0] = X[1::3, 2] = np.nan
    with pytest.warns(MercerWarning, match="lower limit"):
        model = ProbabilisticPCA(1).fit(X)
    assert_allclose(
        model.impute(X), np.outer(np.nanmean(X / np.arange(1.0, 6.0), axis=1), np.arange(1.0, 6.0)), atol=1e-2
    )


def test_optimum_certificate_states_what_it_does_not_prove():
    there = OptimumCertificate("log-likelihood", -10.0, -5.0, 1e-7, 1e-6, 12)
    assert there.certified and there.summary.startswith("Local optimum at best")
    bounded = OptimumCertificate("log-likelihood", -10.0, -5.0, 1e-7, 1e-6, 12, ("A variance is at its bound.",))
    assert not bounded.certified and "A variance is at its bound." in str(bounded)
    loose = OptimumCertificate("log-likelihood", -10.0, -5.0, 0.3, 0.5, 12)
    assert not loose.certified and str(loose).startswith("Optimum not established")
    away = OptimumCertificate("log-likelihood", -10.0, -5.0, 1e-3, 1e-6, 12)
    assert not away.certified and str(away).startswith("Optimum not reached")
    assert there != away and there == OptimumCertificate(**{name: getattr(there, name) for name in vars(there)})


def test_empty_rows_leave_the_closed_form_and_its_certificate():
    """They carry no information, so the same answer has the same proof."""
    X = np.vstack([FULL, np.full((3, 5), np.nan)])
    with pytest.warns(MercerWarning, match="3 rows without any observed value"):
        model = ProbabilisticPCA(2).fit(X)
    closed = ProbabilisticPCA(2).fit(FULL)
    same(model, closed, rtol=1e-12)
    assert model.certificate_ == closed.certificate_
    assert model.n_samples_ == 63
    assert_array_equal(model.n_missing_, 3)


@pytest.mark.parametrize("kind", ["array", "file"])
@pytest.mark.parametrize("k", [2, "cv"])
def test_rows_of_weight_zero_may_have_missing_values(k, kind, tmp_path):
    X, weights = FULL.copy(), np.ones(len(FULL))
    X[:3, 1:], weights[:3] = np.nan, 0
    np.save(tmp_path / "rows.npy", X)
    model = ProbabilisticPCA(k).fit(X if kind == "array" else tmp_path / "rows.npy", sample_weight=weights)
    closed = ProbabilisticPCA(k).fit(FULL[3:])
    same(model, closed, rtol=1e-9)
    assert type(model.certificate_) is type(closed.certificate_) and model.n_samples_ == 57
    assert not model.n_missing_.any()
    assert np.isfinite(ProbabilisticPCA(2).fit_transform(X, sample_weight=weights)).all()


# ---------------------------------------------------------------------- number of components


def test_validation_finds_the_number_of_factors():
    full, X = table(n=400, d=12, k=3, seed=2)
    model = ProbabilisticPCA().fit(X)
    certificate = model.certificate_
    assert 3 <= model.n_components_ <= 4 and certificate.tried[:3] == (1, 2, 3)
    assert certificate.n_validation >= 300 and certificate.validation_error == min(certificate.errors)
    missing = np.isnan(X)
    error = np.sqrt(np.mean((model.impute(X) - full)[missing] ** 2))
    baseline = np.sqrt(np.mean((np.nanmean(X, axis=0) - full)[missing] ** 2))
    assert_allclose(certificate.validation_error, error / baseline, rtol=0.2)


def test_rule_that_leaves_no_noise_warns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)) @ np.diag([3, 2, 0.2]) @ rng.normal(size=(3, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    with pytest.warns(MercerWarning, match="noise model is empty"):
        assert ProbabilisticPCA("cv").fit(X[~np.isnan(X).all(axis=1)]).n_components_ == 2


def test_equal_errors_choose_the_fewest_components(monkeypatch):
    errors = {1: 0.5, 2: 0.25, 3: 0.25, 4: 0.5}
    original = _missing_data.maximize

    def fixed_error(rows, start, **options):
        found = original(rows, start, **options)
        return found._replace(error=errors[start.model.k]) if options.get("validate") else found

    monkeypatch.setattr(_missing_data, "maximize", fixed_error)
    model = ProbabilisticPCA().fit(HOLES)
    assert model.n_components_ == 2 and model.certificate_.errors == (0.5, 0.25, 0.25, 0.5)


def test_held_out_values_leave_each_row_and_column_a_value():
    X = np.full((6, 3), np.nan)
    X[np.arange(6), [0, 0, 1, 1, 2, 2]] = 1.0
    X[0, 1] = 2.0
    for seed in range(20):
        for held in hold_out(X, np.ones(6), 0.5, np.random.default_rng(seed)):
            assert held.rows.masks.any(axis=1).all() and np.all(held.rows.observed_weight >= 1)
    first, again = (hold_out(HOLES, np.ones(60), 0.1, np.random.default_rng(0)) for _ in range(2))
    assert_array_equal(first[0].truth, again[0].truth)


@quiet
def test_prior_imputes_better_than_maximum_likelihood():
    X = load_wine().data[::4]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    errors = {"normal": 0.0, None: 0.0}
    for seed in range(3):
        missing = np.random.default_rng(seed).random(X.shape) < 0.3
        holes = np.where(missing, np.nan, X)
        for prior in errors:
            model = ProbabilisticPCA(12, prior=prior, validation_fraction=0, max_iter=60).fit(holes)
            errors[prior] += np.mean((model.impute(holes) - X)[missing] ** 2)
    assert errors["normal"] < errors[None]


# ---------------------------------------------------------------------- input, output, contract


def inputs(X):
    yield "masked", np.ma.MaskedArray(np.nan_to_num(X, nan=1e9), np.isnan(X))
    yield "pandas", pd.DataFrame(X)
    yield "nullable", pd.DataFrame(X).astype("Float64").mask(np.isnan(X))
    yield "lists", [[None if np.isnan(x) else x for x in row] for row in X.tolist()]
    yield "single", X.astype(np.float32)


@pytest.mark.parametrize("kind", [name for name, _ in inputs(HOLES)])
def test_missing_values_of_any_kind(kind):
    given, plain = dict(inputs(HOLES))[kind], ProbabilisticPCA(2).fit(HOLES)
    model, near = ProbabilisticPCA(2).fit(given), 1e-3 if kind == "single" else 1e-8
    assert_allclose(model.impute(given), plain.impute(HOLES), rtol=near, atol=near)
    assert_allclose(model.transform(given), plain.transform(HOLES), rtol=near, atol=10 * near)
    assert_array_equal(model.n_missing_, np.isnan(HOLES).sum(axis=0))
    assert model.components_.dtype == (np.float32 if kind == "single" else np.float64)


@pytest.mark.parametrize("suffix", [".npy", ".csv"])
def test_files_with_missing_values(suffix, tmp_path):
    path, out = tmp_path / f"rows{suffix}", tmp_path / "imputed.csv"
    if suffix == ".npy":
        np.save(path, HOLES)
    else:
        frame = pd.DataFrame(HOLES, columns=list("abcde"), index=[f"s{i}" for i in range(60)])
        frame.to_csv(path, float_format="%.17g", index_label="id")
    model, plain = ProbabilisticPCA(2).fit(path), ProbabilisticPCA(2).fit(HOLES)
    assert_allclose(model.noise_variance_, plain.noise_variance_, rtol=1e-10)
    assert_allclose(model.score_samples(path), plain.score_samples(HOLES), rtol=1e-9)
    assert model.transform_to(path, out, method="impute") == out
    written = pd.read_csv(out)
    assert_allclose(written.iloc[:, -5:], plain.impute(HOLES), rtol=1e-9)
    if suffix == ".csv":
        assert list(written["id"][:2]) == ["s0", "s1"] and list(written.columns[-5:]) == list("abcde")


def test_contract_with_missing_values():
    model = ProbabilisticPCA(2).fit(HOLES)
    spectrum = model.spectrum()
    assert spectrum.ddof == 0 and np.isnan(spectrum.lower).all()
    assert_allclose(spectrum.observed, 1 - np.isnan(HOLES).mean(axis=0))
    assert_allclose(spectrum.eigenvalues, 60 * model.explained_variance_, rtol=1e-12)
    assert_allclose(spectrum.feature_variances, np.diag(model.get_covariance()), rtol=1e-10)
    found, expected = model.project(HOLES), model.project(model.impute(HOLES))
    assert_allclose(found.scores, expected.scores, atol=1e-9)
    assert_allclose(found.q, expected.q, atol=1e-9)
    data = model.open(HOLES)
    (_, plain), (_, white) = (next(model.iter_scores(data, whiten=whiten)) for whiten in (False, True))
    assert_allclose(plain, model.transform(HOLES), atol=1e-12)
    assert_allclose(plain, white * np.linalg.norm(model.loadings_, axis=0), atol=1e-12)
    assert model.plan_.route == "missing" and str(model.plan(HOLES)) == str(model.plan_)


def test_memory_limit():
    with pytest.raises(MemoryLimitError) as caught:
        ProbabilisticPCA(2, memory_limit="20MB").fit(HOLES)
    assert caught.value.needed > caught.value.limit
    X = np.zeros((2000, 1500))
    X[0, 0] = np.nan
    assert ProbabilisticPCA(memory_limit="4GB").plan(X).memory < 2e9  # for 100 components, not for 1,500


@pytest.mark.parametrize("n_components", [0.9, "mle", 6])
def test_numbers_of_components_that_need_complete_rows(n_components):
    with pytest.raises(ParameterError) as caught:
        ProbabilisticPCA(n_components).fit(HOLES)
    assert caught.value.parameter == "n_components"


def test_unusable_data_raise_and_leave_the_model():
    model = ProbabilisticPCA(2).fit(HOLES)
    before, empty, infinite = model.transform(HOLES), HOLES.copy(), HOLES.copy()
    empty[:, 3] = np.nan
    infinite[0, 0], infinite[3, 2] = np.nan, np.inf
    with pytest.raises(DataError) as caught:
        model.fit(pd.DataFrame(empty, columns=list("abcde")))
    assert caught.value.column == "d"
    with pytest.raises(DataError) as caught:
        model.fit(infinite)
    assert (caught.value.row, caught.value.column) == (3, "2") and not isinstance(caught.value, MissingValuesError)
    thin = sparse.csr_array(HOLES)
    for use in (model.fit, model.transform, model.impute, model.posterior, model.score_samples):
        with pytest.raises(DataError):
            use(thin)
    assert_array_equal(model.transform(HOLES), before)


def test_no_components_is_a_mean_and_a_variance():
    model = ProbabilisticPCA(0).fit(HOLES)
    centered = HOLES - np.nanmean(HOLES, axis=0)
    assert_allclose(model.mean_, np.nanmean(HOLES, axis=0), rtol=1e-12)
    assert_allclose(model.noise_variance_, np.nanmean(centered**2), rtol=1e-12)
    assert_allclose(model.impute(HOLES), np.where(np.isnan(HOLES), model.mean_, HOLES), rtol=1e-12)
    assert model.transform(HOLES).shape == (60, 0) and model.certificate_.certified


@quiet
@pytest.mark.parametrize("k", [1, 3, 5, "cv"])
def test_odd_tables(k):
    rng = np.random.default_rng(0)
    tables = {
        "constant column": np.where(np.arange(5) == 2, 7.0, rng.normal(size=(40, 5))),
        "constant": np.full((40, 5), 3.0),
        "duplicates": np.repeat(rng.normal(size=(4, 5)), 10, axis=0),
        "one-hot": np.eye(5)[rng.integers(0, 5, 40)],
        "one factor": rng.normal(size=(40, 1)) * np.ones(5),
        "few rows": rng.normal(size=(6, 5)),
    }
    for name, full in tables.items():
        missing = rng.random(full.shape) < 0.2
        missing[0] = False
        holes = np.where(missing, np.nan, full)
        for prior in PRIORS[:1] if k == "cv" else PRIORS:
            imputed, std = ProbabilisticPCA(k, prior=prior, max_iter=30).fit(holes).impute(holes, return_std=True)
            assert np.isfinite(imputed).all() and np.isfinite(std).all(), name
            if name == "constant":
                assert_allclose(imputed, 3.0)
                assert not std.any()
            if name == "one factor":
                assert_allclose(imputed, full, atol=0.1)


@quiet
def test_wide_single_and_narrow_tables():
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(5, 40))
    wide[0, :3] = wide[2, 5] = np.nan
    assert np.isfinite(ProbabilisticPCA(2).fit(wide).impute(wide)).all()
    one = np.array([[1.0, np.nan, 3.0], [np.nan, 2.0, np.nan]])
    assert_allclose(ProbabilisticPCA(1).fit(one).impute(one), [[1, 2, 3], [1, 2, 3]], atol=1e-6)
    column = np.array([[1.0], [np.nan], [3.0], [5.0]])
    assert_allclose(ProbabilisticPCA(1).fit(column).impute(column)[1], 3.0, atol=1e-6)
    assert isinstance(ProbabilisticPCA(2).fit(wide).certificate_, MissingDataCertificate)


def test_progress_reports_passes_and_may_stop_the_fit():
    seen = []
    ProbabilisticPCA(2, progress=seen.append).fit(HOLES)
    completed = [report.completed for report in seen]
    assert len(seen) >= 5 and completed == sorted(completed)

    def stop(report):
        raise KeyboardInterrupt

    model = ProbabilisticPCA(2, progress=stop)
    with pytest.raises(KeyboardInterrupt):
        model.fit(HOLES)
    assert not hasattr(model, "components_")
