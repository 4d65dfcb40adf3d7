"""Scores written to files: complete or not at all, and never in the place of their rows."""

import os
import subprocess
import sys

import numpy as np
import pytest

import mercer
from mercer_old import parts
from mercer_old.errors import CannotWrite, WrongUse
from mercer_old.outlets import make_place, outlet, whole_file, write_whole
from mercer_old.parts import new_part
from support.registry import write_file
from support.stored import X, landmark


def test_an_outlet_leaves_the_old_file_and_nothing_else_if_it_fails(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), outlet(path, ["a"], 3) as sink:
        sink(np.ones((1, 1)))
        raise KeyboardInterrupt
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


ABANDONED = """
import os, sys
from pathlib import Path
from mercer_old.outlets import whole_file
with whole_file(Path(sys.argv[1])) as file:
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), 9)
"""
needs_locks = pytest.mark.skipif(os.name == "nt", reason="locks as on Unix")


@needs_locks
def test_what_a_killed_process_left_is_cleared_away_by_the_next_one(tmp_path):
    path = tmp_path / "page.html"
    subprocess.run([sys.executable, "-c", ABANDONED, path], check=False)
    assert [one.suffix for one in tmp_path.iterdir()] == [".part"]
    write_whole(path, b"whole")
    assert [one.name for one in tmp_path.iterdir()] == ["page.html"]


@needs_locks
def test_what_is_being_written_and_what_is_not_ours_stays(tmp_path):
    others = [tmp_path / f".mercer-{end}" for end in ("0123456789abcdef.part", "ffffffff-0123456789abcdef.part", "x")]
    pipe, link = new_part(tmp_path), new_part(tmp_path)
    for other in others:
        other.touch()
    os.mkfifo(pipe)
    link.symlink_to(others[0])
    with whole_file(tmp_path / "first") as first:
        first.write(b"1")
        write_whole(tmp_path / "second", b"2")
        first.write(b"1")
    assert (tmp_path / "first").read_bytes() == b"11" and (tmp_path / "second").read_bytes() == b"2"
    assert {one.name for one in tmp_path.iterdir()} == {
        "first",
        "second",
        pipe.name,
        link.name,
        *(other.name for other in others),
    }


@needs_locks
def test_a_file_that_was_cleared_away_before_it_was_locked_is_made_again(tmp_path, monkeypatch):
    lock, cleared = parts._lock, []

    def late(handle, wait=True):
        if wait and not cleared:
            cleared.extend(tmp_path.iterdir())
            cleared[0].unlink()
        return lock(handle, wait)

    monkeypatch.setattr(parts, "_lock", late)
    write_whole(tmp_path / "page.html", b"whole")
    assert cleared and [(one.name, one.read_bytes()) for one in tmp_path.iterdir()] == [("page.html", b"whole")]


def test_an_outlet_that_cannot_be_is_told_before_the_work(tmp_path):
    model = landmark()
    with pytest.raises(WrongUse, match=r"known are .npy, .npz"):
        model.fit_transform_to(X, tmp_path / "scores.xlsx")
    with pytest.raises(CannotWrite, match=r"Cannot write .*No such file or directory"):
        model.fit_transform_to(X, tmp_path / "nowhere" / "scores.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(CannotWrite, match="it is a folder"):
        model.fit_transform_to(X, tmp_path / "folder.csv")
    assert not hasattr(model, "eigenvalues_")


@pytest.mark.skipif(os.name == "nt", reason="permissions as on Unix")
def test_a_written_file_can_be_read_by_those_who_could_read_any_other(tmp_path):
    with outlet(tmp_path / "scores.csv", ["a"], 1) as sink:
        sink(np.ones((1, 1)))
    (tmp_path / "usual").touch()
    assert (tmp_path / "scores.csv").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_scores_never_take_the_place_of_their_rows(tmp_path):
    path = write_file(".csv", tmp_path, X)
    before = path.read_bytes()
    with pytest.raises(WrongUse, match="is the file that rows are read from"):
        landmark().fit(X).transform_to(path, path)
    assert path.read_bytes() == before


@pytest.mark.skipif(os.name == "nt", reason="links as on Unix")
def test_a_link_is_followed_and_long_names_are_as_good_as_short_ones(tmp_path):
    (tmp_path / "target.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to(tmp_path / "target.csv")
    landmark().fit(X).transform_to(X, tmp_path / "link.csv")
    assert (tmp_path / "link.csv").is_symlink() and mercer.open_rows(tmp_path / "target.csv").shape == (2000, 3)
    long = tmp_path / ("x" * 245 + ".npy")
    assert landmark().fit_transform_to(X, long) == long and long.exists()


def test_an_error_of_others_is_not_blamed_on_the_file(tmp_path):
    with pytest.raises(ConnectionError, match="dashboard"), outlet(tmp_path / "s.npy", ["a"], 1):
        raise ConnectionError("dashboard is gone")
    assert not list(tmp_path.iterdir())


def test_bytes_are_written_whole_or_not_at_all(tmp_path, monkeypatch):
    page = make_place(tmp_path / "new" / "folder" / "page.html")
    write_whole(page, b"first")
    assert page.read_bytes() == b"first" and list(page.parent.iterdir()) == [page]
    page.chmod(0o640)
    write_whole(page, b"second")
    assert page.read_bytes() == b"second" and page.stat().st_mode & 0o777 == 0o640

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(type(page), "replace", fail)
    with pytest.raises(CannotWrite, match=r"page\.html: No space left on device"):
        write_whole(page, b"third")
    assert page.read_bytes() == b"second" and list(page.parent.iterdir()) == [page]


def test_a_place_that_cannot_be_is_told_before_the_work_with_its_name_written_out(tmp_path):
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(CannotWrite, match="taken: File exists"):
        make_place(tmp_path / "taken" / "page.html")
    with pytest.raises(CannotWrite, match=r"taken/a\\nb: Not a directory"):
        make_place(tmp_path / "taken" / "a\nb" / "page.html")
    (tmp_path / "page.html").mkdir()
    with pytest.raises(CannotWrite, match=r"page\.html: it is a folder"):
        make_place(tmp_path / "page.html")
