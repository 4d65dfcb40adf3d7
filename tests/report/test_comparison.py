"""A comparison as a page: all that it shows is in one record, and whatever comes from data is text."""

import json
import subprocess
import sys
from dataclasses import replace
from html import escape

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import mercer
from mercer.relatives import method
from mercer_old.errors import BadData, WrongUse
from mercer_old.readings.measures import Measured
from mercer_old.report.cloud.picture import values_of
from mercer_old.report.comparison.gathering import gathered
from mercer_old.report.comparison.page import comparison_page
from mercer_old.report.comparison.record import Compared
from mercer_old.studies.compared import MEASURES

IRIS = load_iris(as_frame=True)
X, SPECIES = IRIS.data, IRIS.target_names[IRIS.target]
HOSTILE = "<script>alert(1)</script>&\"'"


@pytest.fixture(scope="module")
def found():
    asked = ["pca", "correlation-pca", "kernel-pca", "lle", "ica", method("lle", n_neighbors=500)]
    return mercer.compare(X, SPECIES, methods=asked, repeats=2, apart=False)


def test_the_page_is_a_function_of_what_json_keeps(found):
    facts = gathered(found, X)
    kept = json.loads(json.dumps(facts.as_dict(), allow_nan=False))
    assert Compared.from_dict(kept) == facts
    assert comparison_page(Compared.from_dict(kept)) == comparison_page(facts) == found.report(X)


def test_every_number_of_the_table_is_on_the_page(found):
    page = found.report()
    measured = [line.measures[name] for line in found.lines for name in line.measures]
    assert len(measured) > 45
    for one in measured:
        value, _, error = one.in_short.partition(" ± ")
        assert value in page and (not error or f"±&nbsp;{error}" in page)
    for sentence in found.advice:
        assert sentence.split(" (")[0].replace("'", "&#x27;") in page


def test_all_measures_that_were_taken_are_shown(found):
    shown = [measure.name for measure in gathered(found).measures]
    assert shown == list(MEASURES) == found.shown
    none = replace(found, lines=[replace(line, measures={}) for line in found.lines])
    assert gathered(none).measures == () and "What each keeps" not in none.report()


def test_a_method_is_marked_where_others_are_surely_worse_and_never_where_nobody_is(found):
    spread = np.random.default_rng(0).normal(size=200)
    rows = {"PCA": 0.9 + 0.01 * spread, "ICA": 0.9005 + 0.01 * spread, "LLE": 0.8 + 0.01 * spread[::-1]}
    lines = [
        replace(line, measures={"trustworthiness": Measured(rows[line.title])})
        for line in found.lines
        if line.title in rows
    ]
    marked = {m.title: m.figures["trustworthiness"].best for m in gathered(replace(found, lines=lines)).methods}
    assert marked == {"PCA": True, "ICA": True, "LLE": False}
    even = [line for line in lines if line.title != "LLE"]
    assert not any(m.figures["trustworthiness"].best for m in gathered(replace(found, lines=even)).methods)


def test_the_maps_have_the_coordinates_of_every_method(found):
    cloud = gathered(found, X).cloud
    assert [view.name.partition(":")[0] for view in cloud.views] == list(found.coordinates)
    for view, plane in zip(cloud.views, found.coordinates.values(), strict=True):
        for axis, values in zip((cloud.axes[view.x], cloud.axes[view.y]), plane.T, strict=True):
            np.testing.assert_allclose(values_of(axis), values, atol=axis.step)
    assert [column.name for column in cloud.columns] == ["label", *X.columns]


def test_one_coordinate_is_drawn_over_the_order_it_makes():
    found = mercer.compare(X, methods=["pca"], n_components=1, repeats=0, apart=False)
    cloud = gathered(found).cloud
    across, up = (values_of(axis) for axis in cloud.axes)
    assert (np.diff(up[np.argsort(across, kind="stable")]) >= -cloud.axes[1].step).all()
    assert np.ptp(up) == pytest.approx(np.ptp(across), rel=1e-3)


