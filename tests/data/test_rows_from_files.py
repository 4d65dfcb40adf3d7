"""Rows from files: the same model to the last bit, wherever the rows lie."""

import os
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from pyarrow import parquet
from sklearn.utils.fixes import parse_version

import mercer
from mercer import KernelPCA
from mercer_old.errors import BadData, MercerWarning
from mercer_old.outlets import KINDS
from mercer_old.sources.held import HeldRows
from mercer_old.sources.items import regroup
from support.registry import ALL_FILES, table, write_file
from support.stored import X, landmark


@pytest.fixture(params=ALL_FILES)
def file(request, tmp_path):
    return write_file(request.param, tmp_path, X)


# ---------------------------------------------------------------------- the contract


def test_a_source_gives_its_rows_in_blocks_of_any_size(file):
    rows = mercer.open_rows(file)
    assert rows.shape == X.shape and rows.dtype == np.float64 and len(rows) == 2000
    for size in (1000, 999, 5000, 1):
        blocks = list(rows.blocks(size))
        assert all(len(block) == size for block in blocks[:-1])
        assert_array_equal(np.concatenate(blocks), X)
    assert_array_equal(rows.load(), X)
    some = np.array([1999, 3, 3, 700])
    assert_array_equal(rows[some], X[some])


def test_names_come_from_the_file(file):
    named = ("npy" not in file.name and b"a" in file.read_bytes()[:3]) or file.suffix in (
        ".parquet",
        ".arrow",
        ".feather",
    )
    assert mercer.open_rows(file).names == (tuple("abcd") if named else None)


def test_a_model_is_the_same_to_the_last_bit_wherever_its_rows_lie(file):
    here, there = landmark(gamma="median").fit(X), landmark(gamma="median").fit(file)
    assert_array_equal(here.eigenvalues_, there.eigenvalues_)
    assert here.certificate_ == there.certificate_ and here.gamma_ == there.gamma_
    assert_array_equal(here.landmark_indices_, there.landmark_indices_)
    assert_array_equal(here.transform(X), there.transform(file))
    assert_array_equal(here.fit_transform(X), there.fit_transform(file))
    weights = np.random.default_rng(1).uniform(1, 3, size=len(X))
    here, there = landmark().fit(X, sample_weight=weights), landmark().fit(file, sample_weight=weights)
    assert_array_equal(here.eigenvalues_, there.eigenvalues_)
    weights[::3] = 0
    here, there = (landmark().fit(rows, sample_weight=weights) for rows in (X, file))
    assert_array_equal(here.landmark_indices_, there.landmark_indices_)
    assert_allclose(here.eigenvalues_, there.eigenvalues_, rtol=1e-10)
    assert_allclose(here.explained_variance_, there.explained_variance_, rtol=1e-10)


WEIGHTS = np.random.default_rng(1).integers(0, 3, size=len(X))


@cache
def certified(weighted):
    """Of rows in memory, once for all kinds of files."""
    return KernelPCA(3, kernel="rbf").fit(X, sample_weight=WEIGHTS if weighted else None)


def test_the_certified_way_reads_files_too(file):
    here, there = certified(weighted=False), KernelPCA(3, kernel="rbf").fit(file)
    assert there.certificate_.certified
    assert_array_equal(here.eigenvalues_, there.eigenvalues_)
    assert_array_equal(here.X_fit_, there.X_fit_)
    assert_allclose(here.transform(X), there.transform(file), atol=1e-13)
    there = KernelPCA(3, kernel="rbf").fit(file, sample_weight=WEIGHTS)
    assert_array_equal(certified(weighted=True).eigenvalues_, there.eigenvalues_)


def test_columns_are_chosen_by_name(tmp_path):
    path = write_file(".parquet", tmp_path, X)
    assert_array_equal(mercer.open_rows(path, columns=["d", "b"]).load(), X[:, [3, 1]])
    assert_array_equal(mercer.open_rows(path, drop=["a", "c"]).load(), X[:, [1, 3]])
    with pytest.raises(BadData, match="has no column 'z'; it has 'a', 'b', 'c', 'd'"):
        mercer.open_rows(path, drop=["z"])
    with pytest.raises(BadData, match="no column names to choose by"):
        mercer.open_rows(write_file(".npy", tmp_path, X), columns=["a"])
    with pytest.raises(BadData, match="2,000 rows and 0 columns"):
        mercer.open_rows(path, columns=[])


