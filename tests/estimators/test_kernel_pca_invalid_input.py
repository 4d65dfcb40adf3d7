"""What cannot be is refused by KernelPCA in one sentence, and what is odd is told."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from mercer import KernelPCA
from mercer.kernels import RBF, Polynomial
from mercer_old.errors import BadData, MercerWarning
from support.kernel import X
from support.matrices import indefinite_matrix

rng = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("params", "data", "error", "words"),
    [
        (dict(), np.where(np.arange(240).reshape(60, 4) == 7, np.nan, X), ValueError, "contains NaN"),
        (dict(), np.where(np.arange(240).reshape(60, 4) == 7, np.inf, X), ValueError, "infinity"),
        (dict(), X.astype(complex), ValueError, "Complex data not supported"),
        (dict(), np.array([["a", 1], ["c", 2]], dtype=object), ValueError, "could not convert string to float"),
        (
            dict(),
            np.array([[1, "2"], [2, "c"]], dtype=object),
            ValueError,
            "Column 1 holds text, first 'c' at row index 1",
        ),
        (dict(), np.where(X > 1, np.nan, X), ValueError, f"{np.sum(X > 1)} values are not finite, first at row index"),
        (dict(), pd.DataFrame(X, columns=list("abcd")).mask(X[1, 1] == X), ValueError, "row index 1, column 'b'"),
        (dict(), np.empty((0, 3)), ValueError, "0 sample"),
        (dict(), np.empty((3, 0)), ValueError, "0 feature"),
        (dict(), X[0], ValueError, "Expected 2D array"),
        (dict(n_components=0), X, ValueError, "'n_components' parameter"),
        (dict(n_components=-2), X, ValueError, "'n_components' parameter"),
        (dict(n_components=1.5), X, ValueError, "'n_components' parameter"),
        (dict(kernel="rbf", gamma=0), X, ValueError, "'gamma' parameter"),
        (dict(kernel="rbf", gamma=-1.0), X, ValueError, "'gamma' parameter"),
        (dict(kernel="gauss"), X, ValueError, "'kernel' parameter"),
        (dict(memory_limit="much"), X, ValueError, 'write bytes or a text such as "2GB"'),
        (dict(memory_limit="0GB"), X, ValueError, "is no amount of memory"),
        (dict(memory_limit="1.2.3GB"), X, ValueError, 'write bytes or a text such as "2GB"'),
        (dict(memory_limit="9" * 400), X, ValueError, 'write bytes or a text such as "2GB"'),
        (dict(memory_limit=float("inf")), X, ValueError, "memory_limit"),
        (dict(), 1e200 * X, BadData, "not finite"),
        (dict(kernel=lambda x, y: float("nan")), X, BadData, "values that are not finite, first for row index 0"),
        (dict(kernel=lambda x, y: x), X, ValueError, "array of shape (4,) for one pair of rows"),
        (dict(kernel="rbf"), 1e200 * X, BadData, "an overflow"),
        (dict(kernel="poly"), 1e150 * X, BadData, "an overflow"),
        (dict(kernel="precomputed"), X, ValueError, "must be a square matrix. Input is a 60x4 matrix"),
        (dict(kernel="precomputed", n_components=50), -np.eye(60), ValueError, "significant negative eigenvalues"),
        (dict(fit_inverse_transform=True), sparse.csr_array(X), NotImplementedError, "not implemented for sparse"),
    ],
)
def test_bad_input_gets_one_sentence(params, data, error, words):
    with pytest.raises(error) as answer, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        KernelPCA(**params).fit(data)
    assert words in str(answer.value)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (-np.ones(60), "Negative values in data passed to `sample_weight`"),
        (np.zeros(60), "at least one non-zero number; no row is left"),
        (np.ones(59), r"sample_weight.shape == \(59,\), expected \(60,\)"),
        (np.full(60, np.nan), "sample_weight contains NaN"),
    ],
)
def test_bad_weights_are_refused(weights, words):
    with pytest.raises(ValueError, match=words):
        KernelPCA(2).fit(X, sample_weight=weights)


@pytest.mark.parametrize(
    "data", [np.ones((30, 3)), np.full((30, 3), 0.1), np.full((600, 3), 1e8), 1e-200 * np.ones((20, 2))]
)
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "cosine", "sigmoid"])
def test_constant_data_give_zeros_and_a_word(data, kernel):
    with pytest.warns(MercerWarning, match="All rows look the same to this kernel"), warnings.catch_warnings():
        warnings.simplefilter("always")
        scores = KernelPCA(2, kernel=kernel).fit_transform(data)
    assert np.array_equal(scores, np.zeros((len(data), 2)))


def test_underflow_is_told():
    with pytest.warns(MercerWarning, match="gamma far too small for its scale"):
        KernelPCA(2, kernel="rbf").fit(1e-200 * X)


def test_tiny_data_are_right_where_float64_allows():
    with pytest.warns(MercerWarning, match="All rows look nearly the same"):
        small = KernelPCA(3, kernel="rbf").fit(1e-9 * X)  # k = 1 − 2.5e-19‖x − y‖²: below the last digit of 1
    linear = KernelPCA(3).fit(X)
    assert_allclose(small.eigenvalues_ / small.eigenvalues_[0], linear.eigenvalues_ / linear.eigenvalues_[0], rtol=1e-6)


def test_one_row_and_more_components_than_rows_are_told():
    with pytest.warns(MercerWarning, match="n_components=7 is more than the 5 rows; 5 components are kept"):
        model = KernelPCA(7, kernel="rbf").fit(X[:5])
    assert model.transform(X).shape == (60, 5)
    with pytest.warns(MercerWarning, match="There is one row alone to learn from"):
        assert KernelPCA(1).fit_transform(X[:1]).tolist() == [[0.0]]


def test_indefinite_matrices_are_solved_where_they_can_be_and_told():
    with pytest.warns(MercerWarning, match="not positive semi-definite: it has an eigenvalue of at most -0.5"):
        model = KernelPCA(3, kernel="precomputed").fit(indefinite_matrix(60, rng))
    assert_allclose(model.eigenvalues_, [9, 5, 2], rtol=1e-9)
    assert np.isnan(model.explained_variance_ratio_).all()


def test_an_asymmetric_matrix_is_used_and_told():
    K = RBF(0.3).block(X, X)
    K[0, 1] += 1e-6
    with pytest.warns(MercerWarning, match="not symmetric .entries differ by up to 1e-06"):
        KernelPCA(2, kernel="precomputed").fit(K)


def test_polynomial_of_many_features_is_held_as_a_matrix():
    data = rng.normal(size=(100, 60))
    model = KernelPCA(3, kernel=Polynomial(degree=3, gamma=0.1)).fit(data)
    assert model.plan_.held == "gram"
