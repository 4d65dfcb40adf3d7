"""The playground by mouse, finger, keys and links, in a real browser."""

import base64
import hashlib
import re

import numpy as np
import pytest

from mercer_old.errors import BadData, WrongUse
from mercer_old.report.playground import playground
from mercer_old.report.presets import MOST_POINTS, own_points, presets
from support.branches import run
from support.browser import until
from support.playing import Library, check_page, numbers, pixel_of, playing, presets_of, settled
from support.together import check_each


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    page = tmp_path_factory.mktemp("playground") / "play.html"
    assert playground(path=page) == page.read_text(encoding="utf-8")
    return page


@pytest.fixture
def page(browser, path):
    page = playing(browser, path, viewport={"width": 1280, "height": 900})
    yield page
    assert page.errors == []
    assert all(url.startswith(("file:", "blob:", "data:")) for url in page.urls)


def drag(page, start, end, shift=False):
    """One point of the plane to another place, by mouse."""
    page.mouse.move(*pixel_of(page, start))
    if shift:
        page.keyboard.down("Shift")
    page.mouse.down()
    page.mouse.move(*pixel_of(page, end), steps=6)
    page.mouse.up()
    if shift:
        page.keyboard.up("Shift")
    until(page, "document.documentElement.dataset.settled === 'no' || playground.frames()")
    settled(page)


def drawn(page):
    """Two frames have come: what was asked for before the first is drawn by the second."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def choose(page, preset):
    page.select_option("#preset", preset)
    settled(page)


# ---------------------------------------------------------------------- the numbers on the page


def test_every_example_has_the_librarys_numbers_and_says_what_it_is_there_for(page):
    examples = presets_of(page)

    def check(name):
        choose(page, name)
        words = page.locator("#sentences").inner_text()
        assert [part for part in SAID.get(name, []) if part not in words] == [], words
        if examples[name]["points"]:
            assert check_page(page).points == examples[name]["points"]

    assert set(SAID) <= set(examples)
    check_each(list(examples), check)


def test_a_dragged_point_changes_the_numbers_as_it_changes_the_librarys(page):
    before = numbers(page)
    start = before.points[7]
    drag(page, start, [0.3, 0.9])
    after = check_page(page)
    assert np.abs(np.subtract(after.points[7], [0.3, 0.9])).max() < 0.01
    assert after.points[:7] == before.points[:7] and after.points[8:] == before.points[8:]
    assert abs(after.kernel["values"][0] - before.kernel["values"][0]) > 1e-3


def test_sliders_and_switches_set_what_the_library_calls_so(page):
    page.locator("#gamma").fill("0.5")
    page.locator("#neighbours").fill("7")
    page.locator("#reg").fill("-2")
    page.check("#standardise")
    settled(page)
    shown = check_page(page)
    assert (shown.params["gamma"], shown.params["neighbours"], shown.params["reg"]) == (3.16, 7, 0.01)
    assert shown.params["standardise"]
    page.select_option("#kernel", "poly")
    page.locator("#degree").fill("2")
    page.locator("#coef0").fill("0.5")
    settled(page)
    shown = check_page(page)
    assert (shown.params["kernel"], shown.params["degree"], shown.params["coef0"]) == ("poly", 2, 0.5)


def test_while_a_hand_drags_the_numbers_are_right_to_the_digits_that_are_shown(page):
    choose(page, "rings")
    start = numbers(page).points[3]
    page.mouse.move(*pixel_of(page, start))
    page.mouse.down()
    page.mouse.move(*pixel_of(page, [0.4, 0.3]), steps=10)
    until(page, "Math.hypot(playground.numbers().points[3][0] - 0.4, playground.numbers().points[3][1] - 0.3) < 0.01")
    drawn(page)
    shown = numbers(page)
    found = Library(shown.points, shown.params)
    np.testing.assert_allclose(shown.kernel["values"], found.kernel.eigenvalues_[:10], rtol=1e-4)
    np.testing.assert_allclose(shown.lle["error"], found.lle.reconstruction_error_, rtol=1e-4)
    page.mouse.up()
    settled(page)
    check_page(page)


def test_the_table_has_the_numbers(page):
    page.click("summary")
    cells = page.locator("#numbers").inner_text()
    shown = numbers(page)
    for value in (*shown.pca["variances"], *shown.kernel["values"][:4]):
        assert f"{value:.7g}" in cells
    assert f"{100 * shown.kernel['shares'][0]:.1f} %" in cells


# ---------------------------------------------------------------------- what the examples promise


SAID = {
    "clusters": ["blue from the rest (component 1)"],
    "rings": ["PCA only turns the picture", "One threshold on component 1 tells the two colours apart"],
    "squares": ["One threshold on component 5 tells the two colours apart"],
    "moons": ["One threshold on component 1 tells the two colours apart"],
    "outlier": ["F(x) is lowest at point 101"],
    "spiral": ["No single component tells a colour", "runs through the colours in order"],
    "linear": ["it is PCA: the same picture"],
    "raw": ["98."],
    "standardised": ["along (0.71, 0.71), in standard deviations, has 90"],
    "blank": ["There are no points"],
}


def separates(scores, classes):
    """Whether one threshold on a score tells two classes apart."""
    one, other = (scores[np.asarray(classes) == label] for label in (0, 1))
    return one.max() < other.min() or other.max() < one.min()


def test_what_the_sentences_say_is_so_by_the_librarys_scores():
    """The same claims, on the library's numbers alone."""
    by_name = {preset.name: preset for preset in presets()}

    def scores(name):
        record = by_name[name].record()
        return Library(record["points"], record["params"]), np.array(record["classes"])

    for name, component in {"rings": 0, "squares": 4, "moons": 0}.items():
        found, classes = scores(name)
        assert separates(found.kernel_scores[:, component], classes)
        assert not separates(found.pca_scores[:, 0], classes)
    found, classes = scores("spiral")
    order = np.diff(found.lle.embedding_[:, 0])
    assert np.all(order > 0) or np.all(order < 0)
    found, _ = scores("linear")
    np.testing.assert_allclose(np.abs(found.kernel_scores[:, :2]), np.abs(found.pca_scores), atol=1e-9)
    first = Library(by_name["cities"].points, {}).pca.components_[0]
    np.testing.assert_allclose(first, [0.839, 0.544], atol=1e-3)


