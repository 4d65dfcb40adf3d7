"""Rows far from zero: variances, scores, batches and certificates do not see where they lie."""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from mercer import PCA, IncrementalPCA
from support.linear import DTYPES, OFFSETS, SOLVERS, SPARSE_SOLVERS, U32, U
from support.long_double import centred, holds, scatter_values
from support.silence import quiet

STEP = 8.0  # multiples of it can be added to 1e8 without rounding, in float32 too


@cache
def steps(n, d):
    """Whole multiples of STEP, and what they scatter."""
    rng = np.random.default_rng(n)
    X = STEP * np.round(rng.normal(size=(n, d)) * np.geomspace(60, 6, d) @ np.linalg.qr(rng.normal(size=(d, d)))[0])
    return X, scatter_values(X)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    ("dtype", "offset"), [*((dtype, offset) for dtype in DTYPES for offset in OFFSETS), (np.float64, 1e12)]
)
@pytest.mark.parametrize("shape", [(600, 4), (9, 30)], ids=["tall", "wide"])
@quiet
def test_variances_do_not_see_the_offset(shape, dtype, offset, solver):
    X, values = steps(*shape)
    moved = (X + offset).astype(dtype)
    assert np.array_equal(moved.astype(float) - offset, X)  # nothing was rounded
    model = PCA(min(shape) - 1, svd_solver=solver).fit(moved)
    expected = (values[:-1] if shape[0] < shape[1] else values)[: model.n_components_] / (shape[0] - 1)
    if dtype is np.float64:
        assert_allclose(model.explained_variance_, expected.astype(float), rtol=1e-10)
    else:  # sums in float32 are known to its rounding of their total; all else to that of the answer
        sums = 16 * U32 * model.total_variance_ if model.plan_.held == "scatter" else 0.0
        assert_allclose(model.explained_variance_, expected.astype(float), rtol=8 * U32, atol=sums)
    assert holds(model.certificate_, values)
    assert_allclose(model.total_variance_, float(values.sum()) / (shape[0] - 1), rtol=16 * np.finfo(dtype).eps)
    assert_allclose(model.mean_, X.mean(axis=0) + offset, rtol=4 * np.finfo(dtype).eps, atol=1e-5)


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_scores_do_not_see_the_offset(offset, solver):
    X, _ = steps(600, 4)
    C = centred(X).astype(float)
    model = PCA(svd_solver=solver).fit(X + offset)
    expected = C @ model.components_.T
    assert_allclose(model.transform(X + offset), expected, atol=8 * U * (offset + np.abs(C).max()))
    assert_allclose(model.inverse_transform(expected), X + offset, atol=16 * U * (offset + np.abs(C).max()))


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("batch", [7, 100, 600])
@pytest.mark.filterwarnings("ignore:Numbers of column")  # of float32 at 1e8: true, and the answer is exact
def test_batches_do_not_see_the_offset(batch, dtype, offset):
    X, values = steps(600, 4)
    model = IncrementalPCA(4)
    for start in range(0, 600, batch):
        model.partial_fit((X[start : start + batch] + offset).astype(dtype))
    rtol = 1e-10 if dtype is np.float64 else 8 * U32
    assert_allclose(model.explained_variance_, values.astype(float) / 599, rtol=rtol)
    assert_allclose(model.var_, np.var(X, axis=0), rtol=rtol)
    assert holds(model.certificate_, values)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("mean", [0.0, 10.0, 100.0, 1e3, 1e5])
@pytest.mark.parametrize("n", [40, 600])
@quiet
def test_certificates_of_single_precision_rows_hold(n, mean, solver):
    X = (np.random.default_rng(0).normal(size=(n, 5)) * [6, 5, 3, 2, 1] + mean).astype(np.float32)
    values = scatter_values(X)
    model = PCA(svd_solver=solver).fit(X)
    assert holds(model.certificate_, values)
    assert_allclose(model.explained_variance_, values.astype(float) / (n - 1), rtol=1e-6)


@pytest.mark.parametrize("solver", SPARSE_SOLVERS)
@pytest.mark.parametrize("mean", [0.0, 100.0, 1e4, 1e6])
@quiet
def test_certificates_of_sparse_rows_hold_wherever_they_are(mean, solver):
    X = sparse.csr_array(np.random.default_rng(0).normal(size=(300, 5)) * [6, 5, 3, 2, 1] + mean)
    model = PCA(4, svd_solver=solver).fit(X)
    values = scatter_values(X)
    assert holds(model.certificate_, values)
    rounding = 32 * U * (float(values.sum()) + 5 * 300 * mean**2) / 299  # not moved: zeros have to stay zeros
    assert_allclose(model.explained_variance_, values[:4].astype(float) / 299, rtol=1e-12, atol=rounding)


@pytest.mark.parametrize("mean", [0.0, 100.0, 1e4, 1e6])
@quiet
def test_certificates_of_sparse_batches_hold_wherever_they_are(mean):
    X = sparse.csr_array(np.random.default_rng(0).normal(size=(300, 5)) * [6, 5, 3, 2, 1] + mean)
    model = IncrementalPCA(4).partial_fit(X[:200]).partial_fit(X[200:])
    assert holds(model.certificate_, scatter_values(X))
