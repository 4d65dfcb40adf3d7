"""A method in a process of its own: the same answer, honest memory, an end to its time, and nothing left behind."""

import json
import os
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mercer
from mercer.relatives import TSNE, method
from mercer_old.relatives.apart import _child, _death, _environment, _over, fit_apart

rng = np.random.default_rng(0)
X = rng.normal(size=(50, 5)) * [5, 3, 1, 1, 1]
KEPT = np.arange(40)


@pytest.fixture
def folder(tmp_path):
    np.save(tmp_path / "rows.npy", X)
    np.save(tmp_path / "split.npy", KEPT)
    return tmp_path


def job(folder: Path) -> str:
    """One that would take days."""
    told = {"method": "t-sne", "settings": {"n_iter": 10**9}, "n_components": 2, "seed": 0, "n_jobs": 1, "splits": []}
    return json.dumps(told | {"folder": str(folder), "reseeds": 0})


def test_a_process_of_its_own_gives_the_same_answer_and_tells_its_memory(folder):
    how = {"n_components": 2, "seed": 3, "n_jobs": 1}
    apart = fit_apart(method("pca"), folder, [folder / "split.npy"], budget=1e300, **how)  # beyond all clocks
    here = fit_apart(method("pca"), folder, [folder / "split.npy"], here=True, **how)
    assert apart.failure == here.failure == "" and apart.by == here.by == "PCA"
    assert apart.peak > 30e6 and here.peak is None
    model = mercer.PCA(2).fit(X[KEPT])
    new = np.delete(X, KEPT, axis=0)
    lost = np.square(new - model.inverse_transform(model.transform(new))).sum(axis=1)
    for outcome in (apart, here):
        assert_allclose(outcome.runs[0].coordinates, mercer.PCA(2).fit_transform(X), atol=1e-10)
        assert outcome.runs[0].placed is None
        assert_allclose(outcome.runs[1].coordinates, model.transform(X[KEPT]), atol=1e-10)
        assert_allclose(outcome.runs[1].placed, model.transform(new), atol=1e-10)
        assert_allclose(outcome.runs[1].residuals, lost, rtol=1e-9)


def test_the_memory_of_a_process_is_not_that_of_who_started_it(folder):
    """Linux would have it inherit the peak of its parent."""
    much = np.ones(500_000_000, dtype=np.uint8)
    outcome = fit_apart(method("pca"), folder, [], n_components=2, seed=3, n_jobs=1, budget=1e300)
    assert outcome.peak < much.nbytes


def test_another_seed_is_a_fit_to_all_rows_behind_all_others(folder):
    how = {"n_components": 2, "seed": 3, "n_jobs": 1, "here": True}
    runs = fit_apart(method("autoencoder"), folder, [folder / "split.npy"], reseeds=1, **how).runs
    assert [len(run.coordinates) for run in runs] == [50, 40, 50] and runs[2].placed is None
    again = method("autoencoder").fit(X, 2, random_state=5).coordinates  # the third seed
    assert_allclose(runs[2].coordinates, again, atol=1e-8)
    assert np.abs(runs[2].coordinates - runs[0].coordinates).max() > 1e-3


def test_a_method_that_is_over_its_budget_is_ended(folder):
    outcome = fit_apart(TSNE(n_iter=10**9), folder, [], budget=0.25)
    assert outcome.runs == []
    assert outcome.failure == "It was not done after 0.25 s, the budget of a method, and was ended."


def test_whatever_happens_the_process_is_gone(folder):
    with (
        pytest.raises(KeyboardInterrupt),
        (folder / "said").open("w+b") as said,
        _child(job(folder), said, 1) as started,
    ):
        process = started[0]
        raise KeyboardInterrupt
    assert process.poll() is not None


def test_a_process_ends_with_its_parent(folder):
    """Its standard input ends, whatever became of who held it, and so does it."""
    with (folder / "said").open("w+b") as said, _child(job(folder), said, 1) as (process, told):
        assert "loading" in told.get()  # it is at work
        process.stdin.close()
        assert told.get() is None
        assert process.wait() == 1


def test_a_death_is_told_in_a_sentence(folder):
    with (folder / "said").open("w+b") as said, _child(job(folder), said, 1) as (process, told):
        os.kill(process.pid, signal.SIGKILL)
        while told.get() is not None:
            pass
        assert "ended by the system (signal 9), as happens where memory runs out" in _death(process.wait(), said)


def test_what_was_done_within_the_budget_is_kept_and_told():
    assert _over(5.0, 2, 4) == "The budget of 5 s was over after 2 of 4 fits."


def test_a_process_that_cannot_be_started_is_a_sentence(folder, monkeypatch):
    monkeypatch.setattr("sys.executable", str(folder / "nowhere"))
    assert fit_apart(method("pca"), folder, []).failure.startswith("Its process could not be started: No such file")


def test_a_process_that_cannot_be_listened_to_is_a_sentence_and_gone(folder, monkeypatch):
    started = []

    def start(self):
        raise RuntimeError("can't start new thread")

    def popen(*args, **how):
        started.append(real(*args, **how))
        return started[-1]

    real = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", popen)
    monkeypatch.setattr("mercer_old.relatives.apart.Thread.start", start)
    outcome = fit_apart(method("pca"), folder, [])
    assert outcome.failure == "Its process could not be listened to: can't start new thread."
    assert started[0].poll() is not None


def test_the_process_finds_us_wherever_the_parent_has_found_us(monkeypatch):
    """An empty entry of the path is the folder of the parent, which the child does not look into."""
    monkeypatch.setattr("sys.path", [""])
    assert _environment(None)["PYTHONPATH"] == str(Path(mercer.__file__).resolve().parents[1])


def test_settings_may_be_numbers_of_numpy(folder):
    outcome = fit_apart(method("lle", n_neighbors=np.int64(9)), folder, [], here=True)
    assert outcome.failure == "" and len(outcome.runs) == 1


def test_failures_are_sentences(folder):
    how = {"here": True}
    assert "n_components=9 must be between" in fit_apart(method("pca", n_components=9), folder, [], **how).failure
    outcome = fit_apart(TSNE(denoise=mercer.PCA(3)), folder, [], **how)
    assert "has settings that are objects" in outcome.failure and outcome.runs == []