def test_the_outlier_stays_the_lowest_until_it_is_brought_home(page):
    choose(page, "outlier")
    drag(page, numbers(page).points[100], numbers(page).points[20])
    assert "lowest at point 101" not in page.locator("#sentences").inner_text()


# ---------------------------------------------------------------------- hands


def test_add_remove_and_paint(page):
    count = len(numbers(page).points)
    page.check("input[value=add]", force=True)
    page.check("#swatch-3", force=True)
    page.mouse.click(*pixel_of(page, [0.8, -0.5]))
    settled(page)
    shown = check_page(page)
    assert len(shown.points) == count + 1 and shown.classes[-1] == 3
    page.check("input[value=paint]", force=True)
    page.mouse.click(*pixel_of(page, shown.points[0]))
    settled(page)
    assert numbers(page).classes[0] == 3
    page.check("input[value=remove]", force=True)
    page.mouse.click(*pixel_of(page, [0.8, -0.5]))
    settled(page)
    assert len(check_page(page).points) == count


def test_a_double_click_adds_a_point(page):
    count = len(numbers(page).points)
    page.mouse.dblclick(*pixel_of(page, [0.8, 0.9]))
    settled(page)
    assert len(numbers(page).points) == count + 1


def test_with_shift_a_whole_colour_moves(page):
    before = numbers(page)
    drag(page, before.points[0], np.add(before.points[0], [0.1, 0.1]).tolist(), shift=True)
    after = check_page(page)
    moved = np.subtract(after.points, before.points)
    np.testing.assert_allclose(moved[:30], np.broadcast_to(moved[0], (30, 2)), atol=1e-5)
    assert moved[0].min() > 0.09 and not moved[30:].any()


def test_a_finger_draws_points(browser, path):
    phone = playing(browser, path, "#p=blank", has_touch=True, is_mobile=True, viewport={"width": 390, "height": 844})
    phone.locator("input[value=add]").check(force=True)
    for point in ([-0.5, -0.5], [0.5, -0.4], [0.1, 0.6], [0.2, 0.2]):
        phone.locator("#plane").scroll_into_view_if_needed()
        phone.touchscreen.tap(*pixel_of(phone, point))
    settled(phone)
    assert len(check_page(phone).points) == 4
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert phone.errors == []