def test_reasons_and_warnings_are_told(found):
    lines = [replace(found.lines[0], warnings=(HOSTILE,)), *found.lines[1:]]
    page = replace(found, lines=lines).report()
    assert "n_neighbors=500" in page and escape(found.lines[-1].reason) in page
    assert "PCA warned: &lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;&#x27;" in page
    assert "without an answer" in page


def test_without_any_answer_there_is_a_page_that_says_why(found):
    page = replace(found, lines=[found.lines[-1]], advice=[]).report()
    assert "No method has an answer" in page and 'class="map"' not in page


def test_names_values_and_labels_of_rows_are_in_the_maps(found):
    frame = X.set_axis([f"flower {i}" for i in range(150)])
    cloud = gathered(found, frame, labels={"kind": SPECIES, HOSTILE: np.arange(150)}).cloud
    assert [column.name for column in cloud.columns] == ["kind", HOSTILE, *X.columns] and cloud.color == "kind"
    assert cloud.first[0][0] == "flower 0"
    assert [column.name for column in gathered(found, X.to_numpy()).cloud.columns][1:] == ["x0", "x1", "x2", "x3"]


def test_the_page_may_be_told_what_its_rows_are_called(found):
    page = found.report(data=HOSTILE)
    assert "<h1>Which method for &lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;&#x27;?</h1>" in page
    assert HOSTILE not in page and "<h1>Which method?</h1>" in found.report()


def test_rows_of_a_file_bring_their_name_and_what_stands_beside_them(found, tmp_path):
    X.assign(species=SPECIES).to_csv(tmp_path / "flowers.csv", index=False)
    rows = mercer.open_rows(tmp_path / "flowers.csv", label="species")
    facts = gathered(found, rows)
    assert facts.title == "Which method for flowers.csv?" and facts.cloud.color == "species"
    assert any(name.startswith("sha256 of the file") for name in facts.settings)


def test_mixed_tables_show_their_cells():
    frame = X.head(40).assign(kind=["u", "v"] * 20)
    found = mercer.compare(frame, methods=["pca"], repeats=0, apart=False)
    assert [column.name for column in gathered(found, frame).cloud.columns] == list(frame.columns)
    columns = {name: frame[name].tolist() for name in frame.columns}
    assert len(gathered(found, columns).cloud.columns) == 5


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"X": X.head(20)}, "X has 20 rows, and 150 were compared"),
        ({"X": {"a": [1, 2]}}, "X has 2 rows, and 150 were compared"),
        ({"labels": SPECIES[:3]}, "one label for each of 150 rows"),
        ({"labels": "species"}, "one label for each of 150 rows"),
    ],
)
def test_other_rows_and_labels_are_refused(found, given, words):
    with pytest.raises(BadData, match=words):
        found.report(**given)


def test_the_page_is_returned_and_written_where_a_path_is_given(found, tmp_path):
    page = found.report(X, path=tmp_path / "compare.html")
    assert (tmp_path / "compare.html").read_text(encoding="utf-8") == page
    with pytest.raises(WrongUse, match="a comparison is a page"):
        found.report(path=tmp_path / "compare.txt")


@pytest.mark.slow
def test_no_library_of_pictures_is_loaded_for_the_page():
    """As for the page of a model, in test_report_chapters.py."""
    code = (
        "import sys, numpy as np, mercer\n"
        "X = np.random.default_rng(0).normal(size=(30, 3))\n"
        "mercer.compare(X, methods=['pca', 'lle'], repeats=0, apart=False).report(X)\n"
        "sys.exit('matplotlib' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_many_rows_keep_the_page_small():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(10_000, 6)))
    found = mercer.compare(rows, methods=["pca", "correlation-pca", "ppca"], repeats=0, sample=50, apart=False)
    page = found.report(rows)
    assert len(page) < 1_200_000 and page.count('<image width="360"') == 3
