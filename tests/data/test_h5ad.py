"""Single-cell files: the same values as in memory, sparse rows stay sparse, scores go where scanpy has them."""

import importlib.util
import random
from pathlib import Path

import h5py
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import decomposition

from mercer.data.opening import open_dataset
from mercer.errors import (
    DataError,
    MemoryLimitError,
    MercerError,
    MissingValuesError,
    OutputError,
    ParameterError,
    Remedy,
)
from mercer.estimators.pca import PCA

_spec = importlib.util.spec_from_file_location("h5ad_files", Path(__file__).with_name("h5ad_files.py"))
files = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(files)

RNG = np.random.default_rng(0)
X = (RNG.poisson(0.4, size=(60, 12)) * RNG.normal(2, 0.3, size=(60, 12))).astype(np.float32)
VARIABLE = np.arange(12) % 3 == 0


@pytest.fixture(params=["array", "csr_matrix", "csc_matrix"])
def kind(request):
    return request.param


@pytest.fixture
def path(tmp_path, kind):
    return files.write_h5ad(tmp_path / "cells.h5ad", X, kind)


def dense(rows):
    return rows.toarray() if sparse.issparse(rows) else rows


# ---------------------------------------------------------------------- reading


def test_values_names_and_metadata_are_those_of_the_file(path, kind):
    data = open_dataset(path, label="type", keep=["depth", "batch"])
    assert data.is_sparse == (kind != "array") and data.dtype == np.float32
    assert_array_equal(dense(data.load()), X)
    assert_array_equal(dense(data.take(np.array([7, 3, 59, 3]))), X[[7, 3, 59, 3]])
    blocks = list(data.blocks(17))
    assert [block.shape[0] for block in blocks] == [17, 17, 17, 9]
    assert all(sparse.issparse(block) == data.is_sparse for block in blocks)
    assert data.feature_names == tuple(f"gene{j}" for j in range(12)) and data.metadata.ids[:2] == ["cell0", "cell1"]
    assert list(data.metadata.columns) == ["id", "type", "depth", "batch"] and data.metadata.label_name == "type"
    assert data.metadata.columns["type"].to_pylist()[:4] == [None, "B", "T", None]
    assert data.metadata.columns["batch"].to_pylist()[:6] == [None, 1, 2, 3, 0, None]
    assert_array_equal(data.metadata.values("depth")[:2], [0, 1.5])


def test_layers_and_obsm(path):
    assert_array_equal(dense(open_dataset(path, layer="twice").load()), 2 * X)
    data = open_dataset(path, obsm="X_map")
    assert_array_equal(data.load(), X[:, :2])
    assert data.feature_names is None


def test_columns_by_name(path):
    assert_array_equal(dense(open_dataset(path, columns=["gene5", "gene1"]).load()), X[:, [5, 1]])
    assert open_dataset(path, drop="gene0").feature_names == tuple(f"gene{j}" for j in range(1, 12))


def test_highly_variable_genes_are_followed_with_a_note(tmp_path, kind):
    path = files.write_h5ad(tmp_path / "cells.h5ad", X, kind, VARIABLE)
    data = open_dataset(path)
    assert_array_equal(dense(data.load()), X[:, VARIABLE])
    assert data.feature_names == ("gene0", "gene3", "gene6", "gene9")
    (note,) = data.source.notes
    assert note.severity == "note" and note.remedies == (Remedy("mask_var", False),) and "4 of 12" in note.summary
    assert_array_equal(dense(open_dataset(path, mask_var=False).load()), X)
    assert_array_equal(dense(open_dataset(path, mask_var="highly_variable").load()), X[:, VARIABLE])
    assert_array_equal(dense(open_dataset(path, columns=["gene1"]).load()), X[:, [1]])
    assert open_dataset(path, drop=["gene3", "gene4"]).feature_names == ("gene0", "gene6", "gene9")
    assert open_dataset(path, drop=["gene3"], mask_var=False).shape == (60, 11)
    with pytest.raises(DataError):
        open_dataset(path, mask_var="variable")
    with pytest.raises(ParameterError):
        open_dataset(path, mask_var="highly_variable", columns=["gene1"])
    with pytest.raises(ParameterError):
        open_dataset(path, columns=["gene1", "gene1"])


