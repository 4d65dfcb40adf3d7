"""Rows are chosen on a map by lasso, rectangle, click, legend and search: exactly those that a second opinion finds."""

import csv
import io
import math

import numpy as np
import pytest

from mercer_old.look import COLOURS
from mercer_old.report.cloud import cloud_of
from support.browser import until
from support.map_pages import View, chosen_rows, pixels_of, shown

CATEGORIES = np.array(["north", "south", "east"])


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(5)
    scores = rng.normal(size=(400, 2)) * [4, 3]
    place = rng.integers(0, 3, 400)
    names = [f"name {i}" for i in range(400)]
    return scores, CATEGORIES[place], cloud_of(scores, ["x", "y"], ids=names, columns={"where": CATEGORIES[place]})


@pytest.fixture
def page(browser, tmp_path, rows):
    return shown(browser, tmp_path, rows[2])


def drag(page, places):
    page.mouse.move(*places[0])
    page.mouse.down()
    for place in places[1:]:
        page.mouse.move(*place)
    page.mouse.up()
    return told(page)


def told(page):
    """What the page says of what is chosen, and the rows that its address has."""
    words = until(page, "document.querySelector('.map-chosen').textContent")
    return words, chosen_rows(page)


def winding(line, x, y):
    """How many times a closed line goes around a point, by angles."""
    total = 0.0
    for (a, b), (c, d) in zip(line, line[1:] + line[:1], strict=True):
        one, other = math.atan2(b - y, a - x), math.atan2(d - y, c - x)
        total += (other - one + math.pi) % (2 * math.pi) - math.pi
    return round(total / (2 * math.pi))


def distance(line, x, y):
    """How far a point is from a closed line."""
    found = []
    for (a, b), (c, d) in zip(line, line[1:] + line[:1], strict=True):
        along = ((x - a) * (c - a) + (y - b) * (d - b)) / ((c - a) ** 2 + (d - b) ** 2 or 1)
        along = min(1, max(0, along))
        found.append(math.hypot(x - a - along * (c - a), y - b - along * (d - b)))
    return min(found)


LASSOS = {
    "a bean": [
        (300 + 150 * math.cos(t / 20) * (1 + 0.4 * math.sin(t / 10)), 240 + 110 * math.sin(t / 20)) for t in range(125)
    ],
    "a star": [(380 + 170 * math.cos(t * 2.513), 260 + 170 * math.sin(t * 2.513)) for t in range(5)],
    "a sliver": [(120, 100), (600, 420), (590, 424)],
}


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(line, id=name, marks=[pytest.mark.slow] if name == "a bean" else [])
        for name, line in LASSOS.items()
    ],
)
def test_a_lasso_takes_exactly_the_points_that_it_goes_around_an_odd_number_of_times(page, rows, line):
    scores = rows[0]
    view = View(page, scores)
    page.get_by_role("button", name="Lasso").click()
    places = [(round(view.corner[0] + x), round(view.corner[1] + y)) for x, y in line]
    _, found = drag(page, [*places, (places[0][0] + 1, places[0][1])])
    points = [view.of(*row) for row in scores]
    sure = {row for row, place in enumerate(points) if distance(places, *place) > 1.5}
    expected = {row for row, place in enumerate(points) if winding(places, *place) % 2}
    assert len(sure) > 360 and len(expected) >= 3
    assert found & sure == expected & sure


def test_a_lasso_after_zooming_takes_what_is_seen_in_it(page, rows):
    scores = rows[0]
    view = View(page, scores)
    x, y = view.of(*view.middle)
    page.mouse.move(x, y)
    page.mouse.wheel(0, -400)
    until(page, "location.hash.includes('view')")
    zoom = float(page.url.split("map.view=")[1].split("%2C")[2].split("&")[0])
    page.get_by_role("button", name="Lasso").click()
    places = [(x - 100, y - 80), (x + 120, y - 60), (x + 90, y + 100), (x - 70, y + 90)]
    _, found = drag(page, places)
    points = [(x + (a - x) * zoom, y + (b - y) * zoom) for a, b in (view.of(*row) for row in scores)]
    sure = {row for row, place in enumerate(points) if distance(places, *place) > 1.5}
    expected = {row for row, place in enumerate(points) if winding(places, *place) % 2}
    assert zoom > 1.5 and found & sure == expected & sure and expected


