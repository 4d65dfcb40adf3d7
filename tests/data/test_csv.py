"""Text tables: detection, ids and codes, errors with their location, records across blocks, memory and exit."""

import gzip
import random
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from pyarrow import csv as arrow_csv

from corpus.tables import TABLE_CASES
from corpus.texts import TEXT_CASES
from mercer.data.csv_files import CsvReader
from mercer.data.opening import open_dataset
from mercer.data.read_options import ReadOptions
from mercer.errors import DataError, MemoryLimitError, MercerError, MercerWarning, MissingValuesError, Remedy
from mercer_old import open_rows
from support.fresh_process import SOURCE, needs_peaks, peak_of_reading, run_script


def write(folder, text, name="x.csv", encoding="utf-8"):
    path = folder / name
    path.write_bytes(text.encode(encoding) if isinstance(text, str) else text)
    return path


def remedies(error):
    return {remedy.parameter: remedy.value for remedy in error.value.remedies}


# ---------------------------------------------------------------------- the odd files of the first edition

DIFFERENCES = {
    "utf-16-le": "not guessed without a byte order mark: the error suggests encoding='utf-16-le'",
    "utf-16-be": "not guessed without a byte order mark: the error suggests encoding='utf-16-be'",
    "leading zeros": "codes are text unless they are named in columns: the error suggests columns=['a', 'b']",
    "no separator that is known": "blanks separate: a b, 1 2 has two columns",
}
CASES = [*TEXT_CASES, *TABLE_CASES]


def outcome(read, path, options, refusals):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return read(path, **options).load()
        except refusals:
            return None


@pytest.mark.parametrize("kind", [".csv", ".parquet", ".arrow", ".feather", "others"])
def test_odd_files_are_read_or_refused_as_by_the_first_edition(tmp_path, kind):
    others = kind == "others"
    cases = [
        case for case in CASES if (Path(case.file).suffix not in (".csv", ".parquet", ".arrow", ".feather")) == others
    ]
    cases = [case for case in cases if others or Path(case.file).suffix == kind]
    assert cases
    differ = []
    for i, case in enumerate(cases):
        folder = tmp_path / str(i)
        folder.mkdir()
        path = case.write(folder)
        old = outcome(open_rows, path, case.options, Exception)
        new = outcome(open_dataset, path, case.options, MercerError)
        same = old is None if new is None else old is not None and old.dtype == new.dtype and np.array_equal(old, new)
        if not same:
            differ.append(case.name)
    assert sorted(differ) == sorted(case.name for case in cases if case.name in DIFFERENCES)


# ---------------------------------------------------------------------- ids and codes

ODD_IDS = [
    "007",
    "12345678901234567890",
    " x ",
    "a b",
    "e\u0301",
    "🐧",
    "\u00a0",
    "NA",
    "null",
    "?",
    "1E2",
    "1e2",
    "+49",
]


def test_ids_are_the_bytes_of_the_file(tmp_path):
    path = write(tmp_path, "id,a,b\n" + "".join(f"{id},{i}.5,2\n" for i, id in enumerate(ODD_IDS)))
    data = open_dataset(path)
    assert data.metadata.ids == ODD_IDS and data.feature_names == ("a", "b")
    data = open_dataset(path, id="a", keep="id")
    assert data.metadata.columns["id"].to_pylist() == ODD_IDS
    assert data.metadata.ids[:2] == ["0.5", "1.5"]


@pytest.mark.parametrize(
    "ids", [["007", "008", "010"], [str(10**19 + i) for i in range(3)], ["+491701234567", "2", "3"]]
)
def test_codes_are_ids_and_never_numbers(tmp_path, ids):
    path = write(tmp_path, "plant,a\n" + "".join(f"{id},{i}.5\n" for i, id in enumerate(ids)))
    data = open_dataset(path)
    assert data.feature_names == ("a",) and data.metadata.ids == ids
    assert open_dataset(path, columns=["plant", "a"]).load()[0, 0] == float(ids[0])


