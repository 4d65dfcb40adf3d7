"""Parquet, Arrow and Feather: values, folders, metadata, damaged files and the memory limit."""

import os
import struct
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal
from pyarrow import ipc

from mercer.data.ipc_sizes import read_sizes
from mercer.data.opening import file_format, open_dataset
from mercer.errors import (
    DataError,
    MemoryLimitError,
    MercerError,
    MercerWarning,
    MissingValuesError,
    Remedy,
    UsageError,
)
from mercer.estimators.pca import PCA
from support.fresh_process import needs_peaks, peak_of_reading

A = np.random.default_rng(0).normal(size=(1000, 4))
NAMES = list("abcd")


def as_table(rows=A, names=NAMES, **columns):
    return pa.table({name: rows[:, j] for j, name in enumerate(names)} | columns)


def write_parquet(path, rows=A, names=NAMES, size=90, **columns):
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(as_table(rows, names, **columns), path, row_group_size=size)
    return path


def write_arrow(path, table, compression=None, size=None):
    with ipc.new_file(path, table.schema, options=ipc.IpcWriteOptions(compression=compression)) as file:
        file.write_table(table, max_chunksize=size)
    return path


def write_csv(path, rows=A, names=NAMES):
    path.write_text("\n".join([",".join(names), *(",".join(map(repr, row)) for row in rows.tolist())]))
    return path


# ---------------------------------------------------------------------- values


def test_all_formats_give_the_same_bits(tmp_path):
    rows = np.random.default_rng(1).normal(size=(20_000, 4)) * 10.0 ** np.arange(-3, 9, 3)
    np.save(tmp_path / "x.npy", rows)
    files = [
        write_csv(tmp_path / "x.csv", rows),
        write_parquet(tmp_path / "x.parquet", rows, size=3000),
        write_arrow(tmp_path / "x.arrow", as_table(rows), "lz4", 777),
        write_arrow(tmp_path / "x.feather", as_table(rows)),
        tmp_path / "x.npy",
    ]
    expected = PCA(3).fit(open_dataset(files[-1]))
    for path in files:
        data = open_dataset(path)
        assert [len(block) for block in data.blocks(7001)] == [7001, 7001, 5998]
        assert_array_equal(data.load(), rows)
        found = PCA(3).fit(data)
        assert_array_equal(found.components_, expected.components_)
        assert_array_equal(found.explained_variance_, expected.explained_variance_)


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_only_columns_of_single_precision_stay_single(tmp_path, suffix):
    def dtype(**columns):
        table = pa.table(columns)
        path = tmp_path / f"x{suffix}"
        pq.write_table(table, path) if suffix == ".parquet" else write_arrow(path, table)
        data = open_dataset(path)
        assert data.load().dtype == data.dtype
        return data.dtype

    single, half = pa.array([1.5, 2.5], pa.float32()), pa.array(np.float16([1.5, 2.5]))
    assert dtype(a=single, b=half) == np.float32
    for other in ([1, 2], [True, False], [1.5, 2.5], pa.array([1, 2], pa.int8())):
        assert dtype(a=single, b=other) == np.float64


def test_nulls_decimals_and_large_integers_are_numbers(tmp_path):
    table = pa.table(
        {"a": pa.array([2**53 + 1, None]), "b": pa.array([1.25, 2.5]).cast(pa.decimal128(9, 2)), "c": pa.nulls(2)}
    )
    data = open_dataset(write_arrow(tmp_path / "x.arrow", table))
    data.allow_nan = True
    assert_array_equal(data.load(), [[2.0**53, 1.25, np.nan], [np.nan, 2.5, np.nan]])
    data.allow_nan = False
    with pytest.raises(MissingValuesError) as error:
        data.load()
    assert (error.value.row, error.value.column) == (0, "'c'")


@pytest.mark.parametrize("index", [pd.Index(["p", "q"], name="sample"), pd.Index(["p", "q"])], ids=str)
def test_the_index_of_a_pandas_frame_is_the_id(tmp_path, index):
    pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 5.0]}, index=index).to_parquet(tmp_path / "x.parquet")
    for columns in (None, ["b", "a"]):
        data = open_dataset(tmp_path / "x.parquet", columns=columns)
        assert set(data.feature_names) == {"a", "b"} and data.metadata.ids == ["p", "q"]