def test_a_rectangle_takes_what_is_between_its_sides_and_shift_adds(page, rows):
    scores = rows[0]
    view = View(page, scores)
    page.get_by_role("button", name="Rectangle").click()
    between = (np.abs(scores - [1, 0.5]) < [1.5, 1]).all(axis=1)
    other = (np.abs(scores - [-4, -2]) < [1, 2]).all(axis=1)
    words, found = drag(page, [view.of(-0.5, -0.5), view.of(1, 1), view.of(2.5, 1.5)])
    assert found == set(np.flatnonzero(between)) and words.startswith(f"{between.sum()} rows of 400")
    page.keyboard.down("Shift")
    drag(page, [view.of(-5, -4), view.of(-4, -1), view.of(-3, 0)])
    page.keyboard.up("Shift")
    until(
        page,
        "(count) => document.querySelector('.map-chosen').textContent.startsWith(count)",
        f"{(between | other).sum()} ",
    )
    assert chosen_rows(page) == set(np.flatnonzero(between | other))


def test_a_click_takes_the_nearest_point_and_beside_all_points_none(page, rows):
    scores = rows[0]
    view = View(page, scores)
    row = int(scores[:, 1].argmin())
    x, y = view.of(*scores[row])
    page.mouse.click(x + 3, y + 2)
    assert told(page)[1] == {row}
    page.mouse.click(view.corner[0] + 65, view.corner[1] + 15)
    until(page, "document.querySelector('.map-table').hidden")
    assert chosen_rows(page) == set()


def test_a_line_of_the_legend_takes_its_category(page, rows):
    where = rows[1]
    line = page.locator(".map-lines button", has_text="south")
    assert line.locator(".map-size").inner_text() == str((where == "south").sum())
    line.click()
    assert told(page)[1] == set(np.flatnonzero(where == "south"))
    page.locator(".map-lines button", has_text="east").click(modifiers=["Shift"])
    until(
        page,
        "(count) => document.querySelector('.map-chosen').textContent.startsWith(count)",
        f"{(where != 'north').sum()} ",
    )


def test_search_finds_rows_and_categories(page, rows):
    box = page.get_by_role("searchbox", name="Search rows and categories")
    box.fill("NAME 39")
    until(page, "document.querySelectorAll('.map-found button').length > 3")
    assert "All 11 rows" in page.locator(".map-found button").first.inner_text()
    page.locator(".map-found button", has_text="name 390").click()
    assert told(page)[1] == {390}
    box.fill("sou")
    box.press("Enter")
    until(page, "document.querySelector('.map-status').textContent.includes('south')")
    assert chosen_rows(page) == set(np.flatnonzero(rows[1] == "south"))
    box.fill("nowhere")
    until(page, "document.querySelector('.map-found').textContent === 'Nothing found.'")


def test_what_is_not_chosen_is_muted_and_stays(page):
    first = COLOURS[0]  # of the first category, which is not chosen
    (before,), (coloured,) = pixels_of(page), pixels_of(page, first)
    page.locator(".map-lines button", has_text="south").click()
    told(page)
    (after,) = pixels_of(page)
    assert coloured > 500 and pixels_of(page, first) == [0]
    assert after > 0.97 * before


