"""The speed ledger: its file, what counts as slower, its clocks and its yardsticks."""

import subprocess
import sys
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import rbf_kernel

from benchmarks.ledger import measure, run, yardsticks
from benchmarks.ledger.cases import CASES
from benchmarks.ledger.record import Row, append, committed, compare, parse

ROW = Row(
    date="2026-11-20", commit="abc1234", edition="new", case="pca-150x4", ratio=2.0, seconds=0.002,
    yardstick_seconds=0.001, clock="cpu", runs=200, load=0.5, machine="a processor 2 cores", gflops=50.0,
    versions="numpy 2", note="a note, with a comma",
)  # fmt: skip


@pytest.mark.parametrize(
    ("ratio", "is_slower"), [(1.0, False), (2.0, False), (2.29, False), (2.31, True), (float("inf"), True)]
)
def test_slower_is_more_than_15_percent(ratio, is_slower):
    comparison = compare(replace(ROW, ratio=ratio), [ROW])
    assert comparison.is_slower is comparison.counts is is_slower
    assert ("SLOWER" in str(comparison)) is is_slower


def test_comparison_uses_last_row_of_same_edition_and_case():
    rows = [
        replace(ROW, ratio=1.0, commit="first"),
        replace(ROW, ratio=3.0, commit="last"),
        replace(ROW, ratio=9.0, edition="old"),
        replace(ROW, ratio=9.0, case="other"),
    ]
    comparison = compare(replace(ROW, ratio=3.3), rows)
    assert (comparison.last.commit, comparison.best.commit) == ("last", "first")
    assert not comparison.counts
    assert compare(replace(ROW, case="unknown"), rows).last is None


@pytest.mark.parametrize("other", [{"machine": "another"}, {"gflops": 20.0}])
def test_other_machine_is_shown_but_does_not_count(other):
    comparison = compare(replace(ROW, ratio=5.0), [replace(ROW, **other)])
    assert comparison.is_slower
    assert not comparison.counts
    assert "another machine" in str(comparison)


def test_file_is_appended_and_read_back(tmp_path):
    path = tmp_path / "ledger.csv"
    append(ROW, path)
    append(replace(ROW, ratio=1.23456, note="more"), path)
    assert parse(path.read_text()) == [ROW, replace(ROW, ratio=1.235, note="more")]
    assert len(path.read_text().splitlines()) == 3


def test_uncommitted_rows_are_not_compared_with(tmp_path):
    path = tmp_path / "ledger.csv"
    append(ROW, path)
    assert committed(path) == [ROW]  # there is no repository
    for command in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    append(replace(ROW, ratio=9.0), path)
    assert committed(path) == [ROW]


def figures(ratio):
    return {"ratio": ratio, "seconds": ratio, "yardstick": 1.0, "runs": 3, "note": ""}


@pytest.mark.parametrize(
    ("answers", "status", "recorded"),
    [
        ([figures(2.1)], 0, [2.1]),
        ([figures(3.0), figures(2.2)], 0, [2.2]),  # measured a second time
        ([figures(3.0), figures(2.9)], 1, [2.9]),
        ([{"failed": "ValueError"}], 1, []),
        ([{"skipped": "there is no PCA"}], 1, []),
    ],
)
def test_exit_status_and_rows_of_a_run(monkeypatch, tmp_path, answers, status, recorded):
    queue, path = list(answers), tmp_path / "ledger.csv"
    monkeypatch.setattr(run, "committed", lambda: [ROW])
    monkeypatch.setattr(run, "run_child", lambda case, edition, full: dict(queue.pop(0)))
    shared = {"machine": ROW.machine, "gflops": 50.0, "versions": ""}
    monkeypatch.setattr(run, "machine_child", lambda: shared)
    monkeypatch.setattr(run, "append", lambda row: append(row, path))
    assert run.main(["--edition", "new", "--only", "pca-150x4"]) == status
    assert [row.ratio for row in (parse(path.read_text()) if path.exists() else [])] == recorded
    assert not queue


@pytest.mark.parametrize(("load", "status"), [(0.5, 1), (9.0, 0)])
def test_wall_clock_counts_on_an_idle_machine_only(monkeypatch, load, status):
    recorded = []
    monkeypatch.setattr(run, "committed", lambda: [replace(ROW, case="pca-stream", clock="wall")])
    monkeypatch.setattr(run, "run_child", lambda *_: figures(5.0))
    monkeypatch.setattr(run, "machine_child", lambda: {"machine": ROW.machine, "gflops": 50.0, "versions": ""})
    monkeypatch.setattr(run, "append", recorded.append)
    monkeypatch.setattr(run.os, "getloadavg", lambda: (load, 0.0, 0.0))
    assert run.main(["--edition", "new", "--only", "pca-stream"]) == status
    assert len(recorded) == status


