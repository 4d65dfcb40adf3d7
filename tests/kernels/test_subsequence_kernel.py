"""The string subsequence kernel in its three ways against the definition, and the edit distance."""

import doctest
import pickle
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mercer_old.kernels as first_edition
from mercer.budget import limit_memory
from mercer.data.dataset import ArrayDataset
from mercer.errors import DataError, MemoryLimitError, MissingDependencyError, ParameterError
from mercer.kernels.strings import EditDistance, Spectrum, Subsequence, edit, subsequence
from mercer.kernels.strings.ngrams import encode_characters, split_strings
from mercer.kernels.strings.subsequence import PreparedPairs, pair_sums, self_sums
from mercer.numerics.rounding import gamma
from support.exact_strings import distance_to_exact, edit_distance, exact_matrix

rng = np.random.default_rng(0)
STRINGS = ["", "a", "ab", "aaaaaaa", "bar", "bat", "car", "cat", "naïve", "😀😀x", "the cat the", "\ud800a\ud800"]
STRINGS += ["".join(rng.choice(list("abcd"), size=rng.integers(0, 13))) for _ in range(8)]
NEW = ["zzzz", "catz", "aaaaaaaaab", "", "the dog", "naive"]
KERNELS = [
    Subsequence(length, decay, min_length, normalize)
    for length, min_length in ((1, None), (2, None), (3, None), (3, 1), (4, 3))
    for decay, normalize in ((0.5, True), (1.0, "jaccard"), (0.1, "dice"), (0.7, False), (2.0**-60, True))
]
WAYS = {
    "enumerated": {"_FOLLOW_COST": 1e12},
    "followed": {"_MAX_ENUMERATED": -1, "_MAX_COMPLETE": 1e9},
    "followed in pieces": {"_MAX_ENUMERATED": -1, "_MAX_COMPLETE": 1e9, "_FOLLOWED": 1},
    "pair by pair": {"_MAX_ENUMERATED": -1, "_MAX_COMPLETE": -1},
}


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    for name, value in WAYS[request.param].items():
        monkeypatch.setattr(subsequence, name, value)
    return request.param


def objects(strings):
    return np.array(strings, dtype=object)


def reads(n, length, seed=0):
    generator = np.random.default_rng(seed)
    return objects(["".join(generator.choice(list("ACGT"), size=length + i % 7)) for i in range(n)])


def codes(strings):
    return split_strings(encode_characters(strings))


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_all_ways_give_the_definition_within_the_rounding_bound(kernel, way):
    few = way.startswith("followed") and kernel.length > 2  # of many symbols, everything that they spell is too much
    strings = objects([s for s in STRINGS if not few or set(s) <= set("abcd")])
    prepared = kernel.prepare(strings)
    assert isinstance(prepared, PreparedPairs) == (way == "pair by pair")
    out = np.empty(prepared.shape)
    prepared.fill(slice(None), slice(None), out)
    exact = exact_matrix(kernel, strings, strings)
    size = np.sqrt(np.outer(prepared.magnitudes, prepared.magnitudes))
    assert (distance_to_exact(out, exact) <= gamma(prepared.n_roundings) * size).all()
    assert_allclose(kernel.diag(strings), np.diag(exact).astype(float), rtol=1e-13)
    assert_allclose(kernel(NEW, strings), exact_matrix(kernel, NEW, strings).astype(float), rtol=1e-12, atol=1e-15)
    features = kernel.feature_map(strings)
    assert (features is None) == (way == "pair by pair" or kernel.normalize in ("dice", "jaccard"))
    if features is not None:
        phi = features.transform(strings)
        off = distance_to_exact((phi @ phi.T).toarray(), exact)
        assert (off <= 2.001 * gamma(features.n_roundings) * size + gamma(phi.shape[1] + 2) * size).all()
        assert_allclose((features.transform(NEW) @ phi.T).toarray(), kernel(NEW, strings), atol=1e-13)


def test_the_table_of_lodhi_and_others():
    """JMLR 2 (2002), λ = 0.5; the first of their values is a misprint of .849. Sums of fractions are these."""
    one, other = "science is organized knowledge", "wisdom is organized life"
    exact = [0.848679, 0.579814, 0.478455, 0.438871, 0.405745, 0.369156]
    assert_allclose([Subsequence(p)([one], [other])[0, 0] for p in range(1, 7)], exact, atol=5e-7)
    for decay in (0.3, 0.5, 0.9):
        assert_allclose(Subsequence(2, decay)(["car"], ["cat"]), 1 / (2 + decay**2), rtol=1e-14)


def test_sums_over_lengths_are_those_of_strkernels(way):
    """SubsequenceStringKernel(maxlen=3, ssk_lambda=0.5) of strkernels 0.2.15, which sums over lengths."""
    words = ["kernel", "colonel", "kennel", "lenkerne"]
    theirs = [0.478534140700837, 0.840454938592887, 0.91509230374044, 0.512091065300634, 0.454882897698854]
    K = Subsequence(3, min_length=1)(words, words)
    assert_allclose(K[np.triu_indices(4, 1)], [*theirs, 0.862410668107551], rtol=1e-13)