def test_an_index_with_duplicates_is_left_out(tmp_path):
    pd.DataFrame({"a": [1.0, 2.0]}, index=pd.Index([7, 7], name="run")).to_parquet(tmp_path / "x.parquet")
    with pytest.warns(MercerWarning, match="'run' .* index with duplicates"):
        data = open_dataset(tmp_path / "x.parquet")
    assert data.feature_names == ("a",) and data.metadata.ids is None


@pytest.mark.parametrize(
    "said",
    [
        b"{",
        b"[" * 100_000,
        b"[]",
        b'{"index_columns": 3}',
        b'{"index_columns": ["z"]}',
        b'{"index_columns": [{"kind": "r"}]}',
    ],
    ids=range(6),
)
def test_what_pandas_says_of_a_file_may_be_anything(tmp_path, said):
    pq.write_table(pa.table({"a": [1.0, 2.0]}).replace_schema_metadata({b"pandas": said}), tmp_path / "x.parquet")
    assert open_dataset(tmp_path / "x.parquet").feature_names == ("a",)


def test_columns_that_are_not_numeric_are_left_out_or_errors(tmp_path):
    path = write_parquet(tmp_path / "x.parquet", city=["Ulm"] * 1000)
    with pytest.warns(MercerWarning, match=r"'city' \(string\) .* not numeric and left out") as found:
        assert open_dataset(path).feature_names == tuple(NAMES)
    assert found[0].message.remedies == (Remedy("drop", ["city"]), Remedy("keep", ["city"]))
    with pytest.raises(DataError) as error:
        open_dataset(path, columns=["a", "city"])
    assert (error.value.column, error.value.value, error.value.row) == ("city", "Ulm", 0)
    write_parquet(path, A[:2], e=["1.5", "2.5"])
    with pytest.raises(DataError, match=r"not numeric: 'e' \(string\)"):
        open_dataset(path)


def test_thousands_of_columns_are_not_listed(tmp_path):
    names = [f"t{j}" for j in range(2000)]
    pq.write_table(pa.table({"a": [1.0, 2.0], **{name: ["x", "x"] for name in names}}), tmp_path / "x.parquet")
    with pytest.warns(MercerWarning, match=r"and 1,995 more") as found:
        assert open_dataset(tmp_path / "x.parquet").feature_names == ("a",)
    assert len(str(found[0].message)) < 700
    with pytest.raises(DataError, match=r"no column 'T7'.*Did you mean 't7'"):
        open_dataset(tmp_path / "x.parquet", label="T7")


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_strings_and_mixed_tables_are_read_into_memory(tmp_path, suffix):
    table = pa.table({"word": ["Ab", "bc", "cd"], "kind": ["x", "y", "x"], "n": [1, 2, 3]})
    path = tmp_path / f"x{suffix}"
    pq.write_table(table, path) if suffix == ".parquet" else write_arrow(path, table)
    data = open_dataset(path, kind="strings", text="word", label="kind", case="upper")
    assert data.samples.tolist() == ["AB", "BC", "CD"] and data.metadata.columns["kind"].to_pylist() == ["x", "y", "x"]
    with pytest.raises(DataError) as error:
        open_dataset(path, kind="strings")
    assert error.value.remedies == (Remedy("text", "word"),)
    with pytest.raises(DataError, match="holds int64, not strings"):
        open_dataset(path, kind="strings", text="n")
    data = open_dataset(path, kind="table")
    assert data.kind == "table" and data.shape == (3, 2) and data.metadata.ids == ["Ab", "bc", "cd"]


