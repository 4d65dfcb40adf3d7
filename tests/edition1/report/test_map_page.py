"""Maps in a real browser: points where they belong, in their colours, by day and by night, with a mouse or without."""

import re

import numpy as np
import pytest

from mercer_old.look import COLOURS
from mercer_old.report.cloud import Arrows, cloud_of, map_section
from support.browser import CHROMIUM, finished, opened, until
from support.map_pages import View, chosen_rows, map_page, pixels_of, shown

SCORES = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 8.0], [10.0, 8.0], [5.0, 4.0], [2.5, 6.0]])
GROUPS = ["a", "b", "c", "a", None, "b"]
PIXEL = """([place, x, y]) => {
  const canvas = document.querySelectorAll(".map-canvas")[place];
  const ratio = canvas.width / canvas.getBoundingClientRect().width;
  return Array.from(canvas.getContext("2d").getImageData(Math.floor(x * ratio), Math.floor(y * ratio), 1, 1).data);
}"""


def small_cloud(**given):
    return cloud_of(SCORES, ["PC1 (70 %)", "PC2 (20 %)"], **({"columns": {"group": GROUPS}} | given))


def colour_at(page, place, panel=0):
    red, green, blue, opacity = page.evaluate(PIXEL, [panel, *place])
    return f"#{red:02x}{green:02x}{blue:02x}" if opacity == 255 else opacity


@pytest.fixture(scope="module")
def groups():
    """A thousand points in five groups, with a number for each."""
    rng = np.random.default_rng(1)
    place = rng.integers(0, 5, 1000)
    scores = rng.normal(size=(5, 4))[place] * 5 + rng.normal(size=(1000, 4))
    names = [f"sample {i}" for i in range(1000)]
    columns = {"group": [f"group {g}" for g in place], "value": scores[:, 0] + rng.normal(size=1000)}
    arrows = Arrows(("length", "width"), ((1.0, 0.2, 0.0, 0.0), (-0.3, 0.8, 0.1, 0.0)))
    return scores, cloud_of(scores, ["PC1", "PC2", "PC3", "PC4"], ids=names, columns=columns, arrows=arrows)


def test_the_map_is_one_file_that_asks_for_nothing(browser, tmp_path, groups):
    page = shown(browser, tmp_path, groups[1])
    assert page.errors == [] and page.urls == [(tmp_path / "map.html").as_uri()]
    assert page.locator("section.map").get_attribute("data-drawn") == "webgl2"
    page.evaluate(
        "document.head.append(Object.assign(document.createElement('script'), {textContent: 'window.owned = 1'}))"
    )
    assert page.evaluate("window.owned") is None
    assert any("Content Security Policy" in error for error in page.errors)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_known_points_have_the_colours_of_their_groups(browser, tmp_path, scheme):
    page = shown(browser, tmp_path, small_cloud(), color_scheme=scheme)
    view = View(page, SCORES)
    expected = dict(zip("abc", COLOURS, strict=False)) | {None: "#9aa3ad"}
    for (x, y), group in zip(SCORES, GROUPS, strict=True):
        assert colour_at(page, view.inside(x, y)) == expected[group].lower()
    assert colour_at(page, view.inside(7.0, 6.0)) == 0  # nothing there


def test_numbers_run_along_the_ramp_and_missing_ones_are_grey(browser, tmp_path):
    page = shown(browser, tmp_path, small_cloud(columns={"value": [0.0, 1.0, np.nan, 0.5, np.inf, 0.25]}))
    view = View(page, SCORES)
    colours = [colour_at(page, view.inside(x, y)) for x, y in SCORES]
    assert colours[0] == "#00224e" and colours[1] == "#dec958" and colours[2] == colours[4] == "#9aa3ad"
    light = [sum(bytes.fromhex(colours[i][1:])) for i in (0, 5, 3, 1)]
    assert light == sorted(light)


