"""Kernels of counts, shares and fingerprints: their formulas by other hands, and rows that they have none for."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.gaussian_process import kernels as gaussian_process
from sklearn.metrics import pairwise

import mercer
import mercer_old.kernels.histograms
from mercer import KernelPCA, LocallyLinearEmbedding
from mercer.kernels import (
    RBF,
    AdditiveChiSquared,
    ChiSquared,
    HistogramIntersection,
    MinMax,
    RationalQuadratic,
    Tanimoto,
)
from mercer_old.errors import BadData
from mercer_old.kernels.histograms import HistogramKernel
from support import naive
from support.registry import non_negative_rows

rng = np.random.default_rng(0)
X, Y = non_negative_rows(31), non_negative_rows(17, 1)
COUNTS = rng.poisson(rng.gamma(0.3, 3.0, size=150), size=(40, 150)).astype(float)  # more columns than are added at once
COUNTS[7] = 0.0
BITS = (rng.random((30, 100)) < 0.3).astype(float)
OF_COUNTS = [ChiSquared(0.01), AdditiveChiSquared(), HistogramIntersection(), MinMax()]
ALL = [*OF_COUNTS, Tanimoto(), RationalQuadratic(0.7, 2.0)]
TWINS = {
    ChiSquared: naive.chi_squared,
    AdditiveChiSquared: naive.additive_chi_squared,
    HistogramIntersection: naive.histogram_intersection,
    MinMax: naive.min_max,
    Tanimoto: naive.tanimoto,
    RationalQuadratic: naive.rational_quadratic,
}
every_kernel = pytest.mark.parametrize("kernel", ALL, ids=repr)
every_kernel_of_counts = pytest.mark.parametrize("kernel", OF_COUNTS, ids=repr)


def below_zero(rows, at=(5, 2), value=-0.25):
    rows = rows.copy()
    rows[at] = value
    return rows


# ---------------------------------------------------------------------------- formulas


@every_kernel
@pytest.mark.parametrize(("X", "Y"), [(X, Y), (COUNTS, COUNTS[:9]), (BITS, BITS[::-1])], ids=["any", "counts", "bits"])
def test_an_entry_is_what_its_definition_says_one_number_after_the_other(kernel, X, Y):
    expected = [[TWINS[type(kernel)](x, y, **kernel.get_params()) for y in Y] for x in X]
    assert_allclose(kernel.block(X, Y), expected, rtol=1e-12)
    assert_allclose(kernel.diag(X), [TWINS[type(kernel)](x, x, **kernel.get_params()) for x in X], rtol=1e-12)


def test_chi_squared_is_that_of_scikit_learn_its_usual_gamma_too():
    assert_allclose(ChiSquared(0.3).block(X, Y), pairwise.chi2_kernel(X, Y, gamma=0.3), rtol=1e-13)
    assert_allclose(ChiSquared().resolved(X, rng).block(X, Y), pairwise.chi2_kernel(X, Y), rtol=1e-13)
    model = KernelPCA(2, kernel="chi2").fit(X)
    assert model.kernel_ == ChiSquared(1.0) and model.gamma_ == 1.0


def test_the_additive_kernel_of_scikit_learn_has_the_same_components_and_twice_the_eigenvalues():
    """−Σ(x − y)²/(x + y) = 2k − Σx − Σy, and what depends on one row alone goes with the means."""
    ours, theirs = AdditiveChiSquared().block(X, Y), pairwise.additive_chi2_kernel(X, Y)
    assert_allclose(2 * ours - X.sum(axis=1)[:, None] - Y.sum(axis=1), theirs, rtol=1e-11, atol=1e-13)
    model = KernelPCA(3, kernel=AdditiveChiSquared()).fit(X)
    other = KernelPCA(3, kernel="precomputed").fit(pairwise.additive_chi2_kernel(X))
    assert_allclose(2 * model.eigenvalues_, other.eigenvalues_, rtol=1e-12)
    assert_allclose(np.abs(np.sum(model.eigenvectors_ * other.eigenvectors_, axis=0)), 1.0, rtol=1e-9)


def test_min_max_and_tanimoto_are_jaccard_on_rows_of_zeros_and_ones():
    jaccard = 1 - cdist(BITS.astype(bool), BITS.astype(bool), metric="jaccard")
    assert_allclose(MinMax().block(BITS, BITS), jaccard, atol=2e-16)
    assert_array_equal(Tanimoto().block(BITS, BITS), MinMax().block(BITS, BITS))
    assert np.abs(Tanimoto().block(X, Y) - MinMax().block(X, Y)).max() > 0.1, "two formulas for other rows"


def test_tanimoto_takes_rows_of_any_sign_and_size():
    Z = rng.normal(size=(12, 4))
    K = Tanimoto().block(Z, Z)
    assert K.min() < 0 and K.min() >= -1 / 3 - 1e-15, "xᵀy = −‖x‖² is the worst"
    for size in (1e-200, 1e-100, 1e200):
        assert_allclose(Tanimoto().block(size * Z, size * Z), K, rtol=1e-12)
    with pytest.raises(BadData, match=r"from .*e-2.* to .* Leave out the smallest"):
        Tanimoto().block(Z, Z * 1e-200)


def test_histogram_intersection_is_half_of_what_the_distance_leaves():
    expected = (X.sum(axis=1)[:, None] + Y.sum(axis=1) - cdist(X, Y, metric="cityblock")) / 2
    assert_allclose(HistogramIntersection().block(X, Y), expected, rtol=1e-11, atol=1e-14)


def test_rational_quadratic_is_that_of_scikit_learn_and_tends_to_rbf():
    Z = rng.normal(size=(20, 3))
    theirs = gaussian_process.RationalQuadratic(length_scale=0.8, alpha=1.7)(Z)
    assert_allclose(RationalQuadratic(1.7, 0.8).block(Z, Z), theirs, rtol=1e-12)
    assert_allclose(RationalQuadratic(1e6, 0.8).block(Z, Z), RBF.from_length_scale(0.8).block(Z, Z), rtol=1e-3)


@every_kernel
def test_equal_rows_are_alike_to_the_last_digit_and_empty_ones_too(kernel):
    rows = np.concatenate([COUNTS, COUNTS])
    K = kernel.block(rows, rows)
    assert_array_equal(K[:40, 40:], K[:40, :40])
    if not isinstance(kernel, (AdditiveChiSquared, HistogramIntersection, RationalQuadratic)):
        assert_array_equal(np.diag(K), 1.0)


@every_kernel_of_counts
@pytest.mark.parametrize("size", [1e-250, 1e-30, 1e250])
def test_rows_may_be_of_any_size(kernel, size):
    unit = kernel.with_params(gamma=kernel.gamma / size) if isinstance(kernel, ChiSquared) else kernel
    times = size if isinstance(kernel, (AdditiveChiSquared, HistogramIntersection)) else 1.0
    assert_allclose(unit.block(X * size, Y * size), kernel.block(X, Y) * times, rtol=1e-12)


@every_kernel
def test_single_precision_whole_numbers_and_any_order_in_memory_are_the_same_rows(kernel):
    expected = kernel.block(COUNTS, COUNTS)
    for rows in (COUNTS.astype(np.float32), COUNTS.astype(np.int64), np.asfortranarray(COUNTS), COUNTS[:, ::-1]):
        K = kernel.block(rows, rows)
        assert K.dtype == np.float64
        assert_allclose(K, expected, rtol=1e-13)


@every_kernel
def test_sparse_counts_give_the_same_scores(kernel):
    dense = KernelPCA(3, kernel=kernel).fit(COUNTS)
    from_sparse = KernelPCA(3, kernel=kernel).fit(sparse.csr_array(COUNTS))
    assert_allclose(from_sparse.eigenvalues_, dense.eigenvalues_, rtol=1e-11)
    new = COUNTS[:5] + 1
    assert_allclose(from_sparse.transform(sparse.csr_array(new)), dense.transform(new), rtol=1e-9, atol=1e-11)


def test_sparse_rows_of_many_columns_are_never_dense_all_at_once():
    rng = np.random.default_rng(0)
    places = rng.integers(300, size=6000), rng.integers(200_000, size=6000)
    wide = sparse.csr_array((rng.random(6000), places), shape=(300, 200_000))
    widest = max(part.nbytes for kernel in OF_COUNTS for part in [kernel.block(wide[:50], wide[:50])])
    assert widest <= 8 * 50 * 50
    parts = [part.nbytes for part in mercer_old.kernels.histograms.columns_of(wide[:50])]
    assert max(parts) <= 8 * 50 * 64


def test_the_median_gamma_is_one_over_the_median_of_what_it_multiplies():
    sums = [-np.log(naive.chi_squared(X[i], X[j])) for i in range(len(X)) for j in range(i)]
    found = ChiSquared("median").resolved(X, rng).gamma
    assert found == pytest.approx(1 / np.median([s for s in sums if s > 0]))
    assert KernelPCA(2, kernel="chi2", gamma="median").fit(X).gamma_ == pytest.approx(found)


# ---------------------------------------------------------------------------- rows below zero


@every_kernel_of_counts
@pytest.mark.parametrize(
    "asked",
    [
        lambda kernel, bad: KernelPCA(2, kernel=kernel).fit(bad),
        lambda kernel, bad: KernelPCA(2, kernel=kernel, standardize=True).fit(bad),
        lambda kernel, bad: KernelPCA(2, kernel=0.5 * kernel + RBF(1.0)).fit(sparse.csr_array(bad)),
        lambda kernel, bad: KernelPCA(2, kernel=kernel, eigen_solver="landmark").fit(bad),
        lambda kernel, bad: KernelPCA(2, kernel=kernel).plan(bad),
        lambda kernel, bad: KernelPCA(2, kernel=kernel).fit(X).transform(bad),
        lambda kernel, bad: LocallyLinearEmbedding(n_neighbors=8, metric=kernel).fit(bad),
        lambda kernel, bad: LocallyLinearEmbedding(n_neighbors=8, metric=kernel).fit(X).transform(bad),
        lambda kernel, bad: kernel.block(bad, X),
        lambda kernel, bad: kernel.block(X, sparse.csr_array(bad)),
        lambda kernel, bad: kernel.prepare(X, bad),
    ],
)
def test_rows_below_zero_are_refused_with_their_place_whoever_is_asked(kernel, asked):
    place = r"has a negative number, -0\.25 at row index 50, column 3, and .*" + type(kernel).__name__
    with pytest.raises(BadData, match=place):
        asked(kernel, below_zero(np.tile(X, (3, 1)), (50, 3)))


def test_the_sentence_says_how_many_there_are_and_what_to_try():
    with pytest.raises(BadData, match="the first of 2") as answer:
        KernelPCA(2, kernel="chi2").fit(below_zero(below_zero(X), (9, 0)))
    assert "Leave out or move what is below zero, or take a kernel of distances" in str(answer.value)
    assert "\n" not in str(answer.value)


def test_rows_of_a_file_are_refused_when_they_are_read_with_the_name_of_the_column(tmp_path):
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "rows.csv"
    table = pandas.DataFrame(below_zero(np.tile(X, (100, 1)), (3000, 1)), columns=["red", "green", "blue", "grey"])
    table.to_csv(path, index=False)
    for settings in ({}, dict(eigen_solver="landmark", n_landmarks=20), dict(standardize=True)):
        with pytest.raises(BadData, match=r"rows\.csv has a negative number, -0\.25 at row index 3000, column 'green'"):
            KernelPCA(2, kernel="chi2", **settings).fit(path)
    model = KernelPCA(2, kernel=MinMax()).fit(table[:200])
    with pytest.raises(BadData, match="row index 3000, column 'green'"):
        model.transform_to(path, tmp_path / "scores.npy")
    assert not (tmp_path / "scores.npy").exists()


def test_a_sample_of_a_file_that_has_a_row_twice_counts_nothing_twice(tmp_path):
    np.save(tmp_path / "few.npy", below_zero(X))
    with pytest.raises(BadData, match=r"few\.npy has a negative number, -0\.25 at row index 5, column 2, and"):
        KernelPCA(2, kernel="chi2").plan(tmp_path / "few.npy")


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, np.ndarray.tolist])
def test_landmarks_below_zero_are_called_landmarks(form):
    with pytest.raises(BadData, match=r"^landmarks have a negative number, -0\.25 at row index 5, column 2"):
        KernelPCA(2, kernel="chi2", landmarks=form(below_zero(X[:10])), standardize=True).fit(X)


def test_there_is_no_way_back_from_scores_that_a_kernel_cannot_compare():
    with pytest.raises(ValueError, match="fit_inverse_transform compares scores by the kernel"):
        KernelPCA(2, kernel="chi2", fit_inverse_transform=True).fit(X)
    KernelPCA(2, kernel=Tanimoto(), fit_inverse_transform=True).fit(X)


def test_models_tell_scikit_learn_that_they_take_no_negative_numbers():
    assert KernelPCA(kernel="chi2").__sklearn_tags__().input_tags.positive_only
    assert not KernelPCA(kernel="rbf").__sklearn_tags__().input_tags.positive_only
    assert not KernelPCA(kernel="no such kernel").__sklearn_tags__().input_tags.positive_only


def test_a_plan_without_rows_makes_up_rows_that_the_kernel_can_compare():
    assert mercer.plan(n_rows=500, n_features=10, n_components=3, kernel="chi2", gamma="median").memory > 0


def test_all_kernels_of_counts_ask_for_rows_without_negative_numbers_and_so_do_their_sums():
    assert all(kernel.non_negative for kernel in OF_COUNTS)
    assert all(isinstance(kernel, HistogramKernel) for kernel in OF_COUNTS)
    assert (MinMax() + RBF(1.0)).non_negative and (2 * (RBF(1.0) * MinMax())).non_negative
    assert not (Tanimoto() + RBF(1.0)).non_negative


@pytest.mark.parametrize(
    ("mistake", "sentence"),
    [
        (lambda: ChiSquared(gamma=-1), "gamma must be a positive number; got -1"),
        (lambda: ChiSquared(gamma="mean"), "gamma must be a positive number; got 'mean'"),
        (lambda: RationalQuadratic(alpha=0), "alpha must be a positive number; got 0"),
        (lambda: RationalQuadratic(alpha=1e9), "alpha must lie between 1e-6 and 1e6; got 1000000000.0"),
        (lambda: RationalQuadratic(length_scale=1e200), "length_scale must lie between"),
    ],
)
def test_a_mistake_in_a_parameter_is_answered_with_one_sentence(mistake, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        mistake()
