"""Texts from memory and from files: what comes in, and one sentence for what does not."""

import gzip
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from numpy.testing import assert_allclose

from mercer import KernelPCA, LocallyLinearEmbedding, open_rows, open_texts
from mercer.datasets import OOV, VOC
from mercer.kernels import RBF, Spectrum
from mercer_old.errors import BadData, MercerWarning, NoRoom, WrongUse
from mercer_old.sources import Texts

MODEL = KernelPCA(2, kernel=Spectrum(2))

# ---------------------------------------------------------------------------- in memory

HOLDERS = {
    "list": list,
    "tuple": tuple,
    "generator": iter,
    "array": np.array,
    "objects": lambda texts: np.array(texts, dtype=object),
    "column": lambda texts: np.array(texts, dtype=object)[:, None],
    "strings": lambda texts: np.array(texts, dtype=np.dtypes.StringDType()),
    "bytes": lambda texts: np.array([text.encode() for text in texts]),
    "series": pd.Series,
    "strings of pandas": lambda texts: pd.Series(texts, dtype="string"),
    "categories": lambda texts: pd.Series(texts, dtype="category"),
    "index": pd.Index,
    "frame": lambda texts: pd.DataFrame({"name": texts}),
    "polars": pl.Series,
    "polars frame": lambda texts: pl.DataFrame({"name": texts}),
    "pyarrow": pa.array,
    "pyarrow chunks": lambda texts: pa.chunked_array([texts[:1], texts[1:]]),
    "pyarrow dictionary": lambda texts: pa.array(texts).dictionary_encode(),
    "pyarrow table": lambda texts: pa.table({"name": texts}),
}


@pytest.mark.parametrize("hold", HOLDERS)
def test_texts_come_in_whatever_holds_a_column(hold):
    places = MODEL.fit(HOLDERS[hold](VOC)).transform(HOLDERS[hold](OOV))
    assert_allclose(places, MODEL.fit(VOC).transform(OOV))


GAPS = {
    "None": lambda: ["a", None, "b"],
    "NaN": lambda: np.array(["a", np.nan, "b"], dtype=object),
    "pandas": lambda: pd.Series(["a", None, "b"]),
    "pandas NA": lambda: pd.Series(["a", pd.NA, "b"], dtype="string"),
    "pandas frame": lambda: pd.DataFrame({"name": ["a", None, "b"]}),
    "StringDType": lambda: np.array(["a", None, "b"], dtype=np.dtypes.StringDType(na_object=None)),
    "polars": lambda: pl.Series(["a", None, "b"]),
    "polars frame": lambda: pl.DataFrame({"name": ["a", None, "b"]}),
    "pyarrow": lambda: pa.array(["a", None, "b"]),
    "pyarrow table": lambda: pa.table({"name": ["a", None, "b"]}),
}


@pytest.mark.parametrize("hold", GAPS)
def test_a_missing_text_is_told_with_its_number(hold):
    with pytest.raises(
        BadData, match=r'X: item 1 is missing \(1 of 3 items are no texts\). Leave it out, or fill in "".'
    ):
        MODEL.fit(GAPS[hold]())


OTHERS = {
    "numbers": (lambda: np.ones((4, 3)), r"X is a table of numbers \(4×3\), and this kernel compares texts"),
    "sparse": (lambda: __import__("scipy").sparse.eye_array(3), r"a table of numbers \(3×3\)"),
    "one column of numbers": (lambda: np.ones((4, 1)), "a table of numbers"),
    "a frame": (lambda: pd.DataFrame({"a": ["x"], "b": ["y"]}), r"X has 2 columns \(a, b\), and texts are one"),
    "a table": (lambda: pa.table({"a": ["x"], "b": ["y"]}), r"X has 2 columns \(a, b\)"),
    "a series of numbers": (lambda: pd.Series([1.5, 2.5]), r"item 0 is 1.5, which is no text \(2 of 2"),
    "some numbers": (lambda: ["a", 1, "b"], r"item 1 is 1, which is no text \(1 of 3"),
    "both": (lambda: ["a", b"b"], "item 0 is 'a' and item 1 is b'b': texts are all str or all bytes. Decode"),
    "a set": (lambda: {"a", "b"}, "X is a set, whose texts have no order"),
    "a dict": (lambda: {"a": "b"}, "X is a dict"),
    "one text": (lambda: "names.txt", r"X is one text, 'names.txt'; give a list of texts, or pathlib.Path"),
    "lists": (lambda: [["a"], ["b"]], r"item 0 is \['a'\], which is no text"),
    "nothing": (lambda: None, "X is None, and no text: give a list of texts"),
    "empty": (lambda: [], "has no texts"),
}


