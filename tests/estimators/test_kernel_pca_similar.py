"""`model.similar`: the nearest items of a fit, against distances taken by hand."""

from copy import deepcopy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from mercer import KernelPCA
from mercer.datasets import OOV, VOC, family
from mercer.kernels import (
    RBF,
    Edit,
    GappedKmer,
    GlobalAlignment,
    Mismatch,
    Spectrum,
    Subsequence,
    TableKernel,
    WeightedDegree,
)
from mercer_old.errors import BadData

X = np.random.default_rng(0).normal(size=(60, 4)) * [1.0, 2.0, 0.5, 1.0]
NEW = np.random.default_rng(1).normal(size=(3, 4)) * [1.0, 2.0, 0.5, 1.0]


def by_hand(K, own, known, n):
    """Nearest first, by √(k(x, x) + k(t, t) − 2k(x, t))."""
    distances = np.sqrt(np.maximum(own[:, None] + known - 2 * K, 0.0))
    order = np.argsort(distances, axis=1, kind="stable")[:, :n]
    return order, np.take_along_axis(distances, order, 1), np.take_along_axis(K, order, 1)


def test_names_never_seen_are_most_like_their_families():
    model = KernelPCA(10, kernel=Spectrum(3)).fit(VOC)
    for by in ("components", "kernel"):
        for name in OOV:
            found = model.similar(name, 2, by=by)
            assert {family(other) for other in found.items} == {family(name)}
            assert [VOC[i] for i in found.numbers] == list(found.items)
        assert {family(name) for name in model.similar("flanders", 3, by=by).items} == {"flanders"}


@pytest.mark.parametrize("standardize", [False, True])
def test_by_the_kernel_they_are_the_nearest_in_its_space(standardize):
    model = KernelPCA(2, kernel=RBF(0.05), standardize=standardize).fit(X)
    rows, new = (X / model.scale_, NEW / model.scale_) if standardize else (X, NEW)
    order, distances, similarities = by_hand(RBF(0.05).block(new, rows), np.ones(3), np.ones(60), 7)
    found = model.similar(NEW, 7, by="kernel")
    assert np.array_equal(found.numbers, order)
    assert_allclose(found.distances, distances, rtol=1e-7)
    assert_allclose(found.similarities, similarities, rtol=1e-12)
    assert_allclose(found.items, X[order], rtol=1e-12)


KERNELS_OF_TEXTS = [
    Spectrum(2),
    Spectrum(3, shortest=1, weights=(1.0, 2.0, 4.0)),
    Spectrum(2, normalize=False),
    Spectrum(2, counts="min", normalize="dice"),
    Spectrum(2, counts="once", normalize="jaccard"),
    Spectrum(1, by="words"),
    Subsequence(2),
    GappedKmer(4, 1),
    Mismatch(3, 1),
    WeightedDegree(2),
    2.0 * Spectrum(1) + Spectrum(2) * Spectrum(3, shortest=1),
    Edit(0.3),
]
READS = ["".join(read) for read in np.random.default_rng(2).choice(list("ACGT"), size=(12, 60))]  # features are dense


@pytest.mark.filterwarnings("ignore::mercer_old.errors.MercerWarning")  # Edit is no Mercer kernel
@pytest.mark.parametrize("texts", [[*VOC[::2], "", "a"], READS], ids=["names", "reads"])
@pytest.mark.parametrize("kernel", KERNELS_OF_TEXTS, ids=str)
def test_texts_that_were_looked_up_are_those_that_every_comparison_finds(kernel, texts):
    """The second question is answered by what was prepared for the first."""
    model, new = KernelPCA(2, kernel=kernel).fit(texts), [OOV[0], texts[7], "♫♪ zzz", ""]
    kernel = model.kernel_
    K = np.array([[kernel.block([s], [t])[0, 0] for t in texts] for s in new])  # a pair at a time
    own, known = (np.array([kernel.block([t], [t])[0, 0] for t in some]) for some in (new, texts))
    known = np.where(known > 0, known, known.max())
    truth = np.sqrt(np.maximum(own[:, None] + known - 2 * K, 0.0))
    for question in (new, new[::-1], new):
        found = model.similar(question, 6, by="kernel")
        order = slice(None, None, -1) if question[0] == new[-1] else slice(None)
        assert_allclose(found.distances, np.sort(truth[order], axis=1)[:, :6], atol=1e-7)
        assert_allclose(np.take_along_axis(truth[order], found.numbers, 1), found.distances, atol=1e-7)
        assert_allclose(np.take_along_axis(K[order], found.numbers, 1), found.similarities, atol=1e-12)


