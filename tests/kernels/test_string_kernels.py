"""Kernels of texts against their definitions, and models that learn from texts."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer

import mercer
from mercer import KernelPCA, LocallyLinearEmbedding
from mercer.datasets import OOV, VOC, family
from mercer.kernels import RBF, Edit, GappedKmer, MinMax, Mismatch, Spectrum, Subsequence, Tanimoto, WeightedDegree
from mercer_old.errors import BadData
from mercer_old.kernels.texts import columns
from mercer_old.kernels.texts.grams import Letters, Vocabulary
from mercer_old.rounding import gamma
from support.naive_texts import by_definition, exactly
from support.together import check_each, few_dozen

rng = np.random.default_rng(0)
TEXTS = ["", "a", "ab", "abab abab", "bar", "bat", "car", "cat", "naïve", "😀😀x", "aaaaaaa", "the cat the cat sat"]
TEXTS += ["".join(rng.choice(list("abc d"), size=rng.integers(0, 15))) for _ in range(12)]
NEW = ["zzz", "catz", "aaaaaaaaaaaaab", "", "the dog sat", "naive"]


SPECTRA = [
    Spectrum(n, shortest, by, counts, normalize)
    for n, shortest in ((1, None), (3, None), (3, 1), (5, 2))
    for by in ("characters", "words")
    for counts in ("product", "min", "once")
    for normalize in (True, False, "dice", "jaccard")
]
SPECTRA += [
    Spectrum(3, 1, counts=counts, normalize=normalize, weights=weights)
    for counts, weights in (("product", (0.1, 0.0, 3.0)), ("min", (1.0, 2.0, 1e-9)), ("once", (0, 0, 1)))
    for normalize in (True, False, "dice", "jaccard")
]


some_spectra = few_dozen("kernels", {"spectra": SPECTRA})


@some_spectra
def test_spectrum_is_its_definition(kernels):
    check_each(kernels, is_its_definition)


def is_its_definition(kernel):
    K = by_definition(kernel, TEXTS, TEXTS)
    assert_allclose(kernel.block(TEXTS, TEXTS), K, rtol=1e-13, atol=1e-15)
    assert_allclose(kernel.diag(TEXTS), np.diag(K), rtol=1e-13)
    assert_allclose(kernel.block(NEW, TEXTS), by_definition(kernel, NEW, TEXTS), rtol=1e-13, atol=1e-15)
    if kernel.normalize in ("dice", "jaccard"):
        assert kernel.feature_map(TEXTS) is kernel.features(TEXTS) is kernel.n_features(TEXTS) is None
        return
    learned = kernel.feature_map(TEXTS)  # what new texts have that the others had not makes them longer, and no more
    assert_allclose((learned.features(NEW) @ learned.features(TEXTS).T).toarray(), kernel.block(NEW, TEXTS), atol=1e-13)
    assert learned.features(TEXTS).shape[1] == learned.n_features() == kernel.n_features(TEXTS)


@some_spectra
def test_entries_and_features_are_off_by_no_more_than_the_kernel_says(kernels):
    check_each(kernels, is_off_by_no_more_than_it_says)


def is_off_by_no_more_than_it_says(kernel):
    texts = [*TEXTS, "a" * 300, "ab" * 150 + "c" * 77]
    exact, size = exactly(kernel, texts, texts), np.sqrt(np.outer(kernel.sizes(texts), kernel.sizes(texts)))
    assert (errors(kernel.block(texts, texts), exact) <= gamma(kernel.roundings(texts)) * size).all()
    learned = kernel.feature_map(texts)
    if learned is not None:
        product = gamma(texts_length(learned, texts)) * size  # of the sum that this test takes
        phi = learned.features(texts)
        off = errors((phi @ phi.T).toarray(), exact)
        assert (off <= 2.001 * gamma(learned.roundings()) * size + product).all()


def texts_length(learned, texts):
    return int(np.diff(learned.features(texts).indptr).max()) + 2


def errors(computed, exact):
    return np.array(
        [[abs(float(a - b)) for a, b in zip(*rows, strict=True)] for rows in zip(computed, exact, strict=True)]
    )


def test_the_spectrum_of_the_textbook():
    """2-spectrum of bar, bat, car and cat (Shawe-Taylor and Cristianini, chapter 11)."""
    K = Spectrum(2, normalize=False).block(["bar", "bat", "car", "cat"], ["bar", "bat", "car", "cat"])
    assert K.tolist() == [[2, 1, 1, 0], [1, 2, 0, 1], [1, 0, 2, 1], [0, 1, 1, 2]]


def test_counts_are_those_of_scikit_learn():
    theirs = CountVectorizer(analyzer="char", ngram_range=(2, 3), lowercase=False).fit_transform(VOC)
    K = Spectrum(3, shortest=2, normalize=False).block(VOC, VOC)
    assert np.array_equal(K, (theirs @ theirs.T).toarray())


def test_sets_of_grams_are_compared_as_fingerprints_are():
    """Jaccard's coefficient is that of Tanimoto and MinMax on rows of counts, for texts that have any grams."""
    rows = (
        CountVectorizer(analyzer="char", ngram_range=(2, 2), lowercase=False).fit_transform(VOC).toarray().astype(float)
    )
    for counts, twin, seen in (
        ("once", Tanimoto(), np.minimum(rows, 1.0)),
        ("product", Tanimoto(), rows),
        ("min", MinMax(), rows),
    ):
        K = Spectrum(2, counts=counts, normalize="jaccard").block(VOC, VOC)
        assert_allclose(K, twin.block(seen, seen), rtol=1e-13)


