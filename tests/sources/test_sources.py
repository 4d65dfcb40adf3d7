"""Rows from files: the same model to the last bit, wherever the rows lie, and one sentence for every bad file."""

import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from pyarrow import csv, feather, parquet
from sklearn.utils.fixes import parse_version

import mercer
from mercer import KernelPCA
from mercer.errors import BadData, CannotWrite, MercerWarning, NoRoom, WrongUse
from mercer.outlets import KINDS, outlet
from mercer.sources.held import HeldRows
from mercer.sources.items import regroup
from support.registry import ALL_FILES, table, write_file

X = np.random.default_rng(0).normal(size=(2000, 4)) * [1, 2, 3, 4]


def landmark(**params):
    return KernelPCA(3, kernel="rbf", eigen_solver="landmark", n_landmarks=50, **params)


@pytest.fixture(params=ALL_FILES)
def file(request, tmp_path):
    return write_file(request.param, tmp_path, X)


# ---------------------------------------------------------------------------- the contract


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


def test_the_certified_way_reads_files_too(file):
    here, there = KernelPCA(3, kernel="rbf").fit(X), KernelPCA(3, kernel="rbf").fit(file)
    assert there.certificate_.certified
    assert_array_equal(here.eigenvalues_, there.eigenvalues_)
    assert_array_equal(here.X_fit_, there.X_fit_)
    assert_allclose(here.transform(X), there.transform(file), atol=1e-13)
    weights = np.random.default_rng(1).integers(0, 3, size=len(X))
    here = KernelPCA(3, kernel="rbf").fit(X, sample_weight=weights)
    there = KernelPCA(3, kernel="rbf").fit(file, sample_weight=weights)
    assert_array_equal(here.eigenvalues_, there.eigenvalues_)


def test_columns_are_chosen_by_name(tmp_path):
    path = write_file(".parquet", tmp_path, X)
    assert_array_equal(mercer.open_rows(path, columns=["d", "b"]).load(), X[:, [3, 1]])
    assert_array_equal(mercer.open_rows(path, drop=["a", "c"]).load(), X[:, [1, 3]])
    with pytest.raises(BadData, match="has no column 'z'; it has 'a', 'b', 'c', 'd'"):
        mercer.open_rows(path, drop=["z"])
    with pytest.raises(BadData, match="no column names to choose by"):
        mercer.open_rows(write_file(".npy", tmp_path, X), columns=["a"])
    with pytest.raises(BadData, match="2000 rows and 0 columns"):
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
    if not isinstance(frame, pl.DataFrame) or parse_version(sklearn.__version__) >= parse_version("1.7"):
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


# ---------------------------------------------------------------------------- new rows


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


@pytest.mark.parametrize("kind", KINDS)
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


# ---------------------------------------------------------------------------- odd files


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
        ("a;b\n1,5;2\n", None, None),  # decimal commas are no numbers
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
        with pytest.raises(
            BadData, match=r"line 1 \(row 0, counted from 0\), column 1" if first == "gap" else "no numbers: 'a'"
        ):
            mercer.open_rows(path).load()


def test_a_line_of_years_is_a_row_unless_it_is_said_to_be_a_header(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("2019,2020,2021\n1,2,3\n4,5,6\n")
    with pytest.warns(MercerWarning, match="taken as a row of numbers: 2019, 2020, 2021 … .*header=True"):
        assert mercer.open_rows(path).shape == (3, 3)
    rows = mercer.open_rows(path, header=True)
    assert rows.names == ("2019", "2020", "2021") and rows.shape == (2, 3)
    assert mercer.open_rows(path, header=False).shape == (3, 3)


def test_the_index_of_pandas_is_no_column(tmp_path):
    frame = pd.DataFrame(X[:50], columns=list("abcd"), index=np.arange(50) * 3)
    frame.to_csv(tmp_path / "x.csv")
    with pytest.raises(BadData, match=r"column without a name.*drop=\[''\]"):
        mercer.open_rows(tmp_path / "x.csv")
    assert mercer.open_rows(tmp_path / "x.csv", drop=[""]).names == tuple("abcd")
    parquet.write_table(pa.Table.from_pandas(frame), tmp_path / "x.parquet")
    assert mercer.open_rows(tmp_path / "x.parquet").names == tuple("abcd")


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


# ---------------------------------------------------------------------------- bad files


def cut_off(path, share=0.6):
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])