@pytest.mark.parametrize("code", ["007", " 007", "+491701234567", "12345678901234567"])
@pytest.mark.parametrize("line", [30, 20_000])
def test_codes_far_down_are_never_numbers(tmp_path, code, line):
    """The first edition reads 7 without a warning unless the zeros are in the first 20 lines."""
    cells = [str(i % 90) for i in range(line)] + [code, "12"]
    path = write(tmp_path, "zip,a\n" + "".join(f"{cell},0.5\n" for cell in cells))
    with pytest.warns(MercerWarning, match=r"'zip' \(codes such as .*not numeric and left out"):
        assert open_dataset(path).feature_names == ("a",)
    assert open_dataset(path, drop="zip").shape == (line + 2, 1)
    assert open_dataset(path, columns=["zip"]).load()[line, 0] == float(code)


@pytest.mark.parametrize("cells", [["0", "10", "-5"], ["0.5", "00.5", "1"], ["+2", "3", "4"], ["1e05", "2", "3"]])
def test_numbers_are_not_codes(tmp_path, cells):
    path = write(tmp_path, "a,b\n" + "".join(f"{cell},1.5\n" for cell in cells))
    assert open_dataset(path).load()[:, 0].tolist() == [float(cell) for cell in cells]


def test_codes_in_all_columns_have_a_remedy(tmp_path):
    path = write(tmp_path, "a,b\n01,002\n3,0004\n")
    with pytest.raises(DataError) as error:
        open_dataset(path)
    assert remedies(error) == {"columns": ["a", "b"]} and error.value.value == "01"
    assert open_dataset(path, **remedies(error)).load().tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("name", ["id", "Sample", "patient_id", "rownames", "row", "index", "caseID", "Nr"])
def test_integers_named_like_ids_are_ids(tmp_path, name):
    """In the first edition they are features, without a warning unless they are consecutive."""
    path = write(tmp_path, f"{name},a\n17,1\n4,2\n99,5\n")
    data = open_dataset(path)
    assert data.feature_names == ("a",) and data.metadata.ids == ["17", "4", "99"]
    assert open_dataset(path, columns=[name, "a"]).shape == (3, 2)


def test_columns_that_identify_or_count_rows_are_noted_and_left_out(tmp_path):
    rows = "".join(f"s{i},{100 - i},{i},{i // 2},{i}.5\n" for i in range(40))
    data = open_dataset(write(tmp_path, f"name,case,k,visit_id,a\n{rows}"))
    assert data.feature_names == ("a",) and data.metadata.id_name == "name"
    (note,) = [note for note in data.source.notes if "identify rows" in note.summary]
    assert note.severity == "note" and note.remedies[0] == Remedy("drop", ["case", "k", "visit_id"])
    assert open_dataset(tmp_path / "x.csv", drop="name").metadata.id_name == "case"


@pytest.mark.parametrize("text", ["index,a\n3,1.5\n3,2.5\n4,1\n", "t,a\n1,5\n2,6\n3,8\n", "year,a\n2001,5\n2002,6\n"])
def test_other_integers_are_features(tmp_path, text):
    assert open_dataset(write(tmp_path, text)).shape[1] == 2


def test_a_time_axis_is_a_feature(tmp_path):
    path = write(tmp_path, "time,a\n" + "".join(f"{i},{i * i % 7}\n" for i in range(40)))
    assert open_dataset(path).feature_names == ("time", "a")


def test_a_table_of_ids_only_keeps_them(tmp_path):
    assert open_dataset(write(tmp_path, "id,row\n17,1\n4,2\n")).feature_names == ("id", "row")
    data = open_dataset(write(tmp_path, "name,id\nx,17\ny,4\n"))
    assert data.feature_names == ("id",) and data.metadata.ids == ["x", "y"]


@pytest.mark.parametrize(
    ("text", "id_name", "ids"),
    [
        ("name,a\nx,1\ny,2\n", "name", ["x", "y"]),
        ("a,name,other\n1,x,p\n2,y,p\n", "name", ["x", "y"]),
        (",a\n7,1\n9,2\n", "", ["7", "9"]),
        ("Unnamed: 0,a\nx,1\ny,2\n", "Unnamed: 0", ["x", "y"]),
        ('"a";"b"\n"r1";1;2\n"r2";3;4\n', "", ["r1", "r2"]),
        ("name,a\nx,1\nx,2\n", None, None),
        ("name,a\nx,1\n,2\n", None, None),
        (",a\nx,1\nx,2\n", None, None),
    ],
)
@pytest.mark.filterwarnings("ignore::mercer.errors.MercerWarning")
def test_the_index_or_the_first_different_strings_are_the_ids(tmp_path, text, id_name, ids):
    data = open_dataset(write(tmp_path, text))
    assert (data.metadata.id_name, data.metadata.ids) == (id_name, ids)


