"""Contributions, squared cosines and correlations: identities, and prince's and numpy's numbers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from mercer import PCA, KernelPCA, LocallyLinearEmbedding, contributions
from mercer.datasets import VOC, us_arrests
from mercer.kernels import Spectrum

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 5)) @ rng.normal(size=(5, 5)) * [1, 10, 0.1, 3, 1] + 100
ARRESTS, NAMES = us_arrests()


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("whiten", [False, True])
def test_of_pca_they_sum_up_to_one(standardize, whiten):
    found = contributions(PCA(standardize=standardize, whiten=whiten).fit(X), X)
    assert_allclose(found.rows.sum(axis=0), 1.0, rtol=1e-12)
    assert_allclose(found.columns.sum(axis=0), 1.0, rtol=1e-12)
    assert_allclose(found.columns.sum(axis=1), 1.0, rtol=1e-12)
    assert_allclose(found.cos2.sum(axis=1), 1.0, rtol=1e-9)
    assert_allclose((found.correlations**2).sum(axis=1), 1.0, rtol=1e-9)


@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear", "cosine"])
def test_of_kernel_pca_with_all_components_they_sum_up_to_one(kernel):
    rows = (X - 100) / X.std(axis=0)
    model = KernelPCA(kernel=kernel, remove_zero_eig=True).fit(rows)
    found = contributions(model)
    assert_allclose(found.rows.sum(axis=0), 1.0, rtol=1e-9)
    assert_allclose(found.cos2.sum(axis=1), 1.0, rtol=1e-6)
    assert found.columns is None


def test_squared_cosines_by_landmarks_are_shares():
    rows = (X - 100) / X.std(axis=0)
    model = KernelPCA(3, kernel="rbf", gamma=0.1, n_landmarks=15).fit(rows)
    cos2 = contributions(model, rows).cos2
    exact = contributions(KernelPCA(3, kernel="rbf", gamma=0.1).fit(rows)).cos2
    assert cos2.sum(axis=1).max() <= 1 + 1e-9
    assert np.abs(cos2 - exact).max() < 0.1


def test_correlations_of_standardised_columns_are_loadings():
    model = PCA(3, standardize=True).fit(X)
    assert_allclose(contributions(model, X).correlations, model.loadings_, rtol=1e-10)


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_numbers_whose_squares_are_none_have_correlations(size):
    model = PCA(3, standardize=True).fit(size * X)
    assert_allclose(contributions(model, size * X).correlations, model.loadings_, rtol=1e-9)


def test_correlations_are_those_of_numpy():
    rows, other = (X - 100) / X.std(axis=0), rng.normal(size=(40, 2)) + 1e5
    model = KernelPCA(3, kernel="rbf", gamma=0.2).fit(rows)
    scores = model.transform(rows)
    for items in (rows, sparse.csr_array(rows)):
        found = contributions(
            model if items is rows else KernelPCA(3, kernel="rbf", gamma=0.2).fit(items), items, supplementary=other
        )
        assert_allclose(found.correlations, np.corrcoef(rows.T, scores.T)[:5, 5:], atol=1e-9)
        assert_allclose(found.supplementary, np.corrcoef(other.T, scores.T)[:2, 2:], atol=1e-9)


@pytest.mark.filterwarnings("ignore")
def test_they_are_those_of_prince():
    prince, pandas = pytest.importorskip("prince"), pytest.importorskip("pandas")
    frame = pandas.DataFrame(ARRESTS, columns=NAMES)
    frame["beside"] = np.arange(50.0) ** 2
    theirs = prince.PCA(n_components=4, random_state=0).fit(frame, supplementary_columns=["beside"])
    ours = contributions(
        PCA(standardize=True).fit(ARRESTS), ARRESTS, supplementary=frame["beside"], feature_names=NAMES
    )
    assert_allclose(ours.rows, theirs.row_contributions_, rtol=1e-8)
    assert_allclose(ours.columns, theirs.column_contributions_, rtol=1e-8)
    assert_allclose(ours.cos2, theirs.row_cosine_similarities(frame[NAMES]), rtol=1e-8)
    correlations = np.abs(theirs.column_correlations.to_numpy())
    assert_allclose(np.abs(ours.correlations), correlations[:4], rtol=1e-8)
    assert_allclose(np.abs(ours.supplementary), correlations[4:], rtol=1e-6)
    assert ours.others == ["beside"]


def test_rows_count_by_the_weights_of_the_fit():
    rows, weights = (X - 100) / X.std(axis=0), np.where(np.arange(40) < 10, 3.0, 1.0)
    model = KernelPCA(2, kernel="rbf", gamma=0.1)
    weighted = contributions(model.fit(rows, sample_weight=weights))
    copied = contributions(model.fit(np.repeat(rows, weights.astype(int), axis=0)))
    assert_allclose(weighted.correlations, copied.correlations, atol=1e-7)
    assert_allclose(weighted.rows[:10], copied.rows[:30].reshape(10, 3, 2).sum(axis=1), atol=1e-7)


def test_texts_have_rows_and_other_columns_alone():
    lengths = np.array([len(name) for name in VOC], dtype=float)
    found = contributions(KernelPCA(4, kernel=Spectrum(3)).fit(VOC), supplementary=lengths)
    assert found.correlations is None
    assert found.supplementary.shape == (1, 4)
    assert_allclose(found.rows.sum(axis=0), 1.0)
    scores = KernelPCA(4, kernel=Spectrum(3)).fit_transform(VOC)
    assert_allclose(found.supplementary[0], [np.corrcoef(lengths, score)[0, 1] for score in scores.T], atol=1e-9)


def test_a_kernel_matrix_has_contributions_of_rows():
    rows = (X - 100) / X.std(axis=0)
    K = rows @ rows.T
    found = contributions(KernelPCA(2, kernel="precomputed").fit(K), K)
    assert_allclose(found.rows, contributions(KernelPCA(2, kernel="linear").fit(rows)).rows, atol=1e-9)
    assert found.cos2 is None
    assert found.correlations is None


def test_what_is_printed():
    text = str(contributions(PCA(2, standardize=True).fit(ARRESTS), ARRESTS, feature_names=NAMES))
    assert text.splitlines()[0] == "Contributions of 50 rows."
    assert "correlated with Assault" in text.splitlines()[1]
    assert list(contributions(PCA(2).fit(X), X).top_rows(1, 3)) == list(
        np.argsort(-(PCA(2).fit_transform(X)[:, 1] ** 2))[:3]
    )


# ---------------------------------------------------------------------------- bad input


def test_constant_columns_have_no_correlation_and_others_keep_theirs():
    rows = np.column_stack([X, np.full(40, 1e6)])
    found = contributions(PCA(2).fit(rows), rows)
    assert np.isnan(found.correlations[5]).all()
    assert_allclose(found.correlations[:5], contributions(PCA(2).fit(X), X).correlations, atol=1e-9)
    assert str(found)


@pytest.mark.filterwarnings("ignore::mercer_old.errors.MercerWarning")
def test_rows_at_the_mean_and_components_without_variance_are_zero():
    rows = np.array([[1.0, 1.0], [-1.0, -1.0], [0.0, 0.0]])
    found = contributions(PCA(2).fit(rows), rows)
    assert_allclose(found.cos2, [[1, 0], [1, 0], [0, 0]], atol=1e-15)
    assert_allclose(found.rows[:, 0], [0.5, 0.5, 0.0], atol=1e-15)
    same = contributions(PCA(1).fit(np.ones((4, 2))), np.ones((4, 2)))
    assert_array_equal(same.rows, 0.0)
    assert np.isnan(same.correlations).all()


def test_one_row_contributes_all():
    found = contributions(PCA(2).fit(X), X[:1])
    assert_allclose(found.rows, 1.0)
    assert np.isnan(found.correlations).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: contributions(PCA(2).fit(X)), "has kept no rows: give the rows"),
        (lambda: contributions(KernelPCA(2, kernel="linear", n_landmarks=9).fit(X)), "rows but landmarks"),
        (lambda: contributions(KernelPCA(2, kernel="precomputed").fit(X @ X.T)), "Give the kernel matrix"),
        (lambda: contributions(LocallyLinearEmbedding(n_neighbors=9).fit(X), X), "no component functions"),
        (lambda: contributions(PCA(2).fit(X), X, supplementary=np.ones((7, 1))), "7 rows, and X 40"),
        (lambda: contributions(PCA(2).fit(X), X, supplementary=np.full(40, np.nan)), "NaN"),
        (lambda: contributions(PCA(2).fit(X), X, supplementary=["a"] * 40), "supplementary"),
        (lambda: contributions(PCA(2).fit(X), X[:, :3]), "3 features"),
        (lambda: contributions(PCA(2).fit(X), np.full((3, 5), np.nan)), "NaN"),
        (lambda: contributions(PCA(2).fit(X), X, feature_names=["a", "b"]), "2 names, but there are 5 columns"),
        (lambda: contributions(PCA(2).fit(X), X).top_rows(2), "from 0 to 1"),
        (lambda: contributions(PCA(2).fit(X), X).top_rows(0, -1), "at least 0"),
    ],
)
@pytest.mark.filterwarnings("ignore::mercer_old.errors.MercerWarning")
def test_what_cannot_be_read_is_said_in_one_sentence(make, message):
    with pytest.raises(ValueError, match=message) as error:
        make()
    assert "\n" not in str(error.value)
