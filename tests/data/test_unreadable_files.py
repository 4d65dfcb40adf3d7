"""One sentence for every bad file."""

import os

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import mercer
from mercer_old.errors import BadData, MercerWarning
from support.registry import ALL_FILES, table, write_file
from support.stored import X, landmark


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
            mercer.open_rows(tmp_path / name, columns=["a", "city"])
        with pytest.warns(MercerWarning, match=r"no numbers: 'city' \(string\). They are left out.*drop=\[…\]"):
            assert landmark().fit(tmp_path / name).n_features_in_ == 4
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
        ("a,b\n" + "1,2\n" * 300_000 + "3,x\n", r"line 300002 \(row 300000, .*column 'b': 'x' is no number"),
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
    with pytest.warns(MercerWarning, match=r"x.csv is not UTF-8, and is read as Latin-1"):
        assert mercer.open_rows(path).names == ("größe", "b")
    path.write_bytes("größe,b\n1,2\n".encode("utf-16"))
    assert mercer.open_rows(path).names == ("größe", "b")
    path.write_bytes(b"\xef\xbb\xbfa,b\n" + b"1,2\n3,5\n4,4\n5,1\n")
    assert mercer.open_rows(path).names == ("a", "b")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: path.with_suffix(".npy"), "there is no such file"),
        (lambda path: path.with_suffix(".csv"), "there is no such file"),
        (lambda path: path.with_suffix(".xlsx"), "files of this kind cannot be read; known are .npy, .npz"),
        (lambda path: path.parent, "is a folder without images"),
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