def test_no_more_points_than_the_page_follows(page):
    choose(page, "spiral")
    page.mouse.dblclick(*pixel_of(page, [-14.0, -14.0]))
    until(page, "document.getElementById('said').textContent.includes('no more')")
    assert len(numbers(page).points) == MOST_POINTS


def test_keys_choose_take_and_move_a_point(page):
    before = numbers(page)
    half = presets_of(page)["clusters"]["view"]["half"]
    page.focus("#plane")
    page.keyboard.press("ArrowRight")
    chosen = int(re.search(r"Point (\d+) of 90", page.locator("#said").inner_text())[1]) - 1
    page.keyboard.press("Enter")
    for _ in range(3):
        page.keyboard.press("ArrowUp")
    page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("Enter")
    settled(page)
    after = check_page(page)
    np.testing.assert_allclose(
        np.subtract(after.points[chosen], before.points[chosen]), [-half / 10, 3 * half / 100], atol=1e-5
    )
    page.keyboard.press("5")
    settled(page)
    assert numbers(page).classes[chosen] == 4
    page.keyboard.press("Delete")
    settled(page)
    assert len(numbers(page).points) == 89
    page.keyboard.press("a")
    settled(page)
    assert len(numbers(page).points) == 90


def test_an_arrow_goes_on_to_the_edge_of_the_points(page):
    points = np.array(numbers(page).points)
    page.focus("#plane")
    page.keyboard.press("ArrowRight")
    for key, column, sign in [("ArrowLeft", 0, -1), ("ArrowRight", 0, 1), ("ArrowUp", 1, 1), ("ArrowDown", 1, -1)]:
        places = []
        for _ in range(len(points)):
            page.keyboard.press(key)
            said = page.locator("#said").inner_text()
            if "No point lies farther" in said:
                break
            places.append(points[int(re.search(r"Point (\d+) of", said)[1]) - 1, column] * sign)
        assert places == sorted(places) and "No point lies farther" in said


def test_who_listens_is_told_what_is_to_be_seen(page):
    drag(page, numbers(page).points[0], [0.5, 0.5])
    said = page.locator("#said")
    assert said.get_attribute("aria-live") == "polite"
    assert "PCA: the first axis" in said.inner_text() and "LLE" in said.inner_text()


# ---------------------------------------------------------------------- steps, links and files


def test_steps_back_and_forth_and_the_beginning(page):
    first = numbers(page).points
    drag(page, first[2], [0.6, -0.4])
    second = numbers(page).points
    assert second != first
    page.keyboard.press("Control+z")
    settled(page)
    assert check_page(page).points == first
    page.click("#redo")
    settled(page)
    assert numbers(page).points == second
    page.click("#reset")
    settled(page)
    assert numbers(page).points == first


def test_a_link_is_the_very_picture(browser, path, page):
    choose(page, "rings")
    drag(page, numbers(page).points[0], [0.123, -0.456])
    page.locator("#gamma").fill("-0.2")
    page.click("#tile-f4")
    page.check("#show-graph")
    settled(page)
    shown, link = numbers(page), page.evaluate("location.hash")
    other = playing(browser, path, link)
    again = numbers(other)
    assert (again.points, again.classes, again.params) == (shown.points, shown.classes, shown.params)
    assert other.locator("#tile-f4").get_attribute("aria-pressed") == "true" and other.is_checked("#show-graph")
    np.testing.assert_allclose(again.kernel["values"], shown.kernel["values"], rtol=1e-9)
    assert len(link) < 2500


HOSTILE = [
    "#p=<script>window.bad=1</script>", "#p=rings&k=constructor&b=__proto__", "#p=rings&g=NaN&d=1e9&n=-3&r=0&c=x",
    "#p=rings&x=%00%00&m=2&v=1~1~1", "#p=rings&x=" + "B" * 100_000 + "&m=3&v=0~0~1", "#p=rings&x=AAA&m=1e9&v=0~0~1",
    "#p=rings&x=AAA&m=2&v=0~0~-1", "#p=rings&o=<img src=x onerror=window.bad=1>&q=99", "#%E0%A4%A", "#p=toString",
]  # fmt: skip


