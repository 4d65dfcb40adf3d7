"""onnxruntime gives the scores of `transform`, for every model, kernel and precision that is written as ONNX."""

import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from scipy import sparse

import mercer
import mercer_old.errors
from mercer import PCA, IncrementalPCA, KernelPCA, LocallyLinearEmbedding
from mercer.kernels import (
    RBF,
    AdditiveChiSquared,
    Blockwise,
    ChiSquared,
    Constant,
    Cosine,
    HistogramIntersection,
    Laplacian,
    Linear,
    Matern,
    MinMax,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
    Spectrum,
    Tanimoto,
)
from mercer_old.conversions.onnx import kernels as onnx_kernels
from mercer_old.conversions.onnx.features import monomials
from mercer_old.errors import WrongUse

pytestmark = pytest.mark.filterwarnings("ignore::mercer_old.errors.MercerWarning")

# At the width of standardized rows; each class of the table of formulas is here, and a test says so.
KERNELS = [
    Linear(),
    Cosine(),
    Polynomial(2, gamma=0.1),
    Polynomial(3, gamma=0.1, coef0=0.5),
    Polynomial(5, gamma=0.05),
    Polynomial(1.5, gamma=0.001, coef0=10.0),
    Sigmoid(gamma=0.01, coef0=0.1),
    RBF(gamma=0.05),
    RBF(gamma=1e-6),
    Matern(0.5, 3.0),
    Matern(1.5, 3.0),
    Matern(2.5, 3.0),
    RationalQuadratic(0.7, 2.0),
    Laplacian(gamma=0.1),
    AdditiveChiSquared(),
    ChiSquared(gamma=0.2),
    HistogramIntersection(),
    MinMax(),
    Tanimoto(),
    2 * RBF(gamma=0.1) + Linear(),
    RBF(gamma=0.1) * Cosine() + 0.5,
    Linear() + Polynomial(2, gamma=0.1) + Constant(2.0),
]
WAYS = {"exact": {"eigen_solver": "dense"}, "landmarks": {"eigen_solver": "landmark", "n_landmarks": 25}}
DTYPES = ["float32", "float64"]


def scores_by_onnx(model, X, dtype, folder):
    done = mercer.convert(model, folder / "model.onnx", dtype=dtype)
    session = onnxruntime.InferenceSession(done.paths[0], providers=["CPUExecutionProvider"])
    return session.run(None, {"X": X.astype(dtype)})[0]


def assert_same(model, X, dtype, folder, tol=None):
    """Relative to the largest score of every component."""
    rows = X.astype(dtype)
    expected, found = model.transform(rows), scores_by_onnx(model, X, dtype, folder)
    assert found.dtype == np.dtype(dtype) and found.shape == expected.shape
    size = np.abs(expected).max(axis=0)
    assert (size > 0).all()
    np.testing.assert_array_less(np.abs(found - expected) / size, tol or {"float32": 1e-5, "float64": 1e-9}[dtype])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_kernel_pca_agrees_with_transform(kernel, way, dtype, wine, tmp_path):
    X = wine / wine.std(axis=0)
    model = KernelPCA(3, kernel=kernel, **WAYS[way]).fit(X[::2].astype(dtype))
    assert_same(model, X[1::2], dtype, tmp_path)