def test_tiny_decay_leaves_adjacent_characters():
    words = ["homer simpson", "marge simpson", "simon", "mo", ""]
    assert_allclose(Subsequence(3, decay=1e-200)(words, words), Spectrum(3)(words, words), atol=1e-14)
    assert_allclose(Subsequence(1)(words, words), Spectrum(1)(words, words), rtol=1e-12)


@pytest.mark.parametrize("length", [30, 107, 140, 260])
def test_reads_have_all_that_their_alphabet_spells_as_features(length):
    strings = reads(12, length)
    for kernel in (Subsequence(3, decay=0.7), Subsequence(2, min_length=1, normalize=False)):
        features = kernel.feature_map(strings)
        assert features.n_features == sum(4**q for q in kernel.lengths)
        unknown = objects([*strings[:3], strings[3][:20] + "N" + strings[4][:9], "", "N" * 9, "ACGT" * 200])
        pairs = PreparedPairs(kernel, unknown, strings, 0.0)
        expected = np.empty(pairs.shape)
        pairs.fill(slice(None), slice(None), expected)
        assert_allclose(kernel(unknown, strings), expected, rtol=1e-11)


@pytest.mark.parametrize("length", [20, 100])
def test_values_are_those_of_the_first_edition(length):
    strings = reads(8, length, seed=length)
    for kernel, old in (
        (Subsequence(3), first_edition.Subsequence(3)),
        (Subsequence(3, 0.8, 1, "dice"), first_edition.Subsequence(3, 0.8, True, "dice")),
    ):
        assert_allclose(kernel(strings, strings), old.block(list(strings), list(strings)), rtol=1e-11)


def test_a_long_string_among_short_words():
    words = objects(["homer", "marge", "bart", "lisa", "maggie", "quick fox"])
    long = "the quick brown fox jumps over the lazy dog " * 5
    for kernel in (Subsequence(3), Subsequence(3, 0.8, 1)):
        assert kernel.feature_map(objects([*words, long])) is None or len(set(long)) ** 3 <= subsequence._MAX_COMPLETE
        pairs = PreparedPairs(kernel, objects([long, "homer"]), words, 0.0)
        expected = np.empty(pairs.shape)
        pairs.fill(slice(None), slice(None), expected)
        assert_allclose(kernel([long, "homer"], words), expected, rtol=1e-11)


@pytest.mark.parametrize("length", [7, 119, 120, 121, 150])
def test_pair_sums_by_filter_and_by_product(length):
    strings = ["".join(np.random.default_rng(seed).choice(list("abcdefgh"), size=length)) for seed in range(3)]
    K = pair_sums(codes(strings), codes(strings), 0.75, {2: 1.0})
    exact = exact_matrix(Subsequence(2, 0.75, normalize=False), strings, strings).astype(float)
    assert_allclose(K, exact / 0.75**4, rtol=1e-12)
    assert_allclose(self_sums(codes(strings), 0.75, {2: 1.0}), np.diag(K), rtol=1e-12)


def test_pair_sums_do_not_depend_on_batches(monkeypatch):
    strings = codes(["".join(rng.choice(list("abc"), size=size)) for size in rng.integers(0, 30, size=60)])
    whole = pair_sums(strings, strings, 0.5, {3: 1.0, 1: 0.5})
    monkeypatch.setattr(subsequence, "_CELLS", 64)
    assert_allclose(pair_sums(strings, strings[:7], 0.5, {3: 1.0, 1: 0.5}), whole[:, :7], rtol=1e-13)


def test_short_strings_are_not_padded_to_the_length_of_a_long_one():
    strings = codes(
        ["".join(rng.choice(list("abc"), size=size)) for size in [*rng.integers(0, 12, size=300), 40, 150, 5000]]
    )
    lengths, met = np.array([len(string) for string in strings]), np.zeros((303, 303), dtype=int)
    for left, right in subsequence._pair_batches(strings, strings):
        met[np.ix_(left, right)] += 1
        for side in (left, right):
            assert lengths[side].max() <= 2 * lengths[side].min() + 8
    assert (met == 1).all()


def test_the_cost_of_an_entry_is_that_of_the_way_it_is_evaluated():
    def cost(kernel, strings):
        return kernel.entry_cost(ArrayDataset(objects(strings), "strings"))

    words = ["".join(rng.choice(list("abcdefghijklmnopqrstuvwxyz"), size=8)) for _ in range(500)]
    long = "".join(map(chr, rng.integers(97, 157, size=5000)))
    assert cost(Subsequence(3), words) < 20
    assert cost(Subsequence(3), ["ACGT" * 500] * 20) < 20
    mean = np.mean([len(string) for string in [*words, long]])
    assert Subsequence(3).feature_map(objects([*words, long])) is None
    assert 6 * mean**2 < cost(Subsequence(3), [*words, long]) < 18 * mean**2


