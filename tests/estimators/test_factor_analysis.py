"""FactorAnalysis: optima against scikit-learn, a general optimizer, closed forms and the first edition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.optimize import minimize
from scipy.stats import multivariate_normal
from sklearn.datasets import load_iris, load_wine
from sklearn.decomposition import FactorAnalysis as SklearnFactorAnalysis
from sklearn.decomposition._factor_analysis import _ortho_rotation
from sklearn.exceptions import ConvergenceWarning

from mercer.compat.sklearn_private import NotConvergedWarning
from mercer.errors import DataError, MercerWarning, MissingValuesError, ParameterError
from mercer.estimators import FactorAnalysis
from mercer.estimators.factor_analysis import rotate

WINE = load_wine().data
pytestmark = [
    pytest.mark.filterwarnings("ignore:The noise variance:mercer.errors.MercerWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


@pytest.fixture
def factors():
    """Rows of two factors with unequal noise."""
    rng = np.random.default_rng(0)
    loadings = rng.normal(size=(2, 6))
    return rng.normal(size=(300, 2)) @ loadings + rng.normal(size=(300, 6)) * np.linspace(0.3, 2, 6)


@pytest.mark.parametrize("k", [1, 2, 4])
def test_likelihood_is_at_least_that_of_sklearn(k):
    X = (WINE - WINE.mean(axis=0)) / WINE.std(axis=0)
    theirs = SklearnFactorAnalysis(k, tol=1e-12, max_iter=5000, svd_method="lapack").fit(X)
    ours = FactorAnalysis(k, tol=1e-8).fit(X)
    assert ours.loglike_[-1] >= theirs.loglike_[-1] - 1e-6
    assert_allclose(ours.get_covariance(), theirs.get_covariance(), atol=1e-3)


def test_optimum_agrees_with_a_general_optimizer(factors):
    X, n = factors, len(factors)
    C = np.cov(X.T, bias=True)

    def objective(parameters):
        W, psi = parameters[:12].reshape(2, 6), np.exp(parameters[12:])
        S = W.T @ W + np.diag(psi)
        return np.linalg.slogdet(S)[1] + np.trace(np.linalg.solve(S, C))

    start = np.append(np.random.default_rng(1).normal(size=12), np.log(np.diag(C) / 2))
    best = minimize(objective, start, options={"gtol": 1e-6, "maxiter": 2000})
    ours = FactorAnalysis(2, tol=1e-9).fit(X)
    assert_allclose(-2 * ours.loglike_[-1] / n - 6 * np.log(2 * np.pi), best.fun, rtol=1e-9)


def test_variances_of_the_data_are_reproduced_at_the_optimum(factors):
    model = FactorAnalysis(2, tol=1e-10).fit(factors)
    assert_allclose(np.diag(model.get_covariance()), factors.var(axis=0), rtol=1e-8)


def test_units_change_nothing_but_the_units(factors):
    units = np.array([1e-80, 1e6, 1.0, 1e60, 3.0, 7.0])
    plain, scaled = FactorAnalysis(2).fit(factors), FactorAnalysis(2).fit(factors * units)
    assert_allclose(scaled.noise_variance_, plain.noise_variance_ * units**2, rtol=1e-6)
    assert_allclose(scaled.components_, plain.components_ * units, rtol=1e-6)
    assert_allclose(scaled.transform(factors * units), plain.transform(factors), atol=1e-8)


def test_largest_variances_have_a_likelihood(factors):
    unit = 0.5 * np.sqrt(np.finfo(float).max / factors.var(axis=0).max())  # 2π times a variance would overflow
    plain, scaled = FactorAnalysis(2).fit(factors), FactorAnalysis(2).fit(factors * unit)
    expected = plain.loglike_[-1] - 300 * 6 * np.log(unit)
    assert_allclose(scaled.loglike_[-1], expected, rtol=1e-12)


def test_log_density_is_that_of_the_normal_distribution(factors):
    model = FactorAnalysis(2).fit(factors)
    expected = multivariate_normal(model.mean_, model.get_covariance()).logpdf(factors)
    assert_allclose(model.score_samples(factors), expected, rtol=1e-10)
    assert_allclose(model.score(factors), expected.mean(), rtol=1e-12)
    assert_allclose(model.loglike_[-1], expected.sum(), rtol=1e-10)
    assert_allclose(model.get_precision() @ model.get_covariance(), np.eye(6), atol=1e-12)


def test_scores_are_posterior_means(factors):
    model = FactorAnalysis(2).fit(factors)
    gain = model.components_ @ np.linalg.inv(model.get_covariance())
    expected = (factors - factors.mean(axis=0)) @ gain.T
    assert_allclose(model.transform(factors), expected, atol=1e-12)
    assert_allclose(model.fit_transform(factors), expected, atol=1e-12)
    assert_allclose(model.transform(sparse.csr_array(factors)), expected, atol=1e-12)
    assert_allclose(model.inverse_transform(expected), expected @ model.components_ + factors.mean(axis=0), atol=1e-12)


def test_more_columns_than_rows_use_the_rows(factors):
    X = factors[:30]
    wide = np.concatenate([X] + [np.random.default_rng(i).normal(size=(30, 6)) for i in range(6)], axis=1)
    model = FactorAnalysis(2, tol=1e-9).fit(wide)
    theirs = SklearnFactorAnalysis(2, tol=1e-10, max_iter=3000, svd_method="lapack").fit(wide)
    assert model.plan_.route == "rows"
    assert model.loglike_[-1] >= theirs.loglike_[-1] - 1e-5


@pytest.mark.parametrize("scale", [2.0**-460, 2.0**460])
def test_rotation_does_not_depend_on_the_units(scale, factors):
    model, scaled = (FactorAnalysis(2, rotation="varimax").fit(X) for X in (factors, factors * scale))
    assert_allclose(scaled.components_ / scale, model.components_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("method", ["varimax", "quartimax"])
def test_rotation_is_that_of_sklearn(method, factors):
    plain = FactorAnalysis(2).fit(factors)
    rotated = FactorAnalysis(2, rotation=method).fit(factors)
    expected = _ortho_rotation(plain.components_.T, method=method, tol=1e-12, max_iter=1000)
    assert_allclose(np.abs(rotated.components_), np.abs(expected), atol=1e-5)
    assert_allclose(rotated.get_covariance(), plain.get_covariance(), rtol=1e-10)
    one = np.random.default_rng(0).normal(size=(1, 5))
    assert rotate(one, method) is one


def test_heywood_case_is_named():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    X = np.column_stack([X, X[:, 0]])
    with pytest.warns(MercerWarning, match="Heywood"):
        model = FactorAnalysis(1).fit(X)
    assert any("lower bound" in line for line in model.certificate_.sentences())
    assert any("Heywood" in warning.summary for warning in model.fit_warnings_)


def test_constant_columns_are_left_out(factors):
    X = np.column_stack([factors, np.full(len(factors), 7.0)])
    with pytest.warns(MercerWarning, match="Constant columns are left out: 'x6'"):
        model = FactorAnalysis(2).fit(X)
    plain = FactorAnalysis(2).fit(factors)
    assert_allclose(model.noise_variance_, np.append(plain.noise_variance_, 0.0), rtol=1e-10)
    assert_allclose(model.score_samples(X), plain.score_samples(factors), rtol=1e-10)


def test_stopping_early_names_the_parameter_that_helps(factors):
    with pytest.warns(ConvergenceWarning, match="max_iter=2") as caught:
        model = FactorAnalysis(2, max_iter=2, tol=1e-12).fit(factors)
    assert isinstance(caught[0].message, NotConvergedWarning)
    assert [remedy.parameter for remedy in caught[0].message.remedies] == ["max_iter"]
    assert not model.certificate_.certified
    assert str(model.certificate_).startswith("Optimum not reached")


def test_rounding_does_not_blame_max_iter(factors):
    with pytest.warns(NotConvergedWarning, match="Rounding") as caught:
        FactorAnalysis(2, tol=0.0).fit(factors)
    assert [remedy.parameter for remedy in caught[0].message.remedies] == ["tol"]


def test_likelihood_never_decreases():
    model = FactorAnalysis(2).fit(load_iris().data)
    assert np.all(np.diff(model.loglike_) >= 0)
    assert model.n_iter_ == len(model.loglike_) - 1


@pytest.mark.parametrize(
    ("parameters", "parameter"),
    [
        ({"n_components": 7}, "n_components"),
        ({"noise_variance_init": [1.0, 2.0]}, "noise_variance_init"),
        ({"noise_variance_init": [0.0] * 6}, "noise_variance_init"),
        ({"rotation": "oblimin"}, "rotation"),
    ],
)
def test_invalid_parameters(parameters, parameter, factors):
    with pytest.raises(ParameterError) as caught:
        FactorAnalysis(**({"n_components": 2} | parameters)).fit(factors)
    assert caught.value.parameter == parameter


def test_invalid_data(factors):
    with pytest.raises(ParameterError, match="sample_weight"):
        FactorAnalysis(2).fit_transform(factors, sample_weight=np.ones(len(factors)))
    with pytest.raises(DataError, match="underflow"):
        FactorAnalysis(2).fit(factors * 1e-200)
    with pytest.raises(DataError, match="overflow"):
        FactorAnalysis(2).fit(factors * 1e200)
    X = factors.copy()
    X[3, 2] = np.nan
    with pytest.raises(MissingValuesError) as caught:
        FactorAnalysis(2).fit(X)
    assert caught.value.row == 3


def test_failed_fit_leaves_the_model_unchanged(factors):
    model = FactorAnalysis(2).fit(factors)
    before = model.components_
    with pytest.raises(ParameterError):
        model.set_params(n_components=9).fit(factors)
    assert model.components_ is before


def test_files_give_the_same_model(factors, tmp_path):
    np.save(tmp_path / "rows.npy", factors)
    assert_allclose(
        FactorAnalysis(2).fit(tmp_path / "rows.npy").components_, FactorAnalysis(2).fit(factors).components_
    )
