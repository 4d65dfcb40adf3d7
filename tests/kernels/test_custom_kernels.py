"""A function of the user's on things of any kind: sets, graphs, ragged lists, objects."""

import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from mercer import KernelPCA, LocallyLinearEmbedding
from mercer.kernels import RBF, Blockwise, GlobalAlignment, Pairwise, Spectrum, check_kernel
from mercer_old.sources.held import groups_of, same_items
from mercer_old.sources.things import Things, things_in
from support.branches import run_code

GUIDE = Path(__file__).parents[2] / "docs" / "guide"
rng = np.random.default_rng(0)
SETS = [frozenset(rng.integers(0, 20, size=rng.integers(1, 8)).tolist()) for _ in range(70)]
NEW = [frozenset({1, 2}), frozenset({19})]


class Basket:
    """An object that is nothing to numpy but an object."""

    def __init__(self, goods):
        self.goods = goods


def jaccard(one, other):
    return len(one & other) / len(one | other)


def of_sets(X, Y):
    return np.array([[jaccard(one, other) for other in Y] for one in X])


def of_baskets(X, Y):
    return of_sets([basket.goods for basket in X], [basket.goods for basket in Y])


K, K_NEW = of_sets(SETS, SETS), of_sets(NEW, SETS)
HELD = {
    "list": (list, Blockwise(of_sets)),
    "tuple": (tuple, Blockwise(of_sets)),
    "objects": (lambda X: np.array([*X, None], dtype=object)[:-1], Blockwise(of_sets)),
    "series": (pd.Series, Blockwise(of_sets)),
    "pairs": (list, jaccard),
    "kernel of pairs": (list, Pairwise(jaccard)),
    "sum": (list, 0.5 * Blockwise(of_sets) + 0.5 * Pairwise(jaccard)),
    "sets that have no hash": (lambda X: [set(one) for one in X], Blockwise(of_sets)),
    "classes": (lambda X: [Basket(one) for one in X], Blockwise(of_baskets)),
}


@pytest.mark.parametrize(("hold", "kernel"), HELD.values(), ids=HELD)
def test_things_of_any_kind_are_placed_as_by_their_matrix(hold, kernel):
    twin = KernelPCA(3, kernel="precomputed").fit(K)
    model = clone(KernelPCA(3, kernel=kernel)).fit(hold(SETS))
    assert_allclose(model.eigenvalues_, twin.eigenvalues_, rtol=1e-10)
    assert_allclose(np.abs(model.transform(hold(NEW))), np.abs(twin.transform(K_NEW)), atol=1e-9)
    assert_allclose(model.transform(hold(SETS)), model.fit_transform(hold(SETS)), atol=1e-9)
    assert model.n_features_in_ == 1


@pytest.mark.parametrize("solver", ["dense", "krylov"])
def test_every_solver_takes_things_and_weights(solver):
    weights = np.arange(70) % 3
    counted = [one for one, times in zip(SETS, weights, strict=True) for _ in range(times)]
    model = KernelPCA(2, kernel=Blockwise(of_sets), eigen_solver=solver, tol=1e-10).fit(SETS, sample_weight=weights)
    assert_allclose(model.eigenvalues_, KernelPCA(2, kernel=Blockwise(of_sets)).fit(counted).eigenvalues_, rtol=1e-8)


