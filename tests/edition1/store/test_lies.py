"""Files with hashes that are right and numbers that no fit leaves behind: refused when loaded, and no crash later."""

import numpy as np
import pytest

import mercer
from mercer_old.errors import BadData, BadModel
from support.forged import Forged
from support.kept import MODELS, fitted
from support.silence import quiet

pytestmark = quiet


def values_of(forged, tensor):
    dtypes = {"F64": np.float64, "F32": np.float32, "I64": np.int64, "I32": np.int32}
    entry = forged.places[tensor]
    return np.frombuffer(bytes(forged.bytes_of(tensor)), dtypes[entry["dtype"]]).reshape(entry["shape"]).copy()


ALL_THE_SAME = {
    "points beyond all": ("lle", "rows", 1e308, "farther away"),
    "scales of zero": ("pca, standardize", "scale", 0.0, "divided by"),
    "scales below zero": ("kernel, standardize", "scale", -1.0, "divided by"),
    "copies of one item": ("lle, copies", "copies", 0, "that are not theirs"),
    "landmarks that are one row": ("lle, landmarks", "landmark_indices", 0, "not in order"),
    "a landmark that is no row": ("lle, landmarks", "landmark_indices", 99, "beyond the 60 there are"),
    "parts that are not apart": ("lle, one part each", "neighbors", 0, "not apart"),
    "points of a process beyond all": ("gplvm", "rows", 1e308, "farther away"),
    "a frame of no size": ("gplvm", "frame_scale", 0.0, "divided by"),
    "a frame of less than no size": ("autoencoder", "frame_scale", -1.0, "divided by"),
    "noises below zero": ("factors", "noise_variance", -1.0, "less than nothing"),
    "layers that lead elsewhere": ("autoencoder", "sizes", 3, "do not lead from 4 columns"),
    "layers of nothing": ("autoencoder", "sizes", 0, "do not lead from 4 columns"),
    "layers of another width": ("autoencoder, linear", "sizes", 4, "has 22 weights, and its layers have 40"),
    "a column that is not there": ("lle, sparse", "filled_columns", 4, "beyond the 4 there are"),
}


@pytest.mark.parametrize("name", ALL_THE_SAME)
def test_numbers_that_no_fit_leaves_behind_are_refused(name, tmp_path):
    model, tensor, value, words = ALL_THE_SAME[name]
    path = fitted(model)[0].save(tmp_path / "model.mercer")
    forged = Forged(path)
    array = values_of(forged, tensor)
    assert array.size
    array[...] = value
    forged.replace(tensor, array.tobytes())
    with pytest.raises(BadModel, match=words):
        mercer.load(forged.written(path))


# Honest fits may leave numbers here that are not finite.
_ONLY_TOLD = {"explained_variance_ratio", "var"}


@pytest.mark.parametrize(
    "name",
    [
        *("pca", "incremental", "kernel, sparse", "landmarks", "lle", "novelty"),
        *("factors", "gplvm", "gplvm, landmarks", "autoencoder"),
    ],
)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_refused(name, value, tmp_path):
    """They would be scores that are none, or an error that speaks of the rows of whoever asks."""
    path = fitted(name)[0].save(tmp_path / "model.mercer")
    for tensor, entry in Forged(path).places.items():
        last = tensor.rpartition("estimator.")[2]
        if entry["dtype"][0] != "F" or last in _ONLY_TOLD or last.startswith("certificate") or 0 in entry["shape"]:
            continue
        forged = Forged(path)
        array = values_of(forged, tensor)
        array.flat[-1] = value
        forged.replace(tensor, array.tobytes())
        with pytest.raises(BadModel, match="not finite"):
            mercer.load(forged.written(tmp_path / "lie.mercer"))


