"""The command line on files with names: they come out with the scores, and how a file was read can be noted."""

import json
import os

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from PIL import Image

import mercer
from mercer_old.commands.opening import Wanted
from mercer_old.errors import BadData
from support.branches import branch, run, run_code
from support.single_cell import write_h5ad

RNG = np.random.default_rng(1)
A = RNG.normal(size=(30, 3)) * [1, 2, 3]
NAMES = [f"s{i}" for i in range(30)]


def frame():
    numbers = pd.DataFrame(A, columns=list("abc"))
    return numbers.assign(name=NAMES, kind=["x", "y", "z"] * 10, day="2024-01-05")[["name", "kind", *"abc", "day"]]


@pytest.fixture
def folder(tmp_path):
    frame().to_csv(tmp_path / "t.csv", index=False)
    frame().to_csv(tmp_path / "de.csv", index=False, sep=";", decimal=",", encoding="latin-1")
    frame().to_csv(tmp_path / "t.tsv.gz", index=False, sep="\t")
    frame().to_parquet(tmp_path / "t.parquet")
    return tmp_path


def run_in(folder, *words, file=os.devnull):
    return branch(["mercer", *map(str, words)], {0: str(file)}, before=lambda: os.chdir(folder))


SAID = "--label", "kind", "--keep", "day", "--method", "pca", "-d", 2


@pytest.mark.parametrize("file", ["t.csv", "de.csv", "t.tsv.gz", "t.parquet"])
@pytest.mark.parametrize("by_input", [False, True])
def test_names_come_out_with_scores(folder, file, by_input):
    done = run_in(folder, "fit", "-" if by_input else file, *SAID, "-o", "s.csv", file=folder / file)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "reading: column 'name' names rows, whose texts are all different (--id)\n" in done.stderr
    found = pd.read_csv(folder / "s.csv")
    assert list(found.columns) == ["name", "kind", "day", "pca0", "pca1"]
    assert list(found["name"]) == NAMES and list(found["kind"]) == ["x", "y", "z"] * 10
    assert_allclose(found[["pca0", "pca1"]], mercer.PCA(2).fit_transform(A), atol=1e-9)


@pytest.mark.parametrize("method", ["pca", "kpca", "lle"])
@pytest.mark.parametrize("more", [(), ("--standardize",)])
def test_names_come_out_of_every_method(folder, method, more):
    done = run_in(folder, "fit", "t.csv", *more, *SAID, "--method", method, "-o", "s.parquet")
    assert done.returncode == 0, done.stderr
    assert list(pd.read_parquet(folder / "s.parquet")["name"]) == NAMES


def test_names_come_out_of_tables_and_of_novelty(folder):
    done = run_in(folder, "fit", "t.csv", "--table", "--id", "name", "--drop", "day", "-d", 2, "-o", "s.csv")
    assert done.returncode == 0, done.stderr
    assert list(pd.read_csv(folder / "s.csv")["name"]) == NAMES and "kind Category" in done.stderr
    done = run_in(folder, "novelty", "t.csv", "t.parquet", "--label", "kind", "--drop", "day", "-o", "n.csv")
    assert done.returncode == 0, done.stderr
    assert list(pd.read_csv(folder / "n.csv").columns) == ["name", "kind", "novelty", "p_value", "novel"]


def test_arrays_have_no_place_for_names_which_is_said(folder):
    done = run_in(folder, "fit", "t.csv", *SAID, "-o", "s.npy")
    assert done.returncode == 0 and "s.npy has numbers alone" in done.stderr
    assert np.load(folder / "s.npy").shape == (30, 2)


def test_hostile_names_are_written_as_they_are_and_shown_plain(folder):
    bad = ["=1+1", "a\nb", '"', "\x1b[31m", *NAMES[4:]]
    frame().assign(name=bad).to_csv(folder / "bad.csv", index=False)
    done = run_in(folder, "fit", "bad.csv", *SAID, "-o", "s.csv")
    assert done.returncode == 0 and "\x1b" not in done.stderr
    assert "a spreadsheet would take 1 text of it for formulas: '=1+1'" in done.stderr
    assert list(pd.read_csv(folder / "s.csv")["name"]) == bad
    done = run_in(folder, "fit", "bad.csv", "--label", "\x1b[31m")
    assert done.returncode == 3 and "\x1b" not in done.stderr


def test_single_cells_and_images_are_fitted(folder):
    write_h5ad(folder / "cells.h5ad", A.astype(np.float32), "csr_matrix")
    done = run_in(folder, "fit", "cells.h5ad", "--method", "pca", "-d", 2, "--label", "type", "-o", "out.h5ad")
    assert done.returncode == 0, done.stderr
    assert mercer.open_rows(folder / "out.h5ad", obsm="X_pca").shape == (30, 2)
    done = run_in(folder, "fit", "-", "--method", "pca", "-d", 2, file=folder / "cells.h5ad")
    assert done.returncode == 0 and done.stdout.startswith('id,pca0,pca1\n"cell0",')
    (folder / "faces").mkdir()
    for i in range(8):
        Image.fromarray(RNG.integers(0, 255, size=(6, 6), dtype=np.uint8)).save(folder / "faces" / f"{i}.png")
    done = run_in(folder, "fit", "faces", "--resize", "4x4", "--method", "pca", "-d", 2)
    assert done.returncode == 0 and "8 rows, 16 columns" in done.stderr
    assert done.stdout.startswith('file,pca0,pca1\n"0.png",')


