"""Maps on pages: how large a page is, how soon it shows a picture, how long a lasso takes, without a graphics card.

Each page is opened by a fresh chromium from its file, under its own policy. Times are taken inside the page, from the
start of its navigation to the picture, and from the end of the lasso to the chosen rows on the screen.
"""

import json
import math
import shutil
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.shared.pages import head, line, machine, written_by
from benchmarks.shared.running import run_alone
from benchmarks.shared.suites import Study

ROWS = 10_000, 100_000, 1_000_000
RUNS = 3
WAYS = {"WebGL2": True, "pixel by pixel": False}  # whether there is WebGL2
COLUMNS = "| points | drawn | page, MB | first picture, s | lasso, s | chosen |"
WATCH = """
const told = { drawn: 0, chosen: 0, up: 0 };
const ask = WebGL2RenderingContext.prototype.getParameter;
WebGL2RenderingContext.prototype.getParameter = function (name) {
  return name === 0x9246 ? "a graphics card" : ask.call(this, name);  // or many points were drawn without WebGL2
};
addEventListener("pointerup", () => (told.up = performance.now()), true);
new MutationObserver(() => {
  if (!told.drawn && document.querySelector("section.map[data-drawn]")) told.drawn = performance.now();
  if (told.up && !told.chosen && document.querySelector(".map-chosen")?.textContent) {
    told.chosen = performance.now();
  }
}).observe(document, { subtree: true, childList: true, attributes: true });
window.told = told;
"""


def page_of(count):
    """Rows in eight groups, with a number and a year; rows go by their numbers."""
    from mercer_old.report.cloud import cloud_of, map_section
    from mercer_old.report.scripts import page_script
    from mercer_old.report.templates import page_file

    rng = np.random.default_rng(0)
    group = rng.integers(0, 8, count)
    scores = rng.normal(size=(8, 3))[group] * 4 + rng.normal(size=(count, 3))
    columns = {"group": np.array([f"group {i}" for i in range(8)])[group], "year": rng.integers(1990, 2026, count)}
    section = map_section(cloud_of(scores, ["PC1", "PC2", "PC3"], columns=columns), "Rows in the plane")
    script = page_script("map")
    policy = f'<meta http-equiv="Content-Security-Policy" content="{script.policy}">'
    style = page_file("style.css") + page_file("map.css")
    head_of_page = f'<meta charset="utf-8">{policy}<title>A map</title><style>{style}</style>'
    body = f"<main>{section}</main><script>{script.text}</script>"
    return f'<!doctype html><html lang="en"><head>{head_of_page}</head><body>{body}</body></html>'


def measure(count, way):
    """The best of some runs."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "map.html"
        path.write_text(page_of(count), encoding="utf-8")
        arguments = ["--no-sandbox", *([] if WAYS[way] else ["--disable-3d-apis"])]
        runs = []
        for _ in range(RUNS):
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=arguments)
            runs.append(one_run(browser, path))
            browser.close()
        best = {name: min(run[name] for run in runs) for name in ("picture", "lasso")}
        return best | {"bytes": path.stat().st_size, "chosen": median(run["chosen"] for run in runs)}


def one_run(browser, path):
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.add_init_script(WATCH)
    page.goto(path.as_uri())
    wait(page, "document.documentElement.dataset.done")
    page.get_by_role("button", name="Lasso").click()
    box = page.locator(".map-above").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x + 120, y)
    page.mouse.down()
    for step in range(100):
        page.mouse.move(x + 120 * math.cos(step / 16), y + 120 * math.sin(step / 16))
    page.mouse.up()
    wait(page, "window.told.chosen")
    told = page.evaluate("window.told")
    chosen = int(page.locator(".map-chosen").inner_text().split()[0].replace(",", ""))
    return {"picture": told["drawn"] / 1000, "lasso": (told["chosen"] - told["up"]) / 1000, "chosen": chosen}


def wait(page, expression):
    while not page.evaluate(expression):
        time.sleep(0.02)


def cells(found):
    if "failed" in found:
        return [f"failed: {found['failed']}"]
    megabytes, chosen = f"{found['bytes'] / 1e6:.2f}", f"{found['chosen']:,.0f}"
    return [megabytes, f"{found['picture']:.2f}", f"{found['lasso']:.2f}", chosen]


def write(scale):
    lines, figures = [], {}
    for count in (max(1000, round(n * scale)) for n in ROWS):
        for way in WAYS:
            figures[f"{count} {way}"] = found = run_alone("pages.maps", count, way)
            lines.append(line([f"{count:,}", way, *cells(found)], COLUMNS))
            print(lines[-1], flush=True)
    words = (
        f"{written_by('maps')} Best of {RUNS} runs in fresh browsers without a graphics card, where the processor does "
        "the work of WebGL2. *First picture*: from the navigation to a map with axes, legend and names. *Lasso*: from "
        "its end to the chosen rows, drawn, and the table. From 200,000 points a page draws pixel by pixel by itself "
        "where it finds no graphics card."
    )
    text = f"# Maps on pages\n\n{words}\n\n{machine(('playwright',))}\n\n"
    return text + "\n".join([*head(COLUMNS), *lines, ""]), figures


STUDY = Study(
    name="maps",
    folder="pages",
    question="How large are pages with maps of up to a million points, and how soon do they show and choose?",
    minutes=2,
    write=write,
)

if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]), sys.argv[2])))
