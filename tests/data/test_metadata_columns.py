"""Names of rows, labels and kept columns: read from every table, and written with scores by every model."""

import datetime
import gzip
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from pyarrow import csv, feather, parquet

import mercer
from mercer_old.errors import BadData, MercerWarning, NoRoom, WrongUse
from mercer_old.sources import beside, encodings
from mercer_old.sources.beside import Column
from mercer_old.sources.faults import look_like_numbers
from mercer_old.sources.frames import open_table
from support.peak import needs_peaks, peak_of

RNG = np.random.default_rng(3)
A = RNG.normal(size=(40, 3)) * [1, 2, 3]
DAYS = [datetime.date(2024, 1, 1) + datetime.timedelta(days=i) for i in range(40)]
HOSTILE = ['=1+1"', "a,b", "line\nend", "\x1b[31m", "tab\tx", "'", "", "ü🐧"]
NAMES = [f"{i} {HOSTILE[i % 8]}" for i in range(40)]
TABLE = pa.table(
    {
        "name": NAMES,
        "a": A[:, 0],
        "kind": pa.array(["x", "y"] * 20).dictionary_encode(),
        "b": A[:, 1],
        "zip": [f"{i:05d}" for i in range(40)],
        "count": pa.array(range(40)),
        "day": pa.array(DAYS),
        "c": A[:, 2],
        "share": pa.array([0.5 + i for i in range(40)]),
    }
)
KEEP = ["zip", "count", "day", "share"]
FILES = {
    ".csv": lambda path: csv.write_csv(plain_table(), path),
    ".csv.gz": lambda path: path.write_bytes(gzip.compress(as_csv())),
    ".parquet": lambda path: parquet.write_table(TABLE, path, row_group_size=7),
    ".arrow": lambda path: feather.write_feather(TABLE, str(path), compression="uncompressed", chunksize=7),
    ".feather": lambda path: feather.write_feather(TABLE, str(path)),
}
MODELS = [
    mercer.PCA(2),
    mercer.PCA(2, standardize=True),
    mercer.IncrementalPCA(2),
    mercer.KernelPCA(2, kernel="rbf"),
    mercer.KernelPCA(2, kernel="rbf", standardize=True),
    mercer.KernelPCA(2, kernel="rbf", eigen_solver="landmark", n_landmarks=10),
    mercer.LocallyLinearEmbedding(n_components=2),
]


def plain_table():
    kinds = TABLE.column("kind").combine_chunks().dictionary_decode()
    return TABLE.set_column(2, "kind", kinds)


def as_csv():
    sink = pa.BufferOutputStream()
    csv.write_csv(plain_table(), sink)
    return sink.getvalue().to_pybytes()


def written(kind, folder):
    FILES[kind](folder / f"table{kind}")
    return folder / f"table{kind}"


def opened(path, **more):
    return mercer.open_rows(path, label="kind", keep=KEEP, **more)


@pytest.fixture(params=FILES)
def path(tmp_path, request):
    return written(request.param, tmp_path)


def test_names_labels_and_kept_columns_are_as_they_stand_in_the_file(path):
    rows = opened(path)
    assert (rows.names, rows.heading) == (("a", "b", "c"), "name")
    assert_array_equal(rows.load(), A)
    assert list(rows.row_names) == NAMES and rows.row_names[7] == NAMES[7] and len(rows.row_names[3:5]) == 2
    assert list(rows.beside) == ["kind", *KEEP]
    assert list(rows.beside["kind"]) == ["x", "y"] * 20
    assert list(rows.beside["zip"]) == [f"{i:05d}" for i in range(40)]  # 00001 is no number
    assert list(rows.beside["count"]) == list(range(40)) and list(rows.beside["day"]) == DAYS
    assert list(rows.beside["share"]) == [0.5 + i for i in range(40)]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_every_model_writes_names_before_scores(path, tmp_path, model):
    rows = opened(path)
    model.fit_transform_to(rows, tmp_path / "scores.parquet")
    found = parquet.read_table(tmp_path / "scores.parquet")
    prefix = type(model).__name__.lower()
    assert found.column_names == ["name", "kind", *KEEP, f"{prefix}0", f"{prefix}1"]
    assert found.column("name").to_pylist() == NAMES and found.column("day").to_pylist() == DAYS
    assert found.schema.field("count").type == pa.int64() and found.schema.field("day").type == pa.date32()
    scores = np.column_stack([found.column(name) for name in found.column_names[-2:]])
    assert_allclose(np.abs(scores), np.abs(model.fit_transform(A)), atol=1e-6)
    model.transform_to(rows, tmp_path / "again.parquet")
    assert parquet.read_table(tmp_path / "again.parquet").column("name").to_pylist() == NAMES


