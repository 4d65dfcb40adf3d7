"""Folders of Parquet files as one table: order, columns by name, keys of folders, and what does not go together."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image

import mercer
from mercer_old.engines import Loop
from mercer_old.errors import BadData, MercerWarning, NoRoom
from mercer_old.sources import groups
from mercer_old.sources.groups import GroupedRows, in_chunks
from support.together import check_each

A = np.random.default_rng(0).normal(size=(1000, 4))
NAMES = list("abcd")


def write(path, rows=A, names=NAMES, size=90, **columns):
    path.parent.mkdir(parents=True, exist_ok=True)
    made = {name: rows[:, j] for j, name in enumerate(names)} | columns
    pq.write_table(pa.table(made), path, row_group_size=size)


@pytest.fixture
def folder(tmp_path):
    """Five files: one with its columns in another order, one of single precision, one empty, and a folder for each."""
    for i in range(4):
        some = A[250 * i : 250 * (i + 1)]
        place = tmp_path / f"year=200{i}" / "part.parquet"
        if i == 1:
            write(place, some[:, ::-1], NAMES[::-1])
        else:
            write(place, some)
    write(tmp_path / "year=2000" / "empty.pq", A[:0])
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "year=2000" / ".part.parquet.crc").touch()
    return tmp_path


def test_the_files_of_a_folder_are_one_table(folder):
    rows = mercer.open_rows(folder)
    assert rows.shape == (1000, 4) and rows.names == tuple(NAMES)
    assert_array_equal(rows.load(), A)
    assert [len(block) for block in rows.blocks(300)] == [300, 300, 300, 100]
    assert_array_equal(rows[np.array([999, 0, 250, 249])], A[[999, 0, 250, 249]])
    assert rows.notes[0] == "4 Parquet files below the folder, in the order of names"
    assert "folders stand for 'year', which is no feature unless asked for" in rows.notes[1]


def test_models_take_a_folder_as_they_take_its_rows(folder):
    frame = {name: A[:, j] for j, name in enumerate(NAMES)}
    table = pa.table(frame)
    for model in (mercer.PCA(2), mercer.KernelPCA(2, kernel="rbf", n_landmarks=30), mercer.IncrementalPCA(2)):
        there, here = model.fit(folder).transform(folder), model.fit(table).transform(table)
        assert_allclose(np.abs(there), np.abs(here), atol=1e-8)
        assert list(model.feature_names_in_) == NAMES


def test_keys_of_folders_are_labels_or_features_if_asked_for(folder):
    rows = mercer.open_rows(folder, label="year")
    assert rows.shape == (1000, 4) and list(rows.beside["year"]) == sorted([2000, 2001, 2002, 2003] * 250)
    assert_array_equal(mercer.open_rows(folder, columns=["year", "d"]).load()[:, 0], rows.beside["year"])
    assert_array_equal(mercer.open_rows(folder, columns="year").load()[:, 0], rows.beside["year"])
    write(folder / "year=a%20b" / "part.parquet", A[:3])
    assert list(mercer.open_rows(folder, keep="year").beside["year"][-4:]) == ["2003", "a b", "a b", "a b"]


def test_numbers_of_several_kinds_become_doubles_and_only_singles_stay_single(tmp_path):
    write(tmp_path / "1.parquet", A.astype(np.float32))
    assert mercer.open_rows(tmp_path).dtype == np.float32
    write(tmp_path / "2.parquet", np.round(A).astype(np.int32))
    rows = mercer.open_rows(tmp_path, keep="a", columns=NAMES)
    assert rows.dtype == np.float64
    assert_array_equal(rows.load(), np.concatenate([A.astype(np.float32), np.round(A)]))
    assert_array_equal(rows.beside["a"], rows.load()[:, 0])


def test_names_of_rows_go_through_all_files(tmp_path):
    write(tmp_path / "1.parquet", A[:2], name=pa.array(["x", "y"]))
    write(tmp_path / "2.parquet", A[:1], name=pa.array(["z"]).dictionary_encode())
    rows = mercer.open_rows(tmp_path)
    assert rows.names == tuple(NAMES) and list(rows.row_names) == ["x", "y", "z"]


def spoil(folder, which):
    place = folder / "year=2002" / "part.parquet"
    if which == "a column more":
        write(place, A[:5], e=A[:5, 0])
    elif which == "a column less":
        write(place, A[:5, :3], NAMES[:3])
    elif which == "texts":
        write(place, A[:5], d=["x"] * 5)
    elif which == "damaged":
        place.write_bytes(place.read_bytes()[:-50])
    elif which == "a gap":
        write(place, np.where(np.arange(250)[:, None] == 123, np.nan, A[:250]))
    elif which == "images":
        Image.fromarray(np.zeros((2, 2), dtype=np.uint8)).save(folder / "x.png")
    elif which == "a lake":
        (folder / "_delta_log").mkdir()
    else:
        for file in folder.rglob("*.p*q*"):
            write(file, A[:0])


WRONG = [
    ("a column more", r"year=2002/part.parquet has the column 'e', which .*year=2000/part.parquet lacks: all files"),
    ("a column less", r"year=2002/part.parquet lacks the column 'd', which .*year=2000/part.parquet has: all files"),
    ("texts", r"year=2002/part.parquet has column 'd' as string, and .*year=2000/part.parquet as double"),
    ("damaged", r"year=2002/part.parquet cannot be read"),
    ("a gap", r"year=2002/part.parquet contains a missing value \(NaN\): row 123, column 'a'"),
    ("images", "has 5 Parquet files and 1 image in it"),
    ("a lake", "is a table of Delta Lake, not all of whose files"),
    ("nothing", "its 5 Parquet files have no rows"),
]


@pytest.mark.parametrize(("which", "words"), WRONG, ids=[which for which, _ in WRONG])
def test_what_does_not_go_together_is_one_sentence_with_the_file(folder, which, words):
    spoil(folder, which)
    with pytest.raises(BadData, match=words):
        mercer.open_rows(folder).load()


def test_files_that_differ_go_together_in_the_columns_that_are_asked_for(folder):
    spoil(folder, "a column less")
    assert mercer.open_rows(folder, columns=["b", "a"]).shape == (755, 2)
    assert mercer.open_rows(folder, drop="d").shape == (755, 3)


def test_other_files_and_a_change_are_told(folder):
    (folder / "readme.txt").touch()
    with pytest.warns(MercerWarning, match="has 1 file beside its Parquet files, which is left out"):
        rows = mercer.open_rows(folder)
    (folder / "readme.txt").unlink()
    write(folder / "year=2001" / "part.parquet", A[:251])
    with pytest.raises(BadData, match="has changed since it was opened"):
        rows.load()


def test_a_folder_may_be_called_as_a_file(tmp_path):
    write(tmp_path / "out.parquet" / "part-0.parquet")
    assert mercer.open_rows(tmp_path / "out.parquet").shape == (1000, 4)
    refused = [
        (lambda: mercer.open_rows(tmp_path, resize="2x2"), "resize is for folders of images alone"),
        (lambda: mercer.open_rows(tmp_path, delimiter=","), "is no text"),
        (lambda: mercer.open_rows(tmp_path, columns=["z"]), "has no column 'z'"),
        (lambda: mercer.open_rows(tmp_path / "nothing", format="parquet"), "there is no such file"),
    ]

    def check(case):
        with pytest.raises(BadData, match=case[1]):
            case[0]()

    check_each(refused, check, lambda case: case[1])


# ---------------------------------------------------------------------- for workers


@pytest.fixture
def small(monkeypatch):
    """Chunks of some hundred rows."""
    monkeypatch.setattr(groups, "_LEAST", 200 * 32)
    monkeypatch.setattr(groups, "_MOST", 300 * 32)


def test_chunks_are_whole_row_groups_and_say_the_same(folder, small):
    rows = in_chunks(mercer.open_rows(folder, label="year"), Loop())
    assert isinstance(rows, GroupedRows) and rows.chunks.counts == (250, 250, 250, 250)
    assert_array_equal(np.concatenate(list(rows.chunks.each(lambda items, own: items.load()))), A)
    assert_array_equal(rows[np.array([999, 0, 250])], A[[999, 0, 250]])
    assert list(rows.beside["year"][::250]) == [2000, 2001, 2002, 2003] and rows.names == tuple(NAMES)
    key = in_chunks(mercer.open_rows(folder, columns=["year"]), Loop())
    assert_array_equal(key.load()[:, 0], rows.beside["year"])
    there, here = (mercer.PCA(3).fit(X) for X in (rows, A))
    assert_allclose(there.explained_variance_, here.explained_variance_, rtol=1e-12)


def test_small_files_share_a_chunk_and_large_ones_have_many(tmp_path, small):
    for i in range(9):
        write(tmp_path / f"{i}.parquet", A[:50])
    write(tmp_path / "large.parquet", A, size=100)
    rows = in_chunks(mercer.open_rows(tmp_path), Loop())
    assert rows.chunks.counts == (200, 200, 250, 200, 200, 200, 200)
    assert_array_equal(rows.load(), np.concatenate([A[:50]] * 9 + [A]))


def test_what_a_worker_finds_wrong_has_its_file_and_row(folder, small):
    spoil(folder, "a gap")
    rows = in_chunks(mercer.open_rows(folder), Loop())
    words = r"year=2002/part.parquet contains a missing value \(NaN\): row 123, column 'a'"
    with pytest.raises(BadData, match=words):
        mercer.PCA(2).fit(rows)
    assert rows.allowing_gaps().chunks.summed(gaps_of, np.add) == 4
    write(folder / "year=2001" / "part.parquet", A[:249])
    with pytest.raises(BadData, match=r"part\.parquet has changed since it was opened"):
        mercer.PCA(2).fit(rows)
    (folder / "year=2001" / "part.parquet").unlink()
    with pytest.raises(BadData, match=r"part\.parquet is not on .* of a worker: workers read Parquet"):
        mercer.PCA(2).fit(rows)


def gaps_of(items, own):
    return np.isnan(items.load()).sum()


def test_a_row_group_that_no_worker_has_room_for_is_refused(tmp_path, small, monkeypatch):
    write(tmp_path / "x.parquet", size=600)
    engine = Loop()
    monkeypatch.setattr(groups, "IDLE", 0)
    engine.room = 3 * 32 * 300
    words = r"a row group of 600 rows, the one with number 0, .* write it with row groups of at most 300 rows"
    with pytest.raises(NoRoom, match=words):
        in_chunks(mercer.open_rows(tmp_path / "x.parquet"), engine)
    write(tmp_path / "x.parquet", size=300)
    assert in_chunks(mercer.open_rows(tmp_path / "x.parquet"), engine).chunks.counts == (300, 300, 300, 100)