def test_integers_booleans_and_single_precision_are_numbers(tmp_path):
    path = tmp_path / "mixed.parquet"
    parquet.write_table(
        pa.table({"i": pa.array([1, 2, 3]), "b": [True, False, True], "f": pa.array([1, 2, 3], "float32")}), path
    )
    assert_array_equal(mercer.open_rows(path).load(), [[1, 1, 1], [2, 0, 2], [3, 1, 3]])
    np.save(tmp_path / "single.npy", X.astype(np.float32))
    rows = mercer.open_rows(tmp_path / "single.npy")
    assert rows.dtype == np.float32 and landmark().fit_transform(rows).dtype == np.float32
    np.save(tmp_path / "whole.npy", np.arange(6).reshape(3, 2))
    assert_array_equal(mercer.open_rows(tmp_path / "whole.npy").load(), np.arange(6.0).reshape(3, 2))


@pytest.mark.parametrize(
    "frame",
    [pd.DataFrame(X, columns=list("abcd")), pl.DataFrame(X, schema=list("abcd")), table(X)],
    ids=["pandas", "polars", "pyarrow"],
)
def test_frames_are_rows(frame):
    model = landmark().fit(frame)
    new = isinstance(frame, pl.DataFrame) and not hasattr(frame, "__dataframe__")
    if not new or parse_version(sklearn.__version__) >= parse_version("1.7"):
        assert list(model.feature_names_in_) == list("abcd")  # scikit-learn 1.6 cannot read those of polars 2
    assert_allclose(model.transform(frame), landmark().fit(X).transform(X), atol=1e-10)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
def test_text_and_gaps_in_frames_are_named(make):
    with pytest.raises(ValueError, match=r"Column 'city' holds text, first '.*' at row index 0: leave it out"):
        landmark().fit(make({"a": [1.0, 2.0, 3.0], "city": ["Ulm", "Jena", "Trier"]}))
    with pytest.raises(ValueError, match="One value is not finite, first at row index 1, column 'b'"):
        landmark().fit(make({"a": [1.0, 2.0, 3.0], "b": [1.0, None, 3.0]}))


def test_regrouping_keeps_every_row():
    for sizes in ([3, 4, 0, 9, 1], [17], [1] * 17, [16, 1]):
        pieces = np.split(np.arange(34).reshape(17, 2), np.cumsum(sizes)[:-1])
        for size in (1, 4, 5, 17, 40):
            blocks = list(regroup(iter(pieces), size))
            assert_array_equal(np.concatenate(blocks), np.arange(34).reshape(17, 2))
            assert all(len(block) == size for block in blocks[:-1]) and len(blocks[-1]) <= size
    assert list(HeldRows(X).blocks(1500))[1].shape == (500, 4)


# ---------------------------------------------------------------------- new rows


def test_new_rows_have_the_columns_of_the_old_ones(tmp_path):
    model = landmark().fit(write_file(".parquet", tmp_path, X))
    assert list(model.feature_names_in_) == list("abcd") and model.n_features_in_ == 4
    with pytest.raises(ValueError, match="has 3 features, but KernelPCA is expecting 4 features"):
        model.transform(write_file(".parquet", tmp_path, X[:, :3]))
    path = tmp_path / "other.parquet"
    parquet.write_table(table(X).rename_columns(["a", "b", "x", "d"]), path)
    with pytest.raises(ValueError, match=r"feature names should match .* column 2 of .* is 'x', and 'c' was there"):
        model.transform(path)
    assert model.transform(write_file(".npy", tmp_path, X)).shape == (2000, 3)


def test_a_text_is_no_file():
    with pytest.raises(ValueError, match=r"If it is the name of a file, give pathlib.Path\('big.parquet'\)"):
        landmark().fit("big.parquet")


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != ".h5ad"])  # which is a copy of another file
def test_scores_are_written_as_they_are(tmp_path, kind):
    model = landmark().fit(X)
    written = model.transform_to(X, tmp_path / f"scores{kind}")
    assert_array_equal(mercer.open_rows(written).load(), model.transform(X))
    assert mercer.open_rows(written).names in (None, ("kernelpca0", "kernelpca1", "kernelpca2"))
    again = landmark().fit_transform_to(write_file(".npy", tmp_path, X), tmp_path / f"again{kind}")
    assert_array_equal(mercer.open_rows(again).load(), model.transform(X))
    certified = KernelPCA(3, kernel="rbf")
    path = certified.fit_transform_to(X, tmp_path / f"certified{kind}")
    assert_array_equal(mercer.open_rows(path).load(), certified.fit_transform(X))
    assert sorted(path.suffix for path in tmp_path.iterdir()) == sorted([kind] * 3 + [".npy"])  # and nothing else