def test_the_index_is_the_id_also_where_columns_are_chosen(tmp_path):
    path = write(tmp_path, ",a,b\n7,1,3\n8,2,4\n")
    data = open_dataset(path, columns=["b"])
    assert data.feature_names == ("b",) and data.metadata.ids == ["7", "8"]
    assert open_dataset(path, columns=["", "a"]).load().tolist() == [[7, 1], [8, 2]]


@pytest.mark.parametrize(("ids", "words"), [("x\nx\ny", "'x' occurs"), ("x\n\ny", "missing"), ("NA\nNA\ny", "'NA'")])
def test_an_id_column_must_name_each_row(tmp_path, ids, words):
    rows = "\n".join(f'"{id}",{i}' for i, id in enumerate(ids.split("\n")))
    with pytest.raises(DataError, match=words) as error:
        open_dataset(write(tmp_path, f"n,a\n{rows}\n"), id="n")
    assert error.value.column == "n"


def test_kept_columns_may_be_features_as_well(tmp_path):
    path = write(tmp_path, "a,b\n1,2\n3,4\n")
    data = open_dataset(path, columns=["a", "b"], label="b", keep=["a"])
    assert data.shape == (2, 2) and list(data.metadata.columns) == ["b", "a"] and data.metadata.label_name == "b"
    assert open_dataset(path, label="b").feature_names == ("a",)
    with pytest.raises(DataError, match=r"no column 'C'"):
        open_dataset(path, keep="C")
    assert open_dataset(path, keep="C", optional_metadata=True).metadata.columns == {}


# ---------------------------------------------------------------------- detection


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a;b\n1,5;2\n3,5;4\n", [[1.5, 2], [3.5, 4]]),
        ("a\tb\n1,5\t2\n3\t4,25\n", [[1.5, 2], [3, 4.25]]),
        ("a b\n1 2\n3 4\n", [[1, 2], [3, 4]]),
        ("1.000e+00 2.500e+00\n3.000e+00 4.000e+00\n", [[1, 2.5], [3, 4]]),
        ("2019,2020,x\n1,2,3\n", [[1, 2, 3]]),
    ],
)
@pytest.mark.filterwarnings("ignore::mercer.errors.MercerWarning")
def test_delimiter_decimal_mark_and_header_are_detected(tmp_path, text, expected):
    assert open_dataset(write(tmp_path, text)).load().tolist() == expected


def test_years_and_numbers_in_the_first_line_are_reported(tmp_path):
    with pytest.warns(MercerWarning, match="read as a row") as found:
        assert open_dataset(write(tmp_path, "2019,2020\n1,2\n")).feature_names is None
    assert found[0].message.remedies == (Remedy("header", True),)
    with pytest.warns(MercerWarning, match="column names, and some are numbers"):
        assert open_dataset(write(tmp_path, "1.5,x\n1,2\n")).feature_names == ("1.5", "x")


def test_what_was_detected_is_noted_with_the_option_that_corrects_it(tmp_path):
    data = open_dataset(write(tmp_path, "a;b\n1,5;2\n3,5;4\n", encoding="utf-16"))
    assert {note.remedies[0].parameter for note in data.source.notes} == {"delimiter", "decimal", "encoding"}


def test_utf16_without_a_mark_has_a_remedy(tmp_path):
    for encoding in ("utf-16-le", "utf-16-be"):
        path = write(tmp_path, "größe,b\n1,2\n3,4\n", encoding=encoding)
        with pytest.raises(DataError) as error:
            open_dataset(path)
        assert remedies(error) == {"encoding": encoding}
        assert open_dataset(path, **remedies(error)).feature_names == ("größe", "b")