def test_a_column_of_one_number_has_one_colour(browser, tmp_path):
    page = shown(browser, tmp_path, small_cloud(columns={"value": [0.3] * 6}))
    view = View(page, SCORES)
    assert len({colour_at(page, view.inside(x, y)) for x, y in SCORES}) == 1
    assert page.locator(".map-lines li").count() == 1 and "0.3" in page.locator(".map-lines").inner_text()


def test_rows_without_finite_scores_have_no_place_and_the_others_keep_theirs(browser, tmp_path):
    scores = np.vstack([SCORES, [[np.nan, 3.0], [4.0, np.inf]]])
    page = shown(browser, tmp_path, cloud_of(scores, ["x", "y"]))
    view = View(page, SCORES)
    assert [colour_at(page, view.inside(x, y)) for x, y in SCORES] == [COLOURS[0].lower()] * 6
    edges = [(10.0, 3.0), (4.0, 8.0)]  # where the code that stands for no number would be
    assert [colour_at(page, view.inside(x, y)) for x, y in edges] == [0, 0]
    assert "2 rows without finite scores" in page.locator(".map-notes").inner_text()


@pytest.mark.parametrize(
    "scores", [np.zeros((5, 2)), np.ones((1, 2)), np.c_[np.arange(4.0), np.ones(4)], np.arange(3.0)[:, None]]
)
def test_points_that_coincide_and_lines_and_one_component_are_drawn(browser, tmp_path, scores):
    page = shown(browser, tmp_path, cloud_of(scores, ["a", "b"][: scores.shape[1]]))
    assert page.errors == [] and pixels_of(page, COLOURS[0])[0] > 0


def test_hovering_shows_the_values_of_the_row(browser, tmp_path, groups):
    scores, cloud = groups
    page = shown(browser, tmp_path, cloud)
    row = int(scores[:, 0].argmax())
    page.mouse.move(*View(page, scores).of(*scores[row, :2]))
    until(page, "!document.querySelector('.map-tip').hidden")
    words = page.locator(".map-tip").inner_text()
    assert f"sample {row}" in words and "PC3" in words and "group" in words
    assert f"{scores[row, 0]:.4g}".replace("-", "−") in words


def test_wheel_buttons_and_keys_zoom_and_move_and_the_address_remembers(browser, tmp_path, groups):
    page = shown(browser, tmp_path, groups[1])
    view = View(page, groups[0])

    def camera():
        found = re.search(r"map\.view=([^&]*)", page.url)
        return [float(part) for part in found[1].replace("%2C", ",").split(",")] if found else [0.5, 0.5, 1.0]

    def after(act):
        before = camera()
        act()
        for _ in range(200):
            if camera() != before:
                return camera()
            page.wait_for_timeout(20)
        raise AssertionError("nothing moved")

    page.mouse.move(*view.of(*view.middle))
    assert after(lambda: page.mouse.wheel(0, -300))[2] > 1.3
    assert after(lambda: page.get_by_role("button", name="Show all rows").click()) == [0.5, 0.5, 1.0]
    assert after(lambda: page.get_by_role("button", name="Zoom in").click())[2] == 1.5
    page.locator(".map-above").focus()
    assert after(lambda: page.keyboard.press("ArrowRight"))[0] > 0.5
    assert after(lambda: page.keyboard.press("ArrowUp"))[1] > 0.5
    assert after(lambda: page.keyboard.press("-"))[2] < 1.5
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    finished(page)
    assert page.url == link and camera()[2] < 1.5


def test_any_two_components_and_any_column_and_a_link_that_shows_the_same(browser, tmp_path, groups):
    scores, cloud = groups
    page = shown(browser, tmp_path, cloud)
    page.get_by_role("combobox", name="Across").select_option(label="PC3")
    page.get_by_role("combobox", name="Upwards").select_option(label="PC1")
    page.get_by_label("Colour by").select_option(label="value")
    until(page, "location.hash.includes('map.color=value') && location.hash.includes('map.x=2')")
    view = View(page, scores[:, [2, 0]])
    row = int(scores[:, 2].argmin())
    assert colour_at(page, view.inside(scores[row, 2], scores[row, 0])) not in (0, COLOURS[0].lower())
    again = shown(browser, tmp_path, cloud, fragment=page.url[page.url.index("#") :])
    for label, option in {"Across": "PC3", "Upwards": "PC1", "Colour by": "value"}.items():
        assert again.get_by_role("combobox", name=label).locator("option:checked").inner_text() == option


