"""Files that are no models, or lie: each is one sentence, runs nothing, and takes no more memory than it is large."""

import io
import json
import os
import pickle
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mercer
from mercer import PCA
from mercer_old.errors import BadData, BadModel, MercerError
from mercer_old.store.layout import LONGEST_HEADER, MOST_TENSORS
from support.forged import Forged
from support.kept import X, fitted
from support.silence import quiet

pytestmark = quiet
ROOM = 64 * 2**20  # beside twice the size of a file


class Bomb:
    """A pickle that would leave a trace if it was loaded."""

    def __reduce__(self):
        return os.mkdir, ("exploded",)


def zipped():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("components.npy", bytes(50_000_000))
    return file.getvalue()


def safetensors(header, data=b""):
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(raw)) + raw + data


def place(shape, start, end, dtype="F64"):
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}


OURS = {"__metadata__": {"mercer": "{}"}}
STRANGERS = {
    "nothing": b"",
    "three bytes": b"abc",
    "a pickle": pickle.dumps(Bomb()),
    "a pickle behind a length": safetensors(pickle.dumps(Bomb())),
    "a zip bomb": zipped(),
    "a header of 16 EiB": struct.pack("<Q", 2**64 - 1) + b"{}",
    "a header beyond the file": struct.pack("<Q", 1000) + b"{}",
    "a header beyond the limit": safetensors(b"{" + b" " * LONGEST_HEADER + b"}"),
    "no JSON": safetensors(b"no JSON at all"),
    "no UTF-8": safetensors(b'{"\xff\xfe": 1}'),
    "a list": safetensors(b"[1, 2]"),
    "spaces before": safetensors(b"  {}"),
    "deep JSON": safetensors(b'{"a":' + b"[" * 500_000 + b"]" * 500_000 + b"}"),
    "deep JSON without an end": safetensors(b"[" * 1_000_000),
    "brackets by the hundred thousand": safetensors(b'{"a":[' + b"[]," * 100_000 + b"[]]}"),
    "a key twice": safetensors(b'{"a": {}, "a": {}, "__metadata__": {"mercer": "{}"}}'),
    "a number of many digits": safetensors(b'{"a": ' + b"9" * 100_000 + b"}"),
    "no metadata": safetensors({"a": place([1], 0, 8)}, bytes(8)),
    "metadata of others": safetensors({"__metadata__": {"format": "pt"}, "a": place([1], 0, 8)}, bytes(8)),
    "metadata that are no text": safetensors({"__metadata__": {"mercer": {}}}),
    "8 TiB": safetensors(OURS | {"a": place([2**40], 0, 2**43)}, bytes(8)),
    "8 TiB in 8 bytes": safetensors(OURS | {"a": place([2**40], 0, 8)}, bytes(8)),
    "a shape that overflows": safetensors(OURS | {"a": place([2**59, 2**59, 2**59], 0, 8)}, bytes(8)),
    "overlapping": safetensors(OURS | {"a": place([2], 0, 16), "b": place([2], 8, 24)}, bytes(24)),
    "with a gap": safetensors(OURS | {"a": place([1], 0, 8), "b": place([1], 16, 24)}, bytes(24)),
    "backwards": safetensors(OURS | {"a": place([1], 8, 0)}, bytes(8)),
    "a negative size": safetensors(OURS | {"a": place([-1], 0, -8)}, bytes(8)),
    "NaN for a size": safetensors(
        b'{"__metadata__":{"mercer":"{}"},"a":{"dtype":"F64","shape":[NaN],"data_offsets":[0,8]}}'
    ),
    "a broken size": safetensors(OURS | {"a": place([1.0], 0, 8)}, bytes(8)),
    "a true size": safetensors(OURS | {"a": place([True], 0, 8)}, bytes(8)),
    "an unknown dtype": safetensors(OURS | {"a": place([1], 0, 8, "O")}, bytes(8)),
    "a dtype that is a list": safetensors(OURS | {"a": place([1], 0, 8, ["F64"])}, bytes(8)),
    "many axes": safetensors(OURS | {"a": place([1] * 64, 0, 8)}, bytes(8)),
    "more than it claims": safetensors(OURS | {"a": place([1], 0, 8)}, bytes(9)),
    "a path for a name": safetensors(OURS | {"../../etc/passwd": place([1], 0, 8)}, bytes(8)),
    "tensors by the thousand": safetensors(
        OURS | {f"{i}": place([0], 0, 0) for i in range(MOST_TENSORS + 1)},
    ),
    "an empty header of ours": safetensors(OURS),
    "a list of ours": safetensors({"__metadata__": {"mercer": "[]"}}),
    "deep JSON of ours": safetensors({"__metadata__": {"mercer": "[" * 200_000}}),
    "NaN in ours": safetensors({"__metadata__": {"mercer": '{"format": NaN}'}}),
}


