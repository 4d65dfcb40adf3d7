"""n_neighbors="auto": as few as keep neighbourhoods as well as any, by a rule that can be followed step by step."""

import re
import warnings
from contextlib import suppress
from functools import partial

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import spearmanr
from sklearn.datasets import load_digits
from sklearn.manifold import trustworthiness

import mercer
from mercer import LocallyLinearEmbedding
from mercer.datasets import spiral
from mercer.kernels import Sigmoid
from mercer_old.errors import BadData, MercerWarning
from mercer_old.fits.local.choosing import kept_neighbours
from support import naive
from support.local import apart, cloud, every_method, neighbours_of, roll
from support.silence import silently


def auto(**params):
    return LocallyLinearEmbedding(n_neighbors="auto", n_jobs=1, **params)


def ranks_of(X):
    order = naive.nearest(naive.exact_distances(X), len(X) - 1)
    ranks = np.zeros((len(X), len(X)), dtype=int)
    np.put_along_axis(ranks, order, np.arange(1, len(X))[None], 1)
    return ranks


@pytest.mark.parametrize("seed", range(4))
def test_what_an_embedding_is_judged_by_is_the_mean_of_trustworthiness_and_continuity(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(90, 4))
    Y = X[:, :2] + rng.normal(size=(90, 2)) * seed / 4
    expected = (trustworthiness(X, Y, n_neighbors=10) + trustworthiness(Y, X, n_neighbors=10)) / 2
    assert kept_neighbours(ranks_of(X), Y) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("method", ["standard", "ltsa"])
def test_the_number_is_that_of_the_rule_followed_by_hand(method):
    X, _ = roll(250)
    model, ranks = auto(method=method).fit(X), ranks_of(X)
    ladder = (4, 5, 6, 8, 10, 12, 15, 18, 22, 27, 33, 40)
    tried = [silently(partial(LocallyLinearEmbedding(n_neighbors=k, method=method, n_jobs=1).fit, X)) for k in ladder]
    scores = [kept_neighbours(ranks, one.embedding_) for one in tried]
    whole = [i for i, one in enumerate(tried) if one.n_parts_ == 1]
    best = max(whole, key=lambda i: scores[i])
    good = [i for i in whole if scores[i] >= scores[best] - 0.002]
    assert model.n_neighbors_ == ladder[next((i for i in good if i + 1 in good), best)]
    assert f"n_neighbors={model.n_neighbors_}: of 4 to 40" in model.n_neighbors_reason_
    assert "hangs together" in model.n_neighbors_reason_ and "by 250 rows" in model.n_neighbors_reason_


def test_a_roll_is_unrolled_without_a_number():
    X, t = roll(700)
    for method in ("standard", "modified"):
        model = auto(method=method).fit(X)
        assert max(abs(spearmanr(column, t)[0]) for column in model.embedding_.T) > 0.95, model.n_neighbors_reason_


def test_a_spiral_takes_few_neighbours():
    X, place = spiral(400, 2)
    model = auto(n_components=1).fit(X)
    assert model.n_neighbors_ <= 12 and abs(spearmanr(model.embedding_[:, 0], place)[0]) > 0.999


def test_digits_take_as_many_as_hold_the_graph_together():
    X = np.concatenate([load_digits().data[:300], load_digits().data[:20] + 9])  # brighter ones are apart at first
    model = silently(lambda: auto().fit(X))
    fewer = silently(lambda: LocallyLinearEmbedding(n_neighbors=4).fit(X))
    assert fewer.n_parts_ > 1 and model.n_parts_ == 1 and "hangs together" in model.n_neighbors_reason_


def test_parts_that_no_number_joins_are_told_and_not_joined():
    X = apart((196, 144))
    with pytest.warns(MercerWarning, match="falls apart into 2 parts"):
        model = auto().fit(X)
    assert "falls apart into no more than 2 parts" in model.n_neighbors_reason_ and model.n_parts_ == 2