@pytest.mark.parametrize("kind", [".csv", ".tsv", ".csv.gz", ".parquet", ".arrow", ".feather"])
def test_what_is_written_is_read_back(tmp_path, kind):
    """Whatever names hold: line ends, quotes, separators and escapes."""
    model = mercer.PCA(2)
    model.fit_transform_to(opened(written(".parquet", tmp_path)), tmp_path / f"scores{kind}")
    rows = mercer.open_rows(tmp_path / f"scores{kind}", id="name", label="kind", keep=KEEP)
    assert_array_equal(rows.load(), model.fit_transform(A))
    assert list(rows.row_names) == NAMES and list(rows.beside["day"]) == DAYS
    assert list(rows.beside["zip"]) == [f"{i:05d}" for i in range(40)]


def test_csv_is_read_by_pandas_as_it_was_meant(tmp_path):
    mercer.PCA(2).fit_transform_to(opened(written(".parquet", tmp_path)), tmp_path / "scores.csv")
    found = pd.read_csv(tmp_path / "scores.csv", dtype={"zip": str})
    assert list(found["name"]) == NAMES and list(found["zip"]) == [f"{i:05d}" for i in range(40)]
    assert list(found.columns) == ["name", "kind", *KEEP, "pca0", "pca1"]


def test_archives_of_numpy_hold_scores_names_and_columns(tmp_path):
    model = mercer.PCA(2)
    model.fit_transform_to(opened(written(".parquet", tmp_path)), tmp_path / "scores.npz")
    with np.load(tmp_path / "scores.npz", allow_pickle=False) as found:
        assert_array_equal(found["scores"], model.fit_transform(A))
        assert list(found["ids"]) == NAMES and list(found["columns"]) == ["pca0", "pca1"]
    rows = mercer.open_rows(tmp_path / "scores.npz")
    assert (rows.names, rows.heading, list(rows.row_names)) == (("pca0", "pca1"), "name", NAMES)


def test_archives_of_numpy_take_no_label_for_a_name(tmp_path):
    (tmp_path / "x.csv").write_text("kind,a\nx,1\nx,2\ny,4\n")
    mercer.PCA(1).fit_transform_to(mercer.open_rows(tmp_path / "x.csv", label="kind"), tmp_path / "scores.npz")
    with np.load(tmp_path / "scores.npz") as found:
        assert set(found) == {"scores", "columns"}


def test_names_that_are_kept_as_well_stay_as_they_are(tmp_path):
    (tmp_path / "x.csv").write_text("n,a\n1.10,1\n1.20,2\n1.30,4\n")
    mercer.PCA(1).fit_transform_to(mercer.open_rows(tmp_path / "x.csv", id="n", keep="n"), tmp_path / "scores.csv")
    assert [line.split(",")[0] for line in (tmp_path / "scores.csv").read_text().split()[1:]] == [
        '"1.10"',
        '"1.20"',
        '"1.30"',
    ]


