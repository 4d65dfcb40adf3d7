"""A cloud of points: packed so that others can read it, complete or said not to be, and clear about what it is not."""

import base64
import json
import struct
import zlib
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from mercer_old.errors import BadData, WrongUse
from mercer_old.report.cloud import Arrows, cloud_of, map_section
from mercer_old.report.cloud.png import indexed_png
from mercer_old.report.scripts import Script, data_block, page_script

NAMES = ["PC1", "PC2", "PC3"]


@pytest.fixture(scope="module")
def scores():
    return np.random.default_rng(0).normal(size=(500, 3)) * [5, 2, 1]


def numbers_in(text, width):
    """Packed numbers by hand: bytes of one place lie beside each other, the highest first."""
    content = zlib.decompress(base64.b64decode(text))
    count = len(content) // width
    return [int.from_bytes(bytes(content[p * count + i] for p in range(width)), "big") for i in range(count)]


def texts_in(text):
    return json.loads(zlib.decompress(base64.b64decode(text)))


def column_of(values, **kwargs):
    n = len(values)
    return cloud_of(np.arange(2.0 * n).reshape(n, 2), NAMES[:2], columns={"c": values}, **kwargs).columns[0]


def test_scores_come_back_to_half_a_step(scores):
    cloud = cloud_of(scores, NAMES)
    for i, axis in enumerate(cloud.axes):
        back = axis.low + axis.step * np.array(numbers_in(axis.codes, 2))
        assert np.abs(back - scores[:, i]).max() <= 0.5000001 * np.ptp(scores[:, i]) / 65_534
        assert (axis.low, axis.high) == (scores[:, i].min(), scores[:, i].max())


@pytest.mark.parametrize("size", [1e-300, 1e-12, 1.0, 1e12, 8e307])
def test_scores_of_any_size_come_back(size):
    scores = np.array([[-1.0, -0.5], [0.25, 1.0], [1.0, 0.5]]) * size
    for i, axis in enumerate(cloud_of(scores, NAMES[:2]).axes):
        back = axis.low + axis.step * np.array(numbers_in(axis.codes, 2))
        np.testing.assert_allclose(back / size, scores[:, i] / size, atol=2e-5)


def test_scores_that_are_no_numbers_have_the_code_beyond_and_are_told(scores):
    broken = scores.copy()
    broken[3, 0], broken[5, 1], broken[7, 2] = np.nan, np.inf, -np.inf
    cloud = cloud_of(broken, NAMES)
    for i, row in enumerate((3, 5, 7)):
        codes = numbers_in(cloud.axes[i].codes, 2)
        assert [j for j, code in enumerate(codes) if code == 65_535] == [row]
    assert cloud.notes == ("2 rows without finite scores on the first two components: no place on the map.",)
    assert np.isfinite([axis.high for axis in cloud.axes]).all()


def test_categories_come_back_in_order_of_names_and_missing_ones_have_the_last_code():
    column = column_of(["b", "a", None, "c", float("nan"), "a", " "])
    names = texts_in(column.names)
    assert names == ["a", "b", "c"] and column.n_names == 3 and column.kind == "category"
    assert [names[code] if code < 3 else None for code in numbers_in(column.codes, 1)] == [
        "b",
        "a",
        None,
        "c",
        None,
        "a",
        None,
    ]


@pytest.mark.parametrize(("many", "width"), [(255, 1), (256, 2), (65_535, 2), (70_000, 4)])
def test_many_categories_have_codes_as_wide_as_they_need(many, width):
    given = [f"name {i}" for i in range(many)] + ["name 7"]
    column = column_of(given, most_bytes=10**9)
    names = texts_in(column.names)
    assert column.width == width and names[0] == "name 7"  # the largest first
    assert [names[code] for code in numbers_in(column.codes, width)] == given


