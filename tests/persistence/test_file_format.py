"""The format: any reader of safetensors opens a model file, and the promises of docs/guide/model_files.md hold."""

import hashlib
import json

import numpy as np
import pytest

import mercer
from mercer import PCA, KernelPCA
from support.forged import Forged
from support.kept import MODELS, X, fitted
from support.silence import quiet

pytestmark = quiet


@pytest.mark.parametrize("name", ["pca", "kernel, single", "tables", "lle, copies", "novelty", "bytes", "incremental"])
def test_any_reader_of_safetensors_opens_the_tensors(name, tmp_path):
    safetensors = pytest.importorskip("safetensors")
    model, _ = fitted(name)
    path = model.save(tmp_path / "model.mercer")
    header = mercer.inspect(path)
    with safetensors.safe_open(path, "numpy") as file:
        assert set(file.keys()) == set(header["tensors"])
        assert list(file.metadata()) == ["mercer"]
        for key in file.keys():  # noqa: SIM118 (it is no dict)
            array = file.get_tensor(key)
            assert list(array.shape) == header["tensors"][key]["shape"]
            assert hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest() == header["tensors"][key]["sha256"]
    if name == "pca":
        from safetensors.numpy import load_file

        assert np.array_equal(load_file(path)["components"], model.components_)


def test_tensors_are_aligned_and_the_header_is_ascii(tmp_path):
    for name in ("pca", "kernel, single", "odd texts", "tables"):
        raw = fitted(name)[0].save(tmp_path / "model.mercer").read_bytes()
        length = int.from_bytes(raw[:8], "little")
        assert (8 + length) % 64 == 0 and raw[8 : 8 + length].isascii()
        places = Forged(tmp_path / "model.mercer").places
        sizes = {"F64": 8, "I64": 8, "F32": 4, "I32": 4}
        assert all(place["data_offsets"][0] % sizes.get(place["dtype"], 1) == 0 for place in places.values())


def test_a_header_tells_all_without_a_tensor(tmp_path):
    """Even where the numbers are gone."""
    frame = pytest.importorskip("pandas").DataFrame(X, columns=["a", "b", "c", "d"])
    path = (
        KernelPCA(2, kernel=0.5 * mercer.kernels.RBF(0.3), standardize=True).fit(frame).save(tmp_path / "model.mercer")
    )
    whole = mercer.inspect(path)
    json.loads(json.dumps(whole))
    assert whole["feature_names"] == ["a", "b", "c", "d"]
    assert whole["data"] == {"rows": 60, "columns": 4, "sha256": None}  # they are kept in other units
    assert whole["kernel"] == {"Scaled": {"factor": 0.5, "kernel": {"RBF": {"gamma": 0.3}}}}
    assert whole["parameters"]["standardize"] is True and whole["versions"]["mercer"] == mercer.__version__
    assert "certified" in str(whole) and "RBF(gamma=0.3)" in str(whole) and "a, b, c, d" in str(whole)
    forged = Forged(path)
    for place in forged.places.values():
        start, end = place["data_offsets"]
        forged.data[start:end] = bytes(end - start)
    damaged = tmp_path / "damaged.mercer"
    damaged.write_bytes(path.read_bytes()[: -len(forged.data)] + forged.data)
    assert mercer.inspect(damaged) == whole
    assert not mercer.verify(damaged).ok


@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_that_are_kept_are_known_by_their_hash(order, tmp_path):
    rows = np.asarray(X, order=order)
    data = mercer.inspect(KernelPCA(2, kernel="rbf").fit(rows).save(tmp_path / "model.mercer"))["data"]
    assert data == {"rows": 60, "columns": 4, "sha256": hashlib.sha256(np.ascontiguousarray(X)).hexdigest()}


@pytest.mark.parametrize("name", ["pca", "kernel, weights", "kernel, sparse", "landmarks", "lle", "novelty", "tables"])
def test_of_rows_that_are_not_kept_as_they_were_no_hash_is_claimed(name, tmp_path):
    header = mercer.inspect(fitted(name)[0].save(tmp_path / "model.mercer"))
    assert header["data"]["sha256"] is None and "sha256" not in str(header)
    if name == "kernel, weights":
        assert header["data"]["rows"] == 60  # with those of weight zero


def test_control_characters_of_a_file_reach_no_terminal(tmp_path):
    path = PCA(2).fit(X).save(tmp_path / "model.mercer", notes={"\x1b[2J": "\x07"})
    forged = Forged(path)
    forged.model["class"] = "\x1b[31m"
    forged.model["feature_names"] = ["\x1b", "b\r", "c", "d"]
    text = str(mercer.inspect(forged.written(path)))
    assert text.replace("\n", "").isprintable()


def test_the_files_of_all_models_know_one_schema(tmp_path):
    path = fitted("pca")[0].save(tmp_path / "model.mercer")
    assert mercer.inspect(path)["schema"] == [1, 0] and len(MODELS) > 50
