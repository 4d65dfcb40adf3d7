"""Exact kernel PCA: against 60-digit arithmetic, the textbook formulas, the first edition and scikit-learn."""

import pickle
import warnings

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator
from sklearn.datasets import load_digits, make_swiss_roll
from sklearn.decomposition import PCA as TheirPCA
from sklearn.decomposition import KernelPCA as Theirs
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.manifold import Isomap
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from mercer.errors import DataError, MercerWarning, ParameterError
from mercer.estimators import KernelPCA
from mercer.kernels.base import Blockwise
from mercer.kernels.distance import RBF, Laplacian, Matern
from mercer.kernels.dot import Linear, Polynomial
from mercer_old.models.kernel_pca import KernelPCA as FirstEdition
from support.exact_kernels import exact
from support.matrices import indefinite_matrix

rng = np.random.default_rng(0)
X, NEW = rng.normal(size=(90, 3)), rng.normal(size=(7, 3))
SOME, MANY = rng.normal(size=(700, 4)), rng.normal(size=(2300, 3))
HOLED = np.arange(90 * 90).reshape(90, 90) == 5 * 90 + 7
quiet = pytest.mark.filterwarnings("ignore::mercer.errors.MercerWarning")


# ---------------------------------------------------------------------- exact arithmetic


def exact_eigenvalues(kernel, rows, weights):
    """Of the centered matrix of rows that are repeated `weights` times, in 60 digits."""
    n = len(rows)
    with mpmath.workdps(60):
        points = [[mpmath.mpf(float(value)) for value in row] for row in rows]
        w = [mpmath.mpf(int(weight)) for weight in weights]
        K = mpmath.matrix(n, n)
        for i in range(n):
            for j in range(i + 1):
                K[i, j] = K[j, i] = exact(kernel, points[i], points[j])
        total = mpmath.fsum(w)
        means = [mpmath.fsum(w[j] * K[i, j] for j in range(n)) / total for i in range(n)]
        mean = mpmath.fsum(w[i] * means[i] for i in range(n)) / total
        A = mpmath.matrix(n, n)
        for i in range(n):
            for j in range(n):
                A[i, j] = mpmath.sqrt(w[i] * w[j]) * (K[i, j] - means[i] - means[j] + mean)
        return sorted(mpmath.eigsy(A, eigvals_only=True), reverse=True)


BASE = rng.normal(size=(12, 3))
ROWS = {
    "normal": BASE,
    "offset 1e6": BASE + 1e6,
    "offset 1e8": BASE + 1e8,
    "clusters": np.repeat(BASE[:3], 4, axis=0) + 1e-5 * BASE,
    "ties": np.vstack([np.eye(3), -np.eye(3), 2 * np.eye(3), -2 * np.eye(3)]),
    "outlier": np.vstack([BASE[:-1], [[1e3, 0, 0]]]),
    "tiny": 1e-6 * BASE,
}
KERNELS = {
    "rbf": RBF(0.3),
    "rbf, wide": RBF(1e-9),
    "rbf, narrow": RBF(1e4),
    "linear": Linear(),
    "poly": Polynomial(degree=2, gamma=0.5, coef0=1.0),
    "laplacian": Laplacian(0.3),
    "matern": Matern(1.5),
}
FITS = {
    "LAPACK": (1, dict(eigen_solver="dense")),
    "stored": (60, dict()),  # repetitions of each row
    "Krylov": (60, dict(eigen_solver="krylov")),
    "weighted": (0, dict()),
}


