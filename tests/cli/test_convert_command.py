"""`mercer convert`: a model file, perhaps a file of rows, and files that other programs read."""

import os
import re

import numpy as np
import onnxruntime
import pandas as pd
import pytest

import mercer
from mercer import PCA, KernelPCA
from mercer.kernels import RBF, Spectrum, TableKernel
from support.branches import branch, run_all
from support.together import check_each

rng = np.random.default_rng(0)
ROWS = pd.DataFrame(rng.normal(size=(30, 3)).round(6), columns=["a", "b", "c"])
WORDS = ["anna", "hanna", "otto", "ottilie", "anton", "antonia"]


@pytest.fixture
def folder(tmp_path):
    named = ROWS.assign(who=[f"w{i}" for i in range(len(ROWS))], weight=1.5)
    named.to_csv(tmp_path / "rows.csv", index=False)
    (tmp_path / "words.txt").write_text("\n".join(WORDS) + "\n")
    mercer.save(PCA(2).fit(ROWS), tmp_path / "pca.mercer", notes={"drop": ["weight"], "id": "who", "other": 1})
    mercer.save(KernelPCA(2, kernel=RBF(gamma=0.2)).fit(ROWS), tmp_path / "kernel.mercer")
    mercer.save(KernelPCA(2, kernel=Spectrum(2)).fit(WORDS), tmp_path / "words.mercer")
    return tmp_path


def run_in(folder, *words, file=os.devnull):
    return branch(["mercer", "convert", *map(str, words)], {0: str(file)}, before=lambda: os.chdir(folder))


def converted(folder, *words, **how):
    """What was said; nothing goes to standard output."""
    done = run_in(folder, *words, **how)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    return done.stderr


def test_a_model_becomes_onnx(folder):
    said = converted(folder, "pca.mercer", "-o", "pca.onnx", "--dtype", "float64")
    assert "Wrote pca.onnx" in said and "float64" in said
    session = onnxruntime.InferenceSession(folder / "pca.onnx", providers=["CPUExecutionProvider"])
    found = session.run(None, {"X": ROWS.to_numpy()})[0]
    np.testing.assert_allclose(found, PCA(2).fit_transform(ROWS), atol=1e-12)


def test_rows_are_read_as_those_of_the_fit_and_called_by_their_names(folder):
    said = converted(folder, "pca.mercer", "rows.csv", "--to", "plink", "-o", "study")
    table = pd.read_csv(folder / "study.eigenvec", sep="\t")
    assert list(table.columns) == ["#IID", "PC1", "PC2"] and table["#IID"][3] == "w3"
    assert "length one" in said and "rows.csv: 30 rows, 3 columns" in said
    values = np.loadtxt(folder / "study.eigenval")
    np.testing.assert_allclose(table.iloc[:, 1:] * np.sqrt(values), PCA(2).fit_transform(ROWS), atol=1e-9)


def test_what_is_typed_counts_more_than_what_was_noted(folder):
    named = pd.read_csv(folder / "rows.csv").assign(code=[f"c{i}" for i in range(len(ROWS))])
    named.to_csv(folder / "coded.csv", index=False)
    converted(folder, "pca.mercer", "coded.csv", "--to", "plink", "-o", "s", "--id", "code", "--columns", "a,b,c")
    assert pd.read_csv(folder / "s.eigenvec", sep="\t")["#IID"][3] == "c3"


def test_scores_of_standard_input(folder):
    said = converted(folder, "pca.mercer", "-", "--to", "flashpca", "-o", "new", "--scores", file=folder / "rows.csv")
    table = pd.read_csv(folder / "new.pcs.txt", sep="\t")
    np.testing.assert_allclose(table[["PC1", "PC2"]], PCA(2).fit_transform(ROWS), atol=1e-9)
    assert "standard input: 30 rows" in said and not (folder / "new.eigenvectors.txt").exists()


def test_kernel_models_need_no_rows_and_texts_are_read_as_texts(folder):
    assert "by their numbers" in converted(folder, "kernel.mercer", "--to", "plink", "-o", "k")
    converted(folder, "words.mercer", "words.txt", "--to", "plink", "-o", "w")
    assert pd.read_csv(folder / "w.eigenvec", sep="\t")["#IID"].tolist() == WORDS


def test_tables_are_compared_by_the_kernel_of_the_fit(folder):
    frame = pd.DataFrame({"kind": ["x", "y", "z"] * 6, "size": rng.normal(size=18).round(3)})
    frame.to_csv(folder / "mixed.csv", index=False)
    model = KernelPCA(2, kernel=TableKernel.auto(frame)).fit(frame)
    mercer.save(model, folder / "mixed.mercer")
    converted(folder, "mixed.mercer", "mixed.csv", "--to", "plink", "-o", "m", "--scores")
    table = pd.read_csv(folder / "m.eigenvec", sep="\t")
    np.testing.assert_allclose(table.iloc[:, 1:], model.transform(frame), atol=1e-9)


@pytest.mark.parametrize("ending", ["csv", "npz"])
def test_fitted_names_become_tables(ending, folder):
    assert "Wrote" in converted(folder, "pca.mercer", "-o", f"m.{ending}")


WRONG = [
    (["pca.mercer", "--to", "onnx", "-o", "pca.mercer"], 2, "is the file of the model"),
    (["pca.mercer", "--to", "plink", "-o", "s"], 2, "DATA on the command line"),
    (["pca.mercer", "-o", "s.onnx", "--id", "who"], 2, "--id is about a file of rows"),
    (["pca.mercer", "rows.csv", "-o", "s.onnx"], 2, "onnx takes no rows"),
    (["pca.mercer", "-o", "s.xyz"], 2, "does not say which format"),
    (["pca.mercer", "-o", "s", "--to", "xyz"], 2, "no format 'xyz'"),
    (["pca.mercer", "-o", ".", "--to", "csv"], 2, "is a folder"),
    (["pca.mercer", "-o", "nowhere/s.onnx"], 5, "Cannot write"),
    (["words.mercer", "-o", "s.onnx"], 2, "compares texts"),
    (["none.mercer", "-o", "s.onnx"], 3, "no such file"),
    (["rows.csv", "-o", "s.onnx"], 3, "no model file"),
    (["pca.mercer"], 2, "--out"),
    (["pca.mercer", "rows.csv", "--to", "plink", "-o", "s", "--columns", "a,b"], 3, "features|columns"),
]


def test_what_cannot_be_is_one_sentence_and_an_exit_code_and_leaves_no_file(folder):
    before = set(folder.iterdir())
    ends = run_all((["convert", *words] for words, _, _ in WRONG), folder)
    assert set(folder.iterdir()) == before
    check_each(list(zip(WRONG, ends, strict=True)), is_one_sentence)


def is_one_sentence(case):
    (_, code, sentence), done = case
    assert done.returncode == code, done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith("mercer: ") and "Traceback" not in done.stderr
    assert re.search(sentence, last), last
