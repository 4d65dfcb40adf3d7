"""Factor analysis against the density it stands on, its own invariances, and scikit-learn's EM."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn import decomposition
from sklearn.exceptions import ConvergenceWarning

from mercer import PCA, FactorAnalysis
from mercer_old.errors import MercerWarning, NoRoom
from mercer_old.fits.factors import FLOOR, Profile
from mercer_old.fits.factors.columns import HeldCorrelations, RowCorrelations
from mercer_old.fits.factors.rotation import rotated
from support.naive import factor_covariance, gaussian_log_likelihood


def rows(n=400, d=8, k=2, seed=0, noise=(0.2, 2.0)):
    """Of a true factor model."""
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(k, d))
    return rng.normal(size=(n, k)) @ W + rng.normal(size=(n, d)) * np.sqrt(rng.uniform(*noise, d)) + rng.normal(size=d)


def correlations(X):
    A = (X - X.mean(axis=0)) / X.std(axis=0) / np.sqrt(len(X))
    return HeldCorrelations(A.T @ A), RowCorrelations(A)


# ---------------------------------------------------------------------- the likelihood and its gradient


@pytest.mark.parametrize("k", [0, 1, 3, 8])
def test_the_profile_is_the_likelihood_of_its_own_loadings(k):
    X = rows()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    t = np.random.default_rng(1).uniform(-3, -0.1, X.shape[1])
    for known in correlations(X):
        profile = Profile(known, k)
        density = gaussian_log_likelihood(X, np.zeros(8), factor_covariance(profile.loadings(t), np.exp(t)))
        assert profile(t)[0] + 8 * np.log(2 * np.pi) == pytest.approx(-2 * density.mean(), rel=1e-12)


def test_no_loadings_are_better_than_those_of_the_profile():
    X = rows()
    profile, t = Profile(correlations(X)[0], 2), np.full(8, -0.7)
    Z, W, rng = (X - X.mean(axis=0)) / X.std(axis=0), profile.loadings(t), np.random.default_rng(0)
    best = -profile(t)[0]
    for size in (1e-3, 0.03, 0.3):
        other = factor_covariance(W + size * rng.normal(size=W.shape), np.exp(t))
        assert 2 * gaussian_log_likelihood(Z, np.zeros(8), other).mean() + 8 * np.log(2 * np.pi) < best


@pytest.mark.parametrize("n", [400, 5])
def test_the_gradient_is_that_of_differences(n):
    X = rows(n=n)
    for known in correlations(X):
        profile, t, step = Profile(known, 2), np.random.default_rng(2).uniform(-2, -0.3, 8), 1e-5
        steps = step * np.eye(8)
        differences = [(profile(t + e)[0] - profile(t - e)[0]) / (2 * step) for e in steps]
        np.testing.assert_allclose(profile(t)[1], differences, atol=1e-6)


def test_a_step_of_em_leaves_what_the_loadings_do_not_explain_and_does_not_go_down():
    X = rows()
    profile, t = Profile(correlations(X)[0], 2), np.full(8, -0.7)
    for _ in range(5):
        value, slope = profile(t)
        after = profile.em_step(t, slope)
        np.testing.assert_allclose(np.exp(after), 1 - (profile.loadings(t) ** 2).sum(axis=0), rtol=1e-10)
        assert profile(after)[0] < value
        t = after


def test_at_the_top_the_model_has_the_variances_of_the_data_and_its_own_likelihood():
    X = rows()
    model = FactorAnalysis(2).fit(X)
    np.testing.assert_allclose(np.diag(model.get_covariance()), X.var(axis=0), rtol=1e-5)
    density = gaussian_log_likelihood(X, X.mean(axis=0), factor_covariance(model.components_, model.noise_variance_))
    np.testing.assert_allclose(model.score_samples(X), density, rtol=1e-10)
    assert model.loglike_[-1] == pytest.approx(density.sum(), rel=1e-12)
    assert model.score(X) == pytest.approx(density.mean(), rel=1e-12)
    assert all(after >= before for before, after in zip(model.loglike_, model.loglike_[1:], strict=False))


# ---------------------------------------------------------------------- against scikit-learn

CASES = {
    "tall": rows(),
    "wide": rows(n=30, d=60, k=3),
    "small noises": rows(noise=(0.001, 3.0), n=1000),
    "noise alone": np.random.default_rng(3).normal(size=(300, 6)),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore")  # of noise alone, whatever is found is chance, and EM does not end
def test_no_lower_than_the_optimum_of_em_and_the_same_model_there(name):
    X = CASES[name]
    ours = FactorAnalysis(2, tol=1e-6).fit(X)
    theirs = decomposition.FactorAnalysis(2, svd_method="lapack", tol=1e-9, max_iter=3000).fit(X)
    assert ours.loglike_[-1] >= theirs.loglike_[-1] - 1e-5
    if abs(ours.loglike_[-1] - theirs.loglike_[-1]) < 1e-4:
        scale = X.std(axis=0)
        gap = (ours.get_covariance() - theirs.get_covariance()) / scale / scale[:, None]
        assert np.abs(gap).max() < 1e-2
        assert np.abs(ours.score_samples(X) - theirs.score_samples(X)).max() < 0.1


def test_scores_and_precision_are_those_of_scikit_learn_for_the_same_parameters():
    X = rows()
    ours, theirs = FactorAnalysis(2).fit(X), decomposition.FactorAnalysis(2)
    theirs.n_features_in_ = 8
    for name in ("components_", "noise_variance_", "mean_"):
        setattr(theirs, name, getattr(ours, name))
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), atol=1e-10)
    np.testing.assert_allclose(ours.get_precision(), theirs.get_precision(), atol=1e-10)
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), rtol=1e-9)
    np.testing.assert_allclose(ours.fit_transform(X), ours.transform(X))


# ---------------------------------------------------------------------- what must not matter


def test_units_of_columns_change_loadings_by_themselves_and_nothing_else():
    X, units = rows(), 10.0 ** np.arange(-4, 4)
    plain, scaled = FactorAnalysis(2, tol=1e-6).fit(X), FactorAnalysis(2, tol=1e-6).fit(X * units)
    np.testing.assert_allclose(scaled.components_, plain.components_ * units, rtol=1e-4, atol=1e-12)
    np.testing.assert_allclose(scaled.noise_variance_, plain.noise_variance_ * units**2, rtol=1e-4)
    np.testing.assert_allclose(scaled.transform(X * units), plain.transform(X), atol=1e-4)
    assert scaled.loglike_[-1] == pytest.approx(plain.loglike_[-1] - len(X) * np.log(units).sum(), rel=1e-9)


@pytest.mark.parametrize("change", [lambda X: 1e-140 * X, lambda X: 1e140 * X, lambda X: X + 1e6])
def test_very_large_very_small_and_far_away_rows_are_right(change):
    X = rows()
    plain, other = FactorAnalysis(2, tol=1e-6).fit(X), FactorAnalysis(2, tol=1e-6).fit(change(X))
    np.testing.assert_allclose(other.transform(change(X)), plain.transform(X), atol=1e-4)


def test_sparse_rows_rows_of_a_file_and_single_precision_are_the_same_model(tmp_path):
    X = np.where(rows() > 0, rows(), 0.0)
    plain = FactorAnalysis(2).fit(X)
    np.save(tmp_path / "rows.npy", X)
    for other in (sparse.csr_array(X), tmp_path / "rows.npy", X.astype(np.float32)):
        model = FactorAnalysis(2).fit(other)
        np.testing.assert_allclose(model.components_, plain.components_, atol=1e-4)
        np.testing.assert_allclose(model.transform(other), plain.transform(X), atol=1e-3)
        np.testing.assert_allclose(model.score_samples(other), plain.score_samples(X), rtol=1e-3)
    assert FactorAnalysis(2).fit(X.astype("f4")).transform(X.astype("f4")).dtype == np.float32


def test_products_from_the_last_eigenvectors_find_what_lapack_finds():
    X = rows(n=900, d=500, k=5)
    known = correlations(X)[0]
    M = known.R / 0.5
    for _ in range(2):
        values, U = known.leading(np.full(500, np.sqrt(2)), 5)
        np.testing.assert_allclose(values, np.linalg.eigvalsh(M)[::-1][:5], rtol=1e-8)
        assert np.abs(M @ U - U * values).max() < 1e-5


# ---------------------------------------------------------------------- edges


def test_without_factors_every_column_is_on_its_own():
    X = rows()
    model = FactorAnalysis(0).fit(X)
    np.testing.assert_allclose(model.noise_variance_, X.var(axis=0), rtol=1e-6)
    assert model.components_.shape == (0, 8) and model.transform(X).shape == (400, 0)
    np.testing.assert_allclose(model.inverse_transform(np.empty((3, 0))), np.tile(X.mean(axis=0), (3, 1)))


def test_as_many_factors_as_columns_give_the_covariance_itself():
    X = rows()
    np.testing.assert_allclose(FactorAnalysis().fit(X).get_covariance(), np.cov(X.T, bias=True), atol=1e-8)


def test_constant_columns_are_told_and_left_out():
    X = np.column_stack([rows(), np.full(400, 7.0)])
    with pytest.warns(MercerWarning, match="1 of 9 columns do not vary"):
        model = FactorAnalysis(2).fit(X)
    plain = FactorAnalysis(2).fit(X[:, :8])
    np.testing.assert_allclose(model.components_[:, :8], plain.components_)
    assert model.noise_variance_[8] == 0 and not model.components_[:, 8].any()
    np.testing.assert_allclose(model.score_samples(X), plain.score_samples(X[:, :8]))
    np.testing.assert_allclose(model.inverse_transform(model.transform(X))[:, 8], 7.0)


def test_a_column_that_comes_twice_is_heywoods_case_and_told():
    X = rows()
    X = np.column_stack([X, X[:, 0]])
    with pytest.warns(MercerWarning, match=r"2 of 9 columns \(0, 8\).*Heywood"):
        model = FactorAnalysis(2).fit(X)
    np.testing.assert_allclose(model.noise_variance_[[0, 8]], FLOOR * X[:, 0].var(), rtol=0.01)
    assert np.isfinite(model.score_samples(X)).all()
    assert "at the floor" in str(model.certificate_)


def test_data_that_do_not_vary_at_all_are_told_and_have_no_factors():
    with pytest.warns(MercerWarning, match="4 of 4 columns do not vary"):
        model = FactorAnalysis(2).fit(np.ones((10, 4)))
    assert not model.transform(np.ones((10, 4))).any()


def test_an_iteration_is_not_enough_and_that_is_told():
    with pytest.warns(ConvergenceWarning, match="after 1 iterations, above tol"):
        model = FactorAnalysis(2, max_iter=1).fit(rows())
    assert not model.certificate_.converged and "above the tolerance" in str(model.certificate_)


def test_a_start_may_be_given():
    X = rows()
    far, near = (FactorAnalysis(2, noise_variance_init=v).fit(X) for v in (np.full(8, 1e-3), X.var(axis=0)))
    np.testing.assert_allclose(far.noise_variance_, near.noise_variance_, rtol=1e-2)
    assert far.loglike_[0] != near.loglike_[0]


@pytest.mark.parametrize(
    ("params", "words"),
    [
        (dict(n_components=9), "n_components=9 must be at most 8: there are 8 columns"),
        (dict(n_components=-1), "n_components"),
        (dict(noise_variance_init=[1.0]), r"shape \(1,\), and one number for each of 8 columns"),
        (dict(noise_variance_init=np.zeros(8)), "must be positive"),
        (dict(rotation="oblimin"), "rotation"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(params, words):
    with pytest.raises(ValueError, match=words):
        FactorAnalysis(**params).fit(rows())


def test_gaps_are_refused_with_the_place_and_a_way_out():
    X = rows()
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match=r"contains NaN.*ProbabilisticPCA takes rows with gaps"):
        FactorAnalysis(2).fit(X)
    with pytest.raises(ValueError, match="contains infinity"):
        FactorAnalysis(2).fit(np.where(np.isnan(X), np.inf, X))
    with pytest.raises(ValueError, match="ProbabilisticPCA"):
        FactorAnalysis(2).fit(rows()).transform(X)


def test_what_does_not_fit_is_refused_before_it_starts():
    with pytest.raises(NoRoom, match="over the limit"):
        FactorAnalysis(2, memory_limit=1000).fit(rows())
    assert "one sweep" in str(FactorAnalysis(2).plan(rows()))
    assert "fewer than" in str(FactorAnalysis(2).plan(rows(n=5)))


def test_scikit_learns_own_object_gives_the_same_scores():
    X = np.column_stack([rows(), np.ones(400)])
    with pytest.warns(MercerWarning):
        model = FactorAnalysis(2).fit(X)
    np.testing.assert_allclose(model.to_sklearn().transform(X), model.transform(X), atol=1e-10)


# ---------------------------------------------------------------------- rotations


@pytest.mark.parametrize("method", ["varimax", "quartimax"])
def test_rotations_change_the_reading_and_not_the_model(method):
    X = rows(d=10, k=3)
    plain, turned = FactorAnalysis(3).fit(X), FactorAnalysis(3, rotation=method).fit(X)
    np.testing.assert_allclose(turned.get_covariance(), plain.get_covariance(), atol=1e-10)
    assert simplicity(turned.components_, method) > simplicity(plain.components_, method)
    theirs = decomposition.FactorAnalysis(3, rotation=method, tol=1e-8, max_iter=10000, svd_method="lapack").fit(X)
    assert simplicity(turned.components_, method) == pytest.approx(simplicity(theirs.components_, method), rel=1e-3)


def simplicity(W, method):
    squares = W**2
    return (squares**2).sum() - (method == "varimax") * (squares.sum(axis=1) ** 2).sum() / W.shape[1]


def test_loadings_that_were_simple_are_found_again():
    simple = np.kron(np.eye(3), [1.0, 0.8, 0.6])
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    for method in ("varimax", "quartimax"):
        found = rotated(Q @ simple, method)
        assert np.sort(np.abs(found), axis=0)[:2].max() < 1e-4


# ---------------------------------------------------------------------- why one takes it


def test_a_loud_column_of_its_own_takes_a_component_of_pca_but_no_factor():
    X = rows(n=2000, d=6, k=1, seed=2)
    X[:, 0] = 50 * np.random.default_rng(9).normal(size=2000)
    assert abs(PCA(1).fit(X).components_[0, 0]) > 0.99
    share = FactorAnalysis(1).fit(X).components_[0] ** 2 / X.var(axis=0)
    assert share[0] < 0.03 and share[1:].max() > 0.3


def test_em_of_scikit_learn_may_stop_far_below():
    """Its columns have unlike scales and small noises, and EM's steps are short there."""
    from sklearn.datasets import load_breast_cancer

    X = load_breast_cancer().data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = FactorAnalysis(4).fit(X), decomposition.FactorAnalysis(4).fit(X)
    assert ours.loglike_[-1] > theirs.loglike_[-1] + 100
