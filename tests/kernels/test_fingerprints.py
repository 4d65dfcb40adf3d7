"""Bits and counts: what two fingerprints share, exact in single precision, by every way that there is."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from mercer import KernelPCA, LocallyLinearEmbedding
from mercer.kernels import HistogramIntersection, MinMax, Tanimoto
from mercer.kernels import counts as of_counts
from mercer_old.errors import BadData
from mercer_old.kernels.counts import WholeProducts, compact, counted_out, whole_squares

rng = np.random.default_rng(0)
FEW = (rng.random((70, 512)) < np.linspace(0.3, 0.0, 512) ** 2).astype(np.uint8)  # some bits are set in many rows
MANY = (rng.random((40, 96)) < 0.4).astype(np.uint8)
FEW[3] = FEW[11] = 0
COUNTS = FEW * rng.integers(1, 9, size=FEW.shape, dtype=np.uint8)


def jaccard(x, y):
    """Of the sets of bits, as RDKit and everybody else has it; 1 of two empty ones."""
    either = np.count_nonzero(x | y)
    return np.count_nonzero(x & y) / either if either else 1.0


def smallest_over_largest(x, y):
    either = int(np.maximum(x, y).sum(dtype=int))
    return int(np.minimum(x, y).sum(dtype=int)) / either if either else 1.0


def by_pairs(of_two, X, Y):
    return np.array([[of_two(x, y) for y in Y] for x in X])


FORMS = {
    "bytes": lambda X: X,
    "truth values": lambda X: X.astype(bool),
    "single": lambda X: X.astype(np.float32),
    "double": lambda X: X.astype(float),
    "columns first": lambda X: np.asfortranarray(X.astype(np.int64)),
    "csr": lambda X: sparse.csr_array(X),
    "csr matrix of doubles": lambda X: sparse.csr_matrix(X.astype(float)),
    "csc": lambda X: sparse.csc_array(X),
    "csr with explicit zeros": lambda X: _with_zeros(X),
    "csr with entries in two parts": lambda X: _in_two(X),
}


def _with_zeros(X):
    rows = sparse.csr_array(np.ones_like(X))
    rows.data[:] = X.ravel()
    return rows


def _in_two(X):
    rows = sparse.csr_array(X.astype(float))
    parts = np.repeat(rows.data / 2, 2), np.repeat(rows.indices, 2), 2 * rows.indptr
    return sparse.csr_array(parts, shape=rows.shape)


@pytest.mark.parametrize("bits", [FEW, MANY], ids=["few", "many"])
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_tanimoto_of_bits_is_what_they_share_to_the_last_digit(form, bits):
    expected = by_pairs(jaccard, bits, bits[:9])
    assert_array_equal(Tanimoto().block(form(bits), form(bits[:9])), expected)
    assert_array_equal(Tanimoto().block(form(bits), bits[:9]), expected)
    assert_array_equal(Tanimoto().block(bits, form(bits[:9])), expected)


@pytest.mark.parametrize("counts", [COUNTS, MANY * 3, FEW], ids=["few", "many", "bits"])
@pytest.mark.parametrize("form", [form for name, form in FORMS.items() if name != "truth values"])
def test_min_max_of_counts_is_a_quotient_of_whole_numbers_to_the_last_digit(form, counts):
    expected = by_pairs(smallest_over_largest, counts, counts[:9])
    assert_array_equal(MinMax().block(form(counts), form(counts[:9])), expected)
    least = by_pairs(lambda x, y: np.minimum(x, y).sum(dtype=int), counts, counts[:9])
    assert_array_equal(HistogramIntersection().block(form(counts), form(counts[:9])), least)


def test_tanimoto_of_counts_is_exact_too():
    x, dots = COUNTS.astype(int), COUNTS.astype(int) @ COUNTS[:9].astype(int).T
    either = (x**2).sum(axis=1)[:, None] + (x[:9] ** 2).sum(axis=1) - dots
    expected = np.divide(dots, either, out=np.ones(dots.shape), where=either > 0)
    assert_array_equal(Tanimoto().block(COUNTS, sparse.csr_array(COUNTS[:9])), expected)


@pytest.mark.parametrize("bits", [FEW, MANY], ids=["few", "many"])
def test_packed_bits_are_the_same_bits(bits):
    packed, kernel = np.packbits(bits, axis=1), Tanimoto(packed=True)
    assert_array_equal(kernel.block(packed, packed[:9]), by_pairs(jaccard, bits, bits[:9]))
    assert_array_equal(kernel.block(packed.astype(float), packed[:9]), by_pairs(jaccard, bits, bits[:9]))
    plain = KernelPCA(3, kernel=Tanimoto()).fit(bits)
    model = KernelPCA(3, kernel=kernel).fit(packed)
    assert_array_equal(model.eigenvalues_, plain.eigenvalues_)
    assert_array_equal(model.transform(packed[:5]), plain.transform(bits[:5]))
    assert_allclose(model.transform(packed), model.fit_transform(packed), atol=1e-12)
    marks = KernelPCA(3, kernel=kernel, n_landmarks=20, random_state=0).fit(packed)
    assert_array_equal(
        marks.landmark_indices_,
        KernelPCA(3, kernel=Tanimoto(), n_landmarks=20, random_state=0).fit(bits).landmark_indices_,
    )


@pytest.mark.parametrize("bad", [[[0.5, 1.0]], [[256, 0]], [[-1, 3]]])
def test_what_is_no_byte_cannot_be_packed_bits(bad):
    with pytest.raises(BadData, match="rows of bytes, whole numbers from 0 to 255"):
        Tanimoto(packed=True).block(np.array(bad), np.array(bad))
    with pytest.raises(ValueError, match="packed must be True or False; got 8"):
        Tanimoto(packed=8)


def test_numbers_too_large_for_exact_products_are_compared_in_double_precision():
    large = np.array([[4096, 1], [1, 4096], [2900, 2800]])  # squares up to 2²⁴ + 1
    assert whole_squares(large) is None and whole_squares(large[2:]) is not None
    dots = large @ large.T
    lengths = np.diag(dots)
    assert_allclose(Tanimoto().block(large, large), dots / (lengths[:, None] + lengths - dots), rtol=1e-14)
    edge = np.array([[4096, 0], [4095, 90]])
    assert whole_squares(edge[:1]) is not None
    dots = edge @ edge.T
    assert_array_equal(Tanimoto().block(edge, edge), dots / (np.diag(dots)[:, None] + np.diag(dots) - dots))


def test_large_counts_are_not_counted_out():
    huge = sparse.csr_array(np.array([[1000, 0, 3], [900, 2, 0]]))
    assert counted_out(huge, None) is None
    assert_allclose(MinMax().block(huge, huge), [[1, 900 / 1005], [900 / 1005, 1]], rtol=1e-15)
    assert counted_out(COUNTS, None) is not None


def test_every_way_to_multiply_gives_the_same_products(monkeypatch):
    left, right = compact(COUNTS), compact(COUNTS[:37])
    truth = COUNTS.astype(int) @ COUNTS[:37].astype(int).T
    for way in ("_by_sheets", "_by_entries", "_by_blas"):
        out = np.empty(truth.shape)
        getattr(WholeProducts(left, right), way)(slice(None), slice(None), out)
        assert_array_equal(out, truth, err_msg=way)
        part = np.empty((20, 11))
        getattr(WholeProducts(left, right), way)(slice(5, 25), slice(20, 31), part)
        assert_array_equal(part, truth[5:25, 20:31], err_msg=way)
    monkeypatch.setattr(of_counts, "_WIDEST", 100)
    wide = WholeProducts(left, right)
    assert wide.fill == wide._by_entries


def test_sheets_are_clean_for_the_next_tile():
    products, out = WholeProducts(compact(FEW), compact(FEW)), np.empty((70, 30))
    for _ in range(2):
        for columns in (slice(0, 30), slice(40, 70), slice(30, 60)):
            products.fill(slice(0, 70), columns, out)
            assert_array_equal(out, FEW.astype(int) @ FEW[columns].astype(int).T)


@pytest.mark.parametrize("kernel", [Tanimoto(), MinMax(), HistogramIntersection()], ids=repr)
@pytest.mark.parametrize("solver", ["dense", "krylov", "landmark"])
def test_kernel_pca_of_fingerprints_is_that_of_their_matrix_dense_or_sparse(kernel, solver):
    K = by_pairs({Tanimoto: jaccard, MinMax: smallest_over_largest}.get(type(kernel), _common), FEW, FEW)
    truth = KernelPCA(3, kernel="precomputed").fit(K)
    many = {"n_landmarks": len(FEW)} if solver == "landmark" else {}
    for rows in (FEW, sparse.csr_array(FEW)):
        model = KernelPCA(3, kernel=kernel, eigen_solver=solver, **many).fit(rows)
        assert_allclose(model.eigenvalues_, truth.eigenvalues_, rtol=1e-7)
        assert_allclose(np.abs(model.transform(rows[:7])), np.abs(truth.transform(K[:7])), atol=1e-5)


def _common(x, y):
    return float(np.minimum(x, y).sum(dtype=int))


def test_neighbours_of_fingerprints_are_those_with_most_in_common():
    model = LocallyLinearEmbedding(metric=Tanimoto(), n_neighbors=8).fit(sparse.csr_array(FEW))
    assert model.embedding_.shape == (70, 2)


def test_plans_of_fingerprints_know_that_they_are_small():
    """Where an array of their numbers in double precision would take 1.6 GB, and the matrix 80 GB."""
    rows, model = _made_up(100_000, 2048, 25), KernelPCA(2, kernel=Tanimoto(), memory_limit="900MB")
    plan = model.plan(rows)
    assert plan.held == "recomputed" and plan.memory < 900e6
    marks = KernelPCA(2, kernel=Tanimoto(), n_landmarks=1000, memory_limit="400MB").plan(rows)
    assert marks.held == "landmarks" and marks.memory < 400e6


def _made_up(n, d, bits):
    columns = np.random.default_rng(1).integers(d, size=(n, bits))
    rows = sparse.csr_array(
        (np.ones(n * bits, dtype=np.uint8), columns.ravel(), np.arange(0, n * bits + 1, bits)), (n, d)
    )
    rows.sum_duplicates()
    rows.data[:] = 1
    return rows


def test_bulk_similarities_of_rdkit_are_these():
    pytest.importorskip("rdkit")
    from rdkit.Chem import MolFromSmiles
    from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator
    from rdkit.DataStructs import BulkTanimotoSimilarity

    smiles = ["CCO", "CCN", "c1ccccc1", "c1ccccc1O", "CC(=O)Oc1ccccc1C(=O)O", "CN1C=NC2=C1C(=O)N(C(=O)N2C)C", "C"]
    molecules, make = [MolFromSmiles(text) for text in smiles], GetMorganGenerator(radius=2, fpSize=2048)
    theirs = [make.GetFingerprint(molecule) for molecule in molecules]
    bits = np.array([make.GetFingerprintAsNumPy(molecule) for molecule in molecules])
    assert_array_equal(Tanimoto().block(bits, bits), [BulkTanimotoSimilarity(one, theirs) for one in theirs])
    theirs = [make.GetCountFingerprint(molecule) for molecule in molecules]
    counts = np.array([make.GetCountFingerprintAsNumPy(molecule) for molecule in molecules])
    assert_array_equal(MinMax().block(counts, counts), [BulkTanimotoSimilarity(one, theirs) for one in theirs])