def test_numbers_come_back_as_floats_of_four_bytes_and_missing_ones_as_no_number():
    given = np.r_[np.random.default_rng(0).lognormal(size=50), np.nan]
    column = column_of(given)
    back = [struct.unpack(">f", struct.pack(">I", code))[0] for code in numbers_in(column.codes, 4)]
    np.testing.assert_array_equal(np.float32(given), np.float32(back))
    assert column.kind == "number" and (column.low, column.high) == (np.nanmin(given), np.nanmax(given))


def test_whole_numbers_are_exact_however_many_rows_there_are():
    given = np.random.default_rng(0).integers(1000, 60_000, size=9000)
    column = column_of(given, most_bytes=10**9)
    assert column.width == 2
    np.testing.assert_array_equal(column.low + column.step * np.array(numbers_in(column.codes, 2)), given)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (pd.Series(["x", "y", None], dtype="category"), "category"),
        (pd.Series([1.5, 2.5, None]), "number"),
        (pd.Series([1, None, 3], dtype="Int64"), "category"),
        (pd.Series(pd.to_datetime(["2020-01-01", None, "2021-05-05"])), "category"),
        ([True, False, True], "category"),
        ([0.5, None, 7], "number"),
        (np.array([5.0, 5.0, 5.0]), "category"),
        (np.array([0.5, 0.5, 0.5]), "number"),
        ([np.nan, None, ""], "category"),
        (["اسم", "e\u0301", "é"], "category"),
    ],
)
def test_columns_of_any_kind_are_categories_or_numbers(values, kind):
    assert column_of(values).kind == kind


def test_ids_come_back_with_signs_of_every_script():
    ids = ["a", "שלום", "e\u0301", "line\nbreak", "\ud800", "𝕏", "</script>"]
    assert texts_in(cloud_of(np.eye(7, 2), NAMES[:2], ids=ids).ids) == ids


def test_what_does_not_fit_is_left_out_in_order_and_told_and_points_never_are(scores):
    ids, columns = [f"row number {i}" for i in range(500)], {"a": list("xyzuv") * 100, "b": scores[:, 0]}

    def with_room(most):
        cloud = cloud_of(scores, NAMES, ids=ids, columns=columns, color="a", most_bytes=most)
        return cloud, len(cloud.axes), [column.name for column in cloud.columns], bool(cloud.ids)

    every, *complete = with_room(10**6)
    assert complete == [3, ["a", "b"], True] and every.notes == ()
    sizes = (
        [len(axis.codes) for axis in every.axes],
        [len(c.codes) + len(c.names) for c in every.columns],
        len(every.ids),
    )
    total = sum(sizes[0]) + sum(sizes[1]) + sizes[2]
    assert with_room(total)[1:] == tuple(complete)
    cloud, *found = with_room(total - 1)
    assert found == [2, ["a", "b"], True] and "the components PC3" in cloud.notes[0]
    cloud, *found = with_room(total - sizes[0][2] - 1)
    assert found == [3, ["a"], True] and "the columns b" in cloud.notes[0]  # the smaller one has room then
    cloud, *found = with_room(0)
    assert found == [2, [], False] and len(cloud.notes) == 3 and cloud.color is None
    assert len(numbers_in(cloud.axes[0].codes, 2)) == 500


@pytest.mark.parametrize("count", [10_000, 100_000])
def test_clouds_stay_within_35_bytes_a_row(count):
    rng = np.random.default_rng(0)
    columns = {f"c{i}": rng.normal(size=count) for i in range(6)} | {"g": rng.integers(0, 9, count)}
    ids = [f"{number:x}" for number in rng.integers(0, 2**40, count)]
    cloud = cloud_of(rng.normal(size=(count, 10)), [f"PC{i}" for i in range(10)], ids=ids, columns=columns, color="g")
    packed = [axis.codes for axis in cloud.axes] + [c.codes + c.names for c in cloud.columns] + [cloud.ids]
    assert sum(map(len, packed)) <= 35 * count
    assert len(json.dumps(cloud.as_dict())) <= 35 * count + 20_000


