"""Maps of unusual numbers: far and near ones, whole ones, dates, names that are no texts, links that are nonsense."""

import csv
from pathlib import Path

import numpy as np
import pytest

from mercer_old.report.cloud import cloud_of
from mercer_old.report.cloud.packing import unpack, unquantised
from support.browser import until
from support.map_pages import chosen_rows, shown

RNG = np.random.default_rng(0)
SCORES = RNG.normal(size=(50, 3))
NAMES = ["PC1", "PC2", "PC3"]


def sizes_of_legend(page):
    until(page, "document.querySelector('.map-lines li')")
    return [int(text.replace(",", "")) for text in page.locator(".map-lines .map-size").all_inner_texts()]


@pytest.mark.parametrize("unit", [1.0, 1e-300, 1e300])
def test_the_legend_counts_every_row_of_a_column_whatever_its_unit(browser, tmp_path, unit):
    values = SCORES[:, 0] * unit
    expected = np.histogram(SCORES[:, 0], bins=5)[0]  # steps of equal width from the lowest to the highest
    page = shown(browser, tmp_path, cloud_of(SCORES, NAMES, columns={"value": values}))
    assert sizes_of_legend(page) == expected.tolist()


def test_steps_of_numbers_far_from_zero_are_told_apart(browser, tmp_path):
    page = shown(browser, tmp_path, cloud_of(SCORES, NAMES, columns={"value": 1e8 + np.arange(50) / 3}))
    until(page, "document.querySelector('.map-lines li')")
    for line in page.locator(".map-lines .map-name").all_inner_texts():
        low, high = line.split(" to ")
        assert low != high


def test_whole_numbers_are_told_to_the_last_digit(browser, tmp_path):
    numbers = 123_456_789 + 7 * np.arange(50)
    page = shown(browser, tmp_path, cloud_of(SCORES, NAMES, columns={"number": numbers}), fragment="#map.rows=3")
    until(page, "document.querySelector('.map-table tbody td')")
    assert page.locator(".map-table tbody td").last.inner_text() == "123456810"
    with page.expect_download() as download:
        page.get_by_role("button", name="Download CSV").click()
    with Path(download.value.path()).open(encoding="utf-8-sig", newline="") as file:
        (line,) = csv.DictReader(file)
    assert line["number"] == "123456810"


@pytest.mark.parametrize("unit", [1e-300, 1e300])
def test_numbers_beyond_four_bytes_keep_their_places(unit):
    values = SCORES[:, 0] * unit
    (column,) = cloud_of(SCORES, NAMES, columns={"value": values}).columns
    back = unquantised(column.low, column.step, unpack(column.codes, np.uint16))
    np.testing.assert_allclose(back / unit, SCORES[:, 0], atol=np.ptp(SCORES[:, 0]) / 65_534)


def test_days_are_days_on_the_map_and_in_the_table():
    days = np.datetime64("2020-01-01", "ns") + np.arange(50).astype("timedelta64[D]")
    cloud = cloud_of(SCORES, NAMES, columns={"day": days})
    assert cloud.first[3][-1] == "2020-01-04"


def test_a_column_may_be_named_by_a_number(browser, tmp_path):
    page = shown(browser, tmp_path, cloud_of(SCORES, NAMES, columns={0: list("xy") * 25}))
    assert sizes_of_legend(page) == [25, 25]


@pytest.mark.parametrize(
    "fragment", ["#map.x=length", "#map.x=constructor&map.y=at", "#map.arrows=-5", "#map.color=__proto__"]
)
def test_a_link_with_names_that_every_object_has_is_like_none(browser, tmp_path, fragment):
    page = shown(browser, tmp_path, cloud_of(SCORES, NAMES, columns={"group": list("xy") * 25}), fragment=fragment)
    assert page.errors == [] and page.locator("section.map").get_attribute("data-drawn") == "webgl2"
    assert page.get_by_role("combobox", name="Across").locator("option:checked").inner_text() == "PC1"
    assert sizes_of_legend(page) == [25, 25]


def test_a_link_chooses_five_hundred_rows_at_most(browser, tmp_path):
    cloud = cloud_of(RNG.normal(size=(3000, 2)), NAMES[:2])
    page = shown(browser, tmp_path, cloud, fragment="#map.rows=0-2999," + ",".join(["0-2999"] * 300))
    until(page, "document.querySelector('.map-chosen').textContent")
    assert chosen_rows(page) == set(range(500))


def test_a_link_that_names_rows_shows_what_they_are_called(browser, tmp_path):
    words = "document.querySelector('.map-words').toDataURL()"
    cloud = cloud_of(SCORES, NAMES, ids=["Ada"] * 50)
    page = shown(browser, tmp_path, cloud, fragment="#map.rows=1-5&map.labels=rows")
    page.wait_for_timeout(300)
    opened_so = page.evaluate(words)
    page.get_by_text("More", exact=True).click()
    page.get_by_label("Same scale on both axes").uncheck()
    page.get_by_label("Same scale on both axes").check()  # drawn anew, when all names are known
    assert page.evaluate(words) == opened_so


def test_a_row_without_a_place_is_read_out_all_the_same(browser, tmp_path):
    scores = SCORES.copy()
    scores[0, 0] = np.nan
    page = shown(browser, tmp_path, cloud_of(scores, NAMES, ids=[f"name {i}" for i in range(50)]))
    page.locator(".map-above").focus()
    page.keyboard.press("n")
    until(page, "document.querySelector('.map-status').textContent.includes('name 0')")


def test_maps_that_were_rearranged_leave_nothing_behind(browser, tmp_path):
    """Every arrangement listens at the window as often as the first."""
    page = shown(browser, tmp_path, cloud_of(SCORES, NAMES, columns={"a": list("xy") * 25, "b": list("yx") * 25}))
    page.evaluate(
        "() => { window.heard = 0; const on = window.addEventListener; "
        "window.addEventListener = (...given) => { window.heard += 1; on.apply(window, given); } }"
    )
    page.get_by_text("More", exact=True).click()
    for sides, count in [("colours", 2), ("components", 3), ("one", 1)]:
        page.get_by_label("Side by side").select_option(sides)
        until(page, f"document.querySelectorAll('.map-panel').length === {count}")
    assert page.evaluate("window.heard") == 0 and page.errors == []


@pytest.mark.parametrize(
    ("count", "colored", "named"), [(50, False, "rows"), (61, False, "categories"), (50, True, "categories")]
)
def test_few_rows_without_colours_show_their_names_unasked(browser, tmp_path, count, colored, named):
    scores, ids = RNG.normal(size=(count, 2)), [f"row of {i}" for i in range(count)]
    columns = {"kind": ["a", "b"] * (count // 2)} if colored else {}
    page = shown(
        browser, tmp_path, cloud_of(scores, NAMES[:2], ids=ids, columns=columns, color="kind" if colored else None)
    )
    page.get_by_text("More", exact=True).click()
    assert page.get_by_role("combobox", name="Names of").input_value() == named
