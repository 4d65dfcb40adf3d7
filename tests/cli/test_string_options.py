"""`mercer fit` and `mercer plan` of texts: files of lines, FASTA, columns of tables."""

import gzip
import os

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from mercer import KernelPCA, LocallyLinearEmbedding
from mercer.datasets import VOC
from mercer.kernels import GappedKmer, Mismatch, Spectrum, Subsequence, WeightedDegree
from support.branches import branch, run, run_all
from support.together import check_each

READS = [name.replace(" ", "") for name in VOC]


@pytest.fixture
def folder(tmp_path):
    """The names as lines, packed lines, records and a column."""
    (tmp_path / "names.txt").write_text("\n".join(VOC) + "\n")
    (tmp_path / "names.txt.gz").write_bytes(gzip.compress("\n".join(VOC).encode()))
    (tmp_path / "reads.fasta").write_text("".join(f">r{i} x\n{read}\n" for i, read in enumerate(READS)))
    pd.DataFrame({"age": 1.0 + np.arange(len(VOC)) % 3, "name": VOC}).to_csv(tmp_path / "table.csv", index=False)
    return tmp_path


def run_in(folder, *words, file=os.devnull):
    """`mercer …` in that folder, with a file as standard input."""
    return branch(["mercer", *map(str, words)], {0: str(file)}, before=lambda: os.chdir(folder))


def fitted(folder, *words, **how):
    """What was written, and what was said."""
    done = run_in(folder, "fit", *words, "-d", 2, "-o", folder / "scores.csv", **how)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    return pd.read_csv(folder / "scores.csv", index_col=0), done.stderr


@pytest.mark.parametrize("file", ["names.txt", "names.txt.gz"])
def test_lines_are_fitted_and_each_row_begins_with_its_text(folder, file):
    scores, said = fitted(folder, file, "--kernel", "spectrum", "--n", 3)
    assert list(scores.index) == VOC and scores.index.name == "text"
    assert_allclose(scores, KernelPCA(2, kernel=Spectrum(3)).fit_transform(VOC), atol=1e-12)
    assert said.startswith(f"{file}: 35 texts, 14 letters each on average\nplan: ") and "2 components certified" in said


def test_records_are_fitted_and_each_row_begins_with_its_name(folder):
    scores, _ = fitted(folder, "reads.fasta", "--n", 4, "--shortest", 2, "--counts", "min", "--normalize", "dice")
    assert list(scores.index) == [f"r{i}" for i in range(len(VOC))] and scores.index.name == "name"
    kernel = Spectrum(4, shortest=2, counts="min", normalize="dice")
    assert_allclose(scores, KernelPCA(2, kernel=kernel).fit_transform(READS), atol=1e-9)


def test_a_column_is_fitted_with_weights_from_another(folder):
    scores, _ = fitted(folder, "table.csv", "--text", "name", "--weights", "age")
    weights = 1.0 + np.arange(len(VOC)) % 3
    assert scores.index.name == "name"
    model = KernelPCA(2, kernel=Spectrum(3))
    assert_allclose(scores, model.fit_transform(VOC, sample_weight=weights), atol=1e-9)


def test_letters_are_turned_if_that_is_asked_for(folder):
    scores, _ = fitted(folder, "names.txt", "--case", "upper", "--by", "words", "--n", 1)
    assert list(scores.index) == VOC
    assert_allclose(scores, KernelPCA(2, kernel=Spectrum(1, by="words")).fit_transform(VOC), atol=1e-9)


@pytest.mark.parametrize(
    ("words", "kernel"),
    [
        (["subsequence", "--length", 2, "--decay", 0.7, "--up-to"], Subsequence(2, 0.7, up_to=True)),
        (["gapped_kmer", "--length", 4, "--wildcards", 1], GappedKmer(4, 1)),
        (["mismatch", "--n", 4, "--m", 1, "--alphabet", "abc"], Mismatch(4, 1, "abc")),
        (["weighted_degree", "--n", 2, "--normalize", "no"], WeightedDegree(2, normalize=False)),
    ],
    ids=str,
)
def test_other_kernels_of_texts_have_names_and_options(folder, words, kernel):
    scores, _ = fitted(folder, "names.txt", "--kernel", *words)
    assert_allclose(scores, KernelPCA(2, kernel=kernel).fit_transform(VOC), rtol=1e-6, atol=1e-9)


