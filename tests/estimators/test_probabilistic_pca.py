"""Probabilistic PCA of complete rows: the closed form against the textbook, scipy and scikit-learn."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.stats import multivariate_normal
from sklearn import decomposition
from sklearn.datasets import load_iris, load_wine

from mercer import textbook
from mercer.errors import DataError, MemoryLimitError, MercerWarning, ParameterError
from mercer.estimators import PCA, ProbabilisticPCA
from mercer.estimators._cross_validation import fold_of

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 6)) @ np.diag([5, 3, 2, 1, 0.7, 0.5]) @ np.linalg.qr(RNG.normal(size=(6, 6)))[0] + 2
NEW = X[:20] + np.random.default_rng(4).normal(size=(20, 6))
WINE = load_wine().data
PLANE = RNG.normal(size=(50, 2)) @ RNG.normal(size=(2, 5)) + 1


def three_factors(n=500, d=12, seed=0):
    rng = np.random.default_rng(seed)
    return 3 * rng.normal(size=(n, 3)) @ rng.normal(size=(3, d)) + rng.normal(size=(n, d))


# ---------------------------------------------------------------------- the distribution


@pytest.mark.parametrize("k", [1, 3, 5])
@pytest.mark.parametrize("solver", ["auto", "full", "covariance_eigh", "gram"])
def test_parameters_match_tipping_and_bishop(solver, k):
    model = ProbabilisticPCA(k, svd_solver=solver).fit(X)
    mean, W, noise = textbook.probabilistic_pca(X, k)
    assert_allclose(model.mean_, mean, rtol=1e-12, atol=1e-12)
    assert_allclose(model.noise_variance_, noise, rtol=1e-9)
    assert_allclose(model.loadings_ @ model.loadings_.T, W @ W.T, atol=1e-8)
    assert_allclose(model.log_likelihood_ / len(X), textbook.ppca_log_likelihood(X, mean, W, noise), rtol=1e-9)
    assert_allclose(model.reconstruction_error_, (6 - k) * noise, rtol=1e-9)


@pytest.mark.parametrize("k", [1, 4])
def test_parameters_match_sklearn_with_divisor_n(k):
    n, mean = len(X), X.mean(axis=0)
    theirs = decomposition.PCA(k, svd_solver="full").fit(mean + (X - mean) * np.sqrt((n - 1) / n))
    ours = ProbabilisticPCA(k).fit(X)
    assert_allclose(ours.noise_variance_, theirs.noise_variance_, rtol=1e-9)
    assert_allclose(ours.explained_variance_, theirs.explained_variance_, rtol=1e-9)
    assert_allclose(ours.score_samples(NEW), theirs.score_samples(NEW), rtol=1e-9)
    shrunk = theirs.transform(NEW) * (1 - theirs.noise_variance_ / theirs.explained_variance_)
    assert_allclose(np.abs(ours.transform(NEW)), np.abs(shrunk), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("k", [0, 1, 3, 5])
def test_density_matches_scipy(k, standardize):
    model = ProbabilisticPCA(k, standardize=standardize).fit(X)
    normal = multivariate_normal(model.mean_, model.get_covariance())
    assert_allclose(model.score_samples(NEW), normal.logpdf(NEW), rtol=1e-9)
    assert_allclose(model.score_samples(sparse.csr_array(NEW)), normal.logpdf(NEW), rtol=1e-9)
    assert_allclose(model.score(X) * len(X), model.log_likelihood_, rtol=1e-9)
    assert_allclose(model.get_precision() @ model.get_covariance(), np.eye(6), atol=1e-9)


def test_closed_form_is_a_maximum():
    model, rng = ProbabilisticPCA(2).fit(X), np.random.default_rng(0)
    W, noise = model.loadings_, model.noise_variance_
    best = textbook.ppca_log_likelihood(X, model.mean_, W, noise)
    for _ in range(20):
        assert textbook.ppca_log_likelihood(X, model.mean_, W + 1e-2 * rng.normal(size=W.shape), noise) < best
        assert textbook.ppca_log_likelihood(X, model.mean_, W, noise * np.exp(0.1 * rng.normal())) < best


def test_noise_of_wide_data_divides_by_all_directions():
    wide = np.random.default_rng(0).normal(size=(10, 40))
    values = np.linalg.eigvalsh(np.cov(wide.T, bias=True))[::-1]
    model = ProbabilisticPCA(3).fit(wide)
    assert_allclose(model.noise_variance_, values[3:].sum() / 37, rtol=1e-9)
    assert_allclose(model.score_samples(wide), multivariate_normal(model.mean_, model.get_covariance()).logpdf(wide))


# ---------------------------------------------------------------------- scores, samples, contract


@pytest.mark.parametrize("standardize", [False, True])
def test_scores_are_posterior_means(standardize):
    model = ProbabilisticPCA(2, standardize=standardize, whiten=True).fit(X)
    rows = (NEW - model.mean_) / getattr(model, "scale_", 1.0)
    z = textbook.ppca_scores(rows, np.zeros(6), model.loadings_, model.noise_variance_)
    assert_allclose(model.transform(NEW), z, atol=1e-9)
    plain = ProbabilisticPCA(2, standardize=standardize).fit(X)
    assert_allclose(plain.transform(NEW), z * np.linalg.norm(model.loadings_, axis=0), atol=1e-9)
    for one in (model, plain):
        mean, covariance = one.posterior(NEW)
        assert_array_equal(mean, one.transform(NEW))
        C = np.linalg.inv(np.eye(2) + model.loadings_.T @ model.loadings_ / model.noise_variance_)
        lengths = np.ones(2) if one.whiten else np.linalg.norm(model.loadings_, axis=0)
        assert_allclose(covariance, np.broadcast_to(C * np.outer(lengths, lengths), (20, 2, 2)), atol=1e-12)


@pytest.mark.parametrize("whiten", [False, True])
def test_denoise_is_the_expected_row_without_noise(whiten):
    model = ProbabilisticPCA(2, whiten=whiten).fit(X)
    W, C = model.loadings_, model.get_covariance()
    expected = model.mean_ + (NEW - model.mean_) @ np.linalg.solve(C, W @ W.T)
    assert_allclose(model.denoise(NEW), expected, atol=1e-9)
    map = model.linear_map()
    assert_allclose(((NEW - map.mean) / map.scale) @ map.encoder.T, model.transform(NEW), atol=1e-9)
    assert_allclose(map.mean + map.scale * (model.transform(NEW) @ map.decoder), expected, atol=1e-9)


def test_scores_without_noise_are_those_of_pca():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MercerWarning)
        model = ProbabilisticPCA(2).fit(PLANE)
    assert model.noise_variance_ < 1e-25
    assert_allclose(model.transform(PLANE), PCA(2).fit(PLANE).transform(PLANE), atol=1e-12)


def test_samples_have_mean_and_covariance_of_the_model():
    model = ProbabilisticPCA(2, standardize=True).fit(X)
    drawn, C = model.sample(100_000, random_state=1), model.get_covariance()
    scale = np.sqrt(np.outer(np.diag(C), np.diag(C)))
    assert_allclose(drawn.mean(axis=0), model.mean_, atol=6 * np.sqrt(C.max() / 1e5))
    assert np.abs((np.cov(drawn.T) - C) / scale).max() < 6 * np.sqrt(2 / 1e5)
    assert_array_equal(model.sample(5, random_state=3), model.sample(5, random_state=3))


def test_spectrum_has_divisor_n():
    model = ProbabilisticPCA(2).fit(X)
    spectrum = model.spectrum()
    assert spectrum.ddof == 0 and spectrum.observed is None and not spectrum.complete
    assert_allclose(spectrum.eigenvalues, len(X) * model.explained_variance_, rtol=1e-12)
    assert np.all(spectrum.lower <= spectrum.eigenvalues) and np.all(spectrum.eigenvalues <= spectrum.upper)
    assert_allclose(spectrum.feature_variances, X.var(axis=0), rtol=1e-10)
    assert_allclose(spectrum.ratio, model.explained_variance_ratio_, rtol=1e-12)


def test_project_is_that_of_pca():
    ours, theirs = ProbabilisticPCA(2).fit(X).project(NEW), PCA(2).fit(X).project(NEW)
    assert_allclose(ours.scores, theirs.scores, atol=1e-10)
    assert_allclose(ours.q, theirs.q, atol=1e-10)


@pytest.mark.parametrize("shape", [(60, 4), (6000, 60), (100, 3000)])
def test_plan_is_that_of_the_fit(shape):
    """The memory of a fit depends on the number of threads."""
    X = np.random.default_rng(0).normal(size=shape)
    model = ProbabilisticPCA(3, n_jobs=2)
    assert model.plan(X) == model.fit(X).plan_


def test_certificate_and_plan_are_those_of_pca():
    model, pca = ProbabilisticPCA(2).fit(X), PCA(2).fit(X)
    assert model.certificate_ == pca.certificate_ and str(model.plan_) == str(pca.plan_) == str(model.plan(X))
    assert not model.n_missing_.any() and model.n_iter_ == 1


# ---------------------------------------------------------------------- weights, units, files


def test_integer_weights_are_duplicates():
    weights = np.random.default_rng(0).integers(0, 4, len(X))
    repeated = ProbabilisticPCA(3).fit(np.repeat(X, weights, axis=0))
    weighted = ProbabilisticPCA(3).fit(X, sample_weight=weights)
    for name in ("noise_variance_", "log_likelihood_", "explained_variance_", "mean_"):
        assert_allclose(getattr(weighted, name), getattr(repeated, name), rtol=1e-10)
    assert weighted.n_samples_ == np.sum(weights > 0)


def test_small_weights_give_variances():
    """Maximum likelihood has no degree of freedom to lose, unlike PCA with a total weight of one."""
    model = ProbabilisticPCA(2).fit(X, sample_weight=np.full(len(X), 1 / len(X)))
    assert_allclose(model.explained_variance_, ProbabilisticPCA(2).fit(X).explained_variance_, rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-140, 1e-3, 1e6, 1e140])
def test_units_and_offsets(scale):
    plain, other = ProbabilisticPCA(2).fit(X), ProbabilisticPCA(2).fit(X * scale + 100 * scale)
    assert_allclose(other.noise_variance_ / scale / scale, plain.noise_variance_, rtol=1e-8)
    assert_allclose(other.log_likelihood_, plain.log_likelihood_ - X.size * np.log(scale), rtol=1e-9)
    assert_allclose(np.abs(other.components_), np.abs(plain.components_), atol=1e-8)


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1e160])
def test_variances_out_of_range_raise_unless_standardized(scale):
    with pytest.raises(DataError):
        ProbabilisticPCA(2).fit(X * scale)
    tiny, plain = (ProbabilisticPCA(2, standardize=True).fit(X * unit) for unit in (scale, 1.0))
    assert_allclose(tiny.noise_variance_, plain.noise_variance_, rtol=1e-6)
    assert_allclose(tiny.transform(X * scale), plain.transform(X), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("suffix", [".npy", ".csv"])
@pytest.mark.filterwarnings("ignore::mercer.errors.MercerWarning")
def test_files_give_the_same_model(suffix, tmp_path):
    path = tmp_path / f"rows{suffix}"
    if suffix == ".npy":
        np.save(path, WINE)
    else:
        np.savetxt(path, WINE, delimiter=",", fmt="%.17g", header=",".join("abcdefghijklm"), comments="")
    held, read = ProbabilisticPCA("cv").fit(WINE), ProbabilisticPCA("cv").fit(path)
    assert held.n_components_ == read.n_components_
    assert_allclose(read.log_likelihood_, held.log_likelihood_, rtol=1e-9)
    assert_allclose(read.score_samples(path), held.score_samples(WINE), rtol=1e-8)


def test_sparse_and_single_precision():
    rows = np.where(np.random.default_rng(0).uniform(size=X.shape) < 0.5, X, 0.0)
    dense, thin = ProbabilisticPCA(2).fit(rows), ProbabilisticPCA(2).fit(sparse.csr_array(rows))
    assert_allclose(thin.log_likelihood_, dense.log_likelihood_, rtol=1e-9)
    single = ProbabilisticPCA(2).fit(rows.astype(np.float32))
    assert single.transform(rows.astype(np.float32)).dtype == np.float32
    assert_allclose(single.noise_variance_, dense.noise_variance_, rtol=1e-4)


# ---------------------------------------------------------------------- number of components


def naive_cross_validation(rows, folds, k):
    total = 0.0
    for fold in range(5):
        seen, held = rows[folds != fold], rows[folds == fold]
        total += len(held) * textbook.ppca_log_likelihood(held, *textbook.probabilistic_pca(seen, k))
    return total


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.filterwarnings("ignore:n_components='cv' keeps")
def test_cross_validation_matches_refits(seed):
    iris = load_iris().data
    folds = fold_of(iris, int(np.random.default_rng(seed).integers(2**32)))
    best = 1 + int(np.argmax([naive_cross_validation(iris, folds, k) for k in (1, 2, 3)]))
    assert ProbabilisticPCA("cv", random_state=seed).fit(iris).n_components_ == best


def test_folds_keep_duplicates_together():
    rows = np.array([[0.0, 1.0], [-0.0, 1.0], [0.0, 1.0]])
    for seed in range(10):
        assert len(set(fold_of(rows, seed))) == 1


@pytest.mark.parametrize("scale", [1.0, 1e120, 1e-120])
def test_rules_find_three_factors(scale):
    for rule in ("cv", "mle"):
        assert ProbabilisticPCA(rule).fit(three_factors() * scale).n_components_ == 3
    assert (
        ProbabilisticPCA(0.9).fit(three_factors() * scale).n_components_ == PCA(0.9).fit(three_factors()).n_components_
    )


def test_cross_validation_with_a_large_mean_and_weights():
    rows = three_factors()
    assert ProbabilisticPCA().fit(rows + 1e8).n_components_ == 3
    weights = np.random.default_rng(1).integers(0, 3, len(rows))
    assert ProbabilisticPCA().fit(rows, sample_weight=weights).n_components_ == 3


@pytest.mark.filterwarnings("ignore:n_components='cv' keeps")
def test_cross_validation_of_standardized_columns():
    rows = three_factors(200, 6) * np.logspace(0, 5, 6)
    folds = fold_of(rows, int(np.random.default_rng(0).integers(2**32)))
    z = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    best = 1 + int(np.argmax([naive_cross_validation(z, folds, k) for k in range(1, 6)]))
    assert ProbabilisticPCA(standardize=True).fit(rows).n_components_ == best


def test_cross_validation_of_wide_data():
    assert ProbabilisticPCA().fit(three_factors(30, 60)).n_components_ == 3


def test_cross_validation_obeys_the_memory_limit():
    with pytest.raises(MemoryLimitError) as caught:
        ProbabilisticPCA(memory_limit="60MB").fit(np.random.default_rng(0).normal(size=(3, 2000)))
    assert caught.value.needed > caught.value.limit == 60e6
    assert caught.value.remedies[0].parameter == "n_components"


@pytest.mark.parametrize("n_components", ["cv", 0.995, "mle"])
def test_rule_that_leaves_no_noise_warns(n_components):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 4)) @ np.diag([4, 3, 2, 0.1]) @ rng.normal(size=(4, 4))
    with pytest.warns(MercerWarning, match="noise model is empty"):
        model = ProbabilisticPCA(n_components).fit(rows)
    assert model.n_components_ >= 3 and len(model.fit_warnings_) == 1
    ProbabilisticPCA(3).fit(rows)  # requested by number: no warning
    ProbabilisticPCA(None).fit(rows)


# ---------------------------------------------------------------------- edges


def test_all_components_leave_no_noise():
    model = ProbabilisticPCA(None).fit(X)
    assert model.noise_variance_ == 0 and model.n_components_ == 6
    assert_allclose(model.get_covariance(), np.cov(X.T, bias=True), rtol=1e-9, atol=1e-12)
    expected = multivariate_normal(X.mean(0), np.cov(X.T, bias=True)).logpdf(X).sum()
    assert_allclose(model.log_likelihood_, expected)
    assert_allclose(model.transform(X), PCA().fit(X).transform(X), atol=1e-9)


@pytest.mark.filterwarnings("ignore::mercer.errors.MercerWarning")
def test_rank_deficient_rows_have_a_density_in_their_plane():
    model = ProbabilisticPCA(2).fit(PLANE)
    normal = multivariate_normal(PLANE.mean(axis=0), np.cov(PLANE.T, bias=True), allow_singular=True)
    assert_allclose(model.log_likelihood_, normal.logpdf(PLANE).sum(), rtol=1e-7)
    assert_allclose(model.score(PLANE) * len(PLANE), model.log_likelihood_, rtol=1e-7)


@pytest.mark.parametrize("rows", [np.ones((5, 3)), np.ones((1, 3))])
def test_constant_rows(rows):
    with pytest.warns(MercerWarning, match="equal"):
        model = ProbabilisticPCA(1).fit(rows)
    assert model.noise_variance_ == 0 and model.log_likelihood_ == 0
    assert not model.transform(rows).any()
    assert_allclose(model.sample(3), 1)


def test_infinite_values_raise_with_their_location():
    rows = X.copy()
    rows[3, 2] = np.inf
    for use in (ProbabilisticPCA(2).fit, ProbabilisticPCA(2).fit(X).transform):
        with pytest.raises(DataError) as caught:
            use(rows)
        assert (caught.value.row, caught.value.column) == (3, "2")


@pytest.mark.parametrize(
    ("parameters", "rows", "name"),
    [
        ({"n_components": 7}, X, "n_components"),
        ({"n_components": "mle"}, X[:4], "n_components"),
        ({"prior": "flat"}, X, "prior"),
        ({"validation_fraction": 0.6}, X, "validation_fraction"),
        ({"max_iter": 0}, X, "max_iter"),
    ],
)
def test_wrong_parameters(parameters, rows, name):
    with pytest.raises(ParameterError) as caught:
        ProbabilisticPCA(**parameters).fit(rows)
    assert caught.value.parameter == name


@pytest.mark.parametrize("value", [0, -1, 2.5, True, "all"])
def test_wrong_counts(value):
    model = ProbabilisticPCA(2).fit(X)
    for use in (lambda: model.sample(value), lambda: model.impute(X, n_imputations=value)):
        with pytest.raises(ParameterError) as caught:
            use()
        assert caught.value.value is value


def test_attributes_of_different_length_raise():
    model = ProbabilisticPCA(3).fit(X)
    model.components_ = model.components_[:2]
    with pytest.raises(DataError):
        model.transform(X)


def test_rules_by_name_need_all_eigenvalues():
    with pytest.raises(ParameterError, match="cannot be a string with svd_solver='krylov'"):
        ProbabilisticPCA("bic", svd_solver="krylov").fit(X)
    assert ProbabilisticPCA(0.5, svd_solver="krylov").fit(X).n_components_ < X.shape[1]