@pytest.mark.parametrize("column", [np.zeros(12, dtype=bool), np.arange(12)], ids=["empty", "integers"])
def test_masks_that_select_nothing_or_are_not_boolean_are_refused(tmp_path, column):
    path = files.write_h5ad(tmp_path / "cells.h5ad", X, "array", column)
    with pytest.raises(DataError) as caught:
        open_dataset(path)
    assert caught.value.remedies == (Remedy("mask_var", False),)
    assert open_dataset(path, mask_var=False).shape == (60, 12)


@pytest.mark.parametrize("standardize", [False, True])
def test_pca_is_scikit_learns(path, standardize):
    rows = X / X.std(axis=0, dtype=float) if standardize else X.astype(float)
    model = PCA(3, standardize=standardize).fit(path)
    assert_allclose(
        model.explained_variance_ratio_, decomposition.PCA(3).fit(rows).explained_variance_ratio_, rtol=1e-5
    )
    assert model.feature_names_in_[0] == "gene0"


def test_gene_names_that_are_not_unique_are_positions(tmp_path):
    def same_names(file):
        del file["var/_index"]
        files.put_strings(file["var"], "_index", ["A"] * 12)

    path = changed(tmp_path, same_names)
    data = open_dataset(path)
    assert data.feature_names is None and len(data.source.notes) == 1 and data.shape == (60, 12)
    with pytest.raises(DataError):
        open_dataset(path, drop="A")


def test_duplicate_entries_are_summed(tmp_path):
    def add(file):
        group = file["X"]
        for part, value in (("data", [1.0, 2.0]), ("indices", [3, 3])):
            old = group[part][...]
            del group[part]
            group[part] = np.concatenate([old, np.array(value, dtype=old.dtype)])
        group["indptr"][-1] += 2

    expected = X.copy()
    expected[59, 3] += 3
    rows = open_dataset(changed(tmp_path, add)).load()
    assert rows.has_canonical_format
    assert_allclose(dense(rows), expected)


def test_links_to_other_files_are_not_followed(tmp_path):
    with h5py.File(tmp_path / "other.h5", "w") as other:
        files.put_matrix(other, "X", X)
        other["data"] = X[X != 0]

    for name, target in (("X", "/X"), ("X/data", "/data")):
        path = changed(tmp_path, put(name, h5py.ExternalLink(str(tmp_path / "other.h5"), target)))
        with pytest.raises(DataError):
            open_dataset(path)


# ---------------------------------------------------------------------- a copy with scores


def test_scores_loadings_and_variances_are_where_scanpy_has_them(path, tmp_path):
    before = path.read_bytes()
    data = open_dataset(path, drop=["gene3"], layer="twice")
    PCA(3).transform_to(data, tmp_path / "out.h5ad", method="fit_transform")
    rows = 2 * np.delete(X, 3, axis=1)
    theirs = decomposition.PCA(3).fit(rows)
    with h5py.File(tmp_path / "out.h5ad") as file:
        assert_allclose(np.abs(file["obsm/X_pca"]), np.abs(theirs.transform(rows)), atol=1e-3)
        loadings = file["varm/PCs"][...]
        assert loadings.shape == (12, 3) and loadings.dtype == np.float64 and not loadings[3].any()
        assert_allclose(np.abs(np.delete(loadings, 3, axis=0)), np.abs(theirs.components_.T), atol=1e-3)
        assert_allclose(file["uns/pca/variance"], theirs.explained_variance_, rtol=1e-4)
        assert_allclose(file["uns/pca/variance_ratio"], theirs.explained_variance_ratio_, rtol=1e-4)
        params = file["uns/pca/params"]
        assert params["zero_center"][()] and not params["use_highly_variable"][()]
        assert params["layer"].asstr()[()] == "twice"
        assert params["mask_var"][...].tolist() == [j != 3 for j in range(12)] and params["mask_var"].dtype == bool
        kinds = {name: element.attrs["encoding-type"] for name, element in params.items()}
        assert kinds == {"zero_center": "numeric-scalar", "use_highly_variable": "numeric-scalar", "layer": "string",
                         "mask_var": "array"}  # fmt: skip
        assert file["uns/pca"].attrs["encoding-type"] == file["uns/pca/params"].attrs["encoding-type"] == "dict"
        assert file["obsm/X_pca"].attrs["encoding-version"] == "0.2.0" and "X_map" in file["obsm"]
    assert path.read_bytes() == before and {each.name for each in tmp_path.iterdir()} == {"cells.h5ad", "out.h5ad"}


