"""From scores back to samples: closed forms, scikit-learn's numbers, the first edition, invariances, hostile data."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.decomposition import KernelPCA as SklearnKernelPCA
from sklearn.exceptions import NotFittedError

import mercer_old
import mercer_old.kernels
from mercer.datasets import VOC, rings
from mercer.errors import DataError, MercerWarning, ParameterError
from mercer.estimators import PCA, KernelPCA
from mercer.kernels.base import Blockwise, Pairwise
from mercer.kernels.distance import RBF, Laplacian, Matern, RationalQuadratic
from mercer.kernels.dot import Cosine, Linear, Polynomial
from mercer.kernels.histograms import ChiSquared
from mercer.kernels.series import GlobalAlignment
from mercer.kernels.strings.counting import Spectrum

METHODS = ["auto", "ridge", "fixed-point", "kwok-tsang"]
RADIAL = [RBF(0.3), RBF(1e-5), Matern(0.5, 2.0), Matern(1.5, 1.0), Matern(2.5, 1.0), RationalQuadratic(), 5 * RBF(1.0)]
X = np.random.default_rng(0).normal(size=(60, 4)) * [2.0, 1.0, 0.5, 0.3]
NEW = np.random.default_rng(1).normal(size=(9, 4)) * [2.0, 1.0, 0.5, 0.3]
DIGITS = load_digits().data / 16


def fitted(k=10, rows=X, sample_weight=None, **params):
    return KernelPCA(k, **{"kernel": RBF(0.3), "preimage": "auto"} | params).fit(rows, sample_weight=sample_weight)


def reconstruct(new=NEW, **params):
    model = fitted(**params)
    return model.inverse_transform(model.transform(new))


def mean_error(found, truth):
    return np.mean(np.sum((found - truth) ** 2, axis=1))


# ---------------------------------------------------------------------- scikit-learn's inverse


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid", "cosine"])
@pytest.mark.parametrize("alpha", [1.0, 0.01])
@pytest.mark.filterwarnings("ignore:The kernel matrix is not positive semi-definite")
def test_without_preimage_numbers_are_those_of_scikit_learn(kernel, alpha):
    params = {"kernel": kernel, "gamma": 0.1, "fit_inverse_transform": True, "alpha": alpha}
    ours, theirs = KernelPCA(3, **params).fit(X), SklearnKernelPCA(3, **params, eigen_solver="dense").fit(X)
    found = ours.inverse_transform(ours.transform(NEW))
    assert_allclose(found, theirs.inverse_transform(theirs.transform(NEW)), atol=1e-9)
    signs = np.sign(np.sum(ours.X_transformed_fit_ * theirs.X_transformed_fit_, axis=0))
    assert_allclose(ours.X_transformed_fit_ * signs, theirs.X_transformed_fit_, atol=1e-9)
    assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-7 * np.abs(theirs.dual_coef_).max())


def test_rows_of_weight_two_teach_the_inverse_twice():
    weights = np.repeat([1, 2, 3], 20)
    params = {"kernel": "rbf", "gamma": 0.3, "fit_inverse_transform": True}
    repeated = KernelPCA(4, **params).fit(np.repeat(X, weights, axis=0))
    weighted = KernelPCA(4, **params).fit(X, sample_weight=weights)
    scores = weighted.transform(NEW)
    assert_allclose(weighted.inverse_transform(scores), repeated.inverse_transform(scores), atol=1e-8)


def test_return_error_of_the_learned_inverse():
    model = KernelPCA(5, kernel="rbf", gamma=0.3, fit_inverse_transform=True, alpha=0.1).fit(X)
    scores = model.transform(X)
    rows, errors = model.inverse_transform(scores, return_error=True)
    assert_allclose(rows, model.inverse_transform(scores))
    nearest = model.set_params(preimage="fixed-point").inverse_transform(scores, return_error=True)[1]
    assert np.all(errors >= nearest - 1e-6)


def test_the_learned_inverse_must_be_asked_for_before_the_fit():
    model = KernelPCA(2).fit(X)
    scores = model.transform(X)
    with pytest.raises(NotFittedError, match=r'fit_inverse_transform parameter was not set.*preimage="auto"'):
        model.inverse_transform(scores)
    with pytest.raises(NotFittedError):
        model.set_params(fit_inverse_transform=True).inverse_transform(scores)
    assert model.set_params(preimage="auto").inverse_transform(scores).shape == X.shape
    for method in ("inverse_transform", "denoise"):
        with pytest.raises(NotFittedError):
            getattr(KernelPCA(2, preimage="auto"), method)(X)


# ---------------------------------------------------------------------- the linear kernel


@pytest.mark.parametrize("kernel", ["linear", Linear(), 3 * Linear()])
@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("options", [{}, {"n_landmarks": 30}, {"eigen_solver": "krylov"}, {"standardize": True}])
@pytest.mark.filterwarnings("ignore:The 4 landmarks")
def test_the_linear_kernel_gives_the_reconstruction_of_pca(kernel, offset, options):
    model = fitted(2, rows=X + offset, kernel=kernel, **options)
    truth = PCA(2, standardize="standardize" in options).fit(X + offset).denoise(NEW + offset)
    found, errors = model.inverse_transform(model.transform(NEW + offset), return_error=True)
    assert_allclose(found, truth, atol=1e-10 * (1 + offset * 1e-3))
    assert_allclose(model.denoise(NEW + offset), truth, atol=1e-10 * (1 + offset * 1e-3))
    assert_allclose(errors, 0, atol=1e-6)


def test_sparse_rows_of_the_linear_kernel_become_dense():
    rows = np.abs(X) * (np.abs(X) > 0.5)
    model = fitted(2, rows=sparse.csr_array(rows), kernel="linear")
    assert_allclose(model.denoise(sparse.csr_array(rows)), PCA(2).fit(rows).denoise(rows), atol=1e-9)


# ---------------------------------------------------------------------- rows of the fit, the first edition


@pytest.mark.parametrize("kernel", [kernel for kernel in RADIAL if kernel != RBF(1e-5)], ids=repr)
@pytest.mark.parametrize("method", ["fixed-point", "kwok-tsang"])
def test_with_all_components_rows_of_the_fit_come_back(kernel, method):
    model = fitted(None, kernel=kernel, preimage=method)
    rows, errors = model.inverse_transform(model.transform(X), return_error=True)
    assert_allclose(rows, X, atol=1e-3)
    assert errors.max() < 1e-3 * np.sqrt(kernel.diag(X[:1])[0])


@pytest.mark.parametrize("index", range(len(RADIAL)))
@pytest.mark.parametrize("method", ["ridge", "fixed-point", "kwok-tsang"])
@pytest.mark.filterwarnings("ignore:The kernel is nearly constant", "ignore:All rows look")
def test_results_of_the_first_edition(index, method):
    from mercer_old import kernels as old

    twins = [old.RBF(0.3), old.RBF(1e-5), old.Matern(0.5, 2.0), old.Matern(1.5, 1.0), old.Matern(2.5, 1.0),
             old.RationalQuadratic(), 5 * old.RBF(1.0)]  # fmt: skip
    new, first = fitted(6, kernel=RADIAL[index]), mercer_old.KernelPCA(6, kernel=twins[index]).fit(X)
    scores = new.transform(NEW)
    found = new.set_params(preimage=method).inverse_transform(scores, return_error=True)
    known = first.set_params(preimage=method).inverse_transform(scores, return_error=True)
    assert_allclose(found[0], known[0], atol=1e-8)
    assert_allclose(found[1], known[1], atol=1e-8)


@pytest.mark.parametrize("method", ["ridge", "fixed-point", "kwok-tsang"])
@pytest.mark.filterwarnings("ignore:The 25 landmarks", "ignore:.*landmarks")
def test_landmarks_stand_for_all_samples_as_in_the_first_edition(method):
    new = fitted(4, landmarks=np.arange(25), preimage=method)
    first = mercer_old.KernelPCA(4, kernel=mercer_old.kernels.RBF(0.3), landmarks=np.arange(25), preimage=method).fit(X)
    scores = new.transform(NEW)
    found, known = new.inverse_transform(scores, True), first.inverse_transform(scores, True)
    assert_allclose(found[0], known[0], atol=1e-8)
    assert_allclose(found[1], known[1], atol=1e-8)
    assert np.isfinite(new.set_params(preimage=None).denoise(NEW)).all()


# ---------------------------------------------------------------------- errors in the feature space


@pytest.mark.parametrize("options", [{}, {"standardize": True}])
@pytest.mark.parametrize("kernel", [RBF(0.3), RBF(1e-3), Polynomial(2, 0.5, 1.0), 2 * RBF(0.1) + Linear()], ids=repr)
@pytest.mark.filterwarnings("ignore:The kernel is nearly constant")
def test_errors_are_distances_to_the_projection_in_the_feature_space(kernel, options):
    """By brute force: images in coordinates of an orthonormal basis of their span."""
    weights = np.random.default_rng(2).integers(1, 4, size=60).astype(float)
    model = fitted(4, kernel=kernel, sample_weight=weights, preimage="ridge", **options)
    scale = getattr(model, "scale_", 1.0)
    rows, errors = model.inverse_transform(model.transform(NEW), return_error=True)
    K = kernel(np.vstack([X, NEW, rows]) / scale, np.vstack([X, NEW, rows]) / scale)
    values, U = np.linalg.eigh(K)
    phi = U * np.sqrt(np.maximum(values, 0))
    mean = np.average(phi[:60], axis=0, weights=weights)
    axes = np.linalg.svd(np.sqrt(weights)[:, None] * (phi[:60] - mean), full_matrices=False)[2][:4]
    new, found = phi[60 : 60 + len(NEW)], phi[60 + len(NEW) :]
    truth = np.linalg.norm(mean + (new - mean) @ axes.T @ axes - found, axis=1)
    assert_allclose(errors, truth, rtol=1e-3, atol=3e-7 * np.sqrt(np.abs(np.diag(K)).max()))


@pytest.mark.parametrize("k", [2, 5, 20])
@pytest.mark.parametrize("kernel", [RBF(0.3), Matern(1.5, 1.0), RationalQuadratic()], ids=repr)
def test_fixed_points_come_nearest_and_have_no_slope(kernel, k):
    from scipy.optimize import minimize

    model = fitted(k, kernel=kernel)
    scores, found = model.transform(NEW), {}
    for method in METHODS:
        found[method] = model.set_params(preimage=method).inverse_transform(scores, return_error=True)
    rows, errors = found["fixed-point"]
    assert all(np.all(errors <= other + 1e-4) for _, other in found.values())
    geometry = model._preimages().geometry
    C = geometry.coefficients(scores)
    for row, c in zip(rows, C, strict=True):
        better = minimize(lambda p, c=c: geometry.objective(p[None], c[None])[0], row, method="BFGS", tol=1e-10)
        assert_allclose(better.x, row, atol=1e-3)


# ---------------------------------------------------------------------- what does not matter


@pytest.mark.parametrize("method", METHODS)
def test_moved_rotated_and_scaled_rows(method):
    Q = np.linalg.qr(np.random.default_rng(3).normal(size=(4, 4)))[0]
    plain = reconstruct(preimage=method)
    for factor, offset in [(1.0, 0.0), (1.0, 1e4), (1e3, -5.0), (1e-4, 0.0)]:
        rows, new = factor * X @ Q + offset, factor * NEW @ Q + offset
        found = reconstruct(new, rows=rows, kernel=RBF(0.3 / factor**2), preimage=method)
        assert_allclose((found - offset) / factor @ Q.T, plain, atol=2e-4)


@pytest.mark.parametrize("method", METHODS)
def test_rows_of_weight_zero_are_absent(method):
    weights = np.repeat([1.0, 0.0, 3.0], 20)
    without = reconstruct(rows=X[weights > 0], sample_weight=weights[weights > 0], preimage=method, k=6)
    assert_allclose(reconstruct(sample_weight=weights, preimage=method, k=6), without, atol=1e-6)


def test_fixed_points_of_weighted_rows_are_those_of_repeated_rows():
    weights = np.repeat([1, 2, 3], 20)
    repeated = reconstruct(rows=np.repeat(X, weights, axis=0), preimage="fixed-point", k=6)
    assert_allclose(reconstruct(sample_weight=weights, preimage="fixed-point", k=6), repeated, atol=2e-3)


@pytest.mark.parametrize("method", METHODS)
def test_threads_and_memory_change_nothing(method):
    scores = fitted(6).transform(NEW)
    one, two = (fitted(6, preimage=method, n_jobs=jobs).inverse_transform(scores) for jobs in (1, 2))
    assert np.array_equal(one, two)
    little = fitted(6, preimage=method).set_params(memory_limit="1 MB").inverse_transform(scores)
    assert_allclose(little, one, atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_what_was_learned_stays_in_memory_and_goes_into_no_copy(method):
    model = fitted(6, preimage=method)
    scores, size = model.transform(NEW), len(pickle.dumps(model))
    found = model.inverse_transform(scores)
    known = model._preimages()
    assert np.array_equal(model.inverse_transform(scores), found) and model._preimages() is known
    assert len(pickle.dumps(model)) <= size
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):  # noqa: S301, our own
        assert not other._remembered
        assert_allclose(other.inverse_transform(scores), found, atol=1e-9)
    other = fitted(6, rows=X + 1, preimage=method)
    assert np.array_equal(model.fit(X + 1).inverse_transform(scores), other.inverse_transform(scores))


def test_edited_components_take_effect():
    model, small = fitted(10, preimage="fixed-point"), fitted(4, preimage="fixed-point")
    model.inverse_transform(model.transform(NEW))
    model.eigenvalues_, model.eigenvectors_ = model.eigenvalues_[:4], model.eigenvectors_[:, :4]
    scores = small.transform(NEW)
    assert_allclose(model.inverse_transform(scores), small.inverse_transform(scores), atol=1e-6)
    model.gamma_ = 0.5
    wider = fitted(4, preimage="fixed-point")
    wider.gamma_ = 0.5
    assert_allclose(model.inverse_transform(scores), wider.inverse_transform(scores), atol=1e-6)


# ---------------------------------------------------------------------- structured data


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "rows",
    [
        np.repeat(X[:6], 10, axis=0),
        np.column_stack([X, np.full(60, 7.0)]),
        np.eye(6)[np.arange(60) % 6],
        X + 1e6,
        1e-8 * X,
        1e8 * X,
        X[:, :1],
        np.column_stack([X, X]),
        np.random.default_rng(5).normal(size=(40, 90)),
    ],
    ids=["duplicates", "constant", "one-hot", "offset", "tiny", "huge", "one column", "rank", "wide"],
)
@pytest.mark.filterwarnings("ignore")
def test_structured_rows_lead_back_near_the_data(rows, method):
    model = KernelPCA(3, kernel="rbf", gamma="median", preimage=method).fit(rows)
    spread = np.ptp(rows, axis=0)
    for found, errors in (model.inverse_transform(model.transform(rows), return_error=True), model.denoise(rows, True)):
        assert np.isfinite(found).all() and np.isfinite(errors).all()
        assert np.all(found >= rows.min(axis=0) - spread - 1e-6) and np.all(found <= rows.max(axis=0) + spread + 1e-6)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", METHODS)
def test_one_row_leads_back_to_itself(method):
    model = KernelPCA(1, kernel="rbf", gamma=1.0, preimage=method).fit(X[:1])
    assert_allclose(model.inverse_transform(model.transform(X[:1])), X[:1], atol=1e-9)
    assert_allclose(model.denoise(X[:1]), X[:1], atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_float32_stays_float32(method):
    model = fitted(5, rows=X.astype(np.float32), preimage=method)
    new = NEW.astype(np.float32)
    found = model.inverse_transform(model.transform(new))
    assert found.dtype == np.float32 and model.denoise(new).dtype == np.float32
    assert_allclose(found, reconstruct(k=5, preimage=method), atol=5e-3)


@pytest.mark.parametrize("method", ["auto", "ridge"])
def test_counts_are_not_negative(method):
    rows = np.random.default_rng(0).poisson(1.0, size=(50, 5)).astype(float)
    model = fitted(3, rows=rows, kernel=ChiSquared(0.5), preimage=method)
    for found, errors in (model.inverse_transform(model.transform(rows), True), model.denoise(rows, True)):
        assert found.min() >= 0 and np.isfinite(errors).all()


def test_scores_far_outside_are_reported_with_their_number():
    model = fitted(3)
    scores = model.transform(X)
    model.inverse_transform(scores)
    scores[:4] *= 1e3
    with pytest.warns(MercerWarning, match="4 rows of X are far outside"):
        assert np.isfinite(model.inverse_transform(scores)).all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore:1 row of X is far outside")
def test_scores_whose_squares_overflow(method):
    with pytest.raises(DataError, match="overflows: the squares of the scores"):
        fitted(3, preimage=method).inverse_transform(np.full((1, 3), 1e300))


@pytest.mark.parametrize("scores", [np.full((2, 10), np.nan), np.ones((2, 3)), np.ones(10), np.full((1, 10), np.inf)])
def test_wrong_scores(scores):
    with pytest.raises(ValueError):
        fitted(10).inverse_transform(scores)


def table_of_values(A, B):
    """A known matrix, by the numbers of its items."""
    return RBF(0.3)(X[np.ravel(A).astype(int)], X[np.ravel(B).astype(int)])


@pytest.mark.parametrize(
    ("params", "rows", "text"),
    [
        ({"kernel": "poly", "preimage": "fixed-point"}, X, "needs a function of the Euclidean distance"),
        ({"kernel": RBF(1.0) + RBF(2.0), "preimage": "kwok-tsang"}, X, "needs a function of the Euclidean distance"),
        ({"kernel": "rbf"}, sparse.csr_array(X), r"Fit X\.toarray"),
        ({"kernel": "linear", "preimage": "ridge"}, sparse.csr_array(X), r"Fit X\.toarray"),
        ({"kernel": Blockwise(table_of_values), "preimage": "ridge"}, np.arange(60)[:, None], "items by their numbers"),
        ({"kernel": "precomputed"}, X @ X.T, "precomputed kernel matrix has none"),
        ({"kernel": Spectrum(2), "preimage": "ridge"}, VOC, "computes with rows of numbers"),
    ],
)
def test_methods_that_do_not_apply(params, rows, text):
    model = KernelPCA(2, **{"preimage": "auto"} | params).fit(rows)
    with pytest.raises(ValueError, match=text):
        model.inverse_transform(np.zeros((1, 2)))


@pytest.mark.parametrize("wrong", ["mika", 3, True, ""])
def test_unknown_methods_before_and_after_the_fit(wrong):
    with pytest.raises(ValueError, match="preimage"):
        KernelPCA(2, preimage=wrong).fit(X)
    model = fitted(2).set_params(preimage=wrong)
    for call in (lambda: model.inverse_transform(np.zeros((1, 2))), lambda: model.denoise(X)):
        with pytest.raises(ParameterError, match="must be 'auto', 'fixed-point', 'kwok-tsang' or 'ridge' or None"):
            call()


# ---------------------------------------------------------------------- denoising


@pytest.fixture(scope="module")
def noisy_digits():
    order = np.random.default_rng(7).permutation(len(DIGITS))
    return DIGITS[order[:500]], DIGITS[order[600:700]]


@pytest.mark.parametrize("fitted_to", ["clean", "noisy"])
@pytest.mark.parametrize("sigma", [0.0, 0.1, 0.25, 0.5])
def test_auto_is_not_worse_than_ridge(noisy_digits, fitted_to, sigma):
    train, truth = noisy_digits
    rng = np.random.default_rng(8)
    rows = truth + sigma * rng.normal(size=truth.shape)
    if fitted_to == "noisy":
        train = train + sigma * rng.normal(size=train.shape)
    for k in (32, 100):
        for gamma in (0.03, 0.1):
            model = KernelPCA(k, kernel="rbf", gamma=gamma, preimage="auto").fit(train)
            auto = mean_error(model.denoise(rows), truth)
            assert auto <= 1.03 * mean_error(model.set_params(preimage="ridge").denoise(rows), truth), (k, gamma)


def test_denoised_digits_are_nearer_than_by_pca_and_by_scikit_learns_best_ridge(noisy_digits):
    train, truth = noisy_digits
    rows = truth + 0.25 * np.random.default_rng(8).normal(size=truth.shape)
    found = mean_error(KernelPCA(64, kernel="rbf", gamma=0.05).fit(train).denoise(rows), truth)
    by_pca = min(mean_error(PCA(k).fit(train).denoise(rows), truth) for k in range(4, 40, 4))
    by_sklearn = []
    for alpha in (1e-3, 1e-2, 0.1, 0.3, 1.0):
        for gamma in (0.03, 0.06, 0.1):
            theirs = SklearnKernelPCA(64, kernel="rbf", gamma=gamma, fit_inverse_transform=True, alpha=alpha)
            by_sklearn.append(mean_error(theirs.fit(train).inverse_transform(theirs.transform(rows)), truth))
    assert found < 0.75 * by_pca
    assert found < 0.9 * min(by_sklearn)


def test_denoised_rings_have_their_radii():
    rows, _ = rings(200)
    model = KernelPCA(12, kernel="rbf", gamma=0.5).fit(rows)
    noisy = rows + 0.2 * np.random.default_rng(0).normal(size=rows.shape)
    radii = np.linalg.norm(rows, axis=1)
    assert np.std(np.linalg.norm(model.denoise(noisy), axis=1) - radii) < np.std(np.linalg.norm(noisy, axis=1) - radii)


# ---------------------------------------------------------------------- strings and other items


@pytest.mark.parametrize("kernel", [Spectrum(2), Spectrum(3), Spectrum(2, counts="min"), Spectrum(2, normalize="dice")])
def test_strings_come_back_from_their_scores(kernel):
    model = KernelPCA(kernel=kernel, preimage="auto").fit(VOC)
    found, errors = model.inverse_transform(model.transform(VOC[::4]), return_error=True)
    assert list(found) == list(VOC[::4])
    assert errors.max() < 1e-6


def test_misspelled_names_become_the_nearest_of_the_fit():
    model = KernelPCA(kernel=Spectrum(2)).fit(VOC)
    wrong = ["flandrs ned", "simpson hommer", "skinner sxymour"]
    assert list(model.denoise(wrong)) == ["flanders ned", "simpson homer", "skinner seymour"]


def test_the_search_finds_strings_that_are_not_in_the_fit():
    known = ["abcd", "bcda", "cdab", "dabc", "acbd", "bdac", "abab", "cdcd", "dcba"]
    model = KernelPCA(kernel=Spectrum(2, min_n=1, normalize=False), preimage="auto").fit(known)
    scores = model.transform(["abdc"])
    found, errors = model.inverse_transform(scores, return_error=True)
    assert list(found) == ["abdc"] and errors[0] < model.denoise(["abdc"], return_error=True)[1][0] - 0.1


def test_words_are_edited_as_words_and_bytes_as_bytes():
    told = ["the cat sat", "the dog sat", "a cat ran", "a dog ran", "the cat ran"]
    words = Spectrum(1, analyzer="word", normalize=False)
    for kernel in (words, 2 * words):
        model = KernelPCA(kernel=kernel, preimage="auto").fit(told)
        assert sorted(model.inverse_transform(model.transform(["a cat sat"]))[0].split()) == ["a", "cat", "sat"]
    encoded = [name.encode() for name in VOC[:10]]
    model = KernelPCA(kernel=Spectrum(2), preimage="auto").fit(encoded)
    assert list(model.inverse_transform(model.transform(encoded[:2]))) == encoded[:2]


@pytest.mark.filterwarnings("ignore")
def test_strings_without_ngrams_are_never_nearest():
    model = KernelPCA(2, kernel=Spectrum(3), preimage="auto").fit(["a", "", *VOC])
    assert all(len(name) > 2 for name in model.inverse_transform(np.zeros((1, 2))))


def test_series_sets_and_tables_lead_to_the_nearest_of_the_fit():
    series = [np.sin(np.linspace(0, 3, 20 + i) * (1 + i % 3)) for i in range(12)]
    model = KernelPCA(kernel=GlobalAlignment(), preimage="auto").fit(series)
    assert_allclose(np.ravel(model.inverse_transform(model.transform(series[:1]))[0]), series[0])
    sets = [{1, 2}, {2, 3}, {1, 2, 3}, {4, 5}, {4}]
    model = KernelPCA(2, kernel=lambda a, b: float(len(a & b)), preimage="auto").fit(sets)
    assert list(model.inverse_transform(model.transform([{4, 5}]))) == [{4, 5}] == list(model.denoise([{4, 5}]))


@pytest.mark.parametrize("kernel", [Blockwise(table_of_values), 2 * Blockwise(table_of_values)])
def test_numbers_of_items_lead_to_the_nearest_item(kernel):
    """By brute force in the feature space of the rows that the numbers stand for."""
    model, rbf = fitted(rows=np.arange(60)[:, None], kernel=kernel), fitted()
    found, errors = model.inverse_transform(model.transform(np.arange(60)[:, None]), return_error=True)
    assert np.isin(found, np.arange(60)).all()
    C = rbf.transform(X) @ (rbf.eigenvectors_ / np.sqrt(rbf.eigenvalues_)).T + 1 / 60
    K = RBF(0.3)(X, X)
    squared = 1 - 2 * C @ K + np.einsum("ij,jk,ik->i", C, K, C)[:, None]
    assert_allclose(errors, np.sqrt(getattr(kernel, "factor", 1.0) * squared.min(axis=1)), atol=1e-6)


def test_a_function_of_two_rows_leads_back_by_regression():
    model = fitted(5, kernel=Pairwise(lambda a, b: float(np.exp(-0.3 * np.sum((a - b) ** 2)))))
    twin = fitted(5, preimage="ridge")
    scores = twin.transform(NEW)
    assert_allclose(model.inverse_transform(model.transform(NEW)), twin.inverse_transform(scores), atol=1e-4)


@pytest.mark.parametrize("kernel", [Polynomial(2, 0.5, 1.0), Laplacian(0.2), Cosine()], ids=repr)
def test_other_kernels_of_rows_lead_back_by_ridge(kernel):
    model = fitted(8, kernel=kernel)
    scores = model.transform(NEW)
    found = model.inverse_transform(scores)
    assert_allclose(found, model.set_params(preimage="ridge").inverse_transform(scores))
    assert_allclose(model.set_params(preimage=None).denoise(NEW), found, atol=1e-9)
