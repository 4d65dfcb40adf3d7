"""Chapters of a report against what they are by definition: numpy's own arithmetic, not ours."""

import json
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits

import mercer
from mercer.datasets import VOC, family, rings
from mercer.kernels import Spectrum
from mercer_old.errors import BadData
from mercer_old.report import card
from mercer_old.report.chapters import sureness
from mercer_old.report.chapters.subject import subject_of
from mercer_old.report.chapters.sweep import sweep_of
from mercer_old.report.facts import Facts
from mercer_old.report.gathering import gathered
from mercer_old.report.glossary import GLOSSARY
from mercer_old.report.labels import columns_of_labels, groups_of, told_apart
from mercer_old.report.model_page import model_page
from mercer_old.report.numbers import bytes_of, in_bytes
from mercer_old.report.records import as_record
from mercer_old.report.svg.frame import Scale, round_steps


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2)) @ rng.normal(size=(2, 5)) + 0.3 * rng.normal(size=(80, 5))
    return pd.DataFrame(X * [1, 2, 5, 10, 20] + 3, columns=list("abcde"))


@pytest.fixture(scope="module")
def ringed():
    X, ring = rings(60)
    model = mercer.KernelPCA(4, kernel="rbf", gamma=0.5).fit(X)
    return X, model, gathered(model, X, [f"ring {r}" for r in ring])


def test_loadings_of_divided_columns_are_correlations_with_the_scores(table):
    model = mercer.PCA(3, standardize=True).fit(table)
    record, scores = gathered(model, table).chapters.columns, model.transform(table)
    for j, made in enumerate(record.made):
        truth = {name: np.corrcoef(table[name], scores[:, j])[0, 1] for name in table}
        assert [column.name for column in made.columns] == sorted(truth, key=lambda name: -abs(truth[name]))
        assert [column.value for column in made.columns] == pytest.approx([truth[c.name] for c in made.columns])


def test_arrows_of_the_map_lead_where_columns_do(table):
    model = mercer.PCA(2, standardize=True).fit(table)
    cloud, scores = gathered(model, table).chapters.cloud, model.transform(table)
    for name, tip in zip(cloud.arrows.names, cloud.arrows.tips, strict=True):
        truth = [np.corrcoef(table[name], scores[:, j])[0, 1] for j in (0, 1)]
        assert tip == pytest.approx(truth, rel=1e-5)


def test_a_sweep_has_the_shares_of_every_bandwidth(ringed):
    """By the eigenvalues of the centred matrix of the same rows, in numpy."""
    X, _, facts = ringed
    record = facts.chapters.sweep
    assert record.rows == record.of == len(X) and record.steps[record.used].gamma == pytest.approx(0.5)
    squares = cdist(X, X, "sqeuclidean")
    for step in record.steps:
        K = np.exp(-step.gamma * squares)
        centred = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
        values, vectors = np.linalg.eigh(centred)
        assert step.share == pytest.approx(values[-2:].sum() / values.sum(), rel=1e-6)
        first = vectors[:, -1] if values[-1] > 1.01 * values[-2] else None  # else no direction is determined
        if first is not None:
            assert abs(np.corrcoef(first, step.x)[0, 1]) > 0.99999
    assert record.groups == ("ring 0", "ring 1") and len(record.codes) == len(X)


def test_the_middle_of_a_sweep_is_the_picture_of_the_model(ringed):
    X, model, facts = ringed
    step = facts.chapters.sweep.steps[facts.chapters.sweep.used]
    scores = model.transform(X)
    assert np.corrcoef(scores[:, 0], step.x)[0, 1] > 0.99999  # and not the other way round


def test_rows_beyond_the_sample_are_drawn_by_a_seed_and_counted():
    X = np.random.default_rng(0).normal(size=(700, 3))
    model = mercer.KernelPCA(2, kernel="rbf", gamma=0.3).fit(X)
    first, second = (sweep_of(subject_of(model, X)) for _ in range(2))
    assert first == second and first.rows == 300 and first.of == 700
    assert "300 of 700 rows, drawn by chance" in model_page(gathered(model, X))