@pytest.mark.filterwarnings("ignore:4 of 12 columns")
def test_the_mask_of_scanpy_is_written_by_its_name(tmp_path, kind):
    path = files.write_h5ad(tmp_path / "cells.h5ad", X, kind, VARIABLE)
    PCA(2).transform_to(open_dataset(path), tmp_path / "out.h5ad", method="fit_transform")
    with h5py.File(tmp_path / "out.h5ad") as file:
        params = file["uns/pca/params"]
        assert params["mask_var"].asstr()[()] == "highly_variable" and params["use_highly_variable"][()]
        assert_array_equal(file["varm/PCs"][...].any(axis=1), VARIABLE)
    PCA(2).transform_to(open_dataset(path, mask_var=False), tmp_path / "all.h5ad", method="fit_transform")
    with h5py.File(tmp_path / "all.h5ad") as file:
        assert "mask_var" not in file["uns/pca/params"] and file["varm/PCs"].dtype == np.float32


def test_nothing_of_an_earlier_fit_is_left(path, tmp_path):
    PCA(3).transform_to(open_dataset(path), tmp_path / "one.h5ad", method="fit_transform")
    with h5py.File(tmp_path / "one.h5ad", "r+") as file:
        file["uns/pca/params/mask_var"] = "highly_variable"
    PCA(2).transform_to(open_dataset(tmp_path / "one.h5ad"), tmp_path / "two.h5ad", method="fit_transform")
    PCA(1).transform_to(
        open_dataset(tmp_path / "one.h5ad", obsm="X_map"), tmp_path / "three.h5ad", method="fit_transform"
    )
    for name, k, loadings in (("two.h5ad", 2, True), ("three.h5ad", 1, False)):
        with h5py.File(tmp_path / name) as file:
            assert set(file["uns/pca/params"]) == {"zero_center", "use_highly_variable"}
            assert file["obsm/X_pca"].shape == (60, k) and ("PCs" in file["varm"]) == loadings


def test_scores_of_other_data_have_no_place_in_an_h5ad_file(tmp_path):
    np.save(tmp_path / "x.npy", X)
    cells = files.write_h5ad(tmp_path / "cells.h5ad", X)
    model = PCA(2)
    for data in (X, tmp_path / "x.npy", open_dataset(cells, transpose=True)):
        with pytest.raises(OutputError):
            model.transform_to(data, tmp_path / "out.h5ad", method="fit_transform")
    with pytest.raises(OutputError):
        model.transform_to(cells, cells, method="fit_transform")
    assert not hasattr(model, "components_") and not (tmp_path / "out.h5ad").exists()


def test_scores_are_not_written_through_links(tmp_path):
    def link(file):
        del file["obsm"]
        file["obsm"] = h5py.ExternalLink("other.h5ad", "/obsm")

    with pytest.raises(DataError):
        PCA(1).transform_to(changed(tmp_path, link), tmp_path / "out.h5ad", method="fit_transform")
    assert [each.name for each in tmp_path.iterdir()] == ["cells.h5ad"]


# ---------------------------------------------------------------------- damaged and hostile files


def changed(tmp_path, change, kind="csr_matrix"):
    path = files.write_h5ad(tmp_path / "cells.h5ad", X, kind)
    with h5py.File(path, "r+") as file:
        change(file)
    return path


def put(name, value):
    def change(file):
        del file[name]
        file[name] = value

    return change


def entry(name, place, value):
    def change(file):
        file[name][place] = value

    return change


def longer(name, kind, length=10**10):
    """A list that takes no room in the file."""

    def change(file):
        attributes = dict(file[name].attrs)
        del file[name]
        file.create_dataset(name, (length,), kind, chunks=(1000,)).attrs.update(attributes)

    return change


def cyclic(file):
    file["obs/type"].pop("categories")
    file["obs/type/categories"] = file["obs/type"]


def large_chunk(file):
    del file["X"]
    file.create_dataset("X", (60, 12), "f8", chunks=(60, 12), maxshape=(None, None))
    del file["X"]
    group = files.put_matrix(file, "X", X, "csr_matrix")
    del group["data"]
    group.create_dataset("data", (int((X != 0).sum()),), "f4", chunks=(10**8,), maxshape=(None,), compression="gzip")


