"""`mercer fit` of mixed tables: columns of all kinds, by the rule of `TableKernel.auto`."""

import os

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from mercer import KernelPCA
from mercer.kernels import TableKernel
from support.branches import branch, run_all
from support.together import check_each

BY = "--kernel", "table"


def frame(n=60):
    rng = np.random.default_rng(0)
    color = rng.choice(["red", "green", None], size=n)
    return pd.DataFrame({"mass": rng.normal(size=n), "color": color, "id": np.arange(n), "w": 1.0 + np.arange(n) % 3})


@pytest.fixture
def folder(tmp_path):
    frame().to_csv(tmp_path / "table.csv", index=False)
    frame().to_parquet(tmp_path / "table.parquet")
    return tmp_path


def run_in(folder, *words, file=os.devnull):
    return branch(["mercer", *map(str, words)], {0: str(file)}, before=lambda: os.chdir(folder))


@pytest.mark.parametrize("file", ["table.csv", "table.parquet", "-"])
def test_tables_are_fitted_by_the_rule_which_is_told(folder, file):
    words = "fit", file, "--kernel", "table", "-d", 2, "--drop", "w", "-o", "scores.csv"
    done = run_in(folder, *words, file=folder / "table.csv")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "columns: mass Numeric, color Category\n" in done.stderr and "2 components certified" in done.stderr
    assert done.stderr.count("Column 'id' numbers the rows; it is left out.") == 1
    table = frame()[["mass", "color"]]
    scores = KernelPCA(2, kernel=TableKernel()).fit_transform(table)
    assert_allclose(pd.read_csv(folder / "scores.csv"), scores, atol=1e-9)


def test_a_column_of_weights_is_not_compared(folder):
    words = "fit", "table.csv", "--kernel", "table", "-d", 1, "--columns", "mass,color", "--weights", "w"
    done = run_in(folder, *words, "-o", "scores.csv")
    assert done.returncode == 0, done.stderr
    model = KernelPCA(1, kernel="table")
    scores = model.fit_transform(frame()[["mass", "color"]], sample_weight=frame()["w"])
    assert_allclose(pd.read_csv(folder / "scores.csv"), scores, atol=1e-9)


WRONG = [
    (
        ["fit", "table.csv", "--kernel", "table", "--drop", "size"],
        3,
        "table.csv has no column 'size'; it has 'mass'",
    ),
    (["fit", "table.csv", *BY, "--n", 3], 2, "--n is not for --kernel table, which has none."),
    (
        ["fit", "table.csv", "--kernel", "table", "--gamma", 3],
        2,
        "--gamma is for kernels of rows, not for --kernel",
    ),
    (["fit", "table.csv", *BY, "--standardize"], 2, "--standardize is not for tables"),
    (["fit", "table.csv", *BY, "--no-header"], 2, "whose columns need names"),
    (["fit", "table.csv", *BY, "--text", "color"], 2, "--kernel table compares whole tables"),
    (
        ["fit", "table.csv", "--kernel", "table", "--columns", "id"],
        3,
        "No column of table.csv tells rows apart: 'id' numbers",
    ),
    (["fit", "nothing.csv", *BY], 3, "nothing.csv: there is no such file"),
    (
        ["fit", "table.npy", "--kernel", "table"],
        3,
        "a table is read from a .csv, .tsv, .parquet, .arrow or .feather",
    ),
    (["plan", "--rows", 9, "--features", 2, "--kernel", "table"], 2, "mercer fit FILE --kernel table --dry-run"),
]


def test_what_is_wrong_is_one_sentence_and_an_exit_code(folder):
    np.save(folder / "table.npy", np.ones((3, 2)))
    ends = run_all((words for words, _, _ in WRONG), folder)
    check_each(list(zip(WRONG, ends, strict=True)), is_one_sentence)


def is_one_sentence(case):
    (_, code, told), done = case
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    assert told in done.stderr and "Traceback" not in done.stderr
