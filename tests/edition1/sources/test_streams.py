"""Rows that other libraries hand over batch by batch, again and again or once."""

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mercer
from mercer_old.errors import BadData, NoRoom
from mercer_old.sources.streams import is_stream, open_stream
from support.peak import needs_peaks, peak_of
from support.together import check_each

A = np.random.default_rng(0).normal(size=(20_000, 4))
TABLE = pa.table({name: A[:, j] for j, name in enumerate("abcd")})


class Other:
    """Any library that has rows for Arrow."""

    def __arrow_c_stream__(self, requested_schema=None):
        return TABLE.to_reader(999).__arrow_c_stream__(requested_schema)


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """How to make each of them."""
    path = tmp_path_factory.mktemp("streams") / "x.parquet"
    pq.write_table(TABLE, path, row_group_size=3000)
    connection = duckdb.connect()
    return {
        "a relation": lambda: connection.from_arrow(TABLE),
        "a relation of a file": lambda: connection.read_parquet(str(path)),
        "a lazy frame": lambda: pl.from_arrow(TABLE).lazy(),
        "a lazy frame of a file": lambda: pl.scan_parquet(path),
        "a dataset": lambda: ds.dataset(TABLE),
        "a dataset of a file": lambda: ds.dataset(path),
        "a reader": lambda: TABLE.to_reader(1000),
        "another library": Other,
    }


def test_models_take_streams_as_they_take_their_rows(sources):
    pca, incremental = mercer.PCA(2).fit(TABLE), mercer.IncrementalPCA(2).fit(TABLE)
    kernel = mercer.KernelPCA(2, kernel="rbf", n_landmarks=30).fit(TABLE)

    def check(name):
        make = sources[name]
        assert is_stream(make())
        model = mercer.PCA(2).fit(make())
        assert list(model.feature_names_in_) == list("abcd")
        assert_allclose(model.explained_variance_, pca.explained_variance_, rtol=1e-12)
        assert_allclose(pca.transform(make()), pca.transform(TABLE), atol=1e-12)
        assert_allclose(kernel.transform(make()), kernel.transform(TABLE), atol=1e-10)
        other = mercer.KernelPCA(2, kernel="rbf", n_landmarks=30).fit(make())
        assert_allclose(other.eigenvalues_, kernel.eigenvalues_, rtol=1e-9)
        found = mercer.IncrementalPCA(2).fit(make()).explained_variance_
        assert_allclose(found, incremental.explained_variance_, rtol=1e-10)

    check_each(list(sources), check)


def test_frames_in_memory_are_no_streams():
    frame = pl.from_arrow(TABLE)
    assert not any(map(is_stream, [TABLE, frame, frame["a"], TABLE["a"], frame.to_pandas(), A, pl.LazyFrame, None]))


def test_sweeps_may_end_early_and_come_again(sources):
    def check(name):
        rows = open_stream(sources[name](), 1e9)
        next(iter(rows.blocks(100)))
        assert_array_equal(rows[np.array([5, 0, 12_000])], A[[5, 0, 12_000]])
        assert_array_equal(rows.load(), A)
        assert [len(block) for block in rows.blocks(9000)] == [9000, 9000, 2000]

    check_each(list(sources), check)


def test_single_precision_stays_and_wholes_truths_and_decimals_are_numbers():
    single = duckdb.sql("select 1.5::float a, 2::float b union all select 2, 3")
    assert open_stream(single, 1e9).dtype == np.float32
    mixed = duckdb.sql("select 1::tinyint a, true b, 2.25::decimal(9, 2) c union all select 3, false, 4.5")
    rows = open_stream(mixed, 1e9)
    assert rows.dtype == np.float64 and rows.load().tolist() == [[1, 1, 2.25], [3, 0, 4.5]]