def test_unknown_case_that_cannot_run_is_not_a_failure(monkeypatch, capsys):
    monkeypatch.setattr(run, "committed", lambda: [])
    monkeypatch.setattr(run, "run_child", lambda *_: {"skipped": "there is no PCA"})
    monkeypatch.setattr(run, "machine_child", lambda: {"machine": "m", "gflops": 1.0, "versions": ""})
    assert run.main(["--edition", "new", "--only", "pca-digits", "--no-record"]) == 0
    assert "skipped: there is no PCA" in capsys.readouterr().out


@pytest.mark.parametrize("slow", [2.0, 100.0])
def test_interleaving_takes_minima_after_a_warm_up(monkeypatch, slow):
    now, ours_took, theirs_took = [0.0], [], []

    def call(log, first, later):
        log.append(first if not log else later[len(log) % len(later)])
        now[0] += log[-1]
        return len(log)

    monkeypatch.setattr(measure, "CLOCKS", {"cpu": lambda: now[0] / 2, "wall": lambda: now[0]})
    ours, theirs, runs, result = measure.interleave(
        lambda: call(ours_took, 0.9 * slow, [slow, 1.5 * slow]), lambda: call(theirs_took, 0.5, [1.0, 3.0]), 20, "wall"
    )
    assert result == len(ours_took)
    assert theirs == {"cpu": 0.5, "wall": 1.0}
    assert len(theirs_took) >= 4
    if slow == 2.0:  # the first run, which is the fastest here, is a warm-up
        assert (ours["wall"], runs) == (2.0, len(ours_took) - 1)
    else:  # too slow for a second one
        assert (ours["wall"], runs, len(ours_took)) == (90.0, 1, 1)


def test_new_edition_does_not_hand_out_names_of_the_old_one(monkeypatch):
    module, old = ModuleType("made_up"), type("Old", (), {"__module__": "mercer_old.models.pca"})
    module.Old, module.New = old, type("New", (), {"__module__": "mercer.estimators.pca"})
    monkeypatch.setitem(sys.modules, "made_up", module)
    monkeypatch.setattr(measure.Edition, "HOMES", {"old": {"data": "made_up"}, "new": {"data": "made_up"}})
    assert measure.Edition("old").get("data", "Old") is old
    assert measure.Edition("new").get("data", "Old", "New") is module.New
    with pytest.raises(measure.NotThereError):
        measure.Edition("new").get("data", "Old")


def test_cases_are_listed(capsys):
    assert run.main(["--list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(CASES)


# ---------------------------------------------------------------------------------------------- yardsticks


def test_gram_yardstick_is_pca():
    X = np.random.default_rng(0).integers(0, 3, size=(30, 3000)).astype(np.int8)
    values, axes = yardsticks.gram_pca(X, 4)
    model = PCA(4, svd_solver="full").fit(X.astype(float))
    assert_allclose(values / 29, model.explained_variance_, rtol=1e-12)
    assert_allclose(np.abs(np.sum(axes * model.components_, axis=1)), 1, rtol=1e-6)


def test_pass_and_sweep_yardsticks_are_products():
    rng = np.random.default_rng(0)
    X, B = rng.normal(size=(600, 4)), rng.normal(size=(600, 3))
    assert_allclose(yardsticks.kernel_pass(X, 0.3, B), rbf_kernel(X, gamma=0.3) @ B, atol=1e-11)
    assert_allclose(yardsticks.sweep(X, 2, rows=64), X.T @ X, rtol=1e-12, atol=1e-11)


def test_em_step_on_complete_data_converges_to_the_closed_form():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2)) @ rng.normal(size=(2, 6)) + rng.normal(size=(300, 6))
    values = np.linalg.eigvalsh(np.cov(X.T, bias=True))
    W, noise = rng.normal(size=(6, 2)), 1.0
    for _ in range(600):
        W, noise = yardsticks.em_step(X, W, noise)
    assert_allclose(noise, values[:4].mean(), rtol=1e-6)  # Tipping and Bishop (1999)
    assert_allclose(np.linalg.eigvalsh(W.T @ W) + noise, values[4:], rtol=1e-6)