@pytest.mark.parametrize("what", OTHERS)
def test_what_is_no_column_of_texts_is_one_sentence(what):
    make, words = OTHERS[what]
    for model in (MODEL, LocallyLinearEmbedding(n_neighbors=2, metric=Spectrum(2))):
        with pytest.raises(BadData, match=words):
            model.fit(make())


@pytest.mark.parametrize("hold", ["list", "array", "objects", "column", "series", "frame", "polars"])
def test_a_kernel_of_rows_that_is_given_texts_says_what_would_take_them(hold):
    with pytest.raises(ValueError, match=r"bouvier.*To compare texts as they are: kernel=mercer.kernels.Spectrum\(3\)"):
        KernelPCA(2, kernel="rbf").fit(HOLDERS[hold](VOC))


def test_texts_and_rows_do_not_take_each_others_place(tmp_path):
    with pytest.raises(BadData, match="X has texts, and the kernel compares rows of numbers"):
        KernelPCA(2, kernel=RBF(1.0)).fit(Texts(VOC))
    np.save(tmp_path / "x.npy", np.ones((3, 2)))
    with pytest.raises(BadData, match=r"x.npy has rows of numbers, and the kernel compares texts"):
        MODEL.fit(open_rows(tmp_path / "x.npy"))
    with pytest.raises(BadData, match=r"x.npy is an array, and texts are read from lines"):
        MODEL.fit(tmp_path / "x.npy")


def test_what_needs_columns_says_that_texts_have_none():
    for model in (
        KernelPCA(2, kernel=Spectrum(2), standardize=True),
        LocallyLinearEmbedding(n_neighbors=5, metric=Spectrum(2), standardize=True),
    ):
        with pytest.raises(ValueError, match=r"standardize=True divides columns .* and texts have none"):
            model.fit(VOC)
    with pytest.raises(ValueError, match="fit_inverse_transform finds rows of numbers"):
        KernelPCA(2, kernel=Spectrum(2), fit_inverse_transform=True).fit(VOC)


def test_texts_say_how_many_bytes_they_take():
    texts = Texts(["a" * 1000, "é" * 1000, "😀" * 1000])
    assert texts.nbytes == sum(map(sys.getsizeof, texts.items)) + 3 * 8 and texts.width == 1000
    assert texts.nbytes > 6000  # one, one and four bytes a letter
    assert texts.in_memory(np.array([True, False, False])).nbytes < 1100


def test_long_texts_strange_letters_and_copies_are_right_or_told():
    long = KernelPCA(2, kernel=Spectrum(3)).fit([*VOC, "abc" * 333_334])
    assert np.isfinite(long.transform(["abc" * 333_334])).all()
    odd = KernelPCA(2, kernel=Spectrum(1)).fit([*VOC, "\ud800x", "\0", "\ufeffx"])
    assert_allclose(odd.fit_transform(odd.X_fit_), odd.transform(odd.X_fit_), atol=1e-10)
    with pytest.warns(MercerWarning, match=r"look the same .* Are the texts equal, or too short"):
        assert not KernelPCA(2, kernel=Spectrum(3)).fit(["homer"] * 5).eigenvalues_.any()
    with pytest.warns(MercerWarning, match="more than the 1 row"), pytest.warns(MercerWarning, match="one text alone"):
        assert KernelPCA(2, kernel=Spectrum(3)).fit_transform(["homer"]).tolist() == [[0.0]]


# ---------------------------------------------------------------------------- files of lines

LINES = {
    "line feeds": b"a\nb\n\nc\n",
    "no end": b"a\nb\n\nc",
    "CR LF": b"a\r\nb\r\n\r\nc\r\n",
    "CR": b"a\rb\r\rc",
    "BOM": b"\xef\xbb\xbfa\nb\n\nc\n",
}


@pytest.mark.parametrize("how", LINES)
@pytest.mark.parametrize("name", ["names.txt", "words", "app.log", "names.txt.gz"])
def test_a_line_is_a_text_whatever_ends_it(tmp_path, how, name):
    path = tmp_path / name
    path.write_bytes(gzip.compress(LINES[how]) if name.endswith("gz") else LINES[how])
    assert open_texts(path).items.tolist() == ["a", "b", "", "c"]