REFUSED = [
    ("texts", lambda: duckdb.sql("select 1.0 a, 'x' b"), r"columns that are no numbers: 'b' \(string\)"),
    ("texts of polars", lambda: pl.LazyFrame({"a": [1.0], "b": ["x"]}), "columns that are no numbers: 'b'"),
    ("texts once", lambda: pa.table({"b": ["x"]}).to_reader(), "columns that are no numbers: 'b'"),
    ("no rows", lambda: duckdb.sql("select 1.0 a where false"), r"0 sample\(s\)"),
    ("no rows once", lambda: TABLE.slice(0, 0).to_reader(), r"0 sample\(s\)"),
    ("no columns", lambda: pl.LazyFrame(), "no columns"),
    ("a column that is not there", lambda: pl.LazyFrame({"a": [1.0]}).select("z"), "cannot be read: .*z"),
    ("no number", lambda: duckdb.sql("select cast(i as varchar)::double + 'x'::double a from range(9) t(i)"), "read: "),
    (
        "a null far down",
        lambda: duckdb.sql("select case when i = 9999 then null else i * i end a, sin(i) b from range(20000) t(i)"),
        r"X contains a missing value \(NaN\): row 9999, column 'a'",
    ),
    (
        "a null once",
        lambda: pa.table({"a": [1.0, None]}).to_reader(),
        r"X contains a missing value \(NaN\): row 1, column 'a'",
    ),
]


@pytest.mark.parametrize(("make", "words"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_what_is_wrong_with_a_stream_is_one_sentence(make, words):
    with pytest.raises(BadData, match=words) as found:
        mercer.PCA(1).fit(make())
    assert "\n" not in str(found.value)


def test_gaps_are_welcome_where_they_are():
    rows = np.where(np.random.default_rng(1).random(A[:200].shape) < 0.05, np.nan, A[:200])
    table = pa.table({name: pa.array(rows[:, j], from_pandas=True) for j, name in enumerate("abcd")})
    expected = mercer.ProbabilisticPCA(2).fit(rows).explained_variance_
    for X in (duckdb.from_arrow(table), table.to_reader()):
        assert_allclose(mercer.ProbabilisticPCA(2).fit(X).explained_variance_, expected, rtol=1e-6)


def test_what_is_read_once_has_to_fit():
    with pytest.raises(NoRoom, match=r"can be read only once, .* beyond the limit of 1 MB"):
        mercer.PCA(2, memory_limit="1MB").fit(TABLE.to_reader())
    reader = TABLE.to_reader()
    mercer.PCA(2).fit(reader)
    with pytest.raises(BadData, match=r"0 sample\(s\).* no rows, or no more: it can be read only once"):
        mercer.PCA(2).fit(reader)


def test_rows_that_come_otherwise_the_second_time_are_refused():
    rows = open_stream(duckdb.sql("select random() a from range(20000)"), 1e9)
    rows.load()
    with pytest.raises(BadData, match=r"other rows than before, or in another order: rows 0 to 8,191 .* ORDER BY"):
        rows.load()
    late = open_stream(duckdb.sql("select case when i < 9000 then i else random() end a from range(9500) t(i)"), 1e9)
    late.load()
    assert next(iter(late.blocks(100)))[5] == 5  # what was asked for came as before
    with pytest.raises(BadData, match=r"rows 8,192 to 9,499 are not what they were"):
        late.load()


def test_a_stream_that_has_grown_is_refused():
    connection = duckdb.connect()
    connection.execute("create table t as select i::double a from range(8192) t(i)")
    rows = open_stream(connection.table("t"), 1e9)
    rows.load()
    connection.execute("insert into t values (1.0)")
    with pytest.raises(BadData, match=r"has 8,193 rows now, not 8,192 as before"):
        list(rows.blocks(1000))


@needs_peaks
def test_a_stream_is_never_held():
    """So many rows of eight columns take 64 MB where they are held."""
    before = "import duckdb, mercer\n"
    before += "def asked(count):\n    columns = ', '.join(f'sin(i + {j}) c{j}' for j in range(8))\n"
    before += "    return duckdb.sql(f'select {columns} from range({count}) t(i)')\n"
    before += "mercer.PCA(2, n_jobs=1).fit(asked(20_000))"
    peak, count = peak_of("model = mercer.PCA(2, n_jobs=1).fit(asked(1_000_000))", before, "model.n_samples_")
    assert count == 1_000_000 and peak < 45e6
