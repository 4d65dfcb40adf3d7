"""How far new items are from the mean of the features, beside their scores, however the matrix was held."""

import numpy as np
import pytest

from mercer import KernelPCA
from mercer.datasets import OOV, VOC
from mercer.kernels import RBF, Polynomial, Spectrum
from mercer_old.errors import BadData

LENGTHS = {
    "entries": (RBF(0.3), {}),
    "shifted entries": (RBF(1e-4), {}),
    "dense features": (Polynomial(degree=2), {}),
    "all rows as landmarks": (RBF(0.3), {"landmarks": np.arange(30)}),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("kernel", "how"), LENGTHS.values(), ids=LENGTHS)
@pytest.mark.filterwarnings("ignore:All rows look nearly the same")
def test_lengths_of_new_rows_are_distances_from_the_mean_of_the_features(kernel, how, weighted):
    """‖φ(x) − mean‖² = k(x, x) − 2k(x, ·)c + cᵀKc, also after somebody has cut the components."""
    rng = np.random.default_rng(0)
    X, new, weights = rng.normal(size=(30, 3)), 2 * rng.normal(size=(7, 3)), rng.integers(1, 4, 30)
    model = KernelPCA(4, kernel=kernel, **how).fit(X, sample_weight=weights if weighted else None)
    c, kernel = (weights / weights.sum() if weighted else np.full(30, 1 / 30)), model.kernel_
    truth = kernel.diag(new) - 2 * kernel.block(new, X) @ c + c @ kernel.block(X, X) @ c
    for _ in range(2):
        scores, lengths = model._projection.now(model).scores_and_lengths(new, 1)
        np.testing.assert_allclose(lengths, truth, rtol=1e-10)
        np.testing.assert_allclose(scores, model.transform(new), rtol=1e-12, atol=1e-12)
        if how:
            break
        model.eigenvalues_, model.eigenvectors_ = model.eigenvalues_[:2], model.eigenvectors_[:, :2]


def test_lengths_of_texts_come_from_sparse_features():
    model = KernelPCA(3, kernel=Spectrum(2)).fit(VOC)
    kernel, new = model.kernel_, np.array(OOV, dtype=object)
    texts = np.array(VOC, dtype=object)
    truth = kernel.diag(new) - 2 * kernel.block(new, texts).mean(axis=1) + kernel.block(texts, texts).mean()
    lengths = model._projection.now(model).scores_and_lengths(new, 1)[1]
    np.testing.assert_allclose(lengths, truth, rtol=1e-12)


def test_lengths_need_more_than_a_precomputed_matrix():
    model = KernelPCA(2, kernel="precomputed").fit(np.diag([5.0, 4.0, 3.0, 2.0, 1.0]))
    with pytest.raises(BadData, match=r"k\(x, x\)"):
        model._projection.now(model).scores_and_lengths(np.ones((1, 5)), 1)


ROUNDED = {
    **LENGTHS,
    "landmarks of a wide kernel": (RBF(1e-5), {"landmarks": np.arange(8)}),
    "a very wide kernel": (RBF(1e-12), {}),
}


@pytest.mark.parametrize(("kernel", "how"), ROUNDED.values(), ids=ROUNDED)
@pytest.mark.filterwarnings("ignore:All rows look nearly the same", "ignore:.*of the .* landmarks were left out")
def test_scores_and_lengths_alone_and_in_a_batch_differ_by_no_more_than_is_said(kernel, how):
    """The bound is of the same sums with other orders of adding, and far below what rows differ by themselves."""
    rng = np.random.default_rng(1)
    X, new = rng.normal(size=(30, 3)), rng.normal(size=(41, 3))
    model = KernelPCA(2, kernel=kernel, **how).fit(X)
    projection = model._projection.now(model)
    scores, lengths = projection.scores_and_lengths(new, 1)
    off, lengths_off = projection.rounding(new, 1)
    assert off.shape == scores.shape and lengths_off.shape == lengths.shape
    assert (off > 0).all() and (lengths_off > 0).all()
    for some in (slice(0, 1), slice(3, 10), slice(0, 41, 2)):
        there = projection.scores_and_lengths(new[some], 1)
        assert (np.abs(there[0] - scores[some]) <= off[some]).all()
        assert (np.abs(there[1] - lengths[some]) <= lengths_off[some]).all()
    assert np.median(off, axis=0)[0] < 1e-3 * np.std(scores[:, 0])
    assert np.median(lengths_off) < 1e-3 * np.std(lengths)
