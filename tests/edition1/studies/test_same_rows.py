"""Rows and labels as all methods of a comparison see them, and errors that count every row once."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.neighbors import KNeighborsClassifier

import mercer
from mercer.relatives import ICA, method
from mercer_old.errors import BadData, NoRoom
from mercer_old.readings.measures import Measured, label_hits, measure_pictures
from mercer_old.relatives.apart import Outcome, Run
from mercer_old.sources.held import HeldRows
from mercer_old.studies.advice import advise, ranked
from mercer_old.studies.compared import Line
from mercer_old.studies.measuring import _NEW_ROWS, Measuring, _by_row
from mercer_old.studies.same_rows import SameRows, labels_for, rows_for

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4)) * [4, 3, 1, 1]
HALF = (X[:, 0] > 0).astype(int)
ALL = np.arange(60)


def compared(rows, y=None, **how):
    return mercer.compare(rows, y, **{"methods": ["pca"], "apart": False, "repeats": 0} | how)


# ---------------------------------------------------------------------- labels


@pytest.mark.parametrize("gap", [None, np.nan, "", " "], ids=["None", "NaN", "empty", "blank"])
def test_rows_without_a_label_are_not_judged_and_have_no_vote(gap):
    y = np.where(HALF == 1, "right", "left").astype(object)
    y[::3] = gap
    there = np.flatnonzero(ALL % 3)
    labels, note = labels_for(y, 60)
    assert note.startswith("20 of 60 rows have no label: methods see them, and label hits neither judge them")
    assert labels.names == ["left", "right"] and labels.commonest == np.bincount(HALF[there]).max() / 40
    found = label_hits(X, ALL, labels.codes, 1)
    assert len(found.rows) == 40
    own = measure_pictures(X, {"same": X}, ALL, n_neighbors=1, labels=labels.codes)["same"]
    assert np.array_equal(own["label_hit"].rows, found.rows) and len(own["trustworthiness"].rows) == 60
    nearest = [np.argsort(np.linalg.norm(X - X[i], axis=1))[1] for i in there]
    assert np.array_equal(found.rows, [labels.codes[j] == labels.codes[i] for i, j in zip(there, nearest, strict=True)])
    for given in (y, y.tolist()):  # of a list with NaN numpy would make texts
        whole = compared(X, given)
        assert note in whole.notes and note in str(whole) and note in json.loads(whole.to_json())["notes"]
        assert whole.table[0]["label_hit"] is not None and whole.n_rows == 60


def test_a_vote_leaves_out_who_has_no_label():
    codes = np.where(ALL % 4 == 0, -1, HALF)
    hits = label_hits(X, ALL, codes, 59).rows  # all others are neighbours
    for i, hit in zip(np.flatnonzero(codes >= 0), hits, strict=True):
        others = np.delete(ALL, i)
        others = others[codes[others] >= 0]
        vote = KNeighborsClassifier(len(others)).fit(X[others], codes[others]).predict(X[[i]])[0]
        assert hit == (vote == codes[i])


def test_labels_of_nobody_and_of_hardly_anybody_are_left_out_with_a_word():
    assert compared(X, [None] * 60).notes == ["No row has a label, and hits are left out."]
    one = ["left", *[None] * 59]
    for y, words in (
        (["left"] * 60, "All rows have the label 'left', so that label hits would say nothing."),
        (one, "1 row has the label 'left', and 59 rows none, so that label hits would say nothing."),
        ([1.5, 2.25, *[np.nan] * 58], "y has 2 different values in 2 rows, and 58 rows none: those are no classes"),
    ):
        found = compared(X, y)
        assert found.notes[0].startswith(words) and found.table[0]["label_hit"] is None
    few = np.array([None] * 60, dtype=object)
    few[:8] = list("abababab")
    found = compared(X, few, sample=2, random_state=1)
    assert "Too few of the rows that are looked at have a label: hits are left out." in found.notes
    assert found.table[0]["label_hit"] is None and found.commonest_label is None
    assert json.loads(found.to_json())["label_hit_of_all_columns"] is None


def test_one_label_among_rows_that_are_measured_is_left_out_with_a_word():
    rows = X.copy()
    rows[:30, 0] = np.nan
    found = compared(rows, ["left"] * 30 + ["right"] * 30, methods=["ppca"])
    assert "Rows without a gap have but one label: hits are left out." in found.notes
    assert found.table[0]["label_hit"] is None


def test_numbers_are_no_classes_though_some_of_them_are_equal():
    rows, progress = load_diabetes(return_X_y=True)
    assert len(np.unique(progress)) < len(progress) / 2
    found = compared(rows, progress)
    assert "those are no classes" in found.notes[0] and found.table[0]["label_hit"] is None
    assert not any("abel" in sentence for sentence in found.advice)


# ---------------------------------------------------------------------- rows


@pytest.mark.parametrize("n", [10, 50, 150])
def test_columns_of_equal_numbers_are_not_divided_by_their_rounding(n):
    rows = np.column_stack([rng.normal(size=n), np.full(n, 0.1)])
    assert np.array_equal(rows_for(rows, True).values[:, 1], np.full(n, 0.1))


def test_rows_that_are_not_held_are_refused_before_they_are_read(monkeypatch):
    monkeypatch.setattr(HeldRows, "load", lambda self: pytest.fail("they were read"))
    with pytest.raises(NoRoom, match=r"60 rows of 4 numbers take 7\.68 kB to be compared, over the limit of 1 kB"):
        rows_for(HeldRows(X), False, 1000)


# ---------------------------------------------------------------------- numbers that JSON and clocks can hold


def test_numbers_of_numpy_and_endless_budgets_are_taken():
    found = compared(
        X,
        methods=["pca", method("lle", n_neighbors=np.int64(9)), method("kernel-pca", gamma=np.inf)],
        n_components=np.int64(2),
        repeats=np.int64(0),
        budget=np.inf,
    )
    told = json.loads(found.to_json())
    assert told["n_components"] == 2 and told["budget"] is None
    assert [row["settings"] for row in told["table"]] == [{}, {"n_neighbors": 9}, {"gamma": "inf"}]


@pytest.mark.parametrize("n_jobs", [0, 2.5, "2", True])
def test_threads_that_cannot_be_are_refused_once_and_not_by_every_method(n_jobs):
    with pytest.raises(ValueError, match="n_jobs"):
        compared(X, n_jobs=n_jobs)


def test_new_rows_that_are_placed_nowhere_are_a_line(monkeypatch):
    fit = ICA.fit

    def nowhere(self, rows, *how):
        found = fit(self, rows, *how)
        return type(found)(found.coordinates, lambda new: np.full((len(new), 2), np.nan), by=found.by)

    monkeypatch.setattr(ICA, "fit", nowhere)
    found = compared(X, methods=["ica", "pca"], repeats=1)
    assert found.table[0]["reason"] == "ICA gave coordinates that are no numbers to 12 new rows."
    assert found.table[0]["trustworthiness"] is not None and found.table[1]["new_rows"] is not None


# ---------------------------------------------------------------------- rows that were left out


def test_a_row_that_is_left_out_ten_times_is_one_row():
    values, totals = rng.uniform(size=40), rng.uniform(1, 2, size=40)
    once, often = _by_row([(ALL[:40], Measured(values))]), _by_row([(ALL[:40], Measured(values))] * 10)
    assert once.value == pytest.approx(values.mean()) and once.error == pytest.approx(Measured(values).error)
    assert often.value == pytest.approx(once.value) and often.error == pytest.approx(once.error)
    share = _by_row([(ALL[:40], Measured(values, totals))] * 10)
    assert share.error == pytest.approx(Measured(values, totals).error) and share.value == pytest.approx(
        values.sum() / totals.sum()
    )


def test_new_rows_are_drawn_from_all_that_were_left_out():
    """The first of them would be of one class, where a file is sorted."""
    n = 10 * _NEW_ROWS
    rows, kept = rng.normal(size=(n, 2)), np.arange(1, n, 2)
    measuring = Measuring.of(SameRows(rows), None, 3, 10, np.random.default_rng(0), None)
    run = Run(rows[kept], 0.0, 0.0, placed=rows[::2])
    outcome = Outcome(runs=[Run(rows, 0.0, 0.0), run])
    ((new, found),) = measuring._new_rows([outcome], [kept])[0]
    assert len(new) == len(found.rows) == _NEW_ROWS and (new % 2 == 0).all() and (np.diff(new) > 0).all()
    assert new.min() < 0.2 * n and new.max() > 0.8 * n
    again = measuring._new_rows([outcome], [kept])[0][0][0]
    assert np.array_equal(new, again)


# ---------------------------------------------------------------------- words


def line(name, measure, value, spread=0.0):
    rows = value + spread * np.random.default_rng(len(name)).normal(size=100)
    return Line(
        name=name, title=name, keeps="", assumes="", measures={measure: Measured(rows)}, coordinates=np.zeros((100, 2))
    )


def test_where_no_picture_keeps_distances_that_is_said():
    text = " ".join(advise([line("pca", "distances", 0.4), line("b", "distances", 0.2)]))
    assert "say little in any of these pictures: the best rank correlation of distances is 0.400" in text
    assert "in any of these pictures" in " ".join(advise([line("pca", "distances", 0.4), line("b", "distances", 0.4)]))
    assert "in any of" not in " ".join(advise([line("pca", "distances", 0.6), line("b", "distances", 0.2)]))


def test_what_is_uncertain_is_not_called_as_good():
    text = " ".join(advise([line("a", "new_rows", 0.9), line("bbb", "new_rows", 0.5, spread=10.0)]))
    assert "cannot be told from it" in text and "as good" not in text


def test_rounding_does_not_decide_who_is_first():
    lines = [line("a", "new_rows", 0.5), line("b", "new_rows", 0.5 + 1e-15)]
    assert [one.name for one in ranked(lines, "new_rows")] == ["a", "b"]


def test_a_column_of_labels_of_another_shape_is_refused():
    with pytest.raises(BadData, match="one label for each of 60 rows"):
        labels_for(HALF[:, None], 60)
