"""Items: one contract for rows in memory, mapped or scaled, and for things of any kind that models learn from."""

from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator

from mercer import PCA, KernelPCA, LocallyLinearEmbedding
from mercer.kernels import Blockwise
from mercer_old.errors import BadData
from mercer_old.sources.held import Given, HeldItems, HeldRows, MappedRows, ScaledRows, groups_of, same_items

X = np.round(np.random.default_rng(0).normal(size=(23, 4)), 1)
X[5] = X[2]
X[7, 1], X[2, 0] = -0.0, 0.0
X[5, 0] = -0.0
NAMES = [f"{family} {name}" for family in ("bouvier", "simpson", "flanders", "burns") for name in "abcdefgh"]


def mapped(tmp_path):
    np.save(tmp_path / "rows.npy", X)
    return MappedRows(np.load(tmp_path / "rows.npy", mmap_mode="r"))


KINDS = {
    "dense": lambda folder: HeldRows(X),
    "single": lambda folder: HeldRows(X.astype(np.float32)),
    "sparse": lambda folder: HeldRows(sparse.csr_array(X)),
    "mapped": mapped,
    "scaled": lambda folder: ScaledRows(HeldRows(X), np.array([1.0, 2.0, 4.0, 0.5])),
    "scaled and mapped": lambda folder: ScaledRows(mapped(folder), np.array([1.0, 2.0, 4.0, 0.5])),
    "given": lambda folder: Given(X @ X.T),
    "objects": lambda folder: HeldItems(NAMES),
}


def plain(data):
    return data.toarray() if sparse.issparse(data) else data


@pytest.mark.parametrize("kind", KINDS)
def test_items_keep_their_contract(kind, tmp_path):
    items = KINDS[kind](tmp_path)
    whole = plain(items.load())
    assert len(items) == len(whole)
    for size in (1, 5, len(items), len(items) + 1):
        blocks = [plain(block) for block in items.blocks(size)]
        assert all(len(block) == size for block in blocks[:-1])
        assert np.array_equal(np.concatenate(blocks), whole)
        assert np.array_equal(np.concatenate([plain(block) for block in items.blocks_ahead(size)]), whole)
    some = np.array([3, 0, 3, len(items) - 1])
    assert np.array_equal(plain(items[some]), whole[some])
    kept = np.arange(len(items)) % 3 == 0
    rows = whole[kept][:, kept] if kind == "given" else whole[kept]
    assert np.array_equal(plain(items.load(kept)), rows)
    held, left = items.in_memory(), items.in_memory(kept)
    assert held.held and left.held and left.by_matrix == items.by_matrix and left.sparse == items.sparse
    assert np.array_equal(plain(held.load()), whole) and np.array_equal(plain(left.load()), rows)
    assert items.dtype == whole.dtype and items.width >= 1


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "objects"])
def test_rows_know_their_bytes_and_their_width(kind, tmp_path):
    items = KINDS[kind](tmp_path)
    data = items.load()
    bytes_ = data.data.nbytes + data.indices.nbytes + data.indptr.nbytes if sparse.issparse(data) else data.nbytes
    assert items.nbytes == bytes_ and items.width == data.shape[1]


def test_a_given_operator_is_known_by_its_products_alone():
    items = Given(aslinearoperator(X @ X.T))
    assert items.is_operator and len(items) == 23 and items.nbytes == 0 and not items.sparse
    assert not Given(X @ X.T).is_operator


@pytest.mark.parametrize("kind", KINDS)
def test_of_new_items_only_a_matrix_has_columns_of_the_others(kind, tmp_path):
    items, kept = KINDS[kind](tmp_path), np.arange(23) % 2 == 0
    if kind != "given":
        assert items.against(kept) is items
        return
    assert np.array_equal(items.against(kept).load(), (X @ X.T)[:, kept])
    operator = Given(aslinearoperator(X @ X.T)).against(kept)
    assert operator.is_operator and np.array_equal(operator.load() @ np.eye(kept.sum()), (X @ X.T)[:, kept])


@pytest.mark.parametrize("kind", KINDS)
def test_who_needs_columns_gets_rows_or_one_sentence(kind, tmp_path):
    items = KINDS[kind](tmp_path)
    if kind != "objects":
        assert items.as_rows() is items
        return
    with pytest.raises(BadData, match="X: rows of numbers are needed here, and these items have no columns"):
        items.as_rows()
    assert HeldItems(NAMES, width=7).in_memory(np.arange(len(NAMES)) < 3).width == 7


