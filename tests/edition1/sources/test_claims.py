"""What a table says of itself, before any of it is unpacked: checked against what it unpacks to."""

import struct
from inspect import signature

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from pyarrow import ipc, parquet

import mercer
from mercer_old.errors import BadData, NoRoom
from mercer_old.sources.claims import _blocks, claimed_batches, largest_pages
from support.branches import run_all

ONE_PAGE = {"data_page_size": 1 << 30}
if "max_rows_per_page" in signature(parquet.write_table).parameters:  # which older versions do not have, nor need
    ONE_PAGE["max_rows_per_page"] = 1 << 30
X = np.random.default_rng(0).normal(size=(5000, 3))
TABLE = pa.table({"a": X[:, 0], "t": ["some text"] * 5000, "b": X[:, 1].astype(np.float32), "c": X[:, 2]})


@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "zstd", "lz4", "brotli"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_pages_of_parquet_are_as_large_as_their_headers_say(tmp_path, codec, version):
    path = tmp_path / "x.parquet"
    options = {"use_dictionary": False, "compression": codec, "data_page_version": version}
    parquet.write_table(TABLE, path, row_group_size=3000, **ONE_PAGE, **options)
    found = largest_pages(path, parquet.read_metadata(path), ["a", "b"])
    values = 3000 * (8 + 4)  # of the larger of two groups; beside them, which value belongs where, in a few bytes
    assert values <= found <= values + 100


def test_the_largest_page_and_the_dictionary_count(tmp_path):
    path = tmp_path / "x.parquet"
    parquet.write_table(
        pa.table({"a": np.arange(100_000.0)}), path, data_page_size=8000, dictionary_pagesize_limit=40_000
    )
    chunk = parquet.read_metadata(path).row_group(0).column(0)
    found = largest_pages(path, parquet.read_metadata(path), ["a"])
    assert chunk.has_dictionary_page and 8000 <= found < 100_000 * 8 / 4


@pytest.mark.parametrize("codec", [None, "zstd", "lz4"])
def test_batches_of_arrow_are_as_large_as_their_metadata_say(tmp_path, codec):
    path = tmp_path / "x.arrow"
    with ipc.new_file(path, TABLE.schema, options=ipc.IpcWriteOptions(compression=codec)) as file:
        file.write_table(TABLE, max_chunksize=3000)
    found = claimed_batches(path, TABLE.schema, ["a", "b"])
    assert found.rows == 5000 and found.dictionaries == 0
    assert 3000 * 12 <= found.largest <= 3000 * 12 + 200


@pytest.mark.parametrize("offset", [2**63 - 1, 2**62, -(2**40)])
@pytest.mark.parametrize("codec", [None, "zstd"])
def test_batches_that_lie_nowhere_in_the_file_are_damaged(tmp_path, codec, offset):
    path = tmp_path / "x.arrow"
    with ipc.new_file(path, TABLE.schema, options=ipc.IpcWriteOptions(compression=codec)) as file:
        file.write_table(TABLE)
    with path.open("rb") as file:
        _, ((place, length),) = _blocks(file)
    data, block = path.read_bytes(), struct.pack("<qi", place, length)
    assert data.count(block) == 1
    path.write_bytes(data.replace(block, struct.pack("<qi", offset, length)))
    with pytest.raises(ValueError, match="what it says of its batches is damaged"):
        claimed_batches(path, TABLE.schema, ["a", "b"])
    path.write_bytes(b"ARROW1")
    with pytest.raises(ValueError, match="what it says of its batches is damaged"):
        claimed_batches(path, TABLE.schema, ["a", "b"])


def test_dictionaries_of_arrow_count_whoever_asks(tmp_path):
    path = tmp_path / "x.arrow"
    table = TABLE.set_column(1, "t", pa.array([f"{i:030}" for i in range(5000)]).dictionary_encode())
    with ipc.new_file(path, table.schema) as file:
        file.write_table(table)
    found = claimed_batches(path, table.schema, ["a"])
    assert found.rows == 5000 and found.dictionaries >= 5000 * 30 and 40_000 <= found.largest <= 40_200


def test_kinds_of_columns_that_are_not_known_count_with_all_others(tmp_path):
    path = tmp_path / "x.arrow"
    table = TABLE.add_column(0, "l", pa.array([[1.0, 2.0]] * 5000))
    with ipc.new_file(path, table.schema) as file:
        file.write_table(table)
    found = claimed_batches(path, table.schema, ["a"])
    assert found.rows == 5000 and found.largest > 5000 * (8 + 16)


@pytest.mark.parametrize("codec", ["uncompressed", "snappy", "gzip", "zstd", "lz4", "brotli"])
def test_pages_of_other_writers_are_read_too(tmp_path, codec):
    path, frame = tmp_path / "x.parquet", pl.DataFrame({"a": X[:, 0], "b": np.round(X[:, 1])})
    frame.write_parquet(path, compression=codec, row_group_size=2000, data_page_size=4000)
    assert 4000 <= largest_pages(path, parquet.read_metadata(path), ["a", "b"]) <= 40_000
    assert_array_equal(mercer.open_rows(path).load(), frame.to_numpy())


def zeros(path, rows=6_000_000):
    """96 MB in some kilobytes."""
    table = pa.table({"a": np.zeros(rows), "w": np.zeros(rows)})
    if path.suffix == ".parquet":
        options = {"use_dictionary": False, "compression": "zstd", "row_group_size": rows}
        parquet.write_table(table, path, **ONE_PAGE, **options)
    else:
        with ipc.new_file(path, table.schema, options=ipc.IpcWriteOptions(compression="zstd")) as file:
            file.write_table(table)


@pytest.mark.parametrize("kind", [".parquet", ".arrow"])
def test_a_small_file_that_unpacks_to_much_is_refused_by_the_limit(tmp_path, kind):
    path = tmp_path / f"x{kind}"
    zeros(path)
    assert path.stat().st_size < 1e6
    rows = mercer.open_rows(path)
    assert rows.overhead >= 3 * 96e6
    for model in (mercer.PCA(1, memory_limit="100MB"), mercer.IncrementalPCA(1, memory_limit="100MB")):
        with pytest.raises(NoRoom, match="over the limit of 100 MB"):
            model.fit(path)
    weights, fit = run_all([["fit", path, *more, "--memory", "100MB"] for more in (["--weights", "w"], [])])
    assert weights.returncode == fit.returncode == 5
    assert "6,000,000 weights need" in weights.stderr and "over the limit of 100 MB" in fit.stderr


def test_a_page_that_claims_far_more_than_its_column_is_refused(tmp_path):
    path = tmp_path / "x.parquet"
    table, options = pa.table({"a": np.tile(X[:, 0], 40)}), {"use_dictionary": False, "compression": "zstd"}
    parquet.write_table(table, path, **ONE_PAGE, **options)
    data = bytearray(path.read_bytes())
    start = parquet.read_metadata(path).row_group(0).column(0).data_page_offset
    assert data[start : start + 3] == b"\x15\x00\x15"  # the kind of the page, and the mark of its unpacked size
    size = next(i for i in range(start + 3, start + 9) if data[i] < 128) + 1 - (start + 3)
    data[start + 3 : start + 3 + size] = (
        b"\xfe" * (size - 1) + b"\x7f"
    )  # as many bytes as before, and the largest number
    path.write_bytes(bytes(data))
    with pytest.raises(BadData, match=r"a page of column 'a' claims [\d,]+ bytes, and all of the column"):
        mercer.open_rows(path)
