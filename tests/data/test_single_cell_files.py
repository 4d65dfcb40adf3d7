"""Single-cell files: the same answers as from memory, sparse rows stay sparse, and scores go where scanpy has them."""

import h5py
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import decomposition

import mercer
from mercer_old.errors import BadData, NoRoom, WrongUse
from support.single_cell import texts, write_h5ad

KINDS = ["array", "csr_matrix", "csc_matrix"]
RNG = np.random.default_rng(0)
X = (RNG.poisson(0.4, size=(60, 12)) * RNG.normal(2, 0.3, size=(60, 12))).astype(np.float32)


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def path(tmp_path, kind):
    return write_h5ad(tmp_path / "cells.h5ad", X, kind)


def dense(rows):
    return rows.toarray() if sparse.issparse(rows) else rows


def test_numbers_names_and_columns_are_those_of_the_file(path, kind):
    rows = mercer.open_rows(path, label="type", keep=["depth", "batch"])
    assert rows.sparse == (kind != "array")
    assert_array_equal(dense(rows.load()), X)
    assert_array_equal(dense(rows[np.array([7, 3, 59, 3])]), X[[7, 3, 59, 3]])
    blocks = list(rows.blocks(17))
    assert [block.shape[0] for block in blocks] == [17, 17, 17, 9]
    assert all(sparse.issparse(block) == rows.sparse for block in blocks)
    assert rows.names[:2] == ("gene0", "gene1") and list(rows.row_names)[:2] == ["cell0", "cell1"]
    assert list(rows.beside["type"])[:4] == [None, "B", "T", None]
    assert list(rows.beside["depth"])[:2] == [0, 1.5]
    assert list(rows.beside["batch"])[:6] == [None, 1, 2, 3, 0, None]


def test_layers_and_matrices_of_obsm_are_read_instead(path):
    assert_array_equal(dense(mercer.open_rows(path, layer="twice").load()), 2 * X)
    assert_array_equal(mercer.open_rows(path, obsm="X_map").load(), X[:, :2])


def test_columns_are_chosen_by_names_of_genes(path):
    rows = mercer.open_rows(path, columns=["gene5", "gene1"])
    assert_array_equal(dense(rows.load()), X[:, [5, 1]])
    assert mercer.open_rows(path, drop="gene0").names == tuple(f"gene{j}" for j in range(1, 12))
    with pytest.raises(BadData, match=r"no column 'gene99'.*it has 'gene0'"):
        mercer.open_rows(path, columns=["gene99"])


@pytest.mark.parametrize("standardize", [False, True])
def test_pca_is_scikit_learns(path, standardize):
    scaled = X / X.std(axis=0, dtype=float) if standardize else X.astype(float)
    theirs = decomposition.PCA(3).fit(scaled)
    model = mercer.PCA(3, standardize=standardize).fit(mercer.open_rows(path))
    assert_allclose(model.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-5)


def test_kernel_pca_and_lle_are_those_of_memory(path):
    rows = mercer.open_rows(path)
    ours, theirs = (mercer.KernelPCA(3, kernel="rbf").fit(each) for each in (rows, X))
    assert_allclose(np.abs(ours.transform(rows)), np.abs(theirs.transform(X)), atol=1e-5)
    ours, theirs = (mercer.LocallyLinearEmbedding(n_components=2).fit(each) for each in (rows, X))
    assert_allclose(ours.reconstruction_error_, theirs.reconstruction_error_, rtol=1e-3)


# ---------------------------------------------------------------------- scores in a copy


def test_scores_loadings_and_variances_are_where_scanpy_has_them(path, tmp_path):
    before = path.read_bytes()
    rows = mercer.open_rows(path, drop=["gene3"], layer="twice")
    model = mercer.PCA(3)
    model.fit_transform_to(rows, tmp_path / "out.h5ad")
    theirs = decomposition.PCA(3).fit(2 * np.delete(X, 3, axis=1))
    with h5py.File(tmp_path / "out.h5ad") as store:
        assert_allclose(np.abs(store["obsm/X_pca"]), np.abs(theirs.transform(2 * np.delete(X, 3, axis=1))), atol=1e-3)
        loadings = store["varm/PCs"][...]
        assert loadings.shape == (12, 3) and not loadings[3].any()
        assert_allclose(np.abs(np.delete(loadings, 3, axis=0)), np.abs(theirs.components_.T), atol=1e-3)
        assert_allclose(store["uns/pca/variance"], theirs.explained_variance_, rtol=1e-4)
        assert_allclose(store["uns/pca/variance_ratio"], theirs.explained_variance_ratio_, rtol=1e-4)
        params = store["uns/pca/params"]
        assert params["zero_center"][()] and not params["use_highly_variable"][()]
        assert params["layer"].asstr()[()] == "twice"
        assert params["mask_var"][...].tolist() == [j != 3 for j in range(12)]  # as scanpy, of a mask that is given
        assert params["mask_var"].attrs["encoding-type"] == "array" and params["mask_var"].dtype == bool
        kinds = {name: store[name].attrs["encoding-type"] for name in ("obsm/X_pca", "uns/pca", "uns/pca/params")}
        assert kinds == {"obsm/X_pca": "array", "uns/pca": "dict", "uns/pca/params": "dict"}
        assert params["layer"].attrs["encoding-type"] == "string"
        assert params["zero_center"].attrs["encoding-type"] == "numeric-scalar"
        assert "X_map" in store["obsm"]  # what was there stays
    assert path.read_bytes() == before and sorted(each.name for each in tmp_path.iterdir()) == [
        "cells.h5ad",
        "out.h5ad",
    ]


