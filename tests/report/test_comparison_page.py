"""The page of a comparison in a real browser: maps that go together, hostile names, axe, pictures without a script."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

import mercer
from mercer.relatives import method
from mercer_old.look import COLOURS
from support.browser import finished, opened, until
from support.hostile_names import HOSTILE
from support.map_pages import EDGE, chosen_rows, pixels_of

DESK = {"width": 1280, "height": 900}
IRIS = load_iris(as_frame=True)
SPECIES = IRIS.target_names[IRIS.target]
METHODS = ["pca", "correlation-pca", "kernel-pca", "lle", method("lle", n_neighbors=500)]


@pytest.fixture(scope="module")
def compared():
    return mercer.compare(IRIS.data, SPECIES, methods=METHODS, repeats=1, apart=False)


@pytest.fixture(scope="module")
def pages(tmp_path_factory, compared):
    folder = tmp_path_factory.mktemp("compared")
    compared.report(IRIS.data, labels={"species": SPECIES}, path=folder / "iris.html")
    rng = np.random.default_rng(0)
    n = len(HOSTILE)
    rows = {name: rng.normal(size=2 * n) for name in HOSTILE} | {"kind": HOSTILE * 2}
    found = mercer.compare(rows, HOSTILE * 2, methods=["pca", "ica"], repeats=0, apart=False)
    labels = {f"label {name}": (HOSTILE[i:] + HOSTILE[:i]) * 2 for i, name in enumerate(HOSTILE[:5])}
    found.report(rows, labels=labels, path=folder / "hostile.html")
    return folder


@pytest.fixture
def page(browser, pages):
    return finished(opened(browser, pages / "iris.html", viewport=DESK))


def place_of(page, number, plane, point):
    """Pixels of a point in the map of a method: both axes have one scale, and 8 % more room than the points need."""
    canvas = page.locator(".map-above").nth(number)
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    width = box["width"] - EDGE["left"] - EDGE["right"]
    height = box["height"] - EDGE["top"] - EDGE["bottom"]
    low, high = plane.min(axis=0), plane.max(axis=0)
    scale = min(width / (high - low)[0], height / (high - low)[1]) / 1.08
    x, y = (np.asarray(point) - (low + high) / 2) * scale
    return box["x"] + EDGE["left"] + width / 2 + x, box["y"] + EDGE["top"] + height / 2 - y


def lonely(plane):
    """The row whose nearest neighbour is farthest."""
    apart = np.linalg.norm(plane[:, None] - plane[None], axis=2) + 1e9 * np.eye(len(plane))
    return int(apart.min(axis=1).argmax())


def test_the_page_opens_from_a_file_asks_for_nothing_and_complains_of_nothing(page):
    assert page.errors == [] and all(url.startswith(("file:", "data:", "blob:")) for url in page.urls)
    assert page.locator("section.map").get_attribute("data-drawn") == "webgl2"
    assert page.locator(".map-panel").count() == 4 and min(pixels_of(page)) > 300
    assert page.locator("article").count() == page.locator("nav a").count() == 6
    for width in (330, 390, 700, 1400):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("number", [0, 2])
def test_a_row_that_is_chosen_in_one_map_is_chosen_in_all(page, compared, number):
    plane = list(compared.coordinates.values())[number]
    row = lonely(plane)
    page.mouse.click(*place_of(page, number, plane, plane[row]))
    until(page, "document.querySelector('.map-chosen').textContent.startsWith('1 row of 150')")
    assert chosen_rows(page) == {row}
    kind = list(IRIS.target_names).index(SPECIES[row])
    for other, colour in enumerate(COLOURS[:3]):
        counts = pixels_of(page, colour)
        assert len(counts) == 4 and (min(counts) > 0 if other == kind else max(counts) == 0)


def test_a_rectangle_in_one_map_takes_its_rows_in_all(page, compared):
    plane = compared.coordinates["correlation PCA"]
    page.get_by_role("button", name="Rectangle").click()
    start = place_of(page, 1, plane, plane.min(axis=0))
    end = place_of(page, 1, plane, [0.0, plane[:, 1].max()])
    page.mouse.move(start[0] - 5, start[1] + 5)
    page.mouse.down()
    page.mouse.move(end[0], end[1] - 5)
    page.mouse.up()
    until(page, "document.querySelector('.map-chosen').textContent")
    inside = {int(row) for row in np.flatnonzero(plane[:, 0] < 0)}
    edge = {int(row) for row in np.flatnonzero(np.abs(plane[:, 0]) < 0.03)}
    assert chosen_rows(page) - edge == inside - edge and len(inside) > 40


def test_a_row_that_is_pointed_at_in_one_map_has_a_ring_in_all(page, compared):
    plane = compared.coordinates["PCA"]
    row = lonely(plane)
    assert pixels_of(page, layer=".map-above") == [0, 0, 0, 0]
    page.mouse.move(*place_of(page, 0, plane, plane[row]))
    until(page, "document.querySelector('.map-tip') && !document.querySelector('.map-tip').hidden")
    assert min(pixels_of(page, layer=".map-above")) > 20
    told = page.locator(".map-tip dt").all_inner_texts()
    assert told == ["row", "PCA 1", "PCA 2", "species", *IRIS.data.columns]


def test_colours_are_chosen_for_all_maps_at_once(page):
    before = pixels_of(page, COLOURS[0])
    page.get_by_label("Colour by").select_option(label="petal length (cm)")
    until(page, "document.querySelector('.map-legend-title').textContent.includes('petal length')")
    assert min(before) > 10 and pixels_of(page, COLOURS[0]) == [0, 0, 0, 0]


def test_the_keyboard_alone_reads_a_row_with_the_coordinates_of_its_method(page):
    page.locator(".map-above").nth(3).focus()
    page.keyboard.press("n")
    words = until(page, "document.querySelector('.map-status').textContent")
    assert "LLE 1" in words and "species" in words and "PCA" not in words


def test_hostile_names_are_shown_and_obeyed_by_nobody(browser, pages):
    page = finished(opened(browser, pages / "hostile.html", viewport=DESK))
    page.locator(".map-lines button").first.click()
    until(page, "document.querySelector('.map-chosen').textContent")
    page.locator(".map-above").first.hover()
    assert page.evaluate("window.owned") is None and page.errors == []
    assert page.locator("main").locator("iframe, object, embed, form, meta, base, link, img").count() == 0
    assert "\u202e" not in page.locator("body").inner_text()


@pytest.mark.parametrize(
    "scheme, width",
    [("dark", 1280), *(pytest.param("light", width, marks=pytest.mark.slow) for width in (390, 1280))],
)
def test_axe_finds_nothing_by_day_and_by_night(browser, pages, scheme, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    size = {"width": width, "height": 900}
    page = finished(opened(browser, pages / "iris.html", viewport=size, color_scheme=scheme))
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    page.locator(".map-lines button").first.click()
    until(page, "document.querySelector('.map-chosen').textContent")
    found = axe.Axe().run(page).response["violations"]
    assert [f"{one['impact']}: {one['id']}: {one['nodes'][0]['html'][:200]}" for one in found] == []


def test_without_scripts_there_are_pictures_of_all_methods_and_tables(browser, pages):
    page = opened(browser, pages / "iris.html", viewport=DESK, java_script_enabled=False)
    assert page.locator(".map-stills svg").count() == 4 and page.locator(".map-stills svg").last.is_visible()
    dots = page.locator(".map-stills svg").nth(2).locator("path[stroke]").all()
    assert sum(path.get_attribute("d").count("h0") for path in dots) == 150
    assert page.locator(".compared tbody tr").count() == 4
    assert "LLE (n_neighbors=500)" in page.locator(".troubles").inner_text()
    page.get_by_role("button", name="What is trustworthiness?").first.click()
    assert page.locator(".word:visible").count() == 1


def test_on_paper_pictures_stand_for_maps_and_words_are_explained(page):
    page.emulate_media(media="print")
    assert page.locator(".map-stills svg").first.is_visible() and page.locator(".map-live").is_hidden()
    assert page.locator("#word-continuity").is_visible() and page.locator(".why:visible").count() == 0


def test_charts_place_dots_by_their_values(page, compared):
    """On one scale: what is halfway between two numbers lies halfway between their dots."""
    dots = page.locator("#kept figure").first.locator("circle").all()
    at = np.array([float(dot.get_attribute("cx")) for dot in dots])
    values = np.array([line.measures["trustworthiness"].value for line in compared.lines if line.done])
    slope, start = np.polyfit(values, at, 1)
    assert slope > 0 and np.abs(slope * values + start - at).max() < 0.11