def test_bytes_that_are_not_utf8_are_latin1_wherever_they_are(tmp_path):
    far = b"n,a\n" + b"".join(b"r%d,1.5\n" % i for i in range(200_000)) + b"K\xf6ln,2\n"
    for content in (b"gr\xf6\xdfe,b\n1,2\n3,4\n", far):
        with pytest.warns(MercerWarning, match="not UTF-8 and is read as Latin-1"):
            data = open_dataset(write(tmp_path, content))
        assert "größe" in data.feature_names or data.metadata.ids[-1] == "Köln"
        with pytest.raises(DataError, match="not valid utf-8"):
            open_dataset(tmp_path / "x.csv", encoding="utf-8")


@pytest.mark.parametrize("compression", ["gzip", "zstd", "bz2"])
def test_compressed_files_are_read(tmp_path, compression):
    path = tmp_path / f"X.CSV.{ {'gzip': 'GZ', 'zstd': 'zst', 'bz2': 'bz2'}[compression] }"
    with pa.output_stream(str(path), compression=compression) as file:
        file.write(b"a,b\n1,2\n3,4\n")
    assert open_dataset(path).load().tolist() == [[1, 2], [3, 4]]
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(DataError, match="Cannot read"):
        open_dataset(path)


# ---------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("text", "row", "column", "value", "place"),
    [
        ("a,b\n" + "1,2\n" * 300_000 + "3,x\n", 300_000, "b", "x", "line 300002"),
        ("a;b\n" + "1,5;2\n" * 300_000 + "2.5;1\n", 300_000, "a", "2.5", "line 300002"),
        ("a,b\n1,2\n3,4,5\n", 1, None, None, "[Ll]ine 3"),
        ("a,b\n" + "1,2\n" * 300_000 + "3\n", 300_000, None, None, "[Ll]ine 300002"),
        ("a,b\n1,2\n3,4 kg\n5,6\n", 1, "b", "4 kg", "line 3"),
        ('a,"b\nx"\n1,2\n3,oops\n', 1, "b\nx", "oops", "line 4"),
        ("\na,b\n\n1,2\n\n3,4,5\n", 1, None, None, "[Rr]ow index 1 "),
    ],
)
def test_errors_have_row_column_value_and_line(tmp_path, text, row, column, value, place):
    with pytest.raises(DataError, match=place) as error:
        open_dataset(write(tmp_path, text)).load()
    assert (error.value.row, error.value.column, error.value.value) == (row, column, value)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a,b\n1,2\n3,\n5,6\n", r"line 3 \(row index 1\)"),
        ("a,b\r1,2\r3,?\r5,6", r"line 3 \(row index 1\)"),
        ('n,a,b\n"x",1,2\n"y",3,NA\n', r"line 3 \(row index 1\)"),
        ('n,a,b\n"x\nz",1,2\n"y",3,NA\n', "in row index 1,"),
        ("a,b\n\n1,2\n3,\n", "in row index 1,"),
    ],
)
def test_missing_values_have_a_line_unless_rows_and_lines_differ(tmp_path, text, line):
    with pytest.raises(MissingValuesError, match=line) as error:
        open_dataset(write(tmp_path, text)).load()
    assert error.value.row == 1


@pytest.mark.parametrize(
    ("cell", "remedy"), [("1,5", {"decimal": ","}), ("1.5 2.5", {"delimiter": "blank"}), ("5 kg", {}), ("Ulm", {})]
)
def test_cells_that_are_not_numbers_have_remedies(tmp_path, cell, remedy):
    with pytest.raises(DataError) as error:
        open_dataset(write(tmp_path, f'a,b\n1,2\n3,"{cell}"\n5,6\n'))
    assert remedies(error) == {**remedy, "drop": ["b"]} and (error.value.row, error.value.value) == (1, cell)


@pytest.mark.parametrize(("cells", "are_names"), [("1A 2B 3C", True), ("1A 2A 3A", True), ("3mm 12mm 5mm", False)])
def test_equal_units_are_errors_and_names_are_not(tmp_path, cells, are_names):
    path = write(tmp_path, "well,a\n" + "".join(f"{cell},{i}.5\n" for i, cell in enumerate(cells.split())))
    if are_names:
        assert open_dataset(path).metadata.ids == cells.split()
    else:
        with pytest.raises(DataError):
            open_dataset(path)


