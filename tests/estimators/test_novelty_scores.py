"""What the detector measures: Hoffmann's error by explicit features, T² by the covariance, whatever the model is."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from mercer import PCA, IncrementalPCA, KernelPCA, NoveltyDetector
from mercer.datasets import OOV, VOC, moons
from mercer.kernels import RBF, Laplacian, Polynomial, Spectrum, TableKernel
from mercer.textbook import gram_matrix, kernel_pca, rbf_kernel, sum_of_projections

rng = np.random.default_rng(0)
X, NEW = rng.normal(size=(40, 3)) @ np.diag([3.0, 1.0, 0.3]), 2 * rng.normal(size=(11, 3))


def fitted(model, statistic="reconstruction", train=X, calibration=X[:20], **how):
    return NoveltyDetector(model.fit(train), statistic=statistic, prefit=True, **how).fit(calibration)


def residuals_of(features, new, k):
    """‖φ̃ − VVᵀφ̃‖² and T², by the singular vectors of explicit features."""
    moved, new = features - features.mean(axis=0), new - features.mean(axis=0)
    _, sigma, Vt = np.linalg.svd(moved, full_matrices=False)
    scores = new @ Vt[:k].T
    left = new - scores @ Vt[:k]
    return np.sum(left**2, axis=1), np.sum(scores**2 / (sigma[:k] ** 2 / (len(features) - 1)), axis=1)


def quadratic(X):
    """Of (xᵀy + 1)²: all products, the coordinates times √2, and 1."""
    products = [X[:, i] * X[:, j] for i in range(3) for j in range(3)]
    return np.column_stack([*products, np.sqrt(2) * X, np.ones(len(X))])


@pytest.mark.parametrize("how", [{}, {"eigen_solver": "dense"}, {"landmarks": np.arange(40)}], ids=list)
@pytest.mark.filterwarnings("ignore:30 of the 40 landmarks were left out")  # there are ten features
def test_hoffmanns_error_is_that_of_the_explicit_feature_map(how):
    model = KernelPCA(4, kernel=Polynomial(2, 1.0, 1.0), **how)
    q, t2 = residuals_of(quadratic(X), quadratic(NEW), 4)
    assert_allclose(-fitted(model).score_samples(NEW), q, rtol=1e-7, atol=1e-9 * q.max())
    assert_allclose(-fitted(model, "t2").score_samples(NEW), t2, rtol=1e-6)


ALIKE = {
    "rbf": (RBF(0.2), X, NEW),
    "laplacian": (Laplacian(0.3), X, NEW),
    "texts": (Spectrum(2), np.array(VOC, dtype=object), np.array(OOV, dtype=object)),
}


@pytest.mark.parametrize("landmarks", [False, True])
@pytest.mark.parametrize(("kernel", "items", "new"), ALIKE.values(), ids=ALIKE)
def test_hoffmanns_error_by_coordinates_with_the_same_gram_matrix(kernel, items, new, landmarks):
    """√K of old and new items together has rows with the kernel's inner products: as good as the feature map."""
    both = np.concatenate([items, new])
    values, vectors = np.linalg.eigh(kernel.block(both, both))
    features = vectors * np.sqrt(np.maximum(values, 0))
    q, t2 = residuals_of(features[: len(items)], features[len(items) :], 5)
    model = KernelPCA(5, kernel=kernel, **({"landmarks": np.arange(len(items))} if landmarks else {}))
    found = fitted(model, train=items, calibration=items).statistics(new)
    assert_allclose(found, np.column_stack([t2, q]), rtol=1e-6)


def test_weights_of_the_model_are_copies_of_rows():
    weights = rng.integers(1, 4, size=40)
    model, copies = KernelPCA(3, kernel=RBF(0.2)), KernelPCA(3, kernel=RBF(0.2)).fit(np.repeat(X, weights, axis=0))
    model.fit(X, sample_weight=weights)
    scores = [NoveltyDetector(one, prefit=True).fit(X).statistics(NEW) for one in (model, copies)]
    assert_allclose(scores[0], scores[1], rtol=1e-8)


@pytest.mark.parametrize("model", [PCA(2), IncrementalPCA(2), PCA(2, whiten=True)], ids=repr)
def test_pca_has_the_covariances_t2_and_the_distance_from_the_plane(model):
    q, t2 = residuals_of(X, NEW, 2)
    detector = fitted(model)
    assert_allclose(detector.statistics(NEW), np.column_stack([t2, q]), rtol=1e-8)
    assert_allclose(detector.score_samples(NEW), -q, rtol=1e-9)
    left = model.total_variance_ - model.explained_variance_.sum()
    assert_allclose(fitted(model, "t2q").score_samples(NEW), -(t2 / 2 + q / left), rtol=1e-8)


def test_standardised_columns_are_measured_in_their_deviations():
    scale = X.std(axis=0, ddof=1)
    q, t2 = residuals_of(X / scale, NEW / scale, 2)
    assert_allclose(fitted(PCA(2, standardize=True)).statistics(NEW), np.column_stack([t2, q]), rtol=1e-8)


