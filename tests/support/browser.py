"""A real browser for pages: one chromium for all tests of a process, and what a page asked for and complained about."""

import shutil
import time

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PATIENCE = 120  # seconds until a page that says nothing is given up


@pytest.fixture(scope="package")
def browser():
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(autouse=True)
def windows_come_back():
    """Windows that a test has opened serve the next: a new one takes longer than what is shown in it.

    Those that were open before belong to a whole module.
    """
    before = len(_lent)
    yield
    while len(_lent) > before:
        windows, page = _lent.pop()
        if not page.is_closed():
            windows.append(_empty(page))


_lent = []  # each with the list that it comes back to


def opened(browser, path, fragment="", **context):
    """The page, with its errors and the addresses it asked for."""
    windows = vars(browser).setdefault("windows", {}).setdefault(repr(sorted(context.items())), [])
    page = windows.pop() if windows else _new_window(browser, context)
    _lent.append((windows, page))
    page.errors, page.urls = [], []
    page.goto(path.as_uri() + fragment)
    return page


def _new_window(browser, context):
    page = browser.new_context(**context).new_page()
    page.size = page.viewport_size
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.on("console", lambda message: page.errors.append(message.text) if message.type == "error" else None)
    page.on("request", lambda request: page.urls.append(request.url))
    return page


def _empty(page):
    """As if it were new: nothing in it, no key or button down, the mouse in the corner, as large as at first."""
    page.goto("about:blank")
    page.keyboard.up("Shift")
    page.mouse.up()
    page.mouse.move(0, 0)
    page.emulate_media(media="null")
    page.set_viewport_size(page.size)
    return page


def until(page, expression, argument=None):
    """What the page answers, once that is anything: asked from outside, as its policy forbids to ask inside."""
    end = time.monotonic() + PATIENCE
    while not (answer := _answer(page, expression, argument)):
        assert time.monotonic() < end, f"{expression} stays {answer!r}; errors: {page.errors}"
        time.sleep(0.01)
    return answer


def _answer(page, expression, argument):
    """Nothing while the page is opened anew."""
    try:
        return page.evaluate(expression, argument)
    except Exception as error:
        if "Execution context was destroyed" not in str(error):
            raise
        return None


def finished(page):
    """The page, when its script is done."""
    assert until(page, "document.documentElement.dataset.done") == "yes", page.errors
    return page
