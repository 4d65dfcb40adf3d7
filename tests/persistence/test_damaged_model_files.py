"""Every single bit counts: whichever is flipped, wherever it is, the file is found to be damaged."""

import numpy as np
import pytest

import mercer
from mercer import PCA
from mercer_old.errors import BadModel
from support.kept import X, fitted
from support.silence import quiet

pytestmark = quiet


def flipped(raw, bit):
    raw = bytearray(raw)
    raw[bit // 8] ^= 1 << (bit % 8)
    return bytes(raw)


def some_bits(raw, some):
    """All of the length and of the padding, the ends of everything, and others by chance."""
    length = int.from_bytes(raw[:8], "little")
    padding = len(raw[8 : 8 + length]) - len(raw[8 : 8 + length].rstrip(b" "))
    edges = [*range(64), *range(8 * (8 + length - padding - 2), 8 * (8 + length + 2)), 8 * len(raw) - 1]
    return sorted({*edges, *np.random.default_rng(0).integers(0, 8 * len(raw), size=some).tolist()})


def undetected(path, bits):
    raw = path.read_bytes()
    found = []
    for bit in bits:
        path.write_bytes(flipped(raw, bit))
        if mercer.verify(path).ok:
            found.append(bit)
    path.write_bytes(raw)
    assert mercer.verify(path).ok
    return found


@pytest.mark.parametrize(
    "name",
    [
        "pca",
        "odd texts",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("kernel, sparse", "lle, copies", "novelty, pca")),
    ],
)
def test_flipped_bits_are_found(name, tmp_path):
    path = fitted(name)[0].save(tmp_path / "model.mercer", notes={"text": "é\x1b"})
    assert undetected(path, some_bits(path.read_bytes(), 300)) == []


@pytest.mark.slow
def test_every_flipped_bit_is_found(tmp_path):
    path = PCA(1).fit(X).save(tmp_path / "model.mercer")
    assert undetected(path, range(8 * path.stat().st_size)) == []


def test_damage_is_told_with_its_place_and_loads_no_model(tmp_path):
    path = PCA(2).fit(X).save(tmp_path / "model.mercer")
    raw = path.read_bytes()
    path.write_bytes(flipped(raw, 8 * len(raw) - 1))
    with pytest.raises(
        BadModel, match=r"model\.mercer is no model file that can be used: the tensor 'singular_values'"
    ):
        mercer.load(path)
    path.write_bytes(flipped(raw, 8 * 300))
    with pytest.raises(BadModel, match="header"):
        mercer.load(path)
