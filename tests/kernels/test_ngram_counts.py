"""Grams of many texts: counted in pieces, by tables and by sorting, against scikit-learn's counts."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics.pairwise import cosine_similarity

from mercer.kernels import Spectrum
from mercer_old.kernels.texts import columns
from mercer_old.kernels.texts.grams import Letters
from mercer_old.limits import Limits
from mercer_old.plans.kernel import choose_plan
from mercer_old.plans.seconds import kernel_work
from mercer_old.plans.sizes import Problem
from support.peak import needs_peaks, peak_of

rng = np.random.default_rng(0)
ALPHABETS = {
    "few letters": "acgt",
    "many letters": "".join(map(chr, range(0x4E00, 0x4E00 + 900))),
    "far letters": "ab\U0010ffff\ud800",
}


def texts_of(letters, n, longest=12):
    return ["".join(rng.choice(list(letters), size=rng.integers(0, longest))) for _ in range(n)]


@pytest.mark.parametrize("letters", ALPHABETS)
@pytest.mark.parametrize("at_once", [7, 500, 2_000_000])
def test_columns_are_those_of_scikit_learn_however_many_are_counted_at_a_time(letters, at_once, monkeypatch):
    monkeypatch.setattr(columns, "_AT_ONCE", at_once)
    texts = texts_of(ALPHABETS[letters], 150)
    theirs = CountVectorizer(analyzer="char", ngram_range=(2, 2), lowercase=False).fit_transform(texts)
    ours = Spectrum(2, normalize=False).features(texts)  # grams are sorted by their letters in both
    assert_array_equal(ours.toarray(), theirs.toarray())
    assert ours.indices.dtype == np.int32 and ours.has_canonical_format


def test_where_grams_begin():
    """Texts too short for a gram have none, wherever they stand."""
    letters = Letters.of(["", "ab", "abcd", "", "x", "abc", ""])
    assert [part.tolist() for part in letters.starts(3)] == [[2, 3, 7], [2, 2, 5]]
    assert [part.tolist() for part in letters.starts(9)] == [[], []]


def test_texts_and_bytes_among_each_other_are_read_letter_by_letter():
    assert_array_equal(Letters.of(["aé", b"\xe9b"]).codes, [97, 233, 233, 98])


@pytest.mark.parametrize("letters", ["ACGT", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"])
def test_tiles_of_crowded_and_of_sparse_features_are_the_same_kernel(letters):
    """Of four letters nearly all grams are in every text, and products are those of dense arrays."""
    texts, new = texts_of(letters, 60, 80), texts_of(letters, 20, 40)
    counts = CountVectorizer(analyzer="char", ngram_range=(1, 3), lowercase=False).fit([*texts, *new])
    expected = cosine_similarity(counts.transform(new), counts.transform(texts))
    assert_allclose(Spectrum(3, shortest=1).block(new, texts), expected, atol=1e-14)


WORDS = """
from benchmarks.shared.peak import give_back
from mercer import KernelPCA
from mercer.kernels import Spectrum
rng = np.random.default_rng(0)
def words(n):
    ends = np.cumsum(rng.integers(4, 11, size=n))
    letters = "".join(rng.choice(list("abcdefghijklmnopqrst"), size=ends[-1]))
    return [letters[a:b] for a, b in zip([0, *ends], ends)]
KernelPCA(8, kernel=Spectrum(3)).fit(words(10_000))
texts = words(60_000)
give_back()
"""


@needs_peaks
def test_many_texts_take_what_the_plan_says():
    """And less than a basis with a row for each text would."""
    peak, planned, solver = peak_of(
        "model = KernelPCA(8, kernel=Spectrum(3)).fit(texts)",
        before=WORDS,
        told="model.plan_.memory, type(model.plan_.solver).__name__",
    )
    assert solver == "FactoredKrylov"
    assert peak <= 1.1 * planned and planned <= 3 * peak
    assert peak < 8 * 60_000 * 208


def test_nominal_times_are_those_of_grams_that_are_there():
    """A million words have some five million, and thirty thousand columns: no pass reads the zeros."""
    problem = Problem(n=10**6, k=10, width=7, n_features=35_000, sparse_features=True, stored=5_200_000)
    plan = choose_plan(problem, Limits(4 * 10**9, 1))
    assert 2e9 < kernel_work(plan, problem).total < 60e9  # nanoseconds
    assert plan.memory < 10**9