@pytest.fixture(scope="module")
def truth():
    return {}


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("data", ROWS)
@quiet
def test_intervals_contain_the_exact_eigenvalues(data, name, fit, truth):
    repetitions, params = FITS[fit]
    rows, kernel = ROWS[data], KERNELS[name]
    weights = np.full(12, repetitions) if repetitions else np.arange(1, 13)
    key = data, name, fit
    values = exact_eigenvalues(kernel, rows, weights)
    if repetitions:
        model = KernelPCA(4, kernel=kernel, **params).fit(np.repeat(rows, repetitions, axis=0))
    else:
        model = KernelPCA(4, kernel=kernel, **params).fit(rows, sample_weight=weights)
    certificate = model.certificate_
    for lower, upper, value in zip(certificate.lower.tolist(), certificate.upper.tolist(), values, strict=False):
        assert lower <= value <= upper, key
    beyond = values[certificate.n_components]
    assert beyond <= certificate.bound_beyond
    floor = 1e-11 if "offset" not in data or name == "linear" else 1.0
    errors = np.abs(model.eigenvalues_ - np.array([float(value) for value in values[:4]]))
    size = float(values[0])
    assert errors.max() <= max(floor * size, float(np.max(certificate.upper - certificate.lower)))


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e7])
def test_the_linear_kernel_far_from_zero_is_pca(offset):
    far = X + offset
    moved = far - far[0]  # exact
    model = KernelPCA(3).fit(far)
    reference = TheirPCA(3).fit(moved)
    assert_allclose(model.explained_variance_, reference.explained_variance_, rtol=1e-12)
    assert np.max(model.certificate_.upper / model.certificate_.lower - 1) < 1e-9
    assert_allclose(np.abs(model.transform(far)), np.abs(reference.transform(moved)), atol=1e-8)
    assert_allclose(model.transform(far), model.fit_transform(far), atol=1e-8)


# ---------------------------------------------------------------------- the first edition


DATA = {
    "normal": X,
    "duplicates": np.repeat(X[:12], 5, axis=0),
    "one-hot": np.eye(5)[rng.integers(0, 5, 60)],
    "huge": X * 1e100,
    "tiny": X * 1e-150,
    "wide": rng.normal(size=(30, 200)),
    "sparse": sparse.random_array((60, 20), density=0.3, format="csr", rng=rng),
    "float32": X.astype(np.float32),
    "some": SOME,
    "many": MANY,
}
PARAMETERS = {
    "linear": dict(n_components=3),
    "rbf": dict(kernel="rbf", n_components=3),
    "median": dict(kernel="rbf", gamma="median", n_components=2),
    "standardized": dict(kernel="rbf", standardize=True, n_components=3),
    "poly": dict(kernel="poly", n_components=3),
    "cosine": dict(kernel="cosine", n_components=2),
    "sigmoid": dict(kernel="sigmoid", n_components=2),
    "fraction": dict(kernel="rbf", n_components=0.5),
}


@pytest.mark.parametrize("params", PARAMETERS.values(), ids=PARAMETERS)
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("weighted", [False, True])
@quiet
@pytest.mark.filterwarnings("ignore::mercer_old.errors.MercerWarning")
def test_the_first_edition_is_within_both_certificates(data, params, weighted):
    if data == "many" and (weighted or "n_components" not in params):
        pytest.skip("long")
    rows = DATA[data]
    weights = np.random.default_rng(1).integers(0, 4, size=rows.shape[0]) if weighted else None
    first, second = (cls(**params) for cls in (FirstEdition, KernelPCA))
    try:
        first.fit(rows, sample_weight=weights)
    except ValueError:
        with pytest.raises(ValueError):
            second.fit(rows, sample_weight=weights)
        return
    scores = second.fit_transform(rows, sample_weight=weights)
    assert second.eigenvalues_.shape == first.eigenvalues_.shape
    lower = np.maximum(first.certificate_.lower, second.certificate_.lower)
    upper = np.minimum(first.certificate_.upper, second.certificate_.upper)
    room = 1e-6 if data == "float32" else 1e-12
    assert np.all(lower <= upper * (1 + room) + room * upper.max())
    assert_allclose(second.transform(rows), scores, atol=1e-5 * max(np.abs(scores).max(), 1e-300))
    expected = first.explained_variance_ratio_
    assert_allclose(second.explained_variance_ratio_, expected, rtol=1e-5, atol=1e-9, equal_nan=True)


# ---------------------------------------------------------------------- kinds of input


@pytest.mark.parametrize("rows", [X, SOME], ids=len)
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array, aslinearoperator], ids=["array", "csr", "operator"])
@quiet
def test_a_precomputed_matrix_gives_the_same_model(rows, convert):
    kernel = RBF(0.5)
    plain, given = KernelPCA(3, kernel=kernel).fit(rows), KernelPCA(3, kernel="precomputed")
    scores = given.fit_transform(convert(kernel(rows, rows)))
    assert_allclose(scores, plain.transform(rows), atol=1e-7)
    assert_allclose(given.transform(kernel(rows[:5] + 0.1, rows)), plain.transform(rows[:5] + 0.1), atol=1e-7)


