"""`mercer inspect` and `mercer verify`: what a model file says of itself, and whether it is whole."""

import json
import os

import numpy as np
import pytest

import mercer
from mercer import KernelPCA
from support.branches import branch

X = np.random.default_rng(0).normal(size=(40, 3))


@pytest.fixture
def folder(tmp_path):
    path = KernelPCA(2, kernel="rbf", gamma=0.5).fit(X).save(tmp_path / "model.mercer", notes={"id": "name"})
    raw = bytearray(path.read_bytes())
    raw[-1] ^= 1
    (tmp_path / "damaged.mercer").write_bytes(raw)
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    return tmp_path


def run_in(folder, *words):
    return branch(["mercer", *words], {0: os.devnull}, before=lambda: os.chdir(folder))


def test_inspect_prints_what_the_library_says(folder):
    done = run_in(folder, "inspect", "model.mercer")
    assert done.returncode == 0 and done.stdout == f"{mercer.inspect(folder / 'model.mercer')}\n"
    assert "KernelPCA" in done.stdout and "RBF(gamma=0.5)" in done.stdout and '"id":"name"' in done.stdout
    done = run_in(folder, "inspect", "model.mercer", "--json")
    assert json.loads(done.stdout) == {**mercer.inspect(folder / "model.mercer"), "warnings": []}


def test_verify_says_that_a_file_is_whole(folder):
    done = run_in(folder, "verify", "model.mercer")
    assert done.returncode == 0 and done.stdout.startswith("model.mercer is whole.")


@pytest.mark.parametrize("name", ["damaged.mercer", "rows.csv", "nothing.mercer", "."])
def test_verify_exits_with_4_and_one_sentence_where_something_is_wrong(folder, name):
    done = run_in(folder, "verify", name)
    assert done.returncode == 4 and not done.stdout
    assert len(done.stderr.strip().splitlines()) == 1 and "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["rows.csv", "nothing.mercer", "."])
def test_inspect_refuses_what_is_no_model_file(folder, name):
    done = run_in(folder, "inspect", name)
    assert done.returncode == 3 and not done.stdout and len(done.stderr.strip().splitlines()) == 1
