"""The page, opened by a real browser as a person would: on a desk, on a phone, by day and by night."""

import re

import pytest

from mercer_old.outlets import make_place, write_whole
from mercer_old.report import gallery, html
from support.browser import opened


@pytest.fixture(scope="module")
def entries():
    return [gallery.make_entry(path) for path in gallery.scripts([13, 8])]


@pytest.fixture(scope="module")
def page_file(entries, tmp_path_factory):
    path = make_place(tmp_path_factory.mktemp("gallery") / "index.html")
    write_whole(path, html.gallery_page(entries).encode())
    return path


def test_page_is_one_file_that_asks_for_nothing(browser, page_file):
    page = opened(browser, page_file)
    assert page.errors == []
    assert all(url.startswith(("file:", "data:")) for url in page.urls)
    assert page.evaluate("[...document.images].every(image => image.complete && image.naturalWidth > 500)")


def test_figures_carry_title_slides_formula_and_claims(browser, page_file, entries):
    page = opened(browser, page_file)
    assert page.locator("article").count() == len(entries)
    for entry in entries:
        article = page.locator(f"article[id='{entry.name}']")
        text = article.inner_text()
        assert entry.title in text and entry.slides in text and entry.formula.split()[0] in text
        assert article.locator(".held").count() == len(entry.claims)
        assert page.locator(f"nav a[href='#{entry.name}']").count() == 1


def brightness(browser, page_file, scheme):
    page = opened(browser, page_file, color_scheme=scheme)
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return sum(map(int, re.findall(r"\d+", colour)[:3])), page.evaluate("document.images[0].currentSrc.slice(0, 2000)")


def test_page_and_pictures_follow_the_dark_theme(browser, page_file):
    day, day_picture = brightness(browser, page_file, "light")
    night, night_picture = brightness(browser, page_file, "dark")
    assert day > 600 and night < 150
    assert day_picture != night_picture


def test_page_never_scrolls_sideways(browser, page_file):
    page = opened(browser, page_file)
    for width in (320, 390, 1400):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_picture_that_goes_on_beyond_the_screen_says_so(browser, page_file):
    """On a phone the first panel may fill the screen: nothing would show that there is a second one."""
    page = opened(browser, page_file)
    for width in (320, 390, 700, 1000, 1400):
        page.set_viewport_size({"width": width, "height": 800})
        for article in page.locator("article").all():
            beyond = article.locator(".picture").evaluate("box => box.scrollWidth > box.clientWidth + 1")
            shown, hint = article.locator(".wider span").evaluate(
                "hint => [hint.getBoundingClientRect().width > 0, hint.scrollWidth <= hint.clientWidth + 1]"
            )
            assert shown == beyond, f"{width} pixels"
            assert not shown or hint, f"{width} pixels"


def test_hostile_texts_stay_texts(browser, entries, tmp_path):
    attack = (
        "<img src=x onerror=\"document.title='owned'\">\"'></script><script>document.title='owned'</script>$style&amp;"
    )
    hostile = gallery.Entry(attack, attack, attack, attack, attack, {attack: False}, entries[0].pictures)
    path = tmp_path / "hostile.html"
    write_whole(path, html.gallery_page([hostile]).encode())
    page = opened(browser, path)
    assert page.title() == "mercer: the lectures come alive"
    assert page.locator("script, article img[src='x']").count() == 0
    assert attack in page.locator("article h2").inner_text()
    assert page.locator(".failed").inner_text() == attack