def test_new_rows_of_a_matrix_may_come_as_an_operator():
    kernel, weights = RBF(0.1), np.arange(90) % 3
    K, new = kernel(X, X), kernel(NEW, X)
    by_matrix = KernelPCA(3, kernel="precomputed").fit(K, sample_weight=weights)  # without rows of weight zero
    assert_allclose(by_matrix.transform(aslinearoperator(new)), by_matrix.transform(new), atol=1e-12)
    by_operator = KernelPCA(3, kernel="precomputed").fit(aslinearoperator(K), sample_weight=1 + weights)
    assert_allclose(by_operator.transform(aslinearoperator(new)), by_operator.transform(new), atol=1e-12)
    with pytest.raises(DataError, match="X has 5 features, but KernelPCA is expecting 90 features"):
        by_operator.transform(aslinearoperator(new[:, :5]))
    with pytest.raises(DataError, match="Pass the operator of the other rows"):
        by_operator.fit(aslinearoperator(K), sample_weight=weights)
    with pytest.raises(DataError, match="Complex data not supported"):
        by_operator.fit(aslinearoperator(1j * K))


def test_weights_of_zero_leave_rows_and_columns_of_a_matrix_out():
    weights = np.ones(90)
    weights[[3, 17]] = 0
    K = RBF(0.5)(X, X)
    given = KernelPCA(3, kernel="precomputed")
    scores = given.fit_transform(K, sample_weight=weights)
    expected = KernelPCA(3, kernel=RBF(0.5)).fit(np.delete(X, [3, 17], axis=0)).transform(X)
    assert_allclose(scores, expected, atol=1e-9)
    assert given.training_set().indices.tolist() == np.delete(np.arange(90), [3, 17]).tolist()


@pytest.mark.parametrize("rows", [X, SOME, MANY], ids=len)
@pytest.mark.parametrize(
    "params", [dict(kernel="rbf", gamma=0.1), dict(), dict(kernel="laplacian", gamma=0.1)], ids=str
)
@quiet
def test_weights_are_repetitions(rows, params):
    weights = np.random.default_rng(2).integers(0, 3, size=len(rows))
    weighted = KernelPCA(2, **params).fit(rows, sample_weight=weights)
    repeated = KernelPCA(2, **params).fit(np.repeat(rows, weights, axis=0))
    assert_allclose(weighted.eigenvalues_, repeated.eigenvalues_, rtol=1e-9)
    assert_allclose(weighted.explained_variance_ratio_, repeated.explained_variance_ratio_, rtol=1e-9)
    assert_allclose(weighted.transform(rows[:9]), repeated.transform(rows[:9]), atol=1e-6)


def test_objects_are_compared_by_a_function():
    words = ["abc", "bcd", "xyz", "abx", "cdd", "zzy"]

    def common(a, b):
        return float(len(set(a) & set(b)))

    model = KernelPCA(2, kernel=common).fit(words)
    K = np.array([[common(a, b) for b in words] for a in words])
    assert_allclose(model.eigenvalues_, KernelPCA(2, kernel="precomputed").fit(K).eigenvalues_, rtol=1e-10)
    assert model.transform(["abc"]).shape == (1, 2)
    assert model.input_kind == "objects"


@quiet
def test_float32_in_float32_out():
    single, double = KernelPCA(3, kernel="rbf").fit(X.astype(np.float32)), KernelPCA(3, kernel="rbf").fit(X)
    assert single.eigenvectors_.dtype == single.transform(X.astype(np.float32)).dtype == np.float32
    assert single.transform(X).dtype == np.float64
    assert_allclose(single.eigenvalues_, double.eigenvalues_, rtol=1e-5)


@pytest.mark.parametrize("params", [dict(kernel="rbf"), dict(), dict(kernel="rbf", n_landmarks=60)], ids=str)
def test_eigenvalues_in_float32_lie_in_their_intervals(params):
    model = KernelPCA(3, **params)
    for seed in range(5):
        model.fit(np.random.default_rng(seed).normal(size=(100, 4)).astype(np.float32))
        values, certificate = model.eigenvalues_.astype(np.float64), model.certificate_
        assert (certificate.lower <= values).all() and (values <= certificate.upper).all()
        assert (certificate.upper - certificate.lower >= 1e-7 * values).all()