def test_packed_files_are_the_same_bytes_every_time(tmp_path):
    for name in ("one.csv.gz", "two.csv.gz"):
        mercer.PCA(2).fit_transform_to(A, tmp_path / name)
    assert (tmp_path / "one.csv.gz").read_bytes() == (tmp_path / "two.csv.gz").read_bytes()


def test_a_kept_column_may_not_have_the_name_of_scores(tmp_path):
    csv.write_csv(pa.table({"pca0": ["x"] * 40, "a": A[:, 0], "b": A[:, 1]}), tmp_path / "t.csv")
    model = mercer.PCA(1)
    with pytest.raises(WrongUse, match="'pca0' cannot be written along"):
        model.fit_transform_to(mercer.open_rows(tmp_path / "t.csv", keep="pca0"), tmp_path / "s.csv")
    assert not hasattr(model, "components_")


# ---------------------------------------------------------------------- who names rows


@pytest.mark.parametrize(
    ("text", "heading", "names"),
    [
        ("name,a\nx,1\ny,2\n", "name", ["x", "y"]),
        ("a,name,other\n1,x,p\n2,y,p\n", "name", ["x", "y"]),
        (",a\n7,1\n9,2\n", "", ["7", "9"]),
        ("Unnamed: 0,a\nx,1\ny,2\n", "Unnamed: 0", ["x", "y"]),
        ('"a" "b"\n', None, None),
        ('"a";"b"\n"r1";1;2\n"r2";3;4\n', "", ["r1", "r2"]),
        ("name,a\nx,1\nx,2\n", "", None),
        ("name,a\nx,1\n,2\n", "", None),
        (",a\nx,1\nx,2\n", "", None),
        ("id,a\n001,1\n002,2\n", "", None),  # numbers are features, unless it is said
    ],
)
@pytest.mark.filterwarnings("ignore::mercer_old.errors.MercerWarning")
def test_the_first_texts_that_are_all_different_name_rows(tmp_path, text, heading, names):
    (tmp_path / "x.csv").write_text(text)
    if heading is None:
        with pytest.raises(BadData):
            mercer.open_rows(tmp_path / "x.csv")
        return
    rows = mercer.open_rows(tmp_path / "x.csv")
    assert (rows.heading, rows.row_names and list(rows.row_names)) == (heading, names)
    assert bool(names) == any(" names rows, " in note for note in rows.notes)


def test_names_that_are_said_keep_their_zeros(tmp_path):
    (tmp_path / "x.csv").write_text("id,a\n001,1\n002,2\n")
    assert list(mercer.open_rows(tmp_path / "x.csv", id="id").row_names) == ["001", "002"]


def test_codes_that_become_numbers_are_told(tmp_path):
    (tmp_path / "x.csv").write_text("plant,a,b\n007,0,0.5\n008,2,00\n")
    with pytest.warns(MercerWarning, match=r"zeros in front, as codes have, in 'plant', 'b': .*--id NAME"):
        assert mercer.open_rows(tmp_path / "x.csv").load().tolist() == [[7, 0, 0.5], [8, 2, 0]]
    with warnings.catch_warnings(action="error"):
        mercer.open_rows(tmp_path / "x.csv", id="plant", drop="b")
        mercer.open_rows(tmp_path / "x.csv", columns=["plant", "a"])


@pytest.mark.parametrize("index", [pd.Index(["p", "q"], name="sample"), pd.Index(["p", "q"])], ids=str)
def test_the_index_of_a_frame_of_pandas_names_rows(tmp_path, index):
    pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 5.0]}, index=index).to_parquet(tmp_path / "x.parquet")
    rows = mercer.open_rows(tmp_path / "x.parquet")
    assert rows.names == ("a", "b") and list(rows.row_names) == ["p", "q"]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_index_of_pandas_names_rows_also_where_columns_are_chosen(tmp_path, kind):
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 5.0]}, index=["p", "q"])
    getattr(frame, f"to_{kind}")(tmp_path / f"x.{kind}")
    rows = mercer.open_rows(tmp_path / f"x.{kind}", columns=["b"])
    assert rows.names == ("b",) and list(rows.row_names) == ["p", "q"]
    if kind == "csv":
        (tmp_path / "x.csv").write_text(",a\n7,1\n8,2\n")
        assert mercer.open_rows(tmp_path / "x.csv", columns=["", "a"]).load().tolist() == [[7, 1], [8, 2]]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