@pytest.mark.parametrize("kind", [".npy", ".parquet", ".arrow", ".feather"])
def test_a_truncated_file_is_told(tmp_path, kind):
    path = write_file(kind, tmp_path, X)
    cut_off(path)
    with pytest.raises(BadData, match=f"rows{kind}.*(truncated|cannot be read)"):
        landmark().fit(path)


@pytest.mark.parametrize("kind", [".npy", ".parquet", ".arrow", ".csv"])
def test_an_empty_file_is_told(tmp_path, kind):
    path = tmp_path / f"rows{kind}"
    path.touch()
    with pytest.raises(BadData, match=f"rows{kind}.*(cannot be read|is empty)"):
        landmark().fit(path)
    if kind != ".csv":
        with pytest.raises(BadData, match="0 rows and 4 columns: there is nothing to fit"):
            landmark().fit(write_file(kind, tmp_path, X[:0]))
    else:
        path.write_text("a,b\n")
        with pytest.raises(BadData, match=r"rows.csv"):
            landmark().fit(path)


def test_text_columns_are_named_with_the_way_out(tmp_path):
    mixed = table(X).append_column("city", pa.array(["Ulm"] * 2000))
    parquet.write_table(mixed, tmp_path / "x.parquet")
    csv.write_csv(mixed, tmp_path / "x.csv")
    for name in ("x.parquet", "x.csv"):
        with pytest.raises(BadData, match=r"no numbers: 'city' \(string\).*drop=\[…\].*--drop NAME"):
            landmark().fit(tmp_path / name)
        assert landmark().fit(mercer.open_rows(tmp_path / name, drop=["city"])).n_features_in_ == 4


@pytest.mark.parametrize("kind", ALL_FILES)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_gap_in_the_last_rows_is_told_with_its_place(tmp_path, kind, value):
    rows = X.copy()
    rows[1990, 2] = value
    path = write_file(kind, tmp_path, rows)
    with pytest.raises(BadData, match=r"rows\..* contains an? (missing|infinite) value .*row 1990.*, column ('c'|2)"):
        landmark().fit(path)


def test_a_missing_value_in_a_table_is_a_gap(tmp_path):
    path = tmp_path / "x.parquet"
    parquet.write_table(pa.table({"a": [1.0, None, 3.0], "b": pa.array([1, 2, None])}), path)
    with pytest.raises(BadData, match=r"missing value .*: row 1, column 'a'"):
        landmark().fit(path)
    (tmp_path / "x.csv").write_text("a,b\n1,2\n3,\n5,6\n")
    with pytest.raises(BadData, match=r"missing value \(''\): line 3 \(row 1, counted from 0\), column 'b'"):
        landmark().fit(tmp_path / "x.csv")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,2\n3,4,5\n", r"line 3 \(row 1, counted from 0\): 3 fields, where the first line has 2"),
        ("a,b\n1,2\n3\n", "line 3 .*: 1 field, where the first line has 2"),
        ("a,b\n1,2\n3,x\n", "no numbers: 'b'"),
        ("a,b\n" + "1,2\n" * 2_000_000 + "3,x\n", r"line 2000002 \(row 2000000, .*column 'b': 'x' is no number"),
        ("a,a\n1,2\n3,4\n", "more than one column called 'a'"),
        ("\n\n  \n", "is empty"),
    ],
    ids=["more fields", "fewer fields", "text", "text far down", "twice", "blank"],
)
def test_bad_text_tables_are_told(tmp_path, text, words):
    path = tmp_path / "x.csv"
    path.write_text(text)
    with pytest.raises(BadData, match=rf"x\.csv.*{words}"):
        landmark().fit(path)