def test_fields_are_scores_of_the_places_of_the_plane(ringed):
    X, model, facts = ringed
    record = facts.chapters.fields
    side = np.linspace(*record.x, record.side), np.linspace(*record.y, record.side)
    grid = np.column_stack([each.ravel() for each in np.meshgrid(*side)])
    truth = model.transform(grid)
    for j, field in enumerate(record.fields):
        part = bytes_of(field.roots) / 127.5 - 1
        found = field.top * np.sign(part) * part**2
        assert np.abs(found - truth[:, j]).max() < 0.01 * field.top
    assert len(record.points) == len(X)


def test_a_walk_of_pca_is_the_mean_and_a_piece_of_the_axis(table):
    model = mercer.PCA(2, standardize=True).fit(table)
    path = gathered(model, table).chapters.walk.paths[1]
    low, high = np.quantile(model.transform(table)[:, 1], [0.01, 0.99])
    assert path.scores == pytest.approx(np.linspace(low, high, 9), rel=1e-5)
    axis = model.components_[1] * table.std().to_numpy()
    for score, values in zip(path.scores, path.values, strict=True):
        truth = dict(zip(table, table.mean().to_numpy() + score * axis, strict=True))
        assert values == pytest.approx([truth[name] for name in path.columns], rel=1e-4)


def test_a_walk_of_pictures_has_pictures():
    X = load_digits().data[:300]
    model = mercer.PCA(4).fit(X)
    record = gathered(model, X).chapters.walk
    assert record.kind == "pictures" and record.shape == (8, 8)
    ends = [model.inverse_transform([[score, 0, 0, 0]])[0] for score in record.paths[0].scores]
    for picture, row in zip(record.paths[0].pictures, ends, strict=True):
        assert np.corrcoef(bytes_of(picture), row)[0, 1] > 0.999


def test_a_walk_past_names_meets_families_at_the_ends():
    model = mercer.KernelPCA(4, kernel=Spectrum(3)).fit(VOC)
    facts = gathered(model, labels={"family": [family(name) for name in VOC]})
    items = facts.chapters.walk.paths[0].items
    assert {family(name) for name in items[-1]} == {"simpson"} != {family(name) for name in items[0]}
    top = [column.name for column in facts.chapters.columns.made[0].columns]
    assert "son" in top and facts.chapters.sweep is None


def test_novelty_of_pca_is_t2_and_q_by_definition(table):
    model = mercer.PCA(2).fit(table)
    record = gathered(model, table).chapters.novelty
    X = table.to_numpy() - table.to_numpy().mean(axis=0)
    scores = X @ model.components_.T
    t2 = (scores**2 / np.var(scores, axis=0, ddof=1)).sum(axis=1)
    q = ((X - scores @ model.components_) ** 2).sum(axis=1)
    for each in record.ranked:
        i = int(each.row.split()[1])
        assert (each.t2, each.q, each.p) == (pytest.approx(t2[i]), pytest.approx(q[i]), None)
    assert record.rows == 80 and len(record.t2) == 80 and "there are no p-values" in record.about


def test_a_detector_ranks_rows_by_its_p_values(table):
    detector = mercer.NoveltyDetector(mercer.PCA(2), alpha=0.2).fit(table)
    new = pd.concat([table.head(10), table.head(5) * 30], ignore_index=True)
    record = gathered(detector, new).chapters.novelty
    p = detector.p_values(new)
    assert [each.p for each in record.ranked] == pytest.approx(np.sort(p))
    assert all(p[int(each.row.split()[1])] == pytest.approx(each.p) for each in record.ranked)
    assert record.count == int((detector.predict(new) < 0).sum()) >= 5
    scores = -detector.score_samples(new)
    order = [int(each.row.split()[1]) for each in record.ranked]
    ties = [a for a, b in pairwise(order) if p[a] == p[b] and scores[a] < scores[b] - 1e-9]
    assert not ties  # of equal p-values the more novel is first