DAMAGED = {
    "no X": lambda file: file.pop("X"),
    "no obs": lambda file: file.pop("obs"),
    "no index": lambda file: file["obs"].pop("_index"),
    "no indptr": lambda file: file["X"].pop("indptr"),
    "a link to another file": put("X", h5py.ExternalLink("/etc/secret.h5", "/X")),
    "a part in another file": put("X/data", h5py.ExternalLink("/etc/secret.h5", "/data")),
    "a soft link": put("X/data", h5py.SoftLink("/obs/depth")),
    "row ends that decrease": entry("X/indptr", 5, 10**6),
    "negative row ends": entry("X/indptr", 0, -5),
    "too few row ends": put("X/indptr", [0, 1]),
    "row ends that are floats": put("X/indptr", np.linspace(0, 1, 61)),
    "indices beyond the columns": entry("X/indices", 3, 10**6),
    "negative indices": entry("X/indices", 3, -1),
    "infinite values": entry("X/data", 0, np.inf),
    "fewer genes": put("var/_index", np.array([b"gene"])),
    "strings": put("X/data", np.array([b"x"] * 9)),
    "another encoding": lambda file: file["X"].attrs.modify("encoding-type", "magic"),
    "another shape": lambda file: file["X"].attrs.update(shape=[60, 12, 1]),
    "a long index of cells": longer("obs/_index", "S8"),
    "a long index of genes": longer("var/_index", "S8"),
    "long row ends": longer("X/indptr", "i8"),
    "a long column": longer("obs/depth", "f8"),
    "long codes": longer("obs/type/codes", "i1"),
    "a long mask": longer("obs/batch/mask", "?"),
    "codes without a category": entry("obs/type/codes", 0, 100),
    "categories that are themselves": cyclic,
    "an index of two dimensions": put("obs/_index", np.zeros((60, 2))),
    "data of two dimensions": put("X/data", np.zeros((9, 2))),
}
TOO_LARGE = {
    "categories": longer("obs/type/categories", "S8"),
    "a chunk": large_chunk,
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_is_one_error(tmp_path, name):
    with pytest.raises(DataError) as caught:
        PCA(2).fit(open_dataset(changed(tmp_path, DAMAGED[name]), label="type", keep=["depth", "batch"]))
    assert caught.value.source.endswith("cells.h5ad") and "\n" not in str(caught.value)


@pytest.mark.parametrize("name", TOO_LARGE)
def test_a_file_that_claims_much_is_refused_before_it_is_read(tmp_path, name):
    with pytest.raises(MemoryLimitError) as caught:
        open_dataset(changed(tmp_path, TOO_LARGE[name]), label="type", memory_limit="300MB")
    assert caught.value.needed > caught.value.limit == 300_000_000


def test_missing_values_have_their_location(tmp_path, kind):
    rows = X.copy()
    rows[7, 5] = np.nan
    with pytest.raises(MissingValuesError) as caught:
        PCA(2).fit(files.write_h5ad(tmp_path / "cells.h5ad", rows, kind))
    assert (caught.value.row, caught.value.column) == (7, "'gene5'")


def test_a_matrix_by_columns_is_converted_within_the_limit(tmp_path):
    with pytest.raises(MemoryLimitError):
        open_dataset(files.write_h5ad(tmp_path / "cells.h5ad", X, "csc_matrix"), memory_limit="8kB")


def test_columns_and_matrices_that_do_not_exist(path):
    for options in ({"label": "typ"}, {"layer": "raw"}, {"obsm": "X_umap"}, {"id": "type"}, {"columns": ["gene99"]},
                    {"obsm": "X_map", "columns": ["gene1"]}):  # fmt: skip
        with pytest.raises(DataError):
            open_dataset(path, **options)
    assert open_dataset(path, label="typ", keep=["x"], optional_metadata=True).metadata.label_name is None


def test_a_file_that_changed_is_not_read_on(path):
    data = open_dataset(path)
    if not data.in_memory:
        path.write_bytes(path.read_bytes() + b" ")
        with pytest.raises(DataError):
            data.load()


@pytest.mark.parametrize(("kind", "count"), [("array", 400), ("csr_matrix", 300)])
def test_mutants_are_read_or_refused_in_words(tmp_path, kind, count):
    original = files.write_h5ad(tmp_path / "cells.h5ad", X, kind).read_bytes()
    path, rng, outcomes = tmp_path / "mutant.h5ad", random.Random(0), {"read": 0, "refused": 0}
    for i in range(count):
        content = bytearray(original)
        if i % 3 == 0:
            del content[rng.randrange(len(content)) :]
        else:
            for _ in range(rng.randint(1, 5)):
                content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        path.write_bytes(content)
        try:
            for _ in open_dataset(path, label="type", keep=["depth", "batch"], memory_limit="50MB").blocks(17):
                pass
            outcomes["read"] += 1
        except MercerError:
            outcomes["refused"] += 1
    assert outcomes["refused"] > count // 4 and outcomes["read"] > count // 10
