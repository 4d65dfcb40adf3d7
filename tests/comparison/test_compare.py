"""Methods side by side: the same rows, numbers with errors, reasons for what is not there, advice that follows."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn import manifold
from sklearn.datasets import load_iris

import mercer
from mercer.datasets import rings
from mercer.relatives import ICA, METHODS, TSNE, method
from mercer_old.displays.canvas import as_bytes
from mercer_old.displays.comparison import ComparisonDisplay
from mercer_old.errors import BadData, NoRoom
from mercer_old.readings.measures import Measured
from mercer_old.studies.advice import advise, alike, ranked
from mercer_old.studies.compared import MEASURES, Comparison, Line

rng = np.random.default_rng(0)
X, SPECIES = load_iris(return_X_y=True)
X = X + 1e-5 * rng.normal(size=X.shape)  # without ties, which everybody breaks in another way
NAMES = load_iris().target_names[SPECIES]


def compared(rows, y=None, *, methods=("pca",), **how):
    """In this process, which is quicker."""
    return mercer.compare(rows, y, methods=list(methods), **{"apart": False, "repeats": 0} | how)


@pytest.fixture(scope="module")
def found():
    return compared(X, NAMES, methods=["pca", "kernel-pca", "lle", "ica"], repeats=2)


def test_every_method_has_a_line_in_the_order_in_which_it_was_asked_for(found):
    assert [row["method"] for row in found.table] == ["pca", "kernel-pca", "lle", "ica"]
    for row in found.table:
        assert (
            row["done"] and row["reason"] == "" and row["fits"] == 3 + (row["method"] == "ica") and row["seconds"] > 0
        )
        for name in ("trustworthiness", "continuity", "lcmc", "distances", "label_hit", "new_rows", "moved"):
            assert np.isfinite([row[name], row[f"{name}_error"]]).all()
        assert (row["reconstruction_error"] is not None) == row["goes_back"]


def test_the_numbers_are_those_of_the_pictures(found):
    for title, Y in found.coordinates.items():
        row = next(row for row in found.table if row["title"] == title)
        assert row["trustworthiness"] == pytest.approx(manifold.trustworthiness(X, Y, n_neighbors=10), rel=1e-9)
        assert row["continuity"] == pytest.approx(mercer.continuity(X, Y, n_neighbors=10), rel=1e-9)
    assert np.allclose(found.coordinates["PCA"], mercer.PCA(2).fit_transform(X))


def test_what_pca_loses_of_new_rows_is_about_what_it_leaves_unexplained(found):
    row = found.table[0]
    left = 1 - mercer.PCA(2).fit(X).explained_variance_ratio_.sum()
    assert abs(row["reconstruction_error"] - left) < 4 * row["reconstruction_error_error"] + 0.2 * left
    assert row["moved"] < 0.01  # iris without a fifth has the same plane


def test_another_seed_changes_only_methods_that_draw(found):
    for row in found.table[:3]:
        assert row["reseeded"] == 0
    again = method("ica").fit(X, 2, random_state=found.seed + 3).coordinates  # behind the fit and two repeats
    one, other = ((Y - Y.mean(axis=0)) / np.linalg.norm(Y - Y.mean(axis=0)) for Y in (found.coordinates["ICA"], again))
    off = 1 - np.linalg.svd(one.T @ other, compute_uv=False).sum() ** 2
    assert found.table[3]["reseeded"] == pytest.approx(off, abs=1e-9)
    assert compared(X, methods=["pca", "ica"]).table[1]["reseeded"] is None  # nothing is repeated


def test_divided_columns_have_one_pca_of_two():
    from mercer_old.studies.comparison import _methods

    assert "correlation-pca" in [each.name for each in _methods(None)]
    assert "correlation-pca" not in [each.name for each in _methods(None, standardize=True)]
    units = X * [1, 1000, 1, 1]
    plain, own = compared(units, methods=["pca", "correlation-pca"], repeats=1).lines
    scaled = (units - units.mean(axis=0)) / units.std(axis=0)
    truth = manifold.trustworthiness(units, mercer.PCA(2).fit_transform(scaled), n_neighbors=10)
    assert own.measures["trustworthiness"].value == pytest.approx(truth, rel=1e-9)
    lost = [line.measures["reconstruction_error"].value for line in (plain, own)]
    assert lost[0] < 1e-5 < lost[1] < 1  # in the units of the columns, where one is everything


def test_json_goes_there_and_back(found):
    told = found.to_dict()
    assert json.loads(json.dumps(told, allow_nan=False)) == told == json.loads(found.to_json())
    assert set(MEASURES) <= set(told["table"][0])
    assert told["rows"] == 150 and told["label_hit_of_all_columns"] > 0.9


def test_words_have_the_numbers_of_the_table(found):
    text = str(found)
    assert text.splitlines()[0].split()[:4] == ["method", "seconds", "CPU", "memory"]
    assert f"{found.table[0]['trustworthiness']:.3f} ± " in text
    assert all(sentence in text for sentence in found.advice) and "150 rows of 4 columns" in text


def test_the_same_seed_gives_the_same_numbers(found):
    again = compared(X, NAMES, methods=["pca", "kernel-pca", "lle", "ica"], repeats=2)
    clocks = "seconds", "cpu_seconds", "loading_seconds"
    first, second = ([{**row, **dict.fromkeys(clocks)} for row in one.table] for one in (found, again))
    assert first == second
    other = compared(X, NAMES, methods=["pca"], repeats=2, random_state=7)
    assert other.table[0]["new_rows"] != found.table[0]["new_rows"]


def test_pictures_are_drawn_side_by_side(found):
    display = found.plot(theme="dark")
    titles = [ax.get_title(loc="left") for ax in display.ax_.flat]
    assert [title.partition("\n")[0] for title in titles] == list(found.coordinates)
    assert f"trust {found.table[0]['trustworthiness']:.2f}" in titles[0]
    assert len(display.figure_.legends[0].get_texts()) == 3
    with pytest.raises(BadData, match="No method has a picture"):
        replace(found, lines=[]).plot()


def test_names_of_methods_and_labels_are_drawn_as_they_are():
    names = ["$\\frac{1}{0}$", "_x"]
    display = ComparisonDisplay({names[0]: X[:, :2]}, y=np.array(names)[SPECIES % 2]).plot()
    assert display.ax_.flat[0].get_title(loc="left").startswith("\\$\\frac{1}{0}\\$")
    assert as_bytes(display.figure_, "png", 20)
    assert len(display.figure_.legends[0].get_texts()) == 2


def test_one_coordinate_is_drawn_too():
    display = compared(X, methods=["pca"], n_components=1).plot()
    assert len(display.ax_.flat[0].collections[0].get_offsets()) == 150


# ---------------------------------------------------------------------- what cannot be, is a line


def test_a_method_that_fails_is_a_line_and_the_others_are_compared(monkeypatch):
    found = compared(X, methods=["pca", method("lle", n_neighbors=500), method("pca", n_components=9)])
    assert [row["done"] for row in found.table] == [True, False, False]
    assert "n_neighbors" in found.table[1]["reason"] and "n_components=9" in found.table[2]["reason"]
    assert found.table[1]["trustworthiness"] is None and "LLE (n_neighbors=500): " in str(found)


def test_a_library_that_is_not_installed_is_a_line(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "umap", None)
    found = compared(X, methods=["umap", "pca"])
    assert found.table[0]["reason"].endswith('Try: pip install "mercer[relatives]"') and found.table[1]["done"]


def test_a_method_over_its_budget_is_a_line():
    found = compared(X, methods=[TSNE(n_iter=10**9)], apart=True, budget=0.25)
    assert "not done after 0.25 s" in found.table[0]["reason"] and found.advice == []
    assert "not done after 0.25 s" in str(found)


def test_gaps_are_for_methods_that_take_them(monkeypatch):
    holes = X.copy()
    holes[[3, 70], [0, 2]] = np.nan
    found = compared(holes, methods=["pca", "ica"])
    for row in found.table:
        assert row["done"] or row["reason"] == "X has 2 gaps (NaN), which it does not take: fill them in first."
    assert not found.table[1]["done"]

    def fit(self, rows, n_components=2, random_state=0, n_jobs=None):
        def filled(new):
            return np.where(np.isnan(new), np.nanmean(rows, axis=0), new)

        own = method("pca").fit(filled(rows), n_components)
        return replace(own, transform=lambda new: own.transform(filled(new)))

    monkeypatch.setattr(ICA, "takes_gaps", True)
    monkeypatch.setattr(ICA, "fit", fit)
    found = compared(holes, SPECIES, methods=["ica"], repeats=1)
    assert found.table[0]["done"] and "measured on the 148 without a gap;" in found.about
    whole = np.flatnonzero(~np.isnan(holes).any(axis=1))
    truth = manifold.trustworthiness(holes[whole], found.coordinates["ICA"][whole], n_neighbors=10)
    assert found.table[0]["trustworthiness"] == pytest.approx(truth, rel=1e-9)
    assert found.table[0]["reason"] == "" and 0 < found.table[0]["reconstruction_error"] < 0.1


# ---------------------------------------------------------------------- what comes in


def test_a_mixed_table_is_compared_by_the_features_of_its_kernel():
    frame = pd.DataFrame(X[:60], columns=list("abcd")).assign(kind=list("xyz") * 20)
    frame.loc[3, "a"] = np.nan
    found = compared(frame, methods=["pca"])
    kernel = mercer.KernelPCA(2, kernel="table").fit(frame)
    assert np.allclose(np.abs(found.coordinates["PCA"]), np.abs(kernel.transform(frame)), atol=1e-8)
    assert "5 columns of a table became" in found.notes[0]
    numbers = compared(frame[list("bcd")], methods=["pca"])
    assert numbers.n_columns == 3 and numbers.notes == []


def test_standardized_rows_are_those_that_methods_and_measures_see():
    units = X * [1, 1000, 1, 1]
    found = compared(units, methods=["pca"], standardize=True)
    scaled = units / units.std(axis=0)
    assert np.allclose(found.coordinates["PCA"], mercer.PCA(2).fit_transform(scaled))
    truth = manifold.trustworthiness(scaled, found.coordinates["PCA"], n_neighbors=10)
    assert found.table[0]["trustworthiness"] == pytest.approx(truth, rel=1e-9)


def test_labels_of_one_class_and_labels_that_are_no_classes_are_left_out_with_a_word():
    assert "so that label hits would say nothing" in compared(X, np.zeros(150)).notes[0]
    many = compared(X, rng.normal(size=150))
    assert "those are no classes" in many.notes[0] and many.table[0]["label_hit"] is None
    assert many.plot().figure_ is not None


@pytest.mark.parametrize("n", [5, 6, 9, 12])
def test_few_rows_are_compared_by_as_many_neighbours_as_there_are(n):
    found = compared(X[::10][:n], [0, 1] * (n // 2) + [0] * (n % 2), methods=["pca", "lle"], repeats=2)
    assert found.n_neighbors < n / 2 and found.table[0]["done"]
    assert f"are too many for {n} rows" in " ".join(found.notes)


def test_copies_huge_offsets_and_constant_columns_do_no_harm():
    copies = np.column_stack([np.repeat(X[:30], 5, axis=0) + 1e6, np.ones(150)])
    row = compared(copies, SPECIES, repeats=1).table[0]
    assert row["done"] and 0 <= row["trustworthiness"] <= 1 and 0 <= row["reconstruction_error"] < 1


def test_as_many_coordinates_as_columns_are_no_reduction_and_no_praise():
    circles, ring = rings(40)
    found = compared(circles, ring, methods=["pca", "kernel-pca"])
    assert "PCA only turns them" in found.notes[0]
    assert not any("take it" in sentence for sentence in found.advice)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (lambda: compared(X[:4]), BadData, "at least 5 rows; X has 4"),
        (lambda: compared(np.ones((20, 3))), BadData, "All rows are the same"),
        (lambda: compared(X, SPECIES[:10]), BadData, "y has to be one label for each of 150 rows"),
        (lambda: compared(X, methods=[]), ValueError, "methods is empty"),
        (lambda: compared(X, methods=["pcb"]), ValueError, "There is no method 'pcb'"),
        (lambda: compared(X, n_components=0), ValueError, "n_components must be a whole number from 1 on"),
        (lambda: compared(X, repeats=-1), ValueError, "repeats must be a whole number from 0 on"),
        (lambda: compared(X, n_neighbors=2.5), ValueError, "n_neighbors must be a whole number"),
        (lambda: compared(X, budget=0), ValueError, "budget must be a positive number of seconds"),
        (lambda: compared(X, sample=1), ValueError, "sample must be a whole number from 2 on"),
        (lambda: compared(X, memory_limit=1000), NoRoom, "over the limit of 1 kB"),
        (lambda: compared(np.full((9, 2), np.nan)), BadData, "All rows are the same"),
        (lambda: compared(np.where(rng.uniform(size=(30, 9)) < 0.6, np.nan, 1.0 * np.arange(9))), BadData, "gap|same"),
        (lambda: compared("rows.csv"), BadData, "is a text"),
        (lambda: compared(X * 1e-150), BadData, "cannot be squared"),
        (lambda: compared(X * 1e200), BadData, "cannot be squared"),
    ],
)
def test_what_cannot_be_compared_is_one_sentence(given, error, words):
    with pytest.raises(error, match=words):
        given()


def test_a_sample_of_the_rows_is_told_and_agrees_within_its_errors():
    rows = rng.normal(size=(500, 6)) * [3, 3, 1, 1, 1, 1]
    whole, some = compared(rows), compared(rows, sample=120)
    assert "measured on 120 of them, drawn by chance" in some.about and "all of them" in whole.about
    for name in ("trustworthiness", "continuity", "lcmc", "distances"):
        assert abs(some.table[0][name] - whole.table[0][name]) < 4 * some.table[0][f"{name}_error"]


def test_all_methods_are_asked_if_none_is_named():
    from mercer_old.studies.comparison import _methods

    assert [each.name for each in _methods(None)] == list(METHODS)
    assert len(_methods(["pca", "PCA", method("pca", svd_solver="full")])) == 2


# ---------------------------------------------------------------------- advice follows from the numbers


def line(name, cpu=1.0, **values):
    """Of 200 rows whose numbers spread a little; of runs, three."""
    spread = np.random.default_rng(0).normal(size=200)
    spread = (spread - spread.mean()) / spread.std()
    own = np.random.default_rng(len(name)).permutation(spread)
    measures = {
        measure: Measured(np.array([value] * 3) if measure == "moved" else value + 0.02 * own)
        for measure, value in values.items()
    }
    return Line(
        name=name, title=name, keeps="", assumes="", cpu_seconds=cpu, measures=measures, coordinates=np.zeros((200, 2)),
        places_new=True, goes_back="reconstruction_error" in values,
    )  # fmt: skip


GOOD = {
    "trustworthiness": 0.97,
    "continuity": 0.97,
    "distances": 0.8,
    "label_hit": 0.9,
    "new_rows": 0.95,
    "moved": 0.01,
}
BAD = {"trustworthiness": 0.85, "continuity": 0.9, "distances": 0.3, "label_hit": 0.6, "new_rows": 0.8, "moved": 0.4}
YARDS = {"input_hit": Measured(np.array([1.0, 0.9])), "commonest": 0.3}


def said(*lines, **yards):
    return " ".join(advise(lines, **YARDS | yards))


def test_advice_is_spoiled_by_spoiled_numbers():
    text = said(line("pca", **BAD), line("mapper", **GOOD))
    for word in (
        "most often by mapper (trustworthiness 0.970 ± 0.001)",
        "Surely less so by pca (0.850)",
        "best seen in mapper (rank correlation of distances 0.800",
        "say little in pca (0.300)",
        "for 0.950 of the rows by all columns, and in the picture for 0.900 ± 0.001 by mapper",
        "pca (0.400) is arranged otherwise",
        "placed among their neighbours best by mapper",
    ):
        assert word in text
    swapped = said(line("pca", **GOOD), line("mapper", **BAD))
    assert (
        "most often by pca" in swapped and "say little in mapper" in swapped and "mapper (0.400) is arranged" in swapped
    )
    assert "Nothing here is surely better than PCA (trust 0.970, continuity 0.970 and labels 0.900)" in swapped
    assert "Nothing here" not in text


@pytest.mark.parametrize("measure", ["trustworthiness", "continuity", "label_hit"])
def test_pca_is_praised_only_where_nothing_is_surely_better_in_anything(measure):
    even = [line("pca", **GOOD), line("mapper", **GOOD)]
    assert "take it" in said(*even)
    assert "take it" not in said(even[0], line("mapper", **GOOD | {measure: 0.99}))
    assert "take it" not in said(*even, reduced=False)
    assert "take it" not in said(line("pca", **GOOD))  # beside nobody


def test_differences_within_their_uncertainty_are_not_called_better():
    near = [line("pca", **GOOD), line("mapper", **GOOD | {"trustworthiness": 0.973})]
    assert [one.name for one in alike(near, "trustworthiness")] == ["mapper", "pca"]
    assert "No method keeps neighbourhoods better" in said(*near)
    noisy = Measured(0.99 + np.random.default_rng(1).normal(size=200))
    far = [near[0], replace(near[1], measures=near[1].measures | {"trustworthiness": noisy})]
    assert len(alike(far, "trustworthiness")) == 2
    assert len(alike([near[0], line("mapper", **BAD)], "trustworthiness")) == 1


def test_lost_and_moved_are_better_when_smaller():
    one, other = line("a", reconstruction_error=0.2), line("b", reconstruction_error=0.6)
    assert [each.name for each in ranked([other, one], "reconstruction_error")] == ["a", "b"]
    assert "come back best by a, which loses 0.200" in said(one, other)
    assert "No way back is better than the mean" in said(line("a", reconstruction_error=1.4))
    text = said(line("a", moved=0.01, reseeded=0.0), line("b", moved=0.3, reseeded=0.2))
    assert "Another seed alone rearranges b (0.200)." in text
    assert "Another seed" not in said(line("a", moved=0.01, reseeded=0.0), line("b", moved=0.3, reseeded=0.02))
    assert "All pictures stay what they are" in said(line("a", moved=0.01), line("b", moved=0.02))


def test_labels_that_no_picture_tells_are_said_to_be_so():
    text = said(line("pca", **GOOD | {"label_hit": 0.301}), commonest=0.3)
    assert "No picture says more of labels than the commonest" in text


def test_a_poor_best_is_called_poor():
    poor = {"trustworthiness": 0.7}
    assert "a picture drawn by chance has 0.5" in said(line("pca", **poor), line("b", trustworthiness=0.6))


def test_the_cheapest_of_the_best_is_named():
    text = said(line("pca", cpu=0.5, **GOOD), line("b", cpu=9.0, **GOOD))
    assert "Of the 2 methods that keep neighbourhoods best, pca took 0.50 s of processor time and b 9.00 s" in text


def test_a_comparison_is_a_record_that_can_be_read():
    found = compared(X)
    assert isinstance(found, Comparison) and "labels" not in repr(found.labels)