# ---------------------------------------------------------------------- what a fitted model can do


@pytest.mark.parametrize("params", [dict(kernel="rbf"), dict(), dict(kernel="poly"), dict(kernel="cosine")], ids=str)
@pytest.mark.parametrize("standardize", [False, True])
@quiet
def test_methods_agree_with_their_definitions(params, standardize):
    model = KernelPCA(3, standardize=standardize, **params).fit(X)
    scale = model.scale_ if standardize else 1.0
    kernel, rows, new = model.kernel_, X / scale, NEW / scale
    K, K_new = kernel(rows, rows), kernel(new, rows)
    alpha = model.eigenvectors_ / np.sqrt(model.eigenvalues_)
    functions = K_new @ alpha
    scores = (K_new - K.mean(axis=0)) @ alpha - (K_new.mean(axis=1)[:, None] - K.mean()) @ alpha.sum(axis=0)[None]
    assert_allclose(model.component_functions(NEW), functions, atol=1e-10 * np.abs(functions).max())
    assert_allclose(model.transform(NEW), scores, atol=1e-10 * np.abs(scores).max())
    norms = kernel.diag(new) - 2 * K_new.mean(axis=1) + K.mean()
    q = norms - (scores**2).sum(axis=1)
    found = model.project(NEW, rounding=True)
    assert_allclose(found.scores, scores, atol=1e-10 * np.abs(scores).max())
    assert_allclose(found.q, q, atol=1e-9 * norms.max())
    assert np.all(np.abs(found.scores - scores) <= found.scores_error + 1e-13 * np.abs(scores).max())
    assert_allclose(model.score(NEW), (scores**2).sum() / norms.sum(), rtol=1e-9)
    assert_allclose(model.score(X), model.explained_variance_ratio_.sum(), rtol=1e-9)
    assert_allclose(model.expansion().evaluate(NEW), functions, atol=1e-10 * np.abs(functions).max())
    assert_allclose(model.training_set().samples, X, rtol=1e-14)
    theirs = model.to_sklearn()
    assert_allclose(theirs.transform(NEW), scores, atol=1e-9 * np.abs(scores).max())
    assert_allclose(model._get_kernel(NEW, X), K_new, rtol=1e-12)
    centered = K_new - K.mean(axis=0) - K_new.mean(axis=1)[:, None] + K.mean()
    assert_allclose(model._centerer.transform(K_new.copy()), centered, atol=1e-10 * np.abs(K).max())
    copy = pickle.loads(pickle.dumps(model))  # noqa: S301
    assert_array_equal(copy.transform(NEW), model.transform(NEW))


@quiet
def test_edits_of_fitted_attributes_take_effect():
    for params in (dict(kernel="rbf"), dict(), dict(kernel="poly", degree=2)):
        model = KernelPCA(3, **params).fit(X)
        scores = model.transform(NEW)
        model.eigenvectors_, model.eigenvalues_ = model.eigenvectors_[:, [2, 0]], model.eigenvalues_[[2, 0]]
        assert_allclose(model.transform(NEW), scores[:, [2, 0]], atol=1e-12)
        model.eigenvectors_ *= -1  # in place
        assert_allclose(model.transform(NEW), -scores[:, [2, 0]], atol=1e-12)
        model.eigenvectors_ = model.eigenvectors_[:, :1]
        with pytest.raises(DataError, match="Set both attributes"):
            model.transform(NEW)


@quiet
def test_neighbors_follow_attributes_whose_address_was_used_before():
    model = KernelPCA(3, kernel="rbf").fit(X)
    for column in (0, 1, 2, 1, 0):
        model.kneighbors(NEW)
        U = model.eigenvectors_.copy()
        model.eigenvectors_ = U * 0.0
        model.eigenvectors_ = np.roll(U, column, axis=0)
        fresh = pickle.loads(pickle.dumps(model))  # noqa: S301
        assert_array_equal(model.kneighbors(NEW)[1], fresh.kneighbors(NEW)[1])


