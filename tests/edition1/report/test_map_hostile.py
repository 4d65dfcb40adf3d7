"""Whatever stands in names of rows, columns, categories, components and arrows is shown; nothing of it is obeyed."""

import numpy as np
import pytest

from mercer_old.report.cloud import Arrows, cloud_of, map_section
from support.browser import finished, opened, until
from support.hostile_names import HOSTILE
from support.map_pages import map_page, shown


def hostile_cloud():
    n = len(HOSTILE)
    scores = np.random.default_rng(0).normal(size=(n, 3))
    columns = {name: [HOSTILE[(i + j) % n] for i in range(n)] for j, name in enumerate(HOSTILE)}
    arrows = Arrows(tuple(HOSTILE), tuple(map(tuple, scores.tolist())))
    return cloud_of(scores, HOSTILE[:3], ids=HOSTILE, columns=columns, color=HOSTILE[4], arrows=arrows)


def test_there_are_thirty_of_them():
    assert len(set(HOSTILE)) >= 30


@pytest.mark.parametrize("title", [HOSTILE[1], pytest.param(HOSTILE[5], marks=pytest.mark.slow)])
def test_hostile_texts_run_nothing_wherever_they_stand(browser, tmp_path, title):
    path = tmp_path / "hostile.html"
    path.write_text(map_page(map_section(hostile_cloud(), title)), encoding="utf-8")
    page = opened(browser, path, "#map.arrows=35&map.labels=rows", viewport={"width": 1100, "height": 900})
    page.on("dialog", lambda dialog: pytest.fail("a text spoke"))
    finished(page)
    page.locator(".map-above").focus()
    for _ in range(len(HOSTILE)):
        page.keyboard.press("n")
    page.keyboard.press("v")
    until(page, "document.querySelector('.map-chosen').textContent")
    page.get_by_role("button", name="Next").click()
    for text in HOSTILE[:3]:
        page.get_by_role("searchbox", name="Search rows and categories").fill(text)
        until(page, "document.querySelectorAll('.map-found button').length > 0")
    page.get_by_text("More", exact=True).click()
    page.get_by_label("Side by side").select_option("colours")
    until(page, "document.querySelectorAll('.map-panel').length === 6")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as SVG").click()
    assert page.evaluate("window.owned") is None and page.errors == []
    assert page.title() == "a map" and [url.partition("#")[0] for url in page.urls] == [path.as_uri()]
    assert page.locator("section.map").locator("img, iframe, object, a, form, meta, base, link, style").count() == 0
    assert page.locator("script").count() == 2  # the data and the script
    saved = tmp_path / "saved.svg"
    saved.write_bytes(download.value.path().read_bytes())
    drawing = opened(browser, saved)
    assert drawing.evaluate("window.owned") is None and drawing.errors == []
    page.context.close()  # nobody else's texts are listened to


def test_hostile_texts_are_shown_as_they_are(browser, tmp_path):
    page = shown(browser, tmp_path, hostile_cloud())
    page.locator(".map-above").focus()
    page.keyboard.press("v")
    until(page, "document.querySelector('.map-chosen').textContent")
    cells = page.locator(".map-table tbody tr td:nth-child(2)").all_text_contents()
    assert cells == HOSTILE[:20]
    page.get_by_role("button", name="Next").click()
    later = page.locator(".map-table tbody tr td:nth-child(2)").all_text_contents()
    assert "a\u0300\u0301\u0302\u0303" in later and "مرحبا بالعالم" in later
    assert "\\u202egnp.exe\\u202c" in later and "\\u0000\\u001b[31m" in later  # signs that turn or hide are written out


@pytest.mark.parametrize("scheme", ["dark", pytest.param("light", marks=pytest.mark.slow)])
def test_axe_finds_nothing_serious(browser, tmp_path, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    rng = np.random.default_rng(0)
    columns = {"group": [f"group {i % 30}" for i in range(200)], "value": rng.normal(size=200)}
    arrows = Arrows(("a", "b"), ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)))
    cloud = cloud_of(rng.normal(size=(200, 3)), ["PC1", "PC2", "PC3"], columns=columns, arrows=arrows)
    page = shown(browser, tmp_path, cloud, fragment="#map.rows=1-60", color_scheme=scheme)
    page.get_by_text("More", exact=True).click()
    page.get_by_text("How to use this map").click()
    page.get_by_role("searchbox", name="Search rows and categories").fill("1")
    until(page, "document.querySelectorAll('.map-found button').length > 0")
    found = axe.Axe().run(page).response["violations"]
    assert [f"{one['impact']}: {one['id']}: {one['nodes'][0]['html'][:200]}" for one in found] == []