def test_blanks_and_unusual_separators_stay_in_their_line(tmp_path):
    lines = [" a ", "b\u2028c", "d\x0be", "é😀", ""]
    (tmp_path / "x.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert open_texts(tmp_path / "x.txt").items.tolist() == lines
    assert open_texts(tmp_path / "x.txt", case="upper").items[3] == "É😀"


def test_a_model_learns_from_a_path(tmp_path):
    path = tmp_path / "names.txt"
    path.write_text("\n".join(VOC), encoding="utf-8")
    model = KernelPCA(2, kernel=Spectrum(3)).fit(path)
    assert_allclose(model.transform(path), KernelPCA(2, kernel=Spectrum(3)).fit_transform(VOC), atol=1e-12)
    local = LocallyLinearEmbedding(n_neighbors=8, metric=Spectrum(1))
    assert_allclose(local.fit(path).embedding_, local.fit(VOC).embedding_, atol=1e-9)
    assert MODEL.plan(path).held == MODEL.plan(VOC).held


BAD_LINES = {
    "Latin-1": (b"abc\nd\n\xe9t\xe9\n", r"is not UTF-8: line 3 has b'\\xe9t\\xe9' at byte 1"),
    "Latin-1 after CR": (b"abc\rd\r\xe9t\xe9", "line 3 has"),
    "half a letter": (b"abc\nd\xc3", "line 2 has"),
    "UTF-16": ("abc".encode("utf-16"), "is UTF-16; save it as UTF-8"),
    "NUL": (b"abc\nd\0e\n", "NUL bytes in line 2"),
    "nothing": (b"", "has no texts"),
    "Parquet": (b"PAR1....", "it is a Parquet file"),
    "gzip": (gzip.compress(b"a"), "compressed by gzip"),
}


@pytest.mark.parametrize("what", BAD_LINES)
def test_a_file_that_is_no_text_is_one_sentence(tmp_path, what):
    content, words = BAD_LINES[what]
    (tmp_path / "x.txt").write_bytes(content)
    with pytest.raises(BadData, match=words):
        open_texts(tmp_path / "x.txt")


def test_a_packed_file_that_is_damaged_is_one_sentence(tmp_path):
    packed = bytearray(gzip.compress(b"abc\n" * 10_000))
    packed[30:40] = b"0123456789"
    for name, content in {"other": b"abc\n", "cut": packed[:20], "spoiled": packed}.items():
        (tmp_path / f"{name}.txt.gz").write_bytes(content)
        with pytest.raises(BadData, match=rf"{name}.txt.gz cannot be read"):
            open_texts(tmp_path / f"{name}.txt.gz")


def test_texts_beyond_the_memory_limit_are_not_read(tmp_path):
    """A small packed file may unpack to anything."""
    (tmp_path / "x.txt.gz").write_bytes(gzip.compress(b"a line of text\n" * 200_000))
    for use in (
        lambda: open_texts(tmp_path / "x.txt.gz", memory_limit="1MB"),
        lambda: KernelPCA(2, kernel=Spectrum(3), memory_limit="1MB").fit(tmp_path / "x.txt.gz"),
    ):
        with pytest.raises(NoRoom, match=r"texts are held in memory, and line \S+ is beyond the limit of 1 MB"):
            use()


def test_a_path_that_is_no_file_is_one_sentence(tmp_path):
    with pytest.raises(BadData, match="there is no such file"):
        MODEL.fit(tmp_path / "none.txt")
    with pytest.raises(BadData, match="is a folder"):
        MODEL.fit(tmp_path)
    (tmp_path / "a.txt").write_text("a\n")
    with pytest.raises(BadData, match="no columns to choose from"):
        open_texts(tmp_path / "a.txt", column="name")
    with pytest.raises(ValueError, match="case must be upper, lower or None; got 'title'"):
        open_texts(tmp_path / "a.txt", case="title")


# ---------------------------------------------------------------------------- FASTA


@pytest.mark.parametrize("end", ["fa", "fasta", "FNA", "faa", "fasta.gz"])
def test_a_record_of_fasta_is_a_text(tmp_path, end):
    content = "; a comment\n>first one of them\nACGT\nacgtN\n\n;another\n>second\r\nAC GT*\n> third\nTT"
    path = tmp_path / f"reads.{end}"
    path.write_bytes(gzip.compress(content.encode()) if end.endswith("gz") else content.encode())
    texts = open_texts(path)
    assert texts.items.tolist() == ["ACGTacgtN", "ACGT*", "TT"] and list(texts.row_names) == [
        "first",
        "second",
        "third",
    ]
    assert open_texts(path, case="upper").items[0] == "ACGTACGTN"


def test_a_record_without_letters_is_told_with_its_line(tmp_path):
    (tmp_path / "x.fa").write_text(">a\nAC\n>b\n\n>c\nGT\n>d")
    with pytest.warns(MercerWarning, match=r"2 records have no letters, .*: 'b' \(line 3\), 'd' \(line 7\)"):
        assert open_texts(tmp_path / "x.fa").items.tolist() == ["AC", "", "GT", ""]


def test_records_that_share_a_name_or_have_none_are_told_with_their_lines(tmp_path):
    (tmp_path / "x.fa").write_text(">b\nAC\n>a\nGT\n>\nGG\n>b x\nCC\n")
    with (
        pytest.warns(MercerWarning, match=r'x.fa: 1 record has no name after ">", in line 5\.'),
        pytest.warns(MercerWarning, match=r"1 name stands for more than one record: 'b' \(lines 1, 7\)"),
    ):
        assert list(open_texts(tmp_path / "x.fa").row_names) == ["b", "a", "", "b"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (";c\n\nACGT\n>a\nAC", r"line 3: 'ACGT' stands before the first line that begins with \">\"\.$"),
        ("@read\nACGT\n+\n!!!!", "line 1: '@read' stands before .* Is it FASTQ"),
        ("", "has no records"),
        (";only a comment", "has no records"),
        (">a\nACGT>b\nACGT\n", 'line 2: ">" stands within the letters, .ACGT>b.. Is the end of the line missing'),
    ],
)
def test_what_is_no_fasta_is_one_sentence(tmp_path, content, words):
    (tmp_path / "x.fasta").write_text(content)
    with pytest.raises(BadData, match=words):
        open_texts(tmp_path / "x.fasta")