@pytest.mark.parametrize("space", ["components", "kernel"])
@quiet
def test_neighbors_are_those_of_all_distances(space):
    model = KernelPCA(2, kernel="rbf", gamma=0.5).fit(X)
    if space == "components":
        there, here = model.transform(X), model.transform(NEW)
        D = np.sqrt(((here[:, None] - there) ** 2).sum(axis=2))
    else:
        D = np.sqrt(2 - 2 * RBF(0.5)(NEW, X))
    distances, indices = model.kneighbors(NEW, 4, space=space)
    assert_array_equal(indices, np.argsort(D, axis=1)[:, :4])
    assert_allclose(distances, np.sort(D, axis=1)[:, :4], atol=1e-7)
    own = model.kneighbors(n_neighbors=1, space=space, return_distance=False)[:, 0]
    assert np.all(own != np.arange(90))
    with pytest.raises(ParameterError, match="n_neighbors"):
        model.kneighbors(NEW, 91)


@quiet
def test_the_inverse_is_that_of_scikit_learn():
    params = dict(kernel="rbf", gamma=0.3, fit_inverse_transform=True, alpha=0.01)
    ours, theirs = KernelPCA(5, **params).fit(X), Theirs(5, eigen_solver="dense", **params).fit(X)
    expected = theirs.inverse_transform(theirs.transform(NEW))
    assert_allclose(ours.inverse_transform(ours.transform(NEW)), expected, atol=1e-8)
    weights = np.random.default_rng(3).integers(1, 3, size=90)
    weighted = KernelPCA(5, **params).fit(X, sample_weight=weights)
    repeated = KernelPCA(5, **params).fit(np.repeat(X, weights, axis=0))
    scores = weighted.transform(NEW)
    assert_allclose(weighted.inverse_transform(scores), repeated.inverse_transform(scores), atol=1e-6)
    with pytest.raises(NotFittedError, match="fit_inverse_transform"):
        KernelPCA(2).fit(X).inverse_transform(NEW[:, :2])


# ---------------------------------------------------------------------- number of components


@pytest.mark.parametrize("rows", [X, SOME], ids=len)
@quiet
def test_a_fraction_takes_as_few_components_as_reach_it(rows):
    ratios = KernelPCA(kernel="rbf", gamma=1.0).fit(rows).explained_variance_ratio_.cumsum()
    for fraction in (0.2, 0.6, 0.97):
        model = KernelPCA(fraction, kernel="rbf", gamma=1.0).fit(rows)
        assert model.n_components_ == np.searchsorted(ratios, fraction - 1e-12) + 1
        assert model.certificate_.converged
    tie = float(ratios[4])
    assert KernelPCA(tie, kernel="rbf", gamma=1.0).fit(rows).n_components_ == 5


def test_parameters_of_kernels_are_searched_in_a_grid():
    target = np.linalg.norm(X, axis=1) < 1.5  # not linear in X
    steps = make_pipeline(KernelPCA(10, kernel=RBF(1.0) + Linear()), LogisticRegression())
    grid = {"kernelpca__kernel__left__gamma": [1e-6, 0.3], "kernelpca__n_components": [1, 10]}
    search = GridSearchCV(steps, grid, error_score="raise", cv=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MercerWarning)  # nearly constant kernels are a part of the grid
        search.fit(X, target)
    assert search.best_params_["kernelpca__kernel__left__gamma"] == 0.3
    assert search.best_estimator_[0].kernel_.left.gamma == 0.3 and steps[0].kernel.left.gamma == 1.0
    model = KernelPCA(2, kernel=RBF(1.0)).set_params(kernel__gamma=0.2)
    assert_allclose(model.fit(X).eigenvalues_, KernelPCA(2, kernel="rbf", gamma=0.2).fit(X).eigenvalues_)
    with pytest.raises(ValueError, match="'kernel__gamma': kernel='rbf' has no parameters"):
        KernelPCA(kernel="rbf").set_params(kernel__gamma=1.0)


