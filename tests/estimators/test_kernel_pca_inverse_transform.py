"""From scores back to rows and texts by a fitted model: exactness, invariances, hostile data, refusals."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.decomposition import KernelPCA as Theirs
from sklearn.exceptions import NotFittedError

from mercer import PCA, IncrementalPCA, KernelPCA
from mercer.datasets import VOC, rings
from mercer.kernels import (
    RBF,
    AdditiveChiSquared,
    Blockwise,
    ChiSquared,
    Cosine,
    Laplacian,
    Linear,
    Matern,
    MinMax,
    Pairwise,
    Polynomial,
    RationalQuadratic,
    Spectrum,
)
from mercer_old.errors import BadData, MercerWarning

METHODS = ["auto", "ridge", "fixed-point", "kwok-tsang", "gradient", "conformal", "local"]
X = np.random.default_rng(0).normal(size=(60, 4)) * [2.0, 1.0, 0.5, 0.3]
NEW = np.random.default_rng(1).normal(size=(9, 4)) * [2.0, 1.0, 0.5, 0.3]
DIGITS = load_digits().data / 16


def fitted(k=10, rows=X, sample_weight=None, **params):
    return KernelPCA(k, **{"kernel": RBF(0.3), "preimage": "auto"} | params).fit(rows, sample_weight=sample_weight)


def back(new=NEW, **params):
    model = fitted(**params)
    return model.inverse_transform(model.transform(new))


# ---------------------------------------------------------------------- the linear kernel


@pytest.mark.parametrize("kernel", ["linear", Linear(), 3 * Linear()])
@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("way", [{}, {"n_landmarks": 30}, {"eigen_solver": "krylov"}, {"standardize": True}])
@pytest.mark.filterwarnings("ignore:The 4 landmarks see only")  # for certain: rows far from zero cancel
def test_the_linear_kernel_gives_the_reconstruction_of_pca(kernel, offset, way):
    model = fitted(2, rows=X + offset, kernel=kernel, **way)
    scores = model.transform(NEW + offset)
    plain = PCA(2, standardize="standardize" in way).fit(X + offset)
    truth = plain.denoise(NEW + offset)
    loose = 1e-5 if "n_landmarks" in way and offset else 1e-10
    assert_allclose(model.inverse_transform(scores), truth, atol=loose * (1 + offset * 1e-3))
    assert_allclose(model.denoise(NEW + offset), truth, atol=loose * (1 + offset * 1e-3))
    errors = model.inverse_transform(scores, return_error=True)[1]
    assert_allclose(errors, 0, atol=1e-6 * (1 + offset))


def test_sparse_rows_come_back_dense_from_the_linear_kernel():
    rows = np.abs(X) * (np.abs(X) > 0.5)
    model = fitted(2, rows=sparse.csr_array(rows), kernel="linear")
    assert_allclose(model.denoise(sparse.csr_array(rows)), PCA(2).fit(rows).denoise(rows), atol=1e-9)


@pytest.mark.parametrize("model", [PCA(2), PCA(2, whiten=True), PCA(2, standardize=True), IncrementalPCA(2)])
def test_pca_denoises_by_its_own_reconstruction(model):
    model.fit(X)
    assert_allclose(model.denoise(NEW), model.inverse_transform(model.transform(NEW)), atol=1e-12)
    assert_allclose(model.transform(model.denoise(NEW)), model.transform(NEW), atol=1e-9)


# ---------------------------------------------------------------------- rows of the fit come back


@pytest.mark.parametrize(
    "kernel", [RBF(0.3), RBF(3.0), Matern(1.5, 1.0), Matern(0.5), RationalQuadratic(), 5 * RBF(1.0)]
)
@pytest.mark.parametrize("method", ["auto", "fixed-point", "kwok-tsang", "gradient", "local"])
def test_with_all_components_rows_of_the_fit_come_back(kernel, method):
    model = fitted(None, kernel=kernel, preimage=method)
    rows, errors = model.inverse_transform(model.transform(X), return_error=True)
    assert_allclose(rows, X, atol=1e-3)
    assert errors.max() < 1e-3 * np.sqrt(kernel.diag(X[:1])[0])


@pytest.mark.parametrize("kernel", [Polynomial(2, 0.5, 1.0), Polynomial(3, 0.5, 1.0), Laplacian(0.2), Cosine()])
def test_with_all_components_gradients_find_images_of_rows(kernel):
    model = fitted(None, kernel=kernel)
    rows, errors = model.inverse_transform(model.transform(X), return_error=True)
    assert errors.max() < 2e-3 * np.sqrt(kernel.diag(X).max())
    if not isinstance(kernel, Cosine):  # which has the same image for all multiples of a row
        assert_allclose(rows, X, atol=2e-2)


def test_landmarks_that_are_all_rows_bring_them_back():
    model = fitted(None, n_landmarks=60, tol=1e-12)
    assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-2)


# ---------------------------------------------------------------------- the distance that was reached


@pytest.mark.parametrize("way", [{}, {"n_landmarks": 25}, {"n_landmarks": 25, "refine": 2}, {"standardize": True}])
@pytest.mark.parametrize("kernel", [RBF(0.3), RBF(1e-3), Polynomial(2, 0.5, 1.0), 2 * RBF(0.1) + Linear()])
def test_the_error_is_the_distance_to_the_projection_in_feature_space(kernel, way):
    """By brute force: φ − mean of all images, in coordinates of an orthonormal basis of their span."""
    weights = None if "n_landmarks" in way else np.random.default_rng(2).integers(1, 4, size=60).astype(float)
    model = fitted(4, kernel=kernel, sample_weight=weights, preimage="local", **way)
    scale = getattr(model, "scale_", 1.0)
    rows, errors = model.inverse_transform(model.transform(NEW), return_error=True)
    known = model.landmarks_ if way == {"n_landmarks": 25} else X
    everything = np.vstack([known, NEW, rows]) / scale
    K = kernel.block(everything, everything)
    values, U = np.linalg.eigh(K)
    phi = U * np.sqrt(np.maximum(values, 0))  # exact images, but for rotation
    n = len(known)
    w = np.ones(n) if weights is None else weights
    if way == {"n_landmarks": 25}:  # the plane is that of what landmarks see of all rows
        basis = np.linalg.qr(phi[:n].T)[0]
        seen = kernel.block(X, known) @ np.linalg.inv(kernel.block(known, known)) @ phi[:n]
        mean = seen.mean(axis=0)
        axes = np.linalg.svd(seen - mean, full_matrices=False)[2][:4]
        assert np.abs(basis @ (basis.T @ axes.T) - axes.T).max() < 1e-6
    else:
        mean = np.average(phi[:n], axis=0, weights=w)
        axes = np.linalg.svd(np.sqrt(w)[:, None] * (phi[:n] - mean), full_matrices=False)[2][:4]
    new, found = phi[n : n + len(NEW)], phi[n + len(NEW) :]
    projections = mean + (new - mean) @ axes.T @ axes
    truth = np.linalg.norm(projections - found, axis=1)
    assert_allclose(errors, truth, rtol=1e-3, atol=3e-7 * np.sqrt(np.abs(np.diag(K)).max()))


@pytest.mark.parametrize("k", [2, 5, 20])
def test_fixed_points_come_nearer_than_all_other_ways(k):
    model = fitted(k)
    scores, errors = model.transform(NEW), {}
    for method in METHODS:
        errors[method] = model.set_params(preimage=method).inverse_transform(scores, return_error=True)[1]
    for method in METHODS:
        assert np.all(errors["fixed-point"] <= errors[method] + 1e-4), method


def test_the_error_of_scikit_learns_way_is_told_too():
    model = KernelPCA(5, kernel="rbf", gamma=0.3, fit_inverse_transform=True, alpha=0.1).fit(X)
    theirs = Theirs(5, kernel="rbf", gamma=0.3, fit_inverse_transform=True, alpha=0.1).fit(X)
    scores = model.transform(X)
    rows, errors = model.inverse_transform(scores, return_error=True)
    assert_allclose(rows, theirs.inverse_transform(theirs.transform(X)), atol=1e-7)
    assert np.all(errors >= model.set_params(preimage="auto").inverse_transform(scores, return_error=True)[1] - 1e-6)


# ---------------------------------------------------------------------- what does not matter


@pytest.mark.parametrize("method", ["fixed-point", "kwok-tsang", "gradient", "local", "ridge", "conformal"])
def test_moved_turned_and_scaled_rows_come_back_moved_turned_and_scaled(method):
    Q = np.linalg.qr(np.random.default_rng(3).normal(size=(4, 4)))[0]
    plain = back(preimage=method)
    for factor, offset in [(1.0, 0.0), (1.0, 1e4), (1e3, -5.0), (1e-4, 0.0)]:
        rows, new = factor * X @ Q + offset, factor * NEW @ Q + offset
        found = back(new, rows=rows, kernel=RBF(0.3 / factor**2), preimage=method)
        assert_allclose((found - offset) / factor @ Q.T, plain, atol=2e-4)


@pytest.mark.parametrize("method", ["auto", "fixed-point", "gradient", "conformal"])
def test_a_row_of_weight_two_is_that_row_twice(method):
    """By the other methods copies take the places of neighbours, and of rows left out."""
    weights = np.repeat([1, 2, 3], 20)
    twice = back(rows=np.repeat(X, weights, axis=0), preimage=method, k=6)
    counted = back(sample_weight=weights.astype(float), preimage=method, k=6)
    assert_allclose(counted, twice, atol=2e-3)


@pytest.mark.parametrize("method", METHODS)
def test_rows_without_weight_are_not_there(method):
    weights = np.repeat([1.0, 0.0, 3.0], 20)
    without = back(rows=X[weights > 0], sample_weight=weights[weights > 0], preimage=method, k=6)
    assert_allclose(back(sample_weight=weights, preimage=method, k=6), without, atol=1e-6)


def test_cut_components_lead_back_from_what_is_left():
    model, small = fitted(10), fitted(4)
    model.eigenvalues_, model.eigenvectors_ = model.eigenvalues_[:4], model.eigenvectors_[:, :4]
    scores = small.transform(NEW)
    assert_allclose(model.inverse_transform(scores), small.inverse_transform(scores), atol=1e-6)


def test_threads_and_blocks_change_no_bit():
    scores = fitted(6).transform(NEW)
    for method in METHODS:
        one, two = (fitted(6, preimage=method, n_jobs=jobs).inverse_transform(scores) for jobs in (1, 2))
        assert np.array_equal(one, two)


def test_progress_is_told_and_changes_nothing(monkeypatch):
    monkeypatch.setattr("mercer_old.models.way_back._PIECE", 4)
    told, scores = [], fitted(6).transform(NEW)
    found = fitted(6).set_params(progress=told.append).inverse_transform(scores)
    assert_allclose(found, fitted(6).inverse_transform(scores), atol=1e-9)
    assert [state.words for state in told] == ["rows found"] * 3 and told[-1].share == 1


@pytest.mark.parametrize("kernel", [Polynomial(2, 0.5, 1.0), RBF(0.3)])
def test_little_memory_gives_the_same_rows(kernel):
    scores = fitted(6, kernel=kernel).transform(NEW)
    little = fitted(6, kernel=kernel).set_params(memory_limit="1 MB").inverse_transform(scores)
    assert_allclose(little, fitted(6, kernel=kernel).inverse_transform(scores), atol=1e-6)


# ---------------------------------------------------------------------- what is kept


@pytest.mark.parametrize("method", METHODS)
def test_what_was_learned_is_kept_for_the_next_question_and_in_no_copy_or_file(method):
    model = fitted(6, preimage=method)
    scores, size = model.transform(NEW), len(pickle.dumps(model))
    found = model.inverse_transform(scores)
    ways = model._kept_ways
    assert np.array_equal(model.inverse_transform(scores), found) and model._kept_ways is ways
    assert len(pickle.dumps(model)) <= size
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):  # noqa: S301, our own
        assert not hasattr(other, "_kept_ways")
        assert_allclose(other.inverse_transform(scores), found, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_another_fit_forgets_what_was_learned(method):
    model = fitted(6, preimage=method)
    model.inverse_transform(model.transform(NEW))
    scores, other = fitted(6, rows=X + 1).transform(NEW + 1), fitted(6, rows=X + 1, preimage=method)
    assert np.array_equal(model.fit(X + 1).inverse_transform(scores), other.inverse_transform(scores))


# ---------------------------------------------------------------------- hostile data


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "rows",
    [
        np.repeat(X[:6], 10, axis=0),  # copies
        np.column_stack([X, np.full(60, 7.0)]),  # a constant column
        np.eye(6)[np.arange(60) % 6],  # one-hot
        X + 1e6,
        1e-8 * X,
        1e8 * X,
        X[:, :1],
        np.column_stack([X, X]),  # rank-deficient
    ],
    ids=["copies", "constant", "one-hot", "offset", "tiny", "huge", "one column", "rank"],
)
@pytest.mark.filterwarnings("ignore")
def test_hostile_rows_lead_back_to_numbers_near_the_data(rows, method):
    model = KernelPCA(3, kernel="rbf", gamma="median", preimage=method).fit(rows)
    found, errors = model.inverse_transform(model.transform(rows), return_error=True)
    assert np.isfinite(found).all() and np.isfinite(errors).all()
    spread = np.ptp(rows, axis=0)
    assert np.all(found >= rows.min(axis=0) - spread - 1e-6) and np.all(found <= rows.max(axis=0) + spread + 1e-6)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", METHODS)
def test_one_row_leads_back_to_itself(method):
    model = KernelPCA(1, kernel="rbf", gamma=1.0, preimage=method).fit(X[:1])
    assert_allclose(model.inverse_transform(model.transform(X[:1])), X[:1], atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_single_precision_stays_single_and_near(method):
    single = X.astype(np.float32)
    model = fitted(5, rows=single, preimage=method)
    found = model.inverse_transform(model.transform(NEW.astype(np.float32)))
    assert found.dtype == np.float32
    assert_allclose(found, back(k=5, preimage=method), atol=5e-3)


def test_counts_stay_counts():
    rows = np.random.default_rng(0).poisson(3.0, size=(50, 5)).astype(float)
    model = fitted(8, rows=rows, kernel=ChiSquared(0.5), preimage="gradient")
    found, errors = model.inverse_transform(model.transform(rows), return_error=True)
    near = model.set_params(preimage="local").inverse_transform(model.transform(rows), return_error=True)[1]
    assert found.min() >= 0 and np.all(errors <= near + 1e-9)


@pytest.mark.parametrize("kernel", [ChiSquared(0.5), AdditiveChiSquared(), MinMax()])
@pytest.mark.parametrize("method", ["auto", "ridge", "conformal", "local"])
def test_no_way_leads_from_counts_below_zero(kernel, method):
    rows = np.random.default_rng(0).poisson(1.0, size=(50, 5)).astype(float)
    model = fitted(3, rows=rows, kernel=kernel, preimage=method)
    for found, errors in (model.inverse_transform(model.transform(rows), True), model.denoise(rows, True)):
        assert found.min() >= 0 and np.isfinite(errors).all()


@pytest.mark.parametrize("kernel", [Cosine(), Laplacian(1e-150)])
@pytest.mark.parametrize("method", ["auto", "conformal"])
@pytest.mark.filterwarnings("ignore")
def test_rows_whose_squares_overflow_are_refused_instead_of_answered_by_nothing(kernel, method):
    huge = np.column_stack([1e160 * X, 1e160 * X])
    with pytest.raises(BadData, match=r"overflow.*too large.*scale the data down"):
        fitted(3, rows=huge, kernel=kernel, preimage=method).denoise(huge)


# ---------------------------------------------------------------------- denoising


def test_denoising_digits_brings_them_nearer_than_pca_can():
    rng = np.random.default_rng(0)
    order = rng.permutation(len(DIGITS))
    train, clean = DIGITS[order[:600]], DIGITS[order[1000:1100]]
    noisy = clean + 0.25 * rng.normal(size=clean.shape)

    def error(rows):
        return np.mean(np.sum((rows - clean) ** 2, axis=1))

    model = KernelPCA(64, kernel="rbf", gamma=0.05).fit(train)
    ours = error(model.denoise(noisy))
    best_of_pca = min(error(PCA(k).fit(train).denoise(noisy)) for k in range(4, 40, 4))
    assert ours < 0.75 * best_of_pca < error(noisy)
    assert ours < error(model.set_params(preimage="fixed-point").denoise(noisy))


def test_denoising_rings_puts_points_back_onto_them():
    rows, _ = rings(200)
    model = KernelPCA(12, kernel="rbf", gamma=0.5).fit(rows)
    noisy = rows + 0.2 * np.random.default_rng(0).normal(size=rows.shape)
    radii = np.linalg.norm(rows, axis=1)
    assert np.std(np.linalg.norm(model.denoise(noisy), axis=1) - radii) < np.std(np.linalg.norm(noisy, axis=1) - radii)


def of_numbers(A, B):
    """A matrix that is known, asked for by the numbers of its items."""
    return RBF(0.3).block(X[np.ravel(A).astype(int)], X[np.ravel(B).astype(int)])


@pytest.mark.parametrize("kernel", [Blockwise(of_numbers), 2 * Blockwise(of_numbers)])
@pytest.mark.parametrize("method", ["auto", "local"])
@pytest.mark.parametrize("landmarks", [None, 20])
def test_numbers_of_items_lead_back_to_the_nearest_item_and_to_no_number_between(kernel, method, landmarks):
    model = fitted(rows=np.arange(60)[:, None], kernel=kernel, preimage=method, n_landmarks=landmarks)
    known = model.landmark_indices_ if landmarks else np.arange(60)
    found, errors = model.inverse_transform(model.transform(known[:, None]), return_error=True)
    assert found.shape == (len(known), 1) and np.isin(found, known).all()
    rbf = fitted(rows=X, preimage="local", n_landmarks=None)
    if landmarks is None:  # nearer than all others, by brute force
        C = rbf.transform(X) @ (rbf.eigenvectors_ / np.sqrt(rbf.eigenvalues_)).T + 1 / 60
        K = RBF(0.3).block(X, X)
        squared = 1 - 2 * C @ K + np.einsum("ij,jk,ik->i", C, K, C)[:, None]
        factor = kernel.factor if kernel.takes == "anything" and hasattr(kernel, "factor") else 1.0
        assert_allclose(errors, np.sqrt(factor * squared.min(axis=1)), atol=1e-6)


def test_a_function_of_two_rows_leads_back_by_regression():
    model = fitted(5, kernel=Pairwise(lambda a, b: float(np.exp(-0.3 * np.sum((a - b) ** 2)))))
    twin = fitted(5, preimage="ridge")
    assert_allclose(
        model.inverse_transform(model.transform(NEW)), twin.inverse_transform(twin.transform(NEW)), atol=1e-4
    )


# ---------------------------------------------------------------------- bad input


def test_without_a_method_the_way_back_is_scikit_learns():
    model = KernelPCA(2).fit(X)
    with pytest.raises(NotFittedError, match=r'fit_inverse_transform parameter was not set.*preimage="auto"'):
        model.inverse_transform(model.transform(X))
    assert model.set_params(preimage="auto").inverse_transform(model.transform(X)).shape == X.shape
    with pytest.raises(NotFittedError):
        KernelPCA(2, preimage="auto").inverse_transform(X)
    with pytest.raises(NotFittedError):
        KernelPCA(2).denoise(X)


@pytest.mark.parametrize(
    ("params", "rows", "words"),
    [
        ({"kernel": "poly", "preimage": "fixed-point"}, X, "reads Euclidean distances off the kernel"),
        ({"kernel": RBF(1.0) + RBF(2.0), "preimage": "kwok-tsang"}, X, "reads Euclidean distances off the kernel"),
        ({"kernel": Pairwise(np.dot), "preimage": "gradient"}, X, "follows the gradient"),
        ({"kernel": "rbf"}, sparse.csr_array(X), "fitted to sparse ones.*the linear kernel instead of RBF"),
        ({"kernel": "linear", "preimage": "ridge"}, sparse.csr_array(X), "fitted to sparse ones.*take preimage=.auto"),
        ({"kernel": Blockwise(of_numbers), "preimage": "ridge"}, np.arange(60)[:, None], "items by their numbers"),
        ({"kernel": "precomputed"}, X @ X.T, "precomputed kernel matrix has none"),
        ({"kernel": Spectrum(2), "preimage": "ridge"}, VOC, "computes with rows of numbers"),
    ],
)
def test_what_a_method_cannot_do_is_told_in_a_sentence(params, rows, words):
    model = KernelPCA(2, **{"preimage": "auto"} | params).fit(rows)
    with pytest.raises(ValueError, match=words) as error:
        model.inverse_transform(np.zeros((1, 2)))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("wrong", ["mika", 3, True, ""])
def test_other_methods_are_refused_before_the_fit_and_after_it(wrong):
    with pytest.raises(ValueError, match="preimage"):
        KernelPCA(2, preimage=wrong).fit(X)
    model = fitted(2).set_params(preimage=wrong)
    with pytest.raises(ValueError, match=r"preimage=.* is no way back: take auto, .* or ridge, or None"):
        model.inverse_transform(np.zeros((1, 2)))
    with pytest.raises(ValueError, match="is no way back"):
        model.denoise(X)


def test_scikit_learns_way_is_not_there_if_it_was_asked_for_after_the_fit():
    model = KernelPCA(2).fit(X).set_params(fit_inverse_transform=True)
    with pytest.raises(NotFittedError, match="fit_inverse_transform"):
        model.inverse_transform(np.zeros((1, 2)))
    learned = KernelPCA(2, fit_inverse_transform=True).fit(X).set_params(fit_inverse_transform=False)
    with pytest.raises(NotFittedError, match="fit_inverse_transform"):
        learned.inverse_transform(np.zeros((1, 2)))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore:1 row of X is far outside")
def test_scores_whose_squares_overflow_are_refused(method):
    with pytest.raises(BadData, match="overflow: scores of X"):
        fitted(3, preimage=method).inverse_transform(np.full((1, 3), 1e300))


@pytest.mark.parametrize("scores", [np.full((2, 10), np.nan), np.ones((2, 3)), np.ones(10), np.full((1, 10), np.inf)])
def test_wrong_scores_are_refused(scores):
    with pytest.raises(ValueError):
        fitted(10).inverse_transform(scores)


def test_scores_that_nobody_has_are_warned_of_with_their_number():
    model = fitted(3)
    scores = model.transform(X)
    model.inverse_transform(scores)
    scores[:4] *= 1e3
    with pytest.warns(MercerWarning, match="4 rows of X are far outside"):
        assert np.isfinite(model.inverse_transform(scores)).all()