@every_method
def test_a_method_gets_as_many_as_it_needs(method):
    model = auto(n_components=3, method=method).fit(cloud(150, 4))
    least = {"hessian": 10, "ltsa": 5, "modified": 3}.get(method, 1)
    assert model.n_neighbors_ >= least


@pytest.mark.parametrize("rows", [cloud(8), np.repeat(cloud(6), 9, axis=0), cloud(3)])
def test_few_distinct_rows_are_told(rows):
    model = silently(lambda: auto(n_components=1).fit(rows))
    assert "too few to compare" in model.n_neighbors_reason_ and model.n_neighbors_ == min(5, len(rows) - 1)


def test_copies_count_once():
    X, _ = roll(300)
    once, thrice = auto().fit(X), silently(lambda: auto().fit(np.repeat(X, 3, axis=0)))
    assert once.n_neighbors_ == thrice.n_neighbors_


def test_the_number_repeats_and_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("mercer_old.fits.local.choosing._ROWS", 200)
    X, _ = roll(400)
    model, again = auto(method="ltsa").fit(X), auto(method="ltsa").fit(X)
    assert model.n_neighbors_ == again.n_neighbors_ and "by 200 rows" in model.n_neighbors_reason_
    np.testing.assert_array_equal(model.embedding_, again.embedding_)
    loaded = mercer.load(model.save(tmp_path / "m.mercer"))
    assert loaded.n_neighbors_ == model.n_neighbors_ and loaded.n_neighbors_reason_ == model.n_neighbors_reason_
    assert model.to_sklearn().n_neighbors == model.n_neighbors_ == model.nbrs_.n_neighbors
    np.save(tmp_path / "rows.npy", X)
    assert auto(method="ltsa").fit(tmp_path / "rows.npy").n_neighbors_ == model.n_neighbors_
    plain = model.set_params(n_neighbors=9).fit(X[:200])
    assert plain.n_neighbors_ == 9 and not hasattr(plain, "n_neighbors_reason_")


@pytest.mark.parametrize("params", [dict(metric="cosine"), dict(standardize=True), dict(n_landmarks=120)])
def test_it_goes_with_everything_else(params):
    model = silently(lambda: auto(**params).fit(roll(250)[0]))
    assert re.match(rf"n_neighbors={model.n_neighbors_}[:,]", model.n_neighbors_reason_)
    assert model._hoods.indices.shape[1] == model.n_neighbors_


@pytest.mark.parametrize("landmarks", [3, 4, 5, 6, 12, 20])
def test_few_landmarks_take_no_more_neighbours_than_there_are(landmarks):
    model = silently(lambda: auto(n_landmarks=landmarks).fit(cloud(100)))
    assert model.n_neighbors_ == min(5, landmarks - 1) and len(model.landmark_indices_) == landmarks


@pytest.mark.parametrize("landmarks", [None, 60])
def test_what_is_wrong_with_distances_is_told_once(landmarks):
    D = cdist(cloud(100), cloud(100))
    D[0, 1] *= 1.5
    for rows, metric, words in ((D, "precomputed", "not symmetric"), (cloud(100), Sigmoid(0.1, 0.1), "not positive")):
        with warnings.catch_warnings(record=True) as told, suppress(BadData):  # distances that are none may be zero
            warnings.simplefilter("always")
            auto(metric=metric, n_landmarks=landmarks).fit(rows)
        assert sum(words in str(each.message) for each in told) == 1


def test_a_plan_can_be_made_before():
    assert not auto().plan(roll(250)[0]).approximate
    assert mercer.plan(n_rows=10_000, n_features=3, n_components=2, method="lle", n_neighbors="auto").memory > 0


def test_the_function_takes_it_as_well():
    X, _ = roll(300)
    places, _ = mercer.locally_linear_embedding(X, n_neighbors="auto", n_components=2)
    np.testing.assert_array_equal(places, auto().fit(X).embedding_)


def test_neighbours_by_number_are_as_they_were():
    for method in ("standard", "ltsa"):
        how = neighbours_of(method)
        assert LocallyLinearEmbedding(**how).fit(cloud()).n_neighbors_ == how["n_neighbors"]