@pytest.mark.parametrize(
    "model",
    [PCA(1), KernelPCA(1, kernel=Blockwise(str), standardize=True)],
    ids=lambda model: type(model).__name__,
)
def test_models_of_columns_refuse_things_without_any(model):
    with pytest.raises(BadData, match="no columns"):
        model.fit(HeldItems(NAMES))


@pytest.mark.parametrize("hold", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_equal_items_have_one_number_and_zeros_have_no_sign(hold):
    groups = groups_of(hold(X))
    distinct = np.unique(X + 0, axis=0)
    assert len(set(groups)) == len(distinct) < len(X)
    for i in range(len(X)):
        for j in range(len(X)):
            assert (groups[i] == groups[j]) == (X[i] == X[j]).all()
    some, others = np.array([2, 5, 3]), np.array([5, 2, 4])
    assert same_items(hold(X)[some], hold(X)[others]).tolist() == [True, True, False]


def test_equal_objects_have_one_number():
    items = np.array(["b", "a", "b", "c", "a"], dtype=object)
    assert groups_of(items).tolist() == [0, 1, 0, 2, 1]
    assert same_items(items[:2], items[[2, 2]]).tolist() == [True, False]


# ---------------------------------------------------------------------------- models that learn from things of any kind


def pairs_of_letters(text):
    return Counter(text[i : i + 2] for i in range(len(text) - 1))


def likeness(some, others):
    """Pairs of letters in common, between 0 and 1."""
    left, right = [pairs_of_letters(text) for text in some], [pairs_of_letters(text) for text in others]
    sizes = [np.sqrt(sum(count**2 for count in of.values())) for of in left + right]
    dots = np.array([[sum(n * b[pair] for pair, n in a.items()) for b in right] for a in left])
    return dots / np.outer(sizes[: len(left)], sizes[len(left) :])


KERNEL = Blockwise(likeness)
WEIGHTS = np.where(np.arange(len(NAMES)) % 5 == 0, 2.0, 1.0) * (np.arange(len(NAMES)) != 3)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["all the same", "weights"])
@pytest.mark.parametrize("components", [3, 0.5])
def test_kernel_pca_of_texts_is_that_of_their_matrix(weights, components):
    K, new = likeness(NAMES, NAMES), ["bouvier z", "simpson x"]
    model = KernelPCA(components, kernel=KERNEL).fit(HeldItems(NAMES), sample_weight=weights)
    twin = KernelPCA(components, kernel="precomputed").fit(K, sample_weight=weights)
    assert_allclose(model.eigenvalues_, twin.eigenvalues_, rtol=1e-10)
    assert_allclose(model.transform(HeldItems(new)), twin.transform(likeness(new, NAMES)), atol=1e-10)
    scores = model.fit_transform(HeldItems(NAMES), sample_weight=weights)
    assert_allclose(scores, model.transform(HeldItems(NAMES)), atol=1e-10)
    assert "components certified" in str(model.certificate_)


def test_landmarks_see_texts_and_new_ones_are_placed():
    model = KernelPCA(2, kernel=KERNEL, n_landmarks=len(NAMES)).fit(HeldItems(NAMES))
    exact = KernelPCA(2, kernel=KERNEL).fit(HeldItems(NAMES))
    assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=1e-8)
    assert set(model.landmarks_) <= set(NAMES)
    chosen = KernelPCA(2, kernel=KERNEL, eigen_solver="landmark", landmarks=[4, 9, 17]).fit(HeldItems(NAMES))
    assert {NAMES[i] for i in (4, 9, 17)} == set(chosen.landmarks_)
    assert_allclose(
        np.abs(model.transform(HeldItems(NAMES[:3]))), np.abs(exact.transform(HeldItems(NAMES[:3]))), atol=1e-7
    )


@pytest.mark.filterwarnings("ignore::mercer_old.errors.MercerWarning")
def test_locally_linear_embedding_of_texts_is_that_of_their_distances():
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("acgt"), size=60 + i)) for i in range(40)]  # no two distances are the same
    distances = np.sqrt(np.maximum(2 - 2 * likeness(texts, texts), 0.0))
    np.fill_diagonal(distances, 0.0)
    model = LocallyLinearEmbedding(n_neighbors=20, metric=KERNEL).fit(HeldItems(texts))
    twin = LocallyLinearEmbedding(n_neighbors=20, metric="precomputed").fit(distances)
    assert_allclose(model.reconstruction_error_, twin.reconstruction_error_, rtol=1e-6)
    assert_allclose(model.transform(HeldItems(texts)), model.embedding_)  # those that equal training items
