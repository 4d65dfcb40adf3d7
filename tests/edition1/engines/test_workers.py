"""Parquet that workers read by themselves, and the command line that starts them or connects to them."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mercer
from mercer.kernels import Edit
from mercer_old.engines import Loop
from mercer_old.errors import BadData
from mercer_old.plans import kernel as plans
from mercer_old.sources import groups
from mercer_old.sources.groups import GroupedRows, in_chunks
from support.branches import run
from support.together import check_each

A = np.random.default_rng(0).normal(size=(3000, 6)) * np.arange(1, 7)


def write(folder, rows=A, files=3, **how):
    folder.mkdir(exist_ok=True)
    for i, some in enumerate(np.array_split(rows, files)):
        table = pa.table({f"x{j}": some[:, j] for j in range(rows.shape[1])})
        pq.write_table(table, folder / f"{i}.parquet", **how)
    return folder


def test_workers_read_a_folder_and_the_answer_has_the_bits_of_a_loop(client, tmp_path, monkeypatch):
    monkeypatch.setattr(groups, "_LEAST", 400 * 48)
    folder = write(tmp_path / "rows", row_group_size=200)
    rows = mercer.open_rows(folder)
    assert isinstance(rows, GroupedRows) and rows.chunks.engine.workers == 2 and len(rows.chunks.counts) == 7
    here = in_chunks(rows.source, Loop())
    assert rows.chunks.counts == here.chunks.counts
    there, alone = mercer.PCA(3).fit(rows), mercer.PCA(3).fit(here)
    assert_array_equal(there.components_, alone.components_)
    assert_allclose(there.explained_variance_, mercer.PCA(3).fit(A).explained_variance_, rtol=1e-12)
    assert_array_equal(rows[np.array([2999, 0, 1000])], A[[2999, 0, 1000]])
    gap = A.copy()
    gap[2500, 3] = np.nan
    write(tmp_path / "gap", gap, row_group_size=200)
    with pytest.raises(BadData, match=r"gap/2\.parquet contains a missing value \(NaN\): row 500, column 'x3'"):
        mercer.PCA(3).fit(tmp_path / "gap")


def test_what_is_small_is_read_here(client, tmp_path):
    assert mercer.open_rows(write(tmp_path / "rows")).chunks is None


def _unless_psd(problem, limits):
    """Few rows take the way of many."""
    return None if problem.psd else plans._held(problem, limits)


@pytest.mark.filterwarnings("ignore::mercer_old.errors.MercerWarning")  # edit distances are not positive semi-definite
def test_what_is_read_here_is_lent_to_workers_to_compare_all_with_all(client, in_a_loop, tmp_path, monkeypatch):
    monkeypatch.setattr("mercer_old.plans.spread._WORTH_A_CLUSTER", 0.0)
    ways = tuple(_unless_psd if way is plans._held else way for way in plans._IN_MEMORY)
    monkeypatch.setattr(plans, "_IN_MEMORY", ways)
    np.save(tmp_path / "rows.npy", A[:700])
    words = ["".join("abcd"[int(x)] for x in row) for row in np.abs(A[:90]).clip(0, 3)]
    (tmp_path / "words.txt").write_text("\n".join(words), encoding="utf-8")
    weights = np.arange(700) % 3.0
    cases = [
        (tmp_path / "rows.npy", None, "spread", {"kernel": "rbf", "gamma": 0.1, "standardize": True}),
        (tmp_path / "rows.npy", weights, "spread", {"kernel": "rbf", "gamma": 0.1}),
        (tmp_path / "words.txt", None, "gathered", {"kernel": Edit(0.3), "n_jobs": 1}),
        (tmp_path / "words.txt", weights[:90], "gathered", {"kernel": Edit(0.3), "n_jobs": 1}),
    ]

    def check(case):
        path, w, way, how = case
        there = mercer.KernelPCA(3, random_state=0, **how).fit(path, sample_weight=w)
        assert there.plan_.held == way and "2 workers" in there.plan_.why
        with in_a_loop():
            here = mercer.KernelPCA(3, random_state=0, **how).fit(path, sample_weight=w)
        assert here.plan_.held != way
        assert_allclose(there.eigenvalues_, here.eigenvalues_, rtol=1e-9)
        assert_array_equal(there.X_fit_, here.X_fit_)

    check_each(cases, check)
    assert mercer.KernelPCA(3, kernel=Edit(0.3)).fit(words).plan_.held == "gram"  # a list is nobody's but ours


def test_a_fit_inside_a_task_does_not_wait_for_its_own_place(own_client, tmp_path):
    (tmp_path / "words.txt").write_text("ab\nabc\nba\ncab\nbac", encoding="utf-8")

    def held(path):
        from distributed import get_client

        import mercer
        from mercer.kernels import Edit
        from mercer_old.plans import spread

        get_client()
        spread._WORTH_A_CLUSTER = 0.0
        return mercer.KernelPCA(1, kernel=Edit(0.3), n_jobs=1).fit(path).plan_.held

    assert own_client.submit(held, tmp_path / "words.txt").result(timeout=60) == "gram"


def test_files_are_fitted_without_a_worker_too(another_cluster, tmp_path):
    from distributed import Client

    np.save(tmp_path / "rows.npy", A[:50])
    with another_cluster(n_workers=0) as empty, Client(empty):
        for how in ({}, {"n_landmarks": 10}):
            assert mercer.KernelPCA(2, kernel="rbf", gamma=0.01, **how).fit(
                tmp_path / "rows.npy"
            ).eigenvalues_.shape == (2,)


# ---------------------------------------------------------------------- on the command line


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Beyond the size from which workers are asked; few different numbers, so that files are small."""
    rows = np.round(np.random.default_rng(1).normal(size=(280_000, 60)) * np.linspace(1, 3, 60))
    return write(tmp_path_factory.mktemp("large") / "rows", rows, files=2, row_group_size=50_000)


