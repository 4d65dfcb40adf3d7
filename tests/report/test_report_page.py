"""A page about a model, opened by a real browser from a file: sliders, words that explain, hostile names, axe."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits

import mercer
from mercer.datasets import rings
from support.browser import finished, opened, until
from support.hostile_names import HOSTILE

DESK, PHONE = {"width": 1280, "height": 900}, {"width": 360, "height": 780}


def frame_of_hostile_names():
    rng = np.random.default_rng(0)
    n = len(HOSTILE)
    X = rng.normal(size=(2 * n, 2)) @ rng.normal(size=(2, n)) + 0.3 * rng.normal(size=(2 * n, n))
    return pd.DataFrame(X, columns=HOSTILE, index=HOSTILE + [name[::-1] for name in HOSTILE])


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A page of every kind."""
    folder = tmp_path_factory.mktemp("pages")
    X, ring = rings(50)
    labels = [f"ring {r}" for r in ring]
    mercer.KernelPCA(4, kernel="rbf", gamma=0.5).fit(X).report(X, labels=labels, path=folder / "kernel.html")
    digits = load_digits()
    some = digits.data[:300]
    mercer.PCA(6).fit(some).report(some, labels=digits.target[:300], path=folder / "digits.html")
    mercer.LocallyLinearEmbedding(n_neighbors=20, n_components=2).fit(some).report(some, path=folder / "lle.html")
    mercer.NoveltyDetector(mercer.PCA(3)).fit(some[:200]).report(some, path=folder / "detector.html")
    mercer.PCA(3).fit(some).report(path=folder / "without rows.html")
    hostile = frame_of_hostile_names()
    model = mercer.PCA(3, standardize=True).fit(hostile)
    labels = {name: (HOSTILE[i:] + HOSTILE[:i]) * 2 for i, name in enumerate(HOSTILE[:4], 1)}
    model.report(hostile, labels={f"label {name}": each for name, each in labels.items()}, path=folder / "hostile.html")
    texts = mercer.KernelPCA(3, kernel="spectrum").fit(HOSTILE)
    texts.report(labels=HOSTILE, path=folder / "texts.html")
    return folder


KINDS = ["kernel", "digits", "lle", "detector", "without rows", "hostile", "texts"]


@pytest.mark.parametrize("name", KINDS)
def test_a_page_opens_from_a_file_asks_for_nothing_and_complains_of_nothing(browser, pages, name):
    page = finished(opened(browser, pages / f"{name}.html", viewport=DESK))
    assert page.errors == [] and all(url.startswith(("file:", "data:", "blob:")) for url in page.urls)
    assert page.locator("article").count() == page.locator("nav a").count() > 6
    assert page.evaluate("[...document.images].every(image => image.complete && image.naturalWidth > 0)")
    for width in (330, 700, 1400):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("name", ["hostile", "texts"])
def test_hostile_names_are_shown_and_obeyed_by_nobody(browser, pages, name):
    page = finished(opened(browser, pages / f"{name}.html", viewport=DESK))
    assert page.evaluate("window.owned") is None and page.errors == []
    assert page.title() in ("PCA of X", "KernelPCA of X")
    assert (
        page.locator("article").locator("iframe, object, embed, form, meta, base, link, a[href^='javascript']").count()
        == 0
    )
    assert page.locator("article img:not([src^='data:image/png;base64,'])").count() == 0
    for slider in page.get_by_role("slider").all():
        slider.focus()
        page.keyboard.press("End")
    assert page.evaluate("window.owned") is None
    text = page.locator("main").inner_text()
    assert HOSTILE[0] in text and "\u202e" not in text