def test_formulas_and_gaps_are_found_in_texts_of_every_width(kind):
    assert Column.of([pa.array(["=x", "y"], kind)], "it", 1e9).formulas() == ["=x"]
    assert not Column.of([pa.array(["", "y"], kind)], "it", 1e9).distinct


def test_what_pandas_says_of_a_file_may_be_anything(tmp_path):
    for said in (
        b"{",
        b"[" * 100_000,
        b"[]",
        b'{"index_columns": 3}',
        b'{"index_columns": ["z"]}',
        b'{"index_columns": [{"kind": "r"}]}',
    ):
        table = pa.table({"a": [1.0, 2.0]}).replace_schema_metadata({b"pandas": said})
        parquet.write_table(table, tmp_path / "x.parquet")
        rows = mercer.open_rows(tmp_path / "x.parquet")
        assert rows.names == ("a",) and rows.row_names is None


def test_names_that_were_asked_for_are_refused_with_the_doubles(tmp_path):
    (tmp_path / "x.csv").write_text("n,a\n" + "".join(f"r{i % 7},{i}\n" for i in range(14)))
    with pytest.raises(BadData, match=r"7 names stand for more than one, 'r0', 'r1', 'r2' and 4 more"):
        mercer.open_rows(tmp_path / "x.csv", id="n")


def test_thousands_of_columns_are_not_listed(tmp_path):
    names = [f"t{j}" for j in range(2000)]
    table = pa.table({"a": [1.0, 2.0], **{name: ["x", "x"] for name in names}})
    parquet.write_table(table, tmp_path / "x.parquet")
    with pytest.warns(MercerWarning, match=r"'t4' \(string\) and 1,995 more") as told:
        assert mercer.open_rows(tmp_path / "x.parquet").names == ("a",)
    assert len(str(told[0].message)) < 600
    with pytest.raises(BadData, match=r"no column 'T7'; .* and 1,981 more\. Did you mean 't7'") as refused:
        mercer.open_rows(tmp_path / "x.parquet", label="T7")
    assert len(str(refused.value)) < 800


def test_columns_that_are_held_keep_to_the_limit(tmp_path):
    long = pa.table({"n": [f"row {i} " * 20 for i in range(5000)], "a": np.arange(5000.0) % 7})
    parquet.write_table(long, tmp_path / "x.parquet")
    csv.write_csv(long, tmp_path / "x.csv")
    for name in ("x.parquet", "x.csv"):
        with pytest.raises(NoRoom, match=r"Column 'n' of .*limit of 100 kB"):
            mercer.open_rows(tmp_path / name, memory_limit="100kB")
        assert mercer.open_rows(tmp_path / name, drop="n", memory_limit="100kB").shape == (5000, 1)


# ---------------------------------------------------------------------- the other way round


def test_a_transposed_table_has_its_names_swapped(tmp_path):
    genes = pa.table({"gene": ["g1", "g2", "g3"], **{f"s{i}": A[i] for i in range(40)}})
    csv.write_csv(genes, tmp_path / "genes.csv")
    rows = mercer.open_rows(tmp_path / "genes.csv", transpose=True)
    assert_array_equal(rows.load(), A)
    assert rows.names == ("g1", "g2", "g3") and list(rows.row_names) == [f"s{i}" for i in range(40)]
    model = mercer.PCA(2)
    model.fit_transform_to(rows, tmp_path / "scores.csv")
    assert list(model.feature_names_in_) == ["g1", "g2", "g3"]
    assert list(pd.read_csv(tmp_path / "scores.csv")["name"]) == [f"s{i}" for i in range(40)]
    assert_array_equal(mercer.open_rows(tmp_path / "genes.csv", drop=["s0"], transpose=True).load(), A[1:])
    with pytest.raises(NoRoom, match="to be transposed, 3×40 numbers need"):
        mercer.open_rows(tmp_path / "genes.csv", transpose=True, memory_limit="1kB", drop="gene")


