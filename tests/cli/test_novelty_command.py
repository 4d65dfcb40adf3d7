"""`mercer novelty`: a file of usual rows, a file to look at, and verdicts with the p-values of the library."""

import os
import shlex

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from mercer import PCA, KernelPCA, NoveltyDetector
from mercer.kernels import Spectrum
from support.branches import branch

rng = np.random.default_rng(0)
USUAL = pd.DataFrame(rng.normal(size=(200, 3)).round(6), columns=["a", "b", "c"])
NEW = pd.DataFrame(np.vstack([rng.normal(size=(6, 3)), [[9.0, -9.0, 9.0]]]).round(6), columns=["a", "b", "c"])
NAMES = [f"{first} {last}" for first in ("ned", "rod", "todd", "maude") for last in ("flanders", "simpson")] * 6


@pytest.fixture
def folder(tmp_path):
    USUAL.to_csv(tmp_path / "usual.csv", index=False)
    NEW.to_csv(tmp_path / "new.csv", index=False)
    (tmp_path / "names.txt").write_text("\n".join(NAMES) + "\n")
    (tmp_path / "odd.txt").write_text("rod flanders\nqzzx wvvk\n")
    return tmp_path


def run_in(folder, *words, file=os.devnull):
    return branch(["mercer", "novelty", *map(str, words)], {0: str(file)}, before=lambda: os.chdir(folder))


def looked(folder, *words, **how):
    """What was written, and what was said."""
    done = run_in(folder, *words, "-o", "verdicts.csv", **how)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    return pd.read_csv(folder / "verdicts.csv"), done.stderr


def test_verdicts_are_those_of_the_library(folder):
    found, said = looked(folder, "usual.csv", "new.csv")
    detector = NoveltyDetector().fit(USUAL)
    assert list(found.columns) == ["novelty", "p_value", "novel"]
    assert_allclose(found["novelty"], -detector.score_samples(NEW), rtol=1e-9)
    assert_allclose(found["p_value"], detector.p_values(NEW), rtol=1e-12)
    assert np.array_equal(found["novel"] == 1, detector.predict(NEW) == -1)
    assert "usual.csv: 200 rows, 3 columns" in said and "50 rows held out for calibration" in said
    assert f"novel: {int(found['novel'].sum())} of 7 rows" in said and "verdicts: verdicts.csv" in said


def test_every_option_arrives(folder):
    words = shlex.split(
        "--method pca -d 2 --statistic t2q --alpha 0.2 --calibration 60 --trim 0.1 --seed 3 --standardize"
    )
    found, said = looked(folder, "usual.csv", "new.csv", *words)
    detector = NoveltyDetector(
        PCA(2, standardize=True, random_state=3), statistic="t2q", alpha=0.2, calibration=60, trim=0.1, random_state=3
    ).fit(USUAL)
    assert_allclose(found["novelty"], -detector.score_samples(NEW), rtol=1e-9)
    assert np.array_equal(found["novel"] == 1, detector.predict(NEW) == -1)
    assert "60 rows held out" in said and "0.2 would be" in said


def test_discoveries_are_chosen_all_together(folder):
    found, said = looked(folder, "usual.csv", "new.csv", "--fdr", "0.3")
    assert np.array_equal(found["novel"] == 1, NoveltyDetector().fit(USUAL).select(NEW, fdr=0.3))
    assert "at most 0.3 of them are expected to be usual" in said


def test_texts_keep_their_names(folder):
    found, _ = looked(folder, "names.txt", "odd.txt", "--kernel", "spectrum", "--n", "2")
    assert list(found["text"]) == ["rod flanders", "qzzx wvvk"]
    detector = NoveltyDetector(KernelPCA(0.5, kernel=Spectrum(2))).fit(NAMES)
    assert_allclose(found["novelty"], -detector.score_samples(["rod flanders", "qzzx wvvk"]), rtol=1e-9)
    assert list(found["novel"]) == [0, 1]


def test_tables_of_all_kinds_of_columns_are_looked_at(folder):
    kinds = ["x", "y"] * 100
    USUAL.assign(kind=kinds).to_csv(folder / "mixed.csv", index=False)
    NEW.assign(kind=[*kinds[:6], "z"]).to_csv(folder / "new_mixed.csv", index=False)
    found, _ = looked(folder, "mixed.csv", "new_mixed.csv", "--kernel", "table")
    assert found["novel"].iloc[-1] == 1 and found["p_value"].between(0, 1).all()


