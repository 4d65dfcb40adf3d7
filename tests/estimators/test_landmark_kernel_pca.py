"""Kernel PCA by landmarks: results, options and inputs."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import Nystroem

import mercer_old
from mercer.data.dataset import object_array
from mercer.errors import DataError, MercerWarning
from mercer.estimators.kernel_pca import KernelPCA
from mercer.kernels.distance import RBF, Laplacian
from mercer.kernels.dot import Polynomial
from support.nystrom import assert_exact_values_in_intervals, landmark_pca

BLOBS = make_blobs(400, 4, centers=5, random_state=0)[0]
NEW = np.random.default_rng(9).normal(size=(50, 4)) * 5


def equal_up_to_sign(A, B, atol=1e-8):
    signs = np.sign((A * B).sum(axis=0))
    assert_allclose(A, B * signs, atol=atol)


# ---------------------------------------------------------------------- results


@pytest.mark.filterwarnings("ignore:.*landmarks were left out")
@pytest.mark.parametrize("kernel", [RBF(0.05), Laplacian(0.1), Polynomial(degree=2, gamma=0.1)])
def test_with_all_rows_as_landmarks_it_is_exact_kernel_pca(kernel):
    X = BLOBS[:150]
    model = landmark_pca(4, kernel=kernel, landmarks=np.arange(150)).fit(X)
    exact = KernelPCA(4, kernel=kernel).fit(X)
    assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=1e-7)
    equal_up_to_sign(model.transform(NEW), exact.transform(NEW), atol=1e-5 * np.sqrt(exact.eigenvalues_[0]))
    assert_allclose(model.explained_variance_ratio_, exact.explained_variance_ratio_, rtol=1e-7)
    assert_exact_values_in_intervals(model, kernel(X, X))


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_with_the_linear_kernel_it_is_pca(offset):
    X = BLOBS + offset
    model = landmark_pca(3, kernel="linear", n_landmarks=10).fit(X)
    pca = PCA(3).fit(BLOBS)  # at 1e6, scikit-learn has no digits left
    assert_allclose(model.explained_variance_, pca.explained_variance_, rtol=1e-9)
    equal_up_to_sign(model.transform(X), pca.transform(BLOBS), atol=1e-7)


def test_scores_are_pca_of_nystroem_features():
    landmarks = np.arange(0, 400, 10)
    model = landmark_pca(3, kernel=RBF(0.05), landmarks=landmarks).fit(BLOBS)
    nystroem = Nystroem(kernel="rbf", gamma=0.05, n_components=40)
    nystroem.fit(BLOBS[landmarks])
    pca = PCA(3).fit(nystroem.transform(BLOBS))
    equal_up_to_sign(model.transform(NEW), pca.transform(nystroem.transform(NEW)), atol=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_results_are_those_of_the_first_edition(weighted):
    weights = np.random.default_rng(0).uniform(0.5, 3, size=400) if weighted else None
    params = {"kernel": "rbf", "gamma": 0.05, "landmarks": np.arange(60), "eigen_solver": "landmark"}
    new, old = (cls(5, **params).fit(BLOBS, sample_weight=weights) for cls in (KernelPCA, mercer_old.KernelPCA))
    assert_allclose(new.eigenvalues_, old.eigenvalues_, rtol=1e-10)
    assert_allclose(new.transform(NEW), old.transform(NEW), atol=1e-8)
    assert_allclose(new.total_variance_, old.total_variance_, rtol=1e-10)
    assert_allclose(new.certificate_.lower, old.certificate_.lower, rtol=1e-6)
    assert_allclose(new.certificate_.upper, old.certificate_.upper, rtol=1e-6)
    assert_allclose(new.landmarks_, old.landmarks_)


def test_scores_of_training_rows_have_the_variances():
    model = landmark_pca(4, kernel=RBF(0.05), n_landmarks=40)
    Z = model.fit_transform(BLOBS)
    assert_allclose((Z**2).sum(axis=0), model.eigenvalues_, rtol=1e-9)
    assert_allclose(Z, model.transform(BLOBS))
    assert_allclose(Z.mean(axis=0), 0, atol=1e-9)
    assert not hasattr(model, "X_fit_")


def test_weights_are_counts():
    counts = np.random.default_rng(0).integers(0, 4, size=400)
    landmarks = BLOBS[:30]
    weighted = landmark_pca(3, kernel=RBF(0.05), landmarks=landmarks).fit(BLOBS, sample_weight=counts)
    repeated = landmark_pca(3, kernel=RBF(0.05), landmarks=landmarks).fit(np.repeat(BLOBS, counts, axis=0))
    assert_allclose(weighted.eigenvalues_, repeated.eigenvalues_, rtol=1e-10)
    assert_allclose(weighted.explained_variance_, repeated.explained_variance_, rtol=1e-10)
    assert weighted.n_samples_ == np.count_nonzero(counts)


def test_indices_of_landmarks_count_rows_of_weight_zero():
    weights = np.ones(400)
    weights[:100] = 0
    model = landmark_pca(3, kernel=RBF(0.05), n_landmarks=20).fit(BLOBS, sample_weight=weights)
    assert_array_equal(BLOBS[model.landmark_indices_], model.landmarks_)
    assert model.landmark_indices_.min() >= 100
    model = landmark_pca(3, kernel=RBF(0.05), landmarks=[0, 1, 200]).fit(BLOBS, sample_weight=weights)
    assert_array_equal(np.sort(model.landmark_indices_), [0, 1, 200])


def test_sparse_rows_are_as_good_as_dense_ones():
    dense = landmark_pca(3, kernel=RBF(0.05), landmarks=np.arange(40)).fit(BLOBS)
    rows = sparse.csr_array(BLOBS)
    model = landmark_pca(3, kernel=RBF(0.05), landmarks=np.arange(40)).fit(rows)
    assert_allclose(model.eigenvalues_, dense.eigenvalues_, rtol=1e-8)
    assert sparse.issparse(model.landmarks_)
    given = landmark_pca(3, kernel=RBF(0.05), landmarks=rows[:40]).fit(rows)
    assert_allclose(given.eigenvalues_, dense.eigenvalues_, rtol=1e-8)


def test_standardized_rows():
    X = BLOBS * [1.0, 100.0, 1e-3, 5.0]
    params = {"kernel": RBF(0.2), "landmarks": np.arange(50)}
    model = landmark_pca(3, standardize=True, **params).fit(X)
    scaled = landmark_pca(3, **params).fit(X / X.std(axis=0, ddof=1))
    assert_allclose(model.eigenvalues_, scaled.eigenvalues_, rtol=1e-8)
    assert_allclose(model.landmarks_, X[model.landmark_indices_])
    assert_allclose(model.transform(X[:5]), scaled.transform((X / X.std(axis=0, ddof=1))[:5]), atol=1e-8)
    assert_allclose(model.training_set().samples, X[model.landmark_indices_])
    by_rows = landmark_pca(3, standardize=True, kernel=RBF(0.2), landmarks=X[:50]).fit(X)
    assert_allclose(by_rows.eigenvalues_, model.eigenvalues_, rtol=1e-8)


@pytest.mark.parametrize("suffix", [".npy", ".csv"])
def test_files_are_read_block_by_block(tmp_path, suffix):
    path = tmp_path / f"rows{suffix}"
    if suffix == ".npy":
        np.save(path, BLOBS)
    else:
        np.savetxt(path, BLOBS, delimiter=",", header="a,b,c,d", comments="")
    weights = np.arange(400.0) % 3
    for landmarks in (np.arange(40), BLOBS[:40]):
        params = {"kernel": RBF(0.05), "landmarks": landmarks}
        model = landmark_pca(3, **params).fit(path, sample_weight=weights)
        memory = landmark_pca(3, **params).fit(BLOBS, sample_weight=weights)
        assert_allclose(model.eigenvalues_, memory.eigenvalues_, rtol=1e-9)
        assert model.n_samples_ == memory.n_samples_
        assert_allclose(model.transform(path), memory.transform(BLOBS), atol=1e-8)
    assert_exact_values_in_intervals(
        landmark_pca(3, kernel=RBF(0.05), n_landmarks=30).fit(path), RBF(0.05)(BLOBS, BLOBS)
    )


def test_strings_are_compared_by_their_kernel():
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("acgt"), size=rng.integers(5, 12))) for _ in range(80)]
    pytest.importorskip("mercer.kernels.strings.counting")
    model = landmark_pca(3, kernel="spectrum", n_landmarks=20).fit(words)
    assert all(word in words for word in model.landmarks_)
    kernel = model.kernel_
    samples = object_array(words)
    assert_exact_values_in_intervals(model, kernel(samples, samples))
    given = landmark_pca(3, kernel="spectrum", landmarks=words[:20]).fit(words)
    assert given.transform(words).shape == (80, 3)


def test_projection_and_expansion_agree_with_the_scores():
    model = landmark_pca(3, kernel=RBF(0.05), n_landmarks=40).fit(BLOBS)
    projection = model.project(NEW, rounding=True)
    assert_allclose(projection.scores, model.transform(NEW))
    assert np.all(projection.q >= 0)
    expansion = model.expansion()
    f = expansion.evaluate(NEW)
    assert_allclose(f - f[:1], model.transform(NEW) - model.transform(NEW)[:1], atol=1e-9)
    assert 0 < model.score(BLOBS) <= 1
    spectrum = model.spectrum()
    assert np.all(spectrum.lower <= spectrum.eigenvalues) and np.all(spectrum.eigenvalues <= spectrum.upper)
    distances, indices = model.kneighbors(BLOBS[model.landmark_indices_[:3]], 1)
    assert_array_equal(indices[:, 0], model.landmark_indices_[:3])
    assert_allclose(distances, 0, atol=1e-6)


def test_float32_rows_give_float32_scores():
    model = landmark_pca(3, kernel=RBF(0.05), n_landmarks=30).fit(BLOBS.astype(np.float32))
    assert model.transform(BLOBS.astype(np.float32)).dtype == np.float32
    assert model.eigenvalues_.dtype == np.float32


def test_the_inverse_is_learned_on_the_landmarks():
    model = landmark_pca(3, kernel=RBF(0.05), n_landmarks=60, fit_inverse_transform=True, alpha=1e-3).fit(BLOBS)
    assert model.dual_coef_.shape == (len(model.landmarks_), 4)
    back = model.inverse_transform(model.transform(BLOBS))
    assert np.mean((back - BLOBS) ** 2) < 0.2 * BLOBS.var()


def test_seeds():
    first, again, other = (
        landmark_pca(3, kernel=RBF(0.05), n_landmarks=20, random_state=s).fit(BLOBS) for s in (0, 0, 1)
    )
    assert_array_equal(first.eigenvalues_, again.eigenvalues_)
    assert not np.array_equal(first.landmark_indices_, other.landmark_indices_)


# ---------------------------------------------------------------------- exact passes


@pytest.mark.filterwarnings("ignore::mercer.errors.MercerWarning")
@pytest.mark.parametrize("weighted", [False, True])
def test_an_exact_pass_is_nearer_and_measures_residuals(weighted):
    weights = np.random.default_rng(0).uniform(0.5, 2, size=400) if weighted else None
    params = {"kernel": RBF(0.05), "n_landmarks": 40}
    alone = landmark_pca(3, **params).fit(BLOBS, sample_weight=weights)
    refined = KernelPCA(3, refine=1, **params).fit(BLOBS, sample_weight=weights)
    exact = KernelPCA(3, kernel=RBF(0.05), eigen_solver="dense").fit(BLOBS, sample_weight=weights)
    errors = [np.abs(model.eigenvalues_ - exact.eigenvalues_).max() for model in (alone, refined)]
    assert errors[1] < 0.2 * errors[0]
    assert np.all(refined.certificate_.lower <= exact.eigenvalues_ + 1e-9)
    assert np.all(exact.eigenvalues_ <= refined.certificate_.upper + 1e-9)
    assert refined.certificate_.n_passes == 1
    assert refined.eigenvectors_.shape == (400, 3)
    assert hasattr(refined, "landmarks_")
    far = KernelPCA(3, refine=20, **params).fit(BLOBS, sample_weight=weights)
    assert far.certificate_.converged
    assert_allclose(far.eigenvalues_, exact.eigenvalues_, rtol=1e-10)


# ---------------------------------------------------------------------- options


@pytest.mark.parametrize("params", [{"n_landmarks": 7}, {"landmarks": [1, 2, 3]}, {"eigen_solver": "landmark"}])
def test_parameters_that_request_landmarks(params):
    model = KernelPCA(2, kernel="rbf", **params).fit(BLOBS)
    assert model.plan_.route == "landmarks"
    assert model.plan_.approximate
    assert len(model.landmarks_) == {"n_landmarks": 7, "landmarks": 3}.get(*params, len(model.landmarks_))


@pytest.mark.parametrize(
    ("landmarks", "message"),
    [
        ([0, 400], "indices of rows from 0 to 399, and 400 is not"),
        ([-1], "and -1 is not"),
        ([0.5, 2], "must be indices of rows, or rows of 4 columns"),
        (np.zeros((3, 2)), "2 features"),
        (np.full((3, 4), np.nan), "NaN"),
        (np.zeros((2, 2, 2)), "must be indices"),
    ],
)
def test_landmarks_that_cannot_be_used(landmarks, message):
    with pytest.raises(ValueError, match=message):
        KernelPCA(2, kernel="rbf", landmarks=landmarks).fit(BLOBS)


def test_landmarks_as_a_range_or_a_list_of_rows():
    by_range, by_rows = (
        KernelPCA(2, kernel=RBF(0.05), landmarks=given).fit(BLOBS) for given in (range(30), BLOBS[:30].tolist())
    )
    assert_allclose(by_range.eigenvalues_, by_rows.eigenvalues_, rtol=1e-10)
    assert by_rows.landmark_indices_ is None


def test_duplicates_among_landmarks_are_reported():
    with pytest.warns(MercerWarning, match="5 of the 15 landmarks were left out"):
        model = landmark_pca(2, kernel=RBF(0.05), landmarks=[*range(10), *range(5)]).fit(BLOBS)
    assert len(model.landmarks_) == 10


def test_no_more_landmarks_than_needed():
    X = np.repeat(BLOBS[:12], 30, axis=0)
    assert len(landmark_pca(2, kernel=RBF(0.05), n_landmarks=100).fit(X).landmarks_) == 12
    coarse, fine = (landmark_pca(2, kernel=RBF(1e-3), tol=tol).fit(BLOBS) for tol in (1e-1, 1e-5))
    assert len(coarse.landmarks_) < len(fine.landmarks_)
    m = fine._landmark_state.moments
    assert m.left <= 2e-5 * m.variance[1]


def test_more_components_than_landmarks():
    with pytest.warns(MercerWarning, match="exceeds the 5 landmarks"):
        model = landmark_pca(9, kernel=RBF(0.05), landmarks=range(5)).fit(BLOBS)
    assert model.n_components_ == 5
    assert landmark_pca(None, kernel=RBF(0.05), landmarks=range(5)).fit(BLOBS).n_components_ == 5


@pytest.mark.parametrize("kernel", ["rbf", "linear", "cosine"])
def test_equal_rows(kernel):
    with pytest.warns(MercerWarning, match="All samples are equal"):
        model = landmark_pca(1, kernel=kernel, n_landmarks=5).fit(np.ones((30, 3)))
    assert_array_equal(model.eigenvalues_, 0)
    assert_array_equal(model.transform(np.ones((2, 3))), 0)


def test_one_row():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = landmark_pca(1, kernel="rbf").fit(np.ones((1, 3)))
    assert model.n_samples_ == 1


def test_a_fraction_of_the_variance():
    model = landmark_pca(0.9, kernel=RBF(0.05), n_landmarks=200).fit(BLOBS)
    ratios = np.cumsum(model.explained_variance_ratio_)
    assert ratios[-1] >= 0.9 > ratios[-2]
    assert model.certificate_.explained[0] >= 0.9 - 1e-6
    with pytest.warns(MercerWarning, match="the landmarks see only"):
        landmark_pca(0.99, kernel=RBF(0.05), n_landmarks=4).fit(BLOBS)


def test_a_kernel_close_to_the_identity_is_a_stored_warning():
    with pytest.warns(MercerWarning, match="close to the identity"):
        model = landmark_pca(2, kernel=RBF(1e4), n_landmarks=50).fit(BLOBS)
    assert model.fit_warnings_[0].severity == "meaningless"


def test_a_precomputed_matrix_has_no_landmarks():
    with pytest.raises(ValueError, match="precomputed matrix has no samples"):
        landmark_pca(2, kernel="precomputed").fit(BLOBS @ BLOBS.T)


def test_an_exact_refit_removes_the_landmarks():
    model = KernelPCA(2, kernel="rbf", n_landmarks=10).fit(BLOBS)
    model.set_params(n_landmarks=None).fit(BLOBS)
    assert not hasattr(model, "landmarks_")
    assert not hasattr(model, "_landmark_state")


def test_negative_numbers_among_landmarks_of_a_kernel_on_histograms():
    X = np.abs(BLOBS)
    with pytest.raises(DataError, match="landmarks"):
        landmark_pca(2, kernel="chi2", landmarks=-X[:5]).fit(X)


def test_a_small_memory_limit_chooses_fewer_landmarks():
    X = np.random.default_rng(0).normal(size=(3000, 5))
    usual, small = (landmark_pca(2, kernel="rbf", memory_limit=m).plan(X) for m in (None, "25MB"))
    assert small.n_landmarks < usual.n_landmarks
    assert small.memory <= 25e6


def test_progress_names_the_stages():
    seen = []
    landmark_pca(2, kernel="rbf", n_landmarks=30, progress=seen.append).fit(BLOBS)
    assert {state.text for state in seen} == {"choosing landmarks", "one pass over the samples"}
    completed = [state.completed for state in seen]
    assert completed == sorted(completed)
    assert completed[-1] == 1