@pytest.mark.parametrize("by", ["components", "kernel"])
def test_what_was_prepared_is_used_again_and_forgotten_with_its_fit(by):
    model = KernelPCA(3, kernel=Spectrum(2)).fit(VOC)
    first = model.similar("homer", 3, by=by)
    space = model._searched[by][1]
    assert np.array_equal(model.similar("homer", 3, by=by).numbers, first.numbers)
    assert model._searched[by][1] is space
    copy = deepcopy(model)  # as pickle makes it
    assert "_searched" not in vars(copy)
    assert np.array_equal(copy.similar("homer", 3, by=by).numbers, first.numbers)
    model.fit(OOV)
    assert "_searched" not in vars(model) and set(model.similar("homer", 3, by=by).items) <= set(OOV)


@pytest.mark.parametrize("by", ["components", "kernel"])
@pytest.mark.parametrize("standardize", [False, True])
def test_landmarks_are_prepared_once_too(by, standardize):
    model = KernelPCA(3, kernel=RBF(0.1), n_landmarks=12, standardize=standardize).fit(X)
    first = model.similar(NEW, 3, by=by)
    space = model._searched[by][1]
    again = model.similar(NEW, 3, by=by)
    assert model._searched[by][1] is space
    assert np.array_equal(first.numbers, again.numbers) and np.array_equal(first.distances, again.distances)
    fresh = KernelPCA(3, kernel=RBF(0.1), n_landmarks=12, standardize=standardize).fit(X[::-1])
    model.fit(X[::-1])  # what was prepared of the last fit is of no use
    assert np.array_equal(model.similar(NEW, 3, by=by).numbers, fresh.similar(NEW, 3, by=by).numbers)


def test_a_gamma_that_was_set_since_is_the_one_that_counts():
    model = KernelPCA(3, kernel="rbf", gamma=0.05).fit(X)
    model.similar(NEW, 4, by="kernel")
    model.gamma_ = 2.0
    order, distances, similarities = by_hand(RBF(2.0).block(NEW, X), np.ones(3), np.ones(60), 4)
    for by in ("kernel", "components"):
        found = model.similar(NEW, 4, by=by)
        assert_allclose(found.similarities, [RBF(2.0).block(NEW[i : i + 1], X[found.numbers[i]])[0] for i in range(3)])
    found = model.similar(NEW, 4, by="kernel")
    assert np.array_equal(found.numbers, order)
    assert_allclose(found.distances, distances, rtol=1e-7)
    assert_allclose(found.similarities, similarities, rtol=1e-12)


def test_what_is_larger_than_the_limit_is_not_kept():
    model = KernelPCA(3, kernel=Spectrum(2)).fit(VOC)
    truth = model.similar("homer", 3, by="kernel")
    model.memory_limit = 1000
    assert np.array_equal(model.similar("homer", 3, by="kernel").numbers, truth.numbers)
    assert "_searched" not in vars(model)


def test_texts_are_prepared_once_for_all_questions(monkeypatch):
    counted = []
    count = Spectrum.count

    def watched(kernel, letters):
        counted.append(len(letters.ends) - 1)
        return count(kernel, letters)

    model = KernelPCA(3, kernel=Spectrum(2)).fit(VOC)
    monkeypatch.setattr(Spectrum, "count", watched)
    model.similar("homer", 3, by="kernel")
    assert max(counted) == len(VOC)
    counted.clear()
    model.similar(["ned", "rod"], 3, by="kernel")
    assert counted and max(counted) <= 6  # new ones, and those that were found