@pytest.mark.parametrize("links", [HOSTILE[:3], pytest.param(HOSTILE[3:], marks=pytest.mark.slow)], ids=["some", "all"])
def test_strange_links_do_nothing(browser, path, links):
    def check(fragment):
        page = playing(browser, path, fragment)
        shown = check_page(page)
        assert page.evaluate("window.bad") is None and page.errors == []
        assert shown.params["kernel"] == "rbf" and len(shown.points) in (1, 90, 200)

    check_each(links, check)


def test_points_go_to_a_file_and_come_back(page, tmp_path):
    drag(page, numbers(page).points[0], [0.25, 0.25])
    shown = numbers(page)
    with page.expect_download() as waiting:
        page.click("#save")
    file = tmp_path / "points.csv"
    waiting.value.save_as(file)
    table = np.genfromtxt(file, delimiter=",", skip_header=1, usecols=(0, 1))
    assert table.tolist() == shown.points
    choose(page, "blank")
    page.set_input_files("#file", file)
    until(page, "playground.numbers().points.length === 90")
    settled(page)
    back = check_page(page)
    np.testing.assert_allclose(back.points, shown.points, atol=1e-6)
    assert back.classes == shown.classes


WITHOUT_POINTS = {
    "empty": ("", "no points in this file"),
    "a heading alone": ("x,y\n", "no points"),
    "no number": ("x,y\n1,2\n3,<b>\n", "Line 3 is no point"),
    "too many": ("1,2\n" * 301, "301 points"),
    "not finite": ("1,inf\n2,3\n4,nan\n", "Line 3 is no point"),
    "too far": ("1e16,1e16\n10000000000000002,1e16\n", "cannot be dragged"),
    "too near": ("1e-300,0\n0,1e-300\n", "cannot be dragged"),
}


def test_a_file_without_points_is_told_in_a_sentence(page, tmp_path):
    before = numbers(page).points

    def check(name):
        text, sentence = WITHOUT_POINTS[name]
        file = tmp_path / f"{name}.csv"
        file.write_text(text)
        page.evaluate("document.getElementById('readout').textContent = ''")  # what was said of the last one
        page.set_input_files("#file", file)
        until(page, "(part) => document.getElementById('readout').textContent.includes(part)", sentence)
        assert numbers(page).points == before

    check_each(WITHOUT_POINTS, check)


def test_a_comma_is_a_decimal_point_where_something_else_parts_cells(page, tmp_path):
    def check(text):
        choose(page, "blank")
        file = tmp_path / "points.csv"
        file.write_text(text)
        page.set_input_files("#file", file)
        until(page, "playground.numbers().points.length === 2")
        assert numbers(page).points == [[1.5, -2.25], [0.5, 4.0]]

    check_each(["x;y\n1,5;-2,25\n,5;4\n", "1,5\t-2,25\n0,5\t4\n", "1.5,-2.25,a\n0.5,4,a\n"], check, repr)


def test_a_view_so_near_that_numbers_cannot_tell_places_apart_is_drawn(browser, path):
    page = playing(browser, path, "#p=clusters&m=6&v=1~1~1.2e-16&x=AAA")
    assert numbers(page).points == [[0, 0]] and page.errors == []


# ---------------------------------------------------------------------- the page itself


def test_the_policy_knows_the_script_and_no_other(page, path):
    text = path.read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    script = re.search(r"<script>(.*)</script>", text, re.S)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy and "default-src 'none'" in policy
    page.evaluate(
        "document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.bad = 1' }))"
    )
    assert page.evaluate("window.bad") is None
    page.errors.clear()  # the browser complains of just that


def test_night_and_paper(browser, path):
    def corner(**how):
        page = playing(browser, path, "#p=spiral", **how)
        look = "[...plane.getContext('2d').getImageData(plane.width - 9, 9, 1, 1).data.slice(0, 3)]"
        by_night = page.evaluate(look)
        # A printer takes what is drawn when the page has heard of the paper, and waits for no frame.
        page.evaluate(f"matchMedia('print').addEventListener('change', () => {{ window.onPaper = {look}; }})")
        page.emulate_media(media="print")
        return sum(by_night), sum(until(page, "window.onPaper"))

    day, night = corner(color_scheme="light"), corner(color_scheme="dark")
    assert day[0] > 700 and night[0] < 120
    assert day[1] > 700 and night[1] > 700


