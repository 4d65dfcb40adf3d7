"""What `mercer demo` leaves behind: three pages, and one that leads to them."""

import re

import pytest

from mercer_old.report.index import index_page
from support.branches import run
from support.browser import finished, opened

PAGES = {"gallery": "figures.html", "report": "report.html", "playground": "playground.html"}


def test_the_index_leads_to_three_pages_and_counts_claims(browser, tmp_path):
    path = tmp_path / "index.html"
    path.write_text(index_page(PAGES, {"one": True, "other": False}, 1797), encoding="utf-8")
    page = opened(browser, path)
    links = page.eval_on_selector_all("a", "all => all.map((one) => one.getAttribute('href'))")
    assert links == list(PAGES.values()) and page.errors == []
    assert "1 of 2 claims hold" in page.inner_text("main") and "1,797 rows" in page.inner_text("main")
    page.set_viewport_size({"width": 320, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


@pytest.mark.slow
def test_the_demo_writes_all_pages_and_prints_the_path_of_the_first(browser, tmp_path):
    done = run("demo", "--out", tmp_path / "gallery")
    index = tmp_path / "gallery" / "index.html"
    assert (done.returncode, done.stdout) == (0, f"{index}\n")
    assert {path.name for path in index.parent.iterdir()} == {"index.html", *PAGES.values()}
    claims = re.search(r"(\d+) of (\d+) claims hold", index.read_text(encoding="utf-8"))
    assert claims[1] == claims[2]
    for name, file in PAGES.items():
        page = opened(browser, index)
        page.click(f"a[href='{file}']")
        page.wait_for_load_state()
        assert page.url.partition("#")[0].endswith(file)
        if name != "gallery":
            finished(page)
        assert page.errors == []