@pytest.mark.parametrize("command", ["components", "tune"])
def test_labels_are_read_as_the_file_is(folder, command):
    done = run_in(folder, command, "de.csv", "--labels", "kind", "--drop", "day")
    assert done.returncode == 0, done.stderr
    assert "3 columns" in done.stderr


# ---------------------------------------------------------------------- notes


EVERYTHING = dict(
    columns=["a", "b"], drop=["c"], weights="w", header=False, text="t", case="upper", id="n", label="l", keep=["k"],
    transpose=True, table=True, delimiter=";", decimal=",", encoding="latin-1", format="csv", array="x", layer="raw",
    obsm="X_map", resize="8x8",
)  # fmt: skip


def test_how_a_file_was_read_can_be_noted_and_read_back():
    wanted = Wanted("old.csv", **EVERYTHING)
    assert set(EVERYTHING) == set(vars(wanted)) - {"data"}
    notes = json.loads(json.dumps(wanted.as_notes()))
    assert notes == EVERYTHING
    assert Wanted.from_notes(notes | {"version": 3}, "new.csv") == Wanted("new.csv", **EVERYTHING)
    assert Wanted("x.csv").as_notes() == {} and Wanted.from_notes({}, "x.csv") == Wanted("x.csv")


@pytest.mark.parametrize("notes", [{"columns": "a"}, {"keep": [1]}, {"header": "yes"}, {"id": 3}, {"transpose": 1}])
def test_notes_that_are_wrong_are_refused(notes):
    with pytest.raises(BadData, match="no way to read a file"):
        Wanted.from_notes(notes, "x.csv")


def test_a_number_can_be_a_label_of_a_fit_and_a_feature_can_be_one_of_a_picture(tmp_path):
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 3)), columns=list("abc")).round(6)
    table.to_csv(tmp_path / "x.csv", index=False)
    for columns in ([], ["--columns", "a,b,c"]):
        done = run("fit", tmp_path / "x.csv", "--method", "pca", "--label", "c", *columns, "-o", tmp_path / "s.csv")
        assert (
            done.returncode == 0 and "reading: 'c' is written along (--label, --keep), and so no feature" in done.stderr
        )
        assert list(pd.read_csv(tmp_path / "s.csv")) == ["c", "pca0", "pca1"]
    assert run("fit", tmp_path / "x.csv", "--method", "pca", "--save", tmp_path / "m.mercer", "-q").returncode == 0
    done = run("transform", tmp_path / "m.mercer", tmp_path / "x.csv", "--label", "c", "-o", tmp_path / "s.csv")
    found = pd.read_csv(tmp_path / "s.csv")
    assert done.returncode == 0 and "no feature" not in done.stderr and list(found) == ["c", "pca0", "pca1", "pca2"]
    assert found["c"].tolist() == table["c"].tolist()
    done = run("plot", tmp_path / "m.mercer", tmp_path / "x.csv", "--label", "c", "-o", tmp_path / "p.svg")
    assert done.returncode == 0, done.stderr


def test_weights_are_a_column_of_obs(tmp_path):
    X = np.random.default_rng(0).poisson(3.0, size=(40, 5)).astype(float)
    path = write_h5ad(tmp_path / "cells.h5ad", X)
    line = ["fit", path, "--method", "pca", "-d", "2", "--weights", "depth", "-o", tmp_path / "s.npy"]
    done = run(*line)
    assert done.returncode == 0, done.stderr
    theirs = mercer.PCA(2).fit(X, sample_weight=np.arange(40) * 1.5).transform(X)
    assert_allclose(np.load(tmp_path / "s.npy"), theirs, atol=1e-6 * np.abs(theirs).max())
    piped = run_in(tmp_path, "fit", "-", *line[2:-1], "p.npy", file=path)
    assert piped.returncode == 0, piped.stderr
    assert_allclose(np.load(tmp_path / "p.npy"), np.load(tmp_path / "s.npy"))
    shown = run(*line, "--show-code").stdout
    assert run_code(shown.replace("s.npy", "t.npy"), tmp_path).returncode == 0
    assert_allclose(np.load(tmp_path / "t.npy"), np.load(tmp_path / "s.npy"))
    for name, words in (("type", "has no numbers"), ("batch", "NaN"), ("gene1", "has no column 'gene1'")):
        done = run("fit", path, "--method", "pca", "--weights", name, "-o", tmp_path / "u.npy")
        assert done.returncode == 3 and words in done.stderr, done.stderr