# ---------------------------------------------------------------------------- columns of tables


def written(frame, path):
    table = pa.Table.from_pandas(frame, preserve_index=False)
    {
        ".csv": lambda: frame.to_csv(path, index=False),
        ".tsv": lambda: frame.to_csv(path, index=False, sep="\t"),
        ".parquet": lambda: pa.parquet.write_table(table, path),
        ".feather": lambda: pa.feather.write_feather(table, path),
    }[path.suffix]()
    return path


@pytest.mark.parametrize("end", ["csv", "tsv", "parquet", "feather"])
def test_a_column_of_a_table_is_texts(tmp_path, end):
    names = [*VOC, 'o"brien, "conan"', "line\nbreak", "00123", "NA"]
    path = written(pd.DataFrame({"age": range(len(names)), "name": names}), tmp_path / f"t.{end}")
    texts = open_texts(path, "name")
    assert texts.items.tolist() == names and texts.heading == "name"
    with pytest.raises(BadData, match=r"has 2 columns, and texts are one: 'age', 'name'. Choose by"):
        MODEL.fit(path)
    with pytest.raises(BadData, match="has no column 'nam'; it has 'age', 'name'"):
        open_texts(path, "nam")


def test_a_table_of_one_column_needs_no_name(tmp_path):
    frame = pd.DataFrame({"name": VOC})
    assert len(open_texts(written(frame, tmp_path / "a.parquet"))) == len(VOC)
    with pytest.warns(MercerWarning, match="first line of .* is taken as the name of its column: 'name'"):
        assert len(open_texts(written(frame, tmp_path / "a.csv"))) == len(VOC)
    assert len(open_texts(tmp_path / "a.csv", header=True)) == len(VOC)
    assert open_texts(tmp_path / "a.csv", header=False).items[0] == "name"


def test_decimal_numbers_that_are_read_as_texts_are_told_and_codes_are_not(tmp_path):
    (tmp_path / "x.csv").write_text("mass,code,name\n1.5,007,a\n-2.25,012,b\n")
    with pytest.warns(
        MercerWarning, match=r"Column 'mass' of .*x\.csv holds decimal numbers, which are compared letter"
    ):
        assert open_texts(tmp_path / "x.csv", "mass").items.tolist() == ["1.5", "-2.25"]
    assert open_texts(tmp_path / "x.csv", "code").items.tolist() == ["007", "012"]


