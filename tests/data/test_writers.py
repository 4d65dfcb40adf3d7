"""Files that are written: complete or absent, never in the place of the input, read back as they were."""

import csv
import gzip
import os
import stat
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from pyarrow import parquet

from mercer.data.atomic import atomic_file, atomic_path, write_files
from mercer.data.dataset import ArrayDataset, Metadata, Source
from mercer.data.numpy_files import read_npz
from mercer.data.opening import open_dataset
from mercer.data.read_options import ReadOptions
from mercer.data.writers import FORMATS, check_output, table_writer, write_blocks, write_table
from mercer.errors import DataError, MercerWarning, OutputError, ParameterError
from mercer.estimators.pca import PCA
from mercer.results import Result

A = np.random.default_rng(0).normal(size=(40, 2))
NAMES = [f'row {i}, "quoted" and\nbroken' for i in range(40)]
METADATA = Metadata(
    {"name": NAMES, "kind": ["x", "y"] * 20, "zip": [f"{i:05d}" for i in range(40)],
     "count": pa.array(range(40)), "part": [0.5 + i if i else None for i in range(40)]},
    "name",
    "kind",
)  # fmt: skip
TABLES = [".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet", ".arrow", ".feather"]
posix = pytest.mark.skipif(os.name == "nt", reason="permissions and links of Unix")


def written(path, rows=A, metadata=METADATA, columns=("pca0", "pca1"), dtype=np.float64):
    blocks = iter([(0, rows[:15]), (15, rows[15:])])
    write_blocks(blocks, path, columns, len(rows), dtype, metadata)
    return path


@pytest.mark.parametrize("form", TABLES)
def test_tables_are_read_back_as_they_were_written(tmp_path, form):
    path = written(tmp_path / f"scores{form}")
    if form in (".parquet", ".arrow", ".feather"):
        found = parquet.read_table(path) if form == ".parquet" else pa.ipc.open_file(path).read_all()
        assert found.schema.field("count").type == pa.int64() and found.column("part").null_count == 1
        columns = found.to_pydict()
    else:
        with gzip.open(path, "rt", newline="") if form.endswith("gz") else path.open(newline="") as file:
            header, *rows = csv.reader(file, delimiter="\t" if "tsv" in form else ",")
        columns = dict(zip(header, zip(*rows, strict=True), strict=True))
    assert list(columns) == ["name", "kind", "zip", "count", "part", "pca0", "pca1"]
    assert list(columns["name"]) == NAMES and list(columns["zip"]) == [f"{i:05d}" for i in range(40)]
    assert_array_equal(np.column_stack([columns["pca0"], columns["pca1"]]).astype(float), A)
    data = open_dataset(path, id="name", label="kind", keep=["zip"], columns=["pca0", "pca1"])
    assert_array_equal(data.load(), A)
    assert data.metadata.ids == NAMES


def test_arrays_are_read_back_as_they_were_written(tmp_path):
    assert_array_equal(np.load(written(tmp_path / "x.npy")), A)
    single = np.load(written(tmp_path / "y.npy", dtype=np.float32))
    assert_array_equal(single, A.astype(np.float32), strict=True)
    with np.load(written(tmp_path / "x.npz"), allow_pickle=False) as found:
        assert set(found) == {"scores", "columns", "ids", "heading"}
        assert_array_equal(found["scores"], A)
        assert found["ids"].tolist() == NAMES and found["columns"].tolist() == ["pca0", "pca1"]
    data = read_npz(tmp_path / "x.npz", ReadOptions(), 10**9)
    assert data.feature_names == ("pca0", "pca1") and data.metadata.ids == NAMES and data.metadata.id_name == "name"
    written(tmp_path / "z.npz", metadata=Metadata({"kind": ["x"] * 40}, None, "kind"))
    with np.load(tmp_path / "z.npz") as found:
        assert set(found) == {"scores", "columns"}


def test_pandas_reads_csv_as_it_was_meant(tmp_path):
    found = pd.read_csv(written(tmp_path / "scores.csv"), dtype={"zip": str})
    assert list(found["name"]) == NAMES and list(found["zip"]) == [f"{i:05d}" for i in range(40)]


