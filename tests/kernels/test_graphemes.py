"""Letters as readers count them, against clusters that were cut by hand from Unicode's rules."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer import KernelPCA
from mercer.kernels import Spectrum
from mercer_old.kernels.texts.graphemes import graphemes

CLUSTERS = {
    "an accent of its own": ["e\u0301", "a", "o\u0308\u0301"],
    "flags": ["🇩🇪", "🇫🇷", "🇩"],
    "a family": ["👨‍👩‍👧‍👦", "x"],
    "a skin tone": ["👍🏽", "👍"],
    "a flag of tags": ["🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "!"],
    "a variation": ["❤️‍🔥", "❤️"],
    "syllables": ["한", "국", "\u1112\u1161\u11ab", "\u1100\u1100\u1161", "각\u11ab"],
    "Devanagari": ["न", "म", "स्", "ते"],
    "Thai": ["กำ", "ก"],
    "line ends": ["a", "\r\n", "\n", "\r"],
    "a mark after a control": ["\n", "\u0301", "a"],
    "a joiner between letters": ["a\u200d", "b", "x\u200c", "y"],
    "plain": list("plain text"),
    "nothing": [],
    "a mark alone": ["\u0301", "x"],
    "half a pair": ["\ud800", "\udc00"],
}


@pytest.mark.parametrize("what", CLUSTERS)
def test_a_text_falls_into_the_letters_that_readers_see(what):
    clusters = CLUSTERS[what]
    found = graphemes(["".join(clusters)], {})
    same = np.array([[one == other for other in clusters] for one in clusters]).reshape(len(clusters), len(clusters))
    assert found.ends.tolist() == [0, len(clusters)]
    assert np.array_equal(found.codes[:, None] == found.codes, same)


def test_texts_do_not_reach_into_each_other():
    """A mark, a joiner's follower or half a flag at the start of a text belongs to no text before it."""
    texts = ["e", "\u0301", "👩\u200d", "👧", "🇩", "🇪", "", "\r", "\n"]
    found = graphemes(texts, {})
    assert found.ends.tolist() == [0, 1, 2, 3, 4, 5, 6, 6, 7, 8]
    assert len(set(found.codes.tolist())) == 8


def test_grams_of_graphemes_are_grams_of_single_letters_in_their_place():
    parts = ["e\u0301", "👍🏽", "🇩🇪", "a", "b"]
    stand_ins = dict(zip(parts, "vwxab", strict=True))
    rng = np.random.default_rng(0)
    cut = [rng.choice(parts, size=size).tolist() for size in rng.integers(0, 9, size=30)]
    texts, plain = ["".join(text) for text in cut], ["".join(stand_ins[part] for part in text) for text in cut]
    for kernel in (Spectrum(2), Spectrum(3, shortest=1, counts="min")):
        by = kernel.with_params(by="graphemes")
        assert_allclose(by.block(texts, texts), kernel.block(plain, plain), rtol=1e-13)
        assert_allclose(by.diag(texts), kernel.diag(plain), rtol=1e-13)
        learned, twin = by.feature_map(texts[:20]), kernel.feature_map(plain[:20])
        old, new = learned.features(texts[:20]), learned.features(texts[20:])
        assert_allclose((new @ old.T).toarray(), (twin.features(plain[20:]) @ twin.features(plain[:20]).T).toarray())
    model = KernelPCA(2, kernel=Spectrum(2, by="graphemes")).fit(texts)
    assert_allclose(model.eigenvalues_, KernelPCA(2, kernel=Spectrum(2)).fit(plain).eigenvalues_, rtol=1e-9)


def test_a_letter_with_its_mark_is_another_letter():
    """An e and an é of two code points share one of these, and no letter."""
    assert Spectrum(1).block(["e"], ["e\u0301"])[0, 0] > 0.7
    assert Spectrum(1, by="graphemes").block(["e"], ["e\u0301"])[0, 0] == 0.0