def test_every_formula_is_among_these_kernels():
    tried = {type(part) for kernel in KERNELS for part in [kernel, *kernel.get_params().values()]}
    assert set(onnx_kernels._FORMULAS) <= tried


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernel", [RBF(gamma="median"), Laplacian("median"), Matern(0.5, 300.0), ChiSquared("median")])
def test_kernels_of_rows_as_they_come(kernel, dtype, wine, tmp_path):
    """Columns of any unit, 10⁵ away from zero."""
    X = wine + 1e5
    model = KernelPCA(3, kernel=kernel, eigen_solver="dense").fit(X[::2].astype(dtype))
    assert_same(model, X[1::2], dtype, tmp_path, tol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("fitted_on", DTYPES)
@pytest.mark.parametrize("kernel", [Linear(), RBF(gamma=0.05), Polynomial(2, gamma=0.1)], ids=repr)
def test_columns_are_divided_by_their_scales(kernel, fitted_on, dtype, wine, tmp_path):
    model = KernelPCA(3, kernel=kernel, standardize=True).fit(wine[::2].astype(fitted_on))
    assert_same(model, wine[1::2], dtype, tmp_path, tol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernel", [Polynomial(2, gamma=0.1), Polynomial(3, gamma=0.1), Sigmoid(gamma=1e-12)], ids=repr)
def test_similarities_that_are_large_and_nearly_the_same_keep_their_digits(kernel, dtype, wine, tmp_path):
    """They are multiplied by weights that sum up to nothing, which is no place for long sums of large numbers."""
    X = wine + 1e5
    scaled = not isinstance(kernel, Sigmoid)  # by deviations below one: rows are farther away still
    model = KernelPCA(3, kernel=kernel, standardize=scaled, eigen_solver="dense").fit(X[::2].astype(dtype))
    assert_same(model, X[1::2], dtype, tmp_path, tol=1e-4)


def test_far_rows_are_compared_by_differences(wine, tmp_path):
    """Products would leave no digits of distances that are this small beside the rows."""
    X = wine / wine.std(axis=0)
    X = np.concatenate([X, X + 1e6])
    model = KernelPCA(3, kernel=RBF(gamma=0.5), eigen_solver="dense").fit(X[::2])
    assert_same(model, X[1::2], "float64", tmp_path, tol=1e-7)


def test_zero_rows_of_kernels_that_divide(tmp_path):
    X = np.random.default_rng(0).integers(0, 3, size=(40, 6)).astype(float)
    X[[3, 4, 21]] = 0.0
    for kernel in (Cosine(), Tanimoto(), MinMax(), ChiSquared(), AdditiveChiSquared()):
        model = KernelPCA(3, kernel=kernel, eigen_solver="dense").fit(X[:20])
        assert_same(model, X[20:], "float64", tmp_path)


@pytest.mark.parametrize("kernel", [RBF(gamma=0.1), Linear(), Cosine(), Linear() + Cosine()], ids=repr)
def test_sparse_training_rows(kernel, wine, tmp_path):
    X = np.maximum(wine / wine.std(axis=0) - 3, 0.0)
    assert_same(KernelPCA(2, kernel=kernel).fit(sparse.csr_array(X[::2])), X[1::2], "float64", tmp_path)


def test_a_given_matrix(wine, tmp_path):
    X = wine / wine.std(axis=0)
    K = RBF(gamma=0.1)
    model = KernelPCA(2, kernel="precomputed").fit(K.block(X[::2], X[::2]))
    assert_same(model, K.block(X[1::2], X[::2]), "float32", tmp_path)
    weights = np.arange(89) % 3
    model = KernelPCA(2, kernel="precomputed").fit(K.block(X[::2], X[::2]), sample_weight=weights)
    assert_same(model, K.block(X[1::2], X[::2]), "float32", tmp_path)


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_monomials_are_in_the_order_of_features(degree):
    X = np.random.default_rng(0).normal(size=(5, 4))
    kernel = Polynomial(degree, gamma=0.3, coef0=2.0)
    factors, often = monomials(5, degree)
    Z = np.column_stack([np.sqrt(0.3) * X, np.full(5, np.sqrt(2.0))])
    np.testing.assert_allclose(Z[:, factors].prod(axis=2) * often, kernel.features(X))


# ---------------------------------------------------------------------- the other models


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize(
    "model", [PCA(3), PCA(3, whiten=True), PCA(3, standardize=True), IncrementalPCA(3, whiten=True)], ids=repr
)
def test_pca_agrees_with_transform(model, offset, dtype, wine, tmp_path):
    X = (wine / wine.std(axis=0) + offset).astype(np.float32).astype(np.float64)
    assert_same(model.fit(X[::2]), X[1::2], dtype, tmp_path)


def test_a_mean_in_single_precision_would_move_the_scores(tmp_path):
    """The mean lies between two numbers of single precision; rows are such numbers."""
    X = (1e6 + np.random.default_rng(0).normal(size=(200, 3))).astype(np.float32)
    model = PCA(2).fit(X.astype(np.float64))
    rounded = (X - model.mean_.astype(np.float32)) @ model.components_.T
    assert np.abs(rounded - model.transform(X)).max() > 1e-3
    assert_same(model, X, "float32", tmp_path)


LLE = [{}, {"metric": "cosine"}, {"standardize": True}, {"n_neighbors": 25, "method": "ltsa"}, {"reg": 1e-6}]
LLE += [{"n_neighbors": 3, "on_disconnected": "separate"}, {"n_neighbors": 1}, {"n_landmarks": 40}]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("params", LLE, ids=repr)
def test_new_rows_of_lle_agree_with_transform(params, dtype, wine, tmp_path):
    model = LocallyLinearEmbedding(**{"n_neighbors": 8} | params).fit(wine[::2].astype(dtype))
    assert_same(model, wine[1::2], dtype, tmp_path, tol=1e-5)
    assert_same(model, wine[::2], dtype, tmp_path, tol=1e-5)


def test_lle_of_digits_agrees_where_neighbours_are_not_a_matter_of_order(digits, tmp_path):
    new, old, k = digits[1::2], digits[::2], 10
    model = LocallyLinearEmbedding(n_neighbors=k).fit(old)
    distances = np.sort(((new[:, None] - old) ** 2).sum(axis=2), axis=1)
    untied = distances[:, k - 1] < distances[:, k]
    assert 0.5 < untied.mean() < 1
    assert_same(model, new[untied], "float64", tmp_path)


def test_lle_of_copies_gives_a_row_its_own_place(tmp_path):
    X = np.repeat(np.random.default_rng(0).normal(size=(30, 3)), 4, axis=0)
    model = LocallyLinearEmbedding(n_neighbors=3).fit(X)
    np.testing.assert_array_equal(scores_by_onnx(model, X, "float64", tmp_path), model.embedding_)


# ---------------------------------------------------------------------- the file


def test_the_file_says_what_it_is(wine, tmp_path):
    import pandas as pd

    names = ["naïve", 'a"b', "x\ny", *map(str, range(10))]
    model = KernelPCA(2, kernel=ChiSquared()).fit(pd.DataFrame(wine, columns=names))
    file = onnx.load(mercer.convert(model, tmp_path / "m.onnx").paths[0])
    notes = {prop.key: prop.value for prop in file.metadata_props}
    assert json.loads(notes["feature_names"]) == names
    assert json.loads(notes["component_names"]) == ["kernelpca0", "kernelpca1"]
    assert notes["mercer_version"] == mercer.__version__ and notes["model"] == "KernelPCA"
    assert notes["kernel"] == repr(model.kernel_) and "negative" in notes["domain"]
    assert notes["certificate"] == str(model.certificate_)
    assert {entry.domain for entry in file.opset_import} == {""}


def test_the_same_model_gives_the_same_bytes(wine, tmp_path):
    model = KernelPCA(2, kernel="rbf", gamma=1e-4).fit(wine)
    paths = [mercer.convert(model, tmp_path / name).paths[0] for name in ("a.onnx", "b.onnx")]
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_a_single_row_is_a_batch(wine, tmp_path):
    for model in (PCA(2), KernelPCA(2, kernel=Laplacian(1e-3)), LocallyLinearEmbedding()):
        assert scores_by_onnx(model.fit(wine), wine[:1], "float32", tmp_path).shape == (1, 2)


class _Twice(RBF):
    """A formula of its own under a known class."""


@pytest.mark.parametrize(
    ("model", "X", "words"),
    [
        (KernelPCA(kernel=Spectrum(2)), ["abc", "abd", "bcd", "xyz"], "it compares texts"),
        (KernelPCA(kernel=lambda x, y: float(x @ y)), np.eye(4), "function of Python"),
        (KernelPCA(kernel=Blockwise(lambda X, Y: X @ Y.T)), np.eye(4), "function of Python"),
        (KernelPCA(kernel=_Twice(gamma=1.0)), np.eye(4), "not among those"),
        (
            LocallyLinearEmbedding(n_neighbors=2, metric=RBF(gamma=1.0)),
            np.random.default_rng(0).normal(size=(9, 2)),
            "metric=",
        ),
        (LocallyLinearEmbedding(n_neighbors=2, reg=0.0), np.random.default_rng(0).normal(size=(9, 2)), "reg=0"),
    ],
)
def test_what_cannot_be_written_is_one_sentence(model, X, words, tmp_path):
    model.fit(X)
    with pytest.raises(WrongUse, match=words):
        mercer.convert(model, tmp_path / "m.onnx")
    assert not list(tmp_path.iterdir())


def test_a_model_of_more_than_two_gigabytes_is_refused(wine, tmp_path, monkeypatch):
    monkeypatch.setattr("mercer_old.conversions.onnx.graph._MOST", 10_000)
    with pytest.raises(mercer_old.errors.NoRoom, match="landmark"):
        mercer.convert(KernelPCA(2, kernel="rbf").fit(wine), tmp_path / "m.onnx")


def test_onnx_is_asked_for_by_name_if_it_is_missing(wine, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    with pytest.raises(mercer_old.errors.MissingPart, match=r'pip install "mercer\[onnx\]"'):
        mercer.convert(PCA(2).fit(wine), Path(tmp_path) / "m.onnx")
