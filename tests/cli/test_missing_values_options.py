"""`mercer fit --method ppca` and `mercer impute`: gaps are counted, said, and filled."""

import json
import os

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer import ProbabilisticPCA
from support.branches import branch, run_code

RNG = np.random.default_rng(0)
FULL = RNG.normal(size=(80, 2)) @ RNG.normal(size=(2, 4)) + 0.3 * RNG.normal(size=(80, 4))
GAPS = RNG.random(FULL.shape) < 0.15
GAPPED = np.where(GAPS, np.nan, FULL)
NAMES = [f"plant {i}" for i in range(80)]


def with_names(X):
    return pd.DataFrame(X, columns=list("abcd"))


@pytest.fixture
def folder(tmp_path):
    frame = with_names(GAPPED)
    frame.insert(0, "name", NAMES)
    frame.to_csv(tmp_path / "rows.csv", index=False, float_format="%.17g")
    frame[["name", "d", "b", "c", "a"]].to_csv(tmp_path / "turned.csv", index=False, float_format="%.17g")
    return tmp_path


def run_in(folder, *words):
    return branch(["mercer", *words], {0: os.devnull}, before=lambda: os.chdir(folder))


@pytest.mark.parametrize("gap", ["", " "], ids=["empty", "blank"])
def test_rows_without_a_label_are_compared_and_not_judged(gap, tmp_path):
    kind = np.where(FULL[:, 0] > 0, "high", "low").astype(object)
    kind[::4] = gap
    with_names(FULL).assign(kind=kind).to_csv(tmp_path / "rows.csv", index=False)
    words = ["compare", "rows.csv", "--label", "kind", "--methods", "pca", "--repeats", "0", "--here"]
    said = "20 of 80 rows have no label: methods see them"
    done = run_in(tmp_path, *words, "-o", "page.html")
    assert done.returncode == 0 and said in done.stdout, done.stderr
    assert said in (tmp_path / "page.html").read_text()
    found = json.loads(run_in(tmp_path, *words, "--json").stdout)
    assert found["rows"] == 80 and any(note.startswith(said) for note in found["notes"])
    there = np.arange(80) % 4 > 0
    labelled = mercer.compare(FULL, np.where(there, kind, None), methods=["pca"], repeats=0, apart=False)
    assert found["table"][0]["label_hit"] == pytest.approx(labelled.table[0]["label_hit"], abs=1e-12)
    shown = run_in(tmp_path, *words, "--show-code")
    assert said in run_code(shown.stdout, tmp_path).stdout


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ([], "No row has a label, and hits are left out."),
        (["low", "low"], "2 rows have the label 'low', and 78 rows none, so that label hits would say nothing."),
    ],
    ids=["nobody", "one class"],
)
def test_labels_that_say_nothing_are_left_out_with_a_word(known, words, tmp_path):
    kind = [*known, *[""] * (80 - len(known))]
    with_names(FULL).assign(kind=kind).to_csv(tmp_path / "rows.csv", index=False)
    done = run_in(tmp_path, "compare", "rows.csv", "--label", "kind", "--methods", "pca", "--repeats", "0", "--here")
    assert done.returncode == 0 and words in done.stdout, done.stdout + done.stderr


def test_a_fit_counts_gaps_and_says_how_it_went(folder):
    done = run_in(folder, "fit", "rows.csv", "--method", "ppca", "-d", "2", "--save", "m.mercer", "-o", "s.csv")
    assert done.returncode == 0, done.stderr
    count = int(GAPS.sum())
    assert f"{count} of 320 numbers are missing" in done.stderr and "missing at random" in done.stderr
    assert "expectation and maximisation on the rows with their gaps" in done.stderr
    model = mercer.load(folder / "m.mercer")
    assert isinstance(model, ProbabilisticPCA) and model.n_missing_.sum() == count
    scores = pd.read_csv(folder / "s.csv")
    assert list(scores["name"]) == NAMES
    np.testing.assert_allclose(scores.iloc[:, 1:], model.transform(with_names(GAPPED)), atol=1e-9)


def test_impute_fills_gaps_and_leaves_all_else_as_it_is(folder):
    run_in(folder, "fit", "rows.csv", "--method", "ppca", "-d", "2", "--save", "m.mercer")
    for file in ("rows.csv", "turned.csv"):  # columns are found by their names
        done = run_in(folder, "impute", "m.mercer", file, "-o", "filled.csv")
        assert done.returncode == 0, done.stderr
        assert f"gaps: {GAPS.sum()} of 320 numbers filled, in {GAPS.any(axis=1).sum()} of 80 rows" in done.stderr
        filled = pd.read_csv(folder / "filled.csv", dtype=str)
        assert list(filled["name"]) == NAMES and list(filled.columns[1:]) == list("abcd")
        values = filled.iloc[:, 1:].to_numpy().astype(float)  # by Python, to the last digit
        np.testing.assert_array_equal(values[~GAPS], FULL[~GAPS])
        expected = mercer.load(folder / "m.mercer").impute(with_names(GAPPED))
        np.testing.assert_allclose(values, expected, rtol=1e-12)
    done = run_in(folder, "impute", "m.mercer", "rows.csv", "--json", "-o", "filled.csv")
    assert json.loads(done.stdout)["filled"] == GAPS.sum()


def test_the_code_that_is_shown_does_the_same(folder):
    run_in(folder, "fit", "rows.csv", "--method", "ppca", "-d", "2", "--save", "m.mercer")
    code = run_in(folder, "impute", "m.mercer", "rows.csv", "-o", "shown.csv", "--show-code").stdout
    run_in(folder, "impute", "m.mercer", "rows.csv", "-o", "filled.csv")
    assert run_code(code, folder).returncode == 0
    assert (folder / "shown.csv").read_bytes() == (folder / "filled.csv").read_bytes()


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["fit", "rows.csv", "--method", "pca"], 3, "missing value"),
        (["fit", "rows.csv", "--method", "ppca", "-d", "0.9"], 3, "--components 0.9 looks at the variances"),
        (["fit", "rows.csv", "--method", "ppca", "-d", "9"], 2, "n_components=9|--components"),
        (["impute", "pca.mercer", "rows.csv"], 2, "says nothing of missing numbers: fit with --method ppca"),
        (["components", "rows.csv", "--method", "ppca"], 2, "complete rows"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_what_cannot_be_done_is_one_sentence(folder, words, code, says):
    mercer.PCA(2).fit(FULL).save(folder / "pca.mercer")
    done = run_in(folder, *words)
    assert done.returncode in (code, 3) and "Traceback" not in done.stderr
    last = done.stderr.strip().splitlines()[-1]
    assert any(part in last for part in says.split("|")), last