@pytest.mark.parametrize("normalize", ["dice", "jaccard"])
@pytest.mark.parametrize("counts", ["product", "min", "once"])
def test_dice_and_jaccard_are_positive_semidefinite_where_the_overlap_coefficient_is_not(counts, normalize):
    """{a}, {b}, {a, b}: |A ∩ B|/min(|A|, |B|) has the eigenvalue 1 − √2."""
    letters = ["".join(np.random.default_rng(seed).choice(list("abcde"), size=1 + seed % 7)) for seed in range(80)]
    texts = ["a", "b", "ab", *dict.fromkeys(letters)]
    K = Spectrum(1, counts=counts, normalize=normalize).block(texts, texts)
    assert np.linalg.eigvalsh(K)[0] > -1e-12 * len(K)
    overlap = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 1]])
    assert_allclose(np.linalg.eigvalsh(overlap)[0], 1 - np.sqrt(2))


def test_no_two_grams_share_a_number():
    """Where a hash of 20 bits would collide: all pairs of 2 000 letters, and long grams of far code points."""
    letters = [chr(0x4E00 + i) for i in range(2000)]
    texts = ["".join(pair) for pair in zip(letters, letters[1:] + letters[:1], strict=True)]
    assert np.array_equal(Spectrum(2, normalize=False).block(texts, texts), np.eye(2000))
    long = ["\U0010ffff" * 40 + tail for tail in "ab"]
    assert Spectrum(40, normalize=False).block(long, long).tolist() == [[2, 1], [1, 2]]


def test_bytes_are_texts_and_lone_surrogates_are_letters():
    assert_allclose(Spectrum(2).block([b"ab\xff"], ["ab\xff"]), [[1.0]])
    assert_allclose(Spectrum(1, by="words").block([b"ab cd"], ["cd ab"]), [[1.0]])
    assert_allclose(Spectrum(1).block(["\ud800"], ["\ud800", "a"]), [[1.0, 0.0]])


def test_grams_are_found_again_in_another_vocabulary():
    mine, _ = Vocabulary.of(Letters.of(["abc", "xbc"]), 3)
    its, numbers = Vocabulary.of(Letters.of(["zabcz"]), 3)
    places = mine.in_terms_of(its)
    assert places[2].tolist().count(-1) == 1  # xbc
    assert places[2].max() == numbers[2][1]  # abc