# ---------------------------------------------------------------------- text


def test_a_file_that_swells_beyond_all_measure_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(encodings, "_FEW", 1 << 20)
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 2_000_000))
    with pytest.raises(BadData, match=r"unpacks to more than .*: no table does that"):
        mercer.open_rows(tmp_path / "x.csv.gz")


@needs_peaks
def test_a_quote_that_is_left_open_in_a_line_without_end_takes_little_memory(tmp_path):
    """A packed file of some kilobytes can have it: each letter took a hundred bytes."""
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(b'a,b\n1,"' + b"x" * 6_000_000))
    (tmp_path / "small.csv.gz").write_bytes(gzip.compress(b'a,b\n1,"xxx'))
    ask = "import mercer\ntry: mercer.open_rows(Path({!r}))\nexcept mercer_old.errors.BadData as error: told = error"
    ask = "import mercer, mercer_old.errors\n" + ask
    peak, *told = peak_of(ask.format(str(path)), ask.format(str(tmp_path / "small.csv.gz")), "told")
    assert peak < 200e6 and "quote" in told


@pytest.mark.parametrize("kind", [str, int, lambda number: f"ä{number}", float])
def test_names_that_are_there_twice_are_found_wherever_they_stand(kind, monkeypatch):
    monkeypatch.setattr(beside, "_AT_ONCE", 4)
    for n in range(12):
        names = [kind(number * 7 % 13) for number in range(n)]
        assert Column(pa.array(names, pa.string() if not n else None)).distinct
        for other in range(n):
            assert not Column(pa.array([*names, names[other]])).distinct


def test_packed_files_may_be_named_in_capitals(tmp_path):
    (tmp_path / "X.CSV.GZ").write_bytes(gzip.compress(b"a,b\n1,2\n3,4\n"))
    assert mercer.open_rows(tmp_path / "X.CSV.GZ").load().tolist() == [[1, 2], [3, 4]]


def test_what_was_found_out_is_one_line_with_its_options(tmp_path):
    (tmp_path / "x.csv").write_bytes("a;b\n1,5;2\n3,5;4\n".encode("utf-16"))
    (note,) = mercer.open_rows(tmp_path / "x.csv").notes
    for words in ("semicolons (--delimiter)", "comma (--decimal)", "UTF-16 (--encoding)", "(--no-header)"):
        assert words in note


def test_texts_and_tables_have_names_too(tmp_path):
    (tmp_path / "x.csv").write_text("id,word,kind\n7,ab,x\n8,bc,y\n9,cd,x\n")
    texts = mercer.open_texts(tmp_path / "x.csv", "word", id="id", label="kind")
    assert (list(texts.row_names), texts.heading, list(texts.beside["kind"])) == (
        ["7", "8", "9"],
        "id",
        ["x", "y", "x"],
    )
    mercer.KernelPCA(1, kernel="spectrum", kernel_params={"n": 1}).fit_transform_to(texts, tmp_path / "s.csv")
    assert (tmp_path / "s.csv").read_text().startswith('id,kind,kernelpca0\n"7","x",')
    for items in (texts, open_table(tmp_path / "x.csv")):
        assert "separated by commas (--delimiter)" in items.notes[0]