def test_standard_output_is_csv(capfd):
    written(None)
    out = capfd.readouterr().out
    header, *rows = csv.reader(out.splitlines(keepends=True))
    assert header[-1] == "pca1" and len(rows) == 40
    assert_array_equal(np.array([row[-2:] for row in rows], dtype=float), A)


def test_an_error_after_some_rows_on_standard_output_reports_how_many(capfd):
    with (
        pytest.raises(DataError, match=r"Standard output has 15 of 40 rows"),
        table_writer(None, ["a", "b"], 40, np.float64, Metadata()) as write,
    ):
        write(A[:15])
        raise DataError("A value is missing.")
    with pytest.raises(DataError) as caught, table_writer(None, ["a", "b"], 40, np.float64, Metadata()):
        raise DataError("A value is missing.")
    assert str(caught.value) == "A value is missing." and len(capfd.readouterr().out.splitlines()) == 16


def test_standard_output_of_a_notebook(monkeypatch):
    written_texts = []

    class Notebook:
        def write(self, text):
            written_texts.append(text)

        def flush(self):
            pass

    monkeypatch.setattr(sys, "stdout", Notebook())
    written(None, metadata=Metadata())
    assert "".join(written_texts).startswith("pca0,pca1\n")


def test_equal_rows_are_equal_bytes(tmp_path):
    assert written(tmp_path / "x.csv.gz").read_bytes()[4:8] == bytes(4)  # no time
    for form in (".csv.gz", ".npy", ".csv", ".parquet"):
        one, other = (written(tmp_path / f"{name}{form}").read_bytes() for name in ("one", "other"))
        assert one == other


def test_strings_that_utf8_cannot_hold_are_escaped(tmp_path):
    path = written(tmp_path / "x.csv", A[:16], Metadata({"id": ["a\ud800", *"bcdefghijklmnop"]}, "id"))
    assert '"a\\ud800"' in path.read_text(encoding="utf-8")


def test_cells_that_look_like_formulas_are_warned_of(tmp_path):
    metadata = Metadata({"id": ["=1+1", "-x", "-1", "a"] * 10}, "id")
    with pytest.warns(MercerWarning, match="20 cells"):
        written(tmp_path / "x.csv", metadata=metadata)
    written(tmp_path / "x.parquet", metadata=metadata)


# ---------------------------------------------------------------------- complete or absent


@pytest.mark.parametrize("form", [*TABLES, ".npy", ".npz"])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, form):
    path = tmp_path / f"scores{form}"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), table_writer(path, ["a", "b"], 40, np.float64, Metadata()) as write:
        write(A[:5])
        raise KeyboardInterrupt
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_errors_of_the_caller_are_not_blamed_on_the_file(tmp_path):
    with pytest.raises(ConnectionError), table_writer(tmp_path / "s.npy", ["a"], 1, np.float64, Metadata()):
        raise ConnectionError("dashboard is gone")
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_an_output_error_and_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    write_files({path: b"first", tmp_path / "other": b"x"})
    path.chmod(0o640)
    write_files({path: b"second"})
    assert path.read_bytes() == b"second" and path.stat().st_mode & 0o777 == 0o640

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(type(path), "replace", fail)
    for durable in (False, True):
        with pytest.raises(OutputError) as caught, atomic_file(path, durable=durable) as file:
            file.write(b"third")
        assert caught.value.path.name == "page.html" and path.read_bytes() == b"second"
    assert len(list(tmp_path.iterdir())) == 2


@posix
def test_a_disk_that_is_full_while_rows_are_written():
    with pytest.raises(OutputError):
        written(Path("/dev/full"))


