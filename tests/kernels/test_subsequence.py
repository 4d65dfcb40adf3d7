"""Subsequences with gaps: the three ways to count them against the definition, Lodhi's table, and what is too long."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer import KernelPCA
from mercer import LocallyLinearEmbedding as LLE
from mercer.datasets import VOC
from mercer.kernels import Spectrum, Subsequence
from mercer_old.errors import BadData
from mercer_old.kernels.texts import followed, gaps, subsequence
from mercer_old.kernels.texts.grams import Letters
from mercer_old.rounding import gamma
from mercer_old.sources.texts import Texts
from support.naive_texts import by_definition, exactly

rng = np.random.default_rng(0)
TEXTS = ["", "a", "ab", "aaaaaaa", "bar", "bat", "car", "cat", "naïve", "😀😀x", "the cat the", b"b\xe4t"]
TEXTS += ["".join(rng.choice(list("abcd"), size=rng.integers(0, 13))) for _ in range(8)]
NEW = ["zzzz", "catz", "aaaaaaaaab", "", "the dog", "naive"]
KERNELS = [
    Subsequence(length, decay, up_to, normalize)
    for length, up_to in ((1, False), (2, False), (3, False), (3, True), (5, False))
    for decay, normalize in ((0.5, True), (1.0, "jaccard"), (0.1, "dice"), (0.7, False), (2.0**-60, True))
]
WAYS = {
    "written out": {},
    "followed": {(subsequence, "_MOST_WRITTEN"): -1, (followed, "_FEW_KINDS"): 1e9},
    "pair by pair": {(subsequence, "_MOST_WRITTEN"): -1, (followed, "_FEW_KINDS"): -1},
}


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    """Texts are so short that all are written out, unless the limits are moved."""
    for (module, name), value in WAYS[request.param].items():
        monkeypatch.setattr(module, name, value)
    return request.param


def few_letters(texts, way):
    """Everything that five of many letters can spell is too much to follow, even here."""
    return [text for text in texts if set(text) <= set("abcd")] if way == "followed" else texts


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_subsequences_are_counted_as_defined_in_all_three_ways(kernel, way):
    texts, new = few_letters(TEXTS, way), NEW
    if kernel.length == 5 and way == "followed":
        new = few_letters(NEW, way)
    exact = exactly(kernel, texts, texts)
    size = np.sqrt(np.outer(kernel.sizes(texts), kernel.sizes(texts)))
    off = np.array(abs(kernel.block(texts, texts) - exact), dtype=float)
    assert (off <= gamma(kernel.roundings(texts)) * size).all()
    assert_allclose(kernel.diag(texts), np.diag(exact).astype(float), rtol=1e-13)
    assert_allclose(kernel.block(new, texts), by_definition(kernel, new, texts), rtol=1e-12, atol=1e-15)
    learned = kernel.feature_map(texts)
    assert (learned is None) == (way == "pair by pair" or kernel.normalize in ("dice", "jaccard"))
    if learned is not None:
        phi = learned.features(texts)
        off = np.array(abs((phi @ phi.T).toarray() - exact), dtype=float)
        assert (off <= 2.001 * gamma(learned.roundings()) * size + gamma(phi.shape[1] + 2) * size).all()
        assert_allclose((learned.features(new) @ phi.T).toarray(), by_definition(kernel, new, texts), atol=1e-13)


@pytest.mark.parametrize("way", ["written out", "pair by pair"], indirect=True)
def test_the_table_of_lodhi_and_others(way):
    """JMLR 2 (2002), λ = 0.5: they print .580 .580 .478 .439 .406 .370, where the first is a misprint of .849 and the
    last is .369; sums of fractions are these."""
    one, other = "science is organized knowledge", "wisdom is organized life"
    exact = [0.848679, 0.579814, 0.478455, 0.438871, 0.405745, 0.369156]
    computed = [Subsequence(p, decay=0.5).block([one], [other])[0, 0] for p in range(1, 7)]
    assert_allclose(computed, exact, atol=5e-7)
    for decay in (0.3, 0.5, 0.9):
        K = Subsequence(2, decay=decay).block(["car"], ["cat"])
        assert_allclose(K, 1 / (2 + decay**2), rtol=1e-14)


def test_sums_over_lengths_are_those_of_strkernels(way):
    """SubsequenceStringKernel(maxlen=3, ssk_lambda=0.5) of strkernels 0.2.15, which sums up lengths."""
    words = ["kernel", "colonel", "kennel", "lenkerne"]
    theirs = [0.478534140700837, 0.840454938592887, 0.91509230374044, 0.512091065300634, 0.454882897698854]
    K = Subsequence(3, decay=0.5, up_to=True).block(words, words)
    assert_allclose(K[np.triu_indices(4, 1)], [*theirs, 0.862410668107551], rtol=1e-13)


def test_where_gaps_cost_all_only_letters_in_a_row_are_left():
    assert_allclose(Subsequence(3, decay=1e-200).block(VOC, VOC), Spectrum(3).block(VOC, VOC), atol=1e-14)
    assert_allclose(Subsequence(1).block(VOC, VOC), Spectrum(1).block(VOC, VOC), rtol=1e-12)


@pytest.mark.parametrize("length", [7, 119, 120, 121, 150])
def test_long_texts_are_filtered_and_short_ones_multiplied(length):
    texts = ["".join(np.random.default_rng(seed).choice(list("abcdefgh"), size=length)) for seed in range(3)]
    codes = Letters.of(texts).apart()
    K = gaps.alike(codes, codes, 0.75, {2: 1.0})
    assert_allclose(K, by_definition(Subsequence(2, 0.75, normalize=False), texts, texts) / 0.75**4, rtol=1e-12)
    assert_allclose(gaps.alike_itself(codes, 0.75, {2: 1.0}), np.diag(K), rtol=1e-12)


def test_many_pairs_of_all_lengths_are_cut_into_pieces(monkeypatch):
    texts = ["".join(rng.choice(list("abc"), size=size)) for size in rng.integers(0, 30, size=60)]
    codes = Letters.of(texts).apart()
    whole = gaps.alike(codes, codes, 0.5, {3: 1.0, 1: 0.5})
    monkeypatch.setattr(gaps, "_CELLS", 64)
    assert_allclose(gaps.alike(codes, codes[:7], 0.5, {3: 1.0, 1: 0.5}), whole[:, :7], rtol=1e-13)


def test_short_texts_are_not_filled_up_to_the_length_of_a_long_one():
    """Else one long text among thousands of words would make the others as dear as itself."""
    texts = ["".join(rng.choice(list("abc"), size=size)) for size in [*rng.integers(0, 12, size=300), 40, 150, 5000]]
    codes = Letters.of(texts).apart()
    lengths, met = np.array([len(text) for text in texts]), np.zeros((len(texts), len(texts)), dtype=int)
    for left, right in gaps.pieces(codes, codes):
        met[np.ix_(left, right)] += 1
        for side in (left, right):
            assert lengths[side].max() <= 2 * lengths[side].min() + 8
    assert (met == 1).all()


def test_the_cost_of_texts_is_that_of_the_way_they_are_compared():
    """A plan would else say hours of what takes seconds, or seconds of what takes hours."""
    kernel, reads = Subsequence(3), ["ACGT" * 500] * 20
    words = ["".join(rng.choice(list("abcdefghijklmnopqrstuvwxyz"), size=8)) for _ in range(500)]
    letters = "".join(rng.choice(list("abcdefghijklmnopqrstuvwxyz"), size=5000))
    assert kernel.cost(Texts(words)) == kernel.entry_cost(8)
    assert kernel.cost(Texts([*words, letters[:60]])) < 2 * (kernel.entry_cost(8) + 0.2 * kernel.most_in(60) / 501)
    assert kernel.feature_map(reads) is not None and kernel.cost(Texts(reads)) < 20 < 1e6 < kernel.entry_cost(2000)
    one_long = Texts([*words, letters])  # so that there are no features: 8·8 pairs of letters for most, and 8·5000
    pairs = np.mean([len(text) for text in one_long.load()]) ** 2
    assert kernel.feature_map(one_long) is None
    assert 2 * pairs < kernel.cost(one_long) / kernel.length < 6 * pairs
    assert (2 * kernel + Spectrum(2)).cost(one_long) > kernel.cost(one_long)


@pytest.mark.parametrize("first", [True, False], ids=["first", "last"])
def test_a_plan_knows_of_one_long_text_wherever_it_stands(first, monkeypatch):
    """To compare it with itself takes more than all else: a plan neither does so nor leaves it out."""
    monkeypatch.setattr(gaps, "_STEPS", 1e12)
    words = ["".join(rng.choice(list("abcdefghijklmnopqrstuvwxyz"), size=8)) for _ in range(600)]
    long = "".join(rng.choice(list("abcdefghijklmnopqrstuvwxyz"), size=200_000))
    model = KernelPCA(2, kernel=Subsequence(3))
    seconds = model.plan([long, *words] if first else [*words, long]).seconds
    assert 20 < seconds < 20_000  # 3·200 000² steps of about 4 nanoseconds


def test_a_plan_for_neighbours_knows_of_features():
    """Pair by pair, it would be half a minute."""
    reads = ["".join(rng.choice(list("ACGT"), size=300)) for _ in range(60)]
    assert LLE(n_neighbors=5, metric=Subsequence(3)).plan(reads).seconds < 5


def test_one_long_word_among_many_short_ones_takes_no_features_from_them():
    """Else all pairs of a million words would be compared one by one, for the sake of one."""
    long = "thequickbrownfoxjumpsovlazydg"
    texts = [*VOC[:6], long, "quick fox"]
    for kernel in (Subsequence(3), Subsequence(3, 0.8, True)):
        learned = kernel.feature_map(texts)
        phi = learned.features(texts)
        size = np.sqrt(np.outer(kernel.sizes(texts), kernel.sizes(texts)))
        off = np.array(abs((phi @ phi.T).toarray() - exactly(kernel, texts, texts)), dtype=float)
        assert (off <= 2.001 * gamma(learned.roundings()) * size + gamma(phi.shape[1] + 2) * size).all()
        assert kernel.feature_map([long]) is None
        assert kernel.feature_map([*VOC, 4 * long]) is None


def test_a_long_text_is_placed_among_short_words():
    """Its subsequences cannot be written out, but those that the words have can be followed through it."""
    long = "the quick brown fox jumps over the lazy dog " * 5
    kernel, model = Subsequence(3), KernelPCA(2, kernel=Subsequence(3)).fit(VOC)
    assert not kernel.can_be_written(len(long))
    K, new = kernel.block(VOC, VOC), gaps_only(kernel, [long, "homer"], VOC)
    assert_allclose(kernel.block([long, "homer"], VOC), new, rtol=1e-11)
    twin = KernelPCA(2, kernel="precomputed").fit(K)
    assert_allclose(np.abs(model.transform([long, "homer"])), np.abs(twin.transform(new)), atol=1e-9)


def gaps_only(kernel, some, others):
    """By the recursion alone."""
    out = np.empty((len(some), len(others)))
    kernel.evaluated(some, others, 0.0).fill(slice(None), slice(None), out)
    return out


def test_reads_of_few_letters_have_features_however_long_they_are():
    reads = ["".join(rng.choice(list("ACGT"), size=80 + i)) for i in range(30)]
    kernel = Subsequence(3, decay=0.7)
    assert kernel.feature_map(reads).n_features() == 64
    strange = [*reads[:3], reads[3][:60] + "N" + reads[4][:50]]
    assert_allclose(kernel.block(strange, reads), gaps_only(kernel, strange, reads), rtol=1e-11)
    model = KernelPCA(2, kernel=kernel).fit(reads)
    twin = KernelPCA(2, kernel="precomputed").fit(gaps_only(kernel, reads, reads))
    assert_allclose(model.eigenvalues_, twin.eigenvalues_, rtol=1e-9)


def test_texts_without_features_are_fitted_pair_by_pair():
    texts = ["".join(rng.choice(list("abcdefghijklmnopqrst"), size=40)) for _ in range(25)]
    kernel = Subsequence(4)
    assert kernel.feature_map(texts) is None
    model = KernelPCA(2, kernel=kernel).fit(texts)
    twin = KernelPCA(2, kernel="precomputed").fit(kernel.block(texts, texts))
    assert_allclose(model.eigenvalues_, twin.eigenvalues_, rtol=1e-9)
    assert_allclose(model.transform(texts[:4]), model.transform(texts)[:4], atol=1e-10)


# ---------------------------------------------------------------------------- what is refused


def test_a_text_that_would_take_hours_is_one_sentence():
    texts = ["".join(map(chr, rng.integers(97, 123, size=1_000_000))), "short", "words"]
    with pytest.raises(BadData, match="A text of 1,000,000 letters is too long for Subsequence"):
        KernelPCA(1, kernel=Subsequence(3)).fit(texts)
    with pytest.raises(BadData, match="Cut the texts, or take Spectrum"):
        Subsequence(3).block(texts, texts)


def test_a_new_text_that_would_take_hours_is_refused_before_anything_is_followed_through_it(monkeypatch):
    model = KernelPCA(1, kernel=Subsequence(3)).fit(VOC)
    monkeypatch.setattr(followed, "_follow", lambda *_: pytest.fail("it takes a step for every letter and column"))
    with pytest.raises(BadData, match="A text of 1,000,000 letters is too long for Subsequence"):
        model.transform(["simpson " * 125_000])


def test_more_subsequences_than_a_number_can_count_are_one_sentence(monkeypatch):
    """C(1500, 100)² of them; the limit is lowered by way of a weight, as the recursion would take seconds."""
    monkeypatch.setattr(Subsequence, "weights", {100: 1e308})
    with pytest.raises(BadData, match="more subsequences than a number can count"):
        Subsequence(100, decay=1.0, normalize=False).diag(["a" * 120])


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        (dict(length=0), "length must be a whole number from 1 to 100; got 0"),
        (dict(length=True), "length must be a whole number"),
        (dict(decay=0), "decay must be a number above 0, and at most 1; got 0"),
        (dict(decay=1.1), "decay must be a number above 0, and at most 1; got 1.1"),
        (dict(decay=float("nan")), "decay must be a number above 0, and at most 1; got nan"),
        (dict(decay="half"), "decay must be a number"),
        (dict(up_to=3), "up_to must be True or False; got 3"),
        (dict(normalize="max"), "normalize must be True, False, 'dice' or 'jaccard'"),
    ],
    ids=str,
)
def test_parameters_that_mean_nothing_are_refused(parameters, words):
    with pytest.raises(ValueError, match=words):
        Subsequence(**parameters)