def test_transposed_tables_have_ids_and_names_swapped(tmp_path):
    genes = pa.table({"gene": ["g1", "g2", "g3"], **{f"s{i}": A[i, :3] for i in range(40)}})
    pq.write_table(genes, tmp_path / "x.parquet")
    data = open_dataset(tmp_path / "x.parquet", transpose=True)
    assert_array_equal(data.load(), A[:40, :3])
    assert data.feature_names == ("g1", "g2", "g3") and data.metadata.ids == [f"s{i}" for i in range(40)]
    with pytest.raises(MemoryLimitError):
        open_dataset(tmp_path / "x.parquet", transpose=True, drop="gene", memory_limit="1kB")
    with pytest.raises(UsageError, match="cannot be transposed"):
        open_dataset(tmp_path / "x.parquet", transpose=True, label="s0")


@pytest.mark.parametrize(
    ("name", "kind", "form"),
    [
        ("x.csv.gz", "vectors", "csv"),
        ("x.TSV", "vectors", "csv"),
        ("x.txt", "vectors", "csv"),
        ("x.txt", "strings", "lines"),
        ("x", "strings", "lines"),
        ("x.csv", "strings", "csv"),
        ("x.fa.gz", "strings", "fasta"),
        ("x.feather", "vectors", "arrow"),
        ("x.npz", "vectors", "npz"),
    ],
)
def test_formats_are_recognized_by_names(tmp_path, name, kind, form):
    (tmp_path / name).touch()
    assert file_format(tmp_path / name, None, kind) == form


def test_formats_may_be_given_and_must_be_known(tmp_path):
    (tmp_path / "x.dat").write_text("a,b\n1,2\n3,4\n")
    assert open_dataset(tmp_path / "x.dat", format="csv").shape == (2, 2)
    for name in ("x.dat", "x.parquet.gz"):
        (tmp_path / name).touch()
        with pytest.raises(UsageError, match="not supported"):
            open_dataset(tmp_path / name)
    (tmp_path / "x.fa").write_text(">a\nACGT\n")
    with pytest.raises(DataError, match="does not hold vectors"):
        open_dataset(tmp_path / "x.fa")


# ---------------------------------------------------------------------- folders


@pytest.fixture
def folder(tmp_path):
    """A folder for each of four years, one with its columns in another order, an empty file, and hidden ones."""
    for i in range(4):
        order = [*range(4)][:: -1 if i == 1 else 1]
        write_parquet(
            tmp_path / f"year=200{i}" / "part.parquet", A[250 * i : 250 * (i + 1)][:, order], [NAMES[j] for j in order]
        )
    write_parquet(tmp_path / "year=2000" / "empty.pq", A[:0])
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "year=2000" / ".part.parquet.crc").touch()
    write_parquet(tmp_path / "_temporary" / "0" / "part.parquet")
    return tmp_path


def test_the_files_of_a_folder_are_one_table(folder):
    data = open_dataset(folder)
    assert data.shape == (1000, 4) and data.feature_names == tuple(NAMES)
    assert_array_equal(data.load(), A)
    assert [len(block) for block in data.blocks(300)] == [300, 300, 300, 100]
    assert_array_equal(data.take(np.array([999, 0, 250, 249])), A[[999, 0, 250, 249]])


def test_keys_of_folders_are_metadata_or_features_if_named(folder):
    years = np.repeat([2000, 2001, 2002, 2003], 250)
    assert_array_equal(open_dataset(folder, label="year").metadata.columns["year"], years)
    assert_array_equal(open_dataset(folder, columns=["year", "d"]).load(), np.column_stack([years, A[:, 3]]))
    write_parquet(folder / "year=a%20b" / "part.parquet", A[:2])
    write_parquet(folder / "year=__HIVE_DEFAULT_PARTITION__" / "part.parquet", A[:1])  # sorted before year=a
    found = open_dataset(folder, keep="year").metadata.columns["year"].to_pylist()
    assert [found[0], *found[-4:]] == ["2000", "2003", None, "a b", "a b"]


def test_types_of_several_files_become_one(tmp_path):
    write_parquet(tmp_path / "1.parquet", A[:2].astype(np.float32), name=["x", "y"])
    assert open_dataset(tmp_path).dtype == np.float32
    write_parquet(
        tmp_path / "2.parquet", np.round(A[:2]).astype(np.int32), name=pa.array(["z", "w"]).dictionary_encode()
    )
    data = open_dataset(tmp_path)
    assert data.dtype == np.float64 and data.metadata.ids == ["x", "y", "z", "w"]
    assert_array_equal(data.load(), np.concatenate([A[:2].astype(np.float32), np.round(A[:2])]))