@posix
def test_modes_links_long_names_and_pipes(tmp_path):
    usual = tmp_path / "usual"
    usual.touch()
    assert written(tmp_path / "x.csv").stat().st_mode == usual.stat().st_mode
    (tmp_path / "target.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to(tmp_path / "target.csv")
    written(tmp_path / "link.csv")
    assert (tmp_path / "link.csv").is_symlink() and "pca0" in (tmp_path / "target.csv").read_text()
    assert written(tmp_path / ("x" * 250 + ".npy")).exists()
    read, write = os.pipe()
    with atomic_path(Path(f"/dev/fd/{write}")) as same:
        same.write_bytes(b"through a pipe")
    os.close(write)
    assert os.read(read, 100) == b"through a pipe"
    os.close(read)
    assert stat.S_ISREG((tmp_path / "x.csv").stat().st_mode)


# ---------------------------------------------------------------------- checked before the work


def test_outputs_are_checked_before_the_fit(tmp_path):
    model = PCA(1)
    (tmp_path / "folder.csv").mkdir()
    for path, error in (
        (tmp_path / "scores.xlsx", ParameterError),
        (tmp_path / "scores", ParameterError),
        (tmp_path / "scores.npy.gz", ParameterError),
        (tmp_path / "nowhere" / "scores.csv", OutputError),
        (tmp_path / "folder.csv", OutputError),
        (tmp_path / "scores.h5ad", OutputError),
    ):
        with pytest.raises(error):
            model.transform_to(A, path, method="fit_transform")
    data = ArrayDataset(A)
    data.metadata = Metadata({"pca0": ["x"] * 40}, "pca0")
    with pytest.raises(OutputError):
        model.transform_to(data, tmp_path / "scores.csv", method="fit_transform")
    assert not hasattr(model, "components_") and [each.name for each in tmp_path.iterdir()] == ["folder.csv"]
    assert set(FORMATS) == {*TABLES, ".npy", ".npz", ".h5ad"}


@posix
def test_a_read_only_file_is_refused_before_the_work(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("old")
    path.chmod(0o400)
    if os.access(path, os.W_OK):
        pytest.skip("the superuser may write everything")
    with pytest.raises(OutputError):
        check_output(path, ArrayDataset(A), [])


def test_the_input_is_never_overwritten(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, A)
    before = path.read_bytes()
    (tmp_path / "link.npy").symlink_to(path)
    model = PCA(1).fit(A)
    for target in (path, tmp_path / "link.npy"):
        with pytest.raises(OutputError):
            model.transform_to(path, target)
    data = ArrayDataset(A)
    data.source = Source("x.npy", path)
    with pytest.raises(OutputError):
        check_output(path, data, [])
    assert path.read_bytes() == before


@pytest.mark.parametrize("method", ["transform", "fit_transform", "inverse_transform", "denoise"])
def test_transform_to_writes_what_the_method_returns(tmp_path, method):
    model = PCA(1).fit(A)
    given = model.transform(A) if method == "inverse_transform" else A
    model.transform_to(given, tmp_path / "x.parquet", method=method)
    found = parquet.read_table(tmp_path / "x.parquet")
    assert_allclose(np.column_stack([found[name] for name in found.column_names]), getattr(model, method)(given))


# ---------------------------------------------------------------------- tables of results


class Decisions(Result):
    summary = "Three decisions."

    def columns(self):
        return {"row": np.arange(3), "p": np.array([0.5, 0.25, np.nan]), "name": ["a", None, "b,c"],
                "pairs": [[1, 2], [], [3]]}  # fmt: skip


@pytest.mark.parametrize("form", [*TABLES, ".npz"])
def test_results_write_their_columns(tmp_path, form):
    path = (
        Decisions().write(tmp_path / f"x{form}")
        if form != ".npz"
        else write_table({"row": np.arange(3), "name": ["a", "b", "c"]}, tmp_path / "x.npz")
    )
    if form == ".npz":
        with np.load(path) as found:
            assert found["row"].tolist() == [0, 1, 2] and found["name"].tolist() == ["a", "b", "c"]
        return
    if form in (".parquet", ".arrow", ".feather"):
        found = parquet.read_table(path) if form == ".parquet" else pa.ipc.open_file(path).read_all()
        assert found["pairs"].to_pylist() == [[1, 2], [], [3]] and found["name"].to_pylist() == ["a", None, "b,c"]
    else:
        frame = pd.read_csv(path, sep="\t" if "tsv" in form else ",")
        assert frame["row"].tolist() == [0, 1, 2] and frame["name"].tolist()[2] == "b,c"
        assert frame["pairs"].tolist() == ["[1, 2]", "[]", "[3]"] and np.isnan(frame["p"][2])
    with pytest.raises(ParameterError):
        Decisions().write(tmp_path / "x.xlsx")
    with pytest.raises(OutputError):
        Decisions().write(tmp_path / "nowhere" / "x.csv")
