"""PLINK's and flashpca's files, read back by a reader that knows nothing, against numpy and against each other."""

import numpy as np
import pytest

import mercer
from mercer import PCA, IncrementalPCA, KernelPCA, LocallyLinearEmbedding
from mercer.kernels import RBF
from mercer_old.errors import BadData, MercerWarning, WrongUse


def read_table(path, texts):
    """The heading, the first `texts` columns, and the numbers after them."""
    heading, *lines = [line.split("\t") for line in path.read_text().splitlines()]
    return heading, [line[:texts] for line in lines], np.array([line[texts:] for line in lines], dtype=float)


def decomposed(X, k=3):
    """U and λ of the centred matrix of the rows, by numpy."""
    U, s, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    return U[:, :k], s[:k] ** 2


def same_up_to_sign(found, expected, tol=1e-9):
    signs = np.sign((found * expected).sum(axis=0))
    np.testing.assert_allclose(found * signs, expected, atol=tol * np.abs(expected).max())


@pytest.fixture
def rows(wine):
    return wine / wine.std(axis=0)


MODELS = [PCA(3), PCA(3, whiten=True), IncrementalPCA(3, batch_size=60), KernelPCA(3, kernel="linear")]


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_plink_has_eigenvectors_of_length_one_and_their_eigenvalues(model, rows, tmp_path):
    done = mercer.convert(model.fit(rows), tmp_path / "study", "plink", X=rows)
    assert [path.name for path in done.paths] == ["study.eigenvec", "study.eigenval"]
    heading, ids, vectors = read_table(tmp_path / "study.eigenvec", 1)
    values = np.array((tmp_path / "study.eigenval").read_text().split(), dtype=float)
    assert heading == ["#IID", "PC1", "PC2", "PC3"]
    assert ids == [[str(i + 1)] for i in range(len(rows))] and "numbers, from 1 on" in done.words
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(3), atol=1e-8)
    U, expected = decomposed(rows)
    same_up_to_sign(vectors, U, 1e-7)
    np.testing.assert_allclose(values, expected)
    if not getattr(model, "whiten", False):
        np.testing.assert_allclose(vectors * np.sqrt(values), model.transform(rows), atol=1e-8)


def test_kernel_pca_knows_its_own_rows(rows, tmp_path):
    model = KernelPCA(3, kernel=RBF(gamma=0.05)).fit(rows)
    for name, X in (("own", None), ("given", rows)):
        mercer.convert(model, tmp_path / name, "plink", X=X)
    own, given = (read_table(tmp_path / f"{name}.eigenvec", 1)[2] for name in ("own", "given"))
    np.testing.assert_allclose(own, given, atol=1e-9)
    K = np.exp(-0.05 * ((rows[:, None] - rows) ** 2).sum(axis=2))
    J = np.eye(len(K)) - 1 / len(K)
    values, vectors = np.linalg.eigh(J @ K @ J)
    same_up_to_sign(own, vectors[:, :-4:-1])
    found = np.array((tmp_path / "own.eigenval").read_text().split(), dtype=float)
    np.testing.assert_allclose(found, values[:-4:-1])


def test_landmarks_need_the_rows(rows, tmp_path):
    model = KernelPCA(3, kernel=RBF(gamma=0.05), eigen_solver="landmark", n_landmarks=40).fit(rows)
    with pytest.raises(WrongUse, match="does not keep its rows"):
        mercer.convert(model, tmp_path / "study", "plink")
    mercer.convert(model, tmp_path / "study", "plink", X=rows)
    vectors = read_table(tmp_path / "study.eigenvec", 1)[2]
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=0), 1.0, atol=1e-6)


def test_families_come_first_and_scores_are_scores(rows, tmp_path):
    ids = [(f"f{i // 2}", f"é{i}") for i in range(9)]
    model = PCA(2).fit(rows)
    done = mercer.convert(model, tmp_path / "new.eigenvec", X=rows[:9], ids=ids, scores=True)
    heading, found, scores = read_table(tmp_path / "new.eigenvec", 2)
    assert heading == ["#FID", "IID", "PC1", "PC2"] and [tuple(pair) for pair in found] == ids
    np.testing.assert_array_equal(scores, model.transform(rows[:9]))
    assert "scores, which PLINK does not write" in done.words