@pytest.mark.parametrize(
    "fragment",
    ["#map.x=99&map.y=-1&map.view=a,b,c&map.rows=5-2,x,-3,1e9&map.color=nothing", "#proof", "#map.rows=0-99999999999"],
)
def test_a_broken_link_shows_the_map_all_the_same(browser, tmp_path, fragment):
    page = shown(browser, tmp_path, small_cloud(), fragment=fragment)
    assert page.errors == [] and page.locator("section.map").get_attribute("data-drawn") == "webgl2"


def test_side_by_side_maps_share_what_is_chosen(browser, tmp_path, groups):
    page = shown(browser, tmp_path, groups[1], fragment="#map.sides=components")
    assert page.locator(".map-panel").count() == 6
    page.locator(".map-lines button").first.click()
    until(page, "document.querySelector('.map-chosen').textContent")
    counts = pixels_of(page, COLOURS[0])
    assert len(counts) == 6 and min(counts) > 20
    page.get_by_text("More", exact=True).click()
    page.get_by_label("Side by side").select_option("colours")
    until(page, "document.querySelectorAll('.map-panel').length === 2")
    assert page.errors == []


def test_views_stand_side_by_side_with_their_names_and_share_what_is_chosen(browser, tmp_path, groups):
    """As the page of several methods has them: two components of each, one after the other."""
    scores = groups[0]
    views = [("one method", 0, 1), ("<b>another</b>", 2, 3)]
    cloud = cloud_of(scores, ["a1", "a2", "b1", "b2"], views=views, columns={"g": ["x", "y"] * 500})
    page = shown(browser, tmp_path, cloud)
    assert page.locator(".map-caption").all_inner_texts() == ["one method", "<b>another</b>"]
    page.locator(".map-lines button").first.click()
    until(page, "document.querySelector('.map-chosen').textContent.startsWith('500 rows')")
    assert min(pixels_of(page, COLOURS[0])) > 200 and pixels_of(page, COLOURS[1]) == [0, 0]
    page.get_by_text("More", exact=True).click()
    page.get_by_label("Side by side").select_option("one")
    until(page, "document.querySelectorAll('.map-panel').length === 1")
    assert "map.sides=one" in page.url and page.errors == []


def test_sections_of_one_link_share_what_is_chosen(browser, tmp_path, groups):
    one, other = (map_section(groups[1], key, key, link="both") for key in ("one", "two"))
    path = tmp_path / "two.html"
    path.write_text(map_page(one, other))
    page = finished(opened(browser, path))
    page.locator("#one .map-lines button").first.click()
    until(page, "document.querySelector('#two .map-chosen').textContent")
    assert page.locator("#one .map-chosen").inner_text() == page.locator("#two .map-chosen").inner_text()


@pytest.mark.parametrize("shows", ["points", "both", "density"])
def test_density_names_and_arrows_are_drawn(browser, tmp_path, groups, shows):
    page = shown(browser, tmp_path, groups[1], fragment=f"#map.density={shows}&map.arrows=2&map.labels=rows")
    assert page.errors == []
    assert pixels_of(page)[0] > 2000 and pixels_of(page, layer=".map-words")[0] > 2000


