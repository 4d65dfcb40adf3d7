"""Files of every kind that go wrong: the right rows, a warning, or one clear sentence and an exit code."""

import os
import re
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mercer
from corpus.arrays import ARRAY_CASES
from corpus.tables import TABLE_CASES
from corpus.texts import TEXT_CASES
from mercer_old.errors import BadData, MercerWarning
from support.branches import refuse_raw_text, run_all
from support.together import check_each, few_dozen

CASES = [*TEXT_CASES, *ARRAY_CASES, *TABLE_CASES]


def test_there_are_many_cases_and_no_two_of_one_name():
    names = [(case.file, case.name) for case in CASES]
    assert len(names) == len(set(names)) >= 250


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """All of them, each in a folder of its own."""
    paths = []
    for case in CASES:
        paths.append(case.write(tmp_path_factory.mktemp("case")))
    return paths


def name(i):
    return f"{CASES[i].file[-8:]!a}, {CASES[i].name}"


every_case = few_dozen("cases", {"files": range(len(CASES))}, size=50)


@every_case
def test_a_file_gives_its_rows_or_one_sentence(files, cases):
    check_each(cases, lambda i: rows_or_one_sentence(CASES[i], files[i]), name)


def rows_or_one_sentence(case, path):
    if case.rows is None:
        with pytest.raises(ValueError, match=f"(?s){case.words}") as refused, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mercer.PCA(1).fit(mercer.open_rows(path, **case.options))
        assert isinstance(refused.value, BadData) or case.by_the_fit
        return
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        rows = mercer.open_rows(path, **case.options)
        assert_array_equal(rows.load(), np.asarray(case.rows, dtype=float))
    told = [str(each.message) for each in told if issubclass(each.category, MercerWarning)]
    assert bool(told) == bool(case.words) and re.search(case.words, " ".join(told))


@pytest.fixture(scope="module")
def done(files):
    """What the command line made of each."""
    if not hasattr(os, "fork"):
        pytest.skip("forks as on Unix")
    return run_all(
        ["fit", *case.arguments, "--method", "pca", "-d", 1, "--jobs", 1, "-o", scores(case, path), "--", path]
        for case, path in zip(CASES, files, strict=True)
    )


def scores(case, path):
    return path.parents[case.file.count("/")] / "scores.npy"


@every_case
def test_the_command_line_gives_scores_or_one_sentence(done, files, cases):
    check_each(cases, lambda i: scores_or_one_sentence(CASES[i], files[i], done[i]), name)


def scores_or_one_sentence(case, path, end):
    refuse_raw_text(end)
    if case.rows is None:
        assert (end.returncode, end.stdout) == (3, "")
        assert "mercer: " in end.stderr and re.search(case.words, end.stderr, re.DOTALL)
        assert not scores(case, path).exists()
    else:
        assert end.returncode == 0, end.stderr
        right = np.abs(first_scores(case.rows))
        assert_allclose(np.abs(np.load(scores(case, path))), right, atol=1e-6 * np.abs(case.rows).max())
        assert bool(case.words) <= ("warning: " in end.stderr)
    assert not [each for each in scores(case, path).parent.iterdir() if each.suffix == ".part"]


def first_scores(rows):
    """The first principal component, by a singular value decomposition."""
    X = np.asarray(rows, dtype=float)
    U, s, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    return U[:, :1] * s[0]