def test_strings_that_take_minutes_are_rejected():
    strings = objects(["".join(map(chr, rng.integers(97, 157, size=1_000_000))), "short", "words"])
    with pytest.raises(DataError, match="A string of 1,000,000 characters is too long for Subsequence"):
        Subsequence(3).prepare(strings)
    features = Subsequence(3).feature_map(["homer", "marge"])
    with pytest.raises(DataError, match="or use Spectrum"):
        features.transform(strings)


def test_columns_that_do_not_fit_into_memory_are_not_used():
    strings = objects(["".join(rng.choice(list("ACDEFGHIKLMNPQRSTVWY"), size=60)) for _ in range(20)])
    kernel = Subsequence(3)
    features = kernel.feature_map(strings)
    assert features.n_features == 8000
    K = kernel(strings, strings)
    with limit_memory("2MB"):
        assert kernel.feature_map(strings) is None
        assert_allclose(kernel(strings, strings), K, rtol=1e-12)
        with pytest.raises(MemoryLimitError, match="The subsequence counts"):
            features.transform(strings)


def test_overflow_is_an_error():
    with pytest.raises(DataError, match="overflows for Subsequence"):
        Subsequence(100, decay=1.0).prepare(objects(["a" * 5000]))


def test_bytes_and_str_are_never_mixed():
    kernel = Subsequence(2, normalize=False)
    assert_array_equal(kernel([b"b\xe4t"], [b"b\xe4t"]), kernel(["bät"], ["bät"]))
    pairs = PreparedPairs(kernel, objects(["abc"]), objects(["abc"]), 0.0)
    for ask in (lambda: kernel([b"ab"], ["ab"]), lambda: pairs.against([b"ab"])):
        with pytest.raises(DataError, match="Decode the bytes first"):
            ask()


@pytest.mark.parametrize(
    "parameters",
    [
        {"length": 0},
        {"length": True},
        {"decay": 0},
        {"decay": 1.1},
        {"decay": float("nan")},
        {"decay": "half"},
        {"decay": 1e-100, "normalize": False},
        {"min_length": 4},
        {"min_length": True},
        {"normalize": "max"},
    ],
    ids=repr,
)
def test_parameters_without_a_meaning_are_rejected(parameters):
    with pytest.raises(ParameterError) as caught:
        Subsequence(**parameters)
    assert caught.value.parameter == next(iter(parameters))


def test_examples_of_the_docstrings():
    assert doctest.testmod(subsequence).failed == 0


# -------------------------------------------------------------------------------------------- edit distance


def test_edit_distances_are_those_of_the_dynamic_program():
    pytest.importorskip("rapidfuzz")
    strings = objects([*STRINGS, "kitten", "sitting", "e\u0301", "é", "ab" * 90])
    d = np.array([[edit_distance(s, t) for t in strings] for s in strings])
    kernel = EditDistance(0.3)
    assert_allclose(kernel(strings, strings), np.exp(-0.3 * d), rtol=1e-13)
    assert_allclose(kernel(strings[:3], strings), first_edition.Edit(0.3).block(list(strings[:3]), list(strings)))
    assert_array_equal(kernel.diag(strings), np.ones(len(strings)))
    prepared = pickle.loads(pickle.dumps(kernel.prepare(strings, shift=1.0)))  # noqa: S301
    out = np.empty((len(strings), 4))
    prepared.fill(slice(None), slice(2, 6), out)
    assert_allclose(out, np.exp(-0.3 * d[:, 2:6]) - 1.0, atol=1e-15)
    assert doctest.testmod(edit).failed == 0


def test_the_edit_distance_is_not_positive_semidefinite():
    pytest.importorskip("rapidfuzz")
    words = objects(["".join(word) for length in range(4) for word in product("ab", repeat=length)])
    assert not EditDistance.psd
    assert np.linalg.eigvalsh(EditDistance(0.2)(words, words))[0] == pytest.approx(-0.106034, abs=1e-5)


def test_edit_distances_of_bytes_and_of_strings_that_take_minutes():
    pytest.importorskip("rapidfuzz")
    assert_allclose(EditDistance(1.0)([b"b\xe4t"], [b"bet", b"b\xe4t"]), [[np.exp(-1), 1.0]])
    with pytest.raises(DataError, match="Decode the bytes first"):
        EditDistance()([b"bat"], ["bat"])
    with pytest.raises(DataError, match="A string of 5,000,000 characters is too long for EditDistance"):
        EditDistance()(["a" * 5_000_000], ["b" * 5_000_000])
    with pytest.raises(ParameterError, match="gamma"):
        EditDistance(gamma=0)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "rapidfuzz", None)
    with pytest.raises(MissingDependencyError, match=r"EditDistance needs rapidfuzz.*mercer\[strings\]"):
        EditDistance()(["a"], ["b"])