@pytest.mark.parametrize("kernel", [*SPECTRA[2:40:5], Subsequence(3), Subsequence(2, up_to=True)], ids=str)
def test_texts_that_are_counted_a_few_at_a_time_have_the_same_columns(kernel, monkeypatch):
    if not kernel.sparse_features:
        kernel = kernel.with_params(normalize=True)
    whole = kernel.feature_map(TEXTS)
    monkeypatch.setattr(columns, "_AT_ONCE", 10)
    pieces = kernel.feature_map(TEXTS)
    assert pieces.n_features() == whole.n_features() and pieces.stored() == whole.stored()
    for texts in (TEXTS, NEW):
        off = pieces.features(texts) @ pieces.features(TEXTS).T - whole.features(texts) @ whole.features(TEXTS).T
        assert abs(off).max() < 1e-14 * max(1.0, abs(whole.features(TEXTS)).max() ** 2)


# ---------------------------------------------------------------------------- models


EACH = [
    Spectrum(1),
    Spectrum(3),
    Spectrum(2, counts="once", normalize="dice"),
    Spectrum(2, shortest=1, counts="min", normalize="jaccard", weights=(1.0, 2.0)),
    Subsequence(3),
    Subsequence(2, decay=0.8, up_to=True),
    GappedKmer(4, 1),
    Mismatch(2, 1, "aeiourns"),
    WeightedDegree(3),
]
each = pytest.mark.parametrize("kernel", EACH, ids=repr)


@each
def test_kernel_pca_of_texts_is_that_of_their_matrix(kernel):
    K = by_definition(kernel, VOC, VOC)
    for solver in ("auto", "krylov", "dense"):
        model = KernelPCA(4, kernel=kernel, eigen_solver=solver).fit(VOC)
        twin = KernelPCA(4, kernel="precomputed").fit(K)
        assert_allclose(model.eigenvalues_, twin.eigenvalues_, rtol=1e-8)
        new = by_definition(kernel, OOV, VOC)
        assert_allclose(np.abs(model.transform(OOV)), np.abs(twin.transform(new)), atol=1e-6)
        assert_allclose(model.fit_transform(VOC), model.transform(VOC), atol=1e-7)
        truth = np.linalg.eigvalsh(centred(K))[::-1][:4]
        assert (model.certificate_.lower <= truth).all() and (truth <= model.certificate_.upper).all()


def centred(K):
    return K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()


@each
@pytest.mark.filterwarnings("ignore:The 20 landmarks see only")
def test_every_kernel_of_texts_is_a_parameter_of_models(kernel):
    model = clone(KernelPCA(2, kernel=kernel)).set_params(kernel__normalize=True)
    assert model.kernel == kernel.with_params(normalize=True)
    seen = KernelPCA(2, kernel=kernel, n_landmarks=len(VOC)).fit(VOC)
    assert_allclose(seen.eigenvalues_, KernelPCA(2, kernel=kernel).fit(VOC).eigenvalues_, rtol=1e-8)
    few, truth = KernelPCA(2, kernel=kernel, n_landmarks=20, random_state=0).fit(VOC), seen.eigenvalues_
    assert (few.certificate_.lower <= truth * (1 + 1e-8)).all() and (truth <= few.certificate_.upper * (1 + 1e-8)).all()
    assert_allclose(few.transform(VOC), few.fit_transform(VOC), atol=1e-10)


def test_a_plan_from_sizes_counts_the_features_of_texts():
    """Of 9 letters there are 84 subsequences, some of them the same: 12 bytes each, in pieces and put together."""
    few, many = (mercer.plan(200_000, 9, 2, kernel=kernel).memory for kernel in (Spectrum(3), Subsequence(3)))
    assert few < 24 * 200_000 * 50 < many