@pytest.mark.parametrize(
    ("model", "key"),
    [
        (mercer.KernelPCA(2, kernel="rbf"), "X_kernelpca"),
        (mercer.LocallyLinearEmbedding(n_components=2), "X_lle"),
        (mercer.IncrementalPCA(2), "X_pca"),
    ],
    ids=lambda each: each if isinstance(each, str) else type(each).__name__,
)
def test_scores_of_other_models_have_names_of_their_own(path, tmp_path, model, key):
    model.fit_transform_to(mercer.open_rows(path), tmp_path / "out.h5ad")
    with h5py.File(tmp_path / "out.h5ad") as store:
        assert store["obsm"][key].shape == (60, 2) and ("PCs" in store["varm"]) == (key == "X_pca")


def test_a_second_fit_replaces_the_first(path, tmp_path):
    mercer.PCA(3).fit_transform_to(mercer.open_rows(path), tmp_path / "one.h5ad")
    mercer.PCA(2).fit_transform_to(mercer.open_rows(tmp_path / "one.h5ad"), tmp_path / "two.h5ad")
    with h5py.File(tmp_path / "two.h5ad") as store:
        assert store["obsm/X_pca"].shape == (60, 2) and store["uns/pca/variance"].shape == (2,)


def test_scores_of_matrices_of_obsm_have_no_loadings_of_genes(path, tmp_path):
    mercer.PCA(1).fit_transform_to(mercer.open_rows(path, obsm="X_map"), tmp_path / "out.h5ad")
    with h5py.File(tmp_path / "out.h5ad") as store:
        assert "X_pca" in store["obsm"] and "PCs" not in store["varm"]


def test_nothing_of_an_earlier_fit_is_left(path, tmp_path):
    """Loadings of genes, and what scanpy says of them, belong to other scores."""
    mercer.PCA(3).fit_transform_to(mercer.open_rows(path), tmp_path / "one.h5ad")
    with h5py.File(tmp_path / "one.h5ad", "r+") as store:
        store["uns/pca/params/mask_var"] = "highly_variable"
    mercer.PCA(2).fit_transform_to(mercer.open_rows(tmp_path / "one.h5ad"), tmp_path / "two.h5ad")
    mercer.PCA(1).fit_transform_to(mercer.open_rows(tmp_path / "one.h5ad", obsm="X_map"), tmp_path / "three.h5ad")
    for name, loadings in (("two.h5ad", True), ("three.h5ad", False)):
        with h5py.File(tmp_path / name) as store:
            assert set(store["uns/pca/params"]) == {"zero_center", "use_highly_variable"}
            assert ("PCs" in store["varm"]) == loadings


def elsewhere(store):
    del store["obsm"]
    store["obsm"] = h5py.ExternalLink("other.h5ad", "/obsm")


def no_group(store):
    store["uns/pca"] = 3.0


@pytest.mark.parametrize(("spoil", "told"), [(elsewhere, "'obsm' of the .h5ad file is a link"), (no_group, None)])
def test_scores_are_not_written_through_links(tmp_path, spoil, told):
    rows = mercer.open_rows(spoiled(tmp_path, spoil))
    if told is None:  # what has the name of ours gives way
        mercer.PCA(1).fit_transform_to(rows, tmp_path / "out.h5ad")
        return
    with pytest.raises(BadData, match=told):
        mercer.PCA(1).fit_transform_to(rows, tmp_path / "out.h5ad")
    assert [each.name for each in tmp_path.iterdir()] == ["cells.h5ad"]


