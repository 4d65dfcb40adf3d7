"""Parquet files whose row groups are read by the workers."""

import os
import signal
import sys
from subprocess import run

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mercer.data.opening import open_dataset
from mercer.errors import ClusterError, DataError, MemoryLimitError, MissingValuesError, ParameterError
from mercer.estimators import PCA, KernelPCA, ProbabilisticPCA

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("distributed")

from mercer.cluster import distribute  # noqa: E402

NAMES = ["a", "b", "c", "d"]


@pytest.fixture(autouse=True)
def small_partitions(monkeypatch):
    monkeypatch.setattr("mercer.cluster.parquet.PARTITION_BYTES", 300 * 4 * 8)


def rows(n=1000):
    return np.random.default_rng(0).normal(size=(n, 4)) * [4.0, 3.0, 2.0, 1.0] + 10


def write(path, X, size=100, **others):
    table = pa.table(dict(zip(NAMES, X.T, strict=True)) | others)
    pq.write_table(table, path, row_group_size=size)
    return path


@pytest.fixture
def folder(tmp_path):
    """Three files, one of which has no rows, and another file that is smaller than a partition."""
    X = rows()
    for name, some in (("1", X[:650]), ("2", X[650:650]), ("3", X[650:700]), ("4", X[700:])):
        write(tmp_path / f"{name}.parquet", some)
    return tmp_path


def test_partitions_have_whole_row_groups_of_all_files(client, folder):
    data = distribute(open_dataset(folder))
    assert data.shape == (1000, 4)
    assert data.n_workers == 2
    assert data.counts.tolist() == [300, 300, 300, 100]  # 50 rows of a file and 250 of its neighbors
    assert_array_equal(data.load(), rows())
    assert_array_equal(data.take([999, 0, 640, 660]), rows()[[999, 0, 640, 660]])
    assert data.feature_names == tuple(NAMES)
    assert distribute(data) is data


@pytest.mark.parametrize(
    "model",
    [PCA(2), PCA(2, svd_solver="krylov"), ProbabilisticPCA(2), KernelPCA(2, kernel="rbf", gamma=0.01, n_landmarks=30)],
    ids=["scatter", "products", "probabilistic", "landmarks"],
)
def test_fits_equal_those_of_the_file_read_here(client, folder, model):
    data = distribute(open_dataset(folder))
    found = model.fit(data).transform(data)
    expected = model.fit(open_dataset(folder)).transform(open_dataset(folder))
    assert_allclose(found, expected, rtol=1e-7, atol=1e-7)


def test_columns_ids_and_types(client, tmp_path):
    X = rows().astype(np.float32)
    path = write(tmp_path / "x.parquet", X, id=[f"row {i}" for i in range(1000)], text=["x"] * 1000)
    data = distribute(open_dataset(path, columns=["c", "a"], id="id"))
    assert data.dtype == np.float32
    assert data.metadata.ids[999] == "row 999"
    assert_array_equal(data.load(), X[:, [2, 0]])
    assert list(PCA(1).fit(data).feature_names_in_) == ["c", "a"]


def test_keys_of_folders(client, tmp_path):
    for year in (2001, 2002):
        (tmp_path / f"year={year}").mkdir()
        write(tmp_path / f"year={year}" / "x.parquet", rows(200))
    data = distribute(open_dataset(tmp_path, columns=["a", "year"]))
    assert_array_equal(data.load()[:, 1], np.repeat([2001.0, 2002.0], 200))


def test_missing_values_are_located_in_their_file(client, tmp_path):
    X = rows()
    X[720, 2] = np.nan
    write(tmp_path / "1.parquet", X[:650])
    write(tmp_path / "2.parquet", X[650:])
    with pytest.raises(MissingValuesError, match=r"a missing value in \S*2\.parquet, row index 70, column 'c'"):
        PCA(2).fit(distribute(open_dataset(tmp_path)))
    model = ProbabilisticPCA(2).fit(distribute(open_dataset(tmp_path)))
    assert_allclose(model.explained_variance_, ProbabilisticPCA(2).fit(X).explained_variance_, rtol=1e-6)


def test_relative_paths_are_those_of_the_client(client, folder, monkeypatch):
    monkeypatch.chdir(folder)
    (elsewhere,) = set(client.run(os.getcwd).values())
    assert elsewhere != str(folder)
    assert_array_equal(distribute(open_dataset("1.parquet")).load(), rows()[:650])


def test_a_killed_worker_changes_nothing(own_client, folder):
    data, n_reports = distribute(open_dataset(folder)), 0

    def kill(state):
        nonlocal n_reports
        n_reports += 1
        if n_reports == 6:
            os.kill(sorted(own_client.run(os.getpid).values())[0], signal.SIGKILL)

    model = PCA(2, svd_solver="krylov", progress=kill).fit(data)
    assert n_reports >= 6
    assert_allclose(model.explained_variance_, PCA(2).fit(rows()).explained_variance_, rtol=1e-12)


# ---------------------------------------------------------------------- files that cannot be read


def test_files_that_workers_do_not_have(client, folder):
    data = distribute(open_dataset(folder))
    (folder / "1.parquet").unlink()
    with pytest.raises(DataError, match=r"File not found on \S+: \S*1\.parquet\. .*disk that all machines share"):
        PCA(2).fit(data)


@pytest.mark.parametrize("n", [640, 660])
def test_files_that_changed(client, folder, n):
    data = distribute(open_dataset(folder))
    write(folder / "1.parquet", rows()[:n])
    with pytest.raises(DataError, match=r"1\.parquet has changed since it was opened"):
        PCA(2).fit(data)


def test_row_groups_that_are_too_large_for_a_worker(client, folder, monkeypatch):
    data = open_dataset(folder)
    monkeypatch.setattr("mercer.cluster.parquet.IDLE_BYTES", (768 << 20) - data.reading_bytes - 3 * 80 * 32)
    with pytest.raises(
        MemoryLimitError,
        match=r"Row group 0 of \S*1\.parquet takes .* on a worker.*row groups of at most 80 rows, or give workers more",
    ):
        distribute(data)
    monkeypatch.setattr("mercer.cluster.parquet.IDLE_BYTES", 800 << 20)
    with pytest.raises(MemoryLimitError, match=r"per thread for it\. Give workers more memory"):
        distribute(data)


def test_other_data_are_rejected(client, tmp_path):
    np.savetxt(tmp_path / "x.csv", rows(), delimiter=",", header="a,b,c,d", comments="")
    with pytest.raises(ParameterError, match=r"x\.csv is not one\. Convert it, or pass a Dask collection"):
        distribute(open_dataset(tmp_path / "x.csv"))


def test_a_client_is_needed(folder):
    with pytest.raises(ClusterError, match=r"No Dask client is active\. Create one"):
        distribute(open_dataset(folder))


def test_dask_arrays_need_no_pyarrow():
    code = "import sys; import mercer.cluster; assert 'pyarrow.parquet' not in sys.modules, 'loaded'"
    done = run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
