"""Strings, series and objects: from memory, from files of lines and from FASTA."""

import gzip

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator

from mercer.data.conversion import as_objects, as_series, as_strings
from mercer.data.dataset import ArrayDataset
from mercer.data.opening import open_dataset
from mercer.data.validation import as_dataset
from mercer.errors import DataError, MemoryLimitError, MercerError, MercerWarning, ParameterError
from mercer.estimators.pca import PCA
from mercer_old.sources.series import Series as OldSeries

NAMES = ["homer", "marge", "bart", "lisa"]
GB = 10**9


class Estimator(BaseEstimator):
    """What `as_dataset` needs of an estimator."""


HOLDERS = {
    "list": list,
    "tuple": tuple,
    "generator": iter,
    "array": np.array,
    "objects": lambda strings: np.array(strings, dtype=object),
    "column": lambda strings: np.array(strings, dtype=object)[:, None],
    "StringDType": lambda strings: np.array(strings, dtype=np.dtypes.StringDType()),
    "series": pd.Series,
    "pandas strings": lambda strings: pd.Series(strings, dtype="string"),
    "categories": lambda strings: pd.Series(strings, dtype="category"),
    "index": pd.Index,
    "frame": lambda strings: pd.DataFrame({"name": strings}),
    "polars": pl.Series,
    "polars frame": lambda strings: pl.DataFrame({"name": strings}),
    "Arrow": pa.array,
    "Arrow chunks": lambda strings: pa.chunked_array([strings[:1], strings[1:]]),
    "Arrow dictionary": lambda strings: pa.array(strings).dictionary_encode(),
    "Arrow table": lambda strings: pa.table({"name": strings}),
}


@pytest.mark.parametrize("name", HOLDERS)
def test_strings_from_whatever_holds_a_column(name):
    strings = as_strings(HOLDERS[name](NAMES))
    assert strings.dtype == object and strings.tolist() == NAMES
    assert as_strings(np.array([name.encode() for name in NAMES])).tolist() == [name.encode() for name in NAMES]


MISSING = {
    "None": lambda: ["a", None, "b"],
    "NaN": lambda: np.array(["a", np.nan, "b"], dtype=object),
    "pandas": lambda: pd.Series(["a", None, "b"]),
    "pandas NA": lambda: pd.Series(["a", pd.NA, "b"], dtype="string"),
    "pandas frame": lambda: pd.DataFrame({"name": ["a", None, "b"]}),
    "StringDType": lambda: np.array(["a", None, "b"], dtype=np.dtypes.StringDType(na_object=None)),
    "polars": lambda: pl.Series(["a", None, "b"]),
    "polars frame": lambda: pl.DataFrame({"name": ["a", None, "b"]}),
    "Arrow": lambda: pa.array(["a", None, "b"]),
    "Arrow table": lambda: pa.table({"name": ["a", None, "b"]}),
}


@pytest.mark.parametrize("name", MISSING)
def test_a_missing_string_is_located(name):
    with pytest.raises(DataError, match="missing") as caught:
        as_strings(MISSING[name]())
    assert caught.value.row == 1


