"""What people give as a table of numbers: every kind of it to every function that takes rows."""

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator

from estimators.invalid_input.cases import FITS, USES, Case, rows, wholes


class Annotated:
    """Like anndata's: a table with things around it, which can be sliced for ever."""

    def __init__(self):
        self.X, self.obs, self.shape = rows(), object(), (30, 4)

    def __len__(self):
        return 30

    def __getitem__(self, index):
        return self


class Endless:
    """A sequence by its methods alone, which never says that it is over."""

    def __len__(self):
        return 10**9

    def __getitem__(self, index):
        return self


class Wrapped:
    """Somebody else's array."""

    def __array__(self, dtype=None, copy=None):
        return rows()


def frame(**columns):
    return pd.DataFrame(rows(), columns=list("abcd")).assign(**columns)


def with_entry(value, dtype=object):
    table = rows().astype(dtype)
    table[4, 2] = value
    return table


def masked(hidden):
    return np.ma.MaskedArray(rows(), mask=hidden)


def some_hidden():
    mask = np.zeros((30, 4), dtype=bool)
    mask[3, 1] = mask[7, 2] = True
    return mask


def record():
    return np.array([tuple(row) for row in rows()], dtype=[(name, float) for name in "abcd"])


DAYS = np.datetime64("2024-01-01") + np.arange(30)
HOURS = np.arange(30).astype("timedelta64[h]")

# What is as good as an array of floats: (name, the table, which clean rows it equals, to how many digits).
GOOD = [
    ("list of lists", lambda: rows().tolist(), "rows", 1e-6),
    ("tuple of arrays", lambda: tuple(rows()), "rows", 1e-6),
    ("Fortran order", lambda: np.asfortranarray(rows()), "rows", 1e-6),
    ("negative strides", lambda: rows()[::-1][::-1], "rows", 1e-6),
    ("big-endian floats", lambda: rows().astype(">f8"), "rows", 1e-6),
    ("long doubles", lambda: rows().astype(np.longdouble), "rows", 1e-6),
    ("single precision", lambda: rows().astype(np.float32), "rows", 1e-4),
    ("whole numbers", lambda: wholes().astype(int), "wholes", 1e-6),
    ("bytes of numbers", lambda: (wholes() + 0).astype(np.int16), "wholes", 1e-6),
    ("half precision", lambda: wholes().astype(np.float16), "wholes", 1e-6),
    ("objects that are floats", lambda: rows().astype(object), "rows", 1e-6),
    ("Decimal", lambda: np.array([[Decimal(repr(v)) for v in row] for row in rows().tolist()]), "rows", 1e-6),
    ("Fraction", lambda: np.array([[Fraction(v) for v in row] for row in rows().tolist()]), "rows", 1e-6),
    ("mask that hides nothing", lambda: masked(np.zeros((30, 4), dtype=bool)), "rows", 1e-6),
    ("no mask", lambda: np.ma.MaskedArray(rows()), "rows", 1e-6),
    ("pandas", lambda: frame().to_numpy(), "rows", 1e-6),
    ("array of another library", Wrapped, "rows", 1e-6),
    ("sparse CSC", lambda: sparse.csc_array(rows()), "rows", 1e-6),
    ("sparse with int64 indices", lambda: wide_indices(), "rows", 1e-6),
]