def test_neighbours_are_those_of_a_kernel_of_texts(folder):
    scores, _ = fitted(folder, "names.txt", "--method", "lle", "--metric", "spectrum", "--n", 1, "--neighbors", 8)
    twin = LocallyLinearEmbedding(n_neighbors=8, metric=Spectrum(1)).fit_transform(VOC)
    assert_allclose(scores, twin, atol=1e-9)


@pytest.mark.parametrize(
    ("file", "words"), [("names.txt", ["--kernel", "spectrum"]), ("table.csv", ["--text", "name"])]
)
def test_texts_come_from_standard_input(folder, file, words):
    scores, said = fitted(folder, "-", *words, file=folder / file)
    assert list(scores.index) == VOC and "standard input: 35 texts" in said


WRONG = [
    (["names.txt"], 3, "'bouvier patty' (string); the first such value is 'bouvier selma' in line 2"),
    (["names.txt"], 3, "To compare texts as they are: --kernel spectrum (of lle --metric spectrum)."),
    (["names.txt", "--method", "lle"], 3, "To compare texts as they are: --kernel spectrum (of lle --metric spec"),
    (["names.txt", "--method", "lle", "--metric", "foo"], 2, "--metric must be one of cosine, euclidean, gapped_"),
    (["names.txt", "--method", "lle", "--metric", "precomputed"], 2, "the metrics are euclidean, cosine, spectrum"),
    (
        ["names.txt", "--kernel", "spectrum", "--normalize", "foo"],
        2,
        "--kernel spectrum: --normalize must be yes, no, 'dice' or 'jaccard'; got 'foo'.",
    ),
    (["names.txt", "--kernel", "spectrum", "--n", 3, "--shortest", 4], 2, "--shortest=4 is longer than --n=3"),
    (["names.txt", "--kernel", "rbf", "--n", 3], 2, "--n is for kernels of texts: "),
    (["names.txt", "--n", 3], 2, "--n is for kernels of texts: "),
    (["reads.fasta", "--kernel", "rbf"], 2, "reads.fasta has texts, and --kernel rbf compares rows of numbers: "),
    (["table.csv", "--text", "name", "--method", "pca"], 2, "table.csv has texts, which --method pca does not"),
    (["table.csv", "--text", "nam"], 3, "table.csv has no column 'nam'; it has 'age', 'name'."),
    (["table.csv", "--kernel", "spectrum"], 3, "has 2 columns, and texts are one: 'age', 'name'. Choose by --text"),
    (
        ["names.txt", "--text", "name"],
        2,
        "--text is about columns, and names.txt has one text a line, or a record.",
    ),
    (["reads.fasta", "--weights", "w"], 2, "--weights is about columns, and reads.fasta has one text a line"),
    (["names.txt", "--kernel", "spectrum", "--no-header"], 2, "--header is about columns"),
    (["names.txt", "--kernel", "spectrum", "--drop", "a"], 2, "--drop is for rows of numbers"),
    (["names.txt", "--kernel", "spectrum", "--standardize"], 2, "--standardize is for rows of numbers"),
    (
        ["names.txt", "--kernel", "spectrum", "--gamma", 1],
        2,
        "--gamma is for kernels of rows, not for --kernel spec",
    ),
    (
        ["names.txt", "--kernel", "spectrum", "--n", 0],
        2,
        "--kernel spectrum: --n must be a whole number from 1 to 100",
    ),
    (
        ["names.txt", "--kernel", "spectrum", "--by", "x"],
        2,
        "--kernel spectrum: --by must be one of characters, graphemes, words",
    ),
    (["names.txt", "--kernel", "spectrum", "--n", "x"], 2, "'x' is not a whole number"),
    (["names.txt", "--case", "title"], 2, "--case title is neither upper nor lower."),
    (
        ["names.txt", "--kernel", "spectrum", "--decay", 0.5],
        2,
        "--decay is not for --kernel spectrum, whose",
    ),
    (["none.txt", "--kernel", "spectrum"], 3, "none.txt: there is no such file"),
    (["latin.txt", "--kernel", "spectrum"], 3, "latin.txt is not UTF-8: line 2 has"),
    (["bad.fa"], 3, "bad.fa, line 1: 'ACGT' stands before the first line that begins with"),
    (["empty.txt", "--kernel", "spectrum"], 3, "empty.txt has no texts"),
    (
        ["names.txt", "--kernel", "spectrum", "--memory", "1kB"],
        5,
        "beyond the limit of 1 kB. Give a larger --memory",
    ),
]


