"""Letters in a row, compared with tolerance: against their definitions, over all pairs of windows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer import KernelPCA
from mercer.datasets import OOV, VOC
from mercer.kernels import GappedKmer, Mismatch, Spectrum, WeightedDegree, check_kernel
from mercer_old.rounding import gamma
from support.naive_texts import by_definition, exactly

rng = np.random.default_rng(0)
TEXTS = [
    "",
    "a",
    "ab",
    "aaaaaaa",
    "bar",
    "bat",
    "car",
    "cat",
    "naïve",
    "😀😀x",
    "\ud800a\ud800",
    b"b\xe4t",
    "the cat the",
]
TEXTS += ["".join(rng.choice(list("abcd"), size=rng.integers(0, 13))) for _ in range(8)]
NEW = ["zzzz", "catz", "aaaaaaaaab", "", "the dog", "naive"]
KERNELS = [
    GappedKmer(1, 0),
    GappedKmer(3, 1),
    GappedKmer(3, 2, normalize=False),
    GappedKmer(5, 2, normalize="jaccard"),
    Mismatch(1, 0, "abc"),
    Mismatch(2, 1, "abcd", normalize=False),
    Mismatch(3, 1, "abcdrt"),
    Mismatch(3, 2, "ab", normalize="dice"),
    WeightedDegree(1),
    WeightedDegree(3, normalize=False),
    WeightedDegree(4, normalize="jaccard"),
    WeightedDegree(7),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_windows_are_compared_as_defined(kernel):
    exact = exactly(kernel, TEXTS, TEXTS)
    size = np.sqrt(np.outer(kernel.sizes(TEXTS), kernel.sizes(TEXTS)))
    assert (
        np.array(abs(kernel.block(TEXTS, TEXTS) - exact), dtype=float) <= gamma(kernel.roundings(TEXTS)) * size
    ).all()
    assert_allclose(kernel.diag(TEXTS), np.diag(exact).astype(float), rtol=1e-13)
    assert_allclose(kernel.block(NEW, TEXTS), by_definition(kernel, NEW, TEXTS), rtol=1e-12, atol=1e-15)
    learned = kernel.feature_map(TEXTS)
    assert (learned is None) == (kernel.normalize in ("dice", "jaccard"))
    if learned is not None:
        phi = learned.features(TEXTS)
        off = np.array(abs((phi @ phi.T).toarray() - exact), dtype=float)
        assert (off <= 2.001 * gamma(learned.roundings()) * size + gamma(phi.shape[1] + 2) * size).all()
        assert_allclose((learned.features(NEW) @ phi.T).toarray(), by_definition(kernel, NEW, TEXTS), atol=1e-12)


def test_nothing_left_open_and_nothing_exchanged_is_the_spectrum():
    K = Spectrum(3).block(VOC, VOC)
    assert_allclose(GappedKmer(3, 0).block(VOC, VOC), K, rtol=1e-14)
    assert_allclose(Mismatch(3, 0, "a").block(VOC, VOC), K, rtol=1e-14)


@pytest.mark.parametrize(("n", "m"), [(2, 1), (3, 1), (3, 2), (4, 2)])
def test_neighbourhoods_share_as_many_grams_as_combinatorics_says(n, m):
    """Two grams at distance h over A letters: i of the h places agree with neither, j with one, …; counted here over
    all grams there are."""
    letters = "ACGT"
    kernel = Mismatch(n, m, letters, normalize=False)
    grams = [[letters[i // 4**p % 4] for p in range(n)] for i in range(4**n)]
    near = np.array([[sum(x != y for x, y in zip(a, b, strict=True)) <= m for b in grams] for a in grams], dtype=float)
    texts = ["".join(gram) for gram in grams]
    assert np.array_equal(kernel.block(texts, texts), near @ near.T)


def test_aligned_texts_are_compared_place_by_place():
    """β = 1/2, 1/3, 1/6 for n = 3: of ACGT and ACGA three letters, two pairs and one triple are the same."""
    K = WeightedDegree(3, normalize=False).block(["ACGT", "AACG"], ["ACGA"])
    assert_allclose(K, [[3 / 2 + 2 / 3 + 1 / 6], [1 / 2]])


def test_weighted_degrees_are_those_of_strkernels():
    """WeightedDegreeStringKernel(degree=3, normalizer=None) of strkernels 0.2.15, whose weights are 6 times ours."""
    words = ["kernel", "colonel", "kennel", "lenkerne"]
    theirs = [[32, 0, 22, 6], [0, 38, 0, 0], [22, 0, 32, 11], [6, 0, 11, 44]]
    assert_allclose(6 * WeightedDegree(3, normalize=False).block(words, words), theirs, rtol=1e-14)


def test_the_alphabet_is_that_of_the_texts_of_the_fit():
    model, names = KernelPCA(2, kernel=Mismatch(2, 1)).fit(VOC), [*OOV, "Ωmega"]
    assert model.kernel_.alphabet == "".join(sorted(set("".join(VOC))))
    K, new = by_definition(model.kernel_, VOC, VOC), by_definition(model.kernel_, names, VOC)
    twin = KernelPCA(2, kernel="precomputed").fit(K)
    assert_allclose(np.abs(model.transform(names)), np.abs(twin.transform(new)), atol=1e-9)
    assert check_kernel(Mismatch(2, 1), VOC)
    with pytest.raises(ValueError, match="has no alphabet yet: give one, alphabet='ACGT', or fit a model"):
        Mismatch(3, 1).block(VOC, VOC)


@pytest.mark.filterwarnings("ignore::mercer_old.errors.MercerWarning")
def test_texts_without_a_letter_have_an_alphabet_too():
    assert KernelPCA(1, kernel=Mismatch(2, 1)).fit(["", ""]).eigenvalues_.tolist() == [0.0]


@pytest.mark.parametrize("kernel", [GappedKmer(6, 2), Mismatch(3, 1, "ACGT"), WeightedDegree(3), Spectrum(5)], ids=str)
def test_a_text_of_a_million_letters_is_compared(kernel):
    long = "".join(np.array(list("ACGT"))[rng.integers(0, 4, size=1_000_000)])
    K = kernel.block([long, "ACGTACGTAC"], [long[:2000], "ACGTACGTAC"])
    assert np.isfinite(K).all() and (K >= 0).all() and (K <= 1 + 1e-12).all() and K[1, 1] == pytest.approx(1)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: GappedKmer(0), "length must be a whole number from 1 to 100; got 0"),
        (lambda: GappedKmer(4, 4), "wildcards must be a whole number from 0 to 3; got 4"),
        (lambda: GappedKmer(20, 10), "10 of 20 letters can be left open in 184,756 ways"),
        (lambda: Mismatch(3, 3), "m must be a whole number from 0 to 2; got 3"),
        (lambda: Mismatch(3, 1, 4), "alphabet must be a text that has every letter, or None; got 4"),
        (lambda: Mismatch(3, 1, ""), "alphabet must be a text that has every letter"),
        (lambda: Mismatch(8, 3, "abcdefghijklmnopqrstuvwxyz"), "With 3 of 8 letters exchanged for any of 26, a gram"),
        (lambda: WeightedDegree(2.5), "n must be a whole number from 1 to 100; got 2.5"),
        (lambda: WeightedDegree(2, normalize=None), "normalize must be True, False, 'dice' or 'jaccard'; got None"),
    ],
)
def test_parameters_that_mean_nothing_are_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()