def test_stability_is_what_the_study_says_or_why_it_is_not_asked(table, monkeypatch):
    model = mercer.PCA(3, standardize=True).fit(table)
    record = gathered(model, table).chapters.sureness
    assert record.verdict == mercer.stability(model, table, n_boot=25).verdict and record.draws == 25
    assert gathered(model, table * 2).chapters.sureness is None  # rows that are not those of the fit
    monkeypatch.setattr(sureness, "_MOST_WORK", 1e3)
    words = gathered(model, table).chapters.said_of("sureness")[0]
    assert "10 draws of 80 rows would be 2e+04 multiplications" in words and words in model.report(table)


def test_every_record_survives_json(ringed):
    """A page is a function of what JSON keeps."""
    facts = ringed[2]
    again = Facts.from_dict(json.loads(json.dumps(facts.as_dict(), allow_nan=False)))
    assert again == facts and model_page(again) == model_page(facts)
    assert as_record(tuple[int, ...] | None, None) is None and as_record(tuple[int, ...] | None, [1]) == (1,)


def test_bytes_are_within_half_a_step():
    values = np.linspace(-2, 3, 1000)
    back = bytes_of(in_bytes(values, -2, 3)) / 255 * 5 - 2
    assert np.abs(back - values).max() <= 5 / 510 + 1e-12


def test_how_to_cite_is_what_the_repository_says():
    text = Path(__file__).parents[3].joinpath("CITATION.cff").read_text(encoding="utf-8")
    said = dict(re.findall(r'^(?:  - )?(title|name|version|license): "?(.*?)"?$', text, re.M))
    found = card.citation_of(mercer.PCA(1).fit([[1.0], [2.0]]))
    assert said == {"title": card.TITLE, "name": card.AUTHORS, "version": mercer.__version__, "license": "BSD-3-Clause"}
    for word in said.values():
        assert word in found.bibtex


def test_every_number_that_is_asked_about_is_explained_once(ringed, table):
    pages = [model_page(ringed[2]), mercer.PCA(2).fit(table).report(table)]
    pages.append(mercer.NoveltyDetector(mercer.PCA(2)).fit(table).report(table))
    pages.append(mercer.LocallyLinearEmbedding(n_neighbors=8, n_components=2).fit(table).report(table))
    pages.append(mercer.compare(table, ["u", "v"] * 40, methods=["pca", "ica"], repeats=2).report(table))
    asked = {term for page in pages for term in re.findall(r'popovertarget="word-([\w-]+)"', page)}
    assert asked == set(GLOSSARY)
    for page in pages:
        shown = re.findall(r'<div popover class="word" id="word-([\w-]+)"', page)
        assert sorted(shown) == sorted(set(re.findall(r'popovertarget="word-([\w-]+)"', page)))