def test_nothing_scrolls_sideways(page):
    def check(width):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("innerWidth") == width
        assert page.evaluate("document.documentElement.scrollWidth") <= width

    check_each([320, 390, 768, 1024, 1280, 1920], check)


@pytest.mark.parametrize("scheme", [pytest.param("light", marks=pytest.mark.slow), "dark"])
def test_axe_finds_nothing_serious(browser, path, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = playing(browser, path, color_scheme=scheme)
    page.click("summary")
    found = axe.Axe().run(page).response["violations"]
    assert [each["id"] for each in found if each["impact"] in ("serious", "critical")] == []


def test_hovering_over_scores_tells_of_the_same_point(page):
    box = page.locator("#pca-scores").bounding_box()

    def told(step):
        page.mouse.move(box["x"] + 10 + step * box["width"] / 62, box["y"] + box["height"] * 0.55)
        drawn(page)
        return page.locator("#readout").inner_text()

    assert any(text.startswith("Point ") and "LLE (" in text for text in map(told, range(60)))


# ---------------------------------------------------------------------- from Python and from the shell


def test_own_points_come_first(browser, tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 2))
    path = tmp_path / "own.html"
    playground(X, np.repeat(["</script><b>", "two"], 20), path=path)
    page = playing(browser, path)
    shown = check_page(page)
    np.testing.assert_allclose(shown.points, X, atol=1e-5)
    assert shown.classes == [0] * 20 + [1] * 20 and page.errors == []


def test_examples_are_within_the_limits_and_repeat():
    first, again = ([preset.record() for preset in presets()] for _ in range(2))
    assert first == again
    assert all(len(each["points"]) <= MOST_POINTS and max(each["classes"], default=0) < 7 for each in first)
    assert len({each["name"] for each in first}) == len(first)


@pytest.mark.parametrize(
    ("X", "labels", "sentence"),
    [
        (np.zeros((3, 3)), None, r"the shape \(3, 3\)"),
        (np.zeros(4), None, r"the shape \(4,\)"),
        (np.zeros((301, 2)), None, "1 to 300 points; got 301"),
        (np.zeros((0, 2)), None, "got 0"),
        ([[1.0, np.nan]], None, "row index 0"),
        ([[1e200, 0], [0, 1]], None, "cannot be dragged"),
        (np.eye(2), ["a"], "labels of shape"),
        (np.random.default_rng(0).normal(size=(8, 2)), range(8), "8 different labels"),
    ],
    ids=["three columns", "one dimension", "too many", "none", "nan", "too far", "labels too few", "too many labels"],
)
def test_points_that_cannot_be_dragged_are_refused_in_a_sentence(X, labels, sentence):
    with pytest.raises(BadData, match=sentence):
        own_points(X, labels)


def test_the_page_ends_in_html(tmp_path):
    with pytest.raises(WrongUse, match=r"ends in \.html"):
        playground(path=tmp_path / "play.txt")


def test_the_command_writes_the_page(tmp_path):
    done = run("playground", "-o", tmp_path / "play.html")
    assert (done.returncode, done.stdout) == (0, "")
    assert (tmp_path / "play.html").read_text(encoding="utf-8") == playground()


def test_the_command_takes_points_and_shows_its_code(tmp_path):
    (tmp_path / "points.csv").write_text("x,y,kind\n1,2,a\n3,4,b\n5,7,a\n")
    asked = ("playground", tmp_path / "points.csv", "--label", "kind", "-o", tmp_path / "play.html")
    assert run(*asked, "--json").returncode == 0
    assert (tmp_path / "play.html").read_text() == playground([[1, 2], [3, 4], [5, 7]], ["a", "b", "a"])
    code = run(*asked, "--show-code").stdout
    (tmp_path / "play.html").unlink()
    exec(code, {})  # noqa: S102
    assert (tmp_path / "play.html").exists()


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["nowhere.csv"], 3, "no such file"),
        (["-o", "play.txt"], 2, "ends in .html"),
        (["--label", "kind"], 2, "name the file"),
        (["-o", "/proc/play.html"], 5, "Cannot write"),
    ],
    ids=["no file", "no page", "no data", "no place"],
)
def test_what_the_command_cannot_do_is_told_before_the_work(words, code, sentence):
    done = run("playground", *words)
    assert done.returncode == code and sentence in done.stderr and "Traceback" not in done.stderr