def test_tables_of_all_kinds_keep_zeros_of_names_and_codes(tmp_path):
    (tmp_path / "x.csv").write_text("id,color,size,code,age\n007,red,1.5,001,7\n008,blue,2.5,002,\n010,red,4,003,9\n")
    table = open_table(tmp_path / "x.csv", id="id", keep=["code", "age"])
    assert list(table.row_names) == ["007", "008", "010"] and table.names == ["color", "size"]
    assert {name: list(cells) for name, cells in table.beside.items()} == {
        "code": ["001", "002", "003"],
        "age": [7, None, 9],
    }
    (tmp_path / "x.csv").write_text(",color,size\n07,red,1.5\n08,blue,2.5\n")
    table = open_table(tmp_path / "x.csv")
    assert list(table.row_names) == ["07", "08"] and "'' names rows, as R" in table.notes[1]


def test_packed_tables_keep_to_the_limit(tmp_path):
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b"a,b\n" + b"1,x\n" * 1_000_000))
    with pytest.raises(
        NoRoom, match=r"x.csv.gz unpacks to more than .* bytes, more than the memory limit of 1,000,000"
    ):
        open_table(tmp_path / "x.csv.gz", "1MB")


@pytest.mark.parametrize(
    ("texts", "cells"),
    [
        (["1", "2", ""], [1, 2, None]),
        (["1.5", "NA"], [1.5, None]),
        (["true", "False"], [True, False]),
        (["2024-01-01", ""], [datetime.date(2024, 1, 1), None]),
        (["2024-01-01 10:00:00", "?"], [datetime.datetime(2024, 1, 1, 10), None]),
        (["007", "8"], ["007", "8"]),
        (["+49", "1"], ["+49", "1"]),
        (["0", "10"], [0, 10]),
        (["99999999999999999999", "1"], ["99999999999999999999", "1"]),  # no digit is lost
        (["x", "1", ""], ["x", "1", ""]),
        (["", ""], ["", ""]),
    ],
)
def test_kept_texts_become_what_all_of_them_are(tmp_path, texts, cells):
    (tmp_path / "x.csv").write_text("k,a\n" + "".join(f"{text},{i}\n" for i, text in enumerate(texts)))
    assert list(mercer.open_rows(tmp_path / "x.csv", keep="k").beside["k"]) == cells


def test_tables_of_all_kinds_take_the_first_different_texts_for_names_as_rows_do(tmp_path):
    (tmp_path / "x.csv").write_text("size,who,color\n1,ann,red\n2,bob,blue\n3,cid,red\n")
    table = open_table(tmp_path / "x.csv")
    assert (list(table.row_names), table.heading, table.names) == (["ann", "bob", "cid"], "who", ["size", "color"])
    assert "'who' names rows, whose texts are all different (--id)" in table.notes[-1]
    assert open_table(tmp_path / "x.csv", columns=["who", "size"]).row_names is None
    assert open_table(tmp_path / "x.csv", drop=["who"]).row_names is None  # the next one is not
    assert open_table(tmp_path / "x.csv", id="size").names == ["who", "color"]
    (tmp_path / "one.csv").write_text("who\nann\nbob\n")
    assert open_table(tmp_path / "one.csv").names == ["who"]  # else there would be nothing to compare


@pytest.mark.parametrize(
    ("texts", "meant"),
    [
        (["1A", "2B", "3C"], False),
        (["1A", "2A", "3A"], False),
        (["10kg", "1AB"], False),
        (["3 kg", "4 kg"], True),
        (["3mm", "12mm"], True),
        (["5 A", "6 A"], True),
        (["3%", "4%"], True),
        (["€3", "€4"], True),
        (["1,5", "2,25"], True),
    ],
)
def test_letters_behind_numbers_are_a_unit_if_all_have_the_same(texts, meant):
    assert look_like_numbers(texts) is meant


def test_names_that_begin_with_a_digit_are_names(tmp_path):
    (tmp_path / "x.csv").write_text("well,a,b\n1A,1,2\n1B,2,1\n2A,4,4\n")
    rows = mercer.open_rows(tmp_path / "x.csv")
    assert list(rows.row_names) == ["1A", "1B", "2A"] and rows.shape == (3, 2)