OTHERS = {
    "numbers": lambda: np.ones((4, 3)),
    "sparse": lambda: sparse.eye_array(3),
    "a column of numbers": lambda: np.ones((4, 1)),
    "two columns": lambda: pd.DataFrame({"a": ["x"], "b": ["y"]}),
    "a table of two columns": lambda: pa.table({"a": ["x"], "b": ["y"]}),
    "a series of numbers": lambda: pd.Series([1.5, 2.5]),
    "some numbers": lambda: ["a", 1, "b"],
    "str and bytes": lambda: ["a", b"b"],
    "a set": lambda: {"a", "b"},
    "a dict": lambda: {"a": "b"},
    "one string": lambda: "names.txt",
    "lists": lambda: [["a"], ["b"]],
    "nothing": lambda: None,
    "empty": lambda: [],
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_not_a_column_of_strings_is_refused(name):
    with pytest.raises(DataError):
        as_strings(OTHERS[name]())


def test_as_dataset_of_strings():
    estimator = Estimator()
    data = as_dataset(pd.DataFrame({"name": NAMES}), estimator, reset=True, kind="strings")
    assert data.kind == "strings" and data.shape == (4, 1) and estimator.n_features_in_ == 1
    assert estimator.feature_names_in_.tolist() == ["name"]
    assert as_dataset(NAMES, estimator, reset=False, kind="strings").samples.tolist() == NAMES
    with pytest.raises(DataError, match="feature names"):
        as_dataset(pd.DataFrame({"other": NAMES}), estimator, reset=False, kind="strings")
    for kind in ("vectors", "series"):
        with pytest.raises(DataError):
            as_dataset(data, Estimator(), reset=True, kind=kind)


# ---------------------------------------------------------------------- series and objects

SERIES = {
    "lists of several lengths": [[1, 2, 3], [4.5]],
    "arrays of several values": [np.ones((3, 2)), np.zeros((5, 2))],
    "matrix": np.arange(6.0).reshape(2, 3),
    "three axes": np.arange(12.0).reshape(2, 3, 2),
    "objects": np.array([np.ones(3), np.ones(4)], dtype=object),
    "frame": pd.DataFrame([[1, 2], [3, 4]]),
    "equal shapes": [np.ones(3), np.zeros(3)],
}


@pytest.mark.parametrize("name", SERIES)
def test_series_are_those_of_the_first_edition(name):
    made, old = as_series(SERIES[name]), OldSeries(SERIES[name]).items
    assert made.dtype == object and len(made) == len(old)
    for one, other in zip(made, old, strict=True):
        assert one.dtype == np.float64 and one.ndim == 2
        assert_array_equal(one, other)


@pytest.mark.parametrize(
    "X",
    [np.arange(5.0), "s.csv", {1: [1]}, 3, [], [[]], [[1, np.nan]], [[1], "ab"], [np.ones((2, 2)), np.ones((2, 3))],
     [np.ones((1, 1, 1))], [1, 2]],
    ids=range(11),
)  # fmt: skip
def test_what_is_not_a_list_of_series_is_refused(X):
    with pytest.raises(DataError):
        as_series(X)


def test_objects_stay_objects():
    for X in ([{1}, {2, 3}], np.array([{1}, {2, 3}], dtype=object), pd.Series([{1}, {2, 3}])):
        assert as_objects(X).tolist() == [{1}, {2, 3}]
    equal = as_objects([np.ones(2), np.ones(2)])
    assert equal.shape == (2,) and equal[0].shape == (2,)
    for X in (np.ones((2, 2)), 3, []):
        with pytest.raises(DataError):
            as_objects(X)


# ---------------------------------------------------------------------- files


def lines(path, memory=GB, kind="strings", **options):
    return open_dataset(path, kind=kind, memory_limit=memory, **options)


def fasta(path, memory=GB, **options):
    return open_dataset(path, kind="strings", memory_limit=memory, **options)


LINES = {
    "line feeds": b"a\nb\n\nc\n",
    "no end": b"a\nb\n\nc",
    "CR LF": b"a\r\nb\r\n\r\nc\r\n",
    "CR": b"a\rb\r\rc",
    "byte order mark": b"\xef\xbb\xbfa\nb\n\nc\n",
}


@pytest.mark.parametrize("how", LINES)
@pytest.mark.parametrize("name", ["names.txt", "words", "names.txt.gz"])
def test_a_line_is_a_string_whatever_ends_it(tmp_path, how, name):
    path = tmp_path / name
    path.write_bytes(gzip.compress(LINES[how]) if name.endswith("gz") else LINES[how])
    data = lines(path)
    assert data.load().tolist() == data.metadata.ids == ["a", "b", "", "c"] and data.kind == "strings"


def test_blanks_and_unusual_separators_stay_in_their_line(tmp_path):
    strings = [" a ", "b\u2028c", "d\x0be", "é😀", ""]
    (tmp_path / "x.txt").write_text("\n".join(strings) + "\n", encoding="utf-8")
    assert lines(tmp_path / "x.txt").load().tolist() == strings
    assert lines(tmp_path / "x.txt", case="upper").load()[3] == "É😀"
    with pytest.raises(ParameterError):
        lines(tmp_path / "x.txt", case="title")


@pytest.mark.parametrize(
    ("content", "row"),
    [(b"abc\nd\n\xe9t\xe9\n", 2), (b"abc\nd\xc3", 1), ("abc".encode("utf-16"), None), (b"abc\nd\0e\n", None),
     (b"", None), (b"PAR1\x15...", None), (gzip.compress(b"a"), None)],
    ids=range(7),
)  # fmt: skip
def test_a_file_that_is_not_text_is_one_error(tmp_path, content, row):
    (tmp_path / "x.txt").write_bytes(content)
    with pytest.raises(DataError):
        lines(tmp_path / "x.txt")


def test_damaged_missing_and_other_files(tmp_path):
    packed = bytearray(gzip.compress(b"abc\n" * 10_000))
    packed[30:40] = b"0123456789"
    for content in (b"abc\n", packed[:20], packed):
        (tmp_path / "x.txt.gz").write_bytes(content)
        with pytest.raises(DataError):
            lines(tmp_path / "x.txt.gz")
    with pytest.raises(DataError, match="File not found"):
        lines(tmp_path / "nothing.txt")
    (tmp_path / "x.txt").write_text("a\n")
    with pytest.raises(DataError):
        lines(tmp_path / "x.txt", kind="vectors")


def test_strings_beyond_the_memory_limit_are_not_read(tmp_path):
    (tmp_path / "x.txt.gz").write_bytes(gzip.compress(b"a line of text\n" * 200_000))
    with pytest.raises(MemoryLimitError) as caught:
        lines(tmp_path / "x.txt.gz", memory=10**6)
    assert 10**6 < caught.value.needed < 1.1 * 10**6


@pytest.mark.parametrize("line", [60, 200_000])
def test_lines_and_records_are_charged_for_what_their_strings_take(tmp_path, line):
    """A record, or a line, is in memory twice while it is put together; lines of a record are not held."""
    record = "\n".join(["ACGT" * (line // 4)] * (1_200_000 // line))
    (tmp_path / "x.fa").write_text(f">a\n{record}\n>b\n{record}\n")
    assert [len(string) for string in fasta(tmp_path / "x.fa", memory="4MB").load()] == [1_200_000] * 2
    with pytest.raises(MemoryLimitError):
        fasta(tmp_path / "x.fa", memory="3.4MB")
    (tmp_path / "x.txt").write_text(f"{'A' * 1_200_000}\n")
    assert len(lines(tmp_path / "x.txt", memory="2.6MB").load()[0]) == 1_200_000
    (tmp_path / "x.txt").write_text(f"{'A' * 1_200_000}\U0001f427\n")
    with pytest.raises(MemoryLimitError):
        lines(tmp_path / "x.txt", memory="4.8MB")


def test_records_of_fasta(tmp_path):
    content = ">one first record\nACG T\nacgt\n; a comment\n\n>two\nGG\n"
    (tmp_path / "x.fa").write_text(content)
    data = fasta(tmp_path / "x.fa")
    assert data.load().tolist() == ["ACGTacgt", "GG"] and data.metadata.ids == ["one", "two"]
    assert data.metadata.id_name == "name" and isinstance(data, ArrayDataset)
    assert fasta(tmp_path / "x.fa", case="lower").load()[0] == "acgtacgt"


@pytest.mark.parametrize("content", ["ACGT\n>one\nA\n", "@read\nACGT\n", ">one\nAC>two\nGT\n", "\n\n"], ids=range(4))
def test_files_that_are_not_fasta_are_refused(tmp_path, content):
    (tmp_path / "x.fa").write_text(content)
    with pytest.raises(MercerError):
        fasta(tmp_path / "x.fa")


@pytest.mark.parametrize(
    "content", [">one\n>two\nA\n", ">one\nA\n>one\nC\n", ">\nA\n"], ids=["empty", "twice", "nameless"]
)
def test_records_that_are_empty_or_share_a_name_are_warned_of(tmp_path, content):
    (tmp_path / "x.fa").write_text(content)
    with pytest.warns(MercerWarning):
        fasta(tmp_path / "x.fa")


def test_bytes_and_str_do_not_mix_between_fit_and_transform():
    estimator = Estimator()
    as_dataset(NAMES, estimator, reset=True, kind="strings")
    estimator.X_fit_ = np.array(NAMES, dtype=object)
    encoded = [name.encode() for name in NAMES]
    for X in (encoded, ArrayDataset(np.array(encoded, dtype=object), "strings")):
        with pytest.raises(DataError):
            as_dataset(X, estimator, reset=False, kind="strings")
    estimator.X_fit_ = np.array(encoded, dtype=object)
    assert len(as_dataset(encoded, estimator, reset=False, kind="strings")) == 4


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".zst"])
@pytest.mark.parametrize("name", ["x.fasta", "x.txt"])
def test_compressed_files_of_strings(tmp_path, name, suffix):
    codec = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}[suffix]
    with pa.output_stream(str(tmp_path / (name + suffix)), compression=codec) as file:
        file.write(">a\nACGÜ\n".encode())
    expected = ["ACGÜ"] if name == "x.fasta" else [">a", "ACGÜ"]
    assert lines(tmp_path / (name + suffix)).load().tolist() == expected


def test_a_long_string_among_many_takes_no_more_than_its_length():
    strings = ["A" * 1_000_000, *["C"] * 100_000]  # an array of strings would take 400 GB
    assert as_strings(strings).shape == (100_001,)
    with pytest.raises(DataError, match="strings"):
        PCA(1).fit(strings)


def test_case_is_for_strings_only(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\nu,2.5\nv,4\n")
    assert open_dataset(tmp_path / "x.csv", kind="strings", text="a", case="upper").load().tolist() == ["U", "V"]
    table = open_dataset(tmp_path / "x.csv", kind="table", case="upper", keep="a").load()
    assert table.names == ["b"]