def test_views_go_by_the_axes_that_are_there_and_are_left_out_with_them(scores):
    views = [("first", 0, 1), ("last", 2, 1)]
    named = lambda most: [(v.name, v.x, v.y) for v in cloud_of(scores, NAMES, views=views, most_bytes=most).views]  # noqa: E731
    assert named(10**6) == views and named(0) == views[:1]


def test_a_record_is_said_by_json_without_loss(scores):
    arrows = Arrows(("a", "b"), ((1.0, 2.0, 3.0), (0.0, -1.0, 0.5)))
    cloud = cloud_of(scores, NAMES, columns={"g": ["x"] * 500}, arrows=arrows)
    said = json.loads(json.dumps(cloud.as_dict(), allow_nan=False))
    assert said["count"] == 500 and said["arrows"]["names"] == ["a", "b"] and said["color"] == "g"
    assert said["axes"][2]["codes"] == cloud.axes[2].codes


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"ids": ["a"] * 499}, BadData, "There are 499 ids for 500 rows"),
        ({"columns": {"c": [1, 2, 3]}}, BadData, "The column 'c' has 3 for 500 rows"),
        ({"columns": {"c": np.zeros((500, 2))}}, BadData, r"The column 'c' has the shape \(500, 2\)"),
        ({"columns": {"c": [1] * 500}, "color": "d"}, WrongUse, "There is no column 'd' to colour by; try one of: c"),
        ({"color": "d"}, WrongUse, "there are no columns"),
    ],
)
def test_what_does_not_go_with_the_rows_is_refused_in_a_sentence(scores, given, error, words):
    with pytest.raises(error, match=words):
        cloud_of(scores, NAMES, **given)


@pytest.mark.parametrize("shape", [(0, 2), (3, 0), (3,)])
def test_no_rows_and_no_components_are_no_map(shape):
    with pytest.raises(BadData, match="A map needs scores of rows on components"):
        cloud_of(np.zeros(shape), NAMES[: shape[-1]])


def test_names_of_components_are_as_many(scores):
    with pytest.raises(BadData, match="There are 2 names for 3 components"):
        cloud_of(scores, ["a", "b"])


def test_a_picture_in_a_palette_is_read_by_others():
    palette = [(0, 0, 0, 0), (255, 0, 0, 255), (1, 2, 3, 77)]
    places = np.random.default_rng(0).integers(0, 3, size=(17, 31))
    image = Image.open(BytesIO(indexed_png(places, palette))).convert("RGBA")
    np.testing.assert_array_equal(np.asarray(image), np.array(palette)[places])


@pytest.mark.parametrize("count", [1, 2, 100, 5000])
def test_pictures_have_as_many_points_as_there_are_colours_for(count):
    scores = np.random.default_rng(0).normal(size=(count, 2))
    section = map_section(cloud_of(scores, ["a", "b"], columns={"g": [f"g{i % 4}" for i in range(count)]}), "t")
    assert section.partition("<figcaption")[0].count("h0M") + section.count('h0"') == (count if count <= 3000 else 0)
    assert ("data:image/png" in section) == (count > 3000)


def test_data_in_a_page_cannot_end_their_block():
    hostile = {"a": "</script><script>", "b": "<!--", "c": "\u2028&amp;\u2029"}
    block = data_block("x", hostile)
    content = block.removeprefix('<script type="application/json" id="x">').removesuffix("</script>")
    assert not set(content) & set("<>&\u2028\u2029")
    assert json.loads(content) == hostile


def test_the_policy_names_the_script_alone():
    script = page_script("map")
    assert script.text == page_script("shared", "map").text and "</script" not in script.text.lower()
    assert Script(script.text).policy == script.policy != Script(script.text + " ").policy
    assert "unsafe-eval" not in script.policy and "default-src 'none'" in script.policy
    for forbidden in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "new Function", "fetch("):
        assert forbidden not in script.text