def test_fit_by_workers_of_its_own(large, tmp_path):
    options = ["fit", large, "--method", "pca", "-d", "2", "--save", tmp_path / "m.mercer", "--workers", "2", "--json"]
    done = run(*options, anew=True)
    assert done.returncode == 0, done.stderr
    assert "workers: 2, with" in done.stderr and "they read 2 chunks of whole row groups" in done.stderr
    assert "distributed" not in done.stderr and "Traceback" not in done.stderr
    found = json.loads(done.stdout)
    assert_allclose(found["explained_variance"], mercer.PCA(2).fit(large).explained_variance_, rtol=1e-10)


@pytest.mark.slow
def test_transform_by_workers_of_its_own(large, tmp_path):
    mercer.save(mercer.PCA(2).fit(large), tmp_path / "m.mercer")
    quiet = run("transform", tmp_path / "m.mercer", large, "-o", tmp_path / "s.npy", "-q", "--workers", "1", anew=True)
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")
    assert_allclose(np.load(tmp_path / "s.npy"), mercer.load(tmp_path / "m.mercer").transform(large), atol=1e-9)


@pytest.mark.slow
def test_fit_by_a_cluster_of_others(cluster, large):
    address = cluster.scheduler_address
    done = run("fit", large, "--method", "pca", "-d", "2", "-o", os.devnull, "--cluster", address, anew=True)
    assert done.returncode == 0 and f"cluster: {address}" in done.stderr, done.stderr
    assert "they read 2 chunks" in done.stderr
    assert len(cluster.workers) == 2  # it is others' to end


def test_a_cluster_that_does_not_answer_is_one_sentence(large, monkeypatch):
    monkeypatch.setenv("DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT", "100ms")
    done = run("fit", large, "--cluster", "tcp://127.0.0.1:1", anew=True)
    assert done.returncode == 6 and done.stdout == ""
    assert "The cluster at tcp://127.0.0.1:1 does not answer" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are counted in Linux's /proc")
@pytest.mark.parametrize(
    ("sign", "code"), [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.slow)]
)
def test_who_is_interrupted_ends_its_workers_and_leaves_nothing(large, tmp_path, sign, code):
    options = ["--landmarks", "1500", "--workers", "2", "--memory", "2GB", "--out", str(tmp_path / "scores.csv")]
    command = [sys.executable, "-m", "mercer", "fit", str(large), *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert any(line.startswith("plan") for line in process.stderr)
    assert len(_session(process.pid)) >= 4  # itself, two workers, and what looks after shared things
    if sign == signal.SIGINT:
        os.killpg(process.pid, sign)  # as a terminal does
    else:
        os.kill(process.pid, sign)
    rest = process.stderr.read()
    assert process.wait() == code and "Traceback" not in rest and rest == ""
    while _session(process.pid):  # of multiprocessing, which looks after what is left of us
        time.sleep(0.05)
    assert list(tmp_path.iterdir()) == []


def _session(leader):
    """The processes that began with it."""
    found = []
    for place in Path("/proc").iterdir():
        try:
            state = (place / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if place.name.isdigit() and int(state[3]) == leader and state[0] != "Z":
            found.append(place.name)
    return found


@pytest.mark.slow
def test_the_code_of_a_fit_by_workers_runs(large, tmp_path):
    options = ["fit", large, "--method", "pca", "-d", "2", "--save", tmp_path / "m.mercer", "--show-code"]
    alone, one = run(*options).stdout, run(*options, "--workers", "1").stdout
    assert 'if __name__ == "__main__":' in one and "with Client(n_workers=1, memory_limit=" in one
    assert "with Client('tcp://10.0.0.1:8786'):" in run(*options, "--cluster", "tcp://10.0.0.1:8786").stdout
    assert [line.strip() for line in one.splitlines() if "Client" not in line and "__main__" not in line] == (
        alone.splitlines()
    )
    (tmp_path / "code.py").write_text(one)
    done = subprocess.run([sys.executable, tmp_path / "code.py"], capture_output=True, text=True)
    assert done.returncode == 0 and "2 components certified" in done.stderr