def test_other_encodings_are_told(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes("größe,b\n1,2\n".encode("latin-1"))
    with pytest.raises(BadData, match=r"x.csv is not UTF-8 \(line 1\)"):
        landmark().fit(path)
    path.write_bytes("a,b\n1,2\n".encode("utf-16"))
    with pytest.raises(BadData, match="is UTF-16; save it as UTF-8"):
        landmark().fit(path)
    path.write_bytes(b"\xef\xbb\xbfa,b\n" + b"1,2\n3,5\n4,4\n5,1\n")
    assert mercer.open_rows(path).names == ("a", "b")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: path.with_suffix(".npy"), "there is no such file"),
        (lambda path: path.with_suffix(".csv"), "there is no such file"),
        (lambda path: path.with_suffix(".xlsx"), "files of this kind cannot be read; known are .npy, .parquet"),
        (lambda path: path.parent, "cannot be read|of this kind"),
        (lambda path: np.save(path.with_suffix(".npy"), np.ones(5)) or path.with_suffix(".npy"), r"shape \(5,\)"),
        (
            lambda path: np.save(path.with_suffix(".npy"), np.ones((5, 2), complex)) or path.with_suffix(".npy"),
            "complex",
        ),
        (
            lambda path: np.save(path.with_suffix(".npy"), np.array([[{}]])) or path.with_suffix(".npy"),
            "cannot be read|object",
        ),
    ],
)
def test_what_is_no_file_of_rows_is_told(tmp_path, make, words):
    with pytest.raises(BadData, match=words):
        mercer.open_rows(make(tmp_path / "x"))


def test_a_file_that_vanishes_or_changes_during_the_fit_is_told(tmp_path):
    path = write_file(".npy", tmp_path, X)
    rows = mercer.open_rows(path)
    path.unlink()
    with pytest.raises(BadData, match="there is no such file"):
        landmark().fit(rows)
    path = write_file(".npy", tmp_path, X)
    rows = mercer.open_rows(path)
    np.save(path, X[:100])
    with pytest.raises(BadData, match="has changed since it was opened"):
        landmark().fit(rows)


def test_a_file_is_deleted_while_a_sweep_goes_on(tmp_path):
    path = write_file(".parquet", tmp_path, X)
    gone = []

    def on_progress(state):
        if not gone:
            gone.append(path.unlink())

    with pytest.raises(BadData, match="there is no such file"):
        landmark(progress=on_progress).fit_transform(path)


def test_a_file_that_is_overwritten_during_a_sweep_is_told(tmp_path):
    rows = mercer.open_rows(write_file(".npy", tmp_path, X))
    with pytest.raises(BadData, match="has changed since it was opened"):
        for i, _ in enumerate(rows.blocks(100)):
            if i == 10:
                with rows.path.open("r+b") as file:
                    file.seek(-8, os.SEEK_END)
                    file.write(b"12345678")


def test_a_row_too_many_is_told(tmp_path, monkeypatch):
    rows = mercer.open_rows(write_file(".parquet", tmp_path, X))
    rows.shape = (1999, 4)
    with pytest.raises(BadData, match="has 2,000 rows now, not 1,999"):
        list(rows.blocks(500))


# ---------------------------------------------------------------------------- bad outlets