def test_linear_kernel_pca_and_pca_say_the_same():
    found = [fitted(model).statistics(NEW) for model in (PCA(2), KernelPCA(2), KernelPCA(2, eigen_solver="dense"))]
    assert_allclose(found[1], found[0], rtol=1e-8)
    assert_allclose(found[2], found[0], rtol=1e-8)


def test_the_lectures_f_is_low_where_there_are_no_data():
    points, _ = moons(30, noise=0.05, seed=0)
    far = np.array([[1.1, 0.8], [30.0, 30.0]])
    detector = fitted(KernelPCA(6, kernel=RBF(5.0)), "lecture", points, points)
    K = gram_matrix(rbf_kernel(5.0), points)
    assert_allclose(detector.score_samples(points), sum_of_projections(K, kernel_pca(K, 6)[1]), atol=1e-8)
    assert detector.score_samples(far)[0] < detector.score_samples(points).min()
    assert detector.score_samples(far)[1] == pytest.approx(0, abs=1e-12)
    assert list(detector.predict(far)) == [-1, -1]


@pytest.mark.parametrize("statistic", ["reconstruction", "t2", "t2q"])
def test_contributions_of_columns_to_pca_add_up_to_the_score(statistic):
    detector = fitted(PCA(2, standardize=True), statistic)
    assert_allclose(detector.contributions(NEW).sum(axis=1), -detector.score_samples(NEW), rtol=1e-9)


@pytest.mark.parametrize("model", [PCA(1), KernelPCA(2, kernel=RBF(0.1)), KernelPCA(2, kernel="rbf", n_landmarks=20)])
def test_the_column_that_is_off_contributes_most(model):
    table = rng.normal(size=(200, 5))
    table[:, 1:] = table[:, :1] + 0.1 * table[:, 1:]  # all columns say the same
    detector = NoveltyDetector(model).fit(table)
    off = table[:10].copy()
    off[np.arange(10), np.arange(10) % 5] += 4.0
    assert list(detector.predict(off)) == [-1] * 10
    assert list(detector.contributions(off).argmax(axis=1)) == list(np.arange(10) % 5)


def test_sparse_rows_score_as_dense_ones():
    full = np.where(rng.uniform(size=(60, 8)) < 0.3, rng.normal(size=(60, 8)), 0.0)
    for model in (PCA(3), KernelPCA(3, kernel=RBF(0.2))):
        dense = NoveltyDetector(model).fit(full)
        thin = NoveltyDetector(model).fit(sparse.csr_array(full))
        assert_allclose(thin.score_samples(sparse.csr_array(full)), dense.score_samples(full), rtol=1e-7, atol=1e-10)
        assert_allclose(
            thin.contributions(sparse.csr_array(full[:5])), dense.contributions(full[:5]), rtol=1e-6, atol=1e-8
        )


def test_odd_names_stand_out_among_names():
    names = [f"{first} {last}" for first in ("ned", "rod", "todd", "maude") for last in ("flanders", "flanderson")] * 8
    detector = NoveltyDetector(KernelPCA(4, kernel=Spectrum(2)), alpha=0.2).fit(names)
    assert list(detector.predict(["ned flanders", "qxzzy vwkk"])) == [1, -1]
    with pytest.raises(ValueError, match="compares texts"):
        detector.contributions(["ned flanders"])


def test_tables_of_all_kinds_of_columns_are_scored():
    frame = pd.DataFrame({"size": rng.normal(size=80), "kind": ["a", "b"] * 40})
    detector = NoveltyDetector(KernelPCA(1, kernel=TableKernel.auto(frame))).fit(frame)
    assert list(detector.predict(pd.DataFrame({"size": [0.1, 9.0], "kind": ["a", "b"]}))) == [1, -1]


def test_files_are_read_as_arrays_are(tmp_path):
    table = rng.normal(size=(90, 4))
    np.save(tmp_path / "rows.npy", table)
    for estimator in (None, PCA(2)):
        there = NoveltyDetector(estimator, random_state=3).fit(tmp_path / "rows.npy")
        here = NoveltyDetector(estimator, random_state=3).fit(table)
        assert np.array_equal(there.score_samples(tmp_path / "rows.npy"), here.score_samples(table))


def test_a_precomputed_kernel_has_t2_alone():
    K, K_new = RBF(0.2).block(X, X), RBF(0.2).block(NEW, X)
    model = KernelPCA(3, kernel="precomputed").fit(K)
    by_kernel = fitted(KernelPCA(3, kernel=RBF(0.2)), "t2").score_samples(NEW)
    by_matrix = NoveltyDetector(model, statistic="t2", prefit=True).fit(K)
    assert_allclose(by_matrix.score_samples(K_new), by_kernel, rtol=1e-8)
    with pytest.raises(ValueError, match=r"k\(x, x\)"):
        NoveltyDetector(model, prefit=True).fit(K)
    with pytest.raises(ValueError, match="prefit=True"):
        NoveltyDetector(KernelPCA(kernel="precomputed"), statistic="t2").fit(K)
    with pytest.raises(ValueError, match="compares items by a matrix"):
        by_matrix.contributions(K_new)
