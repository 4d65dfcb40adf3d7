"""ProbabilisticPCA of complete rows: against the textbook, scipy, scikit-learn and PCA."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.stats import multivariate_normal
from sklearn import decomposition
from sklearn.datasets import load_iris, load_wine

from mercer import PCA, ProbabilisticPCA, convert, textbook
from mercer_old.errors import BadData, MercerWarning, NoRoom, WrongUse
from mercer_old.fits.linear.folds import folds_of
from support.linear import TABLE
from support.silence import quiet, silently

WINE = load_wine().data
SOLVERS = ["auto", "full", "covariance_eigh", "qr", "gram", "krylov"]
FRESH = TABLE[:20] + np.random.default_rng(4).normal(size=(20, 6))


# ---------------------------------------------------------------------- the distribution


@pytest.mark.parametrize("k", [1, 3, 5])
@pytest.mark.parametrize("solver", SOLVERS)
def test_parameters_are_those_of_the_textbook(solver, k):
    model = ProbabilisticPCA(k, svd_solver=solver, tol=1e-12 * (solver == "krylov")).fit(TABLE)
    mean, W, noise = textbook.probabilistic_pca(TABLE, k)
    assert_allclose(model.mean_, mean, rtol=1e-12, atol=1e-12)
    assert_allclose(model.noise_variance_, noise, rtol=1e-9)
    assert_allclose(model.loadings_ @ model.loadings_.T, W @ W.T, atol=1e-7)
    assert_allclose(model.loglike_ / len(TABLE), textbook.ppca_log_likelihood(TABLE, mean, W, noise), rtol=1e-9)


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("k", [1, 3, 5])
def test_the_density_is_that_of_scipys_normal_distribution(k, standardize):
    model = ProbabilisticPCA(k, standardize=standardize).fit(TABLE)
    normal = multivariate_normal(model.mean_, model.get_covariance())
    assert_allclose(model.score_samples(FRESH), normal.logpdf(FRESH), rtol=1e-9)
    assert_allclose(model.score_samples(sparse.csr_array(FRESH)), normal.logpdf(FRESH), rtol=1e-9)
    assert_allclose(model.score(TABLE) * len(TABLE), model.loglike_, rtol=1e-9)
    assert_allclose(model.get_precision() @ model.get_covariance(), np.eye(6), atol=1e-9)


@pytest.mark.parametrize("k", [1, 4])
def test_scikit_learn_has_the_same_with_other_degrees_of_freedom(k):
    """It divides by n − 1: rows √((n − 1)/n) as far from their mean have its covariance as our maximum likelihood."""
    n, mean = len(TABLE), TABLE.mean(axis=0)
    theirs = decomposition.PCA(k, svd_solver="full").fit(mean + (TABLE - mean) * np.sqrt((n - 1) / n))
    ours = ProbabilisticPCA(k).fit(TABLE)
    assert_allclose(ours.noise_variance_, theirs.noise_variance_, rtol=1e-9)
    assert_allclose(ours.explained_variance_, theirs.explained_variance_, rtol=1e-9)
    assert_allclose(ours.score_samples(FRESH), theirs.score_samples(FRESH), rtol=1e-9)


def test_nothing_near_it_is_more_probable():
    """Of its own rows, also as a whole covariance: the closed form is a maximum."""
    model, rng = ProbabilisticPCA(2).fit(TABLE), np.random.default_rng(0)
    W, noise = model.loadings_, model.noise_variance_
    best = textbook.ppca_log_likelihood(TABLE, model.mean_, W, noise)
    for _ in range(30):
        change = 1e-2 * rng.normal(size=W.shape)
        assert textbook.ppca_log_likelihood(TABLE, model.mean_, W + change, noise) < best
        assert textbook.ppca_log_likelihood(TABLE, model.mean_, W, noise * np.exp(0.1 * rng.normal())) < best


def test_noise_of_few_rows_is_in_all_directions_that_are_left():
    """σ² is the trace that is left over d − k, and not over min(n, d) − k as in PCA."""
    X = np.random.default_rng(0).normal(size=(10, 40))
    values = np.linalg.eigvalsh(np.cov(X.T, bias=True))[::-1]
    model = ProbabilisticPCA(3).fit(X)
    assert_allclose(model.noise_variance_, values[3:].sum() / 37, rtol=1e-9)
    normal = multivariate_normal(model.mean_, model.get_covariance())
    assert_allclose(model.score_samples(X), normal.logpdf(X), rtol=1e-8)


# ---------------------------------------------------------------------- scores


@pytest.mark.parametrize("standardize", [False, True])
def test_scores_are_posterior_means(standardize):
    model = ProbabilisticPCA(2, standardize=standardize, whiten=True).fit(TABLE)
    scale = getattr(model, "scale_", np.ones(6))
    rows = (FRESH - model.mean_) / scale
    expected = textbook.ppca_scores(rows, np.zeros(6), model.loadings_, model.noise_variance_)
    assert_allclose(model.transform(FRESH), expected, atol=1e-9)
    units = ProbabilisticPCA(2, standardize=standardize).fit(TABLE)
    assert_allclose(units.transform(FRESH), expected * np.linalg.norm(model.loadings_, axis=0), atol=1e-9)


@pytest.mark.parametrize("whiten", [False, True])
def test_without_noise_scores_are_those_of_pca(whiten):
    """Rows in a plane but for next to nothing: the limit of no noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2)) @ rng.normal(size=(2, 5))
    pca, n = PCA(2, whiten=whiten).fit(X), len(X)
    for noise, near in ((1e-2, 1e-2), (1e-5, 1e-8), (0.0, 1e-12)):
        model = silently(
            lambda noise=noise: ProbabilisticPCA(2, whiten=whiten).fit(X + noise * rng.normal(size=X.shape))
        )
        expected = pca.transform(X) * (np.sqrt(n / (n - 1)) if whiten else 1.0)  # by deviations with 1/n
        assert_allclose(model.transform(X), expected, atol=100 * max(noise, 1e-14))
        assert 1 - model._shrinkage().min() < near or whiten