def test_by_components_they_are_the_nearest_scores():
    model = KernelPCA(2, kernel=RBF(0.05)).fit(X)
    scores, new = model.transform(X), model.transform(NEW)
    distances = np.linalg.norm(new[:, None] - scores, axis=2)
    found = model.similar(NEW, 4)
    assert np.array_equal(found.numbers, np.argsort(distances, axis=1)[:, :4])
    assert_allclose(found.distances, np.sort(distances, axis=1)[:, :4], rtol=1e-6)
    assert_allclose(found.similarities, [RBF(0.05).block(NEW[i : i + 1], X[found.numbers[i]])[0] for i in range(3)])


def test_all_components_see_the_distances_of_the_kernel_and_some_never_more():
    every, few = KernelPCA(kernel=Spectrum(2)).fit(VOC), KernelPCA(3, kernel=Spectrum(2)).fit(VOC)
    truth = every.similar(VOC, len(VOC), by="kernel")
    for model, same in ((every, True), (few, False)):
        seen = model.similar(VOC, len(VOC))
        for i in range(len(VOC)):
            distances = dict(zip(truth[i].numbers, truth[i].distances, strict=True))
            for number, distance in zip(seen[i].numbers, seen[i].distances, strict=True):
                assert distance <= distances[number] + 1e-6
                assert not same or abs(distance - distances[number]) < 1e-6


def test_one_item_gives_a_list_and_several_a_row_for_each():
    model = KernelPCA(3, kernel=Spectrum(2)).fit(VOC)
    one, both = model.similar("homer", 4), model.similar(["homer", "ned"], 4)
    assert one.numbers.shape == one.items.shape == one.distances.shape == (4,)
    assert both.numbers.shape == both.items.shape == both.similarities.shape == (2, 4)
    assert np.array_equal(both[0].numbers, one.numbers)
    assert model.similar("homer", 1000).numbers.shape == (35,)
    assert str(one).count("\n") == 3 and str(one.items[0]) in str(one)
    assert str(both).count("\n\n") == 1
    assert model.similar(VOC[7], 1, by="kernel").items[0] == VOC[7]  # an item that was there is its own nearest
    rows = KernelPCA(2, kernel="rbf").fit(X)
    assert rows.similar(X[5], 1).numbers.tolist() == rows.similar(X[5:6], 1).numbers[0].tolist() == [5]
    assert rows.similar(X[5], 2).items.shape == (2, 4)
    framed = KernelPCA(2, kernel="rbf").fit(pd.DataFrame(X, columns=list("abcd")))
    assert framed.similar(pd.DataFrame(X, columns=list("abcd")).iloc[5], 1).numbers.tolist() == [5]


def test_what_cannot_be_printed_is_written_out():
    found = KernelPCA(2, kernel=Spectrum(2)).fit([*VOC, "ho\ud800mer", "two\nlines"]).similar("ho\ud800mer", 2)
    assert "ho\\ud800mer" in str(found) and str(found).encode()
    assert str(KernelPCA(2, kernel=Spectrum(2)).fit([*VOC, "two\nlines"]).similar("two\nlines", 2)).count("\n") == 1


def test_texts_without_a_gram_are_like_none():
    """Their vectors are zero, and nearer to others than those are to each other."""
    model = KernelPCA(3, kernel=Spectrum(3)).fit(["a", "", "♫", *VOC])
    found = model.similar("flanders", len(VOC), by="kernel")
    assert 0 < found.similarities[4] < 0.2 and "♫" not in found.items[:5]
    assert (np.diff(found.similarities) <= 1e-12).all() and (np.diff(found.distances) >= -1e-12).all()


def test_rows_may_be_sparse():
    rows = sparse.random_array((50, 20), density=0.2, random_state=0, format="csr")
    model = KernelPCA(3, kernel="cosine").fit(rows)
    found = model.similar(rows[:2], 3, by="kernel")
    assert found.numbers[:, 0].tolist() == [0, 1] and found.items.shape == (6, 20)
    assert_allclose(found[1].items.toarray(), rows[found.numbers[1]].toarray())
    assert str(found)