def more_columns(place):
    write_parquet(place, A[:5], e=A[:5, 0])


def fewer_columns(place):
    write_parquet(place, A[:5, :3], NAMES[:3])


def strings(place):
    write_parquet(place, A[:5], d=["x"] * 5)


def damaged(place):
    place.write_bytes(place.read_bytes()[:-50])


def missing_value(place):
    write_parquet(place, np.where(np.arange(250)[:, None] == 123, np.nan, A[:250]))


@pytest.mark.parametrize(
    ("spoil", "column", "row"),
    [
        (more_columns, "e", None),
        (fewer_columns, "d", None),
        (strings, "d", None),
        (damaged, None, None),
        (missing_value, "'a'", 623),
    ],
)
def test_files_that_do_not_fit_are_errors_with_their_path(folder, spoil, column, row):
    spoil(folder / "year=2002" / "part.parquet")
    with pytest.raises(DataError, match=r"year=2002/part.parquet") as error:
        open_dataset(folder).load()
    assert (error.value.column, error.value.row) == (column, row)
    if row is not None:
        assert "part.parquet, row index 123" in str(error.value)


def test_files_that_differ_fit_in_the_columns_that_are_chosen(folder):
    fewer_columns(folder / "year=2002" / "part.parquet")
    assert open_dataset(folder, columns=["b", "a"]).shape == (755, 2)
    assert open_dataset(folder, drop="d").shape == (755, 3)


@pytest.mark.parametrize(
    ("mark", "name"), [("_delta_log", "Delta"), (".hoodie", "Hudi"), ("metadata/version-hint.text", "Iceberg")]
)
def test_tables_of_data_lakes_are_refused(folder, mark, name):
    (folder / mark).mkdir(parents=True)
    with pytest.raises(DataError, match=name):
        open_dataset(folder)


def test_other_files_are_reported_and_changes_are_errors(folder):
    (folder / "readme.txt").touch()
    with pytest.warns(MercerWarning, match=r"'readme.txt' .* is not a Parquet file and is skipped"):
        data = open_dataset(folder)
    (folder / "year=2001" / "part.parquet").unlink()
    with pytest.raises(DataError, match="File not found"):
        data.load()
    write_parquet(folder / "year=2001" / "part.parquet", A[:251])
    with pytest.raises(DataError, match="has changed"):
        data.load()


def test_folders_without_tables_or_with_links_in_a_loop_are_errors(tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path)
    with pytest.raises(DataError, match="without Parquet files or images"):
        open_dataset(tmp_path)
    write_parquet(tmp_path / "out.parquet" / "part-0.parquet")
    (tmp_path / "out.parquet" / "again").symlink_to(tmp_path / "out.parquet")
    assert open_dataset(tmp_path / "out.parquet").shape == (1000, 4)
    (tmp_path / "out.parquet" / "x.png").touch()
    with pytest.raises(DataError, match="Parquet files and images"):
        open_dataset(tmp_path / "out.parquet")


# ---------------------------------------------------------------------- metadata of Arrow files

SHAPES = {
    "numbers": {"a": A[:, 0], "b": A[:, 1].astype(np.float32), "w": A[:, 2]},
    "strings first": {"t": ["some text"] * 1000, "a": A[:, 0], "b": A[:, 1].astype(np.float32)},
    "lists first": {
        "l": [[1.0, 2.0]] * 1000,
        "s": [{"x": 1, "y": "z"}] * 1000,
        "a": A[:, 0],
        "b": A[:, 1].astype(np.float32),
    },
    "nulls first": {"n": pa.nulls(1000), "t": ["x"] * 1000, "a": A[:, 0], "b": A[:, 1].astype(np.float32)},
    "dictionary first": {
        "t": pa.array(["x", "y"] * 500).dictionary_encode(),
        "a": A[:, 0],
        "b": A[:, 1].astype(np.float32),
    },
}