# What is not, with what has to be said.
BAD = [
    ("dates", lambda: np.tile(DAYS, (4, 1)).T, r"X holds dates \(datetime64\[D\]\)"),
    ("dates without a date", lambda: np.full((30, 4), np.datetime64("NaT", "s")), r"X holds dates \(datetime64\[s\]\)"),
    ("durations", lambda: np.tile(HOURS, (4, 1)).T, r"X holds durations \(timedelta64\[h\]\)"),
    ("a column of dates", lambda: frame(c=DAYS), r"no numbers: 'c' \(datetime64"),
    ("all columns dates", lambda: pd.DataFrame({n: DAYS for n in "abcd"}), r"'a' \(datetime64.*'b'"),
    ("dates with a zone", lambda: frame(c=pd.DatetimeIndex(DAYS, tz="UTC")), r"'c' \(datetime64\[.*UTC"),
    ("a column of durations", lambda: frame(b=HOURS.astype("timedelta64[s]")), r"no numbers: 'b' \(timedelta64\[s\]\)"),
    ("a column of months", lambda: frame(b=pd.period_range("2020", periods=30, freq="M")), r"'b' \(period\[M\]\)"),
    ("polars dates", lambda: pl.DataFrame({"a": rows()[:, 0], "day": DAYS, "c": 1.0, "d": 2}), r"'day' \(Date\)"),
    ("polars dates alone", lambda: pl.DataFrame({n: DAYS for n in "abcd"}), r"'a' \(Date\)"),
    ("polars times", lambda: pl.DataFrame(dict.fromkeys("abcd", [datetime.time(1)] * 30)), r"'a' \(Time\)"),
    ("polars durations", lambda: pl.DataFrame({n: HOURS.astype("timedelta64[ms]") for n in "abcd"}), r"\(Duration"),
    ("Arrow dates", lambda: pa.table({"a": DAYS, **dict.fromkeys("bcd", rows()[:, 1])}), r"'a' \(date32"),
    ("dates as objects", lambda: with_entry(datetime.date(2024, 1, 2)), r"olumn 2 .*date.*row index 4"),
    ("moments as objects", lambda: with_entry(datetime.datetime(2024, 1, 2)), r"olumn 2 .*datetime.*row index 4"),
    ("durations as objects", lambda: with_entry(datetime.timedelta(1)), r"olumn 2 .*timedelta.*row index 4"),
    ("numpy durations as objects", lambda: with_entry(np.timedelta64(5, "D")), r"olumn 2 .*timedelta.*row index 4"),
    ("numpy dates as objects", lambda: with_entry(np.datetime64(5, "D")), r"olumn 2 .*datetime64.*row index 4"),
    ("a mask that hides", lambda: masked(some_hidden()), r"hides 2 of its 120 .*row index 3, column 1"),
    ("a mask that hides all", lambda: masked(True), r"hides 120 of its 120 .*row index 0, column 0"),
    ("complex", lambda: rows() + 0j, r"Complex data not supported"),
    ("complex objects", lambda: with_entry(1j), r"omplex"),
    ("text", lambda: rows().astype(str), r"text|bytes/strings"),
    ("bytes", lambda: rows().astype("S"), r"text|bytes/strings"),
    ("text in one place", lambda: with_entry("lots"), r"olumn 2 .*text.*'lots'.*row index 4"),
    ("a list in one place", lambda: with_list(), r"olumn 2 .*list.*row index 4"),
    ("a dict in one place", lambda: with_entry({"a": 1}), r"olumn 2 .*dict.*row index 4"),
    ("an object in one place", lambda: with_entry(object()), r"olumn 2 .*object.*row index 4"),
    ("text in pandas", lambda: frame(b="x"), r"'b' .*text.*'x'.*row index 0"),
    ("categories in pandas", lambda: frame(b=pd.Categorical(["u", "v"] * 15)), r"'b' .*text.*'u'.*row index 0"),
    ("text in polars", lambda: pl.DataFrame({"a": rows()[:, 0], "b": "x"}), r"'b' .*text.*'x'.*row index 0"),
    ("None", lambda: with_entry(None), r"contains NaN.*One value is not finite.*row index 4, column 2"),
    ("pd.NA", lambda: with_entry(pd.NA), r"One value is not finite.*row index 4, column 2"),
    ("pd.NaT", lambda: with_entry(pd.NaT), r"One value is not finite.*row index 4, column 2"),
    ("nullable integers", lambda: frame(c=pd.array([None, *range(29)], dtype="Int64")), r"row index 0, column 'c'"),
    ("nulls in polars", lambda: pl.DataFrame(rows()).with_columns(a=pl.lit(None)), r"30 values are not finite.*'a'"),
    ("NaN", lambda: with_entry(np.nan, float), r"contains NaN.*One value.*row index 4, column 2"),
    ("infinity", lambda: with_entry(np.inf, float), r"contains infinity.*One value.*row index 4, column 2"),
    ("minus infinity", lambda: with_entry(-np.inf, np.float32), r"contains infinity.*row index 4, column 2"),
    ("NaN in pandas", lambda: frame(d=np.nan), r"contains NaN.*30 values.*row index 0, column 'd'"),
    ("NaN in sparse rows", lambda: sparse.csr_array(with_entry(np.nan, float)), r"row index 4, column 2"),
    ("NaN Decimal", lambda: with_entry(Decimal("nan")), r"row index 4, column 2"),
    ("a whole number beyond floats", lambda: with_entry(10**400), r"too large.*row index 4|row index 4.*too large"),
    ("a Decimal beyond floats", lambda: with_entry(Decimal("1e999")), r"row index 4, column 2"),
    ("ragged lists", lambda: [[1.0, 2.0], [3.0]] * 15, r"row index 0 has 2 entries and row index 1 has 1"),
    ("lists and numbers", lambda: [[1.0, 2.0], 3.0] * 15, r"row index 1"),
    ("a list of dicts", lambda: [{"a": 1.0, "b": 2.0}] * 30, r"dict"),
    ("structured array", record, r"structured array.*'a', 'b', 'c', 'd'"),
    ("record array", lambda: record().view(np.recarray), r"structured array.*'a', 'b', 'c', 'd'"),
    ("np.matrix", lambda: np.matrix(rows()), r"np.matrix is not supported"),
    ("a number", lambda: np.array(3.0), r"Expected 2D array, got scalar array"),
    ("a plain number", lambda: 3.0, r"Expected 2D array, got scalar array|X is a float"),
    ("one dimension", lambda: np.arange(900.0), r"Expected 2D array, got 1D array.*\(900,\).*Reshape your data"),
    ("a pandas column", lambda: frame()["a"], r"Expected a 2-dimensional container .*Series"),
    ("three dimensions", lambda: np.zeros((3, 4, 5)), r"\(3, 4, 5\)|dim 3"),
    ("four dimensions", lambda: np.zeros((3, 4, 5, 6)), r"\(3, 4, 5, 6\)|dim 4"),
    ("no rows", lambda: np.empty((0, 4)), r"0 sample|no row|0 rows"),
    ("no columns", lambda: np.empty((30, 0)), r"0 feature\(s\)|0 features|no column"),
    ("an empty list", list, r"Expected 2D array, got 1D array"),
    ("an empty frame", pd.DataFrame, r"0 sample|0 feature"),
    ("None for rows", lambda: None, r"X is None"),
    ("a path as text", lambda: "rows.csv", r"X is a text.*pathlib\.Path\('rows\.csv'\)"),
    ("a text with escapes", lambda: "\x1b[31mred\x1b[0m\n" * 50, r"X is a text"),
    ("bytes for rows", lambda: b"1,2,3", r"X is .*bytes"),
    ("a dict", lambda: {"a": [1.0, 2.0], "b": [3.0, 4.0]}, r"X is a dict"),
    ("a set", lambda: {1.0, 2.0}, r"X is a set"),
    ("a generator", lambda: (row for row in rows()), r"X is a generator.*list"),
    ("a function", lambda: rows, r"X is a function"),
    ("annotated data", Annotated, r"Annotated.*adata\.X.*obsm"),
    ("an endless sequence", Endless, r"X is .*Endless"),
    ("a list of endless sequences", lambda: [Endless()] * 3, r"row index 0 of X is .*Endless"),
    ("a list of annotated data", lambda: [Annotated()], r"row index 0 of X is .*adata\.X"),
    ("a list of sets", lambda: [{1.0, 2.0}, {3.0, 4.0}], r"row index 0 of X is a set"),
    ("a class", lambda: np.ndarray, r"X is .*type|X is a class"),
    ("an operator", lambda: aslinearoperator(rows()), r"LinearOperator"),
    ("sparse complex", lambda: sparse.csr_array(rows() + 0j), r"Complex data not supported"),
    ("sparse in one dimension", lambda: sparse.coo_array(rows()[0]), r"2D|dimension|2-D"),
]


def with_list():
    table = rows().astype(object)
    table[4, 2] = [1.0, 2.0]
    return table


def wide_indices():
    table = sparse.csr_array(rows())
    table.indices, table.indptr = table.indices.astype(np.int64), table.indptr.astype(np.int64)
    return table


CASES = [
    *(
        Case(
            f"{way.name}: {name}",
            lambda way=way, make=make, data=data: way.call(make(), data),
            right=lambda out, way=way, data=data, tol=tol: way.right(out, data, tol),
        )
        for name, make, data, tol in GOOD
        for way in [*FITS, *USES]
    ),
    *(
        Case(f"{way.name}: {name}", lambda way=way, make=make: way.call(make(), "rows"), refuses=what, kind=Exception)
        for name, make, what in BAD
        for way in [*FITS, *USES]
    ),
]