def test_rows_may_be_of_mixed_columns_and_items_may_be_series():
    frame = pd.DataFrame({"name": VOC, "size": np.arange(len(VOC)) ** 2.0, "family": [family(name) for name in VOC]})
    model = KernelPCA(3, kernel=TableKernel.auto(frame)).fit(frame)
    for by in ("components", "kernel"):
        found = model.similar(frame.iloc[3:5], 2, by=by)
        assert found.numbers[:, 0].tolist() == [3, 4] and len(found[1].items) == 2 and str(found)
    series = [np.sin(np.linspace(0, 3 + i, 20 + i % 3)) for i in range(30)]
    model = KernelPCA(3, kernel=GlobalAlignment()).fit(series)
    assert model.similar(series[5:7], 2).numbers[:, 0].tolist() == [5, 6]
    assert model.similar(series[5], 1, by="kernel").items[0] is model.X_fit_[5]


def test_numbers_are_those_of_the_items_as_they_were_given():
    weights = np.where(np.arange(len(VOC)) % 2 == 0, 1.0, 0.0)
    model = KernelPCA(3, kernel=Spectrum(2)).fit(VOC, sample_weight=weights)
    found = model.similar(VOC, 3)
    assert (found.numbers % 2 == 0).all()
    assert np.array_equal(np.array(VOC, dtype=object)[found.numbers], found.items)


def test_by_landmarks_the_nearest_of_them_are_found():
    model = KernelPCA(3, kernel=Spectrum(2), n_landmarks=12).fit(VOC)
    found = model.similar(VOC, 5)
    assert set(found.numbers.ravel()) <= set(model.landmark_indices_)
    assert np.array_equal(np.array(VOC, dtype=object)[found.numbers], found.items)


def test_components_that_were_cut_since_are_those_that_count():
    model, fresh = KernelPCA(4, kernel="rbf").fit(X), KernelPCA(2, kernel="rbf").fit(X)
    before = model.eigenvalues_, model.eigenvectors_
    first = model.similar(NEW, 5)
    model.eigenvalues_, model.eigenvectors_ = before[0][:2], before[1][:, :2]
    for _ in range(2):
        assert np.array_equal(model.similar(NEW, 5).numbers, fresh.similar(NEW, 5).numbers)
    model.eigenvalues_, model.eigenvectors_ = before
    assert np.array_equal(model.similar(NEW, 5).numbers, first.numbers)


def test_texts_of_a_file_are_searched_for_at_once(tmp_path):
    (tmp_path / "new.txt").write_text("\n".join(OOV))
    model = KernelPCA(10, kernel=Spectrum(3)).fit(VOC)
    assert np.array_equal(model.similar(Path(tmp_path / "new.txt"), 2).numbers, model.similar(OOV, 2).numbers)


@pytest.mark.parametrize(
    ("what", "words"),
    [
        (dict(n=0), "n must be a whole number of at least 1; got 0"),
        (dict(n=2.5), "got 2.5"),
        (dict(n=True), "got True"),
        (dict(by="distance"), "by must be components or kernel; got 'distance'"),
    ],
)
def test_a_question_without_an_answer_is_one_sentence(what, words):
    model = KernelPCA(2, kernel=Spectrum(2)).fit(VOC)
    with pytest.raises(ValueError, match=words):
        model.similar("homer", **what)


def test_items_of_another_kind_are_refused():
    with pytest.raises(BadData, match="item 0 is 5, which is no text"):
        KernelPCA(2, kernel=Spectrum(2)).fit(VOC).similar([5])
    with pytest.raises(ValueError, match="3 features, but KernelPCA is expecting 4"):
        KernelPCA(2, kernel="rbf").fit(X).similar(X[0, :3])
    with pytest.raises(ValueError, match="a precomputed kernel matrix has none"):
        KernelPCA(2, kernel="precomputed").fit(X @ X.T).similar(X @ X[0])