def test_many_texts_are_features_that_are_never_multiplied_out():
    words = ["".join(rng.choice(list("abcdefghij"), size=rng.integers(3, 9))) for _ in range(1500)]
    model = KernelPCA(3, kernel=Spectrum(3)).fit(words)
    assert model.plan_.held == "features"
    K = by_definition(Spectrum(3), words[:60], words)
    assert_allclose(Spectrum(3).block(words[:60], words), K, atol=1e-13)
    truth = np.linalg.eigvalsh(centred(Spectrum(3).block(words, words)))[::-1][:3]
    assert (model.certificate_.lower <= truth).all() and (truth <= model.certificate_.upper).all()


def test_names_never_seen_lie_next_to_their_families():
    model = KernelPCA(10, kernel=Spectrum(3)).fit(VOC)
    places, new = model.transform(VOC), model.transform(OOV)
    for name, place in zip(OOV, new, strict=True):
        nearest = VOC[int(np.argmin(np.linalg.norm(places - place, axis=1)))]
        assert family(nearest) == family(name)


def test_weights_and_landmarks_of_texts():
    weights = np.ones(len(VOC))
    weights[3], weights[5] = 2.0, 0.0
    model = KernelPCA(2, kernel=Spectrum(2)).fit(VOC, sample_weight=weights)
    again = [name for name, weight in zip(VOC, weights, strict=True) for _ in range(int(weight))]
    assert_allclose(model.eigenvalues_, KernelPCA(2, kernel=Spectrum(2)).fit(again).eigenvalues_, rtol=1e-9)
    seen = KernelPCA(2, kernel=Spectrum(2), n_landmarks=len(VOC)).fit(VOC)
    assert_allclose(seen.eigenvalues_, KernelPCA(2, kernel=Spectrum(2)).fit(VOC).eigenvalues_, rtol=1e-8)