@pytest.mark.parametrize(
    "name, scheme",
    [
        ("kernel", "light"),
        *(
            pytest.param(*more, marks=pytest.mark.slow)
            for more in [("detector", "dark"), ("kernel", "dark"), ("digits", "light"), ("lle", "light")]
        ),
    ],
)
def test_axe_finds_nothing_by_day_and_by_night(browser, pages, name, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = finished(opened(browser, pages / f"{name}.html", viewport=DESK, color_scheme=scheme))
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    found = axe.Axe().run(page).response["violations"]
    assert [f"{one['impact']}: {one['id']}: {one['nodes'][0]['html'][:200]}" for one in found] == []


def shown_step(page, group):
    """Which frame of a group of steps is seen."""
    return page.evaluate(
        "(group) => [...group.querySelectorAll('.frame')].findIndex((frame) => frame.offsetParent !== null)",
        page.locator(group).first.element_handle(),
    )


def test_a_slider_shows_one_bandwidth_after_the_other_by_the_keyboard(browser, pages):
    page = finished(opened(browser, pages / "kernel.html", viewport=DESK))
    slider = page.locator("#sweep").get_by_role("slider")
    assert shown_step(page, "#sweep .slider") == 5 and "that of the model" in slider.get_attribute("aria-valuetext")
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert shown_step(page, "#sweep .slider") == 6 and "2 times that of the model" in slider.get_attribute(
        "aria-valuetext"
    )
    page.keyboard.press("Home")
    assert shown_step(page, "#sweep .slider") == 0
    words = page.locator("#sweep .frame:visible .words").inner_text()
    assert re.match(r"γ = 0\.01562, 1/32 of that of the model: the first two components have .* %", words)


def test_a_slider_shows_one_step_of_a_walk_and_its_picture_chooses_it(browser, pages):
    page = finished(opened(browser, pages / "digits.html", viewport=DESK))
    assert page.locator("#walk .slider").count() == 3 and shown_step(page, "#walk .slider") == 4
    page.locator("#walk .strip").first.locator("label").nth(7).click()
    assert shown_step(page, "#walk .slider") == 7
    assert page.locator("#walk").get_by_role("slider").first.input_value() == "7"


def test_steps_are_chosen_without_a_script_too(browser, pages):
    page = opened(browser, pages / "kernel.html", viewport=DESK, java_script_enabled=False)
    assert page.locator("#sweep").get_by_role("slider").count() == 0
    page.locator("#sweep").get_by_role("radio").nth(8).check()
    seen = [page.locator("#sweep .frame").nth(i).is_visible() for i in range(11)]
    assert seen.index(True) == 8 and sum(seen) == 1
    page.locator("#components .why").first.click()
    assert page.locator(".word:visible").count() == 1  # no script explains either
    assert page.locator("svg.map-still").is_visible()


def test_what_a_number_means_is_told_by_the_keyboard_and_goes_away(browser, pages):
    page = finished(opened(browser, pages / "kernel.html", viewport=PHONE))
    button = page.get_by_role("button", name="What is the share of a component?").first
    button.focus()
    assert page.locator(".word:visible").count() == 0
    page.keyboard.press("Enter")
    until(page, "document.querySelector('.word:popover-open') !== null")
    box = page.locator(".word:visible").bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= PHONE["width"]
    page.keyboard.press("Escape")
    assert page.locator(".word:visible").count() == 0
    assert page.evaluate("document.activeElement.classList.contains('why')")


def test_themes_change_the_paper_and_the_words_of_pictures(browser, pages):
    ink = {}
    for scheme in ("light", "dark"):
        page = finished(opened(browser, pages / "kernel.html", viewport=DESK, color_scheme=scheme))
        paper = "getComputedStyle(document.body).backgroundColor"
        words = "getComputedStyle(document.querySelector('svg.scree text.tick')).fill"
        colours = [page.evaluate(each) for each in (paper, words)]
        ink[scheme] = [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in colours]
    assert ink["light"][0] > 600 > 150 > ink["dark"][0]
    assert ink["light"][1] < 400 < ink["dark"][1]


def test_on_paper_words_are_explained_and_nothing_is_to_be_pressed(browser, pages):
    page = finished(opened(browser, pages / "kernel.html", viewport=DESK))
    page.emulate_media(media="print")
    assert page.locator("button:visible, input:visible, nav:visible").count() == 0
    assert page.locator(".word").count() == page.locator(".word:visible").count() > 5
    assert page.locator("svg.map-still").is_visible() and page.locator("#sweep .frame:visible").count() == 1


def test_scree_bars_are_as_high_as_shares_are_large(browser, pages):
    """By what the browser has drawn."""
    X, _ = rings(50)
    shares = mercer.KernelPCA(4, kernel="rbf", gamma=0.5).fit(X).explained_variance_ratio_
    page = finished(opened(browser, pages / "kernel.html", viewport=DESK))
    heights = page.evaluate("[...document.querySelectorAll('svg.scree rect.bar')].map(bar => bar.getBBox().height)")
    assert np.array(heights) / sum(heights) == pytest.approx(shares / shares.sum(), abs=0.004)


def test_right_to_left_names_keep_their_places(browser, pages):
    page = finished(opened(browser, pages / "hostile.html", viewport=DESK))
    for box in page.evaluate(
        "[...document.querySelectorAll('svg.bars')].map(svg => [...svg.querySelectorAll('text.name')].map(text => "
        "[text.getBBox().x, text.getBBox().x + text.getBBox().width]))"
    ):
        for left, right in box:
            assert left > -20 and right <= 146


def test_paper_is_white_by_night_too(browser, tmp_path):
    """Words on the map, on cards and on the page are dark on paper, whatever the screen is like."""
    X = np.random.default_rng(0).normal(size=(30, 3))
    path = tmp_path / "paper.html"
    mercer.PCA(2).fit(X).report(X, path=path)
    page = finished(opened(browser, path, color_scheme="dark"))
    page.emulate_media(media="print")
    sum_of = "(name, what) => getComputedStyle(document.querySelector(name))[what].match(/\\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0)"  # noqa: E501
    look = f"([name, what]) => ({sum_of})(name, what)"
    for name, what in [("h1", "color"), (".map-still text", "fill"), (".map-still .map-axis", "fill")]:
        assert page.evaluate(look, [name, what]) < 400
    assert page.evaluate(look, ["article, section", "backgroundColor"]) in (0, 765)  # nothing behind it, or white
