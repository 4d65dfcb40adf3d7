"""Streams of other libraries: read in every pass, or held if they can be read only once."""

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mercer.data.streams import StreamDataset, open_stream
from mercer.data.validation import is_stream
from mercer.errors import DataError, MemoryLimitError, MissingValuesError
from mercer.estimators.pca import PCA
from support.fresh_process import SOURCE, needs_peaks, run_script

A = np.random.default_rng(0).normal(size=(20_000, 4))
TABLE = pa.table({name: A[:, j] for j, name in enumerate("abcd")})
MEMORY = 10**9


class Other:
    """Any library that implements the Arrow protocol."""

    def __arrow_c_stream__(self, requested_schema=None):
        return TABLE.to_reader(999).__arrow_c_stream__(requested_schema)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("streams") / "x.parquet"
    pq.write_table(TABLE, path, row_group_size=3000)
    return path


CONNECTION = duckdb.connect()
SOURCES = {
    "relation": lambda path: CONNECTION.from_arrow(TABLE),
    "relation of a file": lambda path: CONNECTION.read_parquet(str(path)),
    "lazy frame": lambda path: pl.from_arrow(TABLE).lazy(),
    "lazy frame of a file": lambda path: pl.scan_parquet(path),
    "dataset": lambda path: ds.dataset(TABLE),
    "dataset of a file": lambda path: ds.dataset(path),
    "reader": lambda path: TABLE.to_reader(1000),
    "other library": lambda path: Other(),
}


@pytest.mark.parametrize("name", SOURCES)
def test_streams_are_read_as_their_rows(path, name):
    X = SOURCES[name](path)
    assert is_stream(X)
    data = open_stream(X, MEMORY)
    assert data.shape == (20_000, 4) and data.feature_names == tuple("abcd") and data.dtype == np.float64
    assert isinstance(data, StreamDataset) == (name not in ("reader", "other library"))
    next(iter(data.blocks(100)))  # a pass that ends early
    assert_array_equal(data.take(np.array([5, 0, 12_000])), A[[5, 0, 12_000]])
    assert_array_equal(data.load(), A)
    assert [len(block) for block in data.blocks(9000)] == [9000, 9000, 2000]
    assert_allclose(PCA(2).fit(data).explained_variance_, PCA(2).fit(A).explained_variance_, rtol=1e-12)


def test_frames_in_memory_are_not_streams():
    frame = pl.from_arrow(TABLE)
    others = [TABLE, frame, frame["a"], TABLE["a"], frame.to_pandas(), A, pl.LazyFrame, None, [[1.0]]]
    assert not any(map(is_stream, others))


def test_single_precision_stays_and_other_numbers_become_float64():
    single = duckdb.sql("select 1.5::float a, 2::float b union all select 2, 3")
    assert open_stream(single, MEMORY).dtype == np.float32
    mixed = duckdb.sql("select 1::tinyint a, true b, 2.25::decimal(9, 2) c union all select 3, false, 4.5")
    data = open_stream(mixed, MEMORY)
    assert data.dtype == np.float64 and data.load().tolist() == [[1, 1, 2.25], [3, 0, 4.5]]