@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
@pytest.mark.parametrize("shape", SHAPES)
def test_sizes_of_batches_are_what_their_columns_take(tmp_path, shape, compression):
    table = pa.table(SHAPES[shape])
    sizes = read_sizes(write_arrow(tmp_path / "x.arrow", table, compression, 300))
    assert sizes.rows == [300, 300, 300, 100]
    least = 300 * (8 + 4)
    assert least <= sizes.largest(table.schema, ["a", "b"]) <= 2 * least + 1500


def test_sizes_of_unknown_types_and_dictionaries_count_with_any_column(tmp_path):
    table = pa.table({"v": pa.array(["x" * 100] * 1000, pa.string_view()), "a": A[:, 0]})
    assert read_sizes(write_arrow(tmp_path / "x.arrow", table)).largest(table.schema, ["a"]) > 8000 + 16_000
    table = pa.table({"t": pa.array([f"{i:030}" for i in range(1000)]).dictionary_encode(), "a": A[:, 0]})
    found = read_sizes(write_arrow(tmp_path / "x.arrow", table))
    assert found.dictionaries >= 30_000 and found.largest(table.schema, ["a"]) >= 38_000


def test_sizes_of_uneven_batches_are_those_of_the_largest(tmp_path):
    with ipc.new_file(tmp_path / "x.arrow", as_table().schema) as file:
        file.write_table(as_table().slice(0, 900))
        for i in range(900, 1000):
            file.write_table(as_table().slice(i, 1))
    data = open_dataset(tmp_path / "x.arrow")
    assert 900 * 32 <= data.reading_bytes <= 900 * 32 + 1000
    assert_array_equal(data.load(), A)


@pytest.mark.parametrize("offset", [2**63 - 1, 2**62, -(2**40)])
@pytest.mark.parametrize("compression", [None, "zstd"])
def test_batches_outside_of_the_file_are_errors(tmp_path, compression, offset):
    path = write_arrow(tmp_path / "x.arrow", as_table(), compression)
    with ipc.open_file(path) as file:
        assert file.num_record_batches == 1
    data = path.read_bytes()
    (length,) = struct.unpack("<i", data[-10:-6])
    footer = data[-10 - length : -10]
    (place,) = [
        i for i in range(0, length - 24, 4) if struct.unpack_from("<q", footer, i)[0] == data.index(b"\xff" * 4, 100)
    ]
    spoiled = footer[:place] + struct.pack("<q", offset) + footer[place + 8 :]
    path.write_bytes(data[: -10 - length] + spoiled + data[-10:])
    with pytest.raises(DataError):
        open_dataset(path)


# ---------------------------------------------------------------------- damaged files


def spoiled(data, seed):
    """A third is truncated; the others have one to five flipped bits."""
    rng = np.random.default_rng(seed)
    if seed % 3 == 0:
        return data[: rng.integers(len(data))]
    changed = bytearray(data)
    for _ in range(rng.integers(1, 6)):
        changed[rng.integers(len(changed))] ^= 1 << rng.integers(8)
    return bytes(changed)


def read_all_spoiled(path, data, seeds):
    """The number of the first damaged file that crashes or raises anything but a DataError; -1 if none does."""
    receive, send = os.pipe()
    child = os.fork()
    if not child:
        warnings.simplefilter("ignore")
        for seed in seeds:
            os.write(send, f"{seed} ".encode())
            path.write_bytes(spoiled(data, seed))
            for options in ({"keep": ["k"]}, {"kind": "table"}):
                try:
                    found = open_dataset(path, memory_limit="200MB", **options)
                    sum(len(block) for block in found.blocks(64))
                except (DataError, MemoryLimitError):
                    pass
                except BaseException:
                    os._exit(1)
        os._exit(0)
    os.close(send)
    with os.fdopen(receive) as pipe:
        last = pipe.read().split()[-1]
    return -1 if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0 else int(last)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("n_files", [14, pytest.param(300, marks=pytest.mark.slow)])