def test_the_map_is_saved_as_png_and_svg(browser, tmp_path, groups):
    from xml.etree import ElementTree

    from PIL import Image

    page = shown(browser, tmp_path, groups[1])
    page.get_by_text("More", exact=True).click()
    saved = {}
    for kind in ("PNG", "SVG"):
        with page.expect_download() as download:
            page.get_by_role("button", name=f"Save as {kind}").click()
        saved[kind] = download.value.path()
    image = Image.open(saved["PNG"]).convert("RGB")
    assert min(image.size) > 500 and (np.asarray(image) == list(bytes.fromhex(COLOURS[1][1:]))).all(axis=2).any()
    tree = ElementTree.parse(saved["SVG"]).getroot()
    texts = {element.text for element in tree.iter("{http://www.w3.org/2000/svg}text")}
    dots = sum(path.get("d").count("h0") for path in tree.iter("{http://www.w3.org/2000/svg}path"))
    assert {"PC1", "PC2", "group 1"} <= texts and dots == 1000


def test_without_webgl_there_is_a_picture_that_lives(browser, tmp_path):
    poor = browser.browser_type.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-3d-apis"])
    try:
        page = shown(poor, tmp_path, small_cloud())
        assert page.errors == [] and page.locator("section.map").get_attribute("data-drawn") == "canvas"
        view = View(page, SCORES)
        expected = dict(zip("abc", COLOURS, strict=False)) | {None: "#9aa3ad"}
        for (x, y), group in zip(SCORES, GROUPS, strict=True):
            assert colour_at(page, view.inside(x, y)) == expected[group].lower()
    finally:
        poor.close()


def test_where_rows_cannot_be_unpacked_picture_and_table_stay(browser, tmp_path):
    path = tmp_path / "map.html"
    path.write_text(map_page(map_section(small_cloud(), "t")))
    page = browser.new_context().new_page()
    page.add_init_script("delete window.DecompressionStream")
    page.goto(path.as_uri())
    until_done(page)
    assert page.locator(".map-still").is_visible() and page.locator(".map-live").is_hidden()
    assert "its picture and the first rows are here" in page.locator(".map-trouble").inner_text()
    page.get_by_text("The first rows of 6 as a table").click()
    assert page.locator(".map-first td").count() == 6 * 4


def until_done(page):
    page.errors = []
    until(page, "document.documentElement.dataset.done")


def test_without_scripts_picture_and_table_are_there(browser, tmp_path):
    path = tmp_path / "map.html"
    path.write_text(map_page(map_section(small_cloud(), "t")))
    page = opened(browser, path, java_script_enabled=False)
    assert page.locator(".map-still").is_visible()
    page.get_by_text("The first rows of 6 as a table").click()
    assert page.locator(".map-first tbody tr").count() == 6


def test_a_lost_context_leaves_no_blank_map(browser, tmp_path):
    path = tmp_path / "map.html"
    path.write_text(map_page(map_section(small_cloud(), "t")))
    page = browser.new_context(viewport={"width": 1100, "height": 900}).new_page()
    page.add_init_script(
        """const get = HTMLCanvasElement.prototype.getContext;
        HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
          const found = get.call(this, kind, ...more);
          if (kind === "webgl2") window.lose = () => found.getExtension("WEBGL_lose_context").loseContext();
          return found;
        };"""
    )
    page.goto(path.as_uri())
    until_done(page)
    page.evaluate("window.lose()")
    until(page, "document.querySelector('section.map').dataset.drawn === 'canvas'")
    view = View(page, SCORES)
    assert colour_at(page, view.inside(*SCORES[0])) == COLOURS[0].lower()
    page.get_by_role("button", name="Zoom in").click()
    until(page, "location.hash.includes('view')")
    assert colour_at(page, view.inside(5.0, 4.0)) == "#9aa3ad"  # the middle stays in the middle


def test_the_page_never_scrolls_sideways(browser, tmp_path, groups):
    page = shown(browser, tmp_path, groups[1], fragment="#map.rows=0-40")
    page.get_by_text("More", exact=True).click()
    for width in (320, 390, 768, 1400):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_on_paper_the_picture_is_there_and_no_controls(browser, tmp_path, groups):
    page = shown(browser, tmp_path, groups[1])
    page.emulate_media(media="print")
    assert page.locator(".map-still").is_visible() and page.locator(".map-bar").first.is_hidden()


