"""The edit distance as a similarity: right, and honest about being no Mercer kernel."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mercer import KernelPCA, LocallyLinearEmbedding
from mercer.kernels import Edit, check_kernel
from mercer_old.errors import BadData, MercerWarning
from mercer_old.kernels.texts import gaps
from mercer_old.kernels.texts.edit import edit_distances
from mercer_old.kernels.texts.grams import Letters
from support.naive_texts import edit_distance

rng = np.random.default_rng(0)
TEXTS = ["", "a", "ab", "kitten", "sitting", "saturday", "sunday", "naïve", "naive", "😀😀x", "\ud800", "aaaaaaaaaaaa"]
TEXTS += ["".join(rng.choice(list("abcd"), size=rng.integers(0, 13))) for _ in range(12)]
WORDS = ["".join(word) for length in range(4) for word in product("ab", repeat=length)]  # with an eigenvalue of −0.106


@pytest.mark.parametrize("cells", [1 << 15, 64])
def test_distances_are_those_of_levenshtein(cells, monkeypatch):
    monkeypatch.setattr(gaps, "_CELLS", cells)
    codes = Letters.of(TEXTS).apart()
    exact = [[edit_distance(s, t) for t in TEXTS[:9]] for s in TEXTS]
    assert_array_equal(edit_distances(codes, codes[:9]), exact)
    assert_allclose(Edit(0.3).block(TEXTS, TEXTS[:9]), np.exp(-0.3 * np.array(exact)), rtol=1e-15)


def test_bytes_are_letters():
    assert_allclose(Edit(1.0).block([b"b\xe4t"], ["bät", "bet"]), [[1.0, np.exp(-1)]])


def test_it_is_no_mercer_kernel_and_says_so():
    assert not Edit().psd
    verdict = check_kernel(Edit(0.2), WORDS)
    assert not verdict and "is not a Mercer kernel" in str(verdict)
    assert verdict.smallest_eigenvalue == pytest.approx(-0.106034, abs=1e-5)


def test_kernel_pca_takes_what_is_positive_and_warns():
    with pytest.warns(MercerWarning, match="negative|positive semi-definite"):
        model = KernelPCA(2, kernel=Edit(0.2)).fit(WORDS)
    K = Edit(0.2).block(WORDS, WORDS)
    centred = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    truth = np.linalg.eigvalsh(centred)
    assert truth[0] < -0.01
    assert_allclose(model.eigenvalues_, truth[::-1][:2], rtol=1e-9)
    assert_allclose(model.transform(WORDS), model.transform(WORDS[::-1])[::-1], atol=1e-12)


@pytest.mark.filterwarnings("ignore:.*equally near neighbours")
def test_locally_linear_embedding_warns():
    with pytest.warns(MercerWarning, match="not positive semi-definite"):
        LocallyLinearEmbedding(n_neighbors=4, metric=Edit(0.2)).fit(WORDS)


def test_what_makes_no_sense_is_one_sentence():
    with pytest.raises(BadData, match="A text of 1,000,000 letters is too long for Edit"):
        Edit().block(["a" * 1_000_000], ["b" * 1_000_000])
    with pytest.raises(ValueError, match="gamma must be a positive number; got 0"):
        Edit(gamma=0)
