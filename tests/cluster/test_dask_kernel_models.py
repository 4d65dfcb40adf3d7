"""Kernel PCA and LLE of Dask collections, on workers and in this process."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer.errors import DataError
from mercer.estimators import KernelPCA, LocallyLinearEmbedding
from mercer.kernels.strings import Spectrum

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
db = pytest.importorskip("dask.bag")
pd = pytest.importorskip("pandas")

WORDS = [f"{a}{b}{c}" for a in ("ab", "cd", "xy", "qu") for b in ("ma", "no", "pi", "ra") for c in range(12)]


def rows(n=1500):
    return np.random.default_rng(0).normal(size=(n, 4)) * [3.0, 2.0, 1.0, 0.5]


@pytest.fixture(params=["workers", "process"])
def where(request):
    if request.param == "workers":
        request.getfixturevalue("client")
    return request.param


def check_equal(model, expected, X, D):
    assert model.plan_.route == expected.plan_.route
    assert_allclose(model.eigenvalues_, expected.eigenvalues_, rtol=1e-10)
    scores = model.transform(D)
    assert isinstance(scores, da.Array)
    assert_allclose(scores.compute(), expected.transform(X), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    "options", [{"gamma": 0.1}, {"gamma": "median", "standardize": True}], ids=["rbf", "standardized"]
)
def test_landmarks(where, options):
    X = rows()
    D = da.from_array(X, chunks=(400, 2))
    make = lambda: KernelPCA(3, kernel="rbf", n_landmarks=60, **options)  # noqa: E731
    check_equal(make().fit(D), make().fit(X), X, D)


def test_weights_of_landmarks(client):
    X, weights = rows(), np.random.default_rng(1).integers(0, 3, 1500).astype(float)
    D = da.from_array(X, chunks=400)
    model, expected = (
        KernelPCA(3, kernel="rbf", gamma=0.1, n_landmarks=60).fit(some, sample_weight=weights) for some in (D, X)
    )
    assert model.plan_.route == expected.plan_.route == "landmarks"
    reach = np.maximum(model.certificate_.upper, expected.certificate_.upper)  # other landmarks, other intervals
    assert (np.maximum(model.certificate_.lower, expected.certificate_.lower) <= reach).all()
    assert_allclose(model.eigenvalues_, expected.eigenvalues_, rtol=0.1)


def test_exact_fits_load_the_samples(where):
    X = rows(300)
    D = da.from_array(X, chunks=100)
    check_equal(KernelPCA(3, kernel="rbf").fit(D), KernelPCA(3, kernel="rbf").fit(X), X, D)
    embedding = LocallyLinearEmbedding(n_neighbors=8).fit(D).embedding_
    assert_allclose(embedding, LocallyLinearEmbedding(n_neighbors=8).fit(X).embedding_, atol=1e-9)


@pytest.mark.parametrize("options", [{}, {"n_landmarks": 40}], ids=["features", "landmarks"])
def test_strings_in_bags_and_columns(where, options):
    expected = KernelPCA(2, kernel=Spectrum(2), **options).fit(WORDS)
    bag = db.from_sequence(WORDS, npartitions=3)
    column = dd.from_pandas(pd.Series(WORDS), npartitions=3)
    for D in (bag, column):
        check_equal(KernelPCA(2, kernel=Spectrum(2), **options).fit(D), expected, WORDS, D)


def test_kinds_that_do_not_fit_are_rejected():
    with pytest.raises(DataError, match="X is a Dask Array, but strings are a bag"):
        KernelPCA(2, kernel=Spectrum(2)).fit(da.from_array(rows(), chunks=400))
    with pytest.raises(TypeError, match=r"X is a Dask Bag\. Vectors are a Dask array or data frame"):
        KernelPCA(2, kernel="rbf").fit(db.from_sequence(WORDS, npartitions=3))