def test_columns_that_are_no_texts_and_gaps_are_told(tmp_path):
    path = written(pd.DataFrame({"age": [1, 2], "name": ["a", None]}), tmp_path / "a.parquet")
    with pytest.raises(BadData, match=r"Column 'age' of .* holds int64, which is no text"):
        open_texts(path, "age")
    with pytest.raises(BadData, match="item 1 is missing"):
        open_texts(path, "name")
    path = written(pd.DataFrame({"age": [1, 2], "name": ["a", None]}), tmp_path / "a.csv")
    with pytest.warns(MercerWarning, match="'name' of .* is empty in 1 of 2 rows, first in row 1"):
        assert open_texts(path, "name").items.tolist() == ["a", ""]
    with pytest.raises(NoRoom, match="column 'name' is beyond the limit"):
        open_texts(path, "name", memory_limit=10)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"name,age\na,1,2\n", r"line 2 .*3 fields, where the first line has 2"),
        (b'name,age\n"a,1\nb,2\n', "a quote left open"),
        (b"", "is empty"),
    ],
)
def test_a_damaged_table_is_told_with_its_line(tmp_path, content, words):
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(BadData, match=words):
        open_texts(tmp_path / "a.csv", "name")


# ---------------------------------------------------------------------------- names beside scores


@pytest.mark.parametrize("end", ["csv", "tsv", "parquet", "feather", "npy"])
def test_scores_of_a_file_begin_with_the_names_of_its_records(tmp_path, end):
    reads = [name.replace(" ", "") for name in VOC]
    (tmp_path / "reads.fa").write_text("".join(f">r{i} more\n{read}\n" for i, read in enumerate(reads)))
    out, scores = tmp_path / f"scores.{end}", MODEL.fit_transform(reads)
    for write in (MODEL.fit_transform_to, MODEL.transform_to):
        write(tmp_path / "reads.fa", out)
        if end == "npy":
            assert_allclose(np.load(out), scores, atol=1e-12)
            continue
        readers = {"parquet": pd.read_parquet, "feather": pd.read_feather, "tsv": pd.read_table}
        table = readers.get(end, pd.read_csv)(out)
        assert list(table.columns) == ["name", "kernelpca0", "kernelpca1"]
        assert list(table["name"]) == [f"r{i}" for i in range(len(VOC))]
        assert_allclose(table.to_numpy()[:, 1:].astype(float), scores, atol=1e-12)


def test_texts_are_written_beside_their_scores_whatever_is_in_them(tmp_path):
    odd = [*VOC, 'a "quoted", text', "b\tc", "é😀", ""]
    (tmp_path / "x.txt").write_text("\n".join(odd) + "\n", encoding="utf-8")
    MODEL.fit_transform_to(tmp_path / "x.txt", tmp_path / "s.csv")
    assert list(pd.read_csv(tmp_path / "s.csv", keep_default_na=False)["text"]) == odd
    texts = Texts(["a\ud800", "b", "c"], names=["a\ud800", b"b\xff", "c"], heading='the "name", or so')
    MODEL.transform_to(texts, tmp_path / "s.csv")
    read = pd.read_csv(tmp_path / "s.csv")
    assert list(read['the "name", or so']) == ["a\\ud800", "bÿ", "c"]


def test_texts_from_memory_are_written_as_rows_are(tmp_path):
    MODEL.fit_transform_to(VOC, tmp_path / "s.csv")
    assert pd.read_csv(tmp_path / "s.csv").shape == (len(VOC), 2)


def test_scores_do_not_take_the_place_of_their_texts(tmp_path):
    (tmp_path / "x.csv").write_text("name\n" + "\n".join(VOC))
    for X in (tmp_path / "x.csv", open_texts(tmp_path / "x.csv", "name")):
        with pytest.raises(WrongUse, match="is the file that rows are read from"):
            MODEL.fit_transform_to(X, tmp_path / "x.csv")


# ---------------------------------------------------------------------------- names of columns


def test_the_column_of_a_frame_keeps_its_name():
    model = KernelPCA(2, kernel=Spectrum(2)).fit(pd.DataFrame({"name": VOC}))
    assert model.feature_names_in_.tolist() == ["name"] and model.n_features_in_ == 1
    with pytest.raises(ValueError, match=r"feature names should match.*the column is 'city', and 'name' was there"):
        model.transform(pd.DataFrame({"city": OOV}))
    assert model.transform(OOV).shape == (3, 2)
    assert not hasattr(model.fit(VOC), "feature_names_in_")