@pytest.mark.parametrize(
    "kernel", [Spectrum(2), Subsequence(2), GappedKmer(3, 1), Mismatch(2, 1), WeightedDegree(2)], ids=repr
)
@pytest.mark.filterwarnings("ignore::mercer_old.errors.MercerWarning")
def test_locally_linear_embedding_by_what_texts_have_in_common(kernel):
    texts = ["".join(rng.choice(list("acgt"), size=12 + i // 2)) for i in range(40)]
    K = by_definition(kernel.resolved(texts, rng), texts, texts)
    distances = np.sqrt(np.maximum(2 - 2 * K, 0.0))
    np.fill_diagonal(distances, 0.0)
    model = LocallyLinearEmbedding(n_neighbors=20, metric=kernel).fit(texts)
    twin = LocallyLinearEmbedding(n_neighbors=20, metric="precomputed").fit(distances)
    assert_allclose(model.reconstruction_error_, twin.reconstruction_error_, rtol=1e-6)


@pytest.mark.parametrize(
    "kernel",
    [Spectrum(2, normalize="jaccard"), Spectrum(2, counts="once", normalize="dice"), Spectrum(2) * Spectrum(1)],
)
def test_kernels_without_features_are_evaluated(kernel):
    words = ["".join(rng.choice(list("abcdefghij"), size=rng.integers(3, 9))) for _ in range(600)]
    model, K = KernelPCA(3, kernel=kernel).fit(words), kernel.block(words, words)
    assert model.plan_.held == "gram"
    twin = KernelPCA(3, kernel="precomputed").fit(K)
    assert_allclose(model.eigenvalues_, twin.eigenvalues_, rtol=1e-9)
    assert_allclose(np.abs(model.transform(NEW)), np.abs(twin.transform(kernel.block(NEW, words))), atol=1e-8)


# ---------------------------------------------------------------------------- what is refused


def test_texts_without_a_single_gram_are_told():
    with pytest.warns(UserWarning, match="All rows look the same"):
        KernelPCA(1, kernel=Spectrum(3)).fit(["a", "b", "cc"])


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        (dict(n=0), "n must be a whole number from 1 to 100; got 0"),
        (dict(n=2.5), "n must be a whole number"),
        (dict(n=2, shortest=3), "shortest=3 is longer than n=2"),
        (dict(by="lines"), "by must be one of characters, graphemes, words"),
        (dict(counts="max"), "counts must be one of product, min, once"),
        (dict(normalize="cosine"), "normalize must be True, False, 'dice' or 'jaccard'; got 'cosine'"),
        (dict(normalize=1), "normalize must be True, False, 'dice' or 'jaccard'; got 1"),
        (dict(weights=(1.0, 2.0)), "weights must be a tuple with a number for the length 3"),
        (dict(shortest=2, weights=[1.0, 2.0]), "weights must be a tuple with a number for each length from 2 to 3"),
        (dict(shortest=2, weights=(1.0, -2.0)), "every one of weights must be a non-negative number; got -2.0"),
        (dict(shortest=2, weights=(0.0, 0.0)), "weights are all zero"),
    ],
    ids=str,
)
def test_parameters_that_mean_nothing_are_refused(parameters, words):
    with pytest.raises(ValueError, match=words):
        Spectrum(**parameters)


def test_kernels_of_texts_and_of_rows_do_not_add_up():
    assert (Spectrum(2) + 1.0).takes == "texts"
    with pytest.raises(ValueError, match="compares texts and RBF"):
        Spectrum(2) + RBF(1.0)


def test_a_kernel_of_texts_by_its_name():
    model = KernelPCA(2, kernel="spectrum", kernel_params={"n": 2})
    assert model.fit(VOC).kernel_ == Spectrum(2)
    assert_allclose(model.transform(OOV), KernelPCA(2, kernel=Spectrum(2)).fit(VOC).transform(OOV))
    assert KernelPCA(2, kernel="spectrum").fit(VOC).kernel_ == Spectrum()
    with pytest.raises(ValueError, match="kernel='spectrum' has no parameter 'm'; it has n, shortest, by"):
        KernelPCA(2, kernel="spectrum", kernel_params={"m": 2}).fit(VOC)


def test_bytes_are_not_placed_among_letters():
    model = KernelPCA(1, kernel=Spectrum(2)).fit(["anna", "hanna", "bert"])
    with pytest.raises(BadData, match="X has bytes, and the texts of the fit were str: decode the bytes first"):
        model.transform([b"anna"])


def test_a_lazy_column_is_read():
    polars = pytest.importorskip("polars")
    texts = ["anna", "hanna", "bert"]
    lazy = KernelPCA(1, kernel=Spectrum(2)).fit(polars.LazyFrame({"name": texts}))
    assert_allclose(lazy.eigenvalues_, KernelPCA(1, kernel=Spectrum(2)).fit(texts).eigenvalues_)


def test_few_words_fit_into_little_memory():
    words = [a + b + c + d for a in "abc" for b in "abc" for c in "abc" for d in "ab"]
    assert KernelPCA(2, kernel=Spectrum(2), memory_limit="1MB").fit(words).plan_.memory < 1e6


KINDS_OF_TEXTS = [
    Spectrum(2),
    Subsequence(2),
    Mismatch(2, 1, alphabet="ab"),
    GappedKmer(3, 1),
    WeightedDegree(2),
    Edit(1),
]


@pytest.mark.parametrize("kernel", [*KINDS_OF_TEXTS, Spectrum(2) + Subsequence(2)], ids=str)
@pytest.mark.parametrize(
    ("things", "words"),
    [
        ([1, 2], "item 0 is 1, which is no text"),
        (["a", None], "item 1 is missing"),
        (["a", float("nan")], "item 1 is missing"),
        ("abc", "is one text, 'abc'; give a list of texts"),
        (5, "is 5, and no text"),
        (np.eye(2), "is a table of numbers"),
    ],
    ids=["numbers", "None", "NaN", "one text", "a number", "a matrix"],
)
def test_blocks_of_what_is_no_text_are_one_sentence(kernel, things, words):
    """Letters of a text that stands alone would else be taken for texts."""
    for ask in (
        lambda: kernel.block(things, ["ab"]),
        lambda: kernel.block(["ab"], things),
        lambda: kernel.diag(things),
    ):
        with pytest.raises(BadData, match=words):
            ask()
    assert kernel.block([], ["ab"]).shape == (0, 1)
