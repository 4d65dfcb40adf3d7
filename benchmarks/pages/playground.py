"""The playground: how many frames a second follow a hand that drags a point, without a graphics card.

A fresh chromium opens the page from its file and is sent one movement a frame for three seconds. Frames are those that
the page has drawn with new numbers; the processor's time is that of the page's own thread.
"""

import json
import shutil
import sys
import tempfile
from pathlib import Path

from benchmarks.shared.pages import head, line, machine, written_by
from benchmarks.shared.running import run_alone
from benchmarks.shared.suites import Study

EXAMPLES = {"spiral": "the spiral", "raw": "a correlated pair", "rings": "rings", "clusters": "three clusters"}
RUNS = 3
COLUMNS = "| example | points | frames a second | processor a frame, ms |"
DRAG = """async () => {
  const plane = document.getElementById("plane"), box = plane.getBoundingClientRect();
  const send = (kind, x, y) => plane.dispatchEvent(new PointerEvent(kind, {
    clientX: x, clientY: y, pointerId: 1, pointerType: "mouse", bubbles: true, button: 0,
  }));
  plane.setPointerCapture = () => {};
  const middle = [box.left + box.width / 2, box.top + box.height / 2];
  let spot = null;
  for (let r = 0; r < box.width / 2 && !spot; r += 4) {
    for (let angle = 0; angle < 6.28 && !spot; angle += 0.2) {
      const place = [middle[0] + r * Math.cos(angle), middle[1] + r * Math.sin(angle)];
      send("pointermove", ...place);
      if (plane.classList.contains("over")) spot = place;
    }
  }
  send("pointerdown", ...spot);
  const before = playground.frames(), start = performance.now();
  for (let i = 0; performance.now() - start < 3000; i++) {
    await new Promise(requestAnimationFrame);
    send("pointermove", spot[0] + 60 * Math.sin(i / 15), spot[1] + 60 * Math.cos(i / 15));
  }
  const seconds = (performance.now() - start) / 1000, frames = playground.frames() - before;
  send("pointerup", ...spot);
  return { frames, seconds, points: playground.numbers().points.length };
}"""


def measure(example):
    """The run with most frames."""
    from playwright.sync_api import sync_playwright

    import mercer

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "play.html"
        mercer.playground(path=path)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        runs = [one_run(browser, f"{path.as_uri()}#p={example}") for _ in range(RUNS)]
        browser.close()
    return max(runs, key=lambda run: run["frames"] / run["seconds"])


def one_run(browser, address):
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.goto(address)
    page.wait_for_timeout(1000)  # until all is at rest
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    before = busy(session)
    found = page.evaluate(DRAG)
    found["busy"] = 1000 * (busy(session) - before) / max(1, found["frames"])
    page.context.close()
    return found


def busy(session):
    """Seconds of the processor that the page's thread has taken so far."""
    return next(
        one["value"] for one in session.send("Performance.getMetrics")["metrics"] if one["name"] == "ThreadTime"
    )


def write(scale):
    found = {words: run_alone("pages.playground", name) for name, words in EXAMPLES.items()}
    words = (
        f"{written_by('playground')} Best of {RUNS} drags of three seconds, in a browser without a graphics card and "
        "without a screen, which draws up to 60 frames a second."
    )
    rows = [line([name, *cells(run)], COLUMNS) for name, run in found.items()]
    return f"# The playground\n\n{words}\n\n{machine(('playwright',))}\n\n" + "\n".join(
        [*head(COLUMNS), *rows, ""]
    ), found


def cells(found):
    if "failed" in found:
        return [f"failed: {found['failed']}"]
    return [str(found["points"]), f"{found['frames'] / found['seconds']:.0f}", f"{found['busy']:.0f}"]


STUDY = Study(
    name="playground",
    folder="pages",
    question="How many frames a second follow a hand in the playground?",
    minutes=1,
    write=write,
)

if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1])))