# ---------------------------------------------------------------------- odd files


def test_rows_are_taken_by_numbers_that_exist(file):
    rows = mercer.open_rows(file)
    for wrong in ([-1], [2000], [5, 9999]):
        with pytest.raises(IndexError, match="has rows 0 to 1,999"):
            rows[np.array(wrong)]
    with pytest.raises(TypeError, match="array of whole numbers"):
        rows[np.ones(2000, dtype=bool)]
    kept = np.arange(2000) % 7 == 0
    assert_array_equal(rows.load(kept), X[kept])


def test_a_bandwidth_is_found_from_few_rows_too(tmp_path):
    path = write_file(".csv", tmp_path, X[:300])
    assert landmark(gamma="median").fit(path).gamma_ == landmark(gamma="median").fit(X[:300]).gamma_


@pytest.mark.parametrize(
    ("text", "names", "first"),
    [
        ("a;b\n1,5;2\n", ("a", "b"), [1.5, 2]),
        ("1.5,NA,3\n1,2,3\n", None, "gap"),
        ("2.5,3,4\n1,2,3\n", None, [2.5, 3, 4]),
        ('"a,b";"c"\r\n1;2\r\n', ("a,b", "c"), [1, 2]),
        ("\n\na,b\n1,2\n", ("a", "b"), [1, 2]),
        (" a , b \n1,2\n", ("a", "b"), [1, 2]),
        ("a,b\n1,true\n2,false\n", ("a", "b"), [1, 1]),
        ("a\n1\n2\n", ("a",), [1]),
        ("a\tb|c\n1\t2\n", ("a", "b|c"), [1, 2]),
    ],
)
def test_odd_text_tables_are_understood_or_told(tmp_path, text, names, first):
    path = tmp_path / "x.csv"
    path.write_bytes(text.encode())
    if isinstance(first, list):
        rows = mercer.open_rows(path)
        assert rows.names == names
        assert_array_equal(rows.load()[0], first)
    else:
        with pytest.raises(BadData, match=r"line 1 \(row 0, counted from 0\), column 1"):
            mercer.open_rows(path).load()


def test_a_line_of_years_is_a_row_unless_it_is_said_to_be_a_header(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("2019,2020,2021\n1,2,3\n4,5,6\n")
    with pytest.warns(MercerWarning, match=r"taken as a row of numbers: 2019, 2020, 2021\. If .*header=True"):
        assert mercer.open_rows(path).shape == (3, 3)
    rows = mercer.open_rows(path, header=True)
    assert rows.names == ("2019", "2020", "2021") and rows.shape == (2, 3)
    assert mercer.open_rows(path, header=False).shape == (3, 3)


def test_the_index_of_pandas_is_no_column(tmp_path):
    frame = pd.DataFrame(X[:50], columns=list("abcd"), index=np.arange(50) * 3)
    frame.to_csv(tmp_path / "x.csv")
    rows = mercer.open_rows(tmp_path / "x.csv")
    assert rows.names == tuple("abcd") and list(rows.row_names) == [str(3 * i) for i in range(50)]
    assert mercer.open_rows(tmp_path / "x.csv", drop=[""]).row_names is None
    parquet.write_table(pa.Table.from_pandas(frame), tmp_path / "x.parquet")
    rows = mercer.open_rows(tmp_path / "x.parquet")
    assert rows.names == tuple("abcd") and list(rows.row_names) == [3 * i for i in range(50)]


def test_odd_columns_of_tables_are_numbers_too(tmp_path):
    path = tmp_path / "x.parquet"
    decimals = pa.array([1.5, 2.5, 3.5]).cast(pa.decimal128(5, 2))
    parquet.write_table(
        pa.table({"d": decimals, "big": pa.array([2**60 + 1, 1, 2]), "u": pa.array([1, 2, 3], "uint8")}), path
    )
    assert_array_equal(mercer.open_rows(path).load()[:, [0, 2]], [[1.5, 1], [2.5, 2], [3.5, 3]])
    with pytest.raises(BadData, match=r"'u' of .* was asked for more than once"):
        mercer.open_rows(path, columns=["u", "u"])


@pytest.mark.skipif(os.name == "nt", reason="pipes as on Unix")
def test_a_pipe_is_refused_before_it_is_opened(tmp_path):
    os.mkfifo(tmp_path / "x.csv")
    with pytest.raises(BadData, match="no regular file"):
        landmark().fit(tmp_path / "x.csv")