def test_scores_are_those_of_pca_times_what_is_no_noise():
    pca, model = PCA(3).fit(WINE), ProbabilisticPCA(3).fit(WINE)
    shrunken = pca.transform(WINE) * (1 - model.noise_variance_ / model.explained_variance_)
    assert_allclose(model.transform(WINE), shrunken, rtol=1e-8, atol=1e-8)


def test_the_posterior_of_complete_rows_has_one_covariance():
    model = ProbabilisticPCA(2, whiten=True).fit(TABLE)
    mean, covariance = model.posterior(FRESH)
    assert_allclose(mean, model.transform(FRESH), atol=1e-9)
    expected = np.linalg.inv(np.eye(2) + model.loadings_.T @ model.loadings_ / model.noise_variance_)
    assert_allclose(covariance, np.broadcast_to(expected, (20, 2, 2)), atol=1e-12)


def test_the_way_back_is_the_mean_of_the_row_without_noise():
    model = ProbabilisticPCA(2).fit(TABLE)
    W, C = model.loadings_, model.get_covariance()
    expected = model.mean_ + (FRESH - model.mean_) @ np.linalg.solve(C, W @ W.T)
    assert_allclose(model.denoise(FRESH), expected, atol=1e-9)
    whitened = ProbabilisticPCA(2, whiten=True).fit(TABLE)
    assert_allclose(whitened.denoise(FRESH), expected, atol=1e-9)


def test_samples_have_the_mean_and_the_covariance_of_the_model():
    model = ProbabilisticPCA(2, standardize=True).fit(TABLE)
    drawn, C = model.sample(200_000, random_state=1), model.get_covariance()
    size = np.sqrt(np.outer(np.diag(C), np.diag(C)))
    assert_allclose(drawn.mean(axis=0), model.mean_, atol=6 * np.sqrt(C.max() / 2e5))
    assert np.abs((np.cov(drawn.T) - C) / size).max() < 6 * np.sqrt(2 / 2e5)
    assert np.array_equal(model.sample(5, random_state=3), model.sample(5, random_state=3))


