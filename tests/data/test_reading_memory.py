"""The memory limit of readers, measured: no file makes reading take more than the limit and 60 MB."""

import gzip

import h5py
import numpy as np
import pyarrow as pa
import pytest
from PIL import Image
from pyarrow import parquet

from support.peak import needs_peaks, peak_of

LIMIT, MORE = 20_000_000, 60_000_000
OPEN = """
import warnings
warnings.simplefilter("ignore")
import h5py, PIL.Image, pyarrow.csv, pyarrow.dataset, pyarrow.parquet, sklearn.base
from mercer.data import h5ad, images, numpy_files, sequences, streams
from mercer.data.opening import open_dataset
from mercer.data.validation import as_dataset
from mercer.errors import MercerError
"""
READ = """
try:
    data = {opened}
    {used}
    outcome = "read"
except MercerError as error:
    outcome = type(error).__name__
"""
PASS = "[len(block) for block in data.blocks(1000)]"


def long_line(path):
    with gzip.open(path / "x.txt.gz", "wb", 1) as file:
        for _ in range(150):
            file.write(b"A" * 1_000_000)


def long_wide_line(path):
    (path / "x.txt").write_text("A" * 18_000_000 + "\U0001f427\n")


def many_short_lines(path):
    (path / "x.txt").write_text("".join(f"{i:09d}\n" for i in range(280_000)))


def integers(path):
    np.savez(path / "x.npz", np.zeros((1_200_000, 8), dtype=np.int32)[: 20_000_000 // 64])


def long_ids(path):
    with h5py.File(path / "x.h5ad", "w") as file:
        for name, n in (("obs", 300_000), ("var", 2)):
            group = file.create_group(name)
            group.attrs["_index"] = "_index"
            texts = np.array([f"{name}-{i:020d}" for i in range(n)], dtype=object)
            group.create_dataset("_index", data=texts, dtype=h5py.string_dtype())
        file["X"] = np.zeros((300_000, 2), dtype=np.float32)


def columns_between_blanks(path):
    (path / "x.txt").write_text(("1 " * 1_499_999 + "1\n") * 3)


def large_image(path):
    Image.new("RGB", (6000, 6000)).save(path / "x.png", compress_level=1)


def many_columns(path):
    parquet.write_table(pa.table({f"c{j}": [1.0, 2.0] for j in range(12_000)}), path / "x.parquet")


def row_groups(path):
    rows = np.random.default_rng(0).normal(size=(16, 300_000))
    table = pa.table({f"x{j}": row for j, row in enumerate(rows)})
    parquet.write_table(table, path / "x.parquet", row_group_size=12_000)


def wide(path):
    np.save(path / "x.npy", np.zeros((1500, 10_000)))


CASES = {
    "one line of 150 MB": (long_line, "x.txt.gz", "kind='strings'", PASS, "MemoryLimitError"),
    "one wide character in a line": (long_wide_line, "x.txt", "kind='strings'", PASS, "MemoryLimitError"),
    "lines and their ids": (many_short_lines, "x.txt", "kind='strings', case='upper'", PASS, "MemoryLimitError"),
    "integers in an archive": (integers, "x.npz", "", PASS, "MemoryLimitError"),
    "ids of cells": (long_ids, "x.h5ad", "", PASS, "read"),
    "many columns between blanks": (columns_between_blanks, "x.txt", "", PASS, "MemoryLimitError"),
    "a large image": (large_image, "", "resize='8x8'", PASS, "MemoryLimitError"),
    "many columns of Parquet": (many_columns, "x.parquet", "", PASS, "MemoryLimitError"),
    "some rows of a wide matrix": (wide, "x.npy", "", "data.take([0, 1])", "read"),
}


@needs_peaks
@pytest.mark.parametrize("name", CASES)
def test_reading_stays_within_the_limit(tmp_path, name):
    make, file, options, used, expected = CASES[name]
    make(tmp_path)
    opened = f"open_dataset({str(tmp_path / file)!r}, memory_limit={LIMIT}, {options})"
    peak, outcome = peak_of(READ.format(opened=opened, used=used), OPEN, "outcome")
    assert (outcome, peak <= LIMIT + MORE) == (expected, True), peak


@needs_peaks
def test_datasets_of_parquet_files_are_not_read_ahead(tmp_path):
    row_groups(tmp_path)
    limit, path = 30_000_000, str(tmp_path / "x.parquet")
    opened = f"streams.open_stream(pyarrow.dataset.dataset({path!r}), {limit})"
    peak, outcome = peak_of(READ.format(opened=opened, used=PASS), OPEN, "outcome")
    assert (outcome, peak <= limit + MORE) == ("read", True), peak
