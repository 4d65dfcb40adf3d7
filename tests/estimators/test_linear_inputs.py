"""Rows of PCA from arrays, files, frames and sparse matrices."""

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from mercer import PCA, IncrementalPCA
from mercer_old.errors import BadData
from support.linear import SPARSE, SPARSE_SVD_SOLVERS, TALL, assert_same
from support.registry import ALL_FILES, write_file

# ---------------------------------------------------------------------- rows from anywhere


@pytest.mark.parametrize("kind", ALL_FILES)
@pytest.mark.parametrize("svd_solver", ["auto", "krylov", "qr"])
def test_files_of_every_kind_are_as_good_as_arrays(tmp_path, kind, svd_solver):
    X = np.random.default_rng(0).normal(size=(1500, 5)) * [5, 4, 3, 2, 1] + 7
    path = write_file(kind, tmp_path, X)
    params = dict(svd_solver=svd_solver, standardize=True)
    from_file, from_array = PCA(3, **params).fit(path), PCA(3, **params).fit(X)
    assert_same(from_file, from_array, rtol=1e-7)
    PCA(3, **params).fit_transform_to(path, tmp_path / "scores.npy")
    assert_allclose(np.load(tmp_path / "scores.npy"), from_array.transform(X), atol=1e-6)
    assert_same(IncrementalPCA(3).fit(path), PCA(3).fit(X))


def test_a_mapped_array_is_read_block_by_block(tmp_path):
    X = np.random.default_rng(0).normal(size=(5000, 6)).astype(np.float32)
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    for model in (PCA(2), IncrementalPCA(2)):
        assert_same(model.fit(mapped), PCA(2).fit(X), rtol=1e-5)
        assert_allclose(model.transform(mapped), model.transform(X))
    broken = np.load(tmp_path / "x.npy", mmap_mode="r+")
    broken[4321, 3] = np.nan
    with pytest.raises(BadData, match=r"missing value \(NaN\): row 4321, column 3"):
        IncrementalPCA(2).fit(broken)


@pytest.mark.parametrize(
    "frame", [pandas.DataFrame, polars.DataFrame, pyarrow.table], ids=["pandas", "polars", "arrow"]
)
def test_frames_bring_their_names(frame):
    columns = {name: TALL[:, j] for j, name in enumerate("abcd")}
    for model in (PCA(2), IncrementalPCA(2)):
        assert_allclose(model.fit(frame(columns)).components_, type(model)(2).fit(TALL[:, :4]).components_)
        if frame is not pyarrow.table:
            assert list(model.feature_names_in_) == list("abcd")


# ---------------------------------------------------------------------- what a review found


def test_entries_given_twice_are_added_up():
    once = SPARSE.copy()
    twice = sparse.csr_array(
        (np.repeat(once.data / 2, 2), np.repeat(once.indices, 2), once.indptr * 2), shape=once.shape
    )
    for svd_solver in SPARSE_SVD_SOLVERS:
        assert_same(PCA(2, svd_solver=svd_solver).fit(twice), PCA(2, svd_solver=svd_solver).fit(once))
    assert twice.nnz == 2 * once.nnz  # and stay as they were given


@pytest.mark.parametrize("model", [PCA(2), IncrementalPCA(2)], ids=["PCA", "IncrementalPCA"])
def test_rows_of_weight_zero_in_a_file_do_not_count(tmp_path, model):
    np.save(tmp_path / "x.npy", TALL[:10])
    weights = np.array([1, 0, 2, 0, 0, 1, 0, 3, 0, 0.0])
    from_file = model.fit(tmp_path / "x.npy", sample_weight=weights)
    assert_same(from_file, type(model)(2).fit(TALL[:10], sample_weight=weights))
    with pytest.raises(ValueError, match="n_components=8"):  # the weights count seven rows
        type(model)(8).fit(tmp_path / "x.npy", sample_weight=weights)


def test_wide_rows_from_a_file_are_loaded_if_they_fit(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 3000))
    np.save(tmp_path / "x.npy", X)
    model = PCA(5).fit(tmp_path / "x.npy")
    assert model.plan_.held == "gram"
    assert_same(model, PCA(5).fit(X))
