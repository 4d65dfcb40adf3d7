"""Tables whose columns stay columns: cells of every kind, and files of them."""

import datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from pyarrow import feather

from mercer import KernelPCA
from mercer_old.errors import BadData, NoRoom
from mercer_old.sources.cells import Coded, as_cells, kind_of, present
from mercer_old.sources.frames import Table, as_columns, open_table

rng = np.random.default_rng(0)


def frame(n=40):
    when = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 500, size=n), unit="D")
    table = pd.DataFrame({"mass": rng.normal(size=n), "color": rng.choice(["red", "blue"], size=n), "when": when})
    table.loc[3, "mass"], table.loc[5, "color"] = None, None
    return table


@pytest.mark.parametrize(
    ("cells", "kind", "there"),
    [
        ([1, None, 2.5, float("nan")], "numbers", [1, 0, 1, 0]),
        ([Decimal("1.5"), None], "numbers", [1, 0]),
        (np.array([1, 2], dtype=np.uint8), "numbers", [1, 1]),
        ([datetime.timedelta(days=2), pd.NaT], "numbers", [1, 0]),
        ([datetime.date(2024, 1, 1), None], "dates", [1, 0]),
        (np.array(["2024-01-01", "NaT"], dtype="datetime64[D]"), "dates", [1, 0]),
        (["a", float("nan"), pd.NA, b"b"], "text", [1, 0, 0, 1]),
        ([True, None, np.True_], "truth", [1, 0, 1]),
        ([{1, 2}, None, ("a",), []], "sets", [1, 0, 1, 1]),
        ([None, float("nan")], "numbers", [0, 0]),
        ([1, "a"], "odd", [0, 0]),
    ],
    ids=str,
)
def test_cells_are_of_one_kind_with_gaps_among_them(cells, kind, there):
    found = as_cells(cells)
    assert kind_of(found) == kind and present(found).tolist() == [bool(one) for one in there]
    assert len(found[1:]) == len(cells) - 1 and len(found.copy()) == len(cells)


def test_durations_are_days_and_moments_of_other_zones_are_those_of_utc():
    assert_allclose(as_cells([datetime.timedelta(hours=36)]), [1.5])
    there = datetime.datetime(2024, 1, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=2)))
    assert as_cells([there])[0] == np.datetime64("2023-12-31T23:00:00")


def test_texts_are_numbered_in_the_order_in_which_they_come():
    cells = as_cells(["b", "a", None, "b"])
    assert isinstance(cells, Coded)
    assert cells.codes.tolist() == [0, 1, -1, 0] and cells.values.tolist() == ["b", "a"]


def test_tables_are_items():
    table = Table(frame())
    assert len(table) == 40 and table.kind == "tables" and table.held and table.width >= 3
    assert [len(block) for block in table.blocks(16)] == [16, 16, 8]
    some = table[np.array([7, 3, 3])]
    assert some.shape == (3,) and np.isnan(some.cells["mass"][1:]).all()
    assert list(some) == [list(table.load())[i] for i in (7, 3, 3)]
    assert len(table.in_memory(np.arange(40) < 10)) == 10
    assert 40 * 8 < table.nbytes < 40 * 100


def test_a_copy_is_nobody_elses():
    numbers = np.arange(5.0)
    columns = as_columns({"x": numbers})
    kept = columns.copy()
    numbers[:] = 9
    assert_array_equal(kept.cells["x"], np.arange(5.0))


WRITERS = {
    "table.csv": lambda table, path: table.to_csv(path, index=False),
    "table.tsv": lambda table, path: table.to_csv(path, index=False, sep="\t"),
    "table.parquet": lambda table, path: table.to_parquet(path),
    "table.feather": lambda table, path: feather.write_feather(table, str(path)),
}


@pytest.mark.parametrize("name", WRITERS)
def test_tables_are_read_from_files(name, tmp_path):
    table = frame()
    WRITERS[name](table, tmp_path / name)
    model = KernelPCA(2, kernel="table").fit(tmp_path / name)
    twin = KernelPCA(2, kernel="table").fit(table)
    assert list(model.kernel_.columns) == list(twin.kernel_.columns)
    assert_allclose(np.abs(model.transform(tmp_path / name)), np.abs(twin.transform(table)), atol=1e-9)
    written = model.transform_to(tmp_path / name, tmp_path / "scores.npy")
    assert_allclose(np.load(written), model.transform(table))


def test_files_that_are_no_tables_are_one_sentence(tmp_path):
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and nothing else")
    (tmp_path / "twice.csv").write_text("a,a\n1,2\n")
    (tmp_path / "empty.csv").write_text("")
    wrong = {"broken.parquet": "cannot be read", "twice.csv": "more than one column called 'a'"}
    wrong |= {
        "empty.csv": "is empty",
        "table.xlsx": "a table is read from",
        "nothing.csv": "there is no such file",
    }
    for name, words in wrong.items():
        with pytest.raises(BadData, match=words):
            open_table(Path(tmp_path / name))


def test_a_file_that_is_larger_than_the_memory_limit_is_not_read(tmp_path):
    frame().to_csv(tmp_path / "table.csv", index=False)
    with pytest.raises(NoRoom, match="more than the memory limit"):
        KernelPCA(2, kernel="table", memory_limit=100).fit(tmp_path / "table.csv")