@pytest.mark.parametrize("before", [0, 200_000])
def test_a_quote_that_is_not_closed_is_an_error_with_its_line(tmp_path, before):
    """Arrow reads such a file without an error: all rows that follow are one cell."""
    path = write(tmp_path, "a,b,t\n" + "1,2,x\n" * before + '1,2,"x\n3,4,y\n5,6,z\n')
    with pytest.raises(DataError, match=f"quote in line {before + 2:,} of"):
        open_dataset(path, drop="t")


def test_a_changed_file_is_an_error(tmp_path):
    path = write(tmp_path, "a,b\n1,2\n3,4\n")
    data = open_dataset(path)
    write(tmp_path, "a,b\n1,2\n3,4\n5,6\n")
    with pytest.raises(DataError, match="has changed"):
        data.load()


@pytest.mark.parametrize(
    "options",
    [{"delimiter": "ab"}, {"decimal": "x"}, {"columns": 3}, {"header": "yes"}, {"transpose": 1}, {"drop": None},
     {"colums": "a"}, {"id": 5}, {"case": "title"}, {"array": "x"}, {"decimal": ",", "delimiter": ","}],
    ids=str,
)  # fmt: skip
def test_options_are_checked(tmp_path, options):
    with pytest.raises(MercerError) as error:
        open_dataset(write(tmp_path, "a,b\n1,2\n"), **options)
    assert error.value.exit_code == 2


# ---------------------------------------------------------------------- records across blocks


def random_table(rng):
    """Rows with quotes, stray quotes, line ends and blanks in quotes."""
    end = rng.choice(["\n", "\r\n", "\r"])
    inside = ["a", '""', end, "\n", ",", "é", "\r"]

    def field():
        match rng.randrange(6):
            case 0:
                return '"' + "".join(rng.choice(inside) for _ in range(rng.randrange(8))) + '"'
            case 1:
                return rng.choice(['x"y', '""', '"q"z"w'])
        return rng.choice(["1", "2.5", "abc", "ü"])

    rows = [",".join([field() for _ in range(3)]) for _ in range(rng.randrange(1, 12))]
    return end.join(["a,b,c", *rows]) + rng.choice(["", end])


def test_records_are_cut_as_arrow_cuts_them(tmp_path):
    strings = {name: pa.string() for name in "abc"}
    how = {
        "parse_options": arrow_csv.ParseOptions(newlines_in_values=True),
        "convert_options": arrow_csv.ConvertOptions(column_types=strings),
    }
    rng, n_read = random.Random(0), 0
    for _ in range(400):
        path = write(tmp_path, random_table(rng))
        try:
            expected = arrow_csv.read_csv(path, **how).to_pydict()
        except pa.ArrowInvalid:
            continue
        reader = CsvReader(path, ReadOptions(), 10**9)
        reader._block = rng.choice([5, 16, 40])
        found = pa.Table.from_batches(reader.text_batches("abc")).to_pydict()
        assert found == expected and reader.num_rows == len(expected["a"])
        n_read += 1
    assert n_read > 300


def test_integers_may_turn_into_decimals_and_words_into_errors_far_down(tmp_path):
    path = write(tmp_path, "a,b\n" + "1,2\n" * 300_000 + "1.5,2\n")
    assert open_dataset(path).load()[-1].tolist() == [1.5, 2]


def test_blocks_have_exactly_the_size_that_is_asked_for(tmp_path):
    X = np.random.default_rng(0).normal(size=(30_000, 3))
    path = write(tmp_path, "a,b,c\n" + "\n".join(",".join(map(repr, row)) for row in X.tolist()))
    data = open_dataset(path, memory_limit="2MB")
    assert [len(block) for block in data.blocks(7000)] == [7000] * 4 + [2000]
    assert_array_equal(data.load(), X)


# ---------------------------------------------------------------------- memory and exit

LIMIT, SPARE = 100_000_000, 60_000_000


def endless(start, piece, times, end=b""):
    def make(path):
        with gzip.open(path, "wb", 1) as file:
            file.write(start)
            for _ in range(times):
                file.write(piece)
            file.write(end)

    return make


