"""Parquet, Arrow and Feather."""

import decimal
from dataclasses import replace

import numpy as np
import pyarrow as pa
from pyarrow import feather, ipc, parquet

from corpus import A, Case, drop

WHOLE = np.array([[1, 2], [3, 5], [4, 7]])


def write(table, path):
    if path.suffix == ".parquet":
        parquet.write_table(table, path)
    elif path.suffix == ".feather":
        feather.write_feather(table, str(path))
    else:
        with ipc.new_file(path, table.schema) as file:
            file.write_table(table)


def writing(table):
    return lambda path: write(table, path)


def two_columns(kind, values=WHOLE):
    """The column b of another kind."""
    return pa.table({"a": values[:, 0].astype(float), "b": pa.array(values[:, 1].tolist()).cast(kind)})


def beside(column):
    return pa.table({"a": [1.0, 3.0, 4.0], "b": column})


KINDS = [pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64(), pa.float32(),
         pa.float64(), pa.decimal128(30, 3), pa.decimal256(60, 10)]  # fmt: skip
ODD = {
    "text": pa.array(["x", "y", "z"]),
    "long text": pa.array(["x", "y", "z"], pa.large_string()),
    "bytes": pa.array([b"x", b"y", b"z"]),
    "bytes of one length": pa.array([b"x", b"y", b"z"], pa.binary(1)),
    "dates": pa.array([1, 2, 3], pa.date32()),
    "long dates": pa.array([86_400_000, 0, 0], pa.date64()),
    "moments": pa.array([1, 2, 3], pa.timestamp("us")),
    "moments somewhere": pa.array([1, 2, 3], pa.timestamp("ns", "Europe/Berlin")),
    "times": pa.array([1, 2, 3], pa.time32("s")),
    "long times": pa.array([1, 2, 3], pa.time64("us")),
    "durations": pa.array([1, 2, 3], pa.duration("s")),
    "lists": pa.array([[1.0], [2.0], [3.0]]),
    "lists of one length": pa.array([[1.0], [2.0], [3.0]], pa.list_(pa.float64(), 1)),
    "structures": pa.array([{"x": 1.0}, {"x": 2.0}, {"x": 3.0}]),
    "maps": pa.array([[("x", 1.0)], [], []], pa.map_(pa.string(), pa.float64())),
    "categories of text": pa.array(["x", "y", "x"]).dictionary_encode(),
    "categories of numbers": pa.array([1, 2, 1]).dictionary_encode(),
}
GAPS = {
    "a null among numbers": pa.array([1.0, None, 3.0]),
    "a null among whole numbers": pa.array([1, None, 3]),
    "a null among truths": pa.array([True, None, False]),
    "a null among decimals": pa.array([decimal.Decimal("1.5"), None, decimal.Decimal(2)]),
    "a null among half numbers": pa.array([1, None, 3], pa.float16()),
    "NaN": pa.array([1.0, float("nan"), 3.0]),
}