HUGE = [
    ("pca", "components"),
    ("pca, sparse", "components"),
    ("incremental", "components"),
    ("kernel", "eigenvectors"),
    ("landmarks", "coefficients"),
    ("lle", "embedding"),
    ("factors", "mean"),
    ("gplvm", "weights"),
    ("gplvm", "embedding"),
    ("autoencoder", "weights"),
]


@pytest.mark.parametrize(("name", "tensor"), HUGE)
def test_huge_numbers_are_one_sentence_and_no_scores(name, tensor, tmp_path):
    """They are finite, so that a fit could have left them behind, and a product with them is not."""
    path = fitted(name)[0].save(tmp_path / "model.mercer")
    forged = Forged(path)
    forged.replace(tensor, np.full_like(values_of(forged, tensor), np.finfo(np.float64).max).tobytes())
    model = mercer.load(forged.written(path))
    with pytest.raises(BadData, match=r"not finite, first (of|for) row index \d|are an overflow"):
        model.transform(MODELS[name][2])


@pytest.mark.parametrize("kind", ["F16", "I64"])
def test_numbers_of_another_kind_are_refused(kind, tmp_path):
    path = fitted("lle")[0].save(tmp_path / "model.mercer")
    forged = Forged(path)
    forged.replace("rows", values_of(forged, "rows").astype({"F16": np.float16, "I64": np.int64}[kind]).tobytes(), kind)
    with pytest.raises(BadModel, match=r"kind|numbers"):
        mercer.load(forged.written(path))


def without(path, *facts):
    """A file that lacks these facts and their tensors."""
    forged = Forged(path)
    for fact in facts:
        value = forged.model["fitted"].pop(fact)
        if isinstance(value, dict):
            forged.remove(value["of"])
    return forged.written(path)


SOLVED = ["components", "explained_variance", "explained_variance_ratio", "singular_values", "noise_variance"]
SOLVED += ["total_variance", "reconstruction_error"]


@pytest.mark.parametrize(
    ("name", "facts", "words"),
    [
        ("incremental", ["origin"], "origin is missing"),
        ("incremental", ["singular_values"], "singular_values is missing"),
        ("kernel, inverse", ["X_transformed_fit"], "X_transformed_fit is missing"),
        ("kernel, inverse", ["dual_coef"], "dual_coef is missing"),
        ("landmarks, standardize", ["landmarks"], "neither landmarks nor training rows"),
        ("lle, distances of copies", ["matrix_columns"], "distances are between 12 items"),
    ],
)
def test_facts_that_belong_together_come_together(name, facts, words, tmp_path):
    path = fitted(name)[0].save(tmp_path / "model.mercer")
    with pytest.raises(BadModel, match=words):
        mercer.load(without(path, *facts))


def test_sums_or_components_are_there(tmp_path):
    model = fitted("incremental")[0]
    sums = list(model._scatter.facts())
    whole = model.save(tmp_path / "model.mercer").read_bytes()
    for facts in (SOLVED, sums, SOLVED + sums):
        (tmp_path / "model.mercer").write_bytes(whole)
        path = without(tmp_path / "model.mercer", *facts)
        if len(facts) > len(sums):
            with pytest.raises(BadModel, match="neither components nor the sums"):
                mercer.load(path)
        else:
            np.testing.assert_allclose(mercer.load(path).components_, model.components_)


def test_a_detector_has_a_model_that_detects(tmp_path):
    forged = Forged(fitted("novelty, pca")[0].save(tmp_path / "detector.mercer"))
    other = Forged(fitted("lle")[0].save(tmp_path / "lle.mercer"))
    for name in [name for name in forged.places if name.startswith("estimator.")]:
        forged.remove(name)
    for name, entry in other.places.items():
        forged.replace(name, bytes(other.bytes_of(name)), entry["dtype"], entry["shape"])
    forged.model["estimator"] = other.model
    with pytest.raises(BadModel, match="LocallyLinearEmbedding is no model that a detector has"):
        mercer.load(forged.written(tmp_path / "lie.mercer"))
