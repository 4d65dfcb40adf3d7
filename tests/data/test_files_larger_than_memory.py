"""Files far larger than the memory they are read with."""

import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, feather, parquet

import mercer
from mercer import KernelPCA
from mercer_old.errors import MercerWarning, NoRoom
from support.peak import is_near, needs_peaks, peak_of
from support.registry import write_file
from support.stored import X, landmark

FIT = """
from mercer import KernelPCA
model = KernelPCA(5, kernel="rbf", gamma="median", eigen_solver="landmark", n_landmarks={r}, memory_limit={limit})
model.fit_transform_to(Path({path!r}), Path({path!r}).parent / "scores.npy")
"""
STORES = {
    ".npy": np.save,
    ".npy, Fortran order": lambda path, X: np.save(path, np.asfortranarray(X)),
    ".parquet": lambda path, X: parquet.write_table(numbered(X), path, row_group_size=10_000),
    ".feather": lambda path, X: feather.write_feather(numbered(X), str(path), chunksize=20_000),
    ".csv": lambda path, X: csv.write_csv(numbered(X[:30_000].round(1)), path),
}


@needs_peaks
@pytest.mark.parametrize(
    ("kind", "r", "limit"),
    [
        (".npy", 100, 70e6),
        pytest.param(".parquet", 400, 150e6, marks=pytest.mark.slow),
        pytest.param(".npy, Fortran order", 100, 70e6, marks=pytest.mark.slow),
        pytest.param(".npy", 400, 150e6, marks=pytest.mark.slow),
        pytest.param(".feather", 100, 150e6, marks=pytest.mark.slow),
        pytest.param(".csv", 100, 120e6, marks=pytest.mark.slow),
    ],
)
def test_the_limit_is_kept_by_files_far_larger_than_it(tmp_path, kind, r, limit):
    rows, suffix = np.random.default_rng(0).normal(size=(150_000, 100)), kind.partition(",")[0]
    STORES[kind](tmp_path / f"small{suffix}", rows[:5000])
    STORES[kind](tmp_path / f"large{suffix}", rows)
    small, large = (
        FIT.format(path=str(tmp_path / f"{name}{suffix}"), r=some, limit=int(limit))
        for name, some in (("small", 20), ("large", r))
    )
    peak, planned = peak_of(large, before=small)
    assert planned <= limit and peak <= limit
    assert is_near(peak, planned)


@needs_peaks
def test_names_of_rows_take_little_more_than_they_hold(tmp_path):
    """To see that no two are the same: a table of all of them took seven times as much."""
    names = pa.array([f"row-{number * 7919 % 600_000:09d}" for number in range(600_000)])
    path = tmp_path / "named.feather"
    feather.write_feather(pa.table({"id": names, "x": np.arange(600_000) % 7.0}), str(path))
    ask = "import mercer\nrows = mercer.open_rows(Path({!r}), id='id')"
    feather.write_feather(pa.table({"id": names[:9], "x": np.arange(9) % 7.0}), str(tmp_path / "few.feather"))
    peak, held = peak_of(ask.format(str(path)), ask.format(str(tmp_path / "few.feather")), "rows.row_names.nbytes")
    assert peak < 5 * held


def numbered(X):
    return pa.table({f"x{j}": X[:, j] for j in range(X.shape[1])})


@pytest.mark.filterwarnings("ignore:The .* landmarks see only")
def test_rows_that_do_not_fit_are_streamed_with_a_warning(tmp_path):
    rows = np.random.default_rng(0).normal(size=(60_000, 60))  # 29 MB
    path = write_wide(tmp_path / "wide.npy", rows)
    with pytest.warns(MercerWarning, match="Landmarks are used instead"):
        model = KernelPCA(3, kernel="rbf", memory_limit="45MB").fit(path)
    assert model.plan_.streams
    with pytest.raises(NoRoom, match="45 MB"):
        KernelPCA(3, kernel="rbf", memory_limit="45MB", eigen_solver="krylov").fit(path)


def write_wide(path, rows):
    np.save(path, rows)
    return path


def test_a_plan_reads_little_of_a_file(tmp_path, monkeypatch):
    rows = mercer.open_rows(write_file(".npy", tmp_path, np.tile(X, (20, 1))))
    read = []
    pieces = rows._pieces
    monkeypatch.setattr(rows, "_pieces", lambda size: (read.append(1) or piece for piece in pieces(size)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MercerWarning)
        assert landmark().plan(rows).streams
    assert len(read) <= 2 and Path(rows.path).exists()