# ---------------------------------------------------------------------- rows from anywhere


@pytest.mark.parametrize("kind", [".npy", ".csv"])
def test_rows_of_files_are_the_same_rows(kind, tmp_path):
    path = tmp_path / f"rows{kind}"
    np.save(path, WINE) if kind == ".npy" else np.savetxt(path, WINE, delimiter=",", fmt="%.17g")
    held, read = ProbabilisticPCA(3).fit(WINE), silently(lambda: ProbabilisticPCA(3).fit(path))
    assert_allclose(read.noise_variance_, held.noise_variance_, rtol=1e-9)
    assert_allclose(read.loglike_, held.loglike_, rtol=1e-9)
    assert_allclose(silently(lambda: read.score_samples(path)), held.score_samples(WINE), rtol=1e-8)


def test_copies_are_weights():
    weights = np.random.default_rng(0).integers(0, 4, len(TABLE))
    copies, weighted = ProbabilisticPCA(3).fit(np.repeat(TABLE, weights, axis=0)), ProbabilisticPCA(3)
    weighted.fit(TABLE, sample_weight=weights)
    for name in ("noise_variance_", "loglike_", "explained_variance_"):
        assert_allclose(getattr(copies, name), getattr(weighted, name), rtol=1e-10)


@pytest.mark.parametrize("scale", [1e-140, 1e-3, 1e6, 1e140])
def test_units_and_offsets_change_what_they_should(scale):
    plain, other = ProbabilisticPCA(2).fit(TABLE), ProbabilisticPCA(2).fit(TABLE * scale + 100 * scale)
    assert_allclose(other.noise_variance_ / scale / scale, plain.noise_variance_, rtol=1e-8)
    assert_allclose(other.loglike_, plain.loglike_ - TABLE.size * np.log(scale), rtol=1e-9)
    assert_allclose(np.abs(other.components_), np.abs(plain.components_), atol=1e-8)


@quiet
def test_sparse_rows_and_single_precision_are_the_same_rows():
    X = np.where(np.random.default_rng(0).uniform(size=TABLE.shape) < 0.5, TABLE, 0.0)
    dense, thin = ProbabilisticPCA(2).fit(X), ProbabilisticPCA(2).fit(sparse.csr_array(X))
    assert_allclose(thin.noise_variance_, dense.noise_variance_, rtol=1e-9)
    assert_allclose(thin.loglike_, dense.loglike_, rtol=1e-9)
    single = ProbabilisticPCA(2).fit(X.astype(np.float32))
    assert single.transform(X.astype(np.float32)).dtype == np.float32
    assert_allclose(single.noise_variance_, dense.noise_variance_, rtol=1e-4)


# ---------------------------------------------------------------------- how many


def naive_folds(X, home, k):
    """The log-likelihood of rows that were held out, by the textbook."""
    total = 0.0
    for fold in range(5):
        seen, held = X[home != fold], X[home == fold]
        total += len(held) * textbook.ppca_log_likelihood(held, *textbook.probabilistic_pca(seen, k))
    return total


def test_cross_validation_finds_the_number_under_which_rows_held_out_are_most_probable():
    X = load_iris().data
    for seed in range(3):
        home = folds_of(X, int(np.random.default_rng(seed).integers(2**32)))
        best = 1 + int(np.argmax([naive_folds(X, home, k) for k in (1, 2, 3)]))
        assert ProbabilisticPCA("cv", random_state=seed).fit(X).n_components_ == best


@pytest.mark.parametrize("rule", ["cv", "bic", "mle"])
def test_rules_find_three_factors(rule):
    rng = np.random.default_rng(0)
    X = 3 * rng.normal(size=(500, 3)) @ rng.normal(size=(3, 12)) + rng.normal(size=(500, 12))
    assert ProbabilisticPCA(rule).fit(X).n_components_ == 3
    assert ProbabilisticPCA(rule).fit(X * 1e120).n_components_ == 3