def test_loadings_are_as_wide_as_those_of_scanpy(path, tmp_path):
    for drop, kind in ((), np.float32), (("gene0",), np.float64):
        mercer.PCA(1).fit_transform_to(mercer.open_rows(path, drop=drop), tmp_path / "out.h5ad")
        with h5py.File(tmp_path / "out.h5ad") as store:
            assert store["varm/PCs"].dtype == kind


def test_scores_of_other_files_have_no_place_in_an_h5ad_file(tmp_path):
    np.save(tmp_path / "x.npy", X)
    for rows in (X, tmp_path / "x.npy"):
        with pytest.raises(WrongUse, match=r"added to a copy of the \.h5ad file"):
            mercer.PCA(2).fit_transform_to(rows, tmp_path / "out.h5ad")
    assert [each.name for each in tmp_path.iterdir()] == ["x.npy"]


def test_scores_of_columns_have_no_place_in_an_h5ad_file_which_is_told_before_the_fit(tmp_path):
    model = mercer.PCA(2)
    rows = mercer.open_rows(write_h5ad(tmp_path / "cells.h5ad", X, "array"), transpose=True)
    with pytest.raises(WrongUse, match="none of its rows"):
        model.fit_transform_to(rows, tmp_path / "out.h5ad")
    assert not hasattr(model, "components_")


def test_anndata_reads_what_we_wrote_and_we_read_what_it_writes(path, tmp_path):
    anndata = pytest.importorskip("anndata")
    mercer.PCA(3).fit_transform_to(mercer.open_rows(path), tmp_path / "out.h5ad")
    found = anndata.read_h5ad(tmp_path / "out.h5ad")
    assert found.obsm["X_pca"].shape == (60, 3) and found.varm["PCs"].shape == (12, 3)
    assert set(found.uns["pca"]) == {"params", "variance", "variance_ratio"}
    found.write_h5ad(tmp_path / "again.h5ad")
    rows = mercer.open_rows(tmp_path / "again.h5ad", label="type")
    assert_array_equal(dense(rows.load()), X)
    assert list(rows.beside["type"])[:4] == [None, "B", "T", None]


def test_real_cells_of_scanpy_are_read():
    scanpy = pytest.importorskip("scanpy")
    from pathlib import Path

    file = Path(scanpy.datasets.__file__).parent / "10x_pbmc68k_reduced.h5ad"
    rows = mercer.open_rows(file, label="bulk_labels")
    assert rows.shape == (700, 765) and "Dendritic" in set(rows.beside["bulk_labels"])


# ---------------------------------------------------------------------- bad files


def spoiled(tmp_path, spoil, kind="csr_matrix"):
    path = write_h5ad(tmp_path / "cells.h5ad", X, kind)
    with h5py.File(path, "r+") as store:
        spoil(store)
    return path


def put(name, value):
    def spoil(store):
        del store[name]
        store[name] = value

    return spoil


def entry(name, place, value):
    def spoil(store):
        store[name][place] = value

    return spoil


def linked(store):
    del store["X"]
    store["X"] = h5py.ExternalLink("/etc/secret.h5", "/X")


def linked_inside(store):
    del store["X/data"]
    store["X/data"] = h5py.ExternalLink("/etc/secret.h5", "/data")


def without_gene(store):
    del store["var/_index"]
    texts(store["var"], "_index", ["gene"])


def longer(name, kind, length=10**10):
    """A list that takes no room in the file."""

    def spoil(store):
        attributes = dict(store[name].attrs)
        del store[name]
        store.create_dataset(name, (length,), kind, chunks=(1000,)).attrs.update(attributes)

    return spoil


def cyclic(store):
    store["obs/type/codes"].parent.pop("categories")
    store["obs/type/categories"] = store["obs/type"]


LONG = {
    "cells": (longer("obs/_index", "S8"), BadData, "has 60 rows, and obs 10,000,000,000"),
    "genes": (longer("var/_index", "S8"), NoRoom, "'/var/_index' takes about 600 GB, over the limit of 1 GB"),
    "ends": (longer("X/indptr", "i8"), BadData, "do not fit together"),
    "a column": (longer("obs/depth", "f8"), BadData, "'depth' of obs has 10,000,000,000 cells for 60 rows"),
    "codes": (longer("obs/type/codes", "i1"), BadData, "'type' of obs has 10,000,000,000 cells for 60 rows"),
    "categories": (longer("obs/type/categories", "S8"), NoRoom, "'/obs/type/categories' takes about 600 GB"),
    "marks": (longer("obs/batch/mask", "?"), BadData, "'batch' of obs has 60 cells and 10,000,000,000 marks"),
    "categories that are themselves": (cyclic, BadData, "cannot be read|damaged"),
    "an index of two dimensions": (put("obs/_index", np.zeros((60, 2))), BadData, "'_index' is no list of cells"),
    "data of two dimensions": (put("X/data", np.zeros((9, 2))), BadData, "data of X is no list"),
}


