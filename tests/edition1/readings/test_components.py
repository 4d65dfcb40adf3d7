"""How many components: Minka's evidence, Schwarz's criterion and shares, against scikit-learn and the likelihood."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal
from sklearn import decomposition
from sklearn.decomposition._pca import _assess_dimension

from mercer import PCA
from mercer_old.readings.components import bic, fewest_for_share, minka_evidence
from support.linear import SOLVERS, few
from support.long_double import centred, scatter_values
from support.silence import quiet
from support.strategies import seeds


@pytest.mark.parametrize("seed", range(20))
def test_evidence_is_that_of_scikit_learn_rank_by_rank(seed):
    rng = np.random.default_rng(seed)
    d, n = int(rng.integers(2, 15)), int(rng.integers(20, 5000))
    values = np.sort(rng.gamma(0.7, size=d) * 10.0 ** rng.integers(-2, 3) + 1e-3)[::-1]
    evidence = minka_evidence(values, n)
    assert evidence[0] == -np.inf
    assert_allclose(evidence[1:], [_assess_dimension(values, k, n) for k in range(1, d)], rtol=1e-8)


@given(seeds, st.integers(-12, 12))
@few
def test_another_unit_moves_all_evidence_by_the_same(seed, power):
    rng = np.random.default_rng(seed)
    values, factor, n = np.sort(rng.gamma(1.0, size=7) + 1e-3)[::-1], 10.0**power, 50
    moved = -n * 7 / 2 * np.log(factor)
    assert_allclose(minka_evidence(factor * values, n)[1:], minka_evidence(values, n)[1:] + moved, rtol=1e-9, atol=1e-6)
    assert_allclose(bic(factor * values, n), bic(values, n) - 2 * moved, rtol=1e-9, atol=1e-6)


def latent(seed, n, d):
    """A few strong directions, and noise."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, d))
    return rng.normal(size=(n, k)) * rng.uniform(1, 5, k) @ rng.normal(size=(k, d)) + rng.normal(size=(n, d))


@pytest.mark.parametrize("solver", ["full", "covariance_eigh", "qr", "gram", "auto"])
@pytest.mark.parametrize("seed", range(5))
@quiet
def test_minkas_choice_is_that_of_scikit_learn(seed, solver):
    X = latent(seed, 60 + 40 * seed, 4 + 2 * seed)
    assert PCA("mle", svd_solver=solver).fit(X).n_components_ == decomposition.PCA("mle").fit(X).n_components_


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("share", [0.3, 0.6, 0.9, 0.999])
@quiet
def test_the_number_for_a_share_is_that_of_scikit_learn(share, solver):
    for seed in range(3):
        X = latent(seed, 80, 10)
        theirs = decomposition.PCA(share, svd_solver="full").fit(X)
        assert PCA(share, svd_solver=solver).fit(X).n_components_ == theirs.n_components_
        every = decomposition.PCA(svd_solver="full").fit(X).explained_variance_
        assert fewest_for_share(every, every.sum(), share) == theirs.n_components_


def bic_by_likelihood(X, most, weights=None):
    """From the density of every row under the most likely x ~ N(mean, WWᵀ + σ²I) (Tipping and Bishop), k < most."""
    w = np.ones(len(X)) if weights is None else weights
    n, d = w.sum(), X.shape[1]
    C = centred(X, w).astype(float)
    values, V = np.linalg.eigh(C.T @ C / n)
    values, V = values[::-1], V[:, ::-1]
    criteria = []
    for k in range(most):
        noise = values[k:].mean()
        covariance = (V[:, :k] * (values[:k] - noise)) @ V[:, :k].T + noise * np.eye(d)
        likelihood = w @ multivariate_normal(np.average(X, axis=0, weights=w), covariance).logpdf(X)
        parameters = sum(d - i for i in range(k)) + 1 + d  # axes with their lengths, noise and mean
        criteria.append(-2 * likelihood + parameters * np.log(n))
    return np.array(criteria)


@pytest.mark.parametrize("seed", range(5))
def test_schwarzs_criterion_is_that_of_the_likelihood(seed):
    X = latent(seed, 60 + 40 * seed, 4 + seed)
    n, d = X.shape
    direct = bic_by_likelihood(X, d)
    assert_allclose(bic((scatter_values(X) / n).astype(float), n), direct, rtol=1e-10)
    assert PCA("bic").fit(X).n_components_ == np.argmin(direct)


@pytest.mark.parametrize("shape", [(40, 41), (60, 90), (60, 150)], ids=str)
@pytest.mark.parametrize("seed", [2, 3])
@quiet
def test_schwarzs_choice_for_wide_rows_is_that_of_the_likelihood(seed, shape):
    X = np.random.default_rng(seed).normal(size=shape)
    X[:, :5] *= [8, 6, 4, 2.5, 2]
    direct = bic_by_likelihood(X, min(shape) - 1)  # with one more, nothing is left for the noise
    assert PCA("bic").fit(X).n_components_ == np.argmin(direct)


@pytest.mark.parametrize("rule", ["mle", "bic"])
@pytest.mark.parametrize("seed", range(3))
@quiet
def test_choices_count_a_row_of_weight_two_twice(seed, rule):
    X, w = latent(seed, 30, 6), np.random.default_rng(seed).integers(1, 6, 30)
    every = np.repeat(X, w, axis=0)
    direct = {
        "mle": lambda: decomposition.PCA("mle").fit(every).n_components_,
        "bic": lambda: np.argmin(bic_by_likelihood(X, 6, w)),
    }
    assert PCA(rule).fit(every).n_components_ == direct[rule]()
    assert PCA(rule).fit(X, sample_weight=w).n_components_ == direct[rule]()
