"""From scores back to texts, and to the nearest of other things."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer import KernelPCA
from mercer.datasets import VOC
from mercer.kernels import GlobalAlignment, Spectrum, TableKernel
from mercer_old.kernels.texts.graphemes import in_graphemes

KNOWN = ["abcd", "bcda", "cdab", "dabc", "acbd", "bdac", "abab", "cdcd", "dcba"]


@pytest.mark.parametrize("kernel", [Spectrum(2), Spectrum(3), Spectrum(2, counts="min"), Spectrum(2, normalize="dice")])
def test_names_come_back_from_their_scores(kernel):
    model = KernelPCA(kernel=kernel, preimage="auto").fit(VOC)
    found, errors = model.inverse_transform(model.transform(VOC[::4]), return_error=True)
    assert list(found) == list(VOC[::4])
    assert errors.max() < 1e-6


def test_names_with_a_slip_of_the_pen_are_put_right():
    model = KernelPCA(kernel=Spectrum(2)).fit(VOC)
    assert list(model.denoise(["flandrs ned", "simpson hommer", "skinner sxymour"])) == [
        "flanders ned",
        "simpson homer",
        "skinner seymour",
    ]


def test_the_search_for_texts_finds_one_that_is_not_among_those_of_the_fit():
    """A point that is the image of a new text, but for rounding: its letters and grams are all known."""
    model = KernelPCA(kernel=Spectrum(2, shortest=1, normalize=False), preimage="auto").fit(KNOWN)
    scores = model.transform(["abdc"])
    found, errors = model.inverse_transform(scores, return_error=True)
    nearest = model.set_params(preimage="local").inverse_transform(scores, return_error=True)
    assert list(found) == ["abdc"] and errors[0] < nearest[1][0] - 0.1


def test_words_are_edited_as_words_and_bytes_as_bytes():
    told = ["the cat sat", "the dog sat", "a cat ran", "a dog ran", "the cat ran"]
    model = KernelPCA(kernel=Spectrum(1, by="words", normalize=False), preimage="auto").fit(told)
    found = model.inverse_transform(model.transform(["a cat sat"]))[0]
    assert sorted(found.split()) == ["a", "cat", "sat"]
    letters = [text.encode() for text in VOC[:10]]
    model = KernelPCA(kernel=Spectrum(2), preimage="auto").fit(letters)
    assert list(model.inverse_transform(model.transform(letters[:2]))) == letters[:2]


def test_words_stay_words_in_a_multiple_and_a_product_of_kernels():
    told = ["the cat sat", "the dog sat", "a cat ran", "a dog ran", "the cat ran"]
    words = Spectrum(1, by="words", normalize=False)
    for kernel in (2 * words, words + words, words * words):
        model = KernelPCA(kernel=kernel, preimage="auto").fit(told)
        found = model.inverse_transform(model.transform(["a cat sat"]))[0]
        assert set(found.split()) <= {"the", "a", "cat", "dog", "sat", "ran"}
    model = KernelPCA(kernel=2 * words, preimage="auto").fit(told)
    assert sorted(model.inverse_transform(model.transform(["a cat sat"]))[0].split()) == ["a", "cat", "sat"]


def test_what_readers_see_as_one_letter_is_edited_as_one():
    """The search of above, with letters of two code points each, which no edit of one code point leads to."""
    letters = dict(zip("abcd", ["e\u0301", "o\u0308", "\U0001f1e9\U0001f1ea", "\U0001f1eb\U0001f1f7"], strict=True))
    known = ["".join(map(letters.get, text)) for text in KNOWN]
    model = KernelPCA(kernel=Spectrum(2, shortest=1, by="graphemes", normalize=False), preimage="auto").fit(known)
    new = "".join(map(letters.get, "abdc"))
    assert list(model.inverse_transform(model.transform([new]))) == [new]
    assert in_graphemes(new) == list(map(letters.get, "abdc")) and in_graphemes("") == []


def test_texts_without_grams_are_nobodys_pre_image():
    model = KernelPCA(2, kernel=Spectrum(3), preimage="auto").fit(["a", "", *VOC])
    assert all(len(text) > 2 for text in model.inverse_transform(np.zeros((1, 2))))


def test_by_landmarks_texts_come_back_too():
    model = KernelPCA(kernel=Spectrum(2), n_landmarks=30, preimage="auto").fit(VOC)
    names = list(np.asarray(VOC, dtype=object)[model.landmark_indices_[:3]])
    assert list(model.inverse_transform(model.transform(names))) == names


def test_series_and_other_things_lead_back_to_the_nearest_of_the_fit():
    series = [np.sin(np.linspace(0, 3, 20 + i) * (1 + i % 3)) for i in range(12)]
    model = KernelPCA(kernel=GlobalAlignment(), preimage="auto").fit(series)
    assert_allclose(model.inverse_transform(model.transform(series[:1]))[0].ravel(), series[0])
    sets = [{1, 2}, {2, 3}, {1, 2, 3}, {4, 5}, {4}]
    model = KernelPCA(2, kernel=lambda a, b: float(len(a & b)), preimage="auto").fit(sets)
    assert list(model.inverse_transform(model.transform([{4, 5}]))) == [{4, 5}]


def test_rows_of_a_table_are_those_of_the_fit():
    frame = {"size": [1.0, 2.0, 3.0, 4.0, 5.0, 9.0], "kind": list("xyxyxz")}
    model = KernelPCA(kernel=TableKernel.auto(frame), preimage="auto").fit(frame)
    told = []
    found, errors = model.set_params(progress=told.append).inverse_transform(model.transform(frame), return_error=True)
    assert list(found) == [{"size": size, "kind": kind} for size, kind in zip(*frame.values(), strict=True)]
    assert errors.max() < 1e-6 and told[-1].share == 1