@pytest.mark.parametrize("suffix", [".arrow", "lz4.arrow", ".parquet"])
def test_damaged_files_are_errors_and_never_crashes(tmp_path, suffix, n_files):
    """Without full validation, 43 of 600 damaged Arrow files ended the process."""
    n = 300
    columns = {
        "name": [f"row {i}" for i in range(n)],
        "k": ["x", "yy"] * 150,
        "c": pa.array(["u", "v"] * 150).dictionary_encode(),
    }
    table = as_table(A[:n], **columns)
    path = tmp_path / f"x{suffix}"
    if suffix == ".parquet":
        pq.write_table(table, path, row_group_size=100)
    else:
        write_arrow(path, table, "lz4" if "lz4" in suffix else None, 100)
    assert read_all_spoiled(path, path.read_bytes(), range(n_files)) == -1


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".feather"])
@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"PAR1" * 9, b"ARROW1\0\0" * 5, bytes(100)], ids=range(5))
def test_files_of_another_kind_are_errors(tmp_path, suffix, content):
    path = tmp_path / f"x{suffix}"
    path.write_bytes(content)
    with pytest.raises(DataError, match=rf"x\{suffix}"):
        open_dataset(path)


# ---------------------------------------------------------------------- memory

ONE_PAGE = {"use_dictionary": False, "compression": "zstd", "data_page_size": 1 << 30, "row_group_size": 1 << 30}
LONG = pa.table({"s": ["x" * 20_000_000 + str(i) for i in range(3)], "a": [1.0, 2.0, 3.0]})


@pytest.mark.parametrize("kind", ["vectors", "table", "strings"])
@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_long_compressed_strings_are_refused_before_they_are_decompressed(tmp_path, suffix, kind):
    """Three strings of 20 MB in 3 kB. The limit is that of the first edition."""
    path = tmp_path / f"x{suffix}"
    pq.write_table(LONG, path, **ONE_PAGE) if suffix == ".parquet" else write_arrow(path, LONG, "zstd")
    assert path.stat().st_size < 10_000
    with pytest.raises(MemoryLimitError) as error:
        open_dataset(path, kind=kind, memory_limit="20MB", **({"text": "s"} if kind == "strings" else {}))
    assert error.value.needed >= 60e6 and error.value.limit == 20e6
    assert open_dataset(path, drop="s", memory_limit="20MB").load().tolist() == [[1], [2], [3]]


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_small_files_with_large_content_have_remedies(tmp_path, suffix):
    path, table = tmp_path / f"x{suffix}", pa.table({"a": np.zeros(3_000_000), "b": np.ones(3_000_000)})
    pq.write_table(table, path, **ONE_PAGE) if suffix == ".parquet" else write_arrow(path, table, "zstd")
    with pytest.raises(MemoryLimitError) as error:
        open_dataset(path, memory_limit="30MB")
    assert [remedy.parameter for remedy in error.value.remedies] == ["memory_limit", "columns"]
    assert suffix == ".arrow" or "-fold" in str(error.value)
    data = open_dataset(path, memory_limit=error.value.remedies[0].value)
    assert data.reading_bytes >= 48e6 and len(data.load()) == 3_000_000
    assert open_dataset(path, columns="a", memory_limit="30MB").shape == (3_000_000, 1)


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".csv"])
def test_guessed_ids_are_given_up_and_named_ones_are_errors_beyond_the_limit(tmp_path, suffix):
    """The comparison of ids is charged: one copy of these takes 0.6 MB, and finding duplicates 2 MB more."""
    n, path = 20_000, tmp_path / f"x{suffix}"
    table = pa.table({"n": [f"this is row {i:010}" for i in range(n)], "a": A[:, 0].repeat(20)})
    if suffix == ".csv":
        path.write_text("n,a\n" + "".join(f"{a},{b!r}\n" for a, b in zip(*table.to_pydict().values(), strict=True)))
    else:
        pq.write_table(table, path, row_group_size=2000) if suffix == ".parquet" else write_arrow(
            path, table, size=2000
        )
    with pytest.warns(MercerWarning, match="'n' .* left out"):
        assert open_dataset(path, memory_limit="3MB").metadata.ids is None
    with pytest.raises(MemoryLimitError, match="column 'n'") as error:
        open_dataset(path, id="n", memory_limit="3MB")
    assert open_dataset(path, memory_limit=error.value.remedies[0].value).metadata.ids[-1] == f"this is row {n - 1:010}"
    assert open_dataset(path, keep="n", memory_limit="3MB").metadata.ids is None


