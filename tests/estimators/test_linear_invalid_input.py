"""What cannot be is refused by PCA in one clear sentence."""

import numpy as np
import pandas
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from mercer import PCA, IncrementalPCA
from mercer_old.errors import BadData, MercerWarning
from support.linear import SVD_SOLVERS, TALL, assert_same

# ---------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (
            np.array([[1.0, 2], [np.nan, 3], [4, 5]]),
            "contains NaN[^°]*One value is not finite, first at row index 1, column 0",
        ),
        (np.array([[1.0, 2], [np.inf, 3], [4, 5]]), "contains infinity"),
        (np.array([["a", "b"], ["c", "d"]]), "Column 0 holds text, first .* at row index 0"),
        (np.empty((0, 3)), "0 sample"),
        (np.empty((3, 0)), "0 feature"),
        (np.array([[1e300, 1], [-1e300, 2], [0, 3]]), "far too large"),
        (np.zeros(3), "Expected 2D array"),
        ("rows.csv", "pathlib.Path"),
    ],
    ids=["nan", "inf", "text", "no rows", "no columns", "overflow", "one-dimensional", "str"],
)
def test_bad_rows_get_one_clear_sentence(X, message):
    for svd_solver in SVD_SOLVERS:
        with pytest.raises(ValueError, match=message):
            PCA(1, svd_solver=svd_solver).fit(X)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (-np.ones(700), "Negative values in data passed to `sample_weight`"),
        (np.zeros(700), "All sample weights are zero|at least one non-zero"),
        (np.ones(3), "inconsistent|sample_weight.shape"),
    ],
    ids=["negative", "all zero", "too few"],
)
def test_bad_weights_get_one_clear_sentence(weights, message):
    for model in (PCA(2), IncrementalPCA(2)):
        with pytest.raises(ValueError, match=message):
            model.fit(TALL, sample_weight=weights)


def test_more_components_than_there_are_is_refused():
    with pytest.raises(ValueError, match=r"n_components=13 must be between 0 and min\(n_samples, n_features\)=12"):
        PCA(13).fit(TALL)
    with pytest.raises(ValueError, match="n_components=13 invalid for n_features=12"):
        IncrementalPCA(13).fit(TALL)
    with pytest.raises(ValueError, match="n_components=5 must be less or equal to the batch number of samples 4"):
        IncrementalPCA(5).partial_fit(TALL[:4])


def test_constant_columns_cannot_be_standardized_and_are_named():
    X = pandas.DataFrame({"a": TALL[:, 0], "always": 3.7, "b": TALL[:, 1]})
    with pytest.warns(MercerWarning, match=r"1 of 3 columns are constant \('always'\) and cannot be scaled"):
        model = PCA(standardize=True).fit(X)
    assert_allclose(
        model.explained_variance_, [*PCA(standardize=True).fit(X[["a", "b"]]).explained_variance_, 0], atol=1e-12
    )


def test_constant_rows_have_no_variance_and_no_trouble():
    for X in (np.ones((30, 4)), np.full((30, 4), 1e9)):
        for svd_solver in SVD_SOLVERS:
            with pytest.warns(MercerWarning, match="All rows are the same"):
                model = PCA(2, svd_solver=svd_solver).fit(X)
            assert not model.explained_variance_.any() and not model.explained_variance_ratio_.any()
            assert_allclose(model.components_ @ model.components_.T, np.eye(2), atol=1e-12)
            assert_allclose(model.inverse_transform(model.transform(X)), X)


def test_large_integers_do_not_overflow():
    X = np.random.default_rng(0).integers(-(2**31), 2**31 - 1, size=(500, 3), dtype=np.int32)
    assert_same(PCA(2).fit(X), PCA(2).fit(X.astype(float)))
    small = (X % 256).astype(np.uint8)
    assert_same(IncrementalPCA(2).fit(small), PCA(2).fit(small.astype(float)))


def test_decorrelate_needs_all_axes():
    with pytest.raises(ValueError, match="only 2 components were kept: fit with n_components=None"):
        PCA(2).fit(TALL).decorrelate(TALL)


def test_weights_that_are_no_counts_leave_variances_unknown_but_not_ratios():
    with pytest.warns(MercerWarning, match="weights are counts"):
        model = PCA(2).fit(TALL, sample_weight=np.full(700, 1e-6))
    assert np.isnan(model.explained_variance_).all()
    assert_allclose(model.explained_variance_ratio_, PCA(2).fit(TALL).explained_variance_ratio_)


def test_a_degenerate_likelihood_is_told():
    X = load_iris().data[:3]
    with pytest.warns(MercerWarning, match="The covariance is singular: 2 of 4 directions"):
        assert np.isfinite(PCA().fit(X).score(X))


# ---------------------------------------------------------------------- what a review found


def test_gaps_are_refused_wherever_they_are():
    gap = TALL[:20].copy()
    gap[3, 2] = np.nan
    for X, weights in [
        (gap, np.arange(20) != 3.0),  # in a row that is left out
        ([[1, 2], [None, 3], [3, 4.0], [4, 5]], None),
        (pandas.DataFrame({"a": pandas.array([1, None, 3], dtype="Int64"), "b": [1.0, 2, 4]}), None),
        (sparse.csr_array(gap), None),
    ]:
        with pytest.raises(ValueError, match=r"One value is not finite, first at row index [13], column"):
            PCA(1).fit(X, sample_weight=weights)
    model = PCA(1).fit(TALL)
    with pytest.raises(ValueError, match="NaN"):
        model.transform(sparse.csr_array(gap))


def test_a_fit_that_failed_leaves_no_half_of_a_model():
    bad = TALL.copy()
    bad[600] = np.nan
    for model in (IncrementalPCA(2, forget=0.5, batch_size=20), IncrementalPCA(2)):
        for given in (bad, np.full((30, 3), 1e300) * np.arange(30)[:, None]):
            with pytest.raises(ValueError, match=r"NaN|far too large"):
                model.fit(given)
            with pytest.raises(NotFittedError):
                model.transform(TALL)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("model", [PCA(2), PCA(2, n_jobs=2), IncrementalPCA(2)], ids=repr)
def test_new_rows_whose_scores_overflow_are_one_sentence_with_the_first_of_them(model, kind):
    """Finite, and too far away for a sum of products: infinity would be no score."""
    model.fit(TALL)
    new = np.repeat(TALL[:30], 200, axis=0)
    new[4321] = np.finfo(float).max * np.where(model.components_[0] < 0, -1, 1)  # along the axis, whose sum exceeds it
    with pytest.raises(BadData, match="scores of 1 row are not finite, first of row index 4321: an overflow"):
        model.transform(kind(new))
    assert np.isfinite(model.transform(kind(np.delete(new, 4321, axis=0)))).all()