@quiet
def test_rules():
    spread = np.vstack([X + shift for shift in 8 * np.eye(3)])
    assert KernelPCA("elbow", kernel="rbf", gamma=0.05).fit(spread).n_components_ == 2
    model = KernelPCA(kernel="rbf", gamma=0.05).fit(spread)
    n = len(spread) - 1
    stick = np.array([(1 / np.arange(i, n + 1)).sum() / n for i in range(1, n + 1)])
    expected = np.argmin(model.explained_variance_ratio_ > stick[: model.n_components_])
    assert KernelPCA("broken-stick", kernel="rbf", gamma=0.05).fit(spread).n_components_ == expected
    common = rng.normal(size=(150, 1)) + 0.1 * rng.normal(size=(150, 6))
    assert KernelPCA("parallel").fit(common).n_components_ == 1
    with pytest.raises(ParameterError, match="permutes"):
        KernelPCA("parallel", kernel="rbf").fit(X, sample_weight=np.full(90, 2.0))


# ---------------------------------------------------------------------- warnings and errors


def found(model):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X if not hasattr(model, "rows") else model.rows)
    assert {str(w.message) for w in caught} == {str(w) for w in model.fit_warnings_}
    return {w.severity: {remedy.parameter for remedy in w.remedies} for w in model.fit_warnings_}


def test_warnings_of_scale_have_severities_and_remedies():
    assert found(KernelPCA(2, kernel="rbf", gamma=1e8)) == {"meaningless": {"standardize", "gamma"}}
    assert found(KernelPCA(2, kernel="rbf", gamma=1e-8)) == {"caution": {"standardize", "gamma"}}
    assert found(KernelPCA(2, kernel=RBF(1e-8), standardize=True)) == {"caution": set()}
    assert found(KernelPCA(1, kernel="rbf", gamma=0.3)) == {}
    unit = KernelPCA(1, kernel="rbf", gamma=1e-6)
    unit.rows = X * [1, 1, 1e3]
    assert found(unit) == {"caution": {"standardize"}}
    same = KernelPCA(1, kernel="rbf")
    same.rows = np.ones((30, 2))
    assert found(same) == {"meaningless": set()}


@pytest.mark.parametrize("solver", ["dense", "auto", "krylov"])
@pytest.mark.parametrize("n", [300, 700])
@quiet
def test_an_indefinite_matrix_is_reported(solver, n):
    model = KernelPCA(3, kernel="precomputed", eigen_solver=solver).fit(indefinite_matrix(n, rng))
    assert any("not positive semi-definite" in warning.summary for warning in model.fit_warnings_)
    assert np.isnan(model.explained_variance_ratio_).all()


