"""Files that belong together appear together."""

import os
import signal
from pathlib import Path

import pytest

from mercer_old.conversions.together import write_together
from mercer_old.errors import CannotWrite


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_all_are_written_or_none(failing, tmp_path, monkeypatch):
    """Whichever of the last steps the system refuses, what was there before is there again."""
    paths = [tmp_path / name for name in "abc"]
    paths[0].write_bytes(b"older")
    replace = Path.replace

    def refused(self, target):
        if Path(target) == paths[failing].resolve() and self.suffix == ".part":
            raise OSError(28, "No space left on device")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", refused)
    with pytest.raises(CannotWrite, match="No space left"):
        write_together({path: b"new" for path in paths})
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a": b"older"}
    monkeypatch.undo()
    write_together({path: b"new" for path in paths})
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == dict.fromkeys("abc", b"new")


def killed_at(step, paths):
    """A process that writes these files, and is killed before the system changes a name for the `step`-th time."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] == 0
    replace, done = Path.replace, [0]

    def counted(self, target):
        if done[0] == step:
            os.kill(os.getpid(), signal.SIGKILL)
        done[0] += 1
        return replace(self, target)

    Path.replace = counted
    try:
        write_together({path: b"new" for path in paths})
    finally:
        os._exit(0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked and killed")
def test_a_kill_leaves_no_set_of_old_and_new_files(tmp_path):
    """Whenever it comes: all are old, all are new, or some are missing, and then the old ones are beside them."""
    for step in range(7):
        folder = tmp_path / str(step)
        folder.mkdir()
        paths = [folder / name for name in "abc"]
        for path in paths:
            path.write_bytes(b"old")
        whole = killed_at(step, paths)
        assert whole == (step == 6)  # three names are given up, and three are given
        found = {path.read_bytes() for path in paths if path.exists()}
        assert len(found) <= 1
        older = [path for path in folder.iterdir() if path.suffix == ".older"]
        assert len(older) == (0 if whole else min(step, 3)) and all(path.read_bytes() == b"old" for path in older)
        if not all(path.exists() for path in paths):
            assert {path.name[-7:-6] for path in older} | {path.name for path in paths if path.exists()} == set("abc")


def test_a_single_file_is_never_missing(tmp_path, monkeypatch):
    path, replace, seen = tmp_path / "a", Path.replace, []
    path.write_bytes(b"old")
    monkeypatch.setattr(Path, "replace", lambda self, target: seen.append(self.suffix) or replace(self, target))
    write_together({path: b"new"})
    assert seen == [".part"] and path.read_bytes() == b"new"


@pytest.mark.parametrize("failure", [OSError, KeyboardInterrupt])
@pytest.mark.parametrize("last", range(3))
def test_new_files_stay_together_though_older_ones_cannot_be_taken_away(failure, last, tmp_path, monkeypatch):
    """All have their names by then: to put back some of the older ones would mix them."""
    paths, unlink, seen = [tmp_path / name for name in "abc"], Path.unlink, []
    for path in paths:
        path.write_bytes(b"old")

    def failing(self, *args, **more):
        if self.suffix == ".older":
            seen.append(self)
            if len(seen) == last + 1:
                raise failure
        unlink(self, *args, **more)

    monkeypatch.setattr(Path, "unlink", failing)
    try:
        write_together({path: b"new" for path in paths})
    except KeyboardInterrupt:
        assert failure is KeyboardInterrupt
    assert len(seen) > last and [path.read_bytes() for path in paths] == [b"new"] * 3