@pytest.mark.parametrize("kind", ["strings", "table"])
def test_samples_in_memory_keep_to_the_limit(tmp_path, kind):
    n = 50_000
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"t": [f"{i}" for i in range(n)]}), path)
    with pytest.raises(MemoryLimitError) as error:
        open_dataset(path, kind=kind, memory_limit="3MB")
    assert 3e6 < error.value.needed < 30e6
    assert len(open_dataset(path, kind=kind, memory_limit=error.value.remedies[0].value)) == n


def strings_of_100_mb(path):
    write_arrow(path, pa.table({"s": ["x" * 100_000_000 + str(i) for i in range(3)], "a": [1.0, 2.0, 3.0]}), "zstd")


def one_large_batch(path):
    write_arrow(path, pa.table({f"c{i}": np.arange(500_000.0) * (i + 1.5) for i in range(10)}), "lz4")


def ids_in_arrow(path):
    write_arrow(path, pa.table({"n": [f"row {i:09}" for i in range(10**6)], "a": np.arange(10**6) / 3}), "lz4", 65_536)


def one_page_of_480_mb(path):
    pq.write_table(pa.table({"a": np.zeros(60_000_000)}), path, **ONE_PAGE, max_rows_per_page=1 << 30)


def many_columns(path):
    pq.write_table(
        pa.table({f"c{i}": np.arange(200_000.0) * (i + 1.5) for i in range(25)}), path, row_group_size=1 << 30
    )


def ids_in_parquet(path):
    pq.write_table(pa.table({"n": [f"row {i:09}" for i in range(10**6)], "a": np.arange(10**6) / 3}), path)


@needs_peaks
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["vectors", "table"])
@pytest.mark.parametrize(
    "make", [strings_of_100_mb, one_large_batch, ids_in_arrow, one_page_of_480_mb, many_columns, ids_in_parquet]
)
def test_binary_tables_keep_to_the_limit(tmp_path, make, kind):
    suffix = ".parquet" if make in (one_page_of_480_mb, many_columns, ids_in_parquet) else ".arrow"
    path = tmp_path / f"x{suffix}"
    make(path)
    small = [write_arrow(tmp_path / "small.arrow", as_table()), write_parquet(tmp_path / "small.parquet")]
    peak, result = peak_of_reading(path, small, memory_limit=100_000_000, kind=kind)
    assert peak <= 160e6
    assert result == "MemoryLimitError" or result >= 200_000


def test_options_of_other_formats_are_refused(tmp_path):
    path = write_parquet(tmp_path / "x.parquet")
    for options in ({"delimiter": ","}, {"layer": "x"}, {"resize": "2x2"}, {"array": "x"}):
        with pytest.raises(MercerError) as error:
            open_dataset(path, **options)
        assert error.value.exit_code == 2


@pytest.mark.parametrize("options", [{}, {"keep": "s"}, {"id": "s"}, {"kind": "strings", "text": "s"}], ids=str)
def test_strings_that_are_not_utf8_are_located(tmp_path, options):
    values = pa.array([b"r%05d" % i for i in range(9000)] + [b"\xff\xfe"], pa.binary())
    strings = pa.StringArray.from_buffers(len(values), *values.buffers()[1:])
    numbers = np.arange(len(values)) / 3
    pq.write_table(pa.table({"a": numbers, "b": numbers**2, "s": strings}), tmp_path / "x.parquet")
    with pytest.raises(DataError, match=r"'s' of .*x\.parquet has bytes that are not UTF-8") as error:
        open_dataset(tmp_path / "x.parquet", **options)
    assert (error.value.row, error.value.column) == (9000, "s")
    assert PCA(1).fit(open_dataset(tmp_path / "x.parquet", drop="s")).n_samples_ == 9001