def refused(path, size=None):
    """One sentence, from everybody who reads model files, within the room there is; the sentence."""
    size = path.stat().st_size if size is None else size
    for read in (mercer.load, mercer.inspect):
        tracemalloc.start()
        try:
            with pytest.raises(MercerError) as told:
                read(path)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak <= 2 * size + ROOM, f"{peak:,} bytes for a file of {size:,}"
        assert len(str(told.value)) < 700 and "\n" not in str(told.value) and str(told.value).isprintable()
    verdict = mercer.verify(path)
    assert not verdict.ok and len(verdict.wrong) == 1
    return str(told.value)


@pytest.mark.parametrize("name", STRANGERS)
def test_strangers_are_refused(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "model.mercer"
    path.write_bytes(STRANGERS[name])
    refused(path)
    assert [one.name for one in tmp_path.iterdir()] == ["model.mercer"]


def test_places_that_are_no_files_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for path in (tmp_path, tmp_path / "pipe", tmp_path / "nothing", tmp_path / "dangling", tmp_path / "loop", "a\0b"):
        for read in (mercer.load, mercer.inspect):
            with pytest.raises(BadData):
                read(path)
        assert not mercer.verify(path).ok
    with pytest.raises(BadData):
        mercer.load("/dev/zero")


def test_a_link_to_a_model_is_that_model_and_saving_there_keeps_the_link(tmp_path):
    model = PCA(2).fit(X)
    link = tmp_path / "link.mercer"
    link.symlink_to(model.save(tmp_path / "model.mercer"))
    assert mercer.verify(link).ok
    PCA(1).fit(X).save(link)
    assert link.is_symlink() and mercer.load(tmp_path / "model.mercer").n_components_ == 1


@pytest.mark.parametrize("name", ["pca", "tables"])
def test_a_file_that_ends_early_or_late_is_refused(name, tmp_path):
    path = fitted(name)[0].save(tmp_path / "model.mercer")
    raw = path.read_bytes()
    for end in [*range(0, len(raw), 1 + len(raw) // 60), len(raw) - 1]:
        path.write_bytes(raw[:end])
        assert not mercer.verify(path).ok
        with pytest.raises(BadModel):
            mercer.load(path)
    path.write_bytes(raw + b"\0")
    assert not mercer.verify(path).ok


# ---------------------------------------------------------------------- lies with hashes that are right


def lie(path, *steps, to):
    """Another value at the end of these steps into the tree of the model."""
    forged = Forged(path)
    tree = forged.model
    for step in steps[:-1]:
        tree = tree[step]
    tree[steps[-1]] = to
    return forged.written(path)


LIES = {
    "an unknown class": ("pca", ["class"], "os.system"),
    "a class that is a list": ("pca", ["class"], ["PCA"]),
    "no parameters": ("pca", ["parameters"], None),
    "an unknown parameter": ("pca", ["parameters", "evil"], 1),
    "a parameter that cannot be": ("pca", ["parameters", "n_components"], -3),
    "parameters of private names": ("pca", ["parameters", "__class__"], "PCA"),
    "an unknown kind of value": ("pca", ["parameters", "tol"], {"is": "pickle", "of": "gASV"}),
    "a value without a kind": ("pca", ["parameters", "tol"], {"of": 1}),
    "an unknown fact": ("pca", ["fitted", "__reduce__"], 1),
    "a fact that is missing": ("pca", ["fitted", "mean"], None),
    "a tensor that is not there": ("pca", ["fitted", "mean"], {"is": "array", "of": "../mean"}),
    "a tensor twice": ("pca", ["fitted", "mean"], {"is": "array", "of": "exact_mean"}),
    "a tensor for a number": ("pca", ["fitted", "n_components"], {"is": "array", "of": "mean"}),
    "a number for a tensor": ("pca", ["fitted", "components"], 3.0),
    "another number of columns": ("pca", ["fitted", "n_features_in"], 5),
    "a dtype of objects": ("pca", ["fitted", "dtype"], "object"),
    "names that are too many": ("pca", ["feature_names"], ["a"] * 5),
    "names that are numbers": ("pca", ["feature_names"], [1, 2, 3, 4]),
    "a plan of others": ("pca", ["plan", "solver", "name"], "Popen"),
    "a plan that is a text": ("pca", ["plan"], "none"),
    "a certificate of others": ("pca", ["certificate", "name"], "Bomb"),
    "an unknown kernel": ("kernel", ["fitted", "kernel", "name"], "Blockwise"),
    "a kernel of private names": ("kernel", ["fitted", "kernel", "with"], {"__init__": 1}),
    "a kernel that cannot be": ("kernel", ["fitted", "kernel", "with", "gamma"], "os"),
    "a kernel that is a number": ("kernel", ["fitted", "kernel"], 3),
    "no rows": ("kernel", ["fitted", "X_fit"], None),
    "another way": ("kernel", ["fitted", "held"], "features"),
    "no way": ("kernel", ["fitted", "held"], None),
    "columns of sparse rows": ("kernel, sparse", ["fitted", "X_fit", "shape"], [60, 2]),
    "fewer sparse rows": ("kernel, sparse", ["fitted", "X_fit", "shape"], [59, 4]),
    "sparse rows of another class": ("kernel, sparse", ["fitted", "X_fit", "kind"], "eval"),
    "lengths for texts": ("odd texts", ["fitted", "X_fit", "of"], "X_fit.lengths"),
    "another space": ("lle", ["fitted", "space"], "distances"),
    "a way that is none": ("lle", ["fitted", "way"], "__import__"),
    "a number without an end": ("kernel", ["fitted", "shift"], {"is": "number", "of": "inf"}),
    "a number that is none": ("incremental", ["fitted", "weight"], {"is": "number", "of": "nan"}),
    "a number of many digits": ("tables", ["fitted", "gamma"], 10**30),
    "a count of many digits": ("novelty", ["fitted", "n_features_in"], 2**63),
    "other columns than inside": ("novelty", ["fitted", "n_features_in"], 3),
    "another statistic": ("novelty", ["fitted", "statistic"], "__class__"),
    "more components than there are": ("pca", ["fitted", "n_components"], 3),
    "nothing to divide by": ("lle", ["fitted", "unit"], 0.0),
    "no gamma": ("kernel", ["fitted", "gamma"], None),
    "no estimator": ("novelty", ["estimator"], None),
    "an estimator that is a detector": ("novelty", ["estimator", "class"], "NoveltyDetector"),
    "a process with an unknown kernel": ("gplvm", ["fitted", "kernel", "name"], "Blockwise"),
    "a process that is none": ("gplvm", ["fitted", "kernel"], {"is": "kernel", "name": "Sigmoid", "with": {}}),
    "a process of texts": ("gplvm", ["fitted", "kernel"], {"is": "kernel", "name": "Spectrum", "with": {"n": 2}}),
    "a process that learns yet": ("gplvm", ["fitted", "kernel", "with", "gamma"], None),
    "a process without a length": ("gplvm", ["fitted", "length"], 0.0),
    "a process below no noise": ("gplvm", ["fitted", "noise"], -1.0),
    "other places than inputs": ("gplvm", ["fitted", "inputs"], {"is": "array", "of": "rows"}),
    "a network of others": ("autoencoder", ["fitted", "layer_activation"], "__import__"),
    "layers that are none": ("autoencoder", ["fitted", "sizes"], [4, 2, 4]),
    "a proof that is none": ("autoencoder", ["certificate", "with"], {"gradient": 0.0}),
    "a network of more columns": ("autoencoder", ["fitted", "n_features_in"], 5),
    "factors of more columns": ("factors", ["fitted", "n_features_in"], 5),
    "factors of objects": ("factors", ["fitted", "dtype"], "object"),
    "a likelihood that is a number": ("factors", ["fitted", "loglike"], 3.0),
    "cells of others": ("tables", ["fitted", "X_fit", "rows"], 3),
}


@pytest.mark.parametrize("name", LIES)
def test_lies_are_refused(name, tmp_path):
    model, steps, value = LIES[name]
    path = fitted(model)[0].save(tmp_path / "model.mercer")
    assert mercer.verify(Forged(path).written(path)).ok  # so that it is the lie that is found
    lie(path, *steps, to=value)
    with pytest.raises(BadModel) as told:
        mercer.load(path)
    assert "\n" not in str(told.value) and len(str(told.value)) < 700
    assert not mercer.verify(path).ok
    str(mercer.inspect(path))


def numbers_beyond(name, tensor, value, dtype):
    """The first number of a tensor is another one."""
    return name, tensor, np.array([value], dtype=dtype).tobytes()


BEYOND = {
    "a neighbour that does not exist": numbers_beyond("lle", "neighbors", 60, np.int32),
    "a neighbour below zero": numbers_beyond("lle", "neighbors", -1, np.int32),
    "a copy of nothing": numbers_beyond("lle, copies", "copies", 99, np.int64),
    "a column that does not exist": numbers_beyond("kernel, sparse", "X_fit.indices", 4, np.int32),
    "rows that end before they begin": numbers_beyond("kernel, sparse", "X_fit.indptr", 5, np.int32),
    "a text longer than all": numbers_beyond("odd texts", "X_fit.lengths", 2**62, np.int64),
    "a text of no UTF-8": numbers_beyond("odd texts", "X_fit", 0xFF, np.uint8),
    "a code without a value": numbers_beyond("tables", "X_fit.2.codes", 99, np.int64),
    "a series longer than all": numbers_beyond("series", "X_fit.lengths", 2**40, np.int64),
}


@pytest.mark.parametrize("name", BEYOND)
def test_numbers_of_places_that_do_not_exist_are_refused(name, tmp_path):
    model, tensor, raw = BEYOND[name]
    path = fitted(model)[0].save(tmp_path / "model.mercer")
    forged = Forged(path)
    start = forged.places[tensor]["data_offsets"][0]
    forged.data[start : start + len(raw)] = raw
    with pytest.raises(BadModel):
        mercer.load(forged.written(path))


@pytest.mark.parametrize(
    "name",
    [
        *("pca, standardize", "incremental", "kernel, inverse", "landmarks", "lle", "novelty"),
        *("factors", "gplvm", "gplvm, landmarks", "autoencoder"),
    ],
)
def test_every_tensor_of_another_shape_is_refused(name, tmp_path):
    """One entry fewer along any axis: sizes are compared between tensors, so that none is a crash later."""
    path = fitted(name)[0].save(tmp_path / "model.mercer")
    for tensor, entry in Forged(path).places.items():
        for axis in range(len(entry["shape"])):
            forged = Forged(path)
            shape = list(entry["shape"])
            shape[axis] -= 1
            size = len(forged.bytes_of(tensor)) // max(1, int(np.prod(entry["shape"])))
            if shape[axis] < 0 or _is_free(name, tensor, axis):
                continue
            forged.replace(tensor, bytes(forged.bytes_of(tensor)[: size * int(np.prod(shape))]), shape=shape)
            with pytest.raises(BadModel):
                mercer.load(forged.written(tmp_path / "lie.mercer"))


def _is_free(name, tensor, axis):
    """Sizes that nothing else has: calibration rows, rows that wait to be squared, coordinates of places, the steps of
    a search, and factors, which have no numbers but their loadings."""
    free = {"calibration_scores": 0, "more": 0, "less": 0, "loglike": 0, "loss_curve": 0}
    free |= {"lle": {"embedding": 1}, "factors": {"components": 0}}.get(name, {})
    return free.get(tensor) == axis


def test_foreign_tensors_are_refused(tmp_path):
    path = PCA(2).fit(X).save(tmp_path / "model.mercer")
    forged = Forged(path)
    forged.replace("stowaway", bytes(8), "F64", [1])
    with pytest.raises(BadModel, match="nothing in it names the tensor 'stowaway'"):
        mercer.load(forged.written(path))


@pytest.mark.parametrize("schema", [[2, 0], [99, 1], [0, 1], [1], "1.0", [1.0, 0], None])
def test_schemas_of_the_future_are_told_and_others_refused(schema, tmp_path):
    path = PCA(2).fit(X).save(tmp_path / "model.mercer")
    forged = Forged(path)
    forged.header["schema"] = schema
    newer = isinstance(schema, list) and schema[0] > 1
    with pytest.raises(BadModel, match="newer mercer.*pip install" if newer else "no model file"):
        mercer.load(forged.written(path))


# ---------------------------------------------------------------------- chance

KEPT = {}


def kept_file(name, factory):
    if name not in KEPT:
        KEPT[name] = fitted(name)[0].save(factory.mktemp("kept") / "model.mercer")
    return KEPT[name]


def spots(tree, path=()):
    """Every place in a tree of JSON."""
    if path:
        yield path
    inner = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in inner:
        yield from spots(value, (*path, key))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["is", "of", "name", "with", "kind", "array", "x"]), inner, max_size=3)
    ),
    max_leaves=5,
)


@pytest.mark.parametrize(
    "name",
    [
        *("pca", "kernel, sparse", "tables", "lle", "novelty", "gplvm"),
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("incremental", "landmarks", "series", "factors", "autoencoder")
        ),
    ],
)
@given(data=st.data())
def test_any_change_of_a_header_is_a_model_or_an_error_of_ours(name, tmp_path_factory, data):
    """With hashes that are right: what is left is one sentence, or a model that loads."""
    path = kept_file(name, tmp_path_factory)
    forged = Forged(path)
    tree = forged.model
    spot = data.draw(st.sampled_from(list(spots(tree))))
    for step in spot[:-1]:
        tree = tree[step]
    tree[spot[-1]] = data.draw(JSON)
    target = forged.written(path.parent / "changed.mercer")
    try:
        mercer.load(target)
    except MercerError:
        assert not mercer.verify(target).ok
    str(mercer.inspect(target))


@given(raw=st.binary(max_size=300), ours=st.booleans())
def test_any_bytes_are_an_error_of_ours(raw, ours, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / f"any{os.getpid()}.mercer"
    path.write_bytes(safetensors(raw) if ours else raw)
    for read in (mercer.load, mercer.inspect):
        with pytest.raises(MercerError):
            read(path)