REFUSED = {
    "strings": (lambda: duckdb.sql("select 1.0 a, 'x' b"), r"not numeric: 'b' \(string\)"),
    "strings of polars": (lambda: pl.LazyFrame({"a": [1.0], "b": ["x"]}), "not numeric: 'b'"),
    "strings read once": (lambda: pa.table({"b": ["x"]}).to_reader(), "not numeric: 'b'"),
    "no rows": (lambda: duckdb.sql("select 1.0 a where false"), r"0 sample\(s\)"),
    "no rows, read once": (lambda: TABLE.slice(0, 0).to_reader(), r"0 sample\(s\)"),
    "no columns": (lambda: pl.LazyFrame(), "no columns"),
    "an unknown column": (lambda: pl.LazyFrame({"a": [1.0]}).select("z"), "Cannot read X: .*z"),
    "a failing query": (
        lambda: duckdb.sql("select i::varchar::double + 'x'::double a from range(9) t(i)"),
        "Cannot read X",
    ),
    "two columns of one name": (lambda: pa.table([[1.0], [2.0]], names=["a", "a"]).to_reader(), "more than one column"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_streams_that_cannot_be_used_are_one_error(name):
    make, words = REFUSED[name]
    with pytest.raises(DataError, match=words) as error:
        open_stream(make(), MEMORY).load()
    assert "\n" not in str(error.value)


def test_missing_values_have_their_row():
    X = duckdb.sql("select case when i = 9999 then null else i * i end a, sin(i) b from range(20000) t(i)")
    with pytest.raises(MissingValuesError) as error:
        open_stream(X, MEMORY).load()
    assert (error.value.row, error.value.column) == (9999, "'a'")
    data = open_stream(X, MEMORY)
    data.allow_nan = True
    assert np.isnan(data.load()).sum() == 1


def test_streams_that_are_read_once_must_fit_twice():
    size = A.nbytes
    with pytest.raises(MemoryLimitError) as error:
        open_stream(TABLE.to_reader(), int(1.9 * size))
    assert error.value.limit == int(1.9 * size) < error.value.needed
    reader = TABLE.to_reader()
    assert open_stream(reader, 2 * size).in_memory
    with pytest.raises(DataError, match=r"0 sample\(s\).*read only once"):
        open_stream(reader, MEMORY)


def test_other_rows_in_a_later_pass_are_an_error():
    data = open_stream(duckdb.sql("select random() a from range(20000)"), MEMORY)
    data.load()
    with pytest.raises(DataError, match=r"rows 0 to 8,191 differ.*ORDER BY") as error:
        data.load()
    assert error.value.row == 0
    late = "select case when i < 9000 then i else random() end a from range(9500) t(i)"
    data = open_stream(duckdb.sql(late), MEMORY)
    data.load()
    assert next(iter(data.blocks(100)))[5] == 5  # these rows are as before
    with pytest.raises(DataError, match=r"rows 8,192 to 9,499 differ"):
        data.load()


@pytest.mark.parametrize("n_rows", [8192, 10_000])
def test_a_stream_that_grows_is_an_error(n_rows):
    connection = duckdb.connect()
    connection.execute(f"create table t as select i::double a from range({n_rows}) t(i)")
    data = open_stream(connection.table("t"), MEMORY)
    data.load()
    connection.execute("insert into t values (1.0)")
    with pytest.raises(DataError):
        list(data.blocks(1000))


def test_a_row_group_that_a_dataset_holds_counts(tmp_path):
    pq.write_table(pa.table({"a": np.random.default_rng(0).normal(size=500_000)}), tmp_path / "x.parquet")
    X = ds.dataset(tmp_path / "x.parquet")
    assert open_stream(X, MEMORY).reading_bytes >= 2 * 500_000 * 8
    with pytest.raises(MemoryLimitError):
        open_stream(X, 4_000_000)


@needs_peaks
@pytest.mark.slow
def test_a_stream_is_not_held():
    """A million rows of eight columns take 64 MB in memory."""
    script = f"""
import sys
sys.path.insert(0, {SOURCE!r})
from pathlib import Path
import duckdb
from mercer.data.streams import open_stream
def memory(name):
    return int(Path("/proc/self/status").read_text().split(name + ":")[1].split()[0]) * 1024
def read(count):
    columns = ", ".join(f"sin(i + {{j}}) c{{j}}" for j in range(8))
    data = open_stream(duckdb.sql(f"select {{columns}} from range({{count}}) t(i)"), 10**9)
    return sum(len(block) for block in data.blocks(1000))
read(20_000)
Path("/proc/self/clear_refs").write_text("5")
resting = memory("VmRSS")
print(read(1_000_000), memory("VmHWM") - resting)
"""
    count, peak = map(int, run_script(script).split())
    assert count == 1_000_000 and peak < 45e6