def test_chosen_rows_are_a_table_and_a_file_without_formulas(browser, tmp_path):
    ids = ["=1+1", "+2", "-3", "@sum", 'a "quoted", name', "line\nbreak", "\ttab", "plain"]
    values = [1.5, -2.25, np.nan, 1e-9, 1e12, 3.25, 0.125, -7.75]
    columns = {"=cmd|' /C calc'!A0": ["=x", "y", "-z", "", None, "@", "+", "ü"], "number": values}
    scores = np.random.default_rng(0).normal(size=(8, 2))
    page = shown(browser, tmp_path, cloud_of(scores, ["PC1", "PC2"], ids=ids, columns=columns))
    page.locator(".map-above").focus()
    page.keyboard.press("v")
    assert told(page)[0].startswith("8 rows of 8 chosen")
    assert page.locator(".map-table tbody tr").count() == 8
    with page.expect_download() as download:
        page.get_by_role("button", name="Download CSV").click()
    text = download.value.path().read_bytes().decode("utf-8-sig")
    head, *lines = csv.reader(io.StringIO(text, newline=""))
    assert head == ["row", "name", "PC1", "PC2", "'=cmd|' /C calc'!A0", "number"]
    assert [line[1] for line in lines] == [
        "'=1+1",
        "'+2",
        "'-3",
        "'@sum",
        'a "quoted", name',
        "line\nbreak",
        "'\ttab",
        "plain",
    ]
    assert [line[4] for line in lines] == ["'=x", "y", "'-z", "", "", "'@", "'+", "ü"]
    np.testing.assert_allclose([float(line[5] or "nan") for line in lines], values, rtol=1e-6)
    np.testing.assert_allclose([[float(cell) for cell in line[2:4]] for line in lines], scores, atol=1e-4)
    assert [int(line[0]) for line in lines] == list(range(8))


def test_a_long_selection_is_turned_page_by_page(page):
    page.locator(".map-above").focus()
    page.keyboard.press("v")
    told(page)
    assert page.locator(".map-table tbody tr").count() == 20
    page.get_by_role("button", name="Next").click()
    assert page.locator(".map-table tbody td").first.inner_text() == "20"


@pytest.mark.slow
def test_a_million_points_are_one_small_page_and_a_lasso_takes_those_within(browser, tmp_path):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(1_000_000, 2)) * [4, 3]
    place = rng.integers(0, 3, 1_000_000)
    page = shown(browser, tmp_path, cloud_of(scores, ["x", "y"], columns={"where": CATEGORIES[place]}))
    assert (tmp_path / "map.html").stat().st_size < 8_000_000 and page.errors == []
    view = View(page, scores)
    page.get_by_role("button", name="Lasso").click()
    places = [view.of(*corner) for corner in ((-3, -2), (2, -3), (4, 1), (0, 3), (-4, 2))]
    words, _ = drag(page, places)
    sides = list(zip(places, places[1:] + places[:1], strict=True))
    points = np.column_stack(view.of(*scores.T))
    # Of a convex line, all that lies on one side of every edge.
    turns = [(c - a) * (points[:, 1] - b) - (d - b) * (points[:, 0] - a) for (a, b), (c, d) in sides]
    expected = int((np.array(turns) < 0).all(axis=0).sum())
    assert expected > 300_000
    assert abs(int(words.split()[0].replace(",", "")) - expected) < 2000  # near the edges, pixels are rounded


@pytest.mark.parametrize(
    "many", [40, pytest.param(100_000, marks=pytest.mark.slow), pytest.param(1_000_000, marks=pytest.mark.slow)]
)
def test_a_legend_of_many_categories_is_short_and_can_be_filtered(browser, tmp_path, many):
    count = max(many, 2000)
    names = [f"kind {i % many}" for i in range(count)]
    scores = np.random.default_rng(0).normal(size=(count, 2))
    page = shown(browser, tmp_path, cloud_of(scores, ["a", "b"], columns={"kind": names}, most_bytes=10**9))
    assert page.locator(".map-lines button").count() == 12
    assert f"and {many - 12:,} more" in page.locator(".map-legend").inner_text()
    page.get_by_role("searchbox", name="Filter the names of the legend").fill(f"kind {many - 1}")
    until(page, "document.querySelectorAll('.map-lines button').length === 1")
    page.locator(".map-lines button").click()
    assert told(page)[1] == {row for row in range(count) if row % many == many - 1}