def cases(kind):
    yield from [Case(f"{each}", writing(two_columns(each)), WHOLE) for each in KINDS]
    halves = beside(pa.array(np.array([2, 5, 7], dtype=np.float16)))
    yield Case("half precision", writing(halves), WHOLE)
    yield Case("truths", writing(beside(pa.array([True, False, True]))), [[1, 1], [3, 0], [4, 1]])
    for name, column in ODD.items():
        table = beside(column)
        if kind == ".parquet" and name == "categories of numbers":  # Parquet stores them as numbers
            yield Case(name, writing(table), [[1, 1], [3, 2], [4, 1]])
        else:
            left = "" if name in ("text", "long text") else r"no numbers: 'b' \(.*They are left out"  # texts name rows
            yield Case(name, writing(table), WHOLE[:, :1], left)
        yield Case(f"{name}, left out", writing(table), WHOLE[:, :1], **drop("b"))
    for name, column in GAPS.items():
        yield Case(name, writing(beside(column)), words=r"missing value .*row 1, column 'b'")
    yield Case("nulls alone", writing(beside(pa.nulls(3))), words="row 0, column 'b'")
    yield Case("an infinite value", writing(beside(pa.array([1.0, -np.inf, 0]))), words=r"\(-inf\): row 1")
    yield Case("no rows", writing(two_columns(pa.int8())[:0]), words="0 rows and 2 columns")
    yield Case("no columns", writing(pa.table({})), words="nothing to fit|cannot be read")
    twice = pa.table([[1.0, 2.0], [3.0, 4.0]], names=["a", "a"])
    yield Case(
        "two columns of one name",
        writing(twice),
        words="more than one column called 'a'|cannot be read|Duplicate",
    )
    named = pa.table([[1.0, 3.0], ["x", "y"]], names=["a", "\x1b[31m\n[red]"])
    yield Case("an escape in a name", writing(named), [[1.0], [3.0]])
    lost = pa.table([[1.0, 3.0], ["x", "x"]], names=["a", "\x1b[31m\n[red]"])
    yield Case("an escape in a name that is left out", writing(lost), [[1.0], [3.0]], r"'\\x1b\[31m\\n\[red\]'")
    numbers = pa.table({"a": [1.0, 3.0], "b": ["1.5", "2.5"]})
    yield Case("numbers as texts", writing(numbers), words=r"no numbers: 'b' \(string\)\. Leave them out")
    alone = pa.table({"b": ["x", "y"]})
    yield Case("texts alone", writing(alone), words="has no columns of numbers, but columns that are no numbers: 'b'")
    other = ".parquet" if kind == ".arrow" else ".arrow"

    def under_another_name(path):
        write(two_columns(pa.int8()), path.with_suffix(other))
        path.with_suffix(other).rename(path)

    if kind != ".feather":  # which is Arrow by another name
        yield Case(f"{other} by another name", under_another_name, words="It is an? (Parquet|Arrow) file")
    yield Case("CSV by another name", b"a,b\n1,2\n", words=r"cannot be read")
    yield Case("empty", b"", words="cannot be read")
    yield Case("its first bytes alone", b"PAR1" if kind == ".parquet" else b"ARROW1\0\0", words="cannot be read")
    yield Case("nothing", lambda path: None, words="there is no such file")
    yield Case("a column that is not there", writing(two_columns(pa.int8())), words="has no column 'z'", **drop("z"))


def packed(compression, kind):
    def make(path):
        table = pa.table({"a": A[:, 0], "t": ["x"] * 4, "b": A[:, 1]})
        if kind == ".parquet":
            parquet.write_table(
                table, path, compression=compression, row_group_size=3, use_dictionary=compression != "gzip"
            )
        else:
            with ipc.new_file(path, table.schema, options=ipc.IpcWriteOptions(compression=compression)) as file:
                file.write_table(table, max_chunksize=3)

    return Case(f"packed by {compression}", make, A, **drop("t"))


def absurd_decimal(scale):
    """Of a damaged file: 12345·10^−scale."""

    def make(path):
        values = pa.Array.from_buffers(
            pa.decimal128(5, scale), 3, [None, pa.py_buffer((12345).to_bytes(16, "little") * 3)]
        )
        write(beside(values), path)

    return Case(f"decimals of scale {scale}", make, words=r"no numbers: 'b' \(decimal128\(5, -?\d+\)\)")


PACKED = {".parquet": ["none", "snappy", "gzip", "brotli", "zstd", "lz4"], ".arrow": ["zstd", "lz4"], ".feather": []}


def in_file(case, kind):
    return replace(case, name=f"{kind}: {case.name}", file=f"x{kind}")


TABLE_CASES = [
    in_file(case, kind)
    for kind in (".parquet", ".arrow", ".feather")
    for case in [*cases(kind), *(packed(each, kind) for each in PACKED[kind])]
] + [in_file(absurd_decimal(scale), ".arrow") for scale in (77, 1000, 2**31 - 1, -77, -(2**31))]