def test_two_fingers_zoom(browser, tmp_path, groups):
    page = shown(browser, tmp_path, groups[1], has_touch=True)
    view = View(page, groups[0])
    x, y = view.of(*view.middle)
    client = page.context.new_cdp_session(page)
    for kind, apart in (("touchStart", 40), ("touchMove", 60), ("touchMove", 120), ("touchEnd", None)):
        points = [] if apart is None else [{"x": x - apart, "y": y, "id": 0}, {"x": x + apart, "y": y, "id": 1}]
        client.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    until(page, "location.hash.includes('view')")
    zoom = float(re.search(r"map\.view=([^&]*)", page.url)[1].replace("%2C", ",").split(",")[2])
    assert 2.0 < zoom < 4.5


def nearest_to_the_right(scores, row, turned):
    """The nearest point within so much of a quarter turn to either side, as a factor: 1 is half a quarter."""
    right, up = (scores[:, :2] - scores[row, :2]).T
    there = np.flatnonzero((right > np.abs(up) / turned) & (np.arange(len(scores)) != row))
    return there[np.hypot(right[there], up[there]).argmin()]


def test_the_keyboard_alone_reaches_reads_and_chooses_rows(browser, tmp_path, groups):
    scores, cloud = groups
    page = shown(browser, tmp_path, cloud)
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.className") == "map-above":
            break
    start = next(row for row in range(50) if len({nearest_to_the_right(scores, row, t) for t in (0.5, 1, 100)}) == 3)
    for _ in range(start + 1):
        page.keyboard.press("n")
    until(page, "(name) => document.querySelector('.map-status').textContent.includes(name)", f"name sample {start},")
    page.keyboard.press("Enter")
    until(page, "location.hash.includes('map.rows')")
    assert chosen_rows(page) == {start}
    page.keyboard.press("Shift+ArrowRight")
    until(page, "!document.querySelector('.map-status').textContent.includes('chosen')")
    page.keyboard.press("Enter")
    until(page, "document.querySelector('.map-status').textContent.startsWith('2 rows chosen')")
    assert chosen_rows(page) == {start, nearest_to_the_right(scores, start, 1)}
    page.keyboard.press("v")
    until(page, "document.querySelector('.map-chosen').textContent.startsWith('1,000 rows')")
    page.keyboard.press("Escape")
    until(page, "document.querySelector('.map-status').textContent === 'No row is chosen.'")


def test_a_link_within_the_page_shows_what_it_asks_for(browser, tmp_path, groups):
    page = shown(browser, tmp_path, groups[1])
    page.evaluate("location.hash = '#map.x=2&map.rows=3-5'")
    until(page, "document.querySelector('.map-chosen')?.textContent.startsWith('3 rows')")
    assert page.get_by_role("combobox", name="Across").locator("option:checked").inner_text() == "PC3"
    page.evaluate("window.same = true; location.hash = '#elsewhere'")
    page.wait_for_timeout(200)
    assert page.evaluate("window.same") is True  # a part of the page was looked at, and nothing was opened anew


def test_names_do_not_lie_on_each_other(browser, tmp_path):
    """Forty groups in nearly one place: their names, as the file of the map has them, are boxes apart."""
    from xml.etree import ElementTree

    rng = np.random.default_rng(0)
    place = np.arange(400) % 40
    scores = rng.normal(size=(40, 2))[place] + 0.1 * rng.normal(size=(400, 2))
    page = shown(browser, tmp_path, cloud_of(scores, ["a", "b"], columns={"g": [f"group {i:02}" for i in place]}))
    page.get_by_text("More", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as SVG").click()
    tree = ElementTree.parse(download.value.path()).getroot()
    texts = [one for one in tree.iter("{http://www.w3.org/2000/svg}text") if one.text.startswith("group ")]
    places = np.array([list(map(float, re.findall(r"-?[\d.]+", one.get("transform"))))[:2] for one in texts])
    across, down = np.abs(places[:, None] - places[None]).transpose(2, 0, 1)
    apart = (across > 50) | (down > 13) | np.eye(len(places), dtype=bool)
    assert len(places) >= 10 and apart.all()