def test_either_file_can_be_standard_input_and_verdicts_go_to_standard_output(folder):
    done = run_in(folder, "usual.csv", "-", file=folder / "new.csv")
    other = run_in(folder, "-", "new.csv", file=folder / "usual.csv")
    assert done.returncode == other.returncode == 0, done.stderr
    assert done.stdout == other.stdout and done.stdout.startswith("novelty,p_value,novel\n")
    assert "standard input: 7 rows" in done.stderr and "standard input: 200 rows" in other.stderr


def test_warnings_are_lines_in_the_words_of_the_command(folder):
    _, said = looked(folder, "usual.csv", "new.csv", "--alpha", "0.001")
    assert "warning: --alpha 0.001 takes at least 999 calibration rows, and there are 50" in said


WRONG = {
    "both from standard input": (["-", "-"], 2, "not both"),
    "no such method": (["usual.csv", "new.csv", "--method", "lle"], 2, "kpca and pca have one"),
    "no such statistic": (["usual.csv", "new.csv", "--statistic", "f"], 2, "--statistic must be one of lecture"),
    "alpha of two": (["usual.csv", "new.csv", "--alpha", "2"], 2, "--alpha must be a number"),
    "no rate": (["usual.csv", "new.csv", "--fdr", "0"], 2, "--fdr 0 is no share between 0 and 1"),
    "a matrix": (["usual.csv", "new.csv", "--kernel", "precomputed"], 2, "name a kernel"),
    "whitened": (["usual.csv", "new.csv", "--neighbors", "3"], 2, "o such option"),
    "F of PCA": (["usual.csv", "new.csv", "--method", "pca", "--statistic", "lecture"], 3, "is for KernelPCA"),
    "over the rows": (["usual.csv", "new.csv", "-o", "new.csv"], 2, "rows are read from"),
    "over the other rows": (["usual.csv", "new.csv", "-o", "usual.csv"], 2, "rows are read from"),
    "missing": (["usual.csv", "nowhere.csv"], 3, "nowhere.csv: there is no such file"),
    "texts": (["usual.csv", "names.txt"], 3, "names.txt has no column 'a', 'b', 'c'"),
    "other columns": (["usual.csv", "two.csv"], 3, "two.csv lacks 1 column of the model: 'c'"),
    "too few": (["new.csv", "usual.csv", "--calibration", "6"], 3, "leaves 1 to learn from"),
    "a gap": (["usual.csv", "gap.csv"], 3, "gap.csv"),
}


def test_columns_are_found_by_their_names_as_a_detector_that_was_kept_finds_them(folder):
    NEW.assign(more=1.0, note="x")[["more", "c", "note", "b", "a"]].to_csv(folder / "turned.csv", index=False)
    there, _ = looked(folder, "usual.csv", "new.csv", "--save", str(folder / "d.mercer"))
    found, said = looked(folder, "usual.csv", "turned.csv")
    again, _ = looked(folder, "d.mercer", "turned.csv")
    assert found.equals(there) and again.equals(there)
    assert "put into the order of the model" in said and "'more', 'note' are left out" in said


def test_without_names_columns_are_counted(folder):
    np.save(folder / "usual.npy", USUAL.to_numpy())
    np.save(folder / "two.npy", NEW.to_numpy()[:, :2])
    done = run_in(folder, "usual.npy", "two.npy")
    assert done.returncode == 3 and "two.npy has 2 columns, and usual.npy 3" in done.stderr


def test_files_with_other_columns_are_refused_before_the_work(folder):
    NEW[["a", "b"]].to_csv(folder / "two.csv", index=False)
    assert "held out" not in run_in(folder, "usual.csv", "two.csv").stderr


@pytest.mark.parametrize(("words", "code", "what"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_told_in_a_sentence_and_nothing_is_written(folder, words, code, what):
    NEW[["a", "b"]].to_csv(folder / "two.csv", index=False)
    NEW.replace(9.0, np.nan).to_csv(folder / "gap.csv", index=False)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    done = run_in(folder, *words)
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("mercer: ") and what in last and "Traceback" not in done.stderr
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
