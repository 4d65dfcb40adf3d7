"""`mercer stability`: a file, and how sure its components are, as the library says."""

import json
import os

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mercer
from mercer import PCA, KernelPCA
from mercer.datasets import VOC
from mercer.kernels import Spectrum
from support.branches import branch

X = np.random.default_rng(0).normal(size=(60, 4)) * [5, 2, 2, 1]


@pytest.fixture
def folder(tmp_path):
    np.save(tmp_path / "rows.npy", X)
    np.save(tmp_path / "same.npy", np.ones((9, 2)))
    np.save(tmp_path / "two.npy", X[:2])
    (tmp_path / "names.txt").write_text("\n".join(VOC) + "\n")
    return tmp_path


def run_in(folder, *words):
    words = ["mercer", "stability", *map(str, words), "--draws", "9"]
    return branch(words, {0: os.devnull}, before=lambda: os.chdir(folder))


def told(folder, *words):
    done = run_in(folder, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_is_printed_is_what_the_library_says(folder):
    assert told(folder, "rows.npy", "--seed", "3") == f"{mercer.stability(PCA(4), X, n_boot=9, random_state=3)}\n"
    kernel = mercer.stability(KernelPCA(5, kernel=Spectrum(2)), VOC, n_boot=9)
    assert told(folder, "names.txt", "--method", "kpca", "--kernel", "spectrum", "--n", "2") == f"{kernel}\n"


def test_the_table_as_json(folder):
    found = json.loads(told(folder, "rows.npy", "-d", "2", "--json"), parse_constant=pytest.fail)
    expected = mercer.stability(PCA(2), X, n_boot=9)
    assert (found["verdict"], found["n_stable"], found["draws"]) == (expected.verdict, expected.n_stable, 9)
    assert_allclose([line["variance"] for line in found["components"]], expected.variances)
    assert_allclose([line["often_below"] for line in found["components"]], np.quantile(expected.angles, 0.9, axis=0))
    assert_allclose(found["axes_low"], expected.axes_low)
    assert [line["kind"] for line in found["components"]] == ["axis", "noise"]
    of_kernel = json.loads(told(folder, "rows.npy", "--method", "kpca", "-d", "2", "--json"))
    assert of_kernel["axes"] is None


@pytest.mark.parametrize(("file", "words"), [("same.npy", "All rows look the same"), ("two.npy", "Draws of 2 rows")])
def test_rows_that_say_nothing_end_in_a_sentence(folder, file, words):
    done = run_in(folder, file)
    assert done.returncode == 3 and words in done.stderr and "Traceback" not in done.stderr