def test_folds_work_with_fewer_rows_than_columns():
    rng = np.random.default_rng(0)
    X = 3 * rng.normal(size=(30, 2)) @ rng.normal(size=(2, 60)) + rng.normal(size=(30, 60))
    assert ProbabilisticPCA().fit(X).n_components_ == 2


def test_folds_of_too_many_columns_are_refused_with_the_bytes():
    with pytest.raises(NoRoom, match=r"cv.*2,000 columns.*Give a number"):
        ProbabilisticPCA(memory_limit="60MB").fit(np.ones((3, 2000)))


# ---------------------------------------------------------------------- edges


def test_all_components_leave_no_noise():
    model = ProbabilisticPCA(None).fit(TABLE)
    assert model.noise_variance_ == 0 and model.n_components_ == 6
    assert_allclose(model.get_covariance(), np.cov(TABLE.T, bias=True), rtol=1e-9)
    assert_allclose(model.loglike_, multivariate_normal(TABLE.mean(0), np.cov(TABLE.T, bias=True)).logpdf(TABLE).sum())
    assert_allclose(model.transform(TABLE), PCA().fit(TABLE).transform(TABLE), atol=1e-9)


@pytest.mark.filterwarnings("ignore:The covariance is singular")
def test_rows_of_less_than_full_rank_have_a_density_in_their_plane():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2)) @ rng.normal(size=(2, 5)) + 1
    model = ProbabilisticPCA(2).fit(X)
    normal = multivariate_normal(X.mean(axis=0), np.cov(X.T, bias=True), allow_singular=True)
    assert_allclose(model.loglike_, normal.logpdf(X).sum(), rtol=1e-7)
    assert_allclose(model.score(X) * len(X), model.loglike_, rtol=1e-7)
    assert_allclose(model.denoise(X), X, atol=1e-10)


def test_rows_that_are_all_the_same_are_no_accident():
    with pytest.warns(MercerWarning, match="All rows are the same"):
        model = ProbabilisticPCA(1).fit(np.ones((5, 3)))
    assert model.noise_variance_ == 0 and model.loglike_ == 0
    assert_allclose(model.transform(np.ones((2, 3))), 0)
    assert_allclose(model.sample(3), 1)


def test_no_component_at_all_is_noise_alone():
    model = ProbabilisticPCA(0).fit(TABLE)
    assert_allclose(model.noise_variance_, TABLE.var(axis=0).mean())
    assert_allclose(model.get_covariance(), model.noise_variance_ * np.eye(6))
    assert model.transform(TABLE).shape == (len(TABLE), 0)


def test_infinite_values_are_refused_with_their_place():
    X = TABLE.copy()
    X[3, 2] = np.inf
    with pytest.raises(BadData, match=r"infinity.*row index 3, column 2"):
        ProbabilisticPCA(2).fit(X)
    with pytest.raises(BadData, match=r"infinity.*row index 3, column 2"):
        ProbabilisticPCA(2).fit(TABLE).transform(X)


def test_the_certificate_is_that_of_pca():
    model, pca = ProbabilisticPCA(2).fit(TABLE), PCA(2).fit(TABLE)
    assert str(model.certificate_) == str(pca.certificate_)
    assert str(model.plan_) == str(pca.plan_)
    assert not model.n_missing_.any()


def test_scikit_learn_and_plink_have_no_such_model(tmp_path):
    model = ProbabilisticPCA(2).fit(TABLE)
    with pytest.raises(ValueError, match="no model of probabilistic PCA"):
        model.to_sklearn()
    with pytest.raises(WrongUse, match="Principal components are of PCA"):
        convert(model, tmp_path / "study", "plink", X=TABLE)


@pytest.mark.parametrize("whiten", [False, True])
def test_a_graph_gives_the_same_scores(whiten, tmp_path):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    model = ProbabilisticPCA(2, whiten=whiten, standardize=True).fit(TABLE)
    convert(model, tmp_path / "m.onnx", dtype="float64")
    session = runtime.InferenceSession(str(tmp_path / "m.onnx"))
    found = session.run(None, {session.get_inputs()[0].name: FRESH})[0]
    assert_allclose(found, model.transform(FRESH), rtol=1e-9, atol=1e-9)