def test_an_outlet_leaves_the_old_file_and_nothing_else_if_it_fails(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), outlet(path, ["a"], 3) as sink:
        sink(np.ones((1, 1)))
        raise KeyboardInterrupt
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_an_outlet_that_cannot_be_is_told_before_the_work(tmp_path):
    model = landmark()
    with pytest.raises(WrongUse, match=r"known are .npy, .csv"):
        model.fit_transform_to(X, tmp_path / "scores.xlsx")
    with pytest.raises(CannotWrite, match=r"Cannot write .*No such file or directory"):
        model.fit_transform_to(X, tmp_path / "nowhere" / "scores.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(CannotWrite, match="it is a folder"):
        model.fit_transform_to(X, tmp_path / "folder.csv")
    assert not hasattr(model, "eigenvalues_")


@pytest.mark.skipif(os.name == "nt", reason="permissions as on Unix")
def test_a_written_file_can_be_read_by_those_who_could_read_any_other(tmp_path):
    with outlet(tmp_path / "scores.csv", ["a"], 1) as sink:
        sink(np.ones((1, 1)))
    (tmp_path / "usual").touch()
    assert (tmp_path / "scores.csv").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_scores_never_take_the_place_of_their_rows(tmp_path):
    path = write_file(".csv", tmp_path, X)
    before = path.read_bytes()
    with pytest.raises(WrongUse, match="is the file that rows are read from"):
        landmark().fit(X).transform_to(path, path)
    assert path.read_bytes() == before


@pytest.mark.skipif(os.name == "nt", reason="links as on Unix")
def test_a_link_is_followed_and_long_names_are_as_good_as_short_ones(tmp_path):
    (tmp_path / "target.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to(tmp_path / "target.csv")
    landmark().fit(X).transform_to(X, tmp_path / "link.csv")
    assert (tmp_path / "link.csv").is_symlink() and mercer.open_rows(tmp_path / "target.csv").shape == (2000, 3)
    long = tmp_path / ("x" * 245 + ".npy")
    assert landmark().fit_transform_to(X, long) == long and long.exists()


def test_an_error_of_others_is_not_blamed_on_the_file(tmp_path):
    with pytest.raises(ConnectionError, match="dashboard"), outlet(tmp_path / "s.npy", ["a"], 1):
        raise ConnectionError("dashboard is gone")
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------------------- memory

PEAK = """
import sys, numpy as np
from pathlib import Path
from mercer import KernelPCA
def status(name):
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith(name))
path, r, limit = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
def model(r):
    return KernelPCA(5, kernel="rbf", gamma="median", eigen_solver="landmark", n_landmarks=r, memory_limit=limit)
small = path.parent / ("small" + path.suffix)
model(20).fit_transform_to(small, path.parent / "scores.npy")
before = status("VmRSS")
Path("/proc/self/clear_refs").write_text("5")
fitted = model(r)
fitted.fit_transform_to(path, path.parent / "scores.npy")
print(status("VmHWM") - before, fitted.plan_.memory)
"""


STORES = {
    ".npy": np.save,
    ".npy, Fortran order": lambda path, X: np.save(path, np.asfortranarray(X)),
    ".parquet": lambda path, X: parquet.write_table(numbered(X), path, row_group_size=10_000),
    ".feather": lambda path, X: feather.write_feather(numbered(X), str(path), chunksize=20_000),
    ".csv": lambda path, X: csv.write_csv(numbered(X[:30_000].round(1)), path),
}


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peak memory is read from Linux's /proc")
@pytest.mark.parametrize(
    ("kind", "r", "limit"),
    [
        (".npy", 100, 70e6),
        pytest.param(".parquet", 400, 150e6, marks=pytest.mark.slow),
        pytest.param(".npy, Fortran order", 100, 70e6, marks=pytest.mark.slow),
        pytest.param(".npy", 400, 150e6, marks=pytest.mark.slow),
        pytest.param(".feather", 100, 150e6, marks=pytest.mark.slow),
        pytest.param(".csv", 100, 120e6, marks=pytest.mark.slow),
    ],
)
def test_the_limit_is_kept_by_files_far_larger_than_it(tmp_path, kind, r, limit):
    rows, suffix = np.random.default_rng(0).normal(size=(150_000, 100)), kind.partition(",")[0]
    STORES[kind](tmp_path / f"small{suffix}", rows[:5000])
    STORES[kind](tmp_path / f"large{suffix}", rows)
    arguments = [str(tmp_path / f"large{suffix}"), str(r), str(int(limit))]
    done = subprocess.run([sys.executable, "-c", PEAK, *arguments], capture_output=True, text=True, check=True)
    peak, planned = map(int, done.stdout.split())
    assert planned <= limit and peak <= limit
    assert abs(peak - planned) <= max(0.25 * peak, 64e6)


def numbered(X):
    return pa.table({f"x{j}": X[:, j] for j in range(X.shape[1])})


@pytest.mark.filterwarnings("ignore:The .* landmarks see only")
def test_rows_that_do_not_fit_are_streamed_with_a_warning(tmp_path):
    rows = np.random.default_rng(0).normal(size=(60_000, 60))  # 29 MB
    path = write_wide(tmp_path / "wide.npy", rows)
    with pytest.warns(MercerWarning, match="Landmarks are used instead"):
        model = KernelPCA(3, kernel="rbf", memory_limit="45MB").fit(path)
    assert model.plan_.streams
    with pytest.raises(NoRoom, match="45 MB"):
        KernelPCA(3, kernel="rbf", memory_limit="45MB", eigen_solver="krylov").fit(path)


def write_wide(path, rows):
    np.save(path, rows)
    return path


def test_a_plan_reads_little_of_a_file(tmp_path, monkeypatch):
    rows = mercer.open_rows(write_file(".npy", tmp_path, np.tile(X, (20, 1))))
    read = []
    pieces = rows._pieces
    monkeypatch.setattr(rows, "_pieces", lambda size: (read.append(1) or piece for piece in pieces(size)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MercerWarning)
        assert landmark().plan(rows).streams
    assert len(read) <= 2 and Path(rows.path).exists()
