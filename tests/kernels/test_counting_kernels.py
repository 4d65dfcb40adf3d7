"""Kernels that count features of strings, against their definitions, scikit-learn and the first edition."""

import doctest
import pickle
import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.feature_extraction.text import CountVectorizer

import mercer
import mercer_old.kernels as first_edition
from mercer.budget import limit_memory
from mercer.data.dataset import ArrayDataset
from mercer.errors import DataError, MemoryLimitError, ParameterError
from mercer.estimators import KernelPCA
from mercer.kernels.base import get_kernel
from mercer.kernels.check import check_kernel
from mercer.kernels.strings import GappedKmer, Mismatch, Spectrum, Subsequence, WeightedDegree, counting, ngrams
from mercer.kernels.strings.ngrams import Vocabulary, count_ngrams, encode_characters, tokenize, window_starts
from mercer.numerics.rounding import gamma
from support.exact_strings import distance_to_exact, exact_matrix, neighborhood_size

rng = np.random.default_rng(0)
STRINGS = ["", "a", "ab", "abab abab", "bar", "bat", "car", "cat", "naïve", "😀😀x", "aaaaaaa", "the cat the cat sat"]
STRINGS += ["\ud800a\ud800", "e\u0301 e\u0301"]
STRINGS += ["".join(rng.choice(list("abc d"), size=rng.integers(0, 15))) for _ in range(8)]
NEW = ["zzz", "catz", "aaaaaaaaaaaaab", "", "the dog sat", "naive"]
NORMALIZE = (True, False, "dice", "jaccard")
SPECTRA = [
    Spectrum(n, min_n, analyzer, counts, normalize)
    for n, min_n in ((1, None), (3, None), (3, 1))
    for analyzer in ("char", "word")
    for counts in ("product", "min", "binary")
    for normalize in NORMALIZE
]
SPECTRA += [
    Spectrum(3, 1, counts=counts, normalize=normalize, weights=weights)
    for counts, weights in (("product", (0.1, 0.0, 3.0)), ("min", (1.0, 2.0, 1e-9)), ("binary", (0, 0, 1)))
    for normalize in NORMALIZE
]
WINDOWS = [
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


def strings_of(symbols, n, longest=12):
    return ["".join(rng.choice(list(symbols), size=rng.integers(0, longest))) for _ in range(n)]


def objects(strings):
    return np.array(strings, dtype=object)


@pytest.mark.parametrize("kernel", [*SPECTRA, *WINDOWS], ids=repr)
def test_kernel_features_and_their_rounding_bounds_are_those_of_the_definition(kernel):
    strings = objects([*STRINGS, "ab" * 60 + "c" * 17])
    exact = exact_matrix(kernel, strings, strings)
    prepared = kernel.prepare(strings)
    out = np.empty(prepared.shape)
    prepared.fill(slice(None), slice(None), out)
    size = np.sqrt(np.outer(prepared.magnitudes, prepared.magnitudes))
    assert (distance_to_exact(out, exact) <= gamma(prepared.n_roundings) * size).all()
    assert_allclose(kernel.diag(strings), np.diag(exact).astype(float), rtol=1e-13)
    assert_allclose(kernel(NEW, strings), exact_matrix(kernel, NEW, strings).astype(float), rtol=1e-12, atol=1e-15)
    features = kernel.feature_map(strings)
    assert (features is None) == (kernel.normalize in ("dice", "jaccard"))
    if features is not None:
        phi = features.transform(strings)
        product = gamma(int(np.diff(phi.indptr).max()) + 2) * size  # of the sum that this test takes
        off = distance_to_exact((phi @ phi.T).toarray(), exact)
        assert (off <= 2.001 * gamma(features.n_roundings) * size + product).all()
        assert phi.shape[1] == features.n_features == len(features.get_feature_names_out())
        assert features.nnz >= phi.nnz
        assert_allclose((features.transform(NEW) @ phi.T).toarray(), kernel(NEW, strings), atol=1e-13)


@pytest.mark.parametrize("kernel", [*SPECTRA[:24:5], *WINDOWS[1::3]], ids=repr)
def test_tiles_are_parts_of_the_matrix(kernel):
    strings = objects(strings_of("abcd", 30))
    prepared = pickle.loads(pickle.dumps(kernel.prepare(strings))).against(strings[:9])  # noqa: S301
    whole = kernel(strings[:9], strings)
    for rows, columns in ((slice(2, 7), slice(None)), (slice(None), slice(5, 20)), (slice(0, 9, 3), slice(0, 30, 7))):
        out = np.empty(whole[rows, columns].shape)
        prepared.fill(rows, columns, out)
        assert_allclose(out, whole[rows, columns], rtol=1e-15)
    shifted, out = kernel.prepare(strings, shift=0.5).against(strings[:9]), np.empty_like(whole)
    shifted.fill(slice(None), slice(None), out)
    assert_allclose(out, whole - 0.5, atol=1e-15)


@pytest.mark.parametrize("seed", range(3))
def test_values_are_those_of_the_first_edition(seed):
    generator = np.random.default_rng(seed)
    strings = ["".join(generator.choice(list("ab cé😀"), size=size)) for size in generator.integers(0, 40, size=40)]
    old = first_edition
    pairs = [
        (Spectrum(3), old.Spectrum(3)),
        (Spectrum(4, 2, counts="min", normalize="jaccard"), old.Spectrum(4, 2, counts="min", normalize="jaccard")),
        (Spectrum(2, analyzer="word", counts="binary"), old.Spectrum(2, by="words", counts="once")),
        (GappedKmer(4, 2), old.GappedKmer(4, 2)),
        (Mismatch(3, 1, "abc"), old.Mismatch(3, 1, "abc")),
        (WeightedDegree(5, normalize="dice"), old.WeightedDegree(5, normalize="dice")),
    ]
    for kernel, twin in pairs:
        assert_allclose(kernel(strings[:25], strings), twin.block(strings[:25], strings), rtol=1e-13, atol=1e-16)
        if kernel.feature_map(strings) is not None:
            assert kernel.feature_map(strings).n_features == twin.n_features(strings)


@pytest.mark.parametrize("kernel", [Spectrum(3, normalize=False), WeightedDegree(3, normalize=False)], ids=repr)
def test_error_bounds_count_the_longest_string_on_either_side(kernel):
    short, long = objects(["abc", "abcabc"]), objects(["abc" * 500, "b"])
    forth, back = kernel.prepare(short).against(long), kernel.prepare(long).against(short)
    assert forth.entry_error() == back.entry_error() > kernel.prepare(short).entry_error()
    assert forth.n_roundings == kernel.n_roundings(1500)
    assert kernel.prepare(long).matrix_error(np.ones(2), np.ones(2), None) >= kernel.prepare(long).entry_error()


def test_sums_products_and_multiples():
    strings, new = objects(STRINGS), objects(NEW)
    A, B = Spectrum(2)(new, strings), WeightedDegree(2)(new, strings)
    for kernel, expected in (
        (2 * Spectrum(2) + WeightedDegree(2), 2 * A + B),
        (Spectrum(2) * WeightedDegree(2), A * B),
        (Spectrum(2) + 1.0, A + 1),
    ):
        assert kernel.input_kind == "strings"
        assert_allclose(kernel(new, strings), expected, rtol=1e-14, atol=1e-16)
        assert check_kernel(kernel, STRINGS)
    phi = (2 * Spectrum(2) + WeightedDegree(2)).feature_map(strings)
    assert_allclose((phi.transform(new) @ phi.transform(strings).T).toarray(), 2 * A + B, atol=1e-13)


@pytest.mark.parametrize("name", ["spectrum", "gapped_kmer", "mismatch", "weighted_degree", "subsequence"])
def test_kernels_have_names(name):
    kernel = get_kernel(name, params={"normalize": False})
    assert kernel.input_kind == "strings" and kernel == type(kernel)(normalize=False)


def test_the_spectrum_of_the_textbook():
    """2-spectrum of bar, bat, car and cat (Shawe-Taylor and Cristianini, chapter 11)."""
    K = Spectrum(2, normalize=False)(["bar", "bat", "car", "cat"], ["bar", "bat", "car", "cat"])
    assert K.tolist() == [[2, 1, 1, 0], [1, 2, 0, 1], [1, 0, 2, 1], [0, 1, 1, 2]]


@pytest.mark.parametrize("symbols", ["acgt", "".join(map(chr, range(0x4E00, 0x4E00 + 900))), "ab\U0010ffff\ud800"])
@pytest.mark.parametrize("piece", [7, 500, 1 << 19])
def test_columns_and_their_names_are_those_of_scikit_learn_however_many_are_counted_at_once(
    symbols, piece, monkeypatch
):
    monkeypatch.setattr(ngrams, "_PIECE", piece)
    strings = strings_of(symbols, 150)
    vectorizer = CountVectorizer(analyzer="char", ngram_range=(2, 2), lowercase=False)
    theirs = vectorizer.fit_transform(strings)
    features = Spectrum(2, normalize=False).feature_map(strings)
    ours = features.transform(strings)
    assert_array_equal(ours.toarray(), theirs.toarray())
    assert ours.indices.dtype == np.int32 and ours.has_canonical_format
    assert features.get_feature_names_out().tolist() == sorted(vectorizer.vocabulary_)


@pytest.mark.parametrize("kernel", [*SPECTRA[:24:3], *SPECTRA[24:48:7], *SPECTRA[-12:], *WINDOWS], ids=repr)
def test_long_strings_are_counted_in_pieces_with_the_same_result(kernel, monkeypatch):
    strings = objects([*STRINGS, "".join(rng.choice(list("abcd "), size=3000)), "ab" * 1700])
    whole, new = kernel(strings, strings), kernel([*NEW, "bca " * 900], strings)
    monkeypatch.setattr(ngrams, "_PIECE", 100)  # pieces still have 1,000 windows
    assert_allclose(kernel(strings, strings), whole, rtol=1e-13)
    assert_allclose(kernel([*NEW, "bca " * 900], strings), new, rtol=1e-13)


def test_new_strings_leave_no_trace_in_the_feature_map():
    features = Spectrum(1, analyzer="word").feature_map(["a b", "b c"])
    alone = features.transform(["b x"]).toarray()
    among = features.transform(["x y z", "b x", "q"]).toarray()
    assert_array_equal(among[1], alone[0])
    assert len(features.token_ids) == 3 and alone.max() == pytest.approx(np.sqrt(0.5))


def test_strings_without_ngrams_have_a_zero_image():
    kernel = Spectrum(3)
    assert kernel(["", "ab", "abc"], ["", "ab", "abc"]).tolist() == [[0, 0, 0], [0, 0, 0], [0, 0, 1]]
    features = kernel.feature_map(["a", "", "b"])
    assert features.n_features == 1 and features.transform(["a", "abc"]).toarray().tolist() == [[0], [0]]
    assert kernel([], ["ab"]).shape == (0, 1) and kernel(["ab"], []).shape == (1, 0)


@pytest.mark.parametrize("kernel", [Spectrum(1), Spectrum(2, analyzer="word"), GappedKmer(2, 1), WeightedDegree(2)])
def test_bytes_are_symbols_and_never_mixed_with_str(kernel):
    kernel = kernel.with_params(normalize=False)
    assert_array_equal(kernel([b"b\xe4 t", b""], [b"b\xe4 t"]), kernel(["bä t", ""], ["bä t"]))
    features = kernel.feature_map([b"b\xe4 t"])
    for ask in (
        lambda: kernel(["a"], [b"a"]),
        lambda: kernel([b"a"], ["a"]),
        lambda: kernel(["a", b"a"], ["a"]),
        lambda: kernel.diag(objects(["a", b"a"])),
        lambda: features.transform(["a"]),
    ):
        with pytest.raises(DataError, match="Decode the bytes first"):
            ask()


@pytest.mark.parametrize("kernel", [Spectrum(2), GappedKmer(3, 1), WeightedDegree(2)], ids=repr)
@pytest.mark.parametrize("samples", [[1, 2], ["a", None], "abc", 5, np.eye(2)], ids=repr)
def test_samples_that_are_not_strings_are_rejected(kernel, samples):
    for ask in (
        lambda: kernel(samples, ["ab"]),
        lambda: kernel(["ab"], samples),
        lambda: kernel.diag(samples),
        lambda: kernel.validate(samples),
    ):
        with pytest.raises(DataError):
            ask()


@pytest.mark.parametrize(("n", "m"), [(2, 1), (3, 1), (3, 2)])
def test_mismatch_neighborhoods_have_the_size_of_combinatorics(n, m):
    strings = ["".join(symbols) for symbols in np.array(np.meshgrid(*[list("ACGT")] * n)).reshape(n, -1).T]
    K = Mismatch(n, m, "ACGT", normalize=False)(strings, strings)
    assert (np.diag(K) == neighborhood_size(n, m, 4)).all()
    near = np.array([[sum(x != y for x, y in zip(s, t, strict=True)) <= m for t in strings] for s in strings], float)
    assert_array_equal(K, near @ near.T)


def test_mismatch_takes_its_alphabet_from_the_data():
    for strings, alphabet in ((["bca", "ad"], "abcd"), ([b"b\xff"], "b\xff"), (["", ""], " ")):
        resolved = Mismatch(2, 1).resolve(ArrayDataset(objects(strings), "strings"), None)
        assert resolved == Mismatch(2, 1, alphabet)
    with pytest.raises(ParameterError, match="has no alphabet yet"):
        Mismatch(3, 1)(["abc"], ["abc"])


def test_weighted_degrees_are_those_of_strkernels():
    """WeightedDegreeStringKernel(degree=3, normalizer=None) of strkernels 0.2.15, whose weights are 6 times ours."""
    words = ["kernel", "colonel", "kennel", "lenkerne"]
    theirs = [[32, 0, 22, 6], [0, 38, 0, 0], [22, 0, 32, 11], [6, 0, 11, 44]]
    assert_allclose(6 * WeightedDegree(3, normalize=False)(words, words), theirs, rtol=1e-14)


def test_no_two_ngrams_share_a_number():
    symbols = [chr(0x4E00 + i) for i in range(2000)]
    strings = ["".join(pair) for pair in zip(symbols, symbols[1:] + symbols[:1], strict=True)]
    assert_array_equal(Spectrum(2, normalize=False)(strings, strings), np.eye(2000))
    long = ["\U0010ffff" * 40 + tail for tail in "ab"]
    assert Spectrum(40, normalize=False)(long, long).tolist() == [[2, 1], [1, 2]]


def test_where_ngrams_begin():
    encoded = encode_characters(["", "ab", "abcd", "", "x", "abc", ""])
    assert [part.tolist() for part in window_starts(encoded, 3)] == [[2, 3, 7], [2, 2, 5]]
    assert [part.tolist() for part in window_starts(encoded, 9)] == [[], []]
    assert [part.tolist() for part in window_starts(encoded._replace(n_starts=1), 3)] == [[2, 7], [2, 5]]


def test_vocabularies_are_translated_and_merged_by_what_they_spell():
    def spelled(vocabulary, length):
        return ["".join(map(chr, codes)) for codes in vocabulary.levels[0][vocabulary.spell(length)]]

    left, right = (count_ngrams(encode_characters(s), range(1, 4)).vocabulary for s in (["abc", "xbc"], ["zabcz"]))
    names = [spelled(right, 3)[i] if i >= 0 else None for i in left.translate_to(right)[2]]
    assert names == ["abc", None]
    merged = left.merge(right)
    for length in (1, 2, 3):
        assert spelled(merged, length) == sorted({*spelled(left, length), *spelled(right, length)})
    assert spelled(Vocabulary.complete(np.array([97, 98]), 2), 2) == ["aa", "ab", "ba", "bb"]


GRAPHEMES = {
    "accents": ["e\u0301", "a", "o\u0308\u0301"],
    "flags": ["🇩🇪", "🇫🇷", "🇩"],
    "a family": ["👨‍👩‍👧‍👦", "x"],
    "a skin tone": ["👍🏽", "👍"],
    "Hangul": ["한", "\u1112\u1161\u11ab", "각\u11ab"],
    "line ends": ["a", "\r\n", "\n", "\r"],
    "ASCII": list("plain text"),
    "nothing": [],
    "lone surrogates": ["\ud800", "\udc00"],
}


@pytest.mark.parametrize("case", GRAPHEMES)
def test_graphemes_are_what_readers_see_as_one_character(case):
    if case != "ASCII":
        pytest.importorskip("regex")
    assert tokenize("".join(GRAPHEMES[case]), "grapheme") == GRAPHEMES[case]
    if case != "ASCII":
        assert tokenize(b"\r\n\xe4", "grapheme") == [b"\r\n", b"\xe4"]


def test_ngrams_of_graphemes_are_those_of_single_characters_in_their_place():
    pytest.importorskip("regex")
    parts = ["e\u0301", "👍🏽", "🇩🇪", "a", "b"]
    stand_ins = dict(zip(parts, "vwxab", strict=True))
    cut = [rng.choice(parts, size=size).tolist() for size in rng.integers(0, 9, size=30)]
    strings, plain = ["".join(s) for s in cut], ["".join(stand_ins[part] for part in s) for s in cut]
    for kernel in (Spectrum(2), Spectrum(3, 1, counts="min")):
        by = kernel.with_params(analyzer="grapheme")
        assert_allclose(by(strings, strings), kernel(plain, plain), rtol=1e-13)
    assert Spectrum(1)(["e"], ["e\u0301"])[0, 0] > 0.7
    assert Spectrum(1, analyzer="grapheme")(["e"], ["e\u0301"])[0, 0] == 0.0


def test_tokens_join_to_the_string_and_keep_its_type():
    assert tokenize("a bc  d", "word") == ["a", "bc", "d"] and tokenize(b"a bc", "word") == [b"a", b"bc"]
    assert tokenize(b"a\xff", "char") == [b"a", b"\xff"] and tokenize("aé", "char") == ["a", "é"]
    assert tokenize(b"ab\n", "grapheme") == [b"a", b"b", b"\n"]


@pytest.mark.parametrize(
    ("kernel", "names"),
    [
        (Spectrum(2, counts="min"), ["aa", "aa (2 times)", "ab"]),
        (GappedKmer(3, 1), ["aa?", "a?a", "?aa"]),
        (WeightedDegree(1), ["a at 0", "a at 1", "b at 1", "a at 2"]),
    ],
    ids=repr,
)
def test_feature_names_show_the_ngrams(kernel, names):
    assert kernel.feature_map(["aaa", "ab"]).get_feature_names_out().tolist() == names


def test_too_little_memory_is_an_error_before_it_is_used():
    string = "".join(rng.choice(list("abcdefghijklmnopqrst "), size=200_000))
    with limit_memory("20MB"):
        assert Spectrum(2)([string[:9]], [string]).shape == (1, 1)
        for kernel in (Spectrum(30), GappedKmer(8, 2)):
            with pytest.raises(MemoryLimitError, match=r"limit of 20 MB\. Try memory_limit=") as caught:
                kernel.feature_map([string])
            assert caught.value.needed > caught.value.limit == 20_000_000
    with limit_memory("5MB"), pytest.raises(MemoryLimitError, match="The tokens of a string"):
        Spectrum(1, analyzer="word").feature_map([string])


LONG = "".join(np.random.default_rng(1).choice(list("abcdefghijklmnopqrst "), size=400_000))


@pytest.mark.parametrize(
    ("kernel", "strings"),
    [
        (Spectrum(8), [LONG, "abc"]),
        (Spectrum(6, 1, counts="min"), ["ACGT" * 100_000, "abc"]),
        (GappedKmer(6, 2), [LONG, "abc"]),
        (GappedKmer(6, 2), [LONG[i : i + 8] for i in range(0, 400_000, 8)]),
        (Mismatch(4, 1, "ACGT"), [LONG[i : i + 8] for i in range(0, 400_000, 8)]),
        (WeightedDegree(3), [LONG[i : i + 2000] for i in range(0, 400_000, 2000)]),
        (Subsequence(3), ["ACGT" * 400_000, "ACGT"]),
    ],
    ids=lambda value: repr(value) if not isinstance(value, list) else str(len(value)),
)
def test_no_more_memory_is_used_than_the_limit(kernel, strings):
    limit, strings = 25_000_000, objects(strings)
    tracemalloc.start()
    with limit_memory(limit):
        try:
            kernel.prepare(strings)
        except MemoryLimitError as error:
            assert error.needed > limit
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 1.1 * limit


@pytest.mark.parametrize(
    ("make", "parameter"),
    [
        (lambda: Spectrum(n=0), "n"),
        (lambda: Spectrum(n=2.5), "n"),
        (lambda: Spectrum(n=2, min_n=3), "min_n"),
        (lambda: Spectrum(analyzer="lines"), "analyzer"),
        (lambda: Spectrum(counts="max"), "counts"),
        (lambda: Spectrum(normalize="cosine"), "normalize"),
        (lambda: Spectrum(normalize=1), "normalize"),
        (lambda: Spectrum(weights=(1.0, 2.0)), "weights"),
        (lambda: Spectrum(min_n=2, weights=[1.0, 2.0]), "weights"),
        (lambda: Spectrum(min_n=2, weights=(1.0, -2.0)), "weights[1]"),
        (lambda: Spectrum(min_n=2, weights=(0.0, 0.0)), "weights"),
        (lambda: Spectrum(weights=(1e-310,)), "weights[0]"),
        (lambda: GappedKmer(0), "length"),
        (lambda: GappedKmer(4, 4), "wildcards"),
        (lambda: GappedKmer(20, 10), "wildcards"),
        (lambda: Mismatch(3, 3), "m"),
        (lambda: Mismatch(3, 1, 4), "alphabet"),
        (lambda: Mismatch(3, 1, ""), "alphabet"),
        (lambda: Mismatch(8, 3, "abcdefghijklmnopqrstuvwxyz"), "m"),
        (lambda: WeightedDegree(101), "degree"),
        (lambda: WeightedDegree(2, normalize=None), "normalize"),
    ],
)
def test_parameters_without_a_meaning_are_rejected(make, parameter):
    with pytest.raises(ParameterError) as caught:
        make()
    assert caught.value.parameter == parameter


def test_examples_of_the_docstrings():
    assert doctest.testmod(counting).failed == 0


# ------------------------------------------------------------------------------------------------- in models


@pytest.mark.parametrize(
    ("kernel", "twin"),
    [
        (Spectrum(2), first_edition.Spectrum(2)),
        (
            Spectrum(3, 1, counts="min", normalize="jaccard"),
            first_edition.Spectrum(3, 1, counts="min", normalize="jaccard"),
        ),
        (Mismatch(2, 1), first_edition.Mismatch(2, 1)),
        (WeightedDegree(3), first_edition.WeightedDegree(3)),
    ],
    ids=repr,
)
def test_kernel_pca_is_that_of_the_matrix_and_of_the_first_edition(kernel, twin):
    strings = strings_of("abcdefgh", 120)
    model, old = KernelPCA(3, kernel=kernel).fit(strings), mercer.KernelPCA(3, kernel=twin).fit(strings)
    assert_allclose(model.eigenvalues_, old.eigenvalues_, rtol=1e-9)
    K = model.kernel_(strings, strings)
    given = KernelPCA(3, kernel="precomputed").fit(K)
    new = strings_of("abcdefghi", 20)
    expected = given.transform(model.kernel_(new, strings))
    assert_allclose(np.abs(model.transform(new)), np.abs(expected), atol=1e-7)
    with pytest.raises(DataError, match="Decode the bytes first"):
        model.transform([b"abc"])


@pytest.mark.parametrize("kernel", [Spectrum(3), GappedKmer(6, 2), Mismatch(3, 1, "ACGT"), Subsequence(3)], ids=repr)
def test_plans_of_long_strings_count_every_feature_once(kernel):
    strings = ["".join(np.random.default_rng(n).choice(list("ACGT"), size=n)) for n in (300_000, 300_000, 50, 40)]
    model = KernelPCA(2, kernel=kernel, memory_limit="60MB").fit(strings)
    width = model.kernel_.sample_width(ArrayDataset(objects(strings), "strings"))
    features = model.kernel_.feature_map(objects(strings)).transform(objects(strings))
    assert 1.5 * features.nnz / 4 <= width <= 2 * features.nnz + 300_000


def test_the_memory_limit_of_a_model_is_that_of_its_kernel():
    string = "".join(rng.choice(list("abcdefghijklmnopqrst "), size=200_000))
    model = KernelPCA(1, kernel=Spectrum(30), memory_limit="20MB")
    with pytest.raises(MemoryLimitError, match=r"limit of 20 MB"):
        model.fit([string, "abc"])
    model.set_params(kernel=Spectrum(30)).fit(["a" * 30, "b" * 31, "c"])
    with pytest.raises(MemoryLimitError, match=r"limit of 20 MB"):
        model.transform([string])
