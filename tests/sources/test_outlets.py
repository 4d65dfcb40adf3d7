"""Scores written to files: complete or not at all, and never in the place of their rows."""

import os

import numpy as np
import pytest

import mercer
from mercer.errors import CannotWrite, WrongUse
from mercer.outlets import outlet
from support.registry import write_file
from support.stored import X, landmark


def test_an_outlet_leaves_the_old_file_and_nothing_else_if_it_fails(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), outlet(path, ["a"], 3) as sink:
        sink(np.ones((1, 1)))
        raise KeyboardInterrupt
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_an_outlet_that_cannot_be_is_told_before_the_work(tmp_path):
    model = landmark()
    with pytest.raises(WrongUse, match=r"known are .npy, .csv"):
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