@pytest.mark.parametrize(
    ("params", "rows", "message"),
    [
        (dict(kernel="precomputed"), X, "must be a square matrix"),
        (dict(kernel="precomputed"), aslinearoperator(np.triu(np.ones((9, 9)))), "LinearOperator is not symmetric"),
        (dict(kernel=Blockwise(lambda A, B: A @ B.T + np.arange(len(A))[:, None])), X, "not symmetric"),
        (dict(kernel=lambda x, y: float("nan")), X, "returned nan"),
        (dict(kernel=lambda x, y: x), X, "array of shape"),
        (dict(kernel=lambda x, y: complex(x @ y)), X, "which is not a real number"),
        (dict(kernel=Blockwise(lambda A, B: A @ B.T)), (X * 1e30).astype(np.float32), r"Try X.astype\(np.float64\)"),
        (dict(kernel="sigmoid", gamma=2.0, n_components=80), X, "Use similarities, not distances"),
        (dict(kernel="precomputed"), np.where(HOLED, np.nan, X @ X.T), "index 5, column 7. Compute the entry of this"),
        (dict(kernel="precomputed"), sparse.csr_array(np.where(HOLED, np.nan, X @ X.T)), "Compute the entry of this"),
        (dict(kernel="precomputed"), np.where(HOLED, np.inf, X @ X.T), "contains infinity"),
        (dict(kernel="precomputed"), aslinearoperator(np.where(HOLED, np.nan, X @ X.T)), "Check its matvec"),
        (dict(kernel="poly", degree=5, gamma=1.0), X * 1e100, "overflows"),
        (dict(kernel="poly", degree=5, gamma=1.0), (X * 1e30).astype(np.float32), "float32"),
        (dict(), X * 1e200, "not finite"),
        (dict(kernel="precomputed", standardize=True), X @ X.T, "standardize=True divides columns"),
        (dict(kernel="rbf", n_landmarks=5, landmarks=[0, 1]), X, "not both"),
        (dict(kernel="precomputed", fit_inverse_transform=True), X @ X.T, "Cannot fit_inverse_transform"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_kernels_and_contradictions_have_one_message_each(params, rows, message):
    model = KernelPCA(**{"n_components": 2} | params)
    with pytest.raises(ValueError, match=message):
        model.fit(rows)
    assert not hasattr(model, "eigenvalues_")


@pytest.mark.parametrize("n", [60, 700])
def test_a_missing_value_between_new_and_training_samples_has_its_place(n):
    rows = SOME[:n]
    model = KernelPCA(2, kernel="precomputed").fit(rows @ rows.T)
    K = rows[:9] @ rows.T
    K[3, 4] = np.nan
    with pytest.raises(DataError, match="row index 3, column 4") as error:
        model.transform(K)
    assert "ProbabilisticPCA" not in str(error.value)


@quiet
def test_a_failed_fit_leaves_the_model_as_it_was():
    model = KernelPCA(2, kernel="poly", degree=5, gamma=1.0).fit(X)
    before = model.transform(NEW)
    with pytest.raises(DataError):
        model.fit(X * 1e100)
    assert_array_equal(model.transform(NEW), before)


def test_isomap_with_this_kernel_pca_has_the_same_embedding_and_no_warning(monkeypatch):
    """Its kernel matrix is not positive semi-definite, which is a note of the fit."""
    X, _ = make_swiss_roll(200, random_state=0)
    expected = Isomap(n_components=2, n_neighbors=10).fit_transform(X)
    monkeypatch.setattr("sklearn.manifold._isomap.KernelPCA", KernelPCA)
    isomap = Isomap(n_components=2, n_neighbors=10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = isomap.fit_transform(X)
    assert_allclose(np.abs(found), np.abs(expected), atol=1e-9)
    (note,) = isomap.kernel_pca_.fit_warnings_
    assert note.severity == "note" and "not positive semi-definite" in note.summary


@pytest.mark.parametrize("n", [600, 1500])
def test_matrices_that_stay_in_the_cache_are_certified(n):
    """A slowly falling spectrum: probes alone would not exclude another eigenvalue."""
    rows = np.random.default_rng(0).normal(size=(n, 10)) * 0.9 ** np.arange(10)
    model = KernelPCA(10, kernel="rbf", gamma=0.1).fit(rows)
    assert model.plan_.route == "stored" and model.certificate_.certified and model.certificate_.n_complete == 10


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("factor", "what"), [(1e200, "overflow"), (1e-160, "underflow"), (1e-300, "underflow")])
def test_columns_whose_squares_over_or_underflow_are_not_standardized(factor, what):
    with pytest.raises(DataError, match=f"squares of the columns {what}"):
        KernelPCA(2, kernel="rbf", standardize=True).fit(factor * X)


@pytest.mark.filterwarnings("error")
def test_rows_of_weight_zero_in_files_are_left_out(tmp_path):
    """Files are read after the weights are known; scores of rows that are left out are those of new rows."""
    X, weights = np.random.default_rng(0).normal(size=(600, 3)), np.arange(600) % 3.0
    np.save(tmp_path / "X.npy", X)
    model, expected = KernelPCA(2, kernel="rbf"), KernelPCA(2, kernel="rbf")
    scores = model.fit_transform(tmp_path / "X.npy", sample_weight=weights)
    np.testing.assert_allclose(scores, expected.fit_transform(X, sample_weight=weights), atol=1e-8)
    np.testing.assert_array_equal(model.X_fit_, X[weights > 0])


def test_a_fraction_of_the_variance_is_complete_however_many_components_it_takes():
    """A second search from the vectors of the first would not show that nothing was missed."""
    for fraction in (0.5, 0.7):
        model = KernelPCA(fraction, kernel="rbf", gamma="median").fit(load_digits().data)
        assert len(model.eigenvalues_) > 10 and model.certificate_.certified
        assert model.explained_variance_ratio_[:-1].sum() < fraction <= model.explained_variance_ratio_.sum()