def test_what_cannot_be_is_one_sentence_and_an_exit_code(folder):
    (folder / "latin.txt").write_bytes(b"abc\n\xe9t\xe9\n")
    (folder / "bad.fa").write_text("ACGT\n>a\nAC\n")
    (folder / "empty.txt").write_text("")
    ends = run_all((["fit", *words] for words, _, _ in WRONG), folder)
    check_each(list(zip(WRONG, ends, strict=True)), is_one_sentence)


def is_one_sentence(case):
    (_, code, said), done = case
    assert (done.returncode, done.stdout) == (code, "")
    [sentence] = done.stderr.splitlines()
    assert sentence.startswith("mercer: ") and said in sentence


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("anna\n", "one.txt: 1 text of 4 letters\n"),
        ("anna\nbob\notto\n", "one.txt: 3 texts, 3.7 letters each on average\n"),
        ("ab\nab\n", "one.txt: 2 texts, 2 letters each on average\n"),
        ("a\nb\n", "one.txt: 2 texts, 1 letter each on average\n"),
        ("\n\n", "one.txt: 2 texts, 0 letters each on average\n"),
    ],
)
def test_how_long_texts_are_is_said_as_it_is(folder, content, said):
    (folder / "one.txt").write_text(content)
    done = run_in(folder, "fit", "one.txt", "--kernel", "spectrum", "--n", 1, "--dry-run")
    assert done.returncode == 0 and done.stderr.startswith(said)


def test_one_text_alone_is_told(folder):
    (folder / "one.txt").write_text("anna\n")
    scores, said = fitted(folder, "one.txt", "--kernel", "spectrum")
    assert scores.to_numpy().tolist() == [[0.0]]
    assert said.count("warning: There is one text alone to learn from") == 1


def test_a_gap_in_a_column_is_told_and_counts_as_an_empty_text(folder):
    (folder / "gap.csv").write_text("name,age\nhomer,1\n,2\nmarge,3\nhomers,4\n")
    scores, said = fitted(folder, "gap.csv", "--text", "name")
    assert len(scores) == 4
    assert "warning: Column 'name' of gap.csv is empty in 1 of 4 rows, first in row 1 (counted from 0)" in said


def test_a_dry_run_and_a_plan_say_what_texts_would_take(folder):
    done = run_in(folder, "fit", "names.txt", "--kernel", "spectrum", "--dry-run")
    assert done.returncode == 0 and "plan: LAPACK" in done.stderr and "certificate" not in done.stderr
    done = run("plan", "--rows", 1000, "--rows", "1e6", "--features", 8, "--kernel", "spectrum", "--n", 4)
    assert done.returncode == 0, done.stderr
    small, large = done.stdout.splitlines()
    assert small.startswith("1,000 texts: ") and large.startswith("1,000,000 texts: ")
    assert "features are never multiplied out" in large
    done = run("plan", "--rows", 1000, "--features", 8, "--n", 4)
    assert (done.returncode, done.stdout) == (2, "") and "--n is for kernels of texts" in done.stderr