HOSTILE = {
    "a line without end": (endless(b"a,b\n1,2\n", b"1" * 10**6, 300), "MemoryLimitError"),
    "a first line without end": (endless(b"", b"a" * 10**6, 300), "DataError"),
    "a cell of 300 MB": (endless(b'a,t\n1,x\n2,"', b"y" * 10**6, 300, b'"\n'), "MemoryLimitError"),
    "a cell of quotes": (endless(b'a,t\n1,x\n2,"', b'""' * 500_000, 300, b'"\n'), "MemoryLimitError"),
    "many rows": (endless(b"a,b\n", b"1.5,2.5\n" * 125_000, 80), 10_000_000),
    "many ids": (endless(b"name,b\n", b"".join(b"row %d,1.5\n" % i for i in range(100_000)), 30), 3_000_000),
    "a million columns": (endless(b"c," * 10**6 + b"d\n", b"1," * 10**6 + b"1\n", 2), "MemoryLimitError"),
}


@needs_peaks
@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_text_files_keep_to_the_limit(tmp_path, name):
    make, expected = HOSTILE[name]
    make(tmp_path / "x.csv.gz")
    small = write(tmp_path, gzip.compress(b"n,a,b\nx,1,2\ny,2,3\n"), "small.csv.gz")
    peak, result = peak_of_reading(tmp_path / "x.csv.gz", [small], memory_limit=LIMIT)
    assert result == expected and peak <= LIMIT + SPARE


def test_wide_text_files_are_refused_before_they_are_parsed(tmp_path):
    path = write(tmp_path, ",".join(f"c{i}" for i in range(20_000)) + "\n" + ",".join(["1"] * 20_000) + "\n")
    with pytest.raises(MemoryLimitError, match="20,000 columns") as error:
        open_dataset(path, memory_limit=LIMIT)
    assert error.value.needed > error.value.limit == LIMIT
    assert open_dataset(path, **remedies(error)).shape == (1, 20_000)


ABANDON = """
import sys, warnings
sys.path.insert(0, {source!r})
warnings.simplefilter("ignore")
from mercer.data.opening import open_dataset
from mercer.data.dataset import prefetch
held = []
for name in ("x.csv", "latin.csv", "x.csv.gz"):
    data = open_dataset({folder!r} + "/" + name, memory_limit="8MB")
    held += [prefetch(data, 100), data.blocks(100)]
    next(held[-1]), next(held[-2])
"""


@pytest.mark.parametrize("n_runs", [2, pytest.param(30, marks=pytest.mark.slow)])
def test_abandoned_passes_do_not_disturb_the_exit(tmp_path, n_runs):
    """A Python callback in Arrow's threads ends or blocks one of ten such processes at exit."""
    text = b"a,b\n" + b"1.25,2.5\n" * 300_000
    write(tmp_path, text)
    write(tmp_path, text.replace(b"a", b"\xe4", 1), "latin.csv")
    write(tmp_path, gzip.compress(text, 1), "x.csv.gz")
    script = ABANDON.format(source=SOURCE, folder=str(tmp_path))
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda _: run_script(script), range(n_runs)))


# ---------------------------------------------------------------------- what is detected


@pytest.mark.parametrize("name", ["PAR1", "FEA1", "BZh", "ARROW1", "%PDF"])
def test_names_of_columns_are_not_taken_for_other_formats(tmp_path, name):
    (tmp_path / "x.csv").write_text(f"{name},b\n1.5,2.5\n3,4\n")
    data = open_dataset(tmp_path / "x.csv")
    assert data.feature_names == (name, "b") and data.load().tolist() == [[1.5, 2.5], [3, 4]]


def test_row_names_of_r_are_found_in_rows_of_which_the_first_lines_are_cut(tmp_path):
    names = [f"v{j}" for j in range(9000)]
    rows = [f'"r{i}",' + ",".join(["1.2345"] * 9000) for i in range(40)]  # 20 lines are more than is looked at
    (tmp_path / "x.csv").write_text("\n".join([",".join(names), *rows, ""]))
    data = open_dataset(tmp_path / "x.csv")
    assert data.shape == (40, 9000) and data.metadata.ids[-1] == "r39" and data.feature_names[-1] == "v8999"
