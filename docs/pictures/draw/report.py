"""The beginning of pages as a browser shows them: a report on penguins, and the maps of a comparison.

They need chromium and playwright.
"""

import shutil

WIDTH, HEIGHT = 1080, 1500


def of_page(text, act=lambda page: None):
    """A page when it is drawn, and somebody has acted on it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.set_content(text)
        while not page.evaluate("document.documentElement.dataset.done"):
            page.wait_for_timeout(50)
        act(page)
        page.wait_for_timeout(500)  # until what was drawn is shown
        picture = page.screenshot()
        browser.close()
    return picture


def penguins():
    from palmerpenguins import load_penguins

    table = load_penguins().dropna().drop(columns="year")
    return table.select_dtypes("number"), table[["species", "island", "sex"]]


def report():
    from mercer import PCA

    numbers, labels = penguins()
    return of_page(PCA(standardize=True).fit(numbers).report(numbers, labels=labels, data="penguins"))


def comparison():
    """Where one species is chosen in all maps."""
    import mercer

    numbers, labels = penguins()
    found = mercer.compare(numbers, labels["species"], standardize=True, repeats=1, apart=False)

    def choose(page):
        page.locator(".map-lines button", has_text="Chinstrap").click()
        page.locator("#maps").scroll_into_view_if_needed()
        page.evaluate("document.querySelector('#maps').scrollIntoView()")

    return of_page(found.report(numbers, labels=labels, data="penguins"), choose)


PICTURES = {"report": report, "compare_page": comparison}