def test_no_library_of_pictures_is_loaded_for_a_page():
    """It would take longer than the page does."""
    code = (
        "import sys, numpy as np, mercer\n"
        "X = np.random.default_rng(0).normal(size=(40, 2))\n"
        "mercer.KernelPCA(2, kernel='rbf').fit(X).report(X, labels=['a', 'b'] * 20)\n"
        "sys.exit('matplotlib' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# ---------------------------------------------------------------------- labels


def test_labels_are_a_list_a_series_a_mapping_or_a_frame():
    values, missing = ["u", None, "v"], ["u", float("nan"), ""]
    assert columns_of_labels(values, 3) == {"label": values}
    assert columns_of_labels(missing, 3) == {"label": ["u", None, None]}
    assert columns_of_labels(pd.Series(values, name="kind"), 3) == {"kind": values}
    assert columns_of_labels({"a": [1, 2, 3], "b": values}, 3) == {"a": [1, 2, 3], "b": values}
    frame = pd.DataFrame({"a": [1.5, 2, np.nan], "b": values})
    assert columns_of_labels(frame, 3) == {"a": [1.5, 2.0, None], "b": values}
    assert told_apart(["a", "a", "b" * 500]) == ["a", "a (1)", "b" * 150 + "…"]
    assert len(set(told_apart(["a (2)", "a", "a"]))) == 3
    for wrong in ([1, 2], {"a": [1]}, np.zeros((3, 2)), "abc", 3):
        with pytest.raises(BadData, match="one label for each of 3 rows"):
            columns_of_labels(wrong, 3)


def test_of_many_groups_the_largest_have_a_colour_of_their_own():
    labels = [f"group {i}" for i in range(30) for _ in range(30 - i)]
    names, codes = groups_of({"kind": labels}, np.arange(len(labels)))
    assert len(names) == 10 and names[-1] == "21 others"
    assert set(names[:-1]) == {f"group {i}" for i in range(9)}
    assert sum(code == 9 for code in codes) == sum(30 - i for i in range(9, 30))
    assert groups_of({"size": np.linspace(0, 1, 50).tolist()}, np.arange(50)) == ((), ())  # numbers are no groups


def test_labels_of_rows_that_a_model_has_not_kept_are_refused(table):
    with pytest.raises(BadData, match="PCA keeps no rows: give the rows as X too"):
        mercer.PCA(2).fit(table).report(labels=["u"] * 80)


@pytest.mark.parametrize("count", [5_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_as_many_categories_as_rows_fill_no_page(count):
    X = np.random.default_rng(0).normal(size=(count, 3))
    page = mercer.PCA(2).fit(X).report(X, labels=[f"kind {i}" for i in range(count)])
    assert len(page.encode()) < 250_000 + 40 * count
    assert page.count("kind ") < 200  # packed, but for the first rows of the table


def test_colours_that_are_all_equal_or_missing_are_no_trouble(table):
    for labels in (["same"] * 80, [None] * 80, [float("nan")] * 80, [1.5, float("nan")] * 40):
        assert "<svg" in mercer.PCA(2).fit(table).report(table, labels=labels)


def test_ten_thousand_rows_are_a_page_that_every_mail_takes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000, 3)) @ rng.normal(size=(3, 8)) + 0.3 * rng.normal(size=(10_000, 8))
    frame = pd.DataFrame(X, index=[f"sample {i:05d}" for i in range(10_000)], columns=list("abcdefgh"))
    page = mercer.PCA(5, standardize=True).fit(frame).report(frame, labels=rng.choice(["u", "v", "w"], 10_000))
    assert len(page.encode()) <= 600_000


# ---------------------------------------------------------------------- the frame of pictures


def test_ticks_are_round_and_inside():
    assert round_steps(0, 97, 5) == [0, 20, 40, 60, 80]
    assert round_steps(-0.31, 0.52, 4) == pytest.approx([-0.2, 0, 0.2, 0.4])
    assert round_steps(1, 1) == [1] and round_steps(float("nan"), 1) == []
    scale = Scale(0.02, 5000, 0, 100, by_logarithm=True)
    assert scale.ticks() == pytest.approx([0.1, 1, 10, 100, 1000]) and scale(10) == pytest.approx(
        100 * np.log(500) / np.log(250_000)
    )
    assert Scale(1, 1, 0, 100)(1) == 50


def test_where_components_leave_nothing_rows_are_ranked_by_t2_alone(table):
    facts = gathered(mercer.PCA().fit(table), table)
    record = facts.chapters.novelty
    values = [each.t2 for each in record.ranked]
    assert values == sorted(values, reverse=True) and "Ranked by T²: the components leave nothing" in record.about
    assert 'class="drawn novelty"' not in model_page(facts)
