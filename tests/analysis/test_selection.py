"""Rules for the number of components: definitions, theory, scikit-learn and the first edition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.decomposition import PCA as SklearnPCA

from mercer.analysis.selection import RULES, Scree, choose_n_components, profile_likelihood
from mercer.errors import ParameterError
from mercer_old.readings.rules import keeping
from mercer_old.readings.rules.scree import Scree as OldScree


def scree_of(X, k=None, standardize=False):
    """The scree by LAPACK's SVD of the centered rows."""
    Z, m = X - X.mean(axis=0), len(X) - 1
    if standardize:
        Z = Z / Z.std(axis=0, ddof=1)
    _, singular, axes = np.linalg.svd(Z, full_matrices=False)
    values = np.where(singular > 1e-12 * singular[0], singular**2 / m, 0.0)
    k = len(values) if k is None else k
    squares = np.where(np.ptp(Z, axis=0) > 1e-12, (Z**2).sum(axis=0) / m, 0.0)
    return Scree(values[:k], values.sum(), len(X), X.shape[1], squares, axes[:k], complete=k == len(values))


def spiked(rng, n, d, variances, noise=1.0):
    axes = np.linalg.qr(rng.standard_normal((d, len(variances))))[0]
    signal = rng.standard_normal((n, len(variances))) * np.sqrt(variances) @ axes.T
    return signal + np.sqrt(noise) * rng.standard_normal((n, d))


def bare(values, n=100, **options):
    values = np.asarray(values, dtype=float)
    return Scree(values, float(values.sum()), n, len(values), **options)


@pytest.mark.parametrize("name", [name for name in RULES if name != "parallel"])
@pytest.mark.parametrize("shape", [(60, 12), (20, 40), (3, 2), (50, 50)])
def test_rules_agree_with_the_first_edition(name, shape):
    rng = np.random.default_rng(sum(shape))
    for n_factors in range(3):
        X = rng.normal(size=shape) + 3 * rng.normal(size=(shape[0], n_factors)) @ rng.normal(size=(n_factors, shape[1]))
        X[:, 0] = 1.0 if n_factors == 2 else X[:, 0]
        scree = scree_of(X)
        old = OldScree(scree.values, scree.total, len(X), X.shape[1], scree.feature_squares, scree.axes, floor=0.0)
        assert RULES[name](scree).n_components == keeping.by_linear_rule(name, old).k


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_mle_matches_sklearn(load):
    X = load().data
    assert choose_n_components("mle", scree_of(X)) == SklearnPCA("mle").fit(X).n_components_


def test_parallel_finds_four_spikes_in_twenty_of_twenty_draws():
    rng = np.random.default_rng(0)
    found = [RULES["parallel"](scree_of(spiked(rng, 500, 40, [36, 25, 16, 9]))).n_components for _ in range(20)]
    assert found == [4] * 20


def test_parallel_is_not_misled_by_a_large_component():
    rng = np.random.default_rng(0)
    found = [RULES["parallel"](scree_of(spiked(rng, 300, 60, [89, 2.7, 1.3]))).n_components for _ in range(20)]
    assert np.mean(np.array(found) == 3) >= 0.9


@pytest.mark.parametrize("name", ["parallel", "tracy-widom"])
def test_pure_noise_is_recognized_at_the_stated_level(name):
    rng = np.random.default_rng(1)
    found = [RULES[name](scree_of(rng.standard_normal((200, 30)))).n_components for _ in range(60)]
    assert np.mean(np.array(found) == 0) >= 0.9


@pytest.mark.parametrize("seed", range(5))
def test_elbow_maximizes_the_profile_likelihood(seed):
    rng = np.random.default_rng(seed)
    values = np.sort(rng.gamma(0.6, size=20))[::-1] + 1e-3
    likelihoods = []
    for q in range(1, 20):
        left, right = values[:q], values[q:]
        spread = np.sqrt((((left - left.mean()) ** 2).sum() + ((right - right.mean()) ** 2).sum()) / 20)
        likelihoods.append(
            norm(left.mean(), spread).logpdf(left).sum() + norm(right.mean(), spread).logpdf(right).sum()
        )
    assert RULES["elbow"](bare(values)).n_components == np.argmax(likelihoods) + 1
    assert_allclose(profile_likelihood(values * 2.0**40), profile_likelihood(values), atol=1e-6)


def test_equal_is_not_above_the_limit():
    assert RULES["kaiser"](bare([2.0] * 6)).n_components == 0
    assert RULES["broken-stick"](bare([2.0] * 6)).n_components == 0


@pytest.mark.parametrize(
    ("fraction", "strict", "k"), [(0.5, True, 2), (0.5, False, 1), (0.9, True, 3), (0.999, True, 4)]
)
def test_fraction_of_the_variance(fraction, strict, k):
    assert choose_n_components(fraction, bare([5, 3, 1.5, 0.5]), strict=strict) == k


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_cumulated_ratio_of_another_fit_is_a_tie(dtype):
    values = np.sort(np.random.default_rng(0).gamma(1.0, size=50))[::-1]
    ratios = np.cumsum((values / values.sum()).astype(dtype), dtype=dtype)
    scree = bare(values)
    assert choose_n_components(float(ratios[9]), scree, dtype) == 11
    assert choose_n_components(float(ratios[9]), scree, dtype, strict=False) == 10


def test_rule_that_cannot_decide_raises_with_the_reason():
    X = np.random.default_rng(0).standard_normal((5, 20))
    with pytest.raises(ParameterError, match="cannot decide: 5 rows are fewer than 20 columns") as caught:
        choose_n_components("mle", scree_of(X))
    assert caught.value.parameter == "n_components" and caught.value.remedies


@pytest.mark.parametrize("n_components", [None, 3, 0.5, "parallel"])
def test_constant_data_keep_one_component_or_what_was_requested(n_components):
    found = choose_n_components(n_components, Scree(np.zeros(4), 0.0, 10, 4, np.zeros(4), np.eye(4)))
    assert found == {None: 4, 3: 3}.get(n_components, 1)


def test_incomplete_scree_is_reported():
    X = spiked(np.random.default_rng(0), 300, 40, [50, 40, 30, 20])
    part = scree_of(X, k=3)
    assert RULES["parallel"](part).at_least and RULES["parallel"](part).n_components == 3
    assert RULES["marchenko-pastur"](part).n_components is None
    assert "3 of 40 are known" in RULES["bic"](part).reason