def test_landmarks_are_things_or_their_numbers_and_ask_for_few_pairs():
    asked = []

    def watched(X, Y):
        asked.append(len(X) * len(Y))
        return of_sets(X, Y)

    model = KernelPCA(2, kernel=Blockwise(watched), n_landmarks=10, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ten landmarks see little
        many = model.fit([*SETS] * 20)
        assert sum(asked) < 0.2 * 1400**2
        assert len(many.landmarks_) == 10 and isinstance(many.landmarks_[0], frozenset)
        by_number = KernelPCA(2, kernel=Blockwise(of_sets), landmarks=range(30)).fit(SETS)
        by_thing = KernelPCA(2, kernel=Blockwise(of_sets), landmarks=SETS[:30]).fit(SETS)
    assert_allclose(by_number.transform(NEW), by_thing.transform(NEW), atol=1e-12)
    all_of_them = KernelPCA(2, kernel=Blockwise(of_sets), n_landmarks=70).fit(SETS)
    assert_allclose(all_of_them.eigenvalues_, KernelPCA(2, kernel="precomputed").fit(K).eigenvalues_, rtol=1e-8)


def test_neighbours_of_things_are_those_of_their_kernel():
    things = [set(one) for one in SETS]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ties among small sets
        lle = LocallyLinearEmbedding(metric=Blockwise(of_sets), n_neighbors=20).fit(things)
        assert lle.embedding_.shape == (70, 2) and lle.transform([{1, 2}]).shape == (1, 2)


def test_what_numpy_makes_a_table_of_is_rows_and_all_else_things():
    assert things_in([[1, 2], [3, 4]]) is None
    assert things_in([[1, None], [3, 4]]) is None  # a gap, which is refused with its place
    assert things_in([1, 2, 3]) is None and things_in(np.zeros((3, 2))) is None and things_in([]) is None
    for things in ([[1], [1, 2]], ["a", "b"], [["a", "b"], ["c", "d"]], [np.eye(2), np.eye(2)], [{}, {}], [None, 1]):
        assert len(things_in(things)) == len(things)
    rows = np.random.default_rng(1).normal(size=(12, 3))
    model = KernelPCA(2, kernel=lambda x, y: float(x @ y)).fit(rows.tolist())
    assert model.n_features_in_ == 3
    assert_allclose(model.eigenvalues_, KernelPCA(2).fit(rows).eigenvalues_)


def test_new_things_are_taken_as_those_of_the_fit_were():
    by_length = KernelPCA(1, kernel=lambda x, y: float(np.exp(-abs(len(x) - len(y)))))
    ragged = by_length.fit([[1, 2, 3], [1], [2, 2], [5, 5, 5, 5]])
    assert_allclose(ragged.transform([[7, 7]]), ragged.transform([[2, 2], [1]])[:1])  # by itself it would be a table
    rows = KernelPCA(1, kernel=lambda x, y: float(x @ y)).fit([[1.0, 2.0, 3.0], [1.0, 5.0, 2.0]])
    with pytest.raises(TypeError, match="row index 0 of X is a set, not a table of numbers"):
        rows.transform([{1}])


def test_kernels_of_things_are_added_to_those_of_texts_and_of_rows():
    words = ["bar", "bat", "car", "cat", "cart"]
    of_lengths = Blockwise(lambda X, Y: np.minimum([[len(x)] for x in X], [len(y) for y in Y]).astype(float))
    model = KernelPCA(2, kernel=Spectrum(2) + of_lengths).fit(words)
    expected = Spectrum(2).block(words, words) + of_lengths.block(words, words)
    assert_allclose(model.eigenvalues_, KernelPCA(2, kernel="precomputed").fit(expected).eigenvalues_, rtol=1e-9)
    rows = np.random.default_rng(1).normal(size=(12, 3))
    assert KernelPCA(2, kernel=RBF(1.0) + Blockwise(lambda X, Y: X @ Y.T)).fit(rows).n_features_in_ == 3


def test_equal_arrays_are_equal_items_and_what_has_no_hash_equals_itself_alone():
    one, other = np.array([0.0, 1.0]), np.array([-0.0, 1.0])
    items = Things([one, other, np.array([0.0]), {1}, {1}, "a", "a"]).load()
    assert groups_of(items).tolist() == [0, 0, 1, 2, 3, 4, 4]
    assert same_items(items[:2], items[[1, 2]]).tolist() == [True, False]


def test_the_most_similar_things_and_series_are_found():
    model = KernelPCA(5, kernel=Blockwise(of_sets)).fit(SETS)
    assert model.similar(SETS[3], 2, by="kernel").items[0] == SETS[3]
    assert model.similar([SETS[3], SETS[8]], 2, by="kernel").items.shape == (2, 2)
    series = [np.arange(2.0 + i) for i in range(6)]
    model = KernelPCA(2, kernel=GlobalAlignment(2.0)).fit(series)
    assert model.similar(series[4], 1, by="kernel").numbers.tolist() == [4]
    assert model.similar(series[:3], 1, by="kernel").numbers.tolist() == [[0], [1], [2]]


# ---------------------------------------------------------------------------- what cannot be


def overlap(one, other):
    return len(one & other) / min(len(one), len(other))


def test_a_function_that_is_no_mercer_kernel_is_told():
    things = [{1}, {2}, {1, 2}, {1, 3}, {2, 3}, {1, 2, 3}]
    verdict = check_kernel(overlap, things)
    assert not verdict and "not a Mercer kernel" in str(verdict)
    with pytest.warns(UserWarning, match="not positive semi-definite: it has an eigenvalue of at most -"):
        KernelPCA(2, kernel=overlap).fit(things)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        KernelPCA(2, kernel=Pairwise(overlap), landmarks=[0, 1, 3, 4]).fit(things)
    assert any("The kernel is not positive semi-definite" in str(one.message) for one in said)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (lambda: KernelPCA(2, kernel=jaccard, standardize=True).fit(SETS), "divides columns .* and things have none"),
        (lambda: KernelPCA(2, kernel=jaccard, fit_inverse_transform=True).fit(SETS), "finds rows of numbers"),
        (lambda: KernelPCA(2, kernel="rbf").fit(SETS), "row index 0 of X is a frozenset, not a table of numbers"),
        (lambda: KernelPCA(2, kernel=Blockwise(jaccard)).fit(["a", "b"]), "unsupported operand|returned"),
        (
            lambda: KernelPCA(2, kernel=Blockwise(lambda X, Y: np.zeros(3))).fit(SETS),
            r"it must return \(70, 70\)|it must",
        ),
        (lambda: KernelPCA(2, kernel=lambda x, y: None).fit(SETS), "which is no number|not finite"),
        (lambda: KernelPCA(2, kernel=lambda x, y: np.nan).fit(SETS), "not finite"),
        (lambda: KernelPCA(2, kernel=jaccard, landmarks=[99]).fit(SETS), "99 is none of them"),
        (lambda: KernelPCA(2, kernel=jaccard).fit([1, 2, 3]), "Expected 2D array, got 1D array instead"),
        (lambda: KernelPCA(2, kernel=jaccard).fit([]), "Expected 2D array, got 1D array instead"),
        (lambda: KernelPCA(2, kernel=jaccard).fit("abc"), "X is a text, 'abc'"),
    ],
)
def test_what_cannot_be_is_one_sentence(asked, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        asked()


@pytest.mark.parametrize(
    ("page", "package"), [pytest.param("fingerprints", "rdkit", marks=pytest.mark.slow), ("anything", "grakel")]
)
def test_what_the_guide_shows_with_other_packages_runs_where_they_are(page, package):
    pytest.importorskip(package)
    (code,) = re.findall(r"```py\n(.*?)```", (GUIDE / f"{page}.md").read_text(encoding="utf-8"), re.S)
    done = run_code(code, GUIDE.parents[1])
    assert done.returncode == 0, done.stderr