@pytest.mark.parametrize("standardize", [False, True])
def test_flashpca_has_all_of_its_files(standardize, wine, tmp_path):
    model = PCA(3, standardize=standardize).fit(wine)
    done = mercer.convert(model, tmp_path / "s", to="flashpca", X=wine, ids=[f"i{n}" for n in range(len(wine))])
    names = ["pcs", "eigenvectors", "eigenvalues", "pve", "loadings", "meansd"]
    assert [path.name for path in done.paths] == [f"s.{name}.txt" for name in names]
    heading, ids, scores = read_table(tmp_path / "s.pcs.txt", 2)
    assert heading == ["FID", "IID", "PC1", "PC2", "PC3"] and ids[4] == ["i4", "i4"]
    heading, _, vectors = read_table(tmp_path / "s.eigenvectors.txt", 2)
    assert heading == ["FID", "IID", "U1", "U2", "U3"]
    heading, _, loadings = read_table(tmp_path / "s.loadings.txt", 2)
    assert heading == ["SNP", "RefAllele", "V1", "V2", "V3"]
    heading, snps, spread = read_table(tmp_path / "s.meansd.txt", 2)
    assert heading == ["SNP", "RefAllele", "Mean", "SD"] and snps[0] == ["1", "."]
    values, shares = (
        np.array((tmp_path / f"s.{n}.txt").read_text().split(), dtype=float) for n in ("eigenvalues", "pve")
    )
    deviations = wine.std(axis=0, ddof=1) if standardize else np.ones(13)
    np.testing.assert_allclose(spread, np.column_stack([wine.mean(axis=0), deviations]))
    Z = (wine - spread[:, 0]) / spread[:, 1]  # as flashpca --project has it
    np.testing.assert_allclose(Z @ loadings, scores, atol=1e-8)
    np.testing.assert_allclose(vectors * np.sqrt(values), scores, atol=1e-8)
    np.testing.assert_allclose(loadings.T @ loadings, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(shares, values / np.square(Z).sum())
    np.testing.assert_allclose(values, decomposed(Z)[1])


def test_flashpca_of_a_kernel_has_no_loadings_and_of_new_rows_no_eigenvectors(rows, tmp_path):
    model = KernelPCA(2, kernel=RBF(gamma=0.05)).fit(rows)
    done = mercer.convert(model, tmp_path / "s", "flashpca", X=rows[:7], scores=True)
    assert [path.name for path in done.paths] == ["s.pcs.txt", "s.eigenvalues.txt", "s.pve.txt"]
    np.testing.assert_allclose(read_table(tmp_path / "s.pcs.txt", 2)[2], model.transform(rows[:7]))


# ---------------------------------------------------------------------- what is refused


def cases(rows):
    model = PCA(2).fit(rows)
    line = np.multiply.outer(np.arange(10.0), np.ones(3))
    weighted = KernelPCA(2, kernel="rbf").fit(rows, sample_weight=1 + np.arange(len(rows)) % 2)
    n = [str(i + 1) for i in range(len(rows))]
    return {
        "rows": (model, {}, WrongUse, "give those that it was fitted on"),
        "others": (model, {"X": rows[:50]}, BadData, "of length one .* component . of the 50 rows"),
        "shifted": (model, {"X": rows + 1}, BadData, "has length"),
        "flat": (PCA(2).fit(line), {"X": line}, BadData, "Component 2 has no variance|has length"),
        "weights": (weighted, {}, WrongUse, "weights"),
        "weighted": (weighted, {"X": rows}, BadData, "counted once"),
        "few": (model, {"X": rows, "ids": n[:-1]}, BadData, "177 ids for 178 rows"),
        "space": (model, {"X": rows, "ids": ["a b", *n[1:]]}, BadData, "'a b' of row index 0"),
        "tab": (model, {"X": rows, "ids": [*n[:-1], "a\tb"]}, BadData, "row index 177"),
        "line": (model, {"X": rows, "ids": ["a\n", *n[1:]]}, BadData, "white space"),
        "escape": (model, {"X": rows, "ids": ["a\x1b[2J", *n[1:]]}, BadData, "control"),
        "empty": (model, {"X": rows, "ids": ["", *n[1:]]}, BadData, "at least one letter"),
        "heading": (model, {"X": rows, "ids": ["#IID", *n[1:]]}, BadData, "begin with #"),
        "zero": (model, {"X": rows, "ids": ["0", *n[1:]]}, BadData, "missing"),
        "three": (model, {"X": rows, "ids": np.zeros((len(rows), 3))}, WrongUse, "pairs"),
        "text": (model, {"X": rows, "ids": "abc"}, WrongUse, "got 'abc'"),
        "number": (model, {"X": rows, "ids": 5}, WrongUse, "got 5"),
        "lle": (LocallyLinearEmbedding().fit(rows), {"X": rows}, WrongUse, "has none"),
    }


NAMES = ["rows", "others", "shifted", "flat", "weights", "weighted", "few", "space", "tab", "line", "escape", "empty"]
NAMES += ["heading", "zero", "three", "text", "number", "lle"]


@pytest.mark.filterwarnings("ignore::mercer_old.errors.MercerWarning")
@pytest.mark.parametrize("name", NAMES)
def test_what_is_refused_is_one_sentence_and_leaves_nothing(name, rows, tmp_path):
    model, options, error, words = cases(rows)[name]
    with pytest.raises(error, match=words) as caught:
        mercer.convert(model, tmp_path / "s", "plink", **options)
    assert "\n" not in str(caught.value) and "\x1b" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_all_refusals_are_tried(rows):
    assert set(cases(rows)) == set(NAMES)


def test_equal_ids_are_warned_of(rows, tmp_path):
    with pytest.warns(MercerWarning, match="same id"):
        mercer.convert(PCA(2).fit(rows), tmp_path / "s", "plink", X=rows, ids=["a"] * len(rows))


def test_names_of_columns_with_white_space_are_refused_for_flashpca(wine, tmp_path):
    import pandas as pd

    frame = pd.DataFrame(wine, columns=["rs 1", *map(str, range(12))])
    with pytest.raises(BadData, match="'rs 1'"):
        mercer.convert(PCA(2).fit(frame), tmp_path / "s", "flashpca", X=frame)
