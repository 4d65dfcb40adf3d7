"""Saving is all or nothing: kills, full disks and errors leave the old file, or the new one."""

import os
import subprocess

import numpy as np
import pytest

import mercer
from mercer import PCA
from mercer_old.errors import CannotWrite
from support.branches import run
from support.kept import X
from support.peak import needs_peaks, peak_of

DRIVER = """
import os, random, signal, sys, time
from pathlib import Path
import numpy as np
import mercer
rows = np.random.default_rng(0).normal(size=(400, 300))
models = [mercer.KernelPCA(50, kernel="rbf").fit(rows), mercer.KernelPCA(40, kernel="rbf").fit(rows)]
path, kills, chance, torn, most, found = Path(sys.argv[1]), int(sys.argv[2]), random.Random(0), 0, 0, set()
models[0].save(path)
for kill in range(kills):
    ready, done = os.pipe()
    child = os.fork()
    if not child:
        os.write(done, b"x")
        while True:
            for model in models:
                model.save(path)
    os.read(ready, 1)
    os.close(ready), os.close(done)
    time.sleep(chance.uniform(0.0, 0.06))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    verdict = mercer.verify(path)
    torn += not verdict.ok
    found.add(mercer.inspect(path)["parameters"]["n_components"])
    most = max(most, len(list(path.parent.glob(".mercer-*"))))
models[0].save(path)
print(torn, len(list(path.parent.iterdir())) - 1, most, sorted(found))
"""


def killed(folder, kills):
    done = run(folder / "model.mercer", kills, code=DRIVER)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.strip()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked and killed")
@pytest.mark.parametrize("kills", [10, pytest.param(200, marks=pytest.mark.slow)])
def test_kills_leave_no_torn_file_and_the_next_save_leaves_nothing_else(kills, tmp_path):
    torn, left, most, found = killed(tmp_path, kills).split(" ", 3)
    assert torn == "0" and left == "0"
    assert int(most) <= 1  # each save has cleared away what the one before it left
    if kills > 10:
        assert found == "[40, 50]" and most == "1"  # so that saves did end, and others were interrupted


LIMITED = """
import resource, signal, sys
import numpy as np
import mercer
from mercer_old.errors import CannotWrite
model = mercer.PCA(50).fit(np.random.default_rng(0).normal(size=(400, 300)))
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    model.save(sys.argv[1])
except CannotWrite as error:
    print(error.exit_code, error)
"""


def test_a_full_disk_is_one_sentence_and_leaves_the_old_file(tmp_path):
    pytest.importorskip("resource")
    path = PCA(2).fit(X).save(tmp_path / "model.mercer")
    before = path.read_bytes()
    done = run(path, code=LIMITED)
    assert done.stdout.startswith(f"5 Cannot write {path}: File too large"), done.stderr
    assert path.read_bytes() == before and [one.name for one in tmp_path.iterdir()] == ["model.mercer"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device that is always full")  # noqa: PTH110
def test_a_device_that_is_full_is_one_sentence():
    with pytest.raises(CannotWrite, match="No space left"):
        PCA(2).fit(X).save("/dev/full")


def test_places_that_cannot_be_written_are_one_sentence(tmp_path):
    model = PCA(2).fit(X)
    for path in (tmp_path / "nowhere" / "model.mercer", tmp_path):
        with pytest.raises(CannotWrite):
            model.save(path)
    assert not list(tmp_path.iterdir())


def test_an_error_on_the_way_leaves_the_old_file(tmp_path, monkeypatch):
    path = PCA(2).fit(X).save(tmp_path / "model.mercer")
    before = path.read_bytes()

    def interrupted(array):
        raise KeyboardInterrupt

    monkeypatch.setattr("mercer_old.store.layout.pieces_of", interrupted)
    with pytest.raises(KeyboardInterrupt):
        PCA(3).fit(X).save(path)
    assert path.read_bytes() == before and [one.name for one in tmp_path.iterdir()] == ["model.mercer"]


def test_a_pipe_takes_a_model_as_well(tmp_path):
    model = PCA(2).fit(X)
    whole = model.save(tmp_path / "model.mercer").read_bytes()
    reader = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    model.save(f"/dev/fd/{reader.stdin.fileno()}" if os.path.exists("/dev/fd") else tmp_path / "other")  # noqa: PTH110
    assert reader.communicate()[0] == whole


LARGE = """
import mercer
model = mercer.PCA(2).fit(np.random.default_rng(0).normal(size=(9, 5)))
def grown(d, k):
    model.components_, model.mean_, model._exact = np.ones((k, d), order={order!r}), np.ones(d), None
    model.explained_variance_ = model.explained_variance_ratio_ = model.singular_values_ = np.ones(k)
    model.n_features_in_, model.n_components_ = d, k
grown(5, 2)
mercer.load(model.save({path!r}))
grown({d}, 100)
if {loading}:
    model.save({path!r})
    del model.components_
"""


@needs_peaks
@pytest.mark.parametrize("order", ["C", pytest.param("F", marks=pytest.mark.slow)])
def test_tensors_are_written_and_read_without_a_second_copy(order, tmp_path):
    path, d, room = str(tmp_path / "model.mercer"), 200_000, 80e6
    size = 8 * 100 * d
    how = {"path": path, "d": d, "order": order}
    saving, _ = peak_of(f"model.save({path!r})", LARGE.format(loading=False, **how), "0")
    loading, _ = peak_of(f"loaded = mercer.load({path!r})", LARGE.format(loading=True, **how), "0")
    assert saving < room and loading < size + room
    assert np.isfinite(mercer.inspect(path)["bytes"])
