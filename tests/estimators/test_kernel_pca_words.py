"""Ten thousand words and tens of thousands of names, embedded and searched: from packages that bring them along."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize

from mercer import KernelPCA
from mercer.kernels import Spectrum

pytestmark = pytest.mark.slow


def words():
    """The ten thousand most frequent words of English."""
    return pytest.importorskip("wordfreq").top_n_list("en", 10_000)


def first_names():
    """Some forty-eight thousand, of all countries of Europe and some more."""
    package = pytest.importorskip("gender_guesser")
    lines = (Path(package.__file__).parent / "data" / "nam_dict.txt").read_text(encoding="utf-8").splitlines()
    return sorted({line[3:29].strip() for line in lines if line and not line.startswith("#")})


@pytest.mark.parametrize("texts", [words, first_names])
def test_many_words_are_embedded_certified_and_searched(texts):
    """The nearest are those of scikit-learn's counts, by angles between them."""
    known = texts()
    assert len(known) > 9_000
    model = KernelPCA(30, kernel=Spectrum(3, shortest=1)).fit(known)
    assert model.certificate_.converged and model.plan_.held == "features"
    some = np.random.default_rng(0).choice(len(known), 25, replace=False)
    asked = [known[i] + "s" for i in some]
    counts = CountVectorizer(analyzer="char", ngram_range=(1, 3), lowercase=False).fit([*known, *asked])
    new, old = (normalize(counts.transform(texts).astype(float)) for texts in (asked, known))
    cosines = (new @ old.T).toarray()
    found = model.similar(asked, 10, by="kernel")
    assert np.abs(found.similarities - -np.sort(-cosines, axis=1)[:, :10]).max() < 1e-12
    near = model.similar([known[i] for i in some], 3)
    assert np.abs(near.distances[:, 0]).max() < 1e-6  # each is its own nearest


def test_plurals_that_were_never_seen_are_next_to_their_words():
    known = [word for word in words() if len(word) > 4 and word.isalpha()]
    there = set(known)
    plurals = {f"{word}s": word for word in known if f"{word}s" not in there and not word.endswith("s")}
    asked = sorted(plurals)[::20]
    model = KernelPCA(100, kernel=Spectrum(3, shortest=1)).fit(known)
    for by, share in (("components", 0.9), ("kernel", 0.97)):
        found = model.similar(asked, 1, by=by)
        assert np.mean([plurals[word] == near[0] for word, near in zip(asked, found.items, strict=True)]) > share
