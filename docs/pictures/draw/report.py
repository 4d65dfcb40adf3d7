"""The beginning of a page about a model, as a browser shows it: penguins, by PCA."""

import shutil
import tempfile
from pathlib import Path

WIDTH, HEIGHT = 1080, 1500


def draw():
    """Needs chromium and playwright."""
    from palmerpenguins import load_penguins
    from playwright.sync_api import sync_playwright

    from mercer import PCA

    table = load_penguins().dropna().drop(columns="year")
    numbers = table.select_dtypes("number")
    model = PCA(standardize=True).fit(numbers)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        path = Path(name) / "report.html"
        model.report(numbers, labels=table[["species", "island", "sex"]], path=path, data="penguins")
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.goto(path.as_uri())
        while not page.evaluate("document.documentElement.dataset.done"):
            page.wait_for_timeout(50)
        page.wait_for_timeout(500)  # until what was drawn is shown
        picture = page.screenshot()
        browser.close()
    return picture


PICTURES = {"report": draw}