@pytest.mark.parametrize("name", LONG)
def test_a_file_that_claims_much_is_refused_before_it_is_read(tmp_path, name):
    spoil, kind, words = LONG[name]
    with pytest.raises(kind, match=words):
        mercer.open_rows(spoiled(tmp_path, spoil), label="type", keep=["depth", "batch"], memory_limit="1GB")


SPOILED = {
    "no X": (lambda store: store.pop("X"), "has no matrix 'X'"),
    "no obs": (lambda store: store.pop("obs"), "has no obs"),
    "no index": (lambda store: store["obs"].pop("_index"), "obs has no index"),
    "no parts": (lambda store: store["X"].pop("indptr"), "X has no indptr"),
    "a link to another file": (linked, "a link to elsewhere, which is not followed"),
    "a part in another file": (linked_inside, "a link to elsewhere, which is not followed"),
    "ends that go back": (entry("X/indptr", 5, 10**6), "do not fit together"),
    "ends that are negative": (entry("X/indptr", 0, -5), "do not fit together"),
    "too few ends": (put("X/indptr", [0, 1]), "do not fit together"),
    "places beyond the columns": (entry("X/indices", 3, 10**6), "entries outside of its 12 columns"),
    "places before the columns": (entry("X/indices", 3, -1), "entries outside of its 12 columns"),
    "NaN": (entry("X/data", 0, np.nan), r"a missing value \(NaN\): row \d+, column \d+"),
    "an infinite value": (entry("X/data", 0, np.inf), r"an infinite value \(inf\)"),
    "fewer genes": (without_gene, "12 columns, and var 1"),
    "texts for numbers": (put("X/data", np.array([b"x"] * 9)), "values; numbers are needed"),
    "another encoding": (lambda store: store["X"].attrs.modify("encoding-type", "magic"), "stored as 'magic'"),
}


@pytest.mark.parametrize("name", SPOILED)
def test_a_damaged_file_is_one_sentence(tmp_path, name):
    spoil, words = SPOILED[name]
    with pytest.raises(BadData, match=words):
        mercer.PCA(2).fit(mercer.open_rows(spoiled(tmp_path, spoil)))


def test_categories_that_are_not_there_are_told(tmp_path):
    path = spoiled(tmp_path, entry("obs/type/codes", 0, 100))
    assert mercer.open_rows(path).shape == (60, 12)
    with pytest.raises(BadData, match="categories that are not there"):
        mercer.open_rows(path, label="type")


def test_columns_and_matrices_that_are_not_there_are_told(path):
    with pytest.raises(BadData, match=r"no column 'typ'.*Did you mean 'type'"):
        mercer.open_rows(path, label="typ")
    with pytest.raises(BadData, match=r"no layer 'raw'; it has 'twice'"):
        mercer.open_rows(path, layer="raw")
    with pytest.raises(BadData, match=r"no matrix in obsm 'X_umap'; it has 'X_map'"):
        mercer.open_rows(path, obsm="X_umap")
    with pytest.raises(BadData, match="layer and obsm name two matrices"):
        mercer.open_rows(path, layer="twice", obsm="X_map")
    with pytest.raises(BadData, match="cannot name rows"):
        mercer.open_rows(path, id="type")


def test_names_of_genes_that_are_not_all_different_do_not_stop_a_fit(tmp_path):
    def twice(store):
        del store["var/_index"]
        texts(store["var"], "_index", ["A"] * 12)

    rows = mercer.open_rows(spoiled(tmp_path, twice))
    assert rows.names is None and "not all different" in rows.notes[0]
    with pytest.raises(BadData, match="no names of columns to choose by"):
        mercer.open_rows(rows.path, drop="A")


def test_a_matrix_by_columns_is_turned_round_only_within_the_limit(tmp_path):
    path = write_h5ad(tmp_path / "cells.h5ad", X, "csc_matrix")
    with pytest.raises(NoRoom, match=r"stored by columns.*over the limit of 8 kB"):
        mercer.open_rows(path, memory_limit="8kB")


def test_what_is_no_hdf5_is_one_sentence(tmp_path):
    (tmp_path / "x.h5ad").write_bytes(b"a,b\n1,2\n")
    with pytest.raises(BadData, match=r"x\.h5ad cannot be read"):
        mercer.open_rows(tmp_path / "x.h5ad")
    with pytest.raises(BadData, match="there is no such file"):
        mercer.open_rows(tmp_path / "y.h5ad")
