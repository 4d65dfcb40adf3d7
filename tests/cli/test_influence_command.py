"""`mercer influence`: a file, and what drives the components of it, as the library says."""

import json
import os

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from mercer import PCA, KernelPCA, clusters, influence
from mercer.datasets import VOC, three_clusters
from mercer.kernels import Spectrum
from support.branches import branch

rng = np.random.default_rng(0)
ROWS = pd.DataFrame(rng.normal(size=(80, 3)).round(6) * [1, 50, 0.1], columns=["a", "b", "c"])


@pytest.fixture
def folder(tmp_path):
    ROWS.to_csv(tmp_path / "rows.csv", index=False)
    np.save(tmp_path / "three.npy", three_clusters(30)[0])
    (tmp_path / "names.txt").write_text("\n".join(VOC) + "\n")
    return tmp_path


def run_in(folder, *words, file=os.devnull):
    return branch(["mercer", "influence", *map(str, words)], {0: str(file)}, before=lambda: os.chdir(folder))


def told(folder, *words, **how):
    done = run_in(folder, *words, **how)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_is_printed_is_what_the_library_says(folder):
    model = KernelPCA(2, kernel="rbf", gamma=0.3, standardize=True).fit(ROWS)
    words = ("--standardize", "--gamma", "0.3", "-d", "2")
    assert told(folder, "rows.csv", *words) == f"{influence(model)}\n"
    assert told(folder, "-", *words, file=folder / "rows.csv") == f"{influence(model)}\n"


def test_the_table_as_json(folder):
    found = json.loads(told(folder, "rows.csv", "--method", "pca", "--standardize", "--json"))
    expected = influence(PCA(3, standardize=True).fit(ROWS), ROWS)
    assert found["rows"] == 80
    assert found["table"]["feature"][:3] == ["a", "a", "a"]
    assert_allclose(np.reshape(found["table"]["influence"], (3, 3)), expected.values, rtol=1e-9)


def test_grams_of_texts(folder):
    said = told(folder, "names.txt", "--kernel", "spectrum", "--n", "3", "-d", "2")
    assert said == f"{influence(KernelPCA(2, kernel=Spectrum(3)).fit(VOC))}\n"
    assert said.startswith("Influence over 35 texts")


def test_landmarks_are_read_at_all_rows(folder):
    said = told(folder, "rows.csv", "--landmarks", "20", "--standardize", "-d", "2")
    assert said.startswith("Influence over 80 rows")


def test_clusters_are_told_if_asked_for(folder):
    words = ("three.npy", "--gamma", "10", "-d", "8", "--clusters")
    found = clusters(KernelPCA(8, kernel="rbf", gamma=10.0).fit(three_clusters(30)[0]))
    assert told(folder, *words).endswith(f"{found}\n")
    assert json.loads(told(folder, *words, "--json"))["clusters"]["n_clusters"] == 3


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["rows.csv", "--method", "lle"], 2, "no component functions"),
        (["rows.csv", "--kernel", "precomputed"], 2, "a file holds rows"),
        (["names.txt", "--kernel", "weighted_degree"], 3, "columns of texts are grams"),
        (["missing.csv"], 3, "missing.csv"),
        (["rows.csv", "-d", "x"], 2, "neither a whole number"),
    ],
)
def test_what_cannot_be_read_ends_in_a_sentence(folder, words, code, message):
    done = run_in(folder, *words)
    assert done.returncode == code
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
